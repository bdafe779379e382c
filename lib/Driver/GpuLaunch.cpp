//===- GpuLaunch.cpp - Calls on a GPU, and their time -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Gpu.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

llvm::Expected<DeviceArguments>
DeviceArguments::create(Gpu &gpu, const KernelManifest &kernel,
                        CallArguments &call) {
  DeviceArguments result;
  result.gpu = &gpu;
  result.manifest = &kernel;
  result.saved.resize(kernel.args.size());
  for (auto [index, arg] : llvm::enumerate(kernel.args)) {
    HostArray &array = call.arrays[index];
    KronArray view = array.getView();
    auto memory = gpu.allocate(array.getNumBytes());
    if (!memory)
      return memory.takeError();
    if (!arg.isScalar) {
      if (llvm::Error error =
              gpu.upload(memory->get(), array.getData(), array.getNumBytes()))
        return std::move(error);
      view.data = memory->get();
    }
    if (arg.access == KRON_READ_WRITE) {
      auto copy = gpu.allocate(array.getNumBytes());
      if (!copy)
        return copy.takeError();
      if (llvm::Error error =
              gpu.upload(copy->get(), array.getData(), array.getNumBytes()))
        return std::move(error);
      result.saved[index] = std::move(*copy);
    }
    result.memory.push_back(std::move(*memory));
    result.views.push_back(view);
  }
  return result;
}

static KronLaunchOptions getLaunchOptions(const Gpu &gpu) {
  KronLaunchOptions options = {};
  options.target = KRON_TARGET_CUDA;
  options.device = gpu.getNumber();
  options.stream = gpu.getStream();
  return options;
}

llvm::Error DeviceArguments::prepare(const KronKernel *kernel) {
  if (kernel == prepared)
    return llvm::Error::success();
  KronLaunchOptions options = getLaunchOptions(*gpu);
  size_t bytes;
  if (kronGetLaunchWorkspaceSize(kernel, views.data(), views.size(), &options,
                                 &bytes) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  if (bytes > workspace.getBytes()) {
    auto larger = gpu->allocate(bytes);
    if (!larger)
      return larger.takeError();
    workspace = std::move(*larger);
  }
  prepared = kernel;
  return llvm::Error::success();
}

llvm::Error DeviceArguments::launch(const KronKernel *kernel) {
  if (llvm::Error error = prepare(kernel))
    return error;
  KronLaunchOptions options = getLaunchOptions(*gpu);
  options.workspace = workspace.get();
  options.workspaceBytes = workspace.getBytes();
  if (kronLaunch(kernel, views.data(), views.size(), &options) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  return llvm::Error::success();
}

llvm::Error DeviceArguments::restore() {
  for (size_t index = 0; index < saved.size(); ++index)
    if (saved[index].get())
      if (llvm::Error error = gpu->copy(memory[index].get(), saved[index].get(),
                                        saved[index].getBytes()))
        return error;
  return llvm::Error::success();
}

llvm::Error DeviceArguments::poison() {
  for (auto [index, arg] : llvm::enumerate(manifest->args))
    if (arg.access == KRON_WRITE)
      if (llvm::Error error =
              gpu->fill(memory[index].get(), 0xff, memory[index].getBytes()))
        return error;
  return llvm::Error::success();
}

llvm::Error DeviceArguments::download(CallArguments &call) {
  for (unsigned index : getWrittenArgs(*manifest)) {
    HostArray &array = call.arrays[index];
    if (llvm::Error error = gpu->download(array.getData(), memory[index].get(),
                                          array.getNumBytes()))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error kron::launchOnce(const KronKernel *address,
                             const KernelManifest &kernel, CallArguments &call,
                             Gpu *gpu, int32_t numThreads) {
  if (!gpu)
    return call.launch(address, numThreads);
  auto arguments = DeviceArguments::create(*gpu, kernel, call);
  if (!arguments)
    return arguments.takeError();
  if (llvm::Error error = arguments->launch(address))
    return error;
  return arguments->download(call);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Bounds the memory of a measurement.
static constexpr size_t kMostCopies = 64;
/// Long enough for clocks to rise.
static constexpr auto kWarmUp = std::chrono::milliseconds(50);
/// Longer than the host takes from one launch to the next, and less than it
/// compiles a kernel, in which clocks may have fallen.
static constexpr auto kIdle = std::chrono::milliseconds(10);

llvm::Expected<RotatingDeviceCalls>
RotatingDeviceCalls::create(Gpu &gpu, const KernelManifest &manifest,
                            CallArguments &call, bool isCold) {
  RotatingDeviceCalls result;
  result.gpu = &gpu;
  size_t count = isCold ? 1 : getNumCopies(call, gpu.getL2Bytes(), kMostCopies);
  while (result.copies.size() < count) {
    auto arguments = DeviceArguments::create(gpu, manifest, call);
    if (!arguments)
      return arguments.takeError();
    result.copies.push_back(std::move(*arguments));
  }
  if (isCold) {
    auto memory = gpu.allocate(2 * gpu.getL2Bytes());
    if (!memory)
      return memory.takeError();
    result.flush = std::move(*memory);
  }
  return result;
}

llvm::Error RotatingDeviceCalls::run(const KronKernel *kernel,
                                     CallArguments &results) {
  DeviceArguments &arguments = copies.front();
  if (llvm::Error error = arguments.restore())
    return error;
  if (llvm::Error error = arguments.poison())
    return error;
  if (llvm::Error error = arguments.launch(kernel))
    return error;
  if (llvm::Error error = gpu->synchronize())
    return error;
  return arguments.download(results);
}

llvm::Error RotatingDeviceCalls::launch(const KronKernel *kernel,
                                        bool isTimed) {
  DeviceArguments &arguments = copies[next++ % copies.size()];
  if (llvm::Error error = arguments.restore())
    return error;
  if (flush.getBytes())
    if (llvm::Error error = gpu->fill(flush.get(), 0, flush.getBytes()))
      return error;
  if (!isTimed)
    return arguments.launch(kernel);
  return gpu->record([&] { return arguments.launch(kernel); });
}

llvm::Error RotatingDeviceCalls::warmUp(const KronKernel *kernel) {
  // What is allocated between two events would be timed.
  for (DeviceArguments &arguments : copies)
    if (llvm::Error error = arguments.prepare(kernel))
      return error;
  Clock::time_point start = Clock::now();
  bool wasIdle = !end || start - *end > kIdle;
  do {
    if (llvm::Error error = launch(kernel, /*isTimed=*/false))
      return error;
    if (llvm::Error error = gpu->synchronize())
      return error;
  } while (wasIdle && Clock::now() - start < kWarmUp);
  return llvm::Error::success();
}

llvm::Expected<std::vector<double>>
RotatingDeviceCalls::time(const KronKernel *kernel, unsigned runs) {
  if (llvm::Error error = warmUp(kernel))
    return std::move(error);
  for (unsigned run = 0; run < runs; ++run)
    if (llvm::Error error = launch(kernel, /*isTimed=*/true))
      return std::move(error);
  auto times = gpu->takeTimes();
  end = Clock::now();
  if (times)
    llvm::sort(*times);
  return times;
}

llvm::Expected<double> kron::measureGpuCopy(Gpu &gpu, double bytes) {
  auto half = static_cast<size_t>(bytes / 2) + 1;
  auto source = gpu.allocate(half), target = gpu.allocate(half);
  if (!source || !target)
    return llvm::joinErrors(source.takeError(), target.takeError());
  constexpr int runs = 20;
  for (int run = 0; run < runs; ++run)
    if (llvm::Error error = gpu.record(
            [&] { return gpu.copy(target->get(), source->get(), half); }))
      return std::move(error);
  auto times = gpu.takeTimes();
  if (!times)
    return times.takeError();
  llvm::sort(*times);
  return 2.0 * half / (*times)[runs / 2];
}
