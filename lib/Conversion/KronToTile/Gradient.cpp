//===- Gradient.cpp - Gradients by sparse weights as tiles ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A gradient is products of matrices whose K axis is the batch. Each CTA sums
// up a tile of the weights over a piece of the batch,
//
//   views -> ring -> registers   steps of the batch, some ahead
//   registers -> view            the gradient, or the sums of a piece
//
// and where there are several pieces, or weights are shared, a second kernel
// adds up their sums in order.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/Dispatch.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/SparseGradPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class GradientKernels {
public:
  GradientKernels(const TileSource &source, KsmmGradOp gradient,
                  const SparseGradPlan &plan);

  void build();

private:
  Int getRows();
  void cutBatch();
  tile::BatchAttr getBatch();
  unsigned enterWeights(TileKernel &kernel, Value array);
  BoxArguments enterTarget(TileKernel &kernel);
  Value makePieces(TileKernel &kernel, ArrayRef<int64_t> sizes);
  void buildProducts();
  void buildTotals();

  const TileSource &source;
  KsmmGradOp gradient;
  const SparseGradPlan &plan;
  Emitter host;
  Location loc;
  Type sumType;
  StringRef name;
  Int rows, rowsPerPiece, pieces = 1;
  /// Sums of the pieces; null if there is one piece.
  Value workspace;
};

} // namespace

GradientKernels::GradientKernels(const TileSource &source, KsmmGradOp gradient,
                                 const SparseGradPlan &plan)
    : source(source), gradient(gradient), plan(plan),
      host(source.builder, gradient.getLoc(), plan.element),
      loc(gradient.getLoc()), sumType(getAccumulatorType(plan.element)),
      name(gradient->getParentOfType<func::FuncOp>().getSymName()) {}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Positions of the batch.
Int GradientKernels::getRows() {
  unsigned dim = gradient.getBatchDim();
  for (Value array : {gradient.getInput(), gradient.getGrad()})
    if (auto type = cast<MemRefType>(array.getType()); !type.isDynamicDim(dim))
      return type.getDimSize(dim);
  return getArraySizes(host, gradient.getInput())[dim];
}

/// Cuts the batch into as many pieces as the plan wants, each of some K steps.
void GradientKernels::cutBatch() {
  auto alignTo = [&](Int number, int64_t unit) {
    return host.mul(host.ceilDiv(number, unit), unit);
  };
  // At least `least`, and no less than all where there is one piece.
  auto most = [&](Int number, int64_t other) -> Int {
    return host.sub(host.add(number, other), host.min(number, other));
  };
  rows = getRows();
  rowsPerPiece = alignTo(host.ceilDiv(rows, plan.pieces), plan.batchStep);
  rowsPerPiece =
      most(rowsPerPiece, llvm::alignTo(plan.leastPiece, plan.batchStep));
  if (!plan.hasSums())
    return;
  pieces = most(
      host.floorDiv(host.add(rows, host.sub(rowsPerPiece, 1)), rowsPerPiece),
      1);
  workspace = makeWorkspace(host, gradient->getParentOfType<ModuleOp>(),
                            host.mul(pieces, plan.getSumsPerPiece()), sumType);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

tile::BatchAttr GradientKernels::getBatch() {
  using tile::AtomKind;
  using tile::Residuals;
  AtomKind atom = plan.usesWgmma               ? AtomKind::WgmmaHalf
                  : plan.usesPackedOperands    ? AtomKind::WgmmaTF32
                  : plan.is16BitFloat()        ? AtomKind::MmaM16N8K16
                  : plan.math != MmaMath::F64  ? AtomKind::MmaTF32
                  : source.machine.hasWideDMMA ? AtomKind::MmaF64
                                               : AtomKind::MmaF64Small;
  Residuals residuals = plan.has16BitResiduals            ? Residuals::BF16
                        : plan.math == MmaMath::SplitTF32 ? Residuals::TF32
                                                          : Residuals::None;
  return tile::BatchAttr::get(
      loc.getContext(), plan.element,
      {plan.groups, plan.left.size, plan.right.size, plan.lanes},
      {plan.left.tiles, plan.right.tiles},
      {plan.left.warps, plan.right.warps, plan.laneWarps}, plan.batchStep,
      plan.chunkBytes, atom, residuals, plan.batchLast);
}

/// An array of the gradient's sizes.
unsigned GradientKernels::enterWeights(TileKernel &kernel, Value array) {
  StepArray found = getFusedArray(kernel.host, array);
  return kernel.enter(kernel.makeView(
      found.base, getArraySizes(kernel.host, array), found.strides));
}

/// Of a kernel that stores the gradient.
BoxArguments GradientKernels::enterTarget(TileKernel &kernel) {
  BoxArguments target;
  Scale alpha = getAlpha(gradient), beta = getBeta(gradient);
  target.init = enterWeights(kernel, gradient.getInit());
  if (!alpha.isOne())
    target.alpha = kernel.enter(alpha);
  if (beta.isZero())
    return target;
  target.beta = kernel.enter(beta);
  target.addend = gradient.getAddend()
                      ? enterWeights(kernel, gradient.getAddend())
                      : target.init;
  return target;
}

/// Sums of all pieces, each of `sizes`, on the host.
Value GradientKernels::makePieces(TileKernel &kernel, ArrayRef<int64_t> sizes) {
  SmallVector<Int> all{pieces};
  all.append(sizes.begin(), sizes.end());
  return kernel.makeView(workspace, all, /*strides=*/{}, sumType);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void GradientKernels::buildProducts() {
  TileKernel kernel(source.builder, loc, plan.element);
  OpBuilder &b = kernel.builder;
  tile::BatchAttr batch = getBatch();
  auto enterSide = [&](Value array, const tile::BatchSide &side) {
    SmallVector<Int> sizes{rows, plan.groups * side.size * plan.lanes};
    if (plan.batchLast)
      std::swap(sizes[0], sizes[1]);
    StepArray found = getFusedArray(kernel.host, array);
    return kernel.enter(kernel.makeView(found.base, sizes, found.strides));
  };
  unsigned left = enterSide(gradient.getGrad(), plan.left);
  unsigned right = enterSide(gradient.getInput(), plan.right);
  int64_t sumBytes = getElementBytes(sumType);
  int64_t bytes = plan.elementBytes;
  BoxArguments target;
  if (!workspace) {
    target = enterTarget(kernel);
  } else if (plan.hasThreadOrder()) {
    target.init = kernel.enter(makePieces(kernel, plan.getSumsPerPiece()));
    bytes = 16;
  } else {
    target.init = kernel.enter(makePieces(kernel, batch.getSizes()));
    bytes = sumBytes * plan.getNeighbours(sumBytes);
  }
  unsigned positions = kernel.enter(host.materialize(rowsPerPiece, 64));
  Int tiles = host.mul(pieces, plan.getTiles());
  unsigned count = kernel.enter(host.materialize(host.truncate(tiles), 32));
  kernel.begin(
      source.gpuModule, name,
      tile::KernelAttr::get(b.getContext(), plan.getThreads(), plan.ctasPerSM));
  auto slot = tile::BufferType::get(plan.getStageBytes() / plan.elementBytes,
                                    plan.element);
  Value ring =
      tile::AllocOp::create(b, loc, tile::RingType::get(plan.stages, slot));
  auto type = tile::FragmentType::get(
      {1, plan.getRows(plan.left), plan.getRows(plan.right), plan.getLanes()},
      sumType);
  kernel.forTiles(kernel.getArgument(count), [&](Value tile) {
    Value sums = tile::ContractBatchOp::create(
        b, loc, type, kernel.getArgument(left), kernel.getArgument(right), tile,
        kernel.getArgument(positions), ring, batch);
    kernel.store(target, sums, /*boxes=*/Value(), tile, bytes);
  });
  kernel.launch(tiles);
}

/// A thread per weight, or several, as the plan says. The order does not depend
/// on anything but that and sizes, so the result is the same bit for bit every
/// time.
void GradientKernels::buildTotals() {
  TileKernel kernel(source.builder, loc, plan.element);
  OpBuilder &b = kernel.builder;
  int64_t groups = plan.sharesGroups ? plan.groups : 1;
  int64_t lanes = plan.sharesLanes ? plan.lanes : 1;
  int64_t weights = plan.getSumsPerPiece() / (groups * lanes);
  unsigned sums = kernel.enter(makePieces(kernel, {groups, weights, lanes}));
  BoxArguments target = enterTarget(kernel);
  int64_t tiles = llvm::divideCeil(weights, kSumThreads / plan.sumThreads);
  Value hostTiles = host.materialize(tiles, 64);
  unsigned count = kernel.enter(hostTiles);
  kernel.begin(source.gpuModule, (name + "_sum").str(),
               tile::KernelAttr::get(b.getContext(), kSumThreads,
                                     /*ctasPerSM=*/4));
  auto type = tile::FragmentType::get({1, 1}, sumType);
  kernel.forTiles(kernel.getArgument(count), [&](Value tile) {
    Value totals = tile::AddPiecesOp::create(
        b, loc, type, kernel.getArgument(sums), tile, plan.sumThreads,
        plan.sumLoads, plan.hasThreadOrder() ? getBatch() : tile::BatchAttr());
    kernel.store(target, totals, /*boxes=*/Value(), tile, plan.elementBytes);
  });
  kernel.launch(hostTiles);
}

void GradientKernels::build() {
  cutBatch();
  buildProducts();
  if (workspace)
    buildTotals();
}

LogicalResult kron::tileGradient(const TileSource &source,
                                 KsmmGradOp gradient) {
  if (!hasGradientKernels(gradient))
    return gradient.emitOpError("cannot become a GPU kernel: run "
                                "--kron-decompose=target=cuda first");
  SmallVector<GPUPlanAttr> plans = getCompletePlans(gradient);
  if (plans.size() != 1)
    return failure();
  FailureOr<SparseGradPlan> plan =
      takePlan(gradient, GPUKernel::Gradient,
               readSparseGradPlan(gradient, plans.front()),
               [&](const SparseGradPlan &read) {
                 return getSparseGradMachineReason(read, source.machine);
               });
  if (failed(plan))
    return failure();
  source.builder.setInsertionPoint(gradient);
  GradientKernels(source, gradient, *plan).build();
  return success();
}
