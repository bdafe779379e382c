//===- PairwiseGrad.cpp - CPU code of one kron.pairwise_grad ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Threads share rows of the result, all of N at a time. Some register tiles
// along N go through three steps, between which a value of each pair is in the
// scratch:
//
//   G = H * U V^T                  the gradient by the matrix
//   W = G * d epilogue / ds        with reduced values s in register tiles
//   D[m, k] += sum_n W[m, n] * d inner(A[m, k], B[n, k])
//
// In the last one lanes run along N, and are added up at its end. The gradient
// by a hyper-parameter of the epilogue is the sum of G * d epilogue / dp, by
// one thread for each position of the batch.
//
// Outputs are gradients that differ in V alone, which has one column. The terms
// of a position of K, with G = H * U, are in the scratch then, and each output
// is the sum of their products with its V.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "PairwiseBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
class GradBuilder : public PairwiseBuilder {
public:
  GradBuilder(OpBuilder &builder, SymbolTable &symbols, PairwiseGradOp op);

private:
  bool isByParam() { return grad.getBy() == PairOperand::Param; }

  void addArrays(Emitter &emitter, PairwiseArrays &arrays) override;
  /// Moves positions of the batch that add to one result to the front.
  void orderBatch(Emitter &emitter, PairwiseArrays &arrays);
  Int countResults(Emitter &emitter, const PairwiseArrays &arrays);
  Int countParts(Emitter &emitter, const PairwiseArrays &arrays) override;
  Int countFmas(Emitter &emitter, const PairwiseArrays &arrays) override;
  void emitPart(Emitter &emitter, const PairwiseArrays &arrays, Int number,
                Value begin) override;
  void emitResults(Emitter &emitter, const PairwiseBlock &block,
                   const Tile &tile, ArrayRef<Value> sums) override;

  /// Calls `body(block)` with blocks of rows of one position of the batch.
  void forRowBlocks(Emitter &emitter, const PairwiseArrays &arrays, Int batch,
                    Int firstRow, function_ref<void(PairwiseBlock)> body);
  void clearResults(Emitter &emitter, const PairwiseBlock &block, Int sizeK);
  void moveOutput(Emitter &emitter, PairwiseMatrix &result, Int output);
  void emitBlock(Emitter &emitter, const PairwiseArrays &arrays,
                 const PairwiseBlock &block);

  void emitGradients(Emitter &emitter, const PairwiseBlock &strip, Int sizeC);
  /// Stores `getValue(row)` for all pairs of each row.
  void fillPairs(Emitter &emitter, const PairwiseBlock &strip,
                 function_ref<Value(Int)> getValue);
  void addFactors(Emitter &emitter, const PairwiseBlock &strip, Int sizeC);
  void scaleByWeights(Emitter &emitter, const PairwiseBlock &strip);

  void emitTerms(Emitter &emitter, const PairwiseBlock &block, Int sizeK);
  /// Packs `count` positions of a matrix that has all columns of the block.
  void packBlock(Emitter &emitter, const PairwiseBlock &block,
                 PairwiseMatrix PairwiseMatrices::*matrix, Int count, Value to);
  /// Of `outputs` outputs, whose factors are packed, if there are any.
  void emitTermsOfTile(Emitter &emitter, const PairwiseBlock &block, Int count,
                       const Tile &tile, Int outputs);
  /// A vector of values of pairs of a row, and the one of derivatives that it
  /// is multiplied by.
  using Term = std::pair<Value, Value>;
  /// Those of rows with these elements.
  SmallVector<Term> getTerms(Emitter &emitter, ArrayRef<Value> elements,
                             Value panel, Int row, Int first,
                             ValueRange params);
  /// `count` sums of columns, to which `add(first, sums)` adds a vector of
  /// these.
  SmallVector<Value>
  sumColumns(Emitter &emitter, Int columns, int64_t count,
             function_ref<SmallVector<Value>(Int, ValueRange)> add);
  /// Adds the lanes of a sum.
  void addToResult(Emitter &emitter, const PairwiseMatrix &result, Value sum);
  /// Adds to `count` outputs the products of packed factors and terms.
  void addOutputs(Emitter &emitter, Int columns, Int count,
                  const PairwiseMatrix &result, int64_t rows,
                  function_ref<SmallVector<Term>(Int)> getTerms);

  Value getPairs(Emitter &emitter, Int row, Int column) {
    Value at = emitter.offsetPointer(pairs, emitter.mul(row, blockN));
    return emitter.offsetPointer(at, column);
  }

  PairwiseGradOp grad;
  /// Derivatives: of `inner` by the operand, of `epilogue` by its reduced value
  /// or by the hyper-parameter.
  PairProgram ofInner, ofEpilogue;
  /// Whether all of the gradient is 0; whether derivatives depend on reduced
  /// values.
  bool isZero, readsReduced;
  /// Whether there are outputs, and then how many, and how far their results
  /// and their factors are apart.
  bool sharesTerms;
  Int numOutputs = 1, resultStride, factorStride;
  /// Positions of N whose values are in the scratch.
  int64_t blockN;
  /// In the scratch.
  int64_t panelOffset, pairsOffset, sumOffset, termsOffset, outputsOffset;
  /// Where values of pairs are, of a column of register tiles or of all.
  Value pairs;
};
} // namespace

static PairProgram getDerivativeOfInner(PairwiseGradOp op) {
  return PairProgram::getInner(op).getDerivative(op.getBy() ==
                                                 PairOperand::Rhs);
}

static PairProgram getDerivativeOfEpilogue(PairwiseGradOp op) {
  bool isByParam = op.getBy() == PairOperand::Param;
  return PairProgram::getEpilogue(op).getDerivative(
      isByParam ? 1 + *op.getParamIndex() : 0);
}

GradBuilder::GradBuilder(OpBuilder &builder, SymbolTable &symbols,
                         PairwiseGradOp op)
    : PairwiseBuilder(builder, symbols, op,
                      cast<PairwisePlanAttr>(op.getPlanAttr()),
                      op.getBy() == PairOperand::Rhs),
      grad(op), ofInner(getDerivativeOfInner(op)),
      ofEpilogue(getDerivativeOfEpilogue(op)),
      blockN(plan.getNTiles() * width) {
  sharesTerms = hasOutputs(op);
  isZero = ofEpilogue.isZero(0) || (!isByParam() && ofInner.isZero(0));
  readsReduced = isByParam() || !op.getEpilogue().empty();
  panelOffset = scratchElements;
  int64_t ofB = packedK * blockN;
  int64_t ofV = llvm::alignTo(plan.getColumnBlock(), lanes) * width;
  pairsOffset = panelOffset + std::max(ofB, ofV);
  sumOffset = pairsOffset + plan.getRowBlock() * blockN;
  termsOffset = sumOffset + lanes;
  outputsOffset = termsOffset + plan.getRows() * blockN;
  scratchElements = sharesTerms ? outputsOffset + plan.getColumnBlock() * blockN
                                : termsOffset;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The first (0) or second (1) axis of a matrix that is stored as `transpose`
/// says.
static unsigned getDim(Value matrix, Transpose transpose, unsigned axis) {
  unsigned rank = cast<MemRefType>(matrix.getType()).getRank();
  return rank - 2 + (transpose == Transpose::N ? axis : 1 - axis);
}

void GradBuilder::orderBatch(Emitter &emitter, PairwiseArrays &arrays) {
  auto type = cast<MemRefType>(grad.getInit().getType());
  unsigned own = type.getRank() - (isByParam() ? 0 : 2);
  SmallVector<unsigned> order, kept;
  arrays.sizeSummed = 1;
  for (unsigned dim = 0, rank = arrays.batch.size(); dim < rank; ++dim) {
    bool isSummed = dim < rank - own || type.getDimSize(dim + own - rank) == 1;
    (isSummed ? order : kept).push_back(dim);
    if (isSummed)
      arrays.sizeSummed = emitter.mul(arrays.sizeSummed, arrays.batch[dim]);
  }
  llvm::append_range(order, kept);
  auto apply = [&](SmallVector<Int> &numbers) {
    numbers = llvm::map_to_vector(
        order, [&, old = numbers](unsigned dim) { return old[dim]; });
  };
  apply(arrays.batch);
  for (PairwiseMatrix *matrix : arrays.getAll())
    if (matrix->base)
      apply(matrix->batch);
  for (PairwiseParameter &param : arrays.params)
    if (param.batch)
      apply(*param.batch);
}

void GradBuilder::addArrays(Emitter &emitter, PairwiseArrays &arrays) {
  std::pair<Value, Transpose> factors[] = {
      {grad.getLhsFactor(), grad.getTransLhsFactor()},
      {grad.getRhsFactor(), grad.getTransRhsFactor()}};
  if (auto [factor, transpose] = factors[rowSide]; factor) {
    auto [other, transposeOther] = factors[1 - rowSide];
    arrays.rowFactor = getMatrix(emitter, factor, getDim(factor, transpose, 0));
    arrays.values = getMatrix(emitter, other, getDim(other, transposeOther, 0));
    arrays.sizeC = getArraySizes(emitter, factor)[getDim(factor, transpose, 1)];
  }
  if (Value weights = grad.getGrad())
    arrays.weights = getMatrix(emitter, weights,
                               getDim(weights, grad.getTransGrad(), rowSide));
  orderBatch(emitter, arrays);
  if (sharesTerms)
    numOutputs = std::exchange(arrays.batch.back(), 1);
  arrays.sizeO = numOutputs;
  arrays.blockRows = plan.getRowBlock();
  if (!isByParam())
    arrays.blockRows =
        getBlockRows(emitter, arrays.sizeM, countResults(emitter, arrays));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Positions of the batch that have a result of their own, or several outputs.
Int GradBuilder::countResults(Emitter &emitter, const PairwiseArrays &arrays) {
  auto type = cast<MemRefType>(grad.getInit().getType());
  Int count = 1;
  SmallVector<Int> sizes = getArraySizes(emitter, grad.getInit());
  unsigned batchRank = type.getRank() - (isByParam() ? 0 : 2);
  for (unsigned dim = 0; dim < batchRank - (sharesTerms ? 1 : 0); ++dim)
    count = emitter.mul(count, sizes[dim]);
  return count;
}

Int GradBuilder::countParts(Emitter &emitter, const PairwiseArrays &arrays) {
  Int results = countResults(emitter, arrays);
  if (isByParam())
    return results;
  return emitter.mul(results, emitter.ceilDiv(arrays.sizeM, arrays.blockRows));
}

Int GradBuilder::countFmas(Emitter &emitter, const PairwiseArrays &arrays) {
  Int rows =
      isByParam() ? arrays.sizeM : emitter.min(arrays.blockRows, arrays.sizeM);
  Int pairs = emitter.mul(emitter.mul(rows, arrays.sizeN), arrays.sizeSummed);
  Int ofPair = emitter.mul(arrays.sizeK, emitter.add(arrays.sizeO, 1));
  return emitter.mul(pairs, emitter.add(ofPair, 1));
}

void GradBuilder::forRowBlocks(Emitter &emitter, const PairwiseArrays &arrays,
                               Int batch, Int firstRow,
                               function_ref<void(PairwiseBlock)> body) {
  auto emitRows = [&](Int first) {
    PairwiseBlock block = getBatch(emitter, arrays, batch);
    block.rows =
        emitter.min(arrays.blockRows, emitter.sub(arrays.sizeM, first));
    moveRows(emitter, block, first);
    body(block);
  };
  if (!isByParam())
    return emitRows(firstRow);
  emitter.forLoop(0, arrays.sizeM, arrays.blockRows, emitRows);
}

void GradBuilder::clearResults(Emitter &emitter, const PairwiseBlock &block,
                               Int sizeK) {
  Value zero = emitter.zero(emitter.getVectorType(lanes));
  emitter.forLoop(0, numOutputs, 1, [&](Int output) {
    PairwiseMatrix result = block.init;
    moveOutput(emitter, result, output);
    emitter.forLoop(0, block.rows, 1, [&](Int row) {
      emitter.forLoop(0, sizeK, lanes, [&](Int k) {
        PairwiseMatrix to = result;
        moveMatrix(emitter, to, row, k);
        Int left = emitter.sub(sizeK, k);
        storeRow(emitter, to, zero, left, emitter.firstLanes(lanes, left),
                 to.base);
      });
    });
  });
}

void GradBuilder::moveOutput(Emitter &emitter, PairwiseMatrix &result,
                             Int output) {
  result.base = emitter.offsetPointer(
      result.base, emitter.mul(output, resultStride), result.element);
}

void GradBuilder::emitPart(Emitter &emitter, const PairwiseArrays &arrays,
                           Int number, Value begin) {
  numOutputs = arrays.sizeO;
  if (sharesTerms) {
    resultStride = arrays.init.batch.back();
    factorStride = arrays.values.batch.back();
  }
  Int result = number, firstRow = 0;
  if (!isByParam()) {
    Int rowBlocks = emitter.ceilDiv(arrays.sizeM, arrays.blockRows);
    result = emitter.floorDiv(number, rowBlocks);
    firstRow = emitter.mul(emitter.rem(number, rowBlocks), arrays.blockRows);
  }
  Int results = 1;
  if (!arrays.batch.empty())
    results = emitter.floorDiv(countBatch(emitter, arrays),
                               emitter.max(arrays.sizeSummed, 1));
  Value sum = emitter.offsetPointer(scratch, sumOffset);
  if (isByParam())
    emitter.storeVector(emitter.zero(emitter.getVectorType(lanes)), sum,
                        nullptr);
  else
    forRowBlocks(emitter, arrays, result, firstRow, [&](PairwiseBlock block) {
      clearResults(emitter, block, arrays.sizeK);
    });
  if (!isZero)
    emitter.forLoop(0, arrays.sizeSummed, 1, [&](Int summed) {
      Int batch = emitter.add(emitter.mul(summed, results), result);
      forRowBlocks(emitter, arrays, batch, firstRow, [&](PairwiseBlock block) {
        emitBlock(emitter, arrays, block);
      });
    });
  if (!isByParam())
    return;
  Value lanesOfSum =
      emitter.loadVector(emitter.getVectorType(lanes), sum, nullptr);
  Value total =
      vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD,
                                  lanesOfSum, arith::FastMathFlags::reassoc);
  PairwiseBlock block = getBatch(emitter, arrays, result);
  emitter.storeScalar(total, block.init.base, block.init.element);
}

void GradBuilder::emitBlock(Emitter &emitter, const PairwiseArrays &arrays,
                            const PairwiseBlock &block) {
  Value all = emitter.offsetPointer(scratch, pairsOffset);
  emitter.forLoop(0, block.columns, blockN, [&](Int first) {
    PairwiseBlock part = block;
    part.columns = getExtent(emitter, block.columns, first, blockN);
    moveColumns(emitter, part, first);
    emitter.forLoop(0, part.columns, width, [&](Int column) {
      pairs = emitter.offsetPointer(all, column);
      PairwiseBlock strip = getStrip(emitter, part, column);
      emitGradients(emitter, strip, arrays.sizeC);
      if (readsReduced)
        emitStrip(emitter, strip, arrays.sizeK, nullptr);
    });
    pairs = all;
    if (!isByParam())
      emitTerms(emitter, part, arrays.sizeK);
  });
}

//===----------------------------------------------------------------------===//
// The gradient by the matrix
//===----------------------------------------------------------------------===//

void GradBuilder::fillPairs(Emitter &emitter, const PairwiseBlock &strip,
                            function_ref<Value(Int)> getValue) {
  emitter.forLoop(0, strip.rows, 1, [&](Int row) {
    Value value = getValue(row);
    for (int64_t vector = 0; vector < plan.getVectors(); ++vector)
      emitter.storeVector(value, getPairs(emitter, row, vector * lanes),
                          nullptr);
  });
}

void GradBuilder::addFactors(Emitter &emitter, const PairwiseBlock &strip,
                             Int sizeC) {
  VectorType type = emitter.getVectorType(lanes);
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  int64_t most = plan.getColumnBlock();
  fillPairs(emitter, strip, [&](Int) { return emitter.zero(type); });
  emitter.forLoop(0, sizeC, most, [&](Int first) {
    Int count = getExtent(emitter, sizeC, first, most);
    PairwiseMatrix values = strip.values, factor = strip.rowFactor;
    moveMatrix(emitter, values, 0, first);
    moveMatrix(emitter, factor, 0, first);
    packPanel(emitter, values, strip.columns, count, panel);
    forRowTiles(emitter, strip.rows, [&](Int row, int64_t rows) {
      Tile tile{rows, plan.getVectors(), row, {}, factor, {}};
      moveMatrix(emitter, tile.lhs, row);
      SmallVector<Value> at;
      for (int64_t index = 0; index < rows * tile.vectors; ++index)
        at.push_back(getPairs(emitter, emitter.add(row, index / tile.vectors),
                              index % tile.vectors * lanes));
      addProducts(emitter, panel, count, tile, at);
    });
  });
}

/// The gradient that is an array, times what is there already.
void GradBuilder::scaleByWeights(Emitter &emitter, const PairwiseBlock &strip) {
  VectorType type = emitter.getVectorType(lanes);
  emitter.forLoop(0, strip.rows, 1, [&](Int row) {
    emitter.forLoop(0, strip.columns, lanes, [&](Int column) {
      PairwiseMatrix from = strip.weights;
      moveMatrix(emitter, from, row, column);
      Int left = emitter.sub(strip.columns, column);
      Value at = getPairs(emitter, row, column);
      Value value = loadRow(emitter, from, left,
                            emitter.firstLanes(lanes, left), from.base);
      if (strip.values.base)
        value =
            emitProduct(emitter, value, emitter.loadVector(type, at, nullptr));
      emitter.storeVector(value, at, nullptr);
    });
  });
}

void GradBuilder::emitGradients(Emitter &emitter, const PairwiseBlock &strip,
                                Int sizeC) {
  if (sharesTerms)
    fillPairs(emitter, strip, [&](Int row) {
      PairwiseMatrix factor = strip.rowFactor;
      moveMatrix(emitter, factor, row);
      return broadcastScalar(emitter, emitter.getVectorType(lanes),
                             emitter.loadScalar(factor.base));
    });
  else if (strip.values.base)
    addFactors(emitter, strip, sizeC);
  if (strip.weights.base)
    scaleByWeights(emitter, strip);
}

//===----------------------------------------------------------------------===//
// Derivatives of the epilogue
//===----------------------------------------------------------------------===//

void GradBuilder::emitResults(Emitter &emitter, const PairwiseBlock &block,
                              const Tile &tile, ArrayRef<Value> sums) {
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<Value> params = broadcastParams(emitter, block);
  Value total = emitter.zero(type);
  for (auto [index, reduced] : llvm::enumerate(sums)) {
    auto number = static_cast<int64_t>(index);
    int64_t vector = number % tile.vectors;
    Value at = getPairs(emitter, emitter.add(tile.row, number / tile.vectors),
                        vector * lanes);
    SmallVector<Value> args{reduced};
    llvm::append_range(args, params);
    Value factor = ofEpilogue.emit(builder, loc, 0, args);
    Value weight =
        emitProduct(emitter, emitter.loadVector(type, at, nullptr), factor);
    if (!isByParam()) {
      emitter.storeVector(weight, at, nullptr);
      continue;
    }
    if (Value mask = tile.masks.empty() ? Value() : tile.masks[vector])
      weight = arith::SelectOp::create(builder, loc, mask, weight,
                                       emitter.zero(type));
    total = emitSum(emitter, total, weight);
  }
  if (!isByParam())
    return;
  Value sum = emitter.offsetPointer(scratch, sumOffset);
  Value old = emitter.loadVector(type, sum, nullptr);
  emitter.storeVector(emitSum(emitter, old, total), sum, nullptr);
}

//===----------------------------------------------------------------------===//
// Derivatives of the function of two elements
//===----------------------------------------------------------------------===//

SmallVector<GradBuilder::Term>
GradBuilder::getTerms(Emitter &emitter, ArrayRef<Value> elements, Value panel,
                      Int row, Int first, ValueRange params) {
  VectorType type = emitter.getVectorType(lanes);
  Value other =
      emitter.loadVector(type, emitter.offsetPointer(panel, first), nullptr);
  SmallVector<Term> terms;
  for (auto [index, element] : llvm::enumerate(elements)) {
    Value weight = emitter.loadVector(
        type, getPairs(emitter, emitter.add(row, index), first), nullptr);
    SmallVector<Value> args{element, other};
    if (rowSide == 1)
      std::swap(args[0], args[1]);
    llvm::append_range(args, params);
    terms.push_back({weight, ofInner.emit(builder, loc, 0, args)});
  }
  return terms;
}

SmallVector<Value>
GradBuilder::sumColumns(Emitter &emitter, Int columns, int64_t count,
                        function_ref<SmallVector<Value>(Int, ValueRange)> add) {
  SmallVector<Value> sums(count, emitter.zero(emitter.getVectorType(lanes)));
  auto emitLoop = [&](Int begin, Int end, Value mask) {
    auto loop = scf::ForOp::create(builder, loc, emitter.materialize(begin, 64),
                                   emitter.materialize(end, 64),
                                   emitter.materialize(lanes, 64), sums);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> added =
        add(Int(loop.getInductionVar()), loop.getRegionIterArgs());
    if (mask)
      for (auto [sum, old] : llvm::zip_equal(added, loop.getRegionIterArgs()))
        sum = arith::SelectOp::create(builder, loc, mask, sum, old);
    scf::YieldOp::create(builder, loc, added);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  };
  Int whole = emitter.mul(emitter.floorDiv(columns, lanes), lanes);
  emitLoop(0, whole, nullptr);
  if (!(whole == columns))
    emitLoop(whole, columns,
             emitter.firstLanes(lanes, emitter.sub(columns, whole)));
  return sums;
}

void GradBuilder::addToResult(Emitter &emitter, const PairwiseMatrix &result,
                              Value sum) {
  Value total = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::ADD, sum,
      emitter.loadScalar(result.base), arith::FastMathFlags::reassoc);
  emitter.storeScalar(total, result.base);
}

void GradBuilder::addOutputs(Emitter &emitter, Int columns, Int count,
                             const PairwiseMatrix &result, int64_t rows,
                             function_ref<SmallVector<Term>(Int)> getTerms) {
  VectorType type = emitter.getVectorType(lanes);
  Value terms = emitter.offsetPointer(scratch, termsOffset);
  Value factors = emitter.offsetPointer(scratch, outputsOffset);
  auto getPlace = [&](Value rows, Int row, Int first) {
    Value at = emitter.offsetPointer(rows, emitter.mul(row, blockN));
    return emitter.offsetPointer(at, first);
  };
  emitter.forLoop(0, columns, lanes, [&](Int first) {
    for (auto [row, term] : llvm::enumerate(getTerms(first)))
      emitter.storeVector(emitProduct(emitter, term.first, term.second),
                          getPlace(terms, row, first), nullptr);
  });
  forTiles(emitter, count, plan.getVectors(), [&](Int output, int64_t number) {
    auto addProducts = [&](Int first, ValueRange sums) {
      SmallVector<Value> others, added;
      for (int64_t index = 0; index < number; ++index)
        others.push_back(emitter.loadVector(
            type, getPlace(factors, emitter.add(output, index), first),
            nullptr));
      for (int64_t row = 0; row < rows; ++row) {
        Value term =
            emitter.loadVector(type, getPlace(terms, row, first), nullptr);
        for (Value other : others)
          added.push_back(
              emitMultiplyAdd(emitter, term, other, sums[added.size()]));
      }
      return added;
    };
    auto sums = sumColumns(emitter, columns, rows * number, addProducts);
    for (auto [index, sum] : llvm::enumerate(sums)) {
      PairwiseMatrix to = result;
      moveMatrix(emitter, to, index / number);
      moveOutput(emitter, to, emitter.add(output, index % number));
      addToResult(emitter, to, sum);
    }
  });
}

void GradBuilder::emitTermsOfTile(Emitter &emitter, const PairwiseBlock &block,
                                  Int count, const Tile &tile, Int outputs) {
  VectorType type = emitter.getVectorType(lanes);
  SmallVector<Value> params = broadcastParams(emitter, block);
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  emitter.forLoop(0, count, 1, [&](Int k) {
    SmallVector<Value> elements;
    for (int64_t index = 0; index < tile.rows; ++index) {
      PairwiseMatrix from = tile.lhs;
      moveMatrix(emitter, from, index, k);
      elements.push_back(
          broadcastScalar(emitter, type, emitter.loadScalar(from.base)));
    }
    Value column = emitter.offsetPointer(panel, emitter.mul(k, blockN));
    PairwiseMatrix result = block.init;
    moveMatrix(emitter, result, tile.row, k);
    auto getTermsAt = [&](Int first) {
      return getTerms(emitter, elements, column, tile.row, first, params);
    };
    if (sharesTerms)
      return addOutputs(emitter, block.columns, outputs, result, tile.rows,
                        getTermsAt);
    auto addTerms = [&](Int first, ValueRange sums) {
      SmallVector<Value> added;
      for (auto [term, sum] : llvm::zip_equal(getTermsAt(first), sums))
        added.push_back(emitMultiplyAdd(emitter, term.first, term.second, sum));
      return added;
    };
    auto sums = sumColumns(emitter, block.columns, tile.rows, addTerms);
    for (auto [index, sum] : llvm::enumerate(sums)) {
      PairwiseMatrix to = result;
      moveMatrix(emitter, to, index);
      addToResult(emitter, to, sum);
    }
  });
}

void GradBuilder::packBlock(Emitter &emitter, const PairwiseBlock &block,
                            PairwiseMatrix PairwiseMatrices::*matrix, Int count,
                            Value to) {
  emitter.forLoop(0, block.columns, width, [&](Int column) {
    PairwiseBlock strip = getStrip(emitter, block, column);
    packPanel(emitter, strip.*matrix, strip.columns, count,
              emitter.offsetPointer(to, column), blockN);
  });
}

void GradBuilder::emitTerms(Emitter &emitter, const PairwiseBlock &block,
                            Int sizeK) {
  Value panel = emitter.offsetPointer(scratch, panelOffset);
  Value factors = emitter.offsetPointer(scratch, outputsOffset);
  int64_t most = std::max<int64_t>(sliceK, 1);
  emitter.forLoop(0, sizeK, most, [&](Int start) {
    Int count = getExtent(emitter, sizeK, start, most);
    PairwiseBlock slice = block;
    moveMatrix(emitter, slice.lhs, 0, start);
    moveMatrix(emitter, slice.rhs, 0, start);
    moveMatrix(emitter, slice.init, 0, start);
    packBlock(emitter, slice, &PairwiseBlock::rhs, count, panel);
    emitter.forLoop(0, numOutputs, plan.getColumnBlock(), [&](Int output) {
      PairwiseBlock part = slice;
      Int outputs =
          getExtent(emitter, numOutputs, output, plan.getColumnBlock());
      if (sharesTerms) {
        moveOutput(emitter, part.init, output);
        part.values.inner = factorStride;
        moveMatrix(emitter, part.values, 0, output);
        packBlock(emitter, part, &PairwiseBlock::values, outputs, factors);
      }
      forRowTiles(emitter, block.rows, [&](Int row, int64_t rows) {
        Tile tile{rows, plan.getVectors(), row, {}, slice.lhs, {}};
        moveMatrix(emitter, tile.lhs, row);
        emitTermsOfTile(emitter, part, count, tile, outputs);
      });
    });
  });
}

std::unique_ptr<PairwiseBuilder> kron::createGradBuilder(OpBuilder &builder,
                                                         SymbolTable &symbols,
                                                         PairwiseGradOp op) {
  return std::make_unique<GradBuilder>(builder, symbols, op);
}
