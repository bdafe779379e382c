//===- PackedOperand.h - Operand B that threads prepare ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Operand B of warpgroup instructions that threads write to shared memory:
// values are split once for four warps and more. What a thread writes is what
// it would hold as operand B of mma.sync, in core matrices of 8 columns x 16
// bytes of K, those of all columns side by side. A packed operand of f32 is all
// of it in TF32, then its residuals in bf16, then, unless residuals of operand
// A are of TF32, all in bf16.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_PACKEDOPERAND_H
#define KRON_PLAN_GPU_PACKEDOPERAND_H

#include "kron/Dialect/Tile/IR/TileChunks.h"

namespace mlir::kron {

struct PackedOperand {
  /// Bytes of a core matrix.
  static constexpr int64_t kCoreBytes = 128;

  Type element;
  /// Columns and size K, a multiple of 16.
  int64_t columns, sizeK;
  /// Whether residuals of operand A are of TF32.
  bool hasTF32Residuals = false;

  bool is16BitFloat() const { return element.getIntOrFloatBitWidth() == 16; }
  /// Bytes between core matrices along K.
  int64_t getCoreStride() const { return columns / 8 * kCoreBytes; }
  int64_t getBytes() const {
    return columns * sizeK *
           tile::getPackedElementBytes(is16BitFloat(), hasTF32Residuals);
  }
};

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_PACKEDOPERAND_H
