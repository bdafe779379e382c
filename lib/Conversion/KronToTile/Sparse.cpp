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

#include "ChunkTiles.h"
#include "Families.h"
#include "kron/CodeGen/GPU/Dispatch.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class SparseTiles {
public:
  SparseTiles(OpBuilder &hostBuilder, FusedOp fused, const SparsePlan &plan,
              const GPUMachine &machine)
      : kernel(hostBuilder, fused), fused(fused),
        product(fused.getModeProducts().front()), plan(plan),
        tiles(kernel, fused, product, plan, machine), b(kernel.builder),
        loc(kernel.loc), operands(getFusedOperands(kernel.host, fused)) {}

  void build(gpu::GPUModuleOp gpuModule);

private:
  void enterSides();
  void enterOperands();
  void allocate();
  void multiply(Value count, Value kept);
  void multiplyStreams();
  void multiplySegments();

  TileKernel kernel;
  FusedOp fused;
  ModeProductOp product;
  const SparsePlan &plan;
  ChunkTiles tiles;
  OpBuilder &b;
  Location loc;
  FusedOperands operands;
  BoxArguments arguments;
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

/// The data and the factor, which may have changed places: results of the
/// latter are rows then.
void SparseTiles::enterSides() {
  Type data = getElementType(product.getInput());
  auto enterData = [&](const StepArray &array, Type element) {
    arguments.input =
        tiles.enterArray(array, operands.sizes, plan.sizeK, element);
  };
  if (!plan.swapsOperands) {
    enterData(operands.input, data);
    tiles.enterFactor();
    return;
  }
  StepFactor array = getFusedFactor(kernel.host, fused, product).array;
  StepArray rows;
  rows.base = array.base;
  rows.strides = array.strides;
  rows.strides[plan.axis] = array.resultStride;
  rows.strides[plan.rowAxis] = array.strideK;
  enterData(rows, getElementType(product.getFactor()));
  StepFactor columns;
  columns.base = operands.input.base;
  columns.strides = operands.input.strides;
  columns.resultStride = operands.input.strides[plan.rowAxis];
  columns.strideK = operands.input.strides[plan.axis];
  tiles.enterFactor(columns, data);
}

void SparseTiles::enterOperands() {
  Emitter &host = kernel.host;
  enterSides();
  arguments.init =
      tiles.enterArray(operands.init, operands.sizes, plan.sizeN, plan.element);
  tiles.enterTargets(operands, operands.sizes, arguments);
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

void SparseTiles::allocate() {
  if (plan.keepsFactor)
    factorRing = tiles.allocateRing(/*isFactor=*/true);
  ring = tiles.allocateRing(/*isFactor=*/false);
  if (!plan.keepsFactor)
    factorRing = tiles.allocateRing(/*isFactor=*/true);
  int64_t bytes = plan.getExchangeBytes() +
                  plan.getStoredBytes() / plan.warpGroups +
                  plan.getOrderedBytes();
  // Operands of this piece and the next one.
  if (plan.preparesAhead())
    bytes += plan.getKeptBytes();
  Type sum = tiles.getSums().getElementType();
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
        b, loc, tiles.getSums(), kernel.getArgument(arguments.input), tile,
        tiles.getFactor(), ring, kept ? Value() : factorRing, kept, shared,
        tiles.getRank() - 1, pieces);
    tiles.store(arguments, sums, /*part=*/nullptr, tile);
  });
}

void SparseTiles::multiplyStreams() {
  tile::CopyPiecesOp::create(b, loc, kernel.getArgument(arguments.input), ring,
                             tiles.getFactor(), factorRing, pieces);
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
  tile::CopyOp::create(b, loc, tiles.getFactor(), loop.getSegment(),
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
  pieces = tiles.getPieces();
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
