//===- SelectSchedule.cpp - Choose #kron.schedule -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONSELECTSCHEDULE
#include "kron/Dialect/Kron/Transforms/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronSelectSchedulePass : kron::impl::KronSelectScheduleBase<KronSelectSchedulePass> {
  using KronSelectScheduleBase::KronSelectScheduleBase;
  void runOnOperation() override {}
};
} // namespace
