//===- SparseGradSum.cpp - Adds up the pieces of a gradient ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thread per weight. The order of the pieces is that of the batch, so the
// result is the same bit for bit every time.
//
//===----------------------------------------------------------------------===//

#include "SparseGradSum.h"
#include "TileWalk.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = 256;
/// Sums that a thread waits for at a time.
static constexpr int64_t kLoads = 16;

/// The total of one weight; `first` points to its sum of the first piece.
static Value addPieces(KernelBuilder &k, ScalarOps &ops, Type accumulator,
                       Value first, Int count, int64_t weights) {
  SmallVector<Value> total = k.rolledLoop(
      0, count, kLoads, ValueRange(ops.zero().re),
      [&](Int piece, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> sums;
        for (int64_t index = 0; index < kLoads; ++index) {
          Int number = k.add(piece, index);
          Value exists = k.less(number, count);
          // Those behind the last one are loaded, but count nothing.
          Int at = k.min(number, k.sub(count, 1));
          Int offset = k.mul(k.extend(at), weights);
          Value sum =
              k.load(accumulator, k.offsetElements(first, accumulator, offset),
                     CacheHint::ReadOnly);
          sums.push_back(k.select(exists, sum, ops.zero().re));
        }
        Value result = carried.front();
        for (Value sum : sums)
          result = arith::AddFOp::create(k.builder, k.loc, result, sum);
        return {result};
      });
  return total.front();
}

void kron::emitSumOfPieces(Emitter &host, gpu::GPUModuleOp gpuModule,
                           StringRef name, const SparseGradPlan &plan,
                           const SparseGradOperands &operands,
                           const SparseGradPieces &pieces) {
  Type accumulator = getAccumulatorType(plan.element);
  KernelBuilder k(host, gpuModule, (name + "_sum").str(), plan.element);
  ScalarOps ops(k, accumulator);
  Value sums = k.enter(pieces.sums);
  Int count = k.truncate(k.enter(pieces.count));
  StageArray init = k.enter(operands.init), addend;
  KernelScale alpha = ops.enter(operands.alpha, operands.alpha.isOne());
  KernelScale beta = ops.enter(operands.beta, operands.beta.isZero());
  if (beta.value)
    addend = k.enter(operands.addend);

  SmallVector<int64_t> shape{plan.groups, plan.left.size, plan.right.size,
                             plan.lanes};
  int64_t weights = plan.getWeights();
  int64_t blocks = llvm::divideCeil(weights, kThreads);
  k.forTiles(blocks, [&](Int block) {
    Int weight =
        k.add(k.mul(k.extend(block), kThreads), k.extend(k.threadId()));
    k.ifThen(k.less(weight, weights), [&] {
      Value first = k.offsetElements(sums, accumulator, weight);
      Scalar total{addPieces(k, ops, accumulator, first, count, weights),
                   nullptr};
      auto getPlace = [&](const StageArray &array) {
        Positions at = decodeItem(k, weight, shape, {3, 2, 1, 0});
        Int offset = 0;
        for (auto [position, stride] : llvm::zip(at, array.strides))
          offset = k.add(offset, k.mul(position, stride));
        return k.offsetElements(array.base, plan.element, offset);
      };
      Scalar scaled = ops.scaledSum(alpha, beta, total, [&] {
        return ops.load(plan.element, getPlace(addend));
      });
      ops.store(scaled, plan.element, getPlace(init));
    });
  });
  LaunchShape launch;
  launch.threads = kThreads;
  launch.ctasPerSM = 4;
  k.launch(launch, blocks);
}
