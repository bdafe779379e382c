//===- StageWalker.cpp - Places in the arrays of one step -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StageWalker.h"

using namespace mlir;
using namespace mlir::kron;

StageWalker::Bases StageWalker::advance(const Bases &bases,
                                        const LoopAxis &axis, Int position) {
  auto move = [&](Value base, Int stride, Type element) {
    return base ? emitter.offsetPointer(base, emitter.mul(position, stride),
                                        element)
                : base;
  };
  return {move(bases.source, axis.source, stage.source.element),
          move(bases.destination, axis.destination, stage.destination.element),
          move(bases.addend, axis.addend, stage.addend.element),
          move(bases.factor, axis.factor, factorElement)};
}

StageWalker::Bases StageWalker::advanceResults(const Bases &bases, Int q) {
  Bases at = bases;
  at.destination = emitter.offsetPointer(
      at.destination, emitter.mul(q, stage.destination.strides[stage.axis]),
      stage.destination.element);
  if (at.addend)
    at.addend = emitter.offsetPointer(
        at.addend, emitter.mul(q, stage.addend.strides[stage.axis]),
        stage.addend.element);
  return at;
}

void StageWalker::emitLoops(ArrayRef<LoopAxis> axes, const Bases &bases,
                            function_ref<void(const Bases &)> body) {
  if (axes.empty())
    return body(bases);
  emitter.forLoop(0, axes.front().size, 1, [&](Int position) {
    emitLoops(axes.drop_front(), advance(bases, axes.front(), position), body);
  });
}
