//===- Simt.cpp - General GPU code of a kron.fused --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel of persistent CTAs. For each of its tiles a CTA
//
//   copies the tile from global memory into buffer 0, as accumulators
//   per step, reads one buffer and writes the other: a thread computes a block
//     of neighbouring results q of one fibre
//   copies the last buffer to global memory, with alpha, beta and Z
//
// Copies walk global memory in the order of its strides. Tiles at the end of an
// axis compute on what happens to be in the buffer beyond the end and do not
// store it.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Simt.h"
#include "KernelEpilogue.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/SimtPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Loads that a thread has in flight when it copies.
static constexpr int64_t kCopiesInFlight = 8;
/// Steps along p that are unrolled.
static constexpr int64_t kUnroll = 8;

namespace {

class SimtEmitter {
public:
  SimtEmitter(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
              const SimtLaunch &launch, int64_t threads,
              const FusedOperands &operands, const GlobalArray &input,
              const GlobalArray &output, bool isLast)
      : host(host), fused(fused), launch(launch), threads(threads),
        operands(operands),
        accumulator(getAccumulatorType(getElementType(fused.getInit()))),
        storage(getStorageType(accumulator)),
        accumulatorBytes(getElementBytes(accumulator)),
        kernel(host, gpuModule, getKernelBaseName(fused), storage),
        ops(kernel, accumulator), isLast(isLast), hostInput(input),
        hostOutput(output), epilogue(kernel, ops) {}

  void emit();

private:
  void enterAll();
  Int getCount(Emitter &emitter, ArrayRef<Int> sizes, unsigned axis);
  void placeTile(Int tile);
  void emitFactors();
  void emitTile();
  void emitCopyIn();
  void emitCopyOut();
  void emitStage(unsigned index);
  void emitBlock(unsigned index, Int fibre, Int blockNumber);
  SmallVector<Scalar> loadFactors(const SimtStage &stage, Value base, Int p,
                                  Int q);
  Value getFactorBase(unsigned index, const Positions &positions);

  Value isInside(const Positions &positions);
  Value getBuffer(unsigned index, const Positions &positions,
                  ArrayRef<int64_t> extents);

  Emitter &host;
  FusedOp fused;
  const SimtLaunch &launch;
  int64_t threads;
  const FusedOperands &operands;
  Type accumulator, storage;
  int64_t accumulatorBytes;
  KernelBuilder kernel;
  ScalarOps ops;
  bool isLast;
  GlobalArray hostInput, hostOutput;

  // Inside of the kernel.
  SmallVector<Int> sizes;
  GlobalArray input, output, addend, bias, residual;
  SmallVector<StageFactor> factors;
  KernelScale alpha, beta;
  KernelEpilogue epilogue;
  /// Of the current tile.
  Positions starts;
  Value inputBase, outputBase, addendBase, biasBase, residualBase;
};

} // namespace

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Whether a position of the tile is within the array; null if it always is.
Value SimtEmitter::isInside(const Positions &positions) {
  Value inside;
  for (unsigned axis = 0; axis < positions.size(); ++axis) {
    int64_t extent = launch.extents.front()[axis];
    if (launch.contracted[axis] ||
        (sizes[axis].isConstant() && sizes[axis].getConstant() % extent == 0))
      continue;
    Int left = kernel.sub(sizes[axis], starts[axis]);
    inside = kernel.both(inside, kernel.less(positions[axis], left));
  }
  return inside;
}

Value SimtEmitter::getBuffer(unsigned index, const Positions &positions,
                             ArrayRef<int64_t> extents) {
  Int offset = 0;
  for (auto [position, stride] :
       llvm::zip(positions, getBufferStrides(extents)))
    offset = kernel.add(offset, kernel.mul(position, stride));
  return kernel.offsetElements(kernel.shared(launch.bufferOffsets[index % 2]),
                               storage, offset);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Tiles along an axis that is not contracted.
Int SimtEmitter::getCount(Emitter &emitter, ArrayRef<Int> sizes,
                          unsigned axis) {
  return launch.contracted[axis]
             ? Int(1)
             : emitter.ceilDiv(sizes[axis], launch.extents.front()[axis]);
}

void SimtEmitter::enterAll() {
  for (auto [axis, size] : llvm::enumerate(launch.after))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? kernel.enter(operands.sizes[axis])
                        : Int(size));
  input = {kernel.enter(hostInput.array), hostInput.element};
  output = {kernel.enter(hostOutput.array), hostOutput.element};
  for (const SimtStage &stage : launch.stages)
    factors.push_back(
        kernel.enter(getFusedFactor(host, fused, stage.product).array));
  if (!isLast)
    return;
  alpha = ops.enter(operands.alpha, operands.alpha.isOne());
  beta = ops.enter(operands.beta, operands.beta.isZero());
  if (beta.value)
    addend = {kernel.enter(operands.addend), hostOutput.element};
  epilogue.enter(operands.epilogue, hostOutput.element);
  if (epilogue.hasBias)
    bias = {kernel.enter(operands.epilogue->bias), hostOutput.element};
  if (epilogue.hasResidual)
    residual = {kernel.enter(operands.epilogue->residual), hostOutput.element};
}

/// Finds where tile number `tile` starts in every array.
void SimtEmitter::placeTile(Int tile) {
  starts.assign(sizes.size(), 0);
  Int rest = tile;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (launch.contracted[axis])
      continue;
    Int count = getCount(kernel, sizes, axis);
    starts[axis] = kernel.mul(kernel.extend(kernel.rem(rest, count)),
                              launch.extents.front()[axis]);
    rest = kernel.floorDiv(rest, count);
  }
  auto place = [&](const GlobalArray &global) {
    Int offset = 0;
    for (auto [start, stride] : llvm::zip(starts, global.array.strides))
      offset = kernel.add(offset, kernel.mul(start, stride));
    return kernel.offsetElements(global.array.base,
                                 getStorageType(global.element), offset);
  };
  inputBase = place(input);
  outputBase = place(output);
  if (addend.array.base)
    addendBase = place(addend);
  if (bias.array.base)
    biasBase = place(bias);
  if (residual.array.base)
    residualBase = place(residual);
}

void SimtEmitter::emitCopyIn() {
  ArrayRef<int64_t> extents = launch.extents.front();
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(input.array.strides);
  forItems(
      kernel, threads, kernel.threadId(), total, kCopiesInFlight,
      [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
        SmallVector<Scalar> values;
        SmallVector<Value> targets;
        for (Int item : items) {
          Positions positions = decodeItem(kernel, item, extents, order);
          Int offset =
              getTileOffset(kernel, positions, extents, input.array.strides);
          // Beyond the end, the first element is read instead.
          if (Value inside = isInside(positions)) {
            Value number = kernel.materialize(offset);
            offset =
                kernel.select(inside, number,
                              kernel.materialize(
                                  0, number.getType().getIntOrFloatBitWidth()));
          }
          Value from = kernel.offsetElements(
              inputBase, getStorageType(input.element), offset);
          values.push_back(ops.load(input.element, from, CacheHint::ReadOnly));
          targets.push_back(getBuffer(0, positions, extents));
        }
        for (unsigned index = 0; index < items.size(); ++index)
          kernel.ifThen(valid[index], [&] {
            ops.store(values[index], accumulator, targets[index]);
          });
      });
}

void SimtEmitter::emitCopyOut() {
  ArrayRef<int64_t> extents = launch.extents.back();
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(output.array.strides);
  Type outputStorage = getStorageType(output.element);
  forItems(
      kernel, threads, kernel.threadId(), total, kCopiesInFlight / 2,
      [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
        for (unsigned number = 0; number < items.size(); ++number) {
          Positions positions =
              decodeItem(kernel, items[number], extents, order);
          Value source = getBuffer(launch.stages.size(), positions, extents);
          Scalar value = ops.load(accumulator, source);
          kernel.ifThen(kernel.both(valid[number], isInside(positions)), [&] {
            auto load = [&](const GlobalArray &from, Value base) {
              Int offset =
                  getTileOffset(kernel, positions, extents, from.array.strides);
              return ops.load(from.element, kernel.offsetElements(
                                                base, outputStorage, offset));
            };
            Scalar result = ops.scaledSum(
                alpha, beta, value, [&] { return load(addend, addendBase); });
            if (isLast)
              result = epilogue.apply(
                  result, [&] { return load(bias, biasBase); },
                  [&] { return load(residual, residualBase); });
            Int offset =
                getTileOffset(kernel, positions, extents, output.array.strides);
            ops.store(result, output.element,
                      kernel.offsetElements(outputBase, outputStorage, offset));
          });
        }
      });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static Type getFactorElement(const SimtStage &stage) {
  ModeProductOp product = stage.product;
  return getElementType(product.getFactor());
}

/// Copies the factors that fit into shared memory, results beyond the last one
/// as 0.
void SimtEmitter::emitFactors() {
  bool any = false;
  for (unsigned index = 0; index < launch.stages.size(); ++index) {
    const SimtStage &stage = launch.stages[index];
    if (stage.factorOffset < 0)
      continue;
    any = true;
    const StageFactor &factor = factors[index];
    Type element = getFactorElement(stage);
    int64_t padded = stage.getPaddedResults();
    SmallVector<int64_t> extents{stage.sizeK, padded};
    forItems(
        kernel, threads, kernel.threadId(), stage.sizeK * padded,
        kCopiesInFlight, [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
          for (unsigned number = 0; number < items.size(); ++number) {
            Int item = items[number];
            Positions positions = decodeItem(kernel, item, extents, {1, 0});
            Int q = padded == stage.sizeN
                        ? positions[1]
                        : kernel.min(positions[1], stage.sizeN - 1);
            Int offset = getTileOffset(kernel, {positions[0], q}, extents,
                                       {factor.strideK, factor.resultStride});
            Scalar value =
                ops.load(element,
                         kernel.offsetElements(factor.base,
                                               getStorageType(element), offset),
                         CacheHint::ReadOnly);
            Value target = kernel.offsetElements(
                kernel.shared(stage.factorOffset), storage, item);
            kernel.ifThen(valid[number],
                          [&] { ops.store(value, accumulator, target); });
          }
        });
  }
  if (any)
    kernel.barrier();
}

/// The factor for the fibre at `positions`: moved along the axes that it varies
/// on. Positions beyond the end of an axis take the last one's.
Value SimtEmitter::getFactorBase(unsigned index, const Positions &positions) {
  const SimtStage &stage = launch.stages[index];
  if (stage.factorOffset >= 0)
    return kernel.shared(stage.factorOffset);
  const StageFactor &factor = factors[index];
  Int offset = 0;
  for (unsigned axis = 0; axis < positions.size(); ++axis) {
    if (factor.strides[axis].is(0))
      continue;
    Int position = kernel.add(kernel.extend(positions[axis]), starts[axis]);
    if (!launch.contracted[axis])
      position = kernel.min(position, kernel.sub(sizes[axis], 1));
    offset = kernel.add(offset, kernel.mul(position, factor.strides[axis]));
  }
  return kernel.offsetElements(factor.base,
                               getStorageType(getFactorElement(stage)), offset);
}

/// The block of factor elements (p, q ..).
SmallVector<Scalar> SimtEmitter::loadFactors(const SimtStage &stage, Value base,
                                             Int p, Int q) {
  if (stage.factorOffset >= 0) {
    Int offset = kernel.add(kernel.mul(p, stage.getPaddedResults()), q);
    return ops.loadMany(stage.block,
                        kernel.offsetElements(base, storage, offset));
  }
  const StageFactor &factor = factors[&stage - launch.stages.data()];
  Type element = getFactorElement(stage);
  SmallVector<int64_t> extents{stage.sizeK, stage.sizeN};
  SmallVector<Scalar> values;
  for (int64_t index = 0; index < stage.block; ++index) {
    Int result = kernel.add(q, index);
    if (stage.sizeN % stage.block != 0)
      result = kernel.min(result, stage.sizeN - 1);
    Int offset = getTileOffset(kernel, {p, result}, extents,
                               {factor.strideK, factor.resultStride});
    Value from = kernel.offsetElements(base, getStorageType(element), offset);
    values.push_back(ops.load(element, from, CacheHint::ReadOnly));
  }
  return values;
}

/// Computes one block of results of the fibre whose index among all fibres of
/// the tile is `fibre`.
void SimtEmitter::emitBlock(unsigned index, Int fibre, Int blockNumber) {
  const SimtStage &stage = launch.stages[index];
  ModeProductOp product = stage.product;
  ArrayRef<int64_t> from = launch.extents[index],
                    to = launch.extents[index + 1];
  SmallVector<int64_t> fibres(to);
  fibres[stage.axis] = 1;
  SmallVector<unsigned> order;
  for (unsigned axis = fibres.size(); axis-- > 0;)
    order.push_back(axis);
  Positions positions = decodeItem(kernel, fibre, fibres, order);
  Value source = getBuffer(index, positions, from);
  int64_t sourceStride = getBufferStrides(from)[stage.axis];
  Value factorBase = getFactorBase(index, positions);
  Int q = kernel.mul(blockNumber, stage.block);

  SmallVector<Scalar> sums(stage.block, ops.zero());
  auto emitStep = [&](Int p) {
    Scalar x = ops.load(
        accumulator,
        kernel.offsetElements(source, storage, kernel.mul(p, sourceStride)));
    if (product.getConjInput())
      x = ops.conjugate(x);
    SmallVector<Scalar> row = loadFactors(stage, factorBase, p, q);
    for (auto [sum, f] : llvm::zip(sums, row))
      sum = ops.fma(x, product.getConjFactor() ? ops.conjugate(f) : f, sum);
  };
  auto pack = [&] {
    SmallVector<Value> values;
    for (const Scalar &sum : sums) {
      values.push_back(sum.re);
      if (sum.im)
        values.push_back(sum.im);
    }
    return values;
  };
  auto unpack = [&](ValueRange values) {
    unsigned next = 0;
    for (Scalar &sum : sums) {
      sum.re = values[next++];
      if (sum.im)
        sum.im = values[next++];
    }
  };
  int64_t whole = stage.sizeK / kUnroll * kUnroll;
  unpack(kernel.rolledLoop(0, whole, kUnroll, pack(),
                           [&](Int first, ValueRange carried) {
                             unpack(carried);
                             for (int64_t step = 0; step < kUnroll; ++step)
                               emitStep(kernel.add(first, step));
                             return pack();
                           }));
  for (int64_t p = whole; p < stage.sizeK; ++p)
    emitStep(p);

  positions[stage.axis] = q;
  Value target = getBuffer(index + 1, positions, to);
  int64_t targetStride = getBufferStrides(to)[stage.axis];
  for (int64_t number = 0; number < stage.block; ++number) {
    Int result = kernel.add(q, number);
    Value exists;
    if (stage.sizeN % stage.block != 0)
      exists = kernel.lessOrNull(result, stage.sizeN);
    kernel.ifThen(exists, [&] {
      ops.store(sums[number], accumulator,
                kernel.offsetElements(target, storage, number * targetStride));
    });
  }
}

void SimtEmitter::emitStage(unsigned index) {
  const SimtStage &stage = launch.stages[index];
  int64_t fibres = 1;
  for (auto [axis, extent] : llvm::enumerate(launch.extents[index + 1]))
    if (axis != stage.axis)
      fibres *= extent;
  int64_t blocks = llvm::divideCeil(stage.sizeN, stage.block);
  // All fibres of one block first: lanes of a warp share the factor.
  forItems(kernel, threads, kernel.threadId(), fibres * blocks, 1,
           [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
             kernel.ifThen(valid.front(), [&] {
               if (blocks == 1)
                 emitBlock(index, items.front(), 0);
               else
                 emitBlock(index, kernel.rem(items.front(), fibres),
                           kernel.floorDiv(items.front(), fibres));
             });
           });
}

void SimtEmitter::emitTile() {
  emitCopyIn();
  kernel.barrier();
  for (unsigned index = 0; index < launch.stages.size(); ++index) {
    emitStage(index);
    kernel.barrier();
  }
  emitCopyOut();
  kernel.barrier();
}

void SimtEmitter::emit() {
  enterAll();
  emitFactors();
  Int count = 1, hostCount = 1;
  SmallVector<Int> hostSizes;
  for (auto [axis, size] : llvm::enumerate(launch.after))
    hostSizes.push_back(ShapedType::isDynamic(size) ? operands.sizes[axis]
                                                    : Int(size));
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    count = kernel.mul(count, getCount(kernel, sizes, axis));
    hostCount = host.mul(hostCount, getCount(host, hostSizes, axis));
  }
  kernel.forTiles(count, [&](Int tile) {
    placeTile(tile);
    emitTile();
  });
  LaunchShape shape;
  shape.threads = threads;
  shape.ctasPerSM = launch.ctasPerSM;
  shape.sharedBytes = launch.sharedBytes;
  kernel.launch(shape, hostCount);
}

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

/// A contiguous array of accumulators in the launch's workspace.
static GlobalArray allocateBetween(Emitter &host, FusedOp fused,
                                   const FusedOperands &operands,
                                   ArrayRef<int64_t> shape) {
  Type accumulator = getAccumulatorType(getElementType(fused.getInit()));
  GlobalArray between{{nullptr, SmallVector<Int>(shape.size(), 0)},
                      accumulator};
  Int stride = 1;
  for (unsigned axis = shape.size(); axis-- > 0;) {
    between.array.strides[axis] = stride;
    stride = host.mul(stride, ShapedType::isDynamic(shape[axis])
                                  ? operands.sizes[axis]
                                  : Int(shape[axis]));
  }
  Value bytes =
      host.materialize(host.mul(stride, getElementBytes(accumulator)), 64);
  between.array.base = buildCudaWorkspace(
      host.builder, host.loc, fused->getParentOfType<ModuleOp>(), bytes);
  return between;
}

LogicalResult kron::emitSimtKernel(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   GPUPlanAttr plan,
                                   const GPUMachine &machine) {
  auto fail = [&] {
    return fused.emitOpError("cannot become a simt kernel: ");
  };
  std::variant<SimtPlan, std::string> read = readSimtPlan(fused, plan);
  auto *own = std::get_if<SimtPlan>(&read);
  if (!own)
    return fail() << std::get<std::string>(read);
  for (const SimtLaunch &launch : own->launches)
    if (auto reason = getSharedMemoryReason(launch.sharedBytes,
                                            /*ctasPerSM=*/1, machine))
      return fail() << *reason;
  Type accumulator = getAccumulatorType(getElementType(fused.getInit()));
  Emitter host(builder, fused.getLoc(), getStorageType(accumulator));
  FusedOperands operands = getFusedOperands(host, fused);
  GlobalArray source{operands.input, getElementType(fused.getInputs().front())};
  for (const SimtLaunch &launch : own->launches) {
    bool isLast = &launch == &own->launches.back();
    GlobalArray target{operands.init, getElementType(fused.getInit())};
    if (!isLast)
      target = allocateBetween(host, fused, operands, launch.after);
    SimtEmitter(host, gpuModule, fused, launch, own->threads, operands, source,
                target, isLast)
        .emit();
    source = target;
  }
  return success();
}
