//===- View.cpp - Arrays of Python as the runtime sees them ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "View.h"
#include "Buffer.h"
#include "Tensors.h"
#include <cstring>
#include <pybind11/numpy.h>

namespace py = pybind11;
using namespace kron::python;
using NumPy = py::detail::npy_api;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

bool View::isEmpty() const {
  for (int axis = 0; axis < rank; ++axis)
    if (sizes[axis] == 0)
      return true;
  return false;
}

std::pair<const char *, const char *> View::getRange() const {
  if (isEmpty())
    return {data, data};
  int64_t last = 1;
  for (int axis = 0; axis < rank; ++axis)
    last += (sizes[axis] - 1) * strides[axis];
  return {data, data + last * int64_t(kronGetTypeSize(type))};
}

bool kron::python::mayOverlap(const View &a, const View &b) {
  auto [aBegin, aEnd] = a.getRange();
  auto [bBegin, bEnd] = b.getRange();
  return aBegin < bEnd && bBegin < aEnd;
}

bool kron::python::isSame(const View &a, const View &b) {
  if (a.data != b.data || a.rank != b.rank)
    return false;
  for (int axis = 0; axis < a.rank; ++axis)
    if (a.sizes[axis] != b.sizes[axis] ||
        (a.sizes[axis] != 1 && a.strides[axis] != b.strides[axis]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// NumPy
//===----------------------------------------------------------------------===//

namespace {
/// A type that a package of its own adds to NumPy, with its number there; -1:
/// not seen yet.
struct AddedType {
  KronType type;
  int number = -1;
};
} // namespace

static AddedType addedTypes[] = {{KRON_BF16}, {KRON_F8E4M3FN}, {KRON_F8E5M2}};

void kron::python::registerType(const char *name, int typeNumber) {
  int type = findType(name);
  for (AddedType &added : addedTypes)
    if (added.type == type)
      added.number = typeNumber;
}

static int getType(int typeNumber) {
  constexpr int numpyHalf = 23;
  switch (typeNumber) {
  case NumPy::NPY_FLOAT_:
    return KRON_F32;
  case NumPy::NPY_DOUBLE_:
    return KRON_F64;
  case numpyHalf:
    return KRON_F16;
  case NumPy::NPY_INT_:
    return KRON_I32;
  case NumPy::NPY_LONG_:
    return sizeof(long) == 8 ? KRON_I64 : KRON_I32;
  case NumPy::NPY_LONGLONG_:
    return KRON_I64;
  case NumPy::NPY_CFLOAT_:
    return KRON_C32;
  case NumPy::NPY_CDOUBLE_:
    return KRON_C64;
  case NumPy::NPY_BYTE_:
    return KRON_I8;
  default:
    for (const AddedType &added : addedTypes)
      if (added.number == typeNumber)
        return added.type;
    return -1;
  }
}

static int getTypeNumber(KronType type) {
  constexpr int numpyHalf = 23;
  switch (type) {
  case KRON_F32:
    return NumPy::NPY_FLOAT_;
  case KRON_F64:
    return NumPy::NPY_DOUBLE_;
  case KRON_F16:
    return numpyHalf;
  case KRON_I32:
    return NumPy::NPY_INT_;
  case KRON_I64:
    return NumPy::NPY_INT64_;
  case KRON_C32:
    return NumPy::NPY_CFLOAT_;
  case KRON_C64:
    return NumPy::NPY_CDOUBLE_;
  case KRON_I8:
    return NumPy::NPY_BYTE_;
  default:
    for (const AddedType &added : addedTypes)
      if (added.type == type)
        return added.number;
    return -1;
  }
}

static bool loadArray(PyObject *object, View &view) {
  const auto *array = py::detail::array_proxy(object);
  const auto *dtype = py::detail::array_descriptor_proxy(array->descr);
  int type = getType(dtype->type_num);
  constexpr char swapped = '>';
  if (type < 0 || array->nd > kMaxRank || dtype->byteorder == swapped ||
      !(array->flags & NumPy::NPY_ARRAY_ALIGNED_))
    return false;
  view.data = array->data;
  view.rank = array->nd;
  view.device = -1;
  view.type = KronType(type);
  view.writable = array->flags & NumPy::NPY_ARRAY_WRITEABLE_;
  int64_t bytes = kronGetTypeSize(view.type), rowMajor = 1;
  for (int axis = array->nd; axis-- > 0;) {
    int64_t size = array->dimensions[axis], stride = array->strides[axis];
    view.sizes[axis] = size;
    // Strides that are never stepped along can be anything.
    if (size <= 1) {
      view.strides[axis] = rowMajor;
      continue;
    }
    if (stride < 0 || stride % bytes)
      return false;
    view.strides[axis] = stride / bytes;
    rowMajor *= size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

static PyTypeObject *bufferType = nullptr;

void kron::python::registerBufferType(PyTypeObject *type) { bufferType = type; }

bool kron::python::loadView(PyObject *object, bool allowTensors, View &view) {
  // Subclasses of ndarray (matrix, masked arrays) mean something else by `*`,
  // so Python code decides about them.
  if (Py_TYPE(object) == NumPy::get().PyArray_Type_)
    return loadArray(object, view);
  if (allowTensors && Py_TYPE(object) == bufferType) {
    view = py::handle(object).cast<const Buffer &>().view;
    return true;
  }
  if (!allowTensors || !isTensor(object))
    return false;
  if (loadTensor(object, view) && isMaterialised(object, view.type))
    return true;
  PyErr_Clear();
  return false;
}

PyObject *kron::python::allocateLike(PyObject *like, KronType type, int device,
                                     int rank, const int64_t *sizes,
                                     View &view) {
  if (Py_TYPE(like) == bufferType) {
    PyErr_SetString(PyExc_ValueError, "expects out for a buffer");
    return nullptr;
  }
  const NumPy &numpy = NumPy::get();
  if (Py_TYPE(like) != numpy.PyArray_Type_)
    return allocateTensor(like, type, device, rank, sizes, view);
  Py_intptr_t dims[kMaxRank];
  std::copy_n(sizes, rank, dims);
  PyObject *result = numpy.PyArray_NewFromDescr_(
      numpy.PyArray_Type_, numpy.PyArray_DescrFromType_(getTypeNumber(type)),
      rank, dims, nullptr, nullptr, 0, nullptr);
  if (!result || loadArray(result, view))
    return result;
  Py_DECREF(result);
  PyErr_SetString(PyExc_RuntimeError, "cannot use a newly allocated array");
  return nullptr;
}

static const char *const typeNames[] = {
    "f32", "f64",          "f16",          "bf16", "i32",
    "i64", "complex<f32>", "complex<f64>", "f80",  "complex<f80>",
    "i8",  "f8E4M3FN",     "f8E5M2"};
static_assert(std::size(typeNames) == KRON_NUM_TYPES, "one name per KronType");

int kron::python::findType(const char *name) {
  for (int type = 0; type < KRON_NUM_TYPES; ++type)
    if (!std::strcmp(typeNames[type], name))
      return type;
  return -1;
}

const char *kron::python::getTypeName(KronType type) {
  return unsigned(type) < KRON_NUM_TYPES ? typeNames[type] : "unknown type";
}
