//===- Associate.cpp - Chains of factors that may be multiplied -----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Associate.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "kron/Dialect/Kron/Transforms/Decompose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::hasWideRange(Type type) {
  return type.isF32() || type.isF64() || type.isBF16();
}

/// Whether `op` may be the last factor that is multiplied with others. Its
/// number of rows is known unless it `mayBeOpen`.
static bool canBeLast(KsmmOp op, bool mayBeOpen) {
  Type element = kron::getElementType(op.getInit());
  auto isKnown = [&](Value array, int64_t openDim) {
    auto type = dyn_cast<RankedTensorType>(array.getType());
    if (!type || type.getElementType() != element)
      return false;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size) ? int64_t(dim) != openDim : size == 0)
        return false;
    return true;
  };
  int64_t openDim = mayBeOpen ? int64_t(op.getBatchDim()) : -1;
  return hasWideRange(element) && op.getTransInput() == Transpose::N &&
         op.getTransWeights() == Transpose::N && !op.getPlanAttr() &&
         isKnown(op.getInput(), openDim) && isKnown(op.getWeights(), -1) &&
         isKnown(op.getInit(), openDim);
}

/// The factor that alone uses the result of `op` and may be multiplied with it;
/// else null.
static KsmmOp getNext(KsmmOp op, bool mayBeOpen) {
  bool isBare = canBeLast(op, mayBeOpen) && isBareProduct(op) &&
                kron::getAlpha(op).isOne() && kron::getBeta(op).isZero() &&
                op->getNumOperands() == 3;
  if (!isBare || !op->hasOneUse())
    return nullptr;
  auto next = dyn_cast<KsmmOp>(*op->user_begin());
  bool isChain = next && next->getBlock() == op->getBlock() &&
                 next.getInput() == op->getResult(0) &&
                 canBeLast(next, mayBeOpen) &&
                 next.getLayout() == op.getLayout() &&
                 next.getPrecision() == op.getPrecision() &&
                 kron::getElementType(next.getInit()) ==
                     kron::getElementType(op.getInit());
  return isChain ? next : nullptr;
}

void kron::forEachSparseChain(
    Operation *root, bool mayBeOpen,
    llvm::function_ref<void(ArrayRef<KsmmOp>)> visit) {
  SmallVector<KsmmOp> ends;
  root->walk([&](KsmmOp op) {
    if (canBeLast(op, mayBeOpen) && !getNext(op, mayBeOpen))
      ends.push_back(op);
  });
  for (KsmmOp end : ends) {
    SmallVector<KsmmOp> chain{end};
    while (auto previous = chain.back().getInput().getDefiningOp<KsmmOp>()) {
      if (getNext(previous, mayBeOpen) != chain.back())
        break;
      chain.push_back(previous);
    }
    std::reverse(chain.begin(), chain.end());
    if (chain.size() > 1)
      visit(chain);
  }
}

SparseChain::SparseChain(IRRewriter &rewriter, ArrayRef<KsmmOp> chain)
    : rewriter(rewriter), chain(chain.begin(), chain.end()) {
  KsmmOp last = chain.back();
  element = kron::getElementType(last.getInit());
  rows =
      cast<ShapedType>(last.getInit().getType()).getDimSize(last.getBatchDim());
  for (KsmmOp op : chain)
    patterns.push_back(op.getPattern());
}

/// The answer to `question` about the mode products of `factors`, on arrays
/// that nobody has.
double
SparseChain::ask(ArrayRef<SparsePattern> factors, int64_t rows, Layout layout,
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

void SparseChain::multiplyGiven(size_t count) {
  for (size_t begin = 0; begin + count <= chain.size(); begin += count)
    if (isProductFull(getFactors(begin, begin + count)))
      multiplyOut(rewriter, ArrayRef(chain).slice(begin, count));
}

void SparseChain::multiply(ArrayRef<Segment> segments, double seconds,
                           double apart) {
  auto microseconds = [](double seconds) {
    return llvm::formatv("{0:f1} us", seconds * 1e6).str();
  };
  for (auto [begin, end] : segments) {
    remark::passed(
        chain.back()->getLoc(),
        remark::RemarkOpts::name("MultipliedOut").category("kron-decompose"))
        << "factors " + std::to_string(begin + 1) + " to " +
               std::to_string(end) + " of " + std::to_string(chain.size()) +
               " are multiplied with each other first: the chain takes " +
               microseconds(seconds) + " instead of " + microseconds(apart)
        << remark::metric("Factors", end - begin);
    multiplyOut(rewriter, ArrayRef(chain).slice(begin, end - begin));
  }
}

/// Copies `chain`, and memory of its own between its factors, and yields the
/// result.
static SmallVector<KsmmOp> buildBranch(OpBuilder &builder, Location loc,
                                       ArrayRef<KsmmOp> chain) {
  IRMapping mapping;
  SmallVector<KsmmOp> copies;
  for (KsmmOp op : chain) {
    if (auto empty = op.getInit().getDefiningOp<tensor::EmptyOp>())
      builder.clone(*empty, mapping);
    copies.push_back(cast<KsmmOp>(builder.clone(*op, mapping)));
  }
  scf::YieldOp::create(builder, loc, copies.back()->getResult(0));
  return copies;
}

void SparseChain::chooseByRows(int64_t least) {
  KsmmOp last = chain.back();
  Location loc = last.getLoc();
  rewriter.setInsertionPoint(last);
  Value count =
      tensor::DimOp::create(rewriter, loc, last.getInit(), last.getBatchDim());
  Value bound = arith::ConstantIndexOp::create(rewriter, loc, least);
  Value isMany = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                       count, bound);
  markLaunchChoice(isMany, {{{"min_rows", least}}});
  SmallVector<KsmmOp> many;
  auto choice = scf::IfOp::create(
      rewriter, loc, isMany,
      [&](OpBuilder &builder, Location loc) {
        many = buildBranch(builder, loc, chain);
      },
      [&](OpBuilder &builder, Location loc) {
        buildBranch(builder, loc, chain);
      });
  rewriter.replaceAllUsesWith(last->getResult(0), choice.getResult(0));
  for (KsmmOp op : llvm::reverse(chain)) {
    Operation *init = op.getInit().getDefiningOp();
    rewriter.eraseOp(op);
    if (init && isOpTriviallyDead(init))
      rewriter.eraseOp(init);
  }
  chain = std::move(many);
}
