//===- PairTiles.cpp - Functions of pairs, some columns at a time ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PairTiles.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::kron;

PairFunctions::PairFunctions(PairOpInterface op)
    : inner(PairProgram::getInner(op)), epilogue(PairProgram::getEpilogue(op)),
      numParams(op.getParams().size()) {
  if (op.getDirections().empty())
    return;
  inner = inner.getAlong();
  epilogue = epilogue.getAlong();
  numReduced = 2;
}

SmallVector<Value> PairFunctions::getInnerArgs(ValueRange elements,
                                               ValueRange params) const {
  SmallVector<Value> args;
  for (unsigned part = 0; part < numReduced; ++part) {
    llvm::append_range(args, elements.slice(2 * part, 2));
    llvm::append_range(args, params.slice(numParams * part, numParams));
  }
  return args;
}

SmallVector<Value> PairFunctions::getEpilogueArgs(ValueRange reduced,
                                                  ValueRange params) const {
  SmallVector<Value> args;
  for (unsigned part = 0; part < numReduced; ++part) {
    args.push_back(reduced[part]);
    llvm::append_range(args, params.slice(numParams * part, numParams));
  }
  return args;
}

Value kron::emitWhereMost(OpBuilder &builder, Location loc, Value value,
                          Value most, Value term) {
  Value zero = emitZero(builder, loc, term.getType());
  Value isMost = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       value, most);
  Value picked = arith::SelectOp::create(builder, loc, isMost, term, zero);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      most, most);
  return arith::SelectOp::create(builder, loc, isNaN, most, picked);
}

PairTiles::PairTiles(ArrayEmitter &emitter, PairOpInterface op)
    : emitter(emitter), op(op), loops(emitter, op), functions(op) {}

unsigned PairTiles::add(Value array) {
  isMatrix.push_back(!array);
  if (!array) {
    std::optional<int64_t> known =
        getConstantIntValue(loops.getSizes(PairAxis::N).back());
    SmallVector<OpFoldResult> sizes = loops.getSizes(PairAxis::M);
    sizes.push_back(emitter.getBuilder().getIndexAttr(
        known ? std::min(*known, kColumns) : kColumns));
    array = emitter.createOwn(sizes, loops.getAccumulator());
  }
  carried.push_back(array);
  return carried.size() - 1;
}

SmallVector<Value> PairTiles::emit(llvm::function_ref<void()> body) {
  OpFoldResult zero = emitter.getBuilder().getIndexAttr(0);
  unsigned columnDim = loops.getSizes(PairAxis::M).size();
  return emitter.emitTileLoop(
      loops.getSizes(PairAxis::N).back(), kColumns, SmallVector<Value>(carried),
      [&](OpFoldResult first, OpFoldResult count, ValueRange arrays) {
        offset = first;
        size = count;
        columns = loops.getColumns(offset, size);
        carried.assign(arrays.begin(), arrays.end());
        tiles.assign(arrays.size(), nullptr);
        for (auto [array, tile, isTile] : llvm::zip(carried, tiles, isMatrix))
          if (isTile)
            tile = emitter.slice(array, columnDim, zero, size);
        body();
        for (auto [array, tile] : llvm::zip(carried, tiles))
          if (tile)
            array = emitter.insert(array, tile, columnDim, zero);
        return carried;
      });
}

void PairTiles::update(unsigned number, ArrayRef<PairArray> inputs,
                       ArrayRef<PairAxis> reductions, PairLoops::Body body) {
  tiles[number] = columns->emit(inputs, getTile(number), reductions,
                                /*readsParams=*/true, body);
}

void PairTiles::clear(unsigned number) {
  tiles[number] = emitter.fillZeros(tiles[number]);
}

void PairTiles::emitReduced(unsigned first) {
  tiles[first] = columns->emitReduced(tiles[first]);
}

SmallVector<PairArray> PairTiles::getElements(unsigned first) const {
  SmallVector<PairArray> inputs;
  PairOpInterface pair = op;
  auto add = [&](Value lhs, Value rhs) {
    inputs.push_back(columns->getArray(lhs, PairAxis::M, PairAxis::K));
    inputs.push_back(columns->getArray(rhs, PairAxis::N, PairAxis::K));
  };
  add(pair.getLhs(), pair.getRhs());
  if (functions.numReduced == 2)
    add(pair.getDirections()[0], pair.getDirections()[1]);
  if (pair.getReduction() == PairReduction::Max)
    inputs.push_back(getTile(first));
  return inputs;
}

void PairTiles::emitReducedAlong(unsigned second, unsigned first) {
  bool isMaximum = op.getReduction() == PairReduction::Max;
  clear(second);
  update(second, getElements(first), PairAxis::K,
         [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange params,
             Value sum) {
           SmallVector<Value> args = functions.getInnerArgs(elements, params);
           Value term = functions.inner.emit(b, loc, 1, args);
           if (isMaximum)
             term = emitWhereMost(b, loc, functions.inner.emit(b, loc, 0, args),
                                  elements.back(), term);
           return emitAdd(b, loc, sum, term);
         });
}

PairArray PairTiles::emitMatrix(unsigned first, unsigned second) {
  emitReduced(first);
  bool isAlong = functions.numReduced == 2;
  SmallVector<PairArray> inputs;
  if (isAlong) {
    emitReducedAlong(second, first);
    inputs.push_back(getTile(second));
  }
  if (isAlong || !op.getEpilogue().empty())
    update(first, inputs, /*reductions=*/{},
           [&](OpBuilder &b, Location loc, ValueRange elements,
               ValueRange params, Value value) {
             SmallVector<Value> reduced = {value};
             llvm::append_range(reduced, elements);
             return functions.epilogue.emit(
                 b, loc, isAlong, functions.getEpilogueArgs(reduced, params));
           });
  return getTile(first);
}
