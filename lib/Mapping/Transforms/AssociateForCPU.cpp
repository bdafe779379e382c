//===- AssociateForCPU.cpp - Factors that a CPU multiplies first ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Factors of one fused region share what it loads and stores, so that the time
// of a chain is no sum over its factors. The best way to apply the first so
// many factors is found from those of fewer: a factor, or the product of some,
// comes after one of these, and the planner says what all of it takes.
//
//===----------------------------------------------------------------------===//

#include "Associate.h"
#include "FusedRegions.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Machine/CPURates.h"
#include "kron/Mapping/CPU/CPUPlanner.h"
#include "kron/Mapping/CPU/Regrouped.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

namespace {

/// A way to apply the first factors of a chain.
struct Way {
  double seconds = std::numeric_limits<double>::infinity();
  /// What is applied, and what its weights take to be made.
  SmallVector<SparsePattern> factors;
  double making = 0;
  /// Which factors are multiplied with each other.
  SmallVector<std::pair<size_t, size_t>> segments;
};

class Association : public SparseChain {
public:
  Association(IRRewriter &rewriter, ArrayRef<KsmmOp> chain,
              const CPUPlannerOptions &options)
      : SparseChain(rewriter, chain), options(options) {}

  /// Replaces the factors that are better multiplied with each other.
  void run();

private:
  double estimate(ArrayRef<SparsePattern> factors, int64_t rows, Layout layout);
  double estimateMaking(ArrayRef<SparsePattern> factors,
                        const SparsePattern &product);
  Way goOn(const Way &way, size_t begin, size_t end);
  /// What the multiply-adds of `factors` take at least.
  double getLeastSeconds(ArrayRef<SparsePattern> factors) const;

  const CPUPlannerOptions &options;
};

} // namespace

double Association::getLeastSeconds(ArrayRef<SparsePattern> factors) const {
  const ProcessorRates &rates = options.rates;
  double fmas = std::max(rates.vectorFmas * 256, rates.wideFmas * 512) /
                double(8 * getElementBytes());
  double products = 0;
  for (const SparsePattern &factor : factors)
    products += double(rows) * llvm::product_of(factor);
  return products / (fmas * rates.gigahertz * 1e9);
}

/// Seconds of these factors for `rows` rows, in the fused regions that
/// --kron-fuse makes of them; infinite if the code generator does not take one.
double Association::estimate(ArrayRef<SparsePattern> factors, int64_t rows,
                             Layout layout) {
  auto question = [&](ArrayRef<ModeProductOp> products) {
    int64_t l2Bytes = options.caches.l2Bytes;
    double seconds = 0;
    for (ArrayRef<ModeProductOp> region :
         cutRegrouped(products, [&](size_t begin, size_t, size_t end) {
           return !getCPURegroupedReason(products.slice(begin, end - begin),
                                         l2Bytes, options.hasMatrixTiles);
         })) {
      std::optional<CPUTime> time =
          estimateBestCPUTime(fuseChain(rewriter, region), options);
      seconds += time ? time->total : std::numeric_limits<double>::infinity();
    }
    return seconds;
  };
  return ask(factors, rows, layout, question);
}

/// Seconds that the weights of `product` take: the first factor is written out
/// as a matrix, the others are applied to that, and its elements are put in the
/// order of weights.
double Association::estimateMaking(ArrayRef<SparsePattern> factors,
                                   const SparsePattern &product) {
  const SparsePattern &first = factors.front();
  double copied = double(first[0]) * first[1] * first[3] * product[2];
  if (product[3] > 1)
    copied += double(llvm::product_of(product));
  return copied * kCPURates.arrangedElementSeconds +
         kCPURates.smallRegionFactor *
             estimate(factors.drop_front(), product[2], Layout::BatchLast);
}

/// `way`, and behind it the product of the factors from `begin` to before
/// `end`.
Way Association::goOn(const Way &way, size_t begin, size_t end) {
  Way longer = way;
  ArrayRef<SparsePattern> factors = getFactors(begin, end);
  longer.factors.push_back(getProductPattern(factors));
  if (factors.size() > 1) {
    longer.making += estimateMaking(factors, longer.factors.back());
    longer.segments.push_back({begin, end});
  }
  KsmmOp last = chain.back();
  longer.seconds =
      longer.making + estimate(longer.factors, rows, last.getLayout());
  return longer;
}

void Association::run() {
  bool isOpen = ShapedType::isDynamic(rows);
  if (isOpen)
    rows = kCPURates.multipliedRows;
  SmallVector<Way> best(chain.size() + 1);
  best[0].seconds = 0;
  for (size_t end = 1; end <= chain.size(); ++end)
    for (size_t begin = end; begin-- > 0;) {
      ArrayRef<SparsePattern> factors = getFactors(begin, end);
      SmallVector<SparsePattern> applied(best[begin].factors);
      applied.push_back(getProductPattern(factors));
      // The code generator may take none of the ways to apply the first ones.
      bool isTaken = std::isfinite(best[begin].seconds);
      if (!isTaken ||
          best[begin].making + getLeastSeconds(applied) >= best[end].seconds ||
          (factors.size() > 1 && !isProductFull(factors)))
        continue;
      Way way = goOn(best[begin], begin, end);
      if (way.seconds < best[end].seconds)
        best[end] = std::move(way);
    }
  const Way &way = best.back();
  if (way.segments.empty())
    return;
  KsmmOp last = chain.back();
  double apart = estimate(patterns, rows, last.getLayout());
  if (apart < kCPURates.multipliedGain * way.seconds)
    return;
  if (isOpen) {
    // From so many rows on they save what their weights take.
    double saved =
        apart / kCPURates.multipliedGain - (way.seconds - way.making);
    chooseByRows(std::max<int64_t>(std::ceil(way.making / saved * rows), 1));
  }
  multiply(llvm::to_vector(llvm::reverse(way.segments)), way.seconds, apart);
}

void kron::associateChains(IRRewriter &rewriter, Operation *root,
                           const CPUPlannerOptions &options, int64_t given) {
  forEachSparseChain(root, /*mayBeOpen=*/true, [&](ArrayRef<KsmmOp> chain) {
    Association association(rewriter, chain, options);
    if (given)
      association.multiplyGiven(given);
    else
      association.run();
  });
}
