//===- Passes.td - Conversions out of the kron dialect -----*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_PASSES_TD
#define KRON_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKronToLinalg : Pass<"convert-kron-to-linalg"> {
  let summary = "Lower every kron operation to linalg, slowly and obviously";
  let description = [{
    The reference semantics of the dialect: every operation, on tensors and
    memrefs, for every element type, becomes one `linalg.generic` per factor plus
    one for scaling and epilogue. Tests compare the fast paths with it, and the
    CPU pipeline uses it for what the vector code generator does not take.

    f16 and bf16 accumulate in f32 through all factors, scaling and epilogue, and
    are rounded once. `erf`, `exp` and `log` of f80 are computed in f64. Intermediates
    on memrefs are allocated and released around each operation.
    `kron.pairwise_apply` and the derivatives of functions of pairs become a loop
    over tiles of 64 columns: their matrix, and what else has an element for each
    pair, are arrays of batch x M x 64, five at most.

    Sizes that the definition of an array tells and its type does not (behind a
    cast, or of an allocation) have to be what the operation's verifier expects:
    also of operations that are not lowered here.
  }];
  let options = [
    Option<"fallbackOnly", "fallback-only", "bool", /*default=*/"false",
           "Only lower what the fast path of `target` does not support, with a "
           "remark (category `kron-fallback`) for each operation; no "
           "kron.epilogue or kron.quantize, which --kron-fuse may take">,
    Option<"epiloguesOnly", "epilogues-only", "bool", /*default=*/"false",
           "Only lower every kron.epilogue outside of a kron.fused, and for cuda "
           "every kron.quantize that has no kernel">,
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Whose fast path: cpu (--convert-kron-to-vector) or cuda "
           "(--kron-tile)">,
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

def ConvertKronToVector : Pass<"convert-kron-to-vector", "::mlir::ModuleOp"> {
  let summary = "Generate vector code for the CPU from kron.fused";
  let description = [{
    Replaces every `kron.fused` on memrefs by loops over register tiles of 1-D
    vectors of the native width, following its `#kron.cpu_plan`. Each op
    becomes a body function that takes a range of tiles through all factors, and
    a call to the runtime that spreads the tiles over the threads, of which
    `kron.num_threads` becomes a call that asks for their number.

    Packed factors and the buffers between factors come from the launch's
    workspace; the module attribute `kron.workspace` records how many bytes each
    function needs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertPairwiseToVector
    : Pass<"convert-pairwise-to-vector", "::mlir::ModuleOp"> {
  let summary = "Generate loops over 1-D vectors from functions of pairs";
  let description = [{
    Replaces every function of pairs on memrefs (`kron.pairwise`,
    `kron.pairwise_apply`, and their derivatives `kron.pairwise_tangent` and
    `kron.pairwise_grad`) by loops over native-width vectors, as its
    `#kron.pairwise_plan` says: it has to be complete, as `--kron-plan` leaves it.
    Register tiles have lanes along N; B is packed a few columns at a time, A
    broadcast. Blocks of rows of such columns (of a `kron.pairwise_apply` and a
    `kron.pairwise_grad`: of all columns) are computed by a body function, which
    a call to the runtime spreads over the threads. The epilogue is applied to
    results in registers. What a `kron.pairwise_apply` multiplies stays there, or
    in scratch, as do the weights of a `kron.pairwise_grad`.

    Functions of the math dialect become functions of vectors, which
    `--kron-expand-math` makes polynomials of.

    Example:

    ```mlir
    kron.pairwise abs_diff ins(%a, %b : memref<?x64xf32>, memref<?x64xf32>) outs(%y : memref<?x?xf32>)
        {plan = #kron.pairwise_plan<vector_bits = 512, rows = 8, vectors = 3, row_block = 256, k_block = 64>}
    ```

    becomes a call of `kronRtParallelFor` with the function

    ```mlir
    func.func private @f_pairwise(%begin: i64, %end: i64, %scratch: !llvm.ptr, %captures: !llvm.ptr)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def KronTile : Pass<"kron-tile", "::mlir::ModuleOp"> {
  let summary = "Make kernels of tile operations from kron.fused";
  let description = [{
    Replaces every `kron.ksmm_grad` on memrefs that has a plan, by the launch of a kernel, or
    of two if the sums of pieces are added up, and every `kron.fused` that has one, by
    the launch of a `gpu.func` of `tile` operations (`simt`: one per launch of the
    plan), as the complete plan says; nothing is chosen here, and no instruction is
    written. Of a `#kron.dispatch` every plan becomes a kernel, and host code launches
    the first one whose requirements hold (`min_rows`, `alignment`, `packed`, and what
    kernels `small_groups` and `cublas` need). Requirements that types rule out leave
    their kernel out, and none follows a plan that requires nothing of a launch. What
    lacks a plan, or has one that does not fit the operation or the chip, is an error, and
    so are plans of which none is launched whatever is known at run time.
    What has a kernel together with a `kron.quantize` from some number of rows on is
    then there twice, in the branches of a test for that.

    Example:

    ```mlir
    kron.fused ins(%x, %f : memref<?x4xf32>, memref<4x4xf32>) outs(%y : memref<?x4xf32>)
        attributes {plan = #kron.gpu_plan<kernel = batched, tile = 512, threads = 128, ctas_per_sm = 8, stages = 2>} ...
    ```

    becomes

    ```mlir
    tile.launch @kron_gpu::@f_0 tiles(%tiles) args(%x, %y, %f, %tiles : ...)
    ```

    and a kernel as in the description of the dialect.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "GPU to generate code for: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::kron::tile::TileDialect"];
}

def ConvertTileToNVVM : Pass<"convert-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Give tile operations their instructions";
  let description = [{
    Replaces every `tile.launch` by a call of `kronRtCudaLaunch`, and the
    `gpu.func` that it names by an `llvm.func` whose body still uses scf and
    arith. There is one way to lower an operation; what there is to choose is in
    its attributes and types.

    A view becomes a pointer and those of its sizes and strides that its type
    does not know, a buffer an offset into the CTA's shared memory, a fragment
    values of a thread. Contractions are computed as their results are stored,
    so many at a time as their `block` says.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronMapToGPU : Pass<"kron-map-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Move what is left beside fused kernels to the GPU";
  let description = [{
    After `--convert-tile-to-nvvm`, turns every `linalg` operation of host
    functions into a kernel of its own, with one thread per element of its
    parallel dimensions (reductions start from what a `linalg.fill` has put into
    their destination, which then needs no kernel), copies that transpose by squares in shared memory
    (with a remark of category `kron-gpu`), `memref.alloc`
    and `memref.dealloc` into calls that take and return workspace of the launch,
    and constant arrays into variables of `gpu.module @kron_gpu`. Loads and stores
    that then remain in host functions are errors: all arrays are in the memory
    of the GPU.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronOverlapLaunches
    : Pass<"kron-overlap-launches", "::mlir::ModuleOp"> {
  let summary = "Launch kernels while the kernel before still runs";
  let description = [{
    From sm_90 on, after `--kron-map-to-gpu`: every kernel of
    `gpu.module @kron_gpu` starts with a wait for the kernel before it on the
    stream, whose results it reads (`nvvm.griddepcontrol`); every call of
    `kronRtCudaLaunch` says so, by a size of clusters of 0, or -n for clusters
    of n. CTAs then stand ready when the kernel before ends, which saves about a
    microsecond per kernel on the GPU and .7 us of host time per launch.

    A kernel each of whose CTAs has one tile then lets the next kernel come. A
    persistent one, which reads the grid's size, does so by its end: CTAs that
    come to SMs with room left while it runs are not shared out evenly.

    Example, the start of every kernel:

    ```mlir
    llvm.func @mkm_0(%arg0: !llvm.ptr<1>, ...) attributes {gpu.kernel, nvvm.kernel, ...} {
      nvvm.griddepcontrol wait
      nvvm.griddepcontrol launch_dependents
      ...
    ```

    Older chips have no such instruction: the pass does nothing for them.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "GPU to generate code for: an SKU (h200, a100-80, ...) or an architecture (sm_90a)">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def KronPoisonSharedMemory
    : Pass<"kron-poison-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Fill shared memory with NaN at the start of every kernel";
  let description = [{
    A check of the code generator: a kernel whose results depend on shared memory
    that it has not written works as long as earlier kernels left finite values
    there. After this pass every byte of dynamic shared memory is 0xff when a
    kernel starts, which is a NaN in every floating-point type and -1 in every
    integer type. Results must not change by a bit.

    ```mlir
    llvm.func @mkm_0(...) attributes {gpu.kernel, nvvm.kernel} {
      %bytes = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"() : () -> i32
      scf.for %offset = ... to %bytes step ... : i32 { llvm.store %minus_one, ... }
      nvvm.barrier0
      ...
    ```

    Expects kernels as `--kron-map-to-gpu` leaves them. Kernels without dynamic
    shared memory stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronMapToThreads : Pass<"kron-map-to-threads", "::mlir::ModuleOp"> {
  let summary = "Share what is left beside kron.fused among the CPU's threads";
  let description = [{
    Moves every `linalg` operation on memrefs into a body function that takes a
    range of one of its parallel loops, called through the runtime, which spreads
    the ranges over the threads. That loop is the outermost one which is long, or
    whose size only a run shows. Operations that are small for certain stay as
    they are. A remark (category `kron-threads`) tells of each operation, also of
    large ones that one thread runs.

    Every `kron.quantize` becomes a loop over rows that is shared in the same
    way; a row is rounded while it is in the cache. Where the batch is last, some
    neighbouring columns make up such a block. Few rows which are large become
    loops of `linalg`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronExpandMath : Pass<"kron-expand-math"> {
  let summary = "Expand functions that a GPU has no instruction for";
  let description = [{
    Replaces `math.exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `tanh`
    and `erf` by polynomials, accurate to two units in the last place of f32 and
    f64, and likewise `powf` of an `absf` with a constant exponent p other than 0, to
    4 + |p| units; f16 and bf16 are computed in f32. Operations with an
    instruction stay; all others of the dialect are errors, unless `ignore-others`
    leaves them to a later pass.
  }];
  let options = [
    Option<"ignoreOthers", "ignore-others", "bool", /*default=*/"false",
           "Leave alone what has no polynomial">,
    Option<"fastErf", "fast-erf", "bool", /*default=*/"false",
           "Make erf a quotient, to six units in the last place of f32 and "
           "eight of f64">,
    Option<"scaledBits", "scaled-bits", "int64_t", /*default=*/"0",
           "Multiply vectors of so many bits by powers of two with llvm.ldexp: "
           "AVX-512 has an instruction for those of 512">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect"];
}

def KronExpandComplex : Pass<"kron-expand-complex"> {
  let summary = "Make complex operations those on real and imaginary parts";
  let description = [{
    Runs `--convert-complex-to-standard` on what it is on, unless that has no
    operation of the complex dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def KronReleaseEarly : Pass<"kron-release-early"> {
  let summary = "Release arrays right after their last use";
  let description = [{
    Moves every `memref.dealloc` up to behind the last operation of its block
    that uses the array or a view of it, so that the memory serves what follows.
    Arrays whose views leave the block are left alone.
  }];
}

def KronLowerInterface : Pass<"kron-lower-interface", "::mlir::ModuleOp"> {
  let summary = "Give entry functions memref arguments and no results";
  let description = [{
    Every public function becomes callable from C: tensor arguments become
    strided memrefs whose innermost stride is 1, and every tensor result becomes
    one more argument at the end that the caller provides and the function
    fills. Functions that already take only memrefs and scalars and return
    nothing are kept.

    The attribute `kron.args` on the function records name, direction and
    equal sizes of its arguments for the manifest that the runtime checks. It
    takes the place of `llvm.emit_c_interface`, with which other front ends ask
    for a C interface.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def KronBufferize : Pass<"kron-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization that leaves kron.fused regions on tensors";
  let description = [{
    Runs upstream's one-shot bufferization with function boundaries on the whole
    module, but not inside `kron.fused`: what its region names stays on chip.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def KronChooseByLayout : Pass<"kron-choose-by-layout", "::mlir::func::FuncOp"> {
  let summary = "Compile entry functions for row-major arrays as well";
  let description = [{
    A function of `--kron-lower-interface` with a `kron.ksmm`, whose arguments
    have strides or offsets that only a run shows, gets its body twice: for
    arguments that turn out to be row-major, as arrays of a known layout, and for
    all others. Kernels of Kronecker-sparse factors depend on that.

    With the attribute `kron.row_major` its arguments get row-major types instead,
    in `kron.args` too: it has one body, and launches refuse other arrays.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronExpandViews : Pass<"kron-expand-views"> {
  let summary = "Views become offsets, sizes and strides";
  let description = [{
    Does what upstream's `--expand-strided-metadata` and `--lower-affine` do, and
    rewrites no operations but views, what is asked of their layout, and those of
    affine. What has no effect is removed.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def KronPoolArrays : Pass<"kron-pool-arrays", "::mlir::ModuleOp"> {
  let summary = "Take memory for arrays from the runtime";
  let description = [{
    Replaces calls of `malloc` and `free` by `kronRtAllocate` and `kronRtFree`,
    which keep memory from one launch to the next: pages that are fresh from the
    system cost as much as what is stored there.
  }];
}

def KronWiden : Pass<"kron-widen", "::mlir::ModuleOp"> {
  let summary = "Compute in the next wider floating-point type";
  let description = [{
    Rewrites a module for verification: f16, bf16 and f32 become f64, f64 becomes
    f80, and complex types follow their elements, in values, signatures and
    constants. Every constant keeps its value. Integers stay as they are: their
    arithmetic is exact (modulo 2^n) already. Conversions between types that
    have become equal are removed.

    Operations that depend on the bits of a number (`arith.bitcast`) have no
    wider form and are rejected, as operations of the tile dialect are, whose
    copies say how many bytes elements have. The exponent of `pow_diff` stays of
    f64.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect"];
}

#endif // KRON_CONVERSION_PASSES_TD
