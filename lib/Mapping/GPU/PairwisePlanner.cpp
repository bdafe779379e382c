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
// would lie behind the ends of the result.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "PairwiseCost.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "kron/Plan/GPU/PairwisePlan.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns of the values that a matrix instruction takes, and lanes that have a
/// row of it; threads of a warpgroup.
static constexpr int64_t kMultipliedColumns = 8, kProductLanes = 4,
                         kWarpgroupThreads = 128;

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
  void consider(PairwisePlan plan, bool mayMirror = true);
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

void PlanSearch::consider(PairwisePlan plan, bool mayMirror) {
  plan.elementBytes = problem.elementBytes;
  plan.addsValues = problem.addsValues;
  plan.ctasPerSM = take("ctas_per_sm", std::max<int64_t>(plan.ctasPerSM, 1));
  if (isProduct)
    plan.splitCTAs =
        take("split_ctas", machine.numSMs * plan.ctasPerSM *
                               (plan.keepsRows ? tiles.keptWaves : 1));
  bool isMirrored = problem.isSymmetric && !plan.isAlikeInBothOrders();
  for (bool symmetric : {false, true}) {
    bool isOne = isMirrored || (symmetric && mayMirror && problem.isSymmetric);
    if (take("symmetric", isOne) != symmetric)
      continue;
    plan.isSymmetric = symmetric;
    PairTime time = estimatePairs(problem, plan, machine);
    auto found = std::make_pair(time.total, time.arithmetic);
    if (found < least) {
      least = found;
      best = plan;
    }
  }
}

void PlanSearch::considerFunction() {
  // Powers of a table have few instructions that wait for each other.
  bool isLong = !problem.polynomials &&
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
    if (best.rows != 0 && countWords(problem, plan) > mostWords)
      return;
    consider(plan);
    // More CTAs fill each other's gaps, of a function without units to wait
    // for, as far as there are registers. A copy of one half takes more of
    // them.
    bool mayBeMore =
        !isProduct && !isLong && !problem.units && problem.elementBytes <= 4;
    PairwisePlan more = plan;
    int64_t registers = countWords(problem, plan) +
                        tiles.positions * (rows + columns) +
                        tiles.addressRegisters;
    while (mayBeMore && machine.getRegistersPerThread(
                            threads, ++more.ctasPerSM) >= registers)
      consider(more, /*mayMirror=*/false);
  };
  considerTile(tiles.least, tiles.least, 1);
  for (int64_t rows = tiles.most; rows >= tiles.least; rows /= 2)
    for (int64_t columns = tiles.most; columns >= tiles.least; columns /= 2)
      for (int64_t results = mostResults; results > 0; results /= 2)
        considerTile(rows, columns, results);
  // Fewer threads have registers for a tile that loads less for each element,
  // by which nothing is gained that waits for memory, or for the unit of
  // special functions.
  if (isProduct || isLong || problem.units || problem.elementBytes == 8)
    return;
  PairTime time = estimatePairs(problem, best, machine);
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
      : op(op), given(given), machine(machine),
        problem(describePairs(op, machine)) {}

  /// Plans, the last one for any K, or why there are none.
  PlansOrReason plan();
  /// What the plan number `index` is estimated to take.
  const PairTime &getTime(size_t index) const { return times[index]; }

private:
  bool isFree(StringRef field) const {
    return !given.has(field) && !given.isComplete(GPUKernel::Pairwise);
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
  GivenPlan given;
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
  return !given.isComplete(GPUKernel::Pairwise) &&
         (given.get("wgmma") || given.get("value_products"));
}

/// Whether few positions of a K that is not known may be as many as there is
/// room for in registers, zeros behind them.
bool PairPlanner::mayKeepFewRows() {
  return ShapedType::isDynamic(getSizeK()) && problem.results > 0 &&
         isFree("products") && !wantsProducts() && ignoresZeros(op);
}

int64_t PairPlanner::take(StringRef field, int64_t chosen) const {
  if (given.has(field))
    return given.get(field);
  if (field == "products" && wantsProducts())
    return problem.products;
  // A complete plan that says nothing of these has none.
  bool isOption = field == "products" || field == "value_products" ||
                  field == "wgmma" || field == "keeps_rows" ||
                  field == "symmetric" || field == "polynomials";
  return given.isComplete(GPUKernel::Pairwise) && isOption ? 0 : chosen;
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
  times.push_back(estimatePairs(problem, plan, machine));
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
      minK = given.get("min_k", exactK);
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
    maxK = given.get("max_k", getGPUTiles(machine).pairwise.openKeptK);
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
  if (given.get("keeps_rows") && !given.isComplete(GPUKernel::Pairwise)) {
    // Where K is not known, one of several plans keeps rows. Those in registers
    // are multiplied by no matrix instructions.
    if (mayKeepFewRows())
      given = whole.without("keeps_rows");
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

void kron::remarkPairs(Operation *op, GPUPlanAttr plan, StringRef bound,
                       double seconds) {
  auto microseconds = static_cast<int64_t>(seconds * 1e6 + 0.5);
  remark::analysis(op->getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("kernel {0}, bound by {1}",
                     stringifyGPUKernel(plan.getKernel()), bound)
      << remark::add(", estimated {0} us", microseconds)
      << remark::add("; {0}", plan)
      << remark::metric("Microseconds", microseconds);
}

void kron::setPlans(Operation *op, ArrayRef<GPUPlanAttr> plans) {
  MLIRContext *context = op->getContext();
  op->setInherentAttr(StringAttr::get(context, kPlanAttrName),
                      plans.size() == 1 ? Attribute(plans.front())
                                        : DispatchAttr::get(context, plans));
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
  if (GivenPlan(given).namesOther(GPUKernel::Pairwise))
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
  for (auto [index, chosen] : llvm::enumerate(plans)) {
    const PairTime &time = planner.getTime(index);
    remarkPairs(op, chosen,
                time.memory > time.arithmetic ? "memory" : "arithmetic",
                time.total);
  }
  setPlans(op, plans);
  return success();
}
