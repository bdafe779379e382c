//===- Prefetcher.h - Memory while a register tile is computed --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a register tile does for others: it prefetches lines of the next window,
// and stores results of the last one non-temporally.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PREFETCHER_H
#define KRON_LIB_CODEGEN_CPU_PREFETCHER_H

#include "kron/CodeGen/CPU/RegisterTile.h"

namespace mlir::kron {

/// The lines that a register tile prefetches, one after the other. All at once
/// they would take every request that the processor can have in flight, and
/// loads that miss the first-level cache would wait.
class Prefetcher {
public:
  /// Of `stream`, as many as `fmas` multiply-adds have time for; the stream
  /// moves on.
  Prefetcher(Emitter &emitter, const PrefetchStream &stream, int64_t fmas);

  /// Shares out what is left among the next `count` calls of `emitShare`.
  void start(int64_t count);
  /// Prefetches what a loop of `turns` turns cannot share out.
  void prepareTurns(int64_t turns);
  /// The same as `start` in the body of the loop, in turn number `turn`.
  void startTurn(int64_t count, Int turn, int64_t turns);
  void finishTurns() { next = lines.size(); }
  void emitShare();
  /// Prefetches what is left.
  void emitRemaining();

private:
  struct Line {
    Value start;
    int64_t offset;
  };

  /// Appends the lines from `pointer` on that follow each other, the first one
  /// `begin` bytes further on, the last one within `size` bytes.
  void append(const PrefetchStream &stream, Value pointer, int64_t size,
              int64_t begin);
  /// Appends the next `size` bytes of a segment at `pointer`; returns where the next
  /// register tile goes on.
  Value appendPart(const PrefetchStream &stream, Value pointer, int64_t size);
  /// The same of whole segments that take `share` bytes together, or of one.
  Value appendSegments(const PrefetchStream &stream, Value pointer,
                       double share);

  int64_t countLines() const {
    return static_cast<int64_t>(lines.size()) - next;
  }
  void emit(const Line &line);
  /// Lines of every array that each of `turns` turns of a loop can prefetch.
  int64_t countKept(int64_t turns) const;

  Emitter &emitter;
  SmallVector<Line> lines;
  /// Arrays whose lines take turns; 0: there is nothing to prefetch.
  int64_t numStarts = 0;
  /// Lines of an array after which they go on elsewhere, so many bytes from
  /// where these began; 0: they follow each other.
  int64_t linesOfSegment = 0;
  Int segmentStride = 0;
  /// The next line, and what is shared out among `numParts`: `shared` lines
  /// from `first` on, `offset` bytes further on.
  int64_t next = 0, first = 0, shared = 0, numParts = 1, part = 0;
  Int offset = 0;
};

/// Stores results of another tile for which `fmas` multiply-adds have time.
void emitDrain(Emitter &emitter, const DrainStream &drain, int64_t fmas);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PREFETCHER_H
