//===- SplitByColumns.cpp - Fused regions by the number of columns --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Lanes run over columns where the innermost contracted axis has nothing else
// inside of it. Few of them leave lanes empty, and are one tile, which no
// second thread gets a part of. With columns as the outermost axis, lanes run
// over the axes of factors, and every column is a row of tiles; for that the
// array is transposed on the way into both fused regions.
//
//===----------------------------------------------------------------------===//

#include "SplitByColumns.h"
#include "FusedRegions.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "kron/Machine/CPURates.h"
#include "kron/Machine/ThreadRates.h"
#include "kron/Plan/Arrays.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::kron;

/// Shares of lanes are counted in these.
static constexpr int64_t kFullLanes = 1024;

namespace {
/// When columns had better lie outside.
struct ColumnsOutside {
  /// Elements of a vector.
  int64_t lanes = 1;
  /// The share of the lanes that columns must fill less of.
  int64_t fullLanes = 0;
  /// Columns of a tile, each of which one thread takes.
  int64_t tile = 1;
  /// Whether a column is enough work for a thread, and two threads are faster
  /// with columns outside than one with all of them inside.
  bool areShared = false;
  /// The factor that the last fused region applies.
  unsigned last = 0;
};
} // namespace

/// The share of `lanes` that an axis of `size` positions fills.
static double getShare(int64_t size, int64_t lanes) {
  return double(size) / (llvm::divideCeil(size, lanes) * lanes);
}

/// The share of `lanes` that a factor of a chain fills with all columns of
/// `init` inside, as multiply-adds per shuffle: with the axes in between, or
/// with q in groups, as which it is packed, if the first-level cache holds
/// that. None if columns alone fill it, or their number is not known.
static std::optional<double> getInsideShare(const ProblemFactor &factor,
                                            ShapedType init, int64_t lanes) {
  int64_t columns = init.getShape().back();
  if (ShapedType::isDynamic(columns))
    return std::nullopt;
  if (factor.axis + 2 < init.getRank())
    return 1;
  int64_t group = lanes / std::max<int64_t>(columns, 1) * columns;
  int64_t bytes = factor.sizeK * factor.sizeN * columns *
                  getElementBytes(init.getElementType());
  if (2 * columns > lanes || bytes > kCPURates.stepL1Bytes)
    return std::nullopt;
  return llvm::isPowerOf2_64(columns)
             ? 1
             : double(group) / lanes / kCPURates.oddGroupSlots;
}

/// When the columns of `fused` had better lie outside; none if never. Of a
/// chain on several axes, by factors that depend on none and therefore commute,
/// the last fused region applies the last factor that has other axes inside of
/// its own, with which it fills lanes. Without that, the chain is the fused
/// regions of `inside`.
static std::optional<ColumnsOutside>
planColumns(FusedOp fused, const FusionPlan &inside, int64_t vectorBits) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  auto init = cast<ShapedType>(fused.getInit().getType());
  int64_t columns = init.getRank() - 1;
  llvm::SmallSetVector<int64_t, 8> contracted;
  SmallVector<int64_t> shape = llvm::to_vector(init.getShape());
  for (ModeProductOp product : llvm::reverse(products)) {
    auto factor = cast<ShapedType>(product.getFactor().getType());
    if (!factor.hasStaticShape() || factor.getRank() != 2)
      return std::nullopt;
    shape[product.getAxis()] = describeFactor(product).sizeK;
    // Each fused region has tiles of an axis that the other one contracts.
    if (!contracted.insert(product.getAxis()))
      return std::nullopt;
  }
  SmallVector<int64_t> order = getOrderWithColumnsOutside(fused);
  bool liesOutside = llvm::is_sorted(order);
  if (!contracted.contains(columns - 1) || contracted.contains(columns) ||
      (fused.getInputPermutation() && !liesOutside))
    return std::nullopt;

  ColumnsOutside plan;
  plan.last = products.size() - 1;
  while (static_cast<int64_t>(products[plan.last].getAxis()) == columns - 1)
    if (plan.last-- == 0)
      return std::nullopt;
  plan.lanes = vectorBits / 8 / getElementBytes(init.getElementType());
  plan.tile =
      kCPURates.columnSegmentBytes / getElementBytes(init.getElementType());
  // Multiply-adds for each column inside: those of factors whose lanes columns
  // fill, and those of others.
  double work = 0, full = 0, elements = 1;
  for (int64_t axis : contracted)
    elements *= shape[axis];
  double whole = elements;
  for (auto [index, product] : llvm::enumerate(products)) {
    ProblemFactor factor = describeFactor(product);
    elements *= double(factor.sizeN) / factor.sizeK;
    // In place, the axes inside of a factor's are one with the columns.
    bool isFull = inside.isInPlace &&
                  llvm::is_contained(inside.regions.back(), unsigned(index));
    std::optional<double> share =
        liesOutside ? getInsideShare(factor, init, plan.lanes) : std::nullopt;
    if (share)
      full += elements * factor.sizeK / *share;
    else
      (isFull ? full : work) += elements * factor.sizeK;
  }
  // As many as fit the time that the form with columns outside takes.
  std::rotate(products.begin() + plan.last, products.begin() + plan.last + 1,
              products.end());
  double outside = 0, copied = elements = whole;
  for (ModeProductOp product : products) {
    ProblemFactor factor = describeFactor(product);
    if (product == products.back())
      copied = std::max(copied, elements);
    elements *= double(factor.sizeN) / factor.sizeK;
    shape[factor.axis] = factor.sizeN;
    int64_t neighbours = 1;
    for (int64_t axis = factor.axis + 1; axis < columns; ++axis)
      // An unknown size is long; more than all lanes makes no difference.
      if (ShapedType::isDynamic(shape[axis]) ||
          neighbours > kCPURates.mostInsideElements)
        neighbours = plan.lanes * kCPURates.mostInsideElements;
      else
        neighbours *= shape[axis];
    // Short axes fill lanes together with what the factor makes of its own.
    bool isShort = neighbours < plan.lanes;
    double slots = isShort && !llvm::isPowerOf2_64(neighbours)
                       ? kCPURates.oddGroupSlots
                       : 1;
    outside +=
        slots * elements * factor.sizeK /
        getShare(isShort ? neighbours * factor.sizeN : neighbours, plan.lanes);
  }
  // The array is transposed twice, or once in either form.
  double slots = kCPURates.transposedElementSlots * plan.lanes;
  outside += copied * slots;
  (liesOutside ? full : outside) += (liesOutside ? whole : copied) * slots;
  // Columns that fill this share of the lanes take as long inside.
  double left = outside * kCPURates.columnsOutsideGain - full;
  plan.fullLanes = left > work ? kFullLanes * work / left : kFullLanes;
  // One fused region has a tile for each `tile` columns, if it has no other
  // axes outside; not with a second form for tiles that are enough for most
  // machines.
  bool areTilesFew = ShapedType::isDynamic(shape.back()) ||
                     shape.back() <= kThreadRates.mostSharedTiles * plan.tile;
  bool isOneTile = inside.regions.size() == 1 &&
                   static_cast<int64_t>(contracted.size()) == columns;
  plan.areShared =
      areTilesFew && isOneTile && work >= kThreadRates.leastRowWork &&
      outside * kCPURates.columnsOutsideGain < kThreadRates.idleThreads * work;
  return plan;
}

/// Two fused regions, factor `last` in one of its own.
static FusionPlan cutFactor(FusedOp fused, unsigned last) {
  FusionPlan plan;
  plan.hasColumnsOutside = true;
  plan.regions.resize(2);
  unsigned numFactors = fused.getModeProducts().size();
  for (unsigned index = 0; index < numFactors; ++index)
    plan.regions[index == last].push_back(index);
  return plan;
}

/// Whether columns fill too few lanes; none if their number is not known.
static std::optional<bool> areFew(FusedOp fused, const ColumnsOutside &plan) {
  int64_t columns =
      cast<ShapedType>(fused.getInit().getType()).getShape().back();
  if (ShapedType::isDynamic(columns))
    return std::nullopt;
  int64_t vectors = llvm::divideCeil(columns, plan.lanes);
  return columns * kFullLanes < vectors * plan.lanes * plan.fullLanes;
}

/// Whether columns had better lie outside, as an i1: they fill too few lanes,
/// or are too few tiles for all threads.
static Value createCondition(OpBuilder &builder, FusedOp fused,
                             const ColumnsOutside &plan) {
  Location loc = fused.getLoc();
  auto init = cast<ShapedType>(fused.getInit().getType());
  Value columns = linalg::createOrFoldDimOp(builder, loc, fused.getInit(),
                                            init.getRank() - 1);
  auto multiply = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, factor));
  };
  auto count = [&](int64_t size) -> Value {
    return arith::CeilDivSIOp::create(
        builder, loc, columns,
        arith::ConstantIndexOp::create(builder, loc, size));
  };
  Value condition;
  SmallVector<LaunchRequirements> cases;
  if (!areFew(fused, plan).has_value()) {
    condition = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, multiply(columns, kFullLanes),
        multiply(count(plan.lanes), plan.lanes * plan.fullLanes));
    cases.push_back({{"lanes", plan.lanes}, {"max_filled", plan.fullLanes}});
  }
  if (plan.areShared) {
    Value areIdle = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge,
        NumThreadsOp::create(builder, loc),
        multiply(count(plan.tile), kThreadRates.idleThreads));
    condition = condition
                    ? arith::OrIOp::create(builder, loc, condition, areIdle)
                    : areIdle;
    cases.push_back({{"tile_columns", plan.tile},
                     {"tile_threads", kThreadRates.idleThreads}});
  }
  markLaunchChoice(condition, cases);
  return condition;
}

static void explain(FusedOp fused, const ColumnsOutside &plan) {
  std::optional<bool> isKnown = areFew(fused, plan);
  std::string reasons;
  if (isKnown != false)
    reasons = "they fill less than " +
              std::to_string(plan.fullLanes * 100 / kFullLanes) +
              " % of the lanes";
  if (plan.areShared && isKnown != true)
    reasons += (reasons.empty() ? "a" : ", or a") +
               std::string(" launch has two threads for each tile of ") +
               std::to_string(plan.tile) + " columns";
  std::string message =
      "columns lie outside between two fused regions where " + reasons;
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Columns").category("kron-fuse"))
      << message << remark::metric("FullLanes", plan.fullLanes);
}

FusedOp kron::splitByColumns(RewriterBase &rewriter, FusedOp fused,
                             int64_t l2Bytes, int64_t vectorBits) {
  if (fused.getPlanAttr() || hasEpilogueBehind(fused) || !isSplittable(fused) ||
      fused.getModeProducts().size() < 2)
    return fused;
  FusionPlan inside = planCPUFusion(fused, l2Bytes, vectorBits);
  // Rows that no cache holds are cut into columns of factors.
  if (inside.regions.size() > 1 && !inside.isInPlace)
    return fused;
  std::optional<ColumnsOutside> plan = planColumns(fused, inside, vectorBits);
  // A single column fills one lane.
  if (!plan || plan->fullLanes * plan->lanes <= kFullLanes)
    return fused;
  std::optional<bool> isKnown = areFew(fused, *plan);
  if (isKnown == false && !plan->areShared)
    return fused;
  explain(fused, *plan);
  rewriter.setInsertionPoint(fused);
  FusedOp few = fused, many;
  if (isKnown != true)
    std::tie(few, many) = copyToBranches(
        rewriter, fused, createCondition(rewriter, fused, *plan));
  splitFusedOp(rewriter, few, cutFactor(few, plan->last));
  return many;
}
