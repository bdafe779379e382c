//===- DerivedFields.cpp - What a plan says without a field -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/DerivedFields.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/ChainPlan.h"
#include "kron/Plan/GPU/DmmaPlan.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/SimtPlan.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

using namespace mlir;
using namespace mlir::kron;

using Role = PlanField::Role;

/// Positions of a tile of `extents` along axes [first, end) that are not
/// `contracted`.
static int64_t countPositions(ArrayRef<int64_t> extents,
                              const llvm::SmallBitVector &contracted,
                              int64_t first, int64_t end) {
  int64_t count = 1;
  for (int64_t axis = first; axis < end; ++axis)
    if (!contracted[axis])
      count *= extents[axis];
  return count;
}

/// Rows lie along the axes outside of all contracted ones, columns along the
/// others.
static std::optional<int64_t>
countPositions(StringRef name, ArrayRef<int64_t> extents,
               const llvm::SmallBitVector &contracted) {
  int64_t outermost = contracted.find_first(), rank = extents.size();
  if (name == "tile")
    return countPositions(extents, contracted, 0, outermost);
  if (name == "columns")
    return countPositions(extents, contracted, outermost, rank);
  return std::nullopt;
}

/// Columns lie along the innermost axis alone, rows along all the others.
static std::optional<int64_t> derive(StringRef name, const SimtLaunch &launch) {
  ArrayRef<int64_t> extents = launch.extents.front();
  int64_t innermost = extents.size() - 1;
  if (name == "tile")
    return countPositions(extents, launch.contracted, 0, innermost);
  if (name == "columns")
    return countPositions(extents, launch.contracted, innermost, innermost + 1);
  if (name == "ctas_per_sm")
    return launch.ctasPerSM;
  return std::nullopt;
}

static std::optional<int64_t> derive(StringRef name, const SimtPlan &plan) {
  std::optional<int64_t> value = derive(name, plan.launches.front());
  bool differs = llvm::any_of(plan.launches, [&](const SimtLaunch &launch) {
    return derive(name, launch) != value;
  });
  return differs ? std::nullopt : value;
}

static std::optional<int64_t> derive(StringRef name, const FfmaPlan &plan) {
  if (name != "stages")
    return countPositions(name, plan.extents, plan.contracted);
  bool isWhole = !plan.direct && plan.ringSlots % plan.slots == 0;
  return isWhole ? std::optional(plan.ringSlots / plan.slots) : std::nullopt;
}

static std::optional<int64_t> derive(StringRef name, const DmmaPlan &plan) {
  if (name == "stages")
    return plan.ringSlots;
  return countPositions(name, plan.getTileExtents(), plan.contracted);
}

static std::optional<int64_t> derive(StringRef name, const SparsePlan &plan) {
  return name == "threads" ? std::optional(plan.getThreads()) : std::nullopt;
}

static std::optional<int64_t> derive(StringRef name, const ChainPlan &plan) {
  if (name == "threads")
    return plan.getThreads();
  if (name != "stages")
    return std::nullopt;
  std::optional<int64_t> stages;
  for (const SparsePlan &step : plan.steps) {
    if (!step.hasRing())
      continue;
    if (stages && *stages != step.stages)
      return std::nullopt;
    stages = step.stages;
  }
  return stages;
}

static std::optional<int64_t> derive(StringRef name,
                                     const SparseGradPlan &plan) {
  return name == "threads" ? std::optional(plan.getThreads()) : std::nullopt;
}

/// The same of what was read, if that is a plan.
template <typename Plan>
static std::optional<int64_t>
derive(StringRef name, const std::variant<Plan, std::string> &read) {
  auto *plan = std::get_if<Plan>(&read);
  return plan ? derive(name, *plan) : std::nullopt;
}

std::optional<int64_t> kron::getDerivedField(Operation *op, GPUPlanAttr plan,
                                             StringRef name) {
  GPUKernel kernel = plan.getKernel();
  // Tiles are of one CTA where nothing else can be said.
  if (name == "cluster" && kernel != GPUKernel::Cublas)
    return 1;
  switch (kernel) {
  case GPUKernel::Simt:
    return derive(name, readSimtPlan(cast<FusedOp>(op), plan));
  case GPUKernel::Ffma:
    return derive(name, readFfmaPlan(cast<FusedOp>(op), plan));
  case GPUKernel::Dmma:
    return derive(name, readDmmaPlan(cast<FusedOp>(op), plan));
  case GPUKernel::Batched:
    // Tiles are of whole rows.
    return name == "columns" ? std::optional<int64_t>(1) : std::nullopt;
  case GPUKernel::Sparse:
    return derive(name, readSparsePlan(cast<FusedOp>(op), plan));
  case GPUKernel::Chain:
    return derive(name, readChainPlan(cast<FusedOp>(op), plan));
  case GPUKernel::Gradient:
    return derive(name, readSparseGradPlan(cast<KsmmGradOp>(op), plan));
  default:
    return std::nullopt;
  }
}

std::string kron::findUnmet(Operation *op, GPUPlanAttr given,
                            GPUPlanAttr chosen) {
  std::string reason = findContradiction(given, chosen);
  if (!given || !reason.empty())
    return reason;
  StringRef kernel = stringifyGPUKernel(chosen.getKernel());
  for (NamedAttribute attribute : given.getFields()) {
    StringRef name = attribute.getName();
    const PlanField *field = findPlanField(chosen.getKernel(), name);
    if (name == "regions" || (field && field->role != Role::Constraint))
      continue;
    auto wanted = dyn_cast<IntegerAttr>(attribute.getValue());
    std::optional<int64_t> found = getDerivedField(op, chosen, name);
    if (wanted && found == wanted.getInt())
      continue;
    if (wanted && found && given.isComplete())
      return expects(name,
                     Twine(*found) + ", as the other fields of the plan say",
                     wanted.getInt());
    return ("no " + kernel + " plan has " + name + " = " +
            getFieldValueText(attribute.getValue()))
        .str();
  }
  return "";
}

std::string kron::getRegionsReason(GPUPlanAttr given) {
  Attribute regions = given ? given.getRegions() : Attribute();
  if (!regions)
    return "";
  return expects("no regions, as only chains of mode products are cut into "
                 "some",
                 getFieldValueText(regions));
}

GPUPlanAttr kron::dropConstraints(GPUPlanAttr plan) {
  for (NamedAttribute attribute : plan.getFields()) {
    const PlanField *field =
        findPlanField(plan.getKernel(), attribute.getName());
    if (field && field->role == Role::Constraint)
      plan = plan.without(attribute.getName());
  }
  return plan;
}
