//===- Epilogue.cpp - Scaling, epilogue and the only rounding -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One elementwise linalg.generic into the destination. An array that the
// scaling says is not read is no operand of it: whether alpha or beta is 0 at
// compile time decides which those are.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

namespace {
/// The inputs of the elementwise loop, with the position of each of them.
struct Inputs {
  static constexpr unsigned absent = ~0u;

  SmallVector<Value> values;
  SmallVector<AffineMap> maps;

  unsigned add(Value value, AffineMap map) {
    values.push_back(value);
    maps.push_back(map);
    return values.size() - 1;
  }
};
} // namespace

/// The identity on all dimensions but those where `value` is stretched.
static AffineMap getStretchingMap(OpBuilder &builder, Value value) {
  auto shape = cast<ShapedType>(value.getType()).getShape();
  SmallVector<AffineExpr> exprs;
  for (auto [dim, size] : llvm::enumerate(shape))
    exprs.push_back(size == 1 ? builder.getAffineConstantExpr(0)
                              : builder.getAffineDimExpr(dim));
  return AffineMap::get(shape.size(), 0, exprs, builder.getContext());
}

Value kron::emitStore(ArrayEmitter &emitter, Value product,
                      const Epilogue &epilogue, Value destination) {
  OpBuilder &builder = emitter.getBuilder();
  Type element = kron::getElementType(destination);
  Type accumulator = getAccumulatorType(element);
  unsigned rank = cast<ShapedType>(destination.getType()).getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);

  Inputs inputs;
  unsigned productIndex = Inputs::absent, addendIndex = Inputs::absent,
           biasIndex = Inputs::absent, residualIndex = Inputs::absent;
  bool isInPlace = product == destination;
  if (product && !isInPlace)
    productIndex = inputs.add(product, getStretchingMap(builder, product));
  bool addsDestination = !epilogue.beta.isZero() && !epilogue.addend;
  if (!epilogue.beta.isZero() && epilogue.addend)
    addendIndex = inputs.add(epilogue.addend, identity);
  if (epilogue.bias) {
    SmallVector<AffineExpr> exprs;
    for (int64_t axis : epilogue.biasAxes)
      exprs.push_back(builder.getAffineDimExpr(axis));
    biasIndex = inputs.add(
        epilogue.bias, AffineMap::get(rank, 0, exprs, builder.getContext()));
  }
  if (epilogue.residual)
    residualIndex = inputs.add(epilogue.residual, identity);
  inputs.maps.push_back(identity);

  return emitter.emitGeneric(
      inputs.values, destination, inputs.maps, /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        auto load = [&](unsigned index) {
          return emitConversion(b, loc, args[index], accumulator);
        };
        if (isInPlace)
          productIndex = args.size() - 1;
        Value v = product
                      ? emitScaled(b, loc, epilogue.alpha, load(productIndex))
                      : emitZero(b, loc, accumulator);
        if (addsDestination)
          addendIndex = args.size() - 1;
        if (addendIndex != Inputs::absent)
          v = emitAdd(b, loc, v,
                      emitScaled(b, loc, epilogue.beta, load(addendIndex)));
        if (biasIndex != Inputs::absent)
          v = emitAdd(b, loc, v, load(biasIndex));
        v = emitActivation(b, loc, epilogue.activation, v);
        if (epilogue.scale)
          v = emitMul(b, loc, v,
                      Scale{epilogue.scale, nullptr}.materialize(b, loc));
        if (residualIndex != Inputs::absent)
          v = emitAdd(b, loc, v, load(residualIndex));
        return emitConversion(b, loc, v, element);
      });
}
