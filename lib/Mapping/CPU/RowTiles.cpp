//===- RowTiles.cpp - Rows of a tile of a single factor ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RowTiles.h"
#include "StepForms.h"
#include "kron/Machine/CPURates.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Plan/Arrays.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Elements of the only factor that a tile uses.
static int64_t countFactorElements(const CPUPlan &plan) {
  const StepGroup &group = plan.groups.front();
  ModeProductOp product = group.products.front();
  int64_t elements = group.sizeK * group.sizeN;
  ShapedType factor = getArrayType(product.getFactor());
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
    if (axis >= 0 && plan.roles[axis] == AxisRole::Whole)
      elements *= factor.getDimSize(dim);
  return elements;
}

/// Blocks that lie side by side in a row, each of which is a tile of its own.
static int64_t countBlocks(const CPUPlan &plan, FusedOp fused) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  int64_t blocks = 1;
  for (int axis = plan.tiledAxis + 1, rank = sizes.size(); axis < rank; ++axis)
    if (plan.roles[axis] == AxisRole::Grid &&
        !ShapedType::isDynamic(sizes[axis]))
      blocks *= sizes[axis];
  return blocks;
}

/// Bytes of all of the only factor as it is computed with.
static int64_t countFactorBytes(const CPUPlan &plan, int64_t elementBytes) {
  ModeProductOp product = plan.groups.front().products.front();
  return getArrayType(product.getFactor()).getNumElements() * elementBytes;
}

int64_t kron::chooseBlockRows(const CPUPlan &plan, FusedOp fused,
                              int64_t elementBytes, const CacheBudget &caches) {
  int64_t blocks = countBlocks(plan, fused);
  int64_t input = countElements(fused.getInputs().front(), plan.roles);
  int64_t results = countElements(fused.getInit(), plan.roles);
  bool isMany = plan.groups.size() == 1 && blocks >= kCPURates.manyBlocks;
  if (!isMany ||
      blocks * std::max(input, results) * elementBytes < kCPURates.longRowBytes)
    return 0;
  if (countFactorElements(plan) * elementBytes <= caches.l1Bytes)
    return kCPURates.leastTileRows;
  int64_t held = caches.l2Bytes / 2 / ((input + results) * elementBytes);
  return std::max<int64_t>(llvm::alignDown(held, kCPURates.leastTileRows),
                           kCPURates.leastTileRows);
}

int64_t kron::chooseRowsBeside(int64_t rowBytes, const CacheBudget &caches) {
  int64_t rows = caches.l2Bytes / 8 / rowBytes;
  return std::clamp(rows / kCPURates.leastTileRows * kCPURates.leastTileRows,
                    kCPURates.leastTileRows, kCPURates.mostTileRows);
}

/// Rows per tile of a factor that comes from beyond the second-level cache for
/// each of them: what half of that cache holds of the input, beside panels of
/// the factor, as long as that leaves threads some of `size` rows each.
static int64_t chooseRowsOfLargeFactor(const StepGroup &group, int64_t size,
                                       int64_t elementBytes,
                                       const CacheBudget &caches) {
  if (ShapedType::isDynamic(size))
    size = kNominalCPURows;
  int64_t most = std::min(caches.l2Bytes / 2 / (group.sizeK * elementBytes),
                          size / kCPURates.leastTiles);
  return std::max<int64_t>(llvm::alignDown(most, kCPURates.leastTileRows),
                           kCPURates.mostTileRows);
}

int64_t kron::chooseRows(const CPUPlan &plan, FusedOp fused,
                         int64_t elementBytes, const CacheBudget &caches) {
  int64_t factorBytes = countFactorBytes(plan, elementBytes);
  if (factorBytes > caches.l2Bytes / 2)
    return chooseRowsOfLargeFactor(
        plan.groups.front(),
        getArrayType(fused.getInit()).getDimSize(plan.tiledAxis), elementBytes,
        caches);
  int64_t elements = countElements(fused.getInputs().front(), plan.roles) +
                     countElements(fused.getInit(), plan.roles);
  int64_t rows = chooseRowsBeside(elements * elementBytes, caches);
  if (!plan.numBuffers)
    return rows;
  // What is converted stays in the first-level cache, unless whole register
  // tiles take more.
  int64_t most = caches.l1Bytes / (plan.elementsPerPosition * elementBytes);
  return std::clamp<int64_t>(llvm::alignDown(most, kCPURates.leastTileRows),
                             kCPURates.leastTileRows, rows);
}

int64_t kron::joinLastRows(const CPUPlan &plan, FusedOp fused, int64_t tile,
                           int64_t elementBytes, const CacheBudget &caches) {
  int64_t size = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  if (ShapedType::isDynamic(size) || size <= tile || size >= 2 * tile ||
      countBlocks(plan, fused) < 2)
    return tile;
  int64_t elements = countElements(fused.getInputs().front(), plan.roles) +
                     countElements(fused.getInit(), plan.roles);
  return size * elements * elementBytes <= caches.l2Bytes / 2 ? size : tile;
}

int64_t kron::chooseFollowedRows(const CPUPlan &plan, FusedOp fused,
                                 int64_t vectorBits, int64_t tile,
                                 int64_t elementBytes,
                                 const CacheBudget &caches) {
  int64_t blocks = countBlocks(plan, fused);
  if (plan.groups.size() > 1 || tile <= kCPURates.followedRows || blocks < 2)
    return tile;
  // What is longer than a page begins anew with each block, unless long t are
  // copied, for as few rows as those of which the copy stays near.
  int innermost = plan.roles.size() - 1;
  bool isLong =
      plan.roles[innermost] == AxisRole::Whole &&
      plan.groups.front().axis != static_cast<unsigned>(innermost) &&
      isLongSegment(getArrayType(fused.getInit()).getDimSize(innermost),
                    getElementBytes(getElementType(fused.getInit())));
  int64_t total = 0, rowBytes = 0;
  for (Value array : {fused.getInputs().front(), fused.getInit()}) {
    int64_t bytes = countElements(array, plan.roles) *
                    getElementBytes(getElementType(array));
    total += blocks * bytes;
    if (isLong || bytes <= kCPURates.aliasBytes)
      rowBytes += blocks * bytes;
  }
  int64_t rows = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  // Rows that are left behind tiles of a number that is known are slower.
  int64_t few = kCPURates.panelRows;
  if (ShapedType::isDynamic(rows))
    rows = kNominalCPURows;
  else if (int64_t even = getDivisor(rows, kCPURates.followedRows);
           even > kCPURates.fewPanelRows)
    few = even;
  double gone =
      std::clamp(2.0 * rows * total / kCPURates.memoryBytes - 1, 0.0, 1.0);
  int64_t factorBytes = countFactorBytes(plan, elementBytes);
  // Half of a cache keeps all of it.
  double far = std::clamp(2.0 * factorBytes / caches.l2Bytes - 1, 0.0, 1.0);
  double loadSlots = kCPURates.alongLoadSlots +
                     far * (kCPURates.farLoadSlots - kCPURates.alongLoadSlots);
  if (factorBytes <= caches.l1Bytes / 2)
    loadSlots = 0;
  double turns = 1.0 / few - 1.0 / tile;
  double lines = double(factorBytes) / kLineBytes;
  // Of few accumulators, multiply-adds wait for each other.
  int64_t vectors = llvm::divideCeil(countElements(fused.getInit(), plan.roles),
                                     vectorBits / 8 / elementBytes);
  double idle = double(kCPURates.fmasInFlight) / (few * vectors) - 1;
  double more =
      (loadSlots * lines + kCPURates.tileSlots * blocks) * turns +
      std::max(idle, 0.0) * plan.groups.front().sizeK * vectors * blocks;
  double less = kCPURates.lostLineSlots * gone * rowBytes / kLineBytes;
  return less > more ? few : tile;
}
