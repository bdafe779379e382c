//===- SmallGroupsWarps.cpp - Small groups by matrix instructions ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A warp takes tiles of 16 rows with results of one group, by mma.m16n8k16.
// Lane (g, q) = (lane / 4, lane % 4) holds k 4 q to 4 q + 3 of both operands,
// which are 8 bytes of memory, and chunk 4 x + q of the results of rows g and
// g + 8.
//
//===----------------------------------------------------------------------===//

#include "SmallGroups.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows of a tile, positions on K of a lane, and tiles of results that have a
/// chunk for each lane.
static constexpr int64_t kTileRows = 16, kLaneK = 4, kChunkTiles = 4;

namespace {

class WarpsKernel : public SmallGroupsKernel {
public:
  using SmallGroupsKernel::SmallGroupsKernel;

private:
  void emitBlock(Int block, Int firstRows, Int rowGroups) override;
  void emitWarp(Int firstRows, Int rowGroups);
  SmallVector<Value> loadPairs(Value from, Value exists);
  SmallVector<Value> loadWeights();
  SmallVector<Value> loadInputs(Int rowBlock);
  void multiply(ValueRange inputs, ArrayRef<Value> weights, Int rowBlock);
  Int getRow(Int rowBlock, int64_t number);

  /// This lane's place.
  Int row, quad;
  /// This warp's group and the first one of its results.
  Int group, result;
  /// Whether the positions on K that the lane holds exist; null if they always
  /// do.
  Value hasK;
};

} // namespace

/// Two words of 4 16-bit values; zeros where they do not exist.
SmallVector<Value> WarpsKernel::loadPairs(Value from, Value exists) {
  Type i32 = k.builder.getI32Type();
  auto type = VectorType::get({2}, i32);
  auto load = [&]() -> SmallVector<Value> {
    return k.unpack(k.load(type, from, CacheHint::ReadOnly));
  };
  Value zero = k.zero(i32);
  return k.ifElse(exists, {i32, i32}, load,
                  [&]() -> SmallVector<Value> { return {zero, zero}; });
}

/// Operands B of the warp's tiles. Column n of tile 4 x + i is result 32 x +
/// (n / 2) 8 + 2 i + n % 2, so that those of a lane's sums follow each other.
SmallVector<Value> WarpsKernel::loadWeights() {
  SmallVector<Value> weights;
  Int column = k.add(k.mul(k.floorDiv(row, 2), plan.chunk), k.rem(row, 2));
  for (int64_t tile = 0; tile < plan.resultTiles; ++tile) {
    Int own = k.add(result, k.add(column, tile / kChunkTiles * 32 +
                                              tile % kChunkTiles * 2));
    Int offset = k.add(
        k.mul(k.extend(group), groupStride),
        k.add(k.mul(k.extend(own), factor.resultStride), k.mul(quad, kLaneK)));
    Value exists = k.both(k.less(own, plan.sizeN), hasK);
    llvm::append_range(
        weights,
        loadPairs(k.offsetElements(factor.base, plan.element, offset), exists));
  }
  return weights;
}

Int WarpsKernel::getRow(Int rowBlock, int64_t number) {
  return k.add(k.add(k.mul(rowBlock, plan.getRows()), row),
               number * kTileRows / 2);
}

/// Operands A of a block of rows: for each tile the words of row g, then those
/// of g + 8.
SmallVector<Value> WarpsKernel::loadInputs(Int rowBlock) {
  SmallVector<Value> words;
  Int place = k.add(k.mul(group, plan.sizeK), k.mul(quad, kLaneK));
  for (int64_t number = 0; number < 2 * plan.rowsAtOnce; ++number)
    llvm::append_range(
        words, loadPairs(k.offsetElements(getInputRow(getRow(rowBlock, number)),
                                          plan.element, place),
                         hasK));
  return words;
}

/// Multiplies and stores a block of rows.
void WarpsKernel::multiply(ValueRange inputs, ArrayRef<Value> weights,
                           Int rowBlock) {
  Value zero = k.constant(accumulator, 0);
  for (int64_t tile = 0; tile < plan.rowsAtOnce; ++tile) {
    ValueRange words = inputs.slice(4 * tile, 4);
    // Words of rows g and g + 8 alternate in an operand.
    Value a[] = {words[0], words[2], words[1], words[3]};
    for (int64_t first = 0; first < plan.resultTiles; first += kChunkTiles) {
      SmallVector<Value> sums[2];
      for (int64_t number = first; number < first + kChunkTiles; ++number) {
        SmallVector<Value> tileSums =
            k.mmaHalf(a, weights.slice(2 * number, 2), {zero, zero, zero, zero},
                      plan.element.isBF16());
        for (int64_t half = 0; half < 2; ++half)
          sums[half].append({tileSums[2 * half], tileSums[2 * half + 1]});
      }
      Int own = k.add(result, k.add(k.mul(quad, plan.chunk), first * 8));
      Value isResult = k.less(own, plan.sizeN);
      Int column = k.add(k.mul(group, plan.sizeN), own);
      for (int64_t half = 0; half < 2; ++half) {
        Int to = getRow(rowBlock, 2 * tile + half);
        k.ifThen(k.both(isResult, k.less(to, rows)), [&] {
          storeChunk(sums[half],
                     k.offsetElements(getOutputRow(to), plan.element, column));
        });
      }
    }
  }
}

/// What the next rows need is on its way while those before are multiplied.
void WarpsKernel::emitWarp(Int firstRows, Int rowGroups) {
  SmallVector<Value> weights = loadWeights();
  k.rolledLoop(firstRows, getRowBlocks(), rowGroups, loadInputs(firstRows),
               [&](Int rowBlock, ValueRange carried) {
                 SmallVector<Value> next =
                     loadInputs(k.add(rowBlock, rowGroups));
                 multiply(carried, weights, rowBlock);
                 return next;
               });
}

void WarpsKernel::emitBlock(Int block, Int firstRows, Int rowGroups) {
  row = k.floorDiv(k.laneId(), 4);
  quad = k.bitAnd(k.laneId(), 3);
  if (plan.sizeK < 4 * kLaneK)
    hasK = k.less(quad, plan.sizeK / kLaneK);
  int64_t blocks = plan.getResultBlocks();
  Int part = k.add(k.mul(block, plan.threads / 32), k.warpId());
  group = k.floorDiv(part, blocks);
  result = k.mul(k.rem(part, blocks), 8 * plan.resultTiles);
  // Warps stay together in matrix instructions.
  k.ifThen(k.less(group, plan.groups), [&] { emitWarp(firstRows, rowGroups); });
}

std::unique_ptr<SmallGroupsKernel>
kron::createSmallGroupsOfWarps(KernelBuilder &kernel, FusedOp fused,
                               const SmallGroupsPlan &plan) {
  return std::make_unique<WarpsKernel>(kernel, fused, plan);
}
