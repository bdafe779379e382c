//===- ForkGuard.h - Compiling while other threads fork ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A child process has the locks of its parent but only the thread that called
// fork(): one that another thread held is never released there. LLVM and MLIR
// have many, for the whole process, so fork() waits until no thread compiles.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_FORKGUARD_H
#define KRON_TARGET_FORKGUARD_H

#include <mutex>

namespace mlir::kron {

/// While there is one, fork() in another thread waits. Taken before other
/// locks; may be taken again within.
class ForkGuard {
public:
  ForkGuard();
  /// None where a thread waits to fork: for threads that another one, which has
  /// a guard, waits for.
  explicit ForkGuard(std::try_to_lock_t);
  ~ForkGuard();
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;

  explicit operator bool() const { return isOwned; }

private:
  bool isOwned = true;
};

} // namespace mlir::kron

#endif // KRON_TARGET_FORKGUARD_H
