//===- NCCL.hpp - Sharded products on GPUs, by NCCL -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Ranks are processes or threads with a GPU each. Neither building nor linking
// needs NCCL or CUDA; see kron/Runtime/Nccl.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DISTRIBUTED_NCCL_HPP
#define KRON_DISTRIBUTED_NCCL_HPP

#include "kron/Distributed/ShardedProduct.hpp"

#include <cstdio>
#include <fstream>
#include <thread>

namespace kron {

/// What ranks find each other by: bytes that one rank makes and brings to all
/// others, by MPI_Bcast, a store of torchrun, or a file.
using NCCLId = std::array<char, KRON_NCCL_ID_BYTES>;

inline NCCLId makeNCCLId() {
  NCCLId id;
  check(kronNcclGetId(id.data()));
  return id;
}

/// Makes an id on rank 0 and brings it to the others by the file `path`, which
/// all of them see and which does not exist before.
inline NCCLId shareNCCLId(const std::string &path, int rank,
                          std::chrono::milliseconds timeout = defaultTimeout) {
  NCCLId id;
  if (rank == 0) {
    id = makeNCCLId();
    // Under its name only when it is whole.
    std::string unfinished = path + ".part";
    std::ofstream file(unfinished, std::ios::binary);
    file.write(id.data(), std::streamsize(id.size()));
    file.close();
    if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0)
      throw CommunicationError("cannot write " + path);
    return id;
  }
  auto end = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.data(), std::streamsize(id.size())))
      return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw CommunicationError("rank " + std::to_string(rank) +
                           " has found no id in " + path + " within " +
                           std::to_string(timeout.count()) + " ms");
}

/// Ranks with a GPU each. An error of a rank aborts the communicator; the
/// others have theirs when they next wait: in `synchronize`, or in a call that
/// needs an answer.
class NCCLCommunicator : public Communicator {
public:
  /// Called by all ranks, which it waits for.
  NCCLCommunicator(const NCCLId &id, int rank, int numRanks, int device,
                   std::chrono::milliseconds timeout = defaultTimeout)
      : rank(rank), numRanks(numRanks) {
    options.target = KRON_TARGET_CUDA;
    options.device = device;
    KronNccl *created = nullptr;
    check(kronNcclCreate(id.data(), rank, numRanks, device, timeout.count(),
                         &created));
    handle.reset(created, kronNcclDestroy);
  }

  int getRank() const override { return rank; }
  int getSize() const override { return numRanks; }
  KronLaunchOptions getLaunchOptions() const override { return options; }

  std::vector<int64_t> allGather(const std::vector<int64_t> &values) override {
    std::vector<int64_t> all(values.size() * size_t(numRanks));
    expect(kronNcclAllGather(handle.get(), values.data(), all.data(),
                             values.size() * sizeof(int64_t)));
    return all;
  }

  /// Asks nobody, which would take a stop of the GPU: a rank with a problem
  /// aborts the communicator.
  void agree(const std::string &problem) override {
    if (problem.empty())
      return;
    kronNcclAbort(handle.get());
    throw std::runtime_error("sharded product: rank " + std::to_string(rank) +
                             ": " + problem);
  }

  std::unique_ptr<Transfer> plan(const Exchange &exchange) override;

  void synchronize(void *stream) override {
    expect(kronNcclSynchronize(handle.get(), stream));
  }

  Memory allocate(size_t bytes) override {
    void *memory = nullptr;
    check(kronNcclAllocate(handle.get(), bytes, &memory));
    return Memory(memory, [handle = handle](void *memory) {
      kronNcclFree(handle.get(), memory);
    });
  }

private:
  friend class NCCLTransfer;

  static void expect(KronStatus status) {
    if (status != KRON_SUCCESS)
      throw CommunicationError(kronGetLastError());
  }

  std::shared_ptr<KronNccl> handle;
  KronLaunchOptions options = {};
  int rank, numRanks;
};

/// An exchange as messages of one group.
class NCCLTransfer : public Transfer {
public:
  NCCLTransfer(NCCLCommunicator &communicator, Exchange exchange)
      : communicator(communicator), exchange(std::move(exchange)) {}

  void run(const void *from, void *to, void *stream) override {
    communicator.expect(kronNcclExchange(
        communicator.handle.get(), from, to, exchange.elementBytes,
        exchange.sends.data(), exchange.receives.data(), stream));
  }

private:
  NCCLCommunicator &communicator;
  Exchange exchange;
};

inline std::unique_ptr<Transfer>
NCCLCommunicator::plan(const Exchange &exchange) {
  return std::make_unique<NCCLTransfer>(*this, exchange);
}

} // namespace kron

#endif // KRON_DISTRIBUTED_NCCL_HPP
