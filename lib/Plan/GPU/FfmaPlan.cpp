//===- FfmaPlan.cpp - Groups of axes and tiles of the FFMA kernel ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/Support.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Largest K and N.
static constexpr int64_t kMaxFactor = 16;
/// Elements of a tile, such that their numbers and places have 32 bits.
static constexpr int64_t kMaxTileElements = 1 << 24;
static constexpr int64_t kSegmentBytes = 128;

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

/// Strides of the input, its axes in the order of the fused region.
static SmallVector<int64_t> getInputStrides(FusedOp fused) {
  return getKnownStrides(
      fused.getInputs().front(),
      fused.getInputPermutation().value_or(ArrayRef<int64_t>()));
}

static int64_t getFactorSize(ModeProductOp product, unsigned dim) {
  return cast<ShapedType>(product.getFactor().getType()).getDimSize(dim);
}

int64_t kron::getFfmaCopyWidth(FusedOp fused) {
  int64_t width = 16 / getElementBytes(getElementType(fused.getInit()));
  SmallVector<int64_t> strides = getInputStrides(fused);
  auto shape =
      cast<ShapedType>(fused.getModeProducts().front().getInput().getType())
          .getShape();
  if (strides.empty() || strides.back() != 1)
    return 1;
  // Dynamic strides are tested at run time.
  for (int64_t stride : ArrayRef(strides).drop_back())
    while (!ShapedType::isDynamic(stride) && stride % width != 0)
      width /= 2;
  while (!ShapedType::isDynamic(shape.back()) && shape.back() % width != 0)
    width /= 2;
  return width;
}

std::optional<std::string> kron::getOperandsReason(FusedOp fused) {
  if (std::optional<std::string> reason = getBareReason(fused))
    return reason;
  if (!hasOneElementType(fused))
    return "arrays have different element types";
  return std::nullopt;
}

/// Puts the next of `axes`, the innermost first, into groups.
static void formGroups(ArrayRef<FfmaAxis> axes, FfmaPlan &plan) {
  int64_t most = kFfmaValues * 4 / plan.elementBytes;
  for (const FfmaAxis &axis : axes) {
    int64_t size = std::max(axis.sizeK, axis.sizeN);
    if (plan.groups.empty() || plan.groups.back().values * size > most)
      plan.groups.emplace_back();
    plan.groups.back().axes.push_back(axis);
    plan.groups.back().values *= size;
  }
}

std::variant<FfmaPlan, std::string> kron::describeFfma(FusedOp fused) {
  if (std::optional<std::string> reason = getOperandsReason(fused))
    return *reason;
  auto init = cast<ShapedType>(fused.getInit().getType());
  Type element = init.getElementType();
  if (!element.isF32() && !element.isF64())
    return "the element type is neither f32 nor f64";
  FfmaPlan plan;
  plan.elementBytes = getElementBytes(element);
  if (element.isF64())
    plan.accumulators = 16;
  plan.sizes.assign(init.getShape().begin(), init.getShape().end());
  plan.contracted.resize(plan.sizes.size());
  SmallVector<FfmaAxis> axes;
  int64_t row = 1;
  for (ModeProductOp product : fused.getModeProducts()) {
    FfmaAxis axis;
    axis.product = product;
    axis.axis = product.getAxis();
    axis.sizeK = getFactorSize(product, product.getContractedFactorDim());
    axis.sizeN = getFactorSize(product, product.getResultingFactorDim());
    axis.pitch = llvm::alignTo(axis.sizeN, 16 / plan.elementBytes);
    axis.factorOffset = plan.ringOffset;
    plan.ringOffset += axis.sizeK * axis.pitch * plan.elementBytes;
    for (auto [dim, on] : llvm::enumerate(product.getFactorDims()))
      if (on >= 0 && getFactorSize(product, dim) != 1)
        return "a factor varies over an axis";
    if (axis.sizeK > kMaxFactor || axis.sizeN > kMaxFactor)
      return "a factor has more than 16 rows or columns";
    if (plan.contracted[axis.axis])
      return "an axis is contracted twice";
    row *= std::max(axis.sizeK, axis.sizeN);
    if (row > kMaxTileElements)
      return "a tile does not fit shared memory";
    plan.contracted.set(axis.axis);
    axes.push_back(axis);
  }
  plan.ringOffset = llvm::alignTo(plan.ringOffset, kSegmentBytes);
  // The innermost first.
  llvm::sort(axes, [](const FfmaAxis &lhs, const FfmaAxis &rhs) {
    return lhs.axis > rhs.axis;
  });
  formGroups(axes, plan);
  SmallVector<int64_t> inputStrides = getInputStrides(fused);
  bool innermostFree = !plan.contracted[plan.sizes.size() - 1] &&
                       !inputStrides.empty() && inputStrides.back() == 1;
  plan.direct = plan.groups.size() == 1 && innermostFree;
  for (auto [axis, stride] : llvm::enumerate(inputStrides))
    if (stride == 1 && inputStrides.back() != 1)
      plan.turnedAxis = axis;
  return plan;
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

SmallVector<int64_t> FfmaPlan::getRoom() const {
  SmallVector<int64_t> room(extents);
  for (const FfmaGroup &group : groups)
    for (const FfmaAxis &axis : group.axes)
      room[axis.axis] = std::max(axis.sizeK, axis.sizeN);
  return room;
}

static std::optional<std::string> checkExtents(const FfmaPlan &plan) {
  if (plan.extents.size() != plan.sizes.size())
    return ("expects extents to have " + Twine(plan.sizes.size()) +
            " numbers, one per axis, but got " + Twine(plan.extents.size()))
        .str();
  for (int64_t extent : plan.extents)
    if (extent < 1)
      return expects("extents", "positive", extent);
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes)
      if (plan.extents[axis.axis] != axis.sizeK)
        return expects("extents",
                       Twine(axis.sizeK) + " on axis " + Twine(axis.axis) +
                           ", which is contracted",
                       plan.extents[axis.axis]);
  int64_t elements = 1;
  for (int64_t extent : plan.getRoom()) {
    if (extent > kMaxTileElements / elements)
      return ("expects extents to be of at most " + Twine(kMaxTileElements) +
              " elements in all, but got more")
          .str();
    elements *= extent;
  }
  return std::nullopt;
}

/// Items of the groups, and the tile's sizes around them.
static void setItems(FfmaPlan &plan) {
  SmallVector<int64_t> extents(plan.extents);
  for (FfmaGroup &group : plan.groups) {
    group.before = extents;
    group.items = 1;
    for (int64_t extent : extents)
      group.items *= extent;
    for (const FfmaAxis &axis : group.axes) {
      group.items /= axis.sizeK;
      extents[axis.axis] = axis.sizeN;
    }
    group.after = extents;
  }
}

/// Places of the tile's elements in shared memory: row-major, with the block
/// that a thread of the first group reads padded so that lanes hit different
/// banks.
static void setPlaces(FusedOp fused, FfmaPlan &plan) {
  int64_t bytes = plan.elementBytes;
  plan.copyWidth = std::min(getFfmaCopyWidth(fused),
                            std::max<int64_t>(plan.alignment / bytes, 1));
  unsigned rank = plan.extents.size();
  SmallVector<int64_t> most = plan.getRoom();
  while (most.back() % plan.copyWidth != 0)
    plan.copyWidth /= 2;
  if (plan.extents.back() % plan.copyWidth != 0)
    plan.copyWidth = 1;
  // The first group's outermost axis. If lanes are columns, only few of these
  // leave some for positions outside of the group.
  unsigned blockAxis = plan.groups.front().axes.back().axis;
  bool pads = plan.contracted[rank - 1];
  int64_t columns = plan.extents[rank - 1], line = kSegmentBytes / bytes;
  int64_t width = 16 / bytes;
  plan.strides.assign(rank, 1);
  int64_t stride = 1;
  plan.slotAxis = rank - 1;
  for (unsigned axis = rank; axis-- > 0;) {
    // Neighbours that are copied together hit different banks.
    if (int(axis) == plan.turnedAxis)
      stride |= 1;
    plan.strides[axis] = stride;
    stride *= most[axis];
    if (pads && axis == blockAxis)
      stride = stride % width == 0 ? llvm::alignTo(stride, 2 * width) + width
                                   : stride | 1;
    else if (axis == blockAxis && columns < line && line % columns == 0)
      stride = llvm::alignTo(stride, line) + columns;
    // What is copied in vectors stays aligned to them.
    if (plan.copyWidth > 1)
      stride = llvm::alignTo(stride, plan.copyWidth);
    if (most[axis] > 1)
      plan.slotAxis = axis;
  }
  plan.slots = most[plan.slotAxis];
}

/// Whether the last group has the innermost axis that has more than one
/// position in the tile.
static bool endsInnermost(const FfmaPlan &plan) {
  const FfmaGroup &last = plan.groups.back();
  for (unsigned axis = plan.sizes.size(); axis-- > 0;)
    if (last.after[axis] != 1)
      return llvm::any_of(last.axes, [&](const FfmaAxis &member) {
        return member.axis == axis;
      });
  return true;
}

std::optional<std::string> kron::placeFfmaTile(FusedOp fused, FfmaPlan &plan) {
  if (std::optional<std::string> reason = checkExtents(plan))
    return reason;
  if (plan.alignment && !llvm::isPowerOf2_64(plan.alignment))
    return expects("alignment", "a power of two", plan.alignment);
  setItems(plan);
  if (plan.direct)
    return std::nullopt;
  setPlaces(fused, plan);
  plan.copiesOut = endsInnermost(plan);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Threads and the ring
//===----------------------------------------------------------------------===//

int64_t FfmaPlan::getBatch(const FfmaGroup &group, int64_t threads) const {
  int64_t most =
      std::max<int64_t>(kFfmaValues * 4 / elementBytes / group.values, 1);
  return std::min<int64_t>(most, llvm::divideCeil(group.items, threads));
}

bool FfmaPlan::streams(const FfmaGroup &group) const {
  const FfmaAxis &last = group.axes.back();
  int64_t fibres = group.values / std::max(last.sizeK, last.sizeN);
  if (!streamedResults || last.sizeN % streamedResults != 0 ||
      (fibres != 1 && fibres != accumulators / streamedResults))
    return false;
  // A thread's first item of a turn is there if the thread takes part.
  if (group.batch > 1 && group.items % (group.batch * threads) != 0)
    return false;
  bool isStored = &group == &groups.back() && !copiesOut;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if ((isStored || direct) && !contracted[axis] && extent > 1 &&
        (ShapedType::isDynamic(sizes[axis]) || sizes[axis] % extent != 0))
      return false;
  return true;
}

SmallVector<int64_t> FfmaPlan::getBlock(const FfmaAxis &axis, int64_t fibres,
                                        bool streams) const {
  int64_t results = axis.sizeN;
  int64_t wanted = streams ? streamedResults : blockResults;
  if (wanted && axis.sizeN % wanted == 0)
    results = wanted;
  // Blocks of equal size.
  int64_t most = std::max<int64_t>(accumulators / results, 1);
  int64_t blocks = llvm::divideCeil(fibres, most);
  int64_t together = llvm::divideCeil(fibres, blocks);
  return {together, results};
}

/// The threads of a slot, which go ahead of the others if every thread has
/// exactly one item of every group but the last; else 0.
static int64_t getSlotThreads(const FfmaPlan &plan) {
  int64_t threads = plan.threads / plan.slots;
  if (plan.direct || plan.copiesOut || plan.slots == 1 || plan.slots > 15 ||
      plan.threads % plan.slots != 0 || threads % 32 != 0 ||
      plan.extents[plan.slotAxis] != plan.slots)
    return 0;
  for (const FfmaGroup &group : plan.groups) {
    bool isLast = &group == &plan.groups.back();
    if (group.items != group.batch * plan.threads ||
        (!isLast && (group.batch != 1 || plan.hasSlots(group))) ||
        (isLast && group.batch != 1 && !plan.hasSlots(group)))
      return 0;
  }
  return threads;
}

static std::optional<std::string> checkThreads(const FfmaPlan &plan) {
  if (plan.threads < 32 || plan.threads > 1024 || plan.threads % 32 != 0)
    return expects("threads", "a multiple of 32 in [32, 1024]", plan.threads);
  if (plan.ctasPerSM < 1)
    return expects("ctas_per_sm", "positive", plan.ctasPerSM);
  // Rows of a factor are read in vectors from the first result of a block on.
  int64_t width = 16 / plan.elementBytes;
  if (plan.blockResults < 0 || plan.blockResults % width != 0)
    return expects("block_results", "a multiple of " + Twine(width),
                   plan.blockResults);
  if (plan.streamedResults < 0 || plan.streamedResults % width != 0)
    return expects("streamed_results", "a multiple of " + Twine(width),
                   plan.streamedResults);
  if (plan.copies < 1)
    return expects("copies", "positive", plan.copies);
  return std::nullopt;
}

static std::optional<std::string> checkRing(const FfmaPlan &plan) {
  if (plan.direct)
    return plan.ringSlots == 0
               ? std::nullopt
               : std::optional(expects("ring_slots",
                                       "0, as no tile lies in shared memory",
                                       plan.ringSlots));
  if (plan.ringSlots < plan.slots)
    return expects("ring_slots",
                   "at least " + Twine(plan.slots) +
                       ", the positions of a tile on axis " +
                       Twine(plan.slotAxis),
                   plan.ringSlots);
  // Vectors that are copied along the slots' axis are not divided.
  bool copiesSlots = plan.slotAxis + 1 == plan.extents.size();
  if (copiesSlots && plan.ringSlots % plan.copyWidth != 0)
    return expects("ring_slots", "a multiple of " + Twine(plan.copyWidth),
                   plan.ringSlots);
  return std::nullopt;
}

std::variant<FfmaPlan, std::string> kron::readFfmaPlan(FusedOp fused,
                                                       GPUPlanAttr attribute) {
  std::variant<FfmaPlan, std::string> described = describeFfma(fused);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  auto &plan = std::get<FfmaPlan>(described);
  PlanReader reader(attribute);
  FfmaChoices::visitFields(reader, plan);
  if (std::optional<std::string> reason = placeFfmaTile(fused, plan))
    return *reason;
  if (std::optional<std::string> reason = checkThreads(plan))
    return *reason;
  if (std::optional<std::string> reason = checkRing(plan))
    return *reason;
  for (FfmaGroup &group : plan.groups)
    group.batch = plan.getBatch(group, plan.threads);
  plan.slotThreads = getSlotThreads(plan);
  return plan;
}
