//===- SelectScheduleGPU.cpp - Choose #kron.schedule for a GPU --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every emitter says whether it takes a pass, the cost model how long that
// would take. Tiles, threads and stages are the emitter's own business unless
// the schedule names them: it knows what its mapping needs.
//
//===----------------------------------------------------------------------===//

#include "SelectScheduleGPU.h"
#include "kron/CodeGen/GPU/CostModel.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/PassOperands.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a tile of the outermost axes and columns.
static constexpr int64_t kTileBytes = 32 * 1024;

namespace {
/// One emitter's answer for a pass.
struct Candidate {
  GPUKernel kernel;
  /// Why the emitter does not take the pass.
  std::optional<std::string> reason;
  TripTime time;
};
} // namespace

/// What `time` is made of for the most part.
static StringRef getBound(const TripTime &time) {
  if (time.memory >= time.arithmetic + time.shared)
    return "memory";
  return time.arithmetic >= time.shared ? "arithmetic" : "shared memory";
}

static Candidate evaluate(const GPUEmitter &emitter, PassOp pass,
                          const Trip &trip, const GPUMachine &machine) {
  Candidate candidate;
  candidate.kernel = emitter.kernel;
  candidate.reason = emitter.getUnsupportedReason(pass, machine);
  if (candidate.reason)
    return candidate;
  ScheduleAttr given = pass.getScheduleAttr();
  int64_t columns = given && given.getColumns()
                        ? given.getColumns()
                        : chooseColumns(trip, getSlabBudget(machine), machine);
  // Where nothing fits, the general kernel works on single columns.
  TripTiling tiling =
      chooseTiling(emitter.kernel, trip, std::max<int64_t>(columns, 1),
                   getSlabBudget(machine), machine);
  candidate.time = estimateTime(emitter.kernel, trip, tiling, machine);
  if (emitter.kernel == GPUKernel::Mma)
    if (auto time = estimateSmallGroups(pass, trip, machine))
      candidate.time = *time;
  // Its steps on whole items are slow where something lies inside them, and it
  // copies items without a gap.
  if (emitter.kernel == GPUKernel::Batched &&
      (trip.inner != 1 || trip.readsTranspose))
    candidate.time.total *= 2;
  return candidate;
}

/// `schedule` with `kernel`, a tile of `rows` and slabs of `columns`.
static ScheduleAttr withTile(ScheduleAttr schedule, GPUKernel kernel,
                             int64_t rows, int64_t columns) {
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getVectorBits(), rows,
      schedule.getRegisterRows(), schedule.getRegisterVectors(), 0, 0, 0, 0, 0,
      kernel, schedule.getThreads(), columns, schedule.getCtasPerSm(),
      schedule.getStages(), schedule.getCluster(), schedule.getTrips());
}

/// Names what the chosen emitter would not find out by itself: as many columns
/// of the outermost axes, which have no rows outside of them, as make a tile.
static void chooseTile(PassOp pass, const Trip &trip, GPUKernel kernel,
                       const GPUMachine &machine) {
  ScheduleAttr given = pass.getScheduleAttr();
  const GPUEmitter *emitter =
      llvm::find_if(getGPUEmitters(), [&](const GPUEmitter &candidate) {
        return candidate.kernel == kernel;
      });
  auto accepts = [&](int64_t rows, int64_t columns) {
    pass.setScheduleAttr(withTile(given, kernel, rows, columns));
    return !emitter->getUnsupportedReason(pass, machine);
  };
  if (given.getTile() || given.getColumns())
    return;
  bool hasRows = llvm::all_of(
      trip.factors, [](const TripFactor &factor) { return factor.axis > 0; });
  if (kernel == GPUKernel::Mma && !hasRows && trip.inner != 1) {
    int64_t columns = kTileBytes / trip.getSlabBytes(1);
    columns =
        llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(columns, 1)));
    if (columns > trip.getColumns(128) &&
        (trip.inner < 0 || columns <= trip.inner) && accepts(0, columns))
      return;
  }
  pass.setScheduleAttr(given);
}

/// All candidates; only the one that the schedule of `pass` names, if it does.
static SmallVector<Candidate> getCandidates(PassOp pass, const Trip &trip,
                                            const GPUMachine &machine) {
  GPUKernel wanted = pass.getScheduleAttr() ? pass.getScheduleAttr().getKernel()
                                            : GPUKernel::Auto;
  SmallVector<Candidate> candidates;
  for (const GPUEmitter &emitter : getGPUEmitters())
    if (wanted == GPUKernel::Auto || emitter.kernel == wanted)
      candidates.push_back(evaluate(emitter, pass, trip, machine));
  return candidates;
}

/// The fastest candidate that takes the pass, or null. Ties go to the emitter
/// that stands first in their table.
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

/// Lets cuBLAS compute `pass` where it is there at run time, if that is allowed
/// and takes less than `chosen`. What to say of it: also where only the dense
/// matrix that a sparse factor is a part of would be faster.
static std::string chooseCublas(PassOp pass, const Candidate &chosen,
                                const Trip &trip, const GPUMachine &machine,
                                bool isAllowed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto reason = getCublasUnsupportedReason(pass, machine);
  if (!reason) {
    double seconds = estimateCublasTime(pass, trip, machine).total;
    if (seconds < chosen.time.total) {
      os << "; cublas: " << toMicroseconds(seconds) << " us, "
         << (isAllowed ? "where it is there" : "not allowed");
      if (isAllowed)
        pass->setAttr(kCublasAttrName, UnitAttr::get(pass.getContext()));
    }
  }
  double dense = estimateDenseSeconds(pass, trip, machine);
  if (dense < chosen.time.total)
    os << "; as one dense matrix by cublas: " << toMicroseconds(dense) << " us";
  return text;
}

/// Says what was chosen, what bounds it, and what became of the others.
static void explain(PassOp pass, const Candidate &chosen,
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
  remark::analysis(
      pass.getLoc(),
      remark::RemarkOpts::name("KronSchedule").category("kron-schedule"))
      << message
      << remark::metric("FactorsApplied", pass.getModeProducts().size())
      << remark::metric("Microseconds", toMicroseconds(chosen.time.total))
      << remark::metric("CopyMicroseconds", toMicroseconds(chosen.time.floor));
}

LogicalResult kron::selectGPUSchedule(PassOp pass, const GPUMachine &machine,
                                      bool allowsCublas) {
  for (ModeProductOp product : pass.getModeProducts())
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return success();
  if (hasEmptyArray(pass))
    return success();
  Trip trip = describeTrip(pass);
  SmallVector<Candidate> candidates = getCandidates(pass, trip, machine);
  ScheduleAttr given = pass.getScheduleAttr();
  const Candidate *chosen = getFastest(candidates);
  if (!chosen) {
    InFlightDiagnostic error = pass.emitOpError("has no GPU kernel");
    if (given && given.getKernel() != GPUKernel::Auto)
      error << " of kind " << stringifyGPUKernel(given.getKernel());
    for (const Candidate &candidate : candidates)
      error << "; " << stringifyGPUKernel(candidate.kernel) << ": "
            << *candidate.reason;
    return error;
  }

  if (!given)
    given = ScheduleAttr::get(pass.getContext(), 0, 0, 0, 0);
  pass.setScheduleAttr(
      withTile(given, chosen->kernel, given.getTile(), given.getColumns()));
  chooseTile(pass, trip, chosen->kernel, machine);
  explain(pass, *chosen, candidates,
          chooseCublas(pass, *chosen, trip, machine, allowsCublas));
  return success();
}
