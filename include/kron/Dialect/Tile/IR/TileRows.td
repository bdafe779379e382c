//===- TileRows.td - Rows that threads share ---------------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Whole rows in registers, what all values of a row have in common, and rows of
// 8 bits.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEROWS_TD
#define KRON_DIALECT_TILE_IR_TILEROWS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_LoadRowsOp : Tile_Op<"load_rows", resultNames = ["rows"]> {
  let summary = "loads rows that neighbouring threads share";
  let description = [{
    A row is all positions of the last axis of the view; the others count rows, of
    which tile `tile` has as many as the CTA has groups of `threads` threads, a row
    each. A row is cut into segments of 16 bytes: thread t of a group has segments
    t, t + `threads`, and so on. What is behind the end of a row is 0. Groups behind
    the last row have that once more.

    Segments are loaded at once, where `bytes` are 16 and the arrays of the kernel's
    rows turn out to be aligned, else element by element. Up to `kept` segments stay
    in the registers of a thread. Of longer rows it loads them whenever they are
    read.

    The rows of a buffer, where the results of a chain were left, are all of the tile's: each
    group of `threads` takes every so many of them.

    Constraints:

    1. `tile` is that of a `tile.for`, which the operation is in itself, in a kernel
       without clusters.
    2. The view has two axes or more, strides of which the last one is 1, rows of a
       known length of less than 2^31 elements, and elements of f32, f16 or bf16.
    3. `threads` are a power of two that divides the threads of the kernel.
    4. The fragment has one segment of the view's elements as a box, and as many boxes
       as a thread has.
    5. `bytes` are 16, which then divide rows and known strides, or those of an
       element.
    6. A buffer has two dimensions, and rows of whole segments, by 16 bytes, that up to 32
       threads share.
    7. A `tile.barrier` is behind what other threads have written to the buffer.

    Example:

    ```mlir
    %v = tile.load_rows %x[%t] threads 128 kept 8 bytes 16
      : !tile.view<?x4096xf16, [?, 1]> -> !tile.fragment<4x8xf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_View, Tile_Buffer]>:$source, Index:$tile,
                       ConfinedAttr<I64Attr, [IntPositive]>:$threads,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<32>]>:$kept,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs Tile_Fragment:$fragment);
  let assemblyFormat = [{
    $source `[` $tile `]` `threads` $threads `kept` $kept `bytes` $bytes attr-dict
    `:` type($source) `->` type($fragment)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceRowsOp : Tile_Op<"reduce_rows", resultNames = ["largest"]> {
  let summary = "finds the largest magnitude of each row";
  let description = [{
    That of all values of a row, which the threads that share it agree on. Infinities
    are larger than finite values, and NaN are larger than those. Where more than a
    warp share a row, all threads of the CTA meet.

    Constraints:

    1. The fragment is from a `tile.load_rows` in the same turn.
    2. The result is one value of f32.

    Example: `%m = tile.reduce_rows %v : !tile.fragment<4x8xf16> -> !tile.fragment<1x1xf32>`
  }];
  let arguments = (ins Tile_Fragment:$fragment);
  let results = (outs Tile_Fragment:$largest);
  let assemblyFormat = [{
    $fragment attr-dict `:` type($fragment) `->` type($largest)
  }];
  let hasVerifier = 1;
}

def Tile_QuantizeRowsOp : Tile_Op<"quantize_rows"> {
  let summary = "stores rows as 8 bits per element and a scale";
  let description = [{
    The scale of a row is its `largest` magnitude over the largest value of the type of
    `bytes`, by IEEE division; it is stored at the row's place in `scales`. Elements
    are multiplied by its inverse and rounded to nearest, ties to even, as
    `kron.quantize` says, of rows of zeros, infinities and NaN, too. `native`: the chip
    has instructions that round to 8-bit floats.

    Segments are stored at once where they are loaded so.

    Constraints:

    1. `fragment` is from a `tile.load_rows` of tile `tile`, and `largest` from a
       `tile.reduce_rows` of it, both in the same turn.
    2. `bytes` has the axes of the view that is loaded, or of a buffer one of rows and that
       of their elements, strides of which the last one is 1, and elements of i8, f8E4M3FN
       or f8E5M2.
    3. `scales` has strides, the axes of these but for the last one, and elements of
       f32.
    4. No other operation reads or writes either of them.
    5. What a segment of 16 bytes of a view becomes divides known strides of `bytes`.
    6. `native` is for elements of f8E4M3FN and f8E5M2.

    Example:

    ```mlir
    tile.quantize_rows %v by %m to %q[%t], %s
      : !tile.fragment<4x8xf16>, !tile.fragment<1x1xf32>,
        !tile.view<?x4096xi8, [?, 1]>, !tile.view<?xf32, [?]>
    ```
  }];
  let arguments = (ins Tile_Fragment:$fragment, Tile_Fragment:$largest,
                       Tile_View:$bytes, Index:$tile, Tile_View:$scales,
                       UnitAttr:$native);
  let assemblyFormat = [{
    $fragment `by` $largest `to` $bytes `[` $tile `]` `,` $scales (`native` $native^)?
    attr-dict `:` type($fragment) `,` type($largest) `,` type($bytes) `,` type($scales)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    LoadRowsOp getLoad() { return getFragment().getDefiningOp<LoadRowsOp>(); }
  }];
}

#endif // KRON_DIALECT_TILE_IR_TILEROWS_TD
