//===- KronNamedOps.td - What users write ------------------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONNAMEDOPS_TD
#define KRON_DIALECT_KRON_IR_KRONNAMEDOPS_TD

include "kron/Dialect/Kron/IR/KronOpBase.td"

def Kron_MkmOp : Kron_ProductOp<"mkm"> {
  let summary = "matrix times Kronecker product";
  let description = [{
    ```
    Y = alpha * op(X) * (op(F1) (x) ... (x) op(FN)) + beta * Z
    Y[m, (q1..qN)] = sum_{p1..pN} X[m, (p1..pN)] * F1[p1, q1] * ... * FN[pN, qN]
    ```

    Shapes, with `P = P1*...*PN` and `Q = Q1*...*QN`:

    - `X` is `[batch..., M, P]`, or `[batch..., P, M]` when used as `T` or `C`
    - `op(Fk)` is `[batch..., Pk, Qk]`; `Fk` itself is `[..., Qk, Pk]` for `T`, `C`
    - `Y` and `Z` are `[batch..., M, Q]`

    Constraints:

    1. There is at least one factor (`N >= 1`) and every `Pk, Qk >= 1`.
    2. All arrays share one element type; `alpha` and `beta` have it too (f32
       for f16 and bf16). f16 and bf16 accumulate in f32 through the whole chain.
    3. The columns of `op(X)` equal the product of the rows of `op(Fk)`, the
       columns of `Y` the product of the columns of `op(Fk)`.
    4. Batch dimensions of `X` and of every factor broadcast against each other
       as in NumPy (aligned at the right, 1 stretches) to the batch of `Y`.
    5. `Z` has the shape of `Y`.

    Example:

    ```mlir
    %y = kron.mkm ins(%x : tensor<?x64xf32>)
                  factors(%f1, T(%f2) : tensor<8x4xf32>, tensor<16x8xf32>)
                  outs(%init : tensor<?x64xf32>) alpha(2.0 : f32)
         -> tensor<?x64xf32>
    ```
  }];
}

def Kron_KmmOp : Kron_ProductOp<"kmm"> {
  let summary = "Kronecker product times matrix";
  let description = [{
    ```
    Y = alpha * (op(F1) (x) ... (x) op(FN)) * op(X) + beta * Z
    Y[(q1..qN), m] = sum_{p1..pN} F1[q1, p1] * ... * FN[qN, pN] * X[(p1..pN), m]
    ```

    Shapes, with `P = P1*...*PN` and `Q = Q1*...*QN`:

    - `X` is `[batch..., P, M]`, or `[batch..., M, P]` when used as `T` or `C`
    - `op(Fk)` is `[batch..., Qk, Pk]`; `Fk` itself is `[..., Pk, Qk]` for `T`, `C`
    - `Y` and `Z` are `[batch..., Q, M]`

    Constraints: as `kron.mkm` with the roles of rows and columns exchanged.

    1. There is at least one factor (`N >= 1`) and every `Pk, Qk >= 1`.
    2. All arrays share one element type; `alpha` and `beta` have it too (f32
       for f16 and bf16).
    3. The rows of `op(X)` equal the product of the columns of `op(Fk)`, the rows
       of `Y` the product of the rows of `op(Fk)`.
    4. Batch dimensions broadcast as in `kron.mkm`.
    5. `Z` has the shape of `Y`.

    Example:

    ```mlir
    kron.kmm ins(%x : memref<64x?xf64>)
             factors(%f1, %f2 : memref<4x8xf64>, memref<16x8xf64>)
             outs(%y : memref<64x?xf64>) beta(1.0 : f64)
    ```
  }];
}

def Kron_BatchedOp : Kron_ProductOp<"batched"> {
  let summary = "one small matrix per axis of every array of a batch";
  let description = [{
    TKRON generalised to any rank: for every array `X_b` of the batch, with axes
    numbered 1 (slowest) to N (fastest),

    ```
    Y_b[q1..qN] = alpha * sum_{p1..pN} op(A1)[q1, p1] * ... * op(AN)[qN, pN] * op(X_b)[p1..pN]
                + beta * Z_b[q1..qN]
    vec(Y_b) = alpha * (op(A1) (x) ... (x) op(AN)) * vec(op(X_b)) + beta * vec(Z_b)
    ```

    with `vec` reading row-major. In 2-D this is
    `Y = alpha * op(A1) * op(X) * op(A2)^T + beta * Z`; the outer transpose never
    conjugates. `op(X_b)` reverses the order of the N axes for `T`, and
    conjugates too for `C`. Element, plane and batch strides are those of the
    memref.

    Shapes:

    - `X` is `[batch..., P1, ..., PN]` (`[batch..., PN, ..., P1]` for `T`, `C`)
    - `op(Ak)` is `[batch..., Qk, Pk]`
    - `Y` and `Z` are `[batch..., Q1, ..., QN]`

    Constraints:

    1. `N >= 1`, where N is the number of factors, and `X` has at least N axes.
    2. All arrays share one element type; `alpha` and `beta` have it too (f32
       for f16 and bf16).
    3. Axis k of `op(X)` has the size of the columns of `op(Ak)`, axis k of `Y`
       that of its rows.
    4. Batch dimensions broadcast as in `kron.mkm`.
    5. `Z` has the shape of `Y`.

    Example (three-dimensional, two hundred 8x8x8 arrays, shared factors):

    ```mlir
    %y = kron.batched ins(%x : tensor<200x8x8x8xf64>)
           factors(%a, %b, %c : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>)
           outs(%init : tensor<200x8x8x8xf64>) -> tensor<200x8x8x8xf64>
    ```
  }];
}

def Kron_KsmmOp : Kron_ComputeOp<"ksmm", [
    Kron_SingleOperand<0, "the input">, Kron_SingleOperand<1, "the weights">,
    Kron_SingleOperand<7, "the outs">]> {
  let summary = "Kronecker-sparse matrix product with bias and epilogue";
  let description = [{
    A Kronecker-sparse factor of pattern `(a, b, c, d)` is the block matrix
    whose support is `I_a (x) 1_{b x c} (x) I_d`; its weights `K` are stored
    densely as `[a, b, c, d]`:

    ```
    v[n, i*b*d + j*d + t] = alpha * sum_k K[i, j, k, t] * X[n, i*c*d + k*d + t]
                          + beta * Z[n, i*b*d + j*d + t]
    Y = scale * activation(v + bias) + residual
    ```

    With weights used as `T` or `C` the transposed factor is applied (the
    backward product): the sum runs over `j`, and `b` and `c` change places in
    every shape below.

    Shapes, with `layout = batch_first` (`batch_last`):

    - `X` is `[B, a*c*d]` (`[a*c*d, B]`); used as `T` or `C` it is stored in the
      other layout
    - `Y`, `Z` and `residual` are `[B, a*b*d]` (`[a*b*d, B]`)
    - `bias` is `[a*b*d]`

    Constraints:

    1. `K` has four axes, each of size >= 1.
    2. All arrays share one element type, but for `X` and `K`, either of which may
       be f8E4M3FN or f8E5M2 where `Y` is floating-point; `alpha`, `beta` and
       `scale` have the type of `Y` (f32 for f16 and bf16).
    3. `X` has `a*c*d` features, `Y` has `a*b*d`, and both the same batch.
    4. `Z` and `residual` have the shape of `Y`, `bias` the features of `Y`.
    5. An activation other than `identity` needs real elements; `gelu` and
       `silu` need floating-point ones.

    Values of f8E4M3FN and f8E5M2 are those that their 8 bits say, and sums
    are in f32 at least. What they stand for is usually a multiple: `alpha`,
    perhaps known at run time only, takes the product of both scales.

    A chain (Monarch, butterfly, block-diagonal layers) is several of these in a
    row; the features that one writes are those that the next one reads.

    Example:

    ```mlir
    %y = kron.ksmm ins(%x : tensor<?x1024xf32>)
                   weights(%k : tensor<1x64x64x16xf32>)
                   outs(%init : tensor<?x1024xf32>)
                   bias(%bias : tensor<1024xf32>)
                   {activation = #kron.activation<relu>} -> tensor<?x1024xf32>
    %z = kron.ksmm ins(%x8 : tensor<?x1024xf8E4M3FN>)
                   weights(%k8 : tensor<1x64x64x16xf8E4M3FN>)
                   outs(%half : tensor<?x1024xf16>) alpha(%scales : f32)
         -> tensor<?x1024xf16>
    ```
  }];
  let arguments = !con(
    (ins Kron_InputArray:$input, Kron_InputArray:$weights,
         Optional<Kron_Array>:$bias, Optional<Kron_Array>:$residual),
    scalingOperands,
    (ins DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_input,
         DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_weights,
         DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout,
         DefaultValuedAttr<Kron_ActivationAttr, "Activation::Identity">:$activation,
         OptionalAttr<TypedAttrInterface>:$scale),
    scalingAttributes);
  let assemblyFormat = [{
    `ins` `(` custom<TransposedOperand>($input, $trans_input) `:` type($input) `)`
    `weights` `(` custom<TransposedOperand>($weights, $trans_weights) `:` type($weights) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// Whether anything is applied after scaling: bias, activation, scale or
    /// residual.
    bool hasEpilogue();
    /// The pattern (a, b, c, d) of the factor as applied: b and c are exchanged
    /// when the weights are used transposed.
    ::llvm::SmallVector<int64_t, 4> getPattern();
    /// Dimension of the batch and of the features in Y (and in X unless it is
    /// used transposed).
    unsigned getBatchDim();
    unsigned getFeatureDim();
  }];
}

def Kron_QuantizeOp : Kron_Op<"quantize", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>]> {
  let summary = "8 bits per element and a scale per row";
  let description = [{
    With `L` the largest number of `Q`'s type (127 for i8, 448 for f8E4M3FN,
    57344 for f8E5M2), for every row `r` of `V`:

    ```
    S[r] = max_f |V[r, f]| / L
    Q[r, f] = round(V[r, f] * (1 / S[r]))
    ```

    rounded to nearest, ties to even; `Q * S` is about `V`. Arithmetic is that
    of the type of `S`, with IEEE divisions: every target gives the same bits
    for the same `V`. -128 does not occur.

    - A row whose `S` would be below the smallest normal number of f32, 2^-126,
      one of zeros among them, gets `S = 0` and `Q = 0`.
    - A row with a NaN or an infinity gets `S = NaN` and `Q = 0`, so that all of
      `Q * S` is NaN. Other rows are not touched by it.

    Shapes, with `layout = batch_first` (`batch_last`):

    - `V` and `Q` are `[batch..., features...]` (`[features..., batch...]`)
    - `S` is `[batch...]`

    Constraints:

    1. `V` and `Q` have the same shape; the rank of `S` is less than theirs.
    2. `S` has the batch of `V`.
    3. `S` has the accumulation type of `V`'s elements: f32 for f16 and bf16,
       else the same.
    4. A plan is of kernel `quantize`, or names none. With one, the operation has a GPU
       kernel of its own, whatever it reads.

    Example:

    ```mlir
    %q, %s = kron.quantize ins(%v : tensor<?x4096xf16>)
               outs(%bytes, %scales : tensor<?x4096xi8>, tensor<?xf32>)
             -> tensor<?x4096xi8>, tensor<?xf32>
    ```
  }];
  let arguments = (ins Kron_FloatArray:$input, Kron_ByteArray:$init,
      Kron_FloatArray:$scales,
      DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout,
      OptionalAttr<Kron_GPUPlanAttr>:$plan);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $init `,` $scales `:` type($init) `,` type($scales) `)`
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, 2);
    }
    /// Dimension of the input that dimension 0 of the scales runs over; the
    /// others follow.
    unsigned getFirstBatchDim();
  }];
}

#endif // KRON_DIALECT_KRON_IR_KRONNAMEDOPS_TD
