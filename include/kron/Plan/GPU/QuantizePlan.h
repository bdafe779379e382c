//===- QuantizePlan.h - Rows that kernels quantize --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_PLAN_GPU_QUANTIZEPLAN_H
#define KRON_PLAN_GPU_QUANTIZEPLAN_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Machine/GPUMachine.h"
#include <variant>

namespace mlir::kron {

/// What a plan of kind `quantize` says.
struct QuantizeChoices {
  int64_t threads = 1, ctasPerSM = 1;
  /// Threads that share a row, in segments of 16 bytes, of which each keeps up
  /// to so many in registers.
  int64_t rowThreads = 1, keptSegments = 1;

  template <typename Visitor>
  static void visitFields(Visitor &visit, QuantizeChoices &choices) {
    visit("threads", choices.threads);
    visit("ctas_per_sm", choices.ctasPerSM);
    visit("row_threads", choices.rowThreads);
    visit("kept_segments", choices.keptSegments);
  }
};

struct QuantizePlan : QuantizeChoices {
  /// Elements of a row, and their type.
  int64_t length = 0;
  Type element;

  int64_t getRows() const { return threads / rowThreads; }
};

/// What follows from `op`; or why there is no kernel for it.
std::variant<QuantizePlan, std::string> describeQuantize(QuantizeOp op);

/// What `plan`, which is complete, says of `op`; or why that is no plan for it
/// on `machine`.
std::variant<QuantizePlan, std::string>
readQuantizePlan(QuantizeOp op, GPUPlanAttr plan, const GPUMachine &machine);

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
