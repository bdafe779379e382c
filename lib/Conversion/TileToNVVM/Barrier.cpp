//===- Barrier.cpp - tile.barrier -----------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lowerBarrier(Lowering &lowering, BarrierOp op) {
  KernelBuilder &k = lowering.k;
  int64_t groups = op.getGroups();
  if (groups == 1)
    return k.barrier();
  // One barrier instruction per group: around one whose number is in a
  // register, ptxas spills values that it keeps in registers otherwise.
  int64_t threads = lowering.threads / groups;
  Int group = k.floorDiv(k.threadId(), threads);
  std::string text = "{ .reg .pred p;";
  for (int64_t number = 0; number < groups; ++number)
    text += " setp.eq.u32 p, $0, " + std::to_string(number) + "; @p bar.sync " +
            std::to_string(number + 1) + ", " + std::to_string(threads) + ";";
  k.inlinePTX({}, text + " }", "r,~{memory}", k.materialize(group, 32));
}
