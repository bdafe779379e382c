//===- CudaArena.h - Division of a launch's workspace -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDAARENA_H
#define KRON_LIB_RUNTIME_CUDAARENA_H

#include <cstdint>

namespace kron::detail {

/// Hands out pieces of a range of memory by their offsets, first fit. The same
/// calls give the same offsets, so one run measures what the next one needs.
class CudaArena {
public:
  static constexpr int64_t alignment = 256;

  /// Offset of a new piece; -1 if the sum exceeds 2^63 bytes.
  int64_t allocate(int64_t bytes);

  /// Gives the piece at `offset` back. Ignores what is no piece.
  void release(int64_t offset);

  /// End of the last piece that was ever in use.
  int64_t getPeak() const { return peak; }

private:
  struct Piece {
    int64_t begin, end;
  };
  /// Kernels have a handful of intermediates; further pieces go behind all
  /// others and are not reused.
  static constexpr int maxPieces = 32;

  /// Sorted by offset.
  Piece pieces[maxPieces];
  int numPieces = 0;
  int64_t peak = 0;
};

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDAARENA_H
