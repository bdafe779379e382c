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

using namespace mlir;
using namespace mlir::kron;

namespace {

class SparseTiles : FusedTiles<SparsePlan> {
public:
  SparseTiles(const TileSource &source, const SparsePlan &plan)
      : FusedTiles(source, plan), product(fused.getModeProducts().front()),
        tiles(kernel, fused, product, plan, source.machine),
        operands(getFusedOperands(kernel.host, fused)) {}
  void build();

private:
  void enterSides();
  void enterOperands();
  void allocate();
  void multiply(Value count, Value kept);
  void multiplyStreams();
  void multiplySegments();

  ModeProductOp product;
  ChunkTiles tiles;
  FusedOperands operands;
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
        b, loc, tile::BufferType::get(bytes / getElementBytes(sum), sum));
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
  kernel.barrier();
  Value free = tile::AcquireOp::create(b, loc, factorRing);
  tile::CopyOp::create(b, loc, tiles.getFactor(), loop.getSegment(),
                       /*ahead=*/0, free, kSparseChunkBytes)
      .setPiecesAttr(pieces);
  bool isEarly = !plan.usesWgmma && (plan.alongRows || plan.warpGroups > 1);
  if (isEarly)
    start();
  Value kept =
      tile::WaitOp::create(b, loc, factorRing, isEarly ? plan.stages - 1 : 0);
  kernel.barrier();
  if (plan.pairsFactor) {
    tile::PairChunksOp::create(b, loc, kept, pieces);
    kernel.barrier();
  }
  if (!isEarly)
    start();
  multiply(loop.getTiles(), kept);
  tile::ReleaseOp::create(b, loc, kept);
}

void SparseTiles::build() {
  enterOperands();
  begin(plan.getThreads(), /*cluster=*/1, plan.warpGroups);
  pieces = tiles.getPieces();
  allocate();
  if (plan.keepsFactor)
    multiplySegments();
  else
    multiplyStreams();
  kernel.launch(arguments.tiles);
}

LogicalResult kron::tileSparse(const TileSource &source) {
  return buildTiles<SparseTiles>(
      source, readSparsePlan(source.fused, source.plan),
      [&](const SparsePlan &plan) -> std::optional<std::string> {
        if (plan.usesWgmma && !source.machine.hasWgmma)
          return "the machine has no wgmma";
        return getSkinnyMReason(source.fused, source.plan, plan);
      });
}
