//===- Communicator.hpp - What several processes exchange -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The interface between a sharded product and the library that moves its data:
// MPI for processes that compute on CPUs (MPI.hpp), NCCL for GPUs (NCCL.hpp).
// An array of [D0, ..., DN] elements is sharded along one axis: each rank has a
// range of it and all of the other axes. An exchange moves the sharding to
// another axis, and is described by strided segments of elements, so that what
// a rank sends is read where it lies and what it receives is written where it
// belongs.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DISTRIBUTED_COMMUNICATOR_HPP
#define KRON_DISTRIBUTED_COMMUNICATOR_HPP

#include "kron/Runtime/Nccl.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace kron {

/// A communication that failed or took longer than its communicator's timeout.
/// The communicator is of no use any more.
class CommunicationError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A range of indices, from `begin` to before `end`.
struct Range {
  int64_t begin, end;

  int64_t size() const { return end - begin; }
};

/// The share of `rank` in `count` indices: the first `count % numRanks` ranks
/// have one more than the others.
inline Range getShare(int64_t count, int rank, int numRanks) {
  int64_t least = count / numRanks, more = count % numRanks;
  int64_t begin = rank * least + (rank < more ? rank : more);
  return {begin, begin + least + (rank < more ? 1 : 0)};
}

/// Strided segments of elements.
using Segments = KronSegments;

/// Product of the sizes of the axes from `begin` to before `end`.
inline int64_t multiplySizes(const std::vector<int64_t> &sizes, size_t begin,
                             size_t end) {
  int64_t product = 1;
  for (size_t axis = begin; axis < end; ++axis)
    product *= sizes[axis];
  return product;
}

/// What a rank sends to every rank and receives from every rank, itself
/// included, by rank.
struct Exchange {
  size_t elementBytes = 0;
  std::vector<Segments> sends, receives;
};

/// The exchange that moves the sharding of an array of `sizes` from axis `from`
/// to another axis `to`. With `isBlocked` and `from < to`, the local array
/// holds one contiguous block per destination, each of the shape that its
/// receiver's part has; otherwise it is row-major.
inline Exchange makeExchange(const std::vector<int64_t> &sizes, size_t from,
                             size_t to, int rank, int numRanks,
                             size_t elementBytes, bool isBlocked = false) {
  // The array is [outer, slow, middle, fast, inner]. Whole segments are parts
  // of `slow`, which are contiguous; cut ones are parts of `fast`.
  bool isForward = from < to;
  size_t slow = isForward ? from : to, fast = isForward ? to : from;
  int64_t outer = multiplySizes(sizes, 0, slow),
          middle = multiplySizes(sizes, slow + 1, fast),
          inner = multiplySizes(sizes, fast + 1, sizes.size());
  // The segments of the rank that has `mine` of one axis, in its array that is
  // whole along the other, which belong to `other`.
  auto getWhole = [&](Range ofSlow, int64_t sizeOfFast) {
    int64_t plane = middle * sizeOfFast * inner;
    return Segments{ofSlow.begin * plane, outer, ofSlow.size() * plane,
                    sizes[slow] * plane, sizeOfFast * inner};
  };
  auto getCut = [&](int64_t sizeOfSlow, Range ofFast) {
    int64_t length = ofFast.size() * inner;
    return Segments{ofFast.begin * inner, outer * sizeOfSlow * middle, length,
                    sizes[fast] * inner, length};
  };
  Exchange exchange;
  exchange.elementBytes = elementBytes;
  Range mySlow = getShare(sizes[slow], rank, numRanks),
        myFast = getShare(sizes[fast], rank, numRanks);
  for (int peer = 0; peer < numRanks; ++peer) {
    Range slowOfPeer = getShare(sizes[slow], peer, numRanks),
          fastOfPeer = getShare(sizes[fast], peer, numRanks);
    Segments cut = getCut(mySlow.size(), fastOfPeer);
    Segments whole = getWhole(slowOfPeer, myFast.size());
    if (isForward && isBlocked) {
      // The blocks before this one, and a message per contiguous segment of the
      // receiver.
      int64_t plane = mySlow.size() * middle * inner;
      cut = {outer * plane * fastOfPeer.begin, outer, plane * fastOfPeer.size(),
             plane * fastOfPeer.size(), plane * fastOfPeer.size()};
      whole.message = whole.length;
    }
    exchange.sends.push_back(isForward ? cut : whole);
    exchange.receives.push_back(isForward ? whole : cut);
  }
  return exchange;
}

/// An exchange that is ready to be run again and again.
class Transfer {
public:
  virtual ~Transfer() = default;

  /// Reads `from` and writes `to`, which do not overlap. On a GPU in the order
  /// of `stream`, otherwise done on return.
  virtual void run(const void *from, void *to, void *stream) = 0;
};

/// A group of processes that call the same functions in the same order.
/// Everything throws a CommunicationError if a rank does not answer within the
/// timeout. A communicator outlives what was made with it.
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual int getRank() const = 0;
  virtual int getSize() const = 0;

  /// Where kernels run: target and GPU.
  virtual KronLaunchOptions getLaunchOptions() const = 0;

  /// `values` of all ranks, by rank; there are as many on each.
  virtual std::vector<int64_t>
  allGather(const std::vector<int64_t> &values) = 0;

  /// Called by all ranks before an exchange, with an empty `problem` unless
  /// the rank cannot take part in it. Throws on all ranks if one has a problem.
  virtual void agree(const std::string &problem) = 0;

  virtual std::unique_ptr<Transfer> plan(const Exchange &exchange) = 0;

  /// Waits for the work on `stream`, for no longer than the timeout.
  virtual void synchronize(void *stream) = 0;

  /// Memory that kernels and exchanges work on; aligned to 256 bytes.
  using Memory = std::shared_ptr<void>;
  virtual Memory allocate(size_t bytes) = 0;
};

/// The time within which a communicator's peers have to answer by default.
constexpr std::chrono::milliseconds defaultTimeout = std::chrono::minutes(10);

} // namespace kron

#endif // KRON_DISTRIBUTED_COMMUNICATOR_HPP
