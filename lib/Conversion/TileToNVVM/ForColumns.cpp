//===- ForColumns.cpp - tile.for_columns ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Gives this thread or warp its column of part number `part`; whether it has
/// one (null: it does).
static Value placeColumn(KernelBuilder &k, ForColumnsOp op, int64_t threads,
                         Int part, LoweredColumns &columns) {
  int64_t count = op.getCount(), perCTA = op.getPerCta();
  int64_t beside = op.getBeside();
  Int first = k.mul(part, perCTA), thread = k.threadId();
  Value exists;
  if (op.isOfWarps()) {
    columns.number = k.add(first, k.warpId());
    columns.firstRow = k.floorDiv(k.laneId(), 4);
    columns.rowStep = 8;
  } else {
    columns.number = k.add(first, thread);
    columns.firstRow = 0;
    columns.rowStep = beside;
    if (beside > 1) {
      columns.firstRow = k.floorDiv(thread, perCTA);
      columns.number = k.add(first, k.rem(thread, perCTA));
    }
    if (beside * perCTA != threads)
      exists = k.less(thread, beside * perCTA);
  }
  if (count % perCTA != 0)
    exists = k.both(exists, k.less(columns.number, count));
  return exists;
}

/// Each CTA takes a part of the columns in every so-many-th tile of rows: those
/// of all CTAs at a time follow each other in memory.
void tile::lower(Lowering &lowering, ForColumnsOp op) {
  KernelBuilder &k = lowering.k;
  int64_t parts = llvm::divideCeil(op.getCount(), op.getPerCta());
  // As many groups of CTAs as there are, but at least one.
  Int groups = k.floorDiv(k.gridSize(), parts);
  groups = k.add(groups, k.sub(1, k.min(groups, 1)));
  k.forTiles(k.mul(groups, parts), [&](Int number) {
    LoweredColumns columns;
    columns.firstTile = k.floorDiv(number, parts);
    columns.tileStep = groups;
    Value exists =
        placeColumn(k, op, lowering.threads, k.rem(number, parts), columns);
    lowering.columns[op.getColumns()] = columns;
    k.ifThen(exists, [&] { lowering.lower(*op.getBody()); });
  });
}

std::pair<Int, Int> tile::getFirstResult(Lowering &lowering, Value columns,
                                         const ColumnLayout &layout) {
  KernelBuilder &k = lowering.k;
  Int number = lowering.columns.at(columns).number;
  if (getColumnsLoop(columns).isOfWarps()) {
    int64_t perGroup = layout.getColumnsPerGroup();
    return {k.floorDiv(number, perGroup),
            k.mul(k.rem(number, perGroup), layout.width)};
  }
  Int first = k.mul(number, layout.width);
  return {k.floorDiv(first, layout.sizeN), k.rem(first, layout.sizeN)};
}
