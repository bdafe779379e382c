//===- TileFibres.td - Fibres that warpgroups multiply -----*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The fibres of a tile along one of its dimensions, 64 of which a warpgroup
// multiplies at a time: a block, whatever positions of other dimensions they
// are at. What lanes have of it is said by the atoms wgmma.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEFIBRES_TD
#define KRON_DIALECT_TILE_IR_TILEFIBRES_TD

include "kron/Dialect/Tile/IR/TileOp.td"

def Tile_ForFibresOp
    : Tile_Op<"for_fibres",
              [SingleBlockImplicitTerminator<"YieldOp">],
              argumentNames = ["block"]> {
  let summary = "shares the fibres of a tile among warpgroups";
  let description = [{
    A tile of `sizes` has fibres `along` one of its dimensions, which are counted in the
    order of its elements, in pairs along the innermost dimension if that is another one:
    where it has an odd size, one fibre of the last pair does not exist. Warpgroup i of the
    threads that share the tile, the CTA's or a group's, takes blocks i, i + warpgroups, ...
    of 64 fibres; of the last one, some may not exist.

    Constraints:

    1. It is in a `tile.for`.
    2. The body has one argument, a block.
    3. `along` is a dimension of a tile.
    4. The threads that share a tile are whole warpgroups.

    Example: `tile.for_fibres %b of [4, 32, 32] along 1 { ... }`
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$along);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBoxes() { return getBody()->getArgument(0); }
  }];
}

def Tile_ContractFibresOp : Tile_Op<"contract_fibres", resultNames = ["sums"]> {
  let summary = "multiplies a block of fibres by a factor";
  let description = [{
    A warpgroup loads the fibres of its block from a buffer and multiplies them. A warp
    reads its own 16 fibres only, so that sums may replace these in place. Positions behind
    the last one of K are 0. Where the operand has residuals, sums of fibres that exist that
    are infinite or NaN in any lane are computed again by plain multiply-adds, from the
    buffer.

    Constraints:

    1. The boxes are those of a `tile.for_fibres`.
    2. The operand is from `tile.prepare` and has an atom `wgmma`, `quads` if the loop is along
       the innermost dimension and else `pairs`, and the tile's positions as K.
    3. The buffer has room for the tile, padded to K of the instruction, and elements of the operand.
    4. The sums are 64 fibres of the operand's results.
    5. In the buffer, the neighbours that a lane loads at once lie together, at a multiple of
       their size, and no swizzle flips bits of their places or by that of an odd K: 4 of
       `quads` and 2 of `pairs`, of 16-bit types 8 and 2; swizzled strides are powers of two.
    6. What `tile.load` asks of a buffer, and a `tile.barrier` behind the `tile.prepare`.

    Example: `%s = tile.contract_fibres %slot[%b], %p : !tile.buffer<4x32x32xf32>, !tile.operand<32x32xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x32xf32, wgmma.m64k8.tf32>`
  }];
  let arguments = (ins Tile_Buffer:$source, Index:$boxes, Tile_Operand:$operand);
  let results = (outs Tile_Fragment:$sums);
  let assemblyFormat = [{
    $source `[` $boxes `]` `,` $operand attr-dict
    `:` type($source) `,` type($operand) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_IfAlignedOp
    : Tile_Op<"if_aligned", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "does one of two things, by what a launch knows of arrays";
  let description = [{
    The first one if the addresses of all views, and what only the launch knows of their strides
    and of the sizes of their axis `axis`, are multiples of `bytes`: what `tile.store` and
    `tile.copy` test for themselves, for operations that have to agree. What is in there
    tests nothing of these views again.

    Constraints:

    1. There are views, of as many axes, and `axis` is one of these; `bytes` are a power of two.
    2. It is in a `tile.for` or `tile.for_fibres`.
    3. Both acquire, fill, wait for and release as many slots of a ring, and arrive at barriers
       of a cluster as often as they wait for them.

    Example: `tile.if_aligned %x, %y bytes 16 axis 2 { ... } else { ... } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>`
  }];
  let arguments = (ins Variadic<Tile_View>:$views,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let regions = (region SizedRegion<1>:$aligned, SizedRegion<1>:$other);
  let assemblyFormat = [{
    $views `bytes` $bytes `axis` $axis $aligned `else` $other attr-dict
    `:` type($views)
  }];
  let hasVerifier = 1;
}

def Tile_RefillOp : Tile_Op<"refill"> {
  let summary = "starts to fill the fibres of a block with those of the next tile";
  let description = [{
    Where there is room for one tile only: each warp copies, by 16 bytes, what takes the
    places of the 16 fibres that it has read, of the tile that comes one turn after `tile`,
    as `tile.copy` does. A `tile.refilled` ends the copies of all blocks.

    Constraints:

    1. A `tile.contract_fibres` of the same block and buffer is in front of it, and nothing
       reads or writes the buffer in between.
    2. The buffer is the slot of a ring of one, and the loop over fibres is not along the
       innermost dimension, of which there is a multiple of four, with 64 fibres in each block.
    3. It is in the first part of a `tile.if_aligned` of the view, by 16 bytes; behind it, in the
       loop over fibres and behind that, only other parts of such ones read or write the slot.
    4. `axes` are as of `tile.copy` with `fill`, elements as of the view of f32, with stride 1 along
       the innermost dimension; along the fibres the view has a multiple of their positions.

    Example: `tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>`
  }];
  let arguments = (ins Tile_Buffer:$buffer, Index:$boxes, Tile_View:$view,
                       Index:$tile, DenseI64ArrayAttr:$axes);
  let assemblyFormat = [{
    $buffer `[` $boxes `]` `with` $view `[` $tile `]` `axes` $axes attr-dict
    `:` type($buffer) `,` type($view)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The slot that the buffer is.
    ::mlir::Value getSlot();
  }];
}

def Tile_RefilledOp : Tile_Op<"refilled"> {
  let summary = "says that a slot has been refilled for the next turn";
  let description = [{
    Stands for the `tile.release` of the slot, and the `tile.acquire` and `tile.copy` of the next
    one, which is the same: `tile.refill` has started all copies.

    Constraints:

    1. A `tile.refill` of the slot, which is from `tile.wait`, is in front of it, in a `tile.if_aligned` of the
       same views and bytes.

    Example: `tile.refilled %slot : !tile.buffer<1x64x64xf32>`
  }];
  let arguments = (ins Tile_Buffer:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_Op<"prefetch"> {
  let summary = "starts to bring a tile into the second-level cache";
  let description = [{
    The tile of the sizes `box` that comes one turn after `tile`, as of `tile.copy` with `fill`, a line
    of 128 bytes at a time, by all threads that share it.

    Constraints:

    1. The tile is that of a `tile.for`.
    2. `axes` are the view's, one for each size of the box, which are positive.

    Example: `tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>`
  }];
  let arguments = (ins Tile_View:$view, Index:$tile, DenseI64ArrayAttr:$box,
                       DenseI64ArrayAttr:$axes);
  let assemblyFormat = [{
    $view `[` $tile `]` `box` $box `axes` $axes attr-dict `:` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_QuantizeOp : Tile_Op<"quantize"> {
  let summary = "stores rows of a tile in 8 bits, with a scale each";
  let description = [{
    Rows are positions of the buffer's outermost dimension. The threads that share the tile take one
    after the other, times `alpha`, keep it in registers while they agree on its largest
    magnitude, and store bytes and a scale, as `kron.quantize` says. `view` has rows of as many bytes as the
    buffer's rows have elements, and `scales` one value each.

    Constraints:

    1. The tile is that of a `tile.for`, in which it is itself or through `tile.if_aligned`:
       all threads come.
    2. The buffer has f32 and two dimensions or more, and lies in groups of four neighbours,
       also where it is swizzled.
    3. The view has 2 axes, of 8-bit elements, as many along the innermost one as a
       row has, and stride 1 along it.
    4. Scales are an axis of f32, of as many as rows of the view.
    5. A `tile.barrier` is behind what other threads
       have written to the buffer.

    Example: `tile.quantize %work to %q[%t] scales %s : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>`
  }];
  let arguments = (ins Tile_Buffer:$source, Tile_View:$view, Index:$tile,
                       Tile_View:$scales, Optional<F32>:$alpha);
  let assemblyFormat = [{
    $source `to` $view `[` $tile `]` `scales` $scales (`alpha` $alpha^)? attr-dict
    `:` type($source) `,` type($view) `,` type($scales)
  }];
  let hasVerifier = 1;
}

#endif // KRON_DIALECT_TILE_IR_TILEFIBRES_TD
