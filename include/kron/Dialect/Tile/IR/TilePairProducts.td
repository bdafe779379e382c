//===- TilePairProducts.td - Products of functions of pairs -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a matrix of functions of pairs is multiplied by, gradients of that, and
// what is stored of it.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEPAIRPRODUCTS_TD
#define KRON_DIALECT_TILE_IR_TILEPAIRPRODUCTS_TD

include "kron/Dialect/Tile/IR/TilePairs.td"

def Tile_ForPairsOp
    : Tile_Op<"for_pairs",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["block"]> {
  let summary = "multiplies a matrix of functions of pairs by values, block by block";
  let description = [{
    The columns of the matrix are taken by `by` at a time: `blocks` blocks of them,
    from `blocks` times the part on, of those that exist; the part is the position
    of the place along the first axis of its view. The body computes the rows of
    the place of one block. Each is multiplied by the rows of `values`, an array of
    N x C behind the batch, of its columns, and the products are reduced along N:
    added (`sum`), or the largest is kept (`max`), or both that and the sum of the
    exponentials of the products less that (`logsumexp`), whose results are two.
    Of the C columns, those of the place are taken.

    Each thread reduces its own columns, in their order, and then the threads of a
    row do; all of these have the results.

    With a ring, matrix instructions multiply, and values are packed: of rows of eight
    columns of the matrix, and of each eight columns of the values, all lanes one behind the
    other. Lane (g, t) = (lane / 4, lane % 4) has column g of the values, of columns 2t and
    2t + 1 of the matrix: the elements; or of f32 their TF32 parts, and behind these what
    those leave. An element of the matrix is split alike, and of two parts each three
    products are made. They start from zero in each block, whose products are added to the
    sums, and are computed by multiply-adds where they are not finite. Threads have the
    results as they have the matrix.

    Constraints:

    1. It is in a `tile.for`, and its body has one argument, the number of the
       block.
    2. The place is from `tile.place`.
    3. `values` has two axes, or more as the batch, fewer than the view of the
       place.
    4. The body yields a fragment of rows and columns: `by` of these for all
       `lanes`, which are 4 where the fragment is of matrix instructions.
    5. The results are as many as the accumulation says, and have rows and the atom as the
       fragment does, and as many columns as the box of the place; with a ring, all lanes
       together have these.
    6. With a ring, the accumulation is `sum`, the fragment of matrix instructions, and the
       body has one `tile.pairs`. Columns of the results are a multiple of eight, and
       values are of the fragment's type. The ring has two buffers, which nothing else uses, of
       `by / 8` rows; of each column of the results there are 8 elements in a row, or 16
       of f32 in two parts.

    Example:

    ```mlir
    %s = tile.for_pairs %n of %blocks by 128 [%u] times %v accumulate sum lanes 16
      : !tile.view<?x?xf32, [?, 1]> -> !tile.fragment<1x8x4xf32> {
      %d = tile.pairs %a, %b[%u, %n] through %left, %right lanes 16 ...
      tile.yield %d : !tile.fragment<1x8x8xf32>
    }
    ```
  }];
  let arguments = (ins I64:$blocks, ConfinedAttr<I64Attr, [IntPositive]>:$by,
                       Index:$place, Tile_View:$values,
                       Optional<Tile_Ring>:$ring,
                       Tile_Accumulation:$accumulation, Tile_Lanes:$lanes);
  let regions = (region SizedRegion<1>:$region);
  let results = (outs Variadic<Tile_Fragment>:$sums);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBlockNumber() { return getBody()->getArgument(0); }
  }];
}

def Tile_ForGradientsOp
    : Tile_Op<"for_gradients", [SingleBlock],
              resultNames = ["sums"], argumentNames = ["block", "sums"]> {
  let summary = "adds up gradients of functions of pairs, block by block";
  let description = [{
    The columns of a matrix of functions of pairs, which are the rows of `rhs`, are
    taken by `by` at a time: `blocks` blocks of them, from `blocks` times the part on,
    of those that exist; the part is the position of the place along the first
    axis of its view. The body takes the number of a block and the sums so far, all 0
    at first, and yields the next sums.

    Constraints:

    1. It is in a `tile.for`, and its body takes the number of the block and a
       fragment of the result's type, and yields such a one.
    2. The place is from `tile.place`.
    3. `rhs` has two axes, or more as the batch, fewer than the view of the place.
    4. The result has rows and columns, and as many boxes as the box of the place has
       positions in front of the rows.

    Example:

    ```mlir
    %s = tile.for_gradients %blocks by 64 of %b[%u]
      : !tile.view<?x?xf32, [?, 1]> -> !tile.fragment<1x8x4xf32> {
    ^bb0(%n: index, %sums: !tile.fragment<1x8x4xf32>):
      %w = tile.weigh_pairs [%u, %n] grad(%h : !tile.view<?x?xf32, [?, 1]>) lanes 16
        -> !tile.fragment<1x8x4xf32>
      %next = tile.add_derivatives %w to %sums ...
      tile.yield %next : !tile.fragment<1x8x4xf32>
    }
    ```
  }];
  let arguments = (ins I64:$blocks, ConfinedAttr<I64Attr, [IntPositive]>:$by,
                       Tile_View:$rhs, Index:$place);
  let regions = (region SizedRegion<1>:$region);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $blocks `by` $by `of` $rhs `[` $place `]` attr-dict `:` type($rhs) `->` type($sums)
    $region
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBlockNumber() { return getBody()->getArgument(0); }
    ::mlir::BlockArgument getCarried() { return getBody()->getArgument(1); }
  }];
}

def Tile_WeighPairsOp
    : Tile_Op<"weigh_pairs", [AttrSizedOperandSegments,
                              Kron_SingleOperand<1, "the place">,
                              Kron_SingleOperand<2, "the block">],
              resultNames = ["weights"]> {
  let summary = "multiplies the values of pairs by the gradient of their matrix";
  let description = [{
    What a thread has of a block of the matrix, as `tile.pairs` shares it: the product
    of `pairs`, of the elements of `grad`, a view of rows x columns behind the
    batch, and of the products of the rows of the `factors`, views of rows and of
    columns x C behind the batch, added up along C: of those that are there; of the
    first factor alone, its elements are added up. Of rows and columns that do not exist,
    it is any value.

    Constraints:

    1. The place is from `tile.place`; the block is that of the `tile.for_gradients`
       that the operation is in.
    2. There are up to two factors, and a gradient or factors. Views have two axes, or
       more as the batch, but no more than the view of the place, and elements whose
       accumulation type is that of the fragment.
    3. The result is one box of rows and columns, which all threads together have as
       those of the place and of a block; pairs are of its type.
    4. `lanes` are a power of two up to 32 that divides the threads.

    Example:

    ```mlir
    %w = tile.weigh_pairs %d : !tile.fragment<1x8x4xf32> [%u, %n] grad(%h : !tile.view<?x?xf32, [?, 1]>)
      factors(%x, %y : !tile.view<?x1xf32, [1, 1]>, !tile.view<?x1xf32, [1, 1]>)
      lanes 16 -> !tile.fragment<1x8x4xf32>
    ```
  }];
  let arguments = (ins Optional<Tile_Fragment>:$pairs, Index:$place, Index:$block,
                       Optional<Tile_View>:$grad, Variadic<Tile_View>:$factors,
                       Tile_Lanes:$lanes);
  let results = (outs Tile_Fragment:$weighed);
  let assemblyFormat = [{
    ($pairs^ `:` type($pairs))? `[` $place `,` $block `]` (`grad` `(` $grad^ `:` type($grad) `)`)?
    (`factors` `(` $factors^ `:` type($factors) `)`)? `lanes` $lanes attr-dict
    `->` type($weighed)
  }];
  let hasVerifier = 1;
}

def Tile_AddDerivativesOp
    : Tile_Op<"add_derivatives", [
        IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments,
        Kron_SingleOperand<0, "the weights">,
        Kron_SingleOperand<1, "the sums">,
        Kron_SingleOperand<2, "the left operand">,
        Kron_SingleOperand<3, "the right operand">,
        Kron_SingleOperand<4, "the place">, Kron_SingleOperand<5, "the block">,
        Kron_SingleOperand<6, "the ring of columns">,
        Kron_SingleOperand<7, "the ring of weights">,
        AllTypesMatch<["sums", "next"]>],
        resultNames = ["next"]> {
  let summary = "adds weighted derivatives of a function of pairs to a gradient";
  let description = [{
    The rows and positions of K of the tile at `place`, of `lhs`, a view of rows x K
    behind the batch, are differentiated by: to the sum of each, the derivative that
    the region computes of its element, of that of a column at the same position and of
    the hyper-parameters `params` is added, times the weight of row and column, for all
    columns of the block, which are rows of `rhs`. With `outputs`, a view of columns x 1
    behind the batch, the sums have a box for each of as many positions of the axis in
    front of the columns, and what is added to it is multiplied by the element of its
    position and the column; the derivative is computed once for all of them.

    Thread i of the CTA has the sums of rows `i / lanes + j * threads / lanes` and of
    positions `i % lanes + j * lanes` of the tile. Weights, which `weight_lanes` threads
    next to each other have along the columns, go to shared memory, and so do the
    positions of the tile of the columns; with `rhs_rows`, neighbouring threads copy
    these along the rows, else along K. Outputs follow in a third buffer.

    The function waits for the threads of the CTA before and after it writes the rings,
    which no other operation does.

    Constraints:

    1. The place is from `tile.place`; block and sums are those of the
       `tile.for_gradients` that the operation is in, and `rhs` is its.
    2. Views have two axes, or more as the batch, but no more than the view of the
       place, and elements of one type, whose accumulation type is that of fragments.
    3. Rings have one slot each, with rows for all columns of a block: of `rhs`, with
       as many positions as the tile, of multiples of 16 bytes; of weights, with a
       row's weights for each row of the tile; of outputs, with as many as there are boxes.
    4. `lanes` and `weight_lanes` are powers of two up to 32 that divide the threads.
    5. Sums have the rows and columns of the box of the place, and one box without
       `outputs`; weights have its rows and the columns of a block.
    6. The region takes two elements and the hyper-parameters, and yields a value: all of the
       accumulation type. It has operations of `arith` and `math` only.

    Example: the gradient of sums of squares of differences.

    ```mlir
    %next = tile.add_derivatives %w to %sums of %a, %b[%u, %n] through %columns, %weights
      lanes 16 weight_lanes 16 : !tile.fragment<1x8x4xf32>, !tile.fragment<1x8x4xf32>,
        !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>,
        !tile.ring<1 of <64x64xf32>>, !tile.ring<1 of <64x64xf32, #tile.layout<[66, 1]>>> {
    ^bb0(%x: f32, %y: f32):
      %difference = arith.subf %x, %y : f32
      %twice = arith.addf %difference, %difference : f32
      tile.yield %twice : f32
    }
    ```
  }];
  let arguments = (ins Tile_Fragment:$weights, Tile_Fragment:$sums, Tile_View:$lhs,
                       Tile_View:$rhs, Index:$place, Index:$block,
                       Tile_Ring:$columns, Tile_Ring:$weight_ring,
                       Optional<Tile_View>:$outputs, Optional<Tile_Ring>:$output_ring,
                       Variadic<Tile_Scalar>:$params, Tile_Lanes:$lanes,
                       Tile_Lanes:$weight_lanes, UnitAttr:$rhs_rows);
  let regions = (region SizedRegion<1>:$derivative);
  let results = (outs Tile_Fragment:$next);
  let assemblyFormat = [{
    $weights `to` $sums `of` $lhs `,` $rhs `[` $place `,` $block `]`
    `through` $columns `,` $weight_ring
    (`outputs` `(` $outputs^ `through` $output_ring `:` type($outputs) `,` type($output_ring) `)`)?
    `lanes` $lanes `weight_lanes` $weight_lanes (`rhs_rows` $rhs_rows^)?
    (`params` `(` $params^ `:` type($params) `)`)? attr-dict
    `:` type($weights) `,` type($sums) `,` type($lhs) `,` type($rhs) `,`
    type($columns) `,` type($weight_ring) $derivative
  }];
  let hasVerifier = 1;
}

def Tile_StorePairsOp : Tile_Op<"store_pairs"> {
  let summary = "stores the values that threads have of pairs";
  let description = [{
    Writes a fragment of `tile.pairs`, as rows and columns are shared there, or with
    `sums` one of `tile.for_pairs`, to what exists of the tile of the view at a place,
    rounded to the view's elements. Of a fragment of several boxes, each is for a
    position of the axis in front of the rows.

    At a place of a `triangle`, elements above the diagonal are stored a second time,
    on the other side of it, and those below it are not stored. With a ring (`through`),
    which nobody reads any more, the second ones pass through its memory, so that
    neighbouring threads store neighbouring elements of a row.

    Constraints:

    1. The place is from `tile.place`, and the view has the rank of its view.
    2. The fragment has rows and columns that all threads together have as the box of
       the place, and as many boxes as that has positions in front of the rows.
    3. The view has elements of the fragment's type, or of one whose accumulation
       type that is.
    4. With a ring, the place is that of a `triangle` and the fragment one of
       multiply-adds, a multiple of whose rows the lanes are, and the ring has
       memory for the rows of the tile and as many columns as lanes
       (`tile::countTurnedColumns`).

    Example: `tile.store_pairs %d to %y[%u] lanes 16 : !tile.fragment<1x8x8xf32>, !tile.view<?x?xf32, [?, 1]>`
  }];
  let arguments = (ins Tile_Fragment:$source, Tile_View:$view, Index:$place,
                       Optional<Tile_Ring>:$ring, Tile_Lanes:$lanes, UnitAttr:$sums);
  let assemblyFormat = [{
    $source `to` $view `[` $place `]` (`through` $ring^)? `lanes` $lanes
    (`sums` $sums^)? attr-dict `:` type($source) `,` type($view)
    (`,` type($ring)^)?
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEPAIRPRODUCTS_TD
