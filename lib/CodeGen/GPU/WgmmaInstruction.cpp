//===- WgmmaInstruction.cpp - Series of wgmma instructions ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Rows and columns may be fed to the matrix unit in any order, as long as data
// and factor agree. The order along K is chosen such that a thread's elements
// are neighbours in shared memory (innermost axis: 4 f32 that two instructions
// share; other axes: 2 f32 or 4 16-bit values of successive positions), that of
// the columns such that a thread ends up with 4 successive ones.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/WgmmaInstruction.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

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

Int kron::getWgmmaK(KernelBuilder &kernel, const WgmmaOperand &operand,
                    Int slot) {
  if (operand.kind == WgmmaKind::Half) {
    if (operand.innermost)
      return slot;
    // Slots 8h + 2t + e <-> positions 4t + 2h + e of 16.
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
  }
  // Slots 8s + 4h + t <-> positions 4t + 2s + h of 16.
  if (operand.innermost)
    return moveBits(kernel, slot,
                    {{4, -1, 4}, {0, 3, 2}, {3, 1, 1}, {2, 1, 0}});
  // Slots 4h + t <-> positions 2t + h of 8.
  return moveBits(kernel, slot, {{3, -1, 3}, {0, 3, 1}, {2, 1, 0}});
}

Int kron::getWgmmaSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                       Int positionK) {
  if (operand.innermost)
    return moveBits(kernel, positionK,
                    {{4, -1, 4}, {2, 3, 0}, {1, 1, 3}, {0, 1, 2}});
  return moveBits(kernel, positionK, {{3, -1, 3}, {1, 3, 0}, {0, 1, 2}});
}

Int kron::getWgmmaHalfSlot(KernelBuilder &kernel, const WgmmaOperand &operand,
                           Int positionK) {
  // Positions 4t + 2h + e <-> slots 8h + 2t + e of 16.
  if (operand.innermost)
    return moveBits(kernel, positionK,
                    {{4, -1, 4}, {2, 3, 1}, {1, 1, 3}, {0, 1, 0}});
  return positionK;
}

Int kron::getWgmmaResult(KernelBuilder &kernel, const WgmmaOperand &operand,
                         Int slot) {
  if (!operand.innermost)
    return slot;
  // Slots 8h + 2t + e <-> columns 4t + 2h + e of 16.
  return moveBits(kernel, slot, {{4, -1, 4}, {1, 3, 2}, {3, 1, 1}, {0, 1, 0}});
}

void kron::fenceProxy(KernelBuilder &kernel) {
  kernel.inlinePTX({}, "fence.proxy.async;", "~{memory}", {});
}

namespace {

/// Writes the text of a series.
class SeriesText {
public:
  SeriesText(const WgmmaOperand &operand, const WgmmaFactor &factor,
             const WgmmaSeries &series)
      : operand(operand), factor(factor),
        coreStride(operand.paddedResults / 8 * kCoreBytes),
        numSums(operand.paddedResults / 2), continues(!series.sums.empty()) {}

  /// One instruction: rows in the operands from `rows` on, the factor from
  /// position `positionK` on, in a copy that starts `copy` bytes after the
  /// factor.
  void addProduct(StringRef type, int64_t step, int64_t rows, int64_t positionK,
                  int64_t copy, int64_t descriptor) {
    // Bytes between core matrices along K and along the columns, in units of 16
    // bytes.
    int64_t fields = (coreStride >> 4) << 16 | (kCoreBytes >> 4) << 32;
    int64_t offset = factor.offset + copy + positionK / step * 2 * coreStride;
    text += "add.s64 d, $" + std::to_string(descriptor) + ", " +
            std::to_string(fields + (offset >> 4)) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" +
            std::to_string(operand.paddedResults) + "k" + std::to_string(step) +
            ".f32." + (type + "." + type).str() + " " +
            listOperands(0, numSums) + "," + listOperands(rows, 4) + ",d," +
            (continues ? "1" : "0") +
            // Only 16-bit types can have their factor transposed.
            (step == 16 ? ",1,1,0;\n" : ",1,1;\n");
    continues = true;
  }

  std::string text = "{\n.reg .b64 d;\nwgmma.fence.sync.aligned;\n";

private:
  const WgmmaOperand &operand;
  const WgmmaFactor &factor;
  int64_t coreStride, numSums;
  bool continues;
};

} // namespace

SmallVector<Value> kron::emitWgmma(KernelBuilder &kernel,
                                   const WgmmaOperand &operand,
                                   const WgmmaFactor &factor,
                                   Value descriptorBase, const WgmmaRows &rows,
                                   Type element, const WgmmaSeries &series) {
  int64_t numSums = operand.paddedResults / 2;
  int64_t first = numSums + series.sums.size();
  int64_t half = first + rows.main.size(), residual = half + rows.half.size();
  int64_t descriptor = residual + rows.residual.size();
  SeriesText writer(operand, factor, series);
  int64_t step = operand.getStep();
  int64_t numSteps = rows.main.size() / 4;
  if (operand.kind == WgmmaKind::Split && series.addsCross)
    for (int64_t index = 0; index < numSteps; index += 2) {
      int64_t positionK = series.firstK + index * step;
      writer.addProduct("bf16", 16, residual + index * 2, positionK,
                        operand.factorBytes + operand.factorBytes / 2,
                        descriptor);
      writer.addProduct("bf16", 16, half + index * 2, positionK,
                        operand.factorBytes, descriptor);
    }
  StringRef type = "tf32";
  if (operand.kind == WgmmaKind::Half)
    type = element.isBF16() ? "bf16" : "f16";
  for (int64_t index = 0; series.addsMain && index < numSteps; ++index)
    writer.addProduct(type, step, first + index * 4,
                      series.firstK + index * step, 0, descriptor);
  writer.text += "wgmma.commit_group.sync.aligned;\n";
  if (series.pending >= 0)
    writer.text += "wgmma.wait_group.sync.aligned " +
                   std::to_string(series.pending) + ";\n";
  writer.text += "}";

  SmallVector<std::string> constraints(numSums, "=&f");
  SmallVector<Value> operands;
  auto addOperands = [&](ArrayRef<Value> values, StringRef constraint) {
    for (Value value : values) {
      operands.push_back(value);
      constraints.push_back(constraint.str());
    }
  };
  for (unsigned index = 0; index < series.sums.size(); ++index)
    addOperands(series.sums[index], std::to_string(index));
  addOperands(rows.main, "r");
  addOperands(rows.half, "r");
  addOperands(rows.residual, "r");
  addOperands(descriptorBase, "l");
  SmallVector<Type> types(numSums, kernel.builder.getF32Type());
  return kernel.inlinePTX(types, writer.text,
                          llvm::join(constraints, ",") + ",~{memory}",
                          operands);
}
