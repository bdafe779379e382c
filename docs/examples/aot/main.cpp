//===- main.cpp - Call a kernel that kronc compiled -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Multiplies rows by the Kronecker product of two matrices with the kernel of
// mkm.mlir. `aot X F1 F2 Y` reads and writes raw little-endian floats, so that
// run.py can compare the result with kron-run's.
//
//===----------------------------------------------------------------------===//

#include "mkm.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

static std::vector<float> read(const char *path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw std::runtime_error(std::string("cannot read ") + path);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char *>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

// [call]
static std::vector<float> multiply(const std::vector<float> &x,
                                   const std::vector<float> &f1,
                                   const std::vector<float> &f2) {
  const int64_t rows = static_cast<int64_t>(x.size()) / 64;
  std::vector<float> y(x.size());
  kron::check(mkm(kron::View<const float>(x.data(), {rows, 64}),
                  kron::View<const float>(f1.data(), {8, 8}),
                  kron::View<const float>(f2.data(), {8, 8}),
                  kron::View<float>(y.data(), {rows, 64})));
  return y;
}
// [/call]

int main(int argc, char **argv) try {
  if (argc != 5)
    throw std::runtime_error("usage: aot X F1 F2 Y");
  const std::vector<float> y =
      multiply(read(argv[1]), read(argv[2]), read(argv[3]));
  std::ofstream file(argv[4], std::ios::binary);
  file.write(reinterpret_cast<const char *>(y.data()),
             static_cast<std::streamsize>(y.size() * sizeof(float)));
  if (!file.flush())
    throw std::runtime_error(std::string("cannot write ") + argv[4]);
  std::printf("%zu results, the first ones %g %g %g\n", y.size(), y.at(0),
              y.at(1), y.at(2));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "aot: error: %s\n", error.what());
  return 1;
}
