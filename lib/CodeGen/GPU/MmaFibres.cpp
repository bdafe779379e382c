//===- MmaFibres.cpp - Products with fibres that are rows; chains ---------===//
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

SmallVector<MmaKernel::Results>
MmaKernel::collectResults(ArrayRef<MmaC> sums, ArrayRef<MmaColumnGroup> groups,
                          unsigned rowDim) const {
  unsigned last = plan.dims.size() - 1;
  SmallVector<Results> results;
  for (int64_t row = 0; !sums.empty(); row += 16)
    for (MmaColumnGroup group : groups) {
      Results result{SmallVector<int64_t>(last + 1, 0), group.pair, {}};
      result.offset[rowDim] = row;
      result.offset[last] = group.first;
      for (const MmaC &sum : sums.take_front(group.pair))
        result.tiles.push_back(&sum);
      sums = sums.drop_front(group.pair);
      results.push_back(result);
    }
  return results;
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
      firstQ = kernel.mul(getShare(step), resultSize);
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
    SmallVector<Results> results = collectResults(sums, groups, rowDim);
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
    SmallVector<Results> results = collectResults(sums, groups, dim);
    bool columnsExist =
        groups.back().first + 8 * groups.back().pair <= inner.results;
    emitResults(results,
                {positions, dim, outer.results % 16 == 0, columnsExist}, to,
                target);
  });
}
