//===- KronPairwiseEnums.td - Functions of pairs -----------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Apart from KronAttrs.td: these are keywords of one family, stored as
// integers, and need no attribute of their own.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONPAIRWISEENUMS_TD
#define KRON_DIALECT_KRON_IR_KRONPAIRWISEENUMS_TD

include "mlir/IR/EnumAttr.td"

def Kron_PairFunction
    : I32EnumAttr<"PairFunction", "what kron.pairwise computes of two elements",
                  [I32EnumAttrCase<"Dot", 0, "dot">,
                   I32EnumAttrCase<"AbsDiff", 1, "abs_diff">,
                   I32EnumAttrCase<"SquareDiff", 2, "square_diff">,
                   I32EnumAttrCase<"PowDiff", 3, "pow_diff">,
                   I32EnumAttrCase<"NotEqual", 4, "not_equal">]> {
  let cppNamespace = "::mlir::kron";
}

def Kron_PairReduction
    : I32EnumAttr<"PairReduction", "how kron.pairwise reduces along K",
                  [I32EnumAttrCase<"Sum", 0, "sum">,
                   I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::mlir::kron";
}

def Kron_PairAccumulation
    : I32EnumAttr<"PairAccumulation", "how kron.pairwise_apply reduces along N",
                  [I32EnumAttrCase<"Sum", 0, "sum">,
                   I32EnumAttrCase<"Max", 1, "max">,
                   I32EnumAttrCase<"LogSumExp", 2, "logsumexp">]> {
  let cppNamespace = "::mlir::kron";
}

def Kron_PairOperand
    : I32EnumAttr<"PairOperand", "what kron.pairwise_grad differentiates by",
                  [I32EnumAttrCase<"Lhs", 0, "lhs">,
                   I32EnumAttrCase<"Rhs", 1, "rhs">,
                   I32EnumAttrCase<"Param", 2, "param">]> {
  let cppNamespace = "::mlir::kron";
}

#endif // KRON_DIALECT_KRON_IR_KRONPAIRWISEENUMS_TD
