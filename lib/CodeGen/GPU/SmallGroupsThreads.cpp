//===- SmallGroupsThreads.cpp - Small groups by multiply-adds -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SmallGroups.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class ThreadsKernel : public SmallGroupsKernel {
public:
  using SmallGroupsKernel::SmallGroupsKernel;

private:
  void emitBlock(Int block, Int firstRows, Int rowGroups) override;
  void emitThread(Int firstRows, Int rowGroups);
  void findGroups();
  SmallVector<Value> loadWeights();
  SmallVector<Value> loadInputs(Int row);
  Value getOwnInput(ArrayRef<Value> inputs, int64_t place, int64_t positionK);
  Int getRow(Int rowBlock, int64_t number);

  /// This thread's chunk of a row and its place among rows beside each other;
  /// the group of the chunk's first result.
  Int chunk, rowBeside, group;
  /// For each result whether it belongs to the group after that or a later one,
  /// to the second one or a later one, ... (null: it does).
  SmallVector<SmallVector<Value>> isLater;
};

} // namespace

/// Finds out which groups the results of the chunk belong to.
void ThreadsKernel::findGroups() {
  Int first = k.mul(chunk, plan.chunk);
  group = k.floorDiv(first, plan.sizeN);
  isLater.assign(plan.chunk, {});
  if (plan.isRegular)
    return;
  Int result = k.rem(first, plan.sizeN);
  for (int64_t place = 0; place < plan.chunk; ++place)
    for (int64_t number = 1; number < plan.span; ++number) {
      // The smallest number of the first result with which that is so.
      int64_t least = number * plan.sizeN - place;
      isLater[place].push_back(least <= 0 ? nullptr
                                          : k.less(least - 1, result));
    }
}

/// The weights of the chunk: those of a result after those of the one before.
SmallVector<Value> ThreadsKernel::loadWeights() {
  Type element = plan.element;
  SmallVector<Value> weights;
  int64_t count = plan.chunk * plan.sizeK;
  auto load = [&](Type type, Value base, Int offset) {
    weights.push_back(k.load(type, k.offsetElements(base, element, offset),
                             CacheHint::ReadOnly));
  };
  if (plan.hasWeightSegments) {
    Value from = k.offsetElements(factor.base, element, k.mul(chunk, count));
    for (int64_t first = 0; first < count; first += plan.chunk)
      load(VectorType::get({plan.chunk}, element), from, first);
    return widen(weights);
  }
  for (int64_t place = 0; place < plan.chunk; ++place) {
    Int column = k.add(k.mul(chunk, plan.chunk), place);
    Int offset =
        k.add(k.mul(k.extend(k.floorDiv(column, plan.sizeN)), groupStride),
              k.mul(k.extend(k.rem(column, plan.sizeN)), factor.resultStride));
    Value from = k.offsetElements(factor.base, element, offset);
    for (int64_t positionK = 0; positionK < plan.sizeK; ++positionK)
      load(element, from, k.mul(positionK, factor.strideK));
  }
  return widen(weights);
}

/// What the chunk needs of row number `row`, as it was loaded.
SmallVector<Value> ThreadsKernel::loadInputs(Int row) {
  Type element = plan.element;
  Type type =
      plan.piece == 1 ? element : VectorType::get({plan.piece}, element);
  Value from = getInputRow(row);
  SmallVector<Value> loaded;
  int64_t segment = plan.getRun();
  for (int64_t number = 0; number < plan.getInputs() / segment; ++number) {
    // There may be no such group behind the last one.
    Int own = k.add(group, number);
    if (number > 0)
      own = k.min(own, plan.groups - 1);
    Value start = k.offsetElements(from, element, k.mul(own, plan.sizeK));
    for (int64_t place = 0; place < segment; place += plan.piece)
      loaded.push_back(k.load(type, k.offsetElements(start, element, place),
                              CacheHint::ReadOnly));
  }
  return loaded;
}

/// Element `positionK` of the group that result number `place` of the chunk
/// belongs to.
Value ThreadsKernel::getOwnInput(ArrayRef<Value> inputs, int64_t place,
                                 int64_t positionK) {
  if (plan.isRegular) {
    int64_t number = plan.span == 1 ? 0 : place / plan.sizeN;
    return inputs[number * plan.sizeK + positionK];
  }
  Value own = inputs[positionK];
  for (int64_t number = 1; number < plan.span; ++number) {
    Value other = inputs[number * plan.sizeK + positionK];
    Value condition = isLater[place][number - 1];
    own = condition ? k.select(condition, other, own) : other;
  }
  return own;
}

/// Row number `number` that this thread takes of block number `rowBlock`.
Int ThreadsKernel::getRow(Int rowBlock, int64_t number) {
  return k.add(k.mul(rowBlock, plan.getRows()),
               k.add(rowBeside, number * plan.getRowsBeside()));
}

/// What the next rows need is on its way while those before are multiplied.
void ThreadsKernel::emitThread(Int firstRows, Int rowGroups) {
  findGroups();
  SmallVector<Value> weights = loadWeights();
  auto load = [&](Int rowBlock) {
    SmallVector<Value> loaded;
    for (int64_t number = 0; number < plan.rowsAtOnce; ++number)
      llvm::append_range(loaded, loadInputs(getRow(rowBlock, number)));
    return loaded;
  };
  auto multiply = [&](ArrayRef<Value> inputs) {
    SmallVector<Value> sums;
    for (int64_t place = 0; place < plan.chunk; ++place) {
      Value sum = k.constant(accumulator, 0);
      for (int64_t positionK = 0; positionK < plan.sizeK; ++positionK)
        sum = k.fma(getOwnInput(inputs, place, positionK),
                    weights[place * plan.sizeK + positionK], sum);
      sums.push_back(sum);
    }
    return sums;
  };
  k.rolledLoop(
      firstRows, getRowBlocks(), rowGroups, load(firstRows),
      [&](Int rowBlock, ValueRange carried) {
        SmallVector<Value> next = load(k.add(rowBlock, rowGroups));
        SmallVector<Value> loaded(carried);
        int64_t perRow = loaded.size() / plan.rowsAtOnce;
        for (int64_t number = 0; number < plan.rowsAtOnce; ++number) {
          SmallVector<Value> sums =
              multiply(widen(ArrayRef(loaded).slice(number * perRow, perRow)));
          Int row = getRow(rowBlock, number);
          k.ifThen(k.less(row, rows), [&] {
            storeChunk(sums, k.offsetElements(getOutputRow(row), plan.element,
                                              k.mul(chunk, plan.chunk)));
          });
        }
        return next;
      });
}

void ThreadsKernel::emitBlock(Int block, Int firstRows, Int rowGroups) {
  Int thread = k.threadId(), first = k.mul(block, plan.blockChunks);
  rowBeside = 0;
  chunk = k.add(first, thread);
  if (plan.getRowsBeside() > 1) {
    rowBeside = k.floorDiv(thread, plan.blockChunks);
    chunk = k.add(first, k.rem(thread, plan.blockChunks));
  }
  Value exists;
  int64_t busy = plan.getRowsBeside() * plan.blockChunks;
  if (busy != plan.threads)
    exists = k.less(thread, busy);
  if (plan.getChunks() % plan.blockChunks != 0)
    exists = k.both(exists, k.less(chunk, plan.getChunks()));
  k.ifThen(exists, [&] { emitThread(firstRows, rowGroups); });
}

std::unique_ptr<SmallGroupsKernel>
kron::createSmallGroupsOfThreads(KernelBuilder &kernel, FusedOp fused,
                                 const SmallGroupsPlan &plan) {
  return std::make_unique<ThreadsKernel>(kernel, fused, plan);
}
