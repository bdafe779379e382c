//===- Helpers.cpp - Threads that help with loops -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "Fork.h"
#include "Parallel.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <thread>

#include <oneapi/tbb/task_arena.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace kron::detail;

using Clock = std::chrono::steady_clock;

/// How long a helper looks for work. Programs that multiply small matrices one
/// after the other do so within that, and no processor is kept from others for
/// long.
static constexpr auto kLookingTime = std::chrono::microseconds(20);

/// Who helped within that time is awake, in oneTBB if not here.
static constexpr auto kAwakeTime = std::chrono::microseconds(200);

/// From then on who waits lets other threads run, of which there may be more
/// than processors.
static constexpr auto kBusyTime = std::chrono::microseconds(50);

static void pauseBriefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Helpers run code of this library when nobody knows it to be in use any more,
/// so it must not be unloaded.
static void keepLoaded() {
  static const bool once = [] {
    Dl_info info;
    LoadGuard guard;
    if (dladdr(reinterpret_cast<void *>(&keepLoaded), &info) && info.dli_fname)
      dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return true;
  }();
  (void)once;
}

//===----------------------------------------------------------------------===//
// Sets of small numbers
//===----------------------------------------------------------------------===//

namespace {

/// Numbers that threads take, each of which one of them gets.
class NumberSet {
public:
  static constexpr int32_t kWordBits = 64, kNumWords = 7;
  static_assert(kWordBits * kNumWords == Helpers::kMaxShares);

  /// Makes this the numbers below `count`; only while it is empty.
  void fill(int32_t count) {
    for (int32_t word = 0; word * kWordBits < count; ++word) {
      int32_t bits = std::min(count - word * kWordBits, kWordBits);
      words[word].store(~uint64_t(0) >> (kWordBits - bits),
                        std::memory_order_release);
    }
  }

  /// Takes a number: the first one from `first` on, or from 0; -1 if there is
  /// none.
  int32_t take(int32_t first) {
    int32_t number = takeFrom(first, Helpers::kMaxShares);
    return number < 0 ? takeFrom(0, first) : number;
  }

  void put(int32_t number) {
    words[number / kWordBits].fetch_or(getBit(number),
                                       std::memory_order_release);
  }

private:
  static uint64_t getBit(int32_t number) {
    return uint64_t(1) << (number % kWordBits);
  }

  int32_t takeFrom(int32_t begin, int32_t end) {
    while (begin < end) {
      std::atomic<uint64_t> &word = words[begin / kWordBits];
      uint64_t rest = word.load(std::memory_order_relaxed) & -getBit(begin);
      int32_t start = begin / kWordBits * kWordBits;
      if (!rest) {
        begin = start + kWordBits;
        continue;
      }
      int32_t number = start + __builtin_ctzll(rest);
      if (number >= end)
        return -1;
      uint64_t bit = getBit(number);
      if (word.fetch_and(~bit, std::memory_order_acquire) & bit)
        return number;
    }
    return -1;
  }

  std::atomic<uint64_t> words[kNumWords] = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// What the thread that has the work and its helpers share.
class Helpers::State {
public:
  State() { freeNumbers.fill(kMaxShares); }

  /// Offers shares to helpers numbered below `numThreads`; returns how many
  /// more of these there could be.
  int32_t offer(SharedWork &work, int32_t numShares, int32_t numThreads);
  /// Does shares until all are done, by whomever.
  void finish();
  /// What a helper does.
  void help();
  void addHelpers(int32_t count) { numHelpers += count; }

  /// A helper or its task, beside the thread that has the work, uses this.
  void own() { numOwners.fetch_add(1, std::memory_order_relaxed); }
  /// The last one deletes it.
  void disown() {
    if (numOwners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

private:
  bool runShare(int32_t thread);

  /// Grows with every offer. Helpers look at it all the time, so it lies apart
  /// from what they take shares from.
  alignas(64) std::atomic<int64_t> numOffers{0};
  alignas(64) NumberSet shares;
  std::atomic<int32_t> numShares{0}, numThreads{0};
  alignas(64) SharedWork *work = nullptr;
  alignas(64) std::atomic<int32_t> numDone{0};
  /// Helpers that look, work or have been asked for.
  alignas(64) std::atomic<int32_t> numHelpers{0};
  std::atomic<int32_t> numOwners{1};
  /// Of helpers.
  alignas(64) NumberSet freeNumbers;
};

int32_t Helpers::State::offer(SharedWork &offered, int32_t count,
                              int32_t mostThreads) {
  // Nobody reads these before a share is taken, which orders them.
  work = &offered;
  numDone.store(0, std::memory_order_relaxed);
  numShares.store(count, std::memory_order_relaxed);
  numThreads.store(mostThreads, std::memory_order_relaxed);
  shares.fill(count);
  // Either this thread sees that a helper has left, or that one the offer.
  numOffers.fetch_add(1, std::memory_order_seq_cst);
  return mostThreads - 1 - numHelpers.load(std::memory_order_seq_cst);
}

/// Does a share as number `thread`, if there is one.
bool Helpers::State::runShare(int32_t thread) {
  int32_t most = numThreads.load(std::memory_order_relaxed);
  if (thread >= most)
    return false;
  int32_t count = numShares.load(std::memory_order_relaxed);
  int32_t share = shares.take(int32_t(int64_t(count) * thread / most));
  if (share < 0)
    return false;
  // Now the work cannot change, but it may be another one than before.
  if (thread >= numThreads.load(std::memory_order_relaxed)) {
    shares.put(share);
    return false;
  }
  work->runShare(share, thread);
  numDone.fetch_add(1, std::memory_order_release);
  return true;
}

void Helpers::State::finish() {
  int32_t count = numShares.load(std::memory_order_relaxed);
  auto start = Clock::now();
  bool isBusy = true;
  while (numDone.load(std::memory_order_acquire) < count) {
    if (runShare(/*thread=*/0)) {
      isBusy = true;
      continue;
    }
    if (isBusy) {
      start = Clock::now();
      isBusy = false;
    }
    if (Clock::now() - start < kBusyTime)
      pauseBriefly();
    else
      std::this_thread::yield();
  }
}

void Helpers::State::help() {
  // The lowest, since these take part in every loop.
  int32_t number = freeNumbers.take(1);
  if (number < 0) {
    addHelpers(-1);
    return;
  }
  int64_t numSeen = 0;
  for (;;) {
    for (auto start = Clock::now(); Clock::now() - start < kLookingTime;) {
      int64_t offered = numOffers.load(std::memory_order_acquire);
      if (offered == numSeen) {
        pauseBriefly();
        continue;
      }
      bool hasHelped = false;
      while (runShare(number))
        hasHelped = true;
      numSeen = offered;
      // Those whom loops do not want, by now, go after a while.
      if (hasHelped)
        start = Clock::now();
    }
    numHelpers.fetch_sub(1, std::memory_order_seq_cst);
    if (numOffers.load(std::memory_order_seq_cst) == numSeen)
      break;
    addHelpers(1);
  }
  freeNumbers.put(number);
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

struct Helpers::Arena {
  explicit Arena(int32_t numThreads)
      : numThreads(numThreads), arena(numThreads) {
    // oneTBB loads libraries when its first arena starts: here, not with the
    // first task.
    LoadGuard guard;
    arena.initialize();
  }

  int32_t numThreads;
  tbb::task_arena arena;
};

Helpers::Helpers() : state(new State) { keepLoaded(); }
Helpers::~Helpers() {
  state->disown();
  if (hasLostThreads())
    (void)arena.release();
}

void Helpers::run(SharedWork &work, int32_t numShares, int32_t numThreads,
                  bool isLong) {
  int32_t missing = state->offer(work, numShares, numThreads);
  if (missing > 0 && (isLong || Clock::now() - lastEnd < kAwakeTime)) {
    try {
      ask(numThreads, missing);
    } catch (...) {
      // Then those that came do the work, or this thread alone.
    }
  }
  state->finish();
  lastEnd = Clock::now();
}

/// Has oneTBB send `count` more helpers, for `numThreads` threads in all.
void Helpers::ask(int32_t numThreads, int32_t count) {
  // One with room for all; kept, since making it costs more than a small loop.
  if (!arena || arena->numThreads < numThreads)
    arena = std::make_unique<Arena>(numThreads);
  for (; count > 0; --count) {
    annotateRelease(state);
    state->own();
    try {
      arena->arena.enqueue([state = state] {
        annotateAcquire(state);
        state->help();
        state->disown();
      });
    } catch (...) {
      state->disown();
      throw;
    }
    state->addHelpers(1);
  }
}
