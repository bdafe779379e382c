//===- StepRemainder.cpp - Lanes that fill no vector ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What fills no vector of the innermost axis of the inner mapping: groups of a
// power of two elements, which a load repeats, are multiplied with several q in
// a vector. 10 elements of f32 are a group of 8, with two q, and one of 2, with
// eight, so that 10 q take 7 vectors.
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether the factor is packed for groups of the axis `lanes`.
bool StepEmitter::takesRemainderGroups(const LoopAxis &lanes) const {
  return packed && !packed->remainderGroups.empty() && !step.streams &&
         lanes.size.is(packed->groupedSize);
}

void StepEmitter::emitRemainderGroup(const LoopAxis *rows,
                                     const PackedFactor::RemainderGroup &group,
                                     TileShape shape, const Bases &bases) {
  int64_t lanes = getMaxLanes(step), perVector = lanes / group.size;
  int64_t elements = step.sizeN * group.size;
  int64_t last = (step.sizeN - 1) % perVector + 1;
  Int rowTotal = rows ? rows->size : Int(1);
  Int resultStride = step.destination.strides[step.axis];
  emitBlocks(rowTotal, shape.rows, [&](Int row, int64_t count) {
    Bases block = rows ? advance(bases, *rows, row) : bases;
    emitVectorBlocks(
        elements, lanes, lanes, shape.vectors,
        [&](Int first, int64_t vectors, Value mask) {
          RegisterTile tile = startTile(block);
          tile.rows = count;
          tile.vectors = vectors;
          tile.lanes = lanes;
          tile.a = {group.size == 1 ? TileOperand::Kind::Scalar
                                    : TileOperand::Kind::Group,
                    block.source,
                    rows ? rows->source : Int(0),
                    step.source.strides[step.axis],
                    group.size,
                    step.isSourceConjugate,
                    step.source.element};
          tile.b = {
              TileOperand::Kind::Vector,
              emitter.offsetPointer(block.factor, emitter.mul(first, lanes)),
              lanes, getGroupedRowElements(step, group.size)};
          tile.result.base = emitter.offsetPointer(
              block.destination,
              emitter.mul(emitter.mul(first, perVector), resultStride),
              tile.result.element);
          tile.result.rowStride = rows ? rows->destination : Int(0);
          tile.result.vectorStride = emitter.mul(perVector, resultStride);
          tile.resultParts = {group.size, mask ? last : perVector,
                              resultStride};
          emitRegisterTile(emitter, tile);
        });
  });
}

/// All that fills no vector of the axis `lanes`, which is no longer in the
/// nest.
void StepEmitter::emitRemainderGroups(const LoopAxis &lanes,
                                      const Bases &bases) {
  SmallVector<LoopAxis> outer = nest.outer;
  std::optional<LoopAxis> rows = takeSharedAxis();
  SmallVector<LoopAxis> axes(nest.outer);
  nest.outer = outer;
  llvm::append_range(axes, nest.inner);
  int64_t size = lanes.size.getConstant();
  int64_t position = llvm::alignDown(size, getMaxLanes(step));
  SmallVector<RemainderTile> tiles = getRemainderTiles(*step.choices);
  for (unsigned index = 0; index < tiles.size(); ++index) {
    const PackedFactor::RemainderGroup &group = packed->remainderGroups[index];
    TileShape shape{tiles[index].rows, tiles[index].vectors};
    Bases at = advance(bases, lanes, position);
    at.factor = emitter.offsetPointer(bases.factor, group.offset);
    emitLoops(axes, at, [&](const Bases &here) {
      emitRemainderGroup(rows ? &*rows : nullptr, group, shape, here);
    });
    position += group.size;
  }
}
