//===- ChainPlan.h - Tiles of a chain of sparse factors ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A CTA takes a block of rows through all factors. Each factor is a chain step
// with a plan of its own, for the same rows and threads; what one chain step
// writes is a row of chunks in shared memory, as the next one reads it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_CHAINPLAN_H
#define KRON_PLAN_GPU_CHAINPLAN_H

#include "kron/Plan/GPU/SparsePlan.h"
#include <vector>

namespace mlir::kron {

/// What a plan says of all chain steps together.
struct ChainChoices {
  /// Rows of a block.
  int64_t rows = 16;
  int64_t ctasPerSM = 1;
  /// Groups of warps of a CTA that take blocks of their own.
  int64_t warpGroups = 1;
  /// Whether all factors stay in shared memory all the time.
  bool keepsFactors = false;
  /// Whether rows of the result are quantized to 8 bits, for the kron.quantize
  /// that reads them.
  bool quantizes = false;

  template <typename Visitor>
  static void visitFields(Visitor &visit, ChainChoices &choices) {
    visit("tile", choices.rows);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("warp_groups", choices.warpGroups);
    visit("keeps_factor", choices.keepsFactors);
    visit("quantize", choices.quantizes);
  }
};

struct ChainPlan : ChainChoices {
  std::vector<SparsePlan> steps;

  int64_t getThreads() const { return steps.front().getThreads(); }
  /// Of a row of the input and one of the result.
  int64_t getRowBytes() const;
  /// Elements of a row of the result.
  int64_t getResultFeatures() const { return steps.back().getResultFeatures(); }
  /// Bytes of the factor of chain step `step`, if it is kept, and of its warp
  /// groups' rings.
  int64_t getKeptBytes(unsigned step) const;
  int64_t getRingBytes(unsigned step) const;
  /// Bytes of what chain step `step` leaves in shared memory.
  int64_t getResultBytes(unsigned step) const {
    return rows * (step + 1 < steps.size() ? steps[step + 1].sharedRowBytes
                                           : steps[step].resultRowBytes);
  }
  /// Of the two places between which chain steps alternate: number `place`.
  int64_t getPlaceBytes(unsigned place) const;
  int64_t getSharedBytes() const;
};

/// Types and axes of the chain `products`, in a kron.fused or not, for each of
/// its steps; or why there is no kernel for it. `quantizes`: whether results
/// are quantized to 8 bits, which one factor may be followed by, too.
std::variant<std::vector<SparsePlan>, std::string>
describeChain(ArrayRef<ModeProductOp> products, bool quantizes);

/// Works out how rows between the steps of `plan` lie in shared memory.
void setChainRows(ChainPlan &plan);

/// Why there is no kernel of the steps of `plan` together, or nothing.
std::optional<std::string> getChainReason(const ChainPlan &plan);

/// What `plan`, which is complete, says of `fused`; or why that is no plan for
/// it.
std::variant<ChainPlan, std::string> readChainPlan(FusedOp fused,
                                                   GPUPlanAttr plan);

/// The attribute of `plan`.
GPUPlanAttr writeChainPlan(MLIRContext *context, const ChainPlan &plan);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_CHAINPLAN_H
