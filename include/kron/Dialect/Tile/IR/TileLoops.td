//===- TileLoops.td - Loops over tiles and boxes -----------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILELOOPS_TD
#define KRON_DIALECT_TILE_IR_TILELOOPS_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ForOp
    : Tile_Op<"for", [SingleBlockImplicitTerminator<"YieldOp">], argumentNames = ["tile"]> {
  let summary = "takes the tiles of this CTA, one after the other";
  let description = [{
    Tiles `i`, `i + CTAs`, ... below `tiles`, where i is the number of the CTA, or
    of its cluster if these share tiles, or as `#tile.kernel` says of groups and shares; in `tile.for_columns`, i is the CTA's
    number among those that keep the same columns, which are counted; in `tile.for_segments`
    they are all of the segment's. Tiles are
    counted in the type of `tiles`, in `tile.for_columns` in 32 bits: there are less
    than 2^31 rows. `carry` names fragments that a turn leaves for
    the next one: `inits` at first, then what `tile.yield` says.

    Constraints:

    1. The loop is in the `gpu.func` itself, or in a `tile.for_columns` or
       `tile.for_segments`.
    2. Its body has an argument for the number of the tile, and one for each
       carried fragment.
    3. Fragments of the same types are carried on.
    4. They are from `tile.load_columns`, of the same view and by as many bytes.
    5. A turn acquires, fills, waits for and releases as many slots of a ring.

    Example:

    ```mlir
    tile.for %t to %tiles {
      tile.copy %x[%t + 1] to %free rows 4 bytes 16 : ...
    }
    tile.for %t to %tiles carry(%a = %first : !tile.fragment<2x8x4xf32>) {
      %next = tile.load_columns %x[%c, %t + 1] bytes 16 : ...
      tile.yield %next : !tile.fragment<2x8x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64]>:$tiles, Variadic<Tile_Fragment>:$inits);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getTile() { return getBody()->getArgument(0); }
    /// Fragments from the turn before, and those for the next one.
    ::mlir::Block::BlockArgListType getCarried() {
      return getBody()->getArguments().drop_front();
    }
    ::mlir::OperandRange getYielded() {
      return getBody()->getTerminator()->getOperands();
    }
  }];
}

def Tile_ForBoxesOp
    : Tile_Op<"for_boxes",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["boxes"]> {
  let summary = "shares the boxes of a tile among the threads";
  let description = [{
    In a turn each thread takes up to `together` boxes, which are as many apart
    as there are threads. Loops of up to `unrolled` turns of all threads are
    written out, without `repeat`. In the last turn threads behind the last box have none, or with
    `excess` compute on what lies behind the tile, where a buffer has room for
    it. With `repeat`, a thread that has a box in the last turn, but fewer than
    `together`, computes on that one again, without writing it again. `order` has
    the axes along which boxes are counted, the innermost one last; without it
    they are those of the tile.

    With `parts`, boxes are fibres of a tile along the axis that a `tile.multiply`
    contracts, and their results are cut into so many parts. A turn of a thread has
    one part of up to `together` fibres, all threads' fibres of one part before
    those of the next one. The last fibre is repeated as with `repeat`. With `across`,
    the fibres of a turn are apart along that axis, as many positions as the tile has
    there by `together`. With `lanes`, so many lanes of a warp take the same fibres, for
    parts of their K: those whose numbers differ by multiples of 32 / `lanes`. All
    threads go through each turn then, those behind the last fibre on that one.

    With `vectors`, the fibres of a turn are neighbours along `across` instead, the
    first of which has its result at a multiple of their bytes: groups of them are
    counted from the last multiple of 32 bytes in front of a row of the tile on, of
    which there is one more than the tile has positions for. Results of a part are
    `vectors` apart, so that all of them lie alike.

    With `warps`, the boxes are of as many warps, those of the CTA or of both
    CTAs of a cluster: each has as many, one behind the other, and all turns are
    written out.

    Constraints:

    1. The body has one argument, the boxes of a thread.
    2. Threads repeat boxes or compute in excess, not both.
    3. `warps` are those of the CTA or of its cluster, with whole turns of each,
       without excess, repeat and order.
    4. Boxes in parts are of threads, and not in excess.
    5. It is in the kernel itself, or in `tile.for`.
    6. There are less than 2^31 boxes.
    7. `across` and `lanes` are of boxes in parts; `lanes` are a power of two up to 32,
       of whole warps.
    8. `vectors` are of fibres across an axis, without `lanes`, and divide the parts.
       The body has one `tile.store`.

    Example: `tile.for_boxes %u of 729 together 7 excess { ... }`
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntPositive]>:$count,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$together,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "3">:$unrolled,
    UnitAttr:$excess, UnitAttr:$repeat,
    OptionalAttr<DenseI64ArrayAttr>:$order,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$warps,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$parts,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<-1>]>, "-1">:$across,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$lanes,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$vectors);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBoxes() { return getBody()->getArgument(0); }
    /// How many results the neighbours in a part are apart.
    int64_t getResultStep() { return getVectors() ? getVectors() : 1; }
    /// The axis that fibres of a turn are apart on, if they are on one.
    std::optional<int64_t> getAxisAcross() {
      int64_t axis = getAcross();
      return axis < 0 ? std::nullopt : std::optional(axis);
    }
    /// Whether all of `threads` threads go through the body once.
    bool isOnce(int64_t threads) {
      return getWarps() == 0 && getParts() == 0 &&
             getCount() == getTogether() * uint64_t(threads);
    }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "ends the body of a loop";
  let description = [{
    `values` are fragments that a `tile.for` carries to its next turn, the one that
    the body of a `tile.for_pairs` computes, or what a function of scalars does.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Tile_Fragment, Tile_Scalar]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins)>];
}

#endif // KRON_DIALECT_TILE_IR_TILELOOPS_TD
