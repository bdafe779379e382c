//===- TileCopy.cpp - Copies between arrays of any layout -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Where the user's array is contiguous along another axis than the buffers of a
// tile, blocks of as many rows as a vector has lanes are loaded, transposed by
// two-source shuffles and stored, so that every cache line is touched once.
//
//===----------------------------------------------------------------------===//

#include "TileCopy.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// One axis of the copy, with its stride in every array.
struct CopyAxis {
  Int size, from, to, addend;
};

struct Bases {
  Value from, to, addend;
};

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
  void store(Value value, const Bases &at, Value mask);

  Emitter &emitter;
  const TileCopy &copy;
  SmallVector<CopyAxis> axes;
  int64_t lanes;
};

} // namespace

/// Whether walking `outer` is walking on in `inner`.
static bool isContinued(Int outer, Int inner, Int size) {
  return outer.isConstant() && inner.isConstant() && size.isConstant() &&
         outer.getConstant() == inner.getConstant() * size.getConstant();
}

Copier::Copier(Emitter &emitter, const TileCopy &copy)
    : emitter(emitter), copy(copy),
      lanes(copy.vectorBits / 8 / emitter.getElementBytes()) {
  for (unsigned axis = 0; axis < copy.sizes.size(); ++axis) {
    CopyAxis next{copy.sizes[axis], copy.from.strides[axis],
                  copy.to.strides[axis],
                  copy.scale.beta ? copy.addend.strides[axis] : Int(0)};
    if (next.size.is(1))
      continue;
    CopyAxis *last = axes.empty() ? nullptr : &axes.back();
    if (last && last->size.isConstant() && next.size.isConstant() &&
        isContinued(last->from, next.from, next.size) &&
        isContinued(last->to, next.to, next.size) &&
        isContinued(last->addend, next.addend, next.size)) {
      next.size = last->size.getConstant() * next.size.getConstant();
      axes.pop_back();
    }
    axes.push_back(next);
  }
}

Bases Copier::advance(const Bases &bases, const CopyAxis &axis, Int position) {
  auto move = [&](Value base, Int stride, const StageArray &array) {
    return base ? emitter.offsetPointer(base, emitter.mul(position, stride),
                                        array.element)
                : base;
  };
  return {move(bases.from, axis.from, copy.from),
          move(bases.to, axis.to, copy.to),
          move(bases.addend, axis.addend, copy.addend)};
}

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
    Value value = emitter.loadScalar(at.from, copy.from.element);
    emitter.storeScalar(
        emitScaledSum(
            emitter, copy.scale, value,
            [&] { return emitter.loadScalar(at.addend, copy.addend.element); }),
        at.to, copy.to.element);
  });
}

void Copier::store(Value value, const Bases &at, Value mask) {
  auto type = cast<VectorType>(value.getType());
  Value sum = emitScaledSum(emitter, copy.scale, value, [&] {
    return emitter.loadVector(type, at.addend, mask, copy.addend.element);
  });
  emitter.storeVector(sum, at.to, mask, copy.to.element);
}

void Copier::emitVectors(const CopyAxis &axis, const Bases &bases) {
  int64_t size = axis.size.isConstant() ? axis.size.getConstant() : INT64_MAX;
  int64_t width = chooseLanes(size, copy.vectorBits, emitter.getElementBytes());
  auto copyVector = [&](Int first, Value mask) {
    Bases at = advance(bases, axis, first);
    store(emitter.loadVector(emitter.getVectorType(width), at.from, mask,
                             copy.from.element),
          at, mask);
  };
  // Few vectors need no loop of their own.
  constexpr int64_t kMaxUnrolled = 4;
  Int full = emitter.mul(emitter.floorDiv(axis.size, width), width);
  if (full.isConstant() && full.getConstant() <= kMaxUnrolled * width)
    for (int64_t first = 0; first < full.getConstant(); first += width)
      copyVector(first, nullptr);
  else
    emitter.forLoop(0, full, width,
                    [&](Int first) { copyVector(first, nullptr); });
  emitter.forLoop(full, axis.size, width, [&](Int first) {
    copyVector(first, emitter.firstLanes(width, emitter.sub(axis.size, first)));
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
  int64_t width = lanes;
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
        emitter.loadVector(type, at.from, loadMask, copy.from.element));
  }
  joinNarrowRows(emitter, block, width);
  transposeBlock(emitter, block, lanes);
  for (int64_t lane = 0; lane < width; ++lane) {
    Int position = emitter.add(column, lane);
    Bases at = advance(advance(bases, rows, row), columns, position);
    if (isWhole) {
      store(block[lane], at, nullptr);
      continue;
    }
    if (position.isConstant() && columns.size.isConstant()) {
      if (position.getConstant() < columns.size.getConstant())
        store(block[lane], at, storeMask);
      continue;
    }
    Value exists = emitter.less(position, columns.size);
    scf::IfOp::create(emitter.builder, emitter.loc, exists,
                      [&](OpBuilder &builder, Location loc) {
                        store(block[lane], at, storeMask);
                        scf::YieldOp::create(builder, loc);
                      });
  }
}

void Copier::emitTransposed(const CopyAxis &rows, const CopyAxis &columns,
                            const Bases &bases) {
  auto getFull = [&](const CopyAxis &axis) {
    return emitter.mul(emitter.floorDiv(axis.size, lanes), lanes);
  };
  Int fullRows = getFull(rows), fullColumns = getFull(columns);
  emitter.forLoop(0, fullRows, lanes, [&](Int row) {
    emitter.forLoop(0, fullColumns, lanes, [&](Int column) {
      emitBlock(rows, columns, bases, row, column, /*isWhole=*/true);
    });
  });
  // What is left: the last columns of all rows, and the last rows.
  auto emitRest = [&](Int firstRow, Int endRow, Int firstColumn) {
    emitter.forLoop(firstRow, endRow, lanes, [&](Int row) {
      emitter.forLoop(firstColumn, columns.size, lanes, [&](Int column) {
        emitBlock(rows, columns, bases, row, column, /*isWhole=*/false);
      });
    });
  };
  if (!columns.size.isConstant() || columns.size.getConstant() % lanes)
    emitRest(0, fullRows, fullColumns);
  if (!rows.size.isConstant() || rows.size.getConstant() % lanes)
    emitRest(fullRows, rows.size, 0);
}

void Copier::emit() {
  Bases bases{copy.from.base, copy.to.base,
              copy.scale.beta ? copy.addend.base : Value()};
  CopyAxis *from = nullptr, *to = nullptr;
  for (CopyAxis &axis : axes) {
    if (axis.from.is(1))
      from = &axis;
    if (axis.to.is(1) && (!copy.scale.beta || axis.addend.is(1)))
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
