//===- KronPairwiseInterfaces.td - Functions of pairs ------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONPAIRWISEINTERFACES_TD
#define KRON_DIALECT_KRON_IR_KRONPAIRWISEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Kron_PairOpInterface : OpInterface<"PairOpInterface"> {
  let cppNamespace = "::mlir::kron";
  let description = [{
    An operation on `epilogue(reduce_k inner(A[l, m, k], B[l, n, k]))`: what
    `kron.pairwise` and those that go on from its result share.
  }];
  let methods = [
    InterfaceMethod<"A.", "::mlir::Value", "getLhs">,
    InterfaceMethod<"B.", "::mlir::Value", "getRhs">,
    InterfaceMethod<"The hyper-parameters.", "::mlir::OperandRange", "getParams">,
    InterfaceMethod<[{
        What the function is differentiated along: a direction of A, of B and of
        every hyper-parameter, or none at all.
      }],
      "::mlir::OperandRange", "getDirections", (ins), "",
      [{ return $_op->getOperands().take_front(0); }]>,
    InterfaceMethod<"The destination (`outs`).", "::mlir::Value", "getInit">,
    InterfaceMethod<"The function of two elements, unless a region gives it.",
      "::std::optional<::mlir::kron::PairFunction>", "getInner">,
    InterfaceMethod<"The exponent of pow_diff, or null.",
      "::mlir::FloatAttr", "getExponentAttr">,
    InterfaceMethod<"How values are reduced along K.",
      "::mlir::kron::PairReduction", "getReduction">,
    InterfaceMethod<"How A is stored.", "::mlir::kron::Transpose", "getTransLhs">,
    InterfaceMethod<"How B is stored.", "::mlir::kron::Transpose", "getTransRhs">,
    InterfaceMethod<"The region `inner`, perhaps empty.",
      "::mlir::Region &", "getInnerBody">,
    InterfaceMethod<"The region `epilogue`, perhaps empty.",
      "::mlir::Region &", "getEpilogue">,
  ];
  let extraSharedClassDeclaration = [{
    /// The dimension of the rows, and that of K, in A (`side` 0) and B (1).
    unsigned getRowsDim(unsigned side) {
      return ::mlir::kron::detail::getPairRowsDim($_op, side);
    }
    unsigned getReducedDim(unsigned side) {
      return ::mlir::kron::detail::getPairReducedDim($_op, side);
    }
    /// Whether `inner` is a function of a difference that is never negative.
    bool isDistance() {
      return $_op.getInner() &&
             *$_op.getInner() != ::mlir::kron::PairFunction::Dot;
    }
    /// The type that everything is computed in.
    ::mlir::Type getAccumulatorType() {
      return ::mlir::kron::getAccumulatorType(
          ::mlir::kron::getElementType($_op.getLhs()));
    }
  }];
}

#endif // KRON_DIALECT_KRON_IR_KRONPAIRWISEINTERFACES_TD
