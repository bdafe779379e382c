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
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/PairwiseEmitter.h"
#include "PairwiseBuilder.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class MatrixBuilder : public PairwiseBuilder {
public:
  MatrixBuilder(OpBuilder &builder, SymbolTable &symbols, PairOpInterface op,
                PairwisePlanAttr plan)
      : PairwiseBuilder(builder, symbols, op, plan) {}

private:
  void addArrays(Emitter &emitter, PairwiseArrays &arrays) override;
  Int countParts(Emitter &emitter, const PairwiseArrays &arrays) override;
  Int countFmas(Emitter &emitter, const PairwiseArrays &arrays) override;
  void emitPart(Emitter &emitter, const PairwiseArrays &arrays, Int number,
                Value begin) override;
  void emitResults(Emitter &emitter, const PairwiseBlock &block,
                   const Tile &tile, ArrayRef<Value> sums) override;
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

Int MatrixBuilder::countParts(Emitter &emitter, const PairwiseArrays &arrays) {
  Int blocks = emitter.mul(emitter.ceilDiv(arrays.sizeM, arrays.blockRows),
                           emitter.ceilDiv(arrays.sizeN, width));
  return emitter.mul(blocks, countBatch(emitter, arrays));
}

Int MatrixBuilder::countFmas(Emitter &emitter, const PairwiseArrays &arrays) {
  Int pairs = emitter.mul(emitter.min(arrays.blockRows, arrays.sizeM),
                          emitter.min(width, arrays.sizeN));
  return emitter.mul(pairs, arrays.sizeK);
}

void MatrixBuilder::emitPart(Emitter &emitter, const PairwiseArrays &arrays,
                             Int number, Value begin) {
  // Neighbouring parts share what is packed: A or B.
  bool isAcross = plan.hasProducts();
  Int rowBlocks = emitter.ceilDiv(arrays.sizeM, arrays.blockRows);
  Int strips = emitter.ceilDiv(arrays.sizeN, width);
  Int most = isAcross ? strips : rowBlocks;
  Int inside = emitter.rem(number, most);
  Int rest = emitter.floorDiv(number, most);
  Int outside = emitter.rem(rest, isAcross ? rowBlocks : strips);
  Int firstRow = emitter.mul(isAcross ? outside : inside, arrays.blockRows);
  Int firstColumn = emitter.mul(isAcross ? inside : outside, width);
  PairwiseBlock block = getBatch(
      emitter, arrays, emitter.floorDiv(rest, isAcross ? rowBlocks : strips));
  block.rows = getExtent(emitter, arrays.sizeM, firstRow, arrays.blockRows);
  block.columns = getExtent(emitter, arrays.sizeN, firstColumn, width);
  moveRows(emitter, block, firstRow);
  moveColumns(emitter, block, firstColumn);
  moveMatrix(emitter, block.init, 0, firstColumn);
  Value isPacked;
  if (!inside.is(0)) {
    Value isBehind = emitter.less(0, inside);
    Value isLater = emitter.less(Int(begin), number);
    isPacked = arith::AndIOp::create(builder, loc, isBehind, isLater);
  }
  emitStrip(emitter, block, arrays.sizeK, isPacked);
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
