//===- PoolArrays.cpp - Memory from the runtime -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONPOOLARRAYS
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronPoolArraysPass : kron::impl::KronPoolArraysBase<KronPoolArraysPass> {
  using KronPoolArraysBase::KronPoolArraysBase;

  void runOnOperation() override {
    DenseMap<StringAttr, StringAttr> renamed;
    const std::pair<StringRef, StringRef> names[] = {
        {"malloc", "kronRtAllocate"}, {"free", "kronRtFree"}};
    for (auto [from, to] : names) {
      auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(from);
      if (!function || !function.isExternal())
        continue;
      renamed[function.getSymNameAttr()] = StringAttr::get(&getContext(), to);
      function.setSymName(to);
    }
    if (renamed.empty())
      return;
    auto rename = [&](FlatSymbolRefAttr name) {
      StringAttr other = name ? renamed.lookup(name.getAttr()) : StringAttr();
      return other ? FlatSymbolRefAttr::get(other) : name;
    };
    // To look for symbols in the attributes of each operation takes longer.
    getOperation().walk([&](Operation *op) {
      if (auto call = dyn_cast<LLVM::CallOp>(op))
        call.setCalleeAttr(rename(call.getCalleeAttr()));
      else if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        address.setGlobalNameAttr(rename(address.getGlobalNameAttr()));
    });
  }
};
} // namespace
