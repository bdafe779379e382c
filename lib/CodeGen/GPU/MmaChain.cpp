//===- MmaChain.cpp - Two factors without a tile between them -------------===//
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

class MmaKernel::ChainItems : MmaKernel::Items {
public:
  ChainItems(MmaKernel &mma, const StepArrays &arrays);

  void emit();

private:
  void emitItem();
  Int getGroupOffset(int64_t pair);
  Value getColumnExists(const MmaColumnGroup &group, int64_t number);
  void loadData(MutableArrayRef<MmaB> data, int64_t kTile, unsigned slot);
  SmallVector<MmaC> multiplyOuter();
  SmallVector<MmaC> multiplyInner(ArrayRef<MmaC> first);
  SmallVector<Value> addOneByOne(ValueRange start);
  SmallVector<Value> addOuter(Int column);
  void store(ArrayRef<MmaC> sums);

  /// The dimensions of the first and of the second factor.
  const MmaDim &outer, &inner;
  unsigned last;
  int64_t strideK;
  /// Of the data, which are also the second factor's positions, and of the
  /// results.
  SmallVector<MmaColumnGroup> columns, groups;
  int64_t columnTiles, resultTiles;
  /// Of the item: byte offset of the lane's columns by the tiles of a group.
  llvm::DenseMap<int64_t, Int> offsets;
};

MmaKernel::ChainItems::ChainItems(MmaKernel &mma, const StepArrays &arrays)
    : Items(mma, arrays), outer(mma.plan.dims[step.dim]),
      inner(mma.plan.dims.back()), last(mma.plan.dims.size() - 1),
      strideK(from.layout->strides[step.dim]),
      groups(getColumnGroups(inner.sizeN, mma.getPair(arrays.to))),
      resultTiles(countTiles(groups)) {
  // In pairs as the tile between the factors would be.
  MmaBuffer work{nullptr, mma.plan.type, 0};
  columns = getColumnGroups(inner.sizeK, mma.getPair(&work));
  columnTiles = countTiles(columns);
}

void MmaKernel::ChainItems::emit() {
  SmallVector<MmaItemAxis> axes;
  for (unsigned index = 0; index < step.dim; ++index)
    axes.push_back({index, step.sizes[index], 1});
  mma.forItems(step, axes, [&](SmallVector<Int> itemPositions) {
    enter(itemPositions);
    offsets.clear();
    emitItem();
  });
}

void MmaKernel::ChainItems::emitItem() {
  SmallVector<MmaC> sums = multiplyInner(multiplyOuter());
  mma.emitGuard(sums, [&] { return addOneByOne(getZeros(sums)); });
  mma.emitWriteBarrier(step, from, arrays.to);
  store(sums);
}

/// Byte offset of the lane's first column in groups of `pair` tiles.
Int MmaKernel::ChainItems::getGroupOffset(int64_t pair) {
  auto [it, isNew] = offsets.try_emplace(pair);
  if (isNew)
    it->second = mma.getOffset(from, origin,
                               kernel.add(kernel.mul(mma.laneSlot, strideK),
                                          kernel.mul(mma.laneGroup, pair)));
  return it->second;
}

/// Whether column `number` of the lane in `group` exists; null if that of every
/// lane does.
Value MmaKernel::ChainItems::getColumnExists(const MmaColumnGroup &group,
                                             int64_t number) {
  if (group.first + 8 * group.pair <= inner.sizeK)
    return nullptr;
  return kernel.less(
      kernel.add(kernel.mul(mma.laneGroup, group.pair), group.first + number),
      inner.sizeK);
}

/// Loads positions `8 * kTile + 4 * slot` and the three behind it of all
/// columns.
void MmaKernel::ChainItems::loadData(MutableArrayRef<MmaB> data, int64_t kTile,
                                     unsigned slot) {
  int64_t k = 8 * kTile + 4 * slot;
  Value exists;
  if (k + 4 > outer.sizeK)
    exists = kernel.less(kernel.add(mma.laneSlot, k), outer.sizeK);
  for (const MmaColumnGroup &group : columns) {
    Int lane = getGroupOffset(group.pair);
    loadGroup(data.take_front(group.pair), slot, from, lane,
              group.first + k * strideK, exists,
              [&](int64_t number) { return getColumnExists(group, number); });
    data = data.drop_front(group.pair);
  }
}

SmallVector<MmaC> MmaKernel::ChainItems::multiplyOuter() {
  SmallVector<MmaC> sums(step.tiles * columnTiles, products.getZeros());
  for (int64_t kTile = 0; kTile < mma.getKTiles(step); ++kTile) {
    SmallVector<MmaB> data(columnTiles);
    for (unsigned slot : {0, 1})
      loadData(data, kTile, slot);
    SmallVector<MmaProducts::Term> terms;
    for (int64_t mTile = 0; mTile < step.tiles; ++mTile)
      for (int64_t tile = 0; tile < columnTiles; ++tile)
        terms.push_back({&sums[mTile * columnTiles + tile],
                         &arrays.factors.rows[mTile][kTile], &data[tile]});
    products.multiply(terms);
  }
  return sums;
}

/// The second factor's products; `first` are those of the first one.
SmallVector<MmaC> MmaKernel::ChainItems::multiplyInner(ArrayRef<MmaC> first) {
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
                         &arrays.factors.columns[tile][kTile]});
    products.multiply(terms);
  }
  return sums;
}

SmallVector<Value> MmaKernel::ChainItems::addOneByOne(ValueRange start) {
  return kernel.rolledLoop(
      0, inner.sizeK, 1, start, [&](Int column, ValueRange carried) {
        SmallVector<Value> parts = addOuter(column);
        SmallVector<Value> results(carried);
        addTerm(
            results, parts, groups, [&](const MmaColumnGroup &group, Int q) {
              return mma.loadFactorElement(inner.product, column, q, 0,
                                           group.first + 8 * group.pair - 1);
            });
        return results;
      });
}

/// The first factor's results in `column`, of all rows of the lane.
SmallVector<Value> MmaKernel::ChainItems::addOuter(Int column) {
  SmallVector<Value> none(2 * step.tiles, products.getZero());
  SmallVector<Int> place(origin);
  place[last] = column;
  return kernel.rolledLoop(
      0, outer.sizeK, 1, none, [&](Int k, ValueRange partial) {
        SmallVector<Value> parts(partial);
        place[step.dim] = k;
        Int offset = mma.getOffset(from, place, 0);
        Value value = mma.loadShared(from, offset, 0, 1, nullptr, own).front();
        for (auto [row, part] : llvm::enumerate(parts)) {
          Int q = kernel.add(mma.laneGroup, int64_t(8 * row));
          part = kernel.fma(
              mma.loadFactorElement(outer.product, k, q, 0, 8 * row + 7), value,
              part);
        }
        return parts;
      });
}

void MmaKernel::ChainItems::store(ArrayRef<MmaC> sums) {
  SmallVector<Results> results = collectResults(sums, groups, step.dim);
  bool columnsExist =
      groups.back().first + 8 * groups.back().pair <= inner.sizeN;
  mma.emitResults(results,
                  {positions, step.dim, outer.sizeN % 16 == 0, columnsExist},
                  arrays.to, arrays.output);
}

void MmaKernel::emitChain(const StepArrays &arrays) {
  ChainItems(*this, arrays).emit();
}
