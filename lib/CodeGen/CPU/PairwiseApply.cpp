//===- PairwiseApply.cpp - CPU code of one kron.pairwise_apply --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Threads share rows of the result, all of N at a time. With few columns the
// values of pairs never leave registers: for every column they are multiplied
// by a vector of it, and added to sums that have lanes along N, too, and lie in
// the scratch. With many, and where terms are summed, the values of some
// register tiles along N go to the scratch, and are multiplied there by a
// packed part of V, whose columns are in the lanes.
//
//          N in lanes             C in lanes
//       +----+----+----+         +----+----+
//       | values of    |  row    | packed  |  N
//       | pairs        |  block  | V       |
//       +----+----+----+         +----+----+
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "PairwiseBuilder.h"
#include "PairwiseTerms.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class ApplyBuilder : public PairwiseBuilder {
public:
  ApplyBuilder(OpBuilder &builder, SymbolTable &symbols, PairwiseApplyOp op);

private:
  //===--------------------------------------------------------------------===//
  // Parts
  //===--------------------------------------------------------------------===//

  void addArrays(Emitter &emitter, PairwiseArrays &arrays) override;
  Int countParts(Emitter &emitter, const PairwiseArrays &arrays) override;
  Int countFmas(Emitter &emitter, const PairwiseArrays &arrays) override;
  void emitPart(Emitter &emitter, const PairwiseArrays &arrays, Int number,
                Value begin) override;
  void emitResults(Emitter &emitter, const PairwiseBlock &block,
                   const Tile &tile, ArrayRef<Value> sums) override;

  /// Whether rows of A are packed when the strip at `column` is computed.
  Value isPacked(Emitter &emitter, Int column) {
    return plan.hasProducts() ? emitter.less(0, column) : Value();
  }
  /// Sets all sums of `count` vectors to their start.
  void fillSums(Emitter &emitter, Int count);

  //===--------------------------------------------------------------------===//
  // Few columns
  //===--------------------------------------------------------------------===//

  void emitFew(Emitter &emitter, const PairwiseBlock &block, Int sizeK);
  void emitTerms(Emitter &emitter, const Tile &tile, ArrayRef<Value> computed);
  /// Adds `count` vectors of sums to `totals`, and sets them to zero.
  void addToTotals(Emitter &emitter, Int count, Value totals);
  void storeFew(Emitter &emitter, const PairwiseBlock &block);
  /// Where the vectors that `row` and `column` have are.
  Value getFewSums(Emitter &emitter, Int row, Int column);

  //===--------------------------------------------------------------------===//
  // Many columns
  //===--------------------------------------------------------------------===//

  void emitMany(Emitter &emitter, const PairwiseBlock &block, Int sizeK);
  /// Adds the products of `count` values of each row and V to the sums.
  void emitProducts(Emitter &emitter, const PairwiseBlock &block, Int count);
  void emitProduct(Emitter &emitter, Int count, Int first, const Tile &tile);
  void storeMany(Emitter &emitter, const PairwiseBlock &block);
  Value getManySums(Emitter &emitter, Int row, Int column);

  PairwiseApplyOp apply;
  PairwiseTerms terms;
  /// Columns of a part at most; whether they may be few or many.
  int64_t blockColumns;
  bool mayBeFew, mayBeMany;
  /// Of few columns: whether sums of `blockN` positions of N are added to
  /// others, so that most roundings are of small ones.
  bool hasTotals;
  /// Positions of N whose values are in the scratch, and elements of a row of
  /// sums of many columns.
  int64_t blockN, rowOfSums;
  /// In the scratch.
  int64_t panelOffset, fewSumsOffset, fewTotalsOffset, pairsOffset,
      manySumsOffset;

  /// Of the part that is emitted: columns, where its sums are, and where the
  /// values of a column of register tiles go; null: nowhere.
  Int columns;
  Value sums, pairs;
};
} // namespace

ApplyBuilder::ApplyBuilder(OpBuilder &builder, SymbolTable &symbols,
                           PairwiseApplyOp op)
    : PairwiseBuilder(builder, symbols, op,
                      cast<PairwisePlanAttr>(op.getPlanAttr())),
      apply(op), terms(op.getAccumulation()), blockN(plan.getNTiles() * width) {
  auto type = cast<MemRefType>(op.getInit().getType());
  int64_t sizeC = type.getShape().back();
  bool isKnown = !ShapedType::isDynamic(sizeC);
  bool isSum = op.getAccumulation() == PairAccumulation::Sum;
  int64_t fewColumns = plan.getLaneColumns();
  mayBeFew = !isSum || !isKnown || sizeC <= fewColumns;
  mayBeMany = isSum && !(isKnown && sizeC <= fewColumns);
  blockColumns = isSum ? plan.getColumnBlock() : fewColumns;
  if (isKnown) {
    blockColumns = std::clamp<int64_t>(sizeC, 1, blockColumns);
    fewColumns = std::min(fewColumns, blockColumns);
  }
  rowOfSums = llvm::alignTo(blockColumns, lanes);
  panelOffset = scratchElements;
  int64_t rows = plan.getRowBlock();
  int64_t sizeN =
      cast<MemRefType>(op.getRhs().getType())
          .getDimSize(cast<PairOpInterface>(op.getOperation()).getRowsDim(1));
  hasTotals = isSum && (ShapedType::isDynamic(sizeN) || sizeN > blockN);
  if (mayBeFew) {
    fewTotalsOffset = panelOffset + llvm::alignTo(fewColumns, lanes) * width;
    int64_t numSums = rows * fewColumns * terms.getNumVectors();
    fewSumsOffset = fewTotalsOffset + (hasTotals ? numSums * lanes : 0);
    scratchElements = fewSumsOffset + numSums * lanes;
  }
  if (mayBeMany) {
    pairsOffset = panelOffset + blockN * width;
    manySumsOffset = pairsOffset + rows * blockN;
    scratchElements =
        std::max(scratchElements, manySumsOffset + rows * rowOfSums);
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void ApplyBuilder::addArrays(Emitter &emitter, PairwiseArrays &arrays) {
  Value values = apply.getValues();
  unsigned rank = cast<MemRefType>(values.getType()).getRank();
  bool isTransposed = apply.getTransValues() != Transpose::N;
  unsigned dimN = rank - (isTransposed ? 1 : 2);
  arrays.values = getMatrix(emitter, values, dimN);
  arrays.sizeC = getArraySizes(emitter, apply.getInit()).back();
  arrays.blockRows =
      getBlockRows(emitter, arrays.sizeM,
                   emitter.mul(countBatch(emitter, arrays),
                               emitter.ceilDiv(arrays.sizeC, blockColumns)));
}

Int ApplyBuilder::countParts(Emitter &emitter, const PairwiseArrays &arrays) {
  Int blocks = emitter.mul(emitter.ceilDiv(arrays.sizeM, arrays.blockRows),
                           emitter.ceilDiv(arrays.sizeC, blockColumns));
  return emitter.mul(blocks, countBatch(emitter, arrays));
}

Int ApplyBuilder::countFmas(Emitter &emitter, const PairwiseArrays &arrays) {
  Int values =
      emitter.mul(emitter.min(arrays.blockRows, arrays.sizeM), arrays.sizeN);
  Int each = emitter.add(arrays.sizeK, emitter.min(arrays.sizeC, blockColumns));
  return emitter.mul(values, each);
}

void ApplyBuilder::emitPart(Emitter &emitter, const PairwiseArrays &arrays,
                            Int number, Value begin) {
  Int rowBlocks = emitter.ceilDiv(arrays.sizeM, arrays.blockRows);
  Int columnBlocks = emitter.ceilDiv(arrays.sizeC, blockColumns);
  Int rest = emitter.floorDiv(number, rowBlocks);
  Int firstRow = emitter.mul(emitter.rem(number, rowBlocks), arrays.blockRows);
  Int firstColumn = emitter.mul(emitter.rem(rest, columnBlocks), blockColumns);
  PairwiseBlock block =
      getBatch(emitter, arrays, emitter.floorDiv(rest, columnBlocks));
  block.rows =
      emitter.min(arrays.blockRows, emitter.sub(arrays.sizeM, firstRow));
  moveRows(emitter, block, firstRow);
  moveMatrix(emitter, block.init, 0, firstColumn);
  moveMatrix(emitter, block.values, 0, firstColumn);
  columns = getExtent(emitter, arrays.sizeC, firstColumn, blockColumns);
  auto emitThose = [&] { emitFew(emitter, block, arrays.sizeK); };
  if (!mayBeMany)
    return emitThose();
  if (!mayBeFew)
    return emitMany(emitter, block, arrays.sizeK);
  emitChoice(
      emitter, emitter.less(plan.getLaneColumns(), columns),
      [&] { emitMany(emitter, block, arrays.sizeK); }, emitThose);
}

void ApplyBuilder::fillSums(Emitter &emitter, Int count) {
  SmallVector<Value> starts =
      terms.getStarts(emitter, emitter.getVectorType(lanes));
  emitter.forLoop(0, count, 1, [&](Int number) {
    for (auto [index, start] : llvm::enumerate(starts)) {
      Int offset = emitter.add(emitter.mul(number, starts.size()), index);
      emitter.storeVector(
          start, emitter.offsetPointer(sums, emitter.mul(offset, lanes)),
          nullptr);
    }
  });
}

void ApplyBuilder::emitResults(Emitter &emitter, const PairwiseBlock &block,
                               const Tile &tile, ArrayRef<Value> reduced) {
  SmallVector<Value> params;
  if (!op.getEpilogue().empty() || hasDirections())
    params = broadcastParams(emitter, block);
  // One row at a time leaves most registers to the epilogue.
  bool isOneColumn = !pairs && columns.is(1);
  SmallVector<Value> values;
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      values.push_back(emitValue(reduced, row * tile.vectors + vector, params));
    if (!isOneColumn)
      continue;
    Tile single = tile;
    single.rows = 1;
    single.row = emitter.add(tile.row, row);
    emitTerms(emitter, single, values);
    values.clear();
  }
  if (isOneColumn)
    return;
  if (!pairs)
    return emitTerms(emitter, tile, values);
  for (auto [index, value] : llvm::enumerate(values)) {
    auto number = static_cast<int64_t>(index);
    Int row = emitter.add(tile.row, number / tile.vectors);
    Value to = emitter.offsetPointer(pairs, number % tile.vectors * lanes);
    emitter.storeVector(
        value, emitter.offsetPointer(to, emitter.mul(row, blockN)), nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Few columns
//===----------------------------------------------------------------------===//

Value ApplyBuilder::getFewSums(Emitter &emitter, Int row, Int column) {
  Int number = emitter.add(emitter.mul(row, columns), column);
  return emitter.offsetPointer(
      sums, emitter.mul(number, terms.getNumVectors() * lanes));
}

void ApplyBuilder::emitFew(Emitter &emitter, const PairwiseBlock &block,
                           Int sizeK) {
  Value totals = emitter.offsetPointer(scratch, fewTotalsOffset);
  pairs = nullptr;
  Int count = emitter.mul(block.rows, columns);
  sums = totals;
  fillSums(emitter, count);
  if (hasTotals) {
    sums = emitter.offsetPointer(scratch, fewSumsOffset);
    fillSums(emitter, count);
  }
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  emitter.forLoop(0, block.columns, blockN, [&](Int begin) {
    Int end = emitter.min(emitter.add(begin, blockN), block.columns);
    emitter.forLoop(begin, end, width, [&](Int first) {
      PairwiseBlock strip = getStrip(emitter, block, first);
      packPanel(emitter, strip.values, strip.columns, columns, panel);
      emitStrip(emitter, strip, sizeK, isPacked(emitter, first));
    });
    if (hasTotals)
      addToTotals(emitter, count, totals);
  });
  sums = totals;
  storeFew(emitter, block);
}

void ApplyBuilder::addToTotals(Emitter &emitter, Int count, Value totals) {
  VectorType type = emitter.getVectorType(lanes);
  emitter.forLoop(0, count, 1, [&](Int number) {
    Int offset = emitter.mul(number, lanes);
    Value sum = emitter.offsetPointer(sums, offset);
    Value total = emitter.offsetPointer(totals, offset);
    Value added = emitSum(emitter, emitter.loadVector(type, total, nullptr),
                          emitter.loadVector(type, sum, nullptr));
    emitter.storeVector(added, total, nullptr);
    emitter.storeVector(emitter.zero(type), sum, nullptr);
  });
}

void ApplyBuilder::emitTerms(Emitter &emitter, const Tile &tile,
                             ArrayRef<Value> computed) {
  VectorType type = emitter.getVectorType(lanes);
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  emitter.forLoop(0, columns, 1, [&](Int column) {
    Value packed = emitter.offsetPointer(panel, emitter.mul(column, width));
    SmallVector<Value> values;
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      values.push_back(emitter.loadVector(
          type, emitter.offsetPointer(packed, vector * lanes), nullptr));
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value at = getFewSums(emitter, emitter.add(tile.row, row), column);
      SmallVector<Value> old;
      for (int64_t index = 0; index < terms.getNumVectors(); ++index)
        old.push_back(emitter.loadVector(
            type, emitter.offsetPointer(at, index * lanes), nullptr));
      SmallVector<Value> added = terms.add(
          emitter, old, computed.slice(row * tile.vectors, tile.vectors),
          values, tile.masks);
      for (auto [index, value] : llvm::enumerate(added))
        emitter.storeVector(value, emitter.offsetPointer(at, index * lanes),
                            nullptr);
    }
  });
}

void ApplyBuilder::storeFew(Emitter &emitter, const PairwiseBlock &block) {
  VectorType type = emitter.getVectorType(lanes);
  emitter.forLoop(0, block.rows, 1, [&](Int row) {
    emitter.forLoop(0, columns, 1, [&](Int column) {
      Value at = getFewSums(emitter, row, column);
      SmallVector<Value> vectors;
      for (int64_t index = 0; index < terms.getNumVectors(); ++index)
        vectors.push_back(emitter.loadVector(
            type, emitter.offsetPointer(at, index * lanes), nullptr));
      PairwiseMatrix to = block.init;
      moveMatrix(emitter, to, row, column);
      emitter.storeScalar(terms.reduce(emitter, vectors), to.base, to.element);
    });
  });
}

//===----------------------------------------------------------------------===//
// Many columns
//===----------------------------------------------------------------------===//

Value ApplyBuilder::getManySums(Emitter &emitter, Int row, Int column) {
  return emitter.offsetPointer(
      emitter.offsetPointer(sums, emitter.mul(row, rowOfSums)), column);
}

void ApplyBuilder::emitMany(Emitter &emitter, const PairwiseBlock &block,
                            Int sizeK) {
  sums = emitter.offsetPointer(scratch, manySumsOffset);
  Value matrix = emitter.offsetPointer(scratch, pairsOffset);
  fillSums(emitter, emitter.mul(block.rows, rowOfSums / lanes));
  emitter.forLoop(0, block.columns, blockN, [&](Int first) {
    Int count = getExtent(emitter, block.columns, first, blockN);
    PairwiseBlock part = block;
    part.columns = count;
    moveColumns(emitter, part, first);
    emitter.forLoop(0, count, width, [&](Int column) {
      pairs = emitter.offsetPointer(matrix, column);
      emitStrip(emitter, getStrip(emitter, part, column), sizeK,
                isPacked(emitter, emitter.add(first, column)));
    });
    emitProducts(emitter, part, count);
  });
  storeMany(emitter, block);
}

/// Calls `body` with the vectors that `count` lanes need, `most` at most.
static void forVectorCount(Emitter &emitter, Int count, int64_t lanes,
                           int64_t most, function_ref<void(int64_t)> body) {
  if (count.isConstant())
    return body(llvm::divideCeil(count.getConstant(), lanes));
  if (most == 1)
    return body(1);
  emitChoice(
      emitter, emitter.less((most - 1) * lanes, count), [&] { body(most); },
      [&] { forVectorCount(emitter, count, lanes, most - 1, body); });
}

void ApplyBuilder::emitProducts(Emitter &emitter, const PairwiseBlock &block,
                                Int count) {
  Value matrix = emitter.offsetPointer(scratch, pairsOffset);
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  emitter.forLoop(0, columns, width, [&](Int first) {
    // Its columns are what is in the lanes.
    PairwiseMatrix values = block.values;
    moveMatrix(emitter, values, 0, first);
    std::swap(values.row, values.inner);
    Int extent = getExtent(emitter, columns, first, width);
    packPanel(emitter, values, extent, count, panel);
    forVectorCount(
        emitter, extent, lanes, plan.getVectors(), [&](int64_t vectors) {
          forRowTiles(emitter, block.rows, [&](Int row, int64_t rows) {
            PairwiseMatrix lhs{matrix, {}, blockN, 1, accumulator};
            moveMatrix(emitter, lhs, row);
            emitProduct(emitter, count, first,
                        {rows, vectors, row, {}, lhs, {}});
          });
        });
  });
}

void ApplyBuilder::emitProduct(Emitter &emitter, Int count, Int first,
                               const Tile &tile) {
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<Value> zeros(tile.rows * tile.vectors, emitter.zero(type));
  // From zero: most roundings are of small sums then.
  SmallVector<Value> added =
      emitSums(emitter, emitter.offsetPointer(scratch, panelOffset), count,
               tile, std::move(zeros), [&](Value lhs, Value rhs, Value sum) {
                 return emitMultiplyAdd(emitter, lhs, rhs, sum);
               });
  for (auto [index, value] : llvm::enumerate(added)) {
    auto number = static_cast<int64_t>(index);
    Value at =
        getManySums(emitter, emitter.add(tile.row, number / tile.vectors),
                    emitter.add(first, number % tile.vectors * lanes));
    Value old = emitter.loadVector(type, at, nullptr);
    emitter.storeVector(emitSum(emitter, old, value), at, nullptr);
  }
}

void ApplyBuilder::storeMany(Emitter &emitter, const PairwiseBlock &block) {
  emitter.forLoop(0, block.rows, 1, [&](Int row) {
    emitter.forLoop(0, columns, lanes, [&](Int column) {
      Value vector =
          emitter.loadVector(emitter.getVectorType(lanes),
                             getManySums(emitter, row, column), nullptr);
      PairwiseMatrix to = block.init;
      moveMatrix(emitter, to, row, column);
      Int left = emitter.sub(columns, column);
      storeRow(emitter, to, vector, left, emitter.firstLanes(lanes, left),
               to.base);
    });
  });
}

std::unique_ptr<PairwiseBuilder> kron::createApplyBuilder(OpBuilder &builder,
                                                          SymbolTable &symbols,
                                                          PairwiseApplyOp op) {
  return std::make_unique<ApplyBuilder>(builder, symbols, op);
}
