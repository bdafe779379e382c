//===- SparseGradSum.cpp - Adds up the pieces of a gradient ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A thread per weight; of weights that have many sums each, since there are
// many pieces or groups or products t share them, several threads, whose totals
// then are added up by one. The order does not depend on anything but sizes, so
// the result is the same bit for bit every time.
//
//===----------------------------------------------------------------------===//

#include "SparseGradSum.h"
#include "kron/CodeGen/GPU/TileWalk.h"
#include "kron/Machine/GPUTiles.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = kGPUForms.sumThreads;
/// The most sums that a thread waits for at a time.
static constexpr int64_t kMostLoads = kGPUForms.mostSumLoads;
/// Threads that all SMs together can have.
static constexpr int64_t kResidentThreads = kGPUForms.sumResidentThreads;
/// Threads along weights that lie side by side: whole contiguous segments of
/// memory.
static constexpr int64_t kNeighbours = 32;

namespace {
class SumKernel {
public:
  SumKernel(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
            const SparseGradPlan &plan, const SparseGradOperands &operands,
            const SparseGradPieces &pieces);

  void emit();

private:
  void placeThread();
  Value addSums(Int weight);
  Value addSlices(Value sum);
  Positions locate(Int number);
  void store(Int weight, Value total);

  const SparseGradPlan &plan;
  Type accumulator;
  KernelBuilder k;
  ScalarOps ops;
  Value sums;
  Int count = 1;
  StageArray init, addend;
  KernelScale alpha, beta;
  /// Sizes of the gradient, and how many sums of a piece each weight has: of
  /// groups, and of products t next to each other.
  SmallVector<int64_t> shape;
  int64_t groups = 1, lanes = 1;
  /// Threads per weight, and which of them this is; which weight of the CTA's.
  int64_t slices = 1;
  Int slice = 0, place = 0;
  /// Sums that it waits for at a time.
  int64_t loads = kMostLoads;
};
} // namespace

SumKernel::SumKernel(Emitter &host, gpu::GPUModuleOp gpuModule, StringRef name,
                     const SparseGradPlan &plan,
                     const SparseGradOperands &operands,
                     const SparseGradPieces &pieces)
    : plan(plan), accumulator(getAccumulatorType(plan.element)),
      k(host, gpuModule, (name + "_sum").str(), plan.element),
      ops(k, accumulator) {
  sums = k.enter(pieces.sums);
  count = k.truncate(k.enter(pieces.count));
  init = k.enter(operands.init);
  alpha = ops.enter(operands.alpha, operands.alpha.isOne());
  beta = ops.enter(operands.beta, operands.beta.isZero());
  if (beta.value)
    addend = k.enter(operands.addend);
  shape = {plan.groups, plan.left.size, plan.right.size, plan.lanes};
  if (plan.sharesGroups)
    groups = std::exchange(shape[0], 1);
  if (plan.sharesLanes)
    lanes = std::exchange(shape[3], 1);
  // As many threads as wait for their sums only once, if there are so many.
  int64_t all = plan.pieces * groups * lanes;
  int64_t most = lanes > 1 ? kThreads : kThreads / kNeighbours;
  int64_t wanted = lanes > 1 ? lanes * groups : most;
  if (!plan.isShared()) {
    wanted = llvm::divideCeil(all, kMostLoads);
    uint64_t resident = kResidentThreads / plan.getSumsPerPiece();
    most = std::min<int64_t>(most,
                             llvm::bit_floor(std::max<uint64_t>(resident, 1)));
  }
  slices = std::min<int64_t>(llvm::PowerOf2Ceil(wanted), most);
  int64_t perThread = llvm::divideCeil(all, slices);
  loads = llvm::divideCeil(perThread, llvm::divideCeil(perThread, kMostLoads));
}

/// Neighbouring threads read neighbouring sums.
void SumKernel::placeThread() {
  int64_t weights = kThreads / slices;
  bool slicesFirst = lanes > 1;
  Int thread = k.threadId();
  Int fast = k.rem(thread, slicesFirst ? slices : weights);
  Int slow = k.floorDiv(thread, slicesFirst ? slices : weights);
  slice = slicesFirst ? fast : slow;
  place = slicesFirst ? slow : fast;
}

/// This thread's share of the sums of one weight.
Value SumKernel::addSums(Int weight) {
  // Where the weight's sums begin, and how far it is to the next group's.
  int64_t stride = plan.left.size * plan.right.size * plan.lanes;
  Value first = k.offsetElements(sums, accumulator, k.mul(weight, lanes));
  int64_t perPiece = groups * lanes;
  Int all = k.mul(count, perPiece);
  auto getOffset = [&](Int number) {
    Int lane = k.rem(number, lanes), rest = k.floorDiv(number, lanes);
    Int group = k.rem(rest, groups), piece = k.floorDiv(rest, groups);
    Int offset = k.mul(k.extend(piece), plan.getSumsPerPiece());
    offset = k.add(offset, k.mul(k.extend(group), stride));
    return k.add(offset, k.extend(lane));
  };
  SmallVector<Value> total = k.rolledLoop(
      slice, all, loads * slices, ValueRange(ops.zero().re),
      [&](Int begin, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> values;
        for (int64_t index = 0; index < loads; ++index) {
          Int number = k.add(begin, index * slices);
          Value exists = k.less(number, all);
          // Those behind the last one are loaded, but count nothing.
          Int at = k.min(number, k.sub(all, 1));
          Value value = k.load(
              accumulator, k.offsetElements(first, accumulator, getOffset(at)),
              CacheHint::None);
          values.push_back(k.select(exists, value, ops.zero().re));
        }
        Value result = carried.front();
        for (Value value : values)
          result = arith::AddFOp::create(k.builder, k.loc, result, value);
        return {result};
      });
  return total.front();
}

/// The total of all threads of one weight, in the first of them: pairs of
/// threads add up what they have, then pairs of those.
Value SumKernel::addSlices(Value sum) {
  if (slices == 1)
    return sum;
  int64_t distance = lanes > 1 ? 1 : kThreads / slices;
  auto getAddress = [&](int64_t offset) {
    return k.offsetElements(k.shared(0), accumulator,
                            k.add(k.threadId(), offset * distance));
  };
  k.store(sum, getAddress(0));
  for (int64_t half = slices / 2; half > 0; half /= 2) {
    k.barrier();
    k.ifThen(k.less(slice, half), [&] {
      Value other = k.load(accumulator, getAddress(half));
      Value own = k.load(accumulator, getAddress(0));
      Value both = arith::AddFOp::create(k.builder, k.loc, own, other);
      k.store(both, getAddress(0));
    });
  }
  // Nobody may write what another one still reads.
  Value total = k.load(accumulator, getAddress(0));
  k.barrier();
  return total;
}

/// i, j, k and t of sum number `number` of a piece.
Positions SumKernel::locate(Int number) {
  if (!plan.hasThreadOrder())
    return decodeItem(k, number, shape, {3, 2, 1, 0});
  if (llvm::isInt<32>(plan.getSumsPerPiece()))
    number = k.truncate(number);
  Int warp = k.floorDiv(number, plan.getSumsPerWarp());
  SparseGradTile tile =
      getSparseGradTile(k, plan, k.floorDiv(warp, plan.getWarps()));
  SmallVector<Int> place =
      locateSparseGradSum(k, plan, k.rem(warp, plan.getWarps()),
                          k.rem(number, plan.getSumsPerWarp()));
  return {tile.group, k.add(tile.left, place[0]), k.add(tile.right, place[1]),
          k.add(tile.lane, place[2])};
}

/// Scales the total of one weight and stores it.
void SumKernel::store(Int weight, Value total) {
  Positions at = locate(weight);
  auto getPlace = [&](const StageArray &array) {
    Int offset = 0;
    for (auto [position, stride] : llvm::zip(at, array.strides))
      offset = k.add(offset, k.mul(position, stride));
    return k.offsetElements(array.base, plan.element, offset);
  };
  Value exists;
  if (plan.hasThreadOrder())
    for (unsigned dim : {1, 2, 3})
      exists = k.both(exists, k.less(at[dim], shape[dim]));
  k.ifThen(exists, [&] {
    Scalar scaled = ops.scaledSum(alpha, beta, Scalar{total, nullptr}, [&] {
      return ops.load(plan.element, getPlace(addend));
    });
    ops.store(scaled, plan.element, getPlace(init));
  });
}

void SumKernel::emit() {
  placeThread();
  if (slices > 1)
    k.allocateShared(kThreads * getElementBytes(accumulator), 128);
  int64_t weights = plan.getSumsPerPiece() / (groups * lanes);
  int64_t perBlock = kThreads / slices;
  int64_t blocks = llvm::divideCeil(weights, perBlock);
  k.forTiles(blocks, [&](Int block) {
    Int weight = k.add(k.mul(k.extend(block), perBlock), k.extend(place));
    Value exists = k.less(weight, weights);
    if (slices == 1) {
      k.ifThen(exists, [&] { store(weight, addSums(weight)); });
      return;
    }
    // All threads meet at the barriers.
    Value total = addSlices(addSums(k.min(weight, weights - 1)));
    k.ifThen(k.both(exists, k.equal(slice, 0)), [&] { store(weight, total); });
  });
  LaunchShape launch;
  launch.threads = kThreads;
  launch.ctasPerSM = 4;
  launch.sharedBytes = k.getSharedBytes();
  k.launch(launch, blocks);
}

void kron::emitSumOfPieces(Emitter &host, gpu::GPUModuleOp gpuModule,
                           StringRef name, const SparseGradPlan &plan,
                           const SparseGradOperands &operands,
                           const SparseGradPieces &pieces) {
  SumKernel(host, gpuModule, name, plan, operands, pieces).emit();
}
