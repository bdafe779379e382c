//===- SparseGradStore.cpp - Sums of a gradient's kernel ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparseGradKernel.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether a place of the tile exists; null if it always does.
Value SparseGradKernel::isInside(const SparseGradTile &tile, Int j, Int column,
                                 Int t) {
  Value inside;
  auto check = [&](Int position, Int start, int64_t size, int64_t extent) {
    if (size % extent != 0)
      inside = k.both(inside, k.less(position, k.sub(size, start)));
  };
  check(j, tile.left, plan.left.size, plan.getRows(plan.left));
  check(column, tile.right, plan.right.size, plan.getRows(plan.right));
  check(t, tile.lane, plan.lanes, plan.getLanes());
  return inside;
}

/// The weight, or its sum, at a place of the tile.
Value SparseGradKernel::getPlace(const SparseGradTarget &array,
                                 const SparseGradTile &tile, Int j, Int column,
                                 Int t) {
  Int start = 0;
  if (pieces.sums)
    start = k.mul(k.extend(tile.piece), plan.getWeights());
  for (auto [position, stride] :
       llvm::zip(SmallVector<Int>{tile.group, tile.left, tile.right, tile.lane},
                 array.strides))
    start = k.add(start, k.mul(k.extend(position), stride));
  Value base = k.offsetElements(array.base, array.element, start);
  Int offset = getTileOffset(
      k, {j, column, t},
      {plan.getRows(plan.left), plan.getRows(plan.right), plan.getLanes()},
      ArrayRef(array.strides).drop_front());
  return k.offsetElements(base, array.element, offset);
}

/// Sums that are stored at a time: neighbours in the workspace, of which a
/// thread has several.
int64_t SparseGradKernel::getStoreWidth() const {
  if (!pieces.sums)
    return 1;
  bool isSegment = plan.lanes == plan.lanesPerChunk;
  int64_t segment = isSegment ? 2 * plan.getParts() : plan.lanesPerChunk;
  int64_t width = std::min<int64_t>(segment, 16 / getElementBytes(accumulator));
  int64_t row = plan.right.size * plan.lanes;
  // Nor may one reach beyond the last column.
  while (row % width != 0)
    width /= 2;
  return width;
}

/// Stores sums that are neighbours, whose first one is at a place of the tile.
void SparseGradKernel::storeNeighbours(ArrayRef<Value> sums,
                                       const SparseGradTile &tile, Int j,
                                       Int column, Int t) {
  k.ifThen(isInside(tile, j, column, t), [&] {
    Value place = getPlace(output, tile, j, column, t);
    if (pieces.sums) {
      k.store(sums.size() == 1 ? sums.front() : k.makeVector(sums), place);
      return;
    }
    Scalar scaled =
        ops.scaledSum(alpha, beta, Scalar{sums.front(), nullptr}, [&] {
          return ops.load(plan.element, getPlace(addend, tile, j, column, t));
        });
    ops.store(scaled, plan.element, place);
  });
}

std::tuple<Int, Int, Int> kron::getSparseGradWarp(KernelBuilder &k,
                                                  const SparseGradPlan &plan,
                                                  Int warp) {
  Int lane = k.rem(warp, plan.laneWarps);
  warp = k.floorDiv(warp, plan.laneWarps);
  return {k.floorDiv(warp, plan.right.warps), k.rem(warp, plan.right.warps),
          lane};
}

SmallVector<Int> kron::locateSparseGradSum(KernelBuilder &k,
                                           const SparseGradPlan &plan, Int warp,
                                           Int number) {
  Int rest = number;
  auto take = [&](int64_t count) {
    Int position = k.rem(rest, count);
    rest = k.floorDiv(rest, count);
    return position;
  };
  int64_t width = 16 / getElementBytes(getAccumulatorType(plan.element));
  Int element = take(width), thread = take(32);
  element = k.add(element, k.mul(take(4 / width), width));
  Int rightTile = take(plan.right.tiles), leftTile = take(plan.left.tiles);
  Int rightPart = take(plan.rowsPerChunk), leftPart = take(plan.rowsPerChunk);
  auto [leftWarp, rightWarp, laneWarp] = getSparseGradWarp(k, plan, warp);

  Int half = k.floorDiv(element, 2), odd = k.rem(element, 2);
  Int group = k.floorDiv(thread, 4), quad = k.rem(thread, 4);
  Int j = k.add(k.add(group, k.mul(half, 8)), k.mul(leftTile, 16));
  Int column = k.add(k.add(k.mul(quad, 2), odd), k.mul(rightTile, 8));
  auto getRow = [&](const SparseGradSide &side, Int number, Int chunk,
                    Int part) {
    return k.add(k.mul(number, plan.getRowsPerWarp(side)),
                 k.add(k.mul(chunk, plan.rowsPerChunk), part));
  };
  return {getRow(plan.left, leftWarp, j, leftPart),
          getRow(plan.right, rightWarp, column, rightPart),
          k.add(k.mul(laneWarp, plan.lanesPerChunk), rest)};
}

/// Where in the workspace this warp's sums are.
Value SparseGradKernel::getWarpSums(const SparseGradTile &tile) {
  Int warp =
      k.add(k.mul(k.extend(tile.index), plan.getWarps()), k.extend(k.warpId()));
  return k.offsetElements(output.base, accumulator,
                          k.mul(warp, plan.getSumsPerWarp()));
}

/// Stores whole lines, whether sums exist or not.
void SparseGradKernel::storeInThreadOrder(ArrayRef<MmaC> sums,
                                          const SparseGradTile &tile) {
  int64_t width = 16 / getElementBytes(accumulator);
  Value place = k.offsetElements(getWarpSums(tile), accumulator,
                                 k.mul(k.laneId(), width));
  int64_t number = 0;
  for (const MmaC &sum : sums)
    for (int64_t first = 0; first < 4; first += width)
      k.store(k.makeVector(ValueRange(sum).slice(first, width)),
              k.offsetElements(place, accumulator, 32 * width * number++));
}

void SparseGradKernel::storeAll(ArrayRef<MmaC> all,
                                const SparseGradTile &tile) {
  if (pieces.sums && plan.hasThreadOrder())
    return storeInThreadOrder(all, tile);
  SmallVector<MmaC> copy(all);
  int64_t width = getStoreWidth();
  Int lane = k.mul(laneWarp, plan.lanesPerChunk);
  Int firstLeft = k.mul(left.warp, plan.getRowsPerWarp(plan.left));
  Int firstRight = k.mul(right.warp, plan.getRowsPerWarp(plan.right));
  // Sums of row `leftPart` of a chunk, half of a tile, in the order of memory.
  auto storeRow = [&](int64_t leftTile, int64_t half, int64_t leftPart,
                      int64_t tileNumber) {
    Int j =
        k.add(k.mul(k.add(group, 16 * leftTile + 8 * half), plan.rowsPerChunk),
              leftPart);
    j = k.add(j, firstLeft);
    SmallVector<Value> values;
    Int column, t;
    for (int64_t index = 0; index < 2 * plan.getParts(); ++index) {
      int64_t part = index % plan.getParts(), odd = index / plan.getParts();
      int64_t rightPart = part / plan.lanesPerChunk;
      int64_t number = part % plan.lanesPerChunk;
      if (values.empty()) {
        Int chunk = k.add(k.mul(quad, 2), 8 * tileNumber + odd);
        column = k.add(k.mul(chunk, plan.rowsPerChunk), rightPart);
        column = k.add(column, firstRight);
        t = k.add(lane, number);
      }
      values.push_back(getSum(copy, number, leftPart, rightPart, leftTile,
                              tileNumber)[2 * half + odd]);
      if (static_cast<int64_t>(values.size()) < width)
        continue;
      storeNeighbours(values, tile, j, column, t);
      values.clear();
    }
  };
  for (int64_t leftTile = 0; leftTile < plan.left.tiles; ++leftTile)
    for (int64_t half : {0, 1})
      for (int64_t leftPart = 0; leftPart < plan.rowsPerChunk; ++leftPart)
        for (int64_t rightTile = 0; rightTile < plan.right.tiles; ++rightTile)
          storeRow(leftTile, half, leftPart, rightTile);
}

/// Computes the warp's sums with plain multiply-adds, an element at a time:
/// infinities and NaN do not survive the splitting of values.
void SparseGradKernel::computeAgain(const SparseGradTile &tile) {
  bool inThreadOrder = pieces.sums && plan.hasThreadOrder();
  Value leftBase = offsetTile(left, tile), rightBase = offsetTile(right, tile);
  k.rolledLoop(0, plan.getSumsPerWarp(), 32, [&](Int first) {
    Int number = k.add(first, k.laneId());
    SmallVector<Int> place = locateSparseGradSum(k, plan, k.warpId(), number);
    Int j = place[0], column = place[1], t = place[2];
    auto storeSum = [&](Value sum) {
      if (inThreadOrder)
        k.store(sum, k.offsetElements(getWarpSums(tile), accumulator, number));
      else
        storeNeighbours(sum, tile, j, column, t);
    };
    auto compute = [&] {
      auto offset = [&](const SparseGradOperand &operand, Value base, Int row) {
        Int feature = k.add(k.mul(row, plan.lanes), t);
        return k.offsetElements(base, plan.element,
                                k.mul(k.extend(feature), operand.feature));
      };
      Value fromLeft = offset(left, leftBase, j);
      Value fromRight = offset(right, rightBase, column);
      SmallVector<Value> sum = k.rolledLoop(
          0, tile.rows, 1, ValueRange(ops.zero().re),
          [&](Int row, ValueRange carried) -> SmallVector<Value> {
            auto load = [&](Value base, Int stride) {
              Int at = k.mul(k.extend(row), stride);
              return ops.load(plan.element,
                              k.offsetElements(base, plan.element, at),
                              CacheHint::ReadOnly);
            };
            return {ops.fma(load(fromLeft, left.batch),
                            load(fromRight, right.batch),
                            Scalar{carried.front(), nullptr})
                        .re};
          });
      storeSum(sum.front());
    };
    Value inside = isInside(tile, j, column, t);
    // The kernel that adds up the pieces loads all sums of the workspace.
    if (inside && inThreadOrder)
      k.choose(inside, compute, [&] { storeSum(ops.zero().re); });
    else
      k.ifThen(inside, compute);
  });
}

void SparseGradKernel::store(ArrayRef<MmaC> sums, const SparseGradTile &tile) {
  if (!plan.element.isF32())
    return storeAll(sums, tile);
  SmallVector<const MmaC *> pointers;
  for (const MmaC &sum : sums)
    pointers.push_back(&sum);
  Value isInexact = products.isAnyNotFinite(pointers);
  if (plan.has16BitResiduals &&
      !(rows.isConstant() && rows.getConstant() >= kLeastSummed))
    isInexact = arith::OrIOp::create(k.builder, k.loc, isInexact,
                                     k.less(rows, kLeastSummed));
  k.choose(
      isInexact, [&] { computeAgain(tile); }, [&] { storeAll(sums, tile); });
}
