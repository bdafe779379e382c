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

#include "MmaItems.h"
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
  return outer % plan.getWarpGroups(step) == 0;
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

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

class MmaKernel::ColumnItems : MmaKernel::Items {
public:
  ColumnItems(MmaKernel &mma, const StepArrays &arrays);

  void emit();

private:
  Int foldLanes(Int lanes);
  Int getGroupOffset(int64_t pair);
  Value getValid(const Results &group, int64_t width, Int lanes);
  void emitItem();
  void loadData(MutableArrayRef<MmaB> data, int64_t kTile, unsigned slot);
  void multiply(MutableArrayRef<MmaC> sums, int64_t kTile);
  SmallVector<Value> addOneByOne(ValueRange start, bool remote);
  void addPosition(MutableArrayRef<Value> sums, const MmaBuffer &part,
                   ArrayRef<Int> place, ArrayRef<Value> weights);
  void store(ArrayRef<MmaC> sums);

  unsigned last;
  const MmaDim &dim;
  int64_t ownTiles, strideK;
  Columns columns;
  const MmaGlobalTile *target;
  /// The target, if several dimensions count as the innermost one.
  MmaGlobalTile mergedTarget;
  /// Known positions of all tiles.
  SmallVector<Results> groups;
  /// Of the item: byte offset of the lane's columns by the tiles of a group.
  llvm::DenseMap<int64_t, Int> offsets;
};

MmaKernel::ColumnItems::ColumnItems(MmaKernel &mma, const StepArrays &arrays)
    : Items(mma, arrays), last(mma.plan.dims.size() - 1),
      dim(mma.plan.dims[step.dim]), ownTiles(mma.getOwnTiles(step)),
      strideK(from.layout->strides[step.dim]),
      columns(mma.getColumns(step, from, arrays.to, arrays.output)),
      target(arrays.output) {
  if (target && columns.firstDim < last) {
    mergedTarget = *target;
    mergedTarget.limits[last] = columns.size;
    target = &mergedTarget;
  }
  for (int64_t row = 0; row < columns.rows; row += columns.fold)
    for (MmaColumnGroup group : columns.groups) {
      SmallVector<int64_t> offset(last + 1, 0);
      if (columns.rowDim >= 0)
        offset[columns.rowDim] = row;
      offset[last] = group.first;
      groups.push_back({offset, group.pair, {}});
    }
}

void MmaKernel::ColumnItems::emit() {
  mma.forItems(step, columns.axes, [&](SmallVector<Int> itemPositions) {
    enter(itemPositions);
    offsets.clear();
    emitItem();
  });
}

/// Of tile columns, one offset for each lane in units of single columns.
Int MmaKernel::ColumnItems::foldLanes(Int lanes) {
  if (columns.fold == 1)
    return lanes;
  return kernel.add(kernel.rem(lanes, columns.size),
                    kernel.mul(kernel.floorDiv(lanes, columns.size),
                               from.layout->strides[columns.rowDim]));
}

/// Byte offset of the lane's first column in groups of `pair` tiles.
Int MmaKernel::ColumnItems::getGroupOffset(int64_t pair) {
  auto [it, isNew] = offsets.try_emplace(pair);
  if (isNew)
    it->second =
        mma.getOffset(from, origin,
                      kernel.add(kernel.mul(mma.laneSlot, strideK),
                                 foldLanes(kernel.mul(mma.laneGroup, pair))));
  return it->second;
}

/// Whether column `lanes + width` of the group exists; null if that of every
/// lane does.
Value MmaKernel::ColumnItems::getValid(const Results &group, int64_t width,
                                       Int lanes) {
  int64_t first = group.offset[last];
  if (columns.fold > 1)
    return nullptr;
  if (!columns.split && first + 8 * group.pair <= columns.size)
    return nullptr;
  if (columns.split && columns.size % (8 * group.pair) == 0)
    return nullptr;
  return kernel.less(kernel.add(origin[last], kernel.add(lanes, first + width)),
                     columns.size);
}

void MmaKernel::ColumnItems::emitItem() {
  SmallVector<MmaC> sums(step.tiles * columns.getTiles(), products.getZeros());
  SmallVector<MmaC> totals;
  int64_t tilesK = mma.getKTiles(step);
  for (int64_t kTile = 0; kTile < tilesK; ++kTile) {
    multiply(sums, kTile);
    mma.carryOver(sums, totals, kTile, tilesK);
  }
  mma.emitGuard(sums, [&] {
    SmallVector<Value> results = addOneByOne(getZeros(sums), /*remote=*/false);
    return mma.plan.isSplit(step) ? addOneByOne(results, /*remote=*/true)
                                  : results;
  });
  mma.emitWriteBarrier(step, from, arrays.to);
  store(sums);
}

/// Loads positions `8 * kTile + 4 * slot` and the three behind it of all
/// columns.
void MmaKernel::ColumnItems::loadData(MutableArrayRef<MmaB> data, int64_t kTile,
                                      unsigned slot) {
  int64_t k = 8 * kTile + 4 * slot;
  Value exists;
  if (k + 4 > dim.sizeK)
    exists = kernel.less(kernel.add(mma.laneSlot, k), dim.sizeK);
  MmaBuffer part = from;
  part.remote = kTile >= ownTiles;
  int64_t place = 8 * (kTile % ownTiles) + 4 * slot;
  for (const Results &group : groups) {
    Int lanes = kernel.mul(mma.laneGroup, group.pair);
    int64_t index = from.layout->getIndex(group.offset) + place * strideK;
    loadGroup(data.take_front(group.pair), slot, part,
              getGroupOffset(group.pair), index, exists,
              [&](int64_t number) { return getValid(group, number, lanes); });
    data = data.drop_front(group.pair);
  }
}

/// sums += positions `8 * kTile` and the seven behind it.
void MmaKernel::ColumnItems::multiply(MutableArrayRef<MmaC> sums,
                                      int64_t kTile) {
  SmallVector<MmaB> data(columns.getTiles());
  for (unsigned slot : {0, 1})
    loadData(data, kTile, slot);
  // Of a factor that does not fit in registers, only what is needed now.
  Factors now;
  bool here = !arrays.factors.rows.empty();
  if (!here)
    now = mma.loadFactors(step, kTile, 1);
  SmallVector<MmaProducts::Term> terms;
  for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
    for (int64_t tile = 0; tile < columns.getTiles(); ++tile)
      terms.push_back(
          {&sums[mTile * columns.getTiles() + tile],
           here ? &arrays.factors.rows[mTile][kTile] : &now.rows[mTile][0],
           &data[tile]});
  products.multiply(terms);
}

/// `start` and what this CTA's part of the contracted dimension, or the other
/// one's, adds to it.
SmallVector<Value> MmaKernel::ColumnItems::addOneByOne(ValueRange start,
                                                       bool remote) {
  MmaBuffer part = from;
  part.remote = remote;
  Place first = mma.getKPosition(step, remote ? ownTiles : 0);
  int64_t count = std::min(dim.sizeK, 8 * ownTiles);
  return kernel.rolledLoop(0, count, 1, start, [&](Int k, ValueRange carried) {
    SmallVector<Value> results(carried);
    SmallVector<Int> place(origin);
    place[step.dim] = k;
    SmallVector<Value> weights;
    for (int64_t row = 0; row < 2 * step.tiles; ++row) {
      Int q = kernel.mul(mma.getShare(step), 16 * step.tiles);
      q = kernel.add(kernel.add(q, mma.laneGroup), 8 * row);
      weights.push_back(mma.loadFactorElement(
          dim.product, kernel.add(first.lane, k), q, 0, int64_t(1) << 30));
    }
    addPosition(results, part, place, weights);
    return results;
  });
}

/// Adds what lies at `place` to all sums, times `weights` of the lane's rows.
void MmaKernel::ColumnItems::addPosition(MutableArrayRef<Value> sums,
                                         const MmaBuffer &part,
                                         ArrayRef<Int> place,
                                         ArrayRef<Value> weights) {
  unsigned tile = 0;
  for (const Results &group : groups)
    for (int64_t number = 0; number < group.pair; ++number, ++tile)
      for (unsigned half : {0, 1}) {
        Int lanes = kernel.mul(mma.laneSlot, 2 * group.pair);
        int64_t width = half * group.pair + number;
        Int offset = mma.getOffset(from, place, foldLanes(lanes));
        Value valid = getValid(group, width, lanes);
        Value value =
            mma.loadShared(part, offset,
                           from.layout->getIndex(group.offset) + width, 1,
                           valid, own)
                .front();
        for (auto [row, weight] : llvm::enumerate(weights)) {
          Value &sum = sums[4 * ((row / 2) * columns.getTiles() + tile) +
                            2 * (row % 2) + half];
          sum = kernel.fma(weight, value, sum);
        }
      }
}

void MmaKernel::ColumnItems::store(ArrayRef<MmaC> sums) {
  SmallVector<Results> results;
  for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
    for (const Results &group : groups) {
      Results result = group;
      result.offset[step.dim] = 16 * mTile;
      for (const MmaC &sum : sums.take_front(group.pair))
        result.tiles.push_back(&sum);
      sums = sums.drop_front(group.pair);
      results.push_back(result);
    }
  positions[step.dim] = kernel.mul(mma.getShare(step), 16 * step.tiles);
  int64_t size = columns.size;
  const MmaColumnGroup &lastGroup = columns.groups.back();
  bool rowsExist = 16 * step.tiles * step.warps <= dim.sizeN;
  bool columnsExist = columns.split
                          ? size % (8 * columns.groups.front().pair) == 0
                          : lastGroup.first + 8 * lastGroup.pair <= size;
  ResultPlace place{positions, step.dim, rowsExist, columnsExist,
                    columns.firstDim < last ? size : 0};
  if (columns.fold > 1) {
    place.columnsExist = true;
    place.foldSize = size;
    place.foldDim = columns.rowDim;
  }
  mma.emitResults(results, place, arrays.to, target);
}

void MmaKernel::emitColumns(const StepArrays &arrays) {
  ColumnItems(*this, arrays).emit();
}
