//===- Translate.h - From the LLVM dialect to LLVM IR -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_TRANSLATE_H
#define KRON_TARGET_TRANSLATE_H

#include "mlir/IR/Operation.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace mlir::kron {

/// LLVM IR of `module`, a builtin.module or gpu.module in dialects whose
/// translations are registered; null after an error, which upstream's translation
/// prints without one where LLVM refuses the result.
std::unique_ptr<llvm::Module> translateToLLVMIR(Operation *module,
                                                llvm::LLVMContext &context,
                                                StringRef name);

} // namespace mlir::kron

#endif // KRON_TARGET_TRANSLATE_H
