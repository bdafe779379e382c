//===- PairwiseGradPlanner.cpp - Gradients of pairs on a GPU ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Of all blocks and tiles of sums that a thread has registers for, those whose
// instructions are the fewest: derivatives take as many as there are rows and
// positions of K, values of pairs are computed anew for each tile of K, and
// what lies behind the end of K is in vain.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenFields.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/PairwisePlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "kron/Plan/GPU/PairwiseGradPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Instructions of a thread for what it waits for, in each block.
static constexpr double kBlockInstructions = 80;

namespace {

class GradPlanner {
public:
  GradPlanner(PairwiseGradOp op, GPUPlanAttr given, const GPUMachine &machine);

  LogicalResult plan();

private:
  double estimate(const PairwiseGradPlan &plan) const;
  int64_t countWords(const PairwiseGradPlan &plan) const;
  void chooseStep(PairwiseGradPlan &plan) const;
  void consider(PairwiseGradPlan plan);
  FailureOr<GPUPlanAttr> choose(int64_t maxK);
  FailureOr<GPUPlanAttr> write(const PairwiseGradPlan &plan);
  LogicalResult refuse(const Twine &reason) {
    return op->emitOpError("has no GPU kernel; pairwise_grad: ") << reason;
  }

  PairwiseGradOp op;
  GivenPlan given;
  const GPUMachine &machine;
  const PairwiseGradTiles &tiles;
  const int64_t elementBytes;
  const bool hasPairs;
  /// Sizes, and instructions of a pair along K, behind that, and of a
  /// derivative.
  double batch = 1, rows = 1, columns = 1, sizeK = 1, inner, outer, derivative;
  int64_t mostOutputs = 1;
  PairwiseGradPlan best;
  double least = std::numeric_limits<double>::infinity();
};

} // namespace

GradPlanner::GradPlanner(PairwiseGradOp op, GPUPlanAttr given,
                         const GPUMachine &machine)
    : op(op), given(given), machine(machine),
      tiles(getGPUTiles(machine).pairwiseGrad),
      elementBytes(getElementBytes(getElementType(op.getInit()))),
      hasPairs(readsPairs(op)) {
  auto pair = cast<PairOpInterface>(op.getOperation());
  inner = countInner(pair, machine);
  outer = 1 + countEpilogue(pair, machine);
  derivative = inner;
  unsigned side = op.getBy() == PairOperand::Rhs ? 1 : 0;
  auto getSize = [&](Value array, unsigned dim, int64_t nominal) {
    int64_t size = cast<ShapedType>(array.getType()).getDimSize(dim);
    return static_cast<double>(ShapedType::isDynamic(size) ? nominal : size);
  };
  int64_t open = getGPUTiles(machine).pairwise.openSize;
  std::array<Value, 2> sides{op.getLhs(), op.getRhs()};
  rows = getSize(sides[side], pair.getRowsDim(side), open);
  columns = getSize(sides[1 - side], pair.getRowsDim(1 - side), open);
  sizeK = getSize(sides[side], pair.getReducedDim(side), tiles.openK);
  unsigned rank = cast<ShapedType>(op.getInit().getType()).getRank();
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    batch *= getSize(op.getInit(), dim, 1);
  if (hasOutputs(op)) {
    mostOutputs = tiles.outputs;
    int64_t size =
        cast<ShapedType>(op.getInit().getType()).getDimSize(rank - 3);
    if (!ShapedType::isDynamic(size)) {
      mostOutputs = std::min(mostOutputs, size);
      batch /= static_cast<double>(size);
    }
  }
}

/// Seconds of arithmetic.
double GradPlanner::estimate(const PairwiseGradPlan &plan) const {
  auto divide = [](double size, int64_t by) {
    return std::ceil(size / static_cast<double>(by));
  };
  auto elements = static_cast<double>(plan.rows * plan.columns);
  auto sums = static_cast<double>(plan.getGradRows() * plan.positions);
  auto loads = static_cast<double>(plan.getGradRows() + plan.positions);
  double perBlock = kBlockInstructions +
                    elements * (outer + double(tiles.weightInstructions));
  if (hasPairs)
    perBlock += sizeK * (elements * inner + double(plan.rows + plan.columns));
  perBlock += double(plan.getTileColumns()) *
              (sums * (derivative + double(plan.outputs)) + loads);
  double blocks = batch * divide(rows, plan.getTileRows()) *
                  divide(sizeK, plan.getTileK()) *
                  divide(columns, plan.getTileColumns());
  auto resident = static_cast<double>(machine.numSMs * plan.ctasPerSM);
  MathUnit unit = elementBytes == 8 ? MathUnit::F64 : MathUnit::F32;
  return GPUResources(machine).getMultiplySeconds(
      getWaves(blocks, resident) * resident * double(plan.threads) * perBlock,
      {unit});
}

/// Registers of 32 bits of a thread: values of pairs are there beside what is
/// loaded of their rows at once.
int64_t GradPlanner::countWords(const PairwiseGradPlan &plan) const {
  int64_t own = plan.getGradRows() * plan.positions;
  int64_t loaded = std::min<int64_t>(16 / elementBytes, 4);
  int64_t values = plan.rows * (plan.columns + (hasPairs ? loaded : 0));
  int64_t words = own * plan.outputs + std::max(own, values);
  return words * plan.getSumBytes() / 4;
}

/// As long a part of K as there is, and shared memory for.
void GradPlanner::chooseStep(PairwiseGradPlan &plan) const {
  plan.stages = given.get("stages", hasPairs ? tiles.stages : 0);
  plan.stepK = given.get("k_step", 0);
  if (!plan.stages || plan.stepK)
    return;
  int64_t bytes = tiles.stepBytes;
  double rowBytes = sizeK * static_cast<double>(elementBytes);
  while (bytes > tiles.leastStepBytes && double(bytes) >= 2 * rowBytes)
    bytes /= 2;
  auto fits = [&] {
    plan.stepK = bytes / elementBytes;
    return plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
  };
  while (!fits() && bytes > tiles.leastStepBytes)
    bytes /= 2;
}

void GradPlanner::consider(PairwiseGradPlan plan) {
  plan.threads = given.get("threads", plan.threads);
  plan.lanes = given.get("column_threads", plan.lanes);
  plan.rows = given.get("thread_rows", plan.rows);
  plan.columns = given.get("thread_columns", plan.columns);
  plan.positions = given.get("thread_positions", plan.positions);
  plan.threadsK = given.get("k_threads", plan.threadsK);
  // What is not possible by hand is refused as a plan is read.
  bool isWhole = plan.threads >= plan.lanes &&
                 plan.getTileRows() * plan.threadsK % plan.threads == 0 &&
                 plan.getTileK() * elementBytes % 16 == 0;
  bool isFirst = least == std::numeric_limits<double>::infinity();
  if (!isFirst && !isWhole)
    return;
  chooseStep(plan);
  bool fits = isWhole && countWords(plan) <= tiles.words &&
              plan.getSharedBytes() <= machine.getSharedBytes(plan.ctasPerSM);
  double time = fits ? estimate(plan) : std::numeric_limits<double>::max();
  if (time < least) {
    least = time;
    best = plan;
  }
}

FailureOr<GPUPlanAttr> GradPlanner::choose(int64_t maxK) {
  least = std::numeric_limits<double>::infinity();
  PairwiseGradPlan plan;
  plan.elementBytes = elementBytes;
  plan.maxK = maxK;
  plan.threads = given.get("threads", tiles.threads);
  plan.ctasPerSM = given.get(
      "ctas_per_sm", std::max<int64_t>(1, tiles.threadsPerSM / plan.threads));
  plan.outputs = given.get("outputs", mostOutputs);
  plan.splitCTAs =
      given.get("split_ctas", machine.numSMs * plan.ctasPerSM * tiles.waves);
  plan.lanes = tiles.lanes;
  for (plan.rows = tiles.most; plan.rows > 0; plan.rows /= 2)
    for (plan.columns = tiles.most; plan.columns > 0; plan.columns /= 2)
      for (plan.threadsK = tiles.mostLanes; plan.threadsK > 0;
           plan.threadsK /= 2)
        for (plan.positions = tiles.most; plan.positions > 0;
             plan.positions /= 2)
          consider(plan);
  return write(best);
}

/// `plan` as an attribute, with a remark.
FailureOr<GPUPlanAttr> GradPlanner::write(const PairwiseGradPlan &plan) {
  PairwiseGradPlan chosen = plan;
  PlanWriter writer(op.getContext(), GPUKernel::PairwiseGrad);
  PairwiseGradChoices::visitFields(writer, chosen);
  GPUPlanAttr attr = writer.getPlan();
  auto read = readPairwiseGradPlan(op, attr, machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  double seconds = GPUResources(machine).getLaunchSeconds(2) + estimate(plan);
  remarkPairs(op, attr, "arithmetic", seconds);
  return attr;
}

LogicalResult GradPlanner::plan() {
  auto pair = cast<PairOpInterface>(op.getOperation());
  bool isOpen = cast<ShapedType>(op.getLhs().getType())
                    .isDynamicDim(pair.getReducedDim(0));
  SmallVector<int64_t> limits;
  if (isOpen && given.has("max_k"))
    limits = {given.get("max_k")};
  else if (isOpen)
    limits = {tiles.shortK, tiles.mediumK};
  SmallVector<GPUPlanAttr> plans;
  double known = sizeK;
  for (int64_t limit : limits) {
    if (!limit)
      continue;
    sizeK = static_cast<double>(limit);
    FailureOr<GPUPlanAttr> plan = choose(limit);
    if (failed(plan))
      return failure();
    plans.push_back(*plan);
  }
  sizeK = known;
  FailureOr<GPUPlanAttr> plan = choose(0);
  if (failed(plan))
    return failure();
  plans.push_back(*plan);
  std::string unmet = given ? findUnmet(op, given, plans) : "";
  if (!unmet.empty())
    return refuse(unmet);
  setPlans(op, plans);
  return success();
}

LogicalResult kron::planGradForGPU(PairwiseGradOp op,
                                   const GPUMachine &machine) {
  Attribute plan = op->getInherentAttr(kPlanAttrName).value_or(Attribute());
  auto given = dyn_cast_if_present<GPUPlanAttr>(plan);
  auto refuse = [&](const Twine &reason) {
    return op->emitOpError("has no GPU kernel; pairwise_grad: ") << reason;
  };
  if (GivenPlan(given).namesOther(GPUKernel::PairwiseGrad))
    return refuse("no other kernel takes gradients of functions of pairs, but "
                  "got " +
                  stringifyGPUKernel(given.getKernel()));
  if (std::string reason = getRegionsReason(given); !reason.empty())
    return refuse(reason);
  if (GivenPlan(given).isComplete(GPUKernel::PairwiseGrad)) {
    auto read = readPairwiseGradPlan(op, given, machine);
    if (auto *reason = std::get_if<std::string>(&read))
      return refuse(*reason);
    return success();
  }
  if (given)
    if (std::optional<std::string> reason = getGradFieldsReason(op, given))
      return refuse(*reason);
  return GradPlanner(op, given, machine).plan();
}
