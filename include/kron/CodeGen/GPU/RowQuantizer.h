//===- RowQuantizer.h - Eight bits per element and a scale ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What kernels that quantise rows share: the largest magnitude as bits of f32,
// the scale that follows, and the bytes. It is what kron.quantize's description
// says, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_ROWQUANTIZER_H
#define KRON_CODEGEN_GPU_ROWQUANTIZER_H

#include "kron/CodeGen/GPU/KernelBuilder.h"

namespace mlir::kron {

/// The scale of a row.
struct RowScale {
  /// What is stored, and what elements are multiplied by; 0 for a row that
  /// becomes zeros.
  Value stored, inverse;
  Value isUsable;
};

/// A row that threads share, in chunks of 16 bytes.
struct ChunkedRow {
  /// Of its values: f32, f16 or bf16.
  Type element;
  /// Chunks of each thread, and as many at most stay in registers between what
  /// is done with them; others are read twice.
  int64_t chunks, mostKept;
  /// False for threads of a row that is not stored; null: it is.
  Value exists;
  /// This thread's chunk of some number, as four words.
  function_ref<Value(Int)> load;
  /// The largest one of those of all threads.
  function_ref<Value(Value)> share;
  function_ref<void(Value)> storeScale;
  /// Stores a chunk's bytes, one or two words.
  function_ref<void(Int, Value)> store;
};

class RowQuantizer {
public:
  /// `byte`: the type of the results. `hasFloat8`: whether the chip rounds to
  /// 8 bits itself.
  RowQuantizer(KernelBuilder &kernel, Type byte, bool hasFloat8)
      : k(kernel), byte(byte), hasFloat8(hasFloat8) {}

  /// An i32 0, to start with.
  Value zero() { return constant(0); }
  /// The larger one of `largest` and the magnitudes of `numbers` (f32).
  Value addMagnitudes(Value largest, ArrayRef<Value> numbers);
  Value max(Value lhs, Value rhs);
  /// The largest of `lanes` neighbouring lanes, a power of two up to 32.
  Value shareInWarp(Value largest, int64_t lanes);
  RowScale getScale(Value largest);
  /// Four values as the bytes of a word.
  Value packWord(ArrayRef<Value> numbers, const RowScale &scale);
  /// All of a row.
  void quantizeRow(const ChunkedRow &row);

private:
  Value constant(int64_t bits);
  Value roundWord(ArrayRef<Value> numbers);
  SmallVector<Value> unpackChunk(Value chunk, Type element);

  KernelBuilder &k;
  Type byte;
  bool hasFloat8;
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_ROWQUANTIZER_H
