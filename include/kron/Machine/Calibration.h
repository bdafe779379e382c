//===- Calibration.h - Rates measured on the user's machine -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What `kron-run --calibrate` measures of one GPU or processor, and the file
// that keeps it: JSON, in the folder `machines` of the user's cache, named by
// what the rates belong to.
//
//   {"kron": 1, "kind": "gpu", "machine": "h200", "model": "NVIDIA H200",
//    "units": 132, "clock_mhz": 1980, "memory_gib": 141,
//    "rates": {"copy": 4130, "launch": 4.9, "ffma": 64.5, ...}}
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_CALIBRATION_H
#define KRON_MACHINE_CALIBRATION_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Machine/Processor.h"
#include <vector>

namespace mlir::kron {

/// A rate that is measured.
struct RateKind {
  llvm::StringRef key, text, unit;
};

/// Those of GPUs: all keys but "l2copy" are keys of a GPU's name as well.
llvm::ArrayRef<RateKind> getGPURateKinds();
/// Those of processors, of one thread, from which estimates are counted.
llvm::ArrayRef<RateKind> getCPURateKinds();

/// What the description of a GPU has for `kind`, in its unit; 0: nothing.
double getRate(const GPUMachine &machine, llvm::StringRef kind);

/// As names and reports have it: "4130", "4.91".
std::string formatRate(double rate);

/// What rates belong to: others are not taken for those of this machine.
struct CalibrationKey {
  bool isGPU = false;
  /// How the machine is identified without rates: "h200", "h200:sms=60";
  /// LLVM's name of a processor.
  std::string machine;
  /// The driver's name; empty for a processor.
  std::string model;
  /// SMs; 1 for a processor.
  int64_t numUnits = 0;
  /// 0 for a processor.
  int64_t clockMHz = 0, memoryGiB = 0;

  bool operator==(const CalibrationKey &other) const;
  /// "gpu-NVIDIA-H200-132-1980-141.json".
  std::string getFileName() const;
};

/// The key of a GPU that a driver describes.
CalibrationKey getCalibrationKey(const GPUProperties &properties);

/// The key of a processor: LLVM's name.
CalibrationKey getCalibrationKey(const Processor &processor);

struct Calibration {
  CalibrationKey key;
  /// By kind; what a machine lacks is left out, and what there was no time for.
  std::vector<std::pair<std::string, double>> rates;
  /// Kinds that there was no time for, and those that were measured while other
  /// programs took part of what they are rates of; none where it comes out of a
  /// file.
  std::vector<llvm::StringRef> missed, contended;

  /// The rate of `kind`, 0 if it was not measured.
  double find(llvm::StringRef kind) const;
  /// Sets the rate of `kind` to four digits of `rate`, in the unit of the kind.
  void set(llvm::StringRef kind, double rate);
  /// The GPU's name with its rates: "h200:copy=4130:...:calibrated".
  std::string getGPUName() const;
  /// The contents of its file.
  std::string print() const;
};

/// Gives `processor` the rates that were measured of it. Clock and loads stay
/// those of the table, and so does what there was no time for.
void setRates(Processor &processor, const Calibration &calibration);

/// Does so with those that are kept of it, if any are. What is damaged counts
/// as not there.
void takeKeptRates(Processor &processor);

/// Reads what `print` writes. The error says what was expected where `text` is
/// no JSON, of another version, or lacks a field, and where a rate is unknown
/// or out of range, or there is none.
llvm::Expected<Calibration> parseCalibration(llvm::StringRef text);

/// The same of a file, which the error names.
llvm::Expected<Calibration> readCalibration(llvm::StringRef path);

/// What an option that names a GPU means: the name of the calibration in a file
/// if it ends in ".json", else the name itself.
llvm::Expected<std::string> resolveGPUName(llvm::StringRef name);

/// Where calibrations are kept, in the user's cache (CacheFolder.h). Empty
/// where that is turned off, is nowhere, or is not used for its problem.
std::string getCalibrationFolder();

/// The path of a calibration, empty if none is kept.
std::string getCalibrationPath(const CalibrationKey &key);

/// Whether a machine that no table has may be measured at its first use:
/// KRON_CALIBRATE=0 turns that off.
bool mayCalibrateAtFirstUse();

} // namespace mlir::kron

#endif // KRON_MACHINE_CALIBRATION_H
