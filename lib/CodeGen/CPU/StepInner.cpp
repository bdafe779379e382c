//===- StepInner.cpp - Lanes over the innermost axis ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The inner mapping, whose factor is broadcast, and the varying one, where
// every lane has a factor of its own.
//
//===----------------------------------------------------------------------===//

#include "Rearrange.h"
#include "StepEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::kron;

int64_t StepEmitter::getPanelElements(const LaneBlocks &blocks) const {
  int64_t vectors = llvm::divideCeil(blocks.most, blocks.used);
  return step.sizeK * llvm::alignTo(vectors, blocks.shape.vectors) *
         blocks.lanes;
}

/// Where the lanes from `first` on lie in the panels.
Int StepEmitter::getPanelOffset(const LaneBlocks &blocks, Int first) {
  if (blocks.size.isConstant() && blocks.used == blocks.lanes)
    return emitter.mul(first, step.sizeK);
  if (blocks.size.isConstant())
    return emitter.mul(emitter.floorDiv(first, blocks.used),
                       blocks.lanes * step.sizeK);
  int64_t width = blocks.getWidth();
  return emitter.add(
      emitter.mul(emitter.floorDiv(first, width), width * step.sizeK),
      emitter.rem(first, width));
}

/// Memory of the function that is built, aligned to cache lines.
Value StepEmitter::allocateOnStack(int64_t elements) {
  OpBuilder &builder = emitter.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto function =
      builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = arith::ConstantIntOp::create(builder, emitter.loc, elements, 64);
  return LLVM::AllocaOp::create(
      builder, emitter.loc, LLVM::LLVMPointerType::get(builder.getContext()),
      emitter.element, size, /*alignment=*/64);
}

Value StepEmitter::allocateSlot() {
  OpBuilder &builder = emitter.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto function =
      builder.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value one = arith::ConstantIntOp::create(builder, emitter.loc, 1, 64);
  return LLVM::AllocaOp::create(builder, emitter.loc, pointer, pointer, one);
}

/// Copies X to panels, one per block of lanes, in whole rows.
void StepEmitter::emitPanelCopy(const LaneBlocks &blocks, Value source,
                                Value panels) {
  // Rows are too far apart for the processor to see where the next one is.
  constexpr int64_t kRowsAhead = 8;
  VectorType type = emitter.getVectorType(blocks.lanes);
  Type stored = step.source.element;
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value from = emitter.offsetPointer(
        source, emitter.mul(p, step.source.strides[step.axis]), stored);
    Value to = emitter.offsetPointer(panels, emitter.mul(p, blocks.getWidth()));
    emitLaneBlocks(blocks, [&](Int first, int64_t vectors, Value mask) {
      Value block = emitter.offsetPointer(to, getPanelOffset(blocks, first));
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Int lane = emitter.add(first, vector * blocks.used);
        emitPrefetchSoon(
            emitter,
            emitter.offsetPointer(
                from,
                emitter.add(lane, emitter.mul(kRowsAhead,
                                              step.source.strides[step.axis])),
                stored));
        Value value =
            emitter.loadVector(type, emitter.offsetPointer(from, lane, stored),
                               vector == vectors - 1 ? mask : Value(), stored);
        emitter.storeVector(value,
                            emitter.offsetPointer(block, vector * blocks.lanes),
                            nullptr);
      }
    });
  });
}

void StepEmitter::emitLaneBlocks(const LaneBlocks &blocks,
                                 function_ref<void(Int, int64_t, Value)> body) {
  if (blocks.size.isConstant())
    return emitVectorBlocks(
        blocks.size.getConstant(), blocks.lanes, blocks.used,
        blocks.shape.vectors, [&](Int first, int64_t vectors, Value mask) {
          body(emitter.mul(first, blocks.used), vectors, mask);
        });
  int64_t width = blocks.getWidth();
  Int full = emitter.mul(emitter.floorDiv(blocks.size, width), width);
  emitter.forLoop(0, full, width, [&](Int first) {
    body(first, blocks.shape.vectors, nullptr);
  });
  emitter.forLoop(full, blocks.size, blocks.lanes, [&](Int first) {
    body(first, 1,
         emitter.firstLanes(blocks.lanes, emitter.sub(blocks.size, first)));
  });
}

/// Elements from what a block of lanes loads of X to what one some turns later
/// does: of rows in memory the next blocks, which go on in the next tile; of a
/// buffer a turn of the loop outside, if that is where X goes on, since blocks
/// that follow each other there the processor sees by itself. 0: nothing is to
/// be prefetched.
Int StepEmitter::getAhead(const LaneBlocks &blocks) {
  // Vectors that cross lines need the last line of the block before, too.
  constexpr int64_t kTurns = 2;
  if (!step.choices->isSourceFar)
    return 0;
  if (!step.isSourceBuffer)
    return kTurns * blocks.getWidth();
  if (nest.inner.empty() || blocks.most > blocks.getWidth())
    return 0;
  return emitter.mul(nest.inner.back().source, kTurns);
}

/// Of fewer segments of memory the processor sees by itself where they go on.
static constexpr int64_t kManySegments = 12;

void StepEmitter::emitInnerTile(const InnerTiles &tiles, const Bases &column,
                                Int q, int64_t rows, Int first, int64_t vectors,
                                Value mask) {
  const LaneBlocks &blocks = tiles.blocks;
  RegisterTile tile = startTile(column);
  tile.rows = rows;
  tile.vectors = vectors;
  tile.lanes = blocks.lanes;
  tile.usedLanes = tiles.usedLanes;
  tile.mask = mask;
  tile.a = {
      nest.group == 1 ? TileOperand::Kind::Scalar : TileOperand::Kind::Group,
      emitter.offsetPointer(column.factor, emitter.mul(q, factor.resultStride)),
      factor.resultStride,
      factor.strideK,
      nest.group,
      step.isFactorConjugate};
  tile.b = {TileOperand::Kind::Vector,
            column.source,
            blocks.used,
            step.source.strides[step.axis],
            1,
            step.isSourceConjugate,
            step.source.element};
  if (tiles.panels) {
    tile.b.base =
        emitter.offsetPointer(tiles.panels, getPanelOffset(blocks, first));
    tile.b.blockStride = blocks.lanes;
    tile.b.strideK = blocks.getWidth();
    tile.b.element = nullptr;
  } else {
    tile.ahead = getAhead(blocks);
  }
  tile.readsSegments = step.isInPlace && step.sizeK >= kManySegments;
  tile.result = getResultRows(column, q, blocks.used, blocks.used);
  emitRegisterTile(emitter, tile);
}

void StepEmitter::emitAlongPrefetch(const Bases &at, Int q, int64_t rows,
                                    Int position, int64_t count) {
  if (!step.choices->factorAhead)
    return;
  // A line has as many positions, each of which prefetches a part of the rows.
  int64_t turns =
      std::min<int64_t>(count, kLineBytes / getFactorElementBytes(step));
  int64_t share = llvm::divideCeil(rows, turns);
  Int part = emitter.rem(position, llvm::divideCeil(rows, share));
  Int first = emitter.add(q, emitter.mul(part, share));
  Value base = emitter.offsetPointer(
      at.factor, emitter.mul(first, factor.resultStride), factor.element);
  base = emitter.offsetPointer(base, step.choices->factorAhead, factor.element);
  emitter.forLoop(0, step.sizeK, 1, [&](Int p) {
    Value row = emitter.offsetPointer(base, emitter.mul(p, factor.strideK),
                                      factor.element);
    for (int64_t index = 0; index < share; ++index)
      emitter.prefetch(emitter.offsetPointer(
          row, emitter.mul(index, factor.resultStride), factor.element));
  });
}

void StepEmitter::emitInner(const LoopAxis &laneAxis, const LoopAxis *along,
                            const Bases &bases) {
  bool isKnown = laneAxis.size.isConstant();
  InnerTiles tiles;
  LaneBlocks &blocks = tiles.blocks;
  blocks.size = laneAxis.size;
  blocks.most = INT32_MAX;
  if (isKnown)
    blocks.most = laneAxis.size.getConstant();
  else if (step.mostInner)
    blocks.most = step.mostInner;
  blocks.lanes = chooseLanes(isKnown ? laneAxis.size.getConstant() : INT64_MAX,
                             step.vectorBits, emitter.getElementBytes());
  blocks.used = blocks.lanes / nest.group * nest.group;
  tiles.usedLanes = emitter.firstLanes(blocks.lanes, blocks.used);
  blocks.shape = getShape();
  // Enough to hide the latency of multiply-adds; more rows would need more
  // addresses than there are registers.
  constexpr int64_t kSingleRows = 8;
  int64_t singleRows = blocks.shape.vectors == 1
                           ? blocks.shape.rows
                           : std::min(kSingleRows, step.sizeN);

  if (along)
    return emitBlocks(
        along->size, step.choices->along, [&](Int start, int64_t count) {
          Bases chunk = advance(bases, *along, start);
          emitBlocks(step.sizeN, blocks.shape.rows, [&](Int q, int64_t rows) {
            emitter.forLoop(0, count, 1, [&](Int position) {
              Bases at = advance(chunk, *along, position);
              emitAlongPrefetch(at, q, rows, position, count);
              emitLaneBlocks(
                  blocks, [&](Int first, int64_t vectors, Value mask) {
                    emitInnerTile(tiles, advance(at, laneAxis, first), q, rows,
                                  first, vectors, mask);
                  });
            });
          });
        });
  if (step.choices->copiesRows) {
    tiles.panels = allocateOnStack(getPanelElements(blocks));
    emitPanelCopy(blocks, bases.source, tiles.panels);
  }

  // One column of blocks: `vectors` vectors from lane `first`, all q.
  emitLaneBlocks(blocks, [&](Int first, int64_t vectors, Value mask) {
    Bases column = advance(bases, laneAxis, first);
    int64_t rowsOfBlock = isKnown || vectors > 1 || step.isInPlace
                              ? blocks.shape.rows
                              : singleRows;
    emitBlocks(step.sizeN, rowsOfBlock, [&](Int q, int64_t rows) {
      emitInnerTile(tiles, column, q, rows, first, vectors, mask);
    });
  });
}

void StepEmitter::emitVarying(const LoopAxis &laneAxis, const LoopAxis *shared,
                              const Bases &bases) {
  int64_t size = laneAxis.size.getConstant();
  int64_t lanes = chooseLanes(size, step.vectorBits, emitter.getElementBytes());
  TileShape shape = getShape();

  auto emitLanes = [&](Int first, Value mask) {
    Bases column = advance(bases, laneAxis, first);
    emitBlocks(
        shared ? shared->size : Int(1), shape.vectors,
        [&](Int position, int64_t vectors) {
          Bases block = shared ? advance(column, *shared, position) : column;
          emitBlocks(step.sizeN, shape.rows, [&](Int q, int64_t rows) {
            RegisterTile tile = startTile(block);
            tile.rows = rows;
            tile.vectors = vectors;
            tile.lanes = lanes;
            tile.mask = mask;
            tile.maskAll = true;
            tile.a = {TileOperand::Kind::Vector,
                      emitter.offsetPointer(block.factor,
                                            emitter.mul(q, factor.resultStride),
                                            factor.element),
                      factor.resultStride,
                      factor.strideK,
                      1,
                      step.isFactorConjugate,
                      factor.element};
            tile.b = {TileOperand::Kind::Vector,
                      block.source,
                      shared ? shared->source : Int(0),
                      step.source.strides[step.axis],
                      1,
                      step.isSourceConjugate,
                      step.source.element};
            tile.result =
                getResultRows(block, q, shared ? shared->destination : Int(0),
                              shared ? shared->addend : Int(0));
            emitRegisterTile(emitter, tile);
          });
        });
  };

  if (step.choices->segment)
    return emitSegments(laneAxis, shared, bases);
  int64_t full = size / lanes * lanes;
  emitter.forLoop(0, full, lanes,
                  [&](Int first) { emitLanes(first, nullptr); });
  if (full < size)
    emitLanes(full, emitter.firstLanes(lanes, size - full));
}
