//===- TileKernel.h - Builds a kernel of tile operations ------ -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What families share: the views and scalars of a fused region as arguments of
// a gpu.func, and its launch.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H
#define KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H

#include "kron/CodeGen/FusedOperands.h"
#include "kron/Dialect/Tile/IR/TileOps.h"

namespace mlir::kron {

class TileKernel {
public:
  TileKernel(OpBuilder &hostBuilder, FusedOp fused);

  /// The host's arithmetic, in front of the launch.
  Emitter host;
  /// Where operations of the kernel go: after `begin`.
  OpBuilder builder;
  Location loc;

  /// Descriptions of arrays on the host, for `enter`: those of no gaps have no
  /// strides.
  Value makeView(Value base, ArrayRef<Int> sizes, ArrayRef<Int> strides);
  Value makeView(const StageFactor &factor, int64_t sizeK, int64_t sizeN);

  /// Makes `hostValue` an argument, of which `begin` gives the value.
  unsigned enter(Value hostValue);

  /// Starts a kernel called `name` in `gpuModule` with these arguments.
  void begin(gpu::GPUModuleOp gpuModule, StringRef name,
             tile::KernelAttr shape);
  Value getArgument(unsigned number) { return kernel.getArgument(number); }

  /// Gives a new loop its body and goes to the start of that.
  void beginBody(Operation *loop);

  /// Ends it and launches it on `tiles` tiles.
  void launch(Value tiles);

private:
  gpu::GPUFuncOp kernel;
  SmallVector<Value> hostValues;
};

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H
