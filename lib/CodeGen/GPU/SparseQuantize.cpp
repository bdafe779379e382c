//===- SparseQuantize.cpp - Whether sparse factors end in 8 bits ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where whole rows fit, the kernel of chains takes them through all factors (or
// the only one) and on to 8 bits. That saves writing and reading the product;
// whether it pays depends on how well blocks of whole rows suit the factors.
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
getPlan(PassOp pass, const GPUMachine &machine) {
  Type element = getElementType(pass.getInit());
  if (llvm::any_of(pass.getInputs(), [&](Value array) {
        return getElementType(array) != element;
      }))
    return "arrays are of different types";
  ScheduleAttr given = pass.getScheduleAttr();
  if (given && (given.getThreads() || given.getCtasPerSm()))
    return "the schedule names tiles of the product";
  auto plan =
      getSparseChainPlan(pass.getModeProducts(), machine, /*quantizes=*/true);
  if (auto *found = std::get_if<SparseChainPlan>(&plan))
    if (found->getResultFeatures() % found->stages.front().getChunk() != 0)
      return "rows are not made of chunks of 16 bytes";
  return plan;
}

/// Seconds that kernels of their own take for `rows` rows of what `plan` does.
static double estimateSeparate(PassOp pass, const SparseChainPlan &plan,
                               double rows, const GPUMachine &machine) {
  double bytes =
      rows * plan.getResultFeatures() * (plan.stages.back().elementBytes + 1);
  double seconds = machine.launchSeconds + bytes / machine.copyBytesPerSecond;
  if (!isRegrouped(pass)) {
    bool isSplit = plan.stages.front().math == MmaMath::SplitTF32;
    return (isSplit ? kSplitShare : 1) *
           (seconds + estimateSparseTrips(plan, rows, machine));
  }
  auto chain = getSparseChainPlan(pass.getModeProducts(), machine);
  auto *trip = std::get_if<SparseChainPlan>(&chain);
  return seconds + estimateSparseChain(trip ? *trip : plan, rows, machine);
}

std::optional<std::string>
kron::getSparseQuantizeReason(PassOp pass, const GPUMachine &machine) {
  auto planOrReason = getPlan(pass, machine);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return *reason;
  const auto &plan = std::get<SparseChainPlan>(planOrReason);
  double rows = getNominalSparseRows(pass.getModeProducts());
  if (!isRegrouped(pass) && rows < kLeastRows)
    return "there are few rows";
  double separate = estimateSeparate(pass, plan, rows, machine);
  if (plan.seconds <= separate)
    return std::nullopt;
  auto text = [](double seconds) {
    return std::to_string(static_cast<int64_t>(seconds * 1e6 + 0.5));
  };
  return "one of whole rows takes " + text(plan.seconds) + " us, both " +
         text(separate) + " us";
}

std::optional<int64_t> kron::getFewestQuantizedRows(PassOp pass,
                                                    const GPUMachine &machine) {
  auto planOrReason = getPlan(pass, machine);
  auto *plan = std::get_if<SparseChainPlan>(&planOrReason);
  // A chain is one kernel for any number of rows.
  if (!plan || isRegrouped(pass) ||
      !cast<ShapedType>(pass.getInit().getType()).isDynamicDim(0))
    return std::nullopt;
  // Each processor shall have a block.
  return std::max(kLeastRows, machine.processors * plan->getRows());
}

LogicalResult kron::emitQuantizedSparsePass(OpBuilder &builder,
                                            gpu::GPUModuleOp gpuModule,
                                            PassOp pass,
                                            const GPUMachine &machine,
                                            QuantizeOp quantize) {
  return emitSparseChain(builder, gpuModule, pass, machine, quantize);
}
