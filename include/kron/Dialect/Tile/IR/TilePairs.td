//===- TilePairs.td - Functions of pairs of rows -----------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile of a matrix of functions of pairs, whose elements threads keep in
// registers while K passes by.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEPAIRS_TD
#define KRON_DIALECT_TILE_IR_TILEPAIRS_TD

include "kron/Dialect/Kron/IR/SingleOperand.td"
include "kron/Dialect/Tile/IR/TileOp.td"

/// Threads next to each other along the columns of a tile.
def Tile_Lanes : ConfinedAttr<I64Attr, [IntPositive]>;

/// So many of each 16 elements.
def Tile_Sixteenths
    : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<16>]>;

def Tile_PlaceOp : Tile_Op<"place", [Pure], resultNames = ["place"]> {
  let summary = "finds out where a tile is in a view";
  let description = [{
    Tile `tile` of the view, a box of the sizes `box`; boxes are counted along the
    innermost axis first. The last two axes are rows and columns, those in front
    the batch, or parts of a sum. Of the axis in front of the rows, a tile has
    several positions if it is one of the outputs of a `tile.for_gradients`.

    With `triangle`, of a view with as many rows as columns, only boxes with an
    element on the diagonal or above it are counted. Those of a row of boxes and of
    the one that is as far from the end follow each other, so many numbers for all of
    these; where a number has no box, that turn of the loop does nothing.

    Constraints:

    1. `tile` is that of a `tile.for`.
    2. `box` has a positive size for each axis of the view, at least two, and 1 for
       those in front of the last three.
    3. With `triangle`, it is the first operation of the loop, which carries no
       fragments, and `box` has 1 for all axes but the last two.

    Example: `%u = tile.place %t of %y by [1, 128, 128] : !tile.view<?x?x?xf32, [?, ?, 1]>`
  }];
  let arguments = (ins Index:$tile, Tile_View:$view, DenseI64ArrayAttr:$box,
                       UnitAttr:$triangle);
  let results = (outs Index:$place);
  let assemblyFormat = [{
    $tile `of` $view `by` $box (`triangle` $triangle^)? attr-dict `:` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar", resultNames = ["param"]> {
  let summary = "loads the hyper-parameter of a tile";
  let description = [{
    The element of the view at the batch of a tile, which is the same for all of
    it. The axes of the view are those in front of the rows of the tile, from the
    right.

    Constraints:

    1. The place is from `tile.place`.
    2. The view has at most as many axes as are in front of the rows.
    3. The value has the type of the view's elements.

    Example: `%g = tile.load_scalar %gamma[%u] : !tile.view<?xf32, [1]> -> f32`
  }];
  let arguments = (ins Tile_View:$view, Index:$place);
  let results = (outs Tile_Scalar:$value);
  let assemblyFormat = [{
    $view `[` $place `]` attr-dict `:` type($view) `->` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_MultiplyRowsOp
    : Tile_Op<"multiply_rows", [AttrSizedOperandSegments,
                                Kron_SingleOperand<2, "the place">,
                                Kron_SingleOperand<4, "the left ring">,
                                Kron_SingleOperand<5, "the right ring">],
              resultNames = ["products", "held"]> {
  let summary = "multiplies the rows of two tiles by matrix instructions";
  let description = [{
    Of all pairs of rows of the tile at `place`, as `tile.pairs` takes them, the sums
    of products along K, by the atom of the fragment. Rows are packed ones: an f32 in two parts
    of f16 (`lhs` and `rhs` are two views each) whose sum is its product with a power of
    two of its row, the inverse of which `scales` has for each row of either side; of
    other types they are the elements. Three products are made of two parts, the small
    ones first. What a step along K adds up starts from zero, so that what matrix
    instructions cut off does not grow with K.

    With `norms`, the squared lengths of rows of either side, the results are squares of
    distances, `|x|^2 + |y|^2 - 2 x y`. `held` says, the same to all threads, whether all
    results of the tile are as exact as those of differences would be: sums of
    squares are no less than `roundings / (K + 24)` of the squared lengths (f64:
    `roundings + K / 8`) and these no more than an eighth of the largest value; without
    norms, whether they are finite.

    With `same_rows`, both sides are rows of one array: an element on the diagonal of
    the matrix is 0, the square of a row less itself, whatever its products are.

    Lane (g, t) = (lane / 4, lane % 4) of warp w has rows `8 i + g` and columns `8 j + 2 t`
    and `8 j + 2 t + 1` of the part that its warp has: `lanes / 4` warps are next to each
    other along the columns.

    With the atom of warpgroups, w is the number of a warpgroup, of `64 i` rows: its warp
    `w'` has rows `64 i + 16 w' + g` and `64 i + 16 w' + g + 8`, two for each i, and all
    columns. The matrix unit reads both sides from the rings, and what is packed is as
    it reads that: steps of `along` positions of K, each of all rows, the first ones at
    multiples of eight, whose four 16 bytes are exchanged by an exclusive or with half of the
    row's number. Rows exist, full of zeros, up to the end of each tile. Steps of the next
    block arrive while functions of this one are computed, and rows that the ring has room
    for stay there through all blocks.

    The function waits for the threads of the CTA where it uses the rings, which no
    other operation does.

    Constraints:

    1. The place is from `tile.place`; a block is that of a `tile.for_pairs`, and
       there is one in that only.
    2. Either side has one view, or two of f16 and with them scales, of rows x K behind
       the batch, no more axes than the view of the place, and elements of one type.
    3. Rings have two slots or more, of rows x K elements of these, 64 bytes of each row and
       part, and parts behind each other; the rings have as many slots.
    4. `lanes` are 4, 8, 16 or 32, and divide the threads.
    5. The fragment is one box of rows and columns of the accumulation type, both
       even, of an atom that multiplies the elements; all threads together have the
       rows of the left buffer's parts and the columns of the right one's, which are those
       of the box of the place (columns: without a block).
    6. Norms and scales are none or those of both sides, of the accumulation type, with the
       axes of the rows but K.
    7. With the atom of warpgroups, there are 4 lanes, whole warpgroups and up to 256
       columns.
    8. With the atom of warpgroups, `along` is K, and views of the sides are of steps,
       rows and the positions of a step behind the batch; with others it is not there.
    9. With `same_rows` there are norms and no block.

    Example: squares of distances of f32.

    ```mlir
    %d, %held = tile.multiply_rows(%ah, %al : !tile.view<?x64xf16>, !tile.view<?x64xf16>)
        by(%bh, %bl : !tile.view<?x64xf16>, !tile.view<?x64xf16>)[%u] through %left, %right lanes 8
        norms(%an, %bn : !tile.view<?xf32>, !tile.view<?xf32>)
        scales(%as, %bs : !tile.view<?xf32>, !tile.view<?xf32>) roundings 16.0
      : !tile.ring<3 of <512x32xf16>>, !tile.ring<3 of <256x32xf16>>
      -> !tile.fragment<1x8x16xf32, #tile.atom<mma.m16n8k16>>
    ```
  }];
  let arguments = (ins Variadic<Tile_View>:$lhs, Variadic<Tile_View>:$rhs,
                       Index:$place, Optional<Index>:$block, Tile_Ring:$left,
                       Tile_Ring:$right, Variadic<Tile_View>:$norms,
                       Variadic<Tile_View>:$scales, Optional<I64>:$sizeK,
                       Tile_Lanes:$lanes, F64Attr:$roundings,
                       UnitAttr:$same_rows);
  let results = (outs Tile_Fragment:$products, I1:$held);
  let assemblyFormat = [{
    `(` $lhs `:` type($lhs) `)` `by` `(` $rhs `:` type($rhs) `)`
    `[` $place (`,` $block^)? `]` `through` $left `,` $right `lanes` $lanes
    (`norms` `(` $norms^ `:` type($norms) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)? (`along` $sizeK^)?
    `roundings` $roundings (`same_rows` $same_rows^)? attr-dict `:` type($left) `,` type($right) `->` type($products)
  }];
  let hasVerifier = 1;
}

def Tile_PairsOp
    : Tile_Op<"pairs", [IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments,
                        Kron_SingleOperand<0, "the left operand">,
                        Kron_SingleOperand<1, "the right operand">,
                        Kron_SingleOperand<2, "the place">,
                        Kron_SingleOperand<4, "the left ring">,
                        Kron_SingleOperand<5, "the right ring">],
              resultNames = ["pairs"]> {
  let summary = "reduces a function of all pairs of rows of two tiles";
  let description = [{
    Of the rows of `lhs` and `rhs`, views of rows x K behind the batch, those of
    the tile at `place` are copied to shared memory, `K` positions of a buffer of
    the rings at a time, so many of these in flight as they have slots. The
    columns of the tile are rows of `rhs`, those of block `block` if there is one.

    Thread i of the CTA has rows `i / lanes + j * threads / lanes` and columns
    `i % lanes + j * lanes` of the tile. Of each pair it reduces along K: the
    region takes an element of each, the reduced value so far, which is `from` at
    first, and the hyper-parameters `params`, and yields the next reduced value.
    Positions behind the last one are 0 in both: where the region changes nothing
    then, `zero_tail`, these are reduced as well.

    Elements that lie together along K, in rows of multiples of 16 bytes that begin
    at such, are copied by 16 bytes; that is found out at run time. Else neighbouring
    threads copy neighbouring elements along K, or with `lhs_rows` and `rhs_rows`
    along the rows.

    Of each 16 elements of a thread, `polynomials` have powers of magnitudes, in f32
    with a known exponent above 1 that is not whole, of a table in shared memory and a
    cubic instead of the special-function unit, which is slower than what the others
    wait for it. Of a function with several exponents that is the first one.

    The function waits for the threads of the CTA where it uses the rings, which no
    other operation does.

    Where `products` and whether they are exact (`held`) are given, by `tile.multiply_rows`,
    these are the results, and only of tiles where that is not so is the function
    computed. Threads have rows and columns as they have of the products then.

    Constraints:

    1. The place is from `tile.place`, with one position in front of the rows but in
       a `tile.for_gradients`; a block is that of such a one or of a `tile.for_pairs`,
       and there is one in these only.
    2. The views have two axes, or more as the batch, but no more than the view of
       the place, and elements of one type.
    3. Rings have two slots or more, of rows x K elements of these; rows lie apart by an
       odd number of 16 bytes, which K is a multiple of; the rings have as many
       slots.
    4. `lanes` are a power of two up to 32 that divides the threads.
    5. The fragment is one box of rows and columns of the accumulation type, with the
       type of the products if there are any; all
       threads together have the rows of the left buffer and the columns of the
       right one, which are those of the box of the place (columns: without a
       block).
    6. The region takes two elements, the value and the hyper-parameters, and yields
       a value: all of the accumulation type. It has
       operations of `arith` and `math` only.

    Example: sums of absolute differences.

    ```mlir
    %d = tile.pairs %a, %b[%u] through %left, %right lanes 16 from 0.0 zero_tail
      : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>,
        !tile.ring<3 of <128x16xf32, #tile.layout<[20, 1]>>>,
        !tile.ring<3 of <128x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x8x8xf32> {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %difference = arith.subf %x, %y : f32
      %size = math.absf %difference : f32
      %next = arith.addf %sum, %size : f32
      tile.yield %next : f32
    }
    ```
  }];
  let arguments = (ins Tile_View:$lhs, Tile_View:$rhs, Index:$place,
                       Optional<Index>:$block, Tile_Ring:$left,
                       Tile_Ring:$right, Optional<Tile_Fragment>:$products,
                       Optional<I1>:$held,
                       Variadic<Tile_Scalar>:$params, Tile_Lanes:$lanes, F64Attr:$from,
                       DefaultValuedAttr<Tile_Sixteenths, "0">:$polynomials,
                       UnitAttr:$zero_tail, UnitAttr:$lhs_rows,
                       UnitAttr:$rhs_rows);
  let regions = (region SizedRegion<1>:$inner);
  let results = (outs Tile_Fragment:$fragment);
  let assemblyFormat = [{
    $lhs `,` $rhs `[` $place (`,` $block^)? `]` `through` $left `,` $right
    `lanes` $lanes `from` $from (`polynomials` $polynomials^)?
    (`zero_tail` $zero_tail^)?
    (`lhs_rows` $lhs_rows^)? (`rhs_rows` $rhs_rows^)?
    (`products` `(` $products^ `held` $held `:` type($products) `)`)?
    (`params` `(` $params^ `:` type($params) `)`)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($left) `,` type($right) `->` type($fragment) $inner
  }];
  let hasVerifier = 1;
}

def Tile_KeepRowsOp : Tile_Op<"keep_rows", resultNames = ["rows"]> {
  let summary = "loads the rows that threads have of a tile";
  let description = [{
    Of the rows of the tile at `place`, in a view of rows x K behind the batch, each
    thread loads those that it has, as `tile.pairs` shares them, with all positions
    of K, and widens them to the accumulation type. Where a row does not exist, it
    loads the last one; positions behind the last one of K are 0.

    Constraints:

    1. The place is from `tile.place`.
    2. The view has two axes, or more as the batch, but no more than the view of the
       place.
    3. The fragment is one box of rows and K of the accumulation type, with as many
       positions of K as the view has, if that is known; all threads together have the
       rows of the box of the place.
    4. `lanes` are a power of two up to 32 that divides the threads.

    Example: `%r = tile.keep_rows %a[%u] lanes 1 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x8x3xf32>`
  }];
  let arguments = (ins Tile_View:$view, Index:$place, Tile_Lanes:$lanes);
  let results = (outs Tile_Fragment:$rows);
  let assemblyFormat = [{
    $view `[` $place `]` `lanes` $lanes attr-dict `:` type($view) `->` type($rows)
  }];
  let hasVerifier = 1;
}

def Tile_PairsOfRowsOp
    : Tile_Op<"pairs_of_rows", [IsolatedFromAbove, SingleBlock], resultNames = ["pairs"]> {
  let summary = "reduces a function of all pairs of rows in registers and columns";
  let description = [{
    What `tile.pairs` does to a block of a `tile.for_pairs`, where the rows of the
    tile are in registers, from `tile.keep_rows`, and all of K is in one buffer
    of the ring. Buffers are of blocks: as many as half of the ring's slots arrive
    together while those before are read. Positions behind the last one of K are 0
    in both, and are reduced, which must change nothing.

    Constraints:

    1. The block is that of the `tile.for_pairs` that it is in, which has no other
       such operation; the place is that of the loop.
    2. The rows are from a `tile.keep_rows` with as many lanes. The view has two axes,
       or more as the batch, but no more than the view of the place, as many
       positions of K as the rows have, if that is known, and elements whose
       accumulation type is that of the rows.
    3. The ring has two slots or more, of columns x K elements of the view, with room for all of K; rows
       of a buffer lie an odd number of 16 bytes apart, which its K is a multiple of.
    4. The fragment is one box of rows and columns of the accumulation type; a thread
       has as many rows as it loads, and all threads of a row together the
       columns of the buffer.
    5. The region takes two elements, the value and the hyper-parameters, and yields
       a value: all of the accumulation type. It has
       operations of `arith` and `math` only.

    Example:

    ```mlir
    %d = tile.pairs_of_rows %r, %b[%u, %n] through %ring lanes 1 from 0.0
      : !tile.fragment<1x8x3xf32>, !tile.view<?x3xf32, [3, 1]>,
        !tile.ring<3 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x8x8xf32> {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %difference = arith.subf %x, %y : f32
      %next = math.fma %difference, %difference, %sum : f32
      tile.yield %next : f32
    }
    ```
  }];
  let arguments = (ins Tile_Fragment:$rows, Tile_View:$rhs, Index:$place,
                       Index:$block, Tile_Ring:$right,
                       Variadic<Tile_Scalar>:$params, Tile_Lanes:$lanes, F64Attr:$from,
                       DefaultValuedAttr<Tile_Sixteenths, "0">:$polynomials,
                       UnitAttr:$rhs_rows);
  let regions = (region SizedRegion<1>:$inner);
  let results = (outs Tile_Fragment:$fragment);
  let assemblyFormat = [{
    $rows `,` $rhs `[` $place `,` $block `]` `through` $right
    `lanes` $lanes `from` $from (`polynomials` $polynomials^)?
    (`rhs_rows` $rhs_rows^)?
    (`params` `(` $params^ `:` type($params) `)`)? attr-dict
    `:` type($rows) `,` type($rhs) `,` type($right) `->` type($fragment) $inner
  }];
  let hasVerifier = 1;
}

def Tile_MapOp
    : Tile_Op<"map", [IsolatedFromAbove, SingleBlock,
                      AllTypesMatch<["fragment", "mapped"]>],
              resultNames = ["mapped"]> {
  let summary = "applies a function to each value of a fragment";
  let description = [{
    The region takes a value and the hyper-parameters `params`, and yields what
    takes its place.

    Constraints:

    1. The result has the type of the fragment.
    2. The region takes and yields values of its elements' type, and has operations
       of `arith` and `math` only.

    Example:

    ```mlir
    %r = tile.map %d : !tile.fragment<1x8x8xf32> {
    ^bb0(%s: f32):
      %root = math.sqrt %s : f32
      tile.yield %root : f32
    }
    ```
  }];
  let arguments = (ins Tile_Fragment:$fragment, Variadic<Tile_Scalar>:$params);
  let regions = (region SizedRegion<1>:$function);
  let results = (outs Tile_Fragment:$mapped);
  let assemblyFormat = [{
    $fragment (`params` `(` $params^ `:` type($params) `)`)? attr-dict
    `:` type($fragment) $function
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEPAIRS_TD
