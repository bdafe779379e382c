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
//   per group of axes: read fibres from shared memory, apply the group's
//     factors in registers, write them back to the same places (the last
//     group: to global memory, lanes side by side)
//   start the copies that had to wait for this tile's places
//
// A thread works on blocks of a few fibres and all their results: the row of
// the factor that it needs next comes as a broadcast from shared memory and
// serves all fibres of the block.
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/Ffma.h"
#include "FfmaEmitter.h"
#include "kron/Plan/GPU/Reasons.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Copies that a thread starts per step of a loop.
static constexpr int64_t kCopiesPerStep = 8;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void FfmaEmitter::enterAll() {
  enterArrays();
  tiles = getTiles(kernel, sizes);
  factorBase = kernel.shared(0);
}

Int FfmaEmitter::getTiles(Emitter &emitter, ArrayRef<Int> sizes) {
  Int count = 1;
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (!plan.contracted[axis])
      count =
          emitter.mul(count, emitter.ceilDiv(sizes[axis], plan.extents[axis]));
  return count;
}

FfmaPlace FfmaEmitter::placeTile(Int tile) {
  Positions starts(sizes.size(), 0);
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
    starts[axis] = kernel.mul(kernel.extend(number), plan.extents[axis]);
    if (isLast)
      break;
    rest = kernel.floorDiv(rest, count);
  }
  return getPlaceAt(std::move(starts));
}

/// Whether a position of the tile is within the array; null if it always is.
Value FfmaEmitter::isInside(const Positions &positions,
                            const FfmaPlace &place) {
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
                           kernel.materialize(slot), kernel.materialize(over)));
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
  return getSharedPointer(offset);
}

/// The place `offset` elements into the ring. Addresses of shared memory have
/// 32 bits, whatever the width of pointers.
Value FfmaEmitter::getSharedPointer(Int offset) {
  Int address(LLVM::PtrToIntOp::create(kernel.builder, kernel.loc,
                                       kernel.builder.getI32Type(),
                                       kernel.shared(plan.ringOffset)));
  address = kernel.add(address, kernel.mul(offset, bytes));
  return LLVM::IntToPtrOp::create(kernel.builder, kernel.loc,
                                  factorBase.getType(), address.getValue());
}

/// A function from positions on the group's axes to places of the item.
std::function<Value(ArrayRef<int64_t>)>
FfmaEmitter::getPlaces(const FfmaGroup &group, const FfmaItem &item, Int ring) {
  Positions fixed(item.base);
  bool hasSlots = plan.hasSlots(group);
  if (!hasSlots)
    fixed[plan.slotAxis] =
        kernel.add(fixed[plan.slotAxis], item.more[plan.slotAxis]);
  else
    fixed[plan.slotAxis] = 0;
  Int offset = 0;
  for (auto [axis, stride] : llvm::enumerate(plan.strides))
    if (axis != plan.slotAxis)
      offset = kernel.add(offset, kernel.mul(fixed[axis], stride));
  auto getSlot = [this, ring, offset](Int slot) {
    Int start =
        kernel.mul(wrap(kernel.add(slot, ring)), plan.strides[plan.slotAxis]);
    return getSharedPointer(kernel.add(offset, start));
  };
  SmallVector<Value> slots;
  if (!hasSlots)
    slots.push_back(getSlot(fixed[plan.slotAxis]));
  else
    for (int64_t slot = 0; slot < plan.slots; ++slot)
      slots.push_back(getSlot(slot));
  return
      [this, hasSlots, slots, more = item.more](ArrayRef<int64_t> positions) {
        int64_t offset = 0;
        for (auto [axis, stride] : llvm::enumerate(plan.strides))
          if (axis != plan.slotAxis)
            offset += (positions[axis] + more[axis]) * stride;
        Value start = slots[hasSlots ? positions[plan.slotAxis] : 0];
        return kernel.offsetElements(start, element, offset);
      };
}

/// Factors as [p][q], rows padded with the last result to whole 16 bytes.
void FfmaEmitter::emitFactors() {
  for (const FfmaGroup &group : plan.groups)
    for (const FfmaAxis &axis : group.axes) {
      StageFactor factor =
          kernel.enter(getFusedFactor(host, fused, axis.product).array);
      SmallVector<int64_t> extents{axis.sizeK, axis.pitch};
      forItems(
          kernel, plan.threads, kernel.threadId(), axis.sizeK * axis.pitch, 4,
          [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
            for (unsigned index = 0; index < items.size(); ++index) {
              Positions positions =
                  decodeItem(kernel, items[index], extents, {1, 0});
              positions[1] = axis.pitch == axis.sizeN
                                 ? positions[1]
                                 : kernel.min(positions[1], axis.sizeN - 1);
              Int offset = getTileOffset(kernel, positions, extents,
                                         {factor.strideK, factor.resultStride});
              Value number = kernel.load(
                  element, kernel.offsetElements(factor.base, element, offset),
                  CacheHint::ReadOnly);
              Value target = kernel.offsetElements(
                  kernel.shared(axis.factorOffset), element, items[index]);
              kernel.ifThen(valid[index],
                            [&] { kernel.store(number, target); });
            }
          });
    }
  kernel.barrier();
}

/// Starts the copies of slots [first, end) of the tile at `place` to the ring.
void FfmaEmitter::emitCopies(const FfmaPlace &place, Int ring, int64_t first,
                             int64_t end) {
  // A vector counts as one position of the innermost axis.
  SmallVector<int64_t> extents(plan.extents);
  unsigned last = extents.size() - 1;
  SmallVector<Int> strides(input.strides);
  end = std::min(end, extents[plan.slotAxis]);
  // Slots beyond the input's hold results only.
  if (first >= end)
    return;
  extents[plan.slotAxis] = plan.slotThreads ? 1 : end - first;
  extents[last] /= plan.copyWidth;
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(strides);
  Int ownSlot = first, thread = kernel.threadId();
  Value mine;
  if (plan.slotThreads) {
    ownSlot = kernel.floorDiv(thread, plan.slotThreads);
    thread = kernel.rem(thread, plan.slotThreads);
    if (first > 0)
      mine = kernel.less(first - 1, ownSlot);
    if (end < plan.slots)
      mine = kernel.both(mine, kernel.less(ownSlot, end));
  }
  auto emitCopy = [&](Int item, Value valid) {
    Positions positions = decodeItem(kernel, item, extents, order);
    positions[last] = kernel.mul(positions[last], plan.copyWidth);
    positions[plan.slotAxis] = kernel.add(positions[plan.slotAxis], ownSlot);
    Value exists = kernel.both(valid, isInside(positions, place));
    Int offset = getTileOffset(kernel, positions, plan.extents, strides);
    kernel.ifThen(exists, [&] {
      kernel.copyAsync(getPlace(positions, ring),
                       kernel.offsetElements(place.input, element, offset),
                       plan.copyWidth * bytes);
    });
  };
  kernel.ifThen(mine, [&] {
    forItems(kernel, plan.slotThreads ? plan.slotThreads : plan.threads, thread,
             total, kCopiesPerStep,
             [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
               for (unsigned index = 0; index < items.size(); ++index)
                 emitCopy(items[index], valid[index]);
             });
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
// Groups
//===----------------------------------------------------------------------===//

/// Where the items are. What is beyond the end is the thread's first item
/// again.
SmallVector<FfmaItem> FfmaEmitter::decodeItems(ArrayRef<Int> items,
                                               ArrayRef<Value> valid,
                                               ArrayRef<int64_t> extents,
                                               ArrayRef<unsigned> order) {
  SmallVector<int64_t> none(extents.size(), 0);
  SmallVector<FfmaItem> own;
  // If the threads cover whole axes and a divisor of the next one, a thread's
  // items differ by what is known.
  int64_t total = 1, inner = 1;
  for (int64_t extent : extents)
    total *= extent;
  unsigned next = 0;
  while (next < order.size() &&
         plan.threads % (inner * extents[order[next]]) == 0)
    inner *= extents[order[next++]];
  int64_t part = plan.threads / inner;
  bool isSplit =
      total == plan.threads * int64_t(items.size()) &&
      (next == order.size() ? part == 1 : extents[order[next]] % part == 0);
  if (isSplit) {
    Positions first =
        decodeItem(kernel, items.front(), extents,
                   order.take_front(std::min<size_t>(next + 1, order.size())));
    for (unsigned index = 0; index < items.size(); ++index) {
      FfmaItem item{first, none};
      int64_t rest = index * part;
      for (unsigned axis : order.drop_front(next)) {
        item.more[axis] = rest % extents[axis];
        rest /= extents[axis];
      }
      own.push_back(std::move(item));
    }
    return own;
  }
  for (unsigned index = 0; index < items.size(); ++index) {
    Int number = items[index];
    if (index && valid[index])
      number = Int(kernel.select(valid[index], kernel.materialize(number),
                                 kernel.materialize(items.front())));
    own.push_back({decodeItem(kernel, number, extents, order), none});
  }
  return own;
}

/// Takes all items of the tile through `group`. `loaded` is called once, when
/// all threads have read what they will read, or later.
void FfmaEmitter::emitGroup(const FfmaGroup &group, bool isLast,
                            const FfmaPlace &place, Int ring,
                            function_ref<void()> loaded) {
  // Items are walked in the order of the result where it is stored, else in
  // that of shared memory.
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
      kernel, plan.threads, kernel.threadId(), group.items, group.batch,
      [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
        kernel.ifThen(valid.front(), [&] {
          SmallVector<FfmaValues> batch;
          SmallVector<FfmaItem> own = decodeItems(items, valid, extents, order);
          SmallVector<Value> exists;
          for (unsigned index = 0; index < items.size(); ++index) {
            FfmaItem &item = own[index];
            Positions positions(item.base);
            for (auto [position, more] : llvm::zip(positions, item.more))
              position = kernel.add(position, more);
            Value inside = isInside(positions, place);
            exists.push_back(
                kernel.both(index ? valid[index] : Value(),
                            stores || plan.direct ? inside : Value()));
            if (plan.direct && inside) {
              // The first position is always there.
              for (Int &position : positions)
                if (!position.isConstant())
                  position = Int(kernel.select(
                      inside, kernel.materialize(position),
                      kernel.materialize(0, kernel.materialize(position)
                                                .getType()
                                                .getIntOrFloatBitWidth())));
              item = {positions, SmallVector<int64_t>(positions.size(), 0)};
            }
            batch.push_back(loadFibres(group, item, place, ring));
          }
          if (once)
            loaded();
          auto storeAll = [&](ArrayRef<FfmaValues> values) {
            for (unsigned index = 0; index < items.size(); ++index)
              kernel.ifThen(exists[index], [&] {
                if (stores)
                  storeResult(group, own[index], values[index], place);
                else
                  storeFibres(group, own[index], values[index], ring);
              });
          };
          bool streams = canStream(group) &&
                         llvm::none_of(exists, [](Value v) { return bool(v); });
          if (streams)
            return applyGroup(group, batch, storeAll);
          applyGroup(group, batch, nullptr);
          storeAll(batch);
        });
      });
  if (!once)
    loaded();
}

void FfmaEmitter::emitCopyOut(const FfmaPlace &place, Int ring) {
  ArrayRef<int64_t> extents = plan.groups.back().after;
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  SmallVector<unsigned> order = getWalkOrder(output.strides);
  forItems(
      kernel, plan.threads, kernel.threadId(), total, kCopiesPerStep,
      [&](ArrayRef<Int> items, ArrayRef<Value> valid) {
        for (unsigned index = 0; index < items.size(); ++index) {
          Positions positions =
              decodeItem(kernel, items[index], extents, order);
          Value value = kernel.load(element, getPlace(positions, ring));
          kernel.ifThen(
              kernel.both(valid[index], isInside(positions, place)), [&] {
                auto getAddress = [&](Value start, const StageArray &array) {
                  return kernel.offsetElements(
                      start, element,
                      getTileOffset(kernel, positions, extents, array.strides));
                };
                Scalar result =
                    ops.scaledSum(alpha, beta, {value, nullptr}, [&] {
                      return ops.load(element,
                                      getAddress(place.addend, addend));
                    });
                kernel.store(result.re, getAddress(place.output, output),
                             CacheHint::Streaming);
              });
        }
      });
}

/// Waits for the threads of this thread's slot, or for all.
void FfmaEmitter::emitBarrier(bool slotOnly) {
  if (!slotOnly || !plan.slotThreads)
    return kernel.barrier();
  // One barrier instruction per slot: around one whose number is in a register,
  // ptxas spills values that it keeps in registers otherwise.
  Int slot = kernel.floorDiv(kernel.threadId(), plan.slotThreads);
  std::string text = "{ .reg .pred p;";
  for (int64_t number = 0; number < plan.slots; ++number)
    text += " setp.eq.u32 p, $0, " + std::to_string(number) + "; @p bar.sync " +
            std::to_string(number + 1) + ", " +
            std::to_string(plan.slotThreads) + ";";
  kernel.inlinePTX({}, text + " }", "r,~{memory}",
                   kernel.materialize(slot, 32));
}

void FfmaEmitter::emitTile(Int tile, Int ring) {
  FfmaPlace place = placeTile(tile);
  // Slots of the next tile that have room beside this one's.
  int64_t early = std::min(plan.slots, plan.ringSlots - plan.slots);
  if (!plan.direct) {
    kernel.waitCopies(0);
    emitBarrier(/*slotOnly=*/true);
    emitNextCopies(tile, ring, 0, early);
  }
  // Once the last group has read, places may be overwritten: by this tile's
  // last copies, and by the next tile's first ones, of which the threads of a
  // slot do not wait for the others.
  const FfmaGroup &last = plan.groups.back();
  bool hasLate = !plan.direct && early < plan.slots;
  auto startLate = [&] {
    if (!hasLate && !plan.slotThreads)
      return;
    emitBarrier(!plan.hasSlots(last) && plan.ringSlots % plan.slots == 0);
    if (hasLate)
      emitNextCopies(tile, ring, early, plan.slots);
  };
  for (unsigned index = 0; index < plan.groups.size(); ++index) {
    bool isLast = index + 1 == plan.groups.size();
    emitGroup(plan.groups[index], isLast, place, ring, [&] {
      if (isLast && !plan.copiesOut)
        startLate();
    });
    if (!isLast)
      emitBarrier(!plan.hasSlots(plan.groups[index + 1]));
    else if (plan.copiesOut)
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
  shape.sharedBytes = plan.getSharedBytes();
  kernel.launch(shape, getTiles(host, operands.sizes));
}

//===----------------------------------------------------------------------===//
// The fused region
//===----------------------------------------------------------------------===//

LogicalResult kron::emitFfmaKernel(OpBuilder &builder,
                                   gpu::GPUModuleOp gpuModule, FusedOp fused,
                                   GPUPlanAttr plan,
                                   const GPUMachine &machine) {
  std::variant<FfmaPlan, std::string> found = readFfmaPlan(fused, plan);
  if (auto *reason = std::get_if<std::string>(&found))
    return fused.emitOpError("cannot become an ffma kernel: ") << *reason;
  auto &ffma = std::get<FfmaPlan>(found);
  if (std::optional<std::string> reason =
          getSharedMemoryReason(ffma.getSharedBytes(), ffma.ctasPerSM, machine))
    return fused.emitOpError("cannot become an ffma kernel: ") << *reason;
  Emitter host(builder, fused.getLoc(), getElementType(fused.getInit()));
  FfmaEmitter(host, gpuModule, fused, ffma).emit();
  return success();
}
