//===- LinalgKernel.cpp - A linalg operation as a kernel --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Every thread takes elements of the parallel dimensions, neighbours along the
// innermost one, and runs the reductions of each serially, in registers and
// some steps at a time, so that their loads are under way together. Nothing
// else is reused on chip: this is for what is left beside the fused kernels.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Machine/GPUForms.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kThreads = kGPUForms.linalgThreads;
static constexpr int64_t kCtasPerSM = kGPUForms.linalgCtasPerSM;
/// Elements of 8-bit types that a thread has on their way: one is little to
/// wait for.
static constexpr int64_t kBytes = 8;
/// Steps of a reduction that are written out.
static constexpr int64_t kUnroll = 8;

namespace {

/// Emits one operation.
class LinalgKernel {
public:
  LinalgKernel(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
               linalg::LinalgOp op, Value hostStart)
      : op(op), hostStart(hostStart),
        host(builder, op.getLoc(), builder.getI8Type()),
        kernel(host, gpuModule, getName(op), builder.getI8Type()) {}

  void emit();

private:
  static StringRef getName(linalg::LinalgOp op) {
    return op->getParentOfType<func::FuncOp>().getSymName();
  }

  void enterOperands();
  void enterCaptures();
  Value enterScalar(Value hostValue);
  SmallVector<Int> getLoopSizes();
  bool widensBytes();
  void setPosition(Int linear, ArrayRef<Int> sizes);
  void emitElement(Int linear, ArrayRef<Int> sizes);
  void emitBytes(Int first, Int count, ArrayRef<Int> sizes);
  bool isWrittenPerStep(ArrayRef<unsigned> reductions);
  SmallVector<Value> emitReductions(ArrayRef<Int> sizes,
                                    ArrayRef<unsigned> dims, ValueRange outs);
  SmallVector<Value> emitBody(ValueRange outs);
  SmallVector<Value> loadOuts();
  void storeOuts(ValueRange values);

  Int evaluate(AffineExpr expr);
  Value getAddress(unsigned operand);
  Value loadElement(unsigned operand) {
    return loadElement(getElement(operand), getAddress(operand));
  }
  Value loadElement(Type type, Value address);
  Value loadCaptured(memref::LoadOp load, const IRMapping &mapping);
  void storeElement(Value value, unsigned operand);
  Type getElement(unsigned operand) {
    return getElementTypeOrSelf(op->getOperand(operand).getType());
  }

  linalg::LinalgOp op;
  /// What a reduction starts from, of the host and in the kernel; null: from
  /// the destination.
  Value hostStart, start;
  Emitter host;
  KernelBuilder kernel;
  /// Inside the kernel, per operand: arrays; values of scalars.
  SmallVector<StepArray> arrays;
  SmallVector<Value> scalars;
  /// Scalars and arrays of the host that the body uses.
  IRMapping captures;
  DenseMap<Value, StepArray> capturedArrays;
  /// Position of the loops, per dimension.
  SmallVector<Int> position;
  /// The element of operand 0 there, if it was loaded before.
  Value loaded;
};

} // namespace

/// A scalar of the host as a value in the kernel.
Value LinalgKernel::enterScalar(Value value) {
  OpBuilder &builder = kernel.builder;
  Location loc = op.getLoc();
  if (Operation *constant = value.getDefiningOp();
      constant && constant->hasTrait<OpTrait::ConstantLike>())
    return builder.clone(*constant)->getResult(0);
  if (isa<ComplexType>(value.getType())) {
    Value parts[] = {complex::ReOp::create(host.builder, loc, value),
                     complex::ImOp::create(host.builder, loc, value)};
    return complex::CreateOp::create(builder, loc, value.getType(),
                                     kernel.enter(parts[0]),
                                     kernel.enter(parts[1]));
  }
  if (!value.getType().isIndex())
    return kernel.enter(value);
  Value number = arith::IndexCastOp::create(host.builder, loc,
                                            builder.getI64Type(), value);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    kernel.enter(number));
}

void LinalgKernel::enterOperands() {
  for (Value operand : op->getOperands()) {
    bool isArray = isa<MemRefType>(operand.getType());
    arrays.push_back(isArray ? kernel.enter(getFusedArray(host, operand))
                             : StepArray());
    scalars.push_back(isArray ? Value() : enterScalar(operand));
  }
  if (hostStart)
    start = enterScalar(hostStart);
}

void LinalgKernel::enterCaptures() {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    if (isa<MemRefType>(value.getType()))
      capturedArrays[value] = kernel.enter(getFusedArray(host, value));
    else
      captures.map(value, enterScalar(value));
  }
}

SmallVector<Int> LinalgKernel::getLoopSizes() {
  SmallVector<Int> sizes;
  for (Range range : op.createLoopRanges(host.builder, op.getLoc())) {
    if (std::optional<int64_t> constant = getConstantIntValue(range.size)) {
      sizes.push_back(*constant);
      continue;
    }
    sizes.push_back(Int(arith::IndexCastOp::create(host.builder, op.getLoc(),
                                                   host.builder.getI64Type(),
                                                   cast<Value>(range.size))));
  }
  return sizes;
}

void LinalgKernel::emit() {
  SmallVector<Int> hostSizes = getLoopSizes();
  SmallVector<Int> sizes;
  Int elements = 1;
  for (auto [size, kind] : llvm::zip(hostSizes, op.getIteratorTypesArray())) {
    sizes.push_back(kernel.enter(size));
    if (kind == utils::IteratorType::parallel)
      elements = host.mul(elements, size);
  }
  enterOperands();
  enterCaptures();
  // In 64 bits, as there may be that many.
  Int count = kernel.enter(Int(host.materialize(elements, 64)));
  int64_t perTile = kThreads * (widensBytes() ? kBytes : 1);
  Int tiles = Int(host.materialize(host.ceilDiv(elements, perTile), 64));
  kernel.forTiles(kernel.enter(tiles), [&](Int tile) {
    Int linear = kernel.add(kernel.mul(kernel.extend(tile), perTile),
                            kernel.extend(kernel.threadId()));
    if (widensBytes())
      return emitBytes(linear, count, sizes);
    kernel.ifThen(kernel.less(linear, count),
                  [&] { emitElement(linear, sizes); });
  });
  LaunchShape shape;
  shape.threads = kThreads;
  shape.ctasPerSM = kCtasPerSM;
  kernel.launch(shape, tiles);
}

/// Whether elements of 8-bit types become others one by one, where finding them
/// takes no divisions by numbers that only the host knows: these take longer
/// than to wait.
bool LinalgKernel::widensBytes() {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(ArrayRef(sizes).drop_front(!sizes.empty()),
                         ShapedType::kDynamic))
    return false;
  return op.getNumReductionLoops() == 0 && op.getNumDpsInputs() == 1 &&
         isFloat8(getElement(0)) &&
         isa<MemRefType>(op->getOperand(0).getType()) &&
         op.getBlock()->getArgument(1).use_empty() &&
         op.getBlock()->getOps<linalg::IndexOp>().empty() &&
         op.getBlock()->getOps<memref::LoadOp>().empty();
}

/// Elements `first`, `first` + kThreads, ...: all are loaded, then all stored.
void LinalgKernel::emitBytes(Int first, Int count, ArrayRef<Int> sizes) {
  auto getLinear = [&](int64_t number) {
    return kernel.add(first, number * kThreads);
  };
  kernel.choose(
      kernel.less(getLinear(kBytes - 1), count),
      [&] {
        SmallVector<Value> elements;
        for (int64_t number = 0; number < kBytes; ++number) {
          setPosition(getLinear(number), sizes);
          elements.push_back(loadElement(0));
        }
        for (int64_t number = 0; number < kBytes; ++number) {
          setPosition(getLinear(number), sizes);
          loaded = elements[number];
          emitBody(ValueRange());
        }
        loaded = nullptr;
      },
      [&] {
        kernel.rolledLoop(0, kBytes, 1, [&](Int number) {
          Int linear =
              kernel.add(first, kernel.extend(kernel.mul(number, kThreads)));
          kernel.ifThen(kernel.less(linear, count),
                        [&] { emitElement(linear, sizes); });
        });
      });
}

/// Splits `linear` into the positions of the parallel dimensions.
void LinalgKernel::setPosition(Int linear, ArrayRef<Int> sizes) {
  position.assign(sizes.size(), Int());
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  for (unsigned dim : llvm::reverse(parallel)) {
    bool isOutermost = dim == parallel.front();
    position[dim] = isOutermost ? linear : kernel.rem(linear, sizes[dim]);
    if (!isOutermost)
      linear = kernel.floorDiv(linear, sizes[dim]);
  }
}

void LinalgKernel::emitElement(Int linear, ArrayRef<Int> sizes) {
  setPosition(linear, sizes);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.empty() || isWrittenPerStep(reductions)) {
    emitReductions(sizes, reductions, ValueRange());
    return;
  }
  storeOuts(emitReductions(sizes, reductions, loadOuts()));
}

/// Whether a step of `reductions` has elements of the outputs of its own.
bool LinalgKernel::isWrittenPerStep(ArrayRef<unsigned> reductions) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return llvm::any_of(reductions,
                        [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  });
}

/// The outputs after all steps of `dims`, from `outs`; without those, outputs
/// are in memory at every step.
SmallVector<Value> LinalgKernel::emitReductions(ArrayRef<Int> sizes,
                                                ArrayRef<unsigned> dims,
                                                ValueRange outs) {
  if (dims.empty())
    return emitBody(outs);
  auto emitSteps = [&](Int number, int64_t count, ValueRange carried) {
    SmallVector<Value> values(carried);
    for (int64_t step = 0; step < count; ++step) {
      position[dims.front()] = kernel.add(number, step);
      values = emitReductions(sizes, dims.drop_front(), values);
    }
    return values;
  };
  Int size = sizes[dims.front()], unrolled = 0;
  SmallVector<Value> values(outs);
  if (dims.size() == 1 && !outs.empty()) {
    unrolled = kernel.sub(size, kernel.rem(size, kUnroll));
    values = kernel.rolledLoop(0, unrolled, kUnroll, values,
                               [&](Int number, ValueRange carried) {
                                 return emitSteps(number, kUnroll, carried);
                               });
  }
  return kernel.rolledLoop(unrolled, size, 1, values,
                           [&](Int number, ValueRange carried) {
                             return emitSteps(number, 1, carried);
                           });
}

SmallVector<Value> LinalgKernel::loadOuts() {
  if (start)
    return {start};
  SmallVector<Value> values;
  for (OpOperand &init : op.getDpsInitsMutable())
    values.push_back(loadElement(init.getOperandNumber()));
  return values;
}

void LinalgKernel::storeOuts(ValueRange values) {
  for (auto [index, value] : llvm::enumerate(values))
    storeElement(value, op.getNumDpsInputs() + index);
}

/// The outputs of one step, from `outs`; without those, from memory to memory.
SmallVector<Value> LinalgKernel::emitBody(ValueRange outs) {
  OpBuilder &builder = kernel.builder;
  Block *body = op.getBlock();
  IRMapping mapping(captures);
  unsigned firstInit = op.getNumDpsInputs();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (arg.use_empty())
      continue;
    if (number >= firstInit && !outs.empty())
      mapping.map(arg, outs[number - firstInit]);
    else
      mapping.map(arg, number == 0 && loaded ? loaded
                       : scalars[number]     ? scalars[number]
                                             : loadElement(number));
  }
  for (Operation &inner : body->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      mapping.map(load.getResult(), loadCaptured(load, mapping));
      continue;
    }
    auto index = dyn_cast<linalg::IndexOp>(inner);
    if (!index) {
      builder.clone(inner, mapping);
      continue;
    }
    Value number = kernel.materialize(position[index.getDim()], 64);
    mapping.map(index.getResult(),
                arith::IndexCastOp::create(builder, op.getLoc(),
                                           builder.getIndexType(), number));
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  if (!outs.empty())
    return results;
  storeOuts(results);
  return {};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Int LinalgKernel::evaluate(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return kernel.extend(position[dim.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Int lhs = evaluate(binary.getLHS()), rhs = evaluate(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return kernel.add(lhs, rhs);
  case AffineExprKind::Mul:
    return kernel.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return kernel.rem(lhs, rhs);
  default:
    return kernel.floorDiv(lhs, rhs);
  }
}

Value LinalgKernel::getAddress(unsigned operand) {
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  const StepArray &array = arrays[operand];
  Int offset = 0;
  for (auto [expr, stride] : llvm::zip(map.getResults(), array.strides))
    offset = kernel.add(offset, kernel.mul(evaluate(expr), stride));
  offset = kernel.mul(offset, kron::getElementBytes(getElement(operand)));
  return kernel.offsetBytes(array.base, offset);
}

/// An element of an array that the body reads by itself.
Value LinalgKernel::loadCaptured(memref::LoadOp load,
                                 const IRMapping &mapping) {
  OpBuilder &builder = kernel.builder;
  const StepArray &array = capturedArrays[load.getMemRef()];
  Int offset = 0;
  for (auto [index, stride] : llvm::zip(load.getIndices(), array.strides)) {
    Value number = arith::IndexCastOp::create(
        builder, op.getLoc(), builder.getI64Type(), mapping.lookup(index));
    offset = kernel.add(offset, kernel.mul(number, stride));
  }
  Type type = load.getType();
  offset = kernel.mul(offset, kron::getElementBytes(type));
  return loadElement(type, kernel.offsetBytes(array.base, offset));
}

Value LinalgKernel::loadElement(Type type, Value address) {
  OpBuilder &builder = kernel.builder;
  auto complexType = dyn_cast<ComplexType>(type);
  // The LLVM dialect has no 8-bit floating-point types.
  if (isFloat8(type))
    return arith::BitcastOp::create(builder, op.getLoc(), type,
                                    kernel.load(builder.getI8Type(), address));
  if (!complexType)
    return kernel.load(type, address);
  Type part = complexType.getElementType();
  int64_t bytes = kron::getElementBytes(part);
  Value real = kernel.load(part, address);
  Value imaginary = kernel.load(part, kernel.offsetBytes(address, bytes));
  return complex::CreateOp::create(builder, op.getLoc(), type, real, imaginary);
}

void LinalgKernel::storeElement(Value value, unsigned operand) {
  OpBuilder &builder = kernel.builder;
  Value address = getAddress(operand);
  auto complexType = dyn_cast<ComplexType>(value.getType());
  if (isFloat8(value.getType()))
    value = arith::BitcastOp::create(builder, op.getLoc(), builder.getI8Type(),
                                     value);
  if (!complexType)
    return kernel.store(value, address);
  int64_t bytes = kron::getElementBytes(complexType.getElementType());
  kernel.store(complex::ReOp::create(builder, op.getLoc(), value), address);
  kernel.store(complex::ImOp::create(builder, op.getLoc(), value),
               kernel.offsetBytes(address, bytes));
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

/// Positions in arrays that `evaluate` can compute: they do not become negative
/// where that matters.
static bool isSimple(AffineMap map) {
  bool simple = true;
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr expr) {
      simple &= !isa<AffineSymbolExpr>(expr) &&
                expr.getKind() != AffineExprKind::CeilDiv;
    });
  return simple;
}

LogicalResult kron::emitLinalgKernel(OpBuilder &builder,
                                     gpu::GPUModuleOp gpuModule,
                                     linalg::LinalgOp op, Value start) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError(
        "expects memref operands: run --kron-bufferize first");
  if (!llvm::all_of(op.getIndexingMapsArray(), isSimple))
    return op.emitOpError("cannot become a GPU kernel: its indexing maps are "
                          "not sums of products of dimensions");
  // Arrays used in the body, or calls, would be the host's.
  WalkResult found = op.getBlock()->walk([&](Operation *inner) {
    bool isPlain = isMemoryEffectFree(inner) && !isa<CallOpInterface>(inner);
    for (Value operand : inner->getOperands())
      isPlain &= !isa<MemRefType>(operand.getType());
    // Elsewhere than in the body itself, loads are not looked for.
    isPlain |= isa<memref::LoadOp>(inner) && inner->getBlock() == op.getBlock();
    if (isPlain || inner->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    op.emitOpError("cannot become a GPU kernel: its body has a ")
        << inner->getName();
    return WalkResult::interrupt();
  });
  if (found.wasInterrupted())
    return failure();
  LinalgKernel(builder, gpuModule, op, start).emit();
  return success();
}
