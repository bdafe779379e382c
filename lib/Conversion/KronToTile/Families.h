//===- Families.h - Families of kernels as tile operations ---- -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H
#define KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Machine/GPUMachine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::kron {

/// What kernels are made of, and at the builder's position their launches.
struct TileSource {
  OpBuilder &builder;
  gpu::GPUModuleOp gpuModule;
  const GPUMachine &machine;
  FusedOp fused = nullptr;
  GPUPlanAttr plan = nullptr;
  /// What reads the results, of which rows of 8 bits are stored instead; null:
  /// they are stored.
  QuantizeOp quantize = nullptr;
};

/// Build the kernels of a plan for a fused region, which is of the kind that
/// their name says.
using TileFamily = LogicalResult(const TileSource &);
TileFamily tileBatched, tileFfma, tileDmma, tileMma, tileWgmma, tileSmallGroups,
    tileSparse, tileChain, tileSimt;

/// Build, in front of an operation, the kernels of the plan that it carries.
LogicalResult tilePairwise(const TileSource &source, PairOpInterface op);
LogicalResult tilePairwiseGrad(const TileSource &source, PairwiseGradOp op);
LogicalResult tileGradient(const TileSource &source, KsmmGradOp gradient);
LogicalResult tileQuantize(const TileSource &source, QuantizeOp op);

} // namespace mlir::kron

#endif // KRON_LIB_CONVERSION_KRONTOTILE_FAMILIES_H
