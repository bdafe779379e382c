//===- Chain.h - Named operations as chains of mode products ----*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The one place that knows how the four named operations are mode products:
// which axes their arrays are viewed with and which axis every factor
// contracts. What is built from it (open mode products on tensors, a kron.fused
// on memrefs) is the business of the passes.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_KRON_TRANSFORMS_CHAIN_H
#define KRON_DIALECT_KRON_TRANSFORMS_CHAIN_H

#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {

/// How an array is seen: dimension `d` as stored is split into axes of the
/// sizes `groups[d]`; axis `k` of the view is then axis `permutation[k]` of
/// those.
struct ArrayView {
  SmallVector<SmallVector<int64_t>> groups;
  /// Whether another dimension as stored, the last one, is of size 1 and no
  /// axis of the view.
  bool dropsLast = false;
  /// Empty: the identity.
  SmallVector<int64_t> permutation;

  /// The shape of the view, before and after the permutation.
  SmallVector<int64_t> getExpandedShape() const;
  SmallVector<int64_t> getShape() const;
};

/// One factor of a chain.
struct ChainStep {
  Value factor;
  /// The shape of the factor as the mode product takes it: without dimensions
  /// of size 1 that would name an axis.
  SmallVector<int64_t> factorShape;
  SmallVector<int64_t> factorDims;
  int64_t axis;
  bool conjugate = false;
};

/// A named operation as views and steps, in the order of application.
struct Chain {
  ArrayView input;
  ArrayView output;
  SmallVector<ChainStep> steps;
  bool conjugateInput = false;
  Precision precision = Precision::Full;
  Attribute plan;
};

/// What the last mode product of a chain does beside its product.
struct ChainScaling {
  Value alpha;
  Value beta;
  TypedAttr staticAlpha;
  TypedAttr staticBeta;
  /// Z, viewed like the destination, or null.
  Value addend;
};

/// `op`, one of the named operations with factors of static shape, as a chain
/// with the steps in the cheapest order and without constant identities.
/// `halvesFirst`: multiply-adds of the first step count half.
Chain describeChain(ScaledOpInterface op, bool halvesFirst = false);

/// Sorts the steps of `chain` into the cheapest order.
void orderSteps(Chain &chain, bool halvesFirst = false);

/// Builds the mode products of `chain` on tensors: `input` and `init` are
/// viewed as the chain says, `factors` belong to its steps. All but the last
/// write tensors of the accumulation type. The last one carries the scaling and
/// the plan; its result is returned.
Value emitChain(OpBuilder &builder, Location loc, const Chain &chain,
                Value input, ValueRange factors, Value init,
                const ChainScaling &scaling);

/// A kron.fused on `inputs` and `init`; `body` gets the block arguments and
/// returns the value to yield.
FusedOp createFusedOp(OpBuilder &builder, Location loc, ValueRange inputs,
                      Value init, ArrayRef<int64_t> inputPermutation,
                      Attribute plan,
                      llvm::function_ref<Value(OpBuilder &, ValueRange)> body);

/// Replaces the mode products of `chain`, on tensors, by a kron.fused in the
/// place of the last one. The result of each is only the input of the next,
/// reshaped or not. A transpose that makes the input of the first and nothing
/// else becomes the input's permutation.
FusedOp fuseChain(IRRewriter &rewriter, ArrayRef<ModeProductOp> chain);

/// Takes the sizes of the result of `op`, and of what it is reshaped to, from
/// its destination.
void replaceSizes(IRRewriter &rewriter, ModeProductOp op);

} // namespace mlir::kron

#endif // KRON_DIALECT_KRON_TRANSFORMS_CHAIN_H
