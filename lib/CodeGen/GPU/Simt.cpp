//===- Simt.cpp - General GPU code of a kron.pass ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Simt.h"
using namespace mlir;
using namespace mlir::kron;
std::optional<std::string> kron::getSimtUnsupportedReason(PassOp, const GPUMachine &) { return "not written"; }
LogicalResult kron::emitSimtPass(OpBuilder &, gpu::GPUModuleOp, PassOp pass, const GPUMachine &) { return pass.emitOpError("not written"); }
