//===- WgmmaEmitter.cpp - Host part of wgmma kernels ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "kron/Plan/GPU/Reasons.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class WgmmaEmitter {
public:
  WgmmaEmitter(OpBuilder &builder, gpu::GPUModuleOp gpuModule, FusedOp fused,
               const WgmmaPlan &plan, QuantizeOp quantize)
      : builder(builder), gpuModule(gpuModule), fused(fused), plan(plan),
        quantize(quantize),
        host(builder, fused.getLoc(), builder.getF32Type()) {}

  LogicalResult emit();

private:
  // On the host.
  WgmmaArray collapse(const StageArray &array, Value memref);
  bool canVectorize(const WgmmaArray &array, bool loads);
  void addAlignment(const WgmmaArray &array, Int &bits);
  void collect();
  void collectQuantize();

  OpBuilder &builder;
  gpu::GPUModuleOp gpuModule;
  FusedOp fused;
  const WgmmaPlan &plan;
  QuantizeOp quantize;
  Emitter host;
  WgmmaArrays arrays;
};

} // namespace

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

WgmmaArray WgmmaEmitter::collapse(const StageArray &array, Value memref) {
  WgmmaArray result{array.base, {}, getElementType(memref)};
  for (const WgmmaAxis &axis : plan.axes)
    result.strides.push_back(array.strides[axis.strideAxis]);
  return result;
}

/// Whether contiguous segments of the array can be accessed by vectors,
/// provided that the address and what is only known at run time are aligned.
bool WgmmaEmitter::canVectorize(const WgmmaArray &array, bool loads) {
  int64_t lanes = kWgmmaVectorBytes / getElementBytes(array.element);
  unsigned last = plan.axes.size() - 1;
  if (!array.strides[last].is(1))
    return false;
  int64_t segment = loads ? plan.axes[last].before : plan.axes[last].after;
  if (!ShapedType::isDynamic(segment) && segment % lanes != 0)
    return false;
  if (plan.axes[last].stage < 0 && plan.axes[last].tile % lanes != 0)
    return false;
  for (unsigned axis = 0; axis < last; ++axis)
    if (array.strides[axis].isConstant() &&
        array.strides[axis].getConstant() % lanes != 0)
      return false;
  return true;
}

/// Ors together what must be a multiple of 16 bytes.
void WgmmaEmitter::addAlignment(const WgmmaArray &array, Int &bits) {
  int64_t elementBytes = getElementBytes(array.element);
  Value address = LLVM::PtrToIntOp::create(builder, host.loc,
                                           builder.getI64Type(), array.base);
  bits = host.bitOr(bits, Int(address));
  for (Int stride : array.strides)
    if (!stride.isConstant())
      bits = host.bitOr(bits, host.mul(stride, elementBytes));
  if (!arrays.sizes.back().isConstant())
    bits = host.bitOr(bits, host.mul(arrays.sizes.back(), elementBytes));
}

void WgmmaEmitter::collect() {
  FusedOperands operands = getFusedOperands(host, fused);
  SmallVector<ModeProductOp> products = fused.getModeProducts();
  for (const WgmmaAxis &axis : plan.axes) {
    Int size = 1;
    for (unsigned fusedAxis : axis.fusedAxes)
      size = host.mul(size, operands.sizes[fusedAxis]);
    arrays.sizes.push_back(size);
  }
  arrays.input = collapse(operands.input, fused.getInputs().front());
  arrays.init = collapse(operands.init, fused.getInit());
  arrays.alpha = operands.alpha;
  arrays.beta = operands.beta;
  if (operands.addend.base)
    arrays.addend = collapse(operands.addend, fused.getInit());
  for (ModeProductOp product : products) {
    arrays.factors.push_back(getFusedFactor(host, fused, product).array);
    arrays.factorElements.push_back(getElementType(product.getFactor()));
  }
}

/// Puts what `quantize` writes in the place of the result, which nobody sees.
void WgmmaEmitter::collectQuantize() {
  arrays.quantize = QuantizedRows::get(host, quantize, /*alignment=*/4);
  arrays.init.base = nullptr;
  arrays.sizes.front() =
      getQuantizedRowCount(host, quantize, arrays.sizes.front());
}

LogicalResult WgmmaEmitter::emit() {
  OpBuilder::InsertionGuard guard(builder);
  collect();
  if (quantize)
    collectQuantize();
  arrays.vectorLoads = canVectorize(arrays.input, /*loads=*/true);
  arrays.vectorStores =
      !quantize && canVectorize(arrays.init, /*loads=*/false) &&
      (!arrays.addend.base || canVectorize(arrays.addend, /*loads=*/false));
  Int bits = 0;
  if (arrays.vectorLoads)
    addAlignment(arrays.input, bits);
  if (arrays.vectorStores) {
    addAlignment(arrays.init, bits);
    if (arrays.addend.base)
      addAlignment(arrays.addend, bits);
  }
  arrays.misalignment = host.bitAnd(bits, kWgmmaVectorBytes - 1);
  WgmmaKernel(host, gpuModule, getKernelBaseName(fused), arrays, plan).emit();
  return success();
}

LogicalResult kron::emitWgmmaKernel(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, FusedOp fused,
                                    GPUPlanAttr plan, const GPUMachine &machine,
                                    QuantizeOp quantize) {
  auto fail = [&] {
    return fused.emitOpError("cannot become a wgmma kernel: ");
  };
  if (!machine.hasWgmma)
    return fail() << "the chip has no wgmma instructions";
  std::variant<WgmmaPlan, std::string> read = readWgmmaPlan(fused, plan);
  auto *own = std::get_if<WgmmaPlan>(&read);
  if (!own)
    return fail() << std::get<std::string>(read);
  if (auto reason =
          getSharedMemoryReason(own->getSharedBytes(), own->ctasPerSM, machine))
    return fail() << *reason;
  bool quantizes(quantize);
  if (own->quantize != quantizes)
    return fail() << "expects quantize to be " << quantizes << ", as there is "
                  << (quantizes ? "a" : "no")
                  << " kron.quantize for it, but got " << own->quantize;
  return WgmmaEmitter(builder, gpuModule, fused, *own, quantize).emit();
}
