//===- TileOps.td - Operations on tiles --------------------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEOPS_TD
#define KRON_DIALECT_TILE_IR_TILEOPS_TD

include "kron/Dialect/Kron/IR/SingleOperand.td"
include "kron/Dialect/Kron/IR/KronAttrs.td"
include "kron/Dialect/Tile/IR/TileBatch.td"
include "kron/Dialect/Tile/IR/TileBlocks.td"
include "kron/Dialect/Tile/IR/TileColumns.td"
include "kron/Dialect/Tile/IR/TileFibres.td"
include "kron/Dialect/Tile/IR/TileLoops.td"
include "kron/Dialect/Tile/IR/TilePairProducts.td"
include "kron/Dialect/Tile/IR/TilePairs.td"
include "kron/Dialect/Tile/IR/TileParts.td"
include "kron/Dialect/Tile/IR/TileRows.td"
include "kron/Dialect/Tile/IR/TileSegments.td"
include "kron/Dialect/Tile/IR/TileShared.td"
include "kron/Dialect/Tile/IR/TileSpread.td"
include "kron/Dialect/Tile/IR/TileSteps.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

def Tile_ViewOp
    : Tile_Op<"view", [Pure, AttrSizedOperandSegments,
                       Kron_SingleOperand<0, "the base">],
              resultNames = ["view"]> {
  let summary = "describes an array to a kernel";
  let description = [{
    `sizes` and `strides` are those that the type says `?` of, outermost first,
    in elements.

    Constraints:

    1. One size per dynamic dimension.
    2. One stride per dynamic stride.

    Example:

    ```mlir
    %v = tile.view %pointer sizes(%n) strides(%s) : !tile.view<?x4x4xf64, [?, 4, 1]>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<0>:$base, Variadic<I64>:$sizes,
                       Variadic<I64>:$strides);
  let results = (outs Tile_View:$view);
  let assemblyFormat = [{
    $base (`sizes` `(` $sizes^ `)`)? (`strides` `(` $strides^ `)`)? attr-dict
    `:` type($base) `->` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_LaunchOp
    : Tile_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "starts a kernel on the GPU";
  let description = [{
    On as many CTAs, or clusters of them, as there are tiles, but no more than
    can be resident: the kernel is persistent.

    Constraints:

    1. The kernel is a `gpu.func` with the attribute `tile.kernel`.
    2. Its arguments have the types of `args`.

    Example:

    ```mlir
    tile.launch @kron_gpu::@batched tiles(%n) args(%x, %y, %n : !tile.view<?x4x4xf32>, !tile.view<?x4x4xf32>, i64)
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, I64:$tiles,
                       Variadic<AnyTypeOf<[Tile_View, Tile_Scalar]>>:$args);
  let assemblyFormat = [{
    $kernel `tiles` `(` $tiles `)` `args` `(` $args `:` type($args) `)` attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", resultNames = ["values"]> {
  let summary = "loads boxes of a tile into registers";
  let description = [{
    Boxes that have all positions of the axes `along`, which follow each other;
    if the innermost axis is not among these, as many neighbours inside as the
    fragment says. Boxes of a ring `along` an axis, or of a view, have none, and
    axes that follow each other in any distance: of a view, those of tile `tile`,
    which is a box of the sizes `box`. What lies outside of the view is not read;
    the first box of the tile stands for it.

    With an atom, boxes are 16 fibres of a tile whose sizes are powers of two, one
    behind the other. With `halves`, each CTA of a cluster has half of the
    positions along the axis in its buffer, and lanes read both.

    With the atoms `mma.m16n8k8`, it is a block of `tile.for_blocks` or of
    `tile.for_pieces`, whole along one axis or the two innermost ones, of which lanes
    load what they multiply when they do. `together` tiles of 8 columns, or fewer at the
    end, are read as one: lane (g, t) has neighbours, number g of each tile; and sums of
    a lane are neighbours, too. Where the innermost axis has 2 or 4 positions, `fold`
    positions of the axis outside share a tile. What is behind the end of an axis is 0.

    Constraints:

    1. The boxes are those of a `tile.for_boxes`.
    2. The fragment has as many boxes as a thread takes in a turn of it.
    3. Axes follow each other; axis 0 of rows counts them and is none of them.
    4. There is at least one axis.
    5. The fragment's boxes divide the tile.
    6. Fragment and buffer or view have the same element type.
    7. Neighbours that a box has lie together in the buffer.
    8. The buffer has room for all boxes of the loop, those in excess included; a
       ring `along` an axis and a view have none in excess.
    9. A `tile.wait` was for the slot.
    10. A `tile.barrier` is behind that wait.
    11. The slot was not released.
    12. A `tile.barrier` is behind what other threads have written.
    13. A view, and nothing else, has a tile, of a `tile.for`, and its sizes.
    14. The loop's order has each axis once; with buffers that are not of a ring
        `along` an axis it has none, and no boxes are repeated.
    15. A fragment has the atom of an instruction of a warp if the loop is of
        `warps`.
    16. Boxes of 16 fibres are along one axis, in a buffer or box whose sizes are
        powers of two, without gaps, with a swizzle that flips bits within 128
        bytes; neighbours are two.
    17. `halves` are of such boxes along the ring's axis, in a loop of both CTAs'
        warps, and no others are along it.
    18. A `tile.barrier cluster` is behind what the other CTA has written.
    19. One is behind the last reading of what the other CTA has, which has no
        shared memory any more when it has ended.
    20. Boxes are whole, not parts of fibres.
    21. A block has the sizes that its loop says, whole along `along`, in a buffer with
        room for the tile; a piece is all of its slot.
    22. `together` and `fold` are of a block; the former is a power of two up to 4, the
        latter fills a tile of 8 columns with positions of an axis that is not contracted,
        if the innermost one is not, either.
    23. Of a block, the innermost axis has stride 1, and what is read as one begins at a
        multiple of that; a swizzled buffer's strides, and parts of axes, are powers of two.
    24. A block has several positions along the axes that are contracted, the innermost
        one, and one more; if the innermost one is contracted by itself, along the one
        outside, and if two are, along no other.
    25. Parts of an axis divide it, but of the innermost one they are multiples of the
        columns that are read as one, and of the one outside, if the innermost one is
        contracted by itself, of 16.

    Example:

    ```mlir
    %fibres = tile.load %slot[%u] along [1] : !tile.buffer<4x8x8x8xf32> -> !tile.fragment<2x8x4xf32>
    %planes = tile.load %x[%u] along [0, 1] tile %t box [4, 4, 64]
      : !tile.view<4x4x?xf32, [?, ?, 1]> -> !tile.fragment<1x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Buffer, Tile_View]>:$source, Index:$boxes,
                       Optional<Index>:$tile, DenseI64ArrayAttr:$along,
                       OptionalAttr<DenseI64ArrayAttr>:$box, UnitAttr:$halves,
                       Tile_Count<"1">:$together, Tile_Count<"1">:$fold);
  let results = (outs Tile_Fragment:$fragment);
  let assemblyFormat = [{
    $source `[` $boxes `]` `along` $along (`tile` $tile^)? (`box` $box^)?
    (`halves` $halves^)? (`together` $together^)? (`fold` $fold^)? attr-dict
    `:` type($source) `->` type($fragment)
  }];
  let hasVerifier = 1;
}

def Tile_ContractOp : Tile_Op<"contract", [Pure], resultNames = ["sums"]> {
  let summary = "multiplies a fragment by a factor";
  let description = [{
    Replaces the K positions of dimension `along` of every box by N sums.
    `block` is how many fibres (of all boxes of the thread), and how many of
    their N results, are computed at a time: the fibres share what is loaded of
    the operand. Whoever takes the fragment takes it so many results at a time,
    and no more of them are in registers at once; with `whole`, all are computed
    before any is taken. What a block needs of the operand is loaded for each
    block anew, and with `ordered` by the assembler as well in this order. An
    instruction of a warp computes all results of its fibres, and the boxes of a
    turn are computed together. Where an operand has residuals, sums that are infinite
    or NaN in any lane are computed again by plain multiply-adds, behind the last
    contraction; long sums are taken in parts, since a matrix unit cuts off what it adds.

    Constraints:

    1. `along` is a dimension of a box.
    2. Fragment and operand have the same element type.
    3. The fragment has K positions along it.
    4. The sums have N instead, and are otherwise like the fragment.
    5. `block` has two positive numbers.
    6. The second one is at least N, or a multiple of 16 bytes of the operand.
    7. A `tile.barrier` is behind the `tile.prepare` of the operand, if that is in
       shared memory.
    8. Fragment, sums and operand are those of the atom.
    9. Of an instruction of a warp, the block is all fibres and results, `whole`;
       the operand has `pairs` if the axis is the innermost one, and `halves` if
       the fragment was loaded by them.
    10. With the atoms `mma.m16n8k8`, the sums are of the type that is computed with; the
        operand is of `rows` for a block that was loaded and an axis that is not the
        innermost one, of `columns` if it is, and `chained` for sums by `rows` of one
        warp; and its `warps` and `split` are those of the loop. The axis is that along
        which the block was loaded, in front of `chained` with 8 bytes together.
    11. With atom `fma`, elements are f32 or f64.

    Example:

    ```mlir
    %s = tile.contract %a, %p along 1 atom <fma> block [8, 4]
      : !tile.fragment<2x8x4xf32>, !tile.operand<8x5xf32> -> !tile.fragment<2x5x4xf32>
    ```
  }];
  let arguments = (ins Tile_Fragment:$fragment, Tile_Operand:$operand,
                       ConfinedAttr<I64Attr, [IntPositive]>:$along,
                       Tile_AtomAttr:$atom, DenseI64ArrayAttr:$block,
                       UnitAttr:$whole, UnitAttr:$ordered);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $fragment `,` $operand `along` $along `atom` $atom `block` $block
    (`whole` $whole^)? (`ordered` $ordered^)? attr-dict
    `:` type($fragment) `,` type($operand) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_ExchangeOp : Tile_Op<"exchange"> {
  let summary = "leaves a fragment in shared memory, for other threads";
  let description = [{
    The opposite of `tile.load`. Where a thread has loaded the same boxes in the
    same loop, they are replaced in place; of blocks, behind a `tile.barrier of_block`.
    Sums of a part of a chain step are rounded to the buffer's elements, and lie as the step
    that reads them says: the axes between two factors are regrouped.

    Constraints, beside the first eight of `tile.load`:

    1. The boxes of the loop are whole rows, or sums of `tile.contract_fibres`.
    2. A slot is this turn's, waited for by all threads.
    3. A `tile.barrier` is behind what other threads have read.
    4. No other operation has written to the buffer since the last
       `tile.barrier`.
    5. A `tile.barrier cluster` is behind what the other CTA has read.
    6. Of a loop in parts, the boxes are these along one axis of the buffer, of all
       its fibres; the last part may reach over the axis' end. What they are across is
       another axis, whose positions those of a turn divide.
    7. A block is sums of a `tile.contract`.
    8. The buffer has room for whole vectors of a lane's sums of a block, and they lie
       together in it.
    9. Sums of a `tile.contract_step`, of a part, go to rows that one other step reads, as many
       features of it, `along` dimension 1.

    Example:

    ```mlir
    tile.exchange %s to %work[%u] along [1] : !tile.fragment<2x5x4xf32>, !tile.buffer<4x5x8x8xf32>
    ```
  }];
  let arguments = (ins Tile_Fragment:$fragment, Tile_Buffer:$buffer,
                       Index:$boxes, DenseI64ArrayAttr:$along);
  let assemblyFormat = [{
    $fragment `to` $buffer `[` $boxes `]` `along` $along attr-dict
    `:` type($fragment) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp
    : Tile_Op<"store", [AttrSizedOperandSegments, Kron_SingleOperand<0, "the source">,
                        Kron_SingleOperand<2, "the view">,
                        Kron_SingleOperand<3, "the tile">]> {
  let summary = "stores a tile to global memory";
  let description = [{
    Writes `alpha * source + beta * addend` to the rows of tile `tile` that
    exist, by the rules of BLAS: without `alpha` it is 1; without `beta`, or
    where that is 0 at run time, `addend` is not read. Of that, `bias` is added,
    then comes `activation`, the factor `scale`, and the addition of `residual`,
    before it is rounded to the view's elements. The source is a buffer,
    which all threads store by `bytes` at a time, or a fragment whose boxes are
    `along` axes of the tile. Without `rows` the tile is a box, as of `tile.copy`,
    of the sizes of the buffer or of `box`; it is stored element by element, or
    by the pairs that lanes have. The boxes of `tile.for_columns` are its columns,
    and axis 1, which they are along, has one position: what follows it are groups
    and their results, as of `tile.load_columns`. Blocks of `tile.for_blocks` go to a box
    with `axes` and alignment as of `tile.copy` with `fill`, and so do the one tile of
    `tile.contract_pieces`, which has no boxes, and sums of `tile.contract_fibres`. With `axes`, a
    buffer of sums goes there, element by element, in `order`.

    Sums of `tile.contract_batch` and totals of `tile.add_pieces` go to views of
    I x J x K x T elements, one by one. The former may go, as they are, to a view of
    such sums for each piece of the batch, by `bytes` of neighbours; or, by 16 bytes, to one
    with the sums of a piece as threads have them, those that do not exist included.

    Constraints, beside those of `tile.copy` about view, addend and buffer, of
    `tile.load` about boxes, and of what it reads of a buffer:

    1. The addend has the view's sizes, and of blocks its elements, and lies as that
       does, with or without gaps.
    2. The tile is that of a `tile.for`.
    3. `alpha` and `beta` have the accumulation type of the elements.
    4. A buffer has no boxes.
    5. A fragment has boxes, but for that of `tile.contract_pieces`, and axes that they are
       along.
    6. The view has no gaps then, if the tile has rows.
    7. The boxes of the loop are all of the tile.
    8. A fragment of a box, and nothing else, has its sizes.
    9. Columns are along axis 1, have as many rows as the fragments of all threads
       of a column, or the warp's, and go to dense rows by 16 bytes, without `beta`.
    10. An epilogue is of a box that is stored element by element; its arrays have
        the elements and sizes of the view, and the scale has their accumulation type.
        Complex elements have no activation, integers neither gelu nor silu.
    11. `axes` are of blocks, fibres and `tile.contract_pieces`, or of a buffer of f32, and as the rules of `tile.copy`
        say; `bytes` divide known sizes along the innermost axis, too, or of fibres and pieces along what they are
        along (or the next to last one), where neighbours are. Dimensions that count as one have no gap.
    12. No other operation of the kernel reads or writes the view.
    13. Sums of `tile.contract_batch` and totals of `tile.add_pieces` are of the tile, in its
        turn, and have no boxes, nor what boxes have, nor an epilogue.
    14. They go to the elements and sizes of the products, with strides, by `bytes` of one
        element; or, of `tile.contract_batch`, to a view without gaps of accumulators, its
        first axis pieces: of these sizes, by up to 16 bytes of neighbours, or
        of two axes, by 16; without `alpha` and `beta`.
    15. Sums of pieces of chunks go by 16 bytes where arrays turn out to be aligned, to a
        view of the same sizes with results in place of K and of the products' elements, or
        of any that have their sums. Shifted ones have neither `beta` nor arrays of an
        epilogue, and rows that are multiples of the shift apart.
    16. Vectors are of two or more neighbours of the view, up to 16 bytes, and no complex
        elements.

    Example:

    ```mlir
    tile.store %s[%u] to %y[%t] along [1] rows 4 bytes 16 : !tile.fragment<2x8x4xf32>, !tile.view<?x8x8x8xf32>
    tile.store %slot to %y[%t] alpha %a : f32 beta %b : f32 addend %z : !tile.view<?x8x8xf32> rows 4 bytes 4
      : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Buffer, Tile_Fragment]>:$source,
                       Optional<Index>:$boxes, Tile_View:$view, Index:$tile,
                       OptionalAttr<DenseI64ArrayAttr>:$along,
                       Optional<Tile_Scalar>:$alpha,
                       Optional<Tile_Scalar>:$beta, Optional<Tile_View>:$addend,
                       OptionalAttr<DenseI64ArrayAttr>:$box,
                       OptionalAttr<DenseI64ArrayAttr>:$order,
                       Tile_Count<"8">:$together,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes,
                       Optional<Tile_View>:$bias, Optional<Tile_View>:$residual,
                       DefaultValuedAttr<Kron_ActivationAttr,
                                         "Activation::Identity">:$activation,
                       OptionalAttr<TypedAttrInterface>:$scale,
                       OptionalAttr<DenseI64ArrayAttr>:$axes);
  let assemblyFormat = [{
    $source (`[` $boxes^ `]`)? `to` $view `[` $tile `]` (`along` $along^)?
    (`alpha` $alpha^ `:` type($alpha))?
    (`beta` $beta^ `:` type($beta) `addend` $addend `:` type($addend))?
    (`bias` $bias^ `:` type($bias))? (`activation` $activation^)?
    (`scale` $scale^)? (`residual` $residual^ `:` type($residual))?
    (`box` $box^)? (`order` $order^)? (`together` $together^)? (`rows` $rows^)?
    `bytes` $bytes (`axes` $axes^)? attr-dict `:` type($source) `,` type($view)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$boxes, "::mlir::Value":$view,
                                 "::mlir::Value":$tile, "::mlir::Value":$alpha, "::mlir::Value":$beta,
                                 "::mlir::Value":$addend, "::mlir::Value":$bias, "::mlir::Value":$residual,
                                 "int64_t":$bytes), [{
    build($_builder, $_state, source, boxes, view, tile, /*along=*/nullptr, alpha, beta, addend,
          /*box=*/nullptr, /*order=*/nullptr, /*together=*/8, /*rows=*/nullptr, bytes, bias, residual,
          Activation::Identity, /*scale=*/nullptr, /*axes=*/nullptr);
  }]>];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEOPS_TD
