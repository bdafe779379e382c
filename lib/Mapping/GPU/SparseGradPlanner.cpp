//===- SparseGradPlanner.cpp - Chooses a gradient's tiles -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All tiles that fit the registers are tried, and ranked by what takes longest
// per position of the batch: instructions, shared memory, or what the
// second-level cache delivers.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/SparseGradPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Machine/GPUTiles.h"
#include "kron/Machine/NominalSizes.h"
#include "kron/Mapping/GPU/GivenPlan.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/SparseGradPlan.h"
#include "mlir/IR/Remarks.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Instructions that split a value.
static constexpr double kSplitInstructions = 4;
/// Registers that threads of warpgroups need beside sums, or if they prepare
/// packed operands.
static constexpr int64_t kGroupWarps = SparseGradPlan::kGroupWarps;
static constexpr int64_t kWgmmaRegisters = 48, kPackedRegisters = 56;
namespace {
/// Whether a plan has the fields of `given`. A visitor of plans.
class Filter {
public:
  explicit Filter(GPUPlanAttr given) : given(given) {}

  void operator()(StringRef name, int64_t value) {
    auto wanted = given.getFields().getAs<IntegerAttr>(name);
    matches &= !wanted || wanted.getInt() == value;
  }

  bool matches = true;

private:
  GPUPlanAttr given;
};

class Planner {
public:
  /// `plan` is what describeSparseGrad gave, or a whole plan.
  Planner(SparseGradPlan plan, GPUPlanAttr given, int64_t rows,
          const GPUMachine &machine)
      : plan(plan), given(given), rows(rows), machine(machine) {}

  /// The plan that takes the least time, if there is one.
  std::optional<SparseGradPlan> choose();
  /// The time of the whole plan that this was made with.
  double getSeconds() const;

private:
  void tryAll();
  void tryChunks(int64_t chunkBytes);
  void tryWarps(int64_t laneWarps);
  void tryWarpgroups();
  void tryPackedOperands();
  void tryTile();
  void tryResidency(int64_t ctasPerSM);
  bool isAllowed() const;
  int64_t getRegisters() const;
  void chooseBatchStep();
  bool chooseStages();
  void choosePieces();
  void chooseSums();
  double getLoadedBytes() const;
  Multiplication getMultiplication() const;
  double getSplitValues() const;
  double getReadBytes() const;
  double getSecondsPerRow() const;

  /// The one that is being tried.
  SparseGradPlan plan;
  /// Fields that the plan has to have.
  GivenPlan given;
  int64_t rows;
  const GPUMachine &machine;
  const GPUResources resources{machine};
  const SparseGradRates &rates = getGPURates(machine).sparseGrad;
  const GradientTiles &sizes = getGPUTiles(machine).gradient;
  std::optional<SparseGradPlan> best;
  double bestSeconds = std::numeric_limits<double>::infinity();
};
} // namespace

/// Of a thread: sums, operands of the left side and one of the right (which
/// wgmma reads itself), and what addresses take.
int64_t Planner::getRegisters() const {
  if (plan.usesWgmma)
    return llvm::alignTo(4 * plan.getSums() + kWgmmaRegisters, 8);
  int64_t words = plan.elementBytes == 8 ? 2 : 1;
  int64_t sums = 4 * plan.getSums() * (plan.hasPartialSums ? 2 : 1);
  if (plan.usesPackedOperands)
    return llvm::alignTo(sums + kPackedRegisters, 8);
  int64_t parts =
      plan.batchLast ? plan.getMacroK() / plan.getK() : plan.getParts();
  int64_t split = plan.has16BitResiduals            ? 4
                  : plan.math == MmaMath::SplitTF32 ? 2
                                                    : 1;
  int64_t operands = parts * split * (4 * plan.left.tiles + 2) +
                     (plan.batchLast ? 4 * plan.right.tiles : 8);
  return llvm::alignTo(words * (sums + operands) + 40, 8);
}

/// As long K steps as leave room for pipeline stages.
void Planner::chooseBatchStep() {
  int64_t shared = machine.getSharedBytes(plan.ctasPerSM);
  if (plan.batchLast) {
    // Rows of 256 bytes, or of 128 where fewer than three pipeline stages of
    // those fit.
    for (int64_t bytes : {256, 128}) {
      plan.batchStep = bytes / plan.elementBytes;
      plan.stages = 3;
      if (plan.getSharedBytes() <= shared && plan.elementBytes < 8)
        break;
    }
    return;
  }
  plan.batchStep = plan.getK();
  auto fits = [&] {
    SparseGradPlan next = plan;
    next.batchStep *= 2;
    next.stages = 3;
    if (plan.usesPackedOperands && next.getSharedBytes() > shared)
      return false;
    return next.batchStep <= kSummedK &&
           next.getStageBytes() * plan.ctasPerSM <= (plan.elementBytes == 8
                                                         ? sizes.shortStepBytes
                                                         : sizes.stepBytes);
  };
  while (fits())
    plan.batchStep *= 2;
}

/// K steps and pipeline stages; whether they fit.
bool Planner::chooseStages() {
  int64_t shared = machine.getSharedBytes(plan.ctasPerSM);
  if (int64_t batchStep = given.get("batch_step"))
    plan.batchStep = batchStep;
  else
    chooseBatchStep();
  if (int64_t stages = given.get("stages")) {
    plan.stages = stages;
    return plan.getSharedBytes() <= shared;
  }
  // Packed operands of the next K step are prepared while those of this one are
  // read.
  int64_t ahead = plan.usesPackedOperands ? 2 : 1;
  plan.stages = getStagesUnderWay(plan.getStageBytes() * plan.ctasPerSM,
                                  rates.bytesUnderWay, ahead, 1 + ahead,
                                  sizes.mostStages);
  while (plan.stages > 1 + ahead && plan.getSharedBytes() > shared)
    --plan.stages;
  return plan.getSharedBytes() <= shared;
}

/// Pieces such that all SMs have as much to do: once, or some times if there
/// are more tiles than SMs take at once.
void Planner::choosePieces() {
  int64_t leastPiece = given.get("least_piece");
  plan.leastPiece = leastPiece ? leastPiece : sizes.leastPiece;
  if (int64_t pieces = given.get("split_k")) {
    plan.pieces = pieces;
    return;
  }
  int64_t resident = machine.numSMs * plan.ctasPerSM;
  int64_t tiles = plan.getTiles();
  int64_t most = std::max<int64_t>(rows / plan.leastPiece, 1);
  plan.pieces = std::clamp<int64_t>(resident / tiles, 1, most);
  if (tiles <= resident / 2)
    return;
  // The fewest pieces that leave little idle.
  auto getIdle = [&](int64_t pieces) {
    return getWaveFactor(tiles * pieces, resident);
  };
  plan.pieces = 1;
  for (int64_t pieces = 2; pieces <= std::min(sizes.mostPieces, most); ++pieces)
    if (getIdle(pieces) * rates.pieceFactor < getIdle(plan.pieces))
      plan.pieces = pieces;
}

/// How many threads add up the sums of a weight: as many as wait for theirs
/// only once, if there are so many; those of weights that groups or products
/// share are many, each by a thread or several.
void Planner::chooseSums() {
  plan.sumThreads = plan.sumLoads = 1;
  if (!plan.hasSums())
    return;
  int64_t all = plan.getSumsPerWeight();
  int64_t wanted, most;
  if (plan.sharesLanes && plan.lanes > 1) {
    most = kSumThreads;
    wanted = plan.lanes * (plan.sharesGroups ? plan.groups : 1);
  } else {
    wanted = most = kSumThreads / sizes.neighbours;
  }
  if (!plan.isShared()) {
    wanted = llvm::divideCeil(all, sizes.mostSumLoads);
    uint64_t resident = sizes.sumResidentThreads / plan.getSumsPerPiece();
    most = std::min<int64_t>(most,
                             llvm::bit_floor(std::max<uint64_t>(resident, 1)));
  }
  int64_t threads = given.get("sum_threads"), loads = given.get("sum_loads");
  plan.sumThreads =
      threads ? threads : std::min<int64_t>(llvm::PowerOf2Ceil(wanted), most);
  int64_t perThread = llvm::divideCeil(all, plan.sumThreads);
  plan.sumLoads =
      loads ? loads
            : llvm::divideCeil(perThread,
                               llvm::divideCeil(perThread, sizes.mostSumLoads));
}

/// Bytes that come from shared memory per position of the batch of one tile.
double Planner::getLoadedBytes() const {
  int64_t chunk = plan.batchLast ? plan.elementBytes : plan.chunkBytes;
  if (plan.usesPackedOperands) {
    // Warpgroups load their rows of the left side and read whole packed
    // operands.
    double chunks = 16.0 * plan.getWarps() + getPackedOperand(plan).columns;
    double packedOperands = double(getPackedBytes(plan)) / plan.batchStep;
    return chunks * chunk +
           packedOperands * (1 + plan.left.warps / kGroupWarps);
  }
  // Every warp loads its rows of both sides; the matrix unit reads the right
  // side once for a warpgroup.
  double perWarp = 16.0 * plan.left.tiles + 8.0 * plan.right.tiles;
  return plan.usesWgmma
             ? plan.getWarps() / kGroupWarps * (perWarp + 3 * 16.0) * chunk
             : plan.getWarps() * perWarp * chunk;
}

/// How a tile's instructions multiply.
Multiplication Planner::getMultiplication() const {
  F32Products ofF32 = plan.math != MmaMath::SplitTF32 ? F32Products::Single
                      : plan.has16BitResiduals        ? F32Products::SplitBF16
                                                      : F32Products::Split;
  return getMatrixMultiplication(plan.elementBytes, ofF32,
                                 plan.usesWgmma || plan.usesPackedOperands);
}

/// Values that threads split per position of the batch of one tile: no warp
/// does it for another one, but for packed operands.
double Planner::getSplitValues() const {
  if (plan.math != MmaMath::SplitTF32)
    return 0;
  double perWarp = 16.0 * plan.left.tiles + 8.0 * plan.right.tiles;
  double rows = plan.usesPackedOperands
                    ? 16.0 * plan.getWarps() + getPackedOperand(plan).columns
                    : plan.getWarps() * perWarp;
  return rows * plan.getParts();
}

/// Bytes that come from the second-level cache per position of the batch of one
/// tile. Shorter segments take as long as whole ones.
double Planner::getReadBytes() const {
  int64_t segment = plan.getLanes() * plan.elementBytes;
  double waste = 1;
  if (!plan.batchLast && plan.lanes > plan.getLanes() &&
      segment < rates.segmentBytes)
    waste = double(rates.segmentBytes) / segment;
  return double(std::min(plan.getRows(plan.left), plan.left.size) +
                std::min(plan.getRows(plan.right), plan.right.size)) *
         plan.getLanes() * plan.elementBytes * waste;
}

/// Of all SMs together, for all tiles.
double Planner::getSecondsPerRow() const {
  double products = double(plan.getRows(plan.left)) * plan.getRows(plan.right) *
                    plan.getLanes();
  double multiply = resources.getMultiplySeconds(
      rates.multiplyFactor * products, getMultiplication());
  double shared =
      resources.getSharedSeconds(rates.loadFactor * getLoadedBytes());
  double split =
      resources.getIssueSeconds(kSplitInstructions * getSplitValues());
  double cache = resources.getCacheSeconds(getReadBytes());
  double most = std::max({multiply, shared, cache, split});
  double sum = multiply + shared + cache + split;
  // Few warps overlap less.
  double warps = plan.ctasPerSM * plan.getWarps();
  double idle = plan.usesWgmma ? 1 : getIdleFactor(warps, rates.busyWarps);
  if (plan.usesPackedOperands)
    idle += rates.oneColumnFactor / (8 * plan.right.tiles);
  return plan.getTiles() * idle *
         (rates.longestShare * most + rates.allShare * sum);
}

double Planner::getSeconds() const {
  double tiles = plan.getTiles() * plan.pieces;
  double resident = machine.numSMs * plan.ctasPerSM;
  double seconds = rows * getSecondsPerRow() * getWaveFactor(tiles, resident);
  double bytes = double(plan.left.size + plan.right.size) * plan.groups *
                 plan.lanes * plan.elementBytes * rows;
  seconds = std::max(seconds, resources.getMemorySeconds(bytes));
  double steps = std::ceil(double(rows) / plan.pieces / plan.batchStep);
  seconds += getWaves(tiles, resident) * steps * rates.stepSeconds;
  int64_t sumBytes = plan.elementBytes == 8 ? 8 : 4;
  if (plan.pieces > 1 || plan.isShared())
    seconds += resources.getMemorySeconds(
        double(plan.pieces * plan.getSumsPerPiece()) * sumBytes,
        rates.sumShare);
  return seconds;
}

/// Whether the plan has the fields that are given, which may be no plan.
bool Planner::isAllowed() const {
  if (!given)
    return true;
  Filter filter(given);
  SparseGradPlan copy = plan;
  SparseGradPlan::visitFields(filter, copy);
  filter("threads", plan.getThreads());
  return filter.matches && findWrongSparseGradChoice(plan).empty();
}

/// Tries CTAs of which `ctasPerSM` share an SM.
void Planner::tryResidency(int64_t ctasPerSM) {
  plan.ctasPerSM = ctasPerSM;
  if (!chooseStages())
    return;
  choosePieces();
  chooseSums();
  // Where sums are added up by a kernel of their own.
  if (!isAllowed())
    return;
  double seconds = getSeconds();
  // Later ones must be better by more than the estimate is worth.
  if (seconds < rates.formShare * bestSeconds) {
    best = plan;
    bestSeconds = seconds;
  }
}

void Planner::tryTile() {
  int64_t warps = plan.getWarps();
  int64_t most = machine.registersPerSM / (32 * getRegisters());
  if (getRegisters() > machine.maxRegistersPerThread || most < warps)
    return;
  if (int64_t ctasPerSM = given.get("ctas_per_sm"))
    return tryResidency(ctasPerSM);
  most = std::min(most, sizes.mostWarps);
  for (int64_t ctasPerSM = std::max<int64_t>(most / warps, 1); ctasPerSM > 0;
       ctasPerSM /= 2)
    tryResidency(ctasPerSM);
}

/// Tries all shares of rows among warps and instructions.
void Planner::tryWarps(int64_t laneWarps) {
  plan.laneWarps = laneWarps;
  auto isLarger = [&](const tile::BatchSide &side, int64_t tiles,
                      int64_t warps) {
    return (tiles > 1 || warps > 1) &&
           side.unit * plan.rowsPerChunk * tiles * warps >=
               2 * int64_t(
                       llvm::alignTo(side.size, side.unit * plan.rowsPerChunk));
  };
  for (int64_t leftWarps : {1, 2, 4, 8})
    for (int64_t rightWarps : {1, 2, 4, 8})
      for (int64_t leftTiles : {4, 3, 2, 1})
        for (int64_t rightTiles : {8, 6, 4, 3, 2, 1}) {
          if (leftWarps * rightWarps * laneWarps > 12 ||
              isLarger(plan.left, leftTiles, leftWarps) ||
              isLarger(plan.right, rightTiles, rightWarps))
            continue;
          plan.left.tiles = leftTiles;
          plan.left.warps = leftWarps;
          plan.right.tiles = rightTiles;
          plan.right.warps = rightWarps;
          tryTile();
        }
}

/// Tries tiles of warpgroups, each of which has 64 rows j and the tile's k.
void Planner::tryWarpgroups() {
  SparseGradPlan other = plan;
  plan.usesWgmma = true;
  plan.left.tiles = plan.right.warps = 1;
  // One warpgroup keeps memory no busier than the warps of mma.sync do.
  for (int64_t groups : {4, 3, 2})
    for (int64_t tiles = 32; tiles > 0; --tiles) {
      plan.left.warps = kGroupWarps * groups;
      plan.right.tiles = tiles;
      auto isLarger = [](const tile::BatchSide &side, int64_t rows,
                         int64_t unit) {
        return rows >= int64_t(llvm::alignTo(side.size, unit)) + unit;
      };
      if (isLarger(plan.left, 64 * groups, 64) ||
          isLarger(plan.right, 8 * tiles, 8))
        continue;
      tryTile();
    }
  plan = other;
}

/// Tries tiles of warpgroups that read packed operands of rows k.
void Planner::tryPackedOperands() {
  if (!machine.hasWgmma || !plan.has16BitResiduals)
    return;
  // Of blocks of 64 rows, three quarters have to exist.
  int64_t block = 64 * plan.rowsPerChunk;
  if (4 * plan.left.size < 3 * int64_t(llvm::alignTo(plan.left.size, block)))
    return;
  SparseGradPlan other = plan;
  plan.usesPackedOperands = true;
  plan.left.tiles = plan.right.warps = plan.laneWarps = 1;
  auto isLarger = [&](const tile::BatchSide &side, int64_t unit) {
    int64_t rows = plan.getRows(side), least = unit * plan.rowsPerChunk;
    return rows > least && rows >= 2 * int64_t(llvm::alignTo(side.size, least));
  };
  for (int64_t groups : {2, 1, 4})
    for (int64_t tiles : {24, 16, 12, 10, 8, 6, 4}) {
      plan.left.warps = kGroupWarps * groups;
      plan.right.tiles = tiles;
      if (!isLarger(plan.left, 64) && !isLarger(plan.right, 8))
        tryTile();
    }
  plan = other;
}

/// Tries chunks of `chunkBytes`.
void Planner::tryChunks(int64_t chunkBytes) {
  plan.chunkBytes = chunkBytes;
  plan.setChunks();
  if (plan.batchLast) {
    // Of blocks of 64 rows, three quarters have to exist.
    if (machine.hasWgmma && plan.is16BitFloat() &&
        4 * plan.left.size >= 3 * int64_t(llvm::alignTo(plan.left.size, 64)))
      tryWarpgroups();
    tryWarps(/*laneWarps=*/1);
    return tryPackedOperands();
  }
  int64_t chunks = plan.lanes / plan.lanesPerChunk;
  for (int64_t laneWarps : {1, 2, 3, 4})
    if (chunks % laneWarps == 0 || laneWarps == 3)
      if (laneWarps <= chunks)
        tryWarps(laneWarps);
  tryPackedOperands();
}

/// Tries all chunks.
void Planner::tryAll() {
  // Smaller ones of rows alone, or if they are whole rows, else copies would be
  // narrower; and one of one f64 would not be worth a load. 16-bit types have
  // more rows and products than registers otherwise.
  int64_t lanes = plan.lanes & -plan.lanes;
  bool hasSmall = !plan.batchLast && plan.elementBytes < 8 &&
                  (lanes == 1 || 8 % (plan.lanes * plan.elementBytes) == 0);
  SmallVector<int64_t, 2> sizes{16};
  if (hasSmall)
    sizes.insert(plan.is16BitFloat() ? sizes.begin() : sizes.end(), 8);
  for (int64_t bytes : sizes)
    tryChunks(bytes);
}

std::optional<SparseGradPlan> Planner::choose() {
  tryAll();
  if (plan.math == MmaMath::SplitTF32 && rows >= kLeastSummed) {
    plan.has16BitResiduals = true;
    tryAll();
  }
  return best;
}

/// Rows of the batch, or what they are taken to be.
static int64_t getRows(KsmmGradOp gradient) {
  int64_t rows = ShapedType::kDynamic;
  for (Value array : {gradient.getInput(), gradient.getGrad()})
    if (int64_t size = cast<ShapedType>(array.getType())
                           .getDimSize(gradient.getBatchDim());
        !ShapedType::isDynamic(size))
      rows = size;
  return ShapedType::isDynamic(rows) ? kNominalRows : rows;
}

/// The numbers among the fields of `given`, as the attribute prints them.
static std::string listFields(GPUPlanAttr given) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (NamedAttribute field : given.getFields())
    if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
      os << (text.empty() ? "" : ", ") << field.getName().getValue() << " = "
         << number.getInt();
  return text;
}

/// The plan that `gradient` carries, if it is complete, or else the best one
/// with the fields of `given`, which may be null; or why there is none.
static std::variant<GPUPlanAttr, std::string>
findPlan(KsmmGradOp gradient, GPUPlanAttr given, const GPUMachine &machine) {
  if (GivenPlan(given).isComplete(GPUKernel::Gradient))
    return given.without("regions");
  std::optional<SparseGradPlan> best =
      Planner(describeSparseGrad(gradient), given, getRows(gradient), machine)
          .choose();
  if (!best)
    return given ? "no gradient plan has " + listFields(given)
                 : std::string("no tile fits the GPU");
  PlanWriter writer(gradient.getContext(), GPUKernel::Gradient);
  SparseGradPlan::visitFields(writer, *best);
  return writer.getPlan();
}

std::variant<GPUPlanAttr, std::string>
kron::planSparseGrad(KsmmGradOp gradient, const GPUMachine &machine) {
  GPUPlanAttr given = getGPUPlanAttr(gradient);
  bool isOther = GivenPlan(given).namesOther(GPUKernel::Gradient);
  if (isOther)
    return ("expects kernel to be gradient, but got " +
            stringifyGPUKernel(given.getKernel()))
        .str();
  std::variant<GPUPlanAttr, std::string> found =
      findPlan(gradient, given, machine);
  auto *attribute = std::get_if<GPUPlanAttr>(&found);
  if (!attribute)
    return found;
  std::variant<SparseGradPlan, std::string> read =
      readSparseGradPlan(gradient, *attribute);
  if (auto *reason = std::get_if<std::string>(&read))
    return *reason;
  auto &plan = std::get<SparseGradPlan>(read);
  if (std::optional<std::string> reason =
          getSparseGradMachineReason(plan, machine))
    return *reason;
  return found;
}

void kron::remarkSparseGrad(KsmmGradOp gradient, const GPUMachine &machine) {
  auto plan = std::get<SparseGradPlan>(
      readSparseGradPlan(gradient, getGPUPlanAttr(gradient)));
  bool usesGroups = plan.usesWgmma || plan.usesPackedOperands;
  double seconds =
      Planner(plan, /*given=*/nullptr, getRows(gradient), machine).getSeconds();
  remark::analysis(gradient.getLoc(),
                   remark::RemarkOpts::name("Gradient").category("kron-gpu"))
      << remark::add("gradient by {0}, estimated {1} us; {2}",
                     usesGroups ? "wgmma" : "mma", int64_t(seconds * 1e6),
                     gradient.getPlanAttr())
      << remark::metric("Instruction", usesGroups ? "wgmma" : "mma")
      << remark::metric("Rows", plan.getRows(plan.left))
      << remark::metric("Columns", plan.getRows(plan.right))
      << remark::metric("Products", plan.getLanes())
      << remark::metric("Pieces", plan.pieces)
      << remark::metric("Microseconds", int64_t(seconds * 1e6));
}
