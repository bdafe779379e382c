//===- SparseNode.cpp - Forward of kron.ksmm and its chains as nodes ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A chain runs factor by factor, since backward needs what lies between them.
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include "Recorded.h"

namespace py = pybind11;
using namespace kron::python;

namespace {
/// An option that a chain may have one of per factor.
struct PerFactor {
  PyObject *object;
  bool isList;

  bool fits(Py_ssize_t count) const {
    return !isList ||
           (isSequence(object) && PySequence_Fast_GET_SIZE(object) == count);
  }
  PyObject *get(Py_ssize_t number) const {
    return isList ? PySequence_Fast_GET_ITEM(object, number) : object;
  }
};
} // namespace

PyObject *kron::python::forwardSparse(PyObject *, PyObject *const *args,
                                      Py_ssize_t numArgs) {
  using Options = SparseOptions;
  PyObject *options = args[1];
  Casts casts(getCastType(options));
  PyObject *inputs[kMaxOperands];
  std::copy(args + 2, args + numArgs, inputs);
  casts.castAll(inputs, numArgs - 2);
  PyObject *x = inputs[0], *bias = inputs[1], *residual = inputs[2],
           *z = inputs[3];
  PyObject *const *weights = inputs + 4;
  Py_ssize_t count = numArgs - 6;
  auto option = [&](int number) {
    return given(PyTuple_GET_ITEM(options, number));
  };
  bool isChain = option(Options::IsChain) == Py_True;
  PyObject *patternObject = option(Options::Pattern),
           *transObject = option(Options::Trans);
  PerFactor patterns = {patternObject, isChain && patternObject};
  PerFactor transposes = {transObject, isChain && isSequence(transObject)};
  if (count < 1 || !patterns.fits(count) || !transposes.fits(count))
    return refuse();
  // x, the weights, the inputs of all factors but the first, and what an
  // activation's derivative is computed from.
  PyObject *epilogue = option(Options::Epilogue);
  bool hasActivation = epilogue && PyUnicode_CheckExact(epilogue) &&
                       PyUnicode_CompareWithASCIIString(epilogue, "identity");
  py::tuple saved(2 * count + (hasActivation ? 2 : 0));
  saved[0] = py::handle(x);
  py::object step = py::reinterpret_borrow<py::object>(x);
  for (Py_ssize_t i = 0; i < count; ++i) {
    KsmmCall call;
    call.x = step.ptr();
    call.weights = weights[i];
    call.pattern = patterns.get(i);
    call.trans = transposes.get(i);
    call.layout = option(Options::Layout);
    call.precision = option(Options::Precision);
    bool isLast = i == count - 1;
    if (isLast) {
      call.bias = given(bias);
      call.residual = given(residual);
      call.z = given(z);
      call.epilogue = epilogue;
      call.alpha = option(Options::Alpha);
      call.beta = option(Options::Beta);
      call.scale = option(Options::Scale);
    }
    step = py::reinterpret_steal<py::object>(computeKsmm(call));
    if (!step)
      return nullptr;
    saved[1 + i] = py::handle(weights[i]);
    if (!isLast)
      saved[1 + count + i] = step;
  }
  if (hasActivation) {
    saved[2 * count] = py::handle(bias);
    saved[2 * count + 1] = py::handle(z);
  }
  return finishForward(args, numArgs, saved.ptr(), given(z),
                       step.release().ptr());
}
