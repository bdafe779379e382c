//===- DmmaEmitter.h - Builds the kernel of f64 octets ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_DMMAEMITTER_H
#define KRON_LIB_CODEGEN_GPU_DMMAEMITTER_H

#include "DmmaArrays.h"
#include "kron/Plan/GPU/DmmaPlan.h"

namespace mlir::kron {

class DmmaEmitter : DmmaArrays {
public:
  DmmaEmitter(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
              const DmmaPlan &plan)
      : DmmaArrays(host, gpuModule, fused), plan(plan) {}

  void emit();

private:
  /// Operand B of a step.
  using Factor = SmallVector<Value, 2>;
  /// Two neighbours at each of the two places that a lane reads and writes.
  using Pairs = std::array<std::array<Value, 2>, 2>;

  /// The elements that a lane takes through a step: `index` and `index +
  /// second` with each of `known` added, one per unit.
  struct Walk {
    Int index;
    int64_t second = 0, units = 0;
    SmallVector<int64_t> known;
  };
  /// Where results go: the second place is `second` further in the tile, or
  /// `secondStride` in the array if that is outside of what the CTA holds.
  struct Results {
    Int index;
    int64_t second = 0;
    Int secondStride, secondAddendStride;
  };

  Int swizzle(Int index);
  Int expand(Int fibre, unsigned bit, unsigned axisBits);
  Positions decode(Int index);
  Int getOffset(Int index, const StageArray &array);
  Value isInside(Int index, int64_t known, const DmmaPlace &place);
  Value getShared(Int base, Int swizzled, int64_t known);

  void enterAll();
  Int getTiles(Emitter &emitter, unsigned axis, Int size);
  DmmaPlace placeTile(Int tile);
  void emitCopies(Int tile, Int ring);
  Int getWarpSlot();
  Int getSlotBase(Int ring, Int slot);
  Int advance(Int ring, int64_t slots);

  Factor loadFactor(const DmmaStep &step);
  bool isSplit(const DmmaStep &step) const;
  Walk getWalk(const DmmaStep &step);
  Pairs multiply(const DmmaStep &step, const Pairs &data, const Factor &factor);
  void emitStep(const DmmaStep &step, const Factor &factor, Int ring);
  SmallVector<Pairs> loadSplit(ArrayRef<int64_t> known, Int base, Int swizzled);
  void emitLastStep(const Factor &factor, const DmmaPlace &place, Int ring,
                    function_ref<void()> loaded);
  void storeResults(const Pairs &unit, int64_t known, const Results &results,
                    const DmmaPlace &place);

  void emitBarrier(const DmmaStep &step);
  void emitClusterArrive();
  void emitClusterWait();
  void emitTile(Int tile, Int ring);
  void emitSharedTile(Int tile, Int ring);

  const DmmaPlan &plan;

  // Inside of the kernel.
  Int end, warp, lane, laneGroup, laneSlot, rank;
  SmallVector<Factor> factors;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_DMMAEMITTER_H
