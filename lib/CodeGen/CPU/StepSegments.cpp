//===- StepSegments.cpp - Long varying axes ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The varying mapping for long axes: the factor is read in segments of several
// vectors of t, not one vector of every (q, p), each of which would lie far
// from the one before. What of X belongs to such a segment is copied, and used
// for all q before the next one begins.
//
// A factor of bf16 is read as pairs of t, see StepPairs.cpp.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "Pairs.h"
#include "StepEmitter.h"

using namespace mlir;
using namespace mlir::kron;

/// Adds the products of position `firstK` + `index` to the sums: [row, q,
/// vector, part].
void StepEmitter::emitSegmentStep(const Bases &at, const SegmentTile &tile,
                                  Int firstK, int64_t index,
                                  MutableArrayRef<Value> sums) {
  int64_t lanes = getMaxLanes(step), parts = tile.getParts();
  int64_t unit = parts * lanes;
  Int p = emitter.add(firstK, index);
  // Of short rows of the factor several lie in a line.
  bool isShort = !tile.words && tile.factorStrideK.isConstant() &&
                 tile.factorStrideK.getConstant() < unit;
  int64_t ahead = isShort ? tile.factorStrideK.getConstant() : unit;
  VectorType type = emitter.getVectorType(lanes);
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    SmallVector<std::pair<Value, Value>> x;
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value base = emitter.offsetPointer(
          at.source, emitter.add(emitter.add(emitter.mul(p, tile.strideK),
                                             emitter.mul(row, tile.rowStride)),
                                 emitter.mul(vector, tile.unitStride)));
      Value first = emitter.loadVector(type, base, nullptr);
      Value second;
      if (tile.pairs)
        second = emitter.loadVector(type, emitter.offsetPointer(base, lanes),
                                    nullptr);
      x.push_back({first, second});
    }
    for (int64_t q = 0; q < tile.sizeN; ++q) {
      auto getFactor = [&](Int position) {
        Int offset =
            emitter.add(emitter.add(emitter.mul(position, tile.factorStrideK),
                                    emitter.mul(q, tile.factorResultStride)),
                        vector * unit);
        Value pointer =
            emitter.offsetPointer(at.factor, offset, tile.factorElement);
        emitFactorPrefetch(pointer, (isShort ? index : vector) * ahead, ahead);
        return pointer;
      };
      Value first, second;
      if (tile.words) {
        Int even = emitter.mul(p, 2);
        std::tie(first, second) = emitUnpacked(
            emitter, emitWordLoad(emitter, lanes, getFactor(even), unit),
            emitWordLoad(emitter, lanes, getFactor(emitter.add(even, 1)),
                         unit));
      } else if (tile.pairs) {
        std::tie(first, second) =
            emitPairLoad(emitter, lanes, getFactor(p), unit);
      } else {
        first = emitter.loadVector(type, getFactor(p),
                                   tile.isPacked ? nullptr : tile.mask,
                                   tile.factorElement);
      }
      auto multiply = [&](Value f, Value x, Value sum) {
        return tile.words ? emitPairProduct(emitter, f, x, sum)
                          : emitMultiplyAdd(emitter, f, x, sum);
      };
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value *sum =
            &sums[((row * tile.sizeN + q) * tile.vectors + vector) * parts];
        sum[0] = multiply(first, x[row].first, sum[0]);
        if (tile.pairs)
          sum[1] = multiply(second, x[row].second, sum[1]);
      }
    }
  }
}

/// Adds the products of a tile to `sums`, those of one turn of p: [row, q,
/// vector, part].
SmallVector<Value> StepEmitter::emitSegmentSums(const Bases &at,
                                                const SegmentTile &tile,
                                                ArrayRef<Value> start) {
  int64_t parts = tile.getParts(), count = start.size();
  // Enough sums to hide the latency of multiply-adds, and a loop of so many of
  // these.
  constexpr int64_t kSums = 4, kUnrolled = 32;
  int64_t turns =
      std::min<int64_t>(llvm::divideCeil(kSums * parts, count), tile.sizeK);
  int64_t unrolled = std::max<int64_t>(kUnrolled / (turns * count), 1) * turns;
  SmallVector<Value> sums(start);
  sums.resize(turns * count,
              emitter.zero(emitter.getVectorType(getMaxLanes(step))));
  auto emitStepsOfK = [&](Int first, int64_t number,
                          MutableArrayRef<Value> values) {
    for (int64_t index = 0; index < number; ++index)
      emitSegmentStep(at, tile, first, index,
                      values.slice(index % turns * count, count));
  };
  int64_t full = tile.sizeK / unrolled * unrolled;
  sums =
      emitter.forLoop(0, full, unrolled, sums, [&](Int p, ValueRange carried) {
        SmallVector<Value> values(carried);
        emitStepsOfK(p, unrolled, values);
        return values;
      });
  emitStepsOfK(full, tile.sizeK - full, sums);
  for (int64_t index = count; index < turns * count; ++index)
    sums[index % count] = emitSum(emitter, sums[index % count], sums[index]);
  sums.resize(count);
  return sums;
}

void StepEmitter::emitSegmentResults(const Bases &at, const SegmentTile &tile,
                                     ArrayRef<Value> sums) {
  int64_t lanes = getMaxLanes(step), parts = tile.getParts();
  for (int64_t index = 0, count = sums.size(); index < count; index += parts) {
    int64_t vector = index / parts % tile.vectors;
    int64_t q = index / parts / tile.vectors % tile.sizeN;
    int64_t row = index / parts / tile.vectors / tile.sizeN;
    std::pair<Value, Value> values{sums[index], nullptr};
    if (tile.words)
      values = emitHalvesTogether(emitter, sums[index], sums[index + 1]);
    else if (tile.pairs)
      values = emitInterleaved(emitter, sums[index], sums[index + 1]);
    for (int64_t part = 0; part < parts; ++part) {
      int64_t lane = (vector * parts + part) * lanes;
      auto getOffset = [&](Int rowStride, Int resultStride) {
        return emitter.add(emitter.add(emitter.mul(row, rowStride),
                                       emitter.mul(q, resultStride)),
                           lane);
      };
      storeResult(
          at, part ? values.second : values.first,
          getOffset(tile.destination, step.destination.strides[step.axis]),
          getOffset(tile.addend, getStride(step.addend.strides, step.axis)),
          tile.mask);
    }
  }
}

/// Takes a tile through its p; `memory`: where its sums lie, of [q, row], null
/// if they are complete afterwards.
void StepEmitter::emitSegmentTile(const Bases &at, const SegmentTile &tile,
                                  Value memory) {
  int64_t lanes = getMaxLanes(step);
  VectorType type = emitter.getVectorType(lanes);
  if (!memory) {
    SmallVector<Value> zeros(tile.countSums(), emitter.zero(type));
    return emitSegmentResults(at, tile, emitSegmentSums(at, tile, zeros));
  }
  SmallVector<Value> places, sums;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t q = 0; q < tile.sizeN; ++q)
      for (int64_t vector = 0; vector < tile.vectors; ++vector)
        places.push_back(emitter.offsetPointer(
            memory, q * tile.sumStride + vector * tile.unitSums + row * lanes));
  for (Value place : places)
    sums.push_back(emitter.loadVector(type, place, nullptr));
  if (tile.isComplete)
    return emitSegmentResults(at, tile, sums);
  for (auto [sum, place] : llvm::zip(emitSegmentSums(at, tile, sums), places))
    emitter.storeVector(sum, place, nullptr);
}

/// Copies the factor's part for the q of `tile` and `count` p, from `first` on,
/// to [q, p, lane].
void StepEmitter::emitSegmentPacking(const Bases &at, const SegmentTile &tile,
                                     Int first, int64_t count, Value panel) {
  int64_t lanes = getMaxLanes(step);
  VectorType type = emitter.getVectorType(lanes);
  emitter.forLoop(0, count, 1, [&](Int p) {
    for (int64_t q = 0; q < tile.sizeN; ++q) {
      Int offset =
          emitter.add(emitter.mul(emitter.add(first, p), factor.strideK),
                      emitter.mul(q, factor.resultStride));
      Value from = emitter.offsetPointer(at.factor, offset, factor.element);
      Value to = emitter.offsetPointer(
          panel, emitter.add(emitter.mul(p, lanes), q * count * lanes));
      emitter.storeVector(
          emitter.loadVector(type, from, tile.mask, factor.element), to,
          nullptr);
    }
  });
}

/// Takes all rows through the q of `tile`, a packed block of the factor after
/// the other, between which sums lie in memory.
void StepEmitter::emitPackedSegment(const LoopAxis &rows, SegmentTile tile,
                                    int64_t rowsOfBlock, const Bases &bases) {
  int64_t lanes = getMaxLanes(step);
  VectorType type = emitter.getVectorType(lanes);
  tile.isPacked = true;
  tile.factorStrideK = lanes;
  tile.factorElement = nullptr;
  auto forRows = [&](Int firstK, function_ref<void(const Bases &, Int)> body) {
    emitBlocks(rows.size, rowsOfBlock, [&](Int row, int64_t count) {
      Bases at = advance(bases, rows, row);
      at.source = emitter.offsetPointer(
          bases.source, emitter.add(emitter.mul(row, tile.rowStride),
                                    emitter.mul(firstK, tile.strideK)));
      at.factor = tile.weights;
      tile.rows = count;
      body(at, row);
    });
  };
  auto pack = [&](Int first, int64_t count) {
    emitSegmentPacking(bases, tile, first, count, tile.weights);
    tile.factorResultStride = count * lanes;
  };
  int64_t sizeK = tile.sizeK, blockK = step.choices->packedK;
  if (blockK >= sizeK) {
    pack(0, sizeK);
    return forRows(0, [&](const Bases &at, Int) {
      emitSegmentTile(at, tile, /*memory=*/nullptr);
    });
  }
  auto getSum = [&](Int row, int64_t index) {
    return emitter.offsetPointer(
        tile.sums,
        emitter.add(emitter.mul(row, tile.sizeN * lanes), index * lanes));
  };
  auto load = [&](Int row) {
    SmallVector<Value> sums;
    for (int64_t index = 0; index < tile.countSums(); ++index)
      sums.push_back(emitter.loadVector(type, getSum(row, index), nullptr));
    return sums;
  };
  auto store = [&](Int row, ArrayRef<Value> sums) {
    for (auto [index, sum] : llvm::enumerate(sums))
      emitter.storeVector(sum, getSum(row, index), nullptr);
  };
  forRows(0, [&](const Bases &, Int row) {
    store(row, SmallVector<Value>(tile.countSums(), emitter.zero(type)));
  });
  emitBlocks(sizeK, blockK, [&](Int first, int64_t count) {
    pack(first, count);
    tile.sizeK = count;
    forRows(first, [&](const Bases &at, Int row) {
      store(row, emitSegmentSums(at, tile, load(row)));
    });
  });
  forRows(0, [&](const Bases &at, Int row) {
    emitSegmentResults(at, tile, load(row));
  });
}

/// The words of a unit of X at two p, in the order of those of the factor.
std::pair<Value, Value> StepEmitter::emitSegmentWords(const SegmentShape &shape,
                                                      Value first,
                                                      Value second) {
  int64_t lanes = getMaxLanes(step);
  Type stored = step.source.element;
  if (stored && stored.isBF16())
    return emitUnpacked(emitter,
                        emitWordLoad(emitter, lanes, first, shape.unit),
                        emitWordLoad(emitter, lanes, second, shape.unit));
  VectorType type = emitter.getVectorType(lanes);
  auto load = [&](int64_t lane) {
    auto at = [&](Value base) {
      return emitter.loadVector(type, emitter.offsetPointer(base, lane, stored),
                                nullptr, stored);
    };
    return emitWords(emitter, at(first), at(second));
  };
  return emitHalvesApart(emitter, load(0), load(lanes));
}

/// Copies what of `rows` rows of X belongs to a segment of `units`, the last
/// one of which is masked, to [row, unit, p]; in pairs, even and odd elements
/// apart. What a register tile loads for one p after the other is contiguous.
void StepEmitter::emitSegmentCopy(const LoopAxis *rows,
                                  const SegmentShape &shape, int64_t units,
                                  Value mask, Value source, Value panel) {
  int64_t lanes = getMaxLanes(step);
  VectorType type = emitter.getVectorType(lanes);
  Type stored = step.source.element;
  int64_t bytes = stored ? getElementBytes(stored) : step.elementBytes;
  Int total = rows ? rows->size : Int(1);
  emitter.forLoop(0, total, 1, [&](Int row) {
    Value from = source;
    if (rows)
      from =
          emitter.offsetPointer(from, emitter.mul(row, rows->source), stored);
    int64_t sizeK = getSegmentK(step, shape);
    Value to = emitter.offsetPointer(
        panel, emitter.mul(row, getSegmentRowElements(step, shape)));
    emitter.forLoop(0, sizeK, 1, [&](Int p) {
      Int stride = step.source.strides[step.axis];
      Value x = emitter.offsetPointer(
          from, emitter.mul(p, shape.words ? emitter.mul(2, stride) : stride),
          stored);
      Value copy = emitter.offsetPointer(to, emitter.mul(p, shape.unit));
      for (int64_t unit = 0; unit < units; ++unit) {
        Value base = emitter.offsetPointer(x, unit * shape.unit, stored);
        Value place = emitter.offsetPointer(copy, unit * sizeK * shape.unit);
        // Lines of the next block come while this one is multiplied, or of
        // the tile that lies beside this one, if tiles are prefetched.
        if ((shape.blockK || step.prefetch.slot) &&
            unit * shape.unit * bytes % kLineBytes == 0)
          emitter.prefetch(emitter.offsetPointer(
              base,
              emitter.mul(shape.blockK ? shape.blockK : step.sizeK, stride),
              stored));
        std::pair<Value, Value> values;
        if (shape.words) {
          values = emitSegmentWords(
              shape, base, emitter.offsetPointer(base, stride, stored));
        } else if (shape.pairs && stored && stored.isBF16()) {
          values = emitPairLoad(emitter, lanes, base, shape.unit);
        } else {
          values.first = emitter.loadVector(
              type, base, unit + 1 == units ? mask : nullptr, stored);
        }
        if (shape.pairs && !values.second) {
          Value next = emitter.offsetPointer(base, lanes, stored);
          values = emitDeinterleaved(
              emitter, values.first,
              emitter.loadVector(type, next, nullptr, stored));
        }
        emitter.storeVector(values.first, place, nullptr);
        if (shape.pairs)
          emitter.storeVector(values.second,
                              emitter.offsetPointer(place, lanes), nullptr);
      }
    });
  });
}

/// Takes the copy `panel` of `units`, the last one of which is masked, through
/// the q of `tile`, whose factor and results `bases` has.
void StepEmitter::emitSegmentUnits(const LoopAxis &laneAxis,
                                   const LoopAxis *rows,
                                   const SegmentShape &shape, int64_t units,
                                   Value mask, SegmentTile tile,
                                   const Bases &bases, Value panel) {
  tile.pairs = shape.pairs;
  tile.words = shape.words;
  tile.sizeK = getSegmentK(step, shape);
  tile.factorStrideK = factor.strideK;
  tile.factorResultStride = factor.resultStride;
  tile.factorElement = factor.element;
  tile.strideK = shape.unit;
  tile.unitStride = tile.sizeK * shape.unit;
  tile.rowStride = getSegmentRowElements(step, shape);
  if (rows) {
    tile.destination = rows->destination;
    tile.addend = rows->addend;
  }
  Value sums = tile.sums;
  auto emitVectors = [&](const Bases &results, Int vector, int64_t vectors) {
    Int element = emitter.mul(vector, shape.unit);
    Bases part = advance(results, laneAxis, element);
    Value copy =
        emitter.offsetPointer(panel, emitter.mul(vector, tile.unitStride));
    tile.vectors = vectors;
    if (tile.weights) {
      part.source = copy;
      return emitPackedSegment(*rows, tile, shape.rows, part);
    }
    Int total = rows ? rows->size : Int(1);
    emitBlocks(total, shape.rows, [&](Int row, int64_t count) {
      Bases at = rows ? advance(part, *rows, row) : part;
      at.source = emitter.offsetPointer(copy, emitter.mul(row, tile.rowStride));
      tile.rows = count;
      Value memory;
      if (tile.sums)
        memory = emitter.offsetPointer(
            tile.sums, emitter.add(emitter.mul(vector, tile.unitSums),
                                   emitter.mul(row, shape.unit)));
      emitSegmentTile(at, tile, memory);
    });
  };
  emitBlocks(mask ? units - 1 : units, shape.vectors,
             [&](Int unit, int64_t count) { emitVectors(bases, unit, count); });
  if (!mask)
    return;
  tile.mask = mask;
  // Without AVX-512 it takes a register, which blocks of half the q leave.
  int64_t sizeN = tile.sizeN;
  bool isFull = shape.rows * (sizeN + 1) + 2 > kFewRegisters &&
                step.vectorBits < 512 && !tile.weights;
  emitBlocks(sizeN, isFull ? llvm::divideCeil(sizeN, 2) : sizeN,
             [&](Int q, int64_t count) {
               tile.sizeN = count;
               if (sums)
                 tile.sums = emitter.offsetPointer(
                     sums, emitter.mul(q, tile.sumStride));
               emitVectors(advanceSegment(bases, q), units - 1, 1);
             });
}

/// `bases` at q `q` of the factor and of results.
StepEmitter::Bases StepEmitter::advanceSegment(const Bases &bases, Int q) {
  Bases at = advanceResults(bases, q);
  at.factor = emitter.offsetPointer(
      at.factor, emitter.mul(q, factor.resultStride), factor.element);
  return at;
}

/// Rows that a copy of X has.
int64_t StepEmitter::countSegmentRows(const LoopAxis *rows) const {
  if (!rows)
    return 1;
  return rows->size.isConstant() ? rows->size.getConstant() : step.usualRows;
}

/// The same in blocks of p, for each of which X is copied, and which all q of a
/// block and all of t go through while their part of the factor, read as it
/// lies in memory, is in the first-level cache.
void StepEmitter::emitSegmentBlocks(const LoopAxis &laneAxis,
                                    const LoopAxis *rows, const Bases &bases) {
  int64_t lanes = getMaxLanes(step), size = laneAxis.size.getConstant();
  int64_t most = countSegmentRows(rows);
  const CPUStepChoices &choices = *step.choices;
  SegmentShape shape = *getSegmentShape(step, factor.element, size, most);
  shape.segment = choices.segment;
  shape.blockK = std::min(choices.blockK, step.sizeK);
  int64_t blockQ = std::min(choices.blockQ, step.sizeN);
  Value panel = allocateOnStack(most * getSegmentRowElements(step, shape));
  SegmentTile tile;
  tile.unitSums = most * lanes;
  tile.sumStride = shape.segment * tile.unitSums;
  Value sums = allocateOnStack(blockQ * tile.sumStride);
  Value mask = size % lanes ? emitter.firstLanes(lanes, size % lanes) : Value();
  Value zero = emitter.zero(emitter.getVectorType(lanes));

  auto emitBlock = [&](Int first, int64_t sizeQ, int64_t units, Value last,
                       const Bases &whole) {
    // What q of the block take, with their part of the factor from p on.
    auto forResults = [&](const SegmentShape &part, Int p) {
      emitBlocks(sizeQ, shape.sizeN, [&](Int q, int64_t count) {
        Bases at = advanceSegment(whole, emitter.add(first, q));
        at.factor = emitter.offsetPointer(
            at.factor, emitter.mul(p, factor.strideK), factor.element);
        tile.sizeN = count;
        tile.sums = emitter.offsetPointer(sums, emitter.mul(q, tile.sumStride));
        emitSegmentUnits(laneAxis, rows, part, units, last, tile, at, panel);
      });
    };
    emitter.forLoop(0, sizeQ * tile.sumStride, lanes, [&](Int element) {
      emitter.storeVector(zero, emitter.offsetPointer(sums, element), nullptr);
    });
    tile.isComplete = false;
    emitBlocks(step.sizeK, shape.blockK, [&](Int p, int64_t count) {
      SegmentShape part = shape;
      part.blockK = count;
      Value source = emitter.offsetPointer(
          whole.source, emitter.mul(p, step.source.strides[step.axis]),
          step.source.element);
      emitSegmentCopy(rows, part, units, last, source, panel);
      forResults(part, p);
    });
    tile.isComplete = true;
    forResults(shape, 0);
  };
  auto emitSegment = [&](Int unit, int64_t units, Value last) {
    Bases whole = advance(bases, laneAxis, emitter.mul(unit, lanes));
    emitBlocks(step.sizeN, blockQ, [&](Int first, int64_t sizeQ) {
      emitBlock(first, sizeQ, units, last, whole);
    });
  };
  int64_t units = shape.getUnits(size);
  if (!mask)
    return emitBlocks(units, shape.segment, [&](Int unit, int64_t count) {
      emitSegment(unit, count, nullptr);
    });
  int64_t last = (units - 1) / shape.segment * shape.segment;
  emitter.forLoop(0, last, shape.segment,
                  [&](Int unit) { emitSegment(unit, shape.segment, nullptr); });
  emitSegment(last, units - last, mask);
}

void StepEmitter::emitSegments(const LoopAxis &laneAxis, const LoopAxis *rows,
                               const Bases &bases) {
  if (step.choices->blockK)
    return emitSegmentBlocks(laneAxis, rows, bases);
  int64_t lanes = getMaxLanes(step), size = laneAxis.size.getConstant();
  int64_t most = countSegmentRows(rows);
  SegmentShape shape = *getSegmentShape(step, factor.element, size, most);
  shape.segment = step.choices->segment;
  int64_t units = shape.getUnits(size), remainder = shape.getRemainder(size);
  auto allocate = [&](const SegmentShape &part) {
    return allocateOnStack(most * getSegmentRowElements(step, part));
  };
  Value panel = allocate(shape);
  // What fills no pair goes with the last segment, as single vectors.
  SegmentShape end;
  end.unit = lanes;
  end.segment = llvm::divideCeil(remainder, lanes);
  end.rows = shape.rows;
  Value endPanel = remainder ? allocate(end) : Value();
  Value mask = size % lanes ? emitter.firstLanes(lanes, size % lanes) : Value();
  SegmentTile tile;
  if (int64_t packedK = std::min(step.choices->packedK, step.sizeK)) {
    tile.weights = allocateOnStack(shape.sizeN * packedK * lanes);
    if (packedK < step.sizeK)
      tile.sums = allocateOnStack(most * shape.sizeN * lanes);
  }
  auto emitSegment = [&](Int unit, int64_t count, bool isLast) {
    Bases whole = advance(bases, laneAxis, emitter.mul(unit, shape.unit));
    Bases ending = advance(bases, laneAxis, units * shape.unit);
    Value own = isLast && !shape.pairs ? mask : Value();
    emitSegmentCopy(rows, shape, count, own, whole.source, panel);
    bool hasEnd = isLast && remainder;
    if (hasEnd)
      emitSegmentCopy(rows, end, end.segment, mask, ending.source, endPanel);
    emitBlocks(step.sizeN, shape.sizeN, [&](Int q, int64_t sizeN) {
      tile.sizeN = sizeN;
      emitSegmentUnits(laneAxis, rows, shape, count, own, tile,
                       advanceSegment(whole, q), panel);
      if (hasEnd)
        emitSegmentUnits(laneAxis, rows, end, end.segment, mask, tile,
                         advanceSegment(ending, q), endPanel);
    });
  };
  if (!mask && !remainder)
    return emitBlocks(units, shape.segment, [&](Int unit, int64_t count) {
      emitSegment(unit, count, /*isLast=*/false);
    });
  int64_t last = (units - 1) / shape.segment * shape.segment;
  emitter.forLoop(0, last, shape.segment, [&](Int unit) {
    emitSegment(unit, shape.segment, /*isLast=*/false);
  });
  emitSegment(last, units - last, /*isLast=*/true);
}
