//===- ScalarOps.h - Arithmetic of one element in a kernel ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SCALAROPS_H
#define KRON_CODEGEN_GPU_SCALAROPS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"

namespace mlir::kron {

/// A value: one real number, or a real and an imaginary part.
struct Scalar {
  Value re, im;
};

/// alpha or beta inside a kernel; neither part is set where it is 1 (alpha) or
/// 0 (beta).
struct KernelScale {
  std::optional<Scalar> value;
  /// Whether it may turn out to be 0 at run time.
  bool isDynamic = false;
};

/// Builds arithmetic on accumulators: f32 for f16 and bf16, the element type
/// itself else. Integers wrap; floats use fused multiply-adds.
class ScalarOps {
public:
  ScalarOps(KernelBuilder &kernel, Type accumulator)
      : kernel(kernel), accumulator(accumulator) {}

  Scalar zero();
  /// a * b + c.
  Scalar fma(const Scalar &a, const Scalar &b, const Scalar &c);
  Scalar mul(const Scalar &a, const Scalar &b);
  Scalar add(const Scalar &a, const Scalar &b);
  Scalar conjugate(const Scalar &value);
  Scalar select(Value condition, const Scalar &lhs, const Scalar &rhs);
  Value isZero(const Scalar &value);

  /// Loads an element of type `element` as an accumulator.
  Scalar load(Type element, Value pointer, CacheHint hint = CacheHint::None);
  /// Loads `count` accumulators that lie next to each other, as wide as the
  /// pointer's alignment to `count` of them allows.
  SmallVector<Scalar> loadMany(int64_t count, Value pointer);
  void store(const Scalar &value, Type element, Value pointer,
             CacheHint hint = CacheHint::None);
  /// Stores numbers that are not complex side by side, by one access.
  void storeMany(ArrayRef<Scalar> values, Type element, Value pointer,
                 CacheHint hint = CacheHint::None);

  /// Takes a scale of the host into the kernel; not the constant 1 of alpha or
  /// 0 of beta (`neutral`).
  KernelScale enter(const Scale &scale, bool isNeutral);
  /// alpha * value + beta * addend, with the BLAS rules for zeros: `addend` is
  /// only built, and runs, if beta is not 0.
  Scalar scaledSum(const KernelScale &alpha, const KernelScale &beta,
                   const Scalar &value, function_ref<Scalar()> addend);
  /// The same of several values, whose addends are built together.
  SmallVector<Scalar> scaledSums(const KernelScale &alpha,
                                 const KernelScale &beta,
                                 ArrayRef<Scalar> values,
                                 function_ref<SmallVector<Scalar>()> addends);

private:
  bool isComplex() const { return isa<ComplexType>(accumulator); }
  bool isInteger() const { return accumulator.isInteger(); }
  Value multiplyAdd(Value a, Value b, Value c);
  Value multiply(Value a, Value b);
  Value negate(Value value);

  KernelBuilder &kernel;
  Type accumulator;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SCALAROPS_H
