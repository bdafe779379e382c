//===- Inference.cpp - The rules of shapes for Python code ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each broken rule is a ValueError that names the argument, what is expected
// and what is there.
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include <algorithm>
#include <iterator>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace kron::python;

namespace {

/// Sizes as Python code has them: integers, and symbols that may be comparable
/// with nothing but themselves.
struct ObjectSizes {
  using Size = py::object;
  static bool areEqual(const Size &a, const Size &b) { return a.equal(b); }
  static bool isOne(const Size &size) { return size.equal(getOne()); }
  static bool multiply(Size &product, const Size &size) {
    product = product * size;
    return true;
  }
  static Size getOne() { return py::int_(1); }
};

using Shape = std::vector<py::object>;
using FactorSizes = MatrixSizes<py::object>;

} // namespace

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static std::string getText(py::handle object) { return py::str(object); }

/// As Python writes a tuple.
static std::string getText(const Shape &shape) {
  return getText(py::tuple(py::cast(shape)));
}

static std::string getText(const std::vector<Shape> &shapes) {
  std::string text;
  for (const Shape &shape : shapes)
    text += (text.empty() ? "" : ", ") + getText(shape);
  return text;
}

[[noreturn]] static void fail(const std::string &expected,
                              const std::string &found) {
  throw py::value_error("expects " + expected + ", but got " + found);
}

/// The name of entry `i` of an argument that is a list.
static std::string getEntry(const char *list, size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

/// Whether the size is known: a symbol of a function that is traced is not, one
/// of PyTorch is as good as.
static bool isKnown(const py::object &size) {
  return PyNumber_Check(size.ptr());
}

/// Refuses axes from `first` on that are not known.
static void checkKnown(const Shape &shape, size_t first,
                       const std::string &what) {
  for (size_t axis = first; axis < shape.size(); ++axis)
    if (!isKnown(shape[axis]))
      fail(what + " to be static", "shape " + getText(shape));
}

static bool isEmpty(const Shape &shape, size_t first) {
  for (size_t axis = first; axis < shape.size(); ++axis)
    if (shape[axis].equal(py::int_(0)))
      return true;
  return false;
}

static void checkCount(const char *list, size_t count, const char *transposes,
                       size_t numTransposes) {
  if (count == 0)
    fail(std::string(list) + " to hold at least 1 array", "none");
  if (numTransposes != count)
    fail(std::string(transposes) + " to have " + std::to_string(count) +
             " entries",
         std::to_string(numTransposes));
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// False if the shapes do not broadcast.
static bool broadcastShapes(const std::vector<Shape> &shapes, Shape &result) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.size());
  result.assign(rank, py::object());
  for (const Shape &shape : shapes) {
    size_t lead = rank - shape.size();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      py::object &size = result[lead + axis];
      if (!size)
        size = shape[axis];
      else if (!broadcastSize<ObjectSizes>(size, shape[axis]))
        return false;
    }
  }
  return true;
}

static py::tuple inferBroadcast(const std::vector<Shape> &shapes) {
  Shape result;
  if (!broadcastShapes(shapes, result))
    fail("shapes that broadcast", getText(shapes));
  return py::tuple(py::cast(result));
}

/// Refuses an array that does not broadcast to the result's shape.
static void checkBroadcast(const std::string &name, const Shape &shape,
                           const Shape &result) {
  bool fits = shape.size() <= result.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
    const py::object &size = shape[axis];
    fits = result[result.size() - shape.size() + axis].equal(size) ||
           ObjectSizes::isOne(size);
  }
  if (!fits)
    fail(name + " to broadcast to the result's shape " + getText(result),
         getText(shape));
}

//===----------------------------------------------------------------------===//
// mkm, kmm, batched
//===----------------------------------------------------------------------===//

static ProductKind findKind(const std::string &name) {
  for (size_t i = 0; i < std::size(kProductNames); ++i)
    if (name == kProductNames[i])
      return ProductKind(i);
  fail("a product to be mkm, kmm or batched", name);
}

static std::vector<FactorSizes>
inferFactors(ProductKind kind, const std::vector<Shape> &factors,
             const std::vector<std::string> &transposes, bool allowsEmpty) {
  checkCount("factors", factors.size(), "trans_factors", transposes.size());
  std::vector<FactorSizes> sizes;
  for (size_t i = 0; i < factors.size(); ++i) {
    const Shape &shape = factors[i];
    std::string name = getEntry("factors", i);
    if (shape.size() < 2)
      fail(name + " to have at least 2 dimensions", "shape " + getText(shape));
    size_t first = shape.size() - 2;
    checkKnown(shape, first, "the last 2 dimensions of " + name);
    if (!allowsEmpty && isEmpty(shape, first))
      fail("the last 2 dimensions of " + name + " to be at least 1",
           "shape " + getText(shape));
    sizes.push_back(inferFactor(kind, transposes[i] != "N", shape[first],
                                shape[first + 1]));
  }
  return sizes;
}

/// Says that the axes `core` of op(x) do not go with the factors.
[[noreturn]] static void failAxes(ProductKind kind,
                                  const std::vector<FactorSizes> &factors,
                                  const py::object &total, const Shape &core) {
  Shape contracted;
  std::string product;
  for (const FactorSizes &factor : factors) {
    contracted.push_back(factor.p);
    product += (product.empty() ? "" : "*") + getText(factor.p);
  }
  if (kind == ProductKind::Batched)
    fail("the last dimensions of op(x) to be " + getText(contracted) +
             ", as the factors say",
         getText(core));
  fail("op(x) to have " + getText(total) +
           (kind == ProductKind::Mkm ? " columns (" : " rows (") + product +
           ", as the factors say)",
       getText(core[getContractedAxis(kind)]));
}

static py::tuple getPair(const FactorSizes &sizes) {
  return py::make_tuple(sizes.p, sizes.q);
}

/// ([(contracted, resulting size) of each factor], shape of the result).
static py::tuple inferProduct(const std::string &name, const Shape &x,
                              const std::vector<Shape> &factors,
                              const std::string &transX,
                              const std::vector<std::string> &transFactors,
                              bool allowsEmpty) {
  ProductKind kind = findKind(name);
  std::vector<FactorSizes> sizes =
      inferFactors(kind, factors, transFactors, allowsEmpty);
  int numFactors = int(sizes.size());
  size_t rank = getCoreRank(kind, numFactors);
  if (x.size() < rank)
    fail("x to have at least " + std::to_string(rank) + " dimensions",
         "shape " + getText(x));
  Shape core(x.end() - rank, x.end());
  if (transX != "N")
    core.assign(x.rbegin(), x.rbegin() + rank);
  Shape found = core;
  FactorSizes total;
  multiplyFactors<ObjectSizes>(sizes.data(), numFactors, total);
  if (!inferAxes<ObjectSizes>(kind, sizes.data(), numFactors, total,
                              core.data()))
    failAxes(kind, sizes, total.p, found);
  std::vector<Shape> batches = {Shape(x.begin(), x.end() - rank)};
  for (const Shape &factor : factors)
    batches.emplace_back(factor.begin(), factor.end() - 2);
  Shape result;
  if (!broadcastShapes(batches, result))
    fail("batch dimensions of x and factors that broadcast", getText(batches));
  result.insert(result.end(), core.begin(), core.end());
  py::list pairs;
  for (const FactorSizes &factor : sizes)
    pairs.append(getPair(factor));
  return py::make_tuple(pairs, py::tuple(py::cast(result)));
}

//===----------------------------------------------------------------------===//
// ksmm, ksmm_chain
//===----------------------------------------------------------------------===//

static FactorSizes getFeatures(const Shape &pattern,
                               const std::string &transpose) {
  FactorSizes features;
  inferFeatures<ObjectSizes>(pattern.data(), transpose != "N", features);
  return features;
}

/// The features that all weights in a row read and write. `isChain` says that
/// the argument is a list.
static FactorSizes inferChain(const std::vector<Shape> &weights,
                              const std::vector<std::string> &transposes,
                              bool isChain) {
  checkCount("weights", weights.size(), "trans_weights", transposes.size());
  FactorSizes all;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Shape &shape = weights[i];
    std::string name = isChain ? getEntry("weights", i) : "weights";
    if (shape.size() == 4)
      checkKnown(shape, 0, "the dimensions of " + name);
    if (shape.size() != 4 || isEmpty(shape, 0))
      fail(name + " to have 4 dimensions of at least 1",
           "shape " + getText(shape));
    FactorSizes features = getFeatures(shape, transposes[i]);
    if (i && !features.p.equal(all.q))
      fail(name + " to read the " + getText(all.q) +
               " features that the factor before it writes",
           getText(features.p));
    all = {i ? all.p : features.p, features.q};
  }
  return all;
}

/// The shape of the result.
static py::tuple inferSparse(Shape x, const std::vector<Shape> &weights,
                             const std::vector<std::string> &transposes,
                             const std::string &layout, bool isChain,
                             const std::optional<Shape> &bias) {
  bool isBatchLast = layout == kLayoutNames[1];
  FactorSizes features = inferChain(weights, transposes, isChain);
  if (x.empty() || !(isBatchLast ? x.front() : x.back()).equal(features.p))
    fail("x to have " + getText(features.p) + " features on its " +
             (isBatchLast ? "first" : "last") + " axis",
         "shape " + getText(x));
  if (bias && (bias->size() != 1 || !bias->front().equal(features.q)))
    fail("bias to have shape " + getText(Shape{features.q}), getText(*bias));
  (isBatchLast ? x.front() : x.back()) = features.q;
  return py::tuple(py::cast(x));
}

template <size_t count>
static py::tuple getNames(const char *const (&names)[count]) {
  return py::tuple(py::cast(std::vector<std::string>(names, names + count)));
}

void kron::python::bindInference(py::module_ &module) {
  module.def("broadcast_shapes", inferBroadcast, py::arg("shapes"));
  module.def("check_broadcast", checkBroadcast, py::arg("name"),
             py::arg("shape"), py::arg("result"));
  module.def("infer_product", inferProduct, py::arg("name"), py::arg("x"),
             py::arg("factors"), py::arg("trans_x"), py::arg("trans_factors"),
             py::arg("allows_empty") = false);
  module.def(
      "infer_factor",
      [](const std::string &name, const Shape &shape,
         const std::string &transpose) {
        return getPair(inferFactor(findKind(name), transpose != "N",
                                   shape[shape.size() - 2], shape.back()));
      },
      py::arg("name"), py::arg("shape"), py::arg("trans"));
  module.def("infer_sparse", inferSparse, py::arg("x"), py::arg("weights"),
             py::arg("trans_weights"), py::arg("layout"),
             py::arg("is_chain") = false, py::arg("bias") = py::none());
  module.def(
      "infer_features",
      [](const Shape &pattern, const std::string &transpose) {
        return getPair(getFeatures(pattern, transpose));
      },
      py::arg("pattern"), py::arg("trans"));
  module.def(
      "weight_axes",
      [](const std::string &transpose) {
        MatrixSizes<int> axes = getWeightAxes(transpose != "N");
        return py::make_tuple(axes.p, axes.q);
      },
      py::arg("trans"));
  module.attr("ACTIVATIONS") = getNames(kActivationNames);
  module.attr("LAYOUTS") = getNames(kLayoutNames);
}
