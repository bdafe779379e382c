//===- TilePairs.cpp - Rules of functions of pairs of rows ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TilePairRules.h"
#include "TileShared.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult PlaceOp::verify() {
  // place_c1
  if (!isTile(getTile()))
    return emitOpError("expects the number of a tile.for's tile");
  ArrayRef<int64_t> box = getBox();
  auto rank = static_cast<size_t>(getView().getType().getRank());
  // place_c2
  if (rank < 2 || box.size() != rank)
    return emitOpError("expects a size for each axis of a view of two axes or "
                       "more, but got ")
           << box.size() << " for " << rank << " axes";
  for (int64_t size : box)
    if (size < 1)
      return emitOpError("expects positive sizes, but got ") << size;
  for (int64_t size : box.drop_back(std::min<size_t>(box.size(), 3)))
    if (size != 1)
      return emitOpError("expects 1 in front of outputs, rows and columns, but "
                         "got ")
             << size;
  if (!getTriangle())
    return success();
  // place_c3
  auto loop = dyn_cast<ForOp>((*this)->getParentOp());
  if (!loop || !loop.getInits().empty() || &loop.getBody()->front() != *this)
    return emitOpError("expects to be the first operation of a tile.for that "
                       "carries nothing, with triangle");
  if (llvm::any_of(box.drop_back(2), [](int64_t size) { return size != 1; }))
    return emitOpError("expects 1 in front of rows and columns with triangle");
  return success();
}

PlaceOp tile::getPlaceOp(Operation *op, Value place) {
  auto found = place.getDefiningOp<PlaceOp>();
  // load_scalar_c1, keep_rows_c1, pairs_c1, multiply_rows_c1, for_pairs_c2,
  // for_gradients_c2, weigh_pairs_c1, add_derivatives_c1, store_pairs_c1
  if (!found)
    op->emitOpError("expects a place from tile.place");
  return found;
}

LogicalResult LoadScalarOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place)
    return failure();
  int64_t rank = getView().getType().getRank();
  int64_t most = place.getView().getType().getRank() - 2;
  // load_scalar_c2
  if (rank > most)
    return emitOpError("expects at most the ")
           << most << " axes in front of the rows, but got " << rank;
  // load_scalar_c3
  if (getView().getType().getElementType() != getValue().getType())
    return emitOpError("expects the view's elements, but got ")
           << getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult tile::verifyFunction(Operation *op, Region &region,
                                   unsigned count, TypeRange params,
                                   Type type) {
  unsigned expected = count + params.size();
  // pairs_c6, pairs_of_rows_c5, map_c2, add_derivatives_c6
  if (region.getNumArguments() != expected)
    return op->emitOpError("expects its region to take ")
           << expected << " values, but got " << region.getNumArguments();
  for (TypeRange types : {TypeRange(region.getArgumentTypes()), params})
    for (Type found : types)
      if (found != type)
        return op->emitOpError("expects its region to compute with ")
               << type << ", but got " << found;
  auto yield = region.front().empty()
                   ? tile::YieldOp()
                   : dyn_cast<tile::YieldOp>(region.front().back());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues().front().getType() != type)
    return op->emitOpError("expects its region to yield one ") << type;
  return success();
}

LogicalResult tile::verifyBox(Operation *op, FragmentType fragment) {
  if (fragment.getShape().size() == 3 && fragment.getShape().front() == 1)
    return success();
  // pairs_c5, for_pairs_c4, weigh_pairs_c3, add_derivatives_c5
  return op->emitOpError("expects one box of rows and columns, but got ")
         << fragment;
}

LogicalResult tile::verifyLanes(Operation *op, int64_t lanes,
                                FragmentType fragment) {
  int64_t threads = getThreads(op);
  // pairs_c4, keep_rows_c4, weigh_pairs_c4, add_derivatives_c4
  if (!llvm::isPowerOf2_64(lanes) || lanes > 32 || threads % lanes != 0)
    return op->emitOpError("expects lanes to be a power of two up to 32 that "
                           "divides the ")
           << threads << " threads, but got " << lanes;
  // multiply_rows_c4
  if (fragment.getAtom() != AtomKind::Fma &&
      (lanes < 4 || threads % (8 * lanes)))
    return op->emitOpError("expects lanes of warps for ")
           << fragment << ", at least 4 and in rows of whole warps, but got "
           << lanes << " of " << threads << " threads";
  return success();
}

int64_t tile::getOutputs(PlaceOp place) {
  ArrayRef<int64_t> box = place.getBox();
  return box.size() > 2 ? box[box.size() - 3] : 1;
}

LogicalResult tile::verifySizes(Operation *op, PlaceOp place, int64_t rows,
                                int64_t columns) {
  ArrayRef<int64_t> box = place.getBox().take_back(2);
  if (rows == box[0] && (!columns || columns == box[1]))
    return success();
  // pairs_c5, for_pairs_c5, for_gradients_c4, weigh_pairs_c3,
  // add_derivatives_c5, store_pairs_c2
  return op->emitOpError("expects the threads to have the box of the place, ")
         << box[0] << " x " << box[1] << ", but got " << rows << " x "
         << (columns ? columns : box[1]);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Whether rows of `buffer` lie where lanes read 16 bytes of each at a time
/// from different banks; else an error.
static LogicalResult verifyPitch(Operation *op, BufferType buffer) {
  TileLayout layout = buffer.getTileLayout();
  int64_t bytes = buffer.getElementBytes(), pitch = layout.strides[0] * bytes;
  // pairs_c3, pairs_of_rows_c3
  if (!layout.swizzles.empty() || layout.strides[1] != 1 || pitch % 32 != 16 ||
      buffer.getShape()[1] * bytes % 16 != 0)
    return op->emitOpError("expects rows of multiples of 16 bytes that lie an "
                           "odd number of 16 bytes apart, but got ")
           << buffer;
  return success();
}

/// Whether buffers of `ring` have elements of `view`, as `tile.pairs` wants
/// them; else an error.
static LogicalResult verifyRing(PairsOp op, RingType ring, ViewType view) {
  BufferType buffer = ring.getBuffer();
  // pairs_c3
  if (ring.getAlong() || buffer.getShape().size() != 2 ||
      buffer.getElementType() != view.getElementType())
    return op.emitOpError("expects rings of rows x K elements of the views, "
                          "but got ")
           << ring;
  return verifyPitch(op, buffer);
}

/// Whether `block` is that of the loop that `op` is in, and `place` of one
/// matrix; else an error.
static LogicalResult verifyBlock(Operation *op, PlaceOp place, Value block) {
  auto loop = dyn_cast<ForPairsOp>(op->getParentOp());
  // pairs_c1, multiply_rows_c1, pairs_of_rows_c1
  if (block ? !loop || block != loop.getBlockNumber() : bool(loop))
    return op->emitOpError(
        "expects the block of a tile.for_pairs in one, and none elsewhere");
  if (getOutputs(place) != 1)
    return op->emitOpError(
               "expects one position in front of the rows, but got ")
           << getOutputs(place);
  return success();
}

/// Whether `left` and `right` are as many buffers of as many positions of K,
/// which no other operation uses but a store of what is reduced; else an error.
static LogicalResult verifyRings(Operation *op, Value left, Value right) {
  auto first = cast<RingType>(left.getType());
  auto second = cast<RingType>(right.getType());
  // pairs_c3, multiply_rows_c3
  if (first.getStages() < 2)
    return op->emitOpError("expects rings of two slots or more, one of which "
                           "arrives while another is read, but got ")
           << first;
  if (first.getStages() != second.getStages() ||
      first.getBuffer().getShape()[1] != second.getBuffer().getShape()[1])
    return op->emitOpError("expects rings of as many slots and as many "
                           "positions of K, but got ")
           << first << " and " << second;
  for (Value ring : {left, right})
    if (!ring.getDefiningOp<AllocOp>() ||
        !llvm::all_of(ring.getUsers(), [&](Operation *user) {
          return user == op || isa<StorePairsOp>(user);
        }))
      return op->emitOpError("expects rings of its own from tile.alloc");
  return success();
}

LogicalResult PairsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  auto gradients = dyn_cast<ForGradientsOp>((*this)->getParentOp());
  bool isOfGradients = gradients && getBlock() == gradients.getBlockNumber();
  if (!place ||
      (!isOfGradients && failed(verifyBlock(*this, place, getBlock()))))
    return failure();
  ViewType lhs = getLhs().getType(), rhs = getRhs().getType();
  int64_t most = place.getView().getType().getRank();
  // pairs_c2
  for (ViewType view : {lhs, rhs})
    if (view.getRank() < 2 || view.getRank() > most ||
        view.getElementType() != lhs.getElementType())
      return emitOpError("expects views of one element type, of 2 to ")
             << most << " axes, but got " << view;
  RingType left = getLeft().getType(), right = getRight().getType();
  if (failed(verifyRing(*this, left, lhs)) ||
      failed(verifyRing(*this, right, rhs)))
    return failure();
  if (failed(verifyRings(*this, getLeft(), getRight())))
    return failure();
  ArrayRef<int64_t> leftShape = left.getBuffer().getShape();
  ArrayRef<int64_t> rightShape = right.getBuffer().getShape();
  FragmentType fragment = getFragment().getType();
  if (failed(verifyLanes(*this, getLanes(), fragment)) ||
      failed(verifyBox(*this, fragment)))
    return failure();
  // pairs_c5
  if (bool(getProducts()) != bool(getHeld()) ||
      (getProducts() ? getProducts().getType() != fragment
                     : fragment.getAtom() != AtomKind::Fma))
    return emitOpError("expects products, and whether they are exact, of the "
                       "type of its results, or neither and an fma fragment, "
                       "but got ")
           << fragment;
  Type sum = getSumType(lhs.getElementType());
  // pairs_c5
  if (fragment.getElementType() != sum)
    return emitOpError("expects a fragment of ")
           << sum << ", but got " << fragment;
  int64_t across = getLanes();
  int64_t rows = fragment.getShape()[1] * (getThreads(*this) / across);
  int64_t columns = fragment.getShape()[2] * across;
  if (rows != leftShape[0] || columns != rightShape[0])
    return emitOpError("expects the threads to have the rows of the buffers, ")
           << leftShape[0] << " x " << rightShape[0] << ", but got " << rows
           << " x " << columns;
  if (failed(verifySizes(*this, place, rows, getBlock() ? 0 : columns)))
    return failure();
  return verifyFunction(*this, getInner(), 3, getParams().getTypes(), sum);
}

LogicalResult tile::verifyBehindBatch(Operation *op, PlaceOp place,
                                      ViewType view, StringRef what,
                                      int64_t parts) {
  int64_t most = place.getView().getType().getRank() - parts;
  // keep_rows_c2, pairs_of_rows_c2, for_pairs_c3, for_gradients_c3
  if (view.getRank() < 2 || view.getRank() > most)
    return op->emitOpError("expects ")
           << what << " of 2 to " << most << " axes, but got " << view;
  return success();
}

LogicalResult KeepRowsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place || failed(verifyBehindBatch(*this, place, getView().getType(),
                                         "a view", /*parts=*/0)))
    return failure();
  FragmentType fragment = getRows().getType();
  if (failed(verifyBox(*this, fragment)) ||
      failed(verifyLanes(*this, getLanes(), fragment)))
    return failure();
  Type sum = getSumType(getView().getType().getElementType());
  int64_t sizeK = getView().getType().getShape().back();
  if (ShapedType::isDynamic(sizeK))
    sizeK = fragment.getShape()[2];
  // keep_rows_c3
  if (fragment.getElementType() != sum || fragment.getShape()[2] != sizeK ||
      fragment.getAtom() != AtomKind::Fma)
    return emitOpError("expects a fragment of rows x ")
           << sizeK << " values of " << sum << ", but got " << fragment;
  int64_t lanes = getLanes();
  return verifySizes(*this, place,
                     fragment.getShape()[1] * (getThreads(*this) / lanes), 0);
}

/// Whether the ring of `op` has blocks of columns with all of K; else an error.
static LogicalResult verifyRingOfColumns(PairsOfRowsOp op, int64_t sizeK) {
  RingType ring = op.getRight().getType();
  BufferType buffer = ring.getBuffer();
  // pairs_of_rows_c3
  if (ring.getAlong() || ring.getStages() < 2 ||
      buffer.getShape().size() != 2 || buffer.getShape()[1] < sizeK ||
      buffer.getElementType() != op.getRhs().getType().getElementType())
    return op.emitOpError("expects a ring of two slots or more, of columns x ")
           << sizeK << " elements of the view or more, but got " << ring;
  if (failed(verifyPitch(op, buffer)))
    return failure();
  if (!op.getRight().getDefiningOp<AllocOp>() || !op.getRight().hasOneUse())
    return op.emitOpError("expects a ring of its own from tile.alloc");
  return success();
}

LogicalResult PairsOfRowsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place || failed(verifyBlock(*this, place, getBlock())))
    return failure();
  auto loop = cast<ForPairsOp>((*this)->getParentOp());
  // pairs_of_rows_c1
  if (loop.getPlace() != getPlace() ||
      llvm::range_size(loop.getBody()->getOps<PairsOfRowsOp>()) != 1)
    return emitOpError("expects the place of its tile.for_pairs, and to be the "
                       "only one there");
  auto load = getRows().getDefiningOp<KeepRowsOp>();
  // pairs_of_rows_c2
  if (!load || load.getLanes() != getLanes() || load.getPlace() != getPlace())
    return emitOpError("expects rows from a tile.keep_rows of its place with ")
           << static_cast<int64_t>(getLanes()) << " lanes";
  FragmentType rows = getRows().getType(), fragment = getFragment().getType();
  ViewType rhs = getRhs().getType();
  Type sum = getSumType(rhs.getElementType());
  if (failed(verifyBehindBatch(*this, place, rhs, "a view", /*parts=*/0)))
    return failure();
  int64_t sizeK = rhs.getShape().back();
  // pairs_of_rows_c2
  if ((!ShapedType::isDynamic(sizeK) && sizeK != rows.getShape()[2]) ||
      rows.getElementType() != sum)
    return emitOpError("expects a view of as many positions of K as ")
           << rows << " has, of its elements, but got " << rhs;
  if (failed(verifyRingOfColumns(*this, rows.getShape()[2])) ||
      failed(verifyBox(*this, fragment)))
    return failure();
  int64_t columns = getRight().getType().getBuffer().getShape()[0];
  int64_t lanes = getLanes();
  // pairs_of_rows_c4
  if (fragment.getElementType() != sum || fragment.getAtom() != AtomKind::Fma ||
      fragment.getShape()[1] != rows.getShape()[1] ||
      fragment.getShape()[2] * lanes != columns)
    return emitOpError("expects a fragment of ")
           << rows.getShape()[1] << " rows and of " << columns
           << " columns for all lanes, but got " << fragment;
  return verifyFunction(*this, getInner(), 3, getParams().getTypes(), sum);
}

/// Whether `views` are of rows and `axes` axes behind these, no more in front
/// than `most`, and of type `element`; else an error.
static LogicalResult verifyRows(MultiplyRowsOp op, ValueRange views,
                                int64_t axes, int64_t most, Type element) {
  for (Value value : views) {
    auto view = cast<ViewType>(value.getType());
    // multiply_rows_c2, multiply_rows_c6
    if (view.getRank() < 1 + axes || view.getRank() > most + axes - 1 ||
        view.getElementType() != element)
      return op.emitOpError("expects views of ")
             << element << ", of " << 1 + axes << " to " << most + axes - 1
             << " axes, but got " << view;
  }
  return success();
}

/// Whether the operands of `op`, of parts of `element`, go together; else an
/// error.
static LogicalResult verifyParts(MultiplyRowsOp op, Type element) {
  size_t parts = op.getLhs().size();
  // multiply_rows_c2
  if (parts < 1 || parts > 2 || op.getRhs().size() != parts ||
      (parts == 2 && (!element.isF16() || op.getScales().empty())))
    return op.emitOpError("expects one view of either side, or two of f16 with "
                          "scales, but got ")
           << parts << " and " << op.getRhs().size();
  // multiply_rows_c6
  for (size_t number : {op.getNorms().size(), op.getScales().size()})
    if (number != 0 && number != 2)
      return op.emitOpError("expects norms and scales of both sides or none, "
                            "but got ")
             << number;
  // multiply_rows_c9
  if (op.getSameRows() && (op.getNorms().empty() || op.getBlock()))
    return op.emitOpError("expects norms and no block with same_rows");
  return success();
}

/// The same of its products.
static LogicalResult verifyProducts(MultiplyRowsOp op, Type element) {
  FragmentType fragment = op.getProducts().getType();
  AtomKind atom = fragment.getAtom();
  bool areSteps = atom == AtomKind::WgmmaHalf;
  bool isOfAtom = element.isF64() ? atom == AtomKind::MmaF64 ||
                                        atom == AtomKind::MmaF64Small
                                  : atom == AtomKind::MmaM16N8K16 || areSteps;
  // multiply_rows_c5
  if (!isOfAtom || fragment.getElementType() != getSumType(element) ||
      element.isF32())
    return op.emitOpError("expects a fragment of an atom that multiplies ")
           << element << ", but got " << fragment;
  if (failed(verifyBox(op, fragment)) ||
      failed(verifyLanes(op, op.getLanes(), fragment)))
    return failure();
  if (fragment.getShape()[1] % 2 || fragment.getShape()[2] % 2)
    return op.emitOpError("expects rows and columns in pairs, but got ")
           << fragment;
  // multiply_rows_c8
  if (areSteps != bool(op.getSizeK()))
    return op.emitOpError("expects K with warpgroups alone, for ") << fragment;
  // multiply_rows_c7
  int64_t across = op.getLanes(), columns = fragment.getShape()[2] * across;
  if (areSteps && (across != 4 || getThreads(op) % 128 || columns > 256))
    return op.emitOpError("expects 4 lanes, whole warpgroups and up to 256 "
                          "columns for ")
           << fragment << ", but got " << across << " of " << getThreads(op)
           << " threads and " << columns;
  return success();
}

/// The same of its rings, of tiles of `rows` and `columns`.
static LogicalResult verifyOwnRings(MultiplyRowsOp op, Type element,
                                    int64_t rows, int64_t columns) {
  int64_t parts = op.getLhs().size();
  for (auto [ring, sides] :
       {std::pair(op.getLeft(), rows), std::pair(op.getRight(), columns)}) {
    BufferType buffer = ring.getType().getBuffer();
    int64_t bytes = buffer.getElementBytes();
    // multiply_rows_c3
    if (ring.getType().getAlong() || buffer.getLayout() ||
        buffer.getElementType() != element ||
        buffer.getShape() != ArrayRef({parts * sides, 64 / bytes}))
      return op.emitOpError("expects rings of ")
             << parts << " x " << sides << " rows of 64 bytes of " << element
             << ", but got " << ring.getType();
  }
  // multiply_rows_c8
  if (op.getSizeK())
    for (ValueRange views : {ValueRange(op.getLhs()), ValueRange(op.getRhs())})
      for (Value value : views)
        if (auto view = cast<ViewType>(value.getType());
            view.getShape().back() !=
            op.getLeft().getType().getBuffer().getShape()[1])
          return op.emitOpError("expects views of steps of 64 bytes, but got ")
                 << view;
  return verifyRings(op, op.getLeft(), op.getRight());
}

LogicalResult MultiplyRowsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place || failed(verifyBlock(*this, place, getBlock())))
    return failure();
  Type element;
  if (!getLhs().empty())
    element = cast<ViewType>(getLhs().front().getType()).getElementType();
  if (failed(verifyParts(*this, element)))
    return failure();
  int64_t most = place.getView().getType().getRank();
  Type sum = getSumType(element);
  FragmentType fragment = getProducts().getType();
  int64_t axes = fragment.getAtom() == AtomKind::WgmmaHalf ? 2 : 1;
  if (failed(verifyRows(*this, getLhs(), axes, most, element)) ||
      failed(verifyRows(*this, getRhs(), axes, most, element)) ||
      failed(verifyRows(*this, getNorms(), 0, most, sum)) ||
      failed(verifyRows(*this, getScales(), 0, most, sum)))
    return failure();
  if (failed(verifyProducts(*this, element)))
    return failure();
  int64_t across = getLanes(), columns = fragment.getShape()[2] * across;
  int64_t rows = fragment.getShape()[1] * (getThreads(*this) / across);
  if (failed(verifyOwnRings(*this, element, rows, columns)))
    return failure();
  return verifySizes(*this, place, rows, getBlock() ? 0 : columns);
}

LogicalResult MapOp::verify() {
  // map_c1 is a trait.
  return verifyFunction(*this, getFunction(), 1, getParams().getTypes(),
                        getFragment().getType().getElementType());
}

int64_t tile::getTurnedPitch(int64_t rows, int64_t lanes, int64_t bytes) {
  // Threads next to each other store to banks as far apart as rows of a warp
  // are many.
  return rows * bytes + std::max(bytes, 128 / lanes);
}

int64_t tile::countTurnedColumns(RingType ring, int64_t rows, int64_t lanes,
                                 int64_t bytes) {
  return ring.getStages() * ring.getSlotBytes() /
         (lanes * getTurnedPitch(rows, lanes, bytes));
}

/// Whether values of `op` can pass through the memory of its ring; else an
/// error.
static LogicalResult verifyTurned(StorePairsOp op, PlaceOp place) {
  FragmentType fragment = op.getSource().getType();
  int64_t rows = fragment.getShape()[1], lanes = op.getLanes();
  int64_t tileRows = rows * (getThreads(op) / lanes);
  bool isTurned = place.getTriangle() && fragment.getAtom() == AtomKind::Fma &&
                  lanes % rows == 0 &&
                  countTurnedColumns(
                      op.getRing().getType(), tileRows, lanes,
                      getBytesOf(op.getView().getType().getElementType())) > 0;
  // store_pairs_c4
  if (!isTurned)
    return op.emitOpError("expects multiply-adds of a triangle, lanes that are "
                          "a multiple of rows and room for a tile's rows with "
                          "a ring, but got ")
           << op.getRing().getType();
  return success();
}

LogicalResult StorePairsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  FragmentType fragment = getSource().getType();
  if (!place || failed(verifyLanes(*this, getLanes(), fragment)))
    return failure();
  int64_t outputs = getOutputs(place);
  // store_pairs_c2
  if (fragment.getShape().size() != 3 || fragment.getShape().front() != outputs)
    return emitOpError("expects ")
           << outputs << " boxes of rows and columns, but got " << fragment;
  ViewType view = getView().getType();
  if (view.getRank() != place.getView().getType().getRank())
    return emitOpError("expects a view of the rank of the place's, ")
           << place.getView().getType().getRank() << ", but got "
           << view.getRank();
  // store_pairs_c3
  if (fragment.getElementType() != view.getElementType() &&
      fragment.getElementType() != getSumType(view.getElementType()))
    return emitOpError("expects a view of ")
           << fragment.getElementType() << ", or of what it accumulates, but "
           << "got " << view;
  int64_t across = getLanes();
  if (failed(verifySizes(*this, place,
                         fragment.getShape()[1] * (getThreads(*this) / across),
                         fragment.getShape()[2] * (getSums() ? 1 : across))))
    return failure();
  return getRing() ? verifyTurned(*this, place) : success();
}
