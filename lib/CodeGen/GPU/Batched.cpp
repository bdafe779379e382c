//===- Batched.cpp - GPU code for many small arrays -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The operands of the kernel, and the test for arrays that are packed and
// aligned, which have a kernel of their own.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Batched.h"
#include "BatchedKernel.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

static void require(Emitter &host, PackedTest &test, Int lhs, Int rhs) {
  if (lhs == rhs)
    return;
  if (lhs.isConstant() && rhs.isConstant()) {
    test.isNever = true;
    return;
  }
  Value equal = host.equal(lhs, rhs);
  test.value = test.value ? Value(arith::AndIOp::create(host.builder, host.loc,
                                                        test.value, equal))
                          : equal;
}

/// Requires that `array` has no gaps and begins at a multiple of 16 bytes.
static void requirePacked(Emitter &host, PackedTest &test,
                          const StageArray &array, ArrayRef<Int> outerSizes,
                          ArrayRef<int64_t> itemSizes) {
  Int expected = 1;
  int64_t outerRank = outerSizes.size();
  for (int axis = outerRank + itemSizes.size() - 1; axis >= 0; --axis) {
    Int size =
        axis < outerRank ? outerSizes[axis] : Int(itemSizes[axis - outerRank]);
    if (!size.is(1))
      require(host, test, array.strides[axis], expected);
    expected = host.mul(expected, size);
  }
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), array.base);
  require(host, test, host.bitAnd(Int(address), 15), 0);
}

static BatchedOperands getOperands(Emitter &host, FusedOp fused,
                                   const BatchedPlan &plan) {
  FusedOperands all = getFusedOperands(host, fused);
  BatchedOperands operands;
  for (unsigned axis = 0; axis < plan.firstAxis; ++axis) {
    operands.outerSizes.push_back(all.sizes[axis]);
    operands.items = host.mul(operands.items, all.sizes[axis]);
  }
  operands.input = all.input;
  operands.init = all.init;
  operands.addend = all.addend;
  if (!all.alpha.isOne())
    operands.alpha = all.alpha.materialize(host.builder, host.loc);
  if (all.addend.base && !all.beta.isOne())
    operands.beta = all.beta.materialize(host.builder, host.loc);
  return operands;
}

PackedTest kron::buildBatchedTest(OpBuilder &builder, FusedOp fused,
                                  GPUPlanAttr plan) {
  PackedTest test;
  std::variant<BatchedPlan, std::string> read = readBatchedPlan(fused, plan);
  // emitBatchedKernel says what is wrong with it.
  if (std::holds_alternative<std::string>(read))
    return test;
  const auto &complete = std::get<BatchedPlan>(read);
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  FusedOperands operands = getFusedOperands(host, fused);
  ArrayRef<Int> outerSizes =
      ArrayRef(operands.sizes).take_front(complete.firstAxis);
  requirePacked(host, test, operands.input, outerSizes,
                complete.getInput().sizes);
  requirePacked(host, test, operands.init, outerSizes,
                complete.getOutput().sizes);
  if (operands.addend.base)
    requirePacked(host, test, operands.addend, outerSizes,
                  complete.getOutput().sizes);
  return test;
}

LogicalResult kron::emitBatchedKernel(OpBuilder &builder,
                                      gpu::GPUModuleOp gpuModule, FusedOp fused,
                                      GPUPlanAttr plan,
                                      const GPUMachine &machine) {
  std::variant<BatchedPlan, std::string> read = readBatchedPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&read))
    return fused.emitOpError("cannot become a batched kernel: ") << *reason;
  const auto &complete = std::get<BatchedPlan>(read);
  if (auto reason = getSharedMemoryReason(complete.getSharedBytes(),
                                          complete.ctasPerSM, machine))
    return fused.emitOpError("cannot become a batched kernel: ") << *reason;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  BatchedOperands operands = getOperands(host, fused, complete);
  SmallVector<FactorArray> factors;
  for (ModeProductOp product : fused.getModeProducts())
    factors.push_back(getFusedFactor(host, fused, product));
  BatchedKernel(host, gpuModule, fused, complete).emit(operands, factors);
  return success();
}
