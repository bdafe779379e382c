//===- CostModel.cpp - Time of a fused region on a GPU ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How much kernels reach of the rates of a GPU is in kron/Machine/GPURates.h.
// Counts of accesses are those of hand-written kernels, passes over the tile in
// shared memory: 8^5 by FFMA 9 to 10 per element, 32^3 by mma.sync 10.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CostModel.h"
#include "SparseEstimate.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

int64_t kron::getFootprintBudget(const GPUMachine &machine) {
  return machine.sharedBytesPerCTA * 3 / 4;
}

//===----------------------------------------------------------------------===//
// Which kernels
//===----------------------------------------------------------------------===//

static bool isTensorCoreType(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() ||
         element.isF64();
}

static bool hasVaryingFactor(const Problem &problem) {
  return llvm::any_of(problem.factors, [](const ProblemFactor &factor) {
    return !factor.varyingAxes.empty();
  });
}

bool kron::isPlausible(GPUKernel kernel, const Problem &problem,
                       const GPUMachine &machine) {
  int64_t largest = problem.getLargestFactorSize();
  bool allowsSplit = problem.precision != Precision::Ieee;
  switch (kernel) {
  case GPUKernel::Simt:
    return true;
  case GPUKernel::Ffma:
    return (problem.element.isF32() || problem.element.isF64()) &&
           largest <= 16 && !hasVaryingFactor(problem);
  case GPUKernel::Batched:
    return problem.inner == 1 && !problem.readsTranspose && largest <= 32 &&
           !hasVaryingFactor(problem);
  case GPUKernel::Mma:
    // F64 tensor cores multiply and add in IEEE arithmetic. Larger factors are
    // taken alone only.
    return isTensorCoreType(problem.element) &&
           (largest <= 256 || problem.factors.size() == 1) &&
           (!hasVaryingFactor(problem) || isSparse(problem)) &&
           (allowsSplit || problem.element.isF64());
  default:
    break;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Whether `dmma`, which counts as `ffma` here, takes the fused region: f64
/// factors of 8 x 8.
static bool hasOctets(const Problem &problem, const GPUMachine &machine) {
  return machine.hasWideDMMA && problem.element.isF64() &&
         problem.factors.size() > 1 && problem.getSmallestFactorSize() == 8 &&
         problem.getLargestFactorSize() == 8 && !hasVaryingFactor(problem);
}

/// Whether two CTAs can share a tile footprint: `dmma` does so with 256 KiB of
/// octets.
static bool canShareFootprint(const Problem &problem, int64_t columns,
                              const GPUMachine &machine) {
  return machine.hasCluster && hasOctets(problem, machine) &&
         problem.inner > 0 && problem.inner % columns == 0 &&
         problem.rowInput * columns == 32768;
}

int64_t kron::chooseColumns(const Problem &problem, int64_t footprintBudget,
                            const GPUMachine &machine) {
  // f16 and bf16 have only matrix kernels, which pad small factors to 16.
  if (is16BitFloat(problem.element) && problem.getLargestFactorSize() <= 8)
    footprintBudget /= 2;
  for (int64_t segmentBytes : {128, 64, 32}) {
    int64_t columns = problem.getColumns(segmentBytes);
    int64_t share = canShareFootprint(problem, columns, machine) ? 2 : 1;
    if (problem.getFootprintBytes(columns) <= share * footprintBudget)
      return columns;
  }
  return 0;
}

bool kron::fitsCluster(const Problem &problem, int64_t footprintBudget,
                       const GPUMachine &machine) {
  if (!machine.hasCluster || problem.inner != 1 || problem.readsTranspose ||
      problem.factors.size() < 2 ||
      !isPlausible(GPUKernel::Mma, problem, machine) ||
      is16BitFloat(problem.element))
    return false;
  for (const ProblemFactor &factor : problem.factors)
    if (factor.sizeK % 16 != 0 || factor.sizeN % 16 != 0)
      return false;
  int64_t footprint = problem.getFootprintBytes(1);
  return footprint > footprintBudget && footprint <= 2 * footprintBudget;
}

/// Warps that share out the results of a large factor of `mma`; fibres, results
/// and columns of one of its instructions.
static constexpr int64_t kLargeWarps = 8, kFibres = 16, kResults = 16,
                         kColumns = 8;

KernelTiling kron::chooseTiling(GPUKernel kernel, const Problem &problem,
                                int64_t columns, int64_t footprintBudget,
                                const GPUMachine &machine) {
  // Only `ffma` shares tile footprints with columns; others take fewer of
  // these.
  if (kernel != GPUKernel::Ffma && canShareFootprint(problem, columns, machine))
    while (columns > problem.getColumns(32) &&
           problem.getFootprintBytes(columns) > footprintBudget)
      columns /= 2;
  KernelTiling tiling;
  tiling.columns = columns;
  int64_t footprint = std::max<int64_t>(problem.getFootprintBytes(columns), 1);
  // Rows with a small footprint share a tile of 16 KiB: enough for 128 threads,
  // and several tiles fit an SM.
  // Larger factors than an instruction has results leave few tiles to a warp.
  bool isTurned = kernel == GPUKernel::Mma && problem.readsTranspose &&
                  problem.getLargestFactorSize() <= kResults;
  int64_t bytes = isTurned ? getGPUTiles(machine).mma.turnedBytes : 16 * 1024;
  tiling.rows = std::max<int64_t>(bytes / footprint, 1);
  if (kernel == GPUKernel::Mma &&
      fitsCluster(problem, footprintBudget, machine)) {
    tiling.cluster = 2;
    footprint /= tiling.cluster;
  }
  // Rows of a transposed input are its columns.
  for (int64_t segmentBytes : {128, 64, 32})
    if (int64_t rows = problem.getRows(segmentBytes);
        rows * footprint <= footprintBudget) {
      tiling.rows = std::max(tiling.rows, rows);
      break;
    }
  if (problem.turnedRows > 0)
    tiling.rows = std::min(tiling.rows, problem.turnedRows);
  int64_t tileBytes = tiling.rows * footprint;
  tiling.threads = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(tileBytes, 256)), 128, 512);
  // The tile and the part of the next one that is under way.
  int64_t fitting = machine.sharedBytesPerSM /
                    (tileBytes * 3 / 2 + machine.reservedSharedBytesPerCTA);
  // 128 registers per thread.
  int64_t byThreads = machine.registersPerSM / (tiling.threads * 128);
  tiling.ctasPerSM = std::clamp<int64_t>(std::min(fitting, byThreads), 1, 4);
  return tiling;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Part of the rate of multiply-adds that a kernel of scalar ones reaches
/// beside the loads of its factors: `ffma` serves all of a thread's fibres with
/// one load as long as a few of them fit its registers, `batched` some of them.
static double getScalarShare(GPUKernel kernel, const Problem &problem,
                             const GPUMachine &machine) {
  const DenseFactorRates &rates = getGPURates(machine).denseFactors;
  if (kernel == GPUKernel::Batched)
    return problem.element.isF64() && problem.getLargestFactorSize() <= 8
               ? rates.batchedF64Share
               : rates.batchedShare;
  return problem.getLargestFactorSize() > 8 ? rates.ffmaLargeShare : 1;
}

/// Whether `mma` moves single elements, since sizes are no multiples of what
/// its wide loads take: of 16 bits, where rows are contracted, those of their
/// elements.
static bool hasRaggedSizes(const Problem &problem) {
  int64_t unit = problem.element.isF64() ? 4 : 8;
  bool countsAll = !is16BitFloat(problem.element) || problem.inner != 1 ||
                   problem.readsTranspose;
  int64_t innermost = 0;
  for (const ProblemFactor &factor : problem.factors)
    innermost = std::max<int64_t>(innermost, factor.axis);
  return llvm::any_of(problem.factors, [&](const ProblemFactor &factor) {
    return (countsAll || factor.axis == innermost) &&
           (factor.sizeK % unit != 0 || factor.sizeN % unit != 0);
  });
}

/// Words of a value in a thread's registers: f64 has two, full precision of f32
/// a residual.
static int64_t getRegistersPerValue(const Problem &problem) {
  bool isSingle =
      is16BitFloat(problem.element) ||
      (problem.element.isF32() && problem.precision == Precision::TF32);
  return isSingle ? 1 : 2;
}

/// Tiles of 8 x 16 of `factor` that a warp of `mma` holds, where eight share
/// out the results of a large one.
static int64_t getWarpTiles(const ProblemFactor &factor) {
  return llvm::divideCeil(factor.sizeK, kColumns) *
         llvm::PowerOf2Ceil(llvm::divideCeil(
             llvm::divideCeil(factor.sizeN, kResults), kLargeWarps));
}

/// Whether registers of `mma` hold the warp's part of `factor`.
static bool fitsStepRegisters(const Problem &problem,
                              const ProblemFactor &factor) {
  // A lane has four values of a tile.
  return getWarpTiles(factor) * 4 * getRegistersPerValue(problem) <=
         kMmaStepRegisters;
}

/// Whether `mma` takes a single factor of f32 that stays in registers, of rows
/// that go by: all of a tile lies together, before and after it.
static bool keepsOnlyFactor(const Problem &problem) {
  return problem.element.isF32() && problem.factors.size() == 1 &&
         problem.inner == 1 && !problem.readsTranspose &&
         fitsStepRegisters(problem, problem.factors.front());
}

/// Whether `mma` has to read factors from shared memory again and again, since
/// registers do not hold two of them, which are one step. Of columns and of
/// sizes that are padded they hold fewer.
static bool readsFactorsOften(const Problem &problem) {
  if (problem.element.isF64() || keepsOnlyFactor(problem))
    return false;
  int64_t largest = problem.getLargestFactorSize();
  if (problem.inner != 1 || problem.readsTranspose || hasRaggedSizes(problem))
    return largest > kResults;
  int64_t tiles =
      llvm::divideCeil(largest, 8) * llvm::divideCeil(largest, kResults);
  // A lane has four values of a tile.
  return 2 * tiles * 4 * getRegistersPerValue(problem) > kMmaLightRegisters;
}

/// Values that a thread of `ffma` holds in each of the groups of axes that it
/// takes at once.
static SmallVector<int64_t> getFfmaGroups(const Problem &problem) {
  int64_t most = 256 / std::max<int64_t>(problem.getChipBytes(), 4);
  SmallVector<int64_t> groups;
  for (const ProblemFactor &factor : problem.factors) {
    int64_t values = std::max(factor.sizeK, factor.sizeN);
    if (!groups.empty() && groups.back() * values <= most)
      groups.back() *= values;
    else
      groups.push_back(values);
  }
  return groups;
}

/// Whether two CTAs of an SM have room for two tiles of `ffma` each, with a
/// segment of the rows of a transposed input.
static bool holdTurnedRows(GPUKernel kernel, const Problem &problem,
                           const GPUMachine &machine) {
  return kernel == GPUKernel::Ffma && problem.readsTranspose &&
         2 * problem.getFootprintBytes(kLineBytes /
                                       problem.getElementBytes()) <=
             machine.getSharedBytes(/*ctasPerSM=*/2);
}

/// Seconds that copies of less than 16 bytes take, which the innermost size
/// allows no wider: 2.3 us per million on an H200, whatever they move.
static double getNarrowCopies(GPUKernel kernel, const Problem &problem,
                              const GPUMachine &machine) {
  // `batched` copies whole tiles without a gap, unless they lie across columns.
  // What odd factors cost `mma` is in its accesses.
  if ((kernel == GPUKernel::Batched && !problem.readsColumns) ||
      (kernel == GPUKernel::Mma && problem.inner == 1))
    return 0;
  const DenseRates &rates = getGPURates(machine).dense;
  double clocks = rates.clocksPerNarrowCopy;
  // Nothing hides them in `ffma`; `mma` has other work meanwhile, unless its
  // blocks are not full.
  if (problem.readsColumns && kernel == GPUKernel::Ffma)
    clocks *= 2;
  if (problem.readsColumns && kernel == GPUKernel::Mma &&
      !hasRaggedSizes(problem))
    clocks *= rates.columnsNarrowShare;
  // Tiles of rows that are neighbours are small: other CTAs work meanwhile.
  bool turnsRows = holdTurnedRows(kernel, problem, machine);
  if (turnsRows)
    clocks *= rates.turnedNarrowShare;
  int64_t width = std::max<int64_t>(16 / problem.getElementBytes(), 1);
  int64_t innermost = problem.innermostInput;
  double copies = 0;
  if (problem.readsColumns || turnsRows) {
    copies = problem.inputElements;
  } else if (innermost >= 0 && innermost % width != 0) {
    while (innermost % width != 0)
      width /= 2;
    copies = problem.inputElements / width;
  }
  return GPUResources(machine).getClockSeconds(copies * clocks);
}

/// How kernels of kind `kernel` multiply elements of `problem`.
static Multiplication getMultiplication(GPUKernel kernel,
                                        const Problem &problem,
                                        const GPUMachine &machine) {
  int64_t bytes = problem.getElementBytes();
  switch (kernel) {
  case GPUKernel::Mma:
    // m8n8k4, all that there is before Hopper, has half the rate on Hopper. f16
    // and bf16 are TF32 without a residual.
    return is16BitFloat(problem.element)
               ? Multiplication{MathUnit::MmaTF32}
               : getMatrixMultiplication(bytes, getF32Products(problem), false);
  default:
    break;
  }
  if (kernel == GPUKernel::Ffma && hasOctets(problem, machine))
    return {MathUnit::MmaF64};
  return getScalarMultiplication(problem.element, machine);
}

/// Part of the unit's rate that factors which do not suit `kernel` leave it.
static double getRateShare(GPUKernel kernel, const Problem &problem,
                           const GPUMachine &machine) {
  const DenseFactorRates &rates = getGPURates(machine).denseFactors;
  if (kernel == GPUKernel::Mma && readsFactorsOften(problem))
    return problem.getLargestFactorSize() > 64 ? rates.mmaLargeStreamedShare
                                               : rates.mmaStreamedShare;
  if (kernel == GPUKernel::Mma ||
      (kernel == GPUKernel::Ffma && hasOctets(problem, machine)))
    return 1;
  return getScalarShare(kernel, problem, machine);
}

/// N of `factor` rounded up to what instructions of `mma` take: columns of
/// them, of f64 and where fibres of the innermost axis are their rows, or rows.
static int64_t getPaddedN(const Problem &problem, const ProblemFactor &factor) {
  bool hasFibres = problem.inner == 1 && !problem.readsTranspose &&
                   llvm::all_of(problem.factors, [&](const auto &other) {
                     return other.axis <= factor.axis;
                   });
  bool areColumns = problem.element.isF64() && hasFibres;
  return llvm::alignTo(factor.sizeN, areColumns ? kColumns : kResults);
}

static double getPaddedMultiplyAdds(GPUKernel kernel, const Problem &problem) {
  double row = problem.rowInput, sum = 0;
  for (const ProblemFactor &factor : problem.factors) {
    double outside = row / factor.sizeK;
    sum += outside * (kernel == GPUKernel::Mma
                          ? double(llvm::alignTo(factor.sizeK, kColumns)) *
                                getPaddedN(problem, factor)
                          : double(factor.sizeK) * factor.sizeN);
    row = outside * factor.sizeN;
  }
  return sum;
}

/// Accesses to shared memory per element of the tile: in, to registers, two per
/// exchange between factors, and what the instructions themselves read.
static double getSharedAccesses(GPUKernel kernel, const Problem &problem,
                                const GPUMachine &machine) {
  const DenseFactorRates &rates = getGPURates(machine).denseFactors;
  double count = problem.factors.size();
  switch (kernel) {
  case GPUKernel::Ffma:
    if (hasOctets(problem, machine))
      return 2 * count;
    return 1 + 2.0 * getFfmaGroups(problem).size();
  case GPUKernel::Batched: {
    // In and out, and two per factor; two innermost ones may go together.
    int64_t largestOfPlane = problem.element.isF64() ? 6 : 8;
    bool hasPlane =
        count > 1 && problem.getLargestFactorSize() <= largestOfPlane;
    return 2 + 2 * (hasPlane ? count - 1 : count);
  }
  case GPUKernel::Mma:
    if (readsFactorsOften(problem))
      return hasRaggedSizes(problem) ? rates.mmaRaggedStreamedAccesses
                                     : rates.mmaStreamedAccesses;
    return (hasRaggedSizes(problem) && !keepsOnlyFactor(problem)
                ? rates.mmaRaggedFactor
                : 1) *
           (3 + 3 * std::ceil(count / 2));
  default:
    // Every element of the input is read for each of several results.
    return 3 + 4 * count + problem.rowMultiplyAdds / problem.rowLargest / 4;
  }
}

/// Parts of the copy rate that short segments reach. Those of 32 bytes come
/// with tiles that fill shared memory, and load little while they compute.
static SegmentShares getSegmentShares(const Problem &problem,
                                      const DenseRates &rates) {
  return {rates.halfLineShare, problem.getLargestFactorSize() > 16
                                   ? rates.fullTileSectorShare
                                   : rates.sectorShare};
}

/// How much of the time on chip the memory's time does not hide, with several
/// CTAs per SM.
static double getExposedShare(GPUKernel kernel, const Problem &problem,
                              const GPUMachine &machine) {
  const DenseRates &rates = getGPURates(machine).dense;
  // Many barriers, or long chains of dependent multiply-adds.
  if (kernel == GPUKernel::Batched && problem.factors.size() > 6)
    return rates.barrierExposedShare;
  if (kernel != GPUKernel::Ffma)
    return rates.exposedShare;
  if (hasOctets(problem, machine))
    return rates.exposedShare;
  // Threads that suit one group are idle in another.
  SmallVector<int64_t> groups = getFfmaGroups(problem);
  auto [least, most] = std::minmax_element(groups.begin(), groups.end());
  double waste = 1 + rates.idleThreads - rates.idleThreads * *least / *most;
  if (problem.element.isF64())
    return rates.f64ExposedShare * waste;
  return (getNarrowCopies(kernel, problem, machine) > 0
              ? rates.narrowExposedShare
              : rates.exposedShare) *
         waste;
}

/// What `simt` waits for factors that vary from lane to lane: outside of the
/// contracted axis, they do not lie side by side.
static double getGatherSeconds(const Problem &problem,
                               const GPUMachine &machine) {
  double clocks = 0;
  if (problem.inner != 1)
    return clocks;
  for (const ProblemFactor &factor : problem.factors)
    if (int64_t lines = std::min<int64_t>(factor.variations, 32); lines > 1)
      clocks += problem.getPositions() * problem.rowInput * factor.sizeN *
                lines / 32 /
                getGPURates(machine).dense.gatheredMultiplyAddsPerClock;
  return GPUResources(machine).getClockSeconds(clocks);
}

/// What `mma` loads of factors that registers do not hold, element by element:
/// all of them for every block of fibres, which are those of one row where
/// there are several factors.
static double getStreamedFactorSeconds(const Problem &problem,
                                       const KernelTiling &tiling,
                                       const GPUMachine &machine) {
  double elements = 0, row = problem.rowInput;
  for (const ProblemFactor &factor : problem.factors) {
    double fibres = row / factor.sizeK;
    if (!fitsStepRegisters(problem, factor)) {
      double together =
          problem.factors.size() == 1
              ? kFibres
              : std::min<double>(kFibres, fibres * tiling.columns);
      elements += problem.getPositions() * fibres / together *
                  llvm::alignTo(factor.sizeK, kColumns) *
                  llvm::alignTo(factor.sizeN, kResults);
    }
    row = fibres * factor.sizeN;
  }
  return GPUResources(machine).getClockSeconds(
      elements / getGPURates(machine).denseFactors.mmaStreamedElementsPerClock);
}

/// Seconds that parts of sectors add, at the ends of what a tile of `columns`
/// columns stores where these start anywhere.
static double getPartSectorSeconds(const Problem &problem, int64_t columns,
                                   const GPUMachine &machine) {
  if (problem.inner <= columns ||
      problem.inner * problem.getElementBytes() % kSectorBytes == 0)
    return 0;
  double parts = 2 * problem.outputElements / columns;
  return GPUResources(machine).getClockSeconds(
      parts / getGPURates(machine).sparse.partSectorsPerClock);
}

KernelTime kron::estimateTime(GPUKernel kernel, const Problem &problem,
                              const KernelTiling &tiling,
                              const GPUMachine &machine) {
  if (kernel == GPUKernel::Mma && isSparse(problem))
    return estimateSparseTime(problem, tiling.usesWarpgroups, machine);
  const DenseRates &rates = getGPURates(machine).dense;
  GPUResources resources(machine);
  KernelTime time;
  double bytes = problem.getMemoryBytes();
  time.floor = machine.getCopySeconds(bytes);
  int64_t segmentBytes = problem.getSegmentBytes(tiling.columns);
  double share =
      canShareFootprint(problem, tiling.columns, machine) && segmentBytes < 128
          ? rates.sectorShare
          : getSegmentShare(segmentBytes, getSegmentShares(problem, rates));
  double inputBytes = problem.inputElements * problem.getElementBytes();
  auto getShareOf = [&](int64_t elements) {
    return getSegmentShare(elements * problem.getElementBytes(),
                           getSegmentShares(problem, rates));
  };
  double inputShare = problem.readsTranspose ? getShareOf(tiling.rows)
                      : problem.readsColumns ? getShareOf(problem.fibreSegment)
                                             : share;
  double resultShare = problem.readsTranspose && problem.inner == 1
                           ? getShareOf(problem.fibreSegment)
                           : share;
  time.memory = resources.getMemorySeconds(inputBytes, inputShare) +
                resources.getMemorySeconds(bytes - inputBytes, resultShare);
  if (kernel == GPUKernel::Ffma || kernel == GPUKernel::Mma)
    time.memory += getPartSectorSeconds(problem, tiling.columns, machine);

  double positions = problem.getPositions();
  time.arithmetic = resources.getMultiplySeconds(
      positions * getPaddedMultiplyAdds(kernel, problem),
      getMultiplication(kernel, problem, machine),
      rates.issueShare * getRateShare(kernel, problem, machine));
  double tileBytes = positions * problem.rowLargest * problem.getChipBytes();
  double onChip = time.arithmetic +
                  resources.getSharedSeconds(
                      tileBytes * getSharedAccesses(kernel, problem, machine));
  double positionsPerTile = double(tiling.columns) * tiling.rows;
  double tiles = std::max(positions / positionsPerTile, 1.0);
  double resident = double(machine.numSMs) * tiling.ctasPerSM / tiling.cluster;
  if (tiling.cluster > 1) {
    // Half of what the last factor reads is the other CTA's; then both wait for
    // each other twice.
    onChip +=
        resources.getClockSeconds(tileBytes / 2 / rates.remoteBytesPerClock);
    onChip += 2 * rates.clusterBarrierSeconds * tiles / resident;
  }
  double narrow = getNarrowCopies(kernel, problem, machine);
  if (kernel == GPUKernel::Simt)
    onChip += getGatherSeconds(problem, machine);
  if (kernel == GPUKernel::Mma)
    onChip += getStreamedFactorSeconds(problem, tiling, machine);
  time.shared = onChip - time.arithmetic + narrow;
  bool isAlone = tiling.ctasPerSM == 1;
  double exposed =
      (isAlone ? 1 : getExposedShare(kernel, problem, machine)) * onChip +
      narrow;
  double steady =
      std::max(time.memory / (isAlone ? rates.aloneCopyShare : rates.copyShare),
               exposed);
  // Measured on f64 octets: large tile footprints by `dmma`, and what `batched`
  // reaches.
  if (hasOctets(problem, machine)) {
    bool isLarge = problem.getFootprintBytes(tiling.columns) >
                   rates.smallOctetFootprintBytes;
    if (kernel == GPUKernel::Batched || (kernel == GPUKernel::Ffma && isLarge))
      steady = std::max(time.memory / rates.octetCopyShare, onChip);
  }
  // Copies and barriers of each of a CTA's tiles take their time, however
  // little it holds.
  if (kernel != GPUKernel::Simt && tiles > resident)
    steady = std::max(steady, resources.getSMSeconds(rates.leastTileClocks *
                                                     tiles / resident));
  // Tiles come in waves over the SMs; the last one may be ragged, and one
  // tile's load and store overlap with nothing.
  double perWave = steady * resident / tiles;
  // Fewer tiles than SMs have more of the memory's bandwidth each, up to about
  // four times their share, but compute no faster.
  double idle = std::min(tiles / resident, 1.0);
  double wave = std::max(perWave / 4, perWave * idle);
  if (tiles < machine.numSMs)
    wave = std::max(wave, exposed * machine.numSMs / tiles);
  double waves = std::max(tiles / resident, 1.0);
  time.total = resources.getLaunchSeconds() + wave * (waves + 1);
  // Others are too small to count.
  if (hasVaryingFactor(problem))
    time.total += resources.getMemorySeconds(getFactorBytes(problem));
  // Only dmma, of these, shares tile footprints.
  if (kernel != GPUKernel::Ffma &&
      canShareFootprint(problem, tiling.columns, machine))
    time.total *= 2;
  // The others' tiles hold few rows of a transposed input.
  if (problem.readsTranspose && kernel != GPUKernel::Mma &&
      !holdTurnedRows(kernel, problem, machine))
    time.total *= 2;
  return time;
}

double kron::getRaggedSeconds(const Problem &region,
                              const GPUMachine &machine) {
  if (!is16BitFloat(region.element))
    return 0;
  const RaggedRates &rates = getGPURates(machine).ragged;
  if (region.inner == 1 && !region.readsTranspose) {
    // What the odd factors of a chain cost is in accesses to shared memory, and
    // its results of a row are neighbours of a warp. Those of a further factor
    // lie in many rows.
    if (region.factors.size() < 3)
      return 0;
    double clocks = 0;
    if (region.innermostInput % 2 != 0)
      clocks += region.inputElements * rates.clocksPerSpread16Bit;
    if (region.innermostOutput % 2 != 0)
      clocks += region.outputElements * rates.clocksPerStore16Bit;
    return GPUResources(machine).getClockSeconds(clocks);
  }
  int64_t width = kSegmentChunkBytes / region.getElementBytes();
  bool isWhole = !region.readsTranspose && !region.readsColumns;
  // All that is inside of the contracted axes lies together.
  auto isRagged = [&](int64_t innermost) {
    int64_t size = isWhole && region.inner > 1 ? region.inner : innermost;
    return size > 0 && size % width != 0;
  };
  double clocks = 0;
  if (isRagged(region.innermostInput))
    clocks += region.inputElements * (isWhole ? rates.clocksPerSpread16Bit
                                              : rates.clocksPerElement16Bit);
  if (isRagged(region.innermostOutput))
    clocks += region.outputElements * rates.clocksPerSharedStore16Bit;
  return GPUResources(machine).getClockSeconds(clocks);
}

double kron::estimateRegionSeconds(GPUKernel kernel, const Problem &region,
                                   const KernelTiling &tiling,
                                   const GPUMachine &machine) {
  double seconds = estimateTime(kernel, region, tiling, machine).total;
  bool addsRagged = kernel == GPUKernel::Mma && !isSparse(region);
  return addsRagged ? seconds + getRaggedSeconds(region, machine) : seconds;
}
