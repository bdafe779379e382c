//===- FusedBuilder.h - Builds the code of one kron.fused -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What FusedEmitter.cpp, which plans and builds what is around the body of a
// fused region, and FusedBody.cpp, which builds the body, have in common.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_FUSEDBUILDER_H
#define KRON_LIB_CODEGEN_CPU_FUSEDBUILDER_H

#include "FusedArrays.h"
#include "kron/CodeGen/CPU/FusedEmitter.h"

namespace mlir::kron {

/// x86-64-v3 has F16C, x86-64-v2, for which vectors have 128 bits, has not.
inline bool has16BitConversion(int64_t vectorBits) { return vectorBits > 128; }

/// What belongs to the axes of the op, with those of `group` as one.
SmallVector<Int> collapse(const SmallVector<Int> &values,
                          const StageGroup &group);

/// How the factor of a step is packed.
struct PlannedStage {
  bool packs = false;
  /// Whether every tile packs what it uses into its thread's scratch; else all
  /// of the factor lies packed in the shared workspace.
  bool packsInBody = false;
  /// Whether its products are made in matrix tiles, for which it is packed.
  bool usesTiles = false;
  PackedFactor packed;
  SmallVector<int64_t> factorSizes;
};

/// The part of the fused region that a section of the code works on: a tile, or
/// a slice of one.
struct FusedWindow {
  /// Per axis the positions that are there and the most that can be; no extent
  /// where the axis is whole, since its size then changes from group to group.
  SmallVector<std::optional<Int>> extents;
  SmallVector<int64_t> most;
};

/// Where a window starts in every array.
struct FusedPlace {
  StageArray source, destination;
  FusedArrays arrays;
};

/// What lies between the groups of a section: up to two buffers in the scratch.
struct SectionBuffers {
  int64_t count = 0, elements = 0, offset = 0;
  unsigned next = 0;
};

class FusedCodeBuilder {
public:
  FusedCodeBuilder(OpBuilder &builder, SymbolTable &symbols, FusedOp fused)
      : builder(builder), runtime(symbols), fused(fused), loc(fused.getLoc()),
        element(getStorageType(
            getAccumulatorType(getElementType(fused.getInit())))),
        choices(readCPUChoices(getCPUPlanAttr(fused))),
        vectorBits(choices.vectorBits),
        plan(std::get<CPUPlan>(describeCPUPlan(fused, choices))),
        outer(builder, loc, element) {
    outer.has16BitConversion = has16BitConversion(vectorBits);
  }

  WorkspaceBytes emit();

private:
  // Outside of the body.
  /// Whether elements that lie in memory as `stored` are computed in another
  /// type.
  bool isConverted(Type stored) const { return stored && stored != element; }
  void convertFactor(unsigned index);
  void pairFactor();
  void packTiles(unsigned index, Stage stage, PlannedStage &planned);
  /// Whether products of bf16 may be made as the plan asks (`kMatrixTiles`,
  /// `kPairProducts`), and whether those of `stage` are made in matrix tiles.
  bool mayMultiplyBy(int64_t means);
  bool usesTiles(const Stage &stage);
  /// Whether the result takes the place of the input: no tile may store before
  /// it has read what it needs.
  bool isInPlace() { return kron::isInPlace(fused); }
  void planSections();
  void planStages();
  bool planPairs();
  bool planMovedTiles(function_ref<Stage(unsigned)> getPlanned);
  bool planMovedGroups(function_ref<Stage(unsigned)> getPlanned);
  bool planRowsOutside(function_ref<Stage(unsigned)> getPlanned);
  bool canKeepTransposed(function_ref<Stage(unsigned)> getPlanned);
  void moveFactorAxes(unsigned index);
  void planBuffers();
  bool canStreamTiles(SmallVectorImpl<Value> &strides) const;
  /// Of input and result.
  Int countBytes();
  void planStreaming(const Stage &last);
  /// Whether tiles of the result are whole cache lines, one after the other, so
  /// that they can be stored non-temporally from a copy that lies so, too.
  /// `strides` receives those that must be multiples of a line, but are only
  /// known when the code runs.
  bool canStageResults(SmallVectorImpl<Value> &strides) const;
  /// Of an element of the result as it lies in memory.
  int64_t getResultBytes() const;
  /// Whether rows of blocks of the only factor can be stored non-temporally
  /// from a copy; `strides` as above.
  bool canStageSegments(SmallVectorImpl<Value> &strides) const;
  /// Whether every tile has its part of the only factor to itself.
  bool isFactorUsedOnce() const;
  bool canPackInBody(const PlannedStage &planned) const;
  void packFactor(unsigned index, function_ref<Stage(unsigned)> getPlanned);
  void emitCall(func::FuncOp body, Int count, ArrayRef<Value> captures);

  // Both.
  Int getTiledExtent(Emitter &emitter, const FusedArrays &arrays, Int start);
  FusedWindow getTileWindow(Int tiledExtent) const;
  FusedWindow getWindow(const Section &section, FusedWindow tile) const;
  SmallVector<Int> getSizes(const FusedWindow &window,
                            unsigned groupsApplied) const;
  SmallVector<int64_t> getBufferSizes(const FusedWindow &window,
                                      unsigned groupsApplied,
                                      bool asWritten = false) const;
  /// The same, of what lies in a buffer, as its elements count it.
  SmallVector<int64_t> getStoredSizes(const FusedWindow &window,
                                      unsigned groupsApplied,
                                      bool asWritten = false) const;
  int64_t countElements(const FusedWindow &window,
                        unsigned groupsApplied) const;
  int64_t countFmas(const FusedWindow &window, unsigned begin,
                    unsigned end) const;
  Stage getStage(const FusedPlace &place, unsigned group,
                 const FusedWindow &window, const StageArray &source,
                 const StageArray &destination);
  StageArray getBuffer(Value base, ArrayRef<int64_t> sizes,
                       unsigned groupsApplied, int paddedAxis) const;
  bool isWholeInSlices(int axis) const;
  /// Whether slices of the first section lie within those of the next one, and
  /// so on, up to the tile; else slices follow what the whole tile goes
  /// through.
  bool isNested() const { return sections.front().sliceAxis >= 0; }
  unsigned getOwner(unsigned groupsApplied) const;
  StageArray getIntermediate(Value base, unsigned groupsApplied,
                             bool asWritten = false) const;
  Int getNumTiles(Emitter &emitter, const FusedArrays &arrays);

  // Inside of the body.
  void emitBody(func::FuncOp body, SmallVectorImpl<Value> &captures);
  FusedPlace advance(Emitter &emitter, const FusedPlace &place, unsigned axis,
                     Int start);
  SmallVector<std::pair<unsigned, Int>>
  getTileStart(Emitter &emitter, const FusedArrays &arrays, Int tile);
  void emitTile(Emitter &emitter, const FusedArrays &arrays, Int tile);
  void emitNested(Emitter &emitter, unsigned index, FusedPlace place,
                  const FusedWindow &window);
  void emitSlices(Emitter &emitter, unsigned index, const FusedPlace &place,
                  const FusedWindow &outside, unsigned axis = 0);
  StageArray emitSection(Emitter &emitter, const Section &section,
                         const FusedPlace &place, const FusedWindow &window);
  void emitGroup(Emitter &emitter, unsigned index, Stage stage);
  void startStaging(Emitter &emitter);
  /// Copies what is left of a result with non-temporal stores.
  void finishStaging(Emitter &emitter);
  /// Calls `build` with where the last operation on `window` stores to:
  /// `destination`, or a copy of that, which is then stored non-temporally.
  void emitStaged(Emitter &emitter, const FusedWindow &window,
                  const StageArray &destination,
                  function_ref<void(const StageArray &)> build);
  /// The same for rows of a tile that are whole cache lines each,
  /// non-temporally for certain and all at once.
  void emitStagedSegments(Emitter &emitter, const FusedWindow &window,
                          const StageArray &destination,
                          function_ref<void(const StageArray &)> build);
  StageArray takeBuffer(Emitter &emitter, unsigned groupsApplied,
                        bool asWritten = false);
  Value getResultOffset(const FusedPlace &place);
  bool isOnlyTile() const;
  int64_t getRowsAhead(const FusedWindow &window) const;
  StageArray getTileAhead(Emitter &emitter, StageArray input, int64_t ahead);
  void startPrefetch(Emitter &emitter, const Section &section,
                     const StageArray &input, const FusedWindow &window,
                     bool isNextTile = false);

  OpBuilder &builder;
  RuntimeCalls runtime;
  FusedOp fused;
  Location loc;
  /// What is computed with, and what buffers hold.
  Type element;
  CPUChoices choices;
  int64_t vectorBits;
  CPUPlan plan;
  int64_t tileSize = 1;
  Emitter outer;
  FusedArrays arrays;
  SmallVector<Section> sections;
  SmallVector<PlannedStage> stages;
  bool copiesIn = false, copiesOut = false;
  /// Whether the only step multiplies pairs of bf16, which its input is copied
  /// to.
  bool hasPairs = false;
  /// Per section the buffers of its windows, which take turns.
  SmallVector<SectionBuffers> buffers;
  /// What steps need beside, at the end of the scratch.
  int64_t stageScratchElements = 0;
  /// Of the factor that tiles pack, before these.
  int64_t packedElements = 0;
  /// Of a copy of a tile's result, and where two of them lie in the scratch; 0
  /// if there are none.
  int64_t stagedElements = 0, stagedOffset = 0;
  /// Whether these are rows of whole cache lines each, not one piece of memory;
  /// then there is one copy.
  bool stagesSegments = false;
  /// Whether the copy of a transposed input stays transposed: the first step
  /// takes single elements of it, which may lie anywhere.
  bool keepsTransposed = false;
  /// Whether buffers have the innermost axis outside of all others.
  bool movesInnermost = false;
  /// Whether steps take it for the outermost one, too, be it rows or what a
  /// factor depends on.
  bool rowsOutside = false;
  int64_t scratchBytes = 0;
  /// As i64 outside and i1 inside of the body, whether results are stored
  /// non-temporally; null if they never are.
  Value streams;
  /// Whether that only depends on where the result lies.
  bool isLargeResult = false;

  // Of the body.
  Value scratch, prefetchSlot, resultOffset;
  /// The tile that is built, and the arrays that it belongs to.
  struct {
    const FusedArrays *arrays = nullptr;
    Int number;
  } tiles;
  PrefetchStream prefetch;
  /// What is stored non-temporally meanwhile, and slots of the copies that the
  /// next tile and the one after it take.
  DrainStream drain;
  Value stagedSlot, nextStagedSlot;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_FUSEDBUILDER_H
