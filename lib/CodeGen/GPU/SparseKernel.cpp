//===- SparseKernel.cpp - A step of a chain of sparse factors -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

/// The elements of `array` if they are 8-bit values; null otherwise.
static Type getFloat8(Value array) {
  Type element = getElementType(array);
  return isFloat8(element) ? element : Type();
}

SparseKernel::SparseKernel(KernelBuilder &kernel, FusedOp fused,
                           ModeProductOp product, const SparsePlan &plan,
                           const GPUMachine &machine)
    : k(kernel), host(kernel.host), fused(fused), product(product), plan(plan),
      accumulator(getAccumulatorType(plan.element)), ops(k, accumulator),
      products(k, plan.math, machine.hasWideDMMA),
      math(k, products, plan.isOf8() ? k.builder.getF16Type() : plan.element,
           plan.has16BitResiduals(), machine.computeCapability >= 89),
      operands(getFusedOperands(host, fused)), copies(k, math, plan, thread),
      multiplier(k, math, plan, thread, getFloat8(product.getInput()),
                 getFloat8(product.getFactor())),
      targets(k, ops), stores(k, ops, plan, thread, multiplier, targets) {}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

SparseArray SparseKernel::getArray(const StepArray &array) {
  SparseArray result;
  result.base = k.enter(array.base);
  result.element = array.element;
  result.strideK = k.enter(array.strides[plan.axis]);
  if (plan.rowAxis >= 0)
    result.row = k.enter(array.strides[plan.rowAxis]);
  if (plan.laneAxis >= 0)
    result.lane = k.enter(array.strides[plan.laneAxis]);
  for (unsigned axis :
       llvm::concat<const unsigned>(plan.groupAxes, plan.freeAxes))
    result.groups.push_back(k.enter(array.strides[axis]));
  return result;
}

SparseArray SparseKernel::getFactor(const StepFactor &array) {
  SparseArray result;
  result.base = k.enter(array.base);
  result.element = array.element;
  result.row = k.enter(array.resultStride);
  result.strideK = k.enter(array.strideK);
  if (plan.laneAxis >= 0)
    result.lane = k.enter(array.strides[plan.laneAxis]);
  for (unsigned axis : plan.groupAxes)
    result.groups.push_back(k.enter(array.strides[axis]));
  result.groups.append(plan.freeAxes.size(), 0);
  return result;
}

/// Blocks of rows at all positions of free axes, by the host.
Int SparseKernel::getHostRowBlocks() {
  if (plan.rowAxis < 0)
    return 1;
  Int blocks = host.ceilDiv(operands.sizes[plan.rowAxis], plan.getRows());
  for (unsigned axis : plan.freeAxes)
    blocks = host.mul(blocks, operands.sizes[axis]);
  return blocks;
}

/// Makes strides of `array`, the factor of `product`, that are only known at
/// run time those of a row-major array; the bits in which they differ, or'ed
/// together.
static Int assumeRowMajor(Emitter &host, ModeProductOp product,
                          StepFactor &array) {
  ArrayRef<int64_t> shape =
      cast<ShapedType>(product.getFactor().getType()).getShape();
  ArrayRef<int64_t> axes = product.getFactorDims();
  Int bits = 0;
  int64_t rowMajor = 1;
  for (unsigned dim = shape.size(); dim-- > 0; rowMajor *= shape[dim]) {
    Int &stride = axes[dim] == ModeProductOp::kContracted ? array.strideK
                  : axes[dim] == ModeProductOp::kResulting
                      ? array.resultStride
                      : array.strides[axes[dim]];
    if (shape[dim] == 1 || stride.isConstant())
      continue;
    bits = host.bitOr(bits, host.bitXor(stride, rowMajor));
    stride = rowMajor;
  }
  return bits;
}

/// Addresses and strides of arrays but the factor that are only known at run
/// time, in bytes and or'ed together. Strides of 8-bit types may be multiples
/// of 8.
Int SparseKernel::getAlignment() {
  Int bits = 0;
  auto add = [&](const StepArray &array) {
    Value address = LLVM::PtrToIntOp::create(
        host.builder, host.loc, host.builder.getI64Type(), array.base);
    bits = host.bitOr(bits, Int(address));
    int64_t bytes = std::max<int64_t>(getElementBytes(array.element), 2);
    for (Int stride : array.strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, bytes));
  };
  SmallVector<StepArray> arrays;
  if (!plan.readsShared)
    arrays.push_back(operands.input);
  if (!plan.writesShared)
    arrays.append({operands.init, operands.addend});
  if (!plan.writesShared && operands.epilogue)
    arrays.append({operands.epilogue->bias, operands.epilogue->residual});
  for (const StepArray &array : arrays)
    if (array.base)
      add(array);
  if (plan.storesAlongRows() && !operands.sizes[plan.rowAxis].isConstant())
    bits = host.bitOr(
        bits, host.mul(operands.sizes[plan.rowAxis], plan.elementBytes));
  return bits;
}

/// The factor, and what decides how it and other arrays are copied. One whose
/// strides are only known at run time is copied in whole chunks if it turns out
/// to be row-major; only that is tested apart from the other arrays.
void SparseKernel::enterFactor() {
  StepFactor array = getFusedFactor(host, fused, product).array;
  factor = getFactor(array);
  Int difference = assumeRowMajor(host, product, array);
  alignedFactor = getFactor(array);
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), array.base);
  Int bits = getAlignment();
  auto isZero = [&](Int bits) { return k.equal(k.enter(bits), 0); };
  auto getLow = [&](Int bits) {
    return host.bitAnd(bits, kSparseChunkBytes - 1);
  };
  if (difference.is(0)) {
    isAligned = isFactorAligned =
        isZero(getLow(host.bitOr(bits, Int(address))));
    return;
  }
  isAligned = isZero(getLow(bits));
  isFactorAligned = isZero(host.bitOr(difference, getLow(Int(address))));
}

void SparseKernel::enterAll() {
  if (!plan.readsShared)
    input = getArray(operands.input);
  if (!plan.writesShared) {
    if (!plan.leavesRows())
      targets.output = getArray(operands.init);
    targets.alpha = ops.enter(operands.alpha, operands.alpha.isOne());
    targets.beta = ops.enter(operands.beta, operands.beta.isZero());
    if (targets.beta.value)
      targets.addend = getArray(operands.addend);
    targets.epilogue.enter(operands.epilogue, plan.element);
    if (targets.epilogue.hasBias)
      targets.bias = getArray(operands.epilogue->bias);
    if (targets.epilogue.hasResidual)
      targets.residual = getArray(operands.epilogue->residual);
  }

  targets.rows =
      k.enter(plan.rowAxis >= 0 ? operands.sizes[plan.rowAxis] : Int(1));
  rowBlocks = k.truncate(k.enter(getHostRowBlocks()));
  for (unsigned axis : plan.freeAxes)
    freeSizes.push_back(k.truncate(k.enter(operands.sizes[axis])));
  enterFactor();

  thread = SparseThread::get(k, plan);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The tile of part number `number` of the factor, of the block of rows that
/// this CTA is at.
SparseTile SparseKernel::getTile(Int number) {
  return getSparseTile(k, plan, freeSizes, number, chainBlock);
}

/// Builds `body` for both answers to `condition`.
void SparseKernel::choose(Value condition, function_ref<void(bool)> body) {
  k.choose(
      condition, [&] { body(true); }, [&] { body(false); });
}

/// A barrier of the threads that share tiles.
void SparseKernel::waitWarpGroup() {
  if (plan.warpGroups == 1)
    return k.barrier();
  k.namedBarrier(k.add(thread.warpGroup, 1), plan.getWarpGroupThreads());
}

/// Waits until K step number `step` has arrived, and nobody reads the place
/// that comes free.
void SparseKernel::waitStep(Int step) {
  auto wait = [&](int64_t others) {
    k.waitCopies(std::max<int64_t>(plan.stages - 2, 0) + others);
  };
  if (copiesBetween)
    k.choose(
        k.less(step, plan.stages - 1), [&] { wait(copiesBetween); },
        [&] { wait(0); });
  else
    wait(0);
  waitWarpGroup();
}

/// Where K step `indexK` of a tile has its data, which may be in the pipeline
/// stage at `slot`, and its factor.
SparseStepPlace SparseKernel::locateStep(Int slot, Int indexK) {
  SparseStepPlace place;
  place.factor =
      plan.keepsFactor
          ? k.add(k.add(k.mul(indexK, plan.getFactorBytes()), keptTile),
                  keptOffset)
          : k.add(slot, plan.getCopiedBytes());
  place.data = plan.readsShared ? dataOffset : slot;
  place.region = dataRegion;
  place.indexK = indexK;
  return place;
}

/// All K steps of the tile whose first one is `firstStep` of the block; their
/// sums.
SmallVector<Value> SparseKernel::emitSteps(Int firstStep) {
  return math.sumSteps(
      plan.stepsK, plan.getSums(), plan.hasPartialSums,
      [&](Int indexK, MutableArrayRef<MmaC> sums) {
        Int step = k.add(firstStep, indexK);
        if (plan.hasRing()) {
          waitStep(step);
          if (plan.stages > 1)
            issue(k.add(step, plan.stages - 1));
        }
        Int slot = getSlot(step);
        multiplier.multiplyStep(sums, locateStep(slot, indexK));
      });
}

/// Starts the copies of the first K steps.
void SparseKernel::startRun() {
  if (plan.hasRing())
    k.rolledLoop(0, std::max<int64_t>(plan.stages - 1, 1), 1,
                 [&](Int step) { issue(step); });
}

void SparseKernel::emitTiles() {
  // Warps that wait for copies together take as many tiles; others need not
  // know of each other.
  bool isFree = plan.tileWarps > 1 && !plan.hasRing();
  Int start = isFree ? thread.tileWarp : 0,
      offset = isFree ? 0 : thread.tileWarp;
  k.rolledLoop(start, tileCount, plan.tileWarps, [&](Int first) {
    Int number = k.add(first, offset);
    SparseTile tile = getTile(number);
    if (plan.readsShared)
      dataRegion = getRegion(tile);
    keptTile = k.mul(number, plan.stepsK * plan.getFactorBytes());
    SmallVector<Value> values =
        emitSteps(k.mul(k.floorDiv(first, plan.tileWarps), plan.stepsK));
    SmallVector<MmaC> sums(plan.getSums());
    for (auto [index, value] : llvm::enumerate(values))
      sums[index / 4][index % 4] = value;
    store(sums, tile);
  });
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Int kron::getSparseRows(Emitter &host, FusedOp fused, GPUPlanAttr plan) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  std::optional<unsigned> axis;
  if (plan.getKernel() == GPUKernel::Chain) {
    axis = getRegroupedRows(products);
  } else {
    auto problem = describeSparse(fused);
    auto *found = std::get_if<SparseProblem>(&problem);
    if (found && found->rowAxis >= 0)
      axis = found->rowAxis;
  }
  return axis ? getFusedOperands(host, fused).sizes[*axis] : Int(1);
}
