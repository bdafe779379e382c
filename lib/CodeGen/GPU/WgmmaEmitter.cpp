//===- WgmmaEmitter.cpp - Host part of wgmma kernels ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/CodeGen/GPU/Wgmma.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class WgmmaEmitter {
public:
  WgmmaEmitter(OpBuilder &builder, gpu::GPUModuleOp gpuModule, PassOp pass,
               const WgmmaPlan &plan, QuantizeOp quantize = nullptr)
      : builder(builder), gpuModule(gpuModule), pass(pass), plan(plan),
        quantize(quantize), host(builder, pass.getLoc(), builder.getF32Type()) {
  }

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
  PassOp pass;
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

/// Whether runs of the array can be accessed by vectors, provided that the
/// address and what is only known at run time are aligned.
bool WgmmaEmitter::canVectorize(const WgmmaArray &array, bool loads) {
  int64_t lanes = kWgmmaVectorBytes / getElementBytes(array.element);
  unsigned last = plan.axes.size() - 1;
  if (!array.strides[last].is(1))
    return false;
  int64_t run = loads ? plan.axes[last].before : plan.axes[last].after;
  if (!ShapedType::isDynamic(run) && run % lanes != 0)
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
  PassOperands operands = getPassOperands(host, pass);
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  for (const WgmmaAxis &axis : plan.axes) {
    Int size = 1;
    for (unsigned passAxis : axis.passAxes)
      size = host.mul(size, operands.sizes[passAxis]);
    arrays.sizes.push_back(size);
  }
  arrays.input = collapse(operands.input, pass.getInputs().front());
  arrays.init = collapse(operands.init, pass.getInit());
  arrays.alpha = operands.alpha;
  arrays.beta = operands.beta;
  if (operands.addend.base)
    arrays.addend = collapse(operands.addend, pass.getInit());
  for (ModeProductOp product : products) {
    arrays.factors.push_back(getPassFactor(host, pass, product).array);
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
  WgmmaKernel(host, gpuModule, getKernelBaseName(pass), arrays, plan).emit();
  return success();
}

LogicalResult kron::emitWgmmaPass(OpBuilder &builder,
                                  gpu::GPUModuleOp gpuModule, PassOp pass,
                                  const GPUMachine &machine,
                                  QuantizeOp quantize) {
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan)
    return pass.emitOpError("cannot become a wgmma kernel: ") << reason;
  return WgmmaEmitter(builder, gpuModule, pass, *plan, quantize).emit();
}

std::optional<std::string>
kron::getWgmmaQuantizeReason(PassOp pass, const GPUMachine &machine) {
  if (pass.getEpilogue() || pass.getModeProducts().back().getAddend())
    return "something is added to the product";
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan)
    return reason;
  if (plan->axes.front().passAxes.size() != 1)
    return "rows are on more than one axis";
  return getWgmmaQuantizeReason(*plan);
}
