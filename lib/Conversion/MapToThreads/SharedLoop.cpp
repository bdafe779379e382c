//===- SharedLoop.cpp - A loop for the runtime's threads --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a body uses from outside travels in a struct on the caller's stack:
// scalars, and memrefs as the descriptors that they will be. Constants are
// built again.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Machine/ThreadForms.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::kron;

Int kron::getInt(OpBuilder &builder, Location loc, OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant;
  return Value(arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          cast<Value>(size)));
}

void SharedLoop::collectCaptures() {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  LLVMTypeConverter converter(op->getContext());
  captures.clear();
  constants.clear();
  types.clear();
  for (Value value : used) {
    if (matchPattern(value, m_Constant())) {
      constants.push_back(value);
      continue;
    }
    captures.push_back(value);
    types.push_back(converter.convertType(value.getType()));
  }
}

bool SharedLoop::canCapture() {
  collectCaptures();
  return llvm::all_of(types, [](Type type) { return static_cast<bool>(type); });
}

/// The same value in another form, which the conversion to LLVM knows.
static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex() || type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// The fewest iterations that are worth a thread.
Int SharedLoop::getGrain(Emitter &emitter, Int elements, int64_t minLength) {
  if (elements.isConstant())
    return std::max(minLength,
                    kThreadForms.leastElements /
                        std::max<int64_t>(1, elements.getConstant()));
  Int grain =
      emitter.floorDiv(kThreadForms.leastElements, emitter.max(elements, 1));
  return emitter.max(grain, minLength);
}

void SharedLoop::emit(Int count, Int elements, int64_t minLength,
                      BuildBody build) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  collectCaptures();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type record = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto getSlot = [&](Value base, size_t index) -> Value {
    LLVM::GEPArg path[] = {0, static_cast<int32_t>(index)};
    return LLVM::GEPOp::create(builder, loc, pointer, record, base, path);
  };
  Value slots = RuntimeCalls::reserveStack(builder, loc, record, 1);
  for (auto [index, value] : llvm::enumerate(captures))
    LLVM::StoreOp::create(builder, loc,
                          convert(builder, loc, value, types[index]),
                          getSlot(slots, index));

  auto caller = op->getParentOfType<func::FuncOp>();
  func::FuncOp body =
      runtime.createBody(builder, loc, (caller.getSymName() + "_shared").str());
  Emitter emitter(builder, loc, builder.getF32Type());
  runtime.parallelFor(emitter, count, getGrain(emitter, elements, minLength),
                      body, slots, /*scratchBytes=*/0);

  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  for (Value constant : constants)
    builder.clone(*constant.getDefiningOp(), mapping);
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value loaded = LLVM::LoadOp::create(builder, loc, types[index],
                                        getSlot(entry->getArgument(3), index));
    mapping.map(value, convert(builder, loc, loaded, value.getType()));
  }
  Type indexType = builder.getIndexType();
  Value begin = convert(builder, loc, entry->getArgument(0), indexType);
  Value end = convert(builder, loc, entry->getArgument(1), indexType);
  auto done = func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(done);
  build(builder, mapping, begin, end);
}
