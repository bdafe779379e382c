//===- KronGradientOps.td - Gradients of named operations --*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONGRADIENTOPS_TD
#define KRON_DIALECT_KRON_IR_KRONGRADIENTOPS_TD

include "kron/Dialect/Kron/IR/KronOpBase.td"

def Kron_KsmmGradOp : Kron_ComputeOp<"ksmm_grad", [
    Kron_SingleOperand<0, "the input">, Kron_SingleOperand<1, "the gradient">,
    Kron_SingleOperand<5, "the outs">]> {
  let summary = "gradient by the weights of a Kronecker-sparse factor";
  let description = [{
    With `Y = kron.ksmm(X, K)` of pattern `(a, b, c, d)` and the gradient `G` by
    `Y`, the gradient by `K` sums over the batch:

    ```
    D[i, j, k, t] = alpha * sum_n G[n, i*b*d + j*d + t] * X[n, i*c*d + k*d + t]
                  + beta * Z[i, j, k, t]
    ```

    The gradient by `X` needs no operation of its own: it is a `kron.ksmm` with
    the weights used as `T` (`C`). That by the bias is `kron.bias_grad`.
    `conj_input` and `conj_grad` conjugate `X` and `G`: of complex layers the
    gradient takes conj(X). For weights that `kron.ksmm` used as `T`, `X` and `G`
    change places.

    The batch is summed in a fixed order: the result is the same however many
    threads there are.

    Shapes, with `layout = batch_first` (`batch_last`):

    - `X` is `[B, a*c*d]` (`[a*c*d, B]`)
    - `G` is `[B, a*b*d]` (`[a*b*d, B]`)
    - `D` and `Z` are `[a, b, c, d]`

    Weights that all `i` (all `t`) share have a gradient that sums over `i`
    (over `t`): `D` has size 1 there, and `product_pattern` says what the
    pattern is. With `product_pattern = [o, Q, P, i]` and `D` of shape
    `[1, Q, P, 1]` this is the gradient by a matrix that was applied along one
    axis of an array, with `o` elements outside and `i` inside of it.

    Constraints:

    1. `D` has four axes, each of size >= 1; so has `product_pattern`, and what
       is not 1 in `D` is the same in both. `b` and `c` are the same.
    2. All arrays share one element type; `alpha` and `beta` have it too (f32 for
       f16 and bf16, whose sums stay in f32 over the whole batch).
    3. `X` has `a*c*d` features, `G` has `a*b*d`, and both the same batch.
    4. `Z` has the shape of `D`.

    Example:

    ```mlir
    %d = kron.ksmm_grad ins(%x : tensor<?x1024xf32>) grad(%g : tensor<?x1024xf32>)
                        outs(%init : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_Array:$input, Kron_Array:$grad),
    scalingOperands,
    (ins DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout,
         OptionalAttr<DenseI64ArrayAttr>:$product_pattern,
         UnitAttr:$conj_input, UnitAttr:$conj_grad),
    scalingAttributes);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `grad` `(` $grad `:` type($grad) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// The pattern (a, b, c, d): product_pattern, or the destination's shape.
    ::llvm::ArrayRef<int64_t> getPattern();
    /// Whether all i share their weights, or all t.
    bool sharesBlocks();
    bool sharesInner();
    /// Dimension of the batch and of the features in X and G.
    unsigned getBatchDim();
    unsigned getFeatureDim() { return 1 - getBatchDim(); }
  }];
}

def Kron_FactorGradOp : Kron_ComputeOp<"factor_grad", [
    Kron_SingleOperand<0, "the input">, Kron_SingleOperand<1, "the gradient">,
    Kron_SingleOperand<6, "the outs">]> {
  let summary = "gradient by one factor of a Kronecker product";
  let description = [{
    With `Y = kron.mkm(X, F1, ..., FN)` (`layout = batch_first`) and the gradient
    `G` by `Y`, the gradient by factor `k`, number `index` when counted from 0,
    sums over everything but the axes of that factor:

    ```
    D[p, q] = alpha * sum X[.., m, (p1..p..pN)] * prod_{j != k} op(Fj)[pj, qj] * G[.., m, (q1..q..qN)]
            + beta * Z[p, q]
    ```

    With `layout = batch_last` the product was `kron.kmm`:

    ```
    D[q, p] = alpha * sum X[.., (p1..p..pN), m] * prod_{j != k} op(Fj)[qj, pj] * G[.., (q1..q..qN), m]
            + beta * Z[q, p]
    ```

    `factors` are the other ones, in their order; for a single factor there are
    none. `conj_input` conjugates `X` and what of the factors is applied to it:
    the gradient of a complex product takes conj(X * F1 * ..). `conj_grad`
    conjugates `G`. For a factor that the product used as `T`, `X` and `G`
    change places and the other factors are transposed.

    A factor that shrinks X is applied to X, one that would make it longer is
    applied transposed to G. Sums are made in a fixed order: the result is the
    same every time. Of f16 and bf16, X and G with the other factors applied are
    rounded; sums stay in f32.

    Shapes, with `layout = batch_first` (`batch_last`):

    - `X` is `[batch..., M, P]` (`[batch..., P, M]`)
    - `G` is `[batch..., M, Q]` (`[batch..., Q, M]`)
    - `op(Fj)` is `[Pj, Qj]` (`[Qj, Pj]`)
    - `D` and `Z` are `[Pk, Qk]` (`[Qk, Pk]`)

    Constraints:

    1. `0 <= index <= N - 1`, where `factors` has N - 1 entries of rank 2, and
       every `Pj, Qj >= 1`.
    2. All arrays share one element type; `alpha` and `beta` have it too (f32
       for f16 and bf16).
    3. `P` is the product of all `Pj`, `Q` that of all `Qj`.
    4. `X` and `G` have the same rank, at least 2, the same batch and the same
       `M`. Nothing broadcasts.
    5. `Z` has the shape of `D`.

    Example:

    ```mlir
    %d = kron.factor_grad ins(%x : tensor<?x64xf32>) factors(%f2 : tensor<8x16xf32>)
           grad(%g : tensor<?x64xf32>) outs(%init : tensor<8x4xf32>)
           {index = 0 : i64} -> tensor<8x4xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_Array:$input, Kron_Array:$grad, Variadic<Kron_Array>:$factors),
    scalingOperands,
    (ins I64Attr:$index,
         DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout,
         OptionalAttr<Kron_TransposeArrayAttr>:$trans_factors,
         UnitAttr:$conj_input, UnitAttr:$conj_grad),
    scalingAttributes);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    custom<OtherFactors>($factors, type($factors), $trans_factors)
    `grad` `(` $grad `:` type($grad) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// How other factor `number` is used; N where `trans_factors` is absent.
    ::mlir::kron::Transpose getFactorTranspose(unsigned number);
    /// P and Q of every factor, the gradient's among them. Dynamic sizes are
    /// kDynamic.
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getFactorShapes();
    /// Dimension of M, and of the features, in X and G.
    unsigned getRowsDim();
    unsigned getFeatureDim();
    /// Whether all sizes are known but either M (with the batch, for
    /// batch_first) or the batch.
    bool hasKnownShapes();
  }];
}

def Kron_BiasGradOp : Kron_ComputeOp<"bias_grad", [
    Kron_SingleOperand<0, "the gradient">, Kron_SingleOperand<4, "the outs">]> {
  let summary = "gradient by the bias of a Kronecker-sparse factor";
  let description = [{
    The sum of the gradient `G` by `Y = kron.ksmm(X, K) + bias` over the batch:

    ```
    D[f] = alpha * sum_n G[n, f] + beta * Z[f]
    ```

    The batch is summed in a fixed order.

    Shapes, with `layout = batch_first` (`batch_last`):

    - `G` is `[B, F]` (`[F, B]`)
    - `D` and `Z` are `[F]`

    Constraints:

    1. All arrays share one element type, `alpha` and `beta` too. Of f16 and bf16
       sums stay in f32, as `alpha` and `beta` are; `D` and `Z` may be, too.
    2. `G` has `F` features.
    3. `Z` has the shape of `D`.
    4. There is no `plan`: sums over the batch are no fused region.

    Example:

    ```mlir
    %d = kron.bias_grad ins(%g : tensor<?x1024xf32>) outs(%init : tensor<1024xf32>)
         -> tensor<1024xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_Array:$input), scalingOperands,
    (ins DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout),
    scalingAttributes);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// Dimension of the batch and of the features in G.
    unsigned getBatchDim();
    unsigned getFeatureDim() { return 1 - getBatchDim(); }
  }];
}

#endif // KRON_DIALECT_KRON_IR_KRONGRADIENTOPS_TD
