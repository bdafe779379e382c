//===- RegisterTile.cpp - The innermost kernel ------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/CPU/RegisterTile.h"
#include "Arithmetic.h"
#include "Pairs.h"
#include "Prefetcher.h"
#include "Rearrange.h"
#include "kron/CodeGen/NarrowFloats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Multiply-adds up to which a whole tile is unrolled over p; beyond, the p
/// loop stays a loop, unrolled by `kUnroll`, so that code size stays bounded,
/// unless it had one turn only.
static constexpr int64_t kMaxUnrolledFmas = 128, kMaxUnrolledSegments = 256;
static constexpr int64_t kUnroll = 4;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static Value getMask(const RegisterTile &tile, int64_t vector) {
  if (tile.fibres > 1)
    return {};
  return tile.maskAll || vector == tile.vectors - 1 ? tile.mask
                                                    : tile.usedLanes;
}

/// The same for the result of a row.
static Value getResultMask(const RegisterTile &tile, int64_t row,
                           int64_t vector) {
  if (tile.fibres > 1)
    return row == tile.rows - 1 ? tile.mask : tile.usedLanes;
  return getMask(tile, vector);
}

/// What the accumulators of one result are multiplied by: the value, or its
/// real and its imaginary part in both lanes of a complex one.
using Multipliers = SmallVector<Value, 2>;

static Multipliers loadScalarOperand(Emitter &emitter, VectorType type,
                                     Value pointer) {
  OpBuilder &builder = emitter.builder;
  Type part = emitter.getPartType();
  Multipliers values;
  for (int64_t index = 0; index < emitter.getNumParts(); ++index) {
    Value address = emitter.offsetPointer(pointer, index, part);
    Value scalar = LLVM::LoadOp::create(builder, emitter.loc, part, address);
    values.push_back(
        vector::BroadcastOp::create(builder, emitter.loc, type, scalar));
  }
  return values;
}

static Multipliers loadGroupOperand(Emitter &emitter,
                                    const TileOperand &operand, int64_t lanes,
                                    Value pointer) {
  int64_t width = llvm::PowerOf2Ceil(operand.group);
  int64_t parts = emitter.getNumParts();
  Value group = emitter.loadVector(emitter.getVectorType(width), pointer,
                                   emitter.firstLanes(width, operand.group),
                                   operand.element);
  Multipliers values;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<int64_t> sources;
    for (int64_t lane = 0; lane < lanes * parts; ++lane)
      sources.push_back(lane / parts % operand.group * parts + part);
    values.push_back(vector::ShuffleOp::create(emitter.builder, emitter.loc,
                                               group, group, sources));
  }
  return values;
}

static Multipliers loadMultipliers(Emitter &emitter, const TileOperand &operand,
                                   int64_t lanes, Value pointer, Value mask) {
  VectorType type = emitter.getVectorType(lanes);
  switch (operand.kind) {
  case TileOperand::Kind::Scalar:
    return loadScalarOperand(emitter, type, pointer);
  case TileOperand::Kind::Group:
    return loadGroupOperand(emitter, operand, lanes, pointer);
  case TileOperand::Kind::Vector: {
    Value value = emitter.loadVector(type, pointer, mask, operand.element);
    if (emitter.getNumParts() == 1)
      return {value};
    return {emitRepeatedPart(emitter, value, false),
            emitRepeatedPart(emitter, value, true)};
  }
  }
  llvm_unreachable("covered switch");
}

//===----------------------------------------------------------------------===//
// Short fibres
//===----------------------------------------------------------------------===//

/// Transposes `rows` rows of `columns` elements, which lie in the first lanes
/// of a vector.
static Value emitTransposed(Emitter &emitter, Value vector, int64_t rows,
                            int64_t columns) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(
        lane < rows * columns ? lane % rows * columns + lane / rows : lane);
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, vector, vector,
                                   sources);
}

static Value loadFibres(Emitter &emitter, const RegisterTile &tile,
                        int64_t row) {
  Value from = emitter.offsetPointer(
      tile.a.base, emitter.mul(row, tile.a.blockStride), tile.a.element);
  return emitter.loadVector(emitter.getVectorType(tile.lanes), from,
                            getResultMask(tile, row, 0), tile.a.element);
}

/// The rows of A, which are several fibres each.
static SmallVector<Value> loadFibres(Emitter &emitter,
                                     const RegisterTile &tile) {
  SmallVector<Value> rows;
  for (int64_t row = 0; row < tile.rows; ++row)
    rows.push_back(loadFibres(emitter, tile, row));
  return rows;
}

SmallVector<Value> kron::loadGroups(Emitter &emitter,
                                    const RegisterTile &tile) {
  SmallVector<Value> groups;
  for (int64_t p = 0; p < tile.sizeK; ++p) {
    Value row = emitter.offsetPointer(
        tile.b.base, emitter.mul(p, tile.b.strideK), tile.b.element);
    groups.push_back(
        loadGroupOperand(emitter, tile.b, tile.lanes, row).front());
  }
  return groups;
}

/// The element at `position` of every one of the `fibres` of `size` elements,
/// in all of its lanes. Lanes beyond the last whole fibre stay as they are.
static Value emitRepeatedElement(Emitter &emitter, Value fibres, int64_t size,
                                 int64_t position) {
  int64_t lanes = cast<VectorType>(fibres.getType()).getNumElements();
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane < lanes / size * size ? lane / size * size + position
                                                 : lane);
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, fibres, fibres,
                                   sources);
}

/// Lanes of 128 bits, within which processors are fastest at shuffles.
static int64_t getBlockLanes(Emitter &emitter) {
  return 16 / emitter.getElementBytes();
}

/// Whether fibres of `size` elements are taken apart into blocks first, of
/// which shuffles within 128 bits then repeat elements.
static bool isRepeatedInBlocks(Emitter &emitter, int64_t size) {
  return size > kMostKeptElements && size % getBlockLanes(emitter) == 0;
}

/// Blocks of the rows of A: of every fibre of a row the first 128 bits, as
/// often as the fibre has such, then the second, and so on. LLVM would make one
/// slower shuffle of those and what repeats an element.
static SmallVector<Value> emitFibreBlocks(Emitter &emitter,
                                          ArrayRef<Value> rows, int64_t size) {
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  int64_t block = getBlockLanes(emitter);
  SmallVector<Value> blocks;
  for (Value row : rows)
    for (int64_t first = 0; first < size; first += block) {
      SmallVector<int64_t> sources;
      for (int64_t lane = 0; lane < lanes; ++lane)
        sources.push_back(lane / size * size + first + lane % block);
      Value value = vector::ShuffleOp::create(emitter.builder, emitter.loc, row,
                                              row, sources);
      if (isa<FloatType>(emitter.element))
        value = LLVM::CallIntrinsicOp::create(
                    emitter.builder, emitter.loc, value.getType(),
                    emitter.builder.getStringAttr("llvm.arithmetic.fence"),
                    ValueRange{value})
                    .getResult(0);
      blocks.push_back(value);
    }
  return blocks;
}

/// Rearranges the rows of A, which are several fibres each, into memory where
/// the same elements of all fibres of a row are neighbours. From there they are
/// loaded as groups, which keeps the shuffle unit free.
static TileOperand interleaveRows(Emitter &emitter, const RegisterTile &tile) {
  for (int64_t row = 0; row < tile.rows; ++row)
    emitter.storeVector(
        emitTransposed(emitter, loadFibres(emitter, tile, row), tile.fibres,
                       tile.sizeK),
        emitter.offsetPointer(tile.interleaved, row * tile.lanes), nullptr);
  return {TileOperand::Kind::Group, tile.interleaved, tile.lanes, tile.fibres,
          tile.fibres};
}

//===----------------------------------------------------------------------===//
// Steps of p
//===----------------------------------------------------------------------===//

/// A vector whose lanes from `first` on are `share` of each of `rows`, one
/// after the other; all lanes of a row are the same.
static Value emitBlended(Emitter &emitter, ArrayRef<Value> rows, int64_t first,
                         int64_t share) {
  if (rows.size() == 1)
    return rows.front();
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  size_t half = rows.size() / 2;
  int64_t second = first + half * share;
  Value lower = emitBlended(emitter, rows.take_front(half), first, share);
  Value upper = emitBlended(emitter, rows.drop_front(half), second, share);
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(lane < second ? lane : lanes + lane);
  return vector::ShuffleOp::create(emitter.builder, emitter.loc, lower, upper,
                                   sources);
}

/// Whether a step of p keeps A in registers, of `parts` each, and takes one
/// vector of B after the other. Rows that share one are blended as they come.
static bool takesVectors(const RegisterTile &tile, int64_t parts) {
  return tile.sharingRows == 1 && tile.rows * parts < tile.vectors;
}

/// One step of p: rows * vectors multiply-adds, twice for complex numbers. The
/// operand of which there is less stays in registers, the other one is loaded
/// where it is needed: together with the accumulators, all of the larger one
/// might not fit. `fibres` are the rows of A if these stay as they lie.
/// `emitBetween` is called `countParts` times.
static void emitStepOfK(Emitter &emitter, const RegisterTile &tile,
                        ArrayRef<Value> fibres, Int positionK,
                        SmallVectorImpl<Value> &accumulators,
                        function_ref<void()> emitBetween) {
  auto getPointer = [&](const TileOperand &operand, int64_t block) {
    Int offset = emitter.mul(positionK, operand.strideK);
    Value base = emitter.offsetPointer(operand.base, offset, operand.element);
    return emitter.offsetPointer(base, emitter.mul(block, operand.blockStride),
                                 operand.element);
  };
  int64_t parts = emitter.getNumParts();
  auto loadA = [&](int64_t row) -> Multipliers {
    if (!fibres.empty()) {
      int64_t p = positionK.getConstant();
      int64_t blocks = fibres.size() / tile.rows, size = tile.sizeK / blocks;
      return {emitRepeatedElement(emitter, fibres[row * blocks + p / size],
                                  size, p % size)};
    }
    return loadMultipliers(emitter, tile.a, tile.lanes, getPointer(tile.a, row),
                           tile.maskAll ? tile.mask : Value());
  };
  auto loadB = [&](int64_t vector) {
    if (!tile.groups.empty())
      return tile.groups[positionK.getConstant()];
    Value pointer = getPointer(tile.b, vector);
    if (!tile.ahead.is(0))
      emitPrefetchSoon(
          emitter, emitter.offsetPointer(pointer, tile.ahead, tile.b.element));
    return emitter.loadVector(emitter.getVectorType(tile.lanes), pointer,
                              getMask(tile, vector), tile.b.element);
  };
  auto accumulate = [&](int64_t row, int64_t vector, int64_t part,
                        const Multipliers &a, Value b) {
    Value &accumulator =
        accumulators[(row * tile.vectors + vector) * parts + part];
    accumulator = tile.hasPairs
                      ? emitPairProduct(emitter, a[part], b, accumulator)
                      : emitMultiplyAdd(emitter, a[part], b, accumulator);
  };
  if (takesVectors(tile, parts)) {
    SmallVector<Multipliers> a;
    for (int64_t row = 0; row < tile.rows; ++row)
      a.push_back(loadA(row));
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value b = loadB(vector);
      for (int64_t row = 0; row < tile.rows; ++row)
        for (int64_t part = 0; part < parts; ++part)
          accumulate(row, vector, part, a[row], b);
      emitBetween();
    }
    return;
  }
  SmallVector<Value> b;
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    b.push_back(loadB(vector));
  bool isShared = tile.sharingRows > 1;
  Value sharedB = isShared ? loadB(tile.vectors) : Value();
  SmallVector<Value> sharing;
  for (int64_t row = 0; row < tile.rows; ++row) {
    Multipliers a = loadA(row);
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t vector = 0; vector < tile.vectors; ++vector)
        accumulate(row, vector, part, a, b[vector]);
    if (isShared)
      sharing.push_back(a.front());
    if (static_cast<int64_t>(sharing.size()) == tile.sharingRows) {
      Value &sum =
          accumulators[tile.rows * tile.vectors + row / tile.sharingRows];
      Value blended = emitBlended(emitter, sharing, /*first=*/0,
                                  tile.lanes / tile.sharingRows);
      sum = emitMultiplyAdd(emitter, blended, sharedB, sum);
      sharing.clear();
    }
    emitBetween();
  }
}

static int64_t countVectors(const RegisterTile &tile) {
  int64_t shared = tile.sharingRows > 1 ? tile.rows / tile.sharingRows : 0;
  return tile.rows * tile.vectors + shared;
}

/// Blocks that a step of p falls into.
static int64_t countParts(Emitter &emitter, const RegisterTile &tile) {
  return takesVectors(tile, emitter.getNumParts()) ? tile.vectors : tile.rows;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The result of the accumulators from `accumulators` on: that one, or for
/// complex numbers re + i * im with
///   re = sum Re A * (Re B, Im B)    im = sum Im A * (Re B, Im B)
/// A conjugate A turns the sign of im, a conjugate B that of both imaginary
/// parts.
static Value emitResult(Emitter &emitter, const RegisterTile &tile,
                        const Value *accumulators) {
  if (emitter.getNumParts() == 1)
    return accumulators[0];
  Value re = accumulators[0];
  Value swapped = emitSwappedParts(emitter, accumulators[1]);
  if (tile.b.isConjugate)
    re = emitConjugate(emitter, re);
  double sign = tile.a.isConjugate ? -1.0 : 1.0;
  double realSign = tile.b.isConjugate ? sign : -sign;
  return emitMultiplyAdd(emitter, swapped,
                         emitAlternating(emitter, swapped, realSign, sign), re);
}

/// Stores the first `count` parts of `value`.
static void emitPartStores(Emitter &emitter, const TileParts &parts,
                           int64_t count, Value value, Value pointer,
                           Type stored) {
  for (int64_t part = 0; part < count; ++part) {
    SmallVector<int64_t> sources;
    for (int64_t lane = 0; lane < parts.lanes; ++lane)
      sources.push_back(part * parts.lanes + lane);
    Value lanes = vector::ShuffleOp::create(emitter.builder, emitter.loc, value,
                                            value, sources);
    emitter.storeVector(
        lanes,
        emitter.offsetPointer(pointer, emitter.mul(part, parts.stride), stored),
        nullptr, stored);
  }
}

static void emitStores(Emitter &emitter, const RegisterTile &tile,
                       ArrayRef<Value> accumulators) {
  // What multiplies pairs rounds those of two vectors at once, too.
  bool isRounded = emitter.roundsToBF16 && tile.lanes == kRoundedLanes &&
                   tile.result.element && tile.result.element.isBF16();
  Emitter halves(emitter.builder, emitter.loc, emitter.builder.getI16Type());
  Value lower, lowerPointer;
  const TileResult &result = tile.result;
  auto getPointer = [&](Value base, int64_t row, Int rowStride, int64_t vector,
                        Int vectorStride, Type stored) {
    return emitter.offsetPointer(base,
                                 emitter.add(emitter.mul(row, rowStride),
                                             emitter.mul(vector, vectorStride)),
                                 stored);
  };
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value mask = getResultMask(tile, row, vector);
      int64_t index = (row * tile.vectors + vector) * emitter.getNumParts();
      Value sum = emitResult(emitter, tile, &accumulators[index]);
      if (tile.interleaved)
        sum = emitTransposed(emitter, sum, tile.sizeK, tile.fibres);
      Value value = emitScaledSum(emitter, tile.scale, sum, [&] {
        Value pointer =
            getPointer(result.addend, row, result.addendRowStride, vector,
                       result.addendVectorStride, result.addendElement);
        return emitter.loadVector(emitter.getVectorType(tile.lanes), pointer,
                                  mask, result.addendElement);
      });
      Value pointer = getPointer(result.base, row, result.rowStride, vector,
                                 result.vectorStride, result.element);
      if (const TileParts &parts = tile.resultParts; parts.lanes) {
        emitPartStores(emitter, parts,
                       vector == tile.vectors - 1 ? parts.count
                                                  : tile.lanes / parts.lanes,
                       value, pointer, result.element);
        continue;
      }
      // Two vectors that follow each other are a cache line.
      bool isFirst = isRounded && !lower && !mask && !tile.streams &&
                     vector % 2 == 0 && vector + 1 < tile.vectors &&
                     result.vectorStride.is(kRoundedLanes) &&
                     !getResultMask(tile, row, vector + 1);
      if (isFirst) {
        lower = value;
        lowerPointer = pointer;
      } else if (lower) {
        halves.storeVector(emitToBF16(emitter, lower, value), lowerPointer,
                           nullptr);
        lower = nullptr;
      } else {
        emitter.storeVector(value, pointer, mask, result.element, tile.streams);
      }
    }
  }
  if (tile.sharingRows == 1)
    return;
  for (int64_t row = 0; row < tile.rows; row += tile.sharingRows) {
    Value sum = accumulators[tile.rows * tile.vectors + row / tile.sharingRows];
    TileParts parts{tile.lanes / tile.sharingRows, tile.sharingRows,
                    result.rowStride};
    emitPartStores(emitter, parts, parts.count,
                   emitScaledSum(emitter, tile.scale, sum, nullptr),
                   getPointer(result.base, row, result.rowStride, tile.vectors,
                              result.vectorStride, result.element),
                   result.element);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Prefetches what is added to the results, which is loaded at the end.
static void emitAddendPrefetches(Emitter &emitter, const RegisterTile &tile) {
  const TileResult &result = tile.result;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      emitPrefetchSoon(
          emitter,
          emitter.offsetPointer(
              result.addend,
              emitter.add(emitter.mul(row, result.addendRowStride),
                          emitter.mul(vector, result.addendVectorStride)),
              result.addendElement));
}

/// `pointer`, which LLVM's strength reduction takes for an unknown. All
/// addresses of an unrolled tile lie at fixed distances from a few pointers;
/// looking for others took up to 90 % of the compile time and found none.
static Value hideArithmetic(Emitter &emitter, Value pointer) {
  if (!pointer)
    return pointer;
  return LLVM::FreezeOp::create(emitter.builder, emitter.loc, pointer);
}

void kron::emitRegisterTile(Emitter &emitter, const RegisterTile &given) {
  int64_t fmas = countVectors(given) * given.lanes * given.sizeK *
                 (given.hasPairs ? 2 : 1);
  Prefetcher prefetcher(emitter, given.prefetch, fmas);
  if (!given.prefetch.isSpread)
    prefetcher.emitRemaining();
  emitDrain(emitter, given.prefetch.drain, fmas);
  RegisterTile tile = given;
  int64_t count = countVectors(tile) * emitter.getNumParts();
  // Where the first step is not in a loop it is a product: a multiply-add would
  // need its zeros copied to a register of its own.
  int64_t most = tile.readsSegments ? kMaxUnrolledSegments : kMaxUnrolledFmas;
  bool isUnrolled =
      tile.sizeK && (count * tile.sizeK <= most || tile.sizeK < 2 * kUnroll);
  if (isUnrolled)
    for (Value *base :
         {&tile.a.base, &tile.b.base, &tile.result.base, &tile.result.addend})
      *base = hideArithmetic(emitter, *base);
  SmallVector<Value> fibres;
  if (tile.interleaved)
    tile.a = interleaveRows(emitter, tile);
  else if (tile.fibres > 1)
    fibres = loadFibres(emitter, tile);
  if (!fibres.empty() && isRepeatedInBlocks(emitter, tile.sizeK))
    fibres = emitFibreBlocks(emitter, fibres, tile.sizeK);
  SmallVector<Value> accumulators(count);
  if (!isUnrolled)
    llvm::fill(accumulators, emitter.zero(emitter.getVectorType(tile.lanes)));

  if (!isUnrolled && tile.scale.beta)
    emitAddendPrefetches(emitter, tile);

  auto emitStepsOfK = [&](Int begin, int64_t steps,
                          SmallVectorImpl<Value> &acc) {
    for (int64_t step = 0; step < steps; ++step)
      emitStepOfK(emitter, tile, fibres, emitter.add(begin, step), acc,
                  [&] { prefetcher.emitShare(); });
  };
  int64_t parts = countParts(emitter, tile);
  if (isUnrolled) {
    prefetcher.start(tile.sizeK * parts);
    emitStepsOfK(0, tile.sizeK, accumulators);
  } else {
    int64_t turns = tile.sizeK / kUnroll, unrolled = turns * kUnroll;
    prefetcher.prepareTurns(turns);
    accumulators = emitter.forLoop(
        0, unrolled, kUnroll, accumulators,
        [&](Int positionK, ValueRange carried) {
          SmallVector<Value> values(carried);
          prefetcher.startTurn(kUnroll * parts,
                               emitter.floorDiv(positionK, kUnroll), turns);
          emitStepsOfK(positionK, kUnroll, values);
          return values;
        });
    prefetcher.finishTurns();
    emitStepsOfK(unrolled, tile.sizeK - unrolled, accumulators);
  }
  emitStores(emitter, tile, accumulators);
}
