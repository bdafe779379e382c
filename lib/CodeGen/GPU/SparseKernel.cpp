//===- SparseKernel.cpp - Tiles of a sparse factor's kernel ---------------===//
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
  if (plan.swapsOperands)
    return llvm::divideCeil(plan.swappedRows, plan.getRows());
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

/// Puts the data and the factor, which is `array`, in each other's place.
void SparseKernel::swapSides(const StepFactor &array) {
  alignedFactor = factor = input;
  input = getFactor(array);
  for (SparseArray *result : {&targets.output, &targets.addend})
    std::swap(result->row, result->strideK);
  Int bits = host.bitOr(
      getAlignment(),
      Int(LLVM::PtrToIntOp::create(host.builder, host.loc,
                                   host.builder.getI64Type(), array.base)));
  for (Int stride : {array.resultStride, array.strideK})
    if (!stride.isConstant())
      bits = host.bitOr(bits, host.mul(stride, plan.elementBytes));
  Int low = host.bitAnd(bits, kSparseChunkBytes - 1);
  isAligned = isFactorAligned = k.equal(k.enter(low), 0);
}

/// The factor, and what decides how it and other arrays are copied. One whose
/// strides are only known at run time is copied in whole chunks if it turns out
/// to be row-major; only that is tested apart from the other arrays.
void SparseKernel::enterFactor() {
  StepFactor array = getFusedFactor(host, fused, product).array;
  if (plan.swapsOperands)
    return swapSides(array);
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
      plan.swapsOperands
          ? Int(plan.swappedRows)
          : k.enter(plan.rowAxis >= 0 ? operands.sizes[plan.rowAxis] : Int(1));
  rowBlocks = k.truncate(k.enter(getHostRowBlocks()));
  for (unsigned axis : plan.freeAxes)
    freeSizes.push_back(k.truncate(k.enter(operands.sizes[axis])));
  enterFactor();

  thread = SparseThread::get(k, plan);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The tile of part number `part` of the factor and block number `block` of the
/// rows.
SparseTile SparseKernel::getTile(Int part, Int block) {
  SparseTile tile = getSparseTile(k, plan, freeSizes, part, block);
  if (plan.shiftsResults())
    tile.result = k.sub(tile.result, stores.getShift(tile));
  return tile;
}

/// Tile number `number` of the segment that this CTA is at.
SparseTile SparseKernel::getTile(Int number) {
  if (plan.isChained())
    return getTile(number, chainBlock);
  if (plan.keepsFactor)
    return getTile(runPart, k.add(k.add(runStart, thread.warpGroup),
                                  k.mul(number, plan.warpGroups)));
  Int index = k.add(k.blockId(), k.mul(number, k.gridSize()));
  // What is large is read by tiles that follow each other.
  if (plan.swapsOperands)
    return getTile(k.floorDiv(index, rowBlocks), k.rem(index, rowBlocks));
  return getTile(k.rem(index, plan.getTilesPerRows()),
                 k.floorDiv(index, plan.getTilesPerRows()));
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

/// Makes chunks of the data at `slot`, of K step `indexK` of the tile of step
/// number `step`; where they are.
Int SparseKernel::orderData(Int step, Int slot, Int indexK) {
  Int to = k.add(k.mul(thread.warpGroup, plan.getOrderedBytes()), orderOffset);
  SparseTile tile = getTile(k.floorDiv(step, plan.stepsK));
  SparseCopy copy = copies.getCopy(input, tile, k.mul(indexK, plan.stepK), slot,
                                   /*isFactor=*/false, targets.rows);
  choose(isAligned,
         [&](bool isAligned) { copies.makeChunks(copy, to, isAligned); });
  waitWarpGroup();
  return to;
}

/// All K steps of the tile whose first one is `firstStep` of the segment; their
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
        if (plan.copiesWhole(/*isFactor=*/false))
          slot = orderData(step, slot, indexK);
        if (!plan.usesWgmma)
          return multiplier.multiplyStep(sums, locateStep(slot, indexK));
        if (plan.preparesAhead())
          return multiplyAhead(sums, step);
        auto release = [&] {
          if (plan.stages > 1)
            return;
          waitWarpGroup();
          issue(k.add(step, 1));
        };
        multiplier.multiplyGroups(sums, slot, getPrepared(indexK), release,
                                  [](int64_t) {});
      });
}

/// All tiles of a segment: of those that need the same part of the factor, or
/// of this CTA.
void SparseKernel::emitSegment() {
  startRun();
  emitTilesOfSegment();
}

/// Starts the copies of the first K steps.
void SparseKernel::startRun() {
  if (plan.preparesAhead()) {
    // A place that comes free once this is prepared.
    issueFactor(0, k.add(getSlot(plan.stages - 1), plan.getCopiedBytes()));
    k.commitCopies();
  }
  if (plan.hasRing())
    k.rolledLoop(0, std::max<int64_t>(plan.stages - 1, 1), 1,
                 [&](Int step) { issue(step); });
  if (plan.preparesAhead())
    prepareFirst();
}

void SparseKernel::emitTilesOfSegment() {
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
    if (plan.isChained())
      keptTile = k.mul(number, plan.stepsK * plan.getFactorBytes());
    SmallVector<Value> values =
        emitSteps(k.mul(k.floorDiv(first, plan.tileWarps), plan.stepsK));
    SmallVector<MmaC> sums(plan.getSums());
    for (auto [index, value] : llvm::enumerate(values))
      sums[index / 4][index % 4] = value;
    store(sums, tile);
  });
}

Int SparseKernel::divideUp(Int count, Int by) {
  return k.floorDiv(k.add(count, k.sub(by, 1)), by);
}

/// A segment of `count` blocks of rows from `start` on that need part number
/// `part` of the factor, which is kept for them.
void SparseKernel::emitSegment(Int part, Int start, Int count) {
  runPart = part;
  runStart = start;
  tileCount = count;
  if (plan.warpGroups > 1)
    tileCount = divideUp(k.sub(tileCount, thread.warpGroup), plan.warpGroups);
  keepFactor(getTile(runPart, runStart));
  startRun();
  // Of one warp group, the first K step waits for what was prefetched before
  // it, too.
  if (plan.warpGroups > 1 && startsEarly())
    finishKeeping(plan.stages - 1);
  emitTilesOfSegment();
}

/// Tiles of the same rows are worked on at the same time, by all CTAs, so that
/// the data come from memory once. Where the factor is kept, a CTA takes some
/// blocks of rows before it goes on to another part of the factor: all of its
/// own, unless that were more than the second-level cache holds of all CTAs'.
void SparseKernel::emitTiles() {
  Int block = k.blockId(), grid = k.gridSize();
  Int parts = plan.getTilesPerRows();
  Int tiles = k.mul(rowBlocks, parts);
  if (!plan.keepsFactor) {
    tileCount = divideUp(k.sub(tiles, block), grid);
    return emitSegment();
  }
  // As many segments for each CTA as that takes, all equally long, and no more
  // of them than CTAs have.
  Int rounds = 1;
  if (plan.keptTiles)
    rounds = divideUp(divideUp(tiles, grid), plan.keptTiles);
  auto getLength = [&](Int rounds) {
    Int segments = k.floorDiv(k.mul(grid, rounds), parts);
    // At least one.
    segments = k.add(segments, k.sub(1, k.min(segments, 1)));
    return divideUp(rowBlocks, segments);
  };
  Int length = getLength(rounds);
  // More and shorter segments where that shares tiles out better by more than
  // it takes to read the factor again.
  Int shorter = getLength(k.add(rounds, 1));
  Value isBetter =
      k.less(k.add(k.mul(shorter, k.add(rounds, 1)), 1), k.mul(length, rounds));
  length =
      k.select(isBetter, k.materialize(shorter, 32), k.materialize(length, 32));
  Int segments = divideUp(rowBlocks, length);
  k.rolledLoop(block, k.mul(segments, parts), grid, [&](Int segment) {
    Int start = k.mul(k.floorDiv(segment, parts), length);
    emitSegment(k.rem(segment, parts), start,
                k.min(length, k.sub(rowBlocks, start)));
  });
}

void SparseKernel::emit() {
  enterAll();
  keptOffset = k.allocateShared(plan.getKeptBytes(), 128);
  stageOffset = k.allocateShared(plan.getRingBytes(), 128);
  stores.sharedOffset = k.allocateShared(plan.getStoredBytes());
  orderOffset = k.allocateShared(plan.warpGroups * plan.getOrderedBytes());
  emitTiles();
  LaunchShape shape;
  shape.threads = plan.getThreads();
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, host.mul(getHostRowBlocks(), plan.getTilesPerRows()));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

LogicalResult kron::emitSparseKernel(OpBuilder &builder,
                                     gpu::GPUModuleOp gpuModule, FusedOp fused,
                                     GPUPlanAttr attr,
                                     const GPUMachine &machine) {
  auto planOrReason = readSparsePlan(fused, attr);
  auto emitError = [&](const Twine &reason) {
    return fused.emitOpError("cannot become a sparse kernel: ") << reason;
  };
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return emitError(*reason);
  const auto &plan = std::get<SparsePlan>(planOrReason);
  if (plan.streamsByWarps())
    return emitError("its factor is not kept: run --kron-tile first");
  if (plan.usesWgmma && !machine.hasWgmma)
    return emitError("the machine has no wgmma");
  if (std::optional<std::string> reason =
          getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine))
    return emitError(*reason);
  Emitter host(builder, fused.getLoc(), plan.element);
  KernelBuilder kernel(host, gpuModule, getKernelBaseName(fused), plan.element);
  SparseKernel(kernel, fused, fused.getModeProducts().front(), plan, machine)
      .emit();
  return success();
}

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
