//===- PassArrays.cpp - What a kron.pass reads and writes ----------- -*- C++
//-*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PassArrays.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class ArrayCollector {
public:
  ArrayCollector(Emitter &emitter, RuntimeCalls &runtime, PassOp pass)
      : emitter(emitter), builder(emitter.builder), loc(emitter.loc),
        runtime(runtime), pass(pass) {}

  PassArrays collect(const PassPlan &plan);

private:
  StageArray getArray(Value memref, ArrayRef<int64_t> permutation);
  Value getOperandOf(Value regionValue);
  FactorArray getFactor(ModeProductOp product);
  FactorArray getJointFactor(const StageGroup &group);
  void collectSizes();
  void collectInput();
  void collectScale();

  Emitter &emitter;
  OpBuilder &builder;
  Location loc;
  RuntimeCalls &runtime;
  PassOp pass;
  PassArrays arrays;
};

} // namespace

static Int toInt(OpBuilder &builder, Location loc, OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return *constant;
  return Int(arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                        cast<Value>(number)));
}

StageArray ArrayCollector::getArray(Value memref,
                                    ArrayRef<int64_t> permutation) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
  Int offset = toInt(builder, loc, metadata.getConstifiedMixedOffset());
  StageArray array{emitter.offsetPointer(pointer, offset), {}};
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  for (unsigned axis = 0; axis < strides.size(); ++axis)
    array.strides.push_back(toInt(
        builder, loc, strides[permutation.empty() ? axis : permutation[axis]]));
  return array;
}

/// The operand of the pass behind an argument of its region.
Value ArrayCollector::getOperandOf(Value regionValue) {
  return pass->getOperand(cast<BlockArgument>(regionValue).getArgNumber());
}

FactorArray ArrayCollector::getFactor(ModeProductOp product) {
  StageArray array = getArray(getOperandOf(product.getFactor()), {});
  auto shape = cast<ShapedType>(product.getFactor().getType()).getShape();
  FactorArray factor;
  factor.array.base = array.base;
  factor.array.strides.assign(arrays.sizes.size(), 0);
  factor.sizes.assign(arrays.sizes.size(), 1);
  for (auto [dim, axis] : llvm::enumerate(product.getFactorDims())) {
    if (axis == ModeProductOp::kContracted) {
      factor.array.depthStride = array.strides[dim];
    } else if (axis == ModeProductOp::kResulting) {
      factor.array.resultStride = array.strides[dim];
    } else if (shape[dim] != 1) {
      factor.array.strides[axis] = array.strides[dim];
      factor.sizes[axis] = shape[dim];
    }
  }
  return factor;
}

/// Multiplies the factors of a group out: [p1, p2, ...] x [q1, q2, ...].
FactorArray ArrayCollector::getJointFactor(const StageGroup &group) {
  if (group.products.size() == 1)
    return getFactor(group.products.front());
  FactorArray joint;
  joint.array.base =
      runtime.allocateShared(emitter, group.depth * group.results);
  joint.array.depthStride = group.results;
  joint.array.resultStride = 1;
  joint.array.strides.assign(arrays.sizes.size(), 0);
  joint.sizes.assign(arrays.sizes.size(), 1);

  std::function<void(unsigned, Int, Int, Value)> multiply =
      [&](unsigned index, Int p, Int q, Value product) {
        if (index == group.products.size()) {
          Int offset = emitter.add(emitter.mul(p, group.results), q);
          emitter.storeScalar(product,
                              emitter.offsetPointer(joint.array.base, offset));
          return;
        }
        ModeProductOp op = group.products[index];
        StageFactor factor = getFactor(op).array;
        auto shape = cast<ShapedType>(op.getFactor().getType()).getShape();
        int64_t depth = shape[op.getContractedFactorDim()];
        int64_t results = shape[op.getResultingFactorDim()];
        emitter.forLoop(0, depth, 1, [&](Int row) {
          emitter.forLoop(0, results, 1, [&](Int column) {
            Int offset = emitter.add(emitter.mul(row, factor.depthStride),
                                     emitter.mul(column, factor.resultStride));
            Value value =
                emitter.loadScalar(emitter.offsetPointer(factor.base, offset));
            if (product)
              value = arith::MulFOp::create(builder, loc, product, value);
            multiply(index + 1, emitter.add(emitter.mul(p, depth), row),
                     emitter.add(emitter.mul(q, results), column), value);
          });
        });
      };
  multiply(0, 0, 0, nullptr);
  return joint;
}

void ArrayCollector::collectSizes() {
  auto type = cast<MemRefType>(pass.getInit().getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      arrays.sizes.push_back(type.getDimSize(axis));
      continue;
    }
    Value index = arith::ConstantIndexOp::create(builder, loc, axis);
    Value size = memref::DimOp::create(builder, loc, pass.getInit(), index);
    arrays.sizes.push_back(toInt(builder, loc, size));
  }
}

void ArrayCollector::collectInput() {
  ArrayRef<int64_t> permutation =
      pass.getInputPermutation().value_or(ArrayRef<int64_t>());
  arrays.input = getArray(pass.getInputs().front(), permutation);
  SmallVector<ModeProductOp> products = pass.getModeProducts();
  auto shape = cast<ShapedType>(products.front().getInput().getType()).getShape();
  // An axis of size 1 may stretch, unless it is contracted: then its stride is
  // that of the contracted axis of a group that it ends.
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && llvm::none_of(products, [&](ModeProductOp product) {
          return product.getAxis() == axis;
        }))
      arrays.input.strides[axis] = 0;
}

void ArrayCollector::collectScale() {
  ModeProductOp last = pass.getModeProducts().back();
  Scale alpha = getAlpha(last), beta = getBeta(last);
  if (!alpha.isOne())
    arrays.scale.alpha = alpha.materialize(builder, loc);
  if (beta.isZero())
    return;
  arrays.scale.beta = beta.materialize(builder, loc);
  arrays.addend = last.getAddend()
                      ? getArray(getOperandOf(last.getAddend()), {})
                      : arrays.init;
}

PassArrays ArrayCollector::collect(const PassPlan &plan) {
  collectSizes();
  collectInput();
  arrays.init = getArray(pass.getInit(), {});
  collectScale();
  for (const StageGroup &group : plan.groups)
    arrays.factors.push_back(getJointFactor(group));
  return arrays;
}

PassArrays kron::collectArrays(Emitter &emitter, RuntimeCalls &runtime,
                               PassOp pass, const PassPlan &plan) {
  return ArrayCollector(emitter, runtime, pass).collect(plan);
}
