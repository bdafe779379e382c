//===- WgmmaInstruction.cpp - Series of wgmma instructions ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows and columns may be fed to the matrix unit in any order, as long as data
// and factor agree. The order of the depth is chosen such that a thread's
// elements are neighbours in shared memory (innermost axis: 4 f32 that two
// instructions share; other axes: 2 f32 or 4 halves of successive positions),
// that of the columns such that a thread ends up with 4 successive ones.
//
//===----------------------------------------------------------------------===//

#include "WgmmaInstruction.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a core matrix: 8 columns x 16 bytes.
static constexpr int64_t kCoreBytes = 128;

/// The number whose parts, a few bits of `number` each, are moved elsewhere.
struct BitMove {
  int64_t from;
  int64_t mask;
  int64_t to;
};

static Int moveBits(KernelBuilder &kernel, Int number,
                    ArrayRef<BitMove> moves) {
  Int result = 0;
  for (const BitMove &move : moves) {
    Int part = kernel.floorDiv(number, int64_t(1) << move.from);
    if (move.mask >= 0)
      part = kernel.bitAnd(part, move.mask);
    result = kernel.add(result, kernel.mul(part, int64_t(1) << move.to));
  }
  return result;
}

Int kron::getWgmmaDepth(KernelBuilder &kernel, const WgmmaStage &stage,
                        Int slot) {
  if (stage.kind == WgmmaKind::Half) {
    if (stage.innermost)
      return slot;
    // Slots 8h + 2t + e <-> positions 4t + 2h + e of 16.
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
  }
  // Slots 8s + 4h + t <-> positions 4t + 2s + h of 16.
  if (stage.innermost)
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {0, 3, 2}, {3, 1, 1}, {2, 1, 0}});
  // Slots 4h + t <-> positions 2t + h of 8.
  return moveBits(kernel, slot, {{3, -1, 3}, {0, 3, 1}, {2, 1, 0}});
}

Int kron::getWgmmaSlot(KernelBuilder &kernel, const WgmmaStage &stage,
                       Int depth) {
  if (stage.innermost)
    return moveBits(kernel, depth,
                    {{4, -1, 4}, {2, 3, 0}, {1, 1, 3}, {0, 1, 2}});
  return moveBits(kernel, depth, {{3, -1, 3}, {1, 3, 0}, {0, 1, 2}});
}

Int kron::getWgmmaResult(KernelBuilder &kernel, const WgmmaStage &stage,
                         Int slot) {
  if (!stage.innermost)
    return slot;
  // Slots 8h + 2t + e <-> columns 4t + 2h + e of 16.
  return moveBits(kernel, slot,
                  {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
}

void kron::emitWgmmaFactor(KernelBuilder &kernel, const WgmmaStage &stage,
                           const WgmmaFactor &factor, const StageFactor &source,
                           Type element, int64_t threads) {
  int64_t elementBytes = getElementBytes(element);
  bool isHalf = stage.kind == WgmmaKind::Half;
  int64_t coreDepth = isHalf ? 8 : 4;
  Type f32 = kernel.builder.getF32Type();
  kernel.rolledLoop(
      kernel.threadId(), stage.paddedDepth * stage.paddedResults, threads,
      [&](Int index) {
        Int column = kernel.rem(index, stage.paddedResults);
        Int slot = kernel.floorDiv(index, stage.paddedResults);
        Int p = getWgmmaDepth(kernel, stage, slot);
        Int q = getWgmmaResult(kernel, stage, column);
        Value exists;
        if (stage.depth != stage.paddedDepth)
          exists = kernel.less(p, stage.depth);
        if (stage.results != stage.paddedResults)
          exists = kernel.both(exists, kernel.less(q, stage.results));
        auto load = [&]() -> SmallVector<Value> {
          Int offset = kernel.add(
              kernel.mul(kernel.extend(p), source.depthStride),
              kernel.mul(kernel.extend(q), source.resultStride));
          Value pointer =
              kernel.offsetBytes(source.base, kernel.mul(offset, elementBytes));
          return {kernel.load(element, pointer, CacheHint::ReadOnly)};
        };
        Value value = kernel
                          .ifElse(exists, element, load,
                                  [&]() -> SmallVector<Value> {
                                    return {kernel.constant(element, 0.0)};
                                  })
                          .front();
        Int core = kernel.add(kernel.mul(kernel.floorDiv(slot, coreDepth),
                                         stage.paddedResults / 8),
                              kernel.floorDiv(column, 8));
        Int inside = kernel.add(
            kernel.mul(kernel.bitAnd(column, 7), 16),
            kernel.mul(kernel.bitAnd(slot, coreDepth - 1), isHalf ? 2 : 4));
        Value target = kernel.shared(kernel.add(
            factor.offset, kernel.add(kernel.mul(core, kCoreBytes), inside)));
        if (isHalf) {
          kernel.store(value, target);
          return;
        }
        if (!element.isF32())
          value = LLVM::FPExtOp::create(kernel.builder, kernel.loc, f32, value);
        auto [high, low] = kernel.splitTF32(value);
        kernel.store(high, target);
        if (stage.kind == WgmmaKind::Split)
          kernel.store(low, kernel.offsetBytes(target, stage.factorBytes));
      });
}

SmallVector<Value> kron::emitWgmma(KernelBuilder &kernel,
                                   const WgmmaStage &stage,
                                   const WgmmaFactor &factor,
                                   Value descriptorBase, const WgmmaRows &rows,
                                   Type element) {
  int64_t numSums = stage.paddedResults / 2;
  int64_t numSteps = stage.paddedDepth / stage.getStep();
  auto list = [](int64_t first, int64_t count) {
    SmallVector<std::string> names;
    for (int64_t index = first; index < first + count; ++index)
      names.push_back("$" + std::to_string(index));
    return "{" + llvm::join(names, ",") + "}";
  };
  std::string sums = list(0, numSums);
  std::string type = stage.kind == WgmmaKind::Half
                         ? (element.isBF16() ? "bf16.bf16" : "f16.f16")
                         : "tf32.tf32";
  std::string instruction =
      "wgmma.mma_async.sync.aligned.m64n" +
      std::to_string(stage.paddedResults) + "k" +
      std::to_string(stage.getStep()) + ".f32." + type + " " + sums + ",";
  std::string tail =
      stage.kind == WgmmaKind::Half ? ",1,1,0;\n" : ",1,1;\n";

  // Bytes between core matrices along the depth and along the columns, in units
  // of 16 bytes.
  int64_t coreStride = stage.paddedResults / 8 * kCoreBytes;
  int64_t fields = (coreStride >> 4) << 16 | (kCoreBytes >> 4) << 32;
  std::string text = "{\n.reg .b64 d;\nwgmma.fence.sync.aligned;\n";
  bool isFirst = true;
  auto addProduct = [&](int64_t step, bool lowRows, bool lowFactor) {
    int64_t offset = factor.offset + (lowFactor ? stage.factorBytes : 0) +
                     step * 2 * coreStride;
    text += "add.s64 d, $" +
            std::to_string(numSums + rows.high.size() + rows.low.size()) +
            ", " + std::to_string(fields + (offset >> 4)) + ";\n";
    int64_t first =
        numSums + step * 4 + (lowRows ? int64_t(rows.high.size()) : 0);
    text += instruction + list(first, 4) + ",d," + (isFirst ? "0" : "1") + tail;
    isFirst = false;
  };
  for (int64_t step = 0; step < numSteps; ++step) {
    if (stage.kind == WgmmaKind::Split)
      addProduct(step, /*lowRows=*/true, /*lowFactor=*/false);
    addProduct(step, /*lowRows=*/false, /*lowFactor=*/false);
    if (stage.kind == WgmmaKind::Split)
      addProduct(step, /*lowRows=*/false, /*lowFactor=*/true);
  }
  text += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n}";

  SmallVector<std::string> constraints(numSums, "=&f");
  SmallVector<Value> operands;
  auto addOperand = [&](Value value, StringRef constraint) {
    operands.push_back(value);
    constraints.push_back(constraint.str());
  };
  for (Value value : rows.high)
    addOperand(value, "r");
  for (Value value : rows.low)
    addOperand(value, "r");
  addOperand(descriptorBase, "l");
  SmallVector<Type> types(numSums, kernel.builder.getF32Type());
  return kernel.inlinePTX(types, text,
                          llvm::join(constraints, ",") + ",~{memory}",
                          operands);
}
