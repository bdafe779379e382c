//===- Blocks.h - Blocks of a tile that warps multiply ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Positions in a tile are split in three: what is known
// (`SmallVector<int64_t>`), what depends on the block that the warp works on
// (`SmallVector<Int>`), and what depends on the lane (part of an address).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_TILETONVVM_BLOCKS_H
#define KRON_LIB_CONVERSION_TILETONVVM_BLOCKS_H

#include "Lowering.h"
#include "kron/CodeGen/GPU/MmaProducts.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"

namespace mlir::kron::tile {

/// Positions of a tile with `rank` dimensions, of which the last one given
/// counts through all from there on.
template <typename T>
SmallVector<T> expandPositions(ArrayRef<T> positions, size_t rank) {
  SmallVector<T> all(rank, T(0));
  std::copy(positions.begin(), positions.end() - 1, all.begin());
  all.back() = positions.back();
  return all;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// A tile in shared memory.
class SharedTile {
public:
  /// `base` is in bytes; `isRemote`: it is that of the cluster's other CTA.
  SharedTile(KernelBuilder &k, BufferType type, Int base, bool isRemote = false)
      : layout(type.getTileLayout()), type(type.getElementType()), k(k),
        base(base), isRemote(isRemote) {}

  /// Byte offset of a block's and a lane's part of a position: swizzled sum.
  Int getOffset(ArrayRef<Int> positions, Int laneIndex) const;
  /// Address of the element `index` further on.
  Value getAddress(Int offset, int64_t index) const;
  /// Loads `count` neighbours, zeros where `valid` (null: always) is false, and
  /// converts them to the type that is computed with. Then it reads at byte
  /// offset `other` instead, which no other warp may be writing.
  SmallVector<Value> load(Int offset, int64_t index, int64_t count, Value valid,
                          Int other) const;
  SharedTile getRemote(bool remote) const {
    SharedTile other(*this);
    other.isRemote = remote;
    return other;
  }
  int64_t getIndex(ArrayRef<int64_t> positions) const {
    return layout.getIndex(expandPositions(positions, layout.strides.size()));
  }

  TileLayout layout;
  Type type;

private:
  Value getPointer(Int offset) const {
    return isRemote ? k.remoteShared(offset) : k.shared(offset);
  }

  KernelBuilder &k;
  Int base;
  bool isRemote;
};

/// A tile in global memory: the address of its first element and, per dimension
/// of the tile, stride and number of positions that exist, which may be fewer
/// than there is room for.
struct GlobalTile {
  Value base;
  Type type;
  SmallVector<Int> strides, limits;
  SmallVector<bool> mayExceed;
  /// Whether offsets within the tile may need 64 bits.
  bool isWide = false;

  Int scale(KernelBuilder &k, Int position, Int stride) const {
    return k.mul(isWide ? k.extend(position) : position, stride);
  }
};

/// Tile number `tile` of `view`, a box of `sizes` along `axes`; of dimension
/// `split`, if it is one, the part that this CTA of a cluster has.
GlobalTile locateTile(Lowering &lowering, Value view, ArrayRef<int64_t> sizes,
                      ArrayRef<int64_t> axes, Int tile, int64_t split = -1);

/// Whether addresses, strides and, if `axis` is one, sizes along that axis of
/// `views` that are only known now are multiples of `bytes`: tested once, in
/// front of the loop over tiles. Null: they are. Strides count elements as
/// `leastBytes` at least.
Value isAligned(Lowering &lowering, ArrayRef<Value> views, int64_t bytes,
                int64_t axis = -1, int64_t leastBytes = 1);

/// Copies the box that `from` is to `to`, of `sizes` positions, in `order`; all
/// `threads` of number `thread` do, or each warp group does.
struct FilledCopy {
  const GlobalTile &from;
  /// Null: into the second-level cache.
  const SharedTile *to;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> order;
  int64_t bytes;
  int64_t threads;
  Int thread;
  bool ofGroup = false, lines = false;
  /// Whether positions of inner dimensions are counted as powers of two.
  bool rounded = false;
};
void emitFilledCopy(Lowering &lowering, const FilledCopy &copy,
                    Value isAligned);

/// The same of the segments of `op`'s box, as they lie.
void copySegments(Lowering &lowering, CopyOp op, Int tile, Value isAligned);
/// Stores a buffer of sums as pairs of 16 bits, if that is how they lie.
bool storeSegments(Lowering &lowering, StoreOp op);

/// How threads share the positions of a tile of `sizes`, neighbours along the
/// last dimension of `order`.
class TileSharing {
public:
  /// What is done with a position, of which what is known is apart if that has
  /// no bits in common with the rest; whether it is in the tile (null: it is).
  using Body = function_ref<void(ArrayRef<Int>, ArrayRef<int64_t>, Value)>;

  TileSharing(KernelBuilder &k, ArrayRef<int64_t> sizes,
              ArrayRef<unsigned> order, int64_t threads, Int thread)
      : k(k), sizes(sizes), order(order), threads(threads), thread(thread) {
    for (unsigned dim : order)
      counts.push_back(sizes[dim]);
  }

  /// Has rows take whole warps, and threads whole rows, where few threads have
  /// nothing to do then.
  void round();
  /// Calls `body` for what this thread has, and `end` behind those that are
  /// written out together, up to `most` or a few in a loop.
  void forEach(int64_t most, Body body, function_ref<void()> end);
  /// The same along one dimension, whose positions a thread takes at a constant
  /// distance, if few threads have nothing to do then: addresses are worked out
  /// once. Whether that is done. What is known of a position and the rest may
  /// have bits in common.
  bool walk(int64_t most, Body body, function_ref<void()> end);

private:
  /// `var + add`, with 0 <= var < bound.
  struct Linear {
    Int var = 0;
    int64_t bound = 1, add = 0;
  };
  /// Positions of some dimensions, the outermost first, and how many there are;
  /// number `number` of them.
  int64_t countPositions(ArrayRef<unsigned> dims) const;
  Positions decode(Int number, ArrayRef<unsigned> dims);
  std::pair<Linear, Linear> split(Linear number, int64_t divisor);
  void emit(Linear number, Body body);
  bool takesRows(int64_t most) const;
  void forRows(int64_t most, Body body, function_ref<void()> end);

  KernelBuilder &k;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> order;
  int64_t threads;
  Int thread;
  /// Positions that are counted along each dimension of `order`.
  SmallVector<int64_t> counts;
  /// Whether rows take whole warps.
  bool areRowsWhole = false;
  DenseMap<std::pair<Value, int64_t>, std::pair<Int, Int>> splits;
};

/// Pieces as a warp group copies them to its ring.
struct PieceCopy {
  PieceCopy(Lowering &lowering, Value view, RingType ring, PiecesAttr pieces);

  GlobalTile locate(Int tile) const {
    return locateTile(lowering, view, pieces.getSizes(), pieces.getAxes(), tile,
                      pieces.getSplit());
  }
  void copy(const GlobalTile &tile, Int number, Int slot) const;
  int64_t getAhead() const { return pieces.getAhead(); }
  /// Byte offset of the ring of this thread's group, of rings from `begin` on.
  Int getRing(int64_t begin) const {
    return k.add(k.mul(lowering.getGroup(), ringBytes), begin);
  }

  Lowering &lowering;
  KernelBuilder &k;
  Value view;
  PiecesAttr pieces;
  BufferType buffer;
  Blocks blocks;
  /// Of each group.
  int64_t count, slots, ringBytes;
  Int group = 0;
  Value aligned;
};

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// A position: what depends on the lane, and what is known on top.
struct LanePosition {
  Int lane;
  int64_t known = 0;
  LanePosition(Int lane, int64_t known = 0) : lane(lane), known(known) {}
};

/// The operand that a tile.prepare makes.
class MatrixFactor {
public:
  /// Operands of tiles of 8 positions K.
  struct Operands {
    SmallVector<SmallVector<MmaA>> rows;    // [m tile][k tile]
    SmallVector<SmallVector<MmaB>> columns; // [n tile][k tile]
  };

  MatrixFactor(Lowering &lowering, PrepareOp op);

  MmaProducts &getProducts() { return products; }
  bool hasResiduals() const { return residuals; }
  int64_t getSizeK() const { return sizeK; }
  int64_t getSizeN() const { return sizeN; }
  /// Tiles of 8 positions K, and of them those that this CTA holds data of.
  int64_t getTilesK() const { return llvm::divideCeil(sizeK, kMmaSizeN); }
  int64_t getOwnTiles() const { return getTilesK() / (isSplit ? 2 : 1); }
  /// Tiles of 16 results of a warp, the results of all warps, and whether each
  /// of these exists.
  int64_t getResultTiles() const {
    return llvm::divideCeil(warpResults, kMmaSizeM);
  }
  int64_t getWarpResults() const { return warpResults; }
  int64_t getWarps() const { return warps; }
  int64_t getTogether() const { return together; }
  /// Neighbours on K that a lane has of a row of data, and how far its two
  /// positions on K of an instruction are apart.
  int64_t getNeighboursK() const { return products.isF64() ? 1 : 2; }
  int64_t getDistanceK() const { return products.isF64() ? 4 : 1; }
  /// This warp's first result.
  Int getFirstResult() const;
  /// Position of the factor's rows from tile `tile` of 8 on: the CTAs of a
  /// cluster start with those that they have themselves.
  LanePosition getPositionK(int64_t tile) const;

  /// The operands of tile `tile` of 8 positions K, and their number in there.
  std::pair<const Operands &, int64_t> get(int64_t tile);
  /// Element (p, q), or 0 if it does not exist, where p is at most `maxP` and q
  /// at most `maxQ`.
  Value loadElement(LanePosition p, LanePosition q, int64_t maxP, int64_t maxQ);

private:
  MmaOperand loadOperand(LanePosition p, LanePosition q, int64_t maxP,
                         int64_t maxQ);
  MmaA loadRow(int64_t mTile, int64_t kTile);
  void loadColumns(Operands &operands, int64_t firstTile, int64_t count);
  Operands load(int64_t firstTile, int64_t count);

  KernelBuilder &k;
  LaneNumbers lanes;
  MmaProducts products;
  StepArray array;
  Type type;
  OperandOrder order;
  int64_t sizeK, sizeN, warps, warpResults, together;
  bool residuals, isSplit, isStreamed;
  Operands kept;
};

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The block that a loop's body works on.
struct LoweredBlock {
  Blocks blocks;
  /// Where it starts.
  SmallVector<Int> positions;
};

/// A block in shared memory, which products load from.
struct LoadedBlock {
  LoadedBlock(Lowering &lowering, LoadOp op);

  SharedTile tile;
  LoweredBlock block;
  /// Where it starts in `tile`, and the byte offset of that.
  SmallVector<Int> origin;
  Int own;
  /// The contracted axis, or the outer one of two.
  unsigned axis;
  int64_t together, fold;
  /// Whether tensor cores take the data as it is, without rounding it first.
  bool isExact;
};

/// Sums of one group: `pair` tiles, at known positions from the block's, with
/// row g of the lane on the axis of rows.
struct BlockSums {
  SmallVector<int64_t> offset;
  int64_t pair;
  SmallVector<MmaC> tiles;
};

/// Where sums start; whether rows and columns of all lanes exist is known from
/// the sizes of the tile, or has to be looked at.
struct BlockPlace {
  SmallVector<Int> positions;
  unsigned rowDim = 0;
  bool rowsExist = true, columnsExist = true;
  /// Columns from this number on are those of the next position of `foldDim`.
  int64_t foldSize = 0;
  unsigned foldDim = 0;
  /// Columns of the whole tile.
  int64_t columns = 0;
};

/// What a product leaves in registers.
struct BlockProduct {
  SmallVector<BlockSums> sums;
  BlockPlace place;
  /// Computes the lane's rows of a column by plain multiply-adds, for the next
  /// product of a chain.
  std::function<SmallVector<Value>(Int)> addRows;
};

/// Sums from 0 on, in all of `tiles`.
class SumParts {
public:
  SumParts(KernelBuilder &k, MatrixFactor &factor, int64_t tiles)
      : k(k), factor(factor), sums(tiles, factor.getProducts().getZeros()) {}

  /// Adds the sums to totals after every few of `count` tiles of a long
  /// dimension, and leaves the whole in `sums` after the last one: matrix units
  /// cut off what does not fit in a sum, always towards zero, so that errors
  /// add up.
  void carryOver(int64_t tile, int64_t count);
  /// Replaces sums that are infinite or NaN by what `plain` computes from 0 on.
  void guard(function_ref<SmallVector<Value>(ValueRange)> plain);

  SmallVector<MmaC> &get() { return sums; }

private:
  KernelBuilder &k;
  MatrixFactor &factor;
  SmallVector<MmaC> sums, totals;
};

/// Products of a factor's rows with columns of `block`, and of rows of a block,
/// or of sums, with a factor's columns.
BlockProduct multiplyColumns(Lowering &lowering, const LoadedBlock &block,
                             MatrixFactor &factor, bool isLast);
BlockProduct multiplyRows(Lowering &lowering, const LoadedBlock &block,
                          MatrixFactor &factor);
BlockProduct multiplySums(Lowering &lowering, const BlockProduct &product,
                          MatrixFactor &factor);

/// Whether `op` may store its bytes at a time.
Value isStoreAligned(Lowering &lowering, StoreOp op);
/// Stores alpha * sums + beta * addends as neighbours of type `type`.
void storeSums(Lowering &lowering, const KernelScale &alpha,
               const KernelScale &beta, Type type, ArrayRef<Value> sums,
               Value address, Value addendAddress);

} // namespace mlir::kron::tile

#endif // KRON_LIB_CONVERSION_TILETONVVM_BLOCKS_H
