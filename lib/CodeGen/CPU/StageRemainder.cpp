//===- StageRemainder.cpp - Lanes that fill no vector -----------*- C++ -*-===//
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

#include "StageEmitter.h"

using namespace mlir;
using namespace mlir::kron;

/// Whether the factor is packed for groups of the axis `lanes`.
bool StageEmitter::takesRemainderGroups(const LoopAxis &lanes) const {
  return packed && !packed->remainderGroups.empty() && !stage.streams &&
         lanes.size.is(packed->groupedSize);
}

void StageEmitter::emitRemainderGroup(const LoopAxis *rows,
                                      const PackedFactor::RemainderGroup &group,
                                      TileShape shape, const Bases &bases) {
  int64_t lanes = getMaxLanes(stage), perVector = lanes / group.size;
  int64_t elements = stage.sizeN * group.size;
  int64_t last = (stage.sizeN - 1) % perVector + 1;
  Int rowTotal = rows ? rows->size : Int(1);
  Int resultStride = stage.destination.strides[stage.axis];
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
                    stage.source.strides[stage.axis],
                    group.size,
                    stage.isSourceConjugate,
                    stage.source.element};
          tile.b = {
              TileOperand::Kind::Vector,
              emitter.offsetPointer(block.factor, emitter.mul(first, lanes)),
              lanes, getGroupedRowElements(stage, group.size)};
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
void StageEmitter::emitRemainderGroups(const LoopAxis &lanes,
                                       const Bases &bases) {
  SmallVector<LoopAxis> outer = nest.outer;
  std::optional<LoopAxis> rows = takeSharedAxis();
  SmallVector<LoopAxis> axes(nest.outer);
  nest.outer = outer;
  llvm::append_range(axes, nest.inner);
  int64_t size = lanes.size.getConstant();
  int64_t position = llvm::alignDown(size, getMaxLanes(stage));
  SmallVector<RemainderTile> tiles = getRemainderTiles(*stage.step);
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
