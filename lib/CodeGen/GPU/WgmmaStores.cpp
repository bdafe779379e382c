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

/// Whether a row of a step is in the array; null if it always is.
Value WgmmaKernel::existsInArray(const WgmmaStage &stage,
                                 const WgmmaPosition &row) {
  Value exists;
  int stageNumber = plan.axes[stage.axis].stage;
  for (auto [number, axis] : llvm::enumerate(plan.axes)) {
    if (number == stage.axis)
      continue;
    if (axis.stage >= 0) {
      int64_t extent = axis.stage > stageNumber ? axis.before : axis.after;
      if (stage.radix[number] != extent)
        exists = k.both(exists, k.less(row[number], extent));
    } else if (stage.radix[number] > 1 &&
               !(stage.radix[number] == axis.tile &&
                 sizes[number].isConstant() &&
                 sizes[number].getConstant() % axis.tile == 0)) {
      // Rows beyond the size, or beyond the tile where it is odd: its next
      // position belongs to another tile.
      if (stage.radix[number] != axis.tile)
        exists = k.both(exists, k.less(row[number], axis.tile));
      exists = k.both(exists,
                      k.less(k.add(start[number], row[number]), sizes[number]));
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
    bool isSmall =
        stride.isConstant() &&
        stride.getConstant() * plan.axes[number].tile < (int64_t(1) << 28);
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

/// alpha * sum + beta * addend; what is multiplied by 0 does not matter.
Value WgmmaKernel::scale(Value sum, Value addend) {
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
  return k.select(isZero(beta), result, k.fma(beta, addend, result));
}

/// Loads what is added to a segment, as f32.
SmallVector<Value> WgmmaKernel::loadAddend(const WgmmaSegment &segment) {
  SmallVector<Value> loaded;
  int64_t elementBytes = getElementBytes(init.element);
  auto load = [&](int64_t lanes, Value exists, Value pointer) {
    Type type = init.element;
    Value zero = k.constant(type, 0.0);
    if (lanes > 1) {
      type = VectorType::get({lanes}, type);
      zero = k.makeVector(SmallVector<Value>(lanes, zero));
    }
    Value value =
        k.ifElse(
             exists, type,
             [&]() -> SmallVector<Value> { return {k.load(type, pointer)}; },
             [&]() -> SmallVector<Value> { return {zero}; })
            .front();
    for (Value part : k.unpack(value)) {
      if (!part.getType().isF32())
        part = LLVM::FPExtOp::create(k.builder, k.loc, k.builder.getF32Type(),
                                     part);
      loaded.push_back(part);
    }
  };
  if (segment.isVector) {
    load(segment.sums.size(), segment.exists.front(), segment.addend);
    return loaded;
  }
  for (unsigned lane = 0; lane < segment.sums.size(); ++lane)
    load(1, segment.exists[lane],
         k.offsetBytes(segment.addend, k.mul(segment.addendStride,
                                             int64_t(lane * elementBytes))));
  return loaded;
}

/// Loads what is added to all segments. A zero beta reads nothing.
void WgmmaKernel::loadAddends(MutableArrayRef<WgmmaSegment> segments) {
  int64_t count = 0;
  for (const WgmmaSegment &segment : segments)
    count += segment.sums.size();
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  Value reads = arith::CmpFOp::create(k.builder, k.loc,
                                      arith::CmpFPredicate::UNE, beta, zero);
  SmallVector<Value> values = k.ifElse(
      reads, SmallVector<Type>(count, f32),
      [&] {
        SmallVector<Value> loaded;
        for (const WgmmaSegment &segment : segments)
          llvm::append_range(loaded, loadAddend(segment));
        return loaded;
      },
      [&] { return SmallVector<Value>(count, zero); });
  ArrayRef<Value> left = values;
  for (WgmmaSegment &segment : segments) {
    llvm::append_range(segment.others, left.take_front(segment.sums.size()));
    left = left.drop_front(segment.sums.size());
  }
}

void WgmmaKernel::storeSegment(const WgmmaSegment &segment) {
  int64_t elementBytes = getElementBytes(init.element);
  auto getResult = [&](unsigned lane) {
    return toElement(
        scale(segment.sums[lane], beta ? segment.others[lane] : Value()));
  };
  if (segment.isVector) {
    k.ifThen(segment.exists.front(), [&] {
      SmallVector<Value> results;
      for (unsigned lane = 0; lane < segment.sums.size(); ++lane)
        results.push_back(getResult(lane));
      k.store(k.makeVector(results), segment.target, CacheHint::Streaming);
    });
    return;
  }
  for (unsigned lane = 0; lane < segment.sums.size(); ++lane)
    k.ifThen(segment.exists[lane], [&] {
      Value target = k.offsetBytes(
          segment.target, k.mul(segment.stride, int64_t(lane * elementBytes)));
      k.store(getResult(lane), target, CacheHint::Streaming);
    });
}

/// Stores segments, after loading what is added to all of them: stores are not
/// overtaken by loads.
void WgmmaKernel::storeSegments(MutableArrayRef<WgmmaSegment> segments) {
  if (beta)
    loadAddends(segments);
  for (const WgmmaSegment &segment : segments)
    storeSegment(segment);
}

/// Stores a block's results, or has them left in shared memory for storeTile.
void WgmmaKernel::storeResults(const WgmmaStage &stage,
                               const WgmmaThreadRows &rows,
                               ArrayRef<Value> sums,
                               function_ref<void()> leave) {
  ifAligned(
      arrays.vectorStores,
      [&] { storeGlobal(stage, rows, sums, /*vectors=*/true); },
      [&] {
        if (stagesStores)
          return leave();
        storeGlobal(stage, rows, sums, /*vectors=*/false);
      });
}

void WgmmaKernel::storeGlobal(const WgmmaStage &stage,
                              const WgmmaThreadRows &rows, ArrayRef<Value> sums,
                              bool vectors) {
  int64_t elementBytes = getElementBytes(init.element);
  Value firstExists =
      k.both(rows.firstExists, existsInArray(stage, rows.first));
  Value secondExists =
      k.both(rows.secondExists, existsInArray(stage, rows.second));
  auto pointerOf = [&](const WgmmaArray &array, Value tile,
                       const WgmmaPosition &row, Int column) -> Value {
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
    return largest < stage.sizeN ? Value() : k.less(column, stage.sizeN);
  };
  SmallVector<WgmmaSegment> segments;
  if (!stage.innermost) {
    Int column = k.mul(laneColumn, 2);
    Value base = pointerOf(init, initTile, rows.first, column);
    Value addendBase = pointerOf(addend, addendTile, rows.first, column);
    Int step = init.strides.back();
    Int addendStep = addend.base ? addend.strides.back() : Int(1);
    for (unsigned first = 0; first < sums.size(); first += 4)
      for (unsigned odd = 0; odd < 2; ++odd) {
        Value ok =
            hasResult(k.add(column, first * 2 + odd), first * 2 + odd + 6);
        WgmmaSegment segment;
        segment.isVector = vectors;
        segment.sums = {sums[first + odd], sums[first + odd + 2]};
        segment.exists = {k.both(firstExists, ok), k.both(secondExists, ok)};
        segment.target = move(init, base, first * 2 + odd);
        segment.addend = move(addend, addendBase, first * 2 + odd);
        segment.stride = step;
        segment.addendStride = addendStep;
        segments.push_back(segment);
      }
    return storeSegments(segments);
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
      WgmmaSegment segment;
      segment.isVector = vectors;
      segment.sums = {sums[own], sums[own + 1], sums[own + 4], sums[own + 5]};
      segment.exists.assign(ok);
      segment.target = move(init, base, first * 2);
      segment.addend = move(addend, addendBase, first * 2);
      segment.stride = init.strides.back();
      segment.addendStride = addend.base ? addend.strides.back() : Int(1);
      segments.push_back(segment);
    }
  }
  storeSegments(segments);
}
