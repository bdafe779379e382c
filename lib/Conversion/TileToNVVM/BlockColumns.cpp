//===- BlockColumns.cpp - Products with columns of a block ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What lanes hold is said in BlockFactor.cpp.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

class ColumnProduct {
public:
  ColumnProduct(Lowering &lowering, const LoadedBlock &block,
                MatrixFactor &factor, bool isLast);

  BlockProduct multiply();

private:
  Int foldColumn(Int column);
  Int getGroupOffset(int64_t pair);
  Int getBoundedOffset(const BlockSums &group, Value inside);
  Value getValid(const BlockSums &group, int64_t width, Int lane);
  void loadGroup(MutableArrayRef<MmaB> tiles, unsigned slot,
                 const SharedTile &part, int64_t index, const BlockSums &group,
                 Value exists);
  void loadData(MutableArrayRef<MmaB> data, int64_t kTile, unsigned slot);
  void multiplyTile(MutableArrayRef<MmaC> sums, int64_t kTile);
  SmallVector<Value> addOneByOne(ValueRange start, bool remote);
  void addPosition(MutableArrayRef<Value> sums, const SharedTile &part,
                   ArrayRef<Int> place, ArrayRef<Value> weights);
  BlockProduct collect(ArrayRef<MmaC> sums);

  KernelBuilder &k;
  LaneNumbers lanes;
  LoadedBlock block;
  MatrixFactor &factor;
  const SharedTile &tile;
  unsigned last;
  int64_t strideK;
  /// Columns of the tile, or of the piece.
  int64_t columns;
  /// Whether these are split among blocks.
  bool isSplit;
  /// Whether no further product takes the sums.
  bool isLast;
  /// The axis of which a block has several positions; -1 if there is none.
  int rowDim = -1;
  SmallVector<ColumnGroup> columnGroups;
  /// Known positions of all tiles.
  SmallVector<BlockSums> groups;
  int64_t tiles = 0;
  /// Whether columns that do not exist must be zero: a guard looks at their
  /// sums, or a further product takes these.
  bool needsZeros;
  /// Byte offset of the lane's columns by the tiles of a group, and of those of
  /// a group that exist.
  DenseMap<int64_t, Int> offsets;
  DenseMap<const BlockSums *, Int> boundedOffsets;
};

} // namespace

ColumnProduct::ColumnProduct(Lowering &lowering, const LoadedBlock &block,
                             MatrixFactor &factor, bool isLast)
    : k(lowering.k), lanes(lowering.getLanes()), block(block), factor(factor),
      tile(this->block.tile), last(block.block.blocks.sizes.size() - 1),
      strideK(tile.layout.strides[block.axis]), isLast(isLast),
      needsZeros(!isLast || factor.hasResiduals()) {
  const Blocks &blocks = block.block.blocks;
  isSplit = !blocks.arePieces && blocks.block[last] < blocks.sizes[last];
  columns = isSplit ? blocks.sizes[last] : blocks.block[last];
  columnGroups = getColumnGroups(blocks.block[last], block.together);
  int64_t rows = 1;
  for (unsigned dim = 0; dim < last; ++dim)
    if (dim != block.axis && blocks.block[dim] > 1) {
      rowDim = dim;
      rows = blocks.block[dim];
    }
  for (int64_t row = 0; row < rows; row += block.fold)
    for (ColumnGroup group : columnGroups) {
      SmallVector<int64_t> offset(last + 1, 0);
      if (rowDim >= 0)
        offset[rowDim] = row;
      offset[last] = group.first;
      groups.push_back({offset, group.pair, {}});
      tiles += group.pair;
    }
}

/// Of tile columns, one offset for each lane in units of single columns.
Int ColumnProduct::foldColumn(Int column) {
  if (block.fold == 1)
    return column;
  return k.add(k.rem(column, columns),
               k.mul(k.floorDiv(column, columns), tile.layout.strides[rowDim]));
}

/// Byte offset of the lane's first column in groups of `pair` tiles.
Int ColumnProduct::getGroupOffset(int64_t pair) {
  auto [it, isNew] = offsets.try_emplace(pair);
  if (isNew)
    it->second = tile.getOffset(block.origin,
                                k.add(k.mul(lanes.slot, strideK),
                                      foldColumn(k.mul(lanes.group, pair))));
  return it->second;
}

/// The same for `group`, as far as its columns are `inside`: otherwise of the
/// block's first one. Found once for all positions on K.
Int ColumnProduct::getBoundedOffset(const BlockSums &group, Value inside) {
  auto [it, isNew] = boundedOffsets.try_emplace(&group);
  if (isNew) {
    Int position = k.mul(lanes.slot, strideK);
    Int own = tile.getOffset(block.origin, position);
    Int column = k.add(k.mul(lanes.group, group.pair), group.offset[last]);
    Int offset = tile.getOffset(block.origin, k.add(position, column));
    it->second = Int(
        k.select(inside, k.materialize(offset, 32), k.materialize(own, 32)));
  }
  return it->second;
}

/// Whether column `lane + width` of the group exists; null if that of every
/// lane does.
Value ColumnProduct::getValid(const BlockSums &group, int64_t width, Int lane) {
  int64_t first = group.offset[last];
  if (block.fold > 1)
    return nullptr;
  if (!isSplit && first + kMmaSizeN * group.pair <= columns)
    return nullptr;
  if (isSplit && columns % block.block.blocks.block[last] == 0)
    return nullptr;
  return k.less(k.add(block.origin[last], k.add(lane, first + width)), columns);
}

/// Loads operand B's word `slot` of the tiles of a group, which are side by
/// side, `index` elements behind the lane's first column. Zero where `exists`
/// is false or, if that matters, where there is no such column.
void ColumnProduct::loadGroup(MutableArrayRef<MmaB> tiles, unsigned slot,
                              const SharedTile &part, int64_t index,
                              const BlockSums &group, Value exists) {
  Int lane = k.mul(lanes.group, group.pair);
  Value inside = getValid(group, 0, lane);
  if (inside && !needsZeros) {
    SmallVector<Value> values =
        part.load(getBoundedOffset(group, inside), index - group.offset[last],
                  tiles.size(), exists, block.own);
    for (auto [tile, value] : llvm::zip_equal(tiles, values))
      tile[slot] = factor.getProducts().getOperand(value, block.isExact);
    return;
  }
  inside = k.both(exists, inside);
  SmallVector<Value> values = part.load(getGroupOffset(group.pair), index,
                                        tiles.size(), inside, block.own);
  for (auto [number, value] : llvm::enumerate(values)) {
    // The first one is zero already.
    if (number > 0)
      if (Value valid = getValid(group, number, lane))
        value = k.select(valid, value, factor.getProducts().getZero());
    tiles[number][slot] = factor.getProducts().getOperand(value, block.isExact);
  }
}

/// Loads positions `8 * kTile + 4 * slot` and the three behind it of all
/// columns.
void ColumnProduct::loadData(MutableArrayRef<MmaB> data, int64_t kTile,
                             unsigned slot) {
  int64_t position = kMmaSizeN * kTile + 4 * slot;
  Value exists;
  if (position + 4 > factor.getSizeK())
    exists = k.less(k.add(lanes.slot, position), factor.getSizeK());
  int64_t ownTiles = factor.getOwnTiles();
  SharedTile part = tile.getRemote(kTile >= ownTiles);
  int64_t place = kMmaSizeN * (kTile % ownTiles) + 4 * slot;
  for (const BlockSums &group : groups) {
    int64_t index = tile.getIndex(group.offset) + place * strideK;
    loadGroup(data.take_front(group.pair), slot, part, index, group, exists);
    data = data.drop_front(group.pair);
  }
}

/// sums += positions `8 * kTile` and the seven behind it.
void ColumnProduct::multiplyTile(MutableArrayRef<MmaC> sums, int64_t kTile) {
  SmallVector<MmaB> data(tiles);
  for (unsigned slot : {0, 1})
    loadData(data, kTile, slot);
  auto [operands, number] = factor.get(kTile);
  SmallVector<MmaProducts::Term> terms;
  for (int64_t mTile = 0; mTile < factor.getResultTiles(); ++mTile)
    for (int64_t column = 0; column < tiles; ++column)
      terms.push_back({&sums[mTile * tiles + column],
                       &operands.rows[mTile][number], &data[column]});
  factor.getProducts().multiply(terms);
}

/// `start` and what this CTA's part of the contracted dimension, or the other
/// one's, adds to it.
SmallVector<Value> ColumnProduct::addOneByOne(ValueRange start, bool remote) {
  SharedTile part = tile.getRemote(remote);
  int64_t ownTiles = factor.getOwnTiles();
  LanePosition first = factor.getPositionK(remote ? ownTiles : 0);
  int64_t count = std::min(factor.getSizeK(), kMmaSizeN * ownTiles);
  return k.rolledLoop(0, count, 1, start, [&](Int number, ValueRange carried) {
    SmallVector<Value> results(carried);
    SmallVector<Int> place(block.origin);
    place[block.axis] = number;
    SmallVector<Value> weights;
    for (int64_t row = 0; row < 2 * factor.getResultTiles(); ++row) {
      Int q = k.add(k.add(factor.getFirstResult(), lanes.group), 8 * row);
      weights.push_back(factor.loadElement(k.add(first.lane, number), q, 0,
                                           int64_t(1) << 30));
    }
    addPosition(results, part, place, weights);
    return results;
  });
}

/// Adds what lies at `place` to all sums, times `weights` of the lane's rows.
void ColumnProduct::addPosition(MutableArrayRef<Value> sums,
                                const SharedTile &part, ArrayRef<Int> place,
                                ArrayRef<Value> weights) {
  unsigned column = 0;
  for (const BlockSums &group : groups)
    for (int64_t number = 0; number < group.pair; ++number, ++column)
      for (unsigned half : {0, 1}) {
        Int lane = k.mul(lanes.slot, 2 * group.pair);
        int64_t width = half * group.pair + number;
        Int offset = tile.getOffset(place, foldColumn(lane));
        Value value = part.load(offset, tile.getIndex(group.offset) + width, 1,
                                getValid(group, width, lane), block.own)
                          .front();
        for (auto [row, weight] : llvm::enumerate(weights)) {
          Value &sum =
              sums[4 * ((row / 2) * tiles + column) + 2 * (row % 2) + half];
          sum = k.fma(weight, value, sum);
        }
      }
}

BlockProduct ColumnProduct::collect(ArrayRef<MmaC> sums) {
  BlockProduct product;
  for (int64_t mTile = 0; mTile < factor.getResultTiles(); ++mTile)
    for (const BlockSums &group : groups) {
      BlockSums result = group;
      result.offset[block.axis] = kMmaSizeM * mTile;
      result.tiles.assign(sums.begin(), sums.begin() + group.pair);
      sums = sums.drop_front(group.pair);
      product.sums.push_back(std::move(result));
    }
  BlockPlace &place = product.place;
  place.positions = block.block.positions;
  place.positions[block.axis] = factor.getFirstResult();
  place.rowDim = block.axis;
  place.rowsExist = kMmaSizeM * factor.getResultTiles() * factor.getWarps() <=
                    factor.getSizeN();
  const ColumnGroup &lastGroup = columnGroups.back();
  place.columnsExist =
      isSplit ? columns % block.block.blocks.block[last] == 0
              : lastGroup.first + kMmaSizeN * lastGroup.pair <= columns;
  place.columns = block.block.blocks.sizes[last];
  if (block.fold > 1) {
    place.columnsExist = true;
    place.foldSize = columns;
    place.foldDim = rowDim;
  }
  return product;
}

BlockProduct ColumnProduct::multiply() {
  SumParts parts(k, factor, factor.getResultTiles() * tiles);
  for (int64_t kTile = 0; kTile < factor.getTilesK(); ++kTile) {
    multiplyTile(parts.get(), kTile);
    parts.carryOver(kTile, factor.getTilesK());
  }
  if (isLast)
    parts.guard([&](ValueRange start) {
      SmallVector<Value> results = addOneByOne(start, /*remote=*/false);
      return block.block.blocks.isSplit ? addOneByOne(results, /*remote=*/true)
                                        : results;
    });
  return collect(parts.get());
}

/// The results in `column`, of all rows of the lane, one by one.
static SmallVector<Value> addRows(KernelBuilder &k, const LaneNumbers &lanes,
                                  const LoadedBlock &block,
                                  MatrixFactor &factor, Int column) {
  SmallVector<Value> none(2 * factor.getResultTiles(),
                          factor.getProducts().getZero());
  SmallVector<Int> place(block.origin);
  place.back() = column;
  return k.rolledLoop(
      0, factor.getSizeK(), 1, none, [&](Int number, ValueRange partial) {
        SmallVector<Value> parts(partial);
        place[block.axis] = number;
        Int offset = block.tile.getOffset(place, 0);
        Value value = block.tile.load(offset, 0, 1, nullptr, block.own).front();
        for (auto [row, part] : llvm::enumerate(parts)) {
          Int q = k.add(lanes.group, int64_t(8 * row));
          part =
              k.fma(factor.loadElement(number, q, 0, 8 * row + 7), value, part);
        }
        return parts;
      });
}

BlockProduct tile::multiplyColumns(Lowering &lowering, const LoadedBlock &block,
                                   MatrixFactor &factor, bool isLast) {
  BlockProduct product =
      ColumnProduct(lowering, block, factor, isLast).multiply();
  product.addRows = [block, &factor, &lowering](Int column) {
    return addRows(lowering.k, lowering.getLanes(), block, factor, column);
  };
  return product;
}
