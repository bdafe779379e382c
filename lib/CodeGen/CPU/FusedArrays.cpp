//===- FusedArrays.cpp - What a kron.fused reads and writes ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FusedArrays.h"
#include "Arithmetic.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiplies the factors of a group out: [p1, p2, ...] x [q1, q2, ...].
static FactorArray getJointFactor(Emitter &emitter, RuntimeCalls &runtime,
                                  FusedOp fused, const StepGroup &group,
                                  unsigned rank) {
  if (group.products.size() == 1)
    return getFusedFactor(emitter, fused, group.products.front());
  FactorArray joint = describeJointFactor(group, rank);
  joint.array.base = runtime.allocateShared(emitter, group.sizeK * group.sizeN);

  std::function<void(unsigned, Int, Int, Value)> multiply =
      [&](unsigned index, Int p, Int q, Value product) {
        if (index == group.products.size()) {
          Int offset = emitter.add(emitter.mul(p, group.sizeN), q);
          emitter.storeScalar(product,
                              emitter.offsetPointer(joint.array.base, offset));
          return;
        }
        ModeProductOp op = group.products[index];
        StepFactor factor = getFusedFactor(emitter, fused, op).array;
        auto shape = cast<ShapedType>(op.getFactor().getType()).getShape();
        int64_t sizeK = shape[op.getContractedFactorDim()];
        int64_t sizeN = shape[op.getResultingFactorDim()];
        emitter.forLoop(0, sizeK, 1, [&](Int row) {
          emitter.forLoop(0, sizeN, 1, [&](Int column) {
            Int offset = emitter.add(emitter.mul(row, factor.strideK),
                                     emitter.mul(column, factor.resultStride));
            Value value = emitter.loadScalar(
                emitter.offsetPointer(factor.base, offset, factor.element),
                factor.element);
            if (op.getConjFactor())
              value = emitConjugate(emitter, value);
            if (product)
              value = emitProduct(emitter, product, value);
            multiply(index + 1, emitter.add(emitter.mul(p, sizeK), row),
                     emitter.add(emitter.mul(q, sizeN), column), value);
          });
        });
      };
  multiply(0, 0, 0, nullptr);
  return joint;
}

FusedArrays kron::collectArrays(Emitter &emitter, RuntimeCalls &runtime,
                                FusedOp fused, const CPUPlan &plan) {
  FusedOperands operands = getFusedOperands(emitter, fused);
  FusedArrays arrays;
  arrays.sizes = operands.sizes;
  arrays.input = operands.input;
  arrays.init = operands.init;
  arrays.addend = operands.addend;
  arrays.epilogue = operands.epilogue;
  arrays.adds = !operands.beta.isZero();
  arrays.hasEpilogue = operands.epilogue.has_value();
  if (!operands.alpha.isOne())
    arrays.scale.alpha = getTileScalar(emitter, operands.alpha);
  if (arrays.adds)
    arrays.scale.beta = getTileScalar(emitter, operands.beta);
  for (const StepGroup &group : plan.groups)
    arrays.factors.push_back(
        getJointFactor(emitter, runtime, fused, group, arrays.sizes.size()));
  return arrays;
}
