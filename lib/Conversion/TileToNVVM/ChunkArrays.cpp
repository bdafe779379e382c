//===- ChunkArrays.cpp - Arrays that chunks are copied from ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ChunkArrays.h"
#include "Blocks.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The type of elements of 8 bits; null if `view` has others.
static Type getFloat8(ViewType view) {
  Type type = view.getElementType();
  return isFloat8(type) ? type : Type();
}

ChunkProduct::ChunkProduct(Lowering &lowering, const SparsePlan &plan,
                           ChunksAttr chunks, FragmentType sums, ViewType data,
                           ViewType factor)
    : lowering(lowering), k(lowering.k), plan(plan),
      ops(k, sums.getElementType()),
      products(k, plan.math, sums.getAtom() == AtomKind::MmaF64),
      math(k, products, plan.isOf8() ? k.builder.getF16Type() : plan.element,
           plan.has16BitResiduals(), chunks.getWidens()),
      thread(SparseThread::get(k, this->plan)),
      copies(k, math, this->plan, thread),
      multiplier(k, math, this->plan, thread, getFloat8(data),
                 getFloat8(factor)),
      targets(k, ops), stores(k, ops, this->plan, thread, multiplier, targets) {
}

SparseCopy ChunkProduct::getDataCopy(const SparseTile &tile, Int startK,
                                     Int to) {
  return copies.getCopy(data, tile, startK, to, /*isFactor=*/false,
                        targets.rows);
}

SparseCopy ChunkProduct::getFactorCopy(const SparseTile &tile, Int startK,
                                       Int to, bool aligned) {
  return copies.getCopy(aligned ? factor.dense : factor.given, tile, startK, to,
                        /*isFactor=*/true, targets.rows);
}

void ChunkProduct::copyFactor(const SparseTile &tile, Int startK, Int to,
                              bool aligned) {
  copies.start(getFactorCopy(tile, startK, to, aligned), tile.groups, aligned);
}

void ChunkProduct::meet() {
  if (plan.warpGroups == 1)
    return k.barrier();
  k.namedBarrier(k.add(thread.warpGroup, 1), plan.getWarpGroupThreads());
}

void ChunkProduct::sumSteps(
    function_ref<void(Int, MutableArrayRef<MmaC>)> multiplyStep) {
  SmallVector<Value> values = math.sumSteps(plan.stepsK, plan.getSums(),
                                            plan.hasPartialSums, multiplyStep);
  sums.assign(plan.getSums(), {});
  for (auto [index, value] : llvm::enumerate(values))
    sums[index / 4][index % 4] = value;
}

SparsePlan tile::describeChunks(PiecesAttr pieces, ViewType data,
                                ViewType factor, Type element, Type sums) {
  ChunksAttr chunks = pieces.getChunks();
  ChunkTile tile(chunks, data.getElementType(), factor.getElementType());
  SparsePlan plan;
  plan.element = element;
  plan.elementBytes = tile.elementBytes;
  plan.dataBytes = getBytesOf(data.getElementType());
  plan.factorBytes = getBytesOf(factor.getElementType());
  plan.math = sums.isF64()        ? MmaMath::F64
              : chunks.getSplit() ? MmaMath::SplitTF32
                                  : MmaMath::TF32;
  plan.hasPartialSums = chunks.getPartial();
  plan.residuals = chunks.getMixed()    ? SparseResiduals::FactorBF16
                   : chunks.getNarrow() ? SparseResiduals::BF16
                                        : SparseResiduals::TF32;
  plan.usesWgmma = chunks.getWarpgroups();
  plan.swapsOperands = chunks.getSwapped();
  plan.pairsFactor = chunks.getPaired();
  ArrayRef<int64_t> shape = factor.getShape();
  plan.sizeK = shape.back();
  plan.sizeN = shape[shape.size() - 2];
  plan.lanes = shape[shape.size() - 3];
  plan.groupSizes.assign(shape.begin(), shape.end() - 3);
  plan.stages = pieces.getAhead() + 1;
  plan.stepK = pieces.getBlock().back();
  plan.stepsK = pieces.getSizes().back() / plan.stepK;
  plan.chunkBytes = chunks.getBytes();
  plan.chunkK = chunks.getK();
  plan.lanesPerChunk = chunks.getLanes();
  plan.laneChunks = pieces.getSizes().drop_back().back() / plan.lanesPerChunk;
  plan.alongRows = chunks.getAlongRows();
  plan.order = static_cast<SparseOrder>(chunks.getResults());
  plan.shiftUnit = chunks.getShift();
  plan.sharedStore = chunks.getStaged();
  plan.wholeCopies = chunks.getWhole();
  plan.skinnyM = chunks.getRows();
  plan.rowTiles = tile.rowTiles;
  plan.resultTiles = tile.resultTiles;
  plan.rowWarps = tile.rowWarps;
  plan.resultWarps = tile.resultWarps;
  plan.warpsK = tile.warpsK;
  return plan;
}

SparseArray tile::getChunkArray(Lowering &lowering, Value view, unsigned free,
                                bool isFactor) {
  SparseArray result;
  if (!view)
    return result;
  const LoweredView &found = lowering.views.at(view);
  ArrayRef<Int> strides = found.array.strides;
  result.base = found.array.base;
  result.element = getStorageType(found.element);
  result.strideK = strides.back();
  if (isFactor) {
    result.row = strides.drop_back().back();
    result.lane = strides.drop_back(2).back();
    llvm::append_range(result.groups, strides.drop_back(3));
    result.groups.append(free, 0);
    return result;
  }
  result.row = strides.front();
  result.lane = strides.drop_back().back();
  ArrayRef<Int> inner = strides.drop_front().drop_back(2);
  llvm::append_range(result.groups, inner.drop_front(free));
  llvm::append_range(result.groups, inner.take_front(free));
  return result;
}

Value tile::hasWholeRows(KernelBuilder &k, const SparsePlan &plan, Int rows) {
  if (!plan.storesAlongRows() || rows.isConstant())
    return nullptr;
  return k.equal(k.bitAnd(rows, plan.getChunk() - 1), 0);
}

/// A factor whose strides are only known at a launch is copied in whole chunks
/// if these are those without gaps, which is tested apart from the other
/// arrays.
ChunkFactor tile::enterChunkFactor(Lowering &lowering, Value factor,
                                   DenseI64ArrayAttr order, unsigned free,
                                   ArrayRef<Value> others, Value holds) {
  KernelBuilder &k = lowering.k;
  // Strides of 8-bit elements may be multiples of 8.
  auto areAligned = [&](ArrayRef<Value> arrays) {
    return tile::isAligned(lowering, arrays, kChunkBytes, /*axis=*/-1,
                           /*leastBytes=*/2);
  };
  ChunkFactor result;
  result.given = result.dense =
      getChunkArray(lowering, factor, free, /*isFactor=*/true);
  LoweredView &view = lowering.views.at(factor);
  SmallVector<Int> strides(view.array.strides), dense(strides);
  Int difference = 0;
  ArrayRef<int64_t> shape = cast<ViewType>(factor.getType()).getShape();
  int64_t together = 1;
  if (order)
    for (int64_t dim : llvm::reverse(order.asArrayRef())) {
      if (!strides[dim].isConstant()) {
        difference = k.bitOr(difference, k.bitXor(strides[dim], together));
        dense[dim] = together;
      }
      together *= shape[dim];
    }
  SmallVector<Value> views(others);
  if (difference.is(0)) {
    views.push_back(factor);
    result.isAligned = result.isFactorAligned =
        k.both(areAligned(views), holds);
    return result;
  }
  if (!views.empty())
    result.isAligned = k.both(areAligned(views), holds);
  view.array.strides = dense;
  result.dense = getChunkArray(lowering, factor, free, /*isFactor=*/true);
  result.isFactorAligned = k.both(areAligned({factor}), k.equal(difference, 0));
  view.array.strides = strides;
  return result;
}
