//===- SparseEstimate.h - Time of a factor by sparse kernels ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_SPARSEESTIMATE_H
#define KRON_LIB_MAPPING_GPU_SPARSEESTIMATE_H

#include "kron/Mapping/GPU/CostModel.h"
#include "kron/Mapping/GPU/Resources.h"

namespace mlir::kron {

inline bool is16BitFloat(Type element) {
  return element.isF16() || element.isBF16();
}

/// What three TF32 products make of one of full precision.
F32Products getF32Products(const Problem &problem);

/// Bytes of all factors, with what they vary over.
double getFactorBytes(const Problem &problem);

/// The time of a factor by `sparse`, whose tiles do not hold fibres whole:
/// CTAs read the input once for each block of results.
KernelTime estimateSparseTime(const Problem &problem, bool usesWarpgroups,
                              const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_SPARSEESTIMATE_H
