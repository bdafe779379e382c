//===- RuntimeCalls.cpp - Calls from generated code into the runtime ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/RuntimeCalls.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// What the runtime aligns every piece of workspace to.
static constexpr int64_t kAlignment = 64;

static constexpr llvm::StringLiteral kWorkspaceFunction = "kronRtWorkspace";

static Type getPointerType(OpBuilder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext());
}

func::FuncOp RuntimeCalls::getFunction(Emitter &emitter, StringRef name,
                                       TypeRange inputs, TypeRange results) {
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  auto function = func::FuncOp::create(
      emitter.loc, name, emitter.builder.getFunctionType(inputs, results));
  function.setPrivate();
  symbols.insert(function);
  return function;
}

/// The call in the entry block of `caller` that asks for its workspace, null if
/// there is none yet.
static func::CallOp findWorkspace(func::FuncOp caller) {
  for (auto call : caller.getBody().front().getOps<func::CallOp>())
    if (call.getCallee() == kWorkspaceFunction)
      return call;
  return nullptr;
}

Value RuntimeCalls::allocateShared(Emitter &emitter, int64_t elements) {
  OpBuilder &builder = emitter.builder;
  int64_t offset = workspace.shared;
  workspace.shared +=
      llvm::alignTo(elements * emitter.getElementBytes(), kAlignment);
  func::FuncOp function =
      getFunction(emitter, kWorkspaceFunction, builder.getI64Type(),
                  getPointerType(builder));
  auto caller =
      builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  func::CallOp call = findWorkspace(caller);
  if (!call) {
    // In the entry block: a fused region within a loop takes its share of the
    // workspace once.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&caller.getBody().front());
    Value size = arith::ConstantIntOp::create(builder, emitter.loc, 0, 64);
    call = func::CallOp::create(builder, emitter.loc, function, size);
  }
  // One fused region after the other uses the same memory.
  auto size = call.getOperand(0).getDefiningOp<arith::ConstantIntOp>();
  if (size.value() < workspace.shared)
    size.setValueAttr(builder.getI64IntegerAttr(workspace.shared));
  return emitter.offsetPointer(call.getResult(0), offset, builder.getI8Type());
}

Value RuntimeCalls::getNumThreads(Emitter &emitter) {
  func::FuncOp function = getFunction(emitter, "kronRtNumThreads", {},
                                      emitter.builder.getI64Type());
  return func::CallOp::create(emitter.builder, emitter.loc, function)
      .getResult(0);
}

func::FuncOp RuntimeCalls::createBody(OpBuilder &builder, Location loc,
                                      StringRef name) {
  Type i64 = builder.getI64Type();
  Type pointer = getPointerType(builder);
  auto body = func::FuncOp::create(
      loc, name, builder.getFunctionType({i64, i64, pointer, pointer}, {}));
  body.setPrivate();
  symbols.insert(body);
  return body;
}

int64_t RuntimeCalls::getGrain(int64_t fmas, int64_t threadFmas) {
  fmas = std::max<int64_t>(fmas, 1);
  return fmas > threadFmas / 2 ? -std::max<int64_t>(1, fmas / threadFmas)
                               : threadFmas / fmas;
}

Value RuntimeCalls::reserveStack(OpBuilder &builder, Location loc, Type type,
                                 int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  auto function =
      builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  Value number = arith::ConstantIntOp::create(builder, loc, count, 64);
  return LLVM::AllocaOp::create(builder, loc, getPointerType(builder), type,
                                number);
}

static void raiseBytes(func::FuncOp function, StringRef name, int64_t bytes) {
  if (auto attr = function->getAttrOfType<IntegerAttr>(name))
    bytes = std::max(bytes, attr.getInt());
  function->setAttr(name, Builder(function).getI64IntegerAttr(bytes));
}

void kron::raiseWorkspace(func::FuncOp function, const WorkspaceBytes &bytes) {
  raiseBytes(function, "kron.shared_bytes", bytes.shared);
  raiseBytes(function, "kron.thread_bytes", bytes.perThread);
}

void RuntimeCalls::parallelFor(Emitter &emitter, Int count, Int grain,
                               func::FuncOp body, Value captures,
                               int64_t scratchBytes) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  workspace.perThread = std::max(workspace.perThread, scratchBytes);
  Type i64 = builder.getI64Type();
  Type pointer = getPointerType(builder);
  Value address = func::ConstantOp::create(builder, loc, body.getFunctionType(),
                                           SymbolRefAttr::get(body));
  address = UnrealizedConversionCastOp::create(builder, loc, pointer, address)
                .getResult(0);
  func::FuncOp function = getFunction(emitter, "kronRtParallelFor",
                                      {i64, i64, pointer, pointer, i64}, {});
  func::CallOp::create(builder, loc, function,
                       ValueRange{emitter.materialize(count),
                                  emitter.materialize(grain), address, captures,
                                  emitter.materialize(scratchBytes)});
}
