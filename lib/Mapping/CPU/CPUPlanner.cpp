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
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

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

/// Chooses how memory and steps of tiles are taken, which `choices` have; why
/// that is no plan for `fused`, or empty.
static std::string completeSteps(FusedOp fused, CPUPlanAttr given,
                                 const CPUPlannerOptions &options,
                                 CPUChoices &choices) {
  std::variant<CPUPlan, std::string> chosen = describeCPUPlan(fused, choices);
  if (auto *reason = std::get_if<std::string>(&chosen))
    return *reason;
  const CPUPlan &plan = std::get<CPUPlan>(chosen);
  chooseMemory(plan, fused, given, options, choices);
  if (!given || !given.has("steps"))
    chooseFarSources(plan, fused, options.caches, choices);
  // Register tiles of fibres that stay in half a register have fewer rows.
  bool isOpen = !choices.keptFibres && options.hasFastShuffles;
  if (isOpen)
    choices.keptFibres = 1;
  chooseSteps(fused, given, options, choices);
  if (isOpen && !mayKeepFibres(fused, choices))
    choices.keptFibres = 0;
  return "";
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
  VectorForm vectors{choices.vectorBits, std::nullopt};
  if (!choices.vectorBits)
    vectors = chooseVectors(fused, given, options);
  choices.vectorBits = vectors.bits;
  std::variant<CPUPlan, std::string> chosen =
      chooseAxes(fused, given, caches, choices, vectors.rowsInLanes);
  if (auto *reason = std::get_if<std::string>(&chosen))
    return *reason;
  CPUPlan plan = std::get<CPUPlan>(chosen);
  int64_t bits = choices.vectorBits;
  takeGiven(choices.matrixTiles, chooseMatrixTiles(plan, fused, bits, options));
  if (!choices.tile) {
    choices.tile = chooseTile(plan, fused, bits, choices.matrixTiles, caches);
    if (choices.matrixTiles == kMatrixTiles)
      choices.tile = widenForMatrixTiles(plan, fused, choices.tile);
  }
  takeGiven(choices.slice,
            chooseSlice(plan, fused, bits, choices.tile, caches));
  takeGiven(choices.streamBytes, chooseStreamBytes(plan, fused, bits, options));
  if (!choices.hasFarRows())
    takeGiven(choices.prefetch, choosePrefetch(plan, fused, bits, caches));
  auto isGiven = [&](StringRef name) { return given && given.has(name); };
  chooseConversions(plan, fused, given, caches, choices);
  if (!isGiven("slice_cuts"))
    choices.sliceCuts = chooseSliceCuts(plan, fused, choices, caches);
  if (!isGiven("blocks"))
    choices.blocks = chooseBlocks(plan, fused, choices, caches);
  CPUChoices open = choices;
  std::string reason = completeSteps(fused, given, options, choices);
  // Tiles of several positions are for register tiles that go along these.
  if (reason.empty() && choices.blocks > 1 && !isGiven("blocks") &&
      plan.isTiledInnermost() && !choices.steps.front().along) {
    choices = open;
    choices.blocks = 1;
    reason = completeSteps(fused, given, options, choices);
  }
  return reason;
}

/// Why the processor does not have what `choices` ask for; empty if it does.
static std::string getProcessorReason(const CPUChoices &choices,
                                      const CPUPlannerOptions &options) {
  if (choices.matrixTiles == kMatrixTiles && !options.hasMatrixTiles)
    return "cannot have matrix_tiles = 1: the processor has no matrix tiles "
           "(AMX)";
  bool hasPairs = options.mayPairProducts || options.hasPairProducts ||
                  options.hasMatrixTiles;
  if (choices.matrixTiles == kPairProducts && !hasPairs)
    return "cannot have matrix_tiles = 2: the processor does not add up "
           "products of pairs (AVX512-BF16)";
  return "";
}

/// Why register tiles are not those that `given` asks for; empty if they are.
static std::string getRegistersReason(CPUPlanAttr given,
                                      const CPUChoices &choices) {
  int64_t rows = 0, vectors = 0;
  for (const CPUStepChoices &step : choices.steps) {
    rows = std::max(rows, step.rows);
    vectors = std::max(vectors, step.vectors);
  }
  for (auto [field, most, what] :
       {std::tuple(StringRef("register_rows"), rows, " rows"),
        std::tuple(StringRef("register_vectors"), vectors, " vectors")})
    if (int64_t asked = given.get(field); asked && asked != most)
      return ("cannot have " + field + " = " + Twine(asked) +
              ": register tiles of its steps have up to " + Twine(most) + what)
          .str();
  return "";
}

/// Fields that say what steps may take, not what they do.
static constexpr StringLiteral kBudgets[] = {"l1_bytes", "l2_bytes", "l1_ways",
                                             "pages", "fmas_in_flight"};

/// Why nothing is chosen by a budget of `given`: without it that is a complete
/// plan. Empty if something is, or there is none.
static std::string getBudgetsReason(CPUPlanAttr given) {
  std::string found;
  auto drop = [&](DictionaryAttr fields, StringRef where) {
    NamedAttrList left(fields);
    for (StringRef name : kBudgets)
      if (auto value = dyn_cast_or_null<IntegerAttr>(left.erase(name));
          value && value.getInt() && found.empty())
        found = (name + " = " + Twine(value.getInt()) + where).str();
    return left.getDictionary(given.getContext());
  };
  CPUPlanAttr plan =
      CPUPlanAttr::get(given.getContext(), drop(given.getFields(), ""));
  if (auto steps = plan.getFields().getAs<ArrayAttr>("steps")) {
    SmallVector<Attribute> parts;
    for (auto [index, step] : llvm::enumerate(steps))
      parts.push_back(drop(cast<DictionaryAttr>(step),
                           " in step " + std::to_string(index + 1)));
    plan = plan.with("steps", ArrayAttr::get(given.getContext(), parts));
  }
  if (found.empty() || !plan.isComplete())
    return "";
  return "cannot have " + found +
         ": the plan says what its steps do, and nothing is chosen by it";
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
     << toMicroseconds(time.floor) << " us"
     << (options.rates.areCalibrated ? " (calibrated)" : "");
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

/// Chooses what `given` (may be null) leaves open; why that is no plan for
/// `fused`, or empty.
static std::string plan(FusedOp fused, CPUPlanAttr given,
                        const CPUPlannerOptions &options, CPUChoices &choices) {
  std::string reason;
  if (given) {
    choices = readCPUChoices(given);
    reason = getBudgetsReason(given);
  }
  if (reason.empty() && (!given || !given.isComplete()))
    reason = complete(fused, given, options, choices);
  if (reason.empty())
    reason = getCPUPlanReason(fused, choices);
  if (reason.empty())
    reason = getProcessorReason(choices, options);
  if (reason.empty() && given)
    reason = getRegistersReason(given, choices);
  return reason;
}

std::optional<CPUTime>
kron::estimateBestCPUTime(FusedOp fused, const CPUPlannerOptions &options) {
  bool isTaken =
      llvm::none_of(fused.getModeProducts(), [](ModeProductOp product) {
        return getCPUUnsupportedReason(product).has_value();
      });
  CPUChoices choices;
  if (!isTaken || !plan(fused, /*given=*/nullptr, options, choices).empty())
    return std::nullopt;
  return estimateCPUTime(fused, choices, options);
}

namespace {
/// A field of a plan, with its value, and the plan without it.
struct GivenField {
  std::string text;
  CPUPlanAttr rest;
};
} // namespace

static std::string getText(NamedAttribute field) {
  return (field.getName().getValue() + " = " +
          getFieldValueText(field.getValue()))
      .str();
}

/// All fields of `given`, those of steps one by one.
static SmallVector<GivenField> listFields(CPUPlanAttr given) {
  MLIRContext *context = given.getContext();
  SmallVector<GivenField> fields;
  for (NamedAttribute field : given.getFields()) {
    auto steps = dyn_cast<ArrayAttr>(field.getValue());
    if (!steps) {
      fields.push_back({getText(field), given.without(field.getName())});
      continue;
    }
    for (auto [index, step] : llvm::enumerate(steps))
      for (NamedAttribute ofStep : cast<DictionaryAttr>(step)) {
        NamedAttrList rest(cast<DictionaryAttr>(step));
        rest.erase(ofStep.getName());
        SmallVector<Attribute> others(steps.getValue());
        others[index] = rest.getDictionary(context);
        fields.push_back(
            {getText(ofStep) + " in step " + std::to_string(index + 1),
             given.with("steps", ArrayAttr::get(context, others))});
      }
  }
  return fields;
}

/// `reason`, with the fields of `given` without any one of which there is a
/// plan, unless it names one of these: what it names may have been chosen.
static std::string nameGivenFields(FusedOp fused, CPUPlanAttr given,
                                   const CPUPlannerOptions &options,
                                   const std::string &reason) {
  SmallVector<std::string> others;
  for (const GivenField &field : listFields(given)) {
    if (hasWord(reason, StringRef(field.text).split(" in ").first))
      return reason;
    CPUChoices choices;
    if (plan(fused, field.rest, options, choices).empty())
      others.push_back("a plan without " + field.text);
  }
  if (others.empty())
    return reason;
  return reason + "; expects " + llvm::join(others, ", or ");
}

LogicalResult kron::planForCPU(FusedOp fused,
                               const CPUPlannerOptions &options) {
  for (ModeProductOp product : fused.getModeProducts())
    if (getCPUUnsupportedReason(product))
      return success();
  CPUPlanAttr given = getCPUPlanAttr(fused);
  CPUChoices choices;
  std::string reason = plan(fused, given, options, choices);
  if (!reason.empty() && given)
    reason = nameGivenFields(fused, given, options, reason);
  if (!reason.empty())
    return fused.emitOpError("has a plan that is none for it: ") << reason;
  fused.setPlanAttr(writeCPUPlan(fused.getContext(), choices));
  explain(fused, given, options, choices);
  return success();
}
