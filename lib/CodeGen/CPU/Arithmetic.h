//===- Arithmetic.h - Values of every type in kernels -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On elements of an emitter or vectors of them. Integers wrap. Complex numbers
// are vectors in which real and imaginary parts take turns, as in memory.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_ARITHMETIC_H
#define KRON_LIB_CODEGEN_CPU_ARITHMETIC_H

#include "kron/CodeGen/CPU/RegisterTile.h"

namespace mlir::kron {

/// a * b + c, part by part: fused for floating-point numbers. Without c, a * b.
Value emitMultiplyAdd(Emitter &emitter, Value a, Value b, Value c);

/// lhs + rhs.
Value emitSum(Emitter &emitter, Value lhs, Value rhs);

/// lhs * rhs, of complex numbers where the emitter's are.
Value emitProduct(Emitter &emitter, Value lhs, Value rhs);
Value emitConjugate(Emitter &emitter, Value value);

/// For `value` = (r0, i0, r1, i1, ...): (i0, r0, i1, r1, ...), and one part
/// twice: (r0, r0, r1, r1, ...) or (i0, i0, i1, i1, ...).
Value emitSwappedParts(Emitter &emitter, Value value);
Value emitRepeatedPart(Emitter &emitter, Value value, bool imaginary);

/// A vector like `value` that holds `real` and `imaginary` in turn.
Value emitAlternating(Emitter &emitter, Value value, double real,
                      double imaginary);

/// alpha or beta of the host as the values that kernels capture.
TileScalar getTileScalar(Emitter &emitter, const Scale &scale);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_ARITHMETIC_H
