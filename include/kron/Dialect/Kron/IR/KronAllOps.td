//===- KronAllOps.td - All operations, for the reference ---*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// docs/reference comes from here; C++ comes from the parts, so that few files
// depend on families that few files know of.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONALLOPS_TD
#define KRON_DIALECT_KRON_IR_KRONALLOPS_TD

include "kron/Dialect/Kron/IR/KronOps.td"
include "kron/Dialect/Kron/IR/KronPairwiseOps.td"

#endif // KRON_DIALECT_KRON_IR_KRONALLOPS_TD
