//===- Calibrate.cpp - Measuring the rates of a machine ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Measure.h"
#include "kron/Machine/LockedFile.h"
#include "kron/Target/LLVMIR.h"
#include "kron/Target/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

/// When measuring ends, of the five seconds that it may take: a run that was
/// begun is ended, and much has to be done before.
static constexpr double kCalibrationSeconds = 3.5;
/// The same where somebody waits for the first kernel, and what is copied then.
static constexpr double kFirstUseSeconds = 0.3;
/// For which another process that measures is waited for.
static constexpr double kMostLockSeconds = 2;
static constexpr size_t kFirstUseBytes = size_t(1) << 25;

/// Rounds up to what copies take.
static size_t getShare(size_t bytes) { return (bytes + 63) / 64 * 64; }

llvm::Expected<Calibration> kron::measureProcessor(const Deadline &deadline,
                                                   size_t copiedBytes) {
  Processor processor = getHostProcessor();
  Calibration calibration;
  calibration.key = getCalibrationKey(processor);
  using Measure = std::function<llvm::Expected<double>(const Deadline &)>;
  // What takes long comes last, and has the time that the others leave.
  std::pair<StringRef, Measure> measures[] = {
      {"ffma",
       [](const Deadline &part) {
         return measureMultiplyAdds(KRON_F32, /*numThreads=*/1, part) * 1e-9;
       }},
      // Of half the cache, with room for what else is used.
      {"l2copy",
       [&](const Deadline &part) {
         size_t share = getShare(processor.l2Bytes / 4);
         return measureCopy(CopyArrays(share), share, 1, part) * 1e-9;
       }},
      {"copy", [&](const Deadline &part) -> llvm::Expected<double> {
         size_t bytes = getShare(copiedBytes);
         CopyArrays memory(bytes, part);
         if (!memory.target && !part.isOver())
           return createStringError("no memory for two arrays of " +
                                    llvm::Twine(bytes) + " bytes");
         return measureCopy(memory, bytes, 1, part) * 1e-9;
       }}};
  llvm::StringMap<double> rates;
  double numLeft = std::size(measures);
  for (auto &[kind, measure] : measures) {
    if (deadline.isOver())
      break;
    auto rate = measure(deadline.getPart(1 / numLeft--));
    if (!rate)
      return rate.takeError();
    if (*rate > 0)
      rates[kind] = *rate;
  }
  for (const RateKind &kind : getCPURateKinds())
    if (auto rate = rates.find(kind.key); rate != rates.end())
      calibration.set(kind.key, rate->second);
    else
      calibration.missed.push_back(kind.key);
  if (calibration.rates.empty())
    return createStringError("there was no time to measure any rate");
  return calibration;
}

llvm::Expected<Calibration> kron::measureProcessorAtFirstUse() {
  return measureProcessor(Deadline(kFirstUseSeconds), kFirstUseBytes);
}

void kron::calibrateAtFirstUse(
    Processor &processor,
    llvm::function_ref<llvm::Expected<Calibration>()> measure) {
  std::string path = getCalibrationPath(getCalibrationKey(processor));
  if (processor.isKnown || processor.rates.areCalibrated || path.empty() ||
      !mayCalibrateAtFirstUse())
    return;
  if (llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path),
                                        /*IgnoreExisting=*/true,
                                        llvm::sys::fs::owner_all))
    return;
  // One at a time: others would take its processors, and need not measure then.
  LockedFile lock(path + ".lock", kMostLockSeconds);
  if (lock.descriptor < 0)
    return;
  takeKeptRates(processor);
  if (processor.rates.areCalibrated)
    return;
  auto measured = measure();
  if (!measured)
    return llvm::consumeError(measured.takeError());
  if (auto kept = keepCalibration(*measured); !kept)
    llvm::consumeError(kept.takeError());
  setRates(processor, *measured);
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
    stream << key.machine << ":\n";
  }
  for (const RateKind &kind :
       key.isGPU ? getGPURateKinds() : getCPURateKinds()) {
    double rate = calibration.find(kind.key);
    if (llvm::is_contained(calibration.missed, kind.key))
      stream << llvm::formatv("  {0,-52}  not measured: time was over\n",
                              kind.text);
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

llvm::Expected<std::string> kron::keepCalibration(const Calibration &measured) {
  std::string path = getCalibrationPath(measured.key);
  if (path.empty())
    return path;
  if (std::error_code error = llvm::sys::fs::create_directories(
          llvm::sys::path::parent_path(path), /*IgnoreExisting=*/true,
          llvm::sys::fs::owner_all))
    return createStringError("cannot make the folder of '" + path +
                             "': " + error.message());
  // What there was no time for stays as it was measured before.
  Calibration calibration = measured;
  if (!measured.missed.empty() && llvm::sys::fs::exists(path)) {
    auto before = readCalibration(path);
    for (StringRef kind : measured.missed)
      if (before && before->key == measured.key && before->find(kind))
        calibration.rates.emplace_back(kind.str(), before->find(kind));
    if (!before)
      llvm::consumeError(before.takeError());
  }
  if (llvm::Error error = writeFile(path, [&](llvm::raw_ostream &stream) {
        stream << calibration.print();
      }))
    return std::move(error);
  return path;
}

llvm::Error kron::calibrate(std::optional<int32_t> number,
                            llvm::raw_ostream &stream,
                            std::optional<double> seconds) {
  Deadline deadline(seconds.value_or(kCalibrationSeconds));
  auto calibration =
      number ? measureGPU(*number, deadline) : measureProcessor(deadline);
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
  if (isKnown || !mayCalibrateAtFirstUse())
    return key.machine;
  auto measured = measureGPU(number, Deadline(kCalibrationSeconds));
  if (!measured) {
    warnings << "GPU " << number << " cannot be calibrated: "
             << llvm::toString(measured.takeError()) << "\n";
    return key.machine;
  }
  if (!measured->missed.empty())
    warnings << "GPU " << number << ": there was no time to measure "
             << llvm::join(measured->missed, ", ") << "\n";
  // Where it cannot be kept, the next process measures again.
  if (auto kept = keepCalibration(*measured); !kept)
    warnings << llvm::toString(kept.takeError()) << "\n";
  return measured->getGPUName();
}
