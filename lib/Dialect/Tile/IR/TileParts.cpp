//===- TileParts.cpp - Rules of operations on parts of fibres -------------===//
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

/// The loop over parts that `boxes` are of, or null.
static ForBoxesOp getPartsLoop(Value boxes) {
  auto loop =
      dyn_cast_or_null<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  return loop && boxes == loop.getBoxes() && loop.getParts() ? loop
                                                             : ForBoxesOp();
}

bool tile::hasParts(Value boxes) { return bool(getPartsLoop(boxes)); }

/// Whether `op` stores neighbours of a view that make an access; else an error.
static LogicalResult verifyVectorsOf(Operation *op, ForBoxesOp loop) {
  auto store = dyn_cast<StoreOp>(op);
  ViewType view = store ? store.getView().getType() : ViewType();
  int64_t together = loop.getTogether();
  // store_c16
  if (view && !isa<ComplexType>(view.getElementType()) &&
      llvm::isPowerOf2_64(together) && together > 1 &&
      together * getBytesOf(view.getElementType()) <= 16 &&
      view.getStrides()[*loop.getAxisAcross()] == 1)
    return success();
  return op->emitOpError("expects vectors of ")
         << together
         << " neighbours of a view, of 16 bytes or less, of numbers "
         << "that are not complex";
}

LogicalResult tile::verifyParts(Operation *op, FragmentType fragment,
                                ArrayRef<int64_t> sizes, Type element,
                                Value boxes, ArrayRef<int64_t> along) {
  ForBoxesOp loop = getPartsLoop(boxes);
  int64_t rank = sizes.size();
  // exchange_c6
  if (along.size() != 1 || along.front() < 0 || along.front() >= rank)
    return op->emitOpError("expects parts along one axis, from 0 to ")
           << rank - 1 << ", but got " << along;
  if (fragment.getBox().size() != 1 ||
      fragment.getShape().front() != int64_t(loop.getTogether()))
    return op->emitOpError("expects parts of ")
           << loop.getTogether() << " fibres, as the loop takes, but got "
           << fragment;
  if (failed(verifyElements(op, fragment, element)))
    return failure();
  int64_t all = sizes[along.front()], part = fragment.getBoxElements();
  int64_t parts = loop.getParts(), unit = part * loop.getResultStep();
  if (parts * part < all || parts * part - unit >= all ||
      int64_t(loop.getCount()) * all != llvm::product_of(sizes))
    return op->emitOpError("expects the parts of all fibres of a tile of ")
           << sizes << " elements along " << along << ", but got "
           << loop.getCount() << " fibres in " << parts << " parts of " << part;
  std::optional<int64_t> across = loop.getAxisAcross();
  if (across && (*across >= rank || *across == along.front() ||
                 sizes[*across] % int64_t(loop.getTogether()) != 0))
    return op->emitOpError("expects ")
           << loop.getTogether() << " fibres across another axis of " << sizes
           << " that they divide, but got " << *across;
  if (loop.getVectors() && failed(verifyVectorsOf(op, loop)))
    return failure();
  return verifyOrder(op, loop.getOrder(), rank);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether a factor in global memory is as large as `op` says; else an error.
static LogicalResult verifyView(MultiplyOp op, ViewType view, int64_t results) {
  ArrayRef<int64_t> tile = op.getSource().getType().getShape();
  Type element = op.getSource().getType().getElementType();
  int64_t along = op.getAlong(), rank = tile.size();
  bool varies = bool(op.getTile());
  // multiply_c6
  if (varies &&
      (!isTile(op.getTile()) || op.getSums().getType().getShape().front() != 1))
    return op.emitOpError("expects a tile of a tile.for, and fibres one by "
                          "one, for a factor that varies");
  int64_t expected = varies ? rank + 1 : 2;
  bool isFactor = view.getRank() == expected && !view.isContiguous() &&
                  areSummedIn(view.getElementType(), element);
  int64_t sizeK = isFactor ? view.getShape()[varies ? rank : 0] : 0;
  int64_t sizeN = isFactor ? view.getShape()[varies ? along : 1] : 0;
  // multiply_c5
  if (sizeK != tile[along] || sizeN < 1 || sizeN > results)
    return op.emitOpError("expects a factor of ")
           << tile[along] << " positions and up to " << results
           << " results, with strides, for " << op.getSource().getType()
           << ", but got " << view;
  return success();
}

LogicalResult MultiplyOp::verify() {
  BufferType source = getSource().getType();
  FragmentType sums = getSums().getType();
  ForBoxesOp loop = getPartsLoop(getBoxes());
  // multiply_c1
  if (!loop || loop.getAxisAcross() || loop.getLanes() != 1)
    return emitOpError("expects boxes of a tile.for_boxes in parts, without "
                       "across and lanes");
  int64_t along = getAlong(), rank = source.getShape().size();
  // multiply_c2
  if (along >= rank)
    return emitOpError("expects along to be less than ")
           << rank << ", but got " << along;
  int64_t fibres =
      llvm::product_of(source.getShape()) / source.getShape()[along];
  // multiply_c1
  if (int64_t(loop.getCount()) != fibres)
    return emitOpError("expects ") << fibres << " boxes, the fibres of "
                                   << source << ", but got " << loop.getCount();
  // multiply_c3
  if (sums.getBox().size() != 1 || sums.getAtom() != AtomKind::Fma ||
      sums.getShape().front() != int64_t(loop.getTogether()) ||
      sums.getElementType() != source.getElementType())
    return emitOpError("expects sums of ")
           << loop.getTogether() << " fibres of " << source.getElementType()
           << ", but got " << sums;
  if (failed(verifyOrder(*this, loop.getOrder(), rank)))
    return failure();
  // multiply_c7
  if ((getConjSource() || getConjFactor()) &&
      !isa<ComplexType>(source.getElementType()))
    return emitOpError("expects complex elements to conjugate, but got ")
           << source;
  // multiply_c10
  if (getSemiring() == Semiring::MaxPlus &&
      !isa<FloatType>(source.getElementType()))
    return emitOpError("expects floats for semiring max_plus, but got ")
           << source;
  int64_t results = loop.getParts() * sums.getBoxElements();
  if (auto view = dyn_cast<ViewType>(getFactor().getType()))
    return verifyView(*this, view, results);
  auto operand = cast<OperandType>(getFactor().getType());
  // multiply_c6
  if (getTile())
    return emitOpError("expects no tile for a factor that does not vary");
  // multiply_c4
  if (operand.getAtom() != AtomKind::Fma ||
      operand.getElementType() != source.getElementType() ||
      operand.getSizeK() != source.getShape()[along] ||
      operand.getSizeN() != results)
    return emitOpError("expects an operand of ")
           << source.getShape()[along] << " positions and " << results
           << " results for " << source << ", but got " << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// Products of views
//===----------------------------------------------------------------------===//

/// Whether a turn's fibres share what they load of the factor; else an error.
static LogicalResult verifyAcross(MultiplyViewsOp op, ForBoxesOp loop) {
  int64_t together = loop.getTogether();
  if (together == 1 && !loop.getAxisAcross())
    return success();
  int64_t across = loop.getAxisAcross().value_or(op.getBox().size());
  // multiply_views_c6
  if (across >= int64_t(op.getBox().size()) ||
      across == int64_t(op.getAlong()) || op.getBox()[across] % together != 0 ||
      op.getFactor().getType().getStrides()[across] != 0)
    return op.emitOpError("expects ")
           << together << " fibres across an axis of " << op.getBox()
           << " that they divide and the factor does not vary on, but got "
           << across;
  return success();
}

/// Whether the views are of the axes of the box and of K; else an error.
static LogicalResult verifyOperands(MultiplyViewsOp op) {
  size_t rank = op.getBox().size();
  Type sum = op.getSums().getType().getElementType();
  ViewType source = op.getSource().getType();
  for (ViewType view : {source, op.getFactor().getType()})
    // multiply_views_c4
    if (view.isContiguous() || view.getShape().size() != rank + 1 ||
        view.getShape() != source.getShape() ||
        ShapedType::isDynamic(view.getShape().back()) ||
        !areSummedIn(view.getElementType(), sum))
      return op.emitOpError("expects views with strides of the ")
             << rank << " axes of the box and of a known K, of the same sizes "
             << "and of elements that " << sum << " are sums of, but got "
             << view << " beside " << source;
  // multiply_views_c7
  if ((op.getConjSource() || op.getConjFactor()) && !isa<ComplexType>(sum))
    return op.emitOpError("expects complex elements to conjugate, but got ")
           << sum;
  return success();
}

LogicalResult MultiplyViewsOp::verify() {
  ForBoxesOp loop = getPartsLoop(getBoxes());
  FragmentType sums = getSums().getType();
  // multiply_views_c2
  if (getAlong() >= getBox().size() || !areTileSizes(getBox()))
    return emitOpError("expects along to be an axis of the sizes of a tile, "
                       "but got ")
           << getAlong() << " and " << getBox();
  int64_t fibres = llvm::product_of(getBox()) / getBox()[getAlong()];
  // multiply_views_c1
  if (!loop || int64_t(loop.getCount()) != fibres)
    return emitOpError("expects boxes of a tile.for_boxes in parts, one for "
                       "each of ")
           << fibres << " fibres";
  // multiply_views_c3
  if (sums.getBox().size() != 1 || sums.getAtom() != AtomKind::Fma ||
      sums.getShape().front() != int64_t(loop.getTogether()))
    return emitOpError("expects sums of ")
           << loop.getTogether() << " fibres, but got " << sums;
  // multiply_views_c5
  if (!isTile(getTile()))
    return emitOpError("expects a tile of a tile.for");
  if (failed(verifyOperands(*this)) || failed(verifyAcross(*this, loop)))
    return failure();
  return verifyOrder(*this, loop.getOrder(), getBox().size());
}
