//===- SmallGroups.cpp - Kernels of sparse factors of small groups --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SmallGroups.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Sparse.h"

using namespace mlir;
using namespace mlir::kron;

SmallGroupsKernel::SmallGroupsKernel(KernelBuilder &kernel, FusedOp fused,
                                     const SmallGroupsPlan &plan)
    : k(kernel), plan(plan), accumulator(getAccumulatorType(plan.element)),
      ops(k, accumulator), host(kernel.host),
      operands(getFusedOperands(host, fused)) {
  ModeProductOp product = fused.getModeProducts().front();
  rows = k.enter(operands.sizes[plan.rowAxis]);
  input = k.enter(operands.input.base);
  output = k.enter(operands.init.base);
  inputStride = k.enter(operands.input.strides[plan.rowAxis]);
  outputStride = k.enter(operands.init.strides[plan.rowAxis]);
  StageFactor array = getFusedFactor(host, fused, product).array;
  factor = k.enter(array);
  groupStride = k.enter(array.strides[plan.groupAxis]);
  alpha = ops.enter(operands.alpha, operands.alpha.isOne());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Int SmallGroupsKernel::getRowBlocks() {
  Int last = k.add(rows, plan.getRows() - 1);
  return k.truncate(k.floorDiv(last, plan.getRows()));
}

Value SmallGroupsKernel::getInputRow(Int row) {
  Int existing = k.extend(k.min(row, k.sub(rows, 1)));
  return k.offsetElements(input, plan.element, k.mul(existing, inputStride));
}

Value SmallGroupsKernel::getOutputRow(Int row) {
  return k.offsetElements(output, plan.element,
                          k.mul(k.extend(row), outputStride));
}

SmallVector<Value> SmallGroupsKernel::widen(ArrayRef<Value> values) {
  SmallVector<Value> widened;
  for (Value vector : values)
    for (Value value : k.unpack(vector))
      widened.push_back(
          plan.element == accumulator
              ? value
              : arith::ExtFOp::create(k.builder, k.loc, accumulator, value));
  return widened;
}

void SmallGroupsKernel::storeChunk(ArrayRef<Value> sums, Value to) {
  SmallVector<Value> results;
  for (Value sum : sums)
    results.push_back(
        ops.scaledSum(alpha, /*beta=*/{}, {sum, nullptr}, nullptr).re);
  Value chunk = k.makeVector(results);
  if (plan.element != accumulator)
    chunk = arith::TruncFOp::create(
        k.builder, k.loc, VectorType::get({plan.chunk}, plan.element), chunk);
  k.store(chunk, to, CacheHint::Streaming);
}

/// Each CTA takes a block of results in every so-many-th block of rows: those
/// of all CTAs at a time follow each other in memory.
void SmallGroupsKernel::emit() {
  int64_t blocks = plan.getBlocks();
  // As many groups of CTAs as there are, but at least one.
  Int rowGroups = k.floorDiv(k.gridSize(), blocks);
  rowGroups = k.add(rowGroups, k.sub(1, k.min(rowGroups, 1)));
  k.forTiles(k.mul(rowGroups, blocks), [&](Int tile) {
    emitBlock(k.rem(tile, blocks), k.floorDiv(tile, blocks), rowGroups);
  });
  LaunchShape shape;
  shape.threads = plan.threads;
  shape.ctasPerSM = plan.ctasPerSM;
  Int rowBlocks = host.ceilDiv(operands.sizes[plan.rowAxis], plan.getRows());
  k.launch(shape, host.mul(rowBlocks, blocks));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// What `plan` says of `fused`; an error there if it is no plan for it.
static FailureOr<SmallGroupsPlan> readPlan(FusedOp fused, GPUPlanAttr plan) {
  auto read = readSmallGroupsPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&read))
    return fused.emitOpError("cannot become a small_groups kernel: ")
           << *reason;
  return std::get<SmallGroupsPlan>(read);
}

/// Of what is no plan for `fused`, there is nothing to test: an error follows.
Value kron::buildSmallGroupsTest(OpBuilder &builder, FusedOp fused,
                                 GPUPlanAttr plan) {
  constexpr int64_t kAccessBytes = 16;
  Type element = getElementType(fused.getInit());
  Emitter host(builder, fused.getLoc(), element);
  auto problem = describeSmallGroups(fused);
  if (std::holds_alternative<std::string>(problem))
    return host.equal(Int(0), 0);
  unsigned rowAxis = std::get<SmallGroupsProblem>(problem).rowAxis;
  FusedOperands operands = getFusedOperands(host, fused);
  Value factor =
      getFusedFactor(host, fused, fused.getModeProducts().front()).array.base;
  Int bits = 0;
  for (Value base : {operands.input.base, operands.init.base, factor})
    bits =
        host.bitOr(bits, Int(LLVM::PtrToIntOp::create(
                             builder, host.loc, builder.getI64Type(), base)));
  for (Int stride :
       {operands.input.strides[rowAxis], operands.init.strides[rowAxis]})
    if (!stride.isConstant())
      bits = host.bitOr(bits, host.mul(stride, getElementBytes(element)));
  return host.equal(host.bitAnd(bits, kAccessBytes - 1), 0);
}

LogicalResult kron::emitSmallGroups(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, FusedOp fused,
                                    GPUPlanAttr attr, const GPUMachine &) {
  FailureOr<SmallGroupsPlan> plan = readPlan(fused, attr);
  if (failed(plan))
    return failure();
  Emitter host(builder, fused.getLoc(), plan->element);
  KernelBuilder kernel(host, gpuModule, getKernelBaseName(fused),
                       plan->element);
  auto create =
      plan->usesMma ? createSmallGroupsOfWarps : createSmallGroupsOfThreads;
  create(kernel, fused, *plan)->emit();
  return success();
}
