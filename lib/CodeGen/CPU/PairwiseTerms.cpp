//===- PairwiseTerms.cpp - Sums along N of a pairwise_apply -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PairwiseTerms.h"
#include "Arithmetic.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

static Value emitLowest(Emitter &emitter, VectorType type) {
  double lowest = -std::numeric_limits<double>::infinity();
  return arith::ConstantOp::create(
      emitter.builder, emitter.loc,
      DenseElementsAttr::get(type,
                             getScalarAttr(type.getElementType(), lowest)));
}

SmallVector<Value> PairwiseTerms::getStarts(Emitter &emitter,
                                            VectorType type) const {
  switch (accumulation) {
  case PairAccumulation::Sum:
    return {emitter.zero(type)};
  case PairAccumulation::Max:
    return {emitLowest(emitter, type)};
  case PairAccumulation::LogSumExp:
    return {emitter.zero(type), emitLowest(emitter, type)};
  }
  llvm_unreachable("covered switch");
}

Value PairwiseTerms::addProducts(Emitter &emitter, Value sum,
                                 ArrayRef<Value> pairs, ArrayRef<Value> values,
                                 ArrayRef<Value> masks) const {
  for (auto [index, pair, value] : llvm::enumerate(pairs, values)) {
    Value next = emitMultiplyAdd(emitter, pair, value, sum);
    Value mask = masks.empty() ? Value() : masks[index];
    sum = mask ? arith::SelectOp::create(emitter.builder, emitter.loc, mask,
                                         next, sum)
               : next;
  }
  return sum;
}

SmallVector<Value> PairwiseTerms::addExponentials(Emitter &emitter,
                                                  ArrayRef<Value> sums,
                                                  ArrayRef<Value> terms) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value sum = sums[0], most = sums[1];
  for (Value term : terms)
    most = arith::MaximumFOp::create(builder, loc, most, term);
  Value reference = emitFiniteOrZero(builder, loc, most);
  auto emitExponential = [&](Value value) -> Value {
    Value less = arith::SubFOp::create(builder, loc, value, reference);
    return math::ExpOp::create(builder, loc, less);
  };
  sum = emitProduct(emitter, sum, emitExponential(sums[1]));
  for (Value term : terms)
    sum = emitSum(emitter, sum, emitExponential(term));
  return {sum, most};
}

SmallVector<Value> PairwiseTerms::add(Emitter &emitter, ArrayRef<Value> sums,
                                      ArrayRef<Value> pairs,
                                      ArrayRef<Value> values,
                                      ArrayRef<Value> masks) const {
  if (accumulation == PairAccumulation::Sum)
    return {addProducts(emitter, sums.front(), pairs, values, masks)};
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> terms;
  for (auto [index, pair, value] : llvm::enumerate(pairs, values)) {
    Value term = emitProduct(emitter, pair, value);
    if (Value mask = masks.empty() ? Value() : masks[index])
      term = arith::SelectOp::create(
          builder, loc, mask, term,
          emitLowest(emitter, cast<VectorType>(term.getType())));
    terms.push_back(term);
  }
  if (accumulation == PairAccumulation::LogSumExp)
    return addExponentials(emitter, sums, terms);
  Value most = sums.front();
  for (Value term : terms)
    most = arith::MaximumFOp::create(builder, loc, most, term);
  return {most};
}

/// The lanes of `vector`, of which the order does not matter.
static Value emitReduced(Emitter &emitter, vector::CombiningKind kind,
                         Value vector) {
  return vector::ReductionOp::create(emitter.builder, emitter.loc, kind, vector,
                                     arith::FastMathFlags::reassoc);
}

Value PairwiseTerms::reduce(Emitter &emitter, ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  if (accumulation == PairAccumulation::Sum)
    return emitReduced(emitter, vector::CombiningKind::ADD, sums.front());
  Value most =
      emitReduced(emitter, vector::CombiningKind::MAXIMUMF, sums.back());
  if (accumulation == PairAccumulation::Max)
    return most;
  Value reference = emitFiniteOrZero(builder, loc, most);
  Value less = arith::SubFOp::create(
      builder, loc, sums.back(),
      vector::BroadcastOp::create(builder, loc, sums.back().getType(),
                                  reference));
  Value sum = emitReduced(emitter, vector::CombiningKind::ADD,
                          emitProduct(emitter, sums.front(),
                                      math::ExpOp::create(builder, loc, less)));
  return emitSum(emitter, reference, math::LogOp::create(builder, loc, sum));
}
