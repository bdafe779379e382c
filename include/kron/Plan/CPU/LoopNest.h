//===- LoopNest.h - Axes of a step and its mapping --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The axes around the contracted one of a step as loops, and what follows from
// their strides: which forms the code of the step can have. Which of them it
// has, the plan says.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_LOOPNEST_H
#define KRON_PLAN_CPU_LOOPNEST_H

#include "kron/Plan/CPU/StepLayout.h"

namespace mlir::kron {

/// One axis of the loop nest, with its stride in every array.
struct LoopAxis {
  /// The axes of the step that were merged into this one.
  unsigned first, last;
  Int size;
  Int source, destination, addend, factor;

  bool contains(unsigned axis) const { return axis >= first && axis <= last; }
};

/// The axes around the contracted one, without those of size 1 and with
/// neighbours merged where all arrays allow it.
struct LoopNest {
  SmallVector<LoopAxis> outer;
  SmallVector<LoopAxis> inner;
  /// For the grouped mapping, the size of the innermost axis, which has been
  /// merged into the one before it; else 1.
  int64_t group = 1;
  /// Whether the last one of `outer` and the innermost axis are two parts of
  /// one axis.
  bool isSplit = false;
};

/// The stride of `axis`; 0 if there is no such array.
Int getStride(const SmallVector<Int> &strides, unsigned axis);

/// Whether walking `outer` is walking on in `inner` for a stride of both.
bool isContinued(Int outerStride, Int innerStride, Int innerSize);

/// Elements that a vector register holds.
int64_t getMaxLanes(const StepLayout &step);

/// Whether lanes can run over an axis in groups of `group` positions.
bool isGroup(const StepLayout &step, int64_t group);

/// The outer axis on which the factor does not vary that is blocked in
/// registers, or -1. The innermost such axis has the best locality, but a tiny
/// one would leave the tile small.
int findSharedAxis(const LoopNest &nest);

/// The size of the axis that register tiles have rows along: 1 without one, -1
/// if it is not known.
int64_t getSharedSize(const LoopNest &nest);

/// Positions of the innermost axis, inside of the contracted one; 1 without
/// one. Of mappings that take it into the lanes, which know its size.
int64_t getGroupSize(const LoopNest &nest);

/// Whether rows that use the same factor are known to be at most `most`.
bool hasSkinnyM(const LoopNest &nest, int64_t most);

LoopNest getLoopNest(const StepLayout &step);

StepMapping getMapping(const StepLayout &step, const LoopNest &nest);

/// Lanes of the vectors of a step with the fibre mapping, and how many q each
/// of them holds; lanes beyond whole groups are not used.
std::pair<int64_t, int64_t> getFibreLanes(const StepLayout &step,
                                          int64_t group);

/// How many fibres share a vector of a step with the fibre mapping: those that
/// follow each other in memory, if there are at most half as many q as lanes.
/// Their elements are taken in turn, see `RegisterTile::fibres`.
int64_t getNumFibres(const StepLayout &step, const LoopNest &nest);

/// Whether several of them stay as they lie, and shuffles repeat an element of
/// each.
bool keepsFibres(const StepLayout &step);

/// Whether fibres of a step fill half a vector of 512 bits, so that the plan
/// says whether they stay in it.
bool hasHalfFibres(const StepLayout &step);

/// Whether a step with the fibre mapping takes rows through segments of the
/// innermost axis, each register of which has a factor of its own.
bool takesFibreSegments(const StepLayout &step, const LoopNest &nest);

/// Columns of a panel of the factor of a step with the fibre mapping, a
/// register tile's; 0 if it has none.
int64_t getPanelLanes(const StepLayout &step, const LoopNest &nest);

/// Whether the fibre mapping can have panels of `vectors` vectors.
bool canHavePanels(const StepLayout &step, const LoopNest &nest,
                   int64_t vectors);

/// How many rows of a step with the fibre mapping can share a vector, a power
/// of two: those of their q that fill none. 1: none can.
int64_t getSharingRows(const StepLayout &step, const LoopNest &nest);

/// Whether lanes can run over p: X and the factor are contiguous along it.
/// `group`: positions that the innermost axis has inside.
bool canTakeLanesOverK(const StepLayout &step, const LoopNest &nest,
                       int64_t group);

/// Whether lanes can run over a short innermost axis of rows together with the
/// one outside of it, which the factor depends on and is contiguous along.
bool canRepeat(const StepLayout &step, const LoopNest &nest);

/// Whether bf16 of the factor can be read in pairs by the k mapping: none
/// crosses from one q to the next, and the number of rows is known.
bool canReadPairs(const StepLayout &step, const LoopNest &nest);

/// How the varying mapping takes few rows: segments of `segment` units of t,
/// each a vector or, of bf16, a pair of them, `vectors` of them at a time with
/// `sizeN` q and `rows` rows.
struct SegmentShape {
  int64_t unit = 1, segment = 1, vectors = 1, sizeN = 1, rows = 1;
  /// Positions of p that the copy of X has; 0: all.
  int64_t blockK = 0;
  /// Whether bf16 is read in pairs of t, and multiplied in words of two p.
  bool pairs = false, words = false;

  int64_t getParts() const { return pairs ? 2 : 1; }
  /// Units of `size` positions, the last one of which may be a part of a
  /// vector, and positions behind pairs.
  int64_t getUnits(int64_t size) const {
    return pairs ? size / unit : llvm::divideCeil(size, unit);
  }
  int64_t getRemainder(int64_t size) const { return pairs ? size % unit : 0; }
};

/// Results of a block of a segment, at most.
inline constexpr int64_t kMostSegmentResults = 4;

/// Whether `size` positions of t can be segments of vectors of `lanes`: more
/// than a vector, or a part of one that is too large for a group.
bool canBeSegments(int64_t size, int64_t lanes);

/// How `size` positions of t can be taken in segments through `rows` rows, but
/// for the length of a segment; none if they cannot. `stored`: how elements of
/// the factor lie where they are loaded.
std::optional<SegmentShape> getSegmentShape(const StepLayout &step, Type stored,
                                            int64_t size, int64_t rows);

/// The same of a step with the varying mapping.
std::optional<SegmentShape> getStepSegmentShape(const StepLayout &step,
                                                const LoopNest &nest);

/// Whether blocks of the factor can be packed for all rows of a segment.
bool canPackInSegments(const LoopNest &nest, const SegmentShape &shape);

/// Rows that segments are cut for: those that share a factor, or if their
/// number is not known those of a whole tile; 0 if that is not known, either.
int64_t getSegmentRows(const StepLayout &step, const LoopNest &nest);

/// Positions of p, or of pairs of them, that segments have.
int64_t getSegmentK(const StepLayout &step, const SegmentShape &shape);

/// Elements from one row to the next of the copy of X that a segment has: rows
/// start at different sets of a cache, whatever K is.
int64_t getSegmentRowElements(const StepLayout &step,
                              const SegmentShape &shape);

/// Results of a block of the repeat mapping, whose lanes run over `size`
/// positions, each with `repeats` rows.
int64_t getRepeatResults(const StepLayout &step, int64_t size, int64_t repeats);

/// Bytes of an element of the factor as it lies.
int64_t getFactorElementBytes(const StepLayout &step);

/// Whether a step loads its factor where it lies, in vectors that few rows
/// share, so that what is loaded later can be prefetched.
bool readsFactorWhereItLies(const StepLayout &step, const LoopNest &nest);

/// The axis of `step` that the factor varies on and is contiguous along, or
/// -1.
int getContiguousAxis(const StepLayout &step);

/// The axis outside of the lanes of a step with the inner mapping that blocks
/// of q can be taken along, since the factor varies on it; null without one.
const LoopAxis *findAlongAxis(const StepLayout &step, const LoopNest &nest);

/// How the factor of a step with the inner mapping is packed.
enum class BroadcastPacking {
  None,
  /// Elements lie apart, since the factor is contiguous along another axis:
  /// [..., q, p] or [..., p, q] for every position of that axis.
  Planes,
  /// Elements, or groups, lie far apart along p: [..., q, p, group].
  Streams
};

/// How it can be packed, and how it is.
BroadcastPacking getPossiblePacking(const StepLayout &step,
                                    const LoopNest &nest);
BroadcastPacking getBroadcastPacking(const StepLayout &step,
                                     const LoopNest &nest);

/// The groups, powers of two from large to small, in which a step with the
/// inner mapping can take what fills no vector of its innermost axis, each with
/// several q in a vector.
SmallVector<int64_t> getRemainderGroups(const StepLayout &step,
                                        const LoopNest &nest);

/// What a step says of one of these: its elements, and the rows and vectors of
/// its register tiles.
struct RemainderTile {
  int64_t group, rows, vectors;
};
SmallVector<RemainderTile> getRemainderTiles(const CPUStepChoices &choices);

/// Elements from one p to the next of a factor that is packed for such groups,
/// whole vectors.
int64_t getGroupedRowElements(const StepLayout &step, int64_t group);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_LOOPNEST_H
