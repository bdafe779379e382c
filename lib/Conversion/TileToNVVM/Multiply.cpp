//===- Multiply.cpp - tile.multiply ---------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TurnSums.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// Sums of one turn: fibres of a thread times a part of the results.
class FibreProduct {
public:
  FibreProduct(Lowering &lowering, MultiplyOp op)
      : lowering(lowering), k(lowering.k), op(op),
        buffer(op.getSource().getType()), ops(k, buffer.getElementType()),
        turn(lowering.placeBoxes(op.getBoxes(), buffer.getShape(),
                                 {int64_t(op.getAlong())})),
        part(op.getSums().getType().getBoxElements()) {}

  void build();

private:
  void placeFibres();
  void placeFactor();
  SmallVector<Scalar> loadFactor(Int p);
  Scalar add(const Scalar &value, const Scalar &element, const Scalar &sum);
  void addStep(Int p);

  Lowering &lowering;
  KernelBuilder &k;
  MultiplyOp op;
  BufferType buffer;
  ScalarOps ops;
  LoweredTurn &turn;
  int64_t part;

  /// Position 0 of each fibre, and what the factor is counted from.
  SmallVector<Value> fibres;
  Value factor;
  TurnSums sums;
};

} // namespace

void FibreProduct::placeFibres() {
  for (const BoxPosition &box : turn.positions) {
    Positions positions(box.base);
    positions[op.getAlong()] = 0;
    fibres.push_back(lowering.getElement(op.getSource(), positions));
  }
}

/// One that varies is moved along the axes that it does so on; behind the end
/// of an axis is the last one.
void FibreProduct::placeFactor() {
  if (isa<OperandType>(op.getFactor().getType())) {
    factor = k.shared(lowering.operands.at(op.getFactor()));
    return;
  }
  const LoweredView &view = lowering.views.at(op.getFactor());
  factor = view.array.base;
  if (!op.getTile())
    return;
  SmallVector<int64_t> sizes(buffer.getShape());
  sizes[op.getAlong()] = view.sizes[op.getAlong()].getConstant();
  sizes.push_back(buffer.getShape()[op.getAlong()]);
  LoweredTile tile = lowering.placeTile(
      op.getFactor(), lowering.numbers.at(op.getTile()), sizes);
  Int offset = 0;
  for (auto [axis, first] : llvm::enumerate(turn.positions.front().base)) {
    if (axis == op.getAlong() || view.array.strides[axis].is(0))
      continue;
    Int position = k.add(k.extend(first), tile.starts[axis]),
        all = view.sizes[axis];
    if (!all.isConstant() || all.getConstant() % sizes[axis] != 0)
      position = k.min(position, k.sub(all, 1));
    offset = k.add(offset, k.mul(position, view.array.strides[axis]));
  }
  factor = view.offset(k, factor, offset);
}

/// Elements at position `p` of the turn's results.
SmallVector<Scalar> FibreProduct::loadFactor(Int p) {
  Int first = k.mul(turn.part, part);
  if (auto operand = dyn_cast<OperandType>(op.getFactor().getType())) {
    Int offset = k.add(k.mul(p, operand.getPitch()), first);
    return ops.loadMany(
        part, k.offsetElements(factor, getStorageType(operand.getElementType()),
                               offset));
  }
  const LoweredView &view = lowering.views.at(op.getFactor());
  unsigned axisK = op.getTile() ? view.sizes.size() - 1 : 0;
  unsigned axisN = op.getTile() ? op.getAlong() : 1;
  int64_t sizeK = view.sizes[axisK].getConstant();
  int64_t sizeN = view.sizes[axisN].getConstant();
  int64_t parts =
      cast<ForBoxesOp>(op.getBoxes().getParentBlock()->getParentOp())
          .getParts();
  SmallVector<Scalar> values;
  for (int64_t index = 0; index < part; ++index) {
    Int result = k.add(first, index);
    // The last part, or all of some parts, may be behind the last result.
    if (parts * part != sizeN)
      result = k.min(result, sizeN - 1);
    Int offset =
        getTileOffset(k, {p, result}, {sizeK, sizeN},
                      {view.array.strides[axisK], view.array.strides[axisN]});
    values.push_back(ops.load(view.element, view.offset(k, factor, offset),
                              CacheHint::ReadOnly));
  }
  return values;
}

/// `sum` and the product of `value` and `element`, as the semiring says.
Scalar FibreProduct::add(const Scalar &value, const Scalar &element,
                         const Scalar &sum) {
  if (op.getSemiring() == Semiring::PlusTimes)
    return ops.fma(value, element, sum);
  Value both = arith::AddFOp::create(k.builder, k.loc, value.re, element.re);
  return {arith::MaxNumFOp::create(k.builder, k.loc, sum.re, both), nullptr};
}

void FibreProduct::addStep(Int p) {
  int64_t stride = buffer.getTileLayout().strides[op.getAlong()];
  Type storage = getStorageType(buffer.getElementType());
  SmallVector<Scalar> values;
  for (Value fibre : fibres) {
    Value from = k.offsetElements(fibre, storage, k.mul(p, stride));
    Scalar value = ops.loadMany(1, from).front();
    values.push_back(op.getConjSource() ? ops.conjugate(value) : value);
  }
  SmallVector<Scalar> row = loadFactor(p);
  for (Scalar &element : row)
    if (op.getConjFactor())
      element = ops.conjugate(element);
  for (auto [value, own] : llvm::zip_equal(values, sums.values))
    for (auto [element, sum] : llvm::zip_equal(row, own))
      sum = add(value, element, sum);
}

void FibreProduct::build() {
  placeFibres();
  placeFactor();
  Scalar start = ops.zero();
  if (op.getSemiring() == Semiring::MaxPlus)
    start.re = k.constant(buffer.getElementType(),
                          -std::numeric_limits<double>::infinity());
  sums.values.assign(fibres.size(), SmallVector<Scalar>(part, start));
  int64_t sizeK = buffer.getShape()[op.getAlong()];
  int64_t unrolled = op.getUnrolled(), whole = sizeK / unrolled * unrolled;
  sums.addInLoop(k, whole, unrolled, [&](Int first) {
    for (int64_t step = 0; step < unrolled; ++step)
      addStep(k.add(first, step));
  });
  for (int64_t p = whole; p < sizeK; ++p)
    addStep(p);
  sums.assignTo(lowering, op.getSums());
}

void tile::lower(Lowering &lowering, MultiplyOp op) {
  FibreProduct(lowering, op).build();
}
