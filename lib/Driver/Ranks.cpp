//===- Ranks.cpp - Threads that work on one call ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstring>
#include <thread>

using namespace mlir::kron;
using llvm::createStringError;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// For ranks that end because another one has failed.
static llvm::Error getSilentError() { return createStringError(""); }

llvm::Error Ranks::run(std::function<llvm::Error(int rank)> work) {
  std::vector<std::string> messages(numRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      bool failed = true;
      try {
        llvm::Error error = work(rank);
        failed = bool(error);
        messages[rank] = llvm::toString(std::move(error));
      } catch (const std::exception &exception) {
        messages[rank] = exception.what();
      }
      std::lock_guard<std::mutex> lock(mutex);
      hasFailed |= failed;
      ++numLeft;
      arrived.notify_all();
    });
  for (std::thread &thread : threads)
    thread.join();
  if (!hasFailed)
    return llvm::Error::success();
  // One error that all ranks have is said once.
  llvm::sort(messages);
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  std::string all;
  for (const std::string &message : messages)
    if (!message.empty())
      all += (all.empty() ? "" : "; ") + message;
  return createStringError(all);
}

llvm::Error Ranks::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  unsigned mine = generation;
  if (++numWaiting == numRanks) {
    numWaiting = 0;
    ++generation;
    arrived.notify_all();
  }
  // Who has left comes no more.
  arrived.wait(lock, [&] { return generation != mine || numLeft > 0; });
  if (generation != mine)
    return llvm::Error::success();
  return getSilentError();
}

llvm::Expected<std::vector<double>>
Ranks::measure(unsigned runs, std::function<llvm::Error()> work) {
  std::vector<double> seconds;
  for (unsigned run = 0; run <= runs; ++run) {
    if (llvm::Error error = wait())
      return std::move(error);
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = work())
      return std::move(error);
    if (llvm::Error error = wait())
      return std::move(error);
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    if (run > 0)
      seconds.push_back(taken.count());
  }
  llvm::sort(seconds);
  return seconds;
}

//===----------------------------------------------------------------------===//
// Communicator
//===----------------------------------------------------------------------===//

/// Waits; an exception, as the interface has it, if a rank has failed.
void ThreadCommunicator::wait() {
  if (llvm::Error error = world.ranks.wait())
    throw ::kron::CommunicationError(llvm::toString(std::move(error)));
}

KronLaunchOptions ThreadCommunicator::getLaunchOptions() const {
  KronLaunchOptions options = {};
  options.numThreads = numThreads;
  return options;
}

std::vector<int64_t>
ThreadCommunicator::allGather(const std::vector<int64_t> &values) {
  world.values[rank] = values;
  wait();
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &ofRank : world.values)
    all.insert(all.end(), ofRank.begin(), ofRank.end());
  wait();
  return all;
}

void ThreadCommunicator::agree(const std::string &problem) {
  world.problems[rank] = problem;
  wait();
  for (int other = 0; other < getSize(); ++other)
    if (!world.problems[other].empty())
      throw std::runtime_error("sharded product: rank " +
                               std::to_string(other) + ": " +
                               world.problems[other]);
}

ThreadCommunicator::Memory ThreadCommunicator::allocate(size_t bytes) {
  constexpr size_t alignment = 256;
  size_t rounded = llvm::alignTo(bytes + 1, alignment);
  return Memory(std::aligned_alloc(alignment, rounded), std::free);
}

namespace mlir::kron {
/// Every rank copies what it receives, once all have written what they send.
class ThreadTransfer : public ::kron::Transfer {
public:
  ThreadTransfer(ThreadCommunicator &communicator, ::kron::Exchange exchange)
      : communicator(communicator), exchange(std::move(exchange)) {}

  void run(const void *from, void *to, void *) override {
    ThreadCommunicator::World &world = communicator.world;
    world.addresses[communicator.rank] = from;
    world.exchanges[communicator.rank] = &exchange;
    communicator.wait();
    for (int peer = 0; peer < communicator.getSize(); ++peer)
      copy(world.addresses[peer],
           world.exchanges[peer]->sends[communicator.rank], to,
           exchange.receives[peer]);
    communicator.wait();
  }

private:
  /// Messages come in the order of the segments, on both sides.
  void copy(const void *from, const ::kron::Segments &send, void *to,
            const ::kron::Segments &receive) const {
    auto bytes = int64_t(exchange.elementBytes);
    for (int64_t done = 0, all = send.count * send.length; done < all;
         done += send.message) {
      auto getPlace = [&](const ::kron::Segments &runs) {
        return (runs.offset + done / runs.length * runs.stride +
                done % runs.length) *
               bytes;
      };
      std::memcpy(static_cast<char *>(to) + getPlace(receive),
                  static_cast<const char *>(from) + getPlace(send),
                  send.message * bytes);
    }
  }

  ThreadCommunicator &communicator;
  ::kron::Exchange exchange;
};
} // namespace mlir::kron

std::unique_ptr<::kron::Transfer>
ThreadCommunicator::plan(const ::kron::Exchange &exchange) {
  return std::make_unique<ThreadTransfer>(*this, exchange);
}
