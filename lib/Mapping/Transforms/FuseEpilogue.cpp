//===- FuseEpilogue.cpp - Epilogues into fused regions --------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On memrefs the result of a kron.fused is a buffer: the epilogue's own
// destination, or one that --kron-decompose has made for the two, which then
// disappears.
//
//===----------------------------------------------------------------------===//

#include "FuseEpilogue.h"
#include "kron/Dialect/Kron/Transforms/Chain.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether nothing but `fused` and `epilogue` needs what is in `buffer`.
static bool isBetween(Value buffer, FusedOp fused, EpilogueOp epilogue) {
  if (buffer == epilogue.getInit())
    return true;
  return buffer.getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return user == fused || user == epilogue ||
                  isa<memref::DeallocOp, memref::DimOp>(user);
         });
}

/// The kron.fused on memrefs that writes what `epilogue` reads, if nothing in
/// between touches memory and nobody else needs it.
static FusedOp getProducerOnMemrefs(EpilogueOp epilogue) {
  for (Operation *op = epilogue->getPrevNode(); op; op = op->getPrevNode()) {
    auto fused = dyn_cast<FusedOp>(op);
    if (fused && fused.getInit() == epilogue.getInput())
      return isBetween(fused.getInit(), fused, epilogue) ? fused : nullptr;
    if (!isMemoryEffectFree(op) && !isa<memref::DimOp>(op))
      return nullptr;
  }
  return nullptr;
}

/// The kron.fused whose result `epilogue` alone uses, or null.
static FusedOp getProducer(EpilogueOp epilogue) {
  Value input = epilogue.getInput();
  FusedOp fused;
  if (isa<MemRefType>(input.getType())) {
    fused = getProducerOnMemrefs(epilogue);
  } else {
    fused = input.getDefiningOp<FusedOp>();
    if (!fused || fused->getBlock() != epilogue->getBlock() ||
        !llvm::all_of(input.getUsers(),
                      [&](Operation *user) { return user == epilogue; }))
      return nullptr;
  }
  if (!fused || fused.getEpilogue())
    return nullptr;
  // What the destination held is Z only if the two share it.
  bool sharesInit = epilogue.getInit() == input;
  return sharesInit || !fused.readsInit() ? fused : nullptr;
}

/// A tensor for the last mode product of a fused region: like `out` of the type
/// that it accumulates in.
static Value createProductInit(OpBuilder &builder, Location loc, Value out) {
  auto type = cast<RankedTensorType>(out.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(tensor::DimOp::create(builder, loc, out, axis));
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 getAccumulatorType(type.getElementType()),
                                 sizes);
}

/// The region of `fused` with `epilogue` behind it, on the block arguments
/// `args`: those of `fused` but its destination, bias and residual if there are
/// any, and the destination.
static Value buildRegion(OpBuilder &builder, FusedOp fused, EpilogueOp epilogue,
                         ValueRange args) {
  Block &block = fused.getBody().front();
  IRMapping mapping;
  unsigned numInputs = fused.getInputs().size();
  mapping.map(block.getArguments().take_front(numInputs),
              args.take_front(numInputs));
  mapping.map(block.getArguments().back(), args.back());
  ModeProductOp last = fused.getModeProducts().back();
  for (Operation &op : block.without_terminator()) {
    if (&op != last) {
      builder.clone(op, mapping);
      continue;
    }
    Value init = createProductInit(builder, op.getLoc(), args.back());
    auto product = cast<ModeProductOp>(builder.clone(op, mapping));
    product.getInitMutable().assign(init);
    product->getResult(0).setType(cast<RankedTensorType>(init.getType()));
    if (!kron::getBeta(product).isZero() && !product.getAddend())
      product.getAddendMutable().assign(args.back());
    mapping.map(last->getResult(0), product->getResult(0));
  }
  ValueRange own = args.drop_front(numInputs);
  Value bias = epilogue.getBias() ? own.front() : Value();
  Value residual =
      epilogue.getResidual() ? own[epilogue.getBias() ? 1 : 0] : Value();
  auto end =
      EpilogueOp::create(builder, epilogue.getLoc(), args.back().getType(),
                         mapping.lookup(last->getResult(0)), bias, residual,
                         args.back(), epilogue.getBiasAxes(),
                         epilogue.getActivation(), epilogue.getScaleAttr());
  return end->getResult(0);
}

/// `fused` and `epilogue` as one kron.fused, before the epilogue.
static FusedOp createFused(RewriterBase &rewriter, FusedOp fused,
                           EpilogueOp epilogue) {
  rewriter.setInsertionPoint(epilogue);
  SmallVector<Value> inputs(fused.getInputs());
  for (Value array : {epilogue.getBias(), epilogue.getResidual()})
    if (array)
      inputs.push_back(array);
  Value init = epilogue.getInit() == epilogue.getInput() ? fused.getInit()
                                                         : epilogue.getInit();
  return createFusedOp(
      rewriter, epilogue.getLoc(), inputs, init,
      fused.getInputPermutation().value_or(ArrayRef<int64_t>()),
      fused.getPlanAttr(), [&](OpBuilder &builder, ValueRange args) {
        return buildRegion(builder, fused, epilogue, args);
      });
}

/// Erases `producer` and `epilogue`, whose place `fused` has taken, and the
/// buffer between them.
static void replaceBoth(RewriterBase &rewriter, FusedOp producer,
                        EpilogueOp epilogue, FusedOp fused) {
  Value between = producer.getInit();
  bool isOwn = between != epilogue.getInit();
  rewriter.replaceOp(epilogue, fused.getResults());
  rewriter.eraseOp(producer);
  auto alloc = between.getDefiningOp<memref::AllocOp>();
  if (!isOwn || !alloc)
    return;
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (isa<memref::DeallocOp>(user))
      rewriter.eraseOp(user);
  if (alloc->use_empty())
    rewriter.eraseOp(alloc);
}

void kron::fuseEpilogues(RewriterBase &rewriter, Operation *root,
                         EpilogueFilter getReason) {
  SmallVector<EpilogueOp> epilogues;
  root->walk([&](EpilogueOp op) {
    if (!isa<FusedOp>(op->getParentOp()))
      epilogues.push_back(op);
  });
  for (EpilogueOp epilogue : epilogues) {
    FusedOp producer = getProducer(epilogue);
    if (!producer)
      continue;
    Location loc = epilogue.getLoc();
    FusedOp fused = createFused(rewriter, producer, epilogue);
    if (std::optional<std::string> reason = getReason(producer, fused)) {
      rewriter.eraseOp(fused);
      remark::missed(loc,
                     remark::RemarkOpts::name("Epilogue").category("kron-fuse"))
          << "the epilogue is a kernel of its own: " + *reason;
      continue;
    }
    replaceBoth(rewriter, producer, epilogue, fused);
    remark::passed(loc,
                   remark::RemarkOpts::name("Epilogue").category("kron-fuse"))
        << "the epilogue is part of its product";
  }
}
