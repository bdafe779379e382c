//===- MmaPlan.cpp - Tiles and steps of a kernel of mma.sync --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Plan/GPU/MmaPlan.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Tile/IR/TileBlocks.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::kron;

/// Factors stay in registers up to this many of a thread's.
static constexpr int64_t kMaxKeptRegisters = 136;
/// A chain's factors and sums, beside which a thread has addresses and
/// operands.
static constexpr int64_t kMaxChainRegisters = 192;
/// Columns are read in groups of 64 bytes that may reach over the end.
static constexpr int64_t kSlackBytes = 128;
/// More elements than any shared memory holds.
static constexpr int64_t kMostElements = 1 << 24;
/// Barriers that a CTA has beside the one of all its threads.
static constexpr int64_t kNamedBarriers = 15;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// "[1, 2]"
static std::string print(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(values, os);
  os << "]";
  return text;
}

/// Whether `value` positions of an axis of `size` can be those of a tile.
static std::optional<std::string> checkPositions(StringRef name, int64_t value,
                                                 int64_t size) {
  if (value < 1)
    return expects(name + " to be at least 1", Twine(value));
  if (ShapedType::isDynamic(size) || value <= size)
    return std::nullopt;
  return expects(name + " to be at most " + Twine(size), Twine(value));
}

bool kron::canHaveInnerRows(const MmaRegion &region) {
  int64_t contracted = int64_t(region.axes.size()) - 1 - region.rowAxis;
  return region.rowAxis >= 0 && contracted > 1 && !region.turnsRows &&
         !region.hasColumns && region.inputType == region.type &&
         region.outputType == region.type;
}

/// Why no kernel has `choices`, whatever its steps are; nothing if one may.
static std::optional<std::string> checkChoices(const MmaRegion &region,
                                               const MmaChoices &choices) {
  if (auto reason = checkPositions("tile", choices.tile, region.numRows))
    return reason;
  if (auto reason =
          checkPositions("columns", choices.columns, region.numColumns))
    return reason;
  if (choices.threads < 32 || choices.threads > 1024 ||
      choices.threads % 32 != 0)
    return expects("threads to be a multiple of 32 up to 1024",
                   Twine(choices.threads));
  if (choices.ctasPerSM < 1)
    return expects("ctas_per_sm to be at least 1", Twine(choices.ctasPerSM));
  if (choices.stages < 1)
    return expects("stages to be at least 1", Twine(choices.stages));
  if (choices.cluster < 1 || choices.cluster > 2)
    return expects("cluster to be 1 or 2", Twine(choices.cluster));
  for (int64_t warps : choices.stepWarps)
    if (warps > choices.threads / 32)
      return expects("step_warps to be at most the " +
                         Twine(choices.threads / 32) + " warps of a CTA",
                     print(choices.stepWarps));
  bool isStreamed = !choices.piece.empty();
  if (choices.innerRows && !canHaveInnerRows(region))
    return expects("inner_rows to be 0 unless rows of one type are outside of "
                   "several contracted axes, of which one is the innermost",
                   1);
  if (choices.innerRows && !choices.sharedStore)
    return expects("inner_rows to be 0 unless shared_store is 1", 1);
  if (choices.alternates && (isStreamed || region.inputType != region.type))
    return expects("alternates to be 0 unless tiles arrive whole, and of the "
                   "type that is computed with",
                   1);
  if (isStreamed && choices.stages != 1)
    return expects("stages to be 1 where there is a piece",
                   Twine(choices.stages));
  if (!isStreamed && choices.pieceSlots != 0)
    return expects("piece_slots to be 0 where there is no piece",
                   Twine(choices.pieceSlots));
  if (!isStreamed && choices.cluster != 1)
    return expects("cluster to be 1 where there is no piece",
                   Twine(choices.cluster));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

static void addGridAxis(MmaPlan &plan, ArrayRef<unsigned> which, int dim,
                        int64_t step) {
  MmaGridAxis axis;
  axis.axes.assign(which.begin(), which.end());
  axis.dim = dim;
  axis.step = step;
  plan.grid.push_back(axis);
}

SmallVector<MmaDim> MmaPlan::getOrderedAxes() const {
  SmallVector<MmaDim> ordered = axes;
  // Rows of a transposed input are the tile's columns, and those of the tiles
  // that are worked on at a time lie side by side.
  if (turnsRows)
    std::rotate(ordered.begin() + rowAxis, ordered.begin() + rowAxis + 1,
                ordered.end());
  else if (innerRows)
    std::rotate(ordered.begin() + rowAxis, ordered.begin() + rowAxis + 1,
                ordered.end() - 1);
  return ordered;
}

static void addDims(MmaPlan &plan) {
  SmallVector<MmaDim> axes = plan.getOrderedAxes();
  int rowIndex = plan.innerRows ? int(axes.size()) - 2 : plan.rowAxis;
  for (unsigned index = 0; index < axes.size(); ++index) {
    MmaDim dim = axes[index];
    bool isColumns =
        (plan.hasColumns || plan.turnsRows) && index + 1 == axes.size();
    bool isRows = !plan.turnsRows && int(index) == rowIndex;
    if (!dim.product) {
      int64_t step = isRows || plan.turnsRows ? plan.tile : plan.columns;
      bool inTile = isRows || isColumns;
      addGridAxis(plan, dim.axes, inTile ? int(plan.dims.size()) : -1,
                  inTile ? step : 1);
      if (!inTile)
        continue;
      dim.sizeK = dim.sizeN = step;
    }
    plan.dims.push_back(dim);
  }
  // Steps on the innermost dimension take their fibres from the next one.
  if (plan.dims.size() == 1) {
    plan.dims.insert(plan.dims.begin(), MmaDim());
    for (MmaGridAxis &axis : plan.grid)
      axis.dim += axis.dim >= 0 ? 1 : 0;
  }
}

/// Room for each dimension before and after its factor.
static SmallVector<int64_t> getLargestSizes(const MmaPlan &plan) {
  SmallVector<int64_t> largest;
  for (const MmaDim &dim : plan.dims)
    largest.push_back(std::max(dim.sizeK, dim.sizeN));
  return largest;
}

static void addLayouts(MmaPlan &plan) {
  SmallVector<int64_t> before, largest = getLargestSizes(plan);
  for (const MmaDim &dim : plan.dims)
    before.push_back(dim.sizeK);
  if (plan.inputType == plan.type) {
    plan.inputLayout = TileLayout::get(largest, getElementBytes(plan.type));
    if (plan.alternates)
      plan.workLayout = plan.inputLayout;
    return;
  }
  plan.inputLayout = TileLayout::get(before, getElementBytes(plan.inputType));
  if (plan.steps.size() > 1 || plan.sharedStore)
    plan.workLayout = TileLayout::get(largest, getElementBytes(plan.type));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static int64_t getStepRegisters(const MmaPlan &plan, const MmaStep &step) {
  // Two 32-bit registers per value, or one if only one TF32 is kept.
  int64_t perNumber = plan.math == MmaMath::TF32 ? 1 : 2;
  const MmaDim &dim = plan.dims[step.dim];
  int64_t tilesK = llvm::divideCeil(dim.sizeK, 8);
  int64_t registers = step.tiles * tilesK * 4 * perNumber;
  if (step.kind == MmaStep::Kind::Chain) {
    const MmaDim &inner = plan.dims[step.dim + 1];
    registers += llvm::divideCeil(inner.sizeK, 8) *
                 llvm::divideCeil(inner.sizeN, 8) * 2 * perNumber;
  }
  return registers;
}

int64_t MmaPlan::getFactorRegisters() const {
  int64_t registers = 0;
  for (const MmaStep &step : steps)
    registers += step.factorRegisters;
  return registers;
}

MmaStep MmaPlan::getShared(MmaStep step, int64_t warps) const {
  step.warps = warps;
  step.tiles = llvm::divideCeil(dims[step.dim].sizeN, 16);
  if (warps > 1)
    step.tiles = llvm::PowerOf2Ceil(llvm::divideCeil(step.tiles, warps));
  step.factorRegisters = getStepRegisters(*this, step);
  step.fitsRegisters = step.factorRegisters <= kMmaStepRegisters;
  return step;
}

std::optional<MmaChainRegisters>
kron::getMmaChainRegisters(const MmaPlan &plan) {
  unsigned dim = plan.dims.size() - 2;
  const MmaDim &outer = plan.dims[dim], &inner = plan.dims[dim + 1];
  if (!outer.product || !inner.product)
    return std::nullopt;
  MmaStep step;
  step.kind = MmaStep::Kind::Chain;
  step.dim = dim;
  step = plan.getShared(step, /*warps=*/1);
  int64_t perSum = plan.math == MmaMath::F64 ? 8 : 4;
  int64_t sums =
      step.tiles * perSum *
      (llvm::divideCeil(inner.sizeK, 8) + llvm::divideCeil(inner.sizeN, 8));
  return MmaChainRegisters{step.factorRegisters, sums};
}

bool kron::canMmaChain(const MmaChainRegisters &registers) {
  return registers.factors <= kMmaStepRegisters &&
         registers.factors + registers.sums <= kMaxChainRegisters;
}

/// Why the two innermost factors of `plan` cannot be one step if it says that
/// they are.
static std::optional<std::string> checkChain(const MmaPlan &plan) {
  if (!plan.chainsInner)
    return std::nullopt;
  std::optional<MmaChainRegisters> registers = getMmaChainRegisters(plan);
  if (!registers)
    return expects("inner_chain to be 0 unless both innermost dimensions of a "
                   "tile are contracted",
                   1);
  if (!canMmaChain(*registers))
    return expects("inner_chain to be 0, as two factors take " +
                       Twine(registers->factors) +
                       " registers and their sums " + Twine(registers->sums),
                   1);
  return std::nullopt;
}

/// `applied`: dimensions whose factors have been.
static void addStep(MmaPlan &plan, MmaStep::Kind kind, unsigned dim,
                    MutableArrayRef<bool> applied) {
  MmaStep step;
  step.kind = kind;
  step.dim = dim;
  for (auto [size, isApplied] : llvm::zip_equal(plan.dims, applied))
    step.sizes.push_back(isApplied ? size.sizeN : size.sizeK);
  size_t index = plan.steps.size();
  plan.steps.push_back(plan.getShared(
      step, index < plan.stepWarps.size() ? plan.stepWarps[index] : 1));
  applied[dim] = true;
  if (kind == MmaStep::Kind::Chain)
    applied[dim + 1] = true;
}

/// The innermost dimension first, so that the last step stores long segments;
/// or last, where columns are rows of the result.
static void addSteps(MmaPlan &plan) {
  SmallVector<bool> applied(plan.dims.size(), false);
  int last = plan.dims.size() - 1;
  int next = last;
  if (plan.dims[last].product) {
    if (plan.chainsInner) {
      addStep(plan, MmaStep::Kind::Chain, last - 1, applied);
      next = last - 2;
    } else {
      addStep(plan, MmaStep::Kind::Fibres, last, applied);
      next = last - 1;
    }
  }
  if (plan.turnsRows)
    next = last - 2;
  for (int dim = next; dim >= 0; --dim)
    if (plan.dims[dim].product)
      addStep(plan, MmaStep::Kind::Columns, dim, applied);
  if (plan.turnsRows)
    addStep(plan, MmaStep::Kind::Columns, last - 1, applied);
}

/// Why the warps of `plan` cannot share results as it says.
static std::optional<std::string> checkStepWarps(const MmaPlan &plan) {
  if (!plan.stepWarps.empty() && plan.stepWarps.size() != plan.steps.size())
    return expects("step_warps to have one number for each of " +
                       Twine(plan.steps.size()) + " steps",
                   print(plan.stepWarps));
  if (plan.chainsInner && plan.steps.front().warps > 1)
    return expects("step_warps to begin with 1 where inner_chain is 1",
                   print(plan.stepWarps));
  for (const MmaStep &step : plan.steps)
    if (step.warps > 1 && plan.getWarpGroups(step) > kNamedBarriers)
      return expects("threads to be at most " +
                         Twine(32 * kNamedBarriers * step.warps) +
                         ", that is " + Twine(kNamedBarriers) + " groups of " +
                         Twine(step.warps) + " warps",
                     Twine(plan.threads));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Stream
//===----------------------------------------------------------------------===//

int64_t kron::getPowerDivisor(int64_t number, int64_t atMost) {
  int64_t divisor = 1;
  while (2 * divisor <= atMost && number % (2 * divisor) == 0)
    divisor *= 2;
  return divisor;
}

int64_t MmaPlan::getColumnTiles(const MmaStep &step, int64_t outside,
                                int64_t size, int64_t pair) const {
  int64_t most = std::max(getMostTiles(step), pair);
  int64_t tiles = llvm::divideCeil(size, int64_t(8));
  if (tiles <= most)
    return tiles;
  int64_t count = llvm::divideCeil(size, 8 * pair);
  // Bits of a swizzled index are those of a block's position or of what it is
  // added to.
  if (math != MmaMath::F64 || !inputLayout.swizzles.empty())
    return pair * getPowerDivisor(count, most / pair);
  // As many as leave the warp group with the most blocks the fewest tiles.
  int64_t best = 1, fewest = std::numeric_limits<int64_t>::max();
  for (int64_t together = 1; together <= most / pair; ++together) {
    int64_t blocks = outside * llvm::divideCeil(count, together);
    int64_t taken = together * llvm::divideCeil(blocks, getWarpGroups(step));
    if (taken <= fewest) {
      fewest = taken;
      best = together;
    }
  }
  return pair * best;
}

unsigned MmaPlan::getFirstJoined(const MmaStep &step) const {
  unsigned first = dims.size() - 2;
  // Of results in memory, rows and columns are told apart.
  if (step.kind != MmaStep::Kind::Fibres || stream || steps.size() == 1)
    return first;
  // Those of one dimension may fill instructions as they are.
  if (step.sizes[first] % tile::kMmaSizeM == 0)
    return first;
  auto continues = [&](const TileLayout &layout, unsigned dim) {
    return layout.strides[dim] == layout.strides[dim + 1] * step.sizes[dim + 1];
  };
  while (first > 0 && continues(inputLayout, first - 1) &&
         (!workLayout || continues(*workLayout, first - 1)))
    --first;
  return first;
}

int64_t MmaPlan::getFibres(const MmaStep &step) const {
  return llvm::product_of(
      ArrayRef(step.sizes).drop_front(getFirstJoined(step)).drop_back());
}

int64_t MmaPlan::getFibreTiles(const MmaStep &step, int64_t fibres) const {
  int64_t sizeN = step.warps > 1 ? 16 * step.tiles : dims.back().sizeN;
  if (sizeN > 16 || step.factorRegisters > 96)
    return 1;
  return getPowerDivisor(llvm::divideCeil(fibres, tile::kMmaSizeM), 2);
}

/// Leaves each of `cluster` CTAs its part of the dimension that the last step
/// contracts. Whether that can be.
static bool splitSteps(MmaPlan &plan, int64_t cluster) {
  if (cluster == 1)
    return true;
  const MmaStep &lastStep = plan.steps.back();
  int64_t sizeK = plan.dims[lastStep.dim].sizeK;
  if (plan.turnsRows || lastStep.kind != MmaStep::Kind::Columns ||
      sizeK % (8 * cluster) != 0)
    return false;
  for (MmaStep &before : plan.steps)
    if (&before != &lastStep)
      before.sizes[lastStep.dim] = sizeK / cluster;
  plan.cluster = cluster;
  return true;
}

/// What a warp group takes through the first step at a time, of up to `most`
/// tiles of 8 columns; none if that is no box of positions.
static SmallVector<int64_t> getPieceSizes(const MmaPlan &plan, int64_t most) {
  const MmaStep &step = plan.steps.front();
  unsigned last = plan.dims.size() - 1;
  SmallVector<int64_t> sizes(plan.dims.size(), 1);
  sizes[step.dim] = step.sizes[step.dim];
  sizes[last] = step.sizes[last];
  if (step.kind == MmaStep::Kind::Chain)
    return sizes;
  if (step.kind == MmaStep::Kind::Fibres) {
    sizes[last - 1] =
        tile::kMmaSizeM * plan.getFibreTiles(step, step.sizes[last - 1]);
    if (step.sizes[last - 1] % sizes[last - 1] != 0)
      return {};
    return sizes;
  }
  int64_t pair = std::max<int64_t>(1, 8 / getElementBytes(plan.type));
  int64_t tiles = llvm::divideCeil(sizes[last], 8);
  if (tiles > most) {
    if (sizes[last] % (8 * pair) != 0)
      return {};
    tiles = pair * getPowerDivisor(sizes[last] / (8 * pair), most / pair);
    sizes[last] = 8 * tiles;
  }
  for (unsigned dim = last; dim-- > 0;)
    if (dim != step.dim) {
      // Several positions may share a tile.
      bool folds = sizes[last] == 2 || sizes[last] == 4;
      int64_t fold = folds ? 8 / sizes[last] : 1;
      sizes[dim] = getPowerDivisor(step.sizes[dim], most / tiles * fold);
      break;
    }
  return sizes;
}

/// Those of `plan`, whose steps have been split.
static SmallVector<MmaStream> getStreams(const MmaPlan &plan) {
  const MmaStep &step = plan.steps.front();
  SmallVector<MmaStream> streams;
  if (plan.steps.size() < 2 || plan.getWarps() % step.warps != 0)
    return streams;
  int64_t warpGroups = plan.getWarpGroups(step);
  for (int64_t most = plan.getMostTiles(step); most > 0; most /= 2) {
    MmaStream stream;
    stream.sizes = getPieceSizes(plan, most);
    if (stream.sizes.empty())
      break;
    for (auto [whole, part] : llvm::zip_equal(step.sizes, stream.sizes))
      stream.pieces *= whole / part;
    if (stream.pieces % warpGroups != 0)
      break;
    stream.pieces /= warpGroups;
    stream.slots = stream.pieces;
    bool isNew = streams.empty() || streams.back().sizes != stream.sizes;
    if (isNew && stream.pieces >= kMmaLeastSlots)
      streams.push_back(stream);
  }
  return streams;
}

SmallVector<MmaStream> kron::getMmaStreams(const MmaPlan &plan,
                                           int64_t cluster) {
  MmaPlan split = plan;
  if (!splitSteps(split, cluster))
    return {};
  return getStreams(split);
}

/// Lets input arrive in the pieces that are chosen; why it cannot.
static std::optional<std::string> addStream(MmaPlan &plan) {
  if (!splitSteps(plan, plan.cluster))
    return "a tile cannot be shared by a cluster";
  SmallVector<MmaStream> streams = getStreams(plan);
  if (streams.empty())
    return "input cannot arrive in pieces";
  const MmaStream *stream = llvm::find_if(streams, [&](const MmaStream &other) {
    return other.sizes == plan.piece;
  });
  if (stream == streams.end()) {
    std::string sizes;
    for (const MmaStream &other : streams)
      sizes += (sizes.empty() ? "" : " or ") + print(other.sizes);
    return expects("piece to be " + sizes, print(plan.piece));
  }
  if (plan.pieceSlots < kMmaLeastSlots || plan.pieceSlots > stream->pieces)
    return expects("piece_slots to be in [" + Twine(kMmaLeastSlots) + ", " +
                       Twine(stream->pieces) + "]",
                   Twine(plan.pieceSlots));
  plan.stream = *stream;
  plan.stream->slots = plan.pieceSlots;
  SmallVector<int64_t> largest = getLargestSizes(plan);
  if (plan.cluster > 1) {
    unsigned dim = plan.steps.back().dim;
    largest[dim] = plan.dims[dim].sizeK / plan.cluster;
  }
  plan.workLayout = TileLayout::get(largest, getElementBytes(plan.type));
  plan.inputLayout =
      TileLayout::get(plan.stream->sizes, getElementBytes(plan.inputType));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// Lets tiles arrive and leave as they lie where that is chosen; why they
/// cannot.
static std::optional<std::string> addSegments(MmaPlan &plan) {
  bool hasPlace = getElementBytes(plan.outputType) == 2 ||
                  (plan.hasOneType() && plan.piece.empty());
  if (plan.sharedStore && (plan.cluster > 1 || !hasPlace))
    return expects("shared_store to be 0 unless a CTA has all results of a "
                   "tile, which arrives whole and of their type, or they are "
                   "of 16 bits",
                   1);
  if (!plan.wholeCopies)
    return std::nullopt;
  SmallVector<int64_t> sizes, strides;
  for (const MmaDim &dim : plan.dims) {
    sizes.push_back(dim.sizeK);
    strides.push_back(dim.stride);
  }
  if (plan.piece.empty())
    plan.segments =
        BoxSegments::get(sizes, strides, getElementBytes(plan.inputType));
  if (plan.segments)
    return std::nullopt;
  return expects("whole_copies to be 0 where tiles come in pieces or no "
                 "elements of one lie side by side",
                 1);
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

std::variant<MmaPlan, std::string>
kron::completeMmaPlan(const MmaRegion &region, const MmaChoices &choices) {
  if (std::optional<std::string> reason = checkChoices(region, choices))
    return *reason;
  double elements = double(region.getFootprint()) * choices.tile;
  if (elements * choices.columns > kMostElements)
    return "a tile of more than " + std::to_string(kMostElements) +
           " elements does not fit in shared memory";
  MmaPlan plan;
  static_cast<MmaRegion &>(plan) = region;
  static_cast<MmaChoices &>(plan) = choices;
  addDims(plan);
  if (std::optional<std::string> reason = checkChain(plan))
    return *reason;
  addSteps(plan);
  if (std::optional<std::string> reason = checkStepWarps(plan))
    return *reason;
  if (plan.alternates && plan.isStored(plan.steps.front()))
    return expects("alternates to be 0 where no results go to shared memory",
                   1);
  addLayouts(plan);
  if (std::optional<std::string> reason = addSegments(plan))
    return *reason;
  plan.mayKeepFactors = plan.getFactorRegisters() <= kMaxKeptRegisters;
  if (plan.keepsFactors && !plan.mayKeepFactors)
    return expects("keeps_factor to be 0, as factors take " +
                       Twine(plan.getFactorRegisters()) + " registers",
                   Twine(1));
  if (!plan.piece.empty())
    if (std::optional<std::string> reason = addStream(plan))
      return *reason;
  plan.sharedBytes = plan.getInputBytes() + kSlackBytes +
                     (plan.workLayout ? plan.workLayout->bytes : 0);
  return plan;
}

std::variant<MmaPlan, std::string> kron::readMmaPlan(FusedOp fused,
                                                     GPUPlanAttr plan) {
  std::variant<MmaRegion, std::string> region = describeMma(fused);
  if (auto *reason = std::get_if<std::string>(&region))
    return *reason;
  MmaChoices choices;
  PlanReader reader(plan);
  MmaChoices::visitFields(reader, choices);
  return completeMmaPlan(std::get<MmaRegion>(region), choices);
}

std::optional<std::string>
kron::getMmaMachineReason(const MmaPlan &plan, const GPUMachine &machine) {
  if (plan.cluster > 1 && !machine.hasCluster)
    return expects("cluster to be 1 on " + machine.arch, Twine(plan.cluster));
  return getSharedMemoryReason(plan.sharedBytes, plan.ctasPerSM, machine);
}
