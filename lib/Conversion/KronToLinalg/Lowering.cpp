//===- Lowering.cpp - Reference lowering of each operation ----------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Says for each operation how its arrays are viewed in the common index space
// of its mode products; the steps do the rest. The code follows the formulas of
// KronOps.td and shares nothing with --kron-decompose, whose results it checks.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Steps.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::kron;

Epilogue kron::getScaling(ScaledOpInterface op) {
  Epilogue epilogue;
  epilogue.alpha = getAlpha(op);
  epilogue.beta = getBeta(op);
  epilogue.addend = op.getAddendValue();
  return epilogue;
}

//===----------------------------------------------------------------------===//
// kron.mkm, kron.kmm, kron.batched
//===----------------------------------------------------------------------===//

namespace {
/// One factor of a product: how it is indexed, the axis it contracts, and which
/// of its dimensions is p (it depends on the op() of the factor).
struct ProductFactor {
  View view;
  int64_t axis;
  unsigned contractedDim;
  /// Sizes of p and q; kDynamic if unknown.
  std::pair<int64_t, int64_t> shape;
};

/// The index space of a product: batch axes, then the axes of the factors in
/// their order, with the axis of M before (kron.mkm), after (kron.kmm) or
/// nowhere (kron.batched).
struct ProductSpace {
  unsigned batchRank;
  unsigned rank;
  int64_t firstFactorAxis;
  std::optional<int64_t> matrixAxis;
};
} // namespace

static ProductSpace getSpace(MkmOp op) {
  unsigned batch = getArrayRank(op.getInit()) - 2,
           count = op.getFactors().size();
  return {batch, batch + 1 + count, batch + 1, batch};
}

static ProductSpace getSpace(KmmOp op) {
  unsigned batch = getArrayRank(op.getInit()) - 2,
           count = op.getFactors().size();
  return {batch, batch + 1 + count, batch, batch + count};
}

static ProductSpace getSpace(BatchedOp op) {
  unsigned count = op.getFactors().size();
  unsigned batch = getArrayRank(op.getInit()) - count;
  return {batch, batch + count, batch, std::nullopt};
}

/// The last `count` of `total` batch axes: batch dimensions align at the right.
static SmallVector<int64_t> getBatchAxes(unsigned total, unsigned count) {
  return llvm::to_vector(llvm::seq<int64_t>(total - count, total));
}

/// The factors, in the order of the operation.
template <typename OpTy>
static SmallVector<ProductFactor> getFactors(OpTy op,
                                             const ProductSpace &space) {
  bool contractsRows = isa<MkmOp>(op.getOperation());
  SmallVector<ProductFactor> factors;
  for (auto [index, value] : llvm::enumerate(op.getFactors())) {
    Transpose transpose = op.getFactorTranspose(index);
    unsigned batchRank = getArrayRank(value) - 2;
    bool contractsFirst = contractsRows == (transpose == Transpose::N);
    View view{value, getBatchAxes(space.batchRank, batchRank),
              transpose == Transpose::C};
    view.axes.push_back(contractsFirst ? ModeProductOp::kContracted
                                       : ModeProductOp::kResulting);
    view.axes.push_back(contractsFirst ? ModeProductOp::kResulting
                                       : ModeProductOp::kContracted);
    factors.push_back({view,
                       space.firstFactorAxis + static_cast<int64_t>(index),
                       batchRank + !contractsFirst, op.getFactorShape(index)});
  }
  return factors;
}

/// Puts the factors that shrink the array first, so that no intermediate is
/// larger than both the input and the result.
static void sortByGrowth(SmallVectorImpl<ProductFactor> &factors) {
  bool allStatic = llvm::all_of(factors, [](const ProductFactor &factor) {
    return ShapedType::isStatic(factor.shape.first) &&
           ShapedType::isStatic(factor.shape.second);
  });
  if (!allStatic)
    return;
  llvm::sort(factors, [](const ProductFactor &a, const ProductFactor &b) {
    double growth = static_cast<double>(a.shape.second) * b.shape.first;
    double otherGrowth = static_cast<double>(b.shape.second) * a.shape.first;
    return growth != otherGrowth ? growth < otherGrowth : a.axis < b.axis;
  });
}

/// The input with its dimension of size P1*...*PN split into the axes of the
/// factors.
static View getInputView(ArrayEmitter &emitter, Value input, bool transposed,
                         bool conjugate, ArrayRef<ProductFactor> factors,
                         const ProductSpace &space) {
  View view{input, {}, conjugate};
  SmallVector<int64_t> factorAxes;
  SmallVector<OpFoldResult> sizes;
  for (const ProductFactor &factor : factors) {
    factorAxes.push_back(factor.axis);
    sizes.push_back(emitter.getSize(factor.view.value, factor.contractedDim));
  }
  if (!space.matrixAxis) {
    view.axes =
        getBatchAxes(space.batchRank, getArrayRank(input) - factors.size());
    if (transposed)
      std::reverse(factorAxes.begin(), factorAxes.end());
    llvm::append_range(view.axes, factorAxes);
    return view;
  }
  unsigned batchRank = getArrayRank(input) - 2;
  view.axes = getBatchAxes(space.batchRank, batchRank);
  bool matrixFirst = (*space.matrixAxis < space.firstFactorAxis) != transposed;
  view.value = emitter.splitDim(input, batchRank + matrixFirst, sizes);
  if (matrixFirst)
    view.axes.push_back(*space.matrixAxis);
  llvm::append_range(view.axes, factorAxes);
  if (!matrixFirst)
    view.axes.push_back(*space.matrixAxis);
  return view;
}

template <typename OpTy>
static Value emitProduct(ArrayEmitter &emitter, OpTy op) {
  Epilogue epilogue = getScaling(op);
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, op.getInit());
  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  ProductSpace space = getSpace(op);
  SmallVector<ProductFactor> factors = getFactors(op, space);
  Transpose transpose = op.getTransInput();
  View current = getInputView(emitter, op.getInput(), transpose != Transpose::N,
                              transpose == Transpose::C, factors, space);
  sortByGrowth(factors);
  for (const ProductFactor &factor : factors)
    current = emitContraction(emitter, current, factor.view, factor.axis,
                              space.rank, accumulator);
  Value product = current.value;
  if (space.matrixAxis)
    product = emitter.mergeDims(product, space.firstFactorAxis, factors.size());
  return emitStore(emitter, product, epilogue, op.getInit());
}

//===----------------------------------------------------------------------===//
// kron.ksmm
//===----------------------------------------------------------------------===//

/// Axes: batch n, blocks i, contracted k or resulting j, inner t. The batch is
/// first or last.
static Value emitKsmm(ArrayEmitter &emitter, KsmmOp op) {
  Epilogue epilogue = getScaling(op);
  epilogue.bias = op.getBias();
  epilogue.biasAxes.push_back(op.getFeatureDim());
  epilogue.activation = op.getActivation();
  epilogue.scale = op.getScaleAttr();
  epilogue.residual = op.getResidual();
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, op.getInit());

  bool batchFirst = op.getBatchDim() == 0;
  int64_t batchAxis = batchFirst ? 0 : 3, blockAxis = batchFirst ? 1 : 0;
  int64_t axis = blockAxis + 1, innerAxis = blockAxis + 2;
  bool usesTransposed = op.getTransWeights() != Transpose::N;
  unsigned contractedDim = usesTransposed ? 1 : 2;
  View weights{op.getWeights(),
               {blockAxis, ModeProductOp::kResulting,
                ModeProductOp::kContracted, innerAxis},
               op.getTransWeights() == Transpose::C};
  if (usesTransposed)
    std::swap(weights.axes[1], weights.axes[2]);

  Transpose transpose = op.getTransInput();
  unsigned featureDim =
      transpose == Transpose::N ? op.getFeatureDim() : 1 - op.getFeatureDim();
  SmallVector<OpFoldResult> sizes = {
      emitter.getSize(weights.value, 0),
      emitter.getSize(weights.value, contractedDim),
      emitter.getSize(weights.value, 3)};
  View input{emitter.splitDim(op.getInput(), featureDim, sizes),
             {blockAxis, axis, innerAxis},
             transpose == Transpose::C};
  input.axes.insert(featureDim == 0 ? input.axes.end() : input.axes.begin(),
                    batchAxis);

  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  View result =
      emitContraction(emitter, input, weights, axis, /*rank=*/4, accumulator);
  Value product = emitter.mergeDims(result.value, blockAxis, 3);
  return emitStore(emitter, product, epilogue, op.getInit());
}

//===----------------------------------------------------------------------===//
// kron.mode_product, kron.epilogue, kron.fused
//===----------------------------------------------------------------------===//

/// Applies the factor of `op`, whose value outside of a fused region is
/// `factor`, to `input`.
static View emitModeContraction(ArrayEmitter &emitter, ModeProductOp op,
                                View input, Value factor, Type accumulator) {
  input.conjugate = op.getConjInput();
  View factorView{factor, SmallVector<int64_t>(op.getFactorDims()),
                  op.getConjFactor()};
  return emitContraction(emitter, input, factorView, op.getAxis(),
                         getArrayRank(op.getInit()), accumulator);
}

static Value emitModeProduct(ArrayEmitter &emitter, ModeProductOp op) {
  Epilogue epilogue = getScaling(op);
  Value product;
  if (!epilogue.alpha.isZero())
    product = emitModeContraction(
                  emitter, op, View::get(op.getInput()), op.getFactor(),
                  getAccumulatorType(kron::getElementType(op.getInit())))
                  .value;
  return emitStore(emitter, product, epilogue, op.getInit());
}

/// Adds what `op` does, whose values outside of a fused region are in
/// `mapping`.
static void addEpilogue(Epilogue &epilogue, EpilogueOp op,
                        const IRMapping &mapping) {
  if (op.getBias())
    epilogue.bias = mapping.lookupOrDefault(op.getBias());
  if (op.getResidual())
    epilogue.residual = mapping.lookupOrDefault(op.getResidual());
  epilogue.biasAxes = llvm::to_vector(op.getBiasAxes());
  epilogue.activation = op.getActivation();
  epilogue.scale = op.getScaleAttr();
}

static Value emitEpilogue(ArrayEmitter &emitter, EpilogueOp op) {
  Epilogue epilogue;
  Type accumulator = getAccumulatorType(kron::getElementType(op.getInit()));
  epilogue.alpha.constant = getScalarAttr(accumulator, 1.0);
  epilogue.beta.constant = getScalarAttr(accumulator, 0.0);
  addEpilogue(epilogue, op, IRMapping());
  return emitStore(emitter, op.getInput(), epilogue, op.getInit());
}

/// Recomputes outside of the region what scalars it computes: alpha and beta
/// may be among them. What depends on an intermediate or its
/// destination is left out.
static void emitFusedScalars(ArrayEmitter &emitter, FusedOp fused,
                             IRMapping &mapping) {
  OpBuilder &builder = emitter.getBuilder();
  for (Operation &op : fused.getBody().front().without_terminator()) {
    bool isAvailable = llvm::all_of(op.getOperands(), [&](Value operand) {
      return mapping.contains(operand) ||
             operand.getParentRegion() != &fused.getBody();
    });
    if (!isAvailable || isa<ModeProductOp, EpilogueOp, tensor::EmptyOp,
                            tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      continue;
    auto lookup = [&](Value value) { return mapping.lookupOrDefault(value); };
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      mapping.map(
          extract.getResult(),
          emitter.emitLoad(builder, op.getLoc(), lookup(extract.getTensor()),
                           llvm::map_to_vector(extract.getIndices(), lookup)));
    else if (auto dim = dyn_cast<tensor::DimOp>(op))
      mapping.map(dim.getResult(), emitter.emitDim(lookup(dim.getSource()),
                                                   lookup(dim.getIndex())));
    else
      builder.clone(op, mapping);
  }
}

/// Scaling of the last mode product of a fused region, on the values outside of
/// the region. Fails if alpha or beta depend on what exists only inside of it.
static FailureOr<Epilogue> getFusedScaling(FusedOp fused, ModeProductOp last,
                                           IRMapping &mapping) {
  Epilogue epilogue = getScaling(last);
  for (Scale *scale : {&epilogue.alpha, &epilogue.beta}) {
    if (!scale->value)
      continue;
    scale->value = mapping.lookupOrDefault(scale->value);
    if (scale->value.getParentRegion() == &fused.getBody())
      return failure();
  }
  Value addend = epilogue.addend ? epilogue.addend : last.getInit();
  addend = mapping.lookupOrDefault(addend);
  // Without an addend Z is what the last destination held before: that of the
  // kron.fused, unless the region names another operand.
  bool isOwn = addend == fused.getInit() || addend == last.getInit();
  epilogue.addend = isOwn ? Value() : addend;
  return epilogue;
}

/// `array`, which is contiguous, as `reshape` regroups it. An axis of unknown
/// size has to stay as it is.
static FailureOr<Value> emitReshape(ArrayEmitter &emitter, Operation *reshape,
                                    Value array) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
    auto groups = collapse.getReassociationIndices();
    for (const ReassociationIndices &group : llvm::reverse(groups))
      array = emitter.mergeDims(array, group.front(), group.size());
    return array;
  }
  auto expand = cast<tensor::ExpandShapeOp>(reshape);
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  auto groups = expand.getReassociationIndices();
  for (unsigned dim = groups.size(); dim-- > 0;) {
    const ReassociationIndices &group = groups[dim];
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis : group) {
      if (group.size() > 1 && ShapedType::isDynamic(shape[axis]))
        return failure();
      sizes.push_back(emitter.getBuilder().getIndexAttr(shape[axis]));
    }
    array = emitter.splitDim(array, dim, sizes);
  }
  return array;
}

static Value emitFusedOp(ArrayEmitter &emitter, FusedOp fused) {
  IRMapping mapping;
  Block &block = fused.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), fused->getOperands()))
    mapping.map(argument, operand);

  View current = View::get(fused.getInputs().front());
  if (auto permutation = fused.getInputPermutation())
    for (auto [axis, dim] : llvm::enumerate(*permutation))
      current.axes[dim] = axis;

  SmallVector<ModeProductOp> products = fused.getModeProducts();
  emitFusedScalars(emitter, fused, mapping);
  FailureOr<Epilogue> scaling =
      getFusedScaling(fused, products.back(), mapping);
  if (failed(scaling))
    return Value();
  Epilogue &epilogue = *scaling;
  if (EpilogueOp op = fused.getEpilogue())
    addEpilogue(epilogue, op, mapping);
  Type accumulator = getAccumulatorType(kron::getElementType(fused.getInit()));
  if (epilogue.alpha.isZero())
    return emitStore(emitter, Value(), epilogue, fused.getInit());
  for (ModeProductOp product : products) {
    for (Operation *reshape : getInputReshapes(product)) {
      FailureOr<Value> array = emitReshape(emitter, reshape, current.value);
      if (failed(array))
        return Value();
      current = View::get(*array);
    }
    current =
        emitModeContraction(emitter, product, current,
                            mapping.lookup(product.getFactor()), accumulator);
  }
  return emitStore(emitter, current.value, epilogue, fused.getInit());
}

Value kron::emitReference(ArrayEmitter &emitter, Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<MkmOp, KmmOp, BatchedOp>(
          [&](auto product) { return emitProduct(emitter, product); })
      .Case([&](KsmmOp ksmm) { return emitKsmm(emitter, ksmm); })
      .Case<KsmmGradOp, FactorGradOp, BiasGradOp>(
          [&](auto grad) { return emitGradient(emitter, grad); })
      .Case([&](ModeProductOp product) {
        return emitModeProduct(emitter, product);
      })
      .Case([&](EpilogueOp end) { return emitEpilogue(emitter, end); })
      .Case([&](FusedOp fused) { return emitFusedOp(emitter, fused); })
      .Default(Value());
}
