//===- SparseGradKernel.cpp - Builds the kernels of a gradient ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparseGradKernel.h"
#include "SparseGradSum.h"
#include "WgmmaSums.h"
#include "kron/CodeGen/GPU/SparseGrad.h"
#include "kron/Machine/GPUTiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

SparseGradKernel::SparseGradKernel(Emitter &host, gpu::GPUModuleOp gpuModule,
                                   StringRef name, const SparseGradPlan &plan,
                                   const SparseGradOperands &operands,
                                   const SparseGradPieces &pieces,
                                   const GPUMachine &machine)
    : host(host), plan(plan), arrays(operands), pieces(pieces),
      accumulator(getAccumulatorType(plan.element)),
      k(host, gpuModule, name, plan.element), ops(k, accumulator),
      products(k, plan.math, machine.hasWideDMMA),
      math(k, products, plan.element, plan.has16BitResiduals) {}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Addresses and strides that are only known at run time, in bytes and or'ed
/// together.
Int SparseGradKernel::getAlignment() {
  Int bits = 0;
  for (const StageArray *array : {&arrays.left, &arrays.right}) {
    Value address = LLVM::PtrToIntOp::create(
        host.builder, host.loc, host.builder.getI64Type(), array->base);
    bits = host.bitOr(bits, Int(address));
    for (Int stride : array->strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, plan.elementBytes));
  }
  return bits;
}

/// Where sums go: to the gradient, scaled, or to the workspace as they are.
void SparseGradKernel::enterTarget() {
  if (pieces.sums) {
    int64_t row = plan.right.size * plan.lanes;
    output = {k.enter(pieces.sums),
              {plan.left.size * row, row, plan.lanes, 1},
              accumulator};
    return;
  }
  StageArray init = k.enter(arrays.init);
  output = {init.base, init.strides, plan.element};
  alpha = ops.enter(arrays.alpha, arrays.alpha.isOne());
  beta = ops.enter(arrays.beta, arrays.beta.isZero());
  if (beta.value) {
    StageArray array = k.enter(arrays.addend);
    addend = {array.base, array.strides, plan.element};
  }
}

void SparseGradKernel::enterAll() {
  auto enterSide = [&](const SparseGradSide &side, const StageArray &array) {
    return SparseGradOperand{&side,
                             k.enter(array.base),
                             k.enter(array.strides[arrays.batchDim]),
                             k.enter(array.strides[1 - arrays.batchDim]),
                             0,
                             0};
  };
  left = enterSide(plan.left, arrays.left);
  right = enterSide(plan.right, arrays.right);
  right.offset = plan.getSideBytes(plan.left);
  enterTarget();
  rows = k.enter(arrays.rows);
  rowsPerPiece = k.enter(pieces.rowsPerPiece);
  Int bits = host.bitAnd(getAlignment(), 15);
  isAligned = k.equal(k.truncate(k.enter(bits)), 0);

  std::tie(left.warp, right.warp, laneWarp) =
      getSparseGradWarp(k, plan, k.warpId());
  group = k.floorDiv(k.laneId(), 4);
  quad = k.bitAnd(k.laneId(), 3);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SparseGradTile kron::getSparseGradTile(KernelBuilder &k,
                                       const SparseGradPlan &plan, Int index) {
  SparseGradTile tile;
  tile.index = index;
  Int rest = index;
  auto take = [&](int64_t count) {
    Int position = k.rem(rest, count);
    rest = k.floorDiv(rest, count);
    return position;
  };
  tile.right =
      k.mul(take(plan.getBlocks(plan.right)), plan.getRows(plan.right));
  tile.left = k.mul(take(plan.getBlocks(plan.left)), plan.getRows(plan.left));
  tile.lane = k.mul(take(plan.getLaneBlocks()), plan.getLanes());
  tile.group = take(plan.groups);
  tile.piece = rest;
  return tile;
}

/// Tiles of the same piece of the batch are worked on at the same time, so that
/// what they share comes from memory once.
SparseGradTile SparseGradKernel::getTile(Int index) {
  SparseGradTile tile = getSparseGradTile(k, plan, index);
  tile.firstRow = k.mul(k.extend(tile.piece), rowsPerPiece);
  tile.rows = k.truncate(k.min(rowsPerPiece, k.sub(rows, tile.firstRow)));
  return tile;
}

/// The tile's first row j or k.
Int SparseGradKernel::getFirst(const SparseGradOperand &operand,
                               const SparseGradTile &tile) {
  return operand.side == &plan.left ? tile.left : tile.right;
}

/// Global memory at a tile's first position of the batch and first feature.
Value SparseGradKernel::offsetTile(const SparseGradOperand &operand,
                                   const SparseGradTile &tile) {
  Int row = k.add(k.mul(k.extend(tile.group), operand.side->size),
                  k.extend(getFirst(operand, tile)));
  Int feature = k.add(k.mul(row, plan.lanes), k.extend(tile.lane));
  Int offset = k.add(k.mul(feature, operand.feature),
                     k.mul(tile.firstRow, operand.batch));
  return k.offsetElements(operand.base, plan.element, offset);
}

void SparseGradKernel::emitTile(const SparseGradTile &tile) {
  Int steps = k.floorDiv(k.add(tile.rows, plan.batchStep - 1), plan.batchStep);
  // Nobody reads the pipeline stages any more, and no copy is under way to
  // them.
  k.waitCopies(0);
  k.barrier();
  k.rolledLoop(0, plan.stages - 1, 1,
               [&](Int step) { issue(tile, step, steps); });
  if (plan.usesPackedOperands)
    prepareStep(0);
  int64_t count = plan.getSums();
  SmallVector<Value> values =
      math.sumSteps(steps, count, plan.hasPartialSums,
                    [&](Int step, MutableArrayRef<MmaC> sums) {
                      auto issueNext = [&] {
                        issue(tile, k.add(step, plan.stages - 1), steps);
                      };
                      if (plan.usesPackedOperands)
                        return multiplyPacked(sums, step, issueNext);
                      k.waitCopies(plan.stages - 2);
                      if (plan.usesWgmma)
                        fenceProxy(k);
                      k.barrier();
                      if (plan.usesWgmma)
                        startProducts(sums, getSlot(step));
                      issueNext();
                      if (plan.usesWgmma)
                        waitForSums(k, sums);
                      else
                        multiplyStep(sums, getSlot(step));
                    });
  SmallVector<MmaC> sums(count);
  for (auto [index, value] : llvm::enumerate(values))
    sums[index / 4][index % 4] = value;
  store(sums, tile);
}

void SparseGradKernel::emit() {
  enterAll();
  stageOffset = k.allocateShared(plan.getSharedBytes(), 128);
  packedOffset = stageOffset + plan.stages * plan.getStageBytes();
  Int hostTiles = host.mul(pieces.count, plan.getTiles());
  Int tiles = k.truncate(k.enter(hostTiles));
  k.rolledLoop(k.blockId(), tiles, k.gridSize(),
               [&](Int index) { emitTile(getTile(index)); });
  LaunchShape shape;
  shape.threads = plan.getThreads();
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, hostTiles);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// Positions of the batch, on the host.
static Int getRows(Emitter &host, KsmmGradOp gradient) {
  unsigned dim = gradient.getBatchDim();
  for (Value array : {gradient.getInput(), gradient.getGrad()})
    if (auto type = cast<MemRefType>(array.getType()); !type.isDynamicDim(dim))
      return type.getDimSize(dim);
  Value index = arith::ConstantIndexOp::create(host.builder, host.loc, dim);
  Value size =
      memref::DimOp::create(host.builder, host.loc, gradient.getInput(), index);
  return Int(arith::IndexCastOp::create(host.builder, host.loc,
                                        host.builder.getI64Type(), size));
}

static SparseGradOperands getOperands(Emitter &host, KsmmGradOp gradient) {
  SparseGradOperands operands;
  operands.left = getFusedArray(host, gradient.getGrad());
  operands.right = getFusedArray(host, gradient.getInput());
  operands.batchDim = gradient.getBatchDim();
  operands.rows = getRows(host, gradient);
  operands.init = getFusedArray(host, gradient.getInit());
  operands.alpha = getAlpha(gradient);
  operands.beta = getBeta(gradient);
  if (!operands.beta.isZero())
    operands.addend = gradient.getAddend()
                          ? getFusedArray(host, gradient.getAddend())
                          : operands.init;
  return operands;
}

/// Cuts the batch into as many pieces as the plan wants, each of some K steps.
static SparseGradPieces cutBatch(Emitter &host, ModuleOp module,
                                 const SparseGradPlan &plan, Int rows) {
  auto alignTo = [&](Int number, int64_t unit) {
    return host.mul(host.ceilDiv(number, unit), unit);
  };
  SparseGradPieces pieces;
  int64_t least = llvm::alignTo(kGPUForms.leastPiece, plan.batchStep);
  pieces.rowsPerPiece =
      alignTo(host.ceilDiv(rows, plan.pieces), plan.batchStep);
  // At least `least`, and no less than all where there is one piece.
  auto most = [&](Int number, int64_t other) -> Int {
    return host.sub(host.add(number, other), host.min(number, other));
  };
  pieces.rowsPerPiece = most(pieces.rowsPerPiece, least);
  if (plan.pieces == 1 && !plan.isShared())
    return pieces;
  pieces.count =
      most(host.floorDiv(host.add(rows, host.sub(pieces.rowsPerPiece, 1)),
                         pieces.rowsPerPiece),
           1);
  int64_t bytes = getElementBytes(getAccumulatorType(plan.element));
  Int all = host.mul(pieces.count, plan.getSumsPerPiece() * bytes);
  pieces.sums = buildCudaWorkspace(host.builder, host.loc, module,
                                   host.materialize(all, 64));
  return pieces;
}

LogicalResult kron::emitGradient(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 KsmmGradOp gradient, GPUPlanAttr attribute,
                                 const GPUMachine &machine) {
  std::variant<SparseGradPlan, std::string> found =
      readSparseGradPlan(gradient, attribute);
  if (auto *reason = std::get_if<std::string>(&found))
    return gradient.emitOpError("cannot become a gradient kernel: ") << *reason;
  auto &plan = std::get<SparseGradPlan>(found);
  if (std::optional<std::string> reason =
          getSparseGradMachineReason(plan, machine))
    return gradient.emitOpError("cannot become a gradient kernel: ") << *reason;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(gradient);
  Emitter host(builder, gradient.getLoc(), plan.element);
  SparseGradOperands operands = getOperands(host, gradient);
  SparseGradPieces pieces = cutBatch(
      host, gradient->getParentOfType<ModuleOp>(), plan, operands.rows);
  StringRef name = gradient->getParentOfType<func::FuncOp>().getSymName();
  SparseGradKernel(host, gpuModule, name, plan, operands, pieces, machine)
      .emit();
  if (pieces.sums)
    emitSumOfPieces(host, gpuModule, name, plan, operands, pieces);
  return success();
}
