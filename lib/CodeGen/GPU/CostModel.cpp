//===- CostModel.cpp - Time of a trip on a GPU ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The constants come from hand-written kernels on an H200: how much of the copy
// rate they reach (0.87 with one CTA per processor, 0.91 with several), of the
// instruction's rate (0.87), and how many passes over the tile they make in
// shared memory (8^5 by FFMA: 9 to 10 accesses per element, 32^3 by mma.sync
// 10, by wgmma 14).
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/CostModel.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Part of an instruction's measured rate that kernels reach.
static constexpr double kIssueShare = 0.87;
/// Bytes of a slab of f64 octets that several CTAs of a processor can hold.
static constexpr int64_t kSmallOctetSlab = 32 * 1024;
/// Bytes per clock of a processor's shared memory.
static constexpr double kSharedBytesPerClock = 128;
/// Bytes per clock that a processor reads of the other one's in a cluster, and
/// the seconds of a barrier of both.
static constexpr double kRemoteBytesPerClock = 18;
static constexpr double kClusterBarrierSeconds = 0.25e-6;

/// Of a sparse factor by `mma`: the part of the instruction's rate that it
/// reaches, the results that a tile has for each row that it reads, and how
/// much faster than memory the second-level cache is.
static constexpr double kSparseIssueShare = 0.5;
static constexpr double kSparseResults = 64;
static constexpr double kSparseCacheRate = 1.3;

/// Multiply-adds per clock of a processor by `simt` where 32 lanes have 32
/// different factors, each in lines of its own (measured: 1024,28,4,1).
static constexpr double kGatheredMultiplyAdds = 1.7;

int64_t kron::getSlabBudget(const GPUMachine &machine) {
  return machine.sharedBytesPerCTA * 3 / 4;
}

//===----------------------------------------------------------------------===//
// Which kernels
//===----------------------------------------------------------------------===//

static bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

static bool isTensorCoreType(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() ||
         element.isF64();
}

static bool hasVaryingFactor(const Trip &trip) {
  return llvm::any_of(trip.factors, [](const TripFactor &factor) {
    return !factor.varyingAxes.empty();
  });
}

/// Whether the factors, which wgmma reads from shared memory (in two copies for
/// full precision), leave room for a tile.
static bool fitsWgmma(const Trip &trip, const GPUMachine &machine) {
  int64_t copies =
      trip.element.isF32() && trip.precision == Precision::Full ? 2 : 1;
  int64_t bytes = trip.rowLargest * trip.getChipBytes();
  for (const TripFactor &factor : trip.factors) {
    int64_t side = std::max(factor.depth, factor.results);
    // CTAs share the columns of a larger factor.
    bool isShared = side > 128;
    if (side > 256 ||
        (isShared && (trip.factors.size() > 1 || !trip.element.isF32())))
      return false;
    bytes += copies * 4 * llvm::alignTo(factor.depth, 16) *
             (isShared ? 64 : llvm::alignTo(factor.results, 16));
  }
  return bytes <= machine.sharedBytesPerCTA;
}

bool kron::isPlausible(GPUKernel kernel, const Trip &trip,
                       const GPUMachine &machine) {
  int64_t largest = trip.getLargestFactorSize();
  bool allowsSplit = trip.precision != Precision::Ieee;
  switch (kernel) {
  case GPUKernel::Simt:
    return true;
  case GPUKernel::Ffma:
    return (trip.element.isF32() || trip.element.isF64()) &&
           !hasVaryingFactor(trip);
  case GPUKernel::Batched:
    return trip.inner == 1 && !trip.readsTranspose && largest <= 32 &&
           !hasVaryingFactor(trip);
  case GPUKernel::Mma:
    // F64 tensor cores multiply and add in IEEE arithmetic. Larger factors are
    // taken alone only.
    return isTensorCoreType(trip.element) &&
           (largest <= 256 || trip.factors.size() == 1) &&
           (!hasVaryingFactor(trip) || isSparse(trip)) &&
           (allowsSplit || trip.element.isF64());
  case GPUKernel::Wgmma:
    return machine.hasWgmma && isTensorCoreType(trip.element) &&
           !trip.element.isF64() && allowsSplit && largest > 16 &&
           !hasVaryingFactor(trip) && fitsWgmma(trip, machine);
  case GPUKernel::Auto:
    break;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Whether `ffma` takes the trip with matrix instructions: f64 factors of 8
/// x 8.
static bool hasOctets(const Trip &trip, const GPUMachine &machine) {
  return machine.hasWideDMMA && trip.element.isF64() &&
         trip.factors.size() > 1 && trip.getSmallestFactorSize() == 8 &&
         trip.getLargestFactorSize() == 8 && !hasVaryingFactor(trip);
}

/// Whether two CTAs can share a slab: `ffma` does so with 256 KiB of octets.
static bool canShareSlab(const Trip &trip, int64_t columns,
                         const GPUMachine &machine) {
  return machine.hasCluster && hasOctets(trip, machine) && trip.inner > 0 &&
         trip.inner % columns == 0 && trip.rowInput * columns == 32768;
}

int64_t kron::chooseColumns(const Trip &trip, int64_t slabBudget,
                            const GPUMachine &machine) {
  // f16 and bf16 have only matrix kernels, which pad small factors to 16.
  if (isHalf(trip.element) && trip.getLargestFactorSize() <= 8)
    slabBudget /= 2;
  for (int64_t runBytes : {128, 64, 32}) {
    int64_t columns = trip.getColumns(runBytes);
    int64_t share = canShareSlab(trip, columns, machine) ? 2 : 1;
    if (trip.getSlabBytes(columns) <= share * slabBudget)
      return columns;
  }
  return 0;
}

bool kron::fitsCluster(const Trip &trip, int64_t slabBudget,
                       const GPUMachine &machine) {
  if (!machine.hasCluster || trip.inner != 1 || trip.readsTranspose ||
      trip.factors.size() < 2 || !isPlausible(GPUKernel::Mma, trip, machine) ||
      isHalf(trip.element))
    return false;
  for (const TripFactor &factor : trip.factors)
    if (factor.depth % 16 != 0 || factor.results % 16 != 0)
      return false;
  int64_t slab = trip.getSlabBytes(1);
  return slab > slabBudget && slab <= 2 * slabBudget;
}

TripTiling kron::chooseTiling(GPUKernel kernel, const Trip &trip,
                              int64_t columns, int64_t slabBudget,
                              const GPUMachine &machine) {
  // Only `ffma` shares slabs with columns; others take fewer of these.
  if (kernel != GPUKernel::Ffma && canShareSlab(trip, columns, machine))
    while (columns > trip.getColumns(32) &&
           trip.getSlabBytes(columns) > slabBudget)
      columns /= 2;
  TripTiling tiling;
  tiling.columns = columns;
  int64_t slab = std::max<int64_t>(trip.getSlabBytes(columns), 1);
  // Small slabs share a tile of 16 KiB: enough for 128 threads, and several
  // tiles fit a processor.
  tiling.rows = std::max<int64_t>(16 * 1024 / slab, 1);
  if (kernel == GPUKernel::Mma && fitsCluster(trip, slabBudget, machine)) {
    tiling.cluster = 2;
    slab /= tiling.cluster;
  }
  // Rows of a transposed input are its columns.
  for (int64_t runBytes : {128, 64, 32})
    if (int64_t rows = trip.getRows(runBytes); rows * slab <= slabBudget) {
      tiling.rows = std::max(tiling.rows, rows);
      break;
    }
  int64_t tileBytes = tiling.rows * slab;
  int64_t bytesPerThread = kernel == GPUKernel::Wgmma ? 128 : 256;
  tiling.threads = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(tileBytes, bytesPerThread)), 128,
      512);
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
static double getScalarShare(GPUKernel kernel, const Trip &trip) {
  if (kernel == GPUKernel::Batched)
    return trip.element.isF64() && trip.getLargestFactorSize() <= 8 ? 0.45
                                                                    : 0.5;
  return trip.getLargestFactorSize() > 8 ? 0.35 : 1;
}

/// Whether `mma` has to read factors from shared memory again and again: larger
/// ones do not fit its registers.
static bool readsFactorsOften(const Trip &trip) {
  return trip.getLargestFactorSize() > 16 && !trip.element.isF64();
}

/// Whether `mma` moves single elements, since sizes are no multiples of what
/// its wide loads take.
static bool hasRaggedSizes(const Trip &trip) {
  int64_t unit = trip.element.isF64() ? 4 : 8;
  return llvm::any_of(trip.factors, [&](const TripFactor &factor) {
    return factor.depth % unit != 0 || factor.results % unit != 0;
  });
}

/// Values that a thread of `ffma` holds in each of the groups of axes that it
/// takes at once.
static SmallVector<int64_t> getFfmaGroups(const Trip &trip) {
  int64_t most = 256 / std::max<int64_t>(trip.getChipBytes(), 4);
  SmallVector<int64_t> groups;
  for (const TripFactor &factor : trip.factors) {
    int64_t values = std::max(factor.depth, factor.results);
    if (!groups.empty() && groups.back() * values <= most)
      groups.back() *= values;
    else
      groups.push_back(values);
  }
  return groups;
}

/// Seconds that copies of less than 16 bytes take, which the innermost size
/// allows no wider: 2.3 us per million on an H200, whatever they move.
static double getNarrowCopies(GPUKernel kernel, const Trip &trip,
                              const GPUMachine &machine) {
  // `batched` copies whole tiles without a gap. What odd factors cost `mma` is
  // in its accesses.
  if (kernel == GPUKernel::Batched ||
      (kernel == GPUKernel::Mma && trip.inner == 1))
    return 0;
  constexpr double kClocksPerCopy = 0.6;
  double clocks = kClocksPerCopy;
  // Nothing hides them in `ffma`; `mma` and `wgmma` have other work meanwhile.
  if (trip.readsColumns && kernel == GPUKernel::Ffma)
    clocks *= 2;
  if (trip.readsColumns && kernel == GPUKernel::Mma)
    clocks *= 0.2;
  if (trip.readsColumns && kernel == GPUKernel::Wgmma)
    clocks *= 0.33;
  auto getCopies = [&](double elements, int64_t innermost) {
    int64_t width = std::max<int64_t>(16 / trip.getElementBytes(), 1);
    if (innermost < 0 || innermost % width == 0)
      return 0.0;
    // All or nothing for wgmma.
    while (innermost % width != 0)
      width = kernel == GPUKernel::Wgmma ? 1 : width / 2;
    return elements / width;
  };
  double copies = trip.readsColumns
                      ? trip.inputElements
                      : getCopies(trip.inputElements, trip.innermostInput);
  if (kernel == GPUKernel::Wgmma)
    copies =
        std::max(copies, getCopies(trip.outputElements, trip.innermostOutput));
  return copies * clocks / (machine.clockMHz * 1e6) / machine.processors;
}

/// flop/s of useful products on whole instructions.
static double getRate(GPUKernel kernel, const Trip &trip,
                      const GPUMachine &machine) {
  Type element = trip.element;
  // Three TF32 products for one of full precision.
  double split = trip.precision == Precision::TF32 ? 1 : 3;
  switch (kernel) {
  case GPUKernel::Mma: {
    if (element.isF64())
      // m8n8k4, all that there is before Hopper, has half the rate on Hopper.
      return machine.dmma;
    // f16 and bf16 are TF32 without a rest.
    double share = !readsFactorsOften(trip)           ? 1
                   : trip.getLargestFactorSize() > 64 ? 0.4
                                                      : 0.62;
    return share * machine.tf32Mma / (isHalf(element) ? 1 : split);
  }
  case GPUKernel::Wgmma:
    return isHalf(element) ? machine.f16Wgmma : machine.tf32Wgmma / split;
  default:
    break;
  }
  if (kernel == GPUKernel::Ffma && hasOctets(trip, machine))
    return machine.dmma;
  double share = getScalarShare(kernel, trip);
  if (auto complex = dyn_cast<ComplexType>(element))
    return share / 4 *
           (complex.getElementType().isF64() ? machine.dfma : machine.ffma);
  if (element.isF64())
    return share * machine.dfma;
  if (element.isInteger(64))
    return share * machine.ffma / 8;
  return share * (element.isInteger() ? machine.ffma / 2 : machine.ffma);
}

/// `size` rounded up to what instructions of `kernel` take along the contracted
/// (`isDepth`) or the resulting axis.
static int64_t getPaddedSize(GPUKernel kernel, Type element, int64_t size,
                             bool isDepth) {
  if (kernel != GPUKernel::Mma && kernel != GPUKernel::Wgmma)
    return size;
  int64_t unit = 8;
  if (kernel == GPUKernel::Wgmma && isHalf(element) && isDepth)
    unit = 16;
  if (kernel == GPUKernel::Mma && !isDepth && !element.isF64())
    unit = 16;
  return llvm::alignTo(size, unit);
}

static double getPaddedMultiplyAdds(GPUKernel kernel, const Trip &trip) {
  double row = trip.rowInput, sum = 0;
  for (const TripFactor &factor : trip.factors) {
    double outside = row / factor.depth;
    sum += outside * getPaddedSize(kernel, trip.element, factor.depth, true) *
           getPaddedSize(kernel, trip.element, factor.results, false);
    row = outside * factor.results;
  }
  return sum;
}

/// Accesses to shared memory per element of the tile: in, to registers, two per
/// exchange between factors, and what the instructions themselves read.
static double getSharedAccesses(GPUKernel kernel, const Trip &trip,
                                const GPUMachine &machine) {
  double count = trip.factors.size();
  switch (kernel) {
  case GPUKernel::Ffma:
    if (hasOctets(trip, machine))
      return 2 * count;
    return 1 + 2.0 * getFfmaGroups(trip).size();
  case GPUKernel::Batched: {
    // In and out, and two per factor; two innermost ones may go together.
    int64_t largestOfPlane = trip.element.isF64() ? 6 : 8;
    bool hasPlane = count > 1 && trip.getLargestFactorSize() <= largestOfPlane;
    return 2 + 2 * (hasPlane ? count - 1 : count);
  }
  case GPUKernel::Mma:
    if (readsFactorsOften(trip))
      return hasRaggedSizes(trip) ? 21 : 14;
    return (hasRaggedSizes(trip) ? 2.2 : 1) * (3 + 3 * std::ceil(count / 2));
  case GPUKernel::Wgmma: {
    // N/4 accesses of 128 bytes per m64nNk8 (m64nNk16 for half precision),
    // three times for full precision.
    double split = trip.precision == Precision::TF32 ? 1 : 3;
    if (isHalf(trip.element))
      split = 0.5;
    double perRow = getPaddedMultiplyAdds(kernel, trip) * split / 2048 * 128;
    return 3 + 2 * (count - 1) +
           perRow / (double(trip.rowLargest) * trip.getChipBytes());
  }
  default:
    // Every element of the input is read for each of several results.
    return 3 + 4 * count + trip.rowMultiplyAdds / trip.rowLargest / 4;
  }
}

/// Part of the copy rate that runs of `runBytes` reach. Those of 32 bytes come
/// with tiles that fill shared memory, and load little while they compute.
static double getRunShare(const Trip &trip, int64_t runBytes) {
  if (runBytes >= 128)
    return 1;
  if (runBytes >= 64)
    return 0.9;
  double ofSector = trip.getLargestFactorSize() > 16 ? 0.42 : 0.75;
  return ofSector * std::min(runBytes / 32.0, 1.0);
}

/// How much of the time on chip the memory's time does not hide, with several
/// CTAs per processor.
static double getExposedShare(GPUKernel kernel, const Trip &trip,
                              const GPUMachine &machine) {
  // Many barriers, or long chains of dependent multiply-adds.
  if (kernel == GPUKernel::Batched && trip.factors.size() > 6)
    return 1.2;
  if (kernel != GPUKernel::Ffma)
    return 0.75;
  if (hasOctets(trip, machine))
    return 0.75;
  // Threads that suit one group are idle in another.
  SmallVector<int64_t> groups = getFfmaGroups(trip);
  auto [least, most] = std::minmax_element(groups.begin(), groups.end());
  double waste = 1.4 - 0.4 * *least / *most;
  if (trip.element.isF64())
    return 1.3 * waste;
  return (getNarrowCopies(kernel, trip, machine) > 0 ? 1.0 : 0.75) * waste;
}

/// The time of a sparse factor by `mma`, whose tiles do not hold fibres whole:
/// CTAs read the input once for each block of results.
static TripTime estimateSparseTime(const Trip &trip,
                                   const GPUMachine &machine) {
  const TripFactor &factor = trip.factors.front();
  bool split = trip.precision != Precision::TF32 && trip.element.isF32();
  double rate = isHalf(trip.element)   ? machine.f16Mma
                : trip.element.isF64() ? machine.dmma
                : split                ? machine.tf32Mma / 3
                                       : machine.tf32Mma;
  TripTime time;
  double bytes = trip.getMemoryBytes();
  time.floor = machine.getCopySeconds(bytes);
  time.memory = bytes / machine.copyBytesPerSecond;
  time.arithmetic = 2 * trip.getPositions() *
                    llvm::alignTo(factor.depth, isHalf(trip.element) ? 16 : 8) *
                    llvm::alignTo(factor.results, 8) /
                    (kSparseIssueShare * rate);
  double blocks = std::ceil(factor.results / kSparseResults);
  time.shared = trip.inputElements * trip.getElementBytes() * blocks /
                (kSparseCacheRate * machine.copyBytesPerSecond);
  time.total = machine.launchSeconds +
               std::max(time.memory / 0.75, time.arithmetic + time.shared) +
               0.1 * time.memory;
  return time;
}

/// What `simt` waits for factors that vary from lane to lane: outside of the
/// contracted axis, they do not lie side by side.
static double getGatherSeconds(const Trip &trip, const GPUMachine &machine) {
  double seconds = 0;
  if (trip.inner != 1)
    return seconds;
  for (const TripFactor &factor : trip.factors)
    if (int64_t lines = std::min<int64_t>(factor.variations, 32); lines > 1)
      seconds += trip.getPositions() * trip.rowInput * factor.results * lines /
                 32 / kGatheredMultiplyAdds;
  return seconds / (machine.clockMHz * 1e6 * machine.processors);
}

TripTime kron::estimateTime(GPUKernel kernel, const Trip &trip,
                            const TripTiling &tiling,
                            const GPUMachine &machine) {
  if (kernel == GPUKernel::Mma && isSparse(trip))
    return estimateSparseTime(trip, machine);
  TripTime time;
  double bytes = trip.getMemoryBytes();
  time.floor = machine.getCopySeconds(bytes);
  int64_t runBytes = trip.getRunBytes(tiling.columns);
  double share = canShareSlab(trip, tiling.columns, machine) && runBytes < 128
                     ? 0.75
                     : getRunShare(trip, runBytes);
  double inputBytes = trip.inputElements * trip.getElementBytes();
  double inputShare =
      trip.readsTranspose
          ? getRunShare(trip, tiling.rows * trip.getElementBytes())
          : share;
  time.memory = (inputBytes / inputShare + (bytes - inputBytes) / share) /
                machine.copyBytesPerSecond;

  double positions = trip.getPositions();
  time.arithmetic = 2 * positions * getPaddedMultiplyAdds(kernel, trip) /
                    (kIssueShare * getRate(kernel, trip, machine));
  double sharedRate =
      kSharedBytesPerClock * machine.clockMHz * 1e6 * machine.processors;
  double onChip = time.arithmetic +
                  positions * trip.rowLargest * trip.getChipBytes() *
                      getSharedAccesses(kernel, trip, machine) / sharedRate;
  double positionsPerTile = double(tiling.columns) * tiling.rows;
  double tiles = std::max(positions / positionsPerTile, 1.0);
  double resident =
      double(machine.processors) * tiling.ctasPerSM / tiling.cluster;
  if (tiling.cluster > 1) {
    // Half of what the last factor reads is the other CTA's; then both wait for
    // each other twice.
    onChip += positions * trip.rowLargest * trip.getChipBytes() / 2 *
              kSharedBytesPerClock / kRemoteBytesPerClock / sharedRate;
    onChip += 2 * kClusterBarrierSeconds * tiles / resident;
  }
  double narrow = getNarrowCopies(kernel, trip, machine);
  if (kernel == GPUKernel::Simt)
    onChip += getGatherSeconds(trip, machine);
  time.shared = onChip - time.arithmetic + narrow;
  bool isAlone = tiling.ctasPerSM == 1;
  double exposed =
      (isAlone ? 1 : getExposedShare(kernel, trip, machine)) * onChip + narrow;
  double steady = std::max(time.memory / (isAlone ? 0.87 : 0.91), exposed);
  // Measured on f64 octets: large slabs by `ffma`, and what `batched` reaches.
  if (hasOctets(trip, machine)) {
    bool isLarge = trip.getSlabBytes(tiling.columns) > kSmallOctetSlab;
    if (kernel == GPUKernel::Batched || (kernel == GPUKernel::Ffma && isLarge))
      steady = std::max(time.memory / 0.78, onChip);
  }
  // Tiles come in waves over the processors; the last one may be ragged, and
  // one tile's load and store overlap with nothing.
  double perWave = steady * resident / tiles;
  // Fewer tiles than processors have more of the memory's bandwidth each, up to
  // about four times their share, but compute no faster.
  double idle = std::min(tiles / resident, 1.0);
  double wave = std::max(perWave / 4, perWave * idle);
  if (tiles < machine.processors)
    wave = std::max(wave, exposed * machine.processors / tiles);
  double waves = std::max(tiles / resident, 1.0);
  time.total = machine.launchSeconds + wave * (waves + 1);
  // Only ffma shares slabs.
  if (kernel != GPUKernel::Ffma && canShareSlab(trip, tiling.columns, machine))
    time.total *= 2;
  // The others' tiles hold few rows of a transposed input.
  if (trip.readsTranspose && kernel != GPUKernel::Mma &&
      kernel != GPUKernel::Wgmma)
    time.total *= 2;
  return time;
}
