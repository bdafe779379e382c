//===- Indexed.cpp - Tiles whose elements are known by bits ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Indexed.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Offsets along axes with smaller strides have 32 bits.
static constexpr int64_t kWideStride = int64_t(1) << 24;
/// Bytes of all banks of shared memory: what swizzles move elements within.
static constexpr int64_t kBankBytes = 128;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

int64_t IndexedTile::getStride(unsigned axis) const {
  return llvm::product_of(sizes.drop_front(axis + 1));
}

Positions IndexedTile::decode(Int index) const {
  Positions positions;
  for (auto [axis, size] : llvm::enumerate(sizes))
    positions.push_back(k.bitAnd(k.floorDiv(index, getStride(axis)), size - 1));
  return positions;
}

Int IndexedTile::getOffset(Int index, ArrayRef<Int> strides) const {
  Int offset = 0;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1)
      continue;
    int64_t low = getStride(axis), extent = sizes[axis];
    Int stride = strides[axis];
    for (; axis > 0 && stride.isConstant() &&
           strides[axis - 1].is(stride.getConstant() * extent);
         --axis)
      extent *= sizes[axis - 1];
    Int position = k.bitAnd(k.floorDiv(index, low), extent - 1);
    if (!stride.isConstant() || stride.getConstant() >= kWideStride)
      position = k.extend(position);
    offset = k.add(offset, k.mul(position, stride));
  }
  return offset;
}

Value IndexedTile::isInside(ArrayRef<Int> all, const LoweredTile &tile,
                            Int index, int64_t known) const {
  Positions positions = decode(index), more = decode(known);
  Value inside;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (size == 1 ||
        (all[axis].isConstant() && all[axis].getConstant() % size == 0))
      continue;
    Int left = k.sub(all[axis], tile.starts[axis]);
    inside = k.both(inside, k.less(k.add(positions[axis], more[axis]), left));
  }
  return inside;
}

LaneBoxes IndexedTile::getBoxes(Lowering &lowering, Value boxes,
                                unsigned axis) const {
  auto loop = cast<ForBoxesOp>(boxes.getParentBlock()->getParentOp());
  int64_t positions = sizes[axis], low = getStride(axis);
  int64_t warps = loop.getWarps(), own = lowering.threads / 32;
  int64_t fibres = llvm::product_of(sizes) / positions / warps;
  // The index of a fibre at position 0 of the axis.
  auto expand = [&](Int fibre) {
    Int outer = k.mul(k.floorDiv(fibre, low), low * positions);
    return low == 1 ? outer : k.add(outer, k.bitAnd(fibre, low - 1));
  };
  Int fibre = k.mul(k.warpId(), fibres);
  if (warps > own)
    fibre = k.add(fibre, k.mul(k.clusterRank(), fibres * own));
  Int laneGroup = k.floorDiv(k.laneId(), 4), laneSlot = k.bitAnd(k.laneId(), 3);
  LaneBoxes found;
  if (low == 1) {
    // Neighbours are two positions of the axis, the second fibre 8 further.
    found.index = k.add(expand(k.add(fibre, laneGroup)), k.mul(laneSlot, 2));
    found.second = kDmmaSizeM / 2 * positions;
  } else {
    found.index =
        k.add(expand(k.add(fibre, k.mul(laneGroup, 2))), k.mul(laneSlot, low));
    found.second = kDmmaSizeK / 2 * low;
  }
  int64_t first = lowering.turns.at(boxes).first;
  for (uint64_t box = 0; box < loop.getTogether(); ++box)
    found.known.push_back(expand((first + box) * kDmmaSizeM).getConstant());
  return found;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Int IndexedPlaces::getWarpSlot(Lowering &lowering, Value buffer) {
  auto window = lowering.windows.find(buffer);
  if (window == lowering.windows.end())
    return 0;
  int64_t warps = lowering.threads / 32;
  return lowering.k.floorDiv(lowering.k.warpId(),
                             warps / window->second.slotsPerBuffer);
}

IndexedPlaces::IndexedPlaces(Lowering &lowering, Value buffer, Int index,
                             Int slot)
    : k(lowering.k),
      layout(cast<BufferType>(buffer.getType()).getTileLayout()) {
  int64_t elements = llvm::product_of(layout.pitches);
  auto window = lowering.windows.find(buffer);
  if (window == lowering.windows.end()) {
    base = lowering.buffers.at(buffer);
  } else {
    const LoweredWindow &found = window->second;
    elements /= found.slotsPerBuffer;
    Int place = wrapSlot(k, k.add(found.slot, slot), found.stages);
    base = k.add(k.mul(place, elements * layout.elementBytes), found.begin);
  }
  swizzled = index;
  for (TileLayout::Swizzle swizzle : layout.swizzles) {
    Int moved = k.floorDiv(index, int64_t(1) << (swizzle.from - swizzle.to));
    swizzled = k.bitXor(swizzled, k.bitAnd(moved, int64_t(1) << swizzle.to));
  }
  swizzled = k.bitAnd(swizzled, elements - 1);
}

Value IndexedPlaces::getPointer(int64_t known) const {
  int64_t bytes = layout.swizzle(known) * layout.elementBytes;
  int64_t low = bytes % kBankBytes;
  Value start = k.shared(0);
  Int address(LLVM::PtrToIntOp::create(k.builder, k.loc, k.builder.getI32Type(),
                                       start));
  address = k.add(address, base);
  address = k.add(address, k.bitXor(k.mul(swizzled, layout.elementBytes), low));
  Value pointer = LLVM::IntToPtrOp::create(k.builder, k.loc, start.getType(),
                                           address.getValue());
  return k.offsetBytes(pointer, bytes - low);
}
