//===- TileSegments.td - Tiles that keep a part of a factor -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILESEGMENTS_TD
#define KRON_DIALECT_TILE_IR_TILESEGMENTS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ForSegmentsOp
    : Tile_Op<"for_segments",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["segment", "tiles"]> {
  let summary = "takes the segments of this CTA: tiles that need one part of a factor";
  let description = [{
    A factor has `parts`, and a tile is one of the `blocks` of rows times one of these: the
    parts of a block of rows are counted as its tiles are. A segment is some blocks that
    follow each other, times the same part. CTA c of C takes segments c, c + C, ..., of
    which parts are counted fastest, such that CTAs read the same rows at a time.

    All segments but the last ones are equally long: so that there are r for each CTA, or
    fewer, where r is 1, or as many as it takes for no more than `most` blocks in a segment,
    if that is not 0. There are r + 1 if that shares tiles out better by more than a block.

    The body has two arguments, the segment and its number of tiles. Groups of threads
    (`#tile.kernel`) share these: group g takes tiles g, g + groups, ... of a segment.

    Constraints:

    1. It is in the `gpu.func` itself.
    2. The body has an argument of type index, and one of the type of `blocks`.
    3. A turn acquires, fills, waits for and releases as many slots of a ring.
    4. There is one `tile.for` in it, with one `tile.contract_pieces`, and nothing but what
       goes with pieces of chunks.

    Example: `tile.for_segments %segment, %tiles of %blocks parts 12 most 8 { ... }`
  }];
  let arguments = (ins I32:$blocks, ConfinedAttr<I64Attr, [IntPositive]>:$parts,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$most);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getSegment() { return getBody()->getArgument(0); }
    ::mlir::BlockArgument getTiles() { return getBody()->getArgument(1); }
  }];
}

def Tile_PairChunksOp : Tile_Op<"pair_chunks"> {
  let summary = "puts chunks of a kept factor in the order of operands";
  let description = [{
    Replaces the 16-bit values of the chunks that a lane reads at a time, in place: of each
    product come the two pairs along K that its operand consists of. All threads share
    the chunks.

    Constraints:

    1. The slot is one from `tile.wait` of pieces of a factor that stays, whose chunks are
       `paired`.
    2. All threads have waited for it: a `tile.barrier` is behind the `tile.wait`.
    3. Nobody has read or written it since the last `tile.barrier`.

    Example: `tile.pair_chunks %slot pieces #tile.pieces<...> : !tile.buffer<2x32x64xf16>`
  }];
  let arguments = (ins Tile_Buffer:$slot, Tile_PiecesAttr:$pieces);
  let assemblyFormat = "$slot `pieces` $pieces attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILESEGMENTS_TD
