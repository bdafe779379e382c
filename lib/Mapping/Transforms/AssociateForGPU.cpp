//===- AssociateForGPU.cpp - Factors that a GPU multiplies first ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The order of products of a chain of matrices, of which the rows are one: the
// shortest path over the ways to cut the list of factors. What a segment takes
// is what the planners say of its kernels, asked with operations that are there
// for the question only: one factor after the other, some of them in one fused
// region, or the product of its weights, which every launch makes anew, and
// then the rows.
//
//===----------------------------------------------------------------------===//

#include "ArrangeSparse.h"
#include "Associate.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "mlir/IR/IRMapping.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;

namespace {

/// The ways to compute one chain.
class Association : public SparseChain {
public:
  Association(IRRewriter &rewriter, ArrayRef<KsmmOp> chain,
              const GPUMachine &machine, bool allowsCublas)
      : SparseChain(rewriter, chain), machine(machine),
        allowsCublas(allowsCublas), splits(getGPUSplits(machine)),
        resources(machine) {}

  /// Replaces the factors that are better multiplied with each other.
  void run();

private:
  double getLeastSeconds(const SparsePattern &pattern, int64_t rows) const;
  double estimateFactor(const SparsePattern &pattern, int64_t rows,
                        Layout layout);
  double estimateAlone(size_t index);
  double estimateApart(size_t begin, size_t end);
  double estimateTogether(size_t begin, size_t end);

  const GPUMachine &machine;
  bool allowsCublas;
  GPUSplits splits;
  GPUResources resources;
  std::map<std::pair<SmallVector<int64_t>, Layout>, double> estimates;
};

} // namespace

/// What no kernel of this factor is faster than.
double Association::getLeastSeconds(const SparsePattern &pattern,
                                    int64_t rows) const {
  double groups = double(pattern[0]) * pattern[3];
  double weights = groups * pattern[1] * pattern[2];
  double arrays = groups * (pattern[1] + pattern[2]) * rows + weights;
  Multiplication by =
      getMatrixMultiplication(getElementBytes(), F32Products::Single,
                              /*usesWarpgroups=*/true);
  return resources.getLaunchSeconds() +
         std::max(resources.getMemorySeconds(getBytes(arrays)),
                  resources.getMultiplySeconds(weights * rows, by));
}

/// `product` alone as the kron.fused that --kron-fuse would make of it, behind
/// it.
static FusedOp fuseAlone(IRRewriter &rewriter, ModeProductOp product) {
  rewriter.setInsertionPointAfter(product);
  return createFusedOp(
      rewriter, product.getLoc(), {product.getInput(), product.getFactor()},
      product.getInit(), /*inputPermutation=*/{}, /*plan=*/nullptr,
      [&](OpBuilder &builder, ValueRange args) {
        IRMapping mapping;
        mapping.map(product.getInput(), args[0]);
        mapping.map(product.getFactor(), args[1]);
        mapping.map(product.getInit(), args[2]);
        return builder.clone(*product, mapping)->getResult(0);
      });
}

/// Seconds of `pattern` for `rows` rows; infinite if no kernel takes it.
double Association::estimateFactor(const SparsePattern &pattern, int64_t rows,
                                   Layout layout) {
  SmallVector<int64_t> key(pattern.begin(), pattern.end());
  key.push_back(rows);
  auto [found, isNew] = estimates.try_emplace({key, layout});
  if (isNew)
    found->second = ask(pattern, rows, layout, [&](auto products) {
      FusedOp fused = fuseAlone(rewriter, products.front());
      std::optional<KernelTime> time =
          estimateRegionOrCall(fused, machine, allowsCublas);
      return time ? time->total : std::numeric_limits<double>::infinity();
    });
  return found->second;
}

/// Seconds of the rows times factor `index` of the chain. Where copies make it
/// faster than a planner knows, it counts as the least that it may take.
double Association::estimateAlone(size_t index) {
  KsmmOp op = chain[index];
  return isArranged(op, splits)
             ? getLeastSeconds(patterns[index], rows)
             : estimateFactor(patterns[index], rows, op.getLayout());
}

/// Seconds of the rows times these factors: of several, in one fused region;
/// infinite if that saves nothing.
double Association::estimateApart(size_t begin, size_t end) {
  KsmmOp last = chain.back();
  double seconds = 0;
  for (size_t index = begin; index < end; ++index)
    seconds += estimateAlone(index);
  if (end - begin == 1)
    return seconds;
  double gain = ask(getFactors(begin, end), rows, last.getLayout(),
                    [&](ArrayRef<ModeProductOp> products) {
                      return estimateSparseChainGain(products, machine);
                    });
  return gain > 0 ? seconds - gain : std::numeric_limits<double>::infinity();
}

/// Seconds of the product of these factors, and of the rows times it; infinite
/// if they are not to be multiplied.
double Association::estimateTogether(size_t begin, size_t end) {
  ArrayRef<SparsePattern> factors = getFactors(begin, end);
  SparsePattern product = getProductPattern(factors);
  const SparsePattern &first = factors.front();
  double infinity = std::numeric_limits<double>::infinity();
  // The first factor is written out, and weights are put in their order.
  double columns = product[2], behind = first[0] * first[1] * first[3];
  double seconds = resources.getLaunchSeconds() +
                   resources.getMemorySeconds(getBytes(behind * columns));
  if (product[3] > 1)
    seconds += resources.getLaunchSeconds() +
               resources.getMemorySeconds(getBytes(
                   2. * product[0] * product[1] * columns * product[3]));
  double least = seconds + getLeastSeconds(product, rows), apart = 0;
  for (size_t index = begin; index < end; ++index) {
    apart += estimateAlone(index);
    if (index > begin)
      least += getLeastSeconds(patterns[index], product[2]);
  }
  if (least >= apart || !isProductFull(factors))
    return infinity;
  for (const SparsePattern &factor : factors.drop_front())
    seconds += estimateFactor(factor, product[2], Layout::BatchLast);
  KsmmOp last = chain.back();
  return seconds + estimateFactor(product, rows, last.getLayout());
}

void Association::run() {
  struct Best {
    double seconds = std::numeric_limits<double>::infinity();
    size_t begin = 0;
    bool isTogether = false;
  };
  // The best way to apply so many factors, and the best one that multiplies
  // none with each other.
  SmallVector<Best> best(chain.size() + 1), apart(chain.size() + 1);
  best[0].seconds = apart[0].seconds = 0;
  for (size_t end = 1; end <= chain.size(); ++end)
    for (size_t begin = 0; begin < end; ++begin) {
      double seconds = estimateApart(begin, end);
      if (apart[begin].seconds + seconds < apart[end].seconds)
        apart[end] = {apart[begin].seconds + seconds, begin, false};
      if (best[begin].seconds + seconds < best[end].seconds)
        best[end] = {best[begin].seconds + seconds, begin, false};
      if (end - begin == 1)
        continue;
      seconds = estimateTogether(begin, end);
      if (best[begin].seconds + seconds < best[end].seconds)
        best[end] = {best[begin].seconds + seconds, begin, true};
    }
  SmallVector<Segment> segments;
  for (size_t end = chain.size(); end > 0; end = best[end].begin)
    if (best[end].isTogether)
      segments.push_back({best[end].begin, end});
  multiply(segments, best.back().seconds, apart.back().seconds);
}

void kron::associateChains(IRRewriter &rewriter, Operation *root,
                           const GPUMachine &machine, bool allowsCublas,
                           int64_t given) {
  forEachSparseChain(root, /*mayBeOpen=*/false, [&](ArrayRef<KsmmOp> chain) {
    Association association(rewriter, chain, machine, allowsCublas);
    if (given)
      association.multiplyGiven(given);
    else
      association.run();
  });
}
