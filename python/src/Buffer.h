//===- Buffer.h - Arrays that other libraries export ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Memory described by DLPack or by __cuda_array_interface__, on a GPU or not,
// as something that the fast path takes.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_BUFFER_H
#define KRON_PYTHON_BUFFER_H

#include "View.h"

namespace kron::python {

struct Buffer {
  View view;
  /// Keeps the memory.
  pybind11::object owner;
};

void bindBuffer(pybind11::module_ &module);

/// A DLPack capsule of a new row-major array on the CPU, in memory of the pool
/// (Pool.h). Null, without an exception, if there is none.
PyObject *allocateCapsule(KronType type, int rank, const int64_t *sizes);

} // namespace kron::python

#endif // KRON_PYTHON_BUFFER_H
