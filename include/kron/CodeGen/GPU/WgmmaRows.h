//===- WgmmaRows.h - Rows of a block for wgmma ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thread has two rows of a block of f32, and of these the positions on K that
// its lane gives operands of: those of `t`, the lane's number among four.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_WGMMAROWS_H
#define KRON_CODEGEN_GPU_WGMMAROWS_H

#include "kron/CodeGen/GPU/WgmmaInstruction.h"
#include <array>

namespace mlir::kron {

/// Of each row, where its positions 4t and 4t + 16 are, in shared memory.
using WgmmaQuadBases = std::array<std::array<Value, 2>, 2>;

/// Innermost axis: 4 successive elements of two rows per 16 of `positions`.
/// Those from `sizeK` on are 0: there may be anything, and 0 times anything
/// need not be 0.
SmallVector<Value> loadWgmmaQuads(KernelBuilder &k, Int t,
                                  const WgmmaQuadBases &bases,
                                  int64_t positions, int64_t sizeK);

/// Another axis: pairs of rows, two successive positions per 8, of which the
/// first ones are at `base`, and the next ones `pitchBytes` further.
SmallVector<Value> loadWgmmaPairs(KernelBuilder &k, Int t, Value base,
                                  int64_t pitchBytes, int64_t positions,
                                  int64_t sizeK);

/// f32 as the matrix unit takes it.
WgmmaRows convertWgmmaRows(KernelBuilder &k, WgmmaKind kind,
                           ArrayRef<Value> values);

/// An infinity or NaN among the operands makes the three products infinities of
/// either sign or NaN. If there is one among the sums of this warp, of rows that
/// exist (null: they do), they are computed again as they would be without a
/// split, from the elements (number of the row, position on K).
SmallVector<Value>
guardWgmmaSums(KernelBuilder &k, const WgmmaOperand &operand,
               const WgmmaFactor &factor, Int t, ArrayRef<Value> sums,
               function_ref<Value(unsigned)> exists,
               function_ref<Value(unsigned, Int)> loadElement);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMAROWS_H
