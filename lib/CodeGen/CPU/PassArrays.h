//===- PassArrays.h - What a kron.pass reads and writes ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PASSARRAYS_H
#define KRON_LIB_CODEGEN_CPU_PASSARRAYS_H

#include "kron/CodeGen/CPU/PassPlan.h"
#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/CPU/Stage.h"

namespace mlir::kron {

/// All that the pass reads and writes. It exists twice: outside of the body,
/// and inside with every value replaced by its capture.
struct PassArrays {
  SmallVector<Int> sizes;
  StageArray input, init, addend;
  /// One factor per group; products of several are multiplied out before.
  SmallVector<FactorArray> factors;
  TileScale scale;
  std::optional<PassEpilogue> epilogue;
};

/// Builds, at the emitter's position, pointers, sizes and strides of all arrays
/// of `pass`, and multiplies out the factors that `plan` joins.
PassArrays collectArrays(Emitter &emitter, RuntimeCalls &runtime, PassOp pass,
                         const PassPlan &plan);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PASSARRAYS_H
