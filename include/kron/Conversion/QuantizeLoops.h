//===- QuantizeLoops.h - kron.quantize as linalg on memrefs -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_CONVERSION_QUANTIZELOOPS_H
#define KRON_CONVERSION_QUANTIZELOOPS_H

#include "mlir/IR/Builders.h"

namespace mlir::kron {

/// The arrays of a kron.quantize, or a block of each of them.
struct QuantizeArrays {
  Value input, init, scales;
  /// Dimension of the input that dimension 0 of the scales runs over.
  unsigned firstBatchDim = 0;
};

/// Emits the reference lowering of kron.quantize on memrefs. `createArray`
/// makes temporary arrays of the shape of the scales.
void emitQuantizeLoops(OpBuilder &builder, Location loc,
                       const QuantizeArrays &arrays,
                       function_ref<Value(Type element)> createArray);

} // namespace mlir::kron

#endif // KRON_CONVERSION_QUANTIZELOOPS_H
