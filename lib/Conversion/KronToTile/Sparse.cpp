//===- Sparse.cpp - A factor that varies along axes, as tiles -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Of a factor that varies along axes, each position of these is a product of
// rows x K times K x N. A tile is some rows, lanes and results of it, which the
// warps of a CTA share:
//
//   views -> rings        pieces of some positions K of data and factor, by
//                         asynchronous copies some pieces ahead
//   rings -> registers    products by mma.sync, of chunks of 16 bytes; sums of
//                         all pieces stay in registers
//   registers -> view     results, scaled and through an epilogue
//
// Or the part of the factor that some tiles need stays in shared memory for
// them, and only pieces of data arrive.
//
// What lies along a chunk is what lies side by side in memory: K, lanes, or
// rows. Views have rows first, then what the factor does not vary along, then
// groups, lanes, and K or the results.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/Plan/GPU/SparsePlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class SparseTiles {
public:
  SparseTiles(OpBuilder &hostBuilder, FusedOp fused, const SparsePlan &plan,
              const GPUMachine &machine)
      : kernel(hostBuilder, fused), fused(fused),
        product(fused.getModeProducts().front()), plan(plan), machine(machine),
        b(kernel.builder), loc(kernel.loc),
        operands(getFusedOperands(kernel.host, fused)) {}

  void build(gpu::GPUModuleOp gpuModule);

private:
  unsigned enterArray(const StepArray &array, int64_t last, Type element);
  unsigned enterFactor(const StepFactor &array, Type element);
  void enterSides();
  DenseI64ArrayAttr getFactorOrder();
  void enterOperands();
  int64_t getRank() const {
    return 3 + plan.groupAxes.size() + plan.freeAxes.size();
  }
  tile::ChunksAttr getChunks(DenseI64ArrayAttr order);
  tile::PiecesAttr getPieces();
  Value allocateRing(int64_t stages, ArrayRef<int64_t> piece, Type element);
  tile::FragmentType getSums();
  int64_t getPitch(bool isFactor) const;
  void allocate();
  void multiply(Value count, Value kept);
  void multiplyStreams();
  void multiplySegments();
  void store(Value sums, Value tile);

  TileKernel kernel;
  FusedOp fused;
  ModeProductOp product;
  const SparsePlan &plan;
  const GPUMachine &machine;
  OpBuilder &b;
  Location loc;
  FusedOperands operands;
  BoxArguments arguments;
  unsigned factor = 0;
  DenseI64ArrayAttr factorOrder;
  tile::PiecesAttr pieces;
  /// Of data, and of pieces of the factor or one for the part that stays.
  Value ring, factorRing;
  /// For sums that change warps or places; null if none do.
  Value shared;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// A view of `array` with `last` positions of the axis that is contracted, the
/// results' axis of what is written.
unsigned SparseTiles::enterArray(const StepArray &array, int64_t last,
                                 Type element) {
  SmallVector<Int> sizes, strides;
  auto add = [&](int axis, Int size) {
    sizes.push_back(size);
    strides.push_back(axis < 0 ? Int(0) : array.strides[axis]);
  };
  if (plan.swapsOperands)
    add(plan.axis, plan.swappedRows);
  else
    add(plan.rowAxis, plan.rowAxis < 0 ? Int(1) : operands.sizes[plan.rowAxis]);
  for (unsigned axis : plan.freeAxes)
    add(axis, operands.sizes[axis]);
  for (auto [axis, size] : llvm::zip_equal(plan.groupAxes, plan.groupSizes))
    add(axis, size);
  add(plan.laneAxis, plan.lanes);
  add(plan.swapsOperands ? plan.rowAxis : plan.axis, last);
  return kernel.enter(kernel.makeView(array.base, sizes, strides, element));
}

/// Groups, lanes, results and K. Where there is one position, a stride may be
/// any.
unsigned SparseTiles::enterFactor(const StepFactor &array, Type element) {
  SmallVector<Int> sizes, strides;
  bool isOpen = false;
  auto add = [&](Int size, Int stride) {
    sizes.push_back(size);
    strides.push_back(size.is(1) ? Int(0) : stride);
    isOpen |= !strides.back().isConstant();
  };
  for (auto [axis, size] : llvm::zip_equal(plan.groupAxes, plan.groupSizes))
    add(size, array.strides[axis]);
  add(plan.lanes, plan.laneAxis < 0 ? Int(0) : array.strides[plan.laneAxis]);
  add(plan.sizeN, array.resultStride);
  add(plan.sizeK, array.strideK);
  if (isOpen && !plan.swapsOperands)
    factorOrder = getFactorOrder();
  return kernel.enter(kernel.makeView(array.base, sizes, strides, element));
}

/// The data and the factor, which may have changed places: results of the
/// latter are rows then.
void SparseTiles::enterSides() {
  StepFactor array = getFusedFactor(kernel.host, fused, product).array;
  Type data = getElementType(product.getInput()),
       weight = getElementType(product.getFactor());
  if (!plan.swapsOperands) {
    arguments.input = enterArray(operands.input, plan.sizeK, data);
    factor = enterFactor(array, weight);
    return;
  }
  StepArray rows;
  rows.base = array.base;
  rows.strides = array.strides;
  rows.strides[plan.axis] = array.resultStride;
  rows.strides[plan.rowAxis] = array.strideK;
  arguments.input = enterArray(rows, plan.sizeK, weight);
  StepFactor columns;
  columns.base = operands.input.base;
  columns.strides = operands.input.strides;
  columns.resultStride = operands.input.strides[plan.rowAxis];
  columns.strideK = operands.input.strides[plan.axis];
  factor = enterFactor(columns, data);
}

/// The dimensions of the factor's view, as they lie in a row-major array. Those
/// that it has not, of one position, come first.
DenseI64ArrayAttr SparseTiles::getFactorOrder() {
  int64_t lanes = plan.groupAxes.size();
  SmallVector<int64_t> order;
  for (int64_t axis : product.getFactorDims()) {
    const unsigned *group = llvm::find(plan.groupAxes, unsigned(axis));
    if (axis == ModeProductOp::kContracted)
      order.push_back(lanes + 2);
    else if (axis == ModeProductOp::kResulting)
      order.push_back(lanes + 1);
    else if (axis == plan.laneAxis)
      order.push_back(lanes);
    else if (group != plan.groupAxes.end())
      order.push_back(group - plan.groupAxes.begin());
  }
  if (plan.laneAxis < 0)
    order.insert(order.begin(), lanes);
  return b.getDenseI64ArrayAttr(order);
}

void SparseTiles::enterOperands() {
  Emitter &host = kernel.host;
  Type element = plan.element;
  auto enterResults = [&](const StepArray &array) {
    return enterArray(array, plan.sizeN, element);
  };
  enterSides();
  arguments.init = enterResults(operands.init);
  kernel.enterScales(operands, arguments, enterResults);
  if (const auto &epilogue = operands.epilogue) {
    if (epilogue->bias.base)
      arguments.bias = enterResults(epilogue->bias);
    if (epilogue->residual.base)
      arguments.residual = enterResults(epilogue->residual);
    arguments.activation = epilogue->activation;
    arguments.scale = epilogue->scale;
  }
  Int blocks = 1;
  if (plan.swapsOperands)
    blocks = llvm::divideCeil(plan.swappedRows, plan.getRows());
  else if (plan.rowAxis >= 0)
    blocks = host.ceilDiv(operands.sizes[plan.rowAxis], plan.getRows());
  for (unsigned axis : plan.freeAxes)
    blocks = host.mul(blocks, operands.sizes[axis]);
  arguments.tiles = host.mul(blocks, plan.getTilesPerRows());
  // Segments are of blocks of rows.
  Int count = plan.keepsFactor ? blocks : arguments.tiles;
  arguments.tileCount =
      kernel.enter(host.materialize(host.truncate(count), 32));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

tile::ChunksAttr SparseTiles::getChunks(DenseI64ArrayAttr order) {
  return tile::ChunksAttr::get(
      b.getContext(), plan.chunkBytes, plan.chunkK, plan.lanesPerChunk,
      b.getDenseI64ArrayAttr({plan.rowTiles, plan.resultTiles}),
      b.getDenseI64ArrayAttr({plan.rowWarps, plan.resultWarps, plan.warpsK}),
      static_cast<tile::ResultOrder>(plan.order), plan.alongRows, plan.skinnyM,
      plan.math == MmaMath::SplitTF32, plan.residuals == SparseResiduals::BF16,
      plan.hasPartialSums, plan.isOf8() && machine.computeCapability >= 89,
      plan.shiftUnit, plan.sharedStore, plan.wholeCopies, plan.pairsFactor,
      plan.usesWgmma, plan.residuals == SparseResiduals::FactorBF16,
      plan.swapsOperands, order);
}

tile::PiecesAttr SparseTiles::getPieces() {
  SmallVector<int64_t> block(getRank(), 1);
  block.front() = plan.getRows();
  block[block.size() - 2] = plan.getLanes();
  block.back() = plan.stepK;
  SmallVector<int64_t> sizes(block);
  sizes.back() = plan.stepsK * plan.stepK;
  return tile::PiecesAttr::get(
      b.getContext(), sizes, block,
      llvm::to_vector(llvm::seq<int64_t>(0, getRank())),
      plan.getWarpGroupThreads() / 32, kSparseChunkBytes, /*lines=*/false,
      /*split=*/-1,
      /*ahead=*/plan.stages - 1, /*order=*/{}, getChunks(factorOrder));
}

Value SparseTiles::allocateRing(int64_t stages, ArrayRef<int64_t> piece,
                                Type element) {
  auto slot = tile::BufferType::get(b.getContext(), piece, element, nullptr);
  return tile::AllocOp::create(
      b, loc, tile::RingType::get(b.getContext(), stages, slot, std::nullopt),
      Value());
}

tile::FragmentType SparseTiles::getSums() {
  SmallVector<int64_t> shape(getRank() + 1, 1);
  shape[1] = plan.getRows();
  shape[shape.size() - 2] = plan.getLanes();
  shape.back() = plan.getResults();
  Type sum = getAccumulatorType(plan.element);
  tile::AtomKind atom = tile::AtomKind::MmaTF32;
  if (sum.isF64())
    atom = machine.hasWideDMMA ? tile::AtomKind::MmaF64
                               : tile::AtomKind::MmaF64Small;
  else if (plan.usesWgmma)
    atom = plan.is16BitFloat() ? tile::AtomKind::WgmmaHalf
                               : tile::AtomKind::WgmmaTF32;
  else if (plan.is16BitFloat())
    atom = tile::AtomKind::MmaM16N8K16;
  return tile::FragmentType::get(b.getContext(), shape, sum, atom);
}

void SparseTiles::store(Value sums, Value tile) {
  auto get = [&](std::optional<unsigned> number) {
    return number ? kernel.getArgument(*number) : Value();
  };
  auto type = cast<tile::FragmentType>(sums.getType());
  tile::StoreOp::create(
      b, loc, sums, /*boxes=*/Value(), get(arguments.init), tile,
      b.getDenseI64ArrayAttr(getRank() - 1), get(arguments.alpha),
      get(arguments.beta), get(arguments.addend),
      b.getDenseI64ArrayAttr(type.getBox()), /*order=*/DenseI64ArrayAttr(),
      /*together=*/8, /*rows=*/IntegerAttr(), kSparseChunkBytes,
      get(arguments.bias), get(arguments.residual), arguments.activation,
      arguments.scale,
      b.getDenseI64ArrayAttr(
          llvm::to_vector(llvm::seq<int64_t>(0, getRank()))));
}

/// Elements from one row of a piece to the next.
int64_t SparseTiles::getPitch(bool isFactor) const {
  int64_t bytes = plan.copiesWhole(isFactor)
                      ? plan.getWholeRow(isFactor).getBytes()
                      : plan.getPackedRowBytes(isFactor);
  return bytes / (isFactor ? plan.factorBytes : plan.dataBytes);
}

void SparseTiles::allocate() {
  Type data = getElementType(product.getInput()),
       weight = getElementType(product.getFactor());
  SmallVector<int64_t> piece{plan.getPackedRows(), getPitch(false)};
  if (plan.alongRows)
    piece = {plan.stepK, plan.getRows()};
  SmallVector<int64_t> beside{plan.getResults(), getPitch(true)};
  if (plan.swapsOperands)
    beside = {plan.stepK, plan.getResults()};
  if (plan.usesWgmma && plan.keepsFactor)
    beside = {plan.getPreparedBytes() / plan.factorBytes};
  if (plan.keepsFactor) {
    beside.insert(beside.begin(), plan.stepsK);
    factorRing = allocateRing(1, beside, weight);
  }
  ring = allocateRing(plan.stages, piece, data);
  if (!plan.keepsFactor)
    factorRing = allocateRing(plan.stages, beside, weight);
  int64_t bytes = plan.getExchangeBytes() +
                  plan.getStoredBytes() / plan.warpGroups +
                  plan.getOrderedBytes();
  // Operands of this piece and the next one.
  if (plan.preparesAhead())
    bytes += plan.getKeptBytes();
  Type sum = getSums().getElementType();
  if (bytes)
    shared = tile::AllocOp::create(
        b, loc,
        tile::BufferType::get(b.getContext(),
                              bytes / (sum.getIntOrFloatBitWidth() / 8), sum,
                              nullptr),
        Value());
}

/// The loop over `count` tiles, of a factor that streams or is `kept`.
void SparseTiles::multiply(Value count, Value kept) {
  kernel.forTiles(count, [&](Value tile) {
    Value sums = tile::ContractPiecesOp::create(
        b, loc, getSums(), kernel.getArgument(arguments.input), tile,
        kernel.getArgument(factor), ring, kept ? Value() : factorRing, kept,
        shared, getRank() - 1, pieces);
    store(sums, tile);
  });
}

void SparseTiles::multiplyStreams() {
  tile::CopyPiecesOp::create(b, loc, kernel.getArgument(arguments.input), ring,
                             kernel.getArgument(factor), factorRing, pieces);
  multiply(kernel.getArgument(arguments.tileCount), /*kept=*/Value());
}

/// Keeps the part of the factor that the tiles of a segment need. Their first
/// pieces are started in front of it where it takes long to arrive: of several
/// groups of warps, or of chunks along rows. Others were slower so.
void SparseTiles::multiplySegments() {
  auto loop = tile::ForSegmentsOp::create(
      b, loc, kernel.getArgument(arguments.tileCount), plan.getTilesPerRows(),
      plan.keptTiles);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  auto start = [&] {
    tile::CopyPiecesOp::create(b, loc, kernel.getArgument(arguments.input),
                               ring, /*factor=*/Value(), /*factorRing=*/Value(),
                               pieces);
  };
  tile::BarrierOp::create(b, loc);
  auto slotType = cast<tile::RingType>(factorRing.getType()).getBuffer();
  Value free = tile::AcquireOp::create(b, loc, slotType, factorRing);
  auto none = DenseI64ArrayAttr();
  tile::CopyOp::create(b, loc, kernel.getArgument(factor), loop.getSegment(),
                       /*ahead=*/0, free, /*part=*/none, /*order=*/none,
                       /*groups=*/1, /*together=*/8, /*rows=*/IntegerAttr(),
                       kSparseChunkBytes, /*split=*/false, /*fill=*/false,
                       /*axes=*/none, pieces);
  bool isEarly = !plan.usesWgmma && (plan.alongRows || plan.warpGroups > 1);
  if (isEarly)
    start();
  Value kept = tile::WaitOp::create(b, loc, slotType, factorRing,
                                    isEarly ? plan.stages - 1 : 0);
  tile::BarrierOp::create(b, loc);
  if (plan.pairsFactor) {
    tile::PairChunksOp::create(b, loc, kept, pieces);
    tile::BarrierOp::create(b, loc);
  }
  if (!isEarly)
    start();
  multiply(loop.getTiles(), kept);
  tile::ReleaseOp::create(b, loc, kept);
}

void SparseTiles::build(gpu::GPUModuleOp gpuModule) {
  enterOperands();
  kernel.begin(gpuModule, getKernelBaseName(fused),
               tile::KernelAttr::get(b.getContext(), plan.getThreads(),
                                     plan.ctasPerSM, /*cluster=*/1,
                                     plan.warpGroups));
  pieces = getPieces();
  allocate();
  if (plan.keepsFactor)
    multiplySegments();
  else
    multiplyStreams();
  kernel.launch(kernel.host.materialize(arguments.tiles, 64));
}

LogicalResult kron::tileSparse(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               FusedOp fused, GPUPlanAttr attr,
                               const GPUMachine &machine) {
  auto getReason = [&](const SparsePlan &read) -> std::optional<std::string> {
    if (read.usesWgmma && !machine.hasWgmma)
      return "the machine has no wgmma";
    return getSkinnyMReason(fused, attr, read);
  };
  FailureOr<SparsePlan> complete = getTilePlan(
      fused, "a sparse", readSparsePlan(fused, attr), machine, getReason);
  if (failed(complete))
    return failure();
  SparseTiles(builder, fused, *complete, machine).build(gpuModule);
  return success();
}
