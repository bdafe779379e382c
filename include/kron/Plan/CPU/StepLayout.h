//===- StepLayout.h - Where the arrays of a step lie ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step applies one factor along one axis, from a source to a destination that
// may be the user's memory or a buffer of the fused region. Its `StepLayout`
// says where these lie, as far as that is known. It is mapped to the register
// tile in one of five ways, by what lies at the inner end of the arrays, and by
// what the plan says where several are possible:
//
//   inner    lanes run over the innermost axis, which is not the contracted
//            one; the factor is broadcast, rows of the tile are q
//   varying  the same, but the factor depends on the innermost axis too: it is
//            loaded as a vector, vectors of the tile run over another axis
//   fibre    lanes run over q, or over q and a short innermost axis together,
//            on which the factor may depend; elements (or groups) of X are
//            broadcast, rows of the tile run over an outer axis
//   k        lanes run over p, or over p and a short innermost axis together,
//            and are added up at the end: for few rows and a factor that is
//            contiguous along p, which is read once and as it lies
//   repeat   lanes run over a short innermost axis of rows and the one outside
//            of it, which the factor depends on; its elements are repeated
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_STEPLAYOUT_H
#define KRON_PLAN_CPU_STEPLAYOUT_H

#include "kron/Plan/CPU/CPUChoices.h"
#include "kron/Plan/CPU/Registers.h"
#include "kron/Plan/StepArrays.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::kron {

/// What a step computes.
struct StepLayout {
  /// Contracted axis, its size before (p) and after (q).
  unsigned axis = 0;
  int64_t sizeK = 0;
  int64_t sizeN = 0;
  /// Sizes of all axes; the entry at `axis` is not used.
  SmallVector<Int> sizes;
  /// What an axis has in all tiles but the last, if its size is not known; 0:
  /// it may be any number.
  int64_t usualRows = 0;
  /// The most elements of the innermost axis where their number is not known.
  int64_t mostInner = 0;
  StepArray source, destination;
  StepFactor factor;
  /// Whether Z is added, by the last step of a fused region, and where it lies.
  bool adds = false;
  StepArray addend;
  /// Whether the source is a buffer of the fused region, whose rows start at
  /// cache lines and share no sets of a cache.
  bool isSourceBuffer = false;
  /// Whether the results take the place of the source.
  bool isInPlace = false;
  /// Whether no other tile is multiplied with the same part of the factor.
  bool isFactorUsedOnce = false;
  /// Whether the source and the factor hold pairs of bf16 along p (Pairs.h),
  /// which size K and the strides count.
  bool hasPairs = false;
  /// Whether the source, of bf16 wherever it lies, and a factor of bf16 may be
  /// multiplied in pairs.
  bool mayPair = false;
  /// Whether the input and the factor are conjugated.
  bool isSourceConjugate = false, isFactorConjugate = false;
  /// Of an element as it is computed, and its parts (2 if it is complex).
  int64_t elementBytes = 4;
  int64_t elementParts = 1;
  /// Width of the vector registers, and what the plan says of the fused region
  /// and of the step.
  int64_t vectorBits = 512;
  const CPUChoices *given = nullptr;
  const CPUStepChoices *choices = nullptr;
};

/// How a step is mapped; see the top of the file.
enum class StepMapping { Inner, Varying, Fibre, K, Repeat, Unsupported };

/// The mapping of a step whose arrays have the strides of `step`.
/// `Unsupported`: an array is not contiguous where lanes must run, and has to
/// be copied.
StepMapping getStepMapping(const StepLayout &step);

/// Elements of scratch memory that the code of a step needs.
int64_t getScratchElements(const StepLayout &step);

/// Whether the code of `step`, in place, can read all that it needs of the
/// source before it stores there.
bool canWorkInPlace(const StepLayout &step);

/// Whether the factor must be rearranged first so that the tile can load it as
/// vectors; `getPackedFactor` says how.
bool needsPacking(const StepLayout &step);

/// Whether the tile loads the source, or the factor, in vectors as it lies, so
/// that these can be converted on the way.
bool canConvertSource(const StepLayout &step);
bool canConvertFactor(const StepLayout &step);

/// Arrangement of a packed factor: [varying axes..., p, q, lanes], rows [q,
/// lanes] padded to whole vectors where lanes run over q. A large factor is cut
/// into panels of columns: [varying axes..., panels, p, panelLanes]. One whose
/// elements are broadcast becomes [varying axes..., q, p] or [..., p, q].
/// Behind [p, q] of one that does not vary may lie what its products at the end
/// of the innermost axis take: [p, q, group] for every `remainderGroups`.
struct PackedFactor {
  /// Elements at the end of the innermost axis that are taken in a vector with
  /// several q, and where the factor is, with every q as often.
  struct RemainderGroup {
    int64_t size, offset;
  };

  /// Elements in all.
  int64_t elements = 0;
  /// Columns of a panel; 0 without panels.
  int64_t panelLanes = 0;
  int64_t strideK = 0;
  int64_t resultStride = 0;
  /// Lanes of a vector and the q that it holds, where lanes run over q; lanes
  /// beyond the last whole q are zero.
  int64_t vectorLanes = 0;
  int64_t vectorResults = 0;
  /// Between the parts of a long axis that lanes take a register of at a time.
  int64_t splitStride = 0;
  /// Per axis; 0 where the factor does not vary and for axes that are lanes.
  SmallVector<int64_t> strides;
  /// Rows that share a vector of the q that fill none, which are repeated for
  /// that; 1: none do.
  int64_t sharingRows = 1;
  /// What fills no vector of an innermost axis of `groupedSize` elements.
  SmallVector<RemainderGroup, 0> remainderGroups;
  int64_t groupedSize = 0;

  bool hasGaps() const { return vectorResults * resultStride < vectorLanes; }
  /// Elements of `sizeN` q, whole vectors if there are gaps.
  int64_t getRowElements(int64_t sizeN) const {
    return hasGaps() ? llvm::divideCeil(sizeN, vectorResults) * vectorLanes
                     : sizeN * resultStride;
  }
};

/// The arrangement for a factor that varies over `factorSizes[k]` positions of
/// axis k (1 where it does not vary). These are the whole factor's, where
/// `step` may see only one position.
PackedFactor getPackedFactor(const StepLayout &step,
                             ArrayRef<int64_t> factorSizes);

/// Lanes that a mapping with `elements` useful elements per row should use: the
/// full register, or a narrower one when less than that is there.
int64_t chooseLanes(int64_t elements, int64_t vectorBits, int64_t elementBytes);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_STEPLAYOUT_H
