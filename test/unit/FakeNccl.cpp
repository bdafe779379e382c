//===- FakeNccl.cpp - An NCCL for tests -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeNccl.h"

#include <cstring>
#include <deque>
#include <memory>

using namespace kron::test;

namespace {
enum : int { success = 0, internalError = 3, remoteError = 6, inProgress = 7 };

/// What a rank has sent and no other has received.
using Mail = std::deque<std::vector<char>>;

struct World {
  int numRanks = 0, numJoined = 0;
  bool isAborted = false;
  /// By sender and receiver.
  std::map<std::pair<int, int>, Mail> mail;
};

struct Receive {
  int peer;
  void *to;
  size_t bytes;
};

struct Comm {
  std::shared_ptr<World> world;
  int rank;
  std::deque<Receive> receives;
};

struct Id {
  char bytes[128];
};
} // namespace

/// Protected by the state's mutex, as all worlds are.
static std::map<std::string, std::shared_ptr<World>> &worlds() {
  static std::map<std::string, std::shared_ptr<World>> known;
  return known;
}

FakeNccl &kron::test::fakeNccl() {
  static FakeNccl state;
  return state;
}

void FakeNccl::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  calls.clear();
  messages.clear();
  failures.clear();
}

/// Notes the call; the error that a test wants, or 0.
static int enter(const char *name) {
  FakeNccl &state = fakeNccl();
  ++state.calls[name];
  auto failure = state.failures.find(name);
  return failure == state.failures.end() ? success : failure->second;
}

static void post(Comm &comm, int peer, const void *from, size_t bytes) {
  const char *data = static_cast<const char *>(from);
  comm.world->mail[{comm.rank, peer}].emplace_back(data, data + bytes);
}

/// Receives what is there.
static int progress(Comm &comm) {
  World &world = *comm.world;
  if (world.isAborted)
    return remoteError;
  if (world.numJoined < world.numRanks)
    return inProgress;
  std::deque<Receive> open;
  std::map<int, bool> isBlocked;
  for (const Receive &receive : comm.receives) {
    Mail &mail = world.mail[{receive.peer, comm.rank}];
    if (mail.empty() || isBlocked[receive.peer]) {
      isBlocked[receive.peer] = true;
      open.push_back(receive);
      continue;
    }
    // Both sides have to agree on every message.
    if (mail.front().size() != receive.bytes)
      return internalError;
    memcpy(receive.to, mail.front().data(), receive.bytes);
    mail.pop_front();
  }
  comm.receives = std::move(open);
  return comm.receives.empty() ? success : inProgress;
}

#define ENTER(name)                                                            \
  std::lock_guard<std::mutex> lock(fakeNccl().mutex);                          \
  if (int error = enter(name))                                                 \
    return error;

extern "C" {

int ncclGetVersion(int *version) {
  *version = 22809;
  return success;
}

const char *ncclGetErrorString(int error) {
  return error == remoteError ? "remote error" : "as the test wants";
}

int ncclGetUniqueId(Id *id) {
  ENTER("ncclGetUniqueId")
  static int next = 0;
  memset(id, 0, sizeof(*id));
  snprintf(id->bytes, sizeof(id->bytes), "world %d", next++);
  return success;
}

int ncclCommInitRankConfig(Comm **comm, int numRanks, Id id, int rank,
                           const void *) {
  ENTER("ncclCommInitRankConfig")
  std::shared_ptr<World> &world = worlds()[id.bytes];
  if (!world)
    world = std::make_shared<World>();
  world->numRanks = numRanks;
  ++world->numJoined;
  *comm = new Comm{world, rank, {}};
  return inProgress;
}

int ncclCommGetAsyncError(Comm *comm, int *state) {
  ENTER("ncclCommGetAsyncError")
  *state = progress(*comm);
  return success;
}

int ncclCommFinalize(Comm *) {
  ENTER("ncclCommFinalize")
  return success;
}

int ncclCommDestroy(Comm *comm) {
  ENTER("ncclCommDestroy")
  delete comm;
  return success;
}

int ncclCommAbort(Comm *comm) {
  ENTER("ncclCommAbort")
  comm->world->isAborted = true;
  delete comm;
  return success;
}

int ncclGroupStart() {
  ENTER("ncclGroupStart")
  return success;
}

int ncclGroupEnd() {
  ENTER("ncclGroupEnd")
  return inProgress;
}

int ncclSend(const void *from, size_t bytes, int, int peer, Comm *comm,
             void *) {
  ENTER("ncclSend")
  if (peer != comm->rank)
    fakeNccl().messages.push_back(bytes);
  post(*comm, peer, from, bytes);
  return inProgress;
}

int ncclRecv(void *to, size_t bytes, int, int peer, Comm *comm, void *) {
  ENTER("ncclRecv")
  comm->receives.push_back({peer, to, bytes});
  return inProgress;
}

static int exchange(Comm *comm, const char *from, size_t distance, char *to,
                    size_t bytes) {
  for (int peer = 0; peer < comm->world->numRanks; ++peer) {
    post(*comm, peer, from + size_t(peer) * distance, bytes);
    comm->receives.push_back({peer, to + size_t(peer) * bytes, bytes});
  }
  return inProgress;
}

int ncclAllGather(const char *from, char *to, size_t bytes, int, Comm *comm,
                  void *) {
  ENTER("ncclAllGather")
  return exchange(comm, from, 0, to, bytes);
}

int ncclAlltoAll(const char *from, char *to, size_t bytes, int, Comm *comm,
                 void *) {
  ENTER("ncclAlltoAll")
  return exchange(comm, from, bytes, to, bytes);
}

} // extern "C"
