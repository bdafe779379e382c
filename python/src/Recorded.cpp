//===- Recorded.cpp - Calls that are one node of PyTorch's graph ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Recorded.h"
#include "Gradients.h"
#include "Operation.h"

namespace py = pybind11;
using namespace kron::python;

namespace {
/// What Python code gave to set_node: `apply` of the class, its backward where
/// there is no compiled function, and the choice of that.
struct Node {
  PyObject *apply = nullptr, *backward = nullptr, *plan = nullptr;
};
} // namespace

static Node nodes[2];

/// The class of the exception that refuse() raises; never destroyed.
static PyObject *refused = nullptr;

/// What save_for_backward of a context does nothing but set to its arguments;
/// null unless PyTorch's is known to. Never destroyed.
static PyObject *savedName = nullptr;

static PyObject *orNone(PyObject *object) { return object ? object : Py_None; }

PyObject *kron::python::refuse() {
  PyErr_SetNone(refused);
  return nullptr;
}

PyObject *kron::python::record(NodeKind kind,
                               std::initializer_list<PyObject *> options,
                               std::initializer_list<PyObject *> operands,
                               PyObject *list) {
  PyObject *apply = nodes[int(kind)].apply;
  if (!apply || !list || !isSequence(list) ||
      PySequence_Fast_GET_SIZE(list) > kMaxFactors)
    Py_RETURN_NOTIMPLEMENTED;
  py::tuple packed(options.size());
  for (size_t i = 0; i < options.size(); ++i)
    packed[i] = py::handle(orNone(options.begin()[i]));
  Casts casts(options.end()[-1]);
  PyObject *arguments[kMaxOperands + 1] = {packed.ptr()};
  size_t count = 1;
  for (PyObject *operand : operands)
    arguments[count++] = orNone(casts.castInner(operand));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i)
    arguments[count++] = casts.castInner(PySequence_Fast_GET_ITEM(list, i));
  PyObject *result = PyObject_Vectorcall(apply, arguments, count, nullptr);
  if (result || !PyErr_ExceptionMatches(refused))
    return result;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

static py::object getInputs(PyObject *const *inputs, Py_ssize_t count) {
  py::tuple result(count);
  for (Py_ssize_t i = 0; i < count; ++i)
    result[i] = py::handle(requiresGrad(inputs[i]) ? inputs[i] : Py_None);
  return result;
}

/// Lets the context keep a tuple of tensors; false with an exception.
static bool save(PyObject *ctx, PyObject *tensors) {
  if (savedName)
    return PyObject_SetAttr(ctx, savedName, tensors) == 0;
  auto method = py::reinterpret_steal<py::object>(
      PyObject_GetAttr(ctx, KRON_INTERNED("save_for_backward")));
  return method && py::reinterpret_steal<py::object>(
                       PyObject_CallObject(method.ptr(), tensors));
}

PyObject *kron::python::finishForward(PyObject *const *args, Py_ssize_t numArgs,
                                      PyObject *saved, PyObject *z,
                                      PyObject *result) {
  PyObject *ctx = args[0], *options = args[1];
  auto owned = py::reinterpret_steal<py::object>(result);
  if (!owned)
    return nullptr;
  if (!save(ctx, saved) ||
      PyObject_SetAttr(ctx, KRON_INTERNED("options"), options))
    return nullptr;
  if (z) {
    auto shape = py::reinterpret_steal<py::object>(
        PyObject_GetAttr(z, KRON_INTERNED("shape")));
    if (!shape || PyObject_SetAttr(ctx, KRON_INTERNED("z_shape"), shape.ptr()))
      return nullptr;
  }
  if (getCastType(options) &&
      PyObject_SetAttr(ctx, KRON_INTERNED("inputs"),
                       getInputs(args + 2, numArgs - 2).ptr()))
    return nullptr;
  return owned.release().ptr();
}

static void setSavedName(py::str name) {
  savedName = name.release().ptr();
  PyUnicode_InternInPlace(&savedName);
}

static void setNode(const std::string &kind, py::function apply,
                    py::function backward, py::function plan) {
  int number = int(kind == "product" ? NodeKind::Product : NodeKind::Sparse);
  nodes[number] = {apply.release().ptr(), backward.release().ptr(),
                   plan.release().ptr()};
}

/// Backward of a node: (ctx, gradient).
template <NodeKind kind>
static PyObject *backward(PyObject *, PyObject *const *args, Py_ssize_t) {
  const Node &node = nodes[int(kind)];
  py::object saved = py::none();
  PyObject *result = computeGradients(kind, args[0], args[1], node.plan, saved);
  if (result || PyErr_Occurred())
    return result;
  PyObject *arguments[] = {args[0], args[1], saved.ptr()};
  return PyObject_Vectorcall(node.backward, arguments, 3, nullptr);
}

/// `function` as Python may call it: with `numArgs` arguments at least, and
/// without exceptions of C++.
template <PyCFunctionFastPositional function, Py_ssize_t numArgs>
static PyObject *guard(PyObject *self, PyObject *const *args,
                       Py_ssize_t count) {
  if (count < numArgs) {
    PyErr_Format(PyExc_TypeError, "expects %zd arguments, but got %zd", numArgs,
                 count);
    return nullptr;
  }
  try {
    return function(self, args, count);
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// Adds a function that PyTorch calls as a forward or backward.
static void addFunction(py::module_ &module, const char *name,
                        PyCFunctionFastPositional function) {
  auto *definition = new PyMethodDef{
      name, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function)),
      METH_FASTCALL, nullptr};
  module.add_object(name, py::reinterpret_steal<py::object>(
                              PyCFunction_NewEx(definition, nullptr, nullptr)));
}

void kron::python::bindRecorded(py::module_ &module) {
  refused = PyErr_NewException("kron._core.Refused", nullptr, nullptr);
  module.add_object("Refused", py::handle(refused));
  module.def("set_node", setNode, py::arg("kind"), py::arg("apply"),
             py::arg("backward"), py::arg("plan"));
  module.def("set_saved_name", setSavedName, py::arg("name"));
  module.def("set_cast_kernels", setCastKernels, py::arg("compile"));
  addFunction(module, "forward_product", guard<forwardProduct, 4>);
  addFunction(module, "forward_sparse", guard<forwardSparse, 6>);
  addFunction(module, "backward_product",
              guard<backward<NodeKind::Product>, 2>);
  addFunction(module, "backward_sparse", guard<backward<NodeKind::Sparse>, 2>);
}
