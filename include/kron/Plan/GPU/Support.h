//===- Support.h - What GPU kernels take ------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SUPPORT_H
#define KRON_PLAN_GPU_SUPPORT_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>

namespace mlir::kron {

/// Whether all that the epilogue of `op` does is to add a bias, or a residual,
/// to the product of floats on memrefs: then a kernel takes it as Z.
bool isEpilogueAddend(KsmmOp op);

/// Why no fused GPU kernel takes `op` (a kron operation that computes), or
/// nothing if one does: factors of static shape and of the arrays' element
/// type, with something to multiply.
std::optional<std::string> getGPUUnsupportedReason(Operation *op);

/// Whether the input, the factors and the result of `fused` are of one element
/// type: kernels without conversions take nothing else.
bool hasOneElementType(FusedOp fused);

/// The machine that an option `chip` names; an error at `op` if there is none.
FailureOr<GPUMachine> getGPUMachine(Operation *op, StringRef chip);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SUPPORT_H
