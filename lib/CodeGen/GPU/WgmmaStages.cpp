//===- WgmmaStages.cpp - Factors of a wgmma kernel --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"

using namespace mlir;
using namespace mlir::kron;

//===----------------------------------------------------------------------===//
// Rows of a block
//===----------------------------------------------------------------------===//

/// The position of row `row` of a step; 0 along the contracted axis.
WgmmaPosition WgmmaKernel::decodeRow(const WgmmaStage &stage, Int row) {
  WgmmaPosition position(plan.axes.size(), 0);
  int outermost = 0;
  while (outermost + 1 < static_cast<int>(stage.radix.size()) &&
         stage.radix[outermost] == 1)
    ++outermost;
  for (int number = plan.axes.size() - 1; number >= 0; --number) {
    int64_t radix = stage.radix[number];
    if (radix == 1)
      continue;
    position[number] = number == outermost ? row : k.rem(row, radix);
    row = k.floorDiv(row, radix);
  }
  return position;
}

/// Which of the block's rows is number `index` (0 to 7) of this warp's first 8.
/// The second 8 follow each by one (pairs) or by 8.
Int WgmmaKernel::getRowOfLane(const WgmmaStage &stage, Int index) {
  const WgmmaLayout &layout = getSource(stage);
  if (!stage.innermost || layout.swizzled)
    return k.mul(index, 2);
  // Of padded rows, those that are 4 apart are on different banks.
  return k.add(k.mul(k.bitAnd(index, 1), 4), k.floorDiv(index, 2));
}

WgmmaThreadRows WgmmaKernel::getThreadRows(const WgmmaStage &stage, Int block) {
  const WgmmaLayout &layout = getSource(stage);
  bool pairs = !stage.innermost || layout.swizzled;
  Int row = k.add(k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16)),
                  getRowOfLane(stage, laneRow));
  Int second = k.add(row, pairs ? 1 : 8);
  WgmmaThreadRows rows;
  if (stage.rows % kWgmmaRows != 0) {
    rows.firstExists = k.less(row, stage.rows);
    rows.secondExists = pairs && stage.rows % 2 == 0
                            ? rows.firstExists
                            : k.less(second, stage.rows);
    // Rows that do not exist repeat the last ones.
    row = k.min(row, stage.rows - (pairs && stage.rows % 2 == 0 ? 2 : 1));
    second = k.min(second, stage.rows - 1);
  }
  rows.first = decodeRow(stage, row);
  // Pairs do not straddle the end of the innermost of the other axes.
  int inner = plan.axes.size() - (stage.innermost ? 2 : 1);
  if (pairs && inner >= 0 && stage.radix[inner] % 2 == 0) {
    rows.second = rows.first;
    rows.second[inner] = k.add(rows.first[inner], 1);
  } else {
    rows.second = decodeRow(stage, second);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void WgmmaKernel::emitStage(unsigned index, Value source, Value target) {
  int64_t blocks = plan.stages[index].getBlocks();
  if (blocks == plan.groupSize)
    return emitBlock(index, warpgroup, source, target);
  k.rolledLoop(warpgroup, blocks, plan.groupSize,
               [&](Int block) { emitBlock(index, block, source, target); });
}

void WgmmaKernel::emitBlock(unsigned index, Int block, Value source,
                            Value target) {
  const WgmmaStage &stage = plan.stages[index];
  WgmmaThreadRows rows = getThreadRows(stage, block);
  WgmmaRows operands = source == target && repeatsRows(index)
                           ? loadOwnRows(stage, rows, block, source)
                           : loadRows(index, rows, block, source);
  SmallVector<Value> sums =
      emitWgmma(k, stage, factors[index], descriptorBase, operands,
                arrays.factorElements[index], WgmmaSeries());
  if (stage.kind == WgmmaKind::Split)
    sums = repairSums(index, rows, sums, [&](const WgmmaPosition &row, Int p) {
      return loadElement(stage, row, p, source);
    });
  auto leave = [&] {
    // All lanes of the warp have read before one of them writes.
    k.syncWarp();
    storeShared(stage, rows, target, sums);
  };
  if (index + 1 < plan.stages.size())
    return leave();
  if (refills())
    ifAligned(true, [&] { refillBlock(stage, block); }, [] {});
  storeResults(stage, rows, sums, leave);
}

/// Whether warps without rows of their own, in the last block, would repeat a
/// row that another warp replaces.
bool WgmmaKernel::repeatsRows(unsigned index) const {
  bool isLast = index + 1 == plan.stages.size();
  if (isLast && (!stagesStores || (arrays.vectorStores && !isAligned)))
    return false;
  int64_t rowsOfLast = plan.stages[index].rows % kWgmmaRows;
  return rowsOfLast != 0 && rowsOfLast <= kWgmmaRows - 16;
}

/// f32; warps without rows of their own take zeros: what they make of them does
/// not matter. (They could also repeat rows and have the others wait, but after
/// a barrier of one warpgroup, racecheck reports hazards across barriers of
/// all.)
WgmmaRows WgmmaKernel::loadOwnRows(const WgmmaStage &stage,
                                   const WgmmaThreadRows &rows, Int block,
                                   Value source) {
  Type f32 = k.builder.getF32Type();
  int64_t numValues = stage.paddedK / 2;
  Int first = k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16));
  SmallVector<Value> values = k.ifElse(
      k.less(first, stage.rows), SmallVector<Type>(numValues, f32),
      [&] { return loadValues(stage, rows, source, 0, stage.paddedK); },
      [&] { return SmallVector<Value>(numValues, k.constant(f32, 0.0)); });
  return convertRows(stage, values);
}

WgmmaRows WgmmaKernel::loadRows(unsigned index, const WgmmaThreadRows &rows,
                                Int block, Value source) {
  const WgmmaStage &stage = plan.stages[index];
  if (stage.kind == WgmmaKind::Half) {
    WgmmaRows operands;
    operands.main = stage.innermost ? loadHalfInnermost(stage, block, source)
                                    : loadHalfPairs(stage, rows, source);
    return operands;
  }
  return loadSingle(stage, rows, source, 0, stage.paddedK);
}

/// f32, `sizeK` positions from `first` on, the first of which is at `source`.
WgmmaRows WgmmaKernel::loadSingle(const WgmmaStage &stage,
                                  const WgmmaThreadRows &rows, Value source,
                                  int64_t first, int64_t sizeK) {
  return convertRows(stage, loadValues(stage, rows, source, first, sizeK));
}

SmallVector<Value> WgmmaKernel::loadValues(const WgmmaStage &stage,
                                           const WgmmaThreadRows &rows,
                                           Value source, int64_t first,
                                           int64_t sizeK) {
  return stage.innermost ? loadInnermost(stage, rows, source, first, sizeK)
                         : loadPairs(stage, rows, source, first, sizeK);
}

/// A tile in pieces: its only factor, as the pieces arrive.
void WgmmaKernel::emitPieces(function_ref<Value(int64_t)> waitForPiece) {
  const WgmmaStage &stage = plan.stages.front();
  WgmmaThreadRows rows = getThreadRows(stage, 0);
  bool isSplit = stage.kind == WgmmaKind::Split;
  // Small products have sums of their own, which are added at the end.
  WgmmaSeries cross, main;
  cross.addsMain = main.addsCross = false;
  cross.pending = -1;
  for (int64_t piece = 0; piece < plan.pieces; ++piece) {
    Value source = waitForPiece(piece);
    bool isLast = piece + 1 == plan.pieces;
    cross.firstK = main.firstK = piece * plan.pieceK;
    // The piece before has to be done, so that its registers become free.
    main.pending = isLast ? 0 : isSplit ? 2 : 1;
    int64_t sizeK = std::min(plan.pieceK, stage.paddedK - main.firstK);
    WgmmaRows operands = loadSingle(stage, rows, source, main.firstK, sizeK);
    auto emit = [&](WgmmaSeries &series) {
      series.sums = emitWgmma(k, stage, factors[0], descriptorBase, operands,
                              arrays.factorElements[0], series);
    };
    if (isSplit)
      emit(cross);
    emit(main);
  }
  SmallVector<Value> sums = main.sums;
  if (isSplit)
    for (auto [sum, small] : llvm::zip(sums, cross.sums))
      sum = arith::AddFOp::create(k.builder, k.loc, sum, small);
  if (isSplit)
    sums = repairSums(0, rows, sums, [&](const WgmmaPosition &row, Int p) {
      return loadGlobalElement(stage, row, p);
    });
  storeResults(stage, rows, sums, [] {});
}

/// `value`, or 0 if `position`, which is at most `largest`, is beyond the end
/// of K: there may be anything, and 0 times anything need not be 0.
Value WgmmaKernel::maskK(const WgmmaStage &stage, Value value, Int position,
                         int64_t largest) {
  if (largest < stage.sizeK)
    return value;
  return k.select(k.less(position, stage.sizeK), value,
                  k.constant(value.getType(), 0.0));
}

/// Innermost axis, f32: 4 successive elements of two rows per 16.
SmallVector<Value> WgmmaKernel::loadInnermost(const WgmmaStage &stage,
                                              const WgmmaThreadRows &rows,
                                              Value source, int64_t start,
                                              int64_t sizeK) {
  const WgmmaLayout &layout = getSource(stage);
  Type vector = k.getVectorType(4);
  Value bases[2][2];
  for (unsigned number = 0; number < 2; ++number) {
    const WgmmaPosition &row = number ? rows.second : rows.first;
    Int address = addressOf(layout, row, stage.axis);
    Int permutation = swizzleOf(layout, row, stage.axis);
    for (int64_t half = 0; half < 2; ++half) {
      Int inner = k.bitXor(k.add(k.mul(laneColumn, 4), 16 * half), permutation);
      bases[number][half] =
          k.offsetBytes(source, k.mul(k.add(address, inner), 4));
    }
  }
  SmallVector<Value> values;
  for (int64_t first = 0; first < sizeK; first += 16) {
    SmallVector<Value> parts[2];
    for (int64_t number = 0; number < 2; ++number) {
      Value pointer =
          k.offsetBytes(bases[number][first / 16 % 2], first / 32 * 128);
      parts[number] = k.unpack(k.load(vector, pointer));
      for (int64_t part = 0; part < 4; ++part)
        parts[number][part] =
            maskK(stage, parts[number][part],
                  k.add(k.mul(laneColumn, 4), start + first + part),
                  start + first + 12 + part);
    }
    for (int64_t part = 0; part < 4; ++part)
      values.append({parts[0][part], parts[1][part]});
  }
  return values;
}

/// Where in `memory` pairs of rows have position `position`.
Value WgmmaKernel::getPairs(const WgmmaStage &stage,
                            const WgmmaThreadRows &rows,
                            const WgmmaLayout &layout, Int position,
                            Value memory) {
  Int permutation = k.bitXor(swizzleOf(layout, rows.first, stage.axis),
                             swizzle(layout, position));
  Int address = k.add(addressOf(layout, rows.first, stage.axis),
                      k.add(k.mul(position, layout.pitches[stage.axis]),
                            k.bitXor(rows.first.back(), permutation)));
  return k.offsetBytes(memory, k.mul(address, 4));
}

/// Another axis, f32: pairs of rows, two successive positions per 8.
SmallVector<Value> WgmmaKernel::loadPairs(const WgmmaStage &stage,
                                          const WgmmaThreadRows &rows,
                                          Value source, int64_t start,
                                          int64_t sizeK) {
  const WgmmaLayout &layout = getSource(stage);
  int64_t pitch = layout.pitches[stage.axis];
  Int position = k.mul(laneColumn, 2);
  Value base = getPairs(stage, rows, layout, position, source);
  Type vector = k.getVectorType(2);
  SmallVector<Value> values;
  for (int64_t first = 0; first < sizeK; first += 8)
    for (int64_t odd = 0; odd < 2; ++odd) {
      Value pair =
          k.load(vector, k.offsetBytes(base, (first + odd) * pitch * 4));
      for (int64_t row = 0; row < 2; ++row)
        values.push_back(maskK(stage, k.extract(pair, row),
                               k.add(position, start + first + odd),
                               start + first + 6 + odd));
    }
  return values;
}

/// Innermost axis, 16-bit values: 8 x 8 matrices as they lie.
SmallVector<Value> WgmmaKernel::loadHalfInnermost(const WgmmaStage &stage,
                                                  Int block, Value source) {
  const WgmmaLayout &layout = plan.landing;
  bool pairs = layout.swizzled;
  // Lane l gives the address of row l % 8 of matrix l / 8: matrices 1 and 3 are
  // the second rows, 2 and 3 the second 8 positions.
  Int second = fromBits(lane, 3, 1);
  Int row = k.add(k.add(k.mul(block, kWgmmaRows), k.mul(warp, 16)),
                  k.add(getRowOfLane(stage, k.bitAnd(lane, 7)),
                        k.mul(second, pairs ? 1 : 8)));
  if (stage.rows % kWgmmaRows != 0)
    row = k.min(row, stage.rows - 1);
  WgmmaPosition position = decodeRow(stage, row);
  Int address = addressOf(layout, position, stage.axis);
  Int permutation = swizzleOf(layout, position, stage.axis);
  Int half = k.mul(fromBits(lane, 4, 1), 8);
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedK; first += 16) {
    Int inner = k.bitXor(k.add(half, first % 64), permutation);
    Value pointer =
        k.offsetBytes(k.offsetBytes(source, k.mul(k.add(address, inner), 2)),
                      first / 64 * 128);
    SmallVector<Value> parts = k.inlinePTX(
        {i32, i32, i32, i32},
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];",
        "=r,=r,=r,=r,l,~{memory}", pointer);
    if (first + 16 > stage.sizeK)
      for (int64_t part = 0; part < 4; ++part) {
        Int positionK = k.add(k.mul(laneColumn, 2), first + part / 2 * 8);
        Value low = k.select(k.less(positionK, stage.sizeK),
                             k.materialize(0xffff), k.materialize(0));
        Value high = k.select(k.less(k.add(positionK, 1), stage.sizeK),
                              k.materialize(-0x10000), k.materialize(0));
        parts[part] = k.materialize(
            k.bitAnd(Int(parts[part]), k.bitOr(Int(low), Int(high))));
      }
    values.append(parts);
  }
  return values;
}

/// Another axis, 16-bit values: pairs of rows at 4 successive positions per 16,
/// turned into pairs of positions.
SmallVector<Value> WgmmaKernel::loadHalfPairs(const WgmmaStage &stage,
                                              const WgmmaThreadRows &rows,
                                              Value source) {
  const WgmmaLayout &layout = plan.landing;
  int64_t pitch = layout.pitches[stage.axis];
  Int address = addressOf(layout, rows.first, stage.axis);
  Int permutation = swizzleOf(layout, rows.first, stage.axis);
  Value bases[2];
  for (int64_t half = 0; half < 2; ++half) {
    Int position = k.add(k.mul(laneColumn, 4), 2 * half);
    Int own = k.bitXor(permutation, swizzle(layout, position));
    Int inner = k.bitXor(rows.first.back(), own);
    bases[half] = k.offsetBytes(
        source, k.mul(k.add(address, k.add(k.mul(position, pitch), inner)), 2));
  }
  Type i32 = k.builder.getI32Type();
  SmallVector<Value> values;
  for (int64_t first = 0; first < stage.paddedK; first += 16)
    for (int64_t half = 0; half < 2; ++half) {
      Value words[2];
      for (int64_t odd = 0; odd < 2; ++odd) {
        words[odd] =
            k.load(i32, k.offsetBytes(bases[half], (first + odd) * pitch * 2));
        Int positionK = k.add(k.mul(laneColumn, 4), first + 2 * half + odd);
        if (first + 12 + 2 * half + odd >= stage.sizeK)
          words[odd] = k.select(k.less(positionK, stage.sizeK), words[odd],
                                k.materialize(0));
      }
      for (StringRef selector : {"0x5410", "0x7632"})
        values.append(
            k.inlinePTX({i32}, ("prmt.b32 $0, $1, $2, " + selector + ";").str(),
                        "=r,r,r", {words[0], words[1]},
                        /*hasSideEffects=*/false));
    }
  return values;
}

/// f32 as the matrix unit takes it.
WgmmaRows WgmmaKernel::convertRows(const WgmmaStage &stage,
                                   ArrayRef<Value> values) {
  Type i32 = k.builder.getI32Type(), f32 = k.builder.getF32Type();
  WgmmaRows rows;
  SmallVector<Value> rest;
  for (Value value : values) {
    if (stage.kind == WgmmaKind::TF32) {
      // The unit cuts off the low bits. A little more than the value instead of
      // half a last place more: NaN and infinities stay what they are.
      Value larger = arith::MulFOp::create(k.builder, k.loc, value,
                                           k.constant(f32, 1.0 + 0x1.6ap-12));
      rows.main.push_back(k.bitcast(larger, i32));
      continue;
    }
    Int bits(k.bitcast(value, i32));
    Value main = k.materialize(k.bitAnd(k.add(bits, 0x1000), -0x2000));
    rows.main.push_back(main);
    rest.push_back(
        arith::SubFOp::create(k.builder, k.loc, value, k.bitcast(main, f32)));
  }
  if (stage.kind == WgmmaKind::TF32)
    return rows;
  // Registers 0 and 2 of a TF32 operand are neighbours of one row, 1 and 3 of
  // the other; two operands make one of bf16.
  auto pack = [&](ArrayRef<Value> numbers, SmallVector<Value> &packed) {
    for (unsigned first = 0; first < numbers.size(); first += 4)
      for (unsigned row = 0; row < 2; ++row)
        packed.append(
            k.inlinePTX({i32}, "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f",
                        {numbers[first + row], numbers[first + row + 2]},
                        /*hasSideEffects=*/false));
  };
  pack(values, rows.half);
  pack(rest, rows.rest);
  return rows;
}

/// The element of `row` at position `p` of the contracted axis.
Value WgmmaKernel::loadElement(const WgmmaStage &stage,
                               const WgmmaPosition &row, Int p, Value source) {
  const WgmmaLayout &layout = plan.work;
  Int permutation = swizzleOf(layout, row, stage.axis);
  Int inner = p;
  Int address = addressOf(layout, row, stage.axis);
  if (!stage.innermost) {
    permutation = k.bitXor(permutation, swizzle(layout, p));
    inner = row.back();
    address = k.add(address, k.mul(p, layout.pitches[stage.axis]));
  }
  address = k.add(address, k.bitXor(inner, permutation));
  return k.load(k.builder.getF32Type(),
                k.offsetBytes(source, k.mul(address, 4)));
}

/// The same from the input, for rows that are not in shared memory any more.
Value WgmmaKernel::loadGlobalElement(const WgmmaStage &stage,
                                     const WgmmaPosition &row, Int p) {
  Type f32 = k.builder.getF32Type();
  return k
      .ifElse(
          existsInArray(stage, row), f32,
          [&]() -> SmallVector<Value> {
            Int offset = k.add(offsetOf(input, row, stage.axis),
                               k.mul(k.extend(p), input.strides[stage.axis]));
            return {k.load(f32, k.offsetBytes(offsetArray(input, start),
                                              k.mul(offset, 4)))};
          },
          [&]() -> SmallVector<Value> { return {k.constant(f32, 0.0)}; })
      .front();
}

/// The elements of the factor that a thread's sums take at position `p` on K:
/// those of column 8j + 2t + e in number 2j + e.
SmallVector<Value> WgmmaKernel::loadFactor(unsigned index, Int p) {
  const WgmmaStage &stage = plan.stages[index];
  Type f32 = k.builder.getF32Type(), i32 = k.builder.getI32Type();
  Type i16 = k.builder.getI16Type();
  int64_t coreStride = stage.paddedResults / 8 * 128;
  auto addressOf = [&](Int slot, int64_t bytes, int64_t copy) {
    Int core = k.mul(k.floorDiv(slot, 16 / bytes), coreStride);
    Int inside = k.add(k.mul(k.bitAnd(slot, 16 / bytes - 1), bytes),
                       k.mul(laneColumn, 32));
    return k.shared(k.add(k.add(core, inside), factors[index].offset + copy));
  };
  Value main = addressOf(getWgmmaSlot(k, stage, p), 4, 0);
  Value rest = addressOf(getWgmmaHalfSlot(k, stage, p), 2, stage.factorBytes);
  SmallVector<Value> values;
  for (int64_t number = 0; number < stage.paddedResults / 4; ++number) {
    int64_t offset = number / 2 * 128 + number % 2 * 16;
    Value low = arith::ExtUIOp::create(
        k.builder, k.loc, i32, k.load(i16, k.offsetBytes(rest, offset)));
    low = arith::ShLIOp::create(k.builder, k.loc, low, k.materialize(16));
    values.push_back(arith::AddFOp::create(
        k.builder, k.loc, k.load(f32, k.offsetBytes(main, offset)),
        k.bitcast(low, f32)));
  }
  return values;
}

/// An infinity or NaN among the operands makes the three products infinities of
/// either sign or NaN. If there is one among the sums of this warp, they are
/// computed again as they would be without a split.
SmallVector<Value> WgmmaKernel::repairSums(
    unsigned index, const WgmmaThreadRows &rows, ArrayRef<Value> sums,
    function_ref<Value(const WgmmaPosition &, Int)> loadElement) {
  const WgmmaStage &stage = plan.stages[index];
  Type f32 = k.builder.getF32Type();
  Value zero = k.constant(f32, 0.0);
  // 0 as long as all are finite, else NaN.
  SmallVector<Value> checks(4, zero);
  for (auto [number, sum] : llvm::enumerate(sums))
    checks[number % 4] = k.fma(sum, zero, checks[number % 4]);
  auto isBadRow = [&](Value lhs, Value rhs, Value exists,
                      const WgmmaPosition &row) -> Value {
    Value check = arith::AddFOp::create(k.builder, k.loc, lhs, rhs);
    Value isBad = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::UNO, check, check);
    return k.both(isBad, k.both(exists, existsInArray(stage, row)));
  };
  // Rows that do not exist are what earlier kernels left in shared memory: they
  // must not decide how those beside them are computed.
  Value isBad = arith::OrIOp::create(
      k.builder, k.loc,
      isBadRow(checks[0], checks[1], rows.firstExists, rows.first),
      isBadRow(checks[2], checks[3], rows.secondExists, rows.second));
  Value anyBad = NVVM::VoteSyncOp::create(
      k.builder, k.loc, k.builder.getI1Type(), k.materialize(-1, 32), isBad,
      NVVM::VoteSyncKind::any);
  SmallVector<Type> types(sums.size(), f32);
  auto repair = [&] {
    SmallVector<Value> zeros(sums.size(), zero);
    return k.rolledLoop(
        0, stage.sizeK, 1, zeros, [&](Int p, ValueRange carried) {
          Value first = loadElement(rows.first, p);
          Value second = loadElement(rows.second, p);
          SmallVector<Value> factor = loadFactor(index, p);
          SmallVector<Value> results;
          for (unsigned number = 0; number < sums.size(); ++number)
            results.push_back(k.fma(number % 4 < 2 ? first : second,
                                    factor[number / 4 * 2 + number % 2],
                                    carried[number]));
          return results;
        });
  };
  return k.ifElse(anyBad, types, repair,
                  [&] { return SmallVector<Value>(sums); });
}

/// Leaves the results of a block where its rows were.
void WgmmaKernel::storeShared(const WgmmaStage &stage,
                              const WgmmaThreadRows &rows, Value target,
                              ArrayRef<Value> sums) {
  const WgmmaLayout &layout = plan.work;
  if (!stage.innermost) {
    k.ifThen(rows.firstExists, [&] {
      int64_t pitch = layout.pitches[stage.axis];
      Value base = getPairs(stage, rows, layout, k.mul(laneColumn, 2), target);
      for (unsigned first = 0; first < sums.size(); first += 4)
        for (unsigned odd = 0; odd < 2; ++odd)
          k.store(k.makeVector({sums[first + odd], sums[first + odd + 2]}),
                  k.offsetBytes(base, (first * 2 + odd) * pitch * 4));
    });
    return;
  }
  for (unsigned number = 0; number < 2; ++number) {
    const WgmmaPosition &row = number ? rows.second : rows.first;
    k.ifThen(number ? rows.secondExists : rows.firstExists, [&] {
      Int address = addressOf(layout, row, stage.axis);
      Int permutation = swizzleOf(layout, row, stage.axis);
      Value bases[2];
      for (int64_t half = 0; half < 2; ++half) {
        Int inner =
            k.bitXor(k.add(k.mul(laneColumn, 4), 16 * half), permutation);
        bases[half] = k.offsetBytes(target, k.mul(k.add(address, inner), 4));
      }
      for (unsigned first = 0; first < sums.size(); first += 8) {
        unsigned own = first + 2 * number;
        k.store(k.makeVector(
                    {sums[own], sums[own + 1], sums[own + 4], sums[own + 5]}),
                k.offsetBytes(bases[first / 8 % 2], first / 16 * 128));
      }
    });
  }
}
