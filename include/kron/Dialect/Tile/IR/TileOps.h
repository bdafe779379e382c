//===- TileOps.h - Types, attributes and operations of tiles ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEOPS_H
#define KRON_DIALECT_TILE_IR_TILEOPS_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Tile/IR/TileBatch.h"
#include "kron/Dialect/Tile/IR/TileDialect.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kron/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kron/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "kron/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Tile/IR/TileOps.h.inc"

namespace mlir::kron::tile {

/// Sizes of the atom `dmma.m16n8k8`.
inline constexpr int64_t kDmmaSizeM = 16, kDmmaSizeN = 8, kDmmaSizeK = 8;

/// Barriers that a CTA has beside the one of all its threads.
inline constexpr int64_t kNamedBarriers = 15;

/// The attribute tile.kernel of the kernel that `op` is in; null if it is in
/// none.
KernelAttr getKernel(Operation *op);
/// Threads of the kernel that `op` is in; 0 if it is in none.
int64_t getThreads(Operation *op);
/// Whether CTAs of that kernel share tiles.
bool hasCluster(Operation *op);

/// The type of sums of products of elements of type `element`.
Type getSumType(Type element);
/// Whether elements of type `element` are summed up in `sums`: that type, or
/// one that they are widened to.
bool areSummedIn(Type element, Type sums);
/// Bytes of an element, which may be complex.
int64_t getBytesOf(Type element);
/// The most elements of a tile, and bytes of shared memory: offsets in either
/// have 32 bits.
inline constexpr int64_t kMostElements = (int64_t(1) << 31) - 1;
/// Whether `sizes` are those of a tile: known, positive, and not of more
/// elements than that.
bool areTileSizes(ArrayRef<int64_t> sizes);

/// Columns of a thread, of a tile of `rows` rows of elements of `bytes`, whose
/// values the memory of `ring` has room for at a time, if `lanes` threads are
/// next to each other along the columns; and bytes from one such column to the
/// next.
int64_t countTurnedColumns(RingType ring, int64_t rows, int64_t lanes,
                           int64_t bytes);
int64_t getTurnedPitch(int64_t rows, int64_t lanes, int64_t bytes);

/// Checks that no thread of `kernel` reads what is not there yet, or writes
/// where others read or write.
LogicalResult verifyHazards(gpu::GPUFuncOp kernel);

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILEOPS_H
