//===- MmaProducts.h - Products of one warp by mma.sync ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_MMAPRODUCTS_H
#define KRON_CODEGEN_GPU_MMAPRODUCTS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Plan/GPU/MmaMath.h"

namespace mlir::kron {

/// A value as operand of a matrix instruction: an f64, or the bits of a TF32
/// and, if products are split, of the residual.
struct MmaOperand {
  Value high, low;
};

/// Operands and results of m16n8k8. Lane (g, t) = (lane / 4, lane % 4) holds
/// - of A, at (m, k): (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4);
/// - of B, at (k, n): (t, g), (t + 4, g);
/// - of C, at (m, n): (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
using MmaA = std::array<MmaOperand, 4>;
using MmaB = std::array<MmaOperand, 2>;
using MmaC = std::array<Value, 4>;

/// Builds the products of a kernel.
class MmaProducts {
public:
  MmaProducts(KernelBuilder &kernel, MmaMath math, bool wideF64)
      : kernel(kernel), math(math), wideF64(wideF64) {}

  bool isF64() const { return math == MmaMath::F64; }

  /// The operand for `value`, of the type that is computed with. `exact`: it is
  /// known to be a TF32.
  MmaOperand getOperand(Value value, bool exact);

  /// The value 0 that sums start from.
  Value getZero();
  MmaC getZeros();

  /// A sum and what is added to it.
  struct Term {
    MmaC *sum;
    const MmaA *a;
    const MmaB *b;
  };

  /// sum += a * b for all terms, the small products of split values first. The
  /// sums are different ones, so that no instruction waits for the one before.
  void multiply(ArrayRef<Term> terms);

  /// Whether, in any lane of the warp, one of `sums` is infinite or NaN.
  Value isAnyNotFinite(ArrayRef<const MmaC *> sums);

private:
  void multiply(MmaC &sum, ArrayRef<Value> a, ArrayRef<Value> b);

  KernelBuilder &kernel;
  MmaMath math;
  bool wideF64;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_MMAPRODUCTS_H
