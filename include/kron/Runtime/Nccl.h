/*===- Nccl.h - Exchanges between GPUs ----------------------------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What sharded products on several GPUs need of NCCL, which is loaded when it
// is first asked for: libnccl.so.2 of the process or of the loader's path, or
// the file that the environment variable KRON_NCCL names. Nothing waits
// for longer than a communicator's timeout: whoever fails or waits too long
// aborts its communicator, whereupon the other ranks' calls fail too.
// kron/Distributed.hpp is the C++ interface.
//
// A communicator is for one thread at a time. Nothing throws.
//
//===----------------------------------------------------------------------===*/

#ifndef KRON_RUNTIME_NCCL_H
#define KRON_RUNTIME_NCCL_H

#include "kron/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** `count` segments of `length` elements, the first at `offset`, each `stride`
    behind the one before. */
typedef struct KronSegments {
  int64_t offset, count, length, stride;
  /** Elements of one message, for libraries without strided types: the same on
      both sides. Divides `length`. */
  int64_t message;
} KronSegments;

/** Version of NCCL, e.g. 22809 for 2.28.9, into `*version`. KRON_UNSUPPORTED,
    with the reason, if there is none. */
KRON_EXPORT KronStatus kronGetNcclVersion(int32_t *version);

/** Bytes of what ranks find each other by. */
#define KRON_NCCL_ID_BYTES 128

/** A new id into the KRON_NCCL_ID_BYTES at `id`: one rank makes it and brings
   it to all others, by whatever they have (MPI, a store, a file). */
KRON_EXPORT KronStatus kronNcclGetId(void *id);

typedef struct KronNccl KronNccl;

/** A communicator of `numRanks` ranks into `*comm`, on GPU `device`. Returns
    when all ranks have called it. */
KRON_EXPORT KronStatus kronNcclCreate(const void *id, int32_t rank,
                                      int32_t numRanks, int32_t device,
                                      int64_t timeoutMilliseconds,
                                      KronNccl **comm);

/** Puts an exchange on `stream`: `sends[r]` of `from` goes to rank r, and
    `receives[r]` of `to` comes from it, all in the memory of the GPU. */
KRON_EXPORT KronStatus kronNcclExchange(KronNccl *comm, const void *from,
                                        void *to, size_t elementBytes,
                                        const KronSegments *sends,
                                        const KronSegments *receives, void *stream);

/** `bytes` at `mine`, in host memory, of all ranks into `all`. */
KRON_EXPORT KronStatus kronNcclAllGather(KronNccl *comm, const void *mine,
                                         void *all, size_t bytes);

/** Waits until the work on `stream` is done. */
KRON_EXPORT KronStatus kronNcclSynchronize(KronNccl *comm, void *stream);

/** Memory of the communicator's GPU. */
KRON_EXPORT KronStatus kronNcclAllocate(KronNccl *comm, size_t bytes,
                                        void **memory);
KRON_EXPORT KronStatus kronNcclFree(KronNccl *comm, void *memory);

/** Gives the communicator up: later calls fail, and those of other ranks that
    wait for this one. It may be NULL. */
KRON_EXPORT void kronNcclAbort(KronNccl *comm);

/** Releases the communicator, which may be NULL or aborted. */
KRON_EXPORT void kronNcclDestroy(KronNccl *comm);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KRON_RUNTIME_NCCL_H */
