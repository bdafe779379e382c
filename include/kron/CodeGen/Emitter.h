//===- Emitter.h - Folding builder for loops and addresses ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The emitters know most sizes and strides and have to compute the others.
// `Int` is either, and `Emitter` folds while it builds, so that emitters are
// written once and static shapes cost nothing. Arithmetic is on i64, or on i32
// where all operands are (a GPU computes 64-bit addresses in two steps): it
// feeds llvm.getelementptr and scf.for directly, without casts.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_EMITTER_H
#define KRON_CODEGEN_EMITTER_H

#include "kron/Plan/Int.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include <optional>

namespace mlir::kron {

/// Builds i64 arithmetic, loops, and loads and stores through bare pointers.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, Type element,
          unsigned indexBits = 64)
      : builder(builder), loc(loc), element(element), indexBits(indexBits) {}

  OpBuilder &builder;
  const Location loc;
  /// Type of the elements that are computed with; a vector of two (parts) for
  /// complex numbers. Arrays hold them as they are, unless a load or a store
  /// says otherwise.
  const Type element;
  /// Width of constants and of loops between constants; values keep theirs, and
  /// the result of an operation has the width of its widest operand.
  const unsigned indexBits;
  /// Whether the target converts between f16 and f32 itself; else integer
  /// arithmetic does, since LLVM would call a library.
  bool has16BitConversion = true;
  /// Whether an instruction may round 16 values of f32 to bf16, subnormal ones
  /// to zero (AVX512-BF16).
  bool roundsToBF16 = false;
  /// Whether the target stores chosen lanes as fast as all (AVX-512); else the
  /// first lanes, of a number that is known, are stored in parts.
  bool hasLaneMasks = true;

  /// 2 for complex numbers, else 1; and the type of such a part.
  int64_t getNumParts() const { return isa<VectorType>(element) ? 2 : 1; }
  Type getPartType() const { return getElementTypeOrSelf(element); }
  int64_t getElementBytes() const {
    return getNumParts() * getPartType().getIntOrFloatBitWidth() / 8;
  }

  //===--------------------------------------------------------------------===//
  // Integers
  //===--------------------------------------------------------------------===//

  /// The number in the width of its value, or `indexBits` if it is a constant
  /// that fits; `bits` forces a width, which must be able to hold it.
  Value materialize(Int number, unsigned bits = 0);
  Int add(Int lhs, Int rhs);
  Int sub(Int lhs, Int rhs);
  Int mul(Int lhs, Int rhs);
  /// Division of non-negative numbers by a positive one.
  Int floorDiv(Int lhs, Int rhs);
  Int ceilDiv(Int lhs, Int rhs);
  Int rem(Int lhs, Int rhs);
  Int min(Int lhs, Int rhs);
  Int max(Int lhs, Int rhs);
  /// On non-negative numbers.
  Int bitAnd(Int lhs, Int rhs);
  Int bitOr(Int lhs, Int rhs);
  Int bitXor(Int lhs, Int rhs);
  /// The number in 64 bits, or in 32, which must be able to hold it.
  Int extend(Int number);
  Int truncate(Int number);
  /// lhs < rhs and lhs == rhs, as i1.
  Value less(Int lhs, Int rhs);
  Value equal(Int lhs, Int rhs);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// for (i = begin; i < end; i += step) body(i). A loop of no or one
  /// iteration, where that is known, is not built.
  void forLoop(Int begin, Int end, Int step, function_ref<void(Int)> body);

  /// The same, carrying values from one iteration to the next.
  SmallVector<Value>
  forLoop(int64_t begin, int64_t end, int64_t step, ValueRange carried,
          function_ref<SmallVector<Value>(Int, ValueRange)> body);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//
  //
  // `stored` is the type of an array's elements in memory where that is not
  // `element`: f16 or bf16 under f32. They are converted on the way.

  /// `base + offset`, in elements.
  Value offsetPointer(Value base, Int offset, Type stored = nullptr);
  Value loadScalar(Value pointer, Type stored = nullptr);
  void storeScalar(Value value, Value pointer, Type stored = nullptr);
  /// Loads a vector of `type`; lanes where `mask` (may be null) is false are
  /// not touched and read as zero.
  Value loadVector(VectorType type, Value pointer, Value mask,
                   Type stored = nullptr);
  /// `streams`: with a non-temporal store, to an address that is a multiple of
  /// the vector's size (without a mask only; else as usual).
  void storeVector(Value vector, Value pointer, Value mask,
                   Type stored = nullptr, bool streams = false);
  /// Prefetches the cache line at `pointer`, which need not exist, into the
  /// second-level cache.
  void prefetch(Value pointer);

  /// A vector of `lanes` elements; the parts of complex ones lie next to each
  /// other, as in memory.
  VectorType getVectorType(int64_t lanes) const {
    return VectorType::get({lanes * getNumParts()}, getPartType());
  }
  Value zero(Type type);
  /// A mask of `lanes` elements of which the first `count` are set; null if all
  /// are.
  Value firstLanes(int64_t lanes, Int count);
};

} // namespace mlir::kron

#endif // KRON_CODEGEN_EMITTER_H
