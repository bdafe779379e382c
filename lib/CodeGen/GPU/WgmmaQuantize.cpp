//===- WgmmaQuantize.cpp - Rows of a wgmma kernel in 8 bits ---------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tile has whole rows. The last step leaves them in shared memory, in f32;
// from there the warpgroups of a tile take one row after the other, keep it in
// registers while they agree on its largest magnitude, and store bytes.
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernel.h"
#include "kron/CodeGen/GPU/RowQuantizer.h"

using namespace mlir;
using namespace mlir::kron;

static constexpr int64_t kLanes = kWgmmaQuantizedLanes;

/// Where element `number` of a tile's row `row` is in shared memory.
Value WgmmaKernel::locateResults(Value source, Int row, Int number) {
  WgmmaPosition position(plan.axes.size(), 0);
  position[0] = row;
  for (unsigned axis = plan.axes.size() - 1; axis > 0; --axis) {
    position[axis] = axis == 1 ? number : k.rem(number, plan.axes[axis].after);
    number = k.floorDiv(number, plan.axes[axis].after);
  }
  unsigned inner = plan.axes.size() - 1;
  Int address = addressOf(plan.work, position, inner);
  Int permutation = swizzleOf(plan.work, position, inner);
  address = k.add(address, k.bitXor(position[inner], permutation));
  return k.offsetBytes(source, k.mul(address, plan.work.elementBytes));
}

/// Row number `row` of the tile.
void WgmmaKernel::quantizeRow(Value source, Int row) {
  RowQuantizer math(k, quantized.byte, /*hasFloat8=*/true);
  int64_t elements = 1;
  for (const WgmmaAxis &axis : ArrayRef(plan.axes).drop_front())
    elements *= axis.after;
  int64_t segments = elements / kLanes;
  int64_t threads = plan.groupSize * kWarpgroupThreads;
  auto type = VectorType::get({kLanes}, k.builder.getF32Type());
  SmallVector<Value> exist;
  SmallVector<SmallVector<Value>> kept;
  Value largest = math.zero();
  for (int64_t first = 0; first < segments; first += threads) {
    Int segment = k.add(threadOfGroup, first);
    exist.push_back(first + threads <= segments ? Value()
                                                : k.less(segment, segments));
    Int number =
        k.mul(exist.back() ? k.min(segment, segments - 1) : segment, kLanes);
    SmallVector<Value> values =
        k.unpack(k.load(type, locateResults(source, row, number)));
    for (Value &value : values)
      value = scale(value, Value());
    largest = math.addMagnitudes(largest, values);
    kept.push_back(values);
  }
  largest = math.shareInWarp(largest, 32);
  // Of two rows in turn, so that nobody writes what others still read.
  int64_t warps = threads / 32;
  Int base = k.add(k.mul(group, 2 * warps), k.mul(k.rem(row, 2), warps));
  auto locate = [&](Int warpNumber) {
    return k.shared(k.add(k.mul(k.add(base, warpNumber), 4), maximaOffset));
  };
  k.ifThen(k.equal(lane, 0),
           [&] { k.store(largest, locate(k.floorDiv(threadOfGroup, 32))); });
  syncGroup();
  for (int64_t other = 0; other < warps; ++other)
    largest = math.max(largest, k.load(k.builder.getI32Type(), locate(other)));
  RowScale scaling = math.getScale(largest);
  Int place = k.add(start[0], row);
  Value isRow = k.less(place, sizes[0]);
  k.ifThen(k.both(isRow, k.equal(threadOfGroup, 0)),
           [&] { quantized.storeScale(k, place, scaling.stored); });
  Value bytes = quantized.locate(k, place);
  for (auto [index, values] : llvm::enumerate(kept)) {
    Int segment = k.add(threadOfGroup, int64_t(index) * threads);
    k.ifThen(k.both(isRow, exist[index]), [&, &values = values] {
      Value word = math.packWord(values, scaling);
      quantized.store(k, word, k.offsetBytes(bytes, k.mul(segment, kLanes)));
    });
  }
}

void WgmmaKernel::enterQuantize() {
  quantized = arrays.quantize->enter(k);
  maximaOffset = k.allocateShared(plan.getMaximaBytes());
}

void WgmmaKernel::quantizeTile(Value source) {
  k.rolledLoop(0, plan.axes.front().tile, 1,
               [&](Int row) { quantizeRow(source, row); });
}
