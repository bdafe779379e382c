//===- Translate.cpp - From the LLVM dialect to LLVM IR ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/Translate.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Verifier.h"

using namespace mlir;

std::unique_ptr<llvm::Module>
kron::translateToLLVMIR(Operation *module, llvm::LLVMContext &context,
                        StringRef name) {
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(
      module, context, name, /*disableVerification=*/true);
  if (!translated)
    return nullptr;
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(*translated, &stream))
    return translated;
  emitError(module->getLoc(), "LLVM refuses the module's translation: ")
      << StringRef(problem).rtrim();
  return nullptr;
}
