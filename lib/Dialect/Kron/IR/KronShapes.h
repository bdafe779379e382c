//===- KronShapes.h - Shape rules of kron operations ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the shape rules of kron.mkm, kron.kmm and kron.batched have in common:
// behind leading batch dimensions, every axis of the input either is kept or is
// contracted with some consecutive factors. The verifiers and the equal
// dimensions both follow from that.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_IR_KRONSHAPES_H
#define KRON_LIB_DIALECT_KRON_IR_KRONSHAPES_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// An axis behind the batch: the dimension of the input and of the destination
/// that hold it, and the factors that contract it (none if it is kept).
struct CoreAxis {
  unsigned inputDim;
  unsigned initDim;
  unsigned firstFactor;
  unsigned numFactors;
};

/// Number of axes behind the batch of a kron.mkm, kron.kmm or kron.batched.
unsigned getCoreRank(Operation *op);

/// The axes behind the batch. The input and the destination must have at least
/// as many dimensions.
SmallVector<CoreAxis> getCoreAxes(Operation *op);

/// Which dimension of factor `index` is contracted and which one results. The
/// factor must have at least two dimensions and its transpose be well-formed.
std::pair<unsigned, unsigned> getMatrixDims(Operation *op, unsigned index);

/// Size of dimension `dim` of an array, kDynamic if it is not known.
int64_t getDimSize(Value array, unsigned dim);
int64_t getRank(Value array);

/// Adds the pair unless both sizes are known.
void addEqualDims(SmallVectorImpl<DimPair> &pairs, Value first,
                  unsigned firstDim, Value second, unsigned secondDim);

/// Types of the block arguments of a kron.fused: those of its operands as
/// tensors, the first one permuted by a well-formed input_permutation.
SmallVector<Type> getArgumentTypes(FusedOp op);

/// Product of `sizes`: kDynamic if one is, std::nullopt if the known ones
/// alone do not fit 63 bits.
std::optional<int64_t> multiplySizes(ArrayRef<int64_t> sizes);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_IR_KRONSHAPES_H
