//===- Integer.h - Integer arguments of Python ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_INTEGER_H
#define KRON_PYTHON_INTEGER_H

#include <pybind11/pybind11.h>

namespace kron::python {

/// The integer `object`, the argument `name`, from `least` to `most`; throws
/// TypeError for another type and ValueError for another number.
inline long long castInteger(pybind11::handle object, const char *name,
                             long long least, long long most) {
  auto integer = pybind11::reinterpret_steal<pybind11::object>(
      PyNumber_Index(object.ptr()));
  if (!integer) {
    PyErr_Format(PyExc_TypeError, "expects %s to be an integer, but got %s",
                 name, Py_TYPE(object.ptr())->tp_name);
    throw pybind11::error_already_set();
  }
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow || value < least || value > most) {
    // Python refuses to write thousands of digits.
    auto text = pybind11::reinterpret_steal<pybind11::object>(
        PyObject_Repr(integer.ptr()));
    if (!text) {
      PyErr_Clear();
      text = pybind11::str("one of thousands of digits");
    }
    PyErr_Format(PyExc_ValueError,
                 "expects %s to be from %lld to %lld, but got %U", name, least,
                 most, text.ptr());
    throw pybind11::error_already_set();
  }
  return value;
}

} // namespace kron::python

#endif // KRON_PYTHON_INTEGER_H
