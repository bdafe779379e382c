//===- KronOpBase.td - Types and base classes of operations *- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONOPBASE_TD
#define KRON_DIALECT_KRON_IR_KRONOPBASE_TD

include "kron/Dialect/Kron/IR/KronAttrs.td"
include "kron/Dialect/Kron/IR/KronDialect.td"
include "kron/Dialect/Kron/IR/KronInterfaces.td"
include "kron/Dialect/Kron/IR/SingleOperand.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
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
    OptionalAttr<Kron_PlanAttr>:$plan);

/// Input, factors with their op(), destination: kron.mkm, kron.kmm, kron.batched.
class Kron_ProductOp<string mnemonic>
    : Kron_ComputeOp<mnemonic, [Kron_SingleOperand<0, "the input">,
                                Kron_SingleOperand<5, "the outs">]> {
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

#endif // KRON_DIALECT_KRON_IR_KRONOPBASE_TD
