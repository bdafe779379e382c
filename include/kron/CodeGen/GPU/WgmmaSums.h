//===- WgmmaSums.h - Sums of warpgroup instructions -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sums of a warp's 16 rows lie in registers as after mma.sync.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_WGMMASUMS_H
#define KRON_CODEGEN_GPU_WGMMASUMS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/MmaProducts.h"
#include "kron/CodeGen/GPU/WgmmaInstruction.h"

namespace mlir::kron {

/// "{$first,...}", `count` operands of inline PTX.
std::string listOperands(int64_t first, int64_t count);

/// Runs `text`, which adds to the sums: they are its first operands, four for
/// each, twice; then `operands` of `constraint` follow.
void addToSums(KernelBuilder &kernel, MutableArrayRef<MmaC> sums,
               StringRef text, ValueRange operands, StringRef constraint);

/// Waits for all products; what becomes of the sums comes after.
void waitForSums(KernelBuilder &kernel, MutableArrayRef<MmaC> sums);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_WGMMASUMS_H
