//===- TileKernel.cpp - Builds a kernel of tile operations ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileKernel.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

TileKernel::TileKernel(OpBuilder &hostBuilder, Location loc, Type results)
    : host(hostBuilder, loc, getStorageType(results)),
      builder(loc.getContext()), loc(loc), results(results) {}

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
                           ArrayRef<Int> strides, Type element) {
  SmallVector<Value> dynamicSizes, dynamicStrides;
  SmallVector<int64_t> shape = split(host, sizes, dynamicSizes);
  SmallVector<int64_t> known = split(host, strides, dynamicStrides);
  auto type = tile::ViewType::get(loc.getContext(), shape,
                                  element ? element : results, known);
  return tile::ViewOp::create(host.builder, loc, type, base, dynamicSizes,
                              dynamicStrides);
}

Value TileKernel::makeView(const StepFactor &factor, int64_t sizeK,
                           int64_t sizeN, Type element) {
  return makeView(factor.base, {sizeK, sizeN},
                  {factor.strideK, factor.resultStride}, element);
}

Value kron::makeWorkspace(Emitter &host, ModuleOp module, Int elements,
                          Type element) {
  Int bytes = host.mul(elements, getElementBytes(element));
  return buildCudaWorkspace(host.builder, host.loc, module,
                            host.materialize(bytes, 64));
}

unsigned TileKernel::enter(Value hostValue) {
  hostValues.push_back(hostValue);
  return hostValues.size() - 1;
}

BoxArguments TileKernel::enterBoxes(FusedOp fused, ArrayRef<int64_t> extents,
                                    const llvm::SmallBitVector &contracted) {
  FusedOperands all = getFusedOperands(host, fused);
  BoxArguments arguments;
  arguments.inputStrides = all.input.strides;
  arguments.initStrides = all.init.strides;
  SmallVector<Int> inputSizes(all.sizes);
  arguments.tiles = 1;
  for (auto [axis, size] : llvm::enumerate(all.sizes)) {
    if (contracted[axis])
      inputSizes[axis] = extents[axis];
    else
      arguments.tiles =
          host.mul(arguments.tiles, host.ceilDiv(size, extents[axis]));
  }
  arguments.input =
      enter(makeView(all.input.base, inputSizes, all.input.strides));
  arguments.init = enter(makeView(all.init.base, all.sizes, all.init.strides));
  enterScales(all, arguments, [&](const StepArray &array) {
    return enter(makeView(array.base, all.sizes, array.strides));
  });
  return arguments;
}

void TileKernel::enterScales(
    const FusedOperands &all, BoxArguments &arguments,
    function_ref<unsigned(const StepArray &)> enterAddend) {
  if (!all.alpha.isOne())
    arguments.alpha = enter(all.alpha.materialize(host.builder, loc));
  if (!all.addend.base)
    return;
  arguments.beta = enter(all.beta.materialize(host.builder, loc));
  arguments.addend = all.addend.base == all.init.base ? arguments.init
                                                      : enterAddend(all.addend);
}

DenseI64ArrayAttr TileKernel::getOrder(ArrayRef<Int> strides,
                                       ArrayRef<int64_t> extents) {
  SmallVector<unsigned> walk = getWalkOrder(strides);
  SmallVector<int64_t> order(walk.rbegin(), walk.rend()), several;
  llvm::copy_if(order, std::back_inserter(several),
                [&](int64_t axis) { return extents[axis] > 1; });
  if (llvm::is_sorted(several))
    return {};
  return builder.getDenseI64ArrayAttr(order);
}

std::pair<unsigned, unsigned>
TileKernel::enterQuantized(QuantizeOp op, Int rows, int64_t length) {
  StepArray bytes = getFusedArray(host, op.getInit());
  StepArray scales = getFusedArray(host, op.getScales());
  unsigned first =
      enter(makeView(bytes.base, {rows, length}, {bytes.strides.front(), 1},
                     getElementType(op.getInit())));
  return {first, enter(makeView(scales.base, rows, scales.strides.front(),
                                getElementType(op.getScales())))};
}

void TileKernel::enterFactor(FusedOp fused, ModeProductOp product,
                             int64_t sizeK, int64_t sizeN,
                             BoxArguments &arguments) {
  arguments.factors[product] =
      enter(makeView(getFusedFactor(host, fused, product).array, sizeK, sizeN));
}

void TileKernel::enterTileCount(unsigned bits, BoxArguments &arguments) {
  Int count = bits == 32 ? host.truncate(arguments.tiles) : arguments.tiles;
  arguments.tileCount = enter(host.materialize(count, bits));
}

void TileKernel::storeBox(const BoxArguments &arguments, Value source,
                          Value boxes, Value tile, ArrayRef<int64_t> along,
                          DenseI64ArrayAttr box, DenseI64ArrayAttr order,
                          int64_t together, int64_t bytes) {
  auto get = [&](std::optional<unsigned> number) {
    return number ? getArgument(*number) : Value();
  };
  tile::StoreOp::create(
      builder, loc, source, boxes, get(arguments.init), tile,
      boxes ? builder.getDenseI64ArrayAttr(along) : DenseI64ArrayAttr(),
      get(arguments.alpha), get(arguments.beta), get(arguments.addend), box,
      order, together, /*rows=*/IntegerAttr(), bytes, get(arguments.bias),
      get(arguments.residual), arguments.activation, arguments.scale,
      /*axes=*/DenseI64ArrayAttr());
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
  // Behind the number are fragments that a tile.for carries, a piece, or the
  // number of tiles of a segment.
  SmallVector<Type> types{builder.getIndexType()};
  if (auto tiles = dyn_cast<tile::ForOp>(loop))
    llvm::append_range(types, tiles.getInits().getTypes());
  if (auto pieces = dyn_cast<tile::ForPiecesOp>(loop))
    types.push_back(pieces.getRing().getType().getBuffer());
  if (auto segments = dyn_cast<tile::ForSegmentsOp>(loop))
    types.push_back(segments.getBlocks().getType());
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
