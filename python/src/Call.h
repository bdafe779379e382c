//===- Call.h - A call of an operation on its way to a kernel ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What kron.mkm and its like share: their arguments by name, broadcast axes
// that become as few as possible, the arrays that a kernel takes, and a key
// that says which kernel. A key holds everything that the kernel's code depends
// on, so a cached call is: read arrays, build the key, look it up, launch.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_CALL_H
#define KRON_PYTHON_CALL_H

#include "View.h"
#include <cstring>

namespace kron::python {

constexpr int kMaxFactors = 24;
/// x, y, z, residual, bias and factors.
constexpr int kMaxOperands = kMaxFactors + 5;
constexpr int kMaxParameters = 16;

/// Why the fast path does not take a call; for messages when there is no other.
bool decline(const char *reason);
const char *getDeclineReason();

/// Arguments of a Python function by their names.
struct Arguments {
  PyObject *values[kMaxParameters] = {};

  /// Fills `values` in the order of `names`, of which the first `numPositional`
  /// may be given by position. Absent ones and None become null.
  bool parse(PyObject *const *args, Py_ssize_t numArgs, PyObject *keywords,
             PyObject *const *names, int numNames, int numPositional);
};

/// A list or a tuple itself.
inline bool isSequence(PyObject *object) {
  return object && (PyList_CheckExact(object) || PyTuple_CheckExact(object));
}

/// Null for None.
inline PyObject *given(PyObject *object) {
  return object == Py_None ? nullptr : object;
}

enum class Transpose : char { N = 'N', T = 'T', C = 'C' };
inline Transpose toggle(Transpose t) {
  return t == Transpose::N ? Transpose::T : Transpose::N;
}

/// 'N', 'T' or 'C'.
bool loadLetter(Py_UCS4 letter, Transpose &result);

/// Where z of a call is: nowhere, in an array of its own, or in y.
enum AddendKind { NoAddend = 0, OtherAddend = 1, InPlace = 2 };

/// False, True, "N", "T" or "C"; null means N.
bool loadTranspose(PyObject *object, Transpose &result);

/// One per factor from one for all or a list; if `allowsString`, also from a
/// string with one letter per factor, or none, as kron.torch's operations have.
bool loadTransposes(PyObject *object, Py_ssize_t count, bool allowsString,
                    Transpose *result);

/// "full", "ieee" or "tf32" as 0, 1 or 2; null means full.
bool loadPrecision(PyObject *object, int &result);
const char *getPrecisionName(int precision);

/// Axes that several operands have in common, each with its own strides.
class CommonAxes {
public:
  /// Takes the first `count` axes of `view` into account (NumPy's broadcasting:
  /// aligned at the right). False if they do not go together.
  bool broadcast(const int64_t *viewSizes, int count);
  /// Adds an operand with `count` axes that broadcast to these; false if they
  /// do not.
  bool addOperand(const int64_t *viewSizes, const int64_t *viewStrides,
                  int count);
  /// Adds an axis of every operand, the fastest one.
  void addAxis(int64_t size, const int64_t *operandStrides);
  /// Removes axes of size 1 and merges neighbours that every operand steps
  /// through evenly. None is left if only those of size 1 were there.
  void coalesce();
  /// The axes along which operand `number` is not the same everywhere, a bit
  /// each.
  unsigned getVaryingAxes(int number) const;
  /// Removes the fastest axis.
  void dropLast() { --rank; }
  /// Puts an axis of size 1 at the front.
  void addUnit();

  int rank = 0, numOperands = 0;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxOperands][kMaxRank];
};

/// What a kernel's code depends on, as integers; without memory of its own,
/// which would take longer than looking it up.
class Key {
public:
  void add(int64_t value) { values[size++] = value; }
  bool operator==(const Key &other) const {
    return size == other.size &&
           std::memcmp(values, other.values, size * sizeof(*values)) == 0;
  }
  size_t hash() const {
    uint64_t result = size;
    for (int i = 0; i < size; ++i) {
      result = (result ^ uint64_t(values[i])) * 0x9e3779b97f4a7c15;
      result ^= result >> 32;
    }
    return result;
  }

private:
  /// Those of a chain of Kronecker-sparse factors: five each.
  int64_t values[5 * kMaxFactors + 2];
  int size = 0;
};

/// Arguments of a kernel and the key of the kernel.
class Call {
public:
  /// Adds an array of `outerRank` + `innerRank` axes. Returns 1 if its
  /// innermost axis has a stride other than 1 (which the kernel must know),
  /// else 0.
  int addArray(const View &view, int outerRank, const int64_t *outerSizes,
               const int64_t *outerStrides, int innerRank,
               const int64_t *innerSizes, const int64_t *innerStrides);
  void addScalar(const Scalar &scalar, KronType type);
  /// Whether the arrays [`first`, `end`) have no gaps and the order of C.
  bool areRowMajor(int first, int end) const;
  /// The sizes of every argument, a tuple each.
  pybind11::list getShapes() const;

  Key key;
  KronArray arrays[kMaxOperands + 2];
  int numArrays = 0;

private:
  int64_t numbers[(kMaxOperands + 2) * 2 * kMaxRank];
  int numNumbers = 0;
};

} // namespace kron::python

#endif // KRON_PYTHON_CALL_H
