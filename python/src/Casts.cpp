//===- Casts.cpp - What torch.autocast makes of a call's arrays -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Casts.h"
#include "Tensors.h"

namespace py = pybind11;
using namespace kron::python;

static py::object check(PyObject *object) {
  if (!object)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object Casts::findType(PyObject *x) {
  if (!x || !isTensorClass(Py_TYPE(x)) || !isAutocastActive())
    return {};
  py::object type = check(findAutocastType(x));
  return type.is_none() ? py::object() : type;
}

PyObject *Casts::cast(PyObject *object) {
  if (!object || !type)
    return object;
  // f64, integers and complex numbers stay what they are.
  int from = getTensorType(object);
  if (from != KRON_F32 && from != KRON_F16 && from != KRON_BF16)
    return object;
  kept.push_back(check(castTensor(object, type)));
  return kept.back().ptr();
}

PyObject *Casts::castInner(PyObject *object) {
  if (!object || !type || getTensorNeed(object) != TensorNeed::Derivative ||
      isLeaf(object))
    return object;
  return cast(object);
}
