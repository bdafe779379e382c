//===- Chain.cpp - Chains of sparse factors as tiles ----------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A group of threads takes a block of rows through all factors, a step each.
// What a step leaves of the rows is what the next one reads:
//
//   view -> ring          the data of the first step, and the factors, unless
//                         all of them stay in shared memory
//   ring, rows -> sums    products by mma.sync, of a part of the results
//   sums -> rows          in chunks, as the next factor wants them
//   sums -> view          results of the last step, or rows that are quantized
//
// A ring's first pieces are under way while the step before it works: for the
// first one, that is the last one of the block before.
//
//===----------------------------------------------------------------------===//

#include "ChunkTiles.h"
#include "Families.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/Dialect/Tile/IR/TileRows.h"
#include "kron/Plan/GPU/ChainPlan.h"

using namespace mlir;
using namespace mlir::kron;

/// Segments of a row that a lane takes where few lanes have some, and the most
/// that it keeps.
static constexpr int64_t kSegmentsPerLane = 4, kMostSegmentsKept = 12;

namespace {

class ChainTiles : FusedTiles<ChainPlan> {
public:
  ChainTiles(const TileSource &source, const ChainPlan &plan);
  void build();

private:
  void enterOperands();
  void allocate();
  Value allocateRows(unsigned place, ArrayRef<int64_t> shape, int64_t pitch);
  Value keep(unsigned index);
  void start(unsigned index, Value tile, int64_t ahead);
  void buildBlock(Value tile);
  void buildStep(unsigned index, Value tile);
  void leaveRows(Value sums, Value part, Value tile);
  void quantizeRows(Value tile);
  kron::QuantizeOp quantize;
  FusedOperands operands;
  std::vector<std::unique_ptr<ChunkTiles>> steps;
  /// Of quantized rows.
  unsigned bytes = 0, scales = 0;
  /// What a step reads, and where its factor comes or is; null: of the last
  /// step's results.
  SmallVector<Value> sources, factors;
  Value ring, results;
  /// The first buffers of the two places between which steps alternate.
  Value places[2];
};

} // namespace

ChainTiles::ChainTiles(const TileSource &source, const ChainPlan &plan)
    : FusedTiles(source, plan), quantize(source.quantize),
      operands(getFusedOperands(kernel.host, fused)) {
  for (auto [product, step] :
       llvm::zip_equal(fused.getModeProducts(), plan.steps))
    steps.push_back(std::make_unique<ChunkTiles>(kernel, fused, product, step,
                                                 source.machine));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

void ChainTiles::enterOperands() {
  Emitter &host = kernel.host;
  const SparsePlan &first = plan.steps.front(), &last = plan.steps.back();
  SmallVector<Int> sizes(operands.sizes);
  Int &rows = sizes[first.rowAxis];
  // Nobody sees the array between both.
  if (quantize) {
    rows = getQuantizedRowCount(host, quantize, rows);
    operands.init.base = nullptr;
  }
  arguments.input = steps.front()->enterArray(operands.input, sizes,
                                              first.sizeK, first.element);
  for (auto &step : steps)
    step->enterFactor();
  if (!quantize)
    arguments.init = steps.back()->enterArray(operands.init, sizes, last.sizeN,
                                              last.element);
  steps.back()->enterTargets(operands, sizes, arguments);
  if (quantize)
    std::tie(bytes, scales) =
        kernel.enterQuantized(quantize, rows, plan.getResultFeatures());
  arguments.tiles = host.ceilDiv(rows, plan.rows);
  kernel.enterTileCount(32, arguments);
  arguments.tiles = host.ceilDiv(rows, plan.warpGroups * plan.rows);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Rows of place number `place`, `pitch` elements apart.
Value ChainTiles::allocateRows(unsigned place, ArrayRef<int64_t> shape,
                               int64_t pitch) {
  Type element = plan.steps.front().element;
  tile::LayoutAttr layout;
  if (pitch != shape.back())
    layout = tile::LayoutAttr::get(b.getContext(), {pitch, 1}, {});
  auto type = tile::BufferType::get(shape, element, layout);
  Value rows = tile::AllocOp::create(b, loc, type, places[place]);
  if (!places[place])
    places[place] = rows;
  return rows;
}

/// Rows between steps, and rings.
void ChainTiles::allocate() {
  int64_t elementBytes = plan.steps.front().elementBytes;
  sources.push_back(kernel.getArgument(arguments.input));
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    if (index == 0)
      continue;
    int64_t pitch = step.sharedRowBytes / elementBytes;
    sources.push_back(
        allocateRows((index - 1) % 2, {step.getRows(), pitch}, pitch));
    if (step.stepsK * step.stepK != step.sizeK)
      tile::ClearOp::create(b, loc, sources.back());
  }
  const SparsePlan &last = plan.steps.back();
  if (quantize)
    results = allocateRows((steps.size() - 1) % 2,
                           {last.getRows(), plan.getResultFeatures()},
                           last.resultRowBytes / elementBytes);
  ring = steps.front()->allocateRing(/*isFactor=*/false,
                                     plan.steps.front().tileWarps);
  if (!plan.keepsFactors)
    for (auto &step : steps)
      factors.push_back(step->allocateRing(/*isFactor=*/true));
}

Value ChainTiles::keep(unsigned index) {
  const SparsePlan &step = plan.steps[index];
  SmallVector<int64_t> shape{step.getTilesPerRows() * step.stepsK *
                                 step.getResults(),
                             steps[index]->getPitch(/*isFactor=*/true)};
  return tile::KeepStepOp::create(b, loc,
                                  tile::BufferType::get(shape, step.element),
                                  steps[index]->getFactor());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Starts the first copies of step number `index`, if it has some.
void ChainTiles::start(unsigned index, Value tile, int64_t ahead) {
  if (!plan.steps[index].hasRing())
    return;
  Value factor = steps[index]->getFactor();
  if (index > 0)
    tile::CopyStepOp::create(b, loc, factor, tile, ahead, factors[index],
                             /*factor=*/Value(), /*factor_ring=*/Value());
  else if (plan.keepsFactors)
    tile::CopyStepOp::create(b, loc, sources.front(), tile, ahead, ring,
                             /*factor=*/Value(), /*factor_ring=*/Value());
  else
    tile::CopyStepOp::create(b, loc, sources.front(), tile, ahead, ring, factor,
                             factors.front());
}

void ChainTiles::buildStep(unsigned index, Value tile) {
  const SparsePlan &step = plan.steps[index];
  ChunkTiles &tiles = *steps[index];
  int64_t turned =
      plan.steps.back().turnsRows ? plan.steps.back().getThreadRows() : 0;
  auto loop =
      tile::ForStepOp::create(b, loc, step.getTilesPerRows(), step.tileWarps);
  OpBuilder::InsertionGuard guard(b);
  kernel.beginBody(loop);
  Value sums = tile::ContractStepOp::create(
      b, loc, tiles.getSums(), sources[index], tile, loop.getPart(),
      index == 0 ? ring : Value(), tiles.getFactor(), factors[index], turned,
      tiles.getPieces());
  if (index + 1 < steps.size())
    tile::ExchangeOp::create(b, loc, sums, sources[index + 1], loop.getPart(),
                             b.getDenseI64ArrayAttr(1));
  else if (quantize)
    leaveRows(sums, loop.getPart(), tile);
  else
    tiles.store(arguments, sums, loop.getPart(), tile);
}

void ChainTiles::leaveRows(Value sums, Value part, Value tile) {
  tile::LeaveRowsOp::create(
      b, loc, sums, part, results, tile, kernel.getArgument(arguments.alpha),
      kernel.getArgument(arguments.beta), kernel.getArgument(arguments.addend),
      kernel.getArgument(arguments.bias),
      kernel.getArgument(arguments.residual), arguments.activation,
      arguments.scale);
}

/// As few lanes share a row as have some segments of it each.
void ChainTiles::quantizeRows(Value tile) {
  int64_t all = plan.getResultFeatures() * plan.steps.back().elementBytes /
                tile::kSegmentBytes;
  int64_t lanes = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(all, kSegmentsPerLane)), 32);
  kernel.quantizeRows(results, tile, lanes, kMostSegmentsKept,
                      tile::kSegmentBytes, bytes, scales, source.machine);
}

void ChainTiles::buildBlock(Value tile) {
  unsigned count = steps.size();
  for (unsigned index = 0; index < count; ++index) {
    // Rings are free again, and what this step reads is there.
    kernel.barrier();
    bool isLast = index + 1 == count;
    if (!isLast)
      start(index + 1, tile, /*ahead=*/0);
    else if (count > 1)
      start(0, tile, /*ahead=*/1);
    buildStep(index, tile);
  }
  if (!quantize)
    return;
  kernel.barrier();
  // The only step's ring is free now.
  if (count == 1)
    start(0, tile, /*ahead=*/1);
  quantizeRows(tile);
}

void ChainTiles::build() {
  enterOperands();
  begin(plan.getThreads(), /*cluster=*/1, plan.warpGroups);
  allocate();
  start(0, /*tile=*/nullptr, /*ahead=*/0);
  if (plan.keepsFactors)
    for (unsigned index = 0; index < steps.size(); ++index)
      factors.push_back(keep(index));
  // Blocks begin with a barrier of a group.
  if (plan.keepsFactors && plan.warpGroups > 1)
    kernel.barrier();
  buildLoop([&](Value tile) { buildBlock(tile); });
}

LogicalResult kron::tileChain(const TileSource &source) {
  return buildTiles<ChainTiles>(
      source, readChainPlan(source.fused, source.plan),
      [&](const ChainPlan &plan) -> std::optional<std::string> {
        bool quantizes(source.quantize);
        if (plan.quantizes == quantizes)
          return std::nullopt;
        return std::string(quantizes ? "the plan does not quantize its rows"
                                     : "no kron.quantize reads its rows alone");
      });
}
