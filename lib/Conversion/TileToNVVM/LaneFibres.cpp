//===- LaneFibres.cpp - Fibres that a lane has ----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"
#include "kron/CodeGen/GPU/WgmmaRows.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Fibres of a warp.
static constexpr int64_t kWarpFibres = kWarpgroupFibres / 4;

LaneFibres::LaneFibres(Lowering &lowering, ArrayRef<int64_t> sizes,
                       unsigned along, bool pairs, Int block)
    : sizes(sizes), along(along), pairs(pairs), radix(sizes) {
  KernelBuilder &k = lowering.k;
  const LaneNumbers &lanes = lowering.getLanes();
  radix.back() = llvm::alignTo(radix.back(), 2);
  radix[along] = 1;
  fibres = llvm::product_of(radix);
  first = k.add(k.mul(block, kWarpgroupFibres),
                k.mul(k.bitAnd(lanes.warp, 3), kWarpFibres));
  Int own = getNumber(k, lanes.group, 0), second = k.add(own, pairs ? 1 : 8);
  if (fibres % kWarpgroupFibres != 0) {
    bool isWhole = pairs && fibres % 2 == 0;
    present[0] = k.less(own, fibres);
    present[1] = isWhole ? present[0] : k.less(second, fibres);
    // Of those that do not exist, the last one stands in.
    own = k.min(own, fibres - (isWhole ? 2 : 1));
    second = k.min(second, fibres - 1);
  }
  positions[0] = delinearize(k, own, radix);
  // Pairs do not straddle the end of the innermost of the other dimensions.
  int inner = int(sizes.size()) - (along + 1 == sizes.size() ? 2 : 1);
  if (pairs && inner >= 0 && radix[inner] % 2 == 0) {
    positions[1] = positions[0];
    positions[1][inner] = k.add(positions[0][inner], 1);
  } else {
    positions[1] = delinearize(k, second, radix);
  }
}

Int LaneFibres::getNumber(KernelBuilder &k, Int index, Int second) const {
  // Of padded fibres, those that are 4 apart are on different banks.
  Int own = pairs ? k.mul(index, 2)
                  : k.add(k.mul(k.bitAnd(index, 1), 4), k.floorDiv(index, 2));
  return k.add(k.add(first, own), k.mul(second, pairs ? 1 : 8));
}

SmallVector<Int> LaneFibres::locate(KernelBuilder &k, Int index,
                                    Int second) const {
  Int number = getNumber(k, index, second);
  if (fibres % kWarpgroupFibres != 0)
    number = k.min(number, fibres - 1);
  return delinearize(k, number, radix);
}

Value LaneFibres::exists(KernelBuilder &k, const GlobalTile &tile,
                         unsigned number) const {
  Value result = present[number];
  for (auto [dim, position] : llvm::enumerate(positions[number]))
    if (dim != along && (tile.mayExceed[dim] || radix[dim] != sizes[dim]))
      result = k.both(result, k.less(position, tile.limits[dim]));
  return result;
}

Value LaneFibres::exists(KernelBuilder &k, unsigned number) const {
  Value result = present[number];
  for (auto [dim, position] : llvm::enumerate(positions[number]))
    if (dim != along && radix[dim] != sizes[dim])
      result = k.both(result, k.less(position, sizes[dim]));
  return result;
}

Value LaneFibres::getAddress(KernelBuilder &k, const GlobalTile &tile,
                             unsigned number, Int p) const {
  Int offset = tile.scale(k, p, tile.strides[along]);
  for (auto [position, stride] :
       llvm::zip_equal(positions[number], tile.strides))
    offset = k.add(offset, tile.scale(k, position, stride));
  return k.offsetBytes(tile.base, k.mul(offset, getBytesOf(tile.type)));
}

SmallVector<Value> LaneFibres::load(KernelBuilder &k, Int slot,
                                    const SharedTile &tile, bool innermost,
                                    int64_t positions, int64_t sizeK) const {
  if (!innermost) {
    int64_t stride = tile.layout.strides[along];
    Int offset = tile.getOffset(this->positions[0], k.mul(slot, 2 * stride));
    return loadWgmmaPairs(k, slot, tile.getAddress(offset, 0),
                          stride * tile.layout.elementBytes, positions, sizeK);
  }
  WgmmaQuadBases bases;
  for (unsigned fibre = 0; fibre < 2; ++fibre)
    for (int64_t half = 0; half < 2; ++half)
      bases[fibre][half] =
          tile.getAddress(tile.getOffset(this->positions[fibre],
                                         k.add(k.mul(slot, 4), 16 * half)),
                          0);
  return loadWgmmaQuads(k, slot, bases, positions, sizeK);
}
