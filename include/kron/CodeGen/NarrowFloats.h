//===- NarrowFloats.h - f16 and bf16 in vectors of f32 ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// LLVM lowers the types themselves to calls of library functions where a target
// does not have them, one per lane; integers of 16 bits and arithmetic on them
// are vector code everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_NARROWFLOATS_H
#define KRON_CODEGEN_NARROWFLOATS_H

#include "kron/CodeGen/Emitter.h"

namespace mlir::kron {

/// The f32 (or vector of them) that `bits`, of f16 or bf16 values, stand for.
Value emitWidened(Emitter &emitter, Value bits, Type narrow);

/// Lanes of f32 that an instruction rounds to bf16 (AVX512-BF16).
inline constexpr int64_t kRoundedLanes = 16;

/// f32 to bf16, as i16, rounded to nearest even, subnormal values to zero:
/// `kRoundedLanes` of `low`, and of `high` if that is not null (AVX512-BF16).
Value emitToBF16(Emitter &emitter, Value low, Value high = nullptr);

/// The bits of `value`, of f32, rounded to the nearest value of type `narrow`
/// (f16 or bf16), ties to even. NaNs stay NaNs.
Value emitNarrowed(Emitter &emitter, Value value, Type narrow);

} // namespace mlir::kron

#endif // KRON_CODEGEN_NARROWFLOATS_H
