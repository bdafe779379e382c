//===- ReleaseEarly.cpp - Release arrays after their last use ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONRELEASEEARLY
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// Moves `last` to the last operation of `block` that uses `memory` or a view
/// of it. False if something may use it that this does not see.
static bool findLastUser(Value memory, Block *block, memref::DeallocOp dealloc,
                         Operation *&last) {
  for (Operation *user : memory.getUsers()) {
    if (user == dealloc)
      continue;
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!ancestor || user->hasTrait<OpTrait::IsTerminator>())
      return false;
    if (!last || last->isBeforeInBlock(ancestor))
      last = ancestor;
    // Views are other names; results of anything else might be.
    bool namesMemory =
        llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
    if (!namesMemory)
      continue;
    if (!isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp>(user))
      return false;
    for (Value result : user->getResults())
      if (isa<BaseMemRefType>(result.getType()) &&
          !findLastUser(result, block, dealloc, last))
        return false;
  }
  return true;
}

namespace {
struct KronReleaseEarlyPass
    : kron::impl::KronReleaseEarlyBase<KronReleaseEarlyPass> {
  using KronReleaseEarlyBase::KronReleaseEarlyBase;

  void runOnOperation() override {
    // All of them first: two of one array, wrong as they are, would move behind
    // each other forever.
    SmallVector<memref::DeallocOp> deallocs;
    getOperation()->walk(
        [&](memref::DeallocOp dealloc) { deallocs.push_back(dealloc); });
    for (memref::DeallocOp dealloc : deallocs) {
      Operation *last = nullptr;
      Block *block = dealloc->getBlock();
      if (findLastUser(dealloc.getMemref(), block, dealloc, last) && last)
        dealloc->moveAfter(last);
    }
  }
};
} // namespace
