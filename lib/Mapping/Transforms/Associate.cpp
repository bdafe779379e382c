//===- Associate.cpp - Which factors of a chain are multiplied first ------===//
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

#include "Associate.h"
#include "ArrangeSparse.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "kron/Mapping/GPU/ChainPlanner.h"
#include "kron/Mapping/GPU/GPUPlanner.h"
#include "kron/Mapping/GPU/Resources.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace mlir::kron;

bool kron::hasWideRange(Type type) {
  return type.isF32() || type.isF64() || type.isBF16();
}

/// Whether `op` may be the last factor that is multiplied with others.
static bool canBeLast(KsmmOp op) {
  Type element = kron::getElementType(op.getInit());
  auto isKnown = [&](Value array) {
    auto type = dyn_cast<RankedTensorType>(array.getType());
    return type && type.hasStaticShape() && type.getNumElements() > 0 &&
           type.getElementType() == element;
  };
  return hasWideRange(element) && op.getTransInput() == Transpose::N &&
         op.getTransWeights() == Transpose::N && !op.getPlanAttr() &&
         isKnown(op.getInput()) && isKnown(op.getWeights()) &&
         isKnown(op.getInit());
}

/// The factor that alone uses the result of `op` and may be multiplied with it;
/// else null.
static KsmmOp getNext(KsmmOp op) {
  bool isBare = canBeLast(op) && isBareProduct(op) &&
                kron::getAlpha(op).isOne() && kron::getBeta(op).isZero() &&
                op->getNumOperands() == 3;
  if (!isBare || !op->hasOneUse())
    return nullptr;
  auto next = dyn_cast<KsmmOp>(*op->user_begin());
  bool isChain = next && next->getBlock() == op->getBlock() &&
                 next.getInput() == op->getResult(0) && canBeLast(next) &&
                 next.getLayout() == op.getLayout() &&
                 next.getPrecision() == op.getPrecision() &&
                 kron::getElementType(next.getInit()) ==
                     kron::getElementType(op.getInit());
  return isChain ? next : nullptr;
}

namespace {

/// The ways to compute one chain.
class Association {
public:
  Association(IRRewriter &rewriter, ArrayRef<KsmmOp> chain,
              const GPUMachine &machine, bool allowsCublas)
      : rewriter(rewriter), chain(chain), machine(machine),
        allowsCublas(allowsCublas), splits(getGPUSplits(machine)),
        resources(machine) {
    KsmmOp last = chain.back();
    element = kron::getElementType(last.getInit());
    rows = cast<ShapedType>(last.getInit().getType())
               .getDimSize(last.getBatchDim());
    for (KsmmOp op : chain)
      patterns.push_back(op.getPattern());
  }

  /// Replaces the factors that are better multiplied with each other.
  void run();
  /// Replaces `count` after `count` factors, where they may be multiplied.
  void multiplyGiven(size_t count);

private:
  int64_t getElementBytes() const {
    return element.getIntOrFloatBitWidth() / 8;
  }
  double getBytes(double elements) const {
    return elements * double(getElementBytes());
  }
  double getLeastSeconds(const SparsePattern &pattern, int64_t rows) const;
  double ask(ArrayRef<SparsePattern> factors, int64_t rows, Layout layout,
             llvm::function_ref<double(ArrayRef<ModeProductOp>)> question);
  double estimateFactor(const SparsePattern &pattern, int64_t rows,
                        Layout layout);
  double estimateAlone(size_t index);
  double estimateApart(size_t begin, size_t end);
  double estimateTogether(size_t begin, size_t end);
  ArrayRef<SparsePattern> getFactors(size_t begin, size_t end) const {
    return ArrayRef(patterns).slice(begin, end - begin);
  }

  IRRewriter &rewriter;
  ArrayRef<KsmmOp> chain;
  const GPUMachine &machine;
  bool allowsCublas;
  GPUSplits splits;
  GPUResources resources;
  Type element;
  int64_t rows;
  SmallVector<SparsePattern> patterns;
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

/// The answer to `question` about the mode products of `factors`, on arrays
/// that nobody has.
double
Association::ask(ArrayRef<SparsePattern> factors, int64_t rows, Layout layout,
                 llvm::function_ref<double(ArrayRef<ModeProductOp>)> question) {
  Operation *front = chain.front();
  Location loc = front->getLoc();
  rewriter.setInsertionPoint(front);
  auto createRows = [&](int64_t features) -> Value {
    SmallVector<int64_t> shape{rows, features};
    if (layout == Layout::BatchLast)
      std::swap(shape[0], shape[1]);
    return tensor::EmptyOp::create(rewriter, loc, shape, element);
  };
  const SparsePattern &first = factors.front();
  Value array = createRows(first[0] * first[2] * first[3]);
  Operation *begin = array.getDefiningOp();
  SmallVector<KsmmOp> ops;
  for (const SparsePattern &pattern : factors) {
    Value weights = tensor::EmptyOp::create(rewriter, loc, pattern, element);
    Value init = createRows(pattern[0] * pattern[1] * pattern[3]);
    ops.push_back(cloneBare(rewriter, chain.front(), array, weights, init));
    ops.back().setLayout(layout);
    array = ops.back()->getResult(0);
  }
  for (KsmmOp op : ops)
    decomposeProduct(rewriter, op, ProductForm());
  SmallVector<ModeProductOp> products;
  for (Operation *op = begin; op != front; op = op->getNextNode())
    if (auto product = dyn_cast<ModeProductOp>(op))
      products.push_back(product);
  double answer = question(products);
  while (begin != front) {
    Operation *last = front->getPrevNode();
    begin = last == begin ? front : begin;
    rewriter.eraseOp(last);
  }
  return answer;
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
  for (size_t end = chain.size(); end > 0; end = best[end].begin) {
    size_t begin = best[end].begin;
    if (!best[end].isTogether)
      continue;
    auto microseconds = [](double seconds) {
      return llvm::formatv("{0:f1} us", seconds * 1e6).str();
    };
    remark::passed(
        chain.back()->getLoc(),
        remark::RemarkOpts::name("MultipliedOut").category("kron-decompose"))
        << "factors " + std::to_string(begin + 1) + " to " +
               std::to_string(end) + " of " + std::to_string(chain.size()) +
               " are multiplied with each other first: the chain takes " +
               microseconds(best.back().seconds) + " instead of " +
               microseconds(apart.back().seconds)
        << remark::metric("Factors", end - begin);
    multiplyOut(rewriter, chain.slice(begin, end - begin));
  }
}

void Association::multiplyGiven(size_t count) {
  for (size_t begin = 0; begin + count <= chain.size(); begin += count)
    if (isProductFull(getFactors(begin, begin + count)))
      multiplyOut(rewriter, chain.slice(begin, count));
}

void kron::associateChains(IRRewriter &rewriter, Operation *root,
                           const GPUMachine &machine, bool allowsCublas,
                           int64_t given) {
  SmallVector<KsmmOp> ends;
  root->walk([&](KsmmOp op) {
    if (canBeLast(op) && !getNext(op))
      ends.push_back(op);
  });
  for (KsmmOp end : ends) {
    SmallVector<KsmmOp> chain{end};
    while (auto previous = chain.back().getInput().getDefiningOp<KsmmOp>()) {
      if (getNext(previous) != chain.back())
        break;
      chain.push_back(previous);
    }
    std::reverse(chain.begin(), chain.end());
    if (chain.size() < 2)
      continue;
    Association association(rewriter, chain, machine, allowsCublas);
    if (given)
      association.multiplyGiven(given);
    else
      association.run();
  }
}
