//===- Prepare.cpp - tile.prepare -----------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The elements that a lane has of an operand in registers: rows are the
/// positions of its values, and columns such that sums are where these were.
static void loadRegisters(Lowering &lowering, PrepareOp op) {
  KernelBuilder &k = lowering.k;
  Int laneGroup = k.floorDiv(k.laneId(), 4), laneSlot = k.bitAnd(k.laneId(), 3);
  OperandOrder order = op.getOperand().getType().getOrder();
  Int rows[2], column;
  if (order == OperandOrder::Pairs) {
    rows[0] = k.mul(laneSlot, 2);
    rows[1] = k.add(rows[0], 1);
    column = laneGroup;
  } else {
    Int own = order == OperandOrder::Halves ? k.mul(k.clusterRank(), 4) : 0;
    rows[0] = k.add(laneSlot, own);
    rows[1] = k.add(laneSlot, k.sub(4, own));
    // Columns 2t and 2t + 1 are results t and t + 4.
    column = k.add(k.floorDiv(laneGroup, 2), k.mul(k.bitAnd(laneGroup, 1), 4));
  }
  const StepArray &factor = lowering.views.at(op.getFactor()).array;
  SmallVector<Value> &values = lowering.registers[op.getOperand()];
  for (Int row : rows) {
    Int offset =
        k.add(k.mul(row, factor.strides[0]), k.mul(column, factor.strides[1]));
    values.push_back(k.load(k.element, k.offsetPointer(factor.base, offset)));
  }
}

void tile::lower(Lowering &lowering, PrepareOp op) {
  KernelBuilder &k = lowering.k;
  OperandType type = op.getOperand().getType();
  if (type.getAtom() == AtomKind::Dmma)
    return loadRegisters(lowering, op);
  if (isOfBlocks(type.getAtom()))
    return prepareBlock(lowering, op);
  if (isOfWarpgroup(type.getAtom()))
    return packFactor(lowering, op);
  int64_t sizeN = type.getSizeN(), pitch = type.getPitch();
  int64_t offset = k.allocateShared(type.getBytes());
  lowering.operands[op.getOperand()] = offset;
  const StepArray &factor = lowering.views.at(op.getFactor()).array;
  const LoweredView &view = lowering.views.at(op.getFactor());
  int64_t known = op.getFactor().getType().getShape()[1];
  ScalarOps ops(k, type.getElementType());
  lowering.forThreads(type.getSizeK() * sizeN, [&](Int position) {
    Int p = k.floorDiv(position, sizeN), q = k.rem(position, sizeN);
    Int column = known < sizeN ? k.min(q, known - 1) : q;
    Int source =
        k.add(k.mul(p, factor.strides[0]), k.mul(column, factor.strides[1]));
    Scalar value = ops.load(view.element, view.offset(k, factor.base, source),
                            CacheHint::ReadOnly);
    Int index = k.add(k.mul(p, pitch), q);
    k.store(toValue(k, value),
            k.shared(k.add(offset, k.mul(index, lowering.getElementBytes()))));
  });
}
