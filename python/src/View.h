//===- View.h - Arrays of Python as the runtime sees them -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Reads the address, shape and strides of NumPy arrays and of tensors of one
// registered tensor library (Tensors.h) without going through their protocols,
// which would take longer than a small product. What it does not recognise is
// left to Python code (kron/_fallback.py), which converts or refuses it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_VIEW_H
#define KRON_PYTHON_VIEW_H

#include "kron/Runtime/Runtime.h"
#include <complex>
#include <pybind11/pybind11.h>

namespace kron::python {

/// Largest rank that the fast path takes.
constexpr int kMaxRank = 16;

/// An array; strides in elements, none of them negative.
struct View {
  char *data = nullptr;
  int rank = 0;
  /// CPU: -1; otherwise the number of the GPU.
  int device = -1;
  KronType type = KRON_F32;
  bool writable = false;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  /// Bytes [begin, end) that hold the elements; empty without elements.
  std::pair<const char *, const char *> getRange() const;
  bool isEmpty() const;
};

/// Whether the arrays may share memory.
bool mayOverlap(const View &a, const View &b);

/// Whether the arrays are the same elements in the same order.
bool isSame(const View &a, const View &b);

/// Fills `view` from a NumPy array or, if `allowTensors`, a registered tensor.
/// False, without a Python exception, if `object` is something else or has
/// elements, strides or an alignment that the runtime does not take.
bool loadView(PyObject *object, bool allowTensors, View &view);

/// A new uninitialised row-major array of the kind of `like` and on its device,
/// into `view` too. Null with an exception on failure.
PyObject *allocateLike(PyObject *like, KronType type, int device, int rank,
                       const int64_t *sizes, View &view);

/// NumPy's number of a type of ml_dtypes, named as MLIR does: bf16, f8E4M3FN or
/// f8E5M2.
void registerType(const char *name, int typeNumber);

/// A name of an attribute, made once: CPython finds interned ones fastest.
#define KRON_INTERNED(text)                                                    \
  ([]() -> PyObject * {                                                        \
    static PyObject *const name = PyUnicode_InternFromString(text);            \
    return name;                                                               \
  }())

/// Name of a type as MLIR writes it.
const char *getTypeName(KronType type);

/// The class of Buffer (Buffer.h).
void registerBufferType(PyTypeObject *type);

/// Number of KronType named as MLIR does; -1 if there is none.
int findType(const char *name);

/// A scalar of one element type, as a kernel takes it.
struct Scalar {
  alignas(16) char bytes[16];

  /// The value of a Python number. False, without an exception, if it is none
  /// that `type` can hold.
  bool load(PyObject *object, KronType type);
};

/// The type of scalars that go with arrays of `type`.
inline KronType getScalarType(KronType type) {
  return type == KRON_F16 || type == KRON_BF16 ? KRON_F32 : type;
}

} // namespace kron::python

#endif // KRON_PYTHON_VIEW_H
