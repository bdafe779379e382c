//===- DmmaPlan.cpp - Tiles of the kernel of f64 octets -------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/DmmaPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/FfmaPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Elements of a tile, such that their indices and places have 32 bits.
static constexpr int64_t kMaxTileElements = 1 << 24;
/// Positions of the last step's axis that one of two CTAs holds: each is a
/// slot.
static constexpr int64_t kSharedSlots = kDmmaFactorSize / 2;
/// Barriers of a CTA beside the one of all threads.
static constexpr int64_t kNamedBarriers = 15;

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

/// Whether neighbouring pairs of elements are 16 bytes that exist or do not, as
/// far as that is known: what is not is tested at run time.
static bool isPaired(Value array) {
  SmallVector<int64_t> strides = getKnownStrides(array);
  if (strides.empty() || strides.back() != 1)
    return false;
  return llvm::all_of(ArrayRef(strides).drop_back(), [](int64_t stride) {
    return ShapedType::isDynamic(stride) || stride % 2 == 0;
  });
}

static bool hasPairs(FusedOp fused) {
  auto init = cast<ShapedType>(fused.getInit().getType());
  Value addend = fused.getModeProducts().back().getAddend();
  return getFfmaCopyWidth(fused) == 2 && isPaired(fused.getInit()) &&
         !init.isDynamicDim(init.getRank() - 1) &&
         (!addend || isPaired(fused.getOperandOf(addend)));
}

static std::optional<std::string> collectSteps(FusedOp fused, DmmaPlan &plan) {
  auto init = cast<ShapedType>(fused.getInit().getType());
  plan.sizes.assign(init.getShape().begin(), init.getShape().end());
  plan.contracted.resize(plan.sizes.size());
  int64_t row = 1;
  for (ModeProductOp product : fused.getModeProducts()) {
    auto factor = cast<ShapedType>(product.getFactor().getType());
    for (auto [dim, on] : llvm::enumerate(product.getFactorDims()))
      if (factor.getDimSize(dim) != (on >= 0 ? 1 : kDmmaFactorSize))
        return "a factor is not 8 x 8";
    if (plan.contracted[product.getAxis()])
      return "an axis is contracted twice";
    row *= kDmmaFactorSize;
    if (row > kMaxTileElements)
      return "a tile does not fit shared memory";
    plan.contracted.set(product.getAxis());
    plan.steps.push_back({product, unsigned(product.getAxis()), 0});
  }
  llvm::sort(plan.steps, [](const DmmaStep &lhs, const DmmaStep &rhs) {
    return lhs.axis > rhs.axis;
  });
  return std::nullopt;
}

std::variant<DmmaPlan, std::string> kron::describeDmma(FusedOp fused) {
  if (std::optional<std::string> reason = getOperandsReason(fused))
    return *reason;
  if (!getElementType(fused.getInit()).isF64())
    return "the element type is not f64";
  if (fused.getModeProducts().size() < 2)
    return "there is one factor only";
  DmmaPlan plan;
  if (std::optional<std::string> reason = collectSteps(fused, plan))
    return *reason;
  if (!hasPairs(fused))
    return "not all arrays are made of pairs of elements that are neighbours "
           "in memory";
  return plan;
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

static std::optional<std::string>
checkExtents(ArrayRef<int64_t> extents, int64_t cluster, const DmmaPlan &plan) {
  if (extents.size() != plan.sizes.size())
    return ("expects extents to have " + Twine(plan.sizes.size()) +
            " numbers, one per axis, but got " + Twine(extents.size()))
        .str();
  int64_t elements = 1;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    std::string where = " on axis " + std::to_string(axis);
    if (plan.contracted[axis] && extent != kDmmaFactorSize)
      return expects("extents", "8" + where + ", which is contracted", extent);
    if (extent < 1 || !llvm::isPowerOf2_64(extent))
      return expects("extents", "a power of two" + where, extent);
    // A pair of CTAs divides what is outermost.
    if (cluster == 2 && axis < plan.steps.back().axis && extent != 1)
      return expects("extents",
                     "1" + where + ", outside of the axis that two CTAs share",
                     extent);
    if (extent > kMaxTileElements / elements)
      return ("expects extents to be of at most " + Twine(kMaxTileElements) +
              " elements in all, but got more")
          .str();
    elements *= extent;
  }
  // Pairs lie along another axis than a step's, or are two of its positions.
  if (extents.back() == 1)
    return expects("extents",
                   "at least 2 on axis " + Twine(extents.size() - 1) +
                       ", the innermost one",
                   1);
  return std::nullopt;
}

std::optional<std::string> kron::placeDmmaTile(ArrayRef<int64_t> extents,
                                               int64_t cluster,
                                               DmmaPlan &plan) {
  if (cluster != 1 && cluster != 2)
    return expects("cluster", "1 or 2", cluster);
  if (auto reason = checkExtents(extents, cluster, plan))
    return reason;
  plan.cluster = cluster;
  plan.slots = cluster == 2 ? kSharedSlots : 1;
  plan.extents.assign(extents.begin(), extents.end());
  plan.extents[plan.steps.back().axis] /= cluster;
  plan.bits.assign(plan.extents.size(), 0);
  for (unsigned axis = plan.extents.size(); axis-- > 0;) {
    plan.bits[axis] = plan.indexBits;
    plan.indexBits += llvm::Log2_64(plan.extents[axis]);
  }
  for (DmmaStep &step : plan.steps) {
    step.bit = plan.bits[step.axis];
    if (step.bit == 1)
      return ("expects extents to be of other than 2 elements inside of axis " +
              Twine(step.axis))
          .str();
    // Lanes t read 4 positions of the axis, lanes g pairs of columns: bit 1
    // and, by the 4 positions, bits 2 and 3 choose the 16 bytes.
    if (step.bit > 3)
      plan.swizzles.push_back({step.bit, 3});
    if (step.bit > 2)
      plan.swizzles.push_back({step.bit + 1, 2});
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Warps and the ring
//===----------------------------------------------------------------------===//

static std::optional<std::string> checkThreads(int64_t threads,
                                               const DmmaPlan &plan) {
  int64_t least = 32 * plan.slots;
  int64_t most = std::min<int64_t>(32 * plan.getUnits(), 1024);
  if (most < least)
    return ("expects extents to be of at least " +
            Twine(plan.slots * kDmmaUnitElements) +
            " elements for a CTA, but got " + Twine(plan.getElements()))
        .str();
  if (threads < least || threads > most || !llvm::isPowerOf2_64(threads))
    return expects("threads",
                   "a power of two in [" + Twine(least) + ", " + Twine(most) +
                       "]",
                   threads);
  return std::nullopt;
}

/// Whether the warps that share fibres have a barrier of their own, or need
/// none.
static std::optional<std::string> checkBarriers(const DmmaPlan &plan) {
  // The last step of a tile that two CTAs share has the cluster's barrier.
  ArrayRef<DmmaStep> steps(plan.steps);
  for (const DmmaStep &step : plan.cluster == 2 ? steps.drop_back() : steps) {
    int64_t warps = plan.getStepWarps(step.bit);
    if (warps > 1 && warps < plan.warps && plan.warps / warps > kNamedBarriers)
      return expects(
          "threads",
          "at most " +
              Twine(32 * warps * llvm::bit_floor(uint64_t(kNamedBarriers))) +
              ", as there are 15 barriers for parts of a CTA",
          32 * plan.warps);
  }
  return std::nullopt;
}

std::optional<std::string>
kron::getDmmaMachineReason(const DmmaPlan &plan, const GPUMachine &machine) {
  if (!machine.hasWideDMMA)
    return "the GPU has no f64 mma.sync of shape m16n8k8";
  if (plan.cluster > 1 && !machine.hasCluster)
    return "expects cluster to be 1, as the GPU has no clusters, but got 2";
  return getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine);
}

std::variant<DmmaPlan, std::string> kron::readDmmaPlan(FusedOp fused,
                                                       GPUPlanAttr attribute) {
  std::variant<DmmaPlan, std::string> described = describeDmma(fused);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  auto &plan = std::get<DmmaPlan>(described);
  DmmaChoices choices;
  PlanReader reader(attribute);
  DmmaChoices::visitFields(reader, choices);
  if (auto reason = placeDmmaTile(choices.extents, choices.cluster, plan))
    return *reason;
  if (auto reason = checkThreads(choices.threads, plan))
    return *reason;
  plan.warps = choices.threads / 32;
  if (auto reason = checkBarriers(plan))
    return *reason;
  if (choices.ctasPerSM < 1)
    return expects("ctas_per_sm", "positive", choices.ctasPerSM);
  plan.ctasPerSM = choices.ctasPerSM;
  // One tile of the ring's is worked on, one is on its way; of a shared one at
  // least what is worked on.
  int64_t least = std::max<int64_t>(plan.slots, 2);
  if (choices.ringSlots < least)
    return expects("ring_slots", "at least " + Twine(least), choices.ringSlots);
  plan.ringSlots = choices.ringSlots;
  if (choices.alignment != kDmmaPairBytes)
    return expects("alignment", "16, as pairs of elements are copied",
                   choices.alignment);
  return plan;
}
