//===- CublasPlanner.cpp - Dense products by cuBLAS -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/GPU/CublasPlanner.h"
#include "kron/Dialect/Kron/IR/PlanFields.h"
#include "kron/Plan/GPU/CublasPlan.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

/// What cuBLAS reaches of the best instruction's rate, and of that where rows
/// are not multiples of 16 bytes.
static constexpr double kRateShare = 0.8, kUnalignedShare = 0.3;
/// How much longer it takes to store segments of results that are not.
static constexpr double kUnalignedResults = 4;
/// How much longer it takes where groups of many bytes of results, of a K that
/// does not hide that, start within sectors, which other kernels fill.
static constexpr double kPartSectors = 1.7;
static constexpr int64_t kSectorBytes = 32, kLongGroup = 512, kShortK = 128;
/// How much of the shorter one of memory's and arithmetic's time the longer one
/// does not hide.
static constexpr double kExposedShare = 0.5;
/// How much longer products beside each other keep memory busy than one.
static constexpr double kBatchShare = 1.2;
/// Estimates of other kernels, which measure up to 1.2 times as fast as they
/// are taken for, are beaten only by so much less; those of more bytes than
/// this takes measure as they are taken for, or slower.
static constexpr double kHandicap = 1.15, kLongSeconds = 200e-6;
/// Rows and columns of its smallest tiles, and positions of a step.
static constexpr int64_t kTile = 64, kStep = 32;
/// What a call takes of the CPU, twice as long as a launch: shorter products
/// wait for it.
static constexpr double kCallSeconds = 10e-6;
/// Rows from which on it is called where their number is not known before:
/// fewer than a matrix instruction takes have kernels of their own, which are
/// as fast as the factor can be read.
static constexpr int64_t kLeastRows = 16;

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
  KernelTime time;
  double elements =
      batch * rows * (sizeK + (1.0 + problem.readsAddend) * sizeN) +
      factors * sizeK * sizeN;
  double bytes = elements * problem.getElementBytes();
  time.floor = machine.getCopySeconds(bytes);
  time.memory = bytes / machine.copyBytesPerSecond;
  double share = kRateShare;
  if (!hasWholeSegments)
    share *= kUnalignedShare;
  double padded = std::ceil(rows / kTile) * kTile *
                  llvm::alignTo(sizeK, kStep) * llvm::alignTo(sizeN, kTile);
  time.arithmetic = 2 * batch * padded / (share * getPeak(problem, machine));
  if (batch > 1)
    time.memory *= kBatchShare;
  auto [shorter, longer] = std::minmax(time.memory, time.arithmetic);
  time.total = machine.launchSeconds + longer + kExposedShare * shorter;
  return time;
}

KernelTime kron::estimateCublasTime(FusedOp fused, const Problem &problem,
                                    const GPUMachine &machine) {
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
    time.total *= kUnalignedResults;
  else if (!factor.varyingAxes.empty() && factor.sizeK <= kShortK &&
           factor.sizeN * bytes >= kLongGroup &&
           !hasWholeSegments(fused.getInit(), kSectorBytes / bytes))
    time.total *= kPartSectors;
  if (time.floor < kLongSeconds)
    time.total *= kHandicap;
  time.total = std::max(time.total, kCallSeconds);
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

std::variant<GPUPlanAttr, std::string> kron::planCublas(FusedOp fused,
                                                        bool isAskedFor) {
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
  writer("min_rows", isOpen ? kLeastRows : 0);
  return writer.getPlan();
}
