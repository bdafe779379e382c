//===- Contract.cpp - tile.contract ---------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Elements `first` to `first + count` of row `row` of an operand, by chunks.
/// Volatile, so that LLVM does not load them once for all fibres and run out of
/// registers. Rows are padded: whole chunks can be loaded.
static SmallVector<Value> loadRow(Lowering &lowering, OperandType type,
                                  Int operand, int64_t row, int64_t first,
                                  int64_t count) {
  KernelBuilder &k = lowering.k;
  SmallVector<Value> values;
  for (int64_t begin = 0; begin < count; begin += lowering.getChunk()) {
    int64_t position = row * type.getPitch() + first + begin;
    Value pointer =
        k.shared(k.add(operand, position * lowering.getElementBytes()));
    Value chunk = LLVM::LoadOp::create(
        k.builder, k.loc, k.getVectorType(lowering.getChunk()), pointer,
        /*alignment=*/16, /*isVolatile=*/true);
    llvm::append_range(values, k.unpack(chunk));
  }
  values.truncate(count);
  return values;
}

void tile::lowerContract(Lowering &lowering, ContractOp op) {
  KernelBuilder &k = lowering.k;
  OperandType type = op.getOperand().getType();
  Int operand = lowering.operands.at(op.getOperand());
  LoweredFragment source = lowering.fragments.at(op.getFragment());
  unsigned dim = op.getAlong() - 1;
  int64_t sizeK = type.getSizeK();
  int64_t inside = llvm::product_of(ArrayRef(source.box).drop_front(dim + 1));
  int64_t outside = llvm::product_of(ArrayRef(source.box).take_front(dim));
  int64_t perBox = outside * inside, together = op.getBlock()[0];
  Boxes boxes = lowering.takeAll(source);

  LoweredFragment sums;
  sums.box = source.box;
  sums.box[dim] = type.getSizeN();
  sums.dim = dim;
  sums.step = std::min(op.getBlock()[1], type.getSizeN());
  sums.make = [=, &lowering, &k](int64_t first, int64_t count) {
    Boxes results(boxes.size(), SmallVector<Value>(perBox * count));
    int64_t fibres = boxes.size() * perBox;
    for (int64_t begin = 0; begin < fibres; begin += together) {
      int64_t end = std::min(begin + together, fibres);
      for (int64_t p = 0; p < sizeK; ++p) {
        SmallVector<Value> row =
            loadRow(lowering, type, operand, p, first, count);
        for (int64_t fibre = begin; fibre < end; ++fibre) {
          int64_t box = fibre / perBox, outer = fibre % perBox / inside,
                  inner = fibre % inside;
          Value value = boxes[box][(outer * sizeK + p) * inside + inner];
          for (int64_t q = 0; q < count; ++q) {
            Value &sum = results[box][(outer * count + q) * inside + inner];
            sum = sum ? k.fma(value, row[q], sum)
                      : Value(arith::MulFOp::create(k.builder, k.loc, value,
                                                    row[q]));
          }
        }
      }
    }
    return results;
  };
  lowering.fragments[op.getSums()] = sums;
}
