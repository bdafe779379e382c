//===- Cublas.cpp - Dense products by cuBLAS --------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Plan/GPU/CublasPlan.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::kron;

/// KronType of an element.
static int64_t getTypeNumber(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() ? 6 : 7;
  return element.isF32() ? 0 : element.isF64() ? 1 : element.isF16() ? 2 : 3;
}

/// The real and the imaginary part of a scale as f64.
static std::pair<Value, Value> widen(OpBuilder &builder, Location loc,
                                     const Scale &scale) {
  Value value = scale.materialize(builder, loc), imaginary;
  if (auto complex = dyn_cast<ComplexType>(value.getType())) {
    Type part = complex.getElementType();
    imaginary = complex::ImOp::create(builder, loc, part, value);
    value = complex::ReOp::create(builder, loc, part, value);
  }
  auto widenPart = [&](Value part) -> Value {
    if (!part)
      return arith::ConstantOp::create(builder, loc,
                                       builder.getF64FloatAttr(0));
    if (part.getType().isF64())
      return part;
    return arith::ExtFOp::create(builder, loc, builder.getF64Type(), part);
  };
  return {widenPart(value), widenPart(imaginary)};
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
static Value buildCall(Emitter &host, FusedOp fused, const CublasPlan &axes,
                       const FusedOperands &operands) {
  OpBuilder &builder = host.builder;
  Location loc = fused.getLoc();
  Type element = getElementType(fused.getInit());
  ModeProductOp product = fused.getModeProducts().front();
  StepFactor factor = getFusedFactor(host, fused, product).array;
  ProblemFactor sizes = describeFactor(product);
  auto count = [&](ArrayRef<int64_t> group) {
    Int product = 1;
    for (int64_t axis : group)
      product = host.mul(product, operands.sizes[axis]);
    return product;
  };
  auto along = [](ArrayRef<Int> strides, ArrayRef<int64_t> group) {
    return group.empty() ? Int(0) : strides[group.back()];
  };
  const StepArray &x = operands.input, &y = operands.init;
  // In the order of KronCudaGemm.
  SmallVector<Int> numbers{
      count(axes.batch),
      count(axes.rows),
      sizes.sizeN,
      sizes.sizeK,
      along(y.strides, axes.batch),
      along(y.strides, axes.rows),
      y.strides[axes.sizeK],
      along(x.strides, axes.batch),
      along(x.strides, axes.rows),
      x.strides[axes.sizeK],
      along(factor.strides, axes.batch),
      factor.resultStride,
      factor.strideK,
  };
  SmallVector<Value> fields{y.base, x.base, factor.base};
  for (Int number : numbers)
    fields.push_back(host.materialize(number, 64));
  auto [alpha, alphaImaginary] = widen(builder, loc, operands.alpha);
  auto [beta, betaImaginary] = widen(builder, loc, operands.beta);
  fields.append({alpha, beta});
  fields.push_back(host.materialize(getTypeNumber(element), 64));
  bool allowsTF32 = product.getPrecision() == Precision::TF32;
  fields.push_back(host.materialize(int64_t(allowsTF32), 64));
  fields.append({alphaImaginary, betaImaginary});
  for (bool conjugates : {product.getConjInput(), product.getConjFactor()})
    fields.push_back(host.materialize(int64_t(conjugates), 64));
  return callRuntime(builder, fused, fields);
}

/// Adds to `conditions` that `lhs` is `rhs`.
static void requireEqual(Emitter &host, SmallVectorImpl<Value> &conditions,
                         Int lhs, Int rhs) {
  if (lhs.isConstant() && rhs.isConstant()) {
    if (lhs != rhs)
      conditions.push_back(
          arith::ConstantIntOp::create(host.builder, host.loc, 0, 1));
    return;
  }
  if (lhs != rhs)
    conditions.push_back(host.equal(lhs, rhs));
}

/// What must hold so that `axes` are those of matrices, and the call is worth
/// it, beside what the runtime finds out.
static SmallVector<Value> buildConditions(Emitter &host, const CublasPlan &axes,
                                          const FusedOperands &operands,
                                          int64_t leastRows) {
  SmallVector<Value> conditions;
  for (ArrayRef<int64_t> group : {axes.rows, axes.batch})
    for (auto [outer, inner] : llvm::zip(group.drop_back(!group.empty()),
                                         group.drop_front(!group.empty())))
      for (const StepArray *array : {&operands.input, &operands.init})
        requireEqual(host, conditions, array->strides[outer],
                     host.mul(array->strides[inner], operands.sizes[inner]));
  // Other axes than that of unknown size are taken for one row each.
  for (int64_t axis : axes.rows)
    if (leastRows && !operands.sizes[axis].isConstant())
      conditions.push_back(host.less(leastRows - 1, operands.sizes[axis]));
  return conditions;
}

FailureOr<Value> kron::buildCublasCall(OpBuilder &builder, FusedOp fused,
                                       GPUPlanAttr plan) {
  std::variant<CublasPlan, std::string> axesOrReason = readCublasPlan(fused);
  if (auto *reason = std::get_if<std::string>(&axesOrReason)) {
    fused.emitOpError("cannot be a call of cuBLAS: ") << *reason;
    return failure();
  }
  auto axes = std::get<CublasPlan>(axesOrReason);
  Location loc = fused.getLoc();
  Emitter host(builder, loc, getElementType(fused.getInit()));
  FusedOperands operands = getFusedOperands(host, fused);
  SmallVector<Value> conditions =
      buildConditions(host, axes, operands, plan.get("min_rows"));
  if (conditions.empty())
    return buildCall(host, fused, axes, operands);
  Value all = conditions.front();
  for (Value condition : ArrayRef(conditions).drop_front())
    all = arith::AndIOp::create(builder, loc, all, condition);
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(), all,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildCall(host, fused, axes, operands));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
  scf::YieldOp::create(builder, loc, no);
  return branch.getResult(0);
}
