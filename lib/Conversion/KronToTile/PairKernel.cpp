//===- PairKernel.cpp - Kernels of functions of pairs ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PairKernel.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

PairKernel::PairKernel(const TileSource &source, PairOpInterface op)
    : source(source),
      kernel(source.builder, op.getLoc(), getElementType(op.getInit())), op(op),
      host(kernel.host), b(kernel.builder), loc(kernel.loc),
      element(host.element), sum(op.getAccumulatorType()),
      arrays(getPairArrays(op)) {}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

unsigned PairKernel::enterArray(const PairArray &array) {
  StepArray found = getFusedArray(host, array.value);
  SmallVector<Int> shape = getArraySizes(host, array.value), viewSizes, strides;
  int64_t batchRank = array.getBatchRank();
  auto batch = ArrayRef(sizes).drop_back(2).take_back(batchRank);
  for (int64_t dim = 0; dim < batchRank; ++dim) {
    // What the type says is 1 stretches.
    bool isStretched = shape[dim].is(1) && !batch[dim].is(1);
    viewSizes.push_back(shape[dim]);
    strides.push_back(isStretched ? Int(0) : found.strides[dim]);
  }
  auto dims = llvm::to_vector<3>(
      llvm::seq<size_t>(batchRank, batchRank + array.core.size()));
  // K is last; M is in front of N, and N of C.
  ArrayRef<PairAxis> axes(array.core);
  if (axes.size() == 2) {
    bool isInOrder =
        axes[1] == PairAxis::K || (axes[0] != PairAxis::K && axes[0] < axes[1]);
    if (!isInOrder)
      std::swap(dims[0], dims[1]);
  }
  for (size_t dim : dims) {
    viewSizes.push_back(shape[dim]);
    strides.push_back(found.strides[dim]);
  }
  return kernel.enter(kernel.makeView(found.base, viewSizes, strides,
                                      getElementType(array.value)));
}

void PairKernel::enterParams() {
  for (Value param : op.getParams())
    params.push_back(isa<MemRefType>(param.getType())
                         ? enterArray({"", param, {}})
                         : kernel.enter(param));
}

void PairKernel::countTiles() {
  for (auto [size, extent] : llvm::zip_equal(sizes, box))
    tiles = host.mul(tiles, host.ceilDiv(size, extent));
}

void PairKernel::divideColumns(Int columns, int64_t by, int64_t ctas) {
  Int all = host.ceilDiv(columns, by);
  Int wanted = host.ceilDiv(ctas, host.max(tiles, 1));
  Int perPart = host.ceilDiv(all, host.max(host.min(all, wanted), 1));
  parts = host.max(host.ceilDiv(all, host.max(perPart, 1)), 1);
  tiles = host.mul(tiles, parts);
  blocks = kernel.enter(host.materialize(perPart, 64));
  box.insert(box.begin(), 1);
}

unsigned PairKernel::addWorkspace() {
  SmallVector<Int> all{parts};
  llvm::append_range(all, sizes);
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  SmallVector<Value> dynamic;
  for (auto [number, size] : llvm::enumerate(all)) {
    bool isKnown = number > 0 && size.isConstant();
    if (number > 0)
      shape.push_back(isKnown ? size.getConstant() : ShapedType::kDynamic);
    if (!isKnown)
      dynamic.push_back(arith::IndexCastOp::create(host.builder, loc,
                                                   host.builder.getIndexType(),
                                                   host.materialize(size, 64)));
  }
  Value array = memref::AllocOp::create(host.builder, loc,
                                        MemRefType::get(shape, sum), dynamic);
  workspace.push_back(array);
  StepArray found = getFusedArray(host, array);
  return kernel.enter(kernel.makeView(found.base, all, found.strides, sum));
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

Value PairKernel::addSums() {
  OpBuilder &builder = host.builder;
  auto type = cast<MemRefType>(op.getInit().getType());
  SmallVector<Value> dynamic;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      dynamic.push_back(
          memref::DimOp::create(builder, loc, op.getInit(), int64_t(dim)));
  Value array = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), sum), dynamic);
  workspace.push_back(array);
  return array;
}

void PairKernel::fill(Value array, double value) {
  Value start =
      arith::ConstantOp::create(host.builder, loc, getScalarAttr(sum, value));
  linalg::FillOp::create(host.builder, loc, start, array);
}

void PairKernel::emitLoop(ArrayRef<Value> inputs, Value output,
                          ArrayRef<AffineMap> maps,
                          ArrayRef<utils::IteratorType> iterators,
                          function_ref<Value(OpBuilder &, ValueRange)> body) {
  linalg::GenericOp::create(host.builder, loc, inputs, output, maps, iterators,
                            [&](OpBuilder &inside, Location, ValueRange args) {
                              linalg::YieldOp::create(inside, loc,
                                                      body(inside, args));
                            });
}

void PairKernel::emitPartLoop(
    ArrayRef<Value> inputs, Value output, bool overParts,
    function_ref<Value(OpBuilder &, ValueRange)> body) {
  int64_t rank = cast<MemRefType>(output.getType()).getRank();
  int64_t loops = rank + (overParts ? 1 : 0);
  AffineMap all = b.getMultiDimIdentityMap(loops);
  AffineMap own = overParts ? all.dropResult(0) : all;
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(cast<MemRefType>(input.getType()).getRank() == loops ? all
                                                                        : own);
  maps.push_back(own);
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  if (overParts)
    iterators.front() = utils::IteratorType::reduction;
  emitLoop(inputs, output, maps, iterators, body);
}

void PairKernel::freeWorkspace() {
  for (Value array : workspace)
    memref::DeallocOp::create(host.builder, loc, array);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

const PairArray &PairKernel::getInit() const {
  return *llvm::find_if(arrays,
                        [](const PairArray &array) { return array.isInit; });
}

void PairKernel::begin(int64_t threads, int64_t ctasPerSM) {
  tileCount = kernel.enter(host.materialize(tiles, 64));
  kernel.begin(source.gpuModule,
               op->getParentOfType<func::FuncOp>().getSymName(),
               tile::KernelAttr::get(b.getContext(), threads, ctasPerSM));
}

void PairKernel::finish(function_ref<void(Value)> buildTile) {
  kernel.forTiles(kernel.getArgument(tileCount), buildTile);
  kernel.launch(tiles);
}

bool kron::liesAlongRows(Value view, Transpose transpose) {
  auto type = cast<tile::ViewType>(view.getType());
  if (type.isContiguous())
    return false;
  ArrayRef<int64_t> strides = type.getStrides().take_back(2);
  if (strides[0] == 1 || strides[1] == 1)
    return strides[1] != 1;
  return transpose != Transpose::N;
}

Value PairKernel::allocateRing(int64_t stages, int64_t rows, int64_t columns,
                               int64_t pitch, Type type) {
  auto layout = tile::LayoutAttr::get(b.getContext(), {pitch, 1}, {});
  auto buffer = tile::BufferType::get({rows, columns}, type, layout);
  return tile::AllocOp::create(b, loc, tile::RingType::get(stages, buffer));
}

SmallVector<Value> PairKernel::loadParams(Value place) {
  return llvm::map_to_vector(params, [&](unsigned number) -> Value {
    Value param = kernel.getArgument(number);
    if (!isa<tile::ViewType>(param.getType()))
      return param;
    return tile::LoadScalarOp::create(b, loc, sum, param, place);
  });
}

void PairKernel::buildFunction(Region &region, unsigned count, size_t params,
                               FunctionBody body) {
  Block &block = region.emplaceBlock();
  SmallVector<Type> types(count + params, sum);
  block.addArguments(types, SmallVector<Location>(types.size(), loc));
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  ValueRange all = block.getArguments();
  Value result = body(inside, all.take_front(count), all.drop_front(count));
  tile::YieldOp::create(inside, loc, result);
}

void PairKernel::buildInner(Region &region, size_t params, bool isSwapped) {
  bool isSum = op.getReduction() == PairReduction::Sum;
  std::optional<PairFunction> inner = op.getInner();
  buildFunction(
      region, 3, params,
      [&](OpBuilder &inside, ValueRange args, ValueRange own) -> Value {
        if (isSum && inner == PairFunction::Dot)
          return math::FmaOp::create(inside, loc, args[0], args[1], args[2]);
        if (isSum && inner == PairFunction::SquareDiff) {
          Value difference =
              arith::SubFOp::create(inside, loc, args[0], args[1]);
          return math::FmaOp::create(inside, loc, difference, difference,
                                     args[2]);
        }
        Value value = emitPair(inside, loc, op, args[isSwapped ? 1 : 0],
                               args[isSwapped ? 0 : 1], own);
        return emitReduction(inside, loc, op, args[2], value);
      });
}

Value PairKernel::mapFragment(Value fragment, ValueRange params,
                              FunctionBody body) {
  auto map = tile::MapOp::create(b, loc, fragment.getType(), fragment, params);
  buildFunction(map.getFunction(), 1, params.size(), body);
  return map.getMapped();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::pair<Value, bool> kron::fitsK(Emitter &host, Int sizeK, int64_t minK,
                                   int64_t maxK) {
  if (sizeK.isConstant()) {
    int64_t size = sizeK.getConstant();
    return {Value(), size >= minK && (!maxK || size <= maxK)};
  }
  Value fits;
  if (minK)
    fits = host.less(minK - 1, sizeK);
  if (maxK) {
    Value isShort = host.less(sizeK, maxK + 1);
    fits = fits ? arith::AndIOp::create(host.builder, host.loc, fits, isShort)
                : isShort;
  }
  return {fits, true};
}
