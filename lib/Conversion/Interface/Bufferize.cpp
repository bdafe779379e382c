//===- Bufferize.cpp - Bufferization around kron.fused ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Results that end in a reshape are stored through a view of their destination;
// then upstream's one-shot bufferization, kept out of the regions of
// kron.fused, then the removal of copies of an array onto itself that
// materializing a result in its destination leaves, and the release of what was
// allocated.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONBUFFERIZE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// `view` without the casts and reshapes that keep all elements in order.
static Value skipReshapes(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op))
      break;
    view = op->getOperand(0);
  }
  return view;
}

/// A result that was computed with more dimensions than its destination has
/// goes to a view of the destination: splitting dimensions of a strided array
/// is always a view, but merging those of the result may need a copy of it.
static void storeThroughView(bufferization::MaterializeInDestinationOp op) {
  Value source = op.getSource(), target = op.getDest();
  if (auto cast = source.getDefiningOp<tensor::CastOp>())
    source = cast.getSource();
  auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>();
  auto targetType = dyn_cast<MemRefType>(target.getType());
  if (!collapse || !targetType)
    return;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  auto isOpen = [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return ShapedType::isDynamic(shape[dim]);
           }) > 1;
  };
  if (groups.empty() || llvm::any_of(groups, isOpen))
    return;

  OpBuilder builder(op);
  MemRefType merged =
      MemRefType(targetType.clone(collapse.getType().getShape()));
  if (merged != targetType) {
    if (!memref::CastOp::areCastCompatible(targetType, merged))
      return;
    target = memref::CastOp::create(builder, op.getLoc(), merged, target);
  }
  Value view = memref::ExpandShapeOp::create(builder, op.getLoc(), shape,
                                             target, groups);
  Operation *reshape = op.getSource().getDefiningOp();
  op.getSourceMutable().assign(collapse.getSrc());
  op.getDestMutable().assign(view);
  // Without a use they would still be bufferized, and copied.
  if (isOpTriviallyDead(reshape))
    reshape->erase();
  if (reshape != collapse && isOpTriviallyDead(collapse))
    collapse.erase();
}

/// Copies become linalg.copy: the lowering of memref.copy between strided
/// arrays calls a library of MLIR's that kron's users do not have.
static void lowerCopy(memref::CopyOp op) {
  Value source = op.getSource(), target = op.getTarget();
  if (skipReshapes(source) != skipReshapes(target)) {
    OpBuilder builder(op);
    linalg::CopyOp::create(builder, op.getLoc(), source, target);
  }
  op.erase();
}

static OpFoldResult multiply(OpBuilder &builder, Location loc, OpFoldResult lhs,
                             OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs);
  std::optional<int64_t> right = getConstantIntValue(rhs);
  int64_t product;
  if (left && right && !__builtin_mul_overflow(*left, *right, &product))
    return builder.getIndexAttr(product);
  return arith::MulIOp::create(
             builder, loc, getValueOrCreateConstantIndexOp(builder, loc, lhs),
             getValueOrCreateConstantIndexOp(builder, loc, rhs))
      .getResult();
}

/// A reshape that makes several unknown sizes of one becomes the view that it
/// is: upstream's expand-strided-metadata crashes on it.
static void lowerOpenExpansion(memref::ExpandShapeOp op) {
  auto groups = op.getReassociationIndices();
  auto isOpen = [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return op.getResultType().isDynamicDim(dim);
           }) > 1;
  };
  if (llvm::none_of(groups, isOpen))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  for (auto [group, stride] :
       llvm::zip_equal(groups, metadata.getConstifiedMixedStrides()))
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = stride;
      stride = multiply(builder, loc, stride, sizes[dim]);
    }
  op.replaceAllUsesWith(memref::ReinterpretCastOp::create(
                            builder, loc, op.getResultType(),
                            metadata.getBaseBuffer(),
                            metadata.getConstifiedMixedOffset(), sizes, strides)
                            .getResult());
  op.erase();
}

/// Both branches of an scf.if store to the same destination, which its result
/// then stands for: without results, memory that is allocated outside does not
/// seem to leave its block.
static void dropBranchResults(scf::IfOp op) {
  if (op->getNumResults() == 0 ||
      llvm::any_of(
          llvm::zip(op.thenYield().getResults(), op.elseYield().getResults()),
          [](auto both) { return std::get<0>(both) != std::get<1>(both); }))
    return;
  OpBuilder builder(op);
  auto bare = scf::IfOp::create(builder, op.getLoc(), TypeRange(),
                                op.getCondition(), /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  op->replaceAllUsesWith(op.thenYield().getResults());
  op.thenYield()->setOperands({});
  op.elseYield()->setOperands({});
  bare.getThenRegion().takeBody(op.getThenRegion());
  bare.getElseRegion().takeBody(op.getElseRegion());
  op.erase();
}

/// Whether `memory`, or a view of it, may outlive its block.
static bool mayEscape(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), mayEscape);
    return user->hasTrait<OpTrait::IsTerminator>() ||
           isa<RegionBranchOpInterface>(user) ||
           llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
  });
}

namespace {
/// Functions of pairs as calls, for upstream's deallocation: that takes no
/// operation of several regions unless control flows between them.
class PairsAsCalls {
public:
  explicit PairsAsCalls(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    SymbolTable symbols(module);
    module.walk([&](PairOpInterface op) {
      auto type = builder.getFunctionType(op->getOperandTypes(), {});
      auto callee =
          func::FuncOp::create(builder, op->getLoc(), "kron_pairwise", type);
      callee.setPrivate();
      symbols.insert(callee);
      OpBuilder inside(op);
      func::CallOp::create(inside, op->getLoc(), callee, op->getOperands());
      op->setOperands({});
      op->remove();
      ops.push_back({callee, op});
    });
  }

  /// Puts the operations back where their calls are.
  void restore(ModuleOp module) {
    llvm::SmallDenseMap<StringRef, Operation *> byName;
    for (auto &[callee, op] : ops)
      byName[callee.getName()] = op;
    module.walk([&](func::CallOp call) {
      Operation *op = byName.lookup(call.getCallee());
      if (!op)
        return;
      OpBuilder(call).insert(op);
      op->setOperands(call.getOperands());
      call.erase();
    });
    for (auto &[callee, op] : ops)
      callee.erase();
  }

private:
  SmallVector<std::pair<func::FuncOp, Operation *>> ops;
};
} // namespace

/// Frees what `module` allocates. Upstream's ownership-based deallocation is an
/// order of magnitude slower than the rest of bufferization, so it only runs
/// where memory leaves the block that allocates it.
static LogicalResult
insertDeallocations(ModuleOp module,
                    function_ref<LogicalResult(OpPassManager &)> runPipeline) {
  SmallVector<memref::AllocOp> allocs;
  module.walk([&](memref::AllocOp op) {
    if (llvm::none_of(op->getUsers(), llvm::IsaPred<memref::DeallocOp>))
      allocs.push_back(op);
  });
  if (llvm::any_of(allocs, [](memref::AllocOp op) { return mayEscape(op); })) {
    OpPassManager pm(ModuleOp::getOperationName());
    bufferization::buildBufferDeallocationPipeline(
        pm, bufferization::BufferDeallocationPipelineOptions());
    PairsAsCalls pairs(module);
    LogicalResult result = runPipeline(pm);
    pairs.restore(module);
    return result;
  }
  for (memref::AllocOp op : allocs) {
    OpBuilder builder(op->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, op.getLoc(), op);
  }
  return success();
}

namespace {
struct KronBufferizePass : kron::impl::KronBufferizeBase<KronBufferizePass> {
  using KronBufferizeBase::KronBufferizeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    KronBufferizeBase::getDependentDialects(registry);
    OpPassManager pm(ModuleOp::getOperationName());
    bufferization::buildBufferDeallocationPipeline(
        pm, bufferization::BufferDeallocationPipelineOptions());
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::FullyDynamicLayoutMap);
    // kron.fused on memrefs only looks like a tensor operation, by its region.
    options.opFilter.denyOperation([](Operation *op) {
      auto fused = dyn_cast<FusedOp>(op);
      return op->getParentOfType<FusedOp>() ||
             (fused && isa<MemRefType>(fused.getInit().getType()));
    });
    SmallVector<bufferization::MaterializeInDestinationOp> stores;
    getOperation().walk([&](bufferization::MaterializeInDestinationOp op) {
      stores.push_back(op);
    });
    llvm::for_each(stores, storeThroughView);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options,
                                                        state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(getOperation());
    getOperation().walk([](scf::IfOp op) { dropBranchResults(op); });
    getOperation().walk([](memref::CopyOp op) { lowerCopy(op); });
    getOperation().walk(
        [](memref::ExpandShapeOp op) { lowerOpenExpansion(op); });
    if (failed(insertDeallocations(getOperation(), [&](OpPassManager &pm) {
          return this->runPipeline(pm, getOperation());
        })))
      signalPassFailure();
  }
};
} // namespace
