//===- Axes.cpp - What lanes, tiles and slices run over ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Axes.h"
#include "Tiles.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/Arrays.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Chooses the axis to tile: the innermost one if no factor touches it, since
/// lanes run there, else that along which the input is contiguous, or the
/// innermost axis outside that is long enough to matter.
static int chooseTiledAxis(FusedOp fused) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  llvm::SmallBitVector contracted = getContractedAxes(fused),
                       varying = getVaryingAxes(fused);
  int contiguousAxis = getContiguousAxis(fused);
  int fallback = -1;
  auto isLong = [&](int axis) {
    return ShapedType::isDynamic(sizes[axis]) ||
           sizes[axis] >= kCPURates.fullInsideElements;
  };
  int innermost = sizes.size() - 1;
  auto isFree = [&](int axis) {
    return !contracted[axis] && !varying[axis] && sizes[axis] != 1;
  };
  if (!isFree(innermost) && isFree(contiguousAxis) && isLong(contiguousAxis))
    return contiguousAxis;
  for (int axis = sizes.size() - 1; axis >= 0; --axis) {
    if (!isFree(axis))
      continue;
    if (axis == innermost || isLong(axis))
      return axis;
    if (fallback < 0)
      fallback = axis;
  }
  return fallback;
}

/// Axes that no factor contracts and that a tile takes whole, so that lanes
/// have enough to run over.
static SmallVector<int64_t> chooseWholeAxes(FusedOp fused, int tiledAxis) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  llvm::SmallBitVector contracted = getContractedAxes(fused);
  int firstContracted = contracted.find_first();
  int innermost = sizes.size() - 1;
  SmallVector<int64_t> axes;
  int64_t elements = 1;
  for (int axis = innermost; axis >= 0; --axis) {
    if (axis == tiledAxis) {
      if (axis == innermost && !ShapedType::isDynamic(sizes[axis]))
        elements *= std::max<int64_t>(sizes[axis], 1);
      continue;
    }
    if (contracted[axis] || axis < firstContracted ||
        ShapedType::isDynamic(sizes[axis]))
      continue;
    int64_t inside = elements;
    elements *= std::max<int64_t>(sizes[axis], 1);
    if (axis == innermost || elements <= kCPURates.mostInsideElements ||
        inside < kCPURates.fullInsideElements)
      axes.insert(axes.begin(), axis);
  }
  return axes;
}

/// Whether tiles of the rows that `group`, the only one, reads are copied. Its
/// register tiles prefetch them, or copy them, unless they share sets of a
/// cache, or are so few that memory is all. A copy has to stay in the
/// first-level cache.
static bool isWorthPackingRows(const StepGroup &group, int64_t stride,
                               int64_t elementBytes, int64_t vectorBits,
                               const CacheBudget &caches) {
  bool isAliased = ShapedType::isDynamic(stride) ||
                   stride * elementBytes % kCPURates.aliasBytes == 0;
  int64_t segment = caches.l1Bytes / std::max<int64_t>(group.sizeK, 1);
  bool isBetter =
      (isAliased && segment >= kCPURates.columnSegmentBytes) ||
      (vectorBits < 512 && segment >= kCPURates.narrowPackedBytes) ||
      group.sizeK <= kCPURates.mostStoreBoundK;
  bool isFar = ShapedType::isDynamic(stride) || stride >= kCPURates.farElements;
  return isFar && isBetter && group.sizeN >= kCPURates.packedResults;
}

/// Whether tiles of the input are copied before they are used.
static bool choosePacksInput(const CPUPlan &plan, FusedOp fused,
                             int64_t vectorBits, const CacheBudget &caches) {
  if (!canPackInput(fused, plan))
    return false;
  SmallVector<int64_t> strides = getInputStrides(fused);
  bool isChain = plan.groups.size() > 1;
  // Columns that lie as rows are transposed, slice by slice if something else
  // is left to do with these.
  if (strides[plan.tiledAxis] != 1)
    return isChain;
  const StepGroup &first = plan.groups.front();
  int64_t stride = strides[first.axis + first.products.size() - 1];
  // What is converted is copied anyway.
  if (!isChain && !isConverted(fused, fused.getInputs().front()))
    return isWorthPackingRows(first, stride, getComputedBytes(fused),
                              vectorBits, caches);
  bool isFar = ShapedType::isDynamic(stride) || stride >= kCPURates.farElements;
  int64_t columns = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  bool isWide = ShapedType::isDynamic(columns) ||
                columns * getComputedBytes(fused) > kLineBytes;
  return (isFar && first.sizeN >= kCPURates.packedResults) ||
         (isChain && isWide && first.sizeN >= kCPURates.packedNearResults);
}

/// Multiply-adds of vectors that groups of the end of an axis of `inside`
/// elements save `group`, per element: as `chooseRemainder` takes them.
static double getGroupedSavings(const StepGroup &group, int64_t inside,
                                int64_t lanes, int64_t elementBytes,
                                const CacheBudget &caches) {
  int64_t remainder = inside % lanes, elements = 0;
  int64_t turns = llvm::popcount(uint64_t(remainder)) + (inside >= lanes);
  double grouped = double(remainder) / lanes * group.sizeN;
  for (int64_t size = lanes / 2; size; size /= 2)
    if (remainder & size)
      elements +=
          llvm::alignTo(group.sizeN * size, lanes) * int64_t(group.sizeK);
  bool fits = elements * elementBytes <= caches.l1Bytes / 2;
  return remainder && turns <= kCPURates.mostGroupedTurns && fits &&
                 group.sizeK >= kCPURates.leastGroupedK
             ? (group.sizeN - grouped) * lanes / inside
             : 0;
}

double kron::getPartSlots(const StepGroup &group, int64_t inside,
                          int64_t lanes) {
  int64_t width = inside;
  if (!group.sizeN)
    return 0;
  if (inside == 1 && group.sizeK == group.sizeN && 2 * group.sizeN <= lanes)
    width = lanes / group.sizeN * group.sizeN;
  else if (inside < lanes && llvm::isPowerOf2_64(inside))
    width = group.sizeN * inside;
  else if (inside < lanes)
    width = lanes / inside * inside;
  double parts = llvm::popcount(uint64_t(width % lanes));
  return kCPURates.storedPartSlots * parts * lanes / width * group.sizeN /
         group.sizeK;
}

/// Cost of `groups`, one after the other, per element of the input; `isFull`:
/// with lanes over rows.
static double getChainCost(ArrayRef<StepGroup> groups, FusedOp fused,
                           int64_t vectorBits, const CacheBudget &caches,
                           bool isFull) {
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  ModeProductOp first = fused.getModeProducts().front();
  SmallVector<int64_t> sizes(getArrayType(first.getInput()).getShape());
  double cost = 0, share = 1;
  for (const StepGroup &group : groups) {
    int64_t inside = 1;
    for (int64_t size :
         llvm::drop_begin(sizes, group.axis + group.products.size()))
      inside *= size;
    int64_t width = inside < lanes ? inside * group.sizeN : inside;
    double own =
        getGroupCost(group.sizeK, group.sizeN, isFull ? -1 : inside, lanes);
    bool isAligned = isFull || width % lanes == 0 || lanes % width == 0;
    // Fewer of narrower vectors cross lines.
    double growth = double(group.sizeN) / group.sizeK;
    if (!isAligned)
      own += kCPURates.unalignedSlots * vectorBits / 512 * (1 + growth);
    if (vectorBits < 512)
      own += kCPURates.narrowStoreSlots * growth;
    if (!isFull && vectorBits < 512 && inside > 0)
      own += getPartSlots(group, inside, lanes);
    // Shorter axes are repeated, without empty lanes.
    if (!isFull && vectorBits == 512 && 2 * inside > lanes)
      own -= getGroupedSavings(group, inside, lanes, getComputedBytes(fused),
                               caches);
    cost += share * own;
    share *= growth;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getArrayType(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
  }
  return cost;
}

int64_t kron::countLaneBytes(const CPUPlan &plan, FusedOp fused,
                             int64_t vectorBits) {
  ShapedType init = getArrayType(fused.getInit());
  int64_t rowElements = 1;
  for (int axis = plan.tiledAxis + 1, rank = plan.roles.size(); axis < rank;
       ++axis)
    rowElements *= std::max(plan.getWholeSize(axis, 0), init.getDimSize(axis));
  return rowElements * (plan.transposesInput ? kLineBytes : vectorBits / 8);
}

/// Multiply-adds of vectors that transposing an element of the input takes as
/// long as, and the results for one that `groups` leave of it. Squares that a
/// row leaves empty take as long as full ones.
static std::pair<double, double> getTransposingCosts(const CPUPlan &plan,
                                                     FusedOp fused,
                                                     ArrayRef<StepGroup> groups,
                                                     int64_t lanes) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  double growth = 1,
         results =
             ShapedType::getNumElements(sizes.drop_front(plan.tiledAxis + 1));
  for (const StepGroup &group : groups)
    growth *= double(group.sizeN) / group.sizeK;
  auto getCost = [&](double elements) {
    double squares = std::ceil(elements / lanes) * lanes;
    return (llvm::Log2_64(lanes) + 1) * squares / std::max(elements, 1.0);
  };
  return {getCost(results / growth), growth * getCost(results)};
}

bool kron::hasRowsForLanes(const CPUPlan &plan, FusedOp fused,
                           int64_t vectorBits, const CacheBudget &caches) {
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  int64_t bytes = countLaneBytes(plan, fused, vectorBits);
  int64_t rows = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  bool isMany =
      !ShapedType::isDynamic(rows) && rows >= kCPURates.leastTiles * lanes;
  return bytes <= kCPURates.mostBytesOfRowsInLanes ||
         (isMany && 2 * bytes <= caches.l2Bytes);
}

/// Whether factors that are no powers of two are cheaper with lanes over rows,
/// two transpositions included; of a transposed input, which takes one of them
/// either way, only the other one.
static bool putsRowsInLanes(const CPUPlan &plan, FusedOp fused,
                            int64_t vectorBits, const CacheBudget &caches) {
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  int64_t bytes = countLaneBytes(plan, fused, vectorBits);
  // A single factor broadcasts what is transposed.
  if ((plan.transposesInput && plan.groups.size() == 1) ||
      !hasRowsForLanes(plan, fused, vectorBits, caches))
    return false;
  SmallVector<StepGroup> groups =
      chooseGroups(fused, lanes, caches, /*isFull=*/true);
  auto [input, others] = getTransposingCosts(plan, fused, groups, lanes);
  if (!plan.transposesInput)
    others += std::exchange(input, 0);
  // So does a tile of a transposed input either way.
  if (bytes > caches.l1Bytes && !plan.transposesInput)
    others += kCPURates.secondLevelSlots * groups.size();
  double gain =
      bytes > kCPURates.mostBytesOfRowsInLanes ? kCPURates.rowsInLanesGain : 1;
  return gain *
             (getChainCost(groups, fused, vectorBits, caches, true) + others) <
         getChainCost(plan.groups, fused, vectorBits, caches, false) + input;
}

/// Cost of `product` per element of its input; `isFull`: with lanes over rows.
static double getSparseCost(const StepGroup &group, const GroupView &view,
                            int64_t rows, int64_t lanes, bool isFull) {
  int64_t inside = 1;
  for (int64_t axis = group.axis + 1, rank = view.before.size(); axis < rank;
       ++axis)
    inside *= axis == rows ? 1 : view.before[axis];
  return getGroupCost(group.sizeK, group.sizeN, isFull ? -1 : inside, lanes);
}

/// Whether the factors of a regrouped chain that fill vectors badly are cheaper
/// with lanes over rows, two transpositions included.
static bool putsRegroupedRowsInLanes(const CPUPlan &plan, FusedOp fused,
                                     int64_t lanes) {
  auto [in, out] = getTransposingCosts(plan, fused, plan.groups, lanes);
  double share = 1, own = 0, inLanes = in + out;
  for (auto [group, view] : llvm::zip_equal(plan.groups, plan.views)) {
    own += share *
           getSparseCost(group, view, plan.tiledAxis, lanes, /*isFull=*/false);
    inLanes += share * getSparseCost(group, view, plan.tiledAxis, lanes,
                                     /*isFull=*/true);
    share *= double(group.sizeN) / group.sizeK;
  }
  return inLanes < own;
}

/// Steps as `groups` join factors.
static void setSteps(ArrayRef<StepGroup> groups, CPUChoices &choices) {
  choices.steps.clear();
  for (const StepGroup &group : groups)
    choices.steps.emplace_back().factors = group.products.size();
}

std::variant<CPUPlan, std::string>
kron::chooseAxes(FusedOp fused, CPUPlanAttr given, const CacheBudget &caches,
                 CPUChoices &choices, std::optional<bool> rowsInLanes) {
  int64_t lanes =
      std::max<int64_t>(choices.vectorBits / 8 / getComputedBytes(fused), 1);
  bool isRegroupedChain = isRegrouped(fused);
  auto isGiven = [&](StringRef name) { return given && given.has(name); };
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  auto apart = llvm::map_to_vector(products, startGroup);
  if (!isGiven("steps"))
    setSteps(isRegroupedChain ? apart : chooseGroups(fused, lanes, caches),
             choices);
  if (!isGiven("tiled_axis"))
    choices.tiledAxis = isRegroupedChain
                            ? static_cast<int64_t>(*getRegroupedRows(products))
                            : chooseTiledAxis(fused);
  if (!isGiven("whole_axes") && !isRegroupedChain)
    choices.wholeAxes = chooseWholeAxes(fused, choices.tiledAxis);
  std::variant<CPUPlan, std::string> described =
      describeCPUPlan(fused, choices);
  auto *plan = std::get_if<CPUPlan>(&described);
  if (!plan)
    return described;
  // Rows that are far by hand are prefetched where they lie.
  if (!isGiven("packs_input"))
    choices.packsInput =
        !choices.hasFarRows() &&
        choosePacksInput(*plan, fused, choices.vectorBits, caches);
  if (!isGiven("rows_in_lanes") &&
      getRowsInLanesReason(fused, *plan, lanes).empty()) {
    if (rowsInLanes)
      choices.rowsInLanes = *rowsInLanes;
    else if (isRegroupedChain)
      choices.rowsInLanes = putsRegroupedRowsInLanes(*plan, fused, lanes);
    else
      choices.rowsInLanes =
          putsRowsInLanes(*plan, fused, choices.vectorBits, caches);
  }
  if (choices.rowsInLanes && !isRegroupedChain && !isGiven("steps"))
    setSteps(chooseGroups(fused, lanes, caches, /*isFull=*/true), choices);
  return describeCPUPlan(fused, choices);
}

int64_t kron::countFactorUses(const CPUPlan &plan, FusedOp fused,
                              const StepGroup &group) {
  ModeProductOp product = group.products.front();
  llvm::SmallBitVector varying(plan.roles.size());
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
    if (axis >= 0 && getArrayType(product.getFactor()).getDimSize(dim) != 1)
      varying.set(axis);
  int64_t uses = 1;
  for (auto [axis, size] :
       llvm::enumerate(getArrayType(fused.getInit()).getShape())) {
    bool isOwn =
        axis >= group.axis && axis < group.axis + group.products.size();
    if (isOwn || varying[axis] ||
        (!plan.views.empty() && static_cast<int>(axis) != plan.tiledAxis))
      continue;
    if (ShapedType::isDynamic(size))
      return std::numeric_limits<int64_t>::max();
    uses *= size;
  }
  return uses;
}

void kron::chooseConversions(const CPUPlan &plan, FusedOp fused,
                             CPUPlanAttr given, const CacheBudget &caches,
                             CPUChoices &choices) {
  // Copies of segments convert what they read, of a factor that would not stay
  // in the second-level cache, too.
  int64_t lanes =
      std::max<int64_t>(choices.vectorBits / 8 / getComputedBytes(fused), 1);
  bool hasSegments =
      hasLongVaryingAxis(plan, fused, lanes, choices.matrixTiles);
  if (!given || !given.has("converts_input"))
    choices.convertsInput =
        !choices.hasFarRows() &&
        isConverted(fused, fused.getInputs().front()) &&
        plan.groups.front().sizeN > kCPURates.mostConvertingResults &&
        !hasSegments;
  if (given && given.has("steps"))
    return;
  for (auto [group, step] : llvm::zip_equal(plan.groups, choices.steps)) {
    ModeProductOp product = group.products.front();
    int64_t bytes = getArrayType(product.getFactor()).getNumElements() *
                    getComputedBytes(fused);
    bool isLeft = hasSegments && choices.matrixTiles != kPairProducts &&
                  bytes > caches.l2Bytes / 2;
    step.convertsFactor =
        group.products.size() == 1 && isConverted(fused, product.getFactor()) &&
        !isLeft &&
        countFactorUses(plan, fused, group) > kCPURates.mostConvertingUses;
  }
}

SmallVector<int64_t> kron::chooseSliceCuts(const CPUPlan &plan, FusedOp fused,
                                           const CPUChoices &choices,
                                           const CacheBudget &caches) {
  SmallVector<Section> sections = getSections(plan, choices);
  if (sections.front().sliceAxis < 0)
    return {};
  int64_t bytes = getComputedBytes(fused);
  int64_t lanes = choices.vectorBits / 8 / bytes;
  int64_t tile = getTileSize(fused, plan, choices);
  if (plan.tiledAxis > sections.front().sliceAxis || plan.slicesWholeTile())
    bytes *= tile;
  auto isLarge = [&] {
    const Section &first = sections.front();
    return bytes * first.sliceSize *
               countSliceElements(plan, first.begin, first.end,
                                  first.sliceAxis) >
           kCPURates.mostSliceBytes;
  };
  SmallVector<int64_t> cuts;
  while (isLarge() &&
         cutSlices(plan, sections, [&](const Section &inner, int64_t elements) {
           int64_t size = getDivisor(inner.sliceSize, kCPURates.cutSliceBytes /
                                                          (bytes * elements));
           int64_t least =
               getLeastSlice(plan, fused, inner, tile, lanes, caches);
           return size < least ? 0 : size;
         }))
    cuts.push_back(sections.front().sliceSize);
  return cuts;
}

void kron::chooseFarSources(const CPUPlan &plan, FusedOp fused,
                            const CacheBudget &caches, CPUChoices &choices) {
  SmallVector<Section> sections = getSections(plan, choices);
  if (sections.front().sliceAxis < 0)
    return;
  int64_t far = std::min(kCPURates.farBytes, 2 * caches.l2Bytes);
  for (const Section &section : llvm::drop_begin(sections))
    choices.steps[section.begin].isSourceFar =
        countWindowElements(plan, section, getTileSize(fused, plan, choices),
                            section.begin) *
            getComputedBytes(fused) >=
        far;
}
