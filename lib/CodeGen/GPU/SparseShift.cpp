//===- SparseShift.cpp - Results of a sparse factor that are shifted ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A group of 463 results starts anywhere, but at the same place of 16 bytes in
// all rows if those are multiples of 16 bytes. Tiles start at the multiple
// before it, so that a thread's chunk is one of memory's; those of long groups
// at a multiple of whole sectors, so that a warp's stores fill these. What a
// tile has of the factor starts as many rows later, and of the chunks at both
// ends of a group parts are stored.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseStores.h"

using namespace mlir;
using namespace mlir::kron;

/// Elements from the last multiple of the plan's unit to the first result of
/// the tile's group.
Int SparseStores::getShift(const SparseTile &tile) {
  int64_t unit = plan.shiftUnit;
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), targets.output.base);
  Int elements = k.floorDiv(
      k.bitAnd(Int(address), unit * plan.elementBytes - 1), plan.elementBytes);
  for (auto [position, stride] :
       llvm::zip(tile.groups, targets.output.groups)) {
    Int rest = stride.isConstant() ? Int(stride.getConstant() % unit)
                                   : k.truncate(stride);
    elements = k.add(elements, k.mul(k.truncate(position), rest));
  }
  return k.bitAnd(elements, unit - 1);
}

/// Stores the first, or the last, `bytes` of a chunk, which are less than 16.
void SparseStores::storeEnd(ArrayRef<Value> words, Value to, Int bytes,
                            bool isFront) {
  auto isSet = [&](int64_t bit) { return k.equal(k.bitAnd(bytes, bit), bit); };
  // Counted from the end that is stored.
  auto getWord = [&](int64_t number) {
    return words[isFront ? number : 3 - number];
  };
  auto store = [&](Value value, Int done, int64_t size) {
    Int place = isFront ? done : k.sub(kSparseChunkBytes - size, done);
    k.store(value, k.offsetBytes(to, place));
  };
  k.ifThen(isSet(8),
           [&] { store(k.makeVector(words.slice(isFront ? 0 : 2, 2)), 0, 8); });
  if (plan.elementBytes > 4)
    return;
  k.ifThen(isSet(4), [&] {
    store(k.select(isSet(8), getWord(2), getWord(0)), k.bitAnd(bytes, 8), 4);
  });
  if (plan.elementBytes > 2)
    return;
  k.ifThen(isSet(2), [&] {
    Value word = k.select(isSet(8), k.select(isSet(4), getWord(3), getWord(2)),
                          k.select(isSet(4), getWord(1), getWord(0)));
    Value pair = k.bitcast(word, VectorType::get({2}, plan.element));
    store(k.extract(pair, isFront ? 0 : 1), k.bitAnd(bytes, 12), 2);
  });
}

/// Stores those of a chunk's elements, of which the first one is number
/// `result` of its group, that the group has.
void SparseStores::storePart(ArrayRef<Value> words, Value to, Int result) {
  int64_t width = plan.getChunk();
  if (plan.sizeN >= width)
    return k.choose(
        k.less(result, 0),
        [&] {
          k.ifThen(k.less(-width, result), [&] {
            Int bytes = k.mul(k.add(result, width), plan.elementBytes);
            storeEnd(words, to, bytes, /*isFront=*/false);
          });
        },
        [&] {
          k.ifThen(k.less(result, plan.sizeN), [&] {
            Int bytes = k.mul(k.sub(plan.sizeN, result), plan.elementBytes);
            storeEnd(words, to, bytes, /*isFront=*/true);
          });
        });
  auto type = VectorType::get({width}, plan.element);
  for (auto [index, value] :
       llvm::enumerate(k.unpack(k.bitcast(k.makeVector(words), type)))) {
    Int own = k.add(result, int64_t(index));
    k.ifThen(k.both(k.less(-1, own), k.less(own, plan.sizeN)),
             [&, index = index, value = value] {
               k.store(value,
                       k.offsetElements(to, plan.element, int64_t(index)));
             });
  }
}

void SparseStores::storeShifted(ArrayRef<MmaC> sums, const SparseTile &tile) {
  int64_t width = plan.getChunk();
  Value base = getBase(targets.output, tile);
  for (const SparseResults &chunk : collectChunks(sums)) {
    SmallVector<Value> finished;
    for (Value value : chunk.values) {
      Scalar sum =
          ops.scaledSum(targets.alpha, targets.beta, {value, nullptr}, nullptr);
      finished.push_back(targets.epilogue.apply(sum, nullptr, nullptr).re);
    }
    SmallVector<Value> words = packWords(finished);
    Value to =
        k.offsetElements(base, plan.element,
                         getOffset(targets.output, chunk.row, chunk.result, 0));
    Int result = k.add(tile.result, chunk.result);
    Value isWhole = k.less(result, plan.sizeN - width + 1);
    // Others of a thread's are behind the first one.
    if (chunk.column == 0)
      isWhole = k.both(isWhole, k.less(-1, result));
    k.ifThen(isRowInside(tile, chunk.row, 1), [&] {
      k.choose(
          isWhole, [&] { storeWords(words, to); },
          [&] { storePart(words, to, result); });
    });
  }
}
