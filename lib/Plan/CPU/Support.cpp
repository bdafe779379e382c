//===- Support.cpp - What the CPU code generator takes ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/Support.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Plan/Arrays.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

static bool hasVectorKernel(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  else if (element.isF16() || element.isBF16() || element.isInteger(32) ||
           element.isInteger(64))
    return true;
  return element.isF32() || element.isF64();
}

/// Whether there is code for `op`, of a region of a function of pairs, on
/// vectors.
static bool hasVectorForm(Operation &op) {
  return op.getName().getDialectNamespace() != "math" ||
         isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::CosOp,
             math::ErfOp, math::ExpOp, math::Exp2Op, math::ExpM1Op,
             math::FloorOp, math::FmaOp, math::LogOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::PowFOp, math::RoundOp,
             math::RoundEvenOp, math::RsqrtOp, math::SinOp, math::SqrtOp,
             math::TanhOp, math::TruncOp>(op);
}

/// What keeps `op`, a derivative, from being vector code.
static std::optional<std::string> getDerivativeReason(PairOpInterface op) {
  if (op.getReduction() == PairReduction::Max)
    return "derivatives of maxima have no vector kernel";
  if (getElementType(op.getLhs()) != op.getAccumulatorType())
    return "derivatives in types of 16 bits have no vector kernel";
  auto grad = dyn_cast<PairwiseGradOp>(op.getOperation());
  if (!grad)
    return std::nullopt;
  if (!op.getDirections().empty())
    return "gradients of derivatives have no vector kernel";
  if (grad.getBy() != PairOperand::Param || op.getInnerBody().empty())
    return std::nullopt;
  if (!op.getInnerBody().getArgument(2 + *grad.getParamIndex()).use_empty())
    return "gradients by hyper-parameters of inner have no vector kernel";
  return std::nullopt;
}

static std::optional<std::string> getUnsupportedReason(PairOpInterface op) {
  bool isDerivative =
      isa<PairwiseGradOp>(op.getOperation()) || !op.getDirections().empty();
  if (isDerivative)
    if (std::optional<std::string> reason = getDerivativeReason(op))
      return reason;
  Type element = getElementType(op.getInit());
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!hasVectorKernel(element)) {
    os << "element type " << element << " has no vector kernel";
    return reason;
  }
  for (Region *region : {&op.getInnerBody(), &op.getEpilogue()})
    for (Operation &inside : region->getOps())
      if (!hasVectorForm(inside)) {
        os << inside.getName() << " has no vector form";
        return reason;
      }
  return std::nullopt;
}

std::optional<std::string> kron::getCPUUnsupportedReason(Operation *op) {
  if (auto pairs = dyn_cast<PairOpInterface>(op))
    return getUnsupportedReason(pairs);
  auto scaled = dyn_cast<ScaledOpInterface>(op);
  if (!scaled)
    return std::nullopt;
  if (hasEmptyArray(scaled))
    return "an array has no elements";
  // The factors too: those of f16 and bf16 may stand between f32 arrays.
  for (Value value : getArrays(scaled)) {
    Type element = getElementType(value);
    // --kron-decompose widens those of 8 bits, but for mode products, which it
    // leaves alone.
    bool isWidened = isFloat8(element) && !isa<ModeProductOp>(op);
    if (!hasVectorKernel(element) && !isWidened) {
      std::string reason = "element type ";
      llvm::raw_string_ostream(reason) << element << " has no vector kernel";
      return reason;
    }
  }
  return getDynamicShapeReason(scaled);
}

std::optional<std::string> kron::getCPUEpilogueReason(FusedOp fused,
                                                      int64_t vectorBits) {
  for (ModeProductOp product : fused.getModeProducts())
    if (std::optional<std::string> reason = getCPUUnsupportedReason(product))
      return reason;
  if (!isa<FloatType>(getElementType(fused.getInit())))
    return "elements are no real floats";
  Activation activation = fused.getEpilogue().getActivation();
  bool isArithmetic =
      activation == Activation::Identity || activation == Activation::Relu;
  if (!isArithmetic && vectorBits <= 128)
    return "its function needs multiply-adds that vectors of 128 bits have not";
  return std::nullopt;
}
