//===- View.cpp - Arrays of Python as the runtime sees them ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "View.h"
#include "Buffer.h"
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
// Tensors
//===----------------------------------------------------------------------===//

namespace {

/// What registerTensors was given; never destroyed, since that could be after
/// the interpreter's end.
struct TensorLibrary {
  PyObject *type = nullptr, *classes = nullptr, *types = nullptr;
  PyObject *empty = nullptr, *isGradEnabled = nullptr, *guards = nullptr;
  PyObject *fromDLPack = nullptr;
  PyObject *isAutocast = nullptr, *autocastType = nullptr;
  /// Names of attributes, interned.
  PyObject *dataPtr, *shape, *stride, *dtype, *getDevice;
  PyObject *requiresGrad, *isConj, *isNeg;
};

TensorLibrary tensors;

} // namespace

namespace {

/// What DLPack says about an array (dlpack.h, version 1); the layout is its
/// ABI.
struct DLArray {
  void *data;
  int32_t deviceType, deviceNumber;
  int32_t rank;
  uint8_t typeCode, typeBits;
  uint16_t typeLanes;
  const int64_t *sizes, *strides;
  uint64_t byteOffset;
};

/// The table of functions that a tensor type offers as
/// `__dlpack_c_exchange_api__`.
struct DLExchange {
  uint32_t majorVersion, minorVersion;
  void *previous;
  void *allocate, *fromObject, *toObject;
  int (*describe)(void *object, DLArray *result);
  int (*currentStream)(int32_t deviceType, int32_t deviceNumber, void **stream);
};

enum { DLCpu = 1, DLCuda = 2 };

const DLExchange *exchange = nullptr;

} // namespace

/// The type's DLPack functions, with which a tensor is read in a tenth of the
/// time; null before PyTorch 2.10.
static const DLExchange *findExchange(PyObject *type) {
  auto capsule = py::reinterpret_steal<py::object>(
      PyObject_GetAttrString(type, "__dlpack_c_exchange_api__"));
  void *table = capsule
                    ? PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api")
                    : nullptr;
  PyErr_Clear();
  auto *result = static_cast<const DLExchange *>(table);
  return result && result->majorVersion == 1 ? result : nullptr;
}

/// KronType of DLPack's type code and bits; -1 if there is none.
static int getExchangeType(const DLArray &array) {
  if (array.typeLanes != 1)
    return -1;
  switch (array.typeCode << 8 | array.typeBits) {
  case 2 << 8 | 32:
    return KRON_F32;
  case 2 << 8 | 64:
    return KRON_F64;
  case 2 << 8 | 16:
    return KRON_F16;
  case 4 << 8 | 16:
    return KRON_BF16;
  case 0 << 8 | 8:
    return KRON_I8;
  case 10 << 8 | 8:
    return KRON_F8E4M3FN;
  case 12 << 8 | 8:
    return KRON_F8E5M2;
  case 0 << 8 | 32:
    return KRON_I32;
  case 0 << 8 | 64:
    return KRON_I64;
  case 5 << 8 | 64:
    return KRON_C32;
  case 5 << 8 | 128:
    return KRON_C64;
  }
  return -1;
}

/// Reads a tensor on a CPU or a GPU; false if it is something else.
static bool loadExchanged(PyObject *object, View &view) {
  DLArray array;
  if (exchange->describe(object, &array) != 0) {
    PyErr_Clear();
    return false;
  }
  int type = getExchangeType(array);
  if ((array.deviceType != DLCpu && array.deviceType != DLCuda) || type < 0 ||
      array.rank > kMaxRank || (array.rank && !array.strides))
    return false;
  view.data = static_cast<char *>(array.data) + array.byteOffset;
  view.rank = array.rank;
  view.type = KronType(type);
  view.device = array.deviceType == DLCuda ? array.deviceNumber : -1;
  view.writable = true;
  int64_t rowMajor = 1;
  for (int axis = view.rank; axis-- > 0;) {
    view.sizes[axis] = array.sizes[axis];
    view.strides[axis] =
        array.sizes[axis] <= 1 ? rowMajor : array.strides[axis];
    rowMajor *= array.sizes[axis];
  }
  return true;
}

/// Whether `value`, which is released, is false or 0.
static bool isFalse(PyObject *value) {
  if (!value)
    return false;
  int truth = value == Py_False ? 0 : PyObject_IsTrue(value);
  Py_DECREF(value);
  return truth == 0;
}

/// Whether the memory of a tensor of `type` holds its elements as they are, not
/// their negatives or conjugates.
static bool isMaterialised(PyObject *object, KronType type) {
  bool isComplex = type == KRON_C32 || type == KRON_C64;
  return isFalse(PyObject_CallMethodNoArgs(object, tensors.isNeg)) &&
         (!isComplex ||
          isFalse(PyObject_CallMethodNoArgs(object, tensors.isConj)));
}

bool kron::python::findCurrentStream(int device, void *&stream) {
  stream = nullptr;
  if (exchange && exchange->currentStream(DLCuda, device, &stream) == 0)
    return true;
  PyErr_Clear();
  return false;
}

void kron::python::registerTensors(py::tuple classes, py::dict types,
                                   py::function empty,
                                   py::function isGradEnabled, py::tuple guards,
                                   py::function fromDLPack,
                                   py::function isAutocast,
                                   py::function autocastType) {
  tensors.type = PyTuple_GetItem(classes.ptr(), 0);
  if (!tensors.type)
    throw py::error_already_set();
  exchange = findExchange(tensors.type);
  tensors.classes = classes.release().ptr();
  tensors.types = types.release().ptr();
  tensors.empty = empty.release().ptr();
  tensors.isGradEnabled = isGradEnabled.release().ptr();
  tensors.guards = guards.release().ptr();
  tensors.fromDLPack = fromDLPack.release().ptr();
  tensors.isAutocast = isAutocast.release().ptr();
  tensors.autocastType = autocastType.release().ptr();
  tensors.dataPtr = PyUnicode_InternFromString("data_ptr");
  tensors.shape = PyUnicode_InternFromString("shape");
  tensors.stride = PyUnicode_InternFromString("stride");
  tensors.dtype = PyUnicode_InternFromString("dtype");
  tensors.getDevice = PyUnicode_InternFromString("get_device");
  tensors.requiresGrad = PyUnicode_InternFromString("requires_grad");
  tensors.isConj = PyUnicode_InternFromString("is_conj");
  tensors.isNeg = PyUnicode_InternFromString("is_neg");
}

bool kron::python::isPlainContext(bool allowsAutocast) {
  if (!tensors.guards || (!allowsAutocast && isAutocastActive()))
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors.guards); ++i)
    if (!isFalse(PyObject_CallNoArgs(PyTuple_GET_ITEM(tensors.guards, i))))
      return false;
  return true;
}

bool kron::python::isTensorClass(PyTypeObject *type) {
  if (!tensors.classes)
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors.classes); ++i)
    if (PyTuple_GET_ITEM(tensors.classes, i) ==
        reinterpret_cast<PyObject *>(type))
      return true;
  return false;
}

bool kron::python::isAutocastActive() {
  return tensors.isAutocast &&
         !isFalse(PyObject_CallNoArgs(tensors.isAutocast));
}

PyObject *kron::python::findAutocastType(PyObject *x) {
  return PyObject_CallOneArg(tensors.autocastType, x);
}

int kron::python::getTensorType(PyObject *object) {
  if (!isTensorClass(Py_TYPE(object)))
    return -1;
  auto dtype = py::reinterpret_steal<py::object>(
      PyObject_GetAttr(object, tensors.dtype));
  PyObject *type = dtype ? PyDict_GetItem(tensors.types, dtype.ptr()) : nullptr;
  return type ? int(PyLong_AsLong(type)) : -1;
}

bool kron::python::isGradEnabled() {
  return !isFalse(PyObject_CallNoArgs(tensors.isGradEnabled));
}

bool kron::python::requiresGrad(PyObject *object) {
  return isTensorClass(Py_TYPE(object)) &&
         !isFalse(PyObject_GetAttr(object, tensors.requiresGrad));
}

TensorNeed kron::python::getTensorNeed(PyObject *object) {
  if (!isTensorClass(Py_TYPE(object)))
    return TensorNeed::Library;
  if (isFalse(PyObject_GetAttr(object, tensors.requiresGrad)))
    return TensorNeed::Nothing;
  if (PyErr_Occurred())
    return TensorNeed::Library;
  if (!isGradEnabled())
    return TensorNeed::Nothing;
  return PyErr_Occurred() ? TensorNeed::Library : TensorNeed::Derivative;
}

/// Reads a tuple of integers.
static bool loadTuple(PyObject *tuple, int rank, int64_t *values) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != rank)
    return false;
  for (int i = 0; i < rank; ++i)
    values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
  return true;
}

static bool loadTensor(PyObject *object, View &view) {
  if (exchange && loadExchanged(object, view))
    return true;
  auto call = [&](PyObject *name) {
    return py::reinterpret_steal<py::object>(
        PyObject_CallMethodNoArgs(object, name));
  };
  auto get = [&](PyObject *name) {
    return py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
  };
  py::object shape = get(tensors.shape), stride = call(tensors.stride),
             dtype = get(tensors.dtype), device = call(tensors.getDevice),
             data = call(tensors.dataPtr);
  if (!shape || !stride || !dtype || !device || !data ||
      !PyTuple_Check(shape.ptr()))
    return false;
  PyObject *type = PyDict_GetItem(tensors.types, dtype.ptr());
  Py_ssize_t rank = PyTuple_GET_SIZE(shape.ptr());
  if (!type || rank > kMaxRank)
    return false;
  view.rank = int(rank);
  view.type = KronType(PyLong_AsLong(type));
  view.device = int(PyLong_AsLong(device.ptr()));
  view.data = static_cast<char *>(PyLong_AsVoidPtr(data.ptr()));
  view.writable = true;
  if (!loadTuple(shape.ptr(), view.rank, view.sizes) ||
      !loadTuple(stride.ptr(), view.rank, view.strides))
    return false;
  int64_t rowMajor = 1;
  for (int axis = view.rank; axis-- > 0;) {
    if (view.sizes[axis] <= 1)
      view.strides[axis] = rowMajor;
    rowMajor *= view.sizes[axis];
  }
  return !PyErr_Occurred();
}

//===----------------------------------------------------------------------===//
// Both
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
  if (!allowTensors || !tensors.type ||
      !PyObject_TypeCheck(object,
                          reinterpret_cast<PyTypeObject *>(tensors.type)))
    return false;
  if (loadTensor(object, view) && isMaterialised(object, view.type))
    return true;
  PyErr_Clear();
  return false;
}

/// A tensor on the CPU in memory of the pool; null, without an exception, if
/// there is none.
static PyObject *allocatePooled(KronType type, int rank, const int64_t *sizes) {
  PyObject *capsule = allocateCapsule(type, rank, sizes);
  if (!capsule)
    return nullptr;
  PyObject *result = PyObject_CallOneArg(tensors.fromDLPack, capsule);
  if (!result)
    PyErr_Clear();
  Py_DECREF(capsule);
  return result;
}

static PyObject *allocateTensor(PyObject *like, int rank,
                                const int64_t *sizes) {
  // Sizes one by one are read faster than a tuple.
  PyObject *arguments[kMaxRank + 1] = {like};
  bool hasAll = true;
  for (int axis = 0; axis < rank; ++axis)
    hasAll &=
        (arguments[axis + 1] = PyLong_FromLongLong(sizes[axis])) != nullptr;
  PyObject *result = hasAll ? PyObject_Vectorcall(tensors.empty, arguments,
                                                  size_t(rank) + 1, nullptr)
                            : nullptr;
  for (int axis = 0; axis < rank; ++axis)
    Py_XDECREF(arguments[axis + 1]);
  return result;
}

PyObject *kron::python::allocateLike(PyObject *like, KronType type, int device,
                                     int rank, const int64_t *sizes,
                                     View &view) {
  const NumPy &numpy = NumPy::get();
  PyObject *result;
  if (Py_TYPE(like) == bufferType) {
    PyErr_SetString(PyExc_ValueError, "expects out for a buffer");
    return nullptr;
  }
  if (Py_TYPE(like) == numpy.PyArray_Type_) {
    Py_intptr_t dims[kMaxRank];
    std::copy_n(sizes, rank, dims);
    result = numpy.PyArray_NewFromDescr_(
        numpy.PyArray_Type_, numpy.PyArray_DescrFromType_(getTypeNumber(type)),
        rank, dims, nullptr, nullptr, 0, nullptr);
  } else {
    result = device < 0 ? allocatePooled(type, rank, sizes) : nullptr;
    if (!result)
      result = allocateTensor(like, rank, sizes);
  }
  // New tensors hold their elements as they are.
  bool isTensor = Py_TYPE(like) != numpy.PyArray_Type_;
  if (!result || (isTensor ? loadTensor(result, view)
                           : loadView(result, /*allowTensors=*/false, view)))
    return result;
  Py_DECREF(result);
  PyErr_SetString(PyExc_RuntimeError, "cannot use a newly allocated array");
  return nullptr;
}

static const char *const typeNames[] = {
    "f32", "f64",          "f16",          "bf16", "i32",
    "i64", "complex<f32>", "complex<f64>", "f80",  "complex<f80>",
    "i8",  "f8E4M3FN",     "f8E5M2"};
static constexpr int numTypes = std::size(typeNames);

int kron::python::findType(const char *name) {
  for (int type = 0; type < numTypes; ++type)
    if (!std::strcmp(typeNames[type], name))
      return type;
  return -1;
}

const char *kron::python::getTypeName(KronType type) {
  return unsigned(type) < numTypes ? typeNames[type] : "unknown type";
}
