//===- WarpgroupStore.cpp - Results of a warpgroup ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Along the innermost dimension a lane holds four neighbouring results of each
// of its two fibres, at every 16th position; along others, results of two
// neighbouring fibres, at two positions of 8. It stores together what the array
// has together: positions of a fibre, or neighbouring fibres at a position.
//
// Rows that start anywhere have their results shifted along the four lanes, so
// that each lane has four whose address is a multiple of their bytes: as parts
// of sectors, what single results are takes the second-level cache longer.
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

namespace {

class WarpgroupStore {
public:
  WarpgroupStore(Lowering &lowering, StoreOp op);

  void emit();

private:
  /// Neighbours along dimension `inner`, the first at `position` of `fibre`;
  /// each exists, or does if that is null.
  struct Neighbours {
    unsigned fibre;
    int64_t position;
    SmallVector<Value, 4> sums;
    SmallVector<Value, 4> exist;
  };

  Value hasResult(int64_t position);
  SmallVector<Neighbours> getPairsOfFibres(ArrayRef<Value> exist);
  SmallVector<Neighbours> getNeighbours();
  Value getAddress(const GlobalTile *tile, const Neighbours &own,
                   unsigned index);
  void store(const Neighbours &own, bool isVector);
  bool canShift() const;
  SmallVector<Value> shift(ArrayRef<Value> before, ArrayRef<Value> own,
                           Int count);
  void storeShifted(unsigned fibre);

  Lowering &lowering;
  KernelBuilder &k;
  StoreOp op;
  const WarpgroupSums &product;
  const LaneFibres &fibres;
  bool innermost;
  unsigned inner;
  GlobalTile target;
  std::optional<GlobalTile> addend;
  KernelScale alpha, beta;
  /// Of results: how many neighbours a lane has, and its first one.
  int64_t width;
  Int laneResult;
};

} // namespace

WarpgroupStore::WarpgroupStore(Lowering &lowering, StoreOp op)
    : lowering(lowering), k(lowering.k), op(op),
      product(*lowering.warpgroupSums.at(op.getSource())),
      fibres(product.fibres), innermost(product.factor->shape.innermost),
      inner(getStoredDim(op)), alpha(getScale(lowering, op.getAlpha())),
      beta(getScale(lowering, op.getBeta())), width(innermost ? 4 : 2),
      laneResult(k.add(k.mul(lowering.getLanes().slot, width),
                       product.factor->firstResult)) {
  // Of blocks, tiles were found in front of the loop over these.
  auto locate = [&](Value view) {
    auto found = lowering.globalTiles.find({op, view});
    if (found != lowering.globalTiles.end())
      return *found->second;
    return locateTile(lowering, view, *op.getBox(), *op.getAxes(),
                      lowering.numbers.at(op.getTile()));
  };
  target = locate(op.getView());
  if (op.getAddend())
    addend = locate(op.getAddend());
}

/// Whether the lane's result `position` exists; null if it does in all lanes.
Value WarpgroupStore::hasResult(int64_t position) {
  const WgmmaOperand &shape = product.factor->shape;
  int64_t largest = position + 3 * width;
  bool isCertain = lowering.shares > 1 ? shape.sizeN % shape.paddedResults == 0
                                       : largest < shape.sizeN;
  return isCertain ? Value() : k.less(k.add(laneResult, position), shape.sizeN);
}

/// Results of two neighbouring fibres, each at the same position.
SmallVector<WarpgroupStore::Neighbours>
WarpgroupStore::getPairsOfFibres(ArrayRef<Value> exist) {
  SmallVector<Neighbours> all;
  ArrayRef<Value> sums = product.sums;
  // Of four sums, two are each fibre's.
  for (unsigned first = 0; first < sums.size(); first += 2 * width)
    for (int64_t index = 0; index < width; ++index) {
      unsigned own = first + 4 * (index / 2) + index % 2;
      Value isResult = hasResult(2 * first + index);
      all.push_back({0,
                     2 * first + index,
                     {sums[own], sums[own + 2]},
                     {k.both(exist[0], isResult), k.both(exist[1], isResult)}});
    }
  return all;
}

SmallVector<WarpgroupStore::Neighbours> WarpgroupStore::getNeighbours() {
  ArrayRef<Value> sums = product.sums;
  Value exist[] = {fibres.exists(k, target, 0), fibres.exists(k, target, 1)};
  if (inner != fibres.along)
    return getPairsOfFibres(exist);
  SmallVector<Neighbours> all;
  for (unsigned fibre = 0; fibre < 2; ++fibre)
    for (unsigned first = 0; first < sums.size(); first += 2 * width) {
      unsigned own = first + 2 * fibre;
      Neighbours &neighbours = all.emplace_back(
          Neighbours{fibre, 2 * first, {sums[own], sums[own + 1]}, {}});
      if (innermost)
        neighbours.sums.append({sums[own + 4], sums[own + 5]});
      for (int64_t index = 0; index < width; ++index)
        neighbours.exist.push_back(
            k.both(exist[fibre], hasResult(2 * first + index)));
    }
  return all;
}

Value WarpgroupStore::getAddress(const GlobalTile *tile, const Neighbours &own,
                                 unsigned index) {
  // What is known goes last and so into the instruction.
  Value base = fibres.getAddress(k, *tile, own.fibre, laneResult);
  Int known = k.add(k.mul(tile->strides[fibres.along], own.position),
                    k.mul(tile->strides[inner], index));
  return k.offsetBytes(base, k.mul(known, getBytesOf(tile->type)));
}

void WarpgroupStore::store(const Neighbours &own, bool isVector) {
  int64_t count = 1;
  if (isVector)
    count = std::min<int64_t>(own.sums.size(),
                              op.getBytes() / getBytesOf(target.type));
  for (unsigned index = 0; index < own.sums.size(); index += count)
    k.ifThen(own.exist[index], [&] {
      storeSums(lowering, alpha, beta, target.type,
                ArrayRef(own.sums).slice(index, count),
                getAddress(&target, own, index),
                addend ? getAddress(&*addend, own, index) : Value());
    });
}

/// Whether results of a row are neighbours, and nothing is added to them that
/// may start elsewhere.
bool WarpgroupStore::canShift() const {
  return innermost && !addend && target.strides[fibres.along].is(1);
}

/// Four of the results `before` and `own`, neighbours, of which the first one
/// is `count` (0 to 3) in front of those of `own`. Of `before`, the last three.
SmallVector<Value> WarpgroupStore::shift(ArrayRef<Value> before,
                                         ArrayRef<Value> own, Int count) {
  SmallVector<Value> window(before);
  llvm::append_range(window, own);
  for (unsigned distance : {2, 1}) {
    Value isNear = k.equal(k.bitAnd(count, distance), 0);
    for (unsigned index = 0; index + distance < window.size(); ++index)
      window[index] = k.select(isNear, window[index + distance], window[index]);
    window.resize(window.size() - distance);
  }
  return window;
}

/// Stores the row of `fibre` from its first multiple of four results' bytes on
/// by as many, and what is left at its ends one by one.
void WarpgroupStore::storeShifted(unsigned fibre) {
  const WgmmaOperand &shape = product.factor->shape;
  Int first = product.factor->firstResult, slot = lowering.getLanes().slot;
  int64_t bytes = getBytesOf(target.type);
  Value row = fibres.getAddress(k, target, fibre, first);
  Int address(
      LLVM::PtrToIntOp::create(k.builder, k.loc, k.builder.getI64Type(), row));
  Int count = k.truncate(k.bitAnd(k.floorDiv(address, bytes), width - 1));
  Int size = k.min(k.sub(shape.sizeN, first), shape.paddedResults);
  Int lane = k.laneId();
  Int neighbour =
      k.add(k.sub(lane, slot), k.bitAnd(k.add(slot, width - 1), width - 1));
  Value isLast = k.equal(slot, width - 1);
  Value start =
      k.offsetBytes(row, k.mul(k.sub(k.mul(slot, width), count), bytes));
  unsigned chunks = product.sums.size() / 8;
  auto getChunk = [&](unsigned number) {
    unsigned own = 8 * number + 2 * fibre;
    ArrayRef<Value> sums = product.sums;
    return SmallVector<Value>{sums[own], sums[own + 1], sums[own + 4],
                              sums[own + 5]};
  };
  // One more for those that the last lane's leave.
  for (unsigned number = 0; number <= chunks; ++number) {
    SmallVector<Value> own = getChunk(std::min(number, chunks - 1)), before;
    SmallVector<Value> previous = getChunk(number == 0 ? 0 : number - 1);
    for (unsigned index = 1; index < width; ++index)
      before.push_back(
          k.shuffle(k.select(isLast, previous[index], own[index]), neighbour));
    SmallVector<Value> values = shift(before, own, count);
    Int position = k.sub(k.add(k.mul(slot, width), 4 * width * number), count);
    Value place = k.offsetBytes(start, 4 * width * number * bytes);
    auto storeOne = [&] {
      for (int64_t index = 0; index < width; ++index) {
        Int own = k.add(position, index);
        Value exists = k.less(own, size);
        if (number == 0)
          exists = k.both(exists, k.less(-1, own));
        k.ifThen(exists, [&] {
          storeSums(lowering, alpha, beta, target.type, values[index],
                    k.offsetBytes(place, index * bytes), Value());
        });
      }
    };
    auto storeAll = [&] {
      storeSums(lowering, alpha, beta, target.type, values, place, Value());
    };
    if (number == chunks) {
      k.ifThen(fibres.exists(k, target, fibre), storeOne);
      continue;
    }
    Value isWhole = k.less(k.add(position, width - 1), size);
    if (number == 0)
      isWhole = k.both(isWhole, k.less(-1, position));
    k.ifThen(fibres.exists(k, target, fibre),
             [&] { k.choose(isWhole, storeAll, storeOne); });
  }
}

void WarpgroupStore::emit() {
  auto storeAll = [&](bool isVector) {
    // Fibres may be anywhere.
    if (innermost && !isVector)
      inner = fibres.along;
    for (const Neighbours &own : getNeighbours())
      store(own, isVector);
  };
  auto storeAnywhere = [&] {
    if (!canShift())
      return storeAll(/*isVector=*/false);
    for (unsigned fibre = 0; fibre < 2; ++fibre)
      storeShifted(fibre);
  };
  bool areApart = innermost && inner != fibres.along && !fibres.pairs;
  if (areApart || int64_t(op.getBytes()) == getBytesOf(target.type))
    return storeAnywhere();
  k.choose(
      isStoreAligned(lowering, op), [&] { storeAll(/*isVector=*/true); },
      storeAnywhere);
}

void tile::storeWarpgroupSums(Lowering &lowering, StoreOp op) {
  WarpgroupStore(lowering, op).emit();
}
