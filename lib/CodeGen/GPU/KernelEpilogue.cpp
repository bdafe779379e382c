//===- KernelEpilogue.cpp - Epilogue of a kernel --------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An element of f16 takes two bytes each way, in the time of which an SM has
// some 20 instructions for it: with the functions that the C library has a
// layer would be bound by its gelu. That of f32, f16 and bf16, and silu of the
// latter, are therefore built on the machine's exp2 and 1/x.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/KernelEpilogue.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::kron;

void KernelEpilogue::enter(const std::optional<FusedEpilogue> &host,
                           Type element) {
  if (!host)
    return;
  activation = host->activation;
  hasBias = bool(host->bias.base);
  hasResidual = bool(host->residual.base);
  Scale hostScale{host->scale, nullptr};
  scale = ops.enter(hostScale, /*isNeutral=*/!host->scale);
  isNarrow = element.isF16() || element.isBF16();
}

Value kron::emitExp2(KernelBuilder &k, Value value) {
  return k
      .inlinePTX({value.getType()}, "ex2.approx.ftz.f32 $0, $1;", "=f,f",
                 {value}, /*hasSideEffects=*/false)
      .front();
}

/// p(a) with Phi(-a) = 2^p(a) for a > 0, from the constant term on, fitted on
/// [0, 5.5] and [0, 6]: to a relative 6e-6 of Phi, and to 5e-8. Both fall
/// beyond.
static constexpr double kNarrowPowers[] = {
    -0.9999954700469971,   -1.1512467861175537,    -0.45848050713539124,
    -0.05393783748149872,  0.008493754081428051,   -0.000926028355024755,
    6.090409806347452e-05, -1.7934517018147744e-06};
static constexpr double kSinglePowers[] = {-1.0,
                                           -1.1511050462722778,
                                           -0.45921361446380615,
                                           -0.05246363952755928,
                                           0.00698098773136735,
                                           -2.9116385121596977e-05,
                                           -0.00026481127133592963,
                                           7.184263813542202e-05,
                                           -1.0115307304658927e-05,
                                           7.733115694463777e-07,
                                           -2.5253706681382937e-08};

/// v Phi(v), with Phi(a) = 1 - Phi(-a) for a > 0. Infinities and NaN come out
/// as in v/2 (1 + erf(v / sqrt(2))).
Value KernelEpilogue::emitGelu(Value value) {
  ArrayRef<double> powers = isNarrow ? ArrayRef<double>(kNarrowPowers)
                                     : ArrayRef<double>(kSinglePowers);
  Type type = value.getType();
  Value magnitude = math::AbsFOp::create(k.builder, k.loc, value);
  Value power = k.constant(type, powers.back());
  for (double coefficient : llvm::reverse(powers.drop_back()))
    power = k.fma(power, magnitude, k.constant(type, coefficient));
  Value below = emitExp2(k, power);
  Value above =
      arith::SubFOp::create(k.builder, k.loc, k.constant(type, 1), below);
  Value isPositive = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OGT, value, k.constant(type, 0));
  return arith::MulFOp::create(k.builder, k.loc, value,
                               k.select(isPositive, above, below));
}

/// v / (1 + 2^(-v log2(e))).
Value KernelEpilogue::emitSilu(Value value) {
  Type type = value.getType();
  Value power = arith::MulFOp::create(k.builder, k.loc, value,
                                      k.constant(type, -0x1.71547652b82fep0));
  Value sum = arith::AddFOp::create(k.builder, k.loc, emitExp2(k, power),
                                    k.constant(type, 1));
  Value inverse = k.inlinePTX({type}, "rcp.approx.ftz.f32 $0, $1;", "=f,f",
                              {sum}, /*hasSideEffects=*/false)
                      .front();
  return arith::MulFOp::create(k.builder, k.loc, value, inverse);
}

Value KernelEpilogue::activate(Value value) {
  if (value.getType().isF32() && activation == Activation::Gelu)
    return emitGelu(value);
  if (isNarrow && activation == Activation::Silu)
    return emitSilu(value);
  return emitActivation(k.builder, k.loc, activation, value);
}

Scalar KernelEpilogue::apply(Scalar value, function_ref<Scalar()> bias,
                             function_ref<Scalar()> residual) {
  if (hasBias)
    value = ops.add(value, bias());
  if (activation != Activation::Identity)
    value.re = activate(value.re);
  if (scale.value)
    value = ops.mul(*scale.value, value);
  return hasResidual ? ops.add(value, residual()) : value;
}
