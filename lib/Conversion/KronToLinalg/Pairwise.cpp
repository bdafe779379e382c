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
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// Inputs of a loop: the hyper-parameters that are arrays, behind others.
struct LoopInputs {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;

  void add(Value value, AffineMap map) {
    values.push_back(value);
    maps.push_back(map);
  }
};
} // namespace

/// How `array` is indexed by loops over the destination, of rank `rank`, and K:
/// batch dimensions are aligned at the right and stretched, those behind them
/// are `core`.
static AffineMap getBatchedMap(OpBuilder &builder, Value array, unsigned rank,
                               unsigned numLoops, ArrayRef<unsigned> core) {
  auto shape = cast<ShapedType>(array.getType()).getShape();
  unsigned batchRank = shape.size() - core.size();
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim < batchRank; ++dim)
    exprs.push_back(shape[dim] == 1
                        ? builder.getAffineConstantExpr(0)
                        : builder.getAffineDimExpr(rank - 2 - batchRank + dim));
  for (unsigned loop : core)
    exprs.push_back(builder.getAffineDimExpr(loop));
  return AffineMap::get(numLoops, 0, exprs, builder.getContext());
}

static void addParameters(LoopInputs &inputs, OpBuilder &builder, PairwiseOp op,
                          unsigned rank, unsigned numLoops) {
  for (Value param : op.getParams())
    if (isa<ShapedType>(param.getType()))
      inputs.add(param, getBatchedMap(builder, param, rank, numLoops, {}));
}

/// The hyper-parameters of `op` within a loop: `args` are the elements of those
/// that are arrays.
static SmallVector<Value> getParameters(PairwiseOp op, ValueRange args) {
  SmallVector<Value> params;
  for (Value param : op.getParams()) {
    if (!isa<ShapedType>(param.getType())) {
      params.push_back(param);
      continue;
    }
    params.push_back(args.front());
    args = args.drop_front();
  }
  return params;
}

static Value emitReducedValues(ArrayEmitter &emitter, PairwiseOp op,
                               Value array) {
  OpBuilder &builder = emitter.getBuilder();
  unsigned rank = cast<ShapedType>(op.getInit().getType()).getRank();
  unsigned numLoops = rank + 1;
  LoopInputs inputs;
  auto addMatrix = [&](Value matrix, unsigned side, unsigned rows) {
    SmallVector<unsigned> core{rows, rank};
    if (op.getRowsDim(side) > op.getReducedDim(side))
      std::swap(core[0], core[1]);
    inputs.add(matrix, getBatchedMap(builder, matrix, rank, numLoops, core));
  };
  addMatrix(op.getLhs(), 0, rank - 2);
  addMatrix(op.getRhs(), 1, rank - 1);
  if (!op.getInner())
    addParameters(inputs, builder, op, rank, numLoops);
  inputs.maps.push_back(
      builder.getMultiDimIdentityMap(numLoops).getMajorSubMap(rank));
  Type accumulator = op.getAccumulatorType();
  return emitter.emitGeneric(
      inputs.values, emitter.fill(array, getReductionStart(op)), inputs.maps,
      /*reductions=*/1,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value lhs = emitConversion(b, loc, args[0], accumulator);
        Value rhs = emitConversion(b, loc, args[1], accumulator);
        SmallVector<Value> params;
        if (!op.getInner())
          params = getParameters(op, args.drop_front(2));
        Value value = emitPair(b, loc, op, lhs, rhs, params);
        return emitReduction(b, loc, op, args.back(), value);
      });
}

Value kron::emitPairwise(ArrayEmitter &emitter, PairwiseOp op) {
  OpBuilder &builder = emitter.getBuilder();
  Value init = op.getInit();
  Type element = kron::getElementType(init);
  Type accumulator = op.getAccumulatorType();
  unsigned rank = cast<ShapedType>(init.getType()).getRank();
  Value array = init;
  if (element != accumulator) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned dim = 0; dim < rank; ++dim)
      sizes.push_back(emitter.getSize(init, dim));
    array = emitter.createEmpty(sizes, accumulator);
  }
  Value reduced = emitReducedValues(emitter, op, array);
  bool isInPlace = element == accumulator;
  if (isInPlace && op.getEpilogue().empty())
    return reduced;

  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  LoopInputs inputs;
  if (!isInPlace)
    inputs.add(reduced, identity);
  addParameters(inputs, builder, op, rank, rank);
  inputs.maps.push_back(identity);
  return emitter.emitGeneric(
      inputs.values, isInPlace ? reduced : init, inputs.maps,
      /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value value = isInPlace ? args.back() : args.front();
        SmallVector<Value> params =
            getParameters(op, isInPlace ? args : args.drop_front());
        Value result = emitPairEpilogue(b, loc, op, value, params);
        return emitConversion(b, loc, result, element);
      });
}
