//===- CPUOptions.h - The CPU that options of passes describe ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_MAPPING_TRANSFORMS_CPUOPTIONS_H
#define KRON_LIB_MAPPING_TRANSFORMS_CPUOPTIONS_H

#include "VerifyOptions.h"
#include "kron/Mapping/CPU/CPUPlanner.h"

namespace mlir::kron {

/// Access to the options of a pass that has `CPUOptions` (Passes.td): for a
/// class that is derived from the one that TableGen generates.
template <typename Base> struct WithCPUOptions : Base {
  using Base::Base;

protected:
  /// Whether all of them may be; else an error at the operation.
  LogicalResult verifyCPUOptions() {
    Operation *op = this->getOperation();
    return success(
        succeeded(verifyVectorBits(op, this->vectorBits)) &&
        succeeded(verifyVectorBits(op, this->wholeBits)) &&
        succeeded(verifyBytes(op, this->cacheBytes, this->l2Bytes,
                              this->streamBytes, this->streamColumnsBytes,
                              this->columnBytes, this->rowTileBytes)) &&
        succeeded(verifyRates(op, this->gigahertz, this->copyGigabytes,
                              this->wideFmas, this->wideLoads, this->vectorFmas,
                              this->vectorLoads, this->l2BytesPerCycle)));
  }

  CPUPlannerOptions getCPUOptions() const {
    CPUPlannerOptions options;
    options.vectorBits = this->vectorBits;
    options.wholeBits = this->wholeBits;
    options.caches = {this->cacheBytes, this->l2Bytes, this->columnBytes,
                      this->rowTileBytes};
    options.streamBytes = this->streamBytes;
    options.streamColumnsBytes = this->streamColumnsBytes;
    options.hasMatrixTiles = this->matrixTiles;
    options.hasPairProducts = this->pairProducts;
    options.mayPairProducts = this->pairProducts || this->slowPairProducts;
    options.hasFastShuffles = this->fastShuffles;
    options.rates = {this->gigahertz,       this->copyGigabytes,
                     this->wideFmas,        this->wideLoads,
                     this->vectorFmas,      this->vectorLoads,
                     this->l2BytesPerCycle, this->calibratedRates};
    return options;
  }
};

} // namespace mlir::kron

#endif // KRON_LIB_MAPPING_TRANSFORMS_CPUOPTIONS_H
