//===- OverlapLaunches.cpp - Launches that overlap the kernel before -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// From sm_90 on, a kernel may be launched while the kernel before it on the
// stream still runs ("programmatic dependent launch"). Its CTAs come to the
// SMs as soon as there is room, and wait there, instead of coming when the last
// CTA of the kernel before has gone.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Conversion/Passes.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONOVERLAPLAUNCHES
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// The first capability with griddepcontrol.
static constexpr int kFirstCapability = 90;
/// Position of the cluster's size among the operands of kronRtCudaLaunch.
static constexpr unsigned kClusterOperand = 4;

/// Whether the CTAs of `kernel` share its tiles out among themselves: it reads
/// how many there are.
static bool isPersistent(LLVM::LLVMFuncOp kernel) {
  return kernel.walk([](NVVM::GridDimXOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Makes `kernel` wait for the one before and then make room for the next one,
/// unless it does so.
static void waitFirst(LLVM::LLVMFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  if (isa<NVVM::GriddepcontrolOp>(entry.front()))
    return;
  auto builder = OpBuilder::atBlockBegin(&entry);
  // In this order at most one kernel waits, and the one in front of it has all
  // the room that it wants.
  NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                 NVVM::GridDepActionKind::wait);
  // While a persistent kernel runs, CTAs of the next one would gather where SMs
  // have room left. With tiles shared out evenly among CTAs, SMs with more of
  // them take longer than the others. Its end makes room all the same.
  if (!isPersistent(kernel))
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                   NVVM::GridDepActionKind::launch_dependents);
}

/// Says in the host's `call` of kronRtCudaLaunch that the kernel waits by
/// itself: a size of clusters that is not positive.
static LogicalResult allowEarlyStart(LLVM::CallOp call) {
  OpOperand &operand = call->getOpOperand(kClusterOperand);
  APInt size;
  if (!matchPattern(operand.get(), m_ConstantInt(&size)))
    return call.emitOpError("expects a constant size of clusters");
  int64_t cluster = size.getSExtValue();
  if (cluster <= 0)
    return success();
  OpBuilder builder(call);
  operand.set(arith::ConstantIntOp::create(builder, call.getLoc(),
                                           cluster == 1 ? 0 : -cluster, 32));
  return success();
}

namespace {

struct KronOverlapLaunchesPass
    : kron::impl::KronOverlapLaunchesBase<KronOverlapLaunchesPass> {
  using KronOverlapLaunchesBase::KronOverlapLaunchesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<GPUMachine> machine = getGPUMachine(module, chip);
    if (failed(machine))
      return signalPassFailure();
    auto gpuModule = module.lookupSymbol<gpu::GPUModuleOp>(kGPUModuleName);
    if (!gpuModule || machine->computeCapability < kFirstCapability)
      return;
    for (auto kernel : gpuModule.getOps<LLVM::LLVMFuncOp>())
      if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        waitFirst(kernel);
    WalkResult result = module.walk([](LLVM::CallOp call) {
      return call.getCallee() == "kronRtCudaLaunch" &&
                     failed(allowEarlyStart(call))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
