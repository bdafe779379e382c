//===- MaxPlus.cpp - A family of kernels, made step by step ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Y[i, q] = max over p of X[i, p] + F[p, q], the longest paths by one edge
// more, as docs/tutorials/new-kernel-family.md explains it.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/FusedOperands.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"
#include "kron/Dialect/Tile/IR/TileOps.h"
#include "kron/InitAll.h"
#include "kron/Machine/GPUMachine.h"
#include "kron/Plan/GPU/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

// [plan]
/// What is decided before there is any code: rows of a tile, results that a
/// thread computes at a time, and threads of a CTA, of which an SM holds two.
struct MaxPlusPlan {
  int64_t sizeK, sizeN, rows = 64, part = 4, threads = 256, ctasPerSM = 2;

  int64_t getParts() const { return llvm::divideCeil(sizeN, part); }
  /// Of a tile, and of the factor, whose rows are filled up to whole parts.
  int64_t getSharedBytes() const {
    return 4 * sizeK * (rows + part * getParts());
  }
  /// With as many rows as fit in the shared memory of `machine`, or none.
  static std::optional<MaxPlusPlan> choose(MemRefType factor,
                                           const GPUMachine &machine) {
    MaxPlusPlan plan{factor.getDimSize(0), factor.getDimSize(1)};
    int64_t room = machine.getSharedBytes(plan.ctasPerSM);
    while (plan.getSharedBytes() > room && plan.rows > 1)
      plan.rows /= 2;
    return plan.getSharedBytes() > room ? std::nullopt : std::optional(plan);
  }
};
// [/plan]

} // namespace

// [kernel]
/// Gives `loop` its body, and goes there.
static void beginBody(OpBuilder &b, Operation *loop) {
  b.createBlock(&loop->getRegion(0), {}, b.getIndexType(), loop->getLoc());
  tile::YieldOp::create(b, loop->getLoc());
  b.setInsertionPointToStart(&loop->getRegion(0).front());
}

/// The kernel of `plan`, with arguments of types `arguments`: X, F, Y, and the
/// number of tiles.
static gpu::GPUFuncOp buildKernel(gpu::GPUModuleOp gpuModule, Location loc,
                                  TypeRange arguments,
                                  const MaxPlusPlan &plan) {
  auto b = OpBuilder::atBlockEnd(gpuModule.getBody());
  auto kernel = gpu::GPUFuncOp::create(b, loc, "max_plus",
                                       b.getFunctionType(arguments, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(
      tile::kKernelAttrName,
      tile::KernelAttr::get(b.getContext(), plan.threads, plan.ctasPerSM));
  b.setInsertionPointToEnd(&kernel.getBody().front());
  auto barrier = [&] { tile::BarrierOp::create(b, loc, /*groups=*/1); };

  Value buffer = tile::AllocOp::create(
      b, loc,
      tile::BufferType::get(b.getContext(), {plan.rows, plan.sizeK},
                            b.getF32Type(), nullptr),
      Value());
  int64_t results = plan.part * plan.getParts();
  Value factor = tile::PrepareOp::create(
      b, loc, tile::OperandType::get({plan.sizeK, results}, b.getF32Type()),
      kernel.getArgument(1));
  auto tiles = tile::ForOp::create(b, loc, kernel.getArgument(3), ValueRange());
  gpu::ReturnOp::create(b, loc);

  beginBody(b, tiles);
  tile::CopyOp::create(b, loc, kernel.getArgument(0), tiles.getTile(),
                       /*ahead=*/0, buffer, /*bytes=*/4);
  barrier();
  auto boxes = tile::ForBoxesOp::create(
      b, loc, plan.rows, /*together=*/1, /*unrolled=*/3, /*excess=*/false,
      /*repeat=*/false, /*order=*/nullptr, /*warps=*/0, plan.getParts());
  // The next tile replaces what this one reads.
  barrier();

  beginBody(b, boxes);
  Value sums = tile::MultiplyOp::create(
      b, loc, tile::FragmentType::get({1, plan.part}, b.getF32Type()), buffer,
      boxes.getBoxes(), factor, /*tile=*/Value(), /*along=*/1,
      /*unrolled=*/8, /*conj_source=*/false, /*conj_factor=*/false,
      tile::Semiring::MaxPlus);
  tile::StoreOp::create(
      b, loc, sums, boxes.getBoxes(), kernel.getArgument(2), tiles.getTile(),
      b.getDenseI64ArrayAttr(1), /*alpha=*/Value(), /*beta=*/Value(),
      /*addend=*/Value(), b.getDenseI64ArrayAttr({plan.rows, plan.sizeN}),
      /*order=*/nullptr, /*together=*/8, /*rows=*/nullptr, /*bytes=*/4,
      /*bias=*/Value(), /*residual=*/Value(), Activation::Identity,
      /*scale=*/nullptr, /*axes=*/nullptr);
  return kernel;
}
// [/kernel]

// [host]
/// Describes `array`, a memref, to a kernel.
static Value makeView(Emitter &host, Value array) {
  StepArray found = getFusedArray(host, array);
  auto split = [&](ArrayRef<Int> numbers, SmallVectorImpl<Value> &dynamic) {
    return llvm::map_to_vector(numbers, [&](Int number) {
      if (!number.isConstant())
        dynamic.push_back(host.materialize(number, 64));
      return number.isConstant() ? number.getConstant() : ShapedType::kDynamic;
    });
  };
  SmallVector<Value> sizes, strides;
  SmallVector<int64_t> shape = split(getArraySizes(host, array), sizes);
  SmallVector<int64_t> known = split(found.strides, strides);
  auto type = tile::ViewType::get(host.builder.getContext(), shape,
                                  host.builder.getF32Type(), known);
  return tile::ViewOp::create(host.builder, host.loc, type, found.base, sizes,
                              strides);
}

/// Launches the kernel in `function` of X, F and Y, which is empty.
static LogicalResult emitMaxPlus(func::FuncOp function,
                                 const GPUMachine &machine) {
  auto plan = MaxPlusPlan::choose(
      cast<MemRefType>(function.getArgumentTypes()[1]), machine);
  if (!plan)
    return function.emitOpError("has a factor that does not fit in the ")
           << machine.getSharedBytes(/*ctasPerSM=*/2)
           << " bytes of shared memory of a CTA";
  auto b = OpBuilder::atBlockBegin(&function.getBody().front());
  Emitter host(b, function.getLoc(), b.getF32Type());
  SmallVector<Value> arguments;
  for (Value array : function.getArguments())
    arguments.push_back(makeView(host, array));
  Int rows = getArraySizes(host, function.getArgument(0)).front();
  Value tiles = host.materialize(host.ceilDiv(rows, plan->rows), 64);
  arguments.push_back(tiles);
  gpu::GPUModuleOp gpuModule =
      getOrCreateGPUModule(function->getParentOfType<ModuleOp>());
  auto kernel = buildKernel(gpuModule, function.getLoc(),
                            TypeRange(ValueRange(arguments)), *plan);
  auto symbol = SymbolRefAttr::get(
      gpuModule.getNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr()));
  tile::LaunchOp::create(b, function.getLoc(), symbol, tiles, arguments);
  return success();
}
// [/host]

namespace {

struct MaxPlusPass : PassWrapper<MaxPlusPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaxPlusPass)

  MaxPlusPass() = default;
  MaxPlusPass(const MaxPlusPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "test-max-plus"; }
  StringRef getDescription() const override {
    return "Fills in functions with the attribute max_plus";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    memref::MemRefDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    FailureOr<GPUMachine> machine = getGPUMachine(getOperation(), chip);
    if (failed(machine))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("max_plus") &&
          failed(emitMaxPlus(function, *machine)))
        return signalPassFailure();
  }

  Option<std::string> chip{*this, "chip", llvm::cl::desc("GPU to compile for"),
                           llvm::cl::init("sm_90a")};
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  mlir::kron::registerAllPasses();
  PassRegistration<MaxPlusPass>();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "kron optimizer driver\n", registry));
}
