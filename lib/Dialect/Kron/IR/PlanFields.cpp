//===- PlanFields.cpp - The fields of plans ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/PlanFields.h"

using namespace mlir;
using namespace mlir::kron;

using Kind = PlanField::Kind;
using Role = PlanField::Role;

/// The largest value of a field that planners multiply by sizes of arrays.
static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
/// The same of one that is compared with them.
static constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();

template <typename... Kernels>
static constexpr uint32_t of(Kernels... kernels) {
  return ((1u << static_cast<uint32_t>(kernels)) | ...);
}

static constexpr uint32_t kAuto = of(GPUKernel::Auto);
static constexpr uint32_t kSimt = of(GPUKernel::Simt);
static constexpr uint32_t kFfma = of(GPUKernel::Ffma);
static constexpr uint32_t kDmma = of(GPUKernel::Dmma);
static constexpr uint32_t kMma = of(GPUKernel::Mma);
static constexpr uint32_t kWgmma = of(GPUKernel::Wgmma);
static constexpr uint32_t kBatched = of(GPUKernel::Batched);
static constexpr uint32_t kSparse = of(GPUKernel::Sparse);
static constexpr uint32_t kChain = of(GPUKernel::Chain);
static constexpr uint32_t kSmallGroups = of(GPUKernel::SmallGroups);
static constexpr uint32_t kGradient = of(GPUKernel::Gradient);
static constexpr uint32_t kCublas = of(GPUKernel::Cublas);
static constexpr uint32_t kPairwise = of(GPUKernel::Pairwise);
static constexpr uint32_t kPairwiseGrad = of(GPUKernel::PairwiseGrad);
static constexpr uint32_t kQuantize = of(GPUKernel::Quantize);
static constexpr uint32_t kCPU = of(kCPURegion);
static constexpr uint32_t kStep = of(kCPUStep);
static constexpr uint32_t kAll =
    ((2u << getMaxEnumValForGPUKernel()) - 1) | kCPU;

static constexpr PlanField required(llvm::StringLiteral name, int64_t least,
                                    int64_t most, uint32_t kernels,
                                    llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Required, least, most,
          0,    kernels,       description};
}

static constexpr PlanField defaulted(llvm::StringLiteral name, int64_t least,
                                     int64_t most, int64_t byDefault,
                                     uint32_t kernels,
                                     llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Defaulted, least,
          most, byDefault,     kernels,         description};
}

static constexpr PlanField constraint(llvm::StringLiteral name, int64_t least,
                                      int64_t most, uint32_t kernels,
                                      llvm::StringLiteral description) {
  return {name, Kind::Integer, Role::Constraint, least, most,
          0,    kernels,       description};
}

static constexpr PlanField list(llvm::StringLiteral name, Role role,
                                int64_t least, uint32_t kernels,
                                llvm::StringLiteral description) {
  return {name, Kind::List, role, least, kMost, 0, kernels, description};
}

static constexpr PlanField parts(llvm::StringLiteral name, uint32_t kernels,
                                 llvm::StringLiteral description) {
  return {name, Kind::Parts, Role::Required, 0, 0, 0, kernels, description};
}

/// Keep the rows of a name next to each other.
static constexpr PlanField kFields[] = {
    // Requirements of a plan of #kron.dispatch.
    defaulted("min_rows", 0, kMost, 0,
              kSparse | kChain | kSmallGroups | kCublas,
              "fewest rows that the kernel is launched for"),
    defaulted("alignment", 0, 16, 0, kFfma | kDmma,
              "bytes that pointers and strides are multiples of"),
    defaulted("min_k", 0, kMost, 0, kPairwise,
              "fewest positions of K that the kernel is launched for"),
    defaulted("max_k", 0, kMost, 0, kPairwise | kPairwiseGrad,
              "most positions of K that the kernel is launched for; 0: any"),
    defaulted("packed", 0, 1, 0, kBatched,
              "1: arrays have no gaps and begin at multiples of 16 bytes"),

    // Of a CPU.
    required("vector_bits", 0, 512, kCPU,
             "bits of the vector registers to use: 128, 256 or 512"),

    // Tiles.
    required("tile", 0, kMost, kCPU,
             "positions of the tiled axis that go through all factors before "
             "the result is written"),
    required(
        "tile", 0, kMost, kMma | kWgmma | kBatched | kChain,
        "rows per tile: positions of the axes outside the contracted ones"),
    constraint("tile", 0, kMost, kAuto | kSimt | kFfma | kDmma,
               "rows per tile: positions of the axes outside the contracted "
               "ones"),
    defaulted("columns", 0, kMost, 1, kMma | kWgmma,
              "elements per tile of innermost axes that are not contracted"),
    constraint("columns", 0, kMost, kAuto | kSimt | kFfma | kDmma,
               "elements per tile of innermost axes that are not contracted"),
    required("factors", 1, kMost, of(kSimtLaunch),
             "mode products that the launch applies"),
    defaulted("factors", 1, kMost, 1, kStep,
              "mode products that are joined, and applied as one"),
    list("extents", Role::Required, 1, kFfma | kDmma | of(kSimtLaunch),
         "positions of a tile along each axis, before the factors"),
    list(
        "fibres", Role::Defaulted, 1, of(kSimtLaunch),
        "fibres that a thread multiplies by a factor together, of each factor; "
        "none: 1"),
    list("results", Role::Defaulted, 1, of(kSimtLaunch),
         "neighbouring results of a fibre that a thread computes together, of "
         "each factor; none: up to 8, in equal parts"),
    defaulted("factor_bytes", 0, kMost, 32768, of(kSimtLaunch),
              "bytes of factors in shared memory: in the order of application, "
              "those for which there is room"),
    required("threads", 0, 1024,
             kSimt | kFfma | kDmma | kMma | kWgmma | kBatched | kSmallGroups |
                 kPairwise | kPairwiseGrad | kQuantize,
             "threads of a CTA, a multiple of 32"),
    constraint("threads", 0, 1024, kAuto | kSparse | kChain | kGradient,
               "threads of a CTA, a multiple of 32"),
    required("ctas_per_sm", 0, kMost,
             kFfma | kDmma | kMma | kWgmma | kBatched | kSparse | kChain |
                 kSmallGroups | kGradient | kPairwise | kPairwiseGrad |
                 kQuantize | of(kSimtLaunch),
             "CTAs that shall be resident on an SM"),
    constraint("ctas_per_sm", 0, kMost, kAuto | kSimt,
               "CTAs that shall be resident on an SM"),
    required("stages", 0, kMost,
             kMma | kWgmma | kBatched | kSparse | kGradient | kPairwise,
             "pipeline stages: tiles, or pieces of one, in flight between "
             "global and shared memory"),
    defaulted("stages", 0, 8, 0, kPairwiseGrad,
              "pipeline stages: steps along K in flight while values of pairs "
              "are reduced, 2 at least; 0: derivatives need none of these"),
    constraint("stages", 0, kMost, kAuto | kFfma | kDmma | kChain,
               "pipeline stages: tiles, or pieces of one, in flight between "
               "global and shared memory"),
    defaulted("cluster", 0, 2, 1, kMma | kDmma,
              "CTAs that share one tile through distributed shared memory"),
    constraint("cluster", 0, 2, kAuto,
               "CTAs that share one tile through distributed shared memory"),
    required("ring_slots", 0, kMost, kFfma | kDmma,
             "buffers of the ring in shared memory: positions of a tile along "
             "its outermost axis, or whole tiles"),
    defaulted("block_results", 0, 16, 0, kFfma,
              "results of a fibre that a thread computes at a time; 0: all"),
    defaulted("streamed_results", 0, 16, 4, kFfma,
              "results of a fibre that a thread stores as soon as they are "
              "known, where it has whole vectors of them; 0: none before all "
              "are"),
    defaulted("copies", 1, 64, 8, kFfma,
              "copies between global and shared memory that a thread starts "
              "per turn of its loop"),

    // Of wgmma, and of kernels that quantize.
    defaulted("warpgroups_per_tile", 1, 8, 1, kWgmma,
              "warpgroups that share a tile"),
    defaulted("k_piece", 0, kMost, 0, kWgmma,
              "positions of the contracted axis in each of the pieces that a "
              "tile is loaded in; 0 if it is loaded whole"),
    defaulted("quantize", 0, 1, 0, kWgmma | kChain,
              "whether the kernel also quantizes its rows to 8 bits, for the "
              "kron.quantize that reads them"),

    // Of simt, mma and batched.
    parts("launches", kSimt, "launches, one after the other"),
    list("piece", Role::Defaulted, 1, kMma,
         "positions, along each dimension of the tile, of the pieces that it "
         "arrives in; none: it arrives whole"),
    defaulted("piece_slots", 0, kMost, 0, kMma,
              "pieces that each warp group has room for"),
    defaulted("inner_chain", 0, 1, 0, kMma,
              "1: the two innermost factors are one step, whose values in "
              "between stay in registers"),
    defaulted("inner_rows", 0, 1, 0, kMma,
              "1: the rows of a tile lie right outside of its innermost "
              "dimension, and positions of both are columns of the other "
              "factors"),
    defaulted("alternates", 0, 1, 0, kMma,
              "1: results of a step go to another buffer than what it reads; "
              "0: they replace it"),
    list("step_warps", Role::Defaulted, 1, kMma,
         "warps that share the results of each step, in the order of "
         "application; none: 1"),
    defaulted("fibres", 1, 32, 4, kBatched,
              "fibres that a thread takes through a factor together"),
    defaulted("plane_fibres", 1, 64, 4, kBatched,
              "fibres of a plane that share the loads of a factor"),
    defaulted("unrolled", 0, 1024, 3, kBatched,
              "turns of all threads up to which the loop over a step's planes "
              "or fibres is written out"),
    defaulted("direct_store", 0, 1, 0, kBatched,
              "1: the last factor's results go to memory from registers, if "
              "arrays are packed"),
    defaulted("direct_store", 0, 1, 0, of(kSimtLaunch),
              "1: the last factor's results go to memory from registers"),
    defaulted(
        "direct_load", 0, 1, 0, of(kSimtLaunch),
        "1: data go from memory to registers, of one factor whose results "
        "do the opposite; extents are those of results"),
    defaulted("k_lanes", 1, 32, 1, of(kSimtLaunch),
              "lanes of a warp that share out K, if data go from memory to "
              "registers"),
    defaulted("vector_store", 0, 1, 0, of(kSimtLaunch),
              "1: the fibres of a thread are neighbours, whose results it "
              "stores together, if data go from memory to registers"),
    defaulted("slack", 0, 1, 1, kBatched,
              "1: tiles have room behind them for what threads compute in "
              "excess, if factors are applied to fibres alone"),

    // Of gradients by sparse weights; small groups and sparse factors, where
    // they share a name.
    defaulted("chunk_bytes", 1, 16, 16, kGradient,
              "bytes of the chunks that operands are read from shared memory "
              "in"),
    defaulted("chunk_bytes", 16, 48, 16, kSparse,
              "bytes of the chunks that operands are read from shared memory "
              "in, 16 or 48"),
    defaulted("lane_warps", 1, 32, 1, kGradient,
              "warps next to each other along the innermost axis of the "
              "weights"),
    required("row_tiles", 1, kMost, kGradient,
             "matrix instructions of a warp along rows of the weights"),
    required("row_tiles", 1, 16, kSmallGroups,
             "rows that a thread takes at a time, or tiles of 16 rows that a "
             "warp does"),
    defaulted("row_tiles", 1, 64, 1, kSparse,
              "matrix instructions of a warp along rows of the data"),
    required("row_warps", 1, 32, kGradient,
             "warps next to each other along rows of the weights"),
    defaulted("row_warps", 1, 32, 1, kSparse,
              "warps next to each other along rows of the data"),
    required("column_tiles", 1, kMost, kGradient,
             "matrix instructions of a warp along columns of the weights"),
    required("column_warps", 1, 32, kGradient,
             "warps next to each other along columns of the weights"),
    required("batch_step", 1, 256, kGradient,
             "positions of the batch in a pipeline stage"),
    defaulted("split_k", 1, kMost, 1, kGradient,
              "pieces of the batch, whose sums a second kernel adds up"),
    defaulted("least_piece", 1, kMost, 64, kGradient,
              "positions of the batch that a piece has at least, if there are "
              "several"),
    defaulted("sum_threads", 1, 256, 1, kGradient,
              "threads of the second kernel that share the sums of a weight, a "
              "power of two"),
    defaulted("sum_loads", 1, 64, 1, kGradient,
              "sums that such a thread loads before it adds them up"),
    defaulted("wgmma", 0, 1, 0, kGradient | kSparse | kPairwise,
              "1: warpgroups multiply, and read operands from shared memory"),
    defaulted("packed_operands", 0, 1, 0, kGradient,
              "1: warpgroups multiply f32 that threads split in shared memory"),
    defaulted("bf16_residuals", 0, 1, 0, kGradient,
              "1: products of what splitting f32 leaves are of bf16"),
    defaulted("bf16_residuals", 0, 2, 0, kSparse,
              "1: products of what splitting f32 leaves are of bf16; 2: those "
              "of what it leaves of the factor"),

    // Of sparse factors, and of steps of a chain of them.
    required("result_tiles", 1, 64, kSparse,
             "matrix instructions of a warp along results of the factor"),
    defaulted("result_tiles", 0, 32, 0, kSmallGroups,
              "tiles of 8 results that a warp takes; 0 where threads do"),
    required("result_warps", 1, 32, kSparse,
             "warps next to each other along results of the factor"),
    required("k_step", 1, 65536, kSparse | kPairwise,
             "positions of the contracted axis in a pipeline stage"),
    defaulted("k_step", 0, 65536, 0, kPairwiseGrad,
              "positions of K in a pipeline stage; 0 without stages"),
    defaulted("k_warps", 1, 32, 1, kSparse,
              "warps that share a tile's K steps, and add up their sums"),
    defaulted("tile_warps", 1, 32, 1, kSparse,
              "warps of a chain step that take different tiles of the same "
              "rows"),
    defaulted("lane_chunks", 1, 64, 1, kSparse,
              "chunks next to each other along the innermost axis that the "
              "factor varies on"),
    defaulted("row_chunks", 0, 1024, 0, kSmallGroups,
              "16 bytes of a row of results each that the threads of a CTA "
              "take; 0 where warps take groups"),
    defaulted("warp_groups", 1, 15, 1, kSparse | kChain,
              "groups of warps of a CTA that take tiles of their own"),
    defaulted("skinny_m", 0, 15, 0, kSparse,
              "rows that there are at most, if they are fewer than 16; 0 if "
              "not"),
    defaulted("copies_singly", 0, 1, 0, kSparse,
              "1: rows that are innermost are copied one by one, and chunks "
              "lie along other axes"),
    defaulted("keeps_factor", 0, 1, 1, kMma,
              "1: all factors stay in registers from tile to tile; 0: those of "
              "a step are loaded for each tile"),
    defaulted("keeps_factor", 0, 1, 0, kSparse | kChain,
              "1: a part of the factor (of a chain: all factors) stays in "
              "shared memory while tiles need it"),
    defaulted("kept_tiles", 0, kMost, 0, kSparse,
              "tiles after which a CTA goes on to another part of the factor, "
              "while the data are in the second-level cache; 0: any number"),
    defaulted(
        "pairs_factor", 0, 1, 0, kSparse,
        "1: pairs along K of a factor of 16 bits are put in order once it "
        "has arrived"),
    defaulted(
        "swaps_operands", 0, 1, 0, kSparse,
        "1: results of the factor are the rows of the kernel, rows of the "
        "data its results"),
    defaulted(
        "shared_store", 0, 1, 0, kSparse | kMma | kWgmma,
        "1: results go through shared memory, so that warps store what lies "
        "side by side together"),
    defaulted(
        "whole_copies", 0, 2, 0, kSparse,
        "1: data whose rows start at no multiples of 16 bytes are copied by 16 "
        "bytes, and chunks are made of them in shared memory; 2: so is the "
        "factor"),
    defaulted(
        "whole_copies", 0, 1, 0, kMma | kWgmma,
        "1: tiles whose segments start anywhere are copied by 16 bytes as "
        "they lie, and put in order in shared memory"),
    defaulted(
        "shift", 0, 64, 0, kSparse,
        "where groups of results start anywhere, but at the same place in "
        "all rows: elements whose multiples tiles start at, in front of "
        "the first result; 0: tiles start where groups do"),
    // Of functions of pairs.
    required("thread_rows", 1, 16, kPairwise,
             "rows of the result that a thread has of a tile"),
    required("thread_rows", 1, 16, kPairwiseGrad,
             "rows of the matrix that a thread has of a block"),
    required("thread_columns", 1, 32, kPairwise | kPairwiseGrad,
             "columns of the matrix that a thread has of a tile"),
    defaulted("products", 0, 3, 0, kPairwise,
              "matrix products that sums of products or squares are made of: 3 "
              "of f32, 1 of other types; 0: none, threads compute the function "
              "of each pair"),
    defaulted("column_threads", 1, 32, 16, kPairwise | kPairwiseGrad,
              "threads next to each other along the columns of a tile, a power "
              "of two"),
    defaulted("keeps_rows", 0, 1, 0, kPairwise,
              "1: a thread of a product keeps its rows, with all of K, in "
              "registers, and blocks of columns arrive while others are used"),
    defaulted(
        "symmetric", 0, 1, 0, kPairwise,
        "1: of a matrix of rows with themselves one half is computed, and "
        "stored twice"),
    defaulted(
        "polynomials", 0, 16, 0, kPairwise,
        "of 16 elements, those whose powers are of a table in shared memory "
        "and a cubic instead of the special-function unit's"),
    defaulted("value_columns", 1, 32, 1, kPairwise,
              "columns of the values that a product takes at a time; the "
              "function is computed anew for the next ones"),
    defaulted("value_products", 0, 3, 0, kPairwise,
              "matrix products that the product with values is made of: 3 of "
              "f32, 2 of 16-bit types, 1 of f64; 0: none, threads multiply and "
              "add"),
    defaulted("split_ctas", 1, kMost, 1, kPairwise | kPairwiseGrad,
              "CTAs that a product shall have: columns of the matrix are "
              "divided among so many, whose sums a second kernel adds up"),
    required("thread_positions", 1, 32, kPairwiseGrad,
             "positions of K of a gradient that a thread has"),
    required("k_threads", 1, 32, kPairwiseGrad,
             "threads next to each other along K of a gradient, a power of "
             "two"),
    defaulted("outputs", 1, 16, 1, kPairwiseGrad,
              "gradients that a derivative is multiplied for at a time, where "
              "they differ in the factor of the columns only"),
    // Of a kron.quantize by itself.
    required("row_threads", 1, 1024, kQuantize,
             "threads that share a row, a power of two"),
    defaulted(
        "kept_segments", 1, 32, 8, kQuantize,
        "segments of 16 bytes up to which a thread keeps its part of a row "
        "in registers; of longer rows it reads it twice"),
    // Of a CPU.
    defaulted("tiled_axis", -1, kMost, -1, kCPU,
              "the axis that `tile` counts, along which all factors are the "
              "same; -1: there is none"),
    list("whole_axes", Role::Defaulted, 0, kCPU,
         "axes that are whole in a tile although no factor contracts them; "
         "tiles take one position of the others"),
    defaulted("packs_input", 0, 1, 0, kCPU,
              "1: the input of a slice or tile, whose elements lie far apart, "
              "is copied before it is used"),
    defaulted("rows_in_lanes", 0, 1, 0, kCPU,
              "1: lanes run over the tiled axis although it lies outside; "
              "tiles are transposed on the way out, and on the way in unless "
              "the input is contiguous along that axis"),
    defaulted("converts_input", 0, 1, 0, kCPU,
              "1: input of 16 bits is converted to f32 before it is used, even "
              "if vectors of it could be where they are loaded"),
    constraint("register_rows", 0, kMostAccumulators, kCPU,
               "rows of the accumulators that all register tiles keep, of the "
               "operand that is broadcast"),
    constraint("register_vectors", 0, kMostAccumulators, kCPU,
               "vectors in such a row"),
    defaulted("slice", -1, kMost, 0, kCPU,
              "positions of the outermost contracted axis of a tile that go "
              "through all factors inside of it at once, within the "
              "first-level cache (the largest divisor of its size up to "
              "this); -1: the whole tile goes through one factor after the "
              "other"),
    list("slice_cuts", Role::Defaulted, 1, kCPU,
         "positions of slices within slices, of the larger ones first"),
    defaulted("stream_bytes", -1, kMostBytes, 0, kCPU,
              "bytes of input and result from which results are stored with "
              "non-temporal stores; 0 and -1: never"),
    defaulted("prefetch", -1, 1, 0, kCPU,
              "0 and 1: the input of the next tile or slice, and where its "
              "results go, are prefetched while this one is computed; -1: "
              "they are not"),
    defaulted("matrix_tiles", -1, 2, 0, kCPU,
              "1: products of bf16 are made in the processor's matrix tiles "
              "(AMX), with values of 16 bits between factors; 2: those of "
              "single factors are made in pairs, which one instruction adds "
              "up (AVX512-BF16); 0 and -1: neither"),
    defaulted("kept_fibres", -1, 1, 0, kCPU,
              "fibres that fill half a register: 1: two stay in it as they "
              "lie, and shuffles repeat their elements; 0 and -1: their "
              "elements are taken in turn, by way of memory"),
    defaulted("moves_innermost", 0, 3, 0, kCPU,
              "tiles of the only factor are copied so that the innermost axis "
              "lies outside of all others: 1: on the way out, for matrix "
              "tiles; 2: on the way in, too; 3: for steps of any kind"),
    defaulted("blocks", 1, kMost, 1, kCPU,
              "positions of the innermost axis of which tiles would take one, "
              "whose results in a row are whole cache lines together"),
    defaulted("reads_segments", 0, 1, 0, kCPU,
              "1: the only factor, in place, reads short segments from where "
              "they lie, whatever packs_input says"),
    defaulted("prefetch_results", 0, 1, 1, kCPU,
              "1: with the input, the lines are prefetched that results go to"),
    defaulted("spread_prefetch", 0, 1, 0, kCPU,
              "1: the input of slices within slices is prefetched while these "
              "and the slices around them are computed"),
    defaulted("windows_ahead", 1, 2, 1, kCPU,
              "tiles or slices from the one that is computed to the one whose "
              "segments are prefetched"),
    defaulted("prefetch_lines", 1, 1024, 32, kCPU,
              "cache lines that one register tile prefetches, at most"),
    defaulted("staging", 0, 2, 0, kCPU,
              "results that are stored non-temporally go by way of a copy: 1: "
              "where they cannot be stored directly; 2: wherever it is "
              "possible"),
    defaulted("drain_lines", 1, 1024, 12, kCPU,
              "cache lines of such copies that one register tile stores, at "
              "most"),
    defaulted("thread_fmas", 1, kMost, 65536, kCPU,
              "multiply-adds that make a range of tiles worth a thread"),
    constraint("l1_bytes", 1024, kMost, kCPU,
               "bytes of the first-level cache for what a step uses again at "
               "once: larger factors are packed in panels"),
    constraint("l1_bytes", 0, kMost, kStep,
               "bytes of the first-level cache for what the step uses again at "
               "once; 0: as the region says"),
    constraint("l2_bytes", 1024, kMost, kCPU,
               "bytes of the second-level cache for what a step copies"),
    constraint("l2_bytes", 0, kMost, kStep,
               "bytes of the second-level cache for what the step copies; 0: "
               "as the region says"),
    defaulted("l1_sets", 1, 65536, 64, kCPU,
              "sets of the first-level cache: positions that would share few "
              "of them are moved apart in buffers"),
    constraint("l1_ways", 1, 1024, kCPU,
               "lines of a set that stay in the first-level cache"),
    constraint("pages", 1, 65536, kCPU,
               "pages whose addresses stay translated while a buffer is read"),
    constraint("fmas_in_flight", 1, 64, kCPU,
               "multiply-adds that hide each other's latency: register tiles "
               "of fewer cost as much"),

    // Steps, last of all that a plan says of its own.
    defaulted("lanes", 0, 3, 0, kStep,
              "what lanes run over: 0: what is contiguous at the inner end of "
              "the arrays, q together with a short innermost axis; 1: the "
              "contracted axis; 2: the innermost axis of a few rows and the "
              "one outside of it; 3: the innermost axis alone"),
    defaulted("rows", 0, kMostAccumulators, 0, kStep,
              "rows of accumulators of its register tiles, of the operand that "
              "is broadcast; 0 where there are none"),
    defaulted("vectors", 0, kMostAccumulators, 0, kStep,
              "vectors in such a row, and in a panel of the factor; 0 where "
              "there are none"),
    defaulted("matrix_tiles", 0, 1, 0, kStep,
              "1: products are made in the processor's matrix tiles"),
    defaulted("transposes_factor", 0, 1, 0, kStep,
              "1: a factor that is contiguous along an axis that it varies on "
              "is transposed before it is packed for matrix tiles"),
    defaulted("packs_factor", 0, 1, 0, kStep,
              "1: a factor whose elements are broadcast is packed first"),
    defaulted("factor_panels", 0, 1, 0, kStep,
              "1: the factor is packed in panels, each of which rows go "
              "through before the next one"),
    defaulted("packs_in_tiles", 0, 1, 0, kStep,
              "1: every tile packs the part of the factor that it uses; 0: "
              "all of it is packed before"),
    defaulted("input_panels", 0, 1, 0, kStep,
              "1: rows of the input are copied next to each other before "
              "blocks of results are taken through them"),
    defaulted("along_axis", 0, kMost, 0, kStep,
              "positions of the axis outside of the lanes, on which the factor "
              "varies, that a block of results goes along before the next one; "
              "0: all results for each position"),
    defaulted("chunk", 0, kMost, 0, kStep,
              "rows that all panels of the factor, or all of it in matrix "
              "tiles, are applied to before the next ones; 0: a block"),
    defaulted("sharing_rows", 1, 64, 1, kStep,
              "rows that share a vector of the results that fill none"),
    list("remainder", Role::Defaulted, 1, kStep,
         "of each group of lanes that fill no vector at the end of the "
         "innermost axis: elements, and rows and vectors of register tiles"),
    defaulted("segment", 0, kMost, 0, kStep,
              "registers of a long innermost axis that rows are taken through "
              "the factor for before the next ones; 0: all rows for each"),
    defaulted("packed_k", 0, kMost, 0, kStep,
              "positions of the contracted axis in a block of the factor that "
              "is packed for all rows of a segment; 0: it is read where it "
              "lies"),
    defaulted("block_k", 0, kMost, 0, kStep,
              "positions of the contracted axis that all results of a block go "
              "through for all of a segment before the next ones, with sums in "
              "memory in between; 0: all of them at once"),
    defaulted("block_q", 0, kMost, 0, kStep,
              "results whose sums lie in memory between blocks of `block_k`"),
    defaulted("reads_pairs", 0, 1, 0, kStep,
              "1: a factor of bf16 along the contracted axis is read in "
              "pairs"),
    defaulted("far", 0, 1, 0, kStep,
              "1: what smaller slices left for the step, or the rows of the "
              "input that the only one reads, lie beyond the second-level "
              "cache, and are prefetched for later register tiles"),
    defaulted("factor_ahead", 0, kMost, 0, kStep,
              "elements from what is loaded of a factor, which few rows, or "
              "blocks along an axis, read where it lies, to what is prefetched "
              "of it; 0: nothing is"),
    defaulted("converts_factor", 0, 1, 0, kStep,
              "1: a factor of 16 bits is converted to f32 before it is used, "
              "or taken in pairs; 0: where it is loaded, if it need not be "
              "packed"),
    parts("steps", kChain, "steps, a factor each"),
    parts("steps", kCPU,
          "steps, a factor or several joined ones each, in the order of "
          "application"),

    // Of --kron-fuse.
    constraint("padded", 0, 1, kAuto,
               "1: on copies of the arrays whose rows start at multiples of 16 "
               "bytes; 0: on the arrays as they lie"),
    list("regions", Role::Constraint, 1, kAll,
         "mode products that each fused region applies, in order"),
};

ArrayRef<PlanField> kron::getPlanFields() { return kFields; }

const PlanField *kron::findPlanField(GPUKernel kernel, StringRef name) {
  for (const PlanField &field : kFields)
    if (field.name == name &&
        (field.kernels >> static_cast<uint32_t>(kernel)) & 1)
      return &field;
  return nullptr;
}

GPUKernel kron::getPartKernel(GPUKernel kernel) {
  if (kernel == GPUKernel::Simt)
    return kSimtLaunch;
  if (kernel == kCPURegion)
    return kCPUStep;
  return kernel == GPUKernel::Chain ? GPUKernel::Sparse : kernel;
}
