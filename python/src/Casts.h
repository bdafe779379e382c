//===- Casts.h - What torch.autocast makes of a call's arrays ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where gradients are recorded, the casts of leaves (parameters, mostly) are
// part of the call's node: a leaf lives as long as the graph anyway, and
// PyTorch brings gradients to the type of the input by itself. Casts of other
// arrays are nodes of their own, so that the graph keeps the cast array only.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_CASTS_H
#define KRON_PYTHON_CASTS_H

#include "View.h"
#include <optional>
#include <vector>

namespace kron::python {

class Casts {
public:
  /// To the dtype `type` of the tensor library; null for none.
  explicit Casts(PyObject *type = nullptr) : type(type) {}

  /// What the tensor library casts the arrays of a call with x to; null if it
  /// casts nothing. Throws what the library raises.
  static pybind11::object findType(PyObject *x);

  explicit operator bool() const { return type; }
  PyObject *getType() const { return type; }

  /// `object`, or it in the other type, which lives as long as this. Null
  /// passes. Throws what the library raises.
  PyObject *cast(PyObject *object);
  /// Casts each of `objects`, some of which may be null: those of f32 in one
  /// launch if there are several and that is as fast as the library's casts.
  void castAll(PyObject **objects, Py_ssize_t count);
  /// cast(object) if `object` gets a gradient and is no leaf.
  PyObject *castInner(PyObject *object);

private:
  bool castTogether(PyObject **objects, Py_ssize_t count);
  /// KronType of the dtype; -1 if it has none.
  int getNumber();

  PyObject *type;
  std::optional<int> number;
  std::vector<pybind11::object> kept;
};

/// Takes the function that compiles kernels: of a number of arrays, the type to
/// which they cast as many others, and a device (-1: the CPU).
void setCastKernels(pybind11::function compile);

} // namespace kron::python

#endif // KRON_PYTHON_CASTS_H
