//===- MmaKernel.h - Builds a kernel of mma.sync ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA takes tile after tile through all factors:
//
//   start loading the first tiles into the ring
//   for each tile of this CTA:
//     wait for the tile; start loading one that is `stages - 1` ahead
//     for each step: apply its factor, in place; the last one to global memory
//
// Positions in a tile are split in three: what is known
// (`SmallVector<int64_t>`), what depends on the item that the warp works on
// (`SmallVector<Int>`), and what depends on the lane (part of an address).
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_MMAKERNEL_H
#define KRON_LIB_CODEGEN_GPU_MMAKERNEL_H

#include "MmaMath.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/MmaPlan.h"

namespace mlir::kron {

/// A tile in shared memory.
struct MmaBuffer {
  const TileLayout *layout = nullptr;
  Type type;
  /// In bytes, a multiple of 128.
  Int base;
  /// Whether it is that of the cluster's other CTA.
  bool remote = false;
};

/// A tile in global memory: the address of its first element and, per dimension
/// of the tile, stride and number of positions that exist.
struct MmaGlobalTile {
  Value base;
  Type type;
  SmallVector<Int> strides;
  SmallVector<Int> limits;
};

/// What is multiplied in one go, by what dimension: positions of tile dimension
/// `dim` are `step` apart, `count` of them.
struct MmaItemAxis {
  unsigned dim;
  int64_t count, step;
};

/// 8 * pair neighbouring positions of the innermost dimension, as `pair` tiles
/// of 8: position `first + pair*n + j` is n of tile j.
struct MmaColumnGroup {
  int64_t first, pair;
};

class MmaKernel {
public:
  MmaKernel(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
            const MmaPlan &plan, const GPUMachine &machine);

  void emit();

private:
  //===--------------------------------------------------------------------===//
  // Tiles (MmaKernel.cpp)
  //===--------------------------------------------------------------------===//

  void enterOperands();
  Value buildAlignmentTest(ArrayRef<const StageArray *> arrays, Type type,
                           int64_t bytes, Int size);
  void testAlignment();
  Int getStride(const StageArray &array, ArrayRef<unsigned> axes);
  /// Ends a step: others read what this one wrote.
  void emitBarrier(bool ofCluster);
  Int getFirstTile();
  Int getTileStep();
  /// Where tile number `tile` lies in `array`.
  MmaGlobalTile locate(const StageArray &array, Type type, Int tile);
  /// Where the part of its input lies that this CTA loads.
  MmaGlobalTile locateInput(Int tile);
  void emitTiles();
  void emitStreamedTiles(Int end);
  void emitSteps(Int tile, Int stageBase);
  /// The position times the stride, in 64 bits if 32 may not do.
  Int scale(Int position, Int stride);
  bool mayExceed(unsigned dim) const;

  //===--------------------------------------------------------------------===//
  // Loading (MmaLoad.cpp)
  //===--------------------------------------------------------------------===//

  /// Starts copying tile number `tile` to `buffer`.
  void emitLoad(Int tile, const MmaBuffer &buffer);
  int64_t getCopyElements();
  void emitCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                  int64_t elements);
  SmallVector<MmaItemAxis> getPieceAxes() const;
  void emitPiece(const MmaGlobalTile &tile, Int number, const MmaBuffer &to);
  void emitPieceCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                       int64_t elements);
  void emitRowCopies(const MmaGlobalTile &from, const MmaBuffer &to,
                     int64_t elements, ArrayRef<unsigned> order);
  void emitCopy(const MmaGlobalTile &from, const MmaBuffer &to,
                int64_t elements, ArrayRef<Int> position,
                ArrayRef<int64_t> offset, Value condition);
  SmallVector<unsigned> getCopyOrder();

  //===--------------------------------------------------------------------===//
  // Shared memory (MmaShared.cpp)
  //===--------------------------------------------------------------------===//

  /// Byte offset of an item and lane: the swizzled sum of positions.
  Int getOffset(const MmaBuffer &buffer, ArrayRef<Int> positions,
                Int laneIndex);
  Value getPointer(const MmaBuffer &buffer, Int offset);
  /// Address of the element `index` further on.
  Value getAddress(const MmaBuffer &buffer, Int offset, int64_t index);
  /// Loads `count` neighbours, zeros where `valid` (null: always) is false, and
  /// converts them to the type that is computed with. Then it reads at byte
  /// offset `other` instead, which no other warp may be writing.
  SmallVector<Value> loadShared(const MmaBuffer &buffer, Int offset,
                                int64_t index, int64_t count, Value valid,
                                Int other);
  Value toComputed(Value value);

  //===--------------------------------------------------------------------===//
  // Steps (MmaSteps.cpp)
  //===--------------------------------------------------------------------===//

  /// Factor operands of a step.
  struct Factors {
    SmallVector<SmallVector<MmaA>> rows;    // [m tile][k tile]
    SmallVector<SmallVector<MmaB>> columns; // [n tile][k tile]
  };

  int64_t getKTiles(const MmaStep &step) const;
  /// The operands of `count` tiles of 8 positions of the contracted dimension.
  Factors loadFactors(const MmaStep &step, int64_t firstTile, int64_t count);
  /// A position: what depends on the lane, and what is known on top.
  struct Place {
    Int lane;
    int64_t known = 0;
    Place(Int lane, int64_t known = 0) : lane(lane), known(known) {}
  };
  Value loadFactorElement(ModeProductOp product, Place p, Place q, int64_t maxP,
                          int64_t maxQ);
  /// Number of this warp among those that share the results of a column.
  Int getShare(const MmaStep &step);
  /// Position of the factor's rows from tile `tile` of 8 on.
  Place getKPosition(const MmaStep &step, int64_t tile);
  MmaOperand getFactorOperand(ModeProductOp product, Place p, Place q,
                              int64_t maxP, int64_t maxQ);
  MmaA loadRowFactor(const MmaStep &step, int64_t mTile, int64_t kTile);

  /// Calls `body` for all items of this warp with the positions that they start
  /// at.
  void forItems(const MmaStep &step, ArrayRef<MmaItemAxis> axes,
                function_ref<void(SmallVector<Int>)> body);
  SmallVector<Int> getItemPositions(ArrayRef<MmaItemAxis> axes, Int item);
  void forPieces(const MmaStep &step,
                 function_ref<void(SmallVector<Int>)> body);
  void syncWarpGroup(const MmaStep &step);
  /// Tiles of 8 positions of the contracted dimension that this CTA has.
  int64_t getOwnTiles(const MmaStep &step) const {
    return getKTiles(step) / (plan.isSplit(step) ? plan.cluster : 1);
  }
  bool isStreamed(const MmaStep &step) const {
    return plan.stream && &step == &plan.steps.front();
  }
  /// What `step` reads, and where the item's positions are in there.
  MmaBuffer getSource(const MmaStep &step, const MmaBuffer &from) const;
  SmallVector<Int> getSourcePositions(const MmaStep &step,
                                      ArrayRef<Int> positions) const;
  int64_t getPair(const MmaBuffer *to) const;
  static SmallVector<MmaColumnGroup> getColumnGroups(int64_t size,
                                                     int64_t pair);

  /// What a warp takes through a step at a time: static positions of rows of
  /// columns, and the groups in each.
  struct Columns {
    SmallVector<MmaItemAxis> axes;
    int rowDim = -1;
    int64_t rows = 1;
    SmallVector<MmaColumnGroup> groups;
    /// Dimensions from this one on lie without a gap everywhere: a position of
    /// the innermost one counts through all of them, `size` in all.
    unsigned firstDim = 0;
    int64_t size = 1;
    /// Positions of `rowDim` that share a tile, where the innermost dimension
    /// has fewer than 8.
    int64_t fold = 1;
    /// Whether the innermost positions are split among items.
    bool split = false;
    int64_t getTiles() const {
      int64_t tiles = 0;
      for (const MmaColumnGroup &group : groups)
        tiles += group.pair;
      return tiles * rows / fold;
    }
  };
  /// Whether warp groups read in `step` only what they wrote themselves in the
  /// first step, given that each takes items that follow each other.
  bool isLocal(const MmaStep &step, const MmaBuffer &from, const MmaBuffer *to,
               const MmaGlobalTile *output);
  bool canFold(int64_t size, unsigned rowDim, int64_t rows) const;
  Columns getColumns(const MmaStep &step, const MmaBuffer &from,
                     const MmaBuffer *to, const MmaGlobalTile *output);
  void mergeColumns(Columns &columns, const MmaStep &step,
                    const MmaBuffer &from, const MmaBuffer *to,
                    const MmaGlobalTile *output);
  /// A step with what it reads and writes: `to` in shared memory, or, of the
  /// last step, `output`.
  struct StepArrays {
    const MmaStep &step;
    const Factors &factors;
    MmaBuffer from;
    const MmaBuffer *to;
    const MmaGlobalTile *output;
  };
  class Items;
  class ColumnItems;
  class FibreItems;
  class ChainItems;
  void emitColumns(const StepArrays &arrays);
  void emitFibres(const StepArrays &arrays);
  void emitChain(const StepArrays &arrays);
  /// Waits until all warps that share columns have read them.
  void emitWriteBarrier(const MmaStep &step, const MmaBuffer &from,
                        const MmaBuffer *to);
  void carryOver(MutableArrayRef<MmaC> sums, SmallVectorImpl<MmaC> &totals,
                 int64_t tile, int64_t numTiles);
  /// Replaces sums that are infinite or NaN by what `plain` computes.
  void emitGuard(MutableArrayRef<MmaC> sums,
                 function_ref<SmallVector<Value>()> plain);

  //===--------------------------------------------------------------------===//
  // Results (MmaStore.cpp)
  //===--------------------------------------------------------------------===//

  /// Sums of one group: `pair` tiles, at known positions from the item's, with
  /// row g of the lane on `rowDim`.
  struct Results {
    SmallVector<int64_t> offset;
    int64_t pair;
    SmallVector<const MmaC *> tiles;
  };
  /// Where they start; whether rows and columns of all lanes exist is known
  /// from the sizes of the tile, or has to be looked at.
  struct ResultPlace {
    ArrayRef<Int> positions;
    unsigned rowDim;
    bool rowsExist, columnsExist;
    /// Positions of the innermost dimension there is room for, if not its
    /// pitch.
    int64_t columnRoom = 0;
    /// Columns from this number on are those of the next position of `foldDim`.
    int64_t foldSize = 0;
    unsigned foldDim = 0;
  };
  void emitResults(ArrayRef<Results> results, ResultPlace place,
                   const MmaBuffer *to, const MmaGlobalTile *output);
  void emitSharedResults(ArrayRef<Results> results, const ResultPlace &place,
                         const MmaBuffer &to);
  void emitGlobalResults(ArrayRef<Results> results, const ResultPlace &place,
                         const MmaGlobalTile &output, bool vectors);
  Value getPositionsExist(const Results &result, const ResultPlace &place,
                          unsigned half, const MmaGlobalTile &output);
  void storeResults(ArrayRef<Value> sums, Type type, Value address,
                    Value addendAddress);
  bool canStoreVectors(const MmaGlobalTile &output);
  Value scaleResult(Value sum, Value addend);

  Emitter &host;
  FusedOp fused;
  Location loc;
  const MmaPlan &plan;
  FusedOperands operands;
  KernelBuilder kernel;
  MmaProducts products;

  // Entered.
  StageArray input, output, addend;
  llvm::MapVector<Operation *, StageFactor> factors;
  Value alpha, beta;
  Int tiles;
  SmallVector<Int> gridSizes, gridCounts;
  bool wideOffsets = false;
  MmaGlobalTile addendTile;
  /// Run-time conditions for 16-byte accesses; null: always.
  Value canCopyChunks, canStoreChunks;

  Int warp, laneGroup, laneSlot;
  /// Of a stream: the tile and the next one, whether that exists, and the byte
  /// offset of the warp group's slot that is to be read.
  MmaGlobalTile thisTile, nextTile;
  /// The second step, if it is local.
  const MmaStep *localStep = nullptr;
  Value nextTileExists;
  Int pieceBase;
  SmallVector<Factors> keptFactors;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_MMAKERNEL_H
