//===- KronFusedOps.td - What named operations become -------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONFUSEDOPS_TD
#define KRON_DIALECT_KRON_IR_KRONFUSEDOPS_TD

include "kron/Dialect/Kron/IR/KronOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Kron_ModeProductOp : Kron_ComputeOp<"mode_product", [
    Kron_SingleOperand<0, "the input">, Kron_SingleOperand<1, "the factor">,
    Kron_SingleOperand<5, "the outs">]> {
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
    Kron_SingleOperand<0, "the input">, Kron_SingleOperand<3, "the outs">,
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

def Kron_FusedOp : Kron_Op<"fused", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
    SingleBlock]> {
  let summary = "fused region: mode products between one load and one store";
  let description = [{
    The region says what happens to the data between one load from and one
    store to memory. It holds `kron.mode_product`s on tensors (and the
    `tensor.empty` and `tensor.dim` that give their shapes), and at the end
    perhaps a `kron.epilogue`: values that stay on chip, whether the operands of
    the operation are tensors or memrefs. Its block has one argument per operand
    of `ins`, then one for `outs`, of the operand's type as a tensor;
    `kron.yield` gives what is stored.

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
       reshaped; nothing but the last result is used after the next mode
       product; only the last one has alpha, beta or an addend. A
       `kron.epilogue` stands behind all of them and is applied to the last
       one's result, whose Z, if it has one, is then an `addend`.
    4. The yielded value is the result of the epilogue, else that of the last
       mode product, and has the type of the last block argument.
    5. No mode product contracts an axis that another one stretches from 1, and
       where axes are regrouped none stretches any: in a fused region every axis
       has one size before and one behind the factors that contract it.
    6. With `input_permutation`, the first operand is no factor, addend, bias or
       residual, and no `outs` that beta reads.

    Example:

    ```mlir
    %y = kron.fused ins(%x, %f1, %f2 : tensor<9x8x4xf32>, tensor<8x8xf32>, tensor<4x4xf32>)
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
                       OptionalAttr<Kron_PlanAttr>:$plan);
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
    ::llvm::SmallVector<::mlir::kron::ModeProductOp, 4> getModeProducts();
    /// The operand behind `argument`, which is one of the region's.
    ::mlir::Value getOperandOf(::mlir::Value argument);
    /// What is applied to the last one's result, or null.
    ::mlir::kron::EpilogueOp getEpilogue();
    /// Whether the region reads what the destination held before.
    bool readsInit();
  }];
}

def Kron_NumThreadsOp : Kron_Op<"num_threads", [Pure]> {
  let summary = "how many threads run the program";
  let description = [{
    The number of threads that parallel loops of this launch run on, 1 or more:
    where there is a choice of fused regions, threads decide which of them are
    faster. It is the same throughout a launch. On a GPU and in the reference
    lowering it is 1.

    Example: `%threads = kron.num_threads`
  }];
  let results = (outs Index:$threads);
  let assemblyFormat = "attr-dict";
}

def Kron_YieldOp : Kron_Op<"yield", [Pure, Terminator, HasParent<"::mlir::kron::FusedOp">]> {
  let summary = "what a kron.fused stores";
  let description = [{
    Ends the region of a `kron.fused`.

    Example: `kron.yield %2 : tensor<9x8x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // KRON_DIALECT_KRON_IR_KRONFUSEDOPS_TD
