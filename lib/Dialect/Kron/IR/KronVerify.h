//===- KronVerify.h - Checks that kron verifiers share ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Checks that every computing operation needs. They assume what ODS and
// DestinationStyleOpInterface have checked already: operands are ranked tensors
// or strided memrefs of kron elements, results have the types of tensor
// destinations.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_IR_KRONVERIFY_H
#define KRON_LIB_DIALECT_KRON_IR_KRONVERIFY_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Largest rank of an array: that of the run-time interface.
constexpr int64_t maxRank = 32;

/// An array operand and how messages call it.
struct NamedArray {
  std::string name;
  Value value;
};

/// The arrays of `op`: input, factors, outs and, where present, addend, bias
/// and residual.
SmallVector<NamedArray> getNamedArrays(ScaledOpInterface op);

/// Arrays are all tensors or all memrefs, of rank at most `maxRank`; alpha and
/// beta are given once and have the accumulation type.
LogicalResult verifyScaledOp(ScaledOpInterface op);

/// All arrays have the element type of the input.
LogicalResult verifySameElements(ScaledOpInterface op);

/// `attr` is a number of the accumulation type of the array `init`.
LogicalResult verifyScalar(Operation *op, StringRef name, TypedAttr attr,
                           Value init);

/// `activation` is one for the elements of `init`: it needs an order, or a
/// field.
LogicalResult verifyActivation(Operation *op, Activation activation,
                               Value init);

/// All of `arrays` are tensors or all are memrefs, of rank at most `maxRank`.
LogicalResult verifyArrayKinds(Operation *op, ArrayRef<NamedArray> arrays);

/// Dimension `dim` of `array` is `expected` if both are known. `why` ends the
/// sentence "to be 8, <why>".
LogicalResult verifyDim(Operation *op, const NamedArray &array, unsigned dim,
                        int64_t expected, const Twine &why);

LogicalResult verifyRank(Operation *op, const NamedArray &array, int64_t rank);

/// `array`, if there is one, has the shape of the destination where both are
/// known. `initShape` says what else fixes sizes that the destination leaves
/// open.
LogicalResult verifyShapeOfInit(Operation *op, const NamedArray &array,
                                ArrayRef<int64_t> initShape);

/// Shape of an array, to be refined.
SmallVector<int64_t> getShape(Value array);

/// Gives `size` the value `known` if it is open.
void refineSize(int64_t &size, int64_t known);

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_IR_KRONVERIFY_H
