//===- KronAttrs.td - Attributes of the kron dialect -------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONATTRS_TD
#define KRON_DIALECT_KRON_IR_KRONATTRS_TD

include "kron/Dialect/Kron/IR/KronDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Kron_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::kron";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Transpose: BLAS op(A)
//===----------------------------------------------------------------------===//

def Kron_Transpose
    : Kron_I32Enum<"Transpose", "BLAS-style op(A)",
                   [I32EnumAttrCase<"N", 0>, I32EnumAttrCase<"T", 1>,
                    I32EnumAttrCase<"C", 2>]>;

def Kron_TransposeAttr : EnumAttr<Kron_Dialect, Kron_Transpose, "transpose"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "how an operand is used: N as stored, T transposed, C conjugate transposed";
  let description = [{
    For real and integer element types `C` means the same as `T`.

    In assembly the operations print it around the operand: `%f` (N), `T(%f)`
    and `C(%f)`.
  }];
}

def Kron_TransposeArrayAttr
    : TypedArrayAttrBase<Kron_TransposeAttr, "array of transposes"> {}

//===----------------------------------------------------------------------===//
// Precision, layout, activation
//===----------------------------------------------------------------------===//

def Kron_Precision
    : Kron_I32Enum<"Precision", "accuracy the lowering must keep",
                   [I32EnumAttrCase<"Full", 0, "full">,
                    I32EnumAttrCase<"Ieee", 1, "ieee">,
                    I32EnumAttrCase<"TF32", 2, "tf32">]>;

def Kron_PrecisionAttr : EnumAttr<Kron_Dialect, Kron_Precision, "precision"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "accuracy the lowering must keep";
  let description = [{
    - `full` (default): relative L2 error against the next wider type of at most
      16 eps of the element type on random data, and element-wise within the
      a-priori bound gamma_n * sum |terms|. A lowering may split a product into
      narrower ones that meet this bound.
    - `ieee`: only IEEE multiply-adds of the accumulation type.
    - `tf32`: f32 products may be rounded to TF32 (10 mantissa bits) first.
  }];
}

def Kron_Layout
    : Kron_I32Enum<"Layout", "where the batch axis of kron.ksmm lies",
                   [I32EnumAttrCase<"BatchFirst", 0, "batch_first">,
                    I32EnumAttrCase<"BatchLast", 1, "batch_last">]>;

def Kron_LayoutAttr : EnumAttr<Kron_Dialect, Kron_Layout, "layout"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "where the batch axis of kron.ksmm lies";
  let description = [{
    `batch_first`: arrays are `[batch, features]` (the default).
    `batch_last`: arrays are `[features, batch]`.
  }];
}

def Kron_Activation
    : Kron_I32Enum<"Activation", "element-wise function of an epilogue",
                   [I32EnumAttrCase<"Identity", 0, "identity">,
                    I32EnumAttrCase<"Relu", 1, "relu">,
                    I32EnumAttrCase<"Gelu", 2, "gelu">,
                    I32EnumAttrCase<"Silu", 3, "silu">]>;

def Kron_ActivationAttr : EnumAttr<Kron_Dialect, Kron_Activation, "activation"> {
  let assemblyFormat = "`<` $value `>`";
  let summary = "element-wise function of an epilogue";
  let description = [{
    - `identity`: `v`
    - `relu`: `max(v, 0)`; a NaN stays a NaN
    - `gelu`: `v/2 * (1 + erf(v / sqrt(2)))`, the exact form
    - `silu`: `v / (1 + exp(-v))`
  }];
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

def Kron_GPUKernel
    : Kron_I32Enum<"GPUKernel", "kind of GPU kernel that applies a fused region",
                   [I32EnumAttrCase<"Auto", 0, "auto">,
                    I32EnumAttrCase<"Simt", 1, "simt">,
                    I32EnumAttrCase<"Ffma", 2, "ffma">,
                    I32EnumAttrCase<"Mma", 3, "mma">,
                    I32EnumAttrCase<"Wgmma", 4, "wgmma">,
                    I32EnumAttrCase<"Batched", 5, "batched">,
                    I32EnumAttrCase<"Dmma", 6, "dmma">,
                    I32EnumAttrCase<"Sparse", 7, "sparse">,
                    I32EnumAttrCase<"Chain", 8, "chain">,
                    I32EnumAttrCase<"SmallGroups", 9, "small_groups">,
                    I32EnumAttrCase<"Gradient", 10, "gradient">,
                    I32EnumAttrCase<"Cublas", 11, "cublas">,
                    I32EnumAttrCase<"Pairwise", 12, "pairwise">,
                    I32EnumAttrCase<"Quantize", 13, "quantize">,
                    I32EnumAttrCase<"PairwiseGrad", 14, "pairwise_grad">]>;

def Kron_CPUPlanAttr : AttrDef<Kron_Dialect, "CPUPlan"> {
  let mnemonic = "cpu_plan";
  let summary = "how a fused region is mapped to a CPU";
  let description = [{
    Written by `--kron-plan` or by hand, read by `--convert-kron-to-vector`; it
    changes no code by itself and never changes the meaning of the operation that
    carries it. A plan by hand may be partial: its fields are constraints, and
    `--kron-plan` chooses the others. A complete plan has every field that has no
    default; fields at their defaults are not printed. A field that the region
    would not honour is an error.

    docs/reference/Plans.md lists the fields. Those that a plan by hand is most
    likely to give:

    - `vector_bits`: width of the vector registers to use, in bits
      (128, 256 or 512).
    - `tile`: elements along the tiled outer axis that go through all factors of
      the fused region before the result is written.
    - `register_rows`, `register_vectors`: the accumulators that the innermost
      kernel keeps in registers, rows (of the operand that is broadcast) by
      vectors.
    - `slice`: positions of the outermost contracted axis of a tile that go
      through all factors inside of it at once, within the first-level cache (the
      largest divisor of its size up to this); -1: the whole tile goes through
      one factor after the other.
    - `stream_bytes`: from so many bytes of input and result on, results are
      stored with non-temporal stores; -1: never.
    - `prefetch`: 1: the input of the next tile or slice, and where its results
      go, are prefetched while this one is computed; -1: they are not.
    - `steps`: one part per factor, or per several that are joined, in the order
      of application.
    - `regions`: how many mode products of the chain each fused region applies,
      in the order of application; read by `--kron-fuse`, which chooses them
      where it is not there.

    Example: `#kron.cpu_plan<vector_bits = 512, tile = 4, register_rows = 6, register_vectors = 4>`
  }];
  let parameters = (ins
    AttrParameter<"::mlir::DictionaryAttr", "fields that are set">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The value of field `name`; 0 if it is not there, or no single value.
    int64_t get(::llvm::StringRef name) const;
    bool has(::llvm::StringRef name) const { return bool(getFields().get(name)); }
    /// This plan with `name` = `value`, or without field `name`.
    CPUPlanAttr with(::llvm::StringRef name, ::mlir::Attribute value) const;
    CPUPlanAttr without(::llvm::StringRef name) const;
    /// Whether every field that has no default is there.
    bool isComplete() const;

    int64_t getVectorBits() const { return get("vector_bits"); }
    int64_t getTile() const { return get("tile"); }
    ::mlir::DenseI64ArrayAttr getRegions() const {
      return getFields().getAs<::mlir::DenseI64ArrayAttr>("regions");
    }
  }];
}

def Kron_PairwisePlanAttr : AttrDef<Kron_Dialect, "PairwisePlan"> {
  let mnemonic = "pairwise_plan";
  let summary = "how a function of pairs is mapped to a CPU";
  let description = [{
    Written by `--kron-plan` or by hand, read by `--convert-pairwise-to-vector`;
    it changes no code by itself and never changes the meaning of the operation
    that carries it. A plan by hand may be partial: `--kron-plan` chooses the fields
    that it does not have. A complete plan has all of them.

    A register tile is `rows` x `vectors` accumulators, with lanes along N. The
    part of B that a column of register tiles reads, `k_block` positions of K at
    a time, is packed; threads share blocks of `row_block` rows of such columns.

    - `vector_bits`: bits of the vector registers to use: 128, 256 or 512.
    - `rows`: rows of A of a register tile, each element of which is broadcast.
    - `vectors`: vectors of B of a register tile.
    - `row_block`: rows of A that go through a packed part of B, a multiple of
      `rows`.
    - `k_block`: positions of K that are packed at a time; sums are kept from one
      block to the next.

    A sum of squares of differences, but of derivatives, has one field more:

    - `product_k`: the fewest positions of K from which it is made of products,
      `|x|^2 + |y|^2 - 2 x.y` of rows less the mean of some, where that is exact
      enough; -1: never. Rows of A of a block are packed, too, then.

    A `kron.pairwise` of one array with itself, of a function that is the same in
    both orders, has another:

    - `symmetric`: the fewest positions of K from which one half is computed, and
      copied to the other one; -1: both always are.

    Threads share blocks of `row_block` rows of a `kron.pairwise_apply`, with all of
    N. Its plan says more, and is complete with these fields only:

    - `lane_columns`: columns of the result up to which the values of a register
      tile are multiplied by the vectors while they are in registers, into sums
      with lanes along N.
    - `n_tiles`: for more columns, register tiles along N whose values are in
      scratch at a time, to be multiplied like a matrix.
    - `column_block`: columns of such a matrix product at a time, `lane_columns`
      at least; all values are computed anew for the next ones.

    Threads share such blocks of rows of the result of a `kron.pairwise_grad`, too.
    Its plan is complete with `n_tiles`, the register tiles along N whose values
    are in scratch at a time, and `column_block`, the columns of factors that are
    packed at a time.

    Example: `#kron.pairwise_plan<vector_bits = 512, rows = 8, vectors = 3, row_block = 256, k_block = 1024>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0", "bits of a vector register">:$vector_bits,
    DefaultValuedParameter<"int64_t", "0", "rows of a register tile">:$rows,
    DefaultValuedParameter<"int64_t", "0", "vectors of a register tile">:$vectors,
    DefaultValuedParameter<"int64_t", "0", "rows of a block">:$row_block,
    DefaultValuedParameter<"int64_t", "0", "positions of K of a slice">:$k_block,
    DefaultValuedParameter<"int64_t", "0", "columns with lanes along N">:$lane_columns,
    DefaultValuedParameter<"int64_t", "0", "register tiles along N in scratch">:$n_tiles,
    DefaultValuedParameter<"int64_t", "0", "columns at a time">:$column_block,
    DefaultValuedParameter<"int64_t", "0", "fewest positions of K of products">:$product_k,
    DefaultValuedParameter<"int64_t", "0", "fewest positions of K of one half">:$symmetric);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether every field of a kron.pairwise is there; and those of operations
    /// that keep values of pairs in scratch.
    bool isComplete() const {
      return getVectorBits() && getRows() && getVectors() && getRowBlock() &&
             getKBlock();
    }
    bool hasScratch() const { return getNTiles() && getColumnBlock(); }
    /// Whether squares may be made of products.
    bool hasProducts() const { return getProductK() > 0; }
    /// Whether one half of the matrix may be computed alone.
    bool isSymmetric() const { return getSymmetric() > 0; }
  }];
}

def Kron_GPUPlanAttr : AttrDef<Kron_Dialect, "GPUPlan"> {
  let mnemonic = "gpu_plan";
  let summary = "how a fused region, or another operation, is mapped to a GPU";
  let description = [{
    Written by `--kron-plan` or by hand, read by `--kron-tile`; it changes no code
    by itself and never changes the meaning of the operation that carries it. A
    plan by hand may be partial: its fields are constraints, and `--kron-plan`
    chooses the others. A complete plan has every field of its kernel that has no
    default; fields at their defaults are not printed. A field that the kernel does
    not have is an error.

    `kernel` is the kind of kernel:

    - `simt`: scalar multiply-adds; takes everything.
    - `ffma`: scalar multiply-adds on fibres in registers; `dmma`: f64 tensor
      cores on axes of powers of two.
    - `mma`: tensor cores by warp-wide `mma.sync`; `wgmma`: by Hopper's warpgroup
      instructions.
    - `batched`: many small arrays per CTA.
    - `sparse`: one factor that varies over axes, or is large; `small_groups`:
      one of many small groups; `chain`: several such factors in one kernel.
    - `gradient`: the weights' gradient of a sparse factor.
    - `cublas`: a call of cuBLAS, where the process has it.
    - `pairwise`: `kron.pairwise` and `kron.pairwise_apply`, which no other kernel
      takes; `pairwise_grad`: `kron.pairwise_grad`, by an operand; `quantize`:
      `kron.quantize`, by itself.

    docs/reference/Plans.md lists the fields of each kernel. Those that several
    have, and that a plan without a kernel may give as constraints:

    - `tile`: rows per CTA, where a row is one position of all the axes outside
      the contracted ones.
    - `columns`: elements of a row's innermost, not contracted axes that a CTA
      takes at a time.
    - `threads`: threads of a CTA, a multiple of 32 up to 1024.
    - `ctas_per_sm`: CTAs that shall be resident on an SM.
    - `stages`: pipeline stages: tiles (or pieces of one) in flight between
      global and shared memory.
    - `cluster`: CTAs that share one tile through distributed shared memory, 1 or
      2.
    - `regions`: how many mode products of the chain each fused region applies,
      in the order of application; read by `--kron-fuse`, which chooses them
      where it is not there.

    Example: `#kron.gpu_plan<kernel = mma, tile = 1, threads = 128, ctas_per_sm = 4>`
  }];
  let parameters = (ins
    AttrParameter<"::mlir::kron::GPUKernel", "kind of kernel">:$kernel,
    AttrParameter<"::mlir::DictionaryAttr", "fields that are set">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The value of field `name`; 0 if it is not there, or no single value.
    int64_t get(::llvm::StringRef name) const;
    /// The values of field `name`; empty if it is not there.
    ::llvm::ArrayRef<int64_t> getList(::llvm::StringRef name) const;
    bool has(::llvm::StringRef name) const { return bool(getFields().get(name)); }
    /// This plan with another `kernel`, or `name` = `value`.
    GPUPlanAttr with(::mlir::kron::GPUKernel kernel) const;
    GPUPlanAttr with(::llvm::StringRef name, ::mlir::Attribute value) const;
    GPUPlanAttr with(::llvm::StringRef name, int64_t value) const;
    /// This plan without field `name`.
    GPUPlanAttr without(::llvm::StringRef name) const;
    /// Whether every field of the kernel that has no default is there.
    bool isComplete() const;

    int64_t getTile() const { return get("tile"); }
    int64_t getColumns() const { return get("columns"); }
    int64_t getThreads() const { return get("threads"); }
    int64_t getCtasPerSm() const { return get("ctas_per_sm"); }
    int64_t getStages() const { return get("stages"); }
    int64_t getCluster() const { return get("cluster"); }
    ::mlir::DenseI64ArrayAttr getRegions() const {
      return getFields().getAs<::mlir::DenseI64ArrayAttr>("regions");
    }
  }];
}

def Kron_DispatchAttr : AttrDef<Kron_Dialect, "Dispatch"> {
  let mnemonic = "dispatch";
  let summary = "plans of which one is chosen at launch";
  let description = [{
    What is known at launch only (rows of a dynamic array, the alignment of
    pointers and strides, whether the process has cuBLAS) decides among several
    kernels: the first plan whose requirements hold is launched. Requirements are
    fields of the plans: `min_rows`, `min_k`, `max_k`, `alignment`, `packed`; kernel `cublas`
    requires the library, kernel `small_groups` that rows start at multiples of
    what a thread stores at a time. The last plan has none.

    Example:

    ```
    #kron.dispatch<[<kernel = batched, packed = 1, tile = 16, threads = 64, ...>,
                    <kernel = batched, tile = 16, threads = 64, ...>]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::kron::GPUPlanAttr",
      "in the order in which their requirements are tested">:$plans);
  let assemblyFormat = "`<` `[` $plans `]` `>`";
  let genVerifyDecl = 1;
}

def Kron_RegionPlansAttr : AttrDef<Kron_Dialect, "RegionPlans"> {
  let mnemonic = "region_plans";
  let summary = "the fused regions of an operation, and a plan for each";
  let description = [{
    Written by a tuner or by hand, read by `--kron-fuse`, which cuts the mode
    products of the operation into `regions` (how many each fused region applies,
    in the order of application) and gives each its plan. These are constraints,
    as plans of a whole operation are: `#kron.gpu_plan` and
    `#kron.cpu_plan` have none.

    Example:

    ```
    #kron.region_plans<regions = [2, 1],
                       plans = [#kron.gpu_plan<kernel = wgmma, tile = 16>,
                                #kron.gpu_plan]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "mode products of each region">:$regions,
    ArrayRefParameter<"::mlir::Attribute", "a plan for each">:$plans);
  let assemblyFormat = [{
    `<` `regions` `=` `[` $regions `]` `,` `plans` `=` `[` $plans `]` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isForCPU() const {
      return ::mlir::isa<CPUPlanAttr>(getPlans().front());
    }
  }];
}

/// What operations carry as `plan`.
def Kron_PlanAttr : AnyAttrOf<[Kron_CPUPlanAttr, Kron_GPUPlanAttr,
                               Kron_DispatchAttr, Kron_RegionPlansAttr],
                              "a #kron.cpu_plan, a #kron.gpu_plan, a "
                              "#kron.dispatch or a #kron.region_plans">;

#endif // KRON_DIALECT_KRON_IR_KRONATTRS_TD
