//===- KronDialect.td - The kron dialect -------------------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONDIALECT_TD
#define KRON_DIALECT_KRON_IR_KRONDIALECT_TD

include "mlir/IR/OpBase.td"

def Kron_Dialect : Dialect {
  let name = "kron";
  let summary = "Kronecker-structured linear algebra";
  let description = [{
    Every operation of this dialect is a chain of *mode products* on an N-d
    array:

    ```
    Y[o, q, i] = sum_p F[p, q] * X[o, p, i]
    ```

    where `o` stands for the axes outside (slower than) the contracted axis and
    `i` for the axes inside (faster than) it. Factors on different axes commute,
    so a compiler may reorder them; no operation of the dialect ever moves data
    just to change its order (a "shuffle").

    The named operations (`kron.mkm`, `kron.kmm`, `kron.ksmm`, `kron.batched`,
    the gradients `kron.ksmm_grad`, `kron.factor_grad` and `kron.bias_grad`, and
    `kron.quantize`) are what users write. `--kron-decompose` turns products and
    their gradients into `kron.mode_product`, `--kron-fuse` groups mode products
    into fused regions, `kron.fused`, each of which reads and writes memory once.

    `kron.pairwise`, whose results are functions of all pairs of rows (distances,
    kernels), is no chain of mode products and stands beside them, as do its
    product with vectors, `kron.pairwise_apply`, and its derivatives,
    `kron.pairwise_tangent` and `kron.pairwise_grad`.

    All operations work on ranked tensors in destination-passing style and on
    strided memrefs. On tensors the result is the updated `outs` operand; on
    memrefs there is no result and `outs` is written.

    Scaling follows the BLAS: `Y = alpha * (...) + beta * Z`. `Z` is the
    `addend` operand or, without one, the previous contents of `outs`.
    `beta == 0` never reads `Z`, and `alpha == 0` never reads the input or the
    factors, so NaNs there do not propagate. `alpha` defaults to 1, `beta` to 0.
    The addend may alias `outs`; the input and the factors may not.
  }];
  let cppNamespace = "::mlir::kron";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // KRON_DIALECT_KRON_IR_KRONDIALECT_TD
