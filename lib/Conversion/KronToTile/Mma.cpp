//===- Mma.cpp - Dense factors by mma.sync as tiles -----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is whole along the contracted axes, and takes some rows and columns.
// It goes through
//
//   view -> ring            asynchronous copies, one tile or more ahead; or
//                           piece by piece, to a ring of each warp group
//   ring -> ... -> buffer   a step per factor, or for the two innermost ones:
//                           warps take blocks of the tile, in place where
//                           elements keep their type
//   buffer -> view          the last step's results, from registers
//
// with a barrier between. Two CTAs that share a tile have half of the positions
// each of the axis that the last step contracts, and compute half of its
// blocks.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/MmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a vector in global memory, and of neighbours that lanes have.
static constexpr int64_t kVectorBytes = 16, kPairBytes = 8;
/// Bytes that go together between memory and the second-level cache.
static constexpr int64_t kLineBytes = 128;

namespace {

/// Positions of a block, in a tile of `sizes`, whose last one may count several
/// dimensions; and positions of the axis outside that share a tile of 8
/// columns.
struct BlockShape {
  SmallVector<int64_t> sizes, block;
  int64_t fold = 1;
};

class MmaTiles : FusedTiles<MmaPlan> {
public:
  MmaTiles(const TileSource &source, const MmaPlan &plan);
  void build();

private:
  void enterOperands();
  unsigned enterView(const StepArray &array, Type type, bool isInput);
  void allocate();
  tile::BufferType getBuffer(const TileLayout &layout, Type type);
  Int getStride(const StepArray &array, const MmaDim &dim);
  bool mayExceed(unsigned dim) const;
  int64_t getCopyElements();
  DenseI64ArrayAttr getOrder(const StepArray &array);
  void copy(Value tile, int64_t ahead);
  bool wantsLines() const;
  /// Sizes of a tile before and after all factors.
  SmallVector<int64_t> getSizesK() const;
  SmallVector<int64_t> getSizesN() const;
  tile::PiecesAttr getPieces();

  bool canFold(int64_t size, unsigned rowDim, int64_t rows) const;
  void mergeColumns(BlockShape &shape, const MmaStep &step);
  BlockShape getColumns(const MmaStep &step);
  BlockShape getShape(const MmaStep &step);
  Value join(const MmaStep &step, Value buffer);
  bool isLocal(const MmaStep &step);

  SmallVector<Value> prepare(const MmaStep &step);
  Value multiply(int64_t dim, Value fragment, ArrayRef<Value> operands);
  void buildBlock(const MmaStep &step, const BlockShape &shape,
                  ArrayRef<Value> operands, Value source, Value target,
                  Value block, Value tile);
  Value getTarget(const MmaStep &step, Value source, Value slot);
  void buildStep(const MmaStep &step, ArrayRef<Value> operands, Value source,
                 Value target, Value tile);
  void storeResults(Value results, Value tile);
  void buildSteps(Value slot, Value tile);
  void buildTile(Value tile);
  void meetCluster();

  bool isFirst(const MmaStep &step) const {
    return &step == &plan.steps.front();
  }
  bool isLast(const MmaStep &step) const { return &step == &plan.steps.back(); }
  /// Tiles of 8 columns of `step`'s results that lanes have neighbours of.
  int64_t getPair(const MmaStep &step) const {
    Type type = plan.isStored(step) ? plan.outputType : plan.type;
    return std::max<int64_t>(1, kPairBytes / getElementBytes(type));
  }

  tile::AtomKind atom;

  FusedOperands operands;
  /// Axes of the views, and which of them are the tile's dimensions.
  SmallVector<MmaDim> viewAxes;
  SmallVector<int64_t> axes;
  /// On the host: positions of those that no factor contracts.
  SmallVector<Int> sizes;
  /// In the kernel.
  Value ring, work;
  /// Where a tile is put in order that was copied as it lies.
  Value landed;
  SmallVector<SmallVector<Value>> kept;
};

} // namespace

MmaTiles::MmaTiles(const TileSource &source, const MmaPlan &plan)
    : FusedTiles(source, plan), operands(getFusedOperands(kernel.host, fused)),
      viewAxes(plan.getOrderedAxes()) {
  atom = plan.math != MmaMath::F64    ? tile::AtomKind::MmaTF32
         : source.machine.hasWideDMMA ? tile::AtomKind::MmaF64
                                      : tile::AtomKind::MmaF64Small;
  for (const MmaDim &dim : plan.dims) {
    auto *found = llvm::find_if(
        viewAxes, [&](const MmaDim &axis) { return axis.axes == dim.axes; });
    axes.push_back(dim.axes.empty() ? -1 : found - viewAxes.begin());
  }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Int MmaTiles::getStride(const StepArray &array, const MmaDim &dim) {
  return dim.axes.empty() ? Int(0) : array.strides[dim.axes.back()];
}

/// A view of an array whose axes are those that the tile's dimensions are, and
/// those of which a tile has one position.
unsigned MmaTiles::enterView(const StepArray &array, Type type, bool isInput) {
  SmallVector<Int> shape, strides;
  for (auto [axis, size] : llvm::zip_equal(viewAxes, sizes)) {
    int64_t known = isInput ? axis.sizeK : axis.sizeN;
    shape.push_back(axis.product ? Int(known) : size);
    strides.push_back(getStride(array, axis));
  }
  return kernel.enter(kernel.makeView(array.base, shape, strides, type));
}

void MmaTiles::enterOperands() {
  Emitter &host = kernel.host;
  for (const MmaDim &axis : viewAxes) {
    Int &size = sizes.emplace_back(1);
    for (unsigned fusedAxis : axis.axes)
      size = host.mul(size, operands.sizes[fusedAxis]);
  }
  for (const MmaGridAxis &grid : plan.grid) {
    auto *found = llvm::find_if(
        viewAxes, [&](const MmaDim &axis) { return axis.axes == grid.axes; });
    arguments.tiles =
        host.mul(arguments.tiles,
                 host.ceilDiv(sizes[found - viewAxes.begin()], grid.step));
  }
  arguments.input = enterView(operands.input, plan.inputType, /*isInput=*/true);
  auto enterOutput = [&](const StepArray &array) {
    return enterView(array, plan.outputType, /*isInput=*/false);
  };
  arguments.init = enterOutput(operands.init);
  kernel.enterTargets(operands, arguments, enterOutput);
  for (const MmaDim &dim : plan.dims)
    if (dim.product)
      kernel.enterFactor(fused, dim.product, dim.sizeK, dim.sizeN, arguments,
                         plan.factorType);
  kernel.enterTileCount(/*bits=*/32, arguments);
}

/// Whether a tile may have fewer positions of `dim` than there is room for.
bool MmaTiles::mayExceed(unsigned dim) const {
  if (axes[dim] < 0 || plan.dims[dim].product)
    return false;
  Int size = sizes[axes[dim]];
  int64_t step = plan.dims[dim].sizeK;
  return step > 1 && (!size.isConstant() || size.getConstant() % step != 0);
}

/// Elements that one copy moves if addresses turn out to be aligned.
int64_t MmaTiles::getCopyElements() {
  int64_t elements = kVectorBytes / getElementBytes(plan.inputType);
  const MmaDim &inner = plan.dims.back();
  if (!getStride(operands.input, inner).is(1))
    return 1;
  auto fits = [&](int64_t count) {
    if (inner.sizeK % count != 0)
      return false;
    for (auto [axis, stride] : llvm::enumerate(operands.input.strides))
      if (axis != inner.axes.back() && stride.isConstant() &&
          !operands.sizes[axis].is(1) && stride.getConstant() % count != 0)
        return false;
    return true;
  };
  while (elements > 1 && !fits(elements))
    elements /= 2;
  return elements;
}

/// Dimensions, that with the largest stride in `array` first; consecutive
/// threads take what is closest in global memory.
DenseI64ArrayAttr MmaTiles::getOrder(const StepArray &array) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, plan.dims.size()));
  auto getKnownStride = [&](int64_t dim) {
    Int stride = getStride(array, plan.dims[dim]);
    return stride.isConstant() ? stride.getConstant() : int64_t(1) << 62;
  };
  llvm::sort(order, [&](int64_t lhs, int64_t rhs) {
    return std::pair(-getKnownStride(lhs), lhs) <
           std::pair(-getKnownStride(rhs), rhs);
  });
  if (llvm::is_sorted(order))
    return {};
  return b.getDenseI64ArrayAttr(order);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

tile::BufferType MmaTiles::getBuffer(const TileLayout &layout, Type type) {
  SmallVector<int64_t> swizzle;
  for (TileLayout::Swizzle bits : layout.swizzles)
    llvm::append_values(swizzle, int64_t(bits.from), int64_t(bits.to));
  auto attribute =
      tile::LayoutAttr::get(b.getContext(), layout.strides, swizzle);
  return tile::BufferType::get(layout.pitches, type, attribute);
}

void MmaTiles::allocate() {
  int64_t slots = plan.stages;
  if (plan.stream)
    slots = plan.getWarpGroups(plan.steps.front()) * plan.stream->slots;
  tile::BufferType slot = getBuffer(plan.inputLayout, plan.inputType);
  // A piece has no room around it.
  if (plan.stream)
    slot = tile::BufferType::get(plan.stream->sizes, plan.inputType,
                                 slot.getLayout());
  if (plan.segments) {
    landed = tile::AllocOp::create(b, loc, slot);
    slot = getSegmentBuffer(*plan.segments, plan.inputType);
  }
  ring = tile::AllocOp::create(b, loc, tile::RingType::get(slots, slot));
  if (plan.workLayout)
    work =
        tile::AllocOp::create(b, loc, getBuffer(*plan.workLayout, plan.type));
}

/// Whether other CTAs take the columns beside those of a tile.
bool MmaTiles::wantsLines() const {
  const MmaDim &inner = plan.dims.back();
  return !inner.product &&
         inner.sizeK * getElementBytes(plan.inputType) < kLineBytes;
}

SmallVector<int64_t> MmaTiles::getSizesK() const {
  return llvm::map_to_vector(
      plan.dims, [](const MmaDim &dim) -> int64_t { return dim.sizeK; });
}

SmallVector<int64_t> MmaTiles::getSizesN() const {
  return llvm::map_to_vector(
      plan.dims, [](const MmaDim &dim) -> int64_t { return dim.sizeN; });
}

void MmaTiles::copy(Value tile, int64_t ahead) {
  SmallVector<int64_t> shape = getSizesK();
  Value slot = tile::AcquireOp::create(b, loc, ring).getSlot();
  if (plan.segments)
    return kernel.copySegments(arguments, tile, ahead, slot, shape, axes);
  slot = kernel.resize(slot, shape);
  auto op = tile::CopyOp::create(
      b, loc, kernel.getArgument(arguments.input), tile, ahead, slot,
      getCopyElements() * getElementBytes(plan.inputType));
  op.setOrderAttr(getOrder(operands.input));
  op.setFill(true);
  op.setAxes(axes);
  op.setLines(wantsLines());
}

tile::PiecesAttr MmaTiles::getPieces() {
  const MmaStep &step = plan.steps.front();
  int64_t bytes = getElementBytes(plan.inputType);
  return tile::PiecesAttr::get(
      b.getContext(), step.sizes, plan.stream->sizes, axes, step.warps,
      getCopyElements() * bytes, wantsLines(),
      plan.cluster > 1 ? int64_t(plan.steps.back().dim) : -1, /*ahead=*/0,
      /*order=*/{});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Whether tiles take several of `rows` positions of `rowDim`, rather than be
/// filled up with columns that do not exist.
bool MmaTiles::canFold(int64_t size, unsigned rowDim, int64_t rows) const {
  return (size == 2 || size == 4) && rows % (8 / size) == 0 &&
         !mayExceed(rowDim) && !mayExceed(plan.dims.size() - 1);
}

/// Joins as many inner dimensions as lie without a gap wherever the step reads
/// or writes, so that groups of columns fit better. In shared memory what pads
/// the innermost one may be columns, too, where no guard looks at sums.
void MmaTiles::mergeColumns(BlockShape &shape, const MmaStep &step) {
  unsigned last = plan.dims.size() - 1;
  shape.sizes = step.sizes;
  if (mayExceed(last))
    return;
  const TileLayout &from =
      plan.workLayout && !isFirst(step) ? *plan.workLayout : plan.inputLayout;
  const TileLayout &to = plan.workLayout ? *plan.workLayout : plan.inputLayout;
  for (unsigned dim = last - 1; dim > step.dim; --dim) {
    bool isStored = plan.isStored(step);
    int64_t size = shape.sizes.back();
    if (!isStored && dim + 1 == last && plan.math == MmaMath::F64)
      size = from.pitches[last];
    auto fits = [&](const StepArray &array) {
      return !array.base || (getStride(array, plan.dims[last]).is(1) &&
                             getStride(array, plan.dims[dim]).is(size));
    };
    bool gap = from.strides[dim] != size;
    if (isStored || plan.math != MmaMath::F64)
      gap |= mayExceed(dim);
    if (isStored)
      gap |= !fits(operands.init) || !fits(operands.addend);
    else
      gap |= to.strides[dim] != size;
    if (gap)
      return;
    shape.sizes.pop_back();
    shape.sizes.back() *= size;
  }
}

/// What a warp takes through `step`, of columns, at a time.
BlockShape MmaTiles::getColumns(const MmaStep &step) {
  BlockShape shape;
  mergeColumns(shape, step);
  unsigned last = shape.sizes.size() - 1;
  int64_t pair = getPair(step), size = shape.sizes.back();
  int64_t most = std::max(plan.getMostTiles(step), pair);
  int64_t outside = llvm::product_of(shape.sizes) / size / step.sizes[step.dim];
  int64_t tiles = plan.getColumnTiles(step, outside, size, pair);
  shape.block.assign(last + 1, 1);
  shape.block[step.dim] = step.sizes[step.dim];
  shape.block[last] = std::min(size, 8 * tiles);
  int second = last - 1;
  if (second == int(step.dim))
    --second;
  if (second < 0)
    return shape;
  // Half-empty tiles cost less than longer blocks where factors are small.
  int64_t count = shape.sizes[second];
  if (step.tiles > 1 && last + 1 == plan.dims.size() &&
      canFold(size, second, count))
    shape.fold = 8 / size;
  shape.block[second] = getPowerDivisor(count, most * shape.fold / tiles);
  return shape;
}

BlockShape MmaTiles::getShape(const MmaStep &step) {
  unsigned last = plan.dims.size() - 1;
  BlockShape shape{step.sizes, SmallVector<int64_t>(last + 1, 1)};
  if (plan.stream && isFirst(step)) {
    shape.block = plan.stream->sizes;
    for (unsigned dim = 0; dim < last; ++dim)
      if (step.kind == MmaStep::Kind::Columns && dim != step.dim &&
          shape.block[dim] > 1 &&
          canFold(shape.block[last], dim, shape.block[dim]))
        shape.fold = 8 / shape.block[last];
    return shape;
  }
  if (step.kind == MmaStep::Kind::Columns)
    return getColumns(step);
  shape.block[last] = step.sizes[last];
  if (step.kind == MmaStep::Kind::Chain) {
    shape.block[step.dim] = step.sizes[step.dim];
    return shape;
  }
  int64_t fibres = plan.getFibres(step);
  unsigned first = plan.getFirstJoined(step);
  shape.sizes.resize(first);
  shape.sizes.append({fibres, step.sizes[last]});
  shape.block.assign(first + 2, 1);
  shape.block.back() = step.sizes[last];
  shape.block[shape.block.size() - 2] =
      std::min(16 * plan.getFibreTiles(step, fibres), fibres);
  return shape;
}

/// `buffer` as `step` takes it: fibres of several dimensions may count as those
/// of one.
Value MmaTiles::join(const MmaStep &step, Value buffer) {
  unsigned first = plan.getFirstJoined(step);
  if (step.kind != MmaStep::Kind::Fibres || first + 2 == plan.dims.size())
    return buffer;
  auto type = cast<tile::BufferType>(buffer.getType());
  TileLayout layout = type.getTileLayout();
  SmallVector<int64_t> sizes(type.getShape().take_front(first));
  sizes.append({plan.getFibres(step), type.getShape().back()});
  SmallVector<int64_t> strides(ArrayRef(layout.strides).take_front(first));
  llvm::append_range(strides, ArrayRef(layout.strides).take_back(2));
  auto joined = tile::LayoutAttr::get(
      b.getContext(), strides,
      type.getLayout() ? type.getLayout().getSwizzle() : ArrayRef<int64_t>());
  return tile::ResizeOp::create(
      b, loc, tile::BufferType::get(sizes, type.getElementType(), joined),
      buffer);
}

/// Whether warp groups read in `step` only what they wrote themselves in the
/// first step, given that each takes blocks that follow each other.
bool MmaTiles::isLocal(const MmaStep &step) {
  const MmaStep &first = plan.steps.front();
  if (!plan.stream || plan.isSplit(step) || first.warps != step.warps ||
      step.kind != MmaStep::Kind::Columns || step.dim > first.dim)
    return false;
  // Both share out the positions of dimensions outside of this one.
  BlockShape shape = getColumns(step);
  int64_t outer = 1;
  for (unsigned dim = 0; dim < step.dim; ++dim) {
    outer *= step.sizes[dim];
    if (plan.stream->sizes[dim] != 1 || shape.block[dim] != 1)
      return false;
  }
  return outer % plan.getWarpGroups(step) == 0;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The factors of `step` as lanes have them.
SmallVector<Value> MmaTiles::prepare(const MmaStep &step) {
  SmallVector<Value> prepared;
  auto add = [&](const MmaDim &dim, tile::OperandOrder order, bool isSplit) {
    auto type =
        tile::OperandType::get({dim.sizeK, dim.sizeN}, plan.type, atom, order);
    bool isOfRows = order == tile::OperandOrder::Rows;
    prepared.push_back(tile::PrepareOp::create(
        b, loc, type, kernel.getArgument(arguments.factors.at(dim.product)),
        step.warps, isOfRows ? 1 : getPair(step),
        plan.math == MmaMath::SplitTF32, isSplit, !step.fitsRegisters));
  };
  const MmaDim &dim = plan.dims[step.dim];
  if (step.kind == MmaStep::Kind::Fibres) {
    add(dim, tile::OperandOrder::Columns, false);
    return prepared;
  }
  add(dim, tile::OperandOrder::Rows, plan.isSplit(step));
  if (step.kind == MmaStep::Kind::Chain)
    add(plan.dims.back(), tile::OperandOrder::Chained, false);
  return prepared;
}

/// Products with `factors` along dimension `dim` of a block, and the next one.
Value MmaTiles::multiply(int64_t dim, Value fragment, ArrayRef<Value> factors) {
  for (auto [number, factor] : llvm::enumerate(factors)) {
    auto type = cast<tile::FragmentType>(fragment.getType());
    auto operand = cast<tile::OperandType>(factor.getType());
    SmallVector<int64_t> shape(type.getShape());
    int64_t along = dim + 1 + number;
    int64_t fibres = llvm::product_of(shape) / shape[along];
    shape[along] = operand.getSizeN();
    fragment = tile::ContractOp::create(
        b, loc, tile::FragmentType::get(shape, plan.type, atom), fragment,
        factor, along, atom, ArrayRef<int64_t>{fibres, operand.getSizeN()},
        /*whole=*/true,
        /*ordered=*/false);
  }
  return fragment;
}

/// Takes `block` through a step, from `source` to `target`, or to memory.
void MmaTiles::buildBlock(const MmaStep &step, const BlockShape &shape,
                          ArrayRef<Value> factors, Value source, Value target,
                          Value block, Value tile) {
  int64_t dim = step.kind == MmaStep::Kind::Fibres
                    ? int64_t(shape.block.size()) - 1
                    : step.dim;
  SmallVector<int64_t> along{dim}, positions{1};
  if (step.kind == MmaStep::Kind::Chain)
    along.push_back(dim + 1);
  llvm::append_range(positions, shape.block);
  auto buffer = cast<tile::BufferType>(source.getType());
  auto type = tile::FragmentType::get(positions, buffer.getElementType(), atom);
  // What a chain leaves between its products is of the type it computes with.
  int64_t together = getPair(step);
  if (step.kind == MmaStep::Kind::Chain)
    together = std::max<int64_t>(1, kPairBytes / getElementBytes(plan.type));
  Value fragment = tile::LoadOp::create(
      b, loc, type, source, block, /*tile=*/Value(), along,
      /*box=*/DenseI64ArrayAttr(), /*halves=*/false, together, shape.fold);
  fragment = multiply(dim, fragment, factors);
  if (!plan.isStored(step)) {
    if (target == source)
      tile::BarrierOp::create(b, loc, /*groups=*/1, /*numbered=*/false,
                              /*cluster=*/false, /*arrive=*/false,
                              /*wait=*/false, /*of_block=*/true);
    tile::ExchangeOp::create(b, loc, fragment, target, block, along);
    return;
  }
  tile::StoreOp op =
      kernel.store(arguments, fragment, block, tile,
                   plan.getStoredTogether() * getElementBytes(plan.outputType));
  op.setAlong(along);
  op.setBox(getSizesN());
  op.setAxes(axes);
}

/// Where results of `step`, which reads `source`, go in shared memory.
Value MmaTiles::getTarget(const MmaStep &step, Value source, Value slot) {
  if (plan.isStored(step))
    return Value();
  if (plan.alternates)
    return source == slot ? work : slot;
  return work ? work : source;
}

void MmaTiles::buildStep(const MmaStep &step, ArrayRef<Value> factors,
                         Value source, Value target, Value tile) {
  BlockShape shape = getShape(step);
  OpBuilder::InsertionGuard guard(b);
  if (plan.stream && isFirst(step)) {
    auto loop = tile::ForPiecesOp::create(
        b, loc, kernel.getArgument(arguments.input), tile, ring, getPieces());
    kernel.beginBody(loop);
    return buildBlock(step, shape, factors, loop.getSlot(), target,
                      loop.getBoxes(), tile);
  }
  bool isInPlace = target == source;
  source = join(step, source);
  target = isInPlace ? source : target ? join(step, target) : target;
  bool isSecond = plan.steps.size() > 1 && &step == &plan.steps[1];
  auto loop =
      tile::ForBlocksOp::create(b, loc, shape.sizes, shape.block, step.warps,
                                isSecond && isLocal(step), plan.isSplit(step));
  kernel.beginBody(loop);
  buildBlock(step, shape, factors, source, target, loop.getBoxes(), tile);
}

/// Lets all meet that share a tile.
void MmaTiles::meetCluster() {
  tile::BarrierOp::create(b, loc, /*groups=*/1, /*numbered=*/false,
                          plan.cluster > 1);
}

/// Stores results that are in shared memory.
void MmaTiles::storeResults(Value results, Value tile) {
  kernel.barrier();
  tile::StoreOp op =
      kernel.store(arguments, kernel.resize(results, getSizesN()),
                   /*boxes=*/Value(), tile, getElementBytes(plan.outputType));
  op.setOrderAttr(getOrder(operands.init));
  op.setAxes(axes);
}

void MmaTiles::buildSteps(Value slot, Value tile) {
  auto load = [&](unsigned number) {
    const MmaStep &step = plan.steps[number];
    return plan.keepsFactors || !step.fitsRegisters ? kept[number]
                                                    : prepare(step);
  };
  SmallVector<Value> factors = load(0);
  Value source = slot;
  for (auto [number, step] : llvm::enumerate(plan.steps)) {
    Value target = getTarget(step, source, slot);
    buildStep(step, factors, source, target, tile);
    source = target;
    if (isLast(step))
      break;
    // Its factors arrive while warps wait for each other.
    const MmaStep &next = plan.steps[number + 1];
    factors = load(number + 1);
    if (number == 0 && isLocal(next))
      tile::BarrierOp::create(b, loc, plan.getWarpGroups(next),
                              /*numbered=*/next.warps > 1);
    else if (isLast(next))
      meetCluster();
    else
      kernel.barrier();
  }
  if (plan.sharedStore)
    storeResults(source, tile);
}

/// The ring: slot `s` of turn i is filled again once all warps have left turn
/// i, which the barrier of the next one tells. A group of warps fills a slot
/// that has a piece as soon as it has read it.
void MmaTiles::buildTile(Value tile) {
  if (plan.stream) {
    buildSteps(Value(), tile);
    // The first step of the next tile replaces what the last one reads.
    meetCluster();
    return;
  }
  if (plan.segments) {
    Value slot = tile::WaitOp::create(b, loc, ring, plan.stages - 1);
    kernel.barrier();
    kernel.spread(arguments, slot, tile, kernel.resize(landed, getSizesK()),
                  axes);
    tile::ReleaseOp::create(b, loc, slot);
    kernel.barrier();
    copy(tile, plan.stages);
    return buildSteps(landed, tile);
  }
  int64_t ahead = std::max<int64_t>(plan.stages - 1, 1);
  Value slot = tile::WaitOp::create(b, loc, ring, ahead - 1);
  kernel.barrier();
  if (plan.stages > 1)
    copy(tile, ahead);
  buildSteps(slot, tile);
  tile::ReleaseOp::create(b, loc, slot);
  if (plan.stages > 1)
    return;
  kernel.barrier();
  copy(tile, ahead);
}

void MmaTiles::build() {
  enterOperands();
  begin(plan.threads, plan.cluster);
  allocate();
  for (const MmaStep &step : plan.steps) {
    SmallVector<Value> &factors = kept.emplace_back();
    if (plan.keepsFactors || !step.fitsRegisters)
      factors = prepare(step);
  }
  int64_t ahead =
      plan.segments ? plan.stages : std::max<int64_t>(plan.stages - 1, 1);
  if (plan.stream)
    tile::CopyPiecesOp::create(b, loc, kernel.getArgument(arguments.input),
                               ring, /*factor=*/Value(), /*factorRing=*/Value(),
                               getPieces());
  else
    for (int64_t turn = 0; turn < ahead; ++turn)
      copy(Value(), turn);
  buildLoop([&](Value tile) { buildTile(tile); });
}

LogicalResult kron::tileMma(const TileSource &source) {
  return buildTiles<MmaTiles>(
      source, readMmaPlan(source.fused, source.plan), [&](const MmaPlan &plan) {
        return getMmaMachineReason(plan, source.machine);
      });
}
