//===- Batched.cpp - GPU code for many small arrays -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile goes through
//
//   global -> stage         asynchronous copies, one tile ahead
//   stage -> ... -> buffer  one step per factor, or per pair of factors on the
//                           two innermost axes; in place where sizes stay
//   buffer -> global        whole chunks of 16 bytes, with alpha, beta, Z; the
//                           last step does it itself where its fibres allow it
//
// with a barrier between. Within a step every thread reads and writes positions
// of its own, so that in place is safe. Loops whose trip count differs between
// lanes are followed by a barrier of the warp: ptxas 13.0 otherwise lets lanes
// that leave early overwrite uniform registers that the others still use. Items
// behind the last one hold anything and are computed but not stored.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Batched.h"
#include "BatchedPlan.h"
#include "kron/CodeGen/GPU/KernelBuilder.h"

using namespace mlir;
using namespace mlir::kron;

/// Larger factors would make the unrolled code too long.
static constexpr int64_t kLargestFactor = 16;
/// Groups of fibres per thread that are written out one by one.
static constexpr int64_t kMostUnrolledRounds = 3;
/// Fibres of a plane that share the loads of a factor.
static constexpr int64_t kFibresOfPlane = 4;

std::optional<std::string>
kron::getBatchedUnsupportedReason(PassOp pass, const GPUMachine &machine) {
  Type element = getElementType(pass.getInit());
  if (!element.isF32() && !element.isF64())
    return "the elements are neither f32 nor f64";
  Trip trip = describeTrip(pass);
  if (trip.getLargestFactorSize() > kLargestFactor)
    return "a factor is larger than 16";
  if (trip.inner < 0)
    return "the innermost axis has a dynamic size";
  if (llvm::any_of(trip.factors, [](const TripFactor &factor) {
        return !factor.varyingAxes.empty();
      }))
    return "a factor varies";
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const TripFactor &factor : trip.factors)
    first = std::min(first, factor.axis);
  auto shape = cast<ShapedType>(pass.getInit().getType()).getShape();
  if (llvm::any_of(shape.drop_front(first), ShapedType::isDynamic))
    return "an axis inside the contracted ones has a dynamic size";
  for (ModeProductOp product : pass.getModeProducts())
    if (product.getConjInput() || product.getConjFactor())
      return "something is conjugated";
  ScheduleAttr schedule = pass.getScheduleAttr();
  if (schedule && schedule.getStages() == 1)
    return "it needs at least 2 stages";
  if (schedule && (schedule.getColumns() || schedule.getCluster() > 1))
    return "its tiles are whole rows of one CTA";
  if (!getBatchedPlan(pass, machine))
    return "a tile does not fit in shared memory";
  return std::nullopt;
}

namespace {

/// Arrays and scalars of the pass, on the host or in a kernel.
struct BatchedOperands {
  SmallVector<Int> outerSizes;
  StageArray input, init, addend;
  Value alpha, beta;
  /// Items in all.
  Int items = 1;
};

/// Builds one kernel.
class BatchedKernel {
public:
  BatchedKernel(Emitter &host, gpu::GPUModuleOp gpuModule, PassOp pass,
                const BatchedPlan &plan, bool isPacked)
      : k(host, gpuModule, getBaseName(pass), host.element), pass(pass),
        plan(plan), isPacked(isPacked), bytes(host.getElementBytes()) {}

  /// Builds the kernel and its launch.
  void emit(const BatchedOperands &hostOperands, ArrayRef<FactorArray> factors);

private:
  static std::string getBaseName(PassOp pass);
  void enterOperands(const BatchedOperands &hostOperands);
  void allocate();
  void loadFactors(ArrayRef<FactorArray> factors);
  void emitLoad(Int tile, Int stage);
  void emitTile(Int tile, Int stage);
  void emitStep(const BatchedStep &step, Int source, Int destination);
  void emitPlane(const BatchedStep &step, Int plane, Int source,
                 Int destination);
  SmallVector<SmallVector<Value>>
  loadFibres(const BatchedStep &step, ArrayRef<Int> positions, Int source);
  void emitFibres(const BatchedStep &step, ArrayRef<Int> units, Int source,
                  Int destination);
  void replaceFibres(const BatchedStep &step, Value target, int64_t first,
                     ArrayRef<SmallVector<Value>> results);
  void emitStore(Int tile, Int buffer);

  // Shared memory.
  SmallVector<Value> loadRun(Value pointer, int64_t count, int64_t alignment);
  void storeRun(Value pointer, ArrayRef<Value> values, int64_t alignment);
  SmallVector<Value> loadFactorChunk(unsigned product, int64_t row,
                                     int64_t first);
  SmallVector<Value> loadFactorRow(unsigned product, int64_t row);
  Value element(Int buffer, Int index) {
    return k.shared(k.add(buffer, k.mul(index, bytes)));
  }
  /// Where element `index` of a tile lies in `layout`.
  Int getPosition(const ItemLayout &layout, Int index);

  // Work on registers: [fibre][position] times a factor.
  SmallVector<SmallVector<Value>> apply(ArrayRef<SmallVector<Value>> fibres,
                                        unsigned product);
  void accumulate(ArrayRef<SmallVector<Value>> fibres, int64_t p,
                  ArrayRef<Value> row,
                  MutableArrayRef<SmallVector<Value>> sums);

  // Global memory.
  Int getOffset(const StageArray &array, ArrayRef<int64_t> sizes, Int tile,
                Int index);
  Int getValidElements(Int tile, const ItemLayout &layout);
  Value scale(Value value, function_ref<Value()> addend);
  bool canStoreDirectly(const BatchedStep &step);
  void beginStore(Int tile);
  int64_t getInside(const BatchedStep &step);
  void storeFibres(const BatchedStep &step, Int fibre, int64_t first,
                   ArrayRef<SmallVector<Value>> rows);
  void storeValues(Int index, int64_t offset, SmallVector<Value> values);

  /// body(index) for index = thread, thread + threads, ... below `count`.
  void forThreads(int64_t count, function_ref<void(Int)> body);

  KernelBuilder k;
  PassOp pass;
  const BatchedPlan &plan;
  bool isPacked;
  int64_t bytes;
  BatchedOperands operands;
  int64_t stageOffset = 0, workOffset = 0;
  SmallVector<int64_t> factorOffsets;

  /// Where the results of the current tile go, in a packed array: set by
  /// beginStore. `storing`: the current step stores them itself.
  Value storeBase, addendBase;
  Int validElements;
  bool storing = false;
};

} // namespace

std::string BatchedKernel::getBaseName(PassOp pass) {
  if (auto function = pass->getParentOfType<FunctionOpInterface>())
    return (function.getName() + "_batched").str();
  return "kron_batched";
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

void BatchedKernel::enterOperands(const BatchedOperands &hostOperands) {
  for (Int size : hostOperands.outerSizes)
    operands.outerSizes.push_back(k.enter(size));
  operands.input = k.enter(hostOperands.input);
  operands.init = k.enter(hostOperands.init);
  if (hostOperands.addend.base)
    operands.addend = k.enter(hostOperands.addend);
  operands.alpha = k.enter(hostOperands.alpha);
  operands.beta = k.enter(hostOperands.beta);
  operands.items = k.enter(hostOperands.items);
}

void BatchedKernel::allocate() {
  stageOffset = k.allocateShared(plan.stages * plan.getStageElements() * bytes);
  workOffset =
      k.allocateShared(plan.numWorkBuffers * plan.getWorkElements() * bytes);
  for (unsigned index = 0; index < plan.factors.size(); ++index)
    factorOffsets.push_back(k.allocateShared(
        plan.factors[index].depth * plan.getFactorPitch(index) * bytes));
}

void BatchedKernel::forThreads(int64_t count, function_ref<void(Int)> body) {
  for (int64_t begin = 0; begin < count; begin += plan.threads) {
    Int index = k.add(k.threadId(), begin);
    Value exists;
    if (begin + plan.threads > count)
      exists = k.less(index, count);
    k.ifThen(exists, [&] { body(index); });
  }
}

/// Copies the factors to shared memory, as rows [q].
void BatchedKernel::loadFactors(ArrayRef<FactorArray> factors) {
  for (auto [index, factor] : llvm::enumerate(factors)) {
    StageFactor array = k.enter(factor.array);
    int64_t results = plan.factors[index].results;
    int64_t pitch = plan.getFactorPitch(index);
    int64_t offset = factorOffsets[index];
    forThreads(plan.factors[index].depth * results, [&](Int position) {
      Int p = k.floorDiv(position, results), q = k.rem(position, results);
      Int source =
          k.add(k.mul(p, array.depthStride), k.mul(q, array.resultStride));
      Value value = k.load(k.element, k.offsetPointer(array.base, source),
                           CacheHint::ReadOnly);
      k.store(value, element(offset, k.add(k.mul(p, pitch), q)));
    });
  }
}

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
SmallVector<Value> BatchedKernel::loadRun(Value pointer, int64_t count,
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

void BatchedKernel::storeRun(Value pointer, ArrayRef<Value> values,
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
  values.truncate(std::min(plan.chunk, plan.factors[product].results - first));
  return values;
}

SmallVector<Value> BatchedKernel::loadFactorRow(unsigned product, int64_t row) {
  SmallVector<Value> values;
  for (int64_t first = 0; first < plan.factors[product].results;
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
  const TripFactor &factor = plan.factors[product];
  SmallVector<SmallVector<Value>> results;
  for (size_t begin = 0; begin < fibres.size(); begin += kFibresOfPlane) {
    auto group = fibres.slice(
        begin, std::min<size_t>(kFibresOfPlane, fibres.size() - begin));
    SmallVector<SmallVector<Value>> sums(group.size());
    for (int64_t p = 0; p < factor.depth; ++p)
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
  SmallVector<Value> values =
      loadRun(element(source, k.mul(plane, from.pitch)), from.planeSize, width);
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
  storeRun(element(destination, k.mul(plane, to.pitch)), values, width);
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
      fibres.push_back(loadRun(input, plan.factors[product].depth, walk.width));
      continue;
    }
    SmallVector<SmallVector<Value>> rows;
    for (int64_t p = 0; p < plan.factors[product].depth; ++p)
      rows.push_back(loadRun(k.offsetBytes(input, p * walk.stride * bytes),
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
  const TripFactor &factor = plan.factors[product];
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
  for (int64_t first = 0; first < factor.results; first += plan.chunk) {
    SmallVector<SmallVector<Value>> sums(fibres.size());
    for (int64_t p = 0; p < factor.depth; ++p)
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
    return storeRun(target, results.front(), walk.width);
  for (auto [q, row] : llvm::enumerate(transpose(results)))
    storeRun(k.offsetBytes(target, q * walk.stride * bytes), row, row.size());
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

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Offset in `array`, whose items have `sizes`, of element `index` of a tile.
Int BatchedKernel::getOffset(const StageArray &array, ArrayRef<int64_t> sizes,
                             Int tile, Int index) {
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  Int offset = 0;
  Int item = k.add(k.mul(k.extend(tile), plan.itemsPerTile),
                   k.floorDiv(index, elements));
  for (int axis = plan.firstAxis - 1; axis >= 0; --axis) {
    Int size = operands.outerSizes[axis];
    Int position = axis ? k.rem(item, size) : item;
    offset = k.add(offset, k.mul(position, array.strides[axis]));
    item = k.floorDiv(item, size);
  }
  Int rest = k.rem(index, elements);
  for (int axis = sizes.size() - 1; axis >= 0; --axis) {
    Int position = axis ? k.rem(rest, sizes[axis]) : rest;
    offset =
        k.add(offset, k.mul(position, array.strides[plan.firstAxis + axis]));
    rest = k.floorDiv(rest, sizes[axis]);
  }
  return offset;
}

Int BatchedKernel::getValidElements(Int tile, const ItemLayout &layout) {
  Int left = k.sub(operands.items, k.mul(k.extend(tile), plan.itemsPerTile));
  return k.truncate(
      k.mul(k.min(left, plan.itemsPerTile), layout.getElements()));
}

/// Starts the copies of tile `tile` to the stage at `stage`, if it exists.
void BatchedKernel::emitLoad(Int tile, Int stage) {
  const ItemLayout &layout = plan.getInput();
  int64_t elements = plan.itemsPerTile * layout.getElements();
  auto loadElements = [&] {
    Int valid = getValidElements(tile, layout);
    if (!isPacked) {
      k.rolledLoop(k.threadId(), valid, plan.threads, [&](Int index) {
        Int offset = getOffset(operands.input, layout.sizes, tile, index);
        k.copyAsync(element(stage, getPosition(layout, index)),
                    k.offsetPointer(operands.input.base, offset), bytes);
      });
      k.syncWarp();
      return;
    }
    Value base =
        k.offsetPointer(operands.input.base, k.mul(k.extend(tile), elements));
    int64_t chunks = elements / plan.chunk;
    auto copy = [&](Int chunk, Value count) {
      Int index = k.mul(chunk, plan.chunk);
      k.copyAsync(element(stage, getPosition(layout, index)),
                  k.offsetPointer(base, index), 16, count);
    };
    k.ifThen(k.equal(valid, elements), [&] {
      forThreads(chunks, [&](Int chunk) { copy(chunk, Value()); });
    });
    // The last tile, in a loop: its chunks may be there in part.
    k.ifThen(k.less(valid, elements), [&] {
      Int present = k.ceilDiv(valid, plan.chunk);
      k.rolledLoop(k.threadId(), present, plan.threads, [&](Int chunk) {
        Int left = k.sub(valid, k.mul(chunk, plan.chunk));
        copy(chunk, k.materialize(k.mul(k.min(left, plan.chunk), bytes), 32));
      });
      k.syncWarp();
    });
  };
  k.ifThen(k.less(k.mul(k.extend(tile), plan.itemsPerTile), operands.items),
           loadElements);
  k.commitCopies();
}

/// alpha * value + beta * Z by the rules of BLAS for zeros.
Value BatchedKernel::scale(Value value, function_ref<Value()> addend) {
  auto multiply = [&](Value factor, Value number) -> Value {
    Value product = arith::MulFOp::create(k.builder, k.loc, factor, number);
    Value zero = k.constant(k.element, 0);
    Value isZero = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::OEQ, factor, zero);
    return k.select(isZero, zero, product);
  };
  if (operands.alpha)
    value = multiply(operands.alpha, value);
  if (!operands.addend.base)
    return value;
  Value rest = addend();
  if (operands.beta)
    rest = multiply(operands.beta, rest);
  return arith::AddFOp::create(k.builder, k.loc, value, rest);
}

void BatchedKernel::beginStore(Int tile) {
  const ItemLayout &layout = plan.getOutput();
  Int begin = k.mul(k.extend(tile), plan.itemsPerTile * layout.getElements());
  storeBase = k.offsetPointer(operands.init.base, begin);
  if (operands.addend.base)
    addendBase = k.offsetPointer(operands.addend.base, begin);
  validElements = getValidElements(tile, layout);
}

/// Stores neighbouring results `offset` elements behind element `index` of the
/// tile; the constant apart, so that stores share their addresses.
void BatchedKernel::storeValues(Int index, int64_t offset,
                                SmallVector<Value> values) {
  int64_t count = values.size();
  auto getPointer = [&](Value base) {
    return k.offsetBytes(k.offsetPointer(base, index), offset * bytes);
  };
  SmallVector<Value> addends;
  if (addendBase) {
    Type type = count == 1 ? k.element : Type(k.getVectorType(count));
    addends = k.unpack(k.load(type, getPointer(addendBase)));
  }
  for (auto [lane, value] : llvm::enumerate(values))
    value = scale(value, [&, lane = lane] { return addends[lane]; });
  Value stored = count == 1 ? values.front() : k.makeVector(values);
  k.store(stored, getPointer(storeBase), CacheHint::Streaming);
}

/// Whether the fibres of the last step can go to memory from registers: by 16
/// bytes, which neighbouring threads place side by side, or single elements of
/// f64, of which a warp's make two lines (those of f32 make ragged ones, and
/// are slower than the way through shared memory). Kernels with planes of f64
/// have no registers for it.
bool BatchedKernel::canStoreDirectly(const BatchedStep &step) {
  if (!isPacked || step.isPlane() || (plan.hasPlanes() && bytes != 4))
    return false;
  unsigned axis = plan.factors[step.products.front()].axis - plan.firstAxis;
  return axis + 2 < step.source.sizes.size() &&
         (plan.getFibresPerUnit(step) == plan.chunk ||
          (bytes == 8 && getInside(step) >= 32));
}

/// Positions inside the axis of a step.
int64_t BatchedKernel::getInside(const BatchedStep &step) {
  unsigned axis = plan.factors[step.products.front()].axis - plan.firstAxis;
  int64_t inside = 1;
  for (int64_t size : ArrayRef(step.destination.sizes).drop_front(axis + 1))
    inside *= size;
  return inside;
}

/// Stores the results `rows`, [q][fibre], from `first` on, of the unit that
/// begins with `fibre`.
void BatchedKernel::storeFibres(const BatchedStep &step, Int fibre,
                                int64_t first,
                                ArrayRef<SmallVector<Value>> rows) {
  int64_t inside = getInside(step);
  int64_t results = plan.factors[step.products.front()].results;
  Int index = k.add(k.mul(k.floorDiv(fibre, inside), results * inside),
                    k.rem(fibre, inside));
  // Items are stored as a whole or not at all.
  k.ifThen(k.less(index, validElements), [&] {
    for (auto [q, row] : llvm::enumerate(rows))
      storeValues(index, (first + q) * inside, row);
  });
}

/// Stores the results in `buffer`.
void BatchedKernel::emitStore(Int tile, Int buffer) {
  const ItemLayout &layout = plan.getOutput();
  int64_t elements = plan.itemsPerTile * layout.getElements();
  Int valid = getValidElements(tile, layout);
  if (!isPacked) {
    k.rolledLoop(k.threadId(), valid, plan.threads, [&](Int index) {
      Value value =
          k.load(k.element, element(buffer, getPosition(layout, index)));
      value = scale(value, [&] {
        Int offset = getOffset(operands.addend, layout.sizes, tile, index);
        return k.load(k.element, k.offsetPointer(operands.addend.base, offset));
      });
      Int offset = getOffset(operands.init, layout.sizes, tile, index);
      k.store(value, k.offsetPointer(operands.init.base, offset));
    });
    k.syncWarp();
    return;
  }
  beginStore(tile);
  auto storeElements = [&](Int index, int64_t count) {
    Type type = count == 1 ? k.element : Type(k.getVectorType(count));
    Value value = k.load(type, element(buffer, getPosition(layout, index)));
    storeValues(index, 0, k.unpack(value));
  };
  bool isRagged = layout.getElements() % plan.chunk != 0;
  forThreads(elements / plan.chunk, [&](Int chunk) {
    Int index = k.mul(chunk, plan.chunk);
    Int last = isRagged ? k.add(index, plan.chunk - 1) : index;
    k.ifThen(k.less(last, valid), [&] { storeElements(index, plan.chunk); });
    if (!isRagged)
      return;
    k.ifThen(k.less(valid, k.add(index, plan.chunk)), [&] {
      for (int64_t lane = 0; lane < plan.chunk - 1; ++lane) {
        Int single = k.add(index, lane);
        k.ifThen(k.less(single, valid), [&] { storeElements(single, 1); });
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Takes tile `tile`, which lies in the stage at `stage`, through all steps.
void BatchedKernel::emitTile(Int tile, Int stage) {
  Int buffer = stage;
  int64_t nextWork = 0;
  for (const BatchedStep &step : plan.steps) {
    Int target = buffer;
    if (!(step.source == step.destination)) {
      target = workOffset + nextWork * plan.getWorkElements() * bytes;
      nextWork = (nextWork + 1) % plan.numWorkBuffers;
    }
    if (&step == &plan.steps.back() && canStoreDirectly(step)) {
      beginStore(tile);
      storing = true;
      emitStep(step, buffer, target);
      storing = false;
      return;
    }
    emitStep(step, buffer, target);
    k.barrier();
    buffer = target;
  }
  emitStore(tile, buffer);
}

void BatchedKernel::emit(const BatchedOperands &hostOperands,
                         ArrayRef<FactorArray> factors) {
  Int tiles = k.host.ceilDiv(hostOperands.items, plan.itemsPerTile);
  enterOperands(hostOperands);
  allocate();
  int64_t stageBytes = plan.getStageElements() * bytes;
  int64_t ahead = plan.stages - 1;
  for (int64_t stage = 0; stage < ahead; ++stage) {
    Int tile =
        k.add(k.extend(k.blockId()), k.mul(k.extend(k.gridSize()), stage));
    emitLoad(tile, stageOffset + stage * stageBytes);
  }
  loadFactors(factors);

  int64_t end = stageOffset + plan.stages * stageBytes;
  Value firstStage = k.materialize(stageOffset, 32);
  Value firstFree = k.materialize(stageOffset + ahead * stageBytes, 32);
  Int step = k.extend(k.gridSize());
  auto advance = [&](Int stage) {
    Int next = k.add(stage, stageBytes);
    return k.select(k.equal(next, end), firstStage, k.materialize(next, 32));
  };
  k.rolledLoop(k.extend(k.blockId()), k.enter(tiles), step,
               {firstStage, firstFree}, [&](Int tile, ValueRange stages) {
                 emitLoad(k.add(tile, k.mul(step, ahead)), Int(stages[1]));
                 k.waitCopies(ahead);
                 k.barrier();
                 emitTile(tile, Int(stages[0]));
                 k.barrier();
                 return SmallVector<Value>{advance(Int(stages[0])),
                                           advance(Int(stages[1]))};
               });
  k.launch({plan.threads, plan.ctasPerSM, /*cluster=*/1, k.getSharedBytes()},
           tiles);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {
/// A condition that may be known.
struct Condition {
  bool isNever = false;
  /// Null: always, unless `isNever`.
  Value value;
};
} // namespace

static void require(Emitter &host, Condition &condition, Int lhs, Int rhs) {
  if (lhs == rhs)
    return;
  if (lhs.isConstant() && rhs.isConstant()) {
    condition.isNever = true;
    return;
  }
  Value equal = host.equal(lhs, rhs);
  condition.value = condition.value
                        ? Value(arith::AndIOp::create(host.builder, host.loc,
                                                      condition.value, equal))
                        : equal;
}

/// Requires that `array` has no gaps and begins at a multiple of 16 bytes.
static void requirePacked(Emitter &host, Condition &condition,
                          const StageArray &array, ArrayRef<Int> outerSizes,
                          ArrayRef<int64_t> itemSizes) {
  Int expected = 1;
  int64_t outerRank = outerSizes.size();
  for (int axis = outerRank + itemSizes.size() - 1; axis >= 0; --axis) {
    Int size =
        axis < outerRank ? outerSizes[axis] : Int(itemSizes[axis - outerRank]);
    if (!size.is(1))
      require(host, condition, array.strides[axis], expected);
    expected = host.mul(expected, size);
  }
  Value address = LLVM::PtrToIntOp::create(
      host.builder, host.loc, host.builder.getI64Type(), array.base);
  require(host, condition, host.bitAnd(Int(address), 15), 0);
}

static BatchedOperands getOperands(Emitter &host, PassOp pass,
                                   const BatchedPlan &plan) {
  PassOperands all = getPassOperands(host, pass);
  BatchedOperands operands;
  for (unsigned axis = 0; axis < plan.firstAxis; ++axis) {
    operands.outerSizes.push_back(all.sizes[axis]);
    operands.items = host.mul(operands.items, all.sizes[axis]);
  }
  operands.input = all.input;
  operands.init = all.init;
  operands.addend = all.addend;
  if (!all.alpha.isOne())
    operands.alpha = all.alpha.materialize(host.builder, host.loc);
  if (all.addend.base && !all.beta.isOne())
    operands.beta = all.beta.materialize(host.builder, host.loc);
  return operands;
}

LogicalResult kron::emitBatchedPass(OpBuilder &builder,
                                    gpu::GPUModuleOp gpuModule, PassOp pass,
                                    const GPUMachine &machine) {
  std::optional<BatchedPlan> plan = getBatchedPlan(pass, machine);
  if (!plan)
    return pass.emitOpError("has items that do not fit in shared memory");
  Emitter host(builder, pass.getLoc(), getElementType(pass.getInit()));
  BatchedOperands operands = getOperands(host, pass, *plan);
  SmallVector<FactorArray> factors;
  for (ModeProductOp product : pass.getModeProducts())
    factors.push_back(getPassFactor(host, pass, product));

  Condition packed;
  requirePacked(host, packed, operands.input, operands.outerSizes,
                plan->getInput().sizes);
  requirePacked(host, packed, operands.init, operands.outerSizes,
                plan->getOutput().sizes);
  if (operands.addend.base)
    requirePacked(host, packed, operands.addend, operands.outerSizes,
                  plan->getOutput().sizes);
  auto emit = [&](bool isPacked) {
    BatchedKernel(host, gpuModule, pass, *plan, isPacked)
        .emit(operands, factors);
  };
  if (packed.isNever || !packed.value) {
    emit(!packed.isNever);
    return success();
  }
  auto branch = scf::IfOp::create(builder, pass.getLoc(), packed.value,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit(true);
  builder.setInsertionPointToStart(branch.elseBlock());
  emit(false);
  return success();
}
