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
  /// Whether how many they are is not known; what is accumulated of each.
  bool hasOpenResults = false;
  int64_t accumulations = 1;
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

static double countInstructions(Region &region, Type sum,
                                const PairwiseTiles &tiles) {
  double count = 0;
  if (region.empty())
    return count;
  for (Operation &op : region.front().without_terminator()) {
    int64_t instructions = tiles.mathInstructions;
    if (op.getName().getDialectNamespace() != "math" ||
        isa<math::AbsFOp, math::FmaOp>(op))
      instructions = 1;
    else if (sum.isF32() && isa<math::ExpOp, math::SqrtOp>(op))
      instructions = tiles.unitInstructions;
    count += static_cast<double>(instructions);
  }
  return count;
}

static double countInner(PairOpInterface op, const PairwiseTiles &tiles) {
  if (!op.getInner())
    return 1 +
           countInstructions(op.getInnerBody(), op.getAccumulatorType(), tiles);
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
  problem.outer =
      1 + countInstructions(op.getEpilogue(), op.getAccumulatorType(), tiles);
  problem.elementBytes = getElementBytes(getElementType(op.getInit()));
  if (auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation())) {
    problem.results = getSize(op.getInit(), rank - 1, tiles);
    problem.hasOpenResults =
        cast<ShapedType>(op.getInit().getType()).isDynamicDim(rank - 1);
    if (apply.getAccumulation() == PairAccumulation::LogSumExp)
      problem.accumulations = 2;
  }
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
                       loads * static_cast<double>(tiles.loadInstructions)) +
      elements * problem.outer;
  double passes = 1;
  if (problem.results > 0) {
    passes = divide(problem.results, plan.valueColumns);
    auto columns = static_cast<double>(plan.valueColumns);
    double perTerm = problem.accumulations > 1
                         ? static_cast<double>(tiles.unitInstructions)
                         : 1;
    perTile +=
        columns * (elements * perTerm +
                   static_cast<double>(plan.columns * tiles.valueInstructions));
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

/// Registers of 32 bits that a thread has sums in, and values that are loaded
/// while those of another column are used.
static int64_t countWords(const PairProblem &problem,
                          const PairwisePlan &plan) {
  int64_t words = plan.rows * plan.columns;
  if (problem.results > 0)
    words += plan.rows * plan.valueColumns * problem.accumulations;
  bool isWide = problem.elementBytes == 8;
  if (problem.results > 0 && (plan.valueColumns > 1 || isWide))
    words += plan.columns;
  return isWide ? 2 * words : words;
}

/// Chooses what `take` is given no value for.
static PairwisePlan
choose(const PairProblem &problem, const GPUMachine &machine,
       function_ref<int64_t(StringRef name, int64_t chosen)> take) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  bool isLong = problem.inner > static_cast<double>(tiles.manyInstructions);
  bool isProduct = problem.results > 0;
  PairwisePlan plan;
  plan.elementBytes = problem.elementBytes;
  plan.threads = take("threads", isLong ? tiles.longThreads : tiles.threads);
  int64_t resident = isLong ? tiles.longThreadsPerSM : tiles.threadsPerSM;
  plan.ctasPerSM =
      take("ctas_per_sm", std::max<int64_t>(resident / plan.threads, 1));
  plan.stages = take("stages", tiles.stages);
  plan.lanes = take("column_threads", tiles.lanes);
  if (isProduct)
    plan.splitCTAs = take("split_ctas", machine.numSMs * plan.ctasPerSM);
  int64_t mostWords = isProduct ? tiles.productWords : tiles.words;
  if (isLong)
    mostWords = (isProduct ? tiles.longProductWords : tiles.longWords) *
                (problem.elementBytes == 8 ? 2 : 1);
  PairwisePlan best;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::pair<double, double> least(kInfinity, kInfinity);
  auto consider = [&](int64_t rows, int64_t columns, int64_t results) {
    PairwisePlan other = plan;
    other.rows = rows;
    other.columns = columns;
    other.valueColumns = results;
    if (countWords(problem, other) > mostWords && best.rows > 0)
      return;
    other.rows = take("thread_rows", rows);
    other.columns = take("thread_columns", columns);
    if (isProduct)
      other.valueColumns = take("value_columns", results);
    PairTime time = estimate(problem, other, machine);
    // Where memory bounds all of them, the least arithmetic.
    auto found = std::make_pair(time.total, time.arithmetic);
    if (found < least) {
      least = found;
      best = other;
    }
  };
  auto mostResults = std::clamp<int64_t>(
      static_cast<int64_t>(problem.results), 1,
      problem.hasOpenResults ? tiles.openValueColumns : tiles.valueColumns);
  // The smallest tile is one of any function.
  consider(tiles.least, tiles.least, 1);
  for (int64_t rows = tiles.most; rows >= tiles.least; rows /= 2)
    for (int64_t columns = tiles.most; columns >= tiles.least; columns /= 2)
      for (int64_t results = mostResults; results > 0; results /= 2)
        consider(rows, columns, results);
  // As long a part of K as there is, and shared memory for.
  int64_t rowBytes = static_cast<int64_t>(problem.sizeK) * problem.elementBytes;
  int64_t stepBytes = tiles.stepBytes;
  auto fits = [&] {
    best.stepK = take("k_step", stepBytes / problem.elementBytes);
    return best.getSharedBytes() <= machine.getSharedBytes(best.ctasPerSM);
  };
  while ((!fits() || stepBytes >= 2 * rowBytes) &&
         stepBytes > tiles.leastStepBytes)
    stepBytes /= 2;
  for (int64_t ctas = best.ctasPerSM; ctas > 1 && !fits();)
    best.ctasPerSM = take("ctas_per_sm", --ctas);
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
  PairwisePlan plan =
      choose(problem, machine, [&](StringRef field, int64_t chosen) {
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
