//===- MultiplyViews.cpp - tile.multiply_views ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TurnSums.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// Sums of one turn: fibres of a thread times a part of the results.
class ViewProduct {
public:
  ViewProduct(Lowering &lowering, MultiplyViewsOp op);

  void build();

private:
  Int getPosition(unsigned axis, Int first);
  Value place(const LoweredView &view, const BoxPosition &box);
  void placeResults();
  SmallVector<Scalar> load(const LoweredView &view, ArrayRef<Value> pointers,
                           Int offset, bool conjugates);
  void addSteps(Int first, int64_t steps);
  void addLast();
  void multiply(ArrayRef<Scalar> values, ArrayRef<Scalar> row, Value exists);
  void addLanes();

  Lowering &lowering;
  KernelBuilder &k;
  MultiplyViewsOp op;
  ForBoxesOp loop;
  const LoweredView &source, &factor;
  LoweredTurn &turn;
  ScalarOps ops;
  LoweredTile tile;
  int64_t part, lanes, sizeK;
  /// Which positions of K this lane takes: each `lanes`-th from this one on.
  Int firstK = 0;

  /// Position 0 of K of each fibre, and of each result of the factor.
  SmallVector<Value> fibres, results;
  TurnSums sums;
};

} // namespace

ViewProduct::ViewProduct(Lowering &lowering, MultiplyViewsOp op)
    : lowering(lowering), k(lowering.k), op(op),
      loop(cast<ForBoxesOp>(op.getBoxes().getParentBlock()->getParentOp())),
      source(lowering.views.at(op.getSource())),
      factor(lowering.views.at(op.getFactor())),
      turn(lowering.placeBoxes(op.getBoxes(), op.getBox(),
                               {int64_t(op.getAlong())})),
      ops(k, op.getSums().getType().getElementType()),
      part(op.getSums().getType().getBoxElements()), lanes(loop.getLanes()),
      sizeK(source.sizes.back().getConstant()) {
  SmallVector<int64_t> sizes(op.getBox());
  sizes.push_back(sizeK);
  tile = lowering.placeTile(op.getSource(), lowering.numbers.at(op.getTile()),
                            sizes);
  if (lanes > 1)
    firstK = k.floorDiv(k.laneId(), 32 / lanes);
}

/// The position of the array that is `first` in the tile; behind the end of the
/// axis, the last one, and in front of it the first one.
Int ViewProduct::getPosition(unsigned axis, Int first) {
  Int position = k.add(k.extend(first), tile.starts[axis]);
  Int all = source.sizes[axis];
  if (loop.getVectors() && loop.getAxisAcross() == axis)
    return k.min(k.max(position, 0), k.sub(all, 1));
  if (all.isConstant() && all.getConstant() % tile.sizes[axis] == 0)
    return position;
  return k.min(position, k.sub(all, 1));
}

/// Position 0 of K of the fibre at `box`.
Value ViewProduct::place(const LoweredView &view, const BoxPosition &box) {
  Int offset = 0;
  for (auto [axis, first] : llvm::enumerate(box.base))
    if (axis != op.getAlong() && !view.array.strides[axis].is(0))
      offset = k.add(offset,
                     k.mul(getPosition(axis, first), view.array.strides[axis]));
  return view.offset(k, view.array.base, offset);
}

/// The last part may be behind the last result.
void ViewProduct::placeResults() {
  unsigned along = op.getAlong();
  Value base = place(factor, turn.positions.front());
  Int first = turn.getFirstResult(k, loop, part);
  Int stride = factor.array.strides[along];
  int64_t step = loop.getResultStep();
  bool areWhole = tile.sizes[along] % (part * step) == 0;
  for (int64_t index = 0; index < part; ++index) {
    Int result = k.add(first, index * step);
    if (!areWhole)
      result = k.min(result, tile.sizes[along] - 1);
    results.push_back(
        factor.offset(k, base, k.mul(getPosition(along, result), stride)));
  }
}

/// Elements `offset` behind each of `pointers`.
SmallVector<Scalar> ViewProduct::load(const LoweredView &view,
                                      ArrayRef<Value> pointers, Int offset,
                                      bool conjugates) {
  return llvm::map_to_vector(pointers, [&](Value pointer) {
    Scalar value = ops.load(view.element, view.offset(k, pointer, offset),
                            CacheHint::ReadOnly);
    return conjugates ? ops.conjugate(value) : value;
  });
}

/// Adds products of position `exists`, if it does.
void ViewProduct::multiply(ArrayRef<Scalar> values, ArrayRef<Scalar> row,
                           Value exists) {
  for (auto [value, own] : llvm::zip_equal(values, sums.values))
    for (auto [element, sum] : llvm::zip_equal(row, own)) {
      Scalar added = ops.fma(value, element, sum);
      sum = exists ? ops.select(exists, added, sum) : added;
    }
}

/// Positions `first`, ... of this lane's: all loads, then all products.
void ViewProduct::addSteps(Int first, int64_t steps) {
  SmallVector<SmallVector<Scalar>> values, rows;
  for (int64_t step = 0; step < steps; ++step) {
    auto getOffset = [&](const LoweredView &view) {
      Int stride = view.array.strides.back();
      return getTileOffset(k, {k.mul(k.add(first, step), lanes)}, {sizeK},
                           {stride});
    };
    values.push_back(
        load(source, fibres, getOffset(source), op.getConjSource()));
    rows.push_back(
        load(factor, results, getOffset(factor), op.getConjFactor()));
  }
  for (auto [own, row] : llvm::zip_equal(values, rows))
    multiply(own, row, nullptr);
}

/// The last position of lanes of which some have none.
void ViewProduct::addLast() {
  int64_t last = sizeK / lanes * lanes;
  Value exists = k.less(firstK, sizeK - last);
  // From where this lane is.
  auto getOffset = [&](const LoweredView &view) {
    Int position = k.min(k.add(firstK, last), sizeK - 1);
    return k.mul(k.extend(k.sub(position, firstK)), view.array.strides.back());
  };
  multiply(load(source, fibres, getOffset(source), op.getConjSource()),
           load(factor, results, getOffset(factor), op.getConjFactor()),
           exists);
}

/// Adds up what the lanes with the same fibres have.
void ViewProduct::addLanes() {
  for (int64_t mask = 32 / lanes; mask < 32; mask *= 2)
    for (SmallVector<Scalar> &own : sums.values)
      for (Scalar &sum : own) {
        Scalar other{k.shuffleXor(sum.re, mask), nullptr};
        if (sum.im)
          other.im = k.shuffleXor(sum.im, mask);
        sum = ops.add(sum, other);
      }
}

void ViewProduct::build() {
  for (const BoxPosition &box : turn.positions)
    fibres.push_back(place(source, box));
  placeResults();
  auto goToFirst = [&](const LoweredView &view, Value &pointer) {
    Int offset = k.mul(k.extend(firstK), view.array.strides.back());
    pointer = view.offset(k, pointer, offset);
  };
  for (Value &fibre : fibres)
    goToFirst(source, fibre);
  for (Value &result : results)
    goToFirst(factor, result);
  sums.values.assign(fibres.size(), SmallVector<Scalar>(part, ops.zero()));
  int64_t steps = sizeK / lanes, unrolled = op.getUnrolled();
  int64_t whole = steps / unrolled * unrolled;
  sums.addInLoop(k, whole, unrolled,
                 [&](Int first) { addSteps(first, unrolled); });
  if (whole < steps)
    addSteps(whole, steps - whole);
  if (sizeK % lanes != 0)
    addLast();
  addLanes();
  sums.assignTo(lowering, op.getSums());
}

void tile::lower(Lowering &lowering, MultiplyViewsOp op) {
  ViewProduct(lowering, op).build();
}
