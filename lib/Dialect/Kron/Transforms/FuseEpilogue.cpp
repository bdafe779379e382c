//===- FuseEpilogue.cpp - Epilogues into passes ---------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On memrefs the result of a pass is a buffer: the epilogue's own destination,
// or one that --kron-decompose has made for the two, which then disappears.
//
//===----------------------------------------------------------------------===//

#include "FuseEpilogue.h"
#include "Chain.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether nothing but `pass` and `epilogue` needs what is in `buffer`.
static bool isBetween(Value buffer, PassOp pass, EpilogueOp epilogue) {
  if (buffer == epilogue.getInit())
    return true;
  return buffer.getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return user == pass || user == epilogue ||
                  isa<memref::DeallocOp, memref::DimOp>(user);
         });
}

/// The pass on memrefs that writes what `epilogue` reads, if nothing in between
/// touches memory and nobody else needs it.
static PassOp getProducerOnMemrefs(EpilogueOp epilogue) {
  for (Operation *op = epilogue->getPrevNode(); op; op = op->getPrevNode()) {
    auto pass = dyn_cast<PassOp>(op);
    if (pass && pass.getInit() == epilogue.getInput())
      return isBetween(pass.getInit(), pass, epilogue) ? pass : nullptr;
    if (!isMemoryEffectFree(op) && !isa<memref::DimOp>(op))
      return nullptr;
  }
  return nullptr;
}

/// The pass whose result `epilogue` alone uses, or null.
static PassOp getProducer(EpilogueOp epilogue) {
  Value input = epilogue.getInput();
  PassOp pass;
  if (isa<MemRefType>(input.getType())) {
    pass = getProducerOnMemrefs(epilogue);
  } else {
    pass = input.getDefiningOp<PassOp>();
    if (!pass || pass->getBlock() != epilogue->getBlock() ||
        !llvm::all_of(input.getUsers(),
                      [&](Operation *user) { return user == epilogue; }))
      return nullptr;
  }
  if (!pass || pass.getEpilogue())
    return nullptr;
  // What the destination held is Z only if the two share it.
  bool sharesInit = epilogue.getInit() == input;
  return sharesInit || !pass.readsInit() ? pass : nullptr;
}

/// A tensor for the last mode product of a pass: like `out` of the type that it
/// accumulates in.
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

/// The region of `pass` with `epilogue` behind it, on the block arguments
/// `args`: those of the pass but its destination, bias and residual if there
/// are any, and the destination.
static Value buildRegion(OpBuilder &builder, PassOp pass, EpilogueOp epilogue,
                         ValueRange args) {
  Block &block = pass.getBody().front();
  IRMapping mapping;
  unsigned numInputs = pass.getInputs().size();
  mapping.map(block.getArguments().take_front(numInputs),
              args.take_front(numInputs));
  mapping.map(block.getArguments().back(), args.back());
  ModeProductOp last = pass.getModeProducts().back();
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

/// `pass` and `epilogue` as one pass, before the epilogue.
static PassOp createFused(RewriterBase &rewriter, PassOp pass,
                          EpilogueOp epilogue) {
  rewriter.setInsertionPoint(epilogue);
  SmallVector<Value> inputs(pass.getInputs());
  for (Value array : {epilogue.getBias(), epilogue.getResidual()})
    if (array)
      inputs.push_back(array);
  Value init = epilogue.getInit() == epilogue.getInput() ? pass.getInit()
                                                         : epilogue.getInit();
  return createPass(rewriter, epilogue.getLoc(), inputs, init,
                    pass.getInputPermutation().value_or(ArrayRef<int64_t>()),
                    pass.getScheduleAttr(),
                    [&](OpBuilder &builder, ValueRange args) {
                      return buildRegion(builder, pass, epilogue, args);
                    });
}

/// Erases `pass` and `epilogue`, whose place `fused` has taken, and the buffer
/// between them.
static void replaceBoth(RewriterBase &rewriter, PassOp pass,
                        EpilogueOp epilogue, PassOp fused) {
  Value between = pass.getInit();
  bool isOwn = between != epilogue.getInit();
  rewriter.replaceOp(epilogue, fused.getResults());
  rewriter.eraseOp(pass);
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
    if (!isa<PassOp>(op->getParentOp()))
      epilogues.push_back(op);
  });
  for (EpilogueOp epilogue : epilogues) {
    PassOp pass = getProducer(epilogue);
    if (!pass)
      continue;
    Location loc = epilogue.getLoc();
    PassOp fused = createFused(rewriter, pass, epilogue);
    if (std::optional<std::string> reason = getReason(pass, fused)) {
      rewriter.eraseOp(fused);
      remark::missed(loc,
                     remark::RemarkOpts::name("Epilogue").category("kron-fuse"))
          << "the epilogue is a kernel of its own: " + *reason;
      continue;
    }
    replaceBoth(rewriter, pass, epilogue, fused);
    remark::passed(loc,
                   remark::RemarkOpts::name("Epilogue").category("kron-fuse"))
        << "the epilogue is part of its product";
  }
}
