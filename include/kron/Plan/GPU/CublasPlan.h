//===- CublasPlan.h - Dense products by cuBLAS ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_CUBLASPLAN_H
#define KRON_PLAN_GPU_CUBLASPLAN_H

#include "kron/Plan/GPU/Problem.h"
#include <variant>

namespace mlir::kron {

/// The axes of a fused region with one factor. Several that serve the same
/// purpose, outermost first, are walked as one: each begins where the next one
/// ends, as far as types tell.
struct CublasPlan {
  int64_t sizeK = -1;
  SmallVector<int64_t, 2> rows, batch;
};

/// Whether cuBLAS has products of such elements.
bool isCublasElement(Type element);

/// Whether it adds products of such elements to an array before it rounds them.
/// Those of 16 bits it rounds first for most shapes (cuBLAS 13, an H200), also
/// where its reductions are told to keep their precision.
bool addsWithCublas(Type element);

/// `fused` as a matrix product that cuBLAS takes, as far as types tell: a
/// single factor, rows along axes that are one in memory, and products beside
/// each other along at most one other such group of axes. Why it is none
/// otherwise.
std::variant<CublasPlan, std::string> readCublasPlan(FusedOp fused);

/// Strides of `value` if it is a memref.
std::optional<SmallVector<int64_t>> getMemRefStrides(Value value);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_CUBLASPLAN_H
