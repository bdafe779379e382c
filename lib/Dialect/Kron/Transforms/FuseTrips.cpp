//===- FuseTrips.cpp - How many trips a chain takes -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FuseTrips.h"
#include "kron/CodeGen/CPU/PassPlan.h"
#include "kron/CodeGen/PassOperands.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

std::optional<TripPlan> kron::getGivenTrips(PassOp pass,
                                            DenseI64ArrayAttr counts) {
  int64_t products = pass.getModeProducts().size(), total = 0;
  for (int64_t count : counts.asArrayRef())
    total += count;
  if (total != products) {
    pass.emitOpError("expects trips of its schedule to add up to its ")
        << products << " mode products, but got " << total;
    return std::nullopt;
  }
  TripPlan plan;
  unsigned next = 0;
  for (int64_t count : counts.asArrayRef()) {
    SmallVector<unsigned> &trip = plan.trips.emplace_back();
    for (int64_t number = 0; number < count; ++number)
      trip.push_back(next++);
  }
  return plan;
}

/// Bytes from which one row is shared out among threads, however many there
/// are.
static constexpr int64_t kMinSharedRowBytes = 1 << 20;

/// Multiply-adds from which one row is worth being shared out where there are
/// threads for it: 8 us of one core and more, where handing shares to helpers
/// takes about 1 us.
static constexpr uint64_t kMinSharedRowWork = 1 << 20;

/// Rows that may be too few for all threads.
static constexpr int64_t kMostSharedRows = 2;

namespace {
/// What one row of a pass is: the axes that are contracted, once all of them
/// are results.
struct RowSizes {
  /// Positions of all other axes, which may be unknown.
  int64_t rows = 1;
  int64_t bytes = 0;
  /// Multiply-adds of all factors, or the largest number.
  uint64_t work = 0;

  bool areFew() const { return rows >= 1 && rows <= kMostSharedRows; }
};
} // namespace

/// The sizes of `pass`, if all its factors have static shapes.
static std::optional<RowSizes> getRowSizes(PassOp pass) {
  auto init = cast<ShapedType>(pass.getInit().getType());
  RowSizes sizes;
  sizes.bytes = getElementBytes(getElementType(pass.getInit()));
  llvm::SmallDenseMap<int64_t, int64_t> depths, results;
  for (ModeProductOp product : pass.getModeProducts()) {
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return std::nullopt;
    TripFactor factor = describeFactor(product);
    depths[factor.axis] += factor.depth;
    // The result's type may leave open what the factor tells.
    results[factor.axis] = factor.results;
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
  for (auto [axis, depth] : depths)
    sizes.work = llvm::SaturatingMultiplyAdd<uint64_t>(depth, elements,
                                                       sizes.work);
  return sizes;
}

/// How many of the last factors of `pass` are better a trip of their own, in
/// place in the result, or 0: without them, the smallest tile of columns fits
/// the second-level cache, which with them takes more than twice that.
static unsigned countFactorsInPlace(PassOp pass, int64_t l2Bytes,
                                    int64_t vectorBits) {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  auto init = dyn_cast<MemRefType>(pass.getInit().getType());
  if (!init || pass.getInputs().front() == pass.getInit() ||
      !kron::getBeta(products.back()).isZero())
    return 0;
  PassPlan plan = getPassPlan(pass, vectorBits);
  if (plan.tiledAxis < 0 || !plan.numBuffers ||
      !(plan.isTiledInnermost() || plan.transposesInput))
    return 0;
  // Two vectors of columns, or of rows.
  int64_t columns = 2 * vectorBits / 8;
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
    int64_t depth = factor.getDimSize(product.getContractedFactorDim());
    int64_t axis = product.getAxis();
    auto isInside = [&](ModeProductOp other) {
      return static_cast<int64_t>(other.getAxis()) > axis;
    };
    // The result has room for what lies in between only where factors are
    // square.
    if (factor.getRank() != 2 || depth <= 1 ||
        factor.getDimSize(0) != factor.getDimSize(1) ||
        !llvm::all_of(ArrayRef(products).drop_back(count + 1), isInside))
      break;
    bytes /= depth;
  }
  return bytes <= l2Bytes ? count : 0;
}

/// Leaves the last `count` of so many factors to a trip of their own.
static TripPlan cutInPlace(unsigned numFactors, unsigned count) {
  TripPlan plan;
  plan.isInPlace = true;
  plan.trips.resize(2);
  for (unsigned index = 0; index < numFactors; ++index)
    plan.trips[index + count >= numFactors].push_back(index);
  return plan;
}

TripPlan kron::planCPUTrips(PassOp pass, int64_t l2Bytes, int64_t vectorBits) {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  std::optional<RowSizes> sizes = getRowSizes(pass);
  // Only then every factor has a static shape.
  bool isLarge = sizes && sizes->bytes > 4 * l2Bytes;
  if (sizes && !isLarge)
    if (unsigned count = countFactorsInPlace(pass, l2Bytes, vectorBits))
      return cutInPlace(products.size(), count);

  TripPlan plan;
  plan.trips.emplace_back();
  bool isAlone = sizes && sizes->areFew() && sizes->bytes >= kMinSharedRowBytes;
  // Whole cache lines of columns, twice, within half of the cache.
  int64_t mostElements = l2Bytes / 2 / 128, elements = 1;
  for (auto [index, product] : llvm::enumerate(products)) {
    int64_t depth = isLarge ? cast<ShapedType>(product.getFactor().getType())
                                  .getDimSize(product.getContractedFactorDim())
                            : 1;
    bool isLast = index + 1 == products.size();
    // Without a product, which may not fit any type.
    bool cuts = isLarge ? depth > mostElements / elements : isAlone && isLast;
    if (cuts && !plan.trips.back().empty()) {
      plan.trips.emplace_back();
      elements = 1;
    }
    elements *= std::max<int64_t>(depth, 1);
    plan.trips.back().push_back(index);
  }
  return plan;
}

std::optional<TripPlan> kron::planSharedTrips(PassOp pass) {
  unsigned numFactors = pass.getModeProducts().size();
  std::optional<RowSizes> sizes = getRowSizes(pass);
  if (numFactors < 2 || !sizes || !sizes->areFew() ||
      sizes->work < kMinSharedRowWork)
    return std::nullopt;
  TripPlan plan;
  plan.trips.resize(2);
  for (unsigned index = 0; index < numFactors; ++index)
    plan.trips[index + 1 == numFactors].push_back(index);
  plan.numThreads = 2 * sizes->rows;
  return plan;
}

void kron::explainTrips(PassOp pass, const TripChain &chain,
                        const TripPlan &plan, int64_t slabBudget,
                        const GPUMachine &machine) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << plan.trips.size() << (plan.trips.size() == 1 ? " trip:" : " trips:");
  for (unsigned index = 0; index < plan.trips.size(); ++index) {
    Trip trip = describeTrip(chain, plan, index);
    int64_t columns = chooseColumns(trip, slabBudget, machine);
    os << (index ? "; " : " ") << "axes ";
    llvm::interleaveComma(trip.factors, os,
                          [&](const TripFactor &factor) { os << factor.axis; });
    if (columns)
      os << " (slab of " << trip.getSlabBytes(columns) << " bytes, runs of "
         << std::min<int64_t>(trip.getRunBytes(columns), 128) << ")";
    else if (fitsCluster(trip, slabBudget, machine))
      os << " (slab of " << trip.getSlabBytes(1) << " bytes, by two CTAs)";
    else
      os << " (does not fit on chip)";
  }
  remark::analysis(pass.getLoc(),
                   remark::RemarkOpts::name("Trips").category("kron-fuse"))
      << message << remark::metric("Trips", plan.trips.size())
      << remark::metric("Microseconds",
                        static_cast<int64_t>(plan.seconds * 1e6 + 0.5));
}

bool kron::hasGivenTrips(ArrayRef<ModeProductOp> chain) {
  ModeProductOp last = chain.back();
  ScheduleAttr schedule = last.getScheduleAttr();
  if (!schedule || !schedule.getTrips())
    return false;
  ArrayRef<int64_t> counts = schedule.getTrips().asArrayRef();
  // Others are about the factors of one named operation.
  return std::accumulate(counts.begin(), counts.end(), int64_t(0)) ==
         static_cast<int64_t>(chain.size());
}

bool kron::takeGivenTrips(ArrayRef<ModeProductOp> chain,
                          SmallVectorImpl<ArrayRef<ModeProductOp>> &trips) {
  if (!hasGivenTrips(chain))
    return false;
  ModeProductOp last = chain.back();
  ScheduleAttr schedule = last.getScheduleAttr();
  ArrayRef<int64_t> counts = schedule.getTrips().asArrayRef();
  for (int64_t count : counts) {
    trips.push_back(chain.take_front(count));
    chain = chain.drop_front(count);
    ModeProductOp end = trips.back().back();
    if (ScheduleAttr rest = schedule.withoutTrips())
      end.setScheduleAttr(rest);
    else
      end.removeScheduleAttr();
  }
  return true;
}
