//===- TurnSums.cpp - Sums of a turn of boxes -----------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TurnSums.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

SmallVector<Value> TurnSums::pack() const {
  SmallVector<Value> registers;
  for (ArrayRef<Scalar> own : values)
    for (const Scalar &sum : own) {
      registers.push_back(sum.re);
      if (sum.im)
        registers.push_back(sum.im);
    }
  return registers;
}

void TurnSums::unpack(ValueRange registers) {
  unsigned next = 0;
  for (SmallVector<Scalar> &own : values)
    for (Scalar &sum : own) {
      sum.re = registers[next++];
      if (sum.im)
        sum.im = registers[next++];
    }
}

void TurnSums::addInLoop(KernelBuilder &k, int64_t whole, int64_t unrolled,
                         function_ref<void(Int first)> add) {
  unpack(k.rolledLoop(0, whole, unrolled, pack(),
                      [&](Int first, ValueRange carried) {
                        unpack(carried);
                        add(first);
                        return pack();
                      }));
}

void TurnSums::assignTo(Lowering &lowering,
                        TypedValue<FragmentType> sums) const {
  SmallVector<Value> all;
  for (ArrayRef<Scalar> own : values)
    for (const Scalar &sum : own)
      all.push_back(toValue(lowering.k, sum));
  setBox(lowering, sums, all);
}
