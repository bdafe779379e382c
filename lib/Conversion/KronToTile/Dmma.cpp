//===- Dmma.cpp - f64 octets as tiles -------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is a box of the array that is whole along the contracted axes, each of
// 8 positions. It goes through
//
//   view -> ring            asynchronous copies, as many tiles ahead as the
//   ring
//                           has others; each warp copies its part of a tile
//   ring -> ring            a step per factor, in place: each warp multiplies
//   16
//                           fibres per instruction, those that it has copied
//                           itself as long as these lie in its part
//   ring -> view            the last step's results, from registers
//
// with a barrier between, of the warps that share fibres.
//
// Two CTAs that share a tile hold 4 of the 8 positions of the last step's axis
// each. In that step, each CTA takes half of the fibres, reads the 4 positions
// that it does not hold from the other CTA's shared memory, and computes all 8
// results.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/Plan/GPU/DmmaPlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class DmmaTiles : FusedTiles<DmmaPlan> {
public:
  using FusedTiles::FusedTiles;
  void build();

private:
  void allocate();
  void copy(Value tile, int64_t ahead, int64_t first, int64_t end);
  void prepare(const DmmaStep &step);
  void barrier(const DmmaStep &step);
  void barrierOfCluster(bool arrive, bool wait);
  void buildStep(const DmmaStep &step, Value operand, Value slot, Value tile);
  void buildTile(Value tile);

  bool isLast(const DmmaStep &step) const {
    return &step == &plan.steps.back();
  }
  /// Whether `step` is of fibres that two CTAs share.
  bool isSplit(const DmmaStep &step) const {
    return plan.cluster == 2 && isLast(step);
  }

  /// In the kernel.
  Value ring, next;
  SmallVector<Value> operands;
};

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

/// A ring of whole tiles, or where two CTAs share these, of positions of the
/// last step's axis.
void DmmaTiles::allocate() {
  SmallVector<int64_t> swizzle;
  for (auto [from, to] : plan.swizzles)
    llvm::append_values(swizzle, from, to);
  auto layout = tile::LayoutAttr::get(
      b.getContext(), TileLayout::getDenseStrides(plan.extents), swizzle);
  auto buffer = tile::BufferType::get(plan.extents, element, layout);
  std::optional<int64_t> along;
  if (plan.cluster == 2)
    along = plan.steps.back().axis;
  ring = tile::AllocOp::create(
      b, loc, tile::RingType::get(plan.ringSlots, buffer, along));
}

/// The factor of `step` as lanes have it.
void DmmaTiles::prepare(const DmmaStep &step) {
  tile::OperandOrder order = isSplit(step)   ? tile::OperandOrder::Halves
                             : step.bit == 0 ? tile::OperandOrder::Pairs
                                             : tile::OperandOrder::Apart;
  auto type = tile::OperandType::get({kDmmaFactorSize, kDmmaFactorSize},
                                     element, tile::AtomKind::Dmma, order);
  unsigned number = arguments.factors.at(step.product);
  operands.push_back(
      tile::PrepareOp::create(b, loc, type, kernel.getArgument(number)));
}

//===----------------------------------------------------------------------===//
// The ring
//===----------------------------------------------------------------------===//

/// Starts the copies of slots [first, end) of the tile `ahead` turns after
/// `tile`, or after the first one: each warp its part.
void DmmaTiles::copy(Value tile, int64_t ahead, int64_t first, int64_t end) {
  if (first == end)
    return;
  auto op = tile::CopyOp::create(b, loc, kernel.getArgument(arguments.input),
                                 tile, ahead, next, kDmmaPairBytes);
  if (end - first < plan.slots)
    op.setPart(ArrayRef<int64_t>{first, end});
  op.setGroups(plan.warps);
  op.setTogether(plan.getCopies());
  op.setSplit(plan.cluster == 2);
}

/// Waits for the warps that the fibres of a step lie with.
void DmmaTiles::barrier(const DmmaStep &step) {
  if (isSplit(step))
    return barrierOfCluster(/*arrive=*/false, /*wait=*/false);
  tile::BarrierOp::create(b, loc, plan.warps / plan.getStepWarps(step.bit),
                          /*numbered=*/plan.getStepWarps(step.bit) > 1 &&
                              plan.getStepWarps(step.bit) < plan.warps);
}

void DmmaTiles::barrierOfCluster(bool arrive, bool wait) {
  tile::BarrierOp::create(b, loc, /*groups=*/1, /*numbered=*/false,
                          /*cluster=*/true, arrive, wait);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Takes the tile in `slot` through `step`.
void DmmaTiles::buildStep(const DmmaStep &step, Value operand, Value slot,
                          Value tile) {
  // All warps of the cluster share the fibres of a step that is split.
  int64_t ctas = isSplit(step) ? plan.cluster : 1;
  int64_t warps = plan.warps * ctas, together = plan.getUnitsAtOnce();
  auto loop = tile::ForBoxesOp::create(
      b, loc, plan.getUnits() * ctas, together, /*unrolled=*/3,
      /*excess=*/false, /*repeat=*/false, /*order=*/DenseI64ArrayAttr(), warps);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  // What is innermost is last.
  SmallVector<int64_t> shape{together, tile::kDmmaSizeK, tile::kDmmaSizeM};
  int64_t along = 1, axis = step.axis;
  if (step.bit == 0)
    std::swap(shape[1], shape[2]), along = 2;
  auto type = tile::FragmentType::get(shape, element, tile::AtomKind::Dmma);
  Value fragment = tile::LoadOp::create(
      b, loc, type, slot, loop.getBoxes(), /*tile=*/Value(), axis,
      /*box=*/DenseI64ArrayAttr(), /*halves=*/isSplit(step));
  if (isSplit(step))
    barrierOfCluster(/*arrive=*/true, /*wait=*/false);
  fragment = tile::ContractOp::create(
      b, loc, type, fragment, operand, along, tile::AtomKind::Dmma,
      {together * tile::kDmmaSizeM, tile::kDmmaSizeN}, /*whole=*/true,
      /*ordered=*/false);
  if (!isLast(step)) {
    tile::ExchangeOp::create(b, loc, fragment, slot, loop.getBoxes(), axis);
    return;
  }
  tile::StoreOp op =
      kernel.store(arguments, fragment, loop.getBoxes(), tile, kDmmaPairBytes);
  op.setAlong(ArrayRef<int64_t>{axis});
  op.setBox(plan.getTileExtents());
}

/// The place of the tile before is free once the warps that share fibres have
/// met in this tile. Of a ring that two CTAs share, part is free from the
/// start, and the others once both have read.
void DmmaTiles::buildTile(Value tile) {
  bool isShared = plan.cluster == 2;
  int64_t ahead = isShared ? 1 : plan.ringSlots - 1;
  int64_t early = isShared ? plan.ringSlots - plan.slots : plan.slots;
  const DmmaStep &last = plan.steps.back();
  Value slot = tile::WaitOp::create(b, loc, ring, ahead - 1);
  tile::BarrierOp::create(b, loc, /*groups=*/plan.warps);
  auto copyEarly = [&] {
    next = tile::AcquireOp::create(b, loc, ring);
    copy(tile, ahead, 0, std::min(early, plan.slots));
  };
  bool isMet = isShared || plan.isPrivate(last.bit);
  if (isMet)
    copyEarly();
  for (auto [number, step] : llvm::enumerate(plan.steps)) {
    if (number > 0 || !plan.isPrivate(step.bit))
      barrier(step);
    if (isLast(step) && !isMet)
      copyEarly();
    buildStep(step, operands[number], slot, tile);
  }
  tile::ReleaseOp::create(b, loc, slot);
  if (!isShared)
    return;
  barrierOfCluster(/*arrive=*/false, /*wait=*/true);
  copy(tile, ahead, std::min(early, plan.slots), plan.slots);
}

void DmmaTiles::build() {
  arguments = kernel.enterBoxes(fused, plan.getTileExtents(), plan.contracted);
  for (const DmmaStep &step : plan.steps)
    kernel.enterFactor(fused, step.product, kDmmaFactorSize, kDmmaFactorSize,
                       arguments);
  kernel.enterTileCount(/*bits=*/32, arguments);
  begin(32 * plan.warps, plan.cluster);
  allocate();
  int64_t first = plan.cluster == 2 ? 1 : plan.ringSlots - 1;
  for (int64_t ahead = 0; ahead < first; ++ahead) {
    next = tile::AcquireOp::create(b, loc, ring);
    copy(Value(), ahead, 0, plan.slots);
  }
  for (const DmmaStep &step : plan.steps)
    prepare(step);
  buildLoop([&](Value tile) { buildTile(tile); });
}

LogicalResult kron::tileDmma(const TileSource &source) {
  return buildTiles<DmmaTiles>(source, readDmmaPlan(source.fused, source.plan),
                               [&](const DmmaPlan &plan) {
                                 return getDmmaMachineReason(plan,
                                                             source.machine);
                               });
}
