//===- StepBudget.cpp - What steps may take of a processor ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "StepBudget.h"
#include "kron/Machine/CPURates.h"

using namespace mlir;
using namespace mlir::kron;

double StepBudget::getLoadSlots(int64_t bytes) const {
  if (bytes <= l1Bytes)
    return 0;
  return bytes <= cacheBytes / 2 ? kCPURates.alongLoadSlots
                                 : kCPURates.farLoadSlots;
}

StepBudget kron::chooseBudget(CPUPlanAttr given, size_t index,
                              const CacheBudget &caches) {
  StepBudget budget;
  budget.l1Bytes = std::min(kCPURates.stepL1Bytes, caches.l1Bytes);
  budget.l2Bytes = std::min(kCPURates.stepL2Bytes, caches.l2Bytes / 2);
  budget.cacheBytes = caches.l2Bytes;
  budget.l1Sets = kCPURates.l1Sets;
  budget.l1Ways = kCPURates.l1Ways;
  budget.pages = kCPURates.pages;
  budget.fmasInFlight = kCPURates.fmasInFlight;
  if (!given)
    return budget;
  auto take = [](DictionaryAttr fields, StringRef name, int64_t &value) {
    auto number = fields.getAs<IntegerAttr>(name);
    if (number && number.getInt())
      value = number.getInt();
  };
  DictionaryAttr fields = given.getFields();
  take(fields, "l1_bytes", budget.l1Bytes);
  take(fields, "l2_bytes", budget.l2Bytes);
  take(fields, "l1_sets", budget.l1Sets);
  take(fields, "l1_ways", budget.l1Ways);
  take(fields, "pages", budget.pages);
  take(fields, "fmas_in_flight", budget.fmasInFlight);
  auto steps = fields.getAs<ArrayAttr>("steps");
  if (!steps || index >= steps.size())
    return budget;
  auto step = cast<DictionaryAttr>(steps[index]);
  take(step, "l1_bytes", budget.l1Bytes);
  take(step, "l2_bytes", budget.l2Bytes);
  return budget;
}
