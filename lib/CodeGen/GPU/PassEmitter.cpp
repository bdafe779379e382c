//===- PassEmitter.cpp - GPU code of one kron.pass --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/CodeGen/GPU/Batched.h"
#include "kron/CodeGen/GPU/Cublas.h"
#include "kron/CodeGen/GPU/Ffma.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/CodeGen/GPU/Mma.h"
#include "kron/CodeGen/GPU/Simt.h"
#include "kron/CodeGen/GPU/Sparse.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::kron;

static int64_t getNoAlignment(PassOp) { return 1; }

/// The answer of an emitter that looks at one set of axes only.
template <auto getReason>
static std::optional<std::string>
getReasonForOneView(PassOp pass, const GPUMachine &machine) {
  if (isRegrouped(pass))
    return "axes are regrouped between factors";
  return getReason(pass, machine);
}

/// The two kinds of kernels by mma.sync.
static std::optional<std::string>
getAnyMmaUnsupportedReason(PassOp pass, const GPUMachine &machine) {
  return isRegrouped(pass) || isSparse(describeTrip(pass))
             ? getSparseUnsupportedReason(pass, machine)
             : getMMAUnsupportedReason(pass, machine);
}

static LogicalResult emitAnyMmaPass(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, PassOp pass,
                                    const GPUMachine &machine) {
  return isRegrouped(pass) || isSparse(describeTrip(pass))
             ? emitSparsePass(builder, gpuModule, pass, machine)
             : emitMMAPass(builder, gpuModule, pass, machine);
}

/// Why an emitter that knows neither epilogues nor arrays of 8 bits does not
/// take `pass`.
template <auto getReason>
static std::optional<std::string> getReasonOfBare(PassOp pass,
                                                  const GPUMachine &machine) {
  if (pass.getEpilogue())
    return "there is an epilogue";
  if (describeTrip(pass).hasFloat8)
    return "an array is of 8 bits";
  return getReasonForOneView<getReason>(pass, machine);
}

/// Keep the preferred ones first.
static const GPUEmitter kEmitters[] = {
    {GPUKernel::Wgmma, getReasonOfBare<getWgmmaUnsupportedReason>,
     getNoAlignment, emitWgmmaPass},
    {GPUKernel::Batched, getReasonOfBare<getBatchedUnsupportedReason>,
     getNoAlignment, emitBatchedPass},
    {GPUKernel::Ffma, getReasonOfBare<getFfmaUnsupportedReason>,
     getFfmaAlignment, emitFfmaPass},
    {GPUKernel::Mma, getAnyMmaUnsupportedReason, getNoAlignment,
     emitAnyMmaPass},
    {GPUKernel::Simt, getReasonForOneView<getSimtUnsupportedReason>,
     getNoAlignment, emitSimtPass},
};

std::optional<std::string>
GPUEmitter::getUnsupportedReason(PassOp pass, const GPUMachine &machine) const {
  if (hasEmptyArray(pass))
    return "an array has no elements";
  return getReason(pass, machine);
}

ArrayRef<GPUEmitter> kron::getGPUEmitters() { return kEmitters; }

StringRef kron::getKernelBaseName(PassOp pass) {
  if (auto function = pass->getParentOfType<func::FuncOp>())
    return function.getSymName();
  return "kron";
}

/// The emitter for `pass`; null, with an error, if it asks for one that cannot.
static const GPUEmitter *chooseEmitter(PassOp pass, const GPUMachine &machine) {
  GPUKernel wanted =
      pass.getSchedule() ? pass.getSchedule()->getKernel() : GPUKernel::Auto;
  std::optional<std::string> reason;
  for (const GPUEmitter &emitter : kEmitters) {
    if (wanted != GPUKernel::Auto && emitter.kernel != wanted)
      continue;
    reason = emitter.getUnsupportedReason(pass, machine);
    if (!reason)
      return &emitter;
  }
  InFlightDiagnostic error = pass.emitOpError("cannot become a GPU kernel");
  if (wanted != GPUKernel::Auto)
    error << " of kind " << stringifyGPUKernel(wanted);
  error << ": " << (reason ? *reason : "there is no emitter of that kind");
  return nullptr;
}

std::optional<std::string>
kron::getEpilogueUnsupportedReason(PassOp bare, PassOp pass,
                                   const GPUMachine &machine) {
  // Its product must not be rounded.
  Type element = getElementType(pass.getInit());
  if (getAccumulatorType(element) != element)
    return std::nullopt;
  GPUKernel wanted =
      pass.getSchedule() ? pass.getSchedule()->getKernel() : GPUKernel::Auto;
  std::optional<std::string> reason;
  for (const GPUEmitter &emitter : kEmitters) {
    bool isWanted = wanted == GPUKernel::Auto || emitter.kernel == wanted;
    if (!isWanted || emitter.kernel == GPUKernel::Simt)
      continue;
    std::optional<std::string> own =
        emitter.getUnsupportedReason(pass, machine);
    if (!own)
      return std::nullopt;
    if (!reason && !emitter.getUnsupportedReason(bare, machine))
      reason = stringifyGPUKernel(emitter.kernel).str() + ": " + *own;
  }
  // Only the general kernel takes the product, which takes epilogues too.
  return reason;
}

/// Whether the arrays of `pass` are multiples of `alignment` bytes, as an i1;
/// null if that is known.
static Value buildAlignmentTest(OpBuilder &builder, PassOp pass,
                                int64_t alignment) {
  Type element = getElementType(pass.getInit());
  int64_t elementBytes = getElementBytes(element);
  if (alignment <= elementBytes)
    return nullptr;
  Emitter host(builder, pass.getLoc(), getStorageType(element));
  PassOperands operands = getPassOperands(host, pass);
  Int bits = 0;
  SmallVector<StageArray> arrays{operands.input, operands.init,
                                 operands.addend};
  if (operands.epilogue)
    arrays.append({operands.epilogue->bias, operands.epilogue->residual});
  for (const StageArray &array : arrays) {
    if (!array.base)
      continue;
    Value address = LLVM::PtrToIntOp::create(builder, pass.getLoc(),
                                             builder.getI64Type(), array.base);
    bits = host.bitOr(bits, Int(address));
    for (Int stride : array.strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, elementBytes));
  }
  return host.equal(host.bitAnd(bits, alignment - 1), 0);
}

LogicalResult kron::emitGPUPass(OpBuilder &builder, SymbolTable &symbols,
                                gpu::GPUModuleOp gpuModule, PassOp pass,
                                const GPUMachine &machine) {
  const GPUEmitter *emitter = chooseEmitter(pass, machine);
  if (!emitter)
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(pass);
  if (pass->hasAttr(kCublasAttrName)) {
    if (auto reason = getCublasUnsupportedReason(pass, machine))
      return pass.emitOpError("cannot be a call of cuBLAS: ") << *reason;
    // What follows is for where there is none.
    Location loc = pass.getLoc();
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value isLeft = arith::XOrIOp::create(builder, loc,
                                         buildCublasCall(builder, pass), yes);
    auto branch =
        scf::IfOp::create(builder, loc, isLeft, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Value aligned =
      buildAlignmentTest(builder, pass, emitter->getAlignment(pass));
  if (!aligned)
    return emitter->emit(builder, gpuModule, pass, machine);
  auto branch = scf::IfOp::create(builder, pass.getLoc(), aligned,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitter->emit(builder, gpuModule, pass, machine)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  return emitSimtPass(builder, gpuModule, pass, machine);
}
