//===- CPUPlan.h - Tiles and steps of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the CPU code of a fused region looks like, which follows from its types
// and from what a plan says of it. --kron-plan uses it while it completes the
// plan, the emitter to build the code.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_CPU_CPUPLAN_H
#define KRON_PLAN_CPU_CPUPLAN_H

#include "kron/Plan/CPU/CPUChoices.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Mode products applied as one: one, or several on neighbouring axes whose
/// factors are multiplied out first (two 2x2 factors cost as much as one 4x4).
struct StepGroup {
  /// The mode products, that of the outermost axis first.
  SmallVector<ModeProductOp> products;
  /// First axis, as the op counts them, and sizes over all axes of the group.
  unsigned axis;
  int64_t sizeK = 1;
  int64_t sizeN = 1;
};

/// How an axis of the op is walked.
enum class AxisRole {
  /// One position per tile; the tiles are what threads share out.
  Grid,
  /// `tile` positions per tile (at most one axis).
  Tiled,
  /// Whole in every tile.
  Whole
};

/// Groups [begin, end) of a fused region, which the whole tile goes through
/// before the next section or, if there is a slice axis, one slice of it after
/// the other: some positions of that axis, and one of every axis outside of it.
struct Section {
  unsigned begin, end;
  int sliceAxis = -1;
  int64_t sliceSize = 1;
};

/// Sizes of all axes before and after a group.
struct GroupView {
  SmallVector<int64_t> before, after;
};

struct CPUPlan {
  /// In the order of application.
  SmallVector<StepGroup> groups;
  /// Where axes are regrouped between mode products, the axes of each group,
  /// which is one mode product; else empty. All but the rows are whole then.
  SmallVector<GroupView> views;
  /// Per axis of the op.
  SmallVector<AxisRole> roles;
  /// The tiled axis, or -1.
  int tiledAxis = -1;
  /// An axis that is a grid of which a tile takes several positions, or -1, and
  /// how many these are.
  int blockAxis = -1;
  int64_t blocks = 1;
  /// Largest number of elements, over all intermediates, that one position of
  /// the tiled axis takes.
  int64_t elementsPerPosition = 1;
  /// Buffers that intermediates need: 0, 1 or 2.
  int64_t numBuffers = 0;
  /// How slices go through most factors at once, two sections of which one has
  /// a slice axis; empty if the order of the factors leaves none outside.
  SmallVector<Section> slicedSections;
  /// Size of the slice axis, and the largest number of elements, over all
  /// intermediates within slices, that one position of it takes.
  int64_t sliceAxisSize = 1;
  int64_t elementsPerSlicePosition = 1;
  /// The input is contiguous along the tiled axis where lanes run over another
  /// one: a tile is transposed on the way in.
  bool transposesInput = false;
  /// Elements that the first group needs together lie far apart in the input,
  /// where they would push each other out of the cache: a slice or tile is
  /// copied first.
  bool packsInput = false;
  /// Lanes run over columns of which each lies as a row in the input: the copy
  /// transposes.
  bool hasColumnsAsRows = false;
  /// The only factor works in place, and registers have room for all its
  /// results: it can read every line once, in as many streams as it has p.
  bool fitsRegisters = false;
  /// Lanes run over the tiled axis although it lies outside: a tile is
  /// transposed on the way in and on the way out.
  bool rowsInLanes = false;

  /// Whether a slice or tile of the input is rearranged before it is used.
  bool rearrangesInput() const {
    return packsInput || transposesInput || rowsInLanes;
  }
  /// Whether slices take all positions of the tiled axis, although it lies
  /// outside.
  bool slicesWholeTile() const { return transposesInput || rowsInLanes; }
  /// Positions of axis `axis`, which is not whole, that a tile of `tile`
  /// positions of the tiled axis takes.
  int64_t getStep(int axis, int64_t tile) const {
    return axis == tiledAxis ? tile : axis == blockAxis ? blocks : 1;
  }
  bool isTiledInnermost() const {
    return tiledAxis >= 0 && tiledAxis + 1 == static_cast<int>(roles.size());
  }
  /// Size of axis `axis`, which is whole, behind the first `groupsApplied`
  /// groups: as the next group reads it or, if `asWritten`, as the last of them
  /// writes it, which is the same unless axes are regrouped.
  int64_t getWholeSize(unsigned axis, unsigned groupsApplied,
                       bool asWritten = false) const;
};

/// What follows from `choices` for `fused`, whose factors have static shapes;
/// or why they are no plan for it.
std::variant<CPUPlan, std::string> describeCPUPlan(FusedOp fused,
                                                   const CPUChoices &choices);

/// Why `choices`, those of a complete plan, are none for `fused`; empty if they
/// are one.
std::string getCPUPlanReason(FusedOp fused, const CPUChoices &choices);

/// Why steps of `fused` would not honour their fields, of which all others are
/// those of a plan for it; empty if they do.
std::string getCPUStepsReason(FusedOp fused, const CPUChoices &choices);

/// Whether `kept_fibres` makes a difference to a step of `fused`: several of its
/// fibres, which fill half a register each, share a vector.
bool mayKeepFibres(FusedOp fused, const CPUChoices &choices);

/// Positions of the tiled axis that a tile of `fused` takes: those that
/// `choices` asks for, but no more than there are.
int64_t getTileSize(FusedOp fused, const CPUPlan &plan,
                    const CPUChoices &choices);

/// A group of one.
StepGroup startGroup(ModeProductOp product);

/// `group` and `next` as one, if their axes are neighbours that every array has
/// as one. `isFirst`, `isLast`: the group begins and ends the fused region.
std::optional<StepGroup> joinGroup(FusedOp fused, const StepGroup &group,
                                   ModeProductOp next, bool isFirst,
                                   bool isLast);

/// Axes of `fused` that are contracted, and those that a factor varies on.
llvm::SmallBitVector getContractedAxes(FusedOp fused);
llvm::SmallBitVector getVaryingAxes(FusedOp fused);

/// The axis along which the input of `fused` is contiguous in memory.
int getContiguousAxis(FusedOp fused);

/// Strides of the input in the order of the axes of `fused`; none if they have
/// no order.
SmallVector<int64_t> getInputStrides(FusedOp fused);

/// Whether tiles of the input can be copied before they are used, and why lanes
/// cannot run over the tiled axis, which lies outside; empty if they can.
bool canPackInput(FusedOp fused, const CPUPlan &plan);
std::string getRowsInLanesReason(FusedOp fused, const CPUPlan &plan,
                                 int64_t lanes);

/// Whether the input has one position of `axis` for all of them.
bool isStretched(FusedOp fused, unsigned axis);

/// Whether elements of `array`, an operand of `fused` or of a product in it,
/// are computed in another type.
bool isConverted(FusedOp fused, Value array);

/// Why products of `fused` cannot be those of pairs of bf16, which matrix tiles
/// (AMX) and vectors of `vectorBits` (AVX512-BF16) add up; empty if they can.
std::string getPairsReason(FusedOp fused, int64_t vectorBits);

/// Whether the result takes the place of the input.
bool isInPlace(FusedOp fused);

/// The axis of which a tile may take several positions whose results lie in a
/// row, although it is a grid, and elements of one position; -1 if there is
/// none.
std::pair<int, int64_t> findBlockAxis(FusedOp fused, const CPUPlan &plan);

/// Whether the input is contiguous along the tiled axis, so that tiles read
/// segments of it.
bool hasSegments(FusedOp fused, const CPUPlan &plan);

/// Whether the only factor reads rows of the input, along which lanes run, from
/// where they lie, and may prefetch what later register tiles load of them.
bool canPrefetchRows(FusedOp fused, const CPUPlan &plan,
                     const CPUChoices &choices);

/// Whether tiles, slices and the input of `fused` are such that
/// `spread_prefetch` makes sense.
bool canSpreadPrefetch(FusedOp fused, const CPUPlan &plan,
                       const CPUChoices &choices);

/// Elements of a tile of `tile` positions behind `groupsApplied` groups.
int64_t countTileElements(const CPUPlan &plan, int64_t tile,
                          unsigned groupsApplied);

/// The sections of a tile with the slices that `choices` says. Where the first
/// section is sliced, every section's slices lie within those of the next one,
/// and `slice_cuts` says how slices are cut again.
SmallVector<Section> getSections(const CPUPlan &plan,
                                 const CPUChoices &choices);

/// Cuts the slices of the first section, which is sliced, again, such that they
/// take as many positions as `chooseSize` answers to the size of an axis and
/// the elements of one position; false if that is not possible or it answers 0.
bool cutSlices(
    const CPUPlan &plan, SmallVectorImpl<Section> &sections,
    llvm::function_ref<int64_t(const Section &, int64_t)> chooseSize);

/// The most elements that one position of `axis` takes before any of groups
/// [begin, end).
int64_t countSliceElements(const CPUPlan &plan, unsigned begin, unsigned end,
                           unsigned axis);

/// Elements that lie between groups in a window of `section` behind
/// `groupsApplied` of them.
int64_t countWindowElements(const CPUPlan &plan, const Section &section,
                            int64_t tile, unsigned groupsApplied);

/// First axis that `groups` contract, and the one behind their last.
std::pair<unsigned, unsigned> getAxes(ArrayRef<StepGroup> groups);

inline ShapedType getArrayType(Value value) {
  return cast<ShapedType>(value.getType());
}

/// Bytes of an element in the buffers of a fused region: those of f16 and bf16
/// hold f32.
int64_t getComputedBytes(FusedOp fused);

/// Elements of `array` in a tile of one position.
int64_t countElements(Value array, ArrayRef<AxisRole> roles);

/// The largest divisor of `total` up to `most`.
int64_t getDivisor(int64_t total, int64_t most);

} // namespace mlir::kron

#endif // KRON_PLAN_CPU_CPUPLAN_H
