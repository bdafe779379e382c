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
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Instructions of a thread for what it waits for, a block of columns or a step
/// along K, and for each element of it, or each 16 bytes, that are copied.
static constexpr double kBlockInstructions = 40, kCopyInstructions = 20;
/// Columns of the values that a matrix instruction takes, and lanes that have a
/// row of it; threads of a warp and of a warpgroup.
static constexpr int64_t kMultipliedColumns = 8, kProductLanes = 4,
                         kWarpThreads = 32, kWarpgroupThreads = 128;
/// Those that split an element of the matrix, those that store one a second
/// time, and those in whose time it is stored by way of shared memory.
static constexpr double kSplitInstructions = 3, kStoreInstructions = 6,
                        kMirrorInstructions = 28;

namespace {

/// What the cost model knows of an operation.
struct PairProblem {
  double batch = 1, rows = 1, columns = 1, sizeK = 1;
  /// Instructions per position of K and per pair; results of the
  /// special-function unit among the latter.
  double inner = 1, outer = 1, outerUnits = 0;
  /// Of those, roots and powers of the special-function unit; and of 16
  /// elements those that compute one of them by a polynomial.
  int64_t units = 0, polynomials = 0;
  /// Columns of the values of a product; 0 if there are none.
  double results = 0;
  /// Whether how many they are is not known; what is accumulated of each.
  bool hasOpenResults = false;
  /// Whether K is known.
  bool hasKnownK = false;
  int64_t accumulations = 1;
  int64_t elementBytes = 0;
  /// Whether its values are added up; whether one half is the other one.
  bool addsValues = false, isSymmetric = false;
  /// Matrix products that it can be made of, and its product with values; 0 if
  /// it cannot.
  int64_t products = 0, valueProducts = 0;
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

/// Whether an operation on f32 is one of the special-function unit.
static bool isOfUnit(Operation *op) {
  return isa<math::ExpOp, math::SqrtOp>(op);
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
    else if (sum.isF32() && isOfUnit(&op))
      instructions = tiles.unitInstructions;
    count += static_cast<double>(instructions);
  }
  return count;
}

/// Counts a power of a difference: products, of which a sum takes one, and
/// roots, or a logarithm and a power of two.
static void countPower(PairProblem &problem, double exponent) {
  bool isRoot = isProductOfRoots(exponent);
  auto whole = static_cast<uint64_t>(exponent);
  bool hasFraction = static_cast<double>(whole) != exponent;
  problem.units = !hasFraction ? 0 : isRoot ? 1 : 2;
  int64_t products =
      whole ? llvm::Log2_64(whole) + llvm::popcount(whole) - 1 : 0;
  problem.inner = static_cast<double>(2 + products + (isRoot ? 0 : 1));
}

/// Divides roots and powers among the special-function unit and the FMA pipe
/// such that neither waits for the other, and counts what they take.
static void shareUnits(PairProblem &problem, double exponent,
                       const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  // Instructions in the time of one of the unit.
  GPUResources resources(machine);
  double perUnit = resources.getSpecialSeconds(1) /
                   resources.getMultiplySeconds(1, {MathUnit::F32});
  auto units = static_cast<double>(problem.units);
  double issued = problem.inner + units;
  if (exponent > 1) {
    double share = (perUnit * units - issued) /
                   (perUnit + tiles.polynomialInstructions - 1);
    problem.polynomials = std::clamp<int64_t>(std::lround(16 * share), 0, 16);
  }
  double share = static_cast<double>(problem.polynomials) / 16;
  problem.inner = std::max(perUnit * (units - share),
                           issued + share * (tiles.polynomialInstructions - 1));
}

double kron::countInner(PairOpInterface op, const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
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

double kron::countEpilogue(PairOpInterface op, const GPUMachine &machine) {
  return countInstructions(op.getEpilogue(), op.getAccumulatorType(),
                           getGPUTiles(machine).pairwise);
}

static PairProblem describe(PairOpInterface op, const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  PairProblem problem;
  unsigned rank = cast<ShapedType>(op.getInit().getType()).getRank();
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    problem.batch *= getSize(op.getInit(), dim, tiles);
  problem.rows = getSize(op.getLhs(), op.getRowsDim(0), tiles);
  problem.columns = getSize(op.getRhs(), op.getRowsDim(1), tiles);
  problem.sizeK = getSize(op.getLhs(), op.getReducedDim(0), tiles);
  problem.hasKnownK = !cast<ShapedType>(op.getLhs().getType())
                           .isDynamicDim(op.getReducedDim(0));
  problem.inner = countInner(op, machine);
  if (op.getInner() == PairFunction::PowDiff &&
      op.getAccumulatorType().isF32()) {
    double exponent = op.getExponentAttr().getValueAsDouble();
    countPower(problem, exponent);
    if (problem.units)
      shareUnits(problem, exponent, machine);
  }
  problem.outer = 1 + countEpilogue(op, machine);
  if (op.getAccumulatorType().isF32())
    op.getEpilogue().walk(
        [&](Operation *inner) { problem.outerUnits += isOfUnit(inner); });
  problem.elementBytes = getElementBytes(getElementType(op.getInit()));
  problem.addsValues = addsPairValues(op);
  problem.isSymmetric = isSymmetricMatrix(op);
  if (hasMatrixProducts(op))
    problem.products = problem.elementBytes == 4 ? 3 : 1;
  if (auto apply = dyn_cast<PairwiseApplyOp>(op.getOperation())) {
    problem.results = getSize(op.getInit(), rank - 1, tiles);
    problem.hasOpenResults =
        cast<ShapedType>(op.getInit().getType()).isDynamicDim(rank - 1);
    if (apply.getAccumulation() == PairAccumulation::LogSumExp)
      problem.accumulations = 2;
    if (problem.products && problem.addsValues)
      problem.valueProducts = getValueProducts(problem.elementBytes);
  }
  return problem;
}

/// What an instruction of other arithmetic does.
static Multiplication getInstruction(const PairProblem &problem) {
  return {problem.elementBytes == 8 ? MathUnit::F64 : MathUnit::F32};
}

/// Instructions of other arithmetic that take as long as `multiplyAdds` of
/// matrix instructions.
static double countOfMatrices(const PairProblem &problem,
                              const GPUMachine &machine, double multiplyAdds,
                              Multiplication ofMatrices) {
  GPUResources resources(machine);
  return resources.getMultiplySeconds(multiplyAdds, ofMatrices) /
         resources.getMultiplySeconds(1, getInstruction(problem));
}

/// Instructions of a thread, for a block of columns, to multiply by values.
static double countValueInstructions(const PairProblem &problem,
                                     const PairwisePlan &plan,
                                     const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  auto elements = static_cast<double>(plan.rows * plan.columns);
  auto columns = static_cast<double>(plan.valueColumns);
  if (plan.valueProducts) {
    bool isWide = problem.elementBytes == 8;
    // Those of f32 are of TF32.
    double perElement = countOfMatrices(
        problem, machine, columns * static_cast<double>(plan.valueProducts),
        getMatrixMultiplication(isWide ? 8 : 4, F32Products::Single,
                                /*usesWarpgroups=*/false));
    auto loads = static_cast<double>(plan.columns / 2 * plan.valueColumns / 8);
    return elements * (perElement + (isWide ? 0 : kSplitInstructions)) +
           loads * static_cast<double>(tiles.productLoadInstructions);
  }
  double perTerm = problem.accumulations > 1
                       ? static_cast<double>(tiles.unitInstructions)
                       : 1;
  return columns *
         (elements * perTerm +
          static_cast<double>(plan.columns * tiles.valueInstructions));
}

namespace {

/// What matrix products of a tile take, in instructions of a thread that take
/// as long: of the matrix unit, of copies and of other instructions of steps
/// along K, and behind these.
struct ProductTime {
  double units = 0, copies = 0, steps = 0, finish = 0;
};

} // namespace

static ProductTime countProductInstructions(const PairProblem &problem,
                                            const PairwisePlan &plan,
                                            const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  auto elements = static_cast<double>(plan.rows * plan.columns);
  auto threads = static_cast<double>(plan.threads);
  double steps = std::ceil(problem.sizeK / static_cast<double>(plan.stepK));
  // f32 values are made of several of 16 bits.
  double perElement = countOfMatrices(
      problem, machine, static_cast<double>(plan.stepK * plan.products),
      getMatrixMultiplication(problem.elementBytes == 8 ? 8 : 2,
                              F32Products::Single, plan.usesWgmma));
  // Rows for which there is room stay through all blocks of a product.
  bool keepsRows = problem.results > 0 && problem.hasKnownK &&
                   steps <= static_cast<double>(plan.stages);
  auto copied = static_cast<double>(
      (plan.getTileColumns() + (keepsRows ? 0 : plan.getTileRows())) *
      plan.getParts() * PairwisePlan::kPartBytes);
  // Sums of a step are added to the others.
  double perStep = kBlockInstructions + elements;
  double finish = kBlockInstructions +
                  elements * static_cast<double>(tiles.productInstructions) +
                  static_cast<double>(2 * (plan.rows + plan.columns) *
                                      tiles.valueInstructions);
  if (!plan.usesWgmma) {
    auto loaded =
        static_cast<double>((plan.rows + plan.columns / 2) * plan.getParts());
    perStep += loaded * static_cast<double>(tiles.productLoadInstructions);
    double copies = steps * copied / 16 / threads * kCopyInstructions;
    return {steps * elements * perElement, copies, steps * perStep, finish};
  }
  // Each 64 rows of a warpgroup are started and waited for by themselves; its
  // copies are a few instructions of one thread.
  perStep = kBlockInstructions * static_cast<double>(plan.rows) / 2 + elements;
  // Shared memory is read in as many bytes of a clock as an SM has lanes of
  // arithmetic. The matrix unit waits for the 64 rows of an instruction, and
  // what is copied takes its time as well; columns are read beside that.
  double rowBytes = static_cast<double>(plan.getTileRows() * plan.products) *
                    PairwisePlan::kPartBytes;
  double units = elements * perElement + (rowBytes + copied) / threads;
  return {steps * units, 0, steps * perStep, finish};
}

/// What `lhs` and `rhs` take where as many as `count` that do both fill each
/// other's gaps.
static double fillGaps(double lhs, double rhs, double count) {
  return std::max(lhs, rhs) + std::min(lhs, rhs) / count;
}

static PairTime estimate(const PairProblem &problem, const PairwisePlan &plan,
                         const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  GPUResources resources(machine);
  auto divide = [](double size, int64_t by) {
    return std::ceil(size / static_cast<double>(by));
  };
  auto elements = static_cast<double>(plan.rows * plan.columns);
  double threads = plan.threads, loads = plan.columns;
  if (!plan.keepsRows)
    loads += static_cast<double>(plan.rows);
  double perTile = elements * problem.outer;
  Multiplication instruction = getInstruction(problem);
  ProductTime products;
  if (plan.products) {
    products = countProductInstructions(problem, plan, machine);
    perTile += products.finish;
  } else {
    perTile +=
        problem.sizeK * (elements * problem.inner +
                         loads * static_cast<double>(tiles.loadInstructions));
  }
  if (plan.keepsRows) {
    // Blocks that arrive together are waited for together.
    auto blocks = static_cast<double>(plan.getBlocksTogether());
    double copied = blocks * static_cast<double>(plan.getTileColumns()) *
                    problem.sizeK / threads;
    perTile +=
        (kBlockInstructions + std::ceil(copied) * kCopyInstructions) / blocks;
    // Those of a column come to the special-function unit together: each waits
    // for half of the others, what warps of the SM fill of each other.
    double perUnit = resources.getSpecialSeconds(1) /
                     resources.getMultiplySeconds(1, {MathUnit::F32});
    double warps = static_cast<double>(plan.ctasPerSM) * threads / kWarpThreads;
    perTile += elements * problem.outerUnits * perUnit *
               static_cast<double>(plan.rows - 1) / 2 / warps;
  }
  double passes = 1;
  if (problem.results > 0) {
    passes = divide(problem.results, plan.valueColumns);
    perTile += countValueInstructions(problem, plan, machine);
  }
  // CTAs of an SM fill each other's gaps: while one waits for the matrix unit,
  // others compute. All of them wait for what they copy. So do warpgroups of a
  // CTA while steps pass by, behind which they wait for each other.
  auto ctas = static_cast<double>(plan.ctasPerSM);
  if (plan.usesWgmma) {
    double groups = ctas * threads / static_cast<double>(kWarpgroupThreads);
    perTile = fillGaps(perTile,
                       fillGaps(products.steps, products.units, groups), ctas);
  } else {
    perTile = fillGaps(perTile + products.steps, products.units, ctas) +
              products.copies;
  }
  double rowTiles = divide(problem.rows, plan.getTileRows());
  double matrixTiles =
      rowTiles * divide(problem.columns, plan.getTileColumns());
  if (plan.isSymmetric) {
    // Each row of tiles starts at the diagonal, or in front of it, at a tile.
    int64_t common = std::gcd(plan.getTileRows(), plan.getTileColumns());
    auto up = static_cast<double>(plan.getTileRows() / common);
    auto across = static_cast<double>(plan.getTileColumns() / common);
    double left = (rowTiles - 1) * up / across - (1 - 1 / across);
    matrixTiles -= rowTiles / 2 * std::max(left, 0.0);
    perTile +=
        elements * (plan.products ? kStoreInstructions : kMirrorInstructions);
  }
  double count = problem.batch * passes * matrixTiles;
  auto resident = static_cast<double>(machine.numSMs * plan.ctasPerSM);
  PairTime time;
  time.arithmetic = resources.getMultiplySeconds(
      getWaves(count, resident) * resident * threads * perTile, instruction);
  double stored = problem.results > 0 ? problem.results : problem.columns;
  time.memory = resources.getMemorySeconds(
      problem.batch *
      (problem.rows * stored +
       (problem.rows + problem.columns) * problem.sizeK) *
      static_cast<double>(problem.elementBytes));
  double launches = plan.products ? 1.0 + tiles.packingKernels : 1.0;
  time.total = resources.getLaunchSeconds(launches) +
               std::max(time.arithmetic, time.memory);
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

/// Chooses what `take` is given no value for. Plans have what is given before
/// it is known whether they fit.
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
                                                       : tiles.valueColumns)),
        mostMultiplied(llvm::alignTo(
            std::min<int64_t>(static_cast<int64_t>(problem.results),
                              problem.hasOpenResults ? kMultipliedColumns
                                                     : tiles.multipliedColumns),
            kMultipliedColumns)) {}

  PairwisePlan choose();

private:
  PairwisePlan getTile(PairwisePlan plan, int64_t rows, int64_t columns,
                       int64_t results) const;
  void consider(PairwisePlan plan);
  void considerFunction();
  int64_t getKeptStep();
  void considerKeptRows();
  void considerProducts();
  void considerProductTiles(PairwisePlan plan);
  void considerProduct(PairwisePlan plan);
  void chooseStep();

  const PairProblem &problem;
  const GPUMachine &machine;
  const PairwiseTiles &tiles;
  Take take;
  bool isProduct;
  int64_t mostResults, mostMultiplied;
  PairwisePlan best;
  /// Of the best one: where memory bounds all of them, the least arithmetic.
  std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
};

} // namespace

/// `plan` with a tile of a thread, and so many columns of the values.
PairwisePlan PlanSearch::getTile(PairwisePlan plan, int64_t rows,
                                 int64_t columns, int64_t results) const {
  plan.rows = take("thread_rows", rows);
  plan.columns = take("thread_columns", columns);
  plan.valueColumns = isProduct ? take("value_columns", results) : results;
  return plan;
}

void PlanSearch::consider(PairwisePlan plan) {
  plan.elementBytes = problem.elementBytes;
  plan.addsValues = problem.addsValues;
  plan.ctasPerSM = take("ctas_per_sm", std::max<int64_t>(plan.ctasPerSM, 1));
  if (isProduct)
    plan.splitCTAs =
        take("split_ctas", machine.numSMs * plan.ctasPerSM *
                               (plan.keepsRows ? tiles.keptWaves : 1));
  for (int64_t symmetric : {0, 1}) {
    if (take("symmetric", symmetric * problem.isSymmetric) != symmetric)
      continue;
    plan.isSymmetric = symmetric;
    PairTime time = estimate(problem, plan, machine);
    auto found = std::make_pair(time.total, time.arithmetic);
    if (found < least) {
      least = found;
      best = plan;
    }
  }
}

void PlanSearch::considerFunction() {
  bool isLong = problem.units ||
                problem.inner > static_cast<double>(tiles.manyInstructions);
  PairwisePlan plan;
  plan.elementBytes = problem.elementBytes;
  plan.addsValues = problem.addsValues;
  plan.threads = take("threads", isLong ? tiles.longThreads : tiles.threads);
  int64_t resident = isLong ? tiles.longThreadsPerSM : tiles.threadsPerSM;
  plan.ctasPerSM = resident / plan.threads;
  plan.stages = take("stages", tiles.stages);
  plan.lanes = take("column_threads", tiles.lanes);
  plan.polynomials = take("polynomials", problem.polynomials);
  int64_t mostWords = isProduct ? tiles.productWords : tiles.words;
  if (isLong)
    mostWords = (isProduct ? tiles.longProductWords : tiles.longWords) *
                (problem.elementBytes == 8 ? 2 : 1);
  // Sums of eight bytes take as many registers more.
  int64_t threads = plan.threads, ctas = plan.ctasPerSM;
  auto getCTAs = [&] {
    if (!isLong || problem.elementBytes != 8)
      return ctas;
    int64_t registers = machine.getRegistersPerThread(threads, ctas) +
                        countWords(problem, plan) / 2;
    int64_t fewer = ctas;
    while (fewer > 1 &&
           machine.getRegistersPerThread(threads, fewer) < registers)
      --fewer;
    return fewer;
  };
  auto considerTile = [&](int64_t rows, int64_t columns, int64_t results) {
    plan = getTile(plan, rows, columns, results);
    plan.ctasPerSM = getCTAs();
    // The smallest tile is one of any function.
    if (best.rows == 0 || countWords(problem, plan) <= mostWords)
      consider(plan);
  };
  considerTile(tiles.least, tiles.least, 1);
  for (int64_t rows = tiles.most; rows >= tiles.least; rows /= 2)
    for (int64_t columns = tiles.most; columns >= tiles.least; columns /= 2)
      for (int64_t results = mostResults; results > 0; results /= 2)
        considerTile(rows, columns, results);
  // Fewer threads have registers for a tile that loads less for each element,
  // by which nothing is gained that waits for memory.
  if (isProduct || isLong || problem.elementBytes == 8)
    return;
  PairTime time = estimate(problem, best, machine);
  PairwisePlan wide = best;
  wide.ctasPerSM = take("ctas_per_sm", tiles.wideThreadsPerSM / threads);
  wide.rows = take("thread_rows", tiles.most);
  wide.columns = take("thread_columns", 2 * tiles.most);
  wide.stepK = take("k_step", tiles.leastStepBytes / problem.elementBytes);
  bool fits = wide.ctasPerSM > 0 &&
              wide.ctasPerSM * threads <= tiles.wideThreadsPerSM &&
              countWords(problem, wide) <= tiles.wideWords &&
              wide.getSharedBytes() <= machine.getSharedBytes(wide.ctasPerSM);
  if (fits && time.memory <= time.arithmetic)
    consider(wide);
}

/// Positions of K that are copied of columns where rows stay in registers: all.
int64_t PlanSearch::getKeptStep() {
  int64_t bytes = static_cast<int64_t>(problem.sizeK) * problem.elementBytes;
  return take("k_step", llvm::alignTo(bytes, tiles.leastStepBytes) /
                            problem.elementBytes);
}

/// Functions of rows that stay in registers: threads have all columns, or share
/// them where rows are few.
void PlanSearch::considerKeptRows() {
  int64_t words = problem.elementBytes == 8 ? 2 : 1;
  PairwisePlan plan;
  plan.elementBytes = problem.elementBytes;
  plan.addsValues = problem.addsValues;
  plan.keepsRows = true;
  plan.threads = take("threads", tiles.threads);
  plan.ctasPerSM = tiles.keptThreadsPerSM / plan.threads;
  plan.products = take("products", 0);
  plan.stages = take("stages", tiles.keptStages);
  plan.polynomials = take("polynomials", problem.polynomials);
  auto sizeK = static_cast<int64_t>(problem.sizeK);
  plan.stepK = getKeptStep();
  // Where values are added up, a column is in registers at a time: tiles may be
  // wider, as far as code stays short and shared memory has room for the CTAs.
  int64_t mostColumns = problem.addsValues ? tiles.keptColumns : tiles.most;
  auto fits = [&](PairwisePlan plan) {
    int64_t elements = plan.rows * plan.columns;
    double perElement = problem.sizeK * problem.inner + problem.outer +
                        static_cast<double>(plan.valueColumns);
    if (plan.columns > tiles.most &&
        (elements > PairwisePlan::kMostElements ||
         static_cast<double>(elements) * perElement > tiles.keptInstructions ||
         plan.ctasPerSM < tiles.keptThreadsPerSM / plan.threads))
      return false;
    plan.columns = std::min(plan.columns, tiles.most);
    return countWords(problem, plan) <= tiles.productWords;
  };
  int64_t ctas = plan.ctasPerSM;
  bool areCTAsFree = take("ctas_per_sm", 0) == 0;
  for (int64_t lanes = tiles.lanes; lanes > 0; lanes /= 4)
    for (int64_t rows = tiles.most; rows >= tiles.keptRows; rows /= 2)
      for (int64_t columns = mostColumns; columns >= tiles.least; columns /= 2)
        for (int64_t results = mostResults; results > 0; results /= 2) {
          plan.lanes = take("column_threads", lanes);
          plan = getTile(plan, rows, columns, results);
          plan.ctasPerSM = ctas;
          while (areCTAsFree && plan.ctasPerSM > 1 &&
                 plan.getSharedBytes() > machine.getSharedBytes(plan.ctasPerSM))
            --plan.ctasPerSM;
          if (plan.rows * sizeK * words <= tiles.keptWords && fits(plan))
            consider(plan);
        }
}

/// Registers of 32 bits that sums and operands of matrix products take.
static int64_t countProductWords(const PairProblem &problem,
                                 const PairwisePlan &plan) {
  int64_t sums = plan.rows * plan.columns;
  int64_t rowParts = 4 * plan.getParts();
  // Of a matrix, each 64 rows have norms and scales of two rows and an address.
  int64_t ofRows = problem.results > 0 ? 0 : 5 * plan.rows / 2;
  int64_t operands = plan.usesWgmma
                         ? 2 * plan.columns + ofRows
                         : std::min((plan.rows + 4) * rowParts,
                                    (plan.columns / 2 + 2) * rowParts);
  if (plan.valueProducts) {
    // Of a block, sums of large and of small products, when there are no
    // operands any more.
    int64_t results = plan.rows * plan.valueColumns / 4;
    sums += results;
    operands = std::max(operands, 2 * results);
  } else if (problem.results > 0) {
    // Sums of a block beside those of all; where operands are in registers,
    // rows of the values have addresses beside what is loaded of them.
    sums += 2 * plan.rows * plan.valueColumns * problem.accumulations +
            (plan.usesWgmma ? 0 : 2 * plan.columns);
  }
  return sums * (problem.elementBytes == 8 ? 2 : 1) + operands;
}

/// Tiles of matrix products: of all CTAs, threads and lanes that an SM has
/// registers and shared memory for.
void PlanSearch::considerProducts() {
  for (int64_t usesWgmma : {0, 1}) {
    int64_t isPossible = machine.hasWgmma && problem.elementBytes != 8;
    if (take("wgmma", usesWgmma * isPossible) != usesWgmma)
      continue;
    int64_t mostLanes =
        isProduct || usesWgmma ? kProductLanes : 2 * kProductLanes;
    for (int64_t threads = tiles.mostProductThreads;
         threads >= kWarpgroupThreads; threads /= 2)
      for (int64_t ctas = 1; threads * ctas <= tiles.productThreadsPerSM;
           ++ctas)
        for (int64_t lanes = mostLanes; lanes >= kProductLanes; lanes /= 2) {
          // Others share no row of a matrix instruction.
          if (take("column_threads", lanes) != lanes)
            continue;
          PairwisePlan plan;
          plan.usesWgmma = usesWgmma;
          plan.threads = take("threads", threads);
          plan.ctasPerSM = take("ctas_per_sm", ctas);
          plan.lanes = lanes;
          considerProductTiles(plan);
        }
  }
}

/// Tiles of threads as `plan` has them.
void PlanSearch::considerProductTiles(PairwisePlan plan) {
  plan.elementBytes = problem.elementBytes;
  plan.addsValues = problem.addsValues;
  plan.products = take("products", problem.products);
  int64_t partK = PairwisePlan::kPartBytes / plan.getPackedBytes();
  plan.stepK = take("k_step", partK);
  // Steps of other lengths are no matrix products.
  if (plan.stepK != partK)
    return;
  int64_t some = take("value_products", problem.valueProducts);
  int64_t none = take("value_products", 0);
  for (int64_t rows = tiles.most; rows >= tiles.least; rows /= 2)
    for (int64_t columns = tiles.mostProductColumns; columns >= kProductLanes;
         columns -= kProductLanes) {
      plan.valueProducts = some;
      for (int64_t results = mostMultiplied; some && results > 0;
           results -= kMultipliedColumns)
        considerProduct(getTile(plan, rows, columns, results));
      plan.valueProducts = 0;
      for (int64_t results = mostResults; none == 0 && results > 0;
           results /= 2)
        considerProduct(getTile(plan, rows, columns, results));
    }
}

void PlanSearch::considerProduct(PairwisePlan plan) {
  plan.stages = take("stages", tiles.productStages);
  bool areStagesFree = take("stages", 0) == 0;
  // With what is given, there may be no such plan.
  bool isWarpgroup =
      plan.lanes == kProductLanes && plan.threads % kWarpgroupThreads == 0;
  if (plan.rows * plan.columns > PairwisePlan::kMostElements ||
      (plan.usesWgmma && !isWarpgroup) ||
      (plan.valueProducts && plan.valueColumns % kMultipliedColumns))
    return;
  auto fits = [&] {
    return plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
  };
  while (areStagesFree && plan.stages > 2 && !fits())
    --plan.stages;
  int64_t registers =
      machine.getRegistersPerThread(plan.threads, plan.ctasPerSM) -
      (plan.usesWgmma ? tiles.otherWarpgroupRegisters
       : isProduct    ? tiles.otherProductRegisters
                      : tiles.otherRegisters) *
          (problem.elementBytes == 8 ? 2 : 1);
  if (fits() && countProductWords(problem, plan) <= registers)
    consider(plan);
}

/// As long a part of K as there is, and shared memory for.
void PlanSearch::chooseStep() {
  int64_t rowBytes = static_cast<int64_t>(problem.sizeK) * problem.elementBytes;
  if (best.keepsRows) {
    best.stepK = getKeptStep();
    return;
  }
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
  int64_t keeps =
      take("keeps_rows", isProduct && problem.hasKnownK && none == 0);
  if (keeps)
    considerKeptRows();
  if (none == 0 && best.rows == 0)
    considerFunction();
  if (some != 0 && !best.keepsRows)
    considerProducts();
  if (best.rows == 0) {
    considerFunction();
    best.products = some;
    if (some)
      best.stepK =
          take("k_step", PairwisePlan::kPartBytes / best.getPackedBytes());
    best.valueProducts = take("value_products", 0);
    best.usesWgmma = take("wgmma", 0) != 0;
  }
  best.keepsRows = take("keeps_rows", best.keepsRows);
  chooseStep();
  return best;
}

/// The fewest positions of K at which squares are made of products. Of rows of
/// independent normal elements, squares of distances are K with a deviation of
/// sqrt(2 K), in parts of the mean, and nearly all are larger than what four of
/// these leave: the function would be computed beside the products if that were
/// not enough for these to be exact.
static int64_t getExactK(bool isF64) {
  int64_t sizeK = 1;
  for (;; ++sizeK) {
    auto size = static_cast<double>(sizeK);
    if (1 - 4 * std::sqrt(2 / size) >= getExactPart(size, isF64))
      return sizeK;
  }
}

namespace {

/// Plans an operation as far as no plan is given.
class PairPlanner {
public:
  PairPlanner(PairOpInterface op, GPUPlanAttr given, const GPUMachine &machine)
      : op(op), given(given), machine(machine), problem(describe(op, machine)) {
  }

  /// Plans, the last one for any K, or why there are none.
  PlansOrReason plan();
  /// What the plan number `index` is estimated to take.
  const PairTime &getTime(size_t index) const { return times[index]; }

private:
  bool isFree(StringRef field) const {
    return !given || (!given.has(field) && !given.isComplete());
  }
  int64_t getGiven(StringRef field, int64_t chosen) const {
    return given && given.has(field) ? given.get(field) : chosen;
  }
  int64_t getSizeK() {
    return cast<ShapedType>(op.getLhs().getType())
        .getDimSize(op.getReducedDim(0));
  }
  bool wantsProducts() const;
  bool mayKeepFewRows();
  int64_t take(StringRef field, int64_t chosen) const;
  std::string add();
  std::string addAll();

  PairOpInterface op;
  GPUPlanAttr given;
  const GPUMachine &machine;
  PairProblem problem;
  /// What the plans require of K, where a launch decides: products so many
  /// positions at least, rows in registers so many at most.
  int64_t minK = 0, maxK = 0;
  SmallVector<GPUPlanAttr> plans;
  SmallVector<PairTime> times;
};

} // namespace

/// Whether a field is given that plans of matrix products have alone.
bool PairPlanner::wantsProducts() const {
  return given && !given.isComplete() &&
         (getGiven("wgmma", 0) || getGiven("value_products", 0));
}

/// Whether few positions of a K that is not known may be as many as there is
/// room for in registers, zeros behind them.
bool PairPlanner::mayKeepFewRows() {
  return ShapedType::isDynamic(getSizeK()) && problem.results > 0 &&
         isFree("products") && !wantsProducts() && ignoresZeros(op);
}

int64_t PairPlanner::take(StringRef field, int64_t chosen) const {
  if (given && given.has(field))
    return given.get(field);
  if (field == "products" && wantsProducts())
    return problem.products;
  // A complete plan that says nothing of these has none.
  bool isOption = field == "products" || field == "value_products" ||
                  field == "wgmma" || field == "keeps_rows" ||
                  field == "symmetric" || field == "polynomials";
  return given && given.isComplete() && isOption ? 0 : chosen;
}

/// Adds the best plan; why there is none, or empty.
std::string PairPlanner::add() {
  PairwisePlan plan =
      PlanSearch(problem, machine, [&](StringRef field, int64_t chosen) {
        return take(field, chosen);
      }).choose();
  plan.minK = plan.products ? minK : 0;
  plan.maxK = plan.keepsRows ? maxK : 0;
  PlanWriter writer(op.getContext(), GPUKernel::Pairwise);
  PairwiseChoices::visitFields(writer, plan);
  auto read = readPairwisePlan(op, writer.getPlan(), machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  plans.push_back(writer.getPlan());
  times.push_back(estimate(problem, plan, machine));
  return "";
}

/// Adds all plans; why one of them cannot be, or empty.
std::string PairPlanner::addAll() {
  bool isOpen = ShapedType::isDynamic(getSizeK());
  // Squares are products where rows are long, unless a plan says what to do.
  if (isFree("products") && !wantsProducts() && problem.products &&
      op.getInner() == PairFunction::SquareDiff) {
    int64_t exactK = getExactK(op.getAccumulatorType().isF64());
    if (isOpen) {
      minK = getGiven("min_k", exactK);
      if (std::string reason = add(); !reason.empty())
        return reason;
      if (!plans.front().get("products"))
        return "";
      problem.products = 0;
      problem.sizeK = static_cast<double>(minK - 1);
    } else if (getSizeK() < exactK) {
      problem.products = 0;
    }
  }
  if (isFree("keeps_rows") && mayKeepFewRows()) {
    PairProblem open = problem;
    maxK = getGiven("max_k", getGPUTiles(machine).pairwise.openKeptK);
    problem.sizeK = static_cast<double>(maxK);
    problem.hasKnownK = true;
    problem.products = 0;
    if (std::string reason = add(); !reason.empty())
      return reason;
    problem = open;
    // Without room for a row it is the plan of any K.
    if (!plans.back().get("keeps_rows")) {
      plans.pop_back();
      times.pop_back();
    }
  }
  return add();
}

PlansOrReason PairPlanner::plan() {
  GPUPlanAttr whole = given;
  if (getGiven("keeps_rows", 0) && !given.isComplete()) {
    // Where K is not known, one of several plans keeps rows. Those in registers
    // are multiplied by no matrix instructions.
    if (mayKeepFewRows())
      given = given.without("keeps_rows");
    else if (isFree("products"))
      problem.products = 0;
  }
  std::string reason = addAll();
  if (reason.empty() && whole)
    reason = findUnmet(op, whole, plans);
  if (!reason.empty())
    return reason;
  return plans;
}

/// Says what takes how long by a plan, and why.
static void explain(PairOpInterface op, GPUPlanAttr plan,
                    const PairTime &time) {
  auto microseconds = static_cast<int64_t>(time.total * 1e6 + 0.5);
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("kernel pairwise, bound by {0}",
                     time.memory > time.arithmetic ? "memory" : "arithmetic")
      << remark::add(", estimated {0} us", microseconds)
      << remark::add("; {0}", plan)
      << remark::metric("Microseconds", microseconds);
}

LogicalResult kron::planForGPU(PairOpInterface op, const GPUMachine &machine) {
  Attribute plan = op->getInherentAttr(kPlanAttrName).value_or(Attribute());
  if (auto grad = dyn_cast<PairwiseGradOp>(op.getOperation());
      grad && failed(verifyGradPlan(grad)))
    return failure();
  if (getPairwiseReason(op) || isa_and_present<DispatchAttr>(plan))
    return success();
  if (auto grad = dyn_cast<PairwiseGradOp>(op.getOperation()))
    return planGradForGPU(grad, machine);
  auto given = dyn_cast_if_present<GPUPlanAttr>(plan);
  auto refuse = [&](const std::string &reason) {
    return op->emitOpError("has no GPU kernel; pairwise: ") << reason;
  };
  if (given && given.getKernel() != GPUKernel::Auto &&
      given.getKernel() != GPUKernel::Pairwise)
    return refuse("no other kernel takes functions of pairs, but got " +
                  stringifyGPUKernel(given.getKernel()).str());
  if (std::string reason = getRegionsReason(given); !reason.empty())
    return refuse(reason);
  if (given)
    if (std::optional<std::string> reason = getFieldsReason(op, given, machine))
      return refuse(*reason);
  PairPlanner planner(op, given, machine);
  PlansOrReason found = planner.plan();
  if (auto *reason = std::get_if<std::string>(&found))
    return refuse(nameGivenFields(op, *reason, [&] {
      return PairPlanner(op, getGPUPlanAttr(op), machine).plan();
    }));
  const auto &plans = std::get<SmallVector<GPUPlanAttr>>(found);
  for (auto [index, chosen] : llvm::enumerate(plans))
    explain(op, chosen, planner.getTime(index));
  op->setInherentAttr(StringAttr::get(op.getContext(), kPlanAttrName),
                      plans.size() == 1
                          ? Attribute(plans.front())
                          : DispatchAttr::get(op.getContext(), plans));
  return success();
}
