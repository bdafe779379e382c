//===- WgmmaStores.cpp - Results of a wgmma kernel --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// From registers to global memory
//===----------------------------------------------------------------------===//

/// Whether a row of the last stage is in the array; null if it always is.
Value WgmmaKernel::existsInArray(const WgmmaStage &stage,
                                        const WgmmaPosition &row) {
  Value exists;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (number == stage.axis)
      continue;
    if (axis.stage >= 0) {
      if (stage.radix[number] != axis.after)
        exists = k.both(exists, k.less(row[number], axis.after));
    } else if (stage.radix[number] > 1 &&
               !(stage.radix[number] == axis.tile &&
                 sizes[number].isConstant() &&
                 sizes[number].getConstant() % axis.tile == 0)) {
      // Rows beyond the size, or beyond the tile where it is odd: its next
      // position belongs to another tile.
      if (stage.radix[number] != axis.tile)
        exists = k.both(exists, k.less(row[number], axis.tile));
      exists = k.both(
          exists, k.less(k.add(start[number], row[number]), sizes[number]));
    }
  }
  return exists;
}

/// Offset of a row in an array in elements, from the start of the tile.
Int WgmmaKernel::offsetOf(const WgmmaArray &array, const WgmmaPosition &row,
                                 unsigned except) {
  Int offset = 0;
  for (auto [number, stride] : llvm::enumerate(array.strides)) {
    if (number == except || row[number].is(0))
      continue;
    bool isSmall = stride.isConstant() &&
                   stride.getConstant() * plan.axes[number].tile <
                       (int64_t(1) << 28);
    offset = k.add(
        offset, k.mul(isSmall ? row[number] : k.extend(row[number]), stride));
  }
  return offset;
}

Value WgmmaKernel::toElement(Value value) {
  if (value.getType() == init.element)
    return value;
  return LLVM::FPTruncOp::create(k.builder, k.loc, init.element, value);
}

/// alpha * sum + beta * addend; what is multiplied by 0 is not read.
Value WgmmaKernel::scale(Value sum, function_ref<Value()> loadAddend) {
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ,
                                 value, zero);
  };
  auto multiply = [&](Value factor, Value value) -> Value {
    return arith::MulFOp::create(k.builder, k.loc, factor, value);
  };
  Value result = sum;
  if (alpha)
    result = k.select(isZero(alpha), zero, multiply(alpha, sum));
  if (!beta)
    return result;
  Value addendValue = loadAddend();
  return k.select(isZero(beta), result,
                  k.fma(beta, addendValue, result));
}

void WgmmaKernel::storeRun(ArrayRef<Value> sums, ArrayRef<Value> exists,
                                  Value target, Value addendPointer,
                                  Int stride, Int addendStride) {
  int64_t elementBytes = getElementBytes(init.element);
  auto store = [&](ArrayRef<Value> values, Value pointer, Value from) {
    SmallVector<Value> results;
    SmallVector<Value> others;
    if (beta) {
      Type type = init.element;
      if (values.size() > 1)
        type = VectorType::get({int64_t(values.size())}, type);
      others = k.unpack(k.load(type, from));
    }
    for (unsigned lane = 0; lane < values.size(); ++lane)
      results.push_back(toElement(scale(values[lane], [&]() -> Value {
        Value other = others[lane];
        if (other.getType().isF32())
          return other;
        return LLVM::FPExtOp::create(k.builder, k.loc, k.builder.getF32Type(),
                                     other);
      })));
    k.store(results.size() == 1 ? results.front() : k.makeVector(results),
            pointer, CacheHint::Streaming);
  };
  if (vectorStores) {
    k.ifThen(exists.front(), [&] { store(sums, target, addendPointer); });
    return;
  }
  for (unsigned lane = 0; lane < sums.size(); ++lane)
    k.ifThen(exists[lane], [&] {
      auto move = [&](Value pointer, Int by) {
        return k.offsetBytes(
            pointer, k.mul(by, lane * elementBytes));
      };
      store(sums[lane], move(target, stride),
            beta ? move(addendPointer, addendStride) : Value());
    });
}

void WgmmaKernel::storeGlobal(const WgmmaStage &stage,
                                     const WgmmaThreadRows &rows,
                                     ArrayRef<Value> sums) {
  int64_t elementBytes = getElementBytes(init.element);
  Value firstExists = k.both(rows.firstExists, existsInArray(stage, rows.first));
  Value secondExists =
      k.both(rows.secondExists, existsInArray(stage, rows.second));
  auto pointerOf = [&](const WgmmaArray &array, Value tile, const WgmmaPosition &row,
                       Int column) -> Value {
    if (!array.base)
      return nullptr;
    Int offset = k.add(offsetOf(array, row, stage.axis),
                       k.mul(k.extend(column), array.strides[stage.axis]));
    return k.offsetBytes(tile, k.mul(offset, elementBytes));
  };
  auto move = [&](const WgmmaArray &array, Value pointer, int64_t columns) {
    if (!pointer)
      return pointer;
    Int by = k.mul(array.strides[stage.axis], columns * elementBytes);
    return k.offsetBytes(pointer, by);
  };
  auto hasResult = [&](Int column, int64_t largest) -> Value {
    return largest < stage.results ? Value() : k.less(column, stage.results);
  };
  if (!stage.innermost) {
    Int column = k.mul(laneColumn, 2);
    Value base = pointerOf(init, initTile, rows.first, column);
    Value addendBase = pointerOf(addend, addendTile, rows.first, column);
    Int step = init.strides.back();
    Int addendStep = addend.base ? addend.strides.back() : Int(1);
    for (unsigned first = 0; first < sums.size(); first += 4)
      for (unsigned odd = 0; odd < 2; ++odd) {
        Value ok = hasResult(k.add(column, first * 2 + odd),
                             first * 2 + odd + 6);
        storeRun({sums[first + odd], sums[first + odd + 2]},
                 {k.both(firstExists, ok), k.both(secondExists, ok)},
                 move(init, base, first * 2 + odd),
                 move(addend, addendBase, first * 2 + odd), step, addendStep);
      }
    return;
  }
  Int column = k.mul(laneColumn, 4);
  for (unsigned number = 0; number < 2; ++number) {
    const WgmmaPosition &row = number ? rows.second : rows.first;
    Value exists = number ? secondExists : firstExists;
    Value base = pointerOf(init, initTile, row, column);
    Value addendBase = pointerOf(addend, addendTile, row, column);
    for (unsigned first = 0; first < sums.size(); first += 8) {
      unsigned own = first + 2 * number;
      SmallVector<Value> ok;
      for (unsigned part = 0; part < 4; ++part)
        ok.push_back(k.both(exists, hasResult(k.add(column, first * 2 + part),
                                              first * 2 + part + 12)));
      storeRun({sums[own], sums[own + 1], sums[own + 4], sums[own + 5]}, ok,
               move(init, base, first * 2), move(addend, addendBase, first * 2),
               init.strides.back(),
               addend.base ? addend.strides.back() : Int(1));
    }
  }
}

