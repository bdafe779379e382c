//===- PackedFactor.cpp - Factors as operands of warpgroups ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Where operands start: a core matrix has as many bytes.
static constexpr int64_t kOperandAlignment = 128;

void tile::packFactor(Lowering &lowering, PrepareOp op) {
  KernelBuilder &k = lowering.k;
  OperandType type = op.getOperand().getType();
  const LoweredView &view = lowering.views.at(op.getFactor());
  auto factor = std::make_shared<PackedFactor>();
  WgmmaOperand &shape = factor->shape;
  shape.kind = type.getAtom() == AtomKind::WgmmaHalf ? WgmmaKind::Half
               : op.getResiduals()                   ? WgmmaKind::Split
                                                     : WgmmaKind::TF32;
  factor->element = view.element;
  shape.sizeK = type.getSizeK();
  shape.sizeN = op.getFactor().getType().getShape()[1];
  shape.innermost = type.getOrder() == OperandOrder::Quads;
  shape.pad(type.getSizeN());
  factor->place.offset = k.allocateShared(
      shape.getNumCopies() * shape.factorBytes, kOperandAlignment);
  Value address = LLVM::PtrToIntOp::create(k.builder, k.loc,
                                           k.builder.getI32Type(), k.shared(0));
  factor->descriptorBase = k.materialize(k.floorDiv(Int(address), 16), 64);
  if (lowering.shares > 1)
    factor->firstResult =
        k.mul(k.rem(k.blockId(), lowering.shares), type.getSizeN());
  StepFactor source;
  source.base = view.array.base;
  source.strideK = view.array.strides[0];
  source.resultStride = view.array.strides[1];
  emitWgmmaFactor(k, shape, factor->place, source, factor->firstResult,
                  view.element, lowering.threads);
  fenceProxy(k);
  lowering.packed[op.getOperand()] = factor;
}
