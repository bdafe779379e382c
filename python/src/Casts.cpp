//===- Casts.cpp - What torch.autocast makes of a call's arrays -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Casts.h"
#include "Kernel.h"
#include "Tensors.h"
#include <map>
#include <tuple>

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

int Casts::getNumber() {
  if (!number)
    number = findTensorType(type);
  return *number;
}

PyObject *Casts::cast(PyObject *object) {
  if (!object || !type)
    return object;
  // f64, integers and complex numbers stay what they are.
  int from = getTensorType(object);
  if (from == getNumber() ||
      (from != KRON_F32 && from != KRON_F16 && from != KRON_BF16))
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

//===----------------------------------------------------------------------===//
// Several arrays in one launch
//===----------------------------------------------------------------------===//

/// Elements up to which one thread casts on a CPU; for more the library takes
/// all threads.
static constexpr int64_t kMostOnCpu = 4096;

/// Null before Python code has given it; never destroyed.
static PyObject *compileCasts = nullptr;

void kron::python::setCastKernels(py::function compile) {
  compileCasts = compile.release().ptr();
}

/// The kernel that casts `count` arrays to `type`; never destroyed, and guarded
/// by the interpreter's lock.
static const Kernel *getCastKernel(int count, KronType type, int device) {
  static auto *kernels =
      new std::map<std::tuple<int, int, int>, std::pair<PyObject *, Kernel *>>;
  auto key = std::tuple(count, int(type), device);
  auto found = kernels->find(key);
  if (found == kernels->end()) {
    py::object compiled =
        py::handle(compileCasts)(count, getTypeName(type), device);
    auto *kernel = compiled.cast<Kernel *>();
    // Compiling may have let another thread come first.
    found = kernels->try_emplace(key, compiled.release().ptr(), kernel).first;
  }
  return found->second.second;
}

/// Whether rows of `view`, if it has elements, lie one after the other, and how
/// many elements it has.
static bool countRowMajor(const View &view, int64_t &count) {
  count = 1;
  for (int axis = view.rank; axis-- > 0; count *= view.sizes[axis])
    if (view.sizes[axis] != 1 && view.strides[axis] != count)
      return false;
  return count > 0;
}

/// False, and nothing is done, where arrays have to be cast one by one.
bool Casts::castTogether(PyObject **objects, Py_ssize_t count) {
  int number = getNumber();
  if (!compileCasts || (number != KRON_F16 && number != KRON_BF16))
    return false;
  auto to = KronType(number);
  struct Array {
    Py_ssize_t number;
    View view, result;
    int64_t size;
  };
  Array arrays[kMaxOperands];
  int numArrays = 0;
  int64_t total = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!objects[i] || getTensorType(objects[i]) != KRON_F32)
      continue;
    Array &array = arrays[numArrays++];
    array.number = i;
    if (!loadView(objects[i], /*allowTensors=*/true, array.view) ||
        array.view.device != arrays[0].view.device ||
        !countRowMajor(array.view, array.size))
      return false;
    total += array.size;
  }
  int device = arrays[0].view.device;
  void *stream = nullptr;
  if (numArrays < 2 || (device < 0 && total > kMostOnCpu) ||
      (device >= 0 && !findCurrentStream(device, stream)))
    return false;
  KronArray launched[2 * kMaxOperands];
  std::vector<py::object> results;
  for (int i = 0; i < numArrays; ++i) {
    Array &array = arrays[i];
    results.push_back(
        check(allocateLike(objects[array.number], to, device, array.view.rank,
                           array.view.sizes, array.result)));
    // A library that cannot be asked for a type.
    if (array.result.type != to)
      return false;
    launched[i] = {array.view.data, &array.size, nullptr, 1, KRON_F32};
    launched[numArrays + i] = {array.result.data, &array.size, nullptr, 1, to};
  }
  if (!getCastKernel(numArrays, to, device)
           ->launch(launched, 2 * numArrays, device, stream, /*numThreads=*/1,
                    /*isLong=*/false, /*areOnDevice=*/true))
    throw py::error_already_set();
  for (int i = 0; i < numArrays; ++i) {
    objects[arrays[i].number] = results[i].ptr();
    kept.push_back(std::move(results[i]));
  }
  return true;
}

void Casts::castAll(PyObject **objects, Py_ssize_t count) {
  if (!type)
    return;
  castTogether(objects, count);
  for (Py_ssize_t i = 0; i < count; ++i)
    objects[i] = cast(objects[i]);
}
