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

static void buildKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        QuantizeOp op, const QuantizePlan &plan,
                        const GPUMachine &machine) {
  Type element = plan.element, byte = getElementType(op.getInit());
  auto shared = tile::SharedRows::get(plan.length, element, plan.rowThreads);
  TileKernel kernel(builder, op.getLoc(), element);
  OpBuilder &b = kernel.builder;
  Location loc = kernel.loc;
  RowViews views(kernel, op);
  unsigned input = views.enter(op.getInput(), plan.length);
  unsigned bytes = views.enter(op.getInit(), plan.length);
  unsigned scales = views.enter(op.getScales(), std::nullopt);
  Value tiles = kernel.host.materialize(
      kernel.host.ceilDiv(views.getRows(), plan.getRows()), 64);
  unsigned count = kernel.enter(tiles);
  kernel.begin(
      gpuModule, "quantize",
      tile::KernelAttr::get(b.getContext(), plan.threads, plan.ctasPerSM));
  Value from = kernel.getArgument(input), to = kernel.getArgument(bytes);
  bool isWhole = shared.areWhole(cast<tile::ViewType>(from.getType())) &&
                 shared.areWhole(cast<tile::ViewType>(to.getType()));
  auto getFragment = [&](int64_t boxes, int64_t values, Type type) {
    return tile::FragmentType::get(b.getContext(), {boxes, values}, type);
  };
  kernel.forTiles(kernel.getArgument(count), [&](Value tile) {
    Value rows = tile::LoadRowsOp::create(
        b, loc,
        getFragment(shared.getSegmentsOfThread(), shared.perSegment, element),
        from, tile, plan.rowThreads, plan.keptSegments,
        isWhole ? tile::kSegmentBytes : getElementBytes(element));
    Value largest = tile::ReduceRowsOp::create(
        b, loc, getFragment(1, 1, b.getF32Type()), rows);
    // Chips from compute capability 8.9 on round to 8-bit floats themselves.
    tile::QuantizeRowsOp::create(
        b, loc, rows, largest, to, tile, kernel.getArgument(scales),
        isFloat8(byte) && machine.computeCapability >= 89);
  });
  kernel.launch(tiles);
}

LogicalResult kron::tileQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 QuantizeOp op, const GPUMachine &machine) {
  SmallVector<GPUPlanAttr> plans = getCompletePlans(op);
  if (plans.empty())
    return failure();
  auto read = readQuantizePlan(op, plans.front(), machine);
  if (auto *reason = std::get_if<std::string>(&read))
    return op.emitOpError("cannot become a quantize kernel: ") << *reason;
  builder.setInsertionPoint(op);
  buildKernel(builder, gpuModule, op, std::get<QuantizePlan>(read), machine);
  return success();
}
