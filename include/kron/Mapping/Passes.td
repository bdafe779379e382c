//===- Passes.td - What is mapped to which machine, and how -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_PASSES_TD
#define KRON_MAPPING_PASSES_TD

include "mlir/Pass/PassBase.td"

def KronApplyRecords : Pass<"kron-apply-records"> {
  let summary = "Give operations the plans of tuning records";
  let description = [{
    Looks operations up in files of plans that were found to be fast
    (docs/Tuning.md), in the order of the files, and gives them the plan that was
    recorded for the same operation (name, shapes, element types, layouts, flags,
    epilogue) on the same machine. Operations that have a plan keep it. All passes
    behind this one treat it like a plan written by hand: what it leaves open is
    chosen by the cost models, and one that is none for the operation is an error.

    Strides of rows that are open in one of both may be those of contiguous
    rows in the other one. Several records of a file may fit, where sizes or
    strides are open, or threads are not known: then that of the very sizes,
    among these of the very layouts, among these for the most rows, then for the
    most threads, then the last one is taken. A record of another machine, of plans with other
    fields, or with a plan that does not verify is not used. Remarks (category
    `kron-plan`) name the record that was used, or say why those for the operation
    were not. Lines that are no records are skipped with a warning.

        kron-opt --kron-apply-records="files=rec.jsonl target=cpu/znver5/x86-64-v4/16" in.mlir
  }];
  let options = [
    ListOption<"files", "files", "std::string", "Files of tuning records">,
    Option<"target", "target", "std::string", /*default=*/"",
           "The machine: cpu/PROCESSOR/ISA/THREADS (0: any number) or "
           "cuda/CHIP/DESCRIPTION">,
  ];
  let dependentDialects = ["::mlir::kron::KronDialect"];
}

/// The CPU that plans are made for, with target=cpu.
defvar CPUOptions = [
  Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
         "Width of the CPU's vector registers in bits: 128, 256 or 512">,
  Option<"wholeBits", "whole-bits", "int64_t", /*default=*/"512",
         "Width of the widest vectors that the CPU executes as a whole, in "
         "bits: wider ones take two turns">,
  Option<"cacheBytes", "cache-bytes", "int64_t", /*default=*/"32768",
         "Bytes of the CPU's cache that the working set of one tile may take">,
  Option<"l2Bytes", "l2-bytes", "int64_t", /*default=*/"1048576",
         "Bytes of the CPU's second-level cache">,
  Option<"streamBytes", "stream-bytes", "int64_t", /*default=*/"0",
         "Bytes of input and result from which results are stored "
         "non-temporally, on the CPU (0: never)">,
  Option<"streamColumnsBytes", "stream-columns-bytes", "int64_t",
         /*default=*/"0",
         "The same for results that are stored a few columns at a time">,
  Option<"columnBytes", "column-bytes", "int64_t", /*default=*/"0",
         "Bytes of every row that tiles of columns take while the CPU's "
         "second-level cache holds them (0: two cache lines)">,
  Option<"rowTileBytes", "row-tile-bytes", "int64_t", /*default=*/"4096",
         "Bytes of a tile of small rows, on the CPU">,
  Option<"matrixTiles", "matrix-tiles", "bool", /*default=*/"false",
         "Whether the CPU has matrix tiles for bf16 (AMX)">,
  Option<"pairProducts", "pair-products", "bool", /*default=*/"false",
         "Whether the CPU is fast at adding up products of pairs of bf16 (AVX512-BF16)">,
  Option<"slowPairProducts", "slow-pair-products", "bool", /*default=*/"false",
         "Whether the CPU adds up products of pairs of bf16 (AVX512-BF16) at all: only plans by hand have them then">,
  Option<"fastShuffles", "fast-shuffles", "bool", /*default=*/"false",
         "Whether the CPU shuffles within 128 bits while it multiplies and adds">,
  Option<"gigahertz", "gigahertz", "double", /*default=*/"3.0",
         "The CPU's clock, of which estimates are counted">,
  Option<"copyGigabytes", "copy-gigabytes", "double", /*default=*/"20.0",
         "10^9 bytes per second that a copy in memory by one thread reads and writes">,
  Option<"wideFmas", "wide-fmas", "double", /*default=*/"2.0",
         "Multiply-adds of vectors of 512 bits in a cycle of the CPU">,
  Option<"wideLoads", "wide-loads", "double", /*default=*/"2.0",
         "Loads of vectors of 512 bits in a cycle of the CPU">,
  Option<"vectorFmas", "vector-fmas", "double", /*default=*/"2.0",
         "Multiply-adds of narrower vectors in a cycle of the CPU">,
  Option<"vectorLoads", "vector-loads", "double", /*default=*/"2.0",
         "Loads of narrower vectors in a cycle of the CPU">,
  Option<"l2BytesPerCycle", "l2-bytes-per-cycle", "double", /*default=*/"32.0",
         "Bytes that a copy within the CPU's second-level cache reads and writes in a cycle">,
  Option<"calibratedRates", "calibrated-rates", "bool", /*default=*/"false",
         "Whether some of these rates were measured on the CPU, which remarks say">,
];

def KronDecompose : Pass<"kron-decompose"> {
  let summary = "Turn named operations into mode products";
  let description = [{
    Rewrites `kron.mkm`, `kron.kmm`, `kron.ksmm`, `kron.batched` and the
    gradients into views and chains of `kron.mode_product`.

    - On tensors the views are `tensor.expand_shape`/`collapse_shape`, and the
      chain is left in the open for `--kron-fuse`.
    - On memrefs the views are `memref.expand_shape`, and the chain goes into a
      `kron.fused`, since its intermediates live nowhere else.

    Factors on different axes commute. The order is the one with the fewest
    multiply-adds: sorted by `1/P - 1/Q`, the most shrinking ones first, which is
    optimal for a chain on different axes (a factor that also stretches a batch
    axis of `X` of size 1 counts with `Q` times that). Ties keep the last axis
    first. With `matrix-tiles` or `pair-products`, multiply-adds of the first factor of a chain of
    bf16 count half, unless `precision` is `ieee`: another one goes first where
    that is cheaper.

    - Constant identity factors are dropped as long as one factor remains.
    - f16 and bf16 chains keep f32 between factors.
    - alpha, beta and the addend go to the last mode product. An alpha that is
      only known to be 0 at run time is the code generators' matter: they must not
      let it multiply a NaN. For a constant alpha of 0 there is no chain, only
      `beta * Z`.
    - bias, activation, scale and residual of `kron.ksmm` become one element-wise
      `linalg.generic` behind the product. It works in place on the product but
      for f16 and bf16, where it reads an f32 product (on memrefs one that is
      allocated), so that only the end result is rounded.
    - A transposed input becomes a `linalg.transpose` on tensors, which
      `--kron-fuse` folds, and an `input_permutation` on memrefs.
    - Dimensions of size 1 on which a factor would depend are dropped where P and
      Q are not 1; missing batch dimensions of `X` are added with size 1.
    - A plan goes to the last mode product, or to the `kron.fused`.
    - `kron.ksmm_grad` is a mode product over the batch, whose factor is the
      gradient. It becomes loops over blocks of 64 rows, of 8 and of single ones,
      each a `kron.fused` that adds its block to the sum, so that the batch may be
      dynamic and its sum stays in the cache. f16 and bf16 are summed in an f32
      array. With `target=cuda` it is left to `--kron-tile` where there are matrix
      instructions for its type, and becomes `linalg.generic`s
      elsewhere: equal pieces of the batch are summed up apart and then in order,
      since the elements of the result alone would not keep the SMs of `chip`
      busy. Weights
      that blocks or inner positions share become rows of the batch where they
      lie next to it in memory; a CPU sums up the others slice by slice, a GPU
      in the kernel that adds up pieces.
    - `kron.factor_grad` becomes mode products that apply the other factors, to
      X where they shrink it and to G where they would make X longer, and a
      `kron.ksmm_grad` whose rows are all that lies outside of the factor's axis,
      or all inside: what is unknown, or longer.
    - `kron.bias_grad` becomes `linalg.generic`s: features side by side, in
      pieces of the batch on a GPU and, where features are few, on a CPU; or 16
      positions of the batch where it is last.
    - With `target=cuda`, weights of `kron.ksmm` that are used as `T`, in
      segments of less than 32 bytes, and are more than an SM of `chip` keeps,
      are transposed first. Blocks of rows of a known number, with the batch
      first, are transposed, multiplied with the batch last, and transposed back
      where groups have few columns, or d > 1 elements side by side in no
      multiples of 16 bytes and enough of them, of f32 or 16-bit types.

    - Neighbouring factors of a chain of `kron.ksmm`, on tensors of known
      shapes, are multiplied with each other, and then the rows with their
      product, where that takes less time by the cost model than the rows one
      factor after the other; on a CPU a tenth less, on one thread. With a and d
      as far as all of these factors share them, the product is a factor again;
      every launch makes its weights, by `kron.ksmm` with the batch last on the
      first factor written out, and rounds them as arrays between factors are
      rounded. All factors but the last do nothing but multiply, and nothing else
      uses their results. Not so where a column of a group would not contribute
      to each of its rows: a NaN or an infinity spreads over no more results than
      before. Not so for f16 either, whose range products of weights leave sooner
      than results do. With `target=cpu` rows may be of an unknown number: then
      an `scf.if` has the chain in both ways, and a launch chooses.

    - With `target=cuda`, neighbouring factors of `kron.mkm` and `kron.kmm` of
      known shapes become one, their Kronecker product, where that takes a sixth
      less time by the cost model, kernels that compute products included: tensor
      cores multiply by one of 81 x 81 in the time that memory takes. Products are
      rounded once. Not so for f16, f64 and complex types, with `precision` `ieee`,
      beside factors that are constant identities or vary over a batch, or with a
      plan.

    The rewrites are those of the dialect, which know no machine; the pass
    chooses among them, and sizes of blocks and pieces, by what was measured of
    `target` and `chip`.

    An operation with a factor (of a gradient: a result) of dynamic shape is left
    alone with a remark (category `kron-decompose`).

    Before:
    ```mlir
    %y = kron.mkm ins(%x : tensor<9x64xf32>) factors(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>)
                  outs(%init : tensor<9x64xf32>) -> tensor<9x64xf32>
    ```
    After:
    ```mlir
    %v = tensor.expand_shape %x [[0], [1, 2]] output_shape [9, 8, 8] : ...
    %1 = kron.mode_product axis(2) ins(%v : ...) factor(%b [p, q] : ...) outs(%e : ...) -> ...
    %2 = kron.mode_product axis(1) ins(%1 : ...) factor(%a [p, q] : ...) outs(%i : ...) -> ...
    %y = tensor.collapse_shape %2 [[0], [1, 2]] : ...
    ```
  }];
  let options = !listconcat([
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the result is for: cpu or cuda">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU, for target=cuda: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
    Option<"cublas", "cublas", "bool", /*default=*/"true",
           "Whether products may be calls of cuBLAS, for target=cuda">,
    Option<"multipliedFactors", "multiplied-factors", "int64_t", /*default=*/"0",
           "So many neighbouring factors of a chain, and for target=cuda of a product, are multiplied with "
           "each other wherever they may be; 0: what the cost model says">,
  ], CPUOptions);
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KronFuse : Pass<"kron-fuse"> {
  let summary = "Group mode products into fused regions";
  let description = [{
    Puts every chain of `kron.mode_product`s on tensors, each result used only as
    the input of the next in the same block, into one `kron.fused`. A mode product
    that stands alone gets a `kron.fused` of its own, on tensors or memrefs. A
    `linalg.transpose` that only feeds the first mode product becomes the
    `input_permutation` of the `kron.fused`.

    A mode product with alpha, beta or an addend ends its chain. The `kron.fused`
    has the destination and the addend of the last mode product as operands;
    scalars stay where they are and are used from its body. The tensors between
    the mode products become `tensor.empty`s of the body. A plan moves to the
    `kron.fused`.

    On the CPU a chain is split into several fused regions where its row is more
    than four times the second-level cache: each takes the factors whose columns
    fit into it. A chain on one or two rows of at least 128 KB is split before its
    last factor, so that threads can share it. One on several axes with an
    innermost axis of columns, which no factor contracts, is split before one of
    its factors where columns would fill too few lanes or be too few tiles for all
    threads: what lies between has columns as its outermost axis. Where their
    number or that of threads decides and is known at launch only, the branches of
    an `scf.if` have both forms. Not so f16 and bf16, transposed input, factors
    that depend on a batch, and results that go to a `kron.epilogue`. A plan's
    `regions` overrides this.

    Between Kronecker-sparse factors axes are regrouped (`tensor.collapse_shape`,
    then `tensor.expand_shape`). As many factors in a row become one fused region,
    with the reshapes in it, as the target's code generator applies at once and in
    less time than one by one; `regions` in the plan of the last one overrides
    that, counted over the whole chain. f16 and bf16 are f32 between factors of
    one fused region. On the CPU, rows of what lies between must stay in the
    second-level cache where the whole array does not; where the number of rows is
    not known, both are there, in the branches of an `scf.if`, with a
    `kron.epilogue` that follows.

    With `target=cuda` a chain whose row does not fit on chip is then split into
    the fused regions that take the least time by the cost model or, of known
    sizes, by the planners of --kron-plan, which are asked for the fused regions
    that would be the fastest: factors on
    different axes commute, so a fused region applies those on neighbouring axes.
    One over the trailing axes reads whole rows; one over other axes reads
    columns, in segments of 128 bytes or, where that saves a fused region, as few
    as 32; one of a single factor may be a call of cuBLAS. Fused regions that
    shrink the array go first. What lies between them gets one array (`tensor.empty`, `memref.alloc`), from three fused regions on
    used alternately with the destination unless its old contents are needed or
    its shape differs. `regions` in the plan of the operation overrides the
    plan; a remark (category `kron-fuse`) tells of it.

    Rows of the arrays that start anywhere are moved by single elements. Where the
    cost model says that this takes longer than copies do, arrays of known shapes
    are copied to ones whose innermost axis is a multiple of 16 bytes, with zeros
    behind each row, and so is the factor of that axis; all fused regions of the
    chain are on these, and what the last one has in the places of the result is
    copied there. Not so where an addend, an epilogue or a `kron.quantize` follows,
    or where a factor varies over that axis. `padded` in a plan overrides that.

    Before:
    ```mlir
    %1 = kron.mode_product axis(2) ins(%x : ...) factor(%b [p, q] : ...) outs(%e : ...) -> ...
    %2 = kron.mode_product axis(1) ins(%1 : ...) factor(%a [p, q] : ...) outs(%i : ...) -> ...
    ```
    After:
    ```mlir
    %2 = kron.fused ins(%x, %b, %a : ...) outs(%i : ...) {
    ^bb0(%tx: ..., %tb: ..., %ta: ..., %out: ...):
      %e = tensor.empty() : ...
      %3 = kron.mode_product axis(2) ins(%tx : ...) factor(%tb [p, q] : ...) outs(%e : ...) -> ...
      %4 = kron.mode_product axis(1) ins(%3 : ...) factor(%ta [p, q] : ...) outs(%out : ...) -> ...
      kron.yield %4 : ...
    } -> ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the fused regions are for: cpu or cuda">,
    Option<"l2Bytes", "l2-bytes", "int64_t", /*default=*/"1048576",
           "Bytes of the CPU's second-level cache">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width of the CPU's vector registers in bits: 128, 256 or 512">,
    Option<"matrixTiles", "matrix-tiles", "bool", /*default=*/"false",
           "Whether the CPU has matrix tiles for bf16 (AMX)">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU, for target=cuda: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
    Option<"footprintBytes", "footprint-bytes", "int64_t", /*default=*/"0",
           "Bytes on chip that the factors of one fused region may span, for "
           "target=cuda; 0: what the chip has">,
    Option<"cublas", "cublas", "bool", /*default=*/"true",
           "Whether fused regions of one factor may be calls of cuBLAS, for target=cuda">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KronCollapseAxes : Pass<"kron-collapse-axes"> {
  let summary = "Make neighbouring axes that lie as one in memory one axis";
  let description = [{
    Of a `kron.fused` on memrefs, neighbouring axes that no factor contracts or
    varies over become one axis (`memref.collapse_shape` of the input, the
    destination and the addend) where types say that no array has a gap between
    them, or is stretched along one of them. Kernels cut tiles along one axis:
    segments of memory are longer along such a one. What has a plan with fields,
    some of which are sizes along the axes, stays as it is unless kernel `sparse`
    takes it (one factor of more than 128 rows or columns, or one that varies over
    axes), and so does what a `kron.epilogue` is part of, or a `kron.quantize`
    follows. The pass runs in front of `--kron-plan` for a GPU.

    Before:
    ```mlir
    kron.fused ins(%x, %f : memref<3x227x12x49xf32>, memref<227x227xf32>)
               outs(%y : memref<3x227x12x49xf32>) {
      ... kron.mode_product axis(1) ...
    }
    ```
    After:
    ```mlir
    %xc = memref.collapse_shape %x [[0], [1], [2, 3]] : memref<3x227x12x49xf32> into memref<3x227x588xf32>
    %yc = memref.collapse_shape %y [[0], [1], [2, 3]] : memref<3x227x12x49xf32> into memref<3x227x588xf32>
    kron.fused ins(%xc, %f : memref<3x227x588xf32>, memref<227x227xf32>)
               outs(%yc : memref<3x227x588xf32>) {
      ... kron.mode_product axis(1) ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KronPlan : Pass<"kron-plan"> {
  let summary = "Choose how every kron.fused and function of pairs is mapped to the machine";
  let description = [{
    Writes a `#kron.cpu_plan`, a `#kron.gpu_plan` or a `#kron.dispatch` on every
    `kron.fused`, and on a GPU on every `kron.ksmm_grad` that has kernels. It
    changes nothing else, and it is the only pass that chooses how they are
    mapped: emitters read the attribute. Remarks of category `kron-plan` say what
    was chosen and why, and which plan was dropped since it is for the other
    target.

    On the CPU the plan has the vector width, axes, joined factors, the tile, its
    slices, what is copied and converted, how results are stored and input is
    prefetched, and of every step its register tiles and what it packs and
    copies. A partial plan is a
    constraint: its fields stay, the others are chosen. A value that is none for
    the fused region is an error with its reason. A complete plan stays as it is.
    A function of pairs gets a `#kron.pairwise_plan` in the
    same way: register tiles, blocks of rows, how much of K is packed at a time,
    and how columns are multiplied. The remark of a fused region gives what bounds it on one
    thread, its estimated time and that of arithmetic and of copying the same bytes at the
    processor's peak, the same of plans with narrower vectors and with tiles of another size, and
    the plan: `bound by multiply-adds, estimated 2043 us on one thread, floor 1702 us; vector_bits
    = 256: 2214 us; tile = 2: 2043 us; #kron.cpu_plan<...>`.

    On a GPU every kind of kernel has a planner, which chooses all fields of the
    kind or says why it does not take the fused region (type, precision, sizes,
    layout, machine). Of those that take it, the kind with the least time by the
    cost model is chosen. What becomes of a plan that is there already:

    - A partial plan is a constraint. Where it names a kernel, no other one is
      considered; fields that it has are taken, the others chosen. A kernel, or a
      value, that no plan for the fused region has is an error with its reason.
    - A complete plan (docs/reference/Plans.md says which fields that takes) is
      compared with operation and machine, and stays as it is.
    - A `#kron.dispatch` stays as it is.

    What only a launch shows makes a `#kron.dispatch` of several plans, of which
    the first one whose requirements hold is launched: `ffma` and `dmma` for
    arrays that are aligned, `simt` for others; `batched` with and without copies
    of packed arrays; `small_groups`, `sparse`, and `sparse` for fewer than 16
    rows; a `chain` that also computes the `kron.quantize` behind it, for many
    rows. A dense product (or several beside each other) that cuBLAS computes in
    less time gets a plan for kernel `cublas` in front of the others, which are
    launched where the process has no cuBLAS.

    The remark gives the kind, what bounds it, its time and that of copying the
    same bytes, the reason or the time of each other kind, and the plan:
    `kernel mma, bound by shared memory, estimated 581 us, floor 525 us; wgmma: no
    factor has more than 16 rows or columns; batched: 894 us; ffma: 1167 us; simt:
    1652 us; #kron.gpu_plan<kernel = mma, ...>`. It also says where cuBLAS is
    called, and where the dense matrix that a Kronecker-sparse factor is a part of
    would be faster by cuBLAS. Another remark tells of every `kron.quantize`
    behind a fused region whether one kernel computes both.
  }];
  let options = !listconcat([
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the plans are for: cpu or cuda">,
    Option<"pairwiseOnly", "pairwise-only", "bool", /*default=*/"false",
           "Plan functions of pairs alone, for target=cpu: they become code earlier">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU, for target=cuda: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
    Option<"cublas", "cublas", "bool", /*default=*/"true",
           "Whether dense products may be calls of cuBLAS, for target=cuda">,
  ], CPUOptions);
}

#endif // KRON_MAPPING_PASSES_TD
