//===- RaiseShuffles.cpp - Shuffle chains to mode products ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Kronecker products are usually written as reshape, matmul, transpose, once
// per factor. This pass finds such chains, has an AxisTracker follow them from
// every possible start, and replaces the stretch with the most contractions
// that ends with all axes in their original order.
//
//===----------------------------------------------------------------------===//

#include "EmitModeProducts.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONRAISESHUFFLES
#include "kron/Dialect/Kron/Transforms/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {

using Chain = SmallVector<ChainStep>;

/// What makes one stretch of a chain a better choice than another.
struct Score {
  unsigned numFactors = 0;
  unsigned numTransposes = 0;
  size_t length = 0;
  int64_t factorElements = 0;

  /// What removes more, then what has smaller factors: the larger operand of
  /// the first contraction is rather the array.
  bool isBetterThan(const Score &other) const {
    return std::make_tuple(numFactors, numTransposes, length, -factorElements) >
           std::make_tuple(other.numFactors, other.numTransposes, other.length,
                           -other.factorElements);
  }
};

struct Candidate {
  Chain steps;
  Score score;
};

class Raiser {
public:
  /// Looks for a chain that ends at `root` or before and replaces it. Returns
  /// false if there is none.
  bool raiseFrom(Operation *root);
  /// True if nothing can be found from `op` any more, or it has been erased.
  bool isDone(Operation *op) const {
    return exhausted.contains(op) || erased.contains(op);
  }

private:
  void visitChains(Operation *op, Chain &reversed,
                   function_ref<void(ArrayRef<ChainStep>)> callback);
  void replace(ArrayRef<ChainStep> steps, unsigned numTransposes);
  void eraseDead(SmallVector<Operation *> worklist);

  llvm::DenseSet<Operation *> exhausted;
  llvm::DenseSet<Operation *> erased;
};

} // namespace

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Longest chain that is considered as a whole, which bounds the time spent:
/// more than 50 factors in the wordiest spelling.
static constexpr size_t kMaxChainLength = 256;

/// The dimension of `value` whose size `user` asks for, if that is all it does.
static std::optional<int64_t> getQueriedDim(Value value, Operation *user) {
  auto dimOp = dyn_cast<tensor::DimOp>(user);
  if (!dimOp)
    return std::nullopt;
  std::optional<int64_t> dim = dimOp.getConstantIndex();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!dim || !type || *dim < 0 || *dim >= type.getRank())
    return std::nullopt;
  return dim;
}

/// True if nothing but one operand, and sizes that can be had otherwise, depend
/// on `value`.
static bool hasOneRealUse(Value value) {
  return llvm::count_if(value.getUses(), [&](OpOperand &use) {
           return !getQueriedDim(value, use.getOwner());
         }) == 1;
}

void Raiser::visitChains(Operation *op, Chain &reversed,
                         function_ref<void(ArrayRef<ChainStep>)> callback) {
  for (OpOperand *data : getDataOperands(op)) {
    reversed.push_back({op, data});
    Operation *producer = data->get().getDefiningOp();
    if (producer && producer->getBlock() == op->getBlock() &&
        reversed.size() < kMaxChainLength && hasOneRealUse(data->get()) &&
        !getDataOperands(producer).empty())
      visitChains(producer, reversed, callback);
    else
      callback(Chain(llvm::reverse(reversed)));
    reversed.pop_back();
  }
}

/// True if `step` moves axes.
static bool isTranspose(const ChainStep &step) {
  return isPermutingCopy(step.op) &&
         !llvm::is_sorted(getCopiedPositions(cast<linalg::LinalgOp>(step.op)));
}

/// True if raising `steps` is worth it. Matrix products without any shuffling
/// around them are left to those who know them as such.
static bool isShuffleChain(ArrayRef<ChainStep> steps,
                           const AxisTracker &tracker) {
  if (tracker.getProducts().empty())
    return false;
  if (llvm::any_of(steps, isTranspose))
    return true;
  if (tracker.getNumContractedPlaces() < 2)
    return false;
  if (llvm::any_of(steps,
                   [](const ChainStep &step) { return isReshape(step.op); }))
    return true;
  return llvm::all_of(steps,
                      [](const ChainStep &step) {
                        auto type =
                            cast<RankedTensorType>(step.data->get().getType());
                        return type.getRank() > 2;
                      }) &&
         llvm::all_of(tracker.getProducts(), [](const TrackedProduct &product) {
           return llvm::none_of(product.groups, [](const FactorGroup &group) {
             return group.role == FactorGroup::Role::Shared;
           });
         });
}

static Score getScore(ArrayRef<ChainStep> steps, const AxisTracker &tracker) {
  Score score;
  score.numFactors = tracker.getProducts().size();
  for (const ChainStep &step : steps) {
    if (isContraction(step.op))
      score.numTransposes += getFactor(step).numTransposes;
    else
      score.numTransposes += isTranspose(step);
  }
  score.length = steps.size();
  for (const TrackedProduct &product : tracker.getProducts()) {
    int64_t elements = 1;
    for (int64_t size :
         cast<RankedTensorType>(product.factor.getType()).getShape())
      elements *= ShapedType::isDynamic(size) ? 1 : size;
    score.factorElements += elements;
  }
  return score;
}

/// Replaces `best` by the best stretch of `chain` if that is better.
static void findBestStretch(ArrayRef<ChainStep> chain, Candidate &best) {
  for (; !chain.empty(); chain = chain.drop_front()) {
    size_t numContractions = llvm::count_if(
        chain, [](const ChainStep &step) { return isContraction(step.op); });
    if (numContractions == 0 || numContractions < best.score.numFactors)
      return;
    AxisTracker tracker(chain.front().data->get());
    for (size_t length = 1; length <= chain.size(); ++length) {
      if (failed(tracker.apply(chain[length - 1])))
        break;
      ArrayRef<ChainStep> steps = chain.take_front(length);
      if (!tracker.isHome() || !isShuffleChain(steps, tracker))
        continue;
      Score score = getScore(steps, tracker);
      if (score.isBetterThan(best.score))
        best = {Chain(steps), score};
    }
  }
}

bool Raiser::raiseFrom(Operation *root) {
  Candidate best;
  Chain reversed;
  llvm::DenseSet<Operation *> seen;
  visitChains(root, reversed, [&](ArrayRef<ChainStep> chain) {
    for (const ChainStep &step : chain)
      seen.insert(step.op);
    findBestStretch(chain, best);
  });
  if (best.steps.empty()) {
    // Every stretch of every chain behind the root has been tried.
    exhausted.insert(seen.begin(), seen.end());
    return false;
  }
  replace(best.steps, best.score.numTransposes);
  return true;
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

void Raiser::eraseDead(SmallVector<Operation *> worklist) {
  llvm::DenseSet<Operation *> gone;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (gone.contains(op) || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.push_back(producer);
    gone.insert(op);
    op->erase();
  }
  erased.insert(gone.begin(), gone.end());
}

void Raiser::replace(ArrayRef<ChainStep> steps, unsigned numTransposes) {
  AxisTracker tracker(steps.front().data->get());
  for (const ChainStep &step : steps)
    (void)tracker.apply(step);

  // Sizes of intermediates follow from those of the source.
  for (auto [index, step] : llvm::enumerate(steps.drop_back())) {
    const AtomDims &dims = tracker.getLayout(index + 1);
    Value array = step.getResult();
    for (Operation *user : llvm::make_early_inc_range(array.getUsers())) {
      std::optional<int64_t> dim = getQueriedDim(array, user);
      if (!dim)
        continue;
      OpBuilder builder(user);
      user->getResult(0).replaceAllUsesWith(
          emitSize(builder, user->getLoc(), tracker, dims[*dim]));
      user->erase();
    }
  }

  Operation *last = steps.back().op;
  OpBuilder builder(last);
  auto resultType = cast<RankedTensorType>(last->getResult(0).getType());
  Value result = emitModeProducts(builder, last->getLoc(), tracker,
                                  steps.size(), resultType);
  remark::passed(
      last->getLoc(),
      remark::RemarkOpts::name("shuffle-chain").category("kron-raise"))
      << remark::add("raised a chain to mode products")
      << remark::metric("Factors", tracker.getProducts().size())
      << remark::metric("TransposesRemoved", numTransposes);
  last->getResult(0).replaceAllUsesWith(result);
  eraseDead({last});
}

namespace {
struct KronRaiseShufflesPass
    : kron::impl::KronRaiseShufflesBase<KronRaiseShufflesPass> {
  using KronRaiseShufflesBase::KronRaiseShufflesBase;

  void runOnOperation() override {
    SmallVector<Operation *> roots;
    getOperation()->walk([&](Operation *op) {
      if (!getDataOperands(op).empty())
        roots.push_back(op);
    });
    // Last first: a chain is best seen from its end.
    Raiser raiser;
    for (Operation *root : llvm::reverse(roots))
      while (!raiser.isDone(root) && raiser.raiseFrom(root))
        ;
  }
};
} // namespace
