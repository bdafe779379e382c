//===- Segments.cpp - Long axes that a factor varies on ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How much of such an axis, of the contracted one and of results steps with the
// varying mapping take at a time, and how far ahead factors that few rows read
// where they lie are prefetched.
//
//===----------------------------------------------------------------------===//

#include "StepForms.h"
#include "kron/Machine/CPURates.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::paysForSegments(int64_t sizeK, int64_t sizeN, bool converts) {
  int64_t leastK = kCPURates.leastCopiedK;
  int64_t leastN = kCPURates.leastCopiedBlocks * kMostSegmentResults;
  // Copies that convert take half of what they do beside a conversion.
  int64_t share = converts ? 2 : 1;
  return sizeK >= leastK / share && sizeN >= leastN / share;
}

int64_t kron::chooseSegment(const StepLayout &step, const LoopNest &nest,
                            int64_t uses, bool isFactorFar,
                            const StepBudget &budget) {
  // Of X, which is read for all q of a segment, from the first-level cache if
  // that holds it; and of a copy of that, which lies on the stack.
  int64_t nearBytes = budget.l1Bytes / 2, mostBytes = budget.l2Bytes;
  int64_t copied = getMostSegmentBytes(budget.cacheBytes);
  int64_t size = nest.inner.back().size.getConstant();
  int64_t rows = getSegmentRows(step, nest);
  std::optional<SegmentShape> shape = getStepSegmentShape(step, nest);
  if (!shape)
    return 0;
  // Many rows have register tiles without a copy, which has to pay.
  Type stored = step.source.element;
  bool converts = stored && !step.mayPair &&
                  stored.getIntOrFloatBitWidth() < 8 * step.elementBytes;
  // So have few rows of many, whose tiles all read the factor, unless register
  // tiles read them in their order, or what they read stays in the first-level
  // cache.
  int64_t sourceBytes = stored ? getElementBytes(stored) : step.elementBytes;
  int64_t blockBytes =
      (rows + shape->sizeN) * step.sizeK * (step.vectorBits / 8 + kLineBytes);
  bool readsAgain =
      isLongSegment(size, sourceBytes) && blockBytes > budget.l1Bytes;
  bool isFew =
      rows <= kCPURates.skinnyM && (uses <= kCPURates.skinnyM || readsAgain);
  if (!isFew && !paysForSegments(step.sizeK, step.sizeN, converts))
    return 0;
  int64_t units = shape->getUnits(size);
  int64_t bytes = std::max<int64_t>(
      rows * getSegmentK(step, *shape) * shape->unit * step.elementBytes, 1);
  // Beyond that cache several lines of the factor in a row cost nothing. Of one
  // that comes from further away few rows take all of t, so that memory is read
  // in its order, unless each load of X serves one q: then only as long as
  // segments would end in lines that the next ones read again.
  int64_t most = nearBytes / bytes;
  bool sharesLines = size * getFactorElementBytes(step) % kLineBytes != 0;
  bool isLong = isFactorFar && rows <= kCPURates.skinnyM &&
                (shape->sizeN > 1 || sharesLines);
  if (isLong) {
    // What fills no unit is copied, too.
    mostBytes = copied - bytes;
    most = std::max(shape->vectors, mostBytes / bytes);
  } else if (most < shape->vectors) {
    int64_t registers = kCPURates.segmentBytes * 8 / step.vectorBits;
    most = std::max(
        shape->vectors,
        std::min<int64_t>(llvm::divideCeil(registers, shape->getParts()),
                          mostBytes / 2 / bytes));
  }
  int64_t segment = llvm::divideCeil(units, llvm::divideCeil(units, most));
  // A single unit may take as much as the factor's part leaves.
  shape->segment = segment;
  int64_t copyBytes =
      rows * getSegmentRowElements(step, *shape) * step.elementBytes;
  bool isHeld =
      segment > 1 ? segment * bytes <= mostBytes : copyBytes <= copied;
  return isHeld ? segment : 0;
}

bool kron::convertsFactor(const StepLayout &step) {
  return step.factor.element &&
         step.factor.element.getIntOrFloatBitWidth() != 8 * step.elementBytes;
}

namespace {
/// What a segment takes beside multiply-adds, in issue slots.
struct SegmentCosts {
  const StepLayout &step;
  int64_t l1Bytes;
  /// Positions of t, vectors of them, and rows.
  int64_t size, units, rows;
  /// Of a line of what lies beyond the second-level cache.
  double farLineSlots;

  /// Lines that `count` vectors lie in, which start within lines unless all of
  /// t is whole ones; their elements are those of the factor in memory.
  double getLines(int64_t count) const {
    int64_t bytes = getFactorElementBytes(step);
    return double(count * getMaxLanes(step) * bytes) / kLineBytes +
           (size * bytes % kLineBytes != 0);
  }
  double getSlots(const SegmentShape &shape, int64_t blockQ, bool packs) const;
};
} // namespace

/// Of `blockQ` results at a time; `packs`: the factor is packed for all rows.
double SegmentCosts::getSlots(const SegmentShape &shape, int64_t blockQ,
                              bool packs) const {
  // Parts of t come from far away with the lines at their ends.
  int64_t segments = llvm::divideCeil(units, shape.segment);
  double lines = segments > 1
                     ? segments * getLines(shape.segment)
                     : double(size * getFactorElementBytes(step)) / kLineBytes;
  // A factor that few rows or blocks load where it lies is prefetched.
  bool isAhead = shape.blockK || (rows <= kCPURates.skinnyM && !packs);
  double slots =
      (isAhead ? rows : rows + step.sizeN) * step.sizeK * lines * farLineSlots;
  // What a block has of the factor goes by for one vector of t after the other,
  // and what it has for that for one block of rows after the other.
  int64_t sizeK = getSegmentK(step, shape);
  int64_t blocks = llvm::divideCeil(rows, shape.rows);
  auto getGone = [&](double linesOfP) {
    double bytes = shape.sizeN * sizeK * linesOfP * kLineBytes;
    return std::clamp(2 * bytes / l1Bytes - 1, 0.0, 1.0);
  };
  double gone = packs ? 0 : (blocks - 1) * getGone(getLines(1));
  if (!packs && shape.segment > shape.vectors)
    gone += getGone(lines / segments);
  // Loads of the factor cross lines and convert it for each of these blocks, or
  // once and are stored and loaded again.
  double own =
      kCPURates.unalignedSlots * step.vectorBits / 512 + convertsFactor(step);
  double vectors = double(step.sizeK) * units;
  slots += step.sizeN * vectors *
           (getLines(1) * gone * kCPURates.alongLoadSlots +
            (packs ? own + 2 : blocks * own));
  // X is loaded and stored for each block of q.
  slots += llvm::divideCeil(step.sizeN, blockQ) * rows * vectors * 2;
  int64_t turns = llvm::divideCeil(step.sizeK, sizeK);
  if (shape.blockK)
    slots += 2 * kCPURates.secondLevelSlots * rows * step.sizeN * units * turns;
  return slots;
}

void kron::chooseSegmentBlocks(const StepLayout &step, const LoopNest &nest,
                               int64_t factorBytes, const StepBudget &budget,
                               CPUStepChoices &chosen) {
  std::optional<SegmentShape> shape = getStepSegmentShape(step, nest);
  if (!shape || shape->pairs || factorBytes <= budget.cacheBytes)
    return;
  int64_t size = nest.inner.back().size.getConstant();
  int64_t rows = getSegmentRows(step, nest), units = shape->getUnits(size);
  // The more of it there is, the less of it a third-level cache holds.
  double share = std::min(double(factorBytes) / kCPURates.memoryBytes, 1.0);
  double farLineSlots =
      kCPURates.alongLoadSlots +
      share * (kCPURates.farLoadSlots - kCPURates.alongLoadSlots);
  SegmentCosts costs{step, budget.l1Bytes, size, units, rows, farLineSlots};
  shape->segment = chosen.segment;
  double least =
      costs.getSlots(*shape, step.sizeN, choosePackedK(step, nest, budget) > 0);
  shape->segment = units;
  int64_t copied = getMostSegmentBytes(budget.cacheBytes);
  int64_t sumBytes = rows * units * step.vectorBits / 8 * shape->sizeN;
  int64_t blocks = llvm::divideCeil(step.sizeN, shape->sizeN);
  // Of the factor's part of a block the first-level cache holds all, or one
  // unit while all rows go by.
  for (int64_t count : {units, int64_t(1)}) {
    double bytes = shape->sizeN * costs.getLines(count) * kLineBytes;
    int64_t most = std::max<int64_t>(budget.l1Bytes / 2 / bytes, 1);
    if (most >= step.sizeK)
      continue;
    shape->blockK =
        llvm::divideCeil(step.sizeK, llvm::divideCeil(step.sizeK, most));
    int64_t copyBytes =
        rows * getSegmentRowElements(step, *shape) * step.elementBytes;
    int64_t held = (copied - copyBytes) / sumBytes;
    if (held < 1)
      continue;
    int64_t blockQ =
        shape->sizeN * llvm::divideCeil(blocks, llvm::divideCeil(blocks, held));
    double slots = costs.getSlots(*shape, blockQ, /*packs=*/false);
    if (slots >= least)
      continue;
    least = slots;
    chosen.segment = units;
    chosen.blockK = shape->blockK;
    chosen.blockQ = std::min(step.sizeN, blockQ);
  }
}

/// Streams of the factor that a block of results reads side by side, of a step
/// that reads it where it lies; 0: the processor sees it coming, or so many
/// rows share it that multiply-adds hide what it takes.
static int64_t countFactorStreams(const StepLayout &step,
                                  const LoopNest &nest) {
  switch (getMapping(step, nest)) {
  case StepMapping::K:
    if (getSharedSize(nest) != 1)
      return getMaxAccumulators(step.vectorBits) / 2;
    // One q after the other. Words of one row take so few instructions that
    // enough lines are on their way.
    return step.choices->readsPairs && step.mayPair ? 0 : 1;
  case StepMapping::Repeat:
    return getRepeatResults(step, nest.inner.rbegin()[1].size.getConstant(),
                            nest.inner.back().size.getConstant());
  case StepMapping::Varying: {
    int64_t rows = getSegmentRows(step, nest);
    SegmentShape shape = *getStepSegmentShape(step, nest);
    bool isSeen = (rows > kCPURates.skinnyM && !step.choices->blockK) ||
                  (rows == 1 && shape.words);
    return isSeen ? 0 : shape.sizeN;
  }
  case StepMapping::Inner:
  case StepMapping::Fibre:
  case StepMapping::Unsupported:
    return 0;
  }
  llvm_unreachable("covered switch");
}

int64_t kron::chooseFactorAhead(const StepLayout &step, const LoopNest &nest,
                                int64_t factorBytes, const StepBudget &budget) {
  const StepFactor &factor = step.factor;
  if (factorBytes <= budget.cacheBytes || !readsFactorWhereItLies(step, nest) ||
      !factor.strideK.isConstant() || !factor.resultStride.isConstant() ||
      factor.strideK.getConstant() < 1 ||
      factor.resultStride.getConstant() < factor.strideK.getConstant())
    return 0;
  // A single stream, or several within a page, the processor sees coming, as
  // fast as the third-level cache has it.
  int64_t streams = countFactorStreams(step, nest);
  int64_t stride = factor.resultStride.getConstant();
  int64_t strideBytes = stride * getFactorElementBytes(step);
  bool isSeen = (streams == 1 && !step.choices->blockK) ||
                streams * strideBytes <= kCPURates.aliasBytes;
  if (!streams || (isSeen && factorBytes < kCPURates.memoryBytes))
    return 0;
  // The next blocks of q are prefetched, unless one takes too much of the cache
  // that holds what is prefetched; then what of the same q comes later.
  if (!step.choices->blockK && streams * strideBytes > budget.cacheBytes / 4 &&
      strideBytes > kCPURates.factorAheadBytes) {
    stride = factor.strideK.getConstant();
    strideBytes = stride * getFactorElementBytes(step);
    streams = 1;
  }
  int64_t count = llvm::divideCeil(kCPURates.factorAheadBytes, strideBytes);
  return std::max(count, streams) * stride;
}

int64_t kron::choosePackedK(const StepLayout &step, const LoopNest &nest,
                            const StepBudget &budget) {
  std::optional<SegmentShape> shape = getStepSegmentShape(step, nest);
  if (!shape || !canPackInSegments(nest, *shape))
    return 0;
  // Issue slots of a vector of the factor: each block of rows loads it where it
  // lies, across lines, and converts it, from the second-level cache if parts
  // of lines leave no room for it, or all of that is done once.
  double blocks = llvm::divideCeil(getSegmentRows(step, nest), shape->rows);
  int64_t lineBytes = 2 * kLineBytes * shape->sizeN * step.sizeK;
  double own = 1 + kCPURates.unalignedSlots * step.vectorBits / 512 +
               convertsFactor(step) + budget.getLoadSlots(lineBytes);
  if (blocks * own <= own + 1 + blocks)
    return 0;
  int64_t most = std::max<int64_t>(
      budget.l1Bytes / 2 / (shape->sizeN * step.vectorBits / 8), 1);
  return llvm::divideCeil(step.sizeK, llvm::divideCeil(step.sizeK, most));
}
