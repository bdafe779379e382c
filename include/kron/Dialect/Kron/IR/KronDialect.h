//===- KronDialect.h - The kron dialect -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONDIALECT_H
#define KRON_DIALECT_KRON_IR_KRONDIALECT_H

#include "mlir/IR/Dialect.h"

#include "kron/Dialect/Kron/IR/KronDialect.h.inc"

#endif // KRON_DIALECT_KRON_IR_KRONDIALECT_H
