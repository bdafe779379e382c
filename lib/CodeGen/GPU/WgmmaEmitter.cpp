//===- WgmmaEmitter.cpp - Host part of wgmma kernels ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "kron/CodeGen/GPU/Quantize.h"
#include "kron/CodeGen/GPU/Wgmma.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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
  StageArray bytes = getPassArray(host, quantize.getInit());
  StageArray scales = getPassArray(host, quantize.getScales());
  WgmmaQuantize target;
  target.byte = getElementType(quantize.getInit());
  target.bytes = bytes.base;
  target.bytesStride = bytes.strides.front();
  target.scales = scales.base;
  target.scalesStride = scales.strides.front();
  Value address = LLVM::PtrToIntOp::create(builder, host.loc,
                                           builder.getI64Type(), bytes.base);
  target.misalignment =
      host.bitAnd(host.bitOr(Int(address), target.bytesStride), 3);
  arrays.quantize = target;
  arrays.init.base = nullptr;
  auto type = cast<MemRefType>(quantize.getScales().getType());
  if (type.isDynamicDim(0)) {
    Value zero = arith::ConstantIndexOp::create(builder, host.loc, 0);
    Value rows =
        memref::DimOp::create(builder, host.loc, quantize.getScales(), zero);
    arrays.sizes.front() = Int(arith::IndexCastOp::create(
        builder, host.loc, builder.getI64Type(), rows));
  }
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
                                  const GPUMachine &machine) {
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan)
    return pass.emitOpError("cannot become a wgmma kernel: ") << reason;
  return WgmmaEmitter(builder, gpuModule, pass, *plan).emit();
}

//===----------------------------------------------------------------------===//
// Rows of 8 bits
//===----------------------------------------------------------------------===//

/// What `memory` is a view of.
static Value skipViews(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Adds what uses `memory`, through views, to `users`, all but deallocations
/// and sizes.
static void collectUsers(Value memory, SmallPtrSetImpl<Operation *> &users) {
  for (Operation *user : memory.getUsers()) {
    if (isa<ViewLikeOpInterface>(user))
      collectUsers(user->getResult(0), users);
    else if (!isa<memref::DeallocOp, memref::DimOp>(user))
      users.insert(user);
  }
}

/// Whether nothing between `first` and `last`, of one block, reads, writes or
/// frees memory.
static bool areNeighbours(Operation *first, Operation *last) {
  if (first->getBlock() != last->getBlock() || !first->isBeforeInBlock(last))
    return false;
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (!isa<memref::AllocOp>(op) && !isMemoryEffectFree(op))
      return false;
  return true;
}

/// Whether rows of `view`, which its outermost dimension counts, are those of
/// `whole`, an array without gaps.
static bool hasRowsOf(Value view, Value whole) {
  auto getRowStride = [](Value array) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(array.getType());
    if (type.getRank() == 0 ||
        failed(type.getStridesAndOffset(strides, offset)))
      return ShapedType::kDynamic;
    return strides.front();
  };
  int64_t stride = getRowStride(whole);
  return !ShapedType::isDynamic(stride) && getRowStride(view) == stride;
}

QuantizeOp kron::getFusedQuantize(PassOp pass, const GPUMachine &machine) {
  Value memory = skipViews(pass.getInit());
  if (!pass.getSchedule() ||
      pass.getSchedule()->getKernel() != GPUKernel::Wgmma ||
      !memory.getDefiningOp<memref::AllocOp>() || pass.readsInit() ||
      pass.getEpilogue() || pass.getModeProducts().back().getAddend())
    return nullptr;
  SmallPtrSet<Operation *, 4> users;
  collectUsers(memory, users);
  QuantizeOp quantize;
  for (Operation *user : users)
    if (auto op = dyn_cast<QuantizeOp>(user))
      quantize = op;
  if (!quantize || users.size() != 2 || !users.contains(pass) ||
      llvm::count_if(pass.getInputs(),
                     [&](Value input) { return skipViews(input) == memory; }) ||
      getQuantizeUnsupportedReason(quantize) ||
      cast<ShapedType>(quantize.getScales().getType()).getRank() != 1 ||
      !areNeighbours(pass, quantize) || !hasRowsOf(pass.getInit(), memory) ||
      !hasRowsOf(quantize.getInput(), memory))
    return nullptr;
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan || getWgmmaQuantizeReason(*plan) ||
      plan->axes.front().passAxes.size() != 1)
    return nullptr;
  return quantize;
}

/// Erases what uses `memory` for nothing that anybody needs.
static void eraseUnused(Value memory) {
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    for (Value result : user->getResults())
      eraseUnused(result);
    if (user->use_empty() &&
        (isa<memref::DeallocOp>(user) || isMemoryEffectFree(user)))
      user->erase();
  }
}

LogicalResult kron::emitQuantizedPass(OpBuilder &builder,
                                      gpu::GPUModuleOp gpuModule, PassOp pass,
                                      QuantizeOp quantize,
                                      const GPUMachine &machine) {
  std::string reason;
  std::optional<WgmmaPlan> plan = getWgmmaPlan(pass, machine, reason);
  if (!plan)
    return pass.emitOpError("cannot become a wgmma kernel: ") << reason;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(quantize);
  Value memory = skipViews(pass.getInit());
  if (failed(WgmmaEmitter(builder, gpuModule, pass, *plan, quantize).emit()))
    return failure();
  pass.erase();
  quantize.erase();
  eraseUnused(memory);
  if (memory.use_empty())
    memory.getDefiningOp()->erase();
  return success();
}
