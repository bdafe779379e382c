//===- Call.cpp - A call of an operation on its way to a kernel -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include <algorithm>

using namespace kron::python;

static thread_local const char *declineReason = "";

bool kron::python::decline(const char *reason) {
  declineReason = reason;
  return false;
}

const char *kron::python::getDeclineReason() { return declineReason; }

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static int findName(PyObject *name, PyObject *const *names, int numNames) {
  // Names in source code are interned, so comparing addresses nearly always
  // suffices.
  for (int i = 0; i < numNames; ++i)
    if (names[i] == name)
      return i;
  for (int i = 0; i < numNames; ++i)
    if (PyUnicode_Compare(names[i], name) == 0)
      return i;
  return -1;
}

bool Arguments::parse(PyObject *const *args, Py_ssize_t numArgs,
                      PyObject *keywords, PyObject *const *names, int numNames,
                      int numPositional) {
  if (numArgs > numPositional)
    return decline("expects fewer arguments by position");
  std::copy_n(args, numArgs, values);
  Py_ssize_t numKeywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < numKeywords; ++i) {
    int index = findName(PyTuple_GET_ITEM(keywords, i), names, numNames);
    if (index < 0 || values[index])
      return decline("expects every argument once, by a name it has");
    values[index] = args[numArgs + i];
  }
  for (PyObject *&value : values)
    if (value == Py_None)
      value = nullptr;
  return true;
}

bool kron::python::loadLetter(Py_UCS4 letter, Transpose &result) {
  if (letter != 'N' && letter != 'T' && letter != 'C')
    return decline("expects a transpose to be 'N', 'T' or 'C'");
  result = Transpose(letter);
  return true;
}

bool kron::python::loadTranspose(PyObject *object, Transpose &result) {
  result = Transpose::N;
  if (!object || object == Py_False)
    return true;
  if (object == Py_True) {
    result = Transpose::T;
    return true;
  }
  if (!PyUnicode_CheckExact(object) || PyUnicode_GET_LENGTH(object) != 1)
    return decline("expects a transpose to be 'N', 'T' or 'C'");
  return loadLetter(PyUnicode_READ_CHAR(object, 0), result);
}

bool kron::python::loadTransposes(PyObject *object, Py_ssize_t count,
                                  bool allowsString, Transpose *result) {
  bool isPerFactor = isSequence(object);
  if (isPerFactor && PySequence_Fast_GET_SIZE(object) != count)
    return decline("expects one transpose per factor");
  bool isString = allowsString && object && PyUnicode_CheckExact(object);
  if (isString && PyUnicode_GET_LENGTH(object) == 0)
    object = nullptr;
  bool isLetters = isString && object && PyUnicode_GET_LENGTH(object) == count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = isPerFactor ? PySequence_Fast_GET_ITEM(object, i) : object;
    if (!(isLetters ? loadLetter(PyUnicode_READ_CHAR(object, i), result[i])
                    : loadTranspose(item, result[i])))
      return false;
  }
  return true;
}

static const char *const precisionNames[] = {"full", "ieee", "tf32"};

const char *kron::python::getPrecisionName(int precision) {
  return precisionNames[precision];
}

bool kron::python::loadPrecision(PyObject *object, int &result) {
  result = 0;
  if (!object)
    return true;
  if (PyUnicode_CheckExact(object))
    for (result = 0; result < 3; ++result)
      if (PyUnicode_CompareWithASCIIString(object, precisionNames[result]) == 0)
        return true;
  return decline("expects precision to be 'full', 'ieee' or 'tf32'");
}

//===----------------------------------------------------------------------===//
// Common axes
//===----------------------------------------------------------------------===//

bool CommonAxes::broadcast(const int64_t *viewSizes, int count) {
  if (count > rank) {
    std::copy_backward(sizes, sizes + rank, sizes + count);
    std::fill_n(sizes, count - rank, 1);
    rank = count;
  }
  for (int i = 0; i < count; ++i) {
    int64_t &size = sizes[rank - count + i];
    if (size == 1)
      size = viewSizes[i];
    else if (viewSizes[i] != size && viewSizes[i] != 1)
      return decline("expects batch dimensions that broadcast");
  }
  return true;
}

bool CommonAxes::addOperand(const int64_t *viewSizes,
                            const int64_t *viewStrides, int count) {
  if (count > rank)
    return decline("expects batch dimensions that broadcast to those of y");
  int64_t *own = strides[numOperands++];
  std::fill_n(own, rank - count, 0);
  for (int i = 0; i < count; ++i) {
    int axis = rank - count + i;
    if (viewSizes[i] != sizes[axis] && viewSizes[i] != 1)
      return decline("expects batch dimensions that broadcast to those of y");
    own[axis] = viewSizes[i] == 1 ? 0 : viewStrides[i];
  }
  return true;
}

void CommonAxes::addAxis(int64_t size, const int64_t *operandStrides) {
  for (int i = 0; i < numOperands; ++i)
    strides[i][rank] = size == 1 ? 0 : operandStrides[i];
  sizes[rank++] = size;
}

void CommonAxes::coalesce() {
  int kept = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (sizes[axis] == 1)
      continue;
    bool merges = kept > 0;
    for (int i = 0; merges && i < numOperands; ++i)
      merges = strides[i][kept - 1] == strides[i][axis] * sizes[axis];
    int64_t size = sizes[axis];
    if (merges)
      size *= sizes[--kept];
    for (int i = 0; i < numOperands; ++i)
      strides[i][kept] = strides[i][axis];
    sizes[kept++] = size;
  }
  rank = kept;
}

unsigned CommonAxes::getVaryingAxes(int number) const {
  unsigned axes = 0;
  for (int axis = 0; axis < rank; ++axis)
    axes |= unsigned(strides[number][axis] != 0) << axis;
  return axes;
}

void CommonAxes::addUnit() {
  std::copy_backward(sizes, sizes + rank, sizes + rank + 1);
  sizes[0] = 1;
  for (int i = 0; i < numOperands; ++i) {
    std::copy_backward(strides[i], strides[i] + rank, strides[i] + rank + 1);
    strides[i][0] = 0;
  }
  ++rank;
}

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

int Call::addArray(const View &view, int outerRank, const int64_t *outerSizes,
                   const int64_t *outerStrides, int innerRank,
                   const int64_t *innerSizes, const int64_t *innerStrides) {
  int rank = outerRank + innerRank;
  int64_t *sizes = numbers + numNumbers, *strides = sizes + rank;
  numNumbers += 2 * rank;
  std::copy_n(outerSizes, outerRank, sizes);
  std::copy_n(innerSizes, innerRank, sizes + outerRank);
  std::copy_n(outerStrides, outerRank, strides);
  std::copy_n(innerStrides, innerRank, strides + outerRank);
  bool isDense = rank == 0 || sizes[rank - 1] == 1 || strides[rank - 1] == 1;
  // An axis of size 1 may have come with stride 0, which looks like an overlap
  // to the runtime if it is written.
  for (int axis = 0; axis < rank; ++axis)
    if (sizes[axis] == 1)
      strides[axis] = 1;
  arrays[numArrays++] = {view.data, sizes, strides, rank, view.type};
  return isDense ? 0 : 1;
}

/// As a launch checks it: axes of size 1 may have any stride.
static bool isRowMajor(const KronArray &array) {
  int64_t stride = 1;
  for (int axis = array.rank; axis-- > 0; stride *= array.sizes[axis])
    if (array.sizes[axis] != 1 && array.strides[axis] != stride)
      return false;
  return true;
}

bool Call::areRowMajor(int first, int end) const {
  return std::all_of(arrays + first, arrays + end, isRowMajor);
}

pybind11::list Call::getShapes() const {
  pybind11::list shapes;
  for (int i = 0; i < numArrays; ++i) {
    pybind11::tuple sizes(arrays[i].rank);
    for (int axis = 0; axis < arrays[i].rank; ++axis)
      sizes[axis] = arrays[i].sizes[axis];
    shapes.append(std::move(sizes));
  }
  return shapes;
}

void Call::addScalar(const Scalar &scalar, KronType type) {
  arrays[numArrays++] = {const_cast<char *>(scalar.bytes), nullptr, nullptr, 0,
                         getScalarType(type)};
}
