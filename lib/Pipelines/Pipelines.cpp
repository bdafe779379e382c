//===- Pipelines.cpp - Pass pipelines -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Pipelines/Pipelines.h"

using namespace mlir;
using namespace mlir::kron;

void kron::populateKronCPUPipeline(OpPassManager &pm,
                                   const CPUPipelineOptions &options) {}

void kron::registerKronPipelines() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "kron-cpu-pipeline",
      "Lower kron operations on tensors and memrefs to the LLVM dialect for the "
      "CPU",
      populateKronCPUPipeline);
}
