//===- SparseStoreCost.cpp - What stores of sparse results take -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The second-level cache takes longer for a part of a sector of 32 bytes than
// for a whole one. Threads that store what they have fill parts where results
// of neighbours lie apart; by way of shared memory parts are left at the ends
// of what a warp stores at once.
//
//===----------------------------------------------------------------------===//

#include "SparseSearch.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr double kWarpThreads = 32;
/// Threads of a warp with results of one row.
static constexpr double kRowThreads = 4;

/// Elements, as many as an access takes at most, whose multiples known strides
/// of `array` are, but for that of axis `skipped` (-1: none).
static int64_t getUnit(Value array, int64_t access, int64_t skipped) {
  int64_t unit = access;
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  for (auto [axis, stride] : llvm::enumerate(getKnownStrides(array)))
    if (shape[axis] != 1 && stride != 1 && int64_t(axis) != skipped &&
        !ShapedType::isDynamic(stride))
      while (stride % unit != 0)
        unit /= 2;
  return unit;
}

/// Elements from one position along dimension `dim` of `factor` to the next; a
/// factor of unknown strides is taken for one that is row-major.
static int64_t getStride(Value factor, int64_t dim) {
  ArrayRef<int64_t> shape = cast<ShapedType>(factor.getType()).getShape();
  int64_t stride = getKnownStrides(factor)[dim];
  return ShapedType::isDynamic(stride)
             ? llvm::product_of(shape.drop_front(dim + 1))
             : stride;
}

void kron::describeSparseAccesses(FusedOp fused, SparseCandidate &plan) {
  // Chunks of several positions lie as one in memory.
  int64_t skipped = plan.order == SparseOrder::Chunks ? plan.axis : -1;
  plan.storeUnit = getUnit(fused.getInit(), plan.getAccess(), skipped);
  plan.loadUnit =
      fused.getInputPermutation()
          ? 1
          : getUnit(fused.getInputs().front(), plan.getAccess(), skipped);
  if (auto order = fused.getInputPermutation()) {
    int64_t innermost = plan.alongRows       ? plan.rowAxis
                        : plan.laneAxis >= 0 ? plan.laneAxis
                                             : int64_t(plan.axis);
    plan.hasApartData =
        getKnownStrides(fused.getInputs().front())[(*order)[innermost]] != 1;
  }
  // Of rows that are neighbours, copies of 4 bytes and more, which are
  // asynchronous one by one, take less than making chunks does.
  bool areAsync =
      plan.loadUnit * plan.dataBytes >= kLeastAsyncBytes && plan.alongRows;
  auto mayBeWhole = [&](bool isFactor) {
    return !plan.isWideChunk() && !areAsync &&
           (plan.alongRows || plan.lanesPerChunk < plan.getChunk()) &&
           !getWholeCopyReason(fused, plan, isFactor);
  };
  // The same strides but for that of rows, which are of results.
  ModeProductOp product = fused.getModeProducts().front();
  Value factor = fused.getOperandOf(product.getFactor());
  plan.factorStride =
      plan.alongRows ? getStride(factor, product.getContractedFactorDim()) : 1;
  int64_t sector = kSectorBytes / plan.factorBytes;
  plan.hasApartFactor =
      plan.factorStride >= sector && plan.sizeN > 1 &&
      getStride(factor, product.getResultingFactorDim()) >= sector;
  int64_t strideK = getStride(factor, product.getContractedFactorDim());
  bool isOfOne = plan.alongRows || plan.lanes == 1;
  plan.turnsFactor = isOfOne && strideK != 1;
  int64_t unit = getUnit(factor, plan.getAccess(), /*skipped=*/-1);
  plan.factorUnit =
      plan.turnsFactor ? 1
      : isOfOne || plan.isWideChunk() || mayBeWhole(/*isFactor=*/true)
          ? unit
          : std::min(unit, plan.lanesPerChunk);
  plan.mostWhole = 0;
  if (plan.loadUnit < plan.getAccess() && mayBeWhole(/*isFactor=*/false))
    plan.mostWhole = mayBeWhole(/*isFactor=*/true) ? 2 : 1;
}

/// Parts of sectors per result that threads fill which store what they have.
static double getOwnParts(const SparseCandidate &plan) {
  double bytes = plan.element.getIntOrFloatBitWidth() / 8;
  if (plan.alongRows) {
    bool areWhole =
        ShapedType::isDynamic(plan.rows) || plan.rows % plan.getAccess() == 0;
    return areWhole && plan.storeUnit == plan.getAccess()
               ? 0
               : std::min(bytes * plan.getChunk() / kSectorBytes, 1.0);
  }
  bool isContiguous = plan.order == SparseOrder::Chunks;
  bool fits = isContiguous ? plan.sizeN % plan.chunkK == 0
                           : plan.lanesPerChunk == plan.getChunk();
  bool storesChunks =
      plan.shiftsResults() || (fits && plan.storeUnit == plan.getAccess());
  // Neighbouring threads fill sectors together then.
  if (storesChunks && plan.order != SparseOrder::Plain)
    return 0;
  double piece = storesChunks ? plan.getAccess() : 1;
  // From what one thread stores to what the next one does.
  double distance = bytes * plan.lanes *
                    (isContiguous                        ? plan.chunkK
                     : plan.order == SparseOrder::Spread ? 1
                                                         : 2);
  return std::clamp(distance / kSectorBytes, 1 / kRowThreads, 1.0) / piece;
}

double kron::getSharedStoreParts(double segment) {
  return 2 / kWarpThreads + 2 / segment;
}

/// The same by way of shared memory.
static double getSharedParts(const SparseCandidate &plan) {
  double segment =
      plan.alongRows ? tile::kMmaSizeM * plan.getChunk()
      : plan.getLaneBlocks() == 1
          ? std::min(8 * plan.getStoredTiles(), plan.sizeN) * plan.lanes
          : plan.getLanes();
  return getSharedStoreParts(segment);
}

double kron::getSparseStoreBytes(const SparseCandidate &plan,
                                 const GPUMachine &machine) {
  double parts = plan.sharedStore ? getSharedParts(plan) : getOwnParts(plan);
  double perClock = getGPURates(machine).sparse.partSectorsPerClock;
  return GPUResources(machine).getClockSeconds(parts / perClock) *
         machine.copyBytesPerSecond;
}

bool kron::mayShareSparseStores(const SparseCandidate &plan) {
  SparseCandidate own = plan;
  own.sharedStore = false;
  return !plan.swapsOperands && getOwnParts(own) > 0;
}

bool kron::isWorthSharingStores(const SparseCandidate &plan,
                                const GPUMachine &machine) {
  if (!mayShareSparseStores(plan))
    return false;
  double bytes = plan.element.getIntOrFloatBitWidth() / 8;
  double perResult = bytes * (1 + double(plan.sizeK) / plan.sizeN);
  SparseCandidate own = plan;
  own.sharedStore = false;
  return getSparseStoreBytes(own, machine) > perResult;
}
