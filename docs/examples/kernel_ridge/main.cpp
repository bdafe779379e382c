//===- main.cpp - Kernel ridge regression -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Fits a function to rows of features and their targets, and predicts those of
// other rows: with the kernel matrix K, the weights w solve (K + lambda I) w = t
// by conjugate gradients, and a prediction is a product with the kernel matrix
// of the new rows and the old ones. Both are products of kernels.mlir, which
// have no matrix in memory.
//
// `kernel_ridge FEATURES GAMMA LAMBDA X T NEW Y` reads and writes raw
// little-endian doubles.
//
//===----------------------------------------------------------------------===//

#include "kernels.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using Vector = std::vector<double>;

static Vector read(const char *path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw std::runtime_error(std::string("cannot read ") + path);
  constexpr std::streamoff size = sizeof(double);
  const std::streamoff bytes = file.tellg();
  if (bytes < 0 || bytes % size != 0)
    throw std::runtime_error(std::string("expects ") + path +
                             " to have a multiple of 8 bytes, but found " +
                             std::to_string(bytes));
  Vector values(static_cast<size_t>(bytes / size));
  file.seekg(0);
  file.read(reinterpret_cast<char *>(values.data()), bytes);
  if (!file)
    throw std::runtime_error(std::string("expects ") + path + " to have " +
                             std::to_string(bytes) + " bytes, but read " +
                             std::to_string(file.gcount()));
  return values;
}

static double dot(const Vector &a, const Vector &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Rows of `features` elements each.
struct Rows {
  Vector values;
  int64_t features;

  int64_t count() const {
    return static_cast<int64_t>(values.size()) / features;
  }
  kron::View<const double> view() const {
    return {values.data(), {count(), features}};
  }
};

static Rows readRows(const char *path, int64_t features) {
  Rows rows{read(path), features};
  if (rows.values.size() % static_cast<size_t>(features) != 0)
    throw std::runtime_error(std::string("expects ") + path +
                             " to have rows of " + std::to_string(features) +
                             " elements, but found " +
                             std::to_string(rows.values.size()) + " elements");
  return rows;
}

/// The kernel matrix of `a` and `b` times `v`.
static Vector multiply(const Rows &a, const Rows &b, const Vector &v,
                       double gamma) {
  Vector y(static_cast<size_t>(a.count()));
  kron::check(gaussian(a.view(), b.view(),
                       kron::View<const double>(v.data(), {b.count(), 1}),
                       gamma, kron::View<double>(y.data(), {a.count(), 1})));
  return y;
}

/// w with (K + lambda I) w = t, and the steps that this took.
static std::pair<Vector, int> fit(const Rows &x, const Vector &t, double gamma,
                                  double lambda) {
  Vector w(t.size(), 0.0), residual = t, direction = t;
  double square = dot(residual, residual), goal = 1e-24 * square;
  int steps = 0;
  for (; square > goal && steps < 10000; ++steps) {
    Vector image = multiply(x, x, direction, gamma);
    for (size_t i = 0; i < t.size(); ++i)
      image[i] += lambda * direction[i];
    double length = square / dot(direction, image);
    for (size_t i = 0; i < t.size(); ++i) {
      w[i] += length * direction[i];
      residual[i] -= length * image[i];
    }
    double next = dot(residual, residual);
    for (size_t i = 0; i < t.size(); ++i)
      direction[i] = residual[i] + next / square * direction[i];
    square = next;
  }
  return {w, steps};
}

int main(int argc, char **argv) try {
  if (argc != 8)
    throw std::runtime_error(
        "usage: kernel_ridge FEATURES GAMMA LAMBDA X T NEW Y");
  const int64_t features = std::stoll(argv[1]);
  const double gamma = std::stod(argv[2]), lambda = std::stod(argv[3]);
  if (features <= 0)
    throw std::runtime_error("expects FEATURES to be positive, but got " +
                             std::to_string(features));
  const Rows x = readRows(argv[4], features);
  const Vector t = read(argv[5]);
  const Rows fresh = readRows(argv[6], features);
  if (static_cast<int64_t>(t.size()) != x.count())
    throw std::runtime_error(std::string("expects ") + argv[5] + " to have " +
                             std::to_string(x.count()) +
                             " elements, one for each row of " + argv[4] +
                             ", but found " + std::to_string(t.size()));
  const auto [weights, steps] = fit(x, t, gamma, lambda);
  const Vector y = multiply(fresh, x, weights, gamma);
  std::ofstream file(argv[7], std::ios::binary);
  file.write(reinterpret_cast<const char *>(y.data()),
             static_cast<std::streamsize>(y.size() * sizeof(double)));
  if (!file.flush())
    throw std::runtime_error(std::string("cannot write ") + argv[7]);
  std::printf("%lld rows of %lld features, %d steps, %zu predictions\n",
              static_cast<long long>(x.count()),
              static_cast<long long>(features), steps, y.size());
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "kernel_ridge: error: %s\n", error.what());
  return 1;
}
