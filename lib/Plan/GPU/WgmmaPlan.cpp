//===- WgmmaPlan.cpp - Tiles of a wgmma kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/WgmmaPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/MmaMath.h"
#include "kron/Plan/GPU/Reasons.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Largest factor side.
static constexpr int64_t kMaxSide = 512;
static constexpr int64_t kHalfBytes = 2;
/// What numbers of columns of a tile are padded to.
static constexpr int64_t kColumnUnit = 8;
/// What positions of the contracted axis in a piece are multiples of: rows of
/// that many are loaded at a time.
static constexpr int64_t kPieceUnit = 16;
/// Columns that shares of a factor are multiples of, and the most bytes of one
/// beside the pieces of three warpgroups.
static constexpr int64_t kShareUnit = 16, kMaxShareBytes = 152 * 1024;
/// The same of a factor of 16 bits: bytes of it and of two tiles, columns of an
/// instruction, and registers of a thread's sums and positions of K; fewer
/// where these are pairs of fibres that are turned.
static constexpr int64_t kMaxWholeBytes = 224 * 1024, kMaxWholeResults = 256,
                         kMaxWholeRegisters = 192, kTurningRegisters = 24;
/// Elements of a tile, more than fit any SM: sizes of larger ones need not be
/// worked out.
static constexpr uint64_t kMaxTileElements = 1 << 20;
/// Values of a row that a thread keeps while it is quantized.
static constexpr int64_t kMaxKept = 64;

bool WgmmaPlan::canRefill() const {
  const WgmmaStep &last = steps.back();
  // Four rows are neighbours in memory, and no warp repeats another one's rows.
  if (buffers != 1 || pieces != 1 || wholeCopies || sharedStore ||
      landing.elementBytes != 4 || last.innermost ||
      last.radix.back() % 4 != 0 || last.rows % kWgmmaRows != 0)
    return false;
  // Its rows are all of the next tile.
  for (auto [number, axis] : llvm::enumerate(axes))
    if (number != last.axis &&
        (axis.step >= 0 ? axis.before != axis.after
                        : axis.tile != last.radix[number]))
      return false;
  return true;
}

const WgmmaAxis &WgmmaPlan::getResultAxis() const {
  switch (turn) {
  case WgmmaTurn::Rows:
    return axes[steps.back().axis];
  case WgmmaTurn::Columns:
    return axes[columnAxis];
  case WgmmaTurn::None:
    return axes.back();
  }
  llvm_unreachable("unknown turn");
}

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

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
  return ShapedType::isDynamic(axis.after) || axis.after >= kColumnUnit;
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

//===----------------------------------------------------------------------===//
// What follows from the choices
//===----------------------------------------------------------------------===//

/// Whether lanes that copy or store neighbours one by one have these along
/// another dimension than the innermost one of the tile.
static bool accessesAcross(const WgmmaPlan &plan) {
  if (plan.landing.elementBytes != 4 || plan.pieces > 1)
    return false;
  bool copiesAcross = !plan.axes.back().isContiguous &&
                      llvm::any_of(plan.axes, [](const WgmmaAxis &axis) {
                        return axis.isContiguous && axis.tile > 1;
                      });
  bool storesAcross = plan.turn == WgmmaTurn::Rows &&
                      plan.getResultAxis().after * plan.landing.elementBytes %
                              kWgmmaTurnedBytes !=
                          0;
  return copiesAcross || storesAcross;
}

/// Pitches that keep accesses free of bank conflicts: a thread reads 4 or 8
/// bytes of rows that are 2 or more positions of another axis apart.
static void setLayout(WgmmaLayout &layout, const WgmmaPlan &plan) {
  unsigned numAxes = plan.axes.size();
  layout.pitches.assign(numAxes, 0);
  SmallVector<int64_t> extents(numAxes, 1);
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    extents[number] = axis.tile;
    if (axis.step >= 0) {
      const WgmmaStep &step = plan.steps[axis.step];
      extents[number] = plan.pieces > 1
                            ? plan.pieceK
                            : std::max(step.paddedK, step.paddedResults);
    } else if (number + 1 == numAxes) {
      extents[number] = llvm::alignTo(axis.tile, kColumnUnit);
    }
  }
  int64_t period = 128 / layout.elementBytes, unit = 16 / layout.elementBytes;
  // It is one of bits of addresses, which are those of positions where all
  // axes but the outermost one of several positions have powers of two.
  auto several = llvm::find_if(extents, [](int64_t size) { return size > 1; });
  // Every pitch-th element of a swizzled tile is on one of four banks.
  bool isAcross = accessesAcross(plan);
  layout.swizzled =
      !isAcross && extents.back() % period == 0 &&
      llvm::all_of(llvm::drop_begin(llvm::make_range(several, extents.end())),
                   llvm::isPowerOf2_64);
  int64_t pitch = 1;
  for (unsigned number = numAxes; number-- > 0;) {
    if (extents[number] == 1 && plan.axes[number].step < 0)
      continue;
    layout.pitches[number] = pitch;
    pitch *= extents[number];
    // Short rows would grow too much, and conflict little but across.
    if (!layout.swizzled && pitch % (2 * unit) == 0 &&
        pitch >= (isAcross ? 4 : 8) * unit)
      pitch += unit;
  }
  layout.elements = llvm::alignTo(pitch, period);
}

/// How a tile of `plan` lies in the input, if neighbours do side by side.
static std::optional<BoxSegments> getSegments(const WgmmaPlan &plan) {
  SmallVector<int64_t> sizes, strides;
  for (auto [axis, pitch] : llvm::zip_equal(plan.axes, plan.landing.pitches)) {
    if (pitch == 0)
      continue;
    sizes.push_back(axis.tile);
    strides.push_back(axis.stride);
  }
  return BoxSegments::get(sizes, strides, plan.landing.elementBytes);
}

void kron::setWgmmaTile(WgmmaPlan &plan) {
  plan.pieces =
      plan.pieceK ? llvm::divideCeil(plan.steps.front().sizeK, plan.pieceK) : 1;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (axis.step >= 0)
      axis.tile = axis.before;
    else if (static_cast<int>(number) == plan.rowAxis)
      axis.tile = plan.rows;
    else if (static_cast<int>(number) == plan.columnAxis)
      axis.tile = plan.columns;
  }
  plan.inPlace = plan.landing.elementBytes == 4 ||
                 (plan.steps.size() == 1 && !plan.sharedStore);
  setLayout(plan.landing, plan);
  setLayout(plan.work, plan);
  plan.segments = std::nullopt;
  if (plan.wholeCopies)
    plan.segments = getSegments(plan);
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    step.radix.clear();
    step.rows = 1;
    for (auto [number, axis] : llvm::enumerate(plan.axes)) {
      int64_t size = axis.tile;
      if (axis.step >= 0 && axis.step < static_cast<int>(index))
        size = axis.after;
      // A thread takes pairs of columns.
      if (number + 1 == plan.axes.size())
        size = llvm::alignTo(size, 2);
      step.radix.push_back(number == step.axis ? 1 : size);
      step.rows *= step.radix.back();
    }
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Elements of a tile before or after any step, or more than that; the largest
/// number if there is none for it.
static uint64_t getMaxTileElements(const WgmmaPlan &plan) {
  uint64_t elements =
      llvm::SaturatingMultiply<uint64_t>(plan.rows, plan.columns);
  for (const WgmmaStep &step : plan.steps)
    elements = llvm::SaturatingMultiply<uint64_t>(
        elements, std::max(step.paddedK, step.paddedResults));
  return elements;
}

/// What is wrong with the pieces that `plan` loads tiles in, if it does; an
/// empty string if there is nothing.
static std::string findWrongPieces(const WgmmaPlan &plan) {
  const WgmmaStep &step = plan.steps.front();
  if (plan.pieceK == 0)
    return plan.getShares() == 1 || plan.landing.elementBytes == kHalfBytes
               ? ""
               : expects("k_piece to be positive where CTAs share the columns "
                         "of a factor",
                         plan.pieceK);
  if (plan.steps.size() > 1 || plan.landing.elementBytes != 4)
    return expects("k_piece to be 0 unless a factor of f32 is alone",
                   plan.pieceK);
  if (plan.pieceK % kPieceUnit != 0 || plan.pieceK >= step.sizeK)
    return expects("k_piece to be a multiple of 16 less than the " +
                       Twine(step.sizeK) + " rows of the factor",
                   plan.pieceK);
  if (plan.groupSize != 1)
    return expects("warpgroups_per_tile to be 1 where tiles come in pieces",
                   plan.groupSize);
  if (plan.buffers < 2)
    return expects("stages to be at least 2 where tiles come in pieces",
                   plan.buffers);
  return "";
}

/// What is wrong with the choices of `plan` before tiles are worked out from
/// them; an empty string if there is nothing.
static std::string findWrongChoice(FusedOp fused, const WgmmaPlan &plan) {
  for (auto [name, value] :
       {std::pair("tile", plan.rows), std::pair("columns", plan.columns),
        std::pair("ctas_per_sm", plan.ctasPerSM),
        std::pair("stages", plan.buffers),
        std::pair("warpgroups_per_tile", plan.groupSize)})
    if (value < 1)
      return expects(Twine(name) + " to be positive", value);
  if (plan.rowAxis < 0 && plan.rows != 1)
    return expects("tile to be 1 where there is no axis of rows", plan.rows);
  if (plan.columnAxis < 0 && plan.columns != 1)
    return expects("columns to be 1 where the innermost axis is contracted",
                   plan.columns);
  if (getMaxTileElements(plan) > kMaxTileElements)
    return "expects tile and columns to fit shared memory, but got " +
           std::to_string(plan.rows) + " and " + std::to_string(plan.columns);
  if (plan.threads < 1 || plan.threads % kWarpgroupThreads != 0)
    return expects("threads to be a multiple of 128", plan.threads);
  if (plan.getWarpgroups() % plan.groupSize != 0)
    return expects("warpgroups_per_tile to divide the " +
                       Twine(plan.getWarpgroups()) + " warpgroups of a CTA",
                   plan.groupSize);
  if (plan.pieceK != 0 && (plan.wholeCopies || plan.sharedStore))
    return expects("whole_copies and shared_store to be 0 where tiles come in "
                   "pieces",
                   1);
  if (plan.sharedStore && (plan.quantize || plan.getShares() > 1))
    return expects(Twine("shared_store to be 0 where ") +
                       (plan.quantize ? "rows are quantized"
                                      : "CTAs share the columns of a factor"),
                   1);
  return findWrongPieces(plan);
}

std::variant<WgmmaPlan, std::string> kron::readWgmmaPlan(FusedOp fused,
                                                         GPUPlanAttr plan) {
  std::variant<WgmmaPlan, std::string> described = describeWgmma(fused);
  auto *read = std::get_if<WgmmaPlan>(&described);
  if (!read)
    return described;
  PlanReader reader(plan);
  WgmmaChoices::visitFields(reader, *read);
  std::string reason = findWrongChoice(fused, *read);
  if (!reason.empty())
    return reason;
  setWgmmaTile(*read);
  if (read->wholeCopies && !read->segments)
    return expects("whole_copies to be 0 where no elements of a tile lie side "
                   "by side",
                   1);
  if (read->pieces > 1 && read->steps.front().rows > kWgmmaRows)
    return expects("tile and columns to make at most 64 rows where tiles come "
                   "in pieces",
                   read->steps.front().rows);
  if (read->quantize)
    if (auto reason = getWgmmaQuantizeReason(fused, *read))
      return *reason;
  return described;
}

std::optional<std::string> kron::getWgmmaQuantizeReason(FusedOp fused,
                                                        const WgmmaPlan &plan) {
  if (fused.getModeProducts().back().getAddend())
    return "something is added to the product";
  if (plan.turn == WgmmaTurn::Rows)
    return "neighbours of a tile are on different rows";
  if (plan.axes.front().fusedAxes.size() != 1)
    return "rows are on more than one axis";
  int64_t elements = 1;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if ((axis.step < 0) != (number == 0))
      return "rows are not the outermost axis alone";
    if (number > 0)
      elements *= axis.after;
  }
  const WgmmaAxis &inner = plan.axes.back();
  if (plan.axes.size() < 2 || inner.after % kWgmmaQuantizedLanes != 0)
    return "results are not segments of four";
  if (plan.pieces > 1 || plan.getShares() > 1)
    return "a tile does not have whole rows";
  if (plan.steps.size() == 1 && plan.landing.elementBytes != 4)
    return "there is no place for results in shared memory";
  for (int64_t pitch : ArrayRef(plan.work.pitches).drop_back())
    if (pitch % kWgmmaQuantizedLanes != 0)
      return "rows in shared memory are not aligned";
  if (elements > kMaxKept * plan.groupSize * kWarpgroupThreads)
    return "a row does not fit in registers";
  return std::nullopt;
}
