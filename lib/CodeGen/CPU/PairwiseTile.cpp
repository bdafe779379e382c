//===- PairwiseTile.cpp - Register tiles of a kron.pairwise -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Squares of differences are computed as such: that takes about 1.3 times a
// product, equal rows have a distance of 0, and no norms are needed
// (docs/notes/0111-pairs-on-a-cpu.md).
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "PairwiseBuilder.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

/// Values of `inner` up to which a tile has no loop over K.
static constexpr int64_t kMaxUnrolledValues = 128;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Value broadcast(Emitter &emitter, VectorType type, Value scalar) {
  return vector::BroadcastOp::create(emitter.builder, emitter.loc, type,
                                     scalar);
}

SmallVector<Value>
PairwiseBuilder::broadcastParams(Emitter &emitter, const PairwiseBlock &block) {
  return llvm::map_to_vector(block.params, [&](Value param) {
    return broadcast(emitter, emitter.getVectorType(lanes), param);
  });
}

/// The larger one of values that are not negative, or a NaN without a sign:
/// integers of the same bits have the same order, with NaN at the end.
static Value emitMagnitudeMax(Emitter &emitter, Value lhs, Value rhs) {
  OpBuilder &builder = emitter.builder;
  auto type = cast<VectorType>(lhs.getType());
  Type bits = type.clone(
      builder.getIntegerType(type.getElementType().getIntOrFloatBitWidth()));
  auto cast = [&](Type to, Value value) -> Value {
    return arith::BitcastOp::create(builder, emitter.loc, to, value);
  };
  Value max = arith::MaxSIOp::create(builder, emitter.loc, cast(bits, lhs),
                                     cast(bits, rhs));
  return cast(type, max);
}

Value PairwiseBuilder::emitReduced(Emitter &emitter, Value lhs, Value rhs,
                                   Value sum, ValueRange params) {
  bool isSum = op.getReduction() == PairReduction::Sum;
  std::optional<PairFunction> inner = op.getInner();
  if (isSum && inner == PairFunction::Dot)
    return emitMultiplyAdd(emitter, lhs, rhs, sum);
  if (isSum && inner == PairFunction::SquareDiff) {
    Value difference = arith::SubFOp::create(builder, loc, lhs, rhs);
    return emitMultiplyAdd(emitter, difference, difference, sum);
  }
  Value value = emitPair(builder, loc, op, lhs, rhs, params);
  if (!isSum && inner == PairFunction::AbsDiff)
    return emitMagnitudeMax(emitter, sum, value);
  return emitReduction(builder, loc, op, sum, value);
}

//===----------------------------------------------------------------------===//
// The loop over K
//===----------------------------------------------------------------------===//

void PairwiseBuilder::emitStep(Emitter &emitter, const Tile &tile, Int position,
                               ValueRange params, MutableArrayRef<Value> sums) {
  VectorType type = emitter.getVectorType(lanes);
  Value packed = emitter.offsetPointer(scratch, emitter.mul(position, width));
  SmallVector<Value> rhs;
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    rhs.push_back(emitter.loadVector(
        type, emitter.offsetPointer(packed, vector * lanes), nullptr));
  Value column = emitter.offsetPointer(tile.lhs.base,
                                       emitter.mul(position, tile.lhs.inner));
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value element = emitter.loadScalar(
        emitter.offsetPointer(column, emitter.mul(row, tile.lhs.row)));
    Value lhs = broadcast(emitter, type, element);
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value &sum = sums[row * tile.vectors + vector];
      sum = emitReduced(emitter, lhs, rhs[vector], sum, params);
    }
  }
}

Value PairwiseBuilder::getKeptSum(Emitter &emitter, const Tile &tile,
                                  int64_t row, int64_t vector) {
  Int offset = emitter.mul(emitter.add(tile.row, row), width);
  return emitter.offsetPointer(
      emitter.offsetPointer(scratch, sumsOffset + vector * lanes), offset);
}

SmallVector<Value> PairwiseBuilder::emitSums(Emitter &emitter,
                                             const PairwiseBlock &block,
                                             const PairwiseSlice &slice,
                                             const Tile &tile) {
  VectorType type = emitter.getVectorType(lanes);
  Value start = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, getReductionStart(op)));
  SmallVector<Value> sums(tile.rows * tile.vectors, start);
  if (slice.isFirst)
    for (auto [index, sum] : llvm::enumerate(sums)) {
      Value kept =
          getKeptSum(emitter, tile, index / tile.vectors, index % tile.vectors);
      sum = arith::SelectOp::create(builder, loc, slice.isFirst, start,
                                    emitter.loadVector(type, kept, nullptr));
    }
  SmallVector<Value> params;
  if (!op.getInner())
    params = broadcastParams(emitter, block);
  if (slice.count.isConstant() &&
      slice.count.getConstant() * tile.rows * tile.vectors <=
          kMaxUnrolledValues) {
    for (int64_t k = 0; k < slice.count.getConstant(); ++k)
      emitStep(emitter, tile, k, params, sums);
    return sums;
  }
  auto loop = scf::ForOp::create(builder, loc, emitter.materialize(0, 64),
                                 emitter.materialize(slice.count, 64),
                                 emitter.materialize(1, 64), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next(loop.getRegionIterArgs());
  emitStep(emitter, tile, Int(loop.getInductionVar()), params, next);
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Stores those lanes of `vector`, of columns from `first` on, that exist, one
/// by one.
void PairwiseBuilder::storeLanes(Emitter &emitter, const PairwiseBlock &block,
                                 Value vector, int64_t first, Value to) {
  Value buffer = RuntimeCalls::reserveStack(builder, loc, accumulator, lanes);
  emitter.storeVector(vector, buffer, nullptr);
  Int count = emitter.min(lanes, emitter.sub(block.columns, first));
  emitter.forLoop(0, count, 1, [&](Int lane) {
    Value value = emitter.loadScalar(emitter.offsetPointer(buffer, lane));
    emitter.storeScalar(
        value,
        emitter.offsetPointer(to, emitter.mul(lane, block.init.inner),
                              block.init.element),
        block.init.element);
  });
}

void PairwiseBuilder::emitResults(Emitter &emitter, const PairwiseBlock &block,
                                  const Tile &tile, ArrayRef<Value> sums) {
  const PairwiseMatrix &init = block.init;
  SmallVector<Value> params;
  if (!op.getEpilogue().empty())
    params = broadcastParams(emitter, block);
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value to = emitter.offsetPointer(
        init.base, emitter.mul(emitter.add(tile.row, row), init.row),
        init.element);
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value result = emitPairEpilogue(
          builder, loc, op, sums[row * tile.vectors + vector], params);
      int64_t first = vector * lanes;
      Value target = emitter.offsetPointer(to, emitter.mul(first, init.inner),
                                           init.element);
      if (init.inner.is(1))
        emitter.storeVector(result, target,
                            tile.masks.empty() ? Value() : tile.masks[vector],
                            init.element);
      else
        storeLanes(emitter, block, result, first, target);
    }
  }
}

void PairwiseBuilder::emitTile(Emitter &emitter, const PairwiseBlock &block,
                               const PairwiseSlice &slice, Tile tile) {
  SmallVector<Value> sums = emitSums(emitter, block, slice, tile);
  if (!slice.isLast)
    return emitResults(emitter, block, tile, sums);
  auto choice =
      scf::IfOp::create(builder, loc, slice.isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  emitResults(emitter, block, tile, sums);
  builder.setInsertionPointToStart(choice.elseBlock());
  for (auto [index, sum] : llvm::enumerate(sums))
    emitter.storeVector(
        sum,
        getKeptSum(emitter, tile, index / tile.vectors, index % tile.vectors),
        nullptr);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void PairwiseBuilder::emitRows(Emitter &emitter, const PairwiseBlock &block,
                               const PairwiseSlice &slice, int64_t vectors,
                               bool isWhole) {
  SmallVector<Value> masks;
  if (!isWhole)
    for (int64_t vector = 0; vector < vectors; ++vector)
      masks.push_back(emitter.firstLanes(
          lanes, emitter.sub(block.columns, vector * lanes)));
  PairwiseMatrix lhs = block.lhs;
  lhs.base = emitter.offsetPointer(
      lhs.base, emitter.mul(slice.start, lhs.inner), lhs.element);
  int64_t most = plan.getRows();
  Int whole = emitter.mul(emitter.floorDiv(block.rows, most), most);
  auto emitRowsOf = [&](Int begin, Int end, int64_t rows) {
    emitter.forLoop(begin, end, rows, [&](Int row) {
      PairwiseMatrix first = lhs;
      first.base = emitter.offsetPointer(lhs.base, emitter.mul(row, lhs.row),
                                         lhs.element);
      if (first.element != accumulator)
        first = convertRows(emitter, first, slice, rows);
      emitTile(emitter, block, slice, {rows, vectors, row, masks, first});
    });
  };
  emitRowsOf(0, whole, most);
  if (most > 1)
    emitRowsOf(whole, block.rows, 1);
}

/// Calls `emitThen` where `condition` holds, else `emitElse`.
static void emitChoice(Emitter &emitter, Value condition,
                       function_ref<void()> emitThen,
                       function_ref<void()> emitElse) {
  auto choice = scf::IfOp::create(emitter.builder, emitter.loc, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToStart(choice.thenBlock());
  emitThen();
  emitter.builder.setInsertionPointToStart(choice.elseBlock());
  emitElse();
}

void PairwiseBuilder::emitColumns(Emitter &emitter, const PairwiseBlock &block,
                                  const PairwiseSlice &slice) {
  int64_t vectors = plan.getVectors();
  if (block.columns.isConstant()) {
    int64_t columns = block.columns.getConstant();
    return emitRows(emitter, block, slice, llvm::divideCeil(columns, lanes),
                    columns % lanes == 0);
  }
  auto emitPart = [&] {
    if (vectors == 1)
      return emitRows(emitter, block, slice, 1, false);
    emitChoice(
        emitter, emitter.less(lanes, block.columns),
        [&] { emitRows(emitter, block, slice, vectors, false); },
        [&] { emitRows(emitter, block, slice, 1, false); });
  };
  emitChoice(emitter, emitter.less(block.columns, width), emitPart,
             [&] { emitRows(emitter, block, slice, vectors, true); });
}
