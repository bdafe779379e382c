//===- Problem.h - What one fused region computes ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The numbers that decide how a fused region is mapped and what it costs, apart
// from the IR: a plan compares fused regions that do not exist yet.
//
// A tile footprint is what has to be on chip at once to apply all factors:
// every position of the contracted axes, times some columns where elements lie
// inside the last contracted axis.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_PROBLEM_H
#define KRON_PLAN_GPU_PROBLEM_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// One factor of a fused region.
struct ProblemFactor {
  int64_t axis = 0;
  /// Size of the contracted axis before (K) and after (N).
  int64_t sizeK = 1;
  int64_t sizeN = 1;
  /// Other axes that the factor depends on, and how many positions they have
  /// together.
  SmallVector<int64_t> varyingAxes;
  int64_t variations = 1;
};

struct Problem {
  /// Type of the elements in memory.
  Type element;
  Precision precision = Precision::Full;
  /// In the order of application.
  SmallVector<ProblemFactor> factors;
  bool readsAddend = false;
  /// Whether the input or a factor is of 8 bits.
  bool hasFloat8 = false;
  /// Whether a kron.epilogue ends the fused region, and whether it reads a
  /// residual.
  bool hasEpilogue = false, readsResidual = false;

  /// Elements of the whole arrays. Dynamic sizes count as if the input had
  /// 2^26 elements.
  double inputElements = 1;
  double outputElements = 1;
  bool hasDynamicSize = false;

  /// Elements of the contracted axes alone: of the input, the output, and the
  /// most that any step reads or writes.
  int64_t rowInput = 1;
  int64_t rowOutput = 1;
  int64_t rowLargest = 1;
  /// Elements inside the last contracted axis; -1 if not known.
  int64_t inner = 1;
  /// The same of those inside of the last axis that a factor contracts or
  /// varies over: they lie as one in memory.
  int64_t innerRows = 1;
  /// Elements of the innermost contracted axes that have no other axis between
  /// or behind them (1 if something lies inside the last one).
  int64_t trailing = 1;
  /// Sizes of the array's innermost axis before and after the fused region; -1
  /// if not known.
  int64_t innermostInput = 1;
  int64_t innermostOutput = 1;
  /// Whether neighbouring elements of the input belong to different rows: it is
  /// the transpose of what the fused region works on.
  bool readsTranspose = false;
  /// Rows to which neighbouring elements belong then; -1 if not known.
  int64_t turnedRows = -1;
  /// Whether neighbouring elements of the input lie along a contracted axis,
  /// but those of the result lie inside of all that are contracted.
  bool readsColumns = false;
  /// Elements of contracted axes that lie side by side in the array whose
  /// neighbours lie along these: the input if `readsColumns`, the result if
  /// `readsTranspose`.
  int64_t fibreSegment = 1;
  /// Multiply-adds per position of the axes that are not contracted, with the
  /// sizes as they are.
  double rowMultiplyAdds = 0;

  /// Positions of the axes that are not contracted, `inner` included.
  double getPositions() const { return inputElements / rowInput; }
  int64_t getElementBytes() const;
  /// Bytes of an element on chip: f16 and bf16 are kept as f32.
  int64_t getChipBytes() const;
  /// Columns that a tile footprint takes so that it touches segments of
  /// `segmentBytes` bytes in memory: 1 for contiguous rows, all of `inner`
  /// where that is less.
  int64_t getColumns(int64_t segmentBytes) const;
  /// Bytes of contiguous memory that a tile footprint of `columns` touches.
  int64_t getSegmentBytes(int64_t columns) const;
  /// Rows that a tile takes so that it reads segments of `segmentBytes` bytes:
  /// 1 unless the input is transposed.
  int64_t getRows(int64_t segmentBytes) const;
  int64_t getFootprintBytes(int64_t columns) const {
    return rowLargest * columns * getChipBytes();
  }
  /// Bytes that go through memory.
  double getMemoryBytes() const {
    int written = 1 + readsAddend + readsResidual;
    return (inputElements + outputElements * written) * getElementBytes();
  }
  int64_t getLargestFactorSize() const;
  int64_t getSmallestFactorSize() const;
};

/// The problem of applying `factors` to an array of shape `shape` (dynamic
/// sizes allowed on axes that are not contracted).
Problem describeProblem(Type element, Precision precision,
                        ArrayRef<int64_t> shape,
                        ArrayRef<ProblemFactor> factors, bool readsAddend);

/// The problem of `fused`.
Problem describeProblem(FusedOp fused);

/// Adds how the input of `problem` lies, whose axes of `shape` are permuted
/// (none if empty).
void describeInput(Problem &problem, ArrayRef<int64_t> permutation,
                   ArrayRef<int64_t> shape);

/// Factor, axis and varying axes of `product`, whose factor has a static shape.
ProblemFactor describeFactor(ModeProductOp product);

/// Sizes of `product`'s result. Where its type leaves the size of an axis open
/// that the factor varies on, the factor's is taken.
SmallVector<int64_t> getResultShape(ModeProductOp product);

/// Whether `mma` takes `problem` as matrix products per position of the axes
/// that its factor varies on: a single factor that varies, is too large for
/// tiles that hold whole fibres, or has an epilogue.
bool isSparse(const Problem &problem);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_PROBLEM_H
