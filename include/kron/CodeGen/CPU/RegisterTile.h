//===- RegisterTile.h - The innermost kernel --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every mode product ends in one kernel:
//
//   acc[r][s] += sum_p  A(r, p) * B(s, p)        r < rows, s < vectors
//
// where acc[r][s] is a vector of the native width, B a vector load and A one of
//
//   Scalar  one element, broadcast to all lanes
//   Group   `group` elements, repeated to fill the lanes
//   Vector  as many elements as there are lanes
//
// Complex numbers lie in the lanes as in memory, real and imaginary parts in
// turn, and take two accumulators,
//
//   re[r][s] += sum_p  Re A(r, p) * B(s, p)
//   im[r][s] += sum_p  Im A(r, p) * B(s, p)
//
// so that loops hold multiply-adds only. Behind them, i * im is added to re: a
// shuffle and another multiply-add, with the signs that conjugation asks for.
//
// Loads per multiply-add are (rows + vectors) / (rows * vectors), so the tile
// is as square as the accumulators that fit the register file allow.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_CPU_REGISTERTILE_H
#define KRON_CODEGEN_CPU_REGISTERTILE_H

#include "kron/CodeGen/Emitter.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Plan/CPU/Registers.h"

namespace mlir::kron {

/// Addresses of one operand of the tile, in elements from `base`.
struct TileOperand {
  enum class Kind { Scalar, Group, Vector };

  Kind kind = Kind::Vector;
  Value base;
  /// From one row (A) or one vector (B) to the next.
  Int blockStride;
  /// From one p to the next.
  Int strideK;
  /// Elements of a group.
  int64_t group = 1;
  bool isConjugate = false;
  /// How the elements of vectors lie in memory; null: as they are computed.
  Type element = nullptr;
};

/// Where the tile's results go: `alpha * acc + beta * Z`.
struct TileResult {
  Value base;
  Int rowStride;
  Int vectorStride;
  /// Z, addressed like the result with its own strides; null without one.
  Value addend;
  Int addendRowStride;
  Int addendVectorStride;
  /// How the elements of both lie in memory; null: as they are computed.
  Type element, addendElement;
};

/// A value; `imaginary` only if it is complex.
struct TileScalar {
  Value real, imaginary;
  explicit operator bool() const { return static_cast<bool>(real); }
};

/// alpha and beta inside a kernel. Absent ones are 1 and 0.
struct TileScale {
  TileScalar alpha, beta;
};

/// Results that are stored non-temporally from a copy while something else is
/// computed: whole lines, as long as some are left. The slots are memory of one
/// pointer each: the next line of the copy, where it goes to, and the end of
/// that.
struct DrainStream {
  /// Null: there are none.
  Value from, to, end;
  double bytesPerFma = 0;
  /// Lines that one register tile stores, at most.
  int64_t mostLines = 1;
};

/// Cache lines that are prefetched while something else is computed: from the
/// address in `slot` on, which moves on with every register tile. What is to be
/// read are segments of `segmentBytes` bytes, `stride` bytes apart.
struct PrefetchStream {
  /// Memory of one pointer; null: nothing is prefetched.
  Value slot;
  double bytesPerFma = 0;
  /// Lines that one register tile prefetches, at most; where a window takes few
  /// tiles the rest is left out.
  int64_t mostLines = 1;
  int64_t segmentBytes = 0;
  /// Not used with segments of 0 bytes: then all bytes follow each other.
  Int stride;
  /// Memory of the bytes of a segment that have been prefetched, an i64, for
  /// register tiles that prefetch parts of segments; null: all of them prefetch
  /// whole ones.
  Value position;
  /// Whether register tiles prefetch one line after the other while they
  /// compute: with few registers, what is kept for that would push out others.
  bool isSpread = false;
  /// The same is prefetched so many bytes further on, where results will be
  /// stored; null: nowhere.
  Value resultOffset;
  DrainStream drain;
};

/// Parts of every vector of results that go to places of their own, `stride`
/// apart: `count` of the last vector, all of the others.
struct TileParts {
  /// Lanes of a part; 0: vectors are stored as they are.
  int64_t lanes = 0;
  int64_t count = 0;
  Int stride;
};

struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;
  int64_t sizeK = 1;
  TileOperand a, b;
  TileResult result;
  TileParts resultParts;
  /// So many rows, of which there is a multiple, share a vector behind those of
  /// their own, which has the last lanes / sharingRows results of each.
  int64_t sharingRows = 1;
  TileScale scale;
  /// Whether elements of A and B are pairs of bf16 (Pairs.h), whose two
  /// products are added.
  bool hasPairs = false;
  /// Whether results are stored non-temporally.
  bool streams = false;
  PrefetchStream prefetch;
  /// Whether the rows of B along p are pieces of memory of their own: a loop
  /// over p would make the processor prefetch what lies behind the last one.
  bool readsSegments = false;
  /// Elements of B from each vector to one that a later tile takes, which is
  /// prefetched; 0: none is.
  Int ahead = 0;
  /// If there are several, every row is so many short fibres that lie one after
  /// the other, at `a` and in the result. They are multiplied with their
  /// elements in turn: each row of `a` is rearranged into a vector of
  /// `interleaved` first, each result on its way out. Without that memory they
  /// stay as they lie, and shuffles repeat their elements; then B is a group
  /// for every p, in `groups`.
  int64_t fibres = 1;
  Value interleaved;
  SmallVector<Value> groups;
  /// Lanes that exist, of the last vector (`maskAll`: of every vector; with
  /// several `fibres`: of the last row). Null: all.
  Value mask;
  /// Lanes that exist in the other vectors. Null: all.
  Value usedLanes;
  bool maskAll = false;
};

/// `alpha * value + beta * addend` with the BLAS rule for zeros, on scalars or
/// vectors; `addend` is used only if there is a beta.
Value emitScaledSum(Emitter &emitter, const TileScale &scale, Value value,
                    function_ref<Value()> addend);

/// Prefetches what `fmas` multiply-adds have time for.
void emitPrefetches(Emitter &emitter, const PrefetchStream &stream,
                    int64_t fmas);

/// The rows of B, a group each, that `tile` takes from registers.
SmallVector<Value> loadGroups(Emitter &emitter, const RegisterTile &tile);

/// Builds the kernel at the emitter's position.
void emitRegisterTile(Emitter &emitter, const RegisterTile &tile);

} // namespace mlir::kron

#endif // KRON_CODEGEN_CPU_REGISTERTILE_H
