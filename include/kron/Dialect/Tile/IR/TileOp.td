//===- TileOp.td - What operations on tiles share ----------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEOP_TD
#define KRON_DIALECT_TILE_IR_TILEOP_TD

include "kron/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

/// What names the results of an operation, or the argument of a loop, have in
/// printed text.
def Tile_NamesResult
    : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;
def Tile_NamesArgument
    : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>;

/// Elements that atoms of scalars compute with.
def Tile_Scalar : AnyTypeOf<[F32, F64, I32, I64, Complex<F32>, Complex<F64>]>;

class Tile_Count<string byDefault>
    : DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, byDefault>;

#endif // KRON_DIALECT_TILE_IR_TILEOP_TD
