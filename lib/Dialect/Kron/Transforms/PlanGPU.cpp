//===- PlanGPU.cpp - How fused regions are mapped to a GPU ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every emitter says whether it takes a fused region, the cost model how long
// that would take. Tiles, threads and pipeline stages are the emitter's own
// business unless the plan names them: it knows what its mapping needs.
//
//===----------------------------------------------------------------------===//

#include "PlanGPU.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/CostModel.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a tile of the outermost axes and columns.
static constexpr int64_t kTileBytes = 32 * 1024;

namespace {
/// One emitter's answer for a fused region.
struct Candidate {
  GPUKernel kernel;
  /// Why the emitter does not take the fused region.
  std::optional<std::string> reason;
  KernelTime time;
};
} // namespace

/// What `time` is made of for the most part.
static StringRef getBound(const KernelTime &time) {
  if (time.memory >= time.arithmetic + time.shared)
    return "memory";
  return time.arithmetic >= time.shared ? "arithmetic" : "shared memory";
}

static Candidate evaluate(const GPUEmitter &emitter, FusedOp fused,
                          const Problem &region, const GPUMachine &machine) {
  Candidate candidate;
  candidate.kernel = emitter.kernel;
  candidate.reason = emitter.getUnsupportedReason(fused, machine);
  if (candidate.reason)
    return candidate;
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t columns =
      given && given.getColumns()
          ? given.getColumns()
          : chooseColumns(region, getFootprintBudget(machine), machine);
  // Where nothing fits, the general kernel works on single columns.
  KernelTiling tiling =
      chooseTiling(emitter.kernel, region, std::max<int64_t>(columns, 1),
                   getFootprintBudget(machine), machine);
  candidate.time = estimateTime(emitter.kernel, region, tiling, machine);
  if (emitter.kernel == GPUKernel::Mma)
    if (auto time = estimateSmallGroups(fused, region, machine))
      candidate.time = *time;
  // Its steps on whole items are slow where something lies inside them, and it
  // copies items without a gap.
  if (emitter.kernel == GPUKernel::Batched &&
      (region.inner != 1 || region.readsTranspose))
    candidate.time.total *= 2;
  return candidate;
}

/// `given` with `kernel`, a tile of `rows` and `columns` columns of it.
static GPUPlanAttr withTile(GPUPlanAttr given, GPUKernel kernel, int64_t rows,
                            int64_t columns) {
  return GPUPlanAttr::get(given.getContext(), kernel, rows, columns,
                          given.getThreads(), given.getCtasPerSm(),
                          given.getStages(), given.getCluster(),
                          given.getRegions());
}

/// Names what the chosen emitter would not find out by itself: as many columns
/// of the outermost axes, which have no rows outside of them, as make a tile.
static void chooseTile(FusedOp fused, const Problem &region, GPUKernel kernel,
                       const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  const GPUEmitter *emitter =
      llvm::find_if(getGPUEmitters(), [&](const GPUEmitter &candidate) {
        return candidate.kernel == kernel;
      });
  auto accepts = [&](int64_t rows, int64_t columns) {
    fused.setPlanAttr(withTile(given, kernel, rows, columns));
    return !emitter->getUnsupportedReason(fused, machine);
  };
  if (given.getTile() || given.getColumns())
    return;
  bool hasRows = llvm::all_of(region.factors, [](const ProblemFactor &factor) {
    return factor.axis > 0;
  });
  if (kernel == GPUKernel::Mma && !hasRows && region.inner != 1) {
    int64_t columns = kTileBytes / region.getFootprintBytes(1);
    columns =
        llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(columns, 1)));
    if (columns > region.getColumns(128) &&
        (region.inner < 0 || columns <= region.inner) && accepts(0, columns))
      return;
  }
  fused.setPlanAttr(given);
}

/// All candidates; only the one that the plan of `fused` names, if it does.
static SmallVector<Candidate>
getCandidates(FusedOp fused, const Problem &region, const GPUMachine &machine) {
  GPUKernel wanted = getGPUPlanAttr(fused) ? getGPUPlanAttr(fused).getKernel()
                                           : GPUKernel::Auto;
  SmallVector<Candidate> candidates;
  for (const GPUEmitter &emitter : getGPUEmitters())
    if (wanted == GPUKernel::Auto || emitter.kernel == wanted)
      candidates.push_back(evaluate(emitter, fused, region, machine));
  return candidates;
}

/// The fastest candidate that takes the fused region, or null. Ties go to the
/// emitter that stands first in their table.
static const Candidate *getFastest(ArrayRef<Candidate> candidates) {
  const Candidate *best = nullptr;
  for (const Candidate &candidate : candidates)
    if (!candidate.reason && (!best || candidate.time.total < best->time.total))
      best = &candidate;
  return best;
}

static int64_t toMicroseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e6 + 0.5);
}

/// Lets cuBLAS compute `fused` where it is there at run time, if that is
/// allowed and takes less than `chosen`. What to say of it: also where only the
/// dense matrix that a sparse factor is a part of would be faster.
static std::string chooseCublas(FusedOp fused, const Candidate &chosen,
                                const Problem &region,
                                const GPUMachine &machine, bool isAllowed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto reason = getCublasUnsupportedReason(fused, machine);
  if (!reason) {
    double seconds = estimateCublasTime(fused, region, machine).total;
    if (seconds < chosen.time.total) {
      os << "; cublas: " << toMicroseconds(seconds) << " us, "
         << (isAllowed ? "where it is there" : "not allowed");
      if (isAllowed)
        fused->setAttr(kCublasAttrName, UnitAttr::get(fused.getContext()));
    }
  }
  double dense = estimateDenseSeconds(fused, region, machine);
  if (dense < chosen.time.total)
    os << "; as one dense matrix by cublas: " << toMicroseconds(dense) << " us";
  return text;
}

/// Says what was chosen, what bounds it, and what became of the others.
static void explain(FusedOp fused, const Candidate &chosen,
                    ArrayRef<Candidate> candidates, StringRef ofCublas) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << "kernel " << stringifyGPUKernel(chosen.kernel) << ", bound by "
     << getBound(chosen.time);
  for (const Candidate &candidate : candidates) {
    if (candidate.kernel == chosen.kernel)
      continue;
    os << "; " << stringifyGPUKernel(candidate.kernel) << ": ";
    if (candidate.reason)
      os << *candidate.reason;
    else
      os << toMicroseconds(candidate.time.total) << " us";
  }
  os << ofCublas;
  remark::analysis(fused.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << message
      << remark::metric("FactorsApplied", fused.getModeProducts().size())
      << remark::metric("Microseconds", toMicroseconds(chosen.time.total))
      << remark::metric("CopyMicroseconds", toMicroseconds(chosen.time.floor));
}

LogicalResult kron::planForGPU(FusedOp fused, const GPUMachine &machine,
                               bool allowsCublas) {
  for (ModeProductOp product : fused.getModeProducts())
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return success();
  if (hasEmptyArray(fused))
    return success();
  Problem region = describeProblem(fused);
  SmallVector<Candidate> candidates = getCandidates(fused, region, machine);
  GPUPlanAttr given = getGPUPlanAttr(fused);
  const Candidate *chosen = getFastest(candidates);
  if (!chosen) {
    InFlightDiagnostic error = fused.emitOpError("has no GPU kernel");
    if (given && given.getKernel() != GPUKernel::Auto)
      error << " of kind " << stringifyGPUKernel(given.getKernel());
    for (const Candidate &candidate : candidates)
      error << "; " << stringifyGPUKernel(candidate.kernel) << ": "
            << *candidate.reason;
    return error;
  }

  if (!given)
    given = GPUPlanAttr::get(fused.getContext(), GPUKernel::Auto, 0, 0, 0, 0, 0,
                             0, DenseI64ArrayAttr());
  fused.setPlanAttr(
      withTile(given, chosen->kernel, given.getTile(), given.getColumns()));
  chooseTile(fused, region, chosen->kernel, machine);
  explain(fused, *chosen, candidates,
          chooseCublas(fused, *chosen, region, machine, allowsCublas));
  return success();
}
