//===- Support.cpp - What the CPU code generator takes ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/CPU/Support.h"
#include "kron/Plan/Arrays.h"

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

std::optional<std::string> kron::getCPUUnsupportedReason(Operation *op) {
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
