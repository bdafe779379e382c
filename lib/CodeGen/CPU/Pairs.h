//===- Pairs.h - Neighbours of bf16 in one word -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A bf16 value is the upper half of the same f32 value. So a vector of 32-bit
// words that hold two of them each becomes two vectors of f32, the even and the
// odd elements, by a shift and a mask; widening as many elements in their order
// takes twice the instructions, half of which only one port does.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_PAIRS_H
#define KRON_LIB_CODEGEN_CPU_PAIRS_H

#include "kron/CodeGen/Emitter.h"
#include <utility>

namespace mlir::kron {

/// The `2 * lanes` elements of bf16 at `pointer` as words of two, whatever the
/// type of the vector says; `count` of them exist (an even number), the others
/// are zero.
Value emitWordLoad(Emitter &emitter, int64_t lanes, Value pointer,
                   int64_t count);

/// Words of the even and the odd elements, which are bf16 values as f32.
Value emitWords(Emitter &emitter, Value even, Value odd);

/// The even and the odd ones of the `2 * lanes` elements of bf16 at `pointer`,
/// as f32; `count` of them exist (an even number), the others are zero.
std::pair<Value, Value> emitPairLoad(Emitter &emitter, int64_t lanes,
                                     Value pointer, int64_t count);

/// The even and the odd segments of `segment` elements of `first` and, behind
/// it, `second`.
std::pair<Value, Value> emitDeinterleaved(Emitter &emitter, Value first,
                                          Value second, int64_t segment = 1);

/// From words of neighbours those of elements that lie `segment` elements
/// apart, of every two segments.
Value emitWordsOfSegments(Emitter &emitter, Value words, int64_t segment);

/// Words of the elements of `first` and `second`, words of bf16 that are
/// neighbours, with the same number: those of the lower and of the upper half
/// of every 128 bits.
std::pair<Value, Value> emitUnpacked(Emitter &emitter, Value first,
                                     Value second);

/// The same order from words in that of elements, and back.
std::pair<Value, Value> emitHalvesApart(Emitter &emitter, Value first,
                                        Value second);
std::pair<Value, Value> emitHalvesTogether(Emitter &emitter, Value lower,
                                           Value upper);

/// `sum` plus the products of pairs of bf16, which are words in the lanes of
/// `a` and `b` whatever their type says: the two of every lane are added to it,
/// in f32, one after the other (AVX512-BF16). Values below the smallest normal
/// one count as zero. Without a sum, the products alone.
Value emitPairProduct(Emitter &emitter, Value a, Value b, Value sum);


/// Segments of `segment` elements of `even` and `odd` in turn, in two vectors.
std::pair<Value, Value> emitInterleaved(Emitter &emitter, Value even, Value odd,
                                        int64_t segment = 1);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_PAIRS_H
