//===- SparseChunks.cpp - Chunks of a sparse kernel's operands ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparseChunks.h"

using namespace mlir;
using namespace mlir::kron;

SmallVector<Value> SparseMath::loadChunk(Value pointer, int64_t bytes) {
  Type word = isHalf() ? Type(k.builder.getI32Type()) : element;
  int64_t words = bytes / (element.isF64() ? 8 : 4);
  return k.unpack(k.load(VectorType::get({words}, word), pointer));
}

/// Two halves as operand of a matrix instruction.
Value SparseMath::pairHalves(Value wordA, int64_t elementA, Value wordB,
                             int64_t elementB) {
  if (wordA == wordB && elementA + 1 == elementB)
    return wordA;
  int64_t select =
      (elementA % 2 ? 0x32 : 0x10) | (elementB % 2 ? 0x7600 : 0x5400);
  return k
      .inlinePTX({k.builder.getI32Type()},
                 "prmt.b32 $0, $1, $2, " + std::to_string(select) + ";",
                 "=r,r,r", {wordA, wordB}, /*hasSideEffects=*/false)
      .front();
}

std::array<MmaOperand, 2> SparseMath::getOperands(const SparseChunks &chunks,
                                                  int64_t step, int64_t part) {
  auto locate = [&](int64_t depth) {
    return std::pair(depth / chunks.depthPerChunk,
                     depth % chunks.depthPerChunk * chunks.pitch + part);
  };
  std::array<MmaOperand, 2> operands;
  for (int64_t slot : {0, 1}) {
    if (!isHalf()) {
      auto [chunk, place] = locate(2 * step + slot);
      operands[slot] = products.getOperand(chunks.chunks[chunk][place],
                                           /*exact=*/false);
      continue;
    }
    auto [chunkA, elementA] = locate(4 * step + 2 * slot);
    auto [chunkB, elementB] = locate(4 * step + 2 * slot + 1);
    operands[slot] = {pairHalves(chunks.chunks[chunkA][elementA / 2], elementA,
                                 chunks.chunks[chunkB][elementB / 2], elementB),
                      nullptr};
  }
  return operands;
}

void SparseMath::multiply(ArrayRef<MmaProducts::Term> terms) {
  if (!isHalf())
    return products.multiply(terms);
  for (const MmaProducts::Term &term : terms) {
    SmallVector<Value> a, b;
    for (const MmaOperand &operand : *term.a)
      a.push_back(operand.high);
    for (const MmaOperand &operand : *term.b)
      b.push_back(operand.high);
    SmallVector<Value> results = k.mmaHalf(a, b, *term.sum, element.isBF16());
    std::copy(results.begin(), results.end(), term.sum->begin());
  }
}

Value SparseMath::getValidBytes(Value exists, Int left, int64_t bytes) {
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
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
    Value any;
    if (piece.valid)
      any = k.less(0, Int(piece.valid));
    loaded.push_back(
        k.ifElse(
             any, {element},
             [&]() -> SmallVector<Value> {
               return {k.load(element, piece.from, CacheHint::ReadOnly)};
             },
             [&]() -> SmallVector<Value> { return {k.constant(element, 0.0)}; })
            .front());
  }
  for (auto [piece, value] : llvm::zip(pieces, loaded))
    k.ifThen(piece.exists,
             [&, to = piece.to, value = value] { k.store(value, to); });
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
