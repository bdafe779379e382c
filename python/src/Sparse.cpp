//===- Sparse.cpp - kron.ksmm and kron.ksmm_chain on arrays ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A call is one or several Kronecker-sparse factors in a row, with bias and
// epilogue after the last one. Batch dimensions must merge into one; arrays of
// the other layout are views, not copies.
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include "Recorded.h"
#include <cstring>

namespace py = pybind11;
using namespace kron::python;

namespace {

struct Weights {
  View view;
  Transpose trans;
  /// That the factor reads and writes.
  MatrixSizes<int64_t> features;
};

enum OperandNumber { OperandX, OperandY, OperandZ, OperandResidual };

class Sparse : public Operation {
public:
  Sparse(bool isChain, CallMode mode) : Operation(mode), isChain(isChain) {}

  PyObject *call(const CallContext &context, const Arguments &arguments);
  PyObject *recordCall(PyObject *const *values, PyObject *castType) const;

private:
  bool prepare(PyObject *const *values);
  bool loadWeights(PyObject *const *values);
  bool loadOne(PyObject *object, PyObject *pattern, Transpose trans);
  bool loadEpilogue(PyObject *const *values);
  bool loadLayout(PyObject *object);
  void foldBias();
  bool prepareOutput(PyObject *const *values);
  bool addOperand(const int64_t *sizes, const int64_t *strides, int rank,
                  int number);
  bool mergeBatch();
  void addMatrix(const View &view, int number, int64_t features, int &any);
  void buildArguments();
  CallProgram write() const;

  bool isChain;
  Weights weights[kMaxFactors];
  int numWeights = 0;
  bool batchLast = false;
  int activation = 0, precision = 0;
  bool hasScale = false;
  double scale = 1;
  bool hasBias = false, hasResidual = false;
  View bias, residual;
  int64_t zStrides[kMaxRank], residualStrides[kMaxRank];
  CommonAxes batch;
  int64_t featureStrides[4] = {};
  Transpose transX = Transpose::N;
  int anyX = 0, anyY = 0, anyZ = 0, anyResidual = 0;
  /// Whether the weights are row-major: kernels for that copy them in whole
  /// pieces; and whether all arrays are: then the kernel is for nothing else.
  bool areWeightsRowMajor = false, areAllRowMajor = false;
  Call arguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading the arguments
//===----------------------------------------------------------------------===//

static const char *const parameterNames[] = {
    "x",     "weights",  "pattern",       "layout",    "bias",
    "z",     "epilogue", "alpha",         "beta",      "out",
    "scale", "residual", "trans_weights", "precision", "stream"};
enum Parameter {
  ParamX,
  ParamWeights,
  ParamPattern,
  ParamLayout,
  ParamBias,
  ParamZ,
  ParamEpilogue,
  ParamAlpha,
  ParamBeta,
  ParamOut,
  ParamScale,
  ParamResidual,
  ParamTransWeights,
  ParamPrecision,
  ParamStream,
  NumParameters
};
template <int count>
static int findString(PyObject *object, const char *const (&names)[count]) {
  if (PyUnicode_CheckExact(object))
    for (int i = 0; i < count; ++i)
      if (PyUnicode_CompareWithASCIIString(object, names[i]) == 0)
        return i;
  return -1;
}

bool Sparse::loadOne(PyObject *object, PyObject *pattern, Transpose trans) {
  Weights &factor = weights[numWeights++];
  factor.trans = trans;
  const View &view = factor.view;
  if (!loadOperand(object, factor.view))
    return false;
  if (view.rank != 4 || view.isEmpty())
    return decline("expects weights with 4 axes that are not empty");
  if (view.strides[3] != 1 && view.sizes[3] != 1)
    return decline("expects weights with a contiguous last axis");
  if (factor.trans == Transpose::C && !isConjugated(factor.trans))
    factor.trans = Transpose::T;
  if (pattern) {
    if (!PyTuple_CheckExact(pattern) || PyTuple_GET_SIZE(pattern) != 4)
      return decline("expects a pattern to be a tuple of 4 integers");
    for (int i = 0; i < 4; ++i) {
      PyObject *item = PyTuple_GET_ITEM(pattern, i);
      int overflow;
      if (!PyLong_CheckExact(item) ||
          PyLong_AsLongLongAndOverflow(item, &overflow) != view.sizes[i])
        return decline("expects weights to have the shape of the pattern");
    }
  }
  return inferFeatures<FixedSizes>(view.sizes, factor.trans != Transpose::N,
                                   factor.features) ||
         decline("expects sizes below 2^63");
}

bool Sparse::loadWeights(PyObject *const *values) {
  PyObject *object = values[ParamWeights], *patterns = values[ParamPattern],
           *transposes = values[ParamTransWeights];
  if (!isChain) {
    Transpose trans;
    return loadTranspose(transposes, trans) && loadOne(object, patterns, trans);
  }
  if (!isSequence(object) || (patterns && !isSequence(patterns)))
    return decline("expects weights and patterns to be lists or tuples");
  Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  Transpose letters[kMaxFactors];
  if (count < 1 || count > kMaxFactors ||
      (patterns && PySequence_Fast_GET_SIZE(patterns) != count))
    return decline("expects 1 to 24 weights and as many patterns");
  if (!loadTransposes(transposes, count, /*allowsString=*/false, letters))
    return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!loadOne(PySequence_Fast_GET_ITEM(object, i),
                 patterns ? PySequence_Fast_GET_ITEM(patterns, i) : nullptr,
                 letters[i]))
      return false;
    if (i && weights[i].features.p != weights[i - 1].features.q)
      return decline("expects every factor to read what the last one wrote");
  }
  return true;
}

bool Sparse::loadEpilogue(PyObject *const *values) {
  if (PyObject *object = values[ParamEpilogue]) {
    activation = findString(object, kActivationNames);
    if (activation < 0)
      return decline("expects epilogue to be 'relu', 'gelu' or 'silu'");
    bool isInteger = x.type == KRON_I32 || x.type == KRON_I64;
    bool isComplex = x.type == KRON_C32 || x.type == KRON_C64;
    if (activation && (isComplex || (isInteger && activation > 1)))
      return decline("expects an activation that the type has");
  }
  if (PyObject *object = values[ParamScale]) {
    Scalar scalar;
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object))
      return decline("expects scale to be a number");
    scale = PyFloat_AsDouble(object);
    hasScale = scale != 1;
    if (!scalar.load(object, x.type) || PyErr_Occurred())
      return decline("expects scale to be a number of the arrays' type");
  }
  if (PyObject *object = values[ParamBias]) {
    hasBias = true;
    if (!loadOperand(object, bias))
      return false;
    if (bias.rank != 1 || bias.sizes[0] != weights[numWeights - 1].features.q ||
        (bias.strides[0] != 1 && bias.sizes[0] != 1))
      return decline("expects a contiguous bias of one number per feature");
  }
  if (PyObject *object = values[ParamResidual]) {
    hasResidual = true;
    return loadOperand(object, residual);
  }
  return true;
}

bool Sparse::loadLayout(PyObject *object) {
  int layout = object ? findString(object, kLayoutNames) : 0;
  batchLast = layout == 1;
  return layout >= 0 ||
         decline("expects layout to be 'batch_first' or 'batch_last'");
}

/// Takes a bias without anything between it and the product as z: it is added
/// where results are stored, which on the CPU saves a pass over them.
void Sparse::foldBias() {
  if (!hasBias || activation || hasScale || addend != NoAddend || batchLast ||
      x.device >= 0)
    return;
  PyObject *one = PyLong_FromLong(1);
  if (beta.load(one, x.type)) {
    z = bias;
    addend = OtherAddend;
    hasBias = false;
  }
  Py_DECREF(one);
}

bool Sparse::addOperand(const int64_t *sizes, const int64_t *strides, int rank,
                        int number) {
  featureStrides[number] = strides[batchLast ? 0 : rank - 1];
  return batch.addOperand(sizes + batchLast, strides + batchLast, rank - 1);
}

bool Sparse::prepareOutput(PyObject *const *values) {
  int rank = x.rank;
  int64_t sizes[kMaxRank];
  std::copy_n(x.sizes, rank, sizes);
  sizes[batchLast ? 0 : rank - 1] = weights[numWeights - 1].features.q;
  if (!prepareResult(values[ParamOut], values[ParamX], rank, sizes))
    return false;
  bool hasConflict = conflicts(x) || (hasBias && conflicts(bias)) ||
                     (hasResidual && conflicts(residual));
  for (int i = 0; i < numWeights; ++i)
    hasConflict |= conflicts(weights[i].view);
  if (hasConflict)
    return decline("expects out apart from the other arrays");
  return checkAddend();
}

/// Makes one axis of the batch dimensions of all operands.
bool Sparse::mergeBatch() {
  batch.broadcast(x.sizes + batchLast, x.rank - 1);
  if (!addOperand(x.sizes, x.strides, x.rank, OperandX) ||
      !addOperand(y.sizes, y.strides, y.rank, OperandY))
    return false;
  const int64_t *strides = y.strides;
  if (addend == OtherAddend) {
    if (!broadcastToResult(z, zStrides))
      return false;
    strides = zStrides;
  }
  if (!addOperand(y.sizes, strides, y.rank, OperandZ))
    return false;
  strides = y.strides;
  if (hasResidual) {
    if (!broadcastToResult(residual, residualStrides))
      return false;
    strides = residualStrides;
  }
  if (!addOperand(y.sizes, strides, y.rank, OperandResidual))
    return false;
  batch.coalesce();
  if (batch.rank == 0)
    batch.addUnit();
  return batch.rank == 1 ||
         decline("expects batch dimensions that are one axis in memory");
}

bool Sparse::prepare(PyObject *const *values) {
  if (!values[ParamX] || !values[ParamWeights])
    return decline("expects x and weights");
  if (!load(values[ParamX], x) || !loadWeights(values) ||
      !loadLayout(values[ParamLayout]) || !loadEpilogue(values) ||
      !loadPrecision(values[ParamPrecision], precision) ||
      !loadScaling(values[ParamAlpha], values[ParamBeta], values[ParamZ]))
    return false;
  if (x.rank < 1 ||
      x.sizes[batchLast ? 0 : x.rank - 1] != weights[0].features.p)
    return decline("expects x to have the features that the weights read");
  foldBias();
  if (!loadStream(values[ParamStream]) || !prepareOutput(values))
    return false;
  if (y.isEmpty())
    return true;
  if (!mergeBatch())
    return false;
  buildArguments();
  // The function of a chain is one on tensors, whose rows are contiguous.
  if (isChain && (anyX || anyY || anyZ || anyResidual))
    return decline("expects arrays with a contiguous last axis");
  return true;
}

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

/// Adds x, y, z or the residual as a matrix of the chosen layout.
void Sparse::addMatrix(const View &view, int number, int64_t features,
                       int &any) {
  int64_t sizes[] = {batch.sizes[0], features};
  int64_t strides[] = {batch.strides[number][0], featureStrides[number]};
  bool featuresFirst = batchLast;
  if (number == OperandX) {
    int inner = batchLast ? 0 : 1;
    bool isNatural = strides[inner] == 1 || sizes[inner] == 1;
    bool isOther = strides[1 - inner] == 1 || sizes[1 - inner] == 1;
    if (!isNatural && isOther) {
      transX = Transpose::T;
      featuresFirst = !batchLast;
    }
  }
  if (featuresFirst) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
  }
  any = arguments.addArray(view, 0, nullptr, nullptr, 2, sizes, strides);
}

void Sparse::buildArguments() {
  int64_t outputs = weights[numWeights - 1].features.q;
  addMatrix(x, OperandX, weights[0].features.p, anyX);
  for (int i = 0; i < numWeights; ++i)
    arguments.addArray(weights[i].view, 0, nullptr, nullptr, 4,
                       weights[i].view.sizes, weights[i].view.strides);
  if (hasBias)
    arguments.addArray(bias, 0, nullptr, nullptr, 1, bias.sizes, bias.strides);
  if (hasResidual)
    addMatrix(residual, OperandResidual, outputs, anyResidual);
  if (hasAlpha)
    arguments.addScalar(alpha, x.type);
  if (addend != NoAddend)
    arguments.addScalar(beta, x.type);
  if (addend == OtherAddend)
    addMatrix(z, OperandZ, outputs, anyZ);
  addMatrix(y, OperandY, outputs, anyY);
  // The function of a chain is one on tensors, which have no strides.
  areWeightsRowMajor = !isChain && arguments.areRowMajor(1, 1 + numWeights);
  areAllRowMajor = arguments.areRowMajor(0, arguments.numArrays);
  constexpr int64_t sparseKind = 8;
  arguments.key.add(
      sparseKind | x.type << 4 | precision << 8 | int64_t(batchLast) << 12 |
      activation << 13 | hasBias << 16 | hasResidual << 17 | hasScale << 18 |
      isChain << 19 | int64_t(transX) << 20 | anyX << 28 | anyY << 29 |
      anyZ << 30 | int64_t(anyResidual) << 31 | int64_t(hasAlpha) << 32 |
      int64_t(addend) << 33 | int64_t(x.device >= 0) << 36 |
      int64_t(areWeightsRowMajor) << 37 | int64_t(areAllRowMajor) << 38 |
      int64_t(numWeights) << 40);
  if (hasScale) {
    int64_t bits;
    std::memcpy(&bits, &scale, sizeof(bits));
    arguments.key.add(bits);
  }
  for (int i = 0; i < numWeights; ++i) {
    for (int axis = 0; axis < 4; ++axis)
      arguments.key.add(weights[i].view.sizes[axis]);
    arguments.key.add(int64_t(weights[i].trans));
  }
}

CallProgram Sparse::write() const {
  SparseShape shape = {describe(precision, transX, anyX, anyY, anyZ)};
  shape.isChain = isChain;
  shape.isBatchLast = batchLast;
  for (int i = 0; i < numWeights; ++i) {
    SparseShape::Weights factor = {{}, weights[i].trans, weights[i].features};
    std::copy_n(weights[i].view.sizes, 4, factor.pattern);
    shape.weights.push_back(factor);
  }
  shape.areWeightsRowMajor = areWeightsRowMajor;
  shape.areAllRowMajor = areAllRowMajor;
  shape.activation = activation;
  if (hasScale)
    shape.scale = scale;
  shape.hasBias = hasBias;
  shape.hasResidual = hasResidual;
  shape.anyResidual = anyResidual;
  return writeProgram(shape);
}

PyObject *Sparse::call(const CallContext &context, const Arguments &args) {
  if (!prepare(args.values))
    return canRecord() ? recordCall(args.values, /*castType=*/nullptr)
                       : callFallback(context);
  if (y.isEmpty())
    return std::exchange(result, nullptr);
  return run(arguments, [&] { return write(); });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static FunctionSpec getSpec(bool isChain) {
  FunctionSpec spec = {isChain ? "ksmm_chain" : "ksmm",
                       parameterNames,
                       NumParameters,
                       4,
                       {ParamX, ParamBias, ParamZ, ParamResidual, -1, -1},
                       -1};
  (isChain ? spec.list : spec.arrays[4]) = ParamWeights;
  return spec;
}

PyObject *Sparse::recordCall(PyObject *const *values,
                             PyObject *castType) const {
  if (values[ParamOut])
    Py_RETURN_NOTIMPLEMENTED;
  py::tuple single(1);
  if (!isChain)
    single[0] = py::handle(values[ParamWeights]);
  return record(NodeKind::Sparse,
                {isChain ? Py_True : Py_False, values[ParamPattern],
                 values[ParamLayout], values[ParamEpilogue], values[ParamAlpha],
                 values[ParamBeta], values[ParamScale],
                 values[ParamTransWeights], values[ParamPrecision], castType},
                {values[ParamX], values[ParamBias], values[ParamResidual],
                 values[ParamZ]},
                isChain ? values[ParamWeights] : single.ptr());
}

PyObject *kron::python::computeKsmm(const KsmmCall &call) {
  Arguments arguments;
  PyObject **values = arguments.values;
  values[ParamX] = call.x;
  values[ParamWeights] = call.weights;
  values[ParamPattern] = call.pattern;
  values[ParamLayout] = call.layout;
  values[ParamBias] = call.bias;
  values[ParamZ] = call.z;
  values[ParamEpilogue] = call.epilogue;
  values[ParamAlpha] = call.alpha;
  values[ParamBeta] = call.beta;
  values[ParamScale] = call.scale;
  values[ParamResidual] = call.residual;
  values[ParamTransWeights] = call.trans;
  values[ParamPrecision] = call.precision;
  static const FunctionSpec spec = getSpec(/*isChain=*/false);
  CallContext context = {spec, Py_Ellipsis, nullptr, 0, nullptr};
  return settle(context,
                Sparse(false, CallMode::Recorded).call(context, arguments));
}

template <bool isChain>
static PyObject *callSparse(PyObject *self, PyObject *const *args,
                            Py_ssize_t numArgs, PyObject *keywords) {
  static const FunctionSpec spec = getSpec(isChain);
  static PyObject **interned = internNames(spec);
  CallContext context = {spec, self, args, numArgs, keywords};
  return callFast<Arguments>(
      context, interned,
      [&](const CallContext &context, Arguments &arguments,
          PyObject *castType) {
        Sparse sparse(isChain, context.getMode());
        return castType ? sparse.recordCall(arguments.values, castType)
                        : sparse.call(context, arguments);
      });
}

PyCFunctionFast kron::python::getSparseFunction(bool isChain) {
  return isChain ? callSparse<true> : callSparse<false>;
}
