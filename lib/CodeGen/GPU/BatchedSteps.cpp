//===- BatchedSteps.cpp - Applies factors to many small arrays ------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BatchedKernel.h"

using namespace mlir;
using namespace mlir::kron;

/// Groups of fibres per thread that are written out one by one.
static constexpr int64_t kMostUnrolledRounds = 3;
/// Fibres of a plane that share the loads of a factor.
static constexpr int64_t kFibresOfPlane = 4;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Int BatchedKernel::getPosition(const ItemLayout &layout, Int index) {
  if (layout.pitch == layout.planeSize)
    return index;
  Int plane = k.floorDiv(index, layout.planeSize);
  return k.add(k.mul(plane, layout.pitch), k.rem(index, layout.planeSize));
}

/// `count` elements, which lie at a multiple of `alignment` elements, by the
/// widest loads.
SmallVector<Value> BatchedKernel::loadSegment(Value pointer, int64_t count,
                                              int64_t alignment) {
  SmallVector<Value> values;
  for (int64_t begin = 0; begin < count;) {
    int64_t width = std::min(plan.chunk, alignment);
    while (width > count - begin || begin % width != 0)
      width /= 2;
    Type type = width == 1 ? k.element : Type(k.getVectorType(width));
    Value loaded = k.load(type, k.offsetBytes(pointer, begin * bytes));
    llvm::append_range(values, k.unpack(loaded));
    begin += width;
  }
  return values;
}

void BatchedKernel::storeSegment(Value pointer, ArrayRef<Value> values,
                                 int64_t alignment) {
  int64_t count = values.size();
  for (int64_t begin = 0; begin < count;) {
    int64_t width = std::min(plan.chunk, alignment);
    while (width > count - begin || begin % width != 0)
      width /= 2;
    Value stored =
        width == 1 ? values[begin] : k.makeVector(values.slice(begin, width));
    k.store(stored, k.offsetBytes(pointer, begin * bytes));
    begin += width;
  }
}

/// Elements `first` to `first` + chunk of a row of a factor. Volatile, so that
/// LLVM does not load them once for all fibres and run out of registers. Rows
/// are padded: the whole chunk can be loaded.
SmallVector<Value> BatchedKernel::loadFactorChunk(unsigned product, int64_t row,
                                                  int64_t first) {
  int64_t position = row * plan.getFactorPitch(product) + first;
  Value pointer = k.shared(factorOffsets[product] + position * bytes);
  Value loaded = LLVM::LoadOp::create(k.builder, k.loc,
                                      k.getVectorType(plan.chunk), pointer,
                                      /*alignment=*/16, /*isVolatile=*/true);
  SmallVector<Value> values = k.unpack(loaded);
  values.truncate(std::min(plan.chunk, plan.factors[product].sizeN - first));
  return values;
}

SmallVector<Value> BatchedKernel::loadFactorRow(unsigned product, int64_t row) {
  SmallVector<Value> values;
  for (int64_t first = 0; first < plan.factors[product].sizeN;
       first += plan.chunk)
    llvm::append_range(values, loadFactorChunk(product, row, first));
  return values;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Adds position `p` of `fibres` times `row` of a factor to `sums`, per fibre.
void BatchedKernel::accumulate(ArrayRef<SmallVector<Value>> fibres, int64_t p,
                               ArrayRef<Value> row,
                               MutableArrayRef<SmallVector<Value>> sums) {
  for (auto [fibre, sum] : llvm::zip_equal(fibres, sums)) {
    sum.resize(row.size());
    for (auto [value, total] : llvm::zip_equal(row, sum))
      total =
          total
              ? k.fma(fibre[p], value, total)
              : Value(arith::MulFOp::create(k.builder, k.loc, fibre[p], value));
  }
}

SmallVector<SmallVector<Value>>
BatchedKernel::apply(ArrayRef<SmallVector<Value>> fibres, unsigned product) {
  const ProblemFactor &factor = plan.factors[product];
  SmallVector<SmallVector<Value>> results;
  for (size_t begin = 0; begin < fibres.size(); begin += kFibresOfPlane) {
    auto group = fibres.slice(
        begin, std::min<size_t>(kFibresOfPlane, fibres.size() - begin));
    SmallVector<SmallVector<Value>> sums(group.size());
    for (int64_t p = 0; p < factor.sizeK; ++p)
      accumulate(group, p, loadFactorRow(product, p), sums);
    llvm::append_range(results, sums);
  }
  return results;
}

static SmallVector<SmallVector<Value>>
transpose(ArrayRef<SmallVector<Value>> rows) {
  SmallVector<SmallVector<Value>> columns(rows.front().size());
  for (ArrayRef<Value> row : rows)
    for (auto [value, column] : llvm::zip_equal(row, columns))
      column.push_back(value);
  return columns;
}

/// Applies two factors to one plane, which the thread holds.
void BatchedKernel::emitPlane(const BatchedStep &step, Int plane, Int source,
                              Int destination) {
  const ItemLayout &from = step.source, &to = step.destination;
  int64_t width = getCommonWidth(plan.chunk, {from.planeSize, from.pitch});
  SmallVector<Value> values = loadSegment(
      element(source, k.mul(plane, from.pitch)), from.planeSize, width);
  SmallVector<SmallVector<Value>> rows;
  int64_t columns = from.sizes.back();
  for (int64_t begin = 0; begin < from.planeSize; begin += columns)
    rows.emplace_back(ArrayRef(values).slice(begin, columns));

  int64_t last = plan.firstAxis + from.sizes.size() - 1;
  for (unsigned product : step.products) {
    bool isLast = plan.factors[product].axis == last;
    rows = isLast ? apply(rows, product)
                  : transpose(apply(transpose(rows), product));
  }
  values.clear();
  for (ArrayRef<Value> row : rows)
    values.append(row.begin(), row.end());
  width = getCommonWidth(plan.chunk, {to.planeSize, to.pitch});
  storeSegment(element(destination, k.mul(plane, to.pitch)), values, width);
}

/// Position in the tile of the first element of fibre `fibre` along `axis`.
static Int getFibrePosition(KernelBuilder &k, const ItemLayout &layout,
                            unsigned axis, Int fibre) {
  int64_t rank = layout.sizes.size(), size = layout.sizes[axis];
  int64_t inside = 1;
  for (int64_t inner = axis + 1; inner < rank; ++inner)
    inside *= layout.sizes[inner];
  Int outer = k.floorDiv(fibre, inside), inner = k.rem(fibre, inside);
  if (int64_t(axis) + 2 >= rank) {
    // `size * inside` divides the plane.
    int64_t perPlane = layout.planeSize / (size * inside);
    Int plane = k.floorDiv(outer, perPlane), row = k.rem(outer, perPlane);
    Int position = k.add(k.mul(plane, layout.pitch), inner);
    return k.add(position, k.mul(row, size * inside));
  }
  Int plane = k.floorDiv(inner, layout.planeSize);
  plane = k.add(k.mul(outer, size * (inside / layout.planeSize)), plane);
  return k.add(k.mul(plane, layout.pitch), k.rem(inner, layout.planeSize));
}

/// The fibres of `units`, each of which begins at one of `positions`.
SmallVector<SmallVector<Value>>
BatchedKernel::loadFibres(const BatchedStep &step, ArrayRef<Int> positions,
                          Int source) {
  unsigned product = step.products.front();
  FibreWalk walk = plan.getSourceWalk(step);
  int64_t perUnit = plan.getFibresPerUnit(step);
  SmallVector<SmallVector<Value>> fibres;
  for (Int position : positions) {
    Value input = element(source, position);
    if (walk.stride == 1) {
      fibres.push_back(
          loadSegment(input, plan.factors[product].sizeK, walk.width));
      continue;
    }
    SmallVector<SmallVector<Value>> rows;
    for (int64_t p = 0; p < plan.factors[product].sizeK; ++p)
      rows.push_back(loadSegment(k.offsetBytes(input, p * walk.stride * bytes),
                                 perUnit, perUnit));
    llvm::append_range(fibres, transpose(rows));
  }
  return fibres;
}

/// Applies one factor to the fibres of `units`, together, so that they share
/// the loads of the factor: a chunk of results at a time, which replace what is
/// in registers already.
void BatchedKernel::emitFibres(const BatchedStep &step, ArrayRef<Int> units,
                               Int source, Int destination) {
  unsigned product = step.products.front();
  const ProblemFactor &factor = plan.factors[product];
  unsigned axis = factor.axis - plan.firstAxis;
  int64_t perUnit = plan.getFibresPerUnit(step);
  SmallVector<Int> starts, targets;
  for (Int unit : units) {
    Int fibre = k.mul(unit, perUnit);
    starts.push_back(getFibrePosition(k, step.source, axis, fibre));
    targets.push_back(
        storing ? fibre : getFibrePosition(k, step.destination, axis, fibre));
  }
  SmallVector<SmallVector<Value>> fibres = loadFibres(step, starts, source);
  for (int64_t first = 0; first < factor.sizeN; first += plan.chunk) {
    SmallVector<SmallVector<Value>> sums(fibres.size());
    for (int64_t p = 0; p < factor.sizeK; ++p)
      accumulate(fibres, p, loadFactorChunk(product, p, first), sums);
    for (auto [number, target] : llvm::enumerate(targets)) {
      auto results = ArrayRef(sums).slice(number * perUnit, perUnit);
      if (storing)
        storeFibres(step, target, first, transpose(results));
      else
        replaceFibres(step, element(destination, target), first, results);
    }
  }
}

/// Leaves results `first` and following of a unit, [fibre][q], at `target`.
void BatchedKernel::replaceFibres(const BatchedStep &step, Value target,
                                  int64_t first,
                                  ArrayRef<SmallVector<Value>> results) {
  FibreWalk walk = plan.getDestinationWalk(step);
  target = k.offsetBytes(target, first * walk.stride * bytes);
  if (walk.stride == 1)
    return storeSegment(target, results.front(), walk.width);
  for (auto [q, row] : llvm::enumerate(transpose(results)))
    storeSegment(k.offsetBytes(target, q * walk.stride * bytes), row,
                 row.size());
}

void BatchedKernel::emitStep(const BatchedStep &step, Int source,
                             Int destination) {
  if (step.isPlane()) {
    forThreads(plan.itemsPerTile * step.source.numPlanes,
               [&](Int plane) { emitPlane(step, plane, source, destination); });
    return;
  }
  int64_t count = plan.getNumUnits(step);
  int64_t together = plan.getUnitsTogether(step);
  // Units behind the last one are garbage behind the tile, if there is room.
  int64_t end = plan.slackItems ? llvm::alignTo(count, plan.threads) : count;
  auto emitUnits = [&](Int begin, int64_t number) {
    SmallVector<Int> units;
    for (int64_t unit = 0; unit < number; ++unit)
      units.push_back(k.add(k.add(k.threadId(), begin), unit * plan.threads));
    emitFibres(step, units, source, destination);
  };
  int64_t begin = 0, perRound = together * plan.threads;
  int64_t rounds = end / perRound;
  if (rounds > kMostUnrolledRounds) {
    begin = rounds * perRound;
    k.rolledLoop(0, begin, perRound,
                 [&](Int number) { emitUnits(number, together); });
  }
  for (; begin + plan.threads <= end;) {
    int64_t number = std::min(together, (end - begin) / plan.threads);
    emitUnits(begin, number);
    begin += number * plan.threads;
  }
  // What not all threads have.
  if (begin < end) {
    Int unit = k.add(k.threadId(), begin);
    k.ifThen(k.less(unit, count),
             [&] { emitFibres(step, unit, source, destination); });
  }
}
