//===- Pairs.cpp - Neighbours of bf16 in one word ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Pairs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

/// `number` in all lanes of a vector of words.
static Value emitWordConstant(Emitter &emitter, int64_t lanes, int32_t number) {
  auto type = VectorType::get({lanes}, emitter.builder.getI32Type());
  return arith::ConstantOp::create(
      emitter.builder, emitter.loc,
      DenseElementsAttr::get(type, emitter.builder.getI32IntegerAttr(number)));
}

/// Of a word, the shift to its other half, and its upper half.
static constexpr int32_t kHalfBits = 16, kUpperHalf = -(int32_t(1) << 16);

static Value emitBitcast(Emitter &emitter, Value value, Type element) {
  int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  return arith::BitcastOp::create(emitter.builder, emitter.loc,
                                  VectorType::get({lanes}, element), value);
}

/// The words that `emitWordLoad` loads, as integers.
static Value emitIntegerWords(Emitter &emitter, int64_t lanes, Value pointer,
                              int64_t count) {
  OpBuilder &builder = emitter.builder;
  auto type = VectorType::get({lanes}, builder.getI32Type());
  constexpr unsigned kAlignment = 2;
  if (Value mask = emitter.firstLanes(lanes, count / 2))
    return LLVM::MaskedLoadOp::create(builder, emitter.loc, type, pointer, mask,
                                      emitter.zero(type), kAlignment);
  return LLVM::LoadOp::create(builder, emitter.loc, type, pointer, kAlignment);
}

Value kron::emitWordLoad(Emitter &emitter, int64_t lanes, Value pointer,
                         int64_t count) {
  return emitBitcast(emitter, emitIntegerWords(emitter, lanes, pointer, count),
                     emitter.element);
}

Value kron::emitWords(Emitter &emitter, Value even, Value odd) {
  OpBuilder &builder = emitter.builder;
  int64_t lanes = cast<VectorType>(even.getType()).getNumElements();
  Value low = arith::ShRUIOp::create(
      builder, emitter.loc, emitBitcast(emitter, even, builder.getI32Type()),
      emitWordConstant(emitter, lanes, kHalfBits));
  Value words =
      arith::OrIOp::create(builder, emitter.loc, low,
                           emitBitcast(emitter, odd, builder.getI32Type()));
  return emitBitcast(emitter, words, emitter.element);
}

std::pair<Value, Value> kron::emitPairLoad(Emitter &emitter, int64_t lanes,
                                           Value pointer, int64_t count) {
  Value words = emitIntegerWords(emitter, lanes, pointer, count);
  Value even =
      arith::ShLIOp::create(emitter.builder, emitter.loc, words,
                            emitWordConstant(emitter, lanes, kHalfBits));
  Value odd =
      arith::AndIOp::create(emitter.builder, emitter.loc, words,
                            emitWordConstant(emitter, lanes, kUpperHalf));
  return {emitBitcast(emitter, even, emitter.element),
          emitBitcast(emitter, odd, emitter.element)};
}

Value kron::emitPairProduct(Emitter &emitter, Value a, Value b, Value sum) {
  OpBuilder &builder = emitter.builder;
  auto type = cast<VectorType>(a.getType());
  int64_t lanes = type.getNumElements();
  auto pairs = VectorType::get({2 * lanes}, builder.getBF16Type());
  auto cast = [&](Value words) -> Value {
    return vector::BitCastOp::create(builder, emitter.loc, pairs, words);
  };
  constexpr int64_t kWordBits = 32;
  std::string name =
      "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(lanes * kWordBits);
  if (!sum)
    sum = emitter.zero(type);
  return LLVM::CallIntrinsicOp::create(builder, emitter.loc, type,
                                       builder.getStringAttr(name),
                                       ValueRange{sum, cast(a), cast(b)})
      .getResult(0);
}

/// Two vectors of the elements of `first` and, behind it, `second` that
/// `getSource(part, lane)` numbers.
static std::pair<Value, Value>
emitShuffles(Emitter &emitter, Value first, Value second,
             function_ref<int64_t(int64_t, int64_t)> getSource) {
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  Value parts[2];
  for (int64_t part = 0; part < 2; ++part) {
    SmallVector<int64_t> sources;
    for (int64_t lane = 0; lane < lanes; ++lane)
      sources.push_back(getSource(part, lane));
    parts[part] = vector::ShuffleOp::create(emitter.builder, emitter.loc, first,
                                            second, sources);
  }
  return {parts[0], parts[1]};
}

std::pair<Value, Value> kron::emitDeinterleaved(Emitter &emitter, Value first,
                                                Value second, int64_t segment) {
  return emitShuffles(emitter, first, second, [&](int64_t part, int64_t lane) {
    return (2 * (lane / segment) + part) * segment + lane % segment;
  });
}

/// The elements of bf16 that words consist of, as integers, and back.
static Value emitHalves(Emitter &emitter, Value words) {
  auto type = cast<VectorType>(words.getType());
  return vector::BitCastOp::create(
      emitter.builder, emitter.loc,
      VectorType::get({2 * type.getNumElements()},
                      emitter.builder.getI16Type()),
      words);
}

static Value emitJoinedHalves(Emitter &emitter, Value halves, Type words) {
  return vector::BitCastOp::create(emitter.builder, emitter.loc,
                                   cast<VectorType>(words), halves);
}

Value kron::emitWordsOfSegments(Emitter &emitter, Value words,
                                int64_t segment) {
  if (segment == 1)
    return words;
  Value halves = emitHalves(emitter, words);
  int64_t count = cast<VectorType>(halves.getType()).getNumElements();
  SmallVector<int64_t> sources;
  for (int64_t half = 0; half < count; ++half) {
    int64_t word = half / 2;
    sources.push_back((2 * (word / segment) + half % 2) * segment +
                      word % segment);
  }
  return emitJoinedHalves(emitter,
                          vector::ShuffleOp::create(emitter.builder,
                                                    emitter.loc, halves, halves,
                                                    sources),
                          words.getType());
}

/// Words of 32 bits in half of 128.
static constexpr int64_t k16BitWords = 2 * 2;

std::pair<Value, Value> kron::emitUnpacked(Emitter &emitter, Value first,
                                           Value second) {
  Value elements = emitHalves(emitter, first);
  auto [lower, upper] = emitShuffles(
      emitter, elements, emitHalves(emitter, second),
      [&](int64_t part, int64_t half) {
        int64_t word = half / 2;
        int64_t element = (2 * (word / k16BitWords) + part) * k16BitWords +
                          word % k16BitWords;
        int64_t count = cast<VectorType>(elements.getType()).getNumElements();
        return element + half % 2 * count;
      });
  return {emitJoinedHalves(emitter, lower, first.getType()),
          emitJoinedHalves(emitter, upper, first.getType())};
}

std::pair<Value, Value> kron::emitHalvesApart(Emitter &emitter, Value first,
                                              Value second) {
  return emitDeinterleaved(emitter, first, second, k16BitWords);
}

std::pair<Value, Value> kron::emitHalvesTogether(Emitter &emitter, Value lower,
                                                 Value upper) {
  return emitInterleaved(emitter, lower, upper, k16BitWords);
}

std::pair<Value, Value> kron::emitInterleaved(Emitter &emitter, Value even,
                                              Value odd, int64_t segment) {
  int64_t lanes = cast<VectorType>(even.getType()).getNumElements();
  return emitShuffles(emitter, even, odd, [&](int64_t part, int64_t lane) {
    int64_t element = part * lanes + lane;
    return element / (2 * segment) * segment + element % segment +
           element / segment % 2 * lanes;
  });
}
