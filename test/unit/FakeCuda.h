//===- FakeCuda.h - A CUDA driver for tests ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A library with the name of the real driver's and the functions that the
// runtime uses of it. It has GPUs that launch nothing, and remembers what it
// was asked for.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_FAKECUDA_H
#define KRON_TEST_UNIT_FAKECUDA_H

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kron::test {

struct FakeLaunch {
  std::string kernel;
  /// The image that its module was loaded from.
  const void *image;
  void *context;
  void *stream;
  unsigned grid, block, cluster, sharedBytes;
  void *const *params;
  /// Whether it may start before the launch before has ended.
  bool startsEarly = false;
};

struct FakeMemory {
  uint64_t bytes;
  int device;
  /// 1: page-locked host memory, 2: memory of the GPU.
  unsigned type;
  bool isManaged;
};

/// Contexts are addresses of these.
struct FakeContext {
  int device;
  uint64_t id;
};

struct FakeStream {
  FakeContext *context;
};

struct FakeCuda {
  std::mutex mutex;
  /// Capability of each GPU, times ten.
  std::vector<int> capabilities = {90, 80};
  int maxThreads = 1024;
  /// What cuDeviceGetName says; empty: "Fake GPU" and the number.
  std::string model;
  int numSMs = 132;
  /// Runs the kernel of a launch and returns an error; nothing if empty.
  std::function<int(const FakeLaunch &)> run;
  /// How long a launch takes of the GPU's time, which events tell; 0 if empty.
  std::function<double(const FakeLaunch &)> milliseconds;
  double now = 0;
  /// By address.
  std::map<uint64_t, FakeMemory> memory;
  /// What all other addresses are, unless it has 0 bytes.
  FakeMemory otherMemory = {};
  std::vector<FakeLaunch> launches;
  /// Images that modules were loaded from.
  std::vector<const void *> loads;
  /// Names of all calls that change something, in order.
  std::vector<std::string> calls;
  /// What the function of a name returns from now on.
  std::map<std::string, int> failures;
  /// Called at the beginning of a load, on the thread that loads; nothing if
  /// empty.
  std::function<void(const void *)> load;
  /// Images that cannot be loaded, with the error.
  std::map<const void *, int> badImages;
  /// Largest dynamic shared memory that was allowed, by kernel.
  std::map<std::string, int> allowedSharedBytes;

  int count(const std::string &name);
  void reset();
};

/// Runs a kernel: its name and the image of its module, blocks, threads of a
/// block, blocks of a cluster, bytes of shared memory, whether it may start
/// before the launch before has ended, addresses of its arguments.
using FakeRun = int (*)(const char *, const void *, unsigned, unsigned,
                        unsigned, unsigned, int, void *const *);

/// The state of the driver, also before it is loaded. FAKE_CUDA_DEVICES in the
/// environment is the number of GPUs, 2 by default.
FakeCuda &fakeCuda();

/// The context current on this thread.
FakeContext *&fakeCurrentContext();

} // namespace kron::test

#endif // KRON_TEST_UNIT_FAKECUDA_H
