//===- PairwisePlanner.cpp - How pairs are mapped to a GPU ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thread's tile is as large as registers allow, since what it loads per
// position of K grows with the tile's sides and what it computes with its area;
// and smaller where there would be too few tiles for the SMs, or most of them
// would lie behind the ends of the result. The cost model counts instructions.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// What the cost model knows of an operation.
struct PairProblem {
  double batch = 1, rows = 1, columns = 1, sizeK = 1;
  /// Instructions per position of K and per pair.
  double inner = 1, outer = 1;
  /// Columns of the values of a product; 0 if there are none.
  double results = 0;
  int64_t elementBytes = 0;
};

struct PairTime {
  double arithmetic = 0, memory = 0, total = 0;
};

} // namespace

/// Positions along a dimension; those of many if it is open.
static double getSize(Value array, unsigned dim, const PairwiseTiles &tiles) {
  int64_t size = cast<ShapedType>(array.getType()).getDimSize(dim);
  return static_cast<double>(ShapedType::isDynamic(size) ? tiles.openSize
                                                         : size);
}

static double countInstructions(Region &region, const PairwiseTiles &tiles) {
  double count = 0;
  if (!region.empty())
    for (Operation &op : region.front().without_terminator())
      count += op.getName().getDialectNamespace() != "math" ||
                       isa<math::AbsFOp, math::FmaOp>(op)
                   ? 1
                   : static_cast<double>(tiles.mathInstructions);
  return count;
}

static double countInner(PairOpInterface op, const PairwiseTiles &tiles) {
  if (!op.getInner())
    return 1 + countInstructions(op.getInnerBody(), tiles);
  switch (*op.getInner()) {
  case PairFunction::Dot:
    return 1;
  case PairFunction::AbsDiff:
  case PairFunction::SquareDiff:
    return 2;
  case PairFunction::NotEqual:
    return 4;
  case PairFunction::PowDiff:
    return 2 + static_cast<double>(tiles.mathInstructions);
  }
  llvm_unreachable("all functions are handled");
}

static PairProblem describe(PairOpInterface op, const PairwiseTiles &tiles) {
  PairProblem problem;
  unsigned rank = cast<ShapedType>(op.getInit().getType()).getRank();
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    problem.batch *= cast<ShapedType>(op.getInit().getType()).isDynamicDim(dim)
                         ? 1
                         : getSize(op.getInit(), dim, tiles);
  problem.rows = getSize(op.getLhs(), op.getRowsDim(0), tiles);
  problem.columns = getSize(op.getRhs(), op.getRowsDim(1), tiles);
  problem.sizeK = getSize(op.getLhs(), op.getReducedDim(0), tiles);
  problem.inner = countInner(op, tiles);
  problem.outer = 1 + countInstructions(op.getEpilogue(), tiles);
  problem.elementBytes = getElementBytes(getElementType(op.getInit()));
  if (isa<PairwiseApplyOp>(op.getOperation()))
    problem.results = getSize(op.getInit(), rank - 1, tiles);
  return problem;
}

static PairTime estimate(const PairProblem &problem, const PairwisePlan &plan,
                         const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  auto divide = [](double size, int64_t by) {
    return std::ceil(size / static_cast<double>(by));
  };
  auto elements = static_cast<double>(plan.rows * plan.columns);
  double threads = plan.threads, loads = plan.rows + plan.columns;
  double perTile =
      problem.sizeK * (elements * problem.inner +
                       loads / static_cast<double>(tiles.loadPositions)) +
      elements * problem.outer;
  double passes = 1;
  if (problem.results > 0) {
    passes = divide(problem.results, plan.valueColumns);
    perTile += elements * static_cast<double>(plan.valueColumns);
  }
  double count = problem.batch * passes *
                 divide(problem.rows, plan.getTileRows()) *
                 divide(problem.columns, plan.getTileColumns());
  auto resident = static_cast<double>(machine.numSMs * plan.ctasPerSM);
  double waves = std::ceil(count / resident);
  double rate = (problem.elementBytes == 8 ? machine.dfma : machine.ffma) / 2;
  PairTime time;
  time.arithmetic = waves * resident * threads * perTile / rate;
  double stored = problem.results > 0 ? problem.results : problem.columns;
  time.memory = problem.batch *
                (problem.rows * stored +
                 (problem.rows + problem.columns) * problem.sizeK) *
                static_cast<double>(problem.elementBytes) /
                machine.copyBytesPerSecond;
  time.total = machine.launchSeconds + std::max(time.arithmetic, time.memory);
  return time;
}

/// Chooses what `take` is given no value for.
static PairwisePlan
choose(const PairProblem &problem, const GPUMachine &machine, bool isPaired,
       function_ref<int64_t(StringRef name, int64_t chosen)> take) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  PairwisePlan plan;
  plan.elementBytes = problem.elementBytes;
  plan.threads = take("threads", tiles.threads);
  plan.ctasPerSM = take(
      "ctas_per_sm", std::max<int64_t>(tiles.threadsPerSM / plan.threads, 1));
  auto rowBytes = static_cast<int64_t>(
      problem.sizeK * static_cast<double>(problem.elementBytes));
  int64_t stepBytes =
      std::min(tiles.stepBytes,
               static_cast<int64_t>(llvm::alignTo(
                   std::max<int64_t>(rowBytes, 1), tiles.leastStepBytes)));
  plan.stepK = take("k_step", stepBytes / problem.elementBytes);
  plan.lanes = take("column_threads", tiles.lanes);
  bool isLong = problem.inner > static_cast<double>(tiles.manyInstructions);
  int64_t elements = isLong                      ? tiles.longElements
                     : problem.elementBytes == 8 ? tiles.wideElements
                                                 : tiles.elements;
  int64_t mostColumns = tiles.most;
  if (problem.results > 0) {
    int64_t most = isPaired ? tiles.pairedColumns : tiles.valueColumns;
    if (problem.elementBytes == 8)
      most = std::max<int64_t>(most / 2, 1);
    plan.valueColumns = take(
        "value_columns",
        std::clamp<int64_t>(static_cast<int64_t>(problem.results), 1, most));
    plan.splitCTAs = take("split_ctas", machine.numSMs * plan.ctasPerSM);
    if (plan.valueColumns > 1)
      mostColumns = tiles.productColumns;
  }
  PairwisePlan best;
  double seconds = std::numeric_limits<double>::infinity();
  for (int64_t rows = tiles.most; rows > 1; rows /= 2)
    for (int64_t columns = mostColumns; columns > 1; columns /= 2) {
      PairwisePlan other = plan;
      other.rows = take("thread_rows", rows);
      other.columns = take("thread_columns", columns);
      if (rows * columns > elements)
        continue;
      double found = estimate(problem, other, machine).total;
      if (found < seconds) {
        seconds = found;
        best = other;
      }
    }
  // As many stages as there is shared memory for.
  best.stages = tiles.stages;
  while (best.stages > 2 &&
         best.getSharedBytes() > machine.getSharedBytes(best.ctasPerSM))
    --best.stages;
  best.stages = take("stages", best.stages);
  return best;
}

LogicalResult kron::planForGPU(PairOpInterface op, const GPUMachine &machine) {
  if (getPairwiseReason(op))
    return success();
  StringAttr name = StringAttr::get(op.getContext(), kPlanAttrName);
  auto given = dyn_cast_if_present<GPUPlanAttr>(
      op->getInherentAttr(name).value_or(Attribute()));
  auto refuse = [&](const std::string &reason) {
    return op->emitOpError("has no GPU kernel; pairwise: ") << reason;
  };
  if (given && given.getKernel() != GPUKernel::Auto &&
      given.getKernel() != GPUKernel::Pairwise)
    return refuse("no other kernel takes functions of pairs, but got " +
                  stringifyGPUKernel(given.getKernel()).str());
  PairProblem problem = describe(op, getGPUTiles(machine).pairwise);
  auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation());
  bool isPaired =
      apply && apply.getAccumulation() == PairAccumulation::LogSumExp;
  PairwisePlan plan =
      choose(problem, machine, isPaired, [&](StringRef field, int64_t chosen) {
        return given && given.has(field) ? given.get(field) : chosen;
      });
  PlanWriter writer(op.getContext(), GPUKernel::Pairwise);
  PairwiseChoices::visitFields(writer, plan);
  GPUPlanAttr attr = writer.getPlan();
  auto read = readPairwisePlan(op, attr, machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  if (given)
    if (std::string unmet = findContradiction(given, attr); !unmet.empty())
      return refuse(unmet);
  op->setInherentAttr(name, attr);
  PairTime time = estimate(problem, plan, machine);
  auto microseconds = static_cast<int64_t>(time.total * 1e6 + 0.5);
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("kernel pairwise, bound by {0}",
                     time.memory > time.arithmetic ? "memory" : "arithmetic")
      << remark::add(", estimated {0} us", microseconds)
      << remark::add("; {0}", attr)
      << remark::metric("Microseconds", microseconds);
  return success();
}
