//===- Operation.cpp - What the calls of all operations share -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include "Recorded.h"

namespace py = pybind11;
using namespace kron::python;

Hooks &kron::python::getHooks() {
  static Hooks hooks;
  return hooks;
}

static bool isNumber(PyObject *object, long value) {
  if (PyLong_CheckExact(object)) {
    int overflow;
    return PyLong_AsLongAndOverflow(object, &overflow) == value && !overflow;
  }
  return PyFloat_CheckExact(object) && PyFloat_AS_DOUBLE(object) == value;
}

bool Operation::loadScaling(PyObject *alphaObject, PyObject *betaObject,
                            PyObject *zObject) {
  if (alphaObject && !isNumber(alphaObject, 1)) {
    hasAlpha = true;
    if (!alpha.load(alphaObject, x.type))
      return decline("expects alpha to be a number of the arrays' type");
  }
  // z counts for the types and shapes even where it is not read.
  hasAddend = zObject;
  if (zObject && !loadOperand(zObject, z))
    return false;
  if (!betaObject || isNumber(betaObject, 0))
    return true;
  if (!beta.load(betaObject, x.type))
    return decline("expects beta to be a number of the arrays' type");
  if (!zObject)
    return decline("expects z when beta is not 0");
  addend = OtherAddend;
  return true;
}

bool Operation::prepareResult(PyObject *out, PyObject *like, int rank,
                              const int64_t *sizes) {
  if (!out) {
    result = allocateLike(like, x.type, x.device, rank, sizes, y);
    return result || decline("cannot allocate the result");
  }
  if (!loadOperand(out, y))
    return false;
  if (y.rank != rank || !std::equal(sizes, sizes + rank, y.sizes))
    return decline("expects out to have the shape of the result");
  if (!y.writable)
    return decline("expects out to be writable");
  for (int axis = 0; axis < rank && !y.isEmpty(); ++axis)
    if (y.sizes[axis] > 1 && y.strides[axis] == 0)
      return decline("expects the elements of out to be apart");
  result = out;
  Py_INCREF(out);
  isGiven = true;
  return true;
}

bool Operation::loadStream(PyObject *object) {
  if (object)
    stream = PyLong_AsVoidPtr(object);
  else if (x.device >= 0 && !findCurrentStream(x.device, stream) &&
           (mode == CallMode::Direct || mode == CallMode::Recorded))
    return decline("expects a tensor library that tells its stream");
  return !PyErr_Occurred();
}

bool Operation::broadcastToResult(const View &view, int64_t *strides) const {
  if (view.rank > y.rank)
    return decline("expects an operand that broadcasts to the result");
  int lead = y.rank - view.rank;
  std::fill_n(strides, lead, 0);
  for (int axis = 0; axis < view.rank; ++axis) {
    int64_t size = view.sizes[axis];
    if (size != 1 && size != y.sizes[lead + axis])
      return decline("expects an operand that broadcasts to the result");
    strides[lead + axis] =
        size == 1 && y.sizes[lead + axis] != 1 ? 0 : view.strides[axis];
  }
  return true;
}

bool Operation::checkAddend() {
  int64_t strides[kMaxRank];
  if (hasAddend && !broadcastToResult(z, strides))
    return false;
  if (addend == NoAddend || !conflicts(z))
    return true;
  if (!isSame(y, z))
    return decline("expects z to be out or apart from it");
  addend = InPlace;
  return true;
}

const Kernel *Operation::build(const Call &call, CallProgram program) const {
  bindProgram();
  py::object written = py::cast(std::move(program.program));
  auto built = py::reinterpret_steal<py::object>(
      PyObject_CallFunction(getHooks().build, "OiOO", written.ptr(), x.device,
                            call.getShapes().ptr(), program.factors.ptr()));
  return built ? rememberKernel(call.key, std::move(built)) : nullptr;
}

PyObject **kron::python::internNames(const FunctionSpec &spec) {
  auto **names = new PyObject *[spec.numNames];
  for (int i = 0; i < spec.numNames; ++i)
    names[i] = PyUnicode_InternFromString(spec.names[i]);
  return names;
}

bool kron::python::isAdmitted(const CallContext &context) {
  return context.getMode() != CallMode::Direct ||
         isPlainContext(/*allowsAutocast=*/true);
}

CastAction kron::python::castArguments(const FunctionSpec &spec,
                                       Arguments &arguments, Casts &casts,
                                       py::object &list) {
  PyObject **values = arguments.values;
  PyObject *listed = spec.list < 0 ? nullptr : values[spec.list];
  if (spec.list >= 0 && !isSequence(listed))
    return CastAction::Decline;
  Py_ssize_t count = listed ? PySequence_Fast_GET_SIZE(listed) : 0;
  TensorNeed need = TensorNeed::Nothing;
  auto add = [&](PyObject *object) {
    if (object && need != TensorNeed::Library)
      need = std::max(need, getTensorType(object) < 0 ? TensorNeed::Library
                                                      : getTensorNeed(object));
  };
  for (const int *number = spec.arrays; *number >= 0; ++number)
    add(values[*number]);
  for (Py_ssize_t i = 0; i < count; ++i)
    add(PySequence_Fast_GET_ITEM(listed, i));
  if (need == TensorNeed::Library)
    return CastAction::Decline;
  if (need == TensorNeed::Derivative)
    return CastAction::Record;
  for (const int *number = spec.arrays; *number >= 0; ++number)
    values[*number] = casts.cast(values[*number]);
  if (!listed)
    return CastAction::Continue;
  py::tuple result(count);
  for (Py_ssize_t i = 0; i < count; ++i)
    result[i] = py::handle(casts.cast(PySequence_Fast_GET_ITEM(listed, i)));
  list = std::move(result);
  values[spec.list] = list.ptr();
  return CastAction::Continue;
}

PyObject *kron::python::settle(const CallContext &context, PyObject *result) {
  CallMode mode = context.getMode();
  if (result || (mode != CallMode::Direct && mode != CallMode::Recorded) ||
      !PyErr_ExceptionMatches(PyExc_ValueError))
    return result;
  PyErr_Clear();
  if (mode == CallMode::Recorded)
    return refuse();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject *kron::python::callFallback(const CallContext &context) {
  if (PyErr_Occurred())
    return nullptr;
  if (context.getMode() == CallMode::Direct)
    Py_RETURN_NOTIMPLEMENTED;
  if (context.getMode() == CallMode::Recorded)
    return refuse();
  if (context.getMode() == CallMode::Raw || !getHooks().fallback) {
    PyErr_Format(PyExc_ValueError, "%s %s", context.spec.name,
                 getDeclineReason());
    return nullptr;
  }
  py::tuple args(context.numArgs);
  for (Py_ssize_t i = 0; i < context.numArgs; ++i)
    args[i] = py::reinterpret_borrow<py::object>(context.args[i]);
  py::dict kwargs;
  Py_ssize_t numKeywords =
      context.keywords ? PyTuple_GET_SIZE(context.keywords) : 0;
  for (Py_ssize_t i = 0; i < numKeywords; ++i)
    PyDict_SetItem(kwargs.ptr(), PyTuple_GET_ITEM(context.keywords, i),
                   context.args[context.numArgs + i]);
  return PyObject_CallFunction(getHooks().fallback, "sOO", context.spec.name,
                               args.ptr(), kwargs.ptr());
}
