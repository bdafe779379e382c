//===- Buffer.cpp - Arrays that other libraries export --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Buffer.h"
#include "Pool.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace kron::python;

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {

// The structs of dlpack.h, versions 0.x and 1.x of the protocol.
struct DLTensor {
  void *data;
  int32_t deviceType;
  int32_t deviceNumber;
  int32_t rank;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t *sizes;
  int64_t *strides;
  uint64_t byteOffset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

enum {
  DLInt = 0,
  DLFloat = 2,
  DLBFloat = 4,
  DLComplex = 5,
  DLFloat8E4M3FN = 10,
  DLFloat8E5M2 = 12
};
enum { DLCpu = 1, DLCuda = 2, DLCudaHost = 3, DLCudaManaged = 13 };

} // namespace

static int getType(const DLTensor &tensor) {
  if (tensor.lanes != 1)
    return -1;
  switch (tensor.code << 8 | tensor.bits) {
  case DLFloat << 8 | 32:
    return KRON_F32;
  case DLFloat << 8 | 64:
    return KRON_F64;
  case DLFloat << 8 | 16:
    return KRON_F16;
  case DLBFloat << 8 | 16:
    return KRON_BF16;
  case DLInt << 8 | 8:
    return KRON_I8;
  case DLFloat8E4M3FN << 8 | 8:
    return KRON_F8E4M3FN;
  case DLFloat8E5M2 << 8 | 8:
    return KRON_F8E5M2;
  case DLInt << 8 | 32:
    return KRON_I32;
  case DLInt << 8 | 64:
    return KRON_I64;
  case DLComplex << 8 | 64:
    return KRON_C32;
  case DLComplex << 8 | 128:
    return KRON_C64;
  default:
    return -1;
  }
}

/// Strides that nobody steps along, and those of row-major arrays without any.
static void setStrides(View &view, const int64_t *strides) {
  int64_t rowMajor = 1;
  for (int axis = view.rank; axis-- > 0;) {
    bool isFree = !strides || view.sizes[axis] <= 1;
    view.strides[axis] = isFree ? rowMajor : strides[axis];
    if (view.strides[axis] < 0)
      throw py::value_error("expects strides that are not negative");
    rowMajor *= view.sizes[axis];
  }
}

static View convert(const DLTensor &tensor) {
  View view;
  int type = getType(tensor);
  if (type < 0)
    throw py::type_error("expects a DLPack tensor of a type that kron has, but "
                         "got code " +
                         std::to_string(tensor.code) + " with " +
                         std::to_string(tensor.bits) + " bits");
  if (tensor.rank > kMaxRank)
    throw py::value_error("expects at most 16 dimensions, but got " +
                          std::to_string(tensor.rank));
  bool isCuda =
      tensor.deviceType == DLCuda || tensor.deviceType == DLCudaManaged;
  if (!isCuda && tensor.deviceType != DLCpu && tensor.deviceType != DLCudaHost)
    throw py::value_error(
        "expects a tensor on a CPU or an NVIDIA GPU, but got DLPack's device " +
        std::to_string(tensor.deviceType));
  view.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  view.rank = tensor.rank;
  view.type = KronType(type);
  view.device = isCuda ? tensor.deviceNumber : -1;
  view.writable = true;
  std::copy_n(tensor.sizes, tensor.rank, view.sizes);
  setStrides(view, tensor.strides);
  return view;
}

static Buffer fromDLPack(py::capsule capsule) {
  auto *managed = static_cast<DLManagedTensor *>(
      PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed)
    throw py::error_already_set();
  View view = convert(managed->tensor);
  // From here on the tensor is ours.
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  py::capsule owner(managed, [](void *pointer) {
    auto *tensor = static_cast<DLManagedTensor *>(pointer);
    if (tensor->deleter)
      tensor->deleter(tensor);
  });
  return {view, std::move(owner)};
}

namespace {

/// What a tensor in memory of the pool holds on to.
struct PooledTensor {
  DLManagedTensor managed;
  int64_t sizes[kMaxRank];
  Block block;
};

} // namespace

static void deletePooled(DLManagedTensor *managed) {
  auto *tensor = static_cast<PooledTensor *>(managed->context);
  returnBlock(tensor->block);
  delete tensor;
}

static void setType(DLTensor &tensor, KronType type) {
  static constexpr uint8_t codes[] = {DLFloat, DLFloat, DLFloat,   DLBFloat,
                                      DLInt,   DLInt,   DLComplex, DLComplex};
  tensor.code = codes[type];
  tensor.bits = 8 * kronGetTypeSize(type);
  tensor.lanes = 1;
}

/// Capsules that nobody has taken the array out of.
static void deleteCapsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    deletePooled(static_cast<DLManagedTensor *>(
        PyCapsule_GetPointer(capsule, "dltensor")));
}

PyObject *kron::python::allocateCapsule(KronType type, int rank,
                                        const int64_t *sizes) {
  int64_t bytes = kronGetTypeSize(type);
  for (int axis = 0; axis < rank; ++axis)
    if (__builtin_mul_overflow(bytes, sizes[axis], &bytes))
      return nullptr;
  if (bytes < int64_t(kPoolThreshold))
    return nullptr;
  Block block = takeBlock(bytes);
  if (!block.data)
    return nullptr;
  auto *tensor = new PooledTensor();
  tensor->block = block;
  std::copy_n(sizes, rank, tensor->sizes);
  tensor->managed.context = tensor;
  tensor->managed.deleter = deletePooled;
  DLTensor &description = tensor->managed.tensor;
  description.data = block.data;
  description.deviceType = DLCpu;
  description.rank = rank;
  description.sizes = tensor->sizes;
  setType(description, type);
  PyObject *capsule =
      PyCapsule_New(&tensor->managed, "dltensor", deleteCapsule);
  if (!capsule) {
    PyErr_Clear();
    deletePooled(&tensor->managed);
  }
  return capsule;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static Buffer fromAddress(uintptr_t address, const std::vector<int64_t> &sizes,
                          const std::optional<std::vector<int64_t>> &strides,
                          const std::string &typeName, int device,
                          bool isWritable, py::object owner) {
  int type = findType(typeName.c_str());
  if (type < 0)
    throw py::type_error("expects an element type, but got '" + typeName + "'");
  if (sizes.size() > size_t(kMaxRank) ||
      (strides && strides->size() != sizes.size()))
    throw py::value_error("expects at most 16 sizes and as many strides");
  View view;
  view.data = reinterpret_cast<char *>(address);
  view.rank = int(sizes.size());
  view.type = KronType(type);
  view.device = device;
  view.writable = isWritable;
  std::copy(sizes.begin(), sizes.end(), view.sizes);
  setStrides(view, strides ? strides->data() : nullptr);
  return {view, std::move(owner)};
}

void kron::python::bindBuffer(py::module_ &module) {
  auto type =
      py::class_<Buffer>(module, "Buffer", py::module_local())
          .def(py::init(&fromAddress), py::arg("address"), py::arg("sizes"),
               py::arg("strides"), py::arg("type"), py::arg("device") = -1,
               py::arg("writable") = true, py::arg("owner") = py::none())
          .def_static("from_dlpack", fromDLPack, py::arg("capsule"))
          .def_property_readonly("shape",
                                 [](const Buffer &self) {
                                   py::tuple shape(self.view.rank);
                                   for (int i = 0; i < self.view.rank; ++i)
                                     shape[i] = self.view.sizes[i];
                                   return shape;
                                 })
          .def_property_readonly(
              "type",
              [](const Buffer &self) { return getTypeName(self.view.type); })
          .def_property_readonly(
              "device", [](const Buffer &self) { return self.view.device; });
  registerBufferType(reinterpret_cast<PyTypeObject *>(type.ptr()));
}
