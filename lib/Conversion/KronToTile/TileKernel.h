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
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::kron {

/// Numbers of a kernel's arguments, of a fused region whose tiles are boxes.
struct BoxArguments {
  unsigned input, init, tileCount;
  std::optional<unsigned> addend, alpha, beta, bias, residual;
  Activation activation = Activation::Identity;
  TypedAttr scale;
  DenseMap<Operation *, unsigned> factors;
  /// On the host.
  Int tiles;
  SmallVector<Int> inputStrides, initStrides;
};

class TileKernel {
public:
  TileKernel(OpBuilder &hostBuilder, Location loc, Type element);
  TileKernel(OpBuilder &hostBuilder, FusedOp fused)
      : TileKernel(hostBuilder, fused.getLoc(),
                   getElementType(fused.getInit())) {}

  /// The host's arithmetic, in front of the launch.
  Emitter host;
  /// Where operations of the kernel go: after `begin`.
  OpBuilder builder;
  Location loc;

  /// Descriptions of arrays on the host, for `enter`: those of no gaps have no
  /// strides. Elements are of `element`, or of the type of the region's
  /// results.
  Value makeView(Value base, ArrayRef<Int> sizes, ArrayRef<Int> strides,
                 Type element = nullptr);
  Value makeView(const StepFactor &factor, int64_t sizeK, int64_t sizeN,
                 Type element = nullptr);

  /// Makes `hostValue` an argument, of which `begin` gives the value.
  unsigned enter(Value hostValue);

  /// Enters the arrays and scalars of `fused`, whose tiles have `extents`,
  /// whole along `contracted` axes; the number of tiles comes behind the
  /// factors.
  BoxArguments enterBoxes(FusedOp fused, ArrayRef<int64_t> extents,
                          const llvm::SmallBitVector &contracted);
  /// Enters alpha, beta and what is added of `all`, for a result that has been
  /// entered; `enterAddend` enters an addend that is another array.
  void enterScales(const FusedOperands &all, BoxArguments &arguments,
                   function_ref<unsigned(const StepArray &)> enterAddend);
  /// Enters what `op` writes, of `rows` rows of `length` elements: bytes and
  /// scales.
  std::pair<unsigned, unsigned> enterQuantized(QuantizeOp op, Int rows,
                                               int64_t length);
  void enterFactor(FusedOp fused, ModeProductOp product, int64_t sizeK,
                   int64_t sizeN, BoxArguments &arguments);
  /// In as many bits.
  void enterTileCount(unsigned bits, BoxArguments &arguments);

  /// Starts a kernel called `name` in `gpuModule` with these arguments.
  void begin(gpu::GPUModuleOp gpuModule, StringRef name,
             tile::KernelAttr shape);
  Value getArgument(unsigned number) { return kernel.getArgument(number); }

  /// The order of axes in which neighbouring threads access neighbouring memory
  /// of a tile of `extents`, null if that is from the outermost to the
  /// innermost. Where an axis of one position is makes no difference.
  DenseI64ArrayAttr getOrder(ArrayRef<Int> strides, ArrayRef<int64_t> extents);

  /// Gives a new loop its body and goes to the start of that.
  void beginBody(Operation *loop);

  /// The loop over `count` tiles, whose body `build` makes.
  void forTiles(Value count, function_ref<void(Value tile)> build);

  /// Stores a fragment's boxes `along` axes of a tile of the sizes `box`, or a
  /// buffer, of which `boxes` and `box` are null.
  void storeBox(const BoxArguments &arguments, Value source, Value boxes,
                Value tile, ArrayRef<int64_t> along, DenseI64ArrayAttr box,
                DenseI64ArrayAttr order, int64_t together, int64_t bytes);

  /// Ends it and launches it on `tiles` tiles.
  void launch(Value tiles);

private:
  /// Elements of the region's results.
  Type results;
  gpu::GPUFuncOp kernel;
  SmallVector<Value> hostValues;
};

/// Takes room for `elements` of type `element` in the launch's workspace, on
/// the host.
Value makeWorkspace(Emitter &host, ModuleOp module, Int elements, Type element);

/// Whether a plan could be read, `getReason` has nothing against it, and what
/// it takes of shared memory is there; says of `fused` why it cannot become a
/// kernel of this kind if not.
template <typename Plan, typename Check>
FailureOr<Plan> getTilePlan(FusedOp fused, StringRef kind,
                            std::variant<Plan, std::string> read,
                            const GPUMachine &machine, Check getReason) {
  auto refuse = [&](const std::string &reason) {
    return fused.emitOpError("cannot become ") << kind << " kernel: " << reason;
  };
  if (auto *reason = std::get_if<std::string>(&read))
    return refuse(*reason);
  auto &plan = std::get<Plan>(read);
  if (std::optional<std::string> reason = getReason(plan))
    return refuse(*reason);
  if (auto reason =
          getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine))
    return refuse(*reason);
  return std::move(plan);
}

template <typename Plan>
FailureOr<Plan> getTilePlan(FusedOp fused, StringRef kind,
                            std::variant<Plan, std::string> read,
                            const GPUMachine &machine) {
  return getTilePlan(
      fused, kind, std::move(read), machine,
      [](const Plan &) -> std::optional<std::string> { return std::nullopt; });
}

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H
