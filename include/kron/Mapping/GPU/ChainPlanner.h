//===- ChainPlanner.h - Plans of chains of sparse factors -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_GPU_CHAINPLANNER_H
#define KRON_MAPPING_GPU_CHAINPLANNER_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <string>
#include <variant>

namespace mlir::kron {

/// The complete plan of blocks of rows that a kernel takes through all factors
/// of `fused`, between which axes are regrouped; or why there is none. The plan
/// of `fused` has constraints; one that is complete is taken as it is.
std::variant<SmallVector<GPUPlanAttr>, std::string>
planChain(FusedOp fused, const GPUMachine &machine);

/// Whether the plan of `fused` is for a kernel that quantizes its rows to 8
/// bits.
bool asksForQuantizing(FusedOp fused);

/// The same of blocks of rows that the kernel quantizes to 8 bits behind all
/// factors of `fused`, one that is sparse or a chain; or why there is none, or
/// had better be none. `min_rows` says from how many rows on that pays, if
/// there is an unknown number of them and kernels of their own are better for
/// few.
std::variant<GPUPlanAttr, std::string>
planQuantizedChain(FusedOp fused, const GPUMachine &machine);

/// Why `products`, a chain whose axes are regrouped and which may stand outside
/// of a kron.fused, had better be fused regions of their own, be it that no
/// kernel takes all of them; nothing if they should be one.
std::optional<std::string>
getSparseChainReason(ArrayRef<ModeProductOp> products,
                     const GPUMachine &machine);

/// Seconds that one fused region saves for `products`; 0 if they had better be
/// fused regions of their own.
double estimateSparseChainGain(ArrayRef<ModeProductOp> products,
                               const GPUMachine &machine);

/// The number of rows up to which `products` had better be fused regions of
/// their own, although one fused region is faster where there are many; 0:
/// none.
int64_t getSparseChainMostRowsApart(ArrayRef<ModeProductOp> products,
                                    const GPUMachine &machine);

} // namespace mlir::kron

#endif // KRON_MAPPING_GPU_CHAINPLANNER_H
