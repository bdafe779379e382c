//===- WgmmaPlan.h - Tiles of a wgmma kernel --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a wgmma kernel looks like: what its plan says, and what follows from
// that and the types of a kron.fused.
//
// A tile is a box of the array: all of the contracted axes, some positions of
// one axis outside of them (rows) or of the innermost axis (columns), one
// position of every other axis. `groupSize` warpgroups take a tile through all
// factors. For each factor the tile is a matrix of `rows` x K: rows are all
// positions of the other axes, 64 of them are one block, which is one series of
// wgmma instructions.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_WGMMAPLAN_H
#define KRON_PLAN_GPU_WGMMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/WgmmaOperand.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Rows of one wgmma instruction.
inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kWarpgroupThreads = 128;
/// What numbers of columns of a tile are padded to.
inline constexpr int64_t kWgmmaColumnUnit = 8;
/// Bytes per access to global memory that need aligned arrays.
inline constexpr int64_t kWgmmaVectorBytes = 16;
/// The same of results along another axis than the innermost one of a tile: two
/// of f32, beside those of three more lanes.
inline constexpr int64_t kWgmmaTurnedBytes = 8;
/// Largest side of a factor that a CTA takes whole.
inline constexpr int64_t kWgmmaMaxWholeSide = 128;
/// Columns that a CTA takes of a larger one.
inline constexpr int64_t kWgmmaShareResults = 64;
/// Neighbours that a lane has of a block's results along the innermost axis.
inline constexpr int64_t kWgmmaLaneResults = 4;
/// Neighbours in a row that a thread quantizes at a time.
inline constexpr int64_t kWgmmaQuantizedLanes = 4;

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
  int step = -1;
  /// Whether neighbours of the input lie along it.
  bool isContiguous = false;
  /// Elements of the input from one position to the next; dynamic if not known.
  int64_t stride = ShapedType::kDynamic;
  /// Positions per tile. More than one only for contracted axes (all), the
  /// rows and the columns.
  int64_t tile = 1;
};

/// Which axis is the innermost one of a tile in place of the op's, so that
/// neighbours of a transposed input are neighbours there.
enum class WgmmaTurn {
  None,
  /// One of rows. Neighbours of the result lie along the axis of the last step.
  Rows,
  /// The contracted one. Neighbours of the result lie along columns, which are
  /// the tile's rows.
  Columns
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

/// One factor.
struct WgmmaStep : WgmmaOperand {
  /// Its number among the mode products of the op.
  unsigned product = 0;
  unsigned axis;
  /// CTAs that share the columns of a large factor. Each has its own.
  int64_t shares = 1;
  /// Positions of every axis that the rows run over: 1 for `axis` itself.
  SmallVector<int64_t> radix;
  int64_t rows;

  int64_t getBlocks() const { return (rows + kWgmmaRows - 1) / kWgmmaRows; }
};

/// What a plan says.
struct WgmmaChoices {
  /// Positions of a tile along the axis of rows and along that of columns; 1 if
  /// there is none.
  int64_t rows = 1, columns = 1;
  int64_t threads = 4 * kWarpgroupThreads;
  int64_t ctasPerSM = 1;
  /// Tiles (or pieces) in shared memory per group.
  int64_t buffers = 2;
  /// Warpgroups that share a tile.
  int64_t groupSize = 1;
  /// Positions of the contracted axis in each of the pieces that a tile is
  /// loaded in; 0 if it is loaded whole.
  int64_t pieceK = 0;
  /// Whether rows are stored in 8 bits, for the kron.quantize that reads them.
  bool quantize = false;
  /// Whether tiles are copied as segments lie, wherever they start, and whether
  /// all results go through shared memory.
  bool wholeCopies = false, sharedStore = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, WgmmaChoices &choices) {
    visit("tile", choices.rows);
    visit("columns", choices.columns);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("stages", choices.buffers);
    visit("warpgroups_per_tile", choices.groupSize);
    visit("k_piece", choices.pieceK);
    visit("quantize", choices.quantize);
    visit("shared_store", choices.sharedStore);
    visit("whole_copies", choices.wholeCopies);
  }
};

struct WgmmaPlan : WgmmaChoices {
  /// Outermost first, as they lie in a tile.
  SmallVector<WgmmaAxis> axes;
  WgmmaTurn turn = WgmmaTurn::None;
  /// The axes that tiles take several positions of beside the contracted ones;
  /// -1 if there is none.
  int rowAxis = -1, columnAxis = -1;
  SmallVector<WgmmaStep> steps;
  /// Where tiles land from global memory, and where steps leave their results
  /// (the same tile for f32).
  WgmmaLayout landing, work;
  bool inPlace = true;
  /// How tiles arrive that are copied as they lie.
  std::optional<BoxSegments> segments;
  /// Pieces that a tile is loaded in.
  int64_t pieces = 1;
  int64_t factorBytes = 0;

  /// Whether the last step can replace a tile by the next one, row by row as it
  /// has read them: what to do if there is room for one tile only.
  bool canRefill() const;
  /// The axis along which neighbours of the result lie.
  const WgmmaAxis &getResultAxis() const;
  /// CTAs that work on the same tiles, each for some of the results.
  int64_t getShares() const { return steps.front().shares; }
  int64_t getWarpgroups() const { return threads / kWarpgroupThreads; }
  int64_t getNumGroups() const { return getWarpgroups() / groupSize; }
  /// Bytes of shared memory of one group.
  int64_t getGroupBytes() const {
    return getArrivingBytes() + (segments ? landing.getBytes() : 0) +
           (inPlace ? 0 : work.getBytes());
  }
  /// Of them, those of tiles on their way.
  int64_t getArrivingBytes() const {
    return buffers * (segments ? segments->getBytes(landing.elementBytes)
                               : landing.getBytes());
  }
  /// Bytes in which warps leave what they know of a row that is quantized: of
  /// two rows in turn, a word each.
  int64_t getMaximaBytes() const {
    return quantize ? 2 * (threads / 32) * 4 : 0;
  }
  int64_t getSharedBytes() const {
    return factorBytes + getNumGroups() * getGroupBytes() + getMaximaBytes();
  }
};

/// Axes and factors of `fused`, which no choice changes; or why it cannot
/// become a wgmma kernel.
std::variant<WgmmaPlan, std::string> describeWgmma(FusedOp fused);

/// The same of `problem`, for which there need be no IR; nothing if it cannot.
/// Axes outside of the contracted ones, and between them, are taken for one.
std::optional<WgmmaPlan> describeWgmma(const Problem &problem);

/// Works out tiles and their layout from the choices of `plan`.
void setWgmmaTile(WgmmaPlan &plan);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<WgmmaPlan, std::string> readWgmmaPlan(FusedOp fused,
                                                   GPUPlanAttr plan);

/// Why the kernel of `fused` by `plan` cannot store its results as 8-bit rows,
/// or nothing if it can.
std::optional<std::string> getWgmmaQuantizeReason(FusedOp fused,
                                                  const WgmmaPlan &plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_WGMMAPLAN_H
