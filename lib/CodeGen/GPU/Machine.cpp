//===- Machine.cpp - What kron knows about a GPU ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Machine.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace mlir::kron;

int64_t GPUMachine::getSharedBytes(int64_t ctasPerSM) const {
  int64_t share = sharedBytesPerSM / std::max<int64_t>(ctasPerSM, 1) -
                  reservedSharedBytesPerCTA;
  // Allocated in units of 128 bytes.
  return std::min(sharedBytesPerCTA, share / 128 * 128);
}

int64_t GPUMachine::getRegistersPerThread(int64_t threads,
                                          int64_t ctasPerSM) const {
  // A warp is given its registers in units of 8 per thread.
  int64_t share = registersPerSM / std::max<int64_t>(threads * ctasPerSM, 1);
  return std::min(maxRegistersPerThread, share / 8 * 8);
}

/// Ampere's server chip (A100 80 GB). Data sheet; the copy rate is the usual 85
/// per cent of the memory's.
static GPUMachine getSM80() {
  GPUMachine machine;
  machine.computeCapability = 80;
  machine.processors = 108;
  machine.clockMHz = 1410;
  machine.sharedBytesPerCTA = 163 * 1024;
  machine.sharedBytesPerSM = 164 * 1024;
  machine.l2Bytes = 40 << 20;
  machine.copyBytesPerSecond = 1.7e12;
  machine.ffma = 19.5e12;
  machine.dfma = 9.7e12;
  machine.dmma = 19.5e12;
  machine.tf32Mma = 156e12;
  machine.f16Mma = 312e12;
  return machine;
}

/// Hopper, measured on an H200 at 1980 MHz: FFMA 64-65, DFMA 29.6, DMMA m8n8k4
/// 32.9 and m16n8k8 65.2, TF32 mma.sync 310 and wgmma 483 (n >= 32), F16
/// mma.sync 606 TFLOP/s; copying 5 us + bytes / 4.13 TB/s.
static GPUMachine getSM90() {
  GPUMachine machine;
  machine.computeCapability = 90;
  machine.hasCluster = true;
  machine.hasWideDMMA = true;
  machine.processors = 132;
  machine.clockMHz = 1980;
  machine.sharedBytesPerCTA = 227 * 1024;
  machine.sharedBytesPerSM = 228 * 1024;
  machine.l2Bytes = 50 << 20;
  machine.copyBytesPerSecond = 4.13e12;
  machine.ffma = 64.5e12;
  machine.dfma = 29.6e12;
  machine.dmma = 65.2e12;
  machine.tf32Mma = 310e12;
  machine.tf32Wgmma = 483e12;
  machine.f16Mma = 606e12;
  // Half of it was seen with TF32, whose operands are twice as wide.
  machine.f16Wgmma = 2 * machine.tf32Wgmma;
  return machine;
}

/// The smallest limits of all chips since Ampere: those of its desktop line.
static GPUMachine getGeneric() {
  GPUMachine machine = getSM80();
  machine.sharedBytesPerCTA = 99 * 1024;
  machine.sharedBytesPerSM = 100 * 1024;
  machine.maxThreadsPerSM = 1536;
  machine.maxCTAsPerSM = 16;
  return machine;
}

std::optional<GPUMachine> mlir::kron::getGPUMachine(llvm::StringRef chip) {
  llvm::StringRef digits = chip;
  if (!digits.consume_front("sm_"))
    return std::nullopt;
  // `a`: features of this chip alone; `f`: of its family.
  bool isSpecific = digits.consume_back("a");
  if (!isSpecific)
    digits.consume_back("f");
  int64_t capability = 0;
  if (!llvm::to_integer(digits, capability, 10) || capability < 80 ||
      capability > 999)
    return std::nullopt;

  GPUMachine machine = getGeneric();
  if (capability == 80)
    machine = getSM80();
  else if (capability == 90)
    machine = getSM90();
  machine.chip = chip.str();
  machine.computeCapability = capability;
  machine.hasCluster = capability >= 90;
  machine.hasWideDMMA = capability >= 90;
  machine.hasWgmma = capability == 90 && isSpecific;
  return machine;
}
