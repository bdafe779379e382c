//===- Gradients.cpp - Backward of calls that are nodes -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a backward pass does most often: real row-major arrays, no scaling, no
// activation, and nobody who has to see what is computed. Everything else is
// left to Python code before anything has been written.
//
//===----------------------------------------------------------------------===//

#include "Gradients.h"
#include "Kernel.h"
#include "Operation.h"
#include <unordered_map>

namespace py = pybind11;
using namespace kron::python;

//===----------------------------------------------------------------------===//
// Compiled functions by key
//===----------------------------------------------------------------------===//

/// Kernels, or None; guarded by the interpreter's lock; never destroyed, since
/// that would be after the interpreter's end.
static std::unordered_map<std::string, py::object> &getPlans() {
  static auto *plans = new std::unordered_map<std::string, py::object>;
  return *plans;
}

void kron::python::forgetPlans() {
  std::remove_reference_t<decltype(getPlans())> forgotten;
  forgotten.swap(getPlans());
}

//===----------------------------------------------------------------------===//
// One backward pass
//===----------------------------------------------------------------------===//

namespace {

class Gradients {
public:
  Gradients(PyObject *ctx, PyObject *grad, PyObject *plan, py::object &saved)
      : ctx(ctx), gradObject(grad), plan(plan), savedTensors(saved) {}

  PyObject *computeProduct();
  PyObject *computeSparse();

private:
  bool start(int numOperands);
  PyObject *option(int number) const {
    return given(PyTuple_GET_ITEM(options.ptr(), number));
  }
  bool needs(int input) const {
    return PyTuple_GET_ITEM(needed.ptr(), input) == Py_True;
  }
  PyObject *saved(int number) const {
    return PyTuple_GET_ITEM(savedTensors.ptr(), number);
  }
  bool loadAny(PyObject *object, View &view) const;
  bool load(PyObject *object, View &view) const;
  bool loadFactor(int number);
  void addKey(int64_t value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void addShapes();
  template <typename... Rest> bool findKernel(Rest... rest);
  void addMatrix(const View &view, int numInner, bool isInnerFirst);
  void addArray(const View &view) {
    arrays[numArrays++] = {view.data, view.sizes, nullptr, view.rank,
                           view.type};
  }
  void findWide();
  py::object addGradient(int input, int rank, const int64_t *sizes);
  bool run(int numInner, bool isInnerFirst);
  bool hasShapeOfGradient(const py::object &shape) const;

  PyObject *ctx, *gradObject, *plan;
  py::object &savedTensors;
  py::object options, needed;
  /// What forward was given, where it may have cast it; null otherwise.
  py::object inputs;
  View grad, x, factors[kMaxFactors], kept[kMaxFactors];
  int numFactors = 0, numKept = 0, firstFactor = 0;
  /// The input that is added to every row and gets a gradient; 0 for none.
  int biasInput = 0;
  std::string key;
  /// Keeps the kernel.
  py::object kernelObject;
  const Kernel *kernel = nullptr;
  py::object dx, dbias, dfactors[kMaxFactors];
  /// Factors that are column-major, as a transposed array is: they are taken as
  /// the row-major matrices that they are transposes of.
  bool areTransposed[kMaxFactors] = {};
  View dxView, gradientViews[kMaxFactors + 1];
  KronArray arrays[3 * kMaxFactors + 4];
  int64_t matrixSizes[kMaxFactors + 3][2];
  int numArrays = 0, numMatrices = 0, numGradients = 0;
  /// Whether the gradient by an input is to be in f32, the type of what forward
  /// has cast to 16 bits.
  bool isWide[kMaxOperands] = {};
};

} // namespace

/// Whether the rows of `view` lie one after the other.
static bool isRowMajor(const View &view) {
  int64_t stride = 1;
  for (int axis = view.rank; axis-- > 0; stride *= view.sizes[axis])
    if (view.sizes[axis] != 1 && view.strides[axis] != stride)
      return false;
  return true;
}

static int64_t countElements(const View &view) {
  int64_t count = 1;
  for (int axis = 0; axis < view.rank; ++axis)
    count *= view.sizes[axis];
  return count;
}

static py::object check(PyObject *object) {
  if (!object)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

static py::object getAttribute(PyObject *object, PyObject *name) {
  return py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
}

static py::object transpose(py::handle matrix) {
  return check(PyObject_GetAttr(matrix.ptr(), KRON_INTERNED("mT")));
}

static bool isOne(PyObject *object) {
  return !object || (PyLong_CheckExact(object) && PyLong_AsLong(object) == 1) ||
         (PyFloat_CheckExact(object) && PyFloat_AS_DOUBLE(object) == 1);
}

/// Reads what forward has left. False if operations have to be seen, or if
/// there are no arrays that compiled functions take.
bool Gradients::start(int numOperands) {
  if (!isTensorClass(Py_TYPE(gradObject)) || isGradEnabled() ||
      !isPlainContext())
    return false;
  py::object tensors = getAttribute(ctx, KRON_INTERNED("saved_tensors"));
  if (!tensors)
    return false;
  savedTensors = std::move(tensors);
  if (!(options = getAttribute(ctx, KRON_INTERNED("options"))) ||
      !(needed = getAttribute(ctx, KRON_INTERNED("needs_input_grad"))))
    return false;
  if (getCastType(options.ptr()) &&
      !(inputs = getAttribute(ctx, KRON_INTERNED("inputs"))))
    return false;
  firstFactor = 1 + numOperands;
  numFactors = int(PyTuple_GET_SIZE(needed.ptr())) - firstFactor;
  numKept = int(PyTuple_GET_SIZE(savedTensors.ptr())) - 1 - numFactors;
  // The others have to be like the gradient.
  if (!loadView(gradObject, /*allowTensors=*/true, grad) ||
      !load(gradObject, grad) || !load(saved(0), x))
    return false;
  for (int i = 0; i < numFactors; ++i)
    if (!loadFactor(i))
      return false;
  for (int i = 0; i < numKept; ++i)
    if (!load(saved(1 + numFactors + i), kept[i]))
      return false;
  findWide();
  return true;
}

void Gradients::findWide() {
  if (!inputs || grad.type == KRON_F32)
    return;
  for (int input = 1; input < firstFactor + numFactors; ++input)
    isWide[input] =
        getTensorType(PyTuple_GET_ITEM(inputs.ptr(), input - 1)) == KRON_F32;
}

/// A real array with elements, like the gradient.
bool Gradients::loadAny(PyObject *object, View &view) const {
  if (!isTensorClass(Py_TYPE(object)) ||
      !loadView(object, /*allowTensors=*/true, view) ||
      view.type != grad.type || view.device != grad.device)
    return false;
  bool isReal = view.type == KRON_F32 || view.type == KRON_F64 ||
                view.type == KRON_F16 || view.type == KRON_BF16;
  return isReal && !view.isEmpty();
}

/// The same, row-major.
bool Gradients::load(PyObject *object, View &view) const {
  return loadAny(object, view) && isRowMajor(view);
}

bool Gradients::loadFactor(int number) {
  View &view = factors[number];
  if (!loadAny(saved(1 + number), view))
    return false;
  if (isRowMajor(view))
    return true;
  std::swap(view.sizes[0], view.sizes[1]);
  std::swap(view.strides[0], view.strides[1]);
  areTransposed[number] = view.rank == 2 && isRowMajor(view);
  return areTransposed[number];
}

void Gradients::addShapes() {
  addKey(x.type | int64_t(x.device + 1) << 8 | int64_t(numFactors) << 32 |
         int64_t(numKept) << 40);
  int64_t bits = needs(1);
  for (int i = 0; i < numFactors; ++i) {
    bits |= int64_t(needs(firstFactor + i)) << (1 + i) |
            int64_t(isWide[firstFactor + i]) << (1 + kMaxFactors + i);
    addKey(factors[i].rank);
    for (int axis = 0; axis < factors[i].rank; ++axis)
      addKey(factors[i].sizes[axis]);
  }
  addKey(bits);
  addKey(biasInput ? 1 + isWide[biasInput] : 0);
  // Python code chooses by powers of two of the numbers of elements and rows.
  int64_t count = std::max(countElements(grad), countElements(x));
  int64_t rows = countElements(x) / x.sizes[x.rank - 1];
  auto width = [](uint64_t value) {
    return value ? 64 - __builtin_clzll(value) : 0;
  };
  addKey(width(count - 1) | width(rows) << 8 | x.rank << 16);
}

/// The kernel that was found for this key, or that `plan` chooses now.
template <typename... Rest> bool Gradients::findKernel(Rest... rest) {
  auto &plans = getPlans();
  auto found = plans.find(key);
  if (found == plans.end()) {
    py::list list, flags, areWide;
    flags.append(needs(1));
    for (int i = 0; i < numFactors; ++i) {
      py::handle factor = saved(1 + i);
      list.append(areTransposed[i]
                      ? transpose(factor)
                      : py::reinterpret_borrow<py::object>(factor));
      flags.append(needs(firstFactor + i));
      areWide.append(isWide[firstFactor + i]);
    }
    flags.append(biasInput != 0);
    areWide.append(biasInput && isWide[biasInput]);
    py::object chosen =
        py::handle(plan)(py::handle(gradObject), py::handle(saved(0)), list,
                         py::tuple(flags), py::tuple(areWide), rest...);
    found = plans.emplace(key, std::move(chosen)).first;
  }
  if (found->second.is_none())
    return false;
  kernelObject = found->second;
  kernel = kernelObject.cast<const Kernel *>();
  return true;
}

/// An array as a matrix of its `numInner` inner axes (or outer, if they come
/// first) and of all others.
void Gradients::addMatrix(const View &view, int numInner, bool isInnerFirst) {
  int64_t *sizes = matrixSizes[numMatrices++];
  int split = isInnerFirst ? numInner : view.rank - numInner;
  sizes[0] = sizes[1] = 1;
  for (int axis = 0; axis < view.rank; ++axis)
    sizes[axis < split ? 0 : 1] *= view.sizes[axis];
  arrays[numArrays++] = {view.data, sizes, nullptr, 2, view.type};
}

/// Allocates the gradient by input number `input`, one of those after x, as the
/// next argument of the kernel.
py::object Gradients::addGradient(int input, int rank, const int64_t *sizes) {
  bool wide = isWide[input];
  PyObject *like = wide ? PyTuple_GET_ITEM(inputs.ptr(), input - 1) : saved(0);
  View &view = gradientViews[numGradients++];
  py::object gradient = check(allocateLike(like, wide ? KRON_F32 : x.type,
                                           x.device, rank, sizes, view));
  addArray(view);
  return gradient;
}

/// Allocates the gradients that are needed and launches the kernel.
bool Gradients::run(int numInner, bool isInnerFirst) {
  void *stream = nullptr;
  if (x.device >= 0 && !findCurrentStream(x.device, stream))
    return false;
  addMatrix(grad, numInner, isInnerFirst);
  addMatrix(x, numInner, isInnerFirst);
  for (int i = 0; i < numFactors; ++i)
    addArray(factors[i]);
  for (int i = 0; i < numKept; ++i)
    addMatrix(kept[i], numInner, isInnerFirst);
  if (needs(1)) {
    dx = check(
        allocateLike(saved(0), x.type, x.device, x.rank, x.sizes, dxView));
    addMatrix(dxView, numInner, isInnerFirst);
  }
  for (int i = 0; i < numFactors; ++i)
    if (needs(firstFactor + i))
      dfactors[i] =
          addGradient(firstFactor + i, factors[i].rank, factors[i].sizes);
  if (biasInput)
    dbias = addGradient(biasInput, 1,
                        &grad.sizes[isInnerFirst ? 0 : grad.rank - 1]);
  if (!kernel->launch(arrays, numArrays, x.device, stream, /*numThreads=*/0,
                      /*isLong=*/countElements(x) > 2048,
                      /*areOnDevice=*/true))
    throw py::error_already_set();
  return true;
}

bool Gradients::hasShapeOfGradient(const py::object &shape) const {
  if (int(py::len(shape)) != grad.rank)
    return false;
  for (int axis = 0; axis < grad.rank; ++axis)
    if (py::cast<int64_t>(shape[py::int_(axis)]) != grad.sizes[axis])
      return false;
  return true;
}

static py::object orNone(const py::object &object) {
  return object ? object : py::none();
}

PyObject *Gradients::computeProduct() {
  using Options = ProductOptions;
  if (!start(/*numOperands=*/2))
    return nullptr;
  Transpose transX, transposes[kMaxFactors];
  int precision;
  if (!isOne(option(Options::Alpha)) ||
      !loadTranspose(option(Options::TransX), transX) ||
      transX != Transpose::N ||
      !loadPrecision(option(Options::Precision), precision) ||
      !loadTransposes(option(Options::TransFactors), numFactors,
                      /*allowsString=*/true, transposes))
    return nullptr;
  std::string kind = py::handle(option(Options::Kind)).cast<std::string>(),
              letters;
  for (int i = 0; i < numFactors; ++i) {
    if (factors[i].rank != 2)
      return nullptr;
    letters += char(areTransposed[i] ? toggle(transposes[i]) : transposes[i]);
  }
  // z of the result's shape gets the gradient as it is, one row, as a bias is,
  // the sum over the others.
  constexpr int addend = 2;
  if (needs(addend)) {
    auto shape = getAttribute(ctx, KRON_INTERNED("z_shape"));
    if (!option(Options::Beta) || !isOne(option(Options::Beta)) || !shape)
      return nullptr;
    biasInput = hasShapeOfGradient(shape) ? 0 : addend;
    if (biasInput &&
        (kind != "mkm" || py::len(shape) != 1 || grad.rank < 2 ||
         py::cast<int64_t>(shape[py::int_(0)]) != grad.sizes[grad.rank - 1]))
      return nullptr;
  }
  key = kind + letters;
  addKey(precision);
  addShapes();
  if (!findKernel(kind, letters, getPrecisionName(precision)) ||
      !run(kind == "batched" ? numFactors : 1, kind == "kmm"))
    return nullptr;
  py::tuple result(3 + numFactors);
  result[0] = py::none();
  result[1] = orNone(dx);
  result[2] = biasInput || !needs(addend)
                  ? orNone(dbias)
                  : py::reinterpret_borrow<py::object>(gradObject);
  for (int i = 0; i < numFactors; ++i)
    result[3 + i] = dfactors[i] && areTransposed[i] ? transpose(dfactors[i])
                                                    : orNone(dfactors[i]);
  return result.release().ptr();
}

PyObject *Gradients::computeSparse() {
  using Options = SparseOptions;
  enum { NeedsBias = 2, NeedsResidual = 3, NeedsZ = 4 };
  if (!start(/*numOperands=*/4))
    return nullptr;
  auto is = [](PyObject *object, const char *word) {
    return !object || PyUnicode_CompareWithASCIIString(object, word) == 0;
  };
  Transpose transposes[kMaxFactors];
  int precision;
  if (!isOne(option(Options::Alpha)) || !isOne(option(Options::Scale)) ||
      !is(option(Options::Epilogue), "identity") || needs(NeedsZ) ||
      grad.rank < 2 || !loadPrecision(option(Options::Precision), precision) ||
      !loadTransposes(option(Options::Trans), numFactors,
                      /*allowsString=*/false, transposes))
    return nullptr;
  std::string letters;
  for (int i = 0; i < numFactors; ++i)
    letters += char(transposes[i]);
  bool isLast = !is(option(Options::Layout), "batch_first");
  biasInput = needs(NeedsBias) ? NeedsBias : 0;
  key = (isLast ? "l" : "f") + letters;
  addKey(precision);
  addShapes();
  auto hasAny = [&] {
    for (int i = 0; i < numFactors; ++i)
      if (needs(firstFactor + i))
        return true;
    return needs(1);
  };
  if (!hasAny() ||
      !findKernel(numKept > 0, letters, isLast ? "batch_last" : "batch_first",
                  getPrecisionName(precision)) ||
      !run(/*numInner=*/1, isLast))
    return nullptr;
  py::tuple result(5 + numFactors);
  result[0] = py::none();
  result[1] = orNone(dx);
  result[2] = orNone(dbias);
  result[3] = needs(NeedsResidual)
                  ? py::reinterpret_borrow<py::object>(gradObject)
                  : py::none();
  result[4] = py::none();
  for (int i = 0; i < numFactors; ++i)
    result[5 + i] = orNone(dfactors[i]);
  return result.release().ptr();
}

PyObject *kron::python::computeGradients(NodeKind kind, PyObject *ctx,
                                         PyObject *grad, PyObject *plan,
                                         py::object &saved) {
  Gradients gradients(ctx, grad, plan, saved);
  return kind == NodeKind::Product ? gradients.computeProduct()
                                   : gradients.computeSparse();
}
