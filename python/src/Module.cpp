//===- Module.cpp - The extension module kron._core -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What every call needs: arrays, cached kernels, launching. The compiler is
// another module (Compiler.cpp), which is loaded when the first kernel has to
// be compiled, so that `import kron` does not wait for LLVM.
//
//===----------------------------------------------------------------------===//

#include "Buffer.h"
#include "Inference.h"
#include "Operation.h"
#include "Pool.h"
#include "Program.h"
#include "Recorded.h"
#include <array>
#include <dlfcn.h>

namespace py = pybind11;
using namespace kron::python;

/// Compiled code in memory finds the runtime's functions among the process's
/// global symbols; Python loads extensions and what they need locally.
static void exposeRuntime() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&kronLaunch), &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/// The folder of libkron_runtime.
static std::string getRuntimeFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&kronLaunch), &info))
    throw std::runtime_error("cannot find libkron_runtime");
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

/// Refuses a kernel that was built for another runtime.
static void checkKernel(uintptr_t address) {
  auto *kernel = reinterpret_cast<const KronKernel *>(address);
  if (kernel->apiVersion != KRON_API_VERSION)
    throw py::value_error("expects a kernel for version " +
                          std::to_string(KRON_API_VERSION) +
                          " of kron's interface, but got one for version " +
                          std::to_string(kernel->apiVersion));
}

/// Adds `function` to the module once per CallMode (Operation.h): as
/// `names[0]`, as `names[1]`, which takes all tensors and does not fall back to
/// Python code, and as `names[2]`, which takes tensors that need nothing of
/// their library.
static void addFunction(py::module_ &module, std::array<const char *, 3> names,
                        const char *doc, PyCFunctionFast function) {
  py::object moduleName = py::str("kron");
  PyObject *modes[] = {Py_None, Py_True, Py_False};
  for (int i = 0; i < 3; ++i) {
    auto *definition = new PyMethodDef{
        names[i],
        reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function)),
        METH_FASTCALL | METH_KEYWORDS, doc};
    auto object = py::reinterpret_steal<py::object>(
        PyCFunction_NewEx(definition, modes[i], moduleName.ptr()));
    module.add_object(definition->ml_name, object);
  }
}

static constexpr char mkmDoc[] =
    "mkm(x, factors, *, alpha=1, beta=0, z=None, out=None, trans_x=False, "
    "trans_factors=False, precision='full')\n--\n\n"
    "alpha * op(x) @ (op(factors[0]) kron ... kron op(factors[-1])) + beta * "
    "z\n"
    "\n"
    "x is [..., M, P1*...*PN] and op(factors[k]) is [..., Pk, Qk]; leading\n"
    "dimensions broadcast. trans_x and trans_factors (one for all factors, or "
    "a\n"
    "list) are False, True, 'N', 'T' or 'C' (conjugate transpose).";
static constexpr char kmmDoc[] =
    "kmm(x, factors, *, alpha=1, beta=0, z=None, out=None, trans_x=False, "
    "trans_factors=False, precision='full')\n--\n\n"
    "alpha * (op(factors[0]) kron ... kron op(factors[-1])) @ op(x) + beta * "
    "z\n"
    "\n"
    "x is [..., P1*...*PN, M] and op(factors[k]) is [..., Qk, Pk]; leading\n"
    "dimensions broadcast.";
static constexpr char batchedDoc[] =
    "batched(x, factors, *, alpha=1, beta=0, z=None, out=None, trans_x=False, "
    "trans_factors=False, precision='full')\n--\n\n"
    "Applies one matrix per axis to every array of a batch:\n"
    "y[..., q1, ..., qN] = alpha * sum op(factors[0])[q1, p1] * ... *\n"
    "op(factors[-1])[qN, pN] * x[..., p1, ..., pN] + beta * z[..., q1, ..., "
    "qN]";
static constexpr char ksmmDoc[] =
    "ksmm(x, weights, pattern=None, layout='batch_first', *, bias=None, "
    "z=None, epilogue=None, alpha=1, beta=0, out=None, scale=None, "
    "residual=None, trans_weights=False, precision='full')\n--\n\n"
    "Kronecker-sparse matrix product with bias and epilogue.\n\n"
    "weights has the shape of the pattern (a, b, c, d); x is [..., a*c*d]\n"
    "('batch_first') or [a*c*d, ...] ('batch_last'):\n"
    "v = alpha * K x + beta * z;  y = scale * epilogue(v + bias) + residual\n"
    "with epilogue one of None, 'relu', 'gelu', 'silu'.";
static constexpr char ksmmChainDoc[] =
    "ksmm_chain(x, weights, pattern=None, layout='batch_first', *, bias=None, "
    "z=None, epilogue=None, alpha=1, beta=0, out=None, scale=None, "
    "residual=None, trans_weights=False, precision='full')\n--\n\n"
    "Several Kronecker-sparse factors one after the other, weights[0] first, "
    "as\n"
    "one kernel. Bias and epilogue follow the last one.";

static void setHooks(py::function build, py::function fallback) {
  getHooks() = {build.release().ptr(), fallback.release().ptr()};
}

// Before pybind11 makes the module, it asks for the interpreter's lock as if
// there were one interpreter, and waits for ever in another one. So what it
// calls PyInit__core is called by the function of that name below.
#define PyInit__core initializeCore

static bool isPlainContextOrThrow() {
  bool isPlain = isPlainContext();
  if (PyErr_Occurred())
    throw py::error_already_set();
  return isPlain;
}

static py::object getAutocastType(py::handle x) {
  PyObject *type = findAutocastType(x.ptr());
  if (!type)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(type);
}

PYBIND11_MODULE(_core, module) {
  exposeRuntime();
  bindKernel(module);
  bindBuffer(module);
  bindInference(module);
  module.def("bind_program", bindProgram);
  addFunction(module, {"mkm", "raw_mkm", "direct_mkm"}, mkmDoc,
              getProductFunction(0));
  addFunction(module, {"kmm", "raw_kmm", "direct_kmm"}, kmmDoc,
              getProductFunction(1));
  addFunction(module, {"batched", "raw_batched", "direct_batched"}, batchedDoc,
              getProductFunction(2));
  addFunction(module, {"ksmm", "raw_ksmm", "direct_ksmm"}, ksmmDoc,
              getSparseFunction(false));
  addFunction(module, {"ksmm_chain", "raw_ksmm_chain", "direct_ksmm_chain"},
              ksmmChainDoc, getSparseFunction(true));
  module.def("set_hooks", setHooks, py::arg("build"), py::arg("fallback"));
  module.def("register_type", registerType, py::arg("name"),
             py::arg("type_number"));
  module.def("register_tensors", registerTensors);
  module.def("set_tensor_functions", setTensorFunctions, py::arg("functions"));
  module.def("autocast_type", getAutocastType, py::arg("x"));
  bindRecorded(module);
  module.def("is_plain_context", isPlainContextOrThrow);
  module.def("release_memory", releaseMemory);
  module.def("bad_pool_size", getBadPoolSize);
  module.def("runtime_version", kronGetVersion);
  module.def("runtime_folder", getRuntimeFolder);
  module.def("check_kernel", checkKernel, py::arg("address"));
  module.def("type_code", findType, py::arg("name"));
}

#undef PyInit__core

/// What Python calls. Kernels, hooks and types are the process's, so that only
/// one interpreter can have them.
extern "C" PYBIND11_EXPORT PyObject *PyInit__core() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main())
    return initializeCore();
  PyErr_SetString(PyExc_ImportError,
                  "expects kron to be imported in the main interpreter, but "
                  "this is a sub-interpreter");
  return nullptr;
}
