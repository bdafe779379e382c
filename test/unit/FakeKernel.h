//===- FakeKernel.h - Kernels written by hand for tests ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Builds the manifest that the compiler would put beside a kernel, so that the
// runtime is tested without the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_FAKEKERNEL_H
#define KRON_TEST_UNIT_FAKEKERNEL_H

#include "kron/Runtime/IRInterface.h"
#include "kron/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <deque>
#include <string>
#include <vector>

namespace kron::test {

constexpr int64_t dynamic = -1;

/// Does nothing, for tests of what comes before the entry.
inline void emptyEntry(const KronArray *) {}

/// A manifest in the making. Lives as long as its kernel is used.
class FakeKernel {
public:
  explicit FakeKernel(const char *name = "f") {
    kernel.apiVersion = KRON_API_VERSION;
    kernel.name = name;
  }

  /// An argument whose axes of negative size -1 - s have the symbol s.
  FakeKernel &arg(const char *name, KronAccess access,
                  std::vector<int64_t> sizes, int32_t contiguity = 0,
                  KronType type = KRON_F32) {
    Axes &axes = axesOfArgs.emplace_back();
    for (int64_t size : sizes) {
      axes.sizes.push_back(size < 0 ? dynamic : size);
      axes.symbols.push_back(size < 0 ? int32_t(-1 - size) : -1);
    }
    args.push_back({name, type, int32_t(sizes.size()), access, contiguity, 0,
                    axes.sizes.data(), axes.symbols.data()});
    return *this;
  }

  FakeKernel &version(KronEntry entry, int64_t sharedBytes = 0,
                      int64_t threadBytes = 0, KronIsa isa = KRON_ISA_HOST) {
    versions.push_back({isa, entry, sharedBytes, threadBytes, nullptr});
    return *this;
  }

  const KronKernel *get() {
    kernel.numArgs = int32_t(args.size());
    kernel.args = args.data();
    kernel.numVersions = int32_t(versions.size());
    kernel.versions = versions.data();
    return &kernel;
  }

  KronKernel kernel = {};

private:
  struct Axes {
    std::vector<int64_t> sizes;
    std::vector<int32_t> symbols;
  };
  std::deque<Axes> axesOfArgs;
  std::vector<KronArgInfo> args;
  std::vector<KronVersion> versions;
};

/// An array as a test gives it to a launch.
struct FakeArray {
  FakeArray(void *data, std::vector<int64_t> sizes,
            std::vector<int64_t> strides = {}, KronType type = KRON_F32)
      : data(data), sizes(std::move(sizes)), strides(std::move(strides)),
        type(type) {}

  KronArray get() const {
    return {data, sizes.data(), strides.empty() ? nullptr : strides.data(),
            int32_t(sizes.size()), type};
  }

  void *data;
  std::vector<int64_t> sizes, strides;
  KronType type;
};

inline KronStatus launch(FakeKernel &kernel,
                         const std::vector<FakeArray> &arrays,
                         const KronLaunchOptions &options = {}) {
  std::vector<KronArray> args;
  for (const FakeArray &array : arrays)
    args.push_back(array.get());
  return kronLaunch(kernel.get(), args.data(), int32_t(args.size()), &options);
}

inline KronLaunchOptions withThreads(int32_t numThreads) {
  KronLaunchOptions options = {};
  options.numThreads = numThreads;
  return options;
}

} // namespace kron::test

/// `call` fails with `status` and exactly `message`.
#define EXPECT_FAILURE(call, status, message)                                  \
  do {                                                                         \
    EXPECT_STREQ(kronGetStatusName(call), kronGetStatusName(status));          \
    EXPECT_STREQ(kronGetLastError(), message);                                 \
  } while (false)

#define EXPECT_SUCCESS(call)                                                   \
  EXPECT_STREQ(kronGetStatusName(call), "KRON_SUCCESS") << kronGetLastError()

#endif // KRON_TEST_UNIT_FAKEKERNEL_H
