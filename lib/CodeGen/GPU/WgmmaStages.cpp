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
    sums = guardWgmmaSums(
        k, stage, factors[index], laneColumn, sums,
        [&](unsigned row) {
          return row ? k.both(rows.secondExists,
                              existsInArray(stage, rows.second))
                     : k.both(rows.firstExists,
                              existsInArray(stage, rows.first));
        },
        [&](unsigned row, Int p) {
          return loadElement(stage, row ? rows.second : rows.first, p, source);
        });
  auto leave = [&] {
    // All lanes of the warp have read before one of them writes.
    k.syncWarp();
    storeShared(stage, rows, target, sums);
  };
  if (index + 1 < plan.stages.size())
    return leave();
  if (refills())
    ifAligned(
        true, [&] { refillBlock(stage, block); }, [] {});
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
      [&] { return loadValues(stage, rows, source); },
      [&] { return SmallVector<Value>(numValues, k.constant(f32, 0.0)); });
  return convertWgmmaRows(k, stage.kind, values);
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
  return convertWgmmaRows(k, stage.kind, loadValues(stage, rows, source));
}

/// f32, in the order of the instructions that take it.
SmallVector<Value> WgmmaKernel::loadValues(const WgmmaStage &stage,
                                           const WgmmaThreadRows &rows,
                                           Value source) {
  return stage.innermost ? loadInnermost(stage, rows, source)
                         : loadPairs(stage, rows, source);
}

/// Innermost axis, f32: 4 successive elements of two rows per 16.
SmallVector<Value> WgmmaKernel::loadInnermost(const WgmmaStage &stage,
                                              const WgmmaThreadRows &rows,
                                              Value source) {
  const WgmmaLayout &layout = getSource(stage);
  WgmmaQuadBases bases;
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
  return loadWgmmaQuads(k, laneColumn, bases, stage.paddedK, stage.sizeK);
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
                                          Value source) {
  const WgmmaLayout &layout = getSource(stage);
  Value base = getPairs(stage, rows, layout, k.mul(laneColumn, 2), source);
  return loadWgmmaPairs(k, laneColumn, base, layout.pitches[stage.axis] * 4,
                        stage.paddedK, stage.sizeK);
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
