//===- FfmaPlanner.cpp - Plans of the FFMA kernel ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/FfmaPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a line and of a sector.
static constexpr int64_t kSegmentBytes = 128;
static constexpr int64_t kSectorBytes = 32;
/// Registers of a thread beside values: a row of the factor, addresses, loops;
/// and those of each item that may lie outside of the array.
static constexpr int64_t kOtherRegisters = 24;
static constexpr int64_t kItemRegisters = 8;
/// What a thread can have.
static constexpr int64_t kMostRegisters = 255;

namespace {

class FfmaPlanner {
public:
  FfmaPlanner(FusedOp fused, const GPUMachine &machine, FfmaPlan described)
      : fused(fused), machine(machine), given(getGPUPlanAttr(fused)),
        plan(std::move(described)), bytes(plan.elementBytes) {}

  /// Makes all choices; or says why there are none.
  std::variant<FfmaChoices, std::string> choose();

private:
  int64_t chooseTurnedRows(int64_t row, int64_t wanted) const;
  void chooseTile();
  bool fitsOnce() const;
  int64_t getWaste(int64_t threads) const;
  int64_t getNeededRegisters(int64_t values) const;
  int64_t getBlockRegisters(const FfmaGroup &group) const;
  int64_t getRegisters(int64_t threads) const;
  void chooseThreads();
  int64_t getMostResident() const;
  void chooseRing();

  FusedOp fused;
  const GPUMachine &machine;
  const FfmaTiles &tiles = getGPUTiles(machine).ffma;
  GivenPlan given;
  FfmaPlan plan;
  int64_t bytes;
};

} // namespace

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

/// Rows, which are neighbours in the input, of a tile of `row` elements each:
/// `wanted` or, if that is 0, a segment.
int64_t FfmaPlanner::chooseTurnedRows(int64_t row, int64_t wanted) const {
  int64_t rows = wanted ? wanted : kSegmentBytes / bytes;
  while (!wanted && rows * bytes > kSectorBytes &&
         row * rows * bytes * 17 / 16 >
             machine.sharedBytesPerCTA - plan.ringOffset)
    rows /= 2;
  int64_t size = plan.sizes[plan.turnedAxis];
  return ShapedType::isDynamic(size) ? rows : std::min(rows, size);
}

/// Extents of all axes: contracted ones whole, then segments of columns inside
/// of them, then rows outside.
void FfmaPlanner::chooseTile() {
  plan.extents.assign(plan.sizes.size(), 1);
  int64_t row = 1;
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes) {
      plan.extents[axis.axis] = axis.sizeK;
      row *= std::max(axis.sizeK, axis.sizeN);
    }
  int64_t columns = 1;
  int64_t wantedColumns = given.get("columns");
  bool isFree = wantedColumns == 0;
  if (isFree)
    wantedColumns = plan.direct ? tiles.elements / row
                                : std::max<int64_t>(kSegmentBytes / bytes, 1);
  // Shorter segments if the tile, with its padding, does not fit otherwise.
  if (!plan.direct && isFree)
    while (wantedColumns * bytes > kSectorBytes &&
           row * wantedColumns * bytes * 17 / 16 >
               machine.sharedBytesPerCTA - plan.ringOffset)
      wantedColumns /= 2;
  int64_t wantedRows = given.get("tile");
  int outermost = plan.contracted.find_first();
  int64_t rows = 1;
  bool turnsRows = plan.turnedAxis >= 0 && plan.turnedAxis < outermost;
  if (turnsRows)
    plan.extents[plan.turnedAxis] = rows = chooseTurnedRows(row, wantedRows);
  for (int axis = plan.sizes.size() - 1; axis >= 0; --axis) {
    if (plan.contracted[axis] || (turnsRows && axis == plan.turnedAxis))
      continue;
    int64_t limit = axis > outermost ? wantedColumns / columns
                    : wantedRows     ? wantedRows / rows
                                     : tiles.elements / (row * columns * rows);
    int64_t size = plan.sizes[axis];
    int64_t extent = std::max<int64_t>(limit, 1);
    if (!ShapedType::isDynamic(size))
      extent = std::min(extent, size);
    plan.extents[axis] = std::max<int64_t>(extent, 1);
    (axis > outermost ? columns : rows) *= plan.extents[axis];
  }
}

/// Whether a CTA that has an SM for itself holds a tile.
bool FfmaPlanner::fitsOnce() const {
  return plan.ringOffset + plan.slots * plan.getSlotBytes() <=
         machine.sharedBytesPerCTA;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// How much more than needed the groups take with `threads`.
int64_t FfmaPlanner::getWaste(int64_t threads) const {
  int64_t waste = 0;
  for (const FfmaGroup &group : plan.groups) {
    int64_t step = plan.getBatch(group, threads) * threads;
    waste += (llvm::alignTo(group.items, step) - group.items) * group.values;
  }
  return waste;
}

/// Registers of a thread that holds `values`.
int64_t FfmaPlanner::getNeededRegisters(int64_t values) const {
  return (values + plan.accumulators) * bytes / 4 + kOtherRegisters;
}

/// The same of f64 where fibres of a single axis, at most as many as a thread
/// may have, and all of their results are there at once.
int64_t FfmaPlanner::getBlockRegisters(const FfmaGroup &group) const {
  if (bytes != 8 || group.axes.size() > 1)
    return 0;
  const FfmaAxis &axis = group.axes.back();
  int64_t values =
      plan.getBatch(group, /*threads=*/1) * (axis.sizeK + axis.sizeN);
  return std::min(values * bytes / 4 + kOtherRegisters, kMostRegisters);
}

/// Registers that each of `threads` of an SM can have, whose warps are spread
/// over four schedulers.
int64_t FfmaPlanner::getRegisters(int64_t threads) const {
  return llvm::alignDown(machine.registersPerSM / llvm::alignTo(threads, 128),
                         8);
}

void FfmaPlanner::chooseThreads() {
  if (given.has("threads")) {
    plan.threads = given.get("threads");
    return;
  }
  // One item of several axes per thread; fibres of one axis share a thread.
  int64_t values = 0, tileElements = 1;
  for (const FfmaGroup &group : plan.groups)
    values = std::max(values, group.values);
  for (auto [axis, extent] : llvm::enumerate(plan.extents))
    if (!plan.contracted[axis])
      tileElements *= extent;
  for (const FfmaGroup &group : plan.groups)
    tileElements *= group.values;
  if (values * bytes <= kFfmaValues)
    values = kFfmaValues * 4 / bytes;
  int64_t most =
      std::min(tiles.mostThreads * kFfmaValues * 4 / (bytes * values),
               machine.maxThreadsPerCTA);
  while (most > 128 && getRegisters(most) < getNeededRegisters(values))
    most -= 32;
  most = llvm::alignDown(most, 32);
  for (const FfmaGroup &group : plan.groups)
    while (most > 128 && getRegisters(most) < getBlockRegisters(group))
      most -= 32;
  int64_t ideal = llvm::divideCeil(tileElements, values);
  ideal = std::clamp<int64_t>(llvm::alignTo(ideal, 32), 64, most);
  plan.threads = ideal;
  int64_t best = getWaste(ideal);
  for (int64_t threads = 32; threads <= std::min(most, 2 * ideal);
       threads += 32) {
    int64_t waste = getWaste(threads);
    if (threads < ideal / 2 || waste >= best - best / 8)
      continue;
    best = waste;
    plan.threads = threads;
  }
}

//===----------------------------------------------------------------------===//
// CTAs and their rings
//===----------------------------------------------------------------------===//

/// CTAs whose threads have the registers that they need.
int64_t FfmaPlanner::getMostResident() const {
  bool isPartial = false;
  for (auto [axis, size] : llvm::enumerate(plan.sizes))
    isPartial |= !plan.contracted[axis] &&
                 (ShapedType::isDynamic(size) ? plan.extents[axis] > 1
                                              : size % plan.extents[axis] != 0);
  int64_t needed = 0;
  for (const FfmaGroup &group : plan.groups) {
    int64_t batch = plan.getBatch(group, plan.threads);
    needed = std::max(
        needed, getNeededRegisters(group.values * batch) +
                    (plan.direct && isPartial ? batch * kItemRegisters : 0));
  }
  int64_t resident = machine.maxCTAsPerSM;
  while (resident > 1 && getRegisters(resident * plan.threads) < needed)
    --resident;
  return resident;
}

/// As many CTAs as have room for what they want, and as much of that as fits.
void FfmaPlanner::chooseRing() {
  int64_t slotBytes = plan.getSlotBytes();
  int64_t stages = given.get("stages");
  int64_t wantedSlots =
      given.get("ring_slots", (stages ? stages : 2) * plan.slots);
  int64_t least = plan.ringOffset + plan.slots * slotBytes;
  int64_t wanted = plan.ringOffset + wantedSlots * slotBytes +
                   machine.reservedSharedBytesPerCTA;
  int64_t resident =
      (plan.direct || plan.turnedAxis >= 0 ? 2 : 1) *
      std::max<int64_t>(tiles.residentThreads * bytes / 4 / plan.threads, 1);
  if (given.has("ctas_per_sm"))
    resident = given.get("ctas_per_sm");
  else if (machine.sharedBytesPerSM / wanted > 0)
    resident = std::min(resident, machine.sharedBytesPerSM / wanted);
  resident = std::clamp<int64_t>(resident, 1, machine.maxCTAsPerSM);
  if (!given.has("ctas_per_sm"))
    resident = std::min(resident, getMostResident());
  while (resident > 1 && machine.getSharedBytes(resident) < least)
    --resident;
  plan.ctasPerSM = resident;
  int64_t space = machine.getSharedBytes(resident) - plan.ringOffset;
  plan.ringSlots = plan.direct ? 0 : std::min(wantedSlots, space / slotBytes);
}

std::variant<FfmaChoices, std::string> FfmaPlanner::choose() {
  int64_t alignment = getFfmaCopyWidth(fused) * bytes;
  plan.alignment = given.get("alignment", alignment > bytes ? alignment : 0);
  if (given.has("extents"))
    plan.extents.assign(given.getList("extents"));
  else
    chooseTile();
  if (std::optional<std::string> reason = placeFfmaTile(fused, plan))
    return *reason;
  if (!plan.direct && !fitsOnce())
    return "a tile does not fit shared memory";
  chooseThreads();
  if (plan.threads < 32)
    return "expects threads to be at least 32, but got " +
           std::to_string(plan.threads);
  chooseRing();
  // Blocks of more fibres and fewer results load less of the factor, but hold
  // more values.
  int64_t registers = machine.registersPerSM / (plan.ctasPerSM * plan.threads);
  if (bytes == 8 || registers >= tiles.blockRegisters)
    plan.blockResults = tiles.blockResults;
  plan.blockResults = given.get("block_results", plan.blockResults);
  plan.streamedResults = given.get("streamed_results", plan.streamedResults);
  plan.copies = given.get("copies", plan.copies);
  return FfmaChoices(plan);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// `chosen` if it is a plan for `fused` that `machine` has room for.
static std::variant<SmallVector<GPUPlanAttr>, std::string>
check(FusedOp fused, GPUPlanAttr chosen, const GPUMachine &machine) {
  std::variant<FfmaPlan, std::string> plan = readFfmaPlan(fused, chosen);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  auto &found = std::get<FfmaPlan>(plan);
  if (auto reason = getSharedMemoryReason(found.getSharedBytes(),
                                          found.ctasPerSM, machine))
    return *reason;
  return SmallVector<GPUPlanAttr>{chosen};
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planFfma(FusedOp fused, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (GivenPlan(given).isComplete(GPUKernel::Ffma))
    return check(fused, given.without("regions"), machine);
  std::variant<FfmaPlan, std::string> described = describeFfma(fused);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  FfmaPlanner planner(fused, machine, std::get<FfmaPlan>(std::move(described)));
  std::variant<FfmaChoices, std::string> choices = planner.choose();
  if (auto *reason = std::get_if<std::string>(&choices))
    return *reason;
  PlanWriter writer(fused.getContext(), GPUKernel::Ffma);
  FfmaChoices::visitFields(writer, std::get<FfmaChoices>(choices));
  std::string reason = findContradiction(given, writer.getPlan());
  if (!reason.empty())
    return reason;
  return check(fused, writer.getPlan(), machine);
}
