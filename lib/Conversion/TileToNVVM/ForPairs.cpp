//===- ForPairs.cpp - tile.for_pairs --------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// What is reduced so far: sums, or the largest values, and behind these of a
/// logsumexp the sums of exponentials less them.
using Sums = SmallVector<Value>;

/// The operation that computes blocks of rows in registers; null: none does.
PairsOfRowsOp getPairsOfRows(ForPairsOp op) {
  auto found = op.getBody()->getOps<PairsOfRowsOp>();
  return found.empty() ? PairsOfRowsOp() : *found.begin();
}

class PairProducts {
public:
  PairProducts(Lowering &lowering, ForPairsOp op)
      : lowering(lowering), k(lowering.k), op(op),
        grid(lowering, op.getLanes(),
             cast<FragmentType>(
                 op.getBody()->getTerminator()->getOperand(0).getType())),
        values(lowering.views.at(op.getValues())),
        element(op.getValues().getType().getElementType()),
        type(cast<FragmentType>(op.getSums().front().getType())),
        rows(type.getShape()[1]), results(type.getShape()[2]),
        columns(static_cast<int64_t>(op.getBy()) / op.getLanes()),
        kind(op.getAccumulation()),
        together(getPairsOfRows(op) ? countBlocksTogether(getPairsOfRows(op))
                                    : 1),
        copiesValues((grid.ofAtom || getPairsOfRows(op)) &&
                     kind == Accumulation::Sum &&
                     element == type.getElementType()),
        base(getBatch(lowering, op.getValues(), op.getPlace(), 2)) {
    size_t rank = values.sizes.size();
    sizeN = values.sizes[rank - 2];
    sizeC = values.sizes[rank - 1];
    firstResult = lowering.places.at(op.getPlace()).starts.back();
  }

  void lower();

private:
  Value constant(double value) {
    return k.constant(type.getElementType(), value);
  }
  Value exp(Value value) { return emitExp(k, value); }
  Value sub(Value lhs, Value rhs) {
    return arith::SubFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value max(Value lhs, Value rhs) {
    return arith::MaximumFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value loadValue(Int row, int64_t result);
  Int getSlot(Int behind);
  int64_t getStep() const;
  void copyValues(Int block, Int behind);
  SmallVector<Value> loadCopied(Int slot, int64_t column, int64_t result);
  void addProducts(const LoweredFragment &matrix, Int slot, Int first,
                   bool mayEnd, Sums &sums);
  void addColumns(ArrayRef<Value> matrix, int64_t begin, int64_t result,
                  Int slot, Int first, bool mayEnd, Sums &sums);
  void copyAhead(Int block, Int behind);
  void addBlock(Int block, Int behind, Sums &sums);
  void addTerms(ArrayRef<Value> terms, int64_t number, Sums &sums);
  void addLanes(Sums &sums);

  Lowering &lowering;
  KernelBuilder &k;
  ForPairsOp op;
  ThreadGrid grid;
  const LoweredView &values;
  Type element;
  FragmentType type;
  /// Of a thread: rows, results of each, and columns of the matrix.
  const int64_t rows, results, columns;
  const Accumulation kind;
  /// Blocks whose rows and values arrive together.
  const int64_t together;
  /// Whether values of a block arrive while others are computed, or matrix
  /// instructions are under way: nothing else hides how long they take.
  const bool copiesValues;
  Value base;
  Int sizeN, sizeC, firstResult;
  /// The block behind the last one of this CTA.
  Int end;
  /// Values of twice as many blocks as arrive together in shared memory, those
  /// of a result of a block next to each other.
  int64_t valuePlace = 0;
};

} // namespace

/// The value of row `row` for result `result`; of one that does not exist, that
/// of another.
Value PairProducts::loadValue(Int row, int64_t result) {
  ArrayRef<Int> strides = ArrayRef(values.array.strides).take_back(2);
  Int column = k.min(k.add(firstResult, result), k.sub(sizeC, 1));
  Int offset = k.add(k.mul(k.extend(row), k.extend(strides[0])),
                     k.mul(k.extend(column), k.extend(strides[1])));
  return toSum(k, k.load(element, k.offsetElements(base, element, offset),
                         CacheHint::ReadOnly));
}

/// Adds products of one row and result to what is reduced.
void PairProducts::addTerms(ArrayRef<Value> terms, int64_t number, Sums &sums) {
  Value largest = sums[number];
  for (Value term : terms)
    largest = max(largest, term);
  if (kind == Accumulation::LogSumExp) {
    Value finite = emitFiniteOrZero(k.builder, k.loc, largest);
    Value &sum = sums[rows * results + number];
    Value factor = exp(sub(sums[number], finite));
    Value added = constant(0);
    for (Value term : terms)
      added = arith::AddFOp::create(k.builder, k.loc, added,
                                    exp(sub(term, finite)));
    sum = k.fma(sum, factor, added);
  }
  sums[number] = largest;
}

/// The block that is `behind` the first one, of those whose values are in
/// shared memory: where its values are.
Int PairProducts::getSlot(Int behind) {
  int64_t bytes = static_cast<int64_t>(op.getBy()) * results *
                  kron::getElementBytes(element);
  return k.add(k.mul(k.rem(k.truncate(behind), 2 * together), bytes),
               valuePlace);
}

/// Starts to copy the values of `together` blocks from `block` on, zeros for
/// what does not exist.
void PairProducts::copyValues(Int block, Int behind) {
  auto by = static_cast<int64_t>(op.getBy());
  int64_t bytes = kron::getElementBytes(element), perBlock = by * results;
  ArrayRef<Int> strides = ArrayRef(values.array.strides).take_back(2);
  auto find = [&](Int item) -> std::pair<Value, Value> {
    Int inBlock = k.rem(item, perBlock);
    Int first = k.add(k.extend(block), k.extend(k.floorDiv(item, perBlock)));
    Int row = k.add(k.mul(first, by), k.extend(k.rem(inBlock, by)));
    Int column = k.add(firstResult, k.extend(k.floorDiv(inBlock, by)));
    Value exists =
        k.both(k.less(row, k.extend(sizeN)), k.less(column, k.extend(sizeC)));
    Int offset = k.add(k.mul(row, k.extend(strides[0])),
                       k.mul(column, k.extend(strides[1])));
    // No address beyond the array, even where nothing is read.
    Value safe =
        k.select(exists, k.materialize(offset, 64), k.materialize(0, 64));
    return {k.offsetElements(base, element, Int(safe)), exists};
  };
  copyItems(lowering, together * perBlock, getSlot(behind), bytes, bytes, find);
  k.commitCopies();
}

/// The values of this thread's columns from `column` on, as many as lie next to
/// each other.
SmallVector<Value> PairProducts::loadCopied(Int slot, int64_t column,
                                            int64_t result) {
  int64_t bytes = kron::getElementBytes(element);
  Value start = k.shared(k.add(slot, k.mul(grid.column, bytes)));
  int64_t behind =
      result * static_cast<int64_t>(op.getBy()) + grid.columnOffset(column);
  Value pointer = k.offsetBytes(start, behind * bytes);
  if (!grid.ofAtom)
    return {k.load(element, pointer)};
  return k.unpack(k.load(VectorType::get({2}, element), pointer));
}

/// Columns of the matrix whose values a thread has in registers at a time.
int64_t PairProducts::getStep() const {
  return copiesValues && grid.ofAtom ? 2 : 1;
}

/// Adds products with columns of the matrix from `first` on, whose values
/// are in `slot`: not all, if it `mayEnd`, exist. Columns of the matrix may be
/// computed here, one after the other. Of those that are there, one result
/// after the other has sums of its own.
void PairProducts::addProducts(const LoweredFragment &matrix, Int slot,
                               Int first, bool mayEnd, Sums &sums) {
  matrix.forParts([&](const Boxes &part) {
    ArrayRef<Value> known = part.front();
    for (int64_t result = 0; result < results; ++result)
      for (int64_t begin = 0; begin < columns; begin += getStep())
        if (known[begin])
          addColumns(known, begin, result, slot, first, mayEnd, sums);
  });
}

/// The same of one result, with the columns of a step from number `begin` on.
void PairProducts::addColumns(ArrayRef<Value> matrix, int64_t begin,
                              int64_t result, Int slot, Int first, bool mayEnd,
                              Sums &sums) {
  auto getRow = [&](int64_t column) {
    return k.add(first, grid.columnOffset(column));
  };
  // Neither a value nor an element may make a NaN of what does not exist.
  auto orZero = [&](int64_t column, Value value) {
    return mayEnd ? k.select(k.less(getRow(column), sizeN), value, constant(0))
                  : value;
  };
  SmallVector<Value> loaded;
  if (copiesValues) {
    loaded = loadCopied(slot, begin, result);
  } else {
    Int row = getRow(begin);
    if (mayEnd)
      row = k.min(row, k.sub(sizeN, 1));
    loaded = {orZero(begin, loadValue(row, result))};
  }
  for (auto [number, value] : llvm::enumerate(loaded)) {
    int64_t column = begin + static_cast<int64_t>(number);
    for (int64_t row = 0; row < rows; ++row) {
      Value &sum = sums[row * results + result];
      sum = k.fma(orZero(column, matrix[row * columns + column]), value, sum);
    }
  }
}

/// Starts to copy the values that are wanted next, where block number `block`
/// begins, `behind` the first one. Who waits for rows of the matrix waits for
/// them as well. Blocks that arrive together are the first ones, or those
/// behind the ones of which the second begins: its threads have waited for each
/// other since anybody read what was in their place.
void PairProducts::copyAhead(Int block, Int behind) {
  if (together == 1)
    return copyValues(block, behind);
  Value isFirst = k.equal(behind, 0);
  Value isSecond = k.equal(k.rem(behind, together), 1);
  Int ahead(
      k.select(isFirst, k.materialize(0, 32), k.materialize(together - 1, 32)));
  Value wanted = arith::OrIOp::create(k.builder, k.loc, isFirst, isSecond);
  k.ifThen(k.both(wanted, k.less(k.add(block, ahead), end)),
           [&] { copyValues(k.add(block, ahead), k.add(behind, ahead)); });
}

/// Adds the products with block number `block` of the matrix, `behind` the
/// first one.
void PairProducts::addBlock(Int block, Int behind, Sums &sums) {
  lowering.numbers[op.getBlockNumber()] = block;
  if (copiesValues)
    copyAhead(block, behind);
  lowering.lower(*op.getBody());
  Value fragment = op.getBody()->getTerminator()->getOperand(0);
  Int blockEnd = k.mul(k.add(k.extend(block), 1), int64_t(op.getBy()));
  Int first =
      k.add(k.sub(blockEnd, int64_t(op.getBy())), k.extend(grid.column));
  bool mayEnd = !sizeN.isConstant() ||
                sizeN.getConstant() % static_cast<int64_t>(op.getBy()) != 0;
  if (kind == Accumulation::Sum) {
    // Sums of a block start from zero: most roundings are of small sums then.
    Int slot = copiesValues ? getSlot(behind) : Int(0);
    auto addAll = [&](bool mayEnd) {
      Sums next(sums.size(), constant(0));
      addProducts(lowering.fragments.at(fragment), slot, first, mayEnd, next);
      for (auto [sum, added] : llvm::zip_equal(sums, next))
        added = arith::AddFOp::create(k.builder, k.loc, sum, added);
      return next;
    };
    Value isWhole =
        mayEnd ? k.less(k.sub(blockEnd, 1), k.extend(sizeN)) : Value();
    sums = k.ifElse(
        isWhole, ValueRange(sums).getTypes(), [&] { return addAll(false); },
        [&] { return addAll(true); });
    return;
  }
  SmallVector<Value> matrix = getBox(lowering, fragment);
  // Of a column of the matrix: its row of the values, and whether that exists.
  auto find = [&](int64_t column) -> std::pair<Int, Value> {
    Int row = k.add(first, grid.columnOffset(column));
    if (!mayEnd)
      return {row, Value()};
    return {k.min(row, k.sub(sizeN, 1)), k.less(row, sizeN)};
  };
  Value lowest = constant(-INFINITY);
  for (int64_t result = 0; result < results; ++result) {
    SmallVector<Value> loaded, exist;
    for (int64_t column = 0; column < columns; ++column) {
      auto [row, exists] = find(column);
      loaded.push_back(loadValue(row, result));
      exist.push_back(exists);
    }
    for (int64_t own = 0; own < rows; ++own) {
      SmallVector<Value> terms;
      for (int64_t column = 0; column < columns; ++column) {
        Value term = arith::MulFOp::create(
            k.builder, k.loc, matrix[own * columns + column], loaded[column]);
        terms.push_back(exist[column] ? k.select(exist[column], term, lowest)
                                      : term);
      }
      addTerms(terms, own * results + result, sums);
    }
  }
}

/// Reduces what the lanes of a row have.
void PairProducts::addLanes(Sums &sums) {
  int64_t count = rows * results;
  for (int64_t mask = grid.lanes / 2; mask > 0; mask /= 2)
    for (int64_t number = 0; number < count; ++number) {
      Value own = sums[number], other = k.shuffleXor(own, mask);
      if (kind == Accumulation::Sum) {
        sums[number] = arith::AddFOp::create(k.builder, k.loc, own, other);
        continue;
      }
      sums[number] = max(own, other);
      if (kind == Accumulation::Max)
        continue;
      Value finite = emitFiniteOrZero(k.builder, k.loc, sums[number]);
      Value &sum = sums[count + number];
      auto scale = [&](Value part, Value largest) -> Value {
        return arith::MulFOp::create(k.builder, k.loc, part,
                                     exp(sub(largest, finite)));
      };
      Value otherSum = k.shuffleXor(sum, mask);
      sum = arith::AddFOp::create(k.builder, k.loc, scale(sum, own),
                                  scale(otherSum, other));
    }
}

std::pair<Int, Int> tile::getBlocksOf(Lowering &lowering, Value place,
                                      Value perPart, Int size, int64_t by) {
  KernelBuilder &k = lowering.k;
  Int part = lowering.places.at(place).starts.front();
  Int count = lowering.numbers.at(perPart);
  Int first = k.mul(k.extend(part), count);
  Int end = k.min(k.add(first, count), k.ceilDiv(size, by));
  return {k.truncate(first), k.truncate(end)};
}

std::pair<Int, Int> tile::getBlocks(Lowering &lowering, ForPairsOp op) {
  KernelBuilder &k = lowering.k;
  const LoweredView &values = lowering.views.at(op.getValues());
  Int sizeN = values.sizes[values.sizes.size() - 2];
  // Rows of packed values are of eight columns.
  if (op.getRing())
    sizeN = k.mul(k.extend(sizeN), 8);
  return getBlocksOf(lowering, op.getPlace(), op.getBlocks(), sizeN,
                     static_cast<int64_t>(op.getBy()));
}

void PairProducts::lower() {
  int64_t count = rows * results;
  Sums sums(count, constant(kind == Accumulation::Sum ? 0 : -INFINITY));
  if (kind == Accumulation::LogSumExp)
    sums.append(count, constant(0));
  std::pair<Int, Int> range = getBlocks(lowering, op);
  Int first = range.first;
  end = range.second;
  if (copiesValues) {
    auto bytes = static_cast<int64_t>(op.getBy()) * results *
                 kron::getElementBytes(element);
    valuePlace = k.allocateShared(2 * together * bytes);
    // Whoever reads values of the tile before is done.
    k.barrier();
  }
  sums = k.rolledLoop(first, end, 1, sums, [&](Int block, ValueRange carried) {
    Sums next(carried);
    addBlock(block, k.sub(block, first), next);
    return next;
  });
  addLanes(sums);
  for (auto [number, result] : llvm::enumerate(op.getSums()))
    setBox(lowering, cast<TypedValue<FragmentType>>(result),
           ArrayRef(sums).slice(number * count, count));
}

void tile::lower(Lowering &lowering, ForPairsOp op) {
  if (op.getRing())
    lowerValueProducts(lowering, op);
  else
    PairProducts(lowering, op).lower();
  passBlocks(lowering, op);
}

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
