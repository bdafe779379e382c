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
#include "kron/Plan/GPU/Reasons.h"

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

  /// The loop over `count` tiles, whose body `build` makes.
  void forTiles(Value count, function_ref<void(Value tile)> build);

  /// Ends it and launches it on `tiles` tiles.
  void launch(Value tiles);

private:
  gpu::GPUFuncOp kernel;
  SmallVector<Value> hostValues;
};

/// Whether a plan could be read, and what it takes of shared memory is there;
/// says of `fused` why it cannot become a kernel of this kind if not.
template <typename Plan>
FailureOr<Plan> getTilePlan(FusedOp fused, StringRef kind,
                            std::variant<Plan, std::string> read,
                            const GPUMachine &machine) {
  auto refuse = [&](const std::string &reason) {
    return fused.emitOpError("cannot become ") << kind << " kernel: " << reason;
  };
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  auto &plan = std::get<Plan>(read);
  if (auto reason =
          getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine))
    return refuse(*reason);
  return std::move(plan);
}

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H
