//===- ContextPool.h - Contexts that modules take turns in ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_CONTEXTPOOL_H
#define KRON_TARGET_CONTEXTPOOL_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <mutex>
#include <vector>

namespace mlir::kron {

/// Contexts with all dialects of the compiler. Each is used by one module at a
/// time, and kept for the next one: loading dialects takes longer than
/// compiling a small kernel. There are as many as modules that have lived at
/// the same time.
class ContextPool {
public:
  ContextPool();
  ~ContextPool();
  ContextPool(const ContextPool &) = delete;

  /// One that no module is in.
  std::unique_ptr<MLIRContext> take();
  void giveBack(std::unique_ptr<MLIRContext> context);

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<MLIRContext>> unused;
};

} // namespace mlir::kron

#endif // KRON_TARGET_CONTEXTPOOL_H
