//===- CublasPlanner.cpp - Dense products by cuBLAS -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Plan/GPU/CublasPlan.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Bytes of a sector.
static constexpr int64_t kSectorBytes = 32;
/// Rows and columns of its smallest tiles, and positions of a step.
static constexpr int64_t kTile = 64, kStep = 32;

/// The best rate of `cuBLAS` for `problem`.
static double getPeak(const Problem &problem, const GPUMachine &machine) {
  Type element = problem.element;
  if (element.isF64())
    return machine.dmma;
  if (element.isF16() || element.isBF16())
    return std::max(machine.f16Mma, machine.f16Wgmma);
  return problem.precision == Precision::TF32
             ? std::max(machine.tf32Mma, machine.tf32Wgmma)
             : machine.ffma;
}

/// Whether segments of `array` start at multiples of `segment` elements,
/// provided that it does; what is not known does.
static bool hasWholeSegments(Value array, int64_t segment) {
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(array);
  if (!strides)
    return shape.empty() || shape.back() % segment == 0;
  return llvm::all_of(llvm::zip(*strides, shape), [&](auto each) {
    auto [stride, size] = each;
    return size == 1 || stride == 1 || ShapedType::isDynamic(stride) ||
           stride % segment == 0;
  });
}

/// The time of `batch` products of `rows` x `sizeK` x `sizeN` by `factors`
/// matrices, whose segments start at multiples of 16 bytes or do not.
static KernelTime estimateProduct(const Problem &problem,
                                  const GPUMachine &machine, double batch,
                                  double factors, double rows, int64_t sizeK,
                                  int64_t sizeN, bool hasWholeSegments) {
  const CublasRates &rates = getGPURates(machine).cublas;
  KernelTime time;
  double elements =
      batch * rows * (sizeK + (1.0 + problem.readsAddend) * sizeN) +
      factors * sizeK * sizeN;
  double bytes = elements * problem.getElementBytes();
  time.floor = machine.getCopySeconds(bytes);
  time.memory = bytes / machine.copyBytesPerSecond;
  double share = rates.issueShare;
  if (!hasWholeSegments)
    share *= rates.unalignedShare;
  double padded = std::ceil(rows / kTile) * kTile *
                  llvm::alignTo(sizeK, kStep) * llvm::alignTo(sizeN, kTile);
  time.arithmetic = 2 * batch * padded / (share * getPeak(problem, machine));
  if (batch > 1)
    time.memory *= rates.batchFactor;
  auto [shorter, longer] = std::minmax(time.memory, time.arithmetic);
  time.total = machine.launchSeconds + longer + rates.exposedShare * shorter;
  return time;
}

KernelTime kron::estimateCublasTime(FusedOp fused, const Problem &problem,
                                    const GPUMachine &machine) {
  const CublasRates &rates = getGPURates(machine).cublas;
  auto axes = std::get<CublasPlan>(readCublasPlan(fused));
  const ProblemFactor &factor = problem.factors.front();
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  // An unknown number of products is taken for one.
  double batch = axes.batch < 0 || ShapedType::isDynamic(shape[axes.batch])
                     ? 1
                     : shape[axes.batch];
  double rows = problem.inputElements / factor.sizeK / batch;
  double factors = factor.varyingAxes.empty() ? 1 : batch;
  int64_t segment = 16 / problem.getElementBytes();
  ModeProductOp product = fused.getModeProducts().front();
  bool readsSegments =
      hasWholeSegments(fused.getInputs().front(), segment) &&
      hasWholeSegments(fused.getOperandOf(product.getFactor()), segment);
  KernelTime time = estimateProduct(problem, machine, batch, factors, rows,
                                    factor.sizeK, factor.sizeN, readsSegments);
  int64_t bytes = problem.getElementBytes();
  if (!hasWholeSegments(fused.getInit(), segment))
    time.total *= rates.unalignedStoreFactor;
  else if (!factor.varyingAxes.empty() && factor.sizeK <= rates.shortK &&
           factor.sizeN * bytes >= rates.longGroupBytes &&
           !hasWholeSegments(fused.getInit(), kSectorBytes / bytes))
    time.total *= rates.partSectorFactor;
  if (time.floor < rates.longSeconds)
    time.total *= rates.handicapFactor;
  time.total = std::max(time.total, rates.callSeconds);
  return time;
}

double kron::estimateDenseSeconds(FusedOp fused, const Problem &problem,
                                  const GPUMachine &machine) {
  const ProblemFactor &factor = problem.factors.front();
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  int64_t groups = 1;
  for (int64_t axis : factor.varyingAxes)
    groups *= shape[axis];
  bool isTensorType =
      problem.element.isF64() ||
      isa<Float32Type, Float16Type, BFloat16Type>(problem.element);
  if (problem.factors.size() != 1 || problem.hasEpilogue || groups <= 1 ||
      !isTensorType)
    return std::numeric_limits<double>::infinity();
  double rows = problem.inputElements / factor.sizeK / groups;
  int64_t sizeK = factor.sizeK * groups, sizeN = factor.sizeN * groups;
  int64_t segment = 16 / problem.getElementBytes();
  return estimateProduct(problem, machine, 1, 1, rows, sizeK, sizeN,
                         sizeK % segment == 0 && sizeN % segment == 0)
      .total;
}

std::variant<GPUPlanAttr, std::string>
kron::planCublas(FusedOp fused, const GPUMachine &machine, bool isAskedFor) {
  std::variant<CublasPlan, std::string> plan = readCublasPlan(fused);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  // Three TF32 products are faster than its multiply-adds of f32, and f64 is as
  // fast here.
  Type element = getElementType(fused.getInit());
  ModeProductOp product = fused.getModeProducts().front();
  bool isWide = element.isF64() ||
                (element.isF32() && product.getPrecision() != Precision::TF32);
  if (isWide && !isAskedFor)
    return "it is no faster in this precision";
  int64_t rows = std::get<CublasPlan>(plan).rows;
  auto type = cast<ShapedType>(fused.getInit().getType());
  PlanWriter writer(fused.getContext(), GPUKernel::Cublas);
  bool isOpen = rows >= 0 && type.isDynamicDim(rows);
  writer("min_rows", isOpen ? getGPURates(machine).cublas.leastRows : 0);
  return writer.getPlan();
}
