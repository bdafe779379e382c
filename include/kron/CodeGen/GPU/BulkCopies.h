//===- BulkCopies.h - Copies whose bytes a barrier counts -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A barrier in shared memory counts arrivals, and bytes of copies that one
// thread starts; phase after phase is complete once all have come. Threads wait
// for a phase by its parity: for that of a barrier that has none, the phase
// before the first one counts as complete.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_BULKCOPIES_H
#define KRON_CODEGEN_GPU_BULKCOPIES_H

#include "kron/CodeGen/GPU/KernelBuilder.h"

namespace mlir::kron {

/// Bytes of a barrier.
inline constexpr int64_t kPhaseBytes = 8;

/// Makes the barrier at `place`, a byte offset in shared memory, one of
/// `arrivals` in each phase. One thread does that.
void startPhases(KernelBuilder &kernel, Int place, int64_t arrivals);

/// Makes barriers that this thread has made visible to copies.
void fencePhases(KernelBuilder &kernel);

/// Arrives.
void arrive(KernelBuilder &kernel, Int place);

/// Arrives, and adds `bytes` to those that the phase waits for.
void arriveForBytes(KernelBuilder &kernel, Int place, Int bytes);

/// Waits for the end of the phase of parity `parity`, 0 of the first one.
void waitForPhase(KernelBuilder &kernel, Int place, Int parity);

/// Starts to copy `bytes` bytes, a multiple of 16, from global memory to the
/// byte offset `to` of shared memory, both multiples of 16. The phase of the
/// barrier at `place` waits for them.
void copyBulk(KernelBuilder &kernel, Int to, Value from, int64_t bytes,
              Int place);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_BULKCOPIES_H
