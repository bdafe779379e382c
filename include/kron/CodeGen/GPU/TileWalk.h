//===- TileWalk.h - Positions of threads within a tile ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How the threads of a CTA share out the elements of a tile, and where those
// are in an array.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CODEGEN_GPU_TILEWALK_H
#define KRON_CODEGEN_GPU_TILEWALK_H

#include "kron/CodeGen/GPU/KernelBuilder.h"

namespace mlir::kron {

/// An array in global memory and the type of its elements.
struct GlobalArray {
  StepArray array;
  Type element;
};

/// Where in a tile something is: a position per axis.
using Positions = SmallVector<Int>;

/// Spreads `total` items over `threads`, of which this is number `thread`, each
/// taking up to `unroll` at a time that are `threads` apart. An item that may
/// be beyond the end comes with a condition (null: it exists) and has the
/// number of the last one then.
void forItems(KernelBuilder &kernel, int64_t threads, Int thread, int64_t total,
              int64_t unroll,
              function_ref<void(ArrayRef<Int>, ArrayRef<Value>)> body);

/// Positions of item number `item` when axes are walked in `order`, the fastest
/// first; axes that are not in it are at 0.
Positions decodeItem(KernelBuilder &kernel, Int item, ArrayRef<int64_t> extents,
                     ArrayRef<unsigned> order);

/// Position number `number` of an array of `sizes`, the last of which is
/// innermost.
Positions delinearize(KernelBuilder &kernel, Int number,
                      ArrayRef<int64_t> sizes);

/// A number whose digits, each of a base of its own, are taken from the fastest
/// one on; `rest` is that of the others.
struct Digits {
  KernelBuilder &kernel;
  Int rest;

  Int take(Int base);
};

/// The sum of positions times strides, in 64 bits unless it is known to fit 32.
Int getTileOffset(KernelBuilder &kernel, const Positions &positions,
                  ArrayRef<int64_t> extents, ArrayRef<Int> strides);

/// Axes by ascending stride, so that neighbouring threads access neighbouring
/// memory.
SmallVector<unsigned> getWalkOrder(ArrayRef<Int> strides);

} // namespace mlir::kron

#endif // KRON_CODEGEN_GPU_TILEWALK_H
