//===- Devices.h - One call on several devices ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Shares a call out among GPUs of this process, each with a thread of its own:
// by rows, which exchanges nothing, or by modes with NCCL. On the CPU devices
// are threads that share its cores, which shows the same without a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DRIVER_DEVICES_H
#define KRON_DRIVER_DEVICES_H

#include "kron/Driver/Calls.h"
#include "kron/Driver/Session.h"

namespace mlir::kron {

struct DeviceOptions {
  /// Numbers of GPUs, one for each share.
  std::vector<int32_t> devices;
  bool isGpu = false;
  /// The axis of [M, P1, ..., PN] that is shared out before and after: 0 for
  /// rows.
  int from = 0, to = 0;
  /// Of each device, on the CPU.
  int32_t numThreads = 1;
  /// Timed runs after the first one.
  unsigned runs = 0;
};

/// Runs function `kernel.name` of `module`, which `address` is the kernel of,
/// on the arrays of `call`. Returns the seconds of the timed runs, sorted. An
/// error if the function is not one that can be shared out: operations on rows
/// for rows, a single kron.mkm of its arguments for modes, whose parts
/// `session` compiles.
llvm::Expected<std::vector<double>>
runOnDevices(const Session &session, ModuleOp module,
             const KernelManifest &kernel, const KronKernel *address,
             CallArguments &call, const DeviceOptions &options);

} // namespace mlir::kron

#endif // KRON_DRIVER_DEVICES_H
