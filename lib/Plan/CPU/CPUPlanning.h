//===- CPUPlanning.h - What planning a kron.fused shares --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_PLAN_CPU_CPUPLANNING_H
#define KRON_LIB_PLAN_CPU_CPUPLANNING_H

#include "kron/Plan/CPU/CPUPlan.h"

namespace mlir::kron {

/// Cost of a group per element of what it is applied to, with `inside` elements
/// inside its axis (-1: many): multiply-adds over lane use, plus one for
/// loading and storing.
double getGroupCost(int64_t sizeK, int64_t sizeN, int64_t inside,
                    int64_t lanes);

/// A group of one.
StageGroup startGroup(ModeProductOp product);

/// The mode products of `fused`, neighbours joined while that is cheaper.
/// `isFull`: lanes are full whatever lies inside.
SmallVector<StageGroup> groupProducts(FusedOp fused, int64_t lanes,
                                      bool isFull = false);

/// First axis that `groups` contract, and the one behind their last.
std::pair<unsigned, unsigned> getAxes(ArrayRef<StageGroup> groups);

/// The most elements that one position of `axis` takes before any of groups
/// [begin, end).
int64_t countSliceElements(const CPUPlan &plan, unsigned begin, unsigned end,
                           unsigned axis);

} // namespace mlir::kron

#endif // KRON_LIB_PLAN_CPU_CPUPLANNING_H
