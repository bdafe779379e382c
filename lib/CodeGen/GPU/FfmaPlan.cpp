//===- FfmaPlan.cpp - Groups of axes and tiles of the FFMA kernel ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FfmaPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Largest K and N.
static constexpr int64_t kMaxFactor = 16;
/// 4-byte values that a thread holds at a time.
static constexpr int64_t kMaxValues = 64;
/// Elements of a tile, if rows are smaller, and bytes of it side by side.
static constexpr int64_t kTileElements = 4096;
static constexpr int64_t kSegmentBytes = 128;
static constexpr int64_t kSectorBytes = 32;
/// Threads that hold that many values.
static constexpr int64_t kMaxThreads = 512;
/// Registers of a thread beside values: a row of the factor, addresses, loops;
/// and those of each item that may lie outside of the array.
static constexpr int64_t kOtherRegisters = 24;
static constexpr int64_t kItemRegisters = 8;

/// Strides of the input, its axes in the order of the fused region.
static SmallVector<int64_t> getInputStrides(FusedOp fused) {
  return getKnownStrides(
      fused.getInputs().front(),
      fused.getInputPermutation().value_or(ArrayRef<int64_t>()));
}

static int64_t getFactorSize(ModeProductOp product, unsigned dim) {
  return cast<ShapedType>(product.getFactor().getType()).getDimSize(dim);
}

int64_t kron::getFfmaCopyWidth(FusedOp fused) {
  int64_t width = 16 / getElementBytes(getElementType(fused.getInit()));
  SmallVector<int64_t> strides = getInputStrides(fused);
  auto shape =
      cast<ShapedType>(fused.getModeProducts().front().getInput().getType())
          .getShape();
  if (strides.empty() || strides.back() != 1)
    return 1;
  // Dynamic strides are tested at run time.
  for (int64_t stride : ArrayRef(strides).drop_back())
    while (!ShapedType::isDynamic(stride) && stride % width != 0)
      width /= 2;
  while (!ShapedType::isDynamic(shape.back()) && shape.back() % width != 0)
    width /= 2;
  return width;
}

namespace {

class FfmaPlanner {
public:
  FfmaPlanner(FusedOp fused, const GPUMachine &machine)
      : fused(fused), machine(machine), products(fused.getModeProducts()),
        bytes(getElementBytes(getElementType(fused.getInit()))) {
    given = getGPUPlanAttr(fused);
    if (bytes == 8)
      plan.accumulators = 16;
  }

  std::optional<FfmaPlan> run(std::string &reason);

private:
  bool collectAxes(std::string &reason);
  void chooseTile();
  void formGroups();
  bool placeTile();
  void chooseThreads();
  void chooseRing();
  void chooseSlotThreads();
  int64_t getWaste(int64_t threads, bool set);
  int64_t getNeededRegisters(int64_t values) const;
  int64_t getRegisters(int64_t threads) const;
  int64_t getMostResident() const;

  FusedOp fused;
  const GPUMachine &machine;
  SmallVector<ModeProductOp> products;
  int64_t bytes;
  GPUPlanAttr given;
  SmallVector<FfmaAxis> axes;
  int64_t tileElements = 0;
  FfmaPlan plan;
};

} // namespace

static int64_t getElements(ArrayRef<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  return elements;
}

bool FfmaPlanner::collectAxes(std::string &reason) {
  auto init = cast<ShapedType>(fused.getInit().getType());
  Type element = init.getElementType();
  if (!element.isF32() && !element.isF64()) {
    reason = "the element type is neither f32 nor f64";
    return false;
  }
  plan.sizes.assign(init.getShape().begin(), init.getShape().end());
  plan.contracted.resize(plan.sizes.size());
  for (ModeProductOp product : products) {
    FfmaAxis axis;
    axis.product = product;
    axis.axis = product.getAxis();
    axis.sizeK = getFactorSize(product, product.getContractedFactorDim());
    axis.sizeN = getFactorSize(product, product.getResultingFactorDim());
    axis.pitch = llvm::alignTo(axis.sizeN, 16 / bytes);
    axis.factorOffset = plan.ringOffset;
    plan.ringOffset += axis.sizeK * axis.pitch * bytes;
    for (auto [dim, on] : llvm::enumerate(product.getFactorDims()))
      if (on >= 0 && getFactorSize(product, dim) != 1) {
        reason = "a factor varies over an axis";
        return false;
      }
    if (axis.sizeK > kMaxFactor || axis.sizeN > kMaxFactor) {
      reason = "a factor has more than 16 rows or columns";
      return false;
    }
    if (plan.contracted[axis.axis]) {
      reason = "an axis is contracted twice";
      return false;
    }
    plan.contracted.set(axis.axis);
    axes.push_back(axis);
  }
  plan.ringOffset = llvm::alignTo(plan.ringOffset, 128);
  // The innermost first.
  llvm::sort(axes, [](const FfmaAxis &lhs, const FfmaAxis &rhs) {
    return lhs.axis > rhs.axis;
  });
  return true;
}

/// Extents of all axes: contracted ones whole, then segments of columns inside
/// of them, then rows outside.
void FfmaPlanner::chooseTile() {
  plan.extents.assign(plan.sizes.size(), 1);
  int64_t row = 1;
  for (const FfmaAxis &axis : axes) {
    plan.extents[axis.axis] = axis.sizeK;
    row *= std::max(axis.sizeK, axis.sizeN);
  }
  int64_t columns = 1;
  int64_t wantedColumns = given && given.getColumns() ? given.getColumns()
                          : plan.direct
                              ? kTileElements / row
                              : std::max<int64_t>(kSegmentBytes / bytes, 1);
  // Shorter segments if the tile, with its padding, does not fit otherwise.
  if (!plan.direct && !(given && given.getColumns()))
    while (wantedColumns * bytes > kSectorBytes &&
           row * wantedColumns * bytes * 17 / 16 >
               machine.sharedBytesPerCTA - plan.ringOffset)
      wantedColumns /= 2;
  int64_t wantedRows = given ? given.getTile() : 0;
  int outermost = plan.contracted.find_first();
  int64_t rows = 1;
  for (int axis = plan.sizes.size() - 1; axis >= 0; --axis) {
    if (plan.contracted[axis])
      continue;
    int64_t limit = axis > outermost ? wantedColumns / columns
                    : wantedRows     ? wantedRows / rows
                                     : kTileElements / (row * columns * rows);
    int64_t size = plan.sizes[axis];
    int64_t extent = std::max<int64_t>(limit, 1);
    if (!ShapedType::isDynamic(size))
      extent = std::min(extent, size);
    plan.extents[axis] = std::max<int64_t>(extent, 1);
    (axis > outermost ? columns : rows) *= plan.extents[axis];
  }
  tileElements = row * columns * rows;
}

void FfmaPlanner::formGroups() {
  plan.groups.clear();
  SmallVector<int64_t> extents(plan.extents);
  auto addGroup = [&](ArrayRef<FfmaAxis> members) {
    FfmaGroup group;
    group.axes.assign(members.begin(), members.end());
    group.before = extents;
    group.values = 1;
    group.items = getElements(extents);
    for (const FfmaAxis &axis : members) {
      group.values *= std::max(axis.sizeK, axis.sizeN);
      group.items /= axis.sizeK;
      extents[axis.axis] = axis.sizeN;
    }
    group.after = extents;
    plan.groups.push_back(std::move(group));
  };
  for (unsigned first = 0; first < axes.size();) {
    int64_t values = 1;
    unsigned end = first;
    do {
      values *= std::max(axes[end].sizeK, axes[end].sizeN);
      ++end;
    } while (end < axes.size() &&
             values * std::max(axes[end].sizeK, axes[end].sizeN) <=
                 kMaxValues * 4 / bytes);
    addGroup(ArrayRef(axes).slice(first, end - first));
    first = end;
  }
}

/// Places of the tile's elements in shared memory: row-major, with the block
/// that a thread of the first group reads padded so that lanes hit different
/// banks.
bool FfmaPlanner::placeTile() {
  plan.copyWidth = getFfmaCopyWidth(fused);
  unsigned rank = plan.extents.size();
  SmallVector<int64_t> most(plan.extents);
  for (const FfmaAxis &axis : axes)
    most[axis.axis] = std::max(axis.sizeK, axis.sizeN);
  while (most.back() % plan.copyWidth != 0)
    plan.copyWidth /= 2;
  if (plan.extents.back() % plan.copyWidth != 0)
    plan.copyWidth = 1;
  // The first group's outermost axis. If lanes are columns, only few of these
  // leave some for positions outside of the group.
  unsigned blockAxis = plan.groups.front().axes.back().axis;
  bool pads = plan.contracted[rank - 1];
  int64_t columns = plan.extents[rank - 1], line = kSegmentBytes / bytes;
  int64_t width = 16 / bytes;
  plan.strides.assign(rank, 1);
  int64_t stride = 1;
  plan.slotAxis = rank - 1;
  for (unsigned axis = rank; axis-- > 0;) {
    plan.strides[axis] = stride;
    stride *= most[axis];
    if (pads && axis == blockAxis)
      stride = stride % width == 0 ? llvm::alignTo(stride, 2 * width) + width
                                   : stride | 1;
    else if (axis == blockAxis && columns < line && line % columns == 0)
      stride = llvm::alignTo(stride, line) + columns;
    // What is copied in vectors stays aligned to them.
    if (plan.copyWidth > 1)
      stride = llvm::alignTo(stride, plan.copyWidth);
    if (most[axis] > 1)
      plan.slotAxis = axis;
  }
  plan.slots = most[plan.slotAxis];
  int64_t slotBytes = plan.strides[plan.slotAxis] * bytes;
  return plan.ringOffset + plan.slots * slotBytes <= machine.sharedBytesPerCTA;
}

/// How much more than needed the groups take with `threads`; `set` keeps the
/// batches.
int64_t FfmaPlanner::getWaste(int64_t threads, bool set) {
  int64_t waste = 0;
  for (FfmaGroup &group : plan.groups) {
    int64_t batch = std::max<int64_t>(kMaxValues * 4 / bytes / group.values, 1);
    batch = std::min<int64_t>(batch, llvm::divideCeil(group.items, threads));
    int64_t step = batch * threads;
    waste += (llvm::alignTo(group.items, step) - group.items) * group.values;
    if (set)
      group.batch = batch;
  }
  return waste;
}

/// Registers of a thread that holds `values`.
int64_t FfmaPlanner::getNeededRegisters(int64_t values) const {
  return (values + plan.accumulators) * bytes / 4 + kOtherRegisters;
}

/// Registers that each of `threads` of an SM can have, whose warps are spread
/// over four schedulers.
int64_t FfmaPlanner::getRegisters(int64_t threads) const {
  return llvm::alignDown(machine.registersPerSM / llvm::alignTo(threads, 128),
                         8);
}

void FfmaPlanner::chooseThreads() {
  // One item of several axes per thread; fibres of one axis share a thread.
  int64_t values = 0;
  for (const FfmaGroup &group : plan.groups)
    values = std::max(values, group.values);
  if (values * bytes <= kMaxValues)
    values = kMaxValues * 4 / bytes;
  int64_t most = std::min(kMaxThreads * kMaxValues * 4 / (bytes * values),
                          machine.maxThreadsPerCTA);
  while (most > 128 && getRegisters(most) < getNeededRegisters(values))
    most -= 32;
  int64_t ideal = llvm::divideCeil(tileElements, values);
  ideal = std::clamp<int64_t>(llvm::alignTo(ideal, 32), 64, most);
  plan.threads = ideal;
  if (given && given.getThreads()) {
    plan.threads = given.getThreads();
  } else {
    int64_t best = getWaste(ideal, false);
    for (int64_t threads = 32; threads <= std::min(most, 2 * ideal);
         threads += 32) {
      int64_t waste = getWaste(threads, false);
      if (threads < ideal / 2 || waste >= best - best / 8)
        continue;
      best = waste;
      plan.threads = threads;
    }
  }
  getWaste(plan.threads, true);
}

/// Threads of an SM, of 64 values: more do not hide more, but have fewer
/// registers.
static constexpr int64_t kResidentThreads = 256;

/// CTAs whose threads have the registers that they need.
int64_t FfmaPlanner::getMostResident() const {
  bool isPartial = false;
  for (auto [axis, size] : llvm::enumerate(plan.sizes))
    isPartial |= !plan.contracted[axis] &&
                 (ShapedType::isDynamic(size) ? plan.extents[axis] > 1
                                              : size % plan.extents[axis] != 0);
  int64_t needed = 0;
  for (const FfmaGroup &group : plan.groups)
    needed = std::max(
        needed,
        getNeededRegisters(group.values * group.batch) +
            (plan.direct && isPartial ? group.batch * kItemRegisters : 0));
  int64_t resident = machine.maxCTAsPerSM;
  while (resident > 1 && getRegisters(resident * plan.threads) < needed)
    --resident;
  return resident;
}

void FfmaPlanner::chooseRing() {
  int64_t stages = given && given.getStages() ? given.getStages() : 2;
  int64_t slotBytes = plan.direct ? 0 : plan.strides[plan.slotAxis] * bytes;
  int64_t least = plan.ringOffset + plan.slots * slotBytes +
                  machine.reservedSharedBytesPerCTA;
  int64_t wanted = least + (stages - 1) * plan.slots * slotBytes;
  int64_t resident =
      (plan.direct ? 2 : 1) *
      std::max<int64_t>(kResidentThreads * bytes / 4 / plan.threads, 1);
  if (given && given.getCtasPerSm())
    resident = given.getCtasPerSm();
  else if (machine.sharedBytesPerSM / wanted > 0)
    resident = std::min(resident, machine.sharedBytesPerSM / wanted);
  resident = std::clamp<int64_t>(
      resident, 1,
      std::min(machine.sharedBytesPerSM / least, machine.maxCTAsPerSM));
  if (!given || !given.getCtasPerSm())
    resident = std::min(resident, getMostResident());
  plan.ctasPerSM = resident;
  int64_t space = std::min(machine.sharedBytesPerSM / resident -
                               machine.reservedSharedBytesPerCTA,
                           machine.sharedBytesPerCTA) -
                  plan.ringOffset;
  plan.ringSlots =
      plan.direct ? 0 : std::min(stages * plan.slots, space / slotBytes);
  plan.sharedBytes = plan.ringOffset + plan.ringSlots * slotBytes;
  // Blocks of more fibres and fewer results load less of the factor, but hold
  // more values.
  int64_t registers = machine.registersPerSM / (resident * plan.threads);
  if (bytes == 8 || registers >= 160)
    plan.blockResults = 4;
}

/// Lets the threads of a slot go ahead of the others, if every thread has
/// exactly one item of every group but the last.
void FfmaPlanner::chooseSlotThreads() {
  int64_t threads = plan.threads / plan.slots;
  if (plan.direct || plan.copiesOut || plan.slots == 1 || plan.slots > 15 ||
      plan.threads % plan.slots != 0 || threads % 32 != 0 ||
      plan.extents[plan.slotAxis] != plan.slots)
    return;
  for (const FfmaGroup &group : plan.groups) {
    bool isLast = &group == &plan.groups.back();
    if (group.items != group.batch * plan.threads ||
        (!isLast && (group.batch != 1 || plan.hasSlots(group))) ||
        (isLast && group.batch != 1 && !plan.hasSlots(group)))
      return;
  }
  plan.slotThreads = threads;
}

std::optional<FfmaPlan> FfmaPlanner::run(std::string &reason) {
  if (!collectAxes(reason))
    return std::nullopt;
  chooseTile();
  formGroups();
  SmallVector<int64_t> inputStrides = getInputStrides(fused);
  bool innermostFree = !plan.contracted[plan.sizes.size() - 1] &&
                       !inputStrides.empty() && inputStrides.back() == 1;
  if (plan.groups.size() == 1 && innermostFree) {
    plan.direct = true;
    chooseTile();
    formGroups();
  }
  if (!plan.direct && !placeTile()) {
    reason = "a tile does not fit shared memory";
    return std::nullopt;
  }
  plan.copiesOut = !plan.direct;
  for (unsigned axis = plan.sizes.size(); axis-- > 0;) {
    if (plan.groups.back().after[axis] == 1)
      continue;
    // The innermost axis that has more than one position in the tile.
    plan.copiesOut =
        llvm::any_of(plan.groups.back().axes, [&](const FfmaAxis &member) {
          return member.axis == axis;
        });
    break;
  }
  if (plan.direct)
    plan.copiesOut = false;
  chooseThreads();
  chooseRing();
  chooseSlotThreads();
  return plan;
}

std::optional<FfmaPlan> kron::planFfma(FusedOp fused, const GPUMachine &machine,
                                       std::string &reason) {
  return FfmaPlanner(fused, machine).run(reason);
}
