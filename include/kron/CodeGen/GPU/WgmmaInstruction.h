//===- WgmmaInstruction.h - Series of wgmma instructions --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The factor is the B operand: it lies in shared memory without a swizzle as
// core matrices of 8 columns x 16 bytes along K, those of one position on K
// next to each other. The data is the A operand, in registers.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_WGMMAINSTRUCTION_H
#define KRON_CODEGEN_GPU_WGMMAINSTRUCTION_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Plan/GPU/WgmmaOperand.h"

namespace mlir::kron {

/// A factor as it was prepared in shared memory.
struct WgmmaFactor {
  /// Offset in shared memory. WgmmaKind::Split: the factor in TF32, then what
  /// that cuts off in bf16, then the factor in bf16.
  int64_t offset = 0;
};

/// A block's rows in registers, 4 i32 per instruction. WgmmaKind::Split: `main`
/// is TF32; `half` is the same in bf16 and `residual` what TF32 cuts off, in
/// bf16.
struct WgmmaRows {
  SmallVector<Value> main, half, residual;
};

/// A part of K.
struct WgmmaSeries {
  int64_t firstK = 0;
  /// What the products are added to; empty: 0.
  SmallVector<Value> sums;
  /// WgmmaKind::Split: which products. The matrix unit cuts off when it adds,
  /// so that the small ones must not be added to a large sum.
  bool addsCross = true, addsMain = true;
  /// Series that need not be done after this one; -1: no wait. Sums must not be
  /// touched before their series is done.
  int64_t pending = 0;
};

/// Which position on K and which column of the factor the matrix unit gets in
/// `slot`.
Int getWgmmaK(KernelBuilder &kernel, const WgmmaOperand &operand, Int slot);
Int getWgmmaResult(KernelBuilder &kernel, const WgmmaOperand &operand,
                   Int slot);
/// The inverse of getWgmmaK for TF32, and the slot of bf16 beside TF32.
Int getWgmmaSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                 Int positionK);
Int getWgmmaHalfSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                     Int positionK);

/// Orders what this thread has written before what the matrix unit reads behind
/// a barrier.
void fenceProxy(KernelBuilder &kernel);

/// Builds the loop in which the CTA's threads copy the factor at `source`, from
/// column `firstResult` on, to shared memory, padded with zeros.
void emitWgmmaFactor(KernelBuilder &kernel, const WgmmaOperand &operand,
                     const WgmmaFactor &factor, const StepFactor &source,
                     Int firstResult, Type element, int64_t threads);

/// Builds a block's products: paddedResults / 2 f32, as wgmma leaves them in
/// the thread's registers. `descriptorBase` is the address of shared memory in
/// units of 16 bytes, an i64.
SmallVector<Value> emitWgmma(KernelBuilder &kernel, const WgmmaOperand &operand,
                             const WgmmaFactor &factor, Value descriptorBase,
                             const WgmmaRows &rows, Type element,
                             const WgmmaSeries &series);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMAINSTRUCTION_H
