//===- ChunkSums.cpp - Pieces of chunks, from rings to views --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Chunks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Where data and factor of K step `indexK` of `tile` are, that arrived in slot
/// `slot`: in chunks, which are made of them if copies are whole.
SparseStepPlace ChunkPieces::order(const SparseTile &tile, Int indexK,
                                   Int slot) {
  SparseStepPlace place;
  place.data = k.add(k.mul(slot, plan.getDataSlotBytes()), dataOffset);
  place.factor = k.add(k.mul(slot, plan.getFactorSlotBytes()), factorOffset);
  place.indexK = indexK;
  if (!plan.wholeCopies)
    return place;
  Int startK = k.mul(indexK, plan.stepK);
  int64_t to = lowering.buffers.at(op.getSumsOf()).getConstant() +
               plan.getExchangeBytes() + plan.getStoredBytes();
  int64_t factorTo = to + plan.getDataBytes();
  auto make = [&](bool isFactor) {
    choose(isFactor ? isFactorAligned : isAligned, [&](bool aligned) {
      copies.makeChunks(getCopy(tile, startK, slot, isFactor, aligned),
                        isFactor ? factorTo : to, aligned);
    });
  };
  make(/*isFactor=*/false);
  place.data = to;
  if (plan.copiesWhole(/*isFactor=*/true)) {
    make(/*isFactor=*/true);
    place.factor = factorTo;
  }
  k.barrier();
  return place;
}

void ChunkPieces::multiply(Int number) {
  LoweredRing &ring = lowering.rings[op.getRing()];
  SmallVector<Value> values = math.sumSteps(
      plan.stepsK, plan.getSums(), plan.hasPartialSums,
      [&](Int indexK, MutableArrayRef<MmaC> stepSums) {
        k.waitCopies(plan.stages - 2);
        k.barrier();
        auto getSlot = [&](Int behind) {
          return k.rem(k.add(k.add(ring.full, indexK), behind), plan.stages);
        };
        copy(number, k.add(indexK, plan.stages - 1), getSlot(plan.stages - 1));
        multiplier.multiplyStep(stepSums,
                                order(locate(number), indexK, getSlot(0)));
      });
  ring.full = k.rem(k.add(ring.full, plan.stepsK), plan.stages);
  sums.assign(plan.getSums(), {});
  for (auto [index, value] : llvm::enumerate(values))
    sums[index / 4][index % 4] = value;
  tile = locate(number);
  if (plan.warpsK > 1)
    giveSums();
}

//===----------------------------------------------------------------------===//
// Warps that share K
//===----------------------------------------------------------------------===//

/// Values of 16 bytes.
static int64_t getWidth(const SparsePlan &plan) {
  return plan.element.isF64() ? 2 : 4;
}

/// Where the warps that share results leave vector number `index` of the sums
/// of the warp with number `from` + 1 among them.
Value ChunkPieces::locateSums(Int from, int64_t index) {
  int64_t sharers = lowering.threads / plan.warpsK;
  int64_t vectors = 4 / getWidth(plan);
  int64_t lineBytes = sharers * kSparseChunkBytes;
  Int own = k.rem(k.threadId(), sharers);
  Int offset = k.add(k.mul(from, plan.getSums() * vectors * lineBytes),
                     k.mul(own, kSparseChunkBytes));
  Int begin = lowering.buffers.at(op.getSumsOf());
  return k.shared(k.add(offset, k.add(begin, index * lineBytes)));
}

/// Leaves the sums of all warps but the first one of those that share results.
/// The next tile's pieces have barriers before these places are written again.
void ChunkPieces::giveSums() {
  int64_t width = getWidth(plan);
  k.ifThen(k.less(0, thread.warpK), [&] {
    for (int64_t index = 0; index < plan.getSums() * 4 / width; ++index)
      k.store(k.makeVector(ArrayRef<Value>(sums[index * width / 4])
                               .slice(index * width % 4, width)),
              locateSums(k.sub(thread.warpK, 1), index));
  });
  k.barrier();
}

/// Adds what the other warps left.
void ChunkPieces::takeSums() {
  int64_t width = getWidth(plan);
  auto type = VectorType::get({width}, op.getSums().getType().getElementType());
  for (int64_t from = 0; from < plan.warpsK - 1; ++from)
    for (int64_t index = 0; index < plan.getSums() * 4 / width; ++index) {
      SmallVector<Value> others =
          k.unpack(k.load(type, locateSums(from, index)));
      for (auto [lane, other] : llvm::enumerate(others)) {
        Value &sum = sums[index * width / 4][index * width % 4 + lane];
        sum = arith::AddFOp::create(k.builder, k.loc, sum, other);
      }
    }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void ChunkPieces::storeSums() {
  auto computeAgain = [&] {
    Value first = stores.getBase(targets.output, tile);
    Value from = offsetSparseTile(k, data, tile, /*isFactor=*/false);
    auto exists = [&](Int row, Int result, Int lane) {
      return stores.isInside(tile, row, result, lane);
    };
    auto load = [&](Int row, Int lane, Int positionK) {
      return stores.loadData(data, from, row, lane, positionK);
    };
    auto storeOne = [&](Value sum, Int row, Int result, Int lane) {
      stores.storeElement(sum, first, tile, row, result, lane);
    };
    stores.computeAgain(tile, factor, {exists, load, storeOne});
  };
  stores.guard(products, sums, computeAgain,
               [&] { stores.store(sums, tile, isAligned); });
}

void ChunkPieces::store() {
  if (plan.warpsK == 1)
    return storeSums();
  k.ifThen(k.equal(thread.warpK, 0), [&] {
    takeSums();
    storeSums();
  });
}

bool tile::areChunkSums(Value value) {
  auto product = value.getDefiningOp<ContractPiecesOp>();
  return product && product.getPieces().getChunks();
}

void tile::multiplyChunks(Lowering &lowering, ContractPiecesOp op) {
  lowering.chunks.at(op.getRing())->multiply(lowering.numbers.at(op.getTile()));
}

void tile::storeChunks(Lowering &lowering, StoreOp op) {
  auto product = op.getSource().getDefiningOp<ContractPiecesOp>();
  lowering.chunks.at(product.getRing())->store();
}
