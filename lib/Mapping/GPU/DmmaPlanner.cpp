//===- DmmaPlanner.cpp - Plans of the kernel of f64 octets ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/DmmaPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/DmmaPlan.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns that make whole 128-byte lines.
static constexpr int64_t kLineColumns = 16;
/// Registers of a thread at least.
static constexpr int64_t kRegisters = 80;
/// Slots of the ring of a tile that two CTAs share: those of a tile, and all
/// but one of the next one's.
static constexpr int64_t kSharedRingSlots = 7;

namespace {

class DmmaPlanner {
public:
  DmmaPlanner(FusedOp fused, const GPUMachine &machine, DmmaPlan described)
      : machine(machine), given(getGPUPlanAttr(fused)),
        plan(std::move(described)) {}

  /// Makes all choices; or says why there are none.
  std::variant<DmmaChoices, std::string> choose();

private:
  std::optional<std::string> chooseTile();
  void takeExtents();
  void chooseThreads();
  std::optional<std::string> chooseRing();

  const GPUMachine &machine;
  const DmmaTiles &tiles = getGPUTiles(machine).dmma;
  GivenPlan given;
  DmmaPlan plan;
  DmmaChoices choices;
};

} // namespace

/// Contracted axes whole, then columns inside of them, then rows outside.
std::optional<std::string> DmmaPlanner::chooseTile() {
  int64_t row = 1, outermost = plan.contracted.find_first();
  for (unsigned step = 0; step < plan.steps.size(); ++step)
    row *= kDmmaFactorSize;
  int64_t rank = plan.sizes.size(), inner = 1;
  for (int64_t axis = outermost; axis < rank; ++axis)
    if (!plan.contracted[axis])
      inner *= ShapedType::isDynamic(plan.sizes[axis])
                   ? tiles.mostColumns
                   : std::min(plan.sizes[axis], tiles.mostColumns);
  int64_t columns = std::min(
      inner, std::clamp(tiles.elements / row, kLineColumns, tiles.mostColumns));
  if (int64_t wanted = given.get("columns"))
    columns = wanted;
  if (row * columns > tiles.mostElements) {
    columns = std::min(columns, tiles.sharedElements / row);
    choices.cluster = 2;
    if (!machine.hasCluster || columns < std::min(inner, tiles.leastColumns) ||
        row * columns < tiles.sharedElements)
      return "a tile does not fit shared memory";
  }
  int64_t limit = std::max(tiles.elements, row * columns);
  int64_t rows = limit / (row * columns);
  if (int64_t wanted = given.get("tile"))
    rows = std::min(rows, wanted);
  double waste = 1;
  choices.extents.assign(rank, 1);
  for (int64_t axis = rank; axis-- > 0;) {
    if (plan.contracted[axis]) {
      choices.extents[axis] = kDmmaFactorSize;
      continue;
    }
    int64_t &left = axis > outermost ? columns : rows;
    int64_t size = plan.sizes[axis];
    int64_t extent = llvm::bit_floor(uint64_t(std::max<int64_t>(left, 1)));
    if (!ShapedType::isDynamic(size)) {
      extent = std::min<int64_t>(extent, llvm::bit_floor(uint64_t(size)));
      waste *= double(llvm::alignTo(size, extent)) / size;
    }
    choices.extents[axis] = extent;
    left /= extent;
  }
  if (waste > tiles.mostWaste)
    return "too much of the tiles would lie beyond the ends of axes";
  return std::nullopt;
}

/// The extents that are given.
void DmmaPlanner::takeExtents() {
  choices.extents.assign(given.getList("extents"));
  int64_t elements = 1;
  for (int64_t extent : choices.extents)
    if (elements <= tiles.mostElements)
      elements *= extent;
  bool isLarge = elements > tiles.mostElements && machine.hasCluster;
  choices.cluster = given.get("cluster", isLarge ? 2 : choices.cluster);
}

void DmmaPlanner::chooseThreads() {
  if (given.has("threads")) {
    choices.threads = given.get("threads");
    return;
  }
  // Where warps need not wait for each other, more of them are faster.
  plan.warps = plan.cluster == 2 ? 16 : 8;
  if (plan.indexBits <= 12 && !plan.isPrivate(plan.steps.back().bit))
    plan.warps = 4;
  while (plan.warps > 1 && plan.getWarpElements() < 4 * kDmmaUnitElements)
    plan.warps /= 2;
  choices.threads = 32 * plan.warps;
}

std::optional<std::string> DmmaPlanner::chooseRing() {
  int64_t stages = given.get("stages");
  if (!stages)
    stages = plan.getElements() > tiles.elements ? 3 : 2;
  choices.ringSlots =
      plan.cluster == 2 ? kSharedRingSlots : std::max<int64_t>(stages, 2);
  if (given.has("ring_slots")) {
    int64_t ctas = given.get("ctas_per_sm", 1);
    choices.ringSlots =
        std::min(given.get("ring_slots"),
                 std::max<int64_t>(machine.getSharedBytes(ctas), 0) /
                     plan.getSlotBytes());
  }
  plan.ringSlots = choices.ringSlots;
  if (plan.cluster == 2) {
    choices.ctasPerSM = 1;
    return std::nullopt;
  }
  int64_t most = machine.registersPerSM / (choices.threads * kRegisters);
  int64_t fitting = machine.sharedBytesPerSM /
                    (plan.getSharedBytes() + machine.reservedSharedBytesPerCTA);
  if (given.has("ctas_per_sm"))
    most = given.get("ctas_per_sm");
  else if (most == 0)
    return "expects threads to leave each 80 registers, but got " +
           std::to_string(choices.threads);
  choices.ctasPerSM = std::max<int64_t>(std::min(most, fitting), 1);
  return std::nullopt;
}

std::variant<DmmaChoices, std::string> DmmaPlanner::choose() {
  if (given.has("extents"))
    takeExtents();
  else if (std::optional<std::string> reason = chooseTile())
    return *reason;
  if (auto reason = placeDmmaTile(choices.extents, choices.cluster, plan))
    return *reason;
  chooseThreads();
  if (choices.threads < 32)
    return "expects threads to be at least 32, but got " +
           std::to_string(choices.threads);
  if (std::optional<std::string> reason = chooseRing())
    return *reason;
  return choices;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// `chosen` if it is a plan for `fused` and `machine`.
static std::variant<SmallVector<GPUPlanAttr>, std::string>
check(FusedOp fused, GPUPlanAttr chosen, const GPUMachine &machine) {
  std::variant<DmmaPlan, std::string> plan = readDmmaPlan(fused, chosen);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  if (auto reason = getDmmaMachineReason(std::get<DmmaPlan>(plan), machine))
    return *reason;
  return SmallVector<GPUPlanAttr>{chosen};
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planDmma(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (GivenPlan(given).isComplete(GPUKernel::Dmma))
    return check(fused, given.without("regions"), machine);
  if (!machine.hasWideDMMA)
    return "the GPU has no f64 mma.sync of shape m16n8k8";
  std::variant<DmmaPlan, std::string> described = describeDmma(fused);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  DmmaPlanner planner(fused, machine, std::get<DmmaPlan>(std::move(described)));
  std::variant<DmmaChoices, std::string> choices = planner.choose();
  if (auto *reason = std::get_if<std::string>(&choices))
    return *reason;
  PlanWriter writer(fused.getContext(), GPUKernel::Dmma);
  DmmaChoices::visitFields(writer, std::get<DmmaChoices>(choices));
  std::string reason = findContradiction(given, writer.getPlan());
  if (!reason.empty())
    return reason;
  return check(fused, writer.getPlan(), machine);
}
