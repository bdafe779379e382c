//===- PairCopy.cpp - Arrays of bf16 in pairs -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Four ways, by what lies at the inner end of both arrays:
//
//   the axis itself                 pairs are words as they lie
//   few positions, then the axis    a vector has several pairs of rows, which
//                                   one shuffle puts together
//   another axis                    two vectors, of both elements, take turns
//   nothing                         element by element
//
//===----------------------------------------------------------------------===//

#include "PairCopy.h"
#include "TileCopy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

/// Lanes of a vector of words; one of bf16 has twice as many.
static constexpr int64_t kLanes = 16;

namespace {

class PairCopier {
public:
  PairCopier(Emitter &emitter, const PairCopy &copy)
      : emitter(emitter), copy(copy),
        halves(emitter.builder, emitter.loc, emitter.builder.getI16Type()),
        words(emitter.builder, emitter.loc, emitter.builder.getI32Type()),
        sizeK(copy.sizes[copy.axis].getConstant()) {}

  void emit();

private:
  bool isContiguous(unsigned axis) const {
    return copy.from.strides[axis].is(1) && copy.to.strides[axis].is(1);
  }
  bool isShort(unsigned axis) const;
  void emitWords();
  /// Calls `body` for every position of all axes but the contracted one and
  /// `lanes`.
  void emitLoops(int lanes, unsigned axis, Value from, Value to,
                 function_ref<void(Value, Value)> body);
  void emitShortRows(int64_t size, Value from, Value to);
  void emitRows(Int size, Value from, Value to);
  void emitElements(Value from, Value to);
  /// An element as the lower half of a word.
  Value loadLower(Value pointer);
  /// The last element of an odd size, with nothing beside it.
  void emitLast(Value from, Value to);

  Emitter &emitter;
  const PairCopy &copy;
  Emitter halves, words;
  int64_t sizeK;
};

} // namespace

/// Whether a vector holds pairs of rows along `axis`, which follow each other.
bool PairCopier::isShort(unsigned axis) const {
  Int size = copy.sizes[axis];
  return size.isConstant() && size.getConstant() > 0 &&
         size.getConstant() <= kLanes && isContiguous(axis) &&
         copy.from.strides[copy.axis] == size &&
         copy.to.strides[copy.axis] == size;
}

void PairCopier::emit() {
  if (isContiguous(copy.axis))
    return emitWords();
  int lanes = -1;
  for (unsigned axis = 0; axis < copy.sizes.size(); ++axis)
    if (axis != copy.axis && !copy.sizes[axis].is(1) && isContiguous(axis))
      lanes = axis;
  emitLoops(lanes, 0, copy.from.base, copy.to.base, [&](Value from, Value to) {
    if (lanes < 0)
      emitElements(from, to);
    else if (isShort(lanes))
      emitShortRows(copy.sizes[lanes].getConstant(), from, to);
    else
      emitRows(copy.sizes[lanes], from, to);
  });
}

void PairCopier::emitWords() {
  TileCopy same;
  same.sizes = copy.sizes;
  same.from = {copy.from.base, copy.from.strides};
  same.to = {copy.to.base, {}};
  for (auto [axis, stride] : llvm::enumerate(copy.to.strides))
    same.to.strides.push_back(axis == copy.axis ? Int(1)
                                                : emitter.mul(stride, 2));
  same.vectorBits = copy.vectorBits;
  emitTileCopy(halves, same);
  if (sizeK % 2)
    emitLoops(-1, 0, copy.from.base, copy.to.base,
              [&](Value from, Value to) { emitLast(from, to); });
}

void PairCopier::emitLoops(int lanes, unsigned axis, Value from, Value to,
                           function_ref<void(Value, Value)> body) {
  if (axis == copy.sizes.size())
    return body(from, to);
  if (axis == copy.axis || static_cast<int>(axis) == lanes)
    return emitLoops(lanes, axis + 1, from, to, body);
  emitter.forLoop(0, copy.sizes[axis], 1, [&](Int position) {
    emitLoops(
        lanes, axis + 1,
        halves.offsetPointer(from,
                             emitter.mul(position, copy.from.strides[axis])),
        words.offsetPointer(to, emitter.mul(position, copy.to.strides[axis])),
        body);
  });
}

/// Rows of `size` elements, one after the other, as many pairs of them at a
/// time as a vector holds.
void PairCopier::emitShortRows(int64_t size, Value from, Value to) {
  int64_t atOnce = kLanes / size;
  SmallVector<int64_t> sources(2 * kLanes, 0);
  for (int64_t word = 0; word < atOnce * size; ++word)
    for (int64_t half = 0; half < 2; ++half)
      sources[2 * word + half] =
          word / size * 2 * size + half * size + word % size;
  auto copyRows = [&](Int pair, int64_t count) {
    Value rows = halves.loadVector(
        halves.getVectorType(2 * kLanes),
        halves.offsetPointer(from, emitter.mul(pair, 2 * size)),
        halves.firstLanes(2 * kLanes, count * size));
    Value paired = vector::ShuffleOp::create(emitter.builder, emitter.loc, rows,
                                             rows, sources);
    words.storeVector(
        vector::BitCastOp::create(emitter.builder, emitter.loc,
                                  words.getVectorType(kLanes), paired),
        words.offsetPointer(to, emitter.mul(pair, size)),
        words.firstLanes(kLanes, llvm::divideCeil(count, 2) * size));
  };
  int64_t full = sizeK / 2 / atOnce * atOnce;
  emitter.forLoop(0, full, atOnce,
                  [&](Int pair) { copyRows(pair, 2 * atOnce); });
  if (2 * full < sizeK)
    copyRows(full, sizeK - 2 * full);
}

/// Rows of `size` elements, two at a time.
void PairCopier::emitRows(Int size, Value from, Value to) {
  SmallVector<int64_t> turns;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    turns.append({lane, kLanes + lane});
  auto copyPair = [&](Int pair, bool hasOdd) {
    Value even = halves.offsetPointer(
        from, emitter.mul(emitter.mul(pair, 2), copy.from.strides[copy.axis]));
    Value odd = halves.offsetPointer(even, copy.from.strides[copy.axis]);
    Value target =
        words.offsetPointer(to, emitter.mul(pair, copy.to.strides[copy.axis]));
    auto copyVector = [&](Int first, Value mask) {
      VectorType type = halves.getVectorType(kLanes);
      auto load = [&](Value row) {
        return halves.loadVector(type, halves.offsetPointer(row, first), mask);
      };
      Value both = vector::ShuffleOp::create(
          emitter.builder, emitter.loc, load(even),
          hasOdd ? load(odd) : halves.zero(type), turns);
      words.storeVector(vector::BitCastOp::create(emitter.builder, emitter.loc,
                                                  words.getVectorType(kLanes),
                                                  both),
                        words.offsetPointer(target, first), mask);
    };
    Int full = emitter.mul(emitter.floorDiv(size, kLanes), kLanes);
    emitter.forLoop(0, full, kLanes,
                    [&](Int first) { copyVector(first, nullptr); });
    if (!(size.isConstant() && size.getConstant() % kLanes == 0))
      copyVector(full, emitter.firstLanes(kLanes, emitter.sub(size, full)));
  };
  emitter.forLoop(0, sizeK / 2, 1, [&](Int pair) { copyPair(pair, true); });
  if (sizeK % 2)
    copyPair(sizeK / 2, false);
}

Value PairCopier::loadLower(Value pointer) {
  return arith::ExtUIOp::create(emitter.builder, emitter.loc,
                                emitter.builder.getI32Type(),
                                halves.loadScalar(pointer));
}

void PairCopier::emitLast(Value from, Value to) {
  words.storeScalar(
      loadLower(halves.offsetPointer(
          from, emitter.mul(sizeK - 1, copy.from.strides[copy.axis]))),
      words.offsetPointer(to,
                          emitter.mul(sizeK / 2, copy.to.strides[copy.axis])));
}

void PairCopier::emitElements(Value from, Value to) {
  OpBuilder &builder = emitter.builder;
  emitter.forLoop(0, sizeK / 2, 1, [&](Int pair) {
    Value even = halves.offsetPointer(
        from, emitter.mul(emitter.mul(pair, 2), copy.from.strides[copy.axis]));
    Value odd =
        loadLower(halves.offsetPointer(even, copy.from.strides[copy.axis]));
    Value upper = arith::ShLIOp::create(
        builder, emitter.loc, odd,
        arith::ConstantIntOp::create(builder, emitter.loc, 16, 32));
    words.storeScalar(
        arith::OrIOp::create(builder, emitter.loc, loadLower(even), upper),
        words.offsetPointer(to, emitter.mul(pair, copy.to.strides[copy.axis])));
  });
  if (sizeK % 2)
    emitLast(from, to);
}

void kron::emitPairCopy(Emitter &emitter, const PairCopy &copy) {
  PairCopier(emitter, copy).emit();
}
