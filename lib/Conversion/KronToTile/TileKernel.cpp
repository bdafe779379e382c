//===- TileKernel.cpp - Builds a kernel of tile operations ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileKernel.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"

using namespace mlir;
using namespace mlir::kron;

TileKernel::TileKernel(OpBuilder &hostBuilder, FusedOp fused)
    : host(hostBuilder, fused.getLoc(), getElementType(fused.getInit())),
      builder(fused.getContext()), loc(fused.getLoc()) {}

/// What a type says of `numbers`; those that it does not know go to `dynamic`.
static SmallVector<int64_t> split(Emitter &host, ArrayRef<Int> numbers,
                                  SmallVectorImpl<Value> &dynamic) {
  SmallVector<int64_t> known;
  for (Int number : numbers) {
    known.push_back(number.isConstant() ? number.getConstant()
                                        : ShapedType::kDynamic);
    if (!number.isConstant())
      dynamic.push_back(host.materialize(number, 64));
  }
  return known;
}

Value TileKernel::makeView(Value base, ArrayRef<Int> sizes,
                           ArrayRef<Int> strides) {
  SmallVector<Value> dynamicSizes, dynamicStrides;
  SmallVector<int64_t> shape = split(host, sizes, dynamicSizes);
  SmallVector<int64_t> known = split(host, strides, dynamicStrides);
  auto type = tile::ViewType::get(loc.getContext(), shape, host.element, known);
  return tile::ViewOp::create(host.builder, loc, type, base, dynamicSizes,
                              dynamicStrides);
}

Value TileKernel::makeView(const StageFactor &factor, int64_t sizeK,
                           int64_t sizeN) {
  return makeView(factor.base, {sizeK, sizeN},
                  {factor.strideK, factor.resultStride});
}

unsigned TileKernel::enter(Value hostValue) {
  hostValues.push_back(hostValue);
  return hostValues.size() - 1;
}

void TileKernel::begin(gpu::GPUModuleOp gpuModule, StringRef name,
                       tile::KernelAttr shape) {
  builder.setInsertionPointToEnd(gpuModule.getBody());
  auto type = builder.getFunctionType(TypeRange(hostValues), TypeRange());
  kernel = gpu::GPUFuncOp::create(builder, loc,
                                  getFreeKernelName(gpuModule, name), type);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(tile::kKernelAttrName, shape);
  builder.setInsertionPointToStart(&kernel.getBody().front());
}

void TileKernel::beginBody(Operation *loop) {
  // Behind the number are fragments that a tile.for carries.
  SmallVector<Type> types{builder.getIndexType()};
  if (auto tiles = dyn_cast<tile::ForOp>(loop))
    llvm::append_range(types, tiles.getInits().getTypes());
  builder.createBlock(&loop->getRegion(0), {}, types,
                      SmallVector<Location>(types.size(), loc));
  tile::YieldOp::create(builder, loc);
  builder.setInsertionPointToStart(&loop->getRegion(0).front());
}

void TileKernel::forTiles(Value count, function_ref<void(Value tile)> build) {
  auto loop = tile::ForOp::create(builder, loc, count, ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  beginBody(loop);
  build(loop.getTile());
}

void TileKernel::launch(Value tiles) {
  gpu::ReturnOp::create(builder, loc);
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto symbol = SymbolRefAttr::get(
      module.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())});
  tile::LaunchOp::create(host.builder, loc, symbol, tiles, hostValues);
}
