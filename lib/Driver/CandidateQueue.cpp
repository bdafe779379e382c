//===- CandidateQueue.cpp - Compiling ahead of measuring --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Threads compile nothing while another one waits to fork (ForkGuard.h), which
// may wait for the caller. The caller then compiles what it needs itself, as it
// does with all that has not been begun.
//
//===----------------------------------------------------------------------===//

#include "CandidateQueue.h"
#include "kron/Target/ForkGuard.h"
#include <algorithm>

using namespace mlir::kron;

/// Contexts and code take memory.
static constexpr unsigned kMostThreads = 16;
/// Candidates of each thread that are compiled and not asked for, at most: they
/// are for nothing where the search goes another way.
static constexpr unsigned kMostAhead = 2;

CompileThreads CompileThreads::choose(unsigned numProcessors, unsigned numTimed,
                                      unsigned most) {
  CompileThreads threads;
  threads.overlaps = numProcessors >= 2 * numTimed && numProcessors > numTimed;
  threads.number = threads.overlaps ? numProcessors - numTimed : numProcessors;
  threads.number = std::clamp(threads.number, 1u, most ? most : kMostThreads);
  return threads;
}

CandidateQueue::CandidateQueue(CompileThreads threads,
                               std::function<void(const std::string &)> compile)
    : threads(threads), compile(std::move(compile)), isOpen(threads.overlaps) {
  unsigned number = threads.number - !threads.overlaps;
  if (number > 0)
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(number));
}

CandidateQueue::~CandidateQueue() {
  expect({});
  wait();
}

void CandidateQueue::wait() {
  if (pool)
    pool->wait();
}

void CandidateQueue::expect(const std::vector<std::string> &candidates) {
  std::lock_guard<std::mutex> lock(mutex);
  waiting.clear();
  // What was compiled on another way of the search holds nothing up on this
  // one.
  llvm::StringSet<> stillAhead;
  for (const std::string &candidate : candidates) {
    if (!begun.contains(candidate))
      waiting.push_back(candidate);
    if (ahead.contains(candidate))
      stillAhead.insert(candidate);
  }
  ahead = std::move(stillAhead);
  if (isOpen)
    dispatch();
}

void CandidateQueue::dispatch() {
  unsigned most = threads.number - !threads.overlaps;
  while (pool && numTasks + numRunning < most && numTasks < waiting.size() &&
         ahead.size() + numTasks < kMostAhead * threads.number) {
    ++numTasks;
    pool->async([this] { runNext(); });
  }
}

void CandidateQueue::runNext() {
  ForkGuard guard(std::try_to_lock);
  std::unique_lock<std::mutex> lock(mutex);
  --numTasks;
  if (!guard || !isOpen || waiting.empty())
    return;
  std::string candidate = std::move(waiting.front());
  waiting.pop_front();
  ahead.insert(candidate);
  run(lock, candidate);
  if (threads.overlaps)
    dispatch();
}

void CandidateQueue::run(std::unique_lock<std::mutex> &lock,
                         const std::string &candidate) {
  begun.insert(candidate);
  ++numRunning;
  lock.unlock();
  compile(candidate);
  lock.lock();
  --numRunning;
  done.insert(candidate);
  ended.notify_all();
}

void CandidateQueue::require(const std::string &candidate) {
  std::unique_lock<std::mutex> lock(mutex);
  ahead.erase(candidate);
  if (!begun.contains(candidate)) {
    waiting.erase(std::remove(waiting.begin(), waiting.end(), candidate),
                  waiting.end());
    isOpen = true;
    dispatch();
    run(lock, candidate);
  }
  ended.wait(lock, [&] { return done.contains(candidate); });
  if (threads.overlaps) {
    dispatch();
    return;
  }
  isOpen = false;
  ended.wait(lock, [&] { return numRunning == 0; });
}
