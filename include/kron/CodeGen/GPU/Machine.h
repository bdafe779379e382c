//===- Machine.h - What kron knows about a GPU ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Limits and rates of a chip, by name. Limits (shared memory, registers) are
// what emitters must keep; rates feed the cost model. The rates of sm_90 and
// sm_90a were measured on an H200 by microbenchmarks of the instruction that
// the emitters use; those of other chips follow from data sheets.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_MACHINE_H
#define KRON_CODEGEN_GPU_MACHINE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::kron {

struct GPUMachine {
  /// The chip as LLVM and ptxas name it: sm_80, sm_90a, ...
  std::string chip;
  /// 10 * major + minor of the compute capability: 80, 90, ...
  int64_t computeCapability = 80;

  //===--------------------------------------------------------------------===//
  // Instructions. Every chip here has cp.async, and mma.sync with TF32, BF16
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

  int64_t processors = 0;
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
  /// Time of a trip that moves `bytes` (reads and writes) and does nothing
  /// else.
  double getCopySeconds(double bytes) const {
    return launchSeconds + bytes / copyBytesPerSecond;
  }
};

/// The machine of `chip`: sm_80, sm_86, sm_90, sm_90a, ... A newer chip that is
/// not known gets the smallest limits of all and no instruction that later
/// chips dropped. Null if `chip` is no name of an NVIDIA chip or older than
/// sm_80.
std::optional<GPUMachine> getGPUMachine(llvm::StringRef chip);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_MACHINE_H
