//===- SimtPlan.cpp - Launches and tiles of the general GPU code ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/SimtPlan.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Results per thread, at most.
static constexpr int64_t kMaxBlock = 8;
/// Elements of a tile, more than fit any SM: sizes of larger ones need not be
/// worked out.
static constexpr int64_t kMaxTileElements = 1 << 20;

int64_t SimtStage::getPaddedResults() const {
  return llvm::alignTo(sizeN, block);
}

/// Results per thread: few enough for registers, and a divisor if there is one.
static int64_t chooseBlock(int64_t sizeN) {
  for (int64_t block = kMaxBlock; block >= 4; --block)
    if (sizeN % block == 0)
      return block;
  return std::min(sizeN, kMaxBlock);
}

SmallVector<int64_t> kron::getBufferStrides(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides(extents.size(), 1);
  int64_t stride = 1;
  for (unsigned axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
    // The innermost axis of more than one position.
    if (stride == extents[axis] && stride > 1)
      stride |= 1;
  }
  return strides;
}

static int64_t getBufferElements(ArrayRef<int64_t> extents) {
  SmallVector<int64_t> strides = getBufferStrides(extents);
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(extents, strides))
    last += (extent - 1) * stride;
  return last + 1;
}

int64_t kron::getTileElements(ArrayRef<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    if (llvm::MulOverflow(elements, extent, elements))
      return std::numeric_limits<int64_t>::max();
  return elements;
}

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

static int64_t getFactorSize(ModeProductOp product, unsigned dim) {
  return cast<ShapedType>(product.getFactor().getType()).getDimSize(dim);
}

static bool isVarying(ModeProductOp product) {
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims()))
    if (axis >= 0 && getFactorSize(product, dim) != 1)
      return true;
  return false;
}

std::variant<SimtChain, std::string> kron::describeSimt(FusedOp fused) {
  if (hasEmptyArray(fused))
    return "an array has no elements";
  if (isRegrouped(fused))
    return "axes are regrouped between factors";
  SimtChain chain;
  chain.products = fused.getModeProducts();
  chain.elementBytes =
      getElementBytes(getAccumulatorType(getElementType(fused.getInit())));
  // An axis that is stretched counts as stretched from the start: the input's
  // stride along it is 0.
  auto init = cast<ShapedType>(fused.getInit().getType());
  chain.shapes.resize(chain.products.size() + 1);
  chain.shapes.back().assign(init.getShape().begin(), init.getShape().end());
  for (unsigned index = chain.products.size(); index-- > 0;) {
    ModeProductOp product = chain.products[index];
    if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
      return "a factor has a dynamic shape";
    chain.shapes[index] = chain.shapes[index + 1];
    int64_t &size = chain.shapes[index][product.getAxis()];
    if (size != getFactorSize(product, product.getResultingFactorDim()) &&
        !ShapedType::isDynamic(size))
      return "an axis is stretched after it was contracted";
    size = getFactorSize(product, product.getContractedFactorDim());
  }
  return chain;
}

/// Puts factors into shared memory, in the order of application, as long as
/// there is room.
static void placeFactors(SimtLaunch &launch) {
  int64_t offset = 0;
  for (SimtStage &stage : launch.stages) {
    int64_t size = stage.sizeK * stage.getPaddedResults() * launch.elementBytes;
    if (isVarying(stage.product) || offset + size > kGPUForms.simtFactorBytes)
      continue;
    stage.factorOffset = offset;
    offset = llvm::alignTo(offset + size, 128);
  }
  launch.bufferOffsets[0] = offset;
}

SimtLaunch kron::describeSimtLaunch(const SimtChain &chain, unsigned first,
                                    unsigned end) {
  SimtLaunch launch;
  launch.before = chain.shapes[first];
  launch.after = chain.shapes[end];
  launch.elementBytes = chain.elementBytes;
  launch.contracted.resize(launch.after.size());
  for (ModeProductOp product :
       ArrayRef(chain.products).slice(first, end - first)) {
    SimtStage stage;
    stage.product = product;
    stage.axis = product.getAxis();
    stage.sizeK = getFactorSize(product, product.getContractedFactorDim());
    stage.sizeN = getFactorSize(product, product.getResultingFactorDim());
    stage.block = chooseBlock(stage.sizeN);
    launch.contracted.set(stage.axis);
    launch.stages.push_back(stage);
  }
  placeFactors(launch);
  return launch;
}

//===----------------------------------------------------------------------===//
// What follows from the choices
//===----------------------------------------------------------------------===//

/// Sets the extents of all steps, given those of the axes not contracted.
static void setExtents(SimtLaunch &launch, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> extents(tile);
  for (unsigned axis : launch.contracted.set_bits())
    extents[axis] = launch.before[axis];
  launch.extents.assign(1, extents);
  for (const SimtStage &stage : launch.stages) {
    extents[stage.axis] = stage.sizeN;
    launch.extents.push_back(extents);
  }
}

/// Lays the buffers out behind the factors.
static void placeBuffers(SimtLaunch &launch) {
  int64_t elements[2] = {0, 0};
  for (auto [index, extents] : llvm::enumerate(launch.extents))
    elements[index % 2] =
        std::max(elements[index % 2], getBufferElements(extents));
  auto getEnd = [&](int64_t index) {
    return launch.bufferOffsets[index] +
           llvm::alignTo(elements[index] * launch.elementBytes, 128);
  };
  launch.bufferOffsets[1] = getEnd(0);
  launch.sharedBytes = getEnd(1);
}

void kron::setSimtTile(SimtLaunch &launch, ArrayRef<int64_t> tile) {
  setExtents(launch, tile);
  placeBuffers(launch);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// What is wrong with the tile that `choices` gives `launch`; an empty string
/// if there is nothing.
static std::string findWrongExtent(const SimtLaunch &launch,
                                   const SimtChoices &choices) {
  if (choices.extents.size() != launch.before.size())
    return expects("extents to have " + Twine(launch.before.size()) +
                       " numbers, one per axis",
                   choices.extents.size());
  for (unsigned axis : launch.contracted.set_bits())
    if (choices.extents[axis] != launch.before[axis])
      return expects("extents of axis " + Twine(axis) +
                         ", which is contracted, to be " +
                         Twine(launch.before[axis]),
                     choices.extents[axis]);
  if (choices.ctasPerSM < 1)
    return expects("ctas_per_sm to be positive", choices.ctasPerSM);
  return "";
}

std::variant<SimtPlan, std::string> kron::readSimtPlan(FusedOp fused,
                                                       GPUPlanAttr plan) {
  std::variant<SimtChain, std::string> described = describeSimt(fused);
  auto *chain = std::get_if<SimtChain>(&described);
  if (!chain)
    return std::get<std::string>(described);
  SimtPlan read;
  PlanReader reader(plan);
  reader("threads", read.threads);
  if (read.threads < 1)
    return expects("threads to be positive", read.threads);
  int64_t first = 0, count = chain->products.size();
  for (Attribute part : plan.getFields().getAs<ArrayAttr>("launches")) {
    SimtChoices choices;
    PlanReader partReader(kSimtLaunch, cast<DictionaryAttr>(part));
    SimtChoices::visitFields(partReader, choices);
    if (choices.factors < 1 || choices.factors > count - first)
      return expects("factors of launch " + Twine(read.launches.size() + 1) +
                         " to be in [1, " + Twine(count - first) + "]",
                     choices.factors);
    SimtLaunch launch =
        describeSimtLaunch(*chain, first, first + choices.factors);
    std::string reason = findWrongExtent(launch, choices);
    if (!reason.empty())
      return reason;
    setExtents(launch, choices.extents);
    int64_t elements = 0;
    for (ArrayRef<int64_t> extents : launch.extents)
      elements = std::max(elements, getTileElements(extents));
    if (elements > kMaxTileElements)
      return expects("extents of tiles that fit shared memory, " +
                         Twine(kMaxTileElements) + " elements at most",
                     elements);
    placeBuffers(launch);
    launch.ctasPerSM = choices.ctasPerSM;
    read.launches.push_back(std::move(launch));
    first += choices.factors;
  }
  if (first != count)
    return expects("launches to apply " + Twine(count) + " factors", first);
  return read;
}
