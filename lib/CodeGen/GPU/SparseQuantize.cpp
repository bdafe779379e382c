//===- SparseQuantize.cpp - Whether sparse factors end in 8 bits ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where whole rows fit, the kernel of chains takes them through all factors (or
// the only one) and quantizes them to 8 bits. That saves writing and reading
// the product; whether it pays depends on how well blocks of whole rows suit
// the factors.
//
//===----------------------------------------------------------------------===//

#include "SparseChain.h"
#include "SparseChainPlan.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"

using namespace mlir;
using namespace mlir::kron;

/// Behind one factor: fewer rows than that are faster in two kernels.
static constexpr int64_t kLeastRows = 2048;
/// Kernels of one factor of f32 may multiply by warpgroups: what they take of
/// the time that is estimated for them.
static constexpr double kSplitShare = 0.87;

/// The plan of one kernel, or why there is none.
static std::variant<SparseChainPlan, std::string>
getPlan(FusedOp fused, const GPUMachine &machine) {
  Type element = getElementType(fused.getInit());
  if (llvm::any_of(fused.getInputs(), [&](Value array) {
        return getElementType(array) != element;
      }))
    return "arrays are of different types";
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (given && (given.getThreads() || given.getCtasPerSm()))
    return "the plan names tiles of the product";
  auto plan =
      getSparseChainPlan(fused.getModeProducts(), machine, /*quantizes=*/true);
  if (auto *found = std::get_if<SparseChainPlan>(&plan))
    if (found->getResultFeatures() % found->stages.front().getChunk() != 0)
      return "rows are not made of chunks of 16 bytes";
  return plan;
}

/// Seconds that kernels of their own take for `rows` rows of what `plan` does.
static double estimateSeparate(FusedOp fused, const SparseChainPlan &plan,
                               double rows, const GPUMachine &machine) {
  double bytes =
      rows * plan.getResultFeatures() * (plan.stages.back().elementBytes + 1);
  double seconds = machine.launchSeconds + bytes / machine.copyBytesPerSecond;
  if (!isRegrouped(fused)) {
    bool isSplit = plan.stages.front().math == MmaMath::SplitTF32;
    return (isSplit ? kSplitShare : 1) *
           (seconds + estimateSparseKernels(plan, rows, machine));
  }
  auto chain = getSparseChainPlan(fused.getModeProducts(), machine);
  auto *problem = std::get_if<SparseChainPlan>(&chain);
  return seconds +
         estimateSparseChain(problem ? *problem : plan, rows, machine);
}

std::optional<std::string>
kron::getSparseQuantizeReason(FusedOp fused, const GPUMachine &machine) {
  auto planOrReason = getPlan(fused, machine);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return *reason;
  const auto &plan = std::get<SparseChainPlan>(planOrReason);
  double rows = getNominalSparseRows(fused.getModeProducts());
  if (!isRegrouped(fused) && rows < kLeastRows)
    return "there are few rows";
  double separate = estimateSeparate(fused, plan, rows, machine);
  if (plan.seconds <= separate)
    return std::nullopt;
  auto text = [](double seconds) {
    return std::to_string(static_cast<int64_t>(seconds * 1e6 + 0.5));
  };
  return "one of whole rows takes " + text(plan.seconds) + " us, both " +
         text(separate) + " us";
}

std::optional<int64_t> kron::getFewestQuantizedRows(FusedOp fused,
                                                    const GPUMachine &machine) {
  auto planOrReason = getPlan(fused, machine);
  auto *plan = std::get_if<SparseChainPlan>(&planOrReason);
  // A chain is one kernel for any number of rows.
  if (!plan || isRegrouped(fused) ||
      !cast<ShapedType>(fused.getInit().getType()).isDynamicDim(0))
    return std::nullopt;
  // Each SM shall have a block.
  return std::max(kLeastRows, machine.numSMs * plan->getRows());
}

LogicalResult kron::emitQuantizedSparseKernel(OpBuilder &builder,
                                              gpu::GPUModuleOp gpuModule,
                                              FusedOp fused,
                                              const GPUMachine &machine,
                                              QuantizeOp quantize) {
  return emitSparseChain(builder, gpuModule, fused, machine, quantize);
}
