//===- Regrouped.cpp - Chains of Kronecker-sparse factors -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Whether factors between which axes are regrouped are one fused region,
// and how many rows go through them at once. What lies between two factors of
// such a tile has to stay in the second-level cache. Factors that do not stay
// there beside it are read anew for every tile, which costs as much as it saves
// unless a tile has many rows.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/Regrouped.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/Arrays.h"
#include "kron/Plan/CPU/Support.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// What a chain takes per row, in bytes.
struct ChainBytes {
  /// Of the largest input and result of a factor together.
  int64_t row = 0;
  /// Of all that lies between factors, as it would lie in memory.
  int64_t between = 0;
  /// Of all factors.
  int64_t factors = 0;
  /// Multiply-adds of a row, a number and no bytes.
  int64_t fmas = 0;
  /// Rows, or dynamic.
  int64_t rows = 0;
};
} // namespace

static ChainBytes getChainBytes(ArrayRef<ModeProductOp> products) {
  ModeProductOp last = products.back();
  unsigned rows = *getRegroupedRows(products);
  Type element = getElementType(last.getInit());
  int64_t stored = getElementBytes(element);
  int64_t computed = getElementBytes(getAccumulatorType(element));
  auto countFeatures = [&](Value array) {
    int64_t elements = 1;
    auto shape = cast<ShapedType>(array.getType()).getShape();
    for (auto [axis, size] : llvm::enumerate(shape))
      elements *= axis == rows ? 1 : size;
    return elements;
  };
  ChainBytes bytes;
  bytes.rows = cast<ShapedType>(last.getInit().getType()).getDimSize(rows);
  for (ModeProductOp product : products) {
    int64_t input = countFeatures(product.getInput());
    int64_t result = countFeatures(product.getInit());
    bytes.row = std::max(bytes.row, (input + result) * computed);
    auto factor = cast<ShapedType>(product.getFactor().getType());
    bytes.fmas += result * factor.getDimSize(product.getContractedFactorDim());
    bytes.factors += factor.getNumElements() * computed;
    if (product != last)
      bytes.between += result * stored;
  }
  return bytes;
}

/// Rows that the second-level cache has room for.
static int64_t countRows(const ChainBytes &bytes, int64_t l2Bytes) {
  int64_t budget = l2Bytes * 3 / 4;
  if (bytes.factors <= l2Bytes / 2)
    budget -= bytes.factors;
  return budget / bytes.row;
}

/// Whether what `product` needs together of a row, a tile's or one of the
/// user's array, lies in contiguous segments.
static bool readsSegments(ModeProductOp product) {
  auto input = cast<ShapedType>(product.getInput().getType());
  int64_t bytes = getElementBytes(getElementType(product.getInput()));
  for (int64_t size : input.getShape().drop_front(product.getAxis() + 1))
    bytes *= size;
  return bytes >= kCPURates.leastChainSegmentBytes;
}

int64_t kron::chooseRegroupedRows(ArrayRef<ModeProductOp> products,
                                  int64_t l2Bytes, int64_t multiple) {
  ChainBytes bytes = getChainBytes(products);
  // An eighth of the cache: what is prefetched and the factors have to find
  // room, too.
  int64_t rows = std::clamp(l2Bytes / 8 / bytes.row, kCPURates.leastChainRows,
                            kCPURates.mostChainRows);
  // Factors that the cache does not hold are read for every tile, which takes
  // longer than what lies between does from beyond it. Many rows that are not
  // read in contiguous segments push each other out of the first-level cache.
  bool isRowsLast = *getRegroupedRows(products) != 0;
  if (isRowsLast || bytes.factors <= l2Bytes ||
      !readsSegments(products.front()))
    rows = std::min(rows, countRows(bytes, l2Bytes));
  int64_t tile = std::max(rows / multiple * multiple, multiple);
  // One that divides them all, if there is one near.
  if (!ShapedType::isDynamic(bytes.rows))
    for (int64_t rows = tile; 2 * rows >= tile && rows > 0; rows -= multiple)
      if (bytes.rows % rows == 0)
        return rows;
  return tile;
}

std::optional<std::string>
kron::getCPURegroupedReason(ArrayRef<ModeProductOp> products, int64_t l2Bytes,
                            bool matrixTiles) {
  for (ModeProductOp product : products)
    if (std::optional<std::string> reason = getCPUUnsupportedReason(product))
      return reason;
  ModeProductOp last = products.back();
  if (matrixTiles && getElementType(last.getInit()).isBF16())
    return "matrix tiles take bf16 as it lies in memory";
  ChainBytes bytes = getChainBytes(products);
  // Few rows are shared out over the factors' own axes.
  if (!ShapedType::isDynamic(bytes.rows) &&
      bytes.rows * bytes.between <= l2Bytes)
    return "what lies between fits the second-level cache";
  int64_t rows = countRows(bytes, l2Bytes);
  bool isRowsLast = *getRegroupedRows(products) != 0;
  int64_t fewest =
      isRowsLast ? kCPURates.fewestChainColumns : kCPURates.fewestChainRows;
  if (rows < fewest)
    return "fewer than " + std::to_string(fewest) +
           " rows fit the second-level cache";
  if (bytes.fmas >
      (isRowsLast ? kCPURates.mostFmasPerByteLast : kCPURates.mostFmasPerByte) *
          bytes.between)
    return "multiply-adds take longer than memory";
  // What lies between would be written, fetched for that, and read, from
  // farther away than the factors.
  rows = std::min(rows, kCPURates.mostChainRows);
  if (bytes.factors > l2Bytes / 2 &&
      kCPURates.savedPerFactorByte * rows * bytes.between < bytes.factors)
    return "the factors would be read too often";
  return std::nullopt;
}

int64_t kron::getCPUMostRowsApart(ArrayRef<ModeProductOp> products,
                                  int64_t l2Bytes) {
  return l2Bytes / getChainBytes(products).between;
}
