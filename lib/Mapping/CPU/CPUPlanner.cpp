//===- CPUPlanner.cpp - How a kron.fused is mapped to a CPU -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The tile is the largest whose intermediates stay within the cache budget;
// then every step is looked at with its arrays as they will lie (Steps.cpp).
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/CPUPlanner.h"
#include "Axes.h"
#include "Steps.h"
#include "Tiles.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether fibres of a factor fill half a register, and are longer than those
/// that stay in it as they lie anyway.
static bool hasHalfFibres(const CPUPlan &plan, FusedOp fused,
                          int64_t vectorBits) {
  int64_t half = vectorBits / 16 / getComputedBytes(fused);
  return vectorBits == 512 && half > kMostKeptElements &&
         llvm::any_of(plan.groups, [&](const StepGroup &group) {
           return group.sizeK == half && group.sizeN == half;
         });
}

/// Whether input and result of `fused` are known to fit the second-level cache
/// together: then nothing has to be prefetched.
static bool fitsSecondLevel(const CPUPlan &plan, FusedOp fused,
                            const CacheBudget &caches) {
  ShapedType init = getArrayType(fused.getInit());
  if (!init.hasStaticShape())
    return false;
  // The input, which may be stretched, has the axes of the result before any
  // group.
  int64_t inputs = 1;
  for (auto [axis, size] : llvm::enumerate(init.getShape()))
    inputs *=
        plan.roles[axis] == AxisRole::Whole ? plan.getWholeSize(axis, 0) : size;
  return (inputs + init.getNumElements()) *
             getElementBytes(getElementType(fused.getInit())) <=
         caches.l2Bytes;
}

/// Bytes from which results are stored non-temporally. Results in short
/// segments wait longest for the lines that they go to.
static int64_t chooseStreamBytes(const CPUPlan &plan, FusedOp fused,
                                 int64_t vectorBits,
                                 const CPUPlannerOptions &options) {
  // In rows, and in columns that fill no whole vectors, that was measured where
  // longer segments are faster, too.
  bool isColumns =
      plan.isTiledInnermost() && !hasRaggedColumns(plan, fused, vectorBits);
  bool isMeasured = plan.isTiledInnermost() || storesShortSegments(plan, fused);
  if (isColumns || (options.caches.columnBytes && isMeasured))
    return options.streamColumnsBytes;
  return plan.transposesInput ? options.streamBytes / 6 : options.streamBytes;
}

/// What `matrix_tiles` of the plan of `fused` is: 0 if products are computed
/// one by one.
static int64_t chooseMatrixTiles(const CPUPlan &plan, FusedOp fused,
                                 int64_t vectorBits,
                                 const CPUPlannerOptions &options) {
  if (!getPairsReason(fused, vectorBits).empty())
    return 0;
  if (options.hasMatrixTiles)
    return kMatrixTiles;
  int64_t lanes = vectorBits / 8 / getComputedBytes(fused);
  return options.hasPairProducts &&
                 (plan.groups.size() == 1 ||
                  paysForPairs(fused, plan.groups.front(), lanes))
             ? kPairProducts
             : 0;
}

/// What `prefetch` of the plan of `fused` is: -1 if nothing is prefetched.
static int64_t choosePrefetch(const CPUPlan &plan, FusedOp fused,
                              int64_t vectorBits, const CacheBudget &caches) {
  // Columns of a chain were measured to be faster without: the lines that are
  // prefetched lie in few sets of the caches, which hold what is between
  // factors.
  bool isColumns = (!plan.views.empty() && plan.isTiledInnermost()) ||
                   takesSingleVectors(plan, fused, vectorBits, caches);
  return isColumns || fitsSecondLevel(plan, fused, caches) ? -1 : 0;
}

/// Chooses what the plan of `fused` leaves open, of which `given` (may be null)
/// is what it has; why that is no plan for it, or empty.
static std::string complete(FusedOp fused, CPUPlanAttr given,
                            const CPUPlannerOptions &options,
                            CPUChoices &choices) {
  const CacheBudget &caches = options.caches;
  auto takeGiven = [&](int64_t &value, int64_t chosen) {
    if (!value)
      value = chosen;
  };
  takeGiven(choices.vectorBits, chooseVectorBits(fused, given, options));
  std::variant<CPUPlan, std::string> chosen =
      chooseAxes(fused, given, caches, choices);
  if (auto *reason = std::get_if<std::string>(&chosen))
    return *reason;
  CPUPlan plan = std::get<CPUPlan>(chosen);
  int64_t bits = choices.vectorBits;
  takeGiven(choices.matrixTiles, chooseMatrixTiles(plan, fused, bits, options));
  if (!choices.tile) {
    choices.tile = chooseTile(plan, fused, bits, caches);
    if (choices.matrixTiles == kMatrixTiles)
      choices.tile = widenForMatrixTiles(plan, fused, choices.tile);
  }
  takeGiven(choices.slice,
            chooseSlice(plan, fused, bits, choices.tile, caches));
  takeGiven(choices.streamBytes, chooseStreamBytes(plan, fused, bits, options));
  takeGiven(choices.prefetch, choosePrefetch(plan, fused, bits, caches));
  takeGiven(choices.keptFibres,
            options.hasFastShuffles && hasHalfFibres(plan, fused, bits));
  auto isGiven = [&](StringRef name) { return given && given.has(name); };
  chooseConversions(plan, fused, given, choices);
  if (!isGiven("slice_cuts"))
    choices.sliceCuts = chooseSliceCuts(plan, fused, choices, caches);
  if (!isGiven("blocks"))
    choices.blocks = chooseBlocks(plan, fused, choices, caches);
  chosen = describeCPUPlan(fused, choices);
  if (auto *reason = std::get_if<std::string>(&chosen))
    return *reason;
  plan = std::get<CPUPlan>(chosen);
  chooseMemory(plan, fused, given, options, choices);
  if (!isGiven("steps"))
    chooseFarSources(plan, fused, caches, choices);
  chooseSteps(fused, given, caches, choices);
  return "";
}

static int64_t toMicroseconds(double seconds) {
  return std::llround(seconds * 1e6);
}

/// What the fastest plan takes that has `field` = `value`, which `choices` asks
/// for beside what `given` says.
static void estimateOther(llvm::raw_ostream &os, FusedOp fused,
                          CPUPlanAttr given, const CPUPlannerOptions &options,
                          CPUChoices choices, StringRef field, int64_t value) {
  if (!complete(fused, given, options, choices).empty() ||
      !getCPUPlanReason(fused, choices).empty())
    return;
  CPUTime time = estimateCPUTime(fused, choices, options);
  os << "; " << field << " = " << value << ": " << toMicroseconds(time.total)
     << " us, bound by " << time.getBound();
}

/// Says what was chosen, what bounds it, and what other vectors and tiles would
/// take.
static void explain(FusedOp fused, CPUPlanAttr given,
                    const CPUPlannerOptions &options,
                    const CPUChoices &choices) {
  auto remark = remark::analysis(
      fused.getLoc(), remark::RemarkOpts::name("Plan").category("kron-plan"));
  if (!remark)
    return;
  auto plan = std::get<CPUPlan>(describeCPUPlan(fused, choices));
  CPUTime time = estimateCPUTime(fused, choices, options);
  std::string message;
  llvm::raw_string_ostream os(message);
  os << "bound by " << time.getBound() << ", estimated "
     << toMicroseconds(time.total) << " us on one thread, floor "
     << toMicroseconds(time.floor) << " us";
  CPUChoices asked = given ? readCPUChoices(given) : CPUChoices();
  if (!asked.vectorBits && choices.vectorBits > 128) {
    CPUChoices other = asked;
    other.vectorBits = choices.vectorBits / 2;
    estimateOther(os, fused, given, options, other, "vector_bits",
                  other.vectorBits);
  }
  int64_t tile = getTileSize(fused, plan, choices);
  for (int64_t size : {tile / 2, 2 * tile}) {
    CPUChoices other = asked;
    if (asked.tile || plan.tiledAxis < 0 || !size)
      continue;
    other.tile = size;
    // An axis may have no more positions than the tile takes already.
    if (getTileSize(fused, plan, other) != tile)
      estimateOther(os, fused, given, options, other, "tile", size);
  }
  os << "; " << fused.getPlanAttr();
  remark << message
         << remark::metric("FactorsApplied", fused.getModeProducts().size())
         << remark::metric("Steps", plan.groups.size())
         << remark::metric("Tile", choices.tile)
         << remark::metric("Buffers", plan.numBuffers)
         << remark::metric("ElementsPerPosition", plan.elementsPerPosition)
         << remark::metric("Microseconds", toMicroseconds(time.total))
         << remark::metric("FloorMicroseconds", toMicroseconds(time.floor));
}

LogicalResult kron::planForCPU(FusedOp fused,
                               const CPUPlannerOptions &options) {
  for (ModeProductOp product : fused.getModeProducts())
    if (getCPUUnsupportedReason(product))
      return success();
  CPUPlanAttr given = getCPUPlanAttr(fused);
  CPUChoices choices;
  if (given)
    choices = readCPUChoices(given);
  std::string reason;
  if (!given || !given.isComplete())
    reason = complete(fused, given, options, choices);
  if (reason.empty())
    reason = getCPUPlanReason(fused, choices);
  if (!reason.empty())
    return fused.emitOpError("has a plan that is none for it: ") << reason;
  fused.setPlanAttr(writeCPUPlan(fused.getContext(), choices));
  explain(fused, given, options, choices);
  return success();
}
