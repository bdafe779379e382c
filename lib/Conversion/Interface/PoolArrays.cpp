//===- PoolArrays.cpp - Memory from the runtime -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONPOOLARRAYS
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronPoolArraysPass : kron::impl::KronPoolArraysBase<KronPoolArraysPass> {
  using KronPoolArraysBase::KronPoolArraysBase;

  /// Lets calls of `from`, a declaration of the C library's, call `to`.
  void rename(StringRef from, StringRef to) {
    auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(from);
    if (!function || !function.isExternal())
      return;
    if (succeeded(SymbolTable::replaceAllSymbolUses(
            function, StringAttr::get(&getContext(), to), getOperation())))
      function.setSymName(to);
  }

  void runOnOperation() override {
    rename("malloc", "kronRtAllocate");
    rename("free", "kronRtFree");
  }
};
} // namespace
