//===- LoadColumns.cpp - tile.load_columns --------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include <memory>

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

/// The columns of one thread, or of one lane of a warp.
class ColumnLoad {
public:
  ColumnLoad(Lowering &lowering, LoadColumnsOp op);

  SmallVector<Value> load();
  /// What `registers`, as `load` fills them, hold.
  LoweredFragment getFragment(ArrayRef<Value> registers) const;

private:
  Value getRow(int64_t index);
  void loadSegment(Value from, int64_t count);
  void loadColumn(Value from);
  void loadPair(Value from, Value exists);
  Value hasLaneK(Int quad);
  void loadRowOfTiles(Value from);
  void loadResultsOfTiles();
  void findGroups();
  SmallVector<Value> widen(ArrayRef<Value> loaded) const;
  SmallVector<Value> getBox(ArrayRef<Value> loaded) const;
  Value getOwn(ArrayRef<Value> values, int64_t position, int64_t place) const;

  KernelBuilder &k;
  LoadColumnsOp op;
  const LoweredView &view;
  LoweredColumns columns;
  ColumnLayout layout;
  bool isOfWarps;
  /// Rows that this thread takes of a tile.
  int64_t rows;
  /// The tile; none without rows.
  std::optional<Int> tile;
  Int group, result;
  /// For each result whether it belongs to the group after that or a later one,
  /// to the second one or a later one, ... (null: it does).
  SmallVector<SmallVector<Value>> isLater;
  SmallVector<Value> loaded;
};

} // namespace

ColumnLoad::ColumnLoad(Lowering &lowering, LoadColumnsOp op)
    : k(lowering.k), op(op), view(lowering.views.at(op.getView())),
      columns(lowering.columns.at(op.getColumns())),
      layout(op.getView().getType(),
             op.getFragment().getType().getShape().back()),
      isOfWarps(getColumnsLoop(op.getColumns()).isOfWarps()),
      rows(op.getFragment().getType().getShape().front()) {
  if (isOfWarps)
    rows /= columns.rowStep;
  std::tie(group, result) = getFirstResult(lowering, op.getColumns(), layout);
  if (std::optional<uint64_t> ahead = op.getAhead()) {
    Int first =
        op.getTile() ? lowering.numbers.at(op.getTile()) : columns.firstTile;
    tile = k.add(first, k.mul(columns.tileStep, *ahead));
  }
  if (layout.isShared && !layout.isRegular)
    findGroups();
}

/// Row number `index` of this thread in the tile; the view itself without rows.
Value ColumnLoad::getRow(int64_t index) {
  if (!tile)
    return view.array.base;
  Int row = k.min(columns.getRow(k, *tile, rows, index),
                  k.sub(view.sizes.front(), 1));
  return k.offsetPointer(view.array.base,
                         k.mul(k.extend(row), view.array.strides.front()));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Finds out which groups the results of the column belong to.
void ColumnLoad::findGroups() {
  isLater.assign(layout.width, {});
  for (int64_t place = 0; place < layout.width; ++place)
    for (int64_t number = 1; number < layout.span; ++number) {
      // The smallest number of the first result with which that is so.
      int64_t least = number * layout.sizeN - place;
      isLater[place].push_back(least <= 0 ? nullptr
                                          : k.less(least - 1, result));
    }
}

/// `count` elements that follow each other.
void ColumnLoad::loadSegment(Value from, int64_t count) {
  int64_t width = op.getBytes() * 8 / k.element.getIntOrFloatBitWidth();
  Type type = width == 1 ? k.element : Type(k.getVectorType(width));
  for (int64_t place = 0; place < count; place += width)
    loaded.push_back(
        k.load(type, k.offsetPointer(from, place), CacheHint::ReadOnly));
}

void ColumnLoad::loadColumn(Value from) {
  ArrayRef<Int> strides = ArrayRef(view.array.strides).take_back(3);
  if (layout.isShared) {
    int64_t segment = layout.getSegment();
    for (int64_t number = 0; number < layout.getElements() / segment;
         ++number) {
      // There may be no such group behind the last one.
      Int own = k.add(group, number);
      if (number > 0)
        own = k.min(own, layout.groups - 1);
      loadSegment(k.offsetPointer(from, k.mul(own, layout.sizeK)), segment);
    }
    return;
  }
  if (layout.isDense)
    return loadSegment(
        k.offsetPointer(from, k.mul(columns.number, layout.getElements())),
        layout.getElements());
  for (int64_t place = 0; place < layout.width; ++place) {
    Int own = k.add(k.mul(columns.number, layout.width), place);
    Int offset =
        k.add(k.mul(k.extend(k.floorDiv(own, layout.sizeN)), strides[1]),
              k.mul(k.extend(k.rem(own, layout.sizeN)), strides[2]));
    Value start = k.offsetPointer(from, offset);
    for (int64_t position = 0; position < layout.sizeK; ++position)
      loadSegment(k.offsetPointer(start, k.mul(position, strides[0])), 1);
  }
}

/// The single values of what was loaded, in the accumulation type.
SmallVector<Value> ColumnLoad::widen(ArrayRef<Value> loaded) const {
  SmallVector<Value> values;
  Type type = getSumType(k.element);
  for (Value vector : loaded)
    for (Value value : k.unpack(vector))
      values.push_back(type == k.element ? value
                                         : arith::ExtFOp::create(
                                               k.builder, k.loc, type, value));
  return values;
}

/// Position `position` along K of result `place` of the column.
Value ColumnLoad::getOwn(ArrayRef<Value> values, int64_t position,
                         int64_t place) const {
  int64_t sizeK = layout.sizeK;
  if (!layout.isShared)
    return values[place * sizeK + position];
  if (layout.isRegular) {
    int64_t number = layout.span == 1 ? 0 : place / layout.sizeN;
    return values[number * sizeK + position];
  }
  Value own = values[position];
  for (int64_t number = 1; number < layout.span; ++number) {
    Value other = values[number * sizeK + position];
    Value condition = isLater[place][number - 1];
    own = condition ? k.select(condition, other, own) : other;
  }
  return own;
}

SmallVector<Value> ColumnLoad::getBox(ArrayRef<Value> loaded) const {
  SmallVector<Value> values = widen(loaded), box;
  for (int64_t position = 0; position < layout.sizeK; ++position)
    for (int64_t place = 0; place < layout.width; ++place)
      box.push_back(getOwn(values, position, place));
  return box;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Two words of 4 16-bit values; zeros where they do not exist.
void ColumnLoad::loadPair(Value from, Value exists) {
  Type i32 = k.builder.getI32Type();
  auto type = VectorType::get({2}, i32);
  auto load = [&]() -> SmallVector<Value> {
    return k.unpack(k.load(type, from, CacheHint::ReadOnly));
  };

  llvm::append_range(loaded, k.orZeros(exists, {i32, i32}, load));
}

/// Whether the positions along K of lane `quad` of four exist (null: they do).
Value ColumnLoad::hasLaneK(Int quad) {
  int64_t lanes = layout.sizeK / kLaneK;
  return lanes < 4 ? k.less(quad, lanes) : Value();
}

void ColumnLoad::loadRowOfTiles(Value from) {
  Int quad = k.bitAnd(k.laneId(), 3);
  Int place = k.add(k.mul(group, layout.sizeK), k.mul(quad, kLaneK));
  loadPair(k.offsetPointer(from, place), hasLaneK(quad));
}

/// Column n of tile 4 x + i is result 32 x + (n / 2) 8 + 2 i + n % 2, so that
/// those of a lane's sums follow each other.
void ColumnLoad::loadResultsOfTiles() {
  Int quad = k.bitAnd(k.laneId(), 3), row = columns.firstRow;
  Value hasK = hasLaneK(quad);
  Int column = k.add(k.mul(k.floorDiv(row, 2), 8), k.rem(row, 2));
  for (int64_t tile = 0; tile < layout.width / 8; ++tile) {
    Int own = k.add(result, k.add(column, tile / kTilesTogether * 32 +
                                              tile % kTilesTogether * 2));
    Int offset = k.add(k.mul(k.extend(group), view.array.strides[1]),
                       k.add(k.mul(k.extend(own), view.array.strides[2]),
                             k.mul(quad, kLaneK)));
    loadPair(k.offsetPointer(view.array.base, offset),
             k.both(k.less(own, layout.sizeN), hasK));
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

SmallVector<Value> ColumnLoad::load() {
  loaded.clear();
  if (isOfWarps && !tile) {
    loadResultsOfTiles();
    return loaded;
  }
  for (int64_t index = 0; index < rows; ++index)
    isOfWarps ? loadRowOfTiles(getRow(index)) : loadColumn(getRow(index));
  return loaded;
}

LoweredFragment ColumnLoad::getFragment(ArrayRef<Value> registers) const {
  LoweredFragment fragment;
  fragment.registers.assign(registers.begin(), registers.end());
  if (isOfWarps)
    return fragment;
  fragment.box = {layout.sizeK, layout.width};
  // Weights are widened once; rows when they are multiplied.
  if (!tile) {
    Boxes boxes{getBox(registers)};
    fragment.forParts = [boxes](function_ref<void(const Boxes &)> body) {
      body(boxes);
    };
    return fragment;
  }
  fragment.forParts = [load = *this, values = fragment.registers](
                          function_ref<void(const Boxes &)> body) {
    size_t perRow = values.size() / load.rows;
    for (int64_t index = 0; index < load.rows; ++index) {
      Boxes boxes(load.rows);
      boxes[index] =
          load.getBox(ArrayRef(values).slice(index * perRow, perRow));
      body(boxes);
    }
  };
  return fragment;
}

void tile::lower(Lowering &lowering, LoadColumnsOp op) {
  ColumnLoad load(lowering, op);
  LoweredFragment fragment = load.getFragment(load.load());
  fragment.rebuild = [load](ValueRange registers) {
    return load.getFragment(SmallVector<Value>(registers));
  };
  lowering.fragments[op.getFragment()] = fragment;
}
