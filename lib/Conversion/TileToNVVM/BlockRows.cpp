//===- BlockRows.cpp - Products with rows of a block ----------------------===//
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

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

/// Tiles of 16 rows that are multiplied.
class Rows {
public:
  virtual ~Rows() = default;
  /// Positions `8 * kTile` and the seven behind it of all rows.
  virtual SmallVector<MmaA> load(int64_t kTile) = 0;
  /// The lane's rows at position `k`, 8 apart.
  virtual SmallVector<Value> loadPosition(Int k) = 0;
  virtual int64_t getTiles() = 0;
};

/// Those of a block in shared memory, along the axis outside of the innermost.
class LoadedRows : public Rows {
public:
  LoadedRows(Lowering &lowering, const LoadedBlock &block,
             MatrixFactor &factor);

  SmallVector<MmaA> load(int64_t kTile) override;
  SmallVector<Value> loadPosition(Int k) override;
  int64_t getTiles() override { return tiles; }
  bool exist() const { return rows % kMmaSizeM == 0; }
  unsigned getDim() const { return dim; }

private:
  /// The lane's first position on K.
  Int getPosition() { return k.mul(lanes.slot, factor.getNeighboursK()); }
  Value getExists(int64_t first);
  Int getOffset(int64_t first, Value exists);

  KernelBuilder &k;
  const LaneNumbers &lanes;
  const LoadedBlock &block;
  MatrixFactor &factor;
  unsigned dim;
  /// Rows of the tile.
  int64_t rows, stride, tiles;
  Int offset;
  /// Byte offsets of the lane's rows that exist, behind the block's first ones.
  DenseMap<int64_t, Int> boundedOffsets;
};

/// Sums of the product before.
class SummedRows : public Rows {
public:
  SummedRows(const BlockProduct &product, MatrixFactor &factor);

  SmallVector<MmaA> load(int64_t kTile) override;
  SmallVector<Value> loadPosition(Int k) override { return product.addRows(k); }
  int64_t getTiles() override { return tiles; }

private:
  const BlockProduct &product;
  MatrixFactor &factor;
  int64_t tiles;
  /// [m tile][column tile]
  SmallVector<SmallVector<MmaC>> sums;
};

} // namespace

LoadedRows::LoadedRows(Lowering &lowering, const LoadedBlock &block,
                       MatrixFactor &factor)
    : k(lowering.k), lanes(lowering.getLanes()), block(block), factor(factor),
      dim(block.axis - 1), rows(block.block.blocks.sizes[dim]),
      stride(block.tile.layout.strides[dim]),
      tiles(llvm::divideCeil(block.block.blocks.block[dim], kMmaSizeM)),
      offset(block.tile.getOffset(
          block.origin, k.add(k.mul(lanes.group, stride), getPosition()))) {}

/// Whether the lane's row behind the block's `first` ones exists; null if that
/// of every lane does.
Value LoadedRows::getExists(int64_t first) {
  Int position = block.block.positions[dim];
  if (rows % kMmaSizeM == 0 || (position.isConstant() && first + 8 <= rows))
    return nullptr;
  return k.less(k.add(position, k.add(lanes.group, first)), rows);
}

/// Byte offset of the lane's row behind the block's `first` ones where it
/// `exists`, otherwise of the block's first one. Found once for all positions
/// on K.
Int LoadedRows::getOffset(int64_t first, Value exists) {
  auto [it, isNew] = boundedOffsets.try_emplace(first);
  if (isNew) {
    Int position = getPosition();
    Int row = k.mul(k.add(lanes.group, first), stride);
    Int own = block.tile.getOffset(block.origin, position);
    Int rowOffset = block.tile.getOffset(block.origin, k.add(row, position));
    it->second = Int(
        k.select(exists, k.materialize(rowOffset, 32), k.materialize(own, 32)));
  }
  return it->second;
}

SmallVector<MmaA> LoadedRows::load(int64_t kTile) {
  SmallVector<MmaA> data(tiles);
  Int position = getPosition();
  int64_t sizeK = factor.getSizeK(), first = kMmaSizeN * kTile;
  int64_t together = factor.getNeighboursK(), apart = factor.getDistanceK();
  bool ends = first + kMmaSizeN > sizeK;
  MmaProducts &products = factor.getProducts();
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (unsigned half : {0, 1}) {
      int64_t row = kMmaSizeM * tile + 8 * half;
      Value exists = getExists(row);
      Int from = offset;
      int64_t index = row * stride + first;
      // Without a guard nobody looks at sums of rows that do not exist.
      if (exists && !factor.hasResiduals()) {
        from = getOffset(row, exists);
        index = first;
        exists = nullptr;
      }
      SmallVector<Value> values;
      for (int64_t slot = 0; slot < 2; slot += together) {
        Value inside;
        if (ends)
          inside = k.less(k.add(position, first + apart * slot), sizeK);
        llvm::append_range(values,
                           block.tile.load(from, index + apart * slot, together,
                                           k.both(exists, inside), block.own));
      }
      if (together > 1 && ends && sizeK % 2 != 0) {
        Value second = k.less(k.add(position, first + 1), sizeK);
        values[1] = k.select(second, values[1], products.getZero());
      }
      for (unsigned slot : {0, 1})
        data[tile][2 * slot + half] =
            products.getOperand(values[slot], block.isExact);
    }
  return data;
}

SmallVector<Value> LoadedRows::loadPosition(Int position) {
  SmallVector<Int> place(block.origin);
  place.back() = position;
  Int lane = block.tile.getOffset(place, k.mul(lanes.group, stride));
  SmallVector<Value> values;
  for (int64_t row = 0; row < 2 * tiles; ++row)
    values.push_back(
        block.tile
            .load(lane, 8 * row * stride, 1, getExists(8 * row), block.own)
            .front());
  return values;
}

SummedRows::SummedRows(const BlockProduct &product, MatrixFactor &factor)
    : product(product), factor(factor) {
  unsigned rowDim = product.place.rowDim;
  tiles = product.sums.back().offset[rowDim] / kMmaSizeM + 1;
  sums.resize(tiles);
  for (const BlockSums &group : product.sums)
    llvm::append_range(sums[group.offset[rowDim] / kMmaSizeM], group.tiles);
}

SmallVector<MmaA> SummedRows::load(int64_t kTile) {
  SmallVector<MmaA> data(tiles);
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (unsigned index = 0; index < 4; ++index)
      data[tile][index] = factor.getProducts().getOperand(
          sums[tile][kTile][2 * (index % 2) + index / 2], /*exact=*/false);
  return data;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds one term to each of the lane's sums: `values` are those of its rows,
/// 8 apart, weighted by the factor's position `p`.
static void addTerm(Lowering &lowering, MatrixFactor &factor,
                    MutableArrayRef<Value> sums, ArrayRef<Value> values, Int p,
                    ArrayRef<ColumnGroup> groups) {
  KernelBuilder &k = lowering.k;
  const LaneNumbers &lanes = lowering.getLanes();
  int64_t tiles = countTiles(groups), tile = 0;
  Int firstQ = factor.getFirstResult();
  for (ColumnGroup group : groups)
    for (int64_t number = 0; number < group.pair; ++number, ++tile)
      for (unsigned half : {0, 1}) {
        Int column = k.add(k.mul(lanes.slot, 2 * group.pair),
                           group.first + half * group.pair + number);
        int64_t maxQ = factor.getWarps() > 1
                           ? int64_t(1) << 30
                           : group.first + kMmaSizeN * group.pair - 1;
        Value weight = factor.loadElement(p, k.add(firstQ, column), 0, maxQ);
        for (auto [row, value] : llvm::enumerate(values)) {
          Value &sum =
              sums[4 * ((row / 2) * tiles + tile) + 2 * (row % 2) + half];
          sum = k.fma(value, weight, sum);
        }
      }
}

static SmallVector<BlockSums> multiply(Lowering &lowering, Rows &rows,
                                       MatrixFactor &factor,
                                       BlockPlace &place) {
  KernelBuilder &k = lowering.k;
  auto groups = getColumnGroups(factor.getWarpResults(), factor.getTogether());
  int64_t columnTiles = countTiles(groups), rowTiles = rows.getTiles();
  int64_t tilesK = factor.getTilesK();
  SumParts parts(k, factor, rowTiles * columnTiles);
  for (int64_t kTile = 0; kTile < tilesK; ++kTile) {
    SmallVector<MmaA> data = rows.load(kTile);
    auto [operands, number] = factor.get(kTile);
    SmallVector<MmaProducts::Term> terms;
    for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
      for (int64_t tile = 0; tile < columnTiles; ++tile)
        terms.push_back({&parts.get()[rowTile * columnTiles + tile],
                         &data[rowTile], &operands.columns[tile][number]});
    factor.getProducts().multiply(terms);
    parts.carryOver(kTile, tilesK);
  }
  parts.guard([&](ValueRange start) {
    return k.rolledLoop(
        0, factor.getSizeK(), 1, start, [&](Int position, ValueRange carried) {
          SmallVector<Value> results(carried);
          SmallVector<Value> values = rows.loadPosition(position);
          addTerm(lowering, factor, results, values, position, groups);
          return results;
        });
  });
  const ColumnGroup &last = groups.back();
  place.positions.back() = factor.getFirstResult();
  place.columnsExist = last.first + kMmaSizeN * last.pair +
                           (factor.getWarps() - 1) * factor.getWarpResults() <=
                       factor.getSizeN();
  place.columns = factor.getSizeN();
  SmallVector<BlockSums> results;
  ArrayRef<MmaC> sums = parts.get();
  for (int64_t row = 0; !sums.empty(); row += kMmaSizeM)
    for (ColumnGroup group : groups) {
      SmallVector<int64_t> offset(place.positions.size(), 0);
      offset[place.rowDim] = row;
      offset.back() = group.first;
      results.push_back(
          {offset, group.pair, SmallVector<MmaC>(sums.take_front(group.pair))});
      sums = sums.drop_front(group.pair);
    }
  return results;
}

BlockProduct tile::multiplyRows(Lowering &lowering, const LoadedBlock &block,
                                MatrixFactor &factor) {
  LoadedRows rows(lowering, block, factor);
  BlockProduct product;
  product.place.positions = block.block.positions;
  product.place.rowDim = rows.getDim();
  product.place.rowsExist = rows.exist();
  product.sums = multiply(lowering, rows, factor, product.place);
  return product;
}

BlockProduct tile::multiplySums(Lowering &lowering, const BlockProduct &product,
                                MatrixFactor &factor) {
  SummedRows rows(product, factor);
  BlockProduct result;
  result.place = product.place;
  result.sums = multiply(lowering, rows, factor, result.place);
  return result;
}
