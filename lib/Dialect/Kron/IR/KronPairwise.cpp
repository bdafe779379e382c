//===- KronPairwise.cpp - Functions of all pairs of rows --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The verifier of kron.pairwise, its effects and shapes. Tags such as
// `pairwise_c3` name the constraint of the operation's description that a check
// belongs to.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "KronAssembly.h"
#include "KronShapes.h"
#include "KronVerify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

#include "kron/Dialect/Kron/IR/KronPairwiseEnums.cpp.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronPairwiseOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

unsigned PairwiseOp::getRowsDim(unsigned side) {
  bool isTransposed =
      (side == 0 ? getTransLhs() : getTransRhs()) != Transpose::N;
  return getRank(side == 0 ? getLhs() : getRhs()) - (isTransposed ? 1 : 2);
}

unsigned PairwiseOp::getReducedDim(unsigned side) {
  unsigned rank = getRank(side == 0 ? getLhs() : getRhs());
  return 2 * rank - 3 - getRowsDim(side);
}

bool PairwiseOp::isDistance() {
  return getInner() && *getInner() != PairFunction::Dot;
}

Type PairwiseOp::getAccumulatorType() {
  return kron::getAccumulatorType(kron::getElementType(getInit()));
}

//===----------------------------------------------------------------------===//
// Effects and shapes
//===----------------------------------------------------------------------===//

void PairwiseOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult
PairwiseOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  if (getOperation()->getNumResults())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

/// The arrays of `op` that are not matrices.
static SmallVector<NamedArray> getParameterArrays(PairwiseOp op) {
  SmallVector<NamedArray> arrays;
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (isa<ShapedType>(param.getType()))
      arrays.push_back({"parameter " + std::to_string(index + 1), param});
  return arrays;
}

void kron::getEqualDims(PairwiseOp op, SmallVectorImpl<DimPair> &pairs) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), init = op.getInit();
  int64_t batchRank = getRank(init) - 2;
  addEqualDims(pairs, lhs, op.getReducedDim(0), rhs, op.getReducedDim(1));
  addEqualDims(pairs, lhs, op.getRowsDim(0), init, batchRank);
  addEqualDims(pairs, rhs, op.getRowsDim(1), init, batchRank + 1);
  auto addBatch = [&](Value array, int64_t rank) {
    for (int64_t dim = 0; dim < rank; ++dim)
      if (getDimSize(array, dim) != 1)
        addEqualDims(pairs, array, dim, init, batchRank - rank + dim);
  };
  addBatch(lhs, getRank(lhs) - 2);
  addBatch(rhs, getRank(rhs) - 2);
  for (const NamedArray &param : getParameterArrays(op))
    addBatch(param.value, getRank(param.value));
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// pairwise_c1: the function of two elements.
static LogicalResult verifyFunction(PairwiseOp op) {
  bool hasRegion = !op.getInnerBody().empty();
  std::optional<PairFunction> inner = op.getInner();
  if (inner && hasRegion)
    return op.emitOpError("expects a function or a region `inner`, but got ")
           << stringifyPairFunction(*inner) << " and a region";
  if (!inner && !hasRegion)
    return op.emitOpError(
        "expects a function or a region `inner`, but got neither");
  std::optional<APFloat> exponent = op.getExponent();
  if (inner != PairFunction::PowDiff) {
    if (exponent)
      return op.emitOpError("expects an exponent with pow_diff only, but got ")
             << op.getExponentAttr();
    return success();
  }
  if (!exponent)
    return op.emitOpError("expects an exponent with pow_diff, but got none");
  if (exponent->isFiniteNonZero() && !exponent->isNegative())
    return success();
  return op.emitOpError("expects the exponent to be positive and finite, but "
                        "got ")
         << op.getExponentAttr();
}

/// pairwise_c2: element types.
static LogicalResult verifyElements(PairwiseOp op,
                                    ArrayRef<NamedArray> matrices) {
  Type element = getElementType(op.getInit());
  for (const NamedArray &array : matrices)
    if (getElementType(array.value) != element)
      return op.emitOpError("expects ")
             << array.name << " to have element type " << element
             << " as the outs, but got " << getElementType(array.value);
  Type expected = op.getAccumulatorType();
  for (auto [index, param] : llvm::enumerate(op.getParams()))
    if (getElementTypeOrSelf(param.getType()) != expected)
      return op.emitOpError("expects parameter ")
             << index + 1 << " to have type " << expected << ", but got "
             << getElementTypeOrSelf(param.getType());
  return success();
}

/// pairwise_c5: dimension `dim` of the first `rank` of `array` is 1 or that of
/// the destination.
static LogicalResult verifyBatch(PairwiseOp op, const NamedArray &array,
                                 int64_t rank) {
  int64_t batchRank = getRank(op.getInit()) - 2;
  if (rank > batchRank)
    return op.emitOpError("expects ")
           << array.name << " to have at most " << batchRank
           << " batch dimensions, as the outs, but got " << rank;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (getDimSize(array.value, dim) != 1 &&
        failed(verifyDim(op, array, dim,
                         getDimSize(op.getInit(), batchRank - rank + dim),
                         "the batch size of the outs, or 1")))
      return failure();
  return success();
}

/// pairwise_c3, pairwise_c4, pairwise_c5.
static LogicalResult verifyShapes(PairwiseOp op,
                                  ArrayRef<NamedArray> matrices) {
  const NamedArray &lhs = matrices[0], &rhs = matrices[1], &init = matrices[2];
  // pairwise_c3
  for (const NamedArray &array : matrices)
    if (getRank(array.value) < 2)
      return op.emitOpError("expects ")
             << array.name << " to have a rank of at least 2, but got "
             << getRank(array.value);
  if (failed(verifyDim(op, rhs, op.getReducedDim(1),
                       getDimSize(lhs.value, op.getReducedDim(0)),
                       "the K of the left operand")))
    return failure();
  // pairwise_c4
  int64_t batchRank = getRank(init.value) - 2;
  if (failed(verifyDim(op, init, batchRank,
                       getDimSize(lhs.value, op.getRowsDim(0)),
                       "the M of the left operand")) ||
      failed(verifyDim(op, init, batchRank + 1,
                       getDimSize(rhs.value, op.getRowsDim(1)),
                       "the N of the right operand")))
    return failure();
  // pairwise_c5
  if (failed(verifyBatch(op, lhs, getRank(lhs.value) - 2)) ||
      failed(verifyBatch(op, rhs, getRank(rhs.value) - 2)))
    return failure();
  for (const NamedArray &param : getParameterArrays(op))
    if (failed(verifyBatch(op, param, getRank(param.value))))
      return failure();
  return success();
}

LogicalResult PairwiseOp::verify() {
  NamedArray matrices[] = {{"the left operand", getLhs()},
                           {"the right operand", getRhs()},
                           {"the outs", getInit()}};
  SmallVector<NamedArray> arrays = getParameterArrays(*this);
  arrays.insert(arrays.begin(), std::begin(matrices), std::end(matrices));
  if (failed(verifyArrayKinds(*this, arrays)) ||
      failed(verifyFunction(*this)) ||           // pairwise_c1
      failed(verifyElements(*this, matrices)) || // pairwise_c2
      failed(verifyShapes(*this, matrices)))     // pairwise_c3 to pairwise_c5
    return failure();
  return success();
}

/// pairwise_c6: the signature of a region that takes `numValues` values.
static LogicalResult verifySignature(PairwiseOp op, StringRef name,
                                     Region &region, unsigned numValues) {
  Type type = op.getAccumulatorType();
  unsigned numArgs = numValues + op.getParams().size();
  if (region.getNumArguments() != numArgs)
    return op.emitOpError("expects the region `")
           << name << "` to have " << numArgs << " arguments, but got "
           << region.getNumArguments();
  for (BlockArgument arg : region.getArguments())
    if (arg.getType() != type)
      return op.emitOpError("expects argument ")
             << arg.getArgNumber() << " of the region `" << name
             << "` to have type " << type << ", but got " << arg.getType();
  auto yield = dyn_cast<PairwiseYieldOp>(region.front().back());
  if (!yield)
    return op.emitOpError("expects the region `")
           << name << "` to end with kron.pairwise_yield";
  if (yield.getValue().getType() != type)
    return op.emitOpError("expects the region `")
           << name << "` to yield a value of type " << type << ", but got "
           << yield.getValue().getType();
  return success();
}

/// pairwise_c7: what can be computed of scalars and of vectors alike.
static LogicalResult verifyOperations(PairwiseOp op, Region &region) {
  for (Operation &inside : region.front().without_terminator()) {
    StringRef dialect = inside.getName().getDialectNamespace();
    bool isScalar = llvm::all_of(inside.getResultTypes(),
                                 [](Type type) { return type.isIntOrFloat(); });
    bool isElementwise = inside.hasTrait<OpTrait::ConstantLike>() ||
                         OpTrait::hasElementwiseMappableTraits(&inside);
    if ((dialect == "arith" || dialect == "math") && isScalar && isElementwise)
      continue;
    InFlightDiagnostic error = op.emitOpError(
        "expects its regions to hold elementwise operations of arith and math "
        "on scalars, but got ");
    error << inside.getName();
    error.attachNote(inside.getLoc()) << "operation is here";
    return error;
  }
  return success();
}

LogicalResult PairwiseOp::verifyRegions() {
  std::tuple<StringRef, Region *, unsigned> regions[] = {
      {"inner", &getInnerBody(), 2}, {"epilogue", &getEpilogue(), 1}};
  for (auto [name, region, numValues] : regions)
    if (!region->empty() &&
        (failed(verifySignature(*this, name, *region, numValues)) ||
         failed(verifyOperations(*this, *region))))
      return failure();
  return success();
}
