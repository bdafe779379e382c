//===- MPI.hpp - Sharded products on CPUs, by MPI ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Exchanges are MPI_Ialltoallw on derived types: MPI reads segments where they
// lie and writes them where they belong. Header-only, so that a program is
// compiled with the mpi.h of the MPI that it runs with; the CMake target
// kron::mpi brings it. The calls that wait poll, since MPI's own waiting knows
// no timeout.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DISTRIBUTED_MPI_HPP
#define KRON_DISTRIBUTED_MPI_HPP

#include "kron/Distributed/ShardedProduct.hpp"

// The C++ bindings that MPI has withdrawn.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <climits>
#include <new>
#include <thread>

namespace kron {

/// Processes that compute on their CPUs. Uses a duplicate of an MPI
/// communicator, whose errors come back as CommunicationError. What MPI does
/// when a process dies is another matter: mpirun of most MPIs ends all of them.
class MPICommunicator : public Communicator {
public:
  /// MPI is initialised, and finalised after this is gone. Called by all ranks
  /// of `original`.
  explicit MPICommunicator(MPI_Comm original,
                           std::chrono::milliseconds timeout = defaultTimeout)
      : timeout(timeout) {
    check(MPI_Comm_dup(original, &handle), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN),
          "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(handle, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(handle, &numRanks), "MPI_Comm_size");
  }
  /// What has failed is not waited for.
  ~MPICommunicator() override {
    if (!hasFailed)
      MPI_Comm_free(&handle);
  }
  MPICommunicator(const MPICommunicator &) = delete;
  MPICommunicator &operator=(const MPICommunicator &) = delete;

  int getRank() const override { return rank; }
  int getSize() const override { return numRanks; }
  KronLaunchOptions getLaunchOptions() const override { return {}; }

  std::vector<int64_t> allGather(const std::vector<int64_t> &values) override {
    size_t count = values.size();
    auto all = std::make_shared<std::vector<int64_t>>(values);
    all->resize(count * size_t(numRanks + 1));
    MPI_Request request;
    check(MPI_Iallgather(all->data(), int(count), MPI_INT64_T,
                         all->data() + count, int(count), MPI_INT64_T, handle,
                         &request),
          "MPI_Iallgather");
    wait(request, "MPI_Iallgather", all);
    return {all->begin() + int64_t(count), all->end()};
  }

  void agree(const std::string &problem) override {
    struct Words {
      int mine, first;
      char text[1024];
    };
    auto words = std::make_shared<Words>(
        Words{problem.empty() ? numRanks : rank, numRanks, ""});
    MPI_Request request;
    check(MPI_Iallreduce(&words->mine, &words->first, 1, MPI_INT, MPI_MIN,
                         handle, &request),
          "MPI_Iallreduce");
    wait(request, "MPI_Iallreduce", words);
    if (words->first == numRanks)
      return;
    problem.copy(words->text, sizeof(words->text) - 1);
    check(MPI_Ibcast(words->text, int(sizeof(words->text)), MPI_CHAR,
                     words->first, handle, &request),
          "MPI_Ibcast");
    wait(request, "MPI_Ibcast", words);
    throw std::runtime_error("sharded product: rank " +
                             std::to_string(words->first) + ": " + words->text);
  }

  std::unique_ptr<Transfer> plan(const Exchange &exchange) override;

  void synchronize(void *) override {}

  Memory allocate(size_t bytes) override {
    static constexpr std::align_val_t alignment{256};
    Memory memory(::operator new(bytes, alignment),
                  [](void *data) { ::operator delete(data, alignment); });
    buffers.push_back(memory);
    return memory;
  }

private:
  friend class MPITransfer;

  void check(int code, const char *what) {
    if (code == MPI_SUCCESS)
      return;
    hasFailed = true;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationError(std::string(what) + " on rank " +
                             std::to_string(rank) + " of " +
                             std::to_string(numRanks) + ": " + text);
  }

  /// Waits for a request that uses the buffers and `memory`.
  void wait(MPI_Request &request, const char *what,
            const std::shared_ptr<void> &memory) {
    auto end = std::chrono::steady_clock::now() + timeout;
    int isDone = 0;
    while (true) {
      check(MPI_Test(&request, &isDone, MPI_STATUS_IGNORE), what);
      if (isDone)
        return;
      if (std::chrono::steady_clock::now() >= end)
        break;
      std::this_thread::yield();
    }
    hasFailed = true;
    // Nothing ends a collective operation but its end: what MPI may still read
    // and write is kept.
    static auto &abandoned = *new std::vector<std::shared_ptr<void>>;
    abandoned.push_back(memory);
    for (const std::weak_ptr<void> &buffer : buffers)
      abandoned.push_back(buffer.lock());
    throw CommunicationError(
        std::string(what) + " on rank " + std::to_string(rank) + " of " +
        std::to_string(numRanks) + ": not all ranks have answered within " +
        std::to_string(timeout.count()) + " ms");
  }

  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0, numRanks = 1;
  std::chrono::milliseconds timeout;
  bool hasFailed = false;
  /// What it has allocated, dead or alive.
  std::vector<std::weak_ptr<void>> buffers;
};

/// An exchange with its derived types.
class MPITransfer : public Transfer {
public:
  MPITransfer(MPICommunicator &communicator, const Exchange &exchange)
      : communicator(communicator),
        elementBytes(int64_t(exchange.elementBytes)) {
    for (const Segments &runs : exchange.sends)
      add(runs, sides->sends);
    for (const Segments &runs : exchange.receives)
      add(runs, sides->receives);
    sides->displacements.resize(exchange.sends.size());
  }

  void run(const void *from, void *to, void *) override {
    MPI_Request request;
    communicator.check(
        MPI_Ialltoallw(
            from, sides->sends.counts.data(), sides->displacements.data(),
            sides->sends.types.data(), to, sides->receives.counts.data(),
            sides->displacements.data(), sides->receives.types.data(),
            communicator.handle, &request),
        "MPI_Ialltoallw");
    communicator.wait(request, "MPI_Ialltoallw", sides);
  }

private:
  /// One element of a type that says all, or none.
  struct Side {
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;

    ~Side() {
      for (size_t peer = 0; peer < types.size(); ++peer)
        if (counts[peer] && types[peer] != MPI_BYTE)
          MPI_Type_free(&types[peer]);
    }
  };
  struct Sides {
    Side sends, receives;
    /// All 0: the types have their offsets.
    std::vector<int> displacements;
  };

  void add(const Segments &runs, Side &side) {
    bool isEmpty = runs.count == 0 || runs.length == 0;
    side.counts.push_back(isEmpty ? 0 : 1);
    side.types.push_back(MPI_BYTE);
    if (isEmpty)
      return;
    if (runs.count > INT_MAX || runs.length > INT_MAX)
      throw std::invalid_argument("sharded product: MPI counts up to " +
                                  std::to_string(INT_MAX) + ", but got " +
                                  std::to_string(runs.count) + " segments of " +
                                  std::to_string(runs.length) + " elements");
    // Offsets and strides in bytes, which may be beyond what an int holds.
    MPI_Datatype element, vector;
    MPI_Aint offset = MPI_Aint(runs.offset * elementBytes);
    auto check = [&](int code, const char *what) {
      communicator.check(code, what);
    };
    check(MPI_Type_contiguous(int(elementBytes), MPI_BYTE, &element),
          "MPI_Type_contiguous");
    check(MPI_Type_create_hvector(int(runs.count), int(runs.length),
                                  MPI_Aint(runs.stride * elementBytes), element,
                                  &vector),
          "MPI_Type_create_hvector");
    check(MPI_Type_create_hindexed_block(1, 1, &offset, vector,
                                         &side.types.back()),
          "MPI_Type_create_hindexed_block");
    check(MPI_Type_commit(&side.types.back()), "MPI_Type_commit");
    MPI_Type_free(&vector);
    MPI_Type_free(&element);
  }

  MPICommunicator &communicator;
  int64_t elementBytes;
  std::shared_ptr<Sides> sides = std::make_shared<Sides>();
};

inline std::unique_ptr<Transfer>
MPICommunicator::plan(const Exchange &exchange) {
  return std::make_unique<MPITransfer>(*this, exchange);
}

} // namespace kron

#endif // KRON_DISTRIBUTED_MPI_HPP
