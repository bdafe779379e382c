//===- Pairs.cpp - tile.pairs and tile.map --------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows of both tiles come to shared memory some positions of K at a time, as
// they lie in global memory where that is along K: threads read neighbouring
// positions of a row at once, and rows lie an odd number of 16 bytes apart, so
// that rows of neighbouring threads are in other banks.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/CodeGen/Triangle.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void tile::lower(Lowering &lowering, PlaceOp op) {
  // The loop has asked where a triangle's box is.
  if (!op.getTriangle())
    lowering.places[op.getPlace()] = lowering.placeTile(
        op.getView(), lowering.numbers.at(op.getTile()), op.getBox());
}

Value tile::placeTriangle(Lowering &lowering, PlaceOp op) {
  KernelBuilder &k = lowering.k;
  const LoweredView &view = lowering.views.at(op.getView());
  ArrayRef<int64_t> box = op.getBox();
  size_t batchRank = box.size() - 2;
  LoweredTile placed;
  placed.sizes.assign(box.begin(), box.end());
  placed.starts.assign(box.size(), 0);
  Triangle triangle(k, view.sizes[batchRank], box[batchRank],
                    box[batchRank + 1]);
  Int rest = lowering.numbers.at(op.getTile());
  Int number = rest;
  bool hasBatch = llvm::any_of(ArrayRef(view.sizes).take_front(batchRank),
                               [](Int size) { return !size.is(1); });
  if (hasBatch) {
    number = k.rem(rest, triangle.getCount());
    rest = k.floorDiv(rest, triangle.getCount());
  }
  Triangle::Box found = triangle.getSpreadBox(number, hasBatch ? rest : Int(0));
  placed.starts[batchRank] = k.mul(k.extend(found.row), box[batchRank]);
  placed.starts[batchRank + 1] =
      k.mul(k.extend(found.column), box[batchRank + 1]);
  for (size_t axis = batchRank; hasBatch && axis-- > 0;) {
    placed.starts[axis] = k.extend(k.rem(rest, view.sizes[axis]));
    rest = k.floorDiv(rest, view.sizes[axis]);
  }
  lowering.places[op.getPlace()] = placed;
  return found.exists;
}

Value tile::getBatch(Lowering &lowering, Value view, Value place,
                     size_t innerRank) {
  KernelBuilder &k = lowering.k;
  const LoweredView &array = lowering.views.at(view);
  ArrayRef<Int> starts = lowering.places.at(place).starts;
  size_t batchRank = array.sizes.size() - innerRank;
  starts = starts.drop_back(2).take_back(batchRank);
  Int offset = 0;
  for (auto [start, stride] : llvm::zip_equal(
           starts, ArrayRef(array.array.strides).take_front(batchRank)))
    offset = k.add(offset, k.mul(k.extend(start), k.extend(stride)));
  return k.offsetElements(array.array.base,
                          cast<ViewType>(view.getType()).getElementType(),
                          offset);
}

void tile::lower(Lowering &lowering, LoadScalarOp op) {
  Value pointer =
      getBatch(lowering, op.getView(), op.getPlace(), /*innerRank=*/0);
  lowering.scalars[op.getValue()] =
      lowering.k.load(op.getValue().getType(), pointer, CacheHint::ReadOnly);
}

ThreadGrid::ThreadGrid(Lowering &lowering, int64_t lanes, FragmentType fragment)
    : lanes(lanes), groups(lowering.threads / lanes),
      ofAtom(fragment.getAtom() != AtomKind::Fma),
      ofWarpgroup(fragment.getAtom() == AtomKind::WgmmaHalf) {
  KernelBuilder &k = lowering.k;
  if (!ofAtom) {
    row = k.floorDiv(k.threadId(), lanes);
    column = k.rem(k.threadId(), lanes);
    return;
  }
  Int warp = k.warpId(), lane = k.laneId();
  if (ofWarpgroup) {
    row = k.add(k.add(k.mul(k.floorDiv(warp, 4), 32 * fragment.getShape()[1]),
                      k.mul(k.rem(warp, 4), 16)),
                k.floorDiv(lane, 4));
    column = k.mul(k.rem(lane, 4), 2);
    return;
  }
  int64_t across = lanes / 4;
  row = k.add(k.mul(k.floorDiv(warp, across), 8 * fragment.getShape()[1]),
              k.floorDiv(lane, 4));
  column = k.add(k.mul(k.rem(warp, across), 4 * fragment.getShape()[2]),
                 k.mul(k.rem(lane, 4), 2));
}

//===----------------------------------------------------------------------===//
// Rows on their way to shared memory
//===----------------------------------------------------------------------===//

PairSide tile::getPairSide(Lowering &lowering, Value view, Value place,
                           Value ring, Int firstRow, int64_t rows) {
  KernelBuilder &k = lowering.k;
  const LoweredView &array = lowering.views.at(view);
  ArrayRef<Int> strides = ArrayRef(array.array.strides).take_back(2);
  const LoweredRing &lowered = lowering.rings[ring];
  BufferType buffer = cast<RingType>(ring.getType()).getBuffer();
  PairSide side;
  side.element = array.element;
  side.rows = rows;
  side.rowStride = strides[0];
  side.strideK = strides[1];
  side.begin = lowered.begin;
  side.slotBytes = lowered.slotBytes;
  side.pitch = buffer.getTileLayout().strides[0] * buffer.getElementBytes();
  Int size = array.sizes[array.sizes.size() - 2];
  side.present = k.truncate(k.min(k.sub(size, firstRow), side.rows));
  Value batch = getBatch(lowering, view, place, /*innerRank=*/2);
  side.base = k.offsetElements(batch, side.element,
                               k.mul(k.extend(firstRow), k.extend(strides[0])));
  return side;
}

Int tile::getFirstColumn(Lowering &lowering, Value place, Value block,
                         int64_t columns) {
  if (!block)
    return lowering.places.at(place).starts.back();
  KernelBuilder &k = lowering.k;
  return k.mul(k.extend(lowering.numbers.at(block)), columns);
}

Value tile::needsRows(Lowering &lowering, Value place, Value block, Int steps,
                      int64_t stages) {
  if (!block || !steps.isConstant() || steps.getConstant() > stages)
    return nullptr;
  KernelBuilder &k = lowering.k;
  Operation *parent = block.getParentBlock()->getParentOp();
  Value blocks = isa<ForPairsOp>(parent)
                     ? cast<ForPairsOp>(parent).getBlocks()
                     : cast<ForGradientsOp>(parent).getBlocks();
  Int first = k.mul(k.extend(lowering.places.at(place).starts.front()),
                    lowering.numbers.at(blocks));
  return k.equal(k.extend(lowering.numbers.at(block)), first);
}

Int tile::getRowChunk(KernelBuilder &k, Int row, Int chunk) {
  return k.bitXor(chunk, k.bitAnd(k.floorDiv(row, 2), 3));
}

void tile::copyRowChunks(Lowering &lowering, const PairSide &side, Int thread,
                         Int position, Int slot, Int sizeK, int64_t stepK,
                         bool exchanges, bool swapsPairs) {
  KernelBuilder &k = lowering.k;
  int64_t bytes = kron::getElementBytes(side.element);
  int64_t perRow = stepK * bytes / 16, chunk = 16 / bytes;
  int64_t count = side.rows * perRow;
  auto copyOne = [&](Int item) {
    Int row = k.floorDiv(item, perRow), piece = k.rem(item, perRow);
    Int first = k.add(position, k.mul(piece, chunk));
    Value exists = k.both(k.less(row, side.present), k.less(first, sizeK));
    int64_t together = swapsPairs ? 4 : 16;
    Value valid =
        k.select(exists, k.materialize(together, 32), k.materialize(0, 32));
    Int offset =
        k.add(k.mul(k.extend(row), k.extend(side.rowStride)), k.extend(first));
    // No address beyond the array, even where nothing is read.
    Value safe =
        k.select(exists, k.materialize(offset, 64), k.materialize(0, 64));
    if (exchanges)
      piece = getRowChunk(k, row, piece);
    Int place = k.add(k.add(slot, k.mul(row, side.pitch)), k.mul(piece, 16));
    Value from = k.offsetElements(side.base, side.element, Int(safe));
    for (int64_t behind = 0; behind < 16; behind += together)
      k.copyAsync(
          k.offsetBytes(k.shared(place), swapsPairs ? behind ^ 4 : behind),
          k.offsetBytes(from, behind), together, valid);
  };
  for (int64_t begin = 0; begin < count; begin += lowering.threads) {
    Int item = k.add(thread, begin);
    k.ifThen(begin + lowering.threads > count ? k.less(item, count) : Value(),
             [&] { copyOne(item); });
  }
}

void tile::copyItems(Lowering &lowering, int64_t count, Int begin,
                     int64_t pitch, int64_t bytes,
                     function_ref<std::pair<Value, Value>(Int)> find) {
  KernelBuilder &k = lowering.k;
  for (int64_t first = 0; first < count; first += lowering.threads) {
    Int item = k.add(readThreadId(k), first);
    bool mayEnd = first + lowering.threads > count;
    k.ifThen(mayEnd ? k.less(item, count) : Value(), [&] {
      auto [from, exists] = find(item);
      Value valid = exists ? k.select(exists, k.materialize(bytes, 32),
                                      k.materialize(0, 32))
                           : Value();
      k.copyAsync(k.shared(k.add(begin, k.mul(item, pitch))), from, bytes,
                  valid);
    });
  }
}

Int tile::readThreadId(KernelBuilder &k) {
  return Int(k.inlinePTX({k.builder.getI32Type()}, "mov.u32 $0, %tid.x;", "=r",
                         {})[0]);
}

void ThreadGrid::readAnew(KernelBuilder &k) {
  Int thread = readThreadId(k);
  row = k.floorDiv(thread, lanes);
  column = k.rem(thread, lanes);
}

SmallVector<Value> tile::reduceThroughRing(
    KernelBuilder &k, Int steps, int64_t stages, ValueRange sums,
    function_ref<void(Int, Int)> copy,
    function_ref<SmallVector<Value>(Int, Int, ValueRange)> reduce) {
  SmallVector<Value> carried(sums);
  carried.push_back(k.materialize(0, 32));
  int64_t ahead = stages - 1;
  carried = k.rolledLoop(
      0, k.add(steps, ahead), 1, carried, [&](Int turn, ValueRange now) {
        Int slot(now.back());
        k.waitCopies(ahead - 1);
        k.barrier();
        k.ifThen(k.less(turn, steps), [&] { copy(turn, slot); });
        k.commitCopies();
        Int next = wrapSlot(k, k.add(slot, 1), stages);
        ValueRange own = now.drop_back();
        SmallVector<Value> reduced = k.ifElse(
            k.less(ahead - 1, turn), own.getTypes(),
            [&] { return reduce(k.sub(turn, ahead), next, own); },
            [&] { return SmallVector<Value>(own); });
        reduced.push_back(k.materialize(next, 32));
        return reduced;
      });
  carried.pop_back();
  return carried;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

SmallVector<Value> tile::getParams(Lowering &lowering, ValueRange params) {
  return llvm::map_to_vector(
      params, [&](Value param) { return lowering.scalars.at(param); });
}

SmallVector<Value> tile::getBox(Lowering &lowering, Value fragment) {
  SmallVector<Value> values;
  for (ArrayRef<Value> box : lowering.takeAll(lowering.fragments.at(fragment)))
    llvm::append_range(values, box);
  return values;
}

Value tile::toSum(KernelBuilder &k, Value value) {
  Type sum = getSumType(value.getType());
  return sum == value.getType()
             ? value
             : arith::ExtFOp::create(k.builder, k.loc, sum, value);
}

void tile::lower(Lowering &lowering, MapOp op) {
  SmallVector<Value> params = getParams(lowering, op.getParams());
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  LoweredFragment mapped = source;
  mapped.forParts = [=, &lowering](function_ref<void(const Boxes &)> body) {
    MapOp map = op;
    source.forParts([&](const Boxes &part) {
      Boxes values = part;
      for (SmallVector<Value> &box : values)
        for (Value &value : box)
          if (value)
            value = applyFunction(lowering.k, map.getFunction(), value, params);
      body(values);
    });
  };
  // What is computed where it is taken stays so.
  if (op.getFragment().getDefiningOp<PairsOfRowsOp>())
    lowering.fragments[op.getMapped()] = mapped;
  else
    setBox(lowering, op.getMapped(), lowering.takeAll(mapped).front());
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

RowCopies::RowCopies(Lowering &lowering, Value view, TypedValue<RingType> ring)
    : lowering(lowering), k(lowering.k),
      bytes(ring.getType().getBuffer().getElementBytes()),
      stepK(ring.getType().getBuffer().getShape()[1]),
      width(std::min<int64_t>(16 / bytes, 4)),
      sizeK(k.truncate(lowering.views.at(view).sizes.back())), usedK(stepK) {
  if (sizeK.isConstant())
    usedK = std::min<int64_t>(
        stepK, llvm::alignTo(sizeK.getConstant(), uint64_t(width)));
}

namespace {

class PairsLowering : RowCopies {
public:
  PairsLowering(Lowering &lowering, PairsOp op)
      : RowCopies(lowering, op.getLhs(), op.getLeft()), op(op),
        grid(lowering, op.getLanes(), op.getFragment().getType()),
        rows(op.getFragment().getType().getShape()[1]),
        columns(op.getFragment().getType().getShape()[2]),
        stages(op.getLeft().getType().getStages()),
        params(getParams(lowering, op.getParams())),
        table(findPowerTable(lowering, op)) {}

  void lower();

private:
  SmallVector<Value> reduceAll();
  void copy(Int step, Int slot);
  SmallVector<Value> reduceChunk(Int position, Int left, Int right,
                                 ValueRange sums, bool isGuarded);
  SmallVector<Value> reduceStep(Int step, Int slot, ValueRange sums);

  PairsOp op;
  ThreadGrid grid;
  /// Of a thread.
  const int64_t rows, columns;
  const int64_t stages;
  SmallVector<Value> params;
  std::optional<PowerTable> table;
  SmallVector<CopiedSide> sides;
  /// Whether rows of A are to be copied; null: they are.
  Value copiesRows;
};

} // namespace

CopiedSide RowCopies::getSide(Value view, Value place,
                              TypedValue<RingType> ring, Int firstRow,
                              bool alongRows, int64_t rows) {
  CopiedSide side;
  static_cast<PairSide &>(side) =
      getPairSide(lowering, view, place, ring, firstRow,
                  rows ? rows : ring.getType().getBuffer().getShape()[0]);
  side.alongRows = alongRows;
  side.isAligned = getAlignment(side);
  return side;
}

/// Whether the rows of `side` may be copied by 16 bytes; null if they may not.
Value RowCopies::getAlignment(const CopiedSide &side) {
  if (side.strideK.isConstant() && !side.strideK.is(1))
    return nullptr;
  Type type = k.builder.getI64Type();
  Int address(LLVM::PtrToIntOp::create(k.builder, k.loc, type, side.base));
  Int rowBytes = k.mul(k.extend(side.rowStride), bytes);
  // What a copy reads exists as a whole, or not at all.
  Int usedBytes = k.mul(k.extend(sizeK), bytes);
  Int all = k.bitOr(k.bitOr(address, rowBytes), usedBytes);
  Value isAligned = k.equal(k.bitAnd(all, 15), 0);
  return k.both(isAligned,
                side.strideK.is(1) ? Value() : k.equal(side.strideK, 1));
}

/// Copies what copyRowChunks does, element by element.
void RowCopies::copyElements(const CopiedSide &side, Int position, Int slot) {
  int64_t count = side.rows * usedK;
  k.rolledLoop(readThreadId(k), count, lowering.threads, [&](Int item) {
    Int row = side.alongRows ? k.rem(item, side.rows) : k.floorDiv(item, usedK);
    Int piece =
        side.alongRows ? k.floorDiv(item, side.rows) : k.rem(item, usedK);
    Int first = k.add(position, piece);
    Value exists = k.both(k.less(row, side.present), k.less(first, sizeK));
    Int offset = k.add(k.mul(k.extend(row), k.extend(side.rowStride)),
                       k.mul(k.extend(first), k.extend(side.strideK)));
    Value from = k.offsetElements(
        side.base, side.element,
        Int(k.select(exists, k.materialize(offset, 64), k.materialize(0, 64))));
    if (side.swapsPairs)
      piece = k.bitXor(piece, 1);
    Value to = k.shared(
        k.add(k.add(slot, k.mul(row, side.pitch)), k.mul(piece, bytes)));
    if (bytes >= 4) {
      k.copyAsync(
          to, from, bytes,
          k.select(exists, k.materialize(bytes, 32), k.materialize(0, 32)));
      return;
    }
    // There is no asynchronous copy of 2 bytes.
    Value value = k.orZero(exists, side.element,
                           [&] { return k.load(side.element, from); });
    k.store(value, to);
  });
}

/// Starts to copy what step `step` needs to slot number `slot`.
void PairsLowering::copy(Int step, Int slot) {
  Int position = k.mul(step, stepK);
  for (auto [number, side] : llvm::enumerate(sides)) {
    k.ifThen(number == 0 ? copiesRows : Value(),
             [&, &side = side] { copySide(side, position, slot); });
  }
}

void RowCopies::copySide(const CopiedSide &side, Int position, Int slot) {
  Int place = k.add(k.mul(slot, side.slotBytes), side.begin);
  if (side.isAligned)
    k.choose(
        side.isAligned,
        [&] {
          copyRowChunks(lowering, side, readThreadId(k), position, place, sizeK,
                        stepK, /*exchanges=*/false, side.swapsPairs);
        },
        [&] { copyElements(side, position, place); });
  else
    copyElements(side, position, place);
}

SmallVector<Value> RowCopies::loadRow(const CopiedSide &side, Int start,
                                      int64_t behind) {
  Type type = VectorType::get({width}, side.element);
  Value pointer = k.offsetBytes(k.shared(start), behind);
  SmallVector<Value> values =
      llvm::map_to_vector(k.unpack(k.load(type, pointer)),
                          [&](Value value) { return toSum(k, value); });
  if (side.swapsPairs)
    for (int64_t number = 0; number < width; number += 2)
      std::swap(values[number], values[number + 1]);
  return values;
}

bool tile::usesTable(int64_t number, int64_t share) {
  return (number + 1) * share / 16 > number * share / 16;
}

/// Reduces `width` positions from `position` on, of which, if `isGuarded`, not
/// all may exist; `left` and `right` are where the first rows are.
SmallVector<Value> PairsLowering::reduceChunk(Int position, Int left, Int right,
                                              ValueRange sums, bool isGuarded) {
  SmallVector<Value> next(sums);
  // Of a K of one load, the positions that there are.
  int64_t present = sizeK.isConstant()
                        ? std::min<int64_t>(width, sizeK.getConstant())
                        : width;
  SmallVector<SmallVector<Value>> lhs;
  for (int64_t row = 0; row < rows; ++row)
    lhs.push_back(
        loadRow(sides[0], left, grid.rowOffset(row) * sides[0].pitch));
  for (int64_t column = 0; column < columns; ++column) {
    SmallVector<Value> rhs =
        loadRow(sides[1], right, grid.columnOffset(column) * sides[1].pitch);
    for (int64_t number = 0; number < present; ++number) {
      Value exists;
      if (isGuarded)
        exists = k.less(k.add(position, number), sizeK);
      for (int64_t row = 0; row < rows; ++row) {
        Value &sum = next[row * columns + column];
        // In the order of the code, since a position has few elements.
        int64_t place = (column * present + number) * rows + row;
        Value reduced = applyFunction(
            k, op.getInner(), {lhs[row][number], rhs[number], sum}, params,
            usesTable(place, op.getPolynomials()) ? table : std::nullopt);
        sum = exists ? k.select(exists, reduced, sum) : reduced;
      }
    }
  }
  return next;
}

/// Reduces the positions of step `step`, which are in slot number `slot`.
SmallVector<Value> PairsLowering::reduceStep(Int step, Int slot,
                                             ValueRange sums) {
  Int position = k.mul(step, stepK);
  Int count = k.min(k.sub(sizeK, position), stepK);
  auto getStart = [&](const CopiedSide &side, Int row) {
    return k.add(k.add(k.mul(slot, side.slotBytes), side.begin),
                 k.mul(row, side.pitch));
  };
  Int left = getStart(sides[0], grid.row);
  Int right = getStart(sides[1], grid.column);
  bool isWhole = op.getZeroTail() ||
                 (sizeK.isConstant() && (sizeK.getConstant() < width ||
                                         sizeK.getConstant() % width == 0));
  return k.rolledLoop(
      0, k.ceilDiv(count, width), 1, sums, [&](Int chunk, ValueRange carried) {
        Int first = k.add(position, k.mul(chunk, width));
        Int behind = k.mul(chunk, width * bytes);
        auto reduce = [&](bool isGuarded) {
          return reduceChunk(first, k.add(left, behind), k.add(right, behind),
                             carried, isGuarded);
        };
        if (isWhole)
          return reduce(false);
        return k.ifElse(
            k.less(k.add(first, width - 1), sizeK), TypeRange(carried),
            [&] { return reduce(false); }, [&] { return reduce(true); });
      });
}

SmallVector<Value> PairsLowering::reduceAll() {
  Type sum = op.getFragment().getType().getElementType();
  Value start = k.constant(sum, op.getFrom().convertToDouble());
  return reduceThroughRing(
      k, k.ceilDiv(sizeK, stepK), stages,
      SmallVector<Value>(rows * columns, start),
      [&](Int step, Int slot) { copy(step, slot); },
      [&](Int step, Int slot, ValueRange sums) {
        return reduceStep(step, slot, sums);
      });
}

void PairsLowering::lower() {
  ArrayRef<Int> starts =
      ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2);
  Int firstColumn =
      getFirstColumn(lowering, op.getPlace(), op.getBlock(),
                     op.getRight().getType().getBuffer().getShape()[0]);
  sides.push_back(getSide(op.getLhs(), op.getPlace(), op.getLeft(), starts[0],
                          op.getLhsRows()));
  sides.push_back(getSide(op.getRhs(), op.getPlace(), op.getRight(),
                          firstColumn, op.getRhsRows()));
  // Elements of other types have several registers, or are converted.
  sides.front().swapsPairs = sides.front().element.isF32();
  if (!op.getProducts()) {
    copiesRows = needsRows(lowering, op.getPlace(), op.getBlock(),
                           k.ceilDiv(sizeK, stepK), stages);
    return setBox(lowering, op.getFragment(), reduceAll());
  }
  SmallVector<Value> products = getBox(lowering, op.getProducts());
  setBox(lowering, op.getFragment(),
         k.ifElse(
             lowering.scalars.at(op.getHeld()),
             SmallVector<Type>(products.size(), products.front().getType()),
             [&] { return products; }, [&] { return reduceAll(); }));
}

void tile::lower(Lowering &lowering, PairsOp op) {
  PairsLowering(lowering, op).lower();
}
