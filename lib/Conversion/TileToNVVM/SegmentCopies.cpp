//===- SegmentCopies.cpp - Tiles that lie at any address ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// tile.copy with a box, and tile.spread. A copy takes as long whatever it
// moves, and has 4 bytes or more. So segments that start at no multiple of 16
// bytes come from the one in front of them on, together with what stands there
// if that is of the array; elements are brought to their places in shared
// memory once they are there. Results of 16 bits leave as pairs that lie at
// multiples of 4 bytes, though they may be of different rows.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Copies, and elements, per thread that are written out.
static constexpr int64_t kUnrolledChunks = 8, kUnrolledElements = 32;
/// Elements that a thread loads before it stores the first one.
static constexpr int64_t kElementsInFlight = 8;
/// Pairs of results that a thread stores in a turn of a loop.
static constexpr int64_t kPairsTogether = 8;

namespace {

/// A tile of a view, and the slot that its segments are in.
class SegmentBox {
public:
  SegmentBox(Lowering &lowering, Value view, ArrayRef<int64_t> sizes,
             ArrayRef<int64_t> axes, Int tile, Int slot);

  void copyChunks(bool lines);
  void copyElements();
  int64_t getSpreadTogether(const SharedTile &to) const;
  void spread(const SharedTile &to);
  /// Whether all between a segment and the multiple of 16 bytes in front of it
  /// is of the array `view`, which starts at such a multiple: rows have no gaps
  /// between them, or start at multiples too. Null: it is.
  Value hasOwnFronts(const LoweredView &view, ArrayRef<int64_t> axes) const;
  /// Stores what `source` has, times alpha.
  void store(const SharedTile &source, const KernelScale &alpha);

private:
  /// A segment: bytes from the tile's first element to its own, from the
  /// multiple of 16 bytes in front of it to that, and whether it exists (null:
  /// it does).
  struct Segment {
    Int number, start, shift;
    Value exists;
  };

  /// Results that are neighbours, and whether they exist.
  struct Stored {
    SmallVector<Value, 2> sums;
    Value exists, address;
  };

  Segment getSegment(ArrayRef<Int> position);
  Segment getSegment(Int number);
  /// Byte offset in shared memory of where a segment's first chunk is.
  Int getPlace(const Segment &segment) const {
    return k.add(slot, k.mul(segment.number, segments.room * bytes));
  }
  /// Elements of a segment that exist.
  Int getElements() const;
  std::pair<Int, Int> getPlaces(const SharedTile &tile, Int segment,
                                Int element) const;
  std::pair<Segment, Int> getItem(Int item, int64_t perSegment);
  Int getOdd(const Segment &segment);
  Stored loadPair(const SharedTile &source, Int item);
  Stored loadEdge(const SharedTile &source, Int item);

  Lowering &lowering;
  KernelBuilder &k;
  SmallVector<int64_t> sizes;
  GlobalTile from;
  BoxSegments segments;
  Int slot;
  int64_t bytes, threads;
};

} // namespace

SegmentBox::SegmentBox(Lowering &lowering, Value view, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> axes, Int tile, Int slot)
    : lowering(lowering), k(lowering.k), sizes(sizes),
      from(locateTile(lowering, view, sizes, axes, tile)),
      segments(*getBoxSegments(cast<ViewType>(view.getType()), axes, sizes)),
      slot(slot), bytes(getBytesOf(from.type)),
      threads(lowering.getGroupThreads()) {}

/// The segment at `position` along the dimensions outside of it.
SegmentBox::Segment SegmentBox::getSegment(ArrayRef<Int> position) {
  Segment segment{0, 0, 0, nullptr};
  int64_t inside = 1;
  for (unsigned dim = segments.inner; dim-- > 0; inside *= sizes[dim]) {
    Int own = position[dim];
    segment.number = k.add(segment.number, k.mul(own, inside));
    segment.start = k.add(segment.start, from.scale(k, own, from.strides[dim]));
    if (from.mayExceed[dim])
      segment.exists = k.both(segment.exists, k.less(own, from.limits[dim]));
  }
  segment.start = k.mul(segment.start, bytes);
  Int address = k.truncate(Int(LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI64Type(), from.base)));
  segment.shift = k.bitAnd(k.add(address, k.truncate(segment.start)),
                           kSegmentChunkBytes - 1);
  return segment;
}

SegmentBox::Segment SegmentBox::getSegment(Int number) {
  return getSegment(
      delinearize(k, number, ArrayRef(sizes).take_front(segments.inner)));
}

/// Only the outermost dimension of a segment may end within a tile.
Int SegmentBox::getElements() const {
  unsigned outer = segments.inner;
  while (sizes[outer] == 1 && outer + 1 < sizes.size())
    ++outer;
  if (!from.mayExceed[outer])
    return segments.elements;
  return k.mul(from.limits[outer], segments.elements / sizes[outer]);
}

Value SegmentBox::hasOwnFronts(const LoweredView &view,
                               ArrayRef<int64_t> axes) const {
  ArrayRef<Int> strides = view.array.strides;
  // From the innermost to the outermost, which are those that only a launch
  // knows.
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, strides.size()));
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    Int own = strides[lhs], other = strides[rhs];
    if (own.isConstant() != other.isConstant())
      return own.isConstant();
    if (own.isConstant() && own != other)
      return own.getConstant() < other.getConstant();
    return lhs > rhs;
  });
  ArrayRef<int64_t> ofSegment = axes.drop_front(segments.inner);
  Int bits = 0, gaps = 0, dense = 1, size = 1;
  for (unsigned axis : order) {
    if (view.sizes[axis].is(1))
      continue;
    dense = k.mul(dense, size);
    gaps = k.bitOr(gaps, k.bitXor(strides[axis], dense));
    if (!llvm::is_contained(ofSegment, int64_t(axis)))
      bits = k.bitOr(bits, k.mul(strides[axis], bytes));
    size = view.sizes[axis];
  }
  bits = k.bitAnd(bits, kSegmentChunkBytes - 1);
  if (gaps.is(0) || bits.is(0))
    return nullptr;
  return arith::OrIOp::create(k.builder, k.loc, k.equal(gaps, 0),
                              k.equal(bits, 0));
}

/// What is behind a segment is not read: the array may end there.
void SegmentBox::copyChunks(bool lines) {
  int64_t perSegment = segments.room * bytes / kSegmentChunkBytes;
  int64_t total = segments.count * perSegment;
  Int existing = k.mul(getElements(), bytes),
      thread = lowering.getThreadOfGroup();
  auto copy = [&](Int item) {
    Segment segment = getSegment(k.floorDiv(item, perSegment));
    Int first = k.mul(k.rem(item, perSegment), kSegmentChunkBytes);
    Int left = k.sub(k.add(segment.shift, existing), first);
    Value exists = k.both(segment.exists, k.less(0, left));
    Value valid =
        k.select(exists, k.materialize(k.min(left, kSegmentChunkBytes), 32),
                 k.materialize(0, 32));
    Value global = k.offsetBytes(k.offsetBytes(from.base, segment.start),
                                 k.sub(first, segment.shift));
    k.copyAsync(k.shared(k.add(getPlace(segment), first)), global,
                kSegmentChunkBytes, valid, lines);
  };
  auto copyOwn = [&](Int first) {
    Int item = k.add(first, thread);
    k.ifThen(k.less(item, total), [&] { copy(item); });
  };
  if (total <= kUnrolledChunks * threads)
    for (int64_t first = 0; first < total; first += threads)
      copyOwn(first);
  else
    k.rolledLoop(0, total, threads, copyOwn);
  k.syncWarp();
}

/// The same where nothing in front of a segment may be read.
void SegmentBox::copyElements() {
  int64_t total = segments.count * segments.elements;
  Int existing = getElements(), thread = lowering.getThreadOfGroup();
  k.rolledLoop(0, total, threads * kElementsInFlight, [&](Int first) {
    SmallVector<std::pair<Value, Value>> loaded;
    SmallVector<Value> inTile;
    for (int64_t index = 0; index < kElementsInFlight; ++index) {
      Int item = k.add(k.add(first, thread), index * threads);
      inTile.push_back(k.less(item, total));
      Segment segment = getSegment(k.floorDiv(item, segments.elements));
      Int element = k.rem(item, segments.elements);
      Value exists = k.both(k.both(inTile.back(), segment.exists),
                            k.less(element, existing));
      Int behind = k.mul(element, bytes);
      Value value = k.orZero(exists, from.type, [&] {
        return k.load(
            from.type,
            k.offsetBytes(k.offsetBytes(from.base, segment.start), behind));
      });
      Int place = k.add(k.add(getPlace(segment), segment.shift), behind);
      loaded.push_back({value, k.shared(place)});
    }
    for (auto [own, isInside] : llvm::zip_equal(loaded, inTile))
      k.ifThen(isInside, [&, value = own.first, place = own.second] {
        k.store(value, place);
      });
  });
  k.syncWarp();
}

/// How many neighbours along the innermost dimension, of elements of 2 bytes,
/// are stored together in `to`, at a multiple of 4 bytes: two, if there is room
/// for a zero behind an odd number of them.
int64_t SegmentBox::getSpreadTogether(const SharedTile &to) const {
  const TileLayout &layout = to.layout;
  if (bytes != 2 || sizes.back() == 1 || layout.strides.back() != 1)
    return 1;
  for (TileLayout::Swizzle swizzle : layout.swizzles)
    if (swizzle.from == 0 || swizzle.to == 0)
      return 1;
  int64_t room = llvm::alignTo(sizes.back(), 2);
  for (unsigned dim = sizes.size() - 1; dim-- > 0;) {
    if (sizes[dim] == 1)
      continue;
    if (layout.strides[dim] < room || layout.strides[dim] % 2 != 0)
      return 1;
    room = layout.strides[dim] * sizes[dim];
  }
  return 2;
}

void SegmentBox::spread(const SharedTile &to) {
  int64_t together = getSpreadTogether(to);
  SmallVector<int64_t> items(sizes);
  items.back() = llvm::divideCeil(items.back(), together);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  TileSharing sharing(k, items, order, threads, lowering.getThreadOfGroup());
  sharing.round();
  struct Element {
    SmallVector<Value, 2> values;
    Value place, inTile;
  };
  SmallVector<Element> elements;
  auto store = [&] {
    for (const Element &own : elements)
      k.ifThen(own.inTile, [&] {
        k.store(own.values.size() == 1 ? own.values.front()
                                       : k.makeVector(own.values),
                own.place);
      });
    elements.clear();
  };
  auto load = [&](ArrayRef<Int> item, ArrayRef<int64_t> itemOffset,
                  Value inTile) {
    SmallVector<Int> position(item);
    SmallVector<int64_t> offset(itemOffset);
    position.back() = k.mul(position.back(), together);
    offset.back() *= together;
    SmallVector<Int> outer;
    for (unsigned dim = 0; dim < segments.inner; ++dim)
      outer.push_back(k.add(position[dim], offset[dim]));
    Segment segment = getSegment(outer);
    Int behind = 0;
    int64_t known = 0, inside = 1;
    for (unsigned dim = sizes.size(); dim-- > segments.inner;
         inside *= sizes[dim]) {
      behind = k.add(behind, k.mul(position[dim], inside));
      known += offset[dim] * inside;
    }
    Int place =
        k.add(k.add(getPlace(segment), segment.shift), k.mul(behind, bytes));
    Element own{{},
                to.getAddress(to.getOffset(position, 0), to.getIndex(offset)),
                inTile};
    for (int64_t index = 0; index < together; ++index) {
      Value exists = inTile;
      if (index > 0 && sizes.back() % together != 0)
        exists = k.both(exists, k.less(k.add(position.back(), offset.back()),
                                       sizes.back() - index));
      own.values.push_back(k.orZero(exists, from.type, [&] {
        return k.load(from.type,
                      k.offsetBytes(k.shared(place), (known + index) * bytes));
      }));
    }
    elements.push_back(own);
    if (elements.size() == kElementsInFlight)
      store();
  };
  sharing.forEach(kUnrolledElements, load, store);
}

/// Byte offsets in `tile` of an element of a segment and of the one behind it.
std::pair<Int, Int> SegmentBox::getPlaces(const SharedTile &tile, Int segment,
                                          Int element) const {
  auto all = ArrayRef(sizes);
  Positions position = delinearize(k, segment, all.take_front(segments.inner));
  llvm::append_range(position,
                     delinearize(k, element, all.drop_front(segments.inner)));
  Positions behind = position;
  Value carries;
  for (unsigned dim = sizes.size(); dim-- > segments.inner;) {
    Int next = k.add(position[dim], 1);
    if (carries)
      next = Int(k.select(carries, k.materialize(next, 32),
                          k.materialize(position[dim], 32)));
    carries = k.equal(next, sizes[dim]);
    behind[dim] = dim == segments.inner
                      ? next
                      : Int(k.select(carries, k.materialize(0, 32),
                                     k.materialize(next, 32)));
  }
  return {tile.getOffset(position, 0), tile.getOffset(behind, 0)};
}

/// Item number `item` of `perSegment` ones of each segment: which segment that
/// is, and its number there.
std::pair<SegmentBox::Segment, Int> SegmentBox::getItem(Int item,
                                                        int64_t perSegment) {
  if (segments.count == 1)
    return {getSegment(Int(0)), item};
  return {getSegment(k.floorDiv(item, perSegment)), k.rem(item, perSegment)};
}

/// How many elements of a segment are in front of its first pair: none or one.
Int SegmentBox::getOdd(const Segment &segment) {
  return k.bitAnd(k.floorDiv(segment.shift, bytes), 1);
}

SegmentBox::Stored SegmentBox::loadPair(const SharedTile &source, Int item) {
  auto [segment, number] = getItem(item, segments.elements / 2);
  Int first = k.add(k.mul(number, 2), getOdd(segment));
  Int last = getElements();
  // What is loaded is in the tile, whether it is stored or not.
  auto [place, next] =
      getPlaces(source, segment.number, k.min(first, segments.elements - 2));
  Stored pair;
  pair.sums = {k.load(source.type, k.shared(place)),
               k.load(source.type, k.shared(next))};
  pair.exists = k.both(segment.exists, k.less(k.add(first, 1), last));
  pair.address =
      k.offsetBytes(from.base, k.add(segment.start, k.mul(first, bytes)));
  return pair;
}

/// The element in front of the pairs of a segment, or (`item` is odd) that
/// behind them.
SegmentBox::Stored SegmentBox::loadEdge(const SharedTile &source, Int item) {
  Segment segment = getSegment(k.floorDiv(item, 2));
  Int odd = getOdd(segment), last = k.sub(getElements(), 1);
  Value isLast = k.equal(k.rem(item, 2), 1);
  // The last one has no pair if there is an even number in front of it that
  // have.
  Int isPaired = k.bitAnd(k.add(last, odd), 1);
  Int isFirstPaired = k.sub(1, odd);
  Value exists = k.equal(Int(k.select(isLast, k.materialize(isPaired, 32),
                                      k.materialize(isFirstPaired, 32))),
                         0);
  Int element =
      Int(k.select(isLast, k.materialize(last, 32), k.materialize(0, 32)));
  Stored edge;
  edge.sums = {k.load(
      source.type, k.shared(getPlaces(source, segment.number, element).first))};
  edge.exists = k.both(segment.exists, exists);
  edge.address =
      k.offsetBytes(from.base, k.add(segment.start, k.mul(element, bytes)));
  return edge;
}

void SegmentBox::store(const SharedTile &source, const KernelScale &alpha) {
  Int thread = lowering.getThreadOfGroup();
  auto storeAll = [&](int64_t total, function_ref<Stored(Int)> load) {
    int64_t perThread = llvm::divideCeil(total, threads);
    int64_t turns = llvm::divideCeil(perThread, kPairsTogether);
    int64_t together = llvm::divideCeil(perThread, turns);
    k.rolledLoop(0, total, threads * together, [&](Int begin) {
      SmallVector<Stored> loaded;
      for (int64_t index = 0; index < together; ++index) {
        Int item = k.add(k.add(begin, thread), index * threads);
        loaded.push_back(load(k.min(item, total - 1)));
        loaded.back().exists =
            k.both(loaded.back().exists, k.less(item, total));
      }
      for (const Stored &own : loaded)
        k.ifThen(own.exists, [&] {
          storeSums(lowering, alpha, KernelScale(), from.type, own.sums,
                    own.address, Value());
        });
    });
  };
  storeAll(segments.count * (segments.elements / 2),
           [&](Int item) { return loadPair(source, item); });
  storeAll(2 * segments.count,
           [&](Int item) { return loadEdge(source, item); });
  k.syncWarp();
}

bool tile::storeSegments(Lowering &lowering, StoreOp op) {
  auto type = cast<BufferType>(op.getSource().getType());
  ViewType view = op.getView().getType();
  if (op.getAddend() || getBytesOf(view.getElementType()) != 2 ||
      !getBoxSegments(view, *op.getAxes(), type.getShape()))
    return false;
  SegmentBox box(lowering, op.getView(), type.getShape(), *op.getAxes(),
                 lowering.numbers.at(op.getTile()), /*slot=*/0);
  box.store(SharedTile(lowering.k, type, lowering.buffers.at(op.getSource())),
            getScale(lowering, op.getAlpha()));
  return true;
}

void tile::copySegments(Lowering &lowering, CopyOp op, Int tile,
                        Value isAligned) {
  SegmentBox box(lowering, op.getView(), *op.getBox(), *op.getAxes(), tile,
                 lowering.buffers.at(op.getBuffer()));
  Value ownsFronts =
      box.hasOwnFronts(lowering.views.at(op.getView()), *op.getAxes());
  lowering.k.choose(
      lowering.k.both(isAligned, ownsFronts),
      [&] { box.copyChunks(op.getLines()); }, [&] { box.copyElements(); });
}

void tile::lower(Lowering &lowering, SpreadOp op) {
  SegmentBox box(lowering, op.getView(), op.getBuffer().getType().getShape(),
                 op.getAxes(), lowering.numbers.at(op.getTile()),
                 lowering.buffers.at(op.getSlot()));
  box.spread(SharedTile(lowering.k, op.getBuffer().getType(),
                        lowering.buffers.at(op.getBuffer())));
}
