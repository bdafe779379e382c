//===- GPUPlanner.cpp - Which kernels apply a fused region ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every kernel has a planner, which says how it would map a fused region or why
// it does not take it; the cost model says how long that would take.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/GPUPlanner.h"
#include "QuantizePlanner.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/BatchedPlanner.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Mapping/GPU/DmmaPlanner.h"
#include "kron/Mapping/GPU/FfmaPlanner.h"
#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Mapping/GPU/MmaPlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Mapping/GPU/SimtPlanner.h"
#include "kron/Mapping/GPU/SparseGradPlanner.h"
#include "kron/Mapping/GPU/SparsePlanner.h"
#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "mlir/IR/Remarks.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

namespace {
struct Planner {
  GPUKernel kernel;
  /// Whose rates and accesses the cost model counts with.
  GPUKernel family;
  PlansOrReason (*plan)(FusedOp fused, const GPUMachine &machine);
};

/// One planner's answer for a fused region.
struct Candidate {
  Planner planner;
  PlansOrReason plans;
  KernelTime time;

  const std::string *getReason() const {
    return std::get_if<std::string>(&plans);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static PlansOrReason planDense(FusedOp fused, const GPUMachine &machine) {
  if (isRegrouped(fused))
    return "axes are regrouped between factors, which kernel chain takes";
  if (isSparse(describeProblem(fused)))
    return "the factor varies over axes, is large or has an epilogue, which "
           "kernel sparse takes";
  return planMma(fused, machine);
}

static PlansOrReason planOneSparse(FusedOp fused, const GPUMachine &machine) {
  if (isRegrouped(fused))
    return "axes are regrouped between factors, which kernel chain takes";
  if (!isSparse(describeProblem(fused)))
    return "no factor varies over axes, which kernel mma takes";
  return planSparse(fused, machine);
}

static PlansOrReason planRegrouped(FusedOp fused, const GPUMachine &machine) {
  if (!isRegrouped(fused))
    return "axes are not regrouped between factors";
  return planChain(fused, machine);
}

/// Keep the preferred ones first; the last one takes every fused region that
/// has elements.
static const Planner kPlanners[] = {
    {GPUKernel::Wgmma, GPUKernel::Wgmma, planWgmma},
    {GPUKernel::Batched, GPUKernel::Batched, planBatched},
    {GPUKernel::Dmma, GPUKernel::Ffma, planDmma},
    {GPUKernel::Ffma, GPUKernel::Ffma, planFfma},
    {GPUKernel::Mma, GPUKernel::Mma, planDense},
    {GPUKernel::Sparse, GPUKernel::Mma, planOneSparse},
    {GPUKernel::SmallGroups, GPUKernel::Mma, planOneSparse},
    {GPUKernel::Chain, GPUKernel::Mma, planRegrouped},
    {GPUKernel::Simt, GPUKernel::Simt, planSimt},
};

/// Whether `kernel` is worth mentioning for `fused`: of the three that use
/// mma.sync, each has fused regions of its own; dmma is for f64.
static bool isForKindOf(GPUKernel kernel, FusedOp fused) {
  bool regroups = isRegrouped(fused);
  switch (kernel) {
  case GPUKernel::Dmma:
    return getElementType(fused.getInit()).isF64();
  case GPUKernel::Mma:
    return !regroups && !isSparse(describeProblem(fused));
  case GPUKernel::Sparse:
    return !regroups && isSparse(describeProblem(fused));
  case GPUKernel::SmallGroups:
    // Of the plans of sparse, where they are faster.
    return false;
  case GPUKernel::Chain:
    return regroups;
  default:
    return true;
  }
}

/// The planners that the plan of `fused` allows.
static SmallVector<Planner> getAllowedPlanners(FusedOp fused) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  SmallVector<Planner> allowed;
  for (const Planner &planner : kPlanners)
    if (given && given.getKernel() != GPUKernel::Auto
            ? planner.kernel == given.getKernel()
            : isForKindOf(planner.kernel, fused))
      allowed.push_back(planner);
  return allowed;
}

/// What `planner` says of `fused`: plans only if they have all that the plan of
/// `fused` says.
static PlansOrReason planWith(const Planner &planner, FusedOp fused,
                              const GPUMachine &machine) {
  PlansOrReason plans = planner.plan(fused, machine);
  GPUPlanAttr given = getGPUPlanAttr(fused);
  auto *found = std::get_if<SmallVector<GPUPlanAttr>>(&plans);
  if (!found || !given)
    return plans;
  // What quantizes is decided once a kernel is chosen.
  std::string unmet = findUnmet(fused, given.without("quantize"), *found);
  return unmet.empty() ? plans : PlansOrReason(unmet);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Whether data of `plan`, of kind `simt`, do not go through shared memory.
static bool loadsDirectly(GPUPlanAttr plan) {
  auto launches = plan.getFields().getAs<ArrayAttr>("launches");
  return cast<DictionaryAttr>(launches[0]).contains("direct_load");
}

/// Whether one of `candidates` multiplies and adds like `simt`, on tiles that
/// arrive while others are multiplied.
static bool hasTilesAhead(ArrayRef<Candidate> candidates) {
  return llvm::any_of(candidates, [](const Candidate &candidate) {
    GPUKernel kernel = candidate.planner.kernel;
    return (kernel == GPUKernel::Batched || kernel == GPUKernel::Ffma) &&
           !candidate.getReason();
  });
}

/// Adds to `time` of the best kernel of mma what its `plan` takes longer; of
/// f64 it is the plan's alone.
static void addMmaSeconds(FusedOp fused, GPUPlanAttr plan,
                          const Problem &problem, const GPUMachine &machine,
                          KernelTime &time) {
  double ragged = getRaggedSeconds(problem, machine);
  time.shared += ragged;
  time.total += ragged;
  std::variant<MmaPlan, std::string> read = readMmaPlan(fused, plan);
  auto *found = std::get_if<MmaPlan>(&read);
  if (!found || ShapedType::isDynamic(found->numPositions))
    return;
  double launch = GPUResources(machine).getLaunchSeconds();
  double total = launch + getMmaBlockSeconds(*found, machine);
  if (hasMmaEstimate(*found)) {
    const GPURates &rates = getGPURates(machine);
    double tiles = estimateMmaTiles(*found, machine),
           memory = time.memory / rates.dense.copyShare;
    // Both hide each other the better the more one of them is the longer one;
    // one tile's load and store overlap with nothing.
    total = launch + std::hypot(tiles, memory) +
            memory / std::max(getMmaWaves(*found, machine),
                              rates.mmaTiles.leastWaves);
    time.shared = std::max(tiles - time.arithmetic, 0.0);
  } else if (total > time.total) {
    time.shared += total - time.total;
  } else {
    return;
  }
  time.total = total;
}

/// What `planner`, in front of which `candidates` were evaluated, says.
static Candidate evaluate(const Planner &planner, FusedOp fused,
                          const Problem &problem, const GPUMachine &machine,
                          ArrayRef<Candidate> candidates) {
  Candidate candidate{planner, planWith(planner, fused, machine), {}};
  if (candidate.getReason())
    return candidate;
  if (planner.kernel == GPUKernel::Wgmma) {
    candidate.time = estimateWgmmaTime(
        fused, std::get<SmallVector<GPUPlanAttr>>(candidate.plans).front(),
        problem, machine);
    return candidate;
  }
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t columns =
      given && given.getColumns()
          ? given.getColumns()
          : chooseColumns(problem, getFootprintBudget(machine), machine);
  // Where nothing fits, the general kernel works on single columns.
  KernelTiling tiling =
      chooseTiling(planner.family, problem, std::max<int64_t>(columns, 1),
                   getFootprintBudget(machine), machine);
  if (planner.kernel == GPUKernel::Sparse)
    tiling.usesWarpgroups = llvm::any_of(
        std::get<SmallVector<GPUPlanAttr>>(candidate.plans),
        [](GPUPlanAttr plan) {
          return plan.getKernel() == GPUKernel::Sparse && plan.get("wgmma");
        });
  candidate.time = estimateTime(planner.family, problem, tiling, machine);
  // Numbers of rows that a launch knows alone are nominal in other ways there.
  if (planner.kernel == GPUKernel::Sparse && !problem.hasDynamicSize) {
    double seconds = estimateSparseTiles(
        fused, std::get<SmallVector<GPUPlanAttr>>(candidate.plans).back(),
        candidate.time.total, machine);
    candidate.time.shared += seconds - candidate.time.total;
    candidate.time.total = seconds;
  }
  if (planner.family == GPUKernel::Mma)
    if (auto time = estimateSmallGroups(fused, problem, machine))
      candidate.time = *time;
  if (planner.kernel == GPUKernel::Mma)
    addMmaSeconds(fused,
                  std::get<SmallVector<GPUPlanAttr>>(candidate.plans).front(),
                  problem, machine, candidate.time);
  if (planner.kernel == GPUKernel::Simt) {
    GPUPlanAttr plan =
        std::get<SmallVector<GPUPlanAttr>>(candidate.plans).front();
    auto time = estimateSimt(fused, plan, machine);
    // By way of shared memory, it beats none of these by its own model.
    if (time && (loadsDirectly(plan) || !hasTilesAhead(candidates) ||
                 time->total > candidate.time.total))
      candidate.time = *time;
  }
  // Its steps on whole items are slow where something lies inside them, and it
  // copies items without a gap.
  if (planner.kernel == GPUKernel::Batched &&
      (problem.inner != 1 || problem.readsTranspose))
    candidate.time.total *= 2;
  return candidate;
}

/// The fastest candidate that takes the fused region, or null. Ties go to the
/// planner that stands first in their table.
static Candidate *getFastest(MutableArrayRef<Candidate> candidates) {
  Candidate *best = nullptr;
  for (Candidate &candidate : candidates)
    if (!candidate.getReason() &&
        (!best || candidate.time.total < best->time.total))
      best = &candidate;
  return best;
}

/// The same, but for `sparse` in the place of `wgmma` where arrays of f32 start
/// anywhere: estimates of `sparse` alone have what that costs.
static Candidate *chooseCandidate(MutableArrayRef<Candidate> candidates,
                                  FusedOp fused, const Problem &problem,
                                  const GPUMachine &machine) {
  Candidate *best = getFastest(candidates);
  if (!best || best->planner.kernel != GPUKernel::Wgmma ||
      !problem.element.isF32() || problem.factors.size() != 1)
    return best;
  double ragged = estimateRaggedSeconds(GPUKernel::Wgmma, fused, problem,
                                        best->time.total, machine);
  for (Candidate &candidate : candidates)
    if (candidate.planner.kernel == GPUKernel::Sparse &&
        !candidate.getReason() && candidate.time.total < ragged)
      return &candidate;
  return best;
}

/// What `time` is made of for the most part.
static StringRef getBound(const KernelTime &time) {
  if (time.memory >= time.arithmetic + time.shared)
    return "memory";
  return time.arithmetic >= time.shared ? "arithmetic" : "shared memory";
}

static int64_t toMicroseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e6 + 0.5);
}

/// Puts cuBLAS in front of `plans` if nothing is `against` it and it takes less
/// time than `chosen`, or puts `asked` there, if that is not null. What to say
/// of it: also where only the dense matrix that a sparse factor is a part of
/// would be faster.
static std::string chooseCublas(FusedOp fused, const Candidate &chosen,
                                const Problem &problem,
                                const GPUMachine &machine, StringRef against,
                                GPUPlanAttr asked,
                                SmallVectorImpl<GPUPlanAttr> &plans) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::variant<GPUPlanAttr, std::string> plan = asked;
  if (!asked)
    plan = planCublas(fused, machine);
  if (auto *found = std::get_if<GPUPlanAttr>(&plan)) {
    double seconds = estimateCublasTime(fused, problem, machine).total;
    double ofKernel = estimateRaggedSeconds(
        chosen.planner.kernel, fused, problem, chosen.time.total, machine);
    if (asked || seconds < ofKernel) {
      bool isTaken = asked || against.empty();
      os << "; cublas: " << toMicroseconds(seconds) << " us, "
         << (isTaken ? "where it is there" : against);
      if (isTaken)
        plans.insert(plans.begin(), *found);
    }
  }
  double dense = estimateDenseSeconds(fused, problem, machine);
  if (dense < chosen.time.total)
    os << "; as one dense matrix by cublas: " << toMicroseconds(dense) << " us";
  return text;
}

/// What takes `fused` where arrays are not aligned: with what the plan of
/// `fused` says, if there are such plans, which are for another kernel.
static SmallVector<GPUPlanAttr> planUnaligned(FusedOp fused,
                                              const GPUMachine &machine) {
  PlansOrReason plans = planSimt(fused, machine);
  if (std::holds_alternative<std::string>(plans)) {
    Attribute given = fused.getPlanAttr();
    fused.removePlanAttr();
    plans = planSimt(fused, machine);
    fused.setPlanAttr(given);
  }
  return std::get<SmallVector<GPUPlanAttr>>(plans);
}

/// Lets one of `plans`, of which `planner` has made the main one, compute
/// `quantize` (may be null), as `inFront` or, if that is null, the plan of
/// `fused` asks for; an error if none does then.
static LogicalResult addQuantize(FusedOp fused, QuantizeOp quantize,
                                 GPUPlanAttr inFront, const Planner &planner,
                                 const GPUMachine &machine,
                                 SmallVectorImpl<GPUPlanAttr> &plans) {
  if (inFront)
    fused.setPlanAttr(inFront);
  std::optional<std::string> reason;
  if (inFront && !asksForQuantizing(fused))
    reason = "expects quantize to be 1 for one factor, but got 0";
  else if (quantize)
    reason = planQuantize(fused, quantize, planner.kernel, machine, plans);
  if (inFront && reason)
    return fused.emitOpError("has no GPU kernel of kind chain; chain: ")
           << *reason;
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (!given || !(inFront || given.has("quantize")))
    return success();
  std::string unmet = findUnmet(fused, given, plans);
  if (unmet.empty())
    return success();
  unmet = nameGivenFields(fused, unmet,
                          [&] { return planWith(planner, fused, machine); });
  return fused.emitOpError("has no GPU kernel; ")
         << stringifyGPUKernel(planner.kernel) << ": " << unmet;
}

/// Says what was chosen, what bounds it, and what became of the others.
static void explain(FusedOp fused, const Candidate &chosen, GPUPlanAttr plan,
                    ArrayRef<Candidate> candidates, StringRef ofOthers,
                    const GPUMachine &machine) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << "kernel " << stringifyGPUKernel(chosen.planner.kernel) << ", bound by "
     << getBound(chosen.time) << ", estimated "
     << toMicroseconds(chosen.time.total) << " us, floor "
     << toMicroseconds(chosen.time.floor) << " us"
     << (machine.isCalibrated ? " (calibrated)" : "");
  for (const Candidate &candidate : candidates) {
    if (candidate.planner.kernel == chosen.planner.kernel)
      continue;
    os << "; " << stringifyGPUKernel(candidate.planner.kernel) << ": ";
    if (const std::string *reason = candidate.getReason())
      os << *reason;
    else
      os << toMicroseconds(candidate.time.total) << " us, bound by "
         << getBound(candidate.time);
  }
  os << ofOthers << "; " << plan;
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << message
      << remark::metric("FactorsApplied", fused.getModeProducts().size())
      << remark::metric("Microseconds", toMicroseconds(chosen.time.total))
      << remark::metric("CopyMicroseconds", toMicroseconds(chosen.time.floor));
}

LogicalResult kron::planForGPU(FusedOp fused, ArrayRef<QuantizeOp> quantizes,
                               const GPUMachine &machine, bool allowsCublas) {
  // What is chosen at launch has been decided already.
  if (isa_and_present<DispatchAttr>(fused.getPlanAttr()))
    return success();
  for (ModeProductOp product : fused.getModeProducts())
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return success();
  if (hasEmptyArray(fused))
    return success();
  GPUPlanAttr given = getGPUPlanAttr(fused);
  // Kernels for fewer rows stand behind one that quantizes those of one factor.
  QuantizeOp quantize = findQuantize(fused, quantizes);
  GPUPlanAttr inFront;
  if (quantize && given && given.getKernel() == GPUKernel::Chain &&
      !isRegrouped(fused)) {
    inFront = given;
    fused.removePlanAttr();
    given = nullptr;
  }
  // A kernel stands behind the call, for where there is no cuBLAS.
  GPUPlanAttr asked;
  if (given && given.getKernel() == GPUKernel::Cublas) {
    std::variant<GPUPlanAttr, std::string> plan = planCublas(fused, machine);
    if (auto *reason = std::get_if<std::string>(&plan))
      return fused.emitOpError("cannot be a call of cuBLAS: ") << *reason;
    asked = std::get<GPUPlanAttr>(plan);
    fused.removePlanAttr();
    given = nullptr;
  }
  Problem problem = describeProblem(fused);
  SmallVector<Candidate> candidates;
  for (const Planner &planner : getAllowedPlanners(fused))
    candidates.push_back(
        evaluate(planner, fused, problem, machine, candidates));
  Candidate *chosen = chooseCandidate(candidates, fused, problem, machine);
  if (!chosen) {
    InFlightDiagnostic error = fused.emitOpError("has no GPU kernel");
    if (given && given.getKernel() != GPUKernel::Auto)
      error << " of kind " << stringifyGPUKernel(given.getKernel());
    for (const Candidate &candidate : candidates)
      error << "; " << stringifyGPUKernel(candidate.planner.kernel) << ": "
            << nameGivenFields(fused, *candidate.getReason(), [&] {
                 return planWith(candidate.planner, fused, machine);
               });
    return error;
  }

  auto plans = std::get<SmallVector<GPUPlanAttr>>(chosen->plans);
  GPUPlanAttr main = plans.back();
  for (GPUPlanAttr plan : llvm::reverse(plans))
    if (plan.getKernel() == chosen->planner.kernel)
      main = plan;
  // Arrays may turn out not to be aligned as the kernel needs it.
  if (plans.back().get("alignment"))
    llvm::append_range(plans, planUnaligned(fused, machine));
  bool namesKernel = inFront || (given && given.getKernel() != GPUKernel::Auto);
  bool hasFields = given && !given.without("regions").getFields().empty();
  StringRef against = !allowsCublas ? "not allowed"
                      : namesKernel ? "but the plan names a kernel"
                      : hasFields   ? "which has no fields of the plan"
                                    : "";
  std::string ofCublas =
      chooseCublas(fused, *chosen, problem, machine, against, asked, plans);
  if (failed(addQuantize(fused, quantize, inFront, chosen->planner, machine,
                         plans)))
    return failure();
  main = dropConstraints(main);
  llvm::transform(plans, plans.begin(), dropConstraints);
  explain(fused, *chosen, main, candidates, ofCublas, machine);
  if (plans.size() == 1)
    fused.setPlanAttr(plans.front());
  else
    fused.setPlanAttr(DispatchAttr::get(fused.getContext(), plans));
  return success();
}

std::optional<KernelTime> kron::estimateRegion(FusedOp fused,
                                               const GPUMachine &machine) {
  if (hasEmptyArray(fused))
    return std::nullopt;
  Problem problem = describeProblem(fused);
  SmallVector<Candidate> candidates;
  for (const Planner &planner : getAllowedPlanners(fused))
    candidates.push_back(
        evaluate(planner, fused, problem, machine, candidates));
  Candidate *fastest = chooseCandidate(candidates, fused, problem, machine);
  return fastest ? std::optional(fastest->time) : std::nullopt;
}

std::optional<KernelTime> kron::estimateRegionOrCall(FusedOp fused,
                                                     const GPUMachine &machine,
                                                     bool allowsCublas) {
  std::optional<KernelTime> kernel = estimateRegion(fused, machine);
  if (!allowsCublas || hasEmptyArray(fused) ||
      std::holds_alternative<std::string>(planCublas(fused, machine)))
    return kernel;
  KernelTime call = estimateCublasTime(fused, describeProblem(fused), machine);
  return !kernel || call.total < kernel->total ? call : kernel;
}

LogicalResult kron::planForGPU(KsmmGradOp gradient, const GPUMachine &machine) {
  auto plan = [&]() -> PlansOrReason {
    std::variant<GPUPlanAttr, std::string> found =
        planSparseGrad(gradient, machine);
    if (auto *reason = std::get_if<std::string>(&found))
      return *reason;
    auto chosen = std::get<GPUPlanAttr>(found);
    std::string unmet = findUnmet(gradient, getGPUPlanAttr(gradient), chosen);
    if (!unmet.empty())
      return unmet;
    return SmallVector<GPUPlanAttr>{dropConstraints(chosen)};
  };
  if (std::string reason = getRegionsReason(getGPUPlanAttr(gradient));
      !reason.empty())
    return gradient.emitOpError("has no GPU kernel: ") << reason;
  PlansOrReason plans = plan();
  if (auto *reason = std::get_if<std::string>(&plans))
    return gradient.emitOpError("has no GPU kernel: ")
           << nameGivenFields(gradient, *reason, plan);
  gradient.setPlanAttr(std::get<SmallVector<GPUPlanAttr>>(plans).front());
  remarkSparseGrad(gradient, machine);
  return success();
}

/// Whether a planner whose cost is counted as that of `family` takes `fused`.
static bool isTaken(GPUKernel family, FusedOp fused,
                    const GPUMachine &machine) {
  return llvm::any_of(getAllowedPlanners(fused), [&](const Planner &planner) {
    return planner.family == family && !std::holds_alternative<std::string>(
                                           planWith(planner, fused, machine));
  });
}

std::optional<std::string>
kron::getEpilogueUnsupportedReason(FusedOp bare, FusedOp fused,
                                   const GPUMachine &machine) {
  // Its product must not be rounded.
  Type element = getElementType(fused.getInit());
  if (getAccumulatorType(element) != element || hasEmptyArray(fused))
    return std::nullopt;
  std::optional<std::string> reason;
  for (const Planner &planner : getAllowedPlanners(fused)) {
    if (planner.kernel == GPUKernel::Simt)
      continue;
    PlansOrReason own = planWith(planner, fused, machine);
    auto *ownReason = std::get_if<std::string>(&own);
    if (!ownReason)
      return std::nullopt;
    if (!reason && isTaken(planner.family, bare, machine))
      reason = stringifyGPUKernel(planner.kernel).str() + ": " + *ownReason;
  }
  // Only the general kernel takes the product, which takes epilogues too.
  return reason;
}
