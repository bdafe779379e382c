//===- Chunks.cpp - Pieces of chunks, from views to rings -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"
#include "Blocks.h"
#include "kron/Dialect/Tile/IR/TileChunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// How often data have dimensions, behind the rows, that the factor has not.
static unsigned countFree(ContractPiecesOp op) {
  auto factor = cast<ViewType>(op.getOperand().getType());
  return op.getView().getType().getRank() - factor.getRank();
}

static MmaMath getMath(ContractPiecesOp op) {
  if (op.getSums().getType().getElementType().isF64())
    return MmaMath::F64;
  return op.getPieces().getChunks().getSplit() ? MmaMath::SplitTF32
                                               : MmaMath::TF32;
}

/// What the operations say, as those know it who multiply chunks.
static SparsePlan describe(ContractPiecesOp op, StoreOp store) {
  PiecesAttr pieces = op.getPieces();
  ChunksAttr chunks = pieces.getChunks();
  ViewType data = op.getView().getType();
  auto factor = cast<ViewType>(op.getOperand().getType());
  ChunkTile tile(chunks, data.getElementType(), factor.getElementType());
  SparsePlan plan;
  plan.element = store.getView().getType().getElementType();
  plan.elementBytes = tile.elementBytes;
  plan.dataBytes = getBytesOf(data.getElementType());
  plan.factorBytes = getBytesOf(factor.getElementType());
  plan.math = getMath(op);
  plan.hasPartialSums = chunks.getPartial();
  plan.residuals =
      chunks.getNarrow() ? SparseResiduals::BF16 : SparseResiduals::TF32;
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

/// `type` if it has 8 bits; null otherwise.
static Type getFloat8(Type type) { return isFloat8(type) ? type : Type(); }

static Type getViewElement(Value view) {
  return cast<ViewType>(view.getType()).getElementType();
}

ChunkPieces::ChunkPieces(Lowering &lowering, ContractPiecesOp op, StoreOp store)
    : lowering(lowering), k(lowering.k), op(op), target(store),
      plan(describe(op, store)),
      ops(k, op.getSums().getType().getElementType()),
      products(k, plan.math,
               op.getSums().getType().getAtom() == AtomKind::MmaF64),
      math(k, products, plan.isOf8() ? k.builder.getF16Type() : plan.element,
           plan.has16BitResiduals(), op.getPieces().getChunks().getWidens()),
      thread(SparseThread::get(k, plan)), copies(k, math, plan, thread),
      multiplier(k, math, plan, thread, getFloat8(getViewElement(op.getView())),
                 getFloat8(getViewElement(op.getOperand()))),
      targets(k, ops), stores(k, ops, plan, thread, multiplier, targets),
      data(getArray(op.getView(), /*isFactor=*/false)),
      factor(getArray(op.getOperand(), /*isFactor=*/true)),
      dataOffset(lowering.rings[op.getRing()].begin),
      factorOffset(lowering.rings[op.getFactorRing()].begin),
      count(lowering.numbers.at(cast<ForOp>(op->getParentOp()).getTiles())) {
  ArrayRef<Int> sizes = lowering.views.at(op.getView()).sizes;
  targets.rows = sizes.front();
  for (Int size : sizes.slice(1, countFree(op)))
    freeSizes.push_back(k.truncate(size));
  if (plan.sharedStore)
    stores.sharedOffset = lowering.buffers.at(op.getSumsOf()).getConstant() +
                          plan.getExchangeBytes();
  enterTargets();
  enterFactor();
  // Both rings are at the same slot: its number.
  lowering.rings[op.getRing()].full = 0;
  lowering.rings.erase(op.getFactorRing());
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The strides of a view: of rows (of a factor: results), of lanes, of K (of
/// what is stored: results), and of the groups and what the factor has not.
SparseArray ChunkPieces::getArray(Value view, bool isFactor) {
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
    result.groups.append(countFree(op), 0);
    return result;
  }
  result.row = strides.front();
  result.lane = strides.drop_back().back();
  ArrayRef<Int> inner = strides.drop_front().drop_back(2);
  llvm::append_range(result.groups, inner.drop_front(countFree(op)));
  llvm::append_range(result.groups, inner.take_front(countFree(op)));
  return result;
}

void ChunkPieces::enterTargets() {
  targets.output = getArray(target.getView(), /*isFactor=*/false);
  targets.addend = getArray(target.getAddend(), /*isFactor=*/false);
  targets.bias = getArray(target.getBias(), /*isFactor=*/false);
  targets.residual = getArray(target.getResidual(), /*isFactor=*/false);
  targets.alpha = getScale(lowering, target.getAlpha());
  targets.beta = getScale(lowering, target.getBeta());
  FusedEpilogue epilogue;
  epilogue.activation = target.getActivation();
  epilogue.scale = target.getScaleAttr();
  epilogue.bias.base = targets.bias.base;
  epilogue.residual.base = targets.residual.base;
  targets.epilogue.enter(epilogue, plan.element);
}

/// Whether the number of rows is one of whole chunks, where these are stored;
/// null: it does not matter, or is known.
Value ChunkPieces::hasWholeRows() {
  if (!plan.storesAlongRows() || targets.rows.isConstant())
    return nullptr;
  return k.equal(k.bitAnd(targets.rows, plan.getChunk() - 1), 0);
}

/// What decides how the factor and other arrays are copied. A factor whose
/// strides are only known at a launch is copied in whole chunks if these are
/// those without gaps, which is tested apart from the other arrays.
void ChunkPieces::enterFactor() {
  SmallVector<Value> views{op.getView(), target.getView()};
  for (Value view :
       {target.getAddend(), target.getBias(), target.getResidual()})
    if (view && !llvm::is_contained(views, view))
      views.push_back(view);
  // Strides of 8-bit elements may be multiples of 8.
  auto areAligned = [&](ArrayRef<Value> arrays) {
    return tile::isAligned(lowering, arrays, kChunkBytes, /*axis=*/-1,
                           /*leastBytes=*/2);
  };
  alignedFactor = factor;
  LoweredView &view = lowering.views.at(op.getOperand());
  SmallVector<Int> strides(view.array.strides), dense(strides);
  Int difference = 0;
  ArrayRef<int64_t> order;
  if (DenseI64ArrayAttr given = op.getPieces().getChunks().getOrder())
    order = given;
  ArrayRef<int64_t> shape =
      cast<ViewType>(op.getOperand().getType()).getShape();
  int64_t together = 1;
  for (int64_t dim : llvm::reverse(order)) {
    if (!strides[dim].isConstant()) {
      difference = k.bitOr(difference, k.bitXor(strides[dim], together));
      dense[dim] = together;
    }
    together *= shape[dim];
  }
  if (difference.is(0)) {
    views.push_back(op.getOperand());
    isAligned = isFactorAligned = k.both(areAligned(views), hasWholeRows());
    return;
  }
  isAligned = k.both(areAligned(views), hasWholeRows());
  view.array.strides = dense;
  alignedFactor = getArray(op.getOperand(), /*isFactor=*/true);
  isFactorAligned =
      k.both(areAligned({op.getOperand()}), k.equal(difference, 0));
  view.array.strides = strides;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// What is large is read by tiles that follow each other: parts of the factor
/// are counted fastest.
SparseTile ChunkPieces::locate(Int number) {
  int64_t parts = plan.getTilesPerRows();
  SparseTile tile = getSparseTile(k, plan, freeSizes, k.rem(number, parts),
                                  k.floorDiv(number, parts));
  if (plan.shiftsResults())
    tile.result = k.sub(tile.result, stores.getShift(tile));
  return tile;
}

/// The copy of the data's or the factor's positions K from `startK` on to slot
/// `slot`.
SparseCopy ChunkPieces::getCopy(const SparseTile &tile, Int startK, Int slot,
                                bool isFactor, bool aligned) {
  if (!isFactor)
    return copies.getCopy(
        data, tile, startK,
        k.add(k.mul(slot, plan.getDataSlotBytes()), dataOffset), isFactor,
        targets.rows);
  return copies.getCopy(
      aligned ? alignedFactor : factor, tile, startK,
      k.add(k.mul(slot, plan.getFactorSlotBytes()), factorOffset), isFactor,
      targets.rows);
}

/// Builds `body` for both answers to `condition`.
void ChunkPieces::choose(Value condition, function_ref<void(bool)> body) {
  k.choose(
      condition, [&] { body(true); }, [&] { body(false); });
}

/// Starts to copy piece `number` behind the first one of tile `first`, of that
/// or a later one of this CTA's, if there is that, to slot `slot`.
void ChunkPieces::copy(Int first, Int number, Int slot) {
  Int turn = k.floorDiv(number, plan.stepsK);
  Int own = k.add(first, k.mul(turn, lowering.getTileStep()));
  k.ifThen(k.less(own, count), [&] {
    SparseTile tile = locate(own);
    Int startK = k.mul(k.rem(number, plan.stepsK), plan.stepK);
    auto copyData = [&](bool aligned) {
      copies.copyData(getCopy(tile, startK, slot, /*isFactor=*/false, aligned),
                      aligned);
    };
    auto copyFactor = [&](bool aligned) {
      copies.copyFactor(getCopy(tile, startK, slot, /*isFactor=*/true, aligned),
                        tile.groups, aligned);
    };
    if (isAligned == isFactorAligned)
      return choose(isAligned, [&](bool aligned) {
        copyData(aligned);
        copyFactor(aligned);
      });
    choose(isAligned, copyData);
    choose(isFactorAligned, copyFactor);
  });
  k.commitCopies();
}

void ChunkPieces::start() {
  Int first = lowering.getFirstTile();
  k.rolledLoop(0, plan.stages - 1, 1,
               [&](Int number) { copy(first, number, number); });
}

void tile::startChunks(Lowering &lowering, CopyPiecesOp op) {
  for (Operation *user : op.getRing().getUsers())
    if (auto product = dyn_cast<ContractPiecesOp>(user)) {
      auto store = cast<StoreOp>(*product.getSums().user_begin());
      auto pieces = std::make_shared<ChunkPieces>(lowering, product, store);
      lowering.chunks[op.getRing()] = pieces;
      pieces->start();
    }
}
