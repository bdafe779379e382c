//===- SplitPass.cpp - One kron.pass per trip -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The trips of a plan as IR. Elements between trips have the type of the
// arrays: f16 and bf16 keep f32 within a trip only.
//
//===----------------------------------------------------------------------===//

#include "Chain.h"
#include "TripPlan.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::kron;

static Block *getBlock(PassOp pass) { return &pass.getBody().front(); }

bool kron::isSplittable(PassOp pass) {
  ModeProductOp last = pass.getModeProducts().back();
  return !pass.getEpilogue() &&
         llvm::none_of(
             ValueRange{last.getAlpha(), last.getBeta()}, [&](Value scalar) {
               return scalar && scalar.getParentBlock() == getBlock(pass);
             });
}

namespace {

class Splitter {
public:
  Splitter(RewriterBase &rewriter, PassOp pass, const TripPlan &plan)
      : rewriter(rewriter), pass(pass), loc(pass.getLoc()),
        products(pass.getModeProducts()), plan(plan),
        element(kron::getElementType(pass.getInit())) {}

  void run();

private:
  bool isOnTensors() { return pass->getNumResults() != 0; }
  SmallVector<int64_t> getShapeAfter(unsigned trip);
  Value createScratch(ArrayRef<int64_t> shape);
  Value getDestination(unsigned trip, Value input);
  Value collapseInside(unsigned trip, Value array);
  Value buildTrip(unsigned trip, Value input, Value destination);
  Value buildRegion(OpBuilder &builder, unsigned trip, ValueRange args);
  BlockArgument getOwnAddend();
  bool readsDestination();

  RewriterBase &rewriter;
  PassOp pass;
  Location loc;
  SmallVector<ModeProductOp> products;
  const TripPlan &plan;
  Type element;
  /// Arrays made for what lies between trips.
  SmallVector<Value> scratch;
};

} // namespace

/// Shape of the array that trip `trip` writes.
SmallVector<int64_t> Splitter::getShapeAfter(unsigned trip) {
  auto shapeOf = [](Value value) {
    return llvm::to_vector(cast<ShapedType>(value.getType()).getShape());
  };
  SmallVector<int64_t> output = shapeOf(pass.getInit());
  TripChain chain = describeTripChain(pass);
  SmallVector<int64_t> shape = shapeOf(getBlock(pass)->getArgument(0));
  if (!chain.isReorderable()) {
    // The mode products' own order, and thus their own types.
    shape = shapeOf(products[plan.trips[trip].back()].getInit());
  } else {
    for (ModeProductOp product : llvm::reverse(products))
      shape[product.getAxis()] = describeFactor(product).depth;
    for (ArrayRef<unsigned> group : ArrayRef(plan.trips).take_front(trip + 1))
      for (unsigned index : group)
        shape[chain.factors[index].axis] = chain.factors[index].results;
  }
  for (auto [size, outputSize] : llvm::zip_equal(shape, output))
    if (ShapedType::isDynamic(size))
      size = outputSize;
  return shape;
}

/// A new array; its dynamic sizes are those of the destination.
Value Splitter::createScratch(ArrayRef<int64_t> shape) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (isOnTensors())
      sizes.push_back(
          tensor::DimOp::create(rewriter, loc, pass.getInit(), dim));
    else
      sizes.push_back(
          memref::DimOp::create(rewriter, loc, pass.getInit(), dim));
  }
  if (isOnTensors())
    return tensor::EmptyOp::create(rewriter, loc, shape, element, sizes);
  auto alloc = memref::AllocOp::create(rewriter, loc,
                                       MemRefType::get(shape, element), sizes);
  alloc->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
                 rewriter.getUnitAttr());
  return alloc;
}

/// The argument of the region that is Z, null if Z is not read or is what the
/// destination holds.
BlockArgument Splitter::getOwnAddend() {
  ModeProductOp last = products.back();
  if (kron::getBeta(last).isZero() || !last.getAddend() ||
      last.getAddend() == getBlock(pass)->getArguments().back())
    return nullptr;
  return cast<BlockArgument>(last.getAddend());
}

/// Whether what the destination holds, or may hold (Z may be the same memory),
/// is needed until the end.
bool Splitter::readsDestination() {
  return !kron::getBeta(products.back()).isZero();
}

/// Where trip `trip` writes: not where it reads, the destination every other
/// time so that one more array is enough, unless the plan is in place.
Value Splitter::getDestination(unsigned trip, Value input) {
  unsigned remaining = plan.trips.size() - 1 - trip;
  if (remaining == 0 || plan.isInPlace)
    return pass.getInit();
  SmallVector<int64_t> shape = getShapeAfter(trip);
  auto initType = cast<ShapedType>(pass.getInit().getType());
  if (remaining % 2 == 0 && !readsDestination() &&
      initType.getShape() == ArrayRef(shape))
    return pass.getInit();
  for (Value array : scratch) {
    bool isRead = array == input;
    if (auto previous = input.getDefiningOp<PassOp>())
      isRead |= previous.getInit() == array;
    if (!isRead &&
        cast<ShapedType>(array.getType()).getShape() == ArrayRef(shape))
      return array;
  }
  return scratch.emplace_back(createScratch(shape));
}

Value Splitter::buildRegion(OpBuilder &builder, unsigned trip,
                            ValueRange args) {
  ArrayRef<unsigned> group = plan.trips[trip];
  bool isLastTrip = trip + 1 == plan.trips.size();
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
    bool scales = isLast && isLastTrip;
    Value init = out;
    shape[op.getAxis()] = describeFactor(op).results;
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
        static_cast<uint64_t>(op.getAxis()), op.getFactorDims(),
        /*conj_input=*/trip == 0 && number == 0 &&
            products.front().getConjInput(),
        op.getConjFactor(), scales ? scaling.getStaticAlphaAttr() : TypedAttr(),
        scales ? scaling.getStaticBetaAttr() : TypedAttr(), op.getPrecision(),
        /*schedule=*/nullptr);
    value = product.getResult(0);
  }
  return value;
}

/// `array`, a memref, with the axes inside of all that trip `trip` contracts as
/// one: its tiles are cut from long runs of memory then.
Value Splitter::collapseInside(unsigned trip, Value array) {
  auto type = cast<MemRefType>(array.getType());
  int64_t innermost = 0;
  for (unsigned index : plan.trips[trip])
    innermost = std::max<int64_t>(innermost, products[index].getAxis());
  SmallVector<ReassociationIndices> axes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis <= innermost + 1)
      axes.push_back({axis});
    else
      axes.back().push_back(axis);
  if (static_cast<int64_t>(axes.size()) == type.getRank() ||
      !memref::CollapseShapeOp::isGuaranteedCollapsible(type, axes))
    return array;
  return memref::CollapseShapeOp::create(rewriter, loc, array, axes);
}

/// Builds trip `trip` from `input` to `destination`; returns its result, on
/// memrefs the destination.
Value Splitter::buildTrip(unsigned trip, Value input, Value destination) {
  Value result = destination;
  SmallVector<Value> inputs{input};
  for (unsigned index : plan.trips[trip]) {
    auto argument = cast<BlockArgument>(products[index].getFactor());
    inputs.push_back(pass->getOperand(argument.getArgNumber()));
  }
  if (plan.isInPlace && trip)
    inputs.front() = destination = collapseInside(trip, destination);
  bool isLastTrip = trip + 1 == plan.trips.size();
  if (isLastTrip && getOwnAddend())
    inputs.push_back(pass->getOperand(getOwnAddend().getArgNumber()));
  ArrayRef<int64_t> permutation;
  if (trip == 0 && pass.getInputPermutation())
    permutation = *pass.getInputPermutation();
  ScheduleAttr schedule = pass.getScheduleAttr();
  PassOp built = createPass(rewriter, loc, inputs, destination, permutation,
                            schedule, [&](OpBuilder &builder, ValueRange args) {
                              return buildRegion(builder, trip, args);
                            });
  return isOnTensors() ? built->getResult(0) : result;
}

void Splitter::run() {
  rewriter.setInsertionPoint(pass);
  Value value = pass.getInputs().front();
  for (unsigned trip = 0; trip < plan.trips.size(); ++trip)
    value = buildTrip(trip, value, getDestination(trip, value));
  if (isOnTensors()) {
    rewriter.replaceOp(pass, value);
    return;
  }
  for (Value array : scratch) {
    auto dealloc = memref::DeallocOp::create(rewriter, loc, array);
    dealloc->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
                     rewriter.getUnitAttr());
  }
  rewriter.eraseOp(pass);
}

void kron::splitPass(RewriterBase &rewriter, PassOp pass,
                     const TripPlan &plan) {
  Splitter(rewriter, pass, plan).run();
}
