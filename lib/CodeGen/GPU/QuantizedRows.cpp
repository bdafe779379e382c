//===- QuantizedRows.cpp - Where rows of 8 bits go ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/QuantizedRows.h"
#include "kron/CodeGen/FusedOperands.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::kron;

QuantizedRows QuantizedRows::get(Emitter &host, QuantizeOp op,
                                 int64_t alignment) {
  StepArray bytes = getFusedArray(host, op.getInit());
  StepArray scales = getFusedArray(host, op.getScales());
  QuantizedRows rows;
  rows.byte = getElementType(op.getInit());
  rows.bytes = bytes.base;
  rows.bytesStride = bytes.strides.front();
  rows.scales = scales.base;
  rows.scalesStride = scales.strides.front();
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), bytes.base);
  rows.misalignment =
      host.bitAnd(host.bitOr(Int(address), rows.bytesStride), alignment - 1);
  return rows;
}

QuantizedRows QuantizedRows::enter(KernelBuilder &k) const {
  QuantizedRows rows;
  rows.byte = byte;
  rows.bytes = k.enter(bytes);
  rows.bytesStride = k.enter(bytesStride);
  rows.scales = k.enter(scales);
  rows.scalesStride = k.enter(scalesStride);
  rows.isAligned = k.equal(k.truncate(k.enter(misalignment)), 0);
  return rows;
}

Value QuantizedRows::locate(KernelBuilder &k, Int row) const {
  return k.offsetBytes(bytes, k.mul(k.extend(row), bytesStride));
}

void QuantizedRows::storeScale(KernelBuilder &k, Int row, Value scale) const {
  Int offset = k.mul(k.extend(row), scalesStride);
  k.store(scale, k.offsetElements(scales, k.builder.getF32Type(), offset));
}

void QuantizedRows::store(KernelBuilder &k, Value words, Value to) const {
  k.choose(
      isAligned, [&] { k.store(words, to, CacheHint::Streaming); },
      [&] {
        auto vector = dyn_cast<VectorType>(words.getType());
        int64_t count = 4 * (vector ? vector.getNumElements() : 1);
        Type type = VectorType::get({count}, k.builder.getI8Type());
        for (auto [index, part] :
             llvm::enumerate(k.unpack(k.bitcast(words, type))))
          k.store(part, k.offsetBytes(to, int64_t(index)));
      });
}

Int kron::getQuantizedRowCount(Emitter &host, QuantizeOp op, Int known) {
  auto type = cast<MemRefType>(op.getScales().getType());
  if (!type.isDynamicDim(0))
    return known;
  OpBuilder &b = host.builder;
  Value zero = arith::ConstantIndexOp::create(b, host.loc, 0);
  Value rows = memref::DimOp::create(b, host.loc, op.getScales(), zero);
  return Int(arith::IndexCastOp::create(b, host.loc, b.getI64Type(), rows));
}
