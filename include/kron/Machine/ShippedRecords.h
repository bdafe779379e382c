//===- ShippedRecords.h - Tuning records of known machines ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_SHIPPEDRECORDS_H
#define KRON_MACHINE_SHIPPEDRECORDS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::kron {

/// The tuning records that are part of kron, the files `lib/Machine/Records`
/// one after another: lines as kron-tune writes them.
llvm::StringRef getShippedRecords();

} // namespace mlir::kron

#endif // KRON_MACHINE_SHIPPEDRECORDS_H
