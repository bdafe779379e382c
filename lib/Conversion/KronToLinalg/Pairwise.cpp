//===- Pairwise.cpp - Reference lowering of kron.pairwise -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A reduction in the accumulation type, into the destination itself where that
// has the type, and the epilogue as one elementwise loop.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "PairLoops.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;

static Value emitMatrix(ArrayEmitter &emitter, PairwiseOp op) {
  PairLoops loops(emitter, op);
  PairArray init = loops.getInit();
  Type element = kron::getElementType(init.value);
  bool isInPlace = element == loops.getAccumulator();
  Value array = isInPlace ? init.value
                          : emitter.createEmpty(loops.getSizes(init.core),
                                                loops.getAccumulator());
  PairArray reduced{"", loops.emitReduced(array), init.core};
  if (isInPlace && op.getEpilogue().empty())
    return reduced.value;
  SmallVector<PairArray> inputs;
  if (!isInPlace)
    inputs.push_back(reduced);
  return loops.emit(inputs, isInPlace ? reduced : init, /*reductions=*/{},
                    /*readsParams=*/true,
                    [&](OpBuilder &b, Location loc, ValueRange elements,
                        ValueRange params, Value old) {
                      Value value = isInPlace ? old : elements.front();
                      Value result =
                          emitPairEpilogue(b, loc, op, value, params);
                      return emitConversion(b, loc, result, element);
                    });
}

Value kron::emitPairs(ArrayEmitter &emitter, PairOpInterface op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](PairwiseOp pairwise) { return emitMatrix(emitter, pairwise); })
      .Case([&](PairwiseApplyOp apply) {
        return emitPairwiseApply(emitter, apply);
      })
      .Case([&](PairwiseTangentOp tangent) {
        return emitPairwiseTangent(emitter, tangent);
      })
      .Case(
          [&](PairwiseGradOp grad) { return emitPairwiseGrad(emitter, grad); });
}
