//===- AmxMapping.h - Mode products in matrix tiles -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A step whose factor is bf16 can become products of matrix tiles (AMX):
//
//   rows     the contracted axis is innermost: rows of X are rows of A, as they
//            lie if they are bf16; the factor is B
//   columns  the innermost axis is not contracted: it is the columns of B, to
//            which rows of X are interleaved in pairs; the factor is A
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_AMXMAPPING_H
#define KRON_PLAN_CPU_AMXMAPPING_H

#include "kron/Plan/CPU/LoopNest.h"

namespace mlir::kron {

/// Rows of A and results, columns of B and results, and k, of one tile.
inline constexpr int64_t kAmxRows = 16;
inline constexpr int64_t kAmxK = 32;
inline constexpr int64_t kAmxTileBytes = 1024;
/// Tiles of a block along rows and columns, and what that takes of X, or of
/// results, at a time.
inline constexpr int64_t kAmxBlockTiles = 2;
inline constexpr int64_t kAmxBlockSize = kAmxRows * kAmxBlockTiles;
/// Bytes of a value of 16 bits.
inline constexpr int64_t kBF16Bytes = 2;

enum class AmxMapping { None, Rows, Columns };

/// How `step` becomes products of tiles that run over at least `positions`
/// positions; None if it cannot. Does not ask whether the processor has tiles.
AmxMapping getAmxMapping(const StepLayout &step, int64_t positions = 1);

/// Takes the axis of X that tiles run over out of `nest`.
LoopAxis takeAmxData(AmxMapping mapping, LoopNest &nest);

/// Whether rows of A can be taken from `sizeK` elements of type `element`,
/// `strideK` apart: those that are contiguous along k, or have elements in
/// pairs, a known stride apart, of bf16.
bool canTakeAmxRows(Int strideK, int64_t sizeK, Type element);

/// Bytes from one row to the next: rows that lie `rowBytes` apart, unless these
/// meet in few sets of the cache.
int64_t avoidAlias(int64_t rowBytes);

/// Size K of `step` in whole tiles.
int64_t getPaddedK(const StepLayout &step);

/// Bytes of all of k for one row (A), and for the columns of a tile (B).
int64_t getRowBytes(const StepLayout &step);
int64_t getPanelBytes(const StepLayout &step);

/// Bytes of the tiles of a block of X, in two parts where that is f32 and not
/// `isExact`: all values of it are bf16.
int64_t getAmxBlockBytes(const StepLayout &step, AmxMapping mapping,
                         bool isExact);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_AMXMAPPING_H
