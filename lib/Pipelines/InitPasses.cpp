//===- InitPasses.cpp - Register passes by their names ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// In a file apart from InitCompiler.cpp: programs that compile, but take no
// pipelines as text, need no passes by name, and one that is linked with LLVM's
// static archives is smaller without them.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "kron/InitAll.h"
#include "kron/Mapping/Passes.h"
#include "kron/Pipelines/Pipelines.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::kron;

void kron::registerCompilerPasses() {
  registerTransformsPasses();
  registerKronTransformsPasses();
  registerKronMappingPasses();
  registerKronConversionPasses();
  registerKronPipelines();
}
