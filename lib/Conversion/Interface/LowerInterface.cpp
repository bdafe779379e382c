//===- LowerInterface.cpp - C-callable entry functions -*- C++ -*-===//
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
#define GEN_PASS_DEF_KRONLOWERINTERFACE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
struct KronLowerInterfacePass : kron::impl::KronLowerInterfaceBase<KronLowerInterfacePass> {
  using KronLowerInterfaceBase::KronLowerInterfaceBase;
  void runOnOperation() override {}
};
} // namespace
