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

#ifndef KRON_LIB_CODEGEN_GPU_DMMAPLAN_H
#define KRON_LIB_CODEGEN_GPU_DMMAPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::kron {

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
  /// CTAs that share a tile: each holds half of the last step's axis.
  int64_t cluster = 1;
  /// Shared memory is a ring of slots, of which a tile takes some.
  int64_t slots = 1, ringSlots = 2;
  int64_t warps = 4, ctasPerSM = 1;

  int64_t getElements() const { return int64_t(1) << indexBits; }
  int64_t getSlotElements() const { return getElements() / slots; }
  int64_t getSharedBytes() const { return ringSlots * getSlotElements() * 8; }
  /// Elements that a warp loads, and works on alone as long as steps allow.
  int64_t getWarpElements() const { return getElements() / warps; }
  /// Whether a step of axis `bit` stays within the elements of a warp.
  bool isPrivate(unsigned bit) const {
    return (int64_t(8) << bit) <= getWarpElements();
  }
};

/// The plan of `fused`; nothing if it is not for this kernel.
std::optional<DmmaPlan> planDmma(FusedOp fused, const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_DMMAPLAN_H
