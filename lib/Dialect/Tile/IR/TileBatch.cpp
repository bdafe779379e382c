//===- TileBatch.cpp - Rules of products summed over a batch --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Threads of a CTA, values of one that are sums, positions of a step, weights,
/// and instructions of warpgroups along k, at most.
static constexpr int64_t kMostThreads = 1024, kMostSums = 255;
static constexpr int64_t kMostStep = 1 << 16;
static constexpr int64_t kMostWeights = (int64_t(1) << 40) - 1;
static constexpr int64_t kMostColumnTiles = 32;
/// Warps that have chunks of t next to each other, at most.
static constexpr int64_t kMostLaneWarps = 4;
/// Sums that a thread waits for at a time, at most.
static constexpr int64_t kMostLoads = 64;

/// The product of `numbers`, which are positive, if it is at most `most`.
static bool isAtMost(ArrayRef<int64_t> numbers, int64_t most) {
  int64_t product = 1;
  for (int64_t number : numbers) {
    if (number < 1 || number > most / product)
      return false;
    product *= number;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// #tile.batch
//===----------------------------------------------------------------------===//

/// What the parameters say, of which there are as many as there should be.
static BatchBlocks makeBlocks(Type element, ArrayRef<int64_t> sizes,
                              ArrayRef<int64_t> tiles, ArrayRef<int64_t> warps,
                              int64_t step, int64_t chunk, AtomKind atom,
                              Residuals residuals, bool last) {
  BatchBlocks blocks;
  blocks.element = element;
  blocks.elementBytes = getBytesOf(element);
  blocks.has16BitResiduals = residuals == Residuals::BF16;
  blocks.batchLast = last;
  blocks.groups = sizes[0];
  blocks.lanes = sizes[3];
  blocks.left = {sizes[1], /*unit=*/16, tiles[0], warps[0]};
  blocks.right = {sizes[2], /*unit=*/8, tiles[1], warps[1]};
  blocks.laneWarps = warps[2];
  blocks.chunkBytes = chunk;
  blocks.batchStep = step;
  blocks.usesWgmma = atom == AtomKind::WgmmaHalf;
  blocks.usesPackedOperands = atom == AtomKind::WgmmaTF32;
  blocks.setChunks();
  return blocks;
}

BatchBlocks BatchAttr::getBlocks() const {
  return makeBlocks(getElementType(), getSizes(), getTiles(), getWarps(),
                    getStep(), getChunk(), getAtom(), getResiduals(),
                    getLast());
}

/// Whether `atom` multiplies elements of type `element` with `residuals`.
static bool multiplies(AtomKind atom, Type element, Residuals residuals) {
  switch (atom) {
  case AtomKind::MmaTF32:
    return element.isF32();
  case AtomKind::WgmmaTF32:
    return element.isF32() && residuals == Residuals::BF16;
  case AtomKind::MmaF64:
  case AtomKind::MmaF64Small:
    return element.isF64() && residuals == Residuals::None;
  case AtomKind::MmaM16N8K16:
  case AtomKind::WgmmaHalf:
    return (element.isF16() || element.isBF16()) &&
           residuals == Residuals::None;
  default:
    return false;
  }
}

LogicalResult BatchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Type element, ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> tiles,
                                ArrayRef<int64_t> warps, int64_t step,
                                int64_t chunk, AtomKind atom,
                                Residuals residuals, bool last) {
  if (sizes.size() != 4 || !isAtMost(sizes, kMostWeights))
    return emitError() << "expects four positive sizes of at most "
                       << kMostWeights << " weights, but got " << sizes;
  if (!multiplies(atom, element, residuals))
    return emitError() << "expects an atom for its elements and residuals, but "
                          "got "
                       << stringifyAtomKind(atom) << " for " << element
                       << " and " << stringifyResiduals(residuals);
  bool isNarrow = chunk == 8 && !last && !element.isF64();
  if (chunk != 16 && !isNarrow)
    return emitError() << "expects chunks of 16 bytes, or of 8 unless elements "
                          "are f64 or the batch is last, but got "
                       << chunk;
  if (warps.size() != 3 || !isAtMost(warps, kMostThreads / 32))
    return emitError() << "expects three positive numbers of warps, of at most "
                       << kMostThreads << " threads, but got " << warps;
  if (tiles.size() != 2 || !isAtMost(tiles, kMostSums))
    return emitError() << "expects two positive numbers of tiles, but got "
                       << tiles;
  if (step < 1 || step > kMostStep || !llvm::isPowerOf2_64(step))
    return emitError() << "expects a step that is a power of two up to "
                       << kMostStep << ", but got " << step;
  BatchBlocks blocks = makeBlocks(element, sizes, tiles, warps, step, chunk,
                                  atom, residuals, last);
  if (!isAtMost({4, blocks.lanesPerChunk, blocks.rowsPerChunk,
                 blocks.rowsPerChunk, tiles[0], tiles[1]},
                kMostSums))
    return emitError() << "expects at most " << kMostSums
                       << " sums of a thread, but got tiles " << tiles
                       << " with " << blocks.rowsPerChunk << " rows and "
                       << blocks.lanesPerChunk << " lanes of a chunk";
  int64_t mostLanes =
      std::min(last ? 1 : blocks.lanes / blocks.lanesPerChunk, kMostLaneWarps);
  if (warps[2] > mostLanes)
    return emitError() << "expects at most " << mostLanes
                       << " warps along t, but got " << warps[2];
  if (isOfWarpgroup(atom) &&
      (tiles[0] != 1 || tiles[1] > kMostColumnTiles ||
       warps[0] % BatchBlocks::kGroupWarps != 0 || warps[1] != 1 ||
       warps[2] != 1 || (blocks.usesWgmma && !last)))
    return emitError() << "expects of warpgroups tiles [1, 1 to "
                       << kMostColumnTiles
                       << "], a multiple of 4 warps along j, and the batch "
                          "last for 16-bit elements, but got tiles "
                       << tiles << " and warps " << warps;
  if (step % blocks.getStepUnit() != 0)
    return emitError() << "expects a step that is a multiple of "
                       << blocks.getStepUnit() << ", but got " << step;
  if (blocks.getStageBytes() > kMostElements)
    return emitError() << "expects at most " << kMostElements
                       << " bytes of a step, but got "
                       << blocks.getStageBytes();
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether `op` is in the loop of `tile` itself, in a kernel whose CTAs take
/// tiles alone.
static bool isInTurn(Operation *op, Value tile) {
  auto loop = dyn_cast<ForOp>(op->getParentOp());
  KernelAttr kernel = getKernel(op);
  return loop && loop.getTile() == tile && kernel && !kernel.isDivided() &&
         !hasCluster(op);
}

/// Whether one tile.store stores `sums`, and nothing else uses them.
static bool isStored(Value sums) {
  return sums.hasOneUse() && isa<StoreOp>(*sums.user_begin());
}

LogicalResult ContractBatchOp::verify() {
  BatchBlocks blocks = getBatch().getBlocks();
  // contract_batch_c1
  if (!isInTurn(*this, getTile()) ||
      tile::getThreads(*this) != blocks.getThreads())
    return emitOpError("expects to be in the tile.for of its tile itself, in a "
                       "kernel of one group of ")
           << blocks.getThreads() << " threads, without clusters and shares";
  for (auto [view, size] : {std::pair(getLeft(), blocks.left.size),
                            std::pair(getRight(), blocks.right.size)}) {
    ViewType type = view.getType();
    int64_t features = blocks.groups * size * blocks.lanes;
    // contract_batch_c2
    if (type.isContiguous() || type.getRank() != 2 ||
        type.getShape()[blocks.batchLast ? 0 : 1] != features ||
        type.getElementType() != blocks.element)
      return emitOpError("expects a view of ")
             << blocks.element << " with strides, and axes batch and "
             << features << " features in the order of its batch, but got "
             << type;
  }
  RingType ring = getRing().getType();
  int64_t elements = blocks.getStageBytes() / blocks.elementBytes;
  int64_t least = blocks.usesPackedOperands ? 3 : 2;
  // contract_batch_c3
  if (ring.getAlong() || ring.getStages() < least ||
      ring.getBuffer() !=
          BufferType::get(getContext(), elements, blocks.element, LayoutAttr()))
    return emitOpError("expects a ring of ")
           << least << " slots or more of " << elements << " elements of type "
           << blocks.element << ", but got " << ring;
  // contract_batch_c4
  if (!getRing().hasOneUse())
    return emitOpError("expects nothing else to use its ring");
  auto expected =
      FragmentType::get({1, blocks.getRows(blocks.left),
                         blocks.getRows(blocks.right), blocks.getLanes()},
                        getSumType(blocks.element));
  // contract_batch_c5
  if (failed(verifySums(*this, getSums().getType(), expected)))
    return failure();
  // contract_batch_c6
  if (!isStored(getSums()))
    return emitOpError("expects one tile.store of its sums, and no other use");
  return success();
}

LogicalResult AddPiecesOp::verify() {
  int64_t threads = tile::getThreads(*this);
  // add_pieces_c1
  if (!isInTurn(*this, getTile()) || !llvm::isPowerOf2_64(threads))
    return emitOpError("expects to be in the tile.for of its tile itself, in a "
                       "kernel of one group of a power of two of threads, "
                       "without clusters and shares");
  ViewType view = getView().getType();
  ArrayRef<int64_t> shape = view.getShape();
  Type element = view.getElementType();
  // add_pieces_c2
  if (!view.isContiguous() || view.getRank() != 4 ||
      !isAtMost(shape.drop_front(), kMostWeights) ||
      !(element.isF32() || element.isF64()))
    return emitOpError("expects a view of f32 or f64 without gaps, of pieces, "
                       "groups, weights and lanes, of which the last three are "
                       "known, but got ")
           << view;
  int64_t slices = getSlices(), loads = getLoads();
  // add_pieces_c3
  if (!llvm::isPowerOf2_64(slices) || slices > threads || loads > kMostLoads)
    return emitOpError("expects slices to be a power of two up to ")
           << threads << " and up to " << kMostLoads << " loads, but got "
           << slices << " and " << loads;
  if (BatchAttr order = getOrderAttr()) {
    BatchBlocks blocks = order.getBlocks();
    int64_t sums = blocks.getTiles() * blocks.getSumsPerTile();
    // add_pieces_c4
    if (shape[1] != 1 || shape[2] != sums || shape[3] != 1)
      return emitOpError("expects one group, ")
             << sums << " weights and one lane, as of " << order << ", but got "
             << view;
  }
  auto expected = FragmentType::get({1, 1}, element);
  // add_pieces_c5
  if (getTotals().getType() != expected)
    return emitOpError("expects totals of type ")
           << expected << ", but got " << getTotals().getType();
  // add_pieces_c6
  if (!isStored(getTotals()))
    return emitOpError("expects one tile.store of its totals, and no other "
                       "use");
  return success();
}

//===----------------------------------------------------------------------===//
// What is stored
//===----------------------------------------------------------------------===//

bool tile::isOfBatch(Value source) {
  return isa_and_nonnull<ContractBatchOp, AddPiecesOp>(source.getDefiningOp());
}

/// Whether the sums of `product` go to pieces of a view without gaps as `op`
/// says.
static bool arePieces(ContractBatchOp product, StoreOp op) {
  ViewType view = op.getView().getType();
  BatchBlocks blocks = product.getBatch().getBlocks();
  Type sums = getSumType(blocks.element);
  int64_t bytes = op.getBytes(), sumBytes = getBytesOf(sums);
  if (!view.isContiguous() || view.getElementType() != sums || op.getAlpha() ||
      op.getBeta())
    return false;
  ArrayRef<int64_t> piece = view.getShape().drop_front();
  if (view.getRank() == 2)
    return bytes == 16 &&
           piece.front() == blocks.getTiles() * blocks.getSumsPerTile();
  return piece == product.getBatch().getSizes() && bytes >= sumBytes &&
         llvm::isPowerOf2_64(bytes) &&
         bytes <= sumBytes * blocks.getNeighbours(sumBytes);
}

LogicalResult tile::verifyStoredBatch(StoreOp op) {
  Operation *source = op.getSource().getDefiningOp();
  auto product = dyn_cast<ContractBatchOp>(source);
  auto total = dyn_cast<AddPiecesOp>(source);
  Value tile = product ? product.getTile() : total.getTile();
  // store_c13
  if (source->getBlock() != op->getBlock() || tile != op.getTile() ||
      op.getBoxes() || op.getAlong() || op.getBox() || op.getOrder() ||
      op.getRows() || op.getAxes() || hasEpilogue(op))
    return op.emitOpError("expects sums of its tile, in the same turn, without "
                          "boxes, rows, an order, axes and an epilogue");
  if (product && arePieces(product, op))
    return success();
  ViewType view = op.getView().getType();
  Type element = view.getElementType();
  BatchAttr batch = product ? product.getBatchAttr() : total.getOrderAttr();
  bool hasSizes = false, hasElements = false;
  if (batch) {
    hasSizes = view.getShape() == batch.getSizes();
    hasElements = element == batch.getElementType();
  } else {
    int64_t weights = total.getView().getType().getShape()[2];
    hasSizes = isAtMost(view.getShape(), weights) &&
               llvm::product_of(view.getShape()) == weights;
    hasElements =
        getSumType(element) == total.getView().getType().getElementType();
  }
  // store_c14
  if (view.isContiguous() || view.getRank() != 4 || !hasSizes || !hasElements ||
      int64_t(op.getBytes()) != getBytesOf(element) ||
      (op.getAddend() && op.getAddend().getType().getElementType() != element))
    return op.emitOpError("expects views with strides of the sizes and "
                          "elements of its products by bytes of one element, "
                          "or of tile.contract_batch one without gaps of "
                          "accumulators for pieces, without scales, by bytes "
                          "of up to 16 that are neighbours, but got ")
           << view << " by bytes " << op.getBytes();
  return success();
}
