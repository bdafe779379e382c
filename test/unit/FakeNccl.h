//===- FakeNccl.h - An NCCL for tests ---------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A library with the name of the real one's and the functions that the runtime
// uses of it. Its ranks are threads of this process, whose memory it copies as
// soon as both sides of a message are known; until then a call is in progress.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TEST_UNIT_FAKENCCL_H
#define KRON_TEST_UNIT_FAKENCCL_H

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kron::test {

struct FakeNccl {
  std::mutex mutex;
  /// How many calls there were, by name.
  std::map<std::string, int> calls;
  /// Bytes of every ncclSend to another rank, of all ranks.
  std::vector<size_t> messages;
  /// What the function of a name returns from now on.
  std::map<std::string, int> failures;

  void reset();
};

FakeNccl &fakeNccl();

} // namespace kron::test

#endif // KRON_TEST_UNIT_FAKENCCL_H
