//===- GPUTable.cpp - GPUs by SKU -------------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GPUTable.h"

using namespace mlir::kron;

/// Measured on an H200 at 1980 MHz: copying 4.13 TB/s; FFMA 64-65, DFMA 29.6,
/// DMMA m8n8k4 32.9 and m16n8k8 65.2, TF32 mma.sync 310 and wgmma 483 (n >=
/// 32), F16 mma.sync 606 TFLOP/s. F16 wgmma: twice what TF32 reaches, whose
/// operands are twice as wide.
static constexpr MeasuredRates kH200 = {4130, 64.5, 29.6, 65.2,
                                        310,  483,  606,  966};

// SMs, boost clock, memory and bandwidth of the data sheets. Variants of one
// chip that differ in what its memory reaches are SKUs of their own.
static constexpr GPUSku kTable[] = {
    // name, model, capability, SMs, MHz, GB, GB/s, L2 MiB, matrix share,
    // measured
    {"a100-80", "A100 80GB", 80, 108, 1410, 80, 2000, 40, 1, {}},
    {"a100-40", "A100 40GB", 80, 108, 1410, 40, 1555, 40, 1, {}},
    {"a10", "A10", 86, 72, 1695, 24, 600, 6, 1, {}},
    {"l40s", "L40S", 89, 142, 2520, 48, 864, 96, 1, {}},
    {"l4", "L4", 89, 58, 2040, 24, 300, 48, 1, {}},
    {"rtx4090", "RTX 4090", 89, 128, 2520, 24, 1008, 72, 0.5, {}},
    {"h200", "H200", 90, 132, 1980, 141, 4800, 50, 1, kH200},
    {"h100-sxm", "H100 HBM3", 90, 132, 1980, 80, 3350, 50, 1, {}},
    {"h100-nvl", "H100 NVL", 90, 132, 1785, 94, 3900, 50, 1, {}},
    {"h100-pcie", "H100 PCIe", 90, 114, 1755, 80, 2000, 50, 1, {}},
    {"gh200", "GH200", 90, 132, 1980, 96, 4000, 50, 1, {}},
    {"b200", "B200", 100, 148, 1965, 180, 7700, 126, 1, {}},
    {"b300", "B300", 103, 148, 1920, 270, 7700, 126, 1, {}},
    {"rtxpro6000", "RTX PRO 6000", 120, 188, 2617, 96, 1792, 128, 1, {}},
    {"rtx5090", "RTX 5090", 120, 170, 2407, 32, 1792, 96, 0.5, {}},
    {"dgx-spark", "GB10", 121, 48, 2418, 128, 273, 24, 0.5, {}},
};

llvm::ArrayRef<GPUSku> mlir::kron::getGPUTable() { return kTable; }

// Flops of mma.sync in a clock of an SM. Data sheets from sm_90 on state those
// of newer instructions; mma.sync reaches 60 % of wgmma's on an H200 (310 of
// 494 TFLOP/s), and is taken for the same part of an SM there on sm_100. The
// desktop line computes f64 on few units.
static constexpr GPUArchitecture kArchitectures[] = {
    // capability, shared KiB, threads, CTAs; ffma, dfma, dmma, tf32, f16
    {80, 164, 2048, 32, 128, 64, 128, 1024, 2048},
    {86, 100, 1536, 16, 256, 4, 4, 512, 1024},
    {89, 100, 1536, 24, 256, 4, 4, 512, 1024},
    {90, 228, 2048, 32, 256, 128, 256, 1228, 2457},
    {100, 228, 2048, 32, 256, 128, 128, 1228, 2457},
    {103, 228, 2048, 32, 256, 4, 4, 1228, 2457},
    {120, 100, 1536, 24, 256, 4, 4, 512, 1024},
    {121, 100, 1536, 24, 256, 4, 4, 512, 1024},
};

llvm::ArrayRef<GPUArchitecture> mlir::kron::getGPUArchitectures() {
  return kArchitectures;
}
