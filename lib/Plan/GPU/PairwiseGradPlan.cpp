//===- PairwiseGradPlan.cpp - Gradients of functions of pairs ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Kron/Utils/PairPrograms.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// The derivative of the epilogue by the value of a pair.
static PairProgram getEpilogueDerivative(PairwiseGradOp op) {
  return PairProgram::getEpilogue(op).getDerivative(0);
}

/// Why no gradient like `op` has a kernel, whatever its arrays are.
static std::optional<std::string> getKindReason(PairwiseGradOp op) {
  if (op.getBy() == PairOperand::Param)
    return "gradients by hyper-parameters have no kernel";
  if (!op.getDirections().empty())
    return "gradients of derivatives along directions have no kernel";
  if (op.getReduction() != PairReduction::Sum)
    return "gradients of maxima have no kernel";
  unsigned side = op.getBy() == PairOperand::Lhs ? 0 : 1;
  if (PairProgram::getInner(op).getDerivative(side).isZero(0) ||
      getEpilogueDerivative(op).isZero(0))
    return "the gradient is 0 whatever the arrays hold";
  return std::nullopt;
}

LogicalResult kron::verifyGradPlan(PairwiseGradOp op) {
  if (!isa_and_present<GPUPlanAttr, DispatchAttr>(op.getPlanAttr()))
    return success();
  if (std::optional<std::string> reason = getKindReason(op))
    return op.emitOpError("has no GPU kernel; pairwise_grad: ") << *reason;
  return success();
}

std::optional<std::string> kron::getPairwiseGradReason(PairwiseGradOp op) {
  if (std::optional<std::string> reason = getKindReason(op))
    return reason;
  return getPairsReason(op);
}

bool kron::readsPairs(PairwiseGradOp op) {
  return getEpilogueDerivative(op).reads(0, 0);
}

std::optional<std::string> kron::getGradFieldsReason(PairwiseGradOp op,
                                                     GPUPlanAttr given) {
  for (StringRef name : {"threads", "ctas_per_sm"})
    if (given.has(name) && given.get(name) < 1)
      return expects(name + " to be positive", given.get(name));
  for (StringRef name : {"stages", "k_step"})
    if (given.has(name) && (given.get(name) > 0) != readsPairs(op))
      return expects(name + (readsPairs(op) ? " to be positive, as weights "
                                              "depend on values of pairs"
                                            : " to be 0, as weights depend on "
                                              "no values of pairs"),
                     given.get(name));
  if (given.has("outputs") && given.get("outputs") > 1 && !hasOutputs(op))
    return expects("outputs to be 1, as gradients do not differ in a factor of "
                   "one column only",
                   given.get("outputs"));
  return std::nullopt;
}

/// Why no kernel is as `plan` says, or nothing.
static std::optional<std::string> getReason(const PairwiseGradPlan &plan,
                                            const GPUMachine &machine) {
  constexpr int64_t kWarp = 32, kChunkBytes = 16;
  if (auto reason = getCtasReason(plan.ctasPerSM, plan.threads, machine))
    return reason;
  for (auto [name, lanes] : {std::pair("column_threads", plan.lanes),
                             std::pair("k_threads", plan.threadsK)})
    if (!llvm::isPowerOf2_64(lanes) || lanes > kWarp)
      return expects(Twine(name) + " to be a power of two up to 32", lanes);
  if (plan.stages == 1)
    return expects("stages to be 0 or in [2, 8]", plan.stages);
  // Rows in shared memory lie an odd number of 16 bytes apart.
  if (plan.stepK * plan.elementBytes % (2 * kChunkBytes) != 0)
    return expects("k_step to be a multiple of " +
                       Twine(2 * kChunkBytes / plan.elementBytes),
                   plan.stepK);
  if (plan.getTileK() * plan.elementBytes % kChunkBytes != 0)
    return expects("thread_positions * k_threads to be a multiple of " +
                       Twine(kChunkBytes / plan.elementBytes),
                   plan.getTileK());
  if (plan.getTileRows() * plan.threadsK % plan.threads != 0)
    return expects("the rows of a block to be a multiple of " +
                       Twine(plan.threads / plan.threadsK) +
                       ", threads / k_threads",
                   plan.getTileRows());
  int64_t sums = plan.getGradRows() * plan.positions * plan.outputs;
  if (std::max(plan.rows * plan.columns, sums) > PairwisePlan::kMostElements)
    return expects("values and sums of a thread to be at most 128",
                   std::max(plan.rows * plan.columns, sums));
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}

std::variant<PairwiseGradPlan, std::string>
kron::readPairwiseGradPlan(PairwiseGradOp op, GPUPlanAttr attr,
                           const GPUMachine &machine) {
  if (attr.getKernel() != GPUKernel::PairwiseGrad)
    return "only kernel pairwise_grad takes gradients of functions of pairs, "
           "but got " +
           stringifyGPUKernel(attr.getKernel()).str();
  if (std::optional<std::string> reason = getPairwiseGradReason(op))
    return *reason;
  if (std::optional<std::string> reason = getGradFieldsReason(op, attr))
    return *reason;
  PairwiseGradPlan plan;
  plan.elementBytes = getElementBytes(getElementType(op.getInit()));
  PlanReader reader(attr);
  PairwiseGradChoices::visitFields(reader, plan);
  if (readsPairs(op) && (!plan.stages || !plan.stepK))
    return expects("stages and k_step to be positive, as weights depend on "
                   "values of pairs",
                   std::min(plan.stages, plan.stepK));
  if (std::optional<std::string> reason = getReason(plan, machine))
    return *reason;
  return plan;
}
