//===- Steps.cpp - The form of each step ------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "Axes.h"
#include "StepForms.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/CPU/FusedLayout.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Follows a fused region through its steps and chooses what each leaves open,
/// as often as something that is decided before changes what it sees.
class StepPlanner : private FusedLayout {
public:
  StepPlanner(FusedOp fused, CPUPlanAttr given,
              const CPUPlannerOptions &options, const CPUChoices &choices)
      : FusedLayout(fused, choices), given(given), caches(options.caches),
        wholeBits(options.wholeBits), arrays(describeArrays(fused, plan)),
        fixed(choices.steps) {}

  CPUChoices choose();

private:
  LayoutArrays &getArrays() override { return arrays; }
  void chooseStep(unsigned index, const StepLayout &step) override;
  void chooseMoveForTiles() override;
  void chooseMove() override;
  void choosePackingInTiles(unsigned index,
                            const PlannedStep &planned) override;

  /// Whether the plan by hand has the field `name`, of step `index`.
  bool isGiven(StringRef name) const { return given && given.has(name); }
  bool isGiven(unsigned index, StringRef name) const;
  TileChoice getTileChoice(unsigned index, const StepBudget &budget) const;
  void chooseLanes(unsigned index, const StepLayout &step);
  void chooseInner(unsigned index, const StepLayout &step,
                   const StepBudget &budget);
  void chooseFibre(unsigned index, const StepLayout &step,
                   const StepBudget &budget);
  int64_t countFactorElements(unsigned index);
  void setShape(unsigned index, TileShape shape);
  void goAlong(unsigned index, const StepLayout &step,
               const StepBudget &budget);
  bool isWorthMovingRows();
  bool isWorthMovingGroups();
  bool canMove(StepMapping mapping);

  CPUPlanAttr given;
  CacheBudget caches;
  /// Width of the widest vectors that the processor executes as a whole.
  int64_t wholeBits;
  LayoutArrays arrays;
  /// What plans by hand say of steps.
  SmallVector<CPUStepChoices> fixed;
};

} // namespace

bool StepPlanner::isGiven(unsigned index, StringRef name) const {
  if (!given)
    return false;
  auto steps = given.getFields().getAs<ArrayAttr>("steps");
  return steps && index < steps.size() &&
         cast<DictionaryAttr>(steps[index]).contains(name);
}

TileChoice StepPlanner::getTileChoice(unsigned index,
                                      const StepBudget &budget) const {
  TileShape shape{fixed[index].rows, fixed[index].vectors};
  if (given && !shape.rows)
    shape.rows = given.get("register_rows");
  if (given && !shape.vectors)
    shape.vectors = given.get("register_vectors");
  double farLoadSlots = 1 + kCPURates.farVectorSlots * vectorBits / 512;
  return {vectorBits, budget.fmasInFlight, budget.l1Bytes, shape, farLoadSlots};
}

void StepPlanner::setShape(unsigned index, TileShape shape) {
  CPUStepChoices &chosen = choices.steps[index];
  chosen.rows = shape.rows;
  chosen.vectors = shape.vectors;
  if (fixed[index].rows)
    chosen.rows = fixed[index].rows;
  if (fixed[index].vectors)
    chosen.vectors = fixed[index].vectors;
}

/// Lets blocks of q go along an axis if that is better than what is chosen.
void StepPlanner::goAlong(unsigned index, const StepLayout &step,
                          const StepBudget &budget) {
  CPUStepChoices &chosen = choices.steps[index];
  LoopNest nest = getLoopNest(step);
  // They load the input from the second-level cache, and the factor's part of a
  // block from the first-level one.
  TileChoice choice = getTileChoice(index, budget);
  choice.l1Bytes = 0;
  choice.farLoadSlots = 1 + kCPURates.alongLoadSlots;
  TileShape shape =
      chooseInnerShape(step, nest, nest.inner.back().size, choice, budget);
  ShapedType init = getArrayType(fused.getInit());
  bool isLarge =
      !init.hasStaticShape() ||
      init.getNumElements() * getComputedBytes(fused) > caches.l2Bytes;
  int64_t positions = chooseAlong(step, nest, isLarge, budget, shape);
  if (!positions || (chosen.copiesRows && isGiven(index, "input_panels")))
    return;
  chosen.along = positions;
  chosen.copiesRows = false;
  if (!isGiven(index, "packs_factor"))
    chosen.packsFactor = false;
  setShape(index, shape);
  // Lines of the next block, which lie too far apart for a processor to see
  // them coming, if they come from memory.
  const StepFactor &factor = step.factor;
  int64_t bytes = countFactorElements(index) * getFactorElementBytes(step);
  if (!isGiven(index, "factor_ahead") && bytes >= kCPURates.memoryBytes &&
      factor.resultStride.isConstant())
    chosen.factorAhead = chosen.rows * factor.resultStride.getConstant();
}

void StepPlanner::chooseInner(unsigned index, const StepLayout &step,
                              const StepBudget &budget) {
  CPUStepChoices &chosen = choices.steps[index];
  TileChoice choice = getTileChoice(index, budget);
  LoopNest nest = getLoopNest(step);
  if (!isGiven(index, "packs_factor"))
    chosen.packsFactor = isWorthPacking(step, nest, budget);
  if (!isGiven(index, "remainder"))
    chosen.remainder = chooseRemainder(step, nest, choice, budget);
  // What is left to whole vectors.
  Int size = nest.inner.back().size;
  int64_t full = size.isConstant()
                     ? llvm::alignDown(size.getConstant(), getMaxLanes(step))
                     : 0;
  if (!chosen.remainder.empty() && full)
    size = full;
  choice.rowLoadSlots = getBroadcastSlots(step, choice);
  setShape(index, chooseInnerShape(step, nest, size, choice, budget));
  bool mayPrefetch = canPrefetchRows(fused, plan, choices);
  if (!isGiven(index, "input_panels"))
    chosen.copiesRows =
        !chosen.along && !chosen.isSourceFar &&
        isWorthCopyingRows(step, nest, size, mayPrefetch, budget);
  if (!isGiven(index, "along_axis"))
    goAlong(index, step, budget);
  // These fields say how windows are prefetched.
  bool hasWindows = isGiven("windows_ahead") || isGiven("prefetch_lines");
  if (!isGiven(index, "far") && mayPrefetch && !hasWindows &&
      isWorthPrefetchingRows(step, choices.prefetchLines)) {
    chosen.isSourceFar = true;
    choices.windowsAhead = 1;
  }
}

void StepPlanner::chooseFibre(unsigned index, const StepLayout &step,
                              const StepBudget &budget) {
  CPUStepChoices &chosen = choices.steps[index];
  TileChoice choice = getTileChoice(index, budget);
  LoopNest nest = getLoopNest(step);
  if (getNumFibres(step, nest) > 1)
    return setShape(index, chooseFibresShape(step, nest, choice));
  if (!isGiven(index, "factor_panels"))
    chosen.hasPanels = !choice.isFixed() && isWorthPanels(step, nest, budget);
  bool hasRows = findSharedAxis(nest) >= 0;
  bool isSegmented = takesFibreSegments(step, nest);
  setShape(index, chooseFibreShape(step, nest, isSegmented, choice, budget));
  if (isSegmented && !isGiven(index, "segment"))
    chosen.segment = chooseFibreSegment(step, nest);
  if (chosen.hasPanels && hasRows && !isGiven(index, "chunk"))
    chosen.chunk = choosePanelChunk(step, nest, budget);
  if (!choice.isFixed() && !isGiven(index, "sharing_rows"))
    chosen.sharingRows = chooseSharingRows(step, nest);
}

int64_t StepPlanner::countFactorElements(unsigned index) {
  ModeProductOp product = plan.groups[index].products.front();
  return getArrayType(product.getFactor()).getNumElements();
}

void StepPlanner::chooseLanes(unsigned index, const StepLayout &step) {
  CPUStepChoices &chosen = choices.steps[index];
  const StepGroup &group = plan.groups[index];
  int64_t factorBytes = countFactorElements(index) * getComputedBytes(fused);
  bool isCopyLarge = chosen.convertsFactor && factorBytes > caches.l2Bytes;
  // Where lanes are added up no tile repeats positions: then tiles are of an
  // unknown size, which other steps, and pairs of bf16, may have been planned
  // without.
  Type stored = step.factor.element;
  bool isAlone = plan.groups.size() == 1 && !(stored && stored.isBF16());
  bool mayAddUp = isAlone || !repeatsPositions();
  chosen.lanes =
      chooseStepLanes(step, countFactorUses(plan, fused, group), isCopyLarge,
                      vectorBits > wholeBits, mayAddUp, chosen);
  // Its elements are converted where they are loaded.
  if (chosen.lanes == kLanesOverRows && isCopyLarge &&
      !isGiven(index, "converts_factor"))
    chosen.convertsFactor = false;
}

void StepPlanner::chooseStep(unsigned index, const StepLayout &step) {
  CPUStepChoices &chosen = choices.steps[index];
  chosen = fixed[index];
  StepBudget budget = chooseBudget(given, index, caches);
  if (!isGiven(index, "matrix_tiles"))
    chosen.usesTiles = mayMultiplyBy(kMatrixTiles) && isWorthMatrixTiles(step);
  if (!isGiven(index, "lanes") && !usesTiles(step))
    chooseLanes(index, step);
  if (usesTiles(step)) {
    if (!isGiven(index, "chunk"))
      chosen.chunk = chooseAmxChunk(step, /*isExact=*/index == 0, budget);
    if (!isGiven(index, "transposes_factor"))
      chosen.transposesFactor =
          getContiguousSize(index) >= kCPURates.leastTransposed;
    return;
  }
  LoopNest nest = getLoopNest(step);
  TileChoice choice = getTileChoice(index, budget);
  // As it is loaded, of all positions of the axes that it varies on.
  int64_t factorBytes =
      countFactorElements(index) * getFactorElementBytes(step);
  switch (getMapping(step, nest)) {
  case StepMapping::Inner:
    return chooseInner(index, step, budget);
  case StepMapping::Varying:
    if (!isGiven(index, "segment"))
      chosen.segment = chooseSegment(
          step, nest, countFactorUses(plan, fused, plan.groups[index]),
          factorBytes > caches.l2Bytes, budget);
    if (chosen.segment && !isGiven(index, "segment") &&
        !isGiven(index, "packed_k") && !isGiven(index, "block_k"))
      chooseSegmentBlocks(step, nest, factorBytes, budget, chosen);
    // What is prefetched is read where it lies.
    if (chosen.segment && !chosen.factorAhead && !chosen.blockK &&
        !isGiven(index, "packed_k"))
      chosen.packedK = choosePackedK(step, nest, budget);
    setShape(index, chooseVaryingShape(step, nest, choice));
    break;
  case StepMapping::Fibre:
    return chooseFibre(index, step, budget);
  case StepMapping::K:
    if (!isGiven(index, "reads_pairs"))
      chosen.readsPairs = isWorthPairs(step, nest, budget);
    break;
  case StepMapping::Repeat:
  case StepMapping::Unsupported:
    break;
  }
  if (!isGiven(index, "factor_ahead"))
    chosen.factorAhead = chooseFactorAhead(step, nest, factorBytes, budget);
}

/// Where the factor of the only group depends on the innermost axis, tiles take
/// one position of that axis after the other, once it lies outside of the
/// others.
void StepPlanner::chooseMoveForTiles() {
  if (isGiven("moves_innermost") || plan.groups.size() != 1 ||
      !mayMultiplyBy(kMatrixTiles) || usesTiles(getPlanned(0)))
    return;
  // Elements of a short axis are picked from the input as it lies.
  for (int64_t move : {kMovedInBuffers, kMovedInResults}) {
    moveInnermost(move);
    if (usesTiles(getPlanned(0)))
      choices.movesInnermost = move;
  }
  moveInnermost(0);
}

/// Whether the only step has `mapping` once its innermost axis lies outside.
bool StepPlanner::canMove(StepMapping mapping) {
  bool copiedIn = copiesIn, copiedOut = copiesOut;
  moveInnermost(kMovedInSteps);
  bool isPossible = getStepMapping(getPlanned(0)) == mapping;
  moveInnermost(0);
  copiesIn = copiedIn;
  copiesOut = copiedOut;
  return isPossible;
}

/// Few rows at the inner end leave lanes empty, or make them wait for shuffles:
/// where a factor is contiguous along p, tiles are transposed on the way in and
/// out, and lanes run over p; where it is along q, over q alone if rows would
/// be lanes with it.
bool StepPlanner::isWorthMovingRows() {
  const StepGroup &group = plan.groups.front();
  if (!plan.isTiledInnermost() ||
      group.sizeK * group.sizeN <
          kCPURates.weightsOfMovedRows * (group.sizeK + group.sizeN))
    return false;
  // A transposed input is copied either way.
  bool copied = std::exchange(copiesIn, true);
  StepLayout step = getPlanned(0);
  copiesIn = copied;
  if (usesTiles(step))
    return false;
  bool isRepeated = getStepMapping(step) == StepMapping::Fibre;
  return canMove(StepMapping::K) ||
         (isRepeated && step.factor.resultStride.is(1) &&
          canMove(StepMapping::Fibre));
}

/// Where lanes run over q together with a short innermost axis that the factor
/// depends on, single elements of the input are repeated by shuffles, and lanes
/// stay empty unless that axis divides a register. If a large factor is used
/// for many rows, it is worth to put that axis outside of the others, on the
/// way in and out.
bool StepPlanner::isWorthMovingGroups() {
  const StepGroup &group = plan.groups.front();
  int innermost = plan.roles.size() - 1;
  int64_t sizeK = group.sizeK, sizeN = group.sizeN;
  int64_t inside = arrays.factors.front().sizes[innermost];
  if (plan.tiledAxis < 0 || plan.isTiledInnermost() ||
      plan.roles[innermost] != AxisRole::Whole || llvm::isPowerOf2_64(inside))
    return false;
  Int rows = arrays.sizes[plan.tiledAxis];
  bool isMany =
      !rows.isConstant() || rows.getConstant() >= kCPURates.movedGroupsRows;
  // Of narrow vectors groups leave more empty, and multiply-adds take longer
  // beside what an element takes on the way.
  bool isWorthIt =
      vectorBits < 512
          ? sizeK * sizeN >= kCPURates.weightsOfMovedRows * (sizeK + sizeN)
          : isMany && std::min(sizeK, sizeN) >= kCPURates.movedGroupsSize;
  return isWorthIt && getStepMapping(getPlanned(0)) == StepMapping::Fibre &&
         canMove(StepMapping::Fibre);
}

void StepPlanner::chooseMove() {
  if (isGiven("moves_innermost") || plan.groups.size() != 1)
    return;
  if (isWorthMovingRows() ||
      (!fused.getInputPermutation() && isWorthMovingGroups()))
    choices.movesInnermost = kMovedInSteps;
}

/// Tiles pack the part of a factor that they use if all of their rows, or
/// enough of them to pay for it, go through it at once. So threads share that
/// work, and what is packed stays in the cache of the one that uses it.
void StepPlanner::choosePackingInTiles(unsigned index,
                                       const PlannedStep &planned) {
  int64_t elements = countPackedInTile(planned);
  if (isGiven(index, "packs_in_tiles") || !elements)
    return;
  bool isOnce = true;
  for (auto [axis, role] : llvm::enumerate(plan.roles)) {
    Int size = arrays.sizes[axis];
    if (role == AxisRole::Grid && planned.factorSizes[axis] <= 1)
      isOnce &= size.is(1);
    else if (role == AxisRole::Tiled)
      isOnce &= size.isConstant() && size.getConstant() <= tileSize;
  }
  bool hasManyRows =
      plan.tiledAxis >= 0 && tileSize >= kCPURates.rowsOfPackedTiles;
  // What is packed once in any case is better taken from a cache.
  StepBudget budget = chooseBudget(given, index, caches);
  bool isOpen = !isGiven("l2_bytes") && !isGiven(index, "l2_bytes");
  int64_t most = isOnce && isOpen ? budget.cacheBytes : budget.l2Bytes;
  choices.steps[index].packsInTiles =
      (isOnce || hasManyRows) && elements * getComputedBytes(fused) <= most;
}

CPUChoices StepPlanner::choose() {
  planSteps(getFirstExtent());
  return choices;
}

void kron::chooseSteps(FusedOp fused, CPUPlanAttr given,
                       const CPUPlannerOptions &options, CPUChoices &choices) {
  // Without elements there is nothing to choose.
  if (hasEmptyArray(fused)) {
    for (CPUStepChoices &step : choices.steps)
      step.rows = step.vectors = 1;
    return;
  }
  choices = StepPlanner(fused, given, options, choices).choose();
}
