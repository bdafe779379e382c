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

/// The plans that operations of `module` get of the records of `options`, on
/// lines "TARGET NUMBER PLAN" in the order of processors, chips and operations;
/// empty if they get none. Code depends on records by these alone, so that a
/// cache may have them in its keys. Nothing is said of damaged lines and of
/// modules that cannot be compiled: compiling does that.
std::string getRecordedPlans(ModuleOp module, ArrayRef<Processor> processors,
                             const CodegenOptions &options);

} // namespace mlir::kron

#endif // KRON_TARGET_RECORDEDPLANS_H
