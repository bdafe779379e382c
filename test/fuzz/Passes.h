//===- Passes.h - Passes that the fuzzers run -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_PASSES_H
#define KRON_FUZZ_PASSES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::kron::fuzz {

struct PassList {
  StringRef name;
  void (*populate)(OpPassManager &pm);
  /// Whether everything is in the LLVM dialect afterwards.
  bool lowersToLLVM;
};

/// The lists of passes that a module's name chooses from; the first one is for
/// modules of another name.
ArrayRef<PassList> getPassLists();
const PassList &getPassList(StringRef name);

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_PASSES_H
