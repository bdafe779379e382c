//===- FusedLayout.h - Buffers and steps of a kron.fused --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which of a fused region's arrays are copied, where buffers lie, and what each
// of its steps sees: what follows from a plan and from what is known of the
// arrays. --kron-plan looks at it while it chooses the fields of steps, and
// code is built along it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_FUSEDLAYOUT_H
#define KRON_PLAN_CPU_FUSEDLAYOUT_H

#include "kron/Plan/CPU/CPUPlan.h"
#include "kron/Plan/CPU/StepLayout.h"

namespace mlir::kron {

/// What a fused region reads and writes, where it lies.
struct LayoutArrays {
  /// Of the result, per axis.
  SmallVector<Int> sizes;
  /// `addend` is Z, if it is added.
  StepArray input, init, addend;
  /// One factor per group; products of several are multiplied out before.
  SmallVector<FactorArray> factors;
  bool adds = false, hasEpilogue = false;
};

/// The arrays of `fused` as their types describe them.
LayoutArrays describeArrays(FusedOp fused, const CPUPlan &plan);

/// The joint factor of `group`, dense, over `rank` axes.
FactorArray describeJointFactor(const StepGroup &group, unsigned rank);

/// What belongs to the axes of the op, with those of `group` as one.
SmallVector<Int> collapse(const SmallVector<Int> &values,
                          const StepGroup &group);

/// How the factor of a step is packed.
struct PlannedStep {
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
  /// Elements of the tiled axis and of those inside of it, where code that uses
  /// them has computed that.
  Int tiledElements = Int::open();
};

/// A copy of a factor in the type that is computed with, its dimensions in the
/// order in which they lie in memory, or in pairs along `pairedDim`.
struct FactorCopy {
  SmallVector<Int> sizes;
  StepArray from, to;
  int64_t elements = 1;
  int pairedDim = -1;
};

/// How tiles move through the arrays and buffers of a fused region.
class FusedLayout {
public:
  FusedLayout(FusedOp fused, const CPUChoices &choices);
  virtual ~FusedLayout() = default;

protected:
  /// The arrays, of which factors become others when they are copied or packed.
  virtual LayoutArrays &getArrays() = 0;
  const LayoutArrays &getArrays() const {
    return const_cast<FusedLayout *>(this)->getArrays();
  }

  // What is called while steps are planned: a planner chooses fields of
  // `choices`, and code is built.
  /// Chooses what a step leaves open.
  virtual void chooseStep(unsigned index, const StepLayout &step) {}
  /// Chooses whether the innermost axis moves outside in the buffers, for
  /// matrix tiles, and whether in steps, too.
  virtual void chooseMoveForTiles() {}
  virtual void chooseMove() {}
  virtual void choosePackingInTiles(unsigned index,
                                    const PlannedStep &planned) {}
  /// Sees what a step has become, before its factor is packed.
  virtual void visitStep(unsigned index, const StepLayout &step,
                         const PlannedStep &planned) {}
  /// Copies a factor; returns where to.
  virtual Value copyFactor(const FactorCopy &copy) { return Value(); }
  /// Packs the factor of a step; returns where to.
  virtual Value packFactor(const StepLayout &step, const PlannedStep &planned) {
    return Value();
  }
  virtual void packMatrixTiles(unsigned index, StepLayout step,
                               PlannedStep &planned) {}

  /// Decides which arrays are copied and which factors are packed. An extent of
  /// `tile` that code computes is no constant.
  void planSteps(Int tiledExtent);
  /// Step `index` as the first tile sees it.
  StepLayout getPlanned(unsigned index);

  /// Whether elements that lie in memory as `stored` are computed in another
  /// type.
  bool isConverted(Type stored) const { return stored && stored != element; }
  /// Whether products of bf16 may be made as the plan asks (`kMatrixTiles`,
  /// `kPairProducts`), and whether those of `step` are made in matrix tiles.
  bool mayMultiplyBy(int64_t means) const;
  bool usesTiles(const StepLayout &step) const;
  /// Whether the result takes the place of the input: no tile may store before
  /// it has read what it needs.
  bool isInPlace() const { return kron::isInPlace(fused); }
  /// Whether every tile has its part of the only factor to itself.
  bool isFactorUsedOnce() const;
  /// Whether tiles can pack the part of a factor that they use, and the
  /// elements of that; 0 if they cannot.
  int64_t countPackedInTile(const PlannedStep &planned) const;
  /// Positions of the axis that the factor of step `index` varies on and is
  /// contiguous along; 0 without one.
  int64_t getContiguousSize(unsigned index) const;
  /// Lets buffers, and steps, have the innermost axis outside of all others as
  /// `moves_innermost` says; tiles are copied for that.
  void moveInnermost(int64_t move);

  /// Whether the last tile starts where it ends with the axis, so that it takes
  /// some positions once more: code for tiles of a size that is known, which
  /// has no masks and no loops for what blocks leave over, is faster. Not where
  /// that would change results, or take longer than it saves.
  bool repeatsPositions() const;
  /// Whether all tiles are known to have as many positions as the plan says.
  bool hasWholeTiles() const;
  /// Positions of the tiled axis in the first tile, as far as they are known.
  Int getFirstExtent() const;
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
  /// Step `index` on `window`, with factors and Z of `arrays`.
  StepLayout describeStep(const LayoutArrays &arrays, unsigned index,
                          const FusedWindow &window, const StepArray &source,
                          const StepArray &destination) const;
  StepArray getBuffer(Value base, ArrayRef<int64_t> sizes,
                      unsigned groupsApplied, int paddedAxis) const;
  bool isWholeInSlices(int axis) const;
  /// Whether slices of the first section lie within those of the next one, and
  /// so on, up to the tile; else slices follow what the whole tile goes
  /// through.
  bool isNested() const { return sections.front().sliceAxis >= 0; }
  unsigned getOwner(unsigned groupsApplied) const;
  StepArray getIntermediate(Value base, unsigned groupsApplied,
                            bool asWritten = false) const;

  FusedOp fused;
  /// What is computed with, and what buffers hold.
  Type element;
  CPUChoices choices;
  int64_t vectorBits;
  CPUPlan plan;
  int64_t tileSize = 1;
  SmallVector<Section> sections;
  SmallVector<PlannedStep> steps;
  bool copiesIn = false, copiesOut = false;
  /// Whether the first step multiplies pairs of bf16, which its input is copied
  /// to.
  bool hasPairs = false;
  /// Whether the copy of a transposed input stays transposed: the first step
  /// takes single elements of it, which may lie anywhere.
  bool keepsTransposed = false;
  /// Whether buffers have the innermost axis outside of all others.
  bool movesInnermost = false;
  /// Whether steps take it for the outermost one, too, be it rows or what a
  /// factor depends on.
  bool rowsOutside = false;
  /// What steps need beside, at the end of the scratch.
  int64_t stepScratchElements = 0;
  /// Of the factor that tiles pack, before these.
  int64_t packedElements = 0;

private:
  int64_t getElementBytes() const { return getComputedBytes(fused); }
  bool planPairs();
  void pairFactor();
  void convertFactor(unsigned index);
  bool canKeepTransposed();
  bool isUnsupported(unsigned index);
  void planStep(unsigned index);

  FusedWindow firstTile;
};

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_FUSEDLAYOUT_H
