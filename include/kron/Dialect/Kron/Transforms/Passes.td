//===- Passes.td - Rewrites within the kron dialect --------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD
#define KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def KronApplyRecord : Pass<"kron-apply-record"> {
  let summary = "Give operations the plans of a tuning record";
  let description = [{
    Reads a JSON file of plans that were found to be fast,

    ```json
    [
      {
        "op": "kron.mkm",
        "arrays": ["?x4096xf32", "64x64xf32", "64x64xf32", "?x4096xf32"],
        "plan": "#kron.cpu_plan<tile = 8>"
      }
    ]
    ```

    and writes each on the operations of that name on tensors or memrefs of these
    shapes, operand by operand. The first entry that fits counts. Operations that
    have a plan keep it. All passes behind this one treat it like a plan
    written by hand: what it leaves open is chosen by the cost models. A remark
    (category `kron-plan`) gives the number of the entry.

        kron-opt --kron-apply-record=file=record.json in.mlir -o tuned.mlir
        kronc tuned.mlir -o tuned.o
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"",
           "The tuning record">,
  ];
  let dependentDialects = ["::mlir::kron::KronDialect"];
}

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
    first.

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
      array. With `target=cuda` it is left to `--convert-kron-to-nvvm` where there
      are matrix instructions for its type, and becomes `linalg.generic`s
      elsewhere: equal pieces of the batch are summed up apart and then in order,
      since the elements of the result alone would not keep a GPU busy. Weights
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
      segments of less than 32 bytes, and are more than an SM keeps (128 KiB),
      are transposed first.

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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the result is for: cpu or cuda">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KronRaiseShuffles : Pass<"kron-raise-shuffles"> {
  let summary = "Turn reshape, matmul and transpose chains into mode products";
  let description = [{
    Recognises the way Kronecker products are written with general tensor
    operations: `tensor.expand_shape`, `tensor.collapse_shape` or
    `tensor.reshape`, then `linalg.matmul`, `linalg.batch_matmul` or a
    contraction `linalg.generic`, then `linalg.transpose`, once per factor.
    It tracks which axis of the original array every dimension holds, so that
    each contraction becomes a `kron.mode_product` on that axis where the data
    lies; reshapes and transposes that only served the chain disappear.

    A chain is rewritten only as a whole and only if its result has the axes of
    the input in the original order (each contracted once or more); anything
    else is left alone.

    Factors may be stored transposed, stand on the left or on the right, and vary
    along axes that are not contracted (`linalg.batch_matmul`). Sizes of the
    factors are static; those of the array need not be. Matrix products without
    any reshape or transpose around them are not touched.

    A remark (category `kron-raise`) tells of every chain that was rewritten.

    Before:
    ```mlir
    %1 = linalg.matmul ins(%x, %b : tensor<15x4xf32>, tensor<4x6xf32>) outs(%zeros : ...) -> tensor<15x6xf32>
    %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [5, 3, 6] : ...
    %3 = linalg.transpose ins(%2 : ...) outs(%e : tensor<5x6x3xf32>) permutation = [0, 2, 1]
    %4 = tensor.collapse_shape %3 [[0, 1], [2]] : tensor<5x6x3xf32> into tensor<30x3xf32>
    %5 = linalg.matmul ins(%4, %a : tensor<30x3xf32>, tensor<3x2xf32>) outs(%zeros2 : ...) -> tensor<30x2xf32>
    %6 = tensor.expand_shape %5 [[0, 1], [2]] output_shape [5, 6, 2] : ...
    %y = linalg.transpose ins(%6 : ...) outs(%e2 : tensor<5x2x6xf32>) permutation = [0, 2, 1]
    ```
    After:
    ```mlir
    %v = tensor.expand_shape %x [[0, 1], [2]] output_shape [5, 3, 4] : tensor<15x4xf32> into tensor<5x3x4xf32>
    %1 = kron.mode_product axis(2) ins(%v : ...) factor(%b [p, q] : ...) outs(...) -> tensor<5x3x6xf32>
    %y = kron.mode_product axis(1) ins(%1 : ...) factor(%a [p, q] : ...) outs(...) -> tensor<5x2x6xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::kron::KronDialect",
                           "::mlir::linalg::LinalgDialect",
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
    last factor, so that threads can share it. A plan's `regions` overrides
    this.

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
    the fused regions that take the least time by the cost model: factors on
    different axes commute, so a fused region applies those on neighbouring axes.
    One over the trailing axes reads whole rows; one over other axes reads
    columns, in segments of 128 bytes or, where that saves a fused region, as few
    as 32. Fused regions that shrink the array go first. What lies between them
    gets one array (`tensor.empty`, `memref.alloc`), from three fused regions on
    used alternately with the destination unless its old contents are needed or
    its shape differs. `regions` in the plan of the operation overrides the
    plan; a remark (category `kron-fuse`) tells of it.

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
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def KronPlan : Pass<"kron-plan"> {
  let summary = "Choose how every kron.fused is mapped to the machine";
  let description = [{
    Writes a `#kron.cpu_plan` or `#kron.gpu_plan` on every `kron.fused`. It
    changes nothing else: the code generator reads the attribute. Fields that
    are already set are kept, so that a plan written by hand, or a part of one,
    wins over the cost model. A plan for the other target is dropped, with a
    remark. A remark (category `kron-plan`) says what was chosen and why.

    On the CPU these are the tile, the vector width and the register tile. On a
    GPU it is the kind of kernel: of those whose emitter takes the fused region
    (type, precision, sizes, layout), the one with the least time by the cost
    model. The remark gives that time, what bounds it, the time of copying the
    same bytes, and what became of the other kinds. A dense product (or several
    beside each other) that cuBLAS would compute in less time gets the attribute
    `kron.cublas`: it is called at run time where the process has it. Where the
    dense matrix that a Kronecker-sparse factor is a part of would be faster by
    cuBLAS, the remark says so.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the plans are for: cpu or cuda">,
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width of the CPU's vector registers in bits: 128, 256 or 512">,
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
           "second-level cache holds them (0: two vectors)">,
    Option<"rowTileBytes", "row-tile-bytes", "int64_t", /*default=*/"4096",
           "Bytes of a tile of small rows, on the CPU">,
    Option<"matrixTiles", "matrix-tiles", "bool", /*default=*/"false",
           "Whether the CPU has matrix tiles for bf16 (AMX)">,
    Option<"pairProducts", "pair-products", "bool", /*default=*/"false",
           "Whether the CPU is fast at adding up products of pairs of bf16 (AVX512-BF16)">,
    Option<"fastShuffles", "fast-shuffles", "bool", /*default=*/"false",
           "Whether the CPU shuffles within 128 bits while it multiplies and adds">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The GPU, for target=cuda: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
    Option<"cublas", "cublas", "bool", /*default=*/"true",
           "Whether dense products may be calls of cuBLAS, for target=cuda">,
  ];
}

#endif // KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD
