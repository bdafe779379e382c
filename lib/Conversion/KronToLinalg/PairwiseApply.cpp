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
#include "PairLoops.h"
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
      : emitter(emitter), op(op), loops(emitter, op), init(loops.getInit()) {}

  Value emit();

private:
  static constexpr int64_t kColumns = 64;

  bool isLogarithm() const {
    return accumulation == PairAccumulation::LogSumExp;
  }
  /// `value`, an array of the shape of the destination.
  PairArray like(Value value) const { return {"", value, init.core}; }

  Value createResults(double start);
  PairArray emitMatrix(const PairLoops &columns, Value tile);
  Value emitSums(const PairLoops &columns, const PairArray &matrix, Value sums);
  Value emitMaxima(const PairLoops &columns, const PairArray &matrix,
                   Value maxima);
  void emitLogarithms(const PairLoops &columns, const PairArray &matrix,
                      Value &sums, Value &maxima, Value &ofTile);
  Value emitStore(Value results, Value maxima);

  ArrayEmitter &emitter;
  PairwiseApplyOp op;
  PairLoops loops;
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

/// The matrix of `columns`, in `tile`.
PairArray ApplyLowering::emitMatrix(const PairLoops &columns, Value tile) {
  PairArray reduced{"", columns.emitReduced(tile), {PairAxis::M, PairAxis::N}};
  if (op.getEpilogue().empty())
    return reduced;
  reduced.value = columns.emit(
      {}, reduced, /*reductions=*/{}, /*readsParams=*/true,
      [&](OpBuilder &b, Location loc, ValueRange, ValueRange params,
          Value value) { return emitPairEpilogue(b, loc, op, value, params); });
  return reduced;
}

Value ApplyLowering::emitSums(const PairLoops &columns, const PairArray &matrix,
                              Value sums) {
  return columns.emit(
      {matrix, columns.getArray(op.getValues(), PairAxis::N, PairAxis::C)},
      like(sums), PairAxis::N, /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) {
        Value term = emitMul(b, loc, elements[0], elements[1]);
        return emitAdd(b, loc, sum, term);
      });
}

Value ApplyLowering::emitMaxima(const PairLoops &columns,
                                const PairArray &matrix, Value maxima) {
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

/// What terms are less `maximum`: 0 where that is infinite or NaN, such that
/// these come through exp and log, and no infinity is taken from itself.
static Value emitReference(OpBuilder &builder, Location loc, Value maximum) {
  Type type = maximum.getType();
  Value zero = emitZero(builder, loc, type);
  Value size = math::AbsFOp::create(builder, loc, maximum);
  Value infinity =
      arith::ConstantOp::create(builder, loc, getScalarAttr(type, kInfinity));
  Value isFinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, size, infinity);
  return arith::SelectOp::create(builder, loc, isFinite, maximum, zero);
}

/// `sums` of exponentials less the maxima so far, which `columns` may exceed.
void ApplyLowering::emitLogarithms(const PairLoops &columns,
                                   const PairArray &matrix, Value &sums,
                                   Value &maxima, Value &ofTile) {
  ofTile =
      emitter.fill(ofTile, getScalarAttr(loops.getAccumulator(), -kInfinity));
  ofTile = emitMaxima(columns, matrix, ofTile);
  sums = columns.emit(
      {like(maxima), like(ofTile)}, like(sums), /*reductions=*/{},
      /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) {
        Value most =
            arith::MaximumFOp::create(b, loc, elements[0], elements[1]);
        Value change = arith::SubFOp::create(b, loc, elements[0],
                                             emitReference(b, loc, most));
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
                                     emitReference(b, loc, elements[2]));
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
          result = emitAdd(b, loc, emitReference(b, loc, elements[1]),
                           emitFunction<math::LogOp>(b, loc, result));
        return emitConversion(b, loc, result, element);
      });
}

Value ApplyLowering::emit() {
  bool isMaximum = accumulation == PairAccumulation::Max;
  OpFoldResult count = loops.getSizes(PairAxis::N).back();
  SmallVector<OpFoldResult> sizes = loops.getSizes({PairAxis::M});
  std::optional<int64_t> known = getConstantIntValue(count);
  sizes.push_back(emitter.getBuilder().getIndexAttr(
      known ? std::min(*known, kColumns) : kColumns));
  SmallVector<Value> carried = {
      emitter.createOwn(sizes, loops.getAccumulator()),
      createResults(isMaximum ? -kInfinity : 0.0)};
  if (isLogarithm()) {
    carried.push_back(createResults(-kInfinity));
    carried.push_back(
        emitter.createOwn(loops.getSizes(init.core), loops.getAccumulator()));
  }
  unsigned tileDim = sizes.size() - 1;
  SmallVector<Value> updated = emitter.emitTileLoop(
      count, kColumns, carried,
      [&](OpFoldResult offset, OpFoldResult size, ValueRange arrays) {
        SmallVector<Value> next(arrays);
        PairLoops columns = loops.getColumns(offset, size);
        OpFoldResult start = emitter.getBuilder().getIndexAttr(0);
        PairArray matrix =
            emitMatrix(columns, emitter.slice(arrays[0], tileDim, start, size));
        if (isLogarithm())
          emitLogarithms(columns, matrix, next[1], next[2], next[3]);
        else if (isMaximum)
          next[1] = emitMaxima(columns, matrix, next[1]);
        else
          next[1] = emitSums(columns, matrix, next[1]);
        next[0] = emitter.insert(arrays[0], matrix.value, tileDim, start);
        return next;
      });
  return emitStore(updated[1], isLogarithm() ? updated[2] : Value());
}

Value kron::emitPairwiseApply(ArrayEmitter &emitter, PairwiseApplyOp op) {
  return ApplyLowering(emitter, op).emit();
}
