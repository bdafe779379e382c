//===- ExpandViews.cpp - Views to offsets, sizes, strides -------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Upstream's passes queue and fold all operations of a function, of which
// unrolled register tiles are thousands, and views a few.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONEXPANDVIEWS
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronExpandViewsPass
    : kron::impl::KronExpandViewsBase<KronExpandViewsPass> {
  using KronExpandViewsBase::KronExpandViewsBase;

  void runOnOperation() override {
    SmallVector<Operation *> views;
    getOperation()->walk([&](Operation *op) {
      if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp,
              memref::ExtractAlignedPointerAsIndexOp>(op) ||
          isa_and_present<affine::AffineDialect>(op->getDialect()))
        views.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    populateAffineToStdConversionPatterns(patterns);
    // Patterns make affine.apply of their own.
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(views, std::move(patterns), config)))
      return signalPassFailure();
    // Users come first, so that loops without effect go with what they use:
    // LLVM keeps those.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }
};
} // namespace
