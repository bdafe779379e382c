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
