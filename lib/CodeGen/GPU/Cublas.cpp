//===- Cublas.cpp - Dense products by cuBLAS --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Which fused regions
//===----------------------------------------------------------------------===//

namespace {
/// The axes of a fused region with one factor; -1 if there is none.
struct ProductAxes {
  int64_t sizeK = -1, rows = -1, batch = -1;
};
} // namespace

/// Strides of `value` if it is a memref.
static std::optional<SmallVector<int64_t>> getStrides(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  return strides;
}

/// Strides of the input along the axes of `fused`.
static std::optional<SmallVector<int64_t>> getInputStrides(FusedOp fused) {
  auto strides = getStrides(fused.getInputs().front());
  auto permutation = fused.getInputPermutation();
  if (!strides || !permutation)
    return strides;
  SmallVector<int64_t> permuted;
  for (int64_t dim : *permutation)
    permuted.push_back((*strides)[dim]);
  return permuted;
}

static bool mayBeOne(int64_t stride) {
  return stride == 1 || ShapedType::isDynamic(stride);
}

/// Sorts the axes; why that is not possible, or nothing.
static std::optional<std::string> sortAxes(FusedOp fused, ProductAxes &axes) {
  ProblemFactor factor = describeFactor(fused.getModeProducts().front());
  SmallVector<int64_t> shape = getResultShape(fused.getModeProducts().back());
  axes.sizeK = factor.axis;
  if (factor.varyingAxes.size() > 1)
    return "the factor varies on more than one axis";
  if (!factor.varyingAxes.empty())
    axes.batch = factor.varyingAxes.front();
  auto strides = getInputStrides(fused);
  auto isBetter = [&](int64_t axis) {
    // What lies innermost must be a matrix's; else the longer one is.
    if (axes.rows < 0 || (strides && (*strides)[axis] == 1))
      return true;
    if (ShapedType::isDynamic(shape[axes.rows]) ||
        (strides && (*strides)[axes.rows] == 1))
      return false;
    return ShapedType::isDynamic(shape[axis]) || shape[axis] > shape[axes.rows];
  };
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (int64_t(axis) == axes.sizeK || int64_t(axis) == axes.batch || size == 1)
      continue;
    int64_t other = axis;
    if (isBetter(axis))
      std::swap(other, axes.rows);
    if (other >= 0 && axes.batch >= 0)
      return "there are more than two axes beside the contracted one";
    if (other >= 0)
      axes.batch = other;
  }
  return std::nullopt;
}

/// Whether strides that are known let cuBLAS see matrices: along one of two
/// axes each, neighbours are neighbours in memory.
static bool hasSegments(FusedOp fused, const ProductAxes &axes) {
  auto isSegment = [&](std::optional<SmallVector<int64_t>> strides) {
    return !strides || mayBeOne((*strides)[axes.sizeK]) ||
           (axes.rows >= 0 && mayBeOne((*strides)[axes.rows]));
  };
  ModeProductOp product = fused.getModeProducts().front();
  bool hasFactorSegment = true;
  if (auto strides = getStrides(fused.getOperandOf(product.getFactor()))) {
    hasFactorSegment = false;
    for (auto [stride, role] : llvm::zip(*strides, product.getFactorDims()))
      hasFactorSegment |= role < 0 && mayBeOne(stride);
  }
  return hasFactorSegment && isSegment(getInputStrides(fused)) &&
         isSegment(getStrides(fused.getInit()));
}

std::optional<std::string>
kron::getCublasUnsupportedReason(FusedOp fused, const GPUMachine &) {
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  if (products.size() != 1)
    return "there is more than one factor";
  if (fused.getEpilogue())
    return "there is an epilogue";
  ModeProductOp product = products.front();
  Type element = getElementType(fused.getInit());
  if (!isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element))
    return "elements are not f32, f64, f16 or bf16";
  if (getElementType(fused.getInputs().front()) != element ||
      getElementType(product.getFactor()) != element)
    return "arrays have different element types";
  if (!getBeta(product).isZero() && product.getAddend() &&
      fused.getOperandOf(product.getAddend()) != fused.getInit())
    return "another array than the result is added";
  // Three TF32 products are faster than its multiply-adds of f32, and f64 is as
  // fast here.
  bool isWide = element.isF64() ||
                (element.isF32() && product.getPrecision() != Precision::TF32);
  if (isWide && !fused->hasAttr(kCublasAttrName))
    return "it is no faster in this precision";
  ProductAxes axes;
  if (auto reason = sortAxes(fused, axes))
    return reason;
  if (!hasSegments(fused, axes))
    return "neither rows nor columns of a matrix are neighbours in memory";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

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
/// Rows from which on it is called where their number is not known before.
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
  std::optional<SmallVector<int64_t>> strides = getStrides(array);
  if (!strides)
    return shape.empty() || shape.back() % segment == 0;
  return llvm::all_of(llvm::zip(*strides, shape), [&](auto each) {
    auto [stride, size] = each;
    return size == 1 || mayBeOne(stride) || stride % segment == 0;
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
  ProductAxes axes;
  sortAxes(fused, axes);
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

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// KronType of an element.
static int64_t getTypeNumber(Type element) {
  return element.isF32() ? 0 : element.isF64() ? 1 : element.isF16() ? 2 : 3;
}

/// A scale as f64.
static Value widen(OpBuilder &builder, Location loc, const Scale &scale) {
  Value value = scale.materialize(builder, loc);
  if (value.getType().isF64())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
}

/// Calls kronRtCudaGemm with `fields`, those of KronCudaGemm in order: whether
/// it has computed the product, as an i1.
static Value callRuntime(OpBuilder &builder, FusedOp fused, ValueRange fields) {
  Location loc = fused.getLoc();
  constexpr llvm::StringLiteral name = "kronRtCudaGemm";
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), llvm::to_vector(fields.getTypes()));
  auto module = fused->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  Value gemm;
  {
    OpBuilder::InsertionGuard guard(builder);
    if (!function) {
      builder.setInsertionPointToStart(module.getBody());
      function = LLVM::LLVMFuncOp::create(
          builder, module.getLoc(), name,
          LLVM::LLVMFunctionType::get(builder.getI32Type(), pointer));
    }
    // In the entry block, so that a call within a loop does not grow the stack.
    auto parent = fused->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&parent.getBody().front());
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
    gemm = LLVM::AllocaOp::create(builder, loc, pointer, type, one);
  }
  for (auto [index, field] : llvm::enumerate(fields)) {
    LLVM::GEPArg path[] = {0, static_cast<int32_t>(index)};
    Value place = LLVM::GEPOp::create(builder, loc, pointer, type, gemm, path);
    LLVM::StoreOp::create(builder, loc, field, place);
  }
  Value result = LLVM::CallOp::create(builder, loc, function, gemm).getResult();
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, result,
                               none);
}

/// Builds the call for a product along `axes`.
static Value buildCall(Emitter &host, FusedOp fused, const ProductAxes &axes,
                       const FusedOperands &operands) {
  OpBuilder &builder = host.builder;
  Location loc = fused.getLoc();
  Type element = getElementType(fused.getInit());
  ModeProductOp product = fused.getModeProducts().front();
  StageFactor factor = getFusedFactor(host, fused, product).array;
  ProblemFactor sizes = describeFactor(product);
  auto along = [](ArrayRef<Int> numbers, int64_t axis, Int none) {
    return axis < 0 ? none : numbers[axis];
  };
  const StageArray &x = operands.input, &y = operands.init;
  // In the order of KronCudaGemm.
  SmallVector<Int> numbers{
      along(operands.sizes, axes.batch, 1),
      along(operands.sizes, axes.rows, 1),
      sizes.sizeN,
      sizes.sizeK,
      along(y.strides, axes.batch, 0),
      along(y.strides, axes.rows, 0),
      y.strides[axes.sizeK],
      along(x.strides, axes.batch, 0),
      along(x.strides, axes.rows, 0),
      x.strides[axes.sizeK],
      along(factor.strides, axes.batch, 0),
      factor.resultStride,
      factor.strideK,
  };
  SmallVector<Value> fields{y.base, x.base, factor.base};
  for (Int number : numbers)
    fields.push_back(host.materialize(number, 64));
  fields.push_back(widen(builder, loc, operands.alpha));
  fields.push_back(widen(builder, loc, operands.beta));
  fields.push_back(host.materialize(getTypeNumber(element), 64));
  bool allowsTF32 = product.getPrecision() == Precision::TF32;
  fields.push_back(host.materialize(int64_t(allowsTF32), 64));
  return callRuntime(builder, fused, fields);
}

Value kron::buildCublasCall(OpBuilder &builder, FusedOp fused) {
  ProductAxes axes;
  sortAxes(fused, axes);
  Location loc = fused.getLoc();
  Emitter host(builder, loc, getElementType(fused.getInit()));
  FusedOperands operands = getFusedOperands(host, fused);
  Int rows = axes.rows < 0 ? Int(1) : operands.sizes[axes.rows];
  if (rows.isConstant())
    return buildCall(host, fused, axes, operands);
  // Fewer rows than a matrix instruction takes have kernels of their own, which
  // are as fast as the factor can be read.
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(),
                                  host.less(kLeastRows - 1, rows),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildCall(host, fused, axes, operands));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
  scf::YieldOp::create(builder, loc, no);
  return branch.getResult(0);
}
