//===- WgmmaInstruction.h - Series of wgmma instructions --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The factor is the B operand: it lies in shared memory without a swizzle as
// core matrices of 8 columns x 16 bytes of depth, those of one depth next to
// each other. The data is the A operand, in registers.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_WGMMAINSTRUCTION_H
#define KRON_LIB_CODEGEN_GPU_WGMMAINSTRUCTION_H

#include "WgmmaPlan.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"

namespace mlir::kron {

/// A factor as it was prepared in shared memory.
struct WgmmaFactor {
  /// Offset of its first copy in shared memory; the second one (what TF32 cuts
  /// off) follows.
  int64_t offset = 0;
};

/// A block's rows in registers, 4 i32 per instruction: `high` and, for
/// WgmmaKind::Split, `low`.
struct WgmmaRows {
  SmallVector<Value> high, low;
};

/// Which depth and which column of the factor the matrix unit gets in `slot`.
Int getWgmmaDepth(KernelBuilder &kernel, const WgmmaStage &stage, Int slot);
Int getWgmmaResult(KernelBuilder &kernel, const WgmmaStage &stage, Int slot);
/// The inverse of getWgmmaDepth, for TF32.
Int getWgmmaSlot(KernelBuilder &kernel, const WgmmaStage &stage, Int depth);

/// Builds the loop in which the CTA's threads copy the factor at `source` to
/// shared memory, padded with zeros.
void emitWgmmaFactor(KernelBuilder &kernel, const WgmmaStage &stage,
                     const WgmmaFactor &factor, const StageFactor &source,
                     Type element, int64_t threads);

/// Builds a block's products: paddedResults / 2 f32, as wgmma leaves them in
/// the thread's registers. `descriptorBase` is the address of shared memory in
/// units of 16 bytes, an i64.
SmallVector<Value> emitWgmma(KernelBuilder &kernel, const WgmmaStage &stage,
                             const WgmmaFactor &factor, Value descriptorBase,
                             const WgmmaRows &rows, Type element);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_WGMMAINSTRUCTION_H
