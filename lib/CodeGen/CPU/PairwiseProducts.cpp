//===- PairwiseProducts.cpp - Squares made of products ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A square of a difference takes a subtraction and a multiply-add for each
// position of K. As |x|^2 + |y|^2 - 2 x.y it takes the multiply-add alone, and
// is off by roundings of |x|^2 + |y|^2. Therefore:
//
//  - Rows of both sides are packed less the mean of the first rows of A, which
//    is near all of them where they are far from the origin.
//  - Each square is compared with |x|^2 + |y|^2. A register tile with one that
//    is too small to be exact, or with what is not finite, is marked, and
//    computed by the function from the arrays themselves after the others.
//
// Which tiles these are depends on the data, and not on the number of threads:
// tiles start at the same rows and columns whatever blocks they are in.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "PairwiseBuilder.h"
#include "kron/Plan/CPU/PairProducts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

void PairwiseBuilder::planProducts() {
  int64_t rows = llvm::alignTo(plan.getRowBlock(), lanes);
  auto reserve = [&](int64_t elements) {
    int64_t offset = scratchElements;
    scratchElements += llvm::alignTo(elements, lanes);
    return offset;
  };
  centreOffset = reserve(packedK);
  rowsOffset = reserve(rows * getRowStride());
  rowNormsOffset = reserve(rows);
  columnNormsOffset = reserve(width);
  // Bytes.
  marksOffset = reserve(llvm::divideCeil(
      plan.getRowBlock() + 1, accumulator.getIntOrFloatBitWidth() / 8));
}

void PairwiseBuilder::emitProducts(Emitter &emitter, const PairwiseBlock &block,
                                   Int sizeK, Value isPacked) {
  Value strip = getMark(emitter, plan.getRowBlock());
  auto multiply = [&] {
    setMark(strip, false);
    emitSlices(emitter, block, sizeK, PairwiseForm::Products, isPacked);
  };
  if (sizeK.isConstant()) {
    multiply();
  } else {
    // One copy of the function's code serves short rows, too.
    auto markAll = [&] {
      setMark(strip, true);
      emitter.forLoop(0, block.rows, 1,
                      [&](Int row) { setMark(getMark(emitter, row), true); });
    };
    emitChoice(emitter, emitter.less(sizeK, plan.getProductK()), markAll,
               multiply);
  }
  ifMarked(strip, [&] {
    emitSlices(emitter, block, sizeK, PairwiseForm::Marked, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void PairwiseBuilder::packCentre(Emitter &emitter, const PairwiseBlock &block,
                                 const PairwiseSlice &slice) {
  VectorType type = emitter.getVectorType(lanes);
  auto splat = [&](double number) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, FloatAttr::get(accumulator, number)));
  };
  PairwiseMatrix rows = block.firstRows;
  moveMatrix(emitter, rows, 0, slice.start);
  Int last = emitter.sub(block.sizeM, 1);
  forVectors(emitter, slice.count, lanes, [&](Int first, Value mask) {
    SmallVector<Value> sums = emitter.forLoop(
        0, kCentreRows, 1, emitter.zero(type),
        [&](Int row, ValueRange carried) -> SmallVector<Value> {
          PairwiseMatrix from = rows;
          moveMatrix(emitter, from, emitter.min(row, last), first);
          Value vector = loadRow(emitter, from, emitter.sub(slice.count, first),
                                 mask, from.base);
          return {emitSum(emitter, carried.front(), vector)};
        });
    Value mean = emitProduct(emitter, sums.front(), splat(1.0 / kCentreRows));
    // Any row will do, but one that is not finite.
    Value isFinite =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                              math::AbsFOp::create(builder, loc, mean),
                              splat(std::numeric_limits<double>::infinity()));
    Value centre = arith::SelectOp::create(builder, loc, isFinite, mean,
                                           emitter.zero(type));
    emitter.storeVector(
        centre,
        emitter.offsetPointer(scratch, emitter.add(first, centreOffset)),
        nullptr);
  });
}

/// Whether rows stay next to each other when they are packed.
static bool isTransposed(const PairwiseMatrix &lhs) {
  return lhs.row.is(1) && !lhs.inner.is(1);
}

int64_t PairwiseBuilder::getRowStride() const {
  // Rows a power of two apart would fall on the same sets of a cache.
  return packedK + lanes;
}

PairwiseMatrix PairwiseBuilder::getPackedRows(Emitter &emitter,
                                              const PairwiseMatrix &lhs) {
  Value base = emitter.offsetPointer(scratch, rowsOffset);
  if (isTransposed(lhs))
    return {base, {}, 1, llvm::alignTo(plan.getRowBlock(), lanes), accumulator};
  return {base, {}, getRowStride(), 1, accumulator};
}

void PairwiseBuilder::packRows(Emitter &emitter, const PairwiseBlock &block,
                               const PairwiseSlice &slice) {
  packCentre(emitter, block, slice);
  Value centre = emitter.offsetPointer(scratch, centreOffset);
  Value norms = emitter.offsetPointer(scratch, rowNormsOffset);
  PairwiseMatrix lhs = block.lhs, packed = getPackedRows(emitter, lhs);
  moveMatrix(emitter, lhs, 0, slice.start);
  Int rows = block.packedRows.value_or(block.rows);
  if (isTransposed(lhs)) {
    int64_t stride = packed.inner.getConstant();
    packContiguous(emitter, lhs, rows, slice.count, packed.base, stride,
                   centre);
    return emitter.forLoop(0, rows, lanes, [&](Int first) {
      addNorms(emitter, emitter.offsetPointer(packed.base, first), stride, 1,
               slice, emitter.offsetPointer(norms, first));
    });
  }
  emitter.forLoop(0, rows, 1, [&](Int row) {
    PairwiseMatrix from = lhs, to = packed;
    moveMatrix(emitter, from, row);
    moveMatrix(emitter, to, row);
    copyRow(emitter, from, slice.count, to.base, centre);
    addNorm(emitter, to.base, slice, emitter.offsetPointer(norms, row));
  });
}

Value PairwiseBuilder::loadKept(const PairwiseSlice &slice, Value start,
                                function_ref<Value()> load) {
  if (!slice.isFirst)
    return start;
  return arith::SelectOp::create(builder, loc, slice.isFirst, start, load());
}

void PairwiseBuilder::addNorm(Emitter &emitter, Value row,
                              const PairwiseSlice &slice, Value norm) {
  VectorType type = emitter.getVectorType(lanes);
  Int whole = emitter.floorDiv(slice.count, lanes);
  auto addVector = [&](Int first, Value mask, Value sum) {
    Value vector =
        emitter.loadVector(type, emitter.offsetPointer(row, first), mask);
    return emitMultiplyAdd(emitter, vector, vector, sum);
  };
  Value sum = forPositions(emitter, whole, {emitter.zero(type)},
                           [&](Int number, MutableArrayRef<Value> sums) {
                             sums[0] = addVector(emitter.mul(number, lanes),
                                                 nullptr, sums[0]);
                           })
                  .front();
  Int first = emitter.mul(whole, lanes);
  if (!(first == slice.count))
    sum = addVector(
        first, emitter.firstLanes(lanes, emitter.sub(slice.count, first)), sum);
  Value total =
      vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD, sum,
                                  arith::FastMathFlags::reassoc);
  Value kept = loadKept(slice, emitter.zero(accumulator),
                        [&] { return emitter.loadScalar(norm); });
  emitter.storeScalar(emitSum(emitter, kept, total), norm);
}

void PairwiseBuilder::addNorms(Emitter &emitter, Value panel, int64_t stride,
                               int64_t vectors, const PairwiseSlice &slice,
                               Value norms) {
  VectorType type = emitter.getVectorType(lanes);
  auto load = [&](Value from, int64_t vector) {
    return emitter.loadVector(type, emitter.offsetPointer(from, vector * lanes),
                              nullptr);
  };
  SmallVector<Value> sums;
  for (int64_t vector = 0; vector < vectors; ++vector)
    sums.push_back(loadKept(slice, emitter.zero(type),
                            [&] { return load(norms, vector); }));
  sums = forPositions(emitter, slice.count, std::move(sums),
                      [&](Int position, MutableArrayRef<Value> next) {
                        Value from = emitter.offsetPointer(
                            panel, emitter.mul(position, stride));
                        for (auto [index, sum] : llvm::enumerate(next)) {
                          Value vector =
                              load(from, static_cast<int64_t>(index));
                          sum = emitMultiplyAdd(emitter, vector, vector, sum);
                        }
                      });
  for (auto [index, sum] : llvm::enumerate(sums))
    emitter.storeVector(
        sum, emitter.offsetPointer(norms, static_cast<int64_t>(index) * lanes),
        nullptr);
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

Value PairwiseBuilder::getMark(Emitter &emitter, Int row) {
  return emitter.offsetPointer(emitter.offsetPointer(scratch, marksOffset), row,
                               builder.getI8Type());
}

void PairwiseBuilder::setMark(Value mark, bool isSet) {
  Value value = arith::ConstantIntOp::create(builder, loc, isSet, 8);
  LLVM::StoreOp::create(builder, loc, value, mark);
}

void PairwiseBuilder::ifMarked(Value mark, function_ref<void()> body) {
  Type type = builder.getI8Type();
  Value value = LLVM::LoadOp::create(builder, loc, type, mark);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
  Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      value, zero);
  auto choice = scf::IfOp::create(builder, loc, isSet);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Squares
//===----------------------------------------------------------------------===//

/// The part of |x|^2 + |y|^2 from which on squares are exact.
static Value emitLeastSquare(Emitter &emitter, Int sizeK) {
  OpBuilder &builder = emitter.builder;
  auto getConstant = [&](double number) -> Value {
    return arith::ConstantOp::create(builder, emitter.loc,
                                     FloatAttr::get(emitter.element, number));
  };
  if (sizeK.isConstant())
    return getConstant(
        getLeastExactSquare(static_cast<double>(sizeK.getConstant())));
  Value size = arith::SIToFPOp::create(builder, emitter.loc, emitter.element,
                                       emitter.materialize(sizeK));
  Value roundings =
      emitSum(emitter,
              emitProduct(emitter, size, getConstant(kSquarePositionRoundings)),
              getConstant(kSquareRoundings));
  Value bound = emitSum(emitter, size, getConstant(kSquareBound));
  return arith::DivFOp::create(builder, emitter.loc, roundings, bound);
}

void PairwiseBuilder::emitSquares(Emitter &emitter, const PairwiseBlock &block,
                                  Int sizeK, const Tile &tile,
                                  ArrayRef<Value> products) {
  VectorType type = emitter.getVectorType(lanes);
  Value least = broadcastScalar(emitter, type, emitLeastSquare(emitter, sizeK));
  Value minusTwo = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, FloatAttr::get(accumulator, -2.0)));
  Value columnNorms = emitter.offsetPointer(scratch, columnNormsOffset);
  Value rowNorms =
      emitter.offsetPointer(scratch, emitter.add(tile.row, rowNormsOffset));
  SmallVector<Value> squares;
  Value areInexact;
  for (auto [index, product] : llvm::enumerate(products)) {
    int64_t row = static_cast<int64_t>(index) / tile.vectors,
            vector = static_cast<int64_t>(index) % tile.vectors;
    Value norms = emitSum(
        emitter,
        broadcastScalar(
            emitter, type,
            emitter.loadScalar(emitter.offsetPointer(rowNorms, row))),
        emitter.loadVector(
            type, emitter.offsetPointer(columnNorms, vector * lanes), nullptr));
    Value square = emitMultiplyAdd(emitter, minusTwo, product, norms);
    // NaN where anything is infinite.
    Value missing = arith::SubFOp::create(
        builder, loc, emitProduct(emitter, least, norms), square);
    Value isInexact = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::UGT, missing, emitter.zero(type));
    // Columns that do not exist may hold anything.
    if (!tile.masks.empty() && tile.masks[vector])
      isInexact =
          arith::AndIOp::create(builder, loc, isInexact, tile.masks[vector]);
    areInexact = areInexact
                     ? arith::OrIOp::create(builder, loc, areInexact, isInexact)
                     : isInexact;
    squares.push_back(square);
  }
  Value isAnyInexact = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::OR, areInexact);
  Value mark = getMark(emitter, tile.row);
  emitChoice(
      emitter, isAnyInexact,
      [&] {
        setMark(mark, true);
        setMark(getMark(emitter, plan.getRowBlock()), true);
      },
      [&] {
        setMark(mark, false);
        emitResults(emitter, block, tile, squares);
      });
}
