//===- CublasPlanner.cpp - Dense products by cuBLAS -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Machine/GPURates.h"
#include "kron/Mapping/GPU/Resources.h"
#include "kron/Plan/GPU/CublasPlan.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// Rows and columns of its smallest tiles, and positions of a step: on tensor
/// cores of 16 bits or TF32, and of other instructions.
static constexpr int64_t kTile = 64, kStep = 32;
static constexpr int64_t kWideTile = 32, kWideStep = 16;

/// How cuBLAS multiplies elements of `problem`: by the fastest unit that keeps
/// what the precision wants.
static Multiplication getMultiplication(const Problem &problem,
                                        const GPUMachine &machine) {
  Type element = problem.element;
  auto complex = dyn_cast<ComplexType>(element);
  if (complex && complex.getElementType().isF64())
    return {MathUnit::MmaF64, 4};
  bool isSingle = element.isF32() && problem.precision != Precision::TF32;
  return complex || isSingle
             ? getScalarMultiplication(element, machine)
             : getMatrixMultiplication(problem.getElementBytes(),
                                       F32Products::Single, machine.hasWgmma);
}

/// Whether its instructions take single elements, wherever they lie.
static bool isWide(const Problem &problem) {
  return !problem.element.isF16() && !problem.element.isBF16() &&
         problem.precision != Precision::TF32;
}

/// Whether segments of `array` start at multiples of `segment` elements,
/// provided that it does; what is not known does. Tensors are row-major.
static bool hasWholeSegments(Value array, int64_t segment) {
  ArrayRef<int64_t> shape = cast<ShapedType>(array.getType()).getShape();
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(array);
  if (!strides) {
    while (!shape.empty() && shape.back() == 1)
      shape = shape.drop_back();
    return shape.empty() || shape.back() % segment == 0;
  }
  return llvm::all_of(llvm::zip(*strides, shape), [&](auto each) {
    auto [stride, size] = each;
    return size == 1 || stride == 1 || ShapedType::isDynamic(stride) ||
           stride % segment == 0;
  });
}

/// Elements of 16 bytes.
static int64_t getSegment(const Problem &problem) {
  return std::max<int64_t>(16 / problem.getElementBytes(), 1);
}

/// The share of an instruction's rate with segments, of all arrays, that start
/// at multiples of 16 bytes, or do not: those of results alone have other
/// kernels, too.
static double getIssueShare(const Problem &problem, bool hasWholeSegments,
                            const CublasRates &rates) {
  bool sumsRows = problem.inner == 1 && !problem.readsTranspose;
  if (problem.element.isF64() && sumsRows)
    return hasWholeSegments ? rates.f64RowShare : rates.f64UnalignedRowShare;
  if (problem.element.isF64() && !hasWholeSegments)
    return rates.f64UnalignedShare;
  return hasWholeSegments || isWide(problem)
             ? rates.issueShare
             : rates.issueShare * rates.unalignedShare;
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
  GPUResources resources(machine);
  time.memory = resources.getMemorySeconds(bytes);
  time.floor = resources.getLaunchSeconds() + time.memory;
  double share = getIssueShare(problem, hasWholeSegments, rates);
  bool isOfWide = isWide(problem);
  int64_t tile = isOfWide ? kWideTile : kTile;
  double padded = std::ceil(rows / tile) * tile *
                  llvm::alignTo(sizeK, isOfWide ? kWideStep : kStep) *
                  llvm::alignTo(sizeN, tile);
  time.arithmetic = resources.getMultiplySeconds(
      batch * padded, getMultiplication(problem, machine), share);
  if (batch > 1)
    time.memory *= rates.batchFactor;
  time.total =
      resources.getLaunchSeconds() +
      getOverlapSeconds(time.memory, time.arithmetic, rates.exposedShare);
  return time;
}

/// How much longer results of `fused` take that do not begin where stores of
/// its fastest kernels do.
static double getStoreFactor(FusedOp fused, const Problem &problem,
                             const CublasRates &rates) {
  const ProblemFactor &factor = problem.factors.front();
  int64_t bytes = problem.getElementBytes();
  if (!hasWholeSegments(fused.getInit(), 16 / bytes))
    return rates.unalignedStoreFactor;
  if (!factor.varyingAxes.empty() && factor.sizeK <= rates.shortK &&
      factor.sizeN * bytes >= rates.longGroupBytes &&
      !hasWholeSegments(fused.getInit(), kSectorBytes / bytes))
    return rates.partSectorFactor;
  return 1;
}

/// What a call takes in all, of which `time` is the product itself.
static void addCall(KernelTime &time, const Problem &problem,
                    const CublasRates &rates) {
  bool hasSplitRival =
      problem.element.isF32() && problem.precision == Precision::Full;
  if (hasSplitRival && !problem.factors.front().varyingAxes.empty())
    time.total *= rates.splitGroupsFactor;
  else if (hasSplitRival || time.floor < rates.longSeconds)
    time.total *= rates.handicapFactor;
  bool isWideElement = problem.getElementBytes() >= 8;
  time.total = std::max(time.total, isWideElement ? rates.wideCallSeconds
                                                  : rates.callSeconds);
}

KernelTime kron::estimateCublasTime(FusedOp fused, const Problem &problem,
                                    const GPUMachine &machine) {
  const CublasRates &rates = getGPURates(machine).cublas;
  auto axes = std::get<CublasPlan>(readCublasPlan(fused));
  const ProblemFactor &factor = problem.factors.front();
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  // An unknown number of products is taken for one.
  double batch = 1;
  for (int64_t axis : axes.batch)
    batch *= ShapedType::isDynamic(shape[axis]) ? 1 : shape[axis];
  double rows = problem.inputElements / factor.sizeK / batch;
  double factors = factor.varyingAxes.empty() ? 1 : batch;
  int64_t segment = getSegment(problem);
  ModeProductOp product = fused.getModeProducts().front();
  bool readsSegments =
      hasWholeSegments(fused.getInputs().front(), segment) &&
      hasWholeSegments(fused.getOperandOf(product.getFactor()), segment);
  bool storesSegments =
      isWide(problem) || hasWholeSegments(fused.getInit(), segment);
  KernelTime time =
      estimateProduct(problem, machine, batch, factors, rows, factor.sizeK,
                      factor.sizeN, readsSegments && storesSegments);
  if (!isWide(problem))
    time.total *= getStoreFactor(fused, problem, rates);
  addCall(time, problem, rates);
  return time;
}

double kron::estimateCublasSeconds(const Problem &problem,
                                   const GPUMachine &machine) {
  const ProblemFactor &factor = problem.factors.front();
  if (problem.factors.size() != 1 || !factor.varyingAxes.empty() ||
      problem.hasEpilogue || problem.hasFloat8 || problem.readsTranspose ||
      !isCublasElement(problem.element) ||
      (problem.readsAddend && !addsWithCublas(problem.element)))
    return std::numeric_limits<double>::infinity();
  const CublasRates &rates = getGPURates(machine).cublas;
  // Rows lie along the axes inside of the factor's if there are any.
  double positions = problem.getPositions();
  bool isLast = problem.inner == 1;
  double rows = isLast || problem.inner < 0 ? positions : problem.inner;
  int64_t segment = getSegment(problem);
  auto isWhole = [&](int64_t innermost) {
    return innermost < 0 || innermost % segment == 0;
  };
  KernelTime time = estimateProduct(
      problem, machine, positions / rows, /*factors=*/1, rows, factor.sizeK,
      factor.sizeN,
      isWhole(problem.innermostInput) &&
          isWhole(isLast ? factor.sizeN : factor.sizeK) &&
          (isWide(problem) || isWhole(problem.innermostOutput)));
  if (!isWide(problem) && !isWhole(problem.innermostOutput))
    time.total *= rates.unalignedStoreFactor;
  addCall(time, problem, rates);
  return time.total;
}

double kron::estimateRaggedSeconds(GPUKernel kernel, FusedOp fused,
                                   const Problem &problem, double seconds,
                                   const GPUMachine &machine) {
  const RaggedRates &rates = getGPURates(machine).ragged;
  const ProblemFactor &factor = problem.factors.front();
  int64_t segment = getSegment(problem), bytes = problem.getElementBytes();
  // Kernels store groups of results as whole sectors.
  if (kernel == GPUKernel::Simt || segment == 1 || !factor.varyingAxes.empty())
    return seconds;
  bool isSparse = kernel == GPUKernel::Sparse;
  bool readsWhole = hasWholeSegments(fused.getInputs().front(), segment);
  bool storesWhole = hasWholeSegments(fused.getInit(), segment);
  if (!isWide(problem) && bytes == 2) {
    // Estimates have these, but that of `sparse` for a transposed input.
    if (!isSparse || !problem.readsTranspose)
      return seconds;
    double clocks = 0;
    if (!storesWhole)
      clocks += problem.outputElements * rates.clocksPerSparseResult16Bit;
    if (!readsWhole)
      clocks += problem.inputElements * rates.clocksPerElement16Bit;
    return seconds + GPUResources(machine).getClockSeconds(clocks);
  }
  if (bytes == 4 && problem.inner == 1 && factor.sizeK >= rates.leastK &&
      !isSparse && !(readsWhole && storesWhole))
    seconds *= rates.f32Factor;
  if (problem.inner > 1 && problem.inner * bytes < 128 && !isSparse)
    seconds *= rates.columnsFactor;
  return seconds;
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
  int64_t segment = getSegment(problem);
  return estimateProduct(problem, machine, 1, 1, rows, sizeK, sizeN,
                         sizeK % segment == 0 && sizeN % segment == 0)
      .total;
}

std::variant<GPUPlanAttr, std::string>
kron::planCublas(FusedOp fused, const GPUMachine &machine) {
  std::variant<CublasPlan, std::string> plan = readCublasPlan(fused);
  if (auto *reason = std::get_if<std::string>(&plan))
    return *reason;
  auto type = cast<ShapedType>(fused.getInit().getType());
  const auto &axes = std::get<CublasPlan>(plan);
  bool isOpen = llvm::any_of(
      axes.rows, [&](int64_t axis) { return type.isDynamicDim(axis); });
  int64_t leastRows = isOpen ? getGPURates(machine).cublas.leastRows : 0;
  GPUPlanAttr given = getGPUPlanAttr(fused);
  if (given && given.getKernel() == GPUKernel::Cublas &&
      given.has("min_rows")) {
    leastRows = given.get("min_rows");
    if (!isOpen && leastRows != 0)
      return expects("min_rows", "0, as the number of rows is known",
                     leastRows);
  }
  PlanWriter writer(fused.getContext(), GPUKernel::Cublas);
  writer("min_rows", leastRows);
  return writer.getPlan();
}
