//===- KronPairwiseVerify.cpp - Verifiers of kron.pairwise ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One verifier for all operations on functions of pairs, whose constraints have
// the same numbers. Tags such as `pairwise_c3` name the constraint of an
// operation's description that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "KronShapes.h"
#include "KronVerify.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"

using namespace mlir;
using namespace mlir::kron;

/// pairwise_c1, pairwise_apply_c1: the function of two elements.
static LogicalResult verifyFunction(PairOpInterface op) {
  bool hasRegion = !op.getInnerBody().empty();
  std::optional<PairFunction> inner = op.getInner();
  if (inner && hasRegion)
    return op->emitOpError("expects a function or a region `inner`, but got ")
           << stringifyPairFunction(*inner) << " and a region";
  if (!inner && !hasRegion)
    return op->emitOpError(
        "expects a function or a region `inner`, but got neither");
  FloatAttr exponent = op.getExponentAttr();
  if (inner != PairFunction::PowDiff) {
    if (exponent)
      return op->emitOpError("expects an exponent with pow_diff only, but got ")
             << exponent;
    return success();
  }
  if (!exponent)
    return op->emitOpError("expects an exponent with pow_diff, but got none");
  if (exponent.getValue().isFiniteNonZero() &&
      !exponent.getValue().isNegative())
    return success();
  return op->emitOpError("expects the exponent to be positive and finite, but "
                         "got ")
         << exponent;
}

/// pairwise_c2, pairwise_apply_c2: element types.
static LogicalResult verifyElements(PairOpInterface op,
                                    ArrayRef<PairArray> arrays) {
  Type element = getElementType(op.getInit());
  for (const PairArray &array : arrays)
    if (!array.core.empty() && getElementType(array.value) != element)
      return op->emitOpError("expects ")
             << array.name << " to have element type " << element
             << " as the outs, but got " << getElementType(array.value);
  Type expected = op.getAccumulatorType();
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (getElementTypeOrSelf(param.getType()) != expected)
      return op->emitOpError("expects parameter ")
             << index + 1 << " to have type " << expected << ", but got "
             << getElementTypeOrSelf(param.getType());
  return success();
}

/// `axis` has one size in all arrays: that of the first which has it.
static LogicalResult verifyAxis(PairOpInterface op, ArrayRef<PairArray> arrays,
                                PairAxis axis) {
  const char letter = "MNKC"[static_cast<unsigned>(axis)];
  const PairArray *first = nullptr;
  for (const PairArray &array : arrays) {
    std::optional<unsigned> dim = array.getDim(axis);
    if (!dim)
      continue;
    if (!first) {
      first = &array;
      continue;
    }
    if (failed(verifyDim(op, {array.name, array.value}, *dim,
                         getDimSize(first->value, *first->getDim(axis)),
                         "the " + Twine(letter) + " of " + first->name)))
      return failure();
  }
  return success();
}

/// Every batch dimension of `array` is 1 or that of the destination.
static LogicalResult verifyBatch(PairOpInterface op, const PairArray &array) {
  int64_t batchRank = getRank(op.getInit()) - 2;
  int64_t rank = array.getBatchRank();
  if (rank > batchRank)
    return op->emitOpError("expects ")
           << array.name << " to have at most " << batchRank
           << " batch dimensions, as the outs, but got " << rank;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (getDimSize(array.value, dim) != 1 &&
        failed(verifyDim(op, {array.name, array.value}, dim,
                         getDimSize(op.getInit(), batchRank - rank + dim),
                         "the batch size of the outs, or 1")))
      return failure();
  return success();
}

/// Constraints 3 to 5.
static LogicalResult verifyShapes(PairOpInterface op,
                                  ArrayRef<PairArray> arrays) {
  // pairwise_c3, pairwise_apply_c3
  for (const PairArray &array : arrays)
    if (array.getBatchRank() < 0)
      return op->emitOpError("expects ")
             << array.name << " to have a rank of at least 2, but got "
             << getRank(array.value);
  // pairwise_c3, pairwise_apply_c3: K and the N of what is read;
  // pairwise_c4, pairwise_apply_c4: axes of the destination
  for (PairAxis axis : {PairAxis::K, PairAxis::M, PairAxis::N, PairAxis::C})
    if (failed(verifyAxis(op, arrays, axis)))
      return failure();
  // pairwise_c5, pairwise_apply_c5
  for (const PairArray &array : arrays)
    if (!array.isInit && failed(verifyBatch(op, array)))
      return failure();
  return success();
}

static LogicalResult verifyPairOp(PairOpInterface op) {
  SmallVector<PairArray> arrays = getPairArrays(op);
  SmallVector<NamedArray> named;
  for (const PairArray &array : arrays)
    named.push_back({array.name, array.value});
  if (failed(verifyArrayKinds(op, named)) || failed(verifyFunction(op)) ||
      failed(verifyElements(op, arrays)) || failed(verifyShapes(op, arrays)))
    return failure();
  return success();
}

LogicalResult PairwiseOp::verify() { return verifyPairOp(*this); }

LogicalResult PairwiseApplyOp::verify() { return verifyPairOp(*this); }

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// pairwise_c6, pairwise_apply_c6: the signature of a region that takes
/// `numValues` values.
static LogicalResult verifySignature(PairOpInterface op, StringRef name,
                                     Region &region, unsigned numValues) {
  Type type = op.getAccumulatorType();
  unsigned numArgs = numValues + op.getParams().size();
  if (region.getNumArguments() != numArgs)
    return op->emitOpError("expects the region `")
           << name << "` to have " << numArgs << " arguments, but got "
           << region.getNumArguments();
  for (BlockArgument arg : region.getArguments())
    if (arg.getType() != type)
      return op->emitOpError("expects argument ")
             << arg.getArgNumber() << " of the region `" << name
             << "` to have type " << type << ", but got " << arg.getType();
  auto yield = dyn_cast<PairwiseYieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError("expects the region `")
           << name << "` to end with kron.pairwise_yield";
  if (yield.getValue().getType() != type)
    return op->emitOpError("expects the region `")
           << name << "` to yield a value of type " << type << ", but got "
           << yield.getValue().getType();
  return success();
}

/// pairwise_c7, pairwise_apply_c7: what can be computed of scalars and of
/// vectors alike.
static LogicalResult verifyOperations(PairOpInterface op, Region &region) {
  for (Operation &inside : region.front().without_terminator()) {
    StringRef dialect = inside.getName().getDialectNamespace();
    bool isScalar = llvm::all_of(inside.getResultTypes(),
                                 [](Type type) { return type.isIntOrFloat(); });
    bool isElementwise = inside.hasTrait<OpTrait::ConstantLike>() ||
                         OpTrait::hasElementwiseMappableTraits(&inside);
    if ((dialect == "arith" || dialect == "math") && isScalar && isElementwise)
      continue;
    InFlightDiagnostic error = op->emitOpError(
        "expects its regions to hold elementwise operations of arith and math "
        "on scalars, but got ");
    error << inside.getName();
    error.attachNote(inside.getLoc()) << "operation is here";
    return error;
  }
  return success();
}

static LogicalResult verifyPairRegions(PairOpInterface op) {
  std::tuple<StringRef, Region *, unsigned> regions[] = {
      {"inner", &op.getInnerBody(), 2}, {"epilogue", &op.getEpilogue(), 1}};
  for (auto [name, region, numValues] : regions)
    if (!region->empty() &&
        (failed(verifySignature(op, name, *region, numValues)) ||
         failed(verifyOperations(op, *region))))
      return failure();
  return success();
}

LogicalResult PairwiseOp::verifyRegions() { return verifyPairRegions(*this); }

LogicalResult PairwiseApplyOp::verifyRegions() {
  return verifyPairRegions(*this);
}
