//===- StepForms.h - Forms of one step --------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One function for each field of a step: what it is, for a step whose fields
// before it are chosen.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_CPU_STEPFORMS_H
#define KRON_LIB_MAPPING_CPU_STEPFORMS_H

#include "RegisterTiles.h"
#include "kron/Plan/CPU/AmxMapping.h"

namespace mlir::kron {

/// What lanes run over. Tries values of `chosen`, which is what `step` looks
/// at. A call uses each element of the factor `uses` times; `isCopyLarge`: it
/// would be converted to a copy that no cache holds; `isSplit`: the processor
/// takes two turns for vectors of all lanes; `mayAddUp`: lanes may run over p,
/// so that each row's sums are added up as its place in a tile says.
int64_t chooseStepLanes(const StepLayout &step, int64_t uses, bool isCopyLarge,
                        bool isSplit, bool mayAddUp, CPUStepChoices &chosen);

/// Whether the factor is converted where it is loaded.
bool convertsFactor(const StepLayout &step);

/// Whether matrix tiles are worth it, and rows that the factor is read for.
bool isWorthMatrixTiles(const StepLayout &step);
int64_t chooseAmxChunk(const StepLayout &step, bool isExact,
                       const StepBudget &budget);

/// Of the inner mapping: whether the factor is packed, the register tiles of
/// what fills no vector, and whether rows of X are copied, of which `size`
/// elements are taken in whole vectors.
bool isWorthPacking(const StepLayout &step, const LoopNest &nest,
                    const StepBudget &budget);
SmallVector<int64_t> chooseRemainder(const StepLayout &step,
                                     const LoopNest &nest,
                                     const TileChoice &choice,
                                     const StepBudget &budget);
bool isWorthCopyingRows(const StepLayout &step, const LoopNest &nest, Int size,
                        bool mayPrefetch, const StepBudget &budget);
/// Positions of an axis that the factor varies on, which blocks of q with
/// register tiles `along` go along, of fewer rows if that is better; 0 if all q
/// for each of them, as chosen, are. `waitsForLines`: no cache holds all
/// results.
int64_t chooseAlong(const StepLayout &step, const LoopNest &nest,
                    bool waitsForLines, const StepBudget &budget,
                    TileShape &along);
/// Whether register tiles prefetch what later ones load of rows of X in memory:
/// as lines of the next window, `mostLines` each at most, it would not be all.
bool isWorthPrefetchingRows(const StepLayout &step, int64_t mostLines);

/// Bytes that the copy of X of a segment takes, at most: half of a second-level
/// cache of `cacheBytes`, and of the stack what leaves room for packed blocks.
inline int64_t getMostSegmentBytes(int64_t cacheBytes) {
  constexpr int64_t kMostStackBytes = 7 << 17;
  return std::min(cacheBytes / 2, kMostStackBytes);
}

/// Whether `size` elements of so many bytes, of an axis that the factor varies
/// on, are so much more than a line that a vector of each p leaves lines out.
inline bool isLongSegment(int64_t size, int64_t elementBytes) {
  return 2 * size * elementBytes > 3 * kLineBytes;
}

/// Of the varying mapping: whether copies of more than a few rows are read
/// often enough to be worth it, and the length of segments. `converts`: copies
/// convert rows, which others would have to do as well; a call uses each
/// element of the factor `uses` times.
bool paysForSegments(int64_t sizeK, int64_t sizeN, bool converts);
int64_t chooseSegment(const StepLayout &step, const LoopNest &nest,
                      int64_t uses, bool isFactorFar, const StepBudget &budget);
/// Elements ahead of its loads that a factor of `factorBytes` is prefetched; 0:
/// it comes in time by itself.
int64_t chooseFactorAhead(const StepLayout &step, const LoopNest &nest,
                          int64_t factorBytes, const StepBudget &budget);
/// Replaces the segment that is chosen by all of t in blocks of p and q where
/// that costs less, of a factor of `factorBytes` that no second-level cache
/// holds. `choosePackedK`: positions of p of the factor that are packed else.
void chooseSegmentBlocks(const StepLayout &step, const LoopNest &nest,
                         int64_t factorBytes, const StepBudget &budget,
                         CPUStepChoices &chosen);
int64_t choosePackedK(const StepLayout &step, const LoopNest &nest,
                      const StepBudget &budget);

/// Of the fibre mapping: whether the factor is packed in panels, rows that
/// these are applied to, registers of a segment, and rows that share a vector.
bool isWorthPanels(const StepLayout &step, const LoopNest &nest,
                   const StepBudget &budget);
int64_t choosePanelChunk(const StepLayout &step, const LoopNest &nest,
                         const StepBudget &budget);
int64_t chooseFibreSegment(const StepLayout &step, const LoopNest &nest);
int64_t chooseSharingRows(const StepLayout &step, const LoopNest &nest);

/// Of the k mapping: whether a factor of bf16 is read in pairs.
bool isWorthPairs(const StepLayout &step, const LoopNest &nest,
                  const StepBudget &budget);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_CPU_STEPFORMS_H
