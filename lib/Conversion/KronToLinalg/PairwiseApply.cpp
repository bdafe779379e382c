//===- PairwiseApply.cpp - Reference lowering of kron.pairwise_apply ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tiles of 64 columns, one after the other: their matrix, batch x M x 64 in the
// accumulation type, and what they add to the result. Beside that matrix there
// are as many values as the result has: its sums where it has another type; for
// logsumexp maxima, those of the tile, and sums.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "PairTiles.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class ApplyLowering {
public:
  ApplyLowering(ArrayEmitter &emitter, PairwiseApplyOp op)
      : emitter(emitter), op(op), tiles(emitter, op), loops(tiles.getLoops()),
        init(loops.getInit()) {}

  Value emit();

private:
  bool isLogarithm() const {
    return accumulation == PairAccumulation::LogSumExp;
  }
  /// `value`, an array of the shape of the destination.
  PairArray like(Value value) const { return {"", value, init.core}; }

  Value createResults(double start);
  Value emitSums(const PairArray &matrix, Value sums);
  Value emitMaxima(const PairArray &matrix, Value maxima);
  void emitLogarithms(const PairArray &matrix, Value &sums, Value &maxima,
                      Value &ofTile);
  Value emitStore(Value results, Value maxima);

  ArrayEmitter &emitter;
  PairwiseApplyOp op;
  PairTiles tiles;
  const PairLoops &loops;
  PairArray init;
  PairAccumulation accumulation = op.getAccumulation();
};

} // namespace

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An array of values of the result, all `start`; the destination itself if it
/// can be that.
Value ApplyLowering::createResults(double start) {
  Type type = loops.getAccumulator();
  Value array = kron::getElementType(init.value) == type && !isLogarithm()
                    ? init.value
                    : emitter.createOwn(loops.getSizes(init.core), type);
  return emitter.fill(array, getScalarAttr(type, start));
}

Value ApplyLowering::emitSums(const PairArray &matrix, Value sums) {
  const PairLoops &columns = tiles.getColumns();
  return columns.emit(
      {matrix, columns.getArray(op.getValues(), PairAxis::N, PairAxis::C)},
      like(sums), PairAxis::N, /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) {
        Value term = emitMul(b, loc, elements[0], elements[1]);
        return emitAdd(b, loc, sum, term);
      });
}

Value ApplyLowering::emitMaxima(const PairArray &matrix, Value maxima) {
  const PairLoops &columns = tiles.getColumns();
  return columns.emit(
      {matrix, columns.getArray(op.getValues(), PairAxis::N, PairAxis::C)},
      like(maxima), PairAxis::N,
      /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value most) -> Value {
        Value term = emitMul(b, loc, elements[0], elements[1]);
        return arith::MaximumFOp::create(b, loc, most, term);
      });
}

/// exp and log, which no f80 has.
template <typename OpTy>
static Value emitFunction(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (type.isF80())
    value = emitConversion(builder, loc, value, builder.getF64Type());
  return emitConversion(builder, loc, OpTy::create(builder, loc, value), type);
}

/// `sums` of exponentials less the maxima so far, which those of the tile may
/// exceed.
void ApplyLowering::emitLogarithms(const PairArray &matrix, Value &sums,
                                   Value &maxima, Value &ofTile) {
  const PairLoops &columns = tiles.getColumns();
  ofTile =
      emitter.fill(ofTile, getScalarAttr(loops.getAccumulator(), -kInfinity));
  ofTile = emitMaxima(matrix, ofTile);
  sums = columns.emit(
      {like(maxima), like(ofTile)}, like(sums), /*reductions=*/{},
      /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) {
        Value most =
            arith::MaximumFOp::create(b, loc, elements[0], elements[1]);
        Value change = arith::SubFOp::create(b, loc, elements[0],
                                             emitFiniteOrZero(b, loc, most));
        return emitMul(b, loc, sum, emitFunction<math::ExpOp>(b, loc, change));
      });
  maxima = columns.emit(like(ofTile), like(maxima), /*reductions=*/{},
                        /*readsParams=*/false,
                        [&](OpBuilder &b, Location loc, ValueRange elements,
                            ValueRange, Value most) -> Value {
                          return arith::MaximumFOp::create(b, loc, most,
                                                           elements[0]);
                        });
  sums = columns.emit(
      {matrix, columns.getArray(op.getValues(), PairAxis::N, PairAxis::C),
       like(maxima)},
      like(sums), PairAxis::N, /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) {
        Value term = emitMul(b, loc, elements[0], elements[1]);
        term = arith::SubFOp::create(b, loc, term,
                                     emitFiniteOrZero(b, loc, elements[2]));
        return emitAdd(b, loc, sum, emitFunction<math::ExpOp>(b, loc, term));
      });
}

/// `results` in the destination; with the `maxima` that their exponentials are
/// less of.
Value ApplyLowering::emitStore(Value results, Value maxima) {
  Type element = kron::getElementType(init.value);
  if (element == loops.getAccumulator() && !isLogarithm())
    return results;
  SmallVector<PairArray> inputs = {like(results)};
  if (isLogarithm())
    inputs.push_back(like(maxima));
  return loops.emit(
      inputs, init, /*reductions=*/{}, /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange, Value) {
        Value result = elements[0];
        if (isLogarithm())
          result = emitAdd(b, loc, emitFiniteOrZero(b, loc, elements[1]),
                           emitFunction<math::LogOp>(b, loc, result));
        return emitConversion(b, loc, result, element);
      });
}

Value ApplyLowering::emit() {
  bool isMaximum = accumulation == PairAccumulation::Max;
  bool isAlong = !op.getDirections().empty();
  unsigned matrix = tiles.add();
  unsigned results = tiles.add(createResults(isMaximum ? -kInfinity : 0.0));
  unsigned ofDirections = isAlong ? tiles.add() : 0;
  unsigned maxima = 0, ofTile = 0;
  if (isLogarithm()) {
    maxima = tiles.add(createResults(-kInfinity));
    ofTile = tiles.add(
        emitter.createOwn(loops.getSizes(init.core), loops.getAccumulator()));
  }
  SmallVector<Value> updated = tiles.emit([&] {
    PairArray tile = tiles.emitMatrix(matrix, ofDirections);
    Value &sums = tiles.getCarried(results);
    if (isLogarithm())
      emitLogarithms(tile, sums, tiles.getCarried(maxima),
                     tiles.getCarried(ofTile));
    else
      sums = isMaximum ? emitMaxima(tile, sums) : emitSums(tile, sums);
  });
  return emitStore(updated[results], updated[maxima]);
}

Value kron::emitPairwiseApply(ArrayEmitter &emitter, PairwiseApplyOp op) {
  return ApplyLowering(emitter, op).emit();
}
