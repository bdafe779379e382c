//===- CandidateQueue.h - Compiling ahead of measuring ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DRIVER_CANDIDATEQUEUE_H
#define KRON_LIB_DRIVER_CANDIDATEQUEUE_H

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ThreadPool.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace mlir::kron {

/// Where candidates are compiled, and whether while others are timed.
struct CompileThreads {
  /// Threads that compile, the caller's among them unless it times meanwhile.
  unsigned number = 1;
  /// Whether enough processors are left to compile while others are timed:
  /// else everything waits until nothing is compiled.
  bool overlaps = false;

  /// For `numProcessors`, of which a launch takes `numTimed`: both at once if
  /// at least half of them are left. `most`: threads that there may be; 0: any
  /// number.
  static CompileThreads choose(unsigned numProcessors, unsigned numTimed,
                               unsigned most);
};

/// Compiles candidates, each of them once, on threads of a pool ahead of their
/// measurement. Which ones are compiled ahead depends on time; what is compiled
/// of one does not.
class CandidateQueue {
public:
  /// `compile` is called on any thread, for several candidates at once.
  CandidateQueue(CompileThreads threads,
                 std::function<void(const std::string &)> compile);
  CandidateQueue(const CandidateQueue &) = delete;
  /// Waits for what is being compiled; nothing else is begun.
  ~CandidateQueue();

  /// What will be asked for next, in this order, instead of what was told
  /// before.
  void expect(const std::vector<std::string> &candidates);
  /// Returns when `candidate` is compiled, and unless that may overlap with
  /// measurements, when nothing else is being compiled.
  void require(const std::string &candidate);
  /// Waits until threads of the pool have nothing to compile that they may.
  void wait();

private:
  /// Begins as many as there are threads for; with the lock.
  void dispatch();
  /// Compiles the first one that waits, if it may.
  void runNext();
  void run(std::unique_lock<std::mutex> &lock, const std::string &candidate);

  CompileThreads threads;
  std::function<void(const std::string &)> compile;
  std::mutex mutex;
  std::condition_variable ended;
  std::deque<std::string> waiting;
  /// Begun, ended, and ended but not asked for.
  llvm::StringSet<> begun, done, ahead;
  /// Tasks of the pool that were not begun, and candidates being compiled.
  unsigned numTasks = 0, numRunning = 0;
  /// Whether threads of the pool may begin another one.
  bool isOpen;
  std::unique_ptr<llvm::DefaultThreadPool> pool;
};

} // namespace mlir::kron

#endif // KRON_LIB_DRIVER_CANDIDATEQUEUE_H
