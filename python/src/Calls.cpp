//===- Calls.cpp - Programs of calls --------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include <cmath>
#include <limits>

namespace py = pybind11;
using namespace kron::python;
using Sizes = Program::Sizes;
using Storage = Program::Storage;

/// An axis whose size is known at launch.
static constexpr std::nullopt_t open = std::nullopt;

//===----------------------------------------------------------------------===//
// What calls have in common
//===----------------------------------------------------------------------===//

namespace {

/// A call on its way to a program.
class CallWriter {
public:
  CallWriter(const CallShape &call, bool isOnTensors)
      : program(isOnTensors), call(call) {}

protected:
  static Storage getStorage(bool isAny) {
    return isAny ? Storage::Any : Storage::Rows;
  }
  int add(const std::string &name, Sizes sizes,
          Storage storage = Storage::Rows) {
    return program.addArgument(name, std::move(sizes), call.element, storage);
  }
  void use(const char *group, int value, Transpose trans = Transpose::N) {
    groups.push_back({group, {{value, char(trans)}}});
  }
  void set(const char *name, const std::string &word, const char *usual) {
    if (word != usual)
      attributes.push_back({name, word});
  }
  /// The type of numbers that go with arrays.
  std::string getScalarType() const {
    bool isNarrow = call.element == "f16" || call.element == "bf16";
    return isNarrow ? "f32" : call.element;
  }
  void addScalar(const char *name) {
    use(name, program.addScalar(name, getScalarType()));
  }
  /// alpha, beta, and z of these sizes.
  void addScaling(const Sizes &sizes, Storage storage) {
    if (call.hasAlpha)
      addScalar("alpha");
    if (call.addend != NoAddend)
      addScalar("beta");
    if (call.addend == OtherAddend)
      use("addend", add("z", sizes, storage));
  }

  Program program;
  std::vector<Program::Group> groups;
  std::vector<Program::Attribute> attributes;

private:
  const CallShape &call;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kronecker products
//===----------------------------------------------------------------------===//

namespace {
class ProductProgram : CallWriter {
public:
  explicit ProductProgram(const ProductShape &call)
      : CallWriter(call, /*isOnTensors=*/false), call(call) {}
  Program build();

private:
  /// Axes of the batch, then those of `core`.
  Sizes withBatch(const Sizes &core) const {
    Sizes sizes = call.batch;
    sizes.insert(sizes.end(), core.begin(), core.end());
    return sizes;
  }
  void addFactors();

  const ProductShape &call;
};
} // namespace

void ProductProgram::addFactors() {
  Program::Group group = {"factors", {}};
  for (const ProductShape::Factor &factor : call.factors) {
    // The rule of sizes is its own inverse.
    auto [rows, columns] = inferFactor(call.kind, factor.trans != Transpose::N,
                                       factor.p, factor.q);
    std::string name = "f" + std::to_string(group.operands.size());
    Sizes sizes = factor.batch;
    sizes.insert(sizes.end(), {rows, columns});
    group.operands.push_back({add(name, std::move(sizes)), char(factor.trans)});
  }
  groups.push_back(std::move(group));
}

Program ProductProgram::build() {
  Sizes x, y;
  MatrixSizes<int64_t> total = {1, 1};
  for (const ProductShape::Factor &factor : call.factors) {
    x.push_back(factor.p);
    y.push_back(factor.q);
    total = {total.p * factor.p, total.q * factor.q};
  }
  if (call.kind != ProductKind::Batched) {
    x = y = {open, open};
    x[getContractedAxis(call.kind)] = total.p;
    y[getContractedAxis(call.kind)] = total.q;
  }
  if (call.transX != Transpose::N)
    std::reverse(x.begin(), x.end());
  use("input", add("x", withBatch(x), getStorage(call.anyX)), call.transX);
  addFactors();
  addScaling(withBatch(y), getStorage(call.anyZ));
  use("init", add("y", withBatch(y), getStorage(call.anyY)));
  set("precision", getPrecisionName(call.precision), "full");
  program.addOperation(kProductNames[int(call.kind)], std::move(groups),
                       std::move(attributes));
  return std::move(program);
}

CallProgram kron::python::writeProgram(const ProductShape &call) {
  py::list factors;
  for (const ProductShape::Factor &factor : call.factors)
    factors.append(py::make_tuple(factor.p, factor.q));
  return {ProductProgram(call).build(), std::move(factors)};
}

//===----------------------------------------------------------------------===//
// Kronecker-sparse products
//===----------------------------------------------------------------------===//

namespace {
class SparseProgram : CallWriter {
public:
  /// A chain is a program on tensors, so that its factors fuse.
  explicit SparseProgram(const SparseShape &call)
      : CallWriter(call, call.isChain), call(call),
        isSwapped(call.transX != Transpose::N) {}
  Program build();

private:
  Sizes getMatrix(int64_t features, bool isBatchLast) const {
    return isBatchLast ? Sizes{features, open} : Sizes{open, features};
  }
  void checkScale() const;
  void addEpilogue(int64_t features);
  void setCommon();
  void addChain(int x);

  const SparseShape &call;
  bool isSwapped;
  /// Values of the weights.
  std::vector<int> weights;
};
} // namespace

void SparseProgram::setCommon() {
  set("precision", getPrecisionName(call.precision), "full");
  set("layout", kLayoutNames[call.isBatchLast], "batch_first");
}

/// Refuses a constant that is not finite in its type.
void SparseProgram::checkScale() const {
  bool isWide = call.element == "f64" || call.element == "complex<f64>";
  if (std::abs(*call.scale) <= (isWide ? std::numeric_limits<double>::max()
                                       : std::numeric_limits<float>::max()))
    return;
  std::string message = "expects scale to be a finite number of type " +
                        getScalarType() + ", but got " +
                        py::str(py::float_(*call.scale)).cast<std::string>();
  PyErr_SetString(PyExc_ValueError, message.c_str());
  // The only kind that callers catch.
  throw py::error_already_set();
}

/// Bias, residual, activation and scale, after the last factor.
void SparseProgram::addEpilogue(int64_t features) {
  set("activation", kActivationNames[call.activation], "identity");
  if (call.scale) {
    checkScale();
    attributes.push_back({"scale", *call.scale});
  }
  if (call.hasBias)
    use("bias", add("bias", {features}));
  if (call.hasResidual)
    use("residual", add("residual", getMatrix(features, call.isBatchLast),
                        getStorage(call.anyResidual)));
}

void SparseProgram::addChain(int x) {
  // Between factors there is memory that fusing takes away.
  int batch = x, batchAxis = call.isBatchLast != isSwapped ? 1 : 0, current = x;
  std::vector<Program::Group> last = std::move(groups);
  std::vector<Program::Attribute> lastAttributes = std::move(attributes);
  for (size_t i = 0; i < weights.size(); ++i) {
    bool isLast = i + 1 == weights.size();
    const SparseShape::Weights &factor = call.weights[i];
    Sizes sizes = getMatrix(factor.features.q, call.isBatchLast);
    groups.clear();
    attributes.clear();
    if (isLast) {
      groups = std::move(last);
      attributes = std::move(lastAttributes);
    }
    setCommon();
    use("input", current, i == 0 ? call.transX : Transpose::N);
    use("weights", weights[i], factor.trans);
    use("init", isLast && call.addend == InPlace
                    ? program.addDestination("y_in", sizes, call.element)
                    : program.allocate(sizes, call.element, batch, batchAxis));
    current = program.addOperation("ksmm", groups, attributes)[0];
  }
  program.addResult(current, "y");
}

Program SparseProgram::build() {
  int64_t inputs = call.weights.front().features.p,
          outputs = call.weights.back().features.q;
  int x = add("x", getMatrix(inputs, call.isBatchLast != isSwapped),
              getStorage(call.anyX));
  if (call.areAllRowMajor)
    program.promiseRowMajor();
  Storage storage = call.areWeightsRowMajor ? Storage::RowMajor : Storage::Rows;
  for (const SparseShape::Weights &factor : call.weights)
    weights.push_back(add(
        "k" + std::to_string(weights.size()),
        Sizes(std::begin(factor.pattern), std::end(factor.pattern)), storage));
  addEpilogue(outputs);
  Sizes result = getMatrix(outputs, call.isBatchLast);
  addScaling(result, getStorage(call.anyZ));
  if (call.isChain) {
    addChain(x);
    return std::move(program);
  }
  use("input", x, call.transX);
  use("weights", weights[0], call.weights[0].trans);
  use("init", add("y", result, getStorage(call.anyY)));
  setCommon();
  program.addOperation("ksmm", std::move(groups), std::move(attributes));
  return std::move(program);
}

CallProgram kron::python::writeProgram(const SparseShape &call) {
  py::list factors;
  for (const SparseShape::Weights &factor : call.weights) {
    int summed = getWeightAxes(factor.trans != Transpose::N).p;
    factors.append(py::make_tuple(factor.features.p, factor.features.q,
                                  factor.pattern[summed]));
  }
  return {SparseProgram(call).build(), std::move(factors)};
}
