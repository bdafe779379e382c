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

/// Adds the products of position `p` to the sums: [row, q, vector, part].
void StepEmitter::emitSegmentStep(const Bases &at, const SegmentTile &tile,
                                  Int p, MutableArrayRef<Value> sums) {
  int64_t lanes = getMaxLanes(step), parts = tile.getParts();
  int64_t unit = parts * lanes;
  VectorType type = emitter.getVectorType(lanes);
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    SmallVector<std::pair<Value, Value>> x;
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value base = emitter.offsetPointer(
          at.source, emitter.add(emitter.add(emitter.mul(p, tile.strideK),
                                             emitter.mul(row, tile.rowStride)),
                                 vector * unit));
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
            emitter.add(emitter.add(emitter.mul(position, factor.strideK),
                                    emitter.mul(q, factor.resultStride)),
                        vector * unit);
        return emitter.offsetPointer(at.factor, offset, factor.element);
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
        first =
            emitter.loadVector(type, getFactor(p), tile.mask, factor.element);
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

void StepEmitter::emitSegmentTile(const Bases &at, const SegmentTile &tile) {
  int64_t lanes = getMaxLanes(step), parts = tile.getParts();
  // Enough sums to hide the latency of multiply-adds, and a loop of so many of
  // these.
  constexpr int64_t kSums = 4, kUnrolled = 32;
  int64_t count = tile.rows * tile.sizeN * tile.vectors * parts;
  int64_t turns =
      std::min<int64_t>(llvm::divideCeil(kSums * parts, count), tile.sizeK);
  int64_t unrolled = std::max<int64_t>(kUnrolled / (turns * count), 1) * turns;
  SmallVector<Value> sums(turns * count,
                          emitter.zero(emitter.getVectorType(lanes)));
  auto emitStepsOfK = [&](Int first, int64_t number,
                          MutableArrayRef<Value> values) {
    for (int64_t index = 0; index < number; ++index)
      emitSegmentStep(at, tile, emitter.add(first, index),
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
  for (int64_t index = 0; index < count; index += parts) {
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
/// one of which is masked, to [row, p, unit]; in pairs, even and odd elements
/// apart.
void StepEmitter::emitSegmentCopy(const LoopAxis *rows,
                                  const SegmentShape &shape, int64_t units,
                                  Value mask, Value source, Value panel) {
  int64_t lanes = getMaxLanes(step);
  VectorType type = emitter.getVectorType(lanes);
  Type stored = step.source.element;
  Int total = rows ? rows->size : Int(1);
  emitter.forLoop(0, total, 1, [&](Int row) {
    Value from = source;
    if (rows)
      from =
          emitter.offsetPointer(from, emitter.mul(row, rows->source), stored);
    Value to = emitter.offsetPointer(
        panel, emitter.mul(row, getSegmentK(step, shape) * shape.segment *
                                    shape.unit));
    emitter.forLoop(0, getSegmentK(step, shape), 1, [&](Int p) {
      Int stride = step.source.strides[step.axis];
      Value x = emitter.offsetPointer(
          from, emitter.mul(p, shape.words ? emitter.mul(2, stride) : stride),
          stored);
      Value copy =
          emitter.offsetPointer(to, emitter.mul(p, shape.segment * shape.unit));
      for (int64_t unit = 0; unit < units; ++unit) {
        Value base = emitter.offsetPointer(x, unit * shape.unit, stored);
        Value place = emitter.offsetPointer(copy, unit * shape.unit);
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
/// `sizeN` q, whose factor and results `bases` has.
void StepEmitter::emitSegmentUnits(const LoopAxis &laneAxis,
                                   const LoopAxis *rows,
                                   const SegmentShape &shape, int64_t units,
                                   Value mask, int64_t sizeN,
                                   const Bases &bases, Value panel) {
  SegmentTile tile;
  tile.sizeN = sizeN;
  tile.pairs = shape.pairs;
  tile.words = shape.words;
  tile.sizeK = getSegmentK(step, shape);
  tile.strideK = shape.segment * shape.unit;
  tile.rowStride = tile.sizeK * shape.segment * shape.unit;
  if (rows) {
    tile.destination = rows->destination;
    tile.addend = rows->addend;
  }
  auto emitVectors = [&](Int vector, int64_t vectors) {
    Int element = emitter.mul(vector, shape.unit);
    Bases part = advance(bases, laneAxis, element);
    Value copy = emitter.offsetPointer(panel, element);
    tile.vectors = vectors;
    Int total = rows ? rows->size : Int(1);
    emitBlocks(total, shape.rows, [&](Int row, int64_t count) {
      Bases at = rows ? advance(part, *rows, row) : part;
      at.source = emitter.offsetPointer(copy, emitter.mul(row, tile.rowStride));
      tile.rows = count;
      emitSegmentTile(at, tile);
    });
  };
  emitBlocks(mask ? units - 1 : units, shape.vectors, emitVectors);
  if (!mask)
    return;
  tile.mask = mask;
  emitVectors(units - 1, 1);
}

void StepEmitter::emitSegments(const LoopAxis &laneAxis, const LoopAxis *rows,
                               const Bases &bases) {
  int64_t lanes = getMaxLanes(step), size = laneAxis.size.getConstant();
  int64_t most = 1;
  if (rows)
    most = rows->size.isConstant() ? rows->size.getConstant() : step.usualRows;
  SegmentShape shape = *getSegmentShape(step, factor.element, size, most);
  shape.segment = step.choices->segment;
  int64_t units = size / shape.unit, remainder = size % shape.unit;
  auto allocate = [&](const SegmentShape &part) {
    return allocateOnStack(most * getSegmentK(step, part) * part.segment *
                           part.unit);
  };
  Value panel = allocate(shape);
  // What fills no unit goes with the last segment, as single vectors.
  SegmentShape end;
  end.unit = lanes;
  end.segment = llvm::divideCeil(remainder, lanes);
  end.rows = shape.rows;
  Value endPanel = remainder ? allocate(end) : Value();
  Value mask =
      remainder
          ? emitter.firstLanes(lanes, remainder - (end.segment - 1) * lanes)
          : Value();
  auto emitSegment = [&](Int unit, int64_t count, bool hasEnd) {
    Bases whole = advance(bases, laneAxis, emitter.mul(unit, shape.unit));
    Bases ending = advance(bases, laneAxis, units * shape.unit);
    emitSegmentCopy(rows, shape, count, nullptr, whole.source, panel);
    if (hasEnd)
      emitSegmentCopy(rows, end, end.segment, mask, ending.source, endPanel);
    emitBlocks(step.sizeN, shape.sizeN, [&](Int q, int64_t sizeN) {
      auto atResults = [&](const Bases &part) {
        Bases own = advanceResults(part, q);
        own.factor = emitter.offsetPointer(
            own.factor, emitter.mul(q, factor.resultStride), factor.element);
        return own;
      };
      emitSegmentUnits(laneAxis, rows, shape, count, nullptr, sizeN,
                       atResults(whole), panel);
      if (hasEnd)
        emitSegmentUnits(laneAxis, rows, end, end.segment, mask, sizeN,
                         atResults(ending), endPanel);
    });
  };
  if (!remainder)
    return emitBlocks(units, shape.segment, [&](Int unit, int64_t count) {
      emitSegment(unit, count, /*hasEnd=*/false);
    });
  int64_t last = (units - 1) / shape.segment * shape.segment;
  emitter.forLoop(0, last, shape.segment, [&](Int unit) {
    emitSegment(unit, shape.segment, /*hasEnd=*/false);
  });
  emitSegment(last, units - last, /*hasEnd=*/true);
}
