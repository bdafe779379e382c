//===- WgmmaOperand.h - Factors as wgmma takes them -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_WGMMAOPERAND_H
#define KRON_PLAN_GPU_WGMMAOPERAND_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace mlir::kron {

/// Bytes of a factor that a thread loads before it stores the first.
inline constexpr int64_t kWgmmaFactorBytes = 128;

/// How products are computed.
enum class WgmmaKind {
  /// f32 as the sum of a TF32 value and a residual: the product of the TF32
  /// values, and the products with the residuals in bf16. These are small
  /// enough for bf16 to lose no more than f32 does.
  Split,
  /// f32 rounded to TF32.
  TF32,
  /// f16 or bf16 as they are.
  Half
};

/// The factor of a product.
struct WgmmaOperand {
  WgmmaKind kind = WgmmaKind::Split;
  /// Rows and columns of the factor, and what a CTA takes of them, padded.
  int64_t sizeK = 1, sizeN = 1;
  int64_t paddedK = 1, paddedResults = 1;
  /// Whether the contracted axis is the innermost one.
  bool innermost = false;
  /// Bytes of one copy of the factor in shared memory.
  int64_t factorBytes = 0;

  int64_t getNumCopies() const { return kind == WgmmaKind::Split ? 2 : 1; }
  /// K of one instruction.
  int64_t getStep() const { return kind == WgmmaKind::Half ? 16 : 8; }

  /// Pads what a CTA takes: all rows, and `columns` of the columns.
  void pad(int64_t columns) {
    // Innermost, a thread has four neighbours of 16 at a time; bf16 takes 16.
    bool isWide = innermost || kind == WgmmaKind::Split;
    paddedK = llvm::alignTo(sizeK, isWide ? 16 : getStep());
    paddedResults = llvm::alignTo(columns, innermost ? 16 : 8);
    factorBytes = paddedK * paddedResults * (kind == WgmmaKind::Half ? 2 : 4);
  }
};

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_WGMMAOPERAND_H
