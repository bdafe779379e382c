//===- LoopNest.h - Axes of a step and its mapping --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the code of a step is decided from: the axes around the contracted one
// as loops, and what follows from their strides.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_LOOPNEST_H
#define KRON_LIB_CODEGEN_CPU_LOOPNEST_H

#include "kron/CodeGen/CPU/Stage.h"

namespace mlir::kron {

/// One axis of the loop nest, with its stride in every array.
struct LoopAxis {
  /// The axes of the step that were merged into this one.
  unsigned first, last;
  Int size;
  Int source, destination, addend, factor;
};

/// The axes around the contracted one, without those of size 1 and with
/// neighbours merged where all arrays allow it.
struct LoopNest {
  SmallVector<LoopAxis> outer;
  SmallVector<LoopAxis> inner;
  /// For the grouped mapping, the size of the innermost axis, which has been
  /// merged into the one before it; else 1.
  int64_t group = 1;
  /// Whether the last one of `outer` and the innermost axis are two parts of
  /// one axis.
  bool isSplit = false;
};

/// Rows up to which a factor is used as it lies: packing it would cost more
/// than the product.
inline constexpr int64_t kSkinnyM = 8;

/// The stride of `axis`; 0 if there is no such array.
Int getStride(const SmallVector<Int> &strides, unsigned axis);

/// Whether walking `outer` is walking on in `inner` for a stride of both.
bool isContinued(Int outerStride, Int innerStride, Int innerSize);

/// Elements that a vector register holds.
int64_t getMaxLanes(const Stage &stage);

/// Whether lanes can run over an axis in groups of `group` positions.
bool isGroup(const Stage &stage, int64_t group);

/// The outer axis on which the factor does not vary that is blocked in
/// registers, or -1. The innermost such axis has the best locality, but a tiny
/// one would leave the tile small.
int findSharedAxis(const LoopNest &nest);

/// Whether a factor element is used for a few rows only, at most `most`.
bool hasSkinnyM(const LoopNest &nest, int64_t most = kSkinnyM);

LoopNest getLoopNest(const Stage &stage);

StageMapping getMapping(const Stage &stage, const LoopNest &nest);

/// Lanes of the vectors of a step with the fibre mapping, and how many q each
/// of them holds; lanes beyond whole groups are not used.
std::pair<int64_t, int64_t> getFibreLanes(const Stage &stage, int64_t group);

/// How many fibres share a vector of a step with the fibre mapping: those that
/// follow each other in memory, if there are at most half as many q as lanes.
/// Their elements are taken in turn, see `RegisterTile::fibres`.
int64_t getNumFibres(const Stage &stage, const LoopNest &nest);

/// Whether several of them stay as they lie, and shuffles repeat an element of
/// each.
bool keepsFibres(const Stage &stage);

/// Register tile of a panel: 24 or 12 accumulators, and few loads.
/// `total`: rows in all, -1 if not known.
int64_t getPanelRows(const Stage &stage, int64_t group, int64_t total);
int64_t getPanelVectors(const Stage &stage);

/// Columns of a panel of the factor of a step with the fibre mapping; 0 if the
/// factor is small or the plan fixes another tile.
int64_t getPanelLanes(const Stage &stage, const LoopNest &nest);

/// Whether `count` elements, `stride` apart, lie in so few sets of the
/// first-level cache, or in more than `pages` pages, that they do not stay
/// there.
bool isFarApart(const Stage &stage, Int stride, int64_t count,
                int64_t pages = 0);

/// How many rows of a step with the fibre mapping share a vector, a power of
/// two: those of their q that fill none. 1: none do.
int64_t getSharingRows(const Stage &stage, const LoopNest &nest);

/// The axis of `stage` that the factor varies on and is contiguous along, or
/// -1.
int getContiguousAxis(const Stage &stage);

/// How the factor of a step with the inner mapping is packed.
enum class BroadcastPacking {
  None,
  /// Elements lie apart, since the factor is contiguous along another axis:
  /// [..., q, p] or [..., p, q] for every position of that axis.
  Planes,
  /// Elements, or groups, lie far apart along p: [..., q, p, group].
  Streams
};

BroadcastPacking getBroadcastPacking(const Stage &stage, const LoopNest &nest);

/// The groups, powers of two from large to small, in which a step with the
/// inner mapping takes what fills no vector of its innermost axis, each with
/// several q in a vector; none if that saves little.
SmallVector<int64_t> getRemainderGroups(const Stage &stage,
                                        const LoopNest &nest);

/// Elements from one p to the next of a factor that is packed for such groups,
/// whole vectors.
int64_t getGroupedRowElements(const Stage &stage, int64_t group);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_LOOPNEST_H
