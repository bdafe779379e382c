//===- DmmaArrays.h - What DMMA kernels work on -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_GPU_DMMAARRAYS_H
#define KRON_LIB_CODEGEN_GPU_DMMAARRAYS_H

#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/ScalarOps.h"
#include "kron/CodeGen/GPU/TileWalk.h"

namespace mlir::kron {

/// Where a tile starts in every array.
struct DmmaPlace {
  Positions starts;
  Value input, output, addend;
};

/// The arrays and scalars of a fused region, on the host and in a kernel.
class DmmaArrays {
protected:
  DmmaArrays(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused)
      : host(host), fused(fused), element(getElementType(fused.getInit())),
        kernel(host, gpuModule, getKernelBaseName(fused), element),
        ops(kernel, element) {}

  void enterArrays();
  /// Where all arrays have what is at `starts`.
  DmmaPlace getPlaceAt(Positions starts);

  Emitter &host;
  FusedOp fused;
  Type element;
  KernelBuilder kernel;
  ScalarOps ops;
  FusedOperands operands;

  // Inside of the kernel.
  SmallVector<Int> sizes;
  StageArray input, output, addend;
  KernelScale alpha, beta;
};

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_GPU_DMMAARRAYS_H
