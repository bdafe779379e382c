//===- Blocks.cpp - Blocks of a tile that warps multiply ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What all products of blocks share: where data are in shared memory, and what
// is done to sums.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Tiles of 8 positions that are summed up by matrix instructions alone.
static constexpr int64_t kSummedTiles = 8;
/// Bytes of all banks of shared memory: what swizzles move elements within.
static constexpr int64_t kBankBytes = 128;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// TileLayout::swizzle of an index that may not be known.
static Int swizzle(Emitter &emitter, const TileLayout &layout, Int index) {
  if (index.isConstant())
    return layout.swizzle(index.getConstant());
  Int result = index;
  for (TileLayout::Swizzle term : layout.swizzles) {
    Int moved = emitter.floorDiv(index, int64_t(1) << (term.from - term.to));
    moved = emitter.bitAnd(moved, int64_t(1) << term.to);
    result = emitter.bitXor(result, moved);
  }
  return result;
}

Int SharedTile::getOffset(ArrayRef<Int> positions, Int laneIndex) const {
  Int index = 0;
  for (auto [position, stride] : llvm::zip_equal(
           expandPositions(positions, layout.strides.size()), layout.strides))
    index = k.add(index, k.mul(position, stride));
  // The lane's part is the same for all blocks.
  Int block = swizzle(k, layout, index);
  Int lane = swizzle(k, layout, laneIndex);
  Int sum =
      layout.swizzles.empty() ? k.add(block, lane) : k.bitXor(block, lane);
  return k.add(k.mul(sum, layout.elementBytes), base);
}

Value SharedTile::getAddress(Int offset, int64_t index) const {
  int64_t bytes = layout.swizzle(index) * layout.elementBytes;
  // Only the number of the bank is subject to swizzling.
  int64_t low = layout.swizzles.empty() ? 0 : bytes % kBankBytes;
  Value address = getPointer(k.bitXor(offset, low));
  return k.offsetBytes(address, bytes - low);
}

SmallVector<Value> SharedTile::load(Int offset, int64_t index, int64_t count,
                                    Value valid, Int other) const {
  Value address = getAddress(offset, index);
  if (valid)
    address = k.select(valid, address, getPointer(other));
  Type loaded = count == 1 ? type : Type(VectorType::get({count}, type));
  SmallVector<Value> values = k.unpack(k.load(loaded, address));
  for (Value &value : values) {
    if (type != k.element)
      value = LLVM::FPExtOp::create(k.builder, k.loc, k.element, value);
    if (valid)
      value = k.select(valid, value, k.constant(k.element, 0.0));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void SumParts::guard(function_ref<SmallVector<Value>(ValueRange)> plain) {
  if (!factor.hasResiduals())
    return;
  MmaProducts &products = factor.getProducts();
  SmallVector<const MmaC *> checked;
  SmallVector<Value> values;
  for (const MmaC &sum : sums) {
    checked.push_back(&sum);
    values.append(sum.begin(), sum.end());
  }
  SmallVector<Type> types(values.size(), k.element);
  SmallVector<Value> zeros(values.size(), products.getZero());
  SmallVector<Value> guarded = k.ifElse(
      products.isAnyNotFinite(checked), types, [&] { return plain(zeros); },
      [&] { return values; });
  for (auto [index, sum] : llvm::enumerate(sums))
    std::copy_n(guarded.begin() + 4 * index, 4, sum.begin());
}

void SumParts::carryOver(int64_t tile, int64_t count) {
  if (!factor.hasResiduals() || count <= kSummedTiles)
    return;
  bool last = tile + 1 == count;
  if (!last && (tile + 1) % kSummedTiles != 0)
    return;
  for (auto [index, sum] : llvm::enumerate(sums))
    if (!totals.empty())
      for (unsigned part = 0; part < 4; ++part)
        sum[part] = arith::AddFOp::create(k.builder, k.loc, totals[index][part],
                                          sum[part]);
  if (last)
    return;
  totals.assign(sums.begin(), sums.end());
  for (MmaC &sum : sums)
    sum = factor.getProducts().getZeros();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LoadedBlock::LoadedBlock(Lowering &lowering, LoadOp op)
    : tile(lowering.k, cast<BufferType>(op.getSource().getType()),
           lowering.buffers.at(op.getSource())),
      block(*lowering.blocks.at(op.getBoxes())), axis(op.getAlong().front()),
      together(op.getTogether()), fold(op.getFold()),
      isExact(tile.type != lowering.k.element) {
  // A piece starts at its own first position.
  origin = block.positions;
  if (block.blocks.arePieces)
    origin.assign(origin.size(), Int(0));
  own = tile.getOffset(origin, 0);
}

void tile::loadBlock(Lowering &lowering, LoadOp op) {
  lowering.loaded[op.getFragment()] =
      std::make_shared<LoadedBlock>(lowering, op);
}

void tile::multiplyBlock(Lowering &lowering, ContractOp op) {
  MatrixFactor &factor = *lowering.factors.at(op.getOperand());
  // Sums that only another product takes are not looked at.
  bool isLast = llvm::any_of(op.getSums().getUsers(), [](Operation *user) {
    return !isa<ContractOp>(user);
  });
  BlockProduct product;
  switch (op.getOperand().getType().getOrder()) {
  case OperandOrder::Rows:
    product = multiplyColumns(lowering, *lowering.loaded.at(op.getFragment()),
                              factor, isLast);
    break;
  case OperandOrder::Columns:
    product =
        multiplyRows(lowering, *lowering.loaded.at(op.getFragment()), factor);
    break;
  default:
    product =
        multiplySums(lowering, *lowering.products.at(op.getFragment()), factor);
  }
  lowering.products[op.getSums()] =
      std::make_shared<BlockProduct>(std::move(product));
}
