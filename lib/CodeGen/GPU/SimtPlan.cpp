//===- SimtPlan.cpp - Regions and tiles of the general GPU code -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SimtPlan.h"
#include "kron/CodeGen/FusedOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Columns that make whole 128-byte lines of f32.
static constexpr int64_t kColumns = 32;
/// Elements of a tile that keep a CTA busy.
static constexpr int64_t kTileElements = 4096;
/// Shared memory for factors; larger ones are read from global memory.
static constexpr int64_t kFactorBytes = 32 << 10;
/// Shared memory of a CTA up to which problems are joined: two fit an SM.
static constexpr int64_t kMaxBlock = 8;

int64_t SimtStage::getPaddedResults() const {
  return llvm::alignTo(sizeN, block);
}

/// Results per thread: few enough for registers, and a divisor if there is one.
static int64_t chooseBlock(int64_t sizeN) {
  for (int64_t block = kMaxBlock; block >= 4; --block)
    if (sizeN % block == 0)
      return block;
  return std::min(sizeN, kMaxBlock);
}

SmallVector<int64_t> kron::getBufferStrides(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides(extents.size(), 1);
  int64_t stride = 1;
  for (unsigned axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
    // The innermost axis of more than one position.
    if (stride == extents[axis] && stride > 1)
      stride |= 1;
  }
  return strides;
}

static int64_t getBufferElements(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides = getBufferStrides(extents);
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(extents, strides))
    last += (extent - 1) * stride;
  return last + 1;
}

static int64_t getTileElements(ArrayRef<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  return elements;
}

namespace {

/// Plans the fused region of products [first, end).
class FusionPlanner {
public:
  FusionPlanner(FusedOp fused, const GPUMachine &machine,
                ArrayRef<SmallVector<int64_t>> shapes)
      : fused(fused), machine(machine), shapes(shapes),
        products(fused.getModeProducts()),
        bytes(getElementBytes(
            getAccumulatorType(getElementType(fused.getInit())))) {}

  /// Nothing if it does not fit shared memory.
  std::optional<SimtProblem> plan(unsigned first, unsigned end);

private:
  void setExtents(SimtProblem &problem, ArrayRef<int64_t> tile);
  bool fits(SimtProblem &problem, ArrayRef<int64_t> tile);
  SmallVector<int64_t> chooseTile(SimtProblem &problem);
  void placeFactors(SimtProblem &problem);

  FusedOp fused;
  const GPUMachine &machine;
  ArrayRef<SmallVector<int64_t>> shapes;
  SmallVector<ModeProductOp> products;
  int64_t bytes;
};

} // namespace

static int64_t getFactorSize(ModeProductOp product, unsigned dim) {
  return cast<ShapedType>(product.getFactor().getType()).getDimSize(dim);
}

static bool isVarying(ModeProductOp product) {
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
    if (axis >= 0 && getFactorSize(product, dim) != 1)
      return true;
  return false;
}

void FusionPlanner::placeFactors(SimtProblem &problem) {
  problem.sharedBytes = 0;
  for (SimtStage &stage : problem.stages) {
    int64_t size = stage.sizeK * stage.getPaddedResults() * bytes;
    if (isVarying(stage.product) || problem.sharedBytes + size > kFactorBytes)
      continue;
    stage.factorOffset = problem.sharedBytes;
    problem.sharedBytes = llvm::alignTo(problem.sharedBytes + size, 128);
  }
}

/// Sets the extents of all steps, given those of the axes not contracted.
void FusionPlanner::setExtents(SimtProblem &problem, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> extents(tile);
  for (unsigned axis : problem.contracted.set_bits())
    extents[axis] = problem.before[axis];
  problem.extents.assign(1, extents);
  for (const SimtStage &stage : problem.stages) {
    extents[stage.axis] = stage.sizeN;
    problem.extents.push_back(extents);
  }
}

/// Lays the buffers out for `tile`; false if they do not fit.
bool FusionPlanner::fits(SimtProblem &problem, ArrayRef<int64_t> tile) {
  setExtents(problem, tile);
  int64_t elements[2] = {0, 0};
  for (auto [index, extents] : llvm::enumerate(problem.extents))
    elements[index % 2] =
        std::max(elements[index % 2], getBufferElements(extents));
  int64_t factors = 0;
  for (const SimtStage &stage : problem.stages)
    if (stage.factorOffset >= 0)
      factors = llvm::alignTo(
          stage.factorOffset + stage.sizeK * stage.getPaddedResults() * bytes,
          128);
  problem.bufferOffsets[0] = factors;
  problem.bufferOffsets[1] = factors + llvm::alignTo(elements[0] * bytes, 128);
  problem.sharedBytes =
      problem.bufferOffsets[1] + llvm::alignTo(elements[1] * bytes, 128);
  return problem.sharedBytes <= machine.sharedBytesPerCTA;
}

/// Extents of the axes that are not contracted: columns first, so that memory
/// is accessed in whole lines, then what makes a tile large enough.
SmallVector<int64_t> FusionPlanner::chooseTile(SimtProblem &problem) {
  SmallVector<int64_t> tile(problem.after.size(), 1);
  if (!fits(problem, tile))
    return {};
  GPUPlanAttr given = getGPUPlanAttr(fused);
  int64_t wantedRows = given ? given.getTile() : 0;
  int64_t wantedColumns = given ? given.getColumns() : 0;
  int64_t rows = 1;
  for (int axis = tile.size() - 1; axis >= 0; --axis) {
    if (problem.contracted[axis])
      continue;
    int64_t size = problem.after[axis];
    bool innermost = axis + 1 == static_cast<int>(tile.size());
    int64_t limit = ShapedType::isDynamic(size) ? kTileElements : size;
    if (innermost)
      limit = std::min(limit, wantedColumns ? wantedColumns : kColumns);
    else if (wantedRows)
      limit = std::min(limit, std::max<int64_t>(wantedRows / rows, 1));
    auto isEnough = [&](int64_t extent) {
      if (innermost || wantedRows)
        return extent >= limit;
      int64_t most = 0;
      for (ArrayRef<int64_t> extents : problem.extents)
        most = std::max(most, getTileElements(extents));
      return extent >= limit || most >= kTileElements;
    };
    fits(problem, tile);
    while (!isEnough(tile[axis])) {
      int64_t old = tile[axis];
      tile[axis] = std::min(2 * old, limit);
      if (!fits(problem, tile)) {
        tile[axis] = old;
        fits(problem, tile);
        break;
      }
    }
    if (!innermost)
      rows *= tile[axis];
  }
  return tile;
}

std::optional<SimtProblem> FusionPlanner::plan(unsigned first, unsigned end) {
  SimtProblem problem;
  problem.before = shapes[first];
  problem.after = shapes[end];
  problem.contracted.resize(problem.after.size());
  for (ModeProductOp product : ArrayRef(products).slice(first, end - first)) {
    SimtStage stage;
    stage.product = product;
    stage.axis = product.getAxis();
    stage.sizeK = getFactorSize(product, product.getContractedFactorDim());
    stage.sizeN = getFactorSize(product, product.getResultingFactorDim());
    stage.block = chooseBlock(stage.sizeN);
    problem.contracted.set(stage.axis);
    problem.stages.push_back(stage);
  }
  placeFactors(problem);
  SmallVector<int64_t> tile = chooseTile(problem);
  if (tile.empty())
    return std::nullopt;

  GPUPlanAttr given = getGPUPlanAttr(fused);
  problem.threads = given && given.getThreads() ? given.getThreads() : 256;
  int64_t resident = machine.sharedBytesPerSM /
                     (problem.sharedBytes + machine.reservedSharedBytesPerCTA);
  // 80 registers per thread.
  resident = std::clamp<int64_t>(
      std::min(resident, machine.registersPerSM / 80 / problem.threads), 1,
      machine.maxCTAsPerSM);
  problem.ctasPerSM =
      given && given.getCtasPerSm() ? given.getCtasPerSm() : resident;
  return problem;
}

std::vector<SimtProblem>
kron::planSimt(FusedOp fused, const GPUMachine &machine, std::string &reason) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  // Shapes between the products. An axis that is stretched counts as stretched
  // from the start: the input's stride along it is 0.
  auto init = cast<ShapedType>(fused.getInit().getType());
  SmallVector<SmallVector<int64_t>> shapes(products.size() + 1);
  shapes.back().assign(init.getShape().begin(), init.getShape().end());
  for (unsigned index = products.size(); index-- > 0;) {
    ModeProductOp product = products[index];
    shapes[index] = shapes[index + 1];
    int64_t &size = shapes[index][product.getAxis()];
    if (size != getFactorSize(product, product.getResultingFactorDim()) &&
        !ShapedType::isDynamic(size)) {
      reason = "an axis is stretched after it was contracted";
      return {};
    }
    size = getFactorSize(product, product.getContractedFactorDim());
  }

  FusionPlanner planner(fused, machine, shapes);
  std::vector<SimtProblem> problems;
  for (unsigned first = 0; first < products.size();) {
    std::optional<SimtProblem> problem = planner.plan(first, first + 1);
    if (!problem) {
      reason = "one fibre of a factor does not fit shared memory";
      return {};
    }
    unsigned end = first + 1;
    while (end < products.size()) {
      std::optional<SimtProblem> longer = planner.plan(first, end + 1);
      if (!longer)
        break;
      problem = std::move(longer);
      ++end;
    }
    problems.push_back(std::move(*problem));
    first = end;
  }
  return problems;
}
