//===- WgmmaSums.cpp - Sums of warpgroup instructions ---------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/WgmmaSums.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::kron;

std::string kron::listOperands(int64_t first, int64_t count) {
  SmallVector<std::string> names;
  for (int64_t index = first; index < first + count; ++index)
    names.push_back("$" + std::to_string(index));
  return "{" + llvm::join(names, ",") + "}";
}

void kron::addToSums(KernelBuilder &k, MutableArrayRef<MmaC> sums,
                     StringRef text, ValueRange operands,
                     StringRef constraint) {
  SmallVector<Value> values;
  for (const MmaC &sum : sums)
    llvm::append_range(values, sum);
  unsigned count = values.size();
  // Operands are still read when the first sums are written.
  SmallVector<std::string> constraints(count, operands.empty() ? "=f" : "=&f");
  for (unsigned index = 0; index < count; ++index)
    constraints.push_back(std::to_string(index));
  constraints.append(operands.size(), constraint.str());
  llvm::append_range(values, operands);
  SmallVector<Type> types(count, k.builder.getF32Type());
  SmallVector<Value> results = k.inlinePTX(
      types, text, llvm::join(constraints, ",") + ",~{memory}", values);
  for (auto [index, value] : llvm::enumerate(results))
    sums[index / 4][index % 4] = value;
}

void kron::waitForSums(KernelBuilder &k, MutableArrayRef<MmaC> sums) {
  addToSums(k, sums, "wgmma.wait_group.sync.aligned 0;", {}, "");
}
