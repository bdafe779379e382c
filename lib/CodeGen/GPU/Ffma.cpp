//===- Ffma.cpp - Fibres in registers ---------------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel of persistent CTAs. Per tile:
//
//   wait for the tile's copies; start those of the next tile that have room
//   per group of axes: read fibres from shared memory, apply the group's factors
//     in registers, write them back to the same places (the last group: to
//     global memory, lanes side by side)
//   start the copies that had to wait for this tile's places
//
// A thread works on blocks of a few fibres and all their results: the row of the
// factor that it needs next comes as a broadcast from shared memory and serves
// all fibres of the block.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Ffma.h"
#include "FfmaPlan.h"
#include "ScalarOps.h"
#include "TileWalk.h"
#include "kron/CodeGen/GPU/PassEmitter.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

using namespace mlir;
using namespace mlir::kron;

/// Results that a thread accumulates at a time.
static constexpr int64_t kAccumulators = 32;
/// Copies that a thread starts per step of a loop.
static constexpr int64_t kCopiesPerStep = 8;

namespace {

/// Where a tile starts in every array.
struct TilePlace {
  Positions starts;
  Value input, output, addend;
};

/// The fibres of one item: values in row-major order over the group's axes, the
/// innermost of them (the group's first) fastest.
using Fibres = std::vector<Value>;

class FfmaEmitter {
public:
  FfmaEmitter(Emitter &host, gpu::GPUModuleOp gpuModule, PassOp pass,
              const FfmaPlan &plan)
      : host(host), pass(pass), plan(plan),
        element(getElementType(pass.getInit())),
        bytes(getElementBytes(element)),
        kernel(host, gpuModule, getKernelBaseName(pass), element),
        ops(kernel, element) {}

  void emit();

private:
  void enterAll();
  Int getTiles(Emitter &emitter, ArrayRef<Int> sizes);
  TilePlace placeTile(Int tile);
  Value isInside(const Positions &positions, const TilePlace &place);

  void emitFactors();
  void emitCopies(const TilePlace &place, Int ring, int64_t first, int64_t end);
  void emitNextCopies(Int tile, Int ring, int64_t first, int64_t end);
  void emitTile(Int tile, Int ring);
  void emitGroup(const FfmaGroup &group, bool isLast,
                 const TilePlace &place, Int ring, function_ref<void()> loaded);
  void emitCopyOut(const TilePlace &place, Int ring);

  Value getPlace(const Positions &positions, Int ring);
  Int wrap(Int slot);
  void forValues(const FfmaGroup &group, bool after,
                 function_ref<void(ArrayRef<int64_t>)> body);
  SmallVector<Value> getAddresses(const FfmaGroup &group, bool after,
                                  const Positions &item, Value start,
                                  const StageArray &array);
  Fibres loadFibres(const FfmaGroup &group, const Positions &item,
                    const TilePlace &place, Int ring);
  void storeFibres(const FfmaGroup &group, const Positions &item,
                   const Fibres &values, Int ring);
  void storeResult(const FfmaGroup &group, const Positions &item,
                   const Fibres &values, const TilePlace &place);
  int64_t getVectorWidth(const FfmaGroup &group, bool after);
  void applyGroup(const FfmaGroup &group, MutableArrayRef<Fibres> batch);
  void applyAxis(const FfmaAxis &axis, int64_t inner,
                 MutableArrayRef<Fibres> batch);
  SmallVector<Value> loadFactorRow(const FfmaAxis &axis, int64_t p);

  Emitter &host;
  PassOp pass;
  const FfmaPlan &plan;
  Type element;
  int64_t bytes;
  KernelBuilder kernel;
  ScalarOps ops;
  PassOperands operands;

  // Inside of the kernel.
  SmallVector<Int> sizes;
  StageArray input, output, addend;
  KernelScale alpha, beta;
  Int tiles;
  Value factorBase;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void FfmaEmitter::enterAll() {
  operands = getPassOperands(host, pass);
  for (Int size : operands.sizes)
    sizes.push_back(kernel.enter(size));
  input = kernel.enter(operands.input);
  output = kernel.enter(operands.init);
  alpha = ops.enter(operands.alpha, operands.alpha.isOne());
  beta = ops.enter(operands.beta, operands.beta.isZero());
  if (beta.value)
    addend = kernel.enter(operands.addend);
  tiles = getTiles(kernel, sizes);
  factorBase = kernel.shared(0);
}

Int FfmaEmitter::getTiles(Emitter &emitter, ArrayRef<Int> sizes) {
  Int count = 1;
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (!plan.contracted[axis])
      count = emitter.mul(
          count, emitter.ceilDiv(sizes[axis], plan.extents[axis]));
  return count;
}

TilePlace FfmaEmitter::placeTile(Int tile) {
  TilePlace place;
  place.starts.assign(sizes.size(), 0);
  Int rest = tile;
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    if (plan.contracted[axis])
      continue;
    Int count = kernel.ceilDiv(sizes[axis], plan.extents[axis]);
    // The outermost axis takes what is left.
    bool isLast = true;
    for (unsigned outer = 0; outer < axis; ++outer)
      isLast &= plan.contracted[outer] || sizes[outer].is(1);
    Int number = isLast ? rest : kernel.rem(rest, count);
    place.starts[axis] =
        kernel.mul(kernel.extend(number), plan.extents[axis]);
    if (isLast)
      break;
    rest = kernel.floorDiv(rest, count);
  }
  auto move = [&](const StageArray &array) {
    Int offset = 0;
    for (auto [start, stride] : llvm::zip(place.starts, array.strides))
      offset = kernel.add(offset, kernel.mul(start, stride));
    return kernel.offsetElements(array.base, element, offset);
  };
  place.input = move(input);
  place.output = move(output);
  if (beta.value)
    place.addend = move(addend);
  return place;
}

/// Whether a position of the tile is within the array; null if it always is.
Value FfmaEmitter::isInside(const Positions &positions,
                            const TilePlace &place) {
  Value inside;
  for (unsigned axis = 0; axis < positions.size(); ++axis) {
    int64_t extent = plan.extents[axis];
    if (plan.contracted[axis] || extent == 1 ||
        (sizes[axis].isConstant() && sizes[axis].getConstant() % extent == 0))
      continue;
    Int left = kernel.sub(sizes[axis], place.starts[axis]);
    inside = kernel.both(inside, kernel.less(positions[axis], left));
  }
  return inside;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// A slot number below 2 * ringSlots as a place in the ring.
Int FfmaEmitter::wrap(Int slot) {
  if (plan.ringSlots == plan.slots && slot.isConstant())
    return slot.getConstant() % plan.ringSlots;
  Int over = kernel.sub(slot, plan.ringSlots);
  if (slot.isConstant())
    return over.getConstant() >= 0 ? over : slot;
  return Int(kernel.select(kernel.less(slot, plan.ringSlots),
                           kernel.materialize(slot),
                           kernel.materialize(over)));
}

/// The address of an element of the tile that starts at slot `ring`.
Value FfmaEmitter::getPlace(const Positions &positions, Int ring) {
  Int offset = 0;
  for (auto [axis, stride] : llvm::enumerate(plan.strides)) {
    Int position = positions[axis];
    if (axis == plan.slotAxis)
      position = wrap(kernel.add(position, ring));
    offset = kernel.add(offset, kernel.mul(position, stride));
  }
  return kernel.offsetElements(kernel.shared(plan.ringOffset), element,
                               offset);
}

/// Factors as [p][q], rows padded with the last result to whole 16 bytes.
void FfmaEmitter::emitFactors() {
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes) {
      StageFactor factor =
          kernel.enter(getPassFactor(host, pass, axis.product).array);
      SmallVector<int64_t> extents{axis.depth, axis.pitch};
      forItems(kernel, plan.threads, axis.depth * axis.pitch, 4,
               [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
                 for (unsigned index = 0; index < items.size(); ++index) {
                   Positions positions =
                       decodeItem(kernel, items[index], extents, {1, 0});
                   positions[1] = axis.pitch == axis.results
                                      ? positions[1]
                                      : kernel.min(positions[1],
                                                   axis.results - 1);
                   Int offset = getTileOffset(
                       kernel, positions, extents,
                       {factor.depthStride, factor.resultStride});
                   Value number = kernel.load(
                       element,
                       kernel.offsetElements(factor.base, element, offset),
                       CacheHint::ReadOnly);
                   Value target = kernel.offsetElements(
                       kernel.shared(axis.factorOffset), element,
                       items[index]);
                   kernel.ifThen(valid[index],
                                 [&] { kernel.store(number, target); });
                 }
               });
    }
  kernel.barrier();
}

/// Starts the copies of slots [first, end) of the tile at `place` to the ring.
void FfmaEmitter::emitCopies(const TilePlace &place, Int ring, int64_t first,
                             int64_t end) {
  // A vector counts as one position of the innermost axis.
  SmallVector<int64_t> extents(plan.extents);
  unsigned last = extents.size() - 1;
  SmallVector<Int> strides(input.strides);
  extents[plan.slotAxis] =
      std::min(end, extents[plan.slotAxis]) - first;
  extents[last] /= plan.copyWidth;
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(strides);
  forItems(kernel, plan.threads, total, kCopiesPerStep,
           [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
             for (unsigned index = 0; index < items.size(); ++index) {
               Positions positions =
                   decodeItem(kernel, items[index], extents, order);
               positions[last] = kernel.mul(positions[last], plan.copyWidth);
               positions[plan.slotAxis] =
                   kernel.add(positions[plan.slotAxis], first);
               Value exists =
                   kernel.both(valid[index], isInside(positions, place));
               Int offset = getTileOffset(kernel, positions, plan.extents,
                                          strides);
               kernel.ifThen(exists, [&] {
                 kernel.copyAsync(
                     getPlace(positions, ring),
                     kernel.offsetElements(place.input, element, offset),
                     plan.copyWidth * bytes);
               });
             }
           });
}

/// Starts copies of the tile after `tile`, if there is one.
void FfmaEmitter::emitNextCopies(Int tile, Int ring, int64_t first,
                                 int64_t end) {
  if (first < end) {
    Int next = kernel.add(tile, kernel.gridSize());
    kernel.ifThen(kernel.less(next, tiles), [&] {
      Int nextRing = wrap(kernel.add(ring, plan.slots));
      emitCopies(placeTile(next), nextRing, first, end);
    });
  }
  kernel.commitCopies();
}

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

/// Calls `body` with the positions on the group's axes of every value of an item,
/// in the order of `Fibres`; other axes are 0.
void FfmaEmitter::forValues(const FfmaGroup &group, bool after,
                            function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> positions(plan.extents.size(), 0);
  std::function<void(unsigned)> walk = [&](unsigned left) {
    if (left == 0)
      return body(positions);
    const FfmaAxis &axis = group.axes[left - 1];
    for (int64_t index = 0; index < (after ? axis.results : axis.depth);
         ++index) {
      positions[axis.axis] = index;
      walk(left - 1);
    }
    positions[axis.axis] = 0;
  };
  walk(group.axes.size());
}

/// Elements of a fibre that lie next to each other and aligned in shared memory.
int64_t FfmaEmitter::getVectorWidth(const FfmaGroup &group, bool after) {
  const FfmaAxis &axis = group.axes.front();
  if (plan.strides[axis.axis] != 1)
    return 1;
  int64_t width = 16 / bytes;
  while ((after ? axis.results : axis.depth) % width != 0)
    width /= 2;
  for (unsigned other = 0; other < plan.strides.size(); ++other)
    while (other != axis.axis && plan.extents[other] > 1 &&
           plan.strides[other] % width != 0)
      width /= 2;
  return width;
}

static Positions addPositions(KernelBuilder &kernel, const Positions &item,
                              ArrayRef<int64_t> positions) {
  Positions sum(item);
  for (auto [axis, position] : llvm::enumerate(positions))
    sum[axis] = kernel.add(sum[axis], position);
  return sum;
}

/// Addresses of an item's values in global memory. Each follows from one before:
/// multiples of a stride that is not known would be kept in registers.
SmallVector<Value> FfmaEmitter::getAddresses(const FfmaGroup &group, bool after,
                                             const Positions &item, Value start,
                                             const StageArray &array) {
  Int base = getTileOffset(kernel, item, after ? group.after : group.before,
                           array.strides);
  SmallVector<Value> addresses;
  std::function<void(unsigned, Value)> walk = [&](unsigned left, Value from) {
    if (left == 0) {
      addresses.push_back(from);
      return;
    }
    const FfmaAxis &axis = group.axes[left - 1];
    for (int64_t index = 0; index < (after ? axis.results : axis.depth);
         ++index) {
      if (index)
        from = kernel.offsetElements(from, element, array.strides[axis.axis]);
      walk(left - 1, from);
    }
  };
  walk(group.axes.size(), kernel.offsetElements(start, element, base));
  return addresses;
}

Fibres FfmaEmitter::loadFibres(const FfmaGroup &group, const Positions &item,
                               const TilePlace &place, Int ring) {
  Fibres values;
  if (plan.direct) {
    for (Value address :
         getAddresses(group, /*after=*/false, item, place.input, input))
      values.push_back(kernel.load(element, address, CacheHint::ReadOnly));
    return values;
  }
  int64_t width = getVectorWidth(group, false);
  Type type = width == 1 ? element : VectorType::get({width}, element);
  bool hasSlots = llvm::any_of(group.axes, [&](const FfmaAxis &axis) {
    return axis.axis == plan.slotAxis;
  });
  Value base = hasSlots ? Value() : getPlace(item, ring);
  int64_t number = 0;
  forValues(group, false, [&](ArrayRef<int64_t> positions) {
    if (number++ % width != 0)
      return;
    Value from;
    if (hasSlots) {
      from = getPlace(addPositions(kernel, item, positions), ring);
    } else {
      int64_t offset = 0;
      for (auto [position, stride] : llvm::zip(positions, plan.strides))
        offset += position * stride;
      from = kernel.offsetElements(base, element, offset);
    }
    llvm::append_range(values, kernel.unpack(kernel.load(type, from)));
  });
  return values;
}

void FfmaEmitter::storeFibres(const FfmaGroup &group, const Positions &item,
                              const Fibres &values, Int ring) {
  int64_t width = getVectorWidth(group, true);
  bool hasSlots = llvm::any_of(group.axes, [&](const FfmaAxis &axis) {
    return axis.axis == plan.slotAxis;
  });
  Value base = hasSlots ? Value() : getPlace(item, ring);
  int64_t number = 0;
  forValues(group, true, [&](ArrayRef<int64_t> positions) {
    int64_t first = number++;
    if (first % width != 0)
      return;
    Value to;
    if (hasSlots) {
      to = getPlace(addPositions(kernel, item, positions), ring);
    } else {
      int64_t offset = 0;
      for (auto [position, stride] : llvm::zip(positions, plan.strides))
        offset += position * stride;
      to = kernel.offsetElements(base, element, offset);
    }
    Value value = width == 1 ? values[first]
                             : kernel.makeVector(ArrayRef(values).slice(
                                   first, width));
    kernel.store(value, to);
  });
}

void FfmaEmitter::storeResult(const FfmaGroup &group, const Positions &item,
                              const Fibres &values, const TilePlace &place) {
  SmallVector<Value> results(values.begin(), values.end());
  auto scaleAll = [&](const KernelScale &withBeta) {
    SmallVector<Value> addresses;
    if (withBeta.value)
      addresses = getAddresses(group, /*after=*/true, item, place.addend,
                               addend);
    SmallVector<Value> scaled;
    for (unsigned index = 0; index < results.size(); ++index)
      scaled.push_back(
          ops.scaledSum(alpha, withBeta, {results[index], nullptr}, [&] {
                            return ops.load(element, addresses[index]);
                          }).re);
    return scaled;
  };
  if (beta.value && beta.isDynamic) {
    SmallVector<Type> types(results.size(), element);
    KernelScale known = beta;
    known.isDynamic = false;
    results = kernel.ifElse(
        ops.isZero(*beta.value), types, [&] { return scaleAll({}); },
        [&] { return scaleAll(known); });
  } else if (alpha.value || beta.value) {
    results = scaleAll(beta);
  }
  for (auto [value, address] :
       llvm::zip(results, getAddresses(group, /*after=*/true, item,
                                       place.output, output)))
    kernel.store(value, address, CacheHint::Streaming);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Row p of the factor. Volatile, so that LLVM does not keep a whole factor in
/// registers because it is used twice.
SmallVector<Value> FfmaEmitter::loadFactorRow(const FfmaAxis &axis, int64_t p) {
  int64_t width = 16 / bytes;
  SmallVector<Value> row;
  for (int64_t first = 0; first < axis.pitch; first += width) {
    int64_t offset = axis.factorOffset + (p * axis.pitch + first) * bytes;
    SmallVector<Type> types(width, element);
    std::string text = bytes == 4
                           ? "ld.shared.v4.f32 {$0, $1, $2, $3}, [$4 + "
                           : "ld.shared.v2.f64 {$0, $1}, [$2 + ";
    text += std::to_string(offset) + "];";
    llvm::append_range(row, kernel.inlinePTX(types, text,
                                             bytes == 4 ? "=f,=f,=f,=f,l"
                                                        : "=d,=d,l",
                                             factorBase));
  }
  row.resize(axis.results);
  return row;
}

/// Applies one factor to all fibres along its axis, of which neighbouring values
/// are `inner` apart.
void FfmaEmitter::applyAxis(const FfmaAxis &axis, int64_t inner,
                            MutableArrayRef<Fibres> batch) {
  int64_t outer = batch.front().size() / (inner * axis.depth);
  struct Fibre {
    unsigned item;
    int64_t outer, inner;
  };
  SmallVector<Fibre> fibres;
  for (unsigned item = 0; item < batch.size(); ++item)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        fibres.push_back({item, o, i});
  SmallVector<Fibres> results(
      batch.size(), Fibres(outer * axis.results * inner));
  int64_t accumulators = bytes == 8 ? kAccumulators / 2 : kAccumulators;
  int64_t block = std::max<int64_t>(accumulators / axis.results, 1);
  // Blocks of equal size.
  int64_t blocks = llvm::divideCeil(int64_t(fibres.size()), block);
  block = llvm::divideCeil(int64_t(fibres.size()), blocks);
  for (int64_t first = 0; first < int64_t(fibres.size()); first += block) {
    ArrayRef<Fibre> some = ArrayRef(fibres).slice(
        first, std::min<int64_t>(block, fibres.size() - first));
    for (int64_t p = 0; p < axis.depth; ++p) {
      SmallVector<Value> row = loadFactorRow(axis, p);
      for (int64_t q = 0; q < axis.results; ++q)
        for (const Fibre &fibre : some) {
          Value x = batch[fibre.item][(fibre.outer * axis.depth + p) * inner +
                                      fibre.inner];
          Value &sum = results[fibre.item][(fibre.outer * axis.results + q) *
                                               inner +
                                           fibre.inner];
          sum = sum ? kernel.fma(x, row[q], sum)
                    : ops.mul({x, nullptr}, {row[q], nullptr}).re;
        }
    }
  }
  for (auto [old, result] : llvm::zip(batch, results))
    old = result;
}

void FfmaEmitter::applyGroup(const FfmaGroup &group,
                             MutableArrayRef<Fibres> batch) {
  int64_t inner = 1;
  for (const FfmaAxis &axis : group.axes) {
    applyAxis(axis, inner, batch);
    inner *= axis.results;
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Takes all items of the tile through `group`. `loaded` is called once, when all
/// threads have read what they will read, or later.
void FfmaEmitter::emitGroup(const FfmaGroup &group, bool isLast,
                            const TilePlace &place, Int ring,
                            function_ref<void()> loaded) {
  // Items are walked in the order of the result where it is stored, else in that
  // of shared memory.
  SmallVector<int64_t> extents(group.before);
  for (const FfmaAxis &axis : group.axes)
    extents[axis.axis] = 1;
  bool stores = isLast && !plan.copiesOut;
  SmallVector<unsigned> order;
  if (stores) {
    order = getWalkOrder(output.strides);
  } else {
    for (unsigned axis = extents.size(); axis-- > 0;)
      order.push_back(axis);
  }
  bool once = group.items == group.batch * plan.threads;
  forItems(
      kernel, plan.threads, group.items, group.batch,
      [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
        kernel.ifThen(valid.front(), [&] {
          SmallVector<Fibres> batch;
          SmallVector<Positions> positions;
          SmallVector<Value> exists;
          for (unsigned index = 0; index < items.size(); ++index) {
            // What is beyond the end takes the thread's first item again.
            Int item = items[index];
            Value condition = index ? valid[index] : Value();
            if (condition)
              item = Int(kernel.select(condition, kernel.materialize(item),
                                       kernel.materialize(items.front())));
            positions.push_back(decodeItem(kernel, item, extents, order));
            Value inside = isInside(positions.back(), place);
            exists.push_back(kernel.both(
                condition, stores || plan.direct ? inside : Value()));
            if (plan.direct && inside) {
              // The first position is always there.
              for (Int &position : positions.back())
                if (!position.isConstant())
                  position = Int(kernel.select(
                      inside, kernel.materialize(position),
                      kernel.materialize(
                          0, kernel.materialize(position)
                                 .getType()
                                 .getIntOrFloatBitWidth())));
            }
            batch.push_back(
                loadFibres(group, positions.back(), place, ring));
          }
          if (once)
            loaded();
          applyGroup(group, batch);
          for (unsigned index = 0; index < items.size(); ++index)
            kernel.ifThen(exists[index], [&] {
              if (stores)
                storeResult(group, positions[index], batch[index], place);
              else
                storeFibres(group, positions[index], batch[index], ring);
            });
        });
      });
  if (!once)
    loaded();
}

void FfmaEmitter::emitCopyOut(const TilePlace &place, Int ring) {
  ArrayRef<int64_t> extents = plan.groups.back().after;
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(output.strides);
  forItems(kernel, plan.threads, total, kCopiesPerStep,
           [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
             for (unsigned index = 0; index < items.size(); ++index) {
               Positions positions =
                   decodeItem(kernel, items[index], extents, order);
               Value value = kernel.load(element, getPlace(positions, ring));
               kernel.ifThen(
                   kernel.both(valid[index], isInside(positions, place)), [&] {
                     auto getAddress = [&](Value start,
                                           const StageArray &array) {
                       return kernel.offsetElements(
                           start, element,
                           getTileOffset(kernel, positions, extents,
                                         array.strides));
                     };
                     Scalar result = ops.scaledSum(
                         alpha, beta, {value, nullptr}, [&] {
                           return ops.load(element,
                                           getAddress(place.addend, addend));
                         });
                     kernel.store(result.re, getAddress(place.output, output),
                                  CacheHint::Streaming);
                   });
             }
           });
}

void FfmaEmitter::emitTile(Int tile, Int ring) {
  TilePlace place = placeTile(tile);
  // Slots of the next tile that have room beside this one's.
  int64_t early = std::min(plan.slots, plan.ringSlots - plan.slots);
  if (!plan.direct) {
    kernel.waitCopies(0);
    kernel.barrier();
    emitNextCopies(tile, ring, 0, early);
  }
  unsigned last = plan.groups.size() - 1;
  bool hasLate = !plan.direct && early < plan.slots;
  auto startLate = [&] {
    if (!hasLate)
      return;
    kernel.barrier();
    emitNextCopies(tile, ring, early, plan.slots);
  };
  for (unsigned index = 0; index <= last; ++index) {
    bool isLast = index == last;
    emitGroup(plan.groups[index], isLast, place, ring, [&] {
      if (isLast && !plan.copiesOut)
        startLate();
    });
    if (!isLast || plan.copiesOut)
      kernel.barrier();
  }
  if (plan.copiesOut) {
    emitCopyOut(place, ring);
    startLate();
  }
}

void FfmaEmitter::emit() {
  enterAll();
  if (!plan.direct) {
    emitCopies(placeTile(kernel.blockId()), 0, 0, plan.slots);
    kernel.commitCopies();
  }
  emitFactors();
  Int step = kernel.gridSize();
  bool moves = plan.ringSlots > plan.slots;
  SmallVector<Value> carried;
  if (moves)
    carried.push_back(kernel.materialize(0, 32));
  kernel.rolledLoop(
      kernel.blockId(), tiles, step, carried,
      [&](Int tile, ValueRange values) -> SmallVector<Value> {
        Int ring = moves ? Int(values.front()) : Int(0);
        emitTile(tile, ring);
        if (!moves)
          return {};
        return {kernel.materialize(wrap(kernel.add(ring, plan.slots)), 32)};
      });
  LaunchShape shape;
  shape.threads = plan.threads;
  shape.ctasPerSM = plan.ctasPerSM;
  shape.sharedBytes = plan.sharedBytes;
  kernel.launch(shape, getTiles(host, operands.sizes));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

std::optional<std::string>
kron::getFfmaUnsupportedReason(PassOp pass, const GPUMachine &machine) {
  std::string reason;
  if (!planFfma(pass, machine, reason))
    return reason;
  return std::nullopt;
}

int64_t kron::getFfmaAlignment(PassOp pass) {
  return getFfmaCopyWidth(pass) *
         getElementBytes(getElementType(pass.getInit()));
}

LogicalResult kron::emitFfmaPass(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                                 PassOp pass, const GPUMachine &machine) {
  std::string reason;
  std::optional<FfmaPlan> plan = planFfma(pass, machine, reason);
  if (!plan)
    return pass.emitOpError("cannot become an FFMA kernel: ") << reason;
  Emitter host(builder, pass.getLoc(), getElementType(pass.getInit()));
  FfmaEmitter(host, gpuModule, pass, *plan).emit();
  return success();
}
