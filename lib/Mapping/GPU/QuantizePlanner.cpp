//===- QuantizePlanner.cpp - Kernels that quantize their rows ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "QuantizePlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Tile/IR/TileRows.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Plan/GPU/DerivedFields.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/WgmmaPlan.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

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
  // Which is for fewer rows where the plan of the product asks for this.
  if (quantize.getPlanAttr() && !asksForQuantizing(fused))
    return "kron.quantize has a plan for that";
  if (kernel == GPUKernel::Wgmma) {
    if (GivenPlan(getGPUPlanAttr(fused)).get("quantize", 1) == 0)
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

std::optional<std::string>
kron::planQuantize(FusedOp fused, QuantizeOp quantize, GPUKernel kernel,
                   const GPUMachine &machine,
                   SmallVectorImpl<GPUPlanAttr> &plans) {
  std::optional<std::string> reason =
      tryQuantize(fused, quantize, kernel, machine, plans);
  remarkQuantize(quantize, reason);
  return reason;
}

//===----------------------------------------------------------------------===//
// Kernels of their own
//===----------------------------------------------------------------------===//

/// As few threads as keep a row in registers share it; neighbouring rows fill
/// the CTA.
static QuantizeChoices choose(const QuantizePlan &rows,
                              const QuantizeTiles &tiles, GivenPlan given) {
  constexpr int64_t kWarpThreads = 32, kMostThreads = 1024;
  int64_t segments = std::max<int64_t>(
      tile::SharedRows::get(rows.length, rows.element, 1).getSegments(), 1);
  int64_t wanted = segments <= kWarpThreads
                       ? segments
                       : llvm::divideCeil(segments, tiles.segments);
  QuantizeChoices plan;
  plan.rowThreads =
      given.get("row_threads",
                std::min<int64_t>(llvm::PowerOf2Ceil(wanted), kMostThreads));
  plan.threads = given.get("threads", std::max(tiles.threads, plan.rowThreads));
  plan.ctasPerSM = given.get(
      "ctas_per_sm", std::max<int64_t>(tiles.threadsPerSM / plan.threads, 1));
  plan.keptSegments = given.get("kept_segments", tiles.keptSegments);
  return plan;
}

LogicalResult kron::planForGPU(QuantizeOp op, const GPUMachine &machine) {
  GPUPlanAttr given = op.getPlanAttr();
  if (!given && getQuantizeUnsupportedReason(op))
    return success();
  auto refuse = [&](const std::string &reason) {
    return op.emitOpError("has no GPU kernel; quantize: ") << reason;
  };
  if (std::string reason = getRegionsReason(given); !reason.empty())
    return refuse(reason);
  auto described = describeQuantize(op);
  if (auto *reason = std::get_if<std::string>(&described))
    return refuse(*reason);
  PlanWriter writer(op.getContext(), GPUKernel::Quantize);
  QuantizeChoices choices = choose(std::get<QuantizePlan>(described),
                                   getGPUTiles(machine).quantize, given);
  QuantizeChoices::visitFields(writer, choices);
  GPUPlanAttr plan = writer.getPlan();
  auto read = readQuantizePlan(op, plan, machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  if (std::string unmet = findUnmet(op, given, plan); !unmet.empty())
    return refuse(unmet);
  op.setPlanAttr(plan);
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("kernel quantize; {0}", plan);
  return success();
}
