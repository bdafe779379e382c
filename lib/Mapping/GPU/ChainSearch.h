//===- ChainSearch.h - Search for tiles of a sparse chain -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_GPU_CHAINSEARCH_H
#define KRON_LIB_MAPPING_GPU_CHAINSEARCH_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/ChainPlan.h"

namespace mlir::kron {

/// A plan and the time that it is estimated to take.
struct ChainCandidate {
  ChainPlan plan;
  double seconds = 0;
};

/// The best plan of the chain `products`, in a kron.fused or not, or why there
/// is none. `quantizes`: whether results are quantized to 8 bits, which one
/// factor may be followed by, too. `given` has constraints; null: none.
std::variant<ChainCandidate, std::string>
searchChain(ArrayRef<ModeProductOp> products, const GPUMachine &machine,
            bool quantizes = false, GPUPlanAttr given = {});

/// Why `given`, a complete plan, is none for `fused` on `machine`, or nothing.
std::optional<std::string> getCompleteChainReason(FusedOp fused,
                                                  GPUPlanAttr given,
                                                  const GPUMachine &machine);

/// Seconds that `plan` takes for `rows` rows, and a fused region per factor.
double estimateSparseChain(const ChainPlan &plan, double rows,
                           const GPUMachine &machine);
double estimateSparseKernels(const ChainPlan &plan, double rows,
                             const GPUMachine &machine);

/// The rows that `products` work on, as estimates take them.
double getNominalSparseRows(ArrayRef<ModeProductOp> products);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_GPU_CHAINSEARCH_H
