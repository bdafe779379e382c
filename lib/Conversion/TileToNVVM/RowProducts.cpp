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
  auto finishAll = [&](bool mayBeSelf) {
    SmallVector<Value> results(products);
    Value held = finish(results, mayBeSelf);
    results.push_back(held);
    return results;
  };
  SmallVector<Type> types(products.size(), type.getElementType());
  types.push_back(k.builder.getI1Type());
  SmallVector<Value> results = k.ifElse(
      isBesideDiagonal(), types, [&] { return finishAll(false); },
      [&] { return finishAll(true); });
  Value held = isOfAll(results.pop_back_val());
  setBox(lowering, op.getProducts(), results);
  lowering.scalars[op.getHeld()] = held;
}

/// Whether the tile has no element of a row with itself; null: it is not asked.
Value RowProducts::isBesideDiagonal() {
  if (!op.getSameRows())
    return nullptr;
  Int row = k.extend(firstRow), column = k.extend(firstColumn);
  Value isLeft = k.less(k.add(column, getSideRows(1) - 1), row);
  Value isRight = k.less(k.add(row, getSideRows(0) - 1), column);
  return arith::OrIOp::create(k.builder, k.loc, isLeft, isRight);
}

/// Copies those of one side. Of rows that do not exist, that of the last one.
void RowProducts::copyNormsOf(unsigned side) {
  int64_t bytes = getNormBytes(), pitch = getNormPitch();
  int64_t count = getSideRows(side), behind = 0;
  normPlaces[side] = k.allocateShared(count * pitch);
  Int tile = k.extend(side ? firstColumn : firstRow);
  for (ValueRange views : {op.getNorms(), op.getScales()}) {
    if (views.empty())
      continue;
    const LoweredView &array = lowering.views.at(views[side]);
    Value batch =
        getBatch(lowering, views[side], op.getPlace(), /*innerRank=*/1);
    auto find = [&](Int item) -> std::pair<Value, Value> {
      Int last = k.sub(k.extend(array.sizes.back()), 1);
      Int row = k.min(k.add(tile, k.extend(item)), last);
      Int offset = k.mul(row, k.extend(array.array.strides.back()));
      return {k.offsetElements(batch, array.element, offset), Value()};
    };
    copyItems(lowering, count, normPlaces[side] + behind, pitch, bytes, find);
    behind += bytes;
  }
}

void RowProducts::copyNorms() {
  if (!getNormPitch())
    return;
  for (unsigned side : {0, 1})
    copyNormsOf(side);
  k.commitCopies();
}

/// What the rows of this thread have, or its columns, of which two are next to
/// each other.
SmallVector<RowProducts::Norms> RowProducts::loadNorms(unsigned side) {
  int64_t count = side ? columns : rows, together = side ? 2 : 1;
  SmallVector<Norms> loaded(count);
  int64_t pitch = getNormPitch(), words = pitch / getNormBytes();
  if (!words)
    return loaded;
  Type element = type.getElementType();
  Value start = k.shared(
      k.add(k.mul(side ? grid.column : grid.row, pitch), normPlaces[side]));
  for (int64_t first = 0; first < count; first += together) {
    int64_t behind = side ? grid.columnOffset(first) : grid.rowOffset(first);
    SmallVector<Value> values =
        k.unpack(k.load(VectorType::get({together * words}, element),
                        k.offsetBytes(start, behind * pitch)));
    for (int64_t number = 0; number < together; ++number) {
      Norms &own = loaded[first + number];
      if (!op.getNorms().empty())
        own.norm = values[number * words];
      if (!op.getScales().empty())
        own.scale = values[(number + 1) * words - 1];
    }
  }
  return loaded;
}

/// Makes results of `products`, and returns whether they are exact; if there
/// `mayBeSelf`, the square of a row less itself is 0. That no
/// instruction waits for one of another element, there is no predicate of each:
/// what has to be finite is multiplied by zero and added up, which is NaN then
/// if it is not, and signs of what has to be positive are put together.
Value RowProducts::finish(MutableArrayRef<Value> products, bool mayBeSelf) {
  Type sum = type.getElementType(), i32 = k.builder.getI32Type();
  SmallVector<Norms> ofRows = loadNorms(0), ofColumns = loadNorms(1);
  bool isSquare = !op.getNorms().empty(), isScaled = !op.getScales().empty();
  SmallVector<Value> zeros(rows, constant(0));
  SmallVector<Int> signs(rows, Int(0));
  auto requireFinite = [&](int64_t row, Value value) {
    zeros[row] = k.fma(value, constant(0), zeros[row]);
  };
  auto requirePositive = [&](int64_t row, Value value) {
    if (sum.isF64())
      value = k.unpack(k.bitcast(value, VectorType::get({2}, i32)))[1];
    signs[row] = k.bitOr(signs[row], Int(k.bitcast(value, i32)));
  };
  Value limit;
  if (isSquare) {
    Value count = arith::UIToFPOp::create(k.builder, k.loc, sum,
                                          k.materialize(sizeK, 32));
    Value roundings = constant(op.getRoundings().convertToDouble());
    if (sum.isF64())
      roundings = add(roundings, arith::DivFOp::create(k.builder, k.loc, count,
                                                       constant(8)));
    // Norms of both sides, and their sum, are far from the largest number.
    for (auto [row, own] : llvm::enumerate(ofRows))
      requireFinite(row, mul(own.norm, constant(8)));
    for (auto [column, own] : llvm::enumerate(ofColumns))
      requireFinite(column % rows, mul(own.norm, constant(8)));
    limit = arith::DivFOp::create(
        k.builder, k.loc, arith::NegFOp::create(k.builder, k.loc, roundings),
        add(count, constant(24)));
  }
  // By how much the first column is behind the first row.
  Int behind;
  if (mayBeSelf)
    behind =
        k.truncate(k.sub(k.add(k.extend(firstColumn), k.extend(grid.column)),
                         k.add(k.extend(firstRow), k.extend(grid.row))));
  for (int64_t row = 0; row < rows; ++row) {
    Value factor = ofRows[row].scale;
    if (isSquare && isScaled)
      factor = mul(factor, constant(-2));
    for (int64_t column = 0; column < columns; ++column) {
      const Norms &other = ofColumns[column];
      Value &value = products[row * columns + column];
      if (isScaled)
        value = mul(value, factor);
      if (isSquare) {
        Value norms = add(ofRows[row].norm, other.norm);
        value = k.fma(value, isScaled ? other.scale : constant(-2), norms);
        Value above = k.fma(norms, limit, value);
        if (mayBeSelf) {
          Value isSelf =
              k.equal(behind, grid.rowOffset(row) - grid.columnOffset(column));
          value = k.select(isSelf, constant(0), value);
          above = k.select(isSelf, constant(0), above);
        }
        requirePositive(row, above);
        continue;
      }
      if (isScaled)
        value = mul(value, other.scale);
      requireFinite(row, value);
    }
  }
  Value zero = zeros.front();
  Int sign = signs.front();
  for (int64_t row = 1; row < rows; ++row) {
    zero = add(zero, zeros[row]);
    sign = k.bitOr(sign, signs[row]);
  }
  Value isFinite = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, zero, constant(0));
  if (!isSquare)
    return isFinite;
  Value isPositive =
      arith::CmpIOp::create(k.builder, k.loc, arith::CmpIPredicate::sge,
                            k.materialize(sign, 32), k.materialize(0, 32));
  return k.both(isFinite, isPositive);
}

/// Whether `condition` holds in all threads.
Value RowProducts::isOfAll(Value condition) {
  Type i32 = k.builder.getI32Type();
  Value holds = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), condition,
      NVVM::VoteSyncKind::all);
  int64_t warps = lowering.threads / 32;
  Int votes = k.allocateShared(4 * warps);
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
