//===- Registers.h - What registers of a CPU hold ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What plans and code have to know of registers, which follows from the
// instruction set alone.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_REGISTERS_H
#define KRON_PLAN_CPU_REGISTERS_H

#include <cstdint>

namespace mlir::kron {

/// Bytes of a cache line.
inline constexpr int64_t kLineBytes = 64;

/// Fibres of up to so many elements that share a vector stay as they lie:
/// longer ones would need too many registers that say how elements are
/// repeated, unless those are taken from blocks of 128 bits (`kept_fibres` of a
/// plan).
inline constexpr int64_t kMostKeptElements = 7;

/// Vector registers without AVX-512, which has 32.
inline constexpr int64_t kFewRegisters = 16;

/// Accumulators of a register tile, at most: of 32 registers with AVX-512, else
/// 16, some must hold A and B.
inline int64_t getMaxAccumulators(int64_t vectorBits) {
  return vectorBits == 512 ? 26 : 12;
}

/// Rows of a register tile, at most.
inline constexpr int64_t kMaxTileRows = 26;

/// Number of rows and vectors to keep in registers.
struct TileShape {
  int64_t rows;
  int64_t vectors;
};

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_REGISTERS_H
