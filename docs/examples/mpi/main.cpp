//===- main.cpp - A product that several processes share --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Multiplies 2 rows of 10 x 8 x 8 x 8 elements by F1 (x) F2 (x) F3 (x) F4, as
// many processes as mpirun starts, and the result by the same factors again. X
// is sharded on mode 1, X F on mode 2, X F F on mode 1 again: one exchange per
// product. `sharded X FACTORS Y` reads and writes raw little-endian floats of
// the whole arrays, so that run.py can compare the result with NumPy's.
//
//===----------------------------------------------------------------------===//

#include "kernels.h"

// [include]
#include <kron/Distributed.hpp>
#include <kron/Distributed/MPI.hpp>
// [/include]

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

constexpr int64_t rows = 2, modes[4] = {10, 8, 8, 8}, planeSize = 8 * 8 * 8;

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

/// Calls `action` with the place in the file of every run of floats that this
/// rank has: its range of mode 1 of each row.
template <typename Action>
static void forEachRow(kron::Range range, Action action) {
  for (int64_t row = 0; row < rows; ++row)
    action(row * range.size() * planeSize,
           (row * modes[0] + range.begin) * planeSize * int64_t(sizeof(float)),
           range.size() * planeSize * int64_t(sizeof(float)));
}

static void multiply(const char *xPath, const char *factorsPath,
                     const char *yPath) {
  const std::vector<float> values = read(factorsPath);
  std::vector<const float *> factors = {values.data()};
  for (int64_t size : {10, 8, 8})
    factors.push_back(factors.back() + size * size);

  // [plan]
  kron::MPICommunicator comm(MPI_COMM_WORLD);
  kron::ProductShape shape = {KRON_F32, rows, {10, 8, 8, 8}, {10, 8, 8, 8}};
  kron::ProductKernels kernels = {&kron_kernel_inner, &kron_kernel_outer};
  kron::ShardedProduct there(comm, shape, kernels, {/*from=*/1, /*to=*/2});
  kron::ShardedProduct back(comm, shape, kernels, {/*from=*/2, /*to=*/1});
  // [/plan]

  auto count = [](const std::vector<int64_t> &sizes) {
    return size_t(kron::multiplySizes(sizes, 0, sizes.size()));
  };
  std::vector<float> x(count(there.getInputSizes())),
      y(count(there.getResultSizes()));
  std::ifstream input(xPath, std::ios::binary);
  forEachRow(there.getInputRange(), [&](int64_t at, int64_t offset, int64_t n) {
    input.seekg(offset);
    input.read(reinterpret_cast<char *>(x.data() + at), n);
  });
  if (!input)
    throw std::runtime_error(std::string("cannot read ") + xPath);

  // [run]
  there.run(x.data(), factors, y.data());
  back.run(y.data(), factors, x.data());
  // [/run]

  // One rank makes the file, and each writes its part.
  if (comm.getRank() == 0)
    std::ofstream(yPath, std::ios::binary);
  MPI_Barrier(MPI_COMM_WORLD);
  std::fstream output(yPath, std::ios::binary | std::ios::in | std::ios::out);
  forEachRow(back.getResultRange(), [&](int64_t at, int64_t offset, int64_t n) {
    output.seekp(offset);
    output.write(reinterpret_cast<const char *>(x.data() + at), n);
  });
  if (!output.flush())
    throw std::runtime_error(std::string("cannot write ") + yPath);
  std::printf("rank %d of %d: %lld of %lld planes, %lld bytes sent\n",
              comm.getRank(), comm.getSize(),
              (long long)there.getInputRange().size(), (long long)modes[0],
              (long long)(there.bytesSent() + back.bytesSent()));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  try {
    if (argc != 4)
      throw std::runtime_error("usage: sharded X FACTORS Y");
    multiply(argv[1], argv[2], argv[3]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "sharded: error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
