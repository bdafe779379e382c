//===- StepWalker.cpp - Places in the arrays of one step ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StepWalker.h"

using namespace mlir;
using namespace mlir::kron;

StepWalker::Bases StepWalker::advance(const Bases &bases, const LoopAxis &axis,
                                      Int position) {
  auto move = [&](Value base, Int stride, Type element) {
    return base ? emitter.offsetPointer(base, emitter.mul(position, stride),
                                        element)
                : base;
  };
  return {move(bases.source, axis.source, step.source.element),
          move(bases.destination, axis.destination, step.destination.element),
          move(bases.addend, axis.addend, step.addend.element),
          move(bases.factor, axis.factor, factorElement)};
}

StepWalker::Bases StepWalker::advanceResults(const Bases &bases, Int q) {
  Bases at = bases;
  at.destination = emitter.offsetPointer(
      at.destination, emitter.mul(q, step.destination.strides[step.axis]),
      step.destination.element);
  if (at.addend)
    at.addend = emitter.offsetPointer(
        at.addend, emitter.mul(q, step.addend.strides[step.axis]),
        step.addend.element);
  return at;
}

void StepWalker::emitLoops(ArrayRef<LoopAxis> axes, const Bases &bases,
                           function_ref<void(const Bases &)> body) {
  if (axes.empty())
    return body(bases);
  emitter.forLoop(0, axes.front().size, 1, [&](Int position) {
    emitLoops(axes.drop_front(), advance(bases, axes.front(), position), body);
  });
}
