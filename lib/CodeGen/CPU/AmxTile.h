//===- AmxTile.h - Matrix tiles of the processor ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// AMX: one instruction adds to a tile of 16 x 16 f32 values the product of
//
//   A   16 rows of 32 bf16, along k
//   B   16 rows of 16 pairs of bf16, a pair along k, a row along the columns
//
// which is what sixteen 512-bit multiply-adds of f32 do in 16 steps of k,
// twice. There are eight tile registers: a block of 2 x 2 results takes four,
// so that every tile of A and B that is loaded is used twice.
//
// Tiles are numbered by hand: LLVM's allocation of them, which configures the
// tiles as well, is not used. All have their full size; what lies beyond a
// matrix is zero in memory, or comes out in results that are not stored.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_AMXTILE_H
#define KRON_LIB_CODEGEN_CPU_AMXTILE_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Plan/CPU/AmxMapping.h"

namespace mlir::kron {

/// Tiles of A or B in memory, in bytes from `base`.
struct AmxOperand {
  Value base;
  /// From one row of a tile to the next.
  Int rowBytes;
  /// From one tile to the next along rows (A) or columns (B), and along k.
  Int tileBytes;
  Int bytesK;
  /// Where the tiles lie that are added to these, as far as each value is a sum
  /// of two; 0 if it is one bf16.
  int64_t lowBytes = 0;
};

/// Results of `rows` x `columns` tiles, summed over `sizeK` tiles of k. At most
/// one operand may have low parts.
struct AmxBlock {
  int64_t rows = 1, columns = 1, sizeK = 1;
  AmxOperand a, b;
};

/// Sets up all tile registers of this thread, which must be released.
void emitAmxConfiguration(Emitter &emitter);
void emitAmxRelease(Emitter &emitter);

/// Builds the block and stores its results, f32, from `results` on with
/// `rowBytes` from one row to the next.
void emitAmxBlock(Emitter &emitter, const AmxBlock &block, Value results,
                  Int rowBytes);

/// A matrix that tiles are filled from: element (index, k) with `index` along
/// the rows of A or the columns of B.
struct AmxMatrix {
  Value base;
  Int indexStride, strideK;
  int64_t sizeK = 0;
  /// bf16, or f32, which takes the two parts of `lowBytes` to hold; else the
  /// high one is all there is.
  Type element;

  int64_t getKTiles() const { return llvm::divideCeil(sizeK, kAmxK); }
  /// `sizeK`, filled up to whole tiles.
  int64_t getPaddedK() const { return getKTiles() * kAmxK; }
};

/// Copies `count` rows of A (`canTakeAmxRows`) to rows of `rowBytes` bytes,
/// filled up with zeros along k. `lowBytes` as of an operand; 0 if elements are
/// not contiguous.
void emitAmxRows(Emitter &emitter, const AmxMatrix &matrix, Int count,
                 Value target, int64_t rowBytes, int64_t lowBytes);

/// Copies up to a tile of columns of B, `count` of them, contiguous along the
/// columns, to pairs of k: rows of 64 bytes, all of k.
void emitAmxPairs(Emitter &emitter, const AmxMatrix &matrix, Int count,
                  Value target, int64_t lowBytes);

/// Memory of the function that is built, aligned to cache lines.
Value allocateLines(Emitter &emitter, int64_t bytes);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_AMXTILE_H
