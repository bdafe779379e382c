//===- Simt.cpp - The general kernel as tiles -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile is a box of the array that is whole along the contracted axes. It goes
// through
//
//   view -> buffer          as sums, by single elements
//   buffer -> buffer        a step per factor: fibres in shared memory times
//                           the factor, which is there or in global memory; the
//                           two buffers take turns
//   buffer -> view          or the last step's results, from registers
//
// with a barrier between. A launch that loads data directly has no buffers: its
// tiles are boxes of the results, whose elements threads work out one by one,
// from views of data and factor with these axes and K.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Plan/GPU/Reasons.h"
#include "kron/Plan/GPU/SimtPlan.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

/// The kernel of one launch.
class SimtTiles {
public:
  SimtTiles(const TileSource &source, const SimtPlan &plan,
            const SimtLaunch &launch, const FusedOperands &operands)
      : kernel(source.builder, source.fused), fused(source.fused), plan(plan),
        launch(launch), operands(operands), b(kernel.builder), loc(kernel.loc),
        element(getAccumulatorType(getElementType(fused.getInit()))) {}

  void build(gpu::GPUModuleOp gpuModule, const GlobalArray &input,
             const GlobalArray &output, bool isLast);

private:
  void enterArrays(const GlobalArray &input, const GlobalArray &output);
  unsigned enterProduct(Value base, ArrayRef<Int> strides, Int strideN,
                        Int strideK, Type type);
  void enterFactor(const SimtStep &step, ArrayRef<int64_t> after);
  void allocate();
  void prepare();
  void buildTile(Value tile);
  void buildDirect(Value tile);
  void storeFibres(Value sums, tile::ForBoxesOp loop, Value tile);
  void buildStep(unsigned index, Value tile);

  TileKernel kernel;
  FusedOp fused;
  const SimtPlan &plan;
  const SimtLaunch &launch;
  const FusedOperands &operands;
  OpBuilder &b;
  Location loc;
  /// Of buffers: sums.
  Type element;

  BoxArguments arguments;
  SmallVector<Int> sizes;
  int64_t inputBytes = 0, outputBytes = 0;
  DenseI64ArrayAttr inputOrder, outputOrder;
  /// In the kernel: tiles before each step, and factors.
  SmallVector<Value> buffers, factors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void SimtTiles::enterArrays(const GlobalArray &input,
                            const GlobalArray &output) {
  Emitter &host = kernel.host;
  SmallVector<Int> inputSizes;
  for (auto [axis, size] : llvm::enumerate(launch.after)) {
    sizes.push_back(ShapedType::isDynamic(size) ? operands.sizes[axis]
                                                : Int(size));
    int64_t extent = launch.extents.front()[axis];
    inputSizes.push_back(launch.contracted[axis] ? Int(extent) : sizes[axis]);
    if (launch.directLoad || !launch.contracted[axis])
      arguments.tiles =
          host.mul(arguments.tiles, host.ceilDiv(sizes[axis], extent));
  }
  auto enter = [&](const GlobalArray &global, ArrayRef<Int> arraySizes) {
    return kernel.enter(kernel.makeView(global.array.base, arraySizes,
                                        global.array.strides, global.element));
  };
  ArrayRef<Int> strides = input.array.strides;
  if (launch.directLoad)
    arguments.input =
        enterProduct(input.array.base, strides, /*strideN=*/0,
                     strides[launch.steps.front().axis], input.element);
  else
    arguments.input = enter(input, inputSizes);
  arguments.init = enter(output, sizes);
  inputBytes = getElementBytes(input.element);
  outputBytes = getElementBytes(output.element);
  inputOrder = kernel.getOrder(strides, launch.extents.front());
  outputOrder = kernel.getOrder(output.array.strides, launch.extents.back());
}

/// An operand of a product that varies: the axes of its results, with `strideN`
/// along that of the step, and K.
unsigned SimtTiles::enterProduct(Value base, ArrayRef<Int> strides, Int strideN,
                                 Int strideK, Type type) {
  SmallVector<Int> all(sizes), own(strides);
  const SimtStep &step = launch.steps.front();
  own[step.axis] = strideN;
  all.push_back(step.sizeK);
  own.push_back(strideK);
  return kernel.enter(kernel.makeView(base, all, own, type));
}

/// The factor of `step`, whose results are tiles of `after`: K x N, or if it
/// varies the axes of the tile, with N along the step's, and K.
void SimtTiles::enterFactor(const SimtStep &step, ArrayRef<int64_t> after) {
  ModeProductOp product = step.product;
  StepFactor factor = getFusedFactor(kernel.host, fused, product).array;
  Type type = getElementType(product.getFactor());
  if (launch.directLoad) {
    SmallVector<Int> strides(factor.strides);
    strides.resize(sizes.size(), 0);
    arguments.factors[product] = enterProduct(
        factor.base, strides, factor.resultStride, factor.strideK, type);
    return;
  }
  SmallVector<Int> factorSizes{step.sizeK, step.sizeN};
  SmallVector<Int> strides{factor.strideK, factor.resultStride};
  if (step.varies) {
    factorSizes = sizes;
    strides = factor.strides;
    for (unsigned axis : launch.contracted.set_bits())
      factorSizes[axis] = after[axis];
    strides[step.axis] = factor.resultStride;
    factorSizes.push_back(step.sizeK);
    strides.push_back(factor.strideK);
  }
  arguments.factors[product] =
      kernel.enter(kernel.makeView(factor.base, factorSizes, strides, type));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Two buffers that take turns.
void SimtTiles::allocate() {
  for (auto [index, extents] : llvm::enumerate(launch.getBuffers())) {
    SmallVector<int64_t> strides = getBufferStrides(extents);
    tile::LayoutAttr layout;
    if (TileLayout::getDenseStrides(extents) != strides)
      layout = tile::LayoutAttr::get(b.getContext(), strides, {});
    auto type = tile::BufferType::get(extents, element, layout);
    Value reused = index < 2 ? Value() : buffers[index % 2];
    buffers.push_back(reused && reused.getType() == type
                          ? reused
                          : tile::AllocOp::create(b, loc, type, reused));
  }
}

void SimtTiles::prepare() {
  bool isAnyShared = false;
  for (const SimtStep &step : launch.steps) {
    Value factor =
        kernel.getArgument(arguments.factors.at(ModeProductOp(step.product)));
    if (step.isShared) {
      auto type = tile::OperandType::get({step.sizeK, step.getPaddedResults()},
                                         element);
      factor = tile::PrepareOp::create(b, loc, type, factor);
    }
    isAnyShared |= step.isShared;
    factors.push_back(factor);
  }
  if (isAnyShared)
    kernel.barrier();
}

/// Applies factor `index` to what lies in a buffer.
void SimtTiles::buildStep(unsigned index, Value tile) {
  const SimtStep &step = launch.steps[index];
  ModeProductOp product = step.product;
  bool stores = index + 1 == buffers.size();
  auto loop = tile::ForBoxesOp::create(
      b, loc, getFibres(launch, index), step.fibres, /*unrolled=*/3,
      /*excess=*/false, /*repeat=*/false,
      stores ? outputOrder : DenseI64ArrayAttr(), /*warps=*/0, step.getParts());
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  auto type = tile::FragmentType::get({step.fibres, step.block}, element);
  bool isComplex = isa<ComplexType>(element);
  Value sums = tile::MultiplyOp::create(
      b, loc, type, buffers[index], loop.getBoxes(), factors[index],
      step.varies ? tile : Value(), step.axis, kSimtUnrolled,
      isComplex && product.getConjInput(),
      isComplex && product.getConjFactor());
  int64_t along = step.axis;
  if (!stores) {
    tile::ExchangeOp::create(b, loc, sums, buffers[index + 1], loop.getBoxes(),
                             along);
    return;
  }
  storeFibres(sums, loop, tile);
}

/// Stores the last step's `sums` from registers.
void SimtTiles::storeFibres(Value sums, tile::ForBoxesOp loop, Value tile) {
  tile::StoreOp op =
      kernel.store(arguments, sums, loop.getBoxes(), tile, outputBytes);
  op.setAlong(int64_t(launch.steps.back().axis));
  op.setBox(launch.extents.back());
}

/// Applies the only factor to what lies in global memory.
void SimtTiles::buildDirect(Value tile) {
  const SimtStep &step = launch.steps.front();
  ModeProductOp product = step.product;
  auto loop = tile::ForBoxesOp::create(
      b, loc, getFibres(launch, 0), step.fibres, /*unrolled=*/3,
      /*excess=*/false, /*repeat=*/false, outputOrder, /*warps=*/0,
      step.getParts());
  if (step.fibres > 1)
    loop.setAcross(*launch.across);
  loop.setLanes(launch.lanesK);
  if (launch.vectorStore)
    loop.setVectors(step.resultStep);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  auto type = tile::FragmentType::get({step.fibres, step.block}, element);
  bool isComplex = isa<ComplexType>(element);
  Value sums = tile::MultiplyViewsOp::create(
      b, loc, type, kernel.getArgument(arguments.input), loop.getBoxes(),
      factors.front(), tile, step.axis, launch.extents.back(),
      getDirectUnrolled(launch), isComplex && product.getConjInput(),
      isComplex && product.getConjFactor());
  storeFibres(sums, loop, tile);
}

void SimtTiles::buildTile(Value tile) {
  if (launch.directLoad)
    return buildDirect(tile);
  auto copy =
      tile::CopyOp::create(b, loc, kernel.getArgument(arguments.input), tile,
                           /*ahead=*/0, buffers.front(), inputBytes);
  copy.setOrderAttr(inputOrder);
  copy.setTogether(kSimtCopies);
  for (unsigned index = 0; index < launch.steps.size(); ++index) {
    kernel.barrier();
    buildStep(index, tile);
  }
  kernel.barrier();
  if (launch.directStore)
    return;
  tile::StoreOp store =
      kernel.store(arguments, buffers.back(), Value(), tile, outputBytes);
  store.setOrderAttr(outputOrder);
  store.setTogether(kSimtCopies / 2);
  kernel.barrier();
}

void SimtTiles::build(gpu::GPUModuleOp gpuModule, const GlobalArray &input,
                      const GlobalArray &output, bool isLast) {
  enterArrays(input, output);
  for (auto [step, after] :
       llvm::zip(launch.steps, ArrayRef(launch.extents).drop_front()))
    enterFactor(step, after);
  if (isLast)
    kernel.enterTargets(operands, arguments, [&](const StepArray &array) {
      return kernel.enter(kernel.makeView(array.base, sizes, array.strides));
    });
  kernel.enterTileCount(/*bits=*/64, arguments);
  kernel.begin(
      gpuModule, getKernelBaseName(fused),
      tile::KernelAttr::get(b.getContext(), plan.threads, launch.ctasPerSM));
  allocate();
  prepare();
  kernel.forTiles(kernel.getArgument(arguments.tileCount),
                  [&](Value tile) { buildTile(tile); });
  kernel.launch(arguments.tiles);
}

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

/// A contiguous array of sums in the launch's workspace.
static GlobalArray allocateBetween(Emitter &host, FusedOp fused,
                                   const FusedOperands &operands,
                                   ArrayRef<int64_t> shape) {
  Type element = getAccumulatorType(getElementType(fused.getInit()));
  GlobalArray between{{nullptr, SmallVector<Int>(shape.size(), 0)}, element};
  Int stride = 1;
  for (unsigned axis = shape.size(); axis-- > 0;) {
    between.array.strides[axis] = stride;
    stride = host.mul(stride, ShapedType::isDynamic(shape[axis])
                                  ? operands.sizes[axis]
                                  : Int(shape[axis]));
  }
  Value bytes =
      host.materialize(host.mul(stride, getElementBytes(element)), 64);
  between.array.base = buildCudaWorkspace(
      host.builder, host.loc, fused->getParentOfType<ModuleOp>(), bytes);
  return between;
}

LogicalResult kron::tileSimt(const TileSource &source) {
  FusedOp fused = source.fused;
  FailureOr<SimtPlan> complete =
      takePlan(fused, GPUKernel::Simt, readSimtPlan(fused, source.plan),
               [&](const SimtPlan &read) {
                 std::optional<std::string> reason;
                 for (const SimtLaunch &launch : read.launches)
                   if (!reason)
                     reason = getSharedMemoryReason(
                         launch.sharedBytes, /*ctasPerSM=*/1, source.machine);
                 return reason;
               });
  if (failed(complete))
    return failure();
  Emitter host(source.builder, fused.getLoc(),
               getStorageType(getElementType(fused.getInit())));
  FusedOperands operands = getFusedOperands(host, fused);
  GlobalArray from{operands.input, getElementType(fused.getInputs().front())};
  for (const SimtLaunch &launch : complete->launches) {
    bool isLast = &launch == &complete->launches.back();
    GlobalArray target{operands.init, getElementType(fused.getInit())};
    if (!isLast)
      target = allocateBetween(host, fused, operands, launch.after);
    SimtTiles(source, *complete, launch, operands)
        .build(source.gpuModule, from, target, isLast);
    from = target;
  }
  return success();
}
