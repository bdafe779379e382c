//===- SharedMemory.h - Whether a tile fits an SM ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_SHAREDMEMORY_H
#define KRON_PLAN_GPU_SHAREDMEMORY_H

#include "kron/Machine/GPUMachine.h"
#include <algorithm>
#include <optional>
#include <string>

namespace mlir::kron {

/// Why `machine` has no place for `ctasPerSM` CTAs per SM that take `bytes` of
/// shared memory each, or nothing if it has.
inline std::optional<std::string>
getSharedMemoryReason(int64_t bytes, int64_t ctasPerSM,
                      const GPUMachine &machine) {
  int64_t limit = std::max<int64_t>(machine.getSharedBytes(ctasPerSM), 0);
  if (bytes <= limit)
    return std::nullopt;
  return "a tile of " + std::to_string(bytes) + " bytes does not fit in the " +
         std::to_string(limit) + " bytes of shared memory";
}

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_SHAREDMEMORY_H
