//===- RuntimeCalls.h - Calls from generated code to the runtime *- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_RUNTIMECALLS_H
#define KRON_CODEGEN_CPU_RUNTIMECALLS_H

#include "kron/CodeGen/CPU/FusedEmitter.h"
#include "kron/CodeGen/Emitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::kron {

/// Declares and calls the functions of include/kron/Runtime/IRInterface.h, and
/// keeps count of the workspace that the calls ask for.
class RuntimeCalls {
public:
  explicit RuntimeCalls(SymbolTable &symbols) : symbols(symbols) {}

  /// A pointer to `elements` elements of the launch's shared workspace, which
  /// the fused regions of a function have one after the other.
  Value allocateShared(Emitter &emitter, int64_t elements);

  /// Runs `body(begin, end, scratch, captures)` over [0, count) on the threads
  /// of the launch, in ranges of at least `grain`, each thread with
  /// `scratchBytes`.
  void parallelFor(Emitter &emitter, Int count, Int grain, func::FuncOp body,
                   Value captures, int64_t scratchBytes);

  /// The grain, as kronRtParallelFor takes it, of iterations of `fmas`
  /// multiply-adds each, where `threadFmas` are worth a thread.
  static int64_t getGrain(int64_t fmas, int64_t threadFmas);

  /// The number of threads that `parallelFor` has, an i64.
  Value getNumThreads(Emitter &emitter);

  /// A new private function of the type that `parallelFor` takes.
  func::FuncOp createBody(OpBuilder &builder, Location loc, StringRef name);

  /// A pointer to `count` of `type` on the stack of the function that `builder`
  /// is in, in its entry block: a loop does not grow the stack.
  static Value reserveStack(OpBuilder &builder, Location loc, Type type,
                            int64_t count);

  const WorkspaceBytes &getWorkspace() const { return workspace; }

private:
  func::FuncOp getFunction(Emitter &emitter, StringRef name, TypeRange inputs,
                           TypeRange results);

  SymbolTable &symbols;
  WorkspaceBytes workspace;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_RUNTIMECALLS_H
