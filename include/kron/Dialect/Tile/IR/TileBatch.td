//===- TileBatch.td - Products summed over a batch ---------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Products of matrices whose K axis is a batch, in pieces of that, and the sums
// of all pieces.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEBATCH_TD
#define KRON_DIALECT_TILE_IR_TILEBATCH_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ContractBatchOp : Tile_Op<"contract_batch", resultNames = ["sums"]> {
  let summary = "multiplies two arrays and sums up over a piece of their batch";
  let description = [{
    The sums of tile `tile` of `#tile.batch` over positions of the batch: a piece has
    `positions` of them, the last one what is left. Steps of the batch go through the
    ring, all but one slot ahead of the one that is multiplied. It waits for a step, meets,
    starts the copies of a later one, and adds the products to the sums, which are
    complete behind the operation. Where values have residuals, the sums of a step
    are added up by themselves, since a matrix unit cuts off what it adds. Elements are
    copied by 16 bytes, or by what divides known strides and sizes, where both arrays
    turn out to be aligned to 16 bytes, else one by one. Both views have as many positions,
    and the `tile.for` as many tiles as there are of all pieces, which is up to the host: whether
    there is such a piece is not asked for each tile.

    What stores sums of f32 that are infinite or NaN in any lane of a warp, or where
    residuals are of bf16 and the whole batch is shorter than 32 positions, computes them again by
    plain multiply-adds.

    Constraints:

    1. It is in the `tile.for` of its tile itself, in a kernel that has neither clusters
       nor several groups or shares, and as many threads as the warps of `batch`.
    2. Both views have strides and two axes, the batch and features, I * J * T of `left`
       and I * K * T of `right`; the batch is axis 1 if it is `last`, else axis 0; elements
       are those of `batch`.
    3. The slots of the ring have one dimension of as many elements as a step has of both
       sides, and there are two or more, with `wgmma.m64k8.tf32` three.
    4. Nothing else uses the ring.
    5. The sums are a tile of accumulators: its rows j, rows k, and products t.
    6. One `tile.store` uses the sums, and nothing else.

    Example:

    ```mlir
    %s = tile.contract_batch %g, %x[%t] positions %n in %ring by <...>
      : !tile.view<?x256xf32, [256, 1]>, !tile.view<?x256xf32, [256, 1]>, !tile.ring<3 of <16384xf32>>
      -> !tile.fragment<1x64x64x4xf32>
    ```
  }];
  let arguments = (ins Tile_View:$left, Tile_View:$right, Index:$tile, I64:$positions,
                       Tile_Ring:$ring, Tile_BatchAttr:$batch);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $left `,` $right `[` $tile `]` `positions` $positions `in` $ring `by` $batch attr-dict
    `:` type($left) `,` type($right) `,` type($ring) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_AddPiecesOp : Tile_Op<"add_pieces", resultNames = ["totals"]> {
  let summary = "adds up the sums of all pieces";
  let description = [{
    The view has axes pieces, groups, weights and lanes: a weight's total is the sum over
    all others. A tile has as many weights as a CTA has groups of `slices` threads: of
    those, slice s adds up sums s, s + `slices`, and so on, `loads` of which it waits for at a time, and
    then pairs of slices add up what they have, and pairs of those. So the order
    depends on nothing but sizes. Where there are several lanes, the threads of a weight
    are neighbours, else those of neighbouring weights.

    Weights are numbered as the positions of the view that the totals are stored to, in
    row-major order, or `as` threads have the sums of tiles of `#tile.batch`. Of weights
    that do not exist nothing is stored.

    Constraints:

    1. It is in the `tile.for` of its tile itself, in a kernel that has neither clusters
       nor several groups or shares, of a power of two of threads.
    2. The view has no gaps and four axes, of which all but the first one are of known
       sizes, with less than 2^40 sums of a piece, and accumulators of f32 or f64.
    3. `slices` are a power of two, up to the threads of the kernel, and `loads` up to 64.
    4. `as` has one group and lane, and as many weights as the tiles of its `#tile.batch`
       have sums.
    5. The totals are one accumulator of a thread.
    6. One `tile.store` uses them, and nothing else.

    Example:

    ```mlir
    %t = tile.add_pieces %s[%b] slices 2 loads 9 as <...> : !tile.view<?x1x16384x1xf32> -> !tile.fragment<1x1xf32>
    ```
  }];
  let arguments = (ins Tile_View:$view, Index:$tile,
                       ConfinedAttr<I64Attr, [IntPositive]>:$slices,
                       ConfinedAttr<I64Attr, [IntPositive]>:$loads,
                       OptionalAttr<Tile_BatchAttr>:$order);
  let results = (outs Tile_Fragment:$totals);
  let assemblyFormat = [{
    $view `[` $tile `]` `slices` $slices `loads` $loads (`as` $order^)? attr-dict
    `:` type($view) `->` type($totals)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEBATCH_TD
