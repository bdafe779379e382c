//===- Resources.h - What the resources of a GPU take -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One model for each resource of a GPU: memory, the second-level cache, shared
// memory, schedulers, units that multiply and add, launches, waves of CTAs, and
// what waits for latency. Planners say how much of each a kernel needs, and
// which part of its rate the kernel reaches (kron/Machine/GPURates.h); seconds
// follow from the machine here and nowhere else. How the resources of a kernel
// overlap is for its planner to say.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_RESOURCES_H
#define KRON_MAPPING_GPU_RESOURCES_H

#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/Types.h"

namespace mlir::kron {

/// Units that multiply and add: of single values, and of matrices by warps
/// (mma.sync) and warpgroups (wgmma).
enum class MathUnit { F32, F64, MmaF64, MmaTF32, MmaF16, WgmmaTF32, WgmmaF16 };

/// How values are multiplied: by which unit, and how many of its multiply-adds
/// take the time of one of theirs.
struct Multiplication {
  MathUnit unit = MathUnit::F32;
  double products = 1;
};

/// How an f32 product is made of those of matrix units.
enum class F32Products {
  /// One of TF32.
  Single,
  /// Three of TF32: those of both values' TF32 parts and residuals.
  Split,
  /// The same, with residuals of bf16, whose two products take the time of one
  /// of TF32.
  SplitBF16
};

/// Of elements of `type` one by one: a product of complex ones takes four, and
/// integers have no units of their own.
Multiplication getScalarMultiplication(Type type, const GPUMachine &machine);

/// Of matrices of values of 8 (f64), 4 (f32) or 2 bytes: `ofF32` says how f32
/// is multiplied.
Multiplication getMatrixMultiplication(int64_t elementBytes, F32Products ofF32,
                                       bool usesWarpgroups);

/// Bytes of a sector, the least that memory and the second-level cache move,
/// and of a line, which has four.
inline constexpr int64_t kSectorBytes = 32, kLineBytes = 128;

/// Parts of the rate of whole lines that contiguous segments of at least half a
/// line, and of a sector, reach.
struct SegmentShares {
  double halfLine = 1, sector = 1;
};

/// The same of segments of `bytes`: of a part of a sector nothing else is of
/// use.
double getSegmentShare(int64_t bytes, SegmentShares shares);

/// Seconds that a GPU's resources take, all SMs together unless stated
/// otherwise. Shares are parts of a rate.
class GPUResources {
public:
  explicit GPUResources(const GPUMachine &machine) : machine(machine) {}

  /// `bytes` to and from memory.
  double getMemorySeconds(double bytes, double share = 1) const {
    return bytes / (share * machine.copyBytesPerSecond);
  }
  /// `bytes` from the second-level cache.
  double getCacheSeconds(double bytes, double share = 1) const {
    return getClockSeconds(getCacheClocks(bytes, share));
  }
  /// Clocks of an SM that it reads `bytes` in.
  double getCacheClocks(double bytes, double share = 1) const;

  /// `clocks` of an SM each, of all of which the SMs have as many.
  double getClockSeconds(double clocks) const {
    return clocks / getClocksPerSecond();
  }
  /// `clocks` of one SM.
  double getSMSeconds(double clocks) const {
    return getClockSeconds(clocks * double(machine.numSMs));
  }
  /// `bytes` to and from shared memory; clocks of an SM for its own.
  double getSharedSeconds(double bytes) const {
    return getClockSeconds(getSharedClocks(bytes));
  }
  static double getSharedClocks(double bytes);
  /// What `instructions` of single threads take of the schedulers.
  double getIssueSeconds(double instructions) const;
  /// `results` of the special-function units.
  double getSpecialSeconds(double results) const;

  double getMultiplySeconds(double multiplyAdds, Multiplication by,
                            double share = 1) const {
    return 2 * multiplyAdds * by.products / (share * getRate(by.unit));
  }

  /// Multiply-adds of an SM in a clock.
  double getMultiplyAddsPerClock(Multiplication by) const {
    return 1 / (getMultiplySeconds(1, by) * getClocksPerSecond());
  }

  /// From the first launch to the end of the last one, without their work.
  double getLaunchSeconds(double launches = 1) const {
    return launches * machine.launchSeconds;
  }

private:
  /// Flop/s.
  double getRate(MathUnit unit) const;
  double getClocksPerSecond() const {
    return machine.clockMHz * 1e6 * double(machine.numSMs);
  }

  const GPUMachine &machine;
};

//===----------------------------------------------------------------------===//
// Waves, and what overlaps
//===----------------------------------------------------------------------===//

/// How often a GPU that holds `resident` CTAs, or tiles, at once has to begin
/// some of `tiles`.
double getWaves(double tiles, double resident);

/// How many of `tiles` the one of `numSMs` with the most works on, if each holds
/// `resident` / `numSMs` at once: where all are held at once, a whole number; of
/// more, whose ends do not coincide, as many as the others.
double getMostTiles(double tiles, double numSMs, double resident);

/// How much longer the SM with the most tiles works than all would on average.
double getWaveFactor(double tiles, double resident);

/// Two kinds of work of which the longer one hides the shorter one but for
/// `exposed` of it.
double getOverlapSeconds(double one, double other, double exposed);

//===----------------------------------------------------------------------===//
// Latency
//===----------------------------------------------------------------------===//

/// How much longer work takes that waits as long as it computes with `half`
/// threads beside each other, of `threads`.
double getWaitFactor(double threads, double half);

/// The same of warps that leave units of an SM idle where there are fewer than
/// `busy`: the chance that one is ready grows more slowly than their number.
double getIdleFactor(double warps, double busy);

/// The same where `bytes` are on their way to an SM, of `busy` that memory's
/// latency needs; `idle`: of work that has none.
double getUnderWayFactor(double bytes, double busy, double idle);

/// Pipeline stages, from `least` to `most`, of which all but `ahead` bring
/// `busy` bytes, `stageBytes` each, if so many are allowed.
int64_t getStagesUnderWay(int64_t stageBytes, int64_t busy, int64_t ahead,
                          int64_t least, int64_t most);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_RESOURCES_H
