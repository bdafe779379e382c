//===- TileBlocks.cpp - Rules of blocks that warps multiply ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The most tiles that are read as one: 16 bytes of two rows of sums.
static constexpr int64_t kMostTogether = 4;
/// Bytes of the neighbours that a lane has of sums in front of a chained
/// operand.
static constexpr int64_t kPairBytes = 8;

//===----------------------------------------------------------------------===//
// How they lie
//===----------------------------------------------------------------------===//

SmallVector<int64_t> Blocks::getCounts() const {
  SmallVector<int64_t> counts;
  for (auto [size, part] : llvm::zip_equal(sizes, block))
    counts.push_back(llvm::divideCeil(size, part));
  return counts;
}

int64_t Blocks::getCount() const { return llvm::product_of(getCounts()); }

std::optional<Blocks> tile::getBlocks(Value boxes) {
  Operation *loop = boxes ? boxes.getParentBlock()->getParentOp() : nullptr;
  Blocks blocks;
  if (auto op = dyn_cast_or_null<ForBlocksOp>(loop)) {
    blocks.sizes.assign(op.getSizes().begin(), op.getSizes().end());
    blocks.block.assign(op.getBlock().begin(), op.getBlock().end());
    blocks.warps = op.getWarps();
    blocks.isShared = op.getShares();
    blocks.isSplit = op.getSplit();
    return blocks;
  }
  auto op = dyn_cast_or_null<ForPiecesOp>(loop);
  if (!op)
    return std::nullopt;
  PiecesAttr pieces = op.getPieces();
  blocks.sizes.assign(pieces.getSizes().begin(), pieces.getSizes().end());
  blocks.block.assign(pieces.getBlock().begin(), pieces.getBlock().end());
  blocks.warps = pieces.getWarps();
  blocks.isShared = blocks.arePieces = true;
  return blocks;
}

SmallVector<ColumnGroup> tile::getColumnGroups(int64_t size, int64_t pair) {
  SmallVector<ColumnGroup> groups;
  for (int64_t first = 0; first < size;) {
    int64_t width = pair;
    while (kMmaSizeN * width > int64_t(llvm::alignTo(size - first, kMmaSizeN)))
      width /= 2;
    groups.push_back({first, width});
    first += kMmaSizeN * width;
  }
  return groups;
}

int64_t tile::countTiles(ArrayRef<ColumnGroup> groups) {
  int64_t tiles = 0;
  for (ColumnGroup group : groups)
    tiles += group.pair;
  return tiles;
}

int64_t PrepareOp::getWarpResults() {
  int64_t sizeN = getOperand().getType().getSizeN(), warps = getWarps();
  if (warps == 1)
    return sizeN;
  int64_t tiles = llvm::divideCeil(sizeN, kMmaSizeM);
  return kMmaSizeM * llvm::PowerOf2Ceil(llvm::divideCeil(tiles, warps));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool tile::areBlocks(ArrayRef<int64_t> sizes, ArrayRef<int64_t> block) {
  return !sizes.empty() && sizes.size() == block.size() &&
         areTileSizes(sizes) &&
         llvm::all_of(llvm::zip_equal(sizes, block), [](auto pair) {
           auto [size, part] = pair;
           return part > 0 && part <= size;
         });
}

LogicalResult tile::verifyGroups(Operation *op, int64_t warps) {
  int64_t own = getThreads(op) / 32;
  // for_blocks_c4, for_pieces_c3
  if (getThreads(op) &&
      (warps > own || (warps > 1 && own / warps > kNamedBarriers)))
    return op->emitOpError("expects at most ")
           << kNamedBarriers << " groups of the CTA's " << own
           << " warps, but got groups of " << warps;
  return success();
}

LogicalResult ForBlocksOp::verify() {
  // for_blocks_c1
  if (!isa<gpu::GPUFuncOp, ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a gpu.func itself, or in a tile.for");
  // for_blocks_c3
  if (!areBlocks(getSizes(), getBlock()))
    return emitOpError("expects blocks of a tile of ")
           << getSizes() << ", but got " << getBlock();
  // for_blocks_c2
  if (failed(verifyBody(*this, TypeRange())) ||
      failed(verifyGroups(*this, getWarps())))
    return failure();
  int64_t threads = getThreads(*this);
  Blocks blocks = *getBlocks(getBoxes());
  // for_blocks_c5
  if (getShares() && threads &&
      blocks.getCount() % blocks.getGroups(threads) != 0)
    return emitOpError("expects as many blocks for each of ")
           << blocks.getGroups(threads) << " groups, but got "
           << blocks.getCount();
  // for_blocks_c6
  if (getSplit() && (!hasCluster(*this) || getShares()))
    return emitOpError("expects split in a kernel of clusters, without shares");
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult ForBlocksOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument block;
  if (parser.parseArgument(block))
    return failure();
  for (auto [keyword, name] :
       {std::pair("of", "sizes"), std::pair("by", "block")}) {
    if (parser.parseKeyword(keyword))
      return failure();
    Attribute sizes = DenseI64ArrayAttr::parse(parser, Type());
    if (!sizes)
      return failure();
    result.addAttribute(name, sizes);
  }
  if (succeeded(parser.parseOptionalKeyword("warps")) &&
      parseNumber(parser, result, "warps"))
    return failure();
  for (StringRef name : {"shares", "split"})
    if (succeeded(parser.parseOptionalKeyword(name)))
      result.addAttribute(name, parser.getBuilder().getUnitAttr());
  return parseBody(parser, result, block);
}

void ForBlocksOp::print(OpAsmPrinter &printer) {
  printer << " " << getBoxes() << " of ";
  getSizesAttr().print(printer);
  printer << " by ";
  getBlockAttr().print(printer);
  if (getWarps() != 1)
    printer << " warps " << getWarps();
  if (getShares())
    printer << " shares";
  if (getSplit())
    printer << " split";
  printBody(printer, *this, {"sizes", "block", "warps", "shares", "split"});
}

//===----------------------------------------------------------------------===//
// What is done to a block
//===----------------------------------------------------------------------===//

/// Whether `fragment` is a block of `blocks`, of which it has `results`
/// positions (0: all that are contracted) along `along`; else an error.
static LogicalResult verifyBlock(Operation *op, FragmentType fragment,
                                 const Blocks &blocks, ArrayRef<int64_t> along,
                                 bool isLoaded) {
  int64_t rank = blocks.block.size();
  bool isAxis =
      (along.size() == 1 && along[0] >= 0 && along[0] < rank) ||
      (along.size() == 2 && along[0] + 2 == rank && along[1] + 1 == rank);
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, blocks.block);
  bool isBlock = isAxis && fragment.getShape().size() == shape.size();
  if (!isBlock)
    along = {};
  for (int64_t axis : along) {
    isBlock &= blocks.block[axis] == blocks.sizes[axis];
    if (!isLoaded)
      shape[axis + 1] = fragment.getShape()[axis + 1];
  }
  // load_c21
  if (!isBlock || fragment.getShape() != ArrayRef(shape) ||
      !isOfBlocks(fragment.getAtom()))
    return op->emitOpError("expects a block of ")
           << blocks.block << " of " << blocks.sizes
           << ", whole along one axis or the two innermost ones, but got "
           << fragment;
  return success();
}

/// Whether `buffer` has room for tiles of `sizes`, the last of which may count
/// several dimensions.
static bool hasRoom(BufferType buffer, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> shape = buffer.getShape();
  if (shape.size() < sizes.size())
    return false;
  SmallVector<int64_t> room(shape.take_front(sizes.size()));
  room.back() *= llvm::product_of(shape.drop_front(sizes.size()));
  return llvm::all_of(llvm::zip_equal(room, sizes), [](auto pair) {
    auto [most, size] = pair;
    return size <= most;
  });
}

/// Whether products take all positions of blocks that `op` loads, each of them
/// once; else an error.
static LogicalResult verifyTaken(LoadOp op, const Blocks &blocks) {
  ArrayRef<int64_t> along = op.getAlong();
  int64_t last = blocks.block.size() - 1, fold = op.getFold();
  bool isOfRows = along.back() == last;
  int64_t pair = getColumnGroups(blocks.block[last], op.getTogether())[0].pair;
  int64_t outer = -1;
  for (int64_t axis = 0; axis <= last; ++axis) {
    int64_t size = blocks.sizes[axis], part = blocks.block[axis];
    bool isContracted = llvm::is_contained(along, axis);
    bool isRow = isOfRows && along.size() == 1 && axis + 1 == last;
    // load_c24
    if (part > 1 && axis < last && !isContracted) {
      if (outer >= 0 || (isOfRows && !isRow))
        return op.emitOpError("expects several positions of a block along the "
                              "contracted axes and the innermost one, and ")
               << (isOfRows ? "of one contracted axis along the one outside"
                            : "along one more")
               << ", but got " << blocks.block << " along " << along;
      outer = axis;
    }
    // load_c25
    int64_t unit = axis == last ? kMmaSizeN * pair : isRow ? kMmaSizeM : 1;
    bool mayReachOver = axis == last || isRow;
    if (part < size &&
        (part % unit != 0 || (!mayReachOver && size % part != 0)))
      return op.emitOpError("expects parts of axis ")
             << axis << " to "
             << (mayReachOver ? "be multiples of "
                              : "divide it, a multiple of ")
             << unit << ", but got " << part << " of " << size;
  }
  // load_c22
  if (fold > 1 && (isOfRows || outer < 0 || blocks.block[outer] % fold != 0 ||
                   fold * blocks.block[last] != kMmaSizeN))
    return op.emitOpError("expects folds of positions of one axis outside that "
                          "fill a tile of 8 columns, but got ")
           << fold << " of a block of " << blocks.block << " along " << along;
  // load_c24
  if (isOfRows && last == 0)
    return op.emitOpError("expects an axis outside of the innermost one, along "
                          "which rows are counted");
  return verifyNeighbours(op, cast<BufferType>(op.getSource().getType()),
                          blocks, isOfRows && along.size() == 1 ? 2 : pair);
}

LogicalResult tile::verifyLoadedBlock(LoadOp op) {
  auto buffer = dyn_cast<BufferType>(op.getSource().getType());
  Blocks blocks = *getBlocks(op.getBoxes());
  FragmentType fragment = op.getFragment().getType();
  if (failed(verifyBlock(op, fragment, blocks, op.getAlong(), true)))
    return failure();
  SmallVector<int64_t> sizes(blocks.arePieces ? blocks.block : blocks.sizes);
  if (blocks.isSplit)
    sizes[op.getAlong().front()] /= getKernel(op).getCluster();
  auto pieces = dyn_cast<ForPiecesOp>(op->getParentOp());
  // load_c21
  if (!buffer || op.getHalves() || op.getTile() || op.getBox() ||
      !hasRoom(buffer, sizes) || (pieces && op.getSource() != pieces.getSlot()))
    return op.emitOpError("expects a buffer with room for ")
           << sizes << " elements, or the loop's piece, but got "
           << op.getSource().getType();
  // load_c6
  if (failed(verifyElements(op, fragment, buffer.getElementType())))
    return failure();
  int64_t together = op.getTogether(), fold = op.getFold();
  // load_c22
  if (!llvm::isPowerOf2_64(together) || together > kMostTogether ||
      fold > kMmaSizeN)
    return op.emitOpError("expects 1, 2 or 4 tiles together, and folds that "
                          "fill a tile of 8 columns, but got ")
           << together << " and " << fold;
  return verifyTaken(op, blocks);
}

/// The tiles of 8 columns of which lanes have neighbouring sums in `fragment`,
/// results of blocks of `blocks`; nothing, with an error, if these are no sums.
static std::optional<int64_t> getTilesTogether(Operation *op, Value fragment,
                                               const Blocks &blocks) {
  // What is not in front of `op` is not verified yet.
  auto product = fragment.getDefiningOp<ContractOp>();
  auto get = [&](unsigned number) {
    return product && product->getNumOperands() == 2
               ? product->getOperand(number)
               : Value();
  };
  auto prepare = get(1) ? get(1).getDefiningOp<PrepareOp>() : PrepareOp();
  auto type = prepare ? dyn_cast<OperandType>(get(1).getType()) : OperandType();
  bool isOfRows = type && type.getOrder() == OperandOrder::Rows;
  auto load = type ? get(0).getDefiningOp<LoadOp>() : LoadOp();
  bool isComplete = type && prepare.getWarps() > 0 && (load || !isOfRows);
  int64_t together = !isComplete ? 0
                     : isOfRows  ? load.getTogether()
                                 : prepare.getTogether();
  // exchange_c7
  if (together < 1 || together > 4) {
    op->emitOpError("expects a block's sums from tile.contract, but got ")
        << fragment.getType() << " of no product";
    return std::nullopt;
  }
  int64_t columns = isOfRows ? blocks.block.back() : prepare.getWarpResults();
  return getColumnGroups(columns, together).front().pair;
}

LogicalResult tile::verifyExchangedBlock(ExchangeOp op) {
  BufferType buffer = op.getBuffer().getType();
  Blocks blocks = *getBlocks(op.getBoxes());
  FragmentType fragment = op.getFragment().getType();
  if (failed(verifyBlock(op, fragment, blocks, op.getAlong(), false)))
    return failure();
  SmallVector<int64_t> sizes(blocks.sizes);
  ArrayRef<int64_t> along = op.getAlong();
  for (int64_t axis : along)
    sizes[axis] = fragment.getShape()[axis + 1];
  // load_c21
  if (!hasRoom(buffer, sizes))
    return op.emitOpError("expects a buffer with room for ")
           << sizes << " elements, but got " << buffer;
  std::optional<int64_t> tiles = getTilesTogether(op, op.getFragment(), blocks);
  if (!tiles)
    return failure();
  // Lanes have two sums of each tile, and write them if there is room for all.
  int64_t width = 2 * *tiles;
  bool isMerged = buffer.getShape().size() > sizes.size();
  int64_t room = isMerged ? sizes.back() : buffer.getShape().back();
  // exchange_c8
  if (room < int64_t(llvm::alignTo(sizes.back(), width)))
    return op.emitOpError("expects room for whole vectors of ")
           << width << " sums behind the " << sizes.back()
           << " of the innermost axis, but got " << buffer;
  int64_t vector = 16 / buffer.getElementBytes();
  if (failed(verifyNeighbours(op, buffer, blocks, std::min(width, vector))))
    return failure();
  // load_c6
  if (failed(verifyElements(op, fragment, buffer.getElementType())))
    return failure();
  return success();
}

unsigned tile::getStoredDim(StoreOp op) {
  ArrayRef<int64_t> axes = *op.getAxes();
  SmallVector<int64_t> strides = getStrides(op.getView().getType());
  auto isInner = [&](int64_t dim) {
    return axes[dim] >= 0 && strides[axes[dim]] == 1;
  };
  unsigned innermost = axes.size() - 1;
  Operation *product = op.getSource().getDefiningOp();
  if (!op.getBox() || isInner(innermost) || innermost == 0 ||
      !isa_and_nonnull<ContractFibresOp, ContractPiecesOp>(product))
    return innermost;
  unsigned along = op.getAlong()->front();
  unsigned other = along == innermost ? innermost - 1 : along;
  return isInner(other) ? other : innermost;
}

LogicalResult tile::verifyAxesAndBytes(StoreOp op, ArrayRef<int64_t> box,
                                       size_t firstMerged) {
  for (Value array : {Value(op.getView()), Value(op.getAddend())}) {
    if (!array)
      continue;
    auto view = cast<ViewType>(array.getType());
    // store_c1
    if (view.getElementType() != op.getView().getType().getElementType())
      return op.emitOpError("expects an addend of elements of ")
             << op.getView().getType() << ", but got " << view;
    // store_c11
    if (!op.getAxes())
      return op.emitOpError("expects axes of a block's box");
    if (failed(verifyAxes(op, view, *op.getAxes(), box)))
      return failure();
    SmallVector<int64_t> axes(*op.getAxes()), sizes(box);
    unsigned inner = getStoredDim(op);
    std::swap(axes[inner], axes.back());
    std::swap(sizes[inner], sizes.back());
    if (failed(verifyBytes(op, view, axes, sizes, op.getBytes(),
                           /*isStored=*/true)) ||
        failed(verifyMerged(op, view, *op.getAxes(), box, firstMerged)))
      return failure();
  }
  return success();
}

LogicalResult tile::verifyStoredBlock(StoreOp op) {
  Blocks blocks = *getBlocks(op.getBoxes());
  auto fragment = cast<FragmentType>(op.getSource().getType());
  if (failed(verifyNoEpilogue(op, "blocks")))
    return failure();
  if (failed(verifyBlock(op, fragment, blocks, *op.getAlong(), false)) ||
      !getTilesTogether(op, op.getSource(), blocks))
    return failure();
  SmallVector<int64_t> box(*op.getBox());
  // store_c7
  if (!areTileSizes(box) || box.size() < blocks.sizes.size())
    return op.emitOpError("expects the blocks of a tile of ")
           << blocks.sizes << " elements, but got a box of " << box;
  if (failed(verifyAxesAndBytes(op, box, blocks.sizes.size() - 1)))
    return failure();
  SmallVector<int64_t> sizes(blocks.sizes);
  ArrayRef<int64_t> along = *op.getAlong();
  for (int64_t axis : along)
    sizes[axis] = fragment.getShape()[axis + 1];
  SmallVector<int64_t> merged(ArrayRef(box).take_front(sizes.size()));
  merged.back() *= llvm::product_of(ArrayRef(box).drop_front(sizes.size()));
  // store_c7
  if (merged != sizes)
    return op.emitOpError("expects the blocks of a tile of ")
           << sizes << " elements, but got a box of " << box;
  return success();
}

LogicalResult tile::verifyFilled(CopyOp op) {
  BufferType buffer = op.getBuffer().getType();
  ViewType view = op.getView().getType();
  int64_t rank = buffer.getShape().size();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> given(order);
  if (op.getOrder())
    given.assign(op.getOrder()->begin(), op.getOrder()->end());
  llvm::sort(given);
  // copy_c16
  if (op.getBuffer().getDefiningOp<AllocOp>())
    return op.emitOpError("expects a slot of a ring with fill, since what is "
                          "copied has to be waited for");
  // copy_c17
  if (op.getPart() || op.getGroups() != 1 || op.getSplit() || op.getRows() ||
      getRing(op.getBuffer()) || (!op.getBox() && given != order) ||
      !op.getAxes())
    return op.emitOpError("expects axes and an order of a buffer's dimensions "
                          "with fill, without rows, part, groups and split");
  if (std::optional<ArrayRef<int64_t>> box = op.getBox()) {
    // copy_c20
    if (op.getOrder() || op.getRounded() ||
        int64_t(op.getBytes()) != kSegmentChunkBytes)
      return op.emitOpError(
          "expects copies of 16 bytes of a box, without order "
          "and rounded");
    return verifySegments(op, view, buffer, *op.getAxes(), *box);
  }
  // copy_c1
  if (failed(verifyElements(op, view, buffer.getElementType())))
    return failure();
  ArrayRef<int64_t> shape = buffer.getShape();
  if (failed(verifyAxes(op, view, *op.getAxes(), shape)) ||
      failed(verifyBytes(op, view, *op.getAxes(), shape, op.getBytes(),
                         /*isStored=*/false)))
    return failure();
  int64_t width = op.getBytes() / buffer.getElementBytes();
  // copy_c6
  if (width > 1 &&
      (shape.back() % width != 0 || !lieTogether(buffer, rank, width)))
    return op.emitOpError("expects chunks of ")
           << op.getBytes() << " bytes to lie together in " << buffer;
  return success();
}

LogicalResult tile::verifyBlockProduct(ContractOp op) {
  FragmentType from = op.getFragment().getType();
  OperandType operand = op.getOperand().getType();
  auto prepare = op.getOperand().getDefiningOp<PrepareOp>();
  auto load = op.getFragment().getDefiningOp<LoadOp>();
  auto before = op.getFragment().getDefiningOp<ContractOp>();
  Operation *loop = op->getParentOp();
  std::optional<Blocks> blocks;
  if (loop->getNumRegions() && loop->getRegion(0).getNumArguments())
    blocks = getBlocks(loop->getRegion(0).getArgument(0));
  int64_t along = op.getAlong(), rank = from.getShape().size();
  bool isInner = along + 1 == rank;
  OperandOrder order = isInner && load ? OperandOrder::Columns
                       : isInner       ? OperandOrder::Chained
                                       : OperandOrder::Rows;
  bool isChained = order == OperandOrder::Chained;
  // contract_c10
  bool hasSums = before && before->getNumOperands() == 2 &&
                 before.getAlongAttr() && blocks && blocks->warps == 1;
  if (!prepare || !blocks || operand.getOrder() != order ||
      (isChained ? !hasSums : !load))
    return op.emitOpError("expects an operand of order ")
           << stringifyOperandOrder(order)
           << " for a block that was loaded, or one warp's sums, but got "
           << operand;
  LoadOp loaded =
      isChained ? before->getOperand(0).getDefiningOp<LoadOp>() : load;
  DenseI64ArrayAttr axes = loaded ? loaded.getAlongAttr() : nullptr;
  // contract_c10
  if (!axes || axes.size() <= isChained || axes[isChained] + 1 != along ||
      (isChained && int64_t(before.getAlong()) + 1 != along))
    return op.emitOpError("expects a block that was loaded along axis ")
           << along - 1 << ", which is contracted";
  // What a lane has of sums is what it has of the next product's data.
  int64_t pair = kPairBytes / getBytesOf(operand.getElementType());
  if (isChained && int64_t(loaded.getTogether()) != pair)
    return op.emitOpError("expects a block of ")
           << pair << " tiles together in front of a chained operand, but got "
           << loaded.getTogether();
  if (static_cast<int64_t>(prepare.getWarps()) != blocks->warps ||
      prepare.getSplit() != blocks->isSplit)
    return op.emitOpError("expects an operand for ")
           << blocks->warps << " warps, split as the blocks are";
  return success();
}

LogicalResult tile::verifyBlockFactor(PrepareOp op) {
  OperandType operand = op.getOperand().getType();
  ViewType view = op.getFactor().getType();
  int64_t together = op.getTogether(), warps = op.getWarps();
  bool isOfBlock = isOfBlocks(operand.getAtom());
  bool isPlain = warps == 1 && together == 1 && !op.getResiduals() &&
                 !op.getSplit() && !op.getStreamed();
  // prepare_c3
  if (!isOfBlock) {
    if (isPlain)
      return success();
    return op.emitOpError("expects warps, together, residuals, split and "
                          "streamed for atoms mma.m16n8k8 only, but got ")
           << operand;
  }
  if (!llvm::isPowerOf2_64(together) || together > kMostTogether ||
      (op.getResiduals() && operand.getAtom() != AtomKind::MmaTF32))
    return op.emitOpError("expects 1, 2 or 4 tiles together, and residuals of "
                          "TF32 only, but got ")
           << together << " for " << operand;
  if (op.getSplit() &&
      (!hasCluster(op) || operand.getOrder() != OperandOrder::Rows ||
       operand.getSizeK() % (2 * kMmaSizeN) != 0))
    return op.emitOpError("expects split of rows of a multiple of ")
           << 2 * kMmaSizeN << " positions K in a kernel of clusters";
  // prepare_c1
  if (view.getShape() != operand.getShape() ||
      getSumType(view.getElementType()) != operand.getElementType())
    return op.emitOpError("expects a factor of the operand's sizes and "
                          "elements, but got ")
           << view << " for " << operand;
  return verifyGroups(op, op.getWarps());
}
