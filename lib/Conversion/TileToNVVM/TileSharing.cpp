//===- TileSharing.cpp - How threads share the positions of a tile --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Positions of a thread that a loop takes per turn.
static constexpr int64_t kLoopPositions = 8;
/// Rows of more elements than these take whole warps.
static constexpr int64_t kShortRow = 16;
/// Of so many threads, one may have no position.
static constexpr int64_t kMostIdle = 7;
static constexpr int64_t kWarpThreads = 32;

int64_t TileSharing::countPositions(ArrayRef<unsigned> dims) const {
  int64_t count = 1;
  for (unsigned dim : dims)
    count *= sizes[dim];
  return count;
}

Positions TileSharing::decode(Int number, ArrayRef<unsigned> dims) {
  return decodeItem(k, number, sizes, llvm::to_vector(llvm::reverse(dims)));
}

void TileSharing::round() {
  areRowsWhole = counts.back() > kShortRow;
  if (areRowsWhole)
    counts.back() = llvm::alignTo(counts.back(), kWarpThreads);
  int64_t perRound = threads;
  for (int64_t &count : llvm::reverse(counts)) {
    int64_t padded = llvm::alignTo(count, perRound);
    if (padded * (kMostIdle - 1) <= count * kMostIdle)
      count = padded;
    perRound = perRound % count == 0 ? perRound / count : 1;
  }
}

/// Quotient and remainder, keeping what is known apart where that is possible.
std::pair<TileSharing::Linear, TileSharing::Linear>
TileSharing::split(Linear number, int64_t divisor) {
  if (number.var.isConstant()) {
    int64_t value = number.var.getConstant() + number.add;
    return {{0, 1, value / divisor}, {0, 1, value % divisor}};
  }
  // The parts do not carry into each other.
  if (number.add % divisor + number.bound <= divisor)
    return {{0, 1, number.add / divisor},
            {number.var, number.bound, number.add % divisor}};
  if (number.add % divisor != 0) {
    number.var = k.add(number.var, number.add);
    number.bound += number.add;
    number.add = 0;
  }
  if (number.bound <= divisor)
    return {{0, 1, number.add / divisor}, {number.var, number.bound, 0}};
  auto [it, isNew] =
      splits.try_emplace({number.var.getValue(), divisor}, Int(), Int());
  if (isNew)
    it->second = {k.floorDiv(number.var, divisor), k.rem(number.var, divisor)};
  auto [quotient, remainder] = it->second;
  return {
      {quotient, (number.bound + divisor - 1) / divisor, number.add / divisor},
      {remainder, divisor, 0}};
}

/// The position that is number `number`.
void TileSharing::emit(Linear number, Body body) {
  SmallVector<Int> position(sizes.size(), Int(0));
  SmallVector<int64_t> offset(sizes.size(), 0);
  Value inTile;
  for (unsigned place = counts.size(); place-- > 0;) {
    Linear own = number;
    if (place > 0)
      std::tie(number, own) = split(number, counts[place]);
    unsigned dim = order[place];
    // What shares bits with what is not known is not apart.
    if (own.add % int64_t(llvm::PowerOf2Ceil(own.bound)) != 0) {
      own.var = k.add(own.var, own.add);
      own.bound += own.add;
      own.add = 0;
    }
    position[dim] = own.var;
    offset[dim] = own.add;
    if (own.bound + own.add > sizes[dim])
      inTile = k.both(inTile, k.less(k.add(own.var, own.add), sizes[dim]));
  }
  body(position, offset, inTile);
}

namespace {

/// Positions that are bits of their number, of which those of threads, of turns
/// and within a turn are others.
struct BitPositions {
  KernelBuilder &k;
  ArrayRef<int64_t> sizes, counts;
  ArrayRef<unsigned> order;

  SmallVector<Int> decode(Int number) const;
  void emit(ArrayRef<Int> position, int64_t number, bool mayPass,
            TileSharing::Body body) const;
};

} // namespace

SmallVector<Int> BitPositions::decode(Int number) const {
  SmallVector<Int> positions(sizes.size(), Int(0));
  for (unsigned place = counts.size(); place-- > 0;) {
    positions[order[place]] =
        place == 0 ? number : k.rem(number, counts[place]);
    number = k.floorDiv(number, counts[place]);
  }
  return positions;
}

/// The position that is number `number` behind `position`, which `mayPass` the
/// end of the outermost dimension.
void BitPositions::emit(ArrayRef<Int> position, int64_t number, bool mayPass,
                        TileSharing::Body body) const {
  SmallVector<int64_t> offset;
  for (Int digit : decode(number))
    offset.push_back(digit.getConstant());
  Value inTile;
  for (auto [place, dim] : llvm::enumerate(order))
    if (place == 0 ? mayPass : counts[place] != sizes[dim])
      inTile =
          k.both(inTile, k.less(k.add(position[dim], offset[dim]), sizes[dim]));
  body(position, offset, inTile);
}

/// Whether each warp takes rows of its own, one after the other: where a row is
/// is worked out once, and no lane divides by the length of a row. Not where
/// positions are bits of their number, nor where warps had no row or one more
/// than others.
bool TileSharing::takesRows(int64_t most) const {
  if (!areRowsWhole || threads % kWarpThreads != 0 ||
      counts.back() > most * kWarpThreads)
    return false;
  int64_t rows = countPositions(ArrayRef(order).drop_back());
  int64_t padded = llvm::alignTo(rows, threads / kWarpThreads);
  return padded * (kMostIdle - 1) <= rows * kMostIdle;
}

/// The same as `forEach` by rows.
void TileSharing::forRows(int64_t most, Body body, function_ref<void()> end) {
  int64_t warps = threads / kWarpThreads, parts = counts.back() / kWarpThreads;
  auto outside = ArrayRef(order).drop_back();
  int64_t rows = countPositions(outside);
  int64_t perWarp = llvm::divideCeil(rows, warps), together = perWarp;
  if (perWarp * parts > most)
    together = std::max<int64_t>(std::min(most, kLoopPositions) / parts, 1);
  int64_t turns = llvm::divideCeil(perWarp, together);
  bool mayPass = turns * together * warps != rows;
  unsigned inner = order.back();
  Int warp = k.floorDiv(thread, kWarpThreads);
  Int lane = k.rem(thread, kWarpThreads);
  auto emitRow = [&](Int row) {
    Positions position = decode(row, outside);
    position[inner] = lane;
    Value rowExists = mayPass ? k.less(row, rows) : Value();
    for (int64_t first = 0; first < sizes[inner]; first += kWarpThreads) {
      SmallVector<int64_t> offset(sizes.size(), 0);
      offset[inner] = first;
      Value inTile = rowExists;
      if (first + kWarpThreads > sizes[inner])
        inTile = k.both(inTile, k.less(k.add(lane, first), sizes[inner]));
      body(position, offset, inTile);
    }
  };
  k.rolledLoop(0, turns, 1, [&](Int turn) {
    Int first = k.add(k.mul(turn, together * warps), warp);
    for (int64_t index = 0; index < together; ++index)
      emitRow(k.add(first, index * warps));
    end();
  });
}

void TileSharing::forEach(int64_t most, Body body, function_ref<void()> end) {
  int64_t total = llvm::product_of(counts);
  int64_t perThread = llvm::divideCeil(total, threads);
  bool isLoop = perThread > most;
  int64_t batch = isLoop ? std::min(most, kLoopPositions) : perThread;
  int64_t turns = llvm::divideCeil(perThread, batch);
  bool isWhole = counts.front() == sizes[order.front()] &&
                 turns * batch * threads == total;
  bool areBits =
      llvm::isPowerOf2_64(threads) &&
      llvm::all_of(ArrayRef(counts).drop_front(), llvm::isPowerOf2_64);
  if (!areBits && takesRows(most))
    return forRows(most, body, end);
  BitPositions bits{k, sizes, counts, order};
  SmallVector<Int> own;
  if (areBits)
    own = bits.decode(thread);
  auto emitTurn = [&](Int turn) {
    Int first = k.mul(turn, batch * threads);
    SmallVector<Int> position(own);
    if (areBits)
      for (auto [sum, more] : llvm::zip_equal(position, bits.decode(first)))
        sum = k.add(sum, more);
    for (int64_t index = 0; index < batch; ++index) {
      bool isInside = !isLoop && (index + 1) * threads <= total &&
                      counts.front() == sizes[order.front()];
      if (areBits)
        bits.emit(position, index * threads, !isWhole && !isInside, body);
      else
        emit({k.add(first, thread), ((turns - 1) * batch + 1) * threads,
              index * threads},
             body);
    }
    end();
  };
  if (!isLoop)
    return emitTurn(0);
  k.rolledLoop(0, turns, 1, emitTurn);
}

bool TileSharing::walk(int64_t most, Body body, function_ref<void()> end) {
  // Threads are side by side along the inner dimensions.
  int64_t inside = 1;
  unsigned place = order.size();
  while (place > 0 && inside * sizes[order[place - 1]] <= threads)
    inside *= sizes[order[--place]];
  if (place == 0)
    return false;
  unsigned along = order[place - 1];
  int64_t size = sizes[along], step = threads / inside;
  int64_t steps = llvm::divideCeil(size, step);
  auto outside = ArrayRef(order).take_front(place - 1);
  int64_t turns = countPositions(outside);
  // Where half of the threads would have nothing to do, arithmetic costs less.
  if (steps * threads > 2 * size * inside)
    return false;

  Positions own = decode(thread, ArrayRef(order).drop_front(place - 1));
  Value works = step * inside < threads ? k.less(own[along], step) : Value();
  int64_t pending = 0;
  auto finish = [&] {
    if (pending > 0)
      end();
    pending = 0;
  };
  auto emitStep = [&](ArrayRef<Int> position, SmallVector<int64_t> offset,
                      int64_t number, bool mayPass) {
    offset[along] = number * step;
    Value inTile = works;
    if (mayPass)
      inTile =
          k.both(inTile, k.less(k.add(position[along], offset[along]), size));
    body(position, offset, inTile);
    if (++pending == kLoopPositions)
      finish();
  };
  auto emitSteps = [&](ArrayRef<Int> position, ArrayRef<int64_t> offset) {
    for (int64_t number = 0; number < steps; ++number)
      emitStep(position, SmallVector<int64_t>(offset), number,
               (number + 1) * step > size);
  };
  SmallVector<int64_t> none(sizes.size(), 0);
  if (turns * steps <= most) {
    for (int64_t turn = 0; turn < turns; ++turn) {
      SmallVector<int64_t> offset;
      for (Int digit : decode(turn, outside))
        offset.push_back(digit.getConstant());
      emitSteps(own, offset);
    }
  } else if (steps <= most) {
    k.rolledLoop(0, turns, 1, [&](Int turn) {
      Positions position = decode(turn, outside);
      for (auto [sum, more] : llvm::zip_equal(position, own))
        sum = k.add(sum, more);
      emitSteps(position, none);
      finish();
    });
  } else if (turns == 1) {
    int64_t batch = std::min(most, kLoopPositions);
    k.rolledLoop(0, llvm::divideCeil(steps, batch), 1, [&](Int turn) {
      SmallVector<Int> position(own);
      position[along] = k.add(own[along], k.mul(turn, batch * step));
      for (int64_t number = 0; number < batch; ++number)
        emitStep(position, none, number,
                 steps % batch != 0 || size % step != 0);
      finish();
    });
  } else {
    return false;
  }
  finish();
  return true;
}
