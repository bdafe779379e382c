//===- CPUPlan.cpp - Axes and sections of one kron.fused --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CPUPlanning.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Registers.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

int64_t kron::getComputedBytes(FusedOp fused) {
  return getElementBytes(getAccumulatorType(getElementType(fused.getInit())));
}

/// The axis along which the input of `fused` is contiguous in memory.
static int getContiguousAxis(FusedOp fused) {
  std::optional<ArrayRef<int64_t>> permutation = fused.getInputPermutation();
  int64_t rank = getArrayType(fused.getInit()).getRank();
  if (!permutation)
    return rank - 1;
  return llvm::find(*permutation, rank - 1) - permutation->begin();
}

/// Chooses the axis to tile: the innermost one if no factor touches it, since
/// lanes run there, else that along which the input is contiguous, or the
/// innermost axis outside that is long enough to matter.
static int chooseTiledAxis(ArrayRef<int64_t> sizes, int contiguousAxis,
                           const llvm::SmallBitVector &contracted,
                           const llvm::SmallBitVector &varying) {
  int fallback = -1;
  auto isLong = [&](int axis) {
    return ShapedType::isDynamic(sizes[axis]) || sizes[axis] >= 16;
  };
  int innermost = sizes.size() - 1;
  auto isFree = [&](int axis) {
    return !contracted[axis] && !varying[axis] && sizes[axis] != 1;
  };
  if (!isFree(innermost) && isFree(contiguousAxis) && isLong(contiguousAxis))
    return contiguousAxis;
  for (int axis = sizes.size() - 1; axis >= 0; --axis) {
    if (!isFree(axis))
      continue;
    if (axis == innermost || isLong(axis))
      return axis;
    if (fallback < 0)
      fallback = axis;
  }
  return fallback;
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

/// Elements that lanes run over at a time, at most, on axes that no factor
/// contracts: longer ones are cut, unless that would leave lanes empty.
static constexpr int64_t kMaxInsideElements = 1024, kMinInsideElements = 16;

static void assignRoles(CPUPlan &plan, ArrayRef<int64_t> sizes,
                        const llvm::SmallBitVector &contracted) {
  int firstContracted = contracted.find_first();
  int innermost = sizes.size() - 1;
  plan.roles.assign(sizes.size(), AxisRole::Grid);
  int64_t elements = 1;
  for (int axis = innermost; axis >= 0; --axis) {
    if (axis == plan.tiledAxis) {
      plan.roles[axis] = AxisRole::Tiled;
      if (axis == innermost && !ShapedType::isDynamic(sizes[axis]))
        elements *= std::max<int64_t>(sizes[axis], 1);
      continue;
    }
    if (contracted[axis]) {
      plan.roles[axis] = AxisRole::Whole;
      continue;
    }
    if (axis < firstContracted || ShapedType::isDynamic(sizes[axis]))
      continue;
    int64_t inside = elements;
    elements *= std::max<int64_t>(sizes[axis], 1);
    if (axis == innermost || elements <= kMaxInsideElements ||
        inside < kMinInsideElements)
      plan.roles[axis] = AxisRole::Whole;
  }
}

std::pair<unsigned, unsigned> kron::getAxes(ArrayRef<StageGroup> groups) {
  unsigned first = std::numeric_limits<unsigned>::max(), end = 0;
  for (const StageGroup &group : groups) {
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
  ArrayRef<StageGroup> groups = plan.groups;
  auto trySplit = [&](unsigned split, bool firstAreSliced) {
    ArrayRef<StageGroup> sliced = groups.take_front(split),
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

/// Factors with a smaller N than this take what they need from the input in one
/// go; with an N at least as large, a copy of it in the first-level cache is
/// worth more than it costs even if it lies together in the second-level one,
/// as long as there is more than a cache line of columns.
static constexpr int64_t kMinPackedResults = 12, kManyResults = 64;
static constexpr int64_t kLineBytes = 64;

/// Decides whether tiles of the input are rearranged before they are used.
static void planInput(CPUPlan &plan, FusedOp fused) {
  Value input = fused.getInputs().front();
  int64_t rank = plan.roles.size();
  ArrayRef<int64_t> permutation =
      fused.getInputPermutation().value_or(ArrayRef<int64_t>());
  auto dimOf = [&](int64_t axis) {
    return permutation.empty() ? axis : permutation[axis];
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = dyn_cast<MemRefType>(input.getType());
  if (type && failed(type.getStridesAndOffset(strides, offset)))
    return;
  if (!type) {
    strides.assign(rank, ShapedType::kDynamic);
    strides.back() = 1;
  }
  if (plan.tiledAxis < 0)
    return;
  bool isContiguous = strides[dimOf(plan.tiledAxis)] == 1;
  if (!plan.isTiledInnermost()) {
    plan.transposesInput = isContiguous;
    return;
  }
  // A factor that varies takes more of the cache than what it is applied to.
  auto varies = [](ModeProductOp product) {
    return getArrayType(product.getFactor()).getRank() != 2;
  };
  if (llvm::any_of(fused.getModeProducts(), varies))
    return;
  if (!isContiguous) {
    // Columns that lie as rows are transposed, slice by slice if something else
    // is left to do with these.
    plan.packsInput = plan.hasColumnsAsRows = plan.groups.size() > 1;
    return;
  }
  const StageGroup &first = plan.groups.front();
  unsigned axis = first.axis + first.products.size() - 1;
  constexpr int64_t kFarElements = 512;
  int64_t stride = strides[dimOf(axis)];
  bool isFar = ShapedType::isDynamic(stride) || stride >= kFarElements;
  int64_t columns = getArrayType(fused.getInit()).getDimSize(plan.tiledAxis);
  bool isWide = ShapedType::isDynamic(columns) ||
                columns * getComputedBytes(fused) > kLineBytes;
  bool isChain = plan.groups.size() > 1;
  plan.packsInput = (isFar && first.sizeN >= kMinPackedResults) ||
                    (isChain && isWide && first.sizeN >= kManyResults);
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
  for (StageGroup &group : MutableArrayRef(plan.groups).drop_back()) {
    ModeProductOp last = group.products.front();
    for (ModeProductOp product : group.products)
      if (last->isBeforeInBlock(product))
        last = product;
    plan.elementsPerPosition = std::max(
        plan.elementsPerPosition, countElements(last.getResult(0), plan.roles));
  }
}

/// Factors with a larger N than this fill vectors well enough, and of rows of
/// more bytes, times lanes, fewer are a better tile.
static constexpr int64_t kMaxRowsResults = 12, kMaxRowsBytes = 1 << 12;

/// Cost of `groups`, one after the other, per element of the input.
static double getChainCost(ArrayRef<StageGroup> groups, FusedOp fused,
                           int64_t lanes, bool isFull) {
  // Vectors that start anywhere cross cache lines.
  constexpr double kUnaligned = 1.25;
  ModeProductOp first = fused.getModeProducts().front();
  SmallVector<int64_t> sizes(getArrayType(first.getInput()).getShape());
  double cost = 0, share = 1;
  for (const StageGroup &group : groups) {
    int64_t inside = 1;
    for (int64_t size :
         llvm::drop_begin(sizes, group.axis + group.products.size()))
      inside *= size;
    int64_t width = inside < lanes ? inside * group.sizeN : inside;
    double own =
        getGroupCost(group.sizeK, group.sizeN, isFull ? -1 : inside, lanes);
    bool isAligned = isFull || width % lanes == 0 || lanes % width == 0;
    cost += share * (isAligned ? own : kUnaligned * own);
    share *= double(group.sizeN) / group.sizeK;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getArrayType(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
  }
  return cost;
}

/// Whether small factors that are no powers of two are cheaper with lanes over
/// rows, two transpositions included.
static bool putsRowsInLanes(const CPUPlan &plan, FusedOp fused, int64_t lanes) {
  if (plan.tiledAxis < 0 || plan.isTiledInnermost() || plan.transposesInput ||
      lanes < 4 || fused.getInputPermutation())
    return false;
  Value input = fused.getInputs().front();
  ShapedType init = getArrayType(fused.getInit());
  Type element = init.getElementType();
  if (!element.isIntOrFloat() || getAccumulatorType(element) != element ||
      getElementType(input) != element || !init.hasStaticShape() ||
      init.getDimSize(plan.tiledAxis) < lanes)
    return false;
  int64_t rowElements = 1;
  for (int axis = plan.tiledAxis + 1, rank = plan.roles.size(); axis < rank;
       ++axis) {
    if (plan.roles[axis] != AxisRole::Whole)
      return false;
    rowElements *= std::max(plan.getWholeSize(axis, 0), init.getDimSize(axis));
  }
  auto isSmall = [](ModeProductOp product) {
    ShapedType factor = getArrayType(product.getFactor());
    return factor.getRank() == 2 &&
           llvm::all_of(factor.getShape(),
                        [](int64_t size) { return size <= kMaxRowsResults; });
  };
  auto isContiguous = [&](Value array) {
    auto type = dyn_cast<MemRefType>(array.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    return !type || (succeeded(type.getStridesAndOffset(strides, offset)) &&
                     strides.back() == 1);
  };
  if (!llvm::all_of(fused.getModeProducts(), isSmall) || !isContiguous(input) ||
      !isContiguous(fused.getInit()) ||
      rowElements * lanes * getComputedBytes(fused) > kMaxRowsBytes ||
      getArrayType(input).getShape().drop_front(plan.tiledAxis + 1) !=
          getArrayType(fused.getModeProducts().front().getInput())
              .getShape()
              .drop_front(plan.tiledAxis + 1))
    return false;
  SmallVector<StageGroup> groups = groupProducts(fused, lanes, /*isFull=*/true);
  double transpositions = 2.0 * llvm::Log2_64(lanes) + 2;
  return getChainCost(groups, fused, lanes, true) + transpositions <
         getChainCost(plan.groups, fused, lanes, false);
}

/// Cost of `product` per element of its input; `isFull`: with lanes over rows.
static double getSparseCost(const StageGroup &group, const GroupView &view,
                            int64_t rows, int64_t lanes, bool isFull) {
  int64_t inside = 1;
  for (int64_t axis = group.axis + 1, rank = view.before.size(); axis < rank;
       ++axis)
    inside *= axis == rows ? 1 : view.before[axis];
  return getGroupCost(group.sizeK, group.sizeN, isFull ? -1 : inside, lanes);
}

/// Whether the factors of a regrouped chain that fill vectors badly are cheaper
/// with lanes over rows, two transpositions included.
static bool putsRegroupedRowsInLanes(const CPUPlan &plan, FusedOp fused,
                                     int64_t lanes) {
  ShapedType init = getArrayType(fused.getInit());
  Type element = init.getElementType();
  auto isContiguous = [](Value array) {
    auto type = dyn_cast<MemRefType>(array.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    return !type || (succeeded(type.getStridesAndOffset(strides, offset)) &&
                     strides.back() == 1);
  };
  if (plan.isTiledInnermost() || plan.transposesInput || lanes < 4 ||
      fused.getInputPermutation() || !element.isIntOrFloat() ||
      getAccumulatorType(element) != element ||
      getElementType(fused.getInputs().front()) != element ||
      !isContiguous(fused.getInputs().front()) ||
      !isContiguous(fused.getInit()) ||
      (!init.isDynamicDim(plan.tiledAxis) &&
       init.getDimSize(plan.tiledAxis) < lanes))
    return false;
  double share = 1, own = 0, inLanes = 2.0 * llvm::Log2_64(lanes) + 2;
  for (auto [group, view] : llvm::zip_equal(plan.groups, plan.views)) {
    own += share *
           getSparseCost(group, view, plan.tiledAxis, lanes, /*isFull=*/false);
    inLanes += share * getSparseCost(group, view, plan.tiledAxis, lanes,
                                     /*isFull=*/true);
    share *= double(group.sizeN) / group.sizeK;
  }
  return inLanes < own;
}

/// The plan of a fused region whose axes are regrouped: tiles of rows, whole
/// but for that.
static CPUPlan getRegroupedPlan(FusedOp fused, int64_t lanes) {
  CPUPlan plan;
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  plan.tiledAxis = *getRegroupedRows(products);
  plan.roles.assign(getArrayType(fused.getInit()).getRank(), AxisRole::Whole);
  plan.roles[plan.tiledAxis] = AxisRole::Tiled;
  for (ModeProductOp product : products) {
    plan.groups.push_back(startGroup(product));
    plan.views.push_back(
        {SmallVector<int64_t>(getArrayType(product.getInput()).getShape()),
         SmallVector<int64_t>(getArrayType(product.getInit()).getShape())});
  }
  planInput(plan, fused);
  plan.rowsInLanes = putsRegroupedRowsInLanes(plan, fused, lanes);
  planElements(plan, fused);
  if (plan.rearrangesInput()) {
    int64_t elements = countElements(products.front().getInput(), plan.roles);
    plan.elementsPerPosition = std::max(plan.elementsPerPosition, elements);
  }
  return plan;
}

CPUPlan kron::getCPUPlan(FusedOp fused, int64_t vectorBits) {
  CPUPlan plan;
  int64_t lanes =
      std::max<int64_t>(vectorBits / 8 / getComputedBytes(fused), 1);
  if (isRegrouped(fused))
    return getRegroupedPlan(fused, lanes);
  plan.groups = groupProducts(fused, lanes);

  ArrayRef<int64_t> sizes = getArrayType(fused.getInit()).getShape();
  llvm::SmallBitVector contracted(sizes.size()), varying(sizes.size());
  for (ModeProductOp product : fused.getModeProducts()) {
    contracted.set(product.getAxis());
    ShapedType factor = getArrayType(product.getFactor());
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        varying.set(axis);
  }
  plan.tiledAxis =
      chooseTiledAxis(sizes, getContiguousAxis(fused), contracted, varying);
  assignRoles(plan, sizes, contracted);

  planInput(plan, fused);
  plan.fitsRegisters = worksFromRegisters(plan, fused, vectorBits);
  plan.rowsInLanes = putsRowsInLanes(plan, fused, lanes);
  if (plan.rowsInLanes)
    plan.groups = groupProducts(fused, lanes, /*isFull=*/true);
  planElements(plan, fused);
  planSlices(plan);
  if (plan.rearrangesInput())
    plan.elementsPerPosition = std::max(
        plan.elementsPerPosition,
        countElements(fused.getModeProducts().front().getInput(), plan.roles));
  return plan;
}
