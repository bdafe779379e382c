//===- SplitFusedOp.cpp - One kron.fused per fused region -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The fused regions of a plan as IR. Elements between fused regions have the
// type of the arrays: f16 and bf16 keep f32 within a fused region only.
//
//===----------------------------------------------------------------------===//

#include "FusionPlan.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::kron;

static Block *getBlock(FusedOp fused) { return &fused.getBody().front(); }

bool kron::isSplittable(FusedOp fused) {
  ModeProductOp last = fused.getModeProducts().back();
  return !fused.getEpilogue() &&
         llvm::none_of(
             ValueRange{last.getAlpha(), last.getBeta()}, [&](Value scalar) {
               return scalar && scalar.getParentBlock() == getBlock(fused);
             });
}

static SmallVector<int64_t> getAxes(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(rank));
}

SmallVector<int64_t> kron::getOrderWithColumnsOutside(FusedOp fused) {
  SmallVector<int64_t> axes =
      getAxes(cast<ShapedType>(fused.getInit().getType()).getRank());
  if (std::optional<ArrayRef<int64_t>> order = fused.getInputPermutation())
    axes.assign(order->begin(), order->end());
  // The innermost axis to the outer end.
  std::rotate(axes.begin(), axes.end() - 1, axes.end());
  return axes;
}

bool kron::hasEpilogueBehind(FusedOp fused) {
  Value result =
      fused->getNumResults() ? fused->getResult(0) : Value(fused.getInit());
  return llvm::any_of(result.getUsers(), llvm::IsaPred<EpilogueOp>);
}

std::pair<FusedOp, FusedOp>
kron::copyToBranches(RewriterBase &rewriter, FusedOp fused, Value condition) {
  std::pair<FusedOp, FusedOp> copies;
  auto copyTo = [&](FusedOp &copy) {
    return [&](OpBuilder &builder, Location loc) {
      copy = cast<FusedOp>(builder.clone(*fused));
      scf::YieldOp::create(builder, loc, copy->getResults());
    };
  };
  auto branches =
      scf::IfOp::create(rewriter, fused.getLoc(), condition,
                        copyTo(copies.first), copyTo(copies.second));
  rewriter.replaceOp(fused, branches.getResults());
  return copies;
}

namespace {

class Splitter {
public:
  Splitter(RewriterBase &rewriter, FusedOp fused, const FusionPlan &plan)
      : rewriter(rewriter), fused(fused), loc(fused.getLoc()),
        products(fused.getModeProducts()), plan(plan),
        element(kron::getElementType(fused.getInit())) {}

  void run();

private:
  bool isOnTensors() { return fused->getNumResults() != 0; }
  /// Whether what fused region `region` writes has rows innermost.
  bool leavesRowsInside(unsigned region) const {
    return region < plan.withRowsInside;
  }
  /// Which axis of fused region `region` axis `axis` is: columns may be its
  /// outermost one, or rows its innermost one.
  int64_t getAxisIn(unsigned region, int64_t axis) const {
    if (leavesRowsInside(region))
      return axis - 1;
    return axis + (plan.hasColumnsOutside && region == 0);
  }
  SmallVector<int64_t> getPermutation(unsigned region, int64_t rank);
  Attribute getPlan(unsigned region, int64_t rank);
  SmallVector<int64_t> getShapeAfter(unsigned region);
  Value createScratch(ArrayRef<int64_t> shape);
  Value getDestination(unsigned region, Value input);
  int64_t getInnermost(unsigned region);
  Value joinDims(Value array, int64_t first, int64_t end);
  void joinInside(unsigned region, Value &input, Value &destination);
  Value buildRegion(unsigned region, Value input, Value destination);
  Value buildRegion(OpBuilder &builder, unsigned region, ValueRange args);
  BlockArgument getOwnAddend();
  bool readsDestination();

  RewriterBase &rewriter;
  FusedOp fused;
  Location loc;
  SmallVector<ModeProductOp> products;
  const FusionPlan &plan;
  Type element;
  /// Arrays made for what lies between fused regions.
  SmallVector<Value> scratch;
};

} // namespace

/// Shape of the array that fused region `region` writes.
SmallVector<int64_t> Splitter::getShapeAfter(unsigned region) {
  auto shapeOf = [](Value value) {
    return llvm::to_vector(cast<ShapedType>(value.getType()).getShape());
  };
  SmallVector<int64_t> output = shapeOf(fused.getInit());
  FusionChain chain = describeFusionChain(fused);
  SmallVector<int64_t> shape = shapeOf(getBlock(fused)->getArgument(0));
  if (!chain.isReorderable()) {
    // The mode products' own order, and thus their own types.
    shape = shapeOf(products[plan.regions[region].back()].getInit());
  } else {
    for (ModeProductOp product : llvm::reverse(products))
      shape[product.getAxis()] = describeFactor(product).sizeK;
    for (ArrayRef<unsigned> group :
         ArrayRef(plan.regions).take_front(region + 1))
      for (unsigned index : group)
        shape[chain.factors[index].axis] = chain.factors[index].sizeN;
  }
  for (auto [size, outputSize] : llvm::zip_equal(shape, output))
    if (ShapedType::isDynamic(size))
      size = outputSize;
  if (leavesRowsInside(region))
    std::rotate(shape.begin(), shape.begin() + 1, shape.end());
  return shape;
}

/// Which axes of its input fused region `region`, on `rank` axes, takes in
/// which order.
SmallVector<int64_t> Splitter::getPermutation(unsigned region, int64_t rank) {
  if (plan.hasColumnsOutside && region == 0) {
    SmallVector<int64_t> axes = getOrderWithColumnsOutside(fused);
    return llvm::is_sorted(axes) ? SmallVector<int64_t>() : axes;
  }
  if (plan.hasColumnsOutside) {
    SmallVector<int64_t> axes = getAxes(rank);
    // The outermost axis to the inner end.
    std::rotate(axes.begin(), axes.begin() + 1, axes.end());
    return axes;
  }
  if (region == plan.withRowsInside && fused.getInputPermutation())
    return llvm::to_vector(*fused.getInputPermutation());
  return {};
}

/// The plan of fused region `region`, on `rank` axes. Tiles are not of the
/// columns, which are few, but of the axis that the other fused region
/// contracts.
Attribute Splitter::getPlan(unsigned region, int64_t rank) {
  if (!plan.hasColumnsOutside)
    return getRegionPlan(fused.getPlanAttr(), region);
  int64_t axis =
      region ? rank - 2 : products[plan.regions.back().back()].getAxis() + 1;
  Builder builder(fused.getContext());
  return CPUPlanAttr::get(fused.getContext(),
                          builder.getDictionaryAttr(builder.getNamedAttr(
                              "tiled_axis", builder.getI64IntegerAttr(axis))));
}

/// A new array; its dynamic sizes are those of the destination.
Value Splitter::createScratch(ArrayRef<int64_t> destinationShape) {
  SmallVector<int64_t> shape(destinationShape), dims;
  llvm::append_range(dims, llvm::seq<int64_t>(shape.size()));
  if (plan.hasColumnsOutside) {
    std::rotate(shape.begin(), shape.end() - 1, shape.end());
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  }
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::zip_equal(dims, shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (isOnTensors())
      sizes.push_back(
          tensor::DimOp::create(rewriter, loc, fused.getInit(), dim));
    else
      sizes.push_back(
          memref::DimOp::create(rewriter, loc, fused.getInit(), dim));
  }
  if (isOnTensors())
    return tensor::EmptyOp::create(rewriter, loc, shape, element, sizes);
  auto alloc = memref::AllocOp::create(rewriter, loc,
                                       MemRefType::get(shape, element), sizes);
  alloc->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
                 rewriter.getUnitAttr());
  return alloc;
}

/// The block argument that is Z, null if Z is not read or is what the
/// destination holds.
BlockArgument Splitter::getOwnAddend() {
  ModeProductOp last = products.back();
  if (kron::getBeta(last).isZero() || !last.getAddend() ||
      last.getAddend() == getBlock(fused)->getArguments().back())
    return nullptr;
  return cast<BlockArgument>(last.getAddend());
}

/// Whether what the destination holds, or may hold (Z may be the same memory),
/// is needed until the end.
bool Splitter::readsDestination() {
  return !kron::getBeta(products.back()).isZero();
}

/// Where fused region `region` writes: not where it reads, the destination
/// every other time so that one more array is enough, unless the plan is in
/// place.
Value Splitter::getDestination(unsigned region, Value input) {
  unsigned remaining = plan.regions.size() - 1 - region;
  if (remaining == 0 || plan.isInPlace)
    return fused.getInit();
  SmallVector<int64_t> shape = getShapeAfter(region);
  auto initType = cast<ShapedType>(fused.getInit().getType());
  if (remaining % 2 == 0 && !readsDestination() &&
      initType.getShape() == ArrayRef(shape))
    return fused.getInit();
  for (Value array : scratch) {
    bool isRead = array == input;
    if (auto previous = input.getDefiningOp<FusedOp>())
      isRead |= previous.getInit() == array;
    if (!isRead &&
        cast<ShapedType>(array.getType()).getShape() == ArrayRef(shape))
      return array;
  }
  return scratch.emplace_back(createScratch(shape));
}

Value Splitter::buildRegion(OpBuilder &builder, unsigned region,
                            ValueRange args) {
  ArrayRef<unsigned> group = plan.regions[region];
  bool isLastRegion = region + 1 == plan.regions.size();
  ModeProductOp scaling = products.back();
  Type accumulator = getAccumulatorType(element);
  Value out = args.back(), value = args.front();
  auto shape = llvm::to_vector(cast<ShapedType>(value.getType()).getShape());
  auto outShape = cast<ShapedType>(out.getType()).getShape();
  for (auto [size, outSize] : llvm::zip_equal(shape, outShape))
    if (ShapedType::isDynamic(size))
      size = outSize;

  for (auto [number, index] : llvm::enumerate(group)) {
    ModeProductOp op = products[index];
    bool isLast = number + 1 == group.size();
    bool scales = isLast && isLastRegion;
    Value init = out;
    shape[getAxisIn(region, op.getAxis())] = describeFactor(op).sizeN;
    for (int64_t axis : describeFactor(op).varyingAxes)
      if (shape[axis] == 1)
        shape[axis] = outShape[axis];
    if (!isLast) {
      SmallVector<Value> sizes;
      for (auto [dim, size] : llvm::enumerate(shape))
        if (ShapedType::isDynamic(size))
          sizes.push_back(tensor::DimOp::create(builder, loc, out, dim));
      init = tensor::EmptyOp::create(builder, loc, shape, accumulator, sizes);
    }
    Value addend;
    if (scales && getOwnAddend())
      addend = args[args.size() - 2];
    auto product = ModeProductOp::create(
        builder, op.getLoc(), TypeRange(init.getType()), value,
        args[1 + number], scales ? scaling.getAlpha() : Value(),
        scales ? scaling.getBeta() : Value(), addend, init,
        static_cast<uint64_t>(getAxisIn(region, op.getAxis())),
        op.getFactorDims(),
        /*conj_input=*/region == 0 && number == 0 &&
            products.front().getConjInput(),
        op.getConjFactor(), scales ? scaling.getStaticAlphaAttr() : TypedAttr(),
        scales ? scaling.getStaticBetaAttr() : TypedAttr(), op.getPrecision(),
        /*plan=*/nullptr);
    value = product.getResult(0);
  }
  return value;
}

/// The innermost axis that fused region `region` contracts.
int64_t Splitter::getInnermost(unsigned region) {
  int64_t innermost = 0;
  for (unsigned index : plan.regions[region])
    innermost = std::max<int64_t>(innermost, products[index].getAxis());
  return innermost;
}

/// `array`, a memref, with its dimensions from `first` to before `end` as one;
/// as it is if they do not lie so.
Value Splitter::joinDims(Value array, int64_t first, int64_t end) {
  auto type = cast<MemRefType>(array.getType());
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim <= first || dim >= end)
      dims.push_back({dim});
    else
      dims.back().push_back(dim);
  if (static_cast<int64_t>(dims.size()) == type.getRank() ||
      !memref::CollapseShapeOp::isGuaranteedCollapsible(type, dims))
    return array;
  return memref::CollapseShapeOp::create(rewriter, loc, array, dims);
}

/// Takes the axes inside of all that fused region `region`, behind another one,
/// contracts, but for columns that lie outside before it, as one: its tiles are
/// cut from long segments of memory then.
void Splitter::joinInside(unsigned region, Value &input, Value &destination) {
  int64_t first = getInnermost(region) + 1;
  int64_t end = cast<ShapedType>(destination.getType()).getRank();
  if (plan.isInPlace) {
    input = destination = joinDims(destination, first, end);
    return;
  }
  if (isOnTensors() || getOwnAddend())
    return;
  Value read = joinDims(input, first + 1, end);
  Value written = joinDims(destination, first, end - 1);
  if (cast<ShapedType>(read.getType()).getRank() !=
      cast<ShapedType>(written.getType()).getRank())
    return;
  input = read;
  destination = written;
}

/// Builds fused region `region` from `input` to `destination`; returns its
/// result, on memrefs the destination.
Value Splitter::buildRegion(unsigned region, Value input, Value destination) {
  Value result = destination;
  SmallVector<Value> inputs{input};
  for (unsigned index : plan.regions[region]) {
    auto argument = cast<BlockArgument>(products[index].getFactor());
    inputs.push_back(fused->getOperand(argument.getArgNumber()));
  }
  if (region && (plan.isInPlace || plan.hasColumnsOutside))
    joinInside(region, inputs.front(), destination);
  bool isLastRegion = region + 1 == plan.regions.size();
  if (isLastRegion && getOwnAddend())
    inputs.push_back(fused->getOperand(getOwnAddend().getArgNumber()));
  int64_t rank = cast<ShapedType>(destination.getType()).getRank();
  FusedOp built = createFusedOp(
      rewriter, loc, inputs, destination, getPermutation(region, rank),
      getPlan(region, rank), [&](OpBuilder &builder, ValueRange args) {
        return buildRegion(builder, region, args);
      });
  return isOnTensors() ? built->getResult(0) : result;
}

void Splitter::run() {
  rewriter.setInsertionPoint(fused);
  Value value = fused.getInputs().front();
  for (unsigned region = 0; region < plan.regions.size(); ++region)
    value = buildRegion(region, value, getDestination(region, value));
  if (isOnTensors()) {
    rewriter.replaceOp(fused, value);
    return;
  }
  for (Value array : scratch) {
    auto dealloc = memref::DeallocOp::create(rewriter, loc, array);
    dealloc->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
                     rewriter.getUnitAttr());
  }
  rewriter.eraseOp(fused);
}

void kron::splitFusedOp(RewriterBase &rewriter, FusedOp fused,
                        const FusionPlan &plan) {
  Splitter(rewriter, fused, plan).run();
}
