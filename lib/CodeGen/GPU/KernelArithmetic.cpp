//===- KernelArithmetic.cpp - Vectors and matrix instructions ---*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a KernelBuilder computes in a thread's registers, or in those of a warp.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

Value KernelBuilder::fma(Value a, Value b, Value c) {
  return LLVM::FMAOp::create(builder, loc, a, b, c);
}

Value KernelBuilder::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return LLVM::BitcastOp::create(builder, loc, type, value);
}

Value KernelBuilder::extract(Value vector, int64_t lane) {
  return LLVM::ExtractElementOp::create(builder, loc, vector,
                                        materialize(lane, 32));
}

Value KernelBuilder::makeVector(ValueRange values) {
  int64_t count = values.size();
  auto type = VectorType::get({count}, values.front().getType());
  Value vector = LLVM::UndefOp::create(builder, loc, type);
  for (auto [lane, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(builder, loc, vector, value,
                                           materialize(lane, 32));
  return vector;
}

SmallVector<Value> KernelBuilder::unpack(Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return {vector};
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    values.push_back(extract(vector, lane));
  return values;
}

Value KernelBuilder::constant(Type type, double value) {
  return arith::ConstantOp::create(builder, loc, getScalarAttr(type, value));
}

SmallVector<Value> KernelBuilder::inlinePTX(TypeRange results, StringRef text,
                                            StringRef constraints,
                                            ValueRange operands,
                                            bool hasSideEffects) {
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            SmallVector<Type>(results));
  else
    type = LLVM::LLVMVoidType::get(builder.getContext());
  auto code = LLVM::InlineAsmOp::create(
      builder, loc, results.empty() ? TypeRange() : TypeRange(type), operands,
      text, constraints, hasSideEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  if (results.empty())
    return {};
  if (results.size() == 1)
    return {code.getResult(0)};
  SmallVector<Value> values;
  for (unsigned index = 0; index < results.size(); ++index)
    values.push_back(LLVM::ExtractValueOp::create(
        builder, loc, code.getResult(0), static_cast<int64_t>(index)));
  return values;
}

Value KernelBuilder::pin(Value value) {
  if (!value)
    return value;
  Type type = value.getType();
  if (!type.isF32() && !type.isF64())
    return value;
  return inlinePTX(type, "", type.isF64() ? "=d,0" : "=f,0", value,
                   /*hasSideEffects=*/true)
      .front();
}

/// A matrix instruction; `sizes` are the numbers of D, A, B and C registers,
/// and `kinds` the constraint letters of results, factors and addends.
static SmallVector<Value> emitMma(KernelBuilder &kernel, StringRef mnemonic,
                                  StringRef factorKind, StringRef sumKind,
                                  ValueRange a, ValueRange b, ValueRange c) {
  unsigned number = 0;
  SmallVector<std::string> constraints;
  auto list = [&](unsigned count, std::string constraint) {
    SmallVector<std::string> names;
    for (unsigned index = 0; index < count; ++index) {
      names.push_back("$" + std::to_string(number++));
      constraints.push_back(constraint);
    }
    return "{" + llvm::join(names, ",") + "}";
  };
  std::string text = mnemonic.str() + " ";
  text += list(c.size(), "=" + sumKind.str()) + ", ";
  text += list(a.size(), factorKind.str()) + ", ";
  text += list(b.size(), factorKind.str()) + ", ";
  text += list(c.size(), sumKind.str()) + ";";
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  // Side effects keep LLVM from moving it into a branch that not all lanes
  // take.
  return kernel.inlinePTX(SmallVector<Type>(c.getTypes()), text,
                          llvm::join(constraints, ","), operands);
}

SmallVector<Value> KernelBuilder::mmaTF32(ValueRange a, ValueRange b,
                                          ValueRange c) {
  return emitMma(*this, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                 "r", "f", a, b, c);
}

SmallVector<Value> KernelBuilder::mmaHalf(ValueRange a, ValueRange b,
                                          ValueRange c, bool bf16) {
  return emitMma(*this,
                 bf16 ? "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
                      : "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                 "r", "f", a, b, c);
}

SmallVector<Value> KernelBuilder::mmaF64(ValueRange a, ValueRange b,
                                         ValueRange c) {
  return emitMma(*this, "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "d",
                 "d", a, b, c);
}

SmallVector<Value> KernelBuilder::mmaF64Small(Value a, Value b, ValueRange c) {
  return emitMma(*this, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "d",
                 "d", a, b, c);
}

std::pair<Value, Value> KernelBuilder::splitTF32(Value value) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  // Adding half of the last place that TF32 has rounds to nearest; infinities,
  // NaN and what would round to infinity are left to the matrix unit's cut.
  Value bits = bitcast(value, i32);
  Value rounded =
      arith::AddIOp::create(builder, loc, bits, materialize(0x1000, 32));
  rounded = arith::AndIOp::create(
      builder, loc, rounded, materialize(int64_t(int32_t(0xffffe000)), 32));
  Value high = bitcast(rounded, f32);
  Value low = arith::SubFOp::create(builder, loc, value, high);
  Value magnitude = LLVM::FAbsOp::create(builder, loc, value);
  Value limit = bitcast(materialize(0x7f7fe000, 32), f32);
  Value ordinary = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, magnitude, limit);
  return {select(ordinary, high, value),
          select(ordinary, low, constant(f32, 0.0))};
}
