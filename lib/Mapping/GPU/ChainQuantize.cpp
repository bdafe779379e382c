//===- ChainQuantize.cpp - Whether sparse factors end in 8 bits -----------===//
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

#include "ChainSearch.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/Resources.h"

using namespace mlir;
using namespace mlir::kron;

/// The plan of one kernel, or why there is none.
static std::variant<ChainCandidate, std::string>
search(FusedOp fused, const GPUMachine &machine) {
  Type element = getElementType(fused.getInit());
  if (llvm::any_of(fused.getInputs(), [&](Value array) {
        return getElementType(array) != element;
      }))
    return "arrays are of different types";
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (given && given.getKernel() != GPUKernel::Chain &&
      !given.without("regions").getFields().empty())
    return "the plan names tiles of the product";
  return searchChain(fused.getModeProducts(), machine, /*quantizes=*/true,
                     given);
}

/// Seconds that kernels of their own take for `rows` rows of what `plan` does.
static double estimateSeparate(FusedOp fused, const ChainPlan &plan,
                               double rows, const GPUMachine &machine) {
  double bytes =
      rows * plan.getResultFeatures() * (plan.steps.back().elementBytes + 1);
  GPUResources resources(machine);
  double seconds =
      resources.getLaunchSeconds() + resources.getMemorySeconds(bytes);
  if (!isRegrouped(fused)) {
    bool isSplit = plan.steps.front().math == MmaMath::SplitTF32;
    return (isSplit ? getGPURates(machine).chain.warpgroupFactor : 1) *
           (seconds + estimateSparseKernels(plan, rows, machine));
  }
  auto chain = searchChain(fused.getModeProducts(), machine);
  auto *alone = std::get_if<ChainCandidate>(&chain);
  return seconds +
         estimateSparseChain(alone ? alone->plan : plan, rows, machine);
}

/// Why two kernels had better compute what `found` does, or nothing.
static std::optional<std::string> getSeparateReason(FusedOp fused,
                                                    const ChainCandidate &found,
                                                    const GPUMachine &machine) {
  double rows = getNominalSparseRows(fused.getModeProducts());
  if (!isRegrouped(fused) &&
      rows < getGPURates(machine).chain.leastQuantizedRows)
    return "there are few rows";
  double separate = estimateSeparate(fused, found.plan, rows, machine);
  if (found.seconds <= separate)
    return std::nullopt;
  auto text = [](double seconds) {
    return std::to_string(static_cast<int64_t>(seconds * 1e6 + 0.5));
  };
  return "one of whole rows takes " + text(found.seconds) + " us, both " +
         text(separate) + " us";
}

bool kron::asksForQuantizing(FusedOp fused) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  // One factor is nothing else to the kernel of chains.
  bool isOfRows = given && given.getKernel() == GPUKernel::Chain &&
                  !isRegrouped(fused) && !given.has("quantize");
  return given && (isOfRows || given.get("quantize"));
}

std::variant<GPUPlanAttr, std::string>
kron::planQuantizedChain(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  bool isForChain = given && given.getKernel() == GPUKernel::Chain;
  bool isWanted = isForChain && asksForQuantizing(fused);
  if (isForChain && !isWanted && (given.has("quantize") || given.isComplete()))
    return "the plan says so";
  if (isWanted && given.isComplete()) {
    if (std::optional<std::string> reason =
            getCompleteChainReason(fused, given, machine))
      return *reason;
    return given.without("regions");
  }
  auto planOrReason = search(fused, machine);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return *reason;
  const auto &found = std::get<ChainCandidate>(planOrReason);
  if (!isWanted)
    if (std::optional<std::string> reason =
            getSeparateReason(fused, found, machine))
      return *reason;
  GPUPlanAttr plan = writeChainPlan(fused.getContext(), found.plan);
  // A chain is one kernel for any number of rows.
  if (isRegrouped(fused) ||
      !cast<ShapedType>(fused.getInit().getType()).isDynamicDim(0))
    return plan;
  // Each SM shall have a block.
  int64_t minRows = std::max(getGPURates(machine).chain.leastQuantizedRows,
                             machine.numSMs * found.plan.rows);
  if (isForChain && given.has("min_rows"))
    minRows = given.get("min_rows");
  return plan.with("min_rows", minRows);
}
