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
/// Whether stores of chosen lanes are as fast as others: those of AVX2 take a
/// Zen 4 a dozen cycles.
inline bool hasLaneMasks(int64_t vectorBits) { return vectorBits == 512; }

/// Where a window starts in every array.
struct FusedPlace {
  StepArray source, destination;
  FusedArrays arrays;
};

/// What lies between the groups of a section: up to two buffers in the scratch.
struct SectionBuffers {
  int64_t count = 0, elements = 0, offset = 0;
  unsigned next = 0;
};

class FusedCodeBuilder : private FusedLayout {
public:
  FusedCodeBuilder(OpBuilder &builder, SymbolTable &symbols, FusedOp fused)
      : FusedLayout(fused, readCPUChoices(getCPUPlanAttr(fused))),
        builder(builder), runtime(symbols), loc(fused.getLoc()),
        outer(builder, loc, element) {
    outer.has16BitConversion = has16BitConversion(vectorBits);
    outer.hasLaneMasks = hasLaneMasks(vectorBits);
    outer.roundsToBF16 =
        mayMultiplyBy(kMatrixTiles) || mayMultiplyBy(kPairProducts);
  }

  WorkspaceBytes emit();

private:
  // Outside of the body.
  LayoutArrays &getArrays() override { return arrays; }
  Value copyFactor(const FactorCopy &copy) override;
  Value packFactor(const StepLayout &step, const PlannedStep &planned) override;
  void packMatrixTiles(unsigned index, StepLayout step,
                       PlannedStep &planned) override;
  void moveFactorAxes(unsigned index);
  void startSteps();
  void planBuffers();
  bool canStreamTiles(SmallVectorImpl<Value> &strides) const;
  /// Of input and result.
  Int countBytes();
  void planStreaming(const StepLayout &last);
  /// Whether tiles of the result are whole cache lines, one after the other, so
  /// that they can be stored non-temporally from a copy that lies so, too.
  /// `strides` receives those that must be multiples of a line, but are only
  /// known when the code runs.
  bool canHaveStagedResults(SmallVectorImpl<Value> &strides) const;
  /// Of an element of the result as it lies in memory.
  int64_t getResultBytes() const;
  /// Whether rows of blocks of the only factor can be stored non-temporally
  /// from a copy; `strides` as above.
  bool canHaveStagedSegments(SmallVectorImpl<Value> &strides) const;
  void emitCall(func::FuncOp body, Int count, ArrayRef<Value> captures);

  // Both.
  Int getTiledExtent(Emitter &emitter, const FusedArrays &arrays, Int start);
  Step makeStep(const FusedPlace &place, unsigned group,
                const FusedWindow &window, const StepArray &source,
                const StepArray &destination);
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
  StepArray emitSection(Emitter &emitter, const Section &section,
                        const FusedPlace &place, const FusedWindow &window);
  void emitGroup(Emitter &emitter, unsigned index, Step step);
  void startStaging(Emitter &emitter);
  /// Copies what is left of a result with non-temporal stores.
  void finishStaging(Emitter &emitter);
  /// Calls `build` with where the last operation on `window` stores to:
  /// `destination`, or a copy of that, which is then stored non-temporally.
  void emitStaged(Emitter &emitter, const FusedWindow &window,
                  const StepArray &destination,
                  function_ref<void(const StepArray &)> build);
  /// The same for rows of a tile that are whole cache lines each,
  /// non-temporally for certain and all at once.
  void emitStagedSegments(Emitter &emitter, const FusedWindow &window,
                          const StepArray &destination,
                          function_ref<void(const StepArray &)> build);
  StepArray takeBuffer(Emitter &emitter, unsigned groupsApplied,
                       bool asWritten = false);
  Value getResultOffset(const FusedPlace &place);
  bool isOnlyTile() const;
  int64_t getRowsAhead(const FusedWindow &window) const;
  StepArray getTileAhead(Emitter &emitter, StepArray input, int64_t ahead);
  void startPrefetch(Emitter &emitter, const Section &section,
                     const StepArray &input, const FusedWindow &window,
                     bool isNextTile = false);

  OpBuilder &builder;
  RuntimeCalls runtime;
  Location loc;
  Emitter outer;
  FusedArrays arrays;
  /// Per section the buffers of its windows, which take turns.
  SmallVector<SectionBuffers> buffers;
  /// Of a copy of a tile's result, and where two of them lie in the scratch; 0
  /// if there are none.
  int64_t stagedElements = 0, stagedOffset = 0;
  /// Whether these are rows of whole cache lines each, not one piece of memory;
  /// then there is one copy.
  bool hasStagedSegments = false;
  int64_t scratchBytes = 0;
  /// As i64 outside and i1 inside of the body, whether results are stored
  /// non-temporally; null if they never are.
  Value streams;
  /// Whether that only depends on where the result lies.
  bool isLargeResult = false;

  // Of the body.
  Value scratch, prefetchSlot, prefetchPosition, resultOffset;
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
