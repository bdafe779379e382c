//===- StepEmitter.h - Loops around register tiles --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_STEPEMITTER_H
#define KRON_LIB_CODEGEN_CPU_STEPEMITTER_H

#include "StepWalker.h"

namespace mlir::kron {

/// Builds the loops of one step. The tile's bases move while loops are
/// entered.
class StepEmitter : private StepWalker {
public:
  StepEmitter(Emitter &emitter, const Step &step, const PackedFactor *packed)
      : StepWalker(emitter, step), mapping(getMapping(step, nest)),
        factor(step.factor), packed(packed) {
    if (packed)
      usePacked(*packed);
  }

  void emit();

private:
  void usePacked(const PackedFactor &packed);
  /// Calls `body(first, count)` for blocks of `block` over `size`: full ones in
  /// a loop, then what is left, in one block if that is known and else one by
  /// one.
  void emitBlocks(Int size, int64_t block,
                  function_ref<void(Int, int64_t)> body);
  /// The same for vectors of `lanes` lanes, the first `used` of which cover
  /// `size` elements, with the mask of the last vector of the block.
  void emitVectorBlocks(int64_t size, int64_t lanes, int64_t used,
                        int64_t block,
                        function_ref<void(Int, int64_t, Value)> body);
  TileResult startResult(const Bases &bases) const;
  RegisterTile startTile(const Bases &bases) const;
  /// The result of a tile whose rows are q, from `q` on, and whose vectors lie
  /// `vectorStride` (in Z `addendVectorStride`) apart.
  TileResult getResultRows(const Bases &bases, Int q, Int vectorStride,
                           Int addendVectorStride);
  /// How the lanes of the inner mapping are taken: in blocks of registers, each
  /// with `used` of its lanes.
  struct LaneBlocks {
    Int size;
    /// The most that the size can be.
    int64_t most = 0;
    int64_t lanes = 1, used = 1;
    TileShape shape{1, 1};

    int64_t getWidth() const { return shape.vectors * lanes; }
  };
  void emitLaneBlocks(const LaneBlocks &blocks,
                      function_ref<void(Int, int64_t, Value)> body);
  int64_t getPanelElements(const LaneBlocks &blocks) const;
  Int getPanelOffset(const LaneBlocks &blocks, Int first);
  Value allocateOnStack(int64_t elements);
  /// Memory of the function for a pointer.
  Value allocateSlot();
  void emitPanelCopy(const LaneBlocks &blocks, Value source, Value panels);
  Int getAhead(const LaneBlocks &blocks);
  /// How register tiles of the inner mapping go over lanes; what is copied to
  /// panels lies in these.
  struct InnerTiles {
    LaneBlocks blocks;
    Value usedLanes, panels;
  };
  void emitInnerTile(const InnerTiles &tiles, const Bases &column, Int q,
                     int64_t rows, Int first, int64_t vectors, Value mask);
  /// `along`: the axis outside of the lanes that a block of q goes along before
  /// the next one, if it does.
  /// Where blocks of q go along an axis: a part of what the next block has of
  /// the factor at this position.
  void emitAlongPrefetch(const Bases &at, Int q, int64_t rows, Int position,
                         int64_t count);
  void emitInner(const LoopAxis &lanes, const LoopAxis *along,
                 const Bases &bases);
  bool takesRemainderGroups(const LoopAxis &lanes) const;
  void emitRemainderGroup(const LoopAxis *rows,
                          const PackedFactor::RemainderGroup &group,
                          TileShape shape, const Bases &bases);
  void emitRemainderGroups(const LoopAxis &lanes, const Bases &bases);
  void emitVarying(const LoopAxis &lanes, const LoopAxis *shared,
                   const Bases &bases);
  bool copiesRows(const LoopAxis &rows) const;
  void emitRowCopy(const LoopAxis &rows, Int count, int64_t ahead, Value source,
                   Value panel);
  void emitSharingBlocks(const LoopAxis &rows, int64_t sharing,
                         function_ref<void(Int, int64_t)> emitShared,
                         function_ref<void(Int, int64_t)> emitOwn);
  PrefetchStream startRowPrefetch(const LoopAxis &rows, int64_t segment);
  void moveRowPrefetch(const LoopAxis &rows, int64_t stride, int64_t segment,
                       Int begin, Value first, const PrefetchStream &ahead);
  void emitFibreSegments(const LoopAxis &rows, const LoopAxis &split,
                         int64_t stride, const PrefetchStream &ahead,
                         const Bases &bases,
                         function_ref<void(const Bases &, int64_t)> body);
  /// How register tiles of the fibre mapping go over rows and vectors.
  struct FibreTiles {
    /// Null: there is one row.
    const LoopAxis *rows = nullptr;
    /// Positions of t that a q has, elements of a row of results, and lanes of
    /// a vector, the first `used` of which are results.
    int64_t group = 1, size = 1, lanes = 1, used = 1;
    Value usedLanes;
    /// From one vector to the next in Y and in Z.
    Int vectorStride = 0, addendVectorStride = 0;
    TileShape shape{1, 1};
    /// The rows as X is read, and from one p to the next: where it lies, or in
    /// a copy.
    LoopAxis source;
    Int strideK = 0;
    bool copies = false;
    PrefetchStream ahead;

    int64_t getVectors() const { return llvm::divideCeil(size, used); }
  };
  FibreTiles getFibreTiles(const LoopAxis *rows, const LoopAxis *split);
  void emitFibreTile(const FibreTiles &tiles, const Bases &block, int64_t rows,
                     Int first, int64_t vectors, Value mask,
                     int64_t sharing = 1);
  void emitFibrePanels(const FibreTiles &tiles, const Bases &bases);
  /// `split`: the registers of a row that are taken in segments, if they are.
  void emitFibre(const LoopAxis *rows, const LoopAxis *split,
                 const Bases &bases);
  /// The same with `fibres` neighbours along `rows` in every vector.
  void emitFibres(const LoopAxis &rows, int64_t fibres, const Bases &bases);
  /// A block of rows and q of the k mapping, with the rows' strides. A
  /// vector takes the factor's rows, of `extent` elements, of `shared` q, or is
  /// one of `phases` that are a period of positions of t. In `pairs` it is two
  /// vectors, of even and of odd elements (Pairs.h), with sums of their own
  /// (`parts`) unless t has one position or words of two p are multiplied.
  struct KTile {
    int64_t rows = 1, sizeN = 1, group = 1;
    int64_t extent = 1, shared = 1, phases = 1;
    bool pairs = false, words = false;
    Int source, destination, addend;

    int64_t getLanes(int64_t maxLanes) const;
    int64_t getParts() const { return pairs && group > 1 && !words ? 2 : 1; }
    /// Elements of a row that are multiplied at a time; rows of several q in a
    /// vector are one step.
    int64_t getStepK(int64_t maxLanes) const {
      return getLanes(maxLanes) * phases * (pairs ? 2 : 1);
    }
  };
  /// X with its even and odd elements apart: of every row, blocks of two
  /// vectors; and elements from one row to the next.
  struct PairPanel {
    Value base;
    int64_t rowElements = 0;
  };
  bool multipliesWords(int64_t group) const;
  int64_t getPairResults(int64_t group) const;
  PairPanel emitPairPanel(const LoopAxis *rows, int64_t total, int64_t group,
                          Value source);
  KTile getKTile(int64_t group, int64_t sizeN, bool pairs) const;
  int64_t getKResults(int64_t group, int64_t rows, bool pairs) const;
  void emitKStep(const Bases &at, const KTile &tile, Int first, int64_t index,
                 int64_t left, MutableArrayRef<Value> sums);
  void emitPairStep(const Bases &at, const KTile &tile, Int first,
                    int64_t index, int64_t left, MutableArrayRef<Value> sums);
  SmallVector<Value> emitJoinedPairs(const KTile &tile, ArrayRef<Value> sums);
  void emitKResults(const Bases &at, const KTile &tile, int64_t row,
                    ArrayRef<Value> sums);
  SmallVector<Value> emitKSums(const Bases &at, const KTile &tile,
                               int64_t turns);
  void emitKTile(const Bases &at, const KTile &tile);
  void emitK(const LoopAxis *rows, const Bases &bases);
  /// A block of a segment, with the strides of the copy of X and of rows of
  /// results.
  struct SegmentTile {
    int64_t rows = 1, sizeN = 1, vectors = 1;
    bool pairs = false, words = false;
    /// Of p, or of words of two.
    int64_t sizeK = 1;
    Int strideK = 0, unitStride = 0, rowStride = 0;
    Int destination = 0, addend = 0;
    /// How the factor lies; packed blocks have no lanes that are missing.
    Int factorStrideK = 0, factorResultStride = 0;
    Type factorElement;
    bool isPacked = false;
    /// Where blocks of the factor are packed, and sums of all rows lie between
    /// them; null: the factor is read where it lies.
    Value weights, sums;
    /// Of sums in memory, elements from one q and one unit to the next; whether
    /// they are complete.
    int64_t sumStride = 0, unitSums = 0;
    bool isComplete = false;
    /// Lanes of the factor and of results, none in pairs; null: all.
    Value mask;

    int64_t getParts() const { return pairs ? 2 : 1; }
    int64_t countSums() const { return rows * sizeN * vectors * getParts(); }
  };
  std::pair<Value, Value> emitSegmentWords(const SegmentShape &shape,
                                           Value first, Value second);
  void emitSegmentStep(const Bases &at, const SegmentTile &tile, Int firstK,
                       int64_t index, MutableArrayRef<Value> sums);
  SmallVector<Value> emitSegmentSums(const Bases &at, const SegmentTile &tile,
                                     ArrayRef<Value> start);
  void emitSegmentResults(const Bases &at, const SegmentTile &tile,
                          ArrayRef<Value> sums);
  void emitSegmentTile(const Bases &at, const SegmentTile &tile, Value sums);
  void emitSegmentPacking(const Bases &at, const SegmentTile &tile, Int first,
                          int64_t count, Value panel);
  void emitPackedSegment(const LoopAxis &rows, SegmentTile tile,
                         int64_t rowsOfBlock, const Bases &bases);
  void emitSegmentCopy(const LoopAxis *rows, const SegmentShape &shape,
                       int64_t units, Value mask, Value source, Value panel);
  void emitSegmentUnits(const LoopAxis &lanes, const LoopAxis *rows,
                        const SegmentShape &shape, int64_t units, Value mask,
                        SegmentTile tile, const Bases &bases, Value panel);
  void emitSegments(const LoopAxis &lanes, const LoopAxis *rows,
                    const Bases &bases);
  Bases advanceSegment(const Bases &bases, Int q);
  int64_t countSegmentRows(const LoopAxis *rows) const;
  void emitSegmentBlocks(const LoopAxis &lanes, const LoopAxis *rows,
                         const Bases &bases);
  /// A block of q and lanes of the repeat mapping, each lane with `repeats`
  /// rows.
  struct RepeatTile {
    int64_t sizeN = 1, lanes = 1, repeats = 1;
  };
  SmallVector<Value> emitRepeatSums(const Bases &at, const RepeatTile &tile);
  void emitRepeatTile(const Bases &at, const RepeatTile &tile);
  void emitRepeat(const LoopAxis &lanes, int64_t repeats, const Bases &bases);
  /// Steps of so many elements of the factor that a turn of a loop takes, so
  /// that it prefetches a line; 1 if nothing is prefetched.
  int64_t getTurnsOfLine(int64_t elements) const;
  /// Prefetches as much further on as the plan says than `pointer`, which the
  /// factor is loaded from, `position` elements behind the first that a turn of
  /// a loop loads: the first load of each line does, where one step goes on by
  /// so many `elements`.
  void emitFactorPrefetch(Value pointer, int64_t position, int64_t elements);
  /// Stores `value` with scaling, at the given offsets from the bases.
  void storeResult(const Bases &at, Value value, Int offset, Int addendOffset,
                   Value mask);
  /// What the plan says of register tiles.
  TileShape getShape() const {
    return {step.choices->rows, step.choices->vectors};
  }
  /// Takes an axis on which the factor does not vary out of the nest's outer
  /// loops, to be blocked in registers; none if there is none.
  std::optional<LoopAxis> takeSharedAxis();

  StepMapping mapping;
  StepFactor factor;
  const PackedFactor *packed;
  bool hasPanels = false;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_STEPEMITTER_H
