//===- GPUForms.h - Sizes of kernels that have no plan ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kernels beside the products: copies that transpose, and what is left of
// linalg. They have one form each, of sizes that were measured on an H200, and
// nothing to choose. Planners choose by those of GPUTiles.h and GPURates.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_GPUFORMS_H
#define KRON_MACHINE_GPUFORMS_H

#include <cstdint>

namespace mlir::kron {

struct GPUForms {
  /// Copies that bring two axes in the other order: threads of a CTA, CTAs of
  /// an SM, bytes of a tile in shared memory and of accesses of a thread that
  /// are under way together, and units whose rows follow each other.
  int64_t interleaveThreads = 256, interleaveCtasPerSM = 3;
  int64_t interleaveTileBytes = 32 * 1024, interleaveBytesUnderWay = 128;
  int64_t interleaveUnits = 8;
  /// Copies that transpose: threads of a CTA, and of an SM.
  int64_t transposeThreads = 256, transposeThreadsPerSM = 1536;
  /// Copies to and from padded rows: threads of a CTA, CTAs of an SM, and bytes
  /// of a thread that are under way together.
  int64_t padThreads = 256, padCtasPerSM = 4, padBytesUnderWay = 64;
  /// What is left of linalg: threads of a CTA, and CTAs of an SM.
  int64_t linalgThreads = 256, linalgCtasPerSM = 8;
};
inline constexpr GPUForms kGPUForms;

} // namespace mlir::kron

#endif // KRON_MACHINE_GPUFORMS_H
