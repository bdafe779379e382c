//===- SparsePlan.cpp - Tiles of a Kronecker-sparse factor ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SparsePlan.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/PassOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Shared memory that a factor may keep of a processor's.
static constexpr int64_t kKeptBytes = 144 * 1024;
/// The least that a step is shortened to.
static constexpr int64_t kLeastStepBytes = 2 * 1024;
/// Data that should be under way to a processor.
static constexpr int64_t kBytesUnderWay = 64 * 1024;
/// Data that stay in the second-level cache until all CTAs have read them.
static constexpr int64_t kCachedBytes = 12 * 1024 * 1024;
/// Products whose sum a matrix unit can keep without an error that shows.
static constexpr int64_t kSummedDepth = 128;
/// Products whose sum needs no bound for each of them, which bf16 could miss.
static constexpr int64_t kLeastSummed = 32;
/// Depth from which on a tile's products take longer than its copies.
static constexpr int64_t kDeep = 128;
/// Rows that an array of unknown size is taken to have.
static constexpr int64_t kNominalRows = 16384;
/// Rows of a tile beside a factor that is kept.
static constexpr int64_t kMostRows = 128, kMostRowsAlong = 256;
/// Factors that vary on no axis have other kernels up to this size.
static constexpr int64_t kLargestOther = 128;
static constexpr int64_t kMostStages = 6;
/// Runs that the second-level cache delivers at its full rate.
static constexpr int64_t kRunBytes = 64;
/// Blocks of results for which X may be read again before teams, which keep
/// more of the factor, are better in spite of partial sums.
static constexpr int64_t kFewBlocks = 4;
/// Rows that are copied one by one where they are innermost.
static constexpr int64_t kFewRows = 32;
/// Data and factor that a step of a thin tile should bring.
static constexpr int64_t kThinStepBytes = 10 * 1024;
/// CTAs per processor that work on thin tiles, and warps of each.
static constexpr int64_t kThinCTAs = 4, kThinWarps = 4;

bool kron::isSparse(const Trip &trip) {
  return trip.factors.size() == 1 &&
         (trip.hasEpilogue || trip.hasFloat8 ||
          !trip.factors.front().varyingAxes.empty() ||
          trip.getLargestFactorSize() > kLargestOther);
}

int64_t SparsePlan::getLaneBlocks() const {
  return llvm::divideCeil(lanes, getLanes());
}

int64_t SparsePlan::getResultBlocks() const {
  return llvm::divideCeil(results, getResults());
}

int64_t SparsePlan::getTilesPerRows() const {
  int64_t tiles = getLaneBlocks() * getResultBlocks();
  for (int64_t size : groupSizes)
    tiles *= size;
  return tiles;
}

int64_t SparsePlan::getLongestRun() const {
  // Nobody else reads the same lines.
  if (getResultBlocks() == 1 && (alongRows || getLaneBlocks() == 1))
    return std::numeric_limits<int32_t>::max();
  int64_t bytes = getRows() * depth * lanes * dataBytes;
  for (int64_t size : groupSizes)
    bytes *= size;
  return std::max<int64_t>(kCachedBytes / bytes, 1);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// The axis of the pass whose elements are neighbours in the input, of those
/// with more than one position.
static unsigned getInnermostAxis(PassOp pass, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  SmallVector<int64_t> order;
  for (unsigned axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  if (auto permutation = pass.getInputPermutation())
    for (auto [axis, dim] : llvm::enumerate(*permutation))
      order[dim] = axis;
  for (unsigned dim = rank; dim-- > 0;)
    if (shape[order[dim]] != 1)
      return order[dim];
  return rank - 1;
}

static bool isFew(int64_t rows) {
  return !ShapedType::isDynamic(rows) && rows <= kFewRows;
}

/// The size of an axis, or what an unknown one is taken for.
static int64_t getNominalSize(int64_t size) {
  return ShapedType::isDynamic(size) ? kNominalRows : size;
}

/// The axis of the rows among `axes`, which the factor does not vary on: the
/// innermost one of the input unless it is too short for chunks, else the
/// longest one.
static unsigned chooseRowAxis(ArrayRef<unsigned> axes, unsigned innermost,
                              ArrayRef<int64_t> shape) {
  if (llvm::is_contained(axes, innermost) && !isFew(shape[innermost]))
    return innermost;
  return *std::max_element(
      axes.begin(), axes.end(), [&](unsigned lhs, unsigned rhs) {
        return getNominalSize(shape[lhs]) < getNominalSize(shape[rhs]);
      });
}

/// Sorts the axes; `rows` is the size of that of the rows.
static void describeAxes(PassOp pass, SparsePlan &plan, int64_t &rows,
                         bool hasFewRows) {
  ModeProductOp product = pass.getModeProducts().front();
  TripFactor factor = describeFactor(product);
  SmallVector<int64_t> shape(
      cast<ShapedType>(pass.getInit().getType()).getShape());
  plan.axis = factor.axis;
  plan.depth = factor.depth;
  plan.results = factor.results;
  shape[plan.axis] = plan.depth;
  SmallVector<unsigned> varying, others;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (axis != plan.axis && size != 1)
      (llvm::is_contained(factor.varyingAxes, axis) ? varying : others)
          .push_back(axis);
  int lane = getInnermostAxis(pass, shape);
  rows = 1;
  if (!others.empty()) {
    plan.rowAxis = chooseRowAxis(others, lane, shape);
    rows = shape[plan.rowAxis];
  }
  for (unsigned axis : others) {
    if (int(axis) == plan.rowAxis)
      continue;
    plan.freeAxes.push_back(axis);
    plan.freeSizes.push_back(shape[axis]);
  }
  if (ShapedType::isDynamic(rows) && hasFewRows)
    rows = kSparseFewRows;
  bool areInside = plan.rowAxis >= 0 && lane == plan.rowAxis;
  plan.alongRows = areInside && !isFew(rows);
  plan.copiesSingly = areInside && isFew(rows);
  if (plan.copiesSingly && !varying.empty() && varying.back() > plan.axis)
    lane = varying.back();
  for (unsigned axis : varying) {
    if (int(axis) == lane) {
      plan.laneAxis = axis;
      plan.lanes = shape[axis];
    } else {
      plan.groupAxes.push_back(axis);
      plan.groupSizes.push_back(shape[axis]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Products with halves take fewer matrix instructions, but more others to
/// split numbers, which are worth it where instructions share operands; and
/// more registers, which an epilogue needs.
static void chooseMath(SparsePlan &plan) {
  bool isFull = plan.keepsFactor && plan.hasPartialSums && plan.teams == 1;
  bool shares = plan.alongRows ? !isFull : plan.getParts() <= 2;
  plan.hasHalfRests = plan.math == MmaMath::SplitTF32 &&
                      plan.depth >= kLeastSummed && shares && !plan.hasEpilogue;
}

static int64_t getPowerOfTwo(int64_t number) { return number & -number; }

void kron::chooseSparseChunks(SparsePlan &plan) {
  int64_t chunk = plan.getChunk();
  plan.lanesPerChunk =
      plan.alongRows ? 1 : std::min(getPowerOfTwo(plan.lanes), chunk);
  plan.depthPerChunk = chunk / plan.lanesPerChunk;
  // Results need no order where their neighbours in memory are rows.
  if (plan.alongRows)
    return;
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  if (chunks == 1) {
    plan.order =
        plan.depthPerChunk > 1 ? SparseOrder::Chunks : SparseOrder::Spread;
  } else if (plan.lanesPerChunk == chunk && chunks % 2 == 0) {
    plan.laneChunks = 2;
    plan.order = SparseOrder::Pairs;
  } else {
    // As many as make equal blocks of up to 4.
    plan.laneChunks = llvm::divideCeil(chunks, llvm::divideCeil(chunks, 4));
  }
  if (plan.turnsRows)
    plan.order = SparseOrder::Plain;
}

/// Sums of a warp: 64 registers or, `isWide`, 128.
static void chooseWarpTile(SparsePlan &plan) {
  int64_t tiles = plan.isWide ? 32 : 16;
  if (plan.elementBytes == 8 || (plan.hasPartialSums && tiles == 32))
    tiles /= 2;
  int64_t products = plan.getParts() * (plan.alongRows ? 1 : plan.laneChunks);
  int64_t perProduct = std::max<int64_t>(tiles / products, 1);
  // Results come in groups of 16 bytes.
  int64_t unit = plan.order == SparseOrder::Chunks
                     ? std::max<int64_t>(plan.depthPerChunk / 2, 1)
                     : 1;
  int64_t wanted = llvm::divideCeil(plan.results, 8);
  int64_t columns = products >= 8 || plan.alongRows ? perProduct
                    : perProduct >= 32              ? 8
                    : perProduct >= 8               ? 4
                                                    : perProduct / 2;
  columns = std::max<int64_t>(
      std::min<int64_t>(columns, llvm::PowerOf2Ceil(wanted)), unit);
  plan.resultTiles = columns;
  plan.rowTiles = std::clamp<int64_t>(perProduct / columns, 1, 4);
}

/// The depth of a step: about `stepBytes` of data, the depth padded as little
/// as possible.
static void chooseDepthStep(SparsePlan &plan) {
  int64_t macro = plan.getMacroDepth();
  int64_t perDepth = plan.getRows() * plan.getLanes() * plan.dataBytes;
  int64_t best = macro, bestPadded = llvm::alignTo(plan.depth, macro);
  int64_t stepBytes =
      plan.getTeamsPerSM() > 1 ? plan.stepBytes : 2 * plan.stepBytes;
  for (int64_t step = macro; step * perDepth <= 2 * stepBytes; step *= 2) {
    if (step >= 2 * plan.depth)
      break;
    // Rows of 128 bytes have no bank conflicts.
    bool isShort = step * plan.getLanes() * plan.dataBytes <= 128;
    if (!isShort && step * perDepth > stepBytes)
      break;
    int64_t padded = llvm::alignTo(plan.depth, step);
    if (padded <= bestPadded || (isShort && padded <= bestPadded * 5 / 4))
      best = step, bestPadded = padded;
  }
  plan.depthStep = best;
  plan.depthSteps = llvm::divideCeil(plan.depth, best);
}

/// Divides `warps` among results and rows.
static void setWarps(SparsePlan &plan, int64_t warps, int64_t resultWarps) {
  plan.resultWarps = resultWarps;
  plan.rowWarps = warps / resultWarps;
  chooseDepthStep(plan);
}

/// Bytes that tiles of `plan` read for each row of the input.
static double getTraffic(const SparsePlan &plan, int64_t rows) {
  double data = double(plan.depth) * plan.getLanes() * plan.getResultBlocks();
  if (plan.keepsFactor)
    return data;
  return data + double(plan.results) * plan.depth * plan.getLanes() *
                    llvm::divideCeil(rows, plan.getRows()) / rows;
}

/// By which shorter runs slow the second-level cache down.
static double getWaste(const SparsePlan &plan) {
  if (plan.alongRows || plan.getLaneBlocks() == 1)
    return 1;
  return std::max(1.0, double(kRunBytes) / (plan.getLanes() * plan.dataBytes));
}

/// What ranks plans: bytes that go through memory or the second-level cache per
/// row, whichever takes longer. Two teams per processor overlap better than one
/// with larger tiles; where both operands stream, that makes no difference.
/// Pairs of halves along rows take so many instructions that larger tiles of
/// one CTA are better if it keeps a deep factor as a whole. The weights were
/// fitted to measurements.
static double getCost(const SparsePlan &plan, int64_t rows) {
  constexpr double kCacheRate = 1.33, kAlone = 1.95, kAlonePairs = 0.95;
  double results = double(plan.results) * plan.getLanes();
  double memory = double(plan.depth) * plan.getLanes() + results;
  double cached = (getTraffic(plan, rows) + results) * getWaste(plan);
  double cost = std::max(memory, cached / kCacheRate) / plan.getLanes();
  if (!plan.keepsFactor || plan.getTeamsPerSM() > 1)
    return cost;
  bool pairsRows = plan.isHalf() && plan.alongRows && plan.depth >= kDeep &&
                   plan.getResultBlocks() == 1;
  return cost * (pairsRows ? kAlonePairs : kAlone);
}

/// Takes fewer rows where there is no factor to read again for them: many small
/// tiles are shared out more evenly.
static void narrowTile(SparsePlan &plan) {
  int64_t most = plan.alongRows ? kMostRowsAlong : kMostRows;
  while (plan.getRows() > most && plan.rowTiles > 1)
    plan.rowTiles /= 2;
  while (plan.alongRows && plan.getRows() > most) {
    if (plan.resultTiles > 1) {
      plan.resultTiles /= 2;
      plan.resultWarps *= 2;
    }
    if (plan.rowWarps == 1)
      break;
    plan.rowWarps /= 2;
  }
  chooseDepthStep(plan);
}

/// Tiles with `warps` per CTA, with the factor kept or not; whether they fit.
static bool chooseTile(SparsePlan &plan, int64_t warps, int64_t sharedBytes) {
  int64_t most = llvm::PowerOf2Ceil(
      llvm::divideCeil(plan.results, plan.getResultsPerWarp()));
  int64_t resultWarps = std::min(warps, most);
  // As much of the factor as can be kept; else squares.
  if (!plan.keepsFactor)
    while (resultWarps > 1 &&
           plan.getResultsPerWarp() * resultWarps >
               2 * plan.getRowsPerWarp() * (warps / resultWarps))
      resultWarps /= 2;
  for (;; resultWarps /= 2) {
    setWarps(plan, warps, resultWarps);
    if (!plan.keepsFactor ||
        plan.getKeptBytes() <= kKeptBytes * sharedBytes / (224 * 1024))
      break;
    if (resultWarps == 1)
      return false;
  }
  if (plan.keepsFactor)
    narrowTile(plan);
  plan.stages = 2;
  while (plan.stages < kMostStages && (plan.stages - 1) * plan.getStageBytes() <
                                          kBytesUnderWay / plan.getTeamsPerSM())
    ++plan.stages;
  while (plan.stages > 2 && plan.getSharedBytes() > sharedBytes)
    --plan.stages;
  return plan.getSharedBytes() <= sharedBytes;
}

int64_t kron::getSparseTiles(const SparsePlan &plan, int64_t rows) {
  int64_t tiles =
      plan.getTilesPerRows() * llvm::divideCeil(rows, plan.getRows());
  for (int64_t size : plan.freeSizes)
    tiles *= getNominalSize(size);
  return tiles;
}

/// Warps of a thin tile that share out the depth, in parts of 128 bytes of a
/// row or more, and its results.
static void setThinWarps(SparsePlan &plan, int64_t warps) {
  int64_t laneBytes = plan.getLanes() * plan.elementBytes;
  int64_t part = plan.getMacroDepth();
  if (laneBytes < 128)
    part = std::max<int64_t>(part, 128 / laneBytes);
  plan.depthWarps = warps;
  while (plan.depthWarps > 1 &&
         part * plan.depthWarps > int64_t(llvm::alignTo(plan.depth, part)))
    plan.depthWarps /= 2;
  plan.resultWarps = std::min<int64_t>(
      warps / plan.depthWarps, llvm::PowerOf2Ceil(llvm::divideCeil(
                                   plan.results, plan.getResultsPerWarp())));
  plan.depthStep = part * plan.depthWarps;
}

/// Tiles of few rows with as little of the factor as makes work for the whole
/// machine. The depth is shared out so that all copies are under way at once.
/// Whether they fit.
static bool chooseThinTile(SparsePlan &plan, int64_t rows,
                           const GPUMachine &machine) {
  plan.fewRows = rows <= kSparseFewRows ? rows : 0;
  // Stores matter less than parallel tiles.
  if (plan.order == SparseOrder::Chunks && plan.fewRows)
    plan.order = SparseOrder::Plain;
  if (plan.order == SparseOrder::Chunks)
    plan.resultTiles = std::max<int64_t>(plan.depthPerChunk / 2, 1);
  plan.ctasPerSM = kThinCTAs;
  setThinWarps(plan, kThinWarps);
  // A thread has 128 registers.
  int64_t ctas = machine.processors * kThinCTAs;
  int64_t mostSums = plan.hasPartialSums || plan.element.isF64() ? 8 : 16;
  while (getSparseTiles(plan, rows) > ctas && 2 * plan.getSums() <= mostSums &&
         plan.getResults() < plan.results)
    plan.resultTiles *= 2;
  if (getSparseTiles(plan, rows) <= machine.processors) {
    plan.ctasPerSM = 1;
    // Adding up many sums takes longer than it saves, copying does not.
    if (plan.getSums() <= 8 || plan.copiesSingly)
      setThinWarps(plan, 2 * kThinWarps);
  }
  int64_t perDepth = (plan.getImageRows() + plan.getResults()) *
                     plan.getLanes() * plan.elementBytes;
  while (2 * plan.depthStep * perDepth <= kThinStepBytes &&
         plan.depthStep < plan.depth &&
         llvm::alignTo(plan.depth, 2 * plan.depthStep) * 8 <=
             llvm::alignTo(plan.depth, plan.depthStep) * 9)
    plan.depthStep *= 2;
  plan.depthSteps = llvm::divideCeil(plan.depth, plan.depthStep);
  for (; plan.ctasPerSM > 0; plan.ctasPerSM /= 2) {
    // No more stages than a CTA has steps.
    ctas = machine.processors * plan.ctasPerSM;
    int64_t steps =
        plan.depthSteps * llvm::divideCeil(getSparseTiles(plan, rows), ctas);
    int64_t sharedBytes = machine.getSharedBytes(plan.ctasPerSM);
    plan.stages = std::min(kMostStages, steps + 1);
    while (plan.stages > 2 && plan.getSharedBytes() > sharedBytes)
      --plan.stages;
    if (plan.getSharedBytes() <= sharedBytes)
      return true;
  }
  return false;
}

/// The better one of keeping the factor and reading it for each tile.
static std::optional<SparsePlan> chooseKept(const SparsePlan &plan,
                                            int64_t warps, int64_t rows,
                                            const GPUMachine &machine) {
  std::optional<SparsePlan> best;
  for (bool keeps : {true, false}) {
    if (plan.teams > 1 && !keeps)
      break;
    SparsePlan candidate = plan;
    candidate.keepsFactor = keeps;
    chooseMath(candidate);
    chooseWarpTile(candidate);
    if (!chooseTile(candidate, warps, machine.getSharedBytes(plan.ctasPerSM)))
      continue;
    if (!best || getTraffic(candidate, rows) <= getTraffic(*best, rows))
      best = candidate;
    // Where rows are innermost, other factors than dense ones come element by
    // element.
    if (plan.alongRows && !plan.groupAxes.empty())
      break;
  }
  return best;
}

namespace {
/// How warps share a processor.
struct Form {
  int64_t ctas, teams;
  bool isWide;
};
} // namespace

/// The forms that are worth a try, of those that are as good the best one
/// first. This is what measurements say; what decides seems to be registers for
/// operands beside the sums.
static SmallVector<Form> getForms(const SparsePlan &plan) {
  Form two{2, 1, false}, one{1, 1, true}, teams{1, 2, false};
  Form wideTwo{2, 1, true}, wideTeams{1, 2, true};
  if (plan.element.isF64())
    return {two, one};
  // Larger tiles spill there.
  if (plan.hasEpilogue && plan.alongRows)
    return {two};
  if (plan.alongRows)
    return {two, one, plan.isHalf() ? wideTeams : teams};
  if (plan.order == SparseOrder::Pairs)
    return plan.isHalf() ? SmallVector<Form>{wideTwo, teams, two, one}
                         : SmallVector<Form>{wideTeams, two, one};
  if (plan.isHalf())
    return {wideTeams, two, one};
  return {two, one};
}

/// Whether teams need not be tried: partial sums take registers of theirs, so
/// they have to save a lot.
static bool isGoodWithoutTeams(const SparsePlan &plan) {
  return plan.alongRows && plan.hasPartialSums &&
         plan.getResultBlocks() <= kFewBlocks;
}

/// The best of full tiles, `warps` per CTA and `ctasPerSM` (0: as many as are
/// best). Steps are shorter than they should be if nothing fits otherwise.
static std::optional<SparsePlan> chooseFull(SparsePlan plan, int64_t warps,
                                            int64_t ctasPerSM, int64_t rows,
                                            const GPUMachine &machine) {
  SmallVector<Form> forms = getForms(plan);
  if (warps || ctasPerSM)
    forms = {{2, 1, false}, {1, 1, true}};
  std::optional<SparsePlan> best;
  auto attempt = [&](const Form &form, int64_t laneChunks) {
    if ((ctasPerSM && ctasPerSM != form.ctas) ||
        (form.teams > 1 && best && isGoodWithoutTeams(*best)))
      return;
    SparsePlan given = plan;
    given.laneChunks = laneChunks;
    given.ctasPerSM = form.ctas;
    given.teams = form.teams;
    given.isWide = form.isWide;
    std::optional<SparsePlan> candidate = chooseKept(
        given, warps ? warps : 8 / given.getTeamsPerSM(), rows, machine);
    if (candidate &&
        (!best || getCost(*candidate, rows) < getCost(*best, rows)))
      best = candidate;
  };
  bool hasLongRuns = plan.order == SparseOrder::Pairs && !plan.isHalf() &&
                     !plan.hasEpilogue &&
                     plan.lanes / plan.lanesPerChunk % 4 == 0;
  for (; !best && plan.stepBytes >= kLeastStepBytes; plan.stepBytes /= 2)
    for (const Form &form : forms)
      for (int64_t longer : {1, 2})
        if (longer == 1 || (hasLongRuns && form.ctas * form.teams == 1))
          attempt(form, longer * plan.laneChunks);
  return best;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

/// What products and images are made of; false if there are no such kernels.
static bool chooseElements(Type input, Type factor, SparsePlan &plan) {
  plan.setElementBytes(getElementBytes(plan.element));
  if (input == plan.element && factor == plan.element)
    return true;
  auto isTaken = [](Type type) { return isFloat8(type) || type.isF16(); };
  if (!isTaken(input) || !isTaken(factor) || plan.element.isF64() ||
      !(isFloat8(input) || isFloat8(factor)))
    return false;
  plan.elementBytes = 2;
  plan.dataBytes = getElementBytes(input);
  plan.factorBytes = getElementBytes(factor);
  return true;
}

/// Types and axes of `pass` and what follows from them; why it is not taken, or
/// nothing.
static std::optional<std::string> describePass(PassOp pass, SparsePlan &plan,
                                               int64_t &rows, bool hasFewRows) {
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  ModeProductOp product = products.front();
  if (!cast<ShapedType>(product.getFactor().getType()).hasStaticShape())
    return "a factor has a dynamic shape";
  plan.element = getElementType(pass.getInit());
  if (!isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(plan.element))
    return "elements are not f32, f64, f16 or bf16";
  if (plan.element.isF32() && product.getPrecision() == Precision::Ieee)
    return "precision is ieee";
  if (!chooseElements(getElementType(pass.getInputs().front()),
                      getElementType(product.getFactor()), plan))
    return "arrays have different element types";
  describeAxes(pass, plan, rows, hasFewRows);
  rows = getNominalSize(rows);
  for (int64_t size : cast<ShapedType>(pass.getInit().getType()).getShape())
    if (size == 0)
      return "an array has no elements";
  bool isFull =
      plan.element.isF32() && product.getPrecision() != Precision::TF32;
  plan.math = plan.element.isF64()       ? MmaMath::F64
              : isFull && !plan.isHalf() ? MmaMath::SplitTF32
                                         : MmaMath::TF32;
  plan.hasPartialSums = isFull && plan.depth > kSummedDepth;
  plan.hasEpilogue = static_cast<bool>(pass.getEpilogue());
  chooseSparseChunks(plan);
  return std::nullopt;
}

std::variant<SparsePlan, std::string>
kron::getSparsePlan(PassOp pass, const GPUMachine &machine, bool hasFewRows) {
  SparsePlan plan;
  int64_t rows;
  if (std::optional<std::string> reason =
          describePass(pass, plan, rows, hasFewRows))
    return *reason;
  ScheduleAttr given = pass.getScheduleAttr();
  int64_t warps = given ? given.getThreads() / 32 : 0;
  int64_t ctasPerSM = given ? given.getCtasPerSm() : 0;
  if (warps & (warps - 1))
    return "threads are not a power of two";
  if (!warps && !ctasPerSM)
    if (std::optional<SparsePlan> groups =
            chooseSparseWgmma(plan, rows, machine))
      return *groups;
  std::optional<SparsePlan> best =
      chooseFull(plan, warps, ctasPerSM, rows, machine);
  bool mayBeThin = !best || rows <= kSparseFewRows ||
                   getSparseTiles(*best, rows) < machine.processors;
  if (!warps && !ctasPerSM && mayBeThin)
    if (SparsePlan thin = plan; chooseThinTile(thin, rows, machine))
      return thin;
  if (!best)
    return "a tile does not fit in shared memory";
  return *best;
}

std::optional<SparsePlan> kron::getFewRowsPlan(PassOp pass,
                                               const GPUMachine &machine) {
  ScheduleAttr given = pass.getScheduleAttr();
  if (given && (given.getThreads() || given.getCtasPerSm()))
    return std::nullopt;
  auto plan = getSparsePlan(pass, machine, /*hasFewRows=*/true);
  auto *few = std::get_if<SparsePlan>(&plan);
  auto type = cast<ShapedType>(pass.getInit().getType());
  if (!few || few->rowAxis < 0 || !type.isDynamicDim(few->rowAxis))
    return std::nullopt;
  // Halves of 15 rows, one by one, of many products take longer than full
  // tiles.
  if (few->copiesSingly && few->isHalf() && few->lanes > 1)
    return std::nullopt;
  return *few;
}
