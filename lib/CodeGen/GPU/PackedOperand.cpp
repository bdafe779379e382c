//===- PackedOperand.cpp - Operand B that threads prepare -----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/PackedOperand.h"
#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Bytes of what is in TF32.
static int64_t getMainBytes(const PackedOperand &packed) {
  return packed.columns * packed.sizeK * 4;
}

void kron::writePackedOperand(KernelBuilder &k, const PackedOperand &packed,
                              ArrayRef<SparseOperand> operands, Value target,
                              int64_t macro) {
  int64_t mainBytes = getMainBytes(packed);
  auto put = [&](Value word, int64_t offset, int64_t core) {
    k.store(word,
            k.offsetBytes(target, offset + core * packed.getCoreStride()));
  };
  for (auto [half, operand] : llvm::enumerate(operands)) {
    int64_t core = 2 * macro + half;
    if (packed.is16BitFloat()) {
      put(operand.narrow, 0, core);
      continue;
    }
    put(operand.main.high, 0, 2 * core);
    put(operand.next, 0, 2 * core + 1);
    put(operand.residuals, mainBytes, core);
    if (!packed.hasTF32Residuals)
      put(operand.narrow, mainBytes / 2 * 3, core);
  }
}

Value kron::getPackedDescriptor(KernelBuilder &k, Int place) {
  Value address = LLVM::PtrToIntOp::create(
      k.builder, k.loc, k.builder.getI32Type(), k.shared(place));
  return k.materialize(k.floorDiv(Int(address), 16), 64);
}

void kron::multiplyPackedOperand(KernelBuilder &k, const PackedOperand &packed,
                                 MutableArrayRef<MmaC> sums, const SparseA &a,
                                 Value descriptor, int64_t offset,
                                 int64_t macro, bool continues) {
  int64_t count = 4 * sums.size();
  int64_t mainBytes = getMainBytes(packed);
  int64_t operandA = count * (continues ? 2 : 1);
  int64_t words = packed.is16BitFloat() ? 4 : packed.hasTF32Residuals ? 20 : 16;
  std::string text = "{\n.reg .b64 d;\nwgmma.fence.sync.aligned;\n";
  SmallVector<Value> operands;
  bool adds = continues;
  auto addProduct = [&](StringRef type, int64_t step, ArrayRef<Value> operand,
                        int64_t start) {
    // Bytes between core matrices along K and along the columns, in units of 16
    // bytes.
    int64_t fields = (packed.getCoreStride() >> 4) << 16 |
                     (PackedOperand::kCoreBytes >> 4) << 32;
    text += "add.s64 d, $" + std::to_string(operandA + words) + ", " +
            std::to_string(fields + ((offset + start) >> 4)) + ";\n";
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * count) +
            "k" + std::to_string(step) + ".f32." + (type + "." + type).str() +
            " " + listOperands(0, count) + "," +
            listOperands(operandA + operands.size(), 4) + ",d," +
            (adds ? "1" : "0") + (step == 16 ? ",1,1,0;\n" : ",1,1;\n");
    llvm::append_range(operands, operand);
    adds = true;
  };
  int64_t half = 2 * macro * packed.getCoreStride();
  auto addMain = [&](bool isResidual) {
    for (int64_t step : {0, 1}) {
      const SparseOperand &upper = a[2 * step], &lower = a[2 * step + 1];
      SmallVector<Value> operand{upper.main.high, lower.main.high, upper.next,
                                 lower.next};
      if (isResidual)
        operand = {upper.main.low, lower.main.low, upper.nextLow,
                   lower.nextLow};
      addProduct("tf32", 8, operand,
                 (4 * macro + 2 * step) * packed.getCoreStride());
    }
  };
  SmallVector<Value> narrow{a[0].narrow, a[1].narrow, a[2].narrow, a[3].narrow};
  if (packed.is16BitFloat()) {
    addProduct(packed.element.isBF16() ? "bf16" : "f16", 16, narrow, half);
  } else {
    // The small products first.
    if (packed.hasTF32Residuals)
      addMain(/*isResidual=*/true);
    else
      addProduct(
          "bf16", 16,
          {a[0].residuals, a[1].residuals, a[2].residuals, a[3].residuals},
          mainBytes / 2 * 3 + half);
    addProduct("bf16", 16, narrow, mainBytes + half);
    addMain(/*isResidual=*/false);
  }
  text += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 1;\n}";

  SmallVector<std::string> constraints(count, "=&f");
  SmallVector<Value> inputs;
  if (continues)
    for (auto [index, sum] : llvm::enumerate(sums))
      for (unsigned element = 0; element < 4; ++element) {
        inputs.push_back(sum[element]);
        constraints.push_back(std::to_string(4 * index + element));
      }
  llvm::append_range(inputs, operands);
  constraints.append(operands.size(), "r");
  inputs.push_back(descriptor);
  constraints.push_back("l");
  SmallVector<Type> types(count, k.builder.getF32Type());
  SmallVector<Value> results = k.inlinePTX(
      types, text, llvm::join(constraints, ",") + ",~{memory}", inputs);
  for (int64_t index = 0; index < count; ++index)
    sums[index / 4][index % 4] = results[index];
}
