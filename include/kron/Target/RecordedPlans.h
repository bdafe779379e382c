//===- RecordedPlans.h - What tuning records change -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_RECORDEDPLANS_H
#define KRON_TARGET_RECORDEDPLANS_H

#include "kron/Target/LLVMIR.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron {

/// What tuning records have for a module.
struct RecordedPlans {
  /// The plans of operations, on lines "TARGET NUMBER PLAN" in the order of
  /// processors, chips and operations; empty if they get none.
  std::string plans;
  /// What is wrong with lines of files, "FILE:LINE: ...", each once.
  std::vector<std::string> warnings;
};

/// The plans that operations of `module` get of the records of `options`. Code
/// depends on records by these alone, so that a cache may have them in its
/// keys. Nothing is said of modules that cannot be compiled: compiling does
/// that.
RecordedPlans getRecordedPlans(ModuleOp module, ArrayRef<Processor> processors,
                               const CodegenOptions &options);

} // namespace mlir::kron

#endif // KRON_TARGET_RECORDEDPLANS_H
