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
//
//===----------------------------------------------------------------------===//

#include "InterfaceInfo.h"
#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Dialect/Kron/IR/LaunchChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONCHOOSEBYLAYOUT
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// The strides and the offset of `type` only show at run time.
static bool hasOpenLayout(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.getLayout().isIdentity();
}

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
  auto dense = MemRefType::get(type.getShape(), type.getElementType());
  return memref::ReinterpretCastOp::create(
      builder, loc, dense, metadata.getBaseBuffer(), builder.getIndexAttr(0),
      sizes, strides);
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
  markLaunchChoice(areRowMajor, LaunchRequirements{{"row_major", 1}});
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

/// Whether the body of `func` may become that of a branch, its kernels depend
/// on strides, and its arrays may be row-major. An innermost stride that is not
/// known to be 1 was asked for by somebody who has other arrays.
static bool gainsByLayout(func::FuncOp func) {
  if (!func->hasAttr(kArgsAttrName) || !func.getBody().hasOneBlock())
    return false;
  for (Type type : func.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && memref.getRank() > 0 && !memref.isLastDimUnitStride())
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
    if (gainsByLayout(func))
      LayoutChooser(func).run();
  }
};
} // namespace
