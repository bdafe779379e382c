//===- PairsOfRows.cpp - tile.keep_rows and tile.pairs_of_rows ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where K is short, a block of columns is computed in less time than it takes
// to arrive: blocks are on their way while others are computed, and rows stay
// in registers through all of them, so that code without loops is left whose
// loads from shared memory are those of columns.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lower(Lowering &lowering, KeepRowsOp op) {
  KernelBuilder &k = lowering.k;
  FragmentType type = op.getRows().getType();
  ThreadGrid grid(lowering, op.getLanes(), type);
  const LoweredView &view = lowering.views.at(op.getView());
  ArrayRef<Int> strides = ArrayRef(view.array.strides).take_back(2);
  Int last = k.sub(view.sizes[view.sizes.size() - 2], 1);
  Int sizeK = view.sizes.back();
  Int first =
      ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2).front();
  Value base = getBatch(lowering, op.getView(), op.getPlace(), 2);
  auto load = [&] {
    SmallVector<Value> values;
    for (int64_t row = 0; row < type.getShape()[1]; ++row) {
      Int position = k.min(k.add(k.add(k.extend(first), k.extend(grid.row)),
                                 grid.rowOffset(row)),
                           last);
      Value start = k.offsetElements(base, view.element,
                                     k.mul(position, k.extend(strides[0])));
      for (int64_t number = 0; number < type.getShape()[2]; ++number) {
        Int offset = k.mul(k.extend(strides[1]), number);
        Value exists;
        if (!sizeK.isConstant()) {
          exists = k.less(number, sizeK);
          // No address beyond the array, even where nothing is used.
          offset = Int(k.select(exists, k.materialize(offset, 64),
                                k.materialize(0, 64)));
        }
        Value value =
            toSum(k, k.load(view.element,
                            k.offsetElements(start, view.element, offset),
                            CacheHint::ReadOnly));
        values.push_back(
            exists ? k.select(exists, value, k.constant(value.getType(), 0))
                   : value);
      }
    }
    return values;
  };
  // Without positions of K there may be no memory at all.
  Type sum = getSumType(view.element);
  SmallVector<Type> types(type.getShape()[1] * type.getShape()[2], sum);
  Value isAny = sizeK.isConstant() ? Value() : k.less(0, sizeK);
  setBox(lowering, op.getRows(), k.orZeros(isAny, types, load));
}

namespace {

class PairsOfRows : RowCopies {
public:
  PairsOfRows(Lowering &lowering, PairsOfRowsOp op)
      : RowCopies(lowering, op.getRhs(), op.getRight()), op(op),
        grid(lowering, op.getLanes(), op.getFragment().getType()),
        tileColumns(op.getRight().getType().getBuffer().getShape()[0]),
        together(countBlocksTogether(op)),
        block(lowering.numbers.at(op.getBlock())) {
    // Of a K that is not known, what rows have of it.
    int64_t countK = op.getRows().getType().getShape()[2];
    usedK = std::min<int64_t>(usedK, llvm::alignTo(countK, uint64_t(width)));
  }

  /// Waits for the block, whose columns the fragment computes one by one where
  /// they are taken.
  static void lower(const std::shared_ptr<PairsOfRows> &pairs);

private:
  void copy(Int number);
  void copyAhead();
  SmallVector<Value> reduceColumn(int64_t column);
  Int getSlot(Int number) { return k.rem(k.sub(number, first), 2 * together); }

  PairsOfRowsOp op;
  ThreadGrid grid;
  /// Columns of a block; blocks that arrive together.
  const int64_t tileColumns, together;
  /// This block, the first one and the one behind the last one of this CTA.
  Int block, first, end;
  /// Columns of the block, and where this thread's first one is.
  CopiedSide side;
  Int begin;
};

} // namespace

int64_t tile::countBlocksTogether(PairsOfRowsOp op) {
  return std::max<int64_t>(op.getRight().getType().getStages() / 2, 1);
}

/// Starts to copy `together` blocks from `number` on, if there is one.
void PairsOfRows::copy(Int number) {
  k.ifThen(k.less(number, end), [&] {
    CopiedSide side = getSide(op.getRhs(), op.getPlace(), op.getRight(),
                              k.mul(k.extend(number), tileColumns),
                              op.getRhsRows(), together * tileColumns);
    copySide(side, 0, getSlot(number));
  });
  k.commitCopies();
}

/// Waits for the block, if others do not arrive with it that were waited for,
/// and starts to copy the next ones.
void PairsOfRows::copyAhead() {
  auto loop = cast<ForPairsOp>(op->getParentOp());
  std::pair<Int, Int> range = getBlocks(lowering, loop);
  first = range.first;
  end = range.second;
  k.ifThen(k.equal(block, first), [&] {
    // Whoever reads slots of the tile before is done.
    k.barrier();
    copy(first);
  });
  k.ifThen(k.equal(k.rem(k.sub(block, first), together), 0), [&] {
    k.waitCopies(0);
    k.barrier();
    copy(k.add(block, together));
  });
}

/// The function of all rows of this thread and of one of its columns.
SmallVector<Value> PairsOfRows::reduceColumn(int64_t column) {
  FragmentType type = op.getFragment().getType();
  int64_t rows = type.getShape()[1], columns = type.getShape()[2];
  int64_t countK = op.getRows().getType().getShape()[2];
  SmallVector<Value> left = getBox(lowering, op.getRows());
  SmallVector<Value> params = getParams(lowering, op.getParams());
  SmallVector<Value> right;
  for (int64_t position = 0; position < countK; position += width)
    right.append(
        loadRow(side, begin,
                grid.columnOffset(column) * side.pitch + position * bytes));
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row) {
    Value sum =
        k.constant(type.getElementType(), op.getFrom().convertToDouble());
    std::optional<PowerTable> table;
    if (usesTable(row * columns + column, op.getPolynomials()))
      table = findPowerTable(lowering, op);
    for (int64_t position = 0; position < countK; ++position)
      sum = applyFunction(k, op.getInner(),
                          {left[row * countK + position], right[position], sum},
                          params, table);
    sums.push_back(sum);
  }
  return sums;
}

void PairsOfRows::lower(const std::shared_ptr<PairsOfRows> &pairs) {
  KernelBuilder &k = pairs->k;
  PairsOfRowsOp op = pairs->op;
  pairs->copyAhead();
  CopiedSide &side = pairs->side;
  side =
      pairs->getSide(op.getRhs(), op.getPlace(), op.getRight(),
                     k.mul(k.extend(pairs->block), pairs->tileColumns), false);
  Int slot = pairs->getSlot(pairs->block);
  pairs->begin = k.add(k.add(k.mul(slot, side.slotBytes), side.begin),
                       k.mul(pairs->grid.column, side.pitch));
  FragmentType type = op.getFragment().getType();
  int64_t rows = type.getShape()[1], columns = type.getShape()[2];
  LoweredFragment &fragment = pairs->lowering.fragments[op.getFragment()];
  fragment.box.assign(type.getBox().begin(), type.getBox().end());
  fragment.forParts = [=](function_ref<void(const Boxes &)> body) {
    for (int64_t column = 0; column < columns; ++column) {
      SmallVector<Value> sums = pairs->reduceColumn(column);
      Boxes part{SmallVector<Value>(rows * columns)};
      for (int64_t row = 0; row < rows; ++row)
        part.front()[row * columns + column] = sums[row];
      body(part);
    }
  };
}

void tile::lower(Lowering &lowering, PairsOfRowsOp op) {
  PairsOfRows::lower(std::make_shared<PairsOfRows>(lowering, op));
}
