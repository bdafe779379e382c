//===- TileTypes.td - Where tiles are, and how they lie ----*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILETYPES_TD
#define KRON_DIALECT_TILE_IR_TILETYPES_TD

include "kron/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_AtomKind
    : I32EnumAttr<"AtomKind", "what one instruction multiplies",
                  [I32EnumAttrCase<"Fma", 0, "fma">,
                   I32EnumAttrCase<"Dmma", 1, "dmma.m16n8k8">,
                   I32EnumAttrCase<"MmaM16N8K16", 2, "mma.m16n8k16">,
                   I32EnumAttrCase<"MmaTF32", 3, "mma.m16n8k8.tf32">,
                   I32EnumAttrCase<"MmaF64", 4, "mma.m16n8k8.f64">,
                   I32EnumAttrCase<"MmaF64Small", 5, "mma.m8n8k4.f64">,
                   I32EnumAttrCase<"WgmmaTF32", 6, "wgmma.m64k8.tf32">,
                   I32EnumAttrCase<"WgmmaHalf", 7, "wgmma.m64k16">]> {
  let cppNamespace = "::mlir::kron::tile";
  let genSpecializedAttr = 0;
}

def Tile_AtomAttr : EnumAttr<Tile_Dialect, Tile_AtomKind, "atom"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "what one instruction multiplies, and who holds its operands";
  let description = [{
    - `fma`: one multiply-add of a thread. A thread holds whole boxes of a tile
      in a `!tile.fragment`, and all threads read the operand from shared
      memory, the same element at once, or each thread holds weights of its own.
    - `dmma.m16n8k8`: f64, one `mma.sync` of a warp. A box is 16 fibres of 8
      positions, which the lanes share: lane (g, t) = (lane / 4, lane % 4) has
      two pairs of neighbours. Where the axis is the innermost one, they are
      positions 2t and 2t + 1 of fibres g and g + 8; along other axes positions
      t and t + 4 of fibres 2g and 2g + 1. The lanes have the operand in
      registers, in an order by which sums are where the values were.
    - `mma.m16n8k16`: a warp multiplies 16 x K by K x 8 values of f16 or bf16, K up
      to 16. Lane (g, q) = (lane / 4, lane % 4) holds positions 4 q to 4 q + 3 along K
      of rows g and g + 8 and of result g, and two sums of each of these rows.
    - `mma.m16n8k8.tf32`, `mma.m16n8k8.f64`, and `mma.m8n8k4.f64` as four of the latter:
      a warp multiplies 16 x 8 by 8 x 8 values, of TF32 or, in two products more, of f32
      as TF32 and residual. Of rows (m, k) lane (g, t) has (g, t), (g + 8, t), (g, t + 4)
      and (g + 8, t + 4), of columns (k, n) it has (t, g) and (t + 4, g), and of sums
      (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1). Which positions m, k and n
      stand for is said by the operand's order: both sides of a product agree on k.
    - `wgmma.m64k8.tf32`: a warpgroup, four warps, multiplies 64 fibres by a factor in
      shared memory, of TF32 or, with two products of bf16 more, of f32 as TF32 and
      residual. Warp w has fibres 16w to 16w + 15, a lane two of them. Instructions do
      not wait for each other before all of a product were started.
    - `wgmma.m64k16`: the same of f16 or bf16, with sums of f32.
  }];
}

def Tile_OperandOrder
    : I32EnumAttr<"OperandOrder", "which positions K a lane has of an operand",
                  [I32EnumAttrCase<"Apart", 0, "apart">,
                   I32EnumAttrCase<"Pairs", 1, "pairs">,
                   I32EnumAttrCase<"Halves", 2, "halves">,
                   I32EnumAttrCase<"Rows", 3, "rows">,
                   I32EnumAttrCase<"Columns", 4, "columns">,
                   I32EnumAttrCase<"Chained", 5, "chained">,
                   I32EnumAttrCase<"Quads", 6, "quads">]> {
  let cppNamespace = "::mlir::kron::tile";
  let genSpecializedAttr = 0;
}

def Tile_Accumulation
    : I32EnumAttr<"Accumulation", "how terms are reduced",
                  [I32EnumAttrCase<"Sum", 0, "sum">,
                   I32EnumAttrCase<"Max", 1, "max">,
                   I32EnumAttrCase<"LogSumExp", 2, "logsumexp">]> {
  let cppNamespace = "::mlir::kron::tile";
}

def Tile_Residuals
    : I32EnumAttr<"Residuals", "what is multiplied beside TF32 values of f32",
                  [I32EnumAttrCase<"None", 0, "none">,
                   I32EnumAttrCase<"TF32", 1, "tf32">,
                   I32EnumAttrCase<"BF16", 2, "bf16">]> {
  let cppNamespace = "::mlir::kron::tile";
}

def Tile_Semiring
    : I32EnumAttr<"Semiring", "what sums and products are",
                  [I32EnumAttrCase<"PlusTimes", 0, "plus_times">,
                   I32EnumAttrCase<"MaxPlus", 1, "max_plus">]> {
  let cppNamespace = "::mlir::kron::tile";
  let genSpecializedAttr = 0;
}

def Tile_SemiringAttr : EnumAttr<Tile_Dialect, Tile_Semiring, "semiring"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "what sums and products are";
  let description = [{
    - `plus_times`: sums of products.
    - `max_plus`: the largest of sums, of which minus infinity is the neutral element.
  }];
}

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "where the elements of a tile lie in shared memory";
  let description = [{
    The element at positions `p` has the index `sum(p[d] * strides[d])`, in
    elements, after which bit `swizzle[2k+1]` is flipped where bit
    `swizzle[2k]` is set, for each k. Strides may leave gaps: an odd number of
    16-byte chunks from one plane to the next keeps threads that each read a
    plane of their own in different banks.

    Constraints: strides are positive; the bits of a swizzle come in pairs, and
    no bit is both read and flipped.

    Example: `#tile.layout<[544, 68, 8, 1]>`,
    `#tile.layout<[64, 8, 1], swizzle = [6, 3]>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "elements from one position to the next">:$strides,
    OptionalArrayRefParameter<"int64_t", "pairs of bits, read and flipped">:$swizzle);
  let assemblyFormat =
      "`<` `[` $strides `]` (`,` `swizzle` `=` `[` $swizzle^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Tile_ResultOrder
    : I32EnumAttr<"ResultOrder", "in which order results stand side by side",
                  [I32EnumAttrCase<"Plain", 0, "plain">,
                   I32EnumAttrCase<"Chunks", 1, "chunks">,
                   I32EnumAttrCase<"Spread", 2, "spread">,
                   I32EnumAttrCase<"Pairs", 3, "pairs">]> {
  let cppNamespace = "::mlir::kron::tile";
  let genSpecializedAttr = 0;
}

def Tile_ChunksAttr : AttrDef<Tile_Dialect, "Chunks"> {
  let mnemonic = "chunks";
  let summary = "how warps multiply rows of chunks";
  let description = [{
    The data are rows of K positions and lanes, the factor has results in place of rows,
    and each lane is a product of its own. A chunk of `bytes` (in the type of the
    products) has `k` positions of `lanes` lanes. Of a warp, lane (g, q) = (lane / 4,
    lane % 4) takes chunk number 4 x + q along K of row g, so that what a matrix
    instruction sums is K in another order, the same for data and factor. With
    `along_rows` a chunk of data is as many neighbouring rows, at one position.

    In shared memory a row of a piece has its chunks one behind the other, those of
    different lanes first; chunks of 8-bit elements, which become 16-bit ones in
    registers, those along K first. Rows of 8-bit elements, and those of chunks of 48
    bytes, have the room of half as many banks more where that takes them to odd
    multiples of it; in others of multiples of 128 bytes, chunks change places by the
    row's number, so that eight lanes read at different banks.

    A warp has `tiles`: of 16 rows, and of 8 results. The `warps` of a CTA share rows,
    results, and parts of each piece along K, whose sums the first one adds up. Results
    of 8 n + 2 q and the next one are a lane's: in order `plain` they are those; of
    `chunks` results, a lane has k neighbours; `spread` ones are q and q + 4; of `pairs`,
    lanes 2 i and 2 i + 1 exchange halves of 32 bytes.

    There are at most `rows` rows, if that is not 0; no more are copied. Values of f32 are
    `split` in TF32 and residual; small products are of bf16 with `narrow`. Sums of each
    piece are added up by themselves with `partial`. The chip widens 8-bit elements itself
    with `widens`. With `shift`, tiles begin at multiples of as many elements in memory
    before the first one of a group's results. The 16-bit values of chunks of several lanes
    and positions are `paired` by `tile.pair_chunks`, of a factor that stays. Of `staged` results, a warp leaves eight rows
    at a time in shared memory, `along_rows` eight results with all rows of an instruction, from where lanes store neighbours. With `whole` of 1, data, and
    of 2 the factor, too, whose lanes and positions K are neighbours in memory, are copied in
    segments that begin at the multiple of 16 bytes before their first element, all of a
    row's if a tile has all lanes, else one of each position K, which all rows share `along_rows`; chunks are made of them in
    shared memory once they have arrived. Where strides of the factor that are only
    known at a launch are those without gaps, its dimensions in `order` from the outermost
    on, it is copied as if they were known.

    With `warpgroups`, matrix instructions of four warps read a piece of the factor as packed
    operands, one per lane, each of core matrices of 8 results x 16 bytes, one behind the
    other along results: of values in TF32, their residuals in bf16, and the values in bf16; or,
    with `mixed`, whose residuals of data are of TF32, of the first two; or of 16-bit
    values. What was data and factor of the operation may have changed places, `swapped`: the
    rows of the array, which are neighbours, are results, and a piece of these is K x results.

    Constraints: chunks of 16 or 48 bytes; positive `k`, `lanes` and `tiles`; `warps` are
    powers of two; up to 15 `rows`, of one tile and one warp of rows, not `along_rows`;
    `narrow` and `mixed` values are `split`; `shift` is not negative; `staged` results are not
    shifted; `paired` chunks are of 16 bytes, several lanes and positions, not
    `along_rows`; `warpgroups` have multiples of four warps of rows, one tile of rows and up
    to 32 of results, many rows, one warp along K, and `narrow` or `mixed` values if they are
    `split`; `mixed` and `swapped` are theirs, the latter of `split` values with chunks along K; `whole` is up to 2, up to 1
    `along_rows`, and 0 of chunks of 48 bytes and with `warpgroups`.

    Example: `#tile.chunks<bytes = 16, k = 4, lanes = 1, tiles = [1, 4], warps = [2, 4, 1], results = chunks, split = true>`
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "of a chunk">:$bytes,
    AttrParameter<"int64_t", "positions along K of a chunk">:$k,
    AttrParameter<"int64_t", "lanes of a chunk">:$lanes,
    AttrParameter<"::mlir::DenseI64ArrayAttr", "of a warp: of 16 rows, of 8 results">:$tiles,
    AttrParameter<"::mlir::DenseI64ArrayAttr", "that share rows, results and K">:$warps,
    DefaultValuedParameter<"::mlir::kron::tile::ResultOrder", "ResultOrder::Plain", "order of results">:$results,
    DefaultValuedParameter<"bool", "false", "whether chunks of data lie along rows">:$along_rows,
    DefaultValuedParameter<"int64_t", "0", "the most rows that there are, or 0">:$rows,
    DefaultValuedParameter<"bool", "false", "whether values are split">:$split,
    DefaultValuedParameter<"bool", "false", "whether small products are of bf16">:$narrow,
    DefaultValuedParameter<"bool", "false", "whether a piece's sums are added by themselves">:$partial,
    DefaultValuedParameter<"bool", "false", "whether the chip widens 8-bit elements">:$widens,
    DefaultValuedParameter<"int64_t", "0", "elements whose multiples tiles begin at, or 0">:$shift,
    DefaultValuedParameter<"bool", "false", "whether results go through shared memory">:$staged,
    DefaultValuedParameter<"int64_t", "0", "what is copied by 16 bytes wherever it starts: data (1), the factor, too (2)">:$whole,
    DefaultValuedParameter<"bool", "false", "whether values of a kept factor are put in pairs">:$paired,
    DefaultValuedParameter<"bool", "false", "whether warpgroups multiply">:$warpgroups,
    DefaultValuedParameter<"bool", "false", "whether residuals of data are of TF32">:$mixed,
    DefaultValuedParameter<"bool", "false", "whether data and factor have changed places">:$swapped,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "the factor's dimensions in memory">:$order);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_PiecesAttr : AttrDef<Tile_Dialect, "Pieces"> {
  let mnemonic = "pieces";
  let summary = "the blocks that a tile arrives in";
  let description = [{
    A tile of `sizes` is cut into blocks of `block` positions. Groups of `warps` warps
    have as many of these each, one behind the other, and copy and read them by
    themselves. `axes` are those of the view that the dimensions of the tile are, or -1;
    of others a tile has one position. Copies are of `bytes` where the array turns out to
    be aligned to that, else of single elements; `lines` are as of `tile.copy`. Of dimension `split`, if there is one,
    each CTA of a cluster has its part. A slot is filled again when its piece has been
    read; with `ahead`, so many pieces are copied in front of the one that is read. Single
    elements are copied in the `order` of dimensions, the innermost one last. With
    `chunks`, the tile has rows, one position of other dimensions, lanes and K, which it
    is cut along, and a factor comes in pieces beside it.

    Constraints: as many sizes, positions and axes; sizes are multiples of the block's;
    positive `warps` and `bytes`; `split` is a dimension, or -1 for none; `ahead` is not
    negative; an order has each dimension once; chunks come with `ahead`, unless warpgroups
    multiply them, and with none of `lines`, `split` and `order`.

    Example: `#tile.pieces<sizes = [1, 32, 32], block = [1, 32, 8], axes = [0, 1, 2], warps = 1, bytes = 16>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "positions of a tile">:$sizes,
    ArrayRefParameter<"int64_t", "positions of a block">:$block,
    ArrayRefParameter<"int64_t", "axes of the view">:$axes,
    AttrParameter<"int64_t", "warps that share a block">:$warps,
    AttrParameter<"int64_t", "bytes of a copy">:$bytes,
    DefaultValuedParameter<"bool", "false", "whether lines are wanted by other CTAs">:$lines,
    DefaultValuedParameter<"int64_t", "-1", "the dimension that CTAs share">:$split,
    DefaultValuedParameter<"int64_t", "0", "pieces in front of the one that is read">:$ahead,
    OptionalArrayRefParameter<"int64_t", "dimensions, that of the largest stride first">:$order,
    OptionalParameter<"::mlir::kron::tile::ChunksAttr", "how warps multiply">:$chunks);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$sizes, "::llvm::ArrayRef<int64_t>":$block,
                                   "::llvm::ArrayRef<int64_t>":$axes, "int64_t":$warps, "int64_t":$bytes,
                                   "bool":$lines, "int64_t":$split, "int64_t":$ahead,
                                   "::llvm::ArrayRef<int64_t>":$order,
                                   CArg<"::mlir::kron::tile::ChunksAttr", "{}">:$chunks), [{
    return $_get($_ctxt, sizes, block, axes, warps, bytes, lines, split, ahead, order, chunks);
  }]>];
  let skipDefaultBuilders = 1;
  let assemblyFormat = [{
    `<` `sizes` `=` `[` $sizes `]` `,` `block` `=` `[` $block `]` `,` `axes` `=` `[` $axes `]`
    `,` `warps` `=` $warps `,` `bytes` `=` $bytes
    `` custom<PiecesOptions>($lines, $split, $ahead, $order, $chunks) `` `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_BatchAttr : AttrDef<Tile_Dialect, "Batch"> {
  let mnemonic = "batch";
  let summary = "how products that are summed over a batch are cut among warps";
  let description = [{
    For each of I groups i and T positions t, the sums over the batch n of G[n, i, j, t]
    times X[n, i, k, t] are a product of matrices, J x K; `sizes` are I, J, K and T. A row
    is all j, or k, of one i and t. A CTA computes a tile: the sums of `warps` along j, k
    and t, each of which multiplies `tiles` of 16 rows j by as many of 8 rows k; first
    come tiles along k, then along j, t, i, and pieces of the batch.

    Operands arrive in steps of `step` positions of the batch, and are read from shared
    memory in chunks of `chunk` bytes. With the batch `last`, a chunk is positions of the
    batch. Else it is as many neighbours along t as the largest power of two that divides
    T, up to all of a chunk, times neighbouring rows; each is operand of an instruction of
    its own, so that a warp has as many sums more. Chunks of G come first, then those of X:

    - batch first: per position of the batch, those of all warps along t of one row after
      the other; unit u of 16 bytes is at u with bits flipped by the position's lowest two;
    - `last`: per row, positions of the batch; unit u is at u ^ 4 (row % 2);
    - `wgmma.m64k16`: 64 positions of one row after the other, then the next 64; unit u is
      at u ^ (row % 8).

    Values of f32 are multiplied as TF32, and with `residuals` in two products more, of
    TF32 or bf16. With `wgmma.m64k8.tf32` each warp loads and splits rows j of its own, and
    all of them prepare rows k of the next step while those of this one are multiplied.

    Constraints: four sizes, two numbers of tiles and three of warps, all positive; up to
    1024 threads, 255 sums of a thread, less than 2^40 weights, and 2^31 bytes of a step;
    `atom` `mma.m16n8k8.tf32` or `wgmma.m64k8.tf32` of f32, `mma.m16n8k8.f64` or
    `mma.m8n8k4.f64` of f64, `mma.m16n8k16` or `wgmma.m64k16` of f16 and bf16; residuals of
    f32 only, with `wgmma.m64k8.tf32` bf16; chunks of 8 or 16 bytes, 16 of f64 and with the
    batch last; warps along t have chunks of their own, so that one is all with the batch
    last; with an atom of warpgroups one tile along j, multiples of 4 warps along j and one
    along others, and up to 32 tiles along k, `wgmma.m64k16` with the batch last; steps
    are powers of two, and what an instruction and a load take divides them.

    Example: `#tile.batch<f32, sizes = [1, 64, 64, 4], tiles = [1, 4], warps = [4, 2, 1], step = 32, chunk = 16, atom = mma.m16n8k8.tf32, residuals = tf32, last = false>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "elements of both operands">:$elementType,
    ArrayRefParameter<"int64_t", "I, J, K and T">:$sizes,
    ArrayRefParameter<"int64_t", "instructions of a warp along j and k">:$tiles,
    ArrayRefParameter<"int64_t", "warps along j, k and t">:$warps,
    AttrParameter<"int64_t", "positions of the batch that arrive together">:$step,
    AttrParameter<"int64_t", "bytes of a chunk">:$chunk,
    AttrParameter<"::mlir::kron::tile::AtomKind", "what multiplies">:$atom,
    AttrParameter<"::mlir::kron::tile::Residuals", "what else of f32 is multiplied">:$residuals,
    AttrParameter<"bool", "whether the batch is the last axis">:$last);
  let assemblyFormat = [{
    `<` $elementType `,` `sizes` `=` `[` $sizes `]` `,` `tiles` `=` `[` $tiles `]` `,`
    `warps` `=` `[` $warps `]` `,` `step` `=` $step `,` `chunk` `=` $chunk `,`
    `atom` `=` $atom `,` `residuals` `=` $residuals `,` `last` `=` $last `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The same, with all that follows.
    ::mlir::kron::tile::BatchBlocks getBlocks() const;
  }];
}

def Tile_KernelAttr : AttrDef<Tile_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "the CTAs of a kernel";
  let description = [{
    The attribute `tile.kernel` of a `gpu.func`. `threads` are those of a CTA, a
    multiple of 32; `ctas_per_sm` shall be resident on an SM, and limit the
    registers of a thread. `cluster` CTAs, one or two, take a tile together.

    The threads may be `groups`, one behind the other, each of which takes tiles of its
    own and has rings of its own. `shares` CTAs that follow each other may take the same
    tiles, each for a part of their results. Of CTA c of C, that is number c / shares of
    C / shares, group g takes the tiles from number c / shares + g * (C / shares) on; CTAs
    that are left over take none. Of a segment (`tile.for_segments`), group g takes each
    tile groups apart, from g on. Kernels of several groups are made of `tile.for_fibres`,
    `tile.for_step` or `tile.contract_pieces`, of several shares of the last one, and what
    goes with these.

    Constraints: a multiple of 32 threads up to 1024, of which each of up to 15 groups has
    as many warps; clusters have neither groups nor shares.

    Example: `#tile.kernel<threads = 96, ctas_per_sm = 5>`
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "threads of a CTA">:$threads,
    AttrParameter<"int64_t", "CTAs that shall be resident on an SM">:$ctas_per_sm,
    DefaultValuedParameter<"int64_t", "1", "CTAs that share a tile">:$cluster,
    DefaultValuedParameter<"int64_t", "1", "groups of threads with tiles of their own">:$groups,
    DefaultValuedParameter<"int64_t", "1", "CTAs that share the results of a tile">:$shares);
  let builders = [AttrBuilder<(ins "int64_t":$threads, "int64_t":$ctasPerSM,
                                   CArg<"int64_t", "1">:$cluster,
                                   CArg<"int64_t", "1">:$groups,
                                   CArg<"int64_t", "1">:$shares), [{
    return $_get($_ctxt, threads, ctasPerSM, cluster, groups, shares);
  }]>];
  let extraClassDeclaration = [{
    /// Whether groups have tiles of their own, or CTAs share results.
    bool isDivided() const { return getGroups() > 1 || getShares() > 1; }
  }];
  let skipDefaultBuilders = 1;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_View : Tile_Type<"View", "view"> {
  let summary = "an array in global memory, with its bounds";
  let description = [{
    What is outside of the bounds is neither read nor written. Without strides
    the array has no gaps and begins at a multiple of 16 bytes; with them,
    elements are found one by one, and `?` is a stride that a launch knows.

    Constraints: as many strides as dimensions; elements of 1, 2, 4, 8 or 16 bytes.

    Example: `!tile.view<?x8x8x8xf32>`, `!tile.view<?x4x4xf64, [40, 10, ?]>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "positions along each axis">:$shape,
    TypeParameter<"::mlir::Type", "elements">:$elementType,
    OptionalArrayRefParameter<"int64_t", "elements from one position to the next">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isContiguous() const { return getStrides().empty(); }
    int64_t getRank() const { return getShape().size(); }
  }];
}

def Tile_Buffer : Tile_Type<"Buffer", "buffer"> {
  let summary = "a tile in shared memory";
  let description = [{
    A box of a view of the same rank, or rows of one: then the outermost
    dimension counts these, and the last ones may be room that threads write in
    excess (`tile.for_boxes`, `excess`). Without a layout the elements lie in
    row-major order. A buffer begins at a multiple of 16 bytes.

    Constraints: positive sizes of less than 2^31 elements in all, gaps included, of 1, 2,
    4, 8 or 16 bytes; a layout has a stride per dimension, and two elements have two
    places.

    Example: `!tile.buffer<13x9x9x9xf32>`,
    `!tile.buffer<4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "rows, and positions along each axis of one">:$shape,
    TypeParameter<"::mlir::Type", "elements">:$elementType,
    OptionalParameter<"::mlir::kron::tile::LayoutAttr", "places of the elements">:$layout);
  let builders = [TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      CArg<"::mlir::kron::tile::LayoutAttr", "{}">:$layout), [{
    return $_get(elementType.getContext(), shape, elementType, layout);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The places of the elements.
    ::mlir::kron::TileLayout getTileLayout() const;
    /// Elements of one row.
    int64_t getRowElements() const;
    int64_t getElementBytes() const;
    int64_t getBytes() const;
  }];
}

def Tile_Ring : Tile_Type<"Ring", "ring"> {
  let summary = "buffers in shared memory that are filled and read in turns";
  let description = [{
    Slots are acquired, filled, waited for, read and released, each in the order
    of the ring.

    A slot is a buffer, or with `along` one position of a buffer along that axis:
    a buffer takes as many slots as it has positions, from the one behind those
    of the buffer before on, and goes on with the first slot behind the last one.
    So a part of the next tile has room beside this one where all of it has not.

    Constraints: at least one pipeline stage, less than 2^31 bytes; with `along`, an axis of the
    buffer that no other one with several positions is outside of, slots for all
    of its positions, and no bit of a slot's number that a swizzle flips.

    Example: `!tile.ring<2 of <4x4x4x4xf32>>`, `!tile.ring<12 of <8x8x8xf32> along 0>`
  }];
  let parameters = (ins
    TypeParameter<"int64_t", "slots">:$stages,
    TypeParameter<"::mlir::kron::tile::BufferType", "one of them">:$buffer,
    OptionalParameter<"std::optional<int64_t>", "the axis whose positions are slots">:$along);
  let builders = [TypeBuilderWithInferredContext<(ins
      "int64_t":$stages, "::mlir::kron::tile::BufferType":$buffer,
      CArg<"std::optional<int64_t>", "std::nullopt">:$along), [{
    return $_get(buffer.getContext(), stages, buffer, along);
  }]>];
  let assemblyFormat = "`<` $stages `of` $buffer (`along` $along^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Slots that a buffer takes.
    int64_t getSlotsPerBuffer() const {
      return getAlong() ? getBuffer().getShape()[*getAlong()] : 1;
    }
    int64_t getSlotBytes() const;
    int64_t getBytes() const { return getStages() * getSlotBytes(); }
  }];
}

def Tile_Operand : Tile_Type<"Operand", "operand"> {
  let summary = "a factor as an instruction takes it";
  let description = [{
    K x N elements in shared memory, in rows padded to whole chunks of 16 bytes,
    which every thread, or the fibres of a `tile.multiply`, read at once; or with the atom of an instruction of a
    warp, in registers. Lane (g, t) then has the elements of two positions K:
    `apart`, t and t + 4, for boxes whose axis is not the innermost one; `pairs`,
    2t and 2t + 1, for those whose axis is; `halves`, t of the positions that
    this CTA of a cluster holds, and t of the others.

    An operand of the atoms `mma.m16n8k8` has any sizes and is filled up with zeros. Of
    `rows`, results are m and data are columns: k are neighbouring positions K. Of
    `columns`, results are n and data are rows: lane (g, t) has positions 2t and 2t + 1
    of 8. Of `chained`, data are sums of a product by `rows`, and k are their columns.

    An operand of `wgmma.m64k8.tf32` has any sizes, too, and lies in shared memory in core
    matrices of 8 results x 16 bytes, which descriptors of the instruction name. Its
    positions K are such that a lane has neighbours of a fibre: of `quads`, along the
    innermost axis, 4t to 4t + 3 of 16; of `pairs`, along others, 2t and 2t + 1 of 8. Of
    `wgmma.m64k16`, they are 2t, 2t + 1, 2t + 8 and 2t + 9 of 16 for `quads`, and
    4t to 4t + 3 for `pairs`.

    Constraints: two positive sizes, elements as of a buffer; 8 x 8 of f64, `apart`, in `pairs` or `halves`, with
    atom `dmma.m16n8k8`; `rows`, `columns` or `chained` with those of `mma.m16n8k8`;
    `quads` or `pairs` of f32 with `wgmma.m64k8.tf32`, of f16 or bf16 with `wgmma.m64k16`.

    Example: `!tile.operand<9x9xf32>`, `!tile.operand<8x8xf64, dmma.m16n8k8 apart>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "K and N">:$shape,
    TypeParameter<"::mlir::Type", "elements">:$elementType,
    DefaultValuedParameter<"::mlir::kron::tile::AtomKind", "AtomKind::Fma", "what multiplies by it">:$atom,
    DefaultValuedParameter<"::mlir::kron::tile::OperandOrder", "OperandOrder::Apart", "positions of a lane">:$order);
  let builders = [TypeBuilderWithInferredContext<(ins
                                   "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                   CArg<"::mlir::kron::tile::AtomKind", "AtomKind::Fma">:$atom,
                                   CArg<"::mlir::kron::tile::OperandOrder", "OperandOrder::Apart">:$order), [{
    return $_get(elementType.getContext(), shape, elementType, atom, order);
  }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getSizeK() const { return getShape()[0]; }
    int64_t getSizeN() const { return getShape()[1]; }
    /// Elements from one row to the next.
    int64_t getPitch() const;
    int64_t getBytes() const;
  }];
}

def Tile_Fragment : Tile_Type<"Fragment", "fragment"> {
  let summary = "values in the registers of each thread";
  let description = [{
    The first size is how many boxes of a tile a thread holds at most, the
    others are those of a box: first the axes of the tile of which it has all
    positions, then, where these are neighbours and the innermost axis is not
    among them, how many neighbours of these along the axes inside. Thread i of n
    holds boxes i, i + n, ... of those that a turn of `tile.for_boxes` takes;
    boxes are numbered in the order of the tile's elements, or in that of the
    loop. With the atom of an instruction of a warp, the boxes are a warp's; with
    those of `mma.m16n8k8`, it is one block of `tile.for_blocks`; with `wgmma.m64k8.tf32`
    a tile of up to 64 fibres, of pieces of chunks a tile of rows, lanes and results, or with that and `wgmma.m64k16` a block of 64 of
    `tile.for_fibres`, fibres first.

    Constraints: at least two sizes, all positive, elements as of a buffer; with atom `dmma.m16n8k8`, boxes of 8
    positions and 16 fibres of f64, what is innermost in the tile last; with those of
    `mma.m16n8k8`, one block, of f16, bf16 or f32, or of f64; with `wgmma.m64k8.tf32` and
    `wgmma.m64k16`, one tile or block of f32.

    Example: `!tile.fragment<1x8x8xf32>` are planes of the two innermost axes,
    `!tile.fragment<2x8x4xf32>` two times four fibres of eight positions,
    `!tile.fragment<4x8x16xf64, dmma.m16n8k8>` four boxes of 16 such fibres.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "boxes, and positions along each axis of one">:$shape,
    TypeParameter<"::mlir::Type", "elements">:$elementType,
    DefaultValuedParameter<"::mlir::kron::tile::AtomKind", "AtomKind::Fma", "what multiplies it">:$atom);
  let builders = [TypeBuilderWithInferredContext<(ins
                                   "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                   CArg<"::mlir::kron::tile::AtomKind", "AtomKind::Fma">:$atom), [{
    return $_get(elementType.getContext(), shape, elementType, atom);
  }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Sizes of a box.
    ::llvm::ArrayRef<int64_t> getBox() const { return getShape().drop_front(); }
    int64_t getBoxElements() const;
  }];
}

#endif // KRON_DIALECT_TILE_IR_TILETYPES_TD
