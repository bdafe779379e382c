//===- KronDialect.cpp - The kron dialect -----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronDialect.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;

#include "kron/Dialect/Kron/IR/KronDialect.cpp.inc"
#include "kron/Dialect/Kron/IR/KronEnums.cpp.inc"
#include "kron/Dialect/Kron/IR/KronInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kron/Dialect/Kron/IR/KronAttrs.cpp.inc"

namespace {
/// Operations of the dialect may go wherever a function is inlined.
struct KronInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void KronDialect::initialize() {
  addInterfaces<KronInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kron/Dialect/Kron/IR/KronAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kron/Dialect/Kron/IR/KronOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kron/Dialect/Kron/IR/KronPairwiseOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Plans of operations
//===----------------------------------------------------------------------===//

static Attribute getPlan(Operation *op) {
  return op->getInherentAttr(kPlanAttrName).value_or(Attribute());
}

CPUPlanAttr kron::getCPUPlanAttr(Operation *op) {
  return dyn_cast_if_present<CPUPlanAttr>(getPlan(op));
}

GPUPlanAttr kron::getGPUPlanAttr(Operation *op) {
  return dyn_cast_if_present<GPUPlanAttr>(getPlan(op));
}

DenseI64ArrayAttr kron::getPlannedRegions(Operation *op) {
  if (CPUPlanAttr plan = getCPUPlanAttr(op))
    return plan.getRegions();
  if (GPUPlanAttr plan = getGPUPlanAttr(op))
    return plan.getRegions();
  if (auto plans = dyn_cast_if_present<RegionPlansAttr>(getPlan(op)))
    return DenseI64ArrayAttr::get(op->getContext(), plans.getRegions());
  return {};
}

Attribute kron::getRegionPlan(Attribute plan, unsigned region) {
  if (auto plans = dyn_cast_if_present<RegionPlansAttr>(plan))
    plan = plans.getPlans()[region];
  if (auto cpu = dyn_cast_if_present<CPUPlanAttr>(plan)) {
    CPUPlanAttr rest = cpu.without("regions");
    return rest.getFields().empty() ? Attribute() : rest;
  }
  if (auto gpu = dyn_cast_if_present<GPUPlanAttr>(plan)) {
    GPUPlanAttr rest = gpu.without("regions");
    bool isEmpty =
        rest.getKernel() == GPUKernel::Auto && rest.getFields().empty();
    return isEmpty ? Attribute() : rest;
  }
  return plan;
}
