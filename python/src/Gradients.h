//===- Gradients.h - Backward of calls that are nodes -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_GRADIENTS_H
#define KRON_PYTHON_GRADIENTS_H

#include "Recorded.h"

namespace kron::python {

/// Gradients of the node `ctx` from that by its result, by one compiled
/// function. Null, without an exception, if they are Python code's matter: the
/// saved tensors, which can be had only once, are then in `saved` if they have
/// been asked for. `plan` is Python's choice of the function
/// (kron/torch/_programs.py), asked once per kind of call.
PyObject *computeGradients(NodeKind kind, PyObject *ctx, PyObject *grad,
                           PyObject *plan, pybind11::object &saved);

/// Forgets what `plan` has said.
void forgetPlans();

} // namespace kron::python

#endif // KRON_PYTHON_GRADIENTS_H
