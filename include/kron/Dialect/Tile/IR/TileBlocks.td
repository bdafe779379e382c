//===- TileBlocks.td - Blocks of a tile that warps multiply -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A block is a box of a tile of any sizes, which one warp, or some warps that
// have different results of it, take through a step. What lanes have of it is
// said by the atoms mma.m16n8k8.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEBLOCKS_TD
#define KRON_DIALECT_TILE_IR_TILEBLOCKS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ForBlocksOp
    : Tile_Op<"for_blocks",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["block"]> {
  let summary = "shares the blocks of a tile among groups of warps";
  let description = [{
    A tile of `sizes` is cut into blocks of `block` positions, of which the last ones
    along an axis may be there in part. Groups of `warps` warps take block i, i + groups,
    ...; with `shares`, each has as many, one behind the other. Warps that are no whole
    group take none. Where a size is missing, dimensions of the tile from the last one
    on count as one, whose positions lie without a gap. With `split`, each CTA of a
    cluster takes a half of the blocks, the first one the larger half; it has half of
    the positions that are contracted, and finds the others in the other CTA's shared
    memory.

    Constraints:

    1. It is in the kernel itself, or in `tile.for`.
    2. The body has one argument, a block.
    3. As many sizes as positions of a block, no larger ones.
    4. A group of `warps` is among the CTA's, and at most 15 groups if `warps` is not 1.
    5. `shares` are as many for each group.
    6. `split` is of a kernel of clusters, and not with `shares`.

    Example: `tile.for_blocks %b of [1, 16, 256] by [1, 16, 32] warps 1 { ... }`
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$block,
                       Tile_Count<"1">:$warps, UnitAttr:$shares, UnitAttr:$split);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBoxes() { return getBody()->getArgument(0); }
  }];
}

def Tile_CopyPiecesOp
    : Tile_Op<"copy_pieces", [AttrSizedOperandSegments, Kron_SingleOperand<0, "the view">,
                              Kron_SingleOperand<1, "the ring">]> {
  let summary = "starts to copy the first pieces of a tile";
  let description = [{
    Each group of warps fills all slots of its ring with the first of its pieces of this
    CTA's first tile, or the slots of as many pieces as go `ahead`. Pieces of chunks come
    with those of a factor, in a ring of its own, unless a part of the factor stays: then
    these are pieces of the first tile of a segment.

    Constraints, of pieces of chunks the last four of these and those of
    `tile.contract_pieces`:

    1. A slot is a piece, of the view's elements, in which what a copy moves lies together.
    2. The ring has slots for as many groups as there are, and as many for each; or all
       pieces are of one group, with one slot more than go `ahead`.
    3. `axes` are the view's.
    4. `bytes`, and the view, are as of `tile.copy` with `fill`.
    5. It is in no loop, but in `tile.for_segments` where a part of the factor stays.
    6. No other operation takes slots of the ring, but one `tile.for_pieces` or
       `tile.contract_pieces`.
    7. Chunks come with a factor and a ring of its pieces, unless a part of it stays, others
       with neither.
    8. A `tile.barrier` is behind what threads have read of the ring.

    Example: `tile.copy_pieces %x to %ring pieces #tile.pieces<...> : !tile.view<?x32x32xf32, [1024, 32, 1]>, !tile.ring<16 of <1x32x8xf32>>`
  }];
  let arguments = (ins Tile_View:$view, Tile_Ring:$ring, Optional<Tile_View>:$factor,
                       Optional<Tile_Ring>:$factor_ring, Tile_PiecesAttr:$pieces);
  let assemblyFormat = [{
    $view `to` $ring (`and` $factor^ `to` $factor_ring)? `pieces` $pieces attr-dict `:`
    type($view) `,` type($ring) (`and` type($factor)^ `,` type($factor_ring))?
  }];
  let hasVerifier = 1;
}

def Tile_ForPiecesOp
    : Tile_Op<"for_pieces",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["block", "piece"]> {
  let summary = "takes a tile piece by piece, as it arrives";
  let description = [{
    Each group of warps waits for its next piece, which is a slot of its ring, and meets.
    Behind the body it meets again, and fills the slot with a piece that comes as much
    later as the group has slots: of this tile, or of the CTA's next one.

    Constraints:

    1. It is in a `tile.for`, of whose turn the tile is, and pieces do not go `ahead`.
    2. The body has two arguments, a block as of `tile.for_blocks` and the slot, which a
       `tile.load` of the block reads.
    3. A `tile.copy_pieces` of the same ring, view and pieces is in front of the loop over
       tiles.

    Example: `tile.for_pieces %b, %slot of %x[%t] in %ring pieces #tile.pieces<...> : ... { ... }`
  }];
  let arguments = (ins Tile_View:$view, Index:$tile, Tile_Ring:$ring,
                       Tile_PiecesAttr:$pieces);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBoxes() { return getBody()->getArgument(0); }
    ::mlir::BlockArgument getSlot() { return getBody()->getArgument(1); }
  }];
}

def Tile_ContractPiecesOp
    : Tile_Op<"contract_pieces",
              [AttrSizedOperandSegments, Kron_SingleOperand<0, "the view">,
               Kron_SingleOperand<1, "the tile">, Kron_SingleOperand<2, "the operand">,
               Kron_SingleOperand<3, "the ring">],
              resultNames = ["sums"]> {
  let summary = "multiplies a tile by a factor, piece by piece as it arrives";
  let description = [{
    A warpgroup takes a tile of up to 64 fibres, which is cut into pieces along the
    contracted dimension. It waits for its next piece, meets, starts to copy the piece
    that goes `ahead` of it, of this tile or of a later one, loads the piece into
    registers, and adds its products to the sums, which are complete behind the
    operation. Products are started before those of the piece in front are done. Where the
    operand has residuals, small products have sums of their own, since a matrix unit cuts
    off what it adds; and sums that are infinite or NaN in any lane are computed again by
    plain multiply-adds, from the view.

    Pieces of chunks are multiplied by `mma.sync`, and the factor is a view whose pieces
    are in a ring of its own: all threads wait for the next piece of both, and start to
    copy those that go `ahead`. Or the part of the factor that the tiles of a segment need
    is `kept` in a slot. Tiles are counted as boxes of the view's rows, and what
    follows them, and of the factor's results, the last ones fastest. Where warps share K,
    they leave their sums in `sums_of`, from where the first one takes them; staged results
    go there, behind these, and chunks that are made of whole copies, behind both. Warpgroups read the factor as packed operands. Of one that
    streams, they are in front in `sums_of`, this piece's and that of the next one, which is
    packed while this one is multiplied. Pieces that do not go ahead are copied as soon as the
    one in front of them is in registers. Sums that are
    not finite are computed again where they are stored, from the views.

    Constraints:

    1. It is in a `tile.for`, of whose turn the tile is.
    2. Pieces go `ahead`, have four warps, and are cut `along` one dimension only in
       multiples of 16 positions, of at most 64 fibres, counted in pairs along the
       innermost dimension if that is another one.
    3. A `tile.copy_pieces` of the same ring, view and pieces is in front of the loop over
       tiles.
    4. The operand is from `tile.prepare`, has the atom, `quads` if the dimension is the
       innermost one and else `pairs`, and K positions, of which the last piece has some.
    5. The sums are a tile with the operand's results along the dimension.
    6. A `tile.barrier` is behind the `tile.prepare` of the operand.
    7. In a slot, 4 neighbours of `quads` or 2 of `pairs` lie together, at a multiple of
       their size, and no swizzle flips bits of their places or by that of an odd K.

    Of pieces of chunks, the first and the third of these, and:

    8. The view has rows, others, lanes and K, and the factor the last of these others,
       lanes, results and K, whose sizes are known, not 0, and the same; there are no more
       than the `rows` of chunks; warpgroups multiply f32 that is split, f16 or bf16; elements are of f32, f64,
       f16 or bf16, or one or both are of 8 bits and the others of f16. Threads are those
       of all warps, and of each group of these with a kept factor, and CTAs take tiles of
       their own.
    9. Chunks have as many elements as `k` and `lanes` say, of which there are whole
       chunks, and `along_rows` one lane; those of 48 bytes have all lanes, a multiple of
       three, of f32 or 16-bit elements, and `spread` results if k is 1; results in `chunks` have all lanes there are in one chunk, and whole ones of a
       warp, `spread` ones and `pairs` one position, and `pairs` an even number of chunks.
    10. The tile has as many rows as warps have, one position of others, whole chunks of
        lanes, and steps along K that are pieces, of whole instructions of each warp, which
        begin at multiples of 128 bytes where chunks change places. `order` has each of
        the factor's dimensions once.
    11. Slots of both rings, one more than go ahead, are rows of the piece with the room
        between them; those `along_rows` have K, and rows in place of that, and of a factor
        that is `swapped` K, and results. A kept factor is as many pieces, or packed operands.
        Lanes and K of what is copied whole are neighbours where strides are known.
    12. The sums are a tile with results in place of K, of the product's atom, up to 64
        groups of four in a lane, 32 of f64; `sums_of` is a buffer for those of all warps
        but the first ones, if some share K, for staged results, for chunks of whole copies,
        and for packed operands, that nothing else uses, and stands in front of what starts
        to copy pieces.
    13. A kept factor is a slot from `tile.wait` of pieces that a `tile.copy` of the same
        factor and pieces has filled; the loop over tiles is that of a segment, whose loop has
        the factor's parts, and has the segment's tiles. Warps do not share K then, and there
        are no few rows.
    14. `paired` chunks have one `tile.pair_chunks` of the slot and pieces in front of the
        loop over tiles, and others have none.
    15. All threads have waited for a kept factor, and for what `tile.pair_chunks` has
        written: a `tile.barrier` is in between.

    Example: `%s = tile.contract_pieces %x[%t], %p in %ring along 1 pieces #tile.pieces<...> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>`
  }];
  let arguments = (ins Tile_View:$view, Index:$tile,
                       AnyTypeOf<[Tile_Operand, Tile_View]>:$operand, Tile_Ring:$ring,
                       Optional<Tile_Ring>:$factor_ring, Optional<Tile_Buffer>:$kept,
                       Optional<Tile_Buffer>:$sums_of,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$along,
                       Tile_PiecesAttr:$pieces);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $view `[` $tile `]` `,` $operand `in` $ring (`and` $factor_ring^)?
    (`kept` $kept^)? (`sums` $sums_of^)? `along` $along `pieces` $pieces attr-dict
    `:` type($view) `,` type($operand) `,` type($ring) (`and` type($factor_ring)^)?
    (`kept` type($kept)^)? (`sums` type($sums_of)^)? `->` type($sums)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEBLOCKS_TD
