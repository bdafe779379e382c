//===- Reasons.h - Why a plan is none for a kernel --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_REASONS_H
#define KRON_PLAN_GPU_REASONS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <optional>
#include <string>

namespace mlir::kron {

/// "expects `what`, but got `found`".
std::string expects(const Twine &what, const Twine &found);
std::string expects(const Twine &what, int64_t found);

/// "expects `field` to be `what`, but got `found`".
std::string expects(StringRef field, const Twine &what, int64_t found);

/// Why `machine` has no place for `ctasPerSM` CTAs per SM that take `bytes` of
/// shared memory each, or nothing if it has.
std::optional<std::string> getSharedMemoryReason(int64_t bytes,
                                                 int64_t ctasPerSM,
                                                 const GPUMachine &machine);

/// Why an SM of `machine` does not hold `ctasPerSM` CTAs of `threads` threads,
/// or nothing if it does.
std::optional<std::string> getCtasReason(int64_t ctasPerSM, int64_t threads,
                                         const GPUMachine &machine);

/// Why no kernel of dense factors of known sizes that stores products as they
/// are takes `fused`, or nothing: empty arrays, factors of unknown sizes, an
/// epilogue, or axes that are regrouped.
std::optional<std::string> getBareReason(FusedOp fused);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_REASONS_H
