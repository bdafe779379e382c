//===- SimtPlan.cpp - Launches and tiles of the general GPU code ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/SimtPlan.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Tile/IR/TileLayout.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::kron;

/// Results per thread that a plan has by default, at most.
static constexpr int64_t kMaxBlock = 8;
/// Fibres, and results of each, that a thread computes together, at most.
static constexpr int64_t kMaxTogether = 16;
/// Elements of a tile, more than fit any SM: sizes of larger ones need not be
/// worked out.
static constexpr int64_t kMaxTileElements = 1 << 20;

int64_t SimtStep::getParts() const {
  return resultStep * llvm::divideCeil(tileResults, resultStep * block);
}

int64_t kron::getEqualPart(int64_t sizeN) {
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

/// Whether the factor of `product` varies along `axis`.
static bool isVaryingAlong(ModeProductOp product, unsigned axis) {
  for (auto [dim, own] : llvm::enumerate(product.getFactorDims()))
    if (own == int64_t(axis) && getFactorSize(product, dim) != 1)
      return true;
  return false;
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
  Type element = getElementType(fused.getInit());
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (element.isF80())
    return "a GPU has no arithmetic of f80";
  SimtChain chain;
  chain.products = fused.getModeProducts();
  chain.element = getAccumulatorType(getElementType(fused.getInit()));
  chain.elementBytes = getElementBytes(chain.element);
  chain.resultStrides = getKnownStrides(fused.getInit());
  chain.resultBytes = getElementBytes(getElementType(fused.getInit()));
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

int64_t kron::getFibres(const SimtLaunch &launch, unsigned index) {
  return getTileElements(launch.extents[index + 1]) /
         launch.steps[index].tileResults;
}

bool SimtLaunch::keepsData() const {
  const SimtStep &step = steps.front();
  return vectorStore &&
         step.sizeK * step.fibres * llvm::divideCeil(elementBytes, 4) <=
             kDirectRegisters;
}

int64_t kron::getDirectUnrolled(const SimtLaunch &launch) {
  const SimtStep &step = launch.steps.front();
  int64_t words = llvm::divideCeil(launch.elementBytes, 4);
  // All data stay for the other parts that lie alike, if they can.
  if (launch.keepsData())
    return step.sizeK;
  int64_t registers = (step.fibres + step.block) * words;
  return std::clamp<int64_t>(kDirectRegisters / registers, 1,
                             2 * kSimtUnrolled);
}

std::optional<unsigned> kron::findAcross(const SimtLaunch &launch,
                                         ArrayRef<int64_t> extents) {
  ModeProductOp product = launch.steps.front().product;
  std::optional<unsigned> across;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    if (!launch.contracted[axis] && !isVaryingAlong(product, axis) &&
        (!across || extent > extents[*across]))
      across = axis;
  }
  return across;
}

/// Finds the axis of neighbouring results that a factor does not vary along,
/// and which results of the only step lie alike in sectors.
static void findVectorAxis(const SimtChain &chain, SimtLaunch &launch) {
  const SimtStep &step = launch.steps.front();
  int64_t stride = chain.resultStrides[step.axis];
  if (isa<ComplexType>(chain.element) || ShapedType::isDynamic(stride))
    return;
  for (auto [axis, own] : llvm::enumerate(chain.resultStrides))
    if (own == 1 && launch.after[axis] != 1 && axis != step.axis &&
        !isVaryingAlong(step.product, axis))
      launch.vectorAxis = axis;
  int64_t sector = kVectorRowBytes / chain.resultBytes;
  launch.alikeStep = sector / std::gcd(sector, stride);
}

/// Puts factors into shared memory, in the order of application, as long as
/// there is room; returns their bytes.
static int64_t placeFactors(SimtLaunch &launch) {
  int64_t bytes = 0;
  for (SimtStep &step : launch.steps) {
    int64_t row = step.getPaddedResults() * launch.elementBytes;
    int64_t size = step.sizeK * llvm::alignTo(row, 16);
    step.isShared = !step.varies && bytes + size <= launch.factorBytes;
    if (step.isShared)
      bytes += size;
  }
  return bytes;
}

SimtLaunch kron::describeSimtLaunch(const SimtChain &chain, unsigned first,
                                    unsigned end, int64_t factorBytes) {
  SimtLaunch launch;
  launch.factorBytes = factorBytes;
  launch.before = chain.shapes[first];
  launch.after = chain.shapes[end];
  launch.elementBytes = chain.elementBytes;
  launch.contracted.resize(launch.after.size());
  for (ModeProductOp product :
       ArrayRef(chain.products).slice(first, end - first)) {
    SimtStep step;
    step.product = product;
    step.axis = product.getAxis();
    step.sizeK = getFactorSize(product, product.getContractedFactorDim());
    step.sizeN = getFactorSize(product, product.getResultingFactorDim());
    step.tileResults = step.sizeN;
    step.block = getEqualPart(step.sizeN);
    step.varies = isVarying(product);
    launch.contracted.set(step.axis);
    launch.steps.push_back(step);
  }
  if (first + 1 == end && end == chain.products.size())
    findVectorAxis(chain, launch);
  return launch;
}

//===----------------------------------------------------------------------===//
// What follows from the choices
//===----------------------------------------------------------------------===//

/// Sets the extents of all steps, given those of the axes not contracted, or of
/// all axes of the results where data are loaded directly.
static void setExtents(SimtLaunch &launch, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> extents(tile);
  if (launch.directLoad) {
    launch.extents.assign(2, extents);
    SimtStep &step = launch.steps.front();
    step.tileResults = extents[step.axis];
    step.block = getEqualPart(step.tileResults);
    step.resultStep = 1;
    launch.across = findAcross(launch, extents);
    if (launch.vectorStore) {
      launch.across = launch.vectorAxis;
      step.resultStep = std::min(launch.alikeStep, step.tileResults);
    }
    return;
  }
  for (unsigned axis : launch.contracted.set_bits())
    extents[axis] = launch.before[axis];
  launch.extents.assign(1, extents);
  for (const SimtStep &step : launch.steps) {
    extents[step.axis] = step.sizeN;
    launch.extents.push_back(extents);
  }
}

/// Works out the bytes of factors and buffers.
static void placeBuffers(SimtLaunch &launch) {
  if (launch.directLoad)
    return;
  int64_t elements[2] = {0, 0};
  for (auto [index, extents] : llvm::enumerate(launch.getBuffers()))
    elements[index % 2] =
        std::max(elements[index % 2], getBufferElements(extents));
  launch.sharedBytes = placeFactors(launch);
  for (int64_t count : elements)
    launch.sharedBytes += llvm::alignTo(count * launch.elementBytes, 16);
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
  for (unsigned axis : launch.contracted.set_bits()) {
    int64_t most = launch.steps.front().sizeN;
    if (choices.directLoad && choices.extents[axis] > most)
      return expects("extents of axis " + Twine(axis) +
                         ", which has results, to be up to " + Twine(most),
                     choices.extents[axis]);
    if (!choices.directLoad && choices.extents[axis] != launch.before[axis])
      return expects("extents of axis " + Twine(axis) +
                         ", which is contracted, to be " +
                         Twine(launch.before[axis]),
                     choices.extents[axis]);
  }
  if (choices.ctasPerSM < 1)
    return expects("ctas_per_sm to be positive", choices.ctasPerSM);
  return "";
}

/// What is wrong with a launch that has data go from memory to registers, or
/// with lanes of one that has not; an empty string if there is nothing.
static std::string findWrongLoad(const SimtChoices &choices) {
  if (!choices.directLoad && choices.lanesK != 1)
    return expects("k_lanes to be 1 without direct_load", choices.lanesK);
  if (choices.vectorStore && (!choices.directLoad || choices.lanesK != 1))
    return expects("vector_store to be 0 without direct_load, or with k_lanes",
                   choices.vectorStore);
  if (!choices.directLoad)
    return "";
  if (choices.factors != 1)
    return expects("direct_load to be of one factor", choices.factors);
  if (!choices.directStore)
    return expects("direct_store to be 1 with direct_load",
                   choices.directStore);
  if (!llvm::isPowerOf2_64(choices.lanesK))
    return expects("k_lanes to be a power of two", choices.lanesK);
  return "";
}

/// The most fibres of step `index` that a thread may have.
static int64_t getMostFibres(const SimtLaunch &launch, unsigned index) {
  const SimtStep &step = launch.steps[index];
  if (launch.directLoad)
    return launch.across
               ? std::min(launch.extents.front()[*launch.across], kMaxTogether)
               : 1;
  return step.varies ? 1 : std::min(getFibres(launch, index), kMaxTogether);
}

/// What is wrong with the neighbours that threads of `launch` store together;
/// an empty string if there is nothing.
static std::string findWrongVectors(const SimtLaunch &launch, int64_t bytes) {
  if (!launch.vectorStore)
    return "";
  int64_t together = launch.steps.front().fibres;
  if (together < 2 || !llvm::isPowerOf2_64(together) ||
      together * bytes > kVectorBytes)
    return expects("fibres to be neighbours of up to 16 bytes with "
                   "vector_store, a power of two from 2 on",
                   together);
  return "";
}

/// Takes what `choices` say of what threads compute together into `launch`,
/// whose tile is known; what is wrong with that, or an empty string.
static std::string takeBlocks(SimtLaunch &launch, const SimtChoices &choices) {
  int64_t count = launch.steps.size();
  for (auto [name, values] : {std::pair("fibres", ArrayRef(choices.fibres)),
                              {"results", ArrayRef(choices.results)}})
    if (!values.empty() && int64_t(values.size()) != count)
      return expects(Twine(name) + " to have " + Twine(count) +
                         " numbers, one per factor",
                     int64_t(values.size()));
  for (auto [index, step] : llvm::enumerate(launch.steps)) {
    if (!choices.results.empty())
      step.block = choices.results[index];
    if (!choices.fibres.empty())
      step.fibres = choices.fibres[index];
    int64_t most = std::min(step.tileResults, kMaxTogether);
    if (step.block < 1 || step.block > most)
      return expects("results of factor " + Twine(index + 1) +
                         " to be in [1, " + Twine(most) + "]",
                     step.block);
    most = getMostFibres(launch, index);
    if (step.fibres < 1 || step.fibres > most)
      return expects("fibres of factor " + Twine(index + 1) + " to be in [1, " +
                         Twine(most) + "]",
                     step.fibres);
    if (launch.directLoad && launch.across &&
        launch.extents.front()[*launch.across] % step.fibres != 0)
      return expects("fibres to divide the " +
                         Twine(launch.extents.front()[*launch.across]) +
                         " positions of axis " + Twine(*launch.across),
                     step.fibres);
  }
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
    SimtLaunch launch = describeSimtLaunch(
        *chain, first, first + choices.factors, choices.factorBytes);
    std::string reason = findWrongLoad(choices);
    if (reason.empty())
      reason = findWrongExtent(launch, choices);
    if (!reason.empty())
      return reason;
    launch.directLoad = choices.directLoad;
    launch.lanesK = choices.lanesK;
    launch.vectorStore = choices.vectorStore;
    if (launch.vectorStore && !launch.vectorAxis)
      return expects("vector_store to be 0 where the factor varies along "
                     "neighbouring results, or these are of the axis that it "
                     "contracts, or complex",
                     choices.vectorStore);
    setExtents(launch, choices.extents);
    int64_t elements = 0;
    for (ArrayRef<int64_t> extents : launch.extents)
      elements = std::max(elements, getTileElements(extents));
    if (elements > kMaxTileElements)
      return expects("extents of tiles of " + Twine(kMaxTileElements) +
                         " elements at most",
                     elements);
    reason = takeBlocks(launch, choices);
    if (reason.empty())
      reason = findWrongVectors(launch, chain->resultBytes);
    if (!reason.empty())
      return reason;
    launch.directStore = choices.directStore;
    placeBuffers(launch);
    launch.ctasPerSM = choices.ctasPerSM;
    read.launches.push_back(std::move(launch));
    first += choices.factors;
  }
  if (first != count)
    return expects("launches to apply " + Twine(count) + " factors", first);
  return read;
}
