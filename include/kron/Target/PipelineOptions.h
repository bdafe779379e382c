//===- PipelineOptions.h - Pipelines for a machine --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_TARGET_PIPELINEOPTIONS_H
#define KRON_TARGET_PIPELINEOPTIONS_H

#include "kron/Pipelines/Pipelines.h"
#include "kron/Target/LLVMIR.h"

namespace mlir::kron {

/// Gives `pipeline` what its passes ask about `processor`, and what `options`
/// say of passes.
void setOptions(CPUPipelineOptions &pipeline, const Processor &processor,
                const CodegenOptions &options);

/// The same of a GPU.
void setOptions(GPUPipelineOptions &pipeline, const GPUChip &chip,
                const CodegenOptions &options);

} // namespace mlir::kron

#endif // KRON_TARGET_PIPELINEOPTIONS_H
