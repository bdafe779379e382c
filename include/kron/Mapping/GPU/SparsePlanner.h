//===- SparsePlanner.h - Plans of one Kronecker-sparse factor ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_SPARSEPLANNER_H
#define KRON_MAPPING_GPU_SPARSEPLANNER_H

#include "kron/Mapping/GPU/CostModel.h"
#include <variant>

namespace mlir::kron {

/// Complete plans of matrix products per position of the axes that the factor
/// of `fused` varies on, in the order in which their requirements are tested at
/// launch: of small groups, if they are that; of as many rows as usual; of
/// skinny M, if there is an unknown number of them. Or why there are none. The
/// plan of `fused` has constraints; one that is complete is all.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planSparse(FusedOp fused, const GPUMachine &machine);

/// Seconds of `fused` by `plan`, a complete one of kind sparse, of which the
/// cost model says `seconds`: at least copies, products and waiting of the SM
/// with the most tiles where accesses are narrow, and of warpgroups in f32;
/// waiting alone of others, and beside it loads of a factor whose elements are
/// apart.
double estimateSparseTiles(FusedOp fused, GPUPlanAttr plan, double seconds,
                           const GPUMachine &machine);

/// The plan of small groups alone, which other kernels have to stand behind
/// since it needs arrays that are aligned; or why others are better. The plan
/// of `fused` has constraints, all of which it has to meet.
std::variant<GPUPlanAttr, std::string>
planSmallGroups(FusedOp fused, const GPUMachine &machine);

/// The time of `fused`, described by `problem`, by that plan; nothing if there
/// is none.
std::optional<KernelTime> estimateSmallGroups(FusedOp fused,
                                              const Problem &problem,
                                              const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_SPARSEPLANNER_H
