//===- CPUPlan.cpp - Axes and sections of one kron.fused --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/CPUPlan.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"

using namespace mlir;
using namespace mlir::kron;

int64_t kron::getComputedBytes(FusedOp fused) {
  return getElementBytes(getAccumulatorType(getElementType(fused.getInit())));
}

llvm::SmallBitVector kron::getContractedAxes(FusedOp fused) {
  llvm::SmallBitVector axes(getArrayType(fused.getInit()).getRank());
  for (ModeProductOp product : fused.getModeProducts())
    axes.set(product.getAxis());
  return axes;
}

llvm::SmallBitVector kron::getVaryingAxes(FusedOp fused) {
  llvm::SmallBitVector axes(getArrayType(fused.getInit()).getRank());
  for (ModeProductOp product : fused.getModeProducts()) {
    ShapedType factor = getArrayType(product.getFactor());
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        axes.set(axis);
  }
  return axes;
}

int kron::getContiguousAxis(FusedOp fused) {
  std::optional<ArrayRef<int64_t>> permutation = fused.getInputPermutation();
  int64_t rank = getArrayType(fused.getInit()).getRank();
  if (!permutation)
    return rank - 1;
  return llvm::find(*permutation, rank - 1) - permutation->begin();
}

SmallVector<int64_t> kron::getInputStrides(FusedOp fused) {
  Value input = fused.getInputs().front();
  auto type = dyn_cast<MemRefType>(input.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type && failed(type.getStridesAndOffset(strides, offset)))
    return {};
  if (!type) {
    strides.assign(getArrayType(input).getRank(), ShapedType::kDynamic);
    strides.back() = 1;
  }
  std::optional<ArrayRef<int64_t>> permutation = fused.getInputPermutation();
  if (!permutation)
    return strides;
  SmallVector<int64_t> permuted;
  for (int64_t axis : *permutation)
    permuted.push_back(strides[axis]);
  return permuted;
}

int64_t kron::countElements(Value array, ArrayRef<AxisRole> roles) {
  int64_t elements = 1;
  for (auto [role, size] : llvm::zip(roles, getArrayType(array).getShape()))
    if (role == AxisRole::Whole)
      elements *= size;
  return elements;
}

int64_t CPUPlan::getWholeSize(unsigned axis, unsigned groupsApplied,
                              bool asWritten) const {
  if (!views.empty())
    return asWritten || groupsApplied == views.size()
               ? views[groupsApplied - 1].after[axis]
               : views[groupsApplied].before[axis];
  // What the first group still to come contracts, else what the last applied
  // one left.
  std::optional<int64_t> size;
  auto contracts = [&](ModeProductOp product) {
    return static_cast<unsigned>(product.getAxis()) == axis;
  };
  for (auto [index, group] : llvm::enumerate(groups))
    for (ModeProductOp product : group.products)
      if (contracts(product)) {
        auto type = cast<ShapedType>(product.getFactor().getType());
        if (index >= groupsApplied)
          return size ? *size
                      : type.getDimSize(product.getContractedFactorDim());
        size = type.getDimSize(product.getResultingFactorDim());
      }
  if (size)
    return *size;
  ModeProductOp any = groups.front().products.front();
  // Not of the input, which may be stretched along it.
  return getArrayType(any.getInit()).getDimSize(axis);
}

std::pair<unsigned, unsigned> kron::getAxes(ArrayRef<StepGroup> groups) {
  unsigned first = std::numeric_limits<unsigned>::max(), end = 0;
  for (const StepGroup &group : groups) {
    first = std::min(first, group.axis);
    end = std::max<unsigned>(end, group.axis + group.products.size());
  }
  return {first, end};
}

int64_t kron::countSliceElements(const CPUPlan &plan, unsigned begin,
                                 unsigned end, unsigned axis) {
  int64_t most = 1;
  for (unsigned index = begin; index < end; ++index) {
    int64_t elements = 1;
    for (unsigned inner = axis + 1; inner < plan.roles.size(); ++inner)
      if (plan.roles[inner] == AxisRole::Whole)
        elements *= plan.getWholeSize(inner, index);
    most = std::max(most, elements);
  }
  return most;
}

/// Finds the two sections of which one can be applied slice by slice, taking as
/// many groups as possible: the first ones if they lie inside of the axes of
/// the others, or else the last ones.
static void planSlices(CPUPlan &plan) {
  ArrayRef<StepGroup> groups = plan.groups;
  auto trySplit = [&](unsigned split, bool firstAreSliced) {
    ArrayRef<StepGroup> sliced = groups.take_front(split),
                        others = groups.drop_front(split);
    if (!firstAreSliced)
      std::swap(sliced, others);
    unsigned first = getAxes(sliced).first;
    if (first < getAxes(others).second)
      return false;
    // Of the axes outside the one that changes fastest.
    unsigned applied = split;
    int axis = first - 1;
    while (axis >= 0 && (plan.roles[axis] != AxisRole::Whole ||
                         plan.getWholeSize(axis, applied) == 1))
      --axis;
    if (axis < 0)
      return false;
    unsigned count = groups.size();
    plan.slicedSections = {{0, split, firstAreSliced ? axis : -1},
                           {split, count, firstAreSliced ? -1 : axis}};
    plan.sliceAxisSize = plan.getWholeSize(axis, applied);
    plan.elementsPerSlicePosition = countSliceElements(
        plan, firstAreSliced ? 0 : split, firstAreSliced ? split : count, axis);
    return true;
  };
  unsigned count = groups.size();
  for (unsigned others = 1; others < count; ++others)
    if (trySplit(count - others, true) || trySplit(others, false))
      return;
}

bool kron::canPackInput(FusedOp fused, const CPUPlan &plan) {
  // A factor that varies takes more of the cache than what it is applied to.
  auto varies = [](ModeProductOp product) {
    return getArrayType(product.getFactor()).getRank() != 2;
  };
  return plan.isTiledInnermost() && !getInputStrides(fused).empty() &&
         llvm::none_of(fused.getModeProducts(), varies);
}

/// What follows from the strides of the input.
static void describeInput(CPUPlan &plan, FusedOp fused,
                          const CPUChoices &choices) {
  SmallVector<int64_t> strides = getInputStrides(fused);
  if (strides.empty() || plan.tiledAxis < 0)
    return;
  bool isContiguous = strides[plan.tiledAxis] == 1;
  plan.transposesInput = isContiguous && !plan.isTiledInnermost();
  plan.packsInput = choices.packsInput;
  plan.hasColumnsAsRows = plan.packsInput && !isContiguous;
}

/// Whether the only factor works in place, and registers have room for all its
/// results.
static bool worksFromRegisters(const CPUPlan &plan, FusedOp fused,
                               int64_t vectorBits) {
  int64_t parts = isa<ComplexType>(getElementType(fused.getInit())) ? 2 : 1;
  return plan.groups.size() == 1 &&
         fused.getInputs().front() == fused.getInit() &&
         plan.groups.front().sizeN * parts <= getMaxAccumulators(vectorBits);
}

/// Counts buffers and what they hold.
static void planElements(CPUPlan &plan, FusedOp fused) {
  // What the input is converted to takes a buffer, too.
  ModeProductOp first = fused.getModeProducts().front();
  Type element = getElementType(first.getInput());
  bool converts = getAccumulatorType(element) != element;
  plan.numBuffers =
      std::min<int64_t>(plan.groups.size() - (converts ? 0 : 1), 2);
  if (converts)
    plan.elementsPerPosition = countElements(first.getInput(), plan.roles);
  for (StepGroup &group : MutableArrayRef(plan.groups).drop_back()) {
    ModeProductOp last = group.products.front();
    for (ModeProductOp product : group.products)
      if (last->isBeforeInBlock(product))
        last = product;
    plan.elementsPerPosition = std::max(
        plan.elementsPerPosition, countElements(last.getResult(0), plan.roles));
  }
}

static bool isContiguousInside(Value array) {
  auto type = dyn_cast<MemRefType>(array.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return !type || (succeeded(type.getStridesAndOffset(strides, offset)) &&
                   strides.back() == 1);
}

std::string kron::getRowsInLanesReason(FusedOp fused, const CPUPlan &plan,
                                       int64_t lanes) {
  if (plan.tiledAxis < 0 || plan.isTiledInnermost())
    return "the tiled axis does not lie outside";
  // What is transposed are rows inside of it.
  for (const StepGroup &group : plan.groups)
    if (static_cast<int>(group.axis) < plan.tiledAxis)
      return "a factor is applied outside of the tiled axis";
  Value input = fused.getInputs().front();
  ShapedType init = getArrayType(fused.getInit());
  Type element = init.getElementType();
  bool isInputContiguous =
      !fused.getInputPermutation() && isContiguousInside(input);
  if (!(plan.transposesInput || isInputContiguous) ||
      !isContiguousInside(fused.getInit()))
    return "arrays are not contiguous along the tiled axis or the innermost "
           "one";
  if (lanes < 4)
    return "vectors have fewer than 4 lanes";
  if (!element.isIntOrFloat() || getAccumulatorType(element) != element ||
      getElementType(input) != element)
    return "elements are complex or converted";
  bool isOpen = init.isDynamicDim(plan.tiledAxis);
  if (!isOpen && init.getDimSize(plan.tiledAxis) < lanes)
    return "the tiled axis does not fill a vector";
  if (!plan.views.empty())
    return "";
  SmallVector<int64_t> inputShape(getArrayType(input).getShape());
  if (std::optional<ArrayRef<int64_t>> order = fused.getInputPermutation())
    inputShape = llvm::map_to_vector(*order, [&](int64_t axis) {
      return getArrayType(input).getDimSize(axis);
    });
  auto getInner = [&](ArrayRef<int64_t> shape) {
    return shape.drop_front(plan.tiledAxis + 1);
  };
  auto isMatrix = [](ModeProductOp product) {
    return getArrayType(product.getFactor()).getRank() == 2;
  };
  if (!init.hasStaticShape() ||
      getInner(inputShape) !=
          getInner(getArrayType(fused.getModeProducts().front().getInput())
                       .getShape()) ||
      llvm::any_of(ArrayRef(plan.roles).drop_front(plan.tiledAxis + 1),
                   [](AxisRole role) { return role != AxisRole::Whole; }))
    return "axes inside of it are not whole";
  return llvm::all_of(fused.getModeProducts(), isMatrix) ? ""
                                                         : "a factor varies";
}

/// The plan of a fused region whose axes are regrouped: tiles of rows, whole
/// but for that.
static void describeRegroupedAxes(CPUPlan &plan, FusedOp fused) {
  plan.tiledAxis = *getRegroupedRows(fused.getModeProducts());
  plan.roles.assign(getArrayType(fused.getInit()).getRank(), AxisRole::Whole);
  plan.roles[plan.tiledAxis] = AxisRole::Tiled;
  for (ModeProductOp product : fused.getModeProducts()) {
    plan.groups.push_back(startGroup(product));
    plan.views.push_back(
        {SmallVector<int64_t>(getArrayType(product.getInput()).getShape()),
         SmallVector<int64_t>(getArrayType(product.getInit()).getShape())});
  }
}

/// Joins as many mode products as each step of `choices` has; why not, or
/// empty.
static std::string describeGroups(CPUPlan &plan, FusedOp fused,
                                  const CPUChoices &choices) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  size_t next = 0;
  for (auto [number, step] : llvm::enumerate(choices.steps)) {
    if (step.factors > static_cast<int64_t>(products.size() - next))
      return "expects steps to apply " + std::to_string(products.size()) +
             " factors, but got more";
    size_t begin = next, end = begin + step.factors;
    StepGroup group = startGroup(products[next++]);
    for (; next < end; ++next) {
      std::optional<StepGroup> joined =
          joinGroup(fused, group, products[next], /*isFirst=*/begin == 0,
                    /*isLast=*/next + 1 == products.size());
      if (!joined)
        return "expects step " + std::to_string(number + 1) +
               " to join factors of neighbouring axes, but factor " +
               std::to_string(next + 1) + " is none";
      group = std::move(*joined);
    }
    plan.groups.push_back(std::move(group));
  }
  if (next != products.size())
    return "expects steps to apply " + std::to_string(products.size()) +
           " factors, but got " + std::to_string(next);
  return "";
}

/// Gives each axis its role; why `choices` do not, or empty.
static std::string describeRoles(CPUPlan &plan, FusedOp fused,
                                 const CPUChoices &choices) {
  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  llvm::SmallBitVector contracted = getContractedAxes(fused),
                       varying = getVaryingAxes(fused);
  int64_t rank = sizes.size(), tiled = choices.tiledAxis;
  if (tiled >= rank || (tiled >= 0 && (contracted[tiled] || varying[tiled])))
    return "expects tiled_axis to be an axis along which all factors are the "
           "same, but got " +
           std::to_string(tiled);
  plan.tiledAxis = tiled;
  plan.roles.assign(rank, AxisRole::Grid);
  for (int axis : contracted.set_bits())
    plan.roles[axis] = AxisRole::Whole;
  for (int64_t axis : choices.wholeAxes) {
    if (axis >= rank || axis == tiled || axis < contracted.find_first() ||
        contracted[axis] || ShapedType::isDynamic(sizes[axis]))
      return "expects whole_axes to be axes of known sizes inside of a "
             "contracted one, but got " +
             std::to_string(axis);
    plan.roles[axis] = AxisRole::Whole;
  }
  if (tiled >= 0)
    plan.roles[tiled] = AxisRole::Tiled;
  return "";
}

std::variant<CPUPlan, std::string>
kron::describeCPUPlan(FusedOp fused, const CPUChoices &choices) {
  CPUPlan plan;
  int64_t lanes =
      std::max<int64_t>(choices.vectorBits / 8 / getComputedBytes(fused), 1);
  bool isRegroupedChain = isRegrouped(fused);
  if (isRegroupedChain) {
    describeRegroupedAxes(plan, fused);
    if (choices.tiledAxis != plan.tiledAxis)
      return "expects tiled_axis to be " + std::to_string(plan.tiledAxis) +
             ", that of the rows, but got " + std::to_string(choices.tiledAxis);
    if (!choices.wholeAxes.empty())
      return "has no whole_axes to choose: all are whole";
    if (choices.steps.size() != plan.groups.size() ||
        llvm::any_of(choices.steps, [](const CPUStepChoices &step) {
          return step.factors != 1;
        }))
      return "expects " + std::to_string(plan.groups.size()) +
             " steps of one factor each, between which axes are regrouped";
  } else {
    std::string reason = describeGroups(plan, fused, choices);
    if (reason.empty())
      reason = describeRoles(plan, fused, choices);
    if (!reason.empty())
      return reason;
  }
  describeInput(plan, fused, choices);
  if (choices.packsInput && !canPackInput(fused, plan))
    return "cannot have packs_input = 1: the tiled axis is not the innermost "
           "one, or a factor varies";
  if (!isRegroupedChain)
    plan.fitsRegisters = worksFromRegisters(plan, fused, choices.vectorBits);
  if (choices.rowsInLanes) {
    std::string reason = getRowsInLanesReason(fused, plan, lanes);
    if (!reason.empty())
      return "cannot have rows_in_lanes = 1: " + reason;
    plan.rowsInLanes = true;
  }
  planElements(plan, fused);
  if (!isRegroupedChain)
    planSlices(plan);
  if (choices.blocks > 1) {
    plan.blockAxis = findBlockAxis(fused, plan).first;
    plan.blocks = choices.blocks;
    if (plan.blockAxis < 0 ||
        getArrayType(fused.getInit()).getDimSize(plan.blockAxis) % plan.blocks)
      return "cannot have blocks = " + std::to_string(plan.blocks) +
             ": there are not as many positions whose results lie in a row";
  }
  if (plan.rearrangesInput())
    plan.elementsPerPosition = std::max(
        plan.elementsPerPosition,
        countElements(fused.getModeProducts().front().getInput(), plan.roles));
  return plan;
}

int64_t kron::getTileSize(FusedOp fused, const CPUPlan &plan,
                          const CPUChoices &choices) {
  int64_t tile = std::max<int64_t>(choices.tile, 1);
  // A plan may ask for more than there is; what is planned for a tile of
  // unknown size would then be built for one whose size is known.
  ShapedType init = getArrayType(fused.getInit());
  if (plan.tiledAxis >= 0 && !init.isDynamicDim(plan.tiledAxis))
    tile = std::clamp<int64_t>(init.getDimSize(plan.tiledAxis), 1, tile);
  return tile;
}
