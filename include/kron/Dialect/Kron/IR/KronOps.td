//===- KronOps.td - Operations of the kron dialect ---------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONOPS_TD
#define KRON_DIALECT_KRON_IR_KRONOPS_TD

include "kron/Dialect/Kron/IR/KronNamedOps.td"
include "kron/Dialect/Kron/IR/KronGradientOps.td"
include "kron/Dialect/Kron/IR/KronFusedOps.td"

#endif // KRON_DIALECT_KRON_IR_KRONOPS_TD
