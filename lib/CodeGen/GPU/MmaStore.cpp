//===- MmaStore.cpp - What becomes of sums of matrix instructions ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A lane holds results of two rows, g and g + 8, and of 2 * pair neighbouring
// positions of the innermost dimension. It writes them 16 bytes at a time where
// it can, so that the 4 lanes of a row fill 64 bytes.
//
//===----------------------------------------------------------------------===//

#include "MmaKernel.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

static int64_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// The lane's sums of row g + 8*half, in the order of the innermost dimension.
static SmallVector<Value> getRow(ArrayRef<const MmaC *> tiles, unsigned half) {
  SmallVector<Value> row;
  for (unsigned column : {0, 1})
    for (const MmaC *tile : tiles)
      row.push_back((*tile)[2 * half + column]);
  return row;
}

Value MmaKernel::scaleResult(Value sum, Value other) {
  OpBuilder &builder = kernel.builder;
  if (alpha)
    sum = emitScaled(builder, loc, Scale{TypedAttr(), alpha}, sum);
  if (other)
    sum = emitAdd(
        builder, loc, sum,
        emitScaled(builder, loc, Scale{TypedAttr(), beta}, toComputed(other)));
  return sum;
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

void MmaKernel::emitSharedResults(ArrayRef<Results> results,
                                  const ResultPlace &place,
                                  const MmaBuffer &to) {
  const TileLayout &layout = *to.layout;
  unsigned last = plan.dims.size() - 1, rowDim = place.rowDim;
  ArrayRef<Int> positions = place.positions;
  int64_t most = 16 / getBytes(to.type);
  int64_t rowStride = layout.strides[rowDim];
  llvm::DenseMap<int64_t, Int> offsets;
  for (const Results &result : results) {
    int64_t width = 2 * result.pair;
    Int column = kernel.mul(laneSlot, width);
    if (place.foldSize)
      column = kernel.add(kernel.rem(column, place.foldSize),
                          kernel.mul(kernel.floorDiv(column, place.foldSize),
                                     layout.strides[place.foldDim]));
    auto [it, isNew] = offsets.try_emplace(width);
    if (isNew)
      it->second = getOffset(
          to, positions, kernel.add(kernel.mul(laneGroup, rowStride), column));
    Int offset = it->second;
    for (unsigned half : {0, 1}) {
      // There is room up to the pitch; beyond is something else.
      Value fits;
      int64_t row = result.offset[rowDim] + 8 * half;
      int64_t room = layout.pitches[rowDim];
      bool known = positions[rowDim].isConstant();
      if (known && row >= room)
        continue;
      if (!place.rowsExist && (!known || row + 8 > room))
        fits = kernel.less(
            kernel.add(positions[rowDim], kernel.add(laneGroup, row)), room);
      int64_t first = result.offset[last];
      room = place.columnRoom ? place.columnRoom : layout.pitches[last];
      if (!place.columnsExist &&
          (!positions[last].isConstant() || first + 4 * width > room))
        fits = kernel.both(
            fits, kernel.less(kernel.add(positions[last],
                                         kernel.add(column, first + width - 1)),
                              room));
      int64_t index = layout.getIndex(result.offset) + 8 * half * rowStride;
      SmallVector<Value> values = getRow(result.tiles, half);
      kernel.ifThen(fits, [&] {
        for (int64_t part = 0; part < width; part += most) {
          int64_t count = std::min(most, width - part);
          kernel.store(kernel.makeVector(ArrayRef(values).slice(part, count)),
                       getAddress(to, offset, index + part));
        }
      });
    }
  }
}

//===----------------------------------------------------------------------===//
// To global memory
//===----------------------------------------------------------------------===//

/// Whether strides that are known allow 16-byte accesses.
bool MmaKernel::canStoreVectors(const MmaGlobalTile &tile) {
  if (!tile.strides.back().is(1))
    return false;
  int64_t chunk = 16 / getBytes(plan.outputType);
  const MmaDim &inner = plan.dims.back();
  if (inner.sizeN % chunk != 0)
    return false;
  for (auto [axis, size] : llvm::zip(plan.grid, gridSizes))
    if (axis.dim + 1 == int(plan.dims.size()) && size.isConstant() &&
        size.getConstant() % chunk != 0)
      return false;
  for (const StageArray &array : {output, addend}) {
    if (!array.base)
      continue;
    for (auto [axis, stride] : llvm::enumerate(array.strides))
      if ((inner.axes.empty() || axis != inner.axes.back()) &&
          stride.isConstant() && !operands.sizes[axis].is(1) &&
          stride.getConstant() % chunk != 0)
        return false;
    if (!getStride(array, inner.axes).is(1))
      return false;
  }
  return true;
}

/// Whether the tile has the lane's row, and the other positions but for the
/// innermost one; null if it has.
Value MmaKernel::getPositionsExist(const Results &result,
                                   const ResultPlace &place, unsigned half,
                                   const MmaGlobalTile &target) {
  Value exist;
  for (unsigned dim = 0; dim + 1 < plan.dims.size(); ++dim) {
    bool isRow = dim == place.rowDim;
    if (isRow ? place.rowsExist : target.limits[dim].isConstant())
      continue;
    Int position = kernel.add(place.positions[dim], result.offset[dim]);
    if (isRow)
      position = kernel.add(position, kernel.add(laneGroup, 8 * half));
    exist = kernel.both(exist, kernel.less(position, target.limits[dim]));
  }
  return exist;
}

void MmaKernel::emitGlobalResults(ArrayRef<Results> results,
                                  const ResultPlace &place,
                                  const MmaGlobalTile &target, bool vectors) {
  unsigned last = plan.dims.size() - 1, rowDim = place.rowDim;
  int64_t bytes = getBytes(target.type);
  bool hasAddend = static_cast<bool>(addend.base);

  auto getLaneBase = [&](const MmaGlobalTile &tile, int64_t width) {
    Int column = kernel.mul(laneSlot, width);
    Int offset = scale(laneGroup, tile.strides[rowDim]);
    if (place.foldSize) {
      Int fold = kernel.floorDiv(column, place.foldSize);
      offset = kernel.add(offset, scale(fold, tile.strides[place.foldDim]));
      column = kernel.rem(column, place.foldSize);
    }
    offset = kernel.add(offset, scale(column, tile.strides[last]));
    for (auto [position, stride] : llvm::zip(place.positions, tile.strides))
      offset = kernel.add(offset, scale(position, stride));
    return kernel.offsetBytes(tile.base, kernel.mul(offset, bytes));
  };
  auto getElement = [&](const MmaGlobalTile &tile, Value base,
                        ArrayRef<int64_t> offset) {
    Int sum = 0;
    for (auto [position, stride] : llvm::zip(offset, tile.strides))
      sum = kernel.add(sum, scale(position, stride));
    return kernel.offsetBytes(base, kernel.mul(sum, bytes));
  };

  llvm::DenseMap<int64_t, std::pair<Value, Value>> bases;
  for (const Results &result : results) {
    int64_t width = 2 * result.pair;
    auto [it, isNew] = bases.try_emplace(width);
    if (isNew) {
      it->second.first = getLaneBase(target, width);
      if (hasAddend)
        it->second.second = getLaneBase(addendTile, width);
    }
    Value base = it->second.first, addendBase = it->second.second;
    Int laneColumn =
        kernel.add(kernel.add(place.positions[last], result.offset[last]),
                   kernel.mul(laneSlot, width));
    for (unsigned half : {0, 1}) {
      Value inside = getPositionsExist(result, place, half, target);
      SmallVector<Value> values = getRow(result.tiles, half);
      int64_t most = vectors ? std::min(width, 16 / bytes) : 1;
      for (int64_t first = 0; first < width; first += most) {
        SmallVector<int64_t> offset(result.offset);
        offset[rowDim] += 8 * half;
        offset[last] += first;
        Value exists = inside;
        if (!place.columnsExist)
          exists = kernel.both(
              exists, kernel.less(kernel.add(laneColumn, first + most - 1),
                                  target.limits[last]));
        kernel.ifThen(exists, [&] {
          storeResults(ArrayRef(values).slice(first, most), target.type,
                       getElement(target, base, offset),
                       hasAddend ? getElement(addendTile, addendBase, offset)
                                 : Value());
        });
      }
    }
  }
}

void MmaKernel::storeResults(ArrayRef<Value> sums, Type type, Value address,
                             Value addendAddress) {
  int64_t count = sums.size();
  SmallVector<Value> others(count);
  if (addendAddress) {
    // A zero beta reads nothing.
    Value reads =
        LLVM::FCmpOp::create(kernel.builder, loc, LLVM::FCmpPredicate::une,
                             beta, kernel.constant(beta.getType(), 0.0));
    others = kernel.ifElse(
        reads, SmallVector<Type>(count, type),
        [&] {
          Type loaded =
              count == 1 ? type : Type(VectorType::get({count}, type));
          return kernel.unpack(kernel.load(loaded, addendAddress));
        },
        [&] { return SmallVector<Value>(count, kernel.constant(type, 0.0)); });
  }
  SmallVector<Value> parts;
  for (auto [sum, other] : llvm::zip(sums, others)) {
    Value part = scaleResult(sum, other);
    if (part.getType() != type)
      part = LLVM::FPTruncOp::create(kernel.builder, loc, type, part);
    parts.push_back(part);
  }
  kernel.store(count == 1 ? parts.front() : kernel.makeVector(parts), address,
               CacheHint::Streaming);
}

void MmaKernel::emitResults(ArrayRef<Results> results, ResultPlace place,
                            const MmaBuffer *to, const MmaGlobalTile *target) {
  if (to)
    return emitSharedResults(results, place, *to);
  place.rowsExist &= !mayExceed(place.rowDim);
  place.columnsExist &= !mayExceed(plan.dims.size() - 1);
  if (!canStoreVectors(*target))
    return emitGlobalResults(results, place, *target, /*vectors=*/false);
  kernel.choose(
      canStoreChunks, [&] { emitGlobalResults(results, place, *target, true); },
      [&] { emitGlobalResults(results, place, *target, false); });
}
