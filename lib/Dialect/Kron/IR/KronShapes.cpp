//===- KronShapes.cpp - Shape rules of kron operations ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Roles of the axes of every operation, and the dimensions that must agree at
// run time because the types leave them open.
//
//===----------------------------------------------------------------------===//

#include "KronShapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t kron::getRank(Value array) {
  return cast<ShapedType>(array.getType()).getRank();
}

int64_t kron::getDimSize(Value array, unsigned dim) {
  return cast<ShapedType>(array.getType()).getDimSize(dim);
}

std::optional<int64_t> kron::multiplySizes(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  bool isDynamic = false;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size)) {
      isDynamic = true;
      continue;
    }
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  }
  return isDynamic ? ShapedType::kDynamic : product;
}

//===----------------------------------------------------------------------===//
// Roles of the axes of kron.mkm, kron.kmm and kron.batched
//===----------------------------------------------------------------------===//

unsigned kron::getCoreRank(Operation *op) {
  if (auto batched = dyn_cast<BatchedOp>(op))
    return batched.getFactors().size();
  return 2;
}

static Transpose getInputTranspose(Operation *op) {
  if (auto mkm = dyn_cast<MkmOp>(op))
    return mkm.getTransInput();
  if (auto kmm = dyn_cast<KmmOp>(op))
    return kmm.getTransInput();
  return cast<BatchedOp>(op).getTransInput();
}

SmallVector<CoreAxis> kron::getCoreAxes(Operation *op) {
  auto scaled = cast<ScaledOpInterface>(op);
  unsigned coreRank = getCoreRank(op);
  unsigned inputRank = getRank(scaled.getInputValue());
  unsigned initRank = getRank(scaled.getInitValue());
  unsigned numFactors = scaled.getFactorValues().size();
  bool isTransposed = getInputTranspose(op) != Transpose::N;

  SmallVector<CoreAxis> axes;
  for (unsigned i = 0; i < coreRank; ++i) {
    CoreAxis &axis = axes.emplace_back();
    axis.inputDim = isTransposed ? inputRank - 1 - i : inputRank - coreRank + i;
    axis.initDim = initRank - coreRank + i;
    if (isa<BatchedOp>(op)) {
      axis.firstFactor = i;
      axis.numFactors = 1;
      continue;
    }
    bool isContracted = isa<MkmOp>(op) == (i == 1);
    axis.firstFactor = 0;
    axis.numFactors = isContracted ? numFactors : 0;
  }
  return axes;
}

std::pair<unsigned, unsigned> kron::getMatrixDims(Operation *op,
                                                  unsigned index) {
  auto getDims = [&](auto product, bool contractsColumns) {
    unsigned rank = getRank(product.getFactors()[index]);
    std::pair<unsigned, unsigned> dims(rank - 2, rank - 1);
    bool isTransposed = product.getFactorTranspose(index) != Transpose::N;
    if (isTransposed != contractsColumns)
      std::swap(dims.first, dims.second);
    return dims;
  };
  if (auto mkm = dyn_cast<MkmOp>(op))
    return getDims(mkm, false);
  if (auto kmm = dyn_cast<KmmOp>(op))
    return getDims(kmm, true);
  return getDims(cast<BatchedOp>(op), true);
}

//===----------------------------------------------------------------------===//
// Block arguments of kron.fused
//===----------------------------------------------------------------------===//

SmallVector<Type> kron::getArgumentTypes(FusedOp op) {
  SmallVector<Type> types;
  for (Value array : op->getOperands()) {
    auto type = cast<ShapedType>(array.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (types.empty() && op.getInputPermutation())
      for (auto [dim, source] : llvm::enumerate(*op.getInputPermutation()))
        shape[dim] = type.getDimSize(source);
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Equal dimensions
//===----------------------------------------------------------------------===//

void kron::addEqualDims(SmallVectorImpl<DimPair> &pairs, Value first,
                        unsigned firstDim, Value second, unsigned secondDim) {
  if (ShapedType::isDynamic(getDimSize(first, firstDim)) ||
      ShapedType::isDynamic(getDimSize(second, secondDim)))
    pairs.push_back({first, firstDim, second, secondDim});
}

static void addEqualShapes(SmallVectorImpl<DimPair> &pairs, Value first,
                           Value second) {
  if (!first || !second)
    return;
  for (unsigned dim = 0, rank = getRank(first); dim < rank; ++dim)
    addEqualDims(pairs, first, dim, second, dim);
}

/// Every batch dimension that is not a static 1 equals that of the destination.
/// Where all of them are, the destination's must be 1 too.
static void addEqualBatchDims(SmallVectorImpl<DimPair> &pairs,
                              ScaledOpInterface op) {
  Value init = op.getInitValue();
  unsigned batchRank = getRank(init) - getCoreRank(op);
  SmallVector<std::pair<Value, unsigned>> arrays;
  arrays.emplace_back(op.getInputValue(),
                      getRank(op.getInputValue()) - getCoreRank(op));
  for (Value factor : op.getFactorValues())
    arrays.emplace_back(factor, getRank(factor) - 2);
  for (unsigned dim = 0; dim < batchRank; ++dim) {
    Value stretched;
    unsigned stretchedDim = 0;
    bool isStretchedOnly = true;
    for (auto [array, arrayBatchRank] : arrays) {
      if (dim + arrayBatchRank < batchRank)
        continue;
      unsigned arrayDim = dim + arrayBatchRank - batchRank;
      if (getDimSize(array, arrayDim) == 1) {
        stretched = array;
        stretchedDim = arrayDim;
        continue;
      }
      isStretchedOnly = false;
      addEqualDims(pairs, init, dim, array, arrayDim);
    }
    if (isStretchedOnly && stretched)
      addEqualDims(pairs, init, dim, stretched, stretchedDim);
  }
}

static void addProductEqualDims(SmallVectorImpl<DimPair> &pairs,
                                ScaledOpInterface op) {
  Value input = op.getInputValue();
  Value init = op.getInitValue();
  for (const CoreAxis &axis : getCoreAxes(op)) {
    if (axis.numFactors == 0)
      addEqualDims(pairs, input, axis.inputDim, init, axis.initDim);
    if (axis.numFactors != 1)
      continue;
    Value factor = op.getFactorValues()[axis.firstFactor];
    auto [contracted, resulting] = getMatrixDims(op, axis.firstFactor);
    addEqualDims(pairs, input, axis.inputDim, factor, contracted);
    addEqualDims(pairs, init, axis.initDim, factor, resulting);
  }
  addEqualBatchDims(pairs, op);
  addEqualShapes(pairs, init, op.getAddendValue());
}

void MkmOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  addProductEqualDims(pairs, *this);
}
void KmmOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  addProductEqualDims(pairs, *this);
}
void BatchedOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  addProductEqualDims(pairs, *this);
}

void KsmmOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  bool isTransposed = getTransInput() != Transpose::N;
  unsigned inputBatchDim = isTransposed ? getFeatureDim() : getBatchDim();
  addEqualDims(pairs, getInput(), inputBatchDim, getInit(), getBatchDim());
  addEqualShapes(pairs, getInit(), getAddend());
  addEqualShapes(pairs, getInit(), getResidual());
  if (getBias())
    addEqualDims(pairs, getBias(), 0, getInit(), getFeatureDim());
}

void KsmmGradOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  addEqualDims(pairs, getInput(), getBatchDim(), getGrad(), getBatchDim());
  addEqualShapes(pairs, getInit(), getAddend());
}

void FactorGradOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  for (unsigned dim = 0, rank = getRank(getInput()); dim < rank; ++dim)
    if (dim != getFeatureDim())
      addEqualDims(pairs, getInput(), dim, getGrad(), dim);
  addEqualShapes(pairs, getInit(), getAddend());
}

void BiasGradOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  addEqualDims(pairs, getInput(), getFeatureDim(), getInit(), 0);
  addEqualShapes(pairs, getInit(), getAddend());
}

void ModeProductOp::getEqualDims(SmallVectorImpl<DimPair> &pairs) {
  unsigned axis = getAxis();
  for (unsigned dim = 0, rank = getRank(getInit()); dim < rank; ++dim)
    if (dim != axis && getDimSize(getInput(), dim) != 1)
      addEqualDims(pairs, getInput(), dim, getInit(), dim);
  for (auto [factorDim, role] : llvm::enumerate(getFactorDims())) {
    if (role == kContracted)
      addEqualDims(pairs, getFactor(), factorDim, getInput(), axis);
    else if (role == kResulting)
      addEqualDims(pairs, getFactor(), factorDim, getInit(), axis);
    else if (getDimSize(getFactor(), factorDim) != 1)
      addEqualDims(pairs, getFactor(), factorDim, getInit(), role);
  }
  addEqualShapes(pairs, getInit(), getAddend());
}

//===----------------------------------------------------------------------===//
// Fixed dimensions
//===----------------------------------------------------------------------===//

static void addFixedDim(SmallVectorImpl<FixedDim> &dims, Value array,
                        unsigned dim, ArrayRef<int64_t> sizes) {
  std::optional<int64_t> product = multiplySizes(sizes);
  if (product && !ShapedType::isDynamic(*product) &&
      ShapedType::isDynamic(getDimSize(array, dim)))
    dims.push_back({array, dim, *product});
}

static void addProductFixedDims(SmallVectorImpl<FixedDim> &dims,
                                ScaledOpInterface op) {
  for (const CoreAxis &axis : getCoreAxes(op)) {
    if (axis.numFactors < 2)
      continue;
    SmallVector<int64_t> contracted, resulting;
    for (unsigned i = 0; i < axis.numFactors; ++i) {
      Value factor = op.getFactorValues()[axis.firstFactor + i];
      auto [from, to] = getMatrixDims(op, axis.firstFactor + i);
      contracted.push_back(getDimSize(factor, from));
      resulting.push_back(getDimSize(factor, to));
    }
    addFixedDim(dims, op.getInputValue(), axis.inputDim, contracted);
    addFixedDim(dims, op.getInitValue(), axis.initDim, resulting);
  }
}

void MkmOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {
  addProductFixedDims(dims, *this);
}
void KmmOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {
  addProductFixedDims(dims, *this);
}
void BatchedOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {}
void ModeProductOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {}

void KsmmOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {
  SmallVector<int64_t, 4> pattern = getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  bool isTransposed = getTransInput() != Transpose::N;
  addFixedDim(dims, getInput(), isTransposed ? getBatchDim() : getFeatureDim(),
              {a, c, d});
  addFixedDim(dims, getInit(), getFeatureDim(), {a, b, d});
}

void KsmmGradOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {
  ArrayRef<int64_t> pattern = getPattern();
  if (getProductPattern())
    for (auto [dim, size] : llvm::enumerate(pattern))
      addFixedDim(dims, getInit(), dim, {size});
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  addFixedDim(dims, getInput(), getFeatureDim(), {a, c, d});
  addFixedDim(dims, getGrad(), getFeatureDim(), {a, b, d});
}

void FactorGradOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {
  SmallVector<int64_t> contracted, resulting;
  for (auto [p, q] : getFactorShapes()) {
    contracted.push_back(p);
    resulting.push_back(q);
  }
  addFixedDim(dims, getInput(), getFeatureDim(), contracted);
  addFixedDim(dims, getGrad(), getFeatureDim(), resulting);
}

void BiasGradOp::getFixedDims(SmallVectorImpl<FixedDim> &dims) {}
