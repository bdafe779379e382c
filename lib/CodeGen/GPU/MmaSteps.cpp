//===- MmaSteps.cpp - Applies factors to a tile by mma.sync ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which number a lane holds where is up to us, as long as both operands of an
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

int64_t MmaKernel::getDepthTiles(const MmaStep &step) const {
  return llvm::divideCeil(plan.dims[step.dim].depth, 8);
}

/// Element (p, q), or 0 if it does not exist, where p is at most `maxP` and q
/// at most `maxQ`.
Value MmaKernel::loadFactorElement(ModeProductOp product, Place p, Place q,
                                   int64_t maxP, int64_t maxQ) {
  const StageFactor &factor = factors[product];
  auto shape = cast<ShapedType>(product.getFactor().getType());
  int64_t depth = shape.getDimSize(product.getContractedFactorDim());
  int64_t results = shape.getDimSize(product.getResultingFactorDim());
  Value valid;
  if (maxP >= depth)
    valid = kernel.less(kernel.add(p.lane, p.known), depth);
  if (maxQ >= results)
    valid =
        kernel.both(valid, kernel.less(kernel.add(q.lane, q.known), results));
  // What is known goes last and so into the instruction: addresses of their own
  // would all be loop invariants, and be kept in registers.
  Value address = factor.base;
  for (bool known : {false, true}) {
    Int offset = kernel.add(
        kernel.mul(known ? Int(p.known) : p.lane, factor.depthStride),
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

/// Number of this warp among those that share the results of a column.
static Int getShare(KernelBuilder &kernel, const MmaStep &step, Int warp) {
  return kernel.rem(warp, step.warps);
}

/// The CTAs of a cluster start with the positions that they have themselves.
MmaKernel::Place MmaKernel::getDepthPosition(const MmaStep &step,
                                             int64_t tile) {
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
  Int first = kernel.mul(getShare(kernel, step, warp), 16 * step.tiles);
  int64_t maxQ = 16 * step.tiles * step.warps - 1;
  if (step.warps == 1)
    maxQ = 16 * mTile + 15;
  MmaA a;
  for (unsigned index = 0; index < 4; ++index) {
    Place p = getDepthPosition(step, kTile);
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
    for (MmaColumnGroup group : getColumnGroups(inner.depth, getPair(&work)))
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
  int64_t sizeQ = inner.results;
  if (step.warps > 1) {
    sizeQ = 16 * step.tiles;
    firstQ = kernel.mul(getShare(kernel, step, warp), sizeQ);
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
void MmaKernel::syncTeam(const MmaStep &step) {
  if (step.warps == 1)
    return kernel.syncWarp();
  Int team = kernel.floorDiv(warp, step.warps);
  kernel.namedBarrier(kernel.add(team, 1), 32 * step.warps);
}

/// Calls `body` for the team's pieces of the tile and starts copying those that
/// come `slots` later, maybe of the next tile.
void MmaKernel::forPieces(const MmaStep &step,
                          function_ref<void(SmallVector<Int>)> body) {
  const MmaStream &stream = *plan.stream;
  int64_t pieceBytes = plan.inputLayout.bytes;
  Int team = kernel.floorDiv(warp, step.warps);
  Int first = kernel.mul(team, stream.pieces);
  Int lastSlot = kernel.add(kernel.mul(team, stream.slots * pieceBytes),
                            (stream.slots - 1) * pieceBytes);
  SmallVector<Value> end = kernel.rolledLoop(
      0, stream.pieces, 1, kernel.materialize(pieceBase, 32),
      [&](Int number, ValueRange carried) -> SmallVector<Value> {
        pieceBase = Int(carried[0]);
        kernel.waitCopies(stream.slots - 1);
        syncTeam(step);
        body(getItemPositions(getPieceAxes(), kernel.add(first, number)));
        syncTeam(step);
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
  int64_t teams = plan.getTeams(step);
  Int team = kernel.floorDiv(warp, step.warps);
  Int end = total;
  Int first = team;
  if (&step == localStep) {
    int64_t each = total / teams;
    first = kernel.mul(team, each);
    return kernel.rolledLoop(first, kernel.add(first, each), 1, [&](Int item) {
      body(getItemPositions(axes, item));
    });
  }
  if (plan.isSplit(step)) {
    int64_t half = total / plan.cluster;
    Int rank = kernel.clusterRank();
    first = kernel.add(team, kernel.mul(rank, half));
    end = kernel.add(kernel.mul(rank, total - half), half);
  }
  if (teams * step.warps < plan.warps) {
    // Warps that are left over do nothing.
    Value works = kernel.less(team, teams);
    end = Int(kernel.select(works, kernel.materialize(end, 32),
                            kernel.materialize(0, 32)));
  }
  kernel.rolledLoop(first, end, teams,
                    [&](Int item) { body(getItemPositions(axes, item)); });
}

void MmaKernel::emitWriteBarrier(const MmaStep &step, const MmaBuffer &from,
                                 const MmaBuffer *to) {
  if (to && to->layout == from.layout)
    syncTeam(step);
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

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Joins as many inner dimensions as lie without a gap wherever the step reads
/// or writes, so that groups of columns fit better.
void MmaKernel::mergeColumns(Columns &columns, const MmaStep &step,
                             const MmaBuffer &from, const MmaBuffer *to,
                             const MmaGlobalTile *target) {
  unsigned last = plan.dims.size() - 1;
  columns.firstDim = last;
  columns.size = step.sizes[last];
  if (mayExceed(last))
    return;
  for (unsigned dim = last - 1; dim > step.dim; --dim) {
    auto fits = [&](const MmaGlobalTile &tile) {
      return tile.strides[last].is(1) && tile.strides[dim].is(columns.size);
    };
    bool gap = from.layout->strides[dim] != columns.size || mayExceed(dim);
    if (to)
      gap |= to->layout->strides[dim] != columns.size;
    if (target)
      gap |= !fits(*target) || (addend.base && !fits(addendTile));
    if (gap)
      return;
    columns.firstDim = dim;
    columns.size *= step.sizes[dim];
  }
}

bool MmaKernel::isLocal(const MmaStep &step, const MmaBuffer &from,
                        const MmaBuffer *to, const MmaGlobalTile *target) {
  const MmaStep &first = plan.steps.front();
  if (!plan.stream || plan.isSplit(step) || first.warps != step.warps ||
      step.kind != MmaStep::Kind::Columns || step.dim > first.dim)
    return false;
  // Both share out the positions of dimensions outside of this one.
  int64_t outer = 1;
  for (unsigned dim = 0; dim < step.dim; ++dim) {
    outer *= step.sizes[dim];
    if (plan.stream->sizes[dim] != 1)
      return false;
  }
  for (const MmaItemAxis &axis : getColumns(step, from, to, target).axes)
    if (axis.dim < step.dim && axis.step != 1)
      return false;
  return outer % plan.getTeams(step) == 0;
}

/// Whether tiles take several of `rows` positions of `rowDim`, rather than be
/// filled up with columns that do not exist.
bool MmaKernel::canFold(int64_t size, unsigned rowDim, int64_t rows) const {
  return (size == 2 || size == 4) && rows % (8 / size) == 0 &&
         !mayExceed(rowDim) && !mayExceed(plan.dims.size() - 1);
}

MmaKernel::Columns MmaKernel::getColumns(const MmaStep &step,
                                         const MmaBuffer &from,
                                         const MmaBuffer *to,
                                         const MmaGlobalTile *target) {
  Columns columns;
  unsigned last = plan.dims.size() - 1;
  int64_t pair = getPair(to);
  if (isStreamed(step)) {
    columns.axes = getPieceAxes();
    columns.firstDim = last;
    columns.size = plan.stream->sizes[last];
    columns.groups = getColumnGroups(columns.size, pair);
    for (unsigned dim = 0; dim < last; ++dim)
      if (dim != step.dim && plan.stream->sizes[dim] > 1) {
        columns.rowDim = dim;
        columns.rows = plan.stream->sizes[dim];
      }
    if (columns.rowDim >= 0 &&
        canFold(columns.size, columns.rowDim, columns.rows))
      columns.fold = 8 / columns.size;
    return columns;
  }
  mergeColumns(columns, step, from, to, target);
  int64_t most = std::max(plan.getMostTiles(step), pair);
  int64_t size = columns.size;
  columns.groups = getColumnGroups(size, pair);
  MmaItemAxis inner{last, 1, 0};
  if (columns.getTiles() > most) {
    columns.split = true;
    int64_t count = llvm::divideCeil(size, 8 * pair);
    int64_t each = getPowerDivisor(count, most / pair);
    columns.groups.clear();
    for (int64_t group = 0; group < each; ++group)
      columns.groups.push_back({8 * pair * group, pair});
    inner = {last, count / each, 8 * pair * each};
  }
  for (unsigned dim = 0; dim < columns.firstDim; ++dim)
    if (dim != step.dim)
      columns.axes.push_back({dim, step.sizes[dim], 1});
  if (!columns.axes.empty()) {
    MmaItemAxis &second = columns.axes.back();
    int64_t rows = getPowerDivisor(second.count, most / columns.getTiles());
    columns.rowDim = second.dim;
    columns.rows = rows;
    second.count /= rows;
    second.step = rows;
  }
  columns.axes.push_back(inner);
  return columns;
}

void MmaKernel::emitColumns(const MmaStep &step, const Factors &stepFactors,
                            const MmaBuffer &whole, const MmaBuffer *to,
                            const MmaGlobalTile *target) {
  unsigned last = plan.dims.size() - 1, dim = step.dim;
  ModeProductOp product = plan.dims[dim].product;
  int64_t depth = plan.dims[dim].depth;
  int64_t depthTiles = llvm::divideCeil(depth, 8);
  int64_t ownTiles = getOwnTiles(step);
  MmaBuffer from = getSource(step, whole);
  int64_t depthStride = from.layout->strides[dim];
  bool exact = from.type != plan.type;
  Columns columns = getColumns(step, from, to, target);
  int64_t size = columns.size;
  bool merged = columns.firstDim < last;
  MmaGlobalTile mergedTarget;
  if (target && merged) {
    mergedTarget = *target;
    mergedTarget.limits[last] = size;
    target = &mergedTarget;
  }
  // Of tile columns, one offset for each lane in units of single columns.
  auto foldLanes = [&](Int lanes) {
    if (columns.fold == 1)
      return lanes;
    return kernel.add(kernel.rem(lanes, size),
                      kernel.mul(kernel.floorDiv(lanes, size),
                                 from.layout->strides[columns.rowDim]));
  };
  // Static positions of all tiles.
  SmallVector<Results> groups;
  for (int64_t row = 0; row < columns.rows; row += columns.fold)
    for (MmaColumnGroup group : columns.groups) {
      SmallVector<int64_t> offset(last + 1, 0);
      if (columns.rowDim >= 0)
        offset[columns.rowDim] = row;
      offset[last] = group.first;
      groups.push_back({offset, group.pair, {}});
    }

  forItems(step, columns.axes, [&](SmallVector<Int> positions) {
    llvm::DenseMap<int64_t, Int> offsets;
    // A piece starts at its own first position.
    from = getSource(step, whole);
    SmallVector<Int> origin = getSourcePositions(step, positions);
    Int own = getOffset(from, origin, 0);
    auto getGroupOffset = [&](int64_t pair) {
      auto [it, isNew] = offsets.try_emplace(pair);
      if (isNew)
        it->second =
            getOffset(from, origin,
                      kernel.add(kernel.mul(laneSlot, depthStride),
                                 foldLanes(kernel.mul(laneGroup, pair))));
      return it->second;
    };
    /// Null if all columns of the lane exist.
    auto getValid = [&](const Results &group, int64_t width,
                        Int lanes) -> Value {
      int64_t first = group.offset[last];
      if (columns.fold > 1)
        return nullptr;
      if (!columns.split && first + 8 * group.pair <= size)
        return nullptr;
      if (columns.split && size % (8 * group.pair) == 0)
        return nullptr;
      return kernel.less(
          kernel.add(origin[last], kernel.add(lanes, first + width)), size);
    };

    SmallVector<MmaC> sums(step.tiles * columns.getTiles(),
                           products.getZeros());
    SmallVector<MmaC> totals;
    for (int64_t kTile = 0; kTile < depthTiles; ++kTile) {
      SmallVector<MmaB> data(columns.getTiles());
      for (unsigned slot : {0, 1}) {
        int64_t k = 8 * kTile + 4 * slot;
        Value exists;
        if (k + 4 > depth)
          exists = kernel.less(kernel.add(laneSlot, k), depth);
        unsigned tile = 0;
        MmaBuffer part = from;
        part.remote = kTile >= ownTiles;
        int64_t place = 8 * (kTile % ownTiles) + 4 * slot;
        for (const Results &group : groups) {
          SmallVector<int64_t> offset(group.offset);
          int64_t index = from.layout->getIndex(offset) + place * depthStride;
          Value inside = kernel.both(
              exists, getValid(group, 0, kernel.mul(laneGroup, group.pair)));
          SmallVector<Value> values = loadShared(
              part, getGroupOffset(group.pair), index, group.pair, inside, own);
          for (auto [number, value] : llvm::enumerate(values)) {
            // The first one is zero already.
            if (number == 0) {
              data[tile++][slot] = products.getOperand(value, exact);
              continue;
            }
            if (Value valid =
                    getValid(group, number, kernel.mul(laneGroup, group.pair)))
              value = kernel.select(valid, value, products.getZero());
            data[tile++][slot] = products.getOperand(value, exact);
          }
        }
      }
      // Of a factor that does not fit in registers, only what is needed now.
      Factors now;
      bool here = !stepFactors.rows.empty();
      if (!here)
        now = loadFactors(step, kTile, 1);
      SmallVector<MmaA> rows;
      for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
        rows.push_back(here ? stepFactors.rows[mTile][kTile]
                            : now.rows[mTile][0]);
      SmallVector<MmaProducts::Term> terms;
      for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
        for (int64_t tile = 0; tile < columns.getTiles(); ++tile)
          terms.push_back({&sums[mTile * columns.getTiles() + tile],
                           &rows[mTile], &data[tile]});
      products.multiply(terms);
      carryOver(sums, totals, kTile, depthTiles);
    }

    emitGuard(sums, [&] {
      SmallVector<Value> zeros(4 * sums.size(), products.getZero());
      auto addPart = [&](ValueRange start, bool remote) {
        MmaBuffer part = from;
        part.remote = remote;
        Place firstPlace = getDepthPosition(step, remote ? ownTiles : 0);
        int64_t count = std::min(depth, 8 * ownTiles);
        return kernel.rolledLoop(
            0, count, 1, start, [&](Int k, ValueRange carried) {
              SmallVector<Value> results(carried);
              SmallVector<Int> place(origin);
              place[dim] = k;
              SmallVector<Value> weights;
              for (int64_t row = 0; row < 2 * step.tiles; ++row) {
                Int q =
                    kernel.mul(getShare(kernel, step, warp), 16 * step.tiles);
                q = kernel.add(kernel.add(q, laneGroup), 8 * row);
                weights.push_back(
                    loadFactorElement(product, kernel.add(firstPlace.lane, k),
                                      q, 0, int64_t(1) << 30));
              }
              unsigned tile = 0;
              for (const Results &group : groups)
                for (int64_t number = 0; number < group.pair; ++number, ++tile)
                  for (unsigned half : {0, 1}) {
                    Int lanes = kernel.mul(laneSlot, 2 * group.pair);
                    int64_t width = half * group.pair + number;
                    Int offset = getOffset(from, place, foldLanes(lanes));
                    Value valid = getValid(group, width, lanes);
                    Value value =
                        loadShared(part, offset,
                                   from.layout->getIndex(group.offset) + width,
                                   1, valid, own)
                            .front();
                    for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
                      for (unsigned row : {0, 1}) {
                        Value &sum =
                            results[4 * (mTile * columns.getTiles() + tile) +
                                    2 * row + half];
                        sum = kernel.fma(weights[2 * mTile + row], value, sum);
                      }
                  }
              return results;
            });
      };
      SmallVector<Value> results = addPart(zeros, /*remote=*/false);
      return plan.isSplit(step) ? addPart(results, /*remote=*/true) : results;
    });

    emitWriteBarrier(step, from, to);
    SmallVector<Results> results;
    for (int64_t mTile = 0; mTile < step.tiles; ++mTile) {
      unsigned tile = mTile * columns.getTiles();
      for (const Results &group : groups) {
        Results result = group;
        result.offset[dim] = 16 * mTile;
        for (int64_t number = 0; number < group.pair; ++number)
          result.tiles.push_back(&sums[tile++]);
        results.push_back(result);
      }
    }
    positions[dim] = kernel.mul(getShare(kernel, step, warp), 16 * step.tiles);
    bool rowsExist = 16 * step.tiles * step.warps <= plan.dims[dim].results;
    bool columnsExist =
        columns.split
            ? size % (8 * columns.groups.front().pair) == 0
            : columns.groups.back().first + 8 * columns.groups.back().pair <=
                  size;
    ResultPlace place{positions, dim, rowsExist, columnsExist,
                      merged ? size : 0};
    if (columns.fold > 1) {
      place.columnsExist = true;
      place.foldSize = size;
      place.foldDim = columns.rowDim;
    }
    emitResults(results, place, to, target);
  });
}

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

void MmaKernel::emitFibres(const MmaStep &step, const Factors &stepFactors,
                           const MmaBuffer &whole, const MmaBuffer *to,
                           const MmaGlobalTile *target) {
  unsigned last = plan.dims.size() - 1, rowDim = last - 1;
  MmaBuffer from = getSource(step, whole);
  ModeProductOp product = plan.dims[last].product;
  int64_t depth = plan.dims[last].depth;
  int64_t depthTiles = llvm::divideCeil(depth, 8);
  int64_t rowStride = from.layout->strides[rowDim];
  int64_t rows = step.sizes[rowDim];
  bool exact = from.type != plan.type;
  int64_t pair = getPair(to);
  int64_t resultSize =
      step.warps > 1 ? 16 * step.tiles : plan.dims[last].results;
  SmallVector<MmaColumnGroup> groups = getColumnGroups(resultSize, pair);
  int64_t columnTiles = 0;
  for (MmaColumnGroup group : groups)
    columnTiles += group.pair;

  // Tiles of 16 fibres at a time.
  int64_t rowTiles = llvm::divideCeil(rows, 16);
  int64_t each = plan.getFibreTiles(step);
  SmallVector<MmaItemAxis> axes;
  for (unsigned dim = 0; dim < rowDim; ++dim)
    axes.push_back({dim, step.sizes[dim], 1});
  axes.push_back({rowDim, rowTiles / each, 16 * each});

  forItems(step, axes, [&](SmallVector<Int> positions) {
    from = getSource(step, whole);
    SmallVector<Int> origin = getSourcePositions(step, positions);
    Int own = getOffset(from, origin, 0);
    Int offset = getOffset(
        from, origin,
        kernel.add(kernel.mul(laneGroup, rowStride), kernel.mul(laneSlot, 2)));
    auto rowExists = [&](int64_t first) -> Value {
      if (rows % 16 == 0 ||
          (positions[rowDim].isConstant() && first + 8 <= rows))
        return nullptr;
      return kernel.less(
          kernel.add(positions[rowDim], kernel.add(laneGroup, first)), rows);
    };
    SmallVector<MmaC> sums(each * columnTiles, products.getZeros());
    SmallVector<MmaC> totals;
    for (int64_t kTile = 0; kTile < depthTiles; ++kTile) {
      SmallVector<MmaA> data(each);
      for (int64_t rowTile = 0; rowTile < each; ++rowTile)
        for (unsigned half : {0, 1}) {
          int64_t row = 16 * rowTile + 8 * half;
          Value exists = rowExists(row);
          if (8 * kTile + 8 > depth)
            exists = kernel.both(
                exists,
                kernel.less(kernel.add(kernel.mul(laneSlot, 2), 8 * kTile),
                            depth));
          SmallVector<Value> values = loadShared(
              from, offset, row * rowStride + 8 * kTile, 2, exists, own);
          if (depth % 2 != 0 && 8 * kTile + 8 > depth) {
            Value second = kernel.less(
                kernel.add(kernel.mul(laneSlot, 2), 8 * kTile + 1), depth);
            values[1] = kernel.select(second, values[1], products.getZero());
          }
          for (unsigned slot : {0, 1})
            data[rowTile][2 * slot + half] =
                products.getOperand(values[slot], exact);
        }
      Factors now;
      bool here = !stepFactors.columns.empty();
      if (!here)
        now = loadFactors(step, kTile, 1);
      SmallVector<MmaProducts::Term> terms;
      for (int64_t rowTile = 0; rowTile < each; ++rowTile)
        for (int64_t tile = 0; tile < columnTiles; ++tile)
          terms.push_back({&sums[rowTile * columnTiles + tile], &data[rowTile],
                           here ? &stepFactors.columns[tile][kTile]
                                : &now.columns[tile][0]});
      products.multiply(terms);
      carryOver(sums, totals, kTile, depthTiles);
    }

    Int firstQ = 0;
    if (step.warps > 1)
      firstQ = kernel.mul(getShare(kernel, step, warp), resultSize);
    emitGuard(sums, [&] {
      SmallVector<Value> zeros(4 * sums.size(), products.getZero());
      return kernel.rolledLoop(
          0, depth, 1, zeros, [&](Int k, ValueRange carried) {
            SmallVector<Value> results(carried);
            SmallVector<Int> place(origin);
            place[last] = k;
            Int lane = getOffset(from, place, kernel.mul(laneGroup, rowStride));
            SmallVector<Value> values;
            for (int64_t row = 0; row < 2 * each; ++row)
              values.push_back(loadShared(from, lane, 8 * row * rowStride, 1,
                                          rowExists(8 * row), own)
                                   .front());
            unsigned tile = 0;
            for (MmaColumnGroup group : groups)
              for (int64_t number = 0; number < group.pair; ++number, ++tile)
                for (unsigned half : {0, 1}) {
                  Int q = kernel.add(
                      firstQ,
                      kernel.add(kernel.mul(laneSlot, 2 * group.pair),
                                 group.first + half * group.pair + number));
                  Value weight =
                      loadFactorElement(product, k, q, 0, int64_t(1) << 30);
                  for (int64_t row = 0; row < 2 * each; ++row) {
                    Value &sum = results[4 * ((row / 2) * columnTiles + tile) +
                                         2 * (row % 2) + half];
                    sum = kernel.fma(values[row], weight, sum);
                  }
                }
            return results;
          });
    });

    emitWriteBarrier(step, from, to);
    SmallVector<Results> results;
    for (int64_t rowTile = 0; rowTile < each; ++rowTile) {
      unsigned tile = rowTile * columnTiles;
      for (MmaColumnGroup group : groups) {
        Results result{SmallVector<int64_t>(last + 1, 0), group.pair, {}};
        result.offset[rowDim] = 16 * rowTile;
        result.offset[last] = group.first;
        for (int64_t number = 0; number < group.pair; ++number)
          result.tiles.push_back(&sums[tile++]);
        results.push_back(result);
      }
    }
    positions[last] = firstQ;
    bool columnsExist = groups.back().first + 8 * groups.back().pair +
                            (step.warps - 1) * 16 * step.tiles <=
                        plan.dims[last].results;
    emitResults(results, {positions, rowDim, rows % 16 == 0, columnsExist}, to,
                target);
  });
}

//===----------------------------------------------------------------------===//
// Chain
//===----------------------------------------------------------------------===//

void MmaKernel::emitChain(const MmaStep &step, const Factors &stepFactors,
                          const MmaBuffer &whole, const MmaBuffer *to,
                          const MmaGlobalTile *target) {
  unsigned last = plan.dims.size() - 1, dim = step.dim;
  MmaBuffer from = getSource(step, whole);
  const MmaDim &outer = plan.dims[dim], &inner = plan.dims[last];
  int64_t depthTiles = llvm::divideCeil(outer.depth, 8);
  int64_t depthStride = from.layout->strides[dim];
  bool exact = from.type != plan.type;
  MmaBuffer work{nullptr, plan.type, 0};
  SmallVector<MmaColumnGroup> columns =
      getColumnGroups(inner.depth, getPair(&work));
  SmallVector<MmaColumnGroup> groups =
      getColumnGroups(inner.results, getPair(to));
  auto countTiles = [](ArrayRef<MmaColumnGroup> list) {
    int64_t tiles = 0;
    for (MmaColumnGroup group : list)
      tiles += group.pair;
    return tiles;
  };
  int64_t columnTiles = countTiles(columns), resultTiles = countTiles(groups);
  SmallVector<MmaItemAxis> axes;
  for (unsigned index = 0; index < dim; ++index)
    axes.push_back({index, step.sizes[index], 1});

  forItems(step, axes, [&](SmallVector<Int> positions) {
    llvm::DenseMap<int64_t, Int> offsets;
    from = getSource(step, whole);
    SmallVector<Int> origin = getSourcePositions(step, positions);
    Int own = getOffset(from, origin, 0);
    SmallVector<MmaC> first(step.tiles * columnTiles, products.getZeros());
    for (int64_t kTile = 0; kTile < depthTiles; ++kTile) {
      SmallVector<MmaB> data(columnTiles);
      for (unsigned slot : {0, 1}) {
        int64_t k = 8 * kTile + 4 * slot;
        Value exists;
        if (k + 4 > outer.depth)
          exists = kernel.less(kernel.add(laneSlot, k), outer.depth);
        unsigned tile = 0;
        for (MmaColumnGroup group : columns) {
          auto [it, isNew] = offsets.try_emplace(group.pair);
          if (isNew)
            it->second =
                getOffset(from, origin,
                          kernel.add(kernel.mul(laneSlot, depthStride),
                                     kernel.mul(laneGroup, group.pair)));
          Value inside = exists;
          if (group.first + 8 * group.pair > inner.depth)
            inside = kernel.both(
                inside,
                kernel.less(
                    kernel.add(kernel.mul(laneGroup, group.pair), group.first),
                    inner.depth));
          SmallVector<Value> values =
              loadShared(from, it->second, group.first + k * depthStride,
                         group.pair, inside, own);
          for (auto [number, value] : llvm::enumerate(values)) {
            if (number > 0 && group.first + 8 * group.pair > inner.depth)
              value = kernel.select(
                  kernel.less(kernel.add(kernel.mul(laneGroup, group.pair),
                                         group.first + number),
                              inner.depth),
                  value, products.getZero());
            data[tile++][slot] = products.getOperand(value, exact);
          }
        }
      }
      SmallVector<MmaProducts::Term> terms;
      for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
        for (int64_t tile = 0; tile < columnTiles; ++tile)
          terms.push_back({&first[mTile * columnTiles + tile],
                           &stepFactors.rows[mTile][kTile], &data[tile]});
      products.multiply(terms);
    }

    SmallVector<MmaC> sums(step.tiles * resultTiles, products.getZeros());
    for (int64_t kTile = 0; kTile < columnTiles; ++kTile) {
      SmallVector<MmaA> data(step.tiles);
      for (int64_t mTile = 0; mTile < step.tiles; ++mTile) {
        const MmaC &sum = first[mTile * columnTiles + kTile];
        for (unsigned index = 0; index < 4; ++index)
          data[mTile][index] = products.getOperand(
              sum[2 * (index % 2) + index / 2], /*exact=*/false);
      }
      SmallVector<MmaProducts::Term> terms;
      for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
        for (int64_t tile = 0; tile < resultTiles; ++tile)
          terms.push_back({&sums[mTile * resultTiles + tile], &data[mTile],
                           &stepFactors.columns[tile][kTile]});
      products.multiply(terms);
    }

    emitGuard(sums, [&] {
      SmallVector<Value> zeros(4 * sums.size(), products.getZero());
      return kernel.rolledLoop(
          0, inner.depth, 1, zeros, [&](Int column, ValueRange carried) {
            SmallVector<Value> none(2 * step.tiles, products.getZero());
            SmallVector<Int> place(origin);
            place[last] = column;
            SmallVector<Value> inners = kernel.rolledLoop(
                0, outer.depth, 1, none, [&](Int k, ValueRange partial) {
                  SmallVector<Value> parts(partial);
                  place[dim] = k;
                  Value value = loadShared(from, getOffset(from, place, 0), 0,
                                           1, nullptr, own)
                                    .front();
                  for (auto [row, part] : llvm::enumerate(parts))
                    part =
                        kernel.fma(loadFactorElement(
                                       outer.product, k,
                                       kernel.add(laneGroup, int64_t(8 * row)),
                                       0, 8 * row + 7),
                                   value, part);
                  return parts;
                });
            SmallVector<Value> results(carried);
            unsigned tile = 0;
            for (MmaColumnGroup group : groups)
              for (int64_t number = 0; number < group.pair; ++number, ++tile)
                for (unsigned half : {0, 1}) {
                  Int q = kernel.add(kernel.mul(laneSlot, 2 * group.pair),
                                     group.first + half * group.pair + number);
                  Value weight =
                      loadFactorElement(inner.product, column, q, 0,
                                        group.first + 8 * group.pair - 1);
                  for (auto [row, part] : llvm::enumerate(inners)) {
                    Value &sum = results[4 * ((row / 2) * resultTiles + tile) +
                                         2 * (row % 2) + half];
                    sum = kernel.fma(part, weight, sum);
                  }
                }
            return results;
          });
    });

    emitWriteBarrier(step, from, to);
    SmallVector<Results> results;
    for (int64_t mTile = 0; mTile < step.tiles; ++mTile) {
      unsigned tile = mTile * resultTiles;
      for (MmaColumnGroup group : groups) {
        Results result{SmallVector<int64_t>(last + 1, 0), group.pair, {}};
        result.offset[dim] = 16 * mTile;
        result.offset[last] = group.first;
        for (int64_t number = 0; number < group.pair; ++number)
          result.tiles.push_back(&sums[tile++]);
        results.push_back(result);
      }
    }
    bool columnsExist =
        groups.back().first + 8 * groups.back().pair <= inner.results;
    emitResults(results,
                {positions, dim, outer.results % 16 == 0, columnsExist}, to,
                target);
  });
}
