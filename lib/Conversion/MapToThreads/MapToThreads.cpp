//===- MapToThreads.cpp - Everything on arrays to all threads ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Beside fused regions, functions may still hold linalg operations and
// kron.quantize. Each becomes a loop that the runtime shares among the threads
// of the launch.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONMAPTOTHREADS
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// Whether `op` stands where a call of the runtime may stand in its place.
static bool isOutermost(Operation *op) {
  return op->getParentOfType<func::FuncOp>() &&
         !op->getParentOfType<FusedOp>() &&
         !op->getParentOfType<linalg::LinalgOp>();
}

namespace {
struct KronMapToThreadsPass
    : kron::impl::KronMapToThreadsBase<KronMapToThreadsPass> {
  using KronMapToThreadsBase::KronMapToThreadsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    RuntimeCalls runtime(symbols);
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      SmallVector<QuantizeOp> quantizes;
      function.walk([&](QuantizeOp op) {
        if (isa<MemRefType>(op.getInput().getType()))
          quantizes.push_back(op);
      });
      for (QuantizeOp op : quantizes) {
        shareQuantize(runtime, op);
        op.erase();
      }
      SmallVector<linalg::LinalgOp> linalgOps;
      function.walk([&](linalg::LinalgOp op) {
        if (op.hasPureBufferSemantics() && isOutermost(op))
          linalgOps.push_back(op);
      });
      for (linalg::LinalgOp op : linalgOps)
        if (shareLinalg(runtime, op))
          op.erase();
    }
  }
};
} // namespace
