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
include "kron/Dialect/Tile/IR/TilePairs.td"
include "kron/Dialect/Tile/IR/TileParts.td"
include "kron/Dialect/Tile/IR/TileRows.td"
include "kron/Dialect/Tile/IR/TileSteps.td"
include "kron/Dialect/Tile/IR/TileSegments.td"
include "kron/Dialect/Tile/IR/TileSpread.td"
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
// Shared memory
//===----------------------------------------------------------------------===//

def Tile_AllocOp
    : Tile_Op<"alloc", [DeclareOpInterfaceMethods<OpAsmOpInterface,
                                                  ["getAsmResultNames"]>]> {
  let summary = "sets shared memory of the CTA aside";
  let description = [{
    A buffer may stand where another one does, `reuses`, whose elements are then
    gone; it has room for the largest of those that do. Each group of a kernel of several
    has rings and buffers of its own.

    Constraints:

    1. `reuses` is a buffer with memory of its own; a ring reuses none.
    2. It is in no loop.

    Example:

    ```mlir
    %ring = tile.alloc : !tile.ring<2 of <4x4x4x4xf32>>
    %work = tile.alloc : !tile.buffer<4x4x4x5xf32>
    %later = tile.alloc reuses %work : !tile.buffer<4x4x5x5xf32>
    ```
  }];
  let arguments = (ins Optional<Tile_Buffer>:$reuses);
  let results = (outs AnyTypeOf<[Tile_Buffer, Tile_Ring]>:$memory);
  let assemblyFormat = [{
    (`reuses` $reuses^ `:` type($reuses) `as`)? attr-dict `:` type($memory)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$memory), [{
    build($_builder, $_state, memory, /*reuses=*/nullptr);
  }]>];
  let hasVerifier = 1;
}

def Tile_ResizeOp : Tile_Op<"resize", [Pure], resultNames = ["resized"]> {
  let summary = "takes other positions of a tile where it lies";
  let description = [{
    The same memory with other sizes: a factor that is applied in place leaves N
    positions of an axis where there were K. Neighbouring axes that lie without a
    gap may become one, with the innermost one's stride. Becomes no instruction.

    Constraints:

    1. Both have the same elements and strides, but for axes that become one, and
       the bits that are swizzled.
    2. The result has no more positions than `from`.

    Example:

    ```mlir
    %in = tile.resize %slot : !tile.buffer<4x8x8xf32> -> !tile.buffer<4x8x5xf32, #tile.layout<[64, 8, 1]>>
    ```
  }];
  let arguments = (ins Tile_Buffer:$from);
  let results = (outs Tile_Buffer:$buffer);
  let assemblyFormat = "$from attr-dict `:` type($from) `->` type($buffer)";
  let builders = [OpBuilder<(ins "::mlir::Value":$from, "::llvm::ArrayRef<int64_t>":$shape), [{
    auto type = ::llvm::cast<BufferType>(from.getType());
    build($_builder, $_state, BufferType::get(shape, type.getElementType(), type.getLayout()), from);
  }]>];
  let hasVerifier = 1;
}

def Tile_AcquireOp : Tile_Op<"acquire", resultNames = ["free"]> {
  let summary = "takes the next free slot of a ring, to fill it";
  let description = [{
    Nothing waits here: that the slot is free is what a `tile.release` and a
    `tile.barrier` in front say, or that the ring is new. Of a ring `along` an
    axis, `tile.copy` says which positions it takes, and only those must be free.

    Constraints:

    1. The slot is one of the ring.
    2. It is free.
    3. It is not in `tile.for_boxes`.

    Example: `%free = tile.acquire %ring : !tile.ring<2 of <4x4x4x4xf32>>`
  }];
  let arguments = (ins Tile_Ring:$ring);
  let results = (outs Tile_Buffer:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring) `->` type($slot)";
  let builders = [OpBuilder<(ins "::mlir::Value":$ring), [{
    build($_builder, $_state, ::llvm::cast<RingType>(ring.getType()).getBuffer(), ring);
  }]>];
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait", resultNames = ["slot"]> {
  let summary = "waits for the next slot of a ring that was filled";
  let description = [{
    Each thread waits until its own copies to the slot are done, and at most
    `pending` copies that were started later are not; a `tile.barrier` must
    follow before elements are read that others have copied. Copies are those to any
    ring; of pieces each is one.

    Constraints:

    1. The slot is one of the ring.
    2. A `tile.copy` fills it.
    3. No more copies may be pending than were started behind that one.
    4. It is not in `tile.for_boxes`.

    Example:
    `%slot = tile.wait %ring pending 1 : !tile.ring<2 of <4x4x4x4xf32>> -> !tile.buffer<4x4x4x4xf32>`
  }];
  let arguments = (ins Tile_Ring:$ring,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Tile_Buffer:$slot);
  let assemblyFormat = [{
    $ring `pending` $pending attr-dict `:` type($ring) `->` type($slot)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$ring, "int64_t":$pending), [{
    build($_builder, $_state, ::llvm::cast<RingType>(ring.getType()).getBuffer(), ring, pending);
  }]>];
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release"> {
  let summary = "says that nothing of a slot is read any more";
  let description = [{
    The slot is free for `tile.acquire` once all threads have passed a
    `tile.barrier` behind it. Becomes no instruction.

    Constraints:

    1. The slot is one from `tile.wait`.
    2. In `tile.for_boxes`, all threads take it once (`tile.barrier`).
    3. Each slot is released once, in the order of the ring.

    Example: `tile.release %slot : !tile.buffer<4x4x4x4xf32>`
  }];
  let arguments = (ins Tile_Buffer:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier"> {
  let summary = "lets threads of the CTA meet";
  let description = [{
    What any thread has written to shared memory in front of it, all may read
    behind it. In the `tile.for` of a kernel of several groups, the threads of a group
    meet. With `groups`, the CTA's threads are that many groups, one behind
    the other, and those of a group meet alone; `numbered`, they find the number
    of their barrier in a register, else there is an instruction per group.

    With `cluster`, the threads of both CTAs of a cluster meet, and may read what
    either has written. That is in two parts where a thread need not wait yet:
    `arrive` says what it has done, and `wait` is for the others to have arrived.
    In a `tile.for_boxes` of `warps` it arrives in the last turn.

    With `of_block`, the warps that share a block of `tile.for_blocks` meet.

    Constraints:

    1. It is in no `tile.for_boxes` but one that all threads go through once:
       others they leave at different times; `of_block` is in `tile.for_blocks` or
       `tile.for_pieces`, and nothing else is.
    2. Groups are whole warps, and at most 15, or each is one warp.
    3. `cluster` is of a kernel of clusters, and has no groups; `arrive` and
       `wait` are of it, one of them.
    4. Each `arrive` has one `wait` behind it, and nothing reads or writes shared
       memory in between.
    5. Between groups of several warps that meet and others of another size, all
       threads meet: barriers have the numbers of groups.

    Example: `tile.barrier groups 4`, `tile.barrier cluster`
  }];
  let arguments = (ins Tile_Count<"1">:$groups, UnitAttr:$numbered, UnitAttr:$cluster,
                       UnitAttr:$arrive, UnitAttr:$wait, UnitAttr:$of_block);
  let assemblyFormat = [{
    (`groups` $groups^)? (`numbered` $numbered^)? (`cluster` $cluster^)?
    (`arrive` $arrive^)? (`wait` $wait^)? (`of_block` $of_block^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_CopyOp : Tile_Op<"copy"> {
  let summary = "starts to copy a tile from global to shared memory";
  let description = [{
    Copies `rows` rows of the view (positions of its axes outside those of the
    buffer's rows) by `bytes` at a time: those of the tile that this CTA takes
    `ahead` turns after `tile`, or after its first one. What lies behind the
    view's last row is not read; a tile that does not exist is not copied.

    Without `rows` the tile is a box of the buffer's sizes: boxes are counted
    along the innermost axis first. Threads go along the axes in `order`, the
    innermost one last, by `together` copies per turn of a loop. `part` has the
    first and behind the last one of the positions to copy, along the ring's axis;
    with `groups`, the threads are that many groups, one behind the other, which
    copy an equal share of the tile each, in the order of its elements. Of a tile
    that a cluster of two CTAs shares, `split`, each copies a half along that axis.

    With `fill`, what does not exist becomes zero, and copies are of `bytes` where the
    array turns out to be aligned to these at the launch, else of single elements in
    `order`; a copy of less than 4 bytes goes through registers. `axes` are those of the
    view that the dimensions of the buffer are, -1 for one of one position; of others a
    tile has one position. `lines` says that the rest of a line of 128 bytes is soon
    wanted by other CTAs. Where threads are a power of two, positions along inner axes are counted as
    powers of two if the copy is `rounded`, and few have none then: that is less arithmetic.

    With `box`, the sizes of the tile, it comes in segments that lie without a gap in the view,
    wherever they start: each by 16 bytes from the multiple of these in front of it on, as they
    stand there, where the view turns out to start at such a multiple, else element by element, to the
    same places. `tile.spread` makes a tile of that.

    A buffer that is no slot of a ring is filled through registers, with elements
    of the view or with sums of theirs: each thread has done its part once it is
    behind the operation, and a `tile.barrier` must follow. What is outside of the
    view has values of some element of the tile.

    With `pieces` of chunks, what a segment needs of a factor is copied, for all threads: of
    all positions K, one piece behind the other, as `#tile.chunks` says of them. What
    warpgroups read comes piece by piece, by way of the ring of the data, and all threads pack it.

    Constraints:

    1. View and buffer have the same element type, or the buffer has no slot and the
        accumulation type.
    2. They have rows of the same known sizes, or are of the same rank.
    3. `bytes` are those of an element; 16 of rows of a view without gaps; or in a
       box up to 16, with elements that lie together along the innermost axis:
       known sizes of that and known strides are multiples of them. With `fill`,
       they are a power of two, of elements of f16, bf16, f32 or f64 with stride 1
       along the innermost dimension's axis, and sizes may be any.
    4. The rows of a tile are then a multiple of 16 bytes.
    5. The buffer has room for `rows`.
    6. Chunks of `bytes` lie together in it.
    7. The tile is that of a `tile.for`, or with `pieces` the segment of the
        `tile.for_segments` that it is in.
    8. The buffer is a slot from `tile.acquire`, or one that nobody may read or write
        since the last `tile.barrier`.
    9. Rows have neither `part`, `order` nor `groups`.
    10. `order` has each axis once.
    11. `part` is of a ring `along` an axis, within its slots for a buffer, and
        `groups` are as many as these, but for those of a swizzled buffer.
    12. Slots of a ring are free for the threads that fill them; those of a ring
        `along` an axis are filled from the first one on.
    13. In `tile.for_boxes`, all threads take it once (`tile.barrier`).
    14. A box in a buffer with a swizzle has sizes that are powers of two, no
        gaps and no order, and the swizzle flips bits within 128 bytes. All threads
        copy `together` times 16 bytes of it, in `groups` that have a share of a
        slot each.
    15. `split` is of a ring `along` an axis, in a kernel of clusters, of swizzled
        buffers; the view has as many positions along that axis as these together.
    16. What is no slot is filled, without `fill`, with a box of this turn, by single elements, whole
        and by all threads.
    17. `axes`, `lines` and `rounded` are of `fill`, which has no `part`, `groups`, `split` and ring
        `along` an axis; `axes` are the view's, one for each dimension.
    18. Each slot is filled once, in the order of the ring.
    19. `pieces` are of chunks; the slot has as many pieces, and of each the tile's results,
        in rows with the room between them; `bytes` are 16, and there is nothing else.
    20. `box` is of `fill` without `order` and `rounded`, with `bytes` of 16. The slot has as many rows as the tile
        has segments, of elements in chunks of 16 bytes that a segment may be part of, without gaps.

    Example:

    ```mlir
    tile.copy %x[%t + 1] to %free rows 4 bytes 16 : !tile.view<?x4x4x4xf32>, !tile.buffer<4x4x4x4xf32>
    tile.copy %x[%t + 1] to %free part [0, 4] bytes 16 : !tile.view<?x8x8xf32, [64, 8, 1]>, !tile.buffer<8x8x8xf32>
    ```
  }];
  let arguments = (ins Tile_View:$view, Optional<Index>:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$ahead,
                       Tile_Buffer:$buffer,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       OptionalAttr<DenseI64ArrayAttr>:$order,
                       Tile_Count<"1">:$groups, Tile_Count<"8">:$together,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes,
                       UnitAttr:$split, UnitAttr:$fill,
                       OptionalAttr<DenseI64ArrayAttr>:$axes,
                       OptionalAttr<Tile_PiecesAttr>:$pieces,
                       OptionalAttr<DenseI64ArrayAttr>:$box, UnitAttr:$lines,
                       UnitAttr:$rounded);
  let assemblyFormat = [{
    $view `[` custom<Turn>($tile, $ahead) `]` `to` $buffer (`part` $part^)?
    (`order` $order^)? (`groups` $groups^)? (`together` $together^)?
    (`rows` $rows^)? `bytes` $bytes (`split` $split^)? (`fill` $fill^)?
    (`axes` $axes^)? (`lines` $lines^)? (`rounded` $rounded^)? (`box` $box^)?
    (`pieces` $pieces^)? attr-dict `:` type($view) `,` type($buffer)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$view, "::mlir::Value":$tile, "int64_t":$ahead,
                                 "::mlir::Value":$buffer, "int64_t":$bytes), [{
    build($_builder, $_state, view, tile, ahead, buffer, /*part=*/nullptr, /*order=*/nullptr,
          /*groups=*/1, /*together=*/8, /*rows=*/nullptr, bytes, /*split=*/false,
          /*fill=*/false, /*axes=*/nullptr, /*pieces=*/nullptr, /*box=*/nullptr);
  }]>];
  let hasVerifier = 1;
}

def Tile_PrepareOp : Tile_Op<"prepare", resultNames = ["factor"]> {
  let summary = "makes an operand of a factor";
  let description = [{
    All threads copy the factor to shared memory, as rows of its K positions. A
    `tile.barrier` must follow before it is multiplied by. Of an operand in
    registers, each lane loads its own elements; `streamed`, it does so when it
    multiplies. One of more results than the factor repeats the last one. Of the atoms
    `mma.m16n8k8`, `warps` share the results, in equal parts of
    16 * 2^k, `residuals` are those of TF32, `together` tiles of 8 results have neighbours
    (`tile.load`), and of `split` the positions K of this CTA of a cluster come first. Of
    the atoms `wgmma`, all threads pack the factor into shared memory, with
    `residuals` as TF32, what that cuts off, and the factor in bf16; of CTAs that share
    results, each packs its part.

    Constraints:

    1. The view has the operand's K and at most its N, or both if it is in
       registers, and its elements, or elements whose accumulation type it has. CTAs that
       share results have parts of N, of which the last one may be smaller.
    2. An operand in `halves`, and `split`, is of a kernel of clusters.
    3. `warps`, `together`, `residuals`, `split` and `streamed` are of the atoms
       `mma.m16n8k8`, `residuals` of `mma.m16n8k8.tf32` and `wgmma.m64k8.tf32`, `together`
       is a power of two up to 4, `split` of `rows`, and K then a multiple of 16.
    4. It is in no loop over blocks.
    5. A `tile.barrier` is behind what other threads have multiplied by it.
    6. Of the atoms `wgmma`, K and N are at most 512, and CTAs that share results have
       multiples of 8 of these, or of 16 with `quads`.

    Example: `%p = tile.prepare %f : !tile.view<8x8xf32, [?, ?]> -> !tile.operand<8x8xf32>`
  }];
  let arguments = (ins Tile_View:$factor, Tile_Count<"1">:$warps,
                       Tile_Count<"1">:$together, UnitAttr:$residuals,
                       UnitAttr:$split, UnitAttr:$streamed);
  let results = (outs Tile_Operand:$operand);
  let assemblyFormat = [{
    $factor (`warps` $warps^)? (`together` $together^)? (`residuals` $residuals^)?
    (`split` $split^)? (`streamed` $streamed^)? attr-dict
    `:` type($factor) `->` type($operand)
  }];
  let extraClassDeclaration = [{
    /// Results that each of the warps has.
    int64_t getWarpResults();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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
