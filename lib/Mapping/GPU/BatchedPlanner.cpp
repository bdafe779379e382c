//===- BatchedPlanner.cpp - Choice of tiles of the batched kernel ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/BatchedPlanner.h"
#include "BatchedCost.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/BatchedPlan.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

/// Arrays that a tile may have although they take more bytes than others: with
/// few of them, many threads have nothing to do.
static constexpr int64_t kFewArrays = 4;

/// Threads of a tile with planes: one per plane, since planes take the most
/// registers.
static int64_t getPlaneThreads(const BatchedPlan &plan) {
  int64_t planes = 1;
  for (const BatchedStep &step : plan.steps)
    if (step.isPlane())
      planes = std::max(planes, step.source.numPlanes * plan.itemsPerTile);
  return std::clamp<int64_t>(llvm::alignTo(planes, 32), 32, 256);
}

/// Registers of a thread: what it holds of its planes or fibres and of results,
/// and what addresses take.
static int64_t getRegisters(const BatchedPlan &plan) {
  int64_t words = 4 / plan.chunk;
  if (plan.hasPlanes())
    return words == 2 ? 168 : 128;
  int64_t held = 0;
  for (const BatchedStep &step : plan.steps) {
    int64_t fibres = plan.getUnitsTogether(step) * plan.getFibresPerUnit(step);
    held = std::max(held, fibres * (plan.factors[step.products.front()].sizeK +
                                    plan.chunk));
  }
  return llvm::alignTo(words * held + 32, 8);
}

/// CTAs per SM that registers and shared memory allow.
static int64_t getFittingCtas(const BatchedPlan &plan,
                              const GPUMachine &machine) {
  int64_t fitting = machine.sharedBytesPerSM /
                    (plan.getSharedBytes() + machine.reservedSharedBytesPerCTA);
  int64_t byThreads =
      machine.registersPerSM / (plan.threads * getRegisters(plan));
  return std::min({fitting, byThreads, machine.maxCTAsPerSM});
}

/// Chooses threads, fibres per thread and items per tile of a plan without
/// planes, of those that `given` leaves open.
static void chooseFibres(BatchedPlan &plan, const Problem &problem,
                         GivenPlan given, const GPUMachine &machine) {
  const BatchedTiles &tiles = getGPUTiles(machine).batched;
  struct Range {
    int64_t first, last;
  };
  auto getRange = [&](StringRef name, Range open) {
    int64_t value = given.get(name);
    return value ? Range{value, value} : open;
  };
  int64_t unit = plan.getTileUnit();
  int64_t itemBytes = plan.getInput().getItemPitch() * 16 / plan.chunk;
  int64_t most = std::max(tiles.mostFibreBytes / itemBytes, kFewArrays);
  Range items = getRange("tile", {unit, std::max(unit, most)});
  Range threads = getRange("threads", {32, 256});
  Range fibres = getRange("fibres", {1, 8});
  std::optional<BatchedPlan> best;
  double bestSeconds = 0;
  auto consider = [&](BatchedPlan candidate) {
    if (getRegisters(candidate) > tiles.mostRegisters ||
        completeBatchedPlan(candidate))
      return;
    candidate.ctasPerSM = getFittingCtas(candidate, machine);
    if (candidate.ctasPerSM < 1)
      return;
    double seconds = estimateBatchedSeconds(candidate, problem, machine);
    if (!best || seconds < bestSeconds) {
      best = candidate;
      bestSeconds = seconds;
    }
  };
  auto considerAll = [&] {
    BatchedPlan candidate = plan;
    for (candidate.itemsPerTile = items.first;
         candidate.itemsPerTile <= items.last; candidate.itemsPerTile += unit)
      for (candidate.threads = threads.first; candidate.threads <= threads.last;
           candidate.threads += 32)
        for (candidate.fibres = fibres.first; candidate.fibres <= fibres.last;
             ++candidate.fibres)
          consider(candidate);
  };
  considerAll();
  if (!best) {
    plan.hasSlack = false;
    considerAll();
  }
  if (best)
    plan = *best;
}

/// Fills in the choices of `plan` that `given`, which may be null, leaves open;
/// or says why there are none.
static std::optional<std::string> choose(BatchedPlan &plan,
                                         const Problem &problem,
                                         GivenPlan given,
                                         const GPUMachine &machine) {
  auto getGiven = [&](StringRef name, int64_t open) {
    int64_t value = given.get(name);
    return value ? value : open;
  };
  int64_t itemElements =
      std::max(plan.getInput().getElements(), plan.getOutput().getElements());
  int64_t bytes = 16 / plan.chunk;
  int64_t items = std::max<int64_t>(
      getGPUTiles(machine).batched.planeBytes / bytes / itemElements, 1);
  plan.itemsPerTile =
      getGiven("tile", llvm::alignTo(items, plan.getTileUnit()));
  plan.stages = getGiven("stages", plan.stages);
  plan.fibres = getGiven("fibres", plan.fibres);
  plan.planeFibres = getGiven("plane_fibres", plan.planeFibres);
  plan.unrolled = given.get("unrolled", plan.unrolled);
  plan.hasSlack = given.get("slack", plan.hasSlack) != 0;
  plan.threads = getGiven("threads", getPlaneThreads(plan));
  if (std::optional<std::string> reason = completeBatchedPlan(plan))
    return reason;
  if (!plan.hasPlanes())
    chooseFibres(plan, problem, given, machine);
  if (std::optional<std::string> reason = completeBatchedPlan(plan))
    return reason;
  plan.ctasPerSM = getGiven(
      "ctas_per_sm", std::max<int64_t>(getFittingCtas(plan, machine), 1));
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}

/// Whether the results of the last step go to memory from registers: by 16
/// bytes, which neighbouring threads place side by side, or single elements of
/// f64, of which a warp's make two lines (those of f32 make ragged ones, and
/// are slower than the way through shared memory). Kernels with planes of f64
/// have no registers for it.
static bool shouldStoreDirectly(const BatchedPlan &plan) {
  const BatchedStep &step = plan.steps.back();
  bool isF64 = plan.chunk == 2;
  if (step.isPlane() || (plan.hasPlanes() && isF64))
    return false;
  unsigned axis = plan.factors[step.products.front()].axis - plan.firstAxis;
  int64_t inside = 1;
  for (int64_t size : ArrayRef(step.destination.sizes).drop_front(axis + 1))
    inside *= size;
  return axis + 2 < step.source.sizes.size() &&
         (plan.getFibresPerUnit(step) == plan.chunk || (isF64 && inside >= 32));
}

/// `plan`, of packed arrays, with the way of their results.
static std::variant<GPUPlanAttr, std::string>
planStores(FusedOp fused, GivenPlan given, GPUPlanAttr plan) {
  auto any = std::get<BatchedPlan>(readBatchedPlan(fused, plan));
  if (!given.get("direct_store", shouldStoreDirectly(any)))
    return plan;
  plan = plan.with("direct_store", 1);
  std::variant<BatchedPlan, std::string> read = readBatchedPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  return plan;
}

/// A plan whose fields `fused` has all of, but for those of a dispatch.
static std::variant<GPUPlanAttr, std::string>
checkGiven(FusedOp fused, GPUPlanAttr given, const GPUMachine &machine) {
  std::variant<BatchedPlan, std::string> read = readBatchedPlan(fused, given);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  auto &plan = std::get<BatchedPlan>(read);
  if (auto reason =
          getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine))
    return *reason;
  return given.without("regions").without("packed");
}

/// The plan of arrays that are not packed.
static std::variant<GPUPlanAttr, std::string>
planAnyArrays(FusedOp fused, GPUPlanAttr given, const GPUMachine &machine) {
  if (GivenPlan(given).isComplete(GPUKernel::Batched))
    return checkGiven(fused, given, machine);
  std::variant<BatchedPlan, std::string> described = describeBatched(fused);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  auto &plan = std::get<BatchedPlan>(described);
  if (std::optional<std::string> reason =
          choose(plan, describeProblem(fused), given, machine))
    return *reason;
  PlanWriter writer(fused.getContext(), GPUKernel::Batched);
  BatchedChoices::visitFields(writer, plan);
  GPUPlanAttr chosen = writer.getPlan();
  GPUPlanAttr wanted = given ? given.without("packed") : given;
  if (std::string reason = findContradiction(wanted, chosen); !reason.empty())
    return reason;
  return chosen;
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planBatched(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  std::variant<GPUPlanAttr, std::string> any = planAnyArrays(
      fused, given ? given.without("direct_store") : given, machine);
  if (auto *reason = std::get_if<std::string>(&any))
    return *reason;
  GPUPlanAttr plan = std::get<GPUPlanAttr>(any);
  bool isAlone = GivenPlan(given).get("packed", 1) == 0;
  if (isAlone && !given.get("direct_store"))
    return SmallVector<GPUPlanAttr>{plan.with("packed", int64_t(0))};
  std::variant<GPUPlanAttr, std::string> packed =
      planStores(fused, given, plan.with("packed", int64_t(!isAlone)));
  if (auto *reason = std::get_if<std::string>(&packed))
    return *reason;
  return SmallVector<GPUPlanAttr>{std::get<GPUPlanAttr>(packed), plan};
}
