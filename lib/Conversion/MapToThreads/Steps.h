//===- Steps.h - Parts of --kron-map-to-threads -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_MAPTOTHREADS_STEPS_H
#define KRON_LIB_CONVERSION_MAPTOTHREADS_STEPS_H

#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::kron {

/// The code of one operation as the body of a loop that the runtime shares
/// among threads. Only the body may use what `op` uses.
class SharedLoop {
public:
  /// Builds the body: `mapping` says what the values that `op` uses are there;
  /// `begin` and `end` (index) bound the iterations.
  using BuildBody = function_ref<void(OpBuilder &builder, IRMapping &mapping,
                                      Value begin, Value end)>;

  SharedLoop(RuntimeCalls &runtime, Operation *op) : runtime(runtime), op(op) {}

  /// Whether all that `op` uses can be handed to a body.
  bool canCapture();
  /// Builds, before `op`, the loop over `count` iterations of which each takes
  /// `elements` elements; ranges have at least `minLength` iterations.
  void emit(Int count, Int elements, int64_t minLength, BuildBody build);

private:
  Int getGrain(Emitter &emitter, Int elements, int64_t minLength);
  void collectCaptures();

  RuntimeCalls &runtime;
  Operation *op;
  SmallVector<Value> captures, constants;
  /// As they are stored.
  SmallVector<Type> types;
};

/// A size as an emitter's number.
Int getInt(OpBuilder &builder, Location loc, OpFoldResult size);

/// Whether the type of an array that `op` uses says that it is empty, of which
/// there are no views; those of other arrays may leave that open.
inline bool usesEmptyArray(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto array = dyn_cast<MemRefType>(type);
    return array && llvm::is_contained(array.getShape(), 0);
  });
}

/// Replaces `op` by a shared loop over one of its parallel loops, unless it is
/// small. The caller erases it if the result is true.
bool shareLinalg(RuntimeCalls &runtime, linalg::LinalgOp op);

/// Replaces `op`, which the caller erases, by a shared loop over its rows, or
/// by operations of linalg.
void shareQuantize(RuntimeCalls &runtime, QuantizeOp op);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_MAPTOTHREADS_STEPS_H
