//===- ContextPool.cpp - Contexts that modules take turns in ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/ContextPool.h"
#include "kron/InitAll.h"
#include "kron/Target/ForkGuard.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::kron;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  // Starting threads costs more than they save on modules of this size.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

ContextPool::ContextPool() = default;
ContextPool::~ContextPool() = default;

std::unique_ptr<MLIRContext> ContextPool::take() {
  ForkGuard guard;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!unused.empty()) {
      std::unique_ptr<MLIRContext> context = std::move(unused.back());
      unused.pop_back();
      return context;
    }
  }
  return createContext();
}

void ContextPool::giveBack(std::unique_ptr<MLIRContext> context) {
  ForkGuard guard;
  std::lock_guard<std::mutex> lock(mutex);
  unused.push_back(std::move(context));
}
