//===- FusedEmitter.cpp - GPU code of one kron.fused ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/FusedEmitter.h"
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

static int64_t getNoAlignment(FusedOp) { return 1; }

/// The answer of an emitter that looks at one set of axes only.
template <auto getReason>
static std::optional<std::string>
getReasonForOneView(FusedOp fused, const GPUMachine &machine) {
  if (isRegrouped(fused))
    return "axes are regrouped between factors";
  return getReason(fused, machine);
}

/// The two kinds of kernels by mma.sync.
static std::optional<std::string>
getAnyMmaUnsupportedReason(FusedOp fused, const GPUMachine &machine) {
  return isRegrouped(fused) || isSparse(describeProblem(fused))
             ? getSparseUnsupportedReason(fused, machine)
             : getMMAUnsupportedReason(fused, machine);
}

static LogicalResult emitAnyMmaKernel(OpBuilder &builder,
                                      gpu::GPUModuleOp gpuModule, FusedOp fused,
                                      const GPUMachine &machine) {
  return isRegrouped(fused) || isSparse(describeProblem(fused))
             ? emitSparseKernel(builder, gpuModule, fused, machine)
             : emitMMAKernel(builder, gpuModule, fused, machine);
}

/// Why an emitter that knows neither epilogues nor arrays of 8 bits does not
/// take `fused`.
template <auto getReason>
static std::optional<std::string> getReasonOfBare(FusedOp fused,
                                                  const GPUMachine &machine) {
  if (fused.getEpilogue())
    return "there is an epilogue";
  if (describeProblem(fused).hasFloat8)
    return "an array is of 8 bits";
  return getReasonForOneView<getReason>(fused, machine);
}

/// Keep the preferred ones first.
static const GPUEmitter kEmitters[] = {
    {GPUKernel::Wgmma, getReasonOfBare<getWgmmaUnsupportedReason>,
     getNoAlignment, emitWgmmaKernel},
    {GPUKernel::Batched, getReasonOfBare<getBatchedUnsupportedReason>,
     getNoAlignment, emitBatchedKernel},
    {GPUKernel::Ffma, getReasonOfBare<getFfmaUnsupportedReason>,
     getFfmaAlignment, emitFfmaKernel},
    {GPUKernel::Mma, getAnyMmaUnsupportedReason, getNoAlignment,
     emitAnyMmaKernel},
    {GPUKernel::Simt, getReasonForOneView<getSimtUnsupportedReason>,
     getNoAlignment, emitSimtKernel},
};

std::optional<std::string>
GPUEmitter::getUnsupportedReason(FusedOp fused,
                                 const GPUMachine &machine) const {
  if (hasEmptyArray(fused))
    return "an array has no elements";
  return getReason(fused, machine);
}

ArrayRef<GPUEmitter> kron::getGPUEmitters() { return kEmitters; }

StringRef kron::getKernelBaseName(FusedOp fused) {
  if (auto function = fused->getParentOfType<func::FuncOp>())
    return function.getSymName();
  return "kron";
}

/// The emitter for `fused`; null, with an error, if it asks for one that
/// cannot.
static const GPUEmitter *chooseEmitter(FusedOp fused,
                                       const GPUMachine &machine) {
  GPUKernel wanted = getGPUPlanAttr(fused) ? getGPUPlanAttr(fused).getKernel()
                                           : GPUKernel::Auto;
  std::optional<std::string> reason;
  for (const GPUEmitter &emitter : kEmitters) {
    if (wanted != GPUKernel::Auto && emitter.kernel != wanted)
      continue;
    reason = emitter.getUnsupportedReason(fused, machine);
    if (!reason)
      return &emitter;
  }
  InFlightDiagnostic error = fused.emitOpError("cannot become a GPU kernel");
  if (wanted != GPUKernel::Auto)
    error << " of kind " << stringifyGPUKernel(wanted);
  error << ": " << (reason ? *reason : "there is no emitter of that kind");
  return nullptr;
}

std::optional<std::string>
kron::getEpilogueUnsupportedReason(FusedOp bare, FusedOp fused,
                                   const GPUMachine &machine) {
  // Its product must not be rounded.
  Type element = getElementType(fused.getInit());
  if (getAccumulatorType(element) != element)
    return std::nullopt;
  GPUKernel wanted = getGPUPlanAttr(fused) ? getGPUPlanAttr(fused).getKernel()
                                           : GPUKernel::Auto;
  std::optional<std::string> reason;
  for (const GPUEmitter &emitter : kEmitters) {
    bool isWanted = wanted == GPUKernel::Auto || emitter.kernel == wanted;
    if (!isWanted || emitter.kernel == GPUKernel::Simt)
      continue;
    std::optional<std::string> own =
        emitter.getUnsupportedReason(fused, machine);
    if (!own)
      return std::nullopt;
    if (!reason && !emitter.getUnsupportedReason(bare, machine))
      reason = stringifyGPUKernel(emitter.kernel).str() + ": " + *own;
  }
  // Only the general kernel takes the product, which takes epilogues too.
  return reason;
}

/// Whether the arrays of `fused` are multiples of `alignment` bytes, as an i1;
/// null if that is known.
static Value buildAlignmentTest(OpBuilder &builder, FusedOp fused,
                                int64_t alignment) {
  Type element = getElementType(fused.getInit());
  int64_t elementBytes = getElementBytes(element);
  if (alignment <= elementBytes)
    return nullptr;
  Emitter host(builder, fused.getLoc(), getStorageType(element));
  FusedOperands operands = getFusedOperands(host, fused);
  Int bits = 0;
  SmallVector<StageArray> arrays{operands.input, operands.init,
                                 operands.addend};
  if (operands.epilogue)
    arrays.append({operands.epilogue->bias, operands.epilogue->residual});
  for (const StageArray &array : arrays) {
    if (!array.base)
      continue;
    Value address = LLVM::PtrToIntOp::create(builder, fused.getLoc(),
                                             builder.getI64Type(), array.base);
    bits = host.bitOr(bits, Int(address));
    for (Int stride : array.strides)
      if (!stride.isConstant())
        bits = host.bitOr(bits, host.mul(stride, elementBytes));
  }
  return host.equal(host.bitAnd(bits, alignment - 1), 0);
}

LogicalResult kron::emitGPUKernels(OpBuilder &builder, SymbolTable &symbols,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   const GPUMachine &machine) {
  const GPUEmitter *emitter = chooseEmitter(fused, machine);
  if (!emitter)
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(fused);
  if (fused->hasAttr(kCublasAttrName)) {
    if (auto reason = getCublasUnsupportedReason(fused, machine))
      return fused.emitOpError("cannot be a call of cuBLAS: ") << *reason;
    // What follows is for where there is none.
    Location loc = fused.getLoc();
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value isLeft = arith::XOrIOp::create(builder, loc,
                                         buildCublasCall(builder, fused), yes);
    auto branch =
        scf::IfOp::create(builder, loc, isLeft, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Value aligned =
      buildAlignmentTest(builder, fused, emitter->getAlignment(fused));
  if (!aligned)
    return emitter->emit(builder, gpuModule, fused, machine);
  auto branch = scf::IfOp::create(builder, fused.getLoc(), aligned,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitter->emit(builder, gpuModule, fused, machine)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  return emitSimtKernel(builder, gpuModule, fused, machine);
}
