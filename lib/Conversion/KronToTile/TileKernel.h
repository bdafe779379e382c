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

#include "Families.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Dialect/Tile/IR/TileOps.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::kron {

/// Numbers of a kernel's arguments, of a fused region whose tiles are boxes.
struct BoxArguments {
  unsigned input = 0, init = 0, tileCount = 0;
  std::optional<unsigned> addend, alpha, beta, bias, residual;
  Activation activation = Activation::Identity;
  TypedAttr scale;
  DenseMap<Operation *, unsigned> factors;
  /// On the host.
  Int tiles = 1;
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
  unsigned enter(const Scale &scale) {
    return enter(scale.materialize(host.builder, loc));
  }
  /// Enters the arrays and scalars of `fused`, whose tiles have `extents`,
  /// whole along `contracted` axes; the number of tiles comes behind the
  /// factors.
  BoxArguments enterBoxes(FusedOp fused, ArrayRef<int64_t> extents,
                          const llvm::SmallBitVector &contracted);
  /// Enters alpha, beta and what is added of `all`, for a result that has been
  /// entered, and the epilogue; `enterArray` enters other arrays than that.
  void enterTargets(const FusedOperands &all, BoxArguments &arguments,
                    function_ref<unsigned(const StepArray &)> enterArray);
  /// Enters what `op` writes, of `rows` rows of `length` elements: bytes and
  /// scales.
  std::pair<unsigned, unsigned> enterQuantized(QuantizeOp op, Int rows,
                                               int64_t length);
  void enterFactor(FusedOp fused, ModeProductOp product, int64_t sizeK,
                   int64_t sizeN, BoxArguments &arguments,
                   Type element = nullptr);
  /// In as many bits.
  void enterTileCount(unsigned bits, BoxArguments &arguments);

  /// Starts a kernel called `name` in `gpuModule` with these arguments.
  void begin(gpu::GPUModuleOp gpuModule, StringRef name,
             tile::KernelAttr shape);
  /// Argument `number`; null if there is none.
  Value getArgument(std::optional<unsigned> number) {
    return number ? Value(kernel.getArgument(*number)) : Value();
  }

  /// The order of axes in which neighbouring threads access neighbouring memory
  /// of a tile of `extents`, null if that is from the outermost to the
  /// innermost. Where an axis of one position is makes no difference.
  DenseI64ArrayAttr getOrder(ArrayRef<Int> strides, ArrayRef<int64_t> extents);
  /// Gives a new loop its body and goes to the start of that.
  void beginBody(Operation *loop);
  /// The loop over `count` tiles, whose body `build` makes.
  void forTiles(Value count, function_ref<void(Value tile)> build);
  /// `buffer` with `shape` positions; itself, if it has these.
  Value resize(Value buffer, ArrayRef<int64_t> shape);
  void barrier() { tile::BarrierOp::create(builder, loc); }
  /// Copies the tile of `sizes` along `axes` of the input that comes `ahead`
  /// turns after `tile` to `slot`, as its segments lie; and puts that of `slot`
  /// in order in `buffer`.
  void copySegments(const BoxArguments &arguments, Value tile, int64_t ahead,
                    Value slot, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> axes);
  void spread(const BoxArguments &arguments, Value slot, Value tile,
              Value buffer, ArrayRef<int64_t> axes);
  /// Stores `source`, a buffer or a fragment of `boxes`, with what is done to
  /// results. Which part of the tile that is, its user says.
  tile::StoreOp store(const BoxArguments &arguments, Value source, Value boxes,
                      Value tile, int64_t bytes);
  /// Quantizes the rows of `source` that are in `tile`, which `threads` share
  /// by `loadBytes`, of which each keeps up to `kept` segments, to arguments
  /// `bytes` and `scales`.
  void quantizeRows(Value source, Value tile, int64_t threads, int64_t kept,
                    int64_t loadBytes, unsigned bytes, unsigned scales,
                    const GPUMachine &machine);

  /// Ends it and launches it on `tiles` tiles.
  void launch(Value tiles);
  void launch(Int tiles) { launch(host.materialize(tiles, 64)); }

private:
  /// Elements of the region's results.
  Type results;
  gpu::GPUFuncOp kernel;
  SmallVector<Value> hostValues;
};

/// Takes room for `elements` of type `element` in the launch's workspace, on
/// the host.
Value makeWorkspace(Emitter &host, ModuleOp module, Int elements, Type element);

/// A buffer that has room for `segments` of `element`, as they lie.
tile::BufferType getSegmentBuffer(const BoxSegments &segments, Type element);

/// Name of the kernels of `fused`: that of its function.
StringRef getKernelBaseName(FusedOp fused);

/// What kernels of a fused region, each of one plan, have.
template <typename Plan> class FusedTiles {
public:
  FusedTiles(const TileSource &source, const Plan &plan)
      : source(source), kernel(source.builder, source.fused),
        fused(source.fused), plan(plan), b(kernel.builder), loc(kernel.loc),
        element(kernel.host.element) {}

protected:
  /// Starts the kernel, which is called like its function.
  void begin(int64_t threads, int64_t cluster = 1, int64_t groups = 1,
             int64_t shares = 1) {
    kernel.begin(source.gpuModule, getKernelBaseName(fused),
                 tile::KernelAttr::get(b.getContext(), threads, plan.ctasPerSM,
                                       cluster, groups, shares));
  }
  /// Ends it with the loop over all tiles.
  void buildLoop(function_ref<void(Value tile)> build) {
    kernel.forTiles(kernel.getArgument(arguments.tileCount), build);
    kernel.launch(arguments.tiles);
  }

  const TileSource &source;
  TileKernel kernel;
  FusedOp fused;
  const Plan &plan;
  OpBuilder &b;
  Location loc;
  Type element;
  BoxArguments arguments;
};

/// What was `read` of a plan, if `getReason` has nothing against it; says at
/// `op` why that cannot become a kernel of its `kind` if not.
template <typename Plan, typename Check>
FailureOr<Plan> takePlan(Operation *op, GPUKernel kind,
                         std::variant<Plan, std::string> read,
                         Check getReason) {
  auto *plan = std::get_if<Plan>(&read);
  std::optional<std::string> reason =
      plan ? getReason(*plan) : std::get<std::string>(read);
  if (!reason)
    return std::move(*plan);
  return op->emitOpError("cannot become a kernel of kind ")
         << stringifyGPUKernel(kind) << ": " << *reason;
}

template <typename Plan> std::optional<std::string> getNoReason(const Plan &) {
  return std::nullopt;
}

/// The same of a plan of a fused region, which takes shared memory that is
/// there.
template <typename Plan, typename Check>
FailureOr<Plan> takeTilePlan(const TileSource &source,
                             std::variant<Plan, std::string> read,
                             Check getReason) {
  return takePlan(source.fused, source.plan.getKernel(), std::move(read),
                  [&](const Plan &plan) {
                    std::optional<std::string> reason = getReason(plan);
                    return reason ? reason
                                  : getSharedMemoryReason(plan.getSharedBytes(),
                                                          plan.ctasPerSM,
                                                          source.machine);
                  });
}

/// Builds the kernel of what was read, by `Tiles`.
template <typename Tiles, typename Plan, typename Check>
LogicalResult buildTiles(const TileSource &source,
                         std::variant<Plan, std::string> read,
                         Check getReason) {
  FailureOr<Plan> plan = takeTilePlan(source, std::move(read), getReason);
  if (failed(plan))
    return failure();
  Tiles(source, *plan).build();
  return success();
}

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_TILEKERNEL_H
