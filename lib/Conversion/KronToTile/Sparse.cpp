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
  unsigned enterFactor();
  DenseI64ArrayAttr getFactorOrder();
  void enterOperands();
  int64_t getRank() const {
    return 3 + plan.groupAxes.size() + plan.freeAxes.size();
  }
  tile::ChunksAttr getChunks(DenseI64ArrayAttr order);
  tile::PiecesAttr getPieces();
  Value allocateRing(ArrayRef<int64_t> piece, Type element);
  tile::FragmentType getSums();
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
};

} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// A view of `array` with `last` positions of the axis that is contracted.
unsigned SparseTiles::enterArray(const StepArray &array, int64_t last,
                                 Type element) {
  SmallVector<Int> sizes, strides;
  auto add = [&](int axis, Int size) {
    sizes.push_back(size);
    strides.push_back(axis < 0 ? Int(0) : array.strides[axis]);
  };
  add(plan.rowAxis, plan.rowAxis < 0 ? Int(1) : operands.sizes[plan.rowAxis]);
  for (unsigned axis : plan.freeAxes)
    add(axis, operands.sizes[axis]);
  for (auto [axis, size] : llvm::zip_equal(plan.groupAxes, plan.groupSizes))
    add(axis, size);
  add(plan.laneAxis, plan.lanes);
  add(plan.axis, last);
  return kernel.enter(kernel.makeView(array.base, sizes, strides, element));
}

/// Groups, lanes, results and K. Where there is one position, a stride may be
/// any.
unsigned SparseTiles::enterFactor() {
  StepFactor array = getFusedFactor(kernel.host, fused, product).array;
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
  if (isOpen)
    factorOrder = getFactorOrder();
  return kernel.enter(kernel.makeView(array.base, sizes, strides,
                                      getElementType(product.getFactor())));
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
  arguments.input = enterArray(operands.input, plan.sizeK,
                               getElementType(product.getInput()));
  factor = enterFactor();
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
  if (plan.rowAxis >= 0)
    blocks = host.ceilDiv(operands.sizes[plan.rowAxis], plan.getRows());
  for (unsigned axis : plan.freeAxes)
    blocks = host.mul(blocks, operands.sizes[axis]);
  arguments.tiles = host.mul(blocks, plan.getTilesPerRows());
  kernel.enterTileCount(32, arguments);
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
      plan.math == MmaMath::SplitTF32, plan.has16BitResiduals(),
      plan.hasPartialSums, plan.isOf8() && machine.computeCapability >= 89,
      plan.shiftUnit, plan.sharedStore, plan.wholeCopies, order);
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
      llvm::to_vector(llvm::seq<int64_t>(0, getRank())), plan.getThreads() / 32,
      kSparseChunkBytes, /*lines=*/false, /*split=*/-1,
      /*ahead=*/plan.stages - 1, /*order=*/{}, getChunks(factorOrder));
}

Value SparseTiles::allocateRing(ArrayRef<int64_t> piece, Type element) {
  auto slot = tile::BufferType::get(b.getContext(), piece, element, nullptr);
  return tile::AllocOp::create(
      b, loc,
      tile::RingType::get(b.getContext(), plan.stages, slot, std::nullopt),
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

void SparseTiles::build(gpu::GPUModuleOp gpuModule) {
  enterOperands();
  kernel.begin(
      gpuModule, getKernelBaseName(fused),
      tile::KernelAttr::get(b.getContext(), plan.getThreads(), plan.ctasPerSM));
  auto getElements = [&](bool isFactor) {
    int64_t bytes = plan.copiesWhole(isFactor)
                        ? plan.getWholeRow(isFactor).getBytes()
                        : plan.getPackedRowBytes(isFactor);
    return bytes / (isFactor ? plan.factorBytes : plan.dataBytes);
  };
  SmallVector<int64_t> piece{plan.getPackedRows(), getElements(false)};
  if (plan.alongRows)
    piece = {plan.stepK, plan.getRows()};
  Value ring = allocateRing(piece, getElementType(product.getInput()));
  Value factorRing = allocateRing({plan.getResults(), getElements(true)},
                                  getElementType(product.getFactor()));
  tile::FragmentType type = getSums();
  Value shared;
  if (int64_t bytes = plan.getExchangeBytes() + plan.getStoredBytes() +
                      plan.getOrderedBytes())
    shared = tile::AllocOp::create(
        b, loc,
        tile::BufferType::get(
            b.getContext(),
            bytes / (type.getElementType().getIntOrFloatBitWidth() / 8),
            type.getElementType(), nullptr),
        Value());
  tile::PiecesAttr pieces = getPieces();
  Value data = kernel.getArgument(arguments.input);
  Value by = kernel.getArgument(factor);
  tile::CopyPiecesOp::create(b, loc, data, ring, by, factorRing, pieces);
  kernel.forTiles(kernel.getArgument(arguments.tileCount), [&](Value tile) {
    Value sums = tile::ContractPiecesOp::create(b, loc, type, data, tile, by,
                                                ring, factorRing, shared,
                                                getRank() - 1, pieces);
    store(sums, tile);
  });
  kernel.launch(kernel.host.materialize(arguments.tiles, 64));
}

LogicalResult kron::tileSparse(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               FusedOp fused, GPUPlanAttr attr,
                               const GPUMachine &machine) {
  std::variant<SparsePlan, std::string> read = readSparsePlan(fused, attr);
  if (auto *found = std::get_if<SparsePlan>(&read))
    if (auto reason = getSkinnyMReason(fused, attr, *found))
      read = *reason;
  FailureOr<SparsePlan> complete =
      getTilePlan(fused, "a sparse", std::move(read), machine);
  if (failed(complete))
    return failure();
  SparseTiles(builder, fused, *complete, machine).build(gpuModule);
  return success();
}
