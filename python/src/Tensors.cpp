//===- Tensors.cpp - Tensors of one registered library --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"
#include "Buffer.h"
#include <optional>
#include <vector>

namespace py = pybind11;
using namespace kron::python;

//===----------------------------------------------------------------------===//
// Functions and attributes
//===----------------------------------------------------------------------===//

/// Whether `value`, which is released, is false or 0.
static bool isFalse(PyObject *value) {
  if (!value)
    return false;
  int truth = value == Py_False ? 0 : PyObject_IsTrue(value);
  Py_DECREF(value);
  return truth == 0;
}

/// Whether `value`, which is released, is neither null nor false.
static bool isTrue(PyObject *value) { return value && !isFalse(value); }

namespace {

/// A function without arguments. One that is plain C is called at its address,
/// which takes a third of the time of a call through the interpreter.
class Function {
public:
  Function() = default;
  explicit Function(py::object callable) : callable(callable.release().ptr()) {
    if (!PyCFunction_CheckExact(this->callable))
      return;
    flags = PyCFunction_GET_FLAGS(this->callable);
    self = PyCFunction_GET_SELF(this->callable);
    address = PyCFunction_GET_FUNCTION(this->callable);
  }

  explicit operator bool() const { return callable; }

  PyObject *call() const {
    if (flags == METH_NOARGS)
      return address(self, nullptr);
    return PyObject_CallNoArgs(callable);
  }

private:
  PyObject *callable = nullptr, *self = nullptr;
  PyCFunction address = nullptr;
  int flags = 0;
};

/// A method that is called without arguments, or an attribute, of the base of
/// all tensors; plain C too, if it can be.
class Member {
public:
  Member() = default;
  Member(PyObject *type, const char *text)
      : name(PyUnicode_InternFromString(text)) {
    auto found =
        py::reinterpret_steal<py::object>(PyObject_GetAttr(type, name));
    if (!found)
      throw py::error_already_set();
    PyObject *descriptor = found.ptr();
    if (Py_IS_TYPE(descriptor, &PyMethodDescr_Type)) {
      auto *definition =
          reinterpret_cast<PyMethodDescrObject *>(descriptor)->d_method;
      if (definition->ml_flags == METH_NOARGS)
        method = definition->ml_meth;
      else if (definition->ml_flags == (METH_VARARGS | METH_KEYWORDS))
        methodOfKeywords = reinterpret_cast<PyCFunctionWithKeywords>(
            reinterpret_cast<void *>(definition->ml_meth));
    } else if (Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
      auto *definition =
          reinterpret_cast<PyGetSetDescrObject *>(descriptor)->d_getset;
      getter = definition->get;
      closure = definition->closure;
    }
    // What is plain C lives as long as the type does.
    Py_INCREF(type);
  }

  /// Of a tensor. The library's own code asks those of derived types.
  PyObject *call(PyObject *tensor) const {
    static PyObject *const noArguments = PyTuple_New(0);
    if (method)
      return method(tensor, nullptr);
    return methodOfKeywords ? methodOfKeywords(tensor, noArguments, nullptr)
                            : PyObject_CallMethodNoArgs(tensor, name);
  }
  PyObject *get(PyObject *tensor) const {
    return getter ? getter(tensor, closure) : PyObject_GetAttr(tensor, name);
  }

private:
  PyObject *name = nullptr;
  PyCFunction method = nullptr;
  PyCFunctionWithKeywords methodOfKeywords = nullptr;
  ::getter getter = nullptr;
  void *closure = nullptr;
};

/// A variable of a module and its value while nothing is active that must see
/// operations.
struct Flag {
  PyObject *variables, *name, *value;

  bool isPlain() const {
    PyObject *current = PyDict_GetItemWithError(variables, name);
    return current == value ||
           (current && PyObject_RichCompareBool(current, value, Py_EQ) == 1);
  }
};

/// What registerTensors was given; never destroyed, since that could be after
/// the interpreter's end.
struct TensorLibrary {
  /// KronType of a dtype; -1 if it has none.
  int getNumber(PyObject *dtype) const {
    PyObject *number = PyDict_GetItem(types, dtype);
    return number ? int(PyLong_AsLong(number)) : -1;
  }

  PyObject *type = nullptr, *classes = nullptr, *types = nullptr;
  /// dtypes by KronType; null where there is none.
  PyObject *dtypes[KRON_NUM_TYPES] = {};
  PyObject *empty = nullptr, *emptyOnCpu = nullptr, *emptyOnCuda = nullptr;
  PyObject *fromDLPack = nullptr;
  PyObject *isAutocastOn = nullptr, *autocastType = nullptr;
  Function isGradEnabled, isAutocast, currentCuda;
  std::vector<Function> guards;
  std::vector<Flag> flags;
  Member requiresGrad, isLeaf, isConj, isNeg, isCuda, isCpu, dtype;
  /// By KronType: the method that casts to it. Most have none.
  std::optional<Member> casts[KRON_NUM_TYPES];
};

} // namespace

/// Null before a library is registered.
static TensorLibrary *library = nullptr;

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// None is left away: null.
static PyObject *takeOptional(const py::kwargs &given, const char *name) {
  py::object object = given[name];
  return object.is_none() ? nullptr : object.release().ptr();
}

void kron::python::registerTensors(const py::kwargs &given) {
  auto *added = new TensorLibrary;
  auto take = [&](const char *name) {
    return py::object(given[name]).release().ptr();
  };
  added->classes = take("classes");
  added->type = PyTuple_GetItem(added->classes, 0);
  if (!added->type)
    throw py::error_already_set();
  added->types = take("types");
  for (auto [dtype, number] : py::reinterpret_borrow<py::dict>(added->types))
    added->dtypes[number.cast<int>()] = dtype.ptr();
  added->empty = take("empty");
  added->emptyOnCpu = takeOptional(given, "empty_cpu");
  added->emptyOnCuda = takeOptional(given, "empty_cuda");
  if (added->emptyOnCuda)
    added->currentCuda = Function(given["current_cuda"]);
  added->fromDLPack = take("from_dlpack");
  added->isAutocastOn = take("is_autocast_on");
  added->autocastType = take("autocast_type");
  added->isGradEnabled = Function(given["is_grad_enabled"]);
  added->isAutocast = Function(given["is_autocast"]);
  for (py::handle guard : given["guards"])
    added->guards.emplace_back(py::reinterpret_borrow<py::object>(guard));
  for (py::handle item : given["flags"]) {
    auto flag = item.cast<py::tuple>();
    added->flags.push_back(
        {py::object(flag[0].attr("__dict__")).release().ptr(),
         PyUnicode_InternFromString(flag[1].cast<std::string>().c_str()),
         py::object(flag[2]).release().ptr()});
  }
  for (auto [dtype, name] : given["casts"].cast<py::dict>())
    added->casts[added->getNumber(dtype.ptr())] =
        Member(added->type, name.cast<std::string>().c_str());
  added->requiresGrad = Member(added->type, "requires_grad");
  added->isLeaf = Member(added->type, "is_leaf");
  added->isCuda = Member(added->type, "is_cuda");
  added->isCpu = Member(added->type, "is_cpu");
  added->dtype = Member(added->type, "dtype");
  added->isConj = Member(added->type, "is_conj");
  added->isNeg = Member(added->type, "is_neg");
  exchange = findExchange(added->type);
  library = added;
}

bool kron::python::isPlainContext(bool allowsAutocast) {
  if (!library || (!allowsAutocast && isAutocastActive()))
    return false;
  for (const Flag &flag : library->flags)
    if (!flag.isPlain())
      return false;
  for (const Function &guard : library->guards)
    if (!isFalse(guard.call()))
      return false;
  return true;
}

/// Never destroyed, as the library.
static PyObject *tensorFunctions = nullptr;

void kron::python::setTensorFunctions(py::dict functions) {
  tensorFunctions = functions.release().ptr();
}

PyObject *kron::python::findTensorFunction(const char *name) {
  return tensorFunctions ? PyDict_GetItemString(tensorFunctions, name)
                         : nullptr;
}

bool kron::python::isAutocastActive() {
  return library && !isFalse(library->isAutocast.call());
}

PyObject *kron::python::findAutocastType(PyObject *x) {
  PyObject *device = isTrue(library->isCuda.get(x))  ? KRON_INTERNED("cuda")
                     : isTrue(library->isCpu.get(x)) ? KRON_INTERNED("cpu")
                                                     : nullptr;
  if (PyErr_Occurred())
    return nullptr;
  if (device && isTrue(PyObject_CallOneArg(library->isAutocastOn, device)))
    return PyObject_CallOneArg(library->autocastType, device);
  return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
}

bool kron::python::isGradEnabled() {
  return !isFalse(library->isGradEnabled.call());
}

bool kron::python::findCurrentStream(int device, void *&stream) {
  stream = nullptr;
  if (exchange && exchange->currentStream(DLCuda, device, &stream) == 0)
    return true;
  PyErr_Clear();
  return false;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool kron::python::isTensorClass(PyTypeObject *type) {
  if (!library)
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(library->classes); ++i)
    if (PyTuple_GET_ITEM(library->classes, i) ==
        reinterpret_cast<PyObject *>(type))
      return true;
  return false;
}

bool kron::python::isTensor(PyObject *object) {
  return library && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(
                                                   library->type));
}

int kron::python::getTensorType(PyObject *object) {
  if (!isTensorClass(Py_TYPE(object)))
    return -1;
  auto dtype = py::reinterpret_steal<py::object>(library->dtype.get(object));
  return dtype ? library->getNumber(dtype.ptr()) : -1;
}

int kron::python::findTensorType(PyObject *dtype) {
  return library->getNumber(dtype);
}

PyObject *kron::python::castTensor(PyObject *object, PyObject *type) {
  int to = library->getNumber(type);
  if (to >= 0 && getTensorType(object) == to)
    return Py_NewRef(object);
  if (to >= 0 && library->casts[to])
    return library->casts[to]->call(object);
  return PyObject_CallMethodOneArg(object, KRON_INTERNED("to"), type);
}

bool kron::python::isLeaf(PyObject *object) {
  return isTrue(library->isLeaf.get(object));
}

bool kron::python::requiresGrad(PyObject *object) {
  return isTensorClass(Py_TYPE(object)) &&
         !isFalse(library->requiresGrad.get(object));
}

TensorNeed kron::python::getTensorNeed(PyObject *object) {
  if (!isTensorClass(Py_TYPE(object)))
    return TensorNeed::Library;
  if (isFalse(library->requiresGrad.get(object)))
    return TensorNeed::Nothing;
  if (PyErr_Occurred())
    return TensorNeed::Library;
  if (!isGradEnabled())
    return TensorNeed::Nothing;
  return PyErr_Occurred() ? TensorNeed::Library : TensorNeed::Derivative;
}

bool kron::python::isMaterialised(PyObject *object, KronType type) {
  bool isComplex = type == KRON_C32 || type == KRON_C64;
  return isFalse(library->isNeg.call(object)) &&
         (!isComplex || isFalse(library->isConj.call(object)));
}

/// Reads a tuple of integers.
static bool loadTuple(PyObject *tuple, int rank, int64_t *values) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != rank)
    return false;
  for (int i = 0; i < rank; ++i)
    values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
  return true;
}

bool kron::python::loadTensor(PyObject *object, View &view) {
  if (exchange && loadExchanged(object, view))
    return true;
  auto call = [&](PyObject *name) {
    return py::reinterpret_steal<py::object>(
        PyObject_CallMethodNoArgs(object, name));
  };
  auto get = [&](PyObject *name) {
    return py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
  };
  py::object shape = get(KRON_INTERNED("shape")),
             stride = call(KRON_INTERNED("stride")),
             dtype = get(KRON_INTERNED("dtype")),
             device = call(KRON_INTERNED("get_device")),
             data = call(KRON_INTERNED("data_ptr"));
  if (!shape || !stride || !dtype || !device || !data ||
      !PyTuple_Check(shape.ptr()))
    return false;
  PyObject *type = PyDict_GetItem(library->types, dtype.ptr());
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
// New tensors
//===----------------------------------------------------------------------===//

/// A tensor on the CPU in memory of the pool; null, without an exception, if
/// there is none.
static PyObject *allocatePooled(KronType type, int rank, const int64_t *sizes) {
  PyObject *capsule = allocateCapsule(type, rank, sizes);
  if (!capsule)
    return nullptr;
  PyObject *result = PyObject_CallOneArg(library->fromDLPack, capsule);
  if (!result)
    PyErr_Clear();
  Py_DECREF(capsule);
  return result;
}

/// Integers from `values` as a tuple; null with an exception.
static PyObject *makeTuple(int count, const int64_t *values) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(values[i]);
    if (number)
      PyTuple_SET_ITEM(tuple, i, number);
    else
      Py_CLEAR(tuple);
  }
  return tuple;
}

/// Whether the library allocates on this GPU if it is not told where.
static bool isCurrentDevice(int device) {
  static const bool isOnlyOne = [] {
    int32_t count = 0;
    return kronGetCudaDeviceCount(&count) == KRON_SUCCESS && count == 1;
  }();
  if (isOnlyOne)
    return true;
  PyObject *current = library->currentCuda.call();
  bool isCurrent = current && PyLong_AsLong(current) == device;
  Py_XDECREF(current);
  return isCurrent;
}

/// A tensor on the library's current device; null, without an exception, where
/// that is not `device`, or if the library has no such function.
static PyObject *allocateDirectly(PyObject *like, KronType type, int device,
                                  int rank, const int64_t *sizes, View &view) {
  PyObject *function = device < 0 ? library->emptyOnCpu : library->emptyOnCuda;
  PyObject *dtype = library->dtypes[type];
  if (!function || !dtype || !isTensorClass(Py_TYPE(like)))
    return nullptr;
  // Memory of another GPU would stay in the library's cache.
  if (device >= 0 && !isCurrentDevice(device)) {
    PyErr_Clear();
    return nullptr;
  }
  int64_t strides[kMaxRank], stride = 1;
  for (int axis = rank; axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(sizes[axis], 1);
  }
  PyObject *arguments[] = {makeTuple(rank, sizes), makeTuple(rank, strides),
                           dtype};
  PyObject *result = nullptr;
  if (arguments[0] && arguments[1])
    result = PyObject_Vectorcall(function, arguments, 3, nullptr);
  Py_XDECREF(arguments[0]);
  Py_XDECREF(arguments[1]);
  if (result && loadTensor(result, view) && view.device == device)
    return result;
  Py_XDECREF(result);
  PyErr_Clear();
  return nullptr;
}

/// A tensor by the library's way for everyone.
static PyObject *allocateByMethod(PyObject *like, int rank,
                                  const int64_t *sizes) {
  // Sizes one by one are read faster than a tuple.
  PyObject *arguments[kMaxRank + 1] = {like};
  bool hasAll = true;
  for (int axis = 0; axis < rank; ++axis)
    hasAll &=
        (arguments[axis + 1] = PyLong_FromLongLong(sizes[axis])) != nullptr;
  PyObject *result = hasAll ? PyObject_Vectorcall(library->empty, arguments,
                                                  size_t(rank) + 1, nullptr)
                            : nullptr;
  for (int axis = 0; axis < rank; ++axis)
    Py_XDECREF(arguments[axis + 1]);
  return result;
}

PyObject *kron::python::allocateTensor(PyObject *like, KronType type,
                                       int device, int rank,
                                       const int64_t *sizes, View &view) {
  PyObject *result = device < 0 ? allocatePooled(type, rank, sizes) : nullptr;
  if (!result &&
      (result = allocateDirectly(like, type, device, rank, sizes, view)))
    return result;
  if (!result)
    result = allocateByMethod(like, rank, sizes);
  // New tensors hold their elements as they are.
  if (!result || loadTensor(result, view))
    return result;
  Py_DECREF(result);
  PyErr_SetString(PyExc_RuntimeError, "cannot use a newly allocated tensor");
  return nullptr;
}
