//===- TileDialect.h - The tile dialect -------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEDIALECT_H
#define KRON_DIALECT_TILE_IR_TILEDIALECT_H

#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "mlir/IR/Dialect.h"

#include "kron/Dialect/Tile/IR/TileDialect.h.inc"

namespace mlir::kron::tile {

/// Attribute of a gpu.func that is a kernel of tile operations.
inline constexpr llvm::StringLiteral kKernelAttrName = "tile.kernel";

} // namespace mlir::kron::tile

#endif // KRON_DIALECT_TILE_IR_TILEDIALECT_H
