//===- PairLoops.cpp - Loops over functions of pairs ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PairLoops.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::kron;

static int64_t getStaticSize(Value array, unsigned dim) {
  return cast<ShapedType>(array.getType()).getDimSize(dim);
}

PairLoops::PairLoops(ArrayEmitter &emitter, PairOpInterface op)
    : emitter(&emitter), op(op), accumulator(op.getAccumulatorType()),
      arrays(getPairArrays(op)) {
  // The destination first: it has most sizes.
  auto init = llvm::find_if(
      arrays, [](const PairArray &array) { return array.isInit; });
  std::rotate(arrays.begin(), init, init + 1);
  columns = arrays;
  for (int64_t position = getLargestBatchRank(arrays); position > 0; --position) {
    OpFoldResult size = emitter.getBuilder().getIndexAttr(1);
    for (const PairArray &array : arrays) {
      int64_t dim = array.getBatchRank() - position;
      if (dim < 0 || getStaticSize(array.value, dim) == 1)
        continue;
      size = emitter.getSize(array.value, dim);
      break;
    }
    batchSizes.push_back(size);
  }
}

const PairArray &PairLoops::getArray(Value value, PairAxis rows,
                                     PairAxis columns) const {
  // One value may be several operands.
  for (auto [array, part] : llvm::zip(arrays, this->columns))
    if (array.value == value && array.getDim(rows) && array.getDim(columns))
      return part;
  llvm_unreachable("expects an array of the operation");
}

SmallVector<OpFoldResult> PairLoops::getSizes(ArrayRef<PairAxis> axes) const {
  SmallVector<OpFoldResult> sizes = batchSizes;
  for (PairAxis axis : axes)
    for (const PairArray &array : columns)
      if (std::optional<unsigned> dim = array.getDim(axis)) {
        sizes.push_back(emitter->getSize(array.value, *dim));
        break;
      }
  return sizes;
}

PairLoops PairLoops::getColumns(OpFoldResult offset, OpFoldResult size) const {
  PairLoops part = *this;
  for (PairArray &array : part.columns)
    if (std::optional<unsigned> dim = array.getDim(PairAxis::N))
      array.value = emitter->slice(array.value, *dim, offset, size);
  return part;
}

AffineMap PairLoops::getMap(const PairArray &array,
                            ArrayRef<PairAxis> axes) const {
  OpBuilder &builder = emitter->getBuilder();
  SmallVector<AffineExpr> exprs;
  int64_t offset = batchSizes.size() - array.getBatchRank();
  for (int64_t dim = 0; dim < array.getBatchRank(); ++dim) {
    bool isStretched = getStaticSize(array.value, dim) == 1 &&
                       getConstantIntValue(batchSizes[offset + dim]) != 1;
    exprs.push_back(isStretched ? builder.getAffineConstantExpr(0)
                                : builder.getAffineDimExpr(offset + dim));
  }
  for (PairAxis axis : array.core)
    exprs.push_back(builder.getAffineDimExpr(
        batchSizes.size() + (llvm::find(axes, axis) - axes.begin())));
  return AffineMap::get(batchSizes.size() + axes.size(), 0, exprs,
                        builder.getContext());
}

SmallVector<Value> PairLoops::getParams(ValueRange elements) const {
  SmallVector<Value> params;
  for (Value param : getParamValues()) {
    if (!isa<ShapedType>(param.getType())) {
      params.push_back(param);
      continue;
    }
    params.push_back(elements.front());
    elements = elements.drop_front();
  }
  return params;
}

SmallVector<Value> PairLoops::getParamValues() const {
  PairOpInterface pair = op;
  SmallVector<Value> params(pair.getParams());
  OperandRange directions = pair.getDirections();
  if (!directions.empty())
    llvm::append_range(params, directions.drop_front(2));
  return params;
}

Value PairLoops::emit(ArrayRef<PairArray> inputs, const PairArray &destination,
                      ArrayRef<PairAxis> reductions, bool readsParams,
                      Body body) const {
  SmallVector<PairAxis> axes(ArrayRef(destination.core));
  llvm::append_range(axes, reductions);
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  auto add = [&](const PairArray &array) {
    values.push_back(array.value);
    maps.push_back(getMap(array, axes));
  };
  llvm::for_each(inputs, add);
  if (readsParams)
    for (Value param : getParamValues())
      if (isa<ShapedType>(param.getType()))
        add({"", param, {}});
  maps.push_back(getMap(destination, axes));
  SmallVector<unsigned> reducedLoops;
  for (unsigned loop = 0; loop < batchSizes.size() + axes.size(); ++loop)
    if (!maps.back().isFunctionOfDim(loop))
      reducedLoops.push_back(loop);
  return emitter->emitGeneric(
      values, destination.value, maps, reducedLoops,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> elements;
        for (Value arg : args.take_front(inputs.size()))
          elements.push_back(emitConversion(b, loc, arg, accumulator));
        SmallVector<Value> params;
        if (readsParams)
          params = getParams(args.drop_front(inputs.size()).drop_back());
        return body(b, loc, elements, params, args.back());
      });
}

Value PairLoops::emitReduced(Value destination) const {
  PairOpInterface pair = op;
  size_t numParams = pair.getParams().size();
  Value filled = emitter->fill(destination, getReductionStart(op));
  return emit({getArray(pair.getLhs(), PairAxis::M, PairAxis::K),
               getArray(pair.getRhs(), PairAxis::N, PairAxis::K)},
              {"", filled, {PairAxis::M, PairAxis::N}}, PairAxis::K,
              /*readsParams=*/!pair.getInner(),
              [&](OpBuilder &b, Location loc, ValueRange elements,
                  ValueRange params, Value reduced) {
                // Those behind them are directions.
                if (!params.empty())
                  params = params.take_front(numParams);
                Value value =
                    emitPair(b, loc, op, elements[0], elements[1], params);
                return emitReduction(b, loc, op, reduced, value);
              });
}
