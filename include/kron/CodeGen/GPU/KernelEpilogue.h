//===- KernelEpilogue.h - Epilogue of a kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// scale * activation(v + bias) + residual on accumulators, before they are
// rounded and stored. Where the arrays' elements are is the emitter's business.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_KERNELEPILOGUE_H
#define KRON_CODEGEN_GPU_KERNELEPILOGUE_H

#include "kron/CodeGen/GPU/ScalarOps.h"

namespace mlir::kron {

class KernelEpilogue {
public:
  KernelEpilogue(KernelBuilder &kernel, ScalarOps &ops) : k(kernel), ops(ops) {}

  /// Takes the epilogue of a fused region whose results are of type `element`,
  /// if it has one.
  void enter(const std::optional<FusedEpilogue> &host, Type element);

  /// What is stored of `value`; the other values are only built if they are
  /// used.
  Scalar apply(Scalar value, function_ref<Scalar()> bias,
               function_ref<Scalar()> residual);

  bool hasBias = false, hasResidual = false;

private:
  Value activate(Value value);
  Value emitGelu(Value value);
  Value emitSilu(Value value);

  KernelBuilder &k;
  ScalarOps &ops;
  Activation activation = Activation::Identity;
  KernelScale scale;
  /// Whether results are rounded to so few digits that functions need not be
  /// exact to f32.
  bool isNarrow = false;
};

/// 2^value of f32 by the machine's instruction: to within two units in the last
/// place, and 0 where that would be subnormal.
Value emitExp2(KernelBuilder &k, Value value);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_KERNELEPILOGUE_H
