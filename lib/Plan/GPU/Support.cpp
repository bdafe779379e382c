//===- Support.cpp - What GPU kernels take ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/Support.h"
#include "kron/Plan/Arrays.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::isEpilogueAddend(KsmmOp op) {
  return bool(op.getBias()) != bool(op.getResidual()) && !op.getScale() &&
         op.getActivation() == Activation::Identity && getBeta(op).isZero() &&
         !getAlpha(op).isZero() && isa<MemRefType>(op.getInit().getType()) &&
         isa<FloatType>(getElementType(op.getInit()));
}

std::optional<std::string> kron::getGPUUnsupportedReason(Operation *op) {
  auto scaled = dyn_cast<ScaledOpInterface>(op);
  if (!scaled)
    return std::nullopt;
  Type element = getElementType(scaled.getInitValue());
  // Then neither the input nor a factor may be read.
  if (getAlpha(scaled).isZero())
    return "alpha is 0";
  if (hasEmptyArray(scaled))
    return "an array has no elements";
  // --kron-decompose widens those of 8-bit types, and sums by a bias.
  for (Value array : getArrays(scaled))
    if (getElementType(array) != element && !isFloat8(getElementType(array)) &&
        !isa<BiasGradOp>(op))
      return "arrays of different element types have no fused kernel";
  return getDynamicShapeReason(scaled);
}

bool kron::hasOneElementType(FusedOp fused) {
  Type element = getElementType(fused.getInit());
  return getElementType(fused.getInputs().front()) == element &&
         llvm::all_of(fused.getModeProducts(), [&](ModeProductOp product) {
           return getElementType(product.getFactor()) == element;
         });
}

FailureOr<GPUMachine> kron::getGPUMachine(Operation *op, StringRef chip) {
  llvm::Expected<GPUMachine> machine = parseGPUMachine(chip);
  if (!machine)
    return op->emitError("option chip: ")
           << llvm::toString(machine.takeError());
  return *machine;
}
