//===- KronVerifyMid.cpp - Verifiers of the mid-level operations *- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// kron.mode_product, kron.epilogue and kron.fused; tags such as
// `mode_product_c2` name the constraint of the operation's description that a
// check belongs to.
//
//===----------------------------------------------------------------------===//

#include "KronShapes.h"
#include "KronVerify.h"
#include "kron/Dialect/Kron/IR/KronReshapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

/// mode_product_c1: ranks, axis, and the sizes of all axes but the contracted.
static LogicalResult verifyAxes(ModeProductOp op,
                                SmallVectorImpl<int64_t> &initShape) {
  NamedArray init{"the outs", op.getInit()};
  int64_t rank = getRank(op.getInput());
  if (failed(verifyRank(op, init, rank)))
    return failure();
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= rank)
    return op.emitOpError("expects axis to be in [0, ")
           << rank << "), but got " << axis;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = getDimSize(op.getInput(), dim);
    if (dim == axis || size == 1)
      continue;
    if (failed(verifyDim(op, init, dim, size, "the size in the input")))
      return failure();
    refineSize(initShape[dim], size);
  }
  return success();
}

/// mode_product_c2: every dimension of the factor has one role.
static LogicalResult verifyFactorDims(ModeProductOp op) {
  ArrayRef<int64_t> roles = op.getFactorDims();
  int64_t factorRank = getRank(op.getFactor());
  if (static_cast<int64_t>(roles.size()) != factorRank)
    return op.emitOpError("expects factor_dims to have ")
           << factorRank
           << " entries, one per dimension of the factor, but got "
           << roles.size();
  for (auto [role, name] :
       {std::pair<int64_t, StringRef>(ModeProductOp::kContracted, "p"),
        std::pair<int64_t, StringRef>(ModeProductOp::kResulting, "q")})
    if (llvm::count(roles, role) != 1)
      return op.emitOpError("expects factor_dims to contain `")
             << name << "` exactly once, but got " << llvm::count(roles, role)
             << " times";
  int64_t rank = getRank(op.getInput());
  for (int64_t role : roles) {
    if (role == ModeProductOp::kContracted || role == ModeProductOp::kResulting)
      continue;
    if (role < 0 || role >= rank)
      return op.emitOpError("expects the axes in factor_dims to be in [0, ")
             << rank << "), but got " << role;
    if (role == static_cast<int64_t>(op.getAxis()))
      return op.emitOpError("expects factor_dims to name the contracted axis ")
             << role << " as `p` or `q` only";
    if (llvm::count(roles, role) != 1)
      return op.emitOpError("expects factor_dims to contain axis ")
             << role << " at most once, but got " << llvm::count(roles, role)
             << " times";
  }
  return success();
}

/// mode_product_c3: sizes of the factor.
static LogicalResult verifyFactorSizes(ModeProductOp op,
                                       SmallVectorImpl<int64_t> &initShape) {
  NamedArray factor{"the factor", op.getFactor()};
  unsigned axis = op.getAxis();
  for (auto [dim, role] : llvm::enumerate(op.getFactorDims())) {
    int64_t size = getDimSize(op.getFactor(), dim);
    if (role == ModeProductOp::kContracted) {
      if (failed(verifyDim(op, factor, dim, getDimSize(op.getInput(), axis),
                           "the size of the contracted axis of the input")))
        return failure();
      continue;
    }
    bool isResulting = role == ModeProductOp::kResulting;
    if (!isResulting && size == 1)
      continue;
    int64_t &initSize = initShape[isResulting ? axis : role];
    if (failed(verifyDim(op, factor, dim, initSize,
                         isResulting
                             ? "the size of the resulting axis of the outs"
                             : "the size of axis " + Twine(role) +
                                   " of the outs, or 1")))
      return failure();
    refineSize(initSize, size);
  }
  return success();
}

/// The type of a mode product but for what may be wider or narrower: beside a
/// factor of 8 bits, that of the input, or else of the result.
static Type getProductElement(ModeProductOp op) {
  Type element = getElementType(op.getFactor());
  Type input = getElementType(op.getInput());
  Type init = getElementType(op.getInit());
  if (!isFloat8(element) || !isa<FloatType>(init))
    return element;
  return isa<FloatType>(input) && !isFloat8(input) ? input : init;
}

/// mode_product_c4: intermediates of f16 and bf16 chains are f32.
static LogicalResult verifyModeProductElements(ModeProductOp op) {
  Type element = getProductElement(op);
  Type accumulator = getAccumulatorType(element);
  for (const NamedArray &array : {NamedArray{"the input", op.getInput()},
                                  NamedArray{"the outs", op.getInit()}}) {
    Type type = getElementType(array.value);
    if (type == element || type == accumulator ||
        (isFloat8(type) && isa<FloatType>(element)))
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError("expects ")
                                    << array.name << " to have element type "
                                    << element;
    if (accumulator != element)
      diagnostic << " or " << accumulator;
    return diagnostic << " as the factor, but got " << type;
  }
  // mode_product_c5
  if (!op.getAddend())
    return success();
  Type initElement = getElementType(op.getInit());
  Type addendElement = getElementType(op.getAddend());
  if (addendElement != initElement)
    return op.emitOpError("expects the addend to have element type ")
           << initElement << " as the outs, but got " << addendElement;
  return success();
}

LogicalResult ModeProductOp::verify() {
  SmallVector<int64_t> initShape = getShape(getInit());
  if (failed(verifyScaledOp(*this)) ||
      failed(verifyModeProductElements(*this)) ||
      failed(verifyAxes(*this, initShape)) || failed(verifyFactorDims(*this)) ||
      failed(verifyFactorSizes(*this, initShape)))
    return failure();
  // mode_product_c5
  return verifyShapeOfInit(*this, {"the addend", getAddend()}, initShape);
}

//===----------------------------------------------------------------------===//
// kron.epilogue
//===----------------------------------------------------------------------===//

/// epilogue_c2: what is rounded is the result alone.
static LogicalResult verifyEpilogueElements(EpilogueOp op,
                                            ArrayRef<NamedArray> arrays) {
  Type element = getElementType(op.getInit());
  Type accumulator = getAccumulatorType(element);
  for (const NamedArray &array : arrays) {
    Type type = getElementType(array.value);
    bool isInput = array.value == op.getInput();
    if (type == element || (isInput && type == accumulator))
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError("expects ")
                                    << array.name << " to have element type "
                                    << element;
    if (isInput && accumulator != element)
      diagnostic << " or " << accumulator;
    return diagnostic << " as the outs, but got " << type;
  }
  return op.getScaleAttr()
             ? verifyScalar(op, "scale", op.getScaleAttr(), op.getInit())
             : success();
}

/// epilogue_c3: every dimension of the bias has an axis.
static LogicalResult verifyBiasAxes(EpilogueOp op) {
  ArrayRef<int64_t> axes = op.getBiasAxes();
  int64_t rank = getRank(op.getInit());
  int64_t biasRank = op.getBias() ? getRank(op.getBias()) : 0;
  if (static_cast<int64_t>(axes.size()) != biasRank)
    return op.emitOpError("expects one axis for each of the ")
           << biasRank << " dimensions of the bias, but got " << axes.size();
  for (auto [dim, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= rank)
      return op.emitOpError("expects the axes of the bias to be in [0, ")
             << rank << "), but got " << axis;
    if (llvm::count(axes, axis) != 1)
      return op.emitOpError("expects the bias to name axis ")
             << axis << " once, but got " << llvm::count(axes, axis)
             << " times";
    if (failed(verifyDim(op, {"the bias", op.getBias()}, dim,
                         getDimSize(op.getInit(), axis),
                         "the size of axis " + Twine(axis) + " of the outs")))
      return failure();
  }
  return success();
}

LogicalResult EpilogueOp::verify() {
  SmallVector<NamedArray> arrays{{"the input", getInput()},
                                 {"the outs", getInit()}};
  if (getBias())
    arrays.push_back({"the bias", getBias()});
  if (getResidual())
    arrays.push_back({"the residual", getResidual()});
  SmallVector<int64_t> shape = getShape(getInit());
  if (failed(verifyArrayKinds(*this, arrays)) ||
      failed(verifyEpilogueElements(*this, arrays)) ||
      // epilogue_c1
      failed(verifyShapeOfInit(*this, {"the input", getInput()}, shape)) ||
      failed(verifyShapeOfInit(*this, {"the residual", getResidual()}, shape)))
    return failure();
  if (failed(verifyBiasAxes(*this)))
    return failure();
  // epilogue_c4
  return verifyActivation(*this, getActivation(), getInit());
}

//===----------------------------------------------------------------------===//
// kron.fused: operands
//===----------------------------------------------------------------------===//

/// fused_c2: the first argument's axes are all of the operand's.
static LogicalResult verifyInputPermutation(FusedOp op) {
  std::optional<ArrayRef<int64_t>> permutation = op.getInputPermutation();
  if (!permutation)
    return success();
  int64_t rank = getRank(op.getInputs().front());
  SmallVector<int64_t> sorted(*permutation);
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) == rank &&
      sorted == llvm::to_vector(llvm::seq<int64_t>(0, rank)))
    return success();
  return op.emitOpError("expects input_permutation to be a permutation of the ")
         << rank << " axes of the first input, but got ["
         << llvm::make_range(permutation->begin(), permutation->end()) << "]";
}

LogicalResult FusedOp::verify() {
  // fused_c1
  if (getInputs().empty())
    return emitOpError("expects at least one operand in ins, but got none");
  SmallVector<NamedArray> arrays;
  for (auto [index, input] : llvm::enumerate(getInputs()))
    arrays.push_back({"input " + std::to_string(index), input});
  arrays.push_back({"the outs", getInit()});
  if (failed(verifyArrayKinds(*this, arrays)) ||
      failed(verifyInputPermutation(*this)))
    return failure();

  // fused_c2
  Block &block = getBody().front();
  if (block.getNumArguments() != arrays.size())
    return emitOpError("expects ")
           << arrays.size() << " block arguments, one per operand, but got "
           << block.getNumArguments();
  for (auto [index, expected] : llvm::enumerate(getArgumentTypes(*this))) {
    Type type = block.getArgument(index).getType();
    if (type != expected)
      return emitOpError("expects block argument ")
             << index << " to have type " << expected << ", but got " << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// kron.fused: region
//===----------------------------------------------------------------------===//

/// Besides mode products only what regroups axes between them and what gives
/// shapes and scalars may stand in a kron.fused: code generators look at
/// nothing else.
static bool isAllowedInFusedOp(Operation &op) {
  if (isa<ModeProductOp, EpilogueOp, tensor::EmptyOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, YieldOp>(op))
    return true;
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
}

/// fused_c3: what stands in the region beside mode products.
static LogicalResult verifyFusedOps(FusedOp op) {
  for (Operation &nested : op.getBody().front())
    if (!isAllowedInFusedOp(nested))
      return op.emitOpError("expects only kron.mode_product, kron.epilogue, "
                            "tensor.empty, reshapes and scalar operations in "
                            "its region, but got '")
             << nested.getName() << "'";
  return success();
}

/// Arrays other than the chain itself come in as block arguments, where a code
/// generator finds the memory behind them.
static LogicalResult verifyFusedOperand(FusedOp op, unsigned number,
                                        StringRef name, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &op.getBody().front())
    return success();
  return op.emitOpError("expects the ") << name << " of mode product " << number
                                        << " to be an argument of its region";
}

/// Whether `value` goes to `next` as its input, regrouped or not, and nowhere
/// else.
static bool isUsedOnlyBy(Value value, ModeProductOp next) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    bool isInput = user == next && &use == &next.getInputMutable();
    bool isReshape =
        isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user) &&
        isUsedOnlyBy(user->getResult(0), next);
    if (!isInput && !isReshape)
      return false;
  }
  return true;
}

/// fused_c3: mode product `number` (from 1) of `products`.
static LogicalResult
verifyFusedStep(FusedOp op, ArrayRef<ModeProductOp> products, unsigned number) {
  ModeProductOp product = products[number - 1];
  bool isLast = number == products.size();
  if (product->getNumResults() == 0)
    return op.emitOpError("expects mode product ")
           << number << " to be on tensors, but got "
           << product.getInit().getType();
  Value expectedInput = number == 1 ? Value(op.getBody().getArgument(0))
                                    : products[number - 2]->getResult(0);
  Value input = product.getInput();
  SmallVector<Operation *> reshapes = getInputReshapes(product);
  if (number > 1 && !reshapes.empty())
    input = reshapes.front()->getOperand(0);
  if (input != expectedInput)
    return op.emitOpError("expects mode product ")
           << number << " to be applied to "
           << (number == 1 ? "the first block argument"
                           : "the result of the one before");
  if (failed(verifyFusedOperand(op, number, "factor", product.getFactor())) ||
      (product.getAddend() &&
       failed(verifyFusedOperand(op, number, "addend", product.getAddend()))))
    return failure();
  if (isLast)
    return success();
  if (product.getAlpha() || product.getStaticAlpha() || product.getBeta() ||
      product.getStaticBeta() || product.getAddend())
    return op.emitOpError("expects only the last mode product to have alpha, "
                          "beta or an addend, but number ")
           << number << " has";
  if (isUsedOnlyBy(product->getResult(0), products[number]))
    return success();
  return op.emitOpError("expects the result of mode product ")
         << number << " to be used only by the next one";
}

/// fused_c3: the epilogue, if there is one, behind the mode product `last`.
static LogicalResult verifyFusedEpilogue(FusedOp op, ModeProductOp last) {
  EpilogueOp epilogue = op.getEpilogue();
  if (!epilogue)
    return success();
  if (epilogue->getNumResults() == 0)
    return op.emitOpError(
               "expects its kron.epilogue to be on tensors, but got ")
           << epilogue.getInit().getType();
  if (epilogue.getInput() != last->getResult(0))
    return op.emitOpError("expects its kron.epilogue to be applied to the "
                          "result of the last mode product");
  for (Operation *user : last->getUsers())
    if (user != epilogue && !isa<tensor::DimOp>(user))
      return op.emitOpError("expects the result of the last mode product to be "
                            "used only by its kron.epilogue");
  for (auto [name, value] : {std::pair("bias", epilogue.getBias()),
                             std::pair("residual", epilogue.getResidual())}) {
    auto argument = dyn_cast_or_null<BlockArgument>(value);
    if (value && (!argument || argument.getOwner() != epilogue->getBlock()))
      return op.emitOpError("expects the ")
             << name << " of its kron.epilogue to be an argument of its region";
  }
  if (!last.getAddend() && !kron::getBeta(last).isZero())
    return op.emitOpError("expects the last mode product to have an addend for "
                          "its beta before a kron.epilogue");
  return success();
}

/// fused_c6: what a permuted first operand is besides the chain's input is read
/// as it lies.
static LogicalResult verifyPermutedInput(FusedOp op) {
  if (!op.getInputPermutation())
    return success();
  auto refuse = [&](Twine role) {
    return op.emitOpError("expects its first operand, which input_permutation "
                          "permutes, only as the array that the mode products "
                          "are applied to, but got it as the ")
           << role;
  };
  Value first = op.getBody().getArgument(0);
  for (auto [index, product] : llvm::enumerate(op.getModeProducts())) {
    std::string of = (" of mode product " + Twine(index + 1)).str();
    if (product.getFactor() == first)
      return refuse("factor" + of);
    if (product.getAddend() == first)
      return refuse("addend" + of);
    if (!product.getAddend() && product.getInit() == first &&
        !kron::getBeta(product).isZero())
      return refuse("outs" + of + ", which beta reads");
  }
  if (EpilogueOp epilogue = op.getEpilogue()) {
    if (epilogue.getBias() == first)
      return refuse("bias of its kron.epilogue");
    if (epilogue.getResidual() == first)
      return refuse("residual of its kron.epilogue");
  }
  return success();
}

LogicalResult FusedOp::verifyRegions() {
  SmallVector<ModeProductOp> products = getModeProducts();
  if (products.empty())
    return emitOpError("expects at least one kron.mode_product in its region, "
                       "but got none");
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("expects its region to end with kron.yield, but got '")
           << block.back().getName() << "'";
  if (failed(verifyFusedOps(*this)))
    return failure();
  for (unsigned number = 1; number <= products.size(); ++number)
    if (failed(verifyFusedStep(*this, products, number)))
      return failure();

  if (failed(verifyFusedEpilogue(*this, products.back())))
    return failure();

  // fused_c4
  EpilogueOp epilogue = getEpilogue();
  if (epilogue && yield.getValue() != epilogue->getResult(0))
    return emitOpError("expects kron.yield to give the result of its "
                       "kron.epilogue");
  if (!epilogue && yield.getValue() != products.back()->getResult(0))
    return emitOpError("expects kron.yield to give the result of the last mode "
                       "product");
  Type expected = block.getArguments().back().getType();
  if (yield.getValue().getType() != expected)
    return emitOpError("expects kron.yield to give ")
           << expected << ", the type of the last block argument, but got "
           << yield.getValue().getType();

  // fused_c5
  if (size_t count = countForOneFusedOp(products); count < products.size())
    return emitOpError(
               "expects no mode product to contract an axis that another "
               "one stretches, nor to stretch one of regrouped axes, but "
               "got number ")
           << count + 1;
  return verifyPermutedInput(*this);
}
