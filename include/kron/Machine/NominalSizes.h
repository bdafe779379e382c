//===- NominalSizes.h - What unknown sizes are taken for --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_NOMINALSIZES_H
#define KRON_MACHINE_NOMINALSIZES_H

#include <cstdint>

namespace mlir::kron {

/// Rows, and elements of an array, that costs are counted for on a GPU where a
/// size is known only at launch: enough to keep it busy.
inline constexpr int64_t kNominalRows = 16384;
inline constexpr double kNominalElements = 1 << 26;
/// The same on one thread of a CPU: enough for what begins and ends to count
/// little.
inline constexpr int64_t kNominalCPURows = 1024;
/// Bytes of the last cache of a CPU, unless it says that it has more.
inline constexpr long kNominalCacheBytes = 32 << 20;

} // namespace mlir::kron

#endif // KRON_MACHINE_NOMINALSIZES_H
