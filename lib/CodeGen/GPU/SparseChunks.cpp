//===- SparseChunks.cpp - Chunks of a sparse kernel's operands ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/SparseChunks.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<Value> SparseMath::loadChunk(Value pointer, int64_t bytes) {
  Type word = is16BitFloat() ? Type(k.builder.getI32Type()) : element;
  int64_t perLoad = bytes % 16 == 0 ? 16 : 8;
  auto vector = VectorType::get({perLoad / (element.isF64() ? 8 : 4)}, word);
  SmallVector<Value> words;
  for (int64_t offset = 0; offset < bytes; offset += perLoad)
    llvm::append_range(
        words, k.unpack(k.load(vector, k.offsetBytes(pointer, offset))));
  return words;
}

Value SparseMath::pairHalves(Value wordA, int64_t elementA, Value wordB,
                             int64_t elementB) {
  if (wordA == wordB && elementA + 1 == elementB)
    return wordA;
  int64_t select =
      (elementA % 2 ? 0x32 : 0x10) | (elementB % 2 ? 0x7600 : 0x5400);
  return permute(wordA, wordB, select);
}

/// Bytes of two words as a word: four of their indices, 4 bits each.
Value SparseMath::permute(Value wordA, Value wordB, int64_t select) {
  return k
      .inlinePTX({k.builder.getI32Type()},
                 "prmt.b32 $0, $1, $2, " + std::to_string(select) + ";",
                 "=r,r,r", {wordA, wordB}, /*hasSideEffects=*/false)
      .front();
}

Value SparseMath::gatherBytes(ArrayRef<Value> words,
                              std::array<int64_t, 4> bytes) {
  auto gatherTwo = [&](int64_t first, int64_t second) {
    return permute(words[first / 4], words[second / 4],
                   first % 4 | (4 + second % 4) << 4);
  };
  return permute(gatherTwo(bytes[0], bytes[1]), gatherTwo(bytes[2], bytes[3]),
                 0x5410);
}

/// The lower or upper two bytes of `word`, 8-bit values, as two 16-bit values.
/// Older chips do so by integer operations: the lower byte of f8E5M2 is 0, and
/// f8E4M3FN is 2^-8 of its value with the exponent in another place, but for
/// NaN.
Value SparseMath::widenBytes(Value word, bool isUpper, bool isE4M3) {
  std::string text;
  if (hasFloat8) {
    text = "{ .reg .b16 lower, upper; mov.b32 {lower, upper}, $1; "
           "cvt.rn.f16x2.";
    text += isE4M3 ? "e4m3x2 $0, " : "e5m2x2 $0, ";
    text += isUpper ? "upper; }" : "lower; }";
  } else if (!isE4M3) {
    text =
        isUpper ? "prmt.b32 $0, $1, 0, 0x3424;" : "prmt.b32 $0, $1, 0, 0x1404;";
  } else {
    text = "{ .reg .b32 codes, sign, nan, size; prmt.b32 codes, $1, 0, ";
    text += isUpper ? "0x3424; " : "0x1404; ";
    text += "and.b32 sign, codes, 0x80008000; "
            "and.b32 size, codes, 0x7f007f00; "
            "add.u32 nan, size, 0x01000100; shr.u32 nan, nan, 15; "
            "and.b32 nan, nan, 0x00010001; mul.lo.u32 nan, nan, 0x7fff; "
            "shr.u32 size, size, 1; or.b32 size, size, sign; "
            "mov.b32 sign, 0x5c005c00; mul.f16x2 size, size, sign; "
            "or.b32 $0, size, nan; }";
  }
  return k
      .inlinePTX({k.builder.getI32Type()}, text, "=r,r", {word},
                 /*hasSideEffects=*/false)
      .front();
}

/// Elements of two chunks, of 8 bits, as a word of two 16-bit values. Their
/// neighbours come with them in the other half of the word that is widened,
/// which serves for the next product's operand.
Value SparseMath::widenPair(const SparseChunks &chunks,
                            std::pair<int64_t, int64_t> a,
                            std::pair<int64_t, int64_t> b) {
  Value wordA = chunks.chunks[a.first][a.second / 4];
  Value wordB = chunks.chunks[b.first][b.second / 4];
  int64_t placeA = a.second % 4, placeB = b.second % 4;
  bool isE4M3 = isa<Float8E4M3FNType>(chunks.float8);
  if (wordA == wordB && placeA % 2 == 0 && placeB == placeA + 1)
    return widenBytes(wordA, placeA == 2, isE4M3);
  int64_t evenA = placeA & ~1, evenB = (placeB & ~1) + 4;
  int64_t select = evenA | evenB << 4 | (evenA + 1) << 8 | (evenB + 1) << 12;
  assert(placeA % 2 == placeB % 2 && "expects elements of one product");
  return widenBytes(permute(wordA, wordB, select), placeA % 2 == 1, isE4M3);
}

/// Two f32 values for two instructions of TF32 and two of bf16.
SparseOperand SparseMath::splitPair(Value first, Value second) {
  Type i32 = k.builder.getI32Type();
  auto pack = [&](Value low, Value high) {
    return k
        .inlinePTX({i32}, "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f",
                   {low, high}, /*hasSideEffects=*/false)
        .front();
  };
  auto toFloat = [&](Value bits) {
    return k.bitcast(bits, k.builder.getF32Type());
  };
  MmaOperand low = products.getOperand(first, /*exact=*/false);
  MmaOperand high = products.getOperand(second, /*exact=*/false);
  return {low, high.high, pack(toFloat(low.low), toFloat(high.low)),
          pack(first, second), high.low};
}

std::array<SparseOperand, 2> SparseMath::getOperands(const SparseChunks &chunks,
                                                     int64_t step,
                                                     int64_t part) {
  auto locate = [&](int64_t positionK) {
    return std::pair(positionK / chunks.chunkK,
                     positionK % chunks.chunkK * chunks.pitch + part);
  };
  std::array<SparseOperand, 2> operands;
  for (int64_t slot : {0, 1}) {
    if (!is16BitFloat() && !has16BitResiduals) {
      auto [chunk, place] = locate(2 * step + slot);
      operands[slot].main =
          products.getOperand(chunks.chunks[chunk][place], /*exact=*/false);
      continue;
    }
    if (chunks.float8) {
      operands[slot].narrow = widenPair(chunks, locate(4 * step + 2 * slot),
                                        locate(4 * step + 2 * slot + 1));
      continue;
    }
    if (chunks.arePairs) {
      int64_t word = 2 * part + slot;
      operands[slot].narrow = chunks.chunks[word / 4][word % 4];
      continue;
    }
    auto [chunkA, elementA] = locate(4 * step + 2 * slot);
    auto [chunkB, elementB] = locate(4 * step + 2 * slot + 1);
    operands[slot] =
        is16BitFloat()
            ? SparseOperand{{},
                            {},
                            {},
                            pairHalves(
                                chunks.chunks[chunkA][elementA / 2], elementA,
                                chunks.chunks[chunkB][elementB / 2], elementB)}
            : splitPair(chunks.chunks[chunkA][elementA],
                        chunks.chunks[chunkB][elementB]);
  }
  return operands;
}

/// `value` such that ptxas cannot see where it comes from; nor that `zero` is
/// 0. What several loads brought has to become neighbouring registers, and
/// ptxas moves it for each instruction anew, unless it is the result of
/// something that it cannot see through.
Value SparseMath::hideSource(Value value, Int zero) {
  if (value.getType().getIntOrFloatBitWidth() == 32)
    return k.materialize(k.bitXor(Int(value), zero), 32);
  SmallVector<Value> words =
      k.unpack(k.bitcast(value, VectorType::get({2}, k.builder.getI32Type())));
  for (Value &word : words)
    word = k.materialize(k.bitXor(Int(word), zero), 32);
  return k.bitcast(k.makeVector(words), value.getType());
}

SparseA SparseMath::getOperandA(const SparseChunks &upper,
                                const SparseChunks &lower, int64_t step,
                                int64_t part) {
  auto first = getOperands(upper, step, part);
  auto second = getOperands(lower, step, part);
  SparseA operand{first[0], second[0], first[1], second[1]};
  bool pairsWords =
      is16BitFloat() && !upper.float8 && upper.pitch == 1 && upper.chunkK > 1;
  if (!pairsWords && !element.isF64())
    return operand;
  // No grid is that large.
  Int zero = k.bitAnd(k.gridSize(), 1 << 30);
  for (SparseOperand &part : operand) {
    Value &value = pairsWords ? part.narrow : part.main.high;
    value = hideSource(value, zero);
  }
  return operand;
}

SparseA SparseMath::getOperandOfRowPairs(const SparseChunks &chunks) {
  auto first = getOperands(chunks, /*step=*/0, /*part=*/0);
  auto second = getOperands(chunks, /*step=*/0, /*part=*/1);
  return {first[0], second[0], first[1], second[1]};
}

void SparseMath::multiplyNarrow(ArrayRef<Term> terms, bool isBF16,
                                Value SparseOperand::*a,
                                Value SparseOperand::*b) {
  for (const Term &term : terms) {
    SmallVector<Value> left, right;
    for (const SparseOperand &operand : *term.a)
      left.push_back(operand.*a);
    for (const SparseOperand &operand : *term.b)
      right.push_back(operand.*b);
    SmallVector<Value> results = k.mmaHalf(left, right, *term.sum, isBF16);
    std::copy(results.begin(), results.end(), term.sum->begin());
  }
}

void SparseMath::multiply(ArrayRef<Term> terms) {
  constexpr auto narrow = &SparseOperand::narrow,
                 residuals = &SparseOperand::residuals;
  if (is16BitFloat())
    return multiplyNarrow(terms, element.isBF16(), narrow, narrow);
  if (has16BitResiduals) {
    // The small products first.
    multiplyNarrow(terms, /*isBF16=*/true, residuals, narrow);
    multiplyNarrow(terms, /*isBF16=*/true, narrow, residuals);
    for (unsigned step : {0, 1})
      for (const Term &term : terms) {
        const SparseOperand &upper = (*term.a)[2 * step];
        const SparseOperand &lower = (*term.a)[2 * step + 1];
        const SparseOperand &right = (*term.b)[step];
        SmallVector<Value> results = k.mmaTF32(
            {upper.main.high, lower.main.high, upper.next, lower.next},
            {right.main.high, right.next}, *term.sum);
        std::copy(results.begin(), results.end(), term.sum->begin());
      }
    return;
  }
  SmallVector<MmaA> a(terms.size());
  SmallVector<MmaB> b(terms.size());
  SmallVector<MmaProducts::Term> parts;
  for (auto [index, term] : llvm::enumerate(terms)) {
    const SparseA &left = *term.a;
    const SparseB &right = *term.b;
    a[index] = {left[0].main, left[1].main, left[2].main, left[3].main};
    b[index] = {right[0].main, right[1].main};
    parts.push_back({term.sum, &a[index], &b[index]});
  }
  products.multiply(parts);
}

Value SparseMath::getValidBytes(Value exists, Int left, int64_t bytes,
                                Type type) {
  int64_t elementBytes = (type ? type : element).getIntOrFloatBitWidth() / 8;
  int64_t elements = bytes / elementBytes;
  bool isWhole = left.isConstant() && left.getConstant() >= elements;
  if (isWhole && !exists)
    return nullptr;
  Int count = isWhole ? Int(elements) : k.min(left, elements);
  Value valid = k.materialize(k.mul(count, elementBytes), 32);
  return exists ? k.select(exists, valid, k.materialize(0, 32)) : valid;
}

void SparseMath::copy(ArrayRef<SparsePiece> pieces, int64_t bytes,
                      bool wholeLines) {
  if (bytes >= 4) {
    for (const SparsePiece &piece : pieces)
      k.ifThen(piece.exists, [&] {
        k.copyAsync(piece.to, piece.from, bytes, piece.valid, wholeLines);
      });
    return;
  }
  // No asynchronous copy is that narrow.
  SmallVector<Value> loaded;
  for (const SparsePiece &piece : pieces) {
    Type type = piece.element ? piece.element : element;
    Value any;
    if (piece.valid)
      any = k.less(0, Int(piece.valid));
    loaded.push_back(k.orZero(any, type, [&] {
      return k.load(type, piece.from, CacheHint::ReadOnly);
    }));
  }
  for (auto [piece, value] : llvm::zip(pieces, loaded))
    k.ifThen(piece.exists,
             [&, to = piece.to, value = value] { k.store(value, to); });
}

void SparseMath::copyItems(int64_t threads, Int thread, int64_t items,
                           int64_t unroll, int64_t bytes, bool wholeLines,
                           function_ref<SparsePiece(Int item)> get) {
  forItems(k, threads, thread, items, unroll,
           [&](ArrayRef<Int> numbers, ArrayRef<Value> exist) {
             SmallVector<SparsePiece> pieces;
             for (auto [item, exists] : llvm::zip(numbers, exist)) {
               SparsePiece piece = get(item);
               piece.exists = exists;
               pieces.push_back(piece);
             }
             copy(pieces, bytes, wholeLines);
           });
}

SmallVector<Value>
SparseMath::sumSteps(Int steps, int64_t count, bool partial,
                     function_ref<void(Int, MutableArrayRef<MmaC>)> body) {
  SmallVector<Value> zeros(4 * count, products.getZero());
  return k.rolledLoop(0, steps, 1, zeros, [&](Int step, ValueRange carried) {
    SmallVector<MmaC> sums(count, products.getZeros());
    if (!partial)
      for (int64_t index = 0; index < 4 * count; ++index)
        sums[index / 4][index % 4] = carried[index];
    body(step, sums);
    SmallVector<Value> results;
    for (int64_t index = 0; index < 4 * count; ++index) {
      Value sum = sums[index / 4][index % 4];
      if (partial)
        sum = arith::AddFOp::create(k.builder, k.loc, carried[index], sum);
      results.push_back(sum);
    }
    return results;
  });
}
