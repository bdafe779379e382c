//===- Ranks.h - Threads that work on one call ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DRIVER_RANKS_H
#define KRON_LIB_DRIVER_RANKS_H

#include "kron/Distributed/Communicator.hpp"
#include "llvm/Support/Error.h"
#include <condition_variable>
#include <functional>
#include <mutex>

namespace mlir::kron {

/// Ranks of this process, a thread each.
class Ranks {
public:
  explicit Ranks(int numRanks) : numRanks(numRanks) {}

  int size() const { return numRanks; }

  /// Runs `work` as every rank. The errors of all of them; exceptions count as
  /// such.
  llvm::Error run(std::function<llvm::Error(int rank)> work);

  /// Waits for all ranks. An error, which says nothing, if one of them has
  /// failed.
  llvm::Error wait();

  /// Seconds of `runs` runs of `work` on all ranks together, sorted, after one
  /// that does not count. Called by all ranks.
  llvm::Expected<std::vector<double>>
  measure(unsigned runs, std::function<llvm::Error()> work);

private:
  const int numRanks;
  std::mutex mutex;
  std::condition_variable arrived;
  int numWaiting = 0, numLeft = 0;
  unsigned generation = 0;
  bool hasFailed = false;
};

/// Ranks that compute on the CPU and copy from each other's memory.
class ThreadCommunicator : public ::kron::Communicator {
public:
  /// What the ranks have to know of each other. Outlives them.
  struct World {
    explicit World(Ranks &ranks)
        : ranks(ranks), addresses(ranks.size()), values(ranks.size()),
          problems(ranks.size()), exchanges(ranks.size()) {}

    Ranks &ranks;
    std::vector<const void *> addresses;
    std::vector<std::vector<int64_t>> values;
    std::vector<std::string> problems;
    std::vector<const ::kron::Exchange *> exchanges;
  };

  ThreadCommunicator(World &world, int rank, int32_t numThreads)
      : world(world), rank(rank), numThreads(numThreads) {}

  int getRank() const override { return rank; }
  int getSize() const override { return world.ranks.size(); }
  KronLaunchOptions getLaunchOptions() const override;
  std::vector<int64_t> allGather(const std::vector<int64_t> &values) override;
  void agree(const std::string &problem) override;
  std::unique_ptr<::kron::Transfer>
  plan(const ::kron::Exchange &exchange) override;
  void synchronize(void *) override {}
  Memory allocate(size_t bytes) override;

private:
  friend class ThreadTransfer;
  void wait();

  World &world;
  int rank;
  int32_t numThreads;
};

} // namespace mlir::kron

#endif // KRON_LIB_DRIVER_RANKS_H
