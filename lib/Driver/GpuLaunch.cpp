//===- GpuLaunch.cpp - Calls on a GPU, and their time -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Gpu.h"
#include <chrono>

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

llvm::Error DeviceArguments::prepareWorkspace(const KronKernel *kernel) {
  KronLaunchOptions options = getLaunchOptions(*gpu);
  size_t bytes;
  if (kronGetLaunchWorkspaceSize(kernel, views.data(), views.size(), &options,
                                 &bytes) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  hasWorkspace = true;
  if (bytes == 0)
    return llvm::Error::success();
  auto memory = gpu->allocate(bytes);
  if (!memory)
    return memory.takeError();
  workspace = std::move(*memory);
  return llvm::Error::success();
}

llvm::Error DeviceArguments::launch(const KronKernel *kernel) {
  if (!hasWorkspace)
    if (llvm::Error error = prepareWorkspace(kernel))
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

llvm::Error DeviceArguments::download(CallArguments &call) {
  for (unsigned index : getWrittenArgs(*manifest)) {
    HostArray &array = call.arrays[index];
    if (llvm::Error error = gpu->download(array.getData(), memory[index].get(),
                                          array.getNumBytes()))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Copies of the arguments to take turns on: enough that they pass through the
/// L2 cache before they come again.
static size_t getNumCopies(const Gpu &gpu, const CallArguments &call) {
  constexpr size_t maxCopies = 64;
  size_t bytes = 1;
  for (const HostArray &array : call.arrays)
    bytes += array.getNumBytes();
  return std::min(maxCopies, 1 + 2 * gpu.getL2Bytes() / bytes);
}

llvm::Expected<std::vector<double>>
kron::timeGpuLaunches(Gpu &gpu, const KronKernel *kernel,
                      const KernelManifest &manifest, CallArguments &call,
                      unsigned runs, bool cold) {
  std::vector<DeviceArguments> copies;
  for (size_t i = 0, e = cold ? 1 : getNumCopies(gpu, call); i < e; ++i) {
    auto arguments = DeviceArguments::create(gpu, manifest, call);
    if (!arguments)
      return arguments.takeError();
    copies.push_back(std::move(*arguments));
  }
  DeviceMemory flush;
  if (cold) {
    auto memory = gpu.allocate(2 * gpu.getL2Bytes());
    if (!memory)
      return memory.takeError();
    flush = std::move(*memory);
  }
  size_t next = 0;
  auto launch = [&](bool isTimed) -> llvm::Error {
    DeviceArguments &arguments = copies[next++ % copies.size()];
    if (llvm::Error error = arguments.restore())
      return error;
    if (cold)
      if (llvm::Error error = gpu.fill(flush.get(), 0, flush.getBytes()))
        return error;
    if (!isTimed)
      return arguments.launch(kernel);
    return gpu.record([&] { return arguments.launch(kernel); });
  };
  // Every copy once, to allocate, and long enough for the clocks to rise.
  constexpr auto warmUp = std::chrono::milliseconds(50);
  auto start = std::chrono::steady_clock::now();
  for (size_t i = 0;
       i < copies.size() || std::chrono::steady_clock::now() - start < warmUp;
       ++i) {
    if (llvm::Error error = launch(/*isTimed=*/false))
      return std::move(error);
    if (llvm::Error error = gpu.synchronize())
      return std::move(error);
  }
  for (unsigned run = 0; run < runs; ++run)
    if (llvm::Error error = launch(/*isTimed=*/true))
      return std::move(error);
  auto times = gpu.takeTimes();
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
