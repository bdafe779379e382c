//===- BufferizableOpInterfaceImpl.cpp - Bufferization of kron --*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All operations of the dialect bufferize alike: arrays are read, destinations
// are written in place and stand for the results. The region of a
// kron.fused stays on tensors, since its values live on chip.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/Transforms/BufferizableOpInterfaceImpl.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::bufferization;

static bool readsInit(ScaledOpInterface op) {
  return !op.getAddendValue() && !getBeta(op).isZero();
}

static bool readsInit(FusedOp op) { return op.readsInit(); }

static bool readsInit(EpilogueOp) { return false; }

static bool readsInit(QuantizeOp) { return false; }

static bool readsInit(PairOpInterface) { return false; }

/// The operation on memrefs: same attributes and regions, no results.
static LogicalResult bufferizeKronOp(Operation *op, RewriterBase &rewriter,
                                     const BufferizationOptions &options,
                                     BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isa<TensorType>(operand.getType())) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operand = *buffer;
    }
    operands.push_back(operand);
  }
  SmallVector<Value> destinations;
  for (OpOperand &init :
       cast<DestinationStyleOpInterface>(op).getDpsInitsMutable())
    destinations.push_back(operands[init.getOperandNumber()]);
  rewriter.setInsertionPoint(op);
  Operation *newOp = Operation::create(
      op->getLoc(), op->getName(), TypeRange(), operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      BlockRange(), op->getNumRegions());
  rewriter.insert(newOp);
  for (auto [newRegion, region] :
       llvm::zip(newOp->getRegions(), op->getRegions()))
    rewriter.inlineRegionBefore(region, newRegion, newRegion.end());
  replaceOpWithBufferizedValues(rewriter, op, destinations);
  return success();
}

namespace {

template <typename OpTy>
struct KronOpModel
    : DstBufferizableOpInterfaceExternalModel<KronOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto kronOp = cast<OpTy>(op);
    if (!cast<DestinationStyleOpInterface>(op).isDpsInit(&operand))
      return true;
    if constexpr (std::is_same_v<OpTy, FusedOp> ||
                  std::is_same_v<OpTy, EpilogueOp> ||
                  std::is_same_v<OpTy, QuantizeOp> ||
                  std::is_convertible_v<OpTy, PairOpInterface>)
      return readsInit(kronOp);
    else
      return readsInit(cast<ScaledOpInterface>(op));
  }

  /// The addend may alias the destination, and so may all that an epilogue
  /// reads but its bias: element by element it is read before the destination
  /// is written.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write,
                        const AnalysisState &state) const {
    if (auto epilogue = dyn_cast<EpilogueOp>(op))
      return read->getOwner() == op && write->getOwner() == op &&
             read->get() != epilogue.getBias() &&
             state.areEquivalentBufferizedValues(read->get(), write->get());
    auto scaled = dyn_cast<ScaledOpInterface>(op);
    return scaled && read->getOwner() == op && write->getOwner() == op &&
           read->get() == scaled.getAddendValue() &&
           write->get() == scaled.getInitValue() &&
           read->get() != scaled.getInputValue() &&
           !llvm::is_contained(scaled.getFactorValues(), read->get()) &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return bufferizeKronOp(op, rewriter, options, state);
  }
};

} // namespace

void kron::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KronDialect *) {
    MkmOp::attachInterface<KronOpModel<MkmOp>>(*context);
    KmmOp::attachInterface<KronOpModel<KmmOp>>(*context);
    BatchedOp::attachInterface<KronOpModel<BatchedOp>>(*context);
    KsmmOp::attachInterface<KronOpModel<KsmmOp>>(*context);
    KsmmGradOp::attachInterface<KronOpModel<KsmmGradOp>>(*context);
    FactorGradOp::attachInterface<KronOpModel<FactorGradOp>>(*context);
    BiasGradOp::attachInterface<KronOpModel<BiasGradOp>>(*context);
    ModeProductOp::attachInterface<KronOpModel<ModeProductOp>>(*context);
    FusedOp::attachInterface<KronOpModel<FusedOp>>(*context);
    EpilogueOp::attachInterface<KronOpModel<EpilogueOp>>(*context);
    QuantizeOp::attachInterface<KronOpModel<QuantizeOp>>(*context);
    PairwiseOp::attachInterface<KronOpModel<PairwiseOp>>(*context);
    PairwiseApplyOp::attachInterface<KronOpModel<PairwiseApplyOp>>(*context);
    PairwiseTangentOp::attachInterface<KronOpModel<PairwiseTangentOp>>(
        *context);
    PairwiseGradOp::attachInterface<KronOpModel<PairwiseGradOp>>(*context);
  });
}
