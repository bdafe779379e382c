//===- Operation.h - What the calls of all operations share -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_OPERATION_H
#define KRON_PYTHON_OPERATION_H

#include "Calls.h"
#include "Casts.h"
#include "Kernel.h"
#include "Tensors.h"

namespace kron::python {

/// Who calls an operation: users with NumPy's arrays, code that has checked the
/// arguments, or users with tensors (of the first kind, too, if x is one). A
/// call of the first kind that the fast path does not take goes to Python code,
/// one of the second kind raises ValueError, and one of the third kind returns
/// NotImplemented unless nothing but a derivative is in the way: then it
/// becomes a node of the graph, whose forward is a call of the fourth kind,
/// which raises Refused (Recorded.h).
enum class CallMode { Public, Raw, Direct, Recorded };

/// A call of one operation. The steps return false to leave the call to Python
/// code; none of them has written anything then.
class Operation {
public:
  explicit Operation(CallMode mode) : mode(mode) {}
  ~Operation() { Py_XDECREF(result); }

protected:
  bool load(PyObject *object, View &view) {
    return (loadView(object, mode != CallMode::Public, view) &&
            // Those of 8 bits are for compiled kernels.
            kronGetTypeSize(view.type) > 1 && isAdmitted(object)) ||
           decline("expects arrays of a supported kind");
  }
  /// Whether the mode takes the array, which has been loaded.
  bool isAdmitted(PyObject *object) {
    if (mode == CallMode::Recorded)
      return isTensorClass(Py_TYPE(object));
    if (mode != CallMode::Direct)
      return true;
    TensorNeed need = getTensorNeed(object);
    needsDerivative = need == TensorNeed::Derivative;
    return need == TensorNeed::Nothing;
  }
  /// Whether a call that the fast path has left can be a node of the graph.
  bool canRecord() const { return needsDerivative && !PyErr_Occurred(); }
  /// An operand that must have the type and device of x.
  bool loadOperand(PyObject *object, View &view) {
    return load(object, view) &&
           ((view.type == x.type && view.device == x.device) ||
            decline("expects one type and device"));
  }
  /// alpha, beta and z; null for the defaults.
  bool loadScaling(PyObject *alphaObject, PyObject *betaObject,
                   PyObject *zObject);
  /// Takes `out`, or allocates what `like` says, as y.
  bool prepareResult(PyObject *out, PyObject *like, int rank,
                     const int64_t *sizes);
  /// Strides of `view` broadcast to y; false if it does not broadcast.
  bool broadcastToResult(const View &view, int64_t *strides) const;
  /// The stream of a GPU: `object`, or else the tensor library's current one.
  bool loadStream(PyObject *object);
  /// Whether y shares memory with `view`.
  bool conflicts(const View &view) const {
    return isGiven && mayOverlap(y, view);
  }
  /// Checks the shape of z and decides whether z is y itself.
  bool checkAddend();
  bool isConjugated(Transpose trans) const {
    return trans == Transpose::C && (x.type == KRON_C32 || x.type == KRON_C64);
  }
  /// What the code depends on in all operations.
  CallShape describe(int precision, Transpose transX, bool anyX, bool anyY,
                     bool anyZ) const {
    return {getTypeName(x.type),
            precision,
            hasAlpha,
            addend,
            transX,
            anyX,
            anyY,
            anyZ};
  }
  /// Launches the kernel of `call`, which is compiled from what `write` returns
  /// if there is none yet. Returns y, or null with an exception.
  template <typename Write> PyObject *run(Call &call, Write write);

private:
  /// Compiles the kernel of `call`; null with an exception.
  const Kernel *build(const Call &call, CallProgram program) const;

protected:
  CallMode mode;
  View x, y, z;
  Scalar alpha, beta;
  bool hasAlpha = false, hasAddend = false;
  /// Whether a direct call was left for the sake of a derivative.
  bool needsDerivative = false;
  AddendKind addend = NoAddend;
  /// The stream of a GPU.
  void *stream = nullptr;
  PyObject *result = nullptr;
  bool isGiven = false;
};

/// What Python code gave to set_hooks: build(program, device, shapes, factors)
/// -> Kernel (CallProgram) and fallback(operation, args, kwargs).
struct Hooks {
  PyObject *build = nullptr, *fallback = nullptr;
};
Hooks &getHooks();

template <typename Write> PyObject *Operation::run(Call &call, Write write) {
  const Kernel *kernel = findKernel(call.key);
  if (!kernel && !(kernel = build(call, write())))
    return nullptr;
  auto bytes = [](const View &view) {
    return view.getRange().second - view.getRange().first;
  };
  constexpr ptrdiff_t shortBytes = 8192;
  bool isLong = bytes(x) > shortBytes || bytes(y) > shortBytes;
  // Tensors say where they are.
  bool areTensors = mode == CallMode::Direct || mode == CallMode::Recorded;
  if (!kernel->launch(call.arrays, call.numArrays, x.device, stream,
                      /*numThreads=*/0, isLong, areTensors))
    return nullptr;
  return std::exchange(result, nullptr);
}

/// An operation as a function of the module, without its bookkeeping.
struct FunctionSpec {
  const char *name;
  /// Names of the parameters, the first `numPositional` also by position, the
  /// stream last.
  const char *const *names;
  int numNames, numPositional;
  /// Parameters that are arrays, but for `out`, x first, then -1; and the one
  /// that is a list of them, or -1.
  int arrays[6];
  int list;
};

/// What a call needs beside its arguments.
struct CallContext {
  const FunctionSpec &spec;
  PyObject *self;
  PyObject *const *args;
  Py_ssize_t numArgs;
  PyObject *keywords;
  /// Whether a user has written the arguments, most of them by name.
  bool isUsers = self == Py_None;

  int getNumPositional() const {
    return isUsers ? spec.numPositional : spec.numNames;
  }
  /// Streams of tensors are the library's.
  int getNumNames() const {
    return spec.numNames - (isUsers && getMode() == CallMode::Direct);
  }
  CallMode getMode() const {
    return self == Py_True       ? CallMode::Raw
           : self == Py_False    ? CallMode::Direct
           : self == Py_Ellipsis ? CallMode::Recorded
                                 : CallMode::Public;
  }
};

/// The names of the parameters as interned strings.
PyObject **internNames(const FunctionSpec &spec);

using PyCFunctionFast = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t,
                                      PyObject *);
using PyCFunctionFastPositional = PyObject *(*)(PyObject *, PyObject *const *,
                                                Py_ssize_t);
/// Forward of a node: (ctx, options, x, z, factors...).
PyObject *forwardProduct(PyObject *, PyObject *const *args, Py_ssize_t numArgs);
/// Arguments of ksmm; null for those left out.
struct KsmmCall {
  PyObject *x = nullptr, *weights = nullptr, *pattern = nullptr,
           *trans = nullptr, *layout = nullptr, *precision = nullptr,
           *bias = nullptr, *residual = nullptr, *z = nullptr,
           *epilogue = nullptr, *alpha = nullptr, *beta = nullptr,
           *scale = nullptr;
};
/// A recorded call (CallMode) of ksmm.
PyObject *computeKsmm(const KsmmCall &call);
/// Forward of a node: (ctx, options, x, bias, residual, z, weights...).
PyObject *forwardSparse(PyObject *, PyObject *const *args, Py_ssize_t numArgs);
/// mkm, kmm and batched by their number.
PyCFunctionFast getProductFunction(int kind);
/// ksmm and ksmm_chain.
PyCFunctionFast getSparseFunction(bool isChain);

/// Whether the fast path may take the call at all.
bool isAdmitted(const CallContext &context);

/// What is to become of a direct call whose arrays autocast casts: go on with
/// the arrays cast, record it as a node that casts them, or neither.
enum class CastAction { Continue, Record, Decline };

/// Decides that, and casts the arguments to go on with; `list` keeps them.
CastAction castArguments(const FunctionSpec &spec, Arguments &arguments,
                         Casts &casts, pybind11::object &list);

/// `result`, or what stands for a direct call that the runtime has refused.
PyObject *settle(const CallContext &context, PyObject *result);

/// Leaves a call to Python code, or says why the fast path cannot take it.
PyObject *callFallback(const CallContext &context);

/// A call of a user whose x is a tensor: a direct one, or else what the
/// tensors' own function returns.
template <typename Call>
PyObject *callWithTensors(const CallContext &context, Call call) {
  CallContext direct = context;
  direct.self = Py_False;
  PyObject *result = call(direct);
  if (result != Py_NotImplemented)
    return result;
  Py_DECREF(result);
  PyObject *function = findTensorFunction(context.spec.name);
  return function ? PyObject_Vectorcall(function, context.args, context.numArgs,
                                        context.keywords)
                  : callFallback(context);
}

/// A call on the fast path where that may take it: parses the arguments, whose
/// names are `interned`, and lets `run` compute the result, or record the call
/// as a node that casts to the dtype that it is given.
template <typename Arguments, typename Run>
PyObject *callFast(const CallContext &context, PyObject **interned, Run run) {
  if (context.getMode() == CallMode::Public && context.numArgs > 0 &&
      isTensorClass(Py_TYPE(context.args[0])))
    return callWithTensors(context, [&](const CallContext &direct) {
      return callFast<Arguments>(direct, interned, run);
    });
  Arguments arguments;
  try {
    if (!isAdmitted(context) ||
        !arguments.parse(context.args, context.numArgs, context.keywords,
                         interned, context.getNumNames(),
                         context.getNumPositional()))
      return callFallback(context);
    pybind11::object castType, list;
    PyObject *recordedType = nullptr;
    Casts casts;
    if (context.getMode() == CallMode::Direct &&
        (castType =
             Casts::findType(arguments.values[context.spec.arrays[0]]))) {
      casts = Casts(castType.ptr());
      CastAction action = castArguments(context.spec, arguments, casts, list);
      if (action == CastAction::Decline)
        return callFallback(context);
      if (action == CastAction::Record)
        recordedType = castType.ptr();
    }
    return settle(context, run(context, arguments, recordedType));
  } catch (pybind11::error_already_set &error) {
    error.restore();
    return nullptr;
  }
}

} // namespace kron::python

#endif // KRON_PYTHON_OPERATION_H
