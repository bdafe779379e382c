//===- LowerInterface.cpp - C-callable entry functions ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Public functions on tensors become functions on memrefs that return nothing.
// A returned tensor is computed straight into the memory of its out argument
// where its destination can be traced to a tensor.empty; that is what makes a
// function with one operation free of copies.
//
//===----------------------------------------------------------------------===//

#include "InterfaceInfo.h"
#include "kron/Conversion/Names.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONLOWERINTERFACE
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// The memref that a caller passes for a tensor: any outer strides,
/// innermost 1.
static MemRefType getCallerType(RankedTensorType type) {
  if (type.getRank() == 0)
    return MemRefType::get({}, type.getElementType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(type.getContext(),
                             /*offset=*/ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

/// `destination`, which stands for the result of `reshape`, as the source of
/// `reshape`; null if the shape cannot be inferred.
static Value undoReshape(OpBuilder &builder, Operation *reshape,
                         Value destination) {
  Location loc = reshape->getLoc();
  Type type = reshape->getOperand(0).getType();
  if (isa<tensor::CastOp>(reshape))
    return tensor::CastOp::create(builder, loc, type, destination);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, type, destination,
                                           expand.getReassociationIndices());
  auto collapse = cast<tensor::CollapseShapeOp>(reshape);
  auto shape = cast<RankedTensorType>(type).getShape();
  for (const ReassociationIndices &group : collapse.getReassociationIndices())
    if (llvm::count_if(group, [&](int64_t dim) {
          return ShapedType::isDynamic(shape[dim]);
        }) > 1)
      return nullptr;
  return tensor::ExpandShapeOp::create(builder, loc, type, destination,
                                       collapse.getReassociationIndices());
}

/// Makes `op`, which accumulates into the read-only `addend`, write to
/// `destination` instead.
static void separateAddend(OpBuilder &builder, OpOperand &init,
                           Value destination) {
  Operation *op = init.getOwner();
  Value addend = init.get();
  bool separated =
      TypeSwitch<Operation *, bool>(op)
          .Case<MkmOp, KmmOp, BatchedOp, KsmmOp, KsmmGradOp, FactorGradOp,
                BiasGradOp, ModeProductOp>([&](auto kronOp) {
            if (!kronOp.getAddend() && !getBeta(kronOp).isZero())
              kronOp.getAddendMutable().assign(addend);
            kronOp.getInitMutable().set(destination);
            return true;
          })
          .Default(false);
  if (separated)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto copy = bufferization::MaterializeInDestinationOp::create(
      builder, op->getLoc(), addend, destination);
  init.set(copy.getResult());
}

/// Traces `returned` through destination-style operations and reshapes to the
/// tensor that it is first written into, and puts `out` there, unless that is
/// the destination of another result (`taken`). Where it cannot, bufferization
/// copies. A tensor.empty that `out` takes the place of is kept in `replaced`:
/// its sizes may be all that tells those of `out`.
static void
forwardDestination(OpBuilder &builder, Value returned, Value out,
                   ArrayRef<Value> taken,
                   SmallVectorImpl<std::pair<Value, Value>> &replaced) {
  SmallVector<Operation *> reshapes;
  OpOperand *use = nullptr;
  OpOperand *init = nullptr;
  Value value = returned;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::EmptyOp, bufferization::ToTensorOp>(op))
      break;
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      use = init = dps.getTiedOpOperand(cast<OpResult>(value));
    } else if (isa<tensor::CastOp, tensor::ExpandShapeOp,
                   tensor::CollapseShapeOp>(op)) {
      use = &op->getOpOperand(0);
      init = nullptr;
      reshapes.push_back(op);
    } else {
      return;
    }
    value = use->get();
  }
  if (!use || !value.getDefiningOp() || llvm::is_contained(taken, value))
    return;
  bool isEmpty = value.getDefiningOp<tensor::EmptyOp>() != nullptr;
  if (!isEmpty && !init)
    return;
  for (Operation *reshape : reshapes) {
    out = undoReshape(builder, reshape, out);
    if (!out)
      return;
  }
  if (!isEmpty)
    return separateAddend(builder, *init, out);
  replaced.emplace_back(value, out);
  use->set(out);
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

namespace {

/// Rewrites one public function.
class InterfaceLowering {
public:
  explicit InterfaceLowering(func::FuncOp func)
      : func(func), builder(func.getContext()),
        inPlaceArgs(func.getNumResults(), -1) {}

  LogicalResult run() {
    if (failed(checkSignature()) || failed(collectNames()))
      return failure();
    lowerArguments();
    lowerResults();
    func.walk([&](func::ReturnOp op) { lowerReturn(op); });
    for (Value value : outTensors)
      if (value.use_empty())
        value.getDefiningOp()->erase();
    updateAttributes();
    recordInterface(func, names, llvm::count(inPlaceArgs, -1), replaced);
    return success();
  }

private:
  LogicalResult checkSignature();
  LogicalResult checkInPlaceResult(unsigned index, IntegerAttr result);
  LogicalResult collectNames();
  void lowerArguments();
  void lowerResults();
  void lowerReturn(func::ReturnOp op);
  void updateAttributes();

  func::FuncOp func;
  OpBuilder builder;
  /// Per result: the argument whose memory it takes, or -1.
  SmallVector<int64_t> inPlaceArgs;
  /// Per result: where it goes, as the memref and as a tensor.
  SmallVector<Value> outMemRefs, outTensors;
  /// Destinations that results had, and what took their place.
  SmallVector<std::pair<Value, Value>> replaced;
  /// Per argument before lowering: the tensor that stands for it.
  SmallVector<Value> argTensors;
  /// Per argument of the lowered function.
  SmallVector<StringAttr> names;
};

} // namespace

LogicalResult InterfaceLowering::checkInPlaceResult(unsigned index,
                                                    IntegerAttr result) {
  int64_t number = result.getInt();
  if (number < 0 || number >= static_cast<int64_t>(func.getNumResults()))
    return func.emitOpError("expects kron.result of argument ")
           << index << " to be less than the number of results ("
           << func.getNumResults() << "), but got " << number;
  if (inPlaceArgs[number] >= 0)
    return func.emitOpError("expects result ")
           << number << " to have one kron.result argument, but got arguments "
           << inPlaceArgs[number] << " and " << index;
  if (func.getArgumentTypes()[index] != func.getResultTypes()[number])
    return func.emitOpError("expects argument ")
           << index << " to have the type of result " << number << " ("
           << func.getResultTypes()[number] << "), but got "
           << func.getArgumentTypes()[index];
  inPlaceArgs[number] = index;
  return success();
}

LogicalResult InterfaceLowering::checkSignature() {
  std::string nameProblem = getFunctionNameProblem(func.getName());
  if (!nameProblem.empty())
    return func.emitOpError("expects the name of a public function ")
           << nameProblem << ", but got '" << func.getName() << "'";
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    std::string problem = getArgumentProblem(type);
    if (!problem.empty())
      return func.emitOpError("expects argument ")
             << index << " of public function '" << func.getName() << "' to be "
             << problem << ", but got " << type;
    if (auto result =
            func.getArgAttrOfType<IntegerAttr>(index, kResultAttrName))
      if (failed(checkInPlaceResult(index, result)))
        return failure();
  }
  for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
    std::string problem = isa<RankedTensorType>(type) ? getArgumentProblem(type)
                                                      : "a ranked tensor";
    if (!problem.empty())
      return func.emitOpError("expects result ")
             << index << " of public function '" << func.getName() << "' to be "
             << problem << ", but got " << type;
  }
  return success();
}

LogicalResult InterfaceLowering::collectNames() {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<StringAttr>(i, kNameAttrName);
    names.push_back(name ? name : builder.getStringAttr("arg" + Twine(i)));
  }
  unsigned numOuts = llvm::count(inPlaceArgs, -1);
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    if (inPlaceArgs[i] >= 0)
      continue;
    auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttrName);
    if (!name)
      name = builder.getStringAttr(numOuts == 1 ? Twine("result")
                                                : "result" + Twine(i));
    names.push_back(name);
  }
  llvm::StringSet<> seen;
  for (StringAttr name : names) {
    if (!isIdentifier(name))
      return func.emitOpError(
                 "expects kron.name to be a C identifier, but got '")
             << name.getValue() << "'";
    if (!seen.insert(name).second)
      return func.emitOpError("expects kron.name to be unique, but '")
             << name.getValue() << "' occurs twice";
  }
  return success();
}

void InterfaceLowering::lowerArguments() {
  Block &entry = func.getBody().front();
  builder.setInsertionPointToStart(&entry);
  for (BlockArgument arg : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      argTensors.push_back(nullptr);
      continue;
    }
    bool writable = llvm::is_contained(inPlaceArgs, arg.getArgNumber());
    arg.setType(getCallerType(type));
    auto toTensor = bufferization::ToTensorOp::create(
        builder, arg.getLoc(), type, arg, /*restrict=*/true, writable);
    arg.replaceAllUsesExcept(toTensor, toTensor);
    argTensors.push_back(toTensor);
  }
}

void InterfaceLowering::lowerResults() {
  Block &entry = func.getBody().front();
  for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
    if (inPlaceArgs[index] >= 0) {
      outMemRefs.push_back(entry.getArgument(inPlaceArgs[index]));
      outTensors.push_back(argTensors[inPlaceArgs[index]]);
      continue;
    }
    auto tensorType = cast<RankedTensorType>(type);
    Value arg = entry.addArgument(getCallerType(tensorType), func.getLoc());
    outMemRefs.push_back(arg);
    outTensors.push_back(bufferization::ToTensorOp::create(
        builder, func.getLoc(), type, arg, /*restrict=*/true,
        /*writable=*/true));
  }
}

void InterfaceLowering::lowerReturn(func::ReturnOp op) {
  SmallVector<Value> seen;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    // A tensor can live in one destination only; a second one gets a copy.
    if (!llvm::is_contained(seen, value))
      forwardDestination(builder, value, outTensors[index], outTensors,
                         replaced);
    seen.push_back(value);
  }
  OpBuilder atReturn(op);
  for (auto [index, value] : llvm::enumerate(op.getOperands()))
    bufferization::MaterializeInDestinationOp::create(
        atReturn, op.getLoc(), TypeRange(), value, outMemRefs[index],
        /*restrict=*/true, /*writable=*/true);
  op.getOperandsMutable().clear();
}

void InterfaceLowering::updateAttributes() {
  SmallVector<DictionaryAttr> argAttrs;
  func.getAllArgAttrs(argAttrs);
  Block &entry = func.getBody().front();
  argAttrs.resize(entry.getNumArguments(), builder.getDictionaryAttr({}));
  for (DictionaryAttr &attrs : argAttrs) {
    NamedAttrList list(attrs);
    list.erase(kNameAttrName);
    list.erase(kResultAttrName);
    attrs = list.getDictionary(func.getContext());
  }
  // Entries have a C interface already; upstream's would be a second entry.
  func->removeAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName());
  func.removeResAttrsAttr();
  func.removeArgAttrsAttr();
  func.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange()));
  func.setAllArgAttrs(argAttrs);
}

namespace {
struct KronLowerInterfacePass
    : kron::impl::KronLowerInterfaceBase<KronLowerInterfacePass> {
  using KronLowerInterfaceBase::KronLowerInterfaceBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isPrivate() || func.isExternal() || func->hasAttr(kArgsAttrName))
        continue;
      if (!SymbolTable::symbolKnownUseEmpty(func, module)) {
        func.emitOpError("expects public function '")
            << func.getName() << "' not to be called from the module";
        return signalPassFailure();
      }
      if (failed(InterfaceLowering(func).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
