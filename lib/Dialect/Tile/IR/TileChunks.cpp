//===- TileChunks.cpp - Rules of pieces of chunks -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileChunks.h"
#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Dialect/Tile/IR/TileColumns.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// What follows from the attribute
//===----------------------------------------------------------------------===//

ChunkTile::ChunkTile(ChunksAttr chunks, Type data, Type factor)
    : chunks(chunks),
      elementBytes(isFloat8(data) || isFloat8(factor) ? 2 : getBytesOf(data)),
      rowTiles(chunks.getTiles()[0]), resultTiles(chunks.getTiles()[1]),
      rowWarps(chunks.getWarps()[0]), resultWarps(chunks.getWarps()[1]),
      warpsK(chunks.getWarps()[2]) {}

int64_t ChunkTile::getWarps() const { return rowWarps * resultWarps * warpsK; }

int64_t ChunkTile::getRows() const {
  return kMmaSizeM * rowTiles * rowWarps *
         (chunks.getAlongRows() ? getChunkElements() : 1);
}

int64_t ChunkTile::getResults() const {
  return kMmaSizeN * resultTiles * resultWarps;
}

int64_t ChunkTile::getSums(int64_t laneChunks) const {
  int64_t products = chunks.getAlongRows() ? getChunkElements()
                                           : chunks.getLanes() * laneChunks;
  return products * rowTiles * resultTiles;
}

int64_t ChunkTile::getStagedSums(int64_t lanes) const {
  bool areChunks = chunks.getResults() == ResultOrder::Chunks;
  int64_t tiles = getStagedTiles(lanes, getResultUnit(areChunks, chunks.getK()),
                                 resultTiles);
  int64_t sumBytes = std::max<int64_t>(elementBytes, 4);
  int64_t pitch = chunks.getAlongRows()
                      ? getStagedPitchAlong(getChunkElements(), sumBytes)
                      : getStagedPitch(lanes, tiles);
  return rowWarps * resultWarps * getStagedBytes(pitch, sumBytes) / sumBytes;
}

int64_t ChunkTile::getUnitK() const {
  bool has16BitResiduals = chunks.getNarrow() || chunks.getMixed();
  return 4 * warpsK *
         std::max(chunks.getK(),
                  getChunkKPerThread(elementBytes, has16BitResiduals));
}

/// Whether data, or the factor, are copied whole.
static bool isWhole(ChunksAttr chunks, bool isFactor) {
  return chunks.getWhole() > (isFactor ? 1 : 0);
}

int64_t ChunkTile::getSlotPitch(bool isFactor, int64_t stepK, int64_t tileLanes,
                                int64_t lanes, Type type) const {
  if (!isWhole(chunks, isFactor))
    return getPitch(stepK * tileLanes, type);
  int64_t bytes = getBytesOf(type);
  return WholeRow(stepK, tileLanes, lanes, chunks.getLanes(), bytes)
             .getBytes() /
         bytes;
}

int64_t ChunkTile::getOrderedBytes(bool isFactor, int64_t perRow,
                                   Type type) const {
  if (!isWhole(chunks, isFactor))
    return 0;
  int64_t rows = isFactor           ? getResults()
                 : chunks.getRows() ? chunks.getRows()
                                    : getRows();
  int64_t pitch = chunks.getAlongRows() ? perRow : getPitch(perRow, type);
  return rows * pitch * getBytesOf(type);
}

int64_t ChunkTile::getPitch(int64_t elements, Type type) const {
  int64_t bytes = getBytesOf(type);
  return getChunkRowBytes(elements * bytes, bytes == 1,
                          chunks.getBytes() == kWideChunkBytes) /
         bytes;
}

int64_t ChunkTile::getPackedBytes(int64_t stepK, int64_t lanes) const {
  return lanes * getResults() * stepK *
         getPackedElementBytes(elementBytes == 2, chunks.getMixed());
}

int64_t ChunkTile::getParts(ViewType factor, PiecesAttr pieces) const {
  ArrayRef<int64_t> shape = factor.getShape();
  int64_t rank = shape.size();
  // What may be before the first result is in the first tile, too.
  int64_t places =
      shape[rank - 2] + std::max<int64_t>(chunks.getShift() - 1, 0);
  return llvm::product_of(shape.drop_back(3)) *
         llvm::divideCeil(places, getResults()) *
         llvm::divideCeil(shape[rank - 3],
                          pieces.getSizes()[pieces.getSizes().size() - 2]);
}

LogicalResult ChunksAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t bytes, int64_t k,
    int64_t lanes, DenseI64ArrayAttr tiles, DenseI64ArrayAttr warps,
    ResultOrder, bool alongRows, int64_t rows, bool split, bool narrow, bool,
    bool, int64_t shift, bool staged, int64_t whole, bool paired,
    bool warpgroups, bool mixed, bool swapped, DenseI64ArrayAttr) {
  if (bytes != kChunkBytes && bytes != kWideChunkBytes)
    return emitError() << "expects chunks of 16 or 48 bytes, but got " << bytes;
  if (k < 1 || lanes < 1)
    return emitError() << "expects k and lanes to be positive, but got " << k
                       << " and " << lanes;
  auto areInRange = [](ArrayRef<int64_t> numbers, int64_t most) {
    return llvm::all_of(
        numbers, [&](int64_t number) { return number >= 1 && number <= most; });
  };
  if (tiles.size() != 2 || !areInRange(tiles.asArrayRef(), kMostChunkSums))
    return emitError() << "expects tiles of rows and of results, up to "
                       << kMostChunkSums << ", but got " << tiles;
  constexpr int64_t kMostWarps = 32;
  if (warps.size() != 3 || !areInRange(warps.asArrayRef(), kMostWarps) ||
      !llvm::all_of(warps.asArrayRef(), llvm::isPowerOf2_64))
    return emitError() << "expects warps that share rows, results and K, "
                          "powers of two, but got "
                       << warps;
  if (rows < 0 || rows > kMostSkinnyM ||
      (rows && (tiles[0] != 1 || warps[0] != 1 || alongRows)))
    return emitError() << "expects up to " << kMostSkinnyM
                       << " rows, of one tile and warp and not along_rows, but "
                          "got "
                       << rows;
  if ((narrow || mixed) && !split)
    return emitError() << "expects narrow and mixed values to be split";
  if (shift < 0)
    return emitError() << "expects shift not to be negative, but got " << shift;
  if (staged && shift)
    return emitError() << "expects staged results not to be shifted";
  if (paired && (bytes != kChunkBytes || k == 1 || lanes == 1 || alongRows))
    return emitError() << "expects paired chunks of 16 bytes with several "
                          "lanes and positions, not along_rows";
  bool isOfGroups = warps[0] % kWarpgroupWarps == 0 && warps[2] == 1 &&
                    tiles[0] == 1 && tiles[1] <= kMostWarpgroupTiles && !rows &&
                    !alongRows && !paired && split == (narrow != mixed);
  if (warpgroups && !isOfGroups)
    return emitError() << "expects warpgroups of 4 warps of rows, of one tile "
                          "of rows and up to "
                       << kMostWarpgroupTiles
                       << " of results, that do not share K, of many rows and "
                          "narrow or mixed residuals";
  if ((mixed || swapped) && !warpgroups)
    return emitError() << "expects mixed and swapped chunks of warpgroups only";
  if (swapped && (lanes != 1 || !split))
    return emitError() << "expects swapped chunks of split values along K";
  constexpr int64_t kBoth = 2;
  if (whole < 0 || whole > kBoth ||
      (whole && (warpgroups || bytes == kWideChunkBytes)) ||
      (whole > 1 && alongRows))
    return emitError() << "expects whole copies of data (1) and, not "
                          "along_rows, the factor (2), neither of 48 bytes nor "
                          "of warpgroups, but got "
                       << whole;
  return success();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Whether data and factor have elements that warps multiply; else an error.
static LogicalResult verifyChunkElements(Operation *op, Type data, Type factor,
                                         ChunksAttr chunks) {
  bool isOf8 = isFloat8(data) || isFloat8(factor);
  auto isNarrow = [](Type type) { return isFloat8(type) || type.isF16(); };
  bool areKnown = isOf8 ? isNarrow(data) && isNarrow(factor)
                        : data == factor && (data.isF32() || data.isF64() ||
                                             data.isF16() || data.isBF16());
  bool isOfWarpgroup =
      !isOf8 && !data.isF64() && (!data.isF32() || chunks.getSplit());
  // contract_pieces_c8
  if (areKnown && (!chunks.getSplit() || data.isF32()) &&
      (!chunks.getWarpgroups() || isOfWarpgroup))
    return success();
  return op->emitOpError("expects pieces of f32, which alone are split, f64, "
                         "f16 or bf16, or of 8 bits beside f16, of which "
                         "warpgroups multiply f16, bf16 and split f32, but "
                         "got ")
         << data << " and " << factor;
}

/// Whether the axes of a factor are those of the data, which have up to
/// `mostRows` rows, if that is not 0; else an error.
static LogicalResult verifyChunkViews(Operation *op, ViewType data,
                                      ViewType factor, int64_t mostRows) {
  ArrayRef<int64_t> from = data.getShape(), by = factor.getShape();
  auto isNone = [](int64_t size) { return size == 0; };
  bool isProduct = by.size() >= 3 && from.size() >= by.size() &&
                   ShapedType::isStaticShape(by) && from.back() == by.back() &&
                   llvm::none_of(by, isNone) && llvm::none_of(from, isNone) &&
                   (mostRows == 0 || ShapedType::isDynamic(from.front()) ||
                    from.front() <= mostRows);
  // Behind rows and dimensions that the factor has not.
  if (isProduct)
    isProduct = from.drop_back().take_back(by.size() - 2) == by.drop_back(2);
  // contract_pieces_c8
  if (isProduct)
    return success();
  return op->emitOpError("expects rows, others, lanes and K, and a factor of "
                         "the last ones of these others, lanes, results and K, "
                         "but got ")
         << data << " and " << factor;
}

/// Whether chunks are as the elements and the order of results want; else an
/// error.
static LogicalResult verifyChunkOrder(Operation *op, const ChunkTile &tile,
                                      bool isOf8, int64_t lanes,
                                      int64_t laneChunks, bool isKept) {
  ChunksAttr chunks = tile.chunks;
  int64_t k = chunks.getK();
  ResultOrder order = chunks.getResults();
  bool fits = k * chunks.getLanes() == tile.getChunkElements() &&
              lanes % chunks.getLanes() == 0;
  if (chunks.getAlongRows())
    fits &= chunks.getLanes() == 1 && order == ResultOrder::Plain;
  if (chunks.getWhole() > 1)
    fits &= !isKept;
  if (chunks.getPaired())
    fits &= isKept && tile.elementBytes == 2 && !isOf8;
  // Pairs of lanes store three chunks of 16 bytes of neighbouring results.
  if (chunks.getBytes() == kWideChunkBytes)
    fits &= lanes == chunks.getLanes() && lanes % 3 == 0 && !isOf8 &&
            tile.elementBytes < 8 && !chunks.getAlongRows() &&
            order != ResultOrder::Pairs &&
            (k > 1 || order == ResultOrder::Spread);
  switch (order) {
  case ResultOrder::Plain:
    break;
  case ResultOrder::Chunks:
    fits &= lanes == chunks.getLanes() &&
            tile.resultTiles % getResultUnit(true, k) == 0;
    break;
  case ResultOrder::Spread:
    fits &= k == 1;
    break;
  case ResultOrder::Pairs:
    fits &= k == 1 && laneChunks % 2 == 0;
    break;
  }
  // contract_pieces_c9
  if (fits)
    return success();
  return op->emitOpError("expects chunks of ")
         << tile.getChunkElements() << " elements, in the order of "
         << laneChunks << " chunks of " << lanes << " lanes, but got "
         << chunks;
}

/// Whether `pieces` are those of tiles of `data`, and warps are those of the
/// kernel; else an error.
static LogicalResult verifyChunkSizes(Operation *op, const ChunkTile &tile,
                                      ViewType data, ViewType factor,
                                      PiecesAttr pieces, bool isKept,
                                      bool isOfKernel) {
  ChunksAttr chunks = tile.chunks;
  ArrayRef<int64_t> sizes = pieces.getSizes(), block = pieces.getBlock();
  int64_t rank = sizes.size(), stepK = block.back();
  int64_t sizeK = data.getShape().back();
  bool isTile = rank == data.getRank() && sizes.front() == tile.getRows() &&
                ArrayRef(sizes).drop_back() == ArrayRef(block).drop_back() &&
                ArrayRef(pieces.getAxes()) ==
                    ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  for (int64_t dim = 1; isTile && dim + 2 < rank; ++dim)
    isTile = sizes[dim] == 1;
  int64_t laneChunks = isTile ? sizes[rank - 2] / chunks.getLanes() : 0;
  isTile = isTile && sizes[rank - 2] % chunks.getLanes() == 0 &&
           (!chunks.getAlongRows() || sizes[rank - 2] == 1) &&
           sizes.back() >= sizeK && sizes.back() - stepK < sizeK &&
           stepK % tile.getUnitK() == 0;
  if (chunks.getSwapped())
    isTile = isTile && !isKept && data.getShape()[rank - 2] == 1 &&
             tile.getResults() % kSwappedChunkResults == 0;
  auto mayShare = [&](Type type) {
    int64_t bytes = getBytesOf(type);
    return mayShareChunkRow(
        bytes * tile.getPitch(stepK * sizes[rank - 2], type),
        chunks.getK() * chunks.getLanes() * bytes, laneChunks, tile.warpsK);
  };
  if (isTile && tile.warpsK > 1)
    isTile = chunks.getBytes() == kChunkBytes &&
             mayShare(factor.getElementType()) &&
             (chunks.getAlongRows() || mayShare(data.getElementType()));
  SmallVector<int64_t> order;
  if (chunks.getOrder())
    order.assign(chunks.getOrder().asArrayRef().begin(),
                 chunks.getOrder().asArrayRef().end());
  llvm::sort(order);
  bool isOrder =
      order.empty() ||
      ArrayRef(order) ==
          ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, factor.getRank())));
  // contract_pieces_c10
  if (isTile && isOrder && isOfKernel && pieces.getWarps() == tile.getWarps() &&
      pieces.getBytes() == kChunkBytes)
    return verifyChunkOrder(op, tile,
                            getBytesOf(data.getElementType()) == 1 ||
                                getBytesOf(factor.getElementType()) == 1,
                            data.getShape()[rank - 2], laneChunks, isKept);
  return op->emitOpError("expects pieces of ")
         << tile.getRows() << " rows, whole chunks of lanes and multiples of "
         << tile.getUnitK() << " positions K, by all of " << tile.getWarps()
         << " warps and by 16 bytes, but got " << pieces;
}

/// Whether lanes and K of `view` are neighbours in memory where strides are
/// known, if it is copied whole.
static bool areNeighbours(ViewType view, ChunksAttr chunks, bool isFactor) {
  ArrayRef<int64_t> strides = view.getStrides(), shape = view.getShape();
  if (!isWhole(chunks, isFactor) || int64_t(strides.size()) != view.getRank())
    return true;
  if (chunks.getAlongRows())
    return shape.front() == 1 || ShapedType::isDynamic(strides.front()) ||
           strides.front() == 1;
  int64_t lanes = isFactor ? shape.size() - 3 : shape.size() - 2;
  auto is = [](int64_t stride, int64_t wanted) {
    return ShapedType::isDynamic(stride) || stride == wanted;
  };
  return (shape[lanes] == 1 || is(strides[lanes], 1)) &&
         is(strides.back(), shape[lanes]);
}

LogicalResult tile::verifyChunkTiles(Operation *op, ViewType data,
                                     ViewType factor, PiecesAttr pieces,
                                     int64_t sharers, bool isKept) {
  ChunksAttr chunks = pieces.getChunks();
  Type element = data.getElementType(), weight = factor.getElementType();
  if (failed(verifyChunkElements(op, element, weight, chunks)) ||
      failed(verifyChunkViews(op, data, factor, chunks.getRows())))
    return failure();
  ChunkTile tile(chunks, element, weight);
  KernelAttr kernel = getKernel(op);
  bool isOfKernel =
      !kernel || (kernel.getThreads() == 32 * tile.getWarps() * sharers &&
                  kernel.getCluster() == 1 && kernel.getShares() == 1 &&
                  sharers % kernel.getGroups() == 0);
  return verifyChunkSizes(op, tile, data, factor, pieces, isKept, isOfKernel);
}

/// Elements from one position K to the next of data of `rows` neighbours.
static int64_t getAlongPitch(ChunksAttr chunks, int64_t rows, Type type) {
  int64_t bytes = getBytesOf(type);
  return isWhole(chunks, /*isFactor=*/false)
             ? WholeRow(/*stepK=*/1, rows, /*lanes=*/0, /*chunkLanes=*/1, bytes)
                       .getSegmentBytes() /
                   bytes
             : rows;
}

LogicalResult tile::verifyChunkPieces(Operation *op, ViewType data,
                                      RingType ring, ViewType factor,
                                      Type besideType, PiecesAttr pieces) {
  auto kept = dyn_cast<BufferType>(besideType);
  KernelAttr kernel = getKernel(op);
  // Groups of warps share what is kept.
  int64_t sharers = kept && kernel ? kernel.getGroups() : 1;
  if (failed(verifyChunkTiles(op, data, factor, pieces, sharers, bool(kept))))
    return failure();
  ChunksAttr chunks = pieces.getChunks();
  Type element = data.getElementType(), weight = factor.getElementType();
  ChunkTile tile(chunks, element, weight);
  ArrayRef<int64_t> block = pieces.getBlock();
  int64_t rows = chunks.getRows() ? chunks.getRows() : tile.getRows();
  auto getPitch = [&](bool isFactor, Type type) {
    ArrayRef<int64_t> shape = data.getShape();
    return tile.getSlotPitch(isFactor, block.back(), block[block.size() - 2],
                             shape[shape.size() - 2], type);
  };
  SmallVector<int64_t> own{rows, getPitch(/*isFactor=*/false, element)};
  if (chunks.getAlongRows())
    own = {block.back(), getAlongPitch(chunks, rows, element)};
  SmallVector<int64_t> beside{tile.getResults(),
                              getPitch(/*isFactor=*/true, weight)};
  int64_t count = pieces.getSizes().back() / block.back();
  SmallVector<int64_t> whole{count};
  llvm::append_range(whole, beside);
  // As matrix instructions read it.
  if (chunks.getWarpgroups())
    whole = {count, tile.getPackedBytes(block.back(), block[block.size() - 2]) /
                        getBytesOf(weight)};
  if (chunks.getSwapped())
    beside = {block.back(), tile.getResults()};
  auto isRing = [&](RingType found, ArrayRef<int64_t> shape, Type type) {
    return !found.getAlong() &&
           found.getStages() == int64_t(pieces.getAhead()) + 1 &&
           found.getBuffer() ==
               BufferType::get(op->getContext(), shape, type, nullptr);
  };
  if (!areNeighbours(data, chunks, /*isFactor=*/false) ||
      !areNeighbours(factor, chunks, /*isFactor=*/true))
    // contract_pieces_c11
    return op->emitOpError("expects lanes and K of whole copies to be "
                           "neighbours, but got ")
           << data << " and " << factor;
  bool isBeside =
      kept ? kept == BufferType::get(op->getContext(), whole, weight, nullptr)
           : isRing(cast<RingType>(besideType), beside, weight);
  // contract_pieces_c11
  if (isRing(ring, own, element) && isBeside)
    return success();
  return op->emitOpError("expects rings of ")
         << pieces.getAhead() + 1 << " pieces of " << own << " and " << beside
         << " elements, or all of the latter in a slot, but got " << ring
         << " and " << besideType;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// What multiplies chunks that are summed up in f32.
static AtomKind getChunkAtom(const ChunkTile &tile) {
  bool isNarrow = tile.elementBytes == 2;
  if (tile.chunks.getWarpgroups())
    return isNarrow ? AtomKind::WgmmaHalf : AtomKind::WgmmaTF32;
  return isNarrow ? AtomKind::MmaM16N8K16 : AtomKind::MmaTF32;
}

/// The sums of a tile in `pieces`: their sizes.
static SmallVector<int64_t> getSumShape(const ChunkTile &tile,
                                        PiecesAttr pieces) {
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, pieces.getSizes());
  shape.back() = tile.getResults();
  return shape;
}

/// The groups of four of them that a lane has.
static int64_t countLaneSums(const ChunkTile &tile, PiecesAttr pieces) {
  return tile.getSums(pieces.getSizes().drop_back().back() /
                      tile.chunks.getLanes());
}

bool tile::areChunkSumsOf(FragmentType found, ViewType data, ViewType factor,
                          PiecesAttr pieces) {
  Type element = data.getElementType();
  ChunkTile tile(pieces.getChunks(), element, factor.getElementType());
  bool isF64 = element.isF64();
  AtomKind atom = found.getAtom();
  bool isAtom = isF64
                    ? atom == AtomKind::MmaF64 || atom == AtomKind::MmaF64Small
                    : atom == getChunkAtom(tile);
  return isAtom && found.getShape() == ArrayRef(getSumShape(tile, pieces)) &&
         (isF64 ? found.getElementType().isF64()
                : found.getElementType().isF32()) &&
         countLaneSums(tile, pieces) <=
             (isF64 ? kMostChunkSums / 2 : kMostChunkSums);
}

LogicalResult tile::verifyChunkSums(ContractPiecesOp op) {
  ViewType data = op.getView().getType();
  auto factor = cast<ViewType>(op.getOperand().getType());
  PiecesAttr pieces = op.getPieces();
  ChunkTile tile(pieces.getChunks(), data.getElementType(),
                 factor.getElementType());
  SmallVector<int64_t> shape = getSumShape(tile, pieces);
  int64_t sums = countLaneSums(tile, pieces);
  FragmentType found = op.getSums().getType();
  Type sum = data.getElementType().isF64() ? data.getElementType()
                                           : Float32Type::get(op.getContext());
  // contract_pieces_c12
  if (!areChunkSumsOf(found, data, factor, pieces) ||
      !op.getSums().hasOneUse() || !isa<StoreOp>(*op.getSums().user_begin()) ||
      int64_t(op.getAlong()) + 1 != data.getRank())
    return op.emitOpError("expects sums of ")
           << shape << " elements of " << sum
           << ", stored once, of the atom and the number that lanes have of "
              "them, along the last axis, but got "
           << found;
  int64_t shared =
      32 * (tile.getWarps() - tile.getWarps() / tile.warpsK) * 4 * sums;
  // Packed operands of this piece and the next one.
  if (pieces.getChunks().getWarpgroups() && !op.getKept())
    shared += 2 *
              tile.getPackedBytes(pieces.getBlock().back(),
                                  pieces.getSizes()[shape.size() - 3]) /
              getBytesOf(sum);
  if (pieces.getChunks().getStaged())
    shared += tile.getStagedSums(pieces.getSizes()[shape.size() - 3]);
  ArrayRef<int64_t> block = pieces.getBlock();
  int64_t perRow = block.back() * block[block.size() - 2];
  for (bool isFactor : {false, true})
    shared +=
        tile.getOrderedBytes(isFactor, perRow,
                             (isFactor ? factor : data).getElementType()) /
        getBytesOf(sum);
  BufferType buffer = op.getSumsOf() ? op.getSumsOf().getType() : BufferType();
  bool isOwn = shared == 0
                   ? !buffer
                   : buffer && op.getSumsOf().hasOneUse() &&
                         op.getSumsOf().getDefiningOp<AllocOp>() &&
                         buffer == BufferType::get(op.getContext(), shared, sum,
                                                   nullptr);
  // contract_pieces_c12
  if (!isOwn)
    return op.emitOpError("expects a buffer of its own for ")
           << shared
           << " sums of warps that share K, results that are staged, chunks of "
              "whole copies and operands of warpgroups, if there are some, but "
              "got "
           << (buffer ? Type(buffer) : Type(NoneType::get(op.getContext())));
  // contract_pieces_c12: what starts to copy pieces knows where they are put in
  // order.
  Operation *alloc = buffer ? op.getSumsOf().getDefiningOp() : nullptr;
  for (Operation *user : op.getRing().getUsers()) {
    Operation *start = isa<CopyPiecesOp>(user) && alloc
                           ? alloc->getBlock()->findAncestorOpInBlock(*user)
                           : nullptr;
    if (start && !alloc->isBeforeInBlock(start))
      return op.emitOpError("expects its buffer in front of the "
                            "tile.copy_pieces of its ring");
  }
  return success();
}

/// Whether what `op` stores may begin anywhere, but at the same places of rows,
/// as tiles that are shifted do; else an error.
static LogicalResult verifyShift(StoreOp op, const ChunkTile &tile,
                                 int64_t factorRank) {
  int64_t shift = tile.chunks.getShift();
  ViewType view = op.getView().getType();
  ArrayRef<int64_t> strides = view.getStrides();
  int64_t rank = view.getRank();
  bool fits = !op.getBeta() && !op.getBias() && !op.getResidual() &&
              tile.chunks.getResults() == ResultOrder::Chunks &&
              tile.chunks.getLanes() == 1 && int64_t(strides.size()) == rank &&
              strides.back() == 1 &&
              tile.getChunkElements() * getBytesOf(view.getElementType()) ==
                  kChunkBytes &&
              shift % tile.getChunkElements() == 0 &&
              llvm::isPowerOf2_64(shift);
  // Rows, and what the factor does not have.
  for (int64_t dim = 0; fits && dim <= rank - factorRank; ++dim)
    fits = !ShapedType::isDynamic(strides[dim]) && strides[dim] % shift == 0;
  // store_c15
  if (fits)
    return success();
  return op.emitOpError("expects shifted tiles of chunks of 16 bytes of "
                        "neighbours, in rows that are multiples of ")
         << shift << " elements apart, and nothing that is read, but got "
         << view;
}

LogicalResult tile::verifyStoredChunks(StoreOp op, ContractPiecesOp product) {
  auto fragment = cast<FragmentType>(op.getSource().getType());
  ViewType data = product.getView().getType();
  auto factor = cast<ViewType>(product.getOperand().getType());
  ViewType view = op.getView().getType();
  int64_t rank = data.getRank();
  SmallVector<int64_t> shape(data.getShape());
  shape.back() = factor.getShape()[factor.getRank() - 2];
  Type element = view.getElementType();
  ChunkTile tile(product.getPieces().getChunks(), data.getElementType(),
                 factor.getElementType());
  bool isOf8 =
      isFloat8(data.getElementType()) || isFloat8(factor.getElementType());
  bool isResult =
      view.getShape() == ArrayRef(shape) &&
      getSumType(element) == fragment.getElementType() &&
      (isOf8 || element == data.getElementType()) &&
      (!op.getAddend() || op.getAddend().getType().getElementType() == element);
  // store_c15
  if (!isResult || *op.getAlong() != ArrayRef(rank - 1) ||
      *op.getBox() != fragment.getBox() || op.getOrder() || !op.getAxes() ||
      *op.getAxes() != ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, rank))) ||
      op.getBytes() != kChunkBytes)
    return op.emitOpError("expects sums of pieces of chunks along ")
           << rank - 1 << ", by 16 bytes, to a view of " << shape
           << " elements, but got " << view;
  return tile.chunks.getShift() ? verifyShift(op, tile, factor.getRank())
                                : success();
}
