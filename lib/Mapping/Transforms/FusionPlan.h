//===- FusionPlan.h - Which factors one fused region applies ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A chain whose row does not fit on chip takes several fused regions, each
// for a group of axes. Factors on different axes commute, so groups are free to
// be chosen: mostly neighbouring axes, since a fused region over the trailing
// ones reads rows, and one over others reads columns of the width of a memory
// transaction.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_FUSIONPLAN_H
#define KRON_LIB_MAPPING_TRANSFORMS_FUSIONPLAN_H

#include "kron/Mapping/GPU/CostModel.h"

namespace mlir::kron {

/// A chain of mode products, as far as planning needs it.
struct FusionChain {
  Type element;
  Precision precision = Precision::Full;
  /// In the order of application.
  SmallVector<ProblemFactor> factors;
  /// Sizes of all axes before and after.
  SmallVector<int64_t> inputShape;
  SmallVector<int64_t> outputShape;
  /// Of the input's axes; empty if they are in order.
  SmallVector<int64_t> inputPermutation;

  /// Whether factors on different axes commute: none depends on an axis that
  /// another contracts, and no axis of size 1 is stretched on the way.
  bool isReorderable() const;
};

struct FusionPlan {
  /// Per fused region: numbers of the factors it applies, in the order of
  /// application.
  SmallVector<SmallVector<unsigned>> regions;
  /// Sum of the estimated times; 0 if the fused regions were given.
  double seconds = 0;
  /// Whether what lies between fused regions lies in the destination, which
  /// later fused regions read and write.
  bool isInPlace = false;
  /// Whether what lies between two fused regions has the innermost axis, of
  /// columns that no factor contracts, as its outermost one.
  bool hasColumnsOutside = false;
  /// Fused regions that leave rows, the outermost axis, innermost, as they are
  /// in a transposed input: the one behind these takes them outside.
  unsigned withRowsInside = 0;
  /// The least number of threads with which these fused regions are worth it.
  int64_t numThreads = 1;
};

/// Seconds of a fused region of the factors numbered `current`, behind those of
/// `previous`, as planners of kernels say.
using AskRegion = llvm::function_ref<double(ArrayRef<unsigned> previous,
                                            ArrayRef<unsigned> current)>;

/// The fused regions that take the least time, with tile footprints of up to
/// `footprintBudget` bytes, and of one factor by cuBLAS if it `allowsCublas`.
/// Times are the cost model's or, of what it finds best, those of `ask`, if
/// that is not null.
FusionPlan planFusion(const FusionChain &chain, const GPUMachine &machine,
                      int64_t footprintBudget, bool allowsCublas,
                      AskRegion ask = nullptr);

/// The fused region number `index` of `plan`, as seen by the code generator.
Problem describeProblem(const FusionChain &chain, const FusionPlan &plan,
                        unsigned index);

FusionChain describeFusionChain(FusedOp fused);

/// Replaces `fused` by one kron.fused per fused region of `plan`. What lies
/// between them gets memory of its own, one array, used alternately with the
/// destination where there are more than two fused regions and shape and
/// meaning of the destination allow it; or, if the plan is in place, the
/// destination alone.
void splitFusedOp(RewriterBase &rewriter, FusedOp fused,
                  const FusionPlan &plan);

/// Axes of the input of `fused` in the order in which the first of two fused
/// regions takes them if columns, the innermost axis, lie outside in between.
SmallVector<int64_t> getOrderWithColumnsOutside(FusedOp fused);

/// Whether `splitFusedOp` can split `fused`: its scalars are defined outside.
bool isSplittable(FusedOp fused);

/// Whether a kron.epilogue takes the result of `fused`.
bool hasEpilogueBehind(FusedOp fused);

/// Copies `fused` into both branches of an `scf.if` that takes its place.
/// Returns the copies for the cases that `condition` holds and that it does
/// not.
std::pair<FusedOp, FusedOp> copyToBranches(RewriterBase &rewriter,
                                           FusedOp fused, Value condition);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_FUSIONPLAN_H
