//===- ChainPlan.cpp - Tiles of a chain of sparse factors -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/ChainPlan.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Pipeline stages of a step that has none.
static constexpr int64_t kNoStages = 4;
/// Steps of a kernel, of which the quantization of rows is one: each is up to
/// seven tile operations, of which a kernel has at most 60.
static constexpr int64_t kMostSteps = 8;

int64_t ChainPlan::getPlaceBytes(unsigned place) const {
  int64_t bytes = 0;
  for (unsigned step = place; step < steps.size(); step += 2)
    bytes = std::max(bytes, getResultBytes(step));
  return bytes;
}

int64_t ChainPlan::getSharedBytes() const {
  int64_t bytes = warpGroups * (getPlaceBytes(0) + getPlaceBytes(1));
  for (unsigned step = 0; step < steps.size(); ++step)
    bytes += llvm::alignTo(getKeptBytes(step), 128) +
             llvm::alignTo(getRingBytes(step), 128);
  return bytes;
}

int64_t ChainPlan::getKeptBytes(unsigned step) const {
  const SparsePlan &plan = steps[step];
  return plan.keepsFactor
             ? plan.getTilesPerRows() * plan.stepsK * plan.getFactorBytes()
             : 0;
}

int64_t ChainPlan::getRingBytes(unsigned step) const {
  const SparsePlan &plan = steps[step];
  return plan.hasRing() ? plan.warpGroups * plan.stages * plan.getStageBytes()
                        : 0;
}

int64_t ChainPlan::getRowBytes() const {
  int64_t bytes = steps.front().elementBytes;
  return steps.front().getDataFeatures() * bytes +
         getResultFeatures() * (quantizes ? 1 : bytes);
}

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

/// Sorts the axes of `product` but that of the rows: groups, the contracted
/// axis, lanes. Why that is not possible, or nothing.
static std::optional<std::string>
describeAxes(ModeProductOp product, unsigned rowAxis, SparsePlan &plan) {
  ProblemFactor factor = describeFactor(product);
  plan.axis = factor.axis;
  plan.sizeK = factor.sizeK;
  plan.sizeN = factor.sizeN;
  plan.rowAxis = rowAxis;
  SmallVector<int64_t> shape = getResultShape(product);
  plan.rows = shape[rowAxis];
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (axis == plan.axis || axis == rowAxis || shape[axis] == 1)
      continue;
    if (!llvm::is_contained(factor.varyingAxes, axis))
      return "a factor does not vary on more than one axis";
    if (axis < plan.axis) {
      plan.groupAxes.push_back(axis);
      plan.groupSizes.push_back(shape[axis]);
    } else if (plan.laneAxis < 0) {
      plan.laneAxis = axis;
      plan.lanes = shape[axis];
    } else {
      return "a factor varies on two axes inside of the contracted one";
    }
  }
  return std::nullopt;
}

/// Types and axes of a step.
static std::optional<std::string>
describeStep(ModeProductOp product, unsigned rowAxis, SparsePlan &plan) {
  plan.element = getElementType(product.getFactor());
  if (!isa<Float32Type, Float16Type, BFloat16Type>(plan.element))
    return "elements are not f32, f16 or bf16";
  plan.setElementBytes(getElementBytes(plan.element));
  if (plan.element.isF32() && product.getPrecision() == Precision::Ieee)
    return "precision is ieee";
  plan.math = plan.element.isF32() && product.getPrecision() != Precision::TF32
                  ? MmaMath::SplitTF32
                  : MmaMath::TF32;
  if (std::optional<std::string> reason = describeAxes(product, rowAxis, plan))
    return reason;
  plan.hasPartialSums =
      plan.math == MmaMath::SplitTF32 && plan.sizeK > kSparseSummedK;
  return std::nullopt;
}

/// Whether what is read and what is stored have the same elements. Between two
/// factors, and in front of an epilogue, they may be wider.
static bool hasOneElementType(ArrayRef<ModeProductOp> products) {
  ModeProductOp first = products.front(), last = products.back();
  auto fused = dyn_cast<FusedOp>(last->getParentOp());
  Type element = getElementType(first.getInput());
  return getElementType(fused ? fused.getInit() : last.getInit()) == element &&
         llvm::all_of(products, [&](ModeProductOp product) {
           return getElementType(product.getFactor()) == element;
         });
}

std::variant<std::vector<SparsePlan>, std::string>
kron::describeChain(ArrayRef<ModeProductOp> products, bool quantizes) {
  int64_t count = int64_t(products.size()) + quantizes;
  if (count > kMostSteps)
    return expects("at most " + Twine(kMostSteps) +
                       " steps of a chain, quantization included",
                   count);
  if (!hasOneElementType(products))
    return "arrays have different element types";
  std::optional<unsigned> rowAxis = getRegroupedRows(products);
  if (!rowAxis)
    return "rows are neither the first axis nor the last one";
  if (quantizes && *rowAxis > 0)
    return "the batch is last";
  std::vector<SparsePlan> steps(products.size());
  steps.front().alongRows = steps.back().turnsRows = *rowAxis > 0;
  for (auto [index, step] : llvm::enumerate(steps)) {
    if (std::optional<std::string> reason =
            describeStep(products[index], *rowAxis, step))
      return *reason;
    step.readsShared = index > 0;
    step.writesShared = index + 1 < steps.size();
  }
  ModeProductOp last = products.back();
  if (cast<ShapedType>(last.getInit().getType()).getDimSize(*rowAxis) == 0)
    return "an array has no elements";
  return steps;
}

//===----------------------------------------------------------------------===//
// What follows from choices
//===----------------------------------------------------------------------===//

/// Rows in shared memory are odd multiples of 64 bytes: those of two rows that
/// are read at a time lie in different banks.
static int64_t padRow(int64_t bytes) { return llvm::alignTo(bytes, 128) + 64; }

void kron::setChainRows(ChainPlan &plan) {
  for (SparsePlan &step : plan.steps) {
    if (!step.readsShared)
      continue;
    int64_t regions = step.getLaneBlocks();
    for (int64_t size : step.groupSizes)
      regions *= size;
    step.sharedRowBytes = padRow(regions * step.getRegionBytes());
  }
  if (SparsePlan &last = plan.steps.back(); plan.quantizes)
    last.resultRowBytes = padRow(last.getResultFeatures() * last.elementBytes);
}

/// Why `step` has no place in a chain of `plan`.
static std::optional<std::string> getStepReason(const ChainPlan &plan,
                                                const SparsePlan &step) {
  if (std::optional<std::string> reason = getSparseTileReason(step))
    return reason;
  if (step.getThreads() != plan.getThreads())
    return expects(getSparseWarpsText(step) +
                       " to make as many threads as in the first step, " +
                       Twine(plan.getThreads()),
                   step.getThreads());
  if (step.tileWarps > 1 && !step.keepsFactor)
    return expects("tile_warps to be 1 where no factor is kept",
                   step.tileWarps);
  // Those that wait for each other have as many tiles.
  if (!step.readsShared && step.getTilesPerRows() % step.tileWarps != 0)
    return expects("tile_warps to divide the tiles of the first step, " +
                       Twine(step.getTilesPerRows()),
                   step.tileWarps);
  // Rows that a thread has are whole chunks, and a power of two of them.
  if (step.turnsRows && (step.getThreadRows() % step.getChunk() != 0 ||
                         !llvm::isPowerOf2_64(step.rowTiles)))
    return expects("tile = " + Twine(plan.rows) +
                       " and row_warps = " + Twine(step.rowWarps) +
                       " to leave a thread of the last step a power of two of "
                       "rows, in chunks of 16 bytes",
                   step.getThreadRows());
  return std::nullopt;
}

std::optional<std::string> kron::getChainReason(const ChainPlan &plan) {
  for (auto [index, step] : llvm::enumerate(plan.steps))
    if (std::optional<std::string> reason = getStepReason(plan, step))
      return "step " + std::to_string(index) + ": " + *reason;
  // Chain steps that share a place would leave values behind the end of K.
  bool isPadded = llvm::any_of(plan.steps, [](const SparsePlan &step) {
    return step.readsShared && step.stepsK * step.stepK != step.sizeK;
  });
  if (isPadded && plan.steps.size() + plan.quantizes > 3)
    return "a size K is padded, and more than three steps share memory";
  if (plan.quantizes &&
      plan.getResultFeatures() % plan.steps.back().getChunk() != 0)
    return "rows are not made of chunks of 16 bytes";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Why the fields of `part` that the chain has for all steps, or that chain
/// steps do not have, are not as they have to be.
static std::optional<std::string> getFixedReason(DictionaryAttr part,
                                                 const ChainPlan &plan) {
  struct Fixed {
    llvm::StringLiteral name;
    int64_t value;
  };
  for (const Fixed &field :
       {Fixed{"ctas_per_sm", plan.ctasPerSM},
        Fixed{"warp_groups", plan.warpGroups},
        Fixed{"keeps_factor", plan.keepsFactors},
        Fixed{"chunk_bytes", kSparseChunkBytes}, Fixed{"k_warps", 1},
        Fixed{"skinny_m", 0}, Fixed{"copies_singly", 0}, Fixed{"kept_tiles", 0},
        Fixed{"pairs_factor", 0}, Fixed{"wgmma", 0}, Fixed{"swaps_operands", 0},
        Fixed{"shared_store", 0}, Fixed{"shift", 0}, Fixed{"whole_copies", 0},
        Fixed{"min_rows", 0}}) {
    auto given = part.getAs<IntegerAttr>(field.name);
    if (given && given.getInt() != field.value)
      return expects(field.name + " to be " + Twine(field.value) +
                         " in this chain",
                     given.getInt());
  }
  return std::nullopt;
}

/// Takes the choices of `step`, which is described, from its `part` of the plan
/// and from the chain's.
static std::optional<std::string>
readStep(DictionaryAttr part, const ChainPlan &plan, SparsePlan &step) {
  if (std::optional<std::string> reason = getFixedReason(part, plan))
    return reason;
  PlanReader reader(GPUKernel::Sparse, part);
  SparseChoices::visitFields(reader, step);
  step.ctasPerSM = plan.ctasPerSM;
  step.warpGroups = plan.warpGroups;
  step.keepsFactor = plan.keepsFactors;
  if (step.rowWarps < 1)
    return expects("row_warps to be positive", step.rowWarps);
  if (step.stepK < 1)
    return expects("k_step to be positive", step.stepK);
  setSparseChunks(step);
  step.stepsK = llvm::divideCeil(step.sizeK, step.stepK);
  step.rowTiles = 1;
  int64_t unit = step.getRows();
  if (plan.rows % unit != 0)
    return expects("tile to be a multiple of " + Twine(unit) +
                       ", for row_warps = " + Twine(step.rowWarps),
                   plan.rows);
  step.rowTiles = plan.rows / unit;
  auto rowTiles = part.getAs<IntegerAttr>("row_tiles");
  if (rowTiles && rowTiles.getInt() != step.rowTiles)
    return expects("row_tiles to be " + Twine(step.rowTiles) + " of this tile",
                   rowTiles.getInt());
  auto threads = part.getAs<IntegerAttr>("threads");
  if (threads && threads.getInt() != step.getThreads())
    return expects("threads to be " + Twine(step.getThreads()) +
                       " of these numbers of warps",
                   threads.getInt());
  if (!step.hasRing() && !part.get("stages"))
    step.stages = kNoStages;
  return std::nullopt;
}

std::variant<ChainPlan, std::string> kron::readChainPlan(FusedOp fused,
                                                         GPUPlanAttr attr) {
  ChainPlan plan;
  PlanReader reader(attr);
  ChainChoices::visitFields(reader, plan);
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() == 1 ? !plan.quantizes : !isRegrouped(fused))
    return "axes are not regrouped between factors";
  for (ModeProductOp product : products)
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return "a factor has a dynamic shape";
  if (hasEmptyArray(fused))
    return "an array has no elements";
  Type element = getElementType(fused.getInit());
  if (plan.quantizes && llvm::any_of(fused.getInputs(), [&](Value array) {
        return getElementType(array) != element;
      }))
    return "arrays are of different types";
  auto described = describeChain(products, plan.quantizes);
  if (auto *reason = std::get_if<std::string>(&described))
    return *reason;
  plan.steps = std::get<std::vector<SparsePlan>>(described);
  auto parts = attr.getFields().getAs<ArrayAttr>("steps");
  if (!parts || parts.size() != plan.steps.size())
    return expects("as many steps as factors, " + Twine(plan.steps.size()),
                   parts ? parts.size() : 0);
  for (auto [index, step] : llvm::enumerate(plan.steps))
    if (std::optional<std::string> reason =
            readStep(cast<DictionaryAttr>(parts[index]), plan, step))
      return "step " + std::to_string(index) + ": " + *reason;
  if (std::optional<std::string> reason = getChainReason(plan))
    return *reason;
  setChainRows(plan);
  return plan;
}

GPUPlanAttr kron::writeChainPlan(MLIRContext *context, const ChainPlan &plan) {
  SmallVector<DictionaryAttr> parts;
  for (const SparsePlan &step : plan.steps) {
    SparseChoices choices = step;
    PlanWriter writer(context, GPUKernel::Sparse);
    SparseChoices::visitTile(writer, choices);
    if (step.hasRing())
      writer("stages", choices.stages);
    parts.push_back(writer.getFields());
  }
  ChainChoices choices = plan;
  PlanWriter writer(context, GPUKernel::Chain);
  ChainChoices::visitFields(writer, choices);
  writer("steps", parts);
  return writer.getPlan();
}
