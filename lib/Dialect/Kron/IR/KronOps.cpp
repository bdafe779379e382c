//===- KronOps.cpp - Operations of the kron dialect -*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "KronAssembly.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

#define GET_OP_CLASSES
#include "kron/Dialect/Kron/IR/KronOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Destinations are written; of the memref operands, those are read that
/// `isRead` says so of.
static void addEffects(DestinationStyleOpInterface op,
                       function_ref<bool(OpOperand &)> isRead,
                       Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isRead(operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

/// beta = 0 does not read Z, alpha = 0 neither the input nor the factors.
template <typename OpTy>
static void addScaledEffects(OpTy op, Effects &effects) {
  bool readsProduct = !kron::getAlpha(op).isZero();
  bool readsZ = !kron::getBeta(op).isZero();
  unsigned numProductOperands = 1 + op.getFactorValues().size();
  addEffects(
      cast<DestinationStyleOpInterface>(op.getOperation()),
      [&](OpOperand &operand) {
        if (operand.getOperandNumber() < numProductOperands)
          return readsProduct;
        if (&operand == &op.getInitMutable())
          return readsZ && !op.getAddend();
        return readsZ || !op.getAddend() ||
               &operand != &op.getAddendMutable()[0];
      },
      effects);
}

void MkmOp::getEffects(Effects &effects) { addScaledEffects(*this, effects); }
void KmmOp::getEffects(Effects &effects) { addScaledEffects(*this, effects); }
void BatchedOp::getEffects(Effects &effects) {
  addScaledEffects(*this, effects);
}
void KsmmOp::getEffects(Effects &effects) { addScaledEffects(*this, effects); }
void KsmmGradOp::getEffects(Effects &effects) {
  addScaledEffects(*this, effects);
}
void FactorGradOp::getEffects(Effects &effects) {
  addScaledEffects(*this, effects);
}
void BiasGradOp::getEffects(Effects &effects) {
  addScaledEffects(*this, effects);
}
void ModeProductOp::getEffects(Effects &effects) {
  addScaledEffects(*this, effects);
}
void FusedOp::getEffects(Effects &effects) {
  bool readsOld = readsInit();
  addEffects(
      *this,
      [&](OpOperand &operand) {
        return readsOld || &operand != &getInitMutable();
      },
      effects);
}
void EpilogueOp::getEffects(Effects &effects) {
  addEffects(
      *this, [&](OpOperand &operand) { return &operand != &getInitMutable(); },
      effects);
}
void QuantizeOp::getEffects(Effects &effects) {
  addEffects(
      *this, [&](OpOperand &operand) { return !isDpsInit(&operand); }, effects);
}

//===----------------------------------------------------------------------===//
// Result shapes: those of the destination
//===----------------------------------------------------------------------===//

static LogicalResult reifyInitShape(OpBuilder &builder, Operation *op,
                                    Value init,
                                    ReifiedRankedShapedTypeDims &shapes) {
  if (op->getNumResults())
    shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(), init));
  return success();
}

#define KRON_REIFY(OpTy)                                                       \
  LogicalResult OpTy::reifyResultShapes(OpBuilder &builder,                    \
                                        ReifiedRankedShapedTypeDims &shapes) { \
    return reifyInitShape(builder, *this, getInit(), shapes);                  \
  }
KRON_REIFY(MkmOp)
KRON_REIFY(KmmOp)
KRON_REIFY(BatchedOp)
KRON_REIFY(KsmmOp)
KRON_REIFY(KsmmGradOp)
KRON_REIFY(FactorGradOp)
KRON_REIFY(BiasGradOp)
KRON_REIFY(ModeProductOp)
KRON_REIFY(FusedOp)
KRON_REIFY(EpilogueOp)
#undef KRON_REIFY

LogicalResult
QuantizeOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  if (failed(reifyInitShape(builder, *this, getInit(), shapes)))
    return failure();
  return reifyInitShape(builder, *this, getScales(), shapes);
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

static Transpose getTransposeAt(std::optional<ArrayAttr> transposes,
                                unsigned index) {
  if (!transposes)
    return Transpose::N;
  return cast<TransposeAttr>((*transposes)[index]).getValue();
}

/// Last two sizes of factor `index`, exchanged if `swapped`.
static std::pair<int64_t, int64_t> getMatrixShape(Value factor, bool swapped) {
  auto shape = cast<ShapedType>(factor.getType()).getShape();
  std::pair<int64_t, int64_t> sizes(shape[shape.size() - 2], shape.back());
  if (swapped)
    std::swap(sizes.first, sizes.second);
  return sizes;
}

#define KRON_FACTOR_ACCESSORS(OpTy, CONTRACTS_COLUMNS)                         \
  ValueRange OpTy::getFactorValues() { return getFactors(); }                  \
  Transpose OpTy::getFactorTranspose(unsigned index) {                         \
    return getTransposeAt(getTransFactors(), index);                           \
  }                                                                            \
  std::pair<int64_t, int64_t> OpTy::getFactorShape(unsigned index) {           \
    bool transposed = getFactorTranspose(index) != Transpose::N;               \
    return getMatrixShape(getFactors()[index],                                 \
                          transposed != (CONTRACTS_COLUMNS));                  \
  }
KRON_FACTOR_ACCESSORS(MkmOp, false)
KRON_FACTOR_ACCESSORS(KmmOp, true)
KRON_FACTOR_ACCESSORS(BatchedOp, true)
#undef KRON_FACTOR_ACCESSORS

ValueRange KsmmOp::getFactorValues() { return getODSOperands(1); }

bool KsmmOp::hasEpilogue() {
  return getBias() || getResidual() || getScale() ||
         getActivation() != Activation::Identity;
}

SmallVector<int64_t, 4> KsmmOp::getPattern() {
  SmallVector<int64_t, 4> pattern(
      cast<ShapedType>(getWeights().getType()).getShape());
  if (getTransWeights() != Transpose::N)
    std::swap(pattern[1], pattern[2]);
  return pattern;
}

unsigned KsmmOp::getBatchDim() {
  return getLayout() == Layout::BatchFirst ? 0 : 1;
}

unsigned KsmmOp::getFeatureDim() { return 1 - getBatchDim(); }

unsigned QuantizeOp::getFirstBatchDim() {
  if (getLayout() == Layout::BatchFirst)
    return 0;
  return cast<ShapedType>(getInput().getType()).getRank() -
         cast<ShapedType>(getScales().getType()).getRank();
}

ValueRange KsmmGradOp::getFactorValues() { return getODSOperands(1); }

ArrayRef<int64_t> KsmmGradOp::getPattern() {
  if (std::optional<ArrayRef<int64_t>> pattern = getProductPattern())
    return *pattern;
  return cast<ShapedType>(getInit().getType()).getShape();
}

/// Whether `op` sums over dimension `dim` of its pattern.
static bool sharesDim(KsmmGradOp op, unsigned dim) {
  return op.getPattern()[dim] !=
         cast<ShapedType>(op.getInit().getType()).getDimSize(dim);
}

bool KsmmGradOp::sharesBlocks() { return sharesDim(*this, 0); }
bool KsmmGradOp::sharesInner() { return sharesDim(*this, 3); }

unsigned KsmmGradOp::getBatchDim() {
  return getLayout() == Layout::BatchFirst ? 0 : 1;
}

ValueRange FactorGradOp::getFactorValues() {
  return getOperation()->getOperands().slice(1, 1 + getFactors().size());
}

Transpose FactorGradOp::getFactorTranspose(unsigned number) {
  return getTransposeAt(getTransFactors(), number);
}

SmallVector<std::pair<int64_t, int64_t>> FactorGradOp::getFactorShapes() {
  bool isRight = getLayout() == Layout::BatchFirst;
  SmallVector<std::pair<int64_t, int64_t>> shapes;
  for (unsigned number = 0; number < getFactors().size(); ++number) {
    bool transposed = getFactorTranspose(number) != Transpose::N;
    shapes.push_back(
        getMatrixShape(getFactors()[number], transposed == isRight));
  }
  shapes.insert(shapes.begin() + getIndex(),
                getMatrixShape(getInit(), !isRight));
  return shapes;
}

unsigned FactorGradOp::getRowsDim() {
  unsigned rank = cast<ShapedType>(getInput().getType()).getRank();
  return getLayout() == Layout::BatchFirst ? rank - 2 : rank - 1;
}

unsigned FactorGradOp::getFeatureDim() {
  unsigned rank = cast<ShapedType>(getInput().getType()).getRank();
  return getLayout() == Layout::BatchFirst ? rank - 1 : rank - 2;
}

bool FactorGradOp::hasKnownShapes() {
  for (auto [p, q] : getFactorShapes())
    if (ShapedType::isDynamic(p) || ShapedType::isDynamic(q))
      return false;
  if (getLayout() == Layout::BatchFirst)
    return true;
  auto isKnown = [&](unsigned dim) {
    auto isStatic = [&](Value array) {
      return !cast<ShapedType>(array.getType()).isDynamicDim(dim);
    };
    return isStatic(getInput()) || isStatic(getGrad());
  };
  return isKnown(getRowsDim()) ||
         llvm::all_of(llvm::seq<unsigned>(0, getFeatureDim()), isKnown);
}

ValueRange BiasGradOp::getFactorValues() { return {}; }

unsigned BiasGradOp::getBatchDim() {
  return getLayout() == Layout::BatchFirst ? 0 : 1;
}

ValueRange ModeProductOp::getFactorValues() { return getODSOperands(1); }

unsigned ModeProductOp::getContractedFactorDim() {
  return llvm::find(getFactorDims(), kContracted) - getFactorDims().begin();
}

unsigned ModeProductOp::getResultingFactorDim() {
  return llvm::find(getFactorDims(), kResulting) - getFactorDims().begin();
}

Value FusedOp::getOperandOf(Value argument) {
  return getOperation()->getOperand(
      cast<BlockArgument>(argument).getArgNumber());
}

SmallVector<ModeProductOp, 4> FusedOp::getModeProducts() {
  return llvm::to_vector(getBody().getOps<ModeProductOp>());
}

EpilogueOp FusedOp::getEpilogue() {
  auto epilogues = getBody().getOps<EpilogueOp>();
  return epilogues.empty() ? EpilogueOp() : *epilogues.begin();
}

bool FusedOp::readsInit() {
  for (OpOperand &use : getBody().front().getArguments().back().getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto product = dyn_cast<ModeProductOp>(use.getOwner());
    auto epilogue = dyn_cast<EpilogueOp>(use.getOwner());
    bool isWritten = (epilogue && &use == &epilogue.getInitMutable()) ||
                     (product && &use == &product.getInitMutable() &&
                      (product.getAddend() || kron::getBeta(product).isZero()));
    if (!isWritten)
      return true;
  }
  return false;
}
