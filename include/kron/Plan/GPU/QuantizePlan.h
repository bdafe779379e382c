//===- QuantizePlan.h - Rows that kernels quantize --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_QUANTIZEPLAN_H
#define KRON_PLAN_GPU_QUANTIZEPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// Elements of a row of an array of `type` whose first `batchRank` axes count
/// rows; kDynamic if that, or whether they are neighbours, is not known.
int64_t getRowLength(MemRefType type, unsigned batchRank);

/// Why no kernel computes `op`, or nothing if one does.
std::optional<std::string> getQuantizeUnsupportedReason(QuantizeOp op);

/// What `value` is a view of.
Value skipViews(Value memory);

/// The one of `ops` that reads what `fused` writes, or null.
QuantizeOp findQuantize(FusedOp fused, ArrayRef<QuantizeOp> ops);

/// Why the kernel of `fused` cannot compute `quantize` as well, whatever kernel
/// that is, or nothing if it can: nobody else needs the product.
std::optional<std::string> getSharedQuantizeReason(FusedOp fused,
                                                   QuantizeOp quantize);

} // namespace mlir::kron

#endif // KRON_PLAN_GPU_QUANTIZEPLAN_H
