//===- GPUMachine.h - What kron knows about a GPU ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The description of a GPU that plans are made for: which instructions it has,
// what a CTA and an SM hold, and how fast it moves and multiplies. Limits
// follow from the compute capability; rates come from one table of SKUs.
//
// A description has a name, which is what `chip` options take:
//
//   name     ::= base (":" key "=" value)* (":calibrated")?
//   base     ::= SKU ("h200", "a100-80") | "sm_" digits ("a" | "f")?
//   key      ::= "sms" | "clock" | "l2" | rate
//   rate     ::= "copy" | "launch" | "ffma" | "dfma" | "dmma" | "tf32mma"
//              | "tf32wgmma" | "f16mma" | "f16wgmma"
//
// An architecture ("sm_90a") stands for the SKU that the table names for it.
// Keys say where a GPU differs from its SKU: SMs, MHz, MiB of second-level
// cache, GB/s that a copy reaches (reads and writes counted), us of a launch,
// TFLOP/s. Rates of arithmetic that are not given follow SMs and clock.
// "calibrated" says that rates were measured on this GPU (Calibration.h).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_GPUMACHINE_H
#define KRON_MACHINE_GPUMACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir::kron {

struct GPUMachine {
  /// As described above: "h200", "sm_90a", "h100-pcie:sms=112".
  std::string name;
  /// The architecture as LLVM and ptxas name it: sm_80, sm_90a, ...
  std::string arch;
  /// 10 * major + minor of the compute capability: 80, 90, ...
  int64_t computeCapability = 80;
  /// Whether its rates were measured, not taken from a data sheet.
  bool isMeasured = false;
  /// Whether they were measured on the very GPU.
  bool isCalibrated = false;

  //===--------------------------------------------------------------------===//
  // Instructions. Every GPU here has cp.async, and mma.sync with TF32, BF16
  // and F64 operands.
  //===--------------------------------------------------------------------===//

  /// Warpgroup matrix instructions with one operand in registers (sm_90a only).
  bool hasWgmma = false;
  /// Thread-block clusters with distributed shared memory, and bulk copies.
  bool hasCluster = false;
  /// F64 mma.sync of shape m16n8k8 (and k4, k16), next to m8n8k4.
  bool hasWideDMMA = false;

  //===--------------------------------------------------------------------===//
  // Limits
  //===--------------------------------------------------------------------===//

  int64_t numSMs = 0;
  int64_t clockMHz = 0;
  int64_t sharedBytesPerCTA = 0;
  int64_t sharedBytesPerSM = 0;
  /// Shared memory that the system takes per CTA.
  int64_t reservedSharedBytesPerCTA = 1024;
  /// 32-bit registers.
  int64_t registersPerSM = 65536;
  int64_t maxRegistersPerThread = 255;
  int64_t maxThreadsPerCTA = 1024;
  int64_t maxThreadsPerSM = 2048;
  int64_t maxCTAsPerSM = 32;
  int64_t l2Bytes = 0;

  //===--------------------------------------------------------------------===//
  // Rates: bytes/s, flop/s (a multiply-add is 2), s
  //===--------------------------------------------------------------------===//

  /// What a plain copy kernel reaches, reads and writes counted, on large
  /// arrays.
  double copyBytesPerSecond = 0;
  /// From the launch to the first instruction and back.
  double launchSeconds = 5e-6;
  double ffma = 0;
  double dfma = 0;
  double dmma = 0;
  /// TF32 products, as issued: an f32 product of full precision takes three.
  double tf32Mma = 0;
  double tf32Wgmma = 0;
  /// F16 and BF16 products with f32 accumulation.
  double f16Mma = 0;
  double f16Wgmma = 0;

  /// Shared memory, in bytes, that each of `ctasPerSM` resident CTAs may take.
  int64_t getSharedBytes(int64_t ctasPerSM) const;
  /// Registers per thread that let `ctasPerSM` CTAs of `threads` be resident.
  int64_t getRegistersPerThread(int64_t threads, int64_t ctasPerSM) const;
  /// Time of a kernel that moves `bytes` (reads and writes) and does nothing
  /// else.
  double getCopySeconds(double bytes) const {
    return launchSeconds + bytes / copyBytesPerSecond;
  }
};

/// The machine called `name`. An architecture that no SKU of the table has gets
/// the smallest limits of all. The error says what was expected where `name`
/// has another form, an unknown SKU or key, a value out of range, or an
/// architecture older than sm_80.
llvm::Expected<GPUMachine> parseGPUMachine(llvm::StringRef name);

/// Names of all SKUs, in the order of the table.
llvm::SmallVector<llvm::StringRef> getGPUNames();

/// What a driver tells of a GPU.
struct GPUProperties {
  /// The marketing name: "NVIDIA H100 PCIe".
  std::string model;
  int64_t computeCapability = 0;
  int64_t numSMs = 0;
  /// The highest clock of the SMs.
  int64_t clockMHz = 0;
  int64_t memoryBytes = 0;
  int64_t l2Bytes = 0;
  /// Clock and width of the memory interface, 0 if not known.
  int64_t memoryClockMHz = 0;
  int64_t memoryBits = 0;
};

/// The name of the machine that `properties` describe: an SKU, with keys for
/// what differs from it (part of a GPU, another clock); or the architecture
/// with keys, if the model is not in the table.
std::string identifyGPU(const GPUProperties &properties);

} // namespace mlir::kron

#endif // KRON_MACHINE_GPUMACHINE_H
