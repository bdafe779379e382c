//===- TileCopy.cpp - Copies between arrays of any layout -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where the user's array is contiguous along another axis than the buffers of a
// tile, blocks of as many rows as a vector has lanes are loaded, transposed and
// stored. A load takes 128 bits of a row: loads put such parts of a vector side
// by side, between which shuffles are slow, and shuffles within parts do the
// rest. An epilogue is applied to vectors of the result, before they are
// rounded.
//
//===----------------------------------------------------------------------===//

#include "TileCopy.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// The arrays of a copy, as they are numbered below.
enum Operand { From, To, Addend, Bias, Residual };
constexpr unsigned kNumOperands = 5;

/// Bytes of the parts of vectors within which shuffles are fast.
constexpr int64_t kPartBytes = 16;

/// One axis of the copy, with its stride in every array; 0 in those that are
/// not there.
struct CopyAxis {
  Int size;
  std::array<Int, kNumOperands> strides;
};

/// A position in every array; null in those that are not there.
using Bases = std::array<Value, kNumOperands>;

class Copier {
public:
  Copier(Emitter &emitter, const TileCopy &copy);

  void emit();

private:
  Bases advance(const Bases &bases, const CopyAxis &axis, Int position);
  void emitLoops(ArrayRef<CopyAxis> rest, const Bases &bases,
                 function_ref<void(const Bases &)> body);
  void emitScalar(const Bases &bases);
  void emitVectors(const CopyAxis &lanesAxis, const Bases &bases);
  /// All of the two axes, in blocks.
  void emitTransposed(const CopyAxis &rows, const CopyAxis &columns,
                      const Bases &bases);
  /// One block from position (`row`, `column`) on; whole, or up to the ends of
  /// the axes.
  void emitBlock(const CopyAxis &rows, const CopyAxis &columns,
                 const Bases &bases, Int row, Int column, bool isWhole);
  /// The positions of `axis` that blocks of `size`, one after the other, take
  /// whole.
  Int getFull(const CopyAxis &axis, int64_t size);
  /// Whether whole blocks take all of `axis`, the last one perhaps some of it
  /// once more, which is no harm to what is only copied.
  bool endsWithWhole(const CopyAxis &axis, int64_t size) const;
  /// Calls `body` with the first positions of whole blocks.
  void forWholeBlocks(const CopyAxis &axis, int64_t size,
                      function_ref<void(Int)> body);
  /// Stores what belongs to `column` of a block, if there is such a column.
  void storeIfThere(Value value, const Bases &place, const CopyAxis &rows,
                    const CopyAxis &columns, Int column, Value mask);
  /// What comes before and after the activation, of a value or a vector for
  /// which `load` loads from another array.
  Value emitSum(Value value, function_ref<Value(Operand)> load);
  Value emitRemaining(Value value, function_ref<Value(Operand)> load);
  SmallVector<Value> emitActivations(ArrayRef<Value> values);
  /// Stores vectors whose lanes run over `lanes` in the result.
  void store(ArrayRef<Value> vectors, ArrayRef<Bases> places,
             const CopyAxis &lanes, Value mask);
  bool hasFunction() const {
    return copy.epilogue && copy.epilogue->activation != Activation::Identity &&
           copy.epilogue->activation != Activation::Relu;
  }
  /// How many vectors `store` should be given at once: a function is one long
  /// chain of operations that wait for each other.
  int64_t countTogether() const { return hasFunction() ? 2 : 1; }
  /// Elements of a row that a whole block that is transposed has.
  int64_t countBlockColumns() const {
    return std::max<int64_t>(kPartBytes / emitter.getElementBytes(), 1);
  }

  Emitter &emitter;
  const TileCopy &copy;
  /// Null: there is none.
  std::array<const StepArray *, kNumOperands> arrays;
  SmallVector<CopyAxis> axes;
  int64_t lanes;
};

} // namespace

/// Whether walking `outer` is walking on in `inner`, in all arrays.
static bool isContinued(const CopyAxis &outer, const CopyAxis &inner) {
  if (!outer.size.isConstant() || !inner.size.isConstant())
    return false;
  for (auto [outside, inside] : llvm::zip(outer.strides, inner.strides))
    if (!outside.isConstant() || !inside.isConstant() ||
        outside.getConstant() !=
            inside.getConstant() * inner.size.getConstant())
      return false;
  return true;
}

Copier::Copier(Emitter &emitter, const TileCopy &copy)
    : emitter(emitter),
      copy(copy), arrays{&copy.from, &copy.to,
                         copy.scale.beta ? &copy.addend : nullptr, nullptr,
                         nullptr},
      lanes(copy.vectorBits / 8 / emitter.getElementBytes()) {
  if (copy.epilogue && copy.epilogue->bias.base)
    arrays[Bias] = &copy.epilogue->bias;
  if (copy.epilogue && copy.epilogue->residual.base)
    arrays[Residual] = &copy.epilogue->residual;
  for (unsigned axis = 0; axis < copy.sizes.size(); ++axis) {
    CopyAxis next{copy.sizes[axis], {}};
    if (next.size.is(1))
      continue;
    for (auto [stride, array] : llvm::zip(next.strides, arrays))
      if (array)
        stride = array->strides[axis];
    if (!axes.empty() && isContinued(axes.back(), next))
      next.size =
          axes.pop_back_val().size.getConstant() * next.size.getConstant();
    axes.push_back(next);
  }
}

Bases Copier::advance(const Bases &bases, const CopyAxis &axis, Int position) {
  Bases moved = bases;
  for (unsigned index = 0; index < kNumOperands; ++index)
    if (arrays[index])
      moved[index] = emitter.offsetPointer(
          bases[index], emitter.mul(position, axis.strides[index]),
          arrays[index]->element);
  return moved;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Copier::emitSum(Value value, function_ref<Value(Operand)> load) {
  value =
      emitScaledSum(emitter, copy.scale, value, [&] { return load(Addend); });
  if (arrays[Bias])
    value =
        arith::AddFOp::create(emitter.builder, emitter.loc, value, load(Bias));
  return value;
}

Value Copier::emitRemaining(Value value, function_ref<Value(Operand)> load) {
  OpBuilder &builder = emitter.builder;
  if (copy.epilogue && copy.epilogue->scale) {
    TypedAttr scale = copy.epilogue->scale;
    if (auto type = dyn_cast<VectorType>(value.getType()))
      scale = DenseElementsAttr::get(type, Attribute(scale));
    Value factor = arith::ConstantOp::create(builder, emitter.loc, scale);
    value = arith::MulFOp::create(builder, emitter.loc, value, factor);
  }
  if (arrays[Residual])
    value = arith::AddFOp::create(builder, emitter.loc, value, load(Residual));
  return value;
}

SmallVector<Value> Copier::emitActivations(ArrayRef<Value> values) {
  SmallVector<Value> results(values);
  if (!copy.epilogue)
    return results;
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Activation activation = copy.epilogue->activation;
  if (values.size() != 2) {
    for (Value &value : results)
      value = emitActivation(builder, loc, activation, value);
    return results;
  }
  // As one vector of twice the width, which LLVM computes in turns.
  int64_t width = cast<VectorType>(values[0].getType()).getNumElements();
  auto lanesFrom = [&](int64_t first, int64_t count) {
    return llvm::to_vector(llvm::seq(first, first + count));
  };
  Value both = vector::ShuffleOp::create(builder, loc, values[0], values[1],
                                         lanesFrom(0, 2 * width));
  both = emitActivation(builder, loc, activation, both);
  for (auto [index, value] : llvm::enumerate(results))
    value = vector::ShuffleOp::create(builder, loc, both, both,
                                      lanesFrom(index * width, width));
  return results;
}

void Copier::store(ArrayRef<Value> vectors, ArrayRef<Bases> places,
                   const CopyAxis &lanes, Value mask) {
  auto type = cast<VectorType>(vectors.front().getType());
  auto getLoad = [&](const Bases &at) {
    return [&](Operand operand) -> Value {
      const StepArray &array = *arrays[operand];
      if (operand != Bias || !lanes.strides[Bias].is(0))
        return emitter.loadVector(type, at[operand], mask, array.element);
      Value number = emitter.loadScalar(at[operand], array.element);
      return vector::BroadcastOp::create(emitter.builder, emitter.loc, type,
                                         number);
    };
  };
  SmallVector<Value> values;
  for (auto [value, at] : llvm::zip(vectors, places))
    values.push_back(emitSum(value, getLoad(at)));
  values = emitActivations(values);
  for (auto [value, at] : llvm::zip(values, places))
    emitter.storeVector(emitRemaining(value, getLoad(at)), at[To], mask,
                        copy.to.element);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Copier::emitLoops(ArrayRef<CopyAxis> rest, const Bases &bases,
                       function_ref<void(const Bases &)> body) {
  if (rest.empty())
    return body(bases);
  emitter.forLoop(0, rest.front().size, 1, [&](Int position) {
    emitLoops(rest.drop_front(), advance(bases, rest.front(), position), body);
  });
}

void Copier::emitScalar(const Bases &bases) {
  emitLoops(axes, bases, [&](const Bases &at) {
    auto load = [&](Operand operand) {
      return emitter.loadScalar(at[operand], arrays[operand]->element);
    };
    Value value = emitActivations(emitSum(load(From), load)).front();
    emitter.storeScalar(emitRemaining(value, load), at[To], copy.to.element);
  });
}

void Copier::emitVectors(const CopyAxis &axis, const Bases &bases) {
  int64_t size = axis.size.isConstant() ? axis.size.getConstant() : INT64_MAX;
  int64_t width = chooseLanes(size, copy.vectorBits, emitter.getElementBytes());
  auto copyVectors = [&](Int first, int64_t count, Value mask) {
    SmallVector<Value> vectors;
    SmallVector<Bases> places;
    for (int64_t index = 0; index < count; ++index) {
      places.push_back(advance(bases, axis, emitter.add(first, index * width)));
      vectors.push_back(emitter.loadVector(emitter.getVectorType(width),
                                           places.back()[From], mask,
                                           copy.from.element));
    }
    store(vectors, places, axis, mask);
  };
  // Few vectors need no loop of their own.
  constexpr int64_t kMaxUnrolled = 4;
  Int begin = 0;
  auto copyFull = [&](int64_t count) {
    int64_t step = count * width;
    Int end = emitter.mul(emitter.floorDiv(axis.size, step), step);
    if (end.isConstant() && end.getConstant() <= kMaxUnrolled * width)
      for (; begin.getConstant() < end.getConstant();
           begin = emitter.add(begin, step))
        copyVectors(begin, count, nullptr);
    else
      emitter.forLoop(begin, end, step,
                      [&](Int first) { copyVectors(first, count, nullptr); });
    begin = end;
  };
  if (countTogether() > 1)
    copyFull(countTogether());
  copyFull(1);
  emitter.forLoop(begin, axis.size, width, [&](Int first) {
    copyVectors(first, 1,
                emitter.firstLanes(width, emitter.sub(axis.size, first)));
  });
}

/// Puts vectors that are a fraction of `lanes` long side by side, so that those
/// that are left hold every so many rows: the first steps of a transposition.
static void joinNarrowRows(Emitter &emitter, SmallVectorImpl<Value> &rows,
                           int64_t width) {
  while (static_cast<int64_t>(rows.size()) > width) {
    SmallVector<Value> joined;
    int64_t elements =
        cast<VectorType>(rows.front().getType()).getNumElements();
    auto both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * elements));
    for (int64_t first = 0, count = rows.size(); first < count;
         first += 2 * width)
      for (int64_t row = first; row < first + width; ++row)
        joined.push_back(vector::ShuffleOp::create(
            emitter.builder, emitter.loc, rows[row], rows[row + width], both));
    rows = std::move(joined);
  }
}

/// Transposes blocks of `rows`, as many as fit a vector side by side, in log2
/// steps.
static void transposeBlock(Emitter &emitter, MutableArrayRef<Value> rows,
                           int64_t lanes) {
  int64_t count = rows.size(), parts = emitter.getNumParts();
  auto append = [&](SmallVectorImpl<int64_t> &sources, int64_t lane) {
    for (int64_t part = 0; part < parts; ++part)
      sources.push_back(lane * parts + part);
  };
  for (int64_t step = 1; step < count; step *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool second = lane & step;
      append(low, second ? lanes + (lane ^ step) : lane);
      append(high, second ? lanes + lane : (lane ^ step));
    }
    for (int64_t row = 0; row < count; ++row) {
      if (row & step)
        continue;
      Value a = rows[row], b = rows[row | step];
      rows[row] =
          vector::ShuffleOp::create(emitter.builder, emitter.loc, a, b, low);
      rows[row | step] =
          vector::ShuffleOp::create(emitter.builder, emitter.loc, a, b, high);
    }
  }
}

void Copier::emitBlock(const CopyAxis &rows, const CopyAxis &columns,
                       const Bases &bases, Int row, Int column, bool isWhole) {
  // Vectors are loaded along `columns`, which may be few, and stored along
  // `rows`.
  int64_t width = isWhole ? countBlockColumns() : lanes;
  Value loadMask, storeMask;
  if (!isWhole) {
    if (columns.size.isConstant())
      width = chooseLanes(columns.size.getConstant(), copy.vectorBits,
                          emitter.getElementBytes());
    loadMask = emitter.firstLanes(width, emitter.sub(columns.size, column));
    storeMask = emitter.firstLanes(lanes, emitter.sub(rows.size, row));
  }
  VectorType type = emitter.getVectorType(width);
  SmallVector<Value> block;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    // Rows beyond the end are the last one once more, and not stored.
    Int position = emitter.add(row, lane);
    if (!isWhole)
      position = emitter.min(position, emitter.sub(rows.size, 1));
    Bases at = advance(advance(bases, columns, column), rows, position);
    block.push_back(
        emitter.loadVector(type, at[From], loadMask, copy.from.element));
  }
  joinNarrowRows(emitter, block, width);
  transposeBlock(emitter, block, lanes);
  int64_t step = std::min(countTogether(), width);
  for (int64_t lane = 0; lane < width; lane += step) {
    SmallVector<Bases> places;
    for (int64_t index = lane; index < lane + step; ++index)
      places.push_back(advance(advance(bases, rows, row), columns,
                               emitter.add(column, index)));
    auto values = ArrayRef(block).slice(lane, step);
    if (isWhole) {
      store(values, places, rows, nullptr);
      continue;
    }
    for (auto [index, value, place] : llvm::enumerate(values, places))
      storeIfThere(value, place, rows, columns,
                   emitter.add(column, lane + index), storeMask);
  }
}

void Copier::storeIfThere(Value value, const Bases &place, const CopyAxis &rows,
                          const CopyAxis &columns, Int column, Value mask) {
  if (column.isConstant() && columns.size.isConstant()) {
    if (column.getConstant() < columns.size.getConstant())
      store(value, place, rows, mask);
    return;
  }
  Value exists = emitter.less(column, columns.size);
  scf::IfOp::create(emitter.builder, emitter.loc, exists,
                    [&](OpBuilder &builder, Location loc) {
                      store(value, place, rows, mask);
                      scf::YieldOp::create(builder, loc);
                    });
}

Int Copier::getFull(const CopyAxis &axis, int64_t size) {
  return emitter.mul(emitter.floorDiv(axis.size, size), size);
}

bool Copier::endsWithWhole(const CopyAxis &axis, int64_t size) const {
  if (!axis.size.isConstant())
    return false;
  int64_t positions = axis.size.getConstant();
  bool isCopy = !copy.epilogue && !copy.scale.beta;
  return positions % size == 0 || (isCopy && positions > size);
}

void Copier::forWholeBlocks(const CopyAxis &axis, int64_t size,
                            function_ref<void(Int)> body) {
  emitter.forLoop(0, getFull(axis, size), size, body);
  if (endsWithWhole(axis, size) && axis.size.getConstant() % size)
    body(axis.size.getConstant() - size);
}

void Copier::emitTransposed(const CopyAxis &rows, const CopyAxis &columns,
                            const Bases &bases) {
  int64_t blockColumns = countBlockColumns();
  forWholeBlocks(rows, lanes, [&](Int row) {
    forWholeBlocks(columns, blockColumns, [&](Int column) {
      emitBlock(rows, columns, bases, row, column, /*isWhole=*/true);
    });
  });
  // What is left: the last columns of all rows, and the last rows.
  auto emitRemaining = [&](Int firstRow, Int lastRow, Int firstColumn) {
    emitter.forLoop(firstRow, lastRow, lanes, [&](Int row) {
      emitter.forLoop(firstColumn, columns.size, lanes, [&](Int column) {
        emitBlock(rows, columns, bases, row, column, /*isWhole=*/false);
      });
    });
  };
  bool hasAllRows = endsWithWhole(rows, lanes);
  if (!endsWithWhole(columns, blockColumns))
    emitRemaining(0, hasAllRows ? rows.size : getFull(rows, lanes),
                  getFull(columns, blockColumns));
  if (!hasAllRows)
    emitRemaining(getFull(rows, lanes), rows.size, 0);
}

void Copier::emit() {
  Bases bases;
  for (auto [base, array] : llvm::zip(bases, arrays))
    base = array ? array->base : Value();
  auto isContiguous = [&](const CopyAxis &axis, Operand operand) {
    return !arrays[operand] || axis.strides[operand].is(1);
  };
  CopyAxis *from = nullptr, *to = nullptr;
  for (CopyAxis &axis : axes) {
    if (isContiguous(axis, From))
      from = &axis;
    bool isSame = axis.strides[Bias].is(0);
    if (isContiguous(axis, To) && isContiguous(axis, Addend) &&
        (isSame || isContiguous(axis, Bias)) && isContiguous(axis, Residual))
      to = &axis;
  }
  if (!from || !to)
    return emitScalar(bases);
  CopyAxis source = *from, target = *to;
  SmallVector<CopyAxis> others;
  for (CopyAxis &axis : axes)
    if (&axis != from && &axis != to)
      others.push_back(axis);
  emitLoops(others, bases, [&](const Bases &at) {
    if (from == to)
      emitVectors(source, at);
    else
      emitTransposed(target, source, at);
  });
}

void kron::emitTileCopy(Emitter &emitter, const TileCopy &copy) {
  Copier(emitter, copy).emit();
}
