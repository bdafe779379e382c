//===- SmallGroupsPlan.cpp - Which small groups threads take --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SmallGroups.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Problem.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes that a thread stores at a time.
static constexpr int64_t kChunkBytes = 16;
/// K up to which a thread has registers for the weights of a chunk, and
/// elements of the input that it has some for.
static constexpr int64_t kMostK = 8, kMostInputs = 64;
/// K of one matrix instruction, and 16-bit values that a lane loads for it.
static constexpr int64_t kMostMmaK = 16, kMmaPiece = 4;
/// Rows for which weights are worth keeping, and groups of which tiles would be
/// too small; more groups where a tile is full of their results.
static constexpr int64_t kLeastRows = 1024, kLeastGroups = 16;
static constexpr int64_t kFullTile = 64, kLeastFullGroups = 256;
/// Threads of a CTA, and rows that a thread takes at a time at most.
static constexpr int64_t kLeastThreads = 128, kMostThreads = 256,
                         kMostRowsAtOnce = 4;
/// Registers of a thread at most, and those that hold no elements.
static constexpr int64_t kMostRegisters = 128, kOtherRegisters = 36;

int64_t SmallGroupsPlan::getResultBlocks() const {
  return llvm::divideCeil(sizeN, 8 * resultTiles);
}

int64_t SmallGroupsPlan::getBlocks() const {
  return usesMma ? llvm::divideCeil(groups * getResultBlocks(), threads / 32)
                 : llvm::divideCeil(getChunks(), blockChunks);
}

static int64_t getPowerOfTwo(int64_t number) { return number & -number; }

/// Sorts the axes of `fused`; whether they are those of groups side by side in
/// rows of both arrays.
static bool describeAxes(FusedOp fused, SmallGroupsPlan &plan) {
  ModeProductOp product = fused.getModeProducts().front();
  ProblemFactor factor = describeFactor(product);
  SmallVector<int64_t> shape = getResultShape(product);
  SmallVector<int64_t> input = getKnownStrides(fused.getInputs().front()),
                       output = getKnownStrides(fused.getInit());
  if (factor.varyingAxes.size() != 1 || fused.getInputPermutation() ||
      input.size() != output.size())
    return false;
  plan.axis = factor.axis;
  plan.groupAxis = factor.varyingAxes.front();
  plan.groups = factor.variations;
  plan.sizeK = factor.sizeK;
  plan.sizeN = factor.sizeN;
  int64_t rowAxis = -1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size == 1 || axis == plan.axis || axis == plan.groupAxis)
      continue;
    if (rowAxis >= 0)
      return false;
    rowAxis = axis;
  }
  ArrayRef<int64_t> inputShape =
      cast<MemRefType>(fused.getInputs().front().getType()).getShape();
  if (rowAxis < 0 || inputShape[plan.groupAxis] != plan.groups ||
      (output[plan.axis] != 1 && plan.sizeN > 1) ||
      (input[plan.axis] != 1 && plan.sizeK > 1) ||
      output[plan.groupAxis] != plan.sizeN ||
      input[plan.groupAxis] != plan.sizeK)
    return false;
  plan.rowAxis = rowAxis;
  int64_t rows = shape[rowAxis], rowStride = output[rowAxis];
  plan.chunk = kChunkBytes / getElementBytes(plan.element);
  if ((!ShapedType::isDynamic(rows) && rows < kLeastRows) ||
      plan.groups <
          (plan.sizeN < kFullTile ? kLeastGroups : kLeastFullGroups) ||
      plan.groups * plan.sizeN % plan.chunk != 0 ||
      (!ShapedType::isDynamic(rowStride) && rowStride % plan.chunk != 0))
    return false;
  // Accesses to the input start where a group does, or a chunk's first one.
  bool areWhole = plan.chunk % plan.sizeN == 0;
  plan.isRegular = areWhole || plan.sizeN % plan.chunk == 0;
  plan.span = areWhole         ? plan.chunk / plan.sizeN
              : plan.isRegular ? 1
                               : (plan.chunk - 2) / plan.sizeN + 2;
  plan.piece = std::min(getPowerOfTwo(plan.getRun()), plan.chunk);
  int64_t stride = input[rowAxis];
  if (!ShapedType::isDynamic(stride) && stride != 0)
    plan.piece = std::min(plan.piece, getPowerOfTwo(stride));
  return true;
}

/// Whether the weights of chunks follow each other.
static bool hasWeightSegments(FusedOp fused, const SmallGroupsPlan &plan) {
  ModeProductOp product = fused.getModeProducts().front();
  SmallVector<int64_t> strides =
      getKnownStrides(fused.getOperandOf(product.getFactor()));
  for (auto [stride, role] : llvm::zip(strides, product.getFactorDims())) {
    int64_t wanted = role == ModeProductOp::kContracted  ? 1
                     : role == ModeProductOp::kResulting ? plan.sizeK
                     : role == int64_t(plan.groupAxis) ? plan.sizeK * plan.sizeN
                                                       : stride;
    if (stride != wanted)
      return false;
  }
  return true;
}

/// Chooses what threads of a CTA take.
static void chooseThreads(SmallGroupsPlan &plan, const GPUMachine &machine) {
  int64_t chunks = plan.getChunks();
  plan.blockChunks =
      llvm::divideCeil(chunks, llvm::divideCeil(chunks, kMostThreads));
  plan.rowsBeside = std::max<int64_t>(kLeastThreads / plan.blockChunks, 1);
  plan.threads = llvm::alignTo(plan.blockChunks * plan.rowsBeside, 32);
  // Weights, and the input of these rows and of the next ones, as it comes.
  int64_t bytes = getElementBytes(plan.element);
  int64_t inputs =
      plan.piece * bytes < 4 ? plan.getInputs() : plan.getInputs() * bytes / 4;
  auto getRegisters = [&](int64_t rows) {
    int64_t selects = plan.isRegular ? 0 : plan.chunk * plan.span;
    return plan.chunk * plan.sizeK + inputs * (rows + 1) + selects +
           kOtherRegisters;
  };
  plan.rowsAtOnce = kMostRowsAtOnce;
  while (plan.rowsAtOnce > 1 && getRegisters(plan.rowsAtOnce) > kMostRegisters)
    plan.rowsAtOnce /= 2;
  int64_t registers = llvm::alignTo(getRegisters(plan.rowsAtOnce), 8);
  plan.ctasPerSM =
      std::clamp<int64_t>(machine.registersPerSM / (registers * plan.threads),
                          1, machine.maxThreadsPerSM / plan.threads);
}

/// Chooses what warps take: all results of a group, or as many as sums do not
/// take too many registers for.
static void chooseWarps(SmallGroupsPlan &plan) {
  constexpr int64_t kMostTiles = 16, kChunkTiles = 4;
  int64_t tiles = llvm::divideCeil(plan.sizeN, 8);
  plan.resultTiles =
      std::min<int64_t>(kMostTiles, llvm::alignTo(tiles, kChunkTiles));
  plan.rowsAtOnce = 4;
  plan.threads = 128;
  plan.ctasPerSM = 3;
}

/// Whether threads, or warps, have registers for the weights, and what they
/// access is aligned.
static bool chooseKind(FusedOp fused, SmallGroupsPlan &plan) {
  plan.hasWeightSegments = hasWeightSegments(fused, plan);
  if (plan.sizeK <= kMostK)
    return plan.getInputs() <= kMostInputs;
  plan.usesMma = true;
  return plan.chunk == kChunkBytes / 2 && plan.sizeK <= kMostMmaK &&
         plan.piece >= kMmaPiece && plan.sizeN % plan.chunk == 0 &&
         plan.hasWeightSegments;
}

std::optional<SmallGroupsPlan>
kron::getSmallGroupsPlan(FusedOp fused, const GPUMachine &machine) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (!isa<MemRefType>(fused.getInit().getType()) || products.size() != 1 ||
      fused.getEpilogue() ||
      (given && (given.getThreads() || given.getCtasPerSm())))
    return std::nullopt;
  ModeProductOp product = products.front();
  SmallGroupsPlan plan;
  plan.element = kron::getElementType(fused.getInit());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(plan.element) ||
      kron::getElementType(fused.getInputs().front()) != plan.element ||
      kron::getElementType(product.getFactor()) != plan.element ||
      !cast<ShapedType>(product.getFactor().getType()).hasStaticShape() ||
      !kron::getBeta(product).isZero() || !describeAxes(fused, plan) ||
      !chooseKind(fused, plan))
    return std::nullopt;
  if (plan.usesMma)
    chooseWarps(plan);
  else
    chooseThreads(plan, machine);
  return plan;
}

std::optional<KernelTime> kron::estimateSmallGroups(FusedOp fused,
                                                    const Problem &problem,
                                                    const GPUMachine &machine) {
  constexpr double kMemoryShare = 0.85, kIssueShare = 0.5;
  std::optional<SmallGroupsPlan> plan = getSmallGroupsPlan(fused, machine);
  if (!plan)
    return std::nullopt;
  KernelTime time;
  double bytes = problem.getMemoryBytes();
  time.floor = machine.getCopySeconds(bytes);
  time.memory = bytes / machine.copyBytesPerSecond;
  time.arithmetic =
      2 * problem.outputElements * plan->sizeK /
      (kIssueShare * (plan->usesMma ? machine.f16Mma : machine.ffma));
  time.total = machine.launchSeconds +
               std::max(time.memory / kMemoryShare, time.arithmetic);
  return time;
}
