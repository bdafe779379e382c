//===- MmaPlan.h - Tiles and steps of a kernel of mma.sync ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the kernel of a fused region looks like, worked out from the types
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_MMAPLAN_H
#define KRON_LIB_CODEGEN_GPU_MMAPLAN_H

#include "MmaLayout.h"
#include "kron/Machine/GPUMachine.h"
#include <variant>

namespace mlir::kron {

/// How products are computed.
enum class MmaMath {
  /// One product of TF32 values. Exact factors (f16, bf16) lose nothing; data
  /// are rounded to 11 bits once per factor, sums are f32.
  TF32,
  /// f32 values as sums of two TF32: high*high + high*low + low*high.
  SplitTF32,
  F64
};

/// A dimension of the tile: a contracted axis of the fused region, or
/// neighbouring axes that no factor touches and that are walked as one.
struct MmaDim {
  /// Axes of the fused region, outermost first; none for a dimension that only
  /// fills up.
  SmallVector<unsigned> axes;
  ModeProductOp product;
  /// Sizes in the tile before and after the factor.
  int64_t sizeK = 1, sizeN = 1;
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

struct MmaPlan {
  MmaMath math;
  /// What arrays hold, and what is computed with.
  Type inputType, outputType, factorType, type;
  SmallVector<MmaDim> dims;
  SmallVector<MmaGridAxis> grid;
  /// Whether rows, of which neighbours of a transposed input are, are the
  /// tile's innermost dimension.
  bool turnsRows = false;
  SmallVector<MmaStep> steps;
  /// Where input lands: a ring of `stages` tiles, or of pieces for each warp
  /// group.
  TileLayout inputLayout;
  std::optional<MmaStream> stream;
  /// Where intermediates are kept, if they have another type than the input or
  /// that is a stream; otherwise they replace the input.
  std::optional<TileLayout> workLayout;
  int64_t stages = 1, warps = 4, ctasPerSM = 1;
  /// CTAs that share a tile: 2 have half of the positions each of the dimension
  /// that the last step contracts, and compute half of its columns each.
  int64_t cluster = 1;
  /// Whether factors stay in registers from tile to tile.
  bool keepsFactors = true;
  int64_t sharedBytes = 0;

  int64_t getThreads() const { return 32 * warps; }
  /// Whether a CTA has only some of the positions that `step` contracts.
  bool isSplit(const MmaStep &step) const {
    return cluster > 1 && &step == &steps.back();
  }
  int64_t getWarpGroups(const MmaStep &step) const {
    return std::max<int64_t>(1, warps / step.warps);
  }
  /// Bytes of shared memory that input lands in.
  int64_t getInputBytes() const {
    return inputLayout.bytes *
           (stream ? getWarpGroups(steps.front()) * stream->slots : stages);
  }
  /// Tiles of 8 columns that `step` should take at a time, as many as there are
  /// registers for.
  int64_t getMostTiles(const MmaStep &step) const {
    bool few = step.tiles > 2 || (step.tiles == 2 && math == MmaMath::F64) ||
               step.factorRegisters > 96;
    return few ? 2 : 4;
  }
  /// Tiles of 16 fibres that it takes at a time instead.
  int64_t getFibreTiles(const MmaStep &step) const;
};

/// The largest power of two that divides `number` and is at most `atMost`:
/// known and unknown parts of a position must not have bits in common.
int64_t getPowerDivisor(int64_t number, int64_t atMost);

/// The plan of `fused`, or why there is none.
std::variant<MmaPlan, std::string> getMmaPlan(FusedOp fused,
                                              const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_MMAPLAN_H
