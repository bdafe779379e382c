//===- Scalar.cpp - Numbers of Python as kernels take them ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "View.h"
#include <cstring>

using namespace kron::python;

template <typename T> static bool store(char *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(value));
  return true;
}

static bool storeInteger(PyObject *object, KronType type, char *bytes) {
  int overflow = 0;
  if (!PyLong_CheckExact(object))
    return false;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow)
    return false;
  if (type == KRON_I64)
    return store(bytes, int64_t(value));
  return value >= INT32_MIN && value <= INT32_MAX &&
         store(bytes, int32_t(value));
}

bool Scalar::load(PyObject *object, KronType type) {
  type = getScalarType(type);
  if (type == KRON_I32 || type == KRON_I64)
    return storeInteger(object, type, bytes);
  double real, imaginary = 0;
  if (PyFloat_CheckExact(object)) {
    real = PyFloat_AS_DOUBLE(object);
  } else if (PyLong_CheckExact(object)) {
    real = PyLong_AsDouble(object);
    if (real == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
  } else if (PyComplex_CheckExact(object)) {
    real = PyComplex_RealAsDouble(object);
    imaginary = PyComplex_ImagAsDouble(object);
    if (type != KRON_C32 && type != KRON_C64)
      return false;
  } else {
    return false;
  }
  switch (type) {
  case KRON_F32:
    return store(bytes, float(real));
  case KRON_F64:
    return store(bytes, real);
  case KRON_C32:
    return store(bytes, std::complex<float>(real, imaginary));
  default:
    return store(bytes, std::complex<double>(real, imaginary));
  }
}
