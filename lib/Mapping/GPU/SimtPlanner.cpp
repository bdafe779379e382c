//===- SimtPlanner.cpp - Choice of launches and tiles of simt ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SimtPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/SimtPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns that make whole 128-byte lines of f32.
static constexpr int64_t kColumns = 32;
/// Registers of a thread.
static constexpr int64_t kRegisters = 80;

static GPUPlanAttr writePlan(MLIRContext *context, const SimtPlan &plan) {
  SmallVector<DictionaryAttr> launches;
  for (const SimtLaunch &launch : plan.launches) {
    SimtChoices choices;
    choices.factors = launch.stages.size();
    choices.extents = launch.extents.front();
    choices.ctasPerSM = launch.ctasPerSM;
    PlanWriter writer(context, kSimtLaunch);
    SimtChoices::visitFields(writer, choices);
    launches.push_back(writer.getFields());
  }
  PlanWriter writer(context, GPUKernel::Simt);
  writer("threads", plan.threads);
  writer("launches", ArrayRef(launches));
  return writer.getPlan();
}

namespace {

class Planner {
public:
  Planner(FusedOp fused, const GPUMachine &machine, const SimtChain &chain)
      : machine(machine), chain(chain), given(getGPUPlanAttr(fused)) {}

  std::variant<SimtPlan, std::string> run();

private:
  int64_t getGiven(StringRef name) const { return given ? given.get(name) : 0; }
  bool fits(SimtLaunch &launch, ArrayRef<int64_t> tile) const;
  bool chooseTile(SimtLaunch &launch) const;
  std::optional<SimtLaunch> planLaunch(unsigned first, unsigned end) const;

  const GPUMachine &machine;
  const SimtChain &chain;
  GPUPlanAttr given;
  const SimtTiles &tiles = getGPUTiles(machine).simt;
  int64_t threads = tiles.threads;
};

} // namespace

/// Lays the buffers out for `tile`; false if they do not fit.
bool Planner::fits(SimtLaunch &launch, ArrayRef<int64_t> tile) const {
  setSimtTile(launch, tile);
  return !getSharedMemoryReason(launch.sharedBytes, /*ctasPerSM=*/1, machine);
}

/// Extents of the axes that are not contracted: columns first, so that memory
/// is accessed in whole lines, then what makes a tile large enough. False if
/// not even single positions fit.
bool Planner::chooseTile(SimtLaunch &launch) const {
  SmallVector<int64_t> tile(launch.after.size(), 1);
  if (!fits(launch, tile))
    return false;
  int64_t wantedRows = getGiven("tile"), wantedColumns = getGiven("columns");
  int64_t rows = 1;
  for (int axis = tile.size() - 1; axis >= 0; --axis) {
    if (launch.contracted[axis])
      continue;
    int64_t size = launch.after[axis];
    bool innermost = axis + 1 == static_cast<int>(tile.size());
    int64_t limit = ShapedType::isDynamic(size) ? tiles.elements : size;
    if (innermost)
      limit = std::min(limit, wantedColumns ? wantedColumns : kColumns);
    else if (wantedRows)
      limit = std::min(limit, std::max<int64_t>(wantedRows / rows, 1));
    auto isEnough = [&](int64_t extent) {
      if (innermost || wantedRows)
        return extent >= limit;
      int64_t most = 0;
      for (ArrayRef<int64_t> extents : launch.extents)
        most = std::max(most, getTileElements(extents));
      return extent >= limit || most >= tiles.elements;
    };
    while (!isEnough(tile[axis])) {
      int64_t old = tile[axis];
      tile[axis] = std::min(2 * old, limit);
      if (!fits(launch, tile)) {
        tile[axis] = old;
        setSimtTile(launch, tile);
        break;
      }
    }
    if (!innermost)
      rows *= tile[axis];
  }
  return true;
}

/// The launch of products [first, end); nothing if it does not fit shared
/// memory.
std::optional<SimtLaunch> Planner::planLaunch(unsigned first,
                                              unsigned end) const {
  SimtLaunch launch = describeSimtLaunch(chain, first, end);
  if (!chooseTile(launch))
    return std::nullopt;
  int64_t resident =
      std::min(machine.sharedBytesPerSM /
                   (launch.sharedBytes + machine.reservedSharedBytesPerCTA),
               machine.registersPerSM / kRegisters / threads);
  int64_t wanted = getGiven("ctas_per_sm");
  launch.ctasPerSM =
      wanted ? wanted : std::clamp<int64_t>(resident, 1, machine.maxCTAsPerSM);
  return launch;
}

std::variant<SimtPlan, std::string> Planner::run() {
  if (int64_t wanted = getGiven("threads"))
    threads = wanted;
  SimtPlan plan;
  plan.threads = threads;
  for (unsigned first = 0; first < chain.products.size();) {
    std::optional<SimtLaunch> launch = planLaunch(first, first + 1);
    if (!launch)
      return "one fibre of a factor does not fit shared memory";
    unsigned end = first + 1;
    while (end < chain.products.size()) {
      std::optional<SimtLaunch> longer = planLaunch(first, end + 1);
      if (!longer)
        break;
      launch = std::move(longer);
      ++end;
    }
    plan.launches.push_back(std::move(*launch));
    first = end;
  }
  return plan;
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planSimt(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  std::variant<SimtPlan, std::string> found;
  if (given && given.has("launches")) {
    if (!given.has("threads"))
      given = given.with("threads", getGPUTiles(machine).simt.threads);
    found = readSimtPlan(fused, given);
  } else {
    std::variant<SimtChain, std::string> chain = describeSimt(fused);
    if (auto *reason = std::get_if<std::string>(&chain))
      return *reason;
    found = Planner(fused, machine, std::get<SimtChain>(chain)).run();
  }
  auto *plan = std::get_if<SimtPlan>(&found);
  if (!plan)
    return std::get<std::string>(found);
  for (const SimtLaunch &launch : plan->launches)
    if (auto reason = getSharedMemoryReason(launch.sharedBytes,
                                            /*ctasPerSM=*/1, machine))
      return *reason;
  return SmallVector<GPUPlanAttr>{writePlan(fused.getContext(), *plan)};
}
