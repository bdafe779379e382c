//===- BatchedPlan.cpp - Steps and tiles of the batched kernel --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/BatchedPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/Support.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Planes of more elements do not fit a thread's registers.
static int64_t getLargestPlane(int64_t chunk) { return chunk == 4 ? 64 : 36; }
/// Larger factors would make the unrolled code too long.
static constexpr int64_t kLargestFactor = 16;
/// More elements than any shared memory holds.
static constexpr int64_t kMostElements = 1 << 24;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static ItemLayout getLayout(ArrayRef<int64_t> sizes, int64_t chunk) {
  ItemLayout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  size_t inPlane = std::min<size_t>(sizes.size(), 2);
  for (auto [axis, size] : llvm::enumerate(sizes))
    (axis + inPlane < sizes.size() ? layout.numPlanes : layout.planeSize) *=
        size;
  layout.pitch = layout.planeSize;
  if (inPlane == 2 && layout.pitch % (2 * chunk) == 0)
    layout.pitch += chunk;
  return layout;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether products `index` and the next one are on the two innermost axes and
/// small enough for planes in registers all the way.
static bool isPlanePair(const BatchedPlan &plan, unsigned index,
                        ArrayRef<int64_t> sizes) {
  if (index + 1 >= plan.factors.size() || sizes.size() < 2)
    return false;
  const ProblemFactor &first = plan.factors[index];
  const ProblemFactor &second = plan.factors[index + 1];
  int64_t last = plan.firstAxis + sizes.size() - 1;
  if (first.axis + second.axis != 2 * last - 1 ||
      std::abs(first.axis - second.axis) != 1)
    return false;
  int64_t largest = getLargestPlane(plan.chunk);
  return first.sizeK * second.sizeK <= largest &&
         first.sizeN * second.sizeK <= largest &&
         first.sizeN * second.sizeN <= largest;
}

static void addSteps(BatchedPlan &plan, SmallVector<int64_t> sizes) {
  for (unsigned index = 0; index < plan.factors.size();) {
    BatchedStep step;
    unsigned count = isPlanePair(plan, index, sizes) ? 2 : 1;
    step.source = getLayout(sizes, plan.chunk);
    for (unsigned number = 0; number < count; ++number, ++index) {
      step.products.push_back(index);
      const ProblemFactor &factor = plan.factors[index];
      sizes[factor.axis - plan.firstAxis] = factor.sizeN;
    }
    step.destination = getLayout(sizes, plan.chunk);
    plan.steps.push_back(std::move(step));
  }
  int64_t changes = llvm::count_if(plan.steps, [](const BatchedStep &step) {
    return !(step.source == step.destination);
  });
  plan.numWorkBuffers = std::min<int64_t>(changes, 2);
}

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

/// The largest power of two up to `limit` that divides both numbers.
static int64_t getCommonWidth(int64_t limit, int64_t first, int64_t second) {
  while (first % limit != 0 || second % limit != 0)
    limit /= 2;
  return limit;
}

/// Neighbouring fibres along `axis` of the item, which is not its last one,
/// that one access takes.
static int64_t getWidth(const ItemLayout &layout, unsigned axis,
                        int64_t chunk) {
  bool isInPlane = axis + 2 >= layout.sizes.size();
  return getCommonWidth(
      chunk, isInPlane ? layout.sizes.back() : layout.planeSize, layout.pitch);
}

int64_t BatchedPlan::getFibresPerUnit(const BatchedStep &step) const {
  unsigned axis = factors[step.products.front()].axis - firstAxis;
  // Nothing lies inside the fibres, or only axes of one position.
  if (llvm::all_of(ArrayRef(step.source.sizes).drop_front(axis + 1),
                   [](int64_t size) { return size == 1; }))
    return 1;
  return std::min(getWidth(step.source, axis, chunk),
                  getWidth(step.destination, axis, chunk));
}

int64_t BatchedPlan::getNumUnits(const BatchedStep &step) const {
  return itemsPerTile * step.source.getElements() /
         factors[step.products.front()].sizeK / getFibresPerUnit(step);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t BatchedPlan::getStageElements() const {
  return llvm::alignTo((itemsPerTile + slackItems) * getInput().getItemPitch(),
                       chunk);
}

int64_t BatchedPlan::getWorkElements() const {
  int64_t elements = 0;
  for (const BatchedStep &step : steps)
    elements = std::max(elements, step.destination.getItemPitch());
  return llvm::alignTo((itemsPerTile + slackItems) * elements, chunk);
}

int64_t BatchedPlan::getFactorElements() const {
  int64_t elements = 0;
  for (unsigned index = 0; index < factors.size(); ++index)
    elements += factors[index].sizeK * getFactorPitch(index);
  return elements;
}

int64_t BatchedPlan::getSharedElements() const {
  return stages * getStageElements() + numWorkBuffers * getWorkElements() +
         getFactorElements();
}

int64_t BatchedPlan::getTileUnit() const {
  auto getUnit = [&](const ItemLayout &layout) {
    return chunk / std::gcd(chunk, layout.getElements());
  };
  return std::max(getUnit(getInput()), getUnit(getOutput()));
}

/// Items behind the tile that the last fibres of its threads belong to.
static int64_t getSlackItems(const BatchedPlan &plan) {
  int64_t items = 0;
  for (const BatchedStep &step : plan.steps) {
    int64_t count = plan.getNumUnits(step);
    int64_t excess = llvm::alignTo(count, plan.threads) - count;
    items = std::max<int64_t>(
        items, llvm::divideCeil(excess * plan.itemsPerTile, count));
  }
  return items;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Why the kernel does not take arrays as those of `fused`.
static std::optional<std::string> getReason(FusedOp fused) {
  if (std::optional<std::string> reason = getBareReason(fused))
    return reason;
  Type element = getElementType(fused.getInit());
  if (!element.isF32() && !element.isF64())
    return "the elements are neither f32 nor f64";
  if (!hasOneElementType(fused))
    return "arrays have different element types";
  Problem problem = describeProblem(fused);
  if (problem.getLargestFactorSize() > kLargestFactor)
    return "a factor is larger than 16";
  if (problem.inner < 0)
    return "the innermost axis has a dynamic size";
  if (llvm::any_of(problem.factors, [](const ProblemFactor &factor) {
        return !factor.varyingAxes.empty();
      }))
    return "a factor varies";
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const ProblemFactor &factor : problem.factors)
    first = std::min(first, factor.axis);
  auto shape = cast<ShapedType>(fused.getInit().getType()).getShape();
  if (llvm::any_of(shape.drop_front(first), ShapedType::isDynamic))
    return "an axis inside the contracted ones has a dynamic size";
  for (ModeProductOp product : fused.getModeProducts())
    if (product.getConjInput() || product.getConjFactor())
      return "something is conjugated";
  return std::nullopt;
}

/// Whether items of `sizes`, as large as `factors` make them, have at most
/// kMostElements elements.
static bool fitsAnywhere(const BatchedPlan &plan, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> largest(sizes);
  for (const ProblemFactor &factor : plan.factors) {
    int64_t &size = largest[factor.axis - plan.firstAxis];
    size = std::max({size, factor.sizeK, factor.sizeN});
  }
  double elements = 1;
  for (int64_t size : largest)
    elements *= size;
  return elements <= kMostElements;
}

static std::string getTooLargeReason() {
  return "a tile of more than " + std::to_string(kMostElements) +
         " elements does not fit in shared memory";
}

std::variant<BatchedPlan, std::string> kron::describeBatched(FusedOp fused) {
  if (std::optional<std::string> reason = getReason(fused))
    return *reason;
  BatchedPlan plan;
  plan.chunk = 16 / getElementBytes(getElementType(fused.getInit()));
  for (ModeProductOp product : fused.getModeProducts())
    plan.factors.push_back(describeFactor(product));
  plan.firstAxis = std::numeric_limits<unsigned>::max();
  for (const ProblemFactor &factor : plan.factors)
    plan.firstAxis = std::min<unsigned>(plan.firstAxis, factor.axis);

  ArrayRef<int64_t> shape =
      cast<ShapedType>(fused.getInit().getType()).getShape();
  SmallVector<int64_t> sizes(shape.drop_front(plan.firstAxis));
  for (const ProblemFactor &factor : llvm::reverse(plan.factors))
    sizes[factor.axis - plan.firstAxis] = factor.sizeK;
  if (!fitsAnywhere(plan, sizes))
    return getTooLargeReason();
  addSteps(plan, sizes);
  return plan;
}

/// Why `plan` has numbers of fibres that no step uses, or nothing.
static std::optional<std::string> getFibresReason(const BatchedPlan &plan) {
  constexpr BatchedChoices kDefaults;
  bool hasFibres = false;
  int64_t largest = kDefaults.planeFibres;
  for (const BatchedStep &step : plan.steps) {
    hasFibres |= !step.isPlane();
    if (step.isPlane())
      for (const ItemLayout *layout : {&step.source, &step.destination})
        for (int64_t size : ArrayRef(layout->sizes).take_back(2))
          largest = std::max(largest, size);
  }
  if (!hasFibres && plan.fibres != kDefaults.fibres)
    return expects("fibres",
                   Twine(kDefaults.fibres) +
                       ", the default, as factors are applied to planes",
                   plan.fibres);
  if (!plan.hasPlanes() && plan.planeFibres != kDefaults.planeFibres)
    return expects("plane_fibres",
                   Twine(kDefaults.planeFibres) +
                       ", the default, as no factors are applied to planes",
                   plan.planeFibres);
  if (plan.planeFibres > largest)
    return expects("plane_fibres",
                   "at most " + Twine(largest) +
                       ", the default or a side of planes",
                   plan.planeFibres);
  return std::nullopt;
}

std::optional<std::string> kron::completeBatchedPlan(BatchedPlan &plan) {
  int64_t unit = plan.getTileUnit();
  if (plan.itemsPerTile < 1 || plan.itemsPerTile % unit != 0)
    return expects("tile to be a multiple of " + Twine(unit) +
                       ", as many arrays as end at a multiple of 16 bytes",
                   plan.itemsPerTile);
  if (plan.threads < 32 || plan.threads > 1024 || plan.threads % 32 != 0)
    return expects("threads to be a multiple of 32 up to 1024", plan.threads);
  if (plan.ctasPerSM < 1)
    return expects("ctas_per_sm to be at least 1", plan.ctasPerSM);
  // One is worked on while another one arrives.
  if (plan.stages < 2)
    return expects("stages to be at least 2", plan.stages);
  if (plan.fibres < 1)
    return expects("fibres to be at least 1", plan.fibres);
  if (plan.planeFibres < 1)
    return expects("plane_fibres to be at least 1", plan.planeFibres);
  if (std::optional<std::string> reason = getFibresReason(plan))
    return reason;
  if (plan.storesDirectly && (!plan.isPacked || plan.steps.back().isPlane()))
    return expects("direct_store to be 0 unless arrays are packed and the last "
                   "factor is applied to fibres",
                   1);
  int64_t largest = 0;
  for (const BatchedStep &step : plan.steps)
    largest = std::max(
        {largest, step.source.getItemPitch(), step.destination.getItemPitch()});
  if (plan.itemsPerTile > kMostElements / largest)
    return getTooLargeReason();
  plan.slackItems =
      plan.hasSlack && !plan.hasPlanes() ? getSlackItems(plan) : 0;
  return std::nullopt;
}

std::variant<BatchedPlan, std::string> kron::readBatchedPlan(FusedOp fused,
                                                             GPUPlanAttr plan) {
  std::variant<BatchedPlan, std::string> described = describeBatched(fused);
  if (std::holds_alternative<std::string>(described))
    return described;
  auto &complete = std::get<BatchedPlan>(described);
  PlanReader reader(plan);
  BatchedChoices::visitFields(reader, complete);
  if (std::optional<std::string> reason = completeBatchedPlan(complete))
    return *reason;
  return described;
}
