//===- MultiplyRows.cpp - tile.multiply_rows ------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Operands of 16 bits are loaded by ldmatrix, whose registers are those that an
// instruction takes together: put together of several loads, they would be
// copied. It reads 16 bytes of each of eight rows, which the copies exchange
// within rows of 64 bytes so that eight rows fill all banks, without gaps.
//
// Of f64 a lane loads 16 bytes of a row at once, those of its slot of 64: which
// positions along K an instruction takes together makes no difference to a sum,
// if both operands agree.
//
// Matrix instructions cut off what they add up instead of rounding it, so that
// long sums would all be too small. Those of a step start from zero, and are
// added to the others by rounding additions.
//
//===----------------------------------------------------------------------===//

#include "RowProducts.h"
#include "kron/CodeGen/GPU/MmaProducts.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// What a lane loads at a time.
static constexpr int64_t kLoadBytes = 16;
/// Columns whose sums are under way together: as many as hide that an
/// instruction waits for the one before.
static constexpr int64_t kTogether = 4;

namespace {

/// What a lane has of 64 bytes of a column, or of rows of 16, in each part: the
/// operands of one instruction behind those of another.
using RowParts = SmallVector<SmallVector<Value>, 2>;

class MmaRows : RowProducts {
public:
  MmaRows(Lowering &lowering, MultiplyRowsOp op)
      : RowProducts(lowering, op),
        math(k, MmaMath::F64, type.getAtom() == AtomKind::MmaF64) {}

  void lower();

private:
  SmallVector<Value> load(const PairSide &side, Int start, int64_t part,
                          int64_t row);
  SmallVector<Value> loadMatrices(const PairSide &side, Int start, int64_t part,
                                  int64_t row);
  RowParts loadRows(int64_t row);
  RowParts loadColumn(int64_t column);
  void findStarts(Int slot);
  void multiply(const RowParts &left, ArrayRef<RowParts> right,
                MutableArrayRef<MmaC> sums);
  SmallVector<Value> reduceStep(Int slot, ValueRange sums);

  MmaProducts math;
  /// Of each part.
  SmallVector<PairSide> left, right;
  /// Where this lane loads rows, for either instruction, and columns of a step.
  Int rowStarts[2], columnStart;
};

} // namespace

/// Of f64: what this lane has of row `row` and part `part`.
SmallVector<Value> MmaRows::load(const PairSide &side, Int start, int64_t part,
                                 int64_t row) {
  int64_t behind = (part * side.rows + row) * side.pitch;
  return k.unpack(k.load(VectorType::get({2}, element),
                         k.offsetBytes(k.shared(start), behind)));
}

/// Of 16 bits: four matrices of eight rows and 16 bytes, from row `row` of part
/// `part` on.
SmallVector<Value> MmaRows::loadMatrices(const PairSide &side, Int start,
                                         int64_t part, int64_t row) {
  int64_t behind = (part * side.rows + row) * side.pitch;
  return k.inlinePTX(
      SmallVector<Type>(4, k.builder.getI32Type()),
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
      "=r,=r,=r,=r,l,~{memory}", {k.offsetBytes(k.shared(start), behind)});
}

/// The operands of 16 rows from `row` on.
RowParts MmaRows::loadRows(int64_t row) {
  const PairSide &side = left.front();
  RowParts loaded;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<Value> &values = loaded.emplace_back();
    if (!element.isF64()) {
      for (Int start : rowStarts)
        values.append(loadMatrices(side, start, part, row));
      continue;
    }
    SmallVector<Value> upper = load(side, rowStarts[0], part, row);
    SmallVector<Value> lower = load(side, rowStarts[0], part, row + 8);
    values = {upper[0], lower[0], upper[1], lower[1]};
  }
  return loaded;
}

/// The operands of eight columns from `column` on.
RowParts MmaRows::loadColumn(int64_t column) {
  const PairSide &side = right.front();
  RowParts loaded;
  for (int64_t part = 0; part < parts; ++part)
    loaded.push_back(element.isF64()
                         ? load(side, columnStart, part, column)
                         : loadMatrices(side, columnStart, part, column));
  return loaded;
}

/// Finds where this lane loads what is in slot number `slot`.
void MmaRows::findStarts(Int slot) {
  Int lane = k.laneId();
  // Group g of f64 has row g of eight. Of 16 bits each lane names a row of one
  // of four matrices: of rows those of an instruction, eight rows behind each
  // other and then 16 bytes, of columns 64 bytes.
  Int group = k.floorDiv(lane, 4), place = k.rem(lane, 4), row = k.rem(lane, 8);
  auto getStart = [&](const PairSide &side, Int first, Int own, Int chunk) {
    if (!element.isF64())
      chunk = getRowChunk(k, own, chunk);
    return k.add(
        k.add(k.mul(slot, side.slotBytes), side.begin),
        k.add(k.mul(chunk, kLoadBytes), k.mul(k.add(first, own), side.pitch)));
  };
  Int firstRow = k.sub(grid.row, group);
  Int firstColumn = k.sub(grid.column, k.mul(place, 2));
  if (element.isF64()) {
    rowStarts[0] = getStart(left.front(), firstRow, group, place);
    columnStart = getStart(right.front(), firstColumn, group, place);
    return;
  }
  for (int64_t half : {0, 1})
    rowStarts[half] = getStart(left.front(), firstRow, k.rem(lane, 16),
                               k.add(k.floorDiv(lane, 16), 2 * half));
  columnStart = getStart(right.front(), firstColumn, row, k.floorDiv(lane, 8));
}

/// Adds products of 16 rows with several columns.
void MmaRows::multiply(const RowParts &left, ArrayRef<RowParts> right,
                       MutableArrayRef<MmaC> sums) {
  // Small products first.
  SmallVector<std::pair<unsigned, unsigned>> pairs{{0, 0}};
  if (parts == 2)
    pairs = {{1, 0}, {0, 1}, {0, 0}};
  auto getOperand = [](Value value) { return MmaOperand{value, nullptr}; };
  for (auto [first, second] : pairs) {
    size_t instructions = left[first].size() / 4;
    for (size_t number = 0; number < instructions; ++number) {
      ArrayRef<Value> a = ArrayRef(left[first]).slice(4 * number, 4);
      for (auto [sum, column] : llvm::zip_equal(sums, right)) {
        ArrayRef<Value> b = ArrayRef(column[second]).slice(2 * number, 2);
        if (element.isF64()) {
          MmaA wide = {getOperand(a[0]), getOperand(a[1]), getOperand(a[2]),
                       getOperand(a[3])};
          MmaB other = {getOperand(b[0]), getOperand(b[1])};
          math.multiply({{&sum, &wide, &other}});
          continue;
        }
        SmallVector<Value> next = k.mmaHalf(a, b, sum, element.isBF16());
        llvm::copy(next, sum.begin());
      }
    }
  }
}

SmallVector<Value> MmaRows::reduceStep(Int slot, ValueRange sums) {
  SmallVector<Value> next(sums);
  findStarts(slot);
  // What takes fewer registers is loaded once.
  bool keepsRows = rows + kTogether < columns / 2 + 2;
  SmallVector<RowParts> rowParts, columnParts;
  for (int64_t row = 0; keepsRows && row < rows; row += 2)
    rowParts.push_back(loadRows(8 * row));
  for (int64_t column = 0; !keepsRows && column < columns / 2; ++column)
    columnParts.push_back(loadColumn(8 * column));
  auto multiplyBlock = [&](const RowParts &left, ArrayRef<RowParts> right,
                           int64_t row, int64_t begin) {
    Value zero = constant(0);
    SmallVector<MmaC> products(right.size(), MmaC{zero, zero, zero, zero});
    multiply(left, right, products);
    for (auto [column, values] : llvm::enumerate(products))
      for (int64_t number = 0; number < 4; ++number) {
        int64_t place = begin + static_cast<int64_t>(column);
        Value &sum =
            next[(row + number / 2) * columns + 2 * place + number % 2];
        sum = add(sum, values[number]);
      }
  };
  if (keepsRows) {
    for (int64_t begin = 0; begin < columns / 2; begin += kTogether) {
      columnParts.clear();
      for (int64_t column = begin;
           column < std::min(begin + kTogether, columns / 2); ++column)
        columnParts.push_back(loadColumn(8 * column));
      for (int64_t row = 0; row < rows; row += 2)
        multiplyBlock(rowParts[row / 2], columnParts, row, begin);
    }
    return next;
  }
  for (int64_t row = 0; row < rows; row += 2) {
    RowParts left = loadRows(8 * row);
    for (int64_t begin = 0; begin < columns / 2; begin += kTogether)
      multiplyBlock(left,
                    ArrayRef(columnParts)
                        .slice(begin, std::min(columns / 2 - begin, kTogether)),
                    row, begin);
  }
  return next;
}

void MmaRows::lower() {
  int64_t tileRows = rows * grid.groups, tileColumns = columns * grid.lanes;
  left = getSides(op.getLhs(), op.getLeft(), firstRow, tileRows);
  right = getSides(op.getRhs(), op.getRight(), firstColumn, tileColumns);
  copyNorms();
  Int steps = k.ceilDiv(sizeK, stepK);
  Value copiesRows =
      needsRows(lowering, op.getPlace(), op.getBlock(), steps, stages);
  auto copy = [&](Int step, Int slot) {
    Int thread = readThreadId(k), position = k.mul(step, stepK);
    k.ifThen(copiesRows, [&] { copySides(left, thread, position, slot); });
    copySides(right, thread, position, slot);
  };
  setResults(reduceThroughRing(
      k, steps, stages, SmallVector<Value>(rows * columns, constant(0)), copy,
      [&](Int, Int slot, ValueRange sums) { return reduceStep(slot, sums); }));
}

void tile::lower(Lowering &lowering, MultiplyRowsOp op) {
  if (op.getProducts().getType().getAtom() == AtomKind::WgmmaHalf)
    return multiplyByWarpgroups(lowering, op);
  MmaRows(lowering, op).lower();
}
