//===- Gpu.h - Arrays and time on a GPU -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What tools need of the CUDA driver beside launches: memory, copies, events.
// Loaded at run time, as the runtime does.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_GPU_H
#define KRON_DRIVER_GPU_H

#include "kron/Driver/Calls.h"
#include "kron/Machine/GPUMachine.h"
#include <chrono>
#include <optional>

namespace mlir::kron {

class DeviceMemory;
class DeviceModule;

/// What `properties` say, for a description of the machine.
GPUProperties getGPUProperties(const KronCudaProperties &properties);

/// One GPU with a stream of its own. Its primary context is this thread's
/// current one from `open` on.
class Gpu {
public:
  static llvm::Expected<std::unique_ptr<Gpu>> open(int32_t number);
  ~Gpu();

  int32_t getNumber() const { return number; }
  StringRef getName() const { return name; }
  size_t getL2Bytes() const { return l2Bytes; }
  /// For KronLaunchOptions.
  void *getStream() const { return stream; }

  /// Of CUDA that the driver takes: "13.0".
  llvm::Expected<std::string> getDriverVersion();

  llvm::Expected<DeviceMemory> allocate(size_t bytes);
  llvm::Error upload(void *device, const void *host, size_t bytes);
  llvm::Error download(void *host, const void *device, size_t bytes);
  /// On the stream.
  llvm::Error copy(void *target, const void *source, size_t bytes);
  llvm::Error fill(void *target, uint8_t value, size_t bytes);
  llvm::Error synchronize();

  /// Loads GPU code, as text or as a cubin.
  llvm::Expected<DeviceModule> load(const std::string &image);
  /// Launches kernel `name` of `module` on the stream; `arguments` point to
  /// what it is given.
  llvm::Error launch(const DeviceModule &module, const std::string &name,
                     unsigned grid, unsigned block, ArrayRef<void *> arguments);

  /// Runs `work`, which puts something on the stream, and gives the seconds
  /// that the GPU takes for it; those are known after `synchronize`, in the
  /// order of calls.
  llvm::Error record(function_ref<llvm::Error()> work);
  llvm::Expected<std::vector<double>> takeTimes();

private:
  friend class DeviceMemory;
  friend class DeviceModule;
  struct Driver;
  Gpu(const Driver &driver, int32_t number) : driver(driver), number(number) {}
  llvm::Error initialize();
  llvm::Error check(int result, const char *function);
  void dropTimes();

  const Driver &driver;
  int32_t number;
  std::string name;
  size_t l2Bytes = 0;
  void *stream = nullptr;
  /// Begin and end of what was recorded.
  std::vector<std::pair<void *, void *>> events;
};

/// Memory of a GPU, which has to outlive it.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other)
      : gpu(other.gpu), data(std::exchange(other.data, nullptr)),
        bytes(other.bytes) {}
  DeviceMemory &operator=(DeviceMemory &&other) {
    std::swap(gpu, other.gpu);
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~DeviceMemory();

  void *get() const { return data; }
  size_t getBytes() const { return bytes; }

private:
  friend class Gpu;
  Gpu *gpu = nullptr;
  void *data = nullptr;
  size_t bytes = 0;
};

/// Code on a GPU, which has to outlive it.
class DeviceModule {
public:
  DeviceModule(DeviceModule &&other)
      : gpu(other.gpu), module(std::exchange(other.module, nullptr)) {}
  ~DeviceModule();

private:
  friend class Gpu;
  DeviceModule(Gpu *gpu, void *module) : gpu(gpu), module(module) {}

  Gpu *gpu;
  void *module;
};

/// Copies of the arrays of a call on a GPU.
class DeviceArguments {
public:
  static llvm::Expected<DeviceArguments>
  create(Gpu &gpu, const KernelManifest &kernel, CallArguments &call);

  /// Allocates what `kernel` needs beside the arrays, unless it is there.
  llvm::Error prepare(const KronKernel *kernel);

  /// Puts a launch on the GPU's stream.
  llvm::Error launch(const KronKernel *kernel);

  /// What the kernel reads and writes gets its first contents again.
  llvm::Error restore();

  /// Fills what the kernel writes and does not read with NaN, so that elements
  /// it leaves out are none of an earlier launch.
  llvm::Error poison();

  /// Copies what the kernel wrote into the arrays of `call`.
  llvm::Error download(CallArguments &call);

private:
  Gpu *gpu = nullptr;
  const KernelManifest *manifest = nullptr;
  std::vector<DeviceMemory> memory, saved;
  std::vector<KronArray> views;
  DeviceMemory workspace;
  /// The kernel that it was last prepared for.
  const KronKernel *prepared = nullptr;
};

/// Runs the kernel once, on `numThreads` threads (0: the runtime's); on a GPU,
/// if that is not null, with copies of the arrays, from which the results come
/// back.
llvm::Error launchOnce(const KronKernel *address, const KernelManifest &kernel,
                       CallArguments &call, Gpu *gpu, int32_t numThreads);

/// Copies of a call's arrays on a GPU, on which launches are timed.
class RotatingDeviceCalls {
public:
  /// With `isCold`, the L2 cache is overwritten before each launch; else
  /// launches take turns on copies that do not fit into it together.
  static llvm::Expected<RotatingDeviceCalls>
  create(Gpu &gpu, const KernelManifest &manifest, CallArguments &call,
         bool isCold);

  /// Launches the kernel once, and copies what it wrote into the arrays of
  /// `results`; those that it only reads are not touched, and may be empty.
  llvm::Error run(const KronKernel *kernel, CallArguments &results);

  /// Seconds of each of `runs` launches, sorted, after one that is not timed,
  /// or more where the GPU was idle. Kernels of other plans for the same
  /// function may take turns.
  llvm::Expected<std::vector<double>> time(const KronKernel *kernel,
                                           unsigned runs);

private:
  using Clock = std::chrono::steady_clock;

  llvm::Error launch(const KronKernel *kernel, bool isTimed);
  llvm::Error warmUp(const KronKernel *kernel);

  Gpu *gpu = nullptr;
  std::vector<DeviceArguments> copies;
  /// What is written instead of the cache's contents; empty unless cold.
  DeviceMemory flush;
  size_t next = 0;
  /// The end of the last launch.
  std::optional<Clock::time_point> end;
};

/// Bytes per second, read and written, of the driver's copy of `bytes` in all.
llvm::Expected<double> measureGpuCopy(Gpu &gpu, double bytes);

} // namespace mlir::kron

#endif // KRON_DRIVER_GPU_H
