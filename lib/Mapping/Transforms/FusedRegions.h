//===- FusedRegions.h - How many fused regions a chain takes ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What --kron-fuse decides by: fused regions that a plan gives, those of a
// row that does not fit the CPU's caches, and the remark about those of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_FUSEDREGIONS_H
#define KRON_LIB_MAPPING_TRANSFORMS_FUSEDREGIONS_H

#include "FusionPlan.h"

namespace mlir::kron {

/// The fused regions that the plan of `fused` asks for, or null if they do
/// not add up to its mode products.
std::optional<FusionPlan> getGivenRegions(FusedOp fused,
                                          DenseI64ArrayAttr counts);

/// Cuts the chain of `fused`, on the CPU. A row that is much larger than the
/// second-level cache takes as few fused regions as let each one's factors work
/// on columns within it. With so few rows that threads would have nothing to
/// do, the last factor is a fused region of its own: the others can be shared
/// out along its axis, itself along theirs. Where tiles of columns, or of rows
/// that lie as columns, would need more memory than twice that cache, the
/// outermost factors are a fused region of their own, in place in the result.
FusionPlan planCPUFusion(FusedOp fused, int64_t l2Bytes, int64_t vectorBits);

/// The two fused regions of `fused`, on the CPU, on several threads, if it has
/// so few rows that these would have nothing to do: the last factor is a fused
/// region of its own, as above. With one thread they take up to 12 % longer
/// than one fused region.
std::optional<FusionPlan> planSharedFusion(FusedOp fused);

/// Says which axes every fused region applies and how much of the chip it
/// takes.
void explainRegions(FusedOp fused, const FusionChain &chain,
                    const FusionPlan &plan, int64_t footprintBudget,
                    const GPUMachine &machine);

/// Whether the plan of the last mode product of `chain`, whose axes are
/// regrouped, gives its fused regions.
bool hasGivenRegions(ArrayRef<ModeProductOp> chain);

/// The fused regions of `chain`, whose axes are regrouped, if the plan of
/// its last mode product gives them. What is left of the plan is that of
/// every fused region.
bool takeGivenRegions(ArrayRef<ModeProductOp> chain,
                      SmallVectorImpl<ArrayRef<ModeProductOp>> &regions);

/// The end of the factors of `chain` from `begin` on between which axes are not
/// regrouped.
size_t getGroupEnd(ArrayRef<ModeProductOp> chain, size_t begin);

/// Cuts `chain`, whose axes are regrouped, into fused regions, the first of
/// which take as many factors as they may: `mayGoOn` says whether one from its
/// first argument to before its second one takes those up to the third, too.
SmallVector<ArrayRef<ModeProductOp>>
cutRegrouped(ArrayRef<ModeProductOp> chain,
             llvm::function_ref<bool(size_t, size_t, size_t)> mayGoOn);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_FUSEDREGIONS_H
