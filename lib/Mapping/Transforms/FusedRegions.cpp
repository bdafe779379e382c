//===- FusedRegions.cpp - How many fused regions a chain takes ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FusedRegions.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Machine/CPURates.h"
#include "kron/Machine/ThreadRates.h"
#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Plan/Arrays.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

std::optional<FusionPlan> kron::getGivenRegions(FusedOp fused,
                                                DenseI64ArrayAttr counts) {
  int64_t products = fused.getModeProducts().size(), total = 0;
  for (int64_t count : counts.asArrayRef())
    total += count;
  if (total != products) {
    fused.emitOpError("expects regions of its plan to add up to its ")
        << products << " mode products, but got " << total;
    return std::nullopt;
  }
  FusionPlan plan;
  unsigned next = 0;
  for (int64_t count : counts.asArrayRef()) {
    SmallVector<unsigned> &region = plan.regions.emplace_back();
    for (int64_t number = 0; number < count; ++number)
      region.push_back(next++);
  }
  return plan;
}

namespace {
/// What one row of a kron.fused is: the axes that are contracted, once all of
/// them are results.
struct RowSizes {
  /// Positions of all other axes, which may be unknown.
  int64_t rows = 1;
  int64_t bytes = 0;
  /// Multiply-adds of all factors, or the largest number.
  uint64_t work = 0;

  bool areFew() const {
    return rows >= 1 && rows <= kThreadRates.mostSharedRows;
  }
};
} // namespace

/// The sizes of `fused`, if all its factors have static shapes.
static std::optional<RowSizes> getRowSizes(FusedOp fused) {
  auto init = cast<ShapedType>(fused.getInit().getType());
  RowSizes sizes;
  sizes.bytes = getElementBytes(getElementType(fused.getInit()));
  llvm::SmallDenseMap<int64_t, int64_t> depths, results;
  for (ModeProductOp product : fused.getModeProducts()) {
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return std::nullopt;
    ProblemFactor factor = describeFactor(product);
    depths[factor.axis] += factor.sizeK;
    // The result's type may leave open what the factor tells.
    results[factor.axis] = factor.sizeN;
  }
  int64_t elements = 1;
  for (int64_t axis = 0; axis < init.getRank(); ++axis) {
    if (auto result = results.find(axis); result != results.end())
      elements *= result->second;
    else if (init.isDynamicDim(axis))
      sizes.rows = ShapedType::kDynamic;
    else if (sizes.rows != ShapedType::kDynamic)
      sizes.rows *= init.getDimSize(axis);
  }
  sizes.bytes *= elements;
  for (auto [axis, sizeK] : depths)
    sizes.work =
        llvm::SaturatingMultiplyAdd<uint64_t>(sizeK, elements, sizes.work);
  return sizes;
}

/// How many of the last factors of `fused` are better a fused region of their
/// own, in place in the result, or 0: without them, the smallest tile of
/// columns fits the second-level cache, which with them takes more than twice
/// that.
static unsigned countFactorsInPlace(FusedOp fused, int64_t l2Bytes,
                                    int64_t vectorBits) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  auto init = dyn_cast<MemRefType>(fused.getInit().getType());
  if (!init || fused.getInputs().front() == fused.getInit() ||
      !kron::getBeta(products.back()).isZero())
    return 0;
  CPUChoices choices;
  choices.vectorBits = vectorBits;
  CacheBudget caches;
  caches.l2Bytes = l2Bytes;
  auto plan = std::get<CPUPlan>(
      chooseAxes(fused, /*given=*/CPUPlanAttr(), caches, choices));
  if (plan.tiledAxis < 0 || !plan.numBuffers ||
      !(plan.isTiledInnermost() || plan.transposesInput))
    return 0;
  // Of columns, or of rows.
  int64_t columns = kCPURates.columnSegmentBytes;
  if (int64_t size = init.getDimSize(plan.tiledAxis);
      !ShapedType::isDynamic(size))
    columns = std::min(columns, size * getElementBytes(init.getElementType()));
  int64_t bytes = columns * plan.elementsPerPosition;
  if (bytes <= 2 * l2Bytes)
    return 0;
  unsigned count = 0;
  for (; bytes > l2Bytes && count + 1 < products.size(); ++count) {
    ModeProductOp product = products[products.size() - 1 - count];
    auto factor = cast<ShapedType>(product.getFactor().getType());
    int64_t sizeK = factor.getDimSize(product.getContractedFactorDim());
    int64_t axis = product.getAxis();
    auto isInside = [&](ModeProductOp other) {
      return static_cast<int64_t>(other.getAxis()) > axis;
    };
    // The result has room for what lies in between only where factors are
    // square.
    if (factor.getRank() != 2 || sizeK <= 1 ||
        factor.getDimSize(0) != factor.getDimSize(1) ||
        !llvm::all_of(ArrayRef(products).drop_back(count + 1), isInside))
      break;
    bytes /= sizeK;
  }
  return bytes <= l2Bytes ? count : 0;
}

/// Leaves the last `count` of so many factors to a fused region of their own.
static FusionPlan cutInPlace(unsigned numFactors, unsigned count) {
  FusionPlan plan;
  plan.isInPlace = true;
  plan.regions.resize(2);
  for (unsigned index = 0; index < numFactors; ++index)
    plan.regions[index + count >= numFactors].push_back(index);
  return plan;
}

FusionPlan kron::planCPUFusion(FusedOp fused, int64_t l2Bytes,
                               int64_t vectorBits) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  std::optional<RowSizes> sizes = getRowSizes(fused);
  // Only then every factor has a static shape.
  bool isLarge = sizes && sizes->bytes > 4 * l2Bytes;
  if (sizes && !isLarge)
    if (unsigned count = countFactorsInPlace(fused, l2Bytes, vectorBits))
      return cutInPlace(products.size(), count);

  FusionPlan plan;
  plan.regions.emplace_back();
  bool isAlone =
      sizes && sizes->areFew() && sizes->bytes >= kThreadRates.leastRowBytes;
  // Whole cache lines of columns, twice, within half of the cache.
  int64_t mostElements = l2Bytes / 2 / 128, elements = 1;
  for (auto [index, product] : llvm::enumerate(products)) {
    int64_t sizeK = isLarge ? cast<ShapedType>(product.getFactor().getType())
                                  .getDimSize(product.getContractedFactorDim())
                            : 1;
    bool isLast = index + 1 == products.size();
    // Without a product, which may not fit any type.
    bool cuts = isLarge ? sizeK > mostElements / elements : isAlone && isLast;
    if (cuts && !plan.regions.back().empty()) {
      plan.regions.emplace_back();
      elements = 1;
    }
    elements *= std::max<int64_t>(sizeK, 1);
    plan.regions.back().push_back(index);
  }
  return plan;
}

std::optional<FusionPlan> kron::planSharedFusion(FusedOp fused) {
  unsigned numFactors = fused.getModeProducts().size();
  std::optional<RowSizes> sizes = getRowSizes(fused);
  if (numFactors < 2 || !sizes || !sizes->areFew() ||
      sizes->work < kThreadRates.leastRowWork)
    return std::nullopt;
  FusionPlan plan;
  plan.regions.resize(2);
  for (unsigned index = 0; index < numFactors; ++index)
    plan.regions[index + 1 == numFactors].push_back(index);
  plan.numThreads = 2 * sizes->rows;
  return plan;
}

void kron::explainRegions(FusedOp fused, const FusionChain &chain,
                          const FusionPlan &plan, int64_t footprintBudget,
                          const GPUMachine &machine) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << plan.regions.size()
     << (plan.regions.size() == 1 ? " fused region:" : " fused regions:");
  for (unsigned index = 0; index < plan.regions.size(); ++index) {
    Problem region = describeProblem(chain, plan, index);
    int64_t columns = chooseColumns(region, footprintBudget, machine);
    os << (index ? "; " : " ") << "axes ";
    llvm::interleaveComma(region.factors, os, [&](const ProblemFactor &factor) {
      os << factor.axis;
    });
    if (columns)
      os << " (tile footprint of " << region.getFootprintBytes(columns)
         << " bytes, segments of "
         << std::min<int64_t>(region.getSegmentBytes(columns), 128) << ")";
    else if (fitsCluster(region, footprintBudget, machine))
      os << " (tile footprint of " << region.getFootprintBytes(1)
         << " bytes, by two CTAs)";
    else
      os << " (does not fit on chip)";
    if (index < plan.withRowsInside)
      os << ", rows stay innermost";
  }
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Regions").category("kron-fuse"))
      << message << remark::metric("Regions", plan.regions.size())
      << remark::metric("Microseconds",
                        static_cast<int64_t>(plan.seconds * 1e6 + 0.5));
}

bool kron::hasGivenRegions(ArrayRef<ModeProductOp> chain) {
  ModeProductOp last = chain.back();
  DenseI64ArrayAttr regions = getPlannedRegions(last);
  if (!regions)
    return false;
  ArrayRef<int64_t> counts = regions.asArrayRef();
  // Others are about the factors of one named operation.
  return std::accumulate(counts.begin(), counts.end(), int64_t(0)) ==
         static_cast<int64_t>(chain.size());
}

bool kron::takeGivenRegions(ArrayRef<ModeProductOp> chain,
                            SmallVectorImpl<ArrayRef<ModeProductOp>> &regions) {
  if (!hasGivenRegions(chain))
    return false;
  ModeProductOp last = chain.back();
  Attribute plan = last.getPlanAttr();
  ArrayRef<int64_t> counts = getPlannedRegions(last).asArrayRef();
  for (auto [region, count] : llvm::enumerate(counts)) {
    regions.push_back(chain.take_front(count));
    chain = chain.drop_front(count);
    ModeProductOp end = regions.back().back();
    if (Attribute rest = getRegionPlan(plan, region))
      end.setPlanAttr(rest);
    else
      end.removePlanAttr();
  }
  return true;
}

size_t kron::getGroupEnd(ArrayRef<ModeProductOp> chain, size_t begin) {
  size_t end = begin + 1;
  while (end < chain.size() && getInputReshapes(chain[end]).empty())
    ++end;
  return end;
}

SmallVector<ArrayRef<ModeProductOp>>
kron::cutRegrouped(ArrayRef<ModeProductOp> chain,
                   llvm::function_ref<bool(size_t, size_t, size_t)> mayGoOn) {
  SmallVector<ArrayRef<ModeProductOp>> regions;
  size_t begin = 0, middle = getGroupEnd(chain, 0);
  while (middle < chain.size()) {
    size_t end = getGroupEnd(chain, middle);
    if (!mayGoOn(begin, middle, end)) {
      regions.push_back(chain.slice(begin, middle - begin));
      begin = middle;
    }
    middle = end;
  }
  regions.push_back(chain.drop_front(begin));
  return regions;
}
