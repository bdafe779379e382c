//===- Remarks.h - Remarks of passes as people read them ------ -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Passes say by remarks what they chose and why. A context drops them unless
// somebody asks for them.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_REMARKS_H
#define KRON_TARGET_REMARKS_H

#include "mlir/Support/LLVM.h"

namespace mlir::kron {

/// What is worth knowing of a compilation: what takes the slow path, fused
/// regions, and the plan of each with what other kernels would have taken.
inline constexpr llvm::StringLiteral kUsualRemarks =
    "kron-(fallback|fuse|gpu|plan)";

/// As long as it lives, remarks of `context` whose whole category matches a
/// regular expression become diagnostics: "kron-plan: kernel mma, ...".
class RemarkPrinter {
public:
  RemarkPrinter(MLIRContext *context, StringRef categories);
  RemarkPrinter(const RemarkPrinter &) = delete;
  ~RemarkPrinter();

private:
  MLIRContext *context;
};

} // namespace mlir::kron

#endif // KRON_TARGET_REMARKS_H
