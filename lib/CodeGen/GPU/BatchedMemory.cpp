//===- BatchedMemory.cpp - Loads and stores of many small arrays ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BatchedKernel.h"

using namespace mlir;
using namespace mlir::kron;

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

/// Starts the copies of tile `tile` to the pipeline stage at `stage`, if it
/// exists.
void BatchedKernel::emitLoad(Int tile, Int stage) {
  const ItemLayout &layout = plan.getInput();
  int64_t elements = plan.itemsPerTile * layout.getElements();
  auto loadElements = [&] {
    Int valid = getValidElements(tile, layout);
    if (!plan.isPacked) {
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
  if (!plan.isPacked || step.isPlane() || (plan.hasPlanes() && bytes != 4))
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
  int64_t sizeN = plan.factors[step.products.front()].sizeN;
  Int index = k.add(k.mul(k.floorDiv(fibre, inside), sizeN * inside),
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
  if (!plan.isPacked) {
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
