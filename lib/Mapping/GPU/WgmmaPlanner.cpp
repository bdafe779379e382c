//===- WgmmaPlanner.cpp - Choice of tiles of a wgmma kernel -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/WgmmaPlanner.h"
#include "WgmmaCost.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/WgmmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Registers of a thread for addresses of elements that it copies one by one.
static constexpr int64_t kAddressRegisters = 16;

static GPUPlanAttr writePlan(MLIRContext *context, WgmmaChoices choices) {
  PlanWriter writer(context, GPUKernel::Wgmma);
  WgmmaChoices::visitFields(writer, choices);
  return writer.getPlan();
}

namespace {

class Planner {
public:
  Planner(FusedOp fused, const GPUMachine &machine, WgmmaPlan described)
      : fused(fused), problem(describeProblem(fused)), machine(machine),
        given(getGPUPlanAttr(fused)), plan(std::move(described)) {}
  /// Of a fused region that is not there yet.
  Planner(const Problem &problem, const GPUMachine &machine,
          WgmmaPlan described)
      : problem(problem), machine(machine), plan(std::move(described)) {}

  std::variant<WgmmaPlan, std::string> run();

private:
  bool isAllowed(StringRef name, int64_t value) const {
    return given.get(name, value) == value;
  }
  bool copiesVectors() const;
  int64_t chooseWarpgroups() const;
  SmallVector<int64_t> getTileSizes(int axis, int64_t wanted, int64_t first,
                                    int64_t last) const;
  SmallVector<int64_t> getRows(int64_t columns) const;
  void consider(WgmmaPlan &candidate);
  SmallVector<bool> getVariants(StringRef name, bool mayHelp) const;
  void considerWhole(WgmmaPlan candidate);
  void considerGroups(WgmmaPlan candidate);
  void considerPieces(WgmmaPlan candidate);

  FusedOp fused;
  Problem problem;
  const GPUMachine &machine;
  const WgmmaTiles &tiles = getGPUTiles(machine).wgmma;
  GivenPlan given;
  WgmmaPlan plan;
  std::optional<WgmmaPlan> best;
  double bestSeconds = 0;
  std::string reason = "factors and a tile do not fit shared memory";
};

} // namespace

/// Whether sizes allow copies of 16 bytes.
bool Planner::copiesVectors() const {
  int64_t inner = plan.axes.back().before;
  return ShapedType::isDynamic(inner) ||
         inner * plan.landing.elementBytes % kWgmmaVectorBytes == 0;
}

/// As many as the registers allow.
int64_t Planner::chooseWarpgroups() const {
  int64_t registers = 0;
  for (const WgmmaStep &step : plan.steps) {
    int64_t operands = step.paddedK / 2;
    if (step.kind == WgmmaKind::Split)
      operands = step.paddedK;
    if (step.kind == WgmmaKind::Half)
      operands = step.paddedK / 4;
    int64_t sums = step.paddedResults / 2;
    // In pieces: two at a time, and two kinds of sums.
    if (step.sizeK > kWgmmaMaxWholeSide && step.kind != WgmmaKind::Half) {
      operands = 2 * tiles.pieceK;
      sums *= 2;
      // Addresses of single elements.
      if (!copiesVectors())
        operands += kAddressRegisters;
    }
    registers = std::max(registers, sums + operands + 32);
  }
  return registers <= 128 ? 4 : registers <= 168 ? 3 : 2;
}

/// Takes `candidate`, with the best number of buffers, if it is better than all
/// before.
void Planner::consider(WgmmaPlan &candidate) {
  if (candidate.quantize)
    if (auto obstacle = getWgmmaQuantizeReason(fused, candidate)) {
      reason = *obstacle;
      return;
    }
  int64_t limit = machine.getSharedBytes(candidate.ctasPerSM);
  int64_t wanted = given.get("stages");
  for (int64_t buffers = wanted ? wanted : 1;
       buffers <= (wanted ? wanted : tiles.mostStages); ++buffers) {
    candidate.buffers = buffers;
    if (candidate.getSharedBytes() > limit ||
        (candidate.pieces > 1 && buffers < 3))
      continue;
    double seconds = estimateWgmmaTime(candidate, problem, machine).total;
    // Less than the estimates' error does not speak against tiles of one
    // warpgroup, which waits for nobody.
    if (candidate.groupSize > 1)
      seconds /= getGPURates(machine).wgmma.sharedShare;
    if (best && seconds >= bestSeconds)
      continue;
    best = candidate;
    bestSeconds = seconds;
  }
}

/// The values of a field that are 0 and, where it `mayHelp`, 1, or the given
/// one.
SmallVector<bool> Planner::getVariants(StringRef name, bool mayHelp) const {
  if (given.has(name))
    return {given.get(name) != 0};
  return mayHelp ? SmallVector<bool>{false, true} : SmallVector<bool>{false};
}

/// Tiles that are loaded whole: by the accesses that sizes allow, or as they
/// lie where these are of single elements.
void Planner::considerWhole(WgmmaPlan candidate) {
  bool isHalf = candidate.landing.elementBytes == 2;
  bool isShared = candidate.getShares() > 1;
  if ((isShared && !isHalf) || !isAllowed("k_piece", 0))
    return;
  // Of 16 bits, what is alone is no copy.
  auto isNoMultiple = [&](int64_t size, int64_t bytes) {
    return isHalf && !ShapedType::isDynamic(size) && 2 * size % bytes != 0;
  };
  bool mayCopyWhole = isNoMultiple(plan.axes.back().before, 4);
  bool mayShareStores = plan.steps.size() == 1 && !plan.quantize && !isShared &&
                        isNoMultiple(plan.getResultAxis().after, kSectorBytes);
  for (bool whole : getVariants("whole_copies", mayCopyWhole))
    for (bool shared : getVariants("shared_store", mayShareStores)) {
      candidate.wholeCopies = whole;
      candidate.sharedStore = shared;
      setWgmmaTile(candidate);
      if (!whole || candidate.segments)
        considerGroups(candidate);
    }
}

/// With as many warpgroups per tile as are best.
void Planner::considerGroups(WgmmaPlan candidate) {
  for (int64_t group = 1; group <= plan.getWarpgroups(); ++group) {
    if (plan.getWarpgroups() % group != 0 ||
        !isAllowed("warpgroups_per_tile", group))
      continue;
    candidate.groupSize = group;
    consider(candidate);
  }
}

/// Tiles of one block, in pieces.
void Planner::considerPieces(WgmmaPlan candidate) {
  const WgmmaStep &first = candidate.steps.front();
  candidate.pieceK = given.get("k_piece", tiles.pieceK);
  if (candidate.pieceK == 0 || candidate.steps.size() > 1 ||
      candidate.landing.elementBytes != 4 || first.sizeK <= candidate.pieceK ||
      !isAllowed("warpgroups_per_tile", 1) || !isAllowed("whole_copies", 0) ||
      !isAllowed("shared_store", 0))
    return;
  setWgmmaTile(candidate);
  if (first.getBlocks() == 1)
    consider(candidate);
}

/// Positions of a tile along `axis`, which may be none.
SmallVector<int64_t> Planner::getTileSizes(int axis, int64_t wanted,
                                           int64_t first, int64_t last) const {
  if (axis < 0)
    return {1};
  if (wanted)
    return {wanted};
  int64_t size = plan.axes[axis].after;
  SmallVector<int64_t> sizes;
  if (!ShapedType::isDynamic(size) && size <= first)
    return {size};
  for (int64_t choice = first; choice <= last; choice *= 2) {
    sizes.push_back(choice);
    if (!ShapedType::isDynamic(size) && choice >= size)
      break;
  }
  // All of a short axis, whose end then fills no rows of instructions.
  if (!ShapedType::isDynamic(size) && size < sizes.back())
    sizes.push_back(size);
  return sizes;
}

/// The same of rows; of few columns whose number is no power of two, as many
/// rows as fill a block, too.
SmallVector<int64_t> Planner::getRows(int64_t columns) const {
  SmallVector<int64_t> sizes =
      getTileSizes(plan.rowAxis, given.get("tile"), 1, kWgmmaRows);
  int64_t filling =
      kWgmmaRows / llvm::alignTo(columns, plan.columnAxis < 0 ? 1 : 2);
  if (sizes.size() > 1 && plan.steps.size() == 1 && filling > 1 &&
      !llvm::is_contained(sizes, filling))
    sizes.push_back(filling);
  return sizes;
}

std::variant<WgmmaPlan, std::string> Planner::run() {
  int64_t threads = given.get("threads");
  plan.threads = threads ? threads : chooseWarpgroups() * kWarpgroupThreads;
  if (plan.threads % kWarpgroupThreads != 0)
    return expects("threads", "a multiple of 128", plan.threads);
  plan.ctasPerSM = std::max<int64_t>(1, given.get("ctas_per_sm"));
  plan.quantize = given.get("quantize");
  for (int64_t columns :
       getTileSizes(plan.columnAxis, given.get("columns"), 8, 128))
    for (int64_t rows : getRows(columns)) {
      plan.rows = rows;
      plan.columns = columns;
      considerWhole(plan);
      considerPieces(plan);
    }
  if (!best)
    return reason;
  return *best;
}

/// Whether smaller instructions waste less.
static bool wastesInstructions(const WgmmaPlan &plan,
                               const GPUMachine &machine) {
  int64_t leastSide = getGPURates(machine).wgmma.leastSide;
  return llvm::all_of(plan.steps, [&](const WgmmaStep &step) {
    return std::max(step.sizeK, step.sizeN) < leastSide;
  });
}

/// `given`, which is complete, if it is a plan for `fused`.
static std::variant<SmallVector<GPUPlanAttr>, std::string>
checkPlan(FusedOp fused, GPUPlanAttr given, const GPUMachine &machine) {
  std::variant<WgmmaPlan, std::string> read = readWgmmaPlan(fused, given);
  auto *plan = std::get_if<WgmmaPlan>(&read);
  if (!plan)
    return std::get<std::string>(read);
  if (auto reason = getSharedMemoryReason(plan->getSharedBytes(),
                                          plan->ctasPerSM, machine))
    return *reason;
  return SmallVector<GPUPlanAttr>{writePlan(fused.getContext(), *plan)};
}

std::variant<SmallVector<GPUPlanAttr>, std::string>
kron::planWgmma(FusedOp fused, const GPUMachine &machine) {
  if (!machine.hasWgmma)
    return "the chip has no wgmma instructions";
  GPUPlanAttr given = getGPUPlanAttr(fused);
  bool isAsked = given && given.getKernel() == GPUKernel::Wgmma;
  if (isAsked && given.isComplete())
    return checkPlan(fused, given, machine);
  std::variant<WgmmaPlan, std::string> described = describeWgmma(fused);
  auto *plan = std::get_if<WgmmaPlan>(&described);
  if (!plan)
    return std::get<std::string>(described);
  if (!isAsked && wastesInstructions(*plan, machine))
    return "no factor has more than 16 rows or columns";
  std::variant<WgmmaPlan, std::string> chosen =
      Planner(fused, machine, *plan).run();
  plan = std::get_if<WgmmaPlan>(&chosen);
  if (!plan)
    return std::get<std::string>(chosen);
  GPUPlanAttr written = writePlan(fused.getContext(), *plan);
  if (std::string reason = findContradiction(given, written); !reason.empty())
    return reason;
  // What was given need not go together.
  return checkPlan(fused, written, machine);
}

KernelTime kron::estimateWgmmaTime(FusedOp fused, GPUPlanAttr plan,
                                   const Problem &problem,
                                   const GPUMachine &machine) {
  return estimateWgmmaTime(std::get<WgmmaPlan>(readWgmmaPlan(fused, plan)),
                           problem, machine);
}

std::optional<double> kron::estimateWgmmaRegion(const Problem &region,
                                                const GPUMachine &machine) {
  if (!machine.hasWgmma)
    return std::nullopt;
  std::optional<WgmmaPlan> plan = describeWgmma(region);
  if (!plan || wastesInstructions(*plan, machine))
    return std::nullopt;
  Planner planner(region, machine, *plan);
  std::variant<WgmmaPlan, std::string> chosen = planner.run();
  auto *found = std::get_if<WgmmaPlan>(&chosen);
  if (!found)
    return std::nullopt;
  return estimateWgmmaTime(*found, region, machine).total;
}
