//===- TileToNVVM.cpp - Kernels of tile operations to NVVM ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/Conversion/Passes.h"
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

/// Whether `kernel` multiplies blocks, whose elements are converted to those
/// that it computes with.
static bool converts(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<ForBlocksOp, ForPiecesOp>(op) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The elements of the kernel's views, which are all the same or, if it
/// converts them, those that it computes with; null, with an error, if they are
/// not.
static Type getElement(LaunchOp launch, bool isConverted) {
  Type element;
  for (Value argument : launch.getArgs()) {
    auto type = dyn_cast<ViewType>(argument.getType());
    if (!type)
      continue;
    if (!argument.getDefiningOp<ViewOp>()) {
      launch.emitOpError("expects views from tile.view");
      return {};
    }
    if (element && isConverted &&
        getSumType(type.getElementType()) == getSumType(element)) {
      element = getSumType(element);
      continue;
    }
    if (element && element != type.getElementType()) {
      launch.emitOpError("expects views of one element type, but got ")
          << element << " and " << type.getElementType();
      return {};
    }
    element = type.getElementType();
  }
  bool isKnown =
      element &&
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (!isKnown)
    launch.emitOpError("expects views of f16, bf16, f32 or f64");
  if (!isKnown)
    return Type();
  return isConverted ? getSumType(element) : element;
}

/// Whether every operation of `kernel` has a lowering, and what it holds is of
/// type `element`; else an error.
static LogicalResult verifyKernel(gpu::GPUFuncOp kernel, Type element,
                                  bool isConverted) {
  auto getElement = [&](Type type) {
    return TypeSwitch<Type, Type>(type)
        .Case<BufferType, OperandType, FragmentType>(
            [](auto found) { return found.getElementType(); })
        .Case([](RingType ring) { return ring.getBuffer().getElementType(); })
        .Default([&](Type) { return element; });
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (!isa<TileDialect>(op->getDialect()) && !isa<gpu::ReturnOp>(op)) {
      op->emitOpError("expects to be a tile operation, as all of a kernel of "
                      "these");
      return WalkResult::interrupt();
    }
    if (getSumType(element) != element &&
        isa<AllocOp, PrepareOp, ForBoxesOp>(op)) {
      op->emitOpError("expects elements of f32 or f64, but the views have ")
          << element;
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes())
      if (getElement(type) != element && !isa<DotOp>(op) &&
          !(isConverted && getSumType(getElement(type)) == element)) {
        op->emitOpError("expects elements of type ")
            << element << ", as the views have, but got " << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Makes `kernel` an llvm.func and starts it at `launch`.
static LogicalResult lowerKernel(OpBuilder &builder, LaunchOp launch,
                                 gpu::GPUFuncOp kernel) {
  bool isConverted = converts(kernel);
  Type element = getElement(launch, isConverted);
  if (!element || failed(verifyKernel(kernel, element, isConverted)))
    return failure();
  auto gpuModule = kernel->getParentOfType<gpu::GPUModuleOp>();
  builder.setInsertionPoint(launch);
  Emitter host(builder, kernel.getLoc(), element);
  std::string name = kernel.getName().str();
  // The name is for what replaces it.
  kernel->remove();
  KernelBuilder k(host, gpuModule, name, element, /*isFree=*/true);
  auto shape = kernel->getAttrOfType<KernelAttr>(kKernelAttrName);
  Lowering lowering(k, shape);
  if (isConverted)
    lowering.blockLanes = {k.warpId(), k.floorDiv(k.laneId(), 4),
                           k.bitAnd(k.laneId(), 3)};
  kernel.walk([&](ForOp loop) {
    lowering.countBits = loop.getTiles().getType().getIntOrFloatBitWidth();
  });
  for (auto [argument, value] :
       llvm::zip_equal(kernel.getArguments(), launch.getArgs()))
    lowering.enter(argument, value);
  lowering.lower(kernel.getBody().front());
  Int tiles = launch.getTiles();
  APInt constant;
  if (matchPattern(launch.getTiles(), m_ConstantInt(&constant)))
    tiles = constant.getSExtValue();
  k.launch({shape.getThreads(), shape.getCtasPerSm(), shape.getCluster(),
            k.getSharedBytes()},
           tiles);
  kernel->destroy();
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
