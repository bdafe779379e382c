//===- Kernel.h - Compiled kernels as Python objects ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_KERNEL_H
#define KRON_PYTHON_KERNEL_H

#include "Call.h"

namespace kron::python {

/// A kernel and the object that keeps its code in memory.
struct Kernel {
  const KronKernel *kernel;
  pybind11::object owner;

  /// Runs it, without the interpreter's lock if `isLong`. Arrays that are known
  /// to be on the device need no check. False with a Python exception on
  /// failure.
  bool launch(const KronArray *arrays, int numArrays, int device, void *stream,
              int numThreads, bool isLong, bool areOnDevice = false) const;
};

/// The kernel of `key`, or null.
const Kernel *findKernel(const Key &key);
/// Keeps `kernel` for `key`.
const Kernel *rememberKernel(const Key &key, pybind11::object kernel);
/// Forgets all kernels; how many there were.
size_t forgetKernels();

/// The class Kernel and functions on threads.
void bindKernel(pybind11::module_ &module);

/// mkm, kmm, batched, ksmm, ksmm_chain.
void bindOperations(pybind11::module_ &module);

} // namespace kron::python

#endif // KRON_PYTHON_KERNEL_H
