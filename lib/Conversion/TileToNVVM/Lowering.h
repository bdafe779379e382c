//===- Lowering.h - Tile operations to instructions ----------- -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the lowerings of tile operations share: where the values of a kernel are
// while its operations become instructions, one after the other. There is a
// file per operation.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_LOWERING_H
#define KRON_LIB_CONVERSION_TILETONVVM_LOWERING_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/Dialect/Tile/IR/TileOps.h"
#include <functional>

namespace mlir::kron::tile {

/// An array with its bounds.
struct LoweredView {
  StageArray array;
  SmallVector<Int> sizes;
};

/// Byte offsets of slots in shared memory: the one to wait for next, and the
/// one to fill next, of which some operation may have taken the first already.
struct LoweredRing {
  int64_t begin = 0, slotBytes = 0, stages = 0;
  Int full, free;
  bool isFullTaken = false, isFreeTaken = false;
};

/// Values of each box, in row-major order of its positions.
using Boxes = SmallVector<SmallVector<Value>>;

/// Boxes in registers. Positions along one of their dimensions are made as they
/// are taken, so that no more of them are in registers at once.
struct LoweredFragment {
  /// Sizes of a box.
  SmallVector<int64_t> box;
  /// Of the box, of which `step` positions are made at a time.
  unsigned dim = 0;
  int64_t step = 1;
  /// The `count` positions along `dim` from `first` on.
  std::function<Boxes(int64_t first, int64_t count)> make;
};

/// Where boxes lie in a tile.
class BoxPlaces {
public:
  BoxPlaces(const TileLayout &layout, ArrayRef<int64_t> along,
            ArrayRef<int64_t> box);

  /// Index of the first element of box number `box`, before swizzling.
  Int getStart(KernelBuilder &k, Int box) const;
  /// Pieces of a box, of which the `count` positions from `first` on along
  /// dimension `dim` are taken, that one access of up to `limit` elements
  /// takes: body(number of the first value, elements behind the box's start,
  /// width).
  void forPieces(unsigned dim, int64_t first, int64_t count, int64_t limit,
                 function_ref<void(int64_t, int64_t, int64_t)> body) const;

  const TileLayout layout;

private:
  int64_t getTogether(unsigned dim, int64_t count) const;
  int64_t getAlignment(int64_t limit) const;

  unsigned first, end;
  int64_t width = 1;
  /// Sizes of a box, and elements from one position to the next.
  SmallVector<int64_t> box, strides;
};

class Lowering {
public:
  Lowering(KernelBuilder &k, int64_t threads) : k(k), threads(threads) {}

  /// Gives argument `value` of the kernel the host's `hostValue`.
  void enter(BlockArgument value, Value hostValue);
  void lower(Block &block);

  KernelBuilder &k;
  const int64_t threads;

  DenseMap<Value, LoweredView> views;
  llvm::MapVector<Value, LoweredRing> rings;
  /// Byte offsets.
  DenseMap<Value, Int> buffers, operands;
  DenseMap<Value, LoweredFragment> fragments;
  /// Scalars, and numbers of tiles.
  DenseMap<Value, Int> numbers;
  DenseMap<Value, Value> scalars;
  /// Numbers of the boxes that a thread has in this turn.
  DenseMap<Value, SmallVector<Int>> boxes;
  /// From one tile of this CTA to its next one.
  Int step;

  //===--------------------------------------------------------------------===//
  // Shared memory
  //===--------------------------------------------------------------------===//

  int64_t getElementBytes() const { return k.getElementBytes(); }
  /// Elements of 16 bytes.
  int64_t getChunk() const { return 16 / getElementBytes(); }
  /// Element `index + offset` of the buffer at byte offset `buffer`. Accesses
  /// that differ in the constant `offset` share their addresses.
  Value getElement(Int buffer, const TileLayout &layout, Int index,
                   int64_t offset = 0);
  /// Index, before swizzling, of element `number` of a tile in row-major order.
  Int getIndex(const TileLayout &layout, Int number);

  //===--------------------------------------------------------------------===//
  // Global memory
  //===--------------------------------------------------------------------===//

  /// Elements of tile `tile`, of `rows` rows of `row` elements, that exist.
  Int getValidElements(const LoweredView &view, Int tile, int64_t rows,
                       ArrayRef<int64_t> row);
  /// Rows of a view: positions of its axes outside of those of a row.
  Int getRows(const LoweredView &view, size_t rowRank);
  /// Offset of element `index` of tile `tile`, found by strides.
  Int getOffset(const LoweredView &view, Int tile, int64_t rows,
                ArrayRef<int64_t> row, Int index);
  /// Element 0 of tile `tile` of a view without gaps.
  Value getTile(const LoweredView &view, Int tile, int64_t rows,
                ArrayRef<int64_t> row);

  /// body(index) for index = thread, thread + threads, ... below `count`.
  void forThreads(int64_t count, function_ref<void(Int)> body);
  /// All positions of a fragment.
  Boxes takeAll(const LoweredFragment &fragment);
};

void lowerAlloc(Lowering &lowering, AllocOp op);
void lowerAcquire(Lowering &lowering, AcquireOp op);
void lowerWait(Lowering &lowering, WaitOp op);
void lowerCopy(Lowering &lowering, CopyOp op);
void lowerPrepare(Lowering &lowering, PrepareOp op);
void lowerFor(Lowering &lowering, ForOp op);
void lowerForBoxes(Lowering &lowering, ForBoxesOp op);
void lowerLoad(Lowering &lowering, LoadOp op);
void lowerContract(Lowering &lowering, ContractOp op);
void lowerExchange(Lowering &lowering, ExchangeOp op);
void lowerStore(Lowering &lowering, StoreOp op);

/// The slot behind the one at `slot`.
Int getNextSlot(Lowering &lowering, const LoweredRing &ring, Int slot);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_LOWERING_H
