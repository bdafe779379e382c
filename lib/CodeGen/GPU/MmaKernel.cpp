//===- MmaKernel.cpp - Builds a kernel of mma.sync ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MmaKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Mma.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

MmaKernel::MmaKernel(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
                     const MmaPlan &plan, const GPUMachine &machine)
    : host(host), fused(fused), loc(fused.getLoc()), plan(plan),
      operands(getFusedOperands(host, fused)),
      kernel(host, gpuModule, getKernelBaseName(fused), plan.type),
      products(kernel, plan.math, machine.hasWideDMMA) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Int MmaKernel::getStride(const StageArray &array, ArrayRef<unsigned> axes) {
  return axes.empty() ? Int(0) : array.strides[axes.back()];
}

void MmaKernel::enterOperands() {
  input = kernel.enter(operands.input);
  output = kernel.enter(operands.init);
  if (operands.addend.base)
    addend = kernel.enter(operands.addend);
  auto enterScale = [&](const Scale &scale) {
    return kernel.enter(scale.materialize(host.builder, loc));
  };
  if (!operands.alpha.isOne())
    alpha = enterScale(operands.alpha);
  if (operands.addend.base)
    beta = enterScale(operands.beta);
  for (const MmaDim &dim : plan.dims)
    if (dim.product)
      factors[dim.product] =
          kernel.enter(getFusedFactor(host, fused, dim.product).array);

  // Sizes of the grid's axes, and tiles along them.
  Int total = 1;
  for (const MmaGridAxis &axis : plan.grid) {
    Int size = 1;
    for (unsigned fusedAxis : axis.axes)
      size = host.mul(size, operands.sizes[fusedAxis]);
    Int count = host.ceilDiv(size, axis.step);
    total = host.mul(total, count);
    gridSizes.push_back(kernel.enter(size));
    gridCounts.push_back(kernel.enter(host.truncate(count)));
  }
  tiles = total;

  // Offsets within a tile may need 64 bits.
  for (const StageArray &array : {input, output, addend}) {
    if (!array.base)
      continue;
    double span = 0;
    for (const MmaDim &dim : plan.dims) {
      Int stride = getStride(array, dim.axes);
      int64_t last = std::max(dim.sizeK, dim.sizeN);
      span += stride.isConstant() ? double(stride.getConstant()) * last : 1e30;
    }
    wideOffsets |= span * 8 >= double(1u << 31);
  }
}

/// Whether addresses and strides of `arrays` that are only known now are
/// multiples of `bytes`; so is `size` elements if it is not constant.
Value MmaKernel::buildAlignmentTest(ArrayRef<const StageArray *> arrays,
                                    Type type, int64_t bytes, Int size) {
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  Int bits = 0;
  auto addNumber = [&](Int number) {
    if (!number.isConstant())
      bits = kernel.bitOr(bits, kernel.mul(number, elementBytes));
  };
  for (const StageArray *array : arrays) {
    if (!array->base)
      continue;
    Value address = LLVM::PtrToIntOp::create(
        kernel.builder, loc, kernel.builder.getI64Type(), array->base);
    bits = kernel.bitOr(bits, Int(address));
    for (Int stride : array->strides)
      addNumber(stride);
  }
  addNumber(size);
  return kernel.equal(kernel.bitAnd(bits, bytes - 1), 0);
}

void MmaKernel::testAlignment() {
  int64_t copyBytes =
      getCopyElements() * (plan.inputType.getIntOrFloatBitWidth() / 8);
  canCopyChunks =
      buildAlignmentTest({&input}, plan.inputType, copyBytes, Int(0));
  // Whole chunks exist or do not.
  Int size = 0;
  for (auto [axis, gridSize] : llvm::zip(plan.grid, gridSizes))
    if (axis.dim + 1 == int(plan.dims.size()))
      size = gridSize;
  canStoreChunks =
      buildAlignmentTest({&output, &addend}, plan.outputType, 16, size);
}

Int MmaKernel::scale(Int position, Int stride) {
  return kernel.mul(wideOffsets ? kernel.extend(position) : position, stride);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Whether a tile may have fewer positions of `dim` than there is room for.
bool MmaKernel::mayExceed(unsigned dim) const {
  for (auto [axis, size] : llvm::zip(plan.grid, gridSizes))
    if (axis.dim == int(dim) && axis.step > 1)
      return !size.isConstant() || size.getConstant() % axis.step != 0;
  return false;
}

MmaGlobalTile MmaKernel::locate(const StageArray &array, Type type, Int tile) {
  MmaGlobalTile result{array.base, type, {}, {}};
  for (const MmaDim &dim : plan.dims) {
    result.strides.push_back(getStride(array, dim.axes));
    result.limits.push_back(dim.sizeN);
  }
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  Int rest = tile;
  for (unsigned index = plan.grid.size(); index-- > 0;) {
    const MmaGridAxis &axis = plan.grid[index];
    Int number = rest;
    if (index > 0) {
      number = kernel.rem(rest, gridCounts[index]);
      rest = kernel.floorDiv(rest, gridCounts[index]);
    }
    Int position = kernel.mul(kernel.extend(number), axis.step);
    if (axis.dim >= 0 && mayExceed(axis.dim))
      result.limits[axis.dim] = kernel.truncate(kernel.min(
          kernel.sub(kernel.extend(gridSizes[index]), position), axis.step));
    // The axes that are walked as one, innermost first.
    if (!gridCounts[index].is(1))
      result.base = kernel.offsetBytes(
          result.base,
          kernel.mul(kernel.mul(position, getStride(array, axis.axes)), bytes));
  }
  return result;
}

MmaGlobalTile MmaKernel::locateInput(Int tile) {
  MmaGlobalTile result = locate(input, plan.inputType, tile);
  if (plan.cluster == 1)
    return result;
  const MmaStep &step = plan.steps.back();
  Int position = kernel.mul(kernel.clusterRank(), 8 * getOwnTiles(step));
  int64_t bytes = plan.inputType.getIntOrFloatBitWidth() / 8;
  result.base = kernel.offsetBytes(
      result.base,
      kernel.mul(scale(position, result.strides[step.dim]), bytes));
  return result;
}

Int MmaKernel::getFirstTile() {
  return kernel.floorDiv(kernel.blockId(), plan.cluster);
}

Int MmaKernel::getTileStep() {
  return kernel.floorDiv(kernel.gridSize(), plan.cluster);
}

void MmaKernel::emitBarrier(bool ofCluster) {
  if (ofCluster && plan.cluster > 1)
    return kernel.clusterBarrier();
  kernel.barrier();
}

void MmaKernel::emitSteps(Int tile, Int stageBase) {
  MmaGlobalTile target = locate(output, plan.outputType, tile);
  if (addend.base)
    addendTile = locate(addend, plan.outputType, tile);
  MmaBuffer from{&plan.inputLayout, plan.inputType, stageBase};
  MmaBuffer work = from;
  if (plan.workLayout)
    work = {&*plan.workLayout, plan.type, plan.getInputBytes()};
  auto load = [&](const MmaStep &step) {
    if (plan.keepsFactors || !step.fitsRegisters)
      return Factors();
    return loadFactors(step, 0, getKTiles(step));
  };
  Factors loaded = load(plan.steps.front());
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    bool last = index + 1 == plan.steps.size();
    const Factors &stepFactors =
        plan.keepsFactors ? keptFactors[index] : loaded;
    const MmaBuffer *to = last ? nullptr : &work;
    StepArrays arrays{step, stepFactors, from, to, last ? &target : nullptr};
    switch (step.kind) {
    case MmaStep::Kind::Columns:
      emitColumns(arrays);
      break;
    case MmaStep::Kind::Fibres:
      emitFibres(arrays);
      break;
    case MmaStep::Kind::Chain:
      emitChain(arrays);
      break;
    }
    if (!last) {
      // Its factors arrive while warps wait for each other.
      const MmaStep &next = plan.steps[index + 1];
      bool nextIsLast = index + 2 == plan.steps.size();
      loaded = load(next);
      localStep = nullptr;
      if (index == 0 && isLocal(next, work, nextIsLast ? nullptr : &work,
                                nextIsLast ? &target : nullptr)) {
        localStep = &next;
        syncWarpGroup(next);
      } else {
        emitBarrier(/*ofCluster=*/nextIsLast);
      }
    }
    from = work;
  }
}

/// The ring: slot `s` of iteration i is refilled once all warps have left
/// iteration i, which the barrier of the next one tells.
void MmaKernel::emitTiles() {
  int64_t slotBytes = plan.inputLayout.bytes;
  int64_t ahead = std::max<int64_t>(plan.stages - 1, 1);
  Int end = kernel.enter(host.truncate(tiles));
  if (plan.stream)
    return emitStreamedTiles(end);
  auto load = [&](Int tile, Int slotBase) {
    kernel.ifThen(kernel.less(tile, end), [&] {
      emitLoad(tile, {&plan.inputLayout, plan.inputType, slotBase});
    });
    kernel.commitCopies();
  };
  Int tile = kernel.blockId();
  for (int64_t slot = 0; slot < ahead; ++slot)
    load(kernel.add(tile, kernel.mul(kernel.gridSize(), slot)),
         slot * slotBytes);

  Value zero = kernel.materialize(0, 32);
  kernel.rolledLoop(
      kernel.blockId(), end, kernel.gridSize(), zero,
      [&](Int number, ValueRange carried) -> SmallVector<Value> {
        Int slotBase(carried[0]);
        Int next = kernel.add(number, kernel.mul(kernel.gridSize(), ahead));
        kernel.waitCopies(ahead - 1);
        kernel.barrier();
        if (plan.stages == 1) {
          emitSteps(number, 0);
          kernel.barrier();
          load(next, 0);
          return {carried[0]};
        }
        // The slot before this one is free.
        auto wrap = [&](Int base, int64_t limit, int64_t add, int64_t wrapped) {
          Value wraps = kernel.equal(base, limit);
          return Int(
              kernel.select(wraps, kernel.materialize(wrapped, 32),
                            kernel.materialize(kernel.add(base, add), 32)));
        };
        int64_t lastBase = (plan.stages - 1) * slotBytes;
        load(next, wrap(slotBase, 0, -slotBytes, lastBase));
        emitSteps(number, slotBase);
        return {kernel.materialize(wrap(slotBase, lastBase, slotBytes, 0), 32)};
      });
}

/// `forPieces` fills a slot again as soon as its piece has been read.
void MmaKernel::emitStreamedTiles(Int end) {
  const MmaStream &stream = *plan.stream;
  const MmaStep &step = plan.steps.front();
  int64_t pieceBytes = plan.inputLayout.bytes;
  Int warpGroup = kernel.floorDiv(warp, step.warps);
  Int ring = kernel.mul(warpGroup, stream.slots * pieceBytes);
  MmaGlobalTile firstTile = locateInput(getFirstTile());
  for (int64_t slot = 0; slot < stream.slots; ++slot) {
    emitPiece(firstTile, slot,
              {&plan.inputLayout, plan.inputType,
               kernel.add(ring, slot * pieceBytes)});
    kernel.commitCopies();
  }
  kernel.rolledLoop(getFirstTile(), end, getTileStep(),
                    kernel.materialize(ring, 32),
                    [&](Int number, ValueRange carried) -> SmallVector<Value> {
                      Int next = kernel.add(number, getTileStep());
                      thisTile = locateInput(number);
                      nextTile = locateInput(next);
                      nextTileExists = kernel.less(next, end);
                      pieceBase = Int(carried[0]);
                      emitSteps(number, pieceBase);
                      // The first step of the next tile replaces what the last
                      // one reads.
                      emitBarrier(/*ofCluster=*/true);
                      return {kernel.materialize(pieceBase, 32)};
                    });
}

void MmaKernel::emit() {
  enterOperands();
  kernel.allocateShared(plan.sharedBytes, 1024);
  warp = kernel.warpId();
  laneGroup = kernel.floorDiv(kernel.laneId(), 4);
  laneSlot = kernel.bitAnd(kernel.laneId(), 3);
  testAlignment();
  if (plan.keepsFactors)
    for (const MmaStep &step : plan.steps)
      keptFactors.push_back(loadFactors(step, 0, getKTiles(step)));
  emitTiles();
  LaunchShape shape;
  shape.threads = plan.threads;
  shape.ctasPerSM = plan.ctasPerSM;
  shape.cluster = plan.cluster;
  shape.sharedBytes = plan.sharedBytes;
  kernel.launch(shape, tiles);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// TileLayout::swizzle of an index that may not be known.
static Int swizzle(Emitter &emitter, const TileLayout &layout, Int index) {
  if (index.isConstant())
    return layout.swizzle(index.getConstant());
  Int result = index;
  for (TileLayout::Swizzle term : layout.swizzles) {
    Int moved = emitter.floorDiv(index, int64_t(1) << (term.from - term.to));
    moved = emitter.bitAnd(moved, int64_t(1) << term.to);
    result = emitter.bitXor(result, moved);
  }
  return result;
}

Int MmaKernel::getOffset(const MmaBuffer &buffer, ArrayRef<Int> positions,
                         Int laneIndex) {
  const TileLayout &layout = *buffer.layout;
  Int index = 0;
  for (auto [position, stride] : llvm::zip_equal(positions, layout.strides))
    index = kernel.add(index, kernel.mul(position, stride));
  // The lane's part is the same for all items.
  Int item = swizzle(kernel, layout, index);
  Int lane = swizzle(kernel, layout, laneIndex);
  Int sum = layout.swizzles.empty() ? kernel.add(item, lane)
                                    : kernel.bitXor(item, lane);
  return kernel.add(kernel.mul(sum, layout.elementBytes), buffer.base);
}

Value MmaKernel::getPointer(const MmaBuffer &buffer, Int offset) {
  return buffer.remote ? kernel.remoteShared(offset) : kernel.shared(offset);
}

Value MmaKernel::getAddress(const MmaBuffer &buffer, Int offset,
                            int64_t index) {
  const TileLayout &layout = *buffer.layout;
  int64_t bytes = layout.swizzle(index) * layout.elementBytes;
  // Only the number of the bank is subject to swizzling.
  int64_t low = layout.swizzles.empty() ? 0 : bytes % 128;
  Value address = getPointer(buffer, kernel.bitXor(offset, low));
  return kernel.offsetBytes(address, bytes - low);
}

Value MmaKernel::toComputed(Value value) {
  if (value.getType() == plan.type)
    return value;
  return LLVM::FPExtOp::create(kernel.builder, loc, plan.type, value);
}

SmallVector<Value> MmaKernel::loadShared(const MmaBuffer &buffer, Int offset,
                                         int64_t index, int64_t count,
                                         Value valid, Int other) {
  Value address = getAddress(buffer, offset, index);
  if (valid)
    address = kernel.select(valid, address, getPointer(buffer, other));
  Type type =
      count == 1 ? buffer.type : Type(VectorType::get({count}, buffer.type));
  Value loaded = kernel.load(type, address);
  SmallVector<Value> values = kernel.unpack(loaded);
  for (Value &value : values) {
    value = toComputed(value);
    if (valid)
      value = kernel.select(valid, value, products.getZero());
  }
  return values;
}

LogicalResult kron::emitMmaKernel(OpBuilder &builder,
                                  gpu::GPUModuleOp gpuModule, FusedOp fused,
                                  GPUPlanAttr plan, const GPUMachine &machine) {
  std::variant<MmaPlan, std::string> read = readMmaPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&read))
    return fused.emitOpError("cannot become a mma kernel: ") << *reason;
  const MmaPlan &complete = std::get<MmaPlan>(read);
  if (auto reason = getMmaMachineReason(complete, machine))
    return fused.emitOpError("cannot become a mma kernel: ") << *reason;
  OpBuilder::InsertionGuard guard(builder);
  Emitter host(builder, fused.getLoc(), complete.type);
  MmaKernel(host, gpuModule, fused, complete, machine).emit();
  return success();
}
