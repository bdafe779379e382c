//===- Calibrate.h - Measuring the rates of a machine -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Measures what kron/Machine/Calibration.h keeps, in a few seconds, and says
// what plans for a GPU of this machine are made for.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_CALIBRATE_H
#define KRON_DRIVER_CALIBRATE_H

#include "kron/Driver/Gpu.h"
#include "kron/Driver/Measure.h"
#include "kron/Machine/Calibration.h"
#include <optional>

namespace mlir::kron {

/// Bytes of each of two arrays that are larger than the caches which one core
/// reaches.
inline constexpr size_t kCopiedBytes = size_t(1) << 27;

/// Measures one thread of the processor. Rates are the best of as many runs as
/// there are until `deadline`, of which each has a share; that of memory is
/// measured by arrays of `copiedBytes`. By `clock` it is known which of them
/// other programs took part of.
llvm::Expected<Calibration>
measureProcessor(const Deadline &deadline, size_t copiedBytes = kCopiedBytes,
                 ThreadClock clock = getThreadSeconds);

/// Measures this processor in a part of a second.
llvm::Expected<Calibration> measureProcessorAtFirstUse();

/// Gives `processor`, this one, measured rates if the table does not have it
/// and none are kept: `measure` is called once for a user's processes, and what
/// it finds is kept. Nothing is measured where that is turned off or nothing
/// can be kept, since every process would do so then. `warnings` says which
/// rates other programs took part of.
void calibrateAtFirstUse(Processor &processor, llvm::raw_ostream &warnings,
                         llvm::function_ref<llvm::Expected<Calibration>()>
                             measure = measureProcessorAtFirstUse);

/// An error if no rate of `calibration` counts, which says why.
llvm::Error checkMeasured(const Calibration &calibration);

/// Measures GPU `number`: rates for which `deadline` leaves time.
llvm::Expected<Calibration> measureGPU(int32_t number,
                                       const Deadline &deadline);

/// Prints what was measured, beside what the table has of a GPU.
void printCalibration(llvm::raw_ostream &stream,
                      const Calibration &calibration);

/// Writes the file of a calibration; returns its path, empty if none are kept.
/// What was not measured stays as it was kept before.
llvm::Expected<std::string> keepCalibration(const Calibration &calibration);

/// Measures, prints and keeps: GPU `number`, or without one the processor, by
/// `clock`. `seconds`: instead of those that it takes at most.
llvm::Error calibrate(std::optional<int32_t> number, llvm::raw_ostream &stream,
                      std::optional<double> seconds = std::nullopt,
                      ThreadClock clock = getThreadSeconds);

/// The name that plans for GPU `number` are made for: with the rates that are
/// kept of it. A GPU that the table does not have is measured if none are kept.
/// `warnings` says what was ignored: damaged files, and GPUs that cannot be
/// measured, which are planned for by what the driver tells. `seconds`: as
/// above.
llvm::Expected<std::string>
getGPUName(int32_t number, llvm::raw_ostream &warnings,
           std::optional<double> seconds = std::nullopt);

} // namespace mlir::kron

#endif // KRON_DRIVER_CALIBRATE_H
