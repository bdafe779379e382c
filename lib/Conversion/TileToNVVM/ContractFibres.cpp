//===- ContractFibres.cpp - tile.for_fibres and tile.contract_fibres ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Blocks of fibres
//===----------------------------------------------------------------------===//

/// Finds the tiles that the body stores, and those that come next, in front of
/// the loop.
static void locateTiles(Lowering &lowering, ForFibresOp op) {
  KernelBuilder &k = lowering.k;
  auto locate = [&](Operation *user, Value view, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> axes, Int tile) {
    lowering.globalTiles[{user, view}] = std::make_shared<GlobalTile>(
        locateTile(lowering, view, sizes, axes, tile));
  };
  op.walk([&](StoreOp store) {
    for (Value view : {Value(store.getView()), Value(store.getAddend())})
      if (view)
        locate(store, view, *store.getBox(), *store.getAxes(),
               lowering.numbers.at(store.getTile()));
  });
  op.walk([&](RefillOp refill) {
    Int next = k.add(lowering.numbers.at(refill.getTile()), lowering.step);
    lowering.nextExists[refill] = k.less(next, lowering.tileCount);
    locate(refill, refill.getView(), op.getSizes(), refill.getAxes(), next);
  });
}

void tile::lower(Lowering &lowering, ForFibresOp op) {
  KernelBuilder &k = lowering.k;
  locateTiles(lowering, op);
  int64_t blocks = llvm::divideCeil(countFibres(op.getSizes(), op.getAlong()),
                                    kWarpgroupFibres);
  int64_t warpgroups = lowering.getGroupThreads() / kWarpgroupThreads;
  auto emit = [&](Int block) {
    lowering.numbers[op.getBoxes()] = block;
    lowering.lower(*op.getBody());
  };
  if (blocks == warpgroups)
    return emit(lowering.warpgroup);
  k.rolledLoop(lowering.warpgroup, blocks, warpgroups, emit);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

class FibresProduct {
public:
  FibresProduct(Lowering &lowering, ContractFibresOp op);

  void emit();

private:
  bool repeatsFibres();
  WgmmaRows load();
  SmallVector<Value> loadValues();
  SmallVector<Value> loadMatrices();
  SmallVector<Value> loadWordPairs();
  SmallVector<Value> guard(ArrayRef<Value> sums);

  Lowering &lowering;
  KernelBuilder &k;
  ContractFibresOp op;
  SharedTile source;
  int64_t stride;
  std::shared_ptr<PackedFactor> factor;
  const WgmmaOperand &shape;
  LaneFibres fibres;
};

} // namespace

FibresProduct::FibresProduct(Lowering &lowering, ContractFibresOp op)
    : lowering(lowering), k(lowering.k), op(op),
      source(k, op.getSource().getType(), lowering.buffers.at(op.getSource())),
      stride(source.layout.strides[getFibres(op.getBoxes()).getAlong()]),
      factor(lowering.packed.at(op.getOperand())), shape(factor->shape),
      fibres(lowering, getFibres(op.getBoxes()).getSizes(),
             getFibres(op.getBoxes()).getAlong(),
             !shape.innermost || !source.layout.swizzles.empty(),
             lowering.numbers.at(op.getBoxes())) {}

/// Whether warps without fibres of their own, in the last block, would repeat
/// one that another warp replaces.
bool FibresProduct::repeatsFibres() {
  int64_t last = fibres.fibres % kWarpgroupFibres;
  return last != 0 && last <= kWarpgroupFibres - 16 &&
         llvm::any_of(op.getSums().getUsers(), [&](Operation *user) {
           auto exchange = dyn_cast<ExchangeOp>(user);
           return exchange &&
                  getOrigin(exchange.getBuffer()) == getOrigin(op.getSource());
         });
}

/// f32, in the order of the instructions that take it. Positions behind the
/// last one of K are 0: there may be anything, and 0 times anything need not be
/// 0.
SmallVector<Value> FibresProduct::loadValues() {
  return fibres.load(k, lowering.getLanes().slot, source, shape.innermost,
                     shape.paddedK, shape.sizeK);
}

/// Along the innermost dimension, 16-bit values: 8 x 8 matrices as they lie.
SmallVector<Value> FibresProduct::loadMatrices() {
  // Lane l gives the address of row l % 8 of matrix l / 8: matrices 1 and 3 are
  // the second fibres, 2 and 3 the second 8 positions.
  Int lane = k.laneId();
  auto getBit = [&](int64_t bit) {
    return k.bitAnd(k.floorDiv(lane, int64_t(1) << bit), 1);
  };
  SmallVector<Int> position = fibres.locate(k, k.bitAnd(lane, 7), getBit(3));
  Int offset = source.getOffset(position, k.mul(getBit(4), 8));
  Int slot = lowering.getLanes().slot;
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < shape.paddedK; first += 16) {
    SmallVector<Value> parts = k.inlinePTX(
        {i32, i32, i32, i32},
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
        "=r,=r,=r,=r,l,~{memory}", source.getAddress(offset, first));
    if (first + 16 > shape.sizeK)
      for (int64_t part = 0; part < 4; ++part) {
        Int positionK = k.add(k.mul(slot, 2), first + part / 2 * 8);
        Value low = k.select(k.less(positionK, shape.sizeK),
                             k.materialize(0xffff), k.materialize(0));
        Value high = k.select(k.less(k.add(positionK, 1), shape.sizeK),
                              k.materialize(-0x10000), k.materialize(0));
        parts[part] = k.materialize(
            k.bitAnd(Int(parts[part]), k.bitOr(Int(low), Int(high))));
      }
    values.append(parts);
  }
  return values;
}

/// Along another dimension, 16-bit values: pairs of fibres at 4 successive
/// positions per 16, turned into pairs of positions.
SmallVector<Value> FibresProduct::loadWordPairs() {
  int64_t pitch = stride * source.layout.elementBytes;
  Int slot = lowering.getLanes().slot;
  Value bases[2];
  for (int64_t half = 0; half < 2; ++half)
    bases[half] = source.getAddress(
        source.getOffset(fibres.positions[0],
                         k.mul(k.add(k.mul(slot, 4), 2 * half), stride)),
        0);
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < shape.paddedK; first += 16)
    for (int64_t half = 0; half < 2; ++half) {
      Value words[2];
      for (int64_t odd = 0; odd < 2; ++odd) {
        words[odd] =
            k.load(i32, k.offsetBytes(bases[half], (first + odd) * pitch));
        int64_t known = first + 2 * half + odd;
        if (known + 12 >= shape.sizeK)
          words[odd] =
              k.select(k.less(k.add(k.mul(slot, 4), known), shape.sizeK),
                       words[odd], k.materialize(0));
      }
      for (StringRef selector : {"0x5410", "0x7632"})
        values.append(
            k.inlinePTX({i32}, ("prmt.b32 $0, $1, $2, " + selector + ";").str(),
                        "=r,r,r", {words[0], words[1]},
                        /*hasSideEffects=*/false));
    }
  return values;
}

WgmmaRows FibresProduct::load() {
  if (shape.kind == WgmmaKind::Half) {
    WgmmaRows rows;
    rows.main = shape.innermost ? loadMatrices() : loadWordPairs();
    return rows;
  }
  if (!repeatsFibres())
    return convertWgmmaRows(k, shape.kind, loadValues());
  // What warps make of zeros does not matter. (They could also repeat fibres
  // and have the others wait, but after a barrier of one warpgroup, racecheck
  // reports hazards across barriers of all.)
  Type f32 = k.builder.getF32Type();
  int64_t count = shape.paddedK / 2;
  SmallVector<Value> values =
      k.orZeros(fibres.hasSome(k), SmallVector<Type>(count, f32),
                [&] { return loadValues(); });
  return convertWgmmaRows(k, shape.kind, values);
}

/// What does not exist of an array is 0, and decides nothing.
SmallVector<Value> FibresProduct::guard(ArrayRef<Value> sums) {
  return guardWgmmaSums(
      k, shape, factor->place, lowering.getLanes().slot, sums,
      [&](unsigned fibre) { return fibres.exists(k, fibre); },
      [&](unsigned fibre, Int p) {
        Int offset =
            source.getOffset(fibres.positions[fibre], k.mul(p, stride));
        return k.load(k.builder.getF32Type(), source.getAddress(offset, 0));
      });
}

void FibresProduct::emit() {
  SmallVector<Value> sums =
      emitWgmma(k, shape, factor->place, factor->descriptorBase, load(),
                factor->element, WgmmaSeries());
  if (shape.kind == WgmmaKind::Split)
    sums = guard(sums);
  lowering.warpgroupSums[op.getSums()] =
      std::make_shared<WarpgroupSums>(WarpgroupSums{fibres, factor, sums});
}

void tile::lower(Lowering &lowering, ContractFibresOp op) {
  FibresProduct(lowering, op).emit();
}
