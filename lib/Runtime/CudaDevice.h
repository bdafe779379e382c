//===- CudaDevice.h - GPUs and their contexts -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_RUNTIME_CUDADEVICE_H
#define KRON_LIB_RUNTIME_CUDADEVICE_H

#include "CudaDriver.h"

#include <atomic>
#include <mutex>

namespace kron::detail {

/// One GPU: what never changes, and what is made when first needed.
class CudaDevice {
public:
  /// GPU `number` into `*device`; KRON_NO_DEVICE if there is none.
  static KronStatus get(int32_t number, CudaDevice **device);

  /// The context that the CUDA runtime API uses too; kept until the process
  /// ends.
  KronStatus getPrimaryContext(CUcontext *context);

  /// The pool of workspaces. It keeps its memory, so that later launches get it
  /// without a call into the operating system.
  KronStatus getPool(CUmemoryPool *pool);

  const CudaDriver *driver = nullptr;
  int32_t number = 0;
  /// Compute capability times ten.
  int32_t capability = 0;
  int32_t numSMs = 0;
  /// Shared memory that a block may have at most.
  int32_t maxSharedBytes = 0;

private:
  KronStatus initialize(const CudaDriver &cudaDriver, int32_t deviceNumber);

  std::atomic<bool> isInitialized{false};
  std::atomic<CUcontext> primaryContext{nullptr};
  std::atomic<CUmemoryPool> pool{nullptr};
  std::mutex mutex;
};

/// Makes the context of a launch the current one for as long as it lives.
class CudaContextScope {
public:
  explicit CudaContextScope(const CudaDriver &driver) : driver(driver) {}
  ~CudaContextScope();
  CudaContextScope(const CudaContextScope &) = delete;
  CudaContextScope &operator=(const CudaContextScope &) = delete;

  /// Enters the context of `stream`, which must be on `device`; for default
  /// streams the current context if that is, else the device's primary one.
  KronStatus enter(CudaDevice &device, CUstream stream);

  /// Differs from that of every other context, also of destroyed ones.
  uint64_t getId() const { return id; }

private:
  KronStatus push(CUcontext context);

  const CudaDriver &driver;
  bool isPushed = false;
  uint64_t id = 0;
};

/// Allows what a stream capture elsewhere in this thread would forbid, such as
/// loading code, for as long as it lives.
class CudaRelaxedCaptureScope {
public:
  explicit CudaRelaxedCaptureScope(const CudaDriver &driver) : driver(driver) {
    driver.exchangeCaptureMode(&mode);
  }
  ~CudaRelaxedCaptureScope() { driver.exchangeCaptureMode(&mode); }
  CudaRelaxedCaptureScope(const CudaRelaxedCaptureScope &) = delete;
  CudaRelaxedCaptureScope &operator=(const CudaRelaxedCaptureScope &) = delete;

private:
  const CudaDriver &driver;
  int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace kron::detail

#endif // KRON_LIB_RUNTIME_CUDADEVICE_H
