//===- PairwiseTile.cpp - Register tiles of pairs ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Squares of differences are computed as such where rows are short, or too near
// to each other for PairwiseProducts.cpp: equal rows have a distance of 0
// (docs/notes/0029-squares-made-of-products-on-a-cpu.md).
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

Value kron::broadcastScalar(Emitter &emitter, VectorType type, Value scalar) {
  return vector::BroadcastOp::create(emitter.builder, emitter.loc, type,
                                     scalar);
}

SmallVector<Value>
PairwiseBuilder::broadcastParams(Emitter &emitter, const PairwiseBlock &block) {
  return llvm::map_to_vector(block.params, [&](Value param) {
    return broadcastScalar(emitter, emitter.getVectorType(lanes), param);
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
  if (rowSide == 1)
    std::swap(lhs, rhs);
  Value value = emitPair(builder, loc, op, lhs, rhs, params);
  if (!isSum && inner == PairFunction::AbsDiff)
    return emitMagnitudeMax(emitter, sum, value);
  return emitReduction(builder, loc, op, sum, value);
}

//===----------------------------------------------------------------------===//
// The loop over K
//===----------------------------------------------------------------------===//

void PairwiseBuilder::emitStep(Emitter &emitter, Value panel, const Tile &tile,
                               Int position, MutableArrayRef<Value> sums,
                               Reduce reduce) {
  VectorType type = emitter.getVectorType(lanes);
  Value packed = emitter.offsetPointer(panel, emitter.mul(position, width));
  SmallVector<Value> rhs;
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    rhs.push_back(emitter.loadVector(
        type, emitter.offsetPointer(packed, vector * lanes), nullptr));
  Value column = emitter.offsetPointer(tile.lhs.base,
                                       emitter.mul(position, tile.lhs.inner));
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value element = emitter.loadScalar(
        emitter.offsetPointer(column, emitter.mul(row, tile.lhs.row)));
    Value lhs = broadcastScalar(emitter, type, element);
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value &sum = sums[row * tile.vectors + vector];
      sum = reduce(lhs, rhs[vector], sum);
    }
  }
}

SmallVector<Value> PairwiseBuilder::forPositions(
    Emitter &emitter, Int count, SmallVector<Value> sums,
    function_ref<void(Int, MutableArrayRef<Value>)> step) {
  auto values = static_cast<int64_t>(sums.size());
  if (count.isConstant() &&
      count.getConstant() * values <= kMaxUnrolledValues) {
    for (int64_t k = 0; k < count.getConstant(); ++k)
      step(k, sums);
    return sums;
  }
  auto loop = scf::ForOp::create(builder, loc, emitter.materialize(0, 64),
                                 emitter.materialize(count, 64),
                                 emitter.materialize(1, 64), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next(loop.getRegionIterArgs());
  step(Int(loop.getInductionVar()), next);
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> PairwiseBuilder::emitSums(Emitter &emitter, Value panel,
                                             Int count, const Tile &tile,
                                             SmallVector<Value> sums,
                                             Reduce reduce) {
  return forPositions(emitter, count, std::move(sums),
                      [&](Int position, MutableArrayRef<Value> next) {
                        emitStep(emitter, panel, tile, position, next, reduce);
                      });
}

void PairwiseBuilder::addProducts(Emitter &emitter, Value panel, Int count,
                                  const Tile &tile, ArrayRef<Value> at) {
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<Value> old = llvm::map_to_vector(at, [&](Value pointer) {
    return emitter.loadVector(type, pointer, nullptr);
  });
  SmallVector<Value> added =
      emitSums(emitter, panel, count, tile, std::move(old),
               [&](Value lhs, Value rhs, Value sum) {
                 return emitMultiplyAdd(emitter, lhs, rhs, sum);
               });
  for (auto [pointer, value] : llvm::zip_equal(at, added))
    emitter.storeVector(value, pointer, nullptr);
}

//===----------------------------------------------------------------------===//
// Derivatives along directions
//===----------------------------------------------------------------------===//

/// The derivative of `inner`, added to `sum`; `args` are two elements and the
/// hyper-parameters, then their directions.
Value PairwiseBuilder::emitReducedAlong(Emitter &emitter, ValueRange args,
                                        Value sum) {
  Value lhs = args[0], rhs = args[1];
  Value lhsAlong = args[args.size() / 2], rhsAlong = args[args.size() / 2 + 1];
  std::optional<PairFunction> inner = op.getInner();
  if (inner == PairFunction::Dot) {
    sum = emitMultiplyAdd(emitter, lhs, rhsAlong, sum);
    return emitMultiplyAdd(emitter, lhsAlong, rhs, sum);
  }
  if (inner == PairFunction::SquareDiff) {
    Value difference = arith::SubFOp::create(builder, loc, lhs, rhs);
    Value along = arith::SubFOp::create(builder, loc, lhsAlong, rhsAlong);
    Value twice = emitSum(emitter, difference, difference);
    return emitMultiplyAdd(emitter, twice, along, sum);
  }
  return emitSum(emitter, sum, innerAlong->emit(builder, loc, 1, args));
}

void PairwiseBuilder::emitStepAlong(Emitter &emitter, const Tile &tile,
                                    Int position, MutableArrayRef<Value> sums,
                                    ValueRange params) {
  VectorType type = emitter.getVectorType(lanes);
  size_t count = sums.size() / 2, numParams = params.size() / 2;
  auto loadColumn = [&](int64_t offset, int64_t vector) {
    Value at = emitter.offsetPointer(scratch, offset + vector * lanes);
    at = emitter.offsetPointer(at, emitter.mul(position, width));
    return emitter.loadVector(type, at, nullptr);
  };
  auto loadElement = [&](PairwiseMatrix matrix, int64_t row) {
    moveMatrix(emitter, matrix, row, position);
    return broadcastScalar(emitter, type, emitter.loadScalar(matrix.base));
  };
  SmallVector<Value> rhs, rhsAlong;
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    rhs.push_back(loadColumn(0, vector));
    rhsAlong.push_back(loadColumn(alongOffset, vector));
  }
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value lhs = loadElement(tile.lhs, row);
    Value lhsAlong = loadElement(tile.along, row);
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      SmallVector<Value> args{lhs, rhs[vector]};
      llvm::append_range(args, params.take_front(numParams));
      args.append({lhsAlong, rhsAlong[vector]});
      llvm::append_range(args, params.drop_front(numParams));
      size_t index = row * tile.vectors + vector;
      sums[index] = emitReduced(emitter, lhs, rhs[vector], sums[index],
                                params.take_front(numParams));
      sums[count + index] =
          emitReducedAlong(emitter, args, sums[count + index]);
    }
  }
}

Value PairwiseBuilder::emitValue(ArrayRef<Value> sums, unsigned index,
                                 ValueRange params) {
  if (!hasDirections())
    return emitPairEpilogue(builder, loc, op, sums[index], params);
  size_t numParams = params.size() / 2;
  SmallVector<Value> args{sums[index]};
  llvm::append_range(args, params.take_front(numParams));
  args.push_back(sums[sums.size() / 2 + index]);
  llvm::append_range(args, params.drop_front(numParams));
  return epilogueAlong->emit(builder, loc, 1, args);
}

//===----------------------------------------------------------------------===//
// Values of pairs
//===----------------------------------------------------------------------===//

Value PairwiseBuilder::getKeptSum(Emitter &emitter, const Tile &tile,
                                  int64_t index) {
  int64_t count = tile.rows * tile.vectors;
  int64_t part = index / count, number = index % count;
  Value sums = emitter.offsetPointer(
      scratch, sumsOffset + part * plan.getRowBlock() * width +
                   number % tile.vectors * lanes);
  Int row = emitter.add(tile.row, number / tile.vectors);
  return emitter.offsetPointer(sums, emitter.mul(row, width));
}

SmallVector<Value>
PairwiseBuilder::emitReducedValues(Emitter &emitter, const PairwiseBlock &block,
                                   const PairwiseSlice &slice,
                                   const Tile &tile) {
  VectorType type = emitter.getVectorType(lanes);
  Value start = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, getReductionStart(op)));
  int64_t numSums = tile.rows * tile.vectors * (hasDirections() ? 2 : 1);
  SmallVector<Value> sums(numSums, start);
  if (slice.isFirst)
    for (auto [index, sum] : llvm::enumerate(sums)) {
      Value kept = getKeptSum(emitter, tile, static_cast<int64_t>(index));
      sum = loadKept(slice, start,
                     [&] { return emitter.loadVector(type, kept, nullptr); });
    }
  SmallVector<Value> params;
  // The derivative of a function with a name has parameters, which it does not
  // read.
  if (!op.getInner() || hasDirections())
    params = broadcastParams(emitter, block);
  if (hasDirections())
    return forPositions(emitter, slice.count, std::move(sums),
                        [&](Int position, MutableArrayRef<Value> next) {
                          emitStepAlong(emitter, tile, position, next, params);
                        });
  bool multiplies = slice.form == PairwiseForm::Products;
  return emitSums(emitter, scratch, slice.count, tile, std::move(sums),
                  [&](Value lhs, Value rhs, Value sum) {
                    return multiplies
                               ? emitMultiplyAdd(emitter, lhs, rhs, sum)
                               : emitReduced(emitter, lhs, rhs, sum, params);
                  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Stores the first `count` lanes of `vector` one by one.
void PairwiseBuilder::storeLanes(Emitter &emitter, const PairwiseMatrix &matrix,
                                 Value vector, Int count, Value to) {
  Value buffer = RuntimeCalls::reserveStack(builder, loc, accumulator, lanes);
  emitter.storeVector(vector, buffer, nullptr);
  emitter.forLoop(0, emitter.min(lanes, count), 1, [&](Int lane) {
    Value value = emitter.loadScalar(emitter.offsetPointer(buffer, lane));
    emitter.storeScalar(value,
                        emitter.offsetPointer(to,
                                              emitter.mul(lane, matrix.inner),
                                              matrix.element),
                        matrix.element);
  });
}

void PairwiseBuilder::storeRow(Emitter &emitter, const PairwiseMatrix &matrix,
                               Value vector, Int count, Value mask, Value to) {
  if (matrix.inner.is(1))
    emitter.storeVector(vector, to, mask, matrix.element);
  else
    storeLanes(emitter, matrix, vector, count, to);
}

Value PairwiseBuilder::loadRow(Emitter &emitter, const PairwiseMatrix &matrix,
                               Int count, Value mask, Value from) {
  VectorType type = emitter.getVectorType(lanes);
  if (matrix.inner.is(1))
    return emitter.loadVector(type, from, mask, matrix.element);
  Value buffer = RuntimeCalls::reserveStack(builder, loc, accumulator, lanes);
  emitter.forLoop(0, emitter.min(lanes, count), 1, [&](Int lane) {
    Value value = emitter.loadScalar(
        emitter.offsetPointer(from, emitter.mul(lane, matrix.inner),
                              matrix.element),
        matrix.element);
    emitter.storeScalar(value, emitter.offsetPointer(buffer, lane));
  });
  return emitter.loadVector(type, buffer, nullptr);
}

void PairwiseBuilder::emitTile(Emitter &emitter, const PairwiseBlock &block,
                               const PairwiseSlice &slice, Tile tile) {
  SmallVector<Value> sums = emitReducedValues(emitter, block, slice, tile);
  auto emitComplete = [&] {
    if (slice.form == PairwiseForm::Products)
      emitSquares(emitter, block, emitter.add(slice.start, slice.count), tile,
                  sums);
    else
      emitResults(emitter, block, tile, sums);
  };
  if (!slice.isLast)
    return emitComplete();
  emitChoice(emitter, slice.isLast, emitComplete, [&] {
    for (auto [index, sum] : llvm::enumerate(sums)) {
      Value kept = getKeptSum(emitter, tile, static_cast<int64_t>(index));
      emitter.storeVector(sum, kept, nullptr);
    }
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void kron::forTiles(Emitter &emitter, Int count, int64_t most,
                    function_ref<void(Int, int64_t)> body) {
  Int whole = emitter.mul(emitter.floorDiv(count, most), most);
  emitter.forLoop(0, whole, most, [&](Int first) { body(first, most); });
  if (most > 1)
    emitter.forLoop(whole, count, 1, [&](Int first) { body(first, 1); });
}

void PairwiseBuilder::forRowTiles(Emitter &emitter, Int rows,
                                  function_ref<void(Int, int64_t)> body) {
  forTiles(emitter, rows, plan.getRows(), body);
}

void kron::emitChoice(Emitter &emitter, Value condition,
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

void PairwiseBuilder::emitRows(Emitter &emitter, const PairwiseBlock &block,
                               const PairwiseSlice &slice, int64_t vectors,
                               bool isWhole) {
  SmallVector<Value> masks;
  if (!isWhole)
    for (int64_t vector = 0; vector < vectors; ++vector)
      masks.push_back(emitter.firstLanes(
          lanes, emitter.sub(block.columns, vector * lanes)));
  PairwiseMatrix lhs = block.lhs, along = block.lhsAlong;
  if (slice.form == PairwiseForm::Products)
    lhs = getPackedRows(emitter, lhs);
  else
    moveMatrix(emitter, lhs, 0, slice.start);
  moveMatrix(emitter, along, 0, slice.start);
  forRowTiles(emitter, block.rows, [&](Int row, int64_t rows) {
    auto emitRow = [&] {
      PairwiseMatrix first = lhs, firstAlong = along;
      moveMatrix(emitter, first, row);
      moveMatrix(emitter, firstAlong, row);
      if (first.element != accumulator)
        first = convertRows(emitter, first, slice, rows);
      emitTile(emitter, block, slice,
               {rows, vectors, row, masks, first, firstAlong});
    };
    if (slice.form == PairwiseForm::Marked)
      ifMarked(getMark(emitter, row), emitRow);
    else
      emitRow();
  });
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
