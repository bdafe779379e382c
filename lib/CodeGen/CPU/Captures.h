//===- Captures.h - What a body takes from its caller -----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_CODEGEN_CPU_CAPTURES_H
#define KRON_LIB_CODEGEN_CPU_CAPTURES_H

#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "kron/CodeGen/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::kron {

/// Replaces values of the caller by loads from the array of captures, `slots`,
/// that the body of a parallel loop is given. `captures` receives them in
/// order.
class Captures {
public:
  Captures(OpBuilder &builder, Location loc, Value slots,
           SmallVectorImpl<Value> &captures)
      : builder(builder), loc(loc), slots(slots), captures(captures) {}

  /// Null stays null.
  void enter(Value &value) {
    if (!value)
      return;
    auto [it, isNew] = entered.try_emplace(value);
    if (isNew) {
      Value slot = LLVM::GEPOp::create(
          builder, loc, slots.getType(), builder.getI64Type(), slots,
          LLVM::GEPArg(static_cast<int32_t>(captures.size())));
      it->second = LLVM::LoadOp::create(builder, loc, value.getType(), slot);
      captures.push_back(value);
    }
    value = it->second;
  }
  void enter(Int &number) {
    if (number.isConstant())
      return;
    Value value = number.getValue();
    enter(value);
    number = Int(value);
  }
  void enter(MutableArrayRef<Int> numbers) {
    for (Int &number : numbers)
      enter(number);
  }

private:
  OpBuilder &builder;
  Location loc;
  Value slots;
  SmallVectorImpl<Value> &captures;
  DenseMap<Value, Value> entered;
};

/// What the caller passes for `captures`, on its stack.
inline Value storeCaptures(OpBuilder &builder, Location loc,
                           ArrayRef<Value> captures) {
  Type i64 = builder.getI64Type();
  Value slots = RuntimeCalls::reserveStack(
      builder, loc, i64, std::max<int64_t>(captures.size(), 1));
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value slot = LLVM::GEPOp::create(builder, loc, slots.getType(), i64, slots,
                                     LLVM::GEPArg(static_cast<int32_t>(index)));
    LLVM::StoreOp::create(builder, loc, value, slot);
  }
  return slots;
}

} // namespace mlir::kron

#endif // KRON_LIB_CODEGEN_CPU_CAPTURES_H
