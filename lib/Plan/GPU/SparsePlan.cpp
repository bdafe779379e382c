//===- SparsePlan.cpp - Tiles of a Kronecker-sparse factor ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/SparsePlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Problem.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace mlir;
using namespace mlir::kron;

static int64_t getPowerOfTwo(int64_t number) { return number & -number; }

int64_t SparseTiling::getLaneBlocks() const {
  return llvm::divideCeil(lanes, getLanes());
}

int64_t SparseTiling::getResultBlocks() const {
  return llvm::divideCeil(getPlaces(), getResults());
}

int64_t SparseTiling::getTilesPerRows() const {
  int64_t tiles = getLaneBlocks() * getResultBlocks();
  for (int64_t size : groupSizes)
    tiles *= size;
  return tiles;
}

int64_t SparseTiling::getDataFeatures() const {
  int64_t features = lanes * sizeK;
  for (int64_t size : groupSizes)
    features *= size;
  return features;
}

int64_t SparseTiling::getResultFeatures() const {
  return getDataFeatures() / sizeK * sizeN;
}

//===----------------------------------------------------------------------===//
// What follows from the operation
//===----------------------------------------------------------------------===//

/// The axis of the op whose elements are neighbours in the input, of those with
/// more than one position.
static unsigned getInnermostAxis(FusedOp fused, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  SmallVector<int64_t> order;
  for (unsigned axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  if (auto permutation = fused.getInputPermutation())
    for (auto [axis, dim] : llvm::enumerate(*permutation))
      order[dim] = axis;
  for (unsigned dim = rank; dim-- > 0;)
    if (shape[order[dim]] != 1)
      return order[dim];
  return rank - 1;
}

static bool isFew(int64_t rows) {
  return !ShapedType::isDynamic(rows) && rows <= kSparseFewRows;
}

/// The axis of the rows among `axes`, which the factor does not vary on: the
/// innermost one of the input unless it is too short for chunks, else the
/// longest one.
static unsigned chooseRowAxis(ArrayRef<unsigned> axes, unsigned innermost,
                              ArrayRef<int64_t> shape) {
  if (llvm::is_contained(axes, innermost) && !isFew(shape[innermost]))
    return innermost;
  auto getNominalSize = [&](unsigned axis) {
    return ShapedType::isDynamic(shape[axis]) ? kNominalRows : shape[axis];
  };
  return *std::max_element(axes.begin(), axes.end(),
                           [&](unsigned lhs, unsigned rhs) {
                             return getNominalSize(lhs) < getNominalSize(rhs);
                           });
}

/// Sorts the axes.
static void describeAxes(FusedOp fused, bool copiesSingly,
                         SparseProblem &problem) {
  ModeProductOp product = fused.getModeProducts().front();
  ProblemFactor factor = describeFactor(product);
  SmallVector<int64_t> shape = getResultShape(product);
  problem.axis = factor.axis;
  problem.sizeK = factor.sizeK;
  problem.sizeN = factor.sizeN;
  shape[problem.axis] = problem.sizeK;
  SmallVector<unsigned> varying, others;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (axis != problem.axis && size != 1)
      (llvm::is_contained(factor.varyingAxes, axis) ? varying : others)
          .push_back(axis);
  int lane = getInnermostAxis(fused, shape);
  if (!others.empty()) {
    problem.rowAxis = chooseRowAxis(others, lane, shape);
    problem.rows = shape[problem.rowAxis];
  }
  for (unsigned axis : others) {
    if (int(axis) == problem.rowAxis)
      continue;
    problem.freeAxes.push_back(axis);
    problem.freeSizes.push_back(shape[axis]);
  }
  problem.hasInnermostRows = problem.rowAxis >= 0 && lane == problem.rowAxis;
  problem.alongRows = problem.hasInnermostRows && !copiesSingly;
  if (problem.hasInnermostRows && copiesSingly && !varying.empty() &&
      varying.back() > problem.axis)
    lane = varying.back();
  for (unsigned axis : varying) {
    if (int(axis) == lane) {
      problem.laneAxis = axis;
      problem.lanes = shape[axis];
    } else {
      problem.groupAxes.push_back(axis);
      problem.groupSizes.push_back(shape[axis]);
    }
  }
}

/// What products and packed operands are made of; false if there are no such
/// kernels.
static bool describeElements(Type input, Type factor, SparseProblem &problem) {
  problem.setElementBytes(getElementBytes(problem.element));
  if (input == problem.element && factor == problem.element)
    return true;
  auto isTaken = [](Type type) { return isFloat8(type) || type.isF16(); };
  if (!isTaken(input) || !isTaken(factor) || problem.element.isF64() ||
      !(isFloat8(input) || isFloat8(factor)))
    return false;
  problem.elementBytes = 2;
  problem.dataBytes = getElementBytes(input);
  problem.factorBytes = getElementBytes(factor);
  return true;
}

std::variant<SparseProblem, std::string>
kron::describeSparse(FusedOp fused, bool copiesSingly) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  ModeProductOp product = products.front();
  if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
    return "a factor has a dynamic shape";
  SparseProblem problem;
  problem.element = getElementType(fused.getInit());
  if (!isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(
          problem.element))
    return "elements are not f32, f64, f16 or bf16";
  if (problem.element.isF32() && product.getPrecision() == Precision::Ieee)
    return "precision is ieee";
  if (!describeElements(getElementType(fused.getInputs().front()),
                        getElementType(product.getFactor()), problem))
    return "arrays have different element types";
  if (hasEmptyArray(fused))
    return "an array has no elements";
  describeAxes(fused, copiesSingly, problem);
  bool isFull =
      problem.element.isF32() && product.getPrecision() != Precision::TF32;
  problem.math = problem.element.isF64()             ? MmaMath::F64
                 : isFull && !problem.is16BitFloat() ? MmaMath::SplitTF32
                                                     : MmaMath::TF32;
  problem.hasPartialSums = isFull && problem.sizeK > kSparseSummedK;
  problem.hasEpilogue = static_cast<bool>(fused.getEpilogue());
  return problem;
}

//===----------------------------------------------------------------------===//
// What follows from choices
//===----------------------------------------------------------------------===//

bool kron::mayHaveWideChunks(const SparsePlan &plan) {
  int64_t chunk = kSparseWideBytes / plan.elementBytes;
  return !plan.alongRows && !plan.copiesSingly && !plan.isOf8() &&
         plan.elementBytes != 8 && plan.lanes % 3 == 0 &&
         chunk % plan.lanes == 0;
}

void kron::setSparseChunks(SparsePlan &plan) {
  int64_t chunk = plan.getChunk();
  plan.lanesPerChunk = plan.isWideChunk() ? plan.lanes
                       : plan.alongRows
                           ? 1
                           : std::min(getPowerOfTwo(plan.lanes), chunk);
  plan.chunkK = chunk / plan.lanesPerChunk;
  plan.order = SparseOrder::Plain;
  // Results need no order where their neighbours in memory are rows.
  if (plan.alongRows || plan.turnsRows)
    return;
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  if (chunks > 1) {
    if (plan.lanesPerChunk == chunk && chunks % 2 == 0 &&
        plan.laneChunks % 2 == 0)
      plan.order = SparseOrder::Pairs;
  } else if (plan.chunkK == 1) {
    plan.order = SparseOrder::Spread;
  } else if (!plan.skinnyM) {
    // Of few rows, stores matter less than parallel tiles.
    plan.order = SparseOrder::Chunks;
  }
}

bool kron::mayShiftSparse(FusedOp fused, const SparsePlan &plan, int64_t unit) {
  auto type = dyn_cast<MemRefType>(fused.getInit().getType());
  SmallVector<int64_t> strides;
  int64_t offset, chunk = plan.getChunk();
  if (!type || plan.order != SparseOrder::Chunks || plan.rowAxis < 0 ||
      plan.alongRows || plan.swapsOperands || plan.chunkK != chunk ||
      plan.getResultWords() != 4 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides[plan.axis] != 1)
    return false;
  EpilogueOp epilogue = fused.getEpilogue();
  if (!getBeta(fused.getModeProducts().front()).isZero() ||
      (epilogue && (epilogue.getBias() || epilogue.getResidual())))
    return false;
  auto isWhole = [&](unsigned axis) {
    return !ShapedType::isDynamic(strides[axis]) && strides[axis] % unit == 0;
  };
  auto isKnownPart = [&](unsigned axis) {
    return !ShapedType::isDynamic(strides[axis]) && strides[axis] % unit != 0;
  };
  bool isShifted =
      plan.sizeN % chunk != 0 || llvm::any_of(plan.groupAxes, isKnownPart);
  return unit >= chunk && llvm::isPowerOf2_64(unit) && isShifted &&
         isWhole(plan.rowAxis) && llvm::all_of(plan.freeAxes, isWhole);
}

/// Why tiles do not start as `plan` says, or nothing.
static std::optional<std::string> getShiftReason(FusedOp fused,
                                                 const SparsePlan &plan) {
  if (!plan.shiftUnit)
    return std::nullopt;
  // Results that are shared out anew need not start at chunks.
  if (plan.sharedStore)
    return expects("shift to be 0 with shared_store = 1", plan.shiftUnit);
  if (!mayShiftSparse(fused, plan, plan.shiftUnit))
    return expects("shift to be 0, or elements of 16 bytes and more, a power "
                   "of two, whose multiples rows of results start at but "
                   "groups of them do not",
                   plan.shiftUnit);
  return std::nullopt;
}

/// Whether neighbours in the memory of `product`'s factor lie along its K.
static bool isAlongK(FusedOp fused, ModeProductOp product) {
  ArrayRef<int64_t> axes = product.getFactorDims();
  SmallVector<int64_t> strides =
      getKnownStrides(fused.getOperandOf(product.getFactor()));
  const auto *sizeK = llvm::find(axes, ModeProductOp::kContracted);
  return strides[sizeK - axes.begin()] == 1;
}

/// Data with rows side by side are operand B: they are prepared, as a factor
/// is, and the factor, along whose K chunks are, is read as data are.
std::optional<std::string> kron::swapSparseOperands(FusedOp fused,
                                                    SparsePlan &plan) {
  if (!plan.alongRows)
    return "operands change places where rows are innermost only";
  if (!plan.freeAxes.empty() || ShapedType::isDynamic(plan.rows) ||
      plan.rows % plan.getChunk() != 0)
    return "operands change places where rows are one axis of a known size, a "
           "multiple of 16 bytes, only";
  if (!isAlongK(fused, fused.getModeProducts().front()))
    return "operands change places where K is innermost in the factor only";
  plan.swapsOperands = true;
  plan.swappedRows = plan.sizeN;
  plan.sizeN = plan.rows;
  plan.alongRows = false;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Whole copies
//===----------------------------------------------------------------------===//

/// The strides of the lanes and of K of the data, or of the factor, of `plan`;
/// of others those that are known. A factor of unknown strides is copied so if
/// it turns out to be row-major.
static SmallVector<int64_t, 2>
getLaneStrides(FusedOp fused, const SparsePlan &plan, bool isFactor,
               SmallVectorImpl<int64_t> &others) {
  ModeProductOp product = fused.getModeProducts().front();
  Value array = isFactor ? fused.getOperandOf(product.getFactor())
                         : fused.getInputs().front();
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  SmallVector<int64_t> strides = getKnownStrides(array);
  SmallVector<int64_t, 2> found{plan.lanes == 1 ? 1 : 0, 0};
  int64_t rowMajor = 1;
  for (int64_t dim = strides.size(); dim-- > 0; rowMajor *= shape[dim]) {
    int64_t axis = isFactor ? product.getFactorDims()[dim] : dim;
    int64_t contracted =
        isFactor ? int64_t(ModeProductOp::kContracted) : int64_t(plan.axis);
    if (shape[dim] == 1)
      continue;
    if (isFactor && ShapedType::isDynamic(strides[dim]))
      strides[dim] = rowMajor;
    if (axis == contracted)
      found[1] = strides[dim];
    else if (axis == plan.laneAxis)
      found[0] = strides[dim];
    else if (!ShapedType::isDynamic(strides[dim]))
      others.push_back(strides[dim]);
  }
  return found;
}

static std::string getStrideText(int64_t stride) {
  return ShapedType::isDynamic(stride) ? "?" : std::to_string(stride);
}

std::optional<std::string>
kron::getWholeCopyReason(FusedOp fused, const SparsePlan &plan, bool isFactor) {
  if (plan.alongRows && isFactor)
    return "chunks of data lie along rows";
  if (plan.copiesSingly || plan.swapsOperands)
    return plan.copiesSingly ? "copies_singly = 1" : "swaps_operands = 1";
  if (plan.isOf8())
    return "elements have 8 bits";
  if (!isFactor && fused.getInputPermutation())
    return "the data are transposed";
  if (plan.alongRows) {
    int64_t stride = getKnownStrides(fused.getInputs().front())[plan.rowAxis];
    if (stride == 1)
      return std::nullopt;
    return expects("rows of the data to lie 1 element apart",
                   getStrideText(stride));
  }
  StringRef array = isFactor ? "the factor" : "the data";
  SmallVector<int64_t> others;
  auto strides = getLaneStrides(fused, plan, isFactor, others);
  if (strides[0] != 1 || strides[1] != plan.lanes)
    return expects("lanes and positions of K of " + array + " to lie 1 and " +
                       Twine(plan.lanes) + " elements apart",
                   getStrideText(strides[0]) + " and " +
                       getStrideText(strides[1]));
  for (int64_t stride : others)
    if (stride % plan.lanesPerChunk != 0)
      return expects("strides of " + array + " to be multiples of " +
                         Twine(plan.lanesPerChunk) + ", the lanes of a chunk",
                     stride);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Whether kernels have such tiles
//===----------------------------------------------------------------------===//

/// What has to be known before anything can be worked out.
static std::optional<std::string> getChunkReason(const SparsePlan &plan) {
  if (plan.chunkBytes != kSparseChunkBytes &&
      plan.chunkBytes != kSparseWideBytes)
    return expects("chunk_bytes to be 16 or 48", plan.chunkBytes);
  if (plan.isWideChunk() && !mayHaveWideChunks(plan))
    return expects("chunk_bytes to be 16 for these lanes", plan.chunkBytes);
  if (plan.stepK < 1)
    return expects("k_step to be positive", plan.stepK);
  if (plan.copiesSingly && !plan.hasInnermostRows)
    return expects("copies_singly to be 0 where rows are not innermost", 1);
  return std::nullopt;
}

/// Fields whose product is the number of a CTA's warps.
static std::array<std::pair<StringRef, int64_t>, 5>
getWarps(const SparseChoices &plan) {
  return {{{"row_warps", plan.rowWarps},
           {"result_warps", plan.resultWarps},
           {"k_warps", plan.warpsK},
           {"tile_warps", plan.tileWarps},
           {"warp_groups", plan.warpGroups}}};
}

std::string kron::getSparseWarpsText(const SparseChoices &plan) {
  std::string text;
  for (auto [name, warps] : getWarps(plan))
    text +=
        (text.empty() ? "" : ", ") + name.str() + " = " + std::to_string(warps);
  return text;
}

/// Whether numbers of warps, and of what they have, are in range.
static std::optional<std::string> getSizeReason(const SparsePlan &plan) {
  constexpr int64_t kMostThreads = 1024, kMostThreadsPerSM = 2048;
  // Each warp group has one of 16 barriers, another one is everybody's.
  constexpr int64_t kMostSums = tile::kMostChunkSums, kMostStages = 64,
                    kMostWarpGroups = 15;
  struct Size {
    llvm::StringLiteral name;
    int64_t value, most;
  };
  for (const Size &size :
       {Size{"row_tiles", plan.rowTiles, kMostSums},
        Size{"result_tiles", plan.resultTiles, kMostSums},
        Size{"row_warps", plan.rowWarps, kMostThreads / 32},
        Size{"result_warps", plan.resultWarps, kMostThreads / 32},
        Size{"k_warps", plan.warpsK, kMostThreads / 32},
        Size{"tile_warps", plan.tileWarps, kMostThreads / 32},
        Size{"warp_groups", plan.warpGroups, kMostWarpGroups},
        Size{"ctas_per_sm", plan.ctasPerSM, kMostThreadsPerSM / 32},
        Size{"lane_chunks", plan.laneChunks,
             plan.alongRows ? 1 : plan.lanes / plan.lanesPerChunk}})
    if (size.value < 1 || size.value > size.most)
      return expects(size.name + " to be in [1, " + Twine(size.most) + "]",
                     size.value);
  for (auto [name, warps] : getWarps(plan))
    if (!llvm::isPowerOf2_64(warps))
      return expects(name, "a power of two", warps);
  if (plan.getThreads() > kMostThreads)
    return expects(getSparseWarpsText(plan) + " to make at most 1024 threads",
                   plan.getThreads());
  if (plan.getThreads() * plan.ctasPerSM > kMostThreadsPerSM)
    return expects("ctas_per_sm",
                   "at most " + Twine(kMostThreadsPerSM / plan.getThreads()) +
                       ", with " + Twine(plan.getThreads()) + " threads each",
                   plan.ctasPerSM);
  int64_t mostSums = plan.element.isF64() ? kMostSums / 2 : kMostSums;
  if (plan.getSums() > mostSums)
    return expects("row_tiles = " + Twine(plan.rowTiles) +
                       ", result_tiles = " + Twine(plan.resultTiles) +
                       " and lane_chunks = " + Twine(plan.laneChunks) +
                       " to have sums in at most " + Twine(4 * mostSums) +
                       " elements of a thread",
                   4 * plan.getSums());
  int64_t leastStages =
      !plan.hasRing() || (plan.usesWgmma && plan.keepsFactor) ? 1 : 2;
  if (plan.stages < leastStages || plan.stages > kMostStages)
    return expects("stages to be in [" + Twine(leastStages) + ", " +
                       Twine(kMostStages) + "]",
                   plan.stages);
  return std::nullopt;
}

/// Whether a warp's part of a K step starts where chunks are swizzled as in the
/// first one.
static bool mayShareK(const SparsePlan &plan, bool isFactor) {
  return tile::mayShareChunkRow(plan.getPackedRowBytes(isFactor),
                                plan.getChunkBytes(isFactor), plan.laneChunks,
                                plan.warpsK);
}

std::optional<std::string> kron::getSparseTileReason(const SparsePlan &plan) {
  if (std::optional<std::string> reason = getSizeReason(plan))
    return reason;
  int64_t unit = plan.getResultUnit();
  if (plan.resultTiles % unit != 0)
    return expects("result_tiles to be a multiple of " + Twine(unit),
                   plan.resultTiles);
  int64_t unitK = plan.getMacroK() * plan.warpsK;
  if (plan.stepK % unitK != 0)
    return expects("k_step to be a multiple of " + Twine(unitK), plan.stepK);
  bool isSplit = plan.math == MmaMath::SplitTF32;
  auto found = static_cast<int64_t>(plan.residuals);
  if (plan.has16BitResiduals() && !isSplit)
    return expects("bf16_residuals to be 0 for these elements", found);
  if (plan.usesWgmma && isSplit && !plan.has16BitResiduals())
    return expects("bf16_residuals to be 1 or 2 with wgmma", found);
  if (!plan.usesWgmma && plan.residuals == SparseResiduals::FactorBF16)
    return expects("bf16_residuals to be 0 or 1 without wgmma", found);
  return std::nullopt;
}

/// Why warpgroups cannot multiply by `plan`.
static std::optional<std::string> getWgmmaReason(const SparsePlan &plan) {
  if (plan.isOf8())
    return "an array is of 8 bits, which wgmma does not take";
  if (plan.alongRows || plan.copiesSingly)
    return "rows are innermost, and operands do not change places";
  if (!plan.is16BitFloat() && plan.math != MmaMath::SplitTF32)
    return "elements are not f32 of full precision, f16 or bf16";
  if (plan.rowWarps % tile::kWarpgroupWarps != 0)
    return expects("row_warps to be a multiple of 4", plan.rowWarps);
  if (plan.rowTiles != 1)
    return expects("row_tiles to be 1", plan.rowTiles);
  if (plan.resultTiles > tile::kMostWarpgroupTiles)
    return expects("result_tiles to be at most 32", plan.resultTiles);
  if (plan.warpsK != 1)
    return expects("k_warps to be 1", plan.warpsK);
  if (plan.pairsFactor)
    return expects("pairs_factor to be 0", 1);
  if (plan.swapsOperands && plan.is16BitFloat())
    return "operands of 16 bits do not change places";
  if (plan.swapsOperands && (plan.keepsFactor || plan.warpGroups > 1))
    return "operands change places where no factor is kept only";
  if (plan.swapsOperands && plan.getResults() % kSwappedResults != 0)
    return expects("8 * result_tiles * result_warps to be a multiple of 32 "
                   "where operands change places",
                   plan.getResults());
  return std::nullopt;
}

/// Why no kernel of one factor is as `plan` says.
static std::optional<std::string> getKernelReason(const SparsePlan &plan) {
  if (std::optional<std::string> reason = getSparseTileReason(plan))
    return reason;
  if (plan.tileWarps != 1)
    return expects("tile_warps to be 1 outside of chains", plan.tileWarps);
  if (plan.skinnyM) {
    if (plan.skinnyM < 0 || plan.skinnyM > kSparseSkinnyM)
      return expects("skinny_m to be in [0, 15]", plan.skinnyM);
    if (!ShapedType::isDynamic(plan.rows) && plan.skinnyM < plan.rows)
      return expects("skinny_m to be 0 or at least " + Twine(plan.rows) +
                         ", the number of rows",
                     plan.skinnyM);
    if (plan.alongRows)
      return expects("skinny_m to be 0 where chunks lie along rows",
                     plan.skinnyM);
    if (plan.rowTiles != 1 || plan.rowWarps != 1)
      return expects("row_tiles and row_warps to be 1 of skinny M",
                     plan.rowTiles * plan.rowWarps);
  }
  if (plan.keepsFactor && (plan.warpsK > 1 || plan.skinnyM))
    return expects(
        "k_warps to be 1 and skinny_m to be 0 where a factor is kept",
        plan.warpsK > 1 ? plan.warpsK : plan.skinnyM);
  if (plan.warpGroups > 1 && !plan.keepsFactor)
    return expects("warp_groups to be 1 where no factor is kept",
                   plan.warpGroups);
  if (!plan.keepsFactor && plan.keptTiles)
    return expects("kept_tiles to be 0 where no factor is kept",
                   plan.keptTiles);
  if (plan.pairsFactor &&
      (!plan.keepsFactor || !plan.is16BitFloat() || plan.isOf8() ||
       plan.alongRows || plan.isWideChunk() || plan.lanesPerChunk == 1 ||
       plan.chunkK == 1))
    return expects("pairs_factor to be 0 for this factor", 1);
  if (plan.warpsK > 1 && plan.isWideChunk())
    return expects("k_warps to be 1 of wide chunks", plan.warpsK);
  if (plan.warpsK > 1 &&
      !((plan.alongRows || mayShareK(plan, false)) && mayShareK(plan, true)))
    return expects("k_step of parts of 128 bytes for each of k_warps",
                   plan.stepK);
  if (plan.wholeCopies > 1 && plan.keepsFactor)
    return expects("whole_copies to be at most 1 where a factor is kept",
                   plan.wholeCopies);
  if (plan.wholeCopies && plan.usesWgmma)
    return expects("whole_copies to be 0 with wgmma", plan.wholeCopies);
  if (plan.wholeCopies &&
      (plan.isWideChunk() ||
       (plan.lanesPerChunk == plan.getChunk() && !plan.alongRows)))
    return expects("whole_copies to be 0 of chunks that are neighbours in "
                   "memory",
                   plan.wholeCopies);
  if (plan.usesWgmma)
    return getWgmmaReason(plan);
  if (plan.swapsOperands)
    return expects("swaps_operands to be 0 without wgmma", 1);
  return std::nullopt;
}

/// Why arrays of `fused` do not lie as whole copies of `plan` need it.
static std::optional<std::string> getCopyReason(FusedOp fused,
                                                const SparsePlan &plan) {
  for (bool isFactor : {false, true})
    if (plan.copiesWhole(isFactor))
      if (auto reason = getWholeCopyReason(fused, plan, isFactor))
        return "whole_copies = " + std::to_string(plan.wholeCopies) + ": " +
               *reason;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::variant<SparsePlan, std::string> kron::readSparsePlan(FusedOp fused,
                                                           GPUPlanAttr attr) {
  SparseChoices choices;
  PlanReader reader(attr);
  SparseChoices::visitFields(reader, choices);
  auto problem = describeSparse(fused, choices.copiesSingly);
  if (auto *reason = std::get_if<std::string>(&problem))
    return *reason;
  SparsePlan plan(std::get<SparseProblem>(problem));
  static_cast<SparseChoices &>(plan) = choices;
  std::optional<std::string> reason = getChunkReason(plan);
  if (!reason && plan.swapsOperands)
    reason = swapSparseOperands(fused, plan);
  if (reason)
    return *reason;
  setSparseChunks(plan);
  plan.stepsK = llvm::divideCeil(plan.sizeK, plan.stepK);
  reason = getShiftReason(fused, plan);
  if (!reason)
    reason = getKernelReason(plan);
  if (!reason)
    reason = getCopyReason(fused, plan);
  if (reason)
    return *reason;
  return plan;
}

std::optional<std::string> kron::getSkinnyMReason(FusedOp fused,
                                                  GPUPlanAttr plan,
                                                  const SparsePlan &read) {
  if (!read.skinnyM || !ShapedType::isDynamic(read.rows))
    return std::nullopt;
  if (auto dispatch = dyn_cast_if_present<DispatchAttr>(fused.getPlanAttr()))
    for (GPUPlanAttr other : dispatch.getPlans()) {
      if (other == plan)
        break;
      // Others require more than rows.
      if ((other.getKernel() == GPUKernel::Sparse ||
           other.getKernel() == GPUKernel::Chain) &&
          other.get("min_rows") <= read.skinnyM + 1)
        return std::nullopt;
    }
  return expects("skinny_m to be 0 where no plan before takes more rows",
                 read.skinnyM);
}

GPUPlanAttr kron::writeSparsePlan(MLIRContext *context,
                                  const SparsePlan &plan) {
  SparseChoices choices = plan;
  PlanWriter writer(context, GPUKernel::Sparse);
  SparseChoices::visitFields(writer, choices);
  return writer.getPlan();
}
