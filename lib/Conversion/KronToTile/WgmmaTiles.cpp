//===- WgmmaTiles.cpp - What kernels of warpgroups share ------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaTiles.h"
#include "kron/Plan/Arrays.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

WgmmaTiles::WgmmaTiles(const TileSource &source, const WgmmaPlan &plan)
    : FusedTiles(source, plan), operands(getFusedOperands(kernel.host, fused)),
      inputType(getElementType(fused.getInputs().front())),
      outputType(getElementType(fused.getInit())) {
  // Neighbours of the input that are in different tiles are worked on at the
  // same time.
  for (bool isContiguous : {false, true})
    for (auto [number, axis] : llvm::enumerate(plan.axes))
      if (axis.isContiguous == isContiguous)
        viewAxes.push_back(number);
  for (auto [number, pitch] : llvm::enumerate(plan.landing.pitches)) {
    // What is quantized has a dimension of rows, if only of one.
    if (pitch == 0 && !(plan.quantize && number == 0))
      continue;
    dims.push_back(number);
    axes.push_back(llvm::find(viewAxes, number) - viewAxes.begin());
  }
  for (const WgmmaAxis &axis : plan.axes) {
    Int &size = sizes.emplace_back(1);
    if (axis.step < 0)
      for (unsigned fusedAxis : axis.fusedAxes)
        size = kernel.host.mul(size, operands.sizes[fusedAxis]);
  }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

unsigned WgmmaTiles::enterView(const StepArray &array, Type type,
                               bool isInput) {
  SmallVector<Int> shape, strides;
  for (unsigned number : viewAxes) {
    const WgmmaAxis &axis = plan.axes[number];
    shape.push_back(axis.step < 0 ? sizes[number]
                    : isInput     ? Int(axis.before)
                                  : Int(axis.after));
    strides.push_back(array.strides[axis.strideAxis]);
  }
  return kernel.enter(kernel.makeView(array.base, shape, strides, type));
}

void WgmmaTiles::enterOperands(bool hasResult) {
  Emitter &host = kernel.host;
  for (auto [axis, size] : llvm::zip_equal(plan.axes, sizes))
    if (axis.step < 0)
      arguments.tiles =
          host.mul(arguments.tiles, host.ceilDiv(size, axis.tile));
  arguments.input = enterView(operands.input, inputType, /*isInput=*/true);
  if (hasResult)
    arguments.init = enterView(operands.init, outputType, /*isInput=*/false);
  kernel.enterTargets(operands, arguments, [&](const StepArray &array) {
    return enterView(array, outputType, /*isInput=*/false);
  });
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  for (const WgmmaStep &step : plan.steps) {
    ModeProductOp product = products[step.product];
    factors.push_back(kernel.enter(
        kernel.makeView(getFusedFactor(host, fused, product).array, step.sizeK,
                        step.sizeN, getElementType(product.getFactor()))));
  }
  kernel.enterTileCount(32, arguments);
}

/// The most bytes of an access that lanes have neighbours for.
int64_t WgmmaTiles::getMostBytes(bool isInput) const {
  if (isInput || plan.turn == WgmmaTurn::None)
    return kWgmmaVectorBytes;
  // A lane's two columns are neighbours where tiles are swizzled.
  return plan.turn == WgmmaTurn::Rows || plan.landing.swizzled
             ? kWgmmaTurnedBytes
             : getElementBytes(outputType);
}

/// Whether contiguous segments of the array can be accessed by so many elements
/// at a time, provided that what is only known at run time is aligned.
bool WgmmaTiles::hasSegments(const StepArray &array, bool isInput,
                             int64_t elements) const {
  const WgmmaAxis &inner = isInput ? plan.axes.back() : plan.getResultAxis();
  int64_t segment = isInput ? inner.before : inner.after;
  if (!array.strides[inner.strideAxis].is(1) ||
      (!ShapedType::isDynamic(segment) && segment % elements != 0) ||
      (inner.step < 0 && inner.tile % elements != 0))
    return false;
  return llvm::all_of(plan.axes, [&](const WgmmaAxis &axis) {
    Int stride = array.strides[axis.strideAxis];
    return &axis == &inner || !stride.isConstant() ||
           stride.getConstant() % elements == 0;
  });
}

int64_t WgmmaTiles::getAccessBytes(const StepArray &array, bool isInput) const {
  int64_t element = getElementBytes(isInput ? inputType : outputType);
  int64_t bytes = getMostBytes(isInput);
  // Parts of four sums are half a sector with gaps; single ones through shared
  // memory, or shifted along the lanes of a row, have none.
  bool isWholeOnly = !isInput && plan.turn == WgmmaTurn::None &&
                     plan.steps.back().innermost &&
                     (element == 4 || plan.steps.size() == 1);
  if (isWholeOnly)
    bytes = std::min(bytes, kWgmmaLaneResults * element);
  while (bytes > element && !hasSegments(array, isInput, bytes / element))
    bytes = isWholeOnly ? element : bytes / 2;
  return bytes;
}

int64_t WgmmaTiles::getStoreBytes() const {
  int64_t bytes = getAccessBytes(operands.init, /*isInput=*/false);
  if (operands.addend.base)
    bytes = std::min(bytes, getAccessBytes(operands.addend, /*isInput=*/false));
  return bytes;
}

bool WgmmaTiles::canStoreSums() const {
  int64_t element = getElementBytes(outputType);
  if (getStoreBytes() > element)
    return true;
  // Lanes that have no neighbours store single elements side by side.
  return getMostBytes(/*isInput=*/false) == element &&
         hasSegments(operands.init, /*isInput=*/false, 1) &&
         (!operands.addend.base ||
          hasSegments(operands.addend, /*isInput=*/false, 1));
}

/// Successive pairs of positions that lanes load together have different banks:
/// bits from the second one of their number on flip those of 64 bytes and of
/// 32, of 16-bit types of 16, 32 and 64.
static SmallVector<int64_t> getSwizzle(ArrayRef<int64_t> block,
                                       ArrayRef<int64_t> pitches,
                                       int64_t elementBytes) {
  SmallVector<int64_t> swizzle, targets{4, 3};
  if (elementBytes == 2)
    targets = {3, 4, 5};
  for (auto [dim, pitch] : llvm::enumerate(pitches.drop_back()))
    for (auto [index, to] : llvm::enumerate(targets)) {
      // A bit that no position has is the next dimension's.
      int64_t from = llvm::Log2_64(pitch) + index + 1;
      if (block[dim] > 1 &&
          (dim == 0 || from < llvm::Log2_64(pitches[dim - 1])))
        swizzle.append({from, to});
    }
  return swizzle;
}

tile::BufferType WgmmaTiles::getBuffer(const WgmmaLayout &layout, Type type,
                                       ArrayRef<int64_t> block) {
  SmallVector<int64_t> pitches, swizzle;
  for (unsigned number : dims)
    pitches.push_back(layout.pitches[number] ? layout.pitches[number]
                                             : layout.elements);
  if (layout.swizzled)
    swizzle = getSwizzle(block, pitches, layout.elementBytes);
  auto attribute = tile::LayoutAttr::get(b.getContext(), pitches, swizzle);
  return tile::BufferType::get(block, type, attribute);
}

SmallVector<int64_t> WgmmaTiles::getOrder(const StepArray &array) const {
  SmallVector<int64_t> order;
  for (bool isContiguous : {false, true})
    for (auto [dim, number] : llvm::enumerate(dims))
      if (array.strides[plan.axes[number].strideAxis].is(1) == isContiguous)
        order.push_back(dim);
  if (llvm::is_sorted(order))
    order.clear();
  return order;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void WgmmaTiles::begin() {
  FusedTiles::begin(plan.threads, /*cluster=*/1, plan.getNumGroups(),
                    plan.getShares());
}

Value WgmmaTiles::prepare(unsigned index) {
  const WgmmaStep &step = plan.steps[index];
  int64_t columns = plan.getShares() > 1 ? step.paddedResults : step.sizeN;
  bool isHalf = step.kind == WgmmaKind::Half;
  auto type = tile::OperandType::get(
      {step.sizeK, columns}, isHalf ? inputType : Type(b.getF32Type()),
      isHalf ? tile::AtomKind::WgmmaHalf : tile::AtomKind::WgmmaTF32,
      step.innermost ? tile::OperandOrder::Quads : tile::OperandOrder::Pairs);
  return tile::PrepareOp::create(
      b, loc, type, kernel.getArgument(factors[index]), /*warps=*/1,
      /*together=*/1, /*residuals=*/step.kind == WgmmaKind::Split,
      /*split=*/false, /*streamed=*/false);
}

void WgmmaTiles::store(Value sums, Value block, Value tile, int64_t along,
                       ArrayRef<int64_t> box) {
  tile::StoreOp op =
      kernel.store(arguments, sums, block, tile, getStoreBytes());
  op.setAlong(along);
  op.setBox(box);
  op.setAxes(axes);
}

void WgmmaTiles::storeElements(Value buffer, Value tile) {
  tile::StoreOp op = kernel.store(arguments, buffer, /*boxes=*/Value(), tile,
                                  getElementBytes(outputType));
  if (SmallVector<int64_t> order = getOrder(operands.init); !order.empty())
    op.setOrder(order);
  op.setAxes(axes);
}
