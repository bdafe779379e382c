//===- KronInterfaces.td - Interfaces of kron operations ---*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONINTERFACES_TD
#define KRON_DIALECT_KRON_IR_KRONINTERFACES_TD

include "mlir/IR/OpBase.td"

def Kron_ScaledOpInterface : OpInterface<"ScaledOpInterface"> {
  let cppNamespace = "::mlir::kron";
  let description = [{
    An operation `Y = alpha * f(X, factors) + beta * Z`: what all computing
    operations of the dialect share, so that scaling, aliasing and shapes are
    handled once.
  }];
  let methods = [
    InterfaceMethod<"The array that the factors are applied to.",
      "::mlir::Value", "getInputValue", (ins), [{ return $_op.getInput(); }]>,
    InterfaceMethod<"The factors (weights), in the order of the operation.",
      "::mlir::ValueRange", "getFactorValues">,
    InterfaceMethod<"The destination (`outs`).",
      "::mlir::Value", "getInitValue", (ins), [{ return $_op.getInit(); }]>,
    InterfaceMethod<"The separate addend Z, or null: Z is then the destination.",
      "::mlir::Value", "getAddendValue", (ins), [{ return $_op.getAddend(); }]>,
    InterfaceMethod<"alpha as a run-time scalar, or null.",
      "::mlir::Value", "getAlphaValue", (ins), [{ return $_op.getAlpha(); }]>,
    InterfaceMethod<"beta as a run-time scalar, or null.",
      "::mlir::Value", "getBetaValue", (ins), [{ return $_op.getBeta(); }]>,
    InterfaceMethod<"alpha as a constant, or null: a run-time scalar or 1.",
      "::mlir::TypedAttr", "getStaticAlphaAttr", (ins),
      [{ return $_op.getStaticAlphaAttr(); }]>,
    InterfaceMethod<"beta as a constant, or null: a run-time scalar or 0.",
      "::mlir::TypedAttr", "getStaticBetaAttr", (ins),
      [{ return $_op.getStaticBetaAttr(); }]>,
    InterfaceMethod<[{
        Pairs of dimensions of operands that the operation's semantics require to be
        equal and that types alone may leave open: batch, row and column counts.
        The run-time entry checks them.
      }],
      "void", "getEqualDims",
      (ins "::llvm::SmallVectorImpl<::mlir::kron::DimPair> &":$pairs)>,
    InterfaceMethod<[{
        Dimensions of operands that types leave open and that static factor
        shapes fix: the product of their rows or columns.
        The run-time entry checks them.
      }],
      "void", "getFixedDims",
      (ins "::llvm::SmallVectorImpl<::mlir::kron::FixedDim> &":$dims)>,
  ];
}

#endif // KRON_DIALECT_KRON_IR_KRONINTERFACES_TD
