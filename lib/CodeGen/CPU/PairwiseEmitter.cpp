//===- PairwiseEmitter.cpp - CPU code of one function of pairs --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.pairwise and its derivative along directions, whose blocks are stored
// where they are complete. Blocks are numbered down the columns, so that a
// thread packs a column once, or where squares are made of products along the
// rows, so that it packs rows of A once.
//
// Of a symmetric matrix there are the blocks with an element on the diagonal or
// on one side of it: below it where a thread goes down the columns, else above.
// Columns of a block are as many as a register tile has; the square of them on
// the diagonal is computed, and what lies beyond it copied to the other side,
// while it is in cache. Where K is too short for that, all blocks are computed,
// which is found out at run time if K is not known before.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/PairwiseEmitter.h"
#include "PairwiseBuilder.h"
#include "kron/CodeGen/Triangle.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class MatrixBuilder : public PairwiseBuilder {
public:
  MatrixBuilder(OpBuilder &builder, SymbolTable &symbols, PairOpInterface op,
                PairwisePlanAttr plan)
      : PairwiseBuilder(builder, symbols, op, plan) {
    if (!plan.isSymmetric())
      return;
    mirrorOffset = scratchElements;
    scratchElements += llvm::alignTo(width, lanes) * getMirroredRows();
  }

private:
  void addArrays(Emitter &emitter, PairwiseArrays &arrays) override;
  Int countParts(Emitter &emitter, const PairwiseArrays &arrays) override;
  Int countFmas(Emitter &emitter, const PairwiseArrays &arrays) override;
  void emitPart(Emitter &emitter, const PairwiseArrays &arrays, Int number,
                Value begin) override;
  void emitResults(Emitter &emitter, const PairwiseBlock &block,
                   const Tile &tile, ArrayRef<Value> sums) override;

  /// Where a block starts, and whether one with the same packed part is in
  /// front of it; whether it is there at all. Null: it is not, and it is.
  struct Place {
    Int firstRow, firstColumn, batch;
    Value isLater, exists;
  };
  bool computesHalf(const PairwiseArrays &arrays);
  Value isHalf(Emitter &emitter, const PairwiseArrays &arrays);
  Triangle getHalf(Emitter &emitter, const PairwiseArrays &arrays);
  Int countBlocks(Emitter &emitter, const PairwiseArrays &arrays);
  Place getPlace(Emitter &emitter, const PairwiseArrays &arrays, Int number);
  Place getHalfPlace(Emitter &emitter, const PairwiseArrays &arrays,
                     Int number);
  Place choosePlace(Emitter &emitter, const PairwiseArrays &arrays, Int number);
  void emitBlock(Emitter &emitter, const PairwiseArrays &arrays, Place place,
                 Value isPacked);
  void emitHalfBlock(Emitter &emitter, const PairwiseArrays &arrays,
                     Place place, Value isPacked);
  void copyAcross(Emitter &emitter, const PairwiseMatrix &init, Int firstRow,
                  Int rows, Int firstColumn, Int columns);
  /// Rows that are copied to the other side at a time: some cache lines.
  int64_t getMirroredRows() const { return 4 * lanes; }

  /// In the scratch, of a symmetric matrix: what is copied.
  int64_t mirrorOffset = 0;
};
} // namespace

void MatrixBuilder::addArrays(Emitter &emitter, PairwiseArrays &arrays) {
  arrays.blockRows = plan.getRowBlock();
  if (plan.hasProducts())
    arrays.blockRows =
        getBlockRows(emitter, arrays.sizeM,
                     emitter.mul(countBatch(emitter, arrays),
                                 emitter.ceilDiv(arrays.sizeN, width)));
}

/// Blocks of a matrix that are computed.
Int MatrixBuilder::countBlocks(Emitter &emitter, const PairwiseArrays &arrays) {
  Int all = emitter.mul(emitter.ceilDiv(arrays.sizeM, arrays.blockRows),
                        emitter.ceilDiv(arrays.sizeN, width));
  if (!computesHalf(arrays))
    return all;
  Int half = getHalf(emitter, arrays).getCount();
  Value condition = isHalf(emitter, arrays);
  return condition ? selectInt(emitter, condition, half, all) : half;
}

Int MatrixBuilder::countParts(Emitter &emitter, const PairwiseArrays &arrays) {
  return emitter.mul(countBlocks(emitter, arrays), countBatch(emitter, arrays));
}

Int MatrixBuilder::countFmas(Emitter &emitter, const PairwiseArrays &arrays) {
  Int pairs = emitter.mul(emitter.min(arrays.blockRows, arrays.sizeM),
                          emitter.min(width, arrays.sizeN));
  return emitter.mul(pairs, arrays.sizeK);
}

MatrixBuilder::Place MatrixBuilder::getPlace(Emitter &emitter,
                                             const PairwiseArrays &arrays,
                                             Int number) {
  // Neighbouring parts share what is packed: A or B.
  bool isAcross = plan.hasProducts();
  Int rowBlocks = emitter.ceilDiv(arrays.sizeM, arrays.blockRows);
  Int strips = emitter.ceilDiv(arrays.sizeN, width);
  Int most = isAcross ? strips : rowBlocks;
  Int inside = emitter.rem(number, most);
  Int rest = emitter.floorDiv(number, most);
  Int outside = emitter.rem(rest, isAcross ? rowBlocks : strips);
  Place place;
  place.firstRow = emitter.mul(isAcross ? outside : inside, arrays.blockRows);
  place.firstColumn = emitter.mul(isAcross ? inside : outside, width);
  place.batch = emitter.floorDiv(rest, isAcross ? rowBlocks : strips);
  if (!inside.is(0))
    place.isLater = emitter.less(0, inside);
  return place;
}

void MatrixBuilder::emitPart(Emitter &emitter, const PairwiseArrays &arrays,
                             Int number, Value begin) {
  bool isSymmetric = computesHalf(arrays);
  Place place = isSymmetric ? choosePlace(emitter, arrays, number)
                            : getPlace(emitter, arrays, number);
  auto emit = [&] {
    Value isPacked;
    if (place.isLater)
      isPacked = arith::AndIOp::create(builder, loc, place.isLater,
                                       emitter.less(Int(begin), number));
    if (isSymmetric)
      emitHalfBlock(emitter, arrays, place, isPacked);
    else
      emitBlock(emitter, arrays, place, isPacked);
  };
  if (!place.exists)
    return emit();
  auto choice = scf::IfOp::create(builder, loc, place.exists);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  emit();
}

void MatrixBuilder::emitBlock(Emitter &emitter, const PairwiseArrays &arrays,
                              Place place, Value isPacked) {
  PairwiseBlock block = getBatch(emitter, arrays, place.batch);
  block.rows =
      getExtent(emitter, arrays.sizeM, place.firstRow, arrays.blockRows);
  block.columns = getExtent(emitter, arrays.sizeN, place.firstColumn, width);
  moveRows(emitter, block, place.firstRow);
  moveColumns(emitter, block, place.firstColumn);
  moveMatrix(emitter, block.init, 0, place.firstColumn);
  emitStrip(emitter, block, arrays.sizeK, isPacked);
}

//===----------------------------------------------------------------------===//
// Symmetric matrices
//===----------------------------------------------------------------------===//

/// Whether one half is computed alone, if K is long enough.
bool MatrixBuilder::computesHalf(const PairwiseArrays &arrays) {
  return plan.isSymmetric() &&
         (!arrays.sizeK.isConstant() ||
          arrays.sizeK.getConstant() >= plan.getSymmetric());
}

/// Whether K is; null: that is known.
Value MatrixBuilder::isHalf(Emitter &emitter, const PairwiseArrays &arrays) {
  if (arrays.sizeK.isConstant())
    return nullptr;
  return emitter.less(plan.getSymmetric() - 1, arrays.sizeK);
}

/// Blocks with what is packed once as their first axis.
Triangle MatrixBuilder::getHalf(Emitter &emitter,
                                const PairwiseArrays &arrays) {
  if (plan.hasProducts())
    return Triangle(emitter, arrays.sizeM, arrays.blockRows, width);
  return Triangle(emitter, arrays.sizeM, width, arrays.blockRows);
}

/// Where block `number` of one half is.
MatrixBuilder::Place MatrixBuilder::getHalfPlace(Emitter &emitter,
                                                 const PairwiseArrays &arrays,
                                                 Int number) {
  Triangle half = getHalf(emitter, arrays);
  Triangle::Box box = half.getBox(emitter.rem(number, half.getCount()));
  bool isAcross = plan.hasProducts();
  Place place;
  place.firstRow =
      emitter.mul(isAcross ? box.row : box.column, arrays.blockRows);
  place.firstColumn = emitter.mul(isAcross ? box.column : box.row, width);
  place.batch = emitter.floorDiv(number, half.getCount());
  Value all = arith::ConstantIntOp::create(builder, loc, /*value=*/1,
                                           /*width=*/1);
  place.isLater = arith::XOrIOp::create(builder, loc, box.isFirst, all);
  place.exists = box.exists;
  return place;
}

/// The same, or of the whole matrix where K is too short.
MatrixBuilder::Place MatrixBuilder::choosePlace(Emitter &emitter,
                                                const PairwiseArrays &arrays,
                                                Int number) {
  Place half = getHalfPlace(emitter, arrays, number);
  Value condition = isHalf(emitter, arrays);
  if (!condition)
    return half;
  Place whole = getPlace(emitter, arrays, number);
  Place place;
  place.firstRow = selectInt(emitter, condition, half.firstRow, whole.firstRow);
  place.firstColumn =
      selectInt(emitter, condition, half.firstColumn, whole.firstColumn);
  place.batch = selectInt(emitter, condition, half.batch, whole.batch);
  auto choose = [&](Value own, Value other, bool otherwise) -> Value {
    if (!other)
      other = arith::ConstantIntOp::create(builder, loc, otherwise, 1);
    return arith::SelectOp::create(builder, loc, condition, own, other);
  };
  place.isLater = choose(half.isLater, whole.isLater, false);
  place.exists = choose(half.exists, whole.exists, true);
  return place;
}

void MatrixBuilder::emitHalfBlock(Emitter &emitter,
                                  const PairwiseArrays &arrays, Place place,
                                  Value isPacked) {
  PairwiseBlock block = getBatch(emitter, arrays, place.batch);
  PairwiseMatrix init = block.init;
  Int first = place.firstRow, column = place.firstColumn;
  Int end = emitter.min(emitter.add(first, arrays.blockRows), arrays.sizeM);
  Int square = emitter.min(emitter.add(column, width), arrays.sizeM);
  block.columns = getExtent(emitter, arrays.sizeN, column, width);
  // Rows that are copied are those outside of the square on the diagonal: none
  // where the whole matrix is computed.
  Value condition = isHalf(emitter, arrays);
  auto ifHalf = [&](Int own, Int other) {
    return condition ? selectInt(emitter, condition, own, other) : own;
  };
  Int copied, numCopied;
  if (plan.hasProducts()) {
    block.packedRows = emitter.sub(end, first);
    copied = first;
    numCopied = emitter.max(emitter.sub(emitter.min(end, column), first), 0);
    end = ifHalf(emitter.min(end, square), end);
  } else {
    copied = emitter.max(first, square);
    numCopied = emitter.max(emitter.sub(end, copied), 0);
    first = ifHalf(emitter.max(first, column), first);
  }
  block.rows = emitter.sub(end, first);
  moveRows(emitter, block, first);
  moveColumns(emitter, block, column);
  moveMatrix(emitter, block.init, 0, column);
  emitStrip(emitter, block, arrays.sizeK, isPacked);
  copyAcross(emitter, init, copied, ifHalf(numCopied, 0), column,
             block.columns);
}

/// Copies `rows` x `columns` elements of the result `init` to the other side of
/// the diagonal.
void MatrixBuilder::copyAcross(Emitter &emitter, const PairwiseMatrix &init,
                               Int firstRow, Int rows, Int firstColumn,
                               Int columns) {
  int64_t most = getMirroredRows();
  Value panel = emitter.offsetPointer(scratch, mirrorOffset);
  VectorType type = emitter.getVectorType(lanes);
  emitter.forLoop(0, rows, most, [&](Int begin) {
    Int count = emitter.min(most, emitter.sub(rows, begin));
    Int row = emitter.add(firstRow, begin);
    PairwiseMatrix from = init;
    moveMatrix(emitter, from, row, firstColumn);
    packPanel(emitter, from, count, columns, panel, most);
    emitter.forLoop(0, columns, 1, [&](Int column) {
      Value source = emitter.offsetPointer(panel, emitter.mul(column, most));
      PairwiseMatrix to = init;
      moveMatrix(emitter, to, emitter.add(firstColumn, column), row);
      forVectors(emitter, count, lanes, [&](Int position, Value mask) {
        PairwiseMatrix target = to;
        moveMatrix(emitter, target, 0, position);
        Value vector = emitter.loadVector(
            type, emitter.offsetPointer(source, position), nullptr);
        storeRow(emitter, to, vector, emitter.sub(count, position), mask,
                 target.base);
      });
    });
  });
}

void MatrixBuilder::emitResults(Emitter &emitter, const PairwiseBlock &block,
                                const Tile &tile, ArrayRef<Value> sums) {
  const PairwiseMatrix &init = block.init;
  SmallVector<Value> params;
  if (!op.getEpilogue().empty() || hasDirections())
    params = broadcastParams(emitter, block);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value result = emitValue(sums, row * tile.vectors + vector, params);
      int64_t first = vector * lanes;
      PairwiseMatrix target = init;
      moveMatrix(emitter, target, emitter.add(tile.row, row), first);
      storeRow(emitter, init, result, emitter.sub(block.columns, first),
               tile.masks.empty() ? Value() : tile.masks[vector], target.base);
    }
}

static std::unique_ptr<PairwiseBuilder>
createBuilder(OpBuilder &builder, SymbolTable &symbols, PairOpInterface op) {
  if (auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation()))
    return createApplyBuilder(builder, symbols, apply);
  if (auto grad = dyn_cast<PairwiseGradOp>(op.getOperation()))
    return createGradBuilder(builder, symbols, grad);
  if (auto tangent = dyn_cast<PairwiseTangentOp>(op.getOperation()))
    return std::make_unique<MatrixBuilder>(builder, symbols, op,
                                           tangent.getPlanAttr());
  return std::make_unique<MatrixBuilder>(
      builder, symbols, op,
      cast<PairwisePlanAttr>(
          cast<PairwiseOp>(op.getOperation()).getPlanAttr()));
}

WorkspaceBytes kron::emitPairwiseOp(OpBuilder &builder, SymbolTable &symbols,
                                    PairOpInterface op) {
  return createBuilder(builder, symbols, op)->emit();
}
