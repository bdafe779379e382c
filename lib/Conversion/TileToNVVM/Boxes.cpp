//===- Boxes.cpp - Tiles that are boxes of views --------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where tiles are in global memory, where boxes of threads are in tiles, and
// where these lie in the buffers of a ring along an axis.
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Whether there may be several boxes of `size` along an axis.
static bool isCut(Int axis, int64_t size) {
  return !axis.isConstant() || axis.getConstant() > size;
}

/// Where box number `tile` of `placed` starts in an array. Axes that are cut
/// and follow each other without a gap count as one.
static Int getBoxOffset(KernelBuilder &k, const LoweredView &view, Int tile,
                        const LoweredTile &placed, ArrayRef<unsigned> cut) {
  auto getCount = [&](unsigned axis) {
    return k.ceilDiv(view.sizes[axis], placed.sizes[axis]);
  };
  auto getUnit = [&](unsigned axis) {
    return k.mul(view.array.strides[axis], placed.sizes[axis]);
  };
  Int offset = 0, rest = tile;
  for (size_t inner = cut.size(); inner > 0;) {
    size_t outer = inner - 1;
    Int unit = getUnit(cut[outer]), count = getCount(cut[outer]);
    while (outer > 0 && unit.isConstant() && count.isConstant() &&
           getUnit(cut[outer - 1]).is(unit.getConstant() * count.getConstant()))
      count = k.mul(count, getCount(cut[--outer]));
    if (outer + 1 == inner) {
      Int start = placed.starts[cut[outer]];
      offset = k.add(offset, k.mul(start, view.array.strides[cut[outer]]));
    } else {
      Int number = outer == 0 ? rest : k.rem(rest, count);
      offset = k.add(offset, k.mul(k.extend(number), unit));
    }
    if (outer > 0)
      rest = k.floorDiv(rest, count);
    inner = outer;
  }
  return offset;
}

LoweredTile Lowering::placeTile(Value viewValue, Int tile,
                                ArrayRef<int64_t> sizes) {
  const LoweredView &view = views.at(viewValue);
  LoweredTile placed;
  placed.sizes.assign(sizes.begin(), sizes.end());
  placed.starts.assign(sizes.size(), 0);
  SmallVector<unsigned> cut;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (isCut(view.sizes[axis], size))
      cut.push_back(axis);
  // The outermost axis takes what is left.
  Int rest = tile;
  for (unsigned axis : llvm::reverse(cut)) {
    Int count = k.ceilDiv(view.sizes[axis], sizes[axis]);
    Int number = axis == cut.front() ? rest : k.rem(rest, count);
    placed.starts[axis] = k.mul(k.extend(number), sizes[axis]);
    if (axis != cut.front())
      rest = k.floorDiv(rest, count);
  }
  placed.base =
      view.offset(k, view.array.base, getBoxOffset(k, view, tile, placed, cut));
  return placed;
}

Int Lowering::getGroup() {
  return groups == 1 ? Int(0) : k.floorDiv(k.threadId(), threads / groups);
}

Int Lowering::getThreadOfGroup() {
  return groups == 1 ? k.threadId() : k.rem(k.threadId(), getGroupThreads());
}

Int Lowering::getWarpOfGroup() {
  return groups == 1 ? getLanes().warp
                     : k.rem(getLanes().warp, getGroupThreads() / 32);
}

Int Lowering::getFirstTile(Int count) {
  Int first = k.floorDiv(k.blockId(), cluster * shares);
  Int ctas = k.floorDiv(k.gridSize(), cluster * shares);
  Int own = first;
  // Groups of different CTAs come first: few tiles spread over all SMs.
  if (groups > 1)
    own = k.add(k.mul(ctas, getGroup()), first);
  if (countBits == 64)
    own = k.extend(own);
  // What is left over when CTAs are dealt out takes no tile.
  if (shares > 1)
    own = k.select(k.less(first, ctas), k.materialize(own, countBits),
                   k.materialize(count, countBits));
  return own;
}

Int Lowering::getTileStep() {
  Int ctas = k.floorDiv(k.gridSize(), cluster * shares);
  return k.mul(countBits == 64 ? k.extend(ctas) : ctas, groups);
}

Int Lowering::getTileCount(CopyOp copy) {
  if (copy.getTile())
    return tileCount;
  if (copy.getFill())
    for (ForOp loop : copy->getBlock()->getOps<ForOp>())
      return numbers.at(loop.getTiles());
  Int count = 1;
  SmallVector<int64_t> sizes(copy.getBuffer().getType().getShape());
  // A buffer has the half of a tile that is split.
  if (copy.getSplit())
    sizes[windows.at(copy.getBuffer()).along] *= cluster;
  for (auto [all, size] :
       llvm::zip_equal(views.at(copy.getView()).sizes, sizes))
    if (isCut(all, size))
      count = k.mul(count, k.ceilDiv(all, size));
  return count;
}

Value Lowering::isInside(Value viewValue, const LoweredTile &tile,
                         const Positions &positions) {
  const LoweredView &view = views.at(viewValue);
  Value inside;
  for (auto [axis, size] : llvm::enumerate(tile.sizes)) {
    Int all = view.sizes[axis];
    if (size == 1 || (all.isConstant() && all.getConstant() % size == 0))
      continue;
    Int left = k.sub(all, tile.starts[axis]);
    inside = k.both(inside, k.less(positions[axis], left));
  }
  return inside;
}

// Each address follows from one before: multiples of a stride that is not known
// would be kept in registers.
SmallVector<Value> Lowering::getAddresses(const LoweredView &view,
                                          const LoweredTile &tile,
                                          const BoxPosition &box,
                                          ArrayRef<int64_t> along,
                                          ArrayRef<int64_t> sizes) {
  ArrayRef<Int> strides = view.array.strides;
  Int base = getTileOffset(k, box.base, tile.sizes, strides), more = 0;
  for (auto [position, stride] : llvm::zip_equal(box.more, strides))
    more = k.add(more, k.mul(position, stride));
  SmallVector<Value> addresses;
  std::function<void(ArrayRef<int64_t>, Value)> walk =
      [&](ArrayRef<int64_t> left, Value from) {
        if (left.empty()) {
          addresses.push_back(from);
          return;
        }
        int64_t size = sizes[along.size() - left.size()];
        for (int64_t index = 0; index < size; ++index) {
          if (index)
            from = view.offset(k, from, strides[left.front()]);
          walk(left.drop_front(), from);
        }
      };
  walk(along, view.offset(k, view.offset(k, tile.base, base), more));
  return addresses;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

SmallVector<unsigned> tile::getWalk(std::optional<ArrayRef<int64_t>> order,
                                    size_t rank) {
  SmallVector<unsigned> walk;
  for (unsigned place = rank; place-- > 0;)
    walk.push_back(order ? (*order)[place] : place);
  return walk;
}

/// Fills in where the boxes of `turn` of `loop` are, of which there are
/// `turn.extents` along each axis.
static void placeTurn(Lowering &lowering, ForBoxesOp loop, LoweredTurn &turn) {
  KernelBuilder &k = lowering.k;
  int64_t threads = lowering.threads;
  ArrayRef<int64_t> extents(turn.extents);
  SmallVector<int64_t> none(extents.size(), 0);
  SmallVector<unsigned> walk = getWalk(loop.getOrder(), extents.size());
  ArrayRef<unsigned> order(walk);
  if (loop.getVectors())
    return placeVectors(lowering, loop, turn);
  if (loop.getParts()) {
    // Those across an axis are a known number of its positions apart.
    SmallVector<int64_t> apart(extents);
    std::optional<int64_t> axis = loop.getAxisAcross();
    if (axis)
      apart[*axis] /= int64_t(loop.getTogether());
    for (auto [index, number] : llvm::enumerate(turn.numbers)) {
      Positions base = decodeItem(k, number, apart, order);
      if (axis)
        base[*axis] = k.add(base[*axis], index * apart[*axis]);
      turn.positions.push_back({base, none});
    }
    return;
  }
  // If the threads cover whole axes and a divisor of the next one, a thread's
  // boxes differ by what is known.
  int64_t boxes = turn.numbers.size(), inner = 1;
  unsigned next = 0;
  while (next < order.size() && threads % (inner * extents[order[next]]) == 0)
    inner *= extents[order[next++]];
  int64_t part = threads / inner;
  bool isSplit =
      loop.isOnce(threads) &&
      (next == order.size() ? part == 1 : extents[order[next]] % part == 0);
  if (isSplit) {
    Positions first =
        decodeItem(k, turn.numbers.front(), extents,
                   order.take_front(std::min<size_t>(next + 1, order.size())));
    for (int64_t index = 0; index < boxes; ++index) {
      BoxPosition box{first, none};
      int64_t rest = index * part;
      for (unsigned axis : order.drop_front(next)) {
        box.more[axis] = rest % extents[axis];
        rest /= extents[axis];
      }
      turn.positions.push_back(std::move(box));
    }
    return;
  }
  for (int64_t index = 0; index < boxes; ++index) {
    Int number = turn.numbers[index];
    if (index && turn.valid[index])
      number = k.select(turn.valid[index], k.materialize(number),
                        k.materialize(turn.numbers.front()));
    turn.positions.push_back({decodeItem(k, number, extents, order), none});
  }
}

LoweredTurn &Lowering::placeBoxes(Value boxes, ArrayRef<int64_t> sizes,
                                  ArrayRef<int64_t> along) {
  LoweredTurn &turn = turns[boxes];
  SmallVector<int64_t> extents(sizes);
  for (int64_t axis : along)
    extents[axis] = 1;
  if (turn.positions.empty() || turn.extents != extents) {
    turn.positions.clear();
    turn.extents = extents;
    placeTurn(*this, cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp()),
              turn);
  }
  return turn;
}

Value tile::existsInPart(KernelBuilder &k, const LoweredTurn &turn,
                         int64_t part, int64_t index, Int all) {
  if (all.isConstant() && all.getConstant() % part == 0)
    return nullptr;
  return k.lessOrNull(k.add(k.mul(turn.part, part), index), all);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

WindowPlaces::WindowPlaces(Lowering &lowering, Value buffer)
    : lowering(lowering), window(lowering.windows.find(buffer)->second),
      shape(cast<BufferType>(buffer.getType()).getShape()),
      layout(cast<BufferType>(buffer.getType()).getTileLayout()) {}

/// The slot that `slot`, of less than two rings, is.
Int WindowPlaces::wrap(Int slot) const {
  if (window.stages == window.slotsPerBuffer && slot.isConstant())
    return slot.getConstant() % window.stages;
  return wrapSlot(lowering.k, slot, window.stages);
}

/// The place `offset` elements into the ring. Addresses of shared memory have
/// 32 bits, whatever the width of pointers.
Value WindowPlaces::getPointer(Int offset) const {
  KernelBuilder &k = lowering.k;
  Value base = k.shared(window.begin);
  Int address(
      LLVM::PtrToIntOp::create(k.builder, k.loc, k.builder.getI32Type(), base));
  address = k.add(address, k.mul(offset, lowering.getElementBytes()));
  return LLVM::IntToPtrOp::create(k.builder, k.loc, base.getType(),
                                  address.getValue());
}

Value WindowPlaces::getElement(const Positions &positions) const {
  KernelBuilder &k = lowering.k;
  Int offset = 0;
  for (auto [axis, stride] : llvm::enumerate(layout.strides)) {
    Int position = positions[axis];
    if (axis == window.along)
      position = wrap(k.add(position, window.slot));
    offset = k.add(offset, k.mul(position, stride));
  }
  return getPointer(offset);
}

Value Lowering::getElement(Value buffer, const Positions &positions) {
  if (windows.contains(buffer))
    return WindowPlaces(*this, buffer).getElement(positions);
  TileLayout layout = cast<BufferType>(buffer.getType()).getTileLayout();
  Int index = 0;
  for (auto [position, stride] : llvm::zip_equal(positions, layout.strides))
    index = k.add(index, k.mul(position, stride));
  return getElement(buffers.at(buffer), layout, index);
}

/// Elements of a box, whole along `along`, that lie together and aligned.
int64_t WindowPlaces::getWidth(ArrayRef<int64_t> along) const {
  unsigned axis = along.back();
  if (layout.strides[axis] != 1)
    return 1;
  int64_t width = lowering.getChunk();
  while (shape[axis] % width != 0)
    width /= 2;
  for (unsigned other = 0; other < shape.size(); ++other)
    while (other != axis && shape[other] > 1 &&
           layout.strides[other] % width != 0)
      width /= 2;
  // Vectors start anywhere in a ring along the axis itself, as buffers do.
  while (axis == window.along &&
         (window.slotsPerBuffer % width != 0 || window.stages % width != 0))
    width /= 2;
  return width;
}

void WindowPlaces::forVectors(
    const BoxPosition &box, ArrayRef<int64_t> along,
    function_ref<void(int64_t, int64_t, Value)> body) const {
  KernelBuilder &k = lowering.k;
  bool hasSlots = llvm::is_contained(along, int64_t(window.along));
  Int offset = 0;
  for (auto [axis, stride] : llvm::enumerate(layout.strides))
    if (axis != window.along)
      offset = k.add(offset, k.mul(box.base[axis], stride));
  int64_t slotStride = layout.strides[window.along];
  auto getSlot = [&](Int slot) {
    Int start = k.mul(wrap(k.add(slot, window.slot)), slotStride);
    return getPointer(k.add(offset, start));
  };
  SmallVector<Value> slots;
  if (!hasSlots)
    slots.push_back(
        getSlot(k.add(box.base[window.along], box.more[window.along])));
  else
    for (int64_t slot = 0; slot < shape[window.along]; ++slot)
      slots.push_back(getSlot(slot));
  int64_t known = 0, width = getWidth(along), values = 1;
  for (auto [axis, stride] : llvm::enumerate(layout.strides))
    if (axis != window.along)
      known += box.more[axis] * stride;
  for (int64_t axis : along)
    values *= shape[axis];
  for (int64_t value = 0; value < values; value += width) {
    int64_t place = known, slot = 0, left = value;
    for (int64_t axis : llvm::reverse(along)) {
      int64_t position = left % shape[axis];
      left /= shape[axis];
      if (axis == int64_t(window.along))
        slot = position;
      else
        place += position * layout.strides[axis];
    }
    body(value, width, k.offsetElements(slots[slot], k.element, place));
  }
}
