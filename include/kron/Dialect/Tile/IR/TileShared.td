//===- TileShared.td - Shared memory, its rings and copies -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILESHARED_TD
#define KRON_DIALECT_TILE_IR_TILESHARED_TD

include "kron/Dialect/Tile/IR/TileOp.td"

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

#endif // KRON_DIALECT_TILE_IR_TILESHARED_TD
