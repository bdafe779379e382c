//===- MmaFibres.cpp - Products with fibres that are rows -----------------===//
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

class MmaKernel::FibreItems : MmaKernel::Items {
public:
  FibreItems(MmaKernel &mma, const StepArrays &arrays);

  void emit();

private:
  Value getRowExists(int64_t first);
  void emitItem();
  SmallVector<MmaA> loadData(int64_t kTile);
  void multiply(MutableArrayRef<MmaC> sums, int64_t kTile);
  SmallVector<Value> addOneByOne(ValueRange start);
  void store(ArrayRef<MmaC> sums);

  unsigned last, rowDim;
  const MmaDim &dim;
  int64_t rowStride, rows;
  /// Results that one warp computes.
  int64_t resultSize;
  SmallVector<MmaColumnGroup> groups;
  int64_t columnTiles;
  /// Tiles of 16 fibres of an item.
  int64_t rowTiles;

  // Of the item.
  Int offset;
  /// Of the results.
  Int firstQ = 0;
};

MmaKernel::FibreItems::FibreItems(MmaKernel &mma, const StepArrays &arrays)
    : Items(mma, arrays), last(mma.plan.dims.size() - 1), rowDim(last - 1),
      dim(mma.plan.dims[last]), rowStride(from.layout->strides[rowDim]),
      rows(step.sizes[rowDim]),
      resultSize(step.warps > 1 ? 16 * step.tiles : dim.sizeN),
      groups(getColumnGroups(resultSize, mma.getPair(arrays.to))),
      columnTiles(countTiles(groups)), rowTiles(mma.plan.getFibreTiles(step)) {}

void MmaKernel::FibreItems::emit() {
  SmallVector<MmaItemAxis> axes;
  for (unsigned outer = 0; outer < rowDim; ++outer)
    axes.push_back({outer, step.sizes[outer], 1});
  int64_t count = llvm::divideCeil(rows, 16) / rowTiles;
  axes.push_back({rowDim, count, 16 * rowTiles});
  mma.forItems(step, axes, [&](SmallVector<Int> itemPositions) {
    enter(itemPositions);
    emitItem();
  });
}

/// Whether the lane's fibre behind the item's `first` ones exists; null if that
/// of every lane does.
Value MmaKernel::FibreItems::getRowExists(int64_t first) {
  if (rows % 16 == 0 || (positions[rowDim].isConstant() && first + 8 <= rows))
    return nullptr;
  return kernel.less(
      kernel.add(positions[rowDim], kernel.add(mma.laneGroup, first)), rows);
}

void MmaKernel::FibreItems::emitItem() {
  offset = mma.getOffset(from, origin,
                         kernel.add(kernel.mul(mma.laneGroup, rowStride),
                                    kernel.mul(mma.laneSlot, 2)));
  SmallVector<MmaC> sums(rowTiles * columnTiles, products.getZeros());
  SmallVector<MmaC> totals;
  int64_t tilesK = mma.getKTiles(step);
  for (int64_t kTile = 0; kTile < tilesK; ++kTile) {
    multiply(sums, kTile);
    mma.carryOver(sums, totals, kTile, tilesK);
  }
  firstQ = 0;
  if (step.warps > 1)
    firstQ = kernel.mul(mma.getShare(step), resultSize);
  mma.emitGuard(sums, [&] { return addOneByOne(getZeros(sums)); });
  mma.emitWriteBarrier(step, from, arrays.to);
  store(sums);
}

/// Positions `8 * kTile` and the seven behind it of all fibres.
SmallVector<MmaA> MmaKernel::FibreItems::loadData(int64_t kTile) {
  SmallVector<MmaA> data(rowTiles);
  Int k = kernel.mul(mma.laneSlot, 2);
  bool ends = 8 * kTile + 8 > dim.sizeK;
  for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
    for (unsigned half : {0, 1}) {
      int64_t row = 16 * rowTile + 8 * half;
      Value exists = getRowExists(row);
      if (ends)
        exists = kernel.both(exists,
                             kernel.less(kernel.add(k, 8 * kTile), dim.sizeK));
      SmallVector<Value> values = mma.loadShared(
          from, offset, row * rowStride + 8 * kTile, 2, exists, own);
      if (ends && dim.sizeK % 2 != 0) {
        Value second = kernel.less(kernel.add(k, 8 * kTile + 1), dim.sizeK);
        values[1] = kernel.select(second, values[1], products.getZero());
      }
      for (unsigned slot : {0, 1})
        data[rowTile][2 * slot + half] =
            products.getOperand(values[slot], exact);
    }
  return data;
}

/// sums += positions `8 * kTile` and the seven behind it.
void MmaKernel::FibreItems::multiply(MutableArrayRef<MmaC> sums,
                                     int64_t kTile) {
  SmallVector<MmaA> data = loadData(kTile);
  // Of a factor that does not fit in registers, only what is needed now.
  Factors now;
  bool here = !arrays.factors.columns.empty();
  if (!here)
    now = mma.loadFactors(step, kTile, 1);
  SmallVector<MmaProducts::Term> terms;
  for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
    for (int64_t tile = 0; tile < columnTiles; ++tile)
      terms.push_back({&sums[rowTile * columnTiles + tile], &data[rowTile],
                       here ? &arrays.factors.columns[tile][kTile]
                            : &now.columns[tile][0]});
  products.multiply(terms);
}

SmallVector<Value> MmaKernel::FibreItems::addOneByOne(ValueRange start) {
  return kernel.rolledLoop(
      0, dim.sizeK, 1, start, [&](Int k, ValueRange carried) {
        SmallVector<Value> results(carried);
        SmallVector<Int> place(origin);
        place[last] = k;
        Int lane =
            mma.getOffset(from, place, kernel.mul(mma.laneGroup, rowStride));
        SmallVector<Value> values;
        for (int64_t row = 0; row < 2 * rowTiles; ++row)
          values.push_back(mma.loadShared(from, lane, 8 * row * rowStride, 1,
                                          getRowExists(8 * row), own)
                               .front());
        addTerm(results, values, groups,
                [&](const MmaColumnGroup &, Int column) {
                  return mma.loadFactorElement(dim.product, k,
                                               kernel.add(firstQ, column), 0,
                                               int64_t(1) << 30);
                });
        return results;
      });
}

void MmaKernel::FibreItems::store(ArrayRef<MmaC> sums) {
  SmallVector<Results> results = collectResults(sums, groups, rowDim);
  positions[last] = firstQ;
  bool columnsExist = groups.back().first + 8 * groups.back().pair +
                          (step.warps - 1) * 16 * step.tiles <=
                      dim.sizeN;
  mma.emitResults(results, {positions, rowDim, rows % 16 == 0, columnsExist},
                  arrays.to, arrays.output);
}

void MmaKernel::emitFibres(const StepArrays &arrays) {
  FibreItems(*this, arrays).emit();
}
