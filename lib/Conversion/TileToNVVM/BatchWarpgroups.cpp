//===- BatchWarpgroups.cpp - tile.contract_batch by warpgroups ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Of 16 bits with the batch last, rows of G and X are what wgmma reads from
// shared memory itself: lines of 128 bytes along K, whose units of 16 bytes are
// swizzled. Sums lie in registers as after mma.sync of each warp's 16 rows.
//
// Of f32, rows of G become operand A in registers, as that of mma.sync: each
// warp has 16 rows of its own. Rows of X become packed operands B in shared
// memory, which all warpgroups read: so values of G and X are split or paired
// once per CTA. Those of the next K step are prepared while the matrix unit
// multiplies.
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "kron/CodeGen/GPU/PackedOperand.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "kron/Plan/GPU/SparseGradPlan.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

//===----------------------------------------------------------------------===//
// Both operands in shared memory
//===----------------------------------------------------------------------===//

/// Rows of a warpgroup, bytes of a line and of eight of them, and what tells
/// lines of 128 bytes in the descriptor of an operand.
static constexpr int64_t kGroupRows = 64;
static constexpr int64_t kLineBytes = BatchBlocks::kLineBytes;
static constexpr int64_t kLinesBytes = 8 * kLineBytes;
static constexpr int64_t kSwizzle128 = int64_t(1) << 62;
/// Bytes along K that one instruction takes.
static constexpr int64_t kStepBytes = 32;

/// The descriptor of the operand in the pipeline stage at `slot`, from row
/// `row` on.
Value BatchProduct::getDescriptor(const BatchOperand &operand, Int slot,
                                  Int row) {
  Int offset = k.add(k.add(slot, operand.offset), k.mul(row, kLineBytes));
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), k.shared(offset));
  // Bytes between lines of eight rows, in units of 16; the other distance, of
  // lines along K, is not used.
  int64_t fields = kSwizzle128 | (kLinesBytes >> 4) << 32 | int64_t(1) << 16;
  return k.materialize(k.add(k.extend(k.floorDiv(Int(address), 16)), fields),
                       64);
}

/// Starts sums += the products of the pipeline stage at `slot`.
void BatchProduct::startProducts(MutableArrayRef<MmaC> sums, Int slot) {
  int64_t count = 4 * sums.size();
  // All lanes have the same, which ptxas has to be told.
  Int warpgroup = k.floorDiv(left.warp, blocks.kGroupWarps);
  warpgroup = Int(k.shuffle(k.materialize(warpgroup), 0));
  SmallVector<Value> descriptors{
      getDescriptor(left, slot, k.mul(warpgroup, kGroupRows)),
      getDescriptor(right, slot, 0)};
  StringRef type = blocks.element.isBF16() ? "bf16" : "f16";
  std::string text = "{\n.reg .b64 a, b;\nwgmma.fence.sync.aligned;\n";
  auto getOffset = [&](const BatchSide &side, int64_t byte) {
    int64_t block = byte / kLineBytes * blocks.getRows(side) * kLineBytes;
    return std::to_string((block + byte % kLineBytes) >> 4);
  };
  std::string operandA = "$" + std::to_string(2 * count);
  std::string operandB = "$" + std::to_string(2 * count + 1);
  for (int64_t byte = 0; byte < blocks.batchStep * blocks.elementBytes;
       byte += kStepBytes)
    text += "add.s64 a, " + operandA + ", " + getOffset(blocks.left, byte) +
            ";\nadd.s64 b, " + operandB + ", " + getOffset(blocks.right, byte) +
            ";\nwgmma.mma_async.sync.aligned.m64n" +
            std::to_string(blocks.getRows(blocks.right)) + "k16.f32." +
            (type + "." + type).str() + " " + listOperands(0, count) +
            ",a,b,1,1,1,0,0;\n";
  text += "wgmma.commit_group.sync.aligned;\n}";
  addToSums(k, sums, text, descriptors, "l");
}

//===----------------------------------------------------------------------===//
// Packed operands
//===----------------------------------------------------------------------===//

/// Where the packed operands of K step `step` are.
Int BatchProduct::getPackedOperands(Int step) {
  return k.add(k.mul(k.rem(step, 2), getPackedBytes(blocks)), packedOffset);
}

/// Prepares load number `macro` of chunks of K step `step`. Warps take blocks
/// of eight rows of chunks each.
void BatchProduct::prepareMacro(Int step, int64_t macro) {
  PackedOperand packed = getPackedOperand(blocks);
  int64_t tiles = packed.columns / 8, warps = blocks.getWarps();
  int64_t products = blocks.getMacroK() / blocks.getK();
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
        for (int64_t part = 0; part < blocks.getParts(); ++part)
          writePackedOperand(k, packed, math.getOperands(chunks, product, part),
                             k.offsetBytes(target, part * packed.getBytes()),
                             macro * products + product);
    });
  }
}

/// Prepares a tile's first K step; the others are prepared by the K steps
/// before.
void BatchProduct::prepareStep(Int step) {
  k.waitCopies(stages - 2);
  k.barrier();
  for (int64_t macro = 0; macro < blocks.batchStep / blocks.getMacroK();
       ++macro)
    prepareMacro(step, macro);
  fenceProxy(k);
}

/// sums += the products of K step `step`, whose packed operands have been
/// prepared, while those of the next K step are prepared and copies are started
/// by `issueNext`.
void BatchProduct::multiplyPacked(MutableArrayRef<MmaC> sums, Int step,
                                  function_ref<void()> issueNext) {
  // The next K step has arrived too.
  k.waitCopies(stages - 3);
  k.barrier();
  PackedOperand packed = getPackedOperand(blocks);
  Value descriptor = getPackedDescriptor(k, getPackedOperands(step));
  Value pointers[2];
  placeThread(left, getSlot(step), getFirstRow(left), pointers);
  int64_t products = blocks.getMacroK() / blocks.getK();
  for (int64_t macro = 0; macro < blocks.batchStep / blocks.getMacroK();
       ++macro) {
    SparseChunks rows[2] = {loadRow(left, pointers, macro, 0),
                            loadRow(left, pointers, macro, 1)};
    for (int64_t product = 0; product < products; ++product)
      for (int64_t part = 0; part < blocks.getParts(); ++part) {
        SparseA a = math.getOperandA(rows[0], rows[1], product, part);
        int64_t lane = part % blocks.lanesPerChunk;
        for (int64_t rightPart = 0; rightPart < blocks.rowsPerChunk;
             ++rightPart) {
          MutableArrayRef<MmaC> own(&getSum(blocks, sums, lane,
                                            part / blocks.lanesPerChunk,
                                            rightPart, 0, 0),
                                    blocks.right.tiles);
          bool continues = macro + product > 0 || !hasPartialSums;
          multiplyPackedOperand(k, packed, own, a, descriptor,
                                (rightPart * blocks.lanesPerChunk + lane) *
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
