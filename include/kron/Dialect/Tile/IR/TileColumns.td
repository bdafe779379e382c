//===- TileColumns.td - Columns that threads keep ----------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Loops in which a factor stays in registers while rows pass by.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILECOLUMNS_TD
#define KRON_DIALECT_TILE_IR_TILECOLUMNS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ForColumnsOp
    : Tile_Op<"for_columns",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["columns"]> {
  let summary = "shares the columns of rows among CTAs, and threads or warps";
  let description = [{
    The results of a row are `count` columns of as many neighbours each. A CTA
    keeps to `per_cta` of them: CTA i to those of part i modulo the number of such
    parts. CTAs of the same part share the rows among them, which a `tile.for` in
    the body takes; where there are fewer CTAs than parts, each takes several
    parts, one after the other.

    With atom `fma`, each thread has a column: thread i has column i modulo
    `per_cta` of the CTA's, and those of the same column, `beside` of them, take
    rows beside each other. With an atom of warps, each warp has a column. Threads
    that have no column skip the body.

    Constraints:

    1. The loop is in the `gpu.func` itself.
    2. Its body has one argument, the columns of a thread or a warp.
    3. The kernel has a thread for each of `per_cta * beside`; with an atom of
       warps it has `per_cta` warps, and `beside` is 1.
    4. Its body works on views and registers only: some threads skip it.
    5. The atom is `fma` or `mma.m16n8k16`.
    6. There are less than 2^31 columns.

    Example: `tile.for_columns %c of 250 by 100 beside 2 atom <fma> { ... }`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count,
                       ConfinedAttr<I64Attr, [IntPositive]>:$per_cta,
                       Tile_Count<"1">:$beside, Tile_AtomAttr:$atom);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getColumns() { return getBody()->getArgument(0); }
    /// Whether warps have columns, not threads.
    bool isOfWarps() {
      return getAtom() != ::mlir::kron::tile::AtomKind::Fma;
    }
  }];
}

def Tile_LoadColumnsOp : Tile_Op<"load_columns", resultNames = ["values"]> {
  let summary = "loads what a column needs of a view into registers";
  let description = [{
    The last three axes of the view are K, groups, and the results of a group: a
    column has neighbours along the last two, as of one axis, and all positions of
    K. With a stride of 0 along the last axis, the results of a group share their
    elements, which are then loaded once.

    With a turn, the first axis counts rows: loaded are those of tile `tile` that
    the thread or warp takes, or of the one that it takes `ahead` turns later, or
    after its first one. The fragment says how many. The last row stands for those
    that do not exist.

    Of atom `fma` a thread holds whole columns. Of `mma.m16n8k16` a lane of a warp
    holds what the instruction takes of tiles of 16 rows (of a view with rows) or
    of 8 results; results are in an order in which it has 16 bytes of a row's sums.
    A column of a warp is one group's; what it has behind the last result of that is
    0.

    Constraints:

    1. The columns are those of a `tile.for_columns`.
    2. The view has strides, three axes, or with a turn four, and the last two are
       its columns: with `fma` exactly, with an atom of warps those of each group
       rounded up.
    3. The fragment, without an atom, is rows x K x results of the view's elements;
       one row without a turn.
    4. `tile` is that of a `tile.for` in the same loop.
    5. Results share elements (strides 1, K, 0) or have their own (1, K * N, K), all of
       which follow each other, or `bytes` are those of an element.
    6. `bytes` are a power of two of elements, up to 16, that divide what follows each
       other, and the known stride of rows.
    7. With `mma.m16n8k16`, elements have 16 bits, K is a multiple of 4 up to 16, N of
       8, results of a column of 32, rows of 16; `bytes` are 8; and a view shares
       elements if it has rows, and else has its own.

    8. With `tile`, `ahead` says of which turn.

    Example:

    ```mlir
    %w = tile.load_columns %f[%c] bytes 16 : !tile.view<8x100x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
    %x1 = tile.load_columns %x[%c, %t + 1] bytes 16
      : !tile.view<?x8x100x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
    ```
  }];
  let arguments = (ins Tile_View:$view, Index:$columns, Optional<Index>:$tile,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$ahead,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs Tile_Fragment:$fragment);
  let assemblyFormat = [{
    $view `[` $columns `` custom<NextTurn>($tile, $ahead) `]` `bytes` $bytes attr-dict
    `:` type($view) `->` type($fragment)
  }];
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure], resultNames = ["sums"]> {
  let summary = "multiplies fibres by weights of their own, and adds";
  let description = [{
    Sums along K, the first dimension of a box, the products of a fragment and of
    weights that the same thread or warp holds: unlike `tile.contract`, where all
    fibres share a factor. Sums are in the accumulation type, and are handed on row
    by row (16 rows of 32 results with an atom of warps).

    Constraints:

    1. It is in a `tile.for_columns`, whose atom it has.
    2. Fragment and weights have the same elements and the same boxes, of K and
       results, and the weights have one.
    3. The sums have one position instead of K, of the accumulation type.
    4. With an atom of warps, fragment and weights are from `tile.load_columns`, or
       carried, and the fragment has tiles of 16 rows.
    5. Elements are f16, bf16, f32 or f64.

    Example:

    ```mlir
    %s = tile.dot %x0, %w atom <fma> : !tile.fragment<2x8x4xf16>, !tile.fragment<1x8x4xf16> -> !tile.fragment<2x1x4xf32>
    ```
  }];
  let arguments = (ins Tile_Fragment:$fragment, Tile_Fragment:$weights,
                       Tile_AtomAttr:$atom);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $fragment `,` $weights `atom` $atom attr-dict
    `:` type($fragment) `,` type($weights) `->` type($sums)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILECOLUMNS_TD
