//===- Support.h - What GPU kernels take ------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SUPPORT_H
#define KRON_CODEGEN_GPU_SUPPORT_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::kron {

/// Why no fused GPU kernel takes `op` (a kron operation that computes), or
/// nothing if one does: factors of static shape and of the arrays' element
/// type, with something to multiply.
std::optional<std::string> getGPUUnsupportedReason(Operation *op);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SUPPORT_H
