//===- Quantize.cpp - Rows of 8 bits as tiles -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Some threads load a row, agree on its largest magnitude, and store it as 8
// bits per element with a scale. A CTA takes neighbouring rows at a time.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/Dialect/Tile/IR/TileRows.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/QuantizePlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Views of an operation's arrays, as arguments of a kernel.
class RowViews {
public:
  RowViews(TileKernel &kernel, QuantizeOp op)
      : kernel(kernel), sizes(getArraySizes(kernel.host, op.getScales())) {}

  /// Of an array whose rows have `length` elements, or of one of the rows'
  /// scales; the axes that count rows are at least one.
  unsigned enter(Value array, std::optional<int64_t> length) {
    StepArray found = getFusedArray(kernel.host, array);
    SmallVector<Int> shape(sizes), strides(found.strides);
    strides.resize(sizes.size());
    if (sizes.empty()) {
      shape.push_back(1);
      strides.push_back(0);
    }
    if (length) {
      shape.push_back(*length);
      strides.push_back(1);
    }
    return kernel.enter(
        kernel.makeView(found.base, shape, strides, getElementType(array)));
  }

  /// On the host.
  Int getRows() {
    Int rows = 1;
    for (Int size : sizes)
      rows = kernel.host.mul(rows, size);
    return rows;
  }

private:
  TileKernel &kernel;
  SmallVector<Int> sizes;
};

} // namespace

static void buildKernel(const TileSource &source, QuantizeOp op,
                        const QuantizePlan &plan) {
  TileKernel kernel(source.builder, op.getLoc(), plan.element);
  RowViews views(kernel, op);
  unsigned input = views.enter(op.getInput(), plan.length);
  unsigned bytes = views.enter(op.getInit(), plan.length);
  unsigned scales = views.enter(op.getScales(), std::nullopt);
  Value tiles = kernel.host.materialize(
      kernel.host.ceilDiv(views.getRows(), plan.getRows()), 64);
  unsigned count = kernel.enter(tiles);
  kernel.begin(
      source.gpuModule, "quantize",
      tile::KernelAttr::get(op.getContext(), plan.threads, plan.ctasPerSM));
  Value from = kernel.getArgument(input), to = kernel.getArgument(bytes);
  auto shared =
      tile::SharedRows::get(plan.length, plan.element, plan.rowThreads);
  bool isWhole = shared.areWhole(cast<tile::ViewType>(from.getType())) &&
                 shared.areWhole(cast<tile::ViewType>(to.getType()));
  kernel.forTiles(kernel.getArgument(count), [&](Value tile) {
    kernel.quantizeRows(from, tile, plan.rowThreads, plan.keptSegments,
                        isWhole ? tile::kSegmentBytes
                                : getElementBytes(plan.element),
                        bytes, scales, source.machine);
  });
  kernel.launch(tiles);
}

LogicalResult kron::tileQuantize(const TileSource &source, QuantizeOp op) {
  if (std::optional<std::string> reason = getQuantizeUnsupportedReason(op))
    return op.emitOpError("cannot become a GPU kernel: ") << *reason;
  SmallVector<GPUPlanAttr> plans = getCompletePlans(op);
  if (plans.empty())
    return failure();
  FailureOr<QuantizePlan> plan =
      takePlan(op, GPUKernel::Quantize,
               readQuantizePlan(op, plans.front(), source.machine),
               getNoReason<QuantizePlan>);
  if (failed(plan))
    return failure();
  source.builder.setInsertionPoint(op);
  buildKernel(source, op, *plan);
  return success();
}
