//===- Recorded.h - Calls that are one node of PyTorch's graph --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A direct call on tensors that need gradients calls `apply` of a class of
// torch.autograd.Function, which calls back: its forward computes the result by
// kernels, its backward the gradients by one compiled function. Python code
// (kron/torch/_eager.py) makes these classes, chooses the compiled functions,
// and computes gradients where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_RECORDED_H
#define KRON_PYTHON_RECORDED_H

#include "Call.h"
#include <initializer_list>

namespace kron::python {

enum class NodeKind { Product, Sparse };

/// Places of a call's options, the arguments that are no arrays, in a tuple
/// with None for those left out.
struct ProductOptions {
  enum { Kind, Alpha, Beta, TransX, TransFactors, Precision, CastType };
};
struct SparseOptions {
  enum {
    IsChain,
    Pattern,
    Layout,
    Epilogue,
    Alpha,
    Beta,
    Scale,
    Trans,
    Precision,
    CastType
  };
};

/// Records a call as a node with the inputs (options, operands..., list...);
/// null operands become None. The last option is the dtype that the node casts
/// arrays to, or null. NotImplemented if forward has refused the call.
PyObject *record(NodeKind kind, std::initializer_list<PyObject *> options,
                 std::initializer_list<PyObject *> operands, PyObject *list);

/// Raises what makes `record` return NotImplemented; null.
PyObject *refuse();

/// What forward, called with `args`, leaves for backward on the context:
/// arrays to save, the options, the shape of z, if there is one, and, where
/// arrays may have been cast, `inputs`: those that get gradients, None in place
/// of others. Takes `result` if that fails, and returns it.
PyObject *finishForward(PyObject *const *args, Py_ssize_t numArgs,
                        PyObject *saved, PyObject *z, PyObject *result);

/// The dtype that a node with these options casts to, or null.
inline PyObject *getCastType(PyObject *options) {
  return given(PyTuple_GET_ITEM(options, PyTuple_GET_SIZE(options) - 1));
}

void bindRecorded(pybind11::module_ &module);

} // namespace kron::python

#endif // KRON_PYTHON_RECORDED_H
