//===- SparseChain.cpp - Kernel of a chain of sparse factors --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Teams of persistent CTAs take blocks of rows through all stages. Either all
// factors stay in shared memory, and only data are copied; or each stage has a
// ring of its own for what it copies (factors; the first one the data too). A
// ring's first steps are under way while the stage before it works: for the
// first stage, that is the last one of the block before.
//
//===----------------------------------------------------------------------===//

#include "SparseChain.h"
#include "SparseChainPlan.h"
#include "SparseKernel.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/CodeGen/GPU/Sparse.h"

using namespace mlir;
using namespace mlir::kron;

namespace mlir::kron {
class SparseChain {
public:
  SparseChain(Emitter &host, gpu::GPUModuleOp gpuModule, PassOp pass,
              const SparseChainPlan &plan, const GPUMachine &machine);
  void emit();

private:
  void placeArrays();
  void keepFactors();
  void startBlock(Int block);
  void start(SparseKernel &stage, Int block, Int tiles);
  void emitBlock(Int block);

  Emitter &host;
  const SparseChainPlan &plan;
  KernelBuilder k;
  std::vector<std::unique_ptr<SparseKernel>> stages;
};
} // namespace mlir::kron

SparseChain::SparseChain(Emitter &host, gpu::GPUModuleOp gpuModule, PassOp pass,
                         const SparseChainPlan &plan, const GPUMachine &machine)
    : host(host), plan(plan),
      k(host, gpuModule, getKernelBaseName(pass), plan.stages.front().element) {
  for (auto [product, stage] :
       llvm::zip_equal(pass.getModeProducts(), plan.stages))
    stages.push_back(
        std::make_unique<SparseKernel>(k, pass, product, stage, machine));
  for (auto &stage : stages)
    if (plan.stages.back().turnsRows)
      stage->turning = &plan.stages.back();
}

/// Factors that are kept, rings, and the two places between which stages take
/// turns.
void SparseChain::placeArrays() {
  int64_t places[2];
  for (unsigned place : {0, 1})
    places[place] =
        k.allocateShared(plan.getTeams() * plan.getPlaceBytes(place), 128);
  for (unsigned index = 0; index < stages.size(); ++index) {
    const SparsePlan &stage = plan.stages[index];
    stages[index]->keptOffset = k.allocateShared(plan.getKeptBytes(index), 128);
    stages[index]->stageOffset =
        k.allocateShared(plan.getRingBytes(index), 128);
    if (index == 0)
      continue;
    unsigned place = (index - 1) % 2;
    stages[index]->dataOffset = k.add(
        k.mul(stages[index]->team, plan.getPlaceBytes(place)), places[place]);
    stages[index - 1]->next = stages[index].get();
    if (stage.depthSteps * stage.depthStep != stage.depth)
      stages[index]->clearData();
  }
}

/// Copies the factors that stay.
void SparseChain::keepFactors() {
  if (!plan.stages.front().keepsFactor)
    return;
  for (auto &stage : stages)
    stage->keepAll();
  k.waitCopies(0);
  k.barrier();
}

/// Starts the first copies of a stage's `tiles` for `block`.
void SparseChain::start(SparseKernel &stage, Int block, Int tiles) {
  stage.chainBlock = block;
  stage.tileCount = tiles;
  stage.startRun();
}

/// Starts the first stage's copies for `block`, if there is one.
void SparseChain::startBlock(Int block) {
  SparseKernel &first = *stages.front();
  Value tiles =
      k.select(k.less(block, first.rowBlocks),
               k.materialize(first.plan.getTilesPerRows()), k.materialize(0));
  start(first, block, Int(tiles));
}

void SparseChain::emitBlock(Int block) {
  SparseKernel &first = *stages.front();
  for (unsigned index = 0; index < stages.size(); ++index) {
    // Rings are free again, and what this stage reads is there.
    first.waitTeam();
    const SparsePlan &following = plan.stages[(index + 1) % stages.size()];
    stages[index]->copiesBetween =
        following.hasRing() ? following.stages - 1 : 0;
    if (index + 1 < stages.size()) {
      start(*stages[index + 1], block,
            plan.stages[index + 1].getTilesPerRows());
    } else {
      startBlock(k.add(block, k.mul(k.gridSize(), plan.getTeams())));
    }
    stages[index]->chainBlock = block;
    stages[index]->tileCount = plan.stages[index].getTilesPerRows();
    stages[index]->emitTilesOfRun();
  }
}

void SparseChain::emit() {
  for (auto &stage : stages)
    stage->enterAll();
  placeArrays();
  SparseKernel &first = *stages.front();
  Int block = k.add(k.mul(k.blockId(), plan.getTeams()), first.team);
  startBlock(block);
  keepFactors();
  k.rolledLoop(block, first.rowBlocks, k.mul(k.gridSize(), plan.getTeams()),
               [&](Int block) { emitBlock(block); });
  LaunchShape shape;
  shape.threads = plan.stages.front().getThreads();
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = k.getSharedBytes();
  k.launch(shape, host.ceilDiv(first.operands.sizes[first.plan.rowAxis],
                               plan.getTeams() * plan.getRows()));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

std::optional<std::string>
kron::getSparseChainUnsupportedReason(ArrayRef<ModeProductOp> products,
                                      const GPUMachine &machine) {
  auto plan = getSparseChainPlan(products, machine);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  return std::nullopt;
}

/// Why factors that are copied for every block of rows make a chain slower than
/// trips of their own, whatever is estimated, or nothing.
static std::optional<std::string> getStreamReason(const SparseChainPlan &plan) {
  for (const SparsePlan &stage : plan.stages) {
    if (stage.keepsFactor)
      return std::nullopt;
    if (stage.laneChunks > 1 && stage.lanesPerChunk < stage.getChunk())
      return "elements of a factor, which is copied for each block of rows, "
             "would change places";
  }
  return std::nullopt;
}

std::optional<std::string>
kron::getSparseChainReason(ArrayRef<ModeProductOp> products,
                           const GPUMachine &machine) {
  auto plan = getSparseChainPlan(products, machine);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  const auto &found = std::get<SparseChainPlan>(plan);
  if (std::optional<std::string> reason = getStreamReason(found))
    return reason;
  double together = found.seconds, alone = found.secondsAlone;
  if (together <= alone)
    return std::nullopt;
  auto text = [](double seconds) {
    return std::to_string(static_cast<int64_t>(seconds * 1e6 + 0.5));
  };
  return "one trip takes " + text(together) + " us, trips of their own " +
         text(alone) + " us";
}

LogicalResult kron::emitSparseChain(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, PassOp pass,
                                    const GPUMachine &machine) {
  auto planOrReason = getSparseChainPlan(pass.getModeProducts(), machine);
  if (auto *reason = std::get_if<std::string>(&planOrReason))
    return pass.emitOpError("cannot become a sparse kernel: ") << *reason;
  Emitter host(builder, pass.getLoc(), getElementType(pass.getInit()));
  SparseChain(host, gpuModule, pass, std::get<SparseChainPlan>(planOrReason),
              machine)
      .emit();
  return success();
}
