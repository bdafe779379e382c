//===- SparseWideStore.cpp - Wide chunks of a sparse factor's results -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A wide chunk is three times 16 bytes, of which one shares a sector of 32
// bytes with the chunk of the next thread. Threads 2 i and 2 i + 1 therefore
// exchange their middle ones: then each of three stores fills whole sectors.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseStores.h"

using namespace mlir;
using namespace mlir::kron;

void SparseStores::storeWide(ArrayRef<Value> words, const SparseResults &chunk,
                             const SparseTile &tile) {
  int64_t width = words.size() / 3;
  Int parity = k.bitAnd(thread.quad, 1);
  Value isOdd = k.equal(parity, 1);
  SmallVector<Value> stores[3];
  for (int64_t index = 0; index < width; ++index) {
    Value first = words[index], last = words[2 * width + index];
    Value other = k.shuffleXor(words[width + index], 1);
    stores[0].push_back(k.select(isOdd, other, first));
    stores[1].push_back(k.select(isOdd, first, last));
    stores[2].push_back(k.select(isOdd, last, other));
  }
  // The chunks of both threads, of neighbouring results.
  Int even = k.sub(chunk.result, k.mul(parity, plan.chunkK));
  Int results[] = {even, chunk.result, k.add(even, plan.chunkK)};
  Value to =
      k.offsetElements(getBase(targets.output, tile), plan.element,
                       getOffset(targets.output, chunk.row, even, chunk.lane));
  to = k.offsetBytes(to, k.mul(parity, kSparseChunkBytes));
  for (int64_t number : {0, 1, 2})
    k.ifThen(isInside(tile, chunk.row, results[number], chunk.lane), [&] {
      storeWords(stores[number],
                 k.offsetBytes(to, 2 * number * kSparseChunkBytes));
    });
}
