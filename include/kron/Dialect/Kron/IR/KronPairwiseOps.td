//===- KronPairwiseOps.td - Functions of all pairs of rows -*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONPAIRWISEOPS_TD
#define KRON_DIALECT_KRON_IR_KRONPAIRWISEOPS_TD

include "kron/Dialect/Kron/IR/KronOpBase.td"
include "kron/Dialect/Kron/IR/KronPairwiseEnums.td"
include "kron/Dialect/Kron/IR/KronPairwiseInterfaces.td"

/// A hyper-parameter: one value, or an array of them along the batch.
def Kron_PairParameter : AnyTypeOf<[F32, F64, F80, Kron_FloatArray],
    "f32, f64, or a ranked tensor or strided memref of f32 or f64">;

/// How one is mapped to a CPU or a GPU.
def Kron_PairPlan
    : AnyAttrOf<[Kron_PairwisePlanAttr, Kron_GPUPlanAttr, Kron_DispatchAttr],
    "plan of a function of pairs for a CPU or a GPU">;

/// An operation on a function of pairs.
class Kron_PairOp<string mnemonic, list<Trait> traits = []>
    : Kron_Op<mnemonic, !listconcat(traits, [
        IsolatedFromAbove, SingleBlock, DestinationStyleOpInterface,
        Kron_PairOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>])> {
  let regions = (region AnyRegion:$inner_body, AnyRegion:$epilogue);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getInitMutable());
    }
  }];
}

/// What says which function it is.
defvar pairFunction = (ins
    OptionalAttr<Kron_PairFunction>:$inner, OptionalAttr<F64Attr>:$exponent,
    DefaultValuedAttr<Kron_PairReduction, "PairReduction::Sum">:$reduction,
    DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_lhs,
    DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_rhs);

def Kron_PairwiseOp : Kron_PairOp<"pairwise"> {
  let summary = "function of all pairs of rows: distances, kernels";
  let description = [{
    ```
    Y[l, m, n] = epilogue(reduce_k inner(A[l, m, k], B[l, n, k]))
    ```

    with a sum or a maximum (`reduce(max)`) over `k`. The function `inner` of an
    element `a` of `A` and `b` of `B` is one of

    - `dot`: `a * b`
    - `abs_diff`: `|a - b|`
    - `square_diff`: `(a - b) * (a - b)`
    - `pow_diff(p)`: `|a - b|` to the power of `p`
    - `not_equal`: 0 where `a - b` is 0, NaN where it is NaN, else 1

    or what the region `inner` yields for `a` and `b`. The region `epilogue` maps
    the reduced value to the result; without it they are the same. Both regions
    take the hyper-parameters (`params`) behind their own arguments. What changes
    with the batch is an array along it, all else a scalar.

    Everything is computed in the accumulation type of the elements (f32 for f16
    and bf16) and rounded once. Sums may be made in any order. Differences are
    computed as such, or sums of squares as `|a|^2 + |b|^2 - 2 a b` where that is
    as exact (GPUs, `products` of the plan): equal rows have a distance of exactly
    0, and sums of squares are never negative. A NaN in a row of `A` (`B`) makes that row
    (column) of the reduced values NaN, sums and maxima alike, and no other. An
    empty sum is 0; an empty maximum is 0 for the functions of a difference,
    which are never negative, and -infinity for others.

    Powers with an exponent that is a multiple of 1/2, up to 8, are made of
    multiplications and square roots. Other exponents are rounded to the
    accumulation type; their powers are within 4 + p units in the last place of
    it; on a GPU those of f32 within 4 p |log2 |a - b|| more.

    Shapes:

    - `A` is `[batch..., M, K]`, or `[batch..., K, M]` when used as `T` or `C`
    - `B` is `[batch..., N, K]`, or `[batch..., K, N]` when used as `T` or `C`
    - `Y` is `[batch..., M, N]`
    - hyper-parameters that are arrays are `[batch...]`

    `Y` may not alias anything that is read.

    Where `A` and `B` are the same value, used alike, and `inner` is the same for
    `(a, b)` and `(b, a)`, as functions with names are, one half of `Y` is computed
    and copied to the other (`symmetric` of the plan). Of a region that is found
    out operation by operation, from the difference, the sum, the product or the
    extremum of `a` and `b` on.

    On a CPU results stay in registers while K passes by, and the epilogue is
    applied to them there (`plan`, `--convert-pairwise-to-vector`), and so they do
    on a GPU (`--kron-tile`). What has no code of its own runs as linalg, with a
    remark of category `kron-fallback`.

    Constraints:

    1. Either `inner` is one of the functions above or there is a region `inner`,
       not both. `pow_diff` has an exponent, positive and finite, and the others
       have none.
    2. All of `A`, `B` and `Y` share one element type; hyper-parameters have its
       accumulation type.
    3. `A`, `B` and `Y` have rank 2 at least, and `A` and `B` the same `K`.
    4. `Y` has the `M` of `A` and the `N` of `B`.
    5. The batches of `A`, `B` and the hyper-parameters broadcast to that of `Y`
       as in NumPy (aligned at the right; a size that the type says is 1 stretches,
       an open one never does).
    6. `inner` takes two values and `epilogue` one, and each then one for every
       hyper-parameter, and yields one: all of the accumulation type.
    7. Regions hold elementwise operations of `arith` and `math` on scalars, and
       constants.

    Example: the Gaussian kernel `exp(-g * |x - y|^2)`, where `g` changes with
    the batch.

    ```mlir
    %k = kron.pairwise square_diff
           ins(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>)
           params(%g : tensor<16xf32>) outs(%init : tensor<16x?x?xf32>)
           epilogue {
           ^bb0(%v: f32, %gamma: f32):
             %scaled = arith.mulf %v, %gamma : f32
             %negated = arith.negf %scaled : f32
             %r = math.exp %negated : f32
             kron.pairwise_yield %r : f32
           } -> tensor<16x?x?xf32>
    ```
  }];
  let hasCanonicalizer = 1;
  let arguments = !con(
    (ins Kron_FloatArray:$lhs, Kron_FloatArray:$rhs,
         Variadic<Kron_PairParameter>:$params, Kron_FloatArray:$init),
    pairFunction, (ins OptionalAttr<Kron_PairPlan>:$plan));
  let assemblyFormat = [{
    ($inner^)? (`(` $exponent^ `)`)? (`reduce` `(` $reduction^ `)`)?
    `ins` `(` custom<TransposedOperand>($lhs, $trans_lhs) `,`
    custom<TransposedOperand>($rhs, $trans_rhs) `:` type($lhs) `,` type($rhs) `)`
    (`params` `(` $params^ `:` type($params) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`inner` $inner_body^)? (`epilogue` $epilogue^)?
    attr-dict (`->` type($results)^)?
  }];
}

def Kron_PairwiseApplyOp : Kron_PairOp<"pairwise_apply", [
    AttrSizedOperandSegments, Kron_SingleOperand<0, "the left operand">,
    Kron_SingleOperand<1, "the right operand">,
    Kron_SingleOperand<2, "the values">, Kron_SingleOperand<5, "the outs">]> {
  let summary = "a matrix of functions of pairs times vectors, without the matrix";
  let description = [{
    ```
    Y[l, m, c] = reduce_n F[l, m, n] * V[l, n, c]
    F[l, m, n] = epilogue(reduce_k inner(A[l, m, k], B[l, n, k]))
    ```

    where `F` is what `kron.pairwise` computes, by the same keywords and regions,
    before it is rounded, and is in memory for some columns at a time only. What
    is reduced along `N` (`accumulate`) are the products `t[n]` of `F` and `V`:

    - `sum`: their sum, which is the product `F V`
    - `max`: the largest
    - `logsumexp`: the logarithm of the sum of `exp(t[n])`, computed as
      `r + log(sum_n exp(t[n] - r))` with the largest `t` so far as `r`, so that
      no exponential of a finite `t` overflows

    With directions (`along`), `F` is the derivative along them, as
    `kron.pairwise_tangent` computes it; what is reduced are sums then.

    Everything is computed in the accumulation type of the elements (f32 for f16
    and bf16) and rounded once. Sums may be made in any order. A NaN in a row of
    `A` makes that row of the result NaN, one in a row of `B` all of its batch,
    one in a column of `V` that column: sums, maxima and logarithms alike. An
    empty sum is 0; an empty maximum, and the logarithm of an empty sum,
    -infinity. A term of +infinity makes the logarithm that, one of -infinity adds
    nothing to it.

    Shapes:

    - `A` is `[batch..., M, K]`, or `[batch..., K, M]` when used as `T` or `C`
    - `B` is `[batch..., N, K]`, or `[batch..., K, N]` when used as `T` or `C`
    - `V` is `[batch..., N, C]`, or `[batch..., C, N]` when used as `T` or `C`
    - `Y` is `[batch..., M, C]`
    - hyper-parameters that are arrays are `[batch...]`

    `Y` may not alias anything that is read.

    On a CPU `F` is never in memory but for a block that stays in cache (`plan`,
    `--convert-pairwise-to-vector`), and on a GPU in registers only
    (`--kron-tile`). With directions, that holds on a CPU for sums along K in f32
    and f64; others run the lowering to linalg, with a remark of category
    `kron-fallback`.

    Constraints:

    1. Either `inner` is a function of `kron.pairwise` or there is a region
       `inner`, not both. `pow_diff` has an exponent, positive and finite, and
       the others have none.
    2. All of `A`, `B`, `V` and `Y` share one element type; hyper-parameters have
       its accumulation type.
    3. `A`, `B`, `V` and `Y` have rank 2 at least, `A` and `B` the same `K`, and
       `B` and `V` the same `N`.
    4. `Y` has the `M` of `A` and the `C` of `V`.
    5. The batches of `A`, `B`, `V` and the hyper-parameters broadcast to that of
       `Y` as in `kron.pairwise`.
    6. `inner` takes two values and `epilogue` one, and each then one for every
       hyper-parameter, and yields one: all of the accumulation type.
    7. Regions hold elementwise operations of `arith` and `math` on scalars, and
       constants.
    8. Directions are those of `kron.pairwise_tangent`, of a function with
       derivatives, and only `sum` goes with them.

    Example: the product with a Gaussian kernel matrix.

    ```mlir
    %y = kron.pairwise_apply square_diff
           ins(%a, %b : tensor<?x3xf32>, tensor<?x3xf32>)
           values(%v : tensor<?x16xf32>) params(%g : f32)
           outs(%init : tensor<?x16xf32>)
           epilogue {
           ^bb0(%s: f32, %gamma: f32):
             %scaled = arith.mulf %s, %gamma : f32
             %negated = arith.negf %scaled : f32
             %r = math.exp %negated : f32
             kron.pairwise_yield %r : f32
           } -> tensor<?x16xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_FloatArray:$lhs, Kron_FloatArray:$rhs, Kron_FloatArray:$values,
         Variadic<Kron_PairParameter>:$params,
         Variadic<Kron_PairParameter>:$directions, Kron_FloatArray:$init),
    pairFunction,
    (ins DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_values,
         DefaultValuedAttr<Kron_PairAccumulation, "PairAccumulation::Sum">:$accumulation,
         OptionalAttr<Kron_PairPlan>:$plan));
  let assemblyFormat = [{
    ($inner^)? (`(` $exponent^ `)`)? (`reduce` `(` $reduction^ `)`)?
    (`accumulate` `(` $accumulation^ `)`)?
    `ins` `(` custom<TransposedOperand>($lhs, $trans_lhs) `,`
    custom<TransposedOperand>($rhs, $trans_rhs) `:` type($lhs) `,` type($rhs) `)`
    `values` `(` custom<TransposedOperand>($values, $trans_values) `:` type($values) `)`
    (`params` `(` $params^ `:` type($params) `)`)?
    (`along` `(` $directions^ `:` type($directions) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`inner` $inner_body^)? (`epilogue` $epilogue^)?
    attr-dict (`->` type($results)^)?
  }];
}

def Kron_PairwiseTangentOp
    : Kron_PairOp<"pairwise_tangent", [
        AttrSizedOperandSegments, Kron_SingleOperand<0, "the left operand">,
        Kron_SingleOperand<1, "the right operand">,
        Kron_SingleOperand<4, "the outs">]> {
  let summary = "derivative of kron.pairwise along a direction";
  let description = [{
    ```
    Y[l, m, n] = d/dt epilogue(reduce_k inner(A + t DA, B + t DB; p + t DP))
    ```

    at `t = 0`: what `kron.pairwise` changes by when its operands move along
    directions (`along`), one for `A`, one for `B` and one for every
    hyper-parameter, in this order; what does not move has a direction of zeros.

    Regions are differentiated operation by operation, and so are the functions
    with names. Where there is no derivative, at 0, it is taken to be finite: that
    of `|x|` is 0 there (`sgn(0) = 0`), and so are those of square roots and powers
    that would be infinite. Therefore equal rows contribute nothing to the
    derivatives of distances. A maximum along `K` has the derivatives of all
    elements that equal it, added up; `maximumf` and `minimumf` of equal values
    have the mean. `not_equal` has the derivative 0, but where it is NaN. All of
    this holds for second derivatives, too.

    Everything is computed in the accumulation type of the elements (f32 for f16
    and bf16) and rounded once. Sums may be made in any order.

    On a CPU derivatives of sums in f32 and f64 are vector code (`plan`,
    `--convert-pairwise-to-vector`). All others, and a GPU, run the lowering to
    linalg, with a remark of category `kron-fallback`.

    Shapes: those of `kron.pairwise`; directions have the shapes of what they are
    directions of, but for the batch. `Y` may not alias anything that is read.

    Constraints:

    1. Either `inner` is a function of `kron.pairwise` or there is a region
       `inner`, not both. `pow_diff` has an exponent, positive and finite, and
       the others have none.
    2. All of `A`, `B`, their directions and `Y` share one element type;
       hyper-parameters and their directions have its accumulation type.
    3. `A`, `B`, their directions and `Y` have rank 2 at least, and all that have
       a `K` the same one.
    4. `Y` and the directions have the `M` of `A` and the `N` of `B`.
    5. The batches of all operands broadcast to that of `Y` as in `kron.pairwise`.
    6. `inner` takes two values and `epilogue` one, and each then one for every
       hyper-parameter, and yields one: all of the accumulation type.
    7. Regions hold elementwise operations of `arith` and `math` on scalars, and
       constants.
    8. There are directions for `A`, `B` and each hyper-parameter, arrays for the
       first two. Operations that compute floating-point numbers of such are of
       `addf`, `subf`, `mulf`, `divf`, `negf`, `maximumf`, `minimumf`, `maxnumf`,
       `minnumf`, `extf`, `truncf`, `select`, and of `math` `absf`, `exp`, `exp2`,
       `expm1`, `log`, `log2`, `log10`, `log1p`, `sqrt`, `rsqrt`, `cbrt`, `powf`,
       `fma`, `sin`, `cos`, `tan`, `sinh`, `cosh`, `tanh`, `atan`, `erf`, `floor`,
       `ceil`, `round`, `roundeven` and `trunc`.

    Example:

    ```mlir
    %dk = kron.pairwise_tangent square_diff
            ins(%a, %b : tensor<?x3xf32>, tensor<?x3xf32>)
            along(%da, %db : tensor<?x3xf32>, tensor<?x3xf32>)
            outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = !con(
    (ins Kron_FloatArray:$lhs, Kron_FloatArray:$rhs,
         Variadic<Kron_PairParameter>:$params,
         Variadic<Kron_PairParameter>:$directions, Kron_FloatArray:$init),
    pairFunction, (ins OptionalAttr<Kron_PairwisePlanAttr>:$plan));
  let assemblyFormat = [{
    ($inner^)? (`(` $exponent^ `)`)? (`reduce` `(` $reduction^ `)`)?
    `ins` `(` custom<TransposedOperand>($lhs, $trans_lhs) `,`
    custom<TransposedOperand>($rhs, $trans_rhs) `:` type($lhs) `,` type($rhs) `)`
    (`params` `(` $params^ `:` type($params) `)`)?
    (`along` `(` $directions^ `:` type($directions) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`inner` $inner_body^)? (`epilogue` $epilogue^)?
    attr-dict (`->` type($results)^)?
  }];
}

def Kron_PairwiseGradOp
    : Kron_PairOp<"pairwise_grad", [
        AttrSizedOperandSegments, Kron_SingleOperand<0, "the left operand">,
        Kron_SingleOperand<1, "the right operand">,
        Kron_SingleOperand<7, "the outs">]> {
  let summary = "gradient of kron.pairwise by an operand";
  let description = [{
    ```
    D = d/dx sum_{l, m, n} G[l, m, n] * F[l, m, n]
    F[l, m, n] = epilogue(reduce_k inner(A[l, m, k], B[l, n, k]))
    G[l, m, n] = H[l, m, n] * sum_c U[l, m, c] * V[l, n, c]
    ```

    the gradient by `x`, which is `A` (`by(lhs)`), `B` (`by(rhs)`) or
    hyper-parameter `i`, counted from 0 (`by(param, i)`), where `G` is the gradient
    of a loss by the result of `kron.pairwise`. It is an array (`grad`), a product
    of two matrices (`factors`), of which a few columns at a time are in memory,
    or both, element by element:

    - of `Y = kron.pairwise(...)`: `grad(%dY)`
    - of `Y = kron.pairwise_apply(...) values(%V)` with sums: `factors(%dY, %V)`;
      the gradient by `V` is a `kron.pairwise_apply` with `A` and `B` exchanged
    - `D[o, m, k] = sum_n C[o, n] W[m, n] d inner(A[m, k], B[n, k]) / d A[m, k]`,
      for weights of each of a batch of outputs `o`: `grad(%W)` and factors of one
      column, which are ones and `C`

    With directions (`along`), `F` is the derivative along them, as
    `kron.pairwise_tangent` computes it: this gives second derivatives.

    Everything is computed in the accumulation type of the elements (f32 for f16
    and bf16) and rounded once. Sums may be made in any order. What derivatives
    are where a function has none, says `kron.pairwise_tangent`. A NaN in a row of
    `A` makes no more of the gradient by `A` than that row NaN.

    Shapes:

    - `A` and `B` are those of `kron.pairwise`, and directions have their shapes
    - `H` is `[batch..., M, N]`, `U` `[batch..., M, C]`, `V` `[batch..., N, C]`,
      each with the last two exchanged when used as `T` or `C`
    - the result has the last two dimensions of `A`, or of `B`, as these are
      stored; by a hyper-parameter it has none

    The batches of all arrays broadcast together. Over batch dimensions that the
    result lacks, or where its size is 1, the gradient is a sum. The result may
    not alias anything that is read.

    On a CPU first derivatives of sums in f32 and f64 are vector code (`plan`,
    `--convert-pairwise-to-vector`), by operands and by hyper-parameters of the
    epilogue. On a GPU those by operands are a kernel, of all types
    (`--kron-tile`). All others run the lowering to linalg, with a remark of
    category `kron-fallback`.

    Constraints:

    1. Either `inner` is a function of `kron.pairwise` or there is a region
       `inner`, not both. `pow_diff` has an exponent, positive and finite, and
       the others have none.
    2. All arrays share one element type; hyper-parameters, their directions and
       gradients by them have its accumulation type.
    3. Arrays but hyper-parameters have rank 2 at least.
    4. `M`, `N`, `K` and `C` are the same in all arrays.
    5. The batches of all arrays broadcast together (aligned at the right; a size
       that the type says is 1 stretches, an open one never does).
    6. `inner` takes two values and `epilogue` one, and each then one for every
       hyper-parameter, and yields one: all of the accumulation type.
    7. Regions hold elementwise operations of `arith` and `math` on scalars, and
       constants.
    8. Functions have derivatives and directions, if there are any, are those of
       `kron.pairwise_tangent`.
    9. There is a gradient or two factors of it, or both.
    10. `by(param)` has the number of a hyper-parameter, and the others have none.

    Example: the gradient of a Gaussian kernel by its bandwidth, in one number for
    all rows.

    ```mlir
    %dg = kron.pairwise_grad by(param, 0) square_diff
            ins(%a, %b : tensor<?x3xf32>, tensor<?x3xf32>)
            grad(%dk : tensor<?x?xf32>) params(%g : f32)
            outs(%init : tensor<f32>)
            epilogue {
            ^bb0(%s: f32, %gamma: f32):
              %scaled = arith.mulf %s, %gamma : f32
              %negated = arith.negf %scaled : f32
              %r = math.exp %negated : f32
              kron.pairwise_yield %r : f32
            } -> tensor<f32>
    ```
  }];
  let arguments = !con(
    (ins Kron_FloatArray:$lhs, Kron_FloatArray:$rhs,
         Optional<Kron_FloatArray>:$grad, Optional<Kron_FloatArray>:$lhs_factor,
         Optional<Kron_FloatArray>:$rhs_factor,
         Variadic<Kron_PairParameter>:$params,
         Variadic<Kron_PairParameter>:$directions, Kron_FloatArray:$init,
         Kron_PairOperand:$by, OptionalAttr<I64Attr>:$param_index),
    pairFunction,
    (ins DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_grad,
         DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_lhs_factor,
         DefaultValuedAttr<Kron_TransposeAttr, "Transpose::N">:$trans_rhs_factor,
         OptionalAttr<Kron_PairPlan>:$plan));
  let assemblyFormat = [{
    `by` `(` $by (`,` $param_index^)? `)`
    ($inner^)? (`(` $exponent^ `)`)? (`reduce` `(` $reduction^ `)`)?
    `ins` `(` custom<TransposedOperand>($lhs, $trans_lhs) `,`
    custom<TransposedOperand>($rhs, $trans_rhs) `:` type($lhs) `,` type($rhs) `)`
    custom<GradientOfPairs>($grad, type($grad), $trans_grad,
                            $lhs_factor, type($lhs_factor), $trans_lhs_factor,
                            $rhs_factor, type($rhs_factor), $trans_rhs_factor)
    (`params` `(` $params^ `:` type($params) `)`)?
    (`along` `(` $directions^ `:` type($directions) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`inner` $inner_body^)? (`epilogue` $epilogue^)?
    attr-dict (`->` type($results)^)?
  }];
}

def Kron_PairwiseYieldOp : Kron_Op<"pairwise_yield", [
    Pure, Terminator,
    ParentOneOf<["::mlir::kron::PairwiseOp", "::mlir::kron::PairwiseApplyOp",
                 "::mlir::kron::PairwiseTangentOp",
                 "::mlir::kron::PairwiseGradOp"]>]> {
  let summary = "the value of a function of pairs";
  let description = [{
    Ends a region of `kron.pairwise` and of those that take the same regions.

    Example: `kron.pairwise_yield %r : f32`
  }];
  let arguments = (ins AnyTypeOf<[F32, F64, F80]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // KRON_DIALECT_KRON_IR_KRONPAIRWISEOPS_TD
