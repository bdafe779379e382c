//===- DmmaArrays.cpp - What DMMA kernels work on -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DmmaArrays.h"

using namespace mlir;
using namespace mlir::kron;

void DmmaArrays::enterArrays() {
  operands = getFusedOperands(host, fused);
  for (Int size : operands.sizes)
    sizes.push_back(kernel.enter(size));
  input = kernel.enter(operands.input);
  output = kernel.enter(operands.init);
  alpha = ops.enter(operands.alpha, operands.alpha.isOne());
  beta = ops.enter(operands.beta, operands.beta.isZero());
  if (beta.value)
    addend = kernel.enter(operands.addend);
}

DmmaPlace DmmaArrays::getPlaceAt(Positions starts) {
  DmmaPlace place;
  place.starts = std::move(starts);
  auto move = [&](const StageArray &array) {
    Int offset = 0;
    for (auto [start, stride] : llvm::zip(place.starts, array.strides))
      offset = kernel.add(offset, kernel.mul(start, stride));
    return kernel.offsetElements(array.base, element, offset);
  };
  place.input = move(input);
  place.output = move(output);
  if (beta.value)
    place.addend = move(addend);
  return place;
}
