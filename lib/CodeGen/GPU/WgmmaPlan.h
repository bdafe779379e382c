//===- WgmmaPlan.h - Tiles of a wgmma kernel --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a wgmma kernel looks like, worked out from the types of a kron.fused
// alone.
//
// A tile is a box of the array: all of the contracted axes, some positions of
// one axis outside of them (rows) or of the innermost axis (columns), one
// position of every other axis. `groupSize` warpgroups take a tile through all
// factors. For each factor the tile is a matrix of `rows` x K: rows are all
// positions of the other axes, 64 of them are one block, which is one series of
// wgmma instructions.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_WGMMAPLAN_H
#define KRON_LIB_CODEGEN_GPU_WGMMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"

namespace mlir::kron {

/// Rows of one wgmma instruction.
inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kWarpgroupThreads = 128;
/// Bytes per access to global memory that need aligned arrays.
inline constexpr int64_t kWgmmaVectorBytes = 16;

/// Neighbouring axes of the op that are walked as one.
struct WgmmaAxis {
  /// Of the op, outermost first.
  SmallVector<unsigned, 2> fusedAxes;
  /// The one whose strides are this axis's: strides of single positions mean
  /// nothing.
  unsigned strideAxis = 0;
  /// Before and after the op; ShapedType::kDynamic if not known.
  int64_t before = 1, after = 1;
  /// The step that contracts it, or -1.
  int stage = -1;
  /// Whether neighbours of the input lie along it.
  bool isContiguous = false;
  /// Positions per tile. More than one only for contracted axes (all), the
  /// rows and the columns.
  int64_t tile = 1;
};

/// How a tile lies in shared memory.
struct WgmmaLayout {
  int64_t elementBytes = 4;
  /// Per axis, in elements; 0 for axes with one position per tile.
  SmallVector<int64_t> pitches;
  int64_t elements = 0;
  /// Whether addresses are permuted against bank conflicts (the innermost
  /// extent is a multiple of 128 bytes); else pitches are padded.
  bool swizzled = false;

  int64_t getBytes() const { return elements * elementBytes; }
};

/// How products are computed.
enum class WgmmaKind {
  /// f32 as the sum of a TF32 value and a residual: the product of the TF32
  /// values, and the products with the residuals in bf16. These are small
  /// enough for bf16 to lose no more than f32 does.
  Split,
  /// f32 rounded to TF32.
  TF32,
  /// f16 or bf16 as they are.
  Half
};

/// One factor.
struct WgmmaStage {
  unsigned axis;
  WgmmaKind kind;
  /// Rows and columns of the factor, and what a CTA takes of them, padded.
  int64_t sizeK, sizeN;
  int64_t paddedK, paddedResults;
  /// CTAs that share the columns of a large factor. Each has its own.
  int64_t shares = 1;
  /// Whether the contracted axis is the innermost one.
  bool innermost;
  /// Positions of every axis that the rows run over: 1 for `axis` itself.
  SmallVector<int64_t> radix;
  int64_t rows;
  /// Bytes of one copy of the factor in shared memory.
  int64_t factorBytes;

  int64_t getNumCopies() const { return kind == WgmmaKind::Split ? 2 : 1; }
  int64_t getBlocks() const { return (rows + kWgmmaRows - 1) / kWgmmaRows; }
  /// K of one instruction.
  int64_t getStep() const { return kind == WgmmaKind::Half ? 16 : 8; }
};

struct WgmmaPlan {
  SmallVector<WgmmaAxis> axes;
  SmallVector<WgmmaStage> stages;
  /// Where tiles land from global memory, and where steps leave their results
  /// (the same tile for f32).
  WgmmaLayout landing, work;
  bool inPlace = true;
  int64_t warpgroups = 4;
  /// Warpgroups that share a tile.
  int64_t groupSize = 1;
  /// Pieces of the contracted axis, of `pieceK` positions each, that a tile
  /// is loaded in: 1 unless there is one factor that leaves no room for tiles.
  int64_t pieces = 1;
  int64_t pieceK = 0;
  /// Tiles (or pieces) in shared memory per group.
  int64_t buffers = 2;
  int64_t ctasPerSM = 1;
  int64_t factorBytes = 0;

  /// Whether the last step can replace a tile by the next one, row by row as it
  /// has read them: what to do if there is room for one tile only.
  bool canRefill() const;
  /// CTAs that work on the same tiles, each for some of the results.
  int64_t getShares() const { return stages.front().shares; }
  int64_t getNumGroups() const { return warpgroups / groupSize; }
  int64_t getThreads() const { return warpgroups * kWarpgroupThreads; }
  /// Bytes of shared memory of one group.
  int64_t getGroupBytes() const {
    return buffers * landing.getBytes() + (inPlace ? 0 : work.getBytes());
  }
  int64_t getSharedBytes() const {
    return factorBytes + getNumGroups() * getGroupBytes();
  }
};

/// Why a kernel of `plan` cannot store its results as 8-bit rows, or nothing.
std::optional<std::string> getWgmmaQuantizeReason(const WgmmaPlan &plan);

/// The plan of `fused`; if there is none, `reason` says why.
std::optional<WgmmaPlan> getWgmmaPlan(FusedOp fused, const GPUMachine &machine,
                                      std::string &reason);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_WGMMAPLAN_H
