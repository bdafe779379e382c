//===- DmmaPlan.h - Tiles of the kernel of f64 octets -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// f64 factors of 8 x 8 by m16n8k8: 16 fibres are operand A, the factor is
// operand B and stays in registers. A lane writes the places that it has read,
// so that a factor is applied in place without waiting.
//
// All sizes of a tile are powers of two. An element is known by its index, the
// row-major number within the tile; every axis owns some bits of it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_DMMAPLAN_H
#define KRON_PLAN_GPU_DMMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>
#include <string>
#include <variant>

namespace mlir::kron {

/// Rows and columns of all factors.
inline constexpr int64_t kDmmaFactorSize = 8;
/// Fibres of an instruction times its K.
inline constexpr int64_t kDmmaUnitElements = 128;
/// Bytes of a pair of elements, which are copied and stored together.
inline constexpr int64_t kDmmaPairBytes = 16;
/// Instructions of a warp that do not wait for each other.
inline constexpr int64_t kDmmaUnitsAtOnce = 4;

/// What is chosen: the fields of the plan.
struct DmmaChoices {
  /// Of the tile, per axis.
  SmallVector<int64_t> extents;
  int64_t threads = 128, ctasPerSM = 1;
  /// Shared memory is a ring of slots, of which a tile takes some.
  int64_t ringSlots = 2;
  /// CTAs that share a tile: each holds half of the last step's axis.
  int64_t cluster = 1;
  /// Bytes that pointers and strides are multiples of.
  int64_t alignment = 16;

  template <typename Visitor>
  static void visitFields(Visitor &visit, DmmaChoices &choices) {
    visit("extents", choices.extents);
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("ring_slots", choices.ringSlots);
    visit("cluster", choices.cluster);
    visit("alignment", choices.alignment);
  }
};

/// One factor, applied to an axis whose lowest bit of the index is `bit`.
struct DmmaStep {
  ModeProductOp product;
  unsigned axis;
  unsigned bit;
};

struct DmmaPlan {
  /// Of the result; of the part of a tile that a CTA holds.
  SmallVector<int64_t> sizes, extents;
  llvm::SmallBitVector contracted;
  /// Lowest bit of the index per axis, and bits in all.
  SmallVector<unsigned> bits;
  unsigned indexBits = 0;
  /// The innermost axis first.
  SmallVector<DmmaStep> steps;
  /// Bit `second` of the index is flipped where bit `first` is set, so that the
  /// lanes of an access use all banks.
  SmallVector<std::pair<unsigned, unsigned>> swizzles;
  /// As chosen; `slots` of the ring's are a tile's.
  int64_t cluster = 1, slots = 1, ringSlots = 2;
  int64_t warps = 4, ctasPerSM = 1;

  int64_t getElements() const { return int64_t(1) << indexBits; }
  int64_t getSlotElements() const { return getElements() / slots; }
  int64_t getSlotBytes() const { return getSlotElements() * 8; }
  int64_t getSharedBytes() const { return ringSlots * getSlotBytes(); }
  /// Elements that a warp loads, and works on alone as long as steps allow.
  int64_t getWarpElements() const { return getElements() / warps; }
  /// What an instruction takes, of the part of a tile that a CTA holds, and
  /// what a warp takes at once.
  int64_t getUnits() const { return getElements() / kDmmaUnitElements; }
  int64_t getUnitsAtOnce() const {
    return std::min(kDmmaUnitsAtOnce, getUnits() / warps);
  }
  /// Pairs that a thread copies.
  int64_t getCopies() const { return getWarpElements() / 64; }
  /// Of a whole tile, of which two CTAs may hold a half each.
  SmallVector<int64_t> getTileExtents() const {
    SmallVector<int64_t> whole(extents);
    whole[steps.back().axis] = kDmmaFactorSize;
    return whole;
  }
  /// Whether a step of axis `bit` stays within the elements of a warp.
  bool isPrivate(unsigned bit) const {
    return (int64_t(8) << bit) <= getWarpElements();
  }
  /// Warps that the fibres of a step of axis `bit` lie with.
  int64_t getStepWarps(unsigned bit) const {
    return isPrivate(bit) ? 1 : (int64_t(8) << bit) / getWarpElements();
  }
};

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<DmmaPlan, std::string> readDmmaPlan(FusedOp fused,
                                                 GPUPlanAttr plan);

/// The part of a plan that follows from `fused` alone; or why there is no plan
/// for it.
std::variant<DmmaPlan, std::string> describeDmma(FusedOp fused);

/// Sets what follows from the extents of tiles and the CTAs that share one in
/// `plan`, which is what describeDmma gave otherwise; or says why they are none
/// for it.
std::optional<std::string> placeDmmaTile(ArrayRef<int64_t> extents,
                                         int64_t cluster, DmmaPlan &plan);

/// What `machine` lacks for `plan`, if it lacks anything: instructions or
/// shared memory.
std::optional<std::string> getDmmaMachineReason(const DmmaPlan &plan,
                                                const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_DMMAPLAN_H
