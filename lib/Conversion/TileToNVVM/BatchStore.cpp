//===- BatchStore.cpp - Sums of tile.contract_batch -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Where sums are
//===----------------------------------------------------------------------===//

std::tuple<Int, Int, Int>
tile::getBatchWarp(KernelBuilder &k, const BatchBlocks &blocks, Int warp) {
  Int lane = k.rem(warp, blocks.laneWarps);
  warp = k.floorDiv(warp, blocks.laneWarps);
  return {k.floorDiv(warp, blocks.right.warps), k.rem(warp, blocks.right.warps),
          lane};
}

SmallVector<Int> tile::locateBatchSum(KernelBuilder &k,
                                      const BatchBlocks &blocks, Int warp,
                                      Int number) {
  Digits digits{k, number};
  int64_t width = 16 / getBytesOf(getSumType(blocks.element));
  Int element = digits.take(width), thread = digits.take(32);
  element = k.add(element, k.mul(digits.take(4 / width), width));
  Int rightTile = digits.take(blocks.right.tiles),
      leftTile = digits.take(blocks.left.tiles);
  Int rightPart = digits.take(blocks.rowsPerChunk),
      leftPart = digits.take(blocks.rowsPerChunk);
  auto [leftWarp, rightWarp, laneWarp] = getBatchWarp(k, blocks, warp);

  Int half = k.floorDiv(element, 2), odd = k.rem(element, 2);
  Int group = k.floorDiv(thread, 4), quad = k.rem(thread, 4);
  Int j = k.add(k.add(group, k.mul(half, 8)), k.mul(leftTile, 16));
  Int column = k.add(k.add(k.mul(quad, 2), odd), k.mul(rightTile, 8));
  auto getRow = [&](const BatchSide &side, Int number, Int chunk, Int part) {
    return k.add(k.mul(number, blocks.getRowsPerWarp(side)),
                 k.add(k.mul(chunk, blocks.rowsPerChunk), part));
  };
  return {getRow(blocks.left, leftWarp, j, leftPart),
          getRow(blocks.right, rightWarp, column, rightPart),
          k.add(k.mul(laneWarp, blocks.lanesPerChunk), digits.rest)};
}

//===----------------------------------------------------------------------===//
// Sums that are not exact
//===----------------------------------------------------------------------===//

Value BatchProduct::isInexact() {
  if (!blocks.element.isF32())
    return nullptr;
  SmallVector<const MmaC *> pointers;
  for (const MmaC &sum : sums)
    pointers.push_back(&sum);
  Value isInexact = products.isAnyNotFinite(pointers);
  if (blocks.has16BitResiduals &&
      !(rows.isConstant() && rows.getConstant() >= kLeastSummed))
    isInexact = arith::OrIOp::create(k.builder, k.loc, isInexact,
                                     k.less(rows, kLeastSummed));
  return isInexact;
}

Value BatchProduct::sumAgain(Int j, Int column, Int t) {
  auto offset = [&](const BatchOperand &operand, Int row) {
    Int feature = k.add(k.mul(row, blocks.lanes), t);
    return k.offsetElements(offsetTile(operand, current), blocks.element,
                            k.mul(k.extend(feature), operand.feature));
  };
  Value fromLeft = offset(left, j), fromRight = offset(right, column);
  SmallVector<Value> sum = k.rolledLoop(
      0, current.rows, 1, ValueRange(ops.zero().re),
      [&](Int row, ValueRange carried) -> SmallVector<Value> {
        auto load = [&](Value base, Int stride) {
          Int at = k.mul(k.extend(row), stride);
          return ops.load(blocks.element,
                          k.offsetElements(base, blocks.element, at),
                          CacheHint::ReadOnly);
        };
        return {ops.fma(load(fromLeft, left.batch),
                        load(fromRight, right.batch),
                        Scalar{carried.front(), nullptr})
                    .re};
      });
  return sum.front();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

namespace {

class BatchStore {
public:
  BatchStore(Lowering &lowering, StoreOp op)
      : lowering(lowering), k(lowering.k), op(op),
        product(*lowering.batches.at(op.getSource())), blocks(product.blocks),
        tile(product.current), output(lowering.views.at(op.getView())),
        ops(k, product.accumulator), alpha(getScale(lowering, op.getAlpha())),
        beta(getScale(lowering, op.getBeta())),
        isInThreadOrder(output.sizes.size() == 2),
        toPieces(op.getView().getType().isContiguous()) {}

  void emit();

private:
  Value isInside(Int j, Int column, Int t);
  Value getPlace(const LoweredView &array, Int j, Int column, Int t);
  Value getWarpSums();
  void storeNeighbours(ArrayRef<Value> values, Int j, Int column, Int t);
  void storeInThreadOrder();
  void storeAll();
  void storeAgain();

  Lowering &lowering;
  KernelBuilder &k;
  StoreOp op;
  BatchProduct &product;
  const BatchBlocks &blocks;
  const BatchTile &tile;
  const LoweredView &output;
  ScalarOps ops;
  KernelScale alpha, beta;
  /// Whether sums go to a piece as threads have them, or to a piece at all.
  bool isInThreadOrder, toPieces;
};

} // namespace

/// Whether a place of the tile exists; null if it always does.
Value BatchStore::isInside(Int j, Int column, Int t) {
  Value inside;
  auto check = [&](Int position, Int start, int64_t size, int64_t extent) {
    if (size % extent != 0)
      inside = k.both(inside, k.less(position, k.sub(size, start)));
  };
  check(j, tile.left, blocks.left.size, blocks.getRows(blocks.left));
  check(column, tile.right, blocks.right.size, blocks.getRows(blocks.right));
  check(t, tile.lane, blocks.lanes, blocks.getLanes());
  return inside;
}

/// The weight, or its sum, at a place of the tile.
Value BatchStore::getPlace(const LoweredView &array, Int j, Int column, Int t) {
  SmallVector<Int> positions{tile.group, tile.left, tile.right, tile.lane};
  if (toPieces)
    positions.insert(positions.begin(), tile.piece);
  Int start = 0;
  for (auto [position, stride] :
       llvm::zip_equal(positions, array.array.strides))
    start = k.add(start, k.mul(k.extend(position), stride));
  Value base = array.offset(k, array.array.base, start);
  Int offset = getTileOffset(k, {j, column, t},
                             {blocks.getRows(blocks.left),
                              blocks.getRows(blocks.right), blocks.getLanes()},
                             ArrayRef(array.array.strides).take_back(3));
  return array.offset(k, base, offset);
}

/// Stores sums that are neighbours, whose first one is at a place of the tile.
void BatchStore::storeNeighbours(ArrayRef<Value> values, Int j, Int column,
                                 Int t) {
  k.ifThen(isInside(j, column, t), [&] {
    Value place = getPlace(output, j, column, t);
    if (toPieces) {
      k.store(values.size() == 1 ? values.front() : k.makeVector(values),
              place);
      return;
    }
    Scalar scaled =
        ops.scaledSum(alpha, beta, Scalar{values.front(), nullptr}, [&] {
          const LoweredView &addend = lowering.views.at(op.getAddend());
          return ops.load(addend.element, getPlace(addend, j, column, t));
        });
    ops.store(scaled, output.element, place);
  });
}

/// Where in the piece this warp's sums are.
Value BatchStore::getWarpSums() {
  Int warp = k.add(k.mul(k.extend(tile.index), blocks.getWarps()),
                   k.extend(k.warpId()));
  return output.offset(k, output.array.base,
                       k.mul(warp, blocks.getSumsPerWarp()));
}

/// Stores whole lines, whether sums exist or not.
void BatchStore::storeInThreadOrder() {
  int64_t width = 16 / getBytesOf(product.accumulator);
  Value place = output.offset(k, getWarpSums(), k.mul(k.laneId(), width));
  int64_t number = 0;
  for (const MmaC &sum : product.sums)
    for (int64_t first = 0; first < 4; first += width)
      k.store(k.makeVector(ValueRange(sum).slice(first, width)),
              output.offset(k, place, 32 * width * number++));
}

void BatchStore::storeAll() {
  if (isInThreadOrder)
    return storeInThreadOrder();
  int64_t width = op.getBytes() / getBytesOf(output.element);
  Int lane = k.mul(product.laneWarp, blocks.lanesPerChunk);
  Int firstLeft = k.mul(product.left.warp, blocks.getRowsPerWarp(blocks.left));
  Int firstRight =
      k.mul(product.right.warp, blocks.getRowsPerWarp(blocks.right));
  // Sums of row `leftPart` of a chunk, half of a tile, in the order of memory.
  auto storeRow = [&](int64_t leftTile, int64_t half, int64_t leftPart,
                      int64_t tileNumber) {
    Int j = k.add(k.mul(k.add(product.group, 16 * leftTile + 8 * half),
                        blocks.rowsPerChunk),
                  leftPart);
    j = k.add(j, firstLeft);
    SmallVector<Value> values;
    Int column, t;
    for (int64_t index = 0; index < 2 * blocks.getParts(); ++index) {
      int64_t part = index % blocks.getParts(), odd = index / blocks.getParts();
      int64_t rightPart = part / blocks.lanesPerChunk;
      int64_t number = part % blocks.lanesPerChunk;
      if (values.empty()) {
        Int chunk = k.add(k.mul(product.quad, 2), 8 * tileNumber + odd);
        column = k.add(k.mul(chunk, blocks.rowsPerChunk), rightPart);
        column = k.add(column, firstRight);
        t = k.add(lane, number);
      }
      values.push_back(BatchProduct::getSum(blocks, product.sums, number,
                                            leftPart, rightPart, leftTile,
                                            tileNumber)[2 * half + odd]);
      if (static_cast<int64_t>(values.size()) < width)
        continue;
      storeNeighbours(values, j, column, t);
      values.clear();
    }
  };
  for (int64_t leftTile = 0; leftTile < blocks.left.tiles; ++leftTile)
    for (int64_t half : {0, 1})
      for (int64_t leftPart = 0; leftPart < blocks.rowsPerChunk; ++leftPart)
        for (int64_t rightTile = 0; rightTile < blocks.right.tiles; ++rightTile)
          storeRow(leftTile, half, leftPart, rightTile);
}

/// Computes the warp's sums again: infinities and NaN do not survive the
/// splitting of values.
void BatchStore::storeAgain() {
  k.rolledLoop(0, blocks.getSumsPerWarp(), 32, [&](Int first) {
    Int number = k.add(first, k.laneId());
    SmallVector<Int> place = locateBatchSum(k, blocks, k.warpId(), number);
    Int j = place[0], column = place[1], t = place[2];
    auto storeSum = [&](Value sum) {
      if (isInThreadOrder)
        k.store(sum, output.offset(k, getWarpSums(), number));
      else
        storeNeighbours(sum, j, column, t);
    };
    auto compute = [&] { storeSum(product.sumAgain(j, column, t)); };
    Value inside = isInside(j, column, t);
    // What adds up the pieces loads all of their sums.
    if (inside && isInThreadOrder)
      k.choose(inside, compute, [&] { storeSum(ops.zero().re); });
    else
      k.ifThen(inside, compute);
  });
}

void BatchStore::emit() {
  Value isInexact = product.isInexact();
  if (!isInexact)
    return storeAll();
  k.choose(
      isInexact, [&] { storeAgain(); }, [&] { storeAll(); });
}

void tile::storeBatch(Lowering &lowering, StoreOp op) {
  BatchStore(lowering, op).emit();
}
