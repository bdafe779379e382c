//===- WgmmaRegion.cpp - What kernels of wgmma take -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Types, axes and steps of a fused region, whatever its plan says.
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/MmaMath.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/WgmmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Largest factor side.
static constexpr int64_t kMaxSide = 512;
static constexpr int64_t kHalfBytes = 2;
/// Columns that shares of a factor are multiples of, and the most bytes of one
/// beside the pieces of three warpgroups.
static constexpr int64_t kShareUnit = 16, kMaxShareBytes = 152 * 1024;
/// The same of a factor of 16 bits: bytes of it and of two tiles, columns of an
/// instruction, and registers of a thread's sums and positions of K; fewer
/// where these are pairs of fibres that are turned.
static constexpr int64_t kMaxWholeBytes = 224 * 1024, kMaxWholeResults = 256,
                         kMaxWholeRegisters = 192, kTurningRegisters = 24;

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Whether a factor of `side` rows or columns is taken, beside others or alone.
static bool isSideTaken(int64_t side, size_t factors) {
  return side <= kWgmmaMaxWholeSide || (side <= kMaxSide && factors == 1);
}

/// What the kernels cannot do at all, or not accurately enough; an empty string
/// if there is nothing.
static std::string findObstacle(FusedOp fused) {
  if (std::optional<std::string> reason = getBareReason(fused))
    return *reason;
  auto isTaken = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16();
  };
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  SmallVector<unsigned> axes;
  int64_t terms = 1;
  bool isSplit = false;
  for (ModeProductOp product : products) {
    Type element = getElementType(product.getFactor());
    if (!isTaken(element))
      return "elements are not f32, f16 or bf16";
    if (product.getPrecision() == Precision::Ieee)
      return "precision ieee needs IEEE multiply-adds";
    ShapedType factor = getShape(product.getFactor());
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        return "a factor varies over an axis of the data";
    int64_t sizeK = factor.getDimSize(product.getContractedFactorDim());
    int64_t sizeN = factor.getDimSize(product.getResultingFactorDim());
    isSplit |= element.isF32() && product.getPrecision() == Precision::Full;
    int64_t side = std::max(sizeK, sizeN);
    if (side > kMaxSide)
      return "a factor has more than 512 rows or columns";
    if (!isSideTaken(side, products.size()))
      return "a factor of more than 128 rows or columns is not alone";
    if (llvm::is_contained(axes, product.getAxis()))
      return "an axis is contracted twice";
    axes.push_back(product.getAxis());
    terms = std::min(terms * sizeK, kLeastSummed);
  }
  if (isSplit && terms < kLeastSummed)
    return "sums of fewer than 32 products need more accurate ones";
  if (!isTaken(getElementType(fused.getInputs().front())) ||
      !isTaken(getElementType(fused.getInit())))
    return "elements are not f32, f16 or bf16";
  return "";
}

/// Joins neighbouring axes that no factor touches and all arrays walk as one.
static void mergeAxes(FusedOp fused, WgmmaPlan &plan) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  ModeProductOp last = products.back();
  ShapedType input = getShape(products.front().getInput());
  ShapedType result = getShape(fused.getInit());
  SmallVector<int> stepOf(result.getRank(), -1);
  for (auto [index, product] : llvm::enumerate(products))
    stepOf[product.getAxis()] = index;

  SmallVector<SmallVector<int64_t>> strides;
  strides.push_back(getKnownStrides(
      fused.getInputs().front(),
      fused.getInputPermutation().value_or(ArrayRef<int64_t>())));
  strides.push_back(getKnownStrides(fused.getInit()));
  if (last.getAddend())
    strides.push_back(getKnownStrides(fused.getOperandOf(last.getAddend())));
  auto isWalked = [&](unsigned axis) {
    return stepOf[axis] < 0 &&
           input.getDimSize(axis) == result.getDimSize(axis);
  };
  auto isMergeable = [&](unsigned axis) {
    unsigned outer = plan.axes.back().strideAxis;
    int64_t size = result.getDimSize(axis);
    if (!isWalked(axis) || !isWalked(axis - 1) || plan.axes.back().step >= 0 ||
        ShapedType::isDynamic(size))
      return false;
    if (size == 1 || result.getDimSize(outer) == 1)
      return true;
    return llvm::all_of(strides, [&](ArrayRef<int64_t> array) {
      return !ShapedType::isDynamic(array[axis]) &&
             !ShapedType::isDynamic(array[outer]) &&
             array[outer] == array[axis] * size;
    });
  };
  for (unsigned axis = 0; axis < stepOf.size(); ++axis) {
    int64_t after = result.getDimSize(axis);
    // The contracted axis stays the innermost one.
    if (isWalked(axis) && after == 1 && !plan.axes.empty() &&
        plan.axes.back().step >= 0)
      continue;
    if (axis > 0 && isMergeable(axis)) {
      WgmmaAxis &merged = plan.axes.back();
      merged.fusedAxes.push_back(axis);
      merged.after = ShapedType::isDynamic(merged.after) ? merged.after
                                                         : merged.after * after;
      merged.before = merged.after;
      if (after != 1)
        merged.strideAxis = axis;
      merged.isContiguous = strides.front()[merged.strideAxis] == 1;
      continue;
    }
    WgmmaAxis own;
    own.fusedAxes.push_back(axis);
    own.strideAxis = axis;
    own.step = stepOf[axis];
    own.before = own.after = after;
    if (own.step >= 0) {
      // The types of the arrays may leave open what the factor tells.
      ModeProductOp product = products[own.step];
      ShapedType factor = getShape(product.getFactor());
      own.before = factor.getDimSize(product.getContractedFactorDim());
      own.after = factor.getDimSize(product.getResultingFactorDim());
    }
    own.isContiguous = strides.front()[axis] == 1;
    plan.axes.push_back(own);
  }
  for (WgmmaAxis &axis : plan.axes)
    axis.stride = strides.front()[axis.strideAxis];
}

/// Whether tiles have enough of `axis` for segments of sectors.
static bool fillsSectors(const WgmmaAxis &axis) {
  return ShapedType::isDynamic(axis.after) || axis.after >= kWgmmaColumnUnit;
}

/// Where a transposed input has its neighbours along the contracted axis of the
/// only factor, and the result along columns, these become rows, neighbours of
/// which are next to each other.
static void turnColumns(WgmmaPlan &plan) {
  if (plan.axes.size() < 2 || !fillsSectors(plan.axes.back()))
    return;
  const WgmmaAxis &inner = plan.axes[plan.axes.size() - 2];
  if (inner.step < 0 || !inner.isContiguous)
    return;
  plan.turn = WgmmaTurn::Columns;
  std::swap(plan.axes[plan.axes.size() - 2], plan.axes.back());
}

/// Where a transposed input has its neighbours along rows, these become the
/// innermost axis, so that tiles lie as the input does, and the axis along
/// which results are neighbours is contracted last: four lanes then store whole
/// sectors of f32. The numbers of the products, in the order of steps.
static SmallVector<unsigned> turnTile(WgmmaPlan &plan, size_t numProducts,
                                      bool canTurn) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, numProducts));
  int last = plan.axes.back().step;
  if (!canTurn || plan.axes.back().isContiguous)
    return order;
  if (last < 0) {
    if (numProducts == 1)
      turnColumns(plan);
    return order;
  }
  auto rows = llvm::find_if(plan.axes, [](const WgmmaAxis &axis) {
    return axis.step < 0 && axis.isContiguous;
  });
  if (rows == plan.axes.end() || !fillsSectors(*rows))
    return order;
  plan.turn = WgmmaTurn::Rows;
  std::rotate(rows, rows + 1, plan.axes.end());
  std::rotate(order.begin() + last, order.begin() + last + 1, order.end());
  for (WgmmaAxis &axis : plan.axes)
    if (axis.step >= 0)
      axis.step = llvm::find(order, unsigned(axis.step)) - order.begin();
  return order;
}

/// The tiles of an axis of a known size fill at least three quarters of the
/// rows of an instruction.
static bool fillsTiles(int64_t size) {
  return !ShapedType::isDynamic(size) &&
         4 * size >= 3 * static_cast<int64_t>(llvm::alignTo(size, kWgmmaRows));
}

/// Finds the axes of rows and columns.
static void findTiledAxes(WgmmaPlan &plan) {
  int numAxes = plan.axes.size();
  if (plan.turn == WgmmaTurn::Columns)
    plan.columnAxis = numAxes - 2;
  else if (plan.axes.back().step < 0 && plan.turn == WgmmaTurn::None)
    plan.columnAxis = numAxes - 1;
  // The one along which neighbours of a transposed input lie, else the longest
  // of the other axes. One of unknown size may have a single position, so that
  // a known size goes first if it fills tiles.
  auto getRank = [&](int axis) {
    int64_t size = plan.axes[axis].after;
    bool isOpen = ShapedType::isDynamic(size);
    return std::tuple(plan.axes[axis].isContiguous, fillsTiles(size), isOpen,
                      isOpen ? 0 : size);
  };
  for (int axis = 0; axis < numAxes; ++axis)
    if (plan.axes[axis].step < 0 && axis != plan.columnAxis &&
        (plan.rowAxis < 0 || getRank(axis) > getRank(plan.rowAxis)))
      plan.rowAxis = axis;
}

/// Leaves a CTA as many of the columns of a large factor of 16 bits as fit
/// beside two whole tiles, and a thread's sums beside what it has of a tile;
/// and as few as make for as many CTAs.
static void shareWhole(WgmmaStep &step) {
  step.pad(1);
  int64_t tiles = 2 * kWgmmaRows * step.paddedK * kHalfBytes;
  int64_t registers = kMaxWholeRegisters - step.paddedK / 4 -
                      (step.innermost ? 0 : kTurningRegisters);
  int64_t most =
      std::min({kMaxWholeResults, 2 * registers,
                (kMaxWholeBytes - tiles) / (step.paddedK * kHalfBytes)});
  most = llvm::alignDown(most, kShareUnit);
  if (step.sizeN <= most)
    return step.pad(step.sizeN);
  int64_t shares = llvm::divideCeil(step.sizeN, most);
  step.pad(llvm::alignTo(llvm::divideCeil(step.sizeN, shares), kShareUnit));
  step.shares = llvm::divideCeil(step.sizeN, step.paddedResults);
}

/// Leaves a CTA as many of the columns of a large factor as fit beside pieces
/// of tiles, and as few as make for as many CTAs.
static void share(WgmmaStep &step) {
  if (step.kind == WgmmaKind::Half)
    return shareWhole(step);
  int64_t most = std::min(step.sizeN, kWgmmaShareResults);
  for (step.pad(most); most > kShareUnit &&
                       step.getNumCopies() * step.factorBytes > kMaxShareBytes;)
    step.pad(most -= kShareUnit);
  step.shares = llvm::divideCeil(step.sizeN, step.paddedResults);
}

/// Appends the step of factor `product`, of `sizeK` x `sizeN`, which multiplies
/// in TF32 where `allowsTF32`.
static void addStep(WgmmaPlan &plan, unsigned product, int64_t sizeK,
                    int64_t sizeN, bool is16BitFloat, bool allowsTF32) {
  WgmmaStep step;
  step.product = product;
  for (auto [number, axis] : llvm::enumerate(plan.axes))
    if (axis.step == static_cast<int>(plan.steps.size()))
      step.axis = number;
  if (is16BitFloat && plan.steps.empty())
    step.kind = WgmmaKind::Half;
  else if (is16BitFloat || allowsTF32)
    step.kind = WgmmaKind::TF32;
  else
    step.kind = WgmmaKind::Split;
  step.sizeK = sizeK;
  step.sizeN = sizeN;
  step.innermost = step.axis + 1 == plan.axes.size();
  if (std::max(sizeK, sizeN) <= kWgmmaMaxWholeSide)
    step.pad(sizeN);
  else
    share(step);
  plan.factorBytes += step.getNumCopies() * step.factorBytes;
  plan.steps.push_back(step);
}

static void finishSteps(WgmmaPlan &plan, Type element) {
  plan.landing.elementBytes = getElementBytes(element);
}

static void buildSteps(FusedOp fused, WgmmaPlan &plan,
                       ArrayRef<unsigned> order) {
  Type element = getElementType(fused.getInputs().front());
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  for (unsigned number : order) {
    ModeProductOp product = products[number];
    ShapedType factor = getShape(product.getFactor());
    addStep(plan, number, factor.getDimSize(product.getContractedFactorDim()),
            factor.getDimSize(product.getResultingFactorDim()),
            !element.isF32(),
            product.getPrecision() == Precision::TF32 ||
                !getElementType(product.getFactor()).isF32());
  }
  finishSteps(plan, element);
}

std::variant<WgmmaPlan, std::string> kron::describeWgmma(FusedOp fused) {
  std::string reason = findObstacle(fused);
  if (!reason.empty())
    return reason;
  WgmmaPlan plan;
  mergeAxes(fused, plan);
  bool canTurn =
      getElementType(fused.getInputs().front()).isF32() &&
      getElementType(fused.getInit()).isF32() &&
      getKnownStrides(fused.getInit())[plan.axes.back().strideAxis] == 1;
  SmallVector<unsigned> order =
      turnTile(plan, fused.getModeProducts().size(), canTurn);
  findTiledAxes(plan);
  buildSteps(fused, plan, order);
  return plan;
}

/// Whether `kron.fused` regions of `problem` may become a wgmma kernel.
static bool isTaken(const Problem &problem) {
  bool isF32 = problem.element.isF32();
  if ((!isF32 && !problem.element.isF16() && !problem.element.isBF16()) ||
      problem.precision == Precision::Ieee)
    return false;
  llvm::SmallDenseSet<int64_t> axes;
  int64_t terms = 1;
  for (const ProblemFactor &factor : problem.factors) {
    if (!axes.insert(factor.axis).second || !factor.varyingAxes.empty() ||
        !isSideTaken(std::max(factor.sizeK, factor.sizeN),
                     problem.factors.size()))
      return false;
    terms = std::min(terms * factor.sizeK, kLeastSummed);
  }
  return !isF32 || problem.precision == Precision::TF32 ||
         terms >= kLeastSummed;
}

/// Rows, contracted axes and columns of `problem`, as far as there are several.
static void addAxes(const Problem &problem, WgmmaPlan &plan) {
  auto addAxis = [&](int64_t before, int64_t after, int step) {
    WgmmaAxis axis;
    axis.before = before;
    axis.after = after;
    axis.step = step;
    plan.axes.push_back(axis);
  };
  // Of an unknown number of columns all positions are taken for these.
  int64_t rows = 1;
  if (problem.inner > 0)
    rows = static_cast<int64_t>(problem.getPositions() / double(problem.inner));
  if (rows > 1 && problem.hasDynamicSize)
    rows = ShapedType::kDynamic;
  if (rows != 1)
    addAxis(rows, rows, -1);
  auto order = llvm::to_vector(llvm::seq<int>(0, problem.factors.size()));
  llvm::sort(order, [&](int lhs, int rhs) {
    return problem.factors[lhs].axis < problem.factors[rhs].axis;
  });
  for (int number : order)
    addAxis(problem.factors[number].sizeK, problem.factors[number].sizeN,
            number);
  int64_t inner = problem.inner < 0 ? ShapedType::kDynamic : problem.inner;
  if (inner != 1)
    addAxis(inner, inner, -1);
  // Neighbours lie along rows of a transposed input.
  size_t contiguous = plan.axes.size() - 1;
  if (problem.readsTranspose)
    contiguous = 0;
  else if (problem.readsColumns && contiguous > 0)
    --contiguous;
  plan.axes[contiguous].isContiguous = true;
  if (contiguous + 1 != plan.axes.size())
    return;
  // Arrays have no gaps.
  int64_t stride = 1;
  for (WgmmaAxis &axis : llvm::reverse(plan.axes)) {
    axis.stride = stride;
    if (ShapedType::isDynamic(axis.before))
      return;
    stride *= axis.before;
  }
}

std::optional<WgmmaPlan> kron::describeWgmma(const Problem &problem) {
  if (!isTaken(problem))
    return std::nullopt;
  WgmmaPlan plan;
  addAxes(problem, plan);
  SmallVector<unsigned> order =
      turnTile(plan, problem.factors.size(), problem.element.isF32());
  findTiledAxes(plan);
  for (unsigned number : order) {
    const ProblemFactor &factor = problem.factors[number];
    addStep(plan, number, factor.sizeK, factor.sizeN, !problem.element.isF32(),
            problem.precision == Precision::TF32);
  }
  finishSteps(plan, problem.element);
  return plan;
}
