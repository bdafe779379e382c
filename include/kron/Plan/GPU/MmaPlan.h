//===- MmaPlan.h - Tiles and steps of a kernel of mma.sync ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a kernel of mma.sync looks like: what its plan says, and what follows
// from that and the types of a kron.fused.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_MMAPLAN_H
#define KRON_PLAN_GPU_MMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/MmaMath.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Factor registers of one step.
inline constexpr int64_t kMmaStepRegisters = 128;
/// Up to this many registers of a thread's for factors, four warps per
/// scheduler fit, otherwise two.
inline constexpr int64_t kMmaLightRegisters = 64;
/// Pieces of the input that each warp group needs on their way.
inline constexpr int64_t kMmaLeastSlots = 2;

/// A dimension of the tile: a contracted axis of the fused region, or
/// neighbouring axes that no factor touches and that are walked as one.
struct MmaDim {
  /// Axes of the fused region, outermost first; none for a dimension that only
  /// fills up.
  SmallVector<unsigned> axes;
  ModeProductOp product;
  /// Sizes in the tile before and after the factor.
  int64_t sizeK = 1, sizeN = 1;
  /// Elements of the input from one position to the next; dynamic if not known.
  int64_t stride = ShapedType::kDynamic;
};

/// Axes of the fused region whose positions are shared out among tiles.
struct MmaGridAxis {
  SmallVector<unsigned> axes;
  /// The dimension of the tile that takes `step` positions at a time, or -1.
  int dim = -1;
  int64_t step = 1;
};

/// One or two factors applied to the whole tile by all warps.
struct MmaStep {
  enum class Kind {
    /// Results = factor^T (m) x data (n = innermost dimension).
    Columns,
    /// The innermost dimension: results = data (m = fibres) x factor (n).
    Fibres,
    /// Both, on the two innermost dimensions: the results of `Columns` are
    /// operands of `Fibres` without leaving the registers.
    Chain
  };
  Kind kind = Kind::Columns;
  /// The contracted dimension; the outer one of a chain.
  unsigned dim = 0;
  /// Warps that share the results of one column (or fibre), and tiles of 16
  /// results that each of them computes.
  int64_t warps = 1, tiles = 1;
  /// Sizes of the tile before the step.
  SmallVector<int64_t> sizes;
  /// 32-bit registers that its factors take.
  int64_t factorRegisters = 0;
  /// Whether all of them can be there at once.
  bool fitsRegisters = true;
};

/// Input that arrives in pieces: what a warp group takes through the first step
/// at a time. Each warp group has a ring of its own, so that it waits for
/// nobody else, and the next tile's pieces arrive while the other steps are at
/// work.
struct MmaStream {
  /// Positions of a piece along each dimension of the tile.
  SmallVector<int64_t> sizes;
  /// Pieces of a tile that a warp group takes, and slots of its ring, at most
  /// as many.
  int64_t pieces = 1, slots = 1;
};

/// What follows from a fused region alone.
struct MmaRegion {
  MmaMath math = MmaMath::F64;
  /// What arrays hold, and what is computed with.
  Type inputType, outputType, factorType, type;
  /// The axes of the fused region, neighbours that can be walked as one
  /// together, and those of size 1 that nothing contracts left out.
  SmallVector<MmaDim> axes;
  /// The one of which a tile takes some rows, or -1: the axis right outside of
  /// the first contracted one or, of a transposed input, the one along which
  /// neighbours lie.
  int rowAxis = -1;
  /// Whether these rows are the tile's innermost dimension.
  bool turnsRows = false;
  /// Whether nothing contracts the innermost axis: a tile takes some columns of
  /// it.
  bool hasColumns = false;
  /// Positions of these two axes; 1 if there is none, dynamic if not known.
  int64_t numRows = 1, numColumns = 1;
  /// Positions of all axes that no factor contracts, or dynamic.
  int64_t numPositions = 1;
  /// Results along the tile's innermost dimension that may be stored together,
  /// as far as sizes and strides are known: as many as 16 bytes have, or fewer.
  int64_t storedTogether = 1;
  /// Whether the input is known to have nothing between its elements.
  bool isDense = false;

  /// Elements of a tile of one row and one column, as large as it gets; no more
  /// than 2^62.
  int64_t getFootprint() const;
};

/// What a plan says.
struct MmaChoices {
  /// Rows and columns.
  int64_t tile = 1, columns = 1;
  int64_t threads = 128, ctasPerSM = 1, stages = 1;
  /// CTAs that share a tile: 2 have half of the positions each of the dimension
  /// that the last step contracts, and compute half of its columns each.
  int64_t cluster = 1;
  /// Of the stream, if there is one.
  SmallVector<int64_t> piece;
  int64_t pieceSlots = 0;
  /// Whether factors stay in registers from tile to tile; else those of a step
  /// are loaded for each tile.
  bool keepsFactors = true;
  /// Whether the two innermost factors are one step, a chain.
  bool chainsInner = false;
  /// Whether the rows of a tile lie right outside of its innermost dimension:
  /// positions of both are the columns of the other factors.
  bool innerRows = false;
  /// Whether a step's results go to another buffer than what it reads: the slot
  /// of the ring and one more take turns. Else they replace it, for which a
  /// block is loaded whole before any result is written.
  bool alternates = false;
  /// Warps that share the results of each step; none: one.
  SmallVector<int64_t> stepWarps;
  /// Whether tiles are copied as segments lie, wherever they start, and whether
  /// results go through shared memory.
  bool wholeCopies = false, sharedStore = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, MmaChoices &choices) {
    visit("tile", choices.tile);
    visit("columns", choices.columns);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.stages);
    visit("cluster", choices.cluster);
    visit("piece", choices.piece);
    visit("piece_slots", choices.pieceSlots);
    visit("keeps_factor", choices.keepsFactors);
    visit("inner_chain", choices.chainsInner);
    visit("inner_rows", choices.innerRows);
    visit("alternates", choices.alternates);
    visit("step_warps", choices.stepWarps);
    visit("shared_store", choices.sharedStore);
    visit("whole_copies", choices.wholeCopies);
  }
};

struct MmaPlan : MmaRegion, MmaChoices {
  SmallVector<MmaDim> dims;
  SmallVector<MmaGridAxis> grid;
  SmallVector<MmaStep> steps;
  /// Where input lands: a ring of `stages` tiles, or of pieces for each warp
  /// group.
  TileLayout inputLayout;
  std::optional<MmaStream> stream;
  /// How tiles arrive that are copied as they lie.
  std::optional<BoxSegments> segments;
  /// Where intermediates are kept, if they have another type than the input,
  /// that is a stream, or they take turns; otherwise they replace the input.
  std::optional<TileLayout> workLayout;
  /// Whether all factors fit a thread's registers.
  bool mayKeepFactors = true;
  int64_t sharedBytes = 0;

  int64_t getSharedBytes() const { return sharedBytes; }
  /// The axes in the order in which tiles have them as dimensions.
  SmallVector<MmaDim> getOrderedAxes() const;
  int64_t getWarps() const { return threads / 32; }
  /// Whether a CTA has only some of the positions that `step` contracts.
  bool isSplit(const MmaStep &step) const {
    return cluster > 1 && &step == &steps.back();
  }
  /// Results that are stored together.
  int64_t getStoredTogether() const;
  /// Whether these are 16 bytes.
  bool storesVectors() const;
  /// Whether elements are of one type, from the input to the result.
  bool hasOneType() const { return inputType == type && outputType == type; }
  /// Whether results of `step` go from registers to the result.
  bool isStored(const MmaStep &step) const {
    return &step == &steps.back() && !sharedStore;
  }
  int64_t getWarpGroups(const MmaStep &step) const {
    return std::max<int64_t>(1, getWarps() / step.warps);
  }
  /// Bytes of shared memory that one more stage takes, and that input lands in.
  int64_t getStageBytes() const {
    return segments ? segments->getBytes(inputLayout.elementBytes)
                    : inputLayout.bytes;
  }
  int64_t getInputBytes() const {
    if (stream)
      return inputLayout.bytes * getWarpGroups(steps.front()) * stream->slots;
    return getStageBytes() * stages + (segments ? inputLayout.bytes : 0);
  }
  /// Registers that the factors of all steps take.
  int64_t getFactorRegisters() const;
  /// `step` with its results shared out among `warps`.
  MmaStep getShared(MmaStep step, int64_t warps) const;
  /// Tiles of 8 columns that `step` should take at a time, as many as there are
  /// registers for.
  int64_t getMostTiles(const MmaStep &step) const {
    bool few = step.tiles > 2 || (step.tiles == 2 && math == MmaMath::F64) ||
               step.factorRegisters > 96;
    return few ? 2 : 4;
  }
  /// Tiles of 8 of `size` columns, of which lanes have neighbours of `pair`,
  /// that it takes at a time, at each of `outside` positions.
  int64_t getColumnTiles(const MmaStep &step, int64_t outside, int64_t size,
                         int64_t pair) const;
  /// The first dimension whose positions count as those of one dimension with
  /// all that are between it and the fibres of `step`: they lie without a gap,
  /// before and after it, and those of the next dimension alone do not fill
  /// instructions.
  unsigned getFirstJoined(const MmaStep &step) const;
  /// Those positions.
  int64_t getFibres(const MmaStep &step) const;
  /// Tiles of 16 of `fibres` that it takes at a time instead.
  int64_t getFibreTiles(const MmaStep &step, int64_t fibres) const;
};

/// The largest power of two that divides `number` and is at most `atMost`:
/// known and unknown parts of a position must not have bits in common.
int64_t getPowerDivisor(int64_t number, int64_t atMost);

/// Registers that a chain of the two innermost factors of `plan` takes; none if
/// these dimensions are not both contracted.
struct MmaChainRegisters {
  int64_t factors = 0, sums = 0;
};
std::optional<MmaChainRegisters> getMmaChainRegisters(const MmaPlan &plan);

/// Whether a thread has so many: the factors of a chain are not loaded again
/// and again.
bool canMmaChain(const MmaChainRegisters &registers);

/// Whether tiles of `region` may have rows right outside of their innermost
/// dimension.
bool canHaveInnerRows(const MmaRegion &region);

/// What `fused` is to a kernel of mma.sync, or why none takes it.
std::variant<MmaRegion, std::string> describeMma(FusedOp fused);

/// The plan that follows from `choices`, or why `region` has none like that.
std::variant<MmaPlan, std::string> completeMmaPlan(const MmaRegion &region,
                                                   const MmaChoices &choices);

/// The streams that tiles of `plan`, which has none, may arrive as if `cluster`
/// CTAs share them, with as many slots as there are pieces: largest pieces
/// first. None if tiles cannot be shared, or have no such pieces.
SmallVector<MmaStream> getMmaStreams(const MmaPlan &plan, int64_t cluster);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<MmaPlan, std::string> readMmaPlan(FusedOp fused, GPUPlanAttr plan);

/// Why `machine` cannot run kernels of `plan`, or nothing if it can.
std::optional<std::string> getMmaMachineReason(const MmaPlan &plan,
                                               const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_MMAPLAN_H
