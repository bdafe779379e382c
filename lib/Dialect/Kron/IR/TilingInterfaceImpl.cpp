//===- TilingInterfaceImpl.cpp - Tiling of kron operations ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every loop runs over a dimension of the destination. A tile takes the same
// range of every operand dimension that follows it and all of the others: what
// is contracted, stretched, or the product of several factors' sizes.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/TilingInterfaceImpl.h"
#include "KronShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::kron;

using Sizes = SmallVector<OpFoldResult>;

//===----------------------------------------------------------------------===//
// Which dimensions follow which
//===----------------------------------------------------------------------===//

/// For a dimension that follows none of the destination's.
static constexpr int64_t kWhole = -1;

/// The first dimensions of `array` follow those of a batch of `batchRank`,
/// aligned at the right, where they are not stretched.
static void followBatch(Value array, int64_t coreRank, int64_t batchRank,
                        SmallVectorImpl<int64_t> &followed) {
  int64_t arrayBatchRank = getRank(array) - coreRank;
  for (int64_t dim = 0; dim < arrayBatchRank; ++dim)
    if (getDimSize(array, dim) != 1)
      followed[dim] = batchRank - arrayBatchRank + dim;
}

static void followModeProduct(ModeProductOp op, bool isFactor,
                              SmallVectorImpl<int64_t> &followed) {
  int64_t axis = op.getAxis();
  Value array = isFactor ? op.getFactor() : op.getInput();
  for (int64_t dim = 0, rank = followed.size(); dim < rank; ++dim) {
    int64_t role = isFactor ? op.getFactorDims()[dim] : dim;
    if (isFactor && role == ModeProductOp::kResulting)
      followed[dim] = axis;
    else if (role >= 0 && role != axis && getDimSize(array, dim) != 1)
      followed[dim] = role;
  }
}

/// Per dimension of operand `number`, an array: the dimension of the
/// destination that it follows, or kWhole.
static SmallVector<int64_t> getFollowed(ScaledOpInterface op, unsigned number) {
  Value array = op->getOperand(number);
  Value init = op.getInitValue();
  unsigned numFactors = op.getFactorValues().size();
  SmallVector<int64_t> followed(getRank(array), kWhole);
  auto sparse = dyn_cast<KsmmOp>(op.getOperation());
  if (sparse && number <= numFactors) {
    if (number == 0) {
      bool isTransposed = sparse.getTransInput() != Transpose::N;
      followed[isTransposed ? sparse.getFeatureDim() : sparse.getBatchDim()] =
          sparse.getBatchDim();
    }
    return followed;
  }
  if (number > numFactors) {
    if (followed.size() == static_cast<size_t>(getRank(init)))
      std::iota(followed.begin(), followed.end(), 0);
    return followed;
  }
  if (auto product = dyn_cast<ModeProductOp>(op.getOperation())) {
    followModeProduct(product, /*isFactor=*/number == 1, followed);
    return followed;
  }
  int64_t coreRank = getCoreRank(op);
  int64_t batchRank = getRank(init) - coreRank;
  followBatch(array, number == 0 ? coreRank : 2, batchRank, followed);
  if (number == 0)
    for (const CoreAxis &axis : getCoreAxes(op))
      if (axis.numFactors == 0)
        followed[axis.inputDim] = axis.initDim;
  return followed;
}

/// The dimensions of the destination that have a loop.
static SmallVector<int64_t> getLoopDims(ScaledOpInterface op) {
  int64_t rank = getRank(op.getInitValue());
  if (isa<ModeProductOp>(op))
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto sparse = dyn_cast<KsmmOp>(op.getOperation()))
    return {static_cast<int64_t>(sparse.getBatchDim())};
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - getCoreRank(op)));
  for (const CoreAxis &axis : getCoreAxes(op))
    if (axis.numFactors == 0)
      dims.push_back(axis.initDim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static OpFoldResult getSize(OpBuilder &builder, Location loc, Value array,
                            int64_t dim) {
  if (isa<TensorType>(array.getType()))
    return tensor::getMixedSize(builder, loc, array, dim);
  return memref::getMixedSize(builder, loc, array, dim);
}

namespace {
/// A range of every dimension of an array.
struct Tile {
  Sizes offsets, sizes;
};
} // namespace

/// The tile of `array`, whose dimensions follow those of the destination, that
/// belongs to a tile of the loops.
static Tile getTile(OpBuilder &builder, ScaledOpInterface op, Value array,
                    ArrayRef<int64_t> followed, ArrayRef<OpFoldResult> offsets,
                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> loopDims = getLoopDims(op);
  Tile tile;
  for (auto [dim, initDim] : llvm::enumerate(followed)) {
    auto loop = llvm::find(loopDims, initDim);
    if (loop == loopDims.end()) {
      tile.offsets.push_back(builder.getIndexAttr(0));
      tile.sizes.push_back(getSize(builder, op.getLoc(), array, dim));
      continue;
    }
    tile.offsets.push_back(offsets[loop - loopDims.begin()]);
    tile.sizes.push_back(sizes[loop - loopDims.begin()]);
  }
  return tile;
}

static Operation *createSlice(OpBuilder &builder, Location loc, Value array,
                              const Tile &tile) {
  Sizes strides(tile.sizes.size(), builder.getIndexAttr(1));
  if (isa<TensorType>(array.getType()))
    return tensor::ExtractSliceOp::create(builder, loc, array, tile.offsets,
                                          tile.sizes, strides);
  return memref::SubViewOp::create(builder, loc, array, tile.offsets,
                                   tile.sizes, strides);
}

static TilingResult createTiledOp(OpBuilder &builder, ScaledOpInterface op,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  TilingResult result;
  SmallVector<int64_t> loopDims = getLoopDims(op);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    operands.push_back(value);
    if (!isa<ShapedType>(value.getType()))
      continue;
    SmallVector<int64_t> followed = getFollowed(op, operand.getOperandNumber());
    if (llvm::none_of(followed, [&](int64_t dim) {
          return llvm::is_contained(loopDims, dim);
        }))
      continue;
    Tile tile = getTile(builder, op, value, followed, offsets, sizes);
    Operation *slice = createSlice(builder, op.getLoc(), value, tile);
    result.generatedSlices.push_back(slice);
    operands.back() = slice->getResult(0);
  }
  // The destination is the last operand.
  if (op->getNumResults())
    types.push_back(operands.back().getType());
  Operation *tiled = clone(builder, op, types, operands);
  result.tiledOps.push_back(tiled);
  result.tiledValues = llvm::to_vector_of<Value>(tiled->getResults());
  return result;
}

/// The tile of the loops that computes a tile of the result; fails if that is
/// not whole in a dimension without a loop.
static FailureOr<Tile> getLoopTile(ScaledOpInterface op,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  Tile tile;
  SmallVector<int64_t> loopDims = getLoopDims(op);
  for (int64_t dim : loopDims) {
    tile.offsets.push_back(offsets[dim]);
    tile.sizes.push_back(sizes[dim]);
  }
  for (int64_t dim = 0, rank = offsets.size(); dim < rank; ++dim)
    if (!llvm::is_contained(loopDims, dim) &&
        (!isConstantIntValue(offsets[dim], 0) ||
         !isConstantIntValue(sizes[dim], getDimSize(op.getInitValue(), dim))))
      return failure();
  return tile;
}

//===----------------------------------------------------------------------===//
// External models
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct KronTilingModel
    : TilingInterface::ExternalModel<KronTilingModel<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(getLoopDims(cast<OpTy>(op)).size(),
                                            utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op,
                                        OpBuilder &builder) const {
    auto scaled = cast<OpTy>(op);
    SmallVector<Range> ranges;
    for (int64_t dim : getLoopDims(scaled))
      ranges.push_back({builder.getIndexAttr(0),
                        getSize(builder, op->getLoc(), scaled.getInit(), dim),
                        builder.getIndexAttr(1)});
    return ranges;
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    return createTiledOp(builder, cast<OpTy>(op), offsets, sizes);
  }

  LogicalResult getResultTilePosition(Operation *op, OpBuilder &builder,
                                      unsigned, ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes,
                                      Sizes &resultOffsets,
                                      Sizes &resultSizes) const {
    auto scaled = cast<OpTy>(op);
    auto dims =
        llvm::to_vector(llvm::seq<int64_t>(0, getRank(scaled.getInit())));
    Tile tile =
        getTile(builder, scaled, scaled.getInit(), dims, offsets, sizes);
    resultOffsets = tile.offsets;
    resultSizes = tile.sizes;
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &builder, unsigned,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    FailureOr<Tile> tile = getLoopTile(cast<OpTy>(op), offsets, sizes);
    if (failed(tile))
      return failure();
    return createTiledOp(builder, cast<OpTy>(op), tile->offsets, tile->sizes);
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, SmallVectorImpl<OpFoldResult> &loopOffsets,
      SmallVectorImpl<OpFoldResult> &loopSizes) const {
    FailureOr<Tile> tile = getLoopTile(cast<OpTy>(op), offsets, sizes);
    if (failed(tile))
      return failure();
    loopOffsets.assign(tile->offsets);
    loopSizes.assign(tile->sizes);
    return success();
  }
};
} // namespace

void kron::registerTilingInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KronDialect *) {
    MkmOp::attachInterface<KronTilingModel<MkmOp>>(*context);
    KmmOp::attachInterface<KronTilingModel<KmmOp>>(*context);
    BatchedOp::attachInterface<KronTilingModel<BatchedOp>>(*context);
    KsmmOp::attachInterface<KronTilingModel<KsmmOp>>(*context);
    ModeProductOp::attachInterface<KronTilingModel<ModeProductOp>>(*context);
  });
}
