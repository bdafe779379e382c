//===- GPURates.cpp - What kernels reach on a GPU ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPURates.h"

using namespace mlir::kron;

static const GPURates kH200;

const GPURates &mlir::kron::getGPURates(const GPUMachine &) { return kH200; }
