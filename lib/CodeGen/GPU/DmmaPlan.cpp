//===- DmmaPlan.cpp - Tiles of the kernel of f64 octets -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DmmaPlan.h"
#include "FfmaPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows and columns of all factors.
static constexpr int64_t kFactorSize = 8;
/// Elements of a CTA's tile, the most that it may have, and those of a tile
/// that two CTAs share.
static constexpr int64_t kTileElements = 4096;
static constexpr int64_t kMaxTileElements = 8192;
static constexpr int64_t kSharedTileElements = 32768;
/// Columns side by side: 128 bytes or more, or 64 where that saves a fused
/// region.
static constexpr int64_t kMaxColumns = 64;
static constexpr int64_t kLineColumns = 16;
static constexpr int64_t kMinColumns = 8;
/// Positions per existing one that tiles may reach over the ends of axes.
static constexpr double kMaxWaste = 1.25;
/// Registers of a thread at least.
static constexpr int64_t kRegisters = 80;
/// Fibres of an instruction times its K.
static constexpr int64_t kUnitElements = 128;

namespace {

class DmmaPlanner {
public:
  DmmaPlanner(FusedOp fused, const GPUMachine &machine)
      : fused(fused), machine(machine) {
    given = getGPUPlanAttr(fused);
  }

  std::optional<DmmaPlan> run();

private:
  bool collectSteps();
  bool isPaired(Value array);
  bool chooseTile();
  void placeBits();
  bool chooseResources();

  FusedOp fused;
  const GPUMachine &machine;
  GPUPlanAttr given;
  DmmaPlan plan;
};

} // namespace

bool DmmaPlanner::collectSteps() {
  auto init = cast<ShapedType>(fused.getInit().getType());
  plan.sizes.assign(init.getShape().begin(), init.getShape().end());
  plan.contracted.resize(plan.sizes.size());
  for (ModeProductOp product : fused.getModeProducts()) {
    auto factor = cast<ShapedType>(product.getFactor().getType());
    for (auto [dim, on] : llvm::enumerate(product.getFactorDims()))
      if (factor.getDimSize(dim) != (on >= 0 ? 1 : kFactorSize))
        return false;
    if (plan.contracted[product.getAxis()])
      return false;
    plan.contracted.set(product.getAxis());
    plan.steps.push_back({product, unsigned(product.getAxis()), 0});
  }
  llvm::sort(plan.steps, [](const DmmaStep &lhs, const DmmaStep &rhs) {
    return lhs.axis > rhs.axis;
  });
  return true;
}

/// Whether neighbouring pairs of elements are 16 bytes that exist or do not, as
/// far as that is known: what is not is tested at run time.
bool DmmaPlanner::isPaired(Value array) {
  SmallVector<int64_t> strides = getKnownStrides(array);
  if (strides.empty() || strides.back() != 1)
    return false;
  return llvm::all_of(ArrayRef(strides).drop_back(), [](int64_t stride) {
    return ShapedType::isDynamic(stride) || stride % 2 == 0;
  });
}

/// Contracted axes whole, then columns inside of them, then rows outside.
bool DmmaPlanner::chooseTile() {
  int64_t row = 1, outermost = plan.contracted.find_first();
  for (unsigned step = 0; step < plan.steps.size(); ++step)
    row *= kFactorSize;
  int64_t rank = plan.sizes.size(), inner = 1;
  for (int64_t axis = outermost; axis < rank; ++axis)
    if (!plan.contracted[axis])
      inner *= ShapedType::isDynamic(plan.sizes[axis])
                   ? kMaxColumns
                   : std::min(plan.sizes[axis], kMaxColumns);
  int64_t columns = std::min(
      inner, std::clamp(kTileElements / row, kLineColumns, kMaxColumns));
  if (given && given.getColumns())
    columns = given.getColumns();
  if (row * columns > kMaxTileElements) {
    columns = std::min(columns, kSharedTileElements / row);
    plan.cluster = 2;
    if (!machine.hasCluster || columns < std::min(inner, kMinColumns) ||
        row * columns < kSharedTileElements)
      return false;
  }
  int64_t limit = std::max(kTileElements, row * columns);
  int64_t rows = limit / (row * columns);
  if (given && given.getTile())
    rows = std::min(rows, given.getTile());
  double waste = 1;
  plan.extents.assign(rank, 1);
  for (int64_t axis = rank; axis-- > 0;) {
    if (plan.contracted[axis]) {
      plan.extents[axis] = kFactorSize;
      continue;
    }
    int64_t &left = axis > outermost ? columns : rows;
    int64_t size = plan.sizes[axis];
    int64_t extent = llvm::bit_floor(uint64_t(std::max<int64_t>(left, 1)));
    if (!ShapedType::isDynamic(size)) {
      extent = std::min<int64_t>(extent, llvm::bit_floor(uint64_t(size)));
      waste *= double(llvm::alignTo(size, extent)) / size;
    }
    plan.extents[axis] = extent;
    left /= extent;
  }
  if (plan.cluster == 2)
    plan.extents[outermost] /= 2;
  return waste <= kMaxWaste;
}

void DmmaPlanner::placeBits() {
  plan.bits.assign(plan.extents.size(), 0);
  for (unsigned axis = plan.extents.size(); axis-- > 0;) {
    plan.bits[axis] = plan.indexBits;
    plan.indexBits += llvm::Log2_64(plan.extents[axis]);
  }
  for (DmmaStep &step : plan.steps) {
    step.bit = plan.bits[step.axis];
    // Lanes t read 4 positions of the axis, lanes g pairs of columns: bit 1
    // and, by the 4 positions, bits 2 and 3 choose the 16 bytes.
    if (step.bit < 2)
      continue;
    if (step.bit > 3)
      plan.swizzles.push_back({step.bit, 3});
    if (step.bit > 2)
      plan.swizzles.push_back({step.bit + 1, 2});
  }
}

bool DmmaPlanner::chooseResources() {
  bool isShared = plan.cluster == 2;
  // Where warps need not wait for each other, more of them are faster.
  plan.warps = isShared ? 16 : 8;
  if (plan.indexBits <= 12 && !plan.isPrivate(plan.steps.back().bit))
    plan.warps = 4;
  while (plan.warps > 1 && plan.getWarpElements() < 4 * kUnitElements)
    plan.warps /= 2;
  if (given && given.getThreads())
    plan.warps = given.getThreads() / 32;
  if (!llvm::isPowerOf2_64(plan.warps) ||
      plan.getWarpElements() < kUnitElements)
    return false;
  int64_t stages = given && given.getStages()           ? given.getStages()
                   : plan.getElements() > kTileElements ? 3
                                                        : 2;
  if (isShared) {
    // Half of the axis is 4 positions: slots for these and for 3 of the next
    // tile.
    plan.slots = 4;
    plan.ringSlots = 7;
    plan.ctasPerSM = 1;
    return plan.warps % plan.slots == 0 &&
           plan.getSharedBytes() <= machine.sharedBytesPerCTA;
  }
  plan.ringSlots = std::max<int64_t>(stages, 2);
  int64_t most = machine.registersPerSM / (32 * plan.warps * kRegisters);
  plan.ctasPerSM = std::min(
      most, machine.sharedBytesPerSM /
                (plan.getSharedBytes() + machine.reservedSharedBytesPerCTA));
  if (given && given.getCtasPerSm())
    plan.ctasPerSM = given.getCtasPerSm();
  return plan.ctasPerSM > 0 &&
         plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
}

std::optional<DmmaPlan> DmmaPlanner::run() {
  if (!machine.hasWideDMMA || !getElementType(fused.getInit()).isF64() ||
      fused.getModeProducts().size() < 2 || !collectSteps())
    return std::nullopt;
  // Pairs of elements in all arrays.
  if (getFfmaCopyWidth(fused) != 2 || !isPaired(fused.getInit()) ||
      ShapedType::isDynamic(plan.sizes.back()))
    return std::nullopt;
  if (Value addend = fused.getModeProducts().back().getAddend())
    if (!isPaired(fused.getOperandOf(addend)))
      return std::nullopt;
  if (!chooseTile())
    return std::nullopt;
  placeBits();
  // Pairs lie along another axis than a step's, or are two of its positions.
  for (const DmmaStep &step : plan.steps)
    if (step.bit == 1)
      return std::nullopt;
  if (!chooseResources())
    return std::nullopt;
  return plan;
}

std::optional<DmmaPlan> kron::planDmma(FusedOp fused,
                                       const GPUMachine &machine) {
  return DmmaPlanner(fused, machine).run();
}
