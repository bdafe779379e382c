//===- SparsePlan.cpp - Tiles of a Kronecker-sparse factor ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparsePlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Data that stay in the second-level cache until all CTAs have read them.
static constexpr int64_t kCachedBytes = 12 * 1024 * 1024;
/// Tiles that read the same lines and come one after the other: one of them
/// that falls behind finds the lines in the cache, and catches up.
static constexpr int64_t kMostSharers = 32;
/// Products whose sum a matrix unit can keep without an error that shows.
static constexpr int64_t kSummedK = 128;
/// Rows that an array of unknown size is taken to have.
static constexpr int64_t kNominalRows = 16384;
/// Factors that vary on no axis have other kernels up to this size.
static constexpr int64_t kLargestOther = 128;
/// Rows that are copied one by one where they are innermost.
static constexpr int64_t kSkinnyM = 32;

bool kron::isSparse(const Problem &problem) {
  return problem.factors.size() == 1 &&
         (problem.hasEpilogue || problem.hasFloat8 ||
          !problem.factors.front().varyingAxes.empty() ||
          problem.getLargestFactorSize() > kLargestOther);
}

int64_t SparsePlan::getLaneBlocks() const {
  return llvm::divideCeil(lanes, getLanes());
}

int64_t SparsePlan::getResultBlocks() const {
  return llvm::divideCeil(getPlaces(), getResults());
}

int64_t SparsePlan::getTilesPerRows() const {
  int64_t tiles = getLaneBlocks() * getResultBlocks();
  for (int64_t size : groupSizes)
    tiles *= size;
  return tiles;
}

int64_t SparsePlan::getLongestSegment() const {
  // Nobody else reads the same lines.
  if (getResultBlocks() == 1 && (alongRows || getLaneBlocks() == 1))
    return std::numeric_limits<int32_t>::max();
  // Those that do are at work at the same time. (mma.sync was slower so.)
  if (usesWgmma && getResultBlocks() * getLaneBlocks() <= kMostSharers)
    return std::numeric_limits<int32_t>::max();
  int64_t bytes = getRows() * sizeK * lanes * dataBytes;
  for (int64_t size : groupSizes)
    bytes *= size;
  return std::max<int64_t>(kCachedBytes / bytes, 1);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// The axis of the op whose elements are neighbours in the input, of those with
/// more than one position.
static unsigned getInnermostAxis(FusedOp fused, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  SmallVector<int64_t> order;
  for (unsigned axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  if (auto permutation = fused.getInputPermutation())
    for (auto [axis, dim] : llvm::enumerate(*permutation))
      order[dim] = axis;
  for (unsigned dim = rank; dim-- > 0;)
    if (shape[order[dim]] != 1)
      return order[dim];
  return rank - 1;
}

static bool isFew(int64_t rows) {
  return !ShapedType::isDynamic(rows) && rows <= kSkinnyM;
}

/// The size of an axis, or what an unknown one is taken for.
static int64_t getNominalSize(int64_t size) {
  return ShapedType::isDynamic(size) ? kNominalRows : size;
}

/// The axis of the rows among `axes`, which the factor does not vary on: the
/// innermost one of the input unless it is too short for chunks, else the
/// longest one.
static unsigned chooseRowAxis(ArrayRef<unsigned> axes, unsigned innermost,
                              ArrayRef<int64_t> shape) {
  if (llvm::is_contained(axes, innermost) && !isFew(shape[innermost]))
    return innermost;
  return *std::max_element(
      axes.begin(), axes.end(), [&](unsigned lhs, unsigned rhs) {
        return getNominalSize(shape[lhs]) < getNominalSize(shape[rhs]);
      });
}

/// Sorts the axes; `rows` is the size of that of the rows.
static void describeAxes(FusedOp fused, SparsePlan &plan, int64_t &rows,
                         bool hasSkinnyM) {
  ModeProductOp product = fused.getModeProducts().front();
  ProblemFactor factor = describeFactor(product);
  SmallVector<int64_t> shape = getResultShape(product);
  plan.axis = factor.axis;
  plan.sizeK = factor.sizeK;
  plan.sizeN = factor.sizeN;
  shape[plan.axis] = plan.sizeK;
  SmallVector<unsigned> varying, others;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (axis != plan.axis && size != 1)
      (llvm::is_contained(factor.varyingAxes, axis) ? varying : others)
          .push_back(axis);
  int lane = getInnermostAxis(fused, shape);
  rows = 1;
  if (!others.empty()) {
    plan.rowAxis = chooseRowAxis(others, lane, shape);
    rows = shape[plan.rowAxis];
  }
  for (unsigned axis : others) {
    if (int(axis) == plan.rowAxis)
      continue;
    plan.freeAxes.push_back(axis);
    plan.freeSizes.push_back(shape[axis]);
  }
  if (ShapedType::isDynamic(rows) && hasSkinnyM)
    rows = kSparseSkinnyM;
  bool areInside = plan.rowAxis >= 0 && lane == plan.rowAxis;
  plan.alongRows = areInside && !isFew(rows);
  plan.copiesSingly = areInside && isFew(rows);
  if (plan.copiesSingly && !varying.empty() && varying.back() > plan.axis)
    lane = varying.back();
  for (unsigned axis : varying) {
    if (int(axis) == lane) {
      plan.laneAxis = axis;
      plan.lanes = shape[axis];
    } else {
      plan.groupAxes.push_back(axis);
      plan.groupSizes.push_back(shape[axis]);
    }
  }
}

int64_t kron::getSparseTiles(const SparsePlan &plan, int64_t rows) {
  int64_t tiles =
      plan.getTilesPerRows() * llvm::divideCeil(rows, plan.getRows());
  for (int64_t size : plan.freeSizes)
    tiles *= getNominalSize(size);
  return tiles;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// What products and packed operands are made of; false if there are no such
/// kernels.
static bool chooseElements(Type input, Type factor, SparsePlan &plan) {
  plan.setElementBytes(getElementBytes(plan.element));
  if (input == plan.element && factor == plan.element)
    return true;
  auto isTaken = [](Type type) { return isFloat8(type) || type.isF16(); };
  if (!isTaken(input) || !isTaken(factor) || plan.element.isF64() ||
      !(isFloat8(input) || isFloat8(factor)))
    return false;
  plan.elementBytes = 2;
  plan.dataBytes = getElementBytes(input);
  plan.factorBytes = getElementBytes(factor);
  return true;
}

/// What tiles start at multiples of where results of groups are neighbours that
/// start at other places, but at the same ones in all rows, and nothing is read
/// for them; else 0. A warp stores 64 bytes of a row at a time: those of long
/// groups are whole sectors, since ones that arrive in parts cost more.
static int64_t getShiftUnit(FusedOp fused, const SparsePlan &plan) {
  constexpr int64_t kUnitBytes = 64, kLongGroup = 512;
  auto type = dyn_cast<MemRefType>(fused.getInit().getType());
  SmallVector<int64_t> strides;
  int64_t offset, chunk = plan.getChunk();
  if (!type || plan.order != SparseOrder::Chunks || plan.rowAxis < 0 ||
      plan.alongRows || plan.chunkK != chunk || plan.getResultWords() != 4 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides[plan.axis] != 1)
    return 0;
  EpilogueOp epilogue = fused.getEpilogue();
  if (!getBeta(fused.getModeProducts().front()).isZero() ||
      (epilogue && (epilogue.getBias() || epilogue.getResidual())))
    return 0;
  int64_t unit = chunk;
  if (plan.sizeN * plan.elementBytes >= kLongGroup)
    unit = kUnitBytes / plan.elementBytes;
  auto isWhole = [&](unsigned axis) {
    return !ShapedType::isDynamic(strides[axis]) && strides[axis] % unit == 0;
  };
  while (unit > chunk &&
         !(isWhole(plan.rowAxis) && llvm::all_of(plan.freeAxes, isWhole)))
    unit /= 2;
  auto isKnownPart = [&](unsigned axis) {
    return !ShapedType::isDynamic(strides[axis]) && strides[axis] % unit != 0;
  };
  bool isShifted =
      plan.sizeN % chunk != 0 || llvm::any_of(plan.groupAxes, isKnownPart);
  return isShifted && isWhole(plan.rowAxis) &&
                 llvm::all_of(plan.freeAxes, isWhole)
             ? unit
             : 0;
}

/// Types and axes of `fused` and what follows from them; why it is not taken,
/// or nothing.
static std::optional<std::string> describeFusedOp(FusedOp fused,
                                                  SparsePlan &plan,
                                                  int64_t &rows,
                                                  bool hasSkinnyM) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  ModeProductOp product = products.front();
  if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
    return "a factor has a dynamic shape";
  plan.element = getElementType(fused.getInit());
  if (!isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(plan.element))
    return "elements are not f32, f64, f16 or bf16";
  if (plan.element.isF32() && product.getPrecision() == Precision::Ieee)
    return "precision is ieee";
  if (!chooseElements(getElementType(fused.getInputs().front()),
                      getElementType(product.getFactor()), plan))
    return "arrays have different element types";
  describeAxes(fused, plan, rows, hasSkinnyM);
  rows = getNominalSize(rows);
  for (int64_t size : cast<ShapedType>(fused.getInit().getType()).getShape())
    if (size == 0)
      return "an array has no elements";
  bool isFull =
      plan.element.isF32() && product.getPrecision() != Precision::TF32;
  plan.math = plan.element.isF64()             ? MmaMath::F64
              : isFull && !plan.is16BitFloat() ? MmaMath::SplitTF32
                                               : MmaMath::TF32;
  plan.hasPartialSums = isFull && plan.sizeK > kSummedK;
  plan.hasEpilogue = static_cast<bool>(fused.getEpilogue());
  chooseSparseChunks(plan);
  plan.shiftUnit = getShiftUnit(fused, plan);
  return std::nullopt;
}

/// Whether a factor of 16-bit values is kept for so many tiles that putting its
/// pairs in order is worth it.
static bool isWorthPairing(const SparsePlan &plan, int64_t rows,
                           const GPUMachine &machine) {
  constexpr int64_t kTiles = 4, kLeastK = 128;
  return plan.sizeK >= kLeastK && plan.keepsFactor && plan.is16BitFloat() &&
         !plan.isOf8() && !plan.alongRows && plan.lanesPerChunk > 1 &&
         plan.chunkK > 1 &&
         getSparseTiles(plan, rows) >=
             kTiles * plan.getWarpGroupsPerSM() * machine.numSMs;
}

/// Whether neighbours in the memory of `product`'s factor lie along its K.
static bool isAlongK(FusedOp fused, ModeProductOp product) {
  ArrayRef<int64_t> axes = product.getFactorDims();
  SmallVector<int64_t> strides =
      getKnownStrides(fused.getOperandOf(product.getFactor()));
  const auto *sizeK = llvm::find(axes, ModeProductOp::kContracted);
  return strides[sizeK - axes.begin()] == 1;
}

/// The plan for warpgroups of `fused`, whose axes are those of `plan`; nothing
/// if there is none.
static std::optional<SparsePlan> chooseGroups(FusedOp fused,
                                              const SparsePlan &plan,
                                              int64_t rows,
                                              const GPUMachine &machine) {
  if (!plan.alongRows)
    return chooseSparseWgmma(plan, rows, machine);
  // Data with rows side by side are operand B: they are prepared, as a factor
  // is, and the factor, along whose K chunks are, is read as data are.
  auto type = cast<ShapedType>(fused.getInit().getType());
  if (!plan.freeAxes.empty() || type.isDynamicDim(plan.rowAxis) ||
      rows % plan.getChunk() != 0 ||
      !isAlongK(fused, fused.getModeProducts().front()))
    return std::nullopt;
  SparsePlan exchanged = plan;
  exchanged.exchangedRows = plan.sizeN;
  exchanged.sizeN = rows;
  exchanged.alongRows = false;
  chooseSparseChunks(exchanged);
  return chooseSparseWgmma(exchanged, exchanged.exchangedRows, machine);
}

std::variant<SparsePlan, std::string>
kron::getSparsePlan(FusedOp fused, const GPUMachine &machine, bool hasSkinnyM) {
  SparsePlan plan;
  int64_t rows;
  if (std::optional<std::string> reason =
          describeFusedOp(fused, plan, rows, hasSkinnyM))
    return *reason;
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t warps = given ? given.getThreads() / 32 : 0;
  int64_t ctasPerSM = given ? given.getCtasPerSm() : 0;
  if (warps & (warps - 1))
    return "threads are not a power of two";
  SparsePlan full = plan;
  widenSparseChunks(full);
  if (!warps && !ctasPerSM)
    if (std::optional<SparsePlan> groups =
            chooseGroups(fused, full, rows, machine))
      return *groups;
  std::optional<SparsePlan> best =
      chooseSparseTile(full, warps, ctasPerSM, rows, machine);
  if (!best && full.isWideChunk())
    best = chooseSparseTile(plan, warps, ctasPerSM, rows, machine);
  bool maySplitK = !best || rows <= kSparseSkinnyM ||
                   getSparseTiles(*best, rows) < machine.numSMs;
  if (!warps && !ctasPerSM && maySplitK)
    if (SparsePlan splitK = plan; chooseSplitKSparseTile(splitK, rows, machine))
      return splitK;
  if (!best)
    return "a tile does not fit in shared memory";
  best->pairsFactor =
      !best->isWideChunk() && isWorthPairing(*best, rows, machine);
  return *best;
}

std::optional<SparsePlan> kron::getSkinnyMPlan(FusedOp fused,
                                               const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (given && (given.getThreads() || given.getCtasPerSm()))
    return std::nullopt;
  auto plan = getSparsePlan(fused, machine, /*hasSkinnyM=*/true);
  auto *few = std::get_if<SparsePlan>(&plan);
  auto type = cast<ShapedType>(fused.getInit().getType());
  if (!few || few->rowAxis < 0 || !type.isDynamicDim(few->rowAxis))
    return std::nullopt;
  // 16-bit values of 15 rows, one by one, of many products take longer than
  // full tiles.
  if (few->copiesSingly && few->is16BitFloat() && few->lanes > 1)
    return std::nullopt;
  return *few;
}
