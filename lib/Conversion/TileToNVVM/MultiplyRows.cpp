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

#include "Pairs.h"
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

class RowProducts {
public:
  RowProducts(Lowering &lowering, MultiplyRowsOp op)
      : lowering(lowering), k(lowering.k), op(op),
        type(op.getProducts().getType()), grid(lowering, op.getLanes(), type),
        element(op.getLeft().getType().getBuffer().getElementType()),
        stepK(op.getLeft().getType().getBuffer().getShape()[1]),
        rows(type.getShape()[1]), columns(type.getShape()[2]),
        parts(op.getLhs().size()),
        math(k, MmaMath::F64, type.getAtom() == AtomKind::MmaF64) {
    sizeK = k.truncate(lowering.views.at(op.getLhs().front()).sizes.back());
  }

  void lower();

private:
  using Products = SmallVector<Value, 4>;

  Value constant(double value) {
    return k.constant(type.getElementType(), value);
  }
  Value mul(Value lhs, Value rhs) {
    return arith::MulFOp::create(k.builder, k.loc, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
  }
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
  Value loadOfRow(ValueRange views, bool ofColumn, int64_t behind);
  Value finish(MutableArrayRef<Value> products);
  Value isOfAll(Value condition);

  Lowering &lowering;
  KernelBuilder &k;
  MultiplyRowsOp op;
  FragmentType type;
  ThreadGrid grid;
  Type element;
  const int64_t stepK, rows, columns, parts;
  MmaProducts math;
  Int sizeK, firstRow, firstColumn;
  /// Of each part.
  SmallVector<PairSide> left, right;
  /// Where this lane loads rows, for either instruction, and columns of a step.
  Int rowStarts[2], columnStart;
};

} // namespace

/// Of f64: what this lane has of row `row` and part `part`.
SmallVector<Value> RowProducts::load(const PairSide &side, Int start,
                                     int64_t part, int64_t row) {
  int64_t behind = (part * side.rows + row) * side.pitch;
  return k.unpack(k.load(VectorType::get({2}, element),
                         k.offsetBytes(k.shared(start), behind)));
}

/// Of 16 bits: four matrices of eight rows and 16 bytes, from row `row` of part
/// `part` on.
SmallVector<Value> RowProducts::loadMatrices(const PairSide &side, Int start,
                                             int64_t part, int64_t row) {
  int64_t behind = (part * side.rows + row) * side.pitch;
  return k.inlinePTX(
      SmallVector<Type>(4, k.builder.getI32Type()),
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
      "=r,=r,=r,=r,l,~{memory}", {k.offsetBytes(k.shared(start), behind)});
}

/// The operands of 16 rows from `row` on.
RowParts RowProducts::loadRows(int64_t row) {
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
RowParts RowProducts::loadColumn(int64_t column) {
  const PairSide &side = right.front();
  RowParts loaded;
  for (int64_t part = 0; part < parts; ++part)
    loaded.push_back(element.isF64()
                         ? load(side, columnStart, part, column)
                         : loadMatrices(side, columnStart, part, column));
  return loaded;
}

/// Finds where this lane loads what is in slot number `slot`.
void RowProducts::findStarts(Int slot) {
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
void RowProducts::multiply(const RowParts &left, ArrayRef<RowParts> right,
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

SmallVector<Value> RowProducts::reduceStep(Int slot, ValueRange sums) {
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

/// The value that `views` have of a row, or a column, of this thread that is
/// `behind` its first one; of one that does not exist, that of the last one.
/// Null, if there are no views.
Value RowProducts::loadOfRow(ValueRange views, bool ofColumn, int64_t behind) {
  if (views.empty())
    return nullptr;
  Value view = views[ofColumn ? 1 : 0];
  const LoweredView &array = lowering.views.at(view);
  Int first = ofColumn ? k.add(k.extend(firstColumn), k.extend(grid.column))
                       : k.add(k.extend(firstRow), k.extend(grid.row));
  Int row = k.min(k.add(first, behind), k.sub(array.sizes.back(), 1));
  Int offset = k.mul(k.extend(row), k.extend(array.array.strides.back()));
  Value batch = getBatch(lowering, view, op.getPlace(), /*innerRank=*/1);
  return k.load(array.element, k.offsetElements(batch, array.element, offset),
                CacheHint::ReadOnly);
}

/// Makes results of `products`, and returns whether they are exact.
Value RowProducts::finish(MutableArrayRef<Value> products) {
  Type sum = type.getElementType();
  SmallVector<Value> rowNorms, rowScales;
  for (int64_t row = 0; row < rows; ++row) {
    rowNorms.push_back(loadOfRow(op.getNorms(), false, grid.rowOffset(row)));
    rowScales.push_back(loadOfRow(op.getScales(), false, grid.rowOffset(row)));
  }
  double largest =
      llvm::APFloat::getLargest(cast<FloatType>(sum).getFloatSemantics())
          .convertToDouble();
  Value held, limit;
  auto require = [&](Value lhs, Value rhs) {
    held = k.both(held,
                  arith::CmpFOp::create(k.builder, k.loc,
                                        arith::CmpFPredicate::OLE, lhs, rhs));
  };
  bool isSquare = !op.getNorms().empty(), isScaled = !op.getScales().empty();
  if (isSquare) {
    for (Value norm : rowNorms)
      require(norm, constant(largest / 8));
    Value count = arith::UIToFPOp::create(k.builder, k.loc, sum,
                                          k.materialize(sizeK, 32));
    Value roundings = constant(op.getRoundings().convertToDouble());
    if (sum.isF64())
      roundings = add(roundings, arith::DivFOp::create(k.builder, k.loc, count,
                                                       constant(8)));
    limit = arith::DivFOp::create(k.builder, k.loc, roundings,
                                  add(count, constant(24)));
  }
  for (int64_t column = 0; column < columns; ++column) {
    int64_t behind = grid.columnOffset(column);
    Value columnNorm = loadOfRow(op.getNorms(), true, behind);
    Value factor = loadOfRow(op.getScales(), true, behind);
    if (isSquare) {
      require(columnNorm, constant(largest / 8));
      factor = isScaled ? mul(factor, constant(-2)) : constant(-2);
    }
    for (int64_t row = 0; row < rows; ++row) {
      Value &value = products[row * columns + column];
      if (isScaled)
        value = mul(value, rowScales[row]);
      if (isSquare) {
        Value norms = add(rowNorms[row], columnNorm);
        value = k.fma(value, factor, norms);
        require(mul(norms, limit), value);
        continue;
      }
      if (isScaled)
        value = mul(value, factor);
      require(LLVM::FAbsOp::create(k.builder, k.loc, value), constant(largest));
    }
  }
  return held;
}

/// Whether `condition` holds in all threads.
Value RowProducts::isOfAll(Value condition) {
  Type i32 = k.builder.getI32Type();
  Value holds = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), condition,
      NVVM::VoteSyncKind::all);
  int64_t warps = lowering.threads / 32, votes = k.allocateShared(4 * warps);
  k.ifThen(k.equal(k.laneId(), 0), [&] {
    k.store(k.select(holds, k.materialize(1, 32), k.materialize(0, 32)),
            k.shared(k.add(k.mul(k.warpId(), 4), votes)));
  });
  k.barrier();
  Int all = 1;
  for (int64_t warp = 0; warp < warps; ++warp)
    all = k.bitAnd(all, Int(k.load(i32, k.shared(votes + 4 * warp))));
  return k.equal(all, 1);
}

void RowProducts::lower() {
  ArrayRef<Int> starts =
      ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2);
  int64_t tileRows = rows * grid.groups, tileColumns = columns * grid.lanes;
  firstRow = starts[0];
  firstColumn =
      getFirstColumn(lowering, op.getPlace(), op.getBlock(), tileColumns);
  for (int64_t part = 0; part < parts; ++part) {
    left.push_back(getPairSide(lowering, op.getLhs()[part], op.getPlace(),
                               op.getLeft(), firstRow, tileRows));
    right.push_back(getPairSide(lowering, op.getRhs()[part], op.getPlace(),
                                op.getRight(), firstColumn, tileColumns));
  }
  Int steps = k.ceilDiv(sizeK, stepK);
  int64_t stages = op.getLeft().getType().getStages();
  Value copiesRows =
      needsRows(lowering, op.getPlace(), op.getBlock(), steps, stages);
  auto copy = [&](Int step, Int slot) {
    Int thread = readThreadId(k), position = k.mul(step, stepK);
    auto copySides = [&](ArrayRef<PairSide> sides) {
      for (auto [part, side] : llvm::enumerate(sides)) {
        int64_t behind = static_cast<int64_t>(part) * side.rows * side.pitch;
        Int place = k.add(k.mul(slot, side.slotBytes), side.begin + behind);
        copyRowChunks(lowering, side, thread, position, place, sizeK, stepK,
                      /*exchanges=*/!element.isF64());
      }
    };
    k.ifThen(copiesRows, [&] { copySides(left); });
    copySides(right);
  };
  SmallVector<Value> products = reduceThroughRing(
      k, steps, stages, SmallVector<Value>(rows * columns, constant(0)), copy,
      [&](Int, Int slot, ValueRange sums) { return reduceStep(slot, sums); });
  Value held = isOfAll(finish(products));
  setBox(lowering, op.getProducts(), products);
  lowering.scalars[op.getHeld()] = held;
}

void tile::lowerMultiplyRows(Lowering &lowering, MultiplyRowsOp op) {
  RowProducts(lowering, op).lower();
}
