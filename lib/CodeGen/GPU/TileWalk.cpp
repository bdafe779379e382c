//===- TileWalk.cpp - Positions of threads within a tile --------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/CodeGen/GPU/TileWalk.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

void kron::forItems(KernelBuilder &kernel, int64_t threads, Int thread,
                    int64_t total, int64_t unroll,
                    function_ref<void(ArrayRef<Int>, ArrayRef<Value>)> body) {
  int64_t rounds = llvm::divideCeil(total, threads);
  unroll = std::min(unroll, rounds);
  int64_t step = unroll * threads;
  kernel.rolledLoop(0, llvm::alignTo(total, step), step, [&](Int first) {
    SmallVector<Int> items;
    SmallVector<Value> valid;
    for (int64_t index = 0; index < unroll; ++index) {
      Int item = kernel.add(kernel.add(first, index * threads), thread);
      Value condition;
      if (total % step != 0) {
        condition = kernel.less(item, total);
        item = kernel.min(item, total - 1);
      }
      items.push_back(item);
      valid.push_back(condition);
    }
    body(items, valid);
  });
}

Positions kron::decodeItem(KernelBuilder &kernel, Int item,
                           ArrayRef<int64_t> extents,
                           ArrayRef<unsigned> order) {
  Positions positions(extents.size(), 0);
  Int rest = item;
  int64_t left = 1;
  for (unsigned axis : order)
    left *= extents[axis];
  for (unsigned axis : order) {
    left /= extents[axis];
    positions[axis] = left == 1 ? rest : kernel.rem(rest, extents[axis]);
    if (left == 1)
      break;
    rest = kernel.floorDiv(rest, extents[axis]);
  }
  return positions;
}

Positions kron::delinearize(KernelBuilder &kernel, Int number,
                            ArrayRef<int64_t> sizes) {
  auto axes = llvm::seq<unsigned>(0, sizes.size());
  return decodeItem(kernel, number, sizes,
                    llvm::to_vector(llvm::reverse(axes)));
}

Int Digits::take(Int base) {
  Int digit = kernel.rem(rest, base);
  rest = kernel.floorDiv(rest, base);
  return digit;
}

Int kron::getTileOffset(KernelBuilder &kernel, const Positions &positions,
                        ArrayRef<int64_t> extents, ArrayRef<Int> strides) {
  // Terms that stay small are summed in 32 bits, whatever the others need.
  constexpr int64_t kLimit = int64_t(1) << 30;
  int64_t most = 0;
  Int narrow = 0, wide = 0;
  for (auto [position, extent, stride] :
       llvm::zip(positions, extents, strides)) {
    int64_t size;
    if (stride.isConstant() &&
        !llvm::MulOverflow<int64_t>(std::max<int64_t>(extent - 1, 0),
                                    std::abs(stride.getConstant()), size) &&
        size < kLimit - most) {
      most += size;
      narrow = kernel.add(narrow, kernel.mul(position, stride));
    } else {
      wide = kernel.add(wide, kernel.mul(kernel.extend(position), stride));
    }
  }
  return kernel.add(wide, narrow);
}

SmallVector<unsigned> kron::getWalkOrder(ArrayRef<Int> strides) {
  SmallVector<unsigned> order;
  for (unsigned axis = strides.size(); axis-- > 0;)
    order.push_back(axis);
  auto getRank = [&](unsigned axis) {
    Int stride = strides[axis];
    int64_t size = stride.isConstant() ? std::abs(stride.getConstant())
                                       : std::numeric_limits<int64_t>::max();
    return std::pair(size, -static_cast<int>(axis));
  };
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    return getRank(lhs) < getRank(rhs);
  });
  return order;
}
