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

/// The largest value of a field that planners multiply by sizes of arrays.
static constexpr int64_t kMostOfPlan = std::numeric_limits<int32_t>::max();

using PlanField = std::pair<StringRef, int64_t>;

/// Whether each of `fields` is in [least, most]; else an error that names it.
static LogicalResult verifyFields(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t least, int64_t most,
                                  ArrayRef<PlanField> fields) {
  for (auto [name, value] : fields)
    if (value < least || value > most)
      return emitError() << "expects " << name << " to be in [" << least << ", "
                         << most << "], but got " << value;
  return success();
}

static LogicalResult verifyRegions(function_ref<InFlightDiagnostic()> emitError,
                                   DenseI64ArrayAttr regions) {
  if (!regions)
    return success();
  for (int64_t count : regions.asArrayRef())
    if (count < 1 || count > kMostOfPlan)
      return emitError() << "expects regions to be in [1, " << kMostOfPlan
                         << "] each, but got " << count;
  return success();
}

LogicalResult CPUPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t vectorBits, int64_t tile,
                                  int64_t registerRows, int64_t registerVectors,
                                  int64_t slice, int64_t streamBytes,
                                  int64_t prefetch, int64_t matrixTiles,
                                  int64_t keptFibres,
                                  DenseI64ArrayAttr regions) {
  if (vectorBits != 0 && vectorBits != 128 && vectorBits != 256 &&
      vectorBits != 512)
    return emitError()
           << "expects vector_bits to be 0, 128, 256 or 512, but got "
           << vectorBits;
  if (failed(verifyFields(emitError, 0, kMostOfPlan,
                          {{"tile", tile},
                           {"register_rows", registerRows},
                           {"register_vectors", registerVectors}})) ||
      failed(verifyFields(emitError, -1, kMostOfPlan, {{"slice", slice}})) ||
      failed(verifyFields(emitError, -1, std::numeric_limits<int64_t>::max(),
                          {{"stream_bytes", streamBytes}})) ||
      failed(verifyFields(
          emitError, -1, 1,
          {{"prefetch", prefetch}, {"kept_fibres", keptFibres}})) ||
      failed(verifyFields(emitError, -1, 2, {{"matrix_tiles", matrixTiles}})))
    return failure();
  return verifyRegions(emitError, regions);
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
  return {};
}

Attribute kron::dropPlannedRegions(Attribute plan) {
  if (auto cpu = dyn_cast_if_present<CPUPlanAttr>(plan)) {
    auto rest = CPUPlanAttr::get(
        cpu.getContext(), cpu.getVectorBits(), cpu.getTile(),
        cpu.getRegisterRows(), cpu.getRegisterVectors(), cpu.getSlice(),
        cpu.getStreamBytes(), cpu.getPrefetch(), cpu.getMatrixTiles(),
        cpu.getKeptFibres(), DenseI64ArrayAttr());
    auto none = CPUPlanAttr::get(cpu.getContext(), 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                 DenseI64ArrayAttr());
    return rest == none ? Attribute() : rest;
  }
  if (auto gpu = dyn_cast_if_present<GPUPlanAttr>(plan)) {
    GPUPlanAttr rest = gpu.without("regions");
    bool isEmpty =
        rest.getKernel() == GPUKernel::Auto && rest.getFields().empty();
    return isEmpty ? Attribute() : rest;
  }
  return plan;
}
