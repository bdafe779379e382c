//===- SparseChoices.cpp - Which form a kron.ksmm has on a GPU ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One kernel for all of a Kronecker-sparse factor is not always the fastest
// way. Weights may lie so that copying them first is worth it, and with the
// batch last every t is a dense product of strided matrices, which other
// kernels and cuBLAS take. With the batch first, copies of X and Y make it one.
//
// Groups of few columns are copied element by element with the batch first, for
// matrix products that are mostly padding, unless rows of results start at
// multiples of 16 bytes. So are segments of any width that do not. With the
// batch last they are rows, and copies that transpose cost no more than what
// they move.
//
//===----------------------------------------------------------------------===//

#include "SparseChoices.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "kron/Machine/NominalSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// What rows of transposed copies are a multiple of.
static constexpr int64_t kRowUnit = 8;

static ShapedType getShapedType(Value array) {
  return cast<ShapedType>(array.getType());
}

/// Whether types and precision of `op` are those of kernels that weights and
/// arrays in another order were measured with.
static bool hasPlainTypes(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  return (element.isF32() || element.isF16() || element.isBF16()) &&
         op.getPrecision() != Precision::Ieee &&
         kron::getElementType(op.getInput()) == element &&
         kron::getElementType(op.getWeights()) == element;
}

//===----------------------------------------------------------------------===//
// Copies of weights, and products t by t
//===----------------------------------------------------------------------===//

bool kron::hasKernelOf8(KsmmOp sparse, const GPUSplits &splits) {
  Type input = kron::getElementType(sparse.getInput());
  Type weights = kron::getElementType(sparse.getWeights());
  Type init = kron::getElementType(sparse.getInit());
  auto isTaken = [](Type type) { return isFloat8(type) || type.isF16(); };
  SmallVector<int64_t, 4> pattern = sparse.getPattern();
  if (pattern[1] >= splits.weights.hugeSide &&
      pattern[2] >= splits.weights.hugeSide && !init.isF32())
    return false;
  return (isFloat8(input) || isFloat8(weights)) && isTaken(input) &&
         isTaken(weights) &&
         (init.isF16() || init.isBF16() ||
          (init.isF32() && sparse.getPrecision() != Precision::Ieee));
}

bool kron::needsTransposedCopy(KsmmOp op, const GPUSplits &splits) {
  Type element = kron::getElementType(op.getInit());
  if (op.getTransWeights() == Transpose::N || !isa<FloatType>(element) ||
      kron::getAlpha(op).isZero())
    return false;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t run = pattern[3] * element.getIntOrFloatBitWidth() / 8;
  int64_t rows = getShapedType(op.getInit()).getDimSize(1 - op.getFeatureDim());
  return run < splits.weights.shortSegmentBytes &&
         pattern[1] * pattern[2] * run >= splits.weights.keptBytes &&
         (ShapedType::isDynamic(rows) || rows >= splits.weights.fewRows);
}

/// Whether `op` has d > 1 products, with the batch last, and adds nothing: then
/// X and Y of each t are matrices.
static bool hasMatrices(KsmmOp op) {
  return op.getPattern()[3] > 1 && op.getLayout() == Layout::BatchLast &&
         isBareProduct(op) && !op.getAddend();
}

/// Whether one group of a 16-bit type is large enough for that: also with a
/// side of 96 beside a longer one; of two products it has to be much longer,
/// and their K.
static bool isLargeFor16Bit(KsmmOp op, const GPUSplits &splits) {
  Type element = kron::getElementType(op.getInit());
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t b = pattern[1], c = pattern[2], d = pattern[3];
  if (!(element.isF16() || element.isBF16()) || pattern[0] != 1 ||
      b < splits.weights.side16Bit || c < splits.weights.side16Bit)
    return false;
  return d > 2 ? b * c >= splits.weights.area16Bit
               : c >= splits.weights.largeSide &&
                     b * c >= splits.weights.areaOfTwo16Bit;
}

/// Whether `op` is one of large weights (a, b, c, d) and matrices whose
/// products the GPU has better kernels for, if there are many rows.
static bool isManyProducts(KsmmOp op, const GPUSplits &splits) {
  if (!hasMatrices(op))
    return false;
  if (isLargeFor16Bit(op, splits))
    return true;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  bool areFewGroups =
      pattern[0] == 1 ||
      (pattern[0] <= splits.weights.mostGroups &&
       pattern[1] * pattern[2] * pattern[3] >= splits.weights.manyOfGroup);
  return areFewGroups && pattern[1] >= splits.weights.largeSide &&
         pattern[2] >= splits.weights.largeSide;
}

bool kron::isFastByCublas(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  return element.isF16() || element.isBF16() ||
         (element.isF32() && op.getPrecision() == Precision::TF32);
}

bool kron::isSlicedByT(KsmmOp op, const GPUSplits &splits) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  bool hasBlocks = pattern[1] >= splits.weights.largeSide ||
                   pattern[1] * pattern[2] >= splits.weights.manyOfT;
  if (pattern[0] == 1 || !hasBlocks || !hasMatrices(op) || !hasPlainTypes(op) ||
      op.getPlanAttr() || isManyProducts(op, splits))
    return false;
  int64_t rows = getShapedType(op.getInit()).getDimSize(1);
  if (ShapedType::isDynamic(rows))
    rows = kNominalRows;
  int64_t bytes =
      kron::getElementType(op.getInit()).getIntOrFloatBitWidth() / 8;
  return rows * pattern[0] * (pattern[1] + pattern[2]) * bytes >=
         (isFastByCublas(op) ? splits.weights.launchBytes16Bit
                             : splits.weights.launchBytes);
}

bool kron::needsCopyByProducts(KsmmOp op, const GPUSplits &splits) {
  if (isSlicedByT(op, splits) ||
      (isFastByCublas(op) && isManyProducts(op, splits)))
    return true;
  if (!hasMatrices(op) || !hasPlainTypes(op))
    return false;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t group = pattern[1] * pattern[2] * pattern[3];
  Type element = kron::getElementType(op.getInit());
  // Others find what shares a sector in the cache.
  if (pattern[3] * element.getIntOrFloatBitWidth() / 8 <
      splits.weights.shortSegmentBytes)
    return group >= splits.weights.manyWeights;
  return pattern[0] * group > splits.weights.manyWeights ||
         (group >= splits.weights.manyOfGroup && isManyProducts(op, splits));
}

int64_t kron::getSliceResults(KsmmOp op, const GPUSplits &splits) {
  Type element = kron::getElementType(op.getInit());
  if (!element.isF32() || op.getPrecision() != Precision::Full ||
      op.getPlanAttr() || hasKernelOf8(op, splits) ||
      !isManyProducts(op, splits))
    return 0;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  if (pattern[2] > splits.weights.mostOfSlice ||
      pattern[2] < splits.weights.leastOfSlice || pattern[2] % 8 != 0)
    return 0;
  for (int64_t sizeN = splits.weights.mostOfSlice;
       sizeN >= splits.weights.leastOfSlice; sizeN -= 8)
    if (pattern[1] % sizeN == 0 &&
        pattern[0] * pattern[1] / sizeN * pattern[3] <=
            splits.weights.mostSlices)
      return sizeN;
  return 0;
}

//===----------------------------------------------------------------------===//
// Products side by side
//===----------------------------------------------------------------------===//

/// Bytes of memory accesses, of which rows of all copies are multiples.
static constexpr int64_t kAccessBytes = 16;

int64_t kron::getLeastSplitRows(KsmmOp op, const GPUSplits &splits) {
  if (op.getLayout() != Layout::BatchFirst || !isBareProduct(op) ||
      !hasPlainTypes(op) || !kron::getBeta(op).isZero() || op.getPlanAttr())
    return 0;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t b = pattern[1], c = pattern[2], d = pattern[3];
  bool isFull = kron::getElementType(op.getInit()).isF32();
  int64_t access = kAccessBytes / (isFull ? 4 : 2);
  if (b % access != 0 || c % access != 0)
    return 0;
  int64_t work = b * c / std::max<int64_t>(b + c, 1);
  auto isReached = [&](const SplitThreshold &least) {
    return d >= least.products && work >= least.work && c >= least.sizeK;
  };
  bool isUneven = isFull && b >= splits.products.unevenResults &&
                  b < splits.products.evenResults;
  bool isWorthIt = isFull ? llvm::any_of(kF32Splits, isReached)
                          : llvm::any_of(k16BitSplits, isReached);
  if (!isWorthIt && !(isUneven && llvm::any_of(kUnevenSplits, isReached)))
    return 0;
  return d >= splits.products.several ? splits.products.leastRows
                                      : splits.products.leastRowsOfFew;
}

int64_t kron::getSplitBlock(KsmmOp op, const GPUSplits &splits) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  Type element = kron::getElementType(op.getInit());
  int64_t rowBytes = pattern[0] * (pattern[1] + pattern[2]) * pattern[3] *
                     (element.getIntOrFloatBitWidth() / 8);
  int64_t most = std::max(splits.products.blockBytes / rowBytes,
                          splits.products.fewestRows);
  int64_t rows = getShapedType(op.getInit()).getDimSize(0);
  if (ShapedType::isDynamic(rows))
    return most / splits.products.rowUnit * splits.products.rowUnit;
  int64_t fewest = llvm::divideCeil(rows, most);
  for (int64_t blocks = fewest; blocks < 2 * fewest; ++blocks)
    if (rows % blocks == 0)
      return rows / blocks;
  return std::min<int64_t>(
      llvm::alignTo(llvm::divideCeil(rows, fewest), splits.products.rowUnit),
      rows);
}

//===----------------------------------------------------------------------===//
// Transposed rows
//===----------------------------------------------------------------------===//

/// Whether rows of results start at multiples of 16 bytes, if the array does:
/// then there is a kernel for small groups as they lie.
static bool hasWholeRows(KsmmOp op) {
  constexpr int64_t kAccess = 8;
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t stride = pattern[0] * pattern[1];
  if (auto type = dyn_cast<MemRefType>(op.getInit().getType())) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!hasDenseRows(op) || failed(type.getStridesAndOffset(strides, offset)))
      return false;
    if (!ShapedType::isDynamic(strides.front()))
      stride = strides.front();
  }
  return stride % kAccess == 0;
}

static int64_t getRows(KsmmOp op) {
  return cast<ShapedType>(op.getInit().getType()).getDimSize(0);
}

/// Bytes of a row of X and of its results.
static int64_t getRowBytes(KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  return pattern[0] * (pattern[1] + pattern[2]) * pattern[3] *
         kron::getElementType(op.getInit()).getIntOrFloatBitWidth() / 8;
}

/// Whether groups of `op`, of 16-bit values, have few columns.
static bool hasNarrowGroups(KsmmOp op, const GPUSplits &splits) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  return pattern[3] == 1 && pattern[0] >= splits.rows.manyGroups &&
         2 * pattern[2] <= splits.rows.narrowBytes &&
         getRows(op) >= splits.rows.manyRows && !hasWholeRows(op);
}

/// Whether elements of X or of results (`size` of each group for each of d)
/// lie such that kernels move them in 8 or 16 bytes: of a few d, all of a group
/// together do.
static bool hasWholeSegments(int64_t size, int64_t d, int64_t access) {
  return d < access ? size * d % access == 0 : d % access == 0;
}

/// Whether `op` reads and writes so many single elements that transposed copies
/// take less time.
static bool hasRaggedSegments(KsmmOp op, const GPUSplits &splits) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  bool isF32 = kron::getElementType(op.getInit()).isF32();
  // Groups of one product have kernels of their own.
  if (d == 1 || getRows(op) < kRowUnit)
    return false;
  const RowSplits &rates = splits.rows;
  int64_t access = isF32 ? 4 : 8;
  double rows = getRows(op), inputs = rows * a * c * d,
         results = rows * a * b * d, asTheyLie = 0;
  // Half of an access is enough to read.
  if (!hasWholeSegments(c, d, access) && !hasWholeSegments(c, d, access / 2))
    asTheyLie += llvm::divideCeil(b, rates.tileResults) * inputs /
                 (isF32 ? rates.inputsF32 : rates.inputs16Bit);
  if (!hasWholeSegments(b, d, access))
    asTheyLie += results / (2 * d <= access ? rates.joinedResults
                            : isF32         ? rates.resultsF32
                                            : rates.results16Bit);
  if (asTheyLie == 0)
    return false;
  double weights = a * b * c * d;
  if (d % access != 0)
    asTheyLie += weights / (isF32 ? rates.weightsF32 : rates.weights16Bit);
  asTheyLie +=
      results * c / (isF32 ? rates.multiplyAddsF32 : rates.multiplyAdds16Bit);
  double direct =
      (inputs + results) / (isF32 ? rates.directF32 : rates.direct16Bit) +
      results * c / rates.directMultiplyAdds;
  double transposed = (inputs + results) / (isF32 ? rates.transposedF32
                                                  : rates.transposed16Bit) +
                      weights / rates.copiedWeights + rates.launchMicroseconds;
  return std::min(asTheyLie, direct) > rates.gainFactor * transposed;
}

bool kron::isFasterTransposed(KsmmOp op, const GPUSplits &splits) {
  if (!hasPlainTypes(op) || op.getLayout() != Layout::BatchFirst ||
      !isBareProduct(op) || !kron::getBeta(op).isZero() || op.getPlanAttr() ||
      ShapedType::isDynamic(getRows(op)))
    return false;
  bool isNarrow = !kron::getElementType(op.getInit()).isF32() &&
                  hasNarrowGroups(op, splits);
  return isNarrow || hasRaggedSegments(op, splits);
}

/// Rows of equal blocks of about `block` rows, so that few rows are left.
static int64_t getEqualBlocks(int64_t rows, int64_t block) {
  int64_t least = llvm::divideCeil(rows, block);
  for (int64_t count = least; count <= 2 * least; ++count)
    if (rows % (kRowUnit * count) == 0)
      return rows / count;
  return rows / least / kRowUnit * kRowUnit;
}

int64_t kron::getTransposedBlock(KsmmOp op, const GPUSplits &splits) {
  int64_t fewest = hasNarrowGroups(op, splits) ? splits.rows.manyRows
                                               : splits.rows.fewestRaggedRows;
  return getEqualBlocks(
      getRows(op), std::max(splits.rows.blockBytes / getRowBytes(op), fewest));
}
