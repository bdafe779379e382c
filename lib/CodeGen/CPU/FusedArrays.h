//===- FusedArrays.h - What a kron.fused reads and writes -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_FUSEDARRAYS_H
#define KRON_LIB_CODEGEN_CPU_FUSEDARRAYS_H

#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/CPU/Step.h"
#include "kron/Plan/CPU/FusedLayout.h"

namespace mlir::kron {

/// All that the op reads and writes. It exists twice: outside of the body, and
/// inside with every value replaced by its capture.
struct FusedArrays : LayoutArrays {
  TileScale scale;
  std::optional<FusedEpilogue> epilogue;
};

/// Builds, at the emitter's position, pointers, sizes and strides of all arrays
/// of `fused`, and multiplies out the factors that `plan` joins.
FusedArrays collectArrays(Emitter &emitter, RuntimeCalls &runtime,
                          FusedOp fused, const CPUPlan &plan);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_FUSEDARRAYS_H
