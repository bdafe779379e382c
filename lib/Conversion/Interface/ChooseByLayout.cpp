//===- ChooseByLayout.cpp - Code for arrays without gaps --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Callers may pass arrays with any strides, and nearly all pass row-major ones.
// A function is compiled for these as well, and tests at run time which code
// applies: known strides decide what kernels there are, and how they copy.
// Where the caller promises row-major arrays, which launches check, it is
// compiled for nothing else.
//
//===----------------------------------------------------------------------===//

#include "InterfaceInfo.h"
#include "kron/Conversion/Passes.h"
#include "kron/Conversion/RowMajor.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONCHOOSEBYLAYOUT
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// What the first of two bodies requires.
static constexpr llvm::StringLiteral kRowMajorField = "row_major";

/// The strides and the offset of `type` only show at run time.
static bool hasOpenLayout(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.getLayout().isIdentity();
}

/// `type` without its strides and offset.
static MemRefType getRowMajorType(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Two bodies
//===----------------------------------------------------------------------===//

namespace {
/// Gives one function its second body.
class LayoutChooser {
public:
  explicit LayoutChooser(func::FuncOp func)
      : builder(OpBuilder::atBlockBegin(&func.front())), loc(func.getLoc()),
        func(func) {}

  void run();

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  void require(Value condition);
  Value viewRowMajor(Value array);

  OpBuilder builder;
  Location loc;
  func::FuncOp func;
  /// Whether all arrays so far are row-major; null if there are none.
  Value areRowMajor;
};
} // namespace

void LayoutChooser::require(Value condition) {
  areRowMajor =
      areRowMajor ? arith::AndIOp::create(builder, loc, areRowMajor, condition)
                  : condition;
}

/// `array` as the row-major one that it is if `areRowMajor`. Strides of axes of
/// size 1 do not matter; nor is tested what the type says.
Value LayoutChooser::viewRowMajor(Value array) {
  auto type = cast<MemRefType>(array.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, array);
  auto equal = arith::CmpIPredicate::eq;
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  if (knownOffset != 0)
    require(compare(equal, metadata.getOffset(), number(0)));
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes(rank), strides(rank);
  OpFoldResult rowMajor = builder.getIndexAttr(1);
  auto materialize = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  };
  for (int64_t dim = rank; dim-- > 0;) {
    int64_t known = type.getDimSize(dim);
    Value size = metadata.getSizes()[dim];
    sizes[dim] = ShapedType::isDynamic(known)
                     ? OpFoldResult(size)
                     : OpFoldResult(builder.getIndexAttr(known));
    strides[dim] = rowMajor;
    if (known != 1 && getConstantIntValue(rowMajor) != knownStrides[dim]) {
      Value isSame =
          compare(equal, metadata.getStrides()[dim], materialize(rowMajor));
      if (ShapedType::isDynamic(known))
        isSame = arith::OrIOp::create(builder, loc, isSame,
                                      compare(equal, size, number(1)));
      require(isSame);
    }
    std::optional<int64_t> stride = getConstantIntValue(rowMajor);
    if (stride && !ShapedType::isDynamic(known))
      rowMajor = builder.getIndexAttr(*stride * known);
    else
      rowMajor = arith::MulIOp::create(builder, loc, materialize(rowMajor),
                                       materialize(sizes[dim]))
                     .getResult();
  }
  return memref::ReinterpretCastOp::create(
      builder, loc, getRowMajorType(type), metadata.getBaseBuffer(),
      builder.getIndexAttr(0), sizes, strides);
}

void LayoutChooser::run() {
  Block &body = func.front();
  Operation *first = &body.front(), *end = body.getTerminator();
  builder.setInsertionPoint(first);
  IRMapping mapping;
  for (BlockArgument arg : body.getArguments())
    if (hasOpenLayout(arg.getType()))
      mapping.map(arg, viewRowMajor(arg));
  if (!areRowMajor)
    return;
  markLaunchChoice(areRowMajor, LaunchRequirements{{kRowMajorField, 1}});
  auto branches =
      scf::IfOp::create(builder, loc, areRowMajor, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branches.thenBlock());
  for (Operation &op :
       llvm::make_range(first->getIterator(), end->getIterator()))
    builder.clone(op, mapping);
  Block *general = branches.elseBlock();
  general->getOperations().splice(general->begin(), body.getOperations(),
                                  first->getIterator(), end->getIterator());
}

//===----------------------------------------------------------------------===//
// One body
//===----------------------------------------------------------------------===//

/// `entry` of kron.args for an array that has to be row-major; null if that is
/// no entry of an array.
static Attribute requireRowMajor(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
  auto array = type ? dyn_cast<MemRefType>(type.getValue()) : MemRefType();
  if (!array)
    return nullptr;
  NamedAttrList list(fields);
  list.set("type", TypeAttr::get(getRowMajorType(array)));
  return list.getDictionary(entry.getContext());
}

/// Gives the arguments of `func` row-major types. The manifest has launches
/// refuse other arrays. Nothing happens where kron.args is not that of `func`,
/// of which its readers tell.
static void assumeRowMajor(func::FuncOp func) {
  auto list = func->getAttrOfType<ArrayAttr>(kArgsAttrName);
  if (!list || list.size() != func.getNumArguments())
    return;
  SmallVector<Attribute> entries(list.getValue());
  SmallVector<Type> types(func.getArgumentTypes());
  for (auto [type, entry] : llvm::zip(types, entries)) {
    if (!hasOpenLayout(type))
      continue;
    type = getRowMajorType(cast<MemRefType>(type));
    entry = requireRowMajor(entry);
    if (!entry)
      return;
  }
  for (auto [arg, type] : llvm::zip(func.getArguments(), types))
    arg.setType(type);
  Builder builder(func.getContext());
  func->setAttr(kArgsAttrName, builder.getArrayAttr(entries));
  func.setFunctionType(builder.getFunctionType(types, func.getResultTypes()));
}

bool kron::isForOtherLayouts(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion()) {
    auto choice = dyn_cast<scf::IfOp>(region->getParentOp());
    if (!choice || region != &choice.getElseRegion())
      continue;
    Operation *condition = choice.getCondition().getDefiningOp();
    auto fields =
        condition ? condition->getAttrOfType<DictionaryAttr>(kRequiresAttrName)
                  : DictionaryAttr();
    if (fields && fields.contains(kRowMajorField))
      return true;
  }
  return false;
}

void kron::markRowMajor(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      func->setAttr(kRowMajorAttrName, UnitAttr::get(module.getContext()));
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Whether there are views of `array`, whose types follow from its layout.
static bool hasViews(BlockArgument array) {
  return llvm::any_of(array.getUsers(), [](Operation *user) {
    return isa<ViewLikeOpInterface>(user);
  });
}

/// Whether the body of `func` may become that of a branch, its kernels depend
/// on strides, and its arrays may be row-major. An innermost stride that is not
/// known to be 1 was asked for by somebody who has other arrays.
static bool gainsByLayout(func::FuncOp func) {
  if (!func->hasAttr(kArgsAttrName) || !func.getBody().hasOneBlock())
    return false;
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type || type.getRank() == 0)
      continue;
    if (!type.isLastDimUnitStride() || (hasOpenLayout(type) && hasViews(arg)))
      return false;
  }
  return func.walk([](KsmmOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
struct KronChooseByLayoutPass
    : kron::impl::KronChooseByLayoutBase<KronChooseByLayoutPass> {
  using KronChooseByLayoutBase::KronChooseByLayoutBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    bool isPromised = func->removeAttr(kRowMajorAttrName) != nullptr;
    if (!gainsByLayout(func))
      return;
    if (isPromised)
      assumeRowMajor(func);
    else
      LayoutChooser(func).run();
  }
};
} // namespace
