//===- SparseGradPlan.cpp - Tiles of a gradient by sparse weights ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/SparseGradPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::kron;

/// Threads of a CTA, registers of a thread, and rows of operand B, at most.
static constexpr int64_t kMostThreads = 1024, kMostRegisters = 255;
static constexpr int64_t kMostColumnTiles = 32;
/// Warps that have chunks of t next to each other, at most.
static constexpr int64_t kMostLaneWarps = 4;

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

bool kron::hasGradientKernels(KsmmGradOp gradient) {
  Type element = getElementType(gradient.getInit());
  return isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element) &&
         getElementType(gradient.getInput()) == element &&
         getElementType(gradient.getGrad()) == element &&
         !(element.isF32() && gradient.getPrecision() == Precision::Ieee) &&
         !getAlpha(gradient).isZero() &&
         cast<ShapedType>(gradient.getInit().getType()).hasStaticShape();
}

SparseGradPlan kron::describeSparseGrad(KsmmGradOp gradient) {
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
  ArrayRef<int64_t> pattern = gradient.getPattern();
  plan.groups = pattern[0];
  plan.sharesGroups = gradient.sharesBlocks();
  plan.sharesLanes = gradient.sharesInner();
  plan.left.size = pattern[1];
  plan.right.size = pattern[2];
  plan.right.unit = 8;
  plan.lanes = pattern[3];
  return plan;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// What is wrong with chunks, and with warps that share out t.
static std::string findWrongChunks(const SparseGradPlan &plan) {
  if (plan.chunkBytes != 16 &&
      (plan.chunkBytes != 8 || plan.batchLast || plan.elementBytes == 8))
    return expects("chunk_bytes",
                   plan.batchLast           ? "16 with the batch last"
                   : plan.elementBytes == 8 ? "16 for f64"
                                            : "8 or 16",
                   plan.chunkBytes);
  if (plan.laneWarps < 1 || plan.laneWarps > kMostLaneWarps)
    return expects("lane_warps", "1 to 4", plan.laneWarps);
  // Chunks of rows of one t are all there are.
  int64_t own = plan.lanes & -plan.lanes;
  int64_t chunks =
      plan.batchLast ? 1 : plan.lanes / std::min(own, plan.getChunk());
  if (plan.laneWarps > chunks)
    return expects("lane_warps", "at most " + Twine(chunks), plan.laneWarps);
  return "";
}

/// What is wrong with tiles of warpgroups, which the field `name` asks for.
static std::string findWrongWarpgroups(const SparseGradPlan &plan,
                                       StringRef name) {
  std::string with = (" with " + name + " = 1").str();
  if (plan.left.tiles != 1)
    return expects("row_tiles", "1" + with, plan.left.tiles);
  if (plan.left.warps % plan.kGroupWarps != 0)
    return expects("row_warps", "a multiple of 4" + with, plan.left.warps);
  if (plan.right.tiles > kMostColumnTiles)
    return expects("column_tiles", "at most 32" + with, plan.right.tiles);
  if (plan.right.warps != 1)
    return expects("column_warps", "1" + with, plan.right.warps);
  if (plan.laneWarps != 1)
    return expects("lane_warps", "1" + with, plan.laneWarps);
  return "";
}

static std::string findWrongInstructions(const SparseGradPlan &plan) {
  if (plan.has16BitResiduals && plan.math != MmaMath::SplitTF32)
    return expects("bf16_residuals", "0 unless values of f32 are split", 1);
  if (plan.usesWgmma) {
    if (!plan.is16BitFloat() || !plan.batchLast)
      return expects("wgmma", "0 unless f16 or bf16 have the batch last", 1);
    return findWrongWarpgroups(plan, "wgmma");
  }
  if (plan.usesPackedOperands) {
    if (!plan.has16BitResiduals)
      return expects("packed_operands", "0 without bf16_residuals = 1", 1);
    return findWrongWarpgroups(plan, "packed_operands");
  }
  return "";
}

/// What is wrong with what adds up the sums of a launch.
static std::string findWrongSums(const SparseGradPlan &plan) {
  SparseGradPlan none;
  if (plan.pieces == 1 && plan.leastPiece != none.leastPiece)
    return expects("least_piece", Twine(none.leastPiece) + " with split_k = 1",
                   plan.leastPiece);
  StringRef why = " unless a second kernel adds up sums";
  if (!plan.hasSums() && plan.sumThreads != none.sumThreads)
    return expects("sum_threads", Twine(none.sumThreads) + why,
                   plan.sumThreads);
  if (!plan.hasSums() && plan.sumLoads != none.sumLoads)
    return expects("sum_loads", Twine(none.sumLoads) + why, plan.sumLoads);
  if (!llvm::isPowerOf2_64(plan.sumThreads))
    return expects("sum_threads", "a power of two", plan.sumThreads);
  int64_t ofThread = llvm::divideCeil(plan.getSumsPerWeight(), plan.sumThreads);
  if (plan.sumLoads > ofThread)
    return expects("sum_loads",
                   "at most " + Twine(ofThread) + ", the sums of a thread",
                   plan.sumLoads);
  return "";
}

std::string kron::findWrongSparseGradChoice(const SparseGradPlan &plan) {
  for (auto [name, value] : {std::pair("row_tiles", plan.left.tiles),
                             std::pair("row_warps", plan.left.warps),
                             std::pair("column_tiles", plan.right.tiles),
                             std::pair("column_warps", plan.right.warps),
                             std::pair("batch_step", plan.batchStep),
                             std::pair("ctas_per_sm", plan.ctasPerSM),
                             std::pair("split_k", plan.pieces)})
    if (value < 1)
      return expects(name, "positive", value);
  std::string reason = findWrongChunks(plan);
  if (reason.empty())
    reason = findWrongInstructions(plan);
  if (reason.empty())
    reason = findWrongSums(plan);
  if (!reason.empty())
    return reason;

  // Cut off rather than overflowing.
  auto saturate = [](std::initializer_list<int64_t> numbers) {
    uint64_t product = 1;
    for (int64_t number : numbers)
      product = llvm::SaturatingMultiply<uint64_t>(product, number);
    return static_cast<int64_t>(
        std::min<uint64_t>(product, std::numeric_limits<int32_t>::max()));
  };
  int64_t threads =
      saturate({32, plan.laneWarps, plan.left.warps, plan.right.warps});
  if (threads > kMostThreads)
    return "expects row_warps, column_warps and lane_warps to make at most "
           "1024 threads, but got " +
           std::to_string(threads);
  SparseGradPlan chunks = plan;
  chunks.setChunks();
  int64_t sums =
      saturate({4, chunks.lanesPerChunk, chunks.rowsPerChunk,
                chunks.rowsPerChunk, plan.left.tiles, plan.right.tiles});
  if (sums > kMostRegisters)
    return "expects row_tiles and column_tiles to leave a thread at most 255 "
           "sums, but got " +
           std::to_string(sums);

  // Threads share the positions out evenly.
  int64_t unit = plan.getStepUnit();
  if (plan.batchStep < unit || !llvm::isPowerOf2_64(plan.batchStep))
    return expects("batch_step", "a power of two of at least " + Twine(unit),
                   plan.batchStep);
  if (plan.hasPartialSums && plan.batchStep > kSummedK)
    return expects("batch_step",
                   "at most 64, as the sums of a step are less exact",
                   plan.batchStep);
  int64_t least = plan.usesPackedOperands ? 3 : 2;
  if (plan.stages < least)
    return expects("stages", "at least " + Twine(least), plan.stages);
  return "";
}

std::variant<SparseGradPlan, std::string>
kron::readSparseGradPlan(KsmmGradOp gradient, GPUPlanAttr attribute) {
  if (attribute.getKernel() != GPUKernel::Gradient)
    return ("expects kernel to be gradient, but got " +
            stringifyGPUKernel(attribute.getKernel()))
        .str();
  SparseGradPlan plan = describeSparseGrad(gradient);
  PlanReader reader(attribute);
  SparseGradPlan::visitFields(reader, plan);
  std::string reason = findWrongSparseGradChoice(plan);
  if (!reason.empty())
    return reason;
  plan.setChunks();
  return plan;
}

std::optional<std::string>
kron::getSparseGradMachineReason(const SparseGradPlan &plan,
                                 const GPUMachine &machine) {
  if ((plan.usesWgmma || plan.usesPackedOperands) && !machine.hasWgmma)
    return expects(plan.usesWgmma ? "wgmma" : "packed_operands",
                   "0, as the GPU has no wgmma", 1);
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}
