//===- Distributed.hpp - Products on several processes ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sharded products over compiled kernels: ShardedProduct, and the communicator
// of GPUs. That of CPUs is in kron/Distributed/MPI.hpp, which needs mpi.h.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DISTRIBUTED_HPP
#define KRON_DISTRIBUTED_HPP

#include "kron/Distributed/NCCL.hpp"
#include "kron/Distributed/ShardedProduct.hpp"

#endif // KRON_DISTRIBUTED_HPP
