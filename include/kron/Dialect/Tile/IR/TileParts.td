//===- TileParts.td - Operations on parts of fibres --------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEPARTS_TD
#define KRON_DIALECT_TILE_IR_TILEPARTS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_MultiplyOp : Tile_Op<"multiply", [Pure], resultNames = ["sums"]> {
  let summary = "multiplies fibres in shared memory by a part of a factor";
  let description = [{
    Sums of the K positions of fibres `along` an axis of a buffer, times some
    results of the factor: of each fibre that a thread has in this turn, as many
    as a box of the fragment has, from its part of `tile.for_boxes` on. Neither
    fibres nor the factor are in registers as a whole: what a step of k needs of
    them is loaded there, and the fibres of a turn share what is loaded of the
    factor. The loop over K has `unrolled` steps per turn. `conj_source` and
    `conj_factor` conjugate what they multiply.

    Sums and products are those of `semiring`.

    A factor is an operand in shared memory, or a view of K x N elements that
    stays in global memory. One that varies is a view of the tile's axes, with N
    positions along the contracted one, and behind these of K; it has strides of 0
    along axes that it does not vary on, and `tile` says where the tile is.
    Positions behind the end of an axis have the last one's factor.

    Constraints:

    1. The boxes are of a `tile.for_boxes` in parts, one for each fibre, without
        `across` and `lanes`.
    2. `along` is an axis of the buffer.
    3. The fragment has as many boxes as a turn of the loop has fibres, of one
        dimension, and the elements of the buffer.
    4. An operand has those, and K and the results of all parts.
    5. A view has the elements, or ones whose accumulation type these are, and K
        and results.
    6. A view that varies, and nothing else, has a tile, of a `tile.for`; it is of
        single fibres.
    7. `conj_source` and `conj_factor` are of complex elements.
    8. A `tile.barrier` is behind what other threads have written.
    9. A `tile.barrier` is behind the `tile.prepare` of an operand.
    10. `max_plus` is of floats.

    Example:

    ```mlir
    tile.for_boxes %u of 256 together 4 parts 5 {
      %s = tile.multiply %a[%u], %p along 1 unrolled 8
        : !tile.buffer<4x20x64xf32>, !tile.operand<20x20xf32> -> !tile.fragment<4x4xf32>
      tile.exchange %s to %b[%u] along [1] : !tile.fragment<4x4xf32>, !tile.buffer<4x20x64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Buffer:$source, Index:$boxes,
                       AnyTypeOf<[Tile_Operand, Tile_View]>:$factor,
                       Optional<Index>:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$along,
                       Tile_Count<"8">:$unrolled, UnitAttr:$conj_source,
                       UnitAttr:$conj_factor,
                       DefaultValuedAttr<Tile_SemiringAttr, "Semiring::PlusTimes">:$semiring);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $source `[` $boxes `]` `,` $factor (`tile` $tile^)? `along` $along
    (`unrolled` $unrolled^)? (`conj_source` $conj_source^)?
    (`conj_factor` $conj_factor^)? (`semiring` $semiring^)? attr-dict
    `:` type($source) `,` type($factor) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_MultiplyViewsOp : Tile_Op<"multiply_views", [Pure], resultNames = ["sums"]> {
  let summary = "multiplies fibres in global memory by a part of a factor";
  let description = [{
    Sums of the products of data and factor over K, as of `tile.multiply`, of which
    neither goes through shared memory: lanes load what they multiply, `unrolled`
    steps of k at once. Both are views of the axes of the results, of which the data
    have strides of 0 along `along` and the factor where it does not vary, and behind
    these of K. A tile has `box` positions of each axis, of which `along` may be cut,
    too. What is behind the end of an axis is that of the last position. The lanes of
    the loop that have the same fibres take every `lanes`-th position of K each, and
    all of them get the sums.

    Constraints:

    1. The boxes are of a `tile.for_boxes` in parts, one for each fibre of the box.
    2. `along` is an axis of the box, which has one or more positions of each.
    3. The fragment has as many boxes as a turn of the loop has fibres, of one
        dimension.
    4. Views have strides, the axes of the box and K, of the same sizes, and elements
        whose accumulation type the fragment has.
    5. The tile is that of a `tile.for`.
    6. Several fibres are `across` an axis that is another one than `along`, whose
        positions they divide, and on which the factor does not vary.
    7. `conj_source` and `conj_factor` are of complex elements.

    Example:

    ```mlir
    tile.for_boxes %u of 128 together 2 parts 3 across 0 lanes 4 {
      %s = tile.multiply_views %x[%u], %f tile %t along 1 box [4, 12, 32] unrolled 8
        : !tile.view<?x24x32x40xf32, [1280, 0, 1, 32]>, !tile.view<?x24x32x40xf32, [0, 1280, 1, 32]> -> !tile.fragment<2x4xf32>
      tile.store %s[%u] to %y[%t] along [1] box [4, 12, 32] bytes 4 : !tile.fragment<2x4xf32>, !tile.view<?x24x32xf32, [768, 32, 1]>
    }
    ```
  }];
  let arguments = (ins Tile_View:$source, Index:$boxes, Tile_View:$factor,
                       Index:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$along,
                       DenseI64ArrayAttr:$box, Tile_Count<"8">:$unrolled,
                       UnitAttr:$conj_source, UnitAttr:$conj_factor);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $source `[` $boxes `]` `,` $factor `tile` $tile `along` $along `box` $box
    (`unrolled` $unrolled^)? (`conj_source` $conj_source^)?
    (`conj_factor` $conj_factor^)? attr-dict
    `:` type($source) `,` type($factor) `->` type($sums)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEPARTS_TD
