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
#include "kron/Plan/GPU/DerivedFields.h"
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
  /// Matrix products that it can be made of; 0 if it cannot.
  int64_t products = 0;
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
    // A logarithm and a power of two.
    return 2 + static_cast<double>(op.getAccumulatorType().isF32()
                                       ? 2 * tiles.unitInstructions
                                       : tiles.mathInstructions);
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
  if (hasMatrixProducts(op))
    problem.products = problem.elementBytes == 4 ? 3 : 1;
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
  double perTile = elements * problem.outer;
  double rate = (problem.elementBytes == 8 ? machine.dfma : machine.ffma) / 2;
  if (plan.products) {
    double steps = divide(problem.sizeK, plan.stepK);
    double mmaRate = problem.elementBytes == 8 ? machine.dmma : machine.f16Mma;
    // In instructions of other arithmetic that take as long.
    double perElement =
        static_cast<double>(2 * plan.stepK * plan.products) * rate / mmaRate;
    auto loaded =
        static_cast<double>((plan.rows + plan.columns / 2) * plan.getParts());
    perTile +=
        elements * static_cast<double>(tiles.productInstructions) +
        steps * (elements * perElement +
                 loaded * static_cast<double>(tiles.productLoadInstructions));
  } else {
    perTile +=
        problem.sizeK * (elements * problem.inner +
                         loads * static_cast<double>(tiles.loadInstructions));
  }
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
  PairTime time;
  time.arithmetic = waves * resident * threads * perTile / rate;
  double stored = problem.results > 0 ? problem.results : problem.columns;
  time.memory = problem.batch *
                (problem.rows * stored +
                 (problem.rows + problem.columns) * problem.sizeK) *
                static_cast<double>(problem.elementBytes) /
                machine.copyBytesPerSecond;
  double launches = plan.products ? 1.0 + tiles.packingKernels : 1.0;
  time.total =
      launches * machine.launchSeconds + std::max(time.arithmetic, time.memory);
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

namespace {

/// Chooses what `take` is given no value for.
class PlanSearch {
public:
  using Take = function_ref<int64_t(StringRef name, int64_t chosen)>;
  PlanSearch(const PairProblem &problem, const GPUMachine &machine, Take take)
      : problem(problem), machine(machine),
        tiles(getGPUTiles(machine).pairwise), take(take),
        isProduct(problem.results > 0),
        mostResults(
            std::clamp<int64_t>(static_cast<int64_t>(problem.results), 1,
                                problem.hasOpenResults ? tiles.openValueColumns
                                                       : tiles.valueColumns)) {}

  PairwisePlan choose();

private:
  void consider(PairwisePlan plan);
  void considerFunction();
  void considerProducts();
  void chooseStep();

  const PairProblem &problem;
  const GPUMachine &machine;
  const PairwiseTiles &tiles;
  Take take;
  bool isProduct;
  int64_t mostResults;
  PairwisePlan best;
  /// Of the best one: where memory bounds all of them, the least arithmetic.
  std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
};

} // namespace

void PlanSearch::consider(PairwisePlan plan) {
  plan.elementBytes = problem.elementBytes;
  plan.threads = take("threads", plan.threads);
  plan.ctasPerSM = take("ctas_per_sm", std::max<int64_t>(plan.ctasPerSM, 1));
  plan.stages = take("stages", plan.stages);
  plan.lanes = take("column_threads", plan.lanes);
  plan.rows = take("thread_rows", plan.rows);
  plan.columns = take("thread_columns", plan.columns);
  if (isProduct) {
    plan.splitCTAs = take("split_ctas", machine.numSMs * plan.ctasPerSM);
    plan.valueColumns = take("value_columns", plan.valueColumns);
  }
  PairTime time = estimate(problem, plan, machine);
  auto found = std::make_pair(time.total, time.arithmetic);
  if (found < least) {
    least = found;
    best = plan;
  }
}

void PlanSearch::considerFunction() {
  bool isLong = problem.inner > static_cast<double>(tiles.manyInstructions);
  PairwisePlan plan;
  plan.elementBytes = problem.elementBytes;
  plan.threads = isLong ? tiles.longThreads : tiles.threads;
  int64_t resident = isLong ? tiles.longThreadsPerSM : tiles.threadsPerSM;
  plan.ctasPerSM = resident / take("threads", plan.threads);
  plan.stages = tiles.stages;
  plan.lanes = tiles.lanes;
  int64_t mostWords = isProduct ? tiles.productWords : tiles.words;
  if (isLong)
    mostWords = (isProduct ? tiles.longProductWords : tiles.longWords) *
                (problem.elementBytes == 8 ? 2 : 1);
  auto considerTile = [&](int64_t rows, int64_t columns, int64_t results) {
    plan.rows = rows;
    plan.columns = columns;
    plan.valueColumns = results;
    // The smallest tile is one of any function.
    if (best.rows == 0 || countWords(problem, plan) <= mostWords)
      consider(plan);
  };
  considerTile(tiles.least, tiles.least, 1);
  for (int64_t rows = tiles.most; rows >= tiles.least; rows /= 2)
    for (int64_t columns = tiles.most; columns >= tiles.least; columns /= 2)
      for (int64_t results = mostResults; results > 0; results /= 2)
        considerTile(rows, columns, results);
}

/// Registers of 32 bits that sums and operands of matrix products take.
static int64_t countProductWords(const PairProblem &problem,
                                 const PairwisePlan &plan) {
  int64_t sums = plan.rows * plan.columns;
  // Rows of the values have addresses beside what is loaded of them.
  if (problem.results > 0)
    sums += plan.rows * plan.valueColumns * problem.accumulations +
            2 * plan.columns;
  int64_t rowParts = 4 * plan.getParts();
  int64_t operands =
      std::min((plan.rows + 4) * rowParts, (plan.columns / 2 + 2) * rowParts);
  return sums * (problem.elementBytes == 8 ? 2 : 1) + operands;
}

void PlanSearch::considerProducts() {
  auto shapes = isProduct
                    ? ArrayRef<PairwiseTiles::Products>(tiles.valueProducts)
                    : ArrayRef<PairwiseTiles::Products>(tiles.matrices);
  for (const PairwiseTiles::Products &shape : shapes)
    for (int64_t results = mostResults; results > 0; results /= 2) {
      PairwisePlan plan;
      plan.elementBytes = problem.elementBytes;
      plan.products = take("products", problem.products);
      plan.threads = shape.threads;
      plan.ctasPerSM = shape.ctasPerSM;
      plan.rows = shape.rows;
      plan.columns = shape.columns;
      plan.lanes = shape.lanes;
      plan.stages = tiles.productStages;
      plan.valueColumns = results;
      plan.stepK =
          take("k_step", PairwisePlan::kPartBytes / plan.getPackedBytes());
      int64_t registers =
          machine.getRegistersPerThread(plan.threads, plan.ctasPerSM);
      auto fits = [&] {
        return plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
      };
      while (plan.stages > 2 && !fits())
        --plan.stages;
      registers -=
          isProduct ? tiles.otherProductRegisters : tiles.otherRegisters;
      if (fits() && countProductWords(problem, plan) <= registers)
        consider(plan);
    }
}

/// As long a part of K as there is, and shared memory for.
void PlanSearch::chooseStep() {
  int64_t rowBytes = static_cast<int64_t>(problem.sizeK) * problem.elementBytes;
  int64_t stepBytes = tiles.stepBytes;
  auto fits = [&] {
    if (!best.products)
      best.stepK = take("k_step", stepBytes / problem.elementBytes);
    return best.getSharedBytes() <= machine.getSharedBytes(best.ctasPerSM);
  };
  while ((!fits() || stepBytes >= 2 * rowBytes) &&
         stepBytes > tiles.leastStepBytes)
    stepBytes /= 2;
  for (int64_t ctas = best.ctasPerSM; ctas > 1 && !fits();)
    best.ctasPerSM = take("ctas_per_sm", --ctas);
}

PairwisePlan PlanSearch::choose() {
  // A number by hand that is not possible is refused as a plan is read.
  int64_t none = take("products", 0), some = take("products", problem.products);
  if (none == 0)
    considerFunction();
  if (some != 0)
    considerProducts();
  if (best.rows == 0) {
    considerFunction();
    best.products = some;
  }
  chooseStep();
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
  if (std::string reason = getRegionsReason(given); !reason.empty())
    return refuse(reason);
  PairProblem problem = describe(op, getGPUTiles(machine).pairwise);
  auto take = [&](StringRef field, int64_t chosen) {
    if (given && given.has(field))
      return given.get(field);
    // A complete plan that says nothing of products has none.
    return given && given.isComplete() && field == "products" ? 0 : chosen;
  };
  PairwisePlan plan = PlanSearch(problem, machine, take).choose();
  PlanWriter writer(op.getContext(), GPUKernel::Pairwise);
  PairwiseChoices::visitFields(writer, plan);
  GPUPlanAttr attr = writer.getPlan();
  auto read = readPairwisePlan(op, attr, machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  if (std::string unmet = findUnmet(op, given, attr); !unmet.empty())
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
