//===- PassPlan.cpp - Tiles and stages of one kron.pass ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/PassPlan.h"
#include "Regrouped.h"
#include "kron/CodeGen/CPU/Stage.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static ShapedType getShape(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Bytes of an element in the buffers of a pass: those of f16 and bf16 hold
/// f32.
static int64_t getComputedBytes(PassOp pass) {
  return getElementBytes(getAccumulatorType(getElementType(pass.getInit())));
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Share of a register that useful lanes take, for a factor with `results`
/// columns and `inside` elements inside its axis (-1: many).
static double getLaneUse(int64_t depth, int64_t results, int64_t inside,
                         int64_t lanes) {
  auto fill = [&](int64_t elements) {
    return elements < lanes ? double(elements) / lanes
                            : double(elements) / llvm::alignTo(elements, lanes);
  };
  if (inside < 0)
    return 1.0;
  // Several fibres in every vector: two shuffles beside its multiply-adds.
  if (inside == 1 && depth == results && lanes % results == 0 &&
      2 * results <= lanes)
    return double(results) / (results + 2);
  if (inside < lanes && llvm::isPowerOf2_64(inside))
    return fill(results * inside);
  return fill(inside);
}

/// Cost of a group per element of what it is applied to: multiply-adds over
/// lane use, plus one for loading and storing.
static double getGroupCost(int64_t depth, int64_t results, int64_t inside,
                           int64_t lanes) {
  return results / getLaneUse(depth, results, inside, lanes) + 1.0 +
         double(results) / depth;
}

/// Whether axes [first, first + count) of `array` can be walked as one.
static bool isCollapsible(Value array, unsigned first, unsigned count,
                          ArrayRef<int64_t> permutation) {
  auto type = dyn_cast<MemRefType>(array.getType());
  auto axisOf = [&](unsigned axis) {
    return permutation.empty() ? axis : permutation[axis];
  };
  if (!type)
    return permutation.empty();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (unsigned axis = first; axis + 1 < first + count; ++axis) {
    int64_t outer = strides[axisOf(axis)], inner = strides[axisOf(axis + 1)];
    int64_t size = type.getDimSize(axisOf(axis + 1));
    if (ShapedType::isDynamic(outer) || ShapedType::isDynamic(inner) ||
        ShapedType::isDynamic(size) || outer != inner * size)
      return false;
  }
  return true;
}

namespace {

/// Joins neighbouring mode products while that is cheaper.
class Grouper {
public:
  /// `isFull`: lanes are full whatever lies inside.
  Grouper(PassOp pass, int64_t lanes, bool isFull = false)
      : pass(pass), lanes(lanes), isFull(isFull) {}

  SmallVector<StageGroup> run();

private:
  bool tryJoin(StageGroup &group, ModeProductOp next, ArrayRef<int64_t> sizes,
               bool isFirst, bool isLast);
  int64_t getInside(ArrayRef<int64_t> sizes, unsigned end) const;

  PassOp pass;
  int64_t lanes;
  bool isFull;
};

} // namespace

static StageGroup startGroup(ModeProductOp product) {
  StageGroup group;
  group.axis = product.getAxis();
  group.depth = getShape(product.getFactor())
                    .getDimSize(product.getContractedFactorDim());
  group.results =
      getShape(product.getFactor()).getDimSize(product.getResultingFactorDim());
  group.products.push_back(product);
  return group;
}

int64_t Grouper::getInside(ArrayRef<int64_t> sizes, unsigned end) const {
  if (isFull)
    return -1;
  int64_t inside = 1;
  for (int64_t size : sizes.drop_front(end)) {
    if (ShapedType::isDynamic(size))
      return -1;
    inside *= size;
  }
  return inside;
}

bool Grouper::tryJoin(StageGroup &group, ModeProductOp next,
                      ArrayRef<int64_t> sizes, bool isFirst, bool isLast) {
  StageGroup other = startGroup(next);
  unsigned end = group.axis + group.products.size();
  bool outside = other.axis + 1 == group.axis;
  if (!outside && other.axis != end)
    return false;
  auto isPlain = [](ModeProductOp product) {
    return getShape(product.getFactor()).getRank() == 2;
  };
  // What is conjugated between two factors is not one product of them.
  if (next.getConjInput())
    return false;
  if (!isPlain(next) || !llvm::all_of(group.products, isPlain))
    return false;
  unsigned first = std::min(group.axis, other.axis);
  unsigned count = group.products.size() + 1;
  ArrayRef<int64_t> permutation =
      pass.getInputPermutation().value_or(ArrayRef<int64_t>());
  if (isFirst &&
      !isCollapsible(pass.getInputs().front(), first, count, permutation))
    return false;
  if (isLast && !isCollapsible(pass.getInit(), first, count, {}))
    return false;
  if (isLast && next.getAddend()) {
    auto argument = cast<BlockArgument>(next.getAddend());
    if (!isCollapsible(pass->getOperand(argument.getArgNumber()), first, count,
                       {}))
      return false;
  }

  int64_t groupInside = getInside(sizes, end);
  // What lies inside `next` once the group has been applied.
  SmallVector<int64_t> after(sizes);
  for (ModeProductOp product : group.products)
    after[product.getAxis()] = getShape(product.getFactor())
                                   .getDimSize(product.getResultingFactorDim());
  int64_t nextInside = getInside(after, other.axis + 1);
  int64_t jointInside = getInside(sizes, first + count);
  double growth = double(group.results) / group.depth;
  double apart =
      getGroupCost(group.depth, group.results, groupInside, lanes) +
      growth * getGroupCost(other.depth, other.results, nextInside, lanes);
  double joint =
      getGroupCost(group.depth * other.depth, group.results * other.results,
                   jointInside, lanes);
  if (joint > apart)
    return false;
  group.depth *= other.depth;
  group.results *= other.results;
  group.axis = first;
  group.products.insert(outside ? group.products.begin() : group.products.end(),
                        next);
  return true;
}

SmallVector<StageGroup> Grouper::run() {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  SmallVector<int64_t> sizes(getShape(products.front().getInput()).getShape());
  SmallVector<StageGroup> groups;
  for (unsigned index = 0; index < products.size();) {
    StageGroup group = startGroup(products[index]);
    unsigned next = index + 1;
    while (next < products.size() &&
           tryJoin(group, products[next], sizes, /*isFirst=*/index == 0,
                   /*isLast=*/next + 1 == products.size()))
      ++next;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getShape(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
    groups.push_back(std::move(group));
    index = next;
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Chooses the axis to tile: the innermost one if no factor touches it, since
/// lanes run there, else the innermost axis outside that is long enough to
/// matter.
static int chooseTiledAxis(ArrayRef<int64_t> sizes,
                           const llvm::SmallBitVector &contracted,
                           const llvm::SmallBitVector &varying) {
  int fallback = -1;
  for (int axis = sizes.size() - 1; axis >= 0; --axis) {
    if (contracted[axis] || varying[axis] || sizes[axis] == 1)
      continue;
    bool innermost = axis + 1 == static_cast<int>(sizes.size());
    if (innermost || ShapedType::isDynamic(sizes[axis]) || sizes[axis] >= 16)
      return axis;
    if (fallback < 0)
      fallback = axis;
  }
  return fallback;
}

/// Elements of `array` in a tile of one position.
static int64_t countElements(Value array, ArrayRef<AxisRole> roles) {
  int64_t elements = 1;
  for (auto [role, size] : llvm::zip(roles, getShape(array).getShape()))
    if (role == AxisRole::Whole)
      elements *= size;
  return elements;
}

int64_t PassPlan::getWholeSize(unsigned axis, unsigned groupsApplied,
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
  return getShape(any.getInit()).getDimSize(axis);
}

/// Elements that lanes run over at a time, at most, on axes that no factor
/// contracts: longer ones are cut.
static constexpr int64_t kMaxInsideElements = 1024;

static void assignRoles(PassPlan &plan, ArrayRef<int64_t> sizes,
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
    elements *= std::max<int64_t>(sizes[axis], 1);
    if (axis == innermost || elements <= kMaxInsideElements)
      plan.roles[axis] = AxisRole::Whole;
  }
}

/// First axis that groups [begin, end) contract, and the one behind their last.
static std::pair<unsigned, unsigned> getAxes(ArrayRef<StageGroup> groups) {
  unsigned first = std::numeric_limits<unsigned>::max(), end = 0;
  for (const StageGroup &group : groups) {
    first = std::min(first, group.axis);
    end = std::max<unsigned>(end, group.axis + group.products.size());
  }
  return {first, end};
}

/// The most elements that one position of `axis` takes before any of groups
/// [begin, end).
static int64_t countSliceElements(const PassPlan &plan, unsigned begin,
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
static void planSlices(PassPlan &plan) {
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

/// Factors with fewer results than this take what they need from the input in
/// one go.
static constexpr int64_t kMinPackedResults = 12;

/// Decides whether tiles of the input are rearranged before they are used.
static void planInput(PassPlan &plan, PassOp pass) {
  Value input = pass.getInputs().front();
  int64_t rank = plan.roles.size();
  ArrayRef<int64_t> permutation =
      pass.getInputPermutation().value_or(ArrayRef<int64_t>());
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
  if (plan.tiledAxis < 0 || strides[dimOf(plan.tiledAxis)] != 1)
    return;
  if (!plan.isTiledInnermost()) {
    plan.transposesInput = true;
    return;
  }
  // A factor that varies takes more of the cache than what it is applied to.
  auto varies = [](ModeProductOp product) {
    return getShape(product.getFactor()).getRank() != 2;
  };
  if (llvm::any_of(pass.getModeProducts(), varies))
    return;
  const StageGroup &first = plan.groups.front();
  unsigned axis = first.axis + first.products.size() - 1;
  constexpr int64_t kFarElements = 512;
  int64_t stride = strides[dimOf(axis)];
  plan.packsInput = first.results >= kMinPackedResults &&
                    (ShapedType::isDynamic(stride) || stride >= kFarElements);
}

/// Counts buffers and what they hold.
static void planElements(PassPlan &plan, PassOp pass) {
  // What the input is converted to takes a buffer, too.
  ModeProductOp first = pass.getModeProducts().front();
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

/// Factors with more results than this fill vectors well enough, and of rows of
/// more bytes, times lanes, fewer are a better tile.
static constexpr int64_t kMaxRowsResults = 12, kMaxRowsBytes = 1 << 12;

/// Cost of `groups`, one after the other, per element of the input.
static double getChainCost(ArrayRef<StageGroup> groups, PassOp pass,
                           int64_t lanes, bool isFull) {
  // Vectors that start anywhere cross cache lines.
  constexpr double kUnaligned = 1.25;
  ModeProductOp first = pass.getModeProducts().front();
  SmallVector<int64_t> sizes(getShape(first.getInput()).getShape());
  double cost = 0, share = 1;
  for (const StageGroup &group : groups) {
    int64_t inside = 1;
    for (int64_t size :
         llvm::drop_begin(sizes, group.axis + group.products.size()))
      inside *= size;
    int64_t width = inside < lanes ? inside * group.results : inside;
    double own =
        getGroupCost(group.depth, group.results, isFull ? -1 : inside, lanes);
    bool isAligned = isFull || width % lanes == 0 || lanes % width == 0;
    cost += share * (isAligned ? own : kUnaligned * own);
    share *= double(group.results) / group.depth;
    for (ModeProductOp product : group.products)
      sizes[product.getAxis()] =
          getShape(product.getFactor())
              .getDimSize(product.getResultingFactorDim());
  }
  return cost;
}

/// Whether small factors that are no powers of two are cheaper with lanes over
/// rows, two transpositions included.
static bool putsRowsInLanes(const PassPlan &plan, PassOp pass, int64_t lanes) {
  if (plan.tiledAxis < 0 || plan.isTiledInnermost() || plan.transposesInput ||
      lanes < 4 || pass.getInputPermutation())
    return false;
  Value input = pass.getInputs().front();
  ShapedType init = getShape(pass.getInit());
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
    ShapedType factor = getShape(product.getFactor());
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
  if (!llvm::all_of(pass.getModeProducts(), isSmall) || !isContiguous(input) ||
      !isContiguous(pass.getInit()) ||
      rowElements * lanes * getComputedBytes(pass) > kMaxRowsBytes ||
      getShape(input).getShape().drop_front(plan.tiledAxis + 1) !=
          getShape(pass.getModeProducts().front().getInput())
              .getShape()
              .drop_front(plan.tiledAxis + 1))
    return false;
  SmallVector<StageGroup> groups = Grouper(pass, lanes, /*isFull=*/true).run();
  double transpositions = 2.0 * llvm::Log2_64(lanes) + 2;
  return getChainCost(groups, pass, lanes, true) + transpositions <
         getChainCost(plan.groups, pass, lanes, false);
}

/// Cost of `product` per element of its input; `isFull`: with lanes over rows.
static double getSparseCost(const StageGroup &group, const GroupView &view,
                            int64_t rows, int64_t lanes, bool isFull) {
  int64_t inside = 1;
  for (int64_t axis = group.axis + 1, rank = view.before.size(); axis < rank;
       ++axis)
    inside *= axis == rows ? 1 : view.before[axis];
  return getGroupCost(group.depth, group.results, isFull ? -1 : inside, lanes);
}

/// Whether the factors of a regrouped chain that fill vectors badly are cheaper
/// with lanes over rows, two transpositions included.
static bool putsRegroupedRowsInLanes(const PassPlan &plan, PassOp pass,
                                     int64_t lanes) {
  ShapedType init = getShape(pass.getInit());
  Type element = init.getElementType();
  auto isContiguous = [](Value array) {
    auto type = dyn_cast<MemRefType>(array.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    return !type || (succeeded(type.getStridesAndOffset(strides, offset)) &&
                     strides.back() == 1);
  };
  if (plan.isTiledInnermost() || plan.transposesInput || lanes < 4 ||
      pass.getInputPermutation() || !element.isIntOrFloat() ||
      getAccumulatorType(element) != element ||
      getElementType(pass.getInputs().front()) != element ||
      !isContiguous(pass.getInputs().front()) || !isContiguous(pass.getInit()) ||
      (!init.isDynamicDim(plan.tiledAxis) &&
       init.getDimSize(plan.tiledAxis) < lanes))
    return false;
  double share = 1, own = 0, inLanes = 2.0 * llvm::Log2_64(lanes) + 2;
  for (auto [group, view] : llvm::zip_equal(plan.groups, plan.views)) {
    own += share *
           getSparseCost(group, view, plan.tiledAxis, lanes, /*isFull=*/false);
    inLanes += share * getSparseCost(group, view, plan.tiledAxis, lanes,
                                     /*isFull=*/true);
    share *= double(group.results) / group.depth;
  }
  return inLanes < own;
}

/// The plan of a pass whose axes are regrouped: tiles of rows, whole but for
/// that.
static PassPlan getRegroupedPlan(PassOp pass, int64_t lanes) {
  PassPlan plan;
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  plan.tiledAxis = *getRegroupedRows(products);
  plan.roles.assign(getShape(pass.getInit()).getRank(), AxisRole::Whole);
  plan.roles[plan.tiledAxis] = AxisRole::Tiled;
  for (ModeProductOp product : products) {
    plan.groups.push_back(startGroup(product));
    plan.views.push_back(
        {SmallVector<int64_t>(getShape(product.getInput()).getShape()),
         SmallVector<int64_t>(getShape(product.getInit()).getShape())});
  }
  planInput(plan, pass);
  plan.rowsInLanes = putsRegroupedRowsInLanes(plan, pass, lanes);
  planElements(plan, pass);
  if (plan.rearrangesInput()) {
    int64_t elements =
        countElements(products.front().getInput(), plan.roles);
    plan.elementsPerPosition = std::max(plan.elementsPerPosition, elements);
  }
  return plan;
}

PassPlan kron::getPassPlan(PassOp pass, int64_t vectorBits) {
  PassPlan plan;
  int64_t lanes = std::max<int64_t>(vectorBits / 8 / getComputedBytes(pass), 1);
  if (isRegrouped(pass))
    return getRegroupedPlan(pass, lanes);
  plan.groups = Grouper(pass, lanes).run();

  ArrayRef<int64_t> sizes = getShape(pass.getInit()).getShape();
  llvm::SmallBitVector contracted(sizes.size()), varying(sizes.size());
  for (ModeProductOp product : pass.getModeProducts()) {
    contracted.set(product.getAxis());
    ShapedType factor = getShape(product.getFactor());
    for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
      if (axis >= 0 && factor.getDimSize(dim) != 1)
        varying.set(axis);
  }
  plan.tiledAxis = chooseTiledAxis(sizes, contracted, varying);
  assignRoles(plan, sizes, contracted);

  planInput(plan, pass);
  plan.rowsInLanes = putsRowsInLanes(plan, pass, lanes);
  if (plan.rowsInLanes)
    plan.groups = Grouper(pass, lanes, /*isFull=*/true).run();
  planElements(plan, pass);
  planSlices(plan);
  if (plan.rearrangesInput())
    plan.elementsPerPosition = std::max(
        plan.elementsPerPosition,
        countElements(pass.getModeProducts().front().getInput(), plan.roles));
  return plan;
}

/// The largest divisor of `total` up to `most`.
static int64_t getDivisor(int64_t total, int64_t most) {
  int64_t size = std::clamp<int64_t>(most, 1, total);
  while (total % size)
    --size;
  return size;
}

/// Slices of more bytes are cut further, into slices of up to the other number.
static constexpr int64_t kMaxSliceBytes = 1 << 14, kSliceBytes = 1 << 13;

/// Moves groups from the end of the first section, which is sliced, to one of
/// their own with larger slices, so that those of the others can be smaller;
/// false if that is not possible.
static bool cutSlices(const PassPlan &plan, SmallVectorImpl<Section> &sections,
                      bool copiesInput, int64_t bytesPerElement) {
  Section &outer = sections.front();
  ArrayRef<StageGroup> groups(plan.groups);
  for (unsigned split = outer.end - 1; split >= (copiesInput ? 1 : 2);
       --split) {
    unsigned first = getAxes(groups.take_front(split)).first;
    if (first < getAxes(groups.slice(split, outer.end - split)).second)
      continue;
    int axis = first - 1;
    while (axis > outer.sliceAxis && (plan.roles[axis] != AxisRole::Whole ||
                                      plan.getWholeSize(axis, 0) == 1))
      --axis;
    if (axis <= outer.sliceAxis)
      return false;
    int64_t bytes =
        bytesPerElement * countSliceElements(plan, /*begin=*/0, split, axis);
    Section inner{0, split, axis,
                  getDivisor(plan.getWholeSize(axis, 0), kSliceBytes / bytes)};
    outer.begin = split;
    sections.insert(sections.begin(), inner);
    return true;
  }
  return false;
}

SmallVector<Section> kron::getSections(const PassPlan &plan, PassOp pass,
                                       int64_t tile, int64_t slice) {
  if (slice <= 0 || plan.slicedSections.empty())
    return {{0, static_cast<unsigned>(plan.groups.size())}};
  SmallVector<Section> sections = plan.slicedSections;
  for (Section &section : sections)
    if (section.sliceAxis >= 0)
      section.sliceSize = getDivisor(plan.sliceAxisSize, slice);
  if (sections.front().sliceAxis < 0)
    return sections;
  int64_t bytes = getComputedBytes(pass);
  if (plan.tiledAxis > sections.front().sliceAxis || plan.slicesWholeTile())
    bytes *= tile;
  auto isLarge = [&] {
    const Section &first = sections.front();
    return bytes * first.sliceSize *
               countSliceElements(plan, first.begin, first.end,
                                  first.sliceAxis) >
           kMaxSliceBytes;
  };
  bool copiesInput = plan.rearrangesInput();
  while (isLarge() && cutSlices(plan, sections, copiesInput, bytes))
    ;
  return sections;
}

/// What is sliced, and whether that saves trips through the second-level cache:
/// there must be something in between.
static const Section *getUsefulSlices(const PassPlan &plan) {
  for (const Section &section : plan.slicedSections) {
    bool copies = section.begin == 0 && plan.rearrangesInput();
    if (section.sliceAxis >= 0 && section.end - section.begin + copies > 1)
      return &section;
  }
  return nullptr;
}

int64_t kron::chooseSlice(const PassPlan &plan, PassOp pass, int64_t tile,
                          const CacheBudget &caches) {
  const Section *section = getUsefulSlices(plan);
  if (!section)
    return 0;
  // What is in the first-level cache anyway needs no slices.
  int64_t tileBytes = tile * plan.elementsPerPosition * getComputedBytes(pass);
  if (plan.numBuffers * tileBytes <= caches.l1Bytes && !plan.packsInput &&
      !plan.transposesInput)
    return 0;
  int64_t bytes = getComputedBytes(pass) * plan.elementsPerSlicePosition;
  if (plan.tiledAxis > section->sliceAxis || plan.slicesWholeTile())
    bytes *= tile;
  int64_t slice = getDivisor(plan.sliceAxisSize, caches.l1Bytes / 4 / bytes);
  return slice == plan.sliceAxisSize ? 0 : slice;
}

/// Bytes that lanes run over in a tile of a single factor. Up to so many
/// columns are one tile of a size that is known; 64, 128 and 256 columns of f32
/// were measured to be equally fast.
static constexpr int64_t kColumnBytes = 1024;

/// Columns per tile where lanes run over the tiled axis.
static int64_t chooseColumns(const PassPlan &plan, int64_t bytesPerPosition,
                             int64_t lanes, int64_t elementBytes,
                             const CacheBudget &caches) {
  if (!plan.numBuffers && !plan.packsInput)
    return kColumnBytes / elementBytes;
  // Slices in the first-level cache, and a whole tile in the second-level one
  // if it fits: two cache lines at a time were measured to be no slower than
  // four, and one to be much slower even where two are 8 MB.
  if (getUsefulSlices(plan))
    return 2 * lanes;
  // Else all buffers in the first-level cache.
  int64_t buffers = std::min<int64_t>(plan.numBuffers + plan.packsInput, 2);
  int64_t tile = caches.l1Bytes / (buffers * bytesPerPosition);
  return std::clamp(tile / lanes * lanes, lanes, 16 * lanes);
}

/// Positions per tile, for a single factor outside of the tiled axis, inside of
/// which lie others that lanes run over with it: a divisor, so that all tiles
/// have a size that is known. 0 if that is not so.
static int64_t chooseColumnGroups(const PassPlan &plan, ArrayRef<int64_t> sizes,
                                  int64_t elementBytes) {
  if (plan.groups.size() > 1 ||
      plan.tiledAxis < static_cast<int>(plan.groups.front().axis))
    return 0;
  int64_t inside = 1, size = sizes[plan.tiledAxis];
  for (int64_t inner : sizes.drop_front(plan.tiledAxis + 1)) {
    if (ShapedType::isDynamic(inner))
      return 0;
    inside *= std::max<int64_t>(inner, 1);
  }
  int64_t most = std::max<int64_t>(kColumnBytes / elementBytes / inside, 1);
  if (ShapedType::isDynamic(size) || size <= most)
    return most;
  int64_t tile = most;
  while (size % tile)
    --tile;
  return 2 * tile >= most ? tile : most;
}

/// Rows per tile of a single factor: many, so that what is loaded of the factor
/// is used often, but if the factor stays in the second-level cache so few that
/// they and the next ones stay there with it.
static int64_t chooseRows(const PassPlan &plan, PassOp pass,
                          int64_t elementBytes, const CacheBudget &caches) {
  constexpr int64_t kMost = 64, kLeast = 16, kMultiple = 8;
  int64_t factorBytes = elementBytes;
  ModeProductOp product = plan.groups.front().products.front();
  for (int64_t size : getShape(product.getFactor()).getShape())
    factorBytes *= size;
  if (plan.groups.size() > 1 || factorBytes > caches.l2Bytes / 2)
    return kMost;
  int64_t elements = countElements(pass.getInputs().front(), plan.roles) +
                     countElements(pass.getInit(), plan.roles);
  int64_t rows = caches.l2Bytes / 8 / (elements * elementBytes);
  return std::clamp(rows / kMultiple * kMultiple, kLeast, kMost);
}

/// Bytes of a tile of small rows. The first-level cache would hold more, but
/// what is asked for early has to find room, too, and less is asked for at
/// once.
static constexpr int64_t kTileBytes = 1 << 12;

/// Rows that fill that, out of `size`; one that divides it if there is one
/// near, since code for tiles of an unknown size is slower.
static int64_t chooseSmallRows(int64_t size, int64_t bytesPerPosition,
                               const CacheBudget &caches) {
  int64_t tile = std::clamp<int64_t>(
      llvm::divideCeil(std::min(kTileBytes, caches.l1Bytes / 4),
                       bytesPerPosition),
      1, 256);
  if (!ShapedType::isDynamic(size))
    for (int64_t rows = tile; 2 * rows >= tile; --rows)
      if (size % rows == 0)
        return rows;
  return tile;
}

int64_t kron::chooseTile(const PassPlan &plan, PassOp pass, int64_t vectorBits,
                         const CacheBudget &caches) {
  if (plan.tiledAxis < 0)
    return 1;
  int64_t elementBytes = getComputedBytes(pass);
  ArrayRef<int64_t> sizes = getShape(pass.getInit()).getShape();
  int64_t size = sizes[plan.tiledAxis];
  int64_t lanes = vectorBits / 8 / elementBytes;
  int64_t bytesPerPosition = plan.elementsPerPosition * elementBytes;
  int64_t tile = 64;
  if (!plan.views.empty())
    tile = chooseRegroupedRows(
        pass.getModeProducts(), caches.l2Bytes,
        plan.isTiledInnermost() || plan.rearrangesInput() ? 2 * lanes : 16);
  else if (plan.isTiledInnermost())
    tile = chooseColumns(plan, bytesPerPosition, lanes, elementBytes, caches);
  else if (plan.rowsInLanes)
    // A second vector only as long as all is in the first-level cache.
    tile = 4 * lanes * bytesPerPosition <= caches.l1Bytes ? 2 * lanes : lanes;
  else if (plan.transposesInput)
    // Two cache lines of the input, even where the second-level cache does not
    // hold the rows that they belong to: fetching parts of lines costs more.
    tile = 2 * lanes;
  else if (int64_t groups = chooseColumnGroups(plan, sizes, elementBytes))
    tile = groups;
  else if (plan.groups.size() > 1 && bytesPerPosition <= 2 * kTileBytes)
    tile = chooseSmallRows(size, bytesPerPosition, caches);
  else if (plan.numBuffers)
    tile = std::clamp<int64_t>(
        caches.l1Bytes / (plan.numBuffers * bytesPerPosition), 1, 256);
  else
    tile = chooseRows(plan, pass, elementBytes, caches);
  return ShapedType::isDynamic(size) ? tile
                                     : std::clamp<int64_t>(size, 1, tile);
}

bool kron::fitsSecondLevel(const PassPlan &plan, PassOp pass,
                           const CacheBudget &caches) {
  ShapedType init = getShape(pass.getInit());
  if (!init.hasStaticShape())
    return false;
  // The input, which may be stretched, has the axes of the result before any
  // group.
  int64_t inputs = 1;
  for (auto [axis, size] : llvm::enumerate(init.getShape()))
    inputs *=
        plan.roles[axis] == AxisRole::Whole ? plan.getWholeSize(axis, 0) : size;
  return (inputs + init.getNumElements()) *
             getElementBytes(getElementType(pass.getInit())) <=
         caches.l2Bytes;
}

int64_t kron::widenForMatrixTiles(const PassPlan &plan, PassOp pass,
                                  int64_t tile) {
  // Blocks take 32 positions; more of them when nothing has to stay in cache.
  constexpr int64_t kBlock = 32, kBlocks = 2, kManyBytes = 8192;
  int64_t bytes = plan.elementsPerPosition * getComputedBytes(pass);
  bool isSingle = plan.groups.size() == 1 && bytes <= kManyBytes;
  if (plan.tiledAxis < 0 ||
      !(plan.groups.size() == 1 || plan.isTiledInnermost()))
    return tile;
  int64_t size = getShape(pass.getInit()).getDimSize(plan.tiledAxis);
  int64_t wide = llvm::alignTo(
      std::max(tile, isSingle ? kBlocks * kBlock : kBlock), kBlock);
  return ShapedType::isDynamic(size) ? wide
                                     : std::clamp<int64_t>(size, 1, wide);
}
