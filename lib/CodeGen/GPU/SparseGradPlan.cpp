//===- SparseGradPlan.cpp - Tiles of a gradient by sparse weights ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All tiles that fit the registers are tried, and ranked by what takes longest
// per position of the batch: instructions, shared memory, or what the
// second-level cache delivers.
//
//===----------------------------------------------------------------------===//

#include "SparseGradPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/SparseGrad.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes per second that the second-level cache delivers to all SMs.
static constexpr double kCacheRate = 8e12;
/// Fitted to measurements on an H200: how much longer than at their full rates
/// instructions and loads from shared memory take; what a K step waits; and
/// bytes per second of sums that are written and read again.
static constexpr double kMultiplyTime = 1.3, kLoadTime = 1.5;
static constexpr double kStepSeconds = 0.1e-6, kSumRate = 0.8e12;
/// Instructions that split a value, of which an SM runs 128 at a time.
static constexpr double kSplitInstructions = 4;
/// Data that should be under way to an SM, and of one K step of all its CTAs
/// (of f64, whose long K steps need too many registers).
static constexpr int64_t kBytesUnderWay = 96 * 1024;
static constexpr int64_t kStepBytes = 64 * 1024, kShortStepBytes = 32 * 1024;
static constexpr int64_t kMostStages = 6;
/// Positions of the batch whose sum a matrix unit can keep without an error
/// that shows.
static constexpr int64_t kSummedK = 64;
/// Rows that a batch of unknown size is taken to have.
static constexpr int64_t kNominalRows = 16384;
/// Warps that keep an SM's matrix units busy, and the most that share one.
static constexpr int64_t kBusyWarps = 8, kMostWarps = 16;
/// Warps of a warpgroup, and registers that its threads need beside sums, or if
/// they prepare packed operands.
static constexpr int64_t kGroupWarps = 4, kWgmmaRegisters = 48;
static constexpr int64_t kPackedRegisters = 56;
/// How much longer products with packed operands of one column would take:
/// those of few columns wait for each other (fitted, as above).
static constexpr double kFewColumns = 10;
/// Contiguous segments that the second-level cache delivers at its full rate:
/// those of 32 bytes took twice as long.
static constexpr int64_t kSegmentBytes = 64;

bool kron::hasGradientKernels(KsmmGradOp gradient) {
  Type element = getElementType(gradient.getInit());
  return isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element) &&
         getElementType(gradient.getInput()) == element &&
         getElementType(gradient.getGrad()) == element &&
         !(element.isF32() && gradient.getPrecision() == Precision::Ieee) &&
         !getAlpha(gradient).isZero() &&
         cast<ShapedType>(gradient.getInit().getType()).hasStaticShape();
}

namespace {
class Planner {
public:
  Planner(SparseGradPlan plan, int64_t rows, const GPUMachine &machine)
      : plan(plan), rows(rows), machine(machine) {}

  SparseGradPlan choose();

private:
  void tryAll();
  void tryChunks(int64_t chunkBytes);
  void tryWarps(int64_t laneWarps);
  void tryWarpgroups();
  void tryPackedOperands();
  void tryTile();
  int64_t getRegisters() const;
  bool chooseStages();
  void choosePieces();
  double getLoadedBytes() const;
  double getSecondsPerRow() const;
  double getSeconds() const;

  /// The one that is being tried.
  SparseGradPlan plan;
  int64_t rows;
  const GPUMachine &machine;
  SparseGradPlan best;
};
} // namespace

/// Of a thread: sums, operands of the left side and one of the right (which
/// wgmma reads itself), and what addresses take.
int64_t Planner::getRegisters() const {
  if (plan.usesWgmma)
    return llvm::alignTo(4 * plan.getSums() + kWgmmaRegisters, 8);
  int64_t words = plan.elementBytes == 8 ? 2 : 1;
  int64_t sums = 4 * plan.getSums() * (plan.hasPartialSums ? 2 : 1);
  if (plan.usesPackedOperands)
    return llvm::alignTo(sums + kPackedRegisters, 8);
  int64_t parts =
      plan.batchLast ? plan.getMacroK() / plan.getK() : plan.getParts();
  int64_t split = plan.has16BitResiduals            ? 4
                  : plan.math == MmaMath::SplitTF32 ? 2
                                                    : 1;
  int64_t operands = parts * split * (4 * plan.left.tiles + 2) +
                     (plan.batchLast ? 4 * plan.right.tiles : 8);
  return llvm::alignTo(words * (sums + operands) + 40, 8);
}

/// K steps and pipeline stages; whether they fit.
bool Planner::chooseStages() {
  int64_t shared = machine.getSharedBytes(plan.ctasPerSM);
  if (plan.batchLast) {
    // Rows of 256 bytes, or of 128 where fewer than three pipeline stages of
    // those fit.
    for (int64_t bytes : {256, 128}) {
      plan.batchStep = bytes / plan.elementBytes;
      plan.stages = 3;
      if (plan.getSharedBytes() <= shared && plan.elementBytes < 8)
        break;
    }
  } else {
    plan.batchStep = plan.getK();
    auto fits = [&] {
      SparseGradPlan next = plan;
      next.batchStep *= 2;
      next.stages = 3;
      if (plan.usesPackedOperands && next.getSharedBytes() > shared)
        return false;
      return next.batchStep <= kSummedK &&
             next.getStageBytes() * plan.ctasPerSM <=
                 (plan.elementBytes == 8 ? kShortStepBytes : kStepBytes);
    };
    while (fits())
      plan.batchStep *= 2;
  }
  // Packed operands of the next K step are prepared while those of this one are
  // read.
  int64_t ahead = plan.usesPackedOperands ? 2 : 1;
  plan.stages = 1 + ahead;
  while (plan.stages < kMostStages &&
         (plan.stages - ahead) * plan.getStageBytes() * plan.ctasPerSM <
             kBytesUnderWay)
    ++plan.stages;
  while (plan.stages > 1 + ahead && plan.getSharedBytes() > shared)
    --plan.stages;
  return plan.getSharedBytes() <= shared;
}

/// Pieces such that all SMs have as much to do: once, or some times if there
/// are more tiles than SMs take at once.
void Planner::choosePieces() {
  int64_t resident = machine.numSMs * plan.ctasPerSM;
  int64_t tiles = plan.getTiles();
  int64_t most = std::max<int64_t>(rows / kLeastPiece, 1);
  plan.pieces = std::clamp<int64_t>(resident / tiles, 1, most);
  if (tiles <= resident / 2)
    return;
  // Of 1 to 8 pieces the fewest that leave little idle.
  auto getIdle = [&](int64_t pieces) {
    double rounds = double(tiles * pieces) / resident;
    return std::ceil(rounds) / rounds;
  };
  plan.pieces = 1;
  for (int64_t pieces = 2; pieces <= std::min<int64_t>(8, most); ++pieces)
    if (getIdle(pieces) * 1.05 < getIdle(plan.pieces))
      plan.pieces = pieces;
}

/// Bytes that come from shared memory per position of the batch of one tile.
double Planner::getLoadedBytes() const {
  int64_t chunk = plan.batchLast ? plan.elementBytes : plan.chunkBytes;
  if (plan.usesPackedOperands) {
    // Warpgroups load their rows of the left side and read whole packed
    // operands.
    double chunks = 16.0 * plan.getWarps() + plan.getPackedOperand().columns;
    double packedOperands = double(plan.getPackedBytes()) / plan.batchStep;
    return chunks * chunk +
           packedOperands * (1 + plan.left.warps / kGroupWarps);
  }
  // Every warp loads its rows of both sides; the matrix unit reads the right
  // side once for a warpgroup.
  double perWarp = 16.0 * plan.left.tiles + 8.0 * plan.right.tiles;
  return plan.usesWgmma
             ? plan.getWarps() / kGroupWarps * (perWarp + 3 * 16.0) * chunk
             : plan.getWarps() * perWarp * chunk;
}

/// Of all SMs together, for all tiles.
double Planner::getSecondsPerRow() const {
  double tiles = plan.getTiles();
  int64_t leftRows = plan.getRows(plan.left);
  int64_t rightRows = plan.getRows(plan.right);
  bool usesGroups = plan.usesWgmma || plan.usesPackedOperands;
  double rate = usesGroups && plan.is16BitFloat() ? machine.f16Wgmma
                : usesGroups                      ? machine.tf32Wgmma / 2
                : plan.math == MmaMath::F64       ? machine.dmma
                : plan.is16BitFloat()             ? machine.f16Mma
                : plan.math == MmaMath::TF32      ? machine.tf32Mma
                : plan.has16BitResiduals          ? machine.tf32Mma / 2
                                                  : machine.tf32Mma / 3;
  double multiply =
      kMultiplyTime * 2.0 * leftRows * rightRows * plan.getLanes() / rate;

  double loadsPerSecond = 128.0 * machine.numSMs * machine.clockMHz * 1e6;
  double shared = kLoadTime * getLoadedBytes() / loadsPerSecond;

  // Nor does a warp split f32 values for another one, but for packed operands.
  double split = 0;
  if (plan.math == MmaMath::SplitTF32) {
    double perWarp = 16.0 * plan.left.tiles + 8.0 * plan.right.tiles;
    double rows = plan.usesPackedOperands
                      ? 16.0 * plan.getWarps() + plan.getPackedOperand().columns
                      : plan.getWarps() * perWarp;
    split = kSplitInstructions * rows * plan.getParts() / loadsPerSecond;
  }

  // Shorter segments take as long as whole ones.
  int64_t segment = plan.getLanes() * plan.elementBytes;
  double waste = 1;
  if (!plan.batchLast && plan.lanes > plan.getLanes() &&
      segment < kSegmentBytes)
    waste = double(kSegmentBytes) / segment;
  double bytes = double(std::min(leftRows, plan.left.size) +
                        std::min(rightRows, plan.right.size)) *
                 plan.getLanes() * plan.elementBytes * waste;
  double cache = bytes / kCacheRate;
  double most = std::max({multiply, shared, cache, split});
  double sum = multiply + shared + cache + split;
  // Few warps overlap less.
  double warps = plan.ctasPerSM * plan.getWarps();
  double idle = std::max(1.0, std::sqrt(kBusyWarps / warps));
  if (plan.usesWgmma)
    idle = 1;
  if (plan.usesPackedOperands)
    idle += kFewColumns / (8 * plan.right.tiles);
  return tiles * idle * (0.7 * most + 0.3 * sum);
}

double Planner::getSeconds() const {
  double rounds =
      double(plan.getTiles() * plan.pieces) / (machine.numSMs * plan.ctasPerSM);
  double seconds = rows * getSecondsPerRow() * std::ceil(rounds) / rounds;
  double bytes = double(plan.left.size + plan.right.size) * plan.groups *
                 plan.lanes * plan.elementBytes * rows;
  seconds = std::max(seconds, bytes / machine.copyBytesPerSecond);
  double steps = std::ceil(double(rows) / plan.pieces / plan.batchStep);
  seconds += std::ceil(rounds) * steps * kStepSeconds;
  int64_t sumBytes = plan.elementBytes == 8 ? 8 : 4;
  if (plan.pieces > 1 || plan.isShared())
    seconds +=
        double(plan.pieces * plan.getSumsPerPiece()) * sumBytes / kSumRate;
  return seconds;
}

void Planner::tryTile() {
  int64_t warps = plan.getWarps();
  int64_t most = machine.registersPerSM / (32 * getRegisters());
  if (getRegisters() > machine.maxRegistersPerThread || most < warps)
    return;
  most = std::min(most, kMostWarps);
  for (plan.ctasPerSM = std::max<int64_t>(most / warps, 1); plan.ctasPerSM > 0;
       plan.ctasPerSM /= 2) {
    if (!chooseStages())
      continue;
    choosePieces();
    plan.seconds = getSeconds();
    // Later ones must be better by more than the estimate is worth.
    if (plan.seconds < 0.99 * best.seconds)
      best = plan;
  }
}

/// Tries all shares of rows among warps and instructions.
void Planner::tryWarps(int64_t laneWarps) {
  plan.laneWarps = laneWarps;
  auto isLarger = [&](const SparseGradSide &side, int64_t tiles,
                      int64_t warps) {
    return (tiles > 1 || warps > 1) &&
           side.unit * plan.rowsPerChunk * tiles * warps >=
               2 * int64_t(
                       llvm::alignTo(side.size, side.unit * plan.rowsPerChunk));
  };
  for (int64_t leftWarps : {1, 2, 4, 8})
    for (int64_t rightWarps : {1, 2, 4, 8})
      for (int64_t leftTiles : {4, 3, 2, 1})
        for (int64_t rightTiles : {8, 6, 4, 3, 2, 1}) {
          if (leftWarps * rightWarps * laneWarps > 12 ||
              isLarger(plan.left, leftTiles, leftWarps) ||
              isLarger(plan.right, rightTiles, rightWarps))
            continue;
          plan.left.tiles = leftTiles;
          plan.left.warps = leftWarps;
          plan.right.tiles = rightTiles;
          plan.right.warps = rightWarps;
          tryTile();
        }
}

/// Tries tiles of warpgroups, each of which has 64 rows j and the tile's k.
void Planner::tryWarpgroups() {
  SparseGradPlan other = plan;
  plan.usesWgmma = true;
  plan.left.tiles = plan.right.warps = 1;
  // One warpgroup keeps memory no busier than the warps of mma.sync do.
  for (int64_t groups : {4, 3, 2})
    for (int64_t tiles = 32; tiles > 0; --tiles) {
      plan.left.warps = kGroupWarps * groups;
      plan.right.tiles = tiles;
      auto isLarger = [](const SparseGradSide &side, int64_t rows,
                         int64_t unit) {
        return rows >= int64_t(llvm::alignTo(side.size, unit)) + unit;
      };
      if (isLarger(plan.left, 64 * groups, 64) ||
          isLarger(plan.right, 8 * tiles, 8))
        continue;
      tryTile();
    }
  plan = other;
}

/// Tries tiles of warpgroups that read packed operands of rows k.
void Planner::tryPackedOperands() {
  if (!machine.hasWgmma || !plan.has16BitResiduals)
    return;
  // Of blocks of 64 rows, three quarters have to exist.
  int64_t block = 64 * plan.rowsPerChunk;
  if (4 * plan.left.size < 3 * int64_t(llvm::alignTo(plan.left.size, block)))
    return;
  SparseGradPlan other = plan;
  plan.usesPackedOperands = true;
  plan.left.tiles = plan.right.warps = plan.laneWarps = 1;
  auto isLarger = [&](const SparseGradSide &side, int64_t unit) {
    int64_t rows = plan.getRows(side), least = unit * plan.rowsPerChunk;
    return rows > least && rows >= 2 * int64_t(llvm::alignTo(side.size, least));
  };
  for (int64_t groups : {2, 1, 4})
    for (int64_t tiles : {24, 16, 12, 10, 8, 6, 4}) {
      plan.left.warps = kGroupWarps * groups;
      plan.right.tiles = tiles;
      if (!isLarger(plan.left, 64) && !isLarger(plan.right, 8))
        tryTile();
    }
  plan = other;
}

/// Tries chunks of `chunkBytes`.
void Planner::tryChunks(int64_t chunkBytes) {
  plan.chunkBytes = chunkBytes;
  int64_t chunk = plan.getChunk();
  if (plan.batchLast) {
    plan.lanesPerChunk = plan.rowsPerChunk = 1;
    // Of blocks of 64 rows, three quarters have to exist.
    if (machine.hasWgmma && plan.is16BitFloat() &&
        4 * plan.left.size >= 3 * int64_t(llvm::alignTo(plan.left.size, 64)))
      tryWarpgroups();
    tryWarps(/*laneWarps=*/1);
    return tryPackedOperands();
  }
  plan.lanesPerChunk = std::min(plan.lanes & -plan.lanes, chunk);
  plan.rowsPerChunk = chunk / plan.lanesPerChunk;
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  for (int64_t laneWarps : {1, 2, 3, 4})
    if (chunks % laneWarps == 0 || laneWarps == 3)
      if (laneWarps <= chunks)
        tryWarps(laneWarps);
  tryPackedOperands();
}

/// Tries all chunks.
void Planner::tryAll() {
  // Smaller ones of rows alone, or if they are whole rows, else copies would be
  // narrower; and one of one f64 would not be worth a load. 16-bit types have
  // more rows and products than registers otherwise.
  int64_t lanes = plan.lanes & -plan.lanes;
  bool hasSmall = !plan.batchLast && plan.elementBytes < 8 &&
                  (lanes == 1 || 8 % (plan.lanes * plan.elementBytes) == 0);
  SmallVector<int64_t, 2> sizes{16};
  if (hasSmall)
    sizes.insert(plan.is16BitFloat() ? sizes.begin() : sizes.end(), 8);
  for (int64_t bytes : sizes)
    tryChunks(bytes);
}

SparseGradPlan Planner::choose() {
  tryAll();
  if (plan.math == MmaMath::SplitTF32 && rows >= kLeastSummed) {
    plan.has16BitResiduals = true;
    tryAll();
  }
  assert(best.seconds < std::numeric_limits<double>::infinity() &&
         "the smallest tile fits every machine");
  return best;
}

SparseGradPlan kron::getSparseGradPlan(KsmmGradOp gradient,
                                       const GPUMachine &machine) {
  SparseGradPlan plan;
  plan.element = getElementType(gradient.getInit());
  plan.elementBytes = getElementBytes(plan.element);
  plan.math =
      plan.element.isF64() ? MmaMath::F64
      : plan.element.isF32() && gradient.getPrecision() != Precision::TF32
          ? MmaMath::SplitTF32
          : MmaMath::TF32;
  plan.hasPartialSums = plan.math == MmaMath::SplitTF32;
  plan.batchLast = gradient.getBatchDim() == 1;
  plan.overlapsSums = machine.computeCapability >= 90;
  ArrayRef<int64_t> pattern = gradient.getPattern();
  plan.groups = pattern[0];
  plan.sharesGroups = gradient.sharesBlocks();
  plan.sharesLanes = gradient.sharesInner();
  plan.left.size = pattern[1];
  plan.right.size = pattern[2];
  plan.right.unit = 8;
  plan.lanes = pattern[3];
  int64_t rows = ShapedType::kDynamic;
  for (Value array : {gradient.getInput(), gradient.getGrad()})
    if (int64_t size = cast<ShapedType>(array.getType())
                           .getDimSize(gradient.getBatchDim());
        !ShapedType::isDynamic(size))
      rows = size;
  if (ShapedType::isDynamic(rows))
    rows = kNominalRows;
  return Planner(plan, rows, machine).choose();
}
