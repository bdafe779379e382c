//===- CPUStepReason.cpp - Fields that a step would not honour --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/AmxMapping.h"
#include "kron/Plan/CPU/FusedLayout.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Follows a fused region through its steps and finds the first field that one
/// of them would not honour.
class StepVerifier : private FusedLayout {
public:
  StepVerifier(FusedOp fused, const CPUChoices &choices)
      : FusedLayout(fused, choices), arrays(describeArrays(fused, plan)) {}

  std::string verify();

private:
  LayoutArrays &getArrays() override { return arrays; }
  void visitStage(unsigned index, const StageLayout &stage,
                  const PlannedStage &planned) override;
  std::string getReason(unsigned index, const StageLayout &stage,
                        const PlannedStage &planned) const;
  std::string getMappingReason(const StageLayout &stage,
                               const PlannedStage &planned) const;
  std::string getLanesReason(const StageLayout &stage) const;
  std::string getBlocksReason(const StageLayout &stage,
                              const PlannedStage &planned) const;
  std::string getRemainderReason(const StageLayout &stage,
                                 const LoopNest &nest) const;
  std::string getStackReason(const StageLayout &stage,
                             const PlannedStage &planned) const;

  LayoutArrays arrays;
  std::string reason;
};

} // namespace

static std::string quote(StringRef field, int64_t value) {
  return "cannot have " + field.str() + " = " + std::to_string(value);
}

std::string StepVerifier::getLanesReason(const StageLayout &stage) const {
  StageMapping mapping = getStageMapping(stage);
  int64_t lanes = stage.step->lanes;
  if (lanes == kLanesOverK && mapping != StageMapping::K)
    return quote("lanes", lanes) +
           ": input and factor are not contiguous along the contracted axis, "
           "or rows are not known";
  if (lanes == kLanesOverRows && mapping != StageMapping::Repeat)
    return quote("lanes", lanes) +
           ": no rows lie innermost, inside of an axis that the factor is "
           "contiguous along";
  if (lanes != kLanesInside)
    return "";
  CPUStepChoices step = *stage.step;
  step.lanes = 0;
  StageLayout other = stage;
  other.step = &step;
  return getStageMapping(other) == mapping
             ? quote("lanes", lanes) +
                   ": they run over the innermost axis anyway"
             : "";
}

std::string StepVerifier::getRemainderReason(const StageLayout &stage,
                                             const LoopNest &nest) const {
  if (stage.step->remainder.empty())
    return "";
  SmallVector<int64_t> groups;
  for (const RemainderTile &tile : getRemainderTiles(*stage.step))
    groups.push_back(tile.group);
  SmallVector<int64_t> expected = getRemainderGroups(stage, nest);
  bool fits = llvm::all_of(
      getRemainderTiles(*stage.step), [](const RemainderTile &tile) {
        return tile.rows <= kMaxTileRows && tile.vectors <= kMaxTileRows;
      });
  if (stage.step->remainder.size() % 3 == 0 && groups == expected && fits)
    return "";
  if (expected.empty())
    return "cannot have remainder: no lanes at the end of the innermost axis "
           "can be taken in groups";
  return "expects remainder to be groups of " +
         llvm::join(
             llvm::map_range(
                 expected, [](int64_t group) { return std::to_string(group); }),
             ", ") +
         " elements, each with up to " + std::to_string(kMaxTileRows) +
         " rows and vectors";
}

/// Why the step cannot have its blocks; empty if it can.
std::string StepVerifier::getBlocksReason(const StageLayout &stage,
                                          const PlannedStage &planned) const {
  const CPUStepChoices &step = *stage.step;
  LoopNest nest = getLoopNest(stage);
  StageMapping mapping = getMapping(stage, nest);
  bool isFibre = mapping == StageMapping::Fibre;
  bool hasRows = findSharedAxis(nest) >= 0;
  if (step.chunk && !(planned.usesTiles || (step.hasPanels && hasRows)))
    return quote("chunk", step.chunk) +
           ": no panels or matrix tiles are applied to rows";
  if (planned.usesTiles && step.chunk % kAmxBlockSize)
    return quote("chunk", step.chunk) + ": blocks of matrix tiles have " +
           std::to_string(kAmxBlockSize) + " rows";
  if (!step.chunk && isFibre && step.hasPanels && hasRows)
    return "expects chunk: rows that panels of the factor are applied to";
  bool isSplit = isFibre && takesFibreSegments(stage, nest);
  if (isSplit && !step.segment)
    return "expects segment: registers of the innermost axis that rows are "
           "taken through";
  if (!step.segment || isSplit)
    return "";
  if (planned.usesTiles || mapping != StageMapping::Varying)
    return quote("segment", step.segment) +
           ": no rows of a long innermost axis have factors of their own";
  Type stored = needsPacking(stage) ? Type() : stage.factor.element;
  return getSegmentShape(stage, stored, nest.inner.back().size.getConstant(),
                         getSegmentRows(stage, nest))
             ? ""
             : quote("segment", step.segment) +
                   ": the innermost axis does not fill two registers";
}

/// Why the step cannot have what only some mappings have; empty if it can.
std::string StepVerifier::getMappingReason(const StageLayout &stage,
                                           const PlannedStage &planned) const {
  const CPUStepChoices &step = *stage.step;
  LoopNest nest = getLoopNest(stage);
  StageMapping mapping = getMapping(stage, nest);
  bool isInner = mapping == StageMapping::Inner && !planned.usesTiles;
  bool isFibre = mapping == StageMapping::Fibre && !planned.usesTiles;
  bool isK = mapping == StageMapping::K && !planned.usesTiles;
  bool hasTiles = isInner || isFibre ||
                  (mapping == StageMapping::Varying && !planned.usesTiles);
  if (hasTiles && !(step.rows && step.vectors))
    return "expects rows and vectors of register tiles";
  if (!hasTiles && (step.rows || step.vectors))
    return quote("rows", step.rows) +
           " and vectors = " + std::to_string(step.vectors) +
           ": it has no register tiles";
  if (step.packsFactor &&
      !(isInner && getPossiblePacking(stage, nest) != BroadcastPacking::None))
    return "cannot have packs_factor = 1: no elements of the factor, which lie "
           "apart, are broadcast";
  if (step.copiesRows && !isInner)
    return "cannot have input_panels = 1: lanes do not run over rows of the "
           "input";
  if (step.hasPanels && !(isFibre && canHavePanels(stage, nest, step.vectors)))
    return "cannot have factor_panels = 1: lanes do not run over results that "
           "fill " +
           std::to_string(step.vectors) + " vectors";
  if (step.packsInTiles && !(planned.packs && countPackedInTile(planned)))
    return "cannot have packs_in_tiles = 1: tiles do not have parts of a "
           "packed factor to themselves";
  if (step.sharingRows > 1 &&
      !(isFibre && step.sharingRows == getSharingRows(stage, nest)))
    return quote("sharing_rows", step.sharingRows) +
           ": so many rows do not fill a vector with what results leave";
  if (step.readsPairs && !(isK && canReadPairs(stage, getGroupSize(nest))))
    return "cannot have reads_pairs = 1: no pairs of bf16 lie along the "
           "contracted axis of the factor";
  return getRemainderReason(stage, nest);
}

/// Bytes that the copies of a step take of a thread's stack; 0 without any.
static int64_t countStackBytes(const StageLayout &stage, bool usesTiles) {
  const CPUStepChoices &step = *stage.step;
  LoopNest nest = getLoopNest(stage);
  if (usesTiles)
    return step.chunk / kAmxBlockSize *
           getAmxBlockBytes(stage, getAmxMapping(stage), /*isExact=*/false);
  int64_t elements = 0;
  int64_t rows = getSegmentRows(stage, nest);
  int64_t width = step.vectors * getMaxLanes(stage);
  if (step.copiesRows) {
    Int size = nest.inner.back().size;
    elements = llvm::alignTo(
        size.isConstant() ? size.getConstant() : stage.mostInner, width);
  } else if (step.segment && getMapping(stage, nest) == StageMapping::Varying) {
    // Pairs take two vectors, and so does what fills none of them.
    elements = 2 * rows * (step.segment + 1) * getMaxLanes(stage);
  } else if (step.readsPairs) {
    Int inside = nest.inner.empty() ? Int(1) : nest.inner.back().size;
    elements = rows * (inside.isConstant() ? inside.getConstant() : 1);
  }
  return stage.sizeK * elements * stage.elementBytes;
}

std::string StepVerifier::getStackReason(const StageLayout &stage,
                                         const PlannedStage &planned) const {
  // Stacks of threads have 8 MB, unless they are told otherwise.
  constexpr int64_t kMostStackBytes = 1 << 20;
  int64_t bytes = countStackBytes(stage, planned.usesTiles);
  if (bytes <= kMostStackBytes)
    return "";
  return "expects copies of rows (input_panels, segment, reads_pairs or chunk) "
         "to take " +
         std::to_string(kMostStackBytes) + " bytes of the stack, but got " +
         std::to_string(bytes);
}

std::string StepVerifier::getReason(unsigned index, const StageLayout &stage,
                                    const PlannedStage &planned) const {
  const CPUStepChoices &step = *stage.step;
  if (step.usesTiles && !planned.usesTiles)
    return "cannot have matrix_tiles = 1: the plan or the step's arrays have "
           "no matrix tiles of bf16";
  if (step.transposesFactor && !(planned.usesTiles && getContiguousSize(index)))
    return "cannot have transposes_factor = 1: no factor for matrix tiles is "
           "contiguous along an axis that it varies on";
  if (!planned.usesTiles && getStageMapping(stage) == StageMapping::Unsupported)
    return "has nothing contiguous that lanes could run over";
  if (!planned.usesTiles) {
    std::string reason = getLanesReason(stage);
    if (!reason.empty())
      return reason;
  } else if (step.lanes) {
    return quote("lanes", step.lanes) +
           ": its products are made in matrix tiles";
  }
  std::string reason = getMappingReason(stage, planned);
  if (reason.empty())
    reason = getBlocksReason(stage, planned);
  return reason.empty() ? getStackReason(stage, planned) : reason;
}

void StepVerifier::visitStage(unsigned index, const StageLayout &stage,
                              const PlannedStage &planned) {
  if (!reason.empty())
    return;
  reason = getReason(index, stage, planned);
  if (!reason.empty())
    reason = "step " + std::to_string(index + 1) + " " + reason;
}

std::string StepVerifier::verify() {
  const StageGroup &group = plan.groups.front();
  bool isContracted = group.axis + group.products.size() == plan.roles.size();
  bool isFixed = isContracted || plan.rowsInLanes ||
                 fused.getInputPermutation().has_value();
  if (choices.movesInnermost && plan.groups.size() != 1)
    return quote("moves_innermost", choices.movesInnermost) +
           ": tiles go through several factors";
  if (choices.movesInnermost == kMovedInSteps && isFixed)
    return quote("moves_innermost", choices.movesInnermost) +
           ": the innermost axis is contracted, or the input is permuted";
  planStages(getFirstExtent());
  bool isForTiles =
      choices.movesInnermost && choices.movesInnermost != kMovedInSteps;
  if (isForTiles && !stages.front().usesTiles)
    return quote("moves_innermost", choices.movesInnermost) +
           ": no products are made in matrix tiles";
  return reason;
}

std::string kron::getCPUStepsReason(FusedOp fused, const CPUChoices &choices) {
  return hasEmptyArray(fused) ? "" : StepVerifier(fused, choices).verify();
}
