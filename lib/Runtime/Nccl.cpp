//===- Nccl.cpp - Exchanges between GPUs by NCCL ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Communicators are nonblocking: what takes longer is waited for here, for no
// longer than the timeout, and then aborted, since an abort is all that ends
// what NCCL has put on a GPU. Strided segments are messages in one group, which
// NCCL moves at once, so that nothing is packed.
//
//===----------------------------------------------------------------------===//

#include "kron/Runtime/Nccl.h"
#include "CudaDevice.h"
#include "Error.h"
#include "Library.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <new>
#include <thread>

using namespace kron::detail;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

using NcclResult = int;
using NcclComm = struct NcclCommunicator *;

enum : NcclResult { ncclSuccess = 0, ncclInProgress = 7 };
enum : int { ncclInt8 = 0 };

namespace {
struct NcclId {
  char bytes[KRON_NCCL_ID_BYTES];
};

/// ncclConfig_t of NCCL 2.14, the first with nonblocking communicators; later
/// ones are longer, and read no more than `size`.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};
} // namespace

/// X(name, symbol, parameters).
#define KRON_NCCL_FUNCTIONS(X)                                                 \
  X(getVersion, "ncclGetVersion", (int *))                                     \
  X(getUniqueId, "ncclGetUniqueId", (NcclId *))                                \
  X(commInitRankConfig, "ncclCommInitRankConfig",                              \
    (NcclComm *, int, NcclId, int, NcclConfig *))                              \
  X(commGetAsyncError, "ncclCommGetAsyncError", (NcclComm, NcclResult *))      \
  X(commFinalize, "ncclCommFinalize", (NcclComm))                              \
  X(commDestroy, "ncclCommDestroy", (NcclComm))                                \
  X(commAbort, "ncclCommAbort", (NcclComm))                                    \
  X(groupStart, "ncclGroupStart", ())                                          \
  X(groupEnd, "ncclGroupEnd", ())                                              \
  X(send, "ncclSend", (const void *, size_t, int, int, NcclComm, CUstream))    \
  X(receive, "ncclRecv", (void *, size_t, int, int, NcclComm, CUstream))       \
  X(allGather, "ncclAllGather",                                                \
    (const void *, void *, size_t, int, NcclComm, CUstream))

/// The same for functions that older versions lack; NULL there.
#define KRON_NCCL_NEWER_FUNCTIONS(X)                                           \
  X(allToAll, "ncclAlltoAll",                                                  \
    (const void *, void *, size_t, int, NcclComm, CUstream))

namespace {
struct Nccl {
#define KRON_NCCL_FIELD(name, symbol, parameters) NcclResult(*name) parameters;
  KRON_NCCL_FUNCTIONS(KRON_NCCL_FIELD)
  KRON_NCCL_NEWER_FUNCTIONS(KRON_NCCL_FIELD)
#undef KRON_NCCL_FIELD
  const char *(*getErrorString)(NcclResult);
};

/// The outcome of loading.
struct LoadedNccl {
  LoadedNccl();

  Nccl functions = {};
  char problem[256] = "";
};
} // namespace

LoadedNccl::LoadedNccl() {
  void *library = loadLibrary("libnccl.so.2", "KRON_NCCL", {"libnccl.so.2"},
                              problem, sizeof(problem));
  if (!library)
    return;
  auto resolve = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, symbol));
    return function != nullptr;
  };
#define KRON_NCCL_RESOLVE(name, symbol, parameters)                            \
  if (!resolve(functions.name, symbol))                                        \
    snprintf(problem, sizeof(problem), "libnccl.so.2 lacks %s", symbol);
#define KRON_NCCL_RESOLVE_NEWER(name, symbol, parameters)                      \
  resolve(functions.name, symbol);
  KRON_NCCL_FUNCTIONS(KRON_NCCL_RESOLVE)
  KRON_NCCL_NEWER_FUNCTIONS(KRON_NCCL_RESOLVE_NEWER)
#undef KRON_NCCL_RESOLVE
#undef KRON_NCCL_RESOLVE_NEWER
  if (!resolve(functions.getErrorString, "ncclGetErrorString"))
    snprintf(problem, sizeof(problem), "libnccl.so.2 lacks ncclGetErrorString");
}

static KronStatus getNccl(const Nccl **functions) {
  static const LoadedNccl loaded;
  if (loaded.problem[0])
    return setError(KRON_UNSUPPORTED, "expects NCCL, but %s", loaded.problem);
  *functions = &loaded.functions;
  return KRON_SUCCESS;
}

KronStatus kronGetNcclVersion(int32_t *version) {
  if (!version)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the version, but got NULL");
  const Nccl *nccl;
  if (KronStatus status = getNccl(&nccl))
    return status;
  nccl->getVersion(version);
  return KRON_SUCCESS;
}

KronStatus kronNcclGetId(void *id) {
  if (!id)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a place for the id, but got NULL");
  const Nccl *nccl;
  if (KronStatus status = getNccl(&nccl))
    return status;
  NcclId created;
  if (NcclResult result = nccl->getUniqueId(&created))
    return setError(KRON_CUDA_ERROR, "ncclGetUniqueId: NCCL error %d (%s)",
                    result, nccl->getErrorString(result));
  memcpy(id, &created, sizeof(created));
  return KRON_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

struct KronNccl {
  /// Whether a call of NCCL, which returned `result`, has done its work in
  /// time; aborts the communicator if not.
  KronStatus finish(NcclResult result, const char *what);

  /// Waits until `isDone` or a failure of this or another rank.
  template <typename IsDone> KronStatus wait(const char *what, IsDone isDone);

  /// Aborts, keeping the message.
  __attribute__((format(printf, 2, 3))) KronStatus fail(const char *format,
                                                        ...);
  void abort();

  /// Enters the context of `stream`; an error if the communicator was aborted.
  KronStatus enter(CudaContextScope &scope, void *stream);

  const Nccl *nccl = nullptr;
  CudaDevice *device = nullptr;
  /// NULL once aborted.
  NcclComm handle = nullptr;
  int32_t rank = 0, numRanks = 1;
  std::chrono::milliseconds timeout{0};
  /// Why it was aborted.
  char problem[256] = "kronNcclAbort";
};

void KronNccl::abort() {
  if (handle)
    nccl->commAbort(handle);
  handle = nullptr;
}

KronStatus KronNccl::fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem, sizeof(problem), format, arguments);
  va_end(arguments);
  abort();
  return setError(KRON_CUDA_ERROR, "rank %d of %d: %s", rank, numRanks,
                  problem);
}

template <typename IsDone>
KronStatus KronNccl::wait(const char *what, IsDone isDone) {
  auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    NcclResult state = ncclSuccess;
    NcclResult result = nccl->commGetAsyncError(handle, &state);
    if (!result && state != ncclInProgress)
      result = state;
    if (result)
      return fail("%s: NCCL error %d (%s)", what, result,
                  nccl->getErrorString(result));
    if (isDone(state))
      return KRON_SUCCESS;
    if (std::chrono::steady_clock::now() >= end)
      return fail("%s: not all ranks have answered within %lld ms", what,
                  static_cast<long long>(timeout.count()));
    std::this_thread::yield();
  }
}

KronStatus KronNccl::finish(NcclResult result, const char *what) {
  if (result && result != ncclInProgress)
    return fail("%s: NCCL error %d (%s)", what, result,
                nccl->getErrorString(result));
  return wait(what, [](NcclResult state) { return state == ncclSuccess; });
}

KronStatus KronNccl::enter(CudaContextScope &scope, void *stream) {
  if (!handle)
    return setError(KRON_CUDA_ERROR,
                    "rank %d of %d: the communicator was aborted before: %s",
                    rank, numRanks, problem);
  return scope.enter(*device, static_cast<CUstream>(stream));
}

KronStatus kronNcclCreate(const void *id, int32_t rank, int32_t numRanks,
                          int32_t device, int64_t timeoutMilliseconds,
                          KronNccl **comm) {
  if (!id || !comm)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects an id and a place for the communicator, but got "
                    "NULL");
  if (rank < 0 || rank >= numRanks)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a rank from 0 to before %d, but got %d", numRanks,
                    rank);
  if (timeoutMilliseconds < 1)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a timeout of at least 1 ms, but got %lld",
                    static_cast<long long>(timeoutMilliseconds));
  KronNccl created;
  created.rank = rank;
  created.numRanks = numRanks;
  created.timeout = std::chrono::milliseconds(timeoutMilliseconds);
  if (KronStatus status = getNccl(&created.nccl))
    return status;
  if (KronStatus status = CudaDevice::get(device, &created.device))
    return status;
  CudaContextScope scope(*created.device->driver);
  if (KronStatus status = scope.enter(*created.device, nullptr))
    return status;
  NcclId ncclId;
  memcpy(&ncclId, id, sizeof(ncclId));
  NcclConfig config;
  NcclResult result = created.nccl->commInitRankConfig(
      &created.handle, numRanks, ncclId, rank, &config);
  if (KronStatus status = created.finish(result, "ncclCommInitRankConfig"))
    return status;
  *comm = new (std::nothrow) KronNccl(created);
  if (*comm)
    return KRON_SUCCESS;
  created.abort();
  return setError(KRON_OUT_OF_MEMORY, "no memory for a communicator");
}

/// An error if a caller gives none of what has to be there.
static KronStatus expectArguments(const KronNccl *comm,
                                  std::initializer_list<const void *> others) {
  if (!comm)
    return setError(KRON_INVALID_ARGUMENT,
                    "expects a communicator, but got NULL");
  for (const void *other : others)
    if (!other)
      return setError(KRON_INVALID_ARGUMENT,
                      "expects arrays to read and write, but got NULL");
  return KRON_SUCCESS;
}

void kronNcclAbort(KronNccl *comm) {
  if (comm)
    comm->abort();
}

void kronNcclDestroy(KronNccl *comm) {
  if (!comm)
    return;
  // Others may have gone already, whom finalising would wait for.
  if (comm->handle &&
      !comm->finish(comm->nccl->commFinalize(comm->handle), "ncclCommFinalize"))
    comm->nccl->commDestroy(comm->handle);
  delete comm;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// An error unless every segment is made of whole messages.
static KronStatus expectMessages(const char *name, const KronSegments *runs,
                                 int32_t numRanks) {
  for (int32_t peer = 0; peer < numRanks; ++peer) {
    const KronSegments &own = runs[peer];
    if (own.count < 0 || own.length < 0 ||
        (own.length > 0 && (own.message < 1 || own.length % own.message != 0)))
      return setError(KRON_INVALID_ARGUMENT,
                      "expects %s[%d] to have segments of whole messages, but "
                      "got %lld segments of %lld elements in messages of %lld",
                      name, peer, static_cast<long long>(own.count),
                      static_cast<long long>(own.length),
                      static_cast<long long>(own.message));
  }
  return KRON_SUCCESS;
}

/// Elements of every message, where each rank gets one that lies behind that of
/// the rank before, all as long; 0 otherwise.
static int64_t getUniformMessage(const KronSegments *runs, int32_t numRanks) {
  int64_t length = runs[0].length;
  for (int32_t peer = 0; peer < numRanks; ++peer)
    if (runs[peer].count != 1 || runs[peer].length != length ||
        runs[peer].message != length || runs[peer].offset != peer * length)
      return 0;
  return length;
}

/// Calls `act` with the offset of every message.
template <typename Action>
static NcclResult forEachMessage(const KronSegments &runs, Action act) {
  if (runs.length == 0)
    return ncclSuccess;
  for (int64_t run = 0; run < runs.count; ++run)
    for (int64_t done = 0; done < runs.length; done += runs.message) {
      NcclResult result = act(runs.offset + run * runs.stride + done);
      if (result && result != ncclInProgress)
        return result;
    }
  return ncclSuccess;
}

KronStatus kronNcclExchange(KronNccl *comm, const void *from, void *to,
                            size_t elementBytes, const KronSegments *sends,
                            const KronSegments *receives, void *stream) {
  if (KronStatus status = expectArguments(comm, {sends, receives}))
    return status;
  if (KronStatus status = expectMessages("sends", sends, comm->numRanks))
    return status;
  if (KronStatus status = expectMessages("receives", receives, comm->numRanks))
    return status;
  const Nccl &nccl = *comm->nccl;
  CudaContextScope scope(*comm->device->driver);
  if (KronStatus status = comm->enter(scope, stream))
    return status;
  auto cudaStream = static_cast<CUstream>(stream);
  int64_t uniform = getUniformMessage(sends, comm->numRanks);
  if (nccl.allToAll && uniform > 0 &&
      getUniformMessage(receives, comm->numRanks) == uniform)
    return comm->finish(nccl.allToAll(from, to, size_t(uniform) * elementBytes,
                                      ncclInt8, comm->handle, cudaStream),
                        "ncclAlltoAll");
  NcclResult result = nccl.groupStart();
  for (int32_t peer = 0; peer < comm->numRanks && !result; ++peer) {
    const KronSegments &send = sends[peer], &receive = receives[peer];
    result = forEachMessage(send, [&](int64_t offset) {
      return nccl.send(static_cast<const char *>(from) +
                           offset * int64_t(elementBytes),
                       size_t(send.message) * elementBytes, ncclInt8, peer,
                       comm->handle, cudaStream);
    });
    if (!result)
      result = forEachMessage(receive, [&](int64_t offset) {
        return nccl.receive(static_cast<char *>(to) +
                                offset * int64_t(elementBytes),
                            size_t(receive.message) * elementBytes, ncclInt8,
                            peer, comm->handle, cudaStream);
      });
  }
  NcclResult ended = nccl.groupEnd();
  return comm->finish(result ? result : ended, "ncclSend and ncclRecv");
}

KronStatus kronNcclSynchronize(KronNccl *comm, void *stream) {
  if (KronStatus status = expectArguments(comm, {}))
    return status;
  const CudaDriver &driver = *comm->device->driver;
  CudaContextScope scope(driver);
  if (KronStatus status = comm->enter(scope, stream))
    return status;
  CUresult state = CUDA_SUCCESS;
  KronStatus status = comm->wait("cuStreamQuery", [&](NcclResult) {
    state = driver.streamQuery(static_cast<CUstream>(stream));
    return state != CUDA_ERROR_NOT_READY;
  });
  if (!status && state) {
    status = setCudaError(driver, state, "rank %d of %d: cuStreamQuery",
                          comm->rank, comm->numRanks);
    snprintf(comm->problem, sizeof(comm->problem), "%s", kronGetLastError());
    comm->abort();
  }
  return status;
}

KronStatus kronNcclAllGather(KronNccl *comm, const void *mine, void *all,
                             size_t bytes) {
  if (KronStatus status = expectArguments(comm, {mine, all}))
    return status;
  const CudaDriver &driver = *comm->device->driver;
  CudaContextScope scope(driver);
  if (KronStatus status = comm->enter(scope, nullptr))
    return status;
  void *memory;
  if (KronStatus status =
          kronNcclAllocate(comm, bytes * size_t(comm->numRanks + 1), &memory))
    return status;
  auto address = reinterpret_cast<CUdeviceptr>(memory);
  KronStatus status = KRON_SUCCESS;
  if (CUresult result = driver.memcpyHtoD(address, mine, bytes))
    status = setCudaError(driver, result, "cuMemcpyHtoD");
  char *received = static_cast<char *>(memory) + bytes;
  if (!status)
    status =
        comm->finish(comm->nccl->allGather(memory, received, bytes, ncclInt8,
                                           comm->handle, nullptr),
                     "ncclAllGather");
  if (!status)
    status = kronNcclSynchronize(comm, nullptr);
  if (!status)
    if (CUresult result = driver.memcpyDtoH(all, address + bytes,
                                            bytes * size_t(comm->numRanks)))
      status = setCudaError(driver, result, "cuMemcpyDtoH");
  driver.memFree(address);
  return status;
}

KronStatus kronNcclAllocate(KronNccl *comm, size_t bytes, void **memory) {
  if (KronStatus status = expectArguments(comm, {memory}))
    return status;
  const CudaDriver &driver = *comm->device->driver;
  CudaContextScope scope(driver);
  if (KronStatus status = scope.enter(*comm->device, nullptr))
    return status;
  CUdeviceptr address = 0;
  // The driver refuses 0 bytes.
  if (CUresult result = driver.memAlloc(&address, bytes ? bytes : 1))
    return setCudaError(driver, result, "cuMemAlloc of %zu bytes on GPU %d",
                        bytes, comm->device->number);
  *memory = reinterpret_cast<void *>(address);
  return KRON_SUCCESS;
}

KronStatus kronNcclFree(KronNccl *comm, void *memory) {
  if (KronStatus status = expectArguments(comm, {}))
    return status;
  const CudaDriver &driver = *comm->device->driver;
  CudaContextScope scope(driver);
  if (KronStatus status = scope.enter(*comm->device, nullptr))
    return status;
  if (CUresult result = driver.memFree(reinterpret_cast<CUdeviceptr>(memory)))
    return setCudaError(driver, result, "cuMemFree on GPU %d",
                        comm->device->number);
  return KRON_SUCCESS;
}
