//===- ThreadForms.h - Work of a thread where no plan says it ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How threads of a CPU share what is left of linalg, kron.quantize and
// functions of pairs: sizes that were measured on a Zen 5 and an Emerald
// Rapids, for every CPU, and that no plan has. Planners choose by those of
// ThreadRates.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_THREADFORMS_H
#define KRON_MACHINE_THREADFORMS_H

#include <cstdint>

namespace mlir::kron {

struct ThreadForms {
  /// Multiply-adds that are worth a thread: of fused regions, what planners
  /// write for `thread_fmas`.
  int64_t leastFmas = 1 << 16;
  /// Elements that are worth a thread: memory delivers them in about the time
  /// of as many multiply-adds as are.
  int64_t leastElements = 1 << 13;
  /// Linalg: iterations of which each of some threads gets one, and the fewest
  /// of a loop that neighbours in memory belong to, two lines of the cache.
  int64_t longLoop = 16, leastNeighbours = 32;
  /// kron.quantize: bytes of input in a block of columns, half of a small
  /// second-level cache, and its columns: shorter ones are slow to reach, and
  /// longer ones few. Fewer rows than that, of more elements, are shared out
  /// themselves.
  int64_t quantizeBlockBytes = 1 << 19;
  int64_t quantizeLeastColumns = 256, quantizeMostColumns = 1024;
  int64_t quantizeSkinnyM = 8, quantizeLargeRow = 1 << 16;
};
inline constexpr ThreadForms kThreadForms;

} // namespace mlir::kron

#endif // KRON_MACHINE_THREADFORMS_H
