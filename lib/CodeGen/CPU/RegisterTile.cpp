//===- RegisterTile.cpp - The innermost kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/RegisterTile.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiply-adds up to which a whole tile is unrolled over p; beyond, the p
/// loop stays a loop, unrolled by `kUnroll`, so that code size stays bounded.
static constexpr int64_t kMaxUnrolledFmas = 128;
static constexpr int64_t kUnroll = 4;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static Value getMask(const RegisterTile &tile, int64_t vector) {
  return tile.maskAll || vector == tile.vectors - 1 ? tile.mask
                                                    : tile.usedLanes;
}

static Value loadOperand(Emitter &emitter, const TileOperand &operand,
                         int64_t lanes, Value pointer, Value mask) {
  OpBuilder &builder = emitter.builder;
  VectorType type = emitter.getVectorType(lanes);
  switch (operand.kind) {
  case TileOperand::Kind::Scalar:
    return vector::BroadcastOp::create(builder, emitter.loc, type,
                                       emitter.loadScalar(pointer));
  case TileOperand::Kind::Group: {
    int64_t width = llvm::PowerOf2Ceil(operand.group);
    Value group = emitter.loadVector(emitter.getVectorType(width), pointer,
                                     emitter.firstLanes(width, operand.group));
    SmallVector<int64_t> lanesOfGroup;
    for (int64_t lane = 0; lane < lanes; ++lane)
      lanesOfGroup.push_back(lane % operand.group);
    return vector::ShuffleOp::create(builder, emitter.loc, group, group,
                                     lanesOfGroup);
  }
  case TileOperand::Kind::Vector:
    return emitter.loadVector(type, pointer, mask);
  }
  llvm_unreachable("covered switch");
}

/// One step of p: rows * vectors multiply-adds. The operand of which there is
/// less stays in registers, the other one is loaded where it is needed:
/// together with the accumulators, all of the larger one might not fit.
static void emitStep(Emitter &emitter, const RegisterTile &tile, Int depth,
                     SmallVectorImpl<Value> &accumulators) {
  Value aBase = emitter.offsetPointer(tile.a.base,
                                      emitter.mul(depth, tile.a.depthStride));
  Value bBase = emitter.offsetPointer(tile.b.base,
                                      emitter.mul(depth, tile.b.depthStride));
  auto loadA = [&](int64_t row) {
    return loadOperand(
        emitter, tile.a, tile.lanes,
        emitter.offsetPointer(aBase, emitter.mul(row, tile.a.blockStride)),
        tile.maskAll ? tile.mask : Value());
  };
  auto loadB = [&](int64_t vector) {
    return loadOperand(
        emitter, tile.b, tile.lanes,
        emitter.offsetPointer(bBase, emitter.mul(vector, tile.b.blockStride)),
        getMask(tile, vector));
  };
  auto accumulate = [&](int64_t row, int64_t vector, Value a, Value b) {
    Value &accumulator = accumulators[row * tile.vectors + vector];
    accumulator =
        vector::FMAOp::create(emitter.builder, emitter.loc, a, b, accumulator);
  };
  if (tile.rows < tile.vectors) {
    SmallVector<Value> a;
    for (int64_t row = 0; row < tile.rows; ++row)
      a.push_back(loadA(row));
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value b = loadB(vector);
      for (int64_t row = 0; row < tile.rows; ++row)
        accumulate(row, vector, a[row], b);
    }
    return;
  }
  SmallVector<Value> b;
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    b.push_back(loadB(vector));
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value a = loadA(row);
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      accumulate(row, vector, a, b[vector]);
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// `factor * value`, but 0 where the factor is 0 whatever the value: BLAS does
/// not look at what alpha = 0 or beta = 0 scales, so a NaN there must not come
/// through.
static Value emitScaled(Emitter &emitter, Value factor, Value value) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type type = value.getType();
  if (matchPattern(factor, m_AnyZeroFloat()))
    return emitter.zero(type);
  Value lanes = factor;
  if (isa<VectorType>(type))
    lanes = vector::BroadcastOp::create(builder, loc, type, factor);
  Value scaled = arith::MulFOp::create(builder, loc, lanes, value);
  if (matchPattern(factor, m_Constant()))
    return scaled;
  Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       factor, emitter.zero(factor.getType()));
  return arith::SelectOp::create(builder, loc, isZero, emitter.zero(type),
                                 scaled);
}

Value kron::emitScaledSum(Emitter &emitter, const TileScale &scale, Value value,
                          function_ref<Value()> addend) {
  if (scale.alpha)
    value = emitScaled(emitter, scale.alpha, value);
  if (!scale.beta)
    return value;
  return arith::AddFOp::create(emitter.builder, emitter.loc, value,
                               emitScaled(emitter, scale.beta, addend()));
}

static void emitStores(Emitter &emitter, const RegisterTile &tile,
                       ArrayRef<Value> accumulators) {
  const TileResult &result = tile.result;
  auto getPointer = [&](Value base, int64_t row, Int rowStride, int64_t vector,
                        Int vectorStride) {
    return emitter.offsetPointer(
        base, emitter.add(emitter.mul(row, rowStride),
                          emitter.mul(vector, vectorStride)));
  };
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value mask = getMask(tile, vector);
      Value value = emitScaledSum(
          emitter, tile.scale, accumulators[row * tile.vectors + vector], [&] {
            Value pointer =
                getPointer(result.addend, row, result.addendRowStride, vector,
                           result.addendVectorStride);
            return emitter.loadVector(emitter.getVectorType(tile.lanes),
                                      pointer, mask);
          });
      emitter.storeVector(value,
                          getPointer(result.base, row, result.rowStride, vector,
                                     result.vectorStride),
                          mask);
    }
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void kron::emitRegisterTile(Emitter &emitter, const RegisterTile &tile) {
  int64_t count = tile.rows * tile.vectors;
  SmallVector<Value> accumulators(
      count, emitter.zero(emitter.getVectorType(tile.lanes)));

  auto emitSteps = [&](Int begin, int64_t steps, SmallVectorImpl<Value> &acc) {
    for (int64_t step = 0; step < steps; ++step)
      emitStep(emitter, tile, emitter.add(begin, step), acc);
  };
  if (count * tile.depth <= kMaxUnrolledFmas) {
    emitSteps(0, tile.depth, accumulators);
  } else {
    int64_t unrolled = tile.depth / kUnroll * kUnroll;
    accumulators = emitter.forLoop(0, unrolled, kUnroll, accumulators,
                                   [&](Int depth, ValueRange carried) {
                                     SmallVector<Value> values(carried);
                                     emitSteps(depth, kUnroll, values);
                                     return values;
                                   });
    emitSteps(unrolled, tile.depth - unrolled, accumulators);
  }
  emitStores(emitter, tile, accumulators);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Issue slots of one step of p of a block, two multiply-adds or loads a cycle:
/// FMAs, loads, or the FMA latency (4 cycles, so 8 in flight), whichever is
/// most.
static int64_t getBlockCost(int64_t rows, int64_t vectors) {
  return std::max({rows * vectors, rows + vectors, int64_t(8)}) + 1;
}

/// Cost of covering `total` x `vectorTotal` with blocks of `rows` x `vectors`.
static int64_t getCoverCost(int64_t total, int64_t vectorTotal, int64_t rows,
                            int64_t vectors) {
  int64_t fullRows = total / rows, restRows = total % rows;
  int64_t fullVectors = vectorTotal / vectors,
          restVectors = vectorTotal % vectors;
  int64_t cost = fullRows * fullVectors * getBlockCost(rows, vectors);
  if (restRows)
    cost += fullVectors * getBlockCost(restRows, vectors);
  if (restVectors)
    cost += fullRows * getBlockCost(rows, restVectors);
  if (restRows && restVectors)
    cost += getBlockCost(restRows, restVectors);
  // Every further kind of block is code of its own: worth it only for a clear
  // win.
  int64_t kinds = (restRows ? 2 : 1) * (restVectors ? 2 : 1);
  return cost * (19 + kinds);
}

TileShape kron::chooseTileShape(int64_t rows, int64_t vectors,
                                int64_t vectorBits, ScheduleAttr schedule) {
  // 32 registers with AVX-512, else 16; some must hold A and B.
  int64_t maxAccumulators = vectorBits == 512 ? 26 : 12;
  // "Many" is a number that all small block sizes divide.
  constexpr int64_t kMany = 5040;
  int64_t rowTotal = rows < 0 ? kMany : std::min(rows, kMany);
  int64_t vectorTotal = vectors < 0 ? kMany : std::min(vectors, kMany);
  int64_t fixedRows = schedule ? schedule.getRegisterRows() : 0;
  int64_t fixedVectors = schedule ? schedule.getRegisterVectors() : 0;

  TileShape best{1, 1};
  int64_t bestCost = std::numeric_limits<int64_t>::max();
  for (int64_t r = 1; r <= std::min<int64_t>(rowTotal, 26); ++r) {
    if (fixedRows && r != std::min(fixedRows, rowTotal))
      continue;
    for (int64_t s = 1; s <= std::min<int64_t>(vectorTotal, 26); ++s) {
      if (fixedVectors && s != std::min(fixedVectors, vectorTotal))
        continue;
      bool fixed = fixedRows && fixedVectors;
      if (r * s > maxAccumulators && !fixed)
        continue;
      int64_t cost = getCoverCost(rowTotal, vectorTotal, r, s);
      if (cost < bestCost) {
        bestCost = cost;
        best = {r, s};
      }
    }
  }
  return best;
}
