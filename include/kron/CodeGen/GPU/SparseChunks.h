//===- SparseChunks.h - Chunks of a sparse kernel's operands ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kernels of Kronecker-sparse factors read operands of matrix instructions from
// shared memory in chunks. Which positions on K a thread's chunks hold is up to
// the kernel, as long as both operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_SPARSECHUNKS_H
#define KRON_CODEGEN_GPU_SPARSECHUNKS_H

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/MmaProducts.h"

namespace mlir::kron {

/// Chunks of one row of an operand as a thread holds them.
struct SparseChunks {
  /// f32 or f64 values, or i32 words of two 16-bit values.
  SmallVector<SmallVector<Value>> chunks;
  /// Positions on K per chunk, and elements between them.
  int64_t chunkK, pitch;
  /// The type of 8-bit values, four in a word; null otherwise.
  Type float8 = nullptr;
  /// Whether words are pairs along K already: the two of each product's
  /// operand, one product after the other.
  bool arePairs = false;
};

/// What a thread gives a matrix instruction of one row: a value or a pair of
/// 16-bit values.
struct SparseOperand {
  MmaOperand main;
  /// Values that are split: the same for the next TF32 instruction, whose
  /// residual is `nextLow`; and, for instructions of bf16, the residuals of the
  /// two of them, and they themselves.
  Value next, residuals, narrow, nextLow = nullptr;
};

using SparseA = std::array<SparseOperand, 4>;
using SparseB = std::array<SparseOperand, 2>;

/// A copy of up to 16 bytes from global to shared memory.
struct SparsePiece {
  Value from, to;
  /// Bytes that are read, the others become zero (null: all are read), and
  /// whether anything is copied at all (null: it is).
  Value valid, exists;
  /// What a copy of less than 4 bytes is of (null: as products have).
  Type element = nullptr;
};

/// Builds what kernels of f32, f64, f16 or bf16 elements do with chunks.
class SparseMath {
public:
  /// `has16BitResiduals`: products of what splitting f32 values leaves are of
  /// bf16. `hasFloat8`: whether the chip widens 8-bit values itself.
  SparseMath(KernelBuilder &kernel, MmaProducts &products, Type element,
             bool has16BitResiduals = false, bool hasFloat8 = false)
      : k(kernel), products(products), element(element),
        has16BitResiduals(has16BitResiduals), hasFloat8(hasFloat8) {}

  /// The `bytes` of a chunk.
  SmallVector<Value> loadChunk(Value pointer, int64_t bytes);
  /// The two operands of a row that matrix instruction number `step` of its
  /// chunks takes: at every position on K the element number `part`.
  std::array<SparseOperand, 2> getOperands(const SparseChunks &chunks,
                                           int64_t step, int64_t part);
  /// Operand A, of rows g and g + 8.
  SparseA getOperandA(const SparseChunks &upper, const SparseChunks &lower,
                      int64_t step, int64_t part);
  /// The same of f64 rows of which two are side by side in each of `chunks`,
  /// one for each position on K: these are rows g and g + 8, so that registers
  /// of the operand are those of loads.
  SparseA getOperandOfRowPairs(const SparseChunks &chunks);
  /// A sum and what is added to it.
  struct Term {
    MmaC *sum;
    const SparseA *a;
    const SparseB *b;
  };
  /// sum += a * b for all terms.
  void multiply(ArrayRef<Term> terms);
  /// Loops over `steps`, each of which `body` adds to `count` sums; returns
  /// their values, four per sum. `partial`: a K step's sums start at zero and
  /// are then added to those of the K steps before.
  SmallVector<Value>
  sumSteps(Int steps, int64_t count, bool partial,
           function_ref<void(Int, MutableArrayRef<MmaC>)> body);
  /// Bytes that a copy of `bytes` reads: those of `left` elements of `type`
  /// (null: as products have) if it `exists`; null if that is all of them.
  Value getValidBytes(Value exists, Int left, int64_t bytes,
                      Type type = nullptr);
  /// Starts copies of `bytes` each; narrow ones are done when it returns.
  /// `wholeLines`: the rest of the lines of 128 bytes is soon wanted by others.
  void copy(ArrayRef<SparsePiece> pieces, int64_t bytes, bool wholeLines);
  /// The same of those that `get` says of `items`, shared out among `threads`,
  /// of which this is number `thread`, `unroll` at a time.
  void copyItems(int64_t threads, Int thread, int64_t items, int64_t unroll,
                 int64_t bytes, bool wholeLines,
                 function_ref<SparsePiece(Int item)> get);

  /// Elements number `elementA` of `wordA`'s array and `elementB` of `wordB`'s
  /// as a word of two 16-bit values.
  Value pairHalves(Value wordA, int64_t elementA, Value wordB,
                   int64_t elementB);
  /// Four bytes of `words` as a word.
  Value gatherBytes(ArrayRef<Value> words, std::array<int64_t, 4> bytes);

private:
  bool is16BitFloat() const { return element.getIntOrFloatBitWidth() == 16; }
  Value hideSource(Value value, Int zero);
  SparseOperand splitPair(Value first, Value second);
  Value permute(Value wordA, Value wordB, int64_t select);
  Value widenPair(const SparseChunks &chunks, std::pair<int64_t, int64_t> a,
                  std::pair<int64_t, int64_t> b);
  Value widenBytes(Value word, bool isUpper, bool isE4M3);
  void multiplyNarrow(ArrayRef<Term> terms, bool isBF16,
                      Value SparseOperand::*a, Value SparseOperand::*b);

  KernelBuilder &k;
  MmaProducts &products;
  Type element;
  bool has16BitResiduals, hasFloat8;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_SPARSECHUNKS_H
