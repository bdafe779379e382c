//===- AddPieces.cpp - tile.add_pieces ------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Sums are added up where the totals are stored: a thread that has no weight
// loads nothing, unless others wait for it.
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "kron/CodeGen/GPU/TileWalk.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

class PiecesTotal {
public:
  PiecesTotal(Lowering &lowering, AddPiecesOp op, StoreOp store);

  void emit();

private:
  void placeThread();
  Value addSums(Int weight);
  Value addSlices(Value sum);
  Positions locate(Int number);
  void store(Int weight, Value total);

  Lowering &lowering;
  KernelBuilder &k;
  AddPiecesOp op;
  StoreOp storeOp;
  Type accumulator;
  ScalarOps ops;
  KernelScale alpha, beta;
  const LoweredView &sums, &output;
  /// Sums of a piece that each weight has: of groups, and of lanes next to each
  /// other.
  int64_t groups, weights, lanes;
  /// Threads per weight, and which of them this is; which weight of the CTA's.
  int64_t slices;
  Int slice = 0, place = 0;
  int64_t sharedOffset = 0;
};

} // namespace

PiecesTotal::PiecesTotal(Lowering &lowering, AddPiecesOp op, StoreOp store)
    : lowering(lowering), k(lowering.k), op(op), storeOp(store),
      accumulator(op.getView().getType().getElementType()), ops(k, accumulator),
      alpha(getScale(lowering, store.getAlpha())),
      beta(getScale(lowering, store.getBeta())),
      sums(lowering.views.at(op.getView())),
      output(lowering.views.at(store.getView())), slices(op.getSlices()) {
  ArrayRef<int64_t> shape = op.getView().getType().getShape();
  groups = shape[1];
  weights = shape[2];
  lanes = shape[3];
  if (slices > 1)
    sharedOffset =
        k.allocateShared(lowering.threads * getBytesOf(accumulator), 128);
  placeThread();
}

/// Neighbouring threads read neighbouring sums.
void PiecesTotal::placeThread() {
  int64_t perTile = lowering.threads / slices;
  bool slicesFirst = lanes > 1;
  Int thread = k.threadId();
  Int fast = k.rem(thread, slicesFirst ? slices : perTile);
  Int slow = k.floorDiv(thread, slicesFirst ? slices : perTile);
  slice = slicesFirst ? fast : slow;
  place = slicesFirst ? slow : fast;
}

/// This thread's share of the sums of one weight.
Value PiecesTotal::addSums(Int weight) {
  // Where the weight's sums begin.
  Value first = sums.offset(k, sums.array.base, k.mul(weight, lanes));
  Int all = k.mul(k.truncate(sums.sizes.front()), groups * lanes);
  auto getOffset = [&](Int number) {
    Int lane = k.rem(number, lanes), rest = k.floorDiv(number, lanes);
    Int group = k.rem(rest, groups), piece = k.floorDiv(rest, groups);
    Int offset = k.mul(k.extend(piece), groups * weights * lanes);
    offset = k.add(offset, k.mul(k.extend(group), weights * lanes));
    return k.add(offset, k.extend(lane));
  };
  int64_t loads = op.getLoads();
  SmallVector<Value> total = k.rolledLoop(
      slice, all, loads * slices, ValueRange(ops.zero().re),
      [&](Int begin, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> values;
        for (int64_t index = 0; index < loads; ++index) {
          Int number = k.add(begin, index * slices);
          Value exists = k.less(number, all);
          // Those behind the last one are loaded, but count nothing.
          Int at = k.min(number, k.sub(all, 1));
          Value value =
              k.load(accumulator, sums.offset(k, first, getOffset(at)));
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
Value PiecesTotal::addSlices(Value sum) {
  int64_t distance = lanes > 1 ? 1 : lowering.threads / slices;
  auto getAddress = [&](int64_t offset) {
    return k.offsetElements(k.shared(sharedOffset), accumulator,
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

/// i, j, k and t of weight number `number`.
Positions PiecesTotal::locate(Int number) {
  if (!op.getOrder())
    return decodeItem(k, number, storeOp.getView().getType().getShape(),
                      {3, 2, 1, 0});
  BatchBlocks blocks = op.getOrderAttr().getBlocks();
  if (llvm::isInt<32>(weights))
    number = k.truncate(number);
  Int warp = k.floorDiv(number, blocks.getSumsPerWarp());
  BatchTile tile = getBatchTile(k, blocks, k.floorDiv(warp, blocks.getWarps()));
  SmallVector<Int> place =
      locateBatchSum(k, blocks, k.rem(warp, blocks.getWarps()),
                     k.rem(number, blocks.getSumsPerWarp()));
  return {tile.group, k.add(tile.left, place[0]), k.add(tile.right, place[1]),
          k.add(tile.lane, place[2])};
}

/// Scales the total of one weight and stores it.
void PiecesTotal::store(Int weight, Value total) {
  Positions at = locate(weight);
  auto getPlace = [&](const LoweredView &view) {
    Int offset = 0;
    for (auto [position, stride] : llvm::zip_equal(at, view.array.strides))
      offset = k.add(offset, k.mul(position, stride));
    return view.offset(k, view.array.base, offset);
  };
  Value exists;
  if (op.getOrder())
    for (unsigned dim : {1, 2, 3})
      exists = k.both(exists, k.less(at[dim], output.sizes[dim]));
  k.ifThen(exists, [&] {
    Scalar scaled = ops.scaledSum(alpha, beta, Scalar{total, nullptr}, [&] {
      const LoweredView &addend = lowering.views.at(storeOp.getAddend());
      return ops.load(addend.element, getPlace(addend));
    });
    ops.store(scaled, output.element, getPlace(output));
  });
}

void PiecesTotal::emit() {
  Int block = lowering.numbers.at(op.getTile());
  Int weight =
      k.add(k.mul(k.extend(block), lowering.threads / slices), k.extend(place));
  Value exists = k.less(weight, weights);
  if (slices == 1) {
    k.ifThen(exists, [&] { store(weight, addSums(weight)); });
    return;
  }
  // All threads meet at the barriers.
  Value total = addSlices(addSums(k.min(weight, weights - 1)));
  k.ifThen(k.both(exists, k.equal(slice, 0)), [&] { store(weight, total); });
}

void tile::storeTotals(Lowering &lowering, StoreOp op) {
  PiecesTotal(lowering, op.getSource().getDefiningOp<AddPiecesOp>(), op).emit();
}
