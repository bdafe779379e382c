//===- InitAll.cpp - Register everything a kron tool needs -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/InitAll.h"
#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "kron/Dialect/Kron/IR/ShardingInterfaceImpl.h"
#include "kron/Dialect/Kron/IR/TilingInterfaceImpl.h"
#include "kron/Dialect/Kron/Transforms/BufferizableOpInterfaceImpl.h"
#include "kron/Dialect/Tile/IR/TileDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

using namespace mlir;

void kron::registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<KronDialect, tile::TileDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerShardingInterfaceExternalModels(registry);
  registerTilingInterfaceExternalModels(registry);
}

void kron::registerAllPasses() {
  mlir::registerAllPasses();
  registerCompilerPasses();
}
