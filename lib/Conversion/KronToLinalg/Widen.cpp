//===- Widen.cpp - --kron-widen -------------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Replaces every floating-point type of a module by the next wider one, in
// types and in attributes: the reference that results are verified against.
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Passes.h"
#include "kron/Dialect/Kron/IR/KronPairwise.h"
#include "kron/Dialect/Tile/IR/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONWIDEN
#include "kron/Conversion/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;

/// The next wider type, or null where there is none (integers, f80).
static FloatType getWider(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isF16() || type.isBF16() || type.isF32())
    return Float64Type::get(context);
  if (type.isF64())
    return Float80Type::get(context);
  return {};
}

static APFloat convert(APFloat value, FloatType type) {
  bool losesInfo = false;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// `attr` with its elements in the wider type; `attr` itself if they have none.
static DenseElementsAttr widenElements(DenseElementsAttr attr) {
  Type element = attr.getElementType();
  auto complexType = dyn_cast<ComplexType>(element);
  FloatType wider =
      getWider(complexType ? complexType.getElementType() : element);
  if (!wider)
    return attr;
  if (!complexType)
    return cast<DenseFPElementsAttr>(attr).mapValues(
        wider, [&](const APFloat &value) {
          return convert(value, wider).bitcastToAPInt();
        });
  SmallVector<std::complex<APFloat>> values;
  if (attr.isSplat())
    values.push_back(attr.getSplatValue<std::complex<APFloat>>());
  else
    llvm::append_range(values, attr.getValues<std::complex<APFloat>>());
  for (std::complex<APFloat> &value : values)
    value = {convert(value.real(), wider), convert(value.imag(), wider)};
  return DenseElementsAttr::get(attr.getType().clone(ComplexType::get(wider)),
                                values);
}

/// Attributes that hold values are replaced as a whole; types inside of all
/// others follow from the replacement of types.
static void addReplacements(AttrTypeReplacer &replacer) {
  using Result = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([](FloatType type) -> std::optional<Type> {
    FloatType wider = getWider(type);
    return wider ? Type(wider) : Type(type);
  });
  replacer.addReplacement([](FloatAttr attr) -> Result {
    Attribute result = attr;
    if (FloatType wider = getWider(attr.getType()))
      result = FloatAttr::get(wider, convert(attr.getValue(), wider));
    return std::make_pair(result, WalkResult::skip());
  });
  replacer.addReplacement([](complex::NumberAttr attr) -> Result {
    auto type = cast<ComplexType>(attr.getType());
    Attribute result = attr;
    if (FloatType wider = getWider(type.getElementType()))
      result = complex::NumberAttr::get(ComplexType::get(wider),
                                        attr.getReal().convertToDouble(),
                                        attr.getImag().convertToDouble());
    return std::make_pair(result, WalkResult::skip());
  });
  replacer.addReplacement([](DenseElementsAttr attr) -> Result {
    return std::make_pair(Attribute(widenElements(attr)), WalkResult::skip());
  });
}

/// Rejects constants whose bytes are not at hand, and what takes values apart
/// that will have other bits.
static LogicalResult checkProgram(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    // Bytes of copies and maps of lanes are those of one type.
    if (isa_and_present<kron::tile::TileDialect>(op->getDialect())) {
      op->emitOpError("has no wider form: --kron-widen expects a program that "
                      "--kron-tile has not seen");
      return WalkResult::interrupt();
    }
    if (auto bitcast = dyn_cast<arith::BitcastOp>(op)) {
      for (Type type : {bitcast.getIn().getType(), bitcast.getType()}) {
        if (!getWider(getElementTypeOrSelf(type)))
          continue;
        op->emitError("expects no bits of a type that becomes wider, but got ")
            << type;
        return WalkResult::interrupt();
      }
    }
    for (NamedAttribute attr : op->getAttrs()) {
      if (!isa<DenseResourceElementsAttr, SparseElementsAttr>(attr.getValue()))
        continue;
      op->emitError("expects constants to be dense and inline, but got ")
          << attr.getName() << " as a resource or sparse";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct KronWidenPass : kron::impl::KronWidenBase<KronWidenPass> {
  using KronWidenBase::KronWidenBase;

  void runOnOperation() override {
    if (failed(checkProgram(getOperation())))
      return signalPassFailure();
    // Exponents are of f64, whatever elements are.
    SmallVector<std::pair<kron::PairOpInterface, FloatAttr>> exponents;
    getOperation()->walk([&](kron::PairOpInterface op) {
      if (FloatAttr exponent = op.getExponentAttr())
        exponents.emplace_back(op, exponent);
    });
    AttrTypeReplacer replacer;
    addReplacements(replacer);
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    for (auto [op, exponent] : exponents)
      op->setAttr("exponent", exponent);
    // f16 and f32 have become the same type.
    getOperation()->walk([](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
          op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};
} // namespace
