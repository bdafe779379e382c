//===- SparseGradWgmma.cpp - Products of a gradient by warpgroups ---------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// With the batch last, rows of G and X are what wgmma reads from shared memory
// itself: lines of 128 bytes along K, whose units of 16 bytes are swizzled.
// Sums lie in registers as after mma.sync of each warp's 16 rows.
//
//===----------------------------------------------------------------------===//

#include "SparseGradKernel.h"
#include "WgmmaSums.h"

using namespace mlir;
using namespace mlir::kron;

/// Rows of a warpgroup, bytes of a line and of eight of them, and what tells
/// lines of 128 bytes in the descriptor of an operand.
static constexpr int64_t kGroupRows = 64;
static constexpr int64_t kLineBytes = SparseGradPlan::kLineBytes;
static constexpr int64_t kLinesBytes = 8 * kLineBytes;
static constexpr int64_t kSwizzle128 = int64_t(1) << 62;
/// Bytes along K that one instruction takes.
static constexpr int64_t kStepBytes = 32;

/// The descriptor of the operand in the pipeline stage at `slot`, from row
/// `row` on.
Value SparseGradKernel::getDescriptor(const SparseGradOperand &operand,
                                      Int slot, Int row) {
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
void SparseGradKernel::startProducts(MutableArrayRef<MmaC> sums, Int slot) {
  int64_t count = 4 * sums.size();
  // All lanes have the same, which ptxas has to be told.
  Int warpgroup = k.floorDiv(left.warp, plan.kGroupWarps);
  warpgroup = Int(k.shuffle(k.materialize(warpgroup), 0));
  SmallVector<Value> descriptors{
      getDescriptor(left, slot, k.mul(warpgroup, kGroupRows)),
      getDescriptor(right, slot, 0)};
  StringRef type = plan.element.isBF16() ? "bf16" : "f16";
  std::string text = "{\n.reg .b64 a, b;\nwgmma.fence.sync.aligned;\n";
  auto getOffset = [&](const SparseGradSide &side, int64_t byte) {
    int64_t block = byte / kLineBytes * plan.getRows(side) * kLineBytes;
    return std::to_string((block + byte % kLineBytes) >> 4);
  };
  std::string operandA = "$" + std::to_string(2 * count);
  std::string operandB = "$" + std::to_string(2 * count + 1);
  for (int64_t byte = 0; byte < plan.batchStep * plan.elementBytes;
       byte += kStepBytes)
    text += "add.s64 a, " + operandA + ", " + getOffset(plan.left, byte) +
            ";\nadd.s64 b, " + operandB + ", " + getOffset(plan.right, byte) +
            ";\nwgmma.mma_async.sync.aligned.m64n" +
            std::to_string(plan.getRows(plan.right)) + "k16.f32." +
            (type + "." + type).str() + " " + listOperands(0, count) +
            ",a,b,1,1,1,0,0;\n";
  text += "wgmma.commit_group.sync.aligned;\n}";
  addToSums(k, sums, text, descriptors, "l");
}
