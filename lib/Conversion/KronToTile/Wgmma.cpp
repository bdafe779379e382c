//===- Wgmma.cpp - A dense factor by wgmma, in pieces, as tiles -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each warpgroup of a CTA takes tiles of its own, of up to 64 fibres of the one
// factor, which lies in shared memory. So large a factor leaves no room for
// whole tiles: they go, in pieces of some positions K,
//
//   view -> ring -> registers   asynchronous copies, some pieces ahead
//   registers -> view           results, when all pieces have been multiplied
//
// Of a factor that is too large as a whole, several CTAs have a part of the
// columns each.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "TileKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/WgmmaPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class WgmmaTiles {
public:
  WgmmaTiles(OpBuilder &hostBuilder, FusedOp fused, const WgmmaPlan &plan);

  void build(gpu::GPUModuleOp gpuModule);

private:
  unsigned enterView(const StageArray &array, Type type, bool isInput);
  void enterOperands();
  bool canVectorize(const StageArray &array, bool isInput) const;
  SmallVector<int64_t> getSwizzle() const;
  tile::BufferType getPiece();
  SmallVector<int64_t> getOrder() const;
  tile::PiecesAttr getPieces();
  Value prepare();
  void store(Value sums, Value tile);

  TileKernel kernel;
  FusedOp fused;
  const WgmmaPlan &plan;
  const WgmmaStage &stage;
  OpBuilder &b;
  Location loc;
  FusedOperands operands;
  Type inputType, outputType;
  /// Axes of the plan: those of the views, and those that are the tile's
  /// dimensions; which axes of the views these are.
  SmallVector<unsigned> viewAxes, dims;
  SmallVector<int64_t> axes;
  /// The dimension that is contracted.
  unsigned along = 0;
  BoxArguments arguments;
  unsigned factor;
};

} // namespace

WgmmaTiles::WgmmaTiles(OpBuilder &hostBuilder, FusedOp fused,
                       const WgmmaPlan &plan)
    : kernel(hostBuilder, fused), fused(fused), plan(plan),
      stage(plan.stages.front()), b(kernel.builder), loc(kernel.loc),
      operands(getFusedOperands(kernel.host, fused)),
      inputType(getElementType(fused.getInputs().front())),
      outputType(getElementType(fused.getInit())) {
  // Neighbours of the input that are in different tiles are worked on at the
  // same time.
  for (bool isContiguous : {false, true})
    for (auto [number, axis] : llvm::enumerate(plan.axes))
      if (axis.isContiguous == isContiguous)
        viewAxes.push_back(number);
  for (auto [number, pitch] : llvm::enumerate(plan.landing.pitches)) {
    if (pitch == 0)
      continue;
    if (number == stage.axis)
      along = dims.size();
    dims.push_back(number);
    axes.push_back(llvm::find(viewAxes, number) - viewAxes.begin());
  }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

unsigned WgmmaTiles::enterView(const StageArray &array, Type type,
                               bool isInput) {
  SmallVector<Int> sizes, strides;
  for (unsigned number : viewAxes) {
    const WgmmaAxis &axis = plan.axes[number];
    Int &size = sizes.emplace_back(isInput ? axis.before : axis.after);
    if (axis.stage < 0) {
      size = 1;
      for (unsigned fusedAxis : axis.fusedAxes)
        size = kernel.host.mul(size, operands.sizes[fusedAxis]);
    }
    strides.push_back(array.strides[axis.strideAxis]);
  }
  return kernel.enter(kernel.makeView(array.base, sizes, strides, type));
}

void WgmmaTiles::enterOperands() {
  Emitter &host = kernel.host;
  arguments.tiles = 1;
  for (const WgmmaAxis &axis : plan.axes) {
    if (axis.stage >= 0)
      continue;
    Int size = 1;
    for (unsigned fusedAxis : axis.fusedAxes)
      size = host.mul(size, operands.sizes[fusedAxis]);
    arguments.tiles = host.mul(arguments.tiles, host.ceilDiv(size, axis.tile));
  }
  arguments.input = enterView(operands.input, inputType, /*isInput=*/true);
  arguments.init = enterView(operands.init, outputType, /*isInput=*/false);
  kernel.enterScales(operands, arguments, [&](const StageArray &array) {
    return enterView(array, outputType, /*isInput=*/false);
  });
  ModeProductOp product = fused.getModeProducts().front();
  factor = kernel.enter(
      kernel.makeView(getFusedFactor(host, fused, product).array, stage.sizeK,
                      stage.sizeN, getElementType(product.getFactor())));
  kernel.enterTileCount(32, arguments);
}

/// Whether contiguous segments of the array can be accessed by vectors,
/// provided that the address and what is only known at run time are aligned.
bool WgmmaTiles::canVectorize(const StageArray &array, bool isInput) const {
  int64_t lanes =
      kWgmmaVectorBytes / getElementBytes(isInput ? inputType : outputType);
  const WgmmaAxis &last = plan.axes.back();
  int64_t segment = isInput ? last.before : last.after;
  if (!array.strides[last.strideAxis].is(1) ||
      (!ShapedType::isDynamic(segment) && segment % lanes != 0) ||
      (last.stage < 0 && last.tile % lanes != 0))
    return false;
  return llvm::all_of(
      ArrayRef(plan.axes).drop_back(), [&](const WgmmaAxis &axis) {
        Int stride = array.strides[axis.strideAxis];
        return !stride.isConstant() || stride.getConstant() % lanes == 0;
      });
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Successive pairs of positions that lanes load together have different banks:
/// bits 1 and 2 of their number flip those of 64 and 32 bytes. They are of the
/// contracted dimension, whose neighbours a lane has at an even and the next
/// position, or of the one outside of it where that is innermost.
SmallVector<int64_t> WgmmaTiles::getSwizzle() const {
  if (!plan.landing.swizzled || dims.size() < 2)
    return {};
  unsigned outside =
      along + 1 == dims.size() ? dims[dims.size() - 2] : dims[along];
  int64_t bit = llvm::Log2_64(plan.landing.pitches[outside]);
  return {bit + 1, 4, bit + 2, 3};
}

tile::BufferType WgmmaTiles::getPiece() {
  SmallVector<int64_t> block, strides;
  for (unsigned number : dims) {
    const WgmmaAxis &axis = plan.axes[number];
    block.push_back(axis.stage >= 0 ? plan.pieceK : axis.tile);
    strides.push_back(plan.landing.pitches[number]);
  }
  auto layout = tile::LayoutAttr::get(b.getContext(), strides, getSwizzle());
  return tile::BufferType::get(b.getContext(), block, inputType, layout);
}

/// Neighbouring threads copy elements that are neighbours in the array.
SmallVector<int64_t> WgmmaTiles::getOrder() const {
  SmallVector<int64_t> order;
  for (bool isContiguous : {false, true})
    for (auto [dim, number] : llvm::enumerate(dims))
      if (operands.input.strides[plan.axes[number].strideAxis].is(1) ==
          isContiguous)
        order.push_back(dim);
  if (llvm::is_sorted(order))
    order.clear();
  return order;
}

tile::PiecesAttr WgmmaTiles::getPieces() {
  SmallVector<int64_t> block(getPiece().getShape()), sizes(block);
  sizes[along] = plan.pieces * plan.pieceK;
  int64_t bytes = canVectorize(operands.input, /*isInput=*/true)
                      ? kWgmmaVectorBytes
                      : getElementBytes(inputType);
  return tile::PiecesAttr::get(
      b.getContext(), sizes, block, axes, kWarpgroupThreads / 32, bytes,
      /*lines=*/false, /*split=*/-1, /*ahead=*/plan.buffers - 1, getOrder());
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

Value WgmmaTiles::prepare() {
  int64_t columns = plan.getShares() > 1 ? stage.paddedResults : stage.sizeN;
  auto type = tile::OperandType::get(
      b.getContext(), {stage.sizeK, columns}, b.getF32Type(),
      tile::AtomKind::WgmmaTF32,
      stage.innermost ? tile::OperandOrder::Quads : tile::OperandOrder::Pairs);
  return tile::PrepareOp::create(
      b, loc, type, kernel.getArgument(factor), /*warps=*/1, /*together=*/1,
      /*residuals=*/stage.kind == WgmmaKind::Split, /*split=*/false,
      /*streamed=*/false);
}

void WgmmaTiles::store(Value sums, Value tile) {
  auto get = [&](std::optional<unsigned> number) {
    return number ? kernel.getArgument(*number) : Value();
  };
  SmallVector<int64_t> box(cast<tile::FragmentType>(sums.getType()).getBox());
  box[along] = stage.sizeN;
  bool canStore = canVectorize(operands.init, /*isInput=*/false) &&
                  (!operands.addend.base ||
                   canVectorize(operands.addend, /*isInput=*/false));
  tile::StoreOp::create(
      b, loc, sums, /*boxes=*/Value(), get(arguments.init), tile,
      b.getDenseI64ArrayAttr(along), get(arguments.alpha), get(arguments.beta),
      get(arguments.addend), b.getDenseI64ArrayAttr(box),
      /*order=*/DenseI64ArrayAttr(), /*together=*/8, /*rows=*/IntegerAttr(),
      canStore ? kWgmmaVectorBytes : getElementBytes(outputType),
      /*bias=*/Value(), /*residual=*/Value(), Activation::Identity,
      /*scale=*/TypedAttr(), b.getDenseI64ArrayAttr(axes));
}

void WgmmaTiles::build(gpu::GPUModuleOp gpuModule) {
  enterOperands();
  kernel.begin(gpuModule, getKernelBaseName(fused),
               tile::KernelAttr::get(b.getContext(), plan.threads,
                                     plan.ctasPerSM, /*cluster=*/1,
                                     plan.getNumGroups(), plan.getShares()));
  tile::PiecesAttr pieces = getPieces();
  Value ring =
      tile::AllocOp::create(b, loc,
                            tile::RingType::get(b.getContext(), plan.buffers,
                                                getPiece(), std::nullopt),
                            Value());
  Value input = kernel.getArgument(arguments.input);
  tile::CopyPiecesOp::create(b, loc, input, ring, pieces);
  Value operand = prepare();
  tile::BarrierOp::create(b, loc);
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, pieces.getSizes());
  auto operandType = cast<tile::OperandType>(operand.getType());
  shape[along + 1] = operandType.getSizeN();
  auto type = tile::FragmentType::get(b.getContext(), shape, b.getF32Type(),
                                      operandType.getAtom());
  kernel.forTiles(kernel.getArgument(arguments.tileCount), [&](Value tile) {
    Value sums = tile::ContractPiecesOp::create(b, loc, type, input, tile,
                                                operand, ring, along, pieces);
    store(sums, tile);
  });
  kernel.launch(kernel.host.materialize(arguments.tiles, 64));
}

LogicalResult kron::tileWgmma(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                              FusedOp fused, GPUPlanAttr plan,
                              const GPUMachine &machine) {
  std::variant<WgmmaPlan, std::string> read =
      std::string("the chip has no wgmma instructions");
  if (machine.hasWgmma)
    read = readWgmmaPlan(fused, plan);
  FailureOr<WgmmaPlan> complete =
      getTilePlan(fused, "a wgmma", std::move(read), machine);
  if (failed(complete))
    return failure();
  WgmmaTiles(builder, fused, *complete).build(gpuModule);
  return success();
}
