//===- Passes.td - Rewrites within the kron dialect --------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD
#define KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

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
    first. With `bf16-products`, multiply-adds of the first factor of a chain of
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
      are transposed first. Blocks of rows of a known number, with the batch
      first, are transposed, multiplied with the batch last, and transposed back
      where groups have few columns, or d > 1 elements side by side in no
      multiples of 16 bytes and enough of them, of f32 or 16-bit types.

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
    Option<"bf16Products", "bf16-products", "bool", /*default=*/"false",
           "Whether the processor multiplies bf16 of memory twice as fast as "
           "the f32 values between factors">,
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

#endif // KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD
