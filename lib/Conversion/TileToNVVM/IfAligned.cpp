//===- IfAligned.cpp - tile.if_aligned ------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lower(Lowering &lowering, IfAlignedOp op) {
  Value holds = isAligned(lowering, llvm::to_vector(op.getViews()),
                          op.getBytes(), op.getAxis());
  // Both parts take as much of rings.
  auto rings = lowering.rings;
  lowering.k.choose(
      holds,
      [&] {
        lowering.alignedParts.push_back(op);
        lowering.lower(op.getAligned().front());
        lowering.alignedParts.pop_back();
      },
      [&] {
        lowering.rings = rings;
        lowering.lower(op.getOther().front());
      });
}
