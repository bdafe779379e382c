//===- WgmmaImage.h - Operand B that threads prepare ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Operand B of warpgroup instructions that threads write to shared memory:
// numbers are split once for four warps and more. What a thread writes is what
// it would hold as operand B of mma.sync, in core matrices of 8 columns x 16
// bytes of depth, those of all columns side by side. An image of f32 is all of
// it in TF32, then what that leaves in bf16, then, unless rests of operand A
// are of TF32, all in bf16.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_WGMMAIMAGE_H
#define KRON_LIB_CODEGEN_GPU_WGMMAIMAGE_H

#include "SparseChunks.h"

namespace mlir::kron {

struct WgmmaImage {
  /// Bytes of a core matrix.
  static constexpr int64_t kCoreBytes = 128;

  Type element;
  /// Columns and depth, a multiple of 16.
  int64_t columns, depth;
  /// Whether rests of operand A are of TF32.
  bool hasTF32Rests = false;

  bool isHalf() const { return element.getIntOrFloatBitWidth() == 16; }
  /// Bytes between core matrices along the depth.
  int64_t getCoreStride() const;
  int64_t getBytes() const;

  /// Writes `operands` of a warp for eight columns and macro step `macro` of 16
  /// depths: `target` is where this lane's word of the first core matrix of
  /// these columns is.
  void write(KernelBuilder &kernel, ArrayRef<SparseOperand> operands,
             Value target, int64_t macro) const;
  /// Starts sums += a * b for macro step `macro`, or without `continues` sums =
  /// a * b; `descriptor` is of the first core matrix of the sums' columns (see
  /// getDescriptor), `offset` how many bytes behind the image begins. The part
  /// before has been multiplied when it returns, so that its registers are
  /// free.
  void multiply(KernelBuilder &kernel, MutableArrayRef<MmaC> sums,
                const SparseA &a, Value descriptor, int64_t offset,
                int64_t macro, bool continues) const;
  /// The descriptor of shared memory at `place`, but for distances.
  static Value getDescriptor(KernelBuilder &kernel, Int place);
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_WGMMAIMAGE_H
