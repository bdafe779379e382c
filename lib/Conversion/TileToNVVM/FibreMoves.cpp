//===- FibreMoves.cpp - Sums of fibres through shared memory --------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"

using namespace mlir;
using namespace mlir::kron;
using namespace mlir::kron::tile;

/// Stores per thread that are unrolled, and those for arrays that need not be
/// aligned.
static constexpr int64_t kMaxUnrolledStores = 32, kCompactStores = 4;

/// Leaves the sums of a block where its fibres are.
void tile::exchangeFibres(Lowering &lowering, ExchangeOp op) {
  KernelBuilder &k = lowering.k;
  const WarpgroupSums &product = *lowering.warpgroupSums.at(op.getFragment());
  const LaneFibres &fibres = product.fibres;
  ArrayRef<Value> sums = product.sums;
  SharedTile target(k, op.getBuffer().getType(),
                    lowering.buffers.at(op.getBuffer()));
  Int slot = lowering.getLanes().slot;
  int64_t stride = target.layout.strides[fibres.along];
  // All lanes of the warp have read before one of them writes.
  k.syncWarp();
  if (!product.factor->shape.innermost) {
    k.ifThen(fibres.present[0], [&] {
      Value base = target.getAddress(
          target.getOffset(fibres.positions[0], k.mul(slot, 2 * stride)), 0);
      int64_t pitch = stride * target.layout.elementBytes;
      for (unsigned first = 0; first < sums.size(); first += 4)
        for (unsigned odd = 0; odd < 2; ++odd)
          k.store(k.makeVector({sums[first + odd], sums[first + odd + 2]}),
                  k.offsetBytes(base, (first * 2 + odd) * pitch));
    });
    return;
  }
  for (unsigned fibre = 0; fibre < 2; ++fibre)
    k.ifThen(fibres.present[fibre], [&] {
      Value bases[2];
      for (int64_t half = 0; half < 2; ++half)
        bases[half] = target.getAddress(
            target.getOffset(fibres.positions[fibre],
                             k.add(k.mul(slot, 4), 16 * half)),
            0);
      for (unsigned first = 0; first < sums.size(); first += 8) {
        unsigned own = first + 2 * fibre;
        k.store(k.makeVector(
                    {sums[own], sums[own + 1], sums[own + 4], sums[own + 5]}),
                k.offsetBytes(bases[first / 8 % 2], first / 16 * 128));
      }
    });
}

/// Stores what exists of a buffer, element by element: neighbouring lanes write
/// neighbouring elements, whatever the size of a row.
void tile::storeBufferAlong(Lowering &lowering, StoreOp op) {
  if (storeSegments(lowering, op))
    return;
  KernelBuilder &k = lowering.k;
  auto type = cast<BufferType>(op.getSource().getType());
  SharedTile source(k, type, lowering.buffers.at(op.getSource()));
  KernelScale alpha = getScale(lowering, op.getAlpha()),
              beta = getScale(lowering, op.getBeta());
  Int tile = lowering.numbers.at(op.getTile());
  auto locate = [&](Value view) {
    return locateTile(lowering, view, type.getShape(), *op.getAxes(), tile);
  };
  GlobalTile target = locate(op.getView());
  std::optional<GlobalTile> addend;
  if (op.getAddend())
    addend = locate(op.getAddend());
  // The innermost dimension last.
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, type.getShape().size()));
  if (op.getOrder())
    order.assign(op.getOrder()->begin(), op.getOrder()->end());
  TileSharing sharing(k, type.getShape(), order, lowering.getGroupThreads(),
                      lowering.getThreadOfGroup());
  struct Element {
    Value sum, exists, target, addend;
  };
  SmallVector<Element> elements;
  Int first =
      source.getOffset(SmallVector<Int>(type.getShape().size(), Int(0)), 0);
  auto getAddress = [&](const GlobalTile &array, ArrayRef<Int> position,
                        ArrayRef<int64_t> offset) {
    Int variable = 0;
    Value address = array.base;
    for (auto [own, stride] : llvm::zip_equal(position, array.strides))
      variable = k.add(variable, array.scale(k, own, stride));
    int64_t bytes = getBytesOf(array.type);
    address = k.offsetBytes(address, k.mul(variable, bytes));
    for (auto [own, stride] : llvm::zip_equal(offset, array.strides))
      address =
          k.offsetBytes(address, k.mul(array.scale(k, own, stride), bytes));
    return address;
  };
  auto load = [&](ArrayRef<Int> position, ArrayRef<int64_t> offset,
                  Value inTile) {
    Value exists = inTile;
    for (auto [dim, own] : llvm::enumerate(position))
      if (target.mayExceed[dim])
        exists =
            k.both(exists, k.less(k.add(own, offset[dim]), target.limits[dim]));
    // Behind the end, another element: it is not stored.
    Value sum = source
                    .load(source.getOffset(position, 0),
                          source.getIndex(offset), 1, inTile, first)
                    .front();
    elements.push_back(
        {sum, exists, getAddress(target, position, offset),
         addend ? getAddress(*addend, position, offset) : Value()});
  };
  auto store = [&] {
    for (const Element &own : elements)
      k.ifThen(own.exists, [&] {
        storeSums(lowering, alpha, beta, target.type, own.sum, own.target,
                  own.addend);
      });
    elements.clear();
  };
  bool isAlternative(op->getParentOfType<IfAlignedOp>());
  int64_t most = isAlternative ? kCompactStores : kMaxUnrolledStores;
  if (source.layout.swizzles.empty() && sharing.walk(most, load, store))
    return;
  sharing.round();
  sharing.forEach(most, load, store);
}
