//===- MmaItems.cpp - What all items of a step have in common -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MmaItems.h"

using namespace mlir;
using namespace mlir::kron;

MmaKernel::Items::Items(MmaKernel &mma, const StepArrays &arrays)
    : mma(mma), kernel(mma.kernel), products(mma.products), arrays(arrays),
      step(arrays.step), from(mma.getSource(step, arrays.from)) {
  exact = from.type != mma.plan.type;
}

void MmaKernel::Items::enter(ArrayRef<Int> itemPositions) {
  positions.assign(itemPositions.begin(), itemPositions.end());
  // A piece starts at its own first position.
  from = mma.getSource(step, arrays.from);
  origin = mma.getSourcePositions(step, positions);
  own = mma.getOffset(from, origin, 0);
}

SmallVector<Value> MmaKernel::Items::getZeros(ArrayRef<MmaC> sums) {
  return SmallVector<Value>(4 * sums.size(), products.getZero());
}

int64_t MmaKernel::Items::countTiles(ArrayRef<MmaColumnGroup> groups) {
  int64_t tiles = 0;
  for (const MmaColumnGroup &group : groups)
    tiles += group.pair;
  return tiles;
}

void MmaKernel::Items::addTerm(
    MutableArrayRef<Value> sums, ArrayRef<Value> values,
    ArrayRef<MmaColumnGroup> groups,
    function_ref<Value(const MmaColumnGroup &, Int)> getWeight) {
  int64_t tiles = countTiles(groups), tile = 0;
  for (const MmaColumnGroup &group : groups)
    for (int64_t number = 0; number < group.pair; ++number, ++tile)
      for (unsigned half : {0, 1}) {
        Int column = kernel.add(kernel.mul(mma.laneSlot, 2 * group.pair),
                                group.first + half * group.pair + number);
        Value weight = getWeight(group, column);
        for (auto [row, value] : llvm::enumerate(values)) {
          Value &sum =
              sums[4 * ((row / 2) * tiles + tile) + 2 * (row % 2) + half];
          sum = kernel.fma(value, weight, sum);
        }
      }
}

void MmaKernel::Items::loadGroup(MutableArrayRef<MmaB> tiles, unsigned slot,
                                 const MmaBuffer &part, Int lane, int64_t index,
                                 Value exists,
                                 function_ref<Value(int64_t)> getValid) {
  Value inside = kernel.both(exists, getValid(0));
  SmallVector<Value> values =
      mma.loadShared(part, lane, index, tiles.size(), inside, own);
  for (auto [number, value] : llvm::enumerate(values)) {
    // The first one is zero already.
    if (number > 0)
      if (Value valid = getValid(number))
        value = kernel.select(valid, value, products.getZero());
    tiles[number][slot] = products.getOperand(value, exact);
  }
}

SmallVector<MmaKernel::Results>
MmaKernel::Items::collectResults(ArrayRef<MmaC> sums,
                                 ArrayRef<MmaColumnGroup> groups,
                                 unsigned rowDim) const {
  unsigned last = mma.plan.dims.size() - 1;
  SmallVector<Results> results;
  for (int64_t row = 0; !sums.empty(); row += 16)
    for (MmaColumnGroup group : groups) {
      Results result{SmallVector<int64_t>(last + 1, 0), group.pair, {}};
      result.offset[rowDim] = row;
      result.offset[last] = group.first;
      for (const MmaC &sum : sums.take_front(group.pair))
        result.tiles.push_back(&sum);
      sums = sums.drop_front(group.pair);
      results.push_back(result);
    }
  return results;
}
