//===- TileSteps.td - Steps of a chain of sparse factors ----*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is a block of rows, which a group of threads takes through all factors
// of a chain. What a step leaves of a row lies in a buffer, in chunks as the
// next step reads them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILESTEPS_TD
#define KRON_DIALECT_TILE_IR_TILESTEPS_TD

include "kron/Dialect/Kron/IR/KronAttrs.td"
include "kron/Dialect/Tile/IR/TileOp.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Tile_ForStepOp
    : Tile_Op<"for_step",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["part"]> {
  let summary = "takes the parts of a chain step, one after the other";
  let description = [{
    A part is some results of some lanes of a group, of all rows of the tile. The group of
    threads takes them in order, or, with `shares`, as many warps as there are shares take
    every so many of them each: those of the first step in the same turns, since they wait
    for copies together, and those of others when they like.

    Constraints:

    1. It is in a `tile.for` itself.
    2. The body has one argument, a part.

    Example: `tile.for_step %p of 24 shares 2 { ... }`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count, Tile_Count<"1">:$shares);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getPart() { return getBody()->getArgument(0); }
    /// The product of a part; null if there is none.
    ::mlir::kron::tile::ContractStepOp getProduct();
  }];
}

def Tile_CopyStepOp
    : Tile_Op<"copy_step", [AttrSizedOperandSegments, Kron_SingleOperand<0, "the view">,
                            Kron_SingleOperand<2, "the ring">]> {
  let summary = "starts to copy the first pieces of a chain step";
  let description = [{
    Fills the slots of as many pieces as go ahead, from the first part on: of the tile's
    data, of a factor, or of both together, each in a ring of its own. The tile is that which
    the group takes `ahead` turns after `tile`, or after its first one; one that does not
    exist is not copied.

    Constraints:

    1. It is in a `tile.for` itself, of whose turn `tile` is, or in the kernel without one.
    2. The rings are those of one `tile.contract_step`, which multiplies what is copied.
    3. A `tile.barrier` is behind what other threads have read of these rings.

    Example: `tile.copy_step %x[%t + 1] to %ring and %f to %beside : !tile.view<?x2x1x48xf16, [96, 48, 0, 1]>, !tile.ring<2 of <32x48xf16>> and !tile.view<2x1x192x48xf16, [9216, 0, 48, 1]>, !tile.ring<2 of <96x48xf16>>`
  }];
  let arguments = (ins Tile_View:$view, Optional<Index>:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$ahead, Tile_Ring:$ring,
                       Optional<Tile_View>:$factor, Optional<Tile_Ring>:$factor_ring);
  let assemblyFormat = [{
    $view `[` custom<Turn>($tile, $ahead) `]` `to` $ring (`and` $factor^ `to` $factor_ring)?
    attr-dict `:` type($view) `,` type($ring) (`and` type($factor)^ `,` type($factor_ring))?
  }];
  let hasVerifier = 1;
}

def Tile_KeepStepOp : Tile_Op<"keep_step", resultNames = ["kept"]> {
  let summary = "keeps a factor of a chain step in shared memory";
  let description = [{
    All threads of the CTA copy all pieces of all parts, one behind the other, for all of its
    groups. Each has done its share behind the last of such operations that follow each
    other; a `tile.barrier` must follow before the factor is multiplied by.

    Constraints:

    1. It is in the kernel itself.
    2. One `tile.contract_step` multiplies by the factor, in the buffer.

    Example: `%kept = tile.keep_step %f : !tile.view<2x1x192x48xf16, [9216, 0, 48, 1]> -> !tile.buffer<384x48xf16>`
  }];
  let arguments = (ins Tile_View:$factor);
  let results = (outs Tile_Buffer:$kept);
  let assemblyFormat = "$factor attr-dict `:` type($factor) `->` type($kept)";
  let hasVerifier = 1;
}

def Tile_ClearOp : Tile_Op<"clear"> {
  let summary = "fills rows between chain steps with zeros";
  let description = [{
    Where the positions K of a group end within a piece, products take in what lies behind
    them.

    Constraints:

    1. It is in the kernel itself.
    2. The buffer has memory of its own, and nothing else is in front.

    Example: `tile.clear %rows : !tile.buffer<32x416xf16>`
  }];
  let arguments = (ins Tile_Buffer:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_ContractStepOp : Tile_Op<"contract_step", resultNames = ["sums"]> {
  let summary = "multiplies a part of a chain step by its factor";
  let description = [{
    As `tile.contract_pieces` of chunks does: the sums of all pieces of a part, whose data
    come piece by piece in a ring, from a view, or lie in a buffer, where a step in front
    left them. The factor comes in a ring of its own, or was kept. Where there are rings, the
    threads of the group wait for each piece, and start to copy those that go ahead.

    A row of a buffer has the positions K of each group and its lanes as pieces have them,
    one piece behind the other, and none of its chunks changes places; groups, and blocks of
    lanes, follow each other. Where the views' rows are innermost, `turned` says how many
    rows a thread has of those that the last step stores: rows 8 i + g of a buffer, of each
    8 `turned` ones, are rows i + `turned` g of the tile, so that a thread's are neighbours
    there.

    Constraints:

    1. The part is that of the `tile.for_step` that it is in, alone, of the tile of the
       `tile.for` around that.
    2. Pieces are of chunks of 16 bytes by the rules of `tile.contract_pieces`, of f32, f16 or
       bf16; without `rows`, `shift`, `staged`, and warps that share K. Warps are those of a
       share of a group.
    3. The loop takes all parts of the factor. Parts of a view are equally many of each
       share.
    4. Data of a view come in a ring, of the rows of all shares; those of a buffer in none.
       The factor comes in a ring where there is one share, or was kept.
    5. A buffer has the tile's rows, from `tile.alloc`, with room for all groups. Where K ends
       within a piece it was cleared.
    6. The sums are of the factor's results, as those of `tile.contract_pieces`; one operation
       in the loop takes them, for its part and tile.
    7. All steps of a kernel are `turned` alike: along rows in the first step, to as many rows
       as a thread of the last one has, of which there are a power of two; or none is.
    8. A `tile.barrier` is behind what other threads have written to the buffer, or kept.
    9. One `tile.copy_step` has started the rings since the last turn of it.

    Example: `%s = tile.contract_step %x[%t, %p] from %ring, %f in %kept pieces #tile.pieces<...> : !tile.view<?x2x1x48xf16, [96, 48, 0, 1]> from !tile.ring<2 of <32x48xf16>>, !tile.view<2x1x192x48xf16, [9216, 0, 48, 1]> in !tile.buffer<384x48xf16> -> !tile.fragment<1x32x1x1x96xf32, mma.m16n8k16>`
  }];
  let arguments = (ins AnyTypeOf<[Tile_View, Tile_Buffer]>:$source, Index:$tile, Index:$part,
                       Optional<Tile_Ring>:$ring, Tile_View:$factor,
                       AnyTypeOf<[Tile_Ring, Tile_Buffer]>:$factor_in,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$turned,
                       Tile_PiecesAttr:$pieces);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $source `[` $tile `,` $part `]` (`from` $ring^)? `,` $factor `in` $factor_in
    (`turned` $turned^)? `pieces` $pieces attr-dict `:` type($source) (`from` type($ring)^)?
    `,` type($factor) `in` type($factor_in) `->` type($sums)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::kron::tile::ForStepOp getLoop();
    /// What data would be a view of: rows of any number, groups, lanes and K.
    ::mlir::kron::tile::ViewType getData();
    ::mlir::kron::tile::ViewType getWeights() { return getFactor().getType(); }
  }];
}

def Tile_LeaveRowsOp
    : Tile_Op<"leave_rows",
              [AttrSizedOperandSegments, Kron_SingleOperand<0, "the source">,
               Kron_SingleOperand<1, "the part">, Kron_SingleOperand<2, "the buffer">,
               Kron_SingleOperand<3, "the tile">]> {
  let summary = "leaves the results of a chain in rows of a buffer";
  let description = [{
    What a `tile.store` of these sums would write to an array goes to rows of the features in
    their order: for `tile.load_rows`, since they are quantized.

    Constraints:

    1. The sums are those of a `tile.contract_step` of its part, which is not `turned`.
    2. The buffer has the tile's rows and all results, of the factor's elements, in chunks of
       16 bytes.
    3. `alpha`, `beta`, the addend and an epilogue are as of a `tile.store` to a view of the
       results, with these sizes and elements.
    4. A `tile.barrier` is behind what other threads have read of the buffer.

    Example: `tile.leave_rows %s[%p] to %rows[%t] : !tile.fragment<1x32x1x1x96xf32, mma.m16n8k16>, !tile.buffer<32x384xf16, #tile.layout<[416, 1]>>`
  }];
  let arguments = (ins Tile_Fragment:$source, Index:$part, Tile_Buffer:$buffer, Index:$tile,
                       Optional<F32>:$alpha, Optional<F32>:$beta,
                       Optional<Tile_View>:$addend, Optional<Tile_View>:$bias,
                       Optional<Tile_View>:$residual,
                       DefaultValuedAttr<Kron_ActivationAttr,
                                         "Activation::Identity">:$activation,
                       OptionalAttr<TypedAttrInterface>:$scale);
  let assemblyFormat = [{
    $source `[` $part `]` `to` $buffer `[` $tile `]` (`alpha` $alpha^)?
    (`beta` $beta^ `addend` $addend `:` type($addend))?
    (`bias` $bias^ `:` type($bias))? (`activation` $activation^)? (`scale` $scale^)?
    (`residual` $residual^ `:` type($residual))? attr-dict
    `:` type($source) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILESTEPS_TD
