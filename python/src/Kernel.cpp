//===- Kernel.cpp - Compiled kernels as Python objects --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Gradients.h"
#include "Integer.h"
#include "Tensors.h"
#include <deque>
#include <pybind11/stl.h>
#include <unordered_map>

namespace py = pybind11;
using namespace kron::python;

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static PyObject *getException(KronStatus status) {
  switch (status) {
  case KRON_OUT_OF_MEMORY:
    return PyExc_MemoryError;
  case KRON_INVALID_ARGUMENT:
  case KRON_MISMATCH:
    return PyExc_ValueError;
  default:
    return PyExc_RuntimeError;
  }
}

bool Kernel::launch(const KronArray *arrays, int numArrays, int device,
                    void *stream, int numThreads, bool isLong,
                    bool areOnDevice) const {
  KronLaunchOptions options = {};
  options.numThreads = numThreads;
  if (device >= 0) {
    options.target = KRON_TARGET_CUDA;
    options.device = device;
    options.arraysReachable = areOnDevice;
    options.stream = stream;
  }
  KronStatus status;
  // While the interpreter's lock is released, another thread may forget this
  // kernel: the code stays, this object may not.
  py::object keep = owner;
  const KronKernel *code = kernel;
  if (isLong) {
    PyThreadState *state = PyEval_SaveThread();
    status = kronLaunch(code, arrays, numArrays, &options);
    PyEval_RestoreThread(state);
  } else {
    status = kronLaunch(code, arrays, numArrays, &options);
  }
  if (status == KRON_SUCCESS)
    return true;
  PyErr_SetString(getException(status), kronGetLastError());
  return false;
}

//===----------------------------------------------------------------------===//
// Kernels by key
//===----------------------------------------------------------------------===//

namespace {
struct TableEntry {
  py::object object;
  const Kernel *kernel;
};
struct HashKey {
  size_t operator()(const Key &key) const { return key.hash(); }
};
using KernelTable = std::unordered_map<Key, TableEntry, HashKey>;
} // namespace

/// Guarded by the interpreter's lock; never destroyed, since that would be
/// after the interpreter's end.
static KernelTable &getTable() {
  static auto *table = new KernelTable;
  return *table;
}

const Kernel *kron::python::findKernel(const Key &key) {
  auto found = getTable().find(key);
  return found == getTable().end() ? nullptr : found->second.kernel;
}

const Kernel *kron::python::rememberKernel(const Key &key, py::object kernel) {
  auto *pointer = kernel.cast<const Kernel *>();
  TableEntry entry = {std::move(kernel), pointer};
  // What was there goes when the table is whole again.
  std::swap(getTable()[key], entry);
  return pointer;
}

size_t kron::python::forgetKernels() {
  // Kernels go after the table has let go of them.
  KernelTable forgotten;
  forgotten.swap(getTable());
  forgetPlans();
  return forgotten.size();
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

/// Arguments as a list of dictionaries.
static py::list describeArguments(const Kernel &self) {
  static const char *const accesses[] = {"read", "write", "readwrite"};
  py::list result;
  for (int i = 0; i < self.kernel->numArgs; ++i) {
    const KronArgInfo &info = self.kernel->args[i];
    py::list sizes, symbols;
    for (int axis = 0; axis < info.rank; ++axis) {
      sizes.append(info.sizes[axis]);
      symbols.append(info.symbols[axis]);
    }
    py::dict arg;
    arg["name"] = info.name;
    arg["type"] = getTypeName(info.type);
    arg["access"] = accesses[info.access];
    arg["contiguity"] = info.contiguity;
    arg["sizes"] = py::tuple(sizes);
    arg["symbols"] = py::tuple(symbols);
    result.append(std::move(arg));
  }
  return result;
}

/// None is left to be found out: null.
static void *castStream(py::handle object) {
  if (object.is_none())
    return nullptr;
  return reinterpret_cast<void *>(castInteger(object, "stream", 0, INT64_MAX));
}

static int castNumThreads(py::handle object) {
  return int(castInteger(object, "num_threads", 0, INT32_MAX));
}

/// Calls the kernel on arrays, tensors and, for rank 0, numbers. A stream of
/// None is the tensor library's current one.
static void callKernel(const Kernel &self, const py::args &args,
                       py::handle streamObject, py::handle threadsObject) {
  void *stream = castStream(streamObject);
  int numThreads = castNumThreads(threadsObject);
  constexpr size_t maxArgs = 64;
  if (args.size() != size_t(self.kernel->numArgs) || args.size() > maxArgs)
    throw py::value_error("kernel '" + std::string(self.kernel->name) +
                          "' expects " + std::to_string(self.kernel->numArgs) +
                          " arguments, but got " + std::to_string(args.size()));
  View views[maxArgs];
  Scalar scalars[maxArgs];
  KronArray arrays[maxArgs];
  int device = -1;
  bool isLong = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const KronArgInfo &info = self.kernel->args[i];
    auto name = [&] { return "argument '" + std::string(info.name) + "' "; };
    if (info.rank == 0 && scalars[i].load(args[i].ptr(), info.type)) {
      arrays[i] = {scalars[i].bytes, nullptr, nullptr, 0, info.type};
      continue;
    }
    View &view = views[i];
    if (!loadView(args[i].ptr(), /*allowTensors=*/true, view))
      throw py::type_error("expects " + name() + "to be a " +
                           getTypeName(info.type) +
                           " array of native byte order with strides that are "
                           "multiples of its elements and not negative");
    if (info.access != KRON_READ && !view.writable)
      throw py::value_error("expects " + name() + "to be writable");
    device = std::max(device, view.device);
    isLong |= view.getRange().second - view.getRange().first > 16384;
    arrays[i] = {view.data, view.sizes, view.strides, view.rank, view.type};
  }
  if (streamObject.is_none() && device >= 0)
    findCurrentStream(device, stream);
  if (!self.launch(arrays, int(args.size()), device, stream, numThreads,
                   isLong))
    throw py::error_already_set();
}

/// Calls the kernel on (address, shape, strides in elements, type, readonly).
static void launchRaw(const Kernel &self, const py::sequence &args,
                      py::handle streamObject, py::handle threadsObject,
                      py::handle deviceObject) {
  void *stream = castStream(streamObject);
  int numThreads = castNumThreads(threadsObject);
  int device = int(castInteger(deviceObject, "device", -1, INT32_MAX));
  std::deque<std::vector<int64_t>> numbers;
  std::vector<KronArray> arrays;
  for (py::handle item : args) {
    auto tuple = item.cast<py::tuple>();
    if (tuple.size() != 5)
      throw py::value_error(
          "expects (address, shape, strides, type, readonly)");
    auto type = tuple[3].cast<std::string>();
    int number = findType(type.c_str());
    if (number < 0)
      throw py::value_error("expects an element type, but got '" + type + "'");
    size_t index = arrays.size();
    if (index < size_t(self.kernel->numArgs) &&
        self.kernel->args[index].access != KRON_READ && tuple[4].cast<bool>())
      throw py::value_error("expects argument '" +
                            std::string(self.kernel->args[index].name) +
                            "' to be writable");
    auto &sizes = numbers.emplace_back(tuple[1].cast<std::vector<int64_t>>());
    KronArray array = {reinterpret_cast<void *>(tuple[0].cast<uintptr_t>()),
                       sizes.data(), nullptr, int(sizes.size()),
                       KronType(number)};
    if (!tuple[2].is_none()) {
      auto &strides =
          numbers.emplace_back(tuple[2].cast<std::vector<int64_t>>());
      if (strides.size() != sizes.size())
        throw py::value_error("expects as many strides as sizes");
      array.strides = strides.data();
    }
    arrays.push_back(array);
  }
  if (!self.launch(arrays.data(), int(arrays.size()), device, stream,
                   numThreads, /*isLong=*/true))
    throw py::error_already_set();
}

static void setNumThreads(py::handle count) {
  if (kronSetNumThreads(int(castInteger(count, "count", 1, INT32_MAX))) !=
      KRON_SUCCESS)
    throw py::value_error(kronGetLastError());
}

static void allowCublas(bool allowed) { kronAllowCublas(allowed); }

static int getCudaDeviceCount() {
  int32_t count = 0;
  kronGetCudaDeviceCount(&count);
  return count;
}

static py::dict getCudaProperties(int device) {
  KronCudaProperties properties;
  if (kronGetCudaProperties(device, &properties) != KRON_SUCCESS)
    throw py::value_error(kronGetLastError());
  py::dict result;
  result["model"] = properties.model;
  result["capability"] = properties.capability;
  result["num_sms"] = properties.numSMs;
  result["clock_mhz"] = properties.clockMHz;
  result["memory_clock_mhz"] = properties.memoryClockMHz;
  result["memory_bits"] = properties.memoryBits;
  result["memory_bytes"] = properties.memoryBytes;
  result["l2_bytes"] = properties.l2Bytes;
  return result;
}

void kron::python::bindKernel(py::module_ &module) {
  py::class_<Kernel>(module, "Kernel", py::module_local())
      .def(py::init([](uintptr_t address, py::object owner) {
             return Kernel{reinterpret_cast<const KronKernel *>(address),
                           std::move(owner)};
           }),
           py::arg("address"), py::arg("owner"))
      .def_property_readonly(
          "name", [](const Kernel &self) { return self.kernel->name; })
      .def_property_readonly("args", describeArguments)
      .def_property_readonly("address",
                             [](const Kernel &self) {
                               return reinterpret_cast<uintptr_t>(self.kernel);
                             })
      .def("__call__", callKernel, py::kw_only(), py::arg("stream") = 0,
           py::arg("num_threads") = 0)
      .def("launch", launchRaw, py::arg("args"), py::kw_only(),
           py::arg("stream") = 0, py::arg("num_threads") = 0,
           py::arg("device") = -1);
  module.def("get_num_threads", kronGetNumThreads);
  module.def("set_num_threads", setNumThreads, py::arg("count"));
  module.def("allow_cublas", allowCublas, py::arg("allowed") = true);
  module.def("is_cublas_allowed", [] { return kronIsCublasAllowed() != 0; });
  module.def("cuda_device_count", getCudaDeviceCount);
  module.def("cuda_properties", getCudaProperties, py::arg("device"));
  module.def("forget_kernels", forgetKernels);
}
