//===- TileToNVVM.cpp - Kernels of tile operations to NVVM ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTTILETONVVM
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Whether `kernel` multiplies blocks, pieces or steps, computes functions of
/// pairs, sums up over a batch, or quantizes rows, whose elements are converted
/// to those that it computes with.
static bool converts(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<ForBlocksOp, ForPiecesOp, PairsOp, PairsOfRowsOp,
                   ForGradientsOp, ContractPiecesOp, ContractStepOp,
                   ForFibresOp, QuantizeRowsOp, ContractBatchOp, AddPiecesOp>(
                   op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether lanes of `kernel` have numbers: where it multiplies blocks, or moves
/// what they are made of.
static bool usesLanes(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto copy = dyn_cast<CopyOp>(op);
        auto prepare = dyn_cast<PrepareOp>(op);
        return isa<ForBlocksOp, ForPiecesOp, CopyPiecesOp, ForFibresOp,
                   PrefetchOp, tile::QuantizeOp>(op) ||
                       (copy && copy.getFill()) ||
                       (prepare &&
                        isOfBlocks(prepare.getOperand().getType().getAtom()))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The type of elements in shared memory, if `kernel` has some there.
static Type getSharedElement(gpu::GPUFuncOp kernel) {
  Type element;
  kernel.walk([&](Operation *op) {
    if (auto prepare = dyn_cast<PrepareOp>(op))
      element = prepare.getOperand().getType().getElementType();
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      Type memory = alloc.getMemory().getType();
      if (auto ring = dyn_cast<RingType>(memory))
        memory = ring.getBuffer();
      element = cast<BufferType>(memory).getElementType();
    }
  });
  return element;
}

/// Whether `view` is one of bytes that rows become, which nobody computes with.
static bool isOfBytes(BlockArgument view) {
  return llvm::any_of(view.getUsers(), [&](Operation *user) {
    if (auto quantize = dyn_cast<tile::QuantizeOp>(user))
      return quantize.getView() == view;
    auto rows = dyn_cast<QuantizeRowsOp>(user);
    return rows && rows.getBytes() == view;
  });
}

/// What the elements of the views of `kernel` are summed up in; null, with an
/// error, if they are not in the same type.
static Type getSums(LaunchOp launch, gpu::GPUFuncOp kernel, bool isConverted) {
  Type first, sums = isConverted ? Type() : getSharedElement(kernel);
  for (auto [argument, view] :
       llvm::zip_equal(launch.getArgs(), kernel.getArguments())) {
    auto type = dyn_cast<ViewType>(argument.getType());
    if (!type)
      continue;
    if (!argument.getDefiningOp<ViewOp>()) {
      launch.emitOpError("expects views from tile.view");
      return {};
    }
    if (isOfBytes(view))
      continue;
    Type element = type.getElementType();
    first = first ? first : element;
    // Those of 8 bits do not say what they are summed up in.
    if (!sums && isFloat8(element))
      continue;
    sums = sums ? sums : getSumType(element);
    if (!areSummedIn(element, sums)) {
      launch.emitOpError("expects views whose elements are summed up in ")
          << sums << ", but got " << element;
      return {};
    }
  }
  Type part = sums;
  if (auto complex = dyn_cast_or_null<ComplexType>(sums))
    part = complex.getElementType();
  bool isKnown = part && (part.isF32() || part.isF64() ||
                          (part == sums && (part.isSignlessInteger(32) ||
                                            part.isSignlessInteger(64))));
  if (!isKnown)
    launch.emitOpError("expects views of f16, bf16, f32, f64, i32, i64, or "
                       "complex elements of f32 or f64");
  return isKnown ? sums : Type();
}

/// The elements that `kernel` computes with: those of its buffers and operands,
/// which have to be `sums`, or if it has neither those of its views. Null, with
/// an error, if operations have other ones. Where they are converted, that is
/// `sums`.
static Type getElement(gpu::GPUFuncOp kernel, Type sums, bool isConverted) {
  auto getOwn = [&](Type type) {
    return TypeSwitch<Type, Type>(type)
        .Case<BufferType, OperandType, FragmentType>(
            [](auto found) { return found.getElementType(); })
        .Case([](RingType ring) { return ring.getBuffer().getElementType(); })
        .Default([&](Type) { return Type(); });
  };
  Type views;
  bool isMixed = false;
  for (Type type : kernel.getArgumentTypes())
    if (auto view = dyn_cast<ViewType>(type)) {
      isMixed |= views && views != view.getElementType();
      views = view.getElementType();
    }
  Type element = isConverted ? sums : views;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (isa<PairsOp, PairsOfRowsOp, MapOp, AddDerivativesOp>(
            op->getParentOp())) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (isa<tile::YieldOp>(op) || dialect == "arith" || dialect == "math")
        return WalkResult::advance();
      op->emitOpError("expects to be an operation of arith or math, as all of "
                      "a function of pairs");
      return WalkResult::interrupt();
    }
    if (!isa<TileDialect>(op->getDialect()) && !isa<gpu::ReturnOp>(op)) {
      op->emitOpError("expects to be a tile operation, as all of a kernel of "
                      "these");
      return WalkResult::interrupt();
    }
    if (isConverted) {
      for (Type type : op->getResultTypes())
        if (Type own = getOwn(type); own && !areSummedIn(own, sums)) {
          op->emitOpError("expects elements that are summed up in ")
              << sums << ", but got " << type;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    }
    bool isShared = isa<AllocOp, PrepareOp>(op);
    if (isShared)
      element = sums;
    for (Type type : op->getResultTypes()) {
      Type own = getOwn(type);
      bool isView = own == views && !isMixed && !isShared && !isa<LoadOp>(op);
      if (own && own != sums && !isView) {
        op->emitOpError("expects elements of type ")
            << sums << ", for views of " << views << ", but got " << type;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? Type() : element;
}

static constexpr auto kSharedSpace =
    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);

/// Whether kernels of `gpuModule` find the variable that shared memory is.
static bool hasSharedMemory(gpu::GPUModuleOp gpuModule) {
  auto memory = gpuModule.lookupSymbol<LLVM::GlobalOp>(kSharedMemoryName);
  return memory && memory.getAddrSpace() == kSharedSpace;
}

/// Makes `kernel` an llvm.func and starts it at `launch`.
static LogicalResult lowerKernel(OpBuilder &builder, LaunchOp launch,
                                 gpu::GPUFuncOp kernel) {
  bool isConverted = converts(kernel);
  Type sums = getSums(launch, kernel, isConverted);
  Type element = sums ? getElement(kernel, sums, isConverted) : Type();
  if (!element)
    return failure();
  element = getStorageType(element);
  auto gpuModule = kernel->getParentOfType<gpu::GPUModuleOp>();
  builder.setInsertionPoint(launch);
  Emitter host(builder, kernel.getLoc(), element);
  std::string name = kernel.getName().str();
  // The name is for what replaces it.
  kernel->remove();
  KernelBuilder k(host, gpuModule, name, element, /*isFree=*/true);
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  Lowering lowering(k, shape);
  if (usesLanes(kernel))
    lowering.blockLanes = {k.warpId(), k.floorDiv(k.laneId(), 4),
                           k.bitAnd(k.laneId(), 3)};
  bool hasFibres =
      kernel.walk([](ForFibresOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  int64_t groupThreads = lowering.getGroupThreads();
  // All lanes have the same; told so, ptxas keeps matrix instructions in loops
  // over blocks asynchronous.
  if (hasFibres && groupThreads > kWarpgroupThreads)
    lowering.warpgroup =
        Int(k.shuffle(k.materialize(k.floorDiv(lowering.getThreadOfGroup(),
                                               kWarpgroupThreads)),
                      0));
  kernel.walk([&](ForOp loop) {
    lowering.countBits = loop.getTiles().getType().getIntOrFloatBitWidth();
  });
  for (auto [argument, value] :
       llvm::zip_equal(kernel.getArguments(), launch.getArgs()))
    lowering.enter(argument, value);
  lowering.lower(kernel.getBody().front());
  kernel->destroy();
  if (k.getSharedBytes() > 0 && !hasSharedMemory(gpuModule))
    return launch.emitOpError("expects an llvm.mlir.global '")
           << kSharedMemoryName << "' of address space " << kSharedSpace
           << " beside its kernel, which has shared memory";
  Int tiles = launch.getTiles();
  APInt constant;
  if (matchPattern(launch.getTiles(), m_ConstantInt(&constant)))
    tiles = constant.getSExtValue();
  tiles = host.mul(tiles, shape.getShares());
  k.launch({shape.getThreads(), shape.getCtasPerSm(), shape.getCluster(),
            k.getSharedBytes()},
           tiles);
  return success();
}

namespace {

struct ConvertTileToNVVMPass
    : kron::impl::ConvertTileToNVVMBase<ConvertTileToNVVMPass> {
  using ConvertTileToNVVMBase::ConvertTileToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LaunchOp> launches;
    module.walk([&](LaunchOp launch) { launches.push_back(launch); });
    OpBuilder builder(&getContext());
    for (LaunchOp launch : launches) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      if (!kernel) {
        launch.emitOpError("expects a kernel that is launched once");
        return signalPassFailure();
      }
      if (failed(lowerKernel(builder, launch, kernel)))
        return signalPassFailure();
      launch.erase();
    }
    module.walk([](ViewOp view) {
      if (view->use_empty())
        view.erase();
    });
    eraseReadScalars(module);
  }
};

} // namespace
