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

#ifndef KRON_LIB_CODEGEN_GPU_PACKEDOPERAND_H
#define KRON_LIB_CODEGEN_GPU_PACKEDOPERAND_H

#include "SparseChunks.h"

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
  int64_t getCoreStride() const;
  int64_t getBytes() const;

  /// Writes `operands` of a warp for eight columns and macro step `macro` of 16
  /// positions of K: `target` is where this lane's word of the first core
  /// matrix of these columns is.
  void write(KernelBuilder &kernel, ArrayRef<SparseOperand> operands,
             Value target, int64_t macro) const;
  /// Starts sums += a * b for macro step `macro`, or without `continues` sums =
  /// a * b; `descriptor` is of the first core matrix of the sums' columns (see
  /// getDescriptor), `offset` how many bytes behind it the packed operand
  /// begins. The part before has been multiplied when it returns, so that its
  /// registers are free.
  void multiply(KernelBuilder &kernel, MutableArrayRef<MmaC> sums,
                const SparseA &a, Value descriptor, int64_t offset,
                int64_t macro, bool continues) const;
  /// The descriptor of shared memory at `place`, but for distances.
  static Value getDescriptor(KernelBuilder &kernel, Int place);
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_PACKEDOPERAND_H
