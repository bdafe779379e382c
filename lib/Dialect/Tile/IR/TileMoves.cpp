//===- TileMoves.cpp - Rules of operations that move tiles ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Between global and shared memory, and registers: tile.copy, tile.load,
// tile.exchange and tile.store. A tile is rows of a view, or a box of it.
//
//===----------------------------------------------------------------------===//

#include "TileRules.h"
#include "TileShared.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Dialect/Tile/IR/TileColumns.h"
#include "kron/Dialect/Tile/IR/TileSteps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

Value tile::getOrigin(Value buffer) {
  while (auto resize = buffer.getDefiningOp<ResizeOp>())
    buffer = resize->getOperand(0);
  return buffer;
}

RingType tile::getRing(Value buffer) {
  Operation *op = getOrigin(buffer).getDefiningOp();
  if (!isa_and_nonnull<AcquireOp, WaitOp>(op))
    return {};
  auto ring = dyn_cast<RingType>(op->getOperand(0).getType());
  return ring && ring.getAlong() ? ring : RingType();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether `view` has rows of the sizes `row`, which move by `bytes` at a time,
/// `rows` of them in a tile; else an error.
static LogicalResult verifyRows(Operation *op, ViewType view,
                                ArrayRef<int64_t> row, Type element,
                                int64_t rows, int64_t bytes) {
  // copy_c1
  if (failed(verifyElements(op, view, element)))
    return failure();
  // copy_c2
  if (view.getShape().size() <= row.size() ||
      view.getShape().take_back(row.size()) != row)
    return op->emitOpError("expects a view of rows of ")
           << row << " elements, but got " << view;
  SmallVector<int64_t> tile{rows};
  llvm::append_range(tile, row);
  // copy_c2
  if (!areTileSizes(tile))
    return op->emitOpError("expects rows of known sizes and up to ")
           << kMostElements << " elements in all, but got " << rows
           << " rows of " << view;
  int64_t elementBytes = getBytesOf(element);
  if (bytes == elementBytes)
    return success();
  // copy_c3
  if (bytes != 16 || !view.isContiguous())
    return op->emitOpError("expects bytes to be ")
           << elementBytes << ", or 16 of a view without gaps, but got "
           << bytes;
  // copy_c4
  if (rows * llvm::product_of(row) * elementBytes % 16 != 0)
    return op->emitOpError("expects rows of a tile to be a multiple of 16 "
                           "bytes, but got ")
           << rows << " rows of " << row << " elements";
  return success();
}

/// Whether chunks of `bytes` of the rows of a tile, which follow each other in
/// global memory, are whole in `buffer`, too.
static LogicalResult verifyChunks(Operation *op, BufferType buffer,
                                  int64_t rows, int64_t bytes) {
  // copy_c5
  if (rows > buffer.getShape().front())
    return op->emitOpError("expects at most ")
           << buffer.getShape().front() << " rows, but got " << rows;
  int64_t chunk = bytes / buffer.getElementBytes();
  auto segments =
      buffer.getTileLayout().getSegments(0, buffer.getShape().size());
  bool isSplit = segments.back().stride != 1;
  for (TileLayout::Segment segment : ArrayRef(segments).drop_back())
    isSplit |= segment.stride % chunk != 0 || segments.back().size % chunk != 0;
  // copy_c6
  if (chunk > 1 && isSplit)
    return op->emitOpError("expects chunks of ")
           << bytes << " bytes to lie together in " << buffer;
  return success();
}

/// Whether `view` is cut into boxes of `sizes` elements of type `element`, or
/// with `allowsSums` of their accumulation type; else an error.
static LogicalResult verifyBoxes(Operation *op, ViewType view,
                                 ArrayRef<int64_t> sizes, Type element,
                                 bool allowsSums = false) {
  Type found = view.getElementType();
  // copy_c1
  if (found != element && !(allowsSums && areSummedIn(found, element)))
    return op->emitOpError("expects elements of type ")
           << element << ", but got " << view;
  // copy_c2
  if (view.getShape().size() != sizes.size() || !areTileSizes(sizes))
    return op->emitOpError("expects a view of ")
           << sizes.size() << " axes, which boxes of " << sizes
           << " elements have, but got " << view;
  return success();
}

LogicalResult tile::verifyOrder(Operation *op,
                                std::optional<ArrayRef<int64_t>> order,
                                int64_t rank) {
  SmallVector<int64_t> axes;
  if (order)
    axes.assign(order->begin(), order->end());
  llvm::sort(axes);
  // copy_c10, load_c14
  if (order && !llvm::equal(axes, llvm::seq(rank)))
    return op->emitOpError("expects an order of axes 0 to ")
           << rank - 1 << ", but got " << *order;
  return success();
}

/// Whether vectors of `bytes` of a box lie together in `view`; else an error.
static LogicalResult verifyVectors(Operation *op, ViewType view,
                                   int64_t bytes) {
  int64_t elementBytes = getBytesOf(view.getElementType());
  int64_t width = bytes / elementBytes;
  bool isVector = width * elementBytes == bytes && bytes <= 16 &&
                  llvm::isPowerOf2_64(width);
  // What a launch knows alone is for the plan to see to.
  auto divides = [&](int64_t number) {
    return ShapedType::isDynamic(number) || number % width == 0;
  };
  bool liesTogether =
      isVector &&
      (width == 1 || view.isContiguous() ||
       (view.getStrides().back() == 1 && divides(view.getShape().back()) &&
        llvm::all_of(view.getStrides().drop_back(), divides)));
  // copy_c3
  if (!liesTogether)
    return op->emitOpError("expects bytes of elements that lie together in ")
           << view << ", but got " << bytes;
  return success();
}

/// The same of `view` and of `buffer`.
static LogicalResult verifyVectors(Operation *op, ViewType view,
                                   BufferType buffer, int64_t bytes) {
  if (failed(verifyVectors(op, view, bytes)))
    return failure();
  int64_t width = bytes / buffer.getElementBytes();
  ArrayRef<int64_t> shape = buffer.getShape();
  TileLayout layout = buffer.getTileLayout();
  bool isWhole = shape.back() % width == 0 && layout.strides.back() == 1;
  for (auto [size, stride] :
       llvm::drop_end(llvm::zip_equal(shape, layout.strides)))
    isWhole &= size == 1 || stride % width == 0;
  // copy_c6
  if (width > 1 && !isWhole)
    return op->emitOpError("expects chunks of ")
           << bytes << " bytes to lie together in " << buffer;
  return success();
}

bool tile::isTile(Value value) {
  auto loop = dyn_cast_or_null<ForOp>(value.getParentBlock()->getParentOp());
  return loop && value == loop.getTile();
}

/// Whether the positions that are copied, and by whom, are those of a ring;
/// else an error.
static LogicalResult verifyPart(CopyOp op) {
  RingType ring = getRing(op.getBuffer());
  int64_t groups = op.getGroups();
  tile::LayoutAttr layout = op.getBuffer().getType().getLayout();
  bool isSwizzled = layout && !layout.getSwizzle().empty();
  // copy_c11
  if (!ring && (op.getPart() || (groups != 1 && !isSwizzled)))
    return op.emitOpError("expects part and groups for a ring along an axis "
                          "only");
  if (!ring)
    return success();
  int64_t along = *ring.getAlong();
  int64_t size = op.getBuffer().getType().getShape()[along];
  if (std::optional<ArrayRef<int64_t>> part = op.getPart())
    if (part->size() != 2 || (*part)[0] < 0 || (*part)[0] >= (*part)[1] ||
        (*part)[1] > size)
      return op.emitOpError("expects a part of ")
             << size << " positions along axis " << along << ", but got "
             << *part;
  if (groups != 1 && !isSwizzled &&
      (groups != size || groups != ring.getSlotsPerBuffer()))
    return op.emitOpError("expects ")
           << size << " groups, one per position along axis " << along
           << ", but got " << groups;
  int64_t width = op.getBytes() / op.getBuffer().getType().getElementBytes();
  bool isInner = along + 1 == int64_t(ring.getBuffer().getShape().size());
  if (isInner && (ring.getStages() % width != 0 ||
                  (op.getPart() && ((*op.getPart())[0] % width != 0 ||
                                    (*op.getPart())[1] % width != 0))))
    return op.emitOpError("expects slots and parts of whole chunks of ")
           << op.getBytes() << " bytes";
  return success();
}

/// Whether a copy to what is no slot of a ring is a whole box of this turn, by
/// single elements; else an error.
static LogicalResult verifyBufferFromBox(CopyOp op) {
  BufferType buffer = op.getBuffer().getType();
  ViewType view = op.getView().getType();
  bool isWhole = op.getTile() && op.getAhead() == 0 && !op.getRows() &&
                 !op.getPart() && op.getGroups() == 1 && !op.getSplit() &&
                 !op->getParentOfType<ForBoxesOp>() &&
                 int64_t(op.getBytes()) == getBytesOf(view.getElementType());
  // copy_c16
  if (!isWhole)
    return op.emitOpError("expects a box of this turn, whole, by single "
                          "elements and by all threads, for what is no slot");
  return failure(
      failed(verifyBoxes(op, view, buffer.getShape(), buffer.getElementType(),
                         /*allowsSums=*/true)) ||
      failed(verifyOrder(op, op.getOrder(), buffer.getShape().size())));
}

LogicalResult CopyOp::verify() {
  BufferType buffer = getBuffer().getType();
  ViewType view = getView().getType();
  if (getPieces())
    return verifyPartCopy(*this);
  // copy_c7
  if (getTile() && !isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  if (!getFill() && getBuffer().getDefiningOp<AllocOp>())
    return verifyBufferFromBox(*this);
  auto loop = (*this)->getParentOfType<ForBoxesOp>();
  // copy_c13
  if ((loop && !loop.isOnce(getThreads(*this))) ||
      isa<ForBlocksOp, ForPiecesOp>((*this)->getParentOp()) ||
      (*this)->getParentOfType<ForFibresOp>())
    return emitOpError("expects to be in no tile.for_boxes but one that all "
                       "threads go through once");
  // copy_c17
  if (getFill())
    return verifyFilled(*this);
  if (getAxes() || getLines() || getRounded() || getBox())
    return emitOpError("expects axes, lines, rounded and box with fill only");
  if (!getRows()) {
    int64_t rank = buffer.getShape().size();
    return failure(failed(verifyBoxes(*this, view, buffer.getShape(),
                                      buffer.getElementType())) ||
                   failed(verifyVectors(*this, view, buffer, getBytes())) ||
                   failed(verifyOrder(*this, getOrder(), rank)) ||
                   failed(verifyPart(*this)) || failed(verifyShares(*this)));
  }
  // copy_c9
  if (getPart() || getOrder() || getGroups() != 1 || getRing(getBuffer()))
    return emitOpError("expects rows of a ring of whole buffers, without part, "
                       "order and groups");
  if (failed(verifyRows(*this, view, buffer.getShape().drop_front(),
                        buffer.getElementType(), *getRows(), getBytes())))
    return failure();
  return verifyChunks(*this, buffer, *getRows(), getBytes());
}

//===----------------------------------------------------------------------===//
// Boxes of threads
//===----------------------------------------------------------------------===//

/// The loop that has `boxes`, whole ones of threads, of which a turn fills
/// `fragment`; null, with an error, if there is none.
static ForBoxesOp getWholeTurnOf(Operation *op, FragmentType fragment,
                                 Value boxes) {
  ForBoxesOp loop = getTurnOf(op, fragment, boxes);
  // load_c20
  if (loop && loop.getParts()) {
    op->emitOpError("expects whole boxes, but got parts of fibres");
    return {};
  }
  return loop;
}

/// Whether the boxes of `fragment`, whole along the axes `along`, are those of
/// a tile of `sizes`, all of them or, with `allowsFewer`, some; else an error.
static LogicalResult verifyWholeAxes(Operation *op, FragmentType fragment,
                                     ArrayRef<int64_t> sizes, Value boxes,
                                     ArrayRef<int64_t> along,
                                     bool allowsFewer) {
  ForBoxesOp loop = getWholeTurnOf(op, fragment, boxes);
  if (!loop)
    return failure();
  int64_t rank = sizes.size();
  SmallVector<int64_t> box;
  for (auto [number, axis] : llvm::enumerate(along)) {
    // load_c3
    if (axis < 0 || axis >= rank || (number && axis <= along[number - 1]))
      return op->emitOpError("expects axes in order, from 0 to ")
             << rank - 1 << ", but got " << along;
    box.push_back(sizes[axis]);
  }
  // load_c4
  if (along.empty())
    return op->emitOpError("expects at least one axis");
  // load_c5
  if (fragment.getBox() != ArrayRef(box))
    return op->emitOpError("expects boxes that are all of a tile of ")
           << sizes << " elements along " << along << ", but got " << fragment;
  // load_c8
  if (loop.getExcess())
    return op->emitOpError("expects no boxes in excess of a box's tile");
  int64_t elements = loop.getCount() * fragment.getBoxElements();
  int64_t room = llvm::product_of(sizes);
  // load_c8, exchange_c1, store_c7
  if (allowsFewer ? elements > room : elements != room)
    return op->emitOpError("expects the boxes of a tile of ")
           << sizes << " elements, but " << loop.getCount() << " boxes have "
           << elements << " elements";
  return verifyOrder(op, loop.getOrder(), rank);
}

/// Whether the boxes of `fragment`, whole along the axes `along`, divide rows
/// of the sizes `row` (axis 1 is the first of these); and whether `boxes` are
/// those of a loop, at least one turn of which they fill. Else an error.
static LogicalResult verifyBoxes(Operation *op, FragmentType fragment,
                                 ArrayRef<int64_t> row, Value boxes,
                                 ArrayRef<int64_t> along) {
  ForBoxesOp loop = getWholeTurnOf(op, fragment, boxes);
  if (!loop)
    return failure();
  // load_c14
  if (loop.getOrder() || loop.getRepeat())
    return op->emitOpError("expects boxes of rows in the tile's order, none of "
                           "them repeated");
  int64_t rank = row.size();
  SmallVector<int64_t> box;
  for (auto [number, axis] : llvm::enumerate(along)) {
    // load_c3
    if (axis < 1 || axis > rank || (number && axis != along[number - 1] + 1))
      return op->emitOpError("expects axes that follow each other, from 1 to ")
             << rank << ", but got " << along;
    box.push_back(row[axis - 1]);
  }
  // load_c4
  if (along.empty())
    return op->emitOpError("expects at least one axis");
  int64_t inside = llvm::product_of(row.drop_front(along.back()));
  bool hasWidth = along.back() < rank;
  if (hasWidth)
    box.push_back(fragment.getShape().back());
  // load_c5
  if (fragment.getBox() != ArrayRef(box) ||
      (hasWidth && inside % box.back() != 0))
    return op->emitOpError("expects boxes that divide rows of ")
           << row << " elements along " << along << ", but got " << fragment;
  return success();
}

static LogicalResult verifyBoxes(Operation *op, FragmentType fragment,
                                 BufferType buffer, Value boxes,
                                 ArrayRef<int64_t> along) {
  // load_c6
  if (failed(verifyElements(op, fragment, buffer.getElementType())))
    return failure();
  if (failed(verifyBoxes(op, fragment, buffer.getShape().drop_front(), boxes,
                         along)))
    return failure();
  int64_t rank = buffer.getShape().size();
  auto inside = buffer.getTileLayout().getSegments(along.back() + 1, rank);
  // load_c7
  if (along.back() + 1 < rank &&
      inside.back().size % fragment.getShape().back())
    return op->emitOpError("expects neighbours that lie together in ")
           << buffer << ", but got " << fragment;
  auto loop = cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  int64_t count = loop.getCount();
  int64_t threads = getThreads(op);
  if (loop.getExcess() && threads)
    count = llvm::alignTo(count, threads);
  int64_t room = buffer.getShape().front() * buffer.getRowElements();
  // load_c8
  if (count * fragment.getBoxElements() > room)
    return op->emitOpError("expects room for ")
           << count << " boxes of " << fragment.getBoxElements()
           << " elements, but " << buffer << " has " << room << " elements";
  return success();
}

LogicalResult LoadOp::verify() {
  FragmentType fragment = getFragment().getType();
  if (getBlocks(getBoxes()))
    return verifyLoadedBlock(*this);
  // load_c22
  if (getTogether() != 1 || getFold() != 1)
    return emitOpError("expects together and fold of blocks only");
  auto view = dyn_cast<ViewType>(getSource().getType());
  // load_c13
  if (bool(view) != bool(getTile()) || bool(view) != bool(getBox()))
    return emitOpError("expects a tile and the sizes of a box of a view, and "
                       "of nothing else");
  if (view) {
    if (!isTile(getTile()))
      return emitOpError("expects a tile of a tile.for");
    // load_c6
    return failure(failed(verifyBoxes(*this, view, *getBox(),
                                      fragment.getElementType())) ||
                   failed(verifyWholeAxes(*this, fragment, *getBox(),
                                          getBoxes(), getAlong(), true)));
  }
  auto buffer = cast<BufferType>(getSource().getType());
  if (hasWarpBoxes(fragment))
    return verifyWarpBoxes(*this, fragment, getSource(), getBoxes(), getAlong(),
                           getHalves());
  // load_c17
  if (getHalves())
    return emitOpError("expects halves of boxes of warps only");
  if (!getRing(getSource()))
    return verifyBoxes(*this, fragment, buffer, getBoxes(), getAlong());
  // load_c6
  if (failed(verifyElements(*this, fragment, buffer.getElementType())))
    return failure();
  return verifyWholeAxes(*this, fragment, buffer.getShape(), getBoxes(),
                         getAlong(), true);
}

LogicalResult ExchangeOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (getBlocks(getBoxes()))
    return verifyExchangedBlock(*this);
  if (getFibres(getBoxes()))
    return verifyExchangedFibres(*this);
  if (getStep(getBoxes()))
    return verifyExchangedStep(*this);
  if (hasParts(getBoxes()))
    return verifyParts(*this, getFragment().getType(), buffer.getShape(),
                       buffer.getElementType(), getBoxes(), getAlong());
  if (hasWarpBoxes(getFragment().getType()))
    return verifyWarpBoxes(*this, getFragment().getType(), getBuffer(),
                           getBoxes(), getAlong(), /*halves=*/false);
  if (getRing(getBuffer())) {
    // load_c6
    if (failed(verifyElements(*this, getFragment().getType(),
                              buffer.getElementType())))
      return failure();
    return verifyWholeAxes(*this, getFragment().getType(), buffer.getShape(),
                           getBoxes(), getAlong(), false);
  }
  if (failed(verifyBoxes(*this, getFragment().getType(), buffer, getBoxes(),
                         getAlong())))
    return failure();
  auto loop = cast<ForBoxesOp>(getBoxes().getParentBlock()->getParentOp());
  int64_t elements = loop.getCount() * getFragment().getType().getBoxElements();
  // exchange_c1
  if (elements % buffer.getRowElements() != 0)
    return emitOpError("expects boxes of whole rows, but ")
           << loop.getCount() << " boxes have " << elements
           << " elements, and a row has " << buffer.getRowElements();
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static LogicalResult verifyStoredRows(StoreOp op) {
  ViewType view = op.getView().getType();
  int64_t rows = *op.getRows();
  auto verifyViews = [&](ArrayRef<int64_t> row, Type element) {
    for (Value array : {Value(op.getView()), Value(op.getAddend())})
      if (array && failed(verifyRows(op, cast<ViewType>(array.getType()), row,
                                     element, rows, op.getBytes())))
        return failure();
    return success();
  };
  if (auto buffer = dyn_cast<BufferType>(op.getSource().getType())) {
    if (failed(verifyViews(buffer.getShape().drop_front(),
                           buffer.getElementType())))
      return failure();
    return verifyChunks(op, buffer, rows, op.getBytes());
  }
  auto fragment = cast<FragmentType>(op.getSource().getType());
  // store_c6
  if (!view.isContiguous())
    return op.emitOpError(
               "expects a view without gaps for a fragment, but got ")
           << view;
  ArrayRef<int64_t> row = view.getShape().drop_front();
  if (failed(verifyViews(row, fragment.getElementType())) ||
      failed(verifyBoxes(op, fragment, row, op.getBoxes(), *op.getAlong())))
    return failure();
  auto loop = cast<ForBoxesOp>(op.getBoxes().getParentBlock()->getParentOp());
  int64_t elements = loop.getCount() * fragment.getBoxElements();
  // store_c7
  if (elements != rows * llvm::product_of(row))
    return op.emitOpError("expects the boxes to be all of ")
           << rows << " rows, but " << loop.getCount() << " boxes have "
           << elements << " elements";
  return success();
}

static LogicalResult verifyStoredBox(StoreOp op) {
  auto buffer = dyn_cast<BufferType>(op.getSource().getType());
  Type element =
      buffer ? buffer.getElementType()
             : cast<FragmentType>(op.getSource().getType()).getElementType();
  ArrayRef<int64_t> sizes = buffer ? buffer.getShape() : *op.getBox();
  for (Value array : {Value(op.getView()), Value(op.getAddend())})
    if (array && failed(verifyBoxes(op, cast<ViewType>(array.getType()), sizes,
                                    element, /*allowsSums=*/true)))
      return failure();
  auto fragment = dyn_cast<FragmentType>(op.getSource().getType());
  if (fragment && hasWarpBoxes(fragment)) {
    // copy_c3
    for (Value array : {Value(op.getView()), Value(op.getAddend())})
      if (array && failed(verifyVectors(op, cast<ViewType>(array.getType()),
                                        op.getBytes())))
        return failure();
    if (op.getBytes() != 16)
      return op.emitOpError("expects bytes of a lane's pairs, 16, but got ")
             << op.getBytes();
    return verifyWarpBoxes(op, fragment, sizes, op.getBoxes(), *op.getAlong());
  }
  // copy_c3
  if (static_cast<int64_t>(op.getBytes()) !=
      getBytesOf(op.getView().getType().getElementType()))
    return op.emitOpError("expects bytes of one element, but got ")
           << op.getBytes();
  if (buffer)
    return verifyOrder(op, op.getOrder(), sizes.size());
  if (hasParts(op.getBoxes()))
    return verifyParts(op, fragment, sizes, element, op.getBoxes(),
                       *op.getAlong());
  return verifyWholeAxes(op, fragment, sizes, op.getBoxes(), *op.getAlong(),
                         false);
}

LogicalResult StoreOp::verify() {
  ViewType view = getView().getType();
  // store_c1
  if (getAddend() &&
      (getAddend().getType().isContiguous() != view.isContiguous() ||
       getAddend().getType().getShape() != view.getShape()))
    return emitOpError("expects an addend of the sizes of its result, and with "
                       "strides where that has some, but got ")
           << getAddend().getType() << " for " << view;
  // store_c2
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  for (Operation *user : getView().getUsers())
    // store_c12
    if (user != *this && !isa<IfAlignedOp>(user) &&
        !(isa<StoreOp>(user) && areExclusive(*this, user)))
      return emitOpError("expects no other operation to read or write what it "
                         "stores to, but ")
             << user->getName() << " does";
  for (Value scale : {getAlpha(), getBeta()})
    // store_c3
    if (scale && scale.getType() != getSumType(view.getElementType()))
      return emitOpError("expects alpha and beta of type ")
             << getSumType(view.getElementType()) << ", but got "
             << scale.getType();
  if (isOfBatch(getSource()))
    return verifyStoredBatch(*this);
  bool isFragment = isa<FragmentType>(getSource().getType());
  // store_c4
  if (!isFragment && (getBoxes() || getAlong()))
    return emitOpError("expects boxes of a fragment only");
  bool isInPieces = getSource().getDefiningOp<ContractPiecesOp>() != nullptr;
  // store_c5
  if (isFragment && (bool(getBoxes()) == isInPieces || !getAlong()))
    return emitOpError("expects a fragment's boxes, and what they are along");
  // store_c8
  if (bool(getBox()) != (isFragment && !getRows()))
    return emitOpError("expects sizes of a box for a fragment without rows, "
                       "and for nothing else");
  if (failed(verifyEpilogue(*this)))
    return failure();
  if (isInPieces)
    return verifyStoredPieces(*this);
  if (isFragment && getBlocks(getBoxes()) && getBox())
    return verifyStoredBlock(*this);
  if (isFragment && getFibres(getBoxes()) && getBox())
    return verifyStoredFibres(*this);
  if (isFragment && getStep(getBoxes()) && getBox())
    return verifyStoredStep(*this);
  if (!isFragment && getAxes())
    return verifyStoredSums(*this);
  // store_c11
  if (getAxes())
    return emitOpError("expects axes for blocks only");
  if (isFragment && getColumnsLoop(getBoxes()))
    return verifyStoredColumns(*this);
  return getRows() ? verifyStoredRows(*this) : verifyStoredBox(*this);
}
