//===- FakeCublas.cpp - A cuBLAS for tests ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeCublas.h"

using namespace kron::test;

FakeCublas &kron::test::fakeCublas() {
  static FakeCublas state;
  return state;
}

extern "C" {

int cublasCreate_v2(void **handle) {
  static int handles[8];
  if (int failure = fakeCublas().createFailure)
    return failure;
  *handle = &handles[fakeCublas().handles++];
  return 0;
}

int cublasGetProperty(int part, int *value) {
  const int version[] = {13, 1, 0};
  *value = version[part];
  return 0;
}

int cublasSetMathMode(void *, int) { return 0; }

int cublasSetStream_v2(void *, void *stream) {
  fakeCublas().stream = stream;
  // As the real one does.
  fakeCublas().workspace = nullptr;
  return 0;
}

int cublasSetWorkspace_v2(void *, void *workspace, size_t bytes) {
  fakeCublas().workspace = workspace;
  fakeCublas().workspaceBytes = bytes;
  return 0;
}

int cublasGemmStridedBatchedEx(void *, int transposeA, int transposeB, int rows,
                               int columns, int sizeK, const void *alpha,
                               const void *a, int element, int leadingA,
                               long long strideA, const void *b, int,
                               int leadingB, long long strideB,
                               const void *beta, void *c, int, int leadingC,
                               long long strideC, int batch, int compute, int) {
  FakeCublas &state = fakeCublas();
  if (state.gemmFailure)
    return state.gemmFailure;
  constexpr int computesF64 = 70, complexF32 = 4, complexF64 = 5;
  auto read = [&](const void *scale, int part) -> double {
    if (part && element != complexF32 && element != complexF64)
      return 0;
    return compute == computesF64 ? static_cast<const double *>(scale)[part]
                                  : static_cast<const float *>(scale)[part];
  };
  state.gemms.push_back({{transposeA, transposeB},
                         rows,
                         columns,
                         sizeK,
                         {read(alpha, 0), read(alpha, 1)},
                         {read(beta, 0), read(beta, 1)},
                         a,
                         b,
                         c,
                         {leadingA, leadingB, leadingC},
                         {strideA, strideB, strideC},
                         batch,
                         element,
                         compute,
                         state.stream,
                         state.workspace,
                         state.workspaceBytes});
  return 0;
}

} // extern "C"
