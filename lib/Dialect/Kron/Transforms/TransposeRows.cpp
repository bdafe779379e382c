//===- TransposeRows.cpp - Sparse factors with the batch last instead -----===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Groups of few columns are copied element by element with the batch first, for
// matrix products that are mostly padding, unless rows of results start at
// multiples of 16 bytes. So are segments of any width that do not. With the
// batch last they are rows, and copies that transpose cost no more than what
// they move.
//
//===----------------------------------------------------------------------===//

#include "TransposeRows.h"
#include "ArrayViews.h"
#include "DecomposeSparse.h"
#include "SplitSparse.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "kron/Machine/GPUSplits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// What rows of transposed copies are a multiple of.
static constexpr int64_t kRowUnit = 8;

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
static bool hasNarrowGroups(KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  return pattern[3] == 1 && pattern[0] >= kRowSplits.manyGroups &&
         2 * pattern[2] <= kRowSplits.narrowBytes &&
         getRows(op) >= kRowSplits.manyRows && !hasWholeRows(op);
}

/// Whether elements of X or of results (`size` of each group for each of d)
/// lie such that kernels move them in 8 or 16 bytes: of a few d, all of a group
/// together do.
static bool hasWholeSegments(int64_t size, int64_t d, int64_t access) {
  return d < access ? size * d % access == 0 : d % access == 0;
}

/// Whether `op` reads and writes so many single elements that transposed copies
/// take less time.
static bool hasRaggedSegments(KsmmOp op) {
  SmallVector<int64_t, 4> pattern = op.getPattern();
  int64_t a = pattern[0], b = pattern[1], c = pattern[2], d = pattern[3];
  bool isF32 = kron::getElementType(op.getInit()).isF32();
  // Groups of one product have kernels of their own.
  if (d == 1 || getRows(op) < kRowUnit)
    return false;
  const RowSplits &rates = kRowSplits;
  int64_t access = isF32 ? 4 : 8;
  double rows = getRows(op), inputs = rows * a * c * d,
         results = rows * a * b * d, asTheyLie = 0;
  // Half of an access is enough to read.
  if (!hasWholeSegments(c, d, access / 2))
    asTheyLie += inputs / (isF32 ? rates.inputsF32 : rates.inputs16Bit);
  if (!hasWholeSegments(b, d, access))
    asTheyLie += results / (isF32 ? rates.resultsF32 : rates.results16Bit);
  double transposed = (inputs + results) / (isF32 ? rates.transposedF32
                                                  : rates.transposed16Bit) +
                      rates.launchMicroseconds;
  return asTheyLie > rates.gainFactor * transposed;
}

bool kron::isFasterTransposed(KsmmOp op) {
  if (!hasPlainTypes(op) || op.getLayout() != Layout::BatchFirst ||
      !isBareProduct(op) || !kron::getBeta(op).isZero() || op.getPlanAttr() ||
      ShapedType::isDynamic(getRows(op)))
    return false;
  bool isNarrow =
      !kron::getElementType(op.getInit()).isF32() && hasNarrowGroups(op);
  return isNarrow || hasRaggedSegments(op);
}

/// Rows of equal blocks of about `block` rows, so that few rows are left.
static int64_t getEqualBlocks(int64_t rows, int64_t block) {
  int64_t least = llvm::divideCeil(rows, block);
  for (int64_t count = least; count <= 2 * least; ++count)
    if (rows % (kRowUnit * count) == 0)
      return rows / count;
  return rows / least / kRowUnit * kRowUnit;
}

SmallVector<KsmmOp> kron::transposeRows(IRRewriter &rewriter, KsmmOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto initType = cast<MemRefType>(op.getInit().getType());
  Type element = initType.getElementType();
  int64_t rows = initType.getDimSize(0), results = initType.getDimSize(1);
  int64_t sizeK = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
  int64_t fewest =
      hasNarrowGroups(op) ? kRowSplits.manyRows : kRowSplits.fewestRaggedRows;
  int64_t block = std::max(kRowSplits.blockBytes / getRowBytes(op), fewest);
  block = getEqualBlocks(rows, block);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto slice = [&](Value array, Value first, int64_t rows) -> Value {
    int64_t features = cast<MemRefType>(array.getType()).getDimSize(1);
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    OpFoldResult offsets[] = {first, zero}, strides[] = {one, one};
    OpFoldResult sizes[] = {rewriter.getIndexAttr(rows),
                            rewriter.getIndexAttr(features)};
    return memref::SubViewOp::create(rewriter, loc, array, offsets, sizes,
                                     strides);
  };
  auto clone = [&](Value input, Value init) {
    auto product = cast<KsmmOp>(rewriter.clone(*op));
    rewriter.modifyOpInPlace(product, [&] {
      product.getInputMutable().assign(input);
      product.getInitMutable().assign(init);
    });
    return product;
  };
  auto transpose = [&](Value from, Value to) {
    linalg::TransposeOp::create(rewriter, loc, from, to,
                                ArrayRef<int64_t>{1, 0});
  };
  auto create = [&](int64_t features) {
    return createBuffer(rewriter, loc, {features, block}, /*sizes=*/{}, element,
                        /*onTensors=*/false);
  };

  SmallVector<KsmmOp> products;
  int64_t left = rows % block;
  Value end = number(rows - left);
  if (left)
    products.push_back(
        clone(slice(op.getInput(), end, left), slice(op.getInit(), end, left)));
  Value input = create(sizeK), init = create(results);
  auto loop = scf::ForOp::create(rewriter, loc, number(0), end, number(block));
  rewriter.setInsertionPointAfter(loop);
  releaseBuffer(rewriter, loc, input);
  releaseBuffer(rewriter, loc, init);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  transpose(slice(op.getInput(), first, block), input);
  KsmmOp product = clone(input, init);
  rewriter.modifyOpInPlace(product,
                           [&] { product.setLayout(Layout::BatchLast); });
  products.push_back(product);
  rewriter.setInsertionPointAfter(product);
  transpose(init, slice(op.getInit(), first, block));
  rewriter.eraseOp(op);
  return products;
}
