//===- ValueProducts.cpp - tile.for_pairs by matrix instructions ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A lane has results of matrix instructions: columns 2t and 2t + 1 of eight, of
// rows g and g + 8. Taken for positions t and t + 4 along the contracted axis,
// they are what it has to have of operand A of the next instruction: a matrix
// is multiplied by its values without leaving registers. Packed values are in
// the same order.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "kron/CodeGen/GPU/MmaProducts.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Columns of the matrix, and of the values, that an instruction takes.
static constexpr int64_t kColumns = 8;

namespace {

class ValueProducts {
public:
  ValueProducts(Lowering &lowering, ForPairsOp op)
      : lowering(lowering), k(lowering.k), op(op),
        element(op.getValues().getType().getElementType()),
        type(cast<FragmentType>(op.getSums().front().getType())),
        rows(type.getShape()[1]), results(type.getShape()[2]),
        columns(static_cast<int64_t>(op.getBy()) / op.getLanes()),
        rowElements(
            cast<RingType>(op.getRing().getType()).getBuffer().getShape()[1]),
        words(rowElements / (results / 2 * 32)),
        math(k, element.isF64() ? MmaMath::F64 : MmaMath::SplitTF32,
             type.getAtom() == AtomKind::MmaF64) {}

  void lower();

private:
  Int copyValues(Int block, Int first);
  SmallVector<Value> maskColumns(ArrayRef<Value> matrix, Int block);
  Value getWords(Int slot, int64_t column, int64_t result, Int lane);
  MmaB loadValues(Int slot, int64_t column, int64_t result);
  MmaA splitMatrix(ArrayRef<Value> matrix, int64_t row, int64_t column);
  void addProducts(MmaC &main, MmaC &small, const MmaA &a, const MmaB &b);
  SmallVector<Value> multiply(ArrayRef<Value> matrix, Int slot);
  SmallVector<Value> multiplyPlain(ArrayRef<Value> matrix, Int slot,
                                   ValueRange zeros);
  SmallVector<Value> addBlock(Int block, Int first, ValueRange sums);
  Value add(Value lhs, Value rhs) {
    return arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
  }

  Lowering &lowering;
  KernelBuilder &k;
  ForPairsOp op;
  Type element;
  FragmentType type;
  /// Of a thread: rows, results of each, and columns of the matrix.
  const int64_t rows, results, columns;
  /// Elements of a row of packed values, and of those what a lane has of two
  /// columns of the matrix.
  const int64_t rowElements, words;
  MmaProducts math;
};

} // namespace

/// Starts to copy the values of `block`, and returns where. Who waits for the
/// first rows of the matrix waits for these as well, since they come in front.
Int ValueProducts::copyValues(Int block, Int first) {
  int64_t groups = columns / 2;
  PairSide side =
      getPairSide(lowering, op.getValues(), op.getPlace(), op.getRing(),
                  k.mul(k.extend(block), groups), groups);
  Int firstResult = lowering.places.at(op.getPlace()).starts.back();
  Int position =
      k.truncate(k.mul(k.floorDiv(firstResult, kColumns), int64_t(32 * words)));
  Int size = k.truncate(lowering.views.at(op.getValues()).sizes.back());
  Int slot =
      k.add(k.mul(k.bitAnd(k.truncate(k.sub(block, first)), 1), side.slotBytes),
            side.begin);
  copyRowChunks(lowering, side, readThreadId(k), position, slot, size,
                rowElements);
  k.commitCopies();
  return slot;
}

/// The matrix with zeros in columns that do not exist: their values are zeros,
/// which functions of nothing may be infinite beside.
SmallVector<Value> ValueProducts::maskColumns(ArrayRef<Value> matrix,
                                              Int block) {
  auto pairs = *op.getBody()->getOps<PairsOp>().begin();
  const LoweredView &rhs = lowering.views.at(pairs.getRhs());
  Int sizeN = rhs.sizes[rhs.sizes.size() - 2];
  auto by = static_cast<int64_t>(op.getBy());
  if (sizeN.isConstant() && sizeN.getConstant() % by == 0)
    return SmallVector<Value>(matrix);
  Int begin = k.mul(k.extend(block), by);
  ThreadGrid grid(lowering, op.getLanes(), type);
  return k.ifElse(
      k.less(k.add(begin, by - 1), k.extend(sizeN)),
      SmallVector<Type>(matrix.size(), element),
      [&] { return SmallVector<Value>(matrix); },
      [&] {
        SmallVector<Value> masked(matrix);
        Int own = k.add(begin, k.extend(grid.column));
        for (int64_t column = 0; column < columns; ++column) {
          Value exists =
              k.less(k.add(own, grid.columnOffset(column)), k.extend(sizeN));
          for (int64_t row = 0; row < rows; ++row) {
            Value &value = masked[row * columns + column];
            value = k.select(exists, value, k.constant(element, 0));
          }
        }
        return masked;
      });
}

/// Where lane `lane` has its values, for the thread's columns `column` and the
/// next one and eight results, the first of which is number `result`.
Value ValueProducts::getWords(Int slot, int64_t column, int64_t result,
                              Int lane) {
  int64_t bytes = kron::getElementBytes(element);
  int64_t behind = column / 2 * rowElements + result / 2 * 32 * words;
  Int start = k.add(slot, k.mul(lane, words * bytes));
  return k.offsetBytes(k.shared(start), behind * bytes);
}

MmaB ValueProducts::loadValues(Int slot, int64_t column, int64_t result) {
  SmallVector<Value> loaded =
      k.unpack(k.load(VectorType::get({words}, element),
                      getWords(slot, column, result, k.laneId())));
  if (element.isF64())
    return {MmaOperand{loaded[0], nullptr}, MmaOperand{loaded[1], nullptr}};
  auto getBits = [&](int64_t word) {
    return word < words ? k.bitcast(loaded[word], k.builder.getI32Type())
                        : Value();
  };
  return {MmaOperand{getBits(0), getBits(2)},
          MmaOperand{getBits(1), getBits(3)}};
}

/// The operand of rows `row` and the next one, columns `column` and the next
/// one.
MmaA ValueProducts::splitMatrix(ArrayRef<Value> matrix, int64_t row,
                                int64_t column) {
  auto split = [&](int64_t row, int64_t column) {
    return math.getOperand(matrix[row * columns + column], /*exact=*/false);
  };
  return {split(row, column), split(row + 1, column), split(row, column + 1),
          split(row + 1, column + 1)};
}

/// Small products have sums of their own: what large ones cut off would be as
/// large as these.
void ValueProducts::addProducts(MmaC &main, MmaC &small, const MmaA &a,
                                const MmaB &b) {
  if (element.isF64())
    return math.multiply({{&main, &a, &b}});
  auto addTo = [&](MmaC &sum, Value MmaOperand::*left,
                   Value MmaOperand::*right) {
    SmallVector<Value> lhs, rhs;
    for (const MmaOperand &operand : a)
      lhs.push_back(operand.*left);
    for (const MmaOperand &operand : b)
      rhs.push_back(operand.*right);
    llvm::copy(k.mmaTF32(lhs, rhs, sum), sum.begin());
  };
  addTo(small, &MmaOperand::low, &MmaOperand::high);
  if (b[0].low)
    addTo(small, &MmaOperand::high, &MmaOperand::low);
  addTo(main, &MmaOperand::high, &MmaOperand::high);
}

/// The products with a block, row by row.
SmallVector<Value> ValueProducts::multiply(ArrayRef<Value> matrix, Int slot) {
  int64_t eights = results / 2;
  SmallVector<MmaC> main(rows / 2 * eights, math.getZeros());
  SmallVector<MmaC> small(main);
  for (int64_t column = 0; column < columns; column += 2) {
    SmallVector<MmaB> values;
    for (int64_t result = 0; result < results; result += 2)
      values.push_back(loadValues(slot, column, result));
    for (int64_t row = 0; row < rows; row += 2) {
      MmaA a = splitMatrix(matrix, row, column);
      for (auto [number, b] : llvm::enumerate(values)) {
        int64_t place = row / 2 * eights + static_cast<int64_t>(number);
        addProducts(main[place], small[place], a, b);
      }
    }
  }
  SmallVector<Value> products(rows * results);
  SmallVector<const MmaC *> checked;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t result = 0; result < results; ++result) {
      int64_t place = row / 2 * eights + result / 2;
      Value &value = main[place][row % 2 * 2 + result % 2];
      if (!element.isF64())
        value = add(value, small[place][row % 2 * 2 + result % 2]);
      products[row * results + result] = value;
    }
  if (element.isF64())
    return products;
  for (const MmaC &sum : main)
    checked.push_back(&sum);
  SmallVector<Value> zeros(products.size(), math.getZero());
  return k.ifElse(
      math.isAnyNotFinite(checked), ValueRange(products).getTypes(),
      [&] { return multiplyPlain(matrix, slot, zeros); },
      [&] { return products; });
}

/// The same without parts: a lane multiplies its own columns by all results,
/// one of four lanes after the other, whose sums the lanes add up.
SmallVector<Value> ValueProducts::multiplyPlain(ArrayRef<Value> matrix,
                                                Int slot, ValueRange zeros) {
  Int lane = k.laneId(), place = k.rem(lane, 4);
  return k.rolledLoop(0, 4, 1, zeros, [&](Int owner, ValueRange carried) {
    SmallVector<Value> next(carried);
    Value isOwner = k.equal(owner, place);
    for (int64_t result = 0; result < results; ++result) {
      // That of the owner: the lane beside it that has its elements.
      Int other = k.add(k.mul(k.add(k.mul(owner, 2), result % 2), 4), place);
      SmallVector<Value> sums(rows, math.getZero());
      for (int64_t column = 0; column < columns; column += 2) {
        SmallVector<Value> loaded =
            k.unpack(k.load(VectorType::get({words}, element),
                            getWords(slot, column, result / 2 * 2, other)));
        for (int64_t second : {0, 1}) {
          Value value = words == 4 ? add(loaded[second], loaded[2 + second])
                                   : loaded[second];
          for (int64_t row = 0; row < rows; ++row)
            sums[row] = k.fma(matrix[row * columns + column + second], value,
                              sums[row]);
        }
      }
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t mask : {1, 2})
          sums[row] = add(sums[row], k.shuffleXor(sums[row], mask));
        Value &own = next[row * results + result];
        own = k.select(isOwner, sums[row], own);
      }
    }
    return next;
  });
}

SmallVector<Value> ValueProducts::addBlock(Int block, Int first,
                                           ValueRange sums) {
  Int slot = copyValues(block, first);
  lowering.numbers[op.getBlockNumber()] = block;
  lowering.lower(*op.getBody());
  SmallVector<Value> matrix = maskColumns(
      getBox(lowering, op.getBody()->getTerminator()->getOperand(0)), block);
  SmallVector<Value> products = multiply(matrix, slot);
  for (auto [product, sum] : llvm::zip_equal(products, sums))
    product = add(sum, product);
  return products;
}

void ValueProducts::lower() {
  auto [first, end] = getBlocks(lowering, op);
  Int begin = first;
  // Whoever reads values of the tile before is done.
  k.barrier();
  SmallVector<Value> zeros(rows * results, math.getZero());
  setBox(lowering, cast<TypedValue<FragmentType>>(op.getSums().front()),
         k.rolledLoop(first, end, 1, zeros, [&](Int block, ValueRange sums) {
           return addBlock(block, begin, sums);
         }));
}

void tile::lowerValueProducts(Lowering &lowering, ForPairsOp op) {
  ValueProducts(lowering, op).lower();
}
