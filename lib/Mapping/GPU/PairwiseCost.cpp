//===- PairwiseCost.cpp - Times of functions of pairs on a GPU ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Instructions of a thread's tile, those of the special-function unit, and
// matrix products, beside the bytes of arrays.
//
//===----------------------------------------------------------------------===//

#include "PairwiseCost.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Instructions of a thread for what it waits for, a block of columns or a step
/// along K, and for each element of it, or each 16 bytes, that are copied.
static constexpr double kBlockInstructions = 40, kCopyInstructions = 20;
/// Threads of a warp and of a warpgroup.
static constexpr int64_t kWarpThreads = 32, kWarpgroupThreads = 128;
/// Those that split an element of the matrix, those that store one a second
/// time, and those in whose time it is stored by way of shared memory.
static constexpr double kSplitInstructions = 3, kStoreInstructions = 6,
                        kMirrorInstructions = 30;

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

/// Instructions of `region` for each element, of which its first arguments
/// are. What follows from hyper-parameters alone is computed once.
static double countInstructions(Region &region, unsigned numElements, Type sum,
                                const PairwiseTiles &tiles) {
  double count = 0;
  if (region.empty())
    return count;
  DenseSet<Value> varying;
  varying.insert_range(region.getArguments().take_front(numElements));
  for (Operation &op : region.front().without_terminator()) {
    if (llvm::none_of(op.getOperands(),
                      [&](Value operand) { return varying.contains(operand); }))
      continue;
    varying.insert_range(op.getResults());
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

/// Divides powers among the special-function unit and a table such that neither
/// it nor the issue of instructions waits for the other, and counts what they
/// take.
static void shareUnits(PairProblem &problem, double exponent,
                       const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  // Instructions in the time of one of the unit.
  GPUResources resources(machine);
  double perUnit = resources.getSpecialSeconds(1) /
                   resources.getMultiplySeconds(1, {MathUnit::F32});
  double ofUnit = perUnit * static_cast<double>(problem.units);
  double issued = problem.inner + static_cast<double>(problem.units);
  // An element of the table and its cubic, in the place of these, and of the
  // product with the exponent.
  double others = issued;
  if (takesPowerTable(exponent))
    others = problem.inner - (isProductOfRoots(exponent) ? 0 : 1) +
             tiles.tableInstructions;
  if (others > issued) {
    double share = (ofUnit - issued) / (ofUnit - issued + others);
    problem.polynomials = std::clamp<int64_t>(std::lround(16 * share), 0, 16);
  }
  double share = static_cast<double>(problem.polynomials) / 16;
  problem.inner =
      std::max(ofUnit * (1 - share), issued + share * (others - issued));
}

double kron::countInner(PairOpInterface op, const GPUMachine &machine) {
  const PairwiseTiles &tiles = getGPUTiles(machine).pairwise;
  if (!op.getInner())
    return 1 + countInstructions(op.getInnerBody(), 2, op.getAccumulatorType(),
                                 tiles);
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
  return countInstructions(op.getEpilogue(), 1, op.getAccumulatorType(),
                           getGPUTiles(machine).pairwise);
}

PairProblem kron::describePairs(PairOpInterface op, const GPUMachine &machine) {
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

/// Instructions of a thread to copy the rows of a tile and to wait for them,
/// where it computes the function: one turn more than there are steps along K.
static double countStepInstructions(const PairProblem &problem,
                                    const PairwisePlan &plan,
                                    const PairwiseTiles &tiles) {
  int64_t bytes = problem.elementBytes;
  int64_t stepK = plan.stepK ? plan.stepK : tiles.stepBytes / bytes;
  double turns = std::ceil(problem.sizeK / static_cast<double>(stepK)) + 1;
  // Of f32, 16 bytes of a row of A are four copies.
  auto copies = static_cast<double>((bytes == 4 ? 4 : 1) * plan.getTileRows() +
                                    plan.getTileColumns());
  double copied = copies * problem.sizeK * static_cast<double>(bytes) / 16 /
                  static_cast<double>(plan.threads);
  return turns * kBlockInstructions + copied * kCopyInstructions;
}

/// What `lhs` and `rhs` take where as many as `count` that do both fill each
/// other's gaps.
static double fillGaps(double lhs, double rhs, double count) {
  return std::max(lhs, rhs) + std::min(lhs, rhs) / count;
}

PairTime kron::estimatePairs(const PairProblem &problem,
                             const PairwisePlan &plan,
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
    if (!plan.keepsRows) {
      // Results that pass through shared memory are waited for as well.
      double waits = plan.isSymmetric ? 2 : 1;
      perTile += countStepInstructions(problem, plan, tiles) +
                 resources.getClockSeconds(waits * tiles.waitClocks) /
                     resources.getMultiplySeconds(threads, instruction) /
                     static_cast<double>(plan.ctasPerSM);
    }
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
    // Rows of tiles share numbers by twos: of an odd one half have no tile, and
    // CTAs unequal parts of the others, by about half of these.
    matrixTiles *= 0.5 + std::ceil(rowTiles / 2) / rowTiles;
    // Threads wait for each other in front of what they store by way of shared
    // memory, and behind it.
    perTile += plan.products
                   ? elements * kStoreInstructions
                   : elements * kMirrorInstructions + 2 * kBlockInstructions;
  }
  double count = problem.batch * passes * matrixTiles;
  auto resident = static_cast<double>(machine.numSMs * plan.ctasPerSM);
  PairTime time;
  time.arithmetic = resources.getMultiplySeconds(
      getWaves(count, resident) * resident * threads * perTile, instruction);
  double stored = problem.results > 0 ? problem.results : problem.columns;
  // Rows that start within sectors leave parts of two of them to each tile.
  auto bytes = static_cast<double>(problem.elementBytes);
  if (problem.results <= 0 &&
      std::fmod(problem.columns * bytes, kSectorBytes) != 0)
    stored +=
        kSectorBytes / bytes * divide(problem.columns, plan.getTileColumns());
  time.memory = resources.getMemorySeconds(
      problem.batch *
      (problem.rows * stored +
       (problem.rows + problem.columns) * problem.sizeK) *
      static_cast<double>(problem.elementBytes));
  double launches = plan.products ? 1.0 + tiles.packingKernels : 1.0;
  // A tile is stored behind its steps, while other CTAs of the SM compute.
  time.total = resources.getLaunchSeconds(launches) +
               (plan.products ? std::max(time.arithmetic, time.memory)
                              : fillGaps(time.arithmetic, time.memory, ctas));
  return time;
}
