//===- GPURates.cpp - What kernels reach on a GPU ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"

using namespace mlir::kron;

static const GPURates kH200;
static const GPUTiles kH200Tiles;

const GPURates &mlir::kron::getGPURates(const GPUMachine &) { return kH200; }

const GPUTiles &mlir::kron::getGPUTiles(const GPUMachine &) {
  return kH200Tiles;
}
