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

/// Arriving releases what a thread has written, waiting acquires what others
/// have.
static void lowerClusterBarrier(Lowering &lowering, BarrierOp op) {
  KernelBuilder &k = lowering.k;
  auto loop = op->getParentOfType<ForBoxesOp>();
  if (loop && loop.getWarps() && !lowering.turns.at(loop.getBoxes()).isLast)
    return;
  // Lanes without results of their own may be ahead: a warp arrives as one.
  if (lowering.blockLanes)
    k.syncWarp();
  if (!op.getWait())
    k.inlinePTX({}, "barrier.cluster.arrive.release.aligned;", "~{memory}", {});
  if (!op.getArrive())
    k.inlinePTX({}, "barrier.cluster.wait.acquire.aligned;", "~{memory}", {});
}

void tile::lower(Lowering &lowering, BarrierOp op) {
  KernelBuilder &k = lowering.k;
  if (op.getCluster())
    return lowerClusterBarrier(lowering, op);
  if (op.getOfBlock())
    return meetOfBlock(lowering, op);
  int64_t groups = op.getGroups();
  // Groups have different numbers of tiles.
  if (lowering.groups > 1 && op->getParentOfType<ForOp>())
    return k.namedBarrier(k.add(lowering.getGroup(), 1),
                          lowering.getGroupThreads());
  if (groups == 1)
    return k.barrier();
  int64_t threads = lowering.threads / groups;
  if (threads == 32)
    return k.syncWarp();
  Int group = k.floorDiv(k.threadId(), threads);
  if (op.getNumbered())
    return k.namedBarrier(k.add(group, 1), threads);
  // One barrier instruction per group: around one whose number is in a
  // register, ptxas may spill values that it keeps in registers otherwise.
  std::string text = "{ .reg .pred p;";
  for (int64_t number = 0; number < groups; ++number)
    text += " setp.eq.u32 p, $0, " + std::to_string(number) + "; @p bar.sync " +
            std::to_string(number + 1) + ", " + std::to_string(threads) + ";";
  k.inlinePTX({}, text + " }", "r,~{memory}", k.materialize(group, 32));
}
