//===- Product.cpp - kron.mkm, kron.kmm and kron.batched on arrays --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Batch dimensions are broadcast by strides and merged where memory allows;
// with factors that have none, those of mkm merge with M, so that most calls
// end in one kernel for a plain matrix. Transposed views become op(X) and
// op(F), not copies. A kmm of few columns is an mkm of few rows.
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include "Recorded.h"

namespace py = pybind11;
using namespace kron::python;

namespace {

struct Factor {
  View view;
  /// Contracted and resulting size.
  int64_t p, q;
  Transpose trans;
  /// Axes of the batch with a matrix for each position, a bit each.
  unsigned varyingAxes;
};

/// Numbers of the operands in CommonAxes.
enum OperandNumber { OperandX = 0, OperandY = 1, OperandZ = 2 };

class Product : public Operation {
public:
  Product(ProductKind kind, CallMode mode) : Operation(mode), kind(kind) {}

  PyObject *call(const CallContext &context, const Arguments &arguments);
  PyObject *recordCall(PyObject *const *values, PyObject *castType) const;

private:
  bool prepare(const Arguments &arguments);
  bool loadFactors(PyObject *object, PyObject *transposes);
  bool loadFactor(PyObject *object, Factor &factor);
  bool checkInput();
  bool addOperands();
  void exchangeSides();
  void mergeRows();
  int getFirstFactor() const { return addend == OtherAddend ? 3 : 2; }
  void buildArguments();
  void buildInput();
  void findVaryingAxes();
  void addFactor(int number);
  void buildResult();
  CallProgram write() const;

  ProductKind kind;
  Factor factors[kMaxFactors];
  int numFactors = 0;
  Transpose transX = Transpose::N;
  int precision = 0;
  int64_t zStrides[kMaxRank];
  CommonAxes batch;
  /// Axes of the batch along which some factor varies, a bit each. Code is
  /// compiled for their sizes.
  unsigned varyingAxes = 0;
  /// Axes of x, y and z inside of the batch, in the order of op(X): sizes, and
  /// the strides per operand.
  int coreRank = 0;
  int64_t coreSizesX[kMaxRank], coreSizesY[kMaxRank];
  int64_t core[3][kMaxRank];
  int anyX = 0, anyY = 0, anyZ = 0;
  Call arguments;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading the arguments
//===----------------------------------------------------------------------===//

static const char *const parameterNames[] = {
    "x",   "factors", "alpha",         "beta",      "z",
    "out", "trans_x", "trans_factors", "precision", "stream"};
enum Parameter {
  ParamX,
  ParamFactors,
  ParamAlpha,
  ParamBeta,
  ParamZ,
  ParamOut,
  ParamTransX,
  ParamTransFactors,
  ParamPrecision,
  ParamStream,
  NumParameters
};

/// Brings a factor into a form whose innermost stride is 1.
static bool normalizeFactor(Factor &factor, bool isConjugated) {
  View &view = factor.view;
  int64_t *strides = view.strides + view.rank - 2;
  int64_t *sizes = view.sizes + view.rank - 2;
  if (strides[1] == 1 || sizes[1] == 1)
    return true;
  if (isConjugated || (strides[0] != 1 && sizes[0] != 1))
    return decline("expects factors with a contiguous axis");
  std::swap(sizes[0], sizes[1]);
  std::swap(strides[0], strides[1]);
  factor.trans = toggle(factor.trans);
  return true;
}

bool Product::loadFactor(PyObject *object, Factor &factor) {
  View &view = factor.view;
  if (!loadOperand(object, view))
    return false;
  if (view.rank < 2)
    return decline("expects factors with at least 2 axes");
  if (factor.trans == Transpose::C && !isConjugated(factor.trans))
    factor.trans = Transpose::T;
  int64_t rows = view.sizes[view.rank - 2], columns = view.sizes[view.rank - 1];
  if (rows < 1 || columns < 1)
    return decline("expects factors that are not empty");
  auto [p, q] = inferFactor(kind, factor.trans != Transpose::N, rows, columns);
  factor.p = p;
  factor.q = q;
  return normalizeFactor(factor, isConjugated(factor.trans));
}

bool Product::loadFactors(PyObject *object, PyObject *transposes) {
  if (!isSequence(object))
    return decline("expects factors to be a list or tuple");
  Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  if (count < 1 || count > kMaxFactors)
    return decline("expects 1 to 24 factors");
  Transpose letters[kMaxFactors];
  if (!loadTransposes(transposes, count,
                      /*allowsString=*/mode != CallMode::Public, letters))
    return false;
  PyObject *const *items = PySequence_Fast_ITEMS(object);
  for (Py_ssize_t i = 0; i < count; ++i) {
    // Asking a tensor takes longer than a copy of what it has answered.
    if (i && items[i] == items[i - 1] && letters[i] == letters[i - 1]) {
      factors[i] = factors[i - 1];
      continue;
    }
    factors[i].trans = letters[i];
    if (!loadFactor(items[i], factors[i]))
      return false;
  }
  numFactors = int(count);
  return true;
}

/// Checks x against the factors and finds the axes of one array of the batch.
bool Product::checkInput() {
  bool isTransposed = transX != Transpose::N;
  coreRank = getCoreRank(kind, numFactors);
  if (x.rank < coreRank)
    return decline("expects x to have more axes");
  const int64_t *sizes = x.sizes + x.rank - coreRank;
  const int64_t *strides = x.strides + x.rank - coreRank;
  for (int axis = 0; axis < coreRank; ++axis) {
    int stored = isTransposed ? coreRank - 1 - axis : axis;
    coreSizesX[axis] = coreSizesY[axis] = sizes[stored];
    core[OperandX][axis] = strides[stored];
  }
  MatrixSizes<int64_t> total;
  if (kind != ProductKind::Batched &&
      !multiplyFactors<FixedSizes>(factors, numFactors, total))
    return decline("expects sizes below 2^63");
  return inferAxes<FixedSizes>(kind, factors, numFactors, total, coreSizesY) ||
         decline("expects x to go with the factors");
}

bool Product::addOperands() {
  const int64_t *yCore = y.strides + y.rank - coreRank;
  std::copy_n(yCore, coreRank, core[OperandY]);
  int batchRank = y.rank - coreRank;
  if (!batch.addOperand(x.sizes, x.strides, x.rank - coreRank) ||
      !batch.addOperand(y.sizes, y.strides, batchRank))
    return false;
  if (addend == OtherAddend) {
    if (!broadcastToResult(z, zStrides) ||
        !batch.addOperand(y.sizes, zStrides, batchRank))
      return false;
    std::copy_n(zStrides + batchRank, coreRank, core[OperandZ]);
  }
  for (int i = 0; i < numFactors; ++i) {
    const View &view = factors[i].view;
    if (!batch.addOperand(view.sizes, view.strides, view.rank - 2))
      return false;
  }
  return true;
}

/// Turns kmm of one column into mkm of one row, the transpose of everything; on
/// a processor a few columns as well, which would leave most of its vectors
/// empty, unless --kron-fuse has columns outside between factors.
void Product::exchangeSides() {
  int64_t columns = coreSizesX[1];
  bool leavesLanes = numFactors == 1 || transX != Transpose::N ||
                     x.type == KRON_F16 || x.type == KRON_BF16;
  bool isFew =
      columns == 1 || (x.device < 0 && leavesLanes && columns <= 8 &&
                       columns * int64_t(kronGetTypeSize(x.type)) <= 64);
  if (kind != ProductKind::Kmm || !isFew)
    return;
  // The transpose of a conjugate transpose has no letter.
  for (int i = 0; i < numFactors; ++i)
    if (factors[i].trans == Transpose::C)
      return;
  kind = ProductKind::Mkm;
  for (int i = 0; i < numFactors; ++i)
    factors[i].trans = toggle(factors[i].trans);
  std::swap(coreSizesX[0], coreSizesX[1]);
  std::swap(coreSizesY[0], coreSizesY[1]);
  for (int i = 0; i < getFirstFactor(); ++i)
    std::swap(core[i][0], core[i][1]);
}

/// Lets the batch dimensions of mkm merge with M.
void Product::mergeRows() {
  int64_t rows[kMaxOperands] = {};
  for (int i = 0; i < getFirstFactor(); ++i)
    rows[i] = core[i][0];
  batch.addAxis(coreSizesX[0], rows);
  batch.coalesce();
  if (batch.rank == 0)
    batch.addUnit();
  batch.dropLast();
  coreSizesX[0] = coreSizesY[0] = batch.sizes[batch.rank];
  for (int i = 0; i < getFirstFactor(); ++i)
    core[i][0] = batch.strides[i][batch.rank];
}

bool Product::prepare(const Arguments &args) {
  PyObject *const *values = args.values;
  if (!values[ParamX] || !values[ParamFactors])
    return decline("expects x and factors");
  if (!load(values[ParamX], x) || !loadTranspose(values[ParamTransX], transX) ||
      !loadPrecision(values[ParamPrecision], precision) ||
      !loadFactors(values[ParamFactors], values[ParamTransFactors]) ||
      !loadScaling(values[ParamAlpha], values[ParamBeta], values[ParamZ]))
    return false;
  if (transX == Transpose::C && !isConjugated(transX))
    transX = Transpose::T;
  if (!checkInput() || !batch.broadcast(x.sizes, x.rank - coreRank))
    return false;
  for (int i = 0; i < numFactors; ++i)
    if (!batch.broadcast(factors[i].view.sizes, factors[i].view.rank - 2))
      return false;
  int64_t sizes[2 * kMaxRank];
  if (batch.rank + coreRank > kMaxRank)
    return decline("expects arrays with fewer axes");
  std::copy_n(batch.sizes, batch.rank, sizes);
  std::copy_n(coreSizesY, coreRank, sizes + batch.rank);
  if (!prepareResult(values[ParamOut], values[ParamX], batch.rank + coreRank,
                     sizes))
    return false;
  if (conflicts(x) || !checkAddend())
    return decline("expects out apart from the other arrays");
  for (int i = 0; i < numFactors; ++i)
    if (conflicts(factors[i].view))
      return decline("expects out apart from the factors");
  return loadStream(values[ParamStream]) && addOperands();
}

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

/// Chooses between X and its transpose by what lies contiguously in memory.
void Product::buildInput() {
  if (kind != ProductKind::Batched && !isConjugated(transX)) {
    const int64_t *strides = core[OperandX], *sizes = coreSizesX;
    bool isRowMajor = strides[1] == 1 || sizes[1] == 1;
    transX = !isRowMajor && (strides[0] == 1 || sizes[0] == 1) ? Transpose::T
                                                               : Transpose::N;
  }
  int64_t sizes[kMaxRank], strides[kMaxRank];
  for (int axis = 0; axis < coreRank; ++axis) {
    int stored = transX == Transpose::N ? axis : coreRank - 1 - axis;
    sizes[stored] = coreSizesX[axis];
    strides[stored] = core[OperandX][axis];
  }
  anyX = arguments.addArray(x, batch.rank, batch.sizes, batch.strides[OperandX],
                            coreRank, sizes, strides);
}

void Product::findVaryingAxes() {
  varyingAxes = 0;
  for (int i = 0; i < numFactors; ++i) {
    factors[i].varyingAxes = batch.getVaryingAxes(getFirstFactor() + i);
    varyingAxes |= factors[i].varyingAxes;
  }
}

/// Adds factor number `number`, with one position along what it does not vary
/// on.
void Product::addFactor(int number) {
  const Factor &factor = factors[number];
  int64_t sizes[kMaxRank];
  for (int axis = 0; axis < batch.rank; ++axis)
    sizes[axis] = factor.varyingAxes >> axis & 1 ? batch.sizes[axis] : 1;
  const View &view = factor.view;
  arguments.addArray(view, factor.varyingAxes ? batch.rank : 0, sizes,
                     batch.strides[getFirstFactor() + number], 2,
                     view.sizes + view.rank - 2, view.strides + view.rank - 2);
}

void Product::buildResult() {
  if (hasAlpha)
    arguments.addScalar(alpha, x.type);
  if (addend != NoAddend)
    arguments.addScalar(beta, x.type);
  if (addend == OtherAddend)
    anyZ =
        arguments.addArray(z, batch.rank, batch.sizes, batch.strides[OperandZ],
                           coreRank, coreSizesY, core[OperandZ]);
  anyY = arguments.addArray(y, batch.rank, batch.sizes, batch.strides[OperandY],
                            coreRank, coreSizesY, core[OperandY]);
}

void Product::buildArguments() {
  exchangeSides();
  findVaryingAxes();
  if (kind == ProductKind::Mkm && !varyingAxes) {
    mergeRows();
  } else {
    batch.coalesce();
    findVaryingAxes();
  }
  buildInput();
  for (int i = 0; i < numFactors; ++i)
    addFactor(i);
  buildResult();
  arguments.key.add(int64_t(kind) | x.type << 4 | precision << 8 |
                    batch.rank << 12 | int64_t(transX) << 20 | anyX << 28 |
                    anyY << 29 | anyZ << 30 | int64_t(hasAlpha) << 32 |
                    int64_t(addend) << 33 | int64_t(x.device >= 0) << 36 |
                    int64_t(numFactors) << 40);
  for (int i = 0; i < numFactors; ++i) {
    arguments.key.add(factors[i].p);
    arguments.key.add(factors[i].q);
    arguments.key.add(int64_t(factors[i].trans) |
                      int64_t(factors[i].varyingAxes) << 8);
  }
  for (int axis = 0; axis < batch.rank; ++axis)
    if (varyingAxes >> axis & 1)
      arguments.key.add(batch.sizes[axis]);
}

CallProgram Product::write() const {
  ProductShape shape = {describe(precision, transX, anyX, anyY, anyZ)};
  shape.kind = kind;
  // Sizes for which code is compiled; `other` stands for the others.
  auto getBatch = [&](unsigned axes, std::optional<int64_t> other) {
    Program::Sizes sizes(batch.rank, other);
    for (int axis = 0; axis < batch.rank; ++axis)
      if (axes >> axis & 1)
        sizes[axis] = batch.sizes[axis];
    return sizes;
  };
  for (int i = 0; i < numFactors; ++i) {
    const Factor &factor = factors[i];
    shape.factors.push_back({factor.p, factor.q, factor.trans,
                             factor.varyingAxes
                                 ? getBatch(factor.varyingAxes, 1)
                                 : Program::Sizes()});
  }
  shape.batch = getBatch(varyingAxes, std::nullopt);
  return writeProgram(shape);
}

PyObject *Product::call(const CallContext &context, const Arguments &args) {
  if (!prepare(args))
    return canRecord() ? recordCall(args.values, /*castType=*/nullptr)
                       : callFallback(context);
  if (y.isEmpty())
    return std::exchange(result, nullptr);
  buildArguments();
  return run(arguments, [&] { return write(); });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static FunctionSpec getSpec(int kind) {
  return {kProductNames[kind],  parameterNames, NumParameters, 2,
          {ParamX, ParamZ, -1}, ParamFactors};
}

PyObject *Product::recordCall(PyObject *const *values,
                              PyObject *castType) const {
  if (values[ParamOut])
    Py_RETURN_NOTIMPLEMENTED;
  return record(NodeKind::Product,
                {py::str(kProductNames[int(kind)]).ptr(), values[ParamAlpha],
                 values[ParamBeta], values[ParamTransX],
                 values[ParamTransFactors], values[ParamPrecision], castType},
                {values[ParamX], values[ParamZ]}, values[ParamFactors]);
}

PyObject *kron::python::forwardProduct(PyObject *, PyObject *const *args,
                                       Py_ssize_t numArgs) {
  using Options = ProductOptions;
  PyObject *options = args[1];
  Py_ssize_t count = numArgs - 4;
  Casts casts(getCastType(options));
  auto option = [&](int number) {
    return given(PyTuple_GET_ITEM(options, number));
  };
  // x, z and the factors.
  PyObject *inputs[kMaxOperands];
  std::copy(args + 2, args + numArgs, inputs);
  casts.castAll(inputs, numArgs - 2);
  py::tuple factors(count), saved(1 + count);
  saved[0] = py::handle(inputs[0]);
  for (Py_ssize_t i = 0; i < count; ++i) {
    factors[i] = py::handle(inputs[2 + i]);
    saved[1 + i] = factors[i];
  }
  Arguments arguments;
  PyObject **values = arguments.values;
  values[ParamX] = inputs[0];
  values[ParamFactors] = factors.ptr();
  values[ParamAlpha] = option(Options::Alpha);
  values[ParamBeta] = option(Options::Beta);
  values[ParamZ] = given(inputs[1]);
  values[ParamTransX] = option(Options::TransX);
  values[ParamTransFactors] = option(Options::TransFactors);
  values[ParamPrecision] = option(Options::Precision);
  int kind = 0;
  while (PyUnicode_CompareWithASCIIString(option(Options::Kind),
                                          kProductNames[kind]))
    ++kind;
  FunctionSpec spec = getSpec(kind);
  CallContext context = {spec, Py_Ellipsis, nullptr, 0, nullptr};
  PyObject *result = settle(
      context,
      Product(ProductKind(kind), CallMode::Recorded).call(context, arguments));
  return finishForward(args, numArgs, saved.ptr(), values[ParamZ], result);
}

template <ProductKind kind>
static PyObject *callProduct(PyObject *self, PyObject *const *args,
                             Py_ssize_t numArgs, PyObject *keywords) {
  static const FunctionSpec spec = getSpec(int(kind));
  static PyObject **interned = internNames(spec);
  CallContext context = {spec, self, args, numArgs, keywords};
  return callFast<Arguments>(
      context, interned,
      [&](const CallContext &context, Arguments &arguments,
          PyObject *castType) {
        Product product(kind, context.getMode());
        return castType ? product.recordCall(arguments.values, castType)
                        : product.call(context, arguments);
      });
}

PyCFunctionFast kron::python::getProductFunction(int kind) {
  static const PyCFunctionFast functions[] = {
      callProduct<ProductKind::Mkm>, callProduct<ProductKind::Kmm>,
      callProduct<ProductKind::Batched>};
  return functions[kind];
}
