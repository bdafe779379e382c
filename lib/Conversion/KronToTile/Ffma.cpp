//===- Ffma.cpp - Fibres in registers as tiles ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is a box of the array that is whole along the contracted axes. It goes
// through
//
//   view -> ring            asynchronous copies; part of the next tile, or all
//                           of it, has room beside this one
//   ring -> ring            a step per group of axes: each thread holds boxes
//                           that are whole along these, and leaves them where
//                           it took them from
//   ring -> view            the last group's results, from registers; through
//                           the ring if the group has the innermost axis
//
// with a barrier between, of the threads of a slot where they keep to that. One
// group that leaves the innermost axis alone needs no shared memory.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class FfmaTiles : FusedTiles<FfmaPlan> {
public:
  using FusedTiles::FusedTiles;
  void build();

private:
  void enterOperands();
  tile::BufferType getBuffer(ArrayRef<int64_t> shape);
  Value resize(Value slot, ArrayRef<int64_t> shape);
  void copy(Value tile, int64_t first, int64_t end);
  void barrier(bool inGroups);
  bool isConfined(const FfmaGroup &group) const;
  void copyLate(Value slot, Value tile);
  void buildTile(Value tile);
  void buildGroup(const FfmaGroup &group, Value slot, Value tile);
  Value multiply(const FfmaGroup &group, Value fragment);
  void store(Value source, Value boxes, Value tile, ArrayRef<int64_t> along);

  bool isLast(const FfmaGroup &group) const {
    return &group == &plan.groups.back();
  }
  /// Whether results of `group` go to memory from registers.
  bool stores(const FfmaGroup &group) const {
    return isLast(group) && !plan.copiesOut;
  }

  /// Axes as threads go along them; null: from the outermost to the innermost.
  DenseI64ArrayAttr inputOrder, outputOrder;
  /// In the kernel.
  Value ring, next;
  DenseMap<Operation *, Value> operands;
};

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

void FfmaTiles::enterOperands() {
  arguments = kernel.enterBoxes(fused, plan.extents, plan.contracted);
  inputOrder = kernel.getOrder(arguments.inputStrides, plan.extents);
  outputOrder =
      kernel.getOrder(arguments.initStrides, plan.groups.back().after);
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes)
      kernel.enterFactor(fused, axis.product, axis.sizeK, axis.sizeN,
                         arguments);
  kernel.enterTileCount(/*bits=*/64, arguments);
}

//===----------------------------------------------------------------------===//
// The ring
//===----------------------------------------------------------------------===//

/// A tile with these positions, where the plan has them.
tile::BufferType FfmaTiles::getBuffer(ArrayRef<int64_t> shape) {
  tile::LayoutAttr layout;
  if (TileLayout::getDenseStrides(shape) != plan.strides)
    layout = tile::LayoutAttr::get(b.getContext(), plan.strides, {});
  return tile::BufferType::get(shape, element, layout);
}

Value FfmaTiles::resize(Value slot, ArrayRef<int64_t> shape) {
  tile::BufferType type = getBuffer(shape);
  if (slot.getType() == type)
    return slot;
  return tile::ResizeOp::create(b, loc, type, slot);
}

/// Starts the copies of slots [first, end) of the tile after `tile`, or of the
/// first one. Slots beyond the input hold results only.
void FfmaTiles::copy(Value tile, int64_t first, int64_t end) {
  int64_t extent = plan.extents[plan.slotAxis];
  end = std::min(end, extent);
  if (first >= end)
    return;
  auto op = tile::CopyOp::create(b, loc, kernel.getArgument(arguments.input),
                                 tile, /*ahead=*/tile ? 1 : 0,
                                 resize(next, plan.groups.front().before),
                                 plan.copyWidth * plan.elementBytes);
  if (end - first < extent)
    op.setPart(ArrayRef<int64_t>{first, end});
  op.setOrderAttr(inputOrder);
  op.setGroups(plan.slotThreads ? plan.slots : 1);
  op.setTogether(plan.copies);
}

/// Waits for all threads, or for those of this one's slot.
void FfmaTiles::barrier(bool inGroups) {
  tile::BarrierOp::create(b, loc,
                          inGroups && plan.slotThreads ? plan.slots : 1);
}

/// Whether the threads of a slot take the boxes that lie in it.
bool FfmaTiles::isConfined(const FfmaGroup &group) const {
  return !plan.hasSlots(group) && !(stores(group) && outputOrder);
}

/// Once the last group has read, its places may be overwritten: by this turn's
/// last copies, and by the next one's first ones, of which the threads of a
/// slot do not wait for the others.
void FfmaTiles::copyLate(Value slot, Value tile) {
  tile::ReleaseOp::create(b, loc, slot);
  int64_t early = plan.ringSlots - plan.slots;
  if (early >= plan.slots && !plan.slotThreads)
    return;
  barrier(isConfined(plan.groups.back()) && plan.ringSlots % plan.slots == 0);
  copy(tile, std::min(early, plan.slots), plan.slots);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Applies the factors of `group` to what threads hold.
Value FfmaTiles::multiply(const FfmaGroup &group, Value fragment) {
  bool streams = plan.streams(group);
  for (auto [number, axis] : llvm::enumerate(group.axes)) {
    auto type = cast<tile::FragmentType>(fragment.getType());
    // The innermost axis is the last dimension.
    int64_t along = group.axes.size() - number;
    SmallVector<int64_t> shape(type.getShape());
    int64_t fibres = llvm::product_of(shape) / axis.sizeK;
    bool isLastAxis = along == 1;
    shape[along] = axis.sizeN;
    fragment = tile::ContractOp::create(
        b, loc, tile::FragmentType::get(shape, element), fragment,
        operands.at(axis.product), along, tile::AtomKind::Fma,
        plan.getBlock(axis, fibres, isLastAxis && streams),
        /*whole=*/isLastAxis && !streams, /*ordered=*/false);
  }
  return fragment;
}

void FfmaTiles::store(Value source, Value boxes, Value tile,
                      ArrayRef<int64_t> along) {
  tile::StoreOp op =
      kernel.store(arguments, source, boxes, tile, plan.elementBytes);
  op.setTogether(plan.copies);
  if (boxes) {
    op.setAlong(along);
    op.setBox(plan.groups.back().after);
  } else {
    op.setOrderAttr(outputOrder);
  }
}

/// Takes the tile, which lies in `slot` if there is one, through `group`.
void FfmaTiles::buildGroup(const FfmaGroup &group, Value slot, Value tile) {
  SmallVector<int64_t> along, shape{group.batch};
  for (const FfmaAxis &axis : llvm::reverse(group.axes)) {
    along.push_back(axis.axis);
    shape.push_back(axis.sizeK);
  }
  Value source = kernel.getArgument(arguments.input), destination;
  if (slot)
    source = resize(slot, group.before);
  if (!stores(group))
    destination = resize(slot, group.after);
  auto loop = tile::ForBoxesOp::create(
      b, loc, group.items, group.batch, /*unrolled=*/3, /*excess=*/false,
      /*repeat=*/true, stores(group) ? outputOrder : DenseI64ArrayAttr());
  // All threads have read what they will read in the loop already, or behind
  // it.
  bool isOnce = group.items == group.batch * plan.threads;
  bool isRead = slot && stores(group);
  {
    OpBuilder::InsertionGuard guard(b);
    kernel.beginBody(loop);
    auto type = tile::FragmentType::get(shape, element);
    Value fragment = tile::LoadOp::create(
        b, loc, type, source, loop.getBoxes(), slot ? Value() : tile, along,
        slot ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(group.before));
    if (isRead && isOnce)
      copyLate(slot, tile);
    fragment = multiply(group, fragment);
    if (destination)
      tile::ExchangeOp::create(b, loc, fragment, destination, loop.getBoxes(),
                               along);
    else
      store(fragment, loop.getBoxes(), tile, along);
  }
  if (isRead && !isOnce)
    copyLate(slot, tile);
}

void FfmaTiles::buildTile(Value tile) {
  if (plan.direct)
    return buildGroup(plan.groups.front(), Value(), tile);
  Value slot = tile::WaitOp::create(b, loc, ring, /*pending=*/0);
  barrier(isConfined(plan.groups.front()));
  next = tile::AcquireOp::create(b, loc, ring);
  // Slots of the next tile that have room beside this one's.
  copy(tile, 0, std::min(plan.slots, plan.ringSlots - plan.slots));
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    if (number > 0)
      barrier(isConfined(group));
    buildGroup(group, slot, tile);
  }
  if (!plan.copiesOut)
    return;
  kernel.barrier();
  store(resize(slot, plan.groups.back().after), Value(), tile, {});
  copyLate(slot, tile);
}

void FfmaTiles::build() {
  enterOperands();
  begin(plan.threads);
  if (!plan.direct) {
    ring = tile::AllocOp::create(b, loc,
                                 tile::RingType::get(plan.ringSlots,
                                                     getBuffer(plan.getRoom()),
                                                     plan.slotAxis));
    next = tile::AcquireOp::create(b, loc, ring);
    copy(Value(), 0, plan.slots);
  }
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes) {
      auto type = tile::OperandType::get({axis.sizeK, axis.sizeN}, element);
      operands[axis.product] = tile::PrepareOp::create(
          b, loc, type, kernel.getArgument(arguments.factors.at(axis.product)));
    }
  kernel.barrier();
  buildLoop([&](Value tile) { buildTile(tile); });
}

LogicalResult kron::tileFfma(const TileSource &source) {
  return buildTiles<FfmaTiles>(source, readFfmaPlan(source.fused, source.plan),
                               getNoReason<FfmaPlan>);
}
