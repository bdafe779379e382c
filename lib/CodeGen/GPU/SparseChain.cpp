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
  void start(SparseKernel &step, Int block, Int tiles);
  void emitBlock(Int block);
  void quantizeBlock(Int block);

  Emitter &host;
  const ChainPlan &plan;
  KernelBuilder k;
  std::vector<std::unique_ptr<SparseKernel>> steps;
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
  for (auto [product, step] :
       llvm::zip_equal(fused.getModeProducts(), plan.steps))
    steps.push_back(
        std::make_unique<SparseKernel>(k, fused, product, step, machine));
  for (auto &step : steps)
    if (plan.steps.back().turnsRows)
      step->turning = &plan.steps.back();
  if (!quantize)
    return;
  // Nobody sees the array between them.
  for (auto &step : steps) {
    Int &rows = step->operands.sizes[step->plan.rowAxis];
    rows = getQuantizedRowCount(host, quantize, rows);
    step->operands.init.base = nullptr;
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
        k.mul(steps.front()->thread.warpGroup, plan.getPlaceBytes(place)),
        places[place]);
  };
  if (quantized)
    steps.back()->targets.output =
        steps.back()->getResultRows(locate((steps.size() - 1) % 2));
  for (unsigned index = 0; index < steps.size(); ++index) {
    const SparsePlan &step = plan.steps[index];
    steps[index]->keptOffset = k.allocateShared(plan.getKeptBytes(index), 128);
    steps[index]->stageOffset = k.allocateShared(plan.getRingBytes(index), 128);
    if (index == 0)
      continue;
    steps[index]->dataOffset = locate((index - 1) % 2);
    steps[index - 1]->next = steps[index].get();
    if (step.stepsK * step.stepK != step.sizeK)
      steps[index]->clearData();
  }
}

/// Copies the factors that stay.
void SparseChain::keepFactors() {
  if (!plan.keepsFactors)
    return;
  for (auto &step : steps)
    step->keepAll();
  k.waitCopies(0);
  k.barrier();
}

/// Starts the first copies of a chain step's `tiles` for `block`.
void SparseChain::start(SparseKernel &step, Int block, Int tiles) {
  step.chainBlock = block;
  step.tileCount = tiles;
  step.startRun();
}

/// Starts the first chain step's copies for `block`, if there is one.
void SparseChain::startBlock(Int block) {
  SparseKernel &first = *steps.front();
  Value tiles =
      k.select(k.less(block, first.rowBlocks),
               k.materialize(first.plan.getTilesPerRows()), k.materialize(0));
  start(first, block, Int(tiles));
}

void SparseChain::emitBlock(Int block) {
  SparseKernel &first = *steps.front();
  Int nextBlock = k.add(block, k.mul(k.gridSize(), plan.warpGroups));
  for (unsigned index = 0; index < steps.size(); ++index) {
    // Rings are free again, and what this chain step reads is there.
    first.waitWarpGroup();
    const SparsePlan &following = plan.steps[(index + 1) % steps.size()];
    bool isAlone = steps.size() == 1;
    steps[index]->copiesBetween =
        following.hasRing() && !isAlone ? following.stages - 1 : 0;
    if (index + 1 < steps.size())
      start(*steps[index + 1], block, plan.steps[index + 1].getTilesPerRows());
    else if (!isAlone)
      startBlock(nextBlock);
    steps[index]->chainBlock = block;
    steps[index]->tileCount = plan.steps[index].getTilesPerRows();
    steps[index]->emitTilesOfSegment();
  }
  if (!quantized)
    return;
  first.waitWarpGroup();
  // The only chain step's ring is free now.
  if (steps.size() == 1)
    startBlock(nextBlock);
  quantizeBlock(block);
}

/// Quantizes the rows that the last chain step left to 8 bits. As few lanes
/// share a row as have some chunks of it each.
void SparseChain::quantizeBlock(Int block) {
  SparseKernel &last = *steps.back();
  const SparsePlan &step = last.plan;
  int64_t perChunk = step.getChunk();
  int64_t all = plan.getResultFeatures() / perChunk;
  int64_t lanes = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(all, kChunksPerLane)), 32);
  int64_t chunks = llvm::divideCeil(all, lanes);
  int64_t together = step.getWarpGroupThreads() / lanes;
  Int place = k.rem(last.thread.warpGroupThread, lanes);
  RowQuantizer math(k, quantized->byte, hasFloat8);
  Int firstRow = k.mul(k.extend(block), step.getRows());
  k.rolledLoop(0, step.getRows(), together, [&](Int first) {
    Int own = k.add(first, k.floorDiv(last.thread.warpGroupThread, lanes));
    Int row = k.add(firstRow, k.extend(own));
    Value exists = k.less(row, last.targets.rows);
    if (step.getRows() % together != 0)
      exists = k.both(exists, k.less(own, step.getRows()));
    Value from = k.offsetElements(
        last.targets.output.base, step.element,
        k.mul(k.min(own, step.getRows() - 1), last.targets.output.row));
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
    math.quantizeRow({step.element, chunks, kMostChunksKept, exists, load,
                      share, storeScale, store});
  });
}

void SparseChain::emit() {
  for (auto &step : steps)
    step->enterAll();
  if (quantized)
    quantized = quantized->enter(k);
  placeArrays();
  SparseKernel &first = *steps.front();
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
