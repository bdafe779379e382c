//===- GradientDecomposer.h - One kron.ksmm_grad ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What DecomposeGradient.cpp, which sums blocks of the batch up one after the
// other, and GradientPieces.cpp, which sums pieces of it up side by side, have
// in common.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTDECOMPOSER_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTDECOMPOSER_H

#include "kron/Dialect/Kron/Transforms/Decompose.h"

namespace mlir::kron {

/// Turns one kron.ksmm_grad into what it consists of.
class GradientDecomposer {
public:
  GradientDecomposer(IRRewriter &rewriter, KsmmGradOp op,
                     const GradientForm &form);

  void run();

private:
  Value castFeatures(Value array, int64_t middle);
  Value emitStore(Value product);
  Value sumShared(Value product);
  Value createZeros(ArrayRef<int64_t> shape);
  Value emitBatchSize();

  // Blocks.
  Value emitLoop(int64_t end, int64_t step, Value sum,
                 function_ref<Value(Value first, Value sum)> body);
  Value emitSlices(Value sum);
  Value emitSum(Value sum);
  Value viewBlock(OpBuilder &builder, Value array, Value first, int64_t rows,
                  int64_t middle);
  Value viewSlice(OpBuilder &builder, Value block, int64_t rows,
                  int64_t middle);
  Value emitBlock(OpBuilder &builder, Value first, int64_t rows, Value sum);

  // Pieces.
  Value putBatchFirst(Value array);
  Value emitPieces();
  Value emitSumOfPieces();
  Value viewRows(Value array, OpFoldResult first, OpFoldResult count,
                 int64_t pieces, int64_t middle);
  Value emitProducts(Value sum, OpFoldResult first, OpFoldResult count,
                     int64_t pieces);
  Value addPieces(Value sum, Value pieces);
  Value emitReduction(ValueRange inputs, Value sum, ArrayRef<AffineMap> maps,
                      function_ref<Value(OpBuilder &, ValueRange)> getTerm);

  IRRewriter &rewriter;
  KsmmGradOp op;
  const GradientForm &form;
  bool isByPieces, onTensors;
  Location loc;
  Type element, accumulator;
  /// The pattern, of which blocks are of one slice at a time: a and d of the
  /// slice, and where it begins, if it is not all.
  int64_t a, b, c, d, slicedA, slicedD;
  Value firstBlock, firstInner;
  /// Dimension of the batch in the input and the gradient, and its size,
  /// kDynamic if unknown.
  unsigned batchDim;
  int64_t batch;
  Value input, grad, init;
  /// To be released behind the operation.
  SmallVector<Value> buffers;
};

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_GRADIENTDECOMPOSER_H
