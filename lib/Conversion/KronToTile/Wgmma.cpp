//===- Wgmma.cpp - Dense factors by wgmma as tiles ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is whole along the contracted axes, and takes some rows or columns.
// The warpgroups of a group take it through
//
//   view -> ring            asynchronous copies, one tile or more ahead
//   ring -> ... -> buffer   a step per factor: 64 fibres at a time, in place
//                           where elements are f32
//   buffer -> view          the last step's results, from registers; or from
//                           shared memory, where arrays are not aligned
//
// with a barrier between. Where there is room for one tile only, its last step
// makes room for the next one, fibre by fibre.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "WgmmaTiles.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class WholeTiles : WgmmaTiles {
public:
  WholeTiles(const TileSource &source, const WgmmaPlan &plan);

  void build();

private:
  void enterQuantize();
  SmallVector<int64_t> getRoom();
  SmallVector<int64_t> getSizes(int index) const;
  void copy(Value tile, int64_t ahead);
  Value wait(int64_t pending);
  Value takeTile(Value tile);
  void buildStep(unsigned index, Value source, Value target, Value tile);
  void storeResults(Value sums, Value block, Value source, Value target,
                    Value tile);
  void storeStaged(Value work, Value tile);
  void finish(Value slot, Value work, Value tile);
  void ifAligned(function_ref<void()> aligned, function_ref<void()> other);
  void buildTile(Value tile);

  kron::QuantizeOp quantize;
  /// Bytes of an access to the input, and to result and addend.
  int64_t loadBytes, storeBytes;
  /// Whether sums may go straight to the result; whether those that may not go
  /// through shared memory; and whether the last step refills the slot.
  bool canStore, isStaged, refills;
  /// Of rows of 8 bits.
  unsigned bytes = 0, scales = 0;
  SmallVector<Value> prepared;
  Value ring, workBuffer;
  /// Where a tile is put in order that was copied as it lies.
  Value landed;
};

} // namespace

WholeTiles::WholeTiles(const TileSource &source, const WgmmaPlan &plan)
    : WgmmaTiles(source, plan), quantize(source.quantize),
      loadBytes(getAccessBytes(operands.input, /*isInput=*/true)),
      storeBytes(getStoreBytes()),
      canStore(!quantize && !plan.sharedStore && canStoreSums()),
      isStaged(plan.steps.size() > 1 || plan.landing.elementBytes == 4 ||
               plan.sharedStore),
      refills(plan.canRefill() && loadBytes == kWgmmaVectorBytes && canStore) {}

/// What is written in the place of the result, which nobody sees.
void WholeTiles::enterQuantize() {
  int64_t elements = 1;
  for (const WgmmaAxis &axis : ArrayRef(plan.axes).drop_front())
    elements *= axis.after;
  std::tie(bytes, scales) =
      kernel.enterQuantized(quantize, sizes.front(), elements);
}

/// Positions that a tile has room for.
SmallVector<int64_t> WholeTiles::getRoom() {
  return llvm::map_to_vector(dims, [&](unsigned number) -> int64_t {
    const WgmmaAxis &axis = plan.axes[number];
    if (axis.step >= 0) {
      const WgmmaStep &step = plan.steps[axis.step];
      return std::max(step.paddedK, step.paddedResults);
    }
    return number + 1 == plan.axes.size() ? llvm::alignTo(axis.tile, 8)
                                          : axis.tile;
  });
}

/// Positions of a tile in front of step `index`.
SmallVector<int64_t> WholeTiles::getSizes(int index) const {
  return llvm::map_to_vector(dims, [&](unsigned number) {
    const WgmmaAxis &axis = plan.axes[number];
    return axis.step >= 0 && axis.step < index ? axis.after : axis.tile;
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void WholeTiles::copy(Value tile, int64_t ahead) {
  Value slot = tile::AcquireOp::create(b, loc, ring).getSlot();
  if (plan.segments)
    return kernel.copySegments(arguments, tile, ahead, slot, getSizes(0), axes);
  // It lies as the ring does, whatever the sizes of this step are.
  slot = kernel.resize(slot, getSizes(0));
  auto op = tile::CopyOp::create(b, loc, kernel.getArgument(arguments.input),
                                 tile, ahead, slot, loadBytes);
  if (SmallVector<int64_t> order = getOrder(operands.input); !order.empty())
    op.setOrder(order);
  op.setFill(true);
  op.setAxes(axes);
  op.setRounded(true);
}

Value WholeTiles::wait(int64_t pending) {
  Value slot = tile::WaitOp::create(b, loc, ring, pending);
  kernel.barrier();
  return slot;
}

/// The slot of `tile`, once it is there; starts to load what comes later.
Value WholeTiles::takeTile(Value tile) {
  if (plan.segments) {
    Value slot = wait(plan.buffers - 1);
    kernel.spread(arguments, slot, tile, kernel.resize(landed, getSizes(0)),
                  axes);
    tile::ReleaseOp::create(b, loc, slot);
    kernel.barrier();
    copy(tile, plan.buffers);
    return landed;
  }
  int64_t ahead = plan.buffers - 1;
  if (ahead > 0) {
    Value slot = wait(ahead - 1);
    copy(tile, ahead);
    return slot;
  }
  if (!refills) {
    kernel.barrier();
    copy(tile, 0);
  }
  tile::PrefetchOp::create(b, loc, kernel.getArgument(arguments.input), tile,
                           b.getDenseI64ArrayAttr(getSizes(0)),
                           b.getDenseI64ArrayAttr(axes));
  return wait(0);
}

/// Two variants, by whether all arrays that must be aligned are.
void WholeTiles::ifAligned(function_ref<void()> aligned,
                           function_ref<void()> other) {
  SmallVector<Value> views{kernel.getArgument(arguments.init)};
  for (Value view : {kernel.getArgument(arguments.addend),
                     refills ? kernel.getArgument(arguments.input) : Value()})
    if (view && !llvm::is_contained(views, view))
      views.push_back(view);
  // The axis along which an array has neighbours that is not contracted.
  int64_t axis = plan.turn == WgmmaTurn::Columns
                     ? llvm::find(viewAxes, plan.columnAxis) - viewAxes.begin()
                     : axes.back();
  auto op = tile::IfAlignedOp::create(
      b, loc, views, refills ? kWgmmaVectorBytes : storeBytes, axis);
  for (auto [region, build] : {std::pair(&op.getAligned(), aligned),
                               std::pair(&op.getOther(), other)}) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(region);
    tile::YieldOp::create(b, loc);
    b.setInsertionPointToStart(&region->front());
    build();
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Stores a block's results, or leaves them in shared memory.
void WholeTiles::storeResults(Value sums, Value block, Value source,
                              Value target, Value tile) {
  int64_t along = llvm::find(dims, plan.steps.back().axis) - dims.begin();
  auto leave = [&] {
    tile::ExchangeOp::create(b, loc, sums, target, block, along);
  };
  auto storeBlock = [&] {
    store(sums, block, tile, along, getSizes(plan.steps.size()));
  };
  if (!isStaged)
    return storeBlock();
  if (!canStore)
    return leave();
  ifAligned(
      [&] {
        if (refills)
          tile::RefillOp::create(b, loc, source, block,
                                 kernel.getArgument(arguments.input), tile,
                                 b.getDenseI64ArrayAttr(axes));
        storeBlock();
      },
      leave);
}

void WholeTiles::buildStep(unsigned index, Value source, Value target,
                           Value tile) {
  int64_t along = llvm::find(dims, plan.steps[index].axis) - dims.begin();
  auto operand = cast<tile::OperandType>(prepared[index].getType());
  auto type = tile::FragmentType::get({1, kWgmmaRows, operand.getSizeN()},
                                      b.getF32Type(), operand.getAtom());
  auto loop = tile::ForFibresOp::create(
      b, loc, b.getDenseI64ArrayAttr(getSizes(index)), along);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  Value sums = tile::ContractFibresOp::create(b, loc, type, source,
                                              loop.getBoxes(), prepared[index]);
  if (index + 1 == plan.steps.size())
    return storeResults(sums, loop.getBoxes(), source, target, tile);
  tile::ExchangeOp::create(b, loc, sums, target, loop.getBoxes(), along);
}

/// Stores results that are in shared memory.
void WholeTiles::storeStaged(Value work, Value tile) {
  kernel.barrier();
  work = kernel.resize(work, getSizes(plan.steps.size()));
  if (!quantize)
    return storeElements(work, tile);
  tile::QuantizeOp::create(b, loc, work, kernel.getArgument(bytes), tile,
                           kernel.getArgument(scales),
                           kernel.getArgument(arguments.alpha));
}

/// Stores what was left in shared memory, and starts to load the next tile if
/// that was not done before.
void WholeTiles::finish(Value slot, Value work, Value tile) {
  if (refills) {
    ifAligned([&] { tile::RefilledOp::create(b, loc, slot); },
              [&] {
                storeStaged(work, tile);
                tile::ReleaseOp::create(b, loc, slot);
                kernel.barrier();
                copy(tile, 1);
              });
    return;
  }
  if (isStaged && canStore)
    ifAligned([] {}, [&] { storeStaged(work, tile); });
  else if (isStaged)
    storeStaged(work, tile);
  if (!plan.segments)
    tile::ReleaseOp::create(b, loc, slot);
}

void WholeTiles::buildTile(Value tile) {
  Value slot = takeTile(tile);
  Value work = plan.inPlace ? slot : workBuffer;
  for (unsigned index = 0; index < plan.steps.size(); ++index) {
    if (index > 0)
      kernel.barrier();
    buildStep(index, index == 0 ? slot : work, work, tile);
  }
  finish(slot, work, tile);
}

void WholeTiles::build() {
  if (quantize)
    sizes.front() = getQuantizedRowCount(kernel.host, quantize, sizes.front());
  enterOperands(/*hasResult=*/!quantize);
  if (quantize)
    enterQuantize();
  begin();
  tile::BufferType landing = getBuffer(plan.landing, inputType, getRoom());
  if (plan.segments)
    landed = tile::AllocOp::create(b, loc, landing);
  ring = tile::AllocOp::create(
      b, loc,
      tile::RingType::get(plan.buffers,
                          plan.segments
                              ? getSegmentBuffer(*plan.segments, inputType)
                              : landing));
  if (!plan.inPlace)
    workBuffer = tile::AllocOp::create(
        b, loc, getBuffer(plan.work, b.getF32Type(), getRoom()));
  int64_t ahead = refills ? 1 : plan.buffers - !plan.segments;
  for (int64_t turn = 0; turn < ahead; ++turn)
    copy(Value(), turn);
  for (unsigned index = 0; index < plan.steps.size(); ++index)
    prepared.push_back(prepare(index));
  kernel.barrier();
  buildLoop([&](Value tile) { buildTile(tile); });
}

LogicalResult kron::tileWgmma(const TileSource &source) {
  std::variant<WgmmaPlan, std::string> read =
      std::string("the chip has no wgmma instructions");
  if (source.machine.hasWgmma)
    read = readWgmmaPlan(source.fused, source.plan);
  FailureOr<WgmmaPlan> plan =
      takeTilePlan(source, std::move(read),
                   [&](const WgmmaPlan &found) -> std::optional<std::string> {
                     bool quantizes(source.quantize);
                     if (found.quantize == quantizes)
                       return std::nullopt;
                     return "expects quantize to be " +
                            std::to_string(quantizes) + ", as there is " +
                            (quantizes ? "a" : "no") +
                            " kron.quantize for it, but got " +
                            std::to_string(found.quantize);
                   });
  if (failed(plan))
    return failure();
  if (plan->pieces > 1)
    tileWgmmaPieces(source, *plan);
  else
    WholeTiles(source, *plan).build();
  return success();
}
