//===- Calls.cpp - Programs of calls, and programs for Python code --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A call comes as the dictionary that describe() of Product.cpp and Sparse.cpp
// make, in another extension module.
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "Program.h"
#include <array>
#include <cmath>
#include <limits>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::kron;
using Sizes = Program::Sizes;
using Storage = Program::Storage;

/// An axis whose size is known at launch.
static constexpr std::nullopt_t open = std::nullopt;

//===----------------------------------------------------------------------===//
// What calls have in common
//===----------------------------------------------------------------------===//

namespace {

/// A call on its way to a program.
class CallProgram {
public:
  CallProgram(const py::dict &description, bool isOnTensors)
      : description(description), program(isOnTensors),
        element(get<std::string>("type")) {}

protected:
  template <typename T> T get(const char *name) const {
    return description[name].cast<T>();
  }
  Storage getStorage(const char *anyName) const {
    return get<bool>(anyName) ? Storage::Any : Storage::Rows;
  }
  int add(const std::string &name, Sizes sizes,
          Storage storage = Storage::Rows) {
    return program.addArgument(name, std::move(sizes), element, storage);
  }
  void use(const char *group, int value, char letter = 'N') {
    groups.push_back({group, {{value, letter}}});
  }
  void set(const char *name, const std::string &word, const char *usual) {
    if (word != usual)
      attributes.push_back({name, word});
  }
  void addScalar(const char *name) {
    bool isNarrow = element == "f16" || element == "bf16";
    use(name, program.addScalar(name, isNarrow ? "f32" : element));
  }
  /// alpha, beta, and z of these sizes.
  void addScaling(const Sizes &sizes, Storage storage) {
    if (get<bool>("alpha"))
      addScalar("alpha");
    int addend = get<int>("addend");
    if (addend)
      addScalar("beta");
    if (addend == 1)
      use("addend", add("z", sizes, storage));
  }

  const py::dict &description;
  Program program;
  std::string element;
  std::vector<Program::Group> groups;
  std::vector<Program::Attribute> attributes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kronecker products
//===----------------------------------------------------------------------===//

namespace {
class ProductProgram : CallProgram {
public:
  explicit ProductProgram(const py::dict &description)
      : CallProgram(description, /*isOnTensors=*/false) {}
  Program build();

private:
  /// Axes of the batch, then those of `core`.
  Sizes withBatch(const Sizes &core) const {
    auto sizes = get<Sizes>("batch");
    sizes.insert(sizes.end(), core.begin(), core.end());
    return sizes;
  }
  void addFactors(bool isMkm);
};
} // namespace

void ProductProgram::addFactors(bool isMkm) {
  Program::Group group = {"factors", {}};
  for (py::handle item : description["factors"]) {
    auto factor = item.cast<py::tuple>();
    auto p = factor[0].cast<int64_t>(), q = factor[1].cast<int64_t>();
    char letter = factor[2].cast<std::string>()[0];
    if (isMkm != (letter == 'N'))
      std::swap(p, q);
    std::string name = "f" + std::to_string(group.operands.size());
    auto sizes = factor[3].cast<Sizes>();
    sizes.insert(sizes.end(), {p, q});
    group.operands.push_back({add(name, std::move(sizes)), letter});
  }
  groups.push_back(std::move(group));
}

Program ProductProgram::build() {
  auto op = get<std::string>("op");
  Sizes x, y;
  int64_t p = 1, q = 1;
  for (py::handle item : description["factors"]) {
    auto factor = item.cast<py::tuple>();
    x.push_back(factor[0].cast<int64_t>());
    y.push_back(factor[1].cast<int64_t>());
    p *= *x.back();
    q *= *y.back();
  }
  if (op == "mkm") {
    x = {open, p};
    y = {open, q};
  } else if (op == "kmm") {
    x = {p, open};
    y = {q, open};
  }
  char letter = get<std::string>("trans_x")[0];
  if (letter != 'N')
    std::reverse(x.begin(), x.end());
  use("input", add("x", withBatch(x), getStorage("any_x")), letter);
  addFactors(op == "mkm");
  addScaling(withBatch(y), getStorage("any_z"));
  use("init", add("y", withBatch(y), getStorage("any_y")));
  set("precision", get<std::string>("precision"), "full");
  program.addOperation(op, std::move(groups), std::move(attributes));
  return std::move(program);
}

//===----------------------------------------------------------------------===//
// Kronecker-sparse products
//===----------------------------------------------------------------------===//

namespace {
class SparseProgram : CallProgram {
public:
  /// A chain is a program on tensors, so that its factors fuse.
  SparseProgram(const py::dict &description, bool isChain)
      : CallProgram(description, isChain), isChain(isChain),
        isBatchLast(get<std::string>("layout") == "batch_last"),
        isSwapped(get<std::string>("trans_x") != "N") {}
  Program build();

private:
  struct Weights {
    int value;
    char letter;
    ::kron::python::MatrixSizes<int64_t> features;
  };

  void addWeights();
  Sizes getMatrix(int64_t features, bool isBatchLast) const {
    return isBatchLast ? Sizes{features, open} : Sizes{open, features};
  }
  void addEpilogue(int64_t features);
  void setCommon();
  void addStep(int x, char letter, const Weights &factor, int destination);
  void addChain(int x, char letter);

  bool isChain, isBatchLast, isSwapped;
  std::vector<Weights> weights;
};
} // namespace

void SparseProgram::addWeights() {
  for (py::handle item : description["weights"]) {
    auto factor = item.cast<py::tuple>();
    auto pattern = factor[0].cast<std::array<int64_t, 4>>();
    char letter = factor[1].cast<std::string>()[0];
    Weights added = {0, letter, {}};
    // Sizes of arrays that are there.
    (void)::kron::python::inferFeatures<::kron::python::FixedSizes>(
        pattern.data(), letter != 'N', added.features);
    weights.push_back(added);
  }
}

void SparseProgram::setCommon() {
  set("precision", get<std::string>("precision"), "full");
  set("layout", get<std::string>("layout"), "batch_first");
}

/// Refuses a constant that is not finite in its type.
static void checkScale(double scale, const std::string &element) {
  bool isWide = element == "f64" || element == "complex<f64>";
  if (std::abs(scale) <= (isWide ? std::numeric_limits<double>::max()
                                 : std::numeric_limits<float>::max()))
    return;
  bool isNarrow = element == "f16" || element == "bf16";
  throw py::value_error("expects scale to be a finite number of type " +
                        (isNarrow ? "f32" : element) + ", but got " +
                        py::str(py::float_(scale)).cast<std::string>());
}

/// Bias, residual, activation and scale, after the last factor.
void SparseProgram::addEpilogue(int64_t features) {
  set("activation", get<std::string>("activation"), "identity");
  if (!description["scale"].is_none()) {
    checkScale(get<double>("scale"), element);
    attributes.push_back({"scale", get<double>("scale")});
  }
  if (get<bool>("bias"))
    use("bias", add("bias", {features}));
  if (get<bool>("residual"))
    use("residual", add("residual", getMatrix(features, isBatchLast),
                        getStorage("any_residual")));
}

void SparseProgram::addChain(int x, char letter) {
  // Between factors there is memory that fusing takes away.
  int batch = x, batchAxis = isBatchLast != isSwapped ? 1 : 0, current = x;
  std::vector<Program::Group> last = std::move(groups);
  std::vector<Program::Attribute> lastAttributes = std::move(attributes);
  for (size_t i = 0; i < weights.size(); ++i) {
    bool isLast = i + 1 == weights.size();
    Sizes sizes = getMatrix(weights[i].features.q, isBatchLast);
    groups.clear();
    attributes.clear();
    if (isLast) {
      groups = std::move(last);
      attributes = std::move(lastAttributes);
    }
    setCommon();
    use("input", current, i == 0 ? letter : 'N');
    use("weights", weights[i].value, weights[i].letter);
    use("init", isLast && get<int>("addend") == 2
                    ? program.addDestination("y_in", sizes, element)
                    : program.allocate(sizes, element, batch, batchAxis));
    current = program.addOperation("ksmm", groups, attributes)[0];
  }
  program.addResult(current, "y");
}

Program SparseProgram::build() {
  addWeights();
  int64_t inputs = weights.front().features.p,
          outputs = weights.back().features.q;
  char letter = get<std::string>("trans_x")[0];
  int x = add("x", getMatrix(inputs, isBatchLast != isSwapped),
              getStorage("any_x"));
  Storage storage = !isChain && get<bool>("dense_weights") ? Storage::RowMajor
                                                           : Storage::Rows;
  size_t number = 0;
  for (py::handle item : description["weights"]) {
    auto pattern = item.cast<py::tuple>()[0].cast<std::array<int64_t, 4>>();
    weights[number].value = add("k" + std::to_string(number),
                                Sizes(pattern.begin(), pattern.end()), storage);
    ++number;
  }
  addEpilogue(outputs);
  Sizes result = getMatrix(outputs, isBatchLast);
  addScaling(result, getStorage("any_z"));
  if (isChain) {
    addChain(x, letter);
    return std::move(program);
  }
  use("input", x, letter);
  use("weights", weights[0].value, weights[0].letter);
  use("init", add("y", result, getStorage("any_y")));
  setCommon();
  program.addOperation("ksmm", std::move(groups), std::move(attributes));
  return std::move(program);
}

Program mlir::kron::describeCall(const py::dict &description) {
  auto op = description["op"].cast<std::string>();
  if (op == "ksmm" || op == "ksmm_chain")
    return SparseProgram(description, op == "ksmm_chain").build();
  return ProductProgram(description).build();
}

//===----------------------------------------------------------------------===//
// Programs for Python code
//===----------------------------------------------------------------------===//

/// A value, or a value and a letter.
static Program::Operand getOperand(py::handle object) {
  if (!py::isinstance<py::tuple>(object))
    return {object.cast<int>()};
  auto pair = object.cast<py::tuple>();
  return {pair[0].cast<int>(), pair[1].cast<std::string>()[0]};
}

static std::vector<int> addOperation(Program &self, const std::string &name,
                                     const py::dict &operands,
                                     const py::dict &attributes) {
  std::vector<Program::Group> groups;
  for (auto [key, value] : operands) {
    Program::Group &group =
        groups.emplace_back(Program::Group{key.cast<std::string>(), {}});
    if (!py::isinstance<py::list>(value))
      group.operands.push_back(getOperand(value));
    else
      for (py::handle item : value)
        group.operands.push_back(getOperand(item));
  }
  std::vector<Program::Attribute> list;
  for (auto [key, value] : attributes) {
    Program::Attribute &added =
        list.emplace_back(Program::Attribute{key.cast<std::string>(), {}});
    if (py::isinstance<py::str>(value))
      added.value = value.cast<std::string>();
    else if (py::isinstance<py::int_>(value))
      added.value = value.cast<int64_t>();
    else
      added.value = value.cast<double>();
  }
  return self.addOperation(name, std::move(groups), std::move(list));
}

void mlir::kron::bindProgram(py::module_ &module) {
  py::class_<Program>(module, "Program", py::module_local())
      .def(py::init<bool>(), py::kw_only(), py::arg("on_tensors"))
      .def(
          "argument",
          [](Program &self, const std::string &name, Sizes sizes,
             const std::string &element) {
            return self.addArgument(name, std::move(sizes), element,
                                    Storage::RowMajor);
          },
          py::arg("name"), py::arg("sizes"), py::arg("element"))
      .def("scalar", &Program::addScalar, py::arg("name"), py::arg("type"))
      .def("allocate", &Program::allocate, py::arg("sizes"), py::arg("element"),
           py::arg("like"), py::arg("axis"))
      .def("operation", addOperation, py::arg("name"), py::arg("operands"),
           py::arg("attributes") = py::dict())
      .def("convert", &Program::addConversion, py::arg("source"),
           py::arg("target"))
      .def("result", &Program::addResult, py::arg("value"), py::arg("name"));
  module.def("describe_call", describeCall, py::arg("description"));
}
