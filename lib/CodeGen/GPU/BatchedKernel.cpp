//===- BatchedKernel.cpp - The kernel of many small arrays ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BatchedKernel.h"

using namespace mlir;
using namespace mlir::kron;

std::string BatchedKernel::getBaseName(FusedOp fused) {
  if (auto function = fused->getParentOfType<FunctionOpInterface>())
    return (function.getName() + "_batched").str();
  return "kron_batched";
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

void BatchedKernel::enterOperands(const BatchedOperands &hostOperands) {
  for (Int size : hostOperands.outerSizes)
    operands.outerSizes.push_back(k.enter(size));
  operands.input = k.enter(hostOperands.input);
  operands.init = k.enter(hostOperands.init);
  if (hostOperands.addend.base)
    operands.addend = k.enter(hostOperands.addend);
  operands.alpha = k.enter(hostOperands.alpha);
  operands.beta = k.enter(hostOperands.beta);
  operands.items = k.enter(hostOperands.items);
}

void BatchedKernel::allocate() {
  stageOffset = k.allocateShared(plan.stages * plan.getStageElements() * bytes);
  workOffset =
      k.allocateShared(plan.numWorkBuffers * plan.getWorkElements() * bytes);
  for (unsigned index = 0; index < plan.factors.size(); ++index)
    factorOffsets.push_back(k.allocateShared(
        plan.factors[index].sizeK * plan.getFactorPitch(index) * bytes));
}

void BatchedKernel::forThreads(int64_t count, function_ref<void(Int)> body) {
  for (int64_t begin = 0; begin < count; begin += plan.threads) {
    Int index = k.add(k.threadId(), begin);
    Value exists;
    if (begin + plan.threads > count)
      exists = k.less(index, count);
    k.ifThen(exists, [&] { body(index); });
  }
}

/// Copies the factors to shared memory, as rows [q].
void BatchedKernel::loadFactors(ArrayRef<FactorArray> factors) {
  for (auto [index, factor] : llvm::enumerate(factors)) {
    StageFactor array = k.enter(factor.array);
    int64_t sizeN = plan.factors[index].sizeN;
    int64_t pitch = plan.getFactorPitch(index);
    int64_t offset = factorOffsets[index];
    forThreads(plan.factors[index].sizeK * sizeN, [&](Int position) {
      Int p = k.floorDiv(position, sizeN), q = k.rem(position, sizeN);
      Int source = k.add(k.mul(p, array.strideK), k.mul(q, array.resultStride));
      Value value = k.load(k.element, k.offsetPointer(array.base, source),
                           CacheHint::ReadOnly);
      k.store(value, element(offset, k.add(k.mul(p, pitch), q)));
    });
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Takes tile `tile`, which lies in the pipeline stage at `stage`, through all
/// steps.
void BatchedKernel::emitTile(Int tile, Int stage) {
  Int buffer = stage;
  int64_t nextWork = 0;
  for (const BatchedStep &step : plan.steps) {
    Int target = buffer;
    if (!(step.source == step.destination)) {
      target = workOffset + nextWork * plan.getWorkElements() * bytes;
      nextWork = (nextWork + 1) % plan.numWorkBuffers;
    }
    if (&step == &plan.steps.back() && canStoreDirectly(step)) {
      beginStore(tile);
      storing = true;
      emitStep(step, buffer, target);
      storing = false;
      return;
    }
    emitStep(step, buffer, target);
    k.barrier();
    buffer = target;
  }
  emitStore(tile, buffer);
}

void BatchedKernel::emit(const BatchedOperands &hostOperands,
                         ArrayRef<FactorArray> factors) {
  Int tiles = k.host.ceilDiv(hostOperands.items, plan.itemsPerTile);
  enterOperands(hostOperands);
  allocate();
  int64_t stageBytes = plan.getStageElements() * bytes;
  int64_t ahead = plan.stages - 1;
  for (int64_t stage = 0; stage < ahead; ++stage) {
    Int tile =
        k.add(k.extend(k.blockId()), k.mul(k.extend(k.gridSize()), stage));
    emitLoad(tile, stageOffset + stage * stageBytes);
  }
  loadFactors(factors);

  int64_t end = stageOffset + plan.stages * stageBytes;
  Value firstStage = k.materialize(stageOffset, 32);
  Value firstFree = k.materialize(stageOffset + ahead * stageBytes, 32);
  Int step = k.extend(k.gridSize());
  auto advance = [&](Int stage) {
    Int next = k.add(stage, stageBytes);
    return k.select(k.equal(next, end), firstStage, k.materialize(next, 32));
  };
  k.rolledLoop(k.extend(k.blockId()), k.enter(tiles), step,
               {firstStage, firstFree}, [&](Int tile, ValueRange stages) {
                 emitLoad(k.add(tile, k.mul(step, ahead)), Int(stages[1]));
                 k.waitCopies(ahead);
                 k.barrier();
                 emitTile(tile, Int(stages[0]));
                 k.barrier();
                 return SmallVector<Value>{advance(Int(stages[0])),
                                           advance(Int(stages[1]))};
               });
  k.launch({plan.threads, plan.ctasPerSM, /*cluster=*/1, k.getSharedBytes()},
           tiles);
}
