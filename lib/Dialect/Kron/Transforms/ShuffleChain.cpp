//===- ShuffleChain.cpp - Recognise the steps of a chain --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Structural matching through LinalgOp, so that named operations, user-defined
// indexing maps, linalg.contract and linalg.generic are one case.
//
//===----------------------------------------------------------------------===//

#include "ShuffleChain.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(
      op);
}

/// True if the static sizes that types give a loop agree. Upstream verifies
/// that only where every size is static.
static bool areLoopSizesConsistent(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes(op.getNumLoops(), ShapedType::kDynamic);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [expr, size] :
         llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(),
                         op.getShape(&operand))) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || ShapedType::isDynamic(size))
        continue;
      int64_t &known = sizes[loop.getPosition()];
      if (!ShapedType::isDynamic(known) && known != size)
        return false;
      known = size;
    }
  return true;
}

/// True if `op` has one result, `numInputs` ranked tensors to read and nothing
/// on memrefs, all of one element type.
static bool isSimpleTensorOp(linalg::LinalgOp op, unsigned numInputs) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumDpsInputs() != static_cast<int64_t>(numInputs) ||
      op.getNumDpsInits() != 1)
    return false;
  auto resultType = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!resultType || !areLoopSizesConsistent(op))
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    return type && !type.getEncoding() &&
           type.getElementType() == resultType.getElementType();
  });
}

/// True if `op` copies its only input to positions that its maps give.
static bool isMappedCopy(linalg::LinalgOp op) {
  if (!isSimpleTensorOp(op, /*numInputs=*/1))
    return false;
  Block *body = op.getBlock();
  auto yield = dyn_cast<linalg::YieldOp>(body->getTerminator());
  return yield && &body->front() == yield.getOperation() &&
         yield.getNumOperands() == 1 &&
         yield.getOperand(0) == body->getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0))
             .isProjectedPermutation();
}

bool kron::isPermutingCopy(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && isMappedCopy(linalgOp) &&
         linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(0))
             .isPermutation();
}

/// True if `scalar` is the constant zero of its type.
static bool isZeroScalar(Value scalar) {
  if (matchPattern(scalar, m_Zero()) || matchPattern(scalar, m_AnyZeroFloat()))
    return true;
  if (auto create = scalar.getDefiningOp<complex::CreateOp>())
    return isZeroScalar(create.getReal()) &&
           isZeroScalar(create.getImaginary());
  auto constant = scalar.getDefiningOp<complex::ConstantOp>();
  return constant && llvm::all_of(constant.getValue(), [](Attribute part) {
           auto value = dyn_cast<FloatAttr>(part);
           return value && value.getValue().isZero();
         });
}

/// True if every element of `tensor` is known to be zero.
static bool isZeroTensor(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return isZeroScalar(fill.getInputs()[0]);
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    std::optional<Value> value = linalg::isaFillOpInterface(generic);
    return value && isZeroScalar(*value);
  }
  // m_Zero and m_AnyZeroFloat match splats as well.
  return matchPattern(tensor, m_Zero()) ||
         matchPattern(tensor, m_AnyZeroFloat());
}

/// True if `body` is `yield acc + a * b` of its arguments (a, b, acc).
static bool isMultiplyAddBody(Block &body) {
  if (body.getOperations().size() != 3 || body.getNumArguments() != 3)
    return false;
  Operation *multiply = &body.front();
  Operation *add = multiply->getNextNode();
  bool matches = (isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add)) ||
                 (isa<arith::MulIOp>(multiply) && isa<arith::AddIOp>(add)) ||
                 (isa<complex::MulOp>(multiply) && isa<complex::AddOp>(add));
  auto isPair = [](Operation *op, Value first, Value second) {
    return (op->getOperand(0) == first && op->getOperand(1) == second) ||
           (op->getOperand(0) == second && op->getOperand(1) == first);
  };
  return matches &&
         isPair(multiply, body.getArgument(0), body.getArgument(1)) &&
         isPair(add, body.getArgument(2), multiply->getResult(0)) &&
         body.getTerminator()->getOperand(0) == add->getResult(0);
}

/// True if kron operations may hold elements of `type`.
static bool isKronElement(Type type) {
  if (auto complexType = dyn_cast<ComplexType>(type))
    type = complexType.getElementType();
  else if (type.isInteger(32) || type.isInteger(64) ||
           isa<Float16Type, BFloat16Type>(type))
    return true;
  return isa<Float32Type, Float64Type>(type);
}

bool kron::isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !isSimpleTensorOp(linalgOp, /*numInputs=*/2) ||
      !isMultiplyAddBody(*linalgOp.getBlock()) ||
      !isKronElement(getElementTypeOrSelf(op->getResult(0))) ||
      !isZeroTensor(linalgOp.getDpsInitOperand(0)->get()))
    return false;
  if (!llvm::all_of(linalgOp.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  // A loop runs in parallel exactly if the result has it.
  AffineMap result =
      linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  for (auto [loop, kind] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::parallel) != result.isFunctionOfDim(loop))
      return false;
  return true;
}

SmallVector<OpOperand *, 2> kron::getDataOperands(Operation *op) {
  if (isReshape(op) || isPermutingCopy(op))
    return {&op->getOpOperand(0)};
  if (isContraction(op))
    return {&op->getOpOperand(0), &op->getOpOperand(1)};
  return {};
}

SmallVector<unsigned> kron::getLoops(linalg::LinalgOp op, OpOperand *operand) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

SmallVector<unsigned> kron::getCopiedPositions(linalg::LinalgOp copy) {
  SmallVector<unsigned> resultLoops = getLoops(copy, copy.getDpsInitOperand(0));
  SmallVector<unsigned> positions;
  for (unsigned loop : getLoops(copy, copy.getDpsInputOperand(0)))
    positions.push_back(llvm::find(resultLoops, loop) - resultLoops.begin());
  return positions;
}

FactorAccess kron::getFactor(const ChainStep &step) {
  auto op = cast<linalg::LinalgOp>(step.op);
  OpOperand *operand =
      op.getDpsInputOperand(step.data->getOperandNumber() == 0 ? 1 : 0);
  FactorAccess factor = {operand->get(), getLoops(op, operand), 0};
  while (auto copy = factor.value.getDefiningOp<linalg::LinalgOp>()) {
    if (!isMappedCopy(copy))
      break;
    SmallVector<unsigned> positions = getCopiedPositions(copy), loops;
    for (unsigned position : positions)
      loops.push_back(factor.loops[position]);
    factor.numTransposes +=
        factor.value.hasOneUse() && !llvm::is_sorted(positions);
    factor.value = copy.getDpsInputOperand(0)->get();
    factor.loops = std::move(loops);
  }
  return factor;
}
