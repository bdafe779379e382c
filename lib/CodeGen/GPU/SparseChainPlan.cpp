//===- SparseChainPlan.cpp - Tiles of a chain of sparse factors -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All sizes of blocks are tried; for each, a chain step shares out rows and
// results among its warps such that they read least from shared memory.
//
//===----------------------------------------------------------------------===//

#include "SparseChainPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows that an array of unknown size is taken to have.
static constexpr int64_t kNominalRows = 16384;
/// Data and factor that a K step should bring at most, or where nothing else
/// fits.
static constexpr int64_t kStepBytes = 24 * 1024, kShortStepBytes = 12 * 1024;
static constexpr int64_t kMostStages = 4;
/// Products whose sum a matrix unit can keep without an error that shows.
static constexpr int64_t kSummedK = 128;
/// Products whose sum needs no bound for each of them, which bf16 could miss.
static constexpr int64_t kLeastSummed = 32;
/// Fitted to measurements on an H200, most to within a fifth: the share that
/// chains reach of the matrix instructions' rate; what the second-level cache
/// delivers of the copy rate; what a K step waits for its data and for other
/// warps, and how much of that other warp groups cannot use; and how long an SM
/// takes to hand a value on to the next chain step.
static constexpr double kChainShare = 0.5, kCacheRate = 1.33;
static constexpr double kStepSeconds = 0.5e-6, kStepShare = 0.35;
static constexpr double kHandOnSeconds = 0.1e-9;
/// The same of kernels of one factor: shares of the rates of instructions and
/// of copies, how much of the shorter one the longer one does not hide, and how
/// long a kernel takes to begin and to end.
static constexpr double kAloneShare = 0.5, kAloneMemoryShare = 0.78;
static constexpr double kAloneExposed = 0.3, kAloneSeconds = 3.5e-6;
/// How long it takes an SM to quantize a value to 8 bits.
static constexpr double kQuantizeSeconds = 0.05e-9;

int64_t SparseChainPlan::getPlaceBytes(unsigned place) const {
  int64_t bytes = 0;
  for (unsigned stage = place; stage < stages.size(); stage += 2)
    bytes = std::max(bytes, getResultBytes(stage));
  return bytes;
}

int64_t SparseChainPlan::getSharedBytes() const {
  int64_t bytes = getWarpGroups() * (getPlaceBytes(0) + getPlaceBytes(1));
  for (unsigned stage = 0; stage < stages.size(); ++stage)
    bytes += llvm::alignTo(getKeptBytes(stage), 128) +
             llvm::alignTo(getRingBytes(stage), 128);
  return bytes;
}

int64_t SparseChainPlan::getKeptBytes(unsigned stage) const {
  const SparsePlan &plan = stages[stage];
  return plan.keepsFactor
             ? plan.getTilesPerRows() * plan.stepsK * plan.getFactorBytes()
             : 0;
}

int64_t SparseChainPlan::getRingBytes(unsigned stage) const {
  const SparsePlan &plan = stages[stage];
  return plan.hasRing() ? plan.warpGroups * plan.stages * plan.getStageBytes()
                        : 0;
}

/// Elements of a row before and behind the chain step `stage`.
static std::pair<int64_t, int64_t> getFeatures(const SparsePlan &stage) {
  int64_t others = stage.lanes;
  for (int64_t size : stage.groupSizes)
    others *= size;
  return {others * stage.sizeK, others * stage.sizeN};
}

int64_t SparseChainPlan::getRowBytes() const {
  int64_t bytes = stages.front().elementBytes;
  return getFeatures(stages.front()).first * bytes +
         getResultFeatures() * (stages.back().leavesRows() ? 1 : bytes);
}

int64_t SparseChainPlan::getResultFeatures() const {
  return getFeatures(stages.back()).second;
}

int64_t SparseChainPlan::getFactorBytes() const {
  int64_t bytes = 0;
  for (const SparsePlan &stage : stages)
    bytes += getFeatures(stage).first * stage.sizeN * stage.elementBytes;
  return bytes;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Sorts the axes of `product` but that of the rows: groups, the contracted
/// axis, lanes. Why that is not possible, or nothing.
static std::optional<std::string>
describeAxes(ModeProductOp product, unsigned rowAxis, SparsePlan &plan) {
  ProblemFactor factor = describeFactor(product);
  plan.axis = factor.axis;
  plan.sizeK = factor.sizeK;
  plan.sizeN = factor.sizeN;
  plan.rowAxis = rowAxis;
  SmallVector<int64_t> shape = getResultShape(product);
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (axis == plan.axis || axis == rowAxis || shape[axis] == 1)
      continue;
    if (!llvm::is_contained(factor.varyingAxes, axis))
      return "a factor does not vary on more than one axis";
    if (axis < plan.axis) {
      plan.groupAxes.push_back(axis);
      plan.groupSizes.push_back(shape[axis]);
    } else if (plan.laneAxis < 0) {
      plan.laneAxis = axis;
      plan.lanes = shape[axis];
    } else {
      return "a factor varies on two axes inside of the contracted one";
    }
  }
  return std::nullopt;
}

/// Types and axes of `plan`, and what follows from them. `alongRows` and
/// `turnsRows` of it are given.
static std::optional<std::string>
describeStage(ModeProductOp product, unsigned rowAxis, SparsePlan &plan) {
  plan.element = getElementType(product.getFactor());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(plan.element))
    return "elements are not f32, f16 or bf16";
  plan.setElementBytes(getElementBytes(plan.element));
  if (plan.element.isF32() && product.getPrecision() == Precision::Ieee)
    return "precision is ieee";
  plan.math = plan.element.isF32() && product.getPrecision() != Precision::TF32
                  ? MmaMath::SplitTF32
                  : MmaMath::TF32;
  if (std::optional<std::string> reason = describeAxes(product, rowAxis, plan))
    return reason;
  plan.hasPartialSums =
      plan.math == MmaMath::SplitTF32 && plan.sizeK > kSummedK;
  chooseSparseChunks(plan);
  plan.has16BitResiduals = plan.math == MmaMath::SplitTF32 &&
                           plan.sizeK >= kLeastSummed &&
                           (plan.alongRows || plan.getParts() <= 2);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The longest K step that brings no more than it should, with K padded no more
/// than it has to be.
static void chooseKStep(SparsePlan &plan) {
  int64_t macro = plan.getMacroK();
  int64_t macros = llvm::divideCeil(plan.sizeK, macro);
  for (int64_t count = 1; count <= macros; ++count) {
    SparsePlan longer = plan;
    longer.stepK = count * macro;
    bool fits =
        count == 1 ||
        longer.getCopiedBytes() + longer.getFactorBytes() <= plan.stepBytes;
    // Rows of odd multiples of 64 bytes have no bank conflicts, nor have those
    // of 128, whose chunks are exchanged.
    bool isEven = count == 1 || longer.getPackedRowBytes(false) % 64 == 0;
    if (macros % count == 0 && fits && isEven)
      plan.stepK = longer.stepK;
  }
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
}

/// Multiply-adds of a block of rows, and of warps that have no tile while
/// others have.
static double getMultiplyAdds(const SparsePlan &plan) {
  int64_t tiles = llvm::alignTo(plan.getTilesPerRows(), plan.tileWarps);
  return double(plan.getRows()) * tiles * plan.getResults() * plan.getLanes() *
         plan.stepsK * plan.stepK;
}

/// Bytes that warps read from shared memory for a block of rows.
static double getReads(const SparsePlan &plan) {
  double perTile =
      double(plan.stepsK) * plan.getPackedRowBytes(false) *
      (plan.getRows() * plan.resultWarps + plan.getResults() * plan.rowWarps);
  return perTile * plan.getTilesPerRows();
}

/// Tiles of `rows` for `warps` of a warp group, of up to `mostSums` matrix
/// tiles per warp. Whether there are any.
static bool chooseTile(SparsePlan &plan, int64_t rows, int64_t warps,
                       int64_t mostSums) {
  std::optional<SparsePlan> best;
  int64_t products = plan.getParts() * plan.laneChunks;
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.chunkK / 2, 1)
                     : 1;
  auto getCost = [&](const SparsePlan &plan) {
    // A multiply-add of f32 takes three of TF32, each twice as long.
    double perByte = plan.is16BitFloat() ? 10 : 1.7;
    return getMultiplyAdds(plan) / perByte + getReads(plan);
  };
  int64_t mostTiles = plan.keepsFactor ? warps : 1;
  for (int64_t tileWarps = 1; tileWarps <= mostTiles; tileWarps *= 2)
    for (int64_t rowWarps = 1; rowWarps * tileWarps <= warps; rowWarps *= 2) {
      SparsePlan tile = plan;
      tile.tileWarps = tileWarps;
      tile.rowWarps = rowWarps;
      tile.resultWarps = warps / tileWarps / rowWarps;
      tile.rowTiles = 1;
      tile.rowTiles = rows / tile.getRows();
      if (tile.getRows() != rows || tile.rowTiles > 4)
        continue;
      // Rows that a thread has are whole chunks, and a power of two of them.
      if (plan.turnsRows && (tile.getThreadRows() % plan.getChunk() != 0 ||
                             !llvm::isPowerOf2_64(tile.rowTiles)))
        continue;
      for (tile.resultTiles = unit;
           tile.resultTiles * tile.rowTiles * products <= mostSums;
           tile.resultTiles *= 2) {
        // Those that wait for each other have as many tiles.
        if (!tile.readsShared && tile.getTilesPerRows() % tileWarps != 0)
          continue;
        chooseKStep(tile);
        if (!best || getCost(tile) < getCost(*best))
          best = tile;
      }
    }
  if (!best)
    return false;
  plan = *best;
  return true;
}

/// Rows in shared memory are odd multiples of 64 bytes: those of two rows that
/// are read at a time lie in different banks.
static int64_t padRow(int64_t bytes) { return llvm::alignTo(bytes, 128) + 64; }

/// Of the rows that a chain step reads.
static int64_t getRowBytes(const SparsePlan &plan) {
  int64_t regions = plan.getLaneBlocks();
  for (int64_t size : plan.groupSizes)
    regions *= size;
  return padRow(regions * plan.getRegionBytes());
}

/// Seconds that an SM's matrix units need for all multiply-adds of `products`,
/// at their full rate.
static double getProductSeconds(const SparsePlan &stage, double products,
                                const GPUMachine &machine) {
  double rate = stage.is16BitFloat()               ? machine.f16Mma
                : stage.math != MmaMath::SplitTF32 ? machine.tf32Mma
                : stage.has16BitResiduals          ? machine.tf32Mma / 2
                                                   : machine.tf32Mma / 3;
  return 2 * products * machine.numSMs / rate;
}

/// Seconds for `rows` rows: what takes longest of a warp group's steps one
/// after the other, what all warp groups of an SM compute, reading from the
/// second-level cache and from memory.
double kron::estimateSparseChain(const SparseChainPlan &plan, double rows,
                                 const GPUMachine &machine) {
  double busy = 0, waits = 0, cached = 0, kept = 0;
  for (const SparsePlan &stage : plan.stages) {
    busy +=
        getProductSeconds(stage, getMultiplyAdds(stage), machine) / kChainShare;
    if (stage.writesShared)
      busy += kHandOnSeconds * plan.getRows() * getFeatures(stage).second;
    if (stage.leavesRows())
      busy += kQuantizeSeconds * plan.getRows() * getFeatures(stage).second;
    double tiles = llvm::divideCeil(stage.getTilesPerRows(), stage.tileWarps);
    double steps = tiles * stage.stepsK;
    waits += steps * kStepSeconds;
    cached += steps * stage.getCopiedBytes();
    (stage.keepsFactor ? kept : cached) +=
        steps * stage.tileWarps * stage.getFactorBytes();
  }
  int64_t warpGroups = plan.ctasPerSM * plan.getWarpGroups();
  double rounds =
      std::ceil(std::ceil(rows / plan.getRows()) / machine.numSMs / warpGroups);
  double onChip =
      rounds * std::max(busy + waits, warpGroups * (busy + kStepShare * waits));
  double fromCache = machine.numSMs * (rounds * warpGroups * cached + kept) /
                     (kCacheRate * machine.copyBytesPerSecond);
  double memory = rows * plan.getRowBytes() / machine.copyBytesPerSecond;
  // Part of what is copied waits for what is computed.
  return machine.launchSeconds + std::max({onChip, fromCache, memory / 0.75}) +
         0.1 * memory;
}

double kron::estimateSparseKernels(const SparseChainPlan &plan, double rows,
                                   const GPUMachine &machine) {
  double seconds = 0;
  for (const SparsePlan &stage : plan.stages) {
    auto [before, behind] = getFeatures(stage);
    double perSM = rows * before * stage.sizeN / machine.numSMs;
    double products = getProductSeconds(stage, perSM, machine);
    double memory = rows * (before + behind) * stage.elementBytes /
                    machine.copyBytesPerSecond;
    products /= kAloneShare;
    memory /= kAloneMemoryShare;
    seconds += kAloneSeconds + std::max(products, memory) +
               kAloneExposed * std::min(products, memory);
  }
  return seconds;
}

namespace {
/// How an SM's warps share rows.
struct Form {
  int64_t ctas, warpGroups;
  bool keepsFactors;
};
} // namespace

/// Of those that are as good, the first one, with the most rows. With more
/// warps than eight there are registers for too few sums of each.
static constexpr Form kForms[] = {{1, 2, true},  {1, 4, true}, {2, 1, false},
                                  {1, 1, false}, {1, 1, true}, {2, 1, true}};
static constexpr int64_t kWarps = 8;

/// The plan of blocks of `rows` per warp group in this `form`, if they fit.
/// Warp groups of a CTA keep the factors.
static std::optional<SparseChainPlan>
chooseStages(ArrayRef<SparsePlan> stages, int64_t rows, int64_t stepBytes,
             Form form, bool quantizes, const GPUMachine &machine) {
  SparseChainPlan plan;
  plan.ctasPerSM = form.ctas;
  int64_t warpGroups = form.ctas * form.warpGroups;
  for (const SparsePlan &described : stages) {
    SparsePlan stage = described;
    stage.stepBytes = stepBytes;
    stage.ctasPerSM = form.ctas;
    stage.warpGroups = form.warpGroups;
    stage.keepsFactor = form.keepsFactors;
    int64_t mostSums = warpGroups > 1 ? 16 : 32;
    if (stage.hasPartialSums)
      mostSums /= 2;
    stage.readsShared = !plan.stages.empty();
    if (!chooseTile(stage, rows, kWarps / warpGroups, mostSums))
      return std::nullopt;
    stage.writesShared = plan.stages.size() + 1 < stages.size();
    if (stage.readsShared)
      stage.sharedRowBytes = getRowBytes(stage);
    stage.stages = kMostStages;
    plan.stages.push_back(stage);
  }
  if (SparsePlan &last = plan.stages.back(); quantizes)
    last.resultRowBytes = padRow(getFeatures(last).second * last.elementBytes);
  while (plan.getSharedBytes() > machine.getSharedBytes(form.ctas)) {
    SparsePlan *largest = nullptr;
    for (SparsePlan &stage : plan.stages)
      if (stage.hasRing() && stage.stages > 2 &&
          (!largest || stage.getStageBytes() > largest->getStageBytes()))
        largest = &stage;
    if (!largest)
      return std::nullopt;
    --largest->stages;
  }
  return plan;
}

/// The rows of all that `products` compute, on `rowAxis`.
static int64_t getRowCount(ArrayRef<ModeProductOp> products, unsigned rowAxis) {
  ModeProductOp last = products.back();
  return cast<ShapedType>(last.getInit().getType()).getDimSize(rowAxis);
}

double kron::getNominalSparseRows(ArrayRef<ModeProductOp> products) {
  int64_t rows = getRowCount(products, *getRegroupedRows(products));
  return ShapedType::isDynamic(rows) ? kNominalRows : rows;
}

/// Whether what is read and what is stored have the same elements. Between two
/// factors, and in front of an epilogue, they may be wider.
static bool hasOneElementType(ArrayRef<ModeProductOp> products) {
  ModeProductOp first = products.front(), last = products.back();
  auto fused = dyn_cast<FusedOp>(last->getParentOp());
  Type element = getElementType(first.getInput());
  return getElementType(fused ? fused.getInit() : last.getInit()) == element &&
         llvm::all_of(products, [&](ModeProductOp product) {
           return getElementType(product.getFactor()) == element;
         });
}

std::variant<SparseChainPlan, std::string>
kron::getSparseChainPlan(ArrayRef<ModeProductOp> products,
                         const GPUMachine &machine, bool quantizes) {
  if (!hasOneElementType(products))
    return "arrays have different element types";
  std::optional<unsigned> rowAxis = getRegroupedRows(products);
  if (!rowAxis)
    return "rows are neither the first axis nor the last one";
  if (quantizes && *rowAxis > 0)
    return "the batch is last";
  std::vector<SparsePlan> stages(products.size());
  stages.front().alongRows = stages.back().turnsRows = *rowAxis > 0;
  for (auto [product, stage] : llvm::zip_equal(products, stages))
    if (std::optional<std::string> reason =
            describeStage(product, *rowAxis, stage))
      return *reason;
  if (getRowCount(products, *rowAxis) == 0)
    return "an array has no elements";
  double nominal = getNominalSparseRows(products);
  std::optional<SparseChainPlan> best;
  for (const Form &form : kForms)
    for (int64_t blockRows : {256, 192, 128, 96, 64, 48, 32, 16}) {
      // One factor's K steps are short: nothing would overlap the quantization
      // of a warp group that is alone.
      if (quantizes && products.size() == 1 && form.ctas * form.warpGroups == 1)
        continue;
      std::optional<SparseChainPlan> plan;
      for (int64_t stepBytes : {kStepBytes, kShortStepBytes})
        if (!plan)
          plan = chooseStages(stages, blockRows, stepBytes, form, quantizes,
                              machine);
      if (!plan)
        continue;
      plan->seconds = estimateSparseChain(*plan, nominal, machine);
      if (!best || plan->seconds < best->seconds)
        best = plan;
    }
  if (!best)
    return "a block of rows does not fit in shared memory";
  // Chain steps that share a place would leave values behind the end of K.
  bool isPadded = llvm::any_of(best->stages, [](const SparsePlan &stage) {
    return stage.readsShared && stage.stepsK * stage.stepK != stage.sizeK;
  });
  if (isPadded && best->stages.size() + quantizes > 3)
    return "a size K is padded, and more than three steps share memory";
  best->secondsAlone = estimateSparseKernels(*best, nominal, machine);
  return *best;
}
