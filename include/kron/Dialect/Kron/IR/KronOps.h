//===- KronOps.h - Operations of the kron dialect ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The operations, attributes and interfaces that TableGen writes from the .td
// files of this folder. Their meaning is stated there (and in the generated
// reference); this header only brings the declarations together.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_IR_KRONOPS_H
#define KRON_DIALECT_KRON_IR_KRONOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::kron {

/// Two dimensions of two values that must have the same size.
struct DimPair {
  Value first;
  unsigned firstDim;
  Value second;
  unsigned secondDim;
};

/// A dimension of a value and the size that it must have.
struct FixedDim {
  Value value;
  unsigned dim;
  int64_t size;
};

class ModeProductOp;

} // namespace mlir::kron

#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "kron/Dialect/Kron/IR/KronEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kron/Dialect/Kron/IR/KronAttrs.h.inc"

#include "kron/Dialect/Kron/IR/KronInterfaces.h.inc"

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronOps.h.inc"

namespace mlir::kron {

/// The attribute of operations that holds a plan.
inline constexpr llvm::StringLiteral kPlanAttrName = "plan";

/// The plan of `op` for a CPU or a GPU; null if it has none of that kind.
CPUPlanAttr getCPUPlanAttr(Operation *op);
GPUPlanAttr getGPUPlanAttr(Operation *op);

/// How many mode products of a chain each fused region applies, if the plan of
/// `op` says so; else null.
DenseI64ArrayAttr getPlannedRegions(Operation *op);

/// What `plan` (may be null) of an operation says of its fused region `region`,
/// counted in the order of application; null if that is nothing.
Attribute getRegionPlan(Attribute plan, unsigned region);

} // namespace mlir::kron

namespace mlir::kron {

/// The type that products of `element` accumulate in: f32 for f16 and bf16,
/// else the type itself. It is also the type of alpha, beta and scale.
Type getAccumulatorType(Type element);

/// Whether `element` is f8E4M3FN or f8E5M2.
bool isFloat8(Type element);

/// Element type of a kron array (ranked tensor or memref).
Type getElementType(Value array);

/// True if `factor` is a constant identity matrix: applying it changes nothing.
bool isIdentityFactor(Value factor);

/// True if `attr` is the constant 0 (or 1) of its numeric or complex type.
bool isZeroConstant(TypedAttr attr);
bool isOneConstant(TypedAttr attr);

/// Constant `value` as an attribute of `type`, which is an integer, a float or
/// a complex type (`value` is then its real part).
TypedAttr getScalarAttr(Type type, double value);

/// alpha and beta of an operation, resolved: a constant attribute (the default
/// included) or a value, never both.
struct Scale {
  TypedAttr constant;
  Value value;

  bool isZero() const { return constant && isZeroConstant(constant); }
  bool isOne() const { return constant && isOneConstant(constant); }
  /// The scale as a value: `value`, or a constant built at `builder`.
  Value materialize(OpBuilder &builder, Location loc) const;
};
Scale getAlpha(ScaledOpInterface op);
Scale getBeta(ScaledOpInterface op);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_IR_KRONOPS_H
