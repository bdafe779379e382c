//===- Fill.cpp - Copies that fill tiles up with zeros --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Threads copy a tile, some bytes each at a time where everything is aligned,
// else element by element. That is decided when the kernel starts, for what
// only a launch knows; known strides are looked at by the verifier. What lies
// outside of the array becomes zero: it is computed with, but not stored.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Copies per thread that are unrolled.
static constexpr int64_t kMaxUnrolledCopies = 32;
/// The same of single elements for arrays that need not be aligned.
static constexpr int64_t kCompactCopies = 4;
/// Elements that a thread loads before it stores the first one.
static constexpr int64_t kElementsInFlight = 8;
/// Bytes that go together between memory and the second-level cache.
static constexpr int64_t kLineBytes = 128;
/// The fewest bytes that an asynchronous copy has.
static constexpr int64_t kLeastCopyBytes = 4;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

GlobalTile tile::locateTile(Lowering &lowering, Value viewValue,
                            ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes,
                            Int tile, int64_t split) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(viewValue);
  Type type = cast<ViewType>(viewValue.getType()).getElementType();
  int64_t bytes = getBytesOf(type);
  GlobalTile result{view.array.base, type, {}, {}, {}};
  SmallVector<int64_t> steps(view.sizes.size(), 1), dims(view.sizes.size(), -1);
  double span = 0;
  for (auto [dim, axis, size] : llvm::enumerate(axes, sizes)) {
    Int stride = axis < 0 ? Int(0) : view.array.strides[axis];
    result.strides.push_back(stride);
    result.limits.push_back(size);
    result.mayExceed.push_back(false);
    if (stride.isConstant())
      span += double(stride.getConstant()) * size;
    result.isWide |= !stride.isConstant();
    if (axis >= 0) {
      steps[axis] = int64_t(dim) == split ? size * lowering.cluster : size;
      dims[axis] = dim;
    }
  }
  result.isWide |= span * 8 >= double(1u << 31);
  // An axis may end within the only tile of it.
  for (auto [axis, size] : llvm::enumerate(view.sizes))
    if (dims[axis] >= 0 && size.isConstant() &&
        size.getConstant() < steps[axis]) {
      result.mayExceed[dims[axis]] = true;
      result.limits[dims[axis]] = size;
    }
  // Axes that several tiles share.
  SmallVector<unsigned> grid;
  for (auto [axis, size] : llvm::enumerate(view.sizes))
    if (!size.isConstant() || size.getConstant() > steps[axis])
      grid.push_back(axis);
  Int rest = tile;
  for (unsigned axis : llvm::reverse(grid)) {
    Int size = view.sizes[axis], number = rest;
    int64_t step = steps[axis], dim = dims[axis];
    if (axis != grid.front()) {
      // Tiles are counted in as many bits as this one's number has.
      Int count = k.ceilDiv(size, step);
      if (lowering.countBits == 32)
        count = k.truncate(count);
      number = k.rem(rest, count);
      rest = k.floorDiv(rest, count);
    }
    Int position = k.mul(k.extend(number), step);
    if (dim >= 0 && step > 1 &&
        (!size.isConstant() || size.getConstant() % step != 0)) {
      result.mayExceed[dim] = true;
      result.limits[dim] =
          k.truncate(k.min(k.sub(k.extend(size), position), step));
    }
    result.base = k.offsetBytes(
        result.base, k.mul(k.mul(position, view.array.strides[axis]), bytes));
  }
  if (split < 0)
    return result;
  Int first = k.mul(k.clusterRank(), sizes[split]);
  Int offset = result.scale(k, first, result.strides[split]);
  result.base = k.offsetBytes(result.base, k.mul(offset, bytes));
  return result;
}

Value tile::isAligned(Lowering &lowering, ArrayRef<Value> views, int64_t bytes,
                      int64_t axis, int64_t leastBytes) {
  KernelBuilder &k = lowering.k;
  for (IfAlignedOp part : lowering.alignedParts)
    if (bytes <= int64_t(part.getBytes()) &&
        (axis < 0 || axis == int64_t(part.getAxis())) &&
        llvm::all_of(views, [&](Value view) {
          return llvm::is_contained(part.getViews(), view);
        }))
      return nullptr;
  for (const AlignmentTest &test : lowering.alignmentTests)
    if (ArrayRef(test.views) == views && test.bytes == bytes &&
        test.axis == axis)
      return test.holds;
  Int bits = 0;
  for (Value view : views) {
    const StepArray &array = lowering.views.at(view).array;
    int64_t elementBytes =
        std::max(getBytesOf(cast<ViewType>(view.getType()).getElementType()),
                 leastBytes);
    auto addNumber = [&](Int number) {
      if (!number.isConstant())
        bits = k.bitOr(bits, k.mul(number, elementBytes));
    };
    Value address = LLVM::PtrToIntOp::create(
        k.builder, k.loc, k.builder.getI64Type(), array.base);
    bits = k.bitOr(bits, Int(address));
    for (Int stride : array.strides)
      addNumber(stride);
    if (axis >= 0)
      addNumber(lowering.views.at(view).sizes[axis]);
  }
  Value holds = k.equal(k.bitAnd(bits, bytes - 1), 0);
  lowering.alignmentTests.push_back(
      {SmallVector<Value>(views), bytes, axis, holds});
  return holds;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

/// A copy by vectors of some elements.
class TileFill {
public:
  /// `isAlternative`: to one of more elements, which is taken more often.
  TileFill(Lowering &lowering, const FilledCopy &copy, int64_t elements,
           bool isAlternative = false);

  void emit();

private:
  /// One element of less than the fewest bytes of a copy, and where it goes if
  /// it is in the tile (null: it is).
  struct LoadedElement {
    Value value, shared, inTile;
  };

  SmallVector<Int> getPositions(Int number);
  void copyVector(ArrayRef<Int> position, ArrayRef<int64_t> offset,
                  Value inTile = nullptr);
  void copyThroughRegisters();
  void copyRows();
  void copyRounded();
  void copyNumbered(ArrayRef<Int> position, ArrayRef<int64_t> offset,
                    Value inTile);
  bool copyAlong();
  void storeLoaded();

  KernelBuilder &k;
  Int warp;
  const FilledCopy &copy;
  const GlobalTile &from;
  int64_t elements, bytes;
  bool isAlternative;
  unsigned rank;
  SmallVector<unsigned> order;
  /// Vectors along each dimension, in that order, and all.
  SmallVector<int64_t> counts;
  int64_t total = 1;
  /// Loaded, to be stored at the end of a batch, if there is one.
  SmallVector<LoadedElement> loaded;
  bool isBatch = false;
};

} // namespace

TileFill::TileFill(Lowering &lowering, const FilledCopy &copy, int64_t elements,
                   bool isAlternative)
    : k(lowering.k), warp(lowering.getWarpOfGroup()), copy(copy),
      from(copy.from), elements(elements), bytes(getBytesOf(copy.from.type)),
      isAlternative(isAlternative), rank(copy.sizes.size()), order(copy.order) {
  if (elements > 1)
    order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  for (unsigned dim : order) {
    int64_t count = copy.sizes[dim];
    counts.push_back(dim + 1 == rank ? count / elements : count);
    total *= counts.back();
  }
}

SmallVector<Int> TileFill::getPositions(Int number) {
  Positions positions(rank), inOrder = delinearize(k, number, counts);
  for (auto [dim, position] : llvm::zip_equal(order, inOrder))
    positions[dim] = position;
  positions.back() = k.mul(positions.back(), elements);
  return positions;
}

/// What is known of a position is apart, in `offset`.
void TileFill::copyVector(ArrayRef<Int> position, ArrayRef<int64_t> offset,
                          Value inTile) {
  int64_t copyBytes = elements * bytes;
  // Bytes that exist.
  Value valid;
  Int validBytes = copyBytes, source = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    Int here = k.add(position[dim], offset[dim]);
    if (from.mayExceed[dim]) {
      if (dim + 1 == rank && elements > 1)
        validBytes =
            k.min(k.mul(k.sub(from.limits[dim], here), bytes), copyBytes);
      valid = k.both(valid, k.less(here, from.limits[dim]));
    }
    source = k.add(source, from.scale(k, position[dim], from.strides[dim]));
  }
  Value global = k.offsetBytes(from.base, k.mul(source, bytes));
  for (unsigned dim = 0; dim < rank; ++dim)
    global = k.offsetBytes(
        global, k.mul(from.scale(k, offset[dim], from.strides[dim]), bytes));
  if (!copy.to) {
    k.ifThen(k.both(valid, inTile),
             [&] { k.inlinePTX({}, "prefetch.global.L2 [$0];", "l", global); });
    return;
  }
  Int target = copy.to->getOffset(position, 0);
  Value shared = copy.to->getAddress(target, copy.to->getIndex(offset));
  if (copyBytes < kLeastCopyBytes) {
    if (isBatch) {
      loaded.push_back({k.orZero(k.both(valid, inTile), from.type,
                                 [&] {
                                   return k.load(from.type, global,
                                                 CacheHint::ReadOnly);
                                 }),
                        shared, inTile});
      return;
    }
    Value address = valid ? k.select(valid, global, from.base) : global;
    Value value = k.load(from.type, address);
    if (valid)
      value = k.select(valid, value, k.constant(from.type, 0.0));
    k.store(value, shared);
    return;
  }
  Value size;
  if (valid)
    size = k.select(valid, k.materialize(validBytes, 32), k.materialize(0, 32));
  k.ifThen(inTile,
           [&] { k.copyAsync(shared, global, copyBytes, size, copy.lines); });
}

void TileFill::storeLoaded() {
  for (const LoadedElement &own : loaded)
    k.ifThen(own.inTile, [&] { k.store(own.value, own.shared); });
  loaded.clear();
}

/// Whether `threads` consecutive numbers, of which the first is a multiple of
/// that, have the same positions in all but one digit of the mixed radix
/// system. With `byBits`, that digit of threads and of their first number
/// share no bits, as the parts of swizzled indices must.
static bool splitsEvenly(ArrayRef<int64_t> counts, int64_t threads,
                         bool byBits) {
  int64_t inside = 1;
  if (llvm::product_of(counts) % threads != 0)
    return false;
  for (int64_t count : llvm::reverse(counts)) {
    int64_t next = inside * count;
    if (threads % inside == 0 && next % threads == 0)
      return !byBits || llvm::isPowerOf2_64(threads / inside);
    inside = next;
  }
  return false;
}

/// No asynchronous copy is that small: several loads are in flight instead.
void TileFill::copyThroughRegisters() {
  k.rolledLoop(
      copy.thread, total, copy.threads * kElementsInFlight, [&](Int first) {
        SmallVector<Value> values, conditions;
        SmallVector<SmallVector<Int>> places;
        for (int64_t index = 0; index < kElementsInFlight; ++index) {
          Int number = k.add(first, index * copy.threads);
          Value inTile = k.less(number, total);
          number = Int(k.select(inTile, k.materialize(number, 32),
                                k.materialize(0, 32)));
          SmallVector<Int> positions = getPositions(number);
          Value valid = inTile;
          Int source = 0;
          for (unsigned dim = 0; dim < rank; ++dim) {
            if (from.mayExceed[dim])
              valid = k.both(valid, k.less(positions[dim], from.limits[dim]));
            source =
                k.add(source, from.scale(k, positions[dim], from.strides[dim]));
          }
          Value address = k.offsetBytes(from.base, k.mul(source, bytes));
          address = k.select(valid, address, from.base);
          Value value = k.load(from.type, address);
          values.push_back(k.select(valid, value, k.constant(from.type, 0.0)));
          conditions.push_back(inTile);
          places.push_back(positions);
        }
        for (int64_t index = 0; index < kElementsInFlight; ++index)
          k.ifThen(conditions[index], [&] {
            k.store(
                values[index],
                copy.to->getAddress(copy.to->getOffset(places[index], 0), 0));
          });
      });
  k.syncWarp();
}

/// The same, by the number of the vector in its row.
void TileFill::copyNumbered(ArrayRef<Int> position, ArrayRef<int64_t> offset,
                            Value inTile) {
  SmallVector<Int> positions(position);
  SmallVector<int64_t> offsets(offset);
  positions.back() = k.mul(positions.back(), elements);
  offsets.back() *= elements;
  copyVector(positions, offsets, inTile);
}

void TileFill::copyRounded() {
  isBatch = true;
  // Of vectors.
  SmallVector<int64_t> sizes(copy.sizes);
  sizes.back() /= elements;
  TileSharing sharing(k, sizes, order, copy.threads, copy.thread);
  if (elements == 1)
    sharing.round();
  sharing.forEach(
      isAlternative ? kCompactCopies : kMaxUnrolledCopies,
      [&](ArrayRef<Int> position, ArrayRef<int64_t> offset, Value inTile) {
        copyNumbered(position, offset, inTile);
      },
      [&] { storeLoaded(); });
}

/// Whether threads walk along a dimension of the tile.
bool TileFill::copyAlong() {
  if (!copy.to->layout.swizzles.empty())
    return false;
  SmallVector<int64_t> sizes(copy.sizes);
  sizes.back() /= elements;
  TileSharing sharing(k, sizes, order, copy.threads, copy.thread);
  bool isDone = sharing.walk(
      isAlternative ? kCompactCopies : kMaxUnrolledCopies,
      [&](ArrayRef<Int> position, ArrayRef<int64_t> offset, Value inTile) {
        copyNumbered(position, offset, inTile);
      },
      [] {});
  if (isDone)
    k.syncWarp();
  return isDone;
}

void TileFill::emit() {
  if (copy.rounded)
    return copyRounded();
  if (elements * bytes < kLeastCopyBytes && !copy.ofGroup)
    return copyThroughRegisters();
  int64_t perThread = llvm::divideCeil(total, copy.threads);
  if (splitsEvenly(counts, copy.threads, !copy.to->layout.swizzles.empty()) &&
      perThread <= kMaxUnrolledCopies) {
    SmallVector<Int> positions = getPositions(copy.thread);
    for (int64_t index = 0; index < perThread; ++index) {
      SmallVector<int64_t> offset;
      for (Int digit : getPositions(index * copy.threads))
        offset.push_back(digit.getConstant());
      copyVector(positions, offset);
    }
    return;
  }
  if (copyAlong())
    return;
  if (!copy.ofGroup)
    return copyRows();
  SmallVector<int64_t> none(rank, 0);
  k.rolledLoop(0, total, copy.threads, [&](Int first) {
    Int number = k.add(first, copy.thread);
    Value exists = total % copy.threads == 0 ? Value() : k.less(number, total);
    k.ifThen(exists, [&] { copyVector(getPositions(number), none); });
  });
  k.syncWarp();
}

/// A warp copies rows of the dimension that comes last in `order`, or several
/// short ones at a time: positions are worked out once per row.
void TileFill::copyRows() {
  unsigned rowDim = order.back();
  int64_t perCopy = rowDim + 1 == rank ? elements : 1;
  int64_t copies = copy.sizes[rowDim] / perCopy;
  int64_t lanes = std::min<int64_t>(32, llvm::PowerOf2Ceil(copies));
  auto outside = llvm::to_vector(llvm::drop_begin(llvm::reverse(order)));
  int64_t rows = llvm::product_of(copy.sizes) / copy.sizes[rowDim];
  int64_t rowsAtOnce = copy.threads / lanes;
  Int laneRow = k.add(k.mul(warp, 32 / lanes), k.floorDiv(k.laneId(), lanes));
  Int lane = k.rem(k.laneId(), lanes);
  SmallVector<int64_t> none(rank, 0);
  k.rolledLoop(0, rows, rowsAtOnce, [&](Int first) {
    Int row = k.add(first, laneRow);
    Value rowExists = rows % rowsAtOnce == 0 ? Value() : k.less(row, rows);
    Positions positions = decodeItem(k, row, copy.sizes, outside);
    for (int64_t begin = 0; begin < copies; begin += lanes) {
      Int number = k.add(lane, begin);
      Value exists = rowExists;
      if (begin + lanes > copies)
        exists = k.both(exists, k.less(number, copies));
      positions[rowDim] = k.mul(number, perCopy);
      k.ifThen(exists, [&] { copyVector(positions, none); });
    }
  });
  // Lanes that skip the last copy must not run ahead: ptxas 13.0 lets them
  // overwrite uniform registers that the others still use.
  k.syncWarp();
}

void tile::lower(Lowering &lowering, PrefetchOp op) {
  KernelBuilder &k = lowering.k;
  Int tile = k.add(lowering.numbers.at(op.getTile()), lowering.step);
  k.ifThen(k.less(tile, lowering.tileCount), [&] {
    GlobalTile from =
        locateTile(lowering, op.getView(), op.getBox(), op.getAxes(), tile);
    int64_t line = kLineBytes / getBytesOf(from.type), elements = 1;
    SmallVector<int64_t> sizes(op.getBox());
    for (auto [dim, stride] : llvm::enumerate(from.strides)) {
      if (!stride.is(1))
        continue;
      if (dim + 1 == sizes.size())
        sizes[dim] =
            llvm::alignTo(sizes[dim], elements = std::min(line, sizes[dim]));
      else if (sizes[dim] <= line)
        sizes[dim] = 1;
    }
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
    FilledCopy copy{from,
                    /*to=*/nullptr,
                    sizes,
                    order,
                    elements * getBytesOf(from.type),
                    lowering.getGroupThreads(),
                    lowering.getThreadOfGroup(),
                    /*ofGroup=*/true,
                    /*lines=*/false,
                    /*rounded=*/true};
    TileFill(lowering, copy, elements).emit();
  });
}

void tile::emitFilledCopy(Lowering &lowering, const FilledCopy &copy,
                          Value isAligned) {
  int64_t elements = copy.bytes / getBytesOf(copy.from.type);
  while (copy.sizes.back() % elements != 0)
    elements /= 2;
  if (elements == 1)
    return TileFill(lowering, copy, 1).emit();
  lowering.k.choose(
      isAligned, [&] { TileFill(lowering, copy, elements).emit(); },
      [&] { TileFill(lowering, copy, 1, /*isAlternative=*/true).emit(); });
}

void tile::fillTile(Lowering &lowering, CopyOp op, Int tile) {
  KernelBuilder &k = lowering.k;
  BufferType buffer = op.getBuffer().getType();
  Value aligned, exists;
  // Segments may start anywhere.
  if (int64_t(op.getBytes()) > buffer.getElementBytes())
    aligned = isAligned(lowering, {op.getView()}, op.getBytes(), /*axis=*/-1,
                        /*leastBytes=*/op.getBox() ? op.getBytes() : 1);
  // There are no more CTAs than tiles, but groups, and CTAs that are left over
  // where several share a tile.
  if (op.getAhead() ||
      (!op.getTile() && (lowering.groups > 1 || lowering.shares > 1)))
    exists = k.less(tile, lowering.getTileCount(op));
  k.ifThen(exists, [&] {
    if (op.getBox())
      return copySegments(lowering, op, tile, aligned);
    GlobalTile from = locateTile(lowering, op.getView(), buffer.getShape(),
                                 *op.getAxes(), tile);
    SharedTile to(k, buffer, lowering.buffers.at(op.getBuffer()));
    SmallVector<unsigned> order =
        llvm::to_vector(llvm::seq<unsigned>(0, buffer.getShape().size()));
    if (op.getOrder())
      order.assign(op.getOrder()->begin(), op.getOrder()->end());
    emitFilledCopy(lowering,
                   {from, &to, SmallVector<int64_t>(buffer.getShape()), order,
                    static_cast<int64_t>(op.getBytes()),
                    lowering.getGroupThreads(), lowering.getThreadOfGroup(),
                    /*ofGroup=*/false, op.getLines(), op.getRounded()},
                   aligned);
  });
}
