//===- ChunkTiles.cpp - Tiles of chunks of a sparse factor ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ChunkTiles.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

unsigned ChunkTiles::enterArray(const StepArray &array, ArrayRef<Int> all,
                                int64_t last, Type element) {
  SmallVector<Int> sizes, strides;
  auto add = [&](int axis, Int size) {
    sizes.push_back(size);
    strides.push_back(axis < 0 ? Int(0) : array.strides[axis]);
  };
  if (plan.swapsOperands)
    add(plan.axis, plan.swappedRows);
  else
    add(plan.rowAxis, plan.rowAxis < 0 ? Int(1) : all[plan.rowAxis]);
  for (unsigned axis : plan.freeAxes)
    add(axis, all[axis]);
  for (auto [axis, size] : llvm::zip_equal(plan.groupAxes, plan.groupSizes))
    add(axis, size);
  add(plan.laneAxis, plan.lanes);
  add(plan.swapsOperands ? plan.rowAxis : plan.axis, last);
  return kernel.enter(kernel.makeView(array.base, sizes, strides, element));
}

void ChunkTiles::enterFactor() {
  enterFactor(getFusedFactor(kernel.host, fused, product).array,
              getElementType(product.getFactor()));
}

/// Where there is one position, a stride may be any.
void ChunkTiles::enterFactor(const StepFactor &array, Type element) {
  SmallVector<Int> sizes, strides;
  bool isOpen = false;
  auto add = [&](Int size, Int stride) {
    sizes.push_back(size);
    strides.push_back(size.is(1) ? Int(0) : stride);
    isOpen |= !strides.back().isConstant();
  };
  for (auto [axis, size] : llvm::zip_equal(plan.groupAxes, plan.groupSizes))
    add(size, array.strides[axis]);
  add(plan.lanes, plan.laneAxis < 0 ? Int(0) : array.strides[plan.laneAxis]);
  add(plan.sizeN, array.resultStride);
  add(plan.sizeK, array.strideK);
  if (isOpen && !plan.swapsOperands)
    factorOrder = getFactorOrder();
  factor = kernel.enter(kernel.makeView(array.base, sizes, strides, element));
}

/// The dimensions of the factor's view, as they lie in a row-major array. Those
/// that it has not, of one position, come first.
DenseI64ArrayAttr ChunkTiles::getFactorOrder() {
  int64_t lanes = plan.groupAxes.size();
  SmallVector<int64_t> order;
  for (int64_t axis : product.getFactorDims()) {
    const unsigned *group = llvm::find(plan.groupAxes, unsigned(axis));
    if (axis == ModeProductOp::kContracted)
      order.push_back(lanes + 2);
    else if (axis == ModeProductOp::kResulting)
      order.push_back(lanes + 1);
    else if (axis == plan.laneAxis)
      order.push_back(lanes);
    else if (group != plan.groupAxes.end())
      order.push_back(group - plan.groupAxes.begin());
  }
  if (plan.laneAxis < 0)
    order.insert(order.begin(), lanes);
  return b.getDenseI64ArrayAttr(order);
}

void ChunkTiles::enterTargets(const FusedOperands &operands,
                              ArrayRef<Int> sizes, BoxArguments &arguments) {
  auto enter = [&](const StepArray &array) {
    return enterArray(array, sizes, plan.sizeN, plan.element);
  };
  kernel.enterTargets(operands, arguments, enter);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

tile::ChunksAttr ChunkTiles::getChunks() {
  return tile::ChunksAttr::get(
      b.getContext(), plan.chunkBytes, plan.chunkK, plan.lanesPerChunk,
      b.getDenseI64ArrayAttr({plan.rowTiles, plan.resultTiles}),
      b.getDenseI64ArrayAttr({plan.rowWarps, plan.resultWarps, plan.warpsK}),
      static_cast<tile::ResultOrder>(plan.order), plan.alongRows, plan.skinnyM,
      plan.math == MmaMath::SplitTF32, plan.residuals == SparseResiduals::BF16,
      plan.hasPartialSums, plan.isOf8() && machine.computeCapability >= 89,
      plan.shiftUnit, plan.sharedStore, plan.wholeCopies, plan.pairsFactor,
      plan.usesWgmma, plan.residuals == SparseResiduals::FactorBF16,
      plan.swapsOperands, factorOrder);
}

tile::PiecesAttr ChunkTiles::getPieces() {
  SmallVector<int64_t> block(getRank(), 1);
  block.front() = plan.getRows();
  block[block.size() - 2] = plan.getLanes();
  block.back() = plan.stepK;
  SmallVector<int64_t> sizes(block);
  sizes.back() = plan.stepsK * plan.stepK;
  return tile::PiecesAttr::get(
      b.getContext(), sizes, block,
      llvm::to_vector(llvm::seq<int64_t>(0, getRank())),
      plan.rowWarps * plan.resultWarps * plan.warpsK, kSparseChunkBytes,
      /*lines=*/false, /*split=*/-1,
      /*ahead=*/plan.stages - 1, /*order=*/{}, getChunks());
}

tile::FragmentType ChunkTiles::getSums() {
  SmallVector<int64_t> shape(getRank() + 1, 1);
  shape[1] = plan.getRows();
  shape[shape.size() - 2] = plan.getLanes();
  shape.back() = plan.getResults();
  Type sum = getAccumulatorType(plan.element);
  tile::AtomKind atom = tile::AtomKind::MmaTF32;
  if (sum.isF64())
    atom = machine.hasWideDMMA ? tile::AtomKind::MmaF64
                               : tile::AtomKind::MmaF64Small;
  else if (plan.usesWgmma)
    atom = plan.is16BitFloat() ? tile::AtomKind::WgmmaHalf
                               : tile::AtomKind::WgmmaTF32;
  else if (plan.is16BitFloat())
    atom = tile::AtomKind::MmaM16N8K16;
  return tile::FragmentType::get(shape, sum, atom);
}

int64_t ChunkTiles::getPitch(bool isFactor) const {
  int64_t bytes = plan.copiesWhole(isFactor)
                      ? plan.getWholeRow(isFactor).getBytes()
                      : plan.getPackedRowBytes(isFactor);
  return bytes / (isFactor ? plan.factorBytes : plan.dataBytes);
}

/// The shape of a piece of the factor.
static SmallVector<int64_t> getFactorPiece(const SparsePlan &plan,
                                           int64_t pitch) {
  if (plan.swapsOperands)
    return {plan.stepK, plan.getResults()};
  if (plan.usesWgmma && plan.keepsFactor)
    return {plan.getPreparedBytes() / plan.factorBytes};
  return {plan.getResults(), pitch};
}

Value ChunkTiles::allocateRing(bool isFactor, int64_t parts) {
  SmallVector<int64_t> piece{parts * plan.getPackedRows(), getPitch(false)};
  if (isFactor)
    piece = getFactorPiece(plan, getPitch(true));
  else if (plan.alongRows)
    piece = {parts * plan.stepK,
             plan.copiesWhole(false)
                 ? plan.getWholeRow(false).getSegmentBytes() / plan.dataBytes
                 : plan.getRows()};
  bool isKept = isFactor && plan.keepsFactor;
  if (isKept)
    piece.insert(piece.begin(), plan.stepsK);
  // Where the two have changed places, so have their elements.
  bool isOfFactor = isFactor != plan.swapsOperands;
  Value array = isOfFactor ? product.getFactor() : product.getInput();
  auto slot = tile::BufferType::get(piece, getElementType(array));
  return tile::AllocOp::create(
      b, kernel.loc, tile::RingType::get(isKept ? 1 : plan.stages, slot));
}

void ChunkTiles::store(const BoxArguments &arguments, Value sums, Value part,
                       Value tile) {
  tile::StoreOp op =
      kernel.store(arguments, sums, part, tile, kSparseChunkBytes);
  op.setAlong(ArrayRef<int64_t>{getRank() - 1});
  op.setBox(cast<tile::FragmentType>(sums.getType()).getBox());
  op.setAxes(llvm::to_vector(llvm::seq<int64_t>(0, getRank())));
}
