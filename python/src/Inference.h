//===- Inference.h - Shapes of operations, for all front ends ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The rules of shapes and transposes of kron.mkm, kmm, batched and ksmm, once
// for every kind of size: `Sizes` says how sizes of one kind are compared and
// multiplied. The fast path (Product.cpp, Sparse.cpp) has integers, the front
// ends in Python have objects, among them the symbolic sizes of PyTorch and of
// functions that are traced; their errors are made in Inference.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PYTHON_INFERENCE_H
#define KRON_PYTHON_INFERENCE_H

#include <cstdint>
#include <utility>

namespace pybind11 {
class module_;
} // namespace pybind11

namespace kron::python {

enum class ProductKind { Mkm, Kmm, Batched };

// Names of what calls choose from, by their numbers.
inline constexpr const char *kProductNames[] = {"mkm", "kmm", "batched"};
inline constexpr const char *kActivationNames[] = {"identity", "relu", "gelu",
                                                   "silu"};
inline constexpr const char *kLayoutNames[] = {"batch_first", "batch_last"};

/// Sizes of arrays in memory.
struct FixedSizes {
  using Size = int64_t;
  static bool areEqual(Size a, Size b) { return a == b; }
  static bool isOne(Size size) { return size == 1; }
  /// False if the product is no size.
  static bool multiply(Size &product, Size size) {
    return !__builtin_mul_overflow(product, size, &product);
  }
  static Size getOne() { return 1; }
};

/// The size of an axis that a matrix contracts, and of the one that results.
template <typename Size> struct MatrixSizes { Size p, q; };

/// Of a factor that is stored with `rows` and `columns`.
template <typename Size>
MatrixSizes<Size> inferFactor(ProductKind kind, bool isTransposed, Size rows,
                              Size columns) {
  bool contractsRows = (kind == ProductKind::Mkm) != isTransposed;
  if (!contractsRows)
    std::swap(rows, columns);
  return {std::move(rows), std::move(columns)};
}

/// How many axes one array of op(X) has.
inline int getCoreRank(ProductKind kind, int numFactors) {
  return kind == ProductKind::Batched ? numFactors : 2;
}

/// The axis of op(X) that all factors together contract; not of `batched`.
inline int getContractedAxis(ProductKind kind) {
  return kind == ProductKind::Mkm ? 1 : 0;
}

/// The product of all `factors`, which have members p and q; false if it has no
/// size.
template <typename Sizes, typename Factor>
bool multiplyFactors(const Factor *factors, int numFactors,
                     MatrixSizes<typename Sizes::Size> &total) {
  total = {Sizes::getOne(), Sizes::getOne()};
  for (int i = 0; i < numFactors; ++i)
    if (!Sizes::multiply(total.p, factors[i].p) ||
        !Sizes::multiply(total.q, factors[i].q))
      return false;
  return true;
}

/// Turns the axes of one array of op(X) into those of Y. False if they do not
/// go with the factors, whose product is `total` (of `batched` it is not read).
template <typename Sizes, typename Factor>
bool inferAxes(ProductKind kind, const Factor *factors, int numFactors,
               const MatrixSizes<typename Sizes::Size> &total,
               typename Sizes::Size *axes) {
  if (kind != ProductKind::Batched) {
    int axis = getContractedAxis(kind);
    if (!Sizes::areEqual(axes[axis], total.p))
      return false;
    axes[axis] = total.q;
    return true;
  }
  for (int axis = 0; axis < numFactors; ++axis) {
    if (!Sizes::areEqual(axes[axis], factors[axis].p))
      return false;
    axes[axis] = factors[axis].q;
  }
  return true;
}

/// The axis of weights (a, b, c, d) that results sum over, and the one that
/// they have themselves.
inline MatrixSizes<int> getWeightAxes(bool isTransposed) {
  return isTransposed ? MatrixSizes<int>{1, 2} : MatrixSizes<int>{2, 1};
}

/// The features that a Kronecker-sparse factor reads (p) and writes (q), out of
/// the shape (a, b, c, d) of its weights; false if they have no size.
template <typename Sizes>
bool inferFeatures(const typename Sizes::Size *pattern, bool isTransposed,
                   MatrixSizes<typename Sizes::Size> &features) {
  typename Sizes::Size ad = pattern[0];
  if (!Sizes::multiply(ad, pattern[3]))
    return false;
  features = {ad, ad};
  MatrixSizes<int> axes = getWeightAxes(isTransposed);
  return Sizes::multiply(features.p, pattern[axes.p]) &&
         Sizes::multiply(features.q, pattern[axes.q]);
}

/// Broadcasts the size of an axis to that of another array, as NumPy does;
/// false if they do not go together.
template <typename Sizes>
bool broadcastSize(typename Sizes::Size &result,
                   const typename Sizes::Size &size) {
  // Equality first: it can be known of symbols that may be 1.
  if (Sizes::areEqual(result, size) || Sizes::isOne(size))
    return true;
  if (!Sizes::isOne(result))
    return false;
  result = size;
  return true;
}

/// Adds the rules as functions for Python code.
void bindInference(pybind11::module_ &module);

} // namespace kron::python

#endif // KRON_PYTHON_INFERENCE_H
