//===- QuantizedRows.h - Where rows of 8 bits go ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The results of a kron.quantize in a kernel that computes its input, too.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_QUANTIZEDROWS_H
#define KRON_CODEGEN_GPU_QUANTIZEDROWS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

struct QuantizedRows {
  /// The type of the results.
  Type byte;
  Value bytes, scales;
  /// From row to row.
  Int bytesStride, scalesStride;
  /// Whether words can be stored at once.
  Value isAligned;

  /// The first byte of row number `row`.
  Value locate(KernelBuilder &k, Int row) const;
  void storeScale(KernelBuilder &k, Int row, Value scale) const;
  /// Stores words of four bytes each, one (i32) or a vector of them, one by one
  /// where they are not aligned.
  void store(KernelBuilder &k, Value words, Value to) const;
};

/// The number of rows of `op`, or `known` if its type says it.
Int getQuantizedRowCount(Emitter &host, QuantizeOp op, Int known);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_QUANTIZEDROWS_H
