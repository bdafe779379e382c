//===- Rearrange.h - Copies that change the order of elements ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A factor is packed in every call, so packing must cost a fraction of a cycle
// per element: whole vectors are loaded, shuffled and stored. Elements have one
// part; `stored` is their type at `from` where it is not the emitter's.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_REARRANGE_H
#define KRON_LIB_CODEGEN_CPU_REARRANGE_H

#include "kron/CodeGen/Emitter.h"

namespace mlir::kron {

/// Calls `body(first, count)` for blocks of `block` out of `size`, the last one
/// of which may be smaller.
void forBlocks(Emitter &emitter, int64_t size, int64_t block,
               function_ref<void(Int, int64_t)> body);

/// Transposes a square of units, one vector per row: exchanges blocks of 1, 2,
/// 4, ... units between pairs of rows that lie as far apart.
void transposeSquare(Emitter &emitter, MutableArrayRef<Value> rows,
                     int64_t unit);

/// A matrix whose elements are `unit` values that stay together: (r, c) of
/// `rows` x `columns` is read at `r * sourceStride + c * unit` and written at
/// `c * targetStride + r * unit`.
struct Transposition {
  int64_t rows = 0, columns = 0;
  int64_t unit = 1;
  Int sourceStride = 0;
  int64_t targetStride = 0;
};

/// Builds the loops that copy `from`, transposed, to `to`, in vectors of
/// `lanes` lanes, a multiple of the unit. Units must be powers of two.
void emitTransposition(Emitter &emitter, const Transposition &shape,
                       int64_t lanes, Value from, Value to, Type stored);

/// The same for `shape` with units of 1, rows that follow each other without
/// gaps, and a power of two below `lanes` of columns: no lane stays empty.
void emitDeinterleaving(Emitter &emitter, const Transposition &shape,
                        int64_t lanes, Value from, Value to, Type stored);

/// Prefetches the cache line at `pointer`, which need not exist, into the
/// first-level cache: it is used soon.
void emitPrefetchSoon(Emitter &emitter, Value pointer);

/// Builds a loop that copies `elements` contiguous elements.
void emitContiguousCopy(Emitter &emitter, int64_t elements, int64_t lanes,
                        Value from, Value to, Type stored);

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_REARRANGE_H
