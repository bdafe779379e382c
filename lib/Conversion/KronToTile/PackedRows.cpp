//===- PackedRows.cpp - Rows as matrix instructions take them -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An f32 x becomes two f16, high + low = x s, where s is the power of two that
// brings the largest element of the row to [2^14, 2^15). Both have 11 bits, and
// low no element below the normal ones of f16 unless x is 2^-17 of the largest
// one: high + low is x s to 22 bits, and to 2^-39 of the largest element.
//
// Distances do not change if all rows move: the mean of the first rows of A is
// taken off of those of f32 and f64, so that what matters is how far rows are
// from each other, not from the origin. A single row would be as far from the
// others as these are from each other, so that squares of products would be
// twice as large a part of the distances as they are from the mean.
//
//===----------------------------------------------------------------------===//

#include "PackedRows.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

/// Of f32: bits of the fraction, and the exponent of 1.
static constexpr int32_t kFractionBits = 23, kBias = 127;
/// The power of two that the largest element of a row is brought to.
static constexpr int32_t kLargestPower = 14;

namespace {

class RowPacking {
public:
  RowPacking(Emitter &host, PairOpInterface op, const PairArray &array,
             Value centre, const PairwisePlan &plan, ArrayRef<int64_t> tiles,
             SmallVectorImpl<Value> &workspace)
      : host(host), b(host.builder), loc(op.getLoc()), op(op), array(array),
        centre(centre), plan(plan), tiles(tiles), workspace(workspace),
        type(cast<MemRefType>(array.value.getType())),
        sum(op.getAccumulatorType()), rank(type.getRank()),
        batchRank(array.getBatchRank()),
        isSquare(op.getInner() == PairFunction::SquareDiff),
        isSplit(plan.getParts() == 2) {
    for (int64_t dim = 0; dim < batchRank; ++dim)
      places.push_back(dim);
    bool isTransposed = array.core.front() == PairAxis::K;
    places.push_back(batchRank + (isTransposed ? 1 : 0));
    places.push_back(batchRank + (isTransposed ? 0 : 1));
    sizes = getArraySizes(host, array.value);
  }

  PackedRows pack();

private:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;

  Value allocate(Type element, ArrayRef<Int> shape) {
    return allocatePacked(host, b, loc, element, shape, workspace);
  }
  void emit(ValueRange inputs, ValueRange outputs, ArrayRef<AffineMap> maps,
            bool reduces, Body body);
  Value reduceRows(Type element,
                   function_ref<Value(OpBuilder &, Value, Value)> body);
  Value mapRows(Value input, function_ref<Value(OpBuilder &, Value)> body);
  Value getValue(OpBuilder &inside, Value element, Value position);
  Value getPower(OpBuilder &inside, Value largest, bool inverse);
  SmallVector<Int> getPartShape();
  std::pair<Value, Value> getPlace(OpBuilder &inside);
  SmallVector<Value> splitElement(OpBuilder &inside, ValueRange indices,
                                  ValueRange rowIndices, Value largest);
  SmallVector<Value> packParts(Value largest);
  Value constant(OpBuilder &inside, Type type, double value) {
    return arith::ConstantOp::create(inside, loc, getScalarAttr(type, value));
  }
  Value integer(OpBuilder &inside, int32_t value) {
    return arith::ConstantOp::create(inside, loc,
                                     inside.getI32IntegerAttr(value));
  }
  /// `value` as an array of rows like this one's.
  PairArray getRows(Value value, bool hasK) {
    bool isTransposed = array.core.front() == PairAxis::K;
    PairArray rows{"", value, {array.core[isTransposed ? 1 : 0]}};
    if (hasK && plan.usesWgmma)
      rows.core.insert(rows.core.begin(), PairAxis::K);
    if (hasK)
      rows.core.push_back(PairAxis::K);
    return rows;
  }

  Emitter &host;
  OpBuilder &b;
  Location loc;
  PairOpInterface op;
  const PairArray &array;
  /// What is taken off of each row; null: nothing.
  Value centre;
  const PairwisePlan &plan;
  ArrayRef<int64_t> tiles;
  SmallVectorImpl<Value> &workspace;
  MemRefType type;
  Type sum;
  int64_t rank, batchRank;
  bool isSquare, isSplit;
  /// Dimensions of the array: of the batch, of rows and of K; sizes of all.
  SmallVector<int64_t> places;
  SmallVector<Int> sizes;
};

} // namespace

Value kron::allocatePacked(Emitter &host, OpBuilder &builder, Location loc,
                           Type element, ArrayRef<Int> shape,
                           SmallVectorImpl<Value> &workspace) {
  SmallVector<int64_t> known;
  SmallVector<Value> dynamic;
  for (Int size : shape) {
    known.push_back(size.isConstant() ? size.getConstant()
                                      : ShapedType::kDynamic);
    if (!size.isConstant())
      dynamic.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(), host.materialize(size, 64)));
  }
  workspace.push_back(memref::AllocOp::create(
      builder, loc, MemRefType::get(known, element), dynamic));
  return workspace.back();
}

void RowPacking::emit(ValueRange inputs, ValueRange outputs,
                      ArrayRef<AffineMap> maps, bool reduces, Body body) {
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  if (reduces)
    iterators.back() = utils::IteratorType::reduction;
  linalg::GenericOp::create(b, loc, inputs, outputs, maps, iterators,
                            [&](OpBuilder &inside, Location, ValueRange args) {
                              linalg::YieldOp::create(inside, loc,
                                                      body(inside, args));
                            });
}

/// What is multiplied of `element`, at position `position` along K.
Value RowPacking::getValue(OpBuilder &inside, Value element, Value position) {
  Value value = element;
  if (value.getType() != sum)
    value = arith::ExtFOp::create(inside, loc, sum, value);
  if (!centre)
    return value;
  return arith::SubFOp::create(
      inside, loc, value,
      memref::LoadOp::create(inside, loc, centre, position));
}

/// An array of what `body` makes, from 0 on, of the values of each row.
Value RowPacking::reduceRows(
    Type element, function_ref<Value(OpBuilder &, Value, Value)> body) {
  ArrayRef<Int> all(sizes);
  SmallVector<Int> shape(all.take_front(batchRank));
  shape.push_back(sizes[places[batchRank]]);
  Value result = allocate(element, shape);
  linalg::FillOp::create(b, loc, constant(b, element, 0), result);
  SmallVector<AffineExpr> exprs(rank);
  for (auto [dim, place] : llvm::enumerate(places))
    exprs[place] = b.getAffineDimExpr(dim);
  AffineMap rows = b.getMultiDimIdentityMap(rank).dropResult(rank - 1);
  emit(array.value, result,
       {AffineMap::get(rank, 0, exprs, b.getContext()), rows},
       /*reduces=*/true, [&](OpBuilder &inside, ValueRange args) {
         Value position = linalg::IndexOp::create(inside, loc, rank - 1);
         Value value = getValue(inside, args[0], position);
         return SmallVector<Value>{body(inside, value, args[1])};
       });
  return result;
}

/// The power of two that brings `largest` to where it should be, or what undoes
/// that: both are normal numbers.
Value RowPacking::getPower(OpBuilder &inside, Value largest, bool inverse) {
  Type i32 = inside.getI32Type();
  Value shift = integer(inside, kFractionBits);
  Value bits = arith::BitcastOp::create(inside, loc, i32, largest);
  Value exponent = arith::ShRUIOp::create(inside, loc, bits, shift);
  Value power = arith::SubIOp::create(
      inside, loc, integer(inside, 2 * kBias + kLargestPower), exponent);
  power = arith::MinSIOp::create(inside, loc, power,
                                 integer(inside, 2 * kBias - 1));
  if (inverse)
    power =
        arith::SubIOp::create(inside, loc, integer(inside, 2 * kBias), power);
  return arith::BitcastOp::create(
      inside, loc, inside.getF32Type(),
      arith::ShLIOp::create(inside, loc, power, shift));
}

/// The sizes of a part of the rows.
SmallVector<Int> RowPacking::getPartShape() {
  Int rows = sizes[places[batchRank]], sizeK = sizes[places.back()];
  SmallVector<Int> shape(ArrayRef(sizes).take_front(batchRank));
  if (!plan.usesWgmma) {
    int64_t chunk = 16 / plan.getPackedBytes();
    shape.push_back(rows);
    shape.push_back(host.mul(host.ceilDiv(sizeK, chunk), chunk));
    return shape;
  }
  Int all = 0;
  for (int64_t tile : tiles)
    all = host.max(all, host.mul(host.ceilDiv(rows, tile), tile));
  shape.push_back(host.ceilDiv(sizeK, plan.stepK));
  shape.push_back(all);
  shape.push_back(plan.stepK);
  return shape;
}

/// The row and the position along K of an element of a part.
std::pair<Value, Value> RowPacking::getPlace(OpBuilder &inside) {
  auto get = [&](int64_t dim) -> Value {
    return linalg::IndexOp::create(inside, loc, dim);
  };
  if (!plan.usesWgmma)
    return {get(batchRank), get(batchRank + 1)};
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(inside, loc, value);
  };
  Value row = get(batchRank + 1), inStep = get(batchRank + 2);
  // Of the four 16 bytes of a row, those with one number are in different banks
  // in eight rows.
  Value half = arith::DivUIOp::create(inside, loc, row, number(2));
  half = arith::RemUIOp::create(inside, loc, half, number(4));
  int64_t chunk = 16 / plan.getPackedBytes();
  Value exchange = arith::MulIOp::create(inside, loc, half, number(chunk));
  inStep = arith::XOrIOp::create(inside, loc, inStep, exchange);
  Value step =
      arith::MulIOp::create(inside, loc, get(batchRank), number(plan.stepK));
  return {row, arith::AddIOp::create(inside, loc, step, inStep)};
}

/// The parts of the element at `indices` of a row whose largest element is that
/// of `largest` (null, if they are not split) at `rowIndices`.
SmallVector<Value> RowPacking::splitElement(OpBuilder &inside,
                                            ValueRange indices,
                                            ValueRange rowIndices,
                                            Value largest) {
  Value element = memref::LoadOp::create(inside, loc, array.value, indices);
  Value position = indices[places.back()];
  if (!largest)
    return {plan.elementBytes == 2 ? element
                                   : getValue(inside, element, position)};
  Type packed = b.getF16Type();
  Value most = memref::LoadOp::create(inside, loc, largest, rowIndices);
  Value scaled =
      arith::MulFOp::create(inside, loc, getValue(inside, element, position),
                            getPower(inside, most, /*inverse=*/false));
  Value high = arith::TruncFOp::create(inside, loc, packed, scaled);
  Value low = arith::SubFOp::create(
      inside, loc, scaled, arith::ExtFOp::create(inside, loc, sum, high));
  return {high, arith::TruncFOp::create(inside, loc, packed, low)};
}

/// The parts, in which `largest` (null, if they are not split) is of each row.
SmallVector<Value> RowPacking::packParts(Value largest) {
  Type packed = isSplit ? Type(b.getF16Type()) : type.getElementType();
  SmallVector<Int> shape = getPartShape();
  SmallVector<Value> parts;
  for (int64_t part = 0; part < plan.getParts(); ++part)
    parts.push_back(allocate(packed, shape));
  AffineMap all = b.getMultiDimIdentityMap(shape.size());
  SmallVector<AffineMap> maps(parts.size(), all);
  auto toIndex = [&](Int size) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      host.materialize(size, 64));
  };
  Value countRows = toIndex(sizes[places[batchRank]]);
  Value countK = toIndex(sizes[places.back()]);
  emit({}, parts, maps, /*reduces=*/false, [&](OpBuilder &inside, ValueRange) {
    auto [row, position] = getPlace(inside);
    auto isBelow = [&](Value number, Value count) -> Value {
      return arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ult,
                                   number, count);
    };
    Value exists = arith::AndIOp::create(inside, loc, isBelow(row, countRows),
                                         isBelow(position, countK));
    // Behind the end, of an element that exists.
    Value zero = arith::ConstantIndexOp::create(inside, loc, 0);
    row = arith::SelectOp::create(inside, loc, exists, row, zero);
    position = arith::SelectOp::create(inside, loc, exists, position, zero);
    SmallVector<Value> indices(rank), rowIndices;
    for (int64_t dim = 0; dim < batchRank; ++dim)
      rowIndices.push_back(linalg::IndexOp::create(inside, loc, dim));
    rowIndices.push_back(row);
    for (auto [dim, place] : llvm::enumerate(places))
      indices[place] = dim + 1 == places.size() ? position : rowIndices[dim];
    SmallVector<Value> values =
        splitElement(inside, indices, rowIndices, largest);
    for (Value &value : values)
      value = arith::SelectOp::create(inside, loc, exists, value,
                                      constant(inside, value.getType(), 0));
    return values;
  });
  return parts;
}

/// What `body` makes of each row's element of `input`, in the type of sums.
Value RowPacking::mapRows(Value input,
                          function_ref<Value(OpBuilder &, Value)> body) {
  Value result = allocate(sum, getArraySizes(host, input));
  AffineMap all = b.getMultiDimIdentityMap(rank - 1);
  emit(input, result, {all, all}, /*reduces=*/false,
       [&](OpBuilder &inside, ValueRange args) {
         return SmallVector<Value>{body(inside, args[0])};
       });
  return result;
}

PackedRows RowPacking::pack() {
  PackedRows rows;
  Value largest;
  if (isSplit) {
    largest = reduceRows(sum, [&](OpBuilder &inside, Value value, Value most) {
      return arith::MaximumFOp::create(inside, loc, most,
                                       math::AbsFOp::create(inside, loc, value))
          .getResult();
    });
    rows.scales =
        getRows(mapRows(largest,
                        [&](OpBuilder &inside, Value most) {
                          return getPower(inside, most, /*inverse=*/true);
                        }),
                /*hasK=*/false);
  }
  if (isSquare) {
    Type wide = b.getF64Type();
    Value norms = reduceRows(wide, [&](OpBuilder &inside, Value value,
                                       Value total) {
      if (value.getType() != wide)
        value = arith::ExtFOp::create(inside, loc, wide, value);
      return math::FmaOp::create(inside, loc, value, value, total).getResult();
    });
    if (sum != wide)
      norms = mapRows(norms, [&](OpBuilder &inside, Value norm) {
        return arith::TruncFOp::create(inside, loc, sum, norm).getResult();
      });
    rows.norms = getRows(norms, /*hasK=*/false);
  }
  for (Value part : packParts(largest))
    rows.parts.push_back(getRows(part, /*hasK=*/true));
  return rows;
}

Value kron::emitCentre(Emitter &host, PairOpInterface op,
                       const PairwisePlan &plan,
                       SmallVectorImpl<Value> &workspace) {
  // Elements of 16 bits are exact as they are.
  if (op.getInner() != PairFunction::SquareDiff || plan.elementBytes == 2)
    return nullptr;
  OpBuilder &b = host.builder;
  Location loc = op.getLoc();
  Value lhs = op.getLhs();
  auto type = cast<MemRefType>(lhs.getType());
  unsigned rowsDim = op.getRowsDim(0), dimK = op.getReducedDim(0);
  SmallVector<Int> sizes = getArraySizes(host, lhs);
  Value centre = allocatePacked(host, b, loc, type.getElementType(),
                                sizes[dimK], workspace);
  Value lastRow = arith::IndexCastOp::create(
      b, loc, b.getIndexType(),
      host.materialize(host.sub(sizes[rowsDim], 1), 64));
  auto body = [&](OpBuilder &inside, Location, ValueRange) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(inside, loc, value);
    };
    SmallVector<Value> indices(type.getRank(), index(0));
    indices[dimK] = linalg::IndexOp::create(inside, loc, 0);
    auto part = [&](double value) -> Value {
      return arith::ConstantOp::create(
          inside, loc, getScalarAttr(type.getElementType(), value));
    };
    Value mean = part(0);
    for (int64_t row = 0; row < kCentreRows; ++row) {
      // Of fewer rows the last one counts more often.
      indices[rowsDim] =
          arith::MinUIOp::create(inside, loc, index(row), lastRow);
      Value element = memref::LoadOp::create(inside, loc, lhs, indices);
      mean = math::FmaOp::create(inside, loc,
                                 emitFiniteOrZero(inside, loc, element),
                                 part(1.0 / kCentreRows), mean);
    }
    linalg::YieldOp::create(inside, loc, mean);
  };
  linalg::GenericOp::create(b, loc, ValueRange(), centre,
                            b.getMultiDimIdentityMap(1),
                            utils::IteratorType::parallel, body);
  return centre;
}

PackedRows kron::packRows(Emitter &host, PairOpInterface op,
                          const PairArray &array, Value centre,
                          const PairwisePlan &plan, ArrayRef<int64_t> tiles,
                          SmallVectorImpl<Value> &workspace) {
  return RowPacking(host, op, array, centre, plan, tiles, workspace).pack();
}
