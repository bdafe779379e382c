//===- TileGradients.cpp - Rules of gradients of functions of pairs -------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TilePairRules.h"
#include "TileShared.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult ForGradientsOp::verify() {
  // for_gradients_c1
  if (!isa<ForOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a tile.for itself");
  FragmentType type = getSums().getType();
  Block &body = *getBody();
  if (body.getNumArguments() != 2 || !body.getArgument(0).getType().isIndex() ||
      body.getArgument(1).getType() != type)
    return emitOpError("expects a body that takes the number of a block and ")
           << type;
  auto yield =
      body.empty() ? tile::YieldOp() : dyn_cast<tile::YieldOp>(body.back());
  if (!yield || yield.getValues().getTypes() != TypeRange(type))
    return emitOpError("expects its body to yield ") << type;
  PlaceOp place = getPlaceOp(*this, getPlace());
  if (!place || failed(verifyBehindBatch(*this, place, getRhs().getType(),
                                         "a view", /*parts=*/1)))
    return failure();
  // for_gradients_c4
  if (type.getShape().size() != 3 ||
      type.getShape().front() != getOutputs(place) ||
      type.getAtom() != AtomKind::Fma)
    return emitOpError("expects ")
           << getOutputs(place) << " boxes of rows and columns, but got "
           << type;
  return success();
}

/// The loop that `op`, on a block, is in; null, with an error, if it is in none
/// or `block` is not of that.
static ForGradientsOp getLoop(Operation *op, Value block) {
  auto loop = dyn_cast<ForGradientsOp>(op->getParentOp());
  if (loop && block == loop.getBlockNumber())
    return loop;
  // weigh_pairs_c1, add_derivatives_c1
  op->emitOpError("expects the block of the tile.for_gradients that it is in");
  return nullptr;
}

/// Whether `view` has two axes behind a batch that the view of `place` has, and
/// elements that are accumulated in `sum`; else an error.
static LogicalResult verifyView(Operation *op, ViewType view, PlaceOp place,
                                Type sum) {
  int64_t most = place.getView().getType().getRank();
  if (view.getRank() >= 2 && view.getRank() <= most &&
      getSumType(view.getElementType()) == sum)
    return success();
  // weigh_pairs_c2, add_derivatives_c2
  return op->emitOpError("expects views of 2 to ")
         << most << " axes of elements that are accumulated in " << sum
         << ", but got " << view;
}

/// Whether the threads, `lanes` of which are next to each other, have all of a
/// block of `loop` in `fragment`; else an error.
static LogicalResult verifyBlockOf(Operation *op, ForGradientsOp loop,
                                   PlaceOp place, int64_t lanes,
                                   FragmentType fragment) {
  if (failed(verifyBox(op, fragment)) ||
      failed(verifyLanes(op, lanes, fragment)))
    return failure();
  int64_t columns = fragment.getShape()[2] * lanes;
  // weigh_pairs_c3, add_derivatives_c5
  if (columns != static_cast<int64_t>(loop.getBy()))
    return op->emitOpError("expects the threads to have the ")
           << loop.getBy() << " columns of a block, but got " << columns;
  return verifySizes(op, place,
                     fragment.getShape()[1] * (getThreads(op) / lanes), 0);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult WeighPairsOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  ForGradientsOp loop = place ? getLoop(*this, getBlock()) : ForGradientsOp();
  if (!loop)
    return failure();
  // weigh_pairs_c2
  if (getFactors().size() > 2 || (!getGrad() && getFactors().empty()))
    return emitOpError("expects a gradient or up to two factors, but got ")
           << getFactors().size() << " factors";
  FragmentType fragment = getWeighed().getType();
  Type sum = fragment.getElementType();
  SmallVector<Value> views(getFactors());
  if (getGrad())
    views.push_back(getGrad());
  for (Value view : views)
    if (failed(verifyView(*this, cast<ViewType>(view.getType()), place, sum)))
      return failure();
  // weigh_pairs_c3
  if (getPairs() && getPairs().getType() != fragment)
    return emitOpError("expects pairs of its result's type, but got ")
           << getPairs().getType();
  return verifyBlockOf(*this, loop, place, getLanes(), fragment);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Whether `ring` is one buffer, of `rows` rows of `columns` elements of type
/// `element`, that only `op` uses; else an error.
static LogicalResult verifySlotOf(Operation *op, Value ring, int64_t rows,
                                  int64_t columns, Type element) {
  auto type = cast<RingType>(ring.getType());
  BufferType buffer = type.getBuffer();
  TileLayout layout = buffer.getTileLayout();
  // add_derivatives_c3
  if (type.getAlong() || type.getStages() != 1 ||
      buffer.getShape() != ArrayRef({rows, columns}) ||
      buffer.getElementType() != element || !layout.swizzles.empty() ||
      layout.strides[1] != 1)
    return op->emitOpError("expects a ring of one buffer of ")
           << rows << " x " << columns << " " << element << ", but got "
           << type;
  if (!ring.getDefiningOp<AllocOp>() || !ring.hasOneUse())
    return op->emitOpError("expects rings of its own from tile.alloc");
  return success();
}

LogicalResult AddDerivativesOp::verify() {
  PlaceOp place = getPlaceOp(*this, getPlace());
  ForGradientsOp loop = place ? getLoop(*this, getBlock()) : ForGradientsOp();
  if (!loop)
    return failure();
  // add_derivatives_c1
  if (loop.getCarried() != getSums() || loop.getRhs() != getRhs() ||
      loop.getPlace() != getPlace())
    return emitOpError(
        "expects sums, place and columns of the tile.for_gradients");
  ViewType lhs = getLhs().getType(), rhs = getRhs().getType();
  FragmentType weights = getWeights().getType(), sums = getSums().getType();
  Type sum = weights.getElementType(), element = rhs.getElementType();
  SmallVector<ViewType> views{lhs, rhs};
  if (getOutputs())
    views.push_back(getOutputs().getType());
  for (ViewType view : views) {
    if (failed(verifyView(*this, view, place, sum)))
      return failure();
    // add_derivatives_c2
    if (view.getElementType() != element)
      return emitOpError("expects views of ")
             << element << ", but got " << view;
  }
  if (failed(verifyBlockOf(*this, loop, place, getWeightLanes(), weights)) ||
      failed(verifyLanes(*this, getLanes(), sums)))
    return failure();
  // add_derivatives_c5
  if (sums.getElementType() != sum ||
      (!getOutputs() && sums.getShape().front() != 1))
    return emitOpError("expects sums of ")
           << sum << ", one box without outputs, but got " << sums;
  int64_t lanes = getLanes();
  int64_t rows = sums.getShape()[1] * (getThreads(*this) / lanes);
  int64_t positions = sums.getShape()[2] * lanes;
  if (failed(verifySizes(*this, place, rows, positions)))
    return failure();
  int64_t columns = loop.getBy();
  // add_derivatives_c3
  int64_t bytes = getColumns().getType().getBuffer().getElementBytes();
  if (positions * bytes % 16 != 0 ||
      getColumns().getType().getBuffer().getTileLayout().strides[0] * bytes %
              16 !=
          0)
    return emitOpError("expects columns of multiples of 16 bytes, but got ")
           << getColumns().getType();
  if (bool(getOutputs()) != bool(getOutputRing()))
    return emitOpError("expects outputs and their ring, or neither");
  if (failed(verifySlotOf(*this, getColumns(), columns, positions, element)) ||
      failed(verifySlotOf(*this, getWeightRing(), columns, rows, sum)) ||
      (getOutputRing() && failed(verifySlotOf(*this, getOutputRing(), columns,
                                              sums.getShape().front(), sum))))
    return failure();
  return verifyFunction(*this, getDerivative(), 2, getParams().getTypes(), sum);
}
