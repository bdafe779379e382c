//===- Passes.td - Rewrites within the kron dialect --------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD
#define KRON_DIALECT_KRON_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

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
