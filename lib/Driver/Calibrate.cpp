//===- Calibrate.cpp - Measuring the rates of a machine ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Calibrate.h"
#include "kron/Driver/Measure.h"
#include "kron/Machine/CacheFolder.h"
#include "kron/Machine/LockedFile.h"
#include "kron/Target/LLVMIR.h"
#include "kron/Target/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cerrno>

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
/// For which another process that measures is waited for, of a processor and of
/// a GPU.
static constexpr double kMostLockSeconds = 2, kMostGPULockSeconds = 5;
static constexpr size_t kFirstUseBytes = size_t(1) << 25;

/// Of a run whose rate counts, the share for which it had the processor: turns
/// of the operating system take less.
static constexpr double kLeastShare = 0.95;

/// Rounds up to what copies take.
static size_t getShare(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// "copy was", or "copy, l2copy and ffma were".
static std::string getSubject(ArrayRef<StringRef> kinds) {
  if (kinds.size() == 1)
    return (kinds.front() + " was").str();
  return llvm::join(kinds.drop_back(), ", ") +
         (" and " + kinds.back() + " were").str();
}

llvm::Error kron::checkMeasured(const Calibration &calibration) {
  if (!calibration.rates.empty())
    return llvm::Error::success();
  if (calibration.contended.empty())
    return createStringError("there was no time to measure any rate");
  return createStringError("other programs ran while " +
                           getSubject(calibration.contended) +
                           " measured: no rate counts");
}

llvm::Expected<Calibration> kron::measureProcessor(const Deadline &deadline,
                                                   size_t copiedBytes,
                                                   ThreadClock clock) {
  Processor processor = getHostProcessor();
  Calibration calibration;
  calibration.key = getCalibrationKey(processor);
  using Measure = std::function<llvm::Expected<MeasuredRate>(const Deadline &)>;
  // What takes long comes last, and has the time that the others leave.
  std::pair<StringRef, Measure> measures[] = {
      {"ffma",
       [&](const Deadline &part) {
         return measureMultiplyAdds(KRON_F32, /*numThreads=*/1, part, clock);
       }},
      // Of half the cache, with room for what else is used.
      {"l2copy",
       [&](const Deadline &part) {
         size_t share = getShare(processor.l2Bytes / 4);
         return measureCopy(CopyArrays(share), share, 1, part, clock);
       }},
      {"copy", [&](const Deadline &part) -> llvm::Expected<MeasuredRate> {
         size_t bytes = getShare(copiedBytes);
         CopyArrays memory(bytes, part);
         if (!memory.target && !part.isOver())
           return createStringError("no memory for two arrays of " +
                                    llvm::Twine(bytes) + " bytes");
         return measureCopy(memory, bytes, 1, part, clock);
       }}};
  llvm::StringMap<MeasuredRate> rates;
  double numLeft = std::size(measures);
  for (auto &[kind, measure] : measures) {
    if (deadline.isOver())
      break;
    auto rate = measure(deadline.getPart(1 / numLeft--));
    if (!rate)
      return rate.takeError();
    if (rate->perSecond > 0)
      rates[kind] = *rate;
  }
  for (const RateKind &kind : getCPURateKinds())
    if (auto rate = rates.find(kind.key); rate == rates.end())
      calibration.missed.push_back(kind.key);
    else if (rate->second.share < kLeastShare)
      calibration.contended.push_back(kind.key);
    else
      calibration.set(kind.key, rate->second.perSecond * 1e-9);
  if (llvm::Error error = checkMeasured(calibration))
    return std::move(error);
  return calibration;
}

llvm::Expected<Calibration> kron::measureProcessorAtFirstUse() {
  return measureProcessor(Deadline(kFirstUseSeconds), kFirstUseBytes);
}

/// Names the rates of `machine` that other programs took part of.
static void warnOfContention(const Calibration &calibration, StringRef machine,
                             llvm::raw_ostream &warnings) {
  if (!calibration.contended.empty())
    warnings << machine << ": other programs ran while "
             << getSubject(calibration.contended) << " measured, and "
             << (calibration.contended.size() == 1 ? "is" : "are")
             << " not kept\n";
}

/// Makes the folder of `path`, for this user alone.
static std::error_code createFolderOf(StringRef path) {
  return llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path),
                                           /*IgnoreExisting=*/true,
                                           llvm::sys::fs::owner_all);
}

/// Whether `lock`, of file `path`, is held; if not since the file cannot be
/// used, `warnings` says so. One that another process has still is no fault.
static bool isHeld(const LockedFile &lock, StringRef path, StringRef machine,
                   llvm::raw_ostream &warnings) {
  if (lock.descriptor >= 0)
    return true;
  if (int reason = errno; reason != EWOULDBLOCK)
    warnings << machine << " is not calibrated: cannot lock '" << path
             << "': " << llvm::sys::StrError(reason) << "\n";
  return false;
}

void kron::calibrateAtFirstUse(
    Processor &processor, llvm::raw_ostream &warnings,
    llvm::function_ref<llvm::Expected<Calibration>()> measure) {
  std::string path = getCalibrationPath(getCalibrationKey(processor));
  if (processor.isKnown || processor.rates.areCalibrated || path.empty() ||
      !mayCalibrateAtFirstUse() || createFolderOf(path))
    return;
  // One at a time: others would take its processors, and need not measure then.
  std::string lockPath = path + ".lock";
  LockedFile lock(lockPath, kMostLockSeconds);
  if (!isHeld(lock, lockPath, "this processor", warnings))
    return;
  takeKeptRates(processor);
  if (processor.rates.areCalibrated)
    return;
  auto measured = measure();
  if (!measured) {
    warnings << "this processor: " << llvm::toString(measured.takeError())
             << "\n";
    return;
  }
  warnOfContention(*measured, "this processor", warnings);
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
    if (llvm::is_contained(calibration.contended, kind.key))
      stream << llvm::formatv("  {0,-52}  not kept: other programs ran\n",
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
  if (std::error_code error = createFolderOf(path))
    return createStringError("cannot make the folder of '" + path +
                             "': " + error.message());
  Calibration calibration = measured;
  SmallVector<StringRef> unknown = llvm::to_vector(measured.missed);
  llvm::append_range(unknown, measured.contended);
  if (!unknown.empty() && llvm::sys::fs::exists(path)) {
    auto before = readCalibration(path);
    for (StringRef kind : unknown)
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
                            std::optional<double> seconds, ThreadClock clock) {
  Deadline deadline(seconds.value_or(kCalibrationSeconds));
  auto calibration = number ? measureGPU(*number, deadline)
                            : measureProcessor(deadline, kCopiedBytes, clock);
  if (!calibration)
    return calibration.takeError();
  printCalibration(stream, *calibration);
  auto path = keepCalibration(*calibration);
  if (!path)
    return path.takeError();
  if (!path->empty())
    stream << "kept in " << *path << "\n";
  else if (std::string problem = getCacheProblem(); !problem.empty())
    stream << "kept nowhere: " << problem << "\n";
  else if (isCacheEnabled())
    stream << "kept nowhere: there is no folder for the user's cache\n";
  else
    stream << "kept nowhere (KRON_CACHE=0)\n";
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// GPUs of this machine
//===----------------------------------------------------------------------===//

/// The name of the GPU with the rates that are kept of it; nothing if there are
/// none, or `warnings` says why they are none of it.
static std::optional<std::string> findKeptName(const CalibrationKey &key,
                                               StringRef path,
                                               llvm::raw_ostream &warnings) {
  if (!llvm::sys::fs::exists(path))
    return std::nullopt;
  auto kept = readCalibration(path);
  if (kept && kept->key == key)
    return kept->getGPUName();
  warnings << "calibration ignored: "
           << (kept ? "'" + path.str() + "': expects one of " + key.model +
                          ", but got one of " + kept->key.model
                    : llvm::toString(kept.takeError()))
           << "\n";
  return std::nullopt;
}

/// Measures a GPU that no table has, and keeps what it finds where that is
/// possible.
static std::string measureUnknownGPU(int32_t number, const CalibrationKey &key,
                                     double seconds,
                                     llvm::raw_ostream &warnings) {
  auto measured = measureGPU(number, Deadline(seconds));
  if (!measured) {
    warnings << "GPU " << number << " cannot be calibrated: "
             << llvm::toString(measured.takeError()) << "\n";
    return key.machine;
  }
  if (!measured->missed.empty())
    warnings << "GPU " << number << ": there was no time to measure "
             << llvm::join(measured->missed, ", ") << "\n";
  warnOfContention(*measured, "GPU " + std::to_string(number), warnings);
  // Where it cannot be kept, the next process measures again.
  if (auto kept = keepCalibration(*measured); !kept)
    warnings << llvm::toString(kept.takeError()) << "\n";
  return measured->getGPUName();
}

llvm::Expected<std::string> kron::getGPUName(int32_t number,
                                             llvm::raw_ostream &warnings,
                                             std::optional<double> seconds) {
  double most = seconds.value_or(kCalibrationSeconds);
  KronCudaProperties properties;
  if (kronGetCudaProperties(number, &properties) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  CalibrationKey key = getCalibrationKey(getGPUProperties(properties));
  std::string path = getCalibrationPath(key);
  if (path.empty())
    return key.machine;
  if (auto name = findKeptName(key, path, warnings))
    return *name;
  bool isKnown = !StringRef(key.machine).starts_with("sm_");
  if (isKnown || !mayCalibrateAtFirstUse())
    return key.machine;
  if (createFolderOf(path))
    return measureUnknownGPU(number, key, most, warnings);
  // One at a time: each would take from what the others measure.
  std::string lockPath = path + ".lock";
  LockedFile lock(lockPath, kMostGPULockSeconds);
  if (!isHeld(lock, lockPath, "GPU " + std::to_string(number), warnings))
    return key.machine;
  if (auto name = findKeptName(key, path, llvm::nulls()))
    return *name;
  return measureUnknownGPU(number, key, most, warnings);
}
