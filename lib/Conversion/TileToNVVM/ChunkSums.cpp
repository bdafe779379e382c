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

/// Makes chunks of data and factor at `place`, of a piece of `tile`, if copies
/// are whole; these are there then.
void ChunkPieces::order(const SparseTile &tile, SparseStepPlace &place) {
  Int startK = k.mul(place.indexK, plan.stepK);
  // Behind what all groups have for their results.
  int64_t first = lowering.firstBuffers.at(op.getSumsOf()) +
                  plan.getExchangeBytes() + plan.getStoredBytes();
  Int to = k.add(k.mul(thread.warpGroup, plan.getOrderedBytes()), first);
  Int factorTo = k.add(to, plan.getDataBytes());
  k.choose(factor.isAligned, [&](bool aligned) {
    copies.makeChunks(getDataCopy(tile, startK, place.data), to, aligned);
  });
  place.data = to;
  if (plan.copiesWhole(/*isFactor=*/true)) {
    k.choose(factor.isFactorAligned, [&](bool aligned) {
      copies.makeChunks(getFactorCopy(tile, startK, place.factor, aligned),
                        factorTo, aligned);
    });
    place.factor = factorTo;
  }
  meet();
}

/// The number of piece `indexK` of tile `number` among those of the segment, or
/// of this CTA but for multiples of the number of slots.
Int ChunkPieces::getStep(Int number, Int indexK) {
  Int first = plan.keepsFactor ? k.mul(number, plan.stepsK)
                               : lowering.rings[op.getRing()].full;
  return k.add(first, indexK);
}

void ChunkPieces::multiply(Int number) {
  sumSteps([&](Int indexK, MutableArrayRef<MmaC> stepSums) {
    k.waitCopies(std::max<int64_t>(plan.stages - 2, 0));
    meet();
    Int step = getStep(number, indexK);
    Int ahead = plan.stages - 1;
    if (plan.stages > 1)
      copy(number, k.add(indexK, ahead),
           k.rem(k.add(step, ahead), plan.stages));
    if (plan.usesWgmma)
      return multiplyByWarpgroups(number, indexK, step, stepSums);
    Int slot = k.rem(step, plan.stages);
    SparseStepPlace place;
    place.data = locateData(slot);
    place.factor = locateFactor(plan.keepsFactor ? indexK : slot);
    place.indexK = indexK;
    if (plan.wholeCopies)
      order(locate(number), place);
    multiplier.multiplyStep(stepSums, place);
  });
  if (!plan.keepsFactor) {
    // Packed operands alternate, whatever the number of slots.
    int64_t turns = plan.preparesAhead() ? 2 * plan.stages : plan.stages;
    Int &full = lowering.rings[op.getRing()].full;
    full = k.rem(k.add(full, plan.stepsK), turns);
  }
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
    stores.computeAgain(tile, factor.given, {exists, load, storeOne});
  };
  stores.guard(products, sums, computeAgain,
               [&] { stores.store(sums, tile, factor.isAligned); });
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
