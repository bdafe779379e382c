//===- FakeCublas.h - A cuBLAS for tests ------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A library with the name of the real one and the functions that the runtime
// uses of it. It computes nothing, and remembers what it was asked for.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_FAKECUBLAS_H
#define KRON_TEST_UNIT_FAKECUBLAS_H

#include <cstddef>
#include <vector>

namespace kron::test {

struct FakeGemm {
  int transposes[2];
  int rows, columns, sizeK;
  /// Real and imaginary parts, those of real types 0.
  double alpha[2], beta[2];
  const void *a, *b;
  void *c;
  int leading[3];
  long long batchStrides[3];
  int batch, element, compute;
  void *stream, *workspace;
  size_t workspaceBytes;
};

struct FakeCublas {
  std::vector<FakeGemm> gemms;
  int handles = 0;
  /// What functions return from now on.
  int createFailure = 0, gemmFailure = 0;
  void *stream = nullptr, *workspace = nullptr;
  size_t workspaceBytes = 0;
};

FakeCublas &fakeCublas();

} // namespace kron::test

#endif // KRON_TEST_UNIT_FAKECUBLAS_H
