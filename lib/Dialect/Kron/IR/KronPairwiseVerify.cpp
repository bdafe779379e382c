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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

/// pairwise_c1, pairwise_apply_c1, pairwise_tangent_c1,
/// pairwise_grad_c1: the function of two elements.
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

/// Whether the result of `op` has the type of a hyper-parameter and says
/// nothing of the elements of A.
static bool isGradientByParam(PairOpInterface op) {
  auto grad = dyn_cast<PairwiseGradOp>(op.getOperation());
  return grad && grad.getBy() == PairOperand::Param;
}

/// pairwise_c2, pairwise_apply_c2, pairwise_tangent_c2, pairwise_grad_c2:
/// element types.
static LogicalResult verifyElements(PairOpInterface op,
                                    ArrayRef<PairArray> arrays) {
  bool isByParam = isGradientByParam(op);
  Type element = getElementType(isByParam ? op.getLhs() : op.getInit());
  for (const PairArray &array : arrays)
    if (!array.core.empty() && getElementType(array.value) != element)
      return op->emitOpError("expects ")
             << array.name << " to have element type " << element << " as the "
             << (isByParam ? "left operand" : "outs") << ", but got "
             << getElementType(array.value);
  Type expected = op.getAccumulatorType();
  auto verify = [&](const Twine &name, Type type) -> LogicalResult {
    type = getElementTypeOrSelf(type);
    if (type == expected)
      return success();
    return op->emitOpError("expects ")
           << name << " to have type " << expected << ", but got " << type;
  };
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (failed(verify("parameter " + Twine(index + 1), param.getType())))
      return failure();
  for (auto [index, direction] : llvm::enumerate(op.getDirections()))
    if (index >= 2 &&
        failed(verify("the direction of parameter " + Twine(index - 1),
                      direction.getType())))
      return failure();
  return isByParam ? verify("the outs", op.getInit().getType()) : success();
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

/// Every batch dimension of all arrays is 1 or that of the first which has
/// another known size.
static LogicalResult verifyBatches(PairOpInterface op,
                                   ArrayRef<PairArray> arrays) {
  SmallVector<std::pair<int64_t, StringRef>> sizes(getLargestBatchRank(arrays),
                                                   {1, ""});
  for (const PairArray &array : arrays)
    for (int64_t dim = 0, rank = array.getBatchRank(); dim < rank; ++dim) {
      int64_t size = getDimSize(array.value, dim);
      auto &[expected, name] = sizes[rank - 1 - dim];
      if (size == 1 || ShapedType::isDynamic(size))
        continue;
      if (expected == 1)
        std::tie(expected, name) = std::make_pair(size, StringRef(array.name));
      else if (failed(verifyDim(op, {array.name, array.value}, dim, expected,
                                "the batch size of " + name + ", or 1")))
        return failure();
    }
  return success();
}

/// Constraints 3 to 5.
static LogicalResult verifyShapes(PairOpInterface op,
                                  ArrayRef<PairArray> arrays) {
  // pairwise_c3, pairwise_apply_c3, pairwise_tangent_c3, pairwise_grad_c3
  for (const PairArray &array : arrays)
    if (array.getBatchRank() < 0)
      return op->emitOpError("expects ")
             << array.name << " to have a rank of at least 2, but got "
             << getRank(array.value);
  // pairwise_c3, pairwise_apply_c3, pairwise_tangent_c3: K, the N of values;
  // pairwise_c4, pairwise_apply_c4, pairwise_tangent_c4, pairwise_grad_c4
  for (PairAxis axis : {PairAxis::K, PairAxis::M, PairAxis::N, PairAxis::C})
    if (failed(verifyAxis(op, arrays, axis)))
      return failure();
  // pairwise_c5, pairwise_apply_c5, pairwise_tangent_c5, pairwise_grad_c5
  if (isa<PairwiseGradOp>(op.getOperation()))
    return verifyBatches(op, arrays);
  for (const PairArray &array : arrays)
    if (!array.isInit && failed(verifyBatch(op, array)))
      return failure();
  return success();
}

/// pairwise_apply_c8, pairwise_tangent_c8, pairwise_grad_c8: directions.
static LogicalResult verifyDirections(PairOpInterface op) {
  OperandRange directions = op.getDirections();
  bool isTangent = isa<PairwiseTangentOp>(op.getOperation());
  size_t expected = 2 + op.getParams().size();
  if (directions.size() != expected && (isTangent || !directions.empty()))
    return op->emitOpError("expects ")
           << expected
           << " directions, of both operands and all parameters, but got "
           << directions.size();
  for (auto [index, direction] : llvm::enumerate(directions))
    if (index < 2 && !isa<ShapedType>(direction.getType()))
      return op->emitOpError("expects direction ")
             << index + 1 << " to be an array, but got " << direction.getType();
  auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation());
  if (!directions.empty() && apply &&
      apply.getAccumulation() != PairAccumulation::Sum)
    return op->emitOpError("expects sums along directions, but got ")
           << stringifyPairAccumulation(apply.getAccumulation());
  return success();
}

static LogicalResult verifyPairOp(PairOpInterface op) {
  if (failed(verifyDirections(op)))
    return failure();
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

LogicalResult PairwiseTangentOp::verify() { return verifyPairOp(*this); }

LogicalResult PairwiseGradOp::verify() {
  // pairwise_grad_c9
  if (!getLhsFactor() != !getRhsFactor())
    return emitOpError("expects two factors of the gradient, but got one");
  if (!getGrad() && !getLhsFactor())
    return emitOpError("expects a gradient or factors of one, but got neither");
  // pairwise_grad_c10
  bool isByParam = getBy() == PairOperand::Param;
  if (isByParam != getParamIndex().has_value())
    return emitOpError("expects the number of a parameter with param only, but "
                       "got ")
           << (isByParam ? "none" : "one") << " with "
           << stringifyPairOperand(getBy());
  int64_t numParams = getParams().size();
  if (isByParam && static_cast<uint64_t>(*getParamIndex()) >=
                       static_cast<uint64_t>(numParams))
    return emitOpError("expects the number of a parameter to be less than ")
           << numParams << ", their number, but got " << *getParamIndex();
  return verifyPairOp(*this);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// pairwise_c6, pairwise_apply_c6, pairwise_tangent_c6,
/// pairwise_grad_c6: the signature of a region that takes
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

/// pairwise_c7, pairwise_apply_c7, pairwise_tangent_c7,
/// pairwise_grad_c7: what can be computed of scalars and of
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

bool kron::isDifferentiable(Operation *op) {
  // Bits depend on the number that they are, in whatever type.
  if (isa<arith::BitcastOp>(op))
    return false;
  auto hasFloats = [](TypeRange types) {
    return llvm::any_of(types, [](Type type) { return isa<FloatType>(type); });
  };
  if (!hasFloats(op->getResultTypes()) || !hasFloats(op->getOperandTypes()))
    return true;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp,
             arith::SelectOp>(op) ||
         isa<math::AbsFOp, math::ExpOp, math::Exp2Op, math::ExpM1Op,
             math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp,
             math::SqrtOp, math::RsqrtOp, math::CbrtOp, math::PowFOp,
             math::FmaOp, math::SinOp, math::CosOp, math::TanOp, math::SinhOp,
             math::CoshOp, math::TanhOp, math::AtanOp, math::ErfOp,
             math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp>(op);
}

/// pairwise_apply_c8, pairwise_tangent_c8, pairwise_grad_c8: derivatives.
static LogicalResult verifyDerivatives(PairOpInterface op, Region &region) {
  if (!isa<PairwiseGradOp>(op.getOperation()) && op.getDirections().empty())
    return success();
  for (Operation &inside : region.front().without_terminator()) {
    if (isDifferentiable(&inside))
      continue;
    InFlightDiagnostic error = op->emitOpError(
        "expects its regions to hold operations with a known derivative, but "
        "got ");
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
         failed(verifyOperations(op, *region)) ||
         failed(verifyDerivatives(op, *region))))
      return failure();
  return success();
}

LogicalResult PairwiseOp::verifyRegions() { return verifyPairRegions(*this); }

LogicalResult PairwiseApplyOp::verifyRegions() {
  return verifyPairRegions(*this);
}

LogicalResult PairwiseTangentOp::verifyRegions() {
  return verifyPairRegions(*this);
}

LogicalResult PairwiseGradOp::verifyRegions() {
  return verifyPairRegions(*this);
}
