//===- Associate.h - Which factors of a chain are multiplied first --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H
#define KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/Transforms/SparseRewrites.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::kron {

struct CPUPlannerOptions;

/// Whether values of `type` have a range that products of weights do not leave
/// where those with X stay in it. That of f16 is too narrow: weights of few
/// thousandths are common.
bool hasWideRange(Type type);

/// A chain of kron.ksmm, on tensors, whose neighbouring factors may be
/// multiplied with each other, and what planners are asked about it. Nothing
/// but the number of rows may be unknown.
class SparseChain {
public:
  SparseChain(IRRewriter &rewriter, ArrayRef<KsmmOp> chain);

  /// Replaces `count` after `count` factors, where they may be multiplied.
  void multiplyGiven(size_t count);

protected:
  /// Factors from the first to before the second number.
  using Segment = std::pair<size_t, size_t>;

  double getBytes(double elements) const {
    return elements * double(element.getIntOrFloatBitWidth() / 8);
  }
  int64_t getElementBytes() const {
    return element.getIntOrFloatBitWidth() / 8;
  }
  ArrayRef<SparsePattern> getFactors(size_t begin, size_t end) const {
    return ArrayRef(patterns).slice(begin, end - begin);
  }
  /// The answer to `question` about the mode products of `factors`, on arrays
  /// that nobody has.
  double ask(ArrayRef<SparsePattern> factors, int64_t rows, Layout layout,
             llvm::function_ref<double(ArrayRef<ModeProductOp>)> question);
  /// Multiplies the factors of each of `segments`, the last one first, with
  /// each other. A remark says that the chain takes `seconds` then, and `apart`
  /// before.
  void multiply(ArrayRef<Segment> segments, double seconds, double apart);
  /// Replaces the chain by a copy of it for fewer than `least` rows, of which a
  /// launch has an unknown number, and one for others, which is the chain from
  /// here on.
  void chooseByRows(int64_t least);

  IRRewriter &rewriter;
  SmallVector<KsmmOp> chain;
  SmallVector<SparsePattern> patterns;
  Type element;
  /// ShapedType::kDynamic: unknown.
  int64_t rows;
};

/// Visits all chains of two factors and more in `root` that may be multiplied
/// with each other, the first factor first; those of an unknown number of rows
/// only if `mayBeOpen`. `visit` may replace its factors.
void forEachSparseChain(Operation *root, bool mayBeOpen,
                        llvm::function_ref<void(ArrayRef<KsmmOp>)> visit);

/// Multiplies neighbouring factors of chains of kron.ksmm in `root`, on tensors
/// of known shapes, with each other where that and one product with the rows
/// takes less time by the cost model than the rows one factor after the other.
/// If it `allowsCublas`, products may be calls of that. With `given` not 0, so
/// many of them are, whatever that takes, wherever they may be.
void associateChains(IRRewriter &rewriter, Operation *root,
                     const GPUMachine &machine, bool allowsCublas,
                     int64_t given);

/// The same for a CPU. A chain of an unknown number of rows is computed in both
/// ways: a launch chooses.
void associateChains(IRRewriter &rewriter, Operation *root,
                     const CPUPlannerOptions &options, int64_t given);

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_ASSOCIATE_H
