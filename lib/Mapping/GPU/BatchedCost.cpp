//===- BatchedCost.cpp - Times of batched kernels -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All threads between two barriers do the same: they load fibres and factors
// from shared memory, multiply, and store, one after the other. What differs
// between tiles of one array is how many threads have a fibre, how many fibres
// share the loads of a factor, and how many threads hide each other's latency.
//
//===----------------------------------------------------------------------===//

#include "BatchedCost.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

static constexpr double kLanes = 32;

/// Clocks of an SM for `step` of a tile: fibres through the factor and shared
/// memory, and loads of the factor, which all fibres of a thread share.
static double getStepClocks(const BatchedPlan &plan, const BatchedStep &step,
                            const Problem &problem, const GPUMachine &machine) {
  const ProblemFactor &factor = plan.factors[step.products.front()];
  double multiplyAdds = GPUResources(machine).getMultiplyAddsPerClock(
      getScalarMultiplication(problem.element, machine));
  double ofFibre =
      double(factor.sizeK) * factor.sizeN / multiplyAdds +
      GPUResources::getSharedClocks(double(factor.sizeK + factor.sizeN) *
                                    problem.getElementBytes());
  double ofFactor = getGPURates(machine).batched.factorClocks / kLanes *
                    factor.sizeK * llvm::divideCeil(factor.sizeN, plan.chunk);
  int64_t rounds = llvm::divideCeil(plan.getNumUnits(step), plan.threads);
  int64_t fibres = rounds * plan.getFibresPerUnit(step);
  return plan.threads *
         (fibres * ofFibre +
          llvm::divideCeil(rounds, plan.getUnitsTogether(step)) * ofFactor);
}

double kron::estimateBatchedSeconds(const BatchedPlan &plan,
                                    const Problem &problem,
                                    const GPUMachine &machine) {
  const GPURates &rates = getGPURates(machine);
  GPUResources resources(machine);
  double clocks = 0;
  for (const BatchedStep &step : plan.steps)
    clocks += getStepClocks(plan, step, problem, machine);
  double items = problem.inputElements / plan.getInput().getElements();
  double tiles = getMostTiles(std::ceil(items / plan.itemsPerTile),
                              machine.numSMs, machine.numSMs * plan.ctasPerSM);
  double ctas = std::min<double>(plan.ctasPerSM, tiles);
  double busy = resources.getSMSeconds(
      tiles * clocks *
      getWaitFactor(ctas * plan.threads, rates.batched.halfThreads));
  // One CTA has nothing to do at its barriers.
  double copyShare = rates.dense.aloneCopyShare;
  if (ctas > 1) {
    busy *= rates.dense.exposedShare;
    copyShare = rates.dense.copyShare;
  }
  double memory =
      resources.getMemorySeconds(problem.getMemoryBytes(), copyShare);
  return resources.getLaunchSeconds() +
         getOverlapSeconds(busy, memory, rates.batched.exposedShare);
}
