//===- KronOps.td - Operations of the kron dialect ---------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONOPS_TD
#define KRON_DIALECT_KRON_IR_KRONOPS_TD

include "kron/Dialect/Kron/IR/KronAttrs.td"
include "kron/Dialect/Kron/IR/KronDialect.td"
include "kron/Dialect/Kron/IR/KronInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The element types of design section 3.
def Kron_Element : AnyTypeOf<[F32, F64, F16, BF16, I32, I64, Complex<F32>,
                              Complex<F64>],
    "f32, f64, f16, bf16, i32, i64, complex<f32> or complex<f64>">;

/// What a real array may hold when an oracle computes in a wider type.
def Kron_AnyElement : AnyTypeOf<[Kron_Element, F80, Complex<F80>],
    "a kron element type or its f80 oracle form">;

def Kron_Array : AnyTypeOf<[RankedTensorOf<[Kron_AnyElement]>,
                            StridedMemRefOf<[Kron_AnyElement]>],
    "ranked tensor or strided memref of kron elements">;

/// What a product may read beside its own type, and what is stored of it, in a
/// byte per element.
def Kron_Float8 : AnyTypeOf<[F8E4M3FN, F8E5M2], "f8E4M3FN or f8E5M2">;
def Kron_Byte : AnyTypeOf<[I8, Kron_Float8], "i8, f8E4M3FN or f8E5M2">;

def Kron_InputElement : AnyTypeOf<[Kron_AnyElement, Kron_Float8],
    "a kron element type, f8E4M3FN or f8E5M2">;

def Kron_InputArray : AnyTypeOf<[RankedTensorOf<[Kron_InputElement]>,
                                 StridedMemRefOf<[Kron_InputElement]>],
    "ranked tensor or strided memref of kron elements, f8E4M3FN or f8E5M2">;

def Kron_FloatArray : AnyTypeOf<[RankedTensorOf<[AnyTypeOf<[F32, F64, F16, BF16, F80]>]>,
                                 StridedMemRefOf<[AnyTypeOf<[F32, F64, F16, BF16, F80]>]>],
    "ranked tensor or strided memref of f32, f64, f16 or bf16">;

def Kron_ByteArray : AnyTypeOf<[RankedTensorOf<[Kron_Byte]>,
                                StridedMemRefOf<[Kron_Byte]>],
    "ranked tensor or strided memref of i8, f8E4M3FN or f8E5M2">;

def Kron_Scalar : AnyTypeOf<[Kron_AnyElement], "scalar of a kron element type">;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Kron_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kron_Dialect, mnemonic, traits>;

class Kron_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Kron_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<Kron_ScaledOpInterface,
                                  ["getFactorValues", "getEqualDims",
                                   "getFixedDims"]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  code baseClassDeclaration = [{
    /// The destination as DestinationStyleOpInterface wants it.
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getInitMutable());
    }
  }];
  let extraClassDeclaration = baseClassDeclaration;
}

/// What every computing operation takes beside its input and factors.
defvar scalingOperands = (ins
    Optional<Kron_Scalar>:$alpha, Optional<Kron_Scalar>:$beta,
    Optional<Kron_Array>:$addend, Kron_Array:$init);
defvar scalingAttributes = (ins
    OptionalAttr<TypedAttrInterface>:$static_alpha,
    OptionalAttr<TypedAttrInterface>:$static_beta,
    DefaultValuedAttr<Kron_PrecisionAttr, "Precision::Full">:$precision,
    OptionalAttr<Kron_ScheduleAttr>:$schedule);

/// Input, factors with their op(), destination: kron.mkm, kron.kmm, kron.batched.
class Kron_ProductOp<string mnemonic> : Kron_ComputeOp<mnemonic> {
  let arguments = !con(
    (ins Kron_Array:$input, Variadic<Kron_Array>:$factors),
    scalingOperands,
    (ins DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_input,
         OptionalAttr<Kron_TransposeArrayAttr>:$trans_factors),
    scalingAttributes);
  let assemblyFormat = [{
    `ins` `(` custom<TransposedOperand>($input, $trans_input) `:` type($input) `)`
    `factors` `(` custom<TransposedOperands>($factors, type($factors), $trans_factors) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// How factor `index` is used; N where `trans_factors` is absent.
    ::mlir::kron::Transpose getFactorTranspose(unsigned index);
    /// Rows and columns of op(F) for factor `index`, as the operation reads
    /// them: the contracted size first. Dynamic sizes are kDynamic.
    std::pair<int64_t, int64_t> getFactorShape(unsigned index);
  }];
}

//===----------------------------------------------------------------------===//
// Named operations
//===----------------------------------------------------------------------===//

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

def Kron_KsmmOp : Kron_ComputeOp<"ksmm"> {
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

    Numbers of f8E4M3FN and f8E5M2 are those that their 8 bits say, and sums
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

def Kron_KsmmGradOp : Kron_ComputeOp<"ksmm_grad"> {
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

def Kron_FactorGradOp : Kron_ComputeOp<"factor_grad"> {
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

def Kron_BiasGradOp : Kron_ComputeOp<"bias_grad"> {
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

    1. All arrays share one element type; `alpha` and `beta` have it too (f32 for
       f16 and bf16, whose sums stay in f32).
    2. `G` has `F` features.
    3. `Z` has the shape of `D`.

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

    Example:

    ```mlir
    %q, %s = kron.quantize ins(%v : tensor<?x4096xf16>)
               outs(%bytes, %scales : tensor<?x4096xi8>, tensor<?xf32>)
             -> tensor<?x4096xi8>, tensor<?xf32>
    ```
  }];
  let arguments = (ins Kron_FloatArray:$input, Kron_ByteArray:$init,
      Kron_FloatArray:$scales,
      DefaultValuedAttr<Kron_LayoutAttr, "Layout::BatchFirst">:$layout);
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

//===----------------------------------------------------------------------===//
// Mid-level operations
//===----------------------------------------------------------------------===//

def Kron_ModeProductOp : Kron_ComputeOp<"mode_product"> {
  let summary = "one factor applied along one axis";
  let description = [{
    ```
    Y[o, q, i] = alpha * sum_p F[.., p, q, ..] * X[o, p, i] + beta * Z[o, q, i]
    ```

    `axis` is the contracted axis of `X`, counted from 0 and the slowest; `Y` has
    the same axes as `X` but for the size of that one. `factor_dims` names what
    each dimension of the factor runs over: `p` the contracted axis of `X`, `q`
    the resulting axis of `Y`, or the number of another axis of `X` on which the
    factor depends.

    - `kron.mkm`, factor stored `[P, Q]`: `[p, q]`
    - `kron.kmm`, factor stored `[Q, P]`: `[q, p]`
    - `kron.ksmm` on `X` viewed as `[n, i, k, t]`, axis 2: `[1, q, p, 3]`

    Constraints:

    1. `X` and `Y` have the same rank, and the same size on every axis but
       `axis`, except that an axis of `X` of static size 1 is stretched when it
       is not the contracted one (NumPy broadcasting).
    2. `factor_dims` has one entry per dimension of the factor: `p` and `q`
       exactly once, other axes at most once, `axis` itself never.
    3. The `p` dimension of the factor has the size of axis `axis` of `X`, its `q`
       dimension that of `Y`, every other one the size of the axis of `Y` it
       names, or 1.
    4. `X`, `F` and `Y` share one element type, except that for f16 and bf16 `X`
       and `Y` may be f32: the intermediates of a chain are. Where `Y` is
       floating-point, `X` and `F` may be f8E4M3FN or f8E5M2. `alpha` and
       `beta` have the accumulation type (f32 for f16 and bf16).
    5. `Z` has the type of `Y`'s elements and its shape.

    `conj_input` and `conj_factor` conjugate the input and the factor.

    Example:

    ```mlir
    %y = kron.mode_product axis(1) ins(%x : tensor<?x8x16xf32>)
           factor(%f [p, q] : tensor<8x4xf32>)
           outs(%init : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_InputArray:$input, Kron_InputArray:$factor),
    scalingOperands,
    (ins I64Attr:$axis, DenseI64ArrayAttr:$factor_dims,
         UnitAttr:$conj_input, UnitAttr:$conj_factor),
    scalingAttributes);
  let assemblyFormat = [{
    `axis` `(` custom<AxisNumber>($axis) `)`
    `ins` `(` $input `:` type($input) `)`
    `factor` `(` $factor custom<FactorDims>($factor_dims) `:` type($factor) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<Scaling>($alpha, type($alpha), $static_alpha,
                    $beta, type($beta), $static_beta, $addend, type($addend))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = baseClassDeclaration # [{
    /// Entries of factor_dims that are not axis numbers.
    static constexpr int64_t kContracted = -1; // p
    static constexpr int64_t kResulting = -2;  // q
    /// Which dimension of the factor runs over p, or over q.
    unsigned getContractedFactorDim();
    unsigned getResultingFactorDim();
  }];
}

def Kron_EpilogueOp : Kron_Op<"epilogue", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>]> {
  let summary = "element-wise end of a product";
  let description = [{
    ```
    Y = scale * activation(v + bias) + residual
    ```

    What `kron.ksmm` does after its product, on the axes of a mode product. The
    list behind the bias names the axes of `v` that its dimensions run over; it
    is the same along the others. Computed in the accumulation type and rounded
    once. `v` or the residual may be the destination.

    Constraints:

    1. `v`, the residual and `Y` have the same shape.
    2. Bias and residual have the element type of `Y`; `v` has that or its
       accumulation type (f32 for f16 and bf16), which `scale` has too.
    3. The list has one axis of `v` per dimension of the bias, each at most once,
       and of the dimension's size.
    4. An activation other than `identity` needs real elements; `gelu` and
       `silu` need floating-point ones.

    Example:

    ```mlir
    %y = kron.epilogue ins(%v : tensor<?x2x64x16xf32>)
                       bias(%b [1, 2, 3] : tensor<2x64x16xf16>)
                       outs(%init : tensor<?x2x64x16xf16>)
                       {activation = #kron.activation<gelu>}
         -> tensor<?x2x64x16xf16>
    ```
  }];
  let arguments = (ins Kron_Array:$input, Optional<Kron_Array>:$bias,
      Optional<Kron_Array>:$residual, Kron_Array:$init,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$bias_axes,
      DefaultValuedAttr<Kron_ActivationAttr, "Activation::Identity">:$activation,
      OptionalAttr<TypedAttrInterface>:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    (`bias` `(` $bias^ custom<AxisList>($bias_axes) `:` type($bias) `)`)?
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    `outs` `(` $init `:` type($init) `)`
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getInitMutable());
    }
  }];
}

def Kron_PassOp : Kron_Op<"pass", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
    SingleBlock]> {
  let summary = "mode products that one trip over memory applies";
  let description = [{
    The region says what happens to the data between one load from and one
    store to memory. It holds `kron.mode_product`s on tensors (and the
    `tensor.empty` and `tensor.dim` that give their shapes), and at the end
    perhaps a `kron.epilogue`: values that stay on chip, whether the operands of
    the pass are tensors or memrefs. Its block
    has one argument per operand of `ins`, then one for `outs`, of the operand's
    type as a tensor; `kron.yield` gives what is stored.

    Between two mode products `tensor.collapse_shape` and `tensor.expand_shape`
    may regroup axes: in a chain of Kronecker-sparse factors the features
    `[i, j, t]` that one writes are what the next one reads as `[i', k', t']`.
    Memory is not touched by that. What code generators take is narrower: they
    want an axis of rows, the first or the last one, that every reshape leaves
    as it is.

    `input_permutation` says that the first operand is read with its axes
    permuted: argument axis `k` is operand axis `input_permutation[k]`. The
    transposed input of a named operation becomes strided loads this way,
    not a copy.

    Constraints:

    1. There is at least one operand in `ins`; the first one is the array that
       the mode products are applied to.
    2. Block arguments match the operands as said above.
    3. The region holds at least one `kron.mode_product`, each on tensors, each
       but the first applied to the result of the one before, as it is or
       reshaped; nothing but the last result is used after the next mode product; only the last one has alpha,
       beta or an addend. A `kron.epilogue` stands behind all of them and is
       applied to the last one's result, whose Z, if it has one, is then an
       `addend`.
    4. The yielded value is the result of the epilogue, else that of the last
       mode product, and has the type of the last block argument.

    Example:

    ```mlir
    %y = kron.pass ins(%x, %f1, %f2 : tensor<9x8x4xf32>, tensor<8x8xf32>, tensor<4x4xf32>)
                   outs(%init : tensor<9x8x4xf32>) {
    ^bb0(%tx: tensor<9x8x4xf32>, %a: tensor<8x8xf32>, %b: tensor<4x4xf32>, %out: tensor<9x8x4xf32>):
      %e = tensor.empty() : tensor<9x8x4xf32>
      %1 = kron.mode_product axis(2) ins(%tx : tensor<9x8x4xf32>) factor(%b [p, q] : tensor<4x4xf32>)
             outs(%e : tensor<9x8x4xf32>) -> tensor<9x8x4xf32>
      %2 = kron.mode_product axis(1) ins(%1 : tensor<9x8x4xf32>) factor(%a [p, q] : tensor<8x8xf32>)
             outs(%out : tensor<9x8x4xf32>) -> tensor<9x8x4xf32>
      kron.yield %2 : tensor<9x8x4xf32>
    } -> tensor<9x8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Kron_InputArray>:$inputs, Kron_Array:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$input_permutation,
                       OptionalAttr<Kron_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $init `:` type($init) `)`
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getInitMutable());
    }
    /// The mode products of the region, in the order of application.
    ::llvm::SmallVector<::mlir::kron::ModeProductOp> getModeProducts();
    /// What is applied to the last one's result, or null.
    ::mlir::kron::EpilogueOp getEpilogue();
    /// Whether the region reads what the destination held before.
    bool readsInit();
  }];
}

def Kron_YieldOp : Kron_Op<"yield", [Pure, Terminator, HasParent<"::mlir::kron::PassOp">]> {
  let summary = "what a kron.pass stores";
  let description = [{
    Ends the region of a `kron.pass`.

    Example: `kron.yield %2 : tensor<9x8x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // KRON_DIALECT_KRON_IR_KRONOPS_TD
