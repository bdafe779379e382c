//===- VerifyOptions.h - Options of passes that are numbers -----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_VERIFYOPTIONS_H
#define KRON_LIB_MAPPING_TRANSFORMS_VERIFYOPTIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::kron {

/// Whether `option` is a width that vector registers of a CPU have; else an
/// error at `op`.
template <typename Option>
LogicalResult verifyVectorBits(Operation *op, const Option &option) {
  int64_t bits = option.getValue();
  if (bits == 128 || bits == 256 || bits == 512)
    return success();
  return op->emitError("expects ")
         << option.ArgStr << " to be 128, 256 or 512, but got " << bits;
}

/// Whether every one of `options` is a number of bytes; else an error at `op`.
template <typename... Option>
LogicalResult verifyBytes(Operation *op, const Option &...options) {
  auto verify = [&](const auto &option) -> LogicalResult {
    if (option.getValue() >= 0)
      return success();
    return op->emitError("expects ")
           << option.ArgStr << " to be at least 0, but got "
           << option.getValue();
  };
  return success((succeeded(verify(options)) && ...));
}

/// Whether every one of `options` is a rate, by which is divided.
template <typename... Option>
LogicalResult verifyRates(Operation *op, const Option &...options) {
  auto verify = [&](const auto &option) -> LogicalResult {
    if (option.getValue() > 0)
      return success();
    return op->emitError("expects ")
           << option.ArgStr << " to be more than 0, but got "
           << option.getValue();
  };
  return success((succeeded(verify(options)) && ...));
}

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_VERIFYOPTIONS_H
