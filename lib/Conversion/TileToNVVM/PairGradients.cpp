//===- PairGradients.cpp - Gradients of functions of pairs ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// tile.for_gradients, tile.weigh_pairs and tile.add_derivatives. A thread has
// sums of rows and positions of K; columns pass by, one at a time, with their
// weights for all rows of the tile, in shared memory: what differs among lanes
// there are neighbouring elements, or none.
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lower(Lowering &lowering, ForGradientsOp op) {
  KernelBuilder &k = lowering.k;
  FragmentType type = op.getSums().getType();
  Block &body = *op.getBody();
  auto carried = cast<TypedValue<FragmentType>>(Value(op.getCarried()));
  const LoweredView &columns = lowering.views.at(op.getRhs());
  auto [first, end] =
      getBlocksOf(lowering, op.getPlace(), op.getBlocks(),
                  columns.sizes[columns.sizes.size() - 2], op.getBy());
  SmallVector<Value> sums(type.getShape()[0] * type.getBoxElements(),
                          k.constant(type.getElementType(), 0));
  sums = k.rolledLoop(first, end, 1, sums, [&](Int block, ValueRange now) {
    lowering.numbers[op.getBlockNumber()] = block;
    setBox(lowering, carried, SmallVector<Value>(now));
    lowering.lower(body);
    return getBox(lowering, body.getTerminator()->getOperand(0));
  });
  setBox(lowering, op.getSums(), sums);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {

class PairWeights {
public:
  PairWeights(Lowering &lowering, WeighPairsOp op)
      : lowering(lowering), k(lowering.k), op(op),
        type(op.getWeighed().getType()), grid(lowering, op.getLanes(), type),
        rows(type.getShape()[1]), columns(type.getShape()[2]) {
    grid.readAnew(k);
  }

  void lower();

private:
  SmallVector<Int> getPositions(Value view, Int first, bool ofColumns);
  SmallVector<Value> loadGradient();
  SmallVector<Value> multiplyFactors();

  Lowering &lowering;
  KernelBuilder &k;
  WeighPairsOp op;
  FragmentType type;
  ThreadGrid grid;
  const int64_t rows, columns;
  Int firstRow, firstColumn;
};

} // namespace

/// `position`, or the last one of an axis of `size`.
static Int clamp(KernelBuilder &k, Int position, Int size) {
  return k.min(position, k.sub(k.extend(size), 1));
}

/// Offsets, in elements, of this thread's rows or columns from `first` on in
/// `view`: columns of the gradient are its last axis, of a factor its rows.
SmallVector<Int> PairWeights::getPositions(Value view, Int first,
                                           bool ofColumns) {
  const LoweredView &array = lowering.views.at(view);
  bool isLast = ofColumns && view == op.getGrad();
  size_t axis = array.sizes.size() - (isLast ? 1 : 2);
  SmallVector<Int> offsets;
  Int start =
      k.add(k.extend(first), k.extend(ofColumns ? grid.column : grid.row));
  for (int64_t number = 0; number < (ofColumns ? columns : rows); ++number) {
    Int position = k.add(start, ofColumns ? grid.columnOffset(number)
                                          : grid.rowOffset(number));
    offsets.push_back(k.mul(clamp(k, position, array.sizes[axis]),
                            k.extend(array.array.strides[axis])));
  }
  return offsets;
}

SmallVector<Value> PairWeights::loadGradient() {
  Value view = op.getGrad();
  Type element = lowering.views.at(view).element;
  Value base = getBatch(lowering, view, op.getPlace(), /*innerRank=*/2);
  SmallVector<Int> across = getPositions(view, firstColumn, true);
  SmallVector<Value> values;
  for (Int row : getPositions(view, firstRow, false)) {
    Value start = k.offsetElements(base, element, row);
    for (Int column : across)
      values.push_back(
          toSum(k, k.load(element, k.offsetElements(start, element, column),
                          CacheHint::ReadOnly)));
  }
  return values;
}

/// Products of rows of the factors.
SmallVector<Value> PairWeights::multiplyFactors() {
  SmallVector<Value> views(op.getFactors());
  SmallVector<SmallVector<Int>> offsets;
  SmallVector<Value> bases;
  for (auto [number, view] : llvm::enumerate(views)) {
    offsets.push_back(
        getPositions(view, number ? firstColumn : firstRow, number == 1));
    bases.push_back(getBatch(lowering, view, op.getPlace(), /*innerRank=*/2));
  }
  auto load = [&](size_t number, Int position) {
    const LoweredView &view = lowering.views.at(views[number]);
    Int inner = k.mul(k.extend(position), k.extend(view.array.strides.back()));
    return llvm::map_to_vector(offsets[number], [&](Int offset) {
      Value pointer =
          k.offsetElements(bases[number], view.element, k.add(offset, inner));
      return toSum(k, k.load(view.element, pointer, CacheHint::ReadOnly));
    });
  };
  SmallVector<Value> sums(rows * columns, k.constant(type.getElementType(), 0));
  Int count = k.truncate(lowering.views.at(views.front()).sizes.back());
  return k.rolledLoop(0, count, 1, sums, [&](Int position, ValueRange carried) {
    SmallVector<Value> own = load(0, position), other;
    if (views.size() > 1)
      other = load(1, position);
    SmallVector<Value> next;
    for (auto [number, so] : llvm::enumerate(carried)) {
      Value value = own[number / columns];
      next.push_back(other.empty()
                         ? arith::AddFOp::create(k.builder, k.loc, so, value)
                         : k.fma(value, other[number % columns], so));
    }
    return next;
  });
}

void PairWeights::lower() {
  firstRow =
      ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2).front();
  firstColumn =
      k.mul(k.extend(lowering.numbers.at(op.getBlock())), columns * grid.lanes);
  SmallVector<Value> product;
  auto multiply = [&](SmallVector<Value> values) {
    if (product.empty()) {
      product = values;
      return;
    }
    for (auto [value, factor] : llvm::zip_equal(product, values))
      value = arith::MulFOp::create(k.builder, k.loc, value, factor);
  };
  if (op.getGrad())
    multiply(loadGradient());
  if (!op.getFactors().empty())
    multiply(multiplyFactors());
  if (op.getPairs())
    multiply(getBox(lowering, op.getPairs()));
  setBox(lowering, op.getWeighed(), product);
}

void tile::lower(Lowering &lowering, WeighPairsOp op) {
  PairWeights(lowering, op).lower();
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

namespace {

class PairDerivatives : RowCopies {
public:
  PairDerivatives(Lowering &lowering, AddDerivativesOp op)
      : RowCopies(lowering, op.getRhs(), op.getColumns()), op(op),
        type(op.getSums().getType()), grid(lowering, op.getLanes(), type),
        outputs(type.getShape()[0]), rows(type.getShape()[1]),
        positions(type.getShape()[2]),
        weightPlaces(op.getWeightRing().getType().getBuffer()),
        tileColumns(stepRows(op.getColumns())),
        params(getParams(lowering, op.getParams())) {
    ArrayRef<Int> starts =
        ArrayRef(lowering.places.at(op.getPlace()).starts).take_back(2);
    firstRow = k.extend(starts[0]);
    firstK = k.extend(starts[1]);
    grid.readAnew(k);
    // All positions of a tile are read, also those that do not exist.
    usedK = stepK;
    firstColumn =
        k.mul(k.extend(lowering.numbers.at(op.getBlock())), tileColumns);
  }

  void lower();

private:
  static int64_t stepRows(TypedValue<RingType> ring) {
    return ring.getType().getBuffer().getShape()[0];
  }
  SmallVector<Value> loadRows();
  void storeWeights();
  void storeOutputs(Int present);
  SmallVector<Value> loadOutputs(Int column);
  SmallVector<Value> addColumn(Int column, ArrayRef<Value> lhs,
                               ValueRange sums);

  AddDerivativesOp op;
  FragmentType type;
  ThreadGrid grid;
  /// Boxes of sums; of a thread, rows and positions of K.
  const int64_t outputs, rows, positions;
  BufferType weightPlaces;
  const int64_t tileColumns;
  SmallVector<Value> params;
  Int firstRow, firstK, firstColumn;
};

} // namespace

/// The elements that are differentiated by, of those that exist.
SmallVector<Value> PairDerivatives::loadRows() {
  const LoweredView &view = lowering.views.at(op.getLhs());
  ArrayRef<Int> sizes = ArrayRef(view.sizes).take_back(2);
  ArrayRef<Int> strides = ArrayRef(view.array.strides).take_back(2);
  Value base = getBatch(lowering, op.getLhs(), op.getPlace(), 2);
  SmallVector<Value> values;
  for (int64_t row = 0; row < rows; ++row) {
    Int number =
        k.add(k.add(firstRow, k.extend(grid.row)), grid.rowOffset(row));
    Int down = k.mul(clamp(k, number, sizes[0]), k.extend(strides[0]));
    for (int64_t position = 0; position < positions; ++position) {
      Int along = k.add(k.add(firstK, k.extend(grid.column)),
                        grid.columnOffset(position));
      Int offset =
          k.add(down, k.mul(clamp(k, along, sizes[1]), k.extend(strides[1])));
      values.push_back(toSum(
          k, k.load(view.element, k.offsetElements(base, view.element, offset),
                    CacheHint::ReadOnly)));
    }
  }
  return values;
}

/// Stores this thread's weights, those of a column together.
void PairDerivatives::storeWeights() {
  FragmentType weights = op.getWeights().getType();
  ThreadGrid own(lowering, op.getWeightLanes(), weights);
  SmallVector<Value> values = getBox(lowering, op.getWeights());
  int64_t columns = weights.getShape()[2];
  int64_t pitch = weightPlaces.getTileLayout().strides[0];
  int64_t bytes = weightPlaces.getElementBytes();
  Int start = k.add(lowering.rings[op.getWeightRing()].begin,
                    k.mul(k.add(k.mul(own.column, pitch), own.row), bytes));
  Value pointer = k.shared(start);
  for (auto [number, value] : llvm::enumerate(values)) {
    int64_t row = number / columns, column = number % columns;
    int64_t behind = own.columnOffset(column) * pitch + own.rowOffset(row);
    k.store(value, k.offsetBytes(pointer, behind * bytes));
  }
}

/// Copies what outputs have for the `present` columns of the block, those of a
/// column together.
void PairDerivatives::storeOutputs(Int present) {
  const LoweredView &view = lowering.views.at(op.getOutputs());
  size_t rank = view.sizes.size();
  Value base = getBatch(lowering, op.getOutputs(), op.getPlace(), 2);
  Int first = 0, size = 1, stride = 0;
  if (rank > 2) {
    ArrayRef<Int> starts = lowering.places.at(op.getPlace()).starts;
    first = k.extend(starts[starts.size() - 3]);
    size = k.extend(view.sizes[rank - 3]);
    stride = k.extend(view.array.strides[rank - 3]);
  }
  BufferType buffer = op.getOutputRing().getType().getBuffer();
  int64_t pitch = buffer.getTileLayout().strides[0];
  int64_t sumBytes = buffer.getElementBytes();
  Int begin = lowering.rings[op.getOutputRing()].begin;
  k.rolledLoop(
      readThreadId(k), k.mul(present, outputs), lowering.threads,
      [&](Int item) {
        Int column = k.floorDiv(item, outputs), output = k.rem(item, outputs);
        // An output behind the last one is that again.
        Int behind =
            k.sub(clamp(k, k.add(first, k.extend(output)), size), first);
        Int offset = k.add(k.mul(k.add(firstColumn, k.extend(column)),
                                 k.extend(view.array.strides[rank - 2])),
                           k.mul(behind, stride));
        Value value =
            toSum(k, k.load(view.element,
                            k.offsetElements(base, view.element, offset),
                            CacheHint::ReadOnly));
        Int place = k.add(k.mul(column, pitch), output);
        k.store(value, k.shared(k.add(begin, k.mul(place, sumBytes))));
      });
}

/// What the outputs have for column `column` of the block.
SmallVector<Value> PairDerivatives::loadOutputs(Int column) {
  BufferType buffer = op.getOutputRing().getType().getBuffer();
  int64_t pitch = buffer.getTileLayout().strides[0];
  int64_t bytes = buffer.getElementBytes(), width = 16 / bytes;
  while (outputs % width != 0 || pitch % width != 0)
    width /= 2;
  Type loaded = type.getElementType();
  if (width > 1)
    loaded = VectorType::get({width}, loaded);
  Value pointer = k.shared(k.add(lowering.rings[op.getOutputRing()].begin,
                                 k.mul(column, pitch * bytes)));
  SmallVector<Value> values;
  for (int64_t first = 0; first < outputs; first += width) {
    Value part = k.load(loaded, k.offsetBytes(pointer, first * bytes));
    if (width == 1)
      values.push_back(part);
    else
      llvm::append_range(values, k.unpack(part));
  }
  return values;
}

/// Adds what column `column` of the block gives to `sums`.
SmallVector<Value> PairDerivatives::addColumn(Int column, ArrayRef<Value> lhs,
                                              ValueRange sums) {
  const LoweredRing &columns = lowering.rings[op.getColumns()];
  BufferType buffer = op.getColumns().getType().getBuffer();
  int64_t pitch = buffer.getTileLayout().strides[0] * bytes;
  int64_t sumBytes = weightPlaces.getElementBytes();
  Value right = k.shared(k.add(k.add(columns.begin, k.mul(column, pitch)),
                               k.mul(grid.column, bytes)));
  Value weights = k.shared(k.add(
      k.add(lowering.rings[op.getWeightRing()].begin,
            k.mul(column, weightPlaces.getTileLayout().strides[0] * sumBytes)),
      k.mul(grid.row, sumBytes)));
  SmallVector<Value> rhs, weight, factors;
  for (int64_t position = 0; position < positions; ++position)
    rhs.push_back(toSum(
        k, k.load(buffer.getElementType(),
                  k.offsetBytes(right, grid.columnOffset(position) * bytes))));
  for (int64_t row = 0; row < rows; ++row)
    weight.push_back(
        k.load(type.getElementType(),
               k.offsetBytes(weights, grid.rowOffset(row) * sumBytes)));
  if (op.getOutputs())
    factors = loadOutputs(column);
  SmallVector<Value> next(sums);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t position = 0; position < positions; ++position) {
      int64_t number = row * positions + position;
      Value derivative = applyFunction(k, op.getDerivative(),
                                       {lhs[number], rhs[position]}, params);
      if (factors.empty()) {
        next[number] = k.fma(derivative, weight[row], next[number]);
        continue;
      }
      Value term =
          arith::MulFOp::create(k.builder, k.loc, derivative, weight[row]);
      for (int64_t output = 0; output < outputs; ++output) {
        Value &sum = next[output * rows * positions + number];
        sum = k.fma(term, factors[output], sum);
      }
    }
  return next;
}

void PairDerivatives::lower() {
  Int size = lowering.views.at(op.getRhs()).sizes.end()[-2];
  Int present =
      k.truncate(k.min(k.sub(k.extend(size), firstColumn), tileColumns));
  // Whoever reads what the block before left is done.
  k.barrier();
  CopiedSide side = getSide(op.getRhs(), op.getPlace(), op.getColumns(),
                            firstColumn, op.getRhsRows());
  copySide(side, k.truncate(firstK), 0);
  k.commitCopies();
  storeWeights();
  if (op.getOutputs())
    storeOutputs(present);
  SmallVector<Value> lhs = loadRows();
  k.waitCopies(0);
  k.barrier();
  setBox(lowering, op.getNext(),
         k.rolledLoop(0, present, 1, getBox(lowering, op.getSums()),
                      [&](Int column, ValueRange carried) {
                        return addColumn(column, lhs, carried);
                      }));
}

void tile::lower(Lowering &lowering, AddDerivativesOp op) {
  PairDerivatives(lowering, op).lower();
}
