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
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::kron;

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
static Value buildCall(Emitter &host, FusedOp fused, const CublasPlan &axes,
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
  Int rows = axes.rows < 0 ? Int(1) : operands.sizes[axes.rows];
  int64_t leastRows = plan.get("min_rows");
  if (rows.isConstant() || !leastRows)
    return buildCall(host, fused, axes, operands);
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(),
                                  host.less(leastRows - 1, rows),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildCall(host, fused, axes, operands));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
  scf::YieldOp::create(builder, loc, no);
  return branch.getResult(0);
}
