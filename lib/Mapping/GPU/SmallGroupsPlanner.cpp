//===- SmallGroupsPlanner.cpp - Which small groups threads take -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Mapping/GPU/SparsePlanner.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/SmallGroupsPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Registers of a thread that hold no elements.
static constexpr int64_t kOtherRegisters = 36;

/// Whether tiles would be worse.
static bool isWorthwhile(const SmallGroupsProblem &problem,
                         const SmallGroupsRates &rates) {
  bool areMany =
      ShapedType::isDynamic(problem.rows) || problem.rows >= rates.leastRows;
  return areMany && problem.groups >= (problem.sizeN < rates.fullTileResults
                                           ? rates.leastGroups
                                           : rates.leastFullGroups);
}

/// Chooses what threads of a CTA take; `take` returns what is given of a field,
/// or what is chosen.
static void
chooseThreads(SmallGroupsPlan &plan, const GPUMachine &machine,
              function_ref<int64_t(StringRef name, int64_t chosen)> take) {
  const SmallGroupsTiles &tiles = getGPUTiles(machine).smallGroups;
  int64_t chunks = plan.getChunks();
  int64_t blocks = llvm::divideCeil(chunks, tiles.mostThreads);
  plan.blockChunks = take("row_chunks", llvm::divideCeil(chunks, blocks));
  int64_t rowsBeside = std::max<int64_t>(
      tiles.leastThreads / std::max<int64_t>(plan.blockChunks, 1), 1);
  plan.threads =
      take("threads", llvm::alignTo(plan.blockChunks * rowsBeside, 32));
  // Weights, and the input of these rows and of the next ones, as it comes.
  int64_t bytes = getElementBytes(plan.element);
  int64_t inputs =
      plan.piece * bytes < 4 ? plan.getInputs() : plan.getInputs() * bytes / 4;
  auto getRegisters = [&](int64_t rows) {
    int64_t selects = plan.isRegular ? 0 : plan.chunk * plan.span;
    return plan.chunk * plan.sizeK + inputs * (rows + 1) + selects +
           kOtherRegisters;
  };
  plan.rowsAtOnce = tiles.mostRowsAtOnce;
  while (plan.rowsAtOnce > 1 &&
         getRegisters(plan.rowsAtOnce) > tiles.mostRegisters)
    plan.rowsAtOnce /= 2;
  plan.rowsAtOnce = take("row_tiles", plan.rowsAtOnce);
  int64_t registers = llvm::alignTo(getRegisters(plan.rowsAtOnce), 8);
  int64_t threads = std::max<int64_t>(plan.threads, 32);
  plan.ctasPerSM =
      take("ctas_per_sm",
           std::clamp<int64_t>(machine.registersPerSM / (registers * threads),
                               1, machine.maxThreadsPerSM / threads));
}

/// Chooses what warps take: all results of a group, or as many as sums do not
/// take too many registers for.
static void
chooseWarps(SmallGroupsPlan &plan, const SmallGroupsTiles &tiles,
            function_ref<int64_t(StringRef name, int64_t chosen)> take) {
  constexpr int64_t kChunkTiles = 4;
  int64_t resultTiles = llvm::divideCeil(plan.sizeN, 8);
  plan.resultTiles =
      take("result_tiles",
           std::min<int64_t>(tiles.mostResultTiles,
                             llvm::alignTo(resultTiles, kChunkTiles)));
  plan.rowsAtOnce = take("row_tiles", tiles.rowTiles);
  plan.threads = take("threads", tiles.warpThreads);
  plan.ctasPerSM = take("ctas_per_sm", tiles.ctasPerSM);
}

/// That `plan` does not have the first of the given fields, or has it
/// otherwise; empty if there is none. Of what is wanted of tiles of a sparse
/// kernel, it has nothing but the size of CTAs.
static std::string getContradiction(GPUPlanAttr given, GPUPlanAttr plan) {
  if (given.getKernel() != GPUKernel::SmallGroups)
    for (NamedAttribute field : given.getFields()) {
      StringRef name = field.getName();
      bool isCommon = name == "threads" || name == "ctas_per_sm" ||
                      name == "min_rows" || name == "regions";
      if (!isCommon && findPlanField(GPUKernel::Sparse, name))
        return ("no small_groups plan has " + name + " = " +
                getFieldValueText(field.getValue()))
            .str();
    }
  return kron::findContradiction(given.without("min_rows"), plan);
}

std::variant<GPUPlanAttr, std::string>
kron::planSmallGroups(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  bool isWanted = GivenPlan(given).names(GPUKernel::SmallGroups);
  if (isWanted && given.isComplete()) {
    auto plan = readSmallGroupsPlan(fused, given);
    if (auto *reason = std::get_if<std::string>(&plan))
      return *reason;
    return given.without("regions").without("min_rows");
  }
  auto problem = describeSmallGroups(fused);
  if (auto *reason = std::get_if<std::string>(&problem))
    return *reason;
  SmallGroupsPlan plan(std::get<SmallGroupsProblem>(problem));
  if (!isWanted && !isWorthwhile(plan, getGPURates(machine).smallGroups))
    return "there are few rows, or few groups";
  auto take = [&](StringRef name, int64_t chosen) {
    return GivenPlan(given).get(name, chosen);
  };
  if (plan.usesMma)
    chooseWarps(plan, getGPUTiles(machine).smallGroups, take);
  else
    chooseThreads(plan, machine, take);
  PlanWriter writer(fused.getContext(), GPUKernel::SmallGroups);
  SmallGroupsChoices::visitFields(writer, plan);
  GPUPlanAttr attr = writer.getPlan();
  if (!given)
    return attr;
  auto read = readSmallGroupsPlan(fused, attr);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  std::string contradiction = getContradiction(given, attr);
  if (!contradiction.empty())
    return contradiction;
  return attr;
}

std::optional<KernelTime> kron::estimateSmallGroups(FusedOp fused,
                                                    const Problem &problem,
                                                    const GPUMachine &machine) {
  const SmallGroupsRates &rates = getGPURates(machine).smallGroups;
  if (!std::holds_alternative<GPUPlanAttr>(planSmallGroups(fused, machine)))
    return std::nullopt;
  auto groups = std::get<SmallGroupsProblem>(describeSmallGroups(fused));
  GPUResources resources(machine);
  KernelTime time;
  time.memory = resources.getMemorySeconds(problem.getMemoryBytes());
  time.floor = resources.getLaunchSeconds() + time.memory;
  time.arithmetic = resources.getMultiplySeconds(
      problem.outputElements * groups.sizeK,
      {groups.usesMma ? MathUnit::MmaF16 : MathUnit::F32}, rates.issueShare);
  time.total = resources.getLaunchSeconds() +
               std::max(time.memory / rates.copyShare, time.arithmetic);
  return time;
}
