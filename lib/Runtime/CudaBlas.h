//===- CudaBlas.h - Matrix products by cuBLAS -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// cuBLAS is neither linked nor required: a process that has it, or whose loader
// finds it, may use it. Declared here is what its ABI has kept since version
// 11.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDABLAS_H
#define KRON_LIB_RUNTIME_CUDABLAS_H

#include "CudaDevice.h"
#include "kron/Runtime/IRInterface.h"

#include <optional>

namespace kron::detail {

using CublasHandle = struct CublasContext *;

/// A product as cuBLAS takes it: matrices by columns, C = op(A) op(B).
struct CublasProduct {
  struct Matrix {
    const void *data;
    bool isTransposed, isConjugated;
    int leadingDimension;
    long long batchStride;
  };
  Matrix a, b;
  void *c;
  int cLeadingDimension;
  long long cBatchStride;
  int rows, columns, sizeK, batch;
};

/// `gemm` as cuBLAS takes it; nothing if strides, sizes, alpha or conjugation
/// are none of its. One of no elements has a batch of 0.
std::optional<CublasProduct> describeProduct(const KronCudaGemm &gemm);

/// The handle of the current context; null if there is no cuBLAS.
CublasHandle getCublasHandle(const CudaDevice &device, uint64_t contextId);

/// What cuBLAS may use of memory beside the arrays, as its documentation
/// recommends for the device.
int64_t getCublasWorkspaceBytes(const CudaDevice &device);

/// Puts `product` on `stream`. `name`: of the kernel, for messages.
KronStatus multiplyByCublas(CublasHandle handle, const CublasProduct &product,
                            const KronCudaGemm &gemm, CUstream stream,
                            void *workspace, int64_t workspaceBytes,
                            const char *name);

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDABLAS_H
