//===- TileShared.h - What operations on tiles share ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_TILE_IR_TILESHARED_H
#define KRON_LIB_DIALECT_TILE_IR_TILESHARED_H

#include "kron/Dialect/Tile/IR/TileOps.h"

namespace mlir::kron::tile {

/// Parses an integer, attribute `name` of an operation.
ParseResult parseNumber(OpAsmParser &parser, OperationState &result,
                        StringRef name);

/// Parses the attributes and the body of a loop that has these arguments, the
/// first of which is of type index.
ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                      MutableArrayRef<OpAsmParser::Argument> arguments);

/// Prints these, but the attributes `elided`, and with `yields` the end of the
/// body.
void printBody(OpAsmPrinter &printer, Operation *op, ArrayRef<StringRef> elided,
               bool yields = false);

/// Whether the body of loop `op` has an argument of type index, and behind it
/// those that it carries, of types `carried`, and yields them; else an error.
LogicalResult verifyBody(Operation *op, TypeRange carried);

/// Whether `value` is the tile of a turn of a tile.for.
bool isTile(Value value);

/// The rules of a tile.store of columns.
LogicalResult verifyStoredColumns(StoreOp op);

} // namespace mlir::kron::tile

#endif // KRON_LIB_DIALECT_TILE_IR_TILESHARED_H
