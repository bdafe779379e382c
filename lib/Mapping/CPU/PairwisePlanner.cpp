//===- PairwisePlanner.cpp - How a kron.pairwise is mapped ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Register tiles are as large as registers allow beside what the function of a
// pair needs itself, and no larger than the result. The packed part of B has a
// share of the second-level cache: every element of it is used once per row
// tile, which hides how far away it lies.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/CPU/PairwisePlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Dialect/Kron/Utils/PairScalars.h"
#include "kron/Machine/CPURates.h"
#include "kron/Plan/CPU/Support.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether a function of a pair takes a few instructions, and no registers for
/// coefficients.
static bool isShort(PairwiseOp op) {
  if (!op.getInner()) {
    auto operations = op.getInnerBody().front().without_terminator();
    return llvm::none_of(operations, [](Operation &inside) {
      return inside.getName().getDialectNamespace() == "math" &&
             !isa<math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
                  math::TruncOp, math::RoundEvenOp, math::SqrtOp, math::FmaOp>(
                 inside);
    });
  }
  return !op.getExponent() ||
         isProductOfRoots(op.getExponentAttr().getValueAsDouble());
}

/// Rows and vectors of a register tile.
static std::pair<int64_t, int64_t> chooseTile(PairwiseOp op,
                                              int64_t vectorBits) {
  bool isWide = vectorBits == 512;
  const CPURates &rates = kCPURates;
  if (!isShort(op))
    return isWide ? std::pair(rates.longPairRows, rates.longPairVectors)
                  : std::pair(rates.narrowLongPairRows,
                              rates.narrowLongPairVectors);
  return isWide ? std::pair(rates.pairRows, rates.pairVectors)
                : std::pair(rates.narrowPairRows, rates.narrowPairVectors);
}

void kron::planForCPU(PairwiseOp op, const CPUPlannerOptions &options) {
  if (getCPUUnsupportedReason(op))
    return;
  PairwisePlanAttr given = op.getPlanAttr();
  if (!given)
    given = PairwisePlanAttr::get(op.getContext(), 0, 0, 0, 0, 0);
  auto choose = [](int64_t value, int64_t chosen) {
    return value ? value : chosen;
  };
  int64_t bits = choose(given.getVectorBits(), options.vectorBits);
  int64_t elementBits = op.getAccumulatorType().getIntOrFloatBitWidth();
  int64_t lanes = bits / elementBits;
  auto shape = cast<ShapedType>(op.getInit().getType()).getShape();
  auto [rows, vectors] = chooseTile(op, bits);
  auto limit = [](int64_t chosen, int64_t size, int64_t unit) {
    if (ShapedType::isDynamic(size))
      return chosen;
    return std::clamp<int64_t>(llvm::divideCeil(size, unit), 1, chosen);
  };
  // What is not given fits what is.
  if (int64_t number = given.getVectors())
    rows = std::clamp<int64_t>(kMostAccumulators / number, 1, rows);
  if (int64_t number = given.getRows())
    vectors = std::clamp<int64_t>(kMostAccumulators / number, 1, vectors);
  rows = limit(rows, *(shape.end() - 2), 1);
  while (given.getRowBlock() % rows)
    --rows;
  rows = choose(given.getRows(), rows);
  vectors = choose(given.getVectors(), limit(vectors, shape.back(), lanes));
  int64_t rowBlock =
      choose(given.getRowBlock(), llvm::alignTo(kCPURates.pairBlockRows, rows));
  // A share of the cache for the packed part, whole vectors of it.
  int64_t bytes = vectors * bits / 8;
  int64_t positions = options.caches.l2Bytes / kCPURates.pairCacheShare / bytes;
  int64_t kBlock = choose(given.getKBlock(),
                          std::clamp<int64_t>(positions / lanes * lanes, lanes,
                                              kCPURates.mostPairPositions));
  op.setPlanAttr(PairwisePlanAttr::get(op.getContext(), bits, rows, vectors,
                                       rowBlock, kBlock));
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Plan").category("kron-plan"))
      << remark::add("{0}", op.getPlanAttr()) << remark::metric("Rows", rows)
      << remark::metric("Vectors", vectors)
      << remark::metric("RowBlock", rowBlock)
      << remark::metric("KBlock", kBlock);
}
