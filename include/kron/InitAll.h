//===- InitAll.h - Register everything a kron tool needs --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_INITALL_H
#define KRON_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::kron {

/// The kron dialect and the upstream dialects that its users and its pipelines
/// work with, with the interfaces that bufferization and lowering need. All
/// that compiling takes; what kron-run, kronc and the Python package register.
void registerCompilerDialects(DialectRegistry &registry);

/// These and all others of upstream, for tools that work on any IR.
void registerAllDialects(DialectRegistry &registry);

/// kron's passes and pipelines, and the general ones of upstream (canonicalize,
/// cse, inline, ...): what pipelines in Python may name. Upstream's others
/// would make a wheel half as large again.
void registerCompilerPasses();

/// These and all others of upstream.
void registerAllPasses();

} // namespace mlir::kron

#endif // KRON_INITALL_H
