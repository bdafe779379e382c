//===- SparseGradPacked.cpp - Gradients by packed operands ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows of G become operand A of warpgroup instructions in registers, as that of
// mma.sync: each warp has 16 rows of its own. Rows of X become packed operands
// B in shared memory, which all warpgroups read: so values of G and X are split
// or paired once per CTA. Those of the next K step are prepared while the
// matrix unit multiplies.
//
//===----------------------------------------------------------------------===//

#include "PackedOperand.h"
#include "SparseGradKernel.h"
#include "WgmmaSums.h"

using namespace mlir;
using namespace mlir::kron;

/// Where the packed operands of K step `step` are.
Int SparseGradKernel::getPackedOperands(Int step) {
  return k.add(k.mul(k.rem(step, 2), plan.getPackedBytes()), packedOffset);
}

/// Prepares load number `macro` of chunks of K step `step`. Warps take blocks
/// of eight rows of chunks each.
void SparseGradKernel::prepareMacro(Int step, int64_t macro) {
  PackedOperand packed = plan.getPackedOperand();
  int64_t tiles = packed.columns / 8, warps = plan.getWarps();
  int64_t products = plan.getMacroK() / plan.getK();
  for (int64_t first = 0; first < tiles; first += warps) {
    Int tile = k.add(k.warpId(), first);
    Value exists;
    if (first + warps > tiles)
      exists = k.less(tile, tiles);
    k.ifThen(exists, [&] {
      Value pointers[2];
      placeThread(right, getSlot(step), k.mul(tile, 8), pointers);
      SparseChunks chunks = loadRow(right, pointers, macro, /*row=*/0);
      Value target = k.shared(k.add(
          getPackedOperands(step),
          k.add(k.mul(tile, PackedOperand::kCoreBytes), k.mul(k.laneId(), 4))));
      for (int64_t product = 0; product < products; ++product)
        for (int64_t part = 0; part < plan.getParts(); ++part)
          writePackedOperand(k, packed, math.getOperands(chunks, product, part),
                             k.offsetBytes(target, part * packed.getBytes()),
                             macro * products + product);
    });
  }
}

/// Prepares a tile's first K step; the others are prepared by the K steps
/// before.
void SparseGradKernel::prepareStep(Int step) {
  k.waitCopies(plan.stages - 2);
  k.barrier();
  for (int64_t macro = 0; macro < plan.batchStep / plan.getMacroK(); ++macro)
    prepareMacro(step, macro);
  fenceProxy(k);
}

/// sums += the products of K step `step`, whose packed operands have been
/// prepared, while those of the next K step are prepared and copies are started
/// by `issueNext`.
void SparseGradKernel::multiplyPacked(MutableArrayRef<MmaC> sums, Int step,
                                      function_ref<void()> issueNext) {
  // The next K step has arrived too.
  k.waitCopies(plan.stages - 3);
  k.barrier();
  PackedOperand packed = plan.getPackedOperand();
  Value descriptor = getPackedDescriptor(k, getPackedOperands(step));
  Value pointers[2];
  placeThread(left, getSlot(step), getFirstRow(left), pointers);
  int64_t products = plan.getMacroK() / plan.getK();
  for (int64_t macro = 0; macro < plan.batchStep / plan.getMacroK(); ++macro) {
    SparseChunks rows[2] = {loadRow(left, pointers, macro, 0),
                            loadRow(left, pointers, macro, 1)};
    for (int64_t product = 0; product < products; ++product)
      for (int64_t part = 0; part < plan.getParts(); ++part) {
        SparseA a = math.getOperandA(rows[0], rows[1], product, part);
        int64_t lane = part % plan.lanesPerChunk;
        for (int64_t rightPart = 0; rightPart < plan.rowsPerChunk;
             ++rightPart) {
          MutableArrayRef<MmaC> own(
              &getSum(sums, lane, part / plan.lanesPerChunk, rightPart, 0, 0),
              plan.right.tiles);
          bool continues = macro + product > 0 || !plan.hasPartialSums;
          multiplyPackedOperand(k, packed, own, a, descriptor,
                                (rightPart * plan.lanesPerChunk + lane) *
                                    packed.getBytes(),
                                macro * products + product, continues);
        }
      }
    if (macro == 0)
      issueNext();
    prepareMacro(k.add(step, 1), macro);
  }
  waitForSums(k, sums);
  // What was prepared is read behind the next K step's barrier.
  fenceProxy(k);
}
