//===- SingleOperand.td - Operand groups of one value ------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_SINGLEOPERAND_TD
#define KRON_DIALECT_KRON_IR_SINGLEOPERAND_TD

include "mlir/IR/OpBase.td"

/// Operand group `group`, called `name`, holds one value. Builders and the custom
/// assembly see to that by themselves, the generic form does not.
class Kron_SingleOperand<int group, string name>
    : PredOpTrait<"operandSegmentSizes is 1 at position " # group # ", for " # name,
                  CPred<"getODSOperands(" # group # ").size() == 1">> {
  int position = group;
}

#endif // KRON_DIALECT_KRON_IR_SINGLEOPERAND_TD
