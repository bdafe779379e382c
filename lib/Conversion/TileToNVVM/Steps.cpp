//===- Steps.cpp - Chain steps, from views and buffers to sums ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Dialect/Tile/IR/TileSteps.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// What operations say
//===----------------------------------------------------------------------===//

/// What the operations say, as those know it who multiply chunks.
static SparsePlan describe(Lowering &lowering, ContractStepOp op) {
  ViewType weights = op.getWeights();
  Type element = weights.getElementType();
  SparsePlan plan =
      describeChunks(op.getPieces(), op.getData(), weights, element,
                     op.getSums().getType().getElementType());
  Operation *target = *op.getSums().user_begin();
  plan.warpGroups = lowering.groups;
  plan.tileWarps = op.getLoop().getShares();
  plan.keepsFactor = isa<BufferType>(op.getFactorIn().getType());
  plan.writesShared = isa<ExchangeOp>(target);
  if (auto rows = dyn_cast<BufferType>(op.getSource().getType())) {
    plan.readsShared = true;
    plan.sharedRowBytes = rows.getShape()[1] * plan.elementBytes;
    plan.turnsRows = op.getTurned() > 0 && isa<StoreOp>(target);
  }
  if (auto leave = dyn_cast<LeaveRowsOp>(target))
    plan.resultRowBytes =
        leave.getBuffer().getType().getTileLayout().strides[0] *
        plan.elementBytes;
  return plan;
}

/// The rows of the kernel's arrays: those of the step that reads one.
static Int getRows(Lowering &lowering, ContractStepOp op) {
  Int rows = 0;
  op->getParentOfType<gpu::GPUFuncOp>().walk([&](ContractStepOp step) {
    if (isa<ViewType>(step.getSource().getType()))
      rows = lowering.views.at(step.getSource()).sizes.front();
  });
  return rows;
}

ChainStep::ChainStep(Lowering &lowering, ContractStepOp op)
    : ChunkProduct(lowering, ::describe(lowering, op),
                   op.getPieces().getChunks(), op.getSums().getType(),
                   op.getData(), op.getWeights()),
      op(op), rows(k, plan, op.getTurned()) {
  SmallVector<Value> views;
  if (!plan.readsShared) {
    data = getChunkArray(lowering, op.getSource(), /*free=*/0,
                         /*isFactor=*/false);
    views.push_back(op.getSource());
  } else {
    rows.begin = lowering.buffers.at(op.getSource());
  }
  targets.rows = getRows(lowering, op);
  enterTargets(views);
  factor = enterChunkFactor(lowering, op.getFactor(),
                            op.getPieces().getChunks().getOrder(), /*free=*/0,
                            views, hasWholeRows(k, plan, targets.rows));
}

/// Results that stay in shared memory as whole rows of features, as an array.
static SparseArray getResultRows(Lowering &lowering, const SparsePlan &plan,
                                 LeaveRowsOp op) {
  SparseArray array;
  array.base = lowering.k.shared(lowering.buffers.at(op.getBuffer()));
  array.element = plan.element;
  array.isBlock = true;
  array.row = plan.resultRowBytes / plan.elementBytes;
  array.strideK = plan.lanes;
  array.lane = 1;
  int64_t stride = plan.sizeN * plan.lanes;
  array.groups.resize(plan.groupSizes.size());
  for (unsigned axis = array.groups.size(); axis-- > 0;
       stride *= plan.groupSizes[axis])
    array.groups[axis] = stride;
  return array;
}

/// Where results go, and the `views` that decide how.
void ChainStep::enterTargets(SmallVectorImpl<Value> &views) {
  Operation *target = *op.getSums().user_begin();
  if (auto store = dyn_cast<StoreOp>(target)) {
    targets.output = getChunkArray(lowering, store.getView(), /*free=*/0,
                                   /*isFactor=*/false);
    views.push_back(store.getView());
    ChunkProduct::enterTargets(store, /*free=*/0, views);
  } else if (auto leave = dyn_cast<LeaveRowsOp>(target)) {
    targets.output = getResultRows(lowering, plan, leave);
    ChunkProduct::enterTargets(leave, /*free=*/0, views);
  }
}

/// Part number `part` of the tile that the step is at.
SparseTile ChainStep::locate(Int part) {
  return getSparseTile(k, plan, /*freeSizes=*/{}, part, block);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The number of the slot of piece number `step` of a tile: that of its group.
Int ChainStep::getSlot(Int step) {
  return k.add(k.rem(step, plan.stages), k.mul(thread.warpGroup, plan.stages));
}

/// Starts to copy the data of parts from `number` on, one of each share, to
/// slot `slot`.
void ChainStep::copyData(Int number, Int startK, Int slot, bool isAligned) {
  int64_t slotBytes = plan.tileWarps * plan.getDataBytes();
  Int to = k.add(k.mul(slot, slotBytes), lowering.buffers.at(op.getRing()));
  auto copyOne = [&](Int number, Int to) {
    copies.start(getDataCopy(locate(number), startK, to), /*groups=*/{},
                 isAligned);
  };
  if (plan.tileWarps == 1)
    return copyOne(number, to);
  k.rolledLoop(0, plan.tileWarps, 1, [&](Int index) {
    copyOne(k.add(number, index), k.add(to, k.mul(index, plan.getDataBytes())));
  });
}

void ChainStep::copyFactor(Int number, Int startK, Int to, bool isAligned) {
  ChunkProduct::copyFactor(locate(number), startK, to, isAligned);
}

/// Starts to copy piece number `step` of a tile with `count` parts, if there is
/// that.
void ChainStep::copy(Int step, Int count) {
  Int from = k.mul(k.floorDiv(step, plan.stepsK), plan.tileWarps);
  k.ifThen(k.less(from, count), [&] {
    Int startK = k.mul(k.rem(step, plan.stepsK), plan.stepK);
    Int slot = getSlot(step);
    auto copyBeside = [&](bool isAligned) {
      copyFactor(from, startK,
                 k.add(k.mul(slot, plan.getFactorBytes()),
                       lowering.buffers.at(op.getFactorIn())),
                 isAligned);
    };
    bool isOneTest = factor.isAligned == factor.isFactorAligned;
    if (!plan.readsShared)
      k.choose(factor.isAligned, [&](bool isAligned) {
        copyData(from, startK, slot, isAligned);
        if (!plan.keepsFactor && isOneTest)
          copyBeside(isAligned);
      });
    if (!plan.keepsFactor && (plan.readsShared || !isOneTest))
      k.choose(factor.isFactorAligned, copyBeside);
  });
  k.commitCopies();
}

void ChainStep::start(Int tile, Int count) {
  block = tile;
  k.rolledLoop(0, getStarted(), 1, [&](Int step) { copy(step, count); });
}

void ChainStep::keep() {
  Int begin = lowering.buffers.at(op.getFactorIn());
  k.choose(factor.isFactorAligned, [&](bool isAligned) {
    k.rolledLoop(0, getParts() * plan.stepsK, 1, [&](Int step) {
      block = 0;
      copyFactor(k.floorDiv(step, plan.stepsK),
                 k.mul(k.rem(step, plan.stepsK), plan.stepK),
                 k.add(k.mul(step, plan.getFactorBytes()), begin), isAligned);
    });
  });
  k.commitCopies();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ChainStep::forParts(Int tile, int64_t others, function_ref<void()> body) {
  block = tile;
  copiesBetween = others;
  // Shares that wait for copies together take as many parts; others need not
  // know of each other.
  bool isFree = plan.tileWarps > 1 && !plan.hasRing();
  Int start = isFree ? thread.tileWarp : 0,
      offset = isFree ? 0 : thread.tileWarp;
  k.rolledLoop(start, getParts(), plan.tileWarps, [&](Int index) {
    first = index;
    number = k.add(first, offset);
    body();
  });
}

/// Waits until piece number `step` has arrived, and nobody reads the slot that
/// comes free.
void ChainStep::wait(Int step) {
  auto waitFor = [&](int64_t others) {
    k.waitCopies(plan.stages - 2 + others);
  };
  if (copiesBetween)
    k.choose(
        k.less(step, plan.stages - 1), [&] { waitFor(copiesBetween); },
        [&] { waitFor(0); });
  else
    waitFor(0);
  meet();
}

/// Where piece number `step` of the tile, `indexK` of the part, has its data
/// and its factor.
SparseStepPlace ChainStep::locateStep(Int step, Int indexK) {
  SparseStepPlace place;
  Int slot = getSlot(step), begin = lowering.buffers.at(op.getFactorIn());
  Int factors = k.mul(plan.keepsFactor ? indexK : slot, plan.getFactorBytes());
  place.factor = k.add(k.add(factors, keptPart), begin);
  if (plan.readsShared) {
    place.data = rows.begin;
    place.region = region;
  } else {
    place.data = k.add(k.mul(slot, plan.tileWarps * plan.getDataBytes()),
                       lowering.buffers.at(op.getRing()));
  }
  place.indexK = indexK;
  return place;
}

void ChainStep::multiply() {
  tile = locate(number);
  if (plan.readsShared)
    region = rows.getRegion(tile);
  if (plan.keepsFactor)
    keptPart = k.mul(number, plan.stepsK * plan.getFactorBytes());
  Int firstStep = k.mul(k.floorDiv(first, plan.tileWarps), plan.stepsK);
  sumSteps([&](Int indexK, MutableArrayRef<MmaC> stepSums) {
    Int step = k.add(firstStep, indexK);
    if (plan.hasRing()) {
      wait(step);
      copy(k.add(step, getStarted()), getParts());
    }
    multiplier.multiplyStep(stepSums, locateStep(step, indexK));
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

ChainStep &tile::getChainStep(Lowering &lowering, ContractStepOp op) {
  if (lowering.steps.empty())
    op->getParentOfType<gpu::GPUFuncOp>().walk([&](ContractStepOp step) {
      lowering.steps[step] = std::make_shared<ChainStep>(lowering, step);
    });
  return *lowering.steps.at(op);
}

void tile::lower(Lowering &lowering, CopyStepOp op) {
  KernelBuilder &k = lowering.k;
  ContractStepOp product = getStepOf(op.getRing());
  ChainStep &step = getChainStep(lowering, product);
  int64_t ahead = op.getAhead();
  if (op.getTile() && ahead == 0)
    return step.start(lowering.numbers.at(op.getTile()), step.getParts());
  Int from = op.getTile() ? lowering.numbers.at(op.getTile())
                          : lowering.getFirstTile();
  Int tile = k.add(from, k.mul(lowering.getTileStep(), ahead));
  auto loop = cast<ForOp>(product.getLoop()->getParentOp());
  Value exists = k.less(tile, lowering.numbers.at(loop.getTiles()));
  Value parts = k.select(exists, k.materialize(step.getParts(), 32),
                         k.materialize(0, 32));
  step.start(tile, Int(parts));
}

void tile::lower(Lowering &lowering, KeepStepOp op) {
  KernelBuilder &k = lowering.k;
  lowering.buffers[op.getKept()] =
      Int(k.allocateShared(op.getKept().getType().getBytes(), 128));
  getChainStep(lowering, getStepOf(op.getKept())).keep();
  // All of them wait at once.
  if (!isa_and_nonnull<KeepStepOp>(op->getNextNode()))
    k.waitCopies(0);
}

void tile::lower(Lowering &lowering, ClearOp op) {
  KernelBuilder &k = lowering.k;
  int64_t chunks = op.getBuffer().getType().getBytes() / kSparseChunkBytes;
  Value zeros = k.zero(VectorType::get({4}, k.builder.getI32Type()));
  Int begin = lowering.buffers.at(op.getBuffer());
  k.rolledLoop(0, chunks, lowering.getGroupThreads(), [&](Int first) {
    Int chunk = k.add(first, lowering.getThreadOfGroup());
    k.ifThen(k.less(chunk, chunks), [&] {
      k.store(zeros, k.shared(k.add(k.mul(chunk, kSparseChunkBytes), begin)));
    });
  });
  k.syncWarp();
}

/// Groups of copies that other steps start in front of `loop`, behind its own.
static int64_t countStarted(Lowering &lowering, ForStepOp loop) {
  int64_t count = 0;
  ContractStepOp own = loop.getProduct();
  for (Operation *op = loop->getPrevNode(); op && !isa<ForStepOp>(op);
       op = op->getPrevNode())
    if (auto copy = dyn_cast<CopyStepOp>(op)) {
      ContractStepOp other = getStepOf(copy.getRing());
      // What is in front of its own copies is as old as these.
      if (other == own)
        return count;
      count += getChainStep(lowering, other).getStarted();
    }
  return count;
}

void tile::lower(Lowering &lowering, ForStepOp op) {
  ContractStepOp product = op.getProduct();
  if (!product)
    return;
  Int tile = lowering.numbers.at(product.getTile());
  getChainStep(lowering, product)
      .forParts(tile, countStarted(lowering, op),
                [&] { lowering.lower(*op.getBody()); });
}

void tile::lower(Lowering &lowering, ContractStepOp op) {
  getChainStep(lowering, op).multiply();
}

void tile::exchangeStep(Lowering &lowering, ExchangeOp op) {
  auto product = op.getFragment().getDefiningOp<ContractStepOp>();
  getChainStep(lowering, product)
      .exchange(getChainStep(lowering, getReader(op.getBuffer())));
}

void tile::storeStep(Lowering &lowering, Value sums) {
  getChainStep(lowering, sums.getDefiningOp<ContractStepOp>()).store();
}
