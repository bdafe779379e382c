//===- StorePairs.cpp - tile.store_pairs ----------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// Stores what a thread has of a tile.
class PairStore {
public:
  PairStore(Lowering &lowering, StorePairsOp op)
      : lowering(lowering), k(lowering.k), op(op),
        view(lowering.views.at(op.getView())),
        places(lowering.places.at(op.getPlace())), element(view.element),
        grid(lowering, op.getLanes(), op.getSource().getType()),
        rows(op.getSource().getType().getBox()[0]),
        columns(op.getSource().getType().getBox()[1]),
        outputs(op.getSource().getType().getShape()[0]),
        values(getBox(lowering, op.getSource())),
        sizes(ArrayRef(view.sizes).take_back(2)),
        strides(ArrayRef(view.array.strides).take_back(2)),
        base(getBatch(lowering, op.getView(), op.getPlace(), 2)) {
    ArrayRef<Int> starts = ArrayRef(places.starts).take_back(2);
    firstRow = k.extend(starts[0]);
    firstColumn = k.extend(starts[1]);
    for (Value &value : values)
      if (value.getType() != element)
        value = arith::TruncFOp::create(k.builder, k.loc, element, value);
  }

  void lower();

private:
  Value isWhole();
  Value areWholePairs();
  void storePairs();
  void storeMirroredElements(bool areAll);
  void storeMirroredPairs();
  void storeMirrored();
  void storeTurned();
  void storeElements();
  void storeBox(int64_t number, ArrayRef<Value> exists, ArrayRef<Int> positions,
                ArrayRef<Int> offsets);

  Lowering &lowering;
  KernelBuilder &k;
  StorePairsOp op;
  /// Whether elements below the diagonal are those above it.
  const bool isMirrored = op.getPlace().getDefiningOp<PlaceOp>().getTriangle();
  const LoweredView &view;
  const LoweredTile &places;
  Type element;
  ThreadGrid grid;
  const int64_t rows, columns;
  /// Boxes, of neighbouring positions in front of the rows.
  const int64_t outputs;
  SmallVector<Value> values;
  ArrayRef<Int> sizes, strides;
  Value base;
  /// Of the tile.
  Int firstRow, firstColumn;
};

} // namespace

/// Whether all of the tile exists, above the diagonal if that matters.
Value PairStore::isWhole() {
  Int lastRow = k.add(firstRow, rows * grid.groups - 1);
  Value areRows = k.less(lastRow, sizes[0]);
  Value areColumns =
      k.less(k.add(firstColumn, columns * grid.lanes - 1), sizes[1]);
  Value exists = k.both(areRows, areColumns);
  return isMirrored ? k.both(exists, k.less(lastRow, firstColumn)) : exists;
}

/// Whether all of the tile exists, with neighbouring columns next to each other
/// where two of them may be stored at once; null if that is not so.
Value PairStore::areWholePairs() {
  if (!grid.ofAtom || !strides[1].is(1))
    return nullptr;
  Type type = k.builder.getI64Type();
  int64_t bytes = kron::getElementBytes(element);
  Int address(LLVM::PtrToIntOp::create(k.builder, k.loc, type, base));
  Int places = k.bitOr(address, k.mul(k.extend(strides[0]), bytes));
  return k.both(k.equal(k.bitAnd(places, 2 * bytes - 1), 0), isWhole());
}

/// Stores two columns at a time.
void PairStore::storePairs() {
  Int column = k.add(firstColumn, k.extend(grid.column));
  Int row = k.add(firstRow, k.extend(grid.row));
  for (int64_t number = 0; number < rows; ++number) {
    Int offset =
        k.add(k.mul(k.add(row, grid.rowOffset(number)), k.extend(strides[0])),
              column);
    Value start = k.offsetElements(base, element, offset);
    ArrayRef<Value> own = ArrayRef(values).slice(number * columns, columns);
    for (int64_t pair = 0; pair < columns; pair += 2)
      k.store(k.makeVector(own.slice(pair, 2)),
              k.offsetElements(start, element, grid.columnOffset(pair)),
              CacheHint::Streaming);
  }
}

void PairStore::storeElements() {
  // Where the sums of a row are the same in all threads, one stores them.
  Int ownColumn = op.getSums() ? Int(0) : grid.column;
  SmallVector<Value> exists;
  SmallVector<Int> positions, offsets;
  for (int64_t column = 0; column < columns; ++column) {
    positions.push_back(
        k.add(k.add(firstColumn, k.extend(ownColumn)),
              op.getSums() ? column : grid.columnOffset(column)));
    exists.push_back(k.less(positions.back(), sizes[1]));
    offsets.push_back(k.mul(positions.back(), k.extend(strides[1])));
  }
  for (int64_t output = 0; output < outputs; ++output)
    storeBox(output, exists, positions, offsets);
}

/// Stores box `number`, the columns at `positions` of which exist where
/// `exists` says so and lie `offsets` behind a row's first one.
void PairStore::storeBox(int64_t number, ArrayRef<Value> exists,
                         ArrayRef<Int> positions, ArrayRef<Int> offsets) {
  Value start = base, boxExists;
  if (outputs > 1) {
    size_t axis = view.sizes.size() - 3;
    Int stride = k.extend(view.array.strides[axis]);
    start = k.offsetElements(base, element, k.mul(stride, number));
    Int first = places.starts[axis];
    boxExists = k.less(k.add(k.extend(first), number), view.sizes[axis]);
  }
  for (int64_t row = 0; row < rows; ++row) {
    Int position =
        k.add(k.add(firstRow, k.extend(grid.row)), grid.rowOffset(row));
    Value rowExists = k.both(boxExists, k.less(position, sizes[0]));
    Value first =
        k.offsetElements(start, element, k.mul(position, k.extend(strides[0])));
    for (int64_t column = 0; column < columns; ++column) {
      Value isStored = k.both(rowExists, exists[column]);
      if (isMirrored)
        isStored =
            k.both(isStored, k.less(position, k.add(positions[column], 1)));
      k.ifThen(isStored, [&] {
        k.store(values[(number * rows + row) * columns + column],
                k.offsetElements(first, element, offsets[column]),
                CacheHint::Streaming);
      });
    }
  }
}

/// Stores each element above the diagonal on the other side of it; `areAll`: it
/// is known that all are such, and exist.
void PairStore::storeMirroredElements(bool areAll) {
  Int ownRow = k.add(firstRow, k.extend(grid.row));
  for (int64_t column = 0; column < columns; ++column) {
    Int across = k.add(k.add(firstColumn, k.extend(grid.column)),
                       grid.columnOffset(column));
    Value start = k.offsetElements(base, element,
                                   k.add(k.mul(across, k.extend(strides[0])),
                                         k.mul(ownRow, k.extend(strides[1]))));
    // What is above the diagonal exists if its column does.
    Value exists = areAll ? Value() : k.less(across, sizes[1]);
    for (int64_t row = 0; row < rows; ++row) {
      Int behind = grid.rowOffset(row);
      Value isAbove = areAll ? Value() : k.less(k.add(ownRow, behind), across);
      k.ifThen(k.both(exists, isAbove), [&] {
        k.store(values[row * columns + column],
                k.offsetElements(start, element,
                                 k.mul(behind, k.extend(strides[1]))),
                CacheHint::Streaming);
      });
    }
  }
}

/// The same of a whole tile of elements of 16 bits, by lanes of matrix
/// instructions: two of them that have neighbouring rows give each other
/// elements, so that each has two such rows, one of those of the first eight
/// and the other of the next ones. A warp stores 32 bytes of a row then.
void PairStore::storeMirroredPairs() {
  Type i32 = k.builder.getI32Type();
  Int isOdd = k.rem(grid.row, 2);
  // Halves of this lane's two rows and of the other lane's.
  Value halves = k.select(k.equal(isOdd, 0), k.materialize(0x5410, 32),
                          k.materialize(0x3276, 32));
  Int ownRow = k.add(firstRow, k.extend(k.add(grid.row, k.mul(isOdd, 7))));
  for (int64_t column = 0; column < columns; ++column) {
    Int across = k.add(k.add(firstColumn, k.extend(grid.column)),
                       grid.columnOffset(column));
    Value start = k.offsetElements(
        base, element, k.add(k.mul(across, k.extend(strides[0])), ownRow));
    for (int64_t row = 0; row < rows; row += 2) {
      Value own =
          k.bitcast(k.makeVector({values[row * columns + column],
                                  values[(row + 1) * columns + column]}),
                    i32);
      Value both = k.inlinePTX({i32}, "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r",
                               {own, k.shuffleXor(own, 4), halves},
                               /*hasSideEffects=*/false)
                       .front();
      k.store(both, k.offsetElements(start, element, grid.rowOffset(row)),
              CacheHint::Streaming);
    }
  }
}

/// The same by way of shared memory: threads of a warp store elements of one
/// column of the tile, which are neighbours in a row of the result.
void PairStore::storeTurned() {
  const LoweredRing &ring = lowering.rings[op.getRing()];
  int64_t bytes = kron::getElementBytes(element), lanes = grid.lanes;
  int64_t tileRows = rows * grid.groups;
  int64_t pitch = getTurnedPitch(tileRows, lanes, bytes);
  int64_t together =
      countTurnedColumns(op.getRing().getType(), tileRows, lanes, bytes);
  Int thread = readThreadId(k);
  Int row = k.rem(thread, tileRows), first = k.floorDiv(thread, tileRows);
  Int ownRow = k.add(firstRow, k.extend(row));
  Value rowStart =
      k.offsetElements(base, element, k.mul(ownRow, k.extend(strides[1])));
  for (int64_t begin = 0; begin < columns; begin += together) {
    int64_t count = std::min(together, columns - begin);
    k.barrier();
    for (int64_t number = 0; number < count * rows; ++number) {
      int64_t column = number / rows, own = number % rows;
      Int place = k.add(k.mul(grid.column, pitch), k.mul(grid.row, bytes));
      k.store(
          values[own * columns + begin + column],
          k.offsetBytes(k.shared(k.add(place, ring.begin)),
                        column * lanes * pitch + grid.rowOffset(own) * bytes));
    }
    k.barrier();
    k.rolledLoop(first, count * lanes, lanes / rows, [&](Int column) {
      Int across = k.add(firstColumn, k.extend(k.add(column, begin * lanes)));
      Value isStored = k.both(k.less(across, sizes[1]), k.less(ownRow, across));
      k.ifThen(isStored, [&] {
        Value value = k.load(
            element, k.shared(k.add(k.add(k.mul(column, pitch), ring.begin),
                                    k.mul(row, bytes))));
        k.store(value,
                k.offsetElements(rowStart, element,
                                 k.mul(across, k.extend(strides[0]))),
                CacheHint::Streaming);
      });
    });
  }
}

void PairStore::storeMirrored() {
  if (op.getRing())
    return storeTurned();
  Value arePairs;
  if (kron::getElementBytes(element) == 2 && rows % 2 == 0)
    arePairs = areWholePairs();
  if (arePairs)
    return k.choose(
        arePairs, [&] { storeMirroredPairs(); },
        [&] { storeMirroredElements(/*areAll=*/false); });
  k.choose(isWhole(), [&](bool areAll) { storeMirroredElements(areAll); });
}

void PairStore::lower() {
  if (op.getSums())
    return k.ifThen(k.equal(grid.column, 0), [&] { storeElements(); });
  if (Value areWhole = areWholePairs())
    k.choose(
        areWhole, [&] { storePairs(); }, [&] { storeElements(); });
  else
    storeElements();
  if (isMirrored)
    storeMirrored();
}

void tile::lower(Lowering &lowering, StorePairsOp op) {
  PairStore(lowering, op).lower();
}
