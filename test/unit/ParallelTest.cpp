//===- ParallelTest.cpp - Parallel loops ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"
#include "FakeKernel.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

using namespace kron::test;

/// Stands in for the OpenMP runtime, as a program that uses OpenMP has it.
static thread_local bool inOpenMP = false;
extern "C" int omp_in_parallel(void) { return inOpenMP; }

namespace {

/// How long to wait for what comes at once, on the busiest of machines.
constexpr auto kHangs = std::chrono::minutes(10);

/// What the entry below runs, and what came of it.
struct LoopRecord {
  int64_t count = 0, grain = 1, scratchBytes = 0;
  /// Ranges do not end before so many threads have begun one.
  size_t awaitedThreads = 1;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::set<std::thread::id> threads;
  std::set<void *> scratches;
  int running = 0, mostRunning = 0;
  bool scratchShared = false;

  void body(int64_t begin, int64_t end, void *scratch) {
    {
      std::lock_guard lock(mutex);
      mostRunning = std::max(mostRunning, ++running);
      ranges.push_back({begin, end});
      threads.insert(std::this_thread::get_id());
      scratches.insert(scratch);
    }
    changed.notify_all();
    // Writes all of the scratch and looks whether anybody else does.
    auto *words = static_cast<int64_t *>(scratch);
    for (int64_t i = 0; i < scratchBytes / 8; ++i)
      words[i] = begin;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(
        lock, kHangs, [&] { return threads.size() >= awaitedThreads; }));
    for (int64_t i = 0; i < scratchBytes / 8; ++i)
      scratchShared |= words[i] != begin;
    --running;
  }

  /// Sorted ranges, which follow one another from 0 to count.
  void expectCovered() {
    std::sort(ranges.begin(), ranges.end());
    int64_t expected = 0;
    for (auto [begin, end] : ranges) {
      EXPECT_EQ(begin, expected);
      EXPECT_GT(end, begin);
      expected = end;
    }
    EXPECT_EQ(expected, count);
  }
};

thread_local LoopRecord *record = nullptr;

/// Lets oneTBB start more threads than there are processors, so that the tests
/// see several on any machine.
class ManyThreads : public testing::Environment {
public:
  void SetUp() override {
    control.emplace(tbb::global_control::max_allowed_parallelism, 8);
  }
  void TearDown() override { control.reset(); }

private:
  std::optional<tbb::global_control> control;
};
testing::Environment *const manyThreads =
    testing::AddGlobalTestEnvironment(new ManyThreads);

void runLoop(const KronArray *) {
  kronRtParallelFor(
      record->count, record->grain,
      [](int64_t begin, int64_t end, void *scratch, void *captures) {
        static_cast<LoopRecord *>(captures)->body(begin, end, scratch);
      },
      record, record->scratchBytes);
}

void launchLoop(LoopRecord &loop, int32_t numThreads) {
  FakeKernel kernel;
  kernel.version(runLoop, 0, loop.scratchBytes);
  record = &loop;
  EXPECT_SUCCESS(launch(kernel, {}, withThreads(numThreads)));
  record = nullptr;
}

TEST(ParallelTest, OneThread) {
  LoopRecord loop;
  loop.count = 1000;
  loop.scratchBytes = 128;
  launchLoop(loop, 1);
  EXPECT_EQ(loop.ranges.size(), 1u);
  EXPECT_EQ(loop.threads, std::set{std::this_thread::get_id()});
  loop.expectCovered();
}

TEST(ParallelTest, CoversEverythingOnce) {
  for (int64_t count : {1, 2, 3, 7, 8, 9, 31, 1000, 1001})
    for (int32_t numThreads : {2, 3, 8}) {
      LoopRecord loop;
      loop.count = count;
      launchLoop(loop, numThreads);
      loop.expectCovered();
      EXPECT_LE(loop.ranges.size(), size_t(4 * numThreads));
      // About equally long.
      for (auto [begin, end] : loop.ranges)
        EXPECT_LE(end - begin, count / int64_t(loop.ranges.size()) + 1);
    }
}

TEST(ParallelTest, NoIterations) {
  LoopRecord loop;
  loop.count = 0;
  launchLoop(loop, 4);
  EXPECT_TRUE(loop.ranges.empty());
}

TEST(ParallelTest, Grain) {
  for (int64_t grain : {0, 10, 33, 99, 100, 1000}) {
    LoopRecord loop;
    loop.count = 100;
    loop.grain = grain;
    launchLoop(loop, 8);
    loop.expectCovered();
    for (auto [begin, end] : loop.ranges)
      EXPECT_GE(end - begin, std::min<int64_t>(grain, 100));
  }
}

TEST(ParallelTest, CountOf2To62) {
  static std::atomic<int64_t> sum;
  sum = 0;
  FakeKernel kernel;
  kernel.version([](const KronArray *) {
    kronRtParallelFor(
        int64_t(1) << 62, 1,
        [](int64_t begin, int64_t end, void *, void *) { sum += end - begin; },
        nullptr, 0);
  });
  EXPECT_SUCCESS(launch(kernel, {}, withThreads(7)));
  EXPECT_EQ(sum, int64_t(1) << 62);
}

TEST(ParallelTest, UsesSeveralThreads) {
  LoopRecord loop;
  loop.count = 64;
  loop.awaitedThreads = 2;
  launchLoop(loop, 2);
  EXPECT_EQ(loop.threads.size(), 2u);
}

/// Runs `body` on a thread that has not had helpers before: none is about.
template <typename Body> void onNewThread(Body body) {
  std::thread(body).join();
}

TEST(ParallelTest, CallerBeginsWithTheFirstRange) {
  // So that its caches have what they had the last time. Helpers, each of which
  // begins somewhere else, wait for it here.
  static std::atomic<int64_t> first;
  first = -1;
  onNewThread([] {
    FakeKernel kernel;
    kernel.version([](const KronArray *) {
      static std::thread::id caller;
      caller = std::this_thread::get_id();
      kronRtParallelFor(
          64, 1,
          [](int64_t begin, int64_t, void *, void *) {
            int64_t none = -1;
            if (std::this_thread::get_id() == caller)
              first.compare_exchange_strong(none, begin);
            while (first < 0)
              std::this_thread::yield();
          },
          nullptr, 0);
    });
    EXPECT_SUCCESS(launch(kernel, {}, withThreads(4)));
  });
  EXPECT_EQ(first, 0);
}

TEST(ParallelTest, ShortLoopWakesNobody) {
  for (bool isSaid : {true, false})
    onNewThread([&] {
      LoopRecord loop;
      loop.grain = isSaid ? -1 : 100;
      loop.count = isSaid ? 10 : 1000;
      launchLoop(loop, 4);
      EXPECT_GT(loop.ranges.size(), 1u);
      EXPECT_EQ(loop.threads, std::set{std::this_thread::get_id()});
    });
}

TEST(ParallelTest, LongLoopWakesHelpers) {
  // Many iterations, or few long ones, by what is said or may be.
  LoopRecord many, few, unknown;
  many.count = 1000;
  many.grain = 10;
  few.count = unknown.count = 16;
  few.grain = -10;
  for (LoopRecord *loop : {&many, &few, &unknown})
    onNewThread([&] {
      loop->awaitedThreads = 2;
      launchLoop(*loop, 4);
      EXPECT_GT(loop->threads.size(), 1u);
    });
}

//===----------------------------------------------------------------------===//
// Child processes
//===----------------------------------------------------------------------===//

TEST(ParallelTest, ChildOfProcessWithThreads) {
  int32_t before = kronGetNumThreads();
  EXPECT_SUCCESS(kronSetNumThreads(4));
  LoopRecord loop;
  loop.count = 64;
  loop.awaitedThreads = 2;
  launchLoop(loop, 4);
  EXPECT_EQ(inChild([] {
              // Its threads are its parent's, whoever asks for some.
              if (kronGetNumThreads() != 1)
                return 1;
              for (int32_t numThreads : {0, 4}) {
                LoopRecord own;
                own.count = 64;
                launchLoop(own, numThreads);
                if (own.ranges.size() != 1 || own.threads.size() != 1)
                  return 2;
              }
              return 0;
            }),
            0);
  EXPECT_EQ(kronGetNumThreads(), 4);
  launchLoop(loop, 4);
  EXPECT_SUCCESS(kronSetNumThreads(before));
}

TEST(ParallelTest, ScratchIsPrivate) {
  for (int32_t numThreads : {1, 2, 5}) {
    LoopRecord loop;
    loop.count = 50;
    loop.scratchBytes = 1000;
    launchLoop(loop, numThreads);
    EXPECT_FALSE(loop.scratchShared);
    EXPECT_LE(loop.scratches.size(), size_t(numThreads));
    for (void *scratch : loop.scratches)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
  }
}

TEST(ParallelTest, NeverMoreThanAskedFor) {
  // In a larger arena of the caller's, and outside of any.
  for (int32_t numThreads : {1, 2, 3}) {
    LoopRecord inside, outside;
    inside.count = outside.count = 40;
    tbb::task_arena(8).execute([&] { launchLoop(inside, numThreads); });
    launchLoop(outside, numThreads);
    EXPECT_LE(inside.mostRunning, numThreads);
    EXPECT_LE(outside.mostRunning, numThreads);
  }
}

TEST(ParallelTest, KeepsToSmallerArenaOfCaller) {
  LoopRecord loop;
  loop.count = 40;
  tbb::task_arena(1).execute([&] { launchLoop(loop, 4); });
  EXPECT_EQ(loop.mostRunning, 1);
  loop.expectCovered();
}

TEST(ParallelTest, TellsNumberOfThreads) {
  static std::atomic<int64_t> outside, inside;
  FakeKernel kernel;
  kernel.version(
      [](const KronArray *) {
        outside = kronRtNumThreads();
        kronRtParallelFor(
            4, 1,
            [](int64_t, int64_t, void *, void *) {
              inside = kronRtNumThreads();
            },
            nullptr, 0);
      },
      0, 0);
  for (int32_t numThreads : {1, 2, 4}) {
    EXPECT_SUCCESS(launch(kernel, {}, withThreads(numThreads)));
    EXPECT_EQ(outside, numThreads);
    EXPECT_EQ(inside, 1);
  }
}

TEST(ParallelTest, NestedLoopIsSerial) {
  static std::atomic<int> numInner, numBad;
  numInner = numBad = 0;
  auto inner = [](int64_t begin, int64_t end, void *scratch, void *outer) {
    // The whole loop, on scratch that follows the outer one's.
    numBad += begin != 0 || end != 10;
    numBad += static_cast<char *>(scratch) != static_cast<char *>(outer) + 128;
    ++numInner;
  };
  static KronLoopBody innerBody = inner;
  FakeKernel kernel;
  kernel.version(
      [](const KronArray *) {
        kronRtParallelFor(
            12, 1,
            [](int64_t begin, int64_t end, void *scratch, void *) {
              for (int64_t i = begin; i < end; ++i)
                kronRtParallelFor(10, 1, innerBody, scratch, 64);
            },
            nullptr, 100);
      },
      0, 128 + 64);
  for (int32_t numThreads : {1, 2, 4}) {
    numInner = 0;
    // With one thread there is nothing to nest, but the scratch is the same.
    EXPECT_SUCCESS(launch(kernel, {}, withThreads(numThreads)));
    EXPECT_EQ(numInner, 12);
    EXPECT_EQ(numBad, 0);
  }
}

TEST(ParallelTest, LaunchInsideLoop) {
  // A kernel that launches another one from its loop: that one runs serially,
  // on workspace of its own.
  static FakeKernel *inner;
  static std::atomic<int> numBad;
  numBad = 0;
  FakeKernel innerKernel("inner"), outerKernel("outer");
  inner = &innerKernel;
  innerKernel.version(
      [](const KronArray *) {
        auto *shared = static_cast<char *>(kronRtWorkspace(64));
        shared[0] = 2;
        kronRtParallelFor(
            100, 1,
            [](int64_t begin, int64_t end, void *scratch, void *) {
              numBad += begin != 0 || end != 100;
              static_cast<char *>(scratch)[0] = 3;
            },
            nullptr, 64);
        numBad += shared[0] != 2;
      },
      64, 64);
  innerKernel.get();
  outerKernel.version(
      [](const KronArray *) {
        auto *shared = static_cast<char *>(kronRtWorkspace(64));
        shared[0] = 1;
        kronRtParallelFor(
            20, 1,
            [](int64_t, int64_t, void *scratch, void *) {
              static_cast<char *>(scratch)[0] = 1;
              numBad += kronLaunch(&inner->kernel, nullptr, 0, nullptr) != 0;
              numBad += static_cast<char *>(scratch)[0] != 1;
            },
            nullptr, 64);
        numBad += shared[0] != 1;
      },
      64, 64);
  for (int32_t numThreads : {1, 4})
    EXPECT_SUCCESS(launch(outerKernel, {}, withThreads(numThreads)));
  EXPECT_EQ(numBad, 0);
}

TEST(ParallelTest, OneThreadInsideOpenMP) {
  int32_t before = kronGetNumThreads();
  EXPECT_SUCCESS(kronSetNumThreads(4));
  LoopRecord outside, inside, explicitly;
  outside.count = inside.count = explicitly.count = 40;
  launchLoop(outside, 0);
  EXPECT_GT(outside.ranges.size(), 1u);
  inOpenMP = true;
  launchLoop(inside, 0);
  EXPECT_EQ(inside.ranges.size(), 1u);
  // Who asks for a number of threads gets it.
  launchLoop(explicitly, 2);
  EXPECT_GT(explicitly.ranges.size(), 1u);
  inOpenMP = false;
  EXPECT_SUCCESS(kronSetNumThreads(before));
}

//===----------------------------------------------------------------------===//
// Many launches at once
//===----------------------------------------------------------------------===//

/// Y = 3 X, through scratch and shared workspace, so that a mix-up shows.
void tripleEntry(const KronArray *args) {
  struct Captures {
    const float *x;
    float *y;
    const float *factor;
  };
  auto *factor = static_cast<float *>(kronRtWorkspace(sizeof(float)));
  *factor = 3;
  Captures captures = {static_cast<const float *>(args[0].data),
                       static_cast<float *>(args[1].data), factor};
  kronRtParallelFor(
      args[0].sizes[0], 4,
      [](int64_t begin, int64_t end, void *scratch, void *data) {
        auto &captures = *static_cast<Captures *>(data);
        auto *buffer = static_cast<float *>(scratch);
        for (int64_t i = begin; i < end; ++i) {
          buffer[i % 16] = captures.x[i];
          captures.y[i] = buffer[i % 16] * *captures.factor;
        }
      },
      &captures, 64);
}

/// The program's own parallel loop. Hands over through atomics what oneTBB
/// would hand over as well, since ThreadSanitizer does not see into that.
template <typename Body> void inParallel(int count, Body body) {
  static std::atomic<Body *> shared;
  static std::atomic<int> done;
  shared.store(&body);
  tbb::parallel_for(0, count, [](int i) {
    (*shared.load())(i);
    ++done;
  });
  done.load();
}

class ConcurrentTest : public testing::Test {
protected:
  void SetUp() override {
    kernel.arg("x", KRON_READ, {-1})
        .arg("y", KRON_WRITE, {-1})
        .version(tripleEntry, 64, 64);
    kernel.get();
  }

  /// Launches on `size` elements and counts wrong ones.
  int64_t run(int64_t size, int32_t numThreads) {
    std::vector<float> x(size), y(size, -1);
    std::iota(x.begin(), x.end(), 1);
    KronLaunchOptions options = withThreads(numThreads);
    KronArray args[] = {{x.data(), &size, nullptr, 1, KRON_F32},
                        {y.data(), &size, nullptr, 1, KRON_F32}};
    if (kronLaunch(&kernel.kernel, args, 2, &options) != KRON_SUCCESS)
      return -1;
    int64_t wrong = 0;
    for (int64_t i = 0; i < size; ++i)
      wrong += y[i] != 3 * x[i];
    return wrong;
  }

  FakeKernel kernel;
};

TEST_F(ConcurrentTest, FromOwnThreads) {
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        wrong += run(100 + 10 * i, 1 + (i + t) % 4);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConcurrentTest, FromParallelLoopOfCaller) {
  std::atomic<int64_t> wrong{0};
  for (int32_t numThreads : {0, 1, 2, 3})
    inParallel(100, [&](int i) { wrong += run(50 + i, numThreads); });
  tbb::task_arena(3).execute([&] {
    inParallel(100, [&](int i) { wrong += run(50 + i, 2 + i % 3); });
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConcurrentTest, WaitingThreadStartsNoOtherWork) {
  // While a launch waits for its loop, its thread must not enter another
  // iteration of the caller's loop, which would start a launch inside this one.
  static thread_local int depth = 0;
  std::atomic<int> deepest{0};
  tbb::task_arena(4).execute([&] {
    inParallel(200, [&](int) {
      deepest = std::max(deepest.load(), ++depth);
      run(200, 4);
      --depth;
    });
  });
  EXPECT_EQ(deepest, 1);
}

} // namespace
