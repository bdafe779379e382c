//===- RowProducts.cpp - Products of rows of two tiles --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RowProducts.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

RowProducts::RowProducts(Lowering &lowering, MultiplyRowsOp op)
    : lowering(lowering), k(lowering.k), op(op),
      type(op.getProducts().getType()), grid(lowering, op.getLanes(), type),
      element(op.getLeft().getType().getBuffer().getElementType()),
      stepK(op.getLeft().getType().getBuffer().getShape()[1]),
      rows(type.getShape()[1]), columns(type.getShape()[2]),
      parts(op.getLhs().size()), stages(op.getLeft().getType().getStages()),
      rowBytes(stepK * kron::getElementBytes(element)) {
  sizeK = k.truncate(op.getSizeK()
                         ? lowering.numbers.at(op.getSizeK())
                         : lowering.views.at(op.getLhs().front()).sizes.back());
  ArrayRef<Int> starts =
      ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2);
  firstRow = starts[0];
  firstColumn = getFirstColumn(lowering, op.getPlace(), op.getBlock(),
                               columns * grid.lanes);
}

SmallVector<PairSide> RowProducts::getSides(ValueRange views, Value ring,
                                            Int first, int64_t rows) {
  return llvm::map_to_vector(views, [&](Value view) {
    return getPairSide(lowering, view, op.getPlace(), ring, first, rows);
  });
}

void RowProducts::copySides(ArrayRef<PairSide> sides, Int thread, Int position,
                            Int slot) {
  for (auto [part, side] : llvm::enumerate(sides)) {
    int64_t behind = static_cast<int64_t>(part) * side.rows * side.pitch;
    Int place = k.add(k.mul(slot, side.slotBytes), side.begin + behind);
    copyRowChunks(lowering, side, thread, position, place, sizeK, stepK,
                  /*exchanges=*/!element.isF64());
  }
}

void RowProducts::setResults(SmallVector<Value> products) {
  Value held = isOfAll(finish(products));
  setBox(lowering, op.getProducts(), products);
  lowering.scalars[op.getHeld()] = held;
}

/// The values that `views` have of the rows of this thread, or of its columns;
/// of one that does not exist, that of the last one. Nothing, if there are no
/// views.
SmallVector<Value> RowProducts::loadOfRows(ValueRange views, bool ofColumns) {
  if (views.empty())
    return {};
  Value view = views[ofColumns ? 1 : 0];
  const LoweredView &array = lowering.views.at(view);
  Int tile = k.extend(ofColumns ? firstColumn : firstRow);
  Int first = k.add(tile, k.extend(ofColumns ? grid.column : grid.row));
  int64_t count = ofColumns ? columns : rows;
  int64_t inTile = ofColumns ? columns * grid.lanes : rows * grid.groups;
  auto getOffset = [&](int64_t number) {
    return ofColumns ? grid.columnOffset(number) : grid.rowOffset(number);
  };
  Value batch = getBatch(lowering, view, op.getPlace(), /*innerRank=*/1);
  Int size = array.sizes.back(), stride = k.extend(array.array.strides.back());
  auto load = [&](Int position) {
    return k.load(
        array.element,
        k.offsetElements(batch, array.element, k.mul(position, stride)),
        CacheHint::ReadOnly);
  };
  SmallVector<Type> types(count, array.element);
  return k.ifElse(
      k.less(k.add(tile, inTile - 1), k.extend(size)), types,
      [&] {
        SmallVector<Value> values;
        for (int64_t number = 0; number < count; ++number)
          values.push_back(load(k.add(first, getOffset(number))));
        return values;
      },
      [&] {
        SmallVector<Value> values;
        for (int64_t number = 0; number < count; ++number)
          values.push_back(
              load(k.min(k.add(first, getOffset(number)), k.sub(size, 1))));
        return values;
      });
}

/// Makes results of `products`, and returns whether they are exact.
Value RowProducts::finish(MutableArrayRef<Value> products) {
  Type sum = type.getElementType();
  SmallVector<Value> rowNorms = loadOfRows(op.getNorms(), false);
  SmallVector<Value> rowScales = loadOfRows(op.getScales(), false);
  SmallVector<Value> columnNorms = loadOfRows(op.getNorms(), true);
  SmallVector<Value> columnScales = loadOfRows(op.getScales(), true);
  double largest =
      llvm::APFloat::getLargest(cast<FloatType>(sum).getFloatSemantics())
          .convertToDouble();
  Value held, limit;
  auto require = [&](Value lhs, Value rhs) {
    held = k.both(held,
                  arith::CmpFOp::create(k.builder, k.loc,
                                        arith::CmpFPredicate::OLE, lhs, rhs));
  };
  bool isSquare = !op.getNorms().empty(), isScaled = !op.getScales().empty();
  if (isSquare) {
    for (Value norm : rowNorms)
      require(norm, constant(largest / 8));
    Value count = arith::UIToFPOp::create(k.builder, k.loc, sum,
                                          k.materialize(sizeK, 32));
    Value roundings = constant(op.getRoundings().convertToDouble());
    if (sum.isF64())
      roundings = add(roundings, arith::DivFOp::create(k.builder, k.loc, count,
                                                       constant(8)));
    limit = arith::DivFOp::create(k.builder, k.loc, roundings,
                                  add(count, constant(24)));
  }
  for (int64_t column = 0; column < columns; ++column) {
    Value factor = isScaled ? columnScales[column] : Value();
    if (isSquare) {
      require(columnNorms[column], constant(largest / 8));
      factor = isScaled ? mul(factor, constant(-2)) : constant(-2);
    }
    for (int64_t row = 0; row < rows; ++row) {
      Value &value = products[row * columns + column];
      if (isScaled)
        value = mul(value, rowScales[row]);
      if (isSquare) {
        Value norms = add(rowNorms[row], columnNorms[column]);
        value = k.fma(value, factor, norms);
        require(mul(norms, limit), value);
        continue;
      }
      if (isScaled)
        value = mul(value, factor);
      require(LLVM::FAbsOp::create(k.builder, k.loc, value), constant(largest));
    }
  }
  return held;
}

/// Whether `condition` holds in all threads.
Value RowProducts::isOfAll(Value condition) {
  Type i32 = k.builder.getI32Type();
  Value holds = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), condition,
      NVVM::VoteSyncKind::all);
  // Of two blocks, since a warp may be there again while others read.
  int64_t warps = lowering.threads / 32, bytes = 4 * warps;
  Int votes = k.allocateShared(2 * bytes);
  if (op.getBlock()) {
    Int block = lowering.numbers.at(op.getBlock());
    votes = k.add(votes, k.mul(k.bitAnd(k.truncate(block), 1), bytes));
  }
  k.ifThen(k.equal(k.laneId(), 0), [&] {
    k.store(k.select(holds, k.materialize(1, 32), k.materialize(0, 32)),
            k.shared(k.add(k.mul(k.warpId(), 4), votes)));
  });
  k.barrier();
  Int all = 1;
  for (int64_t warp = 0; warp < warps; ++warp)
    all = k.bitAnd(all, Int(k.load(i32, k.shared(k.add(votes, 4 * warp)))));
  return k.equal(all, 1);
}
