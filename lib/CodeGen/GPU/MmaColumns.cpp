//===- MmaColumns.cpp - Products with fibres that are columns -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What lanes hold is said in MmaSteps.cpp.
//
//===----------------------------------------------------------------------===//

#include "MmaKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

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
    // Half-empty tiles cost less than longer items where factors are small.
    bool folds = step.tiles > 1 && columns.firstDim == last &&
                 canFold(size, second.dim, second.count);
    int64_t fold = folds ? 8 / size : 1;
    int64_t rows =
        getPowerDivisor(second.count, most * fold / columns.getTiles());
    columns.fold = fold;
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
                Int q = kernel.mul(getShare(step), 16 * step.tiles);
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
    positions[dim] = kernel.mul(getShare(step), 16 * step.tiles);
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
