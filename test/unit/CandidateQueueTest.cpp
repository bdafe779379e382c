//===- CandidateQueueTest.cpp - Compiling ahead of measuring ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../../lib/Driver/CandidateQueue.h"
#include "kron/Target/ForkGuard.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::kron;

namespace {
/// Counts what is compiled.
struct Compiler {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, int> counts;
  int numRunning = 0, most = 0;
  /// How many have to run at once before any of them ends.
  int together = 1;
  /// How long threads take that are not the test's.
  int yields = 0;
  std::thread::id own = std::this_thread::get_id();

  void compile(const std::string &candidate) {
    std::unique_lock<std::mutex> lock(mutex);
    ++counts[candidate];
    ++numRunning;
    most = std::max(most, numRunning);
    changed.notify_all();
    changed.wait(lock, [&] { return most >= together; });
    lock.unlock();
    for (int i = 0; i < yields && std::this_thread::get_id() != own; ++i)
      std::this_thread::yield();
    lock.lock();
    --numRunning;
  }
  int getRunning() {
    std::lock_guard<std::mutex> lock(mutex);
    return numRunning;
  }
  size_t getNumCompiled() {
    std::lock_guard<std::mutex> lock(mutex);
    return counts.size();
  }
};

class Queues : public ::testing::Test {
protected:
  std::unique_ptr<CandidateQueue> create(CompileThreads threads) {
    return std::make_unique<CandidateQueue>(
        threads, [this](const std::string &name) { compiler.compile(name); });
  }
  Compiler compiler;
};
} // namespace

TEST(CompileThreadsTest, ProcessorsAreLeftToTimedLaunches) {
  auto expect = [](CompileThreads threads, unsigned number, bool overlaps) {
    EXPECT_EQ(threads.number, number);
    EXPECT_EQ(threads.overlaps, overlaps);
  };
  expect(CompileThreads::choose(1, 1, 0), 1, false);
  expect(CompileThreads::choose(2, 2, 0), 2, false);
  expect(CompileThreads::choose(4, 3, 0), 4, false);
  expect(CompileThreads::choose(2, 1, 0), 1, true);
  expect(CompileThreads::choose(8, 2, 0), 6, true);
  expect(CompileThreads::choose(128, 128, 0), 16, false);
  expect(CompileThreads::choose(128, 128, 3), 3, false);
  expect(CompileThreads::choose(128, 1, 40), 40, true);
}

TEST_F(Queues, CompileEachOnce) {
  for (bool overlaps : {false, true})
    for (unsigned number : {1, 3}) {
      compiler.counts.clear();
      auto queue = create({number, overlaps});
      queue->expect({"a", "b", "c", "d"});
      for (const char *name : {"a", "c", "b", "a", "other", "d"}) {
        queue->require(name);
        EXPECT_EQ(compiler.counts[name], 1);
      }
      queue->expect({"a", "b"});
      queue.reset();
      EXPECT_EQ(compiler.counts.size(), 5u);
      for (auto [name, count] : compiler.counts)
        EXPECT_EQ(count, 1) << name;
    }
}

TEST_F(Queues, CompileSeveralAtOnce) {
  compiler.together = 3;
  auto queue = create({3, /*overlaps=*/false});
  queue->expect({"a", "b", "c", "d", "e"});
  queue->require("a");
  // It ends with three others that would wait for each other otherwise.
  EXPECT_EQ(compiler.most, 3);
  EXPECT_EQ(compiler.getNumCompiled(), 3u);
}

TEST_F(Queues, NothingIsCompiledWhileOthersAreTimed) {
  compiler.yields = 3000;
  // One of another thread's is being compiled when "a" is done.
  compiler.together = 2;
  auto queue = create({4, /*overlaps=*/false});
  queue->expect({"a", "b", "c", "d", "e", "f", "g", "h"});
  EXPECT_EQ(compiler.getNumCompiled(), 0u);
  for (const char *name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    queue->require(name);
    EXPECT_EQ(compiler.getRunning(), 0);
    size_t before = compiler.getNumCompiled();
    queue->wait();
    EXPECT_EQ(compiler.getNumCompiled(), before);
    queue->expect({"g", "h"});
    queue->wait();
    EXPECT_EQ(compiler.getNumCompiled(), before);
  }
}

TEST_F(Queues, CompileAheadWhereProcessorsAreLeft) {
  auto queue = create({2, /*overlaps=*/true});
  std::vector<std::string> names;
  for (char c = 'a'; c <= 'z'; ++c)
    names.emplace_back(1, c);
  queue->expect(names);
  {
    std::unique_lock<std::mutex> lock(compiler.mutex);
    // Without being asked for, but not all of them.
    compiler.changed.wait(lock, [&] { return compiler.counts.size() >= 4; });
  }
  queue->expect({});
  queue.reset();
  EXPECT_EQ(compiler.counts.size(), 4u);
}

TEST_F(Queues, CompileAheadOnAnotherWay) {
  auto queue = create({1, /*overlaps=*/true});
  auto waitFor = [&](size_t count) {
    std::unique_lock<std::mutex> lock(compiler.mutex);
    return compiler.changed.wait_for(lock, std::chrono::minutes(2), [&] {
      return compiler.counts.size() >= count;
    });
  };
  queue->expect({"a", "b", "c"});
  EXPECT_TRUE(waitFor(2));
  queue->expect({"x", "y"});
  EXPECT_TRUE(waitFor(4));
}

TEST_F(Queues, ForksDoNotWaitForThem) {
  // A thread waits to fork; its child ends at once.
  auto queue = create({3, /*overlaps=*/true});
  std::optional<ForkGuard> guard(std::in_place);
  auto forked = std::async(std::launch::async, [] {
    pid_t child = fork();
    if (child == 0)
      _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  });
  // Until it waits, and threads get no guard any more.
  auto hasGuard = [] { return bool(ForkGuard(std::try_to_lock)); };
  while (std::async(std::launch::async, hasGuard).get())
    std::this_thread::yield();
  queue->expect({"a", "b", "c", "d"});
  for (const char *name : {"a", "b", "c", "d"})
    queue->require(name);
  queue.reset();
  EXPECT_EQ(compiler.counts.size(), 4u);
  guard.reset();
  EXPECT_EQ(forked.get(), 7);
}
