//===- Prepare.cpp - tile.prepare -----------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lowerPrepare(Lowering &lowering, PrepareOp op) {
  KernelBuilder &k = lowering.k;
  OperandType type = op.getOperand().getType();
  int64_t sizeN = type.getSizeN(), pitch = type.getPitch();
  int64_t offset = k.allocateShared(type.getBytes());
  lowering.operands[op.getOperand()] = offset;
  const StageArray &factor = lowering.views.at(op.getFactor()).array;
  lowering.forThreads(type.getSizeK() * sizeN, [&](Int position) {
    Int p = k.floorDiv(position, sizeN), q = k.rem(position, sizeN);
    Int source =
        k.add(k.mul(p, factor.strides[0]), k.mul(q, factor.strides[1]));
    Value value = k.load(k.element, k.offsetPointer(factor.base, source),
                         CacheHint::ReadOnly);
    Int index = k.add(k.mul(p, pitch), q);
    k.store(value,
            k.shared(k.add(offset, k.mul(index, lowering.getElementBytes()))));
  });
}
