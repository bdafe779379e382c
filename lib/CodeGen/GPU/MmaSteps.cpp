//===- MmaSteps.cpp - Applies factors to a tile by mma.sync ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which value a lane holds where is up to us, as long as both operands of an
// instruction agree on k. Lane (g, t) reads
//
//   Columns: k = 8i + t and 8i + t + 4 of its columns, `pair` neighbours at
//     once, which are number g of `pair` tiles of 8 columns. Then it holds
//     results of 2 * pair neighbouring columns.
//   Fibres: k = 8i + 2t and 8i + 2t + 1 of fibres g and g + 8.
//   Chain: a lane's results of the first product are operand A of the second as
//     they are: k of the second product is the column that the result stands
//     for.
//
// Tiles that reach over the end of a dimension are filled up with zeros, of the
// factor and of the data (where an infinity would make NaN of the factor's
// zero).
//
//===----------------------------------------------------------------------===//

#include "MmaKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Tiles of 8 positions that are summed up by matrix instructions alone.
static constexpr int64_t kSummedTiles = 8;

static int64_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

int64_t MmaKernel::getKTiles(const MmaStep &step) const {
  return llvm::divideCeil(plan.dims[step.dim].sizeK, 8);
}

/// Element (p, q), or 0 if it does not exist, where p is at most `maxP` and q
/// at most `maxQ`.
Value MmaKernel::loadFactorElement(ModeProductOp product, Place p, Place q,
                                   int64_t maxP, int64_t maxQ) {
  const StageFactor &factor = factors[product];
  auto shape = cast<ShapedType>(product.getFactor().getType());
  int64_t sizeK = shape.getDimSize(product.getContractedFactorDim());
  int64_t sizeN = shape.getDimSize(product.getResultingFactorDim());
  Value valid;
  if (maxP >= sizeK)
    valid = kernel.less(kernel.add(p.lane, p.known), sizeK);
  if (maxQ >= sizeN)
    valid = kernel.both(valid, kernel.less(kernel.add(q.lane, q.known), sizeN));
  // What is known goes last and so into the instruction: addresses of their own
  // would all be loop invariants, and be kept in registers.
  Value address = factor.base;
  for (bool known : {false, true}) {
    Int offset = kernel.add(
        kernel.mul(known ? Int(p.known) : p.lane, factor.strideK),
        kernel.mul(known ? Int(q.known) : q.lane, factor.resultStride));
    address = kernel.offsetBytes(address,
                                 kernel.mul(offset, getBytes(plan.factorType)));
  }
  if (valid)
    address = kernel.select(valid, address, factor.base);
  // Not as read-only memory: LLVM would hoist the loads that are made in time.
  Value value = toComputed(kernel.load(plan.factorType, address));
  return valid ? kernel.select(valid, value, products.getZero()) : value;
}

MmaOperand MmaKernel::getFactorOperand(ModeProductOp product, Place p, Place q,
                                       int64_t maxP, int64_t maxQ) {
  Value value = loadFactorElement(product, p, q, maxP, maxQ);
  return products.getOperand(value, /*exact=*/!plan.factorType.isF32());
}

Int MmaKernel::getShare(const MmaStep &step) {
  return kernel.rem(warp, step.warps);
}

/// The CTAs of a cluster start with the positions that they have themselves.
MmaKernel::Place MmaKernel::getKPosition(const MmaStep &step, int64_t tile) {
  if (!plan.isSplit(step))
    return {0, 8 * tile};
  int64_t own = getOwnTiles(step);
  Int rank = kernel.clusterRank();
  Int owner = tile < own ? rank : kernel.bitXor(rank, 1);
  return {kernel.mul(owner, 8 * own), 8 * (tile % own)};
}

MmaA MmaKernel::loadRowFactor(const MmaStep &step, int64_t mTile,
                              int64_t kTile) {
  ModeProductOp product = plan.dims[step.dim].product;
  Int first = kernel.mul(getShare(step), 16 * step.tiles);
  int64_t maxQ = 16 * step.tiles * step.warps - 1;
  if (step.warps == 1)
    maxQ = 16 * mTile + 15;
  MmaA a;
  for (unsigned index = 0; index < 4; ++index) {
    Place p = getKPosition(step, kTile);
    p.lane = kernel.add(p.lane, laneSlot);
    p.known += 4 * (index / 2);
    Place q{kernel.add(first, laneGroup), 16 * mTile + 8 * (index % 2)};
    a[index] = getFactorOperand(product, p, q, 8 * kTile + 7, maxQ);
  }
  return a;
}

MmaKernel::Factors MmaKernel::loadFactors(const MmaStep &step,
                                          int64_t firstTile, int64_t count) {
  Factors result;
  int64_t endTile = firstTile + count;
  bool last = &step == &plan.steps.back();
  MmaBuffer work{nullptr, plan.type, 0};
  int64_t pair = getPair(last ? nullptr : &work);

  if (step.kind != MmaStep::Kind::Fibres)
    for (int64_t mTile = 0; mTile < step.tiles; ++mTile) {
      result.rows.emplace_back();
      for (int64_t kTile = firstTile; kTile < endTile; ++kTile)
        result.rows.back().push_back(loadRowFactor(step, mTile, kTile));
    }
  if (step.kind == MmaStep::Kind::Columns)
    return result;

  // Operand B: rows k of the factor as the other operand has them.
  bool chain = step.kind == MmaStep::Kind::Chain;
  const MmaDim &inner = plan.dims.back();
  SmallVector<std::array<Place, 2>> rows;
  SmallVector<int64_t> lastRows;
  if (chain) {
    for (MmaColumnGroup group : getColumnGroups(inner.sizeK, getPair(&work)))
      for (int64_t tile = 0; tile < group.pair; ++tile) {
        Place first{kernel.mul(laneSlot, 2 * group.pair), group.first + tile};
        rows.push_back({first, {first.lane, first.known + group.pair}});
        lastRows.push_back(group.first + 8 * group.pair - 1);
      }
  } else {
    for (int64_t kTile = firstTile; kTile < endTile; ++kTile) {
      Place first{kernel.mul(laneSlot, 2), 8 * kTile};
      rows.push_back({first, {first.lane, first.known + 1}});
      lastRows.push_back(8 * kTile + 7);
    }
  }
  Int firstQ = 0;
  int64_t sizeQ = inner.sizeN;
  if (step.warps > 1) {
    sizeQ = 16 * step.tiles;
    firstQ = kernel.mul(getShare(step), sizeQ);
  }
  for (MmaColumnGroup group : getColumnGroups(sizeQ, pair))
    for (int64_t tile = 0; tile < group.pair; ++tile) {
      result.columns.emplace_back();
      Place q{kernel.add(firstQ, kernel.mul(laneGroup, group.pair)),
              group.first + tile};
      int64_t maxQ =
          group.first + 8 * group.pair - 1 + (step.warps - 1) * 16 * step.tiles;
      for (auto [row, lastRow] : llvm::zip(rows, lastRows)) {
        MmaB b;
        for (unsigned index : {0, 1})
          b[index] =
              getFactorOperand(inner.product, row[index], q, lastRow, maxQ);
        result.columns.back().push_back(b);
      }
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Tiles of 8 columns that are read, and written, as one: results of a lane
/// then fill 16 bytes.
int64_t MmaKernel::getPair(const MmaBuffer *to) const {
  int64_t bytes = getBytes(to ? to->type : plan.outputType);
  return std::max<int64_t>(1, 8 / bytes);
}

SmallVector<MmaColumnGroup> MmaKernel::getColumnGroups(int64_t size,
                                                       int64_t pair) {
  SmallVector<MmaColumnGroup> groups;
  for (int64_t first = 0; first < size;) {
    int64_t width = pair;
    while (8 * width > int64_t(llvm::alignTo(size - first, 8)))
      width /= 2;
    groups.push_back({first, width});
    first += 8 * width;
  }
  return groups;
}

SmallVector<Int> MmaKernel::getItemPositions(ArrayRef<MmaItemAxis> axes,
                                             Int item) {
  SmallVector<Int> positions(plan.dims.size(), Int(0));
  for (unsigned index = axes.size(); index-- > 0;) {
    const MmaItemAxis &axis = axes[index];
    Int digit = index == 0 ? item : kernel.rem(item, axis.count);
    item = kernel.floorDiv(item, axis.count);
    if (axis.count == 1)
      digit = 0;
    positions[axis.dim] = kernel.mul(digit, axis.step);
  }
  return positions;
}

/// Waits for the warps that share results.
void MmaKernel::syncWarpGroup(const MmaStep &step) {
  if (step.warps == 1)
    return kernel.syncWarp();
  Int warpGroup = kernel.floorDiv(warp, step.warps);
  kernel.namedBarrier(kernel.add(warpGroup, 1), 32 * step.warps);
}

/// Calls `body` for the warp group's pieces of the tile and starts copying
/// those that come `slots` later, maybe of the next tile.
void MmaKernel::forPieces(const MmaStep &step,
                          function_ref<void(SmallVector<Int>)> body) {
  const MmaStream &stream = *plan.stream;
  int64_t pieceBytes = plan.inputLayout.bytes;
  Int warpGroup = kernel.floorDiv(warp, step.warps);
  Int first = kernel.mul(warpGroup, stream.pieces);
  Int lastSlot = kernel.add(kernel.mul(warpGroup, stream.slots * pieceBytes),
                            (stream.slots - 1) * pieceBytes);
  SmallVector<Value> end = kernel.rolledLoop(
      0, stream.pieces, 1, kernel.materialize(pieceBase, 32),
      [&](Int number, ValueRange carried) -> SmallVector<Value> {
        pieceBase = Int(carried[0]);
        kernel.waitCopies(stream.slots - 1);
        syncWarpGroup(step);
        body(getItemPositions(getPieceAxes(), kernel.add(first, number)));
        syncWarpGroup(step);
        Int later = kernel.add(number, stream.slots);
        Value isHere = kernel.less(later, stream.pieces);
        Value exists =
            arith::OrIOp::create(kernel.builder, loc, isHere, nextTileExists);
        auto select = [&](Int here, Int next) {
          return Int(kernel.select(isHere, kernel.materialize(here, 32),
                                   kernel.materialize(next, 32)));
        };
        kernel.ifThen(exists, [&] {
          MmaGlobalTile tile = thisTile;
          tile.base = kernel.select(isHere, thisTile.base, nextTile.base);
          for (unsigned dim = 0; dim < plan.dims.size(); ++dim)
            if (mayExceed(dim))
              tile.limits[dim] =
                  select(thisTile.limits[dim], nextTile.limits[dim]);
          emitPiece(tile, select(later, kernel.sub(later, stream.pieces)),
                    {&plan.inputLayout, plan.inputType, pieceBase});
        });
        kernel.commitCopies();
        Value wraps = kernel.equal(pieceBase, lastSlot);
        Int back = kernel.sub(pieceBase, (stream.slots - 1) * pieceBytes);
        Int onwards = kernel.add(pieceBase, pieceBytes);
        return {kernel.select(wraps, kernel.materialize(back, 32),
                              kernel.materialize(onwards, 32))};
      });
  pieceBase = Int(end.front());
}

MmaBuffer MmaKernel::getSource(const MmaStep &step,
                               const MmaBuffer &from) const {
  if (!isStreamed(step))
    return from;
  return {&plan.inputLayout, plan.inputType, pieceBase};
}

SmallVector<Int> MmaKernel::getSourcePositions(const MmaStep &step,
                                               ArrayRef<Int> positions) const {
  if (!isStreamed(step))
    return SmallVector<Int>(positions);
  return SmallVector<Int>(positions.size(), Int(0));
}

void MmaKernel::forItems(const MmaStep &step, ArrayRef<MmaItemAxis> axes,
                         function_ref<void(SmallVector<Int>)> body) {
  if (isStreamed(step))
    return forPieces(step, body);
  int64_t total = 1;
  for (const MmaItemAxis &axis : axes)
    total *= axis.count;
  int64_t warpGroups = plan.getWarpGroups(step);
  Int warpGroup = kernel.floorDiv(warp, step.warps);
  Int end = total;
  Int first = warpGroup;
  if (&step == localStep) {
    int64_t each = total / warpGroups;
    first = kernel.mul(warpGroup, each);
    return kernel.rolledLoop(first, kernel.add(first, each), 1, [&](Int item) {
      body(getItemPositions(axes, item));
    });
  }
  if (plan.isSplit(step)) {
    int64_t half = total / plan.cluster;
    Int rank = kernel.clusterRank();
    first = kernel.add(warpGroup, kernel.mul(rank, half));
    end = kernel.add(kernel.mul(rank, total - half), half);
  }
  if (warpGroups * step.warps < plan.getWarps()) {
    // Warps that are left over do nothing.
    Value works = kernel.less(warpGroup, warpGroups);
    end = Int(kernel.select(works, kernel.materialize(end, 32),
                            kernel.materialize(0, 32)));
  }
  kernel.rolledLoop(first, end, warpGroups,
                    [&](Int item) { body(getItemPositions(axes, item)); });
}

void MmaKernel::emitWriteBarrier(const MmaStep &step, const MmaBuffer &from,
                                 const MmaBuffer *to) {
  if (to && to->layout == from.layout)
    syncWarpGroup(step);
}

void MmaKernel::emitGuard(MutableArrayRef<MmaC> sums,
                          function_ref<SmallVector<Value>()> plain) {
  if (plan.math != MmaMath::SplitTF32)
    return;
  SmallVector<const MmaC *> checked;
  SmallVector<Value> values;
  for (const MmaC &sum : sums) {
    checked.push_back(&sum);
    values.append(sum.begin(), sum.end());
  }
  SmallVector<Type> types(values.size(), plan.type);
  SmallVector<Value> guarded = kernel.ifElse(
      products.isAnyNotFinite(checked), types, plain, [&] { return values; });
  for (auto [index, sum] : llvm::enumerate(sums))
    std::copy_n(guarded.begin() + 4 * index, 4, sum.begin());
}

/// Adds `sums` to `totals` after every kSummedTiles tiles of a long dimension,
/// and leaves the whole in `sums` after the last one: matrix units cut off what
/// does not fit in a sum, always towards zero, so that errors add up.
void MmaKernel::carryOver(MutableArrayRef<MmaC> sums,
                          SmallVectorImpl<MmaC> &totals, int64_t tile,
                          int64_t numTiles) {
  if (plan.math != MmaMath::SplitTF32 || numTiles <= kSummedTiles)
    return;
  bool last = tile + 1 == numTiles;
  if (!last && (tile + 1) % kSummedTiles != 0)
    return;
  for (auto [index, sum] : llvm::enumerate(sums))
    if (!totals.empty())
      for (unsigned part = 0; part < 4; ++part)
        sum[part] = arith::AddFOp::create(kernel.builder, loc,
                                          totals[index][part], sum[part]);
  if (last)
    return;
  totals.assign(sums.begin(), sums.end());
  for (MmaC &sum : sums)
    sum = products.getZeros();
}
