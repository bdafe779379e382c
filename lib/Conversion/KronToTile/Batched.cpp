//===- Batched.cpp - Many small arrays as tiles ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA takes some whole arrays ("items") at a time through shared memory. Each
// thread holds whole fibres, or whole planes of the two innermost axes, in
// registers. A tile goes through
//
//   view -> slot            asynchronous copies to a slot of a ring, as many
//                           tiles ahead as it has other slots
//   slot -> ... -> buffer   one step per factor, or per pair of factors on the
//                           two innermost axes; in place where sizes stay
//   buffer -> view          with alpha, beta, Z; or the last step's results
//                           straight from registers
//
// with a barrier between.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/Plan/GPU/BatchedPlan.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class BatchedTiles : FusedTiles<BatchedPlan> {
public:
  using FusedTiles::FusedTiles;
  void build();

private:
  void enterOperands();
  Value makeView(const StepArray &array, ArrayRef<Int> outerSizes,
                 ArrayRef<int64_t> itemSizes);
  void allocate();
  void copy(Value tile, int64_t ahead);
  void buildTile(Value tile);
  void buildStep(const BatchedStep &step, Value source, Value destination,
                 Value tile);
  Value multiply(const BatchedStep &step, Value fragment);
  void store(Value source, Value boxes, Value tile, ArrayRef<int64_t> along,
             int64_t bytes);
  tile::BufferType getBuffer(const ItemLayout &layout);

  int64_t getRank() const { return plan.getInput().sizes.size(); }
  /// Bytes of an access to global memory that moves whole tiles.
  int64_t getBytes() const { return plan.isPacked ? 16 : 16 / plan.chunk; }
  /// Axes of a buffer that the boxes of a step are whole along; axis 0 counts
  /// items.
  SmallVector<int64_t> getAlong(const BatchedStep &step) const;

  /// In the kernel.
  Value ring;
  SmallVector<Value> targets, operands;
};

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

/// Items are counted by all outer axes of the fused region; those without gaps
/// by one.
Value BatchedTiles::makeView(const StepArray &array, ArrayRef<Int> outerSizes,
                             ArrayRef<int64_t> itemSizes) {
  Emitter &host = kernel.host;
  SmallVector<Int> sizes(outerSizes);
  if (plan.isPacked) {
    Int items = 1;
    for (Int size : outerSizes)
      items = host.mul(items, size);
    sizes = {items};
  }
  llvm::append_range(sizes, itemSizes);
  return kernel.makeView(array.base, sizes,
                         plan.isPacked ? ArrayRef<Int>()
                                       : ArrayRef<Int>(array.strides));
}

void BatchedTiles::enterOperands() {
  Emitter &host = kernel.host;
  FusedOperands all = getFusedOperands(host, fused);
  SmallVector<Int> outerSizes(ArrayRef(all.sizes).take_front(plan.firstAxis));
  // A region without axes outside has one item.
  if (outerSizes.empty()) {
    outerSizes.push_back(1);
    for (StepArray *array : {&all.input, &all.init, &all.addend})
      array->strides.insert(array->strides.begin(), Int(0));
  }
  arguments.input =
      kernel.enter(makeView(all.input, outerSizes, plan.getInput().sizes));
  auto enterOutput = [&](const StepArray &array) {
    return kernel.enter(makeView(array, outerSizes, plan.getOutput().sizes));
  };
  arguments.init = enterOutput(all.init);
  kernel.enterTargets(all, arguments, enterOutput);
  for (auto [product, factor] :
       llvm::zip_equal(fused.getModeProducts(), plan.factors))
    kernel.enterFactor(fused, product, factor.sizeK, factor.sizeN, arguments);
  Int items = 1;
  for (Int size : outerSizes)
    items = host.mul(items, size);
  arguments.tiles = host.ceilDiv(items, plan.itemsPerTile);
  kernel.enterTileCount(/*bits=*/64, arguments);
}

/// Planes lie one after the other, with gaps between them.
tile::BufferType BatchedTiles::getBuffer(const ItemLayout &layout) {
  SmallVector<int64_t> shape{plan.itemsPerTile + plan.slackItems};
  llvm::append_range(shape, layout.sizes);
  tile::LayoutAttr attribute;
  if (layout.pitch != layout.planeSize) {
    SmallVector<int64_t> strides = TileLayout::getDenseStrides(shape);
    for (int64_t &stride : MutableArrayRef(strides).drop_back(2))
      stride = stride / layout.planeSize * layout.pitch;
    attribute = tile::LayoutAttr::get(b.getContext(), strides, {});
  }
  return tile::BufferType::get(shape, element, attribute);
}

/// The ring, and where steps that change sizes leave their results: two buffers
/// in turns.
void BatchedTiles::allocate() {
  ring = tile::AllocOp::create(
      b, loc, tile::RingType::get(plan.stages, getBuffer(plan.getInput())));
  SmallVector<Value> buffers;
  for (const BatchedStep &step : plan.steps) {
    Value &target = targets.emplace_back();
    if (step.source == step.destination ||
        (plan.storesDirectly && &step == &plan.steps.back()))
      continue;
    Value reused;
    int64_t number = buffers.size();
    if (number >= plan.numWorkBuffers)
      reused = buffers[number % plan.numWorkBuffers];
    target = tile::AllocOp::create(b, loc, getBuffer(step.destination), reused);
    buffers.push_back(target);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void BatchedTiles::copy(Value tile, int64_t ahead) {
  Value slot = tile::AcquireOp::create(b, loc, ring);
  tile::CopyOp::create(b, loc, kernel.getArgument(arguments.input), tile, ahead,
                       slot, getBytes())
      .setRows(plan.itemsPerTile);
}

SmallVector<int64_t> BatchedTiles::getAlong(const BatchedStep &step) const {
  if (step.isPlane())
    return {getRank() - 1, getRank()};
  return {plan.factors[step.products.front()].axis - plan.firstAxis + 1};
}

/// Applies the factors of a step to what its threads hold.
Value BatchedTiles::multiply(const BatchedStep &step, Value fragment) {
  int64_t fibres = plan.getUnitsTogether(step) * plan.getFibresPerUnit(step);
  for (unsigned product : step.products) {
    const ProblemFactor &factor = plan.factors[product];
    bool isLast = factor.axis - plan.firstAxis + 1 == getRank();
    int64_t along = step.isPlane() && isLast ? 2 : 1;
    auto type = cast<tile::FragmentType>(fragment.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[along] = factor.sizeN;
    // The fibres of a thread share the loads of the factor.
    SmallVector<int64_t> block{fibres, plan.chunk};
    if (step.isPlane())
      block = {plan.planeFibres, factor.sizeN};
    fragment = tile::ContractOp::create(
        b, loc, tile::FragmentType::get(shape, element), fragment,
        operands[product], along, tile::AtomKind::Fma, block,
        /*whole=*/false, /*ordered=*/true);
  }
  return fragment;
}

void BatchedTiles::store(Value source, Value boxes, Value tile,
                         ArrayRef<int64_t> along, int64_t bytes) {
  tile::StoreOp op = kernel.store(arguments, source, boxes, tile, bytes);
  op.setRows(plan.itemsPerTile);
  if (boxes)
    op.setAlong(along);
}

/// Takes `source` through a step to `destination`, or straight to memory if
/// there is none.
void BatchedTiles::buildStep(const BatchedStep &step, Value source,
                             Value destination, Value tile) {
  SmallVector<int64_t> along = getAlong(step), shape;
  int64_t count, together = 1, perUnit = 1;
  if (step.isPlane()) {
    count = plan.itemsPerTile * step.source.numPlanes;
    shape = {1, step.source.sizes[getRank() - 2], step.source.sizes.back()};
  } else {
    count = plan.getNumUnits(step);
    together = plan.getUnitsTogether(step);
    perUnit = plan.getFibresPerUnit(step);
    shape = {together, plan.factors[step.products.front()].sizeK};
    if (along.back() < getRank())
      shape.push_back(perUnit);
  }
  bool excess = plan.slackItems && count % plan.threads != 0;
  auto loop = tile::ForBoxesOp::create(b, loc, count, together, plan.unrolled,
                                       excess, /*repeat=*/false,
                                       /*order=*/DenseI64ArrayAttr());
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  Value fragment =
      tile::LoadOp::create(b, loc, tile::FragmentType::get(shape, element),
                           source, loop.getBoxes(), /*tile=*/Value(), along,
                           /*box=*/DenseI64ArrayAttr());
  fragment = multiply(step, fragment);
  if (destination)
    tile::ExchangeOp::create(b, loc, fragment, destination, loop.getBoxes(),
                             along);
  else
    store(fragment, loop.getBoxes(), tile, along,
          perUnit == plan.chunk ? 16 : 16 / plan.chunk);
}

void BatchedTiles::buildTile(Value tile) {
  copy(tile, plan.stages - 1);
  Value slot = tile::WaitOp::create(b, loc, ring, plan.stages - 1);
  kernel.barrier();
  Value buffer = slot;
  for (auto [step, target] : llvm::zip_equal(plan.steps, targets)) {
    bool isDirect = plan.storesDirectly && &step == &plan.steps.back();
    Value destination = isDirect ? Value() : target ? target : buffer;
    buildStep(step, buffer, destination, tile);
    if (isDirect)
      continue;
    kernel.barrier();
    buffer = destination;
  }
  if (!plan.storesDirectly)
    store(buffer, Value(), tile, {}, getBytes());
  tile::ReleaseOp::create(b, loc, slot);
  kernel.barrier();
}

void BatchedTiles::build() {
  enterOperands();
  begin(plan.threads);
  allocate();
  for (int64_t ahead = 0; ahead + 1 < plan.stages; ++ahead)
    copy(Value(), ahead);
  for (auto [product, factor] :
       llvm::zip_equal(fused.getModeProducts(), plan.factors)) {
    auto type = tile::OperandType::get({factor.sizeK, factor.sizeN}, element);
    unsigned number = arguments.factors.at(product);
    operands.push_back(
        tile::PrepareOp::create(b, loc, type, kernel.getArgument(number)));
  }
  buildLoop([&](Value tile) { buildTile(tile); });
}

LogicalResult kron::tileBatched(const TileSource &source) {
  return buildTiles<BatchedTiles>(source,
                                  readBatchedPlan(source.fused, source.plan),
                                  getNoReason<BatchedPlan>);
}
