//===- CudaArena.cpp - Division of a launch's workspace ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CudaArena.h"

#include <algorithm>

using namespace kron::detail;

int64_t CudaArena::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - alignment)
    return -1;
  // Every piece has an address of its own, also an empty one.
  bytes = std::max((bytes + alignment - 1) & -alignment, alignment);
  int64_t begin = 0;
  int index = 0;
  if (numPieces == maxPieces) {
    begin = peak;
    index = maxPieces;
  }
  for (; index < numPieces; ++index) {
    if (bytes <= pieces[index].begin - begin)
      break;
    begin = pieces[index].end;
  }
  int64_t end;
  if (__builtin_add_overflow(begin, bytes, &end))
    return -1;
  peak = std::max(peak, end);
  if (numPieces < maxPieces) {
    std::copy_backward(pieces + index, pieces + numPieces,
                       pieces + numPieces + 1);
    pieces[index] = {begin, end};
    ++numPieces;
  }
  return begin;
}

void CudaArena::release(int64_t offset) {
  Piece *end = pieces + numPieces;
  Piece *piece = std::find_if(
      pieces, end, [&](const Piece &p) { return p.begin == offset; });
  if (piece == end)
    return;
  std::copy(piece + 1, end, piece);
  --numPieces;
}
