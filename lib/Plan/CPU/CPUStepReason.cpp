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
  bool mayKeepFibres();

private:
  LayoutArrays &getArrays() override { return arrays; }
  void visitStep(unsigned index, const StepLayout &step,
                 const PlannedStep &planned) override;
  std::string getReason(unsigned index, const StepLayout &step,
                        const PlannedStep &planned) const;
  std::string getMappingReason(const StepLayout &step,
                               const PlannedStep &planned) const;
  std::string getLanesReason(const StepLayout &step) const;
  std::string getBlocksReason(const StepLayout &step,
                              const PlannedStep &planned) const;
  std::string getRemainderReason(const StepLayout &step,
                                 const LoopNest &nest) const;
  std::string getStackReason(const StepLayout &step,
                             const PlannedStep &planned) const;

  LayoutArrays arrays;
  std::string reason;
  /// Whether several fibres of half a register share a vector of some step.
  bool sharesHalves = false;
};

} // namespace

static std::string quote(StringRef field, int64_t value) {
  return "cannot have " + field.str() + " = " + std::to_string(value);
}

std::string StepVerifier::getLanesReason(const StepLayout &step) const {
  StepMapping mapping = getStepMapping(step);
  int64_t lanes = step.choices->lanes;
  if (lanes == kLanesOverK && mapping != StepMapping::K)
    return quote("lanes", lanes) +
           ": input and factor are not contiguous along the contracted axis";
  if (lanes == kLanesOverRows && mapping != StepMapping::Repeat)
    return quote("lanes", lanes) +
           ": no rows lie innermost, inside of an axis that the factor is "
           "contiguous along";
  if (lanes != kLanesInside)
    return "";
  CPUStepChoices fields = *step.choices;
  fields.lanes = 0;
  StepLayout other = step;
  other.choices = &fields;
  return getStepMapping(other) == mapping
             ? quote("lanes", lanes) +
                   ": they run over the innermost axis anyway"
             : "";
}

std::string StepVerifier::getRemainderReason(const StepLayout &step,
                                             const LoopNest &nest) const {
  if (step.choices->remainder.empty())
    return "";
  SmallVector<int64_t> groups;
  for (const RemainderTile &tile : getRemainderTiles(*step.choices))
    groups.push_back(tile.group);
  SmallVector<int64_t> expected = getRemainderGroups(step, nest);
  bool fits = llvm::all_of(
      getRemainderTiles(*step.choices), [](const RemainderTile &tile) {
        return tile.rows <= kMaxTileRows && tile.vectors <= kMaxTileRows;
      });
  if (step.choices->remainder.size() % 3 == 0 && groups == expected && fits)
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
std::string StepVerifier::getBlocksReason(const StepLayout &step,
                                          const PlannedStep &planned) const {
  const CPUStepChoices &fields = *step.choices;
  LoopNest nest = getLoopNest(step);
  StepMapping mapping = getMapping(step, nest);
  bool isFibre = mapping == StepMapping::Fibre;
  bool hasRows = findSharedAxis(nest) >= 0;
  if (fields.chunk && !(planned.usesTiles || (fields.hasPanels && hasRows)))
    return quote("chunk", fields.chunk) +
           ": no panels or matrix tiles are applied to rows";
  if (planned.usesTiles && fields.chunk % kAmxBlockSize)
    return quote("chunk", fields.chunk) + ": blocks of matrix tiles have " +
           std::to_string(kAmxBlockSize) + " rows";
  if (!fields.chunk && isFibre && fields.hasPanels && hasRows)
    return "expects chunk: rows that panels of the factor are applied to";
  bool isSplit = isFibre && takesFibreSegments(step, nest);
  if (isSplit && !fields.segment)
    return "expects segment: registers of the innermost axis that rows are "
           "taken through";
  if (fields.packedK && (isSplit || !fields.segment))
    return quote("packed_k", fields.packedK) +
           ": no rows are taken in segments through factors of their own";
  if (fields.blockK && (isSplit || !fields.segment))
    return quote("block_k", fields.blockK) +
           ": no rows are taken in segments through factors of their own";
  if (fields.blockQ && !fields.blockK)
    return quote("block_q", fields.blockQ) +
           ": results are complete before the next ones begin, without block_k";
  if (!fields.segment || isSplit)
    return "";
  if (planned.usesTiles || mapping != StepMapping::Varying)
    return quote("segment", fields.segment) +
           ": no rows of a long innermost axis have factors of their own";
  std::optional<SegmentShape> shape = getStepSegmentShape(step, nest);
  if (!shape)
    return quote("segment", fields.segment) +
           ": the innermost axis fills a register, or no more than half of one";
  if (fields.packedK && !canPackInSegments(nest, *shape))
    return quote("packed_k", fields.packedK) +
           ": no rows share the factor, or it is read in pairs";
  if (fields.blockK && (fields.packedK || shape->pairs))
    return quote("block_k", fields.blockK) +
           ": blocks of the factor are packed, or it is read in pairs";
  if (fields.blockK && !fields.blockQ)
    return "expects block_q: results whose sums lie in memory between blocks "
           "of the contracted axis";
  return "";
}

/// Why the step cannot have what only some mappings have; empty if it can.
std::string StepVerifier::getMappingReason(const StepLayout &step,
                                           const PlannedStep &planned) const {
  const CPUStepChoices &fields = *step.choices;
  LoopNest nest = getLoopNest(step);
  StepMapping mapping = getMapping(step, nest);
  bool isInner = mapping == StepMapping::Inner && !planned.usesTiles;
  bool isFibre = mapping == StepMapping::Fibre && !planned.usesTiles;
  bool isK = mapping == StepMapping::K && !planned.usesTiles;
  bool hasTiles = isInner || isFibre ||
                  (mapping == StepMapping::Varying && !planned.usesTiles);
  if (hasTiles && !(fields.rows && fields.vectors))
    return "expects rows and vectors of register tiles";
  if (!hasTiles && (fields.rows || fields.vectors))
    return quote("rows", fields.rows) +
           " and vectors = " + std::to_string(fields.vectors) +
           ": it has no register tiles";
  if (fields.packsFactor &&
      !(isInner && getPossiblePacking(step, nest) != BroadcastPacking::None))
    return "cannot have packs_factor = 1: no elements of the factor, which lie "
           "apart, are broadcast";
  if (fields.copiesRows && !isInner)
    return "cannot have input_panels = 1: lanes do not run over rows of the "
           "input";
  if (fields.along && !(isInner && findAlongAxis(step, nest)))
    return quote("along_axis", fields.along) +
           ": no axis that the factor varies on lies "
           "inside of the contracted one and outside of the lanes";
  if (fields.along && fields.copiesRows)
    return quote("along_axis", fields.along) +
           ": rows of the input are copied for one "
           "position of that axis";
  if (fields.isSourceFar && !step.isSourceBuffer &&
      (!isInner || fields.copiesRows))
    return "cannot have far = 1: it does not load rows of the input where they "
           "lie";
  if (fields.hasPanels &&
      !(isFibre && canHavePanels(step, nest, fields.vectors)))
    return "cannot have factor_panels = 1: lanes do not run over results that "
           "fill " +
           std::to_string(fields.vectors) + " vectors";
  if (fields.packsInTiles && !(planned.packs && countPackedInTile(planned)))
    return "cannot have packs_in_tiles = 1: tiles do not have parts of a "
           "packed factor to themselves";
  if (fields.sharingRows > 1 &&
      !(isFibre && fields.sharingRows == getSharingRows(step, nest)))
    return quote("sharing_rows", fields.sharingRows) +
           ": so many rows do not fill a vector with what results leave";
  if (fields.readsPairs && !(isK && canReadPairs(step, nest)))
    return "cannot have reads_pairs = 1: no pairs of bf16 lie along the "
           "contracted axis of the factor, or rows are not known";
  if (fields.factorAhead &&
      (planned.usesTiles ||
       !(fields.along || readsFactorWhereItLies(step, nest))))
    return quote("factor_ahead", fields.factorAhead) +
           ": the factor is not read where it lies, in segments, along an axis "
           "or by lanes over the contracted axis or over rows";
  return getRemainderReason(step, nest);
}

/// Bytes that the copies of a step take of a thread's stack; 0 without any.
static int64_t countStackBytes(const StepLayout &step, bool usesTiles) {
  const CPUStepChoices &fields = *step.choices;
  LoopNest nest = getLoopNest(step);
  if (usesTiles)
    return fields.chunk / kAmxBlockSize *
           getAmxBlockBytes(step, getAmxMapping(step), /*isExact=*/false);
  int64_t elements = 0;
  int64_t rows = getSegmentRows(step, nest);
  int64_t width = fields.vectors * getMaxLanes(step);
  if (fields.copiesRows) {
    Int size = nest.inner.back().size;
    elements = llvm::alignTo(
        size.isConstant() ? size.getConstant() : step.mostInner, width);
  } else if (fields.segment && getMapping(step, nest) == StepMapping::Varying) {
    int64_t size = nest.inner.back().size.getConstant();
    SegmentShape shape = *getStepSegmentShape(step, nest);
    shape.segment = fields.segment;
    SegmentShape end;
    end.unit = getMaxLanes(step);
    end.segment = llvm::divideCeil(shape.getRemainder(size), end.unit);
    elements = rows * (getSegmentRowElements(step, shape) +
                       getSegmentRowElements(step, end));
    if (fields.blockK) {
      shape.blockK = std::min(fields.blockK, step.sizeK);
      int64_t sums = std::min(fields.blockQ, step.sizeN) * fields.segment;
      elements = rows * (getSegmentRowElements(step, shape) +
                         sums * getMaxLanes(step));
      return elements * step.elementBytes;
    }
    int64_t packedK = std::min(fields.packedK, step.sizeK);
    bool hasSums = packedK && packedK < step.sizeK;
    elements += shape.sizeN * end.unit * (packedK + (hasSums ? rows : 0));
    return elements * step.elementBytes;
  } else if (fields.readsPairs) {
    Int inside = nest.inner.empty() ? Int(1) : nest.inner.back().size;
    elements = rows * (inside.isConstant() ? inside.getConstant() : 1);
  }
  return step.sizeK * elements * step.elementBytes;
}

std::string StepVerifier::getStackReason(const StepLayout &step,
                                         const PlannedStep &planned) const {
  // Stacks of threads have 8 MB, unless they are told otherwise.
  constexpr int64_t kMostStackBytes = 1 << 20;
  int64_t bytes = countStackBytes(step, planned.usesTiles);
  if (bytes <= kMostStackBytes)
    return "";
  return "expects copies of rows (input_panels, segment, reads_pairs or chunk) "
         "to take " +
         std::to_string(kMostStackBytes) + " bytes of the stack, but got " +
         std::to_string(bytes);
}

std::string StepVerifier::getReason(unsigned index, const StepLayout &step,
                                    const PlannedStep &planned) const {
  const CPUStepChoices &fields = *step.choices;
  if (fields.usesTiles && !planned.usesTiles)
    return "cannot have matrix_tiles = 1: the plan or the step's arrays have "
           "no matrix tiles of bf16";
  if (fields.transposesFactor &&
      !(planned.usesTiles && getContiguousSize(index)))
    return "cannot have transposes_factor = 1: no factor for matrix tiles is "
           "contiguous along an axis that it varies on";
  if (!planned.usesTiles && getStepMapping(step) == StepMapping::Unsupported)
    return "has nothing contiguous that lanes could run over";
  if (!planned.usesTiles) {
    std::string reason = getLanesReason(step);
    if (!reason.empty())
      return reason;
  } else if (fields.lanes) {
    return quote("lanes", fields.lanes) +
           ": its products are made in matrix tiles";
  }
  std::string reason = getMappingReason(step, planned);
  if (reason.empty())
    reason = getBlocksReason(step, planned);
  return reason.empty() ? getStackReason(step, planned) : reason;
}

void StepVerifier::visitStep(unsigned index, const StepLayout &step,
                             const PlannedStep &planned) {
  LoopNest nest = getLoopNest(step);
  sharesHalves |= !planned.usesTiles && hasHalfFibres(step) &&
                  getMapping(step, nest) == StepMapping::Fibre &&
                  getNumFibres(step, nest) > 1;
  if (!reason.empty())
    return;
  reason = getReason(index, step, planned);
  if (!reason.empty())
    reason = "step " + std::to_string(index + 1) + " " + reason;
}

std::string StepVerifier::verify() {
  const StepGroup &group = plan.groups.front();
  bool isContracted = group.axis + group.products.size() == plan.roles.size();
  bool isFixed = isContracted || plan.rowsInLanes ||
                 (fused.getInputPermutation() && !plan.isTiledInnermost());
  if (choices.movesInnermost && plan.groups.size() != 1)
    return quote("moves_innermost", choices.movesInnermost) +
           ": tiles go through several factors";
  if (choices.movesInnermost == kMovedInSteps && isFixed)
    return quote("moves_innermost", choices.movesInnermost) +
           ": the innermost axis is contracted, or the input is permuted and "
           "tiles run along another axis";
  planSteps(getFirstExtent());
  bool isForTiles =
      choices.movesInnermost && choices.movesInnermost != kMovedInSteps;
  if (isForTiles && !steps.front().usesTiles)
    return quote("moves_innermost", choices.movesInnermost) +
           ": no products are made in matrix tiles";
  if (reason.empty() && choices.keptFibres > 0 && !sharesHalves)
    return quote("kept_fibres", choices.keptFibres) +
           ": no vector of a step has several fibres, each of half a register";
  return reason;
}

bool StepVerifier::mayKeepFibres() {
  planSteps(getFirstExtent());
  return sharesHalves;
}

std::string kron::getCPUStepsReason(FusedOp fused, const CPUChoices &choices) {
  return hasEmptyArray(fused) ? "" : StepVerifier(fused, choices).verify();
}

bool kron::mayKeepFibres(FusedOp fused, const CPUChoices &choices) {
  return !hasEmptyArray(fused) && StepVerifier(fused, choices).mayKeepFibres();
}
