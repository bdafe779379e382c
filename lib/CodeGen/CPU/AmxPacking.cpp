//===- AmxPacking.cpp - Operands of matrix tiles in memory ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "AmxPacking.h"
#include "AmxStep.h"
#include "Rearrange.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

AmxOperand kron::getPackedOperand(const StepLayout &step, Value base,
                                  bool isA) {
  AmxOperand operand;
  operand.base = base;
  if (isA) {
    operand.rowBytes = getRowBytes(step);
    operand.tileBytes = kAmxRows * getRowBytes(step);
    operand.bytesK = kAmxTileBytes / kAmxRows;
  } else {
    operand.rowBytes = kAmxTileBytes / kAmxRows;
    operand.tileBytes = getPanelBytes(step);
    operand.bytesK = kAmxTileBytes;
  }
  return operand;
}

PackedFactor kron::getAmxFactor(const StepLayout &step,
                                ArrayRef<int64_t> factorSizes) {
  bool isA = getAmxMapping(step) == AmxMapping::Columns;
  int64_t tiles = llvm::divideCeil(step.sizeN, kAmxRows);
  PackedFactor packed;
  packed.elements = tiles *
                    (isA ? kAmxRows * getRowBytes(step) : getPanelBytes(step)) /
                    kBF16Bytes;
  packed.strides.assign(step.sizes.size(), 0);
  for (unsigned axis = step.sizes.size(); axis-- > 0;) {
    if (axis == step.axis || factorSizes[axis] == 1)
      continue;
    packed.strides[axis] = packed.elements;
    packed.elements *= factorSizes[axis];
  }
  return packed;
}

namespace {

/// Fills the tiles of one position of all axes.
class AmxPacker {
public:
  AmxPacker(Emitter &emitter, const StepLayout &step)
      : emitter(emitter), step(step),
        isA(getAmxMapping(step) == AmxMapping::Columns),
        temporary(allocateLines(emitter, std::max(kAmxRows * getRowBytes(step),
                                                  getPanelBytes(step)))) {}

  void emit(Value from, Value to);

private:
  /// The q of one tile.
  void emitTile(Value from, Value to, int64_t count);
  void emitElements(Value from, Value to, int64_t count);
  bool canTakeApart() const;
  void emitApart(Value from, Value to, int64_t count);

  Emitter &emitter;
  const StepLayout &step;
  bool isA;
  /// Memory for the elements of a tile's q.
  Value temporary;
};

} // namespace

void AmxPacker::emit(Value from, Value to) {
  Type stored = step.factor.element;
  Emitter bytes(emitter.builder, emitter.loc, emitter.builder.getI8Type());
  Int tileBytes = getPackedOperand(step, to, isA).tileBytes;
  auto emitAt = [&](Int tile, int64_t count) {
    Int offset =
        emitter.mul(emitter.mul(tile, kAmxRows), step.factor.resultStride);
    emitTile(emitter.offsetPointer(from, offset, stored),
             bytes.offsetPointer(to, emitter.mul(tile, tileBytes)), count);
  };
  int64_t full = step.sizeN / kAmxRows;
  emitter.forLoop(0, full, 1, [&](Int tile) { emitAt(tile, kAmxRows); });
  if (step.sizeN % kAmxRows)
    emitAt(full, step.sizeN % kAmxRows);
}

void AmxPacker::emitTile(Value from, Value to, int64_t count) {
  const StepFactor &factor = step.factor;
  AmxMatrix matrix{from, factor.resultStride, factor.strideK, step.sizeK,
                   factor.element};
  bool takesPairs = factor.resultStride.is(1);
  if (canTakeApart())
    return emitApart(from, to, count);
  if (!takesPairs &&
      !canTakeAmxRows(matrix.strideK, matrix.sizeK, matrix.element))
    return emitElements(from, to, count);
  // The pairs of A, i32, are those of B transposed.
  bool transposes = takesPairs == isA;
  int64_t pairs = getPaddedK(step) / 2;
  int64_t rowBytes = getRowBytes(step);
  int64_t rowPairs = rowBytes / (2 * kBF16Bytes);
  Value place = transposes ? temporary : to;
  if (takesPairs)
    emitAmxPairs(emitter, matrix, count, place, 0);
  else
    emitAmxRows(emitter, matrix, count, place, rowBytes, 0);
  if (!transposes)
    return;
  Transposition shape{kAmxRows, pairs, 1, rowPairs, kAmxRows};
  if (takesPairs)
    shape = {pairs, kAmxRows, 1, kAmxRows, rowPairs};
  Emitter words(emitter.builder, emitter.loc, emitter.builder.getI32Type());
  emitTransposition(words, shape, kAmxRows, place, to, nullptr);
}

/// Copies the elements of a tile one by one; those that do not exist are zero.
void AmxPacker::emitElements(Value from, Value to, int64_t count) {
  OpBuilder &builder = emitter.builder;
  Type stored = step.factor.element;
  Emitter halves(builder, emitter.loc, builder.getI16Type());
  int64_t bytes = isA ? kAmxRows * getRowBytes(step) : getPanelBytes(step);
  constexpr int64_t kLanes = 32;
  Value zero = halves.zero(halves.getVectorType(kLanes));
  emitter.forLoop(0, bytes / kBF16Bytes, kLanes, [&](Int index) {
    halves.storeVector(zero, halves.offsetPointer(to, index), nullptr);
  });
  emitter.forLoop(0, count, 1, [&](Int q) {
    Value source = emitter.offsetPointer(
        from, emitter.mul(q, step.factor.resultStride), stored);
    emitter.forLoop(0, step.sizeK, 1, [&](Int k) {
      Int offset =
          emitter.add(emitter.mul(q, getRowBytes(step) / kBF16Bytes), k);
      if (!isA)
        offset = emitter.add(emitter.mul(emitter.floorDiv(k, 2), 2 * kAmxRows),
                             emitter.add(emitter.mul(q, 2), emitter.rem(k, 2)));
      Value pointer = emitter.offsetPointer(
          source, emitter.mul(k, step.factor.strideK), stored);
      halves.storeScalar(halves.loadScalar(pointer),
                         halves.offsetPointer(to, offset));
    });
  });
}

/// Whether the q of a tile of B lie so close to each other that vectors hold
/// them with what lies between, while the k lie further apart.
bool AmxPacker::canTakeApart() const {
  constexpr int64_t kMaxStride = 8;
  Int q = step.factor.resultStride, k = step.factor.strideK;
  return !isA && q.isConstant() && k.isConstant() && q.getConstant() > 1 &&
         q.getConstant() <= kMaxStride && q.getConstant() < k.getConstant();
}

/// Takes the q of two k at a time out of vectors, and puts them together.
void AmxPacker::emitApart(Value from, Value to, int64_t count) {
  const StepFactor &factor = step.factor;
  OpBuilder &builder = emitter.builder;
  Emitter halves(builder, emitter.loc, builder.getI16Type());
  int64_t stride = factor.resultStride.getConstant();
  int64_t width = kAmxRows * stride;
  VectorType type = halves.getVectorType(width);
  // The last element of all may be the last one of memory.
  Value mask = emitter.firstLanes(width, (count - 1) * stride + 1);
  SmallVector<int64_t> lanes;
  for (int64_t row = 0; row < kAmxRows; ++row)
    lanes.append({row * stride, width + row * stride});
  auto load = [&](Int k) {
    Int offset = emitter.mul(k, factor.strideK);
    return halves.loadVector(
        type, emitter.offsetPointer(from, offset, factor.element), mask);
  };
  auto storePair = [&](Int pair, Value first, Value second) {
    Value both =
        vector::ShuffleOp::create(builder, emitter.loc, first, second, lanes);
    halves.storeVector(
        both, halves.offsetPointer(to, emitter.mul(pair, 2 * kAmxRows)),
        nullptr);
  };
  int64_t full = step.sizeK / 2;
  emitter.forLoop(0, full, 1, [&](Int pair) {
    Int k = emitter.mul(pair, 2);
    storePair(pair, load(k), load(emitter.add(k, 1)));
  });
  Value zero = halves.zero(type);
  if (step.sizeK % 2)
    storePair(full, load(step.sizeK - 1), zero);
  emitter.forLoop(llvm::divideCeil(step.sizeK, 2), getPaddedK(step) / 2, 1,
                  [&](Int pair) { storePair(pair, zero, zero); });
}

void kron::emitAmxPacking(Emitter &emitter, const StepLayout &step,
                          ArrayRef<int64_t> factorSizes,
                          const PackedFactor &packed, Value base) {
  AmxPacker packer(emitter, step);
  Type stored = step.factor.element;
  std::function<void(unsigned, Value, Value)> emitLoops = [&](unsigned axis,
                                                              Value from,
                                                              Value to) {
    if (axis == factorSizes.size())
      return packer.emit(from, to);
    int64_t size = axis == step.axis ? 1 : factorSizes[axis];
    emitter.forLoop(0, size, 1, [&](Int position) {
      Int source = emitter.mul(position, getStride(step.factor.strides, axis));
      Int target = emitter.mul(position, packed.strides[axis]);
      emitLoops(axis + 1, emitter.offsetPointer(from, source, stored),
                emitter.offsetPointer(to, target, stored));
    });
  };
  emitLoops(0, step.factor.base, base);
}
