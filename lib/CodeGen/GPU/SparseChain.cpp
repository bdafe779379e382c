//===- SparseChain.cpp - Kernel of a chain of sparse factors --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Warp groups of persistent CTAs take blocks of rows through all factors, a
// chain step each. Either all factors stay in shared memory, and only data are
// copied; or each chain step has a ring of its own for what it copies (factors;
// the first one the data too). A ring's first K steps are under way while the
// chain step before it works: for the first one, that is the last one of the
// block before.
//
//===----------------------------------------------------------------------===//

#include "SparseKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/Plan/GPU/ChainPlan.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

/// Chunks of a row that a lane takes where few lanes have some, and the most
/// that it keeps.
static constexpr int64_t kChunksPerLane = 4, kMostChunksKept = 12;

namespace mlir::kron {
class SparseChain {
public:
  SparseChain(Emitter &host, gpu::GPUModuleOp gpuModule, FusedOp fused,
              const ChainPlan &plan, QuantizeOp quantize,
              const GPUMachine &machine);
  void emit();

private:
  void placeArrays();
  void keepFactors();
  void startBlock(Int block);
  void start(SparseKernel &stage, Int block, Int tiles);
  void emitBlock(Int block);
  void quantizeBlock(Int block);

  Emitter &host;
  const ChainPlan &plan;
  KernelBuilder k;
  std::vector<std::unique_ptr<SparseKernel>> stages;
  /// Where 8-bit rows go, if results are quantized; of the host at first.
  std::optional<QuantizedRows> quantized;
  bool hasFloat8;
};
} // namespace mlir::kron

SparseChain::SparseChain(Emitter &host, gpu::GPUModuleOp gpuModule,
                         FusedOp fused, const ChainPlan &plan,
                         QuantizeOp quantize, const GPUMachine &machine)
    : host(host), plan(plan),
      k(host, gpuModule, getKernelBaseName(fused), plan.steps.front().element),
      hasFloat8(machine.computeCapability >= 89) {
  for (auto [product, stage] :
       llvm::zip_equal(fused.getModeProducts(), plan.steps))
    stages.push_back(
        std::make_unique<SparseKernel>(k, fused, product, stage, machine));
  for (auto &stage : stages)
    if (plan.steps.back().turnsRows)
      stage->turning = &plan.steps.back();
  if (!quantize)
    return;
  // Nobody sees the array between them.
  for (auto &stage : stages) {
    Int &rows = stage->operands.sizes[stage->plan.rowAxis];
    rows = getQuantizedRowCount(host, quantize, rows);
    stage->operands.init.base = nullptr;
  }
  quantized = QuantizedRows::get(host, quantize, plan.steps.back().getChunk());
}

/// Factors that are kept, rings, and the two places between which chain steps
/// alternate.
void SparseChain::placeArrays() {
  int64_t places[2];
  for (unsigned place : {0, 1})
    places[place] =
        k.allocateShared(plan.warpGroups * plan.getPlaceBytes(place), 128);
  auto locate = [&](unsigned place) {
    return k.add(
        k.mul(stages.front()->thread.warpGroup, plan.getPlaceBytes(place)),
        places[place]);
  };
  if (quantized)
    stages.back()->targets.output =
        stages.back()->getResultRows(locate((stages.size() - 1) % 2));
  for (unsigned index = 0; index < stages.size(); ++index) {
    const SparsePlan &stage = plan.steps[index];
    stages[index]->keptOffset = k.allocateShared(plan.getKeptBytes(index), 128);
    stages[index]->stageOffset =
        k.allocateShared(plan.getRingBytes(index), 128);
    if (index == 0)
      continue;
    stages[index]->dataOffset = locate((index - 1) % 2);
    stages[index - 1]->next = stages[index].get();
    if (stage.stepsK * stage.stepK != stage.sizeK)
      stages[index]->clearData();
  }
}

/// Copies the factors that stay.
void SparseChain::keepFactors() {
  if (!plan.keepsFactors)
    return;
  for (auto &stage : stages)
    stage->keepAll();
  k.waitCopies(0);
  k.barrier();
}

/// Starts the first copies of a chain step's `tiles` for `block`.
void SparseChain::start(SparseKernel &stage, Int block, Int tiles) {
  stage.chainBlock = block;
  stage.tileCount = tiles;
  stage.startRun();
}

/// Starts the first chain step's copies for `block`, if there is one.
void SparseChain::startBlock(Int block) {
  SparseKernel &first = *stages.front();
  Value tiles =
      k.select(k.less(block, first.rowBlocks),
               k.materialize(first.plan.getTilesPerRows()), k.materialize(0));
  start(first, block, Int(tiles));
}

void SparseChain::emitBlock(Int block) {
  SparseKernel &first = *stages.front();
  Int nextBlock = k.add(block, k.mul(k.gridSize(), plan.warpGroups));
  for (unsigned index = 0; index < stages.size(); ++index) {
    // Rings are free again, and what this chain step reads is there.
    first.waitWarpGroup();
    const SparsePlan &following = plan.steps[(index + 1) % stages.size()];
    bool isAlone = stages.size() == 1;
    stages[index]->copiesBetween =
        following.hasRing() && !isAlone ? following.stages - 1 : 0;
    if (index + 1 < stages.size())
      start(*stages[index + 1], block, plan.steps[index + 1].getTilesPerRows());
    else if (!isAlone)
      startBlock(nextBlock);
    stages[index]->chainBlock = block;
    stages[index]->tileCount = plan.steps[index].getTilesPerRows();
    stages[index]->emitTiles();
  }
  if (!quantized)
    return;
  first.waitWarpGroup();
  // The only chain step's ring is free now.
  if (stages.size() == 1)
    startBlock(nextBlock);
  quantizeBlock(block);
}

/// Quantizes the rows that the last chain step left to 8 bits. As few lanes
/// share a row as have some chunks of it each.
void SparseChain::quantizeBlock(Int block) {
  SparseKernel &last = *stages.back();
  const SparsePlan &stage = last.plan;
  int64_t perChunk = stage.getChunk();
  int64_t all = plan.getResultFeatures() / perChunk;
  int64_t lanes = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(all, kChunksPerLane)), 32);
  int64_t chunks = llvm::divideCeil(all, lanes);
  int64_t step = stage.getWarpGroupThreads() / lanes;
  Int place = k.rem(last.thread.warpGroupThread, lanes);
  RowQuantizer math(k, quantized->byte, hasFloat8);
  Int firstRow = k.mul(k.extend(block), stage.getRows());
  k.rolledLoop(0, stage.getRows(), step, [&](Int first) {
    Int own = k.add(first, k.floorDiv(last.thread.warpGroupThread, lanes));
    Int row = k.add(firstRow, k.extend(own));
    Value exists = k.less(row, last.targets.rows);
    if (stage.getRows() % step != 0)
      exists = k.both(exists, k.less(own, stage.getRows()));
    Value from = k.offsetElements(
        last.targets.output.base, stage.element,
        k.mul(k.min(own, stage.getRows() - 1), last.targets.output.row));
    Value to = quantized->locate(k, row);
    auto getNumber = [&](Int number) {
      return k.add(k.mul(number, lanes), place);
    };
    auto isInside = [&](Int number) {
      return all % lanes == 0 ? nullptr : k.less(number, all);
    };
    auto words = VectorType::get({4}, k.builder.getI32Type());
    auto load = [&](Int index) {
      Int number = getNumber(index);
      return k
          .ifElse(
              isInside(number), {words},
              [&]() -> SmallVector<Value> {
                return {k.load(
                    words,
                    k.offsetBytes(from, k.mul(number, kSparseChunkBytes)))};
              },
              [&]() -> SmallVector<Value> { return {k.zero(words)}; })
          .front();
    };
    auto share = [&](Value largest) {
      return math.shareInWarp(largest, lanes);
    };
    auto storeScale = [&](Value scale) {
      k.ifThen(k.equal(place, 0),
               [&] { quantized->storeScale(k, row, scale); });
    };
    auto store = [&](Int index, Value bytes) {
      Int number = getNumber(index);
      k.ifThen(isInside(number), [&] {
        quantized->store(k, bytes, k.offsetBytes(to, k.mul(number, perChunk)));
      });
    };
    math.quantizeRow({stage.element, chunks, kMostChunksKept, exists, load,
                      share, storeScale, store});
  });
}

void SparseChain::emit() {
  for (auto &stage : stages)
    stage->enterAll();
  if (quantized)
    quantized = quantized->enter(k);
  placeArrays();
  SparseKernel &first = *stages.front();
  Int block =
      k.add(k.mul(k.blockId(), plan.warpGroups), first.thread.warpGroup);
  startBlock(block);
  keepFactors();
  k.rolledLoop(block, first.rowBlocks, k.mul(k.gridSize(), plan.warpGroups),
               [&](Int block) { emitBlock(block); });
  LaunchShape shape;
  shape.threads = plan.getThreads();
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, host.ceilDiv(first.operands.sizes[first.plan.rowAxis],
                               plan.warpGroups * plan.rows));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

LogicalResult kron::emitChainKernel(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, FusedOp fused,
                                    GPUPlanAttr attr, const GPUMachine &machine,
                                    QuantizeOp quantize) {
  auto planOrReason = readChainPlan(fused, attr);
  auto emitError = [&](const Twine &reason) {
    return fused.emitOpError("cannot become a chain kernel: ") << reason;
  };
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return emitError(*reason);
  const auto &plan = std::get<ChainPlan>(planOrReason);
  if (plan.quantizes != bool(quantize))
    return emitError(quantize ? "the plan does not quantize its rows"
                              : "no kron.quantize reads its rows alone");
  if (std::optional<std::string> reason =
          getSharedMemoryReason(plan.getSharedBytes(), plan.ctasPerSM, machine))
    return emitError(*reason);
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  SparseChain(host, gpuModule, fused, plan, quantize, machine).emit();
  return success();
}
