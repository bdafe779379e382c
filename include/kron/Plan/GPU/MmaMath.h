//===- MmaMath.h - How kernels of mma.sync multiply -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_MMAMATH_H
#define KRON_PLAN_GPU_MMAMATH_H

#include <cstdint>

namespace mlir::kron {

/// How products are computed.
enum class MmaMath {
  /// One product of TF32 values. Exact factors (f16, bf16) lose nothing; data
  /// are rounded to 11 bits once per factor, sums are f32.
  TF32,
  /// f32 values as sums of two TF32: high*high + high*low + low*high.
  SplitTF32,
  F64
};

/// Products in a sum from which on the residuals of split values may be rounded
/// to bf16: of shorter sums, single elements can miss the a-priori bound.
inline constexpr int64_t kLeastSummed = 32;

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_MMAMATH_H
