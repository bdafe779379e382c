//===- TileKernel.cpp - Builds a kernel of tile operations ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TileKernel.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Dialect/Tile/IR/TileRows.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::kron;

StringRef kron::getKernelBaseName(FusedOp fused) {
  if (auto function = fused->getParentOfType<FunctionOpInterface>())
    return function.getName();
  return "kron";
}

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
  enterTargets(all, arguments, [&](const StepArray &array) {
    return enter(makeView(array.base, all.sizes, array.strides));
  });
  return arguments;
}

void TileKernel::enterTargets(
    const FusedOperands &all, BoxArguments &arguments,
    function_ref<unsigned(const StepArray &)> enterArray) {
  if (!all.alpha.isOne())
    arguments.alpha = enter(all.alpha);
  if (all.addend.base) {
    arguments.beta = enter(all.beta);
    arguments.addend = all.addend.base == all.init.base
                           ? arguments.init
                           : enterArray(all.addend);
  }
  if (!all.epilogue)
    return;
  if (all.epilogue->bias.base)
    arguments.bias = enterArray(all.epilogue->bias);
  if (all.epilogue->residual.base)
    arguments.residual = enterArray(all.epilogue->residual);
  arguments.activation = all.epilogue->activation;
  arguments.scale = all.epilogue->scale;
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
                             BoxArguments &arguments, Type element) {
  arguments.factors[product] = enter(makeView(
      getFusedFactor(host, fused, product).array, sizeK, sizeN, element));
}

void TileKernel::enterTileCount(unsigned bits, BoxArguments &arguments) {
  Int count = bits == 32 ? host.truncate(arguments.tiles) : arguments.tiles;
  arguments.tileCount = enter(host.materialize(count, bits));
}

Value TileKernel::resize(Value buffer, ArrayRef<int64_t> shape) {
  if (cast<tile::BufferType>(buffer.getType()).getShape() == shape)
    return buffer;
  return tile::ResizeOp::create(builder, loc, buffer, shape);
}

void TileKernel::copySegments(const BoxArguments &arguments, Value tile,
                              int64_t ahead, Value slot,
                              ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes) {
  auto op =
      tile::CopyOp::create(builder, loc, getArgument(arguments.input), tile,
                           ahead, slot, /*bytes=*/kSegmentChunkBytes);
  op.setFill(true);
  op.setAxes(axes);
  op.setBox(sizes);
}

void TileKernel::spread(const BoxArguments &arguments, Value slot, Value tile,
                        Value buffer, ArrayRef<int64_t> axes) {
  tile::SpreadOp::create(builder, loc, slot, getArgument(arguments.input), tile,
                         buffer, builder.getDenseI64ArrayAttr(axes));
}

tile::BufferType kron::getSegmentBuffer(const BoxSegments &segments,
                                        Type element) {
  return tile::BufferType::get({segments.count, segments.room}, element);
}

tile::StoreOp TileKernel::store(const BoxArguments &arguments, Value source,
                                Value boxes, Value tile, int64_t bytes) {
  auto op = tile::StoreOp::create(
      builder, loc, source, boxes, getArgument(arguments.init), tile,
      getArgument(arguments.alpha), getArgument(arguments.beta),
      getArgument(arguments.addend), getArgument(arguments.bias),
      getArgument(arguments.residual), bytes);
  op.setActivation(arguments.activation);
  op.setScaleAttr(arguments.scale);
  return op;
}

void TileKernel::quantizeRows(Value source, Value tile, int64_t threads,
                              int64_t kept, int64_t loadBytes, unsigned bytes,
                              unsigned scales, const GPUMachine &machine) {
  OpBuilder &b = builder;
  Value to = getArgument(bytes);
  auto [shape, element] = tile::SharedRows::getShapeAndElement(source);
  auto shared = tile::SharedRows::get(shape.back(), element, threads);
  auto type = tile::FragmentType::get(
      {shared.getSegmentsOfThread(), shared.perSegment}, element);
  Value rows = tile::LoadRowsOp::create(b, loc, type, source, tile, threads,
                                        kept, loadBytes);
  Value largest = tile::ReduceRowsOp::create(
      b, loc, tile::FragmentType::get({1, 1}, b.getF32Type()), rows);
  // Chips from compute capability 8.9 on round to 8-bit floats themselves.
  bool isNative =
      isFloat8(cast<tile::ViewType>(to.getType()).getElementType()) &&
      machine.computeCapability >= 89;
  tile::QuantizeRowsOp::create(b, loc, rows, largest, to, tile,
                               getArgument(scales), isNative);
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
