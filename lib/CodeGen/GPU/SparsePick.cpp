//===- SparsePick.cpp - Every second 16-bit value of a factor -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// With the rows innermost, a tile has one of the products t, whose 16-bit
// factor values lie d apart. No asynchronous copy is that narrow, and copies of
// single values take longer than a tile's products. Of two products a thread
// therefore reads the 32 bytes that hold a chunk of each.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseCopies.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

/// Chunks that a thread reads before it writes any.
static constexpr int64_t kUnrolledPicks = 4;

/// The group axis of two products, of which each of a tile's is one, along
/// which 16-bit values of `array`, a factor that is aligned to 16 bytes, are
/// neighbours; -1 if it has none, or K is not beside it.
int64_t SparseCopies::getPickedAxis(const SparseArray &array) const {
  auto isWhole = [&](Int stride) {
    return stride.isConstant() && stride.getConstant() % plan.getAccess() == 0;
  };
  if (!plan.alongRows || !plan.is16BitFloat() || plan.isOf8() ||
      plan.sizeK % plan.getChunk() != 0 || !array.strideK.is(2) ||
      !isWhole(array.row))
    return -1;
  int64_t found = -1;
  for (auto [index, size] : llvm::enumerate(plan.groupSizes)) {
    if (array.groups[index].is(1) && size == 2)
      found = index;
    else if (!isWhole(array.groups[index]))
      return -1;
  }
  return found;
}

void SparseCopies::copyPicked(const SparseCopy &copy, ArrayRef<Int> groups) {
  const SparseArray &array = *copy.array;
  Type i32 = k.builder.getI32Type();
  auto vector = VectorType::get({4}, i32);
  Int product = groups[getPickedAxis(array)];
  Value both = k.offsetElements(copy.from, array.element, k.sub(0, product));
  // Of each of two words, the half that is the tile's.
  Value select = k.select(k.equal(product, 0), k.materialize(0x5410, 32),
                          k.materialize(0x7632, 32));
  auto load = [&](Int row, Int number, Value exists) {
    Int positionK = k.mul(number, plan.getChunk());
    exists = k.both(exists, isBelow(k, row, copy.rowLimit));
    exists = k.both(exists, isBelow(k, positionK, copy.limitK));
    Value from = k.offsetElements(both, array.element,
                                  getTileOffset(k, {row, positionK},
                                                {copy.rows, plan.stepK},
                                                {array.row, array.strideK}));
    return k.orZeros(exists, {vector, vector}, [&]() -> SmallVector<Value> {
      return {k.load(vector, from, CacheHint::ReadOnly),
              k.load(vector, k.offsetBytes(from, kSparseChunkBytes),
                     CacheHint::ReadOnly)};
    });
  };
  auto store = [&](Int row, Int number, ArrayRef<Value> loaded) {
    SmallVector<Value> pairs;
    for (Value words : loaded) {
      SmallVector<Value> word = k.unpack(words);
      for (int64_t index = 0; index < 4; index += 2)
        pairs.push_back(k.inlinePTX({i32}, "prmt.b32 $0, $1, $2, $3;",
                                    "=r,r,r,r",
                                    {word[index], word[index + 1], select},
                                    /*hasSideEffects=*/false)
                            .front());
    }
    k.store(k.makeVector(pairs),
            getChunk(copy.to, row, number, /*isFactor=*/true));
  };
  moveChunks(copy, kUnrolledPicks, load, store);
}
