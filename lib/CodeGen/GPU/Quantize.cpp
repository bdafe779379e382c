//===- Quantize.cpp - GPU code of kron.quantize ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Some threads share a row, in chunks of 16 bytes that stay in registers
// between the two things that are done with them: the largest magnitude of the
// row, as bits of f32, and its elements times the inverse of its scale. Longer
// rows are read a second time, from a cache.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Plan/GPU/QuantizePlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = kGPUForms.quantizeThreads;
static constexpr int64_t kMostThreads = 1024;
static constexpr int64_t kChunkBytes = 16;
/// Chunks of a row that a thread takes, and the most that it keeps.
static constexpr int64_t kChunks = kGPUForms.quantizeChunks, kMostChunks = 8;

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

namespace {
class QuantizeKernel {
public:
  QuantizeKernel(Emitter &host, gpu::GPUModuleOp gpuModule, QuantizeOp op,
                 const GPUMachine &machine);

  void emit();

private:
  void chooseThreads();
  void enterAll();
  Int getRowOffset(const StageArray &array, Int row);
  Value loadChunk(Value row, Int chunk, bool isAligned);
  Value shareLargest(Value largest);
  void storeChunk(Value row, Int chunk, Value words, bool isAligned);
  void emitRow(Int row, bool isAligned);
  Value isInside(Int chunk);

  QuantizeOp op;
  Type element, byte, f32, i32;
  int64_t length, perChunk, elementBytes;
  KernelBuilder k;
  RowQuantizer math;
  Emitter &host;

  /// Threads of a row, rows of a CTA, and chunks of a thread.
  int64_t sharers = 1, rowsPerCTA = 1, chunks = 1;
  StageArray input, output, scales;
  SmallVector<Int> batchSizes;
  Int rows, hostRows;
  Value isAligned;
  /// This thread's place in its row, and its row in the CTA.
  Int place, rowInCTA;
  int64_t sharedOffset = 0;
};
} // namespace

QuantizeKernel::QuantizeKernel(Emitter &host, gpu::GPUModuleOp gpuModule,
                               QuantizeOp op, const GPUMachine &machine)
    : op(op), element(kron::getElementType(op.getInput())),
      byte(kron::getElementType(op.getInit())),
      f32(Float32Type::get(op.getContext())),
      i32(IntegerType::get(op.getContext(), 32)),
      length(
          getRowLength(cast<MemRefType>(op.getInput().getType()),
                       cast<ShapedType>(op.getScales().getType()).getRank())),
      elementBytes(getElementBytes(element)),
      k(host, gpuModule, "quantize", element),
      math(k, byte, machine.computeCapability >= 89), host(host) {
  perChunk = kChunkBytes / elementBytes;
}

/// As few threads as keep a row in registers; neighbouring rows fill the CTA.
void QuantizeKernel::chooseThreads() {
  int64_t all = llvm::divideCeil(std::max<int64_t>(length, 1), perChunk);
  int64_t wanted = all <= 32 ? all : llvm::divideCeil(all, kChunks);
  sharers = std::min<int64_t>(llvm::PowerOf2Ceil(wanted), kMostThreads);
  rowsPerCTA = std::max<int64_t>(kThreads / sharers, 1);
  chunks = llvm::divideCeil(all, sharers);
}

void QuantizeKernel::enterAll() {
  StageArray hostInput = getFusedArray(host, op.getInput());
  StageArray hostOutput = getFusedArray(host, op.getInit());
  input = k.enter(hostInput);
  output = k.enter(hostOutput);
  scales = k.enter(getFusedArray(host, op.getScales()));
  auto type = cast<MemRefType>(op.getScales().getType());
  hostRows = 1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Int size = type.getDimSize(dim);
    if (type.isDynamicDim(dim)) {
      OpBuilder &b = host.builder;
      Value index = arith::ConstantIndexOp::create(b, host.loc, dim);
      Value value = memref::DimOp::create(b, host.loc, op.getScales(), index);
      size =
          Int(arith::IndexCastOp::create(b, host.loc, b.getI64Type(), value));
    }
    batchSizes.push_back(k.enter(size));
    hostRows = host.mul(hostRows, size);
  }
  rows = k.enter(hostRows);
  // Bytes, or'ed together.
  Int bits = 0;
  auto add = [&](const StageArray &array, int64_t bytes, int64_t chunk) {
    int64_t scale = kChunkBytes / chunk;
    Value address = LLVM::PtrToIntOp::create(
        host.builder, host.loc, host.builder.getI64Type(), array.base);
    bits = host.bitOr(bits, host.mul(Int(address), scale));
    for (unsigned dim = 0; dim < batchSizes.size(); ++dim)
      bits = host.bitOr(bits, host.mul(array.strides[dim], bytes * scale));
  };
  add(hostInput, elementBytes, kChunkBytes);
  add(hostOutput, 1, perChunk);
  bits = host.bitAnd(bits, kChunkBytes - 1);
  isAligned = k.equal(k.truncate(k.enter(bits)), 0);
  place = k.rem(k.threadId(), sharers);
  rowInCTA = k.floorDiv(k.threadId(), sharers);
}

/// Elements from the array's first one to row number `row`.
Int QuantizeKernel::getRowOffset(const StageArray &array, Int row) {
  Int offset = 0, rest = row;
  for (unsigned dim = batchSizes.size(); dim-- > 0;) {
    Int position = dim == 0 ? rest : k.rem(rest, batchSizes[dim]);
    if (dim > 0)
      rest = k.floorDiv(rest, batchSizes[dim]);
    offset = k.add(offset, k.mul(k.extend(position), array.strides[dim]));
  }
  return offset;
}

/// Whether the row has chunk number `chunk`; null if it does.
Value QuantizeKernel::isInside(Int chunk) {
  int64_t all = llvm::divideCeil(length, perChunk);
  return all % sharers == 0 ? nullptr : k.less(chunk, all);
}

/// A chunk as four words, with zeros for what the row does not have.
Value QuantizeKernel::loadChunk(Value row, Int chunk, bool isAligned) {
  auto words = VectorType::get({4}, i32);
  Value from = k.offsetElements(row, element, k.mul(chunk, perChunk));
  if (isAligned)
    return k
        .ifElse(
            isInside(chunk), {words},
            [&]() -> SmallVector<Value> {
              return {k.load(words, from, CacheHint::ReadOnly)};
            },
            [&]() -> SmallVector<Value> { return {k.zero(words)}; })
        .front();
  SmallVector<Value> values;
  for (int64_t index = 0; index < perChunk; ++index) {
    Value exists = k.less(k.add(k.mul(chunk, perChunk), index), length);
    values.push_back(
        k.ifElse(
             exists, {element},
             [&]() -> SmallVector<Value> {
               return {k.load(element, k.offsetElements(from, element, index),
                              CacheHint::ReadOnly)};
             },
             [&]() -> SmallVector<Value> { return {k.zero(element)}; })
            .front());
  }
  return k.bitcast(k.makeVector(values), words);
}

/// The largest of all threads that share a row.
Value QuantizeKernel::shareLargest(Value largest) {
  largest = math.shareInWarp(largest, std::min<int64_t>(sharers, 32));
  if (sharers <= 32)
    return largest;
  int64_t warps = sharers / 32;
  auto getPlace = [&](Int warp) {
    return k.shared(k.add(k.mul(warp, 4), sharedOffset));
  };
  k.ifThen(k.equal(k.laneId(), 0),
           [&] { k.store(largest, getPlace(k.warpId())); });
  k.barrier();
  Int first = k.mul(rowInCTA, warps);
  for (int64_t warp = 0; warp < warps; ++warp)
    largest = math.max(largest, k.load(i32, getPlace(k.add(first, warp))));
  // Before the next rows' are written.
  k.barrier();
  return largest;
}

/// Stores words of four results each, one or two of them.
void QuantizeKernel::storeChunk(Value row, Int chunk, Value words,
                                bool isAligned) {
  Type i8 = k.builder.getI8Type();
  Value to = k.offsetElements(row, i8, k.mul(chunk, perChunk));
  if (isAligned)
    return k.ifThen(isInside(chunk),
                    [&] { k.store(words, to, CacheHint::Streaming); });
  SmallVector<Value> bytes =
      k.unpack(k.bitcast(words, VectorType::get({perChunk}, i8)));
  for (auto [index, value] : llvm::enumerate(bytes)) {
    Value exists =
        k.less(k.add(k.mul(chunk, perChunk), int64_t(index)), length);
    k.ifThen(exists, [&, index = index, value = value] {
      k.store(value, k.offsetElements(to, i8, int64_t(index)));
    });
  }
}

void QuantizeKernel::emitRow(Int row, bool isAligned) {
  Int last = k.sub(rows, 1);
  // Those behind the last one repeat it, and are not stored.
  Int read = k.min(row, last);
  Value from = k.offsetElements(input.base, element, getRowOffset(input, read));
  Value to = k.offsetElements(output.base, k.builder.getI8Type(),
                              getRowOffset(output, read));
  auto getNumber = [&](Int number) {
    return k.add(k.mul(number, sharers), place);
  };
  auto load = [&](Int number) {
    return loadChunk(from, getNumber(number), isAligned);
  };
  auto share = [&](Value largest) { return shareLargest(largest); };
  auto storeScale = [&](Value scale) {
    k.ifThen(k.equal(place, 0), [&] {
      k.store(scale,
              k.offsetElements(scales.base, f32, getRowOffset(scales, row)));
    });
  };
  auto store = [&](Int number, Value words) {
    storeChunk(to, getNumber(number), words, isAligned);
  };
  math.quantizeRow({element, chunks, kMostChunks, k.less(row, rows), load,
                    share, storeScale, store});
}

void QuantizeKernel::emit() {
  chooseThreads();
  enterAll();
  LaunchShape shape;
  shape.threads = sharers * rowsPerCTA;
  shape.ctasPerSM = std::max<int64_t>(1024 / shape.threads, 1);
  if (sharers > 32)
    sharedOffset = k.allocateShared(shape.threads / 32 * 4);
  Int tiles = k.enter(host.ceilDiv(hostRows, rowsPerCTA));
  bool mayBeAligned = length % perChunk == 0;
  k.forTiles(tiles, [&](Int tile) {
    Int row = k.add(k.mul(k.extend(tile), rowsPerCTA), k.extend(rowInCTA));
    if (!mayBeAligned)
      return emitRow(row, false);
    k.choose(
        isAligned, [&] { emitRow(row, true); }, [&] { emitRow(row, false); });
  });
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, host.ceilDiv(hostRows, rowsPerCTA));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

void kron::emitQuantize(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                        QuantizeOp op, const GPUMachine &machine) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Emitter host(builder, op.getLoc(), kron::getElementType(op.getInput()));
  QuantizeKernel(host, gpuModule, op, machine).emit();
}
