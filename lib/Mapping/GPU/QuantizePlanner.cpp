//===- QuantizePlanner.cpp - Kernels that quantize their rows ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "QuantizePlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/WgmmaPlan.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// Says whether rows behind a product are quantized in its kernel.
static void remarkQuantize(QuantizeOp op,
                           const std::optional<std::string> &reason) {
  auto options = remark::RemarkOpts::name("Quantize").category("kron-plan");
  if (!reason)
    remark::passed(op.getLoc(), options)
        << "rows become 8 bits in the kernel of their product";
  else
    remark::missed(op.getLoc(), options)
        << "rows become 8 bits in a kernel of their own: " + *reason;
}

/// `plans` with `quantize` computed by the first of them, or why that is not
/// so.
static std::optional<std::string>
tryQuantize(FusedOp fused, QuantizeOp quantize, GPUKernel kernel,
            const GPUMachine &machine, SmallVectorImpl<GPUPlanAttr> &plans) {
  if (std::optional<std::string> reason =
          getSharedQuantizeReason(fused, quantize))
    return reason;
  if (kernel == GPUKernel::Wgmma) {
    GPUPlanAttr given = getGPUPlanAttr(fused);
    if (given && given.has("quantize") && given.get("quantize") == 0)
      return "the plan says so";
    GPUPlanAttr quantizing = plans.back().with("quantize", 1);
    std::variant<WgmmaPlan, std::string> plan =
        readWgmmaPlan(fused, quantizing);
    if (auto *reason = std::get_if<std::string>(&plan))
      return *reason;
    const auto &found = std::get<WgmmaPlan>(plan);
    if (std::optional<std::string> reason =
            getWgmmaQuantizeReason(fused, found))
      return reason;
    // The largest values of rows take shared memory, too.
    if (std::optional<std::string> reason = getSharedMemoryReason(
            found.getSharedBytes(), found.ctasPerSM, machine))
      return reason;
    plans.assign({quantizing});
    return std::nullopt;
  }
  if (kernel != GPUKernel::Sparse && kernel != GPUKernel::Chain)
    return "only kernels by wgmma and of sparse factors have whole rows";
  if (plans.front().getKernel() == GPUKernel::Cublas)
    return "cuBLAS computes the product where it is there";
  std::variant<GPUPlanAttr, std::string> chain =
      planQuantizedChain(fused, machine);
  if (auto *reason = std::get_if<std::string>(&chain))
    return *reason;
  auto plan = std::get<GPUPlanAttr>(chain);
  // Fewer rows have kernels of their own.
  if (plan.get("min_rows"))
    plans.insert(plans.begin(), plan);
  else
    plans.assign({plan});
  return std::nullopt;
}

void kron::planQuantize(FusedOp fused, QuantizeOp quantize, GPUKernel kernel,
                        const GPUMachine &machine,
                        SmallVectorImpl<GPUPlanAttr> &plans) {
  remarkQuantize(quantize,
                 tryQuantize(fused, quantize, kernel, machine, plans));
}
