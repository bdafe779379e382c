//===- TileSpread.td - Tiles of segments as they lie -------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What was copied by 16 bytes from wherever it started, in the order in which
// steps read it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILESPREAD_TD
#define KRON_DIALECT_TILE_IR_TILESPREAD_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_SpreadOp : Tile_Op<"spread"> {
  let summary = "makes a tile of segments that were copied as they lie";
  let description = [{
    Moves the elements of a tile of the view from a slot that a `tile.copy` with `box` has filled to their
    places in a buffer, whose sizes are the tile's: all threads that share the tile take elements that lie side by side.
    What does not exist is 0. A `tile.barrier` must follow.

    Constraints:

    1. The tile is that of a `tile.for`.
    2. `axes` are as of `tile.copy` with `fill`; view, slot and buffer have elements of one type.
    3. The slot has rows and chunks as of a `tile.copy` with `box` of the buffer's sizes.
    4. All threads have waited for the slot: a `tile.barrier` is behind the `tile.wait`.
    5. Nobody has read or written the buffer since the last `tile.barrier`.

    Example: `tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x312xf16>, !tile.view<?x17xf16, [17, 1]>, !tile.buffer<16x17xf16>`
  }];
  let arguments = (ins Tile_Buffer:$slot, Tile_View:$view, Index:$tile,
                       Tile_Buffer:$buffer, DenseI64ArrayAttr:$axes);
  let assemblyFormat = [{
    $slot `of` $view `[` $tile `]` `to` $buffer `axes` $axes attr-dict
    `:` type($slot) `,` type($view) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILESPREAD_TD
