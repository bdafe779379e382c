//===- BlockFactor.cpp - Factors as operands of blocks --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which value a lane holds where is up to us, as long as both operands of an
// instruction agree on k. Lane (g, t) reads
//
//   rows: k = 8i + t and 8i + t + 4 of the data's columns, `together`
//     neighbours at once, which are number g of as many tiles of 8 columns.
//     Then it holds results of twice as many neighbouring columns.
//   columns: k = 8i + 2t and 8i + 2t + 1 of the data's rows g and g + 8. Of f64
//     k = 8i + t and 8i + t + 4: loads of 8 bytes put each value where the
//     instruction wants it, and pitches that suit columns suit these, too.
//   chained: a lane's results of the first product are operand A of the second
//     as they are: k of the second product is the column that the result stands
//     for.
//
// Tiles that reach over the end of a dimension are filled up with zeros, of the
// factor and of the data (where an infinity would make NaN of the factor's
// zero).
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

static MmaMath getMath(PrepareOp op) {
  if (op.getOperand().getType().getAtom() != AtomKind::MmaTF32)
    return MmaMath::F64;
  return op.getResiduals() ? MmaMath::SplitTF32 : MmaMath::TF32;
}

MatrixFactor::MatrixFactor(Lowering &lowering, PrepareOp op)
    : k(lowering.k), lanes(lowering.getLanes()),
      products(k, getMath(op),
               op.getOperand().getType().getAtom() == AtomKind::MmaF64),
      array(lowering.views.at(op.getFactor()).array),
      type(op.getFactor().getType().getElementType()),
      order(op.getOperand().getType().getOrder()),
      sizeK(op.getOperand().getType().getSizeK()),
      sizeN(op.getOperand().getType().getSizeN()), warps(op.getWarps()),
      warpResults(op.getWarpResults()), together(op.getTogether()),
      residuals(op.getResiduals()), isSplit(op.getSplit()),
      isStreamed(op.getStreamed()) {
  if (!isStreamed)
    kept = load(0, getTilesK());
}

Int MatrixFactor::getFirstResult() const {
  return warps == 1 ? Int(0) : k.mul(k.rem(lanes.warp, warps), warpResults);
}

LanePosition MatrixFactor::getPositionK(int64_t tile) const {
  if (!isSplit)
    return {0, kMmaSizeN * tile};
  int64_t own = getOwnTiles();
  Int rank = k.clusterRank();
  Int owner = tile < own ? rank : k.bitXor(rank, 1);
  return {k.mul(owner, kMmaSizeN * own), kMmaSizeN * (tile % own)};
}

std::pair<const MatrixFactor::Operands &, int64_t>
MatrixFactor::get(int64_t tile) {
  if (!isStreamed)
    return {kept, tile};
  // Of a factor that does not fit in registers, only what is needed now.
  kept = load(tile, 1);
  return {kept, 0};
}

Value MatrixFactor::loadElement(LanePosition p, LanePosition q, int64_t maxP,
                                int64_t maxQ) {
  Value valid;
  if (maxP >= sizeK)
    valid = k.less(k.add(p.lane, p.known), sizeK);
  if (maxQ >= sizeN)
    valid = k.both(valid, k.less(k.add(q.lane, q.known), sizeN));
  // What is known goes last and so into the instruction: addresses of their own
  // would all be loop invariants, and be kept in registers.
  int64_t bytes = getBytesOf(type);
  Value address = array.base;
  for (bool known : {false, true}) {
    Int offset = k.add(k.mul(known ? Int(p.known) : p.lane, array.strides[0]),
                       k.mul(known ? Int(q.known) : q.lane, array.strides[1]));
    address = k.offsetBytes(address, k.mul(offset, bytes));
  }
  if (valid)
    address = k.select(valid, address, array.base);
  // Not as read-only memory: LLVM would hoist the loads that are made in time.
  Value value = k.load(type, address);
  if (type != k.element)
    value = LLVM::FPExtOp::create(k.builder, k.loc, k.element, value);
  return valid ? k.select(valid, value, products.getZero()) : value;
}

MmaOperand MatrixFactor::loadOperand(LanePosition p, LanePosition q,
                                     int64_t maxP, int64_t maxQ) {
  return products.getOperand(loadElement(p, q, maxP, maxQ),
                             /*exact=*/!type.isF32());
}

MmaA MatrixFactor::loadRow(int64_t mTile, int64_t kTile) {
  Int first = getFirstResult();
  int64_t maxQ = warpResults * warps - 1;
  if (warps == 1)
    maxQ = kMmaSizeM * mTile + kMmaSizeM - 1;
  MmaA a;
  for (unsigned index = 0; index < 4; ++index) {
    LanePosition p = getPositionK(kTile);
    p.lane = k.add(p.lane, lanes.slot);
    p.known += 4 * (index / 2);
    LanePosition q{k.add(first, lanes.group),
                   kMmaSizeM * mTile + 8 * (index % 2)};
    a[index] = loadOperand(p, q, kMmaSizeN * kTile + 7, maxQ);
  }
  return a;
}

/// Operand B: rows k of the factor as the other operand has them.
void MatrixFactor::loadColumns(Operands &operands, int64_t firstTile,
                               int64_t count) {
  SmallVector<std::array<LanePosition, 2>> rows;
  SmallVector<int64_t> lastRows;
  if (order == OperandOrder::Chained) {
    // In pairs as a tile between the factors would be.
    int64_t pair = 64 / k.element.getIntOrFloatBitWidth();
    for (ColumnGroup group : getColumnGroups(sizeK, pair))
      for (int64_t tile = 0; tile < group.pair; ++tile) {
        LanePosition first{k.mul(lanes.slot, 2 * group.pair),
                           group.first + tile};
        rows.push_back({first, {first.lane, first.known + group.pair}});
        lastRows.push_back(group.first + kMmaSizeN * group.pair - 1);
      }
  } else {
    for (int64_t kTile = firstTile; kTile < firstTile + count; ++kTile) {
      LanePosition first{k.mul(lanes.slot, getNeighboursK()),
                         kMmaSizeN * kTile};
      rows.push_back({first, {first.lane, first.known + getDistanceK()}});
      lastRows.push_back(kMmaSizeN * kTile + 7);
    }
  }
  Int firstQ = getFirstResult();
  for (ColumnGroup group : getColumnGroups(warpResults, together))
    for (int64_t tile = 0; tile < group.pair; ++tile) {
      SmallVector<MmaB> &column = operands.columns.emplace_back();
      LanePosition q{k.add(firstQ, k.mul(lanes.group, group.pair)),
                     group.first + tile};
      int64_t maxQ =
          group.first + kMmaSizeN * group.pair - 1 + (warps - 1) * warpResults;
      for (auto [row, lastRow] : llvm::zip_equal(rows, lastRows)) {
        MmaB b;
        for (unsigned index : {0, 1})
          b[index] = loadOperand(row[index], q, lastRow, maxQ);
        column.push_back(b);
      }
    }
}

MatrixFactor::Operands MatrixFactor::load(int64_t firstTile, int64_t count) {
  Operands operands;
  if (order != OperandOrder::Rows) {
    loadColumns(operands, firstTile, count);
    return operands;
  }
  for (int64_t mTile = 0; mTile < getResultTiles(); ++mTile) {
    SmallVector<MmaA> &row = operands.rows.emplace_back();
    for (int64_t kTile = firstTile; kTile < firstTile + count; ++kTile)
      row.push_back(loadRow(mTile, kTile));
  }
  return operands;
}

void tile::prepareBlock(Lowering &lowering, PrepareOp op) {
  lowering.factors[op.getOperand()] =
      std::make_shared<MatrixFactor>(lowering, op);
}
