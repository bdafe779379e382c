//===- StepK.cpp - Lanes over what is contracted ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The k mapping, for rows so few that packing a factor would cost more than
// the product, or results so few that they leave lanes over q empty: lanes run
// over the rows of the factor as they lie, (p, t), and are added up at the end.
// Three kinds of rows:
//
//   - t is a power of two: every vector has the same t in the same lanes;
//   - the same and shorter than a vector: a vector takes rows of several q;
//   - t is odd: as many vectors as t has positions are a period, and are taken
//     apart by t before they are added up.
//
// A factor of bf16 is read as pairs of elements, see StepPairs.cpp.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "StepEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::kron;

/// Every one of `count` segments of `segment` lanes in `first` and `second`,
/// with its halves added up; those of `second` (if any) behind.
static Value emitHalvedSegments(Emitter &emitter, Value first, Value second,
                                int64_t segment) {
  OpBuilder &builder = emitter.builder;
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  int64_t total = second ? 2 * lanes : lanes;
  SmallVector<int64_t> lower, upper;
  for (int64_t begin = 0; begin < total; begin += segment) {
    for (int64_t lane = 0; lane < segment / 2; ++lane) {
      lower.push_back(begin + lane);
      upper.push_back(begin + segment / 2 + lane);
    }
  }
  Value other = second ? second : first;
  Value left =
      vector::ShuffleOp::create(builder, emitter.loc, first, other, lower);
  Value right =
      vector::ShuffleOp::create(builder, emitter.loc, first, other, upper);
  return emitSum(emitter, left, right);
}

/// One vector with the sums over p of all `accumulators` (a power of two, at
/// most one vector of results), in segments of `segment` lanes for each q:
/// `group` lanes of each, in their order.
static Value emitKSum(Emitter &emitter, SmallVector<Value> accumulators,
                      int64_t segment, int64_t group) {
  for (; accumulators.size() > 1; segment /= 2) {
    SmallVector<Value> halved;
    for (size_t index = 0; index < accumulators.size(); index += 2)
      halved.push_back(emitHalvedSegments(emitter, accumulators[index],
                                          accumulators[index + 1], segment));
    accumulators = std::move(halved);
  }
  Value sum = accumulators.front();
  for (; segment > group; segment /= 2)
    sum = emitHalvedSegments(emitter, sum, nullptr, segment);
  return sum;
}

/// Takes vectors that follow each other apart, whose lanes belong to the
/// positions of t in turn: a vector for each of these, with its lanes in any
/// order.
static SmallVector<Value> takeApart(Emitter &emitter, ArrayRef<Value> vectors) {
  int64_t group = vectors.size();
  int64_t lanes = cast<VectorType>(vectors.front().getType()).getNumElements();
  SmallVector<Value> parts;
  for (int64_t position = 0; position < group; ++position) {
    Value part = vectors.front();
    int64_t count = 0;
    for (auto [number, vector] : llvm::enumerate(vectors)) {
      // What there is stays where it is, and what is found comes behind it.
      auto sources = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
      for (int64_t lane = 0; lane < lanes; ++lane)
        if ((static_cast<int64_t>(number) * lanes + lane) % group == position)
          sources[count++] = lanes + lane;
      part = vector::ShuffleOp::create(emitter.builder, emitter.loc, part,
                                       vector, sources);
    }
    parts.push_back(part);
  }
  return parts;
}

int64_t StepEmitter::KTile::getLanes(int64_t maxLanes) const {
  return pairs ? maxLanes : std::min(maxLanes, extent * shared);
}

/// What lanes of the k mapping hold for `sizeN` q of a row that has `group`
/// positions inside.
StepEmitter::KTile StepEmitter::getKTile(int64_t group, int64_t sizeN,
                                         bool pairs) const {
  KTile tile;
  tile.group = group;
  tile.sizeN = sizeN;
  tile.extent = step.sizeK * group;
  int64_t lanes = getMaxLanes(step);
  if (pairs) {
    tile.shared = getPairResults(group);
    if (sizeN % tile.shared || tile.extent * tile.shared < lanes)
      return getKTile(group, sizeN, /*pairs=*/false);
  }
  tile.pairs = pairs;
  tile.words = pairs && multipliesWords(group);
  if (!llvm::isPowerOf2_64(group))
    tile.phases = group;
  else if (!pairs)
    tile.shared = std::clamp<int64_t>(lanes / tile.extent, 1, sizeN);
  return tile;
}

/// Adds the products of the elements from `first` + `index` on, of which `left`
/// are there, to the sums: [row, q or several, phase].
void StepEmitter::emitKStep(const Bases &at, const KTile &tile, Int first,
                            int64_t index, int64_t left,
                            MutableArrayRef<Value> sums) {
  if (tile.pairs)
    return emitPairStep(at, tile, first, index, left, sums);
  int64_t lanes = tile.getLanes(getMaxLanes(step));
  VectorType type = emitter.getVectorType(lanes);
  int64_t units = tile.sizeN / tile.shared;
  for (int64_t phase = 0; phase < tile.phases && left > 0;
       ++phase, left -= lanes) {
    Int start = emitter.add(first, index + phase * lanes);
    Value mask =
        left * tile.shared < lanes ? emitter.firstLanes(lanes, left) : Value();
    SmallVector<Value> x;
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value base = emitter.offsetPointer(
          at.source, emitter.add(start, emitter.mul(row, tile.source)));
      if (tile.shared == 1) {
        x.push_back(emitter.loadVector(type, base, mask));
        continue;
      }
      // One row of the input for all rows of the factor in a vector.
      Value once =
          emitter.loadVector(emitter.getVectorType(tile.extent), base, nullptr);
      SmallVector<int64_t> repeated;
      for (int64_t lane = 0; lane < lanes; ++lane)
        repeated.push_back(lane % tile.extent);
      x.push_back(vector::ShuffleOp::create(emitter.builder, emitter.loc, once,
                                            once, repeated));
    }
    for (int64_t unit = 0; unit < units; ++unit) {
      Int offset = emitter.add(
          start, emitter.mul(unit * tile.shared, factor.resultStride));
      Value base = emitter.offsetPointer(at.factor, offset, factor.element);
      emitFactorPrefetch(base, index + phase * lanes, lanes);
      Value f = emitter.loadVector(type, base, mask, factor.element);
      for (int64_t row = 0; row < tile.rows; ++row) {
        Value &sum = sums[(row * units + unit) * tile.phases + phase];
        sum = emitMultiplyAdd(emitter, f, x[row], sum);
      }
    }
  }
}

/// Adds up the lanes of one row's `sums` and stores the results.
void StepEmitter::emitKResults(const Bases &at, const KTile &tile, int64_t row,
                               ArrayRef<Value> sums) {
  int64_t maxLanes = getMaxLanes(step), lanes = tile.getLanes(maxLanes);
  SmallVector<Value> joined;
  if (tile.getParts() == 2)
    sums = joined = emitJoinedPairs(tile, sums);
  auto store = [&](Value sum, int64_t q, Value mask) {
    int64_t element = q * tile.group;
    storeResult(at, sum,
                emitter.add(element, emitter.mul(row, tile.destination)),
                emitter.add(element, emitter.mul(row, tile.addend)), mask);
  };
  if (tile.phases == 1) {
    int64_t perVector = std::min(maxLanes / tile.group, tile.sizeN);
    int64_t segment = lanes / tile.shared;
    for (int64_t q = 0; q < tile.sizeN; q += perVector) {
      ArrayRef<Value> own =
          sums.slice(q / tile.shared, perVector / tile.shared);
      store(emitKSum(emitter, SmallVector<Value>(own), segment, tile.group), q,
            nullptr);
    }
    return;
  }
  SmallVector<Value> parts;
  for (size_t index = 0; index < sums.size(); index += tile.phases)
    llvm::append_range(parts,
                       takeApart(emitter, sums.slice(index, tile.phases)));
  int64_t count = parts.size(), width = llvm::PowerOf2Ceil(count);
  parts.append(width - count, emitter.zero(emitter.getVectorType(lanes)));
  store(emitKSum(emitter, parts, lanes, /*group=*/1), 0,
        emitter.firstLanes(width, count));
}

/// The sums of a tile: [row, q or several, phase, part]. Steps take turns in
/// `turns` sets of them, which are added up.
SmallVector<Value> StepEmitter::emitKSums(const Bases &at, const KTile &tile,
                                          int64_t turns) {
  int64_t lanes = tile.getLanes(getMaxLanes(step));
  int64_t stepK = tile.getStepK(getMaxLanes(step));
  int64_t count =
      tile.rows * (tile.sizeN / tile.shared) * tile.phases * tile.getParts();
  SmallVector<Value> sums(turns * count,
                          emitter.zero(emitter.getVectorType(lanes)));
  auto emitStepsOfK = [&](Int first, int64_t left,
                          MutableArrayRef<Value> values) {
    for (int64_t turn = 0; left > 0; ++turn, left -= stepK)
      emitKStep(at, tile, first, turn * stepK, std::min(left, stepK),
                values.slice(turn % turns * count, count));
  };
  int64_t width = turns * getTurnsOfLine(turns * stepK) * stepK;
  int64_t full = tile.extent / width * width;
  sums =
      emitter.forLoop(0, full, width, sums, [&](Int first, ValueRange carried) {
        SmallVector<Value> values(carried);
        emitStepsOfK(first, width, values);
        return values;
      });
  if (full < tile.extent)
    emitStepsOfK(full, tile.extent - full, sums);
  for (int64_t turn = 1; turn < turns; ++turn)
    for (int64_t index = 0; index < count; ++index)
      sums[index] = emitSum(emitter, sums[index], sums[turn * count + index]);
  sums.resize(count);
  return sums;
}

void StepEmitter::emitKTile(const Bases &at, const KTile &tile) {
  // A single row takes as long as reading the factor: one q after the other,
  // since processors see few of many segments coming, with enough sums to hide
  // the latency of multiply-adds; but short rows, after which these are added
  // up.
  constexpr int64_t kSums = 4, kTimes = 2;
  int64_t turns = llvm::divideCeil(kSums, tile.phases);
  int64_t stepK = tile.getStepK(getMaxLanes(step));
  // Words take so few instructions that shorter rows are read so, too.
  constexpr int64_t kFewSums = 2;
  if (tile.words && tile.extent < kTimes * turns * stepK)
    turns = kFewSums;
  int64_t perRow = tile.sizeN / tile.shared * tile.phases * tile.getParts();
  SmallVector<Value> sums;
  if (tile.rows == 1 && tile.extent >= kTimes * turns * stepK) {
    KTile single = tile;
    single.sizeN = tile.shared;
    for (int64_t q = 0; q < tile.sizeN; q += tile.shared) {
      Bases own = at;
      own.factor = emitter.offsetPointer(
          at.factor, emitter.mul(q, factor.resultStride), factor.element);
      llvm::append_range(sums, emitKSums(own, single, turns));
    }
  } else {
    sums = emitKSums(at, tile, 1);
  }
  for (int64_t row = 0; row < tile.rows; ++row)
    emitKResults(at, tile, row, ArrayRef(sums).slice(row * perRow, perRow));
}

/// The q of a tile of `rows` rows: about 16 accumulators (8 where there are 16
/// registers), and half as many again where they are taken apart, since every q
/// takes several.
int64_t StepEmitter::getKResults(int64_t group, int64_t rows,
                                 bool pairs) const {
  int64_t lanes = getMaxLanes(step);
  int64_t accumulators = step.vectorBits == 512 ? 16 : 8;
  if (!llvm::isPowerOf2_64(group))
    return std::clamp<int64_t>(accumulators * 3 / 2 /
                                   (rows * group * (pairs ? 2 : 1)),
                               1, lanes / group);
  int64_t width = pairs && group == 1 ? 2 * lanes : lanes;
  int64_t shared = std::max<int64_t>(width / (step.sizeK * group), 1);
  int64_t parts = pairs && group > 1 && !multipliesWords(group) ? 2 : 1;
  return std::max<int64_t>(
      accumulators * shared / parts / llvm::PowerOf2Ceil(rows), 1);
}

void StepEmitter::emitK(const LoopAxis *rowAxis, const Bases &bases) {
  constexpr int64_t kMostRows = 4;
  int64_t group = getGroupSize(nest);
  Int total = rowAxis ? rowAxis->size : Int(1);
  int64_t block = kMostRows;
  if (total.isConstant())
    block = llvm::divideCeil(total.getConstant(),
                             llvm::divideCeil(total.getConstant(), kMostRows));
  bool pairs = step.choices->readsPairs;
  PairPanel panel;
  if (pairs)
    panel = emitPairPanel(rowAxis, total.getConstant(), group, bases.source);
  int64_t sizeN = getKResults(group, block, pairs);
  Int first = 0;
  // What is left of the results goes in blocks of half as many, and so on.
  for (int64_t left = step.sizeN; left > 0; sizeN /= 2) {
    int64_t count = left / sizeN;
    left -= count * sizeN;
    KTile tile = getKTile(group, sizeN, pairs);
    if (rowAxis) {
      tile.source = rowAxis->source;
      tile.destination = rowAxis->destination;
      tile.addend = rowAxis->addend;
    }
    emitter.forLoop(0, count, 1, [&](Int position) {
      Int q = emitter.add(first, emitter.mul(position, sizeN));
      emitBlocks(total, block, [&](Int row, int64_t rows) {
        Bases at = rowAxis ? advance(bases, *rowAxis, row) : bases;
        Int element = emitter.mul(q, group);
        at.factor = emitter.offsetPointer(
            at.factor, emitter.mul(q, factor.resultStride), factor.element);
        at.destination = emitter.offsetPointer(at.destination, element,
                                               step.destination.element);
        if (at.addend)
          at.addend =
              emitter.offsetPointer(at.addend, element, step.addend.element);
        tile.rows = rows;
        if (tile.pairs) {
          tile.source = panel.rowElements;
          at.source = emitter.offsetPointer(
              panel.base, emitter.mul(row, panel.rowElements));
        }
        emitKTile(at, tile);
      });
    });
    first = emitter.add(first, count * sizeN);
  }
}
