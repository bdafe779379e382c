//===- CudaLoads.h - Kernels that a launch lacks ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDALOADS_H
#define KRON_LIB_RUNTIME_CUDALOADS_H

#include "CudaModule.h"

#include <atomic>
#include <vector>

namespace kron::detail {

/// Kernels of one launch that are not loaded yet. Several threads load them,
/// and have the driver assemble what is PTX.
class CudaLoads {
public:
  bool isEmpty() const { return loads.empty(); }
  /// Adds `kernel` of `module`, unless it is there.
  void add(KronCudaModule &module, const char *kernel);

  /// Loads them into the current context, which is on `device` and has
  /// `contextId`. Of several errors the first kernel's is reported.
  KronStatus run(CudaDevice &device, uint64_t contextId);

private:
  struct Load {
    KronCudaModule *module;
    const char *kernel;
    KronStatus status;
    std::string message;
  };

  void work(CudaDevice &device, uint64_t contextId, bool besideOthers);

  std::vector<Load> loads;
  /// The first one that no thread has taken.
  std::atomic<size_t> next{0};
};

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDALOADS_H
