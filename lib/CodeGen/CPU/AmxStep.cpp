//===- AmxStep.cpp - Mode products in matrix tiles ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "AmxStep.h"
#include "AmxPacking.h"
#include "StepWalker.h"
#include "kron/CodeGen/NarrowFloats.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// Some positions of the axis of X that tiles run over: `count` of them, in
/// `tiles` tiles.
struct DataBlock {
  Int count;
  int64_t tiles = 1;
  AmxOperand operand;

  /// Whether the tiles hold nothing else.
  bool isFull() const { return count.is(tiles * kAmxRows); }
};

/// Builds the loops of one step.
class AmxStepEmitter : private StepWalker {
public:
  AmxStepEmitter(Emitter &emitter, const Step &step, const PackedFactor &packed,
                 bool isExact)
      : StepWalker(emitter, step),
        bytes(emitter.builder, emitter.loc, emitter.builder.getI8Type()),
        mapping(getAmxMapping(step)), isRows(mapping == AmxMapping::Rows),
        splits(!isExact && !step.source.element) {
    for (auto *axes : {&nest.outer, &nest.inner})
      for (LoopAxis &axis : *axes)
        axis.factor = packed.strides[axis.last];
  }

  void emit();

private:
  bool canLoadSource() const;
  int64_t getLowBytes() const;
  int64_t getBlockBytes() const;
  int64_t getChunkBlocks() const;
  void emitData(const Bases &bases);
  AmxOperand getData(const Bases &at, const DataBlock &block, Int number);
  AmxOperand getOperand(const Bases &at, const DataBlock &block, Int number);
  void packData(const Bases &at, const DataBlock &block,
                const AmxOperand &operand);
  void emitChunk(const Bases &bases, Int first, int64_t blocks);
  void emitResultBlocks(function_ref<void(Int, int64_t)> body);
  void emitProduct(const Bases &at, const DataBlock &block, Int q,
                   int64_t sizeN);
  void storeResults(const Bases &at, Int rows, Int columns, int64_t tiles);
  Value scaleVector(const Bases &at, Value value, Int offset, Value mask);
  void storeVector(const Bases &at, Value value, Value second, Int offset,
                   Value mask);

  Emitter bytes;
  AmxMapping mapping;
  bool isRows;
  /// Whether values of X are taken in two parts.
  bool splits;
  /// The axis of X that tiles run over.
  LoopAxis data;
  /// Memory for the tiles of X, and for the results of a block.
  Value packed, results;
};

} // namespace

/// Whether tiles are loaded from X as it lies, if they are full.
bool AmxStepEmitter::canLoadSource() const {
  bool aliases = data.source.isConstant() &&
                 avoidAlias(data.source.getConstant() * kBF16Bytes) !=
                     data.source.getConstant() * kBF16Bytes;
  return isRows && step.source.element &&
         step.source.strides[step.axis].is(1) && step.sizeK % kAmxK == 0 &&
         !aliases;
}

/// Between the two parts of a block of X.
int64_t AmxStepEmitter::getLowBytes() const {
  return getAmxBlockBytes(step, mapping, /*isExact=*/true);
}

/// Bytes of the tiles of a block of X.
int64_t AmxStepEmitter::getBlockBytes() const {
  return getLowBytes() * (splits ? 2 : 1);
}

/// Blocks of X that each block of results is computed for before the next one.
int64_t AmxStepEmitter::getChunkBlocks() const {
  return std::max<int64_t>(step.choices->chunk / kAmxBlockSize, 1);
}

void AmxStepEmitter::emit() {
  data = takeAmxData(mapping, nest);
  results =
      allocateLines(emitter, kAmxTileBytes * kAmxBlockTiles * kAmxBlockTiles);
  packed = allocateLines(emitter, getBlockBytes() * getChunkBlocks());
  SmallVector<LoopAxis> axes(nest.outer);
  llvm::append_range(axes, nest.inner);
  Bases bases{step.source.base, step.destination.base, step.addend.base,
              step.factor.base};
  emitLoops(axes, bases, [&](const Bases &at) { emitData(at); });
}

void AmxStepEmitter::emitData(const Bases &bases) {
  auto emitBlock = [&](Int first, Int count, int64_t tiles) {
    DataBlock block{count, tiles, {}};
    Bases at = advance(bases, data, first);
    block.operand = getData(at, block, 0);
    emitResultBlocks(
        [&](Int q, int64_t sizeN) { emitProduct(at, block, q, sizeN); });
  };
  int64_t blocks = getChunkBlocks(), chunk = blocks * kAmxBlockSize;
  Int full = emitter.mul(emitter.floorDiv(data.size, chunk), chunk);
  emitter.forLoop(0, full, chunk, [&](Int first) {
    if (blocks == 1)
      return emitBlock(first, kAmxBlockSize, kAmxBlockTiles);
    emitChunk(bases, first, blocks);
  });
  if (data.size.isConstant()) {
    int64_t end = data.size.getConstant();
    for (int64_t first = full.getConstant(); first < end;
         first += kAmxBlockSize) {
      int64_t count = std::min(end - first, kAmxBlockSize);
      emitBlock(first, count, llvm::divideCeil(count, kAmxRows));
    }
    return;
  }
  emitter.forLoop(full, data.size, kAmxRows, [&](Int first) {
    emitBlock(first, emitter.min(kAmxRows, emitter.sub(data.size, first)), 1);
  });
}

/// Takes `blocks` full blocks of X to all results, one block of results for all
/// of them after the other.
void AmxStepEmitter::emitChunk(const Bases &bases, Int first, int64_t blocks) {
  auto forBlocks =
      [&](bool packs,
          function_ref<void(const Bases &, const DataBlock &)> body) {
        emitter.forLoop(0, blocks, 1, [&](Int number) {
          DataBlock block{kAmxBlockSize, kAmxBlockTiles, {}};
          Bases at =
              advance(bases, data,
                      emitter.add(first, emitter.mul(number, kAmxBlockSize)));
          block.operand = packs ? getData(at, block, number)
                                : getOperand(at, block, number);
          body(at, block);
        });
      };
  forBlocks(/*packs=*/true, [](const Bases &, const DataBlock &) {});
  emitResultBlocks([&](Int q, int64_t sizeN) {
    forBlocks(/*packs=*/false, [&](const Bases &at, const DataBlock &block) {
      emitProduct(at, block, q, sizeN);
    });
  });
}

/// The tiles of a block of X, the `number`th of those that are packed.
AmxOperand AmxStepEmitter::getOperand(const Bases &at, const DataBlock &block,
                                      Int number) {
  if (canLoadSource() && block.isFull()) {
    Int rowBytes = emitter.mul(data.source, kBF16Bytes);
    return {at.source, rowBytes, emitter.mul(rowBytes, kAmxRows),
            kAmxTileBytes / kAmxRows, 0};
  }
  AmxOperand operand = getPackedOperand(
      step, bytes.offsetPointer(packed, emitter.mul(number, getBlockBytes())),
      isRows);
  operand.lowBytes = splits ? getLowBytes() : 0;
  return operand;
}

/// The same, packed before if need be.
AmxOperand AmxStepEmitter::getData(const Bases &at, const DataBlock &block,
                                   Int number) {
  AmxOperand operand = getOperand(at, block, number);
  if (!canLoadSource() || !block.isFull())
    packData(at, block, operand);
  return operand;
}

void AmxStepEmitter::packData(const Bases &at, const DataBlock &block,
                              const AmxOperand &operand) {
  AmxMatrix matrix{at.source, data.source, step.source.strides[step.axis],
                   step.sizeK,
                   step.source.element ? step.source.element : emitter.element};
  if (isRows)
    return emitAmxRows(emitter, matrix, block.count, operand.base,
                       getRowBytes(step), operand.lowBytes);
  for (int64_t tile = 0; tile < block.tiles; ++tile) {
    AmxMatrix columns = matrix;
    columns.base = emitter.offsetPointer(matrix.base, tile * kAmxRows,
                                         step.source.element);
    Int count = block.isFull() ? Int(kAmxRows)
                               : emitter.sub(block.count, tile * kAmxRows);
    emitAmxPairs(
        emitter, columns, count,
        bytes.offsetPointer(operand.base, emitter.mul(operand.tileBytes, tile)),
        operand.lowBytes);
  }
}

/// Calls `body(q, count)` for all blocks of results.
void AmxStepEmitter::emitResultBlocks(function_ref<void(Int, int64_t)> body) {
  int64_t full = step.sizeN / kAmxBlockSize * kAmxBlockSize;
  emitter.forLoop(0, full, kAmxBlockSize,
                  [&](Int q) { body(q, kAmxBlockSize); });
  if (full < step.sizeN)
    body(full, step.sizeN - full);
}

/// Computes `count` results of a block from `q` on.
void AmxStepEmitter::emitProduct(const Bases &from, const DataBlock &block,
                                 Int q, int64_t count) {
  int64_t tiles = llvm::divideCeil(count, kAmxRows);
  AmxOperand factor = getPackedOperand(step, from.factor, !isRows);
  factor.base = bytes.offsetPointer(
      from.factor,
      emitter.mul(emitter.floorDiv(q, kAmxRows), factor.tileBytes));
  Bases at = advanceResults(from, q);

  emitPrefetches(emitter, step.prefetch,
                 block.tiles * kAmxRows * count * step.sizeK);
  AmxBlock product;
  product.sizeK = getPaddedK(step) / kAmxK;
  product.rows = isRows ? block.tiles : tiles;
  product.columns = isRows ? tiles : block.tiles;
  product.a = isRows ? block.operand : factor;
  product.b = isRows ? factor : block.operand;
  bool isPlain = !step.destination.element && !step.scale.alpha &&
                 !step.scale.beta && block.isFull() &&
                 count == tiles * kAmxRows;
  if (isPlain) {
    Int rowStride =
        isRows ? data.destination : step.destination.strides[step.axis];
    return emitAmxBlock(emitter, product, at.destination,
                        emitter.mul(rowStride, emitter.getElementBytes()));
  }
  emitAmxBlock(emitter, product, results,
               kAmxBlockSize * emitter.getElementBytes());
  storeResults(at, isRows ? block.count : Int(count),
               isRows ? Int(count) : block.count, product.columns);
}

/// Stores `rows` x `columns` results, which take `tiles` tiles along columns.
void AmxStepEmitter::storeResults(const Bases &at, Int rows, Int columns,
                                  int64_t tiles) {
  constexpr int64_t kUnroll = 4;
  VectorType type = emitter.getVectorType(kAmxRows);
  auto getRowStride = [&](Int ofData, const SmallVector<Int> &strides) {
    return isRows ? ofData : getStride(strides, step.axis);
  };
  LoopAxis row = data;
  row.source = row.factor = 0;
  row.destination = getRowStride(data.destination, step.destination.strides);
  row.addend = getRowStride(data.addend, step.addend.strides);
  bool isUnrolled = rows.isConstant() && rows.getConstant() % kUnroll == 0;
  // Both tiles of a row at once if that makes one vector of bf16.
  Type stored = step.destination.element;
  bool isPaired = tiles == 2 && stored && stored.isBF16();
  int64_t together = isPaired ? 2 : 1;
  SmallVector<Value> masks;
  for (int64_t tile = 0; tile < tiles; ++tile)
    masks.push_back(
        emitter.firstLanes(kAmxRows, emitter.sub(columns, tile * kAmxRows)));
  Value pairMask = emitter.firstLanes(kAmxBlockSize, columns);
  emitter.forLoop(0, rows, isUnrolled ? kUnroll : 1, [&](Int first) {
    for (int64_t index = 0; index < (isUnrolled ? kUnroll : 1); ++index) {
      Int position = emitter.add(first, index);
      Bases place = advance(at, row, position);
      Value source =
          emitter.offsetPointer(results, emitter.mul(position, kAmxBlockSize));
      auto getValue = [&](int64_t tile) {
        Int offset = tile * kAmxRows;
        Value value = emitter.loadVector(
            type, emitter.offsetPointer(source, offset), nullptr);
        return scaleVector(place, value, offset, masks[tile]);
      };
      for (int64_t tile = 0; tile < tiles; tile += together)
        storeVector(place, getValue(tile),
                    isPaired ? getValue(tile + 1) : Value(), tile * kAmxRows,
                    isPaired ? pairMask : masks[tile]);
    }
  });
}

Value AmxStepEmitter::scaleVector(const Bases &at, Value value, Int offset,
                                  Value mask) {
  Type addend = step.addend.element;
  auto type = cast<VectorType>(value.getType());
  return emitScaledSum(emitter, step.scale, value, [&] {
    return emitter.loadVector(
        type, emitter.offsetPointer(at.addend, offset, addend), mask, addend);
  });
}

/// Stores a vector, or one of twice the length if there is a second one.
void AmxStepEmitter::storeVector(const Bases &at, Value value, Value second,
                                 Int offset, Value mask) {
  Type stored = step.destination.element;
  Value pointer = emitter.offsetPointer(at.destination, offset, stored);
  if (!stored || !stored.isBF16())
    return emitter.storeVector(value, pointer, mask, stored);
  Emitter halves(emitter.builder, emitter.loc, emitter.builder.getI16Type());
  halves.storeVector(emitToBF16(emitter, value, second), pointer, mask);
}

void kron::emitAmxStep(Emitter &emitter, const Step &step,
                       const PackedFactor &packed, bool isExact) {
  assert(getAmxMapping(step) != AmxMapping::None && "expects a mapping");
  bool isRows = getAmxMapping(step) == AmxMapping::Rows;
  remark::analysis(emitter.loc,
                   remark::RemarkOpts::name("Step").category("kron-emit"))
      << remark::metric("Mapping", isRows ? "amx-rows" : "amx-columns")
      << remark::metric("Packed", true);
  AmxStepEmitter(emitter, step, packed, isExact).emit();
}
