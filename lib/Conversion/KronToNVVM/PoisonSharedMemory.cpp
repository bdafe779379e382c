//===- PoisonSharedMemory.cpp - Fill shared memory with NaN -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// No sanitizer reports reads of shared memory that nobody wrote, so tests look
// for their effect: results that change.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONPOISONSHAREDMEMORY
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

static bool usesSharedMemory(LLVM::LLVMFuncOp kernel) {
  WalkResult result = kernel.walk([](LLVM::AddressOfOp op) {
    return op.getGlobalName() == kSharedMemoryName ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Stores -1 to all words of the CTA's shared memory before anything else.
static void poison(LLVM::LLVMFuncOp kernel, LLVM::GlobalOp memory) {
  Location loc = kernel.getLoc();
  auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Type i32 = builder.getI32Type();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  Value bytes =
      LLVM::CallIntrinsicOp::create(
          builder, loc, i32,
          builder.getStringAttr("llvm.nvvm.read.ptx.sreg.dynamic_smem_size"),
          ValueRange())
          .getResult(0);
  Value thread = NVVM::ThreadIdXOp::create(builder, loc, i32);
  Value threads = NVVM::BlockDimXOp::create(builder, loc, i32);
  Value wordBytes = constant(sizeof(int32_t));
  Value first = arith::MulIOp::create(builder, loc, thread, wordBytes);
  Value step = arith::MulIOp::create(builder, loc, threads, wordBytes);
  Value base = LLVM::AddressOfOp::create(builder, loc, memory);
  Value word = constant(-1);
  auto loop = scf::ForOp::create(builder, loc, first, bytes, step);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value address =
        LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                            base, ValueRange(loop.getInductionVar()));
    LLVM::StoreOp::create(builder, loc, word, address);
  }
  NVVM::Barrier0Op::create(builder, loc);
  // Other CTAs of a cluster write here as soon as they have started.
  if (!kernel->hasAttr(NVVM::NVVMDialect::getClusterDimAttrName()))
    return;
  NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
}

namespace {

struct KronPoisonSharedMemoryPass
    : kron::impl::KronPoisonSharedMemoryBase<KronPoisonSharedMemoryPass> {
  void runOnOperation() override {
    auto memory =
        getOperation().lookupSymbol<LLVM::GlobalOp>(kSharedMemoryName);
    if (!memory)
      return;
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
          usesSharedMemory(kernel))
        poison(kernel, memory);
  }
};

} // namespace
