//===- PackedValues.cpp - Values as matrix instructions take them ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An f32 becomes high + low: high is a TF32, rounded to nearest, and low what
// that leaves, exactly. What is infinite or NaN, or would be by rounding,
// stands in high as it is.
//
//===----------------------------------------------------------------------===//

#include "PackedValues.h"
#include "PackedRows.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

/// Half of the last place of a TF32, and the bits that it has.
static constexpr int32_t kHalfPlace = 0x1000;
static constexpr int32_t kBitsOfTF32 = int32_t(0xffffe000);
/// Columns of either array that an instruction takes, lanes of a warp, and
/// those that have neighbouring columns of the matrix.
static constexpr int64_t kColumns = 8, kLanes = 32, kNeighbours = 4;

namespace {

class ValuePacking {
public:
  ValuePacking(Emitter &host, PairwiseApplyOp op, const PairArray &values,
               const PairwisePlan &plan, SmallVectorImpl<Value> &workspace)
      : host(host), b(host.builder), loc(op.getLoc()), values(values),
        workspace(workspace), sum(op.getAccumulatorType()),
        words(plan.getValueWords()), sizes(getArraySizes(host, values.value)) {}

  PairArray pack();

private:
  Value index(OpBuilder &inside, int64_t value) {
    return arith::ConstantIndexOp::create(inside, loc, value);
  }
  Value allocate();
  Value load(OpBuilder &inside, Value row, Value column, int64_t batchRank);
  Value getPart(OpBuilder &inside, Value value, Value isLow);
  Value getWord(OpBuilder &inside, int64_t batchRank);

  Emitter &host;
  OpBuilder &b;
  Location loc;
  const PairArray &values;
  SmallVectorImpl<Value> &workspace;
  Type sum;
  /// What a lane has of two columns of the matrix and one of the values.
  int64_t words;
  SmallVector<Int> sizes;
  /// Along N and C, as indices in front of the loop.
  Value rowCount, columnCount;
};

} // namespace

Value ValuePacking::allocate() {
  SmallVector<Int> shape(ArrayRef(sizes).take_front(values.getBatchRank()));
  shape.push_back(host.ceilDiv(sizes[*values.getDim(PairAxis::N)], kColumns));
  shape.push_back(
      host.mul(host.ceilDiv(sizes[*values.getDim(PairAxis::C)], kColumns),
               kLanes * words));
  return allocatePacked(host, b, loc, sum, shape, workspace);
}

/// The value at `row` and `column` of the matrix of this loop's batch, or 0.
Value ValuePacking::load(OpBuilder &inside, Value row, Value column,
                         int64_t batchRank) {
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < batchRank; ++dim)
    indices.push_back(linalg::IndexOp::create(inside, loc, dim));
  indices.resize(batchRank + 2);
  Value exists;
  for (auto [axis, position] :
       {std::pair(PairAxis::N, row), std::pair(PairAxis::C, column)}) {
    unsigned dim = *values.getDim(axis);
    Value isInside =
        arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ult, position,
                              axis == PairAxis::N ? rowCount : columnCount);
    // Behind the end, of an element that exists.
    indices[dim] = arith::SelectOp::create(inside, loc, isInside, position,
                                           index(inside, 0));
    exists = exists
                 ? Value(arith::AndIOp::create(inside, loc, exists, isInside))
                 : isInside;
  }
  Value value = emitConversion(
      inside, loc, memref::LoadOp::create(inside, loc, values.value, indices),
      sum);
  Value zero = arith::ConstantOp::create(inside, loc, getScalarAttr(sum, 0));
  return arith::SelectOp::create(inside, loc, exists, value, zero);
}

/// The TF32 of `value`, or if `isLow` what that leaves of it.
Value ValuePacking::getPart(OpBuilder &inside, Value value, Value isLow) {
  Type i32 = inside.getI32Type();
  auto constant = [&](int32_t bits) -> Value {
    return arith::ConstantOp::create(inside, loc,
                                     inside.getI32IntegerAttr(bits));
  };
  auto isFinite = [&](Value value) -> Value {
    Value magnitude = math::AbsFOp::create(inside, loc, value);
    Value infinity =
        arith::ConstantOp::create(inside, loc, getScalarAttr(sum, INFINITY));
    return arith::CmpFOp::create(inside, loc, arith::CmpFPredicate::OLT,
                                 magnitude, infinity);
  };
  auto cut = [&](Value bits) -> Value {
    Value kept =
        arith::AndIOp::create(inside, loc, bits, constant(kBitsOfTF32));
    return arith::BitcastOp::create(inside, loc, sum, kept);
  };
  Value bits = arith::BitcastOp::create(inside, loc, i32, value);
  Value rounded =
      cut(arith::AddIOp::create(inside, loc, bits, constant(kHalfPlace)));
  Value high = arith::SelectOp::create(inside, loc, isFinite(rounded), rounded,
                                       cut(bits));
  Value low = arith::SubFOp::create(inside, loc, value, high);
  Value zero = arith::ConstantOp::create(inside, loc, getScalarAttr(sum, 0));
  Value exists = isFinite(value);
  high = arith::SelectOp::create(inside, loc, exists, high, value);
  low = arith::SelectOp::create(inside, loc, exists, low, zero);
  return arith::SelectOp::create(inside, loc, isLow, low, high);
}

/// What stands at this loop's row of eight columns of the matrix and word of
/// it.
Value ValuePacking::getWord(OpBuilder &inside, int64_t batchRank) {
  Value group = linalg::IndexOp::create(inside, loc, batchRank);
  Value rest = linalg::IndexOp::create(inside, loc, batchRank + 1);
  auto split = [&](int64_t by) {
    Value divisor = index(inside, by);
    Value place = arith::RemUIOp::create(inside, loc, rest, divisor);
    rest = arith::DivUIOp::create(inside, loc, rest, divisor);
    return place;
  };
  auto combine = [&](Value outer, int64_t by, Value inner) -> Value {
    Value scaled = arith::MulIOp::create(inside, loc, outer, index(inside, by));
    return arith::AddIOp::create(inside, loc, scaled, inner);
  };
  Value second = split(2), part = split(words / 2),
        neighbour = split(kNeighbours), own = split(kLanes / kNeighbours);
  Value row = combine(group, kColumns, combine(neighbour, 2, second));
  Value value = load(inside, row, combine(rest, kColumns, own), batchRank);
  if (words == 2)
    return value;
  Value isLow = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ne,
                                      part, index(inside, 0));
  return getPart(inside, value, isLow);
}

PairArray ValuePacking::pack() {
  Value packed = allocate();
  auto getCount = [&](PairAxis axis) -> Value {
    return arith::IndexCastOp::create(
        b, loc, b.getIndexType(),
        host.materialize(sizes[*values.getDim(axis)], 64));
  };
  rowCount = getCount(PairAxis::N);
  columnCount = getCount(PairAxis::C);
  int64_t rank = cast<MemRefType>(packed.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, ValueRange(), packed, b.getMultiDimIdentityMap(rank), iterators,
      [&](OpBuilder &inside, Location, ValueRange) {
        linalg::YieldOp::create(inside, loc, getWord(inside, rank - 2));
      });
  return {"", packed, {PairAxis::N, PairAxis::C}};
}

PairArray kron::packValues(Emitter &host, PairwiseApplyOp op,
                           const PairArray &values, const PairwisePlan &plan,
                           SmallVectorImpl<Value> &workspace) {
  return ValuePacking(host, op, values, plan, workspace).pack();
}
