//===- CostModel.cpp - What a kron.fused takes on a CPU ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One thread goes through the steps of every tile. A step takes the longer one
// of its register tiles' multiply-adds (with lanes that stay empty, and with
// too few accumulators for the latency), the loads of these, and, where what
// lies between factors is beyond the first-level cache, moving that. Input,
// factors and results come from memory meanwhile.
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/CPURates.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Plan/CPU/AmxMapping.h"
#include "kron/Plan/CPU/FusedLayout.h"
#include "kron/Plan/CPU/LoopNest.h"

using namespace mlir;
using namespace mlir::kron;

StringRef CPUTime::getBound() const {
  if (memory >= std::max({arithmetic, loads, caches}))
    return "memory";
  if (caches >= std::max(arithmetic, loads))
    return "caches";
  return loads > arithmetic ? "loads" : "multiply-adds";
}

namespace {

/// Follows a fused region through its steps and adds up their cycles.
class StepClock : private FusedLayout {
public:
  StepClock(FusedOp fused, const CPUChoices &choices,
            const CPUPlannerOptions &options)
      : FusedLayout(fused, choices), options(options),
        arrays(describeArrays(fused, plan)) {}

  CPUTime measure();

private:
  LayoutArrays &getArrays() override { return arrays; }
  void visitStep(unsigned index, const StepLayout &step,
                 const PlannedStep &planned) override;
  double countTiles();
  bool isWide() const { return vectorBits == 512; }
  /// Multiply-adds of vectors in a cycle.
  double getFmas() const {
    return isWide() ? options.rates.wideFmas : options.rates.vectorFmas;
  }
  double getBytesPerCycle(unsigned index) const;

  CPUPlannerOptions options;
  LayoutArrays arrays;
  /// What multiply-adds in full vectors take, and all that steps do.
  double numTiles = 1, leastCycles = 0, cycles = 0;
  CPUTime time;
};

} // namespace

/// Sizes that are not known count as so many.
static double getSize(int64_t size) {
  return ShapedType::isDynamic(size) ? kNominalCPURows : size;
}

static double countBytes(Value array) {
  double bytes = getElementBytes(getElementType(array));
  for (int64_t size : getArrayType(array).getShape())
    bytes *= getSize(size);
  return bytes;
}

/// Of `size` positions in a row, those in a vector of `lanes` on average.
static double getUsedLanes(double size, int64_t lanes) {
  return size / std::ceil(size / lanes);
}

/// Products in a vector of `step` on average.
static double getUsedLanes(const StepLayout &step, const LoopNest &nest) {
  int64_t lanes = getMaxLanes(step), group = getGroupSize(nest);
  switch (getMapping(step, nest)) {
  case StepMapping::Inner:
  case StepMapping::Varying: {
    if (nest.inner.empty())
      return lanes;
    Int size = nest.inner.back().size;
    return size.isConstant() ? getUsedLanes(size.getConstant(), lanes) : lanes;
  }
  case StepMapping::Fibre: {
    int64_t fibres = getNumFibres(step, nest);
    if (fibres > 1)
      return std::min<double>(fibres * step.sizeN, lanes);
    int64_t results = getFibreLanes(step, group).second;
    return double(step.sizeN * group) / llvm::divideCeil(step.sizeN, results);
  }
  case StepMapping::K:
    return getUsedLanes(step.sizeK * group, lanes);
  case StepMapping::Repeat:
  case StepMapping::Unsupported:
    return lanes;
  }
  llvm_unreachable("unknown mapping");
}

double StepClock::countTiles() {
  ArrayRef<int64_t> shape = getArrayType(fused.getInit()).getShape();
  double tiles = 1;
  for (auto [axis, role] : llvm::enumerate(plan.roles))
    if (role != AxisRole::Whole)
      tiles *= std::ceil(getSize(shape[axis]) / plan.getStep(axis, tileSize));
  return tiles;
}

/// What a core moves between step `index` and those beside it; 0 where the
/// first-level cache holds that.
double StepClock::getBytesPerCycle(unsigned index) const {
  auto section = llvm::find_if(sections, [&](const Section &other) {
    return index >= other.begin && index < other.end;
  });
  int64_t bytes = getComputedBytes(fused) *
                  (countWindowElements(plan, *section, tileSize, index) +
                   countWindowElements(plan, *section, tileSize, index + 1));
  if (bytes <= options.caches.l1Bytes)
    return 0;
  if (bytes <= options.caches.l2Bytes)
    return options.rates.l2BytesPerCycle;
  return options.rates.copyGigabytes / options.rates.gigahertz;
}

void StepClock::visitStep(unsigned index, const StepLayout &step,
                          const PlannedStep &planned) {
  const ProcessorRates &rates = options.rates;
  double before = numTiles * countTileElements(plan, tileSize, index),
         after = numTiles * countTileElements(plan, tileSize, index + 1),
         products = after * step.sizeK * step.elementParts;
  double arithmetic = 0, loads = 0;
  if (planned.usesTiles) {
    arithmetic = products / kCPURates.matrixTileFmas;
    leastCycles += arithmetic;
  } else {
    // Of pairs of bf16 K counts pairs, each of which is one multiply-add.
    leastCycles += products / (getMaxLanes(step) * getFmas());
    LoopNest nest = getLoopNest(step);
    double rows = std::max<int64_t>(step.choices->rows, 1),
           vectors = std::max<int64_t>(step.choices->vectors, 1),
           accumulators = rows * vectors * step.elementParts;
    double times = products / step.elementParts /
                   (getUsedLanes(step, nest) * rows * vectors);
    arithmetic = times *
                 std::max<double>(accumulators, kCPURates.fmasInFlight) /
                 getFmas();
    loads = times * (rows + vectors) /
            (isWide() ? rates.wideLoads : rates.vectorLoads);
  }
  double caches = 0, perCycle = getBytesPerCycle(index);
  // The first source and the last results are counted with memory.
  double moved =
      (index ? before : 0) + (index + 1 < plan.groups.size() ? after : 0);
  if (perCycle)
    caches = moved * getComputedBytes(fused) / perCycle;
  time.arithmetic += arithmetic;
  time.loads += loads;
  time.caches += caches;
  cycles += std::max({arithmetic, loads, caches});
}

CPUTime StepClock::measure() {
  numTiles = countTiles();
  planSteps(getFirstExtent());
  double second = options.rates.gigahertz * 1e9;
  for (double *part : {&time.arithmetic, &time.loads, &time.caches})
    *part /= second;
  double bytes = 0;
  for (Value operand : fused->getOperands())
    if (isa<ShapedType>(operand.getType()))
      bytes += countBytes(operand);
  time.memory = bytes / (options.rates.copyGigabytes * 1e9);
  time.total = std::max(cycles / second, time.memory);
  time.floor = std::max(time.memory, leastCycles / second);
  return time;
}

CPUTime kron::estimateCPUTime(FusedOp fused, const CPUChoices &choices,
                              const CPUPlannerOptions &options) {
  return hasEmptyArray(fused) ? CPUTime()
                              : StepClock(fused, choices, options).measure();
}
