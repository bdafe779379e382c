//===- ForBoxes.cpp - tile.for_boxes --------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

void tile::lowerForBoxes(Lowering &lowering, ForBoxesOp op) {
  KernelBuilder &k = lowering.k;
  int64_t count = op.getCount(), together = op.getTogether();
  int64_t threads = lowering.threads;
  auto lowerBody = [&](Int first, int64_t number) {
    SmallVector<Int> boxes;
    for (int64_t box = 0; box < number; ++box)
      boxes.push_back(k.add(k.add(k.threadId(), first), box * threads));
    lowering.boxes[op.getBoxes()] = boxes;
    lowering.lower(*op.getBody());
  };
  int64_t end = op.getExcess() ? llvm::alignTo(count, threads) : count;
  int64_t begin = 0, perTurn = together * threads;
  int64_t turns = end / perTurn;
  if (turns > static_cast<int64_t>(op.getUnrolled())) {
    begin = turns * perTurn;
    k.rolledLoop(0, begin, perTurn,
                 [&](Int first) { lowerBody(first, together); });
  }
  while (begin + threads <= end) {
    int64_t number = std::min(together, (end - begin) / threads);
    lowerBody(begin, number);
    begin += number * threads;
  }
  // What not all threads have.
  if (begin < end)
    k.ifThen(k.less(k.add(k.threadId(), begin), count),
             [&] { lowerBody(begin, 1); });
}
