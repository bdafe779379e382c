//===- MeasureGpu.cpp - The rates of a GPU ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RateKernels.h"
#include "kron/Driver/Calibrate.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

/// Launches that last so long show a rate.
static constexpr double kLongSeconds = 1e-3;
/// Rounds of one launch at most: an instruction may take a thousand clocks.
static constexpr int32_t kMostRounds = 1 << 20;
/// Launches of which the best counts: other programs only take time away.
static constexpr int kRepetitions = 5;
/// The least time of launches as a part of their median, of rates that count:
/// clocks change less, and other programs take more in their turns.
static constexpr double kLeastShare = 0.8;
/// Launches of which the median counts, where a launch itself is timed.
static constexpr int kLaunches = 51;
/// CTAs on each SM: as many as have their registers at once.
static constexpr unsigned kCTAsPerSM = 2;
/// The most memory for a copy, and the part of the GPU's that it may take.
static constexpr size_t kMostCopyBytes = size_t(1) << 30;
static constexpr size_t kMemoryShare = 4;
/// Times that the second-level cache is copied through by one launch.
static constexpr int32_t kCacheRounds = 20;

namespace {
/// Launches and times the kernels.
class GPUMeter {
public:
  GPUMeter(Gpu &gpu, DeviceModule module, DeviceMemory memory)
      : gpu(gpu), module(std::move(module)), memory(std::move(memory)) {}

  /// Flops of `kernel`.
  llvm::Expected<MeasuredRate> measureArithmetic(const RateKernel &kernel,
                                                 unsigned numCTAs);
  /// Bytes of a copy that touches `bytes`, `rounds` times over; the CTAs are a
  /// multiple of `numSMs` where they are few.
  llvm::Expected<MeasuredRate> measureCopy(size_t bytes, int32_t rounds,
                                           unsigned numSMs);
  /// Seconds of a launch, in place of a rate.
  llvm::Expected<MeasuredRate> measureLaunch();

private:
  /// Seconds of each of `runs` launches.
  llvm::Expected<std::vector<double>> time(StringRef kernel, unsigned numCTAs,
                                           unsigned threads,
                                           ArrayRef<void *> arguments,
                                           int runs);
  /// The rate of `work` in the best of `runs` launches.
  llvm::Expected<MeasuredRate> getBest(StringRef kernel, unsigned numCTAs,
                                       ArrayRef<void *> arguments, int runs,
                                       double work);

  Gpu &gpu;
  DeviceModule module;
  DeviceMemory memory;
};
} // namespace

llvm::Expected<std::vector<double>>
GPUMeter::time(StringRef kernel, unsigned numCTAs, unsigned threads,
               ArrayRef<void *> arguments, int runs) {
  for (int run = 0; run < runs; ++run)
    if (llvm::Error error = gpu.record([&] {
          return gpu.launch(module, kernel.str(), numCTAs, threads, arguments);
        }))
      return std::move(error);
  return gpu.takeTimes();
}

llvm::Expected<MeasuredRate> GPUMeter::getBest(StringRef kernel,
                                               unsigned numCTAs,
                                               ArrayRef<void *> arguments,
                                               int runs, double work) {
  auto times = time(kernel, numCTAs, kRateThreads, arguments, runs);
  if (!times)
    return times.takeError();
  llvm::sort(*times);
  double best = times->front();
  if (best <= 0)
    return createStringError("kernel '" + kernel +
                             "' takes no time that the GPU can tell");
  return MeasuredRate{work / best, best / (*times)[times->size() / 2]};
}

llvm::Expected<MeasuredRate>
GPUMeter::measureArithmetic(const RateKernel &kernel, unsigned numCTAs) {
  void *out = memory.get();
  int32_t rounds = 16;
  void *arguments[] = {&out, &rounds};
  while (rounds < kMostRounds) {
    auto launch = getBest(kernel.key, numCTAs, arguments, 1, /*work=*/1);
    if (!launch)
      return launch.takeError();
    if (launch->perSecond * kLongSeconds <= 1)
      break;
    rounds *= 2;
  }
  return getBest(kernel.key, numCTAs, arguments, kRepetitions,
                 kernel.flops * numCTAs * rounds);
}

llvm::Expected<MeasuredRate> GPUMeter::measureCopy(size_t bytes, int32_t rounds,
                                                   unsigned numSMs) {
  size_t half = std::min(bytes, memory.getBytes()) / 2;
  auto numCTAs = static_cast<unsigned>(half / kCopyBytes);
  numCTAs = std::max(numCTAs / numSMs, 1u) * numSMs;
  void *target = memory.get();
  void *source = static_cast<char *>(target) + half;
  void *arguments[] = {&target, &source, &rounds};
  return getBest("copy", numCTAs, arguments, 2 * kRepetitions,
                 2.0 * kCopyBytes * numCTAs * rounds);
}

llvm::Expected<MeasuredRate> GPUMeter::measureLaunch() {
  auto times = time("empty", 1, 32, {}, kLaunches);
  if (!times)
    return times.takeError();
  llvm::sort(*times);
  return MeasuredRate{(*times)[kLaunches / 2]};
}

llvm::Expected<Calibration> kron::measureGPU(int32_t number,
                                             const Deadline &deadline) {
  KronCudaProperties found;
  if (kronGetCudaProperties(number, &found) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  Calibration calibration;
  calibration.key = getCalibrationKey(getGPUProperties(found));
  auto machine = parseGPUMachine(calibration.key.machine);
  if (!machine)
    return machine.takeError();
  auto code = compileRateKernels(*machine);
  if (!code)
    return code.takeError();
  auto gpu = Gpu::open(number);
  if (!gpu)
    return gpu.takeError();
  auto module = (*gpu)->load(*code);
  if (!module)
    return module.takeError();
  // A small GPU still gets a CTA on each SM.
  auto numSMs = static_cast<unsigned>(machine->numSMs);
  size_t bytes = std::max(
      2 * kCopyBytes * numSMs,
      std::min(kMostCopyBytes, size_t(found.memoryBytes) / kMemoryShare));
  auto memory = (*gpu)->allocate(bytes);
  if (!memory)
    return memory.takeError();
  // NaN or denormal values that lie there by chance take no other time, but may
  // take other power.
  if (llvm::Error error = (*gpu)->fill(memory->get(), 0x3c, bytes))
    return std::move(error);

  GPUMeter meter(**gpu, std::move(*module), std::move(*memory));
  auto add = [&](StringRef kind, double unit,
                 llvm::function_ref<llvm::Expected<MeasuredRate>()> measure)
      -> llvm::Error {
    if (deadline.isOver()) {
      calibration.missed.push_back(kind);
      return llvm::Error::success();
    }
    auto rate = measure();
    if (!rate)
      return rate.takeError();
    if (rate->share < kLeastShare)
      calibration.contended.push_back(kind);
    else
      calibration.set(kind, rate->perSecond / unit);
    return llvm::Error::success();
  };
  // Arithmetic first: by then clocks have risen.
  std::vector<RateKernel> kernels = getRateKernels(*machine);
  if (auto warmUp =
          meter.measureArithmetic(kernels.front(), kCTAsPerSM * numSMs);
      !warmUp)
    return warmUp.takeError();
  for (const RateKernel &kernel : kernels)
    if (llvm::Error error = add(kernel.key, 1e12, [&] {
          return meter.measureArithmetic(kernel, kCTAsPerSM * numSMs);
        }))
      return std::move(error);
  if (llvm::Error error =
          add("copy", 1e9, [&] { return meter.measureCopy(bytes, 1, numSMs); }))
    return std::move(error);
  if (llvm::Error error = add("l2copy", 1e9, [&] {
        return meter.measureCopy(machine->l2Bytes / 2, kCacheRounds, numSMs);
      }))
    return std::move(error);
  if (llvm::Error error =
          add("launch", 1e-6, [&] { return meter.measureLaunch(); }))
    return std::move(error);
  if (llvm::Error error = checkMeasured(calibration))
    return std::move(error);
  return calibration;
}
