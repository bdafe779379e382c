//===- Calibrate.cpp - Measuring the rates of a machine ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Measure.h"
#include "kron/Runtime/IRInterface.h"
#include "kron/Target/LLVMIR.h"
#include "kron/Target/Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

/// Seconds of a launch whose parallel loop does nothing on all threads.
static llvm::Expected<double> measureLoop(int32_t numThreads) {
  static constexpr auto entry = [](const KronArray *) {
    kronRtParallelFor(
        kronRtNumThreads(), 1, [](int64_t, int64_t, void *, void *) {}, nullptr,
        0);
  };
  KronVersion version = {KRON_ISA_HOST, entry, 0, 0, nullptr};
  KronKernel kernel = {KRON_API_VERSION, 0, "empty", nullptr, 1, 0, &version};
  KronLaunchOptions options = {};
  options.numThreads = numThreads;
  constexpr int launches = 200;
  std::vector<double> times;
  for (int i = 0; i < launches; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (kronLaunch(&kernel, nullptr, 0, &options) != KRON_SUCCESS)
      return createStringError(kronGetLastError());
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count());
  }
  llvm::sort(times);
  return times[launches / 2];
}

llvm::Expected<Calibration> kron::measureProcessor(int32_t numThreads) {
  Processor processor = getHostProcessor();
  Calibration calibration;
  calibration.key.machine = processor.cpu;
  calibration.key.numUnits = numThreads;
  // Larger than the caches that all cores have, and that one core reaches.
  constexpr size_t memoryBytes = size_t(1) << 28, aloneBytes = memoryBytes / 2;
  auto setCopy = [&](StringRef kind, size_t bytes,
                     int32_t threads) -> llvm::Error {
    double rate = measureCopy(bytes, threads);
    if (rate <= 0)
      return createStringError("no memory for two arrays of " +
                               llvm::Twine(bytes * threads) + " bytes");
    calibration.set(kind, rate * 1e-9);
    return llvm::Error::success();
  };
  // Source and target of half a cache, with room for what else is used.
  for (auto [kind, bytes, threads] :
       {std::tuple("copy", memoryBytes / numThreads, numThreads),
        std::tuple("copy1", aloneBytes, 1),
        std::tuple("l1copy", size_t(processor.l1Bytes) / 4, 1),
        std::tuple("l2copy", size_t(processor.l2Bytes) / 4, 1)})
    if (llvm::Error error = setCopy(kind, bytes, threads))
      return std::move(error);
  auto loop = measureLoop(numThreads);
  if (!loop)
    return loop.takeError();
  calibration.set("launch", *loop * 1e6);
  for (auto [kind, type, threads] : {std::tuple("ffma", KRON_F32, numThreads),
                                     std::tuple("ffma1", KRON_F32, 1),
                                     std::tuple("dfma", KRON_F64, numThreads),
                                     std::tuple("dfma1", KRON_F64, 1)})
    calibration.set(kind, measureMultiplyAdds(type, threads) * 1e-9);
  return calibration;
}

//===----------------------------------------------------------------------===//
// Reports and files
//===----------------------------------------------------------------------===//

void kron::printCalibration(llvm::raw_ostream &stream,
                            const Calibration &calibration) {
  const CalibrationKey &key = calibration.key;
  std::optional<GPUMachine> table;
  if (key.isGPU) {
    table = llvm::cantFail(parseGPUMachine(key.machine));
    stream << llvm::formatv("{0} ({1}): {2} SMs, {3} MHz, {4} GiB\n", key.model,
                            key.machine, key.numUnits, key.clockMHz,
                            key.memoryGiB);
  } else {
    stream << llvm::formatv("{0}: {1} thread(s)\n", key.machine, key.numUnits);
  }
  for (const RateKind &kind :
       key.isGPU ? getGPURateKinds() : getCPURateKinds()) {
    double rate = calibration.find(kind.key);
    if (rate == 0)
      continue;
    stream << llvm::formatv("  {0,-52} {1,10} {2,-8}", kind.text,
                            formatRate(rate), kind.unit);
    double known = table ? getRate(*table, kind.key) : 0;
    if (known)
      stream << llvm::formatv(
          "{0}: {1}", table->isMeasured ? "table, measured" : "data sheet",
          formatRate(known));
    stream << "\n";
  }
  if (key.isGPU)
    stream << "plans are made for " << calibration.getGPUName() << "\n";
}

llvm::Expected<std::string>
kron::keepCalibration(const Calibration &calibration) {
  std::string path = getCalibrationPath(calibration.key);
  if (path.empty())
    return path;
  if (std::error_code error = llvm::sys::fs::create_directories(
          llvm::sys::path::parent_path(path), /*IgnoreExisting=*/true,
          llvm::sys::fs::owner_all))
    return createStringError("cannot make the folder of '" + path +
                             "': " + error.message());
  if (llvm::Error error = writeFile(path, [&](llvm::raw_ostream &stream) {
        stream << calibration.print();
      }))
    return std::move(error);
  return path;
}

llvm::Error kron::calibrate(std::optional<int32_t> number, int32_t numThreads,
                            llvm::raw_ostream &stream) {
  auto calibration =
      number ? measureGPU(*number) : measureProcessor(numThreads);
  if (!calibration)
    return calibration.takeError();
  printCalibration(stream, *calibration);
  auto path = keepCalibration(*calibration);
  if (!path)
    return path.takeError();
  stream << (path->empty() ? "kept nowhere (KRON_CACHE=0)" : "kept in " + *path)
         << "\n";
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// GPUs of this machine
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> kron::getGPUName(int32_t number,
                                             llvm::raw_ostream &warnings) {
  KronCudaProperties properties;
  if (kronGetCudaProperties(number, &properties) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  CalibrationKey key = getCalibrationKey(getGPUProperties(properties));
  std::string path = getCalibrationPath(key);
  if (path.empty())
    return key.machine;
  if (llvm::sys::fs::exists(path)) {
    auto kept = readCalibration(path);
    if (kept && kept->key == key)
      return kept->getGPUName();
    warnings << "calibration ignored: "
             << (kept ? "'" + path + "': expects one of " + key.model +
                            ", but got one of " + kept->key.model
                      : llvm::toString(kept.takeError()))
             << "\n";
  }
  bool isKnown = !StringRef(key.machine).starts_with("sm_");
  if (isKnown)
    return key.machine;
  auto measured = measureGPU(number);
  if (!measured) {
    warnings << "GPU " << number << " cannot be calibrated: "
             << llvm::toString(measured.takeError()) << "\n";
    return key.machine;
  }
  // Where it cannot be kept, the next process measures again.
  if (auto kept = keepCalibration(*measured); !kept)
    warnings << llvm::toString(kept.takeError()) << "\n";
  return measured->getGPUName();
}
