//===- CPUForms.h - Sizes of a CPU kernel's code ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What follows from a plan of a CPU kernel by sizes that were measured, on Zen
// 5 and Sapphire Rapids, and that no field of the plan has. Planners choose by
// those of CPURates.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_CPUFORMS_H
#define KRON_MACHINE_CPUFORMS_H

#include <cstdint>

namespace mlir::kron {

struct CPUForms {
  /// Lines of short segments that are prefetched at once, in front of a
  /// register tile: more of them are spread over its K.
  int64_t linesAtOnce = 8;
  /// Rows with which a register tile of few vectors hides the latency of its
  /// multiply-adds, and accumulators with which any does.
  int64_t latencyRows = 6, latencyAccumulators = 8;
  /// Positions of the tiled axis for each one that the last tile takes once
  /// more, at least.
  int64_t leastSizeOfRepeated = 16;
};

inline constexpr CPUForms kCPUForms;

} // namespace mlir::kron

#endif // KRON_MACHINE_CPUFORMS_H
