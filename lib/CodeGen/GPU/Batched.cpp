//===- Batched.cpp - GPU code for many small arrays -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the kernel takes, and its operands: one kernel for arrays that are
// packed and aligned, another one for others, chosen when the function runs.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Batched.h"
#include "BatchedKernel.h"
#include "kron/CodeGen/GPU/Support.h"

using namespace mlir;
using namespace mlir::kron;

/// Larger factors would make the unrolled code too long.
static constexpr int64_t kLargestFactor = 16;

std::optional<std::string>
kron::getBatchedUnsupportedReason(FusedOp fused, const GPUMachine &machine) {
  Type element = getElementType(fused.getInit());
  if (!element.isF32() && !element.isF64())
    return "the elements are neither f32 nor f64";
  if (!hasOneElementType(fused))
    return "arrays have different element types";
  Problem problem = describeProblem(fused);
  if (problem.getLargestFactorSize() > kLargestFactor)
    return "a factor is larger than 16";
  if (problem.inner < 0)
    return "the innermost axis has a dynamic size";
  if (llvm::any_of(problem.factors, [](const ProblemFactor &factor) {
        return !factor.varyingAxes.empty();
      }))
    return "a factor varies";
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const ProblemFactor &factor : problem.factors)
    first = std::min(first, factor.axis);
  auto shape = cast<ShapedType>(fused.getInit().getType()).getShape();
  if (llvm::any_of(shape.drop_front(first), ShapedType::isDynamic))
    return "an axis inside the contracted ones has a dynamic size";
  for (ModeProductOp product : fused.getModeProducts())
    if (product.getConjInput() || product.getConjFactor())
      return "something is conjugated";
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (given && given.getStages() == 1)
    return "it needs at least 2 pipeline stages";
  if (given && (given.getColumns() || given.getCluster() > 1))
    return "its tiles are whole rows of one CTA";
  if (!getBatchedPlan(fused, machine))
    return "a tile does not fit in shared memory";
  return std::nullopt;
}

namespace {
/// A condition that may be known.
struct Condition {
  bool isNever = false;
  /// Null: always, unless `isNever`.
  Value value;
};
} // namespace

static void require(Emitter &host, Condition &condition, Int lhs, Int rhs) {
  if (lhs == rhs)
    return;
  if (lhs.isConstant() && rhs.isConstant()) {
    condition.isNever = true;
    return;
  }
  Value equal = host.equal(lhs, rhs);
  condition.value = condition.value
                        ? Value(arith::AndIOp::create(host.builder, host.loc,
                                                      condition.value, equal))
                        : equal;
}

/// Requires that `array` has no gaps and begins at a multiple of 16 bytes.
static void requirePacked(Emitter &host, Condition &condition,
                          const StageArray &array, ArrayRef<Int> outerSizes,
                          ArrayRef<int64_t> itemSizes) {
  Int expected = 1;
  int64_t outerRank = outerSizes.size();
  for (int axis = outerRank + itemSizes.size() - 1; axis >= 0; --axis) {
    Int size =
        axis < outerRank ? outerSizes[axis] : Int(itemSizes[axis - outerRank]);
    if (!size.is(1))
      require(host, condition, array.strides[axis], expected);
    expected = host.mul(expected, size);
  }
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), array.base);
  require(host, condition, host.bitAnd(Int(address), 15), 0);
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

LogicalResult kron::emitBatchedKernel(OpBuilder &builder,
                                      gpu::GPUModuleOp gpuModule, FusedOp fused,
                                      const GPUMachine &machine) {
  std::optional<BatchedPlan> plan = getBatchedPlan(fused, machine);
  if (!plan)
    return fused.emitOpError("has items that do not fit in shared memory");
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  BatchedOperands operands = getOperands(host, fused, *plan);
  SmallVector<FactorArray> factors;
  for (ModeProductOp product : fused.getModeProducts())
    factors.push_back(getFusedFactor(host, fused, product));

  Condition packed;
  requirePacked(host, packed, operands.input, operands.outerSizes,
                plan->getInput().sizes);
  requirePacked(host, packed, operands.init, operands.outerSizes,
                plan->getOutput().sizes);
  if (operands.addend.base)
    requirePacked(host, packed, operands.addend, operands.outerSizes,
                  plan->getOutput().sizes);
  auto emit = [&](bool isPacked) {
    BatchedKernel(host, gpuModule, fused, *plan, isPacked)
        .emit(operands, factors);
  };
  if (packed.isNever || !packed.value) {
    emit(!packed.isNever);
    return success();
  }
  auto branch = scf::IfOp::create(builder, fused.getLoc(), packed.value,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit(true);
  builder.setInsertionPointToStart(branch.elseBlock());
  emit(false);
  return success();
}
