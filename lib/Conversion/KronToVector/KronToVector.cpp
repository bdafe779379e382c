//===- KronToVector.cpp - CPU vector lowering -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "kron/Dialect/Kron/IR/KronOps.h"

namespace mlir::kron {
#define GEN_PASS_DEF_CONVERTKRONTOVECTOR
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct ConvertKronToVectorPass : kron::impl::ConvertKronToVectorBase<ConvertKronToVectorPass> {
  using ConvertKronToVectorBase::ConvertKronToVectorBase;
  void runOnOperation() override {}
};
} // namespace
