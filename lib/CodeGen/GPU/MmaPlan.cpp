//===- MmaPlan.cpp - Tiles and steps of a kernel of mma.sync --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MmaPlanner.h"
#include "kron/CodeGen/GPU/CostModel.h"
#include "kron/CodeGen/GPU/Mma.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Innermost elements that a warp stores at once, 128 bytes.
static constexpr int64_t kSegmentBytes = 128;
static constexpr int64_t kSectorBytes = 32;
/// Elements that a tile should have so that its barriers cost little.
static constexpr int64_t kTileElements = 4096;

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<std::string> MmaPlanner::chooseTypes() {
  products = fused.getModeProducts();
  plan.inputType = getElementType(fused.getInputs().front());
  plan.outputType = getElementType(fused.getInit());
  plan.factorType = getElementType(products.front().getFactor());
  bool ieee = false, tf32 = false;
  for (ModeProductOp product : products) {
    ShapedType factor = getShape(product.getFactor());
    if (!factor.hasStaticShape())
      return "the shape of a factor is dynamic";
    if (factor.getElementType() != plan.factorType)
      return "factors have different element types";
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        return "a factor varies along an axis";
    Precision precision = product.getPrecision();
    ieee |= precision == Precision::Ieee;
    tf32 |= precision == Precision::TF32;
  }
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16(); };
  auto isReal32 = [&](Type type) { return type.isF32() || isNarrow(type); };
  if (plan.factorType.isF64()) {
    plan.math = MmaMath::F64;
    plan.type = plan.factorType;
    if (plan.inputType != plan.type || plan.outputType != plan.type)
      return "arrays have another element type than the factors";
    return std::nullopt;
  }
  if (!isReal32(plan.factorType) || !isReal32(plan.inputType) ||
      !isReal32(plan.outputType))
    return "the element type is no real floating-point type of up to 64 bits";
  if (ieee)
    return "products of IEEE precision are not available to matrix "
           "instructions of 32-bit values";
  plan.type = Float32Type::get(fused.getContext());
  plan.math =
      tf32 || isNarrow(plan.factorType) ? MmaMath::TF32 : MmaMath::SplitTF32;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Whether dimension `outer` of `array` continues where `inner` ends.
static bool continues(Value array, unsigned outer, unsigned inner) {
  ShapedType type = getShape(array);
  auto memref = dyn_cast<MemRefType>(array.getType());
  if (outer + 1 == inner && (!memref || memref.getLayout().isIdentity()))
    return true;
  SmallVector<int64_t> strides = getKnownStrides(array);
  int64_t size = type.getDimSize(inner);
  if (ShapedType::isDynamic(strides[outer]) ||
      ShapedType::isDynamic(strides[inner]) || ShapedType::isDynamic(size))
    return false;
  return strides[outer] == strides[inner] * size;
}

bool MmaPlanner::isCollapsible(unsigned outer, unsigned inner) {
  Value input = fused.getInputs().front();
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  auto inputDim = [&](unsigned axis) -> unsigned {
    return permutation.empty() ? axis : permutation[axis];
  };
  for (unsigned axis : {outer, inner})
    if (getShape(input).getDimSize(inputDim(axis)) !=
        getShape(fused.getInit()).getDimSize(axis))
      return false;
  if (!continues(input, inputDim(outer), inputDim(inner)) ||
      !continues(fused.getInit(), outer, inner))
    return false;
  Value addend = products.back().getAddend();
  if (!addend)
    return true;
  unsigned number = cast<BlockArgument>(addend).getArgNumber();
  return continues(fused->getOperand(number), outer, inner);
}

void MmaPlanner::collectAxes() {
  ShapedType type = getShape(fused.getInit());
  bool joins = false;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    MmaDim dim;
    dim.axes.push_back(axis);
    for (ModeProductOp product : products)
      if (product.getAxis() == axis)
        dim.product = product;
    if (dim.product) {
      ShapedType factor = getShape(dim.product.getFactor());
      dim.sizeK = factor.getDimSize(dim.product.getContractedFactorDim());
      dim.sizeN = factor.getDimSize(dim.product.getResultingFactorDim());
      axes.push_back(dim);
      joins = false;
      continue;
    }
    if (type.getDimSize(axis) == 1)
      continue;
    if (joins && isCollapsible(axes.back().axes.back(), axis))
      axes.back().axes.push_back(axis);
    else
      axes.push_back(dim);
    joins = true;
  }
}

/// The number of positions of `axes`, or dynamic.
int64_t MmaPlanner::getStaticSize(ArrayRef<unsigned> axes) {
  int64_t product = 1;
  for (unsigned axis : axes) {
    int64_t size = getShape(fused.getInit()).getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return size;
    product *= size;
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

/// Positions of the innermost axis, which nothing contracts, that a tile takes.
static int64_t chooseSegmentOf(int64_t size, int64_t elementBytes) {
  int64_t segment = kSegmentBytes / elementBytes;
  if (ShapedType::isDynamic(size))
    return segment;
  if (size <= segment + segment / 2)
    return size;
  // Not much is left over with one of these.
  int64_t best = segment;
  for (int64_t columns : {segment + segment / 2, 2 * segment})
    if (llvm::alignTo(size, columns) < llvm::alignTo(size, best))
      best = columns;
  return best;
}

void MmaPlanner::addGridAxis(ArrayRef<unsigned> which, int dim, int64_t step) {
  MmaGridAxis axis;
  axis.axes.assign(which.begin(), which.end());
  axis.dim = dim;
  axis.step = step;
  plan.grid.push_back(axis);
}

/// Whether neighbours of the input lie along `axis` of the fused region.
bool MmaPlanner::isContiguousInput(unsigned axis) {
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  Value input = fused.getInputs().front();
  return getKnownStrides(
             input)[permutation.empty() ? axis : permutation[axis]] == 1;
}

/// Positions of `axis`, along which neighbours lie in memory, that a tile takes
/// beside all of the contracted axes, of `elements` positions.
int64_t MmaPlanner::chooseSegment(const MmaDim &axis, int64_t elements,
                                  int64_t given) {
  int64_t size = getStaticSize(axis.axes);
  int64_t elementBytes = std::max(getElementBytes(plan.inputType),
                                  getElementBytes(plan.outputType));
  int64_t segment = given ? given : chooseSegmentOf(size, elementBytes);
  if (!ShapedType::isDynamic(size))
    segment = std::min(segment, size);
  // Shorter ones, down to one sector, if the tile does not fit otherwise.
  while (!given && segment % 2 == 0 && segment * elementBytes > kSectorBytes &&
         elements * segment * getElementBytes(plan.type) >
             getFootprintBudget(machine))
    segment /= 2;
  return segment;
}

void MmaPlanner::chooseTile() {
  int64_t givenRows = 0, givenColumns = 0;
  if (GPUPlanAttr given = getGPUPlanAttr(fused)) {
    givenRows = given.getTile();
    givenColumns = given.getColumns();
  }
  unsigned first = 0;
  while (!axes[first].product)
    ++first;
  int64_t elements = 1;
  for (MmaDim &axis : axes)
    elements *= std::max(axis.sizeK, axis.sizeN);
  bool hasColumns = !axes.back().product;
  // The axis of rows of a transposed input.
  unsigned turned = 0;
  while (turned < first && !isContiguousInput(axes[turned].axes.back()))
    ++turned;
  plan.turnsRows = !hasColumns && turned < first;

  int64_t columns = 1, rows = 1;
  if (hasColumns) {
    columns = chooseSegment(axes.back(), elements, givenColumns);
    elements *= columns;
  }
  // Rows: the axis right outside of the first contracted one.
  if (plan.turnsRows) {
    rows = chooseSegment(axes[turned], elements, givenRows);
  } else if (first > 0) {
    int64_t size = getStaticSize(axes[first - 1].axes);
    rows =
        givenRows ? givenRows : std::max<int64_t>(1, kTileElements / elements);
    // Fibres of a single factor are rows, 16 of them to an instruction.
    bool onlyFibres = !hasColumns && first + 1 == axes.size();
    if (onlyFibres && !givenRows)
      rows = llvm::alignTo(rows, 16);
    if (!ShapedType::isDynamic(size))
      rows = std::min(rows, std::max<int64_t>(size, 1));
  }

  // Rows of a transposed input are the tile's columns, and those of the tiles
  // that are worked on at a time lie side by side.
  if (plan.turnsRows)
    std::rotate(axes.begin() + turned, axes.begin() + turned + 1, axes.end());
  for (unsigned index = 0; index < axes.size(); ++index) {
    MmaDim dim = axes[index];
    bool isColumns = (hasColumns || plan.turnsRows) && index + 1 == axes.size();
    bool isRows = !plan.turnsRows && index + 1 == first;
    if (!dim.product) {
      int64_t step = isRows || plan.turnsRows ? rows : columns;
      bool inTile = isRows || isColumns;
      addGridAxis(dim.axes, inTile ? int(plan.dims.size()) : -1,
                  inTile ? step : 1);
      if (!inTile)
        continue;
      dim.sizeK = dim.sizeN = step;
    }
    plan.dims.push_back(dim);
  }
  // Steps on the innermost dimension take their fibres from the next one.
  if (plan.dims.size() == 1) {
    plan.dims.insert(plan.dims.begin(), MmaDim());
    for (MmaGridAxis &axis : plan.grid)
      axis.dim += axis.dim >= 0 ? 1 : 0;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int64_t MmaPlanner::getFactorRegisters(MmaStep &step) {
  // Two 32-bit registers per value, or one if only one TF32 is kept.
  int64_t perNumber = plan.math == MmaMath::TF32 ? 1 : 2;
  const MmaDim &dim = plan.dims[step.dim];
  int64_t tilesK = llvm::divideCeil(dim.sizeK, 8);
  int64_t registers = step.tiles * tilesK * 4 * perNumber;
  if (step.kind == MmaStep::Kind::Chain) {
    const MmaDim &inner = plan.dims[step.dim + 1];
    registers += llvm::divideCeil(inner.sizeK, 8) *
                 llvm::divideCeil(inner.sizeN, 8) * 2 * perNumber;
  }
  return registers;
}

bool MmaPlanner::canChain(unsigned dim) {
  const MmaDim &outer = plan.dims[dim], &inner = plan.dims[dim + 1];
  if (!outer.product || !inner.product)
    return false;
  // Registers of both factors and both accumulators.
  MmaStep step;
  step.kind = MmaStep::Kind::Chain;
  step.dim = dim;
  step.tiles = llvm::divideCeil(outer.sizeN, 16);
  int64_t perSum = plan.math == MmaMath::F64 ? 8 : 4;
  int64_t sums =
      step.tiles * perSum *
      (llvm::divideCeil(inner.sizeK, 8) + llvm::divideCeil(inner.sizeN, 8));
  // The factors of a chain are not loaded again and again.
  int64_t factors = getFactorRegisters(step);
  return factors <= kMmaStepRegisters && factors + sums <= 192 && sums <= 72;
}

void MmaPlanner::addStep(MmaStep::Kind kind, unsigned dim) {
  MmaStep step;
  step.kind = kind;
  step.dim = dim;
  for (unsigned index = 0; index < plan.dims.size(); ++index)
    step.sizes.push_back(applied[index] ? plan.dims[index].sizeN
                                        : plan.dims[index].sizeK);
  int64_t tiles = llvm::divideCeil(plan.dims[dim].sizeN, 16);
  step.tiles = tiles;
  if (kind != MmaStep::Kind::Chain) {
    while (step.warps < plan.warps &&
           getFactorRegisters(step) > kMmaStepRegisters / 2) {
      step.warps *= 2;
      step.tiles = llvm::PowerOf2Ceil(llvm::divideCeil(tiles, step.warps));
    }
  }
  step.factorRegisters = getFactorRegisters(step);
  step.fitsRegisters = step.factorRegisters <= kMmaStepRegisters;
  applied[dim] = 1;
  if (kind == MmaStep::Kind::Chain)
    applied[dim + 1] = 1;
  plan.steps.push_back(step);
}

/// The innermost dimension first, so that the last step stores long segments;
/// or last, where columns are rows of the result.
void MmaPlanner::chooseSteps() {
  plan.steps.clear();
  applied.assign(plan.dims.size(), 0);
  int last = plan.dims.size() - 1;
  int next = last;
  if (plan.dims[last].product) {
    if (canChain(last - 1)) {
      addStep(MmaStep::Kind::Chain, last - 1);
      next = last - 2;
    } else {
      addStep(MmaStep::Kind::Fibres, last);
      next = last - 1;
    }
  }
  if (plan.turnsRows)
    next = last - 2;
  for (int dim = next; dim >= 0; --dim)
    if (plan.dims[dim].product)
      addStep(MmaStep::Kind::Columns, dim);
  if (plan.turnsRows)
    addStep(MmaStep::Kind::Columns, last - 1);
}

std::optional<std::string> MmaPlanner::run() {
  if (std::optional<std::string> reason = chooseTypes())
    return reason;
  llvm::SmallDenseSet<int64_t> contracted;
  for (ModeProductOp product : products)
    if (!contracted.insert(product.getAxis()).second)
      return "an axis is contracted more than once";
  collectAxes();
  for (const MmaDim &axis : axes)
    if (axis.product && (axis.sizeK > 256 || axis.sizeN > 256))
      return "a factor has more than 256 rows or columns";
  chooseTile();
  return chooseResources();
}

std::variant<MmaPlan, std::string> kron::getMmaPlan(FusedOp fused,
                                                    const GPUMachine &machine) {
  MmaPlanner planner(fused, machine);
  if (std::optional<std::string> reason = planner.run())
    return *reason;
  return planner.plan;
}

std::optional<std::string>
kron::getMMAUnsupportedReason(FusedOp fused, const GPUMachine &machine) {
  std::variant<MmaPlan, std::string> plan = getMmaPlan(fused, machine);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  return std::nullopt;
}
