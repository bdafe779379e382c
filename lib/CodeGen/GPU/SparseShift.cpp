//===- SparseShift.cpp - Results of a sparse factor that are shifted ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A group of 463 results starts anywhere, but at the same place of 16 bytes in
// all rows if those are multiples of 16 bytes. A thread's chunk then lies across
// two of memory's: it gives what is in the first of them to the thread before
// it and takes from the one behind it what is in the second, so that stores are
// of 16 bytes still. Chunks at the ends of a warp's results are stored in parts.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"

using namespace mlir;
using namespace mlir::kron;

bool SparseKernel::canShiftChunks() const {
  int64_t chunk = plan.getChunk();
  return plan.order == SparseOrder::Chunks && !plan.storesAlongRows() &&
         plan.lanes == 1 && plan.depthPerChunk == chunk &&
         plan.getResultWords() == 4 && output.depth.is(1) &&
         output.row.isConstant() && output.row.getConstant() % chunk == 0 &&
         !beta.value && !epilogue.hasBias && !epilogue.hasResidual;
}

namespace {
/// Takes 16 bytes out of two times 16 bytes, a number of elements behind their
/// start that is only known at run time.
class ChunkShift {
public:
  ChunkShift(KernelBuilder &kernel, Int elements, int64_t elementBytes)
      : k(kernel), isHalf(elementBytes == 2) {
    Int bytes = k.mul(elements, elementBytes);
    bySingle = k.equal(k.bitAnd(bytes, 4), 4);
    byDouble = k.equal(k.bitAnd(bytes, 8), 8);
    if (isHalf)
      selector = k.select(k.equal(k.bitAnd(bytes, 2), 2),
                          k.materialize(0x5432, 32), k.materialize(0x3210, 32));
  }

  SmallVector<Value> apply(ArrayRef<Value> first, ArrayRef<Value> second) {
    SmallVector<Value> words(first);
    llvm::append_range(words, second);
    words = move(words, byDouble, 2);
    words = move(words, bySingle, 1);
    Type i32 = k.builder.getI32Type();
    for (int64_t index = 0; isHalf && index < 4; ++index)
      words[index] =
          k.inlinePTX({i32}, "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r",
                      {words[index], words[index + 1], selector},
                      /*hasSideEffects=*/false)
              .front();
    words.truncate(4);
    return words;
  }

private:
  SmallVector<Value> move(ArrayRef<Value> words, Value condition,
                          int64_t distance) {
    SmallVector<Value> moved;
    for (auto [near, far] : llvm::zip(words, words.drop_front(distance)))
      moved.push_back(k.select(condition, far, near));
    return moved;
  }

  KernelBuilder &k;
  bool isHalf;
  Value bySingle, byDouble, selector;
};
} // namespace

/// Stores those of a chunk's elements that are at positions before `end`;
/// element 0 is at `position`.
void SparseKernel::storePart(ArrayRef<Value> words, Value to, Int position,
                             Int end) {
  auto type = VectorType::get({plan.getChunk()}, plan.element);
  for (auto [index, value] :
       llvm::enumerate(k.unpack(k.bitcast(k.makeVector(words), type))))
    k.ifThen(k.less(k.add(position, index), end),
             [&, index = index, value = value] {
               k.store(value, k.offsetElements(to, plan.element, index));
             });
}

void SparseKernel::storeShifted(ArrayRef<MmaC> sums, const SparseTile &tile) {
  int64_t width = plan.getChunk();
  SmallVector<SparseResults> all = collectChunks(sums);
  int64_t perRow = 2 * plan.resultTiles / width;
  Int firstResult = k.mul(resultWarp, plan.getResultsPerWarp());
  Value start =
      k.offsetElements(getBase(output, tile), plan.element, firstResult);
  // Elements before the first place that is aligned, and behind the last one.
  Value address = LLVM::PtrToIntOp::create(k.builder, k.loc,
                                           k.builder.getI32Type(), start);
  Int before =
      k.floorDiv(k.bitAnd(k.sub(0, Int(address)), kSparseChunkBytes - 1),
                 plan.elementBytes);
  Int end = plan.getResultsPerWarp();
  if (plan.results % plan.getResults() != 0) {
    Int left = k.sub(k.sub(plan.results, tile.result), firstResult);
    Value number = k.materialize(left);
    end = Int(k.select(
        k.less(left, end), number,
        k.materialize(end, number.getType().getIntOrFloatBitWidth())));
  }
  ChunkShift shift(k, before, plan.elementBytes);
  Value isFirst = k.equal(quad, 0);
  Int behind = k.bitOr(k.bitAnd(k.laneId(), 28), k.bitAnd(k.add(quad, 1), 3));

  ArrayRef<SparseResults> rest(all);
  for (; !rest.empty(); rest = rest.drop_front(perRow)) {
    SmallVector<SmallVector<Value>> own;
    for (const SparseResults &chunk : rest.take_front(perRow)) {
      SmallVector<Value> finished;
      for (Value value : chunk.values) {
        Scalar sum = ops.scaledSum(alpha, beta, {value, nullptr}, nullptr);
        finished.push_back(epilogue.apply(sum, nullptr, nullptr).re);
      }
      own.push_back(packWords(finished));
    }
    Int row = rest.front().row;
    Value rowStart = k.offsetElements(start, plan.element,
                                      getOffset(output, row, 0, 0));
    Value isRowInside = this->isRowInside(tile, row, 1);
    for (int64_t number = 0; number < perRow; ++number) {
      SmallVector<Value> other;
      for (auto [index, word] : llvm::enumerate(own[number])) {
        // What the first thread of four gives is the next chunk of the last.
        Value given = number + 1 < perRow
                          ? k.select(isFirst, own[number + 1][index], word)
                          : word;
        other.push_back(k.shuffle(given, behind));
      }
      SmallVector<Value> words = shift.apply(own[number], other);
      Int position = k.add(k.add(k.mul(quad, width), 4 * width * number),
                           before);
      Value to = k.offsetElements(rowStart, plan.element, position);
      k.ifThen(isRowInside, [&] {
        k.choose(
            k.less(k.add(position, width - 1), end),
            [&] { storeWords(words, to); },
            [&] { storePart(words, to, position, end); });
      });
    }
    k.ifThen(k.both(isRowInside, isFirst), [&] {
      Int head = k.min(before, end);
      storePart(own.front(), rowStart, 0, head);
    });
  }
}
