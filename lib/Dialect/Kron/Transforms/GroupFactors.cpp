//===- GroupFactors.cpp - Neighbouring factors as one ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The Kronecker product of neighbouring factors of kron.mkm and kron.kmm takes
// their place: arrays stay as they are, and there are fewer mode products, of
// more multiply-adds. Its elements are products of one element of each, in the
// type of sums, rounded once.
//
//===----------------------------------------------------------------------===//

#include "ArrayViews.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// Rows and columns of op(F), as they are written, for factor `index`.
template <typename OpTy>
static std::pair<int64_t, int64_t> getMatrixShape(OpTy op, unsigned index) {
  ArrayRef<int64_t> shape = getShapedType(op.getFactors()[index]).getShape();
  return op.getFactorTranspose(index) == Transpose::N
             ? std::pair(shape[0], shape[1])
             : std::pair(shape[1], shape[0]);
}

/// The same of the Kronecker product of `count` factors from `begin` on.
template <typename OpTy>
static std::pair<int64_t, int64_t> getProductShape(OpTy op, unsigned begin,
                                                   unsigned count) {
  std::pair<int64_t, int64_t> shape(1, 1);
  for (unsigned index = begin; index < begin + count; ++index) {
    auto [rows, columns] = getMatrixShape(op, index);
    shape.first *= rows;
    shape.second *= columns;
  }
  return shape;
}

/// The product of `count` factors of `op` from number `begin` on.
template <typename OpTy>
static Value emitProduct(OpBuilder &builder, OpTy op, unsigned begin,
                         unsigned count) {
  Location loc = op.getLoc();
  bool onTensors = isOnTensors(op.getInit());
  Type element = kron::getElementType(op.getInit());
  Type accumulator = getAccumulatorType(element);
  // All rows, then all columns, the last factor's innermost.
  unsigned rank = 2 * count;
  SmallVector<int64_t> sizes(rank);
  SmallVector<AffineMap> maps;
  for (unsigned index = 0; index < count; ++index) {
    std::tie(sizes[index], sizes[count + index]) =
        getMatrixShape(op, begin + index);
    SmallVector<unsigned> dims{index, count + index};
    if (op.getFactorTranspose(begin + index) != Transpose::N)
      std::swap(dims[0], dims[1]);
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(rank, dims, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<ReassociationIndices> together{
      ReassociationIndices(axes.begin(), axes.begin() + count),
      ReassociationIndices(axes.begin() + count, axes.end())};
  auto [rows, columns] = getProductShape(op, begin, count);
  SmallVector<int64_t> shape{rows, columns};
  Value product = createBuffer(builder, loc, onTensors ? sizes : shape,
                               /*sizes=*/{}, element, onTensors);
  Value outs = product;
  if (!onTensors)
    outs =
        memref::ExpandShapeOp::create(builder, loc, sizes, product, together);
  auto generic = linalg::GenericOp::create(
      builder, loc, onTensors ? TypeRange(outs.getType()) : TypeRange(),
      op.getFactors().slice(begin, count), outs, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location loc, ValueRange args) {
        Value value = emitConversion(inside, loc, args.front(), accumulator);
        for (Value factor : args.slice(1, count - 1))
          value = emitMul(inside, loc, value,
                          emitConversion(inside, loc, factor, accumulator));
        linalg::YieldOp::create(inside, loc,
                                emitConversion(inside, loc, value, element));
      });
  if (!onTensors)
    return product;
  return tensor::CollapseShapeOp::create(builder, loc, generic.getResult(0),
                                         together);
}

/// How `op` uses its factors once they are grouped.
template <typename OpTy>
static ArrayAttr getGroupTransposes(OpTy op, ArrayRef<unsigned> counts) {
  SmallVector<Attribute> transposes;
  unsigned begin = 0;
  for (unsigned count : counts) {
    Transpose transpose =
        count == 1 ? op.getFactorTranspose(begin) : Transpose::N;
    transposes.push_back(TransposeAttr::get(op.getContext(), transpose));
    begin += count;
  }
  return ArrayAttr::get(op.getContext(), transposes);
}

template <typename OpTy>
static void group(IRRewriter &rewriter, OpTy op, ArrayRef<unsigned> counts) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> factors, products;
  unsigned begin = 0;
  for (unsigned count : counts) {
    factors.push_back(op.getFactors()[begin]);
    if (count > 1)
      products.push_back(factors.back() =
                             emitProduct(rewriter, op, begin, count));
    begin += count;
  }
  ArrayAttr transposes = getGroupTransposes(op, counts);
  rewriter.modifyOpInPlace(op, [&] {
    op.getFactorsMutable().assign(factors);
    op.setTransFactorsAttr(transposes);
  });
  rewriter.setInsertionPointAfter(op);
  for (Value product : products)
    releaseBuffer(rewriter, op.getLoc(), product);
}

template <typename OpTy>
static ScaledOpInterface cloneGrouped(IRRewriter &rewriter, OpTy op,
                                      ArrayRef<unsigned> counts) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto create = [&](ArrayRef<int64_t> shape) {
    return createBuffer(rewriter, loc, shape, /*sizes=*/{},
                        kron::getElementType(op.getInit()),
                        /*onTensors=*/false);
  };
  auto onMemref = [&](Value array) -> Value {
    return array && isOnTensors(array) ? create(getShapedType(array).getShape())
                                       : array;
  };
  SmallVector<Value> factors;
  unsigned begin = 0;
  for (unsigned count : counts) {
    auto [rows, columns] = getProductShape(op, begin, count);
    factors.push_back(count == 1 ? onMemref(op.getFactors()[begin])
                                 : create({rows, columns}));
    begin += count;
  }
  Value input = onMemref(op.getInput()), init = onMemref(op.getInit());
  Value addend =
      op.getAddend() == op.getInit() ? init : onMemref(op.getAddend());
  auto grouped = OpTy::create(
      rewriter, loc, TypeRange(), input, factors, op.getAlpha(), op.getBeta(),
      addend, init, op.getTransInput(), getGroupTransposes(op, counts),
      op.getStaticAlphaAttr(), op.getStaticBetaAttr(), op.getPrecision(),
      /*plan=*/nullptr);
  return cast<ScaledOpInterface>(grouped.getOperation());
}

void kron::groupFactors(IRRewriter &rewriter, ScaledOpInterface op,
                        ArrayRef<unsigned> counts) {
  if (auto product = dyn_cast<MkmOp>(op.getOperation()))
    group(rewriter, product, counts);
  else
    group(rewriter, cast<KmmOp>(op.getOperation()), counts);
}

ScaledOpInterface kron::cloneGroupedOnMemrefs(IRRewriter &rewriter,
                                              ScaledOpInterface op,
                                              ArrayRef<unsigned> counts) {
  if (auto product = dyn_cast<MkmOp>(op.getOperation()))
    return cloneGrouped(rewriter, product, counts);
  return cloneGrouped(rewriter, cast<KmmOp>(op.getOperation()), counts);
}
