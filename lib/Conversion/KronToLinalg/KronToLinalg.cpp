//===- KronToLinalg.cpp - Reference lowering -*- C++ -*-===//
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
#define GEN_PASS_DEF_CONVERTKRONTOLINALG
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct ConvertKronToLinalgPass : kron::impl::ConvertKronToLinalgBase<ConvertKronToLinalgPass> {
  using ConvertKronToLinalgBase::ConvertKronToLinalgBase;
  void runOnOperation() override {}
};
} // namespace
