//===- InterfaceInfo.h - What the manifest says of arguments ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The checks of a public signature and the record (`kron.args`) that
// --kron-lower-interface leaves on a function for lib/Target.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_INTERFACE_INTERFACEINFO_H
#define KRON_LIB_CONVERSION_INTERFACE_INTERFACEINFO_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace mlir::kron {

inline constexpr llvm::StringLiteral kNameAttrName = "kron.name";
inline constexpr llvm::StringLiteral kResultAttrName = "kron.result";
inline constexpr llvm::StringLiteral kArgsAttrName = "kron.args";

/// What an argument of a public function should be instead of `type`; empty if
/// `type` will do.
std::string getArgumentProblem(Type type);

/// Sets `kron.args` on the lowered `func`, whose last `numOuts` arguments stand
/// for results: per argument a dictionary of `name`,
/// `type` (with the sizes that the function's operations require where the
/// argument's own type leaves them open), `access` ("read", "write",
/// "readwrite") and `symbols` (dimensions with the same one must be equal; -1:
/// none). Pairs of values in `sameShapes` have equal dimensions, which
/// operations may not say any more.
void recordInterface(func::FuncOp func, ArrayRef<StringAttr> names,
                     unsigned numOuts,
                     ArrayRef<std::pair<Value, Value>> sameShapes);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_INTERFACE_INTERFACEINFO_H
