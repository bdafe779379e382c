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
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Dialect/Tile/IR/TileColumns.h"
#include <functional>

namespace mlir::kron {
struct QuantizedRows;
} // namespace mlir::kron

namespace mlir::kron::tile {

/// An array with its bounds. Its elements are of type `element`.
struct LoweredView {
  StepArray array;
  SmallVector<Int> sizes;
  Type element;

  /// The element `offset` behind `pointer`.
  Value offset(KernelBuilder &k, Value pointer, Int offset) const {
    return k.offsetElements(pointer, getStorageType(element), offset);
  }
};

/// The slot to wait for next, which some operation may have taken already, by
/// its byte offset in shared memory; of a ring along an axis, its number.
/// Behind it are as many buffers as were acquired `ahead`.
struct LoweredRing {
  int64_t begin = 0, slotBytes = 0, stages = 0;
  Int full;
  bool isFullTaken = false;
  /// Slots of a buffer, along that axis.
  std::optional<unsigned> along;
  int64_t slotsPerBuffer = 1, ahead = 0;
  /// Whether all groups of threads have the same one.
  bool isShared = false;
  /// Of steps along K for warpgroups, which are counted from 0 on in `full`:
  /// barriers of what arrives in each slot, and of who is done with it behind
  /// these.
  int64_t phases = 0;
};

/// A buffer of a ring along an axis: its first slot.
struct LoweredWindow {
  int64_t begin = 0, stages = 0, slotsPerBuffer = 1;
  unsigned along = 0;
  Int slot;
};

/// A tile that is a box of a view: where it starts, and the element there.
struct LoweredTile {
  SmallVector<int64_t> sizes;
  Positions starts;
  Value base;
};

/// Whether views are aligned to `bytes`, and the size of the first one's axis
/// `axis`, if it is one, is a multiple of these.
struct AlignmentTest {
  SmallVector<Value> views;
  int64_t bytes, axis;
  Value holds;
};

/// Where a box of a thread is in the tile. What is known of that is apart, so
/// that it ends in the offsets of instructions.
struct BoxPosition {
  Positions base;
  SmallVector<int64_t> more;
};

/// The boxes that a thread has in a turn: their numbers, and whether they are
/// others than the first one (null: they are). With `extents`, the boxes along
/// each axis, where they are; and of operations on views, whether that is
/// inside (null: it is).
struct LoweredTurn {
  SmallVector<Int> numbers;
  SmallVector<Value> valid;
  SmallVector<int64_t> extents;
  SmallVector<BoxPosition> positions;
  DenseMap<Operation *, SmallVector<Value>> inside;
  /// Of boxes in parts, which one is this turn's; its first result, where it
  /// has `size` of them.
  Int part;
  Int getFirstResult(KernelBuilder &k, ForBoxesOp loop, int64_t size) const;
  /// Of warps, which box of each is the turn's first one; whether it is the
  /// last turn.
  int64_t first = 0;
  bool isLast = false;
};

/// Numbers of a thread: its warp in the CTA, and its lane as (g, t) in the
/// description of the atoms.
struct LaneNumbers {
  Int warp, group, slot;
};

/// A table of powers in shared memory: where it begins, and their exponent.
struct PowerTable {
  int64_t begin;
  double exponent;
};

/// Values of each box, in row-major order of its positions; null where they are
/// not known yet.
using Boxes = SmallVector<SmallVector<Value>>;

/// `boxes` of a thread that go to memory in several branches: they are worked
/// out in front of these.
Boxes pinBoxes(KernelBuilder &k, const Boxes &boxes);

/// Boxes in registers. Those values are made together that are taken together,
/// so that no more of them are in registers at once.
struct LoweredFragment {
  /// Sizes of a box; of one that lanes share, two pairs.
  SmallVector<int64_t> box;
  /// Calls body(values) with some of them after the others.
  std::function<void(function_ref<void(const Boxes &)>)> forParts;
  /// What a tile.load_columns has put into registers, and the fragment that
  /// other ones of its kind are.
  SmallVector<Value> registers;
  std::function<LoweredFragment(ValueRange)> rebuild;
};

/// Of atom mma.m16n8k16: values along K that a lane has of a row or a result,
/// and tiles of 8 results of which it has 16 bytes of a row.
inline constexpr int64_t kLaneK = 4, kTilesTogether = 4;

/// The column of this thread or warp: its number; which rows of a tile it takes
/// (`firstRow` and each `rowStep`-th after it); and its tiles of rows.
struct LoweredColumns {
  Int number, firstRow;
  int64_t rowStep = 1;
  Int firstTile, tileStep;

  /// Row `index` of the `count` ones that this thread takes of a tile.
  Int getRow(KernelBuilder &k, Int tile, int64_t count, int64_t index) const {
    Int first = k.add(k.mul(tile, count * rowStep), firstRow);
    return k.add(first, index * rowStep);
  }
};

/// Where boxes lie in a tile.
class BoxPlaces {
public:
  BoxPlaces(const TileLayout &layout, ArrayRef<int64_t> along,
            ArrayRef<int64_t> box);

  /// Index of the first element of box number `box`, before swizzling.
  Int getStart(KernelBuilder &k, Int box) const;
  /// Pieces of a box that one access of up to `limit` elements takes:
  /// body(number of the first value, elements behind the box's start, width).
  void forPieces(int64_t limit,
                 function_ref<void(int64_t, int64_t, int64_t)> body) const;

  const TileLayout layout;

private:
  int64_t getTogether() const;
  int64_t getAlignment(int64_t limit) const;

  unsigned first, end;
  int64_t width = 1;
  /// Sizes of a box, and elements from one position to the next.
  SmallVector<int64_t> box, strides;
};

class BatchProduct;
class Lowering;
struct BlockProduct;
struct PackedFactor;
struct WarpgroupSums;
struct GlobalTile;
struct LoadedBlock;
struct LoweredBlock;
class MatrixFactor;
class ChunkPieces;
class ChainStep;

/// Where the elements of a buffer of a ring along an axis lie.
class WindowPlaces {
public:
  WindowPlaces(Lowering &lowering, Value buffer);

  /// Of the element at `positions`.
  Value getElement(const Positions &positions) const;
  /// Of the values of a box, whole along `along`, as many at a time as lie
  /// together: body(number of the first one, how many, where they are).
  void forVectors(const BoxPosition &box, ArrayRef<int64_t> along,
                  function_ref<void(int64_t, int64_t, Value)> body) const;

private:
  Int wrap(Int slot) const;
  Value getPointer(Int offset) const;
  int64_t getWidth(ArrayRef<int64_t> along) const;

  Lowering &lowering;
  const LoweredWindow &window;
  ArrayRef<int64_t> shape;
  const TileLayout layout;
};

class Lowering {
public:
  Lowering(KernelBuilder &k, KernelAttr kernel)
      : k(k), threads(kernel.getThreads()), cluster(kernel.getCluster()),
        groups(kernel.getGroups()), shares(kernel.getShares()) {}

  /// Gives argument `value` of the kernel the host's `hostValue`.
  void enter(BlockArgument value, Value hostValue);
  void lower(Block &block);

  KernelBuilder &k;
  const int64_t threads, cluster, groups, shares;
  /// Of a kernel that multiplies blocks, found once, at its start.
  std::optional<LaneNumbers> blockLanes;
  const LaneNumbers &getLanes() const { return *blockLanes; }

  DenseMap<Value, LoweredView> views;
  llvm::MapVector<Value, LoweredRing> rings;
  /// Byte offsets; of a buffer that each group has, this group's.
  DenseMap<Value, Int> buffers, operands;
  /// That of the first group's.
  DenseMap<Value, int64_t> firstBuffers;
  /// What a lane has of operands in registers.
  DenseMap<Value, SmallVector<Value>> registers;
  DenseMap<Value, LoweredWindow> windows;
  DenseMap<Value, LoweredFragment> fragments;
  /// Scalars, and numbers of tiles.
  DenseMap<Value, Int> numbers;
  DenseMap<Value, Value> scalars;
  /// Complex scalars.
  DenseMap<Value, KernelScale> scales;
  DenseMap<Value, LoweredTurn> turns;
  DenseMap<Value, LoweredColumns> columns;
  /// Tiles that operations of a turn work on, of each of their views.
  DenseMap<std::pair<Operation *, Value>, LoweredTile> tiles;
  /// Of blocks: the one of a turn, tiles that are stored to, operands, what was
  /// loaded and what was multiplied.
  DenseMap<Value, std::shared_ptr<LoweredBlock>> blocks;
  DenseMap<std::pair<Operation *, Value>, std::shared_ptr<GlobalTile>>
      globalTiles;
  DenseMap<Value, std::shared_ptr<MatrixFactor>> factors;
  DenseMap<Value, std::shared_ptr<LoadedBlock>> loaded;
  DenseMap<Value, std::shared_ptr<BlockProduct>> products;
  /// Tiles that tile.place has found.
  DenseMap<Value, LoweredTile> places;
  /// Of warpgroups: operands, and sums of a tile.
  DenseMap<Value, std::shared_ptr<PackedFactor>> packed;
  DenseMap<Value, std::shared_ptr<WarpgroupSums>> warpgroupSums;
  /// Of pieces of chunks: what multiplies them, by the ring of the data, and by
  /// that of a factor that stays.
  DenseMap<Value, std::shared_ptr<ChunkPieces>> chunks;
  /// Steps of a chain, by their tile.contract_step.
  llvm::MapVector<Operation *, std::shared_ptr<ChainStep>> steps;
  /// Products of tile.contract_batch, by their sums.
  DenseMap<Value, std::shared_ptr<BatchProduct>> batches;
  /// Of functions of pairs, by their operations.
  DenseMap<Operation *, PowerTable> powerTables;
  /// What was tested where this operation is; and the first parts of what such
  /// tests choose that it is in.
  SmallVector<AlignmentTest> alignmentTests;
  SmallVector<IfAlignedOp> alignedParts;
  /// The number of this thread's warpgroup in its group.
  Int warpgroup = 0;
  /// Whether there is a tile that comes next, which blocks are refilled with.
  DenseMap<Operation *, Value> nextExists;
  /// From one tile of this CTA to its next one, and how many there are.
  Int step, tileCount;
  /// Bits that tiles are counted in.
  unsigned countBits = 64;

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
  /// The element of a buffer at `positions`.
  Value getElement(Value buffer, const Positions &positions);
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

  /// The box of `sizes` that is tile `tile` of `view`.
  LoweredTile placeTile(Value view, Int tile, ArrayRef<int64_t> sizes);
  /// First tile of this CTA, or of this thread's group, and from one to the
  /// next, in as many bits as tiles are counted in. CTAs that share the results
  /// of fewer than `count` tiles may have none.
  Int getFirstTile(Int count = 0);
  Int getTileStep();
  /// The number of this thread's group, of those that have tiles of their own;
  /// of this thread in it, and of its warp; and how many threads it has.
  Int getGroup();
  Int getThreadOfGroup();
  Int getWarpOfGroup();
  int64_t getGroupThreads() const { return threads / groups; }
  /// Tiles of the loop that `copy` is in, or that its view has.
  Int getTileCount(CopyOp copy);
  /// Whether `positions` of `tile` are within `view`; null if they always are.
  Value isInside(Value view, const LoweredTile &tile,
                 const Positions &positions);

  /// Finds where the boxes of this turn of `boxes` are in a tile of `sizes`,
  /// which they have all positions of along `along`.
  LoweredTurn &placeBoxes(Value boxes, ArrayRef<int64_t> sizes,
                          ArrayRef<int64_t> along);

  /// body(index) for index = thread, thread + threads, ... below `count`.
  void forThreads(int64_t count, function_ref<void(Int)> body);
  /// Addresses of a box's values, of `sizes` positions along `along`, in `tile`
  /// of `view`.
  SmallVector<Value> getAddresses(const LoweredView &view,
                                  const LoweredTile &tile,
                                  const BoxPosition &box,
                                  ArrayRef<int64_t> along,
                                  ArrayRef<int64_t> sizes);
  /// `width` values from number `first` on, as what one access stores; null if
  /// they are not known.
  Value getPiece(ArrayRef<Value> values, int64_t first, int64_t width);

  /// All positions of a fragment.
  Boxes takeAll(const LoweredFragment &fragment);
};

void lower(Lowering &lowering, AllocOp op);
void lower(Lowering &lowering, ResizeOp op);
void lower(Lowering &lowering, BarrierOp op);
void lower(Lowering &lowering, AcquireOp op);
void lower(Lowering &lowering, WaitOp op);
void lower(Lowering &lowering, CopyOp op);
void lower(Lowering &lowering, PrepareOp op);
void lower(Lowering &lowering, ForOp op);
void lower(Lowering &lowering, ForBoxesOp op);
void lower(Lowering &lowering, ForColumnsOp op);
void lower(Lowering &lowering, LoadOp op);
void lower(Lowering &lowering, LoadColumnsOp op);
void lower(Lowering &lowering, DotOp op);
void lower(Lowering &lowering, ContractOp op);
void lower(Lowering &lowering, ExchangeOp op);
void lower(Lowering &lowering, MultiplyOp op);
void lower(Lowering &lowering, MultiplyViewsOp op);
void lower(Lowering &lowering, StoreOp op);
void lower(Lowering &lowering, ForBlocksOp op);
void lower(Lowering &lowering, ForPiecesOp op);
void lower(Lowering &lowering, CopyPiecesOp op);
void lower(Lowering &lowering, ContractPiecesOp op);
void lower(Lowering &lowering, QuantizeRowsOp op);
/// The same of rows of a buffer.
void testRowsOfBuffer(Lowering &lowering, QuantizeRowsOp op);
void quantizeRowsOfBuffer(Lowering &lowering, QuantizeRowsOp op);

/// The same of operations on blocks of tile.for_blocks or tile.for_pieces.
void prepareBlock(Lowering &lowering, PrepareOp op);
void loadBlock(Lowering &lowering, LoadOp op);
void multiplyBlock(Lowering &lowering, ContractOp op);
void exchangeBlock(Lowering &lowering, ExchangeOp op);
void storeBlock(Lowering &lowering, StoreOp op);
void meetOfBlock(Lowering &lowering, BarrierOp op);

/// The same of pieces of chunks.
void startChunks(Lowering &lowering, CopyPiecesOp op);
void multiplyChunks(Lowering &lowering, ContractPiecesOp op);
void storeChunks(Lowering &lowering, StoreOp op);
void lower(Lowering &lowering, ForSegmentsOp op);
void copyPart(Lowering &lowering, CopyOp op);
void lower(Lowering &lowering, PairChunksOp op);
void lower(Lowering &lowering, SpreadOp op);
/// Whether `value` is of sums of such pieces.
bool areChunkSums(Value value);

/// The same of steps of a chain.
void lower(Lowering &lowering, ForStepOp op);
void lower(Lowering &lowering, CopyStepOp op);
void lower(Lowering &lowering, KeepStepOp op);
void lower(Lowering &lowering, ClearOp op);
void lower(Lowering &lowering, ContractStepOp op);
void exchangeStep(Lowering &lowering, ExchangeOp op);
void storeStep(Lowering &lowering, Value sums);

/// The same of what warpgroups multiply.
void lower(Lowering &lowering, ForFibresOp op);
void lower(Lowering &lowering, ContractFibresOp op);
void lower(Lowering &lowering, IfAlignedOp op);
void lower(Lowering &lowering, RefillOp op);
void lower(Lowering &lowering, RefilledOp op);
void lower(Lowering &lowering, tile::QuantizeOp op);
void lower(Lowering &lowering, PrefetchOp op);
void exchangeFibres(Lowering &lowering, ExchangeOp op);
void storeBufferAlong(Lowering &lowering, StoreOp op);
/// Whether bytes of rows can be stored as words, tested in front of the loop
/// over tiles.
void testQuantize(Lowering &lowering, tile::QuantizeOp op);
/// Where rows go as bytes, which are stored so many at a time, and scales.
QuantizedRows getQuantizedRows(Lowering &lowering, Value bytes, Value scales,
                               int64_t together);
/// Of sums over a batch: what is found in front of the loop over tiles, and the
/// rest.
void startBatch(Lowering &lowering, ContractBatchOp op);
void lower(Lowering &lowering, ContractBatchOp op);
void storeBatch(Lowering &lowering, StoreOp op);
void storeTotals(Lowering &lowering, StoreOp op);
void packFactor(Lowering &lowering, PrepareOp op);
void storeWarpgroupSums(Lowering &lowering, StoreOp op);

/// Starts a copy that fills the tile up with zeros.
void fillTile(Lowering &lowering, CopyOp op, Int tile);
/// Finds out, in front of the loop over tiles, whether arrays are aligned to
/// what `op` stores at a time.
void testStore(Lowering &lowering, StoreOp op);
/// The same of the rows that `op` stores, and of those that it takes.
void testQuantizedRows(Lowering &lowering, QuantizeRowsOp op);
/// alpha or beta of a store.
KernelScale getScale(Lowering &lowering, Value scale);
void lower(Lowering &lowering, PlaceOp op);
/// Finds out where the box of a triangle is; whether there is one.
Value placeTriangle(Lowering &lowering, PlaceOp op);
void lower(Lowering &lowering, LoadScalarOp op);
void lower(Lowering &lowering, PairsOp op);
void lower(Lowering &lowering, KeepRowsOp op);
void lower(Lowering &lowering, PairsOfRowsOp op);
void lower(Lowering &lowering, MultiplyRowsOp op);
void lower(Lowering &lowering, MapOp op);
void lower(Lowering &lowering, ForPairsOp op);
void lower(Lowering &lowering, ForGradientsOp op);
void lower(Lowering &lowering, WeighPairsOp op);
void lower(Lowering &lowering, AddDerivativesOp op);
void lower(Lowering &lowering, StorePairsOp op);

/// The group that the first result of this thread's or warp's column of a view
/// belongs to, and its number there.
std::pair<Int, Int> getFirstResult(Lowering &lowering, Value columns,
                                   const ColumnLayout &layout);
/// A value of a fragment as a number and back: a complex one is a vector of its
/// two parts.
Scalar toScalar(KernelBuilder &k, Value value);
Value toValue(KernelBuilder &k, const Scalar &scalar);
/// Gives `fragment` its values, one box after the other.
void setBox(Lowering &lowering, TypedValue<FragmentType> fragment,
            ArrayRef<Value> values);
/// Whether result `index` of a turn's part of `part` results exists, of `all`
/// results; null if it does.
Value existsInPart(KernelBuilder &k, const LoweredTurn &turn, int64_t part,
                   int64_t index, Int all);
/// The slot that is as many buffers behind the one to wait for.
Int getSlotBehind(Lowering &lowering, const LoweredRing &ring, int64_t buffers);
/// Slot `slot`, which is less than twice as many as there are `stages`.
Int wrapSlot(KernelBuilder &k, Int slot, int64_t stages);
/// An order of axes from the fastest on; those of `rank` if there is none.
SmallVector<unsigned> getWalk(std::optional<ArrayRef<int64_t>> order,
                              size_t rank);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_LOWERING_H
