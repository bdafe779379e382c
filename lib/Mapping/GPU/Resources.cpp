//===- Resources.cpp - What the resources of a GPU take ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/Resources.h"
#include "kron/Machine/GPURates.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Of an SM, per clock: bytes of all banks of shared memory, warp instructions
/// of its schedulers, and results of its special-function units.
static constexpr double kSharedBytes = 128, kWarpInstructions = 4,
                        kSpecialResults = 16;
static constexpr double kWarpThreads = 32;

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

Multiplication kron::getScalarMultiplication(Type type,
                                             const GPUMachine &machine) {
  const ResourceRates &rates = getGPURates(machine).resources;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Multiplication part =
        getScalarMultiplication(complex.getElementType(), machine);
    return {part.unit, 4 * part.products};
  }
  if (type.isF64())
    return {MathUnit::F64};
  if (type.isInteger(64))
    return {MathUnit::F32, 1 / rates.i64Share};
  return {MathUnit::F32, type.isInteger() ? 1 / rates.i32Share : 1};
}

Multiplication kron::getMatrixMultiplication(int64_t elementBytes,
                                             F32Products ofF32,
                                             bool usesWarpgroups) {
  if (elementBytes == 8)
    return {MathUnit::MmaF64};
  if (elementBytes == 2)
    return {usesWarpgroups ? MathUnit::WgmmaF16 : MathUnit::MmaF16};
  MathUnit unit = usesWarpgroups ? MathUnit::WgmmaTF32 : MathUnit::MmaTF32;
  switch (ofF32) {
  case F32Products::Single:
    return {unit};
  case F32Products::Split:
    return {unit, 3};
  case F32Products::SplitBF16:
    return {unit, 2};
  }
  llvm_unreachable("all ways to multiply f32 are handled");
}

double GPUResources::getRate(MathUnit unit) const {
  switch (unit) {
  case MathUnit::F32:
    return machine.ffma;
  case MathUnit::F64:
    return machine.dfma;
  case MathUnit::MmaF64:
    return machine.dmma;
  case MathUnit::MmaTF32:
    return machine.tf32Mma;
  case MathUnit::MmaF16:
    return machine.f16Mma;
  case MathUnit::WgmmaTF32:
    return machine.tf32Wgmma;
  case MathUnit::WgmmaF16:
    return machine.f16Wgmma;
  }
  llvm_unreachable("all units are handled");
}

//===----------------------------------------------------------------------===//
// Memory, caches, shared memory, schedulers
//===----------------------------------------------------------------------===//

double kron::getSegmentShare(int64_t bytes, SegmentShares shares) {
  if (bytes >= kLineBytes)
    return 1;
  if (bytes >= kLineBytes / 2)
    return shares.halfLine;
  return shares.sector * std::min(double(bytes) / kSectorBytes, 1.0);
}

double GPUResources::getCacheClocks(double bytes, double share) const {
  return bytes / (share * getGPURates(machine).resources.cacheBytesPerClock);
}

double GPUResources::getSharedClocks(double bytes) {
  return bytes / kSharedBytes;
}

double GPUResources::getIssueSeconds(double instructions) const {
  return getClockSeconds(instructions / (kWarpThreads * kWarpInstructions));
}

double GPUResources::getSpecialSeconds(double results) const {
  return getClockSeconds(results / kSpecialResults);
}

//===----------------------------------------------------------------------===//
// Waves, and what overlaps
//===----------------------------------------------------------------------===//

double kron::getWaves(double tiles, double resident) {
  return std::ceil(tiles / resident);
}

double kron::getMostTiles(double tiles, double numSMs, double resident) {
  return tiles <= resident ? std::ceil(tiles / numSMs) : tiles / numSMs;
}

double kron::getWaveFactor(double tiles, double resident) {
  return getWaves(tiles, resident) * resident / tiles;
}

double kron::getOverlapSeconds(double one, double other, double exposed) {
  auto [shorter, longer] = std::minmax(one, other);
  return longer + exposed * shorter;
}

//===----------------------------------------------------------------------===//
// Latency
//===----------------------------------------------------------------------===//

double kron::getWaitFactor(double threads, double half) {
  return 1 + half / threads;
}

double kron::getIdleFactor(double warps, double busy) {
  return std::max(1.0, std::sqrt(busy / warps));
}

double kron::getUnderWayFactor(double bytes, double busy, double idle) {
  return bytes < busy ? 1 + (idle - 1) * (1 - bytes / busy) : 1;
}

int64_t kron::getStagesUnderWay(int64_t stageBytes, int64_t busy, int64_t ahead,
                                int64_t least, int64_t most) {
  int64_t stages = least;
  while (stages < most && (stages - ahead) * stageBytes < busy)
    ++stages;
  return stages;
}
