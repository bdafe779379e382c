//===- WgmmaPlan.cpp - Tiles of a wgmma kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Largest factor side that a CTA takes whole, and at all: of larger factors,
/// some columns.
static constexpr int64_t kMaxWholeSide = 128;
static constexpr int64_t kMaxSide = 256;
static constexpr int64_t kShareResults = 64;

/// Largest factor side below which smaller instructions waste less, unless the
/// plan asks for wgmma.
static constexpr int64_t kMinSide = 17;
/// Products in a sum from which on the residuals of a split may be rounded to
/// bf16: of shorter sums, single elements can miss the a-priori bound.
static constexpr int64_t kMinSplitTerms = 32;
/// Positions of the contracted axis in a piece, and the most buffers.
static constexpr int64_t kPieceK = 32;
static constexpr int64_t kMaxBuffers = 8;

bool WgmmaPlan::canRefill() const {
  const WgmmaStage &last = stages.back();
  // Four rows are neighbours in memory, and no warp repeats another one's rows.
  if (buffers != 1 || pieces != 1 || !inPlace || landing.elementBytes != 4 ||
      last.innermost || last.radix.back() % 4 != 0 ||
      last.rows % kWgmmaRows != 0)
    return false;
  // Its rows are all of the next tile.
  for (auto [number, axis] : llvm::enumerate(axes))
    if (number != last.axis &&
        (axis.stage >= 0 ? axis.before != axis.after
                         : axis.tile != last.radix[number]))
      return false;
  return true;
}

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Bytes of an element; 0 of a complex one, which the planner refuses.
static int64_t getElementBytes(Value array) {
  Type type = getElementType(array);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8 : 0;
}

namespace {

class Planner {
public:
  Planner(FusedOp fused, const GPUMachine &machine)
      : fused(fused), machine(machine), products(fused.getModeProducts()),
        inputBytes(getElementBytes(this->fused.getInputs().front())) {}

  std::optional<WgmmaPlan> run(std::string &reason);

private:
  std::string findObstacle();
  void mergeAxes();
  void buildStages();
  void setTile(WgmmaPlan &candidate, int64_t rows, int64_t columns) const;
  void setLayout(WgmmaLayout &layout, const WgmmaPlan &candidate,
                 int64_t elementBytes) const;
  int64_t getWarpgroups() const;
  double getCost(const WgmmaPlan &candidate) const;
  void consider(WgmmaPlan &candidate, int64_t wantedBuffers);
  bool chooseTile();

  FusedOp fused;
  const GPUMachine &machine;
  SmallVector<ModeProductOp> products;
  WgmmaPlan plan;
  int64_t inputBytes;
  int rowAxis = -1, columnAxis = -1;
  std::optional<WgmmaPlan> best;
  double bestCost = 0;
};

} // namespace

/// What the kernels cannot do at all, or an empty string.
std::string Planner::findObstacle() {
  if (!machine.hasWgmma)
    return "the chip has no wgmma instructions";
  auto isTaken = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16();
  };
  SmallVector<unsigned> axes;
  int64_t largest = 0, terms = 1;
  bool isSplit = false;
  for (ModeProductOp product : products) {
    Type element = getElementType(product.getFactor());
    if (!isTaken(element))
      return "elements are not f32, f16 or bf16";
    if (product.getPrecision() == Precision::Ieee)
      return "precision ieee needs IEEE multiply-adds";
    ShapedType factor = getShape(product.getFactor());
    if (!factor.hasStaticShape())
      return "a factor has a dynamic shape";
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        return "a factor varies over an axis of the data";
    int64_t sizeK = factor.getDimSize(product.getContractedFactorDim());
    int64_t sizeN = factor.getDimSize(product.getResultingFactorDim());
    largest = std::max({largest, sizeK, sizeN});
    terms *= sizeK;
    isSplit |= element.isF32() && product.getPrecision() == Precision::Full;
    int64_t side = std::max(sizeK, sizeN);
    if (side > kMaxSide)
      return "a factor has more than 256 rows or columns";
    if (side > kMaxWholeSide && (products.size() > 1 || inputBytes != 4))
      return "a factor of more than 128 rows or columns is not alone or not "
             "f32";
    if (llvm::is_contained(axes, product.getAxis()))
      return "an axis is contracted twice";
    axes.push_back(product.getAxis());
  }
  if (isSplit && terms < kMinSplitTerms)
    return "sums of fewer than 32 products need more accurate ones";
  GPUPlanAttr given = getGPUPlanAttr(fused);
  bool isAsked = given && given.getKernel() == GPUKernel::Wgmma;
  if (largest < kMinSide && !isAsked)
    return "no factor has more than 16 rows or columns";
  if (!isTaken(getElementType(fused.getInputs().front())) ||
      !isTaken(getElementType(fused.getInit())))
    return "elements are not f32, f16 or bf16";
  return "";
}

/// Joins neighbouring axes that no factor touches and all arrays walk as one.
void Planner::mergeAxes() {
  ModeProductOp last = products.back();
  ShapedType input = getShape(products.front().getInput());
  ShapedType result = getShape(fused.getInit());
  SmallVector<int> stageOf(result.getRank(), -1);
  for (auto [index, product] : llvm::enumerate(products))
    stageOf[product.getAxis()] = index;

  SmallVector<SmallVector<int64_t>> strides;
  strides.push_back(getKnownStrides(
      fused.getInputs().front(),
      fused.getInputPermutation().value_or(ArrayRef<int64_t>())));
  strides.push_back(getKnownStrides(fused.getInit()));
  if (last.getAddend())
    strides.push_back(getKnownStrides(fused.getOperandOf(last.getAddend())));
  auto isWalked = [&](unsigned axis) {
    return stageOf[axis] < 0 &&
           input.getDimSize(axis) == result.getDimSize(axis);
  };
  auto isMergeable = [&](unsigned axis) {
    unsigned outer = plan.axes.back().strideAxis;
    int64_t size = result.getDimSize(axis);
    if (!isWalked(axis) || !isWalked(axis - 1) || plan.axes.back().stage >= 0 ||
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
  for (unsigned axis = 0; axis < stageOf.size(); ++axis) {
    int64_t after = result.getDimSize(axis);
    // The contracted axis stays the innermost one.
    if (isWalked(axis) && after == 1 && !plan.axes.empty() &&
        plan.axes.back().stage >= 0)
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
    own.stage = stageOf[axis];
    own.before = own.after = after;
    if (own.stage >= 0) {
      // The types of the arrays may leave open what the factor tells.
      ModeProductOp product = products[own.stage];
      ShapedType factor = getShape(product.getFactor());
      own.before = factor.getDimSize(product.getContractedFactorDim());
      own.after = factor.getDimSize(product.getResultingFactorDim());
    }
    own.isContiguous = strides.front()[axis] == 1;
    plan.axes.push_back(own);
  }
}

void Planner::buildStages() {
  bool is16BitFloat = !getElementType(fused.getInputs().front()).isF32();
  for (auto [index, product] : llvm::enumerate(products)) {
    WgmmaStage stage;
    for (auto [number, axis] : llvm::enumerate(plan.axes))
      if (axis.stage == static_cast<int>(index))
        stage.axis = number;
    if (is16BitFloat && index == 0)
      stage.kind = WgmmaKind::Half;
    else if (is16BitFloat || product.getPrecision() == Precision::TF32 ||
             !getElementType(product.getFactor()).isF32())
      stage.kind = WgmmaKind::TF32;
    else
      stage.kind = WgmmaKind::Split;
    ShapedType factor = getShape(product.getFactor());
    stage.sizeK = factor.getDimSize(product.getContractedFactorDim());
    stage.sizeN = factor.getDimSize(product.getResultingFactorDim());
    stage.innermost = stage.axis + 1 == plan.axes.size();
    // Innermost, a thread has four neighbours of 16 at a time; bf16 takes 16.
    bool isWide = stage.innermost || stage.kind == WgmmaKind::Split;
    stage.paddedK = llvm::alignTo(stage.sizeK, isWide ? 16 : stage.getStep());
    stage.paddedResults = llvm::alignTo(stage.sizeN, stage.innermost ? 16 : 8);
    if (std::max(stage.sizeK, stage.sizeN) > kMaxWholeSide) {
      stage.paddedResults = std::min(stage.paddedResults, kShareResults);
      stage.shares = llvm::divideCeil(stage.sizeN, stage.paddedResults);
    }
    stage.factorBytes = stage.paddedK * stage.paddedResults *
                        (stage.kind == WgmmaKind::Half ? 2 : 4);
    plan.factorBytes += stage.getNumCopies() * stage.factorBytes;
    plan.stages.push_back(stage);
  }
  plan.inPlace = !is16BitFloat || plan.stages.size() == 1;
}

/// Pitches that keep accesses free of bank conflicts: a thread reads 4 or 8
/// bytes of rows that are 2 or more positions of another axis apart.
void Planner::setLayout(WgmmaLayout &layout, const WgmmaPlan &candidate,
                        int64_t elementBytes) const {
  layout.elementBytes = elementBytes;
  unsigned numAxes = candidate.axes.size();
  layout.pitches.assign(numAxes, 0);
  SmallVector<int64_t> extents(numAxes, 1);
  for (auto [number, axis] : llvm::enumerate(candidate.axes)) {
    extents[number] = axis.tile;
    if (axis.stage >= 0) {
      const WgmmaStage &stage = candidate.stages[axis.stage];
      extents[number] = candidate.pieces > 1
                            ? candidate.pieceK
                            : std::max(stage.paddedK, stage.paddedResults);
    } else if (number + 1 == numAxes) {
      extents[number] = llvm::alignTo(axis.tile, 8);
    }
  }
  int64_t period = 128 / elementBytes, unit = 16 / elementBytes;
  layout.swizzled = extents.back() % period == 0;
  int64_t pitch = 1;
  for (unsigned number = numAxes; number-- > 0;) {
    if (extents[number] == 1 && candidate.axes[number].stage < 0)
      continue;
    layout.pitches[number] = pitch;
    pitch *= extents[number];
    // Short rows would grow too much, and conflict little.
    if (!layout.swizzled && pitch % (2 * unit) == 0 && pitch >= 8 * unit)
      pitch += unit;
  }
  layout.elements = llvm::alignTo(pitch, 128 / elementBytes);
}

void Planner::setTile(WgmmaPlan &candidate, int64_t rows,
                      int64_t columns) const {
  for (auto [number, axis] : llvm::enumerate(candidate.axes)) {
    if (axis.stage >= 0)
      axis.tile = axis.before;
    else if (static_cast<int>(number) == rowAxis)
      axis.tile = rows;
    else if (static_cast<int>(number) == columnAxis)
      axis.tile = columns;
  }
  setLayout(candidate.landing, candidate, inputBytes);
  setLayout(candidate.work, candidate, 4);
  for (auto [index, stage] : llvm::enumerate(candidate.stages)) {
    stage.radix.clear();
    stage.rows = 1;
    for (auto [number, axis] : llvm::enumerate(candidate.axes)) {
      int64_t size = axis.tile;
      if (axis.stage >= 0 && axis.stage < static_cast<int>(index))
        size = axis.after;
      // A thread takes pairs of columns.
      if (number + 1 == candidate.axes.size())
        size = llvm::alignTo(size, 2);
      stage.radix.push_back(number == stage.axis ? 1 : size);
      stage.rows *= stage.radix.back();
    }
  }
}

/// As many as the registers allow.
int64_t Planner::getWarpgroups() const {
  int64_t registers = 0;
  for (const WgmmaStage &stage : plan.stages) {
    int64_t operands = stage.paddedK / 2;
    if (stage.kind == WgmmaKind::Split)
      operands = stage.paddedK;
    if (stage.kind == WgmmaKind::Half)
      operands = stage.paddedK / 4;
    int64_t sums = stage.paddedResults / 2;
    // In pieces: two at a time, and two kinds of sums.
    if (stage.sizeK > kMaxWholeSide) {
      operands = 2 * kPieceK;
      sums *= 2;
    }
    registers = std::max(registers, sums + operands + 32);
  }
  return registers <= 128 ? 4 : registers <= 168 ? 3 : 2;
}

/// Time per element of the array, roughly, in units of a multiply-add of the
/// tensor cores.
double Planner::getCost(const WgmmaPlan &candidate) const {
  double work = 0;
  int64_t group = candidate.groupSize;
  for (const WgmmaStage &stage : candidate.stages) {
    double product = 64.0 * stage.paddedK * stage.paddedResults * stage.shares;
    // Reading, splitting and writing the rows of a block.
    double block = (stage.kind == WgmmaKind::Split ? 2.0 : 1.0) * product +
                   64.0 * 128 * (stage.sizeK + stage.sizeN) + 64.0 * 2048;
    work += llvm::divideCeil(stage.getBlocks(), group) * group * block;
  }
  double elements = 1;
  for (const WgmmaAxis &axis : candidate.axes)
    elements *= axis.tile;
  double cost = work / elements;
  double inFlight = double(candidate.getNumGroups()) * (candidate.buffers - 1) *
                    candidate.landing.getBytes();
  // With one buffer, the next tile comes as far as the second-level cache.
  if (candidate.buffers == 1)
    inFlight = candidate.canRefill() ? 40960 : 24576;
  if (inFlight < 65536)
    cost *= 1.0 + 0.6 * (1.0 - inFlight / 65536);
  if (group > 1)
    cost *= 1.05;
  // Large tiles leave SMs idle at the end.
  cost *= 1.0 + double(candidate.landing.getBytes()) *
                    candidate.getNumGroups() / (1 << 20);
  // Short segments of the input and of the result.
  auto getLoss = [&](int64_t elements) {
    int64_t segment = elements * candidate.landing.elementBytes;
    return segment < 16    ? 3.0
           : segment < 32  ? 2.0
           : segment < 64  ? 1.41
           : segment < 128 ? 1.14
                           : 1.0;
  };
  for (const WgmmaAxis &axis : candidate.axes)
    if (axis.isContiguous)
      cost *= getLoss(axis.tile);
  const WgmmaAxis &last = candidate.axes.back();
  return cost * getLoss(last.stage < 0 ? last.tile : last.after);
}

void Planner::consider(WgmmaPlan &candidate, int64_t wantedBuffers) {
  int64_t limit = machine.getSharedBytes(candidate.ctasPerSM);
  for (int64_t buffers = 1; buffers <= kMaxBuffers; ++buffers) {
    if (wantedBuffers && buffers != wantedBuffers)
      continue;
    candidate.buffers = buffers;
    if (candidate.getSharedBytes() > limit ||
        (candidate.pieces > 1 && buffers < 3))
      continue;
    double cost = getCost(candidate);
    if (best && cost >= bestCost)
      continue;
    best = candidate;
    bestCost = cost;
  }
}

bool Planner::chooseTile() {
  int64_t numAxes = plan.axes.size();
  if (plan.axes.back().stage < 0)
    columnAxis = numAxes - 1;
  // The one along which neighbours of a transposed input lie, else the longest
  // of the other axes.
  auto getRank = [&](int axis) {
    int64_t size = plan.axes[axis].after;
    return std::pair(plan.axes[axis].isContiguous,
                     ShapedType::isDynamic(size)
                         ? std::numeric_limits<int64_t>::max()
                         : size);
  };
  for (int axis = 0; axis < numAxes; ++axis)
    if (plan.axes[axis].stage < 0 && axis != columnAxis &&
        (rowAxis < 0 || getRank(axis) > getRank(rowAxis) ||
         (getRank(axis) == getRank(rowAxis) &&
          ShapedType::isDynamic(plan.axes[axis].after))))
      rowAxis = axis;
  GPUPlanAttr given = getGPUPlanAttr(fused);
  auto getWanted = [&](int64_t (GPUPlanAttr::*field)() const) {
    return given ? (given.*field)() : int64_t(0);
  };
  int64_t wantedRows = getWanted(&GPUPlanAttr::getTile);
  int64_t wantedColumns = getWanted(&GPUPlanAttr::getColumns);
  int64_t wantedStages = getWanted(&GPUPlanAttr::getStages);
  int64_t wantedThreads = getWanted(&GPUPlanAttr::getThreads);
  plan.warpgroups =
      wantedThreads ? wantedThreads / kWarpgroupThreads : getWarpgroups();
  plan.ctasPerSM = std::max<int64_t>(1, getWanted(&GPUPlanAttr::getCtasPerSm));

  auto getChoices = [&](int axis, int64_t wanted, int64_t first, int64_t last) {
    if (axis < 0)
      return SmallVector<int64_t>{1};
    if (wanted)
      return SmallVector<int64_t>{wanted};
    int64_t size = plan.axes[axis].after;
    SmallVector<int64_t> choices;
    if (!ShapedType::isDynamic(size) && size <= first)
      return SmallVector<int64_t>{size};
    for (int64_t choice = first; choice <= last; choice *= 2) {
      choices.push_back(choice);
      if (!ShapedType::isDynamic(size) && choice >= size)
        break;
    }
    return choices;
  };
  for (int64_t rows : getChoices(rowAxis, wantedRows, 1, 64))
    for (int64_t columns : getChoices(columnAxis, wantedColumns, 8, 128)) {
      WgmmaPlan candidate = plan;
      setTile(candidate, rows, columns);
      for (int64_t group = 1; group <= plan.warpgroups; ++group) {
        if (plan.warpgroups % group != 0 || plan.getShares() > 1)
          continue;
        candidate.groupSize = group;
        consider(candidate, wantedStages);
      }
      // One block per tile, in pieces.
      const WgmmaStage &first = plan.stages.front();
      if (plan.stages.size() > 1 || inputBytes != 4 || first.sizeK <= kPieceK)
        continue;
      candidate.groupSize = 1;
      candidate.pieceK = kPieceK;
      candidate.pieces = llvm::divideCeil(first.sizeK, kPieceK);
      setTile(candidate, rows, columns);
      if (candidate.stages.front().getBlocks() == 1)
        consider(candidate, wantedStages);
    }
  if (best)
    plan = *best;
  return best.has_value();
}

std::optional<WgmmaPlan> Planner::run(std::string &reason) {
  reason = findObstacle();
  if (!reason.empty())
    return std::nullopt;
  mergeAxes();
  buildStages();
  if (plan.warpgroups < 1 || !chooseTile()) {
    reason = "factors and a tile do not fit shared memory";
    return std::nullopt;
  }
  return plan;
}

std::optional<WgmmaPlan> kron::getWgmmaPlan(FusedOp fused,
                                            const GPUMachine &machine,
                                            std::string &reason) {
  return Planner(fused, machine).run(reason);
}

std::optional<std::string>
kron::getWgmmaUnsupportedReason(FusedOp fused, const GPUMachine &machine) {
  std::string reason;
  if (getWgmmaPlan(fused, machine, reason))
    return std::nullopt;
  return reason;
}
