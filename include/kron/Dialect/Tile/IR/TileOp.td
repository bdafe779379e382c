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

/// A list of names in C++.
class Tile_NameList<list<string> names> {
  string text = !if(!empty(names), "{}",
                    "{\"" # !interleave(names, "\", \"") # "\"}");
}

/// An operation. Its results, and the arguments of its region, have the names
/// that are given, if any are, in printed text.
class Tile_Op<string mnemonic, list<Trait> traits = [],
              list<string> resultNames = [], list<string> argumentNames = []>
    : Op<Tile_Dialect, mnemonic,
         traits # !if(!empty(resultNames # argumentNames), [],
                      [DeclareOpInterfaceMethods<OpAsmOpInterface,
                                                 ["getAsmResultNames",
                                                  "getAsmBlockArgumentNames"]>])> {
  let extraClassDefinition = !if(!empty(resultNames # argumentNames), "", [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setNames(getOperation()->getResults(), }]
          # Tile_NameList<resultNames>.text # [{, setName);
    }
    void $cppClass::getAsmBlockArgumentNames(
        ::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setName) {
      setNames(region.getArguments(), }]
          # Tile_NameList<argumentNames>.text # [{, setName);
    }
  }]);
}

/// Elements that atoms of scalars compute with.
def Tile_Scalar : AnyTypeOf<[F32, F64, I32, I64, Complex<F32>, Complex<F64>]>;

class Tile_Count<string byDefault>
    : DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, byDefault>;

#endif // KRON_DIALECT_TILE_IR_TILEOP_TD
