//===- BlockResults.cpp - What becomes of sums of a block -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A lane holds results of two rows, g and g + 8, and of neighbouring positions
// of the innermost dimension, two of each tile. It writes them 16 bytes at a
// time where it can, so that the 4 lanes of a row fill 64 bytes.
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// The widest access, in bytes.
static constexpr int64_t kAccessBytes = 16;

/// The lane's sums of row g + 8*half, in the order of the innermost dimension.
static SmallVector<Value> getRow(ArrayRef<MmaC> tiles, unsigned half) {
  SmallVector<Value> row;
  for (unsigned column : {0, 1})
    for (const MmaC &tile : tiles)
      row.push_back(tile[2 * half + column]);
  return row;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Stores sums of a group to a tile of `to`.
static void exchangeGroup(Lowering &lowering, const BlockSums &group,
                          const BlockPlace &place, const SharedTile &to,
                          Int column, Int offset) {
  KernelBuilder &k = lowering.k;
  const LaneNumbers &lanes = lowering.getLanes();
  const TileLayout &layout = to.layout;
  unsigned last = place.positions.size() - 1, rowDim = place.rowDim;
  int64_t most = kAccessBytes / getBytesOf(to.type);
  int64_t rowStride = layout.strides[rowDim], width = 2 * group.pair;
  // Where the last dimension counts through several, those have no gap.
  bool isMerged = place.positions.size() < layout.strides.size();
  int64_t columnRoom = isMerged ? place.columns : layout.pitches[last];
  for (unsigned half : {0, 1}) {
    // There is room up to the pitch; beyond is something else.
    Value fits;
    int64_t row = group.offset[rowDim] + 8 * half;
    int64_t room = layout.pitches[rowDim];
    Int start = place.positions[rowDim];
    if (start.isConstant() && row >= room)
      continue;
    if (!place.rowsExist && (!start.isConstant() || row + 8 > room))
      fits = k.less(k.add(start, k.add(lanes.group, row)), room);
    int64_t first = group.offset[last];
    if (!place.columnsExist &&
        (!place.positions[last].isConstant() || first + 4 * width > columnRoom))
      fits = k.both(fits, k.less(k.add(place.positions[last],
                                       k.add(column, first + width - 1)),
                                 columnRoom));
    int64_t index = to.getIndex(group.offset) + 8 * half * rowStride;
    SmallVector<Value> values = getRow(group.tiles, half);
    k.ifThen(fits, [&] {
      for (int64_t part = 0; part < width; part += most) {
        int64_t count = std::min(most, width - part);
        k.store(k.makeVector(ArrayRef(values).slice(part, count)),
                to.getAddress(offset, index + part));
      }
    });
  }
}

void tile::exchangeBlock(Lowering &lowering, ExchangeOp op) {
  KernelBuilder &k = lowering.k;
  const LaneNumbers &lanes = lowering.getLanes();
  const BlockProduct &product = *lowering.products.at(op.getFragment());
  const BlockPlace &place = product.place;
  SharedTile to(k, op.getBuffer().getType(),
                lowering.buffers.at(op.getBuffer()));
  DenseMap<int64_t, Int> offsets;
  for (const BlockSums &group : product.sums) {
    int64_t width = 2 * group.pair;
    Int column = k.mul(lanes.slot, width);
    if (place.foldSize)
      column = k.add(k.rem(column, place.foldSize),
                     k.mul(k.floorDiv(column, place.foldSize),
                           to.layout.strides[place.foldDim]));
    auto [it, isNew] = offsets.try_emplace(width);
    if (isNew)
      it->second = to.getOffset(
          place.positions,
          k.add(k.mul(lanes.group, to.layout.strides[place.rowDim]), column));
    exchangeGroup(lowering, group, place, to, column, it->second);
  }
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Whole vectors exist or do not.
Value tile::isStoreAligned(Lowering &lowering, StoreOp op) {
  SmallVector<Value> views{op.getView()};
  if (op.getAddend() && op.getAddend() != op.getView())
    views.push_back(op.getAddend());
  unsigned inner = getStoredDim(op);
  bool isInnermost = inner + 1 == op.getAxes()->size();
  // What is contracted has a known size.
  bool isKnown = !isInnermost && op.getAlong()->front() == inner;
  return isAligned(lowering, views, op.getBytes(),
                   isKnown ? -1 : (*op.getAxes())[inner]);
}

void tile::storeSums(Lowering &lowering, const KernelScale &alpha,
                     const KernelScale &beta, Type type, ArrayRef<Value> sums,
                     Value address, Value addendAddress) {
  KernelBuilder &k = lowering.k;
  ScalarOps ops(k, k.element);
  int64_t count = sums.size();
  auto convert = [&](Value value, Type to) -> Value {
    if (value.getType() == to)
      return value;
    if (to == k.element)
      return LLVM::FPExtOp::create(k.builder, k.loc, to, value);
    return LLVM::FPTruncOp::create(k.builder, k.loc, to, value);
  };
  SmallVector<Scalar> values = llvm::map_to_vector(sums, [](Value sum) {
    return Scalar{sum, nullptr};
  });
  values = ops.scaledSums(alpha, beta, values, [&] {
    Type loaded = count == 1 ? type : Type(VectorType::get({count}, type));
    SmallVector<Scalar> addends;
    for (Value value : k.unpack(k.load(loaded, addendAddress)))
      addends.push_back({convert(value, k.element), nullptr});
    return addends;
  });
  SmallVector<Value> parts;
  for (const Scalar &value : values)
    parts.push_back(convert(value.re, type));
  k.store(count == 1 ? parts.front() : k.makeVector(parts), address,
          CacheHint::Streaming);
}

namespace {

class BlockStore {
public:
  BlockStore(Lowering &lowering, StoreOp op);

  void emit();

private:
  void emitGroups(bool vectors);
  Value getLaneBase(const GlobalTile &tile, int64_t width);
  Value getElement(const GlobalTile &tile, Value base,
                   ArrayRef<int64_t> offset);
  Value getRowExists(const BlockSums &group, unsigned half);

  Lowering &lowering;
  KernelBuilder &k;
  LaneNumbers lanes;
  StoreOp op;
  const BlockProduct &product;
  BlockPlace place;
  /// The tile, with columns that several dimensions count as if they do.
  GlobalTile target;
  const GlobalTile *addend = nullptr;
  KernelScale alpha, beta;
  unsigned last;
  Value aligned;
};

} // namespace

BlockStore::BlockStore(Lowering &lowering, StoreOp op)
    : lowering(lowering), k(lowering.k), lanes(lowering.getLanes()), op(op),
      product(*lowering.products.at(op.getSource())), place(product.place),
      target(*lowering.globalTiles.at({op, op.getView()})),
      alpha(getScale(lowering, op.getAlpha())),
      beta(getScale(lowering, op.getBeta())) {
  if (op.getAddend())
    addend = lowering.globalTiles.at({op, op.getAddend()}).get();
  size_t rank = target.strides.size();
  last = rank - 1;
  if (place.positions.size() < rank)
    target.limits[last] = place.columns;
  place.positions = expandPositions(ArrayRef(place.positions), rank);
  place.rowsExist &= !target.mayExceed[place.rowDim];
  place.columnsExist &= !target.mayExceed[last];
  if (int64_t(op.getBytes()) > getBytesOf(target.type))
    aligned = isStoreAligned(lowering, op);
}

Value BlockStore::getLaneBase(const GlobalTile &tile, int64_t width) {
  Int column = k.mul(lanes.slot, width);
  Int offset = tile.scale(k, lanes.group, tile.strides[place.rowDim]);
  if (place.foldSize) {
    Int fold = k.floorDiv(column, place.foldSize);
    offset = k.add(offset, tile.scale(k, fold, tile.strides[place.foldDim]));
    column = k.rem(column, place.foldSize);
  }
  offset = k.add(offset, tile.scale(k, column, tile.strides[last]));
  for (auto [position, stride] : llvm::zip_equal(place.positions, tile.strides))
    offset = k.add(offset, tile.scale(k, position, stride));
  return k.offsetBytes(tile.base, k.mul(offset, getBytesOf(tile.type)));
}

Value BlockStore::getElement(const GlobalTile &tile, Value base,
                             ArrayRef<int64_t> offset) {
  Int sum = 0;
  for (auto [position, stride] : llvm::zip_equal(offset, tile.strides))
    sum = k.add(sum, tile.scale(k, position, stride));
  return k.offsetBytes(base, k.mul(sum, getBytesOf(tile.type)));
}

/// Whether the tile has the lane's row, and the other positions but for the
/// innermost one; null if it has.
Value BlockStore::getRowExists(const BlockSums &group, unsigned half) {
  SmallVector<int64_t> offset =
      expandPositions(ArrayRef(group.offset), last + 1);
  Value exist;
  for (unsigned dim = 0; dim < last; ++dim) {
    bool isRow = dim == place.rowDim;
    if (isRow ? place.rowsExist : target.limits[dim].isConstant())
      continue;
    Int position = k.add(place.positions[dim], offset[dim]);
    if (isRow)
      position = k.add(position, k.add(lanes.group, 8 * half));
    exist = k.both(exist, k.less(position, target.limits[dim]));
  }
  return exist;
}

void BlockStore::emitGroups(bool vectors) {
  int64_t elementBytes = getBytesOf(target.type);
  DenseMap<int64_t, std::pair<Value, Value>> bases;
  for (const BlockSums &group : product.sums) {
    int64_t width = 2 * group.pair;
    SmallVector<int64_t> offset =
        expandPositions(ArrayRef(group.offset), last + 1);
    auto [it, isNew] = bases.try_emplace(width);
    if (isNew) {
      it->second.first = getLaneBase(target, width);
      if (addend)
        it->second.second = getLaneBase(*addend, width);
    }
    auto [base, addendBase] = it->second;
    Int laneColumn = k.add(k.add(place.positions[last], offset[last]),
                           k.mul(lanes.slot, width));
    for (unsigned half : {0, 1}) {
      Value inside = getRowExists(group, half);
      SmallVector<Value> values = getRow(group.tiles, half);
      int64_t most =
          vectors ? std::min(width, int64_t(op.getBytes()) / elementBytes) : 1;
      for (int64_t first = 0; first < width; first += most) {
        SmallVector<int64_t> element(offset);
        element[place.rowDim] += 8 * half;
        element[last] += first;
        Value exists = inside;
        if (!place.columnsExist)
          exists = k.both(exists, k.less(k.add(laneColumn, first + most - 1),
                                         target.limits[last]));
        k.ifThen(exists, [&, base = base, addendBase = addendBase] {
          storeSums(lowering, alpha, beta, target.type,
                    ArrayRef(values).slice(first, most),
                    getElement(target, base, element),
                    addend ? getElement(*addend, addendBase, element)
                           : Value());
        });
      }
    }
  }
}

void BlockStore::emit() {
  if (!aligned)
    return emitGroups(/*vectors=*/false);
  k.choose(
      aligned, [&] { emitGroups(/*vectors=*/true); },
      [&] { emitGroups(/*vectors=*/false); });
}

void tile::storeBlock(Lowering &lowering, StoreOp op) {
  BlockStore(lowering, op).emit();
}

void tile::testStore(Lowering &lowering, StoreOp op) {
  ViewType view = op.getView().getType();
  if (int64_t(op.getBytes()) > getBytesOf(view.getElementType()))
    isStoreAligned(lowering, op);
}
