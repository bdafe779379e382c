//===- ReferenceProduct.h - Products of any shape by loops ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// For tests of sharded products: kernels of the interface that the compiler
// gives, written by hand for any sizes, and what one process would compute.
// Entries are small integers, so that sums are exact in whatever order.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_REFERENCEPRODUCT_H
#define KRON_TEST_UNIT_REFERENCEPRODUCT_H

#include "FakeKernel.h"
#include "kron/Distributed/ShardedProduct.hpp"

namespace kron {
template <> struct TypeOf<_Float16> : TypeConstant<KRON_F16> {};
} // namespace kron

namespace kron::test {

/// [outer, p, inner] becomes [outer, q, inner].
template <typename T>
std::vector<T> applyFactor(const std::vector<T> &x, int64_t outer,
                           int64_t inner, const KronArray &factor) {
  int64_t p = factor.sizes[0], q = factor.sizes[1];
  int64_t rowStride = factor.strides ? factor.strides[0] : q;
  const T *f = static_cast<const T *>(factor.data);
  std::vector<T> y(size_t(outer * q * inner));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < q; ++j)
      for (int64_t i = 0; i < p; ++i)
        for (int64_t n = 0; n < inner; ++n)
          y[size_t((o * q + j) * inner + n)] +=
              f[i * rowStride + j] * x[size_t((o * p + i) * inner + n)];
  return y;
}

/// The entry of a kernel with `numFactors` factors: args are x, the factors,
/// and y, both arrays without gaps, whose axis 1 is contracted.
template <typename T, int numFactors> void productEntry(const KronArray *args) {
  const KronArray &x = args[0], &y = args[numFactors + 1];
  // Launches on a GPU begin by asking for their workspace.
  if (!x.data || !y.data)
    return;
  int64_t count = 1;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    count *= x.sizes[axis];
  const T *data = static_cast<const T *>(x.data);
  std::vector<T> values(data, data + count);
  int64_t outer = x.sizes[0];
  for (int k = 0; k < numFactors; ++k) {
    int64_t inner = x.rank == 3 ? x.sizes[2] : 1;
    for (int behind = k + 1; behind < numFactors; ++behind)
      inner *= args[behind + 1].sizes[0];
    values = applyFactor(values, outer, inner, args[k + 1]);
    outer *= args[k + 1].sizes[1];
  }
  std::copy(values.begin(), values.end(), static_cast<T *>(y.data));
}

/// A kernel that multiplies by `numFactors` factors of any size: `rank` 2 for
/// an inner product, 3 for an outer one.
template <typename T, int numFactors = 1>
void makeProduct(FakeKernel &kernel, int wanted, int rank,
                 KronIsa isa = KRON_ISA_HOST) {
  if constexpr (numFactors <= 6) {
    if (wanted != numFactors)
      return makeProduct<T, numFactors + 1>(kernel, wanted, rank, isa);
    KronType type = TypeOf<T>::value;
    std::vector<int64_t> sizes = {-1, -2};
    if (rank == 3)
      sizes = {-1, -2, -3};
    kernel.arg("x", KRON_READ, sizes, 2, type);
    for (int64_t k = 0; k < numFactors; ++k)
      kernel.arg("f", KRON_READ, {-10 - 2 * k, -11 - 2 * k}, 1, type);
    sizes[1] = -4;
    kernel.arg("y", KRON_WRITE, sizes, 2, type);
    kernel.version(productEntry<T, numFactors>, 0, 0, isa);
  } else {
    ADD_FAILURE() << "expects 1 to 6 factors, but got " << wanted;
  }
}

/// A product with all of its data, as one process would have it.
template <typename T> struct ReferenceProduct {
  ReferenceProduct(int64_t rows, std::vector<int64_t> p, std::vector<int64_t> q)
      : shape{TypeOf<T>::value, rows, std::move(p), std::move(q)} {
    uint32_t seed = 1;
    auto fill = [&](int64_t count) {
      std::vector<T> values;
      for (; count > 0; --count) {
        seed = seed * 1664525u + 1013904223u;
        values.push_back(T(float(int(seed >> 24) % 5 - 2)));
      }
      return values;
    };
    xSizes = {rows}, ySizes = {rows};
    int64_t inner = 1, outer = rows;
    for (size_t k = 0; k < shape.p.size(); ++k) {
      factors.push_back(fill(shape.p[k] * shape.q[k]));
      xSizes.push_back(shape.p[k]);
      ySizes.push_back(shape.q[k]);
    }
    x = fill(multiplySizes(xSizes, 0, xSizes.size()));
    y = x;
    for (size_t k = 0; k < shape.p.size(); ++k) {
      int64_t sizes[2] = {shape.p[k], shape.q[k]};
      inner = multiplySizes(xSizes, k + 2, xSizes.size());
      y = applyFactor(y, outer, inner,
                      {factors[k].data(), sizes, nullptr, 2, TypeOf<T>::value});
      outer *= shape.q[k];
    }
  }

  std::vector<const T *> getFactors() const {
    std::vector<const T *> pointers;
    for (const std::vector<T> &factor : factors)
      pointers.push_back(factor.data());
    return pointers;
  }

  /// The part of `values`, [sizes], that has `range` of `axis`.
  static std::vector<T> getPart(const std::vector<T> &values,
                                const std::vector<int64_t> &sizes, int axis,
                                Range range) {
    int64_t outer = multiplySizes(sizes, 0, size_t(axis)),
            inner = multiplySizes(sizes, size_t(axis) + 1, sizes.size());
    std::vector<T> part;
    for (int64_t o = 0; o < outer; ++o) {
      auto begin = values.begin() + o * sizes[size_t(axis)] * inner;
      part.insert(part.end(), begin + range.begin * inner,
                  begin + range.end * inner);
    }
    return part;
  }

  ProductShape shape;
  std::vector<int64_t> xSizes, ySizes;
  std::vector<T> x, y;
  std::vector<std::vector<T>> factors;
};

/// Arrays of kernels that run on the CPU: the test's own.
struct HostArrays {
  template <typename T> T *give(std::vector<T> &values) {
    return values.data();
  }
  template <typename T> void take(const T *, std::vector<T> &) {}
};

/// Runs the product as one of the ranks of `communicator` and compares this
/// rank's part of the result with what one process computes. `arrays` gives
/// kernels what the test has, and takes back what they write.
template <typename T, typename Arrays = HostArrays>
void expectProduct(Communicator &communicator, const ReferenceProduct<T> &whole,
                   const ProductKernels &kernels, Placement placement,
                   void *stream = nullptr, Arrays arrays = {}) {
  ShardedProduct plan(communicator, whole.shape, kernels, placement);
  auto x = whole.getPart(whole.x, whole.xSizes, placement.from,
                         plan.getInputRange());
  auto expected =
      whole.getPart(whole.y, whole.ySizes, placement.to, plan.getResultRange());
  std::vector<T> y(expected.size());
  auto factors = whole.factors;
  std::vector<const T *> given;
  for (std::vector<T> &factor : factors)
    given.push_back(arrays.give(factor));
  const T *xOfKernel = arrays.give(x);
  // Twice, since a plan is used again and again.
  for (int time = 0; time < 2; ++time) {
    std::fill(y.begin(), y.end(), T(99.0f));
    T *yOfKernel = arrays.give(y);
    plan.run(xOfKernel, given, yOfKernel, stream);
    communicator.synchronize(stream);
    arrays.take(yOfKernel, y);
    EXPECT_EQ(y, expected);
  }
}

} // namespace kron::test

#endif // KRON_TEST_UNIT_REFERENCEPRODUCT_H
