//===- PairwisePlanner.cpp - How a kron.pairwise is mapped ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Register tiles are as large as registers allow beside what the function of a
// pair needs itself, and no larger than the result. The packed part of B has a
// share of the second-level cache: every element of it is used once per row
// tile, which hides how far away it lies.
//
// Of a kron.pairwise_apply a block has all of N, and its sums are in scratch: a
// register tile adds to them once per column where lanes are along N, so that
// they should stay in the first-level cache, or are multiplied like a matrix
// with the columns in the lanes. A kron.pairwise_grad has such blocks, too.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/PairwisePlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/CPU/PairProducts.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Instructions for one of `math` that is a polynomial, and those that take as
/// long as to copy a vector of `kCopiedLanes` elements to the other half of a
/// matrix.
static constexpr int64_t kLongInstructions = 12, kCopyInstructions = 24,
                         kCopiedLanes = 16;

/// Whether an operation is one instruction, or a few.
static bool isShort(Operation &op) {
  return op.getName().getDialectNamespace() != "math" ||
         isa<math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
             math::TruncOp, math::RoundEvenOp, math::SqrtOp, math::FmaOp>(op);
}

/// Whether a function of a pair takes a few instructions, and no registers for
/// coefficients.
static bool isShort(PairOpInterface op) {
  if (!op.getInner())
    return llvm::all_of(op.getInnerBody().front().without_terminator(),
                        [](Operation &inside) { return isShort(inside); });
  return !op.getExponentAttr() ||
         isProductOfRoots(op.getExponentAttr().getValueAsDouble());
}

/// Rows and vectors of a register tile.
static std::pair<int64_t, int64_t>
chooseTile(PairOpInterface op, int64_t vectorBits, bool hasProducts) {
  bool isWide = vectorBits == 512;
  const CPURates &rates = kCPURates;
  if (!isShort(op))
    return isWide ? std::pair(rates.longPairRows, rates.longPairVectors)
                  : std::pair(rates.narrowLongPairRows,
                              rates.narrowLongPairVectors);
  if (hasProducts && !isWide)
    return {rates.narrowProductRows, rates.narrowPairVectors};
  return isWide ? std::pair(rates.pairRows, rates.pairVectors)
                : std::pair(rates.narrowPairRows, rates.narrowPairVectors);
}

/// The size of a dimension of `array`, which is open or known.
static int64_t getSize(Value array, unsigned dim) {
  return cast<ShapedType>(array.getType()).getDimSize(dim);
}

namespace {
/// What a tile is chosen for.
struct PairSizes {
  int64_t rows, columns;
};
} // namespace

/// What a plan gives, if it does, else what is chosen.
static int64_t choose(int64_t given, int64_t chosen) {
  return given ? given : chosen;
}

/// The field `product_k` of the plan of `op`, 0 if it has none.
static int64_t chooseProductK(PairOpInterface op, int64_t given) {
  if (given || !hasSquareProducts(op))
    return given;
  int64_t sizeK = getSize(op.getLhs(), op.getReducedDim(0));
  int64_t least = getLeastProductK();
  return ShapedType::isDynamic(sizeK) || sizeK >= least ? least : -1;
}

/// Instructions of vectors with `region`, for each.
static int64_t countInstructions(Region &region) {
  int64_t count = 0;
  if (!region.empty())
    for (Operation &op : region.front().without_terminator())
      count += isShort(op) ? 1 : kLongInstructions;
  return count;
}

/// Those of a position of K of a pair.
static int64_t countInner(PairOpInterface op) {
  if (!op.getInner())
    return 1 + countInstructions(op.getInnerBody());
  if (!isShort(op))
    return 2 * kLongInstructions;
  return op.getInner() == PairFunction::Dot ? 1 : 2;
}

/// The field `symmetric` of the plan of `op`, 0 if it has none: as many
/// positions as take longer than an element that is copied.
static int64_t chooseSymmetric(PairOpInterface op, int64_t given,
                               int64_t lanes) {
  if (given || !isSymmetricMatrix(op))
    return given;
  int64_t least = kCopyInstructions * lanes / kCopiedLanes -
                  countInstructions(op.getEpilogue());
  least = std::max<int64_t>(llvm::divideCeilSigned(least, countInner(op)), 1);
  int64_t sizeK = getSize(op.getLhs(), op.getReducedDim(0));
  return ShapedType::isDynamic(sizeK) || sizeK >= least ? least : -1;
}

/// `given` with the fields that kron.pairwise has.
static PairwisePlanAttr planTiles(PairOpInterface op, PairwisePlanAttr given,
                                  const CPUPlannerOptions &options,
                                  PairSizes sizes, int64_t blockRows) {
  int64_t bits = choose(given.getVectorBits(), options.vectorBits);
  int64_t elementBits = op.getAccumulatorType().getIntOrFloatBitWidth();
  int64_t lanes = bits / elementBits;
  int64_t productK = chooseProductK(op, given.getProductK());
  auto [rows, vectors] = chooseTile(op, bits, productK > 0);
  // Derivatives along directions are in registers beside the values.
  if (!op.getDirections().empty())
    rows = std::max<int64_t>(1, rows / 2);
  auto limit = [](int64_t chosen, int64_t size, int64_t unit) {
    if (ShapedType::isDynamic(size))
      return chosen;
    return std::clamp<int64_t>(llvm::divideCeil(size, unit), 1, chosen);
  };
  // What is not given fits what is.
  if (int64_t number = given.getVectors())
    rows = std::clamp<int64_t>(kMostAccumulators / number, 1, rows);
  if (int64_t number = given.getRows())
    vectors = std::clamp<int64_t>(kMostAccumulators / number, 1, vectors);
  rows = limit(rows, sizes.rows, 1);
  while (given.getRowBlock() % rows)
    --rows;
  rows = choose(given.getRows(), rows);
  vectors = choose(given.getVectors(), limit(vectors, sizes.columns, lanes));
  // A share of the cache for the packed part, whole vectors of it.
  const CPURates &rates = kCPURates;
  int64_t bytes = vectors * bits / 8;
  int64_t positions = options.caches.l2Bytes / rates.pairCacheShare / bytes;
  int64_t mostPositions =
      productK > 0 ? rates.pairProductPositions : rates.mostPairPositions;
  int64_t kBlock =
      choose(given.getKBlock(), std::clamp<int64_t>(positions / lanes * lanes,
                                                    lanes, mostPositions));
  int64_t rowBlock =
      choose(given.getRowBlock(), llvm::alignTo(blockRows, rows));
  return PairwisePlanAttr::get(
      op.getContext(), bits, rows, vectors, rowBlock, kBlock,
      given.getLaneColumns(), given.getNTiles(), given.getColumnBlock(),
      productK, chooseSymmetric(op, given.getSymmetric(), lanes));
}

/// The rows of the result, and its columns.
static PairSizes getResultSizes(PairOpInterface op) {
  unsigned rank = cast<ShapedType>(op.getInit().getType()).getRank();
  return {getSize(op.getInit(), rank - 2), getSize(op.getInit(), rank - 1)};
}

static PairwisePlanAttr planMatrix(PairOpInterface op, PairwisePlanAttr given,
                                   const CPUPlannerOptions &options) {
  return planTiles(op, given, options, getResultSizes(op),
                   kCPURates.pairBlockRows);
}

static PairwisePlanAttr planForCPU(PairwiseApplyOp op, PairwisePlanAttr given,
                                   const CPUPlannerOptions &options) {
  const CPURates &rates = kCPURates;
  PairSizes sizes = getResultSizes(op);
  int64_t columns =
      std::exchange(sizes.columns, getSize(op.getRhs(), op.getRowsDim(1)));
  bool isKnown = !ShapedType::isDynamic(columns);
  int64_t columnBlock = given.getColumnBlock();
  if (!columnBlock) {
    columnBlock = std::max(rates.pairColumnBlock, given.getLaneColumns());
    if (isKnown)
      columnBlock = std::clamp<int64_t>(
          columns, std::max<int64_t>(1, given.getLaneColumns()), columnBlock);
  }
  int64_t bits = choose(given.getVectorBits(), options.vectorBits);
  int64_t lanes = bits / op.getAccumulatorType().getIntOrFloatBitWidth();
  auto fewColumns =
      static_cast<int64_t>(static_cast<double>(lanes) * rates.pairLaneColumns);
  int64_t laneColumns = choose(given.getLaneColumns(),
                               std::clamp<int64_t>(fewColumns, 1, columnBlock));
  bool isFew = isKnown && columns <= laneColumns;
  int64_t blockRows = isFew ? rates.pairBlockRows : rates.pairApplyRows;
  // No more scratch than a small result needs.
  if (!ShapedType::isDynamic(sizes.rows))
    blockRows = std::clamp<int64_t>(sizes.rows, 1, blockRows);
  PairwisePlanAttr plan = planTiles(op, given, options, sizes, blockRows);
  return PairwisePlanAttr::get(
      op.getContext(), plan.getVectorBits(), plan.getRows(), plan.getVectors(),
      plan.getRowBlock(), plan.getKBlock(), laneColumns,
      choose(given.getNTiles(), rates.pairScratchTiles), columnBlock,
      plan.getProductK(), plan.getSymmetric());
}

static PairwisePlanAttr planForCPU(PairwiseGradOp op, PairwisePlanAttr given,
                                   const CPUPlannerOptions &options) {
  const CPURates &rates = kCPURates;
  unsigned rowSide = op.getBy() == PairOperand::Rhs;
  Value sides[] = {op.getLhs(), op.getRhs()};
  auto pair = cast<PairOpInterface>(op.getOperation());
  auto getRows = [&](unsigned side) {
    return getSize(sides[side], pair.getRowsDim(side));
  };
  PairSizes sizes{getRows(rowSide), getRows(1 - rowSide)};
  int64_t blockRows = rates.pairApplyRows;
  if (!ShapedType::isDynamic(sizes.rows))
    blockRows = std::clamp<int64_t>(sizes.rows, 1, blockRows);
  PairwisePlanAttr plan = planTiles(pair, given, options, sizes, blockRows);
  int64_t columnBlock = rates.pairColumnBlock;
  if (hasOutputs(op)) {
    auto type = cast<ShapedType>(op.getInit().getType());
    int64_t outputs = type.getDimSize(type.getRank() - 3);
    columnBlock = rates.pairOutputs;
    if (!ShapedType::isDynamic(outputs))
      columnBlock = std::clamp<int64_t>(outputs, 1, columnBlock);
  }
  // A part of B that has the positions of N of all tiles in scratch is packed.
  int64_t kBlock = choose(given.getKBlock(),
                          std::min(plan.getKBlock(), rates.pairGradPositions));
  return PairwisePlanAttr::get(
      op.getContext(), plan.getVectorBits(), plan.getRows(), plan.getVectors(),
      plan.getRowBlock(), kBlock, given.getLaneColumns(),
      choose(given.getNTiles(), rates.pairScratchTiles),
      choose(given.getColumnBlock(),
             std::max(columnBlock, given.getLaneColumns())),
      plan.getProductK(), plan.getSymmetric());
}

void kron::planForCPU(PairOpInterface op, const CPUPlannerOptions &options) {
  if (getCPUUnsupportedReason(op))
    return;
  StringAttr name = StringAttr::get(op.getContext(), kPlanAttrName);
  auto given = dyn_cast_if_present<PairwisePlanAttr>(
      op->getInherentAttr(name).value_or(Attribute()));
  if (!given)
    given =
        PairwisePlanAttr::get(op.getContext(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  PairwisePlanAttr plan =
      llvm::TypeSwitch<Operation *, PairwisePlanAttr>(op)
          .Case<PairwiseApplyOp, PairwiseGradOp>(
              [&](auto known) { return ::planForCPU(known, given, options); })
          .Default([&](Operation *) { return planMatrix(op, given, options); });
  op->setInherentAttr(name, plan);
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("{0}", plan) << remark::metric("Rows", plan.getRows())
      << remark::metric("Vectors", plan.getVectors())
      << remark::metric("RowBlock", plan.getRowBlock())
      << remark::metric("KBlock", plan.getKBlock());
}
